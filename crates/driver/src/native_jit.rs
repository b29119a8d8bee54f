//! Programs whose loops are compiled while they run.

use taipan_annotator::Roots;
use taipan_codegen::{CodegenError, Image, SymbolRef};
use taipan_codegen_cranelift::LoadedImage;
use taipan_jit::engine::{DriverCompiler, Drivers};
use taipan_jit_native::{CallEffects, JitTables, NativeJit, Options, Tabled, roots};
use taipan_lltype::{FuncKind, FuncSym, LLGraph};
use taipan_transform::Effects;

use crate::compile::{JitOptions, JitReport, codegen_failure, compile_entries};
use crate::drivers::jit_drivers;
use crate::native::{ImageUse, image_with};
use crate::stages::{GraphStage, LLFunction, StageProgram, function_effects};
use crate::timeshift::counts_json;
use crate::{Database, Failure, Timings};

/// A program with what is needed to compile its loops.
pub(crate) struct JitProgramImage {
    /// Code and data.
    pub(crate) image: Image,
    /// What compiled loops may refer to.
    pub(crate) symbols: Vec<SymbolRef>,
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
        image_with(db, all, std::slice::from_ref(root), usage, symbols.clone())
            .map_err(|e| codegen_failure(&e))
    })?;
    Ok(JitProgramImage {
        image,
        symbols,
        tables,
    })
}

/// Loads such a program into this process and runs something in it.
pub(crate) fn with_native_jit<T>(
    program: JitProgramImage,
    options: &JitOptions,
    print: impl Fn(&LLGraph) -> String,
    timings: &mut Timings,
    run: impl FnOnce(&LoadedImage) -> Result<T, CodegenError>,
) -> Result<T, Failure> {
    let image = timings
        .phase("load", || LoadedImage::new(program.image))
        .map_err(|e| codegen_failure(&e))?;
    let infos = program.tables.drivers.clone();
    let _ = options.drivers.set(infos.len());
    let tabled = Tabled::new(program.tables);
    let mut compiler = DriverCompiler::new(&tabled);
    if let Some(most) = options.most_blocks {
        compiler = compiler.with_bound(most);
    }
    let portals = Drivers {
        compiler,
        infos,
        splits: options.splits,
    };
    let usual = Options::default();
    let choices = Options {
        threshold: options.threshold,
        most_code: options.most_code.unwrap_or(usual.most_code),
        largest_unit: options.largest_unit.unwrap_or(usual.largest_unit),
        ..usual
    };
    timings.phase("execute", || {
        // Without memory for code the program runs as it is.
        let Ok(jit) = NativeJit::new(&portals, &tabled, &tabled, &image, choices) else {
            return run(&image).map_err(|e| codegen_failure(&e));
        };
        let result = jit.run(|| run(&image));
        if let Some(report) = &options.report {
            let graphs = jit.residual_graphs();
            let counts = jit.counts();
            *report.lock().unwrap_or_else(|e| e.into_inner()) = JitReport {
                functions: graphs.len(),
                counts: counts_json(&counts.residual),
                code_bytes: counts.bytes,
                units: counts.units + counts.hot,
                refused: jit.refused(),
                graphs: graphs.iter().map(print).collect(),
            };
        }
        result.map_err(|e| codegen_failure(&e))
    })
}
