//! What can be written at a place, and what a call expects.

use std::collections::BTreeMap;

use taipan_annotator::{Class, SomeKind, annotation_text, class_attributes};
use taipan_base::{File, TextRange};
use taipan_code::scope::ScopeNode;
use taipan_driver::Database;
use taipan_graph::{Const, ObjId};
use taipan_interp::ObjData;
use taipan_syntax::Expr;

use crate::index::{FileIndex, file_index, words};
use crate::program::{FilePosition, Home, Workspace};
use crate::symbol::{Owner, Resolver};

/// Something that can be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Completion {
    /// The name.
    pub name: String,
    /// What it is.
    pub kind: CompletionKind,
    /// Its annotation or signature, where known.
    pub detail: Option<String>,
}

/// What a completion is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CompletionKind {
    /// A local variable or argument.
    Local,
    /// An attribute.
    Attribute,
    /// A method.
    Method,
    /// A function.
    Function,
    /// A class.
    Class,
    /// A module.
    Module,
    /// Another global.
    Global,
    /// What every module sees.
    Builtin,
}

/// The names that can be written at a place: attributes behind a dot, else locals,
/// globals and builtins. The client filters them by what is typed already.
pub fn completions(
    db: &Database,
    workspace: &Workspace,
    position: FilePosition,
) -> Vec<Completion> {
    let file = position.file;
    let index = file_index(db, file);
    let r = Resolver::of(db, workspace, file);
    let text = file.text(db);
    let before = text.get(..position.offset as usize).unwrap_or("");
    let typed = before.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
    let mut out = match typed.strip_suffix('.') {
        Some(receiver) => behind_dot(&r, file, &index, receiver),
        None => variables(&r, file, &index, position.offset),
    };
    out.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
    out.dedup_by(|a, b| a.name == b.name);
    out
}

fn behind_dot(r: &Resolver<'_>, file: File, index: &FileIndex, receiver: &str) -> Vec<Completion> {
    let Some(home) = &r.home else {
        return Vec::new();
    };
    let end = receiver.trim_end().len() as u32;
    let scope = index.scope_at(end);
    let spans = &index.parsed.spans;
    // The longest expression that ends there, if the text still parses as one.
    let exprs = index.parsed.ast.exprs.iter();
    let whole = exprs
        .filter(|(_, e)| !matches!(e, Expr::Error))
        .map(|(id, _)| (id, spans.expr(id)))
        .filter(|(_, r)| r.end == end)
        .max_by_key(|(_, r)| r.end - r.start);
    let mut owners: Vec<Owner> = Vec::new();
    if let Some((id, range)) = whole {
        let constant = r.constant(file, index, scope, id);
        owners.extend(constant.and_then(|c| r.owner_of_const(&c)));
        if owners.is_empty()
            && let Some(body) = r.body_of_scope(index, scope)
        {
            let values = match &index.parsed.ast.exprs[id] {
                Expr::Name(n) => body.variable(index.scopes.text(*n), range, false),
                _ => body.expression(range),
            };
            owners.extend(values.iter().flat_map(|v| r.owners_of(home, v)));
            if owners.is_empty() {
                return values
                    .iter()
                    .flat_map(|v| builtin_methods(&v.kind))
                    .collect();
            }
        }
    }
    if owners.is_empty() {
        // The statement is broken: the last word is the best guess.
        let start = end.saturating_sub(LONGEST_NAME);
        let word = words(receiver, TextRange::new(start, end)).pop();
        let Some((range, word)) = word.filter(|(range, _)| range.end == end) else {
            return Vec::new();
        };
        let module = home.module_of(file);
        let global = module.and_then(|m| home.global(m, word));
        owners.extend(global.and_then(|c| r.owner_of_const(&c)));
        if let Some(body) = r.body_of_scope(index, scope)
            && owners.is_empty()
        {
            let values = body.variable(word, range, false);
            owners.extend(values.iter().flat_map(|v| r.owners_of(home, v)));
        }
        if owners.is_empty() && word == "self" {
            owners.extend(enclosing_class(r, index, end).map(Owner::Class));
        }
    }
    let mut out = Vec::new();
    for owner in owners {
        match owner {
            Owner::Module(m) => module_members(home, m, &mut out),
            Owner::Class(c) => class_members(home, c, &mut out),
        }
    }
    out
}

/// How far back a name is looked for in a text that could not be parsed.
const LONGEST_NAME: u32 = 200;

fn enclosing_class(r: &Resolver<'_>, index: &FileIndex, offset: u32) -> Option<ObjId> {
    let mut scope = index.scope_at(offset);
    loop {
        let s = &index.scopes.scopes[scope];
        if matches!(s.node, ScopeNode::Class(_)) {
            return r.home.as_ref()?.class_of(*index.codes.get(scope)?);
        }
        scope = s.parent?;
    }
}

fn class_members(home: &Home<'_>, class: ObjId, out: &mut Vec<Completion>) {
    for c in home.mro(class) {
        if let Some(roots) = home.roots {
            for (name, a) in &class_attributes(home.db, Class::new(home.db, roots, c)).attrs {
                if !matches!(a.value.kind, SomeKind::Pbc { .. }) {
                    out.push(Completion {
                        name: name.to_string(),
                        kind: CompletionKind::Attribute,
                        detail: Some(annotation_text(home.db, roots, &a.value)),
                    });
                }
            }
        }
        if let Some(ObjData::Class(d)) = home.object(c).as_deref() {
            for (name, value) in d.dict.iter().filter(|(n, _)| !n.starts_with("__")) {
                let (kind, detail) = of_const(home, value);
                let kind = match kind {
                    CompletionKind::Function => CompletionKind::Method,
                    CompletionKind::Global => CompletionKind::Attribute,
                    other => other,
                };
                out.push(Completion {
                    name: name.to_string(),
                    kind,
                    detail,
                });
            }
        }
    }
}

fn module_members(home: &Home<'_>, file: File, out: &mut Vec<Completion>) {
    let Some(module) = home.module_of(file) else {
        return;
    };
    let index = file_index(home.db, file);
    for t in index.tokens.iter().filter(|t| t.role.binds()) {
        let (0, name) = index.variable(t) else {
            continue;
        };
        if let Some(value) = home.global(module, name) {
            let (kind, detail) = of_const(home, &value);
            out.push(Completion {
                name: name.to_owned(),
                kind,
                detail,
            });
        }
    }
}

fn of_const(home: &Home<'_>, value: &Const) -> (CompletionKind, Option<String>) {
    let Const::Obj(id) = value else {
        return (CompletionKind::Global, Some(value.to_string()));
    };
    match home.object(*id).as_deref() {
        Some(ObjData::Module { .. }) => (CompletionKind::Module, None),
        Some(ObjData::Class(_)) => (CompletionKind::Class, None),
        Some(ObjData::Function(f)) => {
            let code = taipan_code::code(home.db, f.code);
            let args: Vec<&str> = code.locals[..code.argcount as usize]
                .iter()
                .map(|l| &**l)
                .collect();
            (
                CompletionKind::Function,
                Some(format!("({})", args.join(", "))),
            )
        }
        Some(ObjData::Builtin { .. }) => (CompletionKind::Builtin, None),
        _ => (CompletionKind::Global, None),
    }
}

fn variables(r: &Resolver<'_>, file: File, index: &FileIndex, offset: u32) -> Vec<Completion> {
    let mut out = Vec::new();
    let scope = index.scope_at(offset);
    let home = r.home.as_ref();
    let module = home.and_then(|h| h.module_of(file));
    let mut seen = BTreeMap::new();
    for t in index.tokens.iter().filter(|t| t.role.binds()) {
        let (of, name) = index.variable(t);
        if of != 0 && of != scope || seen.insert((of, name), ()).is_some() {
            continue;
        }
        let (kind, detail) = match (of, home, module) {
            (0, Some(home), Some(module)) => match home.global(module, name) {
                Some(value) => of_const(home, &value),
                None => (CompletionKind::Global, None),
            },
            (0, ..) => (CompletionKind::Global, None),
            _ => {
                let roots = home.and_then(|h| h.roots);
                let body = r.body_of_scope(index, of);
                let first = body.and_then(|b| b.variable(name, t.range, true).into_iter().next());
                let text = first
                    .zip(roots)
                    .map(|(v, roots)| annotation_text(r.db, roots, &v));
                (CompletionKind::Local, text)
            }
        };
        out.push(Completion {
            name: name.to_owned(),
            kind,
            detail,
        });
    }
    for name in BUILTINS {
        out.push(Completion {
            name: (*name).to_owned(),
            kind: CompletionKind::Builtin,
            detail: None,
        });
    }
    out
}

/// Builtin functions and constants that RPython programs use.
const BUILTINS: &[&str] = &[
    "None",
    "True",
    "False",
    "abs",
    "bool",
    "bytearray",
    "chr",
    "dict",
    "enumerate",
    "float",
    "getattr",
    "hasattr",
    "hash",
    "hex",
    "int",
    "isinstance",
    "len",
    "list",
    "max",
    "min",
    "object",
    "oct",
    "ord",
    "pow",
    "range",
    "reversed",
    "str",
    "sum",
    "tuple",
    "type",
    "unichr",
    "unicode",
    "xrange",
    "zip",
    "AssertionError",
    "AttributeError",
    "Exception",
    "IOError",
    "IndexError",
    "KeyError",
    "MemoryError",
    "NotImplementedError",
    "OSError",
    "OverflowError",
    "RuntimeError",
    "StopIteration",
    "TypeError",
    "ValueError",
    "ZeroDivisionError",
];

/// The methods that RPython has on values of a builtin kind.
fn builtin_methods(kind: &SomeKind) -> Vec<Completion> {
    let names: &[&str] = match kind {
        SomeKind::List { .. } => &[
            "append", "count", "extend", "index", "insert", "pop", "remove", "reverse", "sort",
        ],
        SomeKind::Dict { .. } => &[
            "clear",
            "copy",
            "get",
            "items",
            "iteritems",
            "iterkeys",
            "itervalues",
            "keys",
            "pop",
            "popitem",
            "setdefault",
            "update",
            "values",
        ],
        SomeKind::Str { .. } | SomeKind::Char { .. } | SomeKind::Unicode { .. } => &[
            "count",
            "decode",
            "encode",
            "endswith",
            "find",
            "isalnum",
            "isalpha",
            "isdigit",
            "join",
            "lower",
            "lstrip",
            "replace",
            "rfind",
            "rsplit",
            "rstrip",
            "split",
            "splitlines",
            "startswith",
            "strip",
            "upper",
        ],
        SomeKind::Builder { .. } => &[
            "append",
            "append_charpsize",
            "append_multiple_char",
            "append_slice",
            "build",
            "getlength",
        ],
        _ => &[],
    };
    let method = |n: &&str| Completion {
        name: (*n).to_owned(),
        kind: CompletionKind::Method,
        detail: None,
    };
    names.iter().map(method).collect()
}

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
