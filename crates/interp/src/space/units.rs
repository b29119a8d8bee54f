//! Units of import time, and their records.
//!
//! ```text
//! import a            unit: the body of a module
//!   f()               first call: takes 20,000 steps
//!   f()               unit
//! ```
//!
//! A unit is the execution of the body of a module, or of a body that has taken [`HEAVY`] steps before in the same run.
//! The rule depends on the run alone, since iterators of loops are not reused across the ends of a unit. A run that is
//! recorded notes for each unit what it depends on and what it does ([`Record`]); a later run of the same program
//! replays units from the record ([`super::replay`]).
//!
//! A unit that uses state which a record does not describe is not sound, nor are the units around it: see
//! [`Interp::spoil`] and its callers.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use camino::{Utf8Path, Utf8PathBuf};
use rustc_hash::{FxHashMap, FxHashSet};
use taipan_base::{Db, File, FileContents};
use taipan_code::{Code, CodeId, CodeKind, CodeSignature, CodeVariables, Origin};
use taipan_engine::Frame;

use super::dict::classes_changed;
use super::heap::{Object, Ref};
use super::journal::{Epochs, Journal, Mark, Read};
use super::replay::Replay;
use super::run::Outcome;
use super::same::{each_part, identity};
use super::slots::owners;
use super::value::Value;
use super::{Body, Interp, R};
use crate::heap_image::queries::{FileState, file_state};

/// Number of steps after which further executions of a body are units.
const HEAVY: u64 = 10_000;

/// Whether a run is recorded, or replayed from a record.
#[derive(Default)]
pub(crate) enum Units {
    /// Neither.
    #[default]
    Plain,
    /// It is recorded.
    Recording(Box<Recording>),
    /// Units are replayed.
    Replaying(Box<Replay>),
}

/// Something outside of the heap that import time reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Input {
    /// A body.
    Code(CodeId),
    /// The signature of a function.
    Signature(CodeId),
    /// Names of variables.
    Variables(CodeId),
    /// The line of an instruction, or the first line.
    Line(CodeId, Option<u32>),
    /// The state of a path.
    State(File),
    /// The contents of a file or folder.
    Contents(File),
}

/// The value of an input.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Seen {
    Code(Arc<Code>),
    Signature(Arc<CodeSignature>),
    Variables(Arc<CodeVariables>),
    Line(usize),
    State(Option<FileState>),
    Contents(FileContents),
}

impl Input {
    /// Reads the input, so that import time depends on it.
    pub(crate) fn read(self, db: &dyn Db) -> Seen {
        match self {
            Input::Code(id) => Seen::Code(taipan_code::code(db, id)),
            Input::Signature(id) => Seen::Signature(taipan_code::code_signature(db, id)),
            Input::Variables(id) => Seen::Variables(taipan_code::code_variables(db, id)),
            Input::Line(id, None) => Seen::Line(taipan_code::first_line(db, id)),
            Input::Line(id, Some(pc)) => Seen::Line(line_of(db, id, pc)),
            Input::State(file) if db.files().is_missing(db, file) => Seen::State(None),
            Input::State(file) => Seen::State(match file_state(db, file) {
                FileState::Missing => None,
                state => Some(state.clone()),
            }),
            Input::Contents(file) => Seen::Contents(file.contents(db).clone()),
        }
    }
}

/// 1-based line of an instruction.
pub(crate) fn line_of(db: &dyn Db, id: CodeId, pc: u32) -> usize {
    let spans = taipan_code::code_spans(db, id);
    let offset = spans.instrs.get(pc as usize).map_or(0, |r| r.start);
    taipan_code::line_at(db, id, offset)
}

/// The inputs of a recorded run.
#[derive(Default)]
pub(crate) struct Inputs {
    known: FxHashMap<Input, u32>,
    seen: Vec<(Input, Seen)>,
    /// The last epoch that read each.
    read_in: Vec<u32>,
    /// The reads, by epoch.
    log: Vec<u32>,
}

/// The name, the package and the body of a module that runs.
pub(crate) type Loaded = (Box<str>, Box<str>, CodeId);

/// Sizes and counts at one end of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    /// The epoch that begins here.
    pub(crate) epoch: usize,
    /// Number of objects.
    pub(crate) objects: usize,
    pub(crate) steps: u64,
    /// The last number of an identity.
    pub(crate) numbers: u32,
    pub(crate) fresh: u64,
    pub(crate) printed: usize,
    pub(crate) out: usize,
    pub(crate) softspace: bool,
    pub(crate) files: usize,
    pub(crate) modules: usize,
    pub(crate) loaded: usize,
    pub(crate) heavy: usize,
    /// Number of exceptions that were handled.
    pub(crate) handled: u64,
}

/// The state in which a unit begins, other than objects and inputs.
#[derive(Debug)]
pub(crate) struct Begin {
    pub(crate) id: CodeId,
    pub(crate) frame: Frame<Value>,
    /// Number of bodies that run, and nesting of data.
    pub(crate) depth: (usize, usize),
}

/// The parts of an activation that a frame shows: the body, its globals, and the dict of its local names.
pub(crate) type Caller = (CodeId, Ref, Option<Ref>);

/// A recorded unit.
#[derive(Debug)]
pub(crate) struct Unit {
    pub(crate) begin: Begin,
    pub(crate) before: Counts,
    pub(crate) after: Counts,
    /// The innermost callers whose frames it has used.
    pub(crate) callers: Vec<Caller>,
    /// The index of the unit that follows this one and those in it.
    pub(crate) next: usize,
    /// The record describes it: it can be replayed.
    pub(crate) sound: bool,
    /// Its value.
    pub(crate) result: Value,
    /// The exception that it handled last, if it handled one.
    pub(crate) exc_info: Option<(Value, Value)>,
}

/// A record that is being made.
#[derive(Default)]
pub(crate) struct Recording {
    /// In the order of their beginnings.
    units: Vec<Unit>,
    /// Those that run, innermost last.
    open: Vec<usize>,
    loaded: Vec<Loaded>,
    heavy: Vec<(CodeId, bool)>,
    /// It became useless.
    dropped: bool,
}

/// The record of a run of import time.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) units: Vec<Unit>,
    /// Objects and parts of them that were read, by epoch.
    pub(crate) reads: Vec<Read>,
    /// Contents of changed objects at the beginning of the epoch that changed them, by epoch.
    pub(crate) notes: Vec<(Ref, Object)>,
    /// The beginnings of the epochs, and the end of the last one.
    pub(crate) marks: Vec<Mark>,
    /// Inputs that were read, by epoch.
    pub(crate) inputs_read: Vec<u32>,
    /// All inputs.
    pub(crate) inputs: Vec<(Input, Seen)>,
    /// All objects at the end.
    pub(crate) objects: Vec<Object>,
    /// By object: its first place in `versions`.
    pub(crate) version_at: Vec<u32>,
    /// Epochs that changed an object, by object, and indexes into `notes`.
    pub(crate) versions: Vec<(u32, u32)>,
    pub(crate) sites: Vec<Option<CodeId>>,
    pub(crate) printed: Vec<u8>,
    pub(crate) out: Vec<u8>,
    pub(crate) files: Vec<File>,
    pub(crate) modules: Vec<Ref>,
    pub(crate) loaded: Vec<Loaded>,
    /// Bodies whose next executions are units, or are none any more.
    pub(crate) heavy: Vec<(CodeId, bool)>,
    /// Paths at which the program has changed what is there.
    pub(crate) written: Vec<Utf8PathBuf>,
    /// Strings of names.
    pub(crate) texts: FxHashSet<Arc<[u8]>>,
    /// Steps of the run.
    pub(crate) steps: u64,
    /// Numbers of bound methods and activations at the end.
    pub(crate) methods: u32,
    pub(crate) activations: u64,
    /// Identities of values by the epoch whose objects have them first; sorted.
    made: OnceLock<Vec<(u32, u64)>>,
    /// By dict: the object whose `__dict__` it is.
    owners: OnceLock<FxHashMap<Ref, Ref>>,
}

impl Record {
    /// The content of an object at the beginning of an epoch.
    pub(crate) fn content(&self, r: Ref, epoch: usize) -> &Object {
        let at = r.0 as usize;
        let versions = self.version_at[at] as usize..self.version_at[at + 1] as usize;
        let later = self.versions[versions]
            .iter()
            .find(|(e, _)| *e as usize >= epoch);
        match later {
            Some((_, note)) => &self.notes[*note as usize].1,
            None => &self.objects[at],
        }
    }

    /// By dict: the object whose `__dict__` it is.
    pub(crate) fn owners(&self) -> &FxHashMap<Ref, Ref> {
        self.owners.get_or_init(|| owners(&self.objects))
    }

    /// The identities of values that objects have first in these epochs.
    pub(crate) fn made_in(&self, epochs: Range<usize>) -> impl Iterator<Item = u64> {
        let made = self.made.get_or_init(|| self.find_made());
        let at = |epoch| made.partition_point(|(e, _)| (*e as usize) < epoch);
        made[at(epochs.start)..at(epochs.end)]
            .iter()
            .map(|(_, i)| *i)
    }

    fn find_made(&self) -> Vec<(u32, u64)> {
        let mut first: FxHashMap<u64, u32> = FxHashMap::default();
        let mut epoch = 0;
        for (at, last) in self.objects.iter().enumerate() {
            while epoch + 1 < self.marks.len() && self.marks[epoch + 1].objects <= at {
                epoch += 1;
            }
            // A content exists from the change before it on.
            let mut since = epoch as u32;
            let versions = self.version_at[at] as usize..self.version_at[at + 1] as usize;
            let changes = self.versions[versions].iter();
            let noted = changes.map(|(e, note)| (*e, &self.notes[*note as usize].1));
            for (until, object) in noted.chain([(0, last)]) {
                object.kind.each_value(&mut |v| {
                    each_part(v, &mut |v| {
                        if let Some(identity) = identity(v) {
                            let first = first.entry(identity).or_insert(since);
                            *first = since.min(*first);
                        }
                    });
                });
                since = until;
            }
        }
        let mut made: Vec<(u32, u64)> = first.into_iter().map(|(i, e)| (e, i)).collect();
        made.sort_unstable();
        made
    }

    /// Units that read files which the program writes, or lists their folders, are not sound: contents that it has
    /// written are no inputs.
    fn leave_out_written(&mut self, db: &dyn Db) {
        let is_written = |(input, _): &(Input, Seen)| {
            let (Input::State(file) | Input::Contents(file)) = input else {
                return false;
            };
            let path = file.path(db);
            self.written
                .iter()
                .any(|w| path.starts_with(w) || w.parent() == Some(path) || w.starts_with(path))
        };
        if self.written.is_empty() {
            return;
        }
        let written: Vec<bool> = self.inputs.iter().map(is_written).collect();
        for unit in &mut self.units {
            let (from, to) = (
                self.marks[unit.before.epoch].inputs,
                self.marks[unit.after.epoch].inputs,
            );
            let read = &self.inputs_read[from..to];
            unit.sound &= !read.iter().any(|i| written[*i as usize]);
        }
    }

    fn index_versions(&mut self) {
        let mut counts = vec![0u32; self.objects.len() + 1];
        for (r, _) in &self.notes {
            counts[r.0 as usize + 1] += 1;
        }
        for i in 1..counts.len() {
            counts[i] += counts[i - 1];
        }
        self.version_at.clone_from(&counts);
        self.versions = vec![(0, 0); self.notes.len()];
        for epoch in 0..self.marks.len() - 1 {
            for note in self.marks[epoch].notes..self.marks[epoch + 1].notes {
                let place = &mut counts[self.notes[note].0.0 as usize];
                self.versions[*place as usize] = (epoch as u32, note as u32);
                *place += 1;
            }
        }
    }
}

/// Whether a body is that of a module.
fn is_module(db: &dyn Db, id: CodeId, code: &Code) -> bool {
    code.kind == CodeKind::Module && !matches!(id.origin(db), Origin::Text(_))
}

impl Interp<'_> {
    /// Runs a frame, as a unit if it is one.
    pub(crate) fn run_unit(
        &mut self,
        id: CodeId,
        body: &Body,
        frame: &mut Frame<Value>,
    ) -> R<Outcome> {
        if !body.is_unit.get() || !self.has_units {
            let before = self.steps;
            let outcome = self.run(id, body, frame)?;
            self.note_steps(id, body, before);
            return Ok(outcome);
        }
        self.heap.leave_gap();
        let unused = self.heap.take_unused_iterators();
        let before = self.steps;
        let outcome = match &self.units {
            Units::Plain => self.run(id, body, frame),
            Units::Recording(_) => self.run_recorded(id, body, frame),
            Units::Replaying(_) => self.run_or_replay(id, body, frame),
        };
        self.note_steps(id, body, before);
        self.heap.put_unused_iterators(unused);
        self.heap.leave_gap();
        outcome
    }

    /// Notes the end of a body that began with `before` steps left.
    #[inline(always)]
    pub(crate) fn note_steps(&mut self, id: CodeId, body: &Body, before: u64) {
        let is_heavy = before - self.steps >= HEAVY;
        if is_heavy != body.is_unit.get() {
            self.note_heavy(id, body, is_heavy);
        }
    }

    #[cold]
    fn note_heavy(&mut self, id: CodeId, body: &Body, is_heavy: bool) {
        if is_module(self.db, id, &body.code) {
            return;
        }
        self.set_heavy(id, is_heavy);
        body.is_unit.set(is_heavy);
        if let Units::Recording(recording) = &mut self.units {
            recording.heavy.push((id, is_heavy));
        }
    }

    /// Sets whether the next execution of a body is a unit.
    pub(crate) fn set_heavy(&mut self, id: CodeId, is_heavy: bool) {
        if is_heavy {
            self.heavy.insert(id);
        } else {
            self.heavy.remove(&id);
        }
        if let Some(body) = self.bodies.get(&id) {
            body.is_unit.set(is_heavy);
        }
    }

    /// Whether the executions of a body that has not run yet are units.
    pub(crate) fn is_unit(&self, id: CodeId, code: &Code) -> bool {
        self.heavy.contains(&id) || is_module(self.db, id, code)
    }

    /// Starts a record, before anything has run.
    pub(crate) fn begin_recording(&mut self) {
        self.heap.begin_journal(Journal::Record(Epochs::default()));
        self.inputs = Some(Box::default());
        self.units = Units::Recording(Box::default());
        self.advance();
    }

    /// Begins an epoch.
    fn advance(&mut self) {
        let inputs = match &self.inputs {
            Some(inputs) => inputs.borrow().log.len(),
            None => return,
        };
        let objects = self.heap.len();
        if let Some(Journal::Record(epochs)) = self.heap.journal() {
            epochs.advance(objects, inputs);
            self.epoch = epochs.now();
        }
        // Cached lookups are reads of the epoch that made them.
        classes_changed();
    }

    /// The sizes and counts now.
    pub(crate) fn counts(&self) -> Counts {
        let (loaded, heavy) = match &self.units {
            Units::Recording(r) => (r.loaded.len(), r.heavy.len()),
            _ => (0, 0),
        };
        Counts {
            epoch: (self.epoch as usize).saturating_sub(1),
            objects: self.heap.len(),
            numbers: self.heap.numbers(),
            steps: self.steps,
            fresh: self.heap.fresh,
            printed: self.printed.len(),
            out: self.out.len(),
            softspace: self.softspace,
            files: self.files.len(),
            modules: self.heap.modules.len(),
            loaded,
            heavy,
            handled: self.handled,
        }
    }

    fn run_recorded(&mut self, id: CodeId, body: &Body, frame: &mut Frame<Value>) -> R<Outcome> {
        self.end_epoch();
        let before = self.counts();
        // The caller has read it.
        self.note_body(id, body);
        let unit = Unit {
            begin: Begin {
                id,
                frame: frame.clone(),
                depth: (self.stack.len(), self.nesting),
            },
            before,
            after: before,
            callers: Vec::new(),
            next: 0,
            sound: self.repr_guard.is_empty() && self.plainly.is_none(),
            result: Value::None,
            exc_info: None,
        };
        if let Units::Recording(recording) = &mut self.units {
            recording.open.push(recording.units.len());
            recording.units.push(unit);
        }
        let outcome = self.run(id, body, frame);
        self.end_epoch();
        let after = self.counts();
        let exc_info = self.exc_info.clone();
        let Units::Recording(recording) = &mut self.units else {
            return outcome;
        };
        let next = recording.units.len();
        if let Some(open) = recording.open.pop() {
            let unit = &mut recording.units[open];
            unit.after = after;
            unit.next = next;
            unit.exc_info = exc_info;
            match (&outcome, frame.stack.last()) {
                (Ok(Outcome::Return), Some(result)) => unit.result = result.clone(),
                _ => unit.sound = false,
            }
        }
        outcome
    }

    /// Ends an epoch and begins the next one.
    fn end_epoch(&mut self) {
        let spoiled = self.spoiled.take();
        if let Units::Recording(recording) = &mut self.units
            && spoiled
        {
            for open in &recording.open {
                recording.units[*open].sound = false;
            }
        }
        self.advance();
    }

    /// Notes that the units that run depend on something that records do not describe, or change it.
    #[inline]
    pub(crate) fn spoil(&self) {
        self.spoiled.set(true);
    }

    /// Notes that the run depends on something that must not differ in a run that replays units.
    pub(crate) fn observe(&self) {
        self.spoiled.set(true);
        self.observed.set(true);
    }

    /// Gives up the record of this run, or the replay.
    pub(crate) fn drop_record(&mut self) {
        self.observed.set(true);
        if let Units::Recording(recording) = &mut self.units {
            recording.dropped = true;
        }
    }

    /// The activations from a place on the stack to another one.
    pub(crate) fn callers(&self, places: Range<usize>) -> impl Iterator<Item = Caller> {
        let activations = self.stack[places].iter();
        activations.map(|a| (a.code, a.globals, a.names))
    }

    /// Notes that frames are used, from a place on the stack on.
    pub(crate) fn use_callers(&mut self, first: usize) {
        let mut units = std::mem::take(&mut self.units);
        if let Units::Recording(recording) = &mut units {
            for open in &recording.open {
                let unit = &mut recording.units[*open];
                let begin = unit.begin.depth.0;
                if first + unit.callers.len() < begin {
                    unit.callers = self.callers(first..begin).collect();
                }
            }
        }
        self.units = units;
    }

    /// Notes the use of the exception that was handled last.
    pub(crate) fn use_exc_info(&mut self) {
        let handled = self.handled;
        if let Units::Recording(recording) = &mut self.units {
            for open in &recording.open {
                let unit = &mut recording.units[*open];
                unit.sound &= unit.before.handled != handled;
            }
        }
    }

    /// Notes that the state of an exception is used which only its raising and handling see.
    pub(crate) fn use_exception(&mut self, r: Ref) {
        if let Units::Recording(recording) = &mut self.units {
            for open in &recording.open {
                let unit = &mut recording.units[*open];
                unit.sound &= unit.before.objects <= r.0 as usize;
            }
        }
    }

    /// Notes that the program writes to a path.
    pub(crate) fn note_written(&self, path: &Utf8Path) {
        match &self.units {
            Units::Replaying(replay) if !replay.is_written(path) => self.observe(),
            _ => self.spoil(),
        }
    }

    /// Notes a read of a file, a folder or a missing path.
    pub(crate) fn note_path(&self, path: &Utf8Path, input: impl Fn(File) -> Input) {
        if self.inputs.is_some() {
            self.note_input(input(self.file_at(path)));
        }
    }

    /// Notes that a module is run.
    pub(crate) fn note_loaded(&mut self, name: &str, package: &str, id: CodeId) {
        self.module_bodies.add(name, package, id);
        if let Units::Recording(recording) = &mut self.units {
            recording.loaded.push((name.into(), package.into(), id));
        }
    }

    /// `a is b`
    #[inline(always)]
    pub(crate) fn identical(&self, a: &Value, b: &Value) -> bool {
        match &self.units {
            Units::Replaying(replay) => replay.identities.identical(a, b),
            Units::Plain | Units::Recording(_) => a.is(b),
        }
    }

    /// Notes that an input is read.
    #[inline]
    pub(crate) fn note_input(&self, input: Input) {
        if let Some(inputs) = &self.inputs {
            self.add_input(&mut inputs.borrow_mut(), input);
        }
    }

    #[inline(never)]
    fn add_input(&self, inputs: &mut Inputs, input: Input) {
        let at = match inputs.known.get(&input) {
            Some(at) => *at as usize,
            None => {
                let at = inputs.seen.len();
                inputs.known.insert(input, at as u32);
                inputs.seen.push((input, input.read(self.db)));
                inputs.read_in.push(0);
                at
            }
        };
        if inputs.read_in[at] != self.epoch {
            inputs.read_in[at] = self.epoch;
            inputs.log.push(at as u32);
        }
    }

    /// The signature of a function.
    pub(crate) fn signature_of(&self, id: CodeId) -> Arc<CodeSignature> {
        self.note_input(Input::Signature(id));
        taipan_code::code_signature(self.db, id)
    }

    /// Names of the variables of a body.
    pub(crate) fn variables_of(&self, id: CodeId) -> Arc<CodeVariables> {
        self.note_input(Input::Variables(id));
        taipan_code::code_variables(self.db, id)
    }

    /// Notes in this epoch that a body is read.
    #[cold]
    pub(crate) fn note_body(&self, id: CodeId, body: &Body) {
        body.noted.set(self.epoch);
        self.note_input(Input::Code(id));
    }

    /// Ends the record; None if it is of no use. Later code is not recorded.
    pub(crate) fn finish_recording(&mut self) -> Option<Record> {
        self.end_epoch();
        let Units::Recording(recording) = std::mem::take(&mut self.units) else {
            return None;
        };
        self.epoch = 0;
        self.bodies.values().for_each(|body| body.noted.set(0));
        let inputs = self.inputs.take()?.into_inner();
        let Some(Journal::Record(epochs)) = self.heap.end_journal() else {
            return None;
        };
        if recording.dropped || epochs.is_full() {
            return None;
        }
        let (reads, notes, marks) = epochs.finish();
        let mut record = Record {
            units: recording.units,
            reads,
            notes,
            marks,
            inputs_read: inputs.log,
            inputs: inputs.seen,
            objects: self.heap.all_objects().to_vec(),
            version_at: Vec::new(),
            versions: Vec::new(),
            sites: self.heap.sites.clone(),
            printed: self.printed.clone(),
            out: self.out.clone(),
            files: self.files.clone(),
            modules: self.heap.modules.clone(),
            loaded: recording.loaded,
            heavy: recording.heavy,
            written: self.written.paths().cloned().collect(),
            texts: self.texts.clone(),
            steps: self.program.options(self.db).step_limit - self.steps,
            methods: self.heap.methods(),
            activations: self.activations,
            made: OnceLock::new(),
            owners: OnceLock::new(),
        };
        record.index_versions();
        record.leave_out_written(self.db);
        Some(record)
    }
}
