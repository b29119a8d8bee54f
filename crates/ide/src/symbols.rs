//! The outline of a file, and the search for a definition by name.

use rustc_hash::FxHashSet;
use salsa::Database as _;
use taipan_base::{Db, File, Span, TextRange};
use taipan_code::scope::{ScopeId, ScopeNode};
use taipan_driver::Database;
use taipan_interp::program_files;
use taipan_syntax::{Expr, Stmt};

use crate::index::{FileIndex, Role, file_index};
use crate::program::Workspace;

/// What a definition is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SymbolKind {
    /// A class.
    Class,
    /// A function.
    Function,
    /// A function in a class.
    Method,
    /// A global, or an attribute given in the body of a class.
    Variable,
    /// A module.
    Module,
}

/// A definition in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DocumentSymbol {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// All of it.
    pub range: TextRange,
    /// The name.
    pub name_range: TextRange,
    /// What is defined inside.
    pub children: Vec<DocumentSymbol>,
}

/// A definition of a workspace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkspaceSymbol {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// The name's place.
    pub span: Span,
    /// The class that it is in.
    pub container: Option<String>,
}

/// Classes, functions and globals of a file, in the order of places.
pub fn document_symbols(db: &dyn Db, file: File) -> Vec<DocumentSymbol> {
    let index = file_index(db, file);
    children(&index, 0)
}

fn children(index: &FileIndex, scope: ScopeId) -> Vec<DocumentSymbol> {
    let in_class = matches!(index.scopes.scopes[scope].node, ScopeNode::Class(_));
    let in_function = matches!(index.scopes.scopes[scope].node, ScopeNode::Function(_));
    let spans = &index.parsed.spans;
    let mut out: Vec<DocumentSymbol> = Vec::new();
    for t in index.tokens.iter().filter(|t| t.scope == scope) {
        let (kind, range, node) = match t.role {
            Role::Function(f) => {
                let kind = match in_class {
                    true => SymbolKind::Method,
                    false => SymbolKind::Function,
                };
                (kind, spans.function(f).whole, Some(ScopeNode::Function(f)))
            }
            Role::Class(c) => (
                SymbolKind::Class,
                spans.class(c).whole,
                Some(ScopeNode::Class(c)),
            ),
            Role::Write(Some(_)) if !in_function => {
                let named = out.iter().any(|s| s.name == index.text(t));
                let assigned = index
                    .stmt_at(t.range.start)
                    .filter(|s| matches!(index.parsed.ast.stmts[*s], Stmt::Assign(..)));
                let Some(stmt) = assigned.filter(|_| !named) else {
                    continue;
                };
                (SymbolKind::Variable, spans.stmt(stmt), None)
            }
            _ => continue,
        };
        let inner = node.and_then(|n| index.scopes.by_node.get(&n));
        out.push(DocumentSymbol {
            name: index.text(t).to_owned(),
            kind,
            range,
            name_range: t.range,
            children: inner.map(|s| children(index, *s)).unwrap_or_default(),
        });
    }
    out
}

/// No more than this are answered.
const MOST_SYMBOLS: usize = 500;

/// Classes, functions and globals whose name has the letters of the query in order, whatever
/// their case: of all programs and of some other files. Best first: the name itself, names
/// that begin so, those in which a word begins so, those which have the letters at the starts
/// of words, then the others; shorter ones before longer ones.
pub fn workspace_symbols(
    db: &Database,
    workspace: &Workspace,
    others: &[File],
    query: &str,
) -> Vec<WorkspaceSymbol> {
    let mut files: Vec<File> = Vec::new();
    let mut seen: FxHashSet<File> = FxHashSet::default();
    let mut add = |f: &File| {
        if !f.path(db).starts_with(taipan_base::SHIPPED) && seen.insert(*f) {
            files.push(*f);
        }
    };
    for p in &workspace.programs {
        program_files(db, *p).iter().for_each(&mut add);
    }
    others.iter().for_each(&mut add);
    let mut out = Vec::new();
    for f in files {
        db.unwind_if_revision_cancelled();
        collect(f, &document_symbols(db, f), None, query, &mut out);
    }
    out.sort_by(|(a, x), (b, y)| (a, x.name.len(), &x.name).cmp(&(b, y.name.len(), &y.name)));
    out.truncate(MOST_SYMBOLS);
    out.into_iter().map(|(_, s)| s).collect()
}

fn collect(
    file: File,
    symbols: &[DocumentSymbol],
    container: Option<&str>,
    query: &str,
    out: &mut Vec<(u32, WorkspaceSymbol)>,
) {
    for s in symbols {
        if let Some(rank) = rank(&s.name, query) {
            let symbol = WorkspaceSymbol {
                name: s.name.clone(),
                kind: s.kind,
                span: Span {
                    file,
                    range: s.name_range,
                },
                container: container.map(str::to_owned),
            };
            out.push((rank, symbol));
        }
        collect(file, &s.children, Some(&s.name), query, out);
    }
}

/// How well a name fits a query, 0 best; none if it does not.
fn rank(name: &str, query: &str) -> Option<u32> {
    if name == query {
        return Some(0);
    }
    let (small, wanted) = (name.to_lowercase(), query.to_lowercase());
    if small.starts_with(&wanted) {
        return Some(match name.starts_with(query) {
            true => 1,
            false => 2,
        });
    }
    let starts = word_starts(name);
    let begins = |at: &usize| small.get(*at..).is_some_and(|r| r.starts_with(&wanted));
    if starts.iter().any(begins) {
        return Some(3);
    }
    let initials: String = starts
        .iter()
        .filter_map(|at| small[*at..].chars().next())
        .collect();
    if subsequence(&initials, &wanted) {
        return Some(4);
    }
    if small.contains(&wanted) {
        return Some(5);
    }
    subsequence(&small, &wanted).then_some(6)
}

/// Where the words of a name begin: behind underscores, and at capital letters.
fn word_starts(name: &str) -> Vec<usize> {
    let mut out = Vec::new();
    let mut before = '_';
    for (i, c) in name.char_indices() {
        if c != '_' && before == '_' || c.is_ascii_uppercase() && !before.is_ascii_uppercase() {
            out.push(i);
        }
        before = c;
    }
    // The letters of other alphabets may take another number of bytes in small.
    out.retain(|_| name.is_ascii());
    out
}

fn subsequence(name: &str, wanted: &str) -> bool {
    let mut letters = name.chars();
    wanted.chars().all(|w| letters.any(|c| c == w))
}

/// A part of a file that can be folded away, from the end of its first line to the end
/// of its last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fold {
    /// The part.
    pub range: TextRange,
    /// It consists of imports.
    pub imports: bool,
}

/// Parts of a file that can be folded: definitions, compound statements, literals and
/// calls over several lines, runs of imports.
pub fn folds(db: &dyn Db, file: File) -> Vec<Fold> {
    let index = file_index(db, file);
    let text = file.text(db);
    let (ast, spans) = (&index.parsed.ast, &index.parsed.spans);
    let several = |r: TextRange| {
        let piece = text.get(r.start as usize..r.end as usize).unwrap_or("");
        piece.trim_end().contains('\n')
    };
    let mut out = Vec::new();
    let mut add = |range: TextRange, imports: bool| {
        if several(range) {
            out.push(Fold { range, imports });
        }
    };
    for (id, stmt) in ast.stmts.iter() {
        match stmt {
            Stmt::Function(f) => add(spans.function(*f).whole, false),
            Stmt::Class(c) => add(spans.class(*c).whole, false),
            Stmt::If(..)
            | Stmt::While { .. }
            | Stmt::For { .. }
            | Stmt::Try(_)
            | Stmt::With(..) => add(spans.stmt(id), false),
            _ => {}
        }
    }
    for (id, expr) in ast.exprs.iter() {
        if matches!(
            expr,
            Expr::List(_) | Expr::Dict(_) | Expr::Tuple(_) | Expr::Call(_) | Expr::Str(_)
        ) {
            add(spans.expr(id), false);
        }
    }
    let mut run: Option<TextRange> = None;
    for s in &ast.body {
        let range = spans.stmt(*s);
        let import = matches!(ast.stmts[*s], Stmt::Import(_) | Stmt::ImportFrom(_));
        match (&mut run, import) {
            (Some(r), true) => r.end = range.end,
            (None, true) => run = Some(range),
            (_, false) => run.take().into_iter().for_each(|r| add(r, true)),
        }
    }
    run.into_iter().for_each(|r| add(r, true));
    out.sort_by_key(|f| (f.range.start, std::cmp::Reverse(f.range.end)));
    out.dedup();
    out
}

/// The pieces of syntax around an offset, from the innermost out, each in the next.
pub fn selections(db: &dyn Db, file: File, offset: u32) -> Vec<TextRange> {
    let index = file_index(db, file);
    let (ast, spans) = (&index.parsed.ast, &index.parsed.spans);
    let mut all: Vec<TextRange> = Vec::new();
    all.extend(index.token_at(offset).map(|t| t.range));
    all.extend(ast.exprs.iter().map(|(id, _)| spans.expr(id)));
    all.extend(ast.stmts.iter().map(|(id, _)| spans.stmt(id)));
    all.extend(ast.functions.iter().map(|(id, _)| spans.function(id).whole));
    all.extend(ast.classes.iter().map(|(id, _)| spans.class(id).whole));
    all.push(TextRange::new(0, file.text(db).len() as u32));
    all.retain(|r| r.start <= offset && offset <= r.end && r.start < r.end);
    all.sort_by_key(|r| (r.end - r.start, r.start));
    let mut out: Vec<TextRange> = Vec::new();
    for r in all {
        let around =
            |inner: &TextRange| r.start <= inner.start && inner.end <= r.end && r != *inner;
        if out.last().is_none_or(around) {
            out.push(r);
        }
    }
    out
}
