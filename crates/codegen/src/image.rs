//! All code and data of a program, placed in sections.

use std::fmt;
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use taipan_language::Collector;
use taipan_lltype::{FuncSym, Program};

use crate::linker::{Linker, Piece, Positions};
use crate::{CodegenError, CompiledFunction, Glue, ImageDebug, RelocKind, SymbolRef};

/// Name of the symbol of [`Glue::Main`].
pub const MAIN_SYMBOL: &str = "main";

/// Name of the symbol of [`Glue::Library`].
pub const LIBRARY_SYMBOL: &str = "taipan_start";

/// A section of an image.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum SectionId {
    /// Code.
    Text,
    /// Data that nothing writes to.
    Rodata,
    /// Other data.
    Data,
}

impl SectionId {
    /// All of them, in the order of [`Image::sections`].
    pub const ALL: [SectionId; 3] = [SectionId::Text, SectionId::Rodata, SectionId::Data];
}

/// Where something lies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Place {
    /// In which section.
    pub section: SectionId,
    /// How far from its start.
    pub offset: u64,
}

/// What a relocation of an image refers to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Target {
    /// A place in the image.
    Place(Place),
    /// Number in [`Image::externals`].
    External(usize),
}

/// A place of an image to be filled with an address when the image gets one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct ImageReloc {
    /// Offset in its section.
    pub offset: u64,
    /// How the address is written.
    pub kind: RelocKind,
    /// The address of what.
    pub target: Target,
    /// Added to it.
    pub addend: i64,
}

/// Contents of a section.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Section {
    /// The bytes; their start is at a multiple of 16.
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
    /// What is still open.
    pub relocs: Vec<ImageReloc>,
}

/// A function or object in an image, under a name for people and debuggers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Symbol {
    /// Its name.
    pub name: Arc<str>,
    /// Where it is.
    pub place: Place,
    /// Number of bytes.
    pub size: u64,
}

/// All code and data of a program.
///
/// Its serialized form is for running it as a whole: which function or object lies
/// where is not written, but for the program table.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Image {
    /// By [`SectionId`].
    pub sections: [Section; 3],
    /// Functions and prebuilt objects.
    pub symbols: Vec<Symbol>,
    /// Names of functions and variables of the runtime and of C libraries.
    pub externals: Vec<Arc<str>>,
    /// The functions among them of libraries that the program brings.
    #[serde(skip)]
    pub foreign: Vec<FuncSym>,
    /// The garbage collector that the code is made for.
    pub collector: Collector,
    /// What debuggers are told of it.
    pub debug: Option<ImageDebug>,
    pub(crate) program_table: Option<Place>,
    pub(crate) places: Option<Place>,
    #[serde(skip)]
    pub(crate) placed: Placed,
}

/// Where the pieces of an image lie.
#[derive(Default)]
pub(crate) struct Placed {
    list: Vec<(SymbolRef, Place)>,
    /// Made when somebody looks for a piece: a watched program is run without.
    index: OnceLock<FxHashMap<SymbolRef, Place>>,
}

impl Placed {
    pub(crate) fn new(list: Vec<(SymbolRef, Place)>) -> Placed {
        let index = OnceLock::new();
        Placed { list, index }
    }

    fn get(&self, symbol: &SymbolRef) -> Option<Place> {
        let index = || self.list.iter().cloned().collect();
        self.index.get_or_init(index).get(symbol).copied()
    }
}

impl Clone for Placed {
    fn clone(&self) -> Placed {
        Placed::new(self.list.clone())
    }
}

impl PartialEq for Placed {
    fn eq(&self, other: &Placed) -> bool {
        self.list == other.list
    }
}

impl Eq for Placed {}

impl fmt::Debug for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.list.iter().map(|(s, p)| (s, p)))
            .finish()
    }
}

impl Image {
    /// A section.
    pub fn section(&self, id: SectionId) -> &Section {
        &self.sections[id as usize]
    }

    /// Whether the other one is the same once it is loaded: names do not count.
    pub fn same_contents(&self, other: &Image) -> bool {
        (&self.sections, &self.externals, &self.debug)
            == (&other.sections, &other.externals, &other.debug)
    }

    /// The functions that have graphs, in the order of their places.
    pub fn functions(&self) -> impl Iterator<Item = (&FuncSym, Place)> {
        self.placed.list.iter().filter_map(|(s, p)| match s {
            SymbolRef::Func(f) => Some((f, *p)),
            _ => None,
        })
    }

    /// Where these lie, as far as the image has them: what [`Image::with_places`] takes.
    pub fn places(&self, symbols: &[SymbolRef]) -> Vec<(SymbolRef, Place)> {
        let found = symbols.iter();
        found
            .filter_map(|s| Some((s.clone(), self.place(s)?)))
            .collect()
    }

    /// An image that was read, with where these symbols lie in it.
    pub fn with_places(mut self, places: Vec<(SymbolRef, Place)>) -> Image {
        self.placed = Placed::new(places);
        self
    }

    /// Where a symbol lies; none if the image has no such one.
    pub fn place(&self, symbol: &SymbolRef) -> Option<Place> {
        match symbol {
            SymbolRef::ProgramTable => self.program_table,
            SymbolRef::Places => self.places,
            other => self.placed.get(other),
        }
    }
}

/// Where an image gets its code and its names of places from.
pub trait CodeSource {
    /// The code of a function that has a graph.
    fn compiled(&mut self, f: &FuncSym) -> Result<Arc<CompiledFunction>, CodegenError>;

    /// The code of a piece of glue.
    fn glue(&mut self, glue: &Glue) -> Result<Arc<CompiledFunction>, CodegenError>;

    /// What tracebacks say of a function's code. None where nothing is known.
    fn positions(&mut self, f: &FuncSym, code: &Arc<CompiledFunction>) -> Option<Arc<Positions>> {
        let _ = (f, code);
        None
    }
}

/// Makes the image of everything that `roots` refer to, directly or not. With an entry
/// point it has a program table.
pub fn build_image(
    program: &dyn Program,
    source: &mut dyn CodeSource,
    roots: &[SymbolRef],
    entry: Option<&FuncSym>,
) -> Result<Image, CodegenError> {
    let mut linker = Linker::default();
    linker.begin(roots, entry);
    loop {
        let missing = linker.missing();
        if missing.is_empty() {
            break;
        }
        for symbol in missing {
            let piece = match &symbol {
                SymbolRef::Func(f) => Piece::Code(source.compiled(f)?),
                SymbolRef::Glue(glue) => Piece::Code(source.glue(glue)?),
                _ => Piece::data(&symbol, entry, program)?,
            };
            linker.supply(symbol, piece);
        }
    }
    let mut image = linker.image(&mut |f, code| source.positions(f, code))?;
    image.collector = program.collector();
    Ok(image)
}
