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
//! [`scope`]. One that does not hides what it reads: results behind it would be taken
//! for up to date although they are not.

use std::any::Any;
use std::cell::RefCell;
use std::sync::{Arc, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use salsa::plumbing::AsId;
use taipan_base::{Db, Program};
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
    /// `module_named`
    ModuleNamed,
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
    /// `struct_body`
    StructBody,
    /// `class_name`
    ClassName,
    /// `class_base`
    ClassBase,
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

#[derive(Default)]
struct Table {
    reads: FxHashMap<Step, Box<[Step]>>,
    readers: FxHashMap<Step, FxHashSet<Step>>,
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
    let mut reads = RUNNING.with_borrow_mut(|running| {
        let last = running.last_mut();
        last.map(std::mem::take).unwrap_or_default()
    });
    drop(running);
    reads.sort_unstable();
    reads.dedup();
    let step = Step { query, key };
    with_table(db, |table| {
        let old = table.reads.get(&step);
        if old.is_some_and(|o| **o == *reads) {
            return;
        }
        for r in table.reads.remove(&step).iter().flatten() {
            if let Some(readers) = table.readers.get_mut(r) {
                readers.remove(&step);
            }
        }
        for r in &reads {
            table.readers.entry(*r).or_default().insert(step);
        }
        table.reads.insert(step, reads.into());
    });
    result
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

/// The keys of all runs of a query that read one of these steps, directly or through
/// others; sorted.
pub fn dependants(db: &dyn Db, steps: &[Step], query: Query) -> Vec<salsa::Id> {
    with_table(db, |table| {
        let mut seen: FxHashSet<Step> = steps.iter().copied().collect();
        let mut todo = steps.to_vec();
        let mut out = Vec::new();
        while let Some(step) = todo.pop() {
            if step.query == query {
                out.push(step.key);
            }
            let readers = table.readers.get(&step).into_iter().flatten();
            todo.extend(readers.filter(|r| seen.insert(**r)));
        }
        out.sort_unstable();
        out
    })
}
