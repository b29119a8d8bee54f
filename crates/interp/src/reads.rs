//! Who asked for which projection of the image or of annotation, directly or through
//! queries of later stages.
//!
//! Salsa knows that too, but can only be asked from the other end: whether something is
//! still right, at the price of looking at all that it was made from. After an edit of a
//! large program that is too much to ask of every function. So flow graphs, and the
//! queries between annotation and low-level graphs, note here what they read. Two images
//! are compared ([`image_changes`]), the solver says which projections an edit may have
//! changed; and only what hangs on these is asked for again.
//!
//! A query on that way calls [`note`] where it is asked for and runs its body in
//! [`scope`]; [`noted`](crate::noted) declares one that does. A query that does not hides what it
//! reads: results behind it would be taken for up to date although they are not.
//!
//! Whoever keeps something outside salsa's tables that is made from queries makes it in a scope
//! of its own, as if it were one, and finds it among the [`dependants`] of what changed.

use std::any::Any;
use std::cell::RefCell;
use std::sync::{Arc, PoisonError};

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashSet};
#[doc(hidden)]
pub use salsa::plumbing::AsId;
use smallvec::SmallVec;
#[doc(hidden)]
pub use taipan_base::Db;
use taipan_base::Program;
use taipan_graph::ObjId;

use crate::{Image, ModuleName, Name, Object};

/// A query on the way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Query {
    /// `object`
    Object,
    /// `module_global`
    ModuleGlobal,
    /// `class_attr` of the image
    ImageClassAttr,
    /// `desc_attr`
    DescAttr,
    /// `names_above`
    NamesAbove,
    /// `module_named`
    ModuleNamed,
    /// `memo_call`, or what it made
    MemoCall,
    /// `flow_graph`
    FlowGraph,
    /// `annotation`
    Annotation,
    /// `signature`
    Signature,
    /// `specs_of`
    SpecsOf,
    /// `classes_of`
    ClassesOf,
    /// `class_def`
    ClassDef,
    /// `class_attributes`
    ClassAttributes,
    /// `list_def`
    ListDef,
    /// `dict_def`
    DictDef,
    /// `call_family`
    CallFamily,
    /// `attr_family`
    AttrFamily,
    /// `rtyped_graph`
    RtypedGraph,
    /// `func_sym_of`
    FuncSymOf,
    /// `static_data`
    StaticData,
    /// `object_flow_of`
    ObjectFlow,
    /// `struct_body`
    StructBody,
    /// `class_name`
    ClassName,
    /// `class_base`
    ClassBase,
    /// `vtable_levels`
    VtableLevels,
    /// `default_fields`
    DefaultFields,
    /// `class_attr`
    ClassAttr,
    /// `bound_methods`
    BoundMethods,
    /// `call_targets`
    CallTargets,
    /// `class_range`
    ClassRange,
    /// `is_leaf`
    IsLeaf,
    /// `class_ranges`
    ClassRanges,
    /// `destructor`
    Destructor,
    /// `low_level_facts`; whether they are others is found by comparing them.
    LowLevelFacts,
    /// `marked_functions`
    MarkedFunctions,
    /// `late_writes`
    LateWrites,
    /// `late_fields`
    LateFields,
    /// `jit_drivers`
    JitDrivers,
    /// `driver`
    Driver,
    /// `marked`
    Marked,
    /// `split`
    Split,
    /// `entered_graph`
    EnteredGraph,
    /// `entered_key`
    EnteredKey,
    /// `kept_simplified`
    KeptSimplified,
    /// `simplified`
    Simplified,
    /// `simplified_key`
    SimplifiedKey,
    /// `simplified_summary`
    SimplifiedSummary,
    /// `simplified_mentions`
    SimplifiedMentions,
    /// `kept_optimized`
    KeptOptimized,
    /// `optimized`
    Optimized,
    /// `optimized_key`
    OptimizedKey,
    /// `optimized_summary`
    OptimizedSummary,
    /// `optimized_mentions`
    OptimizedMentions,
    /// `light_finalizer`
    LightFinalizer,
    /// `function_effects`; which of them are others is found when all are worked out.
    FunctionEffects,
    /// `exceptions`
    Exceptions,
    /// `gc`
    Gc,
    /// `kept_code`
    KeptCode,
    /// `machine_code`
    MachineCode,
    /// `struct_body_key`
    StructBodyKey,
    /// `static_data_key`
    StaticDataKey,
    /// `summary_key`
    SummaryKey,
    /// A function in what is kept of a whole program as the RTyper makes it.
    TypedNode,
    /// The same of a program as it is optimised.
    OptimizedNode,
    /// The machine code of a function in a program that is linked.
    CodePiece,
    /// Prebuilt data in a program that is linked.
    DataPiece,
    /// Type information in a program that is linked.
    TypePiece,
}

/// A query with its key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Step {
    /// The query.
    pub query: Query,
    /// Its key.
    pub key: salsa::Id,
}

thread_local! {
    /// What the queries that run on this thread have read so far, innermost last.
    static RUNNING: RefCell<Vec<Vec<Step>>> = const { RefCell::new(Vec::new()) };
}

/// Number of a step.
type StepIx = u32;

#[derive(Default)]
struct Table {
    steps: IndexSet<Step, FxBuildHasher>,
    /// By step; sorted.
    reads: Vec<Box<[StepIx]>>,
    /// By step.
    readers: Vec<Readers>,
}

/// So many readers are looked through one by one.
const FEW_READERS: usize = 16;

/// Who reads a step: few, nearly always.
enum Readers {
    Few(SmallVec<[StepIx; 4]>),
    Many(FxHashSet<StepIx>),
}

impl Readers {
    /// Adds one that is not there yet.
    fn insert(&mut self, reader: StepIx) {
        match self {
            Readers::Few(few) if few.len() < FEW_READERS => few.push(reader),
            Readers::Few(few) => {
                *self = Readers::Many(few.iter().copied().chain([reader]).collect());
            }
            Readers::Many(many) => {
                many.insert(reader);
            }
        }
    }

    fn remove(&mut self, reader: StepIx) {
        match self {
            Readers::Few(few) => few.retain(|r| *r != reader),
            Readers::Many(many) => {
                many.remove(&reader);
            }
        }
    }

    fn iter(&self) -> impl Iterator<Item = StepIx> {
        let (few, many) = match self {
            Readers::Few(few) => (Some(few), None),
            Readers::Many(many) => (None, Some(many)),
        };
        let few = few.into_iter().flatten();
        few.chain(many.into_iter().flatten()).copied()
    }
}

impl Table {
    fn number(&mut self, step: Step) -> StepIx {
        let (i, new) = self.steps.insert_full(step);
        if new {
            self.reads.push(Box::default());
            self.readers.push(Readers::Few(SmallVec::new()));
        }
        i as StepIx
    }

    /// What a step reads now.
    fn set_reads(&mut self, step: Step, reads: &[Step]) {
        let step = self.number(step);
        let mut reads: Vec<StepIx> = reads.iter().map(|r| self.number(*r)).collect();
        reads.sort_unstable();
        reads.dedup();
        let old = std::mem::replace(&mut self.reads[step as usize], reads.into());
        let new = &self.reads[step as usize];
        for r in old.iter().filter(|r| new.binary_search(r).is_err()) {
            self.readers[*r as usize].remove(step);
        }
        for r in new.iter().filter(|r| old.binary_search(r).is_err()) {
            self.readers[*r as usize].insert(step);
        }
    }
}

fn with_table<R>(db: &dyn Db, work: impl FnOnce(&mut Table) -> R) -> R {
    let slot = db.warm().slot("annotator reads");
    let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
    let table = slot.get_or_insert_with(|| Box::new(Table::default()) as Box<dyn Any + Send>);
    match table.downcast_mut() {
        Some(table) => work(table),
        None => work(&mut Table::default()),
    }
}

/// A query is asked for.
pub fn note(query: Query, key: salsa::Id) {
    RUNNING.with_borrow_mut(|running| {
        if let Some(reads) = running.last_mut() {
            reads.push(Step { query, key });
        }
    });
}

/// Runs the body of a query. What it asks for replaces what it asked for the last time.
pub fn scope<R>(db: &dyn Db, query: Query, key: salsa::Id, body: impl FnOnce() -> R) -> R {
    /// Ends also where the body unwinds.
    struct Running;
    impl Drop for Running {
        fn drop(&mut self) {
            RUNNING.with_borrow_mut(Vec::pop);
        }
    }
    RUNNING.with_borrow_mut(|running| running.push(Vec::new()));
    let running = Running;
    let result = body();
    let reads = RUNNING.with_borrow_mut(|running| {
        let last = running.last_mut();
        last.map(std::mem::take).unwrap_or_default()
    });
    drop(running);
    let step = Step { query, key };
    with_table(db, |table| table.set_reads(step, &reads));
    result
}

/// Declares a query of a function or the like that notes who asks for it, and runs in a scope:
///
/// ```ignore
/// noted! {
///     /// What it returns.
///     pub(crate) fn simplified(db, f: LLFunction) -> Option<Arc<LLGraph>> as Simplified {
///         ...
///     }
/// }
/// ```
///
/// The result is cloned for each reader. `#[salsa::tracked]` is not written; in logs the query has
/// its own name.
#[macro_export]
macro_rules! noted {
    (
        $(#[$meta:meta])*
        $vis:vis fn $name:ident($db:ident, $key:ident: $Key:ty) -> $Result:ty as $query:ident
        $body:block
    ) => {
        $(#[$meta])*
        $vis fn $name($db: &dyn $crate::reads::Db, $key: $Key) -> $Result {
            use $crate::reads::{AsId, Db, Query, note, scope};

            #[salsa::tracked(returns(clone))]
            fn $name($db: &dyn Db, $key: $Key) -> $Result {
                scope($db, Query::$query, $key.as_id(), || $body)
            }

            note(Query::$query, $key.as_id());
            $name($db, $key)
        }
    };
}

/// Runs something whose reads are nobody's: what asks for it depends on its answer alone.
pub fn apart<R>(body: impl FnOnce() -> R) -> R {
    let outer = RUNNING.take();
    /// Puts back what was running, also where the body unwinds.
    struct Outer(Vec<Vec<Step>>);
    impl Drop for Outer {
        fn drop(&mut self) {
            RUNNING.set(std::mem::take(&mut self.0));
        }
    }
    let _outer = Outer(outer);
    body()
}

/// How one image of a program differs from an earlier one.
#[derive(Default)]
pub struct ImageChanges {
    /// Objects that are others, new or gone; sorted.
    pub objects: Vec<ObjId>,
    /// Their projections, and those of names in modules, that are others.
    pub steps: Vec<Step>,
}

/// Compares two images of a program.
pub fn image_changes(db: &dyn Db, program: Program, old: &Image, new: &Image) -> ImageChanges {
    let mut changes = ImageChanges::default();
    let differ = |id: &&ObjId| match (old.objects.get(*id), new.objects.get(*id)) {
        (Some(a), Some(b)) => !Arc::ptr_eq(a, b) && a != b,
        _ => true,
    };
    let gone = old
        .objects
        .keys()
        .filter(|id| !new.objects.contains_key(id));
    let objects = new.objects.keys().chain(gone).filter(differ);
    changes.objects = objects.copied().collect();
    changes.objects.sort_unstable();
    for id in &changes.objects {
        let key = Object::new(db, program, *id).as_id();
        changes.steps.push(Step {
            query: Query::Object,
            key,
        });
    }
    let modules: FxHashSet<&ObjId> = old.globals.keys().chain(new.globals.keys()).collect();
    #[expect(clippy::iter_over_hash_type, reason = "the steps are sorted")]
    for module in modules {
        let (was, is) = (old.globals.get(module), new.globals.get(module));
        let names = was.into_iter().chain(is).flat_map(|g| g.keys());
        let differs = |name: &str| was.and_then(|g| g.get(name)) != is.and_then(|g| g.get(name));
        for name in names.filter(|n| differs(n)) {
            let key = Name::new(db, program, *module, name.clone()).as_id();
            changes.steps.push(Step {
                query: Query::ModuleGlobal,
                key,
            });
        }
    }
    let names = old.modules.keys().chain(new.modules.keys());
    for name in names.filter(|n| old.modules.get(*n) != new.modules.get(*n)) {
        let key = ModuleName::new(db, program, name.clone()).as_id();
        changes.steps.push(Step {
            query: Query::ModuleNamed,
            key,
        });
    }
    changes.steps.sort_unstable();
    changes.steps.dedup();
    changes
}

/// Whether anything has read a step the last time that it ran.
pub fn has_readers(db: &dyn Db, step: Step) -> bool {
    with_table(db, |table| {
        let known = table.steps.get_index_of(&step);
        known.is_some_and(|i| table.readers[i].iter().next().is_some())
    })
}

/// The keys of all runs of a query that read one of these steps, directly or through
/// others; sorted.
pub fn dependants(db: &dyn Db, steps: &[Step], query: Query) -> Vec<salsa::Id> {
    with_table(db, |table| {
        let mut out = Vec::new();
        let asked = |s: &&Step| s.query == query;
        out.extend(steps.iter().filter(asked).map(|s| s.key));
        let known = steps.iter().filter_map(|s| table.steps.get_index_of(s));
        let mut todo: Vec<StepIx> = known.map(|i| i as StepIx).collect();
        let mut seen: FxHashSet<StepIx> = todo.iter().copied().collect();
        while let Some(step) = todo.pop() {
            for reader in table.readers[step as usize].iter() {
                if seen.insert(reader) {
                    let step = &table.steps[reader as usize];
                    out.extend((step.query == query).then_some(step.key));
                    todo.push(reader);
                }
            }
        }
        out.sort_unstable();
        out
    })
}
