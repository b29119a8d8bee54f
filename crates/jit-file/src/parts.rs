//! Tables that are read in parts.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::de::DeserializeOwned;
use taipan_codegen::{Place, SymbolRef};
use taipan_codegen_cranelift::ImageNames;
use taipan_jit::{TouchKind, TouchSet, TsGraph};
use taipan_jit_native::{Facts, Parts, Sources};
use taipan_lltype::{FuncSym, SharedNames, StructBody, StructId};
use taipan_runtime::os;

use crate::UNUSABLE;
use crate::container::{Container, DAMAGED, Pieces, SectionId};
use crate::keyed::{Damaged, Keyed, Sorted};

/// The tables of a program behind an executable. If a table is damaged, the program exits when the compiler
/// reads it: continuing without a compiler would hide the damage.
#[derive(Clone)]
pub(crate) struct FileParts(Rc<Inner>);

struct Inner {
    container: Container,
    names: OnceCell<SharedNames>,
    functions: OnceCell<Keyed>,
    touch_kinds: OnceCell<Keyed>,
    touch_index: OnceCell<Pieces>,
    graph_index: OnceCell<Pieces>,
    bodies: OnceCell<Keyed>,
    places: OnceCell<Keyed>,
    place_order: OnceCell<Sorted>,
    /// Places that were found.
    found: RefCell<FxHashMap<SymbolRef, Option<Place>>>,
}

/// Facts about a function, and its number among the functions that compiled code may call.
type Function = (u32, Facts);

impl FileParts {
    pub(crate) fn new(container: Container) -> FileParts {
        FileParts(Rc::new(Inner {
            container,
            names: OnceCell::new(),
            functions: OnceCell::new(),
            touch_kinds: OnceCell::new(),
            touch_index: OnceCell::new(),
            graph_index: OnceCell::new(),
            bodies: OnceCell::new(),
            places: OnceCell::new(),
            place_order: OnceCell::new(),
            found: RefCell::default(),
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

/// Returns a read value. Ends the program if the table is damaged.
fn whole<T>(value: Result<T, Damaged>) -> T {
    value.unwrap_or_else(|Damaged| damaged())
}

impl Inner {
    fn pieces(&self, id: SectionId) -> Pieces {
        self.container.pieces(id).unwrap_or_else(|| damaged())
    }

    fn keyed<'s>(&self, table: &'s OnceCell<Keyed>, id: SectionId) -> &'s Keyed {
        table.get_or_init(|| whole(Keyed::new(self.pieces(id))))
    }

    fn names(&self) -> &SharedNames {
        self.names.get_or_init(|| {
            let pieces = self.pieces(SectionId::Names);
            let bytes = move |range| Some(pieces.get(range).unwrap_or_else(|| damaged()));
            SharedNames::read(Rc::new(bytes)).unwrap_or_else(|| damaged())
        })
    }

    /// A value that mentions the names.
    fn read<T: DeserializeOwned>(&self, bytes: &[u8]) -> T {
        (self.names().from_bytes(bytes)).unwrap_or_else(|| damaged())
    }

    fn record<T: DeserializeOwned>(&self, index: &Pieces, id: SectionId, number: u32) -> T {
        let record = self.container.record(index, id, number as usize);
        self.read(record.unwrap_or_else(|| damaged()))
    }

    fn functions(&self) -> &Keyed {
        self.keyed(&self.functions, SectionId::Functions)
    }

    fn places(&self) -> &Keyed {
        self.keyed(&self.places, SectionId::Places)
    }

    fn place(&self, symbol: &SymbolRef) -> Option<Place> {
        if let Some(found) = self.found.borrow().get(symbol) {
            return *found;
        }
        let place = whole(self.places().find(self.names(), symbol));
        self.found.borrow_mut().insert(symbol.clone(), place);
        place
    }

    /// The function that starts at an offset in the code.
    fn function_at(&self, offset: u64) -> Option<FuncSym> {
        let order = || whole(Sorted::new(self.pieces(SectionId::PlaceOrder)));
        let order = self.place_order.get_or_init(order);
        let position = whole(order.number(whole(order.position(offset))?));
        let entry: (SymbolRef, Place) = whole(self.places().entry(self.names(), position));
        match entry.0 {
            SymbolRef::Func(f) => Some(f),
            _ => None,
        }
    }
}

impl Parts for FileParts {
    fn facts(&self, f: &FuncSym) -> Option<Facts> {
        let inner = &*self.0;
        let found: Option<Function> = whole(inner.functions().find(inner.names(), f));
        found.map(|(_, facts)| facts)
    }

    fn functions(&self) -> Vec<(FuncSym, Facts)> {
        let inner = &*self.0;
        let mut all: Vec<(FuncSym, Function)> = whole(inner.functions().all(inner.names()));
        all.sort_by_key(|(_, (number, _))| *number);
        let all = all.into_iter();
        all.map(|(f, (_, facts))| (f, facts)).collect()
    }

    fn graph(&self, number: u32) -> Arc<TsGraph> {
        let inner = &*self.0;
        let index = || inner.pieces(SectionId::GraphIndex);
        let index = inner.graph_index.get_or_init(index);
        inner.record(index, SectionId::Graphs, number)
    }

    fn touches(&self, number: u32) -> TouchSet {
        let inner = &*self.0;
        let index = || inner.pieces(SectionId::TouchIndex);
        let index = inner.touch_index.get_or_init(index);
        inner.record(index, SectionId::Touches, number)
    }

    fn touch_number(&self, kind: &TouchKind) -> Option<u32> {
        let inner = &*self.0;
        let kinds = inner.keyed(&inner.touch_kinds, SectionId::TouchKinds);
        whole(kinds.find(inner.names(), kind))
    }

    fn body(&self, s: &StructId) -> Option<StructBody> {
        let inner = &*self.0;
        let bodies = inner.keyed(&inner.bodies, SectionId::Bodies);
        whole(bodies.find(inner.names(), s))
    }

    fn sources(&self) -> Sources {
        let sources = self.0.container.section(SectionId::Sources);
        self.0.read(sources.unwrap_or_else(|| damaged()))
    }
}

impl ImageNames for FileParts {
    fn place(&self, symbol: &SymbolRef) -> Option<Place> {
        self.0.place(symbol)
    }

    fn function_at(&self, place: Place) -> Option<FuncSym> {
        self.0.function_at(place.offset)
    }
}
