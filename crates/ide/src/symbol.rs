//! What a name means: the variable, global, member or module that it stands for, the
//! same value wherever it is named.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_annotator::{CallInfo, Class, Desc, SomeKind, SomeValue, Target, class_attributes};
use taipan_base::{Db, File, Span, TextRange};
use taipan_code::CodeId;
use taipan_code::scope::{ScopeId, ScopeNode};
use taipan_driver::Database;
use taipan_graph::{Const, ObjId, Operand};
use taipan_interp::ObjData;
use taipan_syntax::{Expr, ExprId, Stmt, StmtId};

use crate::body::Body;
use crate::index::{FileIndex, Role, Token, file_index};
use crate::modules::Modules;
use crate::program::{Home, Workspace};

/// What a name stands for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Symbol {
    /// A local variable or parameter of a function.
    Local(CodeId, Box<str>),
    /// A global of the module that a file makes, where it is defined, not where it is
    /// imported.
    Global(File, Box<str>),
    /// An attribute or method, by the class at the top of the hierarchy that has it.
    Member(ObjId, Box<str>),
    /// A module.
    Module(File),
    /// What every module sees.
    Builtin(Box<str>),
}

/// Imports of imports are followed this far.
const LONGEST_CHAIN: usize = 32;

/// Finds out what names mean, and remembers the bodies that it looked at.
pub(crate) struct Resolver<'db> {
    pub(crate) db: &'db Database,
    /// None for a file that no program reaches: then only what the file itself says
    /// is known.
    pub(crate) home: Option<Home<'db>>,
    /// Where imports are looked up that no program has loaded; none where only what is
    /// loaded counts.
    pub(crate) modules: Option<Rc<Modules>>,
    bodies: RefCell<FxHashMap<CodeId, Option<Rc<Body>>>>,
}

impl<'db> Resolver<'db> {
    /// For names of a file.
    pub(crate) fn of(db: &'db Database, workspace: &Workspace, file: File) -> Self {
        Resolver {
            db,
            home: workspace.home(db, file),
            modules: None,
            bodies: RefCell::default(),
        }
    }

    /// For names of the files of a program.
    pub(crate) fn in_program(home: Home<'db>) -> Self {
        Resolver {
            db: home.db,
            home: Some(home),
            modules: None,
            bodies: RefCell::default(),
        }
    }

    /// For names of a file of which nothing is known but its text.
    pub(crate) fn alone(db: &'db Database) -> Self {
        Resolver {
            db,
            home: None,
            modules: None,
            bodies: RefCell::default(),
        }
    }

    /// The annotated body of a code.
    pub(crate) fn body(&self, code: CodeId) -> Option<Rc<Body>> {
        let home = self.home.as_ref()?;
        if let Some(known) = self.bodies.borrow().get(&code) {
            return known.clone();
        }
        let body = Body::of(home, code).map(Rc::new);
        self.bodies.borrow_mut().insert(code, body.clone());
        body
    }

    /// The body of the function that a scope is of.
    pub(crate) fn body_of_scope(&self, index: &FileIndex, scope: ScopeId) -> Option<Rc<Body>> {
        self.body(*index.codes.get(scope)?)
    }

    /// What a token stands for; several where the program reaches it with values of
    /// unrelated classes.
    pub(crate) fn symbols(&self, file: File, index: &FileIndex, token: &Token) -> Vec<Symbol> {
        match token.role {
            Role::Read(_)
            | Role::Write(_)
            | Role::Parameter
            | Role::Function(_)
            | Role::Class(_) => self.variable(file, index, token).into_iter().collect(),
            Role::Imported(stmt, _) => {
                let symbol = self.imported(file, index, stmt, index.text(token));
                symbol.into_iter().collect()
            }
            Role::Module(stmt, parts) => self
                .import_target(file, index, stmt, Some(parts), index.text(token))
                .map(Symbol::Module)
                .into_iter()
                .collect(),
            Role::Attribute(expr, _) => self.attribute(file, index, token, expr),
            Role::Keyword(call) => self.keyword(file, index, token, call),
        }
    }

    fn variable(&self, file: File, index: &FileIndex, token: &Token) -> Option<Symbol> {
        let (scope, name) = index.variable(token);
        match index.scopes.scopes[scope].node {
            ScopeNode::Module => Some(self.global(file, index, name)),
            ScopeNode::Class(_) => {
                let code = *index.codes.get(scope)?;
                let class = self.home.as_ref().and_then(|h| h.class_of(code));
                Some(match class {
                    Some(c) => self.member(c, name),
                    None => Symbol::Local(code, name.into()),
                })
            }
            _ => {
                let own = Symbol::Local(*index.codes.get(scope)?, name.into());
                Some(
                    self.imported_locally(file, index, scope, name)
                        .unwrap_or(own),
                )
            }
        }
    }

    /// What a variable of a function stands for if imports there bind it, under the name
    /// that it has where it is from.
    fn imported_locally(
        &self,
        file: File,
        index: &FileIndex,
        scope: ScopeId,
        name: &str,
    ) -> Option<Symbol> {
        let mut symbol = None;
        for t in &index.tokens {
            let imports = match t.role {
                Role::Imported(_, true) => true,
                // `import a.b` binds `a`.
                Role::Module(stmt, 1) => {
                    matches!(&index.parsed.ast.stmts[stmt], Stmt::Import(all)
                        if all.iter().any(|a| a.alias == Some(t.name) || a.alias.is_none()))
                }
                _ => false,
            };
            if !(imports || t.role.binds()) || index.text(t) != name || t.scope != scope {
                continue;
            }
            let found = match t.role {
                Role::Imported(stmt, true) => self.imported(file, index, stmt, name),
                Role::Module(stmt, parts) => self
                    .import_target(file, index, stmt, Some(parts), name)
                    .map(Symbol::Module),
                _ => None,
            }?;
            symbol = Some(found);
        }
        symbol
    }

    /// A global as a module sees it: imports are followed to where it is defined.
    pub(crate) fn global(&self, file: File, index: &FileIndex, name: &str) -> Symbol {
        self.follow(file, index, name, 0)
    }

    fn follow(&self, file: File, index: &FileIndex, name: &str, depth: usize) -> Symbol {
        let own = Symbol::Global(file, name.into());
        if depth > LONGEST_CHAIN {
            return own;
        }
        let mut bound = false;
        for t in index.bindings(name) {
            bound = true;
            let followed = match t.role {
                Role::Imported(stmt, true) => self.imported_at(file, index, stmt, name, depth + 1),
                Role::Write(None) => self.import_alias(file, index, t, depth + 1),
                _ => None,
            };
            if let Some(s) = followed {
                return s;
            }
        }
        // `import a.b` binds the name `a` by the module's name itself.
        if let Some(m) = self.imported_module(file, index, name) {
            return Symbol::Module(m);
        }
        if bound {
            return own;
        }
        for (id, stmt) in index.parsed.ast.stmts.iter() {
            if let Stmt::ImportFrom(i) = stmt
                && i.names.is_none()
                && let Some(from) = self.import_target(file, index, id, None, "")
                && self.has_global(from, name)
            {
                return self.follow(from, &file_index(self.db, from), name, depth + 1);
            }
        }
        let home = self.home.as_ref();
        match home.and_then(|h| h.global(h.module_of(file)?, name)) {
            Some(_) => own,
            None => Symbol::Builtin(name.into()),
        }
    }

    fn has_global(&self, file: File, name: &str) -> bool {
        let home = self.home.as_ref();
        let loaded = home.and_then(|h| h.global(h.module_of(file)?, name));
        // A module that is not loaded has what its text binds.
        let bound = || file_index(self.db, file).bindings(name).next().is_some();
        loaded.is_some() || self.modules.is_some() && bound()
    }

    /// What `import a.b` without `as` binds.
    fn imported_module(&self, file: File, index: &FileIndex, name: &str) -> Option<File> {
        index.tokens.iter().find_map(|t| match t.role {
            Role::Module(stmt, 1) if t.scope == 0 && index.text(t) == name => {
                match &index.parsed.ast.stmts[stmt] {
                    Stmt::Import(_) => self.import_target(file, index, stmt, Some(1), name),
                    _ => None,
                }
            }
            _ => None,
        })
    }

    /// What a name after `as` stands for.
    fn import_alias(
        &self,
        file: File,
        index: &FileIndex,
        token: &Token,
        depth: usize,
    ) -> Option<Symbol> {
        let stmt = index.stmt_at(token.range.start)?;
        match &index.parsed.ast.stmts[stmt] {
            Stmt::Import(aliases) => {
                let a = aliases.iter().find(|a| a.alias == Some(token.name))?;
                self.module_file(file, 0, &a.module).map(Symbol::Module)
            }
            Stmt::ImportFrom(import) => {
                let pairs = import.names.as_ref()?;
                let (name, _) = pairs.iter().find(|(_, alias)| *alias == token.name)?;
                let name = index.parsed.ast.name(*name);
                self.imported_at(file, index, stmt, name, depth)
            }
            _ => None,
        }
    }

    fn imported(&self, file: File, index: &FileIndex, stmt: StmtId, name: &str) -> Option<Symbol> {
        self.imported_at(file, index, stmt, name, 0)
    }

    fn imported_at(
        &self,
        file: File,
        index: &FileIndex,
        stmt: StmtId,
        name: &str,
        depth: usize,
    ) -> Option<Symbol> {
        let Stmt::ImportFrom(import) = &index.parsed.ast.stmts[stmt] else {
            return None;
        };
        let dotted = match &*import.module {
            "" => name.to_owned(),
            module => format!("{module}.{name}"),
        };
        if let Some(from) = self.import_target(file, index, stmt, None, "")
            && from != file
            && self.has_global(from, name)
        {
            let home = self.home.as_ref();
            let value = home.and_then(|h| h.global(h.module_of(from)?, name));
            let is_module = matches!((home, value), (Some(home), Some(Const::Obj(m)))
                if matches!(home.object(m).as_deref(), Some(ObjData::Module { .. })));
            if !is_module {
                return Some(self.follow(from, &file_index(self.db, from), name, depth));
            }
        }
        self.module_file(file, import.dots, &dotted)
            .map(Symbol::Module)
    }

    /// The file of the module that an import statement names: of the whole name, or of
    /// its first parts.
    pub(crate) fn import_target(
        &self,
        file: File,
        index: &FileIndex,
        stmt: StmtId,
        parts: Option<u32>,
        last: &str,
    ) -> Option<File> {
        let first = |module: &str| match parts {
            Some(n) => module
                .split('.')
                .take(n as usize)
                .collect::<Vec<_>>()
                .join("."),
            None => module.to_owned(),
        };
        match &index.parsed.ast.stmts[stmt] {
            Stmt::Import(aliases) => {
                let a = aliases.iter().find(|a| {
                    let at = parts.map_or(0, |n| n as usize - 1);
                    a.module.split('.').nth(at) == Some(last)
                })?;
                self.module_file(file, 0, &first(&a.module))
            }
            Stmt::ImportFrom(i) => self.module_file(file, i.dots, &first(&i.module)),
            _ => None,
        }
    }

    /// The file of a module that an import in a file names.
    fn module_file(&self, file: File, dots: u32, dotted: &str) -> Option<File> {
        let loaded = self.loaded_module(file, dots, dotted);
        loaded.or_else(|| self.modules.as_ref()?.find(self.db, file, dots, dotted))
    }

    fn loaded_module(&self, file: File, dots: u32, dotted: &str) -> Option<File> {
        let home = self.home.as_ref()?;
        let here = match home.object(home.module_of(file)?).as_deref() {
            Some(ObjData::Module { name }) => name.to_string(),
            _ => return None,
        };
        let is_package = file.path(self.db).file_name() == Some("__init__.py");
        let mut package: Vec<&str> = here.split('.').collect();
        if !is_package {
            package.pop();
        }
        for _ in 1..dots {
            package.pop();
        }
        let absolute = |dotted: &str| home.file_of_module(home.module_named(dotted)?);
        let mut relative = package;
        relative.extend(dotted.split('.').filter(|p| !p.is_empty()));
        let relative = absolute(&relative.join("."));
        match dots {
            0 => relative.or_else(|| absolute(dotted)),
            _ => relative,
        }
    }

    /// A member of a class, by the class at the top of the hierarchy that has it.
    pub(crate) fn member(&self, class: ObjId, name: &str) -> Symbol {
        let mut top = class;
        if let Some(home) = &self.home {
            for c in home.mro(class) {
                let declared = home.roots.is_some_and(|roots| {
                    let attrs = class_attributes(self.db, Class::new(self.db, roots, c));
                    attrs.attrs.contains_key(name) || attrs.class_attrs.contains_key(name)
                });
                let own = matches!(home.object(c).as_deref(),
                    Some(ObjData::Class(d)) if d.get(name).is_some());
                if declared || own {
                    top = c;
                }
            }
        }
        Symbol::Member(top, name.into())
    }

    fn attribute(&self, file: File, index: &FileIndex, token: &Token, expr: ExprId) -> Vec<Symbol> {
        let name = index.scopes.mangle(token.scope, token.name);
        let name = index.scopes.text(name);
        let mut out: Vec<Symbol> = Vec::new();
        for owner in self.owners(file, index, token, expr) {
            let symbol = match owner {
                Owner::Module(m) => match self.submodule(m, name) {
                    Some(sub) => Some(Symbol::Module(sub)),
                    None => Some(self.global(m, &file_index(self.db, m), name)),
                },
                Owner::Class(c) => Some(self.member(c, name)),
            };
            out.extend(symbol.filter(|s| !out.contains(s)));
        }
        out
    }

    /// A module inside of a package, where the package has nothing else of that name.
    fn submodule(&self, package: File, name: &str) -> Option<File> {
        let modules = self.modules.as_ref()?;
        let inside = package.path(self.db).file_name() == Some("__init__.py");
        (inside && !self.has_global(package, name))
            .then(|| modules.find(self.db, package, 1, name))
            .flatten()
    }

    /// What an attribute expression looks its attribute up in.
    pub(crate) fn owners(
        &self,
        file: File,
        index: &FileIndex,
        token: &Token,
        expr: ExprId,
    ) -> Vec<Owner> {
        let mut out = Vec::new();
        let mut add = |o: Option<Owner>| out.extend(o.filter(|o| !out.contains(o)));
        let range = index.parsed.spans.expr(expr);
        if let Some(home) = &self.home
            && let Some(body) = self.body_of_scope(index, token.scope)
        {
            for found in body.operations(range) {
                match found.op.args.first() {
                    Some(Operand::Const(c)) => add(self.owner_of_const(c)),
                    Some(Operand::Var(_)) => {
                        let receiver = found.operand(0).cloned().unwrap_or_default();
                        self.owners_of(home, &receiver)
                            .into_iter()
                            .for_each(|o| add(Some(o)));
                    }
                    None => {}
                }
            }
        }
        if out.is_empty()
            && let Expr::Attribute(value, _) = index.parsed.ast.exprs[expr]
        {
            let value = self.constant(file, index, token.scope, value);
            out.extend(value.and_then(|c| self.owner_of_const(&c)));
        }
        if out.is_empty()
            && let Expr::Attribute(value, _) = index.parsed.ast.exprs[expr]
            && let Some(Symbol::Module(m)) = self.module_of(file, index, token.scope, value)
        {
            out.push(Owner::Module(m));
        }
        if out.is_empty()
            && let Some(class) = self.self_class(index, token.scope, expr)
        {
            out.push(Owner::Class(class));
        }
        out
    }

    /// The module that an expression names, if it does: also in functions that nobody calls,
    /// and of imports there.
    fn module_of(
        &self,
        file: File,
        index: &FileIndex,
        scope: ScopeId,
        expr: ExprId,
    ) -> Option<Symbol> {
        let token = self.token_of(index, scope, expr)?;
        let symbols = self.symbols(file, index, &token).into_iter();
        symbols.into_iter().find(|s| matches!(s, Symbol::Module(_)))
    }

    /// The token of a name or attribute expression.
    fn token_of(&self, index: &FileIndex, scope: ScopeId, expr: ExprId) -> Option<Token> {
        let whole = index.parsed.spans.expr(expr);
        let (name, range, role) = match index.parsed.ast.exprs[expr] {
            Expr::Name(name) => (name, whole, Role::Read(expr)),
            Expr::Attribute(_, name) => {
                let len = index.scopes.text(name).len() as u32;
                let range = TextRange::new(whole.end.saturating_sub(len), whole.end);
                (name, range, Role::Attribute(expr, false))
            }
            _ => return None,
        };
        Some(Token {
            range,
            name,
            scope,
            role,
        })
    }

    /// Whether an attribute of which nothing is known may be one of a module: that of a
    /// name which an import binds somewhere in the file.
    pub(crate) fn may_be_module(&self, index: &FileIndex, token: &Token, expr: ExprId) -> bool {
        let Expr::Attribute(value, _) = index.parsed.ast.exprs[expr] else {
            return false;
        };
        let name = match index.parsed.ast.exprs[value] {
            Expr::Name(name) | Expr::Attribute(_, name) => name,
            _ => return false,
        };
        let text = index.scopes.text(name);
        index.tokens.iter().any(|t| {
            let import = match t.role {
                Role::Module(..) | Role::Imported(..) => true,
                Role::Write(None) => t.scope == token.scope || t.scope == 0,
                _ => false,
            };
            import && index.text(t) == text
        })
    }

    /// In a method that is never called, `self` is of the class all the same.
    fn self_class(&self, index: &FileIndex, scope: ScopeId, expr: ExprId) -> Option<ObjId> {
        let Expr::Attribute(value, _) = index.parsed.ast.exprs[expr] else {
            return None;
        };
        let Expr::Name(name) = index.parsed.ast.exprs[value] else {
            return None;
        };
        let s = &index.scopes.scopes[scope];
        let ScopeNode::Function(f) = s.node else {
            return None;
        };
        let first = index.parsed.ast.functions[f].params.positional.first()?;
        let class = s.parent?;
        let in_class = matches!(index.scopes.scopes[class].node, ScopeNode::Class(_));
        (in_class && *first == taipan_syntax::Param::Name(name))
            .then(|| self.home.as_ref()?.class_of(*index.codes.get(class)?))?
    }

    pub(crate) fn owner_of_const(&self, c: &Const) -> Option<Owner> {
        let home = self.home.as_ref()?;
        let Const::Obj(id) = c else { return None };
        match home.object(*id).as_deref()? {
            ObjData::Module { .. } => home.file_of_module(*id).map(Owner::Module),
            ObjData::Class(c) if !c.builtin => Some(Owner::Class(*id)),
            ObjData::Instance(i) => Some(Owner::Class(i.class)),
            _ => None,
        }
    }

    pub(crate) fn owners_of(&self, home: &Home<'_>, s: &SomeValue) -> Vec<Owner> {
        match &s.kind {
            SomeKind::Instance { class, .. } => class.map(Owner::Class).into_iter().collect(),
            SomeKind::Exception(classes) => classes.iter().map(|c| Owner::Class(*c)).collect(),
            SomeKind::Pbc { descs, .. } => descs
                .iter()
                .filter_map(|d| match d {
                    Desc::Class(c) => Some(Owner::Class(*c)),
                    Desc::Frozen(o) => match home.object(*o).as_deref()? {
                        ObjData::Instance(i) => Some(Owner::Class(i.class)),
                        ObjData::Module { .. } => home.file_of_module(*o).map(Owner::Module),
                        _ => None,
                    },
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        }
    }

    /// The value of an expression that is the same whenever it is computed: a global,
    /// or what is found in one.
    pub(crate) fn constant(
        &self,
        file: File,
        index: &FileIndex,
        scope: ScopeId,
        expr: ExprId,
    ) -> Option<Const> {
        let home = self.home.as_ref()?;
        match index.parsed.ast.exprs[expr] {
            Expr::Name(name) => {
                let token = Token {
                    range: index.parsed.spans.expr(expr),
                    name,
                    scope,
                    role: Role::Read(expr),
                };
                let (0, name) = index.variable(&token) else {
                    return None;
                };
                home.global(home.module_of(file)?, name)
            }
            Expr::Attribute(value, name) => {
                let Const::Obj(id) = self.constant(file, index, scope, value)? else {
                    return None;
                };
                let name = index.scopes.text(name);
                match home.object(id).as_deref()? {
                    ObjData::Module { .. } => home.global(id, name),
                    ObjData::Class(_) => Some(home.class_attr(id, name)?.1),
                    ObjData::Instance(i) => i
                        .get(name)
                        .cloned()
                        .or_else(|| Some(home.class_attr(i.class, name)?.1)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The functions that a call expression calls.
    pub(crate) fn callees(&self, index: &FileIndex, scope: ScopeId, call: ExprId) -> Vec<ObjId> {
        let Some(body) = self.body_of_scope(index, scope) else {
            return Vec::new();
        };
        let mut out = Vec::new();
        for found in body.operations(index.parsed.spans.expr(call)) {
            let targets: Vec<Target> = match found.call {
                Some(CallInfo::Direct(d)) => vec![d.target],
                Some(CallInfo::Indirect(i)) => i.targets.to_vec(),
                Some(CallInfo::Instantiate(i)) => {
                    i.classes.iter().filter_map(|(_, init)| *init).collect()
                }
                Some(CallInfo::Memo(m)) => {
                    out.push(m.func);
                    Vec::new()
                }
                _ => Vec::new(),
            };
            out.extend(targets.into_iter().filter_map(|t| match t {
                Target::Spec(s) => Some(s.func(self.db)),
                Target::Helper(_) => None,
            }));
        }
        let mut seen = Vec::new();
        out.retain(|f| {
            !seen.contains(f) && {
                seen.push(*f);
                true
            }
        });
        out
    }

    fn keyword(&self, file: File, index: &FileIndex, token: &Token, call: ExprId) -> Vec<Symbol> {
        let name = index.text(token);
        if let Some(home) = &self.home {
            let mut functions = self.callees(index, token.scope, call);
            if functions.is_empty() {
                functions.extend(self.named_callee(home, file, index, token.scope, call));
            }
            let parameter = |f: ObjId| match home.object(f).as_deref()? {
                ObjData::Function(f) => Some(Symbol::Local(home.plain_code(f.code), name.into())),
                _ => None,
            };
            let found: Vec<Symbol> = functions.into_iter().filter_map(parameter).collect();
            if !found.is_empty() {
                return found;
            }
        }
        let code = self.written_callee(file, index, token.scope, call);
        code.map(|c| Symbol::Local(c, name.into()))
            .into_iter()
            .collect()
    }

    /// The function that a call names in a file that is not loaded: the only `def` of a
    /// global.
    fn written_callee(
        &self,
        file: File,
        index: &FileIndex,
        scope: ScopeId,
        call: ExprId,
    ) -> Option<CodeId> {
        self.modules.as_ref()?;
        let Expr::Call(c) = &index.parsed.ast.exprs[call] else {
            return None;
        };
        let token = self.token_of(index, scope, c.function)?;
        let [Symbol::Global(from, name)] = &self.symbols(file, index, &token)[..] else {
            return None;
        };
        let from = file_index(self.db, *from);
        let mut bindings = from.bindings(name);
        let (first, second) = (bindings.next()?, bindings.next());
        match (first.role, second) {
            (Role::Function(f), None) => {
                let scope = *from.scopes.by_node.get(&ScopeNode::Function(f))?;
                from.codes.get(scope).copied()
            }
            _ => None,
        }
    }

    /// The function that a call names, where nobody runs the call.
    fn named_callee(
        &self,
        home: &Home<'_>,
        file: File,
        index: &FileIndex,
        scope: ScopeId,
        call: ExprId,
    ) -> Option<ObjId> {
        let Expr::Call(c) = &index.parsed.ast.exprs[call] else {
            return None;
        };
        let Const::Obj(id) = self.constant(file, index, scope, c.function)? else {
            return None;
        };
        match home.object(id).as_deref()? {
            ObjData::Function(_) => Some(id),
            ObjData::Class(_) => match home.class_attr(id, "__init__")?.1 {
                Const::Obj(init) => Some(init),
                _ => None,
            },
            _ => None,
        }
    }

    /// The files in which a symbol can be named.
    pub(crate) fn files(&self, file: File) -> Arc<Vec<File>> {
        match &self.home {
            Some(home) => taipan_interp::program_files(self.db, home.program).clone(),
            None => Arc::new(vec![file]),
        }
    }

    /// The tokens of a file that stand for a symbol.
    pub(crate) fn tokens_of(&self, file: File, symbol: &Symbol) -> Vec<(Span, Token)> {
        let name = symbol.name(self.db);
        let index = file_index(self.db, file);
        let mut names = vec![name];
        // Other names that it is imported under.
        for t in &index.tokens {
            if t.role == Role::Write(None) && self.symbols(file, &index, t).contains(symbol) {
                let alias = index.text(t).to_owned();
                if !names.contains(&alias) {
                    names.push(alias);
                }
            }
        }
        let tokens = index.tokens.iter().filter(|t| {
            let text = index.scopes.text(index.scopes.mangle(t.scope, t.name));
            names.iter().any(|n| n == text) && self.symbols(file, &index, t).contains(symbol)
        });
        tokens
            .map(|t| {
                let range = t.range;
                (Span { file, range }, *t)
            })
            .collect()
    }
}

/// What an attribute is looked up in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    /// The module that a file makes.
    Module(File),
    /// Instances of a class, or the class itself.
    Class(ObjId),
}

impl Symbol {
    /// Its name.
    pub(crate) fn name(&self, db: &dyn Db) -> String {
        match self {
            Symbol::Local(_, n)
            | Symbol::Global(_, n)
            | Symbol::Member(_, n)
            | Symbol::Builtin(n) => n.to_string(),
            Symbol::Module(file) => {
                let path = file.path(db);
                let stem = match path.file_name() {
                    Some("__init__.py") => path.parent().and_then(|p| p.file_name()),
                    _ => path.file_stem(),
                };
                stem.unwrap_or_default().to_owned()
            }
        }
    }
}
