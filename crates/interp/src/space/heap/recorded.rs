//! The heap of a run that is recorded or replays units: notes, places and ages of objects, numbers of identities.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Heap, Kind, Object, Plain, Ref, Site};
use crate::space::journal::{Journal, Part};
use crate::space::slots::Slots;
use crate::space::types::ty;

/// Numbers of identities begin at a multiple of this where a unit begins or ends.
const GAP: u32 = 64;

/// The beginning of a round of calls.
#[derive(Debug)]
pub(super) struct Round {
    /// Number of objects.
    objects: usize,
    /// Numbers of modules, of dicts of low-level types, and of identities.
    modules: usize,
    adtmeths: usize,
    numbers: u32,
    /// Old contents of objects that were changed since.
    changed: FxHashMap<Ref, Object>,
}

impl Round {
    pub(super) fn write(&mut self, r: Ref, object: &Object) {
        if r.index() < self.objects {
            self.changed.entry(r).or_insert_with(|| object.clone());
        }
    }
}

impl Heap {
    /// Begins a round of calls at whose end [`Heap::end_round`] is called with the result. Iterators are reused as in a
    /// heap that stands upon this one.
    pub(crate) fn begin_round(&mut self, before: usize) -> Vec<Ref> {
        self.reusable = before;
        self.round = self.journal.is_some().then(|| Round {
            objects: self.len(),
            modules: self.modules.len(),
            adtmeths: self.adtmeths.len(),
            numbers: self.numbers,
            changed: FxHashMap::default(),
        });
        self.take_unused_iterators()
    }

    /// Calls a function with a heap as this one was at the beginning of the round.
    pub(crate) fn before_round<R>(&mut self, f: impl FnOnce(Heap) -> R) -> Option<R> {
        let round = self.round.take()?;
        let now = Arc::new(std::mem::take(self));
        let result = f(Heap {
            changed: round.changed.clone(),
            modules: now.modules[..round.modules].to_vec(),
            adtmeths: now.adtmeths[..round.adtmeths].to_vec(),
            numbers: round.numbers,
            start: round.objects,
            reusable: round.objects,
            plain: Plain {
                reads: round.objects,
                writes: round.objects,
            },
            ..Heap::upon(now.clone())
        });
        let Ok(now) = Arc::try_unwrap(now) else {
            unreachable!("the function has dropped its heap");
        };
        *self = now;
        self.round = Some(round);
        Some(result)
    }

    /// Ends a round of calls.
    pub(crate) fn end_round(&mut self, unused: Vec<Ref>) {
        let since = std::mem::replace(&mut self.unused_iterators, unused);
        self.unused_iterators.extend(since);
        self.round = None;
        self.reusable = self.start;
    }

    /// Continues the numbers of identities at the next multiple of [`GAP`], so that a few more or less before do not
    /// change later ones.
    pub(crate) fn leave_gap(&mut self) {
        self.numbers = self.numbers.next_multiple_of(GAP);
    }

    /// The last number of an identity.
    pub(crate) fn numbers(&self) -> u32 {
        self.numbers
    }

    /// Skips the numbers that a replayed unit gave to identities.
    pub(crate) fn skip_numbers(&mut self, numbers: u32) {
        self.numbers += numbers;
    }

    /// A number that no identity has.
    pub(crate) fn new_number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    /// The number of an object's identity.
    pub(crate) fn number(&mut self, r: Ref) -> u32 {
        match self.get_part(r, || Part::NUMBER).number {
            0 => {
                let number = self.new_number();
                self.get_mut_part(r, || Some(Part::NUMBER)).number = number;
                number
            }
            number => number,
        }
    }

    /// Starts notes. All objects are this heap's own.
    pub(crate) fn begin_journal(&mut self, journal: Journal) {
        self.plain = match &journal {
            Journal::Record(_) => Plain {
                reads: usize::MAX,
                writes: usize::MAX,
            },
            Journal::Changes(_) => Plain {
                reads: 0,
                writes: usize::MAX,
            },
        };
        self.journal = Some(Box::new(journal));
    }

    /// The notes.
    pub(crate) fn journal(&mut self) -> Option<&mut Journal> {
        self.journal.as_deref_mut()
    }

    /// Ends the notes.
    pub(crate) fn end_journal(&mut self) -> Option<Journal> {
        self.plain = Plain::default();
        self.journal.take().map(|journal| *journal)
    }

    /// The objects of a heap that stands upon no other, without a note.
    pub(crate) fn all_objects(&self) -> &[Object] {
        &self.objects
    }

    /// Starts the use of places: an object gets the place of an object of the record that was made in the same way. The
    /// record has `objects` objects.
    pub(crate) fn begin_slots(&mut self, objects: usize) {
        self.slots = Some(Box::new(Slots::new(self.objects.len())));
        let nothing = Object {
            class: ty::OBJECT,
            attrs: None,
            kind: Kind::Closed,
            site: Site::default(),
            number: 0,
        };
        self.objects.resize(objects, nothing);
    }

    /// The places of objects.
    pub(crate) fn slots(&mut self) -> Option<&mut Slots> {
        self.slots.as_deref_mut()
    }

    /// Ends the use of places of a record.
    pub(crate) fn end_slots(&mut self) {
        self.order = self.slots.take().map(|slots| slots.order());
    }

    /// Puts an object of a record into its place.
    pub(crate) fn put_object(&mut self, r: Ref, object: Object) {
        if let Some(slots) = &mut self.slots {
            slots.note_made(r);
        }
        self.objects[r.index()] = object;
    }

    /// Number of objects that were made.
    pub(crate) fn made(&self) -> usize {
        match &self.slots {
            Some(slots) => slots.made(),
            None => self.len(),
        }
    }

    /// A number that grows in the order in which objects were made.
    pub(crate) fn age(&self, r: Ref) -> u32 {
        if let Some(slots) = &self.slots {
            return slots.age(r);
        }
        let known = self.order.as_ref().and_then(|order| order.get(r.index()));
        *known.unwrap_or(&r.0)
    }

    /// Replaces the content of an object without a note. It keeps the place where it was made.
    pub(crate) fn replace_object(&mut self, r: Ref, object: Object) {
        let place = &mut self.objects[r.index()];
        if let Some(round) = &mut self.round {
            round.write(r, place);
        }
        let site = place.site;
        *place = Object { site, ..object };
    }
}
