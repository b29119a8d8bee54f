//! The machine that code is made for.

use std::sync::Arc;

use cranelift_codegen::isa::TargetIsa;
use cranelift_codegen::isa::{OwnedTargetIsa, lookup};
use cranelift_codegen::settings::{self, Configurable};
use taipan_codegen::CodegenError;
use taipan_language::Machine;
use target_lexicon::{Architecture, Triple};

/// How much work goes into the code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum OptLevel {
    /// Compiles fastest.
    None,
    /// The usual.
    #[default]
    Speed,
}

/// Cranelift set up for a machine. The features used are the same on all of its kind, so that
/// cached and built code is portable. Units need frame pointers for
/// their jumps; who lists code has to know where blocks start.
pub(crate) fn isa_for(
    machine: Machine,
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
        // It changes no code, and debuggers are told of it.
        ("unwind_info", "true"),
        ("enable_probestack", "false"),
        ("preserve_frame_pointers", yes_or_no(units)),
        ("machine_code_cfg_info", yes_or_no(blocks)),
    ] {
        flags.set(name, value).map_err(|e| error(&e))?;
    }
    let triple: Triple = (machine.rust_target().parse()).map_err(|e| error(&e))?;
    let mut builder = lookup(triple).map_err(|e| error(&e))?;
    if machine == Machine::X86_64 {
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

/// What code has to be like on a machine, where Cranelift leaves it to who uses it. All else in
/// [`crate::emit`] is the same for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Peculiarities {
    /// Data of the runtime may be further away than a distance in an instruction says: in the
    /// process of the compiler. Code for other machines is linked with the runtime.
    pub(crate) far_data: bool,
    /// C functions get and give numbers of 32 bits with their sign in the rest of the register,
    /// unsigned ones as well.
    pub(crate) widens_32_bits: bool,
    /// Cranelift has operations that tell whether a result has overflowed.
    pub(crate) overflow_operations: bool,
}

impl Peculiarities {
    pub(crate) fn of(isa: &dyn TargetIsa) -> Peculiarities {
        let architecture = isa.triple().architecture;
        let riscv = matches!(architecture, Architecture::Riscv64(_));
        Peculiarities {
            far_data: architecture == Triple::host().architecture,
            widens_32_bits: riscv,
            overflow_operations: !riscv,
        }
    }
}
