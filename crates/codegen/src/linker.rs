//! Puts the pieces of a program together. What has not changed since the last time is not asked for
//! again.
//!
//! ```text
//! begin ──► missing ──► supply ─┐        image
//!              ▲────────────────┘ until nothing is missing
//! ```
//!
//! A piece remembers which pieces it refers to, so that putting together an image looks nothing up:
//! it walks over the pieces, gives each a place, and copies them there. The order follows from the program
//! alone, however its pieces came: depth first, from the roots on.

use std::mem;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_lltype::{FuncKind, FuncSym, Program, StaticSym, foreign_symbol, round_up};

use crate::abi::{self, LOCATION_SIZE};
use crate::image::Placed;
use crate::table::{address, program_table};
use crate::{
    CodegenError, CompiledFunction, DataObject, Glue, Image, ImageReloc, LIBRARY_SYMBOL,
    MAIN_SYMBOL, Place, Reloc, RelocKind, SectionId, Symbol, SymbolRef, Target, mangle_function,
    mangle_static, mangle_type, static_object, type_info_object,
};

/// What a symbol stands for.
#[derive(Clone, Debug)]
pub enum Piece {
    /// Code of a function or of glue.
    Code(Arc<CompiledFunction>),
    /// Prebuilt data, type information, the program table.
    Data(Arc<DataObject>),
    /// A place inside of prebuilt data, so far from its start.
    Within(StaticSym, i64),
}

impl Piece {
    /// The data that a symbol stands for which is no code. The entry point is that of the program
    /// table.
    pub fn data(
        symbol: &SymbolRef,
        entry: Option<&FuncSym>,
        program: &dyn Program,
    ) -> Result<Piece, CodegenError> {
        let object = match symbol {
            SymbolRef::Static(s @ StaticSym::Within(..)) => {
                let (root, offset) = (s.place(program))
                    .ok_or_else(|| CodegenError::new(mangle_static(s), "no such place"))?;
                return Ok(Piece::Within(root.clone(), offset));
            }
            SymbolRef::Static(s) => static_object(s, &program.static_data(s), program)?,
            SymbolRef::TypeInfo(ty) => type_info_object(*ty, program),
            SymbolRef::ProgramTable => {
                let entry = entry.ok_or_else(|| {
                    CodegenError::new("image", "a program table needs an entry point")
                })?;
                let mut object = program_table(entry, program)?;
                (object.relocs).push(address(abi::table::PLACES, SymbolRef::Places));
                object.relocs.sort_by_key(|r| r.offset);
                object
            }
            SymbolRef::Location(_) => {
                return Err(CodegenError::new("image", "a location outside a function"));
            }
            SymbolRef::Func(f) | SymbolRef::Foreign(f) => {
                return Err(CodegenError::new(f.name(), "a function is no data"));
            }
            SymbolRef::Glue(_) | SymbolRef::External(_) | SymbolRef::Places => {
                return Err(CodegenError::new("image", "no data of a program"));
            }
        };
        Ok(Piece::Data(Arc::new(object)))
    }

    fn relocs(&self) -> &[Reloc] {
        match self {
            Piece::Code(code) => &code.relocs,
            Piece::Data(data) => &data.relocs,
            Piece::Within(..) => &[],
        }
    }

    fn is_same(&self, other: &Piece) -> bool {
        match (self, other) {
            (Piece::Code(a), Piece::Code(b)) => Arc::ptr_eq(a, b) || a == b,
            (Piece::Data(a), Piece::Data(b)) => Arc::ptr_eq(a, b) || a == b,
            (Piece::Within(a, i), Piece::Within(b, j)) => a == b && i == j,
            _ => false,
        }
    }
}

/// What tracebacks say of a function's code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Positions {
    /// Its file.
    pub file: Arc<str>,
    /// The function that is named: another one if the code is a part of that.
    pub function: Arc<str>,
    /// The line of each of its [`CompiledFunction::locations`].
    pub locations: Vec<u32>,
    /// The line of each of its [`CompiledFunction::lines`].
    pub lines: Vec<u32>,
}

/// The file of functions that import time compiled from texts.
const TEXT_FILE: &str = "<string>";
/// The file of helpers and of generated code, as far as tracebacks know.
const COMPILERS_FILE: &str = "<taipan>";

/// The file that tracebacks name for a function without a source file.
pub fn file_of_unplaced(f: &FuncSym) -> &'static str {
    match f.kind() {
        FuncKind::User { .. } => TEXT_FILE,
        _ => COMPILERS_FILE,
    }
}

/// Whether the file that tracebacks name is a source file.
pub fn is_source_file(file: &str) -> bool {
    !matches!(file, TEXT_FILE | COMPILERS_FILE)
}

impl Positions {
    /// Of code of which nothing is known but its name.
    pub fn unknown(f: &FuncSym, code: &CompiledFunction) -> Positions {
        Positions {
            file: file_of_unplaced(f).into(),
            function: f.name().into(),
            locations: vec![0; code.locations.len()],
            lines: vec![0; code.lines.len()],
        }
    }
}

/// Says what tracebacks tell of the code of a function, where something is known.
pub type PositionsOf<'a> =
    dyn FnMut(&FuncSym, &Arc<CompiledFunction>) -> Option<Arc<Positions>> + 'a;

/// Number of a node.
type NodeIx = u32;

/// Where a relocation leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum To {
    Node(NodeIx),
    /// Number in the linker's `externals`.
    External(u32),
    /// Number among the locations of the function.
    Location(u32),
    Places,
}

struct Node {
    symbol: SymbolRef,
    piece: Option<Piece>,
    /// The piece may be another by now.
    stale: bool,
    /// By relocation. For a place inside of data, the data.
    to: Box<[To]>,
    /// For people and debuggers; none if it has no name.
    name: Option<Arc<str>>,
    /// The last walk that came by.
    walk: u32,
}

/// The pieces of a program.
#[derive(Default)]
pub struct Linker {
    nodes: Vec<Node>,
    index: FxHashMap<SymbolRef, NodeIx>,
    /// Functions and variables of the runtime and of C libraries.
    externals: Vec<(Arc<str>, Option<FuncSym>)>,
    external_index: FxHashMap<Arc<str>, u32>,
    roots: Vec<To>,
    walk: u32,
    /// What is to be walked to yet.
    todo: Vec<NodeIx>,
    missing: Vec<NodeIx>,
}

impl Linker {
    /// From now on these may stand for something else: they are missing when they are needed again.
    pub fn forget<'a>(&mut self, symbols: impl IntoIterator<Item = &'a SymbolRef>) {
        for symbol in symbols {
            if let Some(n) = self.index.get(symbol) {
                self.nodes[*n as usize].stale = true;
            }
        }
    }

    /// Whether a symbol is known, and stands for what it did.
    pub fn knows(&self, symbol: &SymbolRef) -> bool {
        let node = self.index.get(symbol).map(|n| &self.nodes[*n as usize]);
        node.is_some_and(|n| n.piece.is_some() && !n.stale)
    }

    /// Starts with a program: everything that these symbols refer to, directly or not. With an
    /// entry point it has a program table.
    pub fn begin(&mut self, roots: &[SymbolRef], entry: Option<&FuncSym>) {
        // The table depends on the entry point.
        self.forget([&SymbolRef::ProgramTable]);
        self.walk += 1;
        self.todo.clear();
        self.missing.clear();
        let table = entry.map(|_| SymbolRef::ProgramTable);
        let roots = table.iter().chain(roots);
        self.roots = roots.map(|r| self.to(r)).collect();
        let nodes = self.roots.iter().filter_map(|to| match to {
            To::Node(n) => Some(*n),
            _ => None,
        });
        self.todo.extend(nodes);
    }

    /// What is needed next, in an order that follows from the program; empty if everything is there.
    pub fn missing(&mut self) -> Vec<SymbolRef> {
        while let Some(n) = self.todo.pop() {
            let node = &mut self.nodes[n as usize];
            if node.walk == self.walk {
                continue;
            }
            node.walk = self.walk;
            match node.piece.is_some() && !node.stale {
                true => self.follow(n),
                false => self.missing.push(n),
            }
        }
        let missing = mem::take(&mut self.missing).into_iter();
        missing
            .map(|n| self.nodes[n as usize].symbol.clone())
            .collect()
    }

    fn follow(&mut self, n: NodeIx) {
        let nodes = self.nodes[n as usize].to.iter().rev();
        self.todo.extend(nodes.filter_map(|to| match to {
            To::Node(n) => Some(*n),
            _ => None,
        }));
    }

    /// Says what a symbol stands for.
    pub fn supply(&mut self, symbol: SymbolRef, piece: Piece) {
        let n = self.node(&symbol);
        let node = &mut self.nodes[n as usize];
        node.stale = false;
        if !(node.piece.as_ref()).is_some_and(|old| old.is_same(&piece)) {
            let to = match &piece {
                Piece::Within(root, _) => [self.to(&SymbolRef::Static(root.clone()))]
                    .into_iter()
                    .collect(),
                _ => piece.relocs().iter().map(|r| self.to(&r.target)).collect(),
            };
            let node = &mut self.nodes[n as usize];
            (node.piece, node.to) = (Some(piece), to);
        }
        // Otherwise it is supplied before it is asked for.
        if self.nodes[n as usize].walk == self.walk {
            self.follow(n);
        }
    }

    fn to(&mut self, symbol: &SymbolRef) -> To {
        let (name, foreign) = match symbol {
            SymbolRef::Location(i) => return To::Location(*i),
            SymbolRef::Places => return To::Places,
            SymbolRef::External(name) => (name.clone(), None),
            SymbolRef::Foreign(f) => (foreign_symbol(f).into(), Some(f.clone())),
            symbol => return To::Node(self.node(symbol)),
        };
        let i = *(self.external_index.entry(name.clone())).or_insert_with(|| {
            self.externals.push((name, None));
            self.externals.len() as u32 - 1
        });
        if let (Some(f), (_, slot @ None)) = (foreign, &mut self.externals[i as usize]) {
            *slot = Some(f);
        }
        To::External(i)
    }

    fn node(&mut self, symbol: &SymbolRef) -> NodeIx {
        if let Some(n) = self.index.get(symbol) {
            return *n;
        }
        let name = match symbol {
            SymbolRef::Func(f) => Some(mangle_function(f)),
            SymbolRef::Static(StaticSym::Within(..)) => None,
            SymbolRef::Static(s) => Some(mangle_static(s)),
            SymbolRef::TypeInfo(ty) => Some(mangle_type(*ty)),
            SymbolRef::Glue(Glue::Main) => Some(MAIN_SYMBOL.to_owned()),
            SymbolRef::Glue(Glue::Library) => Some(LIBRARY_SYMBOL.to_owned()),
            SymbolRef::Glue(Glue::Trampoline(f)) => Some(format!("call.{}", mangle_function(f))),
            SymbolRef::Glue(Glue::Callback(f)) => Some(format!("callback.{}", mangle_function(f))),
            _ => None,
        };
        let n = self.nodes.len() as NodeIx;
        self.nodes.push(Node {
            symbol: symbol.clone(),
            piece: None,
            stale: false,
            to: Box::default(),
            name: name.map(Arc::from),
            walk: 0,
        });
        self.index.insert(symbol.clone(), n);
        n
    }

    /// The image of the program that [`Linker::begin`] was told of; nothing is missing any more.
    pub fn image(&mut self, positions: &mut PositionsOf<'_>) -> Result<Image, CodegenError> {
        let order = self.order();
        let mut layout = Layout::new(self, &order)?;
        layout.copy(positions)?;
        let image = layout.finish();
        self.drop_unused(&order);
        Ok(image)
    }

    /// The nodes of the program, depth first.
    fn order(&mut self) -> Vec<NodeIx> {
        self.walk += 1;
        let mut order = Vec::new();
        let nodes = self.roots.iter().rev().filter_map(|to| match to {
            To::Node(n) => Some(*n),
            _ => None,
        });
        self.todo.clear();
        self.todo.extend(nodes);
        while let Some(n) = self.todo.pop() {
            let node = &mut self.nodes[n as usize];
            if node.walk != self.walk {
                node.walk = self.walk;
                order.push(n);
                self.follow(n);
            }
        }
        order
    }

    /// Forgets what is no part of the program any more once that is most of what is known.
    fn drop_unused(&mut self, order: &[NodeIx]) {
        if self.nodes.len() < 2 * order.len() {
            return;
        }
        let mut new = vec![NodeIx::MAX; self.nodes.len()];
        for (i, n) in order.iter().enumerate() {
            new[*n as usize] = i as NodeIx;
        }
        let mut old: Vec<Option<Node>> = mem::take(&mut self.nodes).into_iter().map(Some).collect();
        self.nodes = order
            .iter()
            .filter_map(|n| old[*n as usize].take())
            .collect();
        for node in &mut self.nodes {
            for to in &mut node.to {
                if let To::Node(n) = to {
                    *n = new[*n as usize];
                }
            }
        }
        let symbols = self.nodes.iter().map(|n| n.symbol.clone());
        self.index = symbols.zip(0..).collect();
        self.roots.clear();
    }
}

/// An image that is being put together.
struct Layout<'a> {
    linker: &'a Linker,
    order: &'a [NodeIx],
    image: Image,
    /// By node.
    places: Vec<Place>,
    /// By number in the linker.
    externals: FxHashMap<u32, usize>,
    texts: FxHashMap<Arc<str>, Place>,
    locations: FxHashMap<(Arc<str>, Arc<str>, u32), Place>,
    /// Where the table of places is to be known.
    to_places: Vec<(SectionId, ImageReloc)>,
    /// Its rows.
    rows: Vec<(u64, Option<Place>)>,
    checked: bool,
}

fn section_of(object: &DataObject) -> SectionId {
    match object.readonly {
        true => SectionId::Rodata,
        false => SectionId::Data,
    }
}

const NOWHERE: Place = Place {
    section: SectionId::Rodata,
    offset: 0,
};

impl<'a> Layout<'a> {
    /// Gives every piece a place, and copies it there.
    fn new(linker: &'a Linker, order: &'a [NodeIx]) -> Result<Layout<'a>, CodegenError> {
        let mut layout = Layout {
            linker,
            order,
            image: Image::default(),
            places: vec![NOWHERE; linker.nodes.len()],
            externals: FxHashMap::default(),
            texts: FxHashMap::default(),
            locations: FxHashMap::default(),
            to_places: Vec::new(),
            rows: Vec::new(),
            checked: false,
        };
        layout.reserve();
        for n in order {
            let node = &linker.nodes[*n as usize];
            let missing = || CodegenError::new("image", format!("{:?} is missing", node.symbol));
            let (place, size) = match node.piece.as_ref().ok_or_else(missing)? {
                Piece::Code(code) => {
                    let place = layout.append(SectionId::Text, &code.code, 16);
                    (place, code.code.len())
                }
                Piece::Data(object) => {
                    let section = section_of(object);
                    let base = layout.append(section, &object.bytes, object.align);
                    let offset = base.offset + object.start;
                    (Place { section, offset }, object.bytes.len())
                }
                // Known when that is which they are in.
                Piece::Within(..) => continue,
            };
            layout.places[*n as usize] = place;
            if let Some(name) = &node.name {
                layout.image.symbols.push(Symbol {
                    name: name.clone(),
                    place,
                    size: size as u64,
                });
            }
        }
        let mut placed = Vec::with_capacity(order.len());
        for n in order {
            let node = &linker.nodes[*n as usize];
            if let (Some(Piece::Within(_, offset)), [To::Node(root)]) = (&node.piece, &*node.to) {
                let root = layout.places[*root as usize];
                layout.places[*n as usize] = Place {
                    offset: root.offset.wrapping_add_signed(*offset),
                    ..root
                };
            }
            let place = layout.places[*n as usize];
            match &node.symbol {
                SymbolRef::ProgramTable => layout.image.program_table = Some(place),
                other => placed.push((other.clone(), place)),
            }
        }
        layout.image.placed = Placed::new(placed);
        // What is referred to from outside alone.
        for to in &linker.roots {
            if let To::External(i) = to {
                layout.external(*i);
            }
        }
        Ok(layout)
    }

    /// Makes room for about what there is, at once.
    fn reserve(&mut self) {
        let (mut sizes, mut relocs) = ([0; 3], [0; 3]);
        for n in self.order {
            let (section, size, open) = match &self.linker.nodes[*n as usize].piece {
                // Calls within the code are resolved here.
                Some(Piece::Code(code)) => (SectionId::Text, code.code.len() + 16, 2),
                Some(Piece::Data(object)) => {
                    let section = section_of(object);
                    (section, object.bytes.len() + 8, object.relocs.len())
                }
                Some(Piece::Within(..)) | None => continue,
            };
            sizes[section as usize] += size;
            relocs[section as usize] += open;
        }
        for (i, section) in self.image.sections.iter_mut().enumerate() {
            section.bytes.reserve(sizes[i]);
            section.relocs.reserve(relocs[i]);
        }
        self.image.symbols.reserve(self.order.len());
    }

    /// Resolves relocations.
    fn copy(&mut self, positions: &mut PositionsOf<'_>) -> Result<(), CodegenError> {
        for n in self.order {
            let node = &self.linker.nodes[*n as usize];
            let place = self.places[*n as usize];
            let (base, known) = match (&node.piece, &node.symbol) {
                (Some(Piece::Code(code)), SymbolRef::Func(f)) => {
                    let known =
                        positions(f, code).unwrap_or_else(|| Arc::new(Positions::unknown(f, code)));
                    self.add_rows(place.offset, code, &known);
                    (place.offset, Some(known))
                }
                (Some(Piece::Data(object)), _) => (place.offset - object.start, None),
                _ => (place.offset, None),
            };
            let relocs = node.piece.as_ref().map_or(&[][..], Piece::relocs);
            for (reloc, to) in relocs.iter().zip(&node.to) {
                let target = match to {
                    To::Node(n) => Target::Place(self.places[*n as usize]),
                    To::External(i) => Target::External(self.external(*i)),
                    To::Location(i) => {
                        let outside =
                            || CodegenError::new("image", "a location outside a function");
                        let known = known.as_ref().ok_or_else(outside)?;
                        let line = known.locations.get(*i as usize).copied().unwrap_or(0);
                        Target::Place(self.location(known, line))
                    }
                    To::Places => Target::Place(NOWHERE),
                };
                let resolved = ImageReloc {
                    offset: base + reloc.offset,
                    kind: reloc.kind,
                    target,
                    addend: reloc.addend,
                };
                match to {
                    To::Places => self.to_places.push((place.section, resolved)),
                    _ => self.resolve(place.section, resolved),
                }
            }
        }
        Ok(())
    }

    fn resolve(&mut self, section: SectionId, reloc: ImageReloc) {
        let to = &mut self.image.sections[section as usize];
        match reloc.target {
            // The distance does not depend on where the section comes to lie.
            Target::Place(place)
                if place.section == section && reloc.kind == RelocKind::PcRel32 =>
            {
                let distance = place.offset as i64 + reloc.addend - reloc.offset as i64;
                let at = reloc.offset as usize;
                to.bytes[at..at + 4].copy_from_slice(&(distance as i32).to_le_bytes());
            }
            _ => to.relocs.push(reloc),
        }
    }

    fn external(&mut self, i: u32) -> usize {
        let (name, foreign) = &self.linker.externals[i as usize];
        let image = &mut self.image;
        *self.externals.entry(i).or_insert_with(|| {
            image.externals.push(name.clone());
            image.foreign.extend(foreign.clone());
            image.externals.len() - 1
        })
    }

    /// The record of a place in the source: file, function, line. Line 0 is the function as a whole.
    fn location(&mut self, known: &Positions, line: u32) -> Place {
        let key = (known.file.clone(), known.function.clone(), line);
        if let Some(p) = self.locations.get(&key) {
            return *p;
        }
        let (file, function) = (self.text(&known.file), self.text(&known.function));
        let mut bytes = [0; LOCATION_SIZE];
        bytes[16..20].copy_from_slice(&line.to_le_bytes());
        let place = self.append(SectionId::Rodata, &bytes, 8);
        for (i, text) in [file, function].into_iter().enumerate() {
            let section = &mut self.image.sections[SectionId::Rodata as usize];
            section.relocs.push(ImageReloc {
                offset: place.offset + 8 * i as u64,
                kind: RelocKind::Abs64,
                target: Target::Place(text),
                addend: 0,
            });
        }
        self.locations.insert(key, place);
        place
    }

    /// Adds what the table of places says of a function: from which address on the code comes from
    /// which place.
    fn add_rows(&mut self, start: u64, code: &CompiledFunction, known: &Positions) {
        self.checked |= code.keeps_frames;
        let mut last = Some(self.location(known, 0));
        self.rows.push((start, last));
        for ((offset, _), line) in code.lines.iter().zip(&known.lines) {
            let place = Some(self.location(known, *line));
            if place != last {
                self.rows.push((start + u64::from(*offset), place));
                last = place;
            }
        }
        // What follows may be code that belongs to no function.
        self.rows.push((start + code.code.len() as u64, None));
    }

    /// Adds the table of places: whether lines are known, the number of rows, and in each an
    /// address and the record of the place that the code from there on comes from.
    fn finish(mut self) -> Image {
        let rows = mem::take(&mut self.rows);
        let mut bytes = Vec::with_capacity(16 * (rows.len() + 1));
        bytes.extend_from_slice(&u64::from(self.checked).to_le_bytes());
        bytes.extend_from_slice(&(rows.len() as u64).to_le_bytes());
        bytes.resize(16 * (rows.len() + 1), 0);
        let table = self.append(SectionId::Rodata, &bytes, 8);
        let relocs = &mut self.image.sections[SectionId::Rodata as usize].relocs;
        for (i, (offset, location)) in rows.into_iter().enumerate() {
            let at = table.offset + 16 * (i as u64 + 1);
            let code = Place {
                section: SectionId::Text,
                offset,
            };
            for (at, target) in [(at, Some(code)), (at + 8, location)] {
                relocs.extend(target.map(|target| ImageReloc {
                    offset: at,
                    kind: RelocKind::Abs64,
                    target: Target::Place(target),
                    addend: 0,
                }));
            }
        }
        self.image.places = Some(table);
        for (section, reloc) in mem::take(&mut self.to_places) {
            let target = Target::Place(table);
            let relocs = &mut self.image.sections[section as usize].relocs;
            relocs.push(ImageReloc { target, ..reloc });
        }
        for s in &mut self.image.sections {
            s.relocs.sort_by_key(|r| r.offset);
        }
        self.image
    }

    /// A text that ends in a zero byte.
    fn text(&mut self, text: &Arc<str>) -> Place {
        if let Some(p) = self.texts.get(text) {
            return *p;
        }
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        let place = self.append(SectionId::Rodata, &bytes, 1);
        self.texts.insert(text.clone(), place);
        place
    }

    fn append(&mut self, section: SectionId, bytes: &[u8], align: u64) -> Place {
        let to = &mut self.image.sections[section as usize].bytes;
        let offset = round_up(to.len() as u64, align);
        // What lies between functions is never run; in a debugger it reads as traps.
        let fill = if section == SectionId::Text { 0xcc } else { 0 };
        to.resize(offset as usize, fill);
        to.extend_from_slice(bytes);
        Place { section, offset }
    }
}
