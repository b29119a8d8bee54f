//! Artifacts of stages as text.

use camino::Utf8PathBuf;
use rustc_hash::FxHashMap;
use taipan_annotator::{RootSet, Roots, Spec};
use taipan_base::{Db, Diagnostic, Program};
use taipan_codegen::CodegenError;
use taipan_codegen_wasmgc::Linked;
use taipan_graph::text::{GraphText, TextDialect};
use taipan_graph::{Graph, ObjId, VarId, print_dot};
use taipan_interp::{Function, ObjData, Object};
use taipan_lltype::{CodePlace, FuncSym, LLGraph};
use taipan_picture::Picture;

use crate::LoadOptions;
use crate::db::Database;
use crate::fault::{Failure, guarded};
use crate::function::LLFunction;
use crate::names::lowlevel_names;
use crate::program::{
    compile_diagnostics, entry_roots, has_errors, import_diagnostics, load, placed,
};
use crate::result_cache::{Question, remember};
use crate::show::{Known, Places, User, add_graph, drawn, user_of};
use crate::stages;
use crate::stages::c::{c_code, places_of};
use crate::stages::llvm::{function_module, modules};
use crate::stages::lowlevel_errors::{codegen_failure, typer_failure};
use crate::stages::reach::reachable;
use crate::stages::{GraphStage, native, root_sym};
use crate::timeshift::{generated_picture, generated_text};
use crate::timing::Timings;
use crate::typed::{find_function, typed};
use crate::wasmgc::{function_alone, object_graph};

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
    /// On object-oriented types, after the exception transform.
    Oo,
    /// After the GC transform.
    Gc,
    /// The text of WebAssembly with the host's collector.
    Wat,
    /// As C.
    C,
    /// Cranelift's intermediate form.
    Clif,
    /// Machine code.
    Asm,
    /// Python.
    Python,
    /// LLVM's text.
    Llvm,
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
            Stage::Oo => "oo",
            Stage::Gc => "gc",
            Stage::Wat => "wat",
            Stage::C => "c",
            Stage::Clif => "clif",
            Stage::Asm => "asm",
            Stage::Python => "python",
            Stage::Llvm => "llvm",
            Stage::Colors => "colors",
            Stage::Timeshifted => "timeshifted",
        }
    }
}

/// How an artifact is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EmitForm {
    /// For people.
    #[default]
    Text,
    /// For people, with the lines of the source that code comes from.
    Lines,
    /// For Graphviz.
    Dot,
    /// As a picture.
    Svg,
    /// Of annotations only that of the result.
    Result,
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
    /// How it is printed.
    pub form: EmitForm,
    /// Programs that may use the function, where its own file is none: it is shown as the
    /// first one uses it that does.
    pub targets: Vec<Utf8PathBuf>,
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
    let graphs = !matches!(
        request.stage,
        Stage::Bytecode
            | Stage::Clif
            | Stage::Asm
            | Stage::Python
            | Stage::Llvm
            | Stage::Wat
            | Stage::Timeshifted
    );
    if matches!(request.form, EmitForm::Svg | EmitForm::Dot) && !graphs {
        return Err(Failure::Usage(format!(
            "there is no graph of stage {}: it is text only",
            request.stage.name()
        )));
    }
    let (program, user) = loaded(db, options, request, timings)?;
    let question = Question {
        what: "emit",
        program,
        options: &[&format!("{request:?}")],
        extent: false,
    };
    remember(
        db,
        &question,
        |_| true,
        || stage_text(db, program, user, request, timings),
    )
}

/// The program of a request, and the function in it where another program than the function's file uses it.
fn loaded(
    db: &Database,
    options: &LoadOptions,
    request: &EmitRequest,
    timings: &mut Timings,
) -> Result<(Program, Option<User>), Failure> {
    let own = load(db, &request.file, options)?;
    let user = match (&request.func, &request.inputs) {
        (Some(name), None) => {
            let targets = request.targets.iter();
            let targets: Vec<Program> = targets.filter_map(|t| load(db, t, options).ok()).collect();
            timings.phase("import", || user_of(db, own, name, &targets))
        }
        _ => None,
    };
    Ok((user.map_or(own, |u| u.program), user))
}

/// The function of a request as it is called: by the inputs, else as it is called first in the program. Fails if the
/// program is wrong.
pub(crate) fn called(
    db: &Database,
    options: &LoadOptions,
    request: &EmitRequest,
    timings: &mut Timings,
) -> Result<(Roots, Spec), Failure> {
    let (program, user) = loaded(db, options, request, timings)?;
    let name = request.func.as_deref().unwrap_or_default();
    let func = match user {
        Some(user) => user.func,
        None => timings.phase("import", || find_function(db, program, name))?,
    };
    let roots = roots(db, program, Some(func), request)?;
    let found = timings.phase("annotate", || compile_diagnostics(db, roots));
    if has_errors(&found) {
        return Err(Failure::Diagnostics(found));
    }
    let specs = specs(db, roots, Some(func))?;
    Ok((roots, specs[0]))
}

fn stage_text(
    db: &Database,
    program: Program,
    user: Option<User>,
    request: &EmitRequest,
    timings: &mut Timings,
) -> Result<String, Failure> {
    let mut out = Output::new(db, program, request.form);
    if request.stage == Stage::Bytecode && request.func.is_none() {
        let file = db.files().get(db, program.target(db));
        out.bytecode(taipan_code::module_code_id(db, file));
        return out.finish();
    }
    let func = match (&request.func, user) {
        (Some(_), Some(user)) => Some(user.func),
        (Some(name), None) => Some(timings.phase("import", || find_function(db, program, name))?),
        (None, _) => {
            let found = timings.phase("import", || import_diagnostics(db, program));
            if has_errors(&found) {
                return Err(Failure::Diagnostics(found));
            }
            None
        }
    };
    match (request.stage, func) {
        (Stage::Bytecode, Some(func)) => {
            match taipan_interp::object(db, Object::new(db, program, func)).as_deref() {
                Some(ObjData::Function(f)) => out.bytecode(f.code),
                _ => return Err(Failure::Usage("not a function".to_owned())),
            }
        }
        (Stage::Flow, Some(func)) => flow(&mut out, func)?,
        _ => {
            let roots = roots(db, program, func, request)?;
            match request.stage {
                Stage::Annotations | Stage::Flow => {
                    let found = timings.phase("annotate", || compile_diagnostics(db, roots));
                    if has_errors(&found) && request.stage == Stage::Annotations {
                        return Err(Failure::Diagnostics(found));
                    }
                    annotations(&mut out, roots, func, request.stage)?;
                }
                Stage::Colors | Stage::Timeshifted => {
                    generated(&mut out, roots, func, request, timings)?;
                }
                _ => lowlevel(&mut out, roots, func, request, timings)?,
            }
        }
    }
    out.finish()
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
                    .with_help(
                        "give the types of the arguments with --inputs, or name a program that \
                         calls the function among the targets of [tool.taipan] in pyproject.toml",
                    )
                    .into()),
            }
        }),
        (None, None) => entry_roots(db, program).map_err(|d| placed(db, program, d).into()),
    }
}

/// What is printed, graph by graph.
struct Output<'a> {
    db: &'a Database,
    program: Program,
    form: EmitForm,
    text: String,
    picture: Picture,
}

impl<'a> Output<'a> {
    fn new(db: &'a Database, program: Program, form: EmitForm) -> Self {
        Output {
            db,
            program,
            form,
            text: String::new(),
            picture: Picture::default(),
        }
    }

    fn finish(self) -> Result<String, Failure> {
        match self.form {
            EmitForm::Svg => drawn(&self.picture),
            _ => Ok(self.text),
        }
    }

    fn bytecode(&mut self, code: taipan_code::CodeId) {
        let places = self.places(|o| Places::of_code(o.db, o.program.target(o.db), code));
        self.text
            .push_str(&taipan_code::disassemble_with(self.db, code, &|at| {
                places.as_ref()?.comment(at)
            }));
    }

    /// Where things are in the source, if that is wanted.
    fn places(&self, find: impl FnOnce(&Self) -> Option<Places>) -> Option<Places> {
        match self.form {
            EmitForm::Lines | EmitForm::Svg => find(self),
            _ => None,
        }
    }

    fn graph<D: TextDialect>(
        &mut self,
        graph: &Graph<D>,
        names: D::Names,
        places: Option<&Places>,
        title: &dyn Fn(VarId) -> Option<String>,
    ) {
        match self.form {
            EmitForm::Dot => self.text.push_str(&print_dot(graph, names)),
            EmitForm::Svg => add_graph(
                &mut self.picture,
                graph,
                names,
                &Known {
                    title,
                    class: &|_| "",
                    line: &|at| places?.line(at),
                },
            ),
            _ => {
                let text = GraphText::new(graph, names);
                let text = match places {
                    Some(places) => text.with_places(|at| places.comment(at)),
                    None => text,
                };
                self.text.push_str(&text.to_string());
            }
        }
    }

    /// What stands between graphs, and is no part of pictures.
    fn say(&mut self, text: &str) {
        if matches!(self.form, EmitForm::Text | EmitForm::Lines) {
            self.text.push_str(text);
        }
    }
}

fn flow(out: &mut Output<'_>, func: ObjId) -> Result<(), Failure> {
    let (db, program) = (out.db, out.program);
    let function = Function::new(db, program, func);
    match &taipan_flow::flow_graph(db, function).graph {
        Ok(graph) => {
            let places = out.places(|_| {
                let object = taipan_interp::object(db, Object::new(db, program, func));
                match object.as_deref() {
                    Some(ObjData::Function(f)) => Places::of_code(db, program.target(db), f.code),
                    _ => None,
                }
            });
            let names = taipan_flow::object_names(db, program, graph);
            out.graph(graph, names, places.as_ref(), &|_| None);
            Ok(())
        }
        Err(_) => Err(Failure::Diagnostics(
            taipan_flow::flow_diagnostics(db, function).to_vec(),
        )),
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
    out: &mut Output<'_>,
    roots: Roots,
    func: Option<ObjId>,
    stage: Stage,
) -> Result<(), Failure> {
    let db = out.db;
    for spec in specs(db, roots, func)? {
        let annotation = taipan_annotator::annotation(db, spec);
        if let Some(d) = &annotation.broken {
            return Err(Failure::from(Diagnostic::clone(d)));
        }
        let show = |s| taipan_annotator::annotation_text(db, roots, s);
        if out.form == EmitForm::Result {
            out.text = show(&annotation.signature.result);
            return Ok(());
        }
        let graph = &annotation.graph;
        let names = taipan_flow::object_names(db, out.program, graph);
        let places = out.places(|_| Places::of_spec(db, spec));
        let annotated = stage == Stage::Annotations;
        out.graph(graph, names, places.as_ref(), &|v| {
            annotated.then(|| show(annotation.var(v)))
        });
        if !annotated {
            continue;
        }
        for (i, v) in graph.vars.iter().enumerate() {
            let name = if v.name.is_empty() {
                format!("v{i}")
            } else {
                format!("{}_{i}", v.name)
            };
            let annotation = annotation.var(VarId(i as u32));
            out.say(&format!("    ; {name}: {}\n", show(annotation)));
        }
        let result = show(&annotation.signature.result);
        out.say(&format!("    ; returns {result}\n\n"));
    }
    Ok(())
}

fn lowlevel(
    out: &mut Output<'_>,
    roots: Roots,
    func: Option<ObjId>,
    request: &EmitRequest,
    timings: &mut Timings,
) -> Result<(), Failure> {
    let db = out.db;
    let root = typed(db, roots, timings)?;
    if func.is_none() && request.stage == Stage::Llvm {
        // As they are built.
        let (modules, _) = modules(db, roots, &root, timings).map_err(|e| codegen_failure(&e))?;
        modules.iter().for_each(|(_, text)| llvm_text(out, text));
        return Ok(());
    }
    if func.is_none() && request.stage == Stage::Wat {
        let linked = crate::wasmgc::linked(db, roots, &root, true)?;
        return wat_text(out, roots, &linked);
    }
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
    if request.stage == Stage::Python {
        let functions = func.is_some().then_some(&syms[..]);
        out.text = crate::python::python_of(db, roots, &root, functions)?;
        return Ok(());
    }
    for sym in syms {
        if request.stage == Stage::Llvm {
            let text = function_module(db, roots, &sym).map_err(|e| codegen_failure(&e))?;
            llvm_text(out, &text);
            continue;
        }
        let key = LLFunction::new(db, roots, sym.clone());
        if request.stage == Stage::Oo {
            object_oriented(out, roots, key)?;
            continue;
        }
        if request.stage == Stage::Wat {
            if let Some(linked) = function_alone(db, key)? {
                wat_text(out, roots, &linked)?;
            }
            continue;
        }
        let graph = match request.stage {
            Stage::Rtyped => match stages::rtyped(db, roots, &sym) {
                Some(Err(d)) => return Err(d.into()),
                Some(Ok(g)) => Some(g),
                None => None,
            },
            Stage::Optimized => stages::optimized_graph(db, key),
            Stage::Exceptions => stages::exceptions(db, key).map(|t| t.graph),
            _ => stages::gc(db, key).map(|t| t.graph),
        };
        let Some(graph) = graph else { continue };
        let places = out.places(|_| Places::of_sym(db, roots, &sym));
        match request.stage {
            Stage::C => c_text(out, roots, &sym)?,
            Stage::Clif | Stage::Asm => {
                let asm = request.stage == Stage::Asm;
                code(out, roots, &sym, &graph, asm, places.as_ref())?;
            }
            _ => lowlevel_graph(out, &graph, places.as_ref()),
        }
        out.say("\n");
    }
    Ok(())
}

/// A function on object-oriented types.
fn object_oriented(out: &mut Output<'_>, roots: Roots, key: LLFunction) -> Result<(), Failure> {
    let Some(graph) = object_graph(out.db, key)? else {
        return Ok(());
    };
    let places = out.places(|_| Places::of_sym(out.db, roots, key.sym(out.db)));
    let names = lowlevel_names(out.db, out.program, &*graph);
    let ty = |v| Some(graph.ty(v).to_string());
    out.graph(&graph, names, places.as_ref(), &ty);
    out.say("\n");
    Ok(())
}

fn wat_text(out: &mut Output<'_>, roots: Roots, linked: &Linked) -> Result<(), Failure> {
    let db = out.db;
    let mut shown: FxHashMap<FuncSym, Option<Places>> = FxHashMap::default();
    let wanted = out.form == EmitForm::Lines;
    let mut comment = |place: &CodePlace| {
        let func = || Places::of_sym(db, roots, &place.func);
        let places = shown.entry(place.func.clone()).or_insert_with(func);
        places.as_ref()?.comment(place.at)
    };
    let text = linked.text(&mut |place| if wanted { comment(place) } else { None });
    let text = text.map_err(|e| codegen_failure(&CodegenError::new("module", e)))?;
    out.text.push_str(&text);
    out.say("\n");
    Ok(())
}

fn llvm_text(out: &mut Output<'_>, module: &str) {
    out.text.push_str(module);
    out.say("\n");
}

fn lowlevel_graph(out: &mut Output<'_>, graph: &LLGraph, places: Option<&Places>) {
    let names = lowlevel_names(out.db, out.program, graph);
    let ty = |v| Some(graph.ty(v).to_string());
    out.graph(graph, names, places, &ty);
}

/// A function as C.
fn c_text(out: &mut Output<'_>, roots: Roots, sym: &FuncSym) -> Result<(), Failure> {
    let f = LLFunction::new(out.db, roots, sym.clone());
    let c = c_code(out.db, f).map_err(|e| codegen_failure(&e))?;
    let places = match out.form {
        EmitForm::Lines => places_of(out.db, roots, sym),
        _ => None,
    };
    out.text
        .push_str(&taipan_codegen_c::function_listing(&c, places.as_ref()));
    Ok(())
}

/// Cranelift's form of a function, or its machine code.
fn code(
    out: &mut Output<'_>,
    roots: Roots,
    sym: &FuncSym,
    graph: &LLGraph,
    asm: bool,
    places: Option<&Places>,
) -> Result<(), Failure> {
    let failed = |e| codegen_failure(&e);
    if out.form != EmitForm::Lines {
        let text = native::code_text(out.db, roots, sym, graph, asm).map_err(failed)?;
        out.text.push_str(&text);
        return Ok(());
    }
    let mut last = None;
    if asm {
        out.text.push_str(&format!("{}:\n", sym.name()));
    }
    for line in native::code_lines(out.db, roots, sym, graph, asm).map_err(failed)? {
        // What has no place belongs to what stands before it.
        if let Some(place) = line.at.and_then(|at| places?.comment(at))
            && last.as_ref() != Some(&place)
        {
            out.text.push_str(&format!("    ; {place}\n"));
            last = Some(place);
        }
        out.text.push_str(&line.text);
        out.text.push('\n');
    }
    Ok(())
}

/// The coloured or timeshifted graphs of a portal and of what it reaches.
fn generated(
    out: &mut Output<'_>,
    roots: Roots,
    func: Option<ObjId>,
    request: &EmitRequest,
    timings: &mut Timings,
) -> Result<(), Failure> {
    if func.is_none() {
        return Err(Failure::Usage(
            "which function is the portal? Give it as FILE.py:FUNC".to_owned(),
        ));
    }
    let db = out.db;
    typed(db, roots, timings)?;
    let timeshifted = request.stage == Stage::Timeshifted;
    for spec in specs(db, roots, func)? {
        let portal = taipan_rtyper::func_sym_of(db, spec).map_err(typer_failure)?;
        match out.form {
            EmitForm::Svg => generated_picture(db, roots, &portal, &mut out.picture)?,
            _ => (out.text).push_str(&generated_text(db, roots, &portal, timeshifted)?),
        }
    }
    Ok(())
}
