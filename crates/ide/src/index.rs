//! Every name in a file, with what it is there by syntax alone.
//!
//! ```text
//! from m import f as g       Module m · Imported f · Variable g (write)
//! class A(object):           Class A · Variable object
//!     def get(self, n=1):    Function get · Parameter self, n
//!         return self.x      Variable self · Attribute x
//! ```

use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_base::{Db, File, TextRange};
use taipan_code::scope::{Place, ScopeId, ScopeNode, Scopes};
use taipan_code::{CodeId, module_codes};
use taipan_syntax::walk::{self, Spine};
use taipan_syntax::{
    Block, ClassId, Clause, Expr, ExprId, FunctionBody, FunctionId, Name, Param, ParsedFile, Stmt,
    StmtId,
};

/// The names of a file in the order of places, with the tree that they are from.
pub struct FileIndex {
    /// The syntax tree.
    pub parsed: Arc<ParsedFile>,
    /// Its scopes.
    pub scopes: Scopes,
    /// One code per scope.
    pub codes: Vec<CodeId>,
    /// The names, sorted, never overlapping.
    pub tokens: Vec<Token>,
    /// Indexes of the tokens that bind each global.
    globals: FxHashMap<Box<str>, Vec<usize>>,
}

/// A name at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// Where.
    pub range: TextRange,
    /// What it says.
    pub name: Name,
    /// The scope in which it means something.
    pub scope: ScopeId,
    /// What it is.
    pub role: Role,
}

/// What a name is by syntax.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A variable that is read, as an expression.
    Read(ExprId),
    /// A variable that is assigned; an expression unless it stands in an import or in
    /// a `global` statement.
    Write(Option<ExprId>),
    /// A parameter of the function whose scope it is in.
    Parameter,
    /// The name of a `def`; the scope is the one around it.
    Function(FunctionId),
    /// The name of a `class`; the scope is the one around it.
    Class(ClassId),
    /// The name of an attribute, by the attribute expression, and whether it is assigned.
    Attribute(ExprId, bool),
    /// The name of a keyword argument, by the call.
    Keyword(ExprId),
    /// One part of the name of an imported module: the statement, and how many parts
    /// lead up to this one, itself included.
    Module(StmtId, u32),
    /// A name imported from a module, by the statement; it is the variable too where
    /// `as` gives no other name.
    Imported(StmtId, bool),
}

/// The names of a file.
#[salsa::tracked(no_eq, returns(clone))]
pub fn file_index(db: &dyn Db, file: File) -> Arc<FileIndex> {
    let parsed = taipan_code::parse(db, file);
    let scopes = Scopes::new(&parsed.ast);
    let mut collector = Collector {
        parsed: &parsed,
        scopes: &scopes,
        text: file.text(db),
        tokens: Vec::new(),
        scope: 0,
    };
    collector.block(&parsed.ast.body);
    let mut tokens = collector.tokens;
    tokens.sort_by_key(|t| (t.range.start, t.range.end));
    tokens.dedup_by_key(|t| t.range.start);
    let codes = module_codes(db, file).ids().to_vec();
    let mut index = FileIndex {
        parsed,
        scopes,
        codes,
        tokens,
        globals: FxHashMap::default(),
    };
    let mut globals: FxHashMap<Box<str>, Vec<usize>> = FxHashMap::default();
    for (i, t) in index
        .tokens
        .iter()
        .enumerate()
        .filter(|(_, t)| t.role.binds())
    {
        if let (0, name) = index.variable(t) {
            globals.entry(name.into()).or_default().push(i);
        }
    }
    index.globals = globals;
    Arc::new(index)
}

impl Role {
    /// Whether a name of that role gives its variable a value.
    pub fn binds(self) -> bool {
        matches!(
            self,
            Role::Write(_)
                | Role::Parameter
                | Role::Function(_)
                | Role::Class(_)
                | Role::Imported(_, true)
        )
    }

    /// Whether a name of that role gives a variable or an attribute a value.
    pub fn writes(self) -> bool {
        self.binds() || matches!(self, Role::Attribute(_, true))
    }
}

impl FileIndex {
    /// The name at an offset, or the one that ends there.
    pub fn token_at(&self, offset: u32) -> Option<&Token> {
        let after = self.tokens.partition_point(|t| t.range.start <= offset);
        let found = self.tokens[..after].last()?;
        (offset <= found.range.end).then_some(found)
    }

    /// The tokens that bind a global, in order.
    pub fn bindings(&self, name: &str) -> impl Iterator<Item = &Token> {
        let all = self.globals.get(name).map_or(&[][..], |v| &v[..]);
        all.iter().map(|i| &self.tokens[*i])
    }

    /// The text of a name as written.
    pub fn text(&self, token: &Token) -> &str {
        self.scopes.text(token.name)
    }

    /// The innermost scope at an offset.
    pub fn scope_at(&self, offset: u32) -> ScopeId {
        (0..self.scopes.scopes.len())
            .rev()
            .find(|s| {
                let range = self.scope_range(*s);
                range.is_none_or(|r| r.start <= offset && offset <= r.end)
            })
            .unwrap_or(0)
    }

    /// The place of a scope's definition; none for the module.
    pub fn scope_range(&self, scope: ScopeId) -> Option<TextRange> {
        let spans = &self.parsed.spans;
        match self.scopes.scopes[scope].node {
            ScopeNode::Module => None,
            ScopeNode::Function(f) => Some(spans.function(f).whole),
            ScopeNode::Class(c) => Some(spans.class(c).whole),
            ScopeNode::Comprehension(e) => Some(spans.expr(e)),
        }
    }

    /// The scope that binds the variable of a token and its name there: a function's
    /// scope for locals, a class's for what its body binds, 0 for globals.
    pub fn variable(&self, token: &Token) -> (ScopeId, &str) {
        let name = self.scopes.mangle(token.scope, token.name);
        let text = self.scopes.text(name);
        let scope = match self.scopes.place(token.scope, name) {
            Place::Global => 0,
            Place::Dict => match self.scopes.scopes[token.scope].bound.contains_key(&name) {
                true => token.scope,
                false => 0,
            },
            Place::Fast(_) | Place::Deref(_) => {
                self.scopes.owner(token.scope, name).unwrap_or(token.scope)
            }
        };
        (scope, text)
    }

    /// The innermost expression at a place that `wanted` accepts.
    pub fn expr_at(&self, range: TextRange, wanted: impl Fn(&Expr) -> bool) -> Option<ExprId> {
        let inside = |r: TextRange| r.start <= range.start && range.end <= r.end;
        self.parsed
            .ast
            .exprs
            .iter()
            .map(|(id, e)| (id, e, self.parsed.spans.expr(id)))
            .filter(|(_, e, r)| inside(*r) && wanted(e))
            .min_by_key(|(_, _, r)| r.end - r.start)
            .map(|(id, ..)| id)
    }

    /// The innermost statement around an offset.
    pub fn stmt_at(&self, offset: u32) -> Option<StmtId> {
        self.parsed
            .ast
            .stmts
            .iter()
            .map(|(id, _)| (id, self.parsed.spans.stmt(id)))
            .filter(|(_, r)| r.start <= offset && offset <= r.end)
            .min_by_key(|(_, r)| r.end - r.start)
            .map(|(id, _)| id)
    }
}

struct Collector<'a> {
    parsed: &'a ParsedFile,
    scopes: &'a Scopes,
    text: &'a str,
    tokens: Vec<Token>,
    scope: ScopeId,
}

impl<'a> Collector<'a> {
    fn push(&mut self, range: TextRange, name: Name, role: Role) {
        // Where the parser repaired a text, places may not say what the tree says.
        let text = self.scopes.text(name);
        if self.text.get(range.start as usize..range.end as usize) == Some(text) {
            self.tokens.push(Token {
                range,
                name,
                scope: self.scope,
                role,
            });
        }
    }

    fn inside(&mut self, node: ScopeNode, visit: impl FnOnce(&mut Self)) {
        let outer = self.scope;
        self.scope = self.scopes.by_node.get(&node).copied().unwrap_or(outer);
        visit(self);
        self.scope = outer;
    }

    fn block(&mut self, block: &'a Block) {
        for s in block {
            self.stmt(*s);
        }
    }

    fn stmt(&mut self, id: StmtId) {
        let ast = &self.parsed.ast;
        let stmt = &ast.stmts[id];
        match stmt {
            Stmt::Function(f) => {
                let def = &ast.functions[*f];
                def.decorators.iter().for_each(|d| self.expr(*d));
                let name = self.parsed.spans.function(*f).name;
                self.push(name, def.name, Role::Function(*f));
                self.function(*f);
            }
            Stmt::Class(c) => {
                let def = &ast.classes[*c];
                for e in def.decorators.iter().chain(&def.bases) {
                    self.expr(*e);
                }
                let name = self.parsed.spans.class(*c).name;
                self.push(name, def.name, Role::Class(*c));
                self.inside(ScopeNode::Class(*c), |s| s.block(&def.body));
            }
            Stmt::Import(_) | Stmt::ImportFrom(_) => self.import(id),
            Stmt::Global(names) => {
                for (range, word) in words(self.text, self.parsed.spans.stmt(id)) {
                    if let Some(n) = names.iter().find(|n| ast.name(**n) == word) {
                        self.push(range, *n, Role::Write(None));
                    }
                }
            }
            stmt => {
                let targets = walk::targets(stmt);
                targets.iter().for_each(|t| self.target(*t));
                walk::stmt_parts(stmt, &mut |part| match part {
                    walk::Part::Expr(e) if targets.contains(&e) => {}
                    walk::Part::Expr(e) => self.expr(e),
                    walk::Part::Block(b) => self.block(b),
                });
            }
        }
    }

    fn import(&mut self, id: StmtId) {
        let ast = &self.parsed.ast;
        let mut words = words(self.text, self.parsed.spans.stmt(id)).into_iter();
        let mut next = |wanted: &str| words.find(|(_, w)| *w == wanted).map(|(range, _)| range);
        let name_of = |text: &str| (0..ast.names.len()).find(|i| &*ast.names[*i] == text);
        let mut found = Vec::new();
        let mut module = |dotted: &str, next: &mut dyn FnMut(&str) -> Option<TextRange>| {
            for (i, part) in dotted.split('.').enumerate().filter(|(_, p)| !p.is_empty()) {
                if let (Some(range), Some(n)) = (next(part), name_of(part)) {
                    let role = Role::Module(id, i as u32 + 1);
                    found.push((range, Name(n as u32), role));
                }
            }
        };
        match &ast.stmts[id] {
            Stmt::Import(aliases) => {
                let mut targets = Vec::new();
                for a in aliases {
                    module(&a.module, &mut next);
                    if let Some(alias) = a.alias
                        && let Some(range) = next("as").and_then(|_| next(ast.name(alias)))
                    {
                        targets.push((range, alias, Role::Write(None)));
                    }
                }
                found.extend(targets);
            }
            Stmt::ImportFrom(import) => {
                module(&import.module, &mut next);
                for (name, alias) in import.names.iter().flatten() {
                    // `from m import x`: the first `x` after the module's name.
                    let Some(range) = next(ast.name(*name)) else {
                        continue;
                    };
                    found.push((range, *name, Role::Imported(id, name == alias)));
                    if name != alias
                        && let Some(range) = next("as").and_then(|_| next(ast.name(*alias)))
                    {
                        found.push((range, *alias, Role::Write(None)));
                    }
                }
            }
            _ => {}
        }
        for (range, name, role) in found {
            self.push(range, name, role);
        }
    }

    fn function(&mut self, id: FunctionId) {
        let def = &self.parsed.ast.functions[id];
        def.params.defaults.iter().for_each(|d| self.expr(*d));
        let places = &self.parsed.spans.function(id).params;
        self.inside(ScopeNode::Function(id), |s| {
            let mut places = places.iter().copied();
            for p in &def.params.positional {
                let place = places.next();
                match (p, place) {
                    (Param::Name(n), Some(range)) => s.parameter(range, *n),
                    (Param::Tuple(t), _) => s.target(*t),
                    _ => {}
                }
            }
            for n in [def.params.varargs, def.params.varkeywords] {
                if let (Some(n), Some(range)) = (n, n.and(places.next())) {
                    s.parameter(range, n);
                }
            }
            match &def.body {
                FunctionBody::Block(b) => s.block(b),
                FunctionBody::Expr(e) => s.expr(*e),
            }
        });
    }

    /// The place of a parameter may hold stars and its default value as well.
    fn parameter(&mut self, range: TextRange, name: Name) {
        let wanted = self.scopes.text(name);
        let found = words(self.text, range)
            .into_iter()
            .find(|(_, w)| *w == wanted);
        if let Some((range, _)) = found {
            self.push(range, name, Role::Parameter);
        }
    }

    fn target(&mut self, id: ExprId) {
        let range = self.parsed.spans.expr(id);
        match &self.parsed.ast.exprs[id] {
            Expr::Name(n) => self.push(range, *n, Role::Write(Some(id))),
            Expr::Tuple(items) | Expr::List(items) => items.iter().for_each(|i| self.target(*i)),
            Expr::Attribute(value, name) => {
                self.attribute(id, *name, true);
                self.expr(*value);
            }
            _ => self.expr(id),
        }
    }

    fn attribute(&mut self, id: ExprId, name: Name, write: bool) {
        let end = self.parsed.spans.expr(id).end;
        let start = end.saturating_sub(self.scopes.text(name).len() as u32);
        let range = TextRange::new(start, end);
        self.push(range, name, Role::Attribute(id, write));
    }

    fn expr(&mut self, mut id: ExprId) {
        let ast = &self.parsed.ast;
        loop {
            let range = self.parsed.spans.expr(id);
            match &ast.exprs[id] {
                Expr::Name(n) => return self.push(range, *n, Role::Read(id)),
                Expr::Lambda(f) => return self.function(*f),
                Expr::Comprehension(c) => return self.comprehension(id, &c.clauses),
                Expr::Attribute(_, name) => self.attribute(id, *name, false),
                Expr::Call(c) => {
                    for (name, value) in &c.keywords {
                        let value = self.parsed.spans.expr(*value).start;
                        if let Some(range) = keyword(self.text, value) {
                            self.push(range, *name, Role::Keyword(id));
                        }
                    }
                }
                _ => {}
            }
            match walk::expr_parts(&ast.exprs[id], &mut |e| self.expr(e)) {
                Spine::Left(left) => id = left,
                Spine::End => return,
            }
        }
    }

    fn comprehension(&mut self, id: ExprId, clauses: &'a [Clause]) {
        let mut clauses = clauses.iter();
        let Some(Clause::For(target, iter)) = clauses.next() else {
            return;
        };
        self.expr(*iter);
        let Expr::Comprehension(c) = &self.parsed.ast.exprs[id] else {
            return;
        };
        self.inside(ScopeNode::Comprehension(id), |s| {
            s.target(*target);
            for clause in clauses {
                match clause {
                    Clause::For(target, iter) => {
                        s.expr(*iter);
                        s.target(*target);
                    }
                    Clause::If(test) => s.expr(*test),
                }
            }
            s.expr(c.element);
            c.value.iter().for_each(|v| s.expr(*v));
        });
    }
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80
}

/// The words in a piece of text that has no string literals, comments left out.
pub(crate) fn words(text: &str, range: TextRange) -> Vec<(TextRange, &str)> {
    let end = (range.end as usize).min(text.len());
    let bytes = &text.as_bytes()[..end];
    let mut out = Vec::new();
    let mut at = range.start as usize;
    while at < end {
        if bytes[at] == b'#' {
            at += bytes[at..].iter().take_while(|b| **b != b'\n').count();
        } else if is_word(bytes[at]) {
            let n = bytes[at..].iter().take_while(|b| is_word(**b)).count();
            if let Some(word) = text.get(at..at + n) {
                out.push((TextRange::new(at as u32, (at + n) as u32), word));
            }
            at += n;
        } else {
            at += 1;
        }
    }
    out
}

/// The name in front of `=` and a value that starts at `value`.
fn keyword(text: &str, value: u32) -> Option<TextRange> {
    let before = text
        .get(..value as usize)?
        .trim_end_matches([' ', '\t', '(', '\n']);
    let before = before.strip_suffix('=')?.trim_end();
    let start = before
        .trim_end_matches(|c: char| c.is_alphanumeric() || c == '_')
        .len();
    Some(TextRange::new(start as u32, before.len() as u32))
}
