//! Places of objects in a run that replays units of import time.
//!
//! ```text
//! record   def f(): ..   place 70        run   def new(): ..   place 900, after those of the record
//!          def g(): ..   place 71              def f(): ..     place 70
//! ```
//!
//! When a unit runs again, an object gets the place of a recorded object that was made in the same way: a function of
//! the same code, the `__dict__` of the same object, or another object of the same kind by the same instruction, in the
//! order of their making. So references from other objects of the record stay valid. The instructions of a body that
//! has changed are matched with those of the recorded body. The program cannot see places: `id()` and `hash()` use
//! numbers that identities get when they are first used.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem::{Discriminant, discriminant};
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use taipan_code::{Code, CodeId, Instr};

use super::heap::{Kind, Object, Ref};

/// How an object was made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Origin {
    /// A function of a body.
    Function(CodeId),
    /// The `__dict__` of an object.
    Attributes(Ref),
    /// An object of a kind, by an instruction of a body. Programs change classes of objects.
    Instruction(u32, u32, Discriminant<Kind>),
}

/// Places of a unit that are free.
pub(crate) type Free = FxHashMap<Origin, VecDeque<Ref>>;

/// The places of a run.
#[derive(Debug)]
pub(crate) struct Slots {
    /// By place: the number of objects that were made before.
    order: Vec<u32>,
    /// Number of objects that were made.
    made: u32,
    /// Free places of the units that run, innermost last.
    free: Vec<Free>,
    /// By body that has changed: the recorded instruction that each instruction corresponds to.
    instructions: FxHashMap<u32, Vec<Option<u32>>>,
}

impl Slots {
    /// The places of a run that has made a number of objects.
    pub(crate) fn new(made: usize) -> Slots {
        Slots {
            order: (0..made as u32).collect(),
            made: made as u32,
            free: Vec::new(),
            instructions: FxHashMap::default(),
        }
    }

    /// Number of objects that were made.
    pub(crate) fn made(&self) -> usize {
        self.made as usize
    }

    /// By place: the number of objects that were made before.
    pub(crate) fn order(self) -> Arc<[u32]> {
        self.order.into()
    }

    /// The number of objects that were made before that of a place.
    pub(crate) fn age(&self, r: Ref) -> u32 {
        self.order.get(r.0 as usize).copied().unwrap_or(u32::MAX)
    }

    /// Begins a unit with these free places.
    pub(crate) fn enter(&mut self, free: Free) {
        self.free.push(free);
    }

    /// Ends a unit.
    pub(crate) fn leave(&mut self) {
        self.free.pop();
    }

    /// Matches the instructions of a body with those of the recorded one.
    pub(crate) fn match_instructions(&mut self, site: u32, code: &Code, recorded: &Code) {
        self.instructions.insert(site, matching(code, recorded));
    }

    /// The place of a new object, if the recorded unit has made one in the same way. `owner` is the object whose `__dict__`
    /// it becomes.
    pub(crate) fn find(&mut self, object: &Object, owner: Option<Ref>) -> Option<Ref> {
        let mut origin = origin(object, owner);
        if let Origin::Instruction(code, pc, _) = &mut origin
            && let Some(instructions) = self.instructions.get(code)
        {
            *pc = instructions.get(*pc as usize).copied().flatten()?;
        }
        self.free.last_mut()?.get_mut(&origin)?.pop_front()
    }

    /// Notes that the next object is made, in this place.
    pub(crate) fn note_made(&mut self, r: Ref) {
        let at = r.0 as usize;
        if at >= self.order.len() {
            self.order.resize(at + 1, u32::MAX);
        }
        self.order[at] = self.made;
        self.made += 1;
    }
}

fn origin(object: &Object, owner: Option<Ref>) -> Origin {
    match &object.kind {
        _ if let Some(owner) = owner => Origin::Attributes(owner),
        Kind::Function(f) => Origin::Function(f.code),
        kind => Origin::Instruction(object.site.code, object.site.pc, discriminant(kind)),
    }
}

/// The owners of dicts that became the `__dict__` of an older object.
pub(crate) fn owners(objects: &[Object]) -> FxHashMap<Ref, Ref> {
    let owned = (0..).map(Ref).zip(objects);
    let owned = owned.filter_map(|(owner, o)| Some((o.attrs?, owner)));
    owned.filter(|(dict, owner)| owner < dict).collect()
}

/// The places of objects, by their origins.
pub(crate) fn places(
    objects: &[Object],
    owners: &FxHashMap<Ref, Ref>,
    places: impl Iterator<Item = Range<usize>>,
) -> Free {
    let mut free = Free::default();
    for at in places.flatten() {
        let owner = owners.get(&Ref(at as u32)).copied();
        let same = free.entry(origin(&objects[at], owner)).or_default();
        same.push_back(Ref(at as u32));
    }
    free
}

/// Maximum product of the lengths of two sequences that are compared.
const MOST_PAIRS: usize = 1 << 22;

/// The recorded instruction that each instruction of a body corresponds to.
fn matching(code: &Code, recorded: &Code) -> Vec<Option<u32>> {
    let (new, old) = (meanings(code), meanings(recorded));
    let before = new.iter().zip(&old).take_while(|(a, b)| a == b).count();
    let (new, old) = (&new[before..], &old[before..]);
    let pairs = new.iter().rev().zip(old.iter().rev());
    let behind = pairs.take_while(|(a, b)| a == b).count();
    let (new, old) = (&new[..new.len() - behind], &old[..old.len() - behind]);
    let mut matched: Vec<Option<u32>> = (0..before as u32).map(Some).collect();
    matched.extend(
        longest_common(new, old)
            .iter()
            .map(|at| Some(at.as_ref()? + before as u32)),
    );
    let end = before + old.len();
    matched.extend((end..end + behind).map(|at| Some(at as u32)));
    matched
}

/// For each item of the first sequence, its place in the second one, if it is in a longest common subsequence.
fn longest_common(a: &[u64], b: &[u64]) -> Vec<Option<u32>> {
    let mut matched = vec![None; a.len()];
    if a.len().saturating_mul(b.len()) > MOST_PAIRS {
        return matched;
    }
    for op in capture_diff_slices(Algorithm::Myers, a, b) {
        if let DiffOp::Equal {
            old_index,
            new_index,
            len,
        } = op
        {
            let places = (new_index..new_index + len).map(|at| Some(at as u32));
            for (place, at) in matched[old_index..old_index + len].iter_mut().zip(places) {
                *place = at;
            }
        }
    }
    matched
}

/// A hash of each instruction with its operands, but without jump targets.
fn meanings(code: &Code) -> Vec<u64> {
    let meaning = |instr: &Instr| {
        let mut hasher = DefaultHasher::new();
        discriminant(instr).hash(&mut hasher);
        let h = &mut hasher;
        match *instr {
            Instr::LoadConst(i) => code.consts[i as usize].hash(h),
            Instr::LoadFast(i) | Instr::StoreFast(i) | Instr::DeleteFast(i) => {
                code.locals[i as usize].hash(h);
            }
            Instr::LoadGlobal(i)
            | Instr::StoreGlobal(i)
            | Instr::DeleteGlobal(i)
            | Instr::LoadName(i)
            | Instr::StoreName(i)
            | Instr::DeleteName(i)
            | Instr::LoadAttr(i)
            | Instr::StoreAttr(i)
            | Instr::DeleteAttr(i)
            | Instr::ImportFrom(i) => code.names[i as usize].hash(h),
            Instr::Call(i) => code.calls[i as usize].hash(h),
            Instr::MakeFunction(i) => {
                let made = &code.functions[i as usize];
                code.consts[made.code as usize].hash(h);
            }
            Instr::Import(i) => code.imports[i as usize].hash(h),
            instr if instr.jump_target().is_none() => instr.hash(h),
            _ => {}
        }
        hasher.finish()
    };
    code.instrs.iter().map(meaning).collect()
}
