//! Programs whose loops are compiled while they run.

use taipan_annotator::Roots;
use taipan_codegen::{Image, SymbolRef};
use taipan_codegen_cranelift::{LoadedImage, run_program};
use taipan_jit::engine::{DriverCompiler, Drivers};
use taipan_jit_native::{CallEffects, JitTables, NativeJit, Options, Tabled, roots};
use taipan_lltype::{FuncKind, FuncSym};
use taipan_transform::Effects;

use crate::compile::{JitOptions, codegen_failure, compile_entries};
use crate::drivers::jit_drivers;
use crate::native::{ImageUse, image_with};
use crate::stages::{GraphStage, LLFunction, StageProgram, function_effects};
use crate::{Database, Failure, Timings};

/// A program with what is needed to compile its loops.
pub(crate) struct JitProgramImage {
    /// Code and data.
    pub(crate) image: Image,
    /// What is known of it.
    pub(crate) tables: JitTables,
}

/// What calls may do in code as it is run.
struct NativeEffects<'a> {
    db: &'a Database,
    roots: Roots,
}

impl CallEffects for NativeEffects<'_> {
    fn effects(&self, f: &FuncSym) -> Effects {
        function_effects(self.db, LLFunction::new(self.db, self.roots, f.clone()))
    }
}

/// Compiles a program that is entered by a function, and what its loops may become.
pub(crate) fn jit_image(
    db: &Database,
    all: Roots,
    root: &FuncSym,
    usage: ImageUse,
    timings: &mut Timings,
) -> Result<JitProgramImage, Failure> {
    let drivers = jit_drivers(db, all).map_err(Failure::from)?;
    let hinted = StageProgram::new(db, all, GraphStage::Jit);
    let effects = NativeEffects { db, roots: all };
    let (tables, references) = timings.phase("timeshift", || {
        JitTables::new(&hinted, &effects, drivers.to_vec())
    });
    let symbols = roots(&references, &hinted);
    let mut entries = vec![root.clone()];
    entries.extend(symbols.iter().filter_map(|s| match s {
        SymbolRef::Func(f) if !matches!(f.kind(), FuncKind::External { .. }) => Some(f.clone()),
        _ => None,
    }));
    compile_entries(db, all, &entries, timings);
    let image = timings.phase("link", || {
        image_with(db, all, std::slice::from_ref(root), usage, symbols)
            .map_err(|e| codegen_failure(&e))
    })?;
    Ok(JitProgramImage { image, tables })
}

/// Runs such a program in this process.
pub(crate) fn run_with_jit(
    program: JitProgramImage,
    jit: &JitOptions,
    argv: &[Vec<u8>],
    timings: &mut Timings,
) -> Result<i32, Failure> {
    let image = timings
        .phase("load", || LoadedImage::new(program.image))
        .map_err(|e| codegen_failure(&e))?;
    let infos = program.tables.drivers.clone();
    let tabled = Tabled::new(program.tables);
    let portals = Drivers {
        compiler: DriverCompiler::new(&tabled),
        infos,
        splits: jit.splits,
    };
    let options = Options {
        threshold: jit.threshold,
        ..Options::default()
    };
    timings
        .phase("execute", || {
            // Without memory for code the program runs as it is.
            match NativeJit::new(&portals, &tabled, &tabled, &image, options) {
                Ok(jit) => jit.run(|| run_program(&image, argv)),
                Err(_) => run_program(&image, argv),
            }
        })
        .map_err(|e| codegen_failure(&e))
}
