//! Everything that makes the stages one compiler: the database, loading of programs,
//! the queries that wire pure passes together, fan-out, linking, and the operations
//! behind the commands.
//!
//! **Architecture invariants.** The only crate that sees all stages. Offers plain
//! functions on a [`Database`]; prints nothing and knows no command-line syntax.

mod build;
mod bundle;
mod c;
mod call;
mod check;
mod checked;
mod config;
mod db;
mod emit;
mod engine;
mod executable;
mod explain;
mod extension;
mod extent;
mod extents;
mod fault;
mod folders;
mod function;
mod graph_check;
pub mod inspect;
mod jit_runtime;
mod kept_source;
mod keys;
mod levels;
mod library;
mod link;
mod literal;
mod llvm;
mod log;
mod memory;
mod modes;
mod names;
mod native_jit;
mod observer;
mod ootype;
mod parallel;
mod prefetch;
mod profile;
mod program;
mod python;
mod result_cache;
mod run;
mod saved;
mod show;
mod source_map;
mod spans;
mod stages;
mod targets;
mod timeshift;
mod timing;
mod trust;
mod typed;
mod unreached;
mod unused;
mod value;
mod wasmgc;
mod waves;
mod web;

/// What the test runner and the watch loop are made from, beside the operations of commands.
pub mod parts {
    pub use crate::build::{
        build_image, compile_for_process, image_object, link, list_for_process,
    };
    pub use crate::bundle::{Bundled, bundle, run_payload, write_executable};
    pub use crate::c::{c_files, compile_c};
    pub use crate::folders::{clean, files_below};
    pub use crate::function::LLFunction;
    pub use crate::keys::key_text;
    pub use crate::llvm::{compile_llvm, llvm_texts};
    pub use crate::parallel::par_map;
    pub use crate::prefetch::{compile_files, flow_graphs};
    pub use crate::program::{SYNTAX, import_diagnostics, load_tests};
    pub use crate::result_cache::{Question, StoredDiagnostics, remember};
    pub use crate::stages::linked::compile_entries;
    pub use crate::stages::lowlevel_errors::codegen_failure;
    pub use crate::stages::native::{ImageUse, image, listing, machine_code};
    pub use crate::stages::reach::reaching;
    pub use crate::stages::{GraphStage, JitPasses, StageProgram, root_syms};
    pub use crate::typed::typed_entries;
    pub use crate::value::short_name;
}

pub use build::{build, compile_native};
pub use bundle::{Built, Optimising, build_with_jit};
pub use c::{COptions, build_c};
pub use call::{CallRequest, call};
pub use check::{check, checked};
pub use checked::{Checked, UnreachedFunction};
pub use config::{Config, ConfigFile, TargetConfig, config_file, find_config, test_paths};
pub use db::{Database, LaterProcesses};
pub use emit::{EmitForm, EmitRequest, Stage, emit};
pub use engine::{CallOutcome, Engine};
pub use explain::{Explainer, Outcome, Reason, Rerun, Round};
pub use extension::{OfferedFunction, build_extension};
pub use extent::Extent;
pub use extents::extent;
pub use fault::{Failure, InternalError, guarded};
pub use folders::{Past, Reader};
pub use graph_check::check_graphs;
pub use library::{build_library, library_of};
pub use literal::parse_literal;
pub use llvm::{build_llvm, run_llvm};
pub use log::{QueryCounts, QueryEvent, QueryLog};
pub use memory::parse_size;
pub use native_jit::{JitOptions, JitReport};
pub use observer::{Observer, Steps};
pub use parallel::{piece_size, set_threads};
pub use profile::ProfileOptions;
pub use program::{entry_roots, executable_name, has_errors, load, target_settings};
pub use python::build_python;
pub use run::{RunRequest, run};
pub use saved::{SavedState, wake, woken};
pub use show::module_of;
pub use spans::{QuerySpan, RawSpan};
pub use stages::drivers::{color_of_name, may_have_drivers};
pub use taipan_base::{LoadOptions, Translation};
pub use taipan_cache::{
    Cache, CacheLimits, CacheSecret, Key, KeyHasher, clean_cache, clean_old_cache,
    default_cache_folder, is_inside, project_root,
};
pub use taipan_codegen::GDB_PRINTERS;
pub use taipan_codegen_cranelift::missing_library;
pub use taipan_heap::resident_bytes;
pub use taipan_jit::{NameColor, Policy as JitPolicy, Splits};
pub use taipan_language::Machine;
pub use targets::{configured_targets, find_targets, is_target, python_files};
pub use timeshift::{TimeshiftOutcome, TimeshiftRequest, timeshift};
pub use timing::Timings;
pub use trust::TrustedFolders;
pub use unreached::unreached_by_all;
pub use value::{Literal, python_text};
pub use wasmgc::{WasmgcModule, build_wasmgc, wasmgc_module, wasmgc_script};
pub use waves::Wave;
pub use web::{build_web, build_web_with_collector, web_folder, web_folder_with_collector};
