//! From a program to its low-level entry points.

use taipan_annotator::Roots;
use taipan_base::{Program, shown_path};
use taipan_graph::ObjId;
use taipan_lltype::FuncSym;

use crate::db::Database;
use crate::fault::Failure;
use crate::prefetch;
use crate::program::{compile_diagnostics, entry_roots, has_errors, import_diagnostics, placed};
use crate::stages::collectors::missing_links;
use crate::stages::lowlevel_errors::typer_failure;
use crate::stages::root_syms;
use crate::stages::whole::typing_diagnostics;
use crate::timing::Timings;

/// The function of that name in the target module.
pub(crate) fn find_function(db: &Database, program: Program, name: &str) -> Result<ObjId, Failure> {
    let found = import_diagnostics(db, program);
    if has_errors(&found) {
        return Err(Failure::Diagnostics(found));
    }
    // The module is fine: asking for what is not in it is the caller's mistake.
    taipan_interp::named_function(db, program, name)
        .clone()
        .map_err(|d| {
            let target = shown_path(db, program.target(db));
            let mut text = format!("{target}: {} [{}]", d.message, d.code);
            if let Some(help) = d.help {
                text += &format!("; {help}");
            }
            Failure::Usage(text)
        })
}

/// Annotates and rtypes everything that the roots reach; answers the root function.
pub(crate) fn typed(
    db: &Database,
    roots: Roots,
    timings: &mut Timings,
) -> Result<FuncSym, Failure> {
    let [root] = <[FuncSym; 1]>::try_from(typed_entries(db, roots, timings)?)
        .map_err(|all| Failure::Usage(format!("{} entry points instead of one", all.len())))?;
    Ok(root)
}

/// Annotates and rtypes everything that the roots reach; answers the functions that
/// they are.
pub fn typed_entries(
    db: &Database,
    roots: Roots,
    timings: &mut Timings,
) -> Result<Vec<FuncSym>, Failure> {
    let found = timings.phase("annotate", || compile_diagnostics(db, roots));
    if has_errors(&found) {
        return Err(Failure::Diagnostics(found));
    }
    timings.phase("rtype", || {
        let entries = root_syms(db, roots).map_err(typer_failure)?;
        let wrong = typing_diagnostics(db, roots);
        if wrong.is_empty() {
            Ok(entries)
        } else {
            Err(Failure::Diagnostics(wrong))
        }
    })
}

/// Types a program from its entry point on. Operations that its collector lacks are errors.
pub(crate) fn typed_program(
    db: &Database,
    program: Program,
    timings: &mut Timings,
) -> Result<(Roots, FuncSym), Failure> {
    timings.phase("parse", || prefetch::compile_files(db, program));
    let roots = timings.phase("import", || {
        let found = import_diagnostics(db, program);
        if has_errors(&found) {
            return Err(Failure::Diagnostics(found));
        }
        entry_roots(db, program).map_err(|d| placed(db, program, d).into())
    })?;
    timings.phase("flow", || prefetch::flow_graphs(db, roots));
    let root = typed(db, roots, timings)?;
    match missing_links(db, roots, std::slice::from_ref(&root)) {
        Some(missing) => Err(missing.into()),
        None => Ok((roots, root)),
    }
}
