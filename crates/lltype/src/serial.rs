//! The serialized form of types and function names.
//!
//! A graph mentions the same few types and functions over and over, and a type may be a
//! tree of hundreds of fields. Within a value each is written once, and by number from then on. The numbers follow the order of first mention, so equal values
//! have equal bytes, in every process.
//!
//! Values that are read separately may have their names in common: [`SharedNames`].

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

    /// The names by number, whether they were written or read.
    fn list(&self) -> Vec<T> {
        let mut numbered: Vec<(&T, &u32)> = self.numbers.iter().collect();
        numbered.sort_unstable_by_key(|(_, n)| **n);
        let written = numbered.into_iter().map(|(name, _)| name.clone());
        self.all.iter().cloned().chain(written).collect()
    }

    /// Number of names.
    fn len(&self) -> usize {
        self.all.len() + self.numbers.len()
    }

    /// Forgets the names from a number on.
    fn truncate(&mut self, len: usize) {
        self.all.truncate(len);
        if self.numbers.len() > len {
            self.numbers.retain(|_, n| (*n as usize) < len);
        }
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
    with_name_table(Table::default(), || postcard::to_stdvec(value))
        .0
        .ok()
}

/// The value of a serialized form; none for bytes that are none.
pub fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    with_name_table(Table::default(), || postcard::from_bytes(bytes))
        .0
        .ok()
}

/// Names that several values have in common: written once, and read before the first of the
/// values, each of which is written and read separately.
pub struct SharedNames(RefCell<Table>);

impl SharedNames {
    /// The names that a value mentions, with their serialized form. None for what cannot be
    /// serialized.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Option<(SharedNames, Vec<u8>)> {
        let (written, mentioned) = with_name_table(Table::default(), || postcard::to_stdvec(value));
        written.ok()?;
        // The reader numbers them in the order in which it meets them in the lists.
        let lists = (mentioned.types.list(), mentioned.funcs.list());
        let (bytes, names) = with_name_table(Table::default(), || postcard::to_stdvec(&lists));
        Some((SharedNames(RefCell::new(names)), bytes.ok()?))
    }

    /// The names of a serialized form; none for bytes that are none.
    pub fn read(bytes: &[u8]) -> Option<SharedNames> {
        let read = || postcard::from_bytes::<(Vec<LLType>, Vec<FuncSym>)>(bytes);
        let (lists, names) = with_name_table(Table::default(), read);
        lists.ok()?;
        Some(SharedNames(RefCell::new(names)))
    }

    /// The functions among them, by number.
    pub fn functions(&self) -> Vec<FuncSym> {
        self.0.borrow().funcs.list()
    }

    /// The serialized form of a value. None for what cannot be serialized.
    pub fn to_bytes<T: Serialize + ?Sized>(&self, value: &T) -> Option<Vec<u8>> {
        self.with(|| postcard::to_stdvec(value)).ok()
    }

    /// The value of a serialized form; none for bytes that are none.
    pub fn from_bytes<T: DeserializeOwned>(&self, bytes: &[u8]) -> Option<T> {
        self.with(|| postcard::from_bytes(bytes)).ok()
    }

    /// Runs `work`, which writes or reads one value. Names that only that value mentions are
    /// forgotten.
    fn with<R>(&self, work: impl FnOnce() -> R) -> R {
        let mut shared = self.0.borrow_mut();
        let (types, funcs) = (shared.types.len(), shared.funcs.len());
        let (result, mut names) = with_name_table(std::mem::take(&mut *shared), work);
        names.types.truncate(types);
        names.funcs.truncate(funcs);
        *shared = names;
        result
    }
}

/// Runs `work`, which writes or reads one value, with a table of its own, which comes back.
fn with_name_table<R>(table: Table, work: impl FnOnce() -> R) -> (R, Table) {
    /// Puts the outer table back, whatever happens.
    struct Restore(Option<Table>);
    impl Drop for Restore {
        fn drop(&mut self) {
            TABLE.with(|t| *t.borrow_mut() = self.0.take());
        }
    }
    let _restore = Restore(TABLE.with(|t| t.borrow_mut().replace(table)));
    let result = work();
    let table = TABLE.with(|t| t.borrow_mut().take());
    (result, table.unwrap_or_default())
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
