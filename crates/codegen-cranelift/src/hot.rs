//! Programs whose code is replaced while they run.
//!
//! Every function has an entry that never moves, a jump by way of a word:
//!
//! ```text
//! caller ──call──► entry: jmp *slot ──► code of the function
//!                              ▲
//!                   one aligned word, stored at a stroke
//! ```
//!
//! Calls and function pointers know the entry alone. New code is written where no code
//! was before, then the word is stored: whoever calls later runs the new code, and
//! frames in progress go on in the old one, which stays where it is. That is right as
//! long as old and new code agree on everything outside of their bodies; where they do
//! not, [`HotProgram::replace`] says what stands against it, and nothing has changed.
//!
//! Data of the program are its own copy, which it may have written to. So data that
//! exist stay as they are, and new ones come into memory that is shared.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHashMap;
use taipan_codegen::{
    CodegenError, CompiledFunction, DataObject, ListedFunction, ListedStruct, Listing, Positions,
    Reloc, SymbolRef, abi,
};
use taipan_lltype::{FuncSym, StaticSym, StructId};

use crate::Region;
use crate::patch::{Patch, STUB, flush, is_call, jump_by, stub};
use crate::place::{external_address, write};

/// Why a program has to be started anew.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Obstacle {
    /// The fields of a struct of this name are others.
    Layout(String),
    /// Prebuilt data are others: what they hold.
    Data(String),
    /// Information on the type of this name is another.
    Type(String),
    /// The program is entered in another way.
    Entry,
    /// There is no more room for new code or data.
    Room,
}

/// A program in a region, in parts that can be replaced.
pub struct HotProgram {
    functions: FxHashMap<FuncSym, Function>,
    data: FxHashMap<SymbolRef, (usize, Arc<DataObject>)>,
    structs: FxHashMap<StructId, ListedStruct>,
    /// Places inside of data.
    places: FxHashMap<StaticSym, (StaticSym, i64)>,
    /// Stubs that lead to functions elsewhere.
    externals: FxHashMap<Arc<str>, usize>,
    texts: HashMap<String, usize>,
    room: Room,
    table: usize,
}

struct Function {
    code: Arc<CompiledFunction>,
    entry: usize,
    slot: usize,
    /// The records of its places in the source.
    locations: Vec<usize>,
    positions: Arc<Positions>,
}

/// What is free.
#[derive(Clone)]
struct Room {
    code: Range<usize>,
    slots: Range<usize>,
    /// For data that exist when a process enters.
    data: Range<usize>,
    /// For data that come later, or that are changed.
    more: Range<usize>,
}

/// There is no room.
struct Full;

fn take(from: &mut Range<usize>, size: usize, align: usize) -> Result<usize, Full> {
    let at = from.start.next_multiple_of(align.max(1));
    let end = at
        .checked_add(size)
        .filter(|end| *end <= from.end)
        .ok_or(Full)?;
    from.start = end;
    Ok(at)
}

impl HotProgram {
    /// Writes a program. No process that has entered the region may still run.
    pub fn load(region: &Region, listing: &Listing) -> Result<HotProgram, CodegenError> {
        let mut program = HotProgram {
            functions: FxHashMap::default(),
            data: FxHashMap::default(),
            structs: FxHashMap::default(),
            places: FxHashMap::default(),
            externals: FxHashMap::default(),
            texts: HashMap::new(),
            room: Room {
                code: region.code(),
                slots: region.slots(),
                data: region.data(),
                more: region.more_data(),
            },
            table: 0,
        };
        match program.add(listing, true) {
            Ok(_) => Ok(program),
            Err(Refused::Full) => Err(CodegenError::new("image", "too large")),
            Err(Refused::Bad(e)) => Err(e),
        }
    }

    /// Address of the program table.
    pub fn table(&self) -> usize {
        self.table
    }

    /// Where a function is entered, whatever its code is.
    #[cfg(test)]
    pub(crate) fn entry(&self, f: &FuncSym) -> Option<usize> {
        self.functions.get(f).map(|f| f.entry)
    }

    /// Makes the program that was loaded, and may be running, the listed one. Answers
    /// the functions whose code is another now. Refused with an obstacle, it is as
    /// before.
    pub fn replace(
        &mut self,
        listing: &Listing,
    ) -> Result<Result<Vec<FuncSym>, Obstacle>, CodegenError> {
        if let Some(obstacle) = self.obstacle(listing) {
            return Ok(Err(obstacle));
        }
        match self.add(listing, false) {
            Ok(replaced) => Ok(Ok(replaced)),
            Err(Refused::Full) => Ok(Err(Obstacle::Room)),
            Err(Refused::Bad(e)) => Err(e),
        }
    }

    /// What stands against replacing parts of the program: the same answer for the same
    /// programs.
    fn obstacle(&self, listing: &Listing) -> Option<Obstacle> {
        let changed = (listing.structs.iter())
            .filter(|(id, new)| self.structs.get(id).is_some_and(|old| old.body != new.body))
            .map(|(_, new)| &*new.name)
            .min();
        if let Some(name) = changed {
            return Some(Obstacle::Layout(name.to_owned()));
        }
        let changed = listing.data.iter().find(|(symbol, object)| {
            (self.data.get(*symbol))
                .is_some_and(|(_, old)| !Arc::ptr_eq(old, object) && old != *object)
        });
        Some(match changed?.0 {
            SymbolRef::Static(s) => Obstacle::Data(contents(s)),
            SymbolRef::TypeInfo(ty) => Obstacle::Type(ty.to_string()),
            _ => Obstacle::Entry,
        })
    }

    /// Writes what is new or changed, and then has it used.
    fn add(&mut self, listing: &Listing, first: bool) -> Result<Vec<FuncSym>, Refused> {
        if let Some(f) = listing.foreign.first() {
            return Err(Refused::Bad(no_library(f)));
        }
        // All addresses before anything is written: a refusal changes nothing.
        let mut room = self.room.clone();
        let mut new_data = Vec::new();
        for (symbol, object) in &listing.data {
            if !self.data.contains_key(symbol) {
                let from = if first {
                    &mut room.data
                } else {
                    &mut room.more
                };
                let at = take(from, object.bytes.len(), object.align.max(8) as usize)?;
                new_data.push((symbol, object, at));
            }
        }
        let mut new_code = Vec::new();
        let mut moved = Vec::new();
        for (f, listed) in &listing.functions {
            let old = self.functions.get(f);
            match old {
                Some(old) if same_code(&old.code, &listed.code) => {
                    if old.positions != listed.positions {
                        moved.push((f, listed));
                    }
                    continue;
                }
                _ => {}
            }
            let (entry, slot) = match old {
                Some(old) => (old.entry, old.slot),
                None => (
                    take(&mut room.code, STUB, STUB)?,
                    take(&mut room.slots, 8, 8)?,
                ),
            };
            let at = take(&mut room.code, listed.code.code.len(), 16)?;
            let size = listed.positions.locations.len() * abi::LOCATION_SIZE;
            let locations = take(&mut room.more, size, 8)?;
            new_code.push(NewCode {
                f,
                listed,
                entry,
                slot,
                at,
                locations,
                replaces: old.is_some(),
            });
        }
        self.link(room, new_data, &new_code, &listing.places)?;
        for (f, listed) in moved {
            self.move_positions(f, listed);
        }
        let mut replaced = Vec::new();
        for new in new_code {
            publish(new.slot, new.at as u64);
            if new.replaces {
                replaced.push(new.f.clone());
            }
        }
        #[expect(
            clippy::iter_over_hash_type,
            reason = "each goes into a map by its own key"
        )]
        for (id, listed) in &listing.structs {
            self.structs
                .entry(id.clone())
                .or_insert_with(|| listed.clone());
        }
        if let Some((at, _)) = self.data.get(&SymbolRef::ProgramTable) {
            self.table = *at;
        }
        Ok(replaced)
    }

    /// Writes new data and code at their addresses; nothing leads there yet.
    fn link(
        &mut self,
        room: Room,
        new_data: Vec<(&SymbolRef, &Arc<DataObject>, usize)>,
        new_code: &[NewCode<'_>],
        places: &FxHashMap<StaticSym, (StaticSym, i64)>,
    ) -> Result<(), Refused> {
        self.room = room;
        for (symbol, object, at) in &new_data {
            let start = at + object.start as usize;
            self.data
                .insert((*symbol).clone(), (start, (*object).clone()));
        }
        self.places = places.clone();
        for new in new_code {
            let step = abi::LOCATION_SIZE;
            let locations =
                (0..new.listed.positions.locations.len()).map(|i| new.locations + i * step);
            let function = Function {
                code: new.listed.code.clone(),
                entry: new.entry,
                slot: new.slot,
                locations: locations.collect(),
                positions: new.listed.positions.clone(),
            };
            let positions = &function.positions;
            let (file, name) = (self.text(&positions.file)?, self.text(&positions.function)?);
            for (location, line) in function.locations.iter().zip(&positions.locations) {
                write(*location, &(file as u64).to_le_bytes());
                write(location + 8, &(name as u64).to_le_bytes());
                write(location + 16, &u64::from(*line).to_le_bytes());
            }
            if !new.replaces {
                write_code(new.entry, &jump_by(new.entry, new.slot)?);
            }
            self.functions.insert(new.f.clone(), function);
        }
        for (_, object, at) in new_data {
            write(at, &object.bytes);
            self.relocate_all(at, &object.bytes, &object.relocs, &[])?;
        }
        for new in new_code {
            let CompiledFunction { code, relocs, .. } = &*new.listed.code;
            write(new.at, code);
            let locations = self.functions[new.f].locations.clone();
            self.relocate_all(new.at, code, relocs, &locations)?;
            // SAFETY: the code was written just now.
            unsafe { flush(new.at, code.len()) };
        }
        Ok(())
    }

    fn relocate_all(
        &mut self,
        base: usize,
        bytes: &[u8],
        relocs: &[Reloc],
        locations: &[usize],
    ) -> Result<(), Refused> {
        for r in relocs {
            let missing = || CodegenError::new("image", format!("{:?} is missing", r.target));
            let to = match &r.target {
                SymbolRef::Func(f) => self.functions.get(f).ok_or_else(missing)?.entry,
                SymbolRef::External(name) if is_call(r.kind) => self.external(name)?,
                SymbolRef::External(name) => external_address(name)?,
                SymbolRef::Location(i) => *locations.get(*i as usize).ok_or_else(missing)?,
                SymbolRef::Static(s) => self.static_address(s).ok_or_else(missing)?,
                data => self.data.get(data).ok_or_else(missing)?.0,
            };
            let (offset, to) = (r.offset as usize, (to as i64).wrapping_add(r.addend));
            let patch = Patch::new(&bytes[offset..], base + offset, r.kind, to)?;
            write(base + offset, patch.bytes());
        }
        Ok(())
    }

    /// Where prebuilt data start, or the place inside of them.
    fn static_address(&self, s: &StaticSym) -> Option<usize> {
        let (root, offset) = match self.places.get(s) {
            Some((root, offset)) => (root, *offset as isize),
            None => (s, 0),
        };
        let (start, _) = self.data.get(&SymbolRef::Static(root.clone()))?;
        Some(start.wrapping_add_signed(offset))
    }

    /// The stub of a function elsewhere.
    fn external(&mut self, name: &Arc<str>) -> Result<usize, Refused> {
        if let Some(at) = self.externals.get(name) {
            return Ok(*at);
        }
        let code = stub(external_address(name)?);
        let at = take(&mut self.room.code, STUB, STUB)?;
        write_code(at, &code);
        self.externals.insert(name.clone(), at);
        Ok(at)
    }

    /// A text that ends in a zero byte.
    fn text(&mut self, text: &str) -> Result<usize, Refused> {
        if let Some(at) = self.texts.get(text) {
            return Ok(*at);
        }
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        let at = take(&mut self.room.more, bytes.len(), 1)?;
        write(at, &bytes);
        self.texts.insert(text.to_owned(), at);
        Ok(at)
    }

    /// The code is the same, but lines before it have come or gone.
    fn move_positions(&mut self, f: &FuncSym, listed: &ListedFunction) {
        if let Some(function) = self.functions.get_mut(f) {
            for (at, line) in function.locations.iter().zip(&listed.positions.locations) {
                publish(at + 16, u64::from(*line));
            }
            function.positions = listed.positions.clone();
        }
    }
}

/// Addresses in a library are known to the process that runs alone, which code that comes later
/// could not be told of.
fn no_library(f: &FuncSym) -> CodegenError {
    let message = "a program whose code is replaced while it runs cannot call functions of C \
                   libraries that it brings";
    CodegenError::new(f.name(), message)
}

/// What prebuilt data hold, for people.
fn contents(s: &StaticSym) -> String {
    match s {
        StaticSym::Vtable(_) | StaticSym::ObjectVtable => "methods of a class".to_owned(),
        StaticSym::Str(_) | StaticSym::Unicode(_) => "a string".to_owned(),
        StaticSym::Within(root, _) => contents(root),
        StaticSym::Object(_, ty)
        | StaticSym::Part(_, _, ty)
        | StaticSym::Value(_, ty)
        | StaticSym::Named(_, ty) => format!("a {ty}"),
    }
}

/// Code that is to be placed.
struct NewCode<'a> {
    f: &'a FuncSym,
    listed: &'a ListedFunction,
    entry: usize,
    slot: usize,
    at: usize,
    locations: usize,
    replaces: bool,
}

enum Refused {
    Full,
    Bad(CodegenError),
}

impl From<Full> for Refused {
    fn from(_: Full) -> Self {
        Refused::Full
    }
}

impl From<CodegenError> for Refused {
    fn from(e: CodegenError) -> Self {
        Refused::Bad(e)
    }
}

fn same_code(a: &Arc<CompiledFunction>, b: &Arc<CompiledFunction>) -> bool {
    Arc::ptr_eq(a, b) || a == b
}

/// Writes code that refers to nothing.
fn write_code(at: usize, code: &[u8]) {
    write(at, code);
    // SAFETY: the code was written just now.
    unsafe { flush(at, code.len()) };
}

/// Stores a word that a running process reads, after everything written before.
fn publish(at: usize, word: u64) {
    debug_assert!(at.is_multiple_of(8));
    // SAFETY: an aligned word of the region.
    unsafe { AtomicU64::from_ptr(at as *mut u64) }.store(word, Ordering::Release);
}
