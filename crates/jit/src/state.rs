//! What the specialiser knows at one point of the code that it generates (RPython, 2008:
//! `JITState`, `VirtualFrame`, `rvalue.py`, `VirtualStruct`).
//!
//! A state owns its boxes and virtual structs in arenas, and refers to them by number:
//! copying a state, as a split does, keeps who shares what.

use std::rc::Rc;
use std::sync::{LazyLock, Mutex, PoisonError};

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use taipan_graph::{BlockId, VarId};
use taipan_lltype::{LLType, StructId};

use crate::binding::Frozen;
use crate::code::Slot;
use crate::heap::Heap;
use crate::held::Held;
use crate::layout::Place;
use crate::pure::PureFact;

/// A machine word or, for wide integers, two.
pub type Word = i128;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct BoxId(pub(crate) u32);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct VirtualId(pub(crate) u32);

/// What stands for a value in residual code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GenVar {
    Const(Held),
    Var(VarId),
}

/// A field, by the innermost struct that has it.
pub(crate) type FieldKey = (LLType, usize);

/// The owner of a list, of its array of items or of an iterator: see [`crate::own_lists`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Owner {
    /// Unknown: a new list, an argument, or the result of a call.
    #[default]
    Unknown,
    /// None: it was read from a place that owns no lists.
    Elsewhere,
    /// A field of some object.
    Field(OwnField),
}

/// Number of a field that owns its lists, four bytes in each box. Numbers differ between processes, so they are only
/// compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct OwnField(u32);

/// Fields by number.
static OWN_FIELDS: LazyLock<Mutex<IndexSet<FieldKey, FxBuildHasher>>> =
    LazyLock::new(Mutex::default);

impl OwnField {
    pub(crate) fn of(key: FieldKey) -> OwnField {
        let mut all = OWN_FIELDS.lock().unwrap_or_else(PoisonError::into_inner);
        OwnField(all.insert_full(key).0 as u32)
    }

    pub(crate) fn key(self) -> FieldKey {
        let all = OWN_FIELDS.lock().unwrap_or_else(PoisonError::into_inner);
        all[self.0 as usize]
    }
}

impl Owner {
    /// Whether lists of these owners are certainly different.
    pub(crate) fn differs(self, other: Owner) -> bool {
        self != Owner::Unknown && other != Owner::Unknown && self != other
    }
}

/// What is known of the object that a box points to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Content {
    None,
    /// It exists while compiling only.
    Virtual(VirtualId),
    /// Values in places that never change.
    Partial(Vec<(Place, BoxId)>),
}

impl Content {
    /// The places that never change, and what is in them.
    pub(crate) fn places(&self) -> &[(Place, BoxId)] {
        match self {
            Content::Partial(places) => places,
            Content::None | Content::Virtual(_) => &[],
        }
    }
}

/// What the truth of a box says about others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fact {
    /// True if that pointer is not null; the other way round if `reverse`.
    NonNull { of: BoxId, reverse: bool },
    /// True if code that was called left an exception.
    Exception,
}

/// A red value. Without a variable it is virtual.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RedBox {
    pub(crate) ty: LLType,
    pub(crate) var: Option<GenVar>,
    /// For pointers: it is not null.
    pub(crate) nonzero: bool,
    pub(crate) content: Content,
    pub(crate) fact: Option<Fact>,
    /// What is promised of the memory that a known pointer leads to.
    pub(crate) frozen: Frozen,
    /// Owner, for lists.
    pub(crate) owner: Owner,
}

impl RedBox {
    /// Whether the value is known.
    pub(crate) fn is_constant(&self) -> bool {
        matches!(self.var, Some(GenVar::Const(_)))
    }
}

/// An object that exists while compiling only.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct VirtualStruct {
    pub(crate) ty: LLType,
    /// Its values, in the order of its [`crate::layout::Shape`].
    pub(crate) fields: Vec<BoxId>,
    pub(crate) own: BoxId,
}

/// The value of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Val {
    Unset,
    Green(Word),
    Red(BoxId),
}

/// The values of slots. Those that are not set take no room: states are copied often.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Values(Vec<(Slot, SetVal)>);

/// The value of a slot that is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SetVal {
    Green(Held),
    Red(BoxId),
}

impl From<SetVal> for Val {
    fn from(v: SetVal) -> Val {
        match v {
            SetVal::Green(w) => Val::Green(w.word()),
            SetVal::Red(b) => Val::Red(b),
        }
    }
}

impl Values {
    /// No values, with capacity for those of a typical frame.
    pub(crate) fn with_room() -> Values {
        Values(Vec::with_capacity(12))
    }

    pub(crate) fn get(&self, slot: Slot) -> Val {
        self.held(slot).map_or(Val::Unset, Val::from)
    }

    pub(crate) fn set(&mut self, slot: Slot, val: Val) {
        self.hold(
            slot,
            match val {
                Val::Unset => None,
                Val::Green(w) => Some(SetVal::Green(w.into())),
                Val::Red(b) => Some(SetVal::Red(b)),
            },
        );
    }

    /// The value of a slot in packed form; None if the slot is unset.
    pub(crate) fn held(&self, slot: Slot) -> Option<SetVal> {
        let found = self.0.binary_search_by_key(&slot, |v| v.0);
        found.ok().map(|i| self.0[i].1)
    }

    /// Sets a slot to a packed value.
    pub(crate) fn hold(&mut self, slot: Slot, val: Option<SetVal>) {
        // Most slots are set in the order of their numbers.
        let at = match self.0.last() {
            Some(last) if last.0 < slot => Err(self.0.len()),
            _ => self.0.binary_search_by_key(&slot, |v| v.0),
        };
        match (at, val) {
            (Ok(i), None) => {
                self.0.remove(i);
            }
            (Ok(i), Some(val)) => self.0[i].1 = val,
            (Err(_), None) => {}
            (Err(i), Some(val)) => self.0.insert(i, (slot, val)),
        }
    }

    /// Those that are set, by slot.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Slot, Val)> {
        self.0.iter().map(|(slot, v)| (*slot, (*v).into()))
    }

    /// The boxes, by slot, to be changed.
    pub(crate) fn boxes_mut(&mut self) -> impl Iterator<Item = &mut BoxId> {
        self.0.iter_mut().filter_map(|v| match &mut v.1 {
            SetVal::Red(b) => Some(b),
            SetVal::Green(_) => None,
        })
    }

    /// The boxes among them, by slot.
    pub(crate) fn boxes(&self) -> impl Iterator<Item = BoxId> {
        self.0.iter().filter_map(|v| match v.1 {
            SetVal::Red(b) => Some(b),
            SetVal::Green(_) => None,
        })
    }

    /// Unsets all slots that are not in `live`, which is sorted.
    pub(crate) fn keep_only(&mut self, live: &[Slot]) {
        let mut live = live.iter().peekable();
        self.0.retain(|v| {
            while live.next_if(|l| **l < v.0).is_some() {}
            live.peek() == Some(&&v.0)
        });
    }
}

/// A function that is being specialised, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Frame {
    /// Which timeshifted graph.
    pub(crate) code: u32,
    pub(crate) block: u32,
    pub(crate) op: u32,
    pub(crate) values: Values,
    /// The slot that waits for the result of the call that is under way.
    pub(crate) waiting: Slot,
    /// The first argument of the call, if it was known.
    pub(crate) receiver: Option<Word>,
    /// The greens of the merge point of a driver that it came by last.
    pub(crate) greens: Option<Rc<[Word]>>,
    /// Greens of the first merge point of this call.
    pub(crate) began: Option<Rc<[Word]>>,
    /// It came by a place where a loop of the interpreted program closes since then.
    pub(crate) closes: bool,
    /// A branch was decided at run time since the last head of a loop. Tests for exceptions do not count.
    pub(crate) decides: bool,
}

/// A state of the specialiser.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct JitState {
    pub(crate) boxes: Vec<RedBox>,
    pub(crate) virtuals: Vec<VirtualStruct>,
    /// What is known of objects that exist at run time.
    pub(crate) heap: Heap,
    /// Operations without effects that need not be generated again.
    pub(crate) pure: Vec<PureFact>,
    /// The innermost function last.
    pub(crate) frames: Vec<Frame>,
    pub(crate) exc_type: BoxId,
    pub(crate) exc_value: BoxId,
    /// Code that was called may have left an exception.
    pub(crate) exc_unknown: bool,
    /// What the innermost function returned, on the way to its caller.
    pub(crate) returned: Val,
    /// A value that compilation waits for.
    pub(crate) wanted: Option<BoxId>,
    /// Where code of the merge point begins that the portal came by last. What is special
    /// about a version there is not lost to another one's code where states meet later.
    pub(crate) version: Option<BlockId>,
    /// It has stopped where it is until code got there.
    pub(crate) resumed: bool,
    /// It has read beyond the end of something that is known: code hardly gets there.
    pub(crate) doubtful: bool,
    /// What stands for all that code takes for granted since it looked last whether that is
    /// still so, and nothing since may have changed it (see [`World::assumptions`]).
    ///
    /// [`World::assumptions`]: crate::World::assumptions
    pub(crate) assumed: Option<u64>,
    /// Where code begins that other states may join. As long as code is written there, nothing
    /// was decided since.
    pub(crate) met: Option<BlockId>,
    /// Where code is written.
    pub(crate) at: BlockId,
}

impl JitState {
    pub(crate) fn get(&self, b: BoxId) -> &RedBox {
        &self.boxes[b.0 as usize]
    }

    pub(crate) fn get_mut(&mut self, b: BoxId) -> &mut RedBox {
        &mut self.boxes[b.0 as usize]
    }

    /// The value of a box that is known.
    pub(crate) fn known(&self, b: BoxId) -> Option<Word> {
        match self.get(b).var {
            Some(GenVar::Const(w)) => Some(w.word()),
            _ => None,
        }
    }

    /// The fields of a virtual struct that is no instance of a class, such as an iterator; none for other boxes.
    pub(crate) fn parts_of_helper(&self, b: BoxId) -> &[BoxId] {
        let Content::Virtual(v) = self.get(b).content else {
            return &[];
        };
        let object = &self.virtuals[v.0 as usize];
        match object.ty.as_struct() {
            Some(s) if !matches!(s.id, StructId::Instance(_)) => &object.fields,
            _ => &[],
        }
    }

    /// Whether the value of a box is known.
    pub(crate) fn is_constant(&self, b: BoxId) -> bool {
        self.get(b).is_constant()
    }

    /// The same, as it is held: equal words are equal.
    pub(crate) fn constant_of(&self, b: BoxId) -> Option<Held> {
        match self.get(b).var {
            Some(GenVar::Const(w)) => Some(w),
            _ => None,
        }
    }

    pub(crate) fn add(&mut self, b: RedBox) -> BoxId {
        self.boxes.push(b);
        BoxId(self.boxes.len() as u32 - 1)
    }

    /// A box for a value that is known.
    pub(crate) fn constant(&mut self, w: Word, ty: LLType) -> BoxId {
        self.held_constant(w.into(), ty)
    }

    /// The same for a packed word.
    pub(crate) fn held_constant(&mut self, w: Held, ty: LLType) -> BoxId {
        self.add(RedBox {
            ty,
            var: Some(GenVar::Const(w)),
            nonzero: ty.pointee().is_some() && w != Held::from(0),
            content: Content::None,
            fact: None,
            frozen: Frozen::No,
            owner: Owner::Unknown,
        })
    }

    /// A box for a variable of the residual code.
    pub(crate) fn variable(&mut self, v: VarId, ty: LLType) -> BoxId {
        self.add(RedBox {
            ty,
            var: Some(GenVar::Var(v)),
            nonzero: false,
            content: Content::None,
            fact: None,
            frozen: Frozen::No,
            owner: Owner::Unknown,
        })
    }

    pub(crate) fn frame(&self) -> &Frame {
        &self.frames[self.frames.len() - 1]
    }

    pub(crate) fn frame_mut(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// Learns whether a pointer is null. False if it is known to be otherwise.
    pub(crate) fn learn_nonzero(&mut self, b: BoxId, nonzero: bool) -> bool {
        let known = self.known(b).is_some();
        let red = self.get_mut(b);
        match (nonzero, known) {
            (true, true) => red.nonzero,
            (true, false) => {
                red.nonzero = true;
                true
            }
            (false, _) if red.nonzero => false,
            (false, true) => true,
            (false, false) => {
                red.var = Some(GenVar::Const(Held::from(0)));
                red.content = Content::None;
                true
            }
        }
    }

    /// Forgets the slots of the innermost function that are not among these.
    pub(crate) fn keep_only(&mut self, live: &[Slot]) {
        self.frame_mut().values.keep_only(live);
    }
}
