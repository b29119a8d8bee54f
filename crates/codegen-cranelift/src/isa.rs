//! The machine that code is made for.

use std::sync::Arc;

use cranelift_codegen::isa::{OwnedTargetIsa, lookup};
use cranelift_codegen::settings::{self, Configurable};
use taipan_codegen::CodegenError;
use target_lexicon::Triple;

/// How much work goes into the code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum OptLevel {
    /// Compiles fastest.
    None,
    /// The usual.
    #[default]
    Speed,
}

/// Cranelift set up for the host's architecture. The features used are the same on
/// every machine, so that cached and built code is portable. Units need frame pointers for
/// their jumps; who lists code has to know where blocks start.
pub(crate) fn host_isa(
    level: OptLevel,
    units: bool,
    blocks: bool,
) -> Result<OwnedTargetIsa, CodegenError> {
    let yes_or_no = |is: bool| if is { "true" } else { "false" };
    let error = |e: &dyn std::fmt::Display| CodegenError::new("machine", e.to_string());
    let mut flags = settings::builder();
    // Code of units that is made for speed of compilation is run a few hundred times.
    let registers = match (level, units) {
        (OptLevel::None, true) => "single_pass",
        _ => "backtracking",
    };
    let level = match level {
        OptLevel::None => "none",
        OptLevel::Speed => "speed",
    };
    for (name, value) in [
        ("opt_level", level),
        ("regalloc_algorithm", registers),
        // Code and data of an image are within reach of each other; what is elsewhere
        // is called by way of stubs.
        ("is_pic", "false"),
        ("enable_verifier", yes_or_no(cfg!(debug_assertions))),
        // 128-bit integers in signatures, as the C compiler passes them.
        ("enable_llvm_abi_extensions", "true"),
        ("unwind_info", "false"),
        ("enable_probestack", "false"),
        ("preserve_frame_pointers", yes_or_no(units)),
        ("machine_code_cfg_info", yes_or_no(blocks)),
    ] {
        flags.set(name, value).map_err(|e| error(&e))?;
    }
    let mut builder = lookup(Triple::host()).map_err(|e| error(&e))?;
    if cfg!(target_arch = "x86_64") {
        for feature in [
            "has_sse3",
            "has_ssse3",
            "has_sse41",
            "has_sse42",
            "has_popcnt",
        ] {
            builder.enable(feature).map_err(|e| error(&e))?;
        }
    }
    builder
        .finish(settings::Flags::new(flags))
        .map_err(|e| error(&e))
}

/// A target shared by the compilers of several threads.
pub(crate) type SharedIsa = Arc<dyn cranelift_codegen::isa::TargetIsa>;
