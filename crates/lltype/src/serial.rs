//! The serialized form of types and function names.
//!
//! A graph mentions the same few types and functions over and over, and a type may be a
//! tree of hundreds of fields. Within a value each is written once, and by number from then on. The numbers follow the order of first mention, so equal values
//! have equal bytes, in every process.

use std::cell::RefCell;
use std::hash::Hash;

use rustc_hash::FxHashMap;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::consts::FuncSymData;
use crate::{FuncSym, LLType, TypeKind};

/// What was mentioned so far, in order.
struct Names<T> {
    all: Vec<T>,
    numbers: FxHashMap<T, u32>,
}

impl<T> Default for Names<T> {
    fn default() -> Self {
        Names {
            all: Vec::new(),
            numbers: FxHashMap::default(),
        }
    }
}

impl<T: Clone + Eq + Hash> Names<T> {
    /// Numbers a name on writing.
    fn number(&mut self, name: &T) {
        let next = self.numbers.len() as u32;
        self.numbers.insert(name.clone(), next);
    }
}

#[derive(Default)]
struct Table {
    types: Names<LLType>,
    funcs: Names<FuncSym>,
}

thread_local! {
    static TABLE: RefCell<Option<Table>> = const { RefCell::new(None) };
}

/// The serialized form of a value. None for what cannot be serialized.
pub fn to_bytes<T: Serialize + ?Sized>(value: &T) -> Option<Vec<u8>> {
    with_name_table(|| postcard::to_stdvec(value)).ok()
}

/// The value of a serialized form; none for bytes that are none.
pub fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    with_name_table(|| postcard::from_bytes(bytes)).ok()
}

/// Runs `work`, which writes or reads one value, with a table of its own.
fn with_name_table<R>(work: impl FnOnce() -> R) -> R {
    /// Puts the outer table back, whatever happens.
    struct Restore(Option<Table>);
    impl Drop for Restore {
        fn drop(&mut self) {
            TABLE.with(|t| *t.borrow_mut() = self.0.take());
        }
    }
    let _restore = Restore(TABLE.with(|t| t.borrow_mut().replace(Table::default())));
    work()
}

fn with_table<R>(f: impl FnOnce(&mut Table) -> R) -> Option<R> {
    TABLE.with(|t| t.borrow_mut().as_mut().map(f))
}

/// A name as it is written.
#[derive(Serialize)]
enum Written<'a, T> {
    Seen(u32),
    New(&'a T),
}

/// A name as it is read.
#[derive(Deserialize)]
enum Read<T> {
    Seen(u32),
    New(T),
}

impl Serialize for LLType {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        if let Some(n) = with_table(|t| t.types.numbers.get(self).copied()).flatten() {
            return Written::<TypeKind>::Seen(n).serialize(s);
        }
        let done = Written::New(self.kind()).serialize(s)?;
        // After its parts, which the reader has to know first.
        with_table(|t| t.types.number(self));
        Ok(done)
    }
}

impl<'de> Deserialize<'de> for LLType {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        match Read::<TypeKind>::deserialize(d)? {
            Read::Seen(n) => with_table(|t| t.types.all.get(n as usize).copied())
                .flatten()
                .ok_or_else(|| D::Error::custom("no such type")),
            Read::New(kind) => {
                let ty = LLType::new(kind);
                with_table(|t| t.types.all.push(ty));
                Ok(ty)
            }
        }
    }
}

impl Serialize for FuncSym {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        if let Some(n) = with_table(|t| t.funcs.numbers.get(self).copied()).flatten() {
            return Written::<FuncSymData>::Seen(n).serialize(s);
        }
        let done = Written::New(self.data()).serialize(s)?;
        with_table(|t| t.funcs.number(self));
        Ok(done)
    }
}

impl<'de> Deserialize<'de> for FuncSym {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        match Read::<FuncSymData>::deserialize(d)? {
            Read::Seen(n) => with_table(|t| t.funcs.all.get(n as usize).cloned())
                .flatten()
                .ok_or_else(|| D::Error::custom("no such function")),
            Read::New(FuncSymData { kind, ty }) => {
                let func = FuncSym::new(kind, ty);
                with_table(|t| t.funcs.all.push(func.clone()));
                Ok(func)
            }
        }
    }
}
