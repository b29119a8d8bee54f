//! Imports and variables that nothing uses, and statements that nothing reaches.
//!
//! ```text
//! mentioned_in_file(file)      names that other modules may take from their imports there
//! mentioned_in(program)        those of all files
//! unused_in_file(file)         unused code of a file, by that file alone
//! ```
//!
//! Imports and statements are found in syntax trees, variables in code. In doubt a name counts as used: an import is used if its
//! name occurs anywhere in the file, or as an attribute or import in another file.

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use std::sync::Arc;

use rustc_hash::FxHashSet;
use taipan_base::{Db, Diagnostic, ErrorCode, File, Program, SHIPPED, Severity, Span, TextRange};
use taipan_code::{Code, CodeKind, Instr, code_spans, file_codes, parse};
use taipan_interp::program_files;
use taipan_syntax::walk::{Part, stmt_parts};
use taipan_syntax::{Ast, Block, Expr, FunctionBody, ParsedFile, Stmt, StmtId};

use crate::db::Database;
use crate::parallel::par_map;
use crate::unreached::own_files;

/// Unused code in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Unused {
    code: ErrorCode,
    at: TextRange,
    /// The name of an import or variable.
    name: Box<str>,
}

/// Warnings about unused code in the author's own files of a program, sorted by file and place. A variable is skipped if
/// `found` has a warning about the operation that computes its value.
pub(crate) fn unused_warnings(
    db: &Database,
    program: Program,
    found: &[Diagnostic],
) -> Vec<Diagnostic> {
    let files = own_files(db, program);
    let unused_by_file = par_map(db, &files, |db, file| unused_in_file(db, *file));
    let mut out = Vec::new();
    for (file, all) in files.iter().zip(unused_by_file) {
        for unused in all.iter() {
            let imported = unused.code == ErrorCode::UnusedImport;
            if imported && is_taken(&mentioned_in(db, program), *file, db, &unused.name) {
                continue;
            }
            if !found.iter().any(|d| is_value_of(d, unused, *file, db)) {
                out.push(unused.diagnostic(*file));
            }
        }
    }
    out
}

/// Whether a warning is about the dead operation that computes the value of the variable.
fn is_value_of(d: &Diagnostic, variable: &Unused, file: File, db: &dyn Db) -> bool {
    let between = |place: Span| {
        let text = file.text(db);
        (place.file == file)
            .then(|| text.get(variable.at.end as usize..place.range.start as usize))?
    };
    d.code == ErrorCode::DeadOperation
        && variable.code == ErrorCode::UnusedVariable
        && d.primary
            .and_then(between)
            .is_some_and(|t| !t.contains('\n'))
}

/// Whether another module may take a name from a file.
fn is_taken(mentioned: &FxHashSet<Box<str>>, file: File, db: &dyn Db, name: &str) -> bool {
    let module = file.path(db).file_stem().unwrap_or_default();
    let keys = [
        format!(".{name}"),
        format!("{module}.{name}"),
        format!("{module}.*"),
    ];
    keys.iter().any(|key| mentioned.contains(&**key))
}

impl Unused {
    fn diagnostic(&self, file: File) -> Diagnostic {
        let name = &self.name;
        let (message, help) = match self.code {
            ErrorCode::UnusedImport => (
                format!("`{name}` is imported, and nothing uses it"),
                "leave it out",
            ),
            ErrorCode::UnusedVariable => (
                format!("variable `{name}` gets a value, and nothing uses it"),
                "leave the variable out, or name it `_`",
            ),
            _ => (
                "nothing reaches this code".to_owned(),
                "leave it out, or mend what stands in front of it",
            ),
        };
        let range = self.at;
        let mut d = Diagnostic::error(self.code, Some(Span { file, range }), message);
        d.severity = Severity::Warning;
        d.with_help(help)
    }
}

/// Names that the files of a program mention for other modules.
#[salsa::tracked(returns(clone))]
fn mentioned_in(db: &dyn Db, program: Program) -> Arc<FxHashSet<Box<str>>> {
    let mut all = FxHashSet::default();
    for file in program_files(db, program).iter() {
        if !file.path(db).starts_with(SHIPPED) {
            all.extend(mentioned_in_file(db, *file).iter().cloned());
        }
    }
    Arc::new(all)
}

/// Names that a file may take from other modules, sorted, without repetitions: `module.name` and `module.*` for imports from a
/// module (the last part of its name), and `.name` for attributes and for names in strings, whose module is unknown.
#[salsa::tracked(returns(clone))]
fn mentioned_in_file(db: &dyn Db, file: File) -> Arc<[Box<str>]> {
    let parsed = parse(db, file);
    let ast = &parsed.ast;
    let mut names: Vec<Box<str>> = Vec::new();
    for (_, e) in ast.exprs.iter() {
        if let Expr::Attribute(_, name) = e {
            names.push(format!(".{}", ast.name(*name)).into());
        }
    }
    names.extend(words(ast).iter().map(|word| format!(".{word}").into()));
    for (_, stmt) in ast.stmts.iter() {
        if let Stmt::ImportFrom(from) = stmt {
            let module = from.module.rsplit('.').next().unwrap_or_default();
            let mut take = |name: &str| names.push(format!("{module}.{name}").into());
            match &from.names {
                Some(taken) => taken.iter().for_each(|(name, _)| take(ast.name(*name))),
                None => take("*"),
            }
        }
    }
    names.sort_unstable();
    names.dedup();
    names.into()
}

/// Strings that are names, as in `__all__`.
fn words(ast: &Ast) -> Vec<&str> {
    let strings = ast.exprs.iter().filter_map(|(_, e)| match e {
        Expr::Str(s) => std::str::from_utf8(s).ok(),
        _ => None,
    });
    strings
        .filter(|s| !s.is_empty() && s.chars().all(is_of_name))
        .collect()
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[salsa::tracked(returns(clone))]
fn unused_in_file(db: &dyn Db, file: File) -> Arc<[Unused]> {
    let _timed = taipan_base::timed(db);
    let parsed = parse(db, file);
    let mut out = imports(file.text(db), &parsed, file.path(db).file_name());
    out.extend(unreached(&parsed));
    let simple = simple_targets(&parsed);
    for (id, code) in file_codes(db, file).iter() {
        let stores = unread_stores(code);
        if stores.is_empty() {
            continue;
        }
        let spans = code_spans(db, *id);
        for (local, pcs) in stores {
            let places: Option<Vec<TextRange>> = pcs
                .iter()
                .map(|pc| spans.instrs.get(*pc).copied())
                .collect();
            if let Some(places) = places
                && places.iter().all(|at| simple.contains(at))
            {
                out.push(Unused {
                    code: ErrorCode::UnusedVariable,
                    at: places[0],
                    name: code.locals[local].clone(),
                });
            }
        }
    }
    out.sort_by_key(|u| (u.at.start, u.code));
    out.into()
}

/// Imports whose names occur nowhere else in the file.
fn imports(text: &str, parsed: &ParsedFile, file_name: Option<&str>) -> Vec<Unused> {
    let ast = &parsed.ast;
    // The imports of a package are its interface, and `exec` may use any name.
    let stmts = || ast.stmts.iter().map(|(_, s)| s);
    let executes = stmts().any(|s| matches!(s, Stmt::Exec { .. }));
    if file_name == Some("__init__.py") || executes {
        return Vec::new();
    }
    let names = ast.exprs.iter().filter_map(|(_, e)| match e {
        Expr::Name(name) => Some(ast.name(*name)),
        _ => None,
    });
    let mut used: FxHashSet<&str> = names.chain(words(ast)).collect();
    // An import in `try` may test whether a module exists.
    for s in stmts() {
        if let Stmt::Try(t) = s {
            let parts = [&t.body, &t.orelse].into_iter();
            let parts = parts.chain(t.handlers.iter().map(|h| &h.body));
            for id in parts.flatten() {
                used.extend(bound(ast, &ast.stmts[*id]));
            }
        }
        if let Stmt::Global(names) = s {
            used.extend(names.iter().map(|n| ast.name(*n)));
        }
    }
    let mut out = Vec::new();
    for (id, stmt) in ast.stmts.iter() {
        for name in bound(ast, stmt) {
            let at = parsed.spans.stmt(id);
            if !used.contains(name)
                && let Some(at) = last_word(text, at, name)
            {
                out.push(Unused {
                    code: ErrorCode::UnusedImport,
                    at,
                    name: name.into(),
                });
            }
        }
    }
    out
}

/// The names that an import binds. `import a.b` alone may be there for its effect.
fn bound<'a>(ast: &'a Ast, stmt: &'a Stmt) -> Vec<&'a str> {
    match stmt {
        Stmt::Import(aliases) => aliases
            .iter()
            .filter(|a| a.alias.is_some() || !a.module.contains('.'))
            .map(|a| ast.name(a.alias.unwrap_or(a.first)))
            .collect(),
        Stmt::ImportFrom(from) if &*from.module != "__future__" => {
            let names = from.names.iter().flatten();
            names.map(|(_, bound)| ast.name(*bound)).collect()
        }
        _ => Vec::new(),
    }
}

/// The last place of a word in a part of a text.
fn last_word(text: &str, within: TextRange, word: &str) -> Option<TextRange> {
    let start = within.start as usize;
    let part = text.get(start..within.end as usize)?;
    let mut places = part.rmatch_indices(word).map(|(i, _)| i);
    let i = places.find(|i| {
        !part[..*i].ends_with(is_of_name) && !part[*i + word.len()..].starts_with(is_of_name)
    })?;
    Some(TextRange::new(
        (start + i) as u32,
        (start + i + word.len()) as u32,
    ))
}

/// Places of variables that are the only target of an assignment. The syntax of tuples, loops and `except` requires a variable.
fn simple_targets(parsed: &ParsedFile) -> FxHashSet<TextRange> {
    let ast = &parsed.ast;
    let target = |(_, stmt): (_, &Stmt)| match stmt {
        Stmt::Assign(targets, _) => match &targets[..] {
            [one] if matches!(ast.exprs[*one], Expr::Name(_)) => Some(parsed.spans.expr(*one)),
            _ => None,
        },
        _ => None,
    };
    ast.stmts.iter().filter_map(target).collect()
}

/// Local variables of a function that are assigned and never read, with the instructions that assign them.
fn unread_stores(code: &Code) -> Vec<(usize, Vec<usize>)> {
    if code.kind != CodeKind::Function || code.poisoned {
        return Vec::new();
    }
    let mut stores: Vec<Vec<usize>> = vec![Vec::new(); code.locals.len()];
    let mut read = vec![false; code.locals.len()];
    for (pc, instr) in code.instrs.iter().enumerate() {
        match instr {
            Instr::StoreFast(i) => stores[*i as usize].push(pc),
            Instr::LoadFast(i) | Instr::DeleteFast(i) => read[*i as usize] = true,
            // These functions read all variables.
            Instr::LoadGlobal(n)
                if matches!(
                    &*code.names[*n as usize],
                    "locals" | "vars" | "eval" | "execfile"
                ) =>
            {
                return Vec::new();
            }
            _ => {}
        }
    }
    let parameters =
        code.argcount as usize + usize::from(code.varargs) + usize::from(code.varkeywords);
    stores
        .into_iter()
        .enumerate()
        .skip(parameters)
        .filter(|(i, pcs)| {
            let name = &code.locals[*i];
            !pcs.is_empty() && !read[*i] && name.starts_with(|c: char| c.is_alphabetic())
        })
        .collect()
}

/// Statements after one that never completes, in the same block.
fn unreached(parsed: &ParsedFile) -> Vec<Unused> {
    let ast = &parsed.ast;
    let mut blocks: Vec<&Block> = vec![&ast.body];
    blocks.extend(ast.classes.iter().map(|(_, c)| &c.body));
    blocks.extend(ast.functions.iter().filter_map(|(_, f)| match &f.body {
        FunctionBody::Block(b) => Some(b),
        FunctionBody::Expr(_) => None,
    }));
    for (_, stmt) in ast.stmts.iter() {
        stmt_parts(stmt, &mut |part| {
            if let Part::Block(b) = part {
                blocks.push(b);
            }
        });
    }
    let mut out = Vec::new();
    for block in blocks {
        let ends = block.iter().position(|s| never_ends(ast, *s));
        let Some(rest) = ends.and_then(|i| block.get(i + 1..)) else {
            continue;
        };
        if let ([first, ..], [.., last]) = (rest, rest)
            && !is_deliberate(ast, *first)
        {
            out.push(Unused {
                code: ErrorCode::UnreachedCode,
                at: TextRange::new(
                    parsed.spans.stmt(*first).start,
                    parsed.spans.stmt(*last).end,
                ),
                name: "".into(),
            });
        }
    }
    out
}

/// Whether control never reaches the statement after this one.
fn never_ends(ast: &Ast, stmt: StmtId) -> bool {
    let block = |b: &Block| b.iter().any(|s| never_ends(ast, *s));
    match &ast.stmts[stmt] {
        Stmt::Return(_) | Stmt::Raise(_) | Stmt::Break | Stmt::Continue => true,
        Stmt::If(branches, orelse) => branches.iter().all(|(_, b)| block(b)) && block(orelse),
        _ => false,
    }
}

/// Whether an unreachable statement is deliberate: it marks the place as unreachable, or turns the function into a generator.
fn is_deliberate(ast: &Ast, stmt: StmtId) -> bool {
    match &ast.stmts[stmt] {
        Stmt::Raise(_) | Stmt::Assert(..) | Stmt::Pass | Stmt::Return(_) => true,
        Stmt::Expr(e) => matches!(ast.exprs[*e], Expr::Yield(_) | Expr::Str(_)),
        _ => false,
    }
}
