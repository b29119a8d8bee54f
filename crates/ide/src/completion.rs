//! What can be written at a place.
//!
//! ```text
//! arguments[0].   receiver: the item of the list ──► attributes and methods of its class
//! from m import   imports: the globals of m, and the modules in it
//! total = si      locals, globals, builtins, keywords
//! ```

mod imports;
mod receiver;

use std::collections::BTreeMap;

use taipan_annotator::{Class, SomeKind, annotation_text, class_attributes};
use taipan_base::{File, SHIPPED, Span};
use taipan_driver::Database;
use taipan_graph::{Const, ObjId};
use taipan_interp::{ObjData, image};
use taipan_language::{BuilderMethod, DictMethod, Exc, ListMethod, TextMethod, rpython_names};
use taipan_syntax::Expr;

use crate::hover::{Hover, doc_text, hover};
use crate::index::{FileIndex, file_index};
use crate::program::{FilePosition, Home, Workspace};
use crate::symbol::{Owner, Resolver};
use receiver::{Known, Typer};

/// Something that can be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Completion {
    /// The name.
    pub name: String,
    /// What it is.
    pub kind: CompletionKind,
    /// Its annotation or signature, where known.
    pub detail: Option<String>,
    /// Where it is defined, for [`documentation`].
    pub definition: Option<Span>,
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
    /// A word of the language.
    Keyword,
}

impl Completion {
    fn new(name: &str, kind: CompletionKind, detail: Option<String>) -> Completion {
        Completion {
            name: name.to_owned(),
            kind,
            detail,
            definition: None,
        }
    }

    /// What is meant for others comes first.
    fn order(&self) -> (bool, CompletionKind, &str) {
        (self.name.starts_with('_'), self.kind, &self.name)
    }
}

/// The names that can be written at a place, the likelier ones first: modules and their
/// globals in imports, attributes behind a dot, else locals, globals and builtins. The
/// client filters them by what is typed already.
pub fn completions(
    db: &Database,
    workspace: &Workspace,
    position: FilePosition,
) -> Vec<Completion> {
    let file = position.file;
    let index = file_index(db, file);
    let text = file.text(db);
    let before = text.get(..position.offset as usize).unwrap_or("");
    if in_string_or_comment(&index, before) {
        return Vec::new();
    }
    let r = Resolver::of(db, workspace, file);
    let typed = without_word(before);
    let mut out = match imports::completions(&r, workspace, file, typed) {
        Some(found) => found,
        None => match typed.strip_suffix('.') {
            Some(receiver) => behind_dot(&r, file, &index, receiver),
            None => variables(&r, file, &index, position.offset),
        },
    };
    // Of modules to import the program's own come first.
    let shipped = |c: &Completion| {
        let path = c.definition.map(|d| d.file.path(db));
        c.kind == CompletionKind::Module && path.is_none_or(|p| p.starts_with(SHIPPED))
    };
    out.sort_by(|a, b| (shipped(a), a.order()).cmp(&(shipped(b), b.order())));
    let mut seen = BTreeMap::new();
    out.retain(|c| seen.insert(c.name.clone(), ()).is_none());
    out
}

/// Whether an import statement is being written at a place.
pub fn completes_import(db: &Database, position: FilePosition) -> bool {
    let before = position.file.text(db).get(..position.offset as usize);
    imports::is_import(without_word(before.unwrap_or("")))
}

/// A text without the word that it ends with.
fn without_word(text: &str) -> &str {
    text.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_')
}

/// What is known of a completion that is looked at: of a function its signature in every
/// specialisation and its docstring. The text may have changed since it was offered: the
/// nearest definition of that name counts.
pub fn documentation(
    db: &Database,
    workspace: &Workspace,
    definition: FilePosition,
    name: &str,
) -> Option<Hover> {
    let index = file_index(db, definition.file);
    let defines = |t: &&crate::Token| t.role.binds() && index.text(t) == name;
    let nearest = index.tokens.iter().filter(defines);
    let token = nearest.min_by_key(|t| t.range.start.abs_diff(definition.offset))?;
    let position = FilePosition {
        file: definition.file,
        offset: token.range.start,
    };
    hover(db, workspace, position)
}

fn in_string_or_comment(index: &FileIndex, before: &str) -> bool {
    let at = before.len() as u32;
    let spans = &index.parsed.spans;
    let inside = index.parsed.ast.exprs.iter().any(|(id, e)| {
        let range = spans.expr(id);
        matches!(e, Expr::Str(_) | Expr::Unicode(_)) && range.start < at && at < range.end
    });
    inside || open_quote_or_comment(before.rsplit('\n').next().unwrap_or(""))
}

/// What is known of a module before it is imported: its docstring.
pub fn module_documentation(db: &Database, module: File) -> Option<Hover> {
    let code = taipan_code::code(db, taipan_code::module_code_id(db, module));
    let doc = code.doc.and_then(|d| doc_text(&code.consts[d as usize]))?;
    Some(Hover {
        range: taipan_base::TextRange::new(0, 0),
        code: Vec::new(),
        notes: vec![doc],
        colored: None,
    })
}

/// Whether a line ends in a comment or in a string that is still open.
fn open_quote_or_comment(line: &str) -> bool {
    let mut quote: Option<char> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(_), '\\') => {
                chars.next();
            }
            (Some(q), c) if c == q => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '#') => return true,
            _ => {}
        }
    }
    quote.is_some()
}

fn behind_dot(r: &Resolver<'_>, file: File, index: &FileIndex, receiver: &str) -> Vec<Completion> {
    let Some(home) = &r.home else {
        return Vec::new();
    };
    let typer = Typer::new(r, home, file, index, receiver.len() as u32);
    let mut out = Vec::new();
    for known in typer.receiver(receiver) {
        match &known {
            Known::List(_) => out.extend(builtin_methods(BuiltinKind::List)),
            Known::Value(v) => out.extend(BuiltinKind::of(&v.kind).map_or(vec![], builtin_methods)),
            Known::Object(Const::Obj(id)) => match home.object(*id).as_deref() {
                Some(ObjData::List(_)) => out.extend(builtin_methods(BuiltinKind::List)),
                Some(ObjData::Dict(_)) => out.extend(builtin_methods(BuiltinKind::Dict)),
                Some(ObjData::Module { .. }) => module_members(home, *id, &mut out),
                _ => {}
            },
            Known::Object(Const::Str(_) | Const::Unicode(_)) => {
                out.extend(builtin_methods(BuiltinKind::Str));
            }
            _ => {}
        }
        for owner in typer.owners(&known) {
            if let Owner::Class(c) = owner {
                class_members(home, c, &mut out);
            }
        }
    }
    out
}

/// The attributes of instances of a class, those of subclasses left out.
fn class_members(home: &Home<'_>, class: ObjId, out: &mut Vec<Completion>) {
    for c in home.mro(class) {
        if let Some(roots) = home.roots {
            for (name, a) in &class_attributes(home.db, Class::new(home.db, roots, c)).attrs {
                if !matches!(a.value.kind, SomeKind::Pbc { .. }) {
                    let text = annotation_text(home.db, roots, &a.value);
                    out.push(Completion::new(name, CompletionKind::Attribute, Some(text)));
                }
            }
        }
        if let Some(ObjData::Class(d)) = home.object(c).as_deref() {
            for (name, value) in d.dict.iter().filter(|(n, _)| !n.starts_with("__")) {
                let mut found = of_const(home, name, value);
                found.kind = match found.kind {
                    CompletionKind::Function => CompletionKind::Method,
                    CompletionKind::Global => CompletionKind::Attribute,
                    other => other,
                };
                out.push(found);
            }
        }
    }
}

/// The globals of a module.
fn module_members(home: &Home<'_>, module: ObjId, out: &mut Vec<Completion>) {
    let image = image(home.db, home.program);
    for (name, value) in image.globals.get(&module).into_iter().flatten() {
        if !name.starts_with("__") {
            out.push(of_const(home, name, value));
        }
    }
}

fn of_const(home: &Home<'_>, name: &str, value: &Const) -> Completion {
    let Const::Obj(id) = value else {
        let text = value.to_string();
        return Completion::new(name, CompletionKind::Global, Some(text));
    };
    let (kind, detail) = match home.object(*id).as_deref() {
        Some(ObjData::Module { .. }) => (CompletionKind::Module, None),
        Some(ObjData::Class(_)) => (CompletionKind::Class, None),
        Some(ObjData::Function(f)) => (CompletionKind::Function, Some(arguments(home, f.code))),
        Some(ObjData::StaticMethod(Const::Obj(f)) | ObjData::ClassMethod(Const::Obj(f))) => {
            match home.object(*f).as_deref() {
                Some(ObjData::Function(f)) => {
                    (CompletionKind::Function, Some(arguments(home, f.code)))
                }
                _ => (CompletionKind::Function, None),
            }
        }
        Some(ObjData::Builtin { .. }) => (CompletionKind::Builtin, None),
        _ => (CompletionKind::Global, None),
    };
    Completion {
        definition: home.place(*id),
        ..Completion::new(name, kind, detail)
    }
}

/// The arguments of a function by name.
fn arguments(home: &Home<'_>, code: taipan_code::CodeId) -> String {
    let code = taipan_code::code(home.db, code);
    let args: Vec<&str> = code.locals[..code.argcount as usize]
        .iter()
        .map(|l| &**l)
        .collect();
    format!("({})", args.join(", "))
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
        let found = match (of, home, module) {
            (0, Some(home), Some(module)) => match home.global(module, name) {
                Some(value) => of_const(home, name, &value),
                None => Completion::new(name, CompletionKind::Global, None),
            },
            (0, ..) => Completion::new(name, CompletionKind::Global, None),
            _ => {
                let roots = home.and_then(|h| h.roots);
                let body = r.body_of_scope(index, of);
                let first = body.and_then(|b| b.variable(name, t.range, true).into_iter().next());
                let text = first
                    .zip(roots)
                    .map(|(v, roots)| annotation_text(r.db, roots, &v));
                Completion::new(name, CompletionKind::Local, text)
            }
        };
        out.push(found);
    }
    // What stands in parts of the text that are broken.
    if let (Some(home), Some(module)) = (home, module) {
        module_members(home, module, &mut out);
    }
    let word = |kind| move |name: &&str| Completion::new(name, kind, None);
    out.extend(rpython_names().iter().map(word(CompletionKind::Builtin)));
    let exceptions = Exc::of_python().filter(|e| e.base() != Some(Exc::Warning));
    out.extend(exceptions.map(|e| Completion::new(e.name(), CompletionKind::Builtin, None)));
    out.extend(KEYWORDS.iter().map(word(CompletionKind::Keyword)));
    out
}

/// Words of the language.
const KEYWORDS: &[&str] = &[
    "and", "as", "assert", "break", "class", "continue", "def", "del", "elif", "else", "except",
    "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "not", "or", "pass",
    "print", "raise", "return", "try", "while", "with",
];

/// A kind of values that has methods of its own.
#[derive(Clone, Copy)]
enum BuiltinKind {
    List,
    Dict,
    Str,
    Builder,
}

impl BuiltinKind {
    fn of(kind: &SomeKind) -> Option<BuiltinKind> {
        Some(match kind {
            SomeKind::List { .. } => BuiltinKind::List,
            SomeKind::Dict { .. } => BuiltinKind::Dict,
            SomeKind::Str { .. } | SomeKind::Char { .. } | SomeKind::Unicode { .. } => {
                BuiltinKind::Str
            }
            SomeKind::UniChar => BuiltinKind::Str,
            SomeKind::Builder { .. } => BuiltinKind::Builder,
            _ => return None,
        })
    }

    /// The methods that RPython has, sorted by name.
    fn methods(self) -> Vec<&'static str> {
        let mut names: Vec<&str> = match self {
            BuiltinKind::List => {
                let all = ListMethod::ALL.iter().filter(|m| !m.is_refused());
                all.map(|m| m.name()).collect()
            }
            BuiltinKind::Dict => {
                let all = DictMethod::ALL.iter().filter(|m| m.is_written());
                all.map(|m| m.name()).collect()
            }
            BuiltinKind::Str => {
                let all = TextMethod::ALL.iter().filter(|m| !m.is_refused());
                all.map(|m| m.name()).collect()
            }
            BuiltinKind::Builder => BuilderMethod::NAMES.to_vec(),
        };
        names.sort_unstable();
        names
    }
}

/// The methods that RPython has on values of a builtin kind.
fn builtin_methods(kind: BuiltinKind) -> Vec<Completion> {
    let method = |n: &&str| Completion::new(n, CompletionKind::Method, None);
    kind.methods().iter().map(method).collect()
}
