//! Artifacts of stages as text.

use camino::Utf8PathBuf;
use taipan_annotator::{RootSet, Roots, Spec};
use taipan_base::{Db, Diagnostic, Program};
use taipan_graph::text::{TextDialect, print_graph};
use taipan_graph::{Graph, ObjId, print_dot};
use taipan_interp::{Function, ObjData, Object};
use taipan_lltype::{FuncSym, LLGraph};

use crate::answers::{Question, remember};
use crate::compile::{find_function, typed, typer_failure};
use crate::names::lowlevel_names;
use crate::reach::reachable;
use crate::session::{
    compile_diagnostics, entry_roots, has_errors, import_diagnostics, load, placed,
};
use crate::stages::{self, GraphStage, LLFunction, root_sym};
use crate::timeshift::generated_text;
use crate::{Database, Failure, LoadOptions, Timings, guarded, native};

/// A stage whose artifact can be printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Bytecode.
    Bytecode,
    /// The flow graph.
    Flow,
    /// Annotations.
    Annotations,
    /// The RTyper's graph.
    Rtyped,
    /// The optimised graph.
    Optimized,
    /// After the exception transform.
    Exceptions,
    /// After the GC transform.
    Gc,
    /// Cranelift's intermediate form.
    Clif,
    /// Machine code.
    Asm,
    /// What is green and what is red if the function is a portal.
    Colors,
    /// The timeshifted graphs of such a portal.
    Timeshifted,
}

impl Stage {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Bytecode => "bytecode",
            Stage::Flow => "flow",
            Stage::Annotations => "annotations",
            Stage::Rtyped => "rtyped",
            Stage::Optimized => "optimized",
            Stage::Exceptions => "exceptions",
            Stage::Gc => "gc",
            Stage::Clif => "clif",
            Stage::Asm => "asm",
            Stage::Colors => "colors",
            Stage::Timeshifted => "timeshifted",
        }
    }
}

/// What to print.
#[derive(Clone, Debug)]
pub struct EmitRequest {
    /// The stage.
    pub stage: Stage,
    /// The module's file.
    pub file: Utf8PathBuf,
    /// The function; all functions of the program without one.
    pub func: Option<String>,
    /// Annotations of its arguments, where the program's call sites are not to give them.
    pub inputs: Option<String>,
    /// For Graphviz.
    pub dot: bool,
    /// Of annotations only that of the result.
    pub result_only: bool,
}

/// Prints the artifact of a stage.
pub fn emit(
    db: &Database,
    options: &LoadOptions,
    request: &EmitRequest,
    timings: &mut Timings,
) -> Result<String, Failure> {
    guarded(|| emit_stage(db, options, request, timings))?
}

fn emit_stage(
    db: &Database,
    options: &LoadOptions,
    request: &EmitRequest,
    timings: &mut Timings,
) -> Result<String, Failure> {
    let program = load(db, &request.file, options)?;
    let question = Question {
        what: "emit",
        program,
        options: &[&format!("{request:?}")],
    };
    remember(
        db,
        &question,
        |_| true,
        || stage_text(db, program, request, timings),
    )
}

fn stage_text(
    db: &Database,
    program: Program,
    request: &EmitRequest,
    timings: &mut Timings,
) -> Result<String, Failure> {
    if request.stage == Stage::Bytecode && request.func.is_none() {
        let file = db.files().get(db, program.target(db));
        return Ok(taipan_code::disassemble(
            db,
            taipan_code::module_code_id(db, file),
        ));
    }
    let func = match &request.func {
        Some(name) => Some(timings.phase("import", || find_function(db, program, name))?),
        None => {
            let found = timings.phase("import", || import_diagnostics(db, program));
            if has_errors(&found) {
                return Err(Failure::Diagnostics(found));
            }
            None
        }
    };
    match (request.stage, func) {
        (Stage::Bytecode, Some(func)) => bytecode(db, program, func),
        (Stage::Flow, Some(func)) => flow(db, program, func, request.dot),
        _ => {
            let roots = roots(db, program, func, request)?;
            match request.stage {
                Stage::Annotations | Stage::Flow => {
                    let found = timings.phase("annotate", || compile_diagnostics(db, roots));
                    if has_errors(&found) && request.stage == Stage::Annotations {
                        return Err(Failure::Diagnostics(found));
                    }
                    annotations(db, roots, func, request)
                }
                Stage::Colors | Stage::Timeshifted => generated(db, roots, func, request, timings),
                _ => lowlevel(db, roots, func, request, timings),
            }
        }
    }
}

fn roots(
    db: &Database,
    program: Program,
    func: Option<ObjId>,
    request: &EmitRequest,
) -> Result<Roots, Failure> {
    match (&request.inputs, func) {
        (Some(inputs), Some(func)) => {
            let args = taipan_annotator::parse_inputs(inputs)
                .map_err(|e| Failure::Usage(format!("--inputs: {e}")))?;
            Ok(Roots::new(
                db,
                program,
                RootSet::Call {
                    func,
                    args: args.into(),
                },
                false,
            ))
        }
        (Some(_), None) => Err(Failure::Usage("--inputs needs FILE.py:FUNC".to_owned())),
        (None, Some(func)) => entry_roots(db, program).or_else(|d| {
            // A function without arguments needs no call site.
            let function = taipan_interp::object(db, Object::new(db, program, func));
            match function.as_deref() {
                Some(ObjData::Function(f)) if taipan_code::code(db, f.code).argcount == 0 => {
                    let args = Vec::new().into();
                    Ok(Roots::new(db, program, RootSet::Call { func, args }, false))
                }
                _ => Err(d
                    .with_help("give the types of the arguments with --inputs")
                    .into()),
            }
        }),
        (None, None) => entry_roots(db, program).map_err(|d| placed(db, program, d).into()),
    }
}

fn bytecode(db: &Database, program: Program, func: ObjId) -> Result<String, Failure> {
    match taipan_interp::object(db, Object::new(db, program, func)).as_deref() {
        Some(ObjData::Function(f)) => Ok(taipan_code::disassemble(db, f.code)),
        _ => Err(Failure::Usage("not a function".to_owned())),
    }
}

fn flow(db: &Database, program: Program, func: ObjId, dot: bool) -> Result<String, Failure> {
    let function = Function::new(db, program, func);
    match &taipan_flow::flow_graph(db, function).graph {
        Ok(graph) => Ok(text(
            graph,
            taipan_flow::object_names(db, program, graph),
            dot,
        )),
        Err(_) => Err(Failure::Diagnostics(
            taipan_flow::flow_diagnostics(db, function).to_vec(),
        )),
    }
}

fn text<D: TextDialect>(graph: &Graph<D>, names: D::Names, dot: bool) -> String {
    if dot {
        print_dot(graph, names)
    } else {
        print_graph(graph, names)
    }
}

/// The specialisations of a function, or of all functions.
fn specs(db: &Database, roots: Roots, func: Option<ObjId>) -> Result<Vec<Spec>, Failure> {
    let all = taipan_annotator::specs_of(db, roots);
    let wanted: Vec<Spec> = all
        .iter()
        .copied()
        .filter(|s| func.is_none_or(|f| s.func(db) == f))
        .collect();
    if wanted.is_empty() {
        return Err(Failure::Usage(
            "the program never calls this function: give the types of its arguments with --inputs"
                .to_owned(),
        ));
    }
    Ok(wanted)
}

fn annotations(
    db: &Database,
    roots: Roots,
    func: Option<ObjId>,
    request: &EmitRequest,
) -> Result<String, Failure> {
    let mut out = String::new();
    for spec in specs(db, roots, func)? {
        let annotation = taipan_annotator::annotation(db, spec);
        if let Some(d) = &annotation.broken {
            return Err(Failure::from(Diagnostic::clone(d)));
        }
        let show = |s| taipan_annotator::annotation_text(db, roots, s);
        if request.result_only {
            return Ok(show(&annotation.signature.result));
        }
        let program = roots.program(db);
        let graph = &annotation.graph;
        out.push_str(&text(
            graph,
            taipan_flow::object_names(db, program, graph),
            request.dot,
        ));
        if request.dot || request.stage == Stage::Flow {
            continue;
        }
        for (i, v) in graph.vars.iter().enumerate() {
            let name = if v.name.is_empty() {
                format!("v{i}")
            } else {
                format!("{}_{i}", v.name)
            };
            out.push_str(&format!("    ; {name}: {}\n", show(&annotation.vars[i])));
        }
        out.push_str(&format!(
            "    ; returns {}\n\n",
            show(&annotation.signature.result)
        ));
    }
    Ok(out)
}

fn lowlevel(
    db: &Database,
    roots: Roots,
    func: Option<ObjId>,
    request: &EmitRequest,
    timings: &mut Timings,
) -> Result<String, Failure> {
    let root = typed(db, roots, timings)?;
    let syms = match func {
        None => {
            let stage = match request.stage {
                Stage::Rtyped => GraphStage::Rtyped,
                _ => GraphStage::Optimized,
            };
            debug_assert_eq!(root_sym(db, roots).as_ref().ok(), Some(&root));
            reachable(db, roots, stage, std::slice::from_ref(&root)).functions
        }
        Some(_) => specs(db, roots, func)?
            .into_iter()
            .map(|s| taipan_rtyper::func_sym_of(db, s).map_err(typer_failure))
            .collect::<Result<Vec<FuncSym>, _>>()?,
    };
    let mut out = String::new();
    for sym in syms {
        let key = LLFunction::new(db, roots, sym.clone());
        let graph = match request.stage {
            Stage::Rtyped => match stages::rtyped(db, roots, &sym) {
                Some(Err(d)) => return Err(d.into()),
                Some(Ok(g)) => Some(g),
                None => None,
            },
            Stage::Optimized => stages::optimized(db, key),
            Stage::Exceptions => stages::exceptions(db, key).map(|t| t.graph),
            _ => stages::gc(db, key).map(|t| t.graph),
        };
        let Some(graph) = graph else { continue };
        out.push_str(&match request.stage {
            Stage::Clif | Stage::Asm => {
                let asm = request.stage == Stage::Asm;
                native::code_text(db, roots, &sym, &graph, asm)
                    .map_err(|e| crate::compile::codegen_failure(&e))?
            }
            _ => print_lowlevel(db, roots, &graph, request.dot),
        });
        out.push('\n');
    }
    Ok(out)
}

/// The coloured or timeshifted graphs of a portal and of what it reaches.
fn generated(
    db: &Database,
    roots: Roots,
    func: Option<ObjId>,
    request: &EmitRequest,
    timings: &mut Timings,
) -> Result<String, Failure> {
    if func.is_none() {
        return Err(Failure::Usage(
            "which function is the portal? Give it as FILE.py:FUNC".to_owned(),
        ));
    }
    typed(db, roots, timings)?;
    let timeshifted = request.stage == Stage::Timeshifted;
    let mut out = String::new();
    for spec in specs(db, roots, func)? {
        let portal = taipan_rtyper::func_sym_of(db, spec).map_err(typer_failure)?;
        out.push_str(&generated_text(db, roots, &portal, timeshifted)?);
    }
    Ok(out)
}

fn print_lowlevel(db: &Database, roots: Roots, graph: &LLGraph, dot: bool) -> String {
    text(graph, lowlevel_names(db, roots.program(db), graph), dot)
}
