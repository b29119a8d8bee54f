//! Programs whose loops are compiled while they run.

use std::sync::{Arc, Mutex, OnceLock};

use serde_json::Value;
use taipan_annotator::Roots;
use taipan_codegen::{CodegenError, Image, SymbolRef};
use taipan_codegen_cranelift::LoadedImage;
use taipan_jit::Splits;
use taipan_jit_file::{Choices, with_compiler};
use taipan_jit_native::{CallEffects, JitTables, MakeTables, NativeJit, Options, Tabled, roots};
use taipan_lltype::{FuncKind, FuncSym, LLGraph};
use taipan_transform::Effects;

use crate::db::Database;
use crate::fault::Failure;
use crate::function::LLFunction;
use crate::stages::drivers::jit_drivers;
use crate::stages::linked::{compile_entries, optimize_all};
use crate::stages::lowlevel_errors::codegen_failure;
use crate::stages::native::{ImageUse, image_with};
use crate::stages::{GraphStage, StageProgram, function_effects};
use crate::timing::Timings;
use crate::value::counts_json;

/// How a just-in-time compiler compiles the loops of interpreters.
#[derive(Clone, Debug, Default)]
pub struct JitOptions {
    /// When the sides of branches are compiled.
    pub splits: Splits,
    /// How often code comes by before it is compiled, whatever the program says.
    pub threshold: Option<i64>,
    /// How many blocks a residual function has before what comes is left to others.
    pub most_blocks: Option<usize>,
    /// How many bytes of machine code there are before nothing is added any more.
    pub most_code: Option<usize>,
    /// How many bytes of machine code are compiled at once before it is done in pieces.
    pub largest_unit: Option<usize>,
    /// Regions are optimised on a second thread.
    pub background: bool,
    /// Where to say what was compiled.
    pub report: Option<Arc<Mutex<JitReport>>>,
    /// Where to say how many drivers the program has.
    pub drivers: Arc<OnceLock<usize>>,
}

/// What a just-in-time compiler made.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct JitReport {
    /// How many residual functions there are.
    pub functions: usize,
    /// What they consist of: `residual`, `oops`, `flexswitches` and `blocks`.
    pub counts: Value,
    /// How many bytes of machine code there are.
    pub code_bytes: usize,
    /// How many pieces of machine code there are.
    pub units: usize,
    /// How many of them were compiled with optimisations.
    pub optimised: usize,
    /// Why loops stay interpreted.
    pub refused: Vec<String>,
    /// The residual functions as text.
    pub graphs: Vec<String>,
}

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
    // The tables need what calls may do in optimised code: on one thread, if they came first.
    optimize_all(db, all, timings);
    let hinted = StageProgram::new(db, all, GraphStage::Jit);
    let effects = NativeEffects { db, roots: all };
    let (tables, references) = timings.phase("timeshift", || {
        JitTables::new(&hinted, &effects, drivers.to_vec())
    });
    let symbols = roots(&references, &hinted);
    // What compiled loops call may be called nowhere else.
    let more = symbols.iter().filter_map(|s| match s {
        SymbolRef::Func(f) if !matches!(f.kind(), FuncKind::External { .. }) => Some(f.clone()),
        _ => None,
    });
    compile_entries(db, all, &more.collect::<Vec<_>>(), timings);
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
    let _ = options.drivers.set(program.tables.drivers.len());
    let background = options.background.then(|| {
        let tables = program.tables.clone();
        let make: MakeTables = Arc::new(move || Tabled::new(tables.clone()));
        make
    });
    let tabled = Tabled::new(program.tables);
    let usual = Options::default();
    let choices = Choices {
        splits: options.splits,
        most_blocks: options.most_blocks,
        options: Options {
            threshold: options.threshold,
            most_code: options.most_code.unwrap_or(usual.most_code),
            largest_unit: options.largest_unit.unwrap_or(usual.largest_unit),
            ..usual
        },
    };
    let execute = |jit: Option<&NativeJit<'_>>| {
        // Without memory for code the program runs as it is.
        let Some(jit) = jit else {
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
                optimised: counts.hot,
                refused: jit.refused(),
                graphs: graphs.iter().map(print).collect(),
            };
        }
        result.map_err(|e| codegen_failure(&e))
    };
    timings.phase("execute", || {
        with_compiler(&tabled, &image, choices, background, execute)
    })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Arc;

    use taipan_base::MemorySystem;
    use taipan_codegen_cranelift::{LoadedImage, run_program};
    use taipan_jit::engine::{DriverCompiler, Drivers, Entered, Portals, Reds, ResidualFunction};
    use taipan_jit::{Splits, Word, World};
    use taipan_jit_native::{NativeJit, Options, Tabled};

    use super::jit_image;
    use crate::program::load;
    use crate::stages::native::ImageUse;
    use crate::typed::typed_program;
    use crate::{Database, LoadOptions, Timings};

    const SOURCE: &str = "
from rpython.rlib import jit
driver = jit.JitDriver(greens=['step'], reds=['n', 'total'])
def add(step, n):
    total = 0
    while n > 0:
        driver.jit_merge_point(step=step, n=n, total=total)
        total += step
        n -= 1
    return total
def entry_point(argv):
    return add(1, 5) + add(2, 5) + add(3, 9)
def target(driver, args):
    return entry_point, None
";

    /// A compiler that has an error.
    struct Broken<'p> {
        drivers: Drivers<'p>,
        asked: Cell<usize>,
    }

    impl<'p> Portals<'p> for Broken<'p> {
        fn drivers(&self) -> Vec<Entered> {
            self.drivers.drivers()
        }

        fn compile(
            &self,
            _: usize,
            _: usize,
            _: &[Word],
            _: Reds<'_>,
            _: &mut dyn World,
        ) -> Result<ResidualFunction<'p>, taipan_jit::Failure> {
            self.asked.set(self.asked.get() + 1);
            panic!("on purpose");
        }
    }

    #[test]
    fn an_error_of_the_compiler_leaves_loops_to_the_interpreter() {
        let system = MemorySystem::new(taipan_prelude::SHIPPED);
        system.write("/main.py", SOURCE);
        let mut db = Database::new(Arc::new(system));
        db.generate_jit(true);
        let timings = &mut Timings::default();
        let program = load(&db, "/main.py".into(), &LoadOptions::default());
        let (roots, root) = match program.map(|p| typed_program(&db, p, timings)) {
            Ok(Ok(typed)) => typed,
            _ => panic!("the program is well-typed"),
        };
        let Ok(made) = jit_image(&db, roots, &root, ImageUse::Run, timings) else {
            panic!("the program can be compiled");
        };
        let image = LoadedImage::new(made.image).expect("an image");
        let infos = made.tables.drivers.clone();
        let tabled = Tabled::new(made.tables);
        let portals = Broken {
            drivers: Drivers {
                compiler: DriverCompiler::new(&tabled),
                infos,
                splits: Splits::Lazy,
            },
            asked: Cell::new(0),
        };
        let options = Options {
            threshold: Some(2),
            ..Options::default()
        };
        let jit = NativeJit::new(&portals, &tabled, &tabled, &image, options).expect("memory");
        let code = jit.run(|| run_program(&image, &[b"main".to_vec()]));
        assert_eq!(code.ok(), Some(5 + 10 + 27));
        assert_eq!(jit.refused(), ["internal error: on purpose"]);
        // Nothing else is compiled.
        assert_eq!(portals.asked.get(), 1);
    }
}
