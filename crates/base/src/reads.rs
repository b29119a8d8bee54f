//! Who asked for which query, directly or through queries of later stages.
//!
//! Salsa knows that too, but can only be asked from the other end: whether something is
//! still right, at the price of looking at all that it was made from. After an edit of a
//! large program that is too much to ask of every function. So the queries between import
//! time and machine code note here what they read. Two images are compared, the solver says
//! which of its projections an edit may have changed, and only what hangs on these is asked
//! for again.
//!
//! [`noted!`](crate::noted) declares a query on that way. A query there that is declared without it hides
//! what it reads: results behind it would be taken for up to date although they are not.
//!
//! Whoever keeps something outside salsa's tables that is made from queries makes it in a [`scope`]
//! of its own, as if it were one, and finds it among the [`dependants`] of what changed.

use std::any::TypeId;
use std::cell::RefCell;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashSet};
#[doc(hidden)]
pub use salsa::plumbing::{AsId, FromId};
use smallvec::SmallVec;

use crate::Db;

/// A query whose readers are noted, as a type: [`noted!`](crate::noted) declares one beside each query,
/// under the query's own name.
///
pub trait Noted: 'static {
    /// The query's key.
    type Key: AsId + FromId;
}

/// A query with its key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Step {
    query: TypeId,
    key: salsa::Id,
}

impl Step {
    /// The query `Q` with that key.
    pub fn of<Q: Noted>(key: Q::Key) -> Step {
        Step {
            query: TypeId::of::<Q>(),
            key: key.as_id(),
        }
    }

    /// The key, if this is the query `Q`.
    fn key_of<Q: Noted>(&self) -> Option<Q::Key> {
        (self.query == TypeId::of::<Q>()).then(|| Q::Key::from_id(self.key))
    }
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
    db.warm().with("reads", work)
}

/// The query `Q` is asked for.
pub fn note<Q: Noted>(key: Q::Key) {
    RUNNING.with_borrow_mut(|running| {
        if let Some(reads) = running.last_mut() {
            reads.push(Step::of::<Q>(key));
        }
    });
}

/// Runs the body of the query `Q`. What it asks for replaces what it asked for the last time.
pub fn scope<Q: Noted, R>(db: &dyn Db, key: Q::Key, body: impl FnOnce() -> R) -> R {
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
    with_table(db, |table| table.set_reads(Step::of::<Q>(key), &reads));
    result
}

/// Declares a query that notes who asks for it, and whose reads are noted:
///
/// ```ignore
/// noted! {
///     /// What it returns.
///     pub(crate) fn simplified(db, f: LLFunction) -> Option<Arc<LLGraph>> {
///         ...
///     }
/// }
/// ```
///
/// A result of type `&T` is borrowed from salsa's table, any other is cloned for each reader.
/// `#[salsa::tracked]` is not written; in logs the query has its own name. The name is a type, too, for
/// [`Step::of`] and [`dependants`]: see [`Noted`](crate::reads::Noted).
///
/// `kept CodePiece(LLFunction)` declares what is kept outside salsa's tables, by the type of its keys, for
/// [`scope`](crate::reads::scope).
///
/// `projection fn` declares one that shows a part of something that is compared part by part after
/// an edit (the image, what the solver found): what its body reads is not noted.
#[macro_export]
macro_rules! noted {
    (
        $(#[$meta:meta])*
        $vis:vis fn $name:ident($db:ident, $key:ident: $Key:ty) -> &$Result:ty $body:block
    ) => {
        $crate::noted!(@declare [$(#[$meta])*] [$vis] $name $db $key [$Key] [ref] [&$Result] [$Result] {
            $crate::reads::scope::<$name, _>($db, $key, || $body)
        });
    };
    (
        $(#[$meta:meta])*
        $vis:vis fn $name:ident($db:ident, $key:ident: $Key:ty) -> $Result:ty $body:block
    ) => {
        $crate::noted!(@declare [$(#[$meta])*] [$vis] $name $db $key [$Key] [clone] [$Result] [$Result] {
            $crate::reads::scope::<$name, _>($db, $key, || $body)
        });
    };
    (
        $(#[$meta:meta])*
        $vis:vis projection fn $name:ident($db:ident, $key:ident: $Key:ty) -> &$Result:ty $body:block
    ) => {
        $crate::noted!(@declare [$(#[$meta])*] [$vis] $name $db $key [$Key] [ref] [&$Result] [$Result] $body);
    };
    (
        $(#[$meta:meta])*
        $vis:vis projection fn $name:ident($db:ident, $key:ident: $Key:ty) -> $Result:ty $body:block
    ) => {
        $crate::noted!(@declare [$(#[$meta])*] [$vis] $name $db $key [$Key] [clone] [$Result] [$Result] $body);
    };
    ($(#[$meta:meta])* $vis:vis kept $name:ident($Key:ty)) => {
        $(#[$meta])*
        $vis enum $name {}

        impl $crate::reads::Noted for $name {
            type Key = $Key;
        }
    };
    (
        @declare [$($meta:tt)*] [$vis:vis] $name:ident $db:ident $key:ident [$Key:ty]
        [$returns:ident] [$Out:ty] [$Result:ty] $body:block
    ) => {
        #[doc = concat!("The query [`", stringify!($name), "`](fn@", stringify!($name), ").")]
        #[allow(non_camel_case_types, reason = "it has the name of the query")]
        $vis enum $name {}

        impl $crate::reads::Noted for $name {
            type Key = $Key;
        }

        $($meta)*
        $vis fn $name($db: &dyn $crate::Db, $key: $Key) -> $Out {
            // Out here, where the name is the noted query's: bodies may ask for others of their kind.
            fn body($db: &dyn $crate::Db, $key: $Key) -> $Result $body

            $crate::reads::note::<$name>($key);
            {
                #[salsa::tracked(returns($returns))]
                fn $name($db: &dyn $crate::Db, $key: $Key) -> $Result {
                    body($db, $key)
                }

                $name($db, $key)
            }
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

/// Whether anything has read a step the last time that it ran.
pub fn has_readers(db: &dyn Db, step: Step) -> bool {
    with_table(db, |table| {
        let known = table.steps.get_index_of(&step);
        known.is_some_and(|i| table.readers[i].iter().next().is_some())
    })
}

/// The keys of all runs of the query `Q` that read one of these steps, directly or through
/// others; sorted.
pub fn dependants<Q: Noted>(db: &dyn Db, steps: &[Step]) -> Vec<Q::Key> {
    with_table(db, |table| {
        let mut out: Vec<Q::Key> = steps.iter().filter_map(Step::key_of::<Q>).collect();
        let known = steps.iter().filter_map(|s| table.steps.get_index_of(s));
        let mut todo: Vec<StepIx> = known.map(|i| i as StepIx).collect();
        let mut seen: FxHashSet<StepIx> = todo.iter().copied().collect();
        while let Some(step) = todo.pop() {
            for reader in table.readers[step as usize].iter() {
                if seen.insert(reader) {
                    out.extend(table.steps[reader as usize].key_of::<Q>());
                    todo.push(reader);
                }
            }
        }
        out.sort_unstable_by_key(AsId::as_id);
        out
    })
}
