//! What is known of the memory of objects that exist at run time (RPython:
//! `optimizeopt/heap.py`, `heapcache.py`).
//!
//! A fact says which box is in a place of an object. It holds until something is written
//! there, through that box or another one that may point to the same object. A fact can be
//! *pending*: the value belongs there and has not been written yet. Everything that may
//! look there comes after the write.
//!
//! ```text
//! v1 = getfield(p, .x)        ; p.x is v1
//! setfield(q, .x, v2)         ; q.x is v2; p may be q: nothing is known of p.x
//! v3 = getfield(p, .x)        ; generated: p.x is v3, q.x still v2
//! v4 = getfield(p, .x)        ; v4 is v3, nothing is generated
//! ```

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::code::Slot;
use crate::held::Held;
use crate::layout::{Index, Place};
use crate::state::{BoxId, Content, JitState, Owner, Val, Word};

/// More facts than this are forgotten again, the oldest first.
const MOST_KNOWN: usize = 128;

/// So many variables of residual code, at most, are passed on only because a place of memory
/// is known to hold them.
const MOST_REMEMBERED: usize = 8;

/// After so many changes of a state that went on before, facts are forgotten there.
const MOST_ROUNDS: u32 = 8;

/// One fact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Known {
    pub(crate) object: BoxId,
    pub(crate) place: Place,
    pub(crate) value: BoxId,
    /// The value has still to be written.
    pub(crate) pending: bool,
    /// It belongs to a virtualizable: where states meet, it goes on as a value of its own.
    pub(crate) kept: bool,
    /// It is a field of a virtualizable with a list whose items belong to it as well.
    pub(crate) list: bool,
}

/// All facts of a state, in the order in which they were learned.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Heap {
    pub(crate) known: Vec<Known>,
    /// Objects that were made since states last met and that nothing else points to yet.
    pub(crate) fresh: Vec<BoxId>,
    /// Of a state that went on before: how general it is.
    pub(crate) general: General,
}

/// How states that came by where one went on have changed it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct General {
    /// Some knew less than it does of virtualizables: what they did not know no later state
    /// brings back.
    pub(crate) closed: bool,
    /// How often it became more general.
    pub(crate) rounds: u32,
}

impl General {
    /// The same after another state that does not fit.
    pub(crate) fn after(self, some_missing: bool) -> General {
        General {
            closed: self.closed || some_missing || self.is_last(),
            rounds: self.rounds + 1,
        }
    }

    /// Whether nothing but values goes on: what states have in common, facts and which
    /// variables are one object, could change from one to the other for ever.
    pub(crate) fn is_last(self) -> bool {
        self.rounds >= MOST_ROUNDS
    }
}

impl JitState {
    /// Whether two boxes point to the same object for certain.
    pub(crate) fn is_same(&self, a: BoxId, b: BoxId) -> bool {
        a == b || (self.constant_of(a).is_some() && self.constant_of(a) == self.constant_of(b))
    }

    /// Whether two boxes may point to the same object.
    pub(crate) fn may_be_same(&self, a: BoxId, b: BoxId) -> bool {
        if self.is_same(a, b) {
            return true;
        }
        let known = self.constant_of(a).is_some() && self.constant_of(b).is_some();
        let fresh = self.heap.fresh.contains(&a) || self.heap.fresh.contains(&b);
        !known
            && !fresh
            && !self.get(a).owner.differs(self.get(b).owner)
            && !self.are_lists_of_one(a, b)
            && !self.have_different_holders(a, b)
    }

    /// Whether two boxes are lists of different objects, each of which owns its list.
    fn have_different_holders(&self, a: BoxId, b: BoxId) -> bool {
        // The object with the field, or the growing list of an array of items. An iterator is not a holder.
        let holder = |list: BoxId| match self.get(list).owner {
            Owner::Field(owner) => {
                let owner = owner.key();
                let mut facts = self.heap.known.iter();
                let holds = |k: &&Known| match k.place {
                    Place::Field(key) => {
                        (key == owner || key.0.list_items().is_some())
                            && self.is_same(k.value, list)
                    }
                    _ => false,
                };
                facts.find(holds).map(|k| k.object)
            }
            _ => None,
        };
        match (holder(a), holder(b)) {
            (Some(x), Some(y)) => !self.may_be_same(x, y),
            _ => false,
        }
    }

    /// Whether two boxes are different lists of one virtualizable: as in the original, each
    /// is taken for a list of its own.
    fn are_lists_of_one(&self, a: BoxId, b: BoxId) -> bool {
        let holders = |list: BoxId| {
            let all = self.heap.known.iter();
            all.filter(move |k| k.list && self.is_same(k.value, list))
        };
        holders(a)
            .any(|x| holders(b).any(|y| self.is_same(x.object, y.object) && x.place != y.place))
    }

    /// What is known to be in a place of an object.
    pub(crate) fn recall(&self, object: BoxId, place: Place) -> Option<BoxId> {
        let of = |k: &&Known| k.place == place && self.is_same(k.object, object);
        self.heap.known.iter().find(of).map(|k| k.value)
    }

    /// Learns what is in a place of an object.
    pub(crate) fn remember(&mut self, fact: Known) {
        let found = (self.heap.known.iter())
            .position(|k| k.place == fact.place && self.is_same(k.object, fact.object));
        match found {
            Some(i) => self.heap.known[i] = fact,
            None => {
                self.heap.known.push(fact);
                if self.heap.known.len() > MOST_KNOWN
                    && let Some(oldest) =
                        (self.heap.known.iter()).position(|k| !k.kept && !k.pending)
                {
                    self.heap.known.remove(oldest);
                }
            }
        }
    }

    /// Cancels the pending write of a place that is overwritten.
    pub(crate) fn drop_pending(&mut self, object: BoxId, place: Place) {
        let of = |k: &Known| k.pending && k.place == place && self.is_same(k.object, object);
        if let Some(i) = self.heap.known.iter().position(of) {
            self.heap.known[i].pending = false;
        }
    }

    /// Of facts about the same place of one object, which several boxes point to since it is
    /// known, keeps one: the one whose value is known, if there is one.
    pub(crate) fn forget_repeated(&mut self) {
        let known = std::mem::take(&mut self.heap.known);
        self.heap.known = self.without_repeated(known);
    }

    /// The place with its index as a number, if the base of the index is a constant.
    fn with_known_index(&self, place: Place) -> Place {
        match place {
            Place::Item {
                array,
                index: Index::Sum(base, n),
                field,
            } if let Some(word) = self.known(base) => {
                let index = u64::try_from(word + Word::from(n));
                Place::Item {
                    array,
                    index: index.map_or(Index::Unknown, Index::Known),
                    field,
                }
            }
            place => place,
        }
    }

    /// As [`JitState::forget_repeated`], for facts that the state does not hold.
    pub(crate) fn without_repeated(&self, mut known: Vec<Known>) -> Vec<Known> {
        for k in &mut known {
            k.place = self.with_known_index(k.place);
        }
        known.retain(|k| k.place.is_certain());
        let of_constants = known.iter();
        let of_constants = of_constants.filter(|k| self.constant_of(k.object).is_some());
        let of_constants = of_constants.count();
        if of_constants < 2 {
            return known;
        }
        let mut first: FxHashMap<(Held, Place), usize> =
            FxHashMap::with_capacity_and_hasher(of_constants, Default::default());
        let mut kept: Vec<Known> = Vec::with_capacity(known.len());
        for fact in known {
            let before = self.constant_of(fact.object).map(|w| (w, fact.place));
            let before = before.and_then(|key| match first.entry(key) {
                Entry::Vacant(e) => {
                    e.insert(kept.len());
                    None
                }
                Entry::Occupied(e) => Some(*e.get()),
            });
            match before {
                None => kept.push(fact),
                Some(i) if kept[i].pending => {}
                Some(i) if fact.pending || self.known(kept[i].value).is_none() => kept[i] = fact,
                Some(_) => {}
            }
        }
        kept
    }

    /// Forgets facts that may not hold any more.
    pub(crate) fn forget(&mut self, which: impl Fn(&JitState, &Known) -> bool) {
        // What is known decides what may be the same: all of it, while this is asked.
        let Some(first) = self.heap.known.iter().position(|k| which(self, k)) else {
            return;
        };
        let known = self.heap.known.iter().enumerate();
        let holds = known.map(|(i, k)| i < first || (i > first && !which(self, k)));
        let holds: Vec<bool> = holds.collect();
        let mut holds = holds.into_iter();
        self.heap.known.retain(|_| holds.next() == Some(true));
    }

    /// Forgets facts whose values nothing else needs, the oldest first, until few are left.
    pub(crate) fn forget_old_facts(&mut self) {
        if let Some(known) = self.facts_at_hand(MOST_REMEMBERED) {
            self.heap.known = known;
        }
    }

    /// The facts whose values something else needs, and the newest `most` others. None if every fact is pending or belongs
    /// to a virtualizable.
    pub(crate) fn facts_at_hand(&self, most: usize) -> Option<Vec<Known>> {
        let known = &self.heap.known;
        let stays = |k: &Known| k.pending || k.kept;
        if known.iter().all(stays) {
            return None;
        }
        let mut kept: Vec<Known> = known.iter().filter(|k| stays(k)).copied().collect();
        let mut seen = self.reached_by(&kept);
        let mut stays: Vec<bool> = known.iter().map(stays).collect();
        let at_hand = |seen: &[bool], b: BoxId| seen[b.0 as usize] || self.is_constant(b);
        let mut idle = 0;
        loop {
            let before = idle;
            for (i, k) in known.iter().enumerate().rev() {
                let base = k.place.base().is_none_or(|b| at_hand(&seen, b));
                if stays[i] || !base || !at_hand(&seen, k.object) {
                    continue;
                }
                if !at_hand(&seen, k.value) {
                    if idle == most {
                        continue;
                    }
                    idle += 1;
                    seen[k.value.0 as usize] = true;
                }
                stays[i] = true;
            }
            if idle == before {
                break;
            }
        }
        kept.clear();
        kept.extend(known.iter().zip(stays).filter(|k| k.1).map(|k| *k.0));
        Some(kept)
    }

    /// Learns what is in a place that never changes.
    pub(crate) fn learn_constant(&mut self, object: BoxId, place: Place, value: BoxId) {
        match &mut self.get_mut(object).content {
            Content::Partial(places) => {
                places.retain(|p| p.0 != place);
                places.push((place, value));
            }
            content => *content = Content::Partial(vec![(place, value)]),
        }
    }

    /// A place that never changes later is written: the object is new.
    pub(crate) fn forget_constant(&mut self, object: BoxId, place: Place) {
        if let Content::Partial(places) = &mut self.get_mut(object).content {
            places.retain(|p| p.0 != place);
        }
    }

    /// Forgets which variables of the program are one value, and what is known of objects.
    pub(crate) fn forget_sharing(&mut self) {
        let mut seen = vec![false; self.boxes.len()];
        for f in 0..self.frames.len() {
            let values: Vec<(Slot, Val)> = self.frames[f].values.iter().collect();
            for (slot, val) in values {
                let Val::Red(b) = val else {
                    continue;
                };
                if self.get(b).var.is_none() {
                    continue;
                }
                self.get_mut(b).content = Content::None;
                if std::mem::replace(&mut seen[b.0 as usize], true) {
                    let copy = self.get(b).clone();
                    let copy = Val::Red(self.add(copy));
                    self.frames[f].values.set(slot, copy);
                }
            }
        }
    }

    /// Something else points to an object from now on.
    pub(crate) fn escapes(&mut self, b: BoxId) {
        self.heap.fresh.retain(|f| *f != b);
    }
}

#[cfg(test)]
mod tests {

    use taipan_graph::BlockId;
    use taipan_lltype::{Field, LLType, OBJECT, SIGNED, StructBody};

    use super::{Heap, Known};
    use crate::layout::Place;
    use crate::state::{BoxId, GenVar, JitState, OwnField, Owner, Val};

    /// A state without functions.
    fn state() -> JitState {
        let mut state = JitState {
            boxes: Vec::new(),
            virtuals: Vec::new(),
            heap: Heap::default(),
            pure: Vec::new(),
            frames: Vec::new(),
            exc_type: BoxId(0),
            exc_value: BoxId(0),
            exc_unknown: false,
            returned: Val::Unset,
            wanted: None,
            version: None,
            resumed: false,
            doubtful: false,
            assumed: None,
            met: None,
            at: BlockId(0),
        };
        state.constant(0, OBJECT.ptr());
        state
    }

    #[test]
    fn two_boxes_that_become_one_object_share_facts() {
        let mut state = state();
        let place = Place::Field((*OBJECT, 0));
        let boxes: Vec<_> = (0..2)
            .map(|_| state.variable(taipan_graph::VarId(0), OBJECT.ptr()))
            .collect();
        for (i, object) in boxes.iter().enumerate() {
            let value = match i {
                0 => state.variable(taipan_graph::VarId(1), *SIGNED),
                _ => state.constant(5, *SIGNED),
            };
            state.remember(Known {
                object: *object,
                place,
                value,
                pending: false,
                kept: false,
                list: false,
            });
        }
        assert_eq!(state.heap.known.len(), 2);
        for object in boxes {
            state.get_mut(object).var = Some(GenVar::Const(64.into()));
        }
        state.compact();
        // The better one is left.
        let values = state.heap.known.iter().map(|k| state.known(k.value));
        assert_eq!(values.collect::<Vec<_>>(), [Some(5)]);
    }

    /// Lists of one field are different if different objects hold them. A new iterator over a list does not count.
    #[test]
    fn an_iterator_holds_no_list() {
        let array = LLType::gc_array(*SIGNED).ptr();
        let field = |name: &str, ty| Field {
            name: name.into(),
            ty,
        };
        let iterator = LLType::gc_struct(
            "listiter",
            StructBody {
                fields: vec![field("list", array), field("index", *SIGNED)],
                ..StructBody::default()
            },
        );
        let owning = (*OBJECT, 0);
        let lists_differ = |holders: [(LLType, bool); 2]| {
            let mut state = state();
            let lists = holders.map(|(ty, is_new)| {
                let object = state.variable(taipan_graph::VarId(0), ty.ptr());
                if is_new {
                    state.heap.fresh.push(object);
                }
                let list = state.variable(taipan_graph::VarId(1), array);
                state.get_mut(list).owner = Owner::Field(OwnField::of(owning));
                let key = match ty == *OBJECT {
                    true => owning,
                    false => (ty, 0),
                };
                state.remember(Known {
                    object,
                    place: Place::Field(key),
                    value: list,
                    pending: false,
                    kept: false,
                    list: false,
                });
                list
            });
            !state.may_be_same(lists[0], lists[1])
        };
        assert!(lists_differ([(*OBJECT, false), (*OBJECT, true)]));
        assert!(!lists_differ([(*OBJECT, false), (*OBJECT, false)]));
        assert!(!lists_differ([(*OBJECT, false), (iterator, true)]));
    }
}
