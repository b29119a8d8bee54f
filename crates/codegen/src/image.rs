//! All code and data of a program, placed in sections.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use taipan_lltype::{FuncSym, Program, StaticSym, foreign_symbol, round_up};

use crate::abi::{self, LOCATION_SIZE};
use crate::table::{address, program_table};
use crate::{
    CodegenError, CompiledFunction, DataObject, Glue, Reloc, RelocKind, SymbolRef, mangle_function,
    mangle_static, static_object, type_info_object,
};

/// Name of the symbol of [`Glue::Main`].
pub const MAIN_SYMBOL: &str = "main";

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
    pub name: String,
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
    program_table: Option<Place>,
    places: Option<Place>,
    #[serde(skip)]
    functions: FxHashMap<FuncSym, Place>,
    #[serde(skip)]
    statics: FxHashMap<StaticSym, Place>,
    #[serde(skip)]
    others: FxHashMap<SymbolRef, Place>,
}

impl Image {
    /// A section.
    pub fn section(&self, id: SectionId) -> &Section {
        &self.sections[id as usize]
    }

    /// Whether the other one is the same once it is loaded: names do not count.
    pub fn same_contents(&self, other: &Image) -> bool {
        self.sections == other.sections && self.externals == other.externals
    }

    /// The functions that have graphs, in no order.
    pub fn functions(&self) -> impl Iterator<Item = (&FuncSym, Place)> {
        self.functions.iter().map(|(f, p)| (f, *p))
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
        for (symbol, place) in places {
            match symbol {
                SymbolRef::Func(f) => {
                    self.functions.insert(f, place);
                }
                SymbolRef::Static(s) => {
                    self.statics.insert(s, place);
                }
                other => {
                    self.others.insert(other, place);
                }
            }
        }
        self
    }

    /// Where a symbol lies; none if the image has no such one.
    pub fn place(&self, symbol: &SymbolRef) -> Option<Place> {
        match symbol {
            SymbolRef::Func(f) => self.functions.get(f).copied(),
            SymbolRef::Static(s) => self.statics.get(s).copied(),
            SymbolRef::ProgramTable => self.program_table,
            SymbolRef::Places => self.places,
            other => self.others.get(other).copied(),
        }
    }
}

/// Where an image gets its code and its names of places from.
pub trait CodeSource {
    /// The code of a function that has a graph.
    fn compiled(&mut self, f: &FuncSym) -> Result<Arc<CompiledFunction>, CodegenError>;

    /// The code of a piece of glue.
    fn glue(&mut self, glue: &Glue) -> Result<Arc<CompiledFunction>, CodegenError>;

    /// The function that tracebacks name for one: another one if it is a part of that.
    fn written_as<'f>(&self, f: &'f FuncSym) -> &'f FuncSym {
        f
    }

    /// File and line of a position in a function's bytecode, for tracebacks.
    fn position(&mut self, f: &FuncSym, at: u32) -> Option<(String, u32)> {
        let _ = (f, at);
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
    let mut b = Builder {
        program,
        source,
        entry,
        image: Image::default(),
        pending: Vec::new(),
        texts: FxHashMap::default(),
        locations: FxHashMap::default(),
        externals: FxHashMap::default(),
        code: Vec::new(),
        to_places: Vec::new(),
    };
    if entry.is_some() {
        b.place_of(&SymbolRef::ProgramTable, None)?;
    }
    for r in roots {
        b.target(r, None)?;
    }
    b.finish()
}

/// A relocation whose target has not been looked up yet.
struct Pending {
    section: SectionId,
    /// Start of the code or data that has the relocation.
    base: u64,
    reloc: Reloc,
    /// The function that has it.
    owner: Option<(FuncSym, Arc<CompiledFunction>)>,
}

struct Builder<'a> {
    program: &'a dyn Program,
    source: &'a mut dyn CodeSource,
    entry: Option<&'a FuncSym>,
    image: Image,
    pending: Vec<Pending>,
    texts: FxHashMap<String, Place>,
    locations: FxHashMap<(FuncSym, Option<u32>), Place>,
    externals: FxHashMap<Arc<str>, usize>,
    /// Functions in the order of their places.
    code: Vec<(u64, FuncSym, Arc<CompiledFunction>)>,
    /// Relocations to the table of places, which is made last.
    to_places: Vec<(SectionId, ImageReloc)>,
}

impl Builder<'_> {
    fn finish(mut self) -> Result<Image, CodegenError> {
        while let Some(p) = self.pending.pop() {
            if p.reloc.target == SymbolRef::Places {
                let nowhere = Place {
                    section: SectionId::Rodata,
                    offset: 0,
                };
                let reloc = ImageReloc {
                    offset: p.base + p.reloc.offset,
                    kind: p.reloc.kind,
                    target: Target::Place(nowhere),
                    addend: p.reloc.addend,
                };
                self.to_places.push((p.section, reloc));
                continue;
            }
            let target = self.target(&p.reloc.target, p.owner.as_ref())?;
            let reloc = ImageReloc {
                offset: p.base + p.reloc.offset,
                kind: p.reloc.kind,
                target,
                addend: p.reloc.addend,
            };
            let section = &mut self.image.sections[p.section as usize];
            match target {
                // The distance does not depend on where the section comes to lie.
                Target::Place(to)
                    if to.section == p.section && reloc.kind == RelocKind::PcRel32 =>
                {
                    let distance = to.offset as i64 + reloc.addend - reloc.offset as i64;
                    let at = reloc.offset as usize;
                    section.bytes[at..at + 4].copy_from_slice(&(distance as i32).to_le_bytes());
                }
                _ => section.relocs.push(reloc),
            }
        }
        self.table_of_places();
        for s in &mut self.image.sections {
            s.relocs.sort_by_key(|r| r.offset);
        }
        Ok(self.image)
    }

    fn target(
        &mut self,
        symbol: &SymbolRef,
        owner: Option<&(FuncSym, Arc<CompiledFunction>)>,
    ) -> Result<Target, CodegenError> {
        let name = match symbol {
            SymbolRef::External(name) => Some(name.clone()),
            SymbolRef::Foreign(f) => Some(foreign_symbol(f).into()),
            _ => None,
        };
        if let Some(name) = name {
            if let SymbolRef::Foreign(f) = symbol
                && !self.externals.contains_key(&name)
            {
                self.image.foreign.push(f.clone());
            }
            let externals = &mut self.image.externals;
            let i = *self.externals.entry(name.clone()).or_insert_with(|| {
                externals.push(name);
                externals.len() - 1
            });
            return Ok(Target::External(i));
        }
        Ok(Target::Place(self.place_of(symbol, owner)?))
    }

    /// Where a symbol lies; it is added to the image if it is not there yet.
    fn place_of(
        &mut self,
        symbol: &SymbolRef,
        owner: Option<&(FuncSym, Arc<CompiledFunction>)>,
    ) -> Result<Place, CodegenError> {
        if let Some(p) = self.image.place(symbol) {
            return Ok(p);
        }
        match symbol {
            SymbolRef::Func(f) => {
                let code = self.source.compiled(f)?;
                let place = self.append(SectionId::Text, &code.code, 16);
                self.name(mangle_function(f), place, code.code.len());
                self.code.push((place.offset, f.clone(), code.clone()));
                self.image.functions.insert(f.clone(), place);
                let owner = (f.clone(), code.clone());
                self.queue(place.section, place.offset, &code.relocs, Some(owner));
                Ok(place)
            }
            SymbolRef::Glue(glue) => {
                let code = self.source.glue(glue)?;
                let place = self.append(SectionId::Text, &code.code, 16);
                let name = match glue {
                    Glue::Main => MAIN_SYMBOL.to_owned(),
                    Glue::Trampoline(f) => format!("call.{}", mangle_function(f)),
                    Glue::Callback(f) => format!("callback.{}", mangle_function(f)),
                };
                self.name(name, place, code.code.len());
                self.image.others.insert(symbol.clone(), place);
                self.queue(place.section, place.offset, &code.relocs, None);
                Ok(place)
            }
            SymbolRef::Static(s @ StaticSym::Within(..)) => {
                let (root, offset) = (s.place(self.program))
                    .ok_or_else(|| CodegenError::new(mangle_static(s), "no such place"))?;
                let root = self.place_of(&SymbolRef::Static(root.clone()), None)?;
                let place = Place {
                    offset: root.offset.wrapping_add_signed(offset),
                    ..root
                };
                self.image.statics.insert(s.clone(), place);
                Ok(place)
            }
            SymbolRef::Static(s) => {
                let data = self.program.static_data(s);
                let object = static_object(s, &data, self.program)?;
                let place = self.add_data(&object, |image, place| {
                    image.statics.insert(s.clone(), place);
                });
                self.name(mangle_static(s), place, object.bytes.len());
                Ok(place)
            }
            SymbolRef::TypeInfo(ty) => {
                let object = type_info_object(*ty, self.program);
                Ok(self.add_data(&object, |image, place| {
                    image.others.insert(symbol.clone(), place);
                }))
            }
            SymbolRef::ProgramTable => {
                let entry = self.entry.ok_or_else(|| {
                    CodegenError::new("image", "a program table needs an entry point")
                })?;
                let mut object = program_table(entry, self.program)?;
                (object.relocs).push(address(abi::table::PLACES, SymbolRef::Places));
                Ok(self.add_data(&object, |image, place| {
                    image.program_table = Some(place);
                }))
            }
            SymbolRef::Location(i) => {
                let (f, code) = owner
                    .ok_or_else(|| CodegenError::new("image", "a location outside a function"))?;
                let at = code.locations.get(*i as usize).copied().unwrap_or(0);
                Ok(self.location(f, at))
            }
            SymbolRef::Places => Err(CodegenError::new("image", "places are known last")),
            SymbolRef::External(name) => Err(CodegenError::new(
                name.to_string(),
                "not a part of the image",
            )),
            SymbolRef::Foreign(f) => Err(CodegenError::new(f.name(), "not a part of the image")),
        }
    }

    fn add_data(&mut self, object: &DataObject, record: impl FnOnce(&mut Image, Place)) -> Place {
        let section = if object.readonly {
            SectionId::Rodata
        } else {
            SectionId::Data
        };
        let base = self.append(section, &object.bytes, object.align);
        self.queue(section, base.offset, &object.relocs, None);
        let place = Place {
            section,
            offset: base.offset + object.start,
        };
        record(&mut self.image, place);
        place
    }

    /// The record of a place in the source: file, function, line.
    fn location(&mut self, f: &FuncSym, at: u32) -> Place {
        self.record(f, Some(at))
    }

    /// The same, or the record of the function as a whole.
    fn record(&mut self, f: &FuncSym, at: Option<u32>) -> Place {
        let f = self.source.written_as(f);
        let key = (f.clone(), at);
        if let Some(p) = self.locations.get(&key) {
            return *p;
        }
        let known = self.source.position(f, at.unwrap_or(0));
        let (file, line) = known.unwrap_or_else(|| ("?".into(), 0));
        let line = if at.is_none() { 0 } else { line };
        let file = self.text(file);
        let function = self.text(f.name().to_owned());
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

    /// The table of places: whether lines are known, the number of rows, and in each an
    /// address and the record of the place that the code from there on comes from.
    fn table_of_places(&mut self) {
        let code = core::mem::take(&mut self.code);
        let checked = code.iter().any(|(_, _, c)| !c.lines.is_empty());
        let mut rows: Vec<(u64, Option<Place>)> = Vec::new();
        for (start, f, c) in &code {
            let mut last = Some(self.record(f, None));
            rows.push((*start, last));
            for (offset, at) in &c.lines {
                let place = Some(self.location(f, *at));
                if place != last {
                    rows.push((start + u64::from(*offset), place));
                    last = place;
                }
            }
            // What follows may be code that belongs to no function.
            rows.push((start + c.code.len() as u64, None));
        }
        let mut bytes = Vec::with_capacity(16 * (rows.len() + 1));
        bytes.extend_from_slice(&u64::from(checked).to_le_bytes());
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
        for (section, reloc) in core::mem::take(&mut self.to_places) {
            let target = Target::Place(table);
            let relocs = &mut self.image.sections[section as usize].relocs;
            relocs.push(ImageReloc { target, ..reloc });
        }
    }

    /// A text that ends in a zero byte.
    fn text(&mut self, text: String) -> Place {
        if let Some(p) = self.texts.get(&text) {
            return *p;
        }
        let mut bytes = text.clone().into_bytes();
        bytes.push(0);
        let place = self.append(SectionId::Rodata, &bytes, 1);
        self.texts.insert(text, place);
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

    fn name(&mut self, name: String, place: Place, size: usize) {
        self.image.symbols.push(Symbol {
            name,
            place,
            size: size as u64,
        });
    }

    /// Remembers relocations, the first one on top.
    fn queue(
        &mut self,
        section: SectionId,
        base: u64,
        relocs: &[Reloc],
        owner: Option<(FuncSym, Arc<CompiledFunction>)>,
    ) {
        self.pending
            .extend(relocs.iter().rev().map(|reloc| Pending {
                section,
                base,
                reloc: reloc.clone(),
                owner: owner.clone(),
            }));
    }
}
