//! From a name to what it means and back: definitions, references, highlights.

use taipan_base::{File, Span, TextRange};
use taipan_code::{CodeId, code_spans};
use taipan_driver::Database;
use taipan_graph::{Const, ObjId};
use taipan_interp::ObjData;

use crate::index::{FileIndex, Role, Token, file_index};
use crate::places::Places;
use crate::program::{FilePosition, Home, Others, Workspace};
use crate::symbol::{Owner, Resolver, Symbol};

/// A place where a symbol is named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reference {
    /// The name.
    pub span: Span,
    /// It is assigned, defined or imported there.
    pub write: bool,
}

/// The name at a place.
pub fn name_at(db: &Database, position: FilePosition) -> Option<String> {
    let index = file_index(db, position.file);
    let token = index.token_at(position.offset)?;
    Some(index.text(token).to_owned())
}

/// Where what is named at a place is defined: of a method all that may be called, of an
/// attribute where it is assigned in the class that declares it. Sorted, none twice.
pub fn definitions(db: &Database, workspace: &Workspace, position: FilePosition) -> Vec<Span> {
    let file = position.file;
    let index = file_index(db, file);
    let Some(token) = index.token_at(position.offset) else {
        return Vec::new();
    };
    let r = Resolver::of(db, workspace, file);
    let mut out = Vec::new();
    if let (Role::Attribute(expr, _), Some(home)) = (token.role, &r.home) {
        for owner in r.owners(file, &index, token, expr) {
            if let Owner::Class(c) = owner {
                out.extend(methods(home, c, index.text(token)));
            }
        }
    }
    if out.is_empty() {
        for symbol in r.symbols(file, &index, token) {
            out.extend(definitions_of(&r, file, &symbol));
        }
    }
    sorted(db, out)
}

fn sorted(db: &Database, mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|s| (s.file.path(db), s.range));
    spans.dedup();
    spans
}

/// The methods of that name that a call on instances of a class can reach: the one that
/// the class has, and those of its subclasses.
fn methods(home: &Home<'_>, class: ObjId, name: &str) -> Vec<Span> {
    let mut out = Vec::new();
    let own = home
        .class_attr(class, name)
        .and_then(|(_, c)| function_place(home, &c));
    out.extend(own);
    for sub in subclasses(home, class) {
        if let Some(ObjData::Class(c)) = home.object(sub).as_deref()
            && let Some(value) = c.get(name)
        {
            out.extend(function_place(home, value));
        }
    }
    out
}

fn function_place(home: &Home<'_>, value: &Const) -> Option<Span> {
    let Const::Obj(id) = value else { return None };
    match home.object(*id).as_deref()? {
        ObjData::Class(_) | ObjData::Module { .. } => None,
        _ => home.place(*id),
    }
}

/// The classes in use below a class, in a stable order.
pub(crate) fn subclasses(home: &Home<'_>, class: ObjId) -> Vec<ObjId> {
    let Some(roots) = home.roots else {
        return Vec::new();
    };
    let mut out = Vec::new();
    let mut todo = vec![class];
    while let Some(c) = todo.pop() {
        let key = taipan_annotator::Class::new(home.db, roots, c);
        for sub in &taipan_annotator::class_def(home.db, key).subclasses {
            if !out.contains(sub) {
                out.push(*sub);
                todo.push(*sub);
            }
        }
    }
    out
}

/// Where a symbol is defined.
pub(crate) fn definitions_of(r: &Resolver<'_>, file: File, symbol: &Symbol) -> Vec<Span> {
    match symbol {
        Symbol::Local(code, name) => {
            let Some(file) = code.file(r.db) else {
                return Vec::new();
            };
            let index = file_index(r.db, file);
            // The parameter, or the first assignment.
            let first = index.tokens.iter().find(|t| {
                let (scope, text) = index.variable(t);
                t.role.binds() && text == &**name && index.codes.get(scope) == Some(code)
            });
            first.map(|t| place(file, t)).into_iter().collect()
        }
        Symbol::Global(file, name) => {
            let index = file_index(r.db, *file);
            let bindings = index.bindings(name).filter(|t| t.role != Role::Write(None));
            let bindings: Vec<&Token> = bindings.collect();
            // A function or class that is defined twice is found twice.
            let defined = |t: &&&Token| matches!(t.role, Role::Function(_) | Role::Class(_));
            let defs: Vec<Span> = bindings
                .iter()
                .filter(defined)
                .map(|t| place(*file, t))
                .collect();
            match defs.is_empty() {
                true => bindings
                    .first()
                    .map(|t| place(*file, t))
                    .into_iter()
                    .collect(),
                false => defs,
            }
        }
        Symbol::Member(class, name) => member_definitions(r, file, *class, name),
        Symbol::Module(file) => vec![Span {
            file: *file,
            range: TextRange::new(0, 0),
        }],
        Symbol::Builtin(_) => Vec::new(),
    }
}

fn place(file: File, t: &Token) -> Span {
    Span {
        file,
        range: t.range,
    }
}

fn member_definitions(r: &Resolver<'_>, file: File, class: ObjId, name: &str) -> Vec<Span> {
    let Some(home) = &r.home else {
        return Vec::new();
    };
    let found = methods(home, class, name);
    if !found.is_empty() {
        return found;
    }
    let symbol = Symbol::Member(class, name.into());
    let code = home.code_of_class(class);
    let class_file = code.and_then(|c| c.file(r.db));
    let writes = |file: File| -> Vec<(Span, Token)> {
        let all = r.tokens_of(file, &symbol).into_iter();
        all.filter(|(_, t)| t.role.writes()).collect()
    };
    // In the class that declares it, else wherever.
    if let (Some(file), Some(code)) = (class_file, code) {
        let whole = code_spans(r.db, code).whole;
        let inside: Vec<Span> = writes(file)
            .into_iter()
            .map(|(s, _)| s)
            .filter(|s| whole.start <= s.range.start && s.range.end <= whole.end)
            .collect();
        if let Some(first) = inside.first() {
            return vec![*first];
        }
    }
    r.files(file)
        .iter()
        .flat_map(|f| writes(*f))
        .map(|(s, _)| s)
        .collect()
}

/// All places that name what is named at a place, in all programs and in other files of
/// the workspace, in the order of paths. Methods and attributes are found through the
/// hierarchy of their class, what is imported also under its other names.
pub fn references(
    db: &Database,
    workspace: &Workspace,
    others: &Others,
    position: FilePosition,
) -> Vec<Reference> {
    let Ok(places) = Places::of_all(db, workspace, others, position) else {
        return Vec::new();
    };
    let reference = |(file, token): &(File, Token)| Reference {
        span: place(*file, token),
        write: token.role.writes(),
    };
    places.found.values().map(reference).collect()
}

/// Whether a variable of a function is one of its parameters, which calls may name.
pub(crate) fn is_parameter(db: &Database, code: CodeId, name: &str) -> bool {
    let Some(file) = code.file(db) else {
        return false;
    };
    let index = file_index(db, file);
    index.tokens.iter().any(|t| {
        let (scope, text) = index.variable(t);
        t.role == Role::Parameter && text == name && index.codes.get(scope) == Some(&code)
    })
}

/// The places in the same file that name what is named at a place.
pub fn highlights(db: &Database, workspace: &Workspace, position: FilePosition) -> Vec<Reference> {
    let file = position.file;
    let index: &FileIndex = &file_index(db, file);
    let Some(token) = index.token_at(position.offset) else {
        return Vec::new();
    };
    let r = Resolver::of(db, workspace, file);
    let mut out = Vec::new();
    for symbol in r.symbols(file, index, token) {
        for (span, token) in r.tokens_of(file, &symbol) {
            let reference = Reference {
                span,
                write: token.role.writes(),
            };
            if !out.contains(&reference) {
                out.push(reference);
            }
        }
    }
    out.sort_by_key(|x: &Reference| x.span.range);
    out
}
