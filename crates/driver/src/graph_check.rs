//! Whether the graphs of a program are what the table of low-level operations says, at each stage.
//!
//! Passes look at their graphs themselves in tests, but cannot ask for the fields of classes there:
//! here they are looked at, too.

use camino::Utf8Path;
use taipan_lltype::{Program, check_operations};

use crate::LoadOptions;
use crate::db::Database;
use crate::fault::Failure;
use crate::program::load;
use crate::stages::reach::reachable;
use crate::stages::{GraphStage, StageProgram};
use crate::timing::Timings;
use crate::typed::typed_program;

/// What is wrong with the operations of a program's functions, by stage and function: nothing, or the
/// compiler has a fault.
///
/// # Errors
/// The program cannot be typed.
pub fn check_graphs(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
) -> Result<Vec<String>, Failure> {
    let program = load(db, target, options)?;
    let (roots, root) = typed_program(db, program, &mut Timings::default())?;
    let mut wrong = Vec::new();
    for stage in [
        GraphStage::Rtyped,
        GraphStage::Simplified,
        GraphStage::Optimized,
        GraphStage::Gc,
    ] {
        // What is reached when it is optimised is all that there is behind that.
        let reached = match stage {
            GraphStage::Rtyped | GraphStage::Simplified => GraphStage::Simplified,
            _ => GraphStage::Optimized,
        };
        let program = StageProgram::new(db, roots, stage);
        for f in reachable(db, roots, reached, std::slice::from_ref(&root)).functions {
            let Some(graph) = program.graph(&f) else {
                continue;
            };
            let found = check_operations(&graph, &|s| Some(program.body(s)));
            wrong.extend(found.iter().map(|w| format!("{stage:?} {}: {w}", f.name())));
        }
    }
    Ok(wrong)
}
