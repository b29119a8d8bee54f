//! Who asked for which projection, directly or through queries of later stages.
//!
//! Salsa knows that too, but can only be asked from the other end: whether something is
//! still right, at the price of looking at all that it was made from. After an edit of a
//! large program that is too much to ask of every function. So the queries between
//! annotation and low-level graphs note here what they read; the solver says which
//! projections an edit may have changed; and only what hangs on these is asked for again.
//!
//! A query on that way calls [`note`] where it is asked for and runs its body in
//! [`scope`]. One that does not hides what it reads: results behind it would be taken
//! for up to date although they are not.

use std::any::Any;
use std::cell::RefCell;
use std::sync::PoisonError;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_base::Db;

/// A query on the way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Query {
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
    /// `class_base`
    ClassBase,
    /// `class_attr`
    ClassAttr,
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
