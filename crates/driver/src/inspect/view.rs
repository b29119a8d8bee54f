//! What each stage made of a function.

use std::sync::Arc;

use serde::Serialize;
use taipan_annotator::{Spec, annotation, short_text};
use taipan_graph::VarId;
use taipan_graph::text::print_graph;
use taipan_interp::ObjData;
use taipan_lltype::{FuncSym, LLGraph};
use taipan_picture::{NoPicture, Picture};
use taipan_transform::{PassObserver, Passes};

use crate::emit::Stage;
use crate::fault::{Failure, guarded};
use crate::function::LLFunction;
use crate::inspect::Inspected;
use crate::names::lowlevel_names;
use crate::python::python_of;
use crate::show::{Known, Places, add_graph};
use crate::stages::c::c_code;
use crate::stages::llvm::function_module;
use crate::stages::lowlevel_errors::{codegen_failure, typer_failure};
use crate::stages::{self, QuerySummaries, native};
use crate::timeshift::{generated_picture, generated_text};
use crate::wasmgc::{function_alone, object_graph};

/// What a stage made of a function: a picture, or lines.
#[derive(Serialize, Debug, Default)]
pub struct View {
    /// The graph.
    pub svg: Option<String>,
    /// Why there is no picture where there could be one.
    pub note: Option<String>,
    /// The text.
    pub lines: Vec<ViewLine>,
}

/// A line of text.
#[derive(Serialize, Debug)]
pub struct ViewLine {
    /// The line.
    pub text: String,
    /// The line of the source that it comes from.
    pub line: Option<u32>,
}

/// A pass of the optimiser.
#[derive(Serialize, Debug)]
pub struct Pass {
    /// What it does.
    pub name: String,
    /// Number of blocks behind it.
    pub blocks: usize,
    /// Number of operations behind it.
    pub operations: usize,
    /// It changed something.
    pub changed: bool,
}

/// What a stage made of a function.
pub fn view(program: &Inspected<'_>, function: &str, stage: Stage) -> Result<View, Failure> {
    guarded(|| {
        let spec = program.spec(function)?;
        match stage {
            Stage::Bytecode => bytecode(program, spec),
            Stage::Flow => flow(program, spec),
            Stage::Annotations => annotations(program, spec),
            Stage::Clif | Stage::Asm => machine(program, spec, stage == Stage::Asm),
            Stage::Llvm => {
                let sym = sym(program, spec)?;
                let text = function_module(program.db, program.roots, &sym)
                    .map_err(|e| codegen_failure(&e))?;
                Ok(text_view(&text))
            }
            Stage::Oo => {
                let key = LLFunction::new(program.db, program.roots, sym(program, spec)?);
                let graph = object_graph(program.db, key)?.ok_or_else(no_graph)?;
                let names = lowlevel_names(program.db, program.program(), &*graph);
                Ok(text_view(&print_graph(&graph, names)))
            }
            Stage::Wat => {
                let key = LLFunction::new(program.db, program.roots, sym(program, spec)?);
                let linked = function_alone(program.db, key)?.ok_or_else(no_graph)?;
                let text = linked.text(&mut |_| None);
                Ok(text_view(&text.map_err(Failure::Usage)?))
            }
            Stage::Colors => colors(program, spec),
            Stage::Timeshifted => {
                let portal = sym(program, spec)?;
                let text = generated_text(program.db, program.roots, &portal, true)?;
                Ok(text_view(&text))
            }
            Stage::C => {
                let key = LLFunction::new(program.db, program.roots, sym(program, spec)?);
                let c = c_code(program.db, key).map_err(|e| codegen_failure(&e))?;
                Ok(text_view(&taipan_codegen_c::function_listing(&c, None)))
            }
            Stage::Python => {
                let sym = sym(program, spec)?;
                let text = python_of(
                    program.db,
                    program.roots,
                    &sym,
                    Some(std::slice::from_ref(&sym)),
                )?;
                Ok(text_view(&text))
            }
            Stage::Rtyped | Stage::Optimized | Stage::Exceptions | Stage::Gc => {
                let sym = sym(program, spec)?;
                let graph = graph_at(program, &sym, stage)?;
                Ok(lowlevel(program, spec, &graph))
            }
        }
    })?
}

/// The passes of the optimiser on a function, in order, the first one being what it starts
/// from; and the graph behind one of them.
pub fn passes(
    program: &Inspected<'_>,
    function: &str,
    wanted: Option<usize>,
) -> Result<(Vec<Pass>, Option<View>), Failure> {
    guarded(|| {
        let spec = program.spec(function)?;
        let sym = sym(program, spec)?;
        let key = LLFunction::new(program.db, program.roots, sym.clone());
        let simplified = stages::simplified(program.db, key).ok_or_else(no_graph)?;
        let mut steps = Steps(vec![("simplified", (*simplified).clone())]);
        let summaries = QuerySummaries::new(program.db, program.roots);
        let on = program.program().options(program.db).passes;
        let mut passes = Passes::observed(on, &mut steps);
        taipan_transform::optimize(&sym, &simplified, &summaries, &mut passes);
        let Steps(seen) = steps;
        let mut last: Option<&LLGraph> = None;
        let list = (seen.iter())
            .map(|(name, graph)| Pass {
                name: (*name).to_owned(),
                blocks: graph.blocks.len(),
                operations: graph.blocks.iter().map(|b| b.operations.len()).sum(),
                changed: last.replace(graph).is_none_or(|before| before != graph),
            })
            .collect();
        let view = match wanted {
            None => None,
            Some(n) => {
                let missing = || Failure::Usage(format!("there is no pass {n}"));
                let (_, graph) = seen.get(n).ok_or_else(missing)?;
                Some(lowlevel(program, spec, graph))
            }
        };
        Ok((list, view))
    })?
}

/// A function behind each pass.
struct Steps(Vec<(&'static str, LLGraph)>);

impl PassObserver for Steps {
    fn begin(&mut self, _: taipan_language::Pass, _: &LLGraph) {}

    fn end(&mut self, pass: taipan_language::Pass, graph: &LLGraph) {
        let mut graph = graph.clone();
        graph.compact();
        self.0.push((pass.name(), graph));
    }
}

fn no_graph() -> Failure {
    Failure::Usage("the function has no graph".to_owned())
}

fn sym(program: &Inspected<'_>, spec: Spec) -> Result<FuncSym, Failure> {
    taipan_rtyper::func_sym_of(program.db, spec).map_err(typer_failure)
}

fn graph_at(program: &Inspected<'_>, sym: &FuncSym, stage: Stage) -> Result<Arc<LLGraph>, Failure> {
    let (db, roots) = (program.db, program.roots);
    let key = LLFunction::new(db, roots, sym.clone());
    let graph = match stage {
        Stage::Rtyped => match stages::rtyped(db, roots, sym) {
            Some(Err(d)) => return Err(d.into()),
            Some(Ok(graph)) => Some(graph),
            None => None,
        },
        Stage::Optimized => stages::optimized_graph(db, key),
        Stage::Exceptions => stages::exceptions(db, key).map(|t| t.graph),
        _ => stages::gc(db, key).map(|t| t.graph),
    };
    graph.ok_or_else(no_graph)
}

fn text_view(text: &str) -> View {
    View {
        lines: (text.lines())
            .map(|l| ViewLine {
                text: l.to_owned(),
                line: None,
            })
            .collect(),
        ..View::default()
    }
}

/// The picture, or the text where there can be none.
fn picture_view(picture: &Picture, text: impl FnOnce() -> String) -> View {
    match taipan_picture::svg(picture) {
        Ok(svg) => View {
            svg: Some(svg),
            ..View::default()
        },
        Err(why @ (NoPicture::TooLarge(_) | NoPicture::NoLayout(_))) => View {
            note: Some(why.to_string()),
            ..text_view(&text())
        },
    }
}

fn bytecode(program: &Inspected<'_>, spec: Spec) -> Result<View, Failure> {
    let db = program.db;
    let code = match program.function_data(spec).as_deref() {
        Some(ObjData::Function(f)) => f.code,
        _ => return Err(no_graph()),
    };
    let places = Places::of_spec(db, spec);
    let text = taipan_code::disassemble(db, code);
    let line = |text: &str| {
        // `  >  12  LoadFast x`
        let number = text.trim_start_matches(['>', ' ']).split(' ').next();
        places.as_ref()?.line(number?.parse().ok()?)
    };
    Ok(View {
        lines: (text.lines())
            .map(|l| ViewLine {
                text: l.to_owned(),
                line: line(l),
            })
            .collect(),
        ..View::default()
    })
}

fn flow(program: &Inspected<'_>, spec: Spec) -> Result<View, Failure> {
    let db = program.db;
    match &taipan_flow::flow_graph(db, spec.function(db)).graph {
        Ok(graph) => {
            let names = || taipan_flow::object_names(db, program.program(), graph);
            let places = Places::of_spec(db, spec);
            let mut picture = Picture::default();
            let known = Known {
                title: &|_| None,
                class: &|_| "",
                line: &|at| places.as_ref()?.line(at),
            };
            add_graph(&mut picture, graph, names(), &known);
            Ok(picture_view(&picture, || print_graph(graph, names())))
        }
        Err(_) => Err(Failure::Diagnostics(
            taipan_flow::flow_diagnostics(db, spec.function(db)).to_vec(),
        )),
    }
}

fn annotations(program: &Inspected<'_>, spec: Spec) -> Result<View, Failure> {
    let db = program.db;
    let annotated = annotation(db, spec);
    let graph = &annotated.graph;
    let names = || taipan_flow::object_names(db, program.program(), graph);
    let places = Places::of_spec(db, spec);
    let mut picture = Picture::default();
    let known = Known {
        title: &|v| Some(short_text(db, program.roots, annotated.var(v))),
        class: &|_| "",
        line: &|at| places.as_ref()?.line(at),
    };
    add_graph(&mut picture, graph, names(), &known);
    Ok(picture_view(&picture, || print_graph(graph, names())))
}

fn lowlevel(program: &Inspected<'_>, spec: Spec, graph: &LLGraph) -> View {
    let db = program.db;
    let names = || lowlevel_names(db, program.program(), graph);
    let places = Places::of_spec(db, spec);
    let mut picture = Picture::default();
    let known = Known {
        title: &|v: VarId| Some(graph.ty(v).to_string()),
        class: &|_| "",
        line: &|at| places.as_ref()?.line(at),
    };
    add_graph(&mut picture, graph, names(), &known);
    picture_view(&picture, || print_graph(graph, names()))
}

fn machine(program: &Inspected<'_>, spec: Spec, asm: bool) -> Result<View, Failure> {
    let sym = sym(program, spec)?;
    let graph = graph_at(program, &sym, Stage::Gc)?;
    let places = Places::of_spec(program.db, spec);
    let lines = native::code_lines(program.db, program.roots, &sym, &graph, asm)
        .map_err(|e| codegen_failure(&e))?;
    Ok(View {
        lines: (lines.into_iter())
            .map(|l| ViewLine {
                line: l.at.and_then(|at| places.as_ref()?.line(at)),
                text: l.text,
            })
            .collect(),
        ..View::default()
    })
}

/// The coloured graphs of what a function reaches if it is the portal.
fn colors(program: &Inspected<'_>, spec: Spec) -> Result<View, Failure> {
    let (db, roots) = (program.db, program.roots);
    let portal = sym(program, spec)?;
    let mut picture = Picture::default();
    generated_picture(db, roots, &portal, &mut picture)?;
    let text = generated_text(db, roots, &portal, false)?;
    Ok(picture_view(&picture, || text))
}
