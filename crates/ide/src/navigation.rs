//! From a name to what it means and back: definitions, references, highlights.

use taipan_base::{File, Span, TextRange};
use taipan_code::{CodeId, code_spans};
use taipan_driver::Database;
use taipan_graph::{Const, ObjId};
use taipan_interp::ObjData;
use taipan_syntax::walk::{Part, stmt_parts};
use taipan_syntax::{Expr, FunctionBody, FunctionId, Stmt};

use crate::hierarchy::{classes_at, made_from};
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

/// The classes of the values of what is named at a place; of lists and dicts those of what
/// they hold. Sorted, none twice.
pub fn type_definitions(db: &Database, workspace: &Workspace, position: FilePosition) -> Vec<Span> {
    let file = position.file;
    let index = file_index(db, file);
    let Some(token) = index.token_at(position.offset) else {
        return Vec::new();
    };
    let mut out = Vec::new();
    for r in resolvers(db, workspace, file) {
        let classes = classes_at(&r, file, &index, token);
        let home = r.home.as_ref();
        out.extend(classes.into_iter().filter_map(|c| home?.place(c)));
    }
    sorted(db, out)
}

/// What is behind a name in the end: of a method those of its class and of the classes below
/// that do something, of a class the classes made from it. Sorted, none twice.
pub fn implementations(db: &Database, workspace: &Workspace, position: FilePosition) -> Vec<Span> {
    let file = position.file;
    let index = file_index(db, file);
    let Some(token) = index.token_at(position.offset) else {
        return Vec::new();
    };
    let name = index.text(token);
    let mut out = Vec::new();
    for r in resolvers(db, workspace, file) {
        let Some(home) = &r.home else { continue };
        if let Role::Attribute(expr, _) = token.role {
            for owner in r.owners(file, &index, token, expr) {
                if let Owner::Class(c) = owner {
                    out.extend(overridden(home, c, name));
                }
            }
        }
        for symbol in r.symbols(file, &index, token) {
            match symbol {
                Symbol::Member(top, name) => {
                    // Below the class in which it stands, if it does.
                    let scope = index.variable(token).0;
                    let own = index.codes.get(scope).and_then(|c| home.class_of(*c));
                    let attribute = matches!(token.role, Role::Attribute(..));
                    if !attribute {
                        out.extend(overridden(home, own.unwrap_or(top), &name));
                    }
                }
                Symbol::Global(f, name) => {
                    let value = home.module_of(f).and_then(|m| home.global(m, &name));
                    if let Some(Const::Obj(id)) = value
                        && matches!(home.object(id).as_deref(), Some(ObjData::Class(_)))
                    {
                        let below = all_below(home, id).into_iter();
                        out.extend(below.filter_map(|c| home.place(c)));
                    }
                }
                _ => {}
            }
        }
    }
    match out.is_empty() {
        true => definitions(db, workspace, position),
        false => sorted(db, out),
    }
}

/// For names of a file in all programs that have it.
fn resolvers<'db>(db: &'db Database, workspace: &Workspace, file: File) -> Vec<Resolver<'db>> {
    let first = workspace.home(db, file).map(|h| h.program);
    let mut out = vec![Resolver::of(db, workspace, file)];
    for p in workspace.programs.iter().filter(|p| Some(**p) != first) {
        if taipan_interp::program_files(db, *p).contains(&file) {
            out.push(Resolver::in_program(Home::new(db, *p)));
        }
    }
    out
}

/// All classes below a class, in use or not.
fn all_below(home: &Home<'_>, class: ObjId) -> Vec<ObjId> {
    let mut out = Vec::new();
    let mut todo = vec![class];
    while let Some(c) = todo.pop() {
        for sub in made_from(home, c) {
            if !out.contains(&sub) {
                out.push(sub);
                todo.push(sub);
            }
        }
    }
    out
}

/// The methods of that name of a class and the classes below; those which only say that they
/// are not implemented count where there is nothing else.
fn overridden(home: &Home<'_>, class: ObjId, name: &str) -> Vec<Span> {
    let own = home.class_attr(class, name).map(|(_, c)| c);
    let below = all_below(home, class).into_iter();
    let below = below.filter_map(|c| match home.object(c).as_deref() {
        Some(ObjData::Class(c)) => c.get(name).cloned(),
        _ => None,
    });
    let all: Vec<Const> = own.into_iter().chain(below).collect();
    let real = |c: &&Const| !only_raises(home, c);
    let places = |c: &Const| function_place(home, c);
    let found: Vec<Span> = all.iter().filter(real).filter_map(places).collect();
    match found.is_empty() {
        true => all.iter().filter_map(places).collect(),
        false => found,
    }
}

/// Whether a method only raises NotImplementedError.
fn only_raises(home: &Home<'_>, value: &Const) -> bool {
    let Some(place) = function_place(home, value) else {
        return false;
    };
    let index = file_index(home.db, place.file);
    match index.token_at(place.range.start).map(|t| t.role) {
        Some(Role::Function(f)) => is_abstract(&index, f),
        _ => false,
    }
}

/// Whether a function does nothing but raise NotImplementedError, a docstring apart.
pub(crate) fn is_abstract(index: &FileIndex, function: FunctionId) -> bool {
    let ast = &index.parsed.ast;
    let FunctionBody::Block(block) = &ast.functions[function].body else {
        return false;
    };
    let docstring = |s: &Stmt| matches!(s, Stmt::Expr(e) if matches!(ast.exprs[*e], Expr::Str(_)));
    let stmts = block.iter().map(|s| &ast.stmts[*s]);
    let mut rest = stmts.filter(|s| !docstring(s));
    let (Some(stmt @ Stmt::Raise { .. }), None) = (rest.next(), rest.next()) else {
        return false;
    };
    let mut named = false;
    stmt_parts(stmt, &mut |part| {
        if let Part::Expr(e) = part {
            let raised = match &ast.exprs[e] {
                Expr::Call(c) => c.function,
                _ => e,
            };
            let name = |e: &Expr| match e {
                Expr::Name(n) => ast.name(*n) == "NotImplementedError",
                _ => false,
            };
            named |= name(&ast.exprs[raised]);
        }
    });
    named
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
