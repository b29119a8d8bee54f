//! Tables that are read in parts.

use std::cell::OnceCell;
use std::hash::BuildHasher as _;
use std::rc::Rc;
use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use serde::de::DeserializeOwned;
use taipan_codegen::{Place, SymbolRef};
use taipan_codegen_cranelift::ImageNames;
use taipan_jit::{OwnTouches, TouchKinds, TouchSet, TsGraph};
use taipan_jit_native::{Facts, Parts, Sources};
use taipan_lltype::{FuncSym, SharedNames, StructBody, StructId};
use taipan_runtime::os;

use crate::UNUSABLE;
use crate::container::{Container, DAMAGED, SectionId};

/// The tables of a program behind an executable. If a table is damaged, the program exits when the compiler
/// reads it: continuing without a compiler would hide the damage.
#[derive(Clone)]
pub(crate) struct FileParts(Rc<Inner>);

struct Inner {
    container: Container,
    names: OnceCell<SharedNames>,
    touch_kinds: OnceCell<TouchKinds>,
    touch_index: OnceCell<&'static [u8]>,
    graph_index: OnceCell<&'static [u8]>,
    places: OnceCell<Places>,
}

/// Where functions and prebuilt data are. Large programs have tens of thousands of them, so each is held
/// once.
struct Places {
    list: Vec<(SymbolRef, Place)>,
    /// Positions in the list, by symbol.
    by_symbol: HashTable<u32>,
    /// Those of functions, in the order of their offsets.
    functions: Vec<u32>,
}

impl Places {
    fn new(list: Vec<(SymbolRef, Place)>) -> Places {
        let hash = |i: &u32| hash(&list[*i as usize].0);
        let mut by_symbol = HashTable::with_capacity(list.len());
        let mut functions = Vec::new();
        for (i, (symbol, _)) in (0..).zip(&list) {
            by_symbol.insert_unique(hash(&i), i, hash);
            if let SymbolRef::Func(_) = symbol {
                functions.push(i);
            }
        }
        functions.sort_unstable_by_key(|i| list[*i as usize].1.offset);
        Places {
            list,
            by_symbol,
            functions,
        }
    }

    fn place(&self, symbol: &SymbolRef) -> Option<Place> {
        let is_it = |i: &u32| self.list[*i as usize].0 == *symbol;
        let found = self.by_symbol.find(hash(symbol), is_it)?;
        Some(self.list[*found as usize].1)
    }

    /// The function that starts at an offset in the code.
    fn function_at(&self, offset: u64) -> Option<FuncSym> {
        let at = |i: &u32| self.list[*i as usize].1.offset;
        let found = self.functions.binary_search_by_key(&offset, at).ok()?;
        match &self.list[self.functions[found] as usize].0 {
            SymbolRef::Func(f) => Some(f.clone()),
            _ => None,
        }
    }
}

fn hash(symbol: &SymbolRef) -> u64 {
    FxBuildHasher.hash_one(symbol)
}

impl FileParts {
    pub(crate) fn new(container: Container) -> FileParts {
        FileParts(Rc::new(Inner {
            container,
            names: OnceCell::new(),
            touch_kinds: OnceCell::new(),
            touch_index: OnceCell::new(),
            graph_index: OnceCell::new(),
            places: OnceCell::new(),
        }))
    }
}

/// Ends the program as it would have ended at start.
#[cold]
fn damaged() -> ! {
    os::write_all(2, format!("this executable: {DAMAGED}\n").as_bytes());
    // SAFETY: ends the process.
    unsafe { libc::_exit(UNUSABLE) }
}

impl Inner {
    fn section(&self, id: SectionId) -> &'static [u8] {
        self.container.section(id).unwrap_or_else(|| damaged())
    }

    /// A value that mentions the names.
    fn read<T: DeserializeOwned>(&self, bytes: &[u8]) -> T {
        let names = self.names.get_or_init(|| {
            SharedNames::read(self.section(SectionId::Names)).unwrap_or_else(|| damaged())
        });
        names.from_bytes(bytes).unwrap_or_else(|| damaged())
    }

    fn read_section<T: DeserializeOwned>(&self, id: SectionId) -> T {
        self.read(self.section(id))
    }

    fn record<T: DeserializeOwned>(&self, index: &[u8], id: SectionId, number: u32) -> T {
        let record = self.container.record(index, id, number as usize);
        self.read(record.unwrap_or_else(|| damaged()))
    }

    fn places(&self) -> &Places {
        let places = || Places::new(self.read_section(SectionId::Places));
        self.places.get_or_init(places)
    }
}

impl Parts for FileParts {
    fn functions(&self) -> Vec<(FuncSym, Facts)> {
        self.0.read_section(SectionId::Functions)
    }

    fn graph(&self, number: u32) -> Arc<TsGraph> {
        let inner = &*self.0;
        let index = || inner.section(SectionId::GraphIndex);
        let index = inner.graph_index.get_or_init(index);
        inner.record(index, SectionId::Graphs, number)
    }

    fn touches(&self, number: u32) -> OwnTouches {
        let inner = &*self.0;
        let kinds = || inner.read_section(SectionId::TouchKinds);
        let kinds = inner.touch_kinds.get_or_init(kinds);
        let index = || inner.section(SectionId::TouchIndex);
        let index = inner.touch_index.get_or_init(index);
        let set: TouchSet = inner.record(index, SectionId::Touches, number);
        set.touches(kinds)
    }

    fn bodies(&self) -> Vec<(StructId, StructBody)> {
        self.0.read_section(SectionId::Bodies)
    }

    fn sources(&self) -> Sources {
        self.0.read_section(SectionId::Sources)
    }
}

impl ImageNames for FileParts {
    fn place(&self, symbol: &SymbolRef) -> Option<Place> {
        self.0.places().place(symbol)
    }

    fn function_at(&self, place: Place) -> Option<FuncSym> {
        self.0.places().function_at(place.offset)
    }
}
