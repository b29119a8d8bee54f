//! Replaying units of import time from the record of an earlier run.
//!
//! ```text
//! record   module a { f() {..}  g() {..} }     the body of `f` has changed since
//! run      module a { f() {..}  g        }     `a` and `f` run; `g` is replayed if the objects that it reads are the
//!                                               same behind `f`
//! ```
//!
//! A unit is replayed if it begins as the recorded one did and everything that it read is the same: inputs, and the
//! objects, or parts of objects, that are older than the unit. Its objects are put into the places that they have in the
//! record ([`super::slots`]), so references in the record need no translation. Numbers of identities have to be the
//! same if the unit gives any.
//!
//! The run knows in which parts objects differ from those of the record at the same point. Objects that were changed
//! since the last comparison, in the record or in this run, are compared before a unit may be replayed
//! ([`Replay::compare`]).

use std::ops::Range;
use std::sync::Arc;

use camino::Utf8Path;
use rustc_hash::{FxHashMap, FxHashSet};
use taipan_base::Db;
use taipan_code::{Code, CodeId};
use taipan_engine::Frame;

use super::dict::{Dict, classes_changed};
use super::heap::{Heap, Kind, Object, Ref};
use super::journal::{Changes, Journal, Read};
use super::run::{Outcome, constant};
use super::same::{Difference, Identities};
use super::sizes::{MOST_ITEMS, MOST_PRINTED};
use super::slots::{Free, places};
use super::units::{Begin, Counts, Input, Record, Seen, Unit, Units};
use super::value::Value;
use super::{Body, Interp, R};

/// Maximum number of recorded units that are passed over to find one that begins in the same way.
const MOST_PASSED: usize = 64;

/// Shares of a run that replayed units, in per cent.
#[derive(Clone, Copy)]
pub(crate) struct Gain {
    /// The steps that were replayed, of all steps.
    pub(crate) replayed: u64,
    /// The steps that were executed, of those of the recorded run. An exception can end the run early.
    pub(crate) executed: u64,
}

/// A run that replays units.
pub(crate) struct Replay {
    record: Arc<Record>,
    /// By input: whether it differs.
    inputs_differ: Vec<bool>,
    /// Objects that differ.
    differs: FxHashMap<Ref, Difference>,
    /// The epoch at whose beginning objects were last compared.
    compared: usize,
    /// By unit that runs, innermost last: the range of units within the corresponding recorded one that were not passed.
    open: Vec<(usize, usize)>,
    pub(crate) identities: Identities,
    /// Bodies that have not changed: those of the record, whose constants are in its objects.
    codes: FxHashMap<CodeId, Arc<Code>>,
    /// The recorded bodies that have changed.
    changed_codes: FxHashMap<CodeId, Arc<Code>>,
    /// Bodies that replayed units read.
    pub(crate) bodies: FxHashSet<CodeId>,
    /// Steps of replayed units.
    pub(crate) replayed: u64,
}

impl Replay {
    /// A replay of a record. Reads all inputs of the record: import time depends on them.
    fn new(db: &dyn Db, record: Arc<Record>) -> Replay {
        let differs = |(input, seen): &(Input, _)| input.read(db) != *seen;
        let inputs_differ: Vec<bool> = record.inputs.iter().map(differs).collect();
        let (mut codes, mut changed_codes) = (FxHashMap::default(), FxHashMap::default());
        for (input, differs) in record.inputs.iter().zip(&inputs_differ) {
            if let (Input::Code(id), Seen::Code(code)) = input {
                match differs {
                    true => changed_codes.insert(*id, code.clone()),
                    false => codes.insert(*id, code.clone()),
                };
            }
        }
        let mut identities = Identities::default();
        #[expect(clippy::iter_over_hash_type, reason = "they are put into a set")]
        for code in codes.values() {
            let consts = code.consts.iter().map(constant);
            consts.for_each(|v| identities.share_parts(&v));
        }
        let texts = record.texts.iter().cloned().map(Value::Str);
        texts.for_each(|text| identities.share_parts(&text));
        Replay {
            inputs_differ,
            differs: FxHashMap::default(),
            compared: 0,
            open: vec![(0, record.units.len())],
            identities,
            codes,
            changed_codes,
            bodies: FxHashSet::default(),
            replayed: 0,
            record,
        }
    }

    /// The next recorded unit of the innermost unit that runs which began in this way.
    fn find(&mut self, id: CodeId, frame: &Frame<Value>) -> Option<usize> {
        let (next, end) = self.open.last_mut()?;
        let mut at = *next;
        for _ in 0..MOST_PASSED {
            if at >= *end {
                break;
            }
            let unit = &self.record.units[at];
            let begins = |i: &mut _| begins_with(&unit.begin, id, frame, i);
            if unit.begin.id == id && self.identities.compare(begins) {
                *next = unit.next;
                return Some(at);
            }
            at = unit.next;
        }
        None
    }

    /// Compares the objects that were changed since the last comparison with those of the record at the beginning of an
    /// epoch.
    fn compare(&mut self, heap: &mut Heap, epoch: usize) {
        let (record, identities) = (&*self.record, &mut self.identities);
        let objects = record.marks[epoch].objects;
        let mut changed = match heap.journal() {
            Some(Journal::Changes(changes)) => changes.take(),
            _ => Vec::new(),
        };
        let notes = record.marks[self.compared].notes..record.marks[epoch].notes;
        changed.extend(record.notes[notes].iter().map(|(r, _)| *r));
        let made = record.marks[self.compared].objects..objects;
        changed.extend(made.map(|r| Ref(r as u32)));
        for r in changed {
            let at = r.0 as usize;
            if at < objects {
                let (object, recorded) = (&heap.all_objects()[at], record.content(r, epoch));
                match identities.difference(object, recorded) {
                    Some(difference) => self.differs.insert(r, difference),
                    None => self.differs.remove(&r),
                };
            }
        }
        self.compared = epoch;
    }

    /// The places of objects that a unit made, without the units in it; those of the whole run if there is no unit.
    fn places(&self, mut inner: Range<usize>, unit: Option<&Unit>) -> Free {
        let objects = match unit {
            Some(unit) => unit.before.objects..unit.after.objects,
            None => self.record.marks[0].objects..self.record.objects.len(),
        };
        let mut at = objects.start;
        let mut own = Vec::new();
        while let Some(unit) = self.record.units[..inner.end].get(inner.start) {
            own.push(at..unit.before.objects);
            (at, inner.start) = (unit.after.objects, unit.next);
        }
        own.push(at..objects.end);
        places(&self.record.objects, self.record.owners(), own.into_iter())
    }

    /// Whether a unit read nothing that differs.
    fn reads_the_same(&self, unit: &Unit) -> bool {
        let record = &*self.record;
        let (from, to) = (
            record.marks[unit.before.epoch],
            record.marks[unit.after.epoch],
        );
        let inputs = &record.inputs_read[from.inputs..to.inputs];
        let reads = &record.reads[from.reads..to.reads];
        let is_older = |(r, _): &&Read| (r.0 as usize) < unit.before.objects;
        let differs = |(r, part): &Read| self.differs.get(r).is_some_and(|d| d.is_in(*part));
        !inputs.iter().any(|i| self.inputs_differ[*i as usize])
            && !reads.iter().filter(is_older).any(differs)
    }

    /// Whether the recorded run wrote to a path.
    pub(crate) fn is_written(&self, path: &Utf8Path) -> bool {
        self.record.written.iter().any(|w| w == path)
    }

    /// The recorded code of a body that has changed.
    pub(crate) fn changed_code(&self, id: CodeId) -> Option<Arc<Code>> {
        self.changed_codes.get(&id).cloned()
    }

    /// The recorded code of a body that has not changed.
    pub(crate) fn code(&self, id: CodeId) -> Option<Arc<Code>> {
        self.codes.get(&id).cloned()
    }
}

/// Whether a unit begins with a body and a frame.
fn begins_with(
    begin: &Begin,
    id: CodeId,
    frame: &Frame<Value>,
    identities: &mut Identities,
) -> bool {
    let recorded = &begin.frame;
    begin.id == id
        && identities.same_slot(frame.names.as_ref(), recorded.names.as_ref())
        && identities.same_value(&frame.globals, &recorded.globals)
        && identities.same_slots(&frame.locals, &recorded.locals)
        && identities.same_values(&frame.cells, &recorded.cells)
}

impl Interp<'_> {
    /// Starts replaying a record, before anything has run.
    pub(crate) fn begin_replay(&mut self, record: Arc<Record>) {
        self.heap.sites.clone_from(&record.sites);
        self.use_texts(record.texts.clone());
        // Bound methods and activations of this run have numbers that are not in the record.
        self.heap.set_methods(record.methods);
        self.activations = record.activations;
        self.heap
            .begin_journal(Journal::Changes(Changes::default()));
        self.heap.begin_slots(record.objects.len());
        let replay = Replay::new(self.db, record);
        let free = replay.places(0..replay.record.units.len(), None);
        if let Some(slots) = self.heap.slots() {
            slots.enter(free);
        }
        self.units = Units::Replaying(Box::new(replay));
    }

    /// Runs a unit, or replays it.
    pub(crate) fn run_or_replay(
        &mut self,
        id: CodeId,
        body: &Body,
        frame: &mut Frame<Value>,
    ) -> R<Outcome> {
        let now = self.counts();
        let depth = (self.stack.len(), self.nesting);
        let quiet = self.repr_guard.is_empty() && self.plainly.is_none();
        let found = match &mut self.units {
            Units::Replaying(replay) => replay.find(id, frame),
            _ => None,
        };
        let record = match &self.units {
            Units::Replaying(replay) => replay.record.clone(),
            _ => return self.run(id, body, frame),
        };
        let is_called_like = found.is_some_and(|at| {
            let callers = &record.units[at].callers;
            let same = callers.len() <= depth.0;
            same && (self.callers(depth.0 - callers.len()..depth.0)).eq(callers.iter().copied())
        });
        let Units::Replaying(replay) = &mut self.units else {
            return self.run(id, body, frame);
        };
        if let Some(at) = found {
            let unit = &record.units[at];
            let is_depth = depth == unit.begin.depth;
            if unit.sound && quiet && is_depth && may_begin(&now, unit) && is_called_like {
                replay.compare(&mut self.heap, unit.before.epoch);
                if replay.reads_the_same(unit) {
                    self.replay(&record, unit);
                    frame.stack.push(unit.result.clone());
                    return Ok(Outcome::Return);
                }
            }
            let Units::Replaying(replay) = &mut self.units else {
                return self.run(id, body, frame);
            };
            replay.open.push((at + 1, unit.next));
            let free = replay.places(at + 1..unit.next, Some(unit));
            self.enter_slots(free);
        } else {
            replay.open.push((0, 0));
            self.enter_slots(Free::default());
        }
        let outcome = self.run(id, body, frame);
        if let Some(slots) = self.heap.slots() {
            slots.leave();
        }
        if let Units::Replaying(replay) = &mut self.units {
            replay.open.pop();
        }
        outcome
    }

    /// Applies the effects of a unit.
    fn replay(&mut self, record: &Record, unit: &Unit) {
        let (before, after) = (&unit.before, &unit.after);
        for r in before.objects..after.objects {
            let r = Ref(r as u32);
            self.heap
                .put_object(r, record.content(r, after.epoch).clone());
        }
        let (from, to) = (record.marks[before.epoch], record.marks[after.epoch]);
        for (r, _) in &record.notes[from.notes..to.notes] {
            if (r.0 as usize) < before.objects {
                let recorded = record.content(*r, after.epoch);
                let object = self.changed_like(*r, record.content(*r, before.epoch), recorded);
                self.heap.replace_object(*r, object);
            }
        }
        classes_changed();
        self.steps -= before.steps - after.steps;
        self.heap.fresh += after.fresh - before.fresh;
        self.heap.skip_numbers(after.numbers - before.numbers);
        self.printed
            .extend_from_slice(&record.printed[before.printed..after.printed]);
        self.out
            .extend_from_slice(&record.out[before.out..after.out]);
        self.softspace = after.softspace;
        self.files
            .extend_from_slice(&record.files[before.files..after.files]);
        self.heap
            .modules
            .extend_from_slice(&record.modules[before.modules..after.modules]);
        for (name, package, id) in &record.loaded[before.loaded..after.loaded] {
            self.module_bodies.add(name, package, *id);
        }
        if after.handled != before.handled {
            self.exc_info.clone_from(&unit.exc_info);
        }
        for (id, is_heavy) in &record.heavy[before.heavy..after.heavy] {
            self.set_heavy(*id, *is_heavy);
        }
        if let Units::Replaying(replay) = &mut self.units {
            for identity in record.made_in(before.epoch..after.epoch) {
                replay.identities.share(identity);
            }
            replay.identities.share_parts(&unit.result);
            for i in &record.inputs_read[from.inputs..to.inputs] {
                if let Input::Code(id) = record.inputs[*i as usize].0 {
                    replay.bodies.insert(id);
                }
            }
            replay.replayed += before.steps - after.steps;
            replay.compared = after.epoch;
        }
    }

    fn enter_slots(&mut self, free: Free) {
        if let Some(slots) = self.heap.slots() {
            slots.enter(free);
        }
    }

    /// An object of the run with the changes of a unit. It may differ in parts from that of the record.
    fn changed_like(&mut self, r: Ref, before: &Object, after: &Object) -> Object {
        let now = self.heap.peek(r);
        let replay = match &mut self.units {
            Units::Replaying(replay) if replay.differs.contains_key(&r) => replay,
            _ => return after.clone(),
        };
        let mut changed = match (&now.kind, &after.kind) {
            (Kind::Dict(_), Kind::Dict(_))
            | (Kind::Set(_), Kind::Set(_))
            | (Kind::FrozenSet(_), Kind::FrozenSet(_)) => now.clone(),
            _ => after.clone(),
        };
        changed.set_number(match before.number() == after.number() {
            true => now.number(),
            false => after.number(),
        });
        match (&mut changed.kind, &now.kind, &before.kind, &after.kind) {
            (Kind::Dict(changed), _, Kind::Dict(before), Kind::Dict(after))
            | (Kind::Set(changed), _, Kind::Set(before), Kind::Set(after))
            | (Kind::FrozenSet(changed), _, Kind::FrozenSet(before), Kind::FrozenSet(after)) => {
                change_items(changed, before, after, &mut replay.identities);
                if changed.len() > MOST_ITEMS {
                    self.observe();
                }
            }
            (Kind::Class(changed), Kind::Class(now), Kind::Class(before), _) => {
                let added = changed.subclasses.split_off(before.subclasses.len());
                changed.subclasses.clone_from(&now.subclasses);
                changed.subclasses.extend(added);
            }
            _ => {}
        }
        changed
    }

    /// Ends the replay. None if the outcome may differ from that of a run without a record.
    pub(crate) fn finish_replay(&mut self) -> Option<Gain> {
        self.heap.end_slots();
        let Units::Replaying(replay) = std::mem::take(&mut self.units) else {
            return None;
        };
        self.heap.end_journal();
        self.replayed_bodies = replay.bodies;
        let steps = self.program.options(self.db).step_limit - self.steps;
        let executed = (steps - replay.replayed) * 100 / replay.record.steps.max(1);
        (!self.observed.get()).then(|| Gain {
            replayed: replay.replayed * 100 / steps.max(1),
            executed,
        })
    }
}

/// Sets and adds the items of a table that a unit sets and adds in that of the record.
fn change_items(table: &mut Dict, before: &Dict, after: &Dict, identities: &mut Identities) {
    for (hash, k, v) in after.hashed() {
        let known = before.find(hash, |other| other.is(k));
        if known.is_some_and(|slot| before.at(slot).is(v)) {
            continue;
        }
        let is_key = |other: &Value| identities.compare(|i| i.same_value(other, k));
        match table.find(hash, is_key) {
            Some(slot) => table.set_at(slot, v.clone()),
            None => table.push(hash, k.clone(), v.clone()),
        }
    }
}

/// Whether a unit can be replayed with these sizes and counts.
fn may_begin(now: &Counts, unit: &Unit) -> bool {
    let uses_numbers = unit.before.numbers != unit.after.numbers;
    (now.numbers == unit.before.numbers || !uses_numbers)
        && now.softspace == unit.before.softspace
        && now.printed + unit.after.printed - unit.before.printed <= MOST_PRINTED
        && now.steps > unit.before.steps - unit.after.steps
}
