//! The serialized form of types and function names.
//!
//! A graph mentions the same few types and functions over and over, and a type may be a
//! tree of hundreds of fields. Within a value each is written once, and by number from then on. The numbers follow the order of first mention, so equal values
//! have equal bytes, in every process.
//!
//! Values that are read separately may have their names in common: [`SharedNames`].

use std::cell::RefCell;
use std::hash::Hash;
use std::ops::Range;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::consts::FuncSymData;
use crate::{FuncSym, LLType, TypeKind};

/// What was mentioned so far, in order.
struct Names<T> {
    /// By number, on reading. None for names that were not decoded yet.
    all: Vec<Option<T>>,
    /// On writing.
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
    /// A table of `count` names that are decoded at their first mention.
    fn unread(count: usize) -> Names<T> {
        Names {
            all: vec![None; count],
            numbers: FxHashMap::default(),
        }
    }

    /// Numbers a name on writing.
    fn number(&mut self, name: &T) {
        let next = self.numbers.len() as u32;
        self.numbers.insert(name.clone(), next);
    }

    /// The names that were written, by number.
    fn written(&self) -> Vec<T> {
        let mut numbered: Vec<(&T, &u32)> = self.numbers.iter().collect();
        numbered.sort_unstable_by_key(|(_, n)| **n);
        let written = numbered.into_iter().map(|(name, _)| name.clone());
        written.collect()
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
    /// The records of names that were not decoded yet.
    records: Option<Records>,
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

/// Names that several values have in common. Each is written once, and decoded at its first mention.
/// The values are written and read separately.
///
/// The serialized form consists of numbers of 32 bits and of records:
///
/// ```text
/// number of types │ number of functions │ where the record of each ends │ records of types, of functions
/// ```
///
/// A record mentions names with smaller numbers only.
pub struct SharedNames(RefCell<Table>);

impl SharedNames {
    /// The names that a value mentions, with their serialized form. None for what cannot be
    /// serialized.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Option<(SharedNames, Vec<u8>)> {
        let (written, mentioned) = with_name_table(Table::default(), || postcard::to_stdvec(value));
        written.ok()?;
        let types = mentioned.types.written();
        let funcs = mentioned.funcs.written();
        let (records, names) = with_name_table(Table::default(), || {
            let types = types.iter().map(record_of);
            let funcs = funcs.iter().map(record_of);
            types.chain(funcs).collect::<Option<Vec<_>>>()
        });
        let records = records?;
        let mut bytes = Vec::new();
        let mut number = |n: usize| bytes.extend_from_slice(&(n as u32).to_le_bytes());
        number(types.len());
        number(funcs.len());
        let mut end = 0;
        for record in &records {
            end += record.len();
            number(end);
        }
        bytes.extend(records.into_iter().flatten());
        Some((SharedNames(RefCell::new(names)), bytes))
    }

    /// The names of the serialized form that [`SharedNames::of`] made. None if its start is damaged.
    pub fn read(bytes: NameBytes) -> Option<SharedNames> {
        let types = number(&bytes, 0)?;
        let functions = number(&bytes, 1)?;
        let table = Table {
            types: Names::unread(types),
            funcs: Names::unread(functions),
            records: Some(Records {
                bytes,
                types,
                functions,
            }),
        };
        Some(SharedNames(RefCell::new(table)))
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

/// Returns the bytes in a range of a serialized form. None if the range is outside of it, or the bytes are damaged.
pub type NameBytes = Rc<dyn Fn(Range<usize>) -> Option<&'static [u8]>>;

/// Names in serialized form.
#[derive(Clone)]
struct Records {
    bytes: NameBytes,
    types: usize,
    functions: usize,
}

impl Records {
    /// The serialized form of a name: types come first.
    fn get(&self, at: usize) -> Option<&'static [u8]> {
        // Behind the numbers of both.
        let end = |at| number(&self.bytes, 2 + at);
        let start = at.checked_sub(1).map_or(Some(0), end)?;
        let first = (2 + self.types + self.functions) * NUMBER;
        (self.bytes)(first + start..first + end(at)?)
    }
}

/// Size of a number in the serialized form of [`SharedNames`].
const NUMBER: usize = 4;

/// A number at the start of that form.
fn number(bytes: &NameBytes, at: usize) -> Option<usize> {
    let bytes = bytes(at * NUMBER..(at + 1) * NUMBER)?;
    Some(u32::from_le_bytes(*bytes.first_chunk()?) as usize)
}

/// A kind of name.
trait Name: Clone + Eq + Hash + 'static {
    /// The decoded content.
    type Data: Serialize + DeserializeOwned;

    fn of(data: Self::Data) -> Self;

    fn data(&self) -> &Self::Data;

    /// The table of the kind.
    fn names(table: &mut Table) -> &mut Names<Self>;

    /// Number of records before those of the kind.
    fn before(records: &Records) -> usize;
}

impl Name for LLType {
    type Data = TypeKind;

    fn of(data: TypeKind) -> LLType {
        LLType::new(data)
    }

    fn data(&self) -> &TypeKind {
        self.kind()
    }

    fn names(table: &mut Table) -> &mut Names<LLType> {
        &mut table.types
    }

    fn before(_: &Records) -> usize {
        0
    }
}

impl Name for FuncSym {
    type Data = FuncSymData;

    fn of(data: FuncSymData) -> FuncSym {
        FuncSym::new(data.kind, data.ty)
    }

    fn data(&self) -> &FuncSymData {
        FuncSym::data(self)
    }

    fn names(table: &mut Table) -> &mut Names<FuncSym> {
        &mut table.funcs
    }

    fn before(records: &Records) -> usize {
        records.types
    }
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

fn write<T: Name, S: Serializer>(name: &T, s: S) -> Result<S::Ok, S::Error> {
    let number = with_table(|t| T::names(t).numbers.get(name).copied());
    if let Some(n) = number.flatten() {
        return Written::<T::Data>::Seen(n).serialize(s);
    }
    let done = Written::New(name.data()).serialize(s)?;
    // A reader decodes the parts of a name before the name.
    with_table(|t| T::names(t).number(name));
    Ok(done)
}

fn read<'de, T: Name, D: Deserializer<'de>>(d: D) -> Result<T, D::Error> {
    match Read::<T::Data>::deserialize(d)? {
        Read::Seen(n) => seen(n).ok_or_else(|| D::Error::custom("no such name")),
        Read::New(data) => {
            let name = T::of(data);
            with_table(|t| T::names(t).all.push(Some(name.clone())));
            Ok(name)
        }
    }
}

/// The name of a number, decoded at its first mention.
fn seen<T: Name>(number: u32) -> Option<T> {
    let at = number as usize;
    let (known, records) = with_table(|t| {
        let known = T::names(t).all.get(at)?.clone();
        let records = known.is_none().then(|| t.records.clone());
        Some((known, records.flatten()))
    })??;
    if known.is_some() {
        return known;
    }
    // Decoding is recursive: the name may consist of other names.
    let records = records?;
    let record = records.get(T::before(&records) + at)?;
    let name = T::of(postcard::from_bytes(record).ok()?);
    with_table(|t| T::names(t).all[at] = Some(name.clone()));
    Some(name)
}

/// The serialized form of a name of the current table, which gets the next number.
fn record_of<T: Name>(name: &T) -> Option<Vec<u8>> {
    let record = postcard::to_stdvec(name.data()).ok();
    with_table(|t| T::names(t).number(name));
    record
}

impl Serialize for LLType {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        write(self, s)
    }
}

impl<'de> Deserialize<'de> for LLType {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        read(d)
    }
}

impl Serialize for FuncSym {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        write(self, s)
    }
}

impl<'de> Deserialize<'de> for FuncSym {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        read(d)
    }
}
