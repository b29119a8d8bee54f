//! The flow object space: abstract interpretation of bytecode that records
//! operations (RPython: `rpython/flowspace`, `rpython/translator/simplify.py`).
//!
//! Owns [`flow_graph`], frame states and how they merge, constant folding against
//! the image, generators as state machines, and the simplification of graphs right
//! after they are built.
//!
//! **Architecture invariants.** A function's graph depends on its own `Code` and on
//! what it read of the image, object by object; never on the text of its file. The
//! result holds instruction indices, no source positions.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod assigned;
mod build;
mod comprehension;
mod construct;
mod context;
mod dead;
mod fold;
mod framestate;
mod generator;
mod result;
mod simplify;
mod space;
#[cfg(test)]
mod tests;
mod text;
mod value;
mod world;

pub use assigned::{Given, assigned_at, reads_variable};
pub use build::SYNTAX_ERROR;
pub use dead::{DeadOperand, DeadOperation};
pub use result::*;
pub use text::{flow_text, name_objects, object_names};

use std::sync::Arc;

use taipan_base::{Db, Diagnostic, Help, Problem, Span, TextRange, did_you_mean, noted};
use taipan_code::{CodeConst, CodeId, Instr, Origin, code, code_spans};
use taipan_interp::{Function, ObjData, Object, named_id, names_of, object};

noted! {
    /// The flow graph of a function of the image.
    pub fn flow_graph(db, func: Function) -> &Arc<FlowResult> {
        let _timed = taipan_base::timed(db);
        Arc::new(build::build_flow(db, func.program(db), func.obj(db)))
    }
}

/// What [`flow_graph`] found wrong, with its place in the source.
#[salsa::tracked]
pub fn flow_diagnostics(db: &dyn Db, func: Function) -> Arc<Vec<Diagnostic>> {
    let result = flow_graph(db, func);
    let diagnostic = |error: &FlowError| {
        let mut d = Diagnostic::error(error.code, span_at(db, func, error.at), &error.message);
        let lacks = error.lacks.as_ref();
        d.help = (error.help.clone()).or_else(|| lacks.and_then(|l| meant(db, func, l)));
        d.problem = (error.module.clone()).or_else(|| lacks.and_then(|l| problem(db, func, l)));
        if error.code == build::CLOSURE {
            d = with_captures(db, func, d);
        }
        d
    };
    let mut missing = Vec::new();
    let first = |e: &&FlowError| match &e.lacks {
        // A name that is missing is missing all over the function.
        Some(Lacks::Variable(_, name)) if missing.contains(name) => false,
        Some(Lacks::Variable(_, name)) => {
            missing.push(name.clone());
            true
        }
        _ => true,
    };
    Arc::new(result.errors.iter().filter(first).map(diagnostic).collect())
}

/// Points at where inner functions use variables of this one, and at the function.
fn with_captures(db: &dyn Db, func: Function, mut d: Diagnostic) -> Diagnostic {
    let data = object(db, Object::new(db, func.program(db), func.obj(db)));
    let Some(ObjData::Function(f)) = data.as_deref() else {
        return d;
    };
    let outer = code(db, f.code);
    let inner = outer.consts.iter().filter_map(|c| match c {
        CodeConst::Code(inner) => Some(*inner),
        _ => None,
    });
    let mut uses = Vec::new();
    for id in inner {
        let inner = code(db, id);
        let name = |i: u32| {
            inner
                .frees
                .get((i as usize).checked_sub(inner.cells.len())?)
        };
        for (pc, instr) in inner.instrs.iter().enumerate() {
            if let Instr::LoadDeref(i) = instr
                && let Some(name) = name(*i)
                && let Some(file) = id.file(db)
                && let Some(range) = code_spans(db, id).instrs.get(pc)
            {
                let range = *range;
                uses.push((Span { file, range }, name.clone()));
            }
        }
    }
    let mut told: Vec<&str> = Vec::new();
    for (span, name) in &uses {
        if told.is_empty() {
            let text = format!("{}() starts here", f.name);
            let function = d.primary.replace(*span);
            d = d
                .with_label(format!("`{name}` is used here"))
                .with_note(function, text);
        } else if !told.contains(&&**name) {
            d = d.with_note(Some(*span), format!("`{name}` is used here"));
        }
        told.push(name);
    }
    d
}

/// The missing name, as data.
fn problem(db: &dyn Db, func: Function, lacks: &Lacks) -> Option<Problem> {
    let module = |id| match object(db, Object::new(db, func.program(db), id)).as_deref() {
        Some(ObjData::Module { name }) => Some(name.clone()),
        _ => None,
    };
    Some(match lacks {
        Lacks::Variable(globals, name) => Problem::Undefined {
            module: module(*globals)?,
            name: name.clone(),
        },
        Lacks::Attribute(of, name) => match module(*of) {
            Some(module) => Problem::ModuleAttribute {
                module,
                name: name.clone(),
            },
            None => Problem::Attribute { name: name.clone() },
        },
    })
}

/// The question about the name that is most like one that is missing. Reads all names of an
/// object: for diagnostics only.
fn meant(db: &dyn Db, func: Function, lacks: &Lacks) -> Option<Help> {
    let program = func.program(db);
    let names = |id| names_of(db, Object::new(db, program, id));
    match lacks {
        Lacks::Attribute(of, name) => did_you_mean(name, names(*of).iter().map(|n| &**n)),
        Lacks::Variable(_, name) if instead(name).is_some() => instead(name).map(Help::from),
        Lacks::Variable(globals, name) => {
            let (own, builtin) = (names(*globals), names(named_id("__builtin__")));
            let data = object(db, Object::new(db, program, func.obj(db)));
            let code = match data.as_deref() {
                Some(ObjData::Function(f)) => Some(code(db, f.code)),
                _ => None,
            };
            if let Some(ObjData::Function(f)) = data.as_deref()
                && let Some(own) = of_instance(db, f.code, name)
            {
                return Some(own);
            }
            let local = code.iter().flat_map(|c| c.locals.iter());
            let all = own.iter().chain(builtin.iter()).chain(local);
            did_you_mean(name, all.map(|n| &**n))
        }
    }
}

/// The question about an attribute of the instance, in a method whose class has a method of that name, or assigns to such
/// an attribute. Reads the code of the whole class: for diagnostics only.
fn of_instance(db: &dyn Db, method: CodeId, name: &str) -> Option<Help> {
    let (class, _) = method.qualname(db).rsplit_once('.')?;
    let me = code(db, method).locals.first()?.clone();
    let inside = format!("{class}.");
    let assigns = |c: &taipan_code::Code| {
        let names = |i: &Instr| match i {
            Instr::StoreAttr(i) => Some(&*c.names[*i as usize]),
            _ => None,
        };
        c.instrs.iter().filter_map(names).any(|n| n == name)
    };
    let codes = taipan_code::file_codes(db, method.file(db)?);
    let has = codes.iter().any(|(id, c)| {
        let member = id.qualname(db).strip_prefix(&*inside);
        member.is_some_and(|m| m == name || !m.contains('.') && assigns(c))
    });
    (has && &*me == "self").then(|| Help::Similar(format!("self.{name}").into()))
}

/// What to write instead of a name that other languages have, or that only looks like one.
fn instead(name: &str) -> Option<&'static str> {
    Some(match name {
        "null" | "nil" | "NULL" | "undefined" => "write `None`",
        "exit" | "quit" => "return the exit code from the entry point",
        "this" | "self" => "a method has its instance as the first parameter: `def f(self)`",
        _ => return None,
    })
}

/// Place of an instruction of a function, or of the function's name; none for a text
/// that import-time code made. Reads positions: for diagnostics only.
pub fn span_at(db: &dyn Db, func: Function, at: Option<u32>) -> Option<Span> {
    let (code, range) = place(db, func, at)?;
    Some(Span {
        file: code.file(db)?,
        range,
    })
}

/// Place of an item of the list that an instruction of a function displays; of a dict, of a key
/// or value, counted in turn. Reads positions: for diagnostics only.
pub fn item_span_at(db: &dyn Db, func: Function, at: u32, item: usize) -> Option<Span> {
    let data = object(db, Object::new(db, func.program(db), func.obj(db)));
    let Some(ObjData::Function(f)) = data.as_deref() else {
        return None;
    };
    let spans = code_spans(db, f.code);
    let items = spans.items_at(at)?;
    Some(Span {
        file: f.code.file(db)?,
        range: *items.get(item.checked_rem(items.len())?)?,
    })
}

/// The line of an instruction of a function in words, if the function is from a text that
/// import-time code made: such a text has no file that [`span_at`] could point at.
pub fn made_text_at(db: &dyn Db, func: Function, at: Option<u32>) -> Option<String> {
    let (code, range) = place(db, func, at)?;
    let Origin::Text(made) = code.origin(db) else {
        return None;
    };
    let text = made.text(db);
    let before = &text[..(range.start as usize).min(text.len())];
    let number = before.matches('\n').count() + 1;
    let line = text.lines().nth(number - 1).unwrap_or_default().trim();
    Some(format!("line {number} of {}: `{line}`", made.filename(db)))
}

fn place(db: &dyn Db, func: Function, at: Option<u32>) -> Option<(CodeId, TextRange)> {
    let data = object(db, Object::new(db, func.program(db), func.obj(db)));
    let Some(ObjData::Function(f)) = data.as_deref() else {
        return None;
    };
    let spans = taipan_code::code_spans(db, f.code);
    let range = at
        .and_then(|at| spans.instrs.get(at as usize).copied())
        .unwrap_or(spans.name);
    Some((f.code, range))
}
