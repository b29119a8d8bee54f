//! The concrete object space: a Python 2.7 interpreter for import-time code.
//!
//! Values live in a [`heap::Heap`] that only grows; Python calls recurse natively, on
//! stack that grows as needed and down to a depth limit, so that recursion without
//! end is a Python exception and nothing worse.

pub(crate) mod absent;
mod attr;
pub(crate) mod builtin;
pub(crate) mod builtins;
pub(crate) mod call;
pub(crate) mod class;
pub(crate) mod collect;
pub(crate) mod compare;
pub(crate) mod container;
pub(crate) mod convert;
pub(crate) mod dict;
pub(crate) mod errors;
pub(crate) mod format;
pub(crate) mod fused;
pub(crate) mod generator;
pub(crate) mod heap;
pub(crate) mod import;
pub(crate) mod inlined;
pub(crate) mod item;
pub(crate) mod iter;
pub(crate) mod journal;
pub(crate) mod locals;
pub(crate) mod lookup;
pub(crate) mod lowmem;
pub(crate) mod meant;
pub(crate) mod meter;
pub(crate) mod modules;
pub(crate) mod number;
pub(crate) mod ops;
pub(crate) mod quick;
pub(crate) mod raw_view;
pub(crate) mod replay;
pub(crate) mod repr;
pub(crate) mod run;
pub(crate) mod same;
pub(crate) mod sizes;
pub(crate) mod slice;
pub(crate) mod slots;
pub(crate) mod text;
pub(crate) mod types;
pub(crate) mod units;
pub(crate) mod value;
pub(crate) mod words;
pub(crate) mod written;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use camino::Utf8PathBuf;
use rustc_hash::{FxHashMap, FxHashSet};
use taipan_base::{Db, Program};
use taipan_code::{Code, CodeId};

use crate::heap_image::failed_statements::{LeftOut, ModuleBodies};
use dict::{Dict, KnownName};
use heap::{Heap, Ref};
use taipan_engine::Unwind;
use value::Value;

/// What ends import time at once, past all handlers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fatal {
    /// More instructions than `Program.step_limit`.
    StepLimit,
    /// More memory than `Program.memory_limit`: see [`meter`].
    MemoryLimit,
    /// One operation on long integers that would take too long: it cannot be interrupted.
    LongOperation,
    /// Something that a folder may only do if it is trusted: [`Interp::forbidden`].
    Untrusted,
    /// A collection whose outcome is not known: see [`collect`].
    Collection,
    /// An operation on constants that cannot be computed: see [`crate::constants`].
    Untold,
}

/// Result of everything that may raise.
pub(crate) type R<T = Value> = Result<T, Unwind<Value, Fatal>>;

/// A Python function may call this deep.
const DEPTH_LIMIT: usize = 1000;

/// The part of the interpreter's state that the image keeps.
#[derive(Clone, Debug)]
pub(crate) struct World {
    /// All objects.
    pub(crate) heap: Arc<Heap>,
    /// `sys.modules`
    pub(crate) modules: Ref,
    /// Names that every module sees.
    pub(crate) builtins: Ref,
    /// What was written to files.
    pub(crate) written: written::Written,
}

/// A body that runs.
pub(crate) struct Activation {
    /// The body.
    pub(crate) code: CodeId,
    /// The dict of its globals.
    pub(crate) globals: Ref,
    /// The dict of its local names, if they live in one.
    pub(crate) names: Option<Ref>,
    /// Serial number of the activation, starting at 1.
    pub(crate) number: u64,
}

/// A body made ready.
pub(crate) struct Body {
    /// Its code.
    pub(crate) code: Arc<Code>,
    /// Its constants.
    pub(crate) consts: Box<[Value]>,
    /// The names in its code.
    pub(crate) names: Box<[KnownName]>,
    /// The slot of a namespace in which each name was found last.
    pub(crate) hints: Box<[Cell<u32>]>,
    /// The same for the namespace of builtins.
    pub(crate) builtin_hints: Box<[Cell<u32>]>,
    /// Executions of it are units: see [`units`].
    pub(crate) is_unit: Cell<bool>,
    /// The epoch of the record that notes it as read.
    pub(crate) noted: Cell<u32>,
    /// The function takes each argument by a parameter of its own, and calling it runs it.
    pub(crate) plain: bool,
    /// The operation of each instruction.
    pub(crate) ops: Box<[fused::Op]>,
    /// The executed instructions, if they are recorded.
    pub(crate) executed: Option<Box<[Cell<bool>]>>,
    /// Its index among the sites.
    pub(crate) site: u32,
}

impl Body {
    /// A name, and the slot in which it was found last.
    #[inline(always)]
    pub(crate) fn name(&self, i: u32) -> (dict::Name<'_>, &Cell<u32>) {
        (self.names[i as usize].name(), &self.hints[i as usize])
    }
}

/// Names of special methods.
pub(crate) struct SpecialNames {
    pub(crate) init: KnownName,
    pub(crate) new: KnownName,
    pub(crate) setattr: KnownName,
}

impl SpecialNames {
    fn new(texts: &mut FxHashSet<Arc<[u8]>>) -> SpecialNames {
        let mut name = |text: &str| KnownName::new(interned(texts, text));
        SpecialNames {
            init: name("__init__"),
            new: name("__new__"),
            setattr: name("__setattr__"),
        }
    }
}

/// The one text of a name.
fn interned(texts: &mut FxHashSet<Arc<[u8]>>, text: &str) -> Arc<[u8]> {
    if let Some(text) = texts.get(text.as_bytes()) {
        return text.clone();
    }
    let text: Arc<[u8]> = text.as_bytes().into();
    texts.insert(text.clone());
    text
}

/// A running interpreter.
pub(crate) struct Interp<'db> {
    /// Where code comes from.
    pub(crate) db: &'db dyn Db,
    /// The program.
    pub(crate) program: Program,
    /// All objects.
    pub(crate) heap: Heap,
    /// `sys.modules`
    pub(crate) modules: Ref,
    /// Names that every module sees.
    pub(crate) builtins: Ref,
    /// Bodies that run, outermost first.
    pub(crate) stack: Vec<Activation>,
    /// Instructions left.
    pub(crate) steps: u64,
    /// Memory, and when to look at cancellation.
    pub(crate) meter: meter::Meter,
    /// What was written to standard output.
    pub(crate) out: Vec<u8>,
    /// What was written to standard output and standard error, in order.
    pub(crate) printed: Vec<u8>,
    /// Whether `print` owes a blank.
    pub(crate) softspace: bool,
    /// The exception that was handled last: `sys.exc_info()`.
    pub(crate) exc_info: Option<(Value, Value)>,
    /// Number of exceptions that were handled.
    pub(crate) handled: u64,
    /// The last `raise` statement had no operands, or a traceback.
    pub(crate) raises_again: bool,
    /// Frames that exceptions ended, if their local variables are wanted.
    pub(crate) ended_frames: Option<locals::EndedFrames>,
    /// Executed instructions are recorded.
    pub(crate) notes_execution: bool,
    /// Number of activations so far.
    pub(crate) activations: u64,
    /// Containers whose `repr` is under way.
    pub(crate) repr_guard: Vec<Ref>,
    /// How deep in nested data an operation is.
    pub(crate) nesting: usize,
    /// The object whose special method the next operation passes over.
    pub(crate) plainly: Option<Ref>,
    /// State of `random`.
    pub(crate) random: u64,
    /// The current folder of a test, which may change it. Import time has the target's folder.
    pub(crate) folder: Option<Utf8PathBuf>,
    /// Source files run as modules, in order.
    pub(crate) files: Vec<taipan_base::File>,
    /// Bodies of the modules among them, by the name under which each was run.
    pub(crate) module_bodies: ModuleBodies,
    /// Where all bodies stood when a limit was hit, innermost first.
    pub(crate) last_stack: Vec<(CodeId, u32)>,
    /// The operation that was refused because the folder is not trusted.
    pub(crate) forbidden: Option<String>,
    /// Statements that are passed over.
    pub(crate) left_out: LeftOut,
    /// What it has written to files.
    pub(crate) written: written::Written,
    /// Files that are open as descriptors.
    pub(crate) descriptors: Vec<Option<modules::descriptors::Descriptor>>,
    /// What is known of `gc.collect()`.
    pub(crate) collections: collect::Collections,
    /// Whether what it computes must be the same in every process: then nothing is told of
    /// where objects are and how hashes order them.
    pub(crate) timeless: bool,
    /// The memo calls that run, if this is one.
    pub(crate) memo_calls: Option<Box<crate::heap_image::memo::Calls>>,
    /// Cache of lookups along the bases of classes.
    pub(crate) lookups: lookup::Lookups,
    pub(crate) bodies: FxHashMap<CodeId, Rc<Body>>,
    /// Bodies of units that were replayed.
    pub(crate) replayed_bodies: FxHashSet<CodeId>,
    /// Executions of bodies may be units.
    pub(crate) has_units: bool,
    /// Whether the run is recorded, or replayed.
    pub(crate) units: units::Units,
    /// Bodies that have taken many steps: see [`units`].
    heavy: FxHashSet<CodeId>,
    /// The epoch of the record, from 1; 0 without a record.
    pub(crate) epoch: u32,
    /// The inputs of a recorded run.
    pub(crate) inputs: Option<Box<RefCell<units::Inputs>>>,
    /// The units that run use something that records do not describe.
    pub(crate) spoiled: Cell<bool>,
    /// A run that replays units may differ from one that does not.
    pub(crate) observed: Cell<bool>,
    /// Direct-mapped cache of bodies by id.
    recent: Vec<Option<(CodeId, Rc<Body>)>>,
    /// Interned texts of names in code objects.
    texts: FxHashSet<Arc<[u8]>>,
    /// Names of methods that are looked up with many operations.
    pub(crate) special: SpecialNames,
    /// Locals and stacks of finished frames, empty, for reuse.
    spare: Vec<(Vec<Option<Value>>, Vec<Value>)>,
    /// Inlined calls, innermost last.
    inlined: Vec<inlined::Inlined>,
    /// Finished frames of inlined calls, empty, for reuse.
    #[expect(
        clippy::vec_box,
        reason = "calls take frames from here and give them back by pointer"
    )]
    frames: Vec<Box<taipan_engine::Frame<Value>>>,
}

impl<'db> Interp<'db> {
    /// The bodies that have run.
    pub(crate) fn ran(&self) -> impl Iterator<Item = CodeId> + '_ {
        self.bodies
            .keys()
            .copied()
            .chain(self.replayed_bodies.iter().copied())
    }

    /// An interpreter with nothing imported yet.
    pub(crate) fn new(db: &'db dyn Db, program: Program) -> Self {
        let steps = program.options(db).step_limit;
        let (heap, modules, builtins) = Interp::builtin_heap();
        let mut it = Interp::with(db, program, steps, heap, modules, builtins);
        it.has_units = true;
        it
    }

    /// A heap with the builtins alone, the dict of modules and that of builtin names.
    pub(crate) fn builtin_heap() -> (Heap, Ref, Ref) {
        let mut heap = Heap::new();
        let modules = heap.dict(Dict::default());
        let builtins = heap.dict(Dict::default());
        modules::install_builtins(&mut heap, builtins);
        (heap, modules, builtins)
    }

    /// An interpreter that goes on with the objects of an earlier one.
    pub(crate) fn over(db: &'db dyn Db, program: Program, world: &World) -> Self {
        let heap = Heap::upon(world.heap.clone());
        let steps = program.options(db).step_limit;
        let mut it = Interp::with(db, program, steps, heap, world.modules, world.builtins);
        it.written = world.written.clone();
        it
    }

    /// An interpreter with these objects, which may take so many steps.
    pub(crate) fn with(
        db: &'db dyn Db,
        program: Program,
        steps: u64,
        heap: Heap,
        modules: Ref,
        builtins: Ref,
    ) -> Self {
        let mut texts = FxHashSet::default();
        Interp {
            db,
            program,
            heap,
            modules,
            builtins,
            stack: Vec::new(),
            steps,
            meter: meter::Meter::new(program.options(db).memory_limit),
            out: Vec::new(),
            printed: Vec::new(),
            softspace: false,
            exc_info: None,
            handled: 0,
            raises_again: false,
            ended_frames: None,
            notes_execution: false,
            activations: 0,
            repr_guard: Vec::new(),
            nesting: 0,
            plainly: None,
            random: 0x2545_f491_4f6c_dd1d,
            folder: None,
            files: Vec::new(),
            module_bodies: ModuleBodies::default(),
            last_stack: Vec::new(),
            forbidden: None,
            left_out: LeftOut::default(),
            written: written::Written::default(),
            descriptors: Vec::new(),
            collections: collect::Collections::default(),
            timeless: false,
            memo_calls: None,
            lookups: lookup::Lookups::default(),
            bodies: FxHashMap::default(),
            replayed_bodies: FxHashSet::default(),
            has_units: false,
            units: units::Units::default(),
            heavy: FxHashSet::default(),
            epoch: 0,
            inputs: None,
            spoiled: Cell::default(),
            observed: Cell::default(),
            recent: Vec::new(),
            special: SpecialNames::new(&mut texts),
            texts,
            spare: Vec::new(),
            inlined: Vec::new(),
            frames: Vec::new(),
        }
    }

    /// Uses these texts of names.
    fn use_texts(&mut self, texts: FxHashSet<Arc<[u8]>>) {
        self.texts = texts;
        self.special = SpecialNames::new(&mut self.texts);
    }

    /// What the image keeps.
    pub(crate) fn into_world(self) -> World {
        World {
            heap: Arc::new(self.heap),
            modules: self.modules,
            builtins: self.builtins,
            written: self.written,
        }
    }
}
