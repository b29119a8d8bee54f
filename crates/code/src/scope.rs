//! Which variable every name means.
//!
//! One pass over the tree collects, per scope, the names that are bound, used and
//! declared global; a second one finds for every name that a function uses and does
//! not bind the function around it that does, and makes it a cell there and a free
//! variable in between.

use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap};
use taipan_syntax::{
    Ast, Block, ClassId, Clause, Comprehension, ComprehensionKind, Expr, ExprId, Function,
    FunctionBody, FunctionId, Name, Param, Stmt, StmtId,
};

use taipan_syntax::walk::{self, Spine};

/// Index of a scope; the module's is 0, parents come before children, and siblings
/// in source order.
pub type ScopeId = usize;

/// What a scope is the body of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ScopeNode {
    /// The text as a whole.
    Module,
    /// A function or lambda.
    Function(FunctionId),
    /// A class.
    Class(ClassId),
    /// A comprehension or generator expression with variables of its own.
    Comprehension(ExprId),
}

type Map<K, V> = IndexMap<K, V, FxBuildHasher>;
type Set<K> = IndexSet<K, FxBuildHasher>;

/// A scope.
#[derive(Debug)]
pub struct Scope {
    /// What it is the body of.
    pub node: ScopeNode,
    /// The scope around it; none for the module.
    pub parent: Option<ScopeId>,
    /// Names bound here, parameters first; true where an inner scope captures it.
    pub bound: Map<Name, bool>,
    /// Names used here.
    used: Set<Name>,
    /// Names declared `global` here.
    globals: Set<Name>,
    /// Captured variables of outer functions, by name.
    pub(crate) frees: Vec<Name>,
    /// Whether there is a `yield`.
    pub(crate) generator: bool,
    /// Whether a bare `exec` or `import *` may add variables.
    pub(crate) unoptimized: bool,
    /// The class whose name mangles `__x`.
    private: Option<Name>,
    /// The qualified name, as in [`crate::CodeId`].
    pub qualname: String,
}

/// Where a name's value lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// In a local variable of that index (not counting hidden ones).
    Fast(u32),
    /// In a cell or free variable.
    Deref(u32),
    /// In the module.
    Global,
    /// In the dict of local names, else in the module.
    Dict,
}

/// All scopes of a tree.
pub struct Scopes {
    /// In the order of their codes' ids ([`crate::ModuleCodes::ids`]).
    pub scopes: Vec<Scope>,
    /// By what they are the bodies of.
    pub by_node: FxHashMap<ScopeNode, ScopeId>,
    names: Vec<Box<str>>,
    mangled: FxHashMap<(Name, Name), Name>,
}

impl Scopes {
    /// Analyses a tree.
    pub fn new(ast: &Ast) -> Scopes {
        let mut s = Collector {
            ast,
            out: Scopes {
                scopes: Vec::new(),
                by_node: FxHashMap::default(),
                names: ast.names.clone(),
                mangled: FxHashMap::default(),
            },
            index: ast
                .names
                .iter()
                .enumerate()
                .map(|(i, n)| (n.clone(), Name(i as u32)))
                .collect(),
            current: 0,
        };
        s.open(ScopeNode::Module, "<module>");
        s.block(&ast.body);
        let mut scopes = s.out;
        scopes.resolve();
        scopes
    }

    /// The text of a name, also of a mangled one.
    pub fn text(&self, name: Name) -> &str {
        &self.names[name.0 as usize]
    }

    /// The name as it is inside a scope: `__x` of a class `C` is `_C__x`.
    pub fn mangle(&self, scope: ScopeId, name: Name) -> Name {
        match self.scopes[scope].private {
            Some(class) => self.mangled.get(&(class, name)).copied().unwrap_or(name),
            None => name,
        }
    }

    /// Whether a scope's variables are fast locals.
    fn is_function(&self, scope: ScopeId) -> bool {
        matches!(
            self.scopes[scope].node,
            ScopeNode::Function(_) | ScopeNode::Comprehension(_)
        )
    }

    /// Names that inner scopes capture, in the order of the scope's variables.
    pub(crate) fn cells(&self, scope: ScopeId) -> impl Iterator<Item = Name> + '_ {
        let bound = &self.scopes[scope].bound;
        bound.iter().filter(|(_, cell)| **cell).map(|(n, _)| *n)
    }

    /// Index of a captured variable as instructions count: cells, then free ones.
    pub(crate) fn deref(&self, scope: ScopeId, name: Name) -> Option<u32> {
        let cells = self.cells(scope).count();
        self.cells(scope)
            .position(|n| n == name)
            .or_else(|| {
                let frees = &self.scopes[scope].frees;
                frees.iter().position(|n| *n == name).map(|i| cells + i)
            })
            .map(|i| i as u32)
    }

    /// Where a (mangled) name lives, seen from a scope.
    pub fn place(&self, scope: ScopeId, name: Name) -> Place {
        let s = &self.scopes[scope];
        if s.globals.contains(&name) {
            return Place::Global;
        }
        if !self.is_function(scope) {
            if !s.bound.contains_key(&name) && s.frees.contains(&name) {
                return self.deref(scope, name).map_or(Place::Dict, Place::Deref);
            }
            return Place::Dict;
        }
        match s.bound.get_index_of(&name) {
            Some(i) if !s.bound[i] => Place::Fast(i as u32),
            _ => match self.deref(scope, name) {
                Some(i) => Place::Deref(i),
                None if s.unoptimized => Place::Dict,
                None => Place::Global,
            },
        }
    }

    /// The function whose local variable a (mangled) name means in a scope: this one or
    /// one around it. None for globals and for what module and class bodies bind.
    pub fn owner(&self, scope: ScopeId, name: Name) -> Option<ScopeId> {
        match self.place(scope, name) {
            Place::Global | Place::Dict => None,
            Place::Fast(_) => Some(scope),
            Place::Deref(_) => {
                let mut at = scope;
                while !(self.is_function(at) && self.scopes[at].bound.contains_key(&name)) {
                    at = self.scopes[at].parent?;
                }
                Some(at)
            }
        }
    }

    /// Finds the owner of every name that a scope uses and does not bind.
    fn resolve(&mut self) {
        for id in 0..self.scopes.len() {
            let used: Vec<Name> = self.scopes[id].used.iter().copied().collect();
            for name in used {
                let s = &self.scopes[id];
                if s.bound.contains_key(&name) || s.globals.contains(&name) {
                    continue;
                }
                let mut owner = s.parent;
                while let Some(p) = owner {
                    let s = &self.scopes[p];
                    if self.is_function(p) {
                        if s.globals.contains(&name) {
                            owner = None;
                            break;
                        }
                        if s.bound.contains_key(&name) {
                            break;
                        }
                    }
                    owner = s.parent;
                }
                let Some(owner) = owner else { continue };
                self.scopes[owner].bound.insert(name, true);
                let mut at = id;
                while at != owner {
                    if !self.scopes[at].frees.contains(&name) {
                        self.scopes[at].frees.push(name);
                    }
                    at = self.scopes[at].parent.unwrap_or(owner);
                }
            }
        }
        // By name, so that the order does not depend on what else a body says.
        let names = &self.names;
        for s in &mut self.scopes {
            s.frees.sort_by_key(|n| &names[n.0 as usize]);
        }
    }
}

struct Collector<'a> {
    ast: &'a Ast,
    out: Scopes,
    index: FxHashMap<Box<str>, Name>,
    current: ScopeId,
}

impl Collector<'_> {
    fn open(&mut self, node: ScopeNode, name: &str) -> ScopeId {
        let id = self.out.scopes.len();
        let parent = (id > 0).then_some(self.current);
        let (qualname, private) = match parent.map(|p| &self.out.scopes[p]) {
            None => (name.to_owned(), None),
            Some(p) => {
                let qualname = match p.node {
                    ScopeNode::Module => name.to_owned(),
                    ScopeNode::Class(_) => format!("{}.{name}", p.qualname),
                    _ => format!("{}.<locals>.{name}", p.qualname),
                };
                (qualname, p.private)
            }
        };
        self.out.scopes.push(Scope {
            node,
            parent,
            bound: Map::default(),
            used: Set::default(),
            globals: Set::default(),
            frees: Vec::new(),
            generator: false,
            unoptimized: false,
            private,
            qualname,
        });
        self.out.by_node.insert(node, id);
        self.current = id;
        id
    }

    fn close(&mut self) {
        self.current = self.out.scopes[self.current].parent.unwrap_or(0);
    }

    fn scope(&mut self) -> &mut Scope {
        &mut self.out.scopes[self.current]
    }

    /// Mangles a name where it needs it, and remembers how.
    fn mangle(&mut self, name: Name) -> Name {
        let Some(class) = self.out.scopes[self.current].private else {
            return name;
        };
        if let Some(m) = self.out.mangled.get(&(class, name)) {
            return *m;
        }
        let text = self.out.text(name);
        let prefix = self.out.text(class).trim_start_matches('_');
        if !text.starts_with("__") || text.ends_with("__") || prefix.is_empty() {
            return name;
        }
        let text: Box<str> = format!("_{prefix}{text}").into();
        let mangled = self.intern(text);
        self.out.mangled.insert((class, name), mangled);
        mangled
    }

    fn bind(&mut self, name: Name) {
        let name = self.mangle(name);
        let scope = self.scope();
        if !scope.globals.contains(&name) {
            scope.bound.entry(name).or_insert(false);
        }
    }

    fn block(&mut self, block: &Block) {
        for s in block {
            self.stmt(*s);
        }
    }

    fn stmt(&mut self, id: StmtId) {
        let ast = self.ast;
        match &ast.stmts[id] {
            Stmt::Global(names) => {
                for n in names {
                    let n = self.mangle(*n);
                    let scope = self.scope();
                    scope.bound.shift_remove(&n);
                    scope.globals.insert(n);
                }
            }
            Stmt::Import(aliases) => {
                for a in aliases {
                    self.bind(a.alias.unwrap_or(a.first));
                }
            }
            Stmt::ImportFrom(import) => match &import.names {
                Some(names) => {
                    for (_, alias) in names {
                        self.bind(*alias);
                    }
                }
                None => self.scope().unoptimized = true,
            },
            Stmt::Function(f) => {
                let def = &ast.functions[*f];
                for d in &def.decorators {
                    self.expr(*d);
                }
                self.bind(def.name);
                self.function(*f, def);
            }
            Stmt::Class(c) => {
                let def = &ast.classes[*c];
                for e in def.decorators.iter().chain(&def.bases) {
                    self.expr(*e);
                }
                self.bind(def.name);
                self.open(ScopeNode::Class(*c), ast.name(def.name));
                self.scope().private = Some(def.name);
                self.block(&def.body);
                self.close();
            }
            stmt => {
                if matches!(stmt, Stmt::Exec { globals: None, .. }) {
                    self.scope().unoptimized = true;
                }
                for t in walk::targets(stmt) {
                    self.target(t);
                }
                walk::stmt_parts(stmt, &mut |part| match part {
                    walk::Part::Expr(e) => self.expr(e),
                    walk::Part::Block(b) => self.block(b),
                });
            }
        }
    }

    /// Binds the names of a target; what else stands in it is found as an
    /// expression.
    fn target(&mut self, id: ExprId) {
        match &self.ast.exprs[id] {
            Expr::Name(n) => self.bind(*n),
            Expr::Tuple(items) | Expr::List(items) => {
                for i in items {
                    self.target(*i);
                }
            }
            _ => {}
        }
    }

    fn function(&mut self, id: FunctionId, def: &Function) {
        let ast = self.ast;
        for d in &def.params.defaults {
            self.expr(*d);
        }
        self.open(ScopeNode::Function(id), ast.name(def.name));
        for (i, name) in def.params.names().enumerate() {
            self.param(i, name);
        }
        for p in &def.params.positional {
            if let Param::Tuple(t) = p {
                self.target(*t);
            }
        }
        match &def.body {
            FunctionBody::Block(b) => self.block(b),
            FunctionBody::Expr(e) => self.expr(*e),
        }
        self.close();
    }

    /// Binds a parameter. One without a name of its own (a tuple, or a name that an
    /// earlier one has, which is an error) has a hidden one in its place among the
    /// variables.
    fn param(&mut self, index: usize, name: Option<Name>) {
        let before = self.scope().bound.len();
        if let Some(n) = name {
            self.bind(n);
        }
        if self.scope().bound.len() == before {
            let hidden = self.hidden(index);
            self.bind(hidden);
        }
    }

    /// The name `.0`, `.1`, ...
    fn hidden(&mut self, index: usize) -> Name {
        self.intern(format!(".{index}").into())
    }

    fn intern(&mut self, text: Box<str>) -> Name {
        if let Some(n) = self.index.get(&text) {
            return *n;
        }
        let name = Name(self.out.names.len() as u32);
        self.out.names.push(text.clone());
        self.index.insert(text, name);
        name
    }

    fn expr(&mut self, id: ExprId) {
        let ast = self.ast;
        let mut id = id;
        loop {
            match &ast.exprs[id] {
                Expr::Name(n) => {
                    let n = self.mangle(*n);
                    self.scope().used.insert(n);
                    return;
                }
                Expr::Attribute(value, name) => {
                    self.mangle(*name);
                    id = *value;
                }
                Expr::Lambda(f) => {
                    self.function(*f, &ast.functions[*f]);
                    return;
                }
                Expr::Comprehension(c) => {
                    self.comprehension(id, c);
                    return;
                }
                expr => {
                    if let Expr::Call(c) = expr {
                        for (name, _) in &c.keywords {
                            self.mangle(*name);
                        }
                    }
                    if matches!(expr, Expr::Yield(_)) {
                        self.scope().generator = true;
                    }
                    let left = walk::expr_parts(expr, &mut |e| self.expr(e));
                    match left {
                        Spine::Left(left) => id = left,
                        Spine::End => return,
                    }
                }
            }
        }
    }

    fn comprehension(&mut self, id: ExprId, c: &Comprehension) {
        let mut clauses = c.clauses.iter();
        if let Some(Clause::For(target, iter)) = clauses.next() {
            self.expr(*iter);
            let name = match c.kind {
                ComprehensionKind::List => None,
                ComprehensionKind::Set => Some("<setcomp>"),
                ComprehensionKind::Dict => Some("<dictcomp>"),
                ComprehensionKind::Generator => Some("<genexpr>"),
            };
            if let Some(name) = name {
                self.open(ScopeNode::Comprehension(id), name);
                let hidden = self.hidden(0);
                self.bind(hidden);
                self.scope().generator = c.kind == ComprehensionKind::Generator;
            }
            self.target(*target);
            self.expr(*target);
            for clause in clauses {
                match clause {
                    Clause::For(target, iter) => {
                        self.expr(*iter);
                        self.target(*target);
                        self.expr(*target);
                    }
                    Clause::If(test) => self.expr(*test),
                }
            }
            self.expr(c.element);
            if let Some(v) = c.value {
                self.expr(v);
            }
            if name.is_some() {
                self.close();
            }
        }
    }
}
