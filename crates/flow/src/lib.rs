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

mod assigned;
mod build;
mod comprehension;
mod context;
mod fold;
mod framestate;
mod generator;
mod result;
mod simplify;
mod space;
mod special;
#[cfg(test)]
mod tests;
mod text;
mod value;
mod world;

pub use assigned::{Given, assigned_at};
pub use build::SYNTAX_ERROR;
pub use result::*;
pub use text::{flow_text, name_objects, object_names};

use std::sync::Arc;

use salsa::plumbing::AsId;
use taipan_base::{Db, Diagnostic, Span, TextRange};
use taipan_code::{CodeId, Origin};
use taipan_interp::reads::{Query, scope};
use taipan_interp::{Function, ObjData, Object, object};

/// The flow graph of a function of the image.
#[salsa::tracked]
pub fn flow_graph(db: &dyn Db, func: Function) -> Arc<FlowResult> {
    let _timed = taipan_base::timed(db);
    scope(db, Query::FlowGraph, func.as_id(), || {
        Arc::new(build::build_flow(db, func.program(db), func.obj(db)))
    })
}

/// What [`flow_graph`] found wrong, with its place in the source.
#[salsa::tracked]
pub fn flow_diagnostics(db: &dyn Db, func: Function) -> Arc<Vec<Diagnostic>> {
    let result = flow_graph(db, func);
    let diagnostic = |error: &FlowError| {
        let mut d = Diagnostic::error(error.code, span_at(db, func, error.at), &error.message);
        d.help = error.help.clone();
        d
    };
    Arc::new(result.errors.iter().map(diagnostic).collect())
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
