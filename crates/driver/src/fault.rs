//! Faults of Taipan itself: caught, described, and never the end of the process.

use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use salsa::Cancelled;
use taipan_base::Diagnostic;

/// Why an operation did not succeed.
#[derive(Debug)]
pub enum Failure {
    /// The user's program is wrong: at least one of these is an error.
    Diagnostics(Vec<Diagnostic>),
    /// Wrong usage, or input that cannot be read.
    Usage(String),
    /// The program ended with an uncaught exception: the report.
    Fatal(String),
    /// A fault of Taipan.
    Internal(InternalError),
}

impl From<Diagnostic> for Failure {
    fn from(d: Diagnostic) -> Self {
        Failure::Diagnostics(vec![d])
    }
}

impl From<InternalError> for Failure {
    fn from(e: InternalError) -> Self {
        Failure::Internal(e)
    }
}

/// A panic inside the compiler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InternalError {
    /// The panic's message.
    pub message: String,
    /// Where in Taipan's sources. None: another thread panicked, or was cancelled while this one waited for
    /// it; that thread reports it.
    pub location: Option<String>,
    /// The queries that were running, innermost first.
    pub queries: Vec<String>,
}

impl std::fmt::Display for InternalError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let location = self.location.as_deref().unwrap_or("another thread");
        write!(f, "internal error: {} ({location})", self.message)?;
        for q in &self.queries {
            write!(f, "\n  in query {q}")?;
        }
        f.write_str(
            "\nThis is a fault of Taipan, not of your program. Please report it with the \
             program that shows it.",
        )
    }
}

impl std::error::Error for InternalError {}

impl InternalError {
    /// Whether this is only word of what happened on another thread: that it was
    /// cancelled while this one waited for it, or that it failed and says so itself.
    pub fn is_elsewhere(&self) -> bool {
        self.location.is_none()
    }
}

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static LAST: RefCell<Option<InternalError>> = const { RefCell::new(None) };
}

static HOOK: Once = Once::new();

/// Runs a piece of work; a panic in it becomes an [`InternalError`] that names the
/// queries that were running. Being cancelled by a write to the database is no fault:
/// it goes on to unwind.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, InternalError> {
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // Workers pass their panics on to a thread that is guarded.
            if DEPTH.get() == 0 && rayon::current_thread_index().is_none() {
                return usual(info);
            }
            let message = info
                .payload()
                .downcast_ref::<&str>()
                .map(|s| (*s).to_owned())
                .or_else(|| info.payload().downcast_ref::<String>().cloned())
                .unwrap_or_else(|| "panic".to_owned());
            let location = info.location().map(ToString::to_string);
            let queries = salsa::Backtrace::capture()
                .map(|b| query_names(&b.to_string()))
                .unwrap_or_default();
            LAST.with(|l| {
                *l.borrow_mut() = Some(InternalError {
                    message,
                    location: location.or_else(|| Some(String::new())),
                    queries,
                })
            });
        }));
    });
    DEPTH.set(DEPTH.get() + 1);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    DEPTH.set(DEPTH.get() - 1);
    result.map_err(|payload| {
        if let Some(Cancelled::PendingWrite | Cancelled::Local) = payload.downcast_ref() {
            panic::resume_unwind(payload);
        }
        LAST.with(|l| l.borrow_mut().take())
            .unwrap_or_else(|| InternalError {
                // The panic happened on a worker thread, which passed on its payload.
                message: payload
                    .downcast_ref::<&str>()
                    .map(|s| (*s).to_owned())
                    .or_else(|| payload.downcast_ref::<String>().cloned())
                    .unwrap_or_else(|| "a worker thread panicked".to_owned()),
                location: None,
                queries: Vec::new(),
            })
    })
}

/// Query names in salsa's rendering of its stack (`  0: name(Id(..))` and a line
/// `at file` each).
fn query_names(backtrace: &str) -> Vec<String> {
    backtrace
        .lines()
        .filter_map(|l| {
            let (number, rest) = l.trim().split_once(": ")?;
            number.parse::<u32>().ok()?;
            Some(rest.split_whitespace().next()?.to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[salsa::tracked]
    fn failing(_db: &dyn taipan_base::Db, _p: taipan_base::Program) -> u32 {
        panic!("deliberate")
    }

    #[test]
    fn a_panic_names_its_query() {
        let db = crate::Database::default();
        let program = taipan_base::Program::new(&db, "/x.py".into(), vec![], 1);
        let error = guarded(|| failing(&db, program)).unwrap_err();
        assert_eq!(error.message, "deliberate");
        assert!(error.queries[0].starts_with("failing("), "{error}");
    }
}
