//! Everything that makes the stages one compiler: the database, loading of programs,
//! the queries that wire pure passes together, fan-out, linking, and the operations
//! behind the commands.
//!
//! **Architecture invariants.** The only crate that sees all stages. Offers plain
//! functions on a [`Database`]; prints nothing and knows no command-line syntax.

mod bundle;
mod cache;
mod compile;
mod config;
mod db;
mod drivers;
mod emit;
mod explain;
mod extent;
mod fault;
mod folders;
mod graph_check;
mod hints;
pub mod inspect;
mod keys;
mod late_writes;
mod link;
mod linked;
mod literal;
mod log;
mod lowlevel_errors;
mod names;
mod native;
mod native_jit;
mod observer;
mod parallel;
mod prefetch;
mod reach;
mod result_cache;
mod saved;
mod session;
mod show;
mod spans;
mod stage_cache;
mod stages;
mod targets;
pub mod testing;
mod timeshift;
mod timeshift_native;
mod timing;
mod unreached;
mod value;
pub mod watch;
mod waves;
mod whole;

pub use bundle::{Built, build_with_jit, run_bundle};
pub use cache::{Cache, CacheLimits, Key, KeyHasher, clean_cache, default_cache_folder};
pub use compile::{
    CallOutcome, CallRequest, Engine, JitOptions, JitReport, RunRequest, build, call,
    compile_native, run,
};
pub use config::{Config, ConfigFile, config_file, find_config};
pub use db::Database;
pub use drivers::color_of_name;
pub use emit::{EmitForm, EmitRequest, Stage, emit};
pub use explain::{Explainer, Outcome, Reason, Rerun, Round};
pub use extent::{Extent, extent};
pub use fault::{InternalError, guarded};
pub use folders::{Past, Reader};
pub use graph_check::check_graphs;
pub use literal::parse_literal;
pub use log::{QueryCounts, QueryEvent, QueryLog};
pub use observer::{Observer, Steps};
pub use parallel::{piece_size, set_threads};
pub use saved::{SavedState, wake, woken};
pub use session::{Checked, Failure, LoadOptions, check, checked, entry_roots, has_errors, load};
pub use show::module_of;
pub use spans::{QuerySpan, RawSpan};
pub use taipan_jit::{NameColor, Policy as JitPolicy, Splits};
pub use targets::{find_targets, is_target, python_files};
pub use timeshift::{TimeshiftOutcome, TimeshiftRequest, timeshift};
pub use timing::Timings;
pub use unreached::{UnreachedFunction, unreached_by_all};
pub use value::{Literal, python_text};
pub use waves::Wave;
