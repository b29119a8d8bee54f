//! Replaying units of import time from the record of an earlier run.
//!
//! ```text
//! record   module a { f() {..}  g() {..} }     the body of `f` has changed since
//! run      module a { f() {..}  g        }     `a` and `f` run; `g` is replayed if `f` left the objects that it reads
//!                                               as they were
//! ```
//!
//! A unit is replayed if it begins as the recorded one did, with the same number of objects, and everything that it read
//! is the same: inputs, and the objects that are older than the unit. So its objects get the numbers that they would
//! get by running it, and numbers in the record need no translation.
//!
//! The run knows which objects differ from those of the record at the same point. What was changed since the last
//! comparison, in the record or in this run, is compared before a unit may be replayed ([`Replay::compare`]).

use std::sync::Arc;

use camino::Utf8Path;
use rustc_hash::{FxHashMap, FxHashSet};
use taipan_base::Db;
use taipan_code::{Code, CodeId};
use taipan_engine::Frame;

use super::dict::classes_changed;
use super::heap::{Heap, Object, Ref};
use super::journal::{Changes, Journal};
use super::run::{Outcome, constant};
use super::same::Identities;
use super::sizes::MOST_PRINTED;
use super::units::{Begin, Counts, Input, Record, Seen, Unit, Units};
use super::value::Value;
use super::{Body, Interp, R};

/// Maximum number of recorded units that are passed over to find one that begins in the same way.
const MOST_PASSED: usize = 64;

/// A run that replays units.
pub(crate) struct Replay {
    record: Arc<Record>,
    /// By input: whether it differs.
    inputs_differ: Vec<bool>,
    /// By object: whether it differs.
    differs: Vec<bool>,
    /// The epoch at whose beginning objects were last compared.
    compared: usize,
    /// Number of objects then.
    compared_objects: usize,
    /// The recorded units that correspond to those that run: of each, the next one in it, and where they end.
    open: Vec<(usize, usize)>,
    pub(crate) identities: Identities,
    /// Bodies that are as they were: those of the record, whose constants are in its objects.
    codes: FxHashMap<CodeId, Arc<Code>>,
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
        let same = record.inputs.iter().zip(&inputs_differ);
        let same = same.filter(|(_, differs)| !**differs);
        let codes = same
            .clone()
            .filter_map(|((input, seen), _)| match (input, seen) {
                (Input::Code(id), Seen::Code(code)) => Some((*id, code.clone())),
                _ => None,
            });
        let codes: FxHashMap<CodeId, Arc<Code>> = codes.collect();
        let mut identities = Identities::default();
        for ((_, seen), _) in same {
            if let Seen::Code(code) = seen {
                let consts = code.consts.iter().map(constant);
                consts.for_each(|v| identities.share_parts(&v));
            }
        }
        let texts = record.texts.iter().cloned().map(Value::Str);
        texts.for_each(|text| identities.share_parts(&text));
        Replay {
            inputs_differ,
            differs: vec![false; record.objects.len()],
            compared: 0,
            compared_objects: record.marks[0].objects,
            open: vec![(0, record.units.len())],
            identities,
            codes,
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
    /// epoch. The number of objects is the same.
    fn compare(&mut self, heap: &mut Heap, epoch: usize) {
        let (record, identities) = (&*self.record, &mut self.identities);
        let objects = record.marks[epoch].objects;
        let mut changed = match heap.journal() {
            Some(Journal::Changes(changes)) => changes.take(),
            _ => Vec::new(),
        };
        let notes = record.marks[self.compared].notes..record.marks[epoch].notes;
        changed.extend(record.notes[notes].iter().map(|(r, _)| *r));
        let made = self
            .compared_objects
            .min(record.marks[self.compared].objects)..objects;
        changed.extend(made.map(|r| Ref(r as u32)));
        for r in changed {
            let at = r.0 as usize;
            if at < objects {
                let (object, recorded) = (&heap.all_objects()[at], record.content(r, epoch));
                self.differs[at] = !identities.compare(|i| i.same_object(object, recorded));
            }
        }
        (self.compared, self.compared_objects) = (epoch, objects);
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
        let is_older = |r: &&Ref| (r.0 as usize) < unit.before.objects;
        !inputs.iter().any(|i| self.inputs_differ[*i as usize])
            && !reads
                .iter()
                .filter(is_older)
                .any(|r| self.differs[r.0 as usize])
    }

    /// Whether the recorded run changed what is at a path.
    pub(crate) fn is_written(&self, path: &Utf8Path) -> bool {
        self.record.written.iter().any(|w| w == path)
    }

    /// The recorded code of a body, if it is as it was.
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
        // Numbers of this run are in no record.
        self.heap.set_methods(record.methods);
        self.activations = record.activations;
        self.heap
            .begin_journal(Journal::Changes(Changes::default()));
        self.units = Units::Replaying(Box::new(Replay::new(self.db, record)));
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
        let Units::Replaying(replay) = &mut self.units else {
            return self.run(id, body, frame);
        };
        let found = replay.find(id, frame);
        if let Some(at) = found {
            let record = replay.record.clone();
            let unit = &record.units[at];
            if unit.sound && quiet && depth == unit.begin.depth && may_begin(&now, unit) {
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
        } else {
            replay.open.push((0, 0));
        }
        let outcome = self.run(id, body, frame);
        if let Units::Replaying(replay) = &mut self.units {
            replay.open.pop();
        }
        outcome
    }

    /// Does what a unit did.
    fn replay(&mut self, record: &Record, unit: &Unit) {
        let (before, after) = (&unit.before, &unit.after);
        for r in before.objects..after.objects {
            let object: Object = record.content(Ref(r as u32), after.epoch).clone();
            self.heap.push_object(object);
        }
        let (from, to) = (record.marks[before.epoch], record.marks[after.epoch]);
        for (r, _) in &record.notes[from.notes..to.notes] {
            if (r.0 as usize) < before.objects {
                let object = record.content(*r, after.epoch).clone();
                self.heap.replace_object(*r, object);
            }
        }
        classes_changed();
        self.steps -= before.steps - after.steps;
        self.heap.fresh += after.fresh - before.fresh;
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
            (replay.compared, replay.compared_objects) = (after.epoch, after.objects);
        }
    }

    /// Ends the replay. None if the outcome may differ from that of a run without a record; else the share of the
    /// steps that was replayed, in per cent.
    pub(crate) fn finish_replay(&mut self) -> Option<u64> {
        let Units::Replaying(replay) = std::mem::take(&mut self.units) else {
            return None;
        };
        self.heap.end_journal();
        self.replayed_bodies = replay.bodies;
        let steps = self.program.step_limit(self.db) - self.steps;
        (!self.observed.get()).then(|| replay.replayed * 100 / steps.max(1))
    }
}

/// Whether a unit can be replayed with these sizes and counts.
fn may_begin(now: &Counts, unit: &Unit) -> bool {
    now.objects == unit.before.objects
        && now.softspace == unit.before.softspace
        && now.printed + unit.after.printed - unit.before.printed <= MOST_PRINTED
        && now.steps > unit.before.steps - unit.after.steps
}
