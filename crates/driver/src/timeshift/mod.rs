//! `taipan timeshift`: specialises a function and runs the residual code.

mod native;

use std::rc::Rc;

use camino::Utf8PathBuf;
use serde_json::Value;
use taipan_annotator::{RootSet, Roots};
use taipan_base::{Diagnostic, ErrorCode, Program as ProgramInput};
use taipan_jit::llgraph::{Jit, WithJit};
use taipan_jit::{Generator, Policy, Splits};
use taipan_llinterp::{LLError, LLInterpreter};
use taipan_lltype::{FuncKind, FuncSym};
use taipan_picture::Picture;

use crate::LoadOptions;
use crate::db::Database;
use crate::engine::Engine;
use crate::fault::{Failure, guarded};
use crate::function::LLFunction;
use crate::names::lowlevel_names;
use crate::program::load;
use crate::show::{Known, add_graph};
use crate::stages::reach::reachable;
use crate::stages::{GraphStage, JitPasses, StageProgram, lowlevel_errors};
use crate::timing::Timings;
use crate::typed::{find_function, typed};
use crate::value::{Literal, counts_json, lowlevel_args, short_name, to_json};
use native::native;

/// What to specialise.
#[derive(Clone, Debug)]
pub struct TimeshiftRequest {
    /// The module's file.
    pub file: Utf8PathBuf,
    /// The function that is called.
    pub func: String,
    /// Its arguments.
    pub args: Vec<Literal>,
    /// Positions of arguments that are constants.
    pub is_static: Vec<usize>,
    /// The function that is specialised, if it is another one that `func` reaches.
    pub portal: Option<String>,
    /// Which calls are followed.
    pub policy: Policy,
    /// What executes residual code, and the rest of the program.
    pub engine: Engine,
    /// When the sides of branches are compiled.
    pub splits: Splits,
    /// The size up to which functions are inlined first.
    pub inline: Option<u32>,
    /// Whether the graphs are optimised first.
    pub optimize: bool,
}

/// How residual code ended, and what it consists of.
#[derive(Clone, PartialEq, Debug)]
pub struct TimeshiftOutcome {
    /// What came out, or the name of the exception class.
    pub result: Result<Value, String>,
    /// `residual`, `oops`, `flexswitches` and `blocks`.
    pub counts: Value,
}

/// Specialises a function and runs the residual code on the arguments that are left.
pub fn timeshift(
    db: &Database,
    options: &LoadOptions,
    request: &TimeshiftRequest,
    timings: &mut Timings,
) -> Result<TimeshiftOutcome, Failure> {
    guarded(|| {
        let program = load(db, &request.file, options)?;
        let (roots, root) = typed_call(db, program, request, timings)?;
        let portal = match &request.portal {
            Some(name) => portal_named(db, program, roots, &root, name)?,
            None => root.clone(),
        };
        let stage = match (request.inline, request.optimize) {
            (None, false) => GraphStage::Jit,
            (inline, optimize) => GraphStage::JitOptimized(JitPasses {
                inline,
                optimize,
                portal: LLFunction::new(db, roots, portal.clone()),
            }),
        };
        let hinted = StageProgram::new(db, roots, stage);
        let policy = request.policy.clone();
        let generator = timings
            .phase("timeshift", || Generator::new(&hinted, &portal, policy))
            .map_err(|e| lowlevel_errors::hint(db, roots, &e))?;
        match request.engine {
            Engine::LLInterp => {
                timings.phase("execute", || execute(&hinted, &generator, &root, request))
            }
            Engine::C => Err(Failure::Usage(
                "timeshifted code is made by Cranelift, not by way of C".to_owned(),
            )),
            Engine::Ootype => Err(Failure::Usage(
                "residual code is on low-level types: use the engine `llinterp` or `native`"
                    .to_owned(),
            )),
            Engine::Python => Err(Failure::Usage(
                "Python does not run residual code: use the engine `llinterp` or `native`"
                    .to_owned(),
            )),
            Engine::Native => native(db, &hinted, &generator, &root, request, timings),
        }
    })?
}

/// The coloured or the timeshifted graphs of what a function reaches.
pub(crate) fn generated_text(
    db: &Database,
    roots: Roots,
    portal: &FuncSym,
    timeshifted: bool,
) -> Result<String, Failure> {
    let hinted = StageProgram::new(db, roots, GraphStage::Jit);
    let generator = Generator::new(&hinted, portal, Policy::default())
        .map_err(|e| lowlevel_errors::hint(db, roots, &e))?;
    Ok(if timeshifted {
        generator.timeshifted_text()
    } else {
        generator.colors_text()
    })
}

/// Adds the coloured graphs of what a function reaches to a picture.
pub(crate) fn generated_picture(
    db: &Database,
    roots: Roots,
    portal: &FuncSym,
    picture: &mut Picture,
) -> Result<(), Failure> {
    let hinted = StageProgram::new(db, roots, GraphStage::Jit);
    let generator = Generator::new(&hinted, portal, Policy::default())
        .map_err(|e| lowlevel_errors::hint(db, roots, &e))?;
    for (graph, green) in generator.colored_graphs() {
        let color = |v| match (graph.ty(v).is_void(), green(v)) {
            (true, _) => "",
            (false, true) => "green",
            (false, false) => "red",
        };
        let known = Known {
            title: &|v| match color(v) {
                "" => None,
                color => Some(format!("{color}, {}", graph.ty(v))),
            },
            class: &color,
            line: &|_| None,
        };
        add_graph(
            picture,
            graph,
            lowlevel_names(db, roots.program(db), graph),
            &known,
        );
    }
    Ok(())
}

fn typed_call(
    db: &Database,
    program: ProgramInput,
    request: &TimeshiftRequest,
    timings: &mut Timings,
) -> Result<(Roots, FuncSym), Failure> {
    let func = timings.phase("import", || find_function(db, program, &request.func))?;
    let types = request.args.iter().map(Literal::argument_type);
    let args: Vec<_> = types.collect::<Result<_, _>>().map_err(Failure::Usage)?;
    let set = RootSet::Call {
        func,
        args: args.into(),
    };
    let roots = Roots::new(db, program, set, false);
    let root = typed(db, roots, timings)?;
    Ok((roots, root))
}

/// Whether a qualified name ends in that one: `f`, or `Class.method`.
fn is_named(qualified: &str, name: &str) -> bool {
    qualified
        .strip_suffix(name)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// The function of that name, or the one that the module has under it, as one that another
/// function returned.
fn portal_named(
    db: &Database,
    program: ProgramInput,
    roots: Roots,
    root: &FuncSym,
    name: &str,
) -> Result<FuncSym, Failure> {
    let all = reachable(db, roots, GraphStage::Rtyped, std::slice::from_ref(root)).functions;
    let global = taipan_interp::named_function(db, program, name)
        .clone()
        .ok();
    let is_global =
        |f: &FuncSym| matches!(f.kind(), FuncKind::User { func, .. } if Some(*func) == global);
    let mut named = (all.into_iter()).filter(|f| is_named(f.name(), name) || is_global(f));
    match (named.next(), named.next()) {
        (Some(f), None) => Ok(f),
        (None, _) => Err(Failure::Usage(format!(
            "{} does not reach a function {name}",
            root.name()
        ))),
        _ => Err(Failure::Usage(format!(
            "{} reaches several functions {name}",
            root.name()
        ))),
    }
}

fn execute(
    hinted: &StageProgram<'_>,
    generator: &Generator<'_>,
    root: &FuncSym,
    request: &TimeshiftRequest,
) -> Result<TimeshiftOutcome, Failure> {
    let program = WithJit::new(hinted, generator.portal());
    let mut interpreter = LLInterpreter::new(&program);
    interpreter.fuel = Some(crate::value::CALL_FUEL);
    let args = lowlevel_args(&mut interpreter.heap, root, &request.args).map_err(Failure::Usage)?;
    let jit = Rc::new(Jit::new(
        generator,
        &program,
        &request.is_static,
        request.splits,
    ));
    interpreter.hook = Some(jit.clone());
    let result = match interpreter.eval(root, args) {
        Ok(v) => Ok(
            to_json(&mut interpreter.heap, v, root.ty().result).map_err(|e| {
                Failure::from(Diagnostic::error(
                    ErrorCode::UnreadableResult,
                    None,
                    e.to_string(),
                ))
            })?,
        ),
        Err(LLError::Raised(e)) => Err(short_name(&e.name).to_owned()),
        Err(e) => {
            let (db, roots) = (hinted.db, hinted.roots());
            return Err(match (jit.failure(), jit.fault(), e) {
                (Some(why), ..) => lowlevel_errors::gave_up(db, roots, &why),
                (None, Some(f), _) | (None, None, LLError::Fault(f)) => {
                    lowlevel_errors::fault(db, roots, &f)
                }
                (None, None, e) => {
                    Diagnostic::error(ErrorCode::UnreadableResult, None, e.to_string())
                }
            }
            .into());
        }
    };
    Ok(TimeshiftOutcome {
        result,
        counts: counts_json(&jit.counts()),
    })
}
