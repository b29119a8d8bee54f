//! What the call around a place expects.

use taipan_annotator::annotation_text;
use taipan_base::{File, TextRange};
use taipan_driver::Database;
use taipan_graph::{Const, ObjId};
use taipan_interp::ObjData;
use taipan_syntax::Expr;

use crate::index::{FileIndex, file_index, words};
use crate::program::{FilePosition, Home, Workspace};
use crate::symbol::Resolver;

/// How far back a name is looked for in a text that could not be parsed.
const LONGEST_NAME: u32 = 200;

/// What a call expects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// `f(a: SomeInteger, b)`.
    pub label: String,
    /// The place of each argument in the label, in bytes.
    pub parameters: Vec<TextRange>,
    /// The argument that is being written.
    pub active: u32,
}

/// The signatures of the functions that the call around a place calls.
pub fn signatures(db: &Database, workspace: &Workspace, position: FilePosition) -> Vec<Signature> {
    let file = position.file;
    let index = file_index(db, file);
    let r = Resolver::of(db, workspace, file);
    let Some(home) = &r.home else {
        return Vec::new();
    };
    let text = file.text(db);
    let Some((open, active)) = open_call(text, position.offset as usize) else {
        return Vec::new();
    };
    let scope = index.scope_at(position.offset);
    let spans = &index.parsed.spans;
    let exprs = &index.parsed.ast.exprs;
    let calls = exprs.iter().filter(|(_, e)| match e {
        Expr::Call(c) => spans.expr(c.function).end as usize <= open,
        _ => false,
    });
    let call = calls
        .map(|(id, _)| (id, spans.expr(id)))
        .filter(|(_, r)| r.start as usize <= open && open < r.end as usize)
        .min_by_key(|(_, r)| r.end - r.start);
    let mut functions: Vec<ObjId> = match call {
        Some((id, _)) => r.callees(&index, scope, id),
        None => Vec::new(),
    };
    if functions.is_empty() {
        functions.extend(constant_callee(&r, file, &index, &text[..open]));
    }
    functions
        .into_iter()
        .filter_map(|f| signature(home, f, active))
        .collect()
}

/// The function that the word in front of a parenthesis stands for.
fn constant_callee(r: &Resolver<'_>, file: File, index: &FileIndex, before: &str) -> Option<ObjId> {
    let home = r.home.as_ref()?;
    let end = before.trim_end().len() as u32;
    let value = match index.token_at(end) {
        Some(token) => match token.role {
            crate::Role::Attribute(expr, _) => r.constant(file, index, token.scope, expr)?,
            _ => home.global(home.module_of(file)?, index.text(token))?,
        },
        // The statement is broken: the last word is the best guess.
        None => {
            let start = end.saturating_sub(LONGEST_NAME);
            let (_, word) = words(before, TextRange::new(start, end)).pop()?;
            home.global(home.module_of(file)?, word)?
        }
    };
    let Const::Obj(id) = value else { return None };
    match home.object(id).as_deref()? {
        ObjData::Function(_) => Some(id),
        ObjData::Class(_) => match home.class_attr(id, "__init__")?.1 {
            Const::Obj(f) => Some(f),
            _ => None,
        },
        _ => None,
    }
}

fn signature(home: &Home<'_>, func: ObjId, active: u32) -> Option<Signature> {
    let ObjData::Function(f) = home.object(func).as_deref()?.clone() else {
        return None;
    };
    let code = taipan_code::code(home.db, f.code);
    let body = crate::body::Body::of(home, f.code);
    let mut label = format!("{}(", f.name);
    let mut parameters = Vec::new();
    let method = f.class.is_some();
    let args = code.locals[..code.argcount as usize].iter();
    for (i, name) in args.enumerate().skip(usize::from(method)) {
        if !parameters.is_empty() {
            label.push_str(", ");
        }
        let start = label.len() as u32;
        label.push_str(name);
        let values = body.as_ref().map(|b| b.argument(name)).unwrap_or_default();
        if let (Some(v), Some(roots)) = (values.first(), home.roots) {
            label.push_str(": ");
            label.push_str(&annotation_text(home.db, roots, v));
        }
        let required = code.argcount as usize - f.defaults.len().min(code.argcount as usize);
        if i >= required {
            label.push_str(&format!("={}", default_text(&f.defaults[i - required])));
        }
        parameters.push(TextRange::new(start, label.len() as u32));
    }
    label.push(')');
    Some(Signature {
        label,
        parameters,
        active,
    })
}

fn default_text(c: &Const) -> String {
    match c {
        Const::Obj(_) => "...".to_owned(),
        other => other.to_string(),
    }
}

/// The opening parenthesis that encloses an offset, and how many commas stand between.
/// Strings are skipped as far as one line tells them.
fn open_call(text: &str, offset: usize) -> Option<(usize, u32)> {
    let bytes = &text.as_bytes()[..offset.min(text.len())];
    let mut depth = 0;
    let mut commas = 0;
    let mut quote: Option<u8> = None;
    for (i, b) in bytes.iter().enumerate().rev().take(4000) {
        match (quote, b) {
            (Some(q), b) if *b == q => quote = None,
            (Some(_), b'\n') => return None,
            (Some(_), _) => {}
            (None, b'\'' | b'"') => quote = Some(*b),
            (None, b')' | b']' | b'}') => depth += 1,
            (None, b'(') if depth == 0 => return Some((i, commas)),
            (None, b'[' | b'{') if depth == 0 => commas = 0,
            (None, b'(' | b'[' | b'{') => depth -= 1,
            (None, b',') if depth == 0 => commas += 1,
            _ => {}
        }
    }
    None
}
