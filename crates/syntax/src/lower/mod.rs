//! From tree-sitter's tree to the typed one.
//!
//! tree-sitter's nodes are read with one cursor, children in a row: its accessors
//! by index or field walk from the first child every time. Recursion is bounded by
//! [`MAX_DEPTH`]; what programs chain without limit (`a + b + c ..`, `a.b().c()`)
//! leans to the left and is lowered in a loop.

mod expr;
mod stmt;

use std::sync::LazyLock;

use la_arena::Idx;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use taipan_base::{TextRange, declares_latin1};
use tree_sitter::{Node, TreeCursor};

use crate::ast::*;
use crate::kind::{Field, Kind, Tables};
use crate::mask::{Mark, Masked};
use crate::{SyntaxError, SyntaxProblem};

/// Expressions and blocks nested deeper than this are refused.
pub(crate) const MAX_DEPTH: u32 = 200;

static TABLES: LazyLock<Tables> = LazyLock::new(Tables::new);

/// A child with the field that it stands in.
type Child<'t> = (Node<'t>, Field);
type Children<'t> = SmallVec<[Child<'t>; 8]>;

pub(crate) struct Lowerer<'a, 't> {
    source: &'a str,
    /// Whether the file declares to be latin-1.
    latin1: bool,
    masked: &'a Masked,
    cursor: TreeCursor<'t>,
    ast: Ast,
    spans: Spans,
    names: FxHashMap<Box<str>, Name>,
    errors: Vec<SyntaxError>,
    /// Lines whose statement goes on in the next one.
    overruns: Vec<usize>,
    depth: u32,
}

/// A lowered tree.
pub(crate) struct Lowered {
    pub(crate) ast: Ast,
    pub(crate) spans: Spans,
    pub(crate) errors: Vec<SyntaxError>,
    /// Lines whose statement goes on in the next one, as indexes: they are wrong.
    pub(crate) overruns: Vec<usize>,
}

/// Lowers a whole tree.
pub(crate) fn lower(source: &str, masked: &Masked, root: Node<'_>) -> Lowered {
    let mut l = Lowerer {
        source,
        latin1: declares_latin1(source.as_bytes()),
        masked,
        cursor: root.walk(),
        ast: Ast::default(),
        spans: Spans::default(),
        names: FxHashMap::default(),
        errors: Vec::new(),
        overruns: Vec::new(),
        depth: 0,
    };
    l.ast.body = l.block(root);
    l.ast.shrink_to_fit();
    l.spans.shrink_to_fit();
    Lowered {
        ast: l.ast,
        spans: l.spans,
        errors: l.errors,
        overruns: l.overruns,
    }
}

impl<'a, 't> Lowerer<'a, 't> {
    fn kind(&self, node: Node<'_>) -> Kind {
        TABLES.kind(node.kind_id())
    }

    /// Named children, and the operators and keywords that [`Kind`] knows.
    fn children(&mut self, node: Node<'t>) -> Children<'t> {
        let mut out = SmallVec::new();
        self.cursor.reset(node);
        if self.cursor.goto_first_child() {
            loop {
                let child = self.cursor.node();
                if self.kind(child) != Kind::Other {
                    out.push((child, TABLES.field(self.cursor.field_id())));
                }
                if !self.cursor.goto_next_sibling() {
                    break;
                }
            }
        }
        out
    }

    /// Where a node stands in the original text.
    fn range(&self, node: Node<'_>) -> TextRange {
        self.masked.range(node.start_byte(), node.end_byte())
    }

    fn start(&self, node: Node<'_>) -> u32 {
        self.range(node).start
    }

    /// What the first token of a node stands for.
    fn mark(&self, node: Node<'_>) -> Mark {
        self.masked.mark(node.start_byte())
    }

    fn text(&self, node: Node<'_>) -> &'a str {
        let range = self.range(node);
        self.source
            .get(range.start as usize..range.end as usize)
            .unwrap_or("")
    }

    fn error(&mut self, range: TextRange, problem: impl Into<SyntaxProblem>) {
        self.errors.push(SyntaxError {
            range,
            problem: problem.into(),
        });
    }

    fn intern(&mut self, text: &str) -> Name {
        if let Some(n) = self.names.get(text) {
            return *n;
        }
        let n = Name(self.ast.names.len() as u32);
        self.ast.names.push(text.into());
        self.names.insert(text.into(), n);
        n
    }

    /// The name that an identifier's node spells.
    fn name(&mut self, node: Node<'t>) -> Name {
        match self.mark(node) {
            Mark::Replacement => return self.intern("_"),
            Mark::Dotted => self.error(self.range(node), "expected a name without dots"),
            _ => {}
        }
        let text = self.text(node);
        self.intern(text)
    }

    fn alloc(&mut self, expr: Expr, range: TextRange) -> ExprId {
        self.spans.exprs.push(range);
        self.ast.exprs.alloc(expr)
    }

    fn alloc_stmt(&mut self, stmt: Stmt, range: TextRange) -> StmtId {
        self.spans.stmts.push(range);
        self.ast.stmts.alloc(stmt)
    }

    fn alloc_function(&mut self, function: Function, spans: DefinitionSpans) -> Idx<Function> {
        self.spans.functions.push(spans);
        self.ast.functions.alloc(function)
    }

    fn alloc_class(&mut self, class: Class, spans: DefinitionSpans) -> Idx<Class> {
        self.spans.classes.push(spans);
        self.ast.classes.alloc(class)
    }

    /// Runs `f` one level deeper, or reports that this is too deep.
    fn deeper<R>(&mut self, node: Node<'t>, f: impl FnOnce(&mut Self) -> R) -> Option<R> {
        if self.depth >= MAX_DEPTH {
            let start = self.start(node);
            self.error(TextRange::new(start, start + 1), "nested too deeply");
            return None;
        }
        self.depth += 1;
        let r = f(self);
        self.depth -= 1;
        Some(r)
    }
}
