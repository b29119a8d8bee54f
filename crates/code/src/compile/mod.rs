//! From the syntax tree to bytecode.
//!
//! ```text
//! if a: f(b)      0 LoadFast a    1 JumpIfFalse 5    2 LoadGlobal f    3 LoadFast b
//!                 4 Call 1        5 Pop ...
//! ```

mod assembler;
mod constants;
mod control;
mod expr;
mod stmt;
pub(crate) mod testing;

use std::collections::{HashMap, HashSet};

use taipan_base::{Db, TextRange};
use taipan_syntax::{
    Ast, Block, Expr, ExprId, FunctionBody, Name, Param, ParsedFile, Stmt, SyntaxError,
};

use crate::bytecode::*;
use crate::scope::{Place, ScopeId, ScopeNode, Scopes};
use assembler::Assembler;
use control::Frame;
use testing::TestModule;

/// One compiled body with what stands beside it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Compiled {
    pub(crate) id: CodeId,
    pub(crate) code: Code,
    pub(crate) spans: CodeSpans,
}

/// Compiles all bodies of a text. The module's comes first, then the others in the
/// order of their definitions. Problems beyond syntax are answered too.
pub(crate) fn compile(
    db: &dyn Db,
    origin: Origin,
    parsed: &ParsedFile,
    kind: CodeKind,
) -> (Vec<Compiled>, Vec<SyntaxError>) {
    let scopes = Scopes::new(&parsed.ast);
    let mut seen: HashMap<&str, u32> = HashMap::new();
    let ids: Vec<CodeId> = scopes
        .scopes
        .iter()
        .map(|s| {
            let nth = seen.entry(&s.qualname).or_default();
            let id = CodeId::new(db, origin, s.qualname.as_str(), *nth);
            *nth += 1;
            id
        })
        .collect();
    let mut errors = Vec::new();
    let codes = (0..scopes.scopes.len())
        .map(|scope| {
            let compiler = Compiler {
                db,
                origin,
                parsed,
                ast: &parsed.ast,
                scopes: &scopes,
                ids: &ids,
                scope,
                out: Assembler::default(),
                frames: Vec::new(),
                hidden: Vec::new(),
                params: 0,
                poisoned: false,
                errors: &mut errors,
                testing: match origin {
                    Origin::Test(file) => Some(TestModule::new(parsed, file.text(db))),
                    _ => None,
                },
                raised: HashSet::new(),
            };
            compiler.body(kind)
        })
        .collect();
    (codes, errors)
}

/// Compiles one body.
struct Compiler<'a> {
    db: &'a dyn Db,
    origin: Origin,
    parsed: &'a ParsedFile,
    ast: &'a Ast,
    scopes: &'a Scopes,
    /// Ids of all scopes' codes.
    ids: &'a [CodeId],
    scope: ScopeId,
    out: Assembler,
    /// What encloses the statement being compiled.
    frames: Vec<Frame<'a>>,
    /// Names of hidden locals, which come after the others.
    hidden: Vec<Box<str>>,
    params: u32,
    poisoned: bool,
    errors: &'a mut Vec<SyntaxError>,
    /// In a test module.
    testing: Option<TestModule<'a>>,
    /// Variables that hold the exception of a `raises`.
    raised: HashSet<Name>,
}

impl<'a> Compiler<'a> {
    fn body(mut self, root: CodeKind) -> Compiled {
        let ast = self.ast;
        let node = self.scopes.scopes[self.scope].node;
        let mut spans = CodeSpans::default();
        let mut doc = None;
        let (mut argcount, mut varargs, mut varkeywords) = (0, false, false);
        match node {
            ScopeNode::Module => {
                let end = ast
                    .body
                    .last()
                    .map_or(0, |s| self.parsed.spans.stmt(*s).end);
                spans.whole = TextRange::new(0, end);
                self.module(root, &mut doc);
            }
            ScopeNode::Class(id) => {
                let class = &ast.classes[id];
                let s = self.parsed.spans.class(id);
                (spans.whole, spans.name) = (s.whole, s.name);
                self.out.at = s.name;
                self.load("__name__");
                self.store("__module__");
                doc = self.doc(&class.body);
                if let Some(doc) = doc {
                    self.out.emit(Instr::LoadConst(doc));
                    self.store("__doc__");
                }
                self.block(&class.body);
                self.out.emit(Instr::LoadLocals);
                self.out.emit(Instr::Return);
            }
            ScopeNode::Function(id) => {
                let f = &ast.functions[id];
                let s = self.parsed.spans.function(id);
                (spans.whole, spans.name) = (s.whole, s.name);
                spans.params = s.params.clone();
                argcount = f.params.positional.len() as u32;
                varargs = f.params.varargs.is_some();
                varkeywords = f.params.varkeywords.is_some();
                self.params = argcount + u32::from(varargs) + u32::from(varkeywords);
                self.out.at = s.name;
                for (i, p) in f.params.positional.iter().enumerate() {
                    if let Param::Tuple(target) = p {
                        self.out.emit(Instr::LoadFast(i as u32));
                        self.store_to(*target);
                    }
                }
                match &f.body {
                    FunctionBody::Block(b) => {
                        doc = self.doc(b);
                        self.block(b);
                        // The end of a function has no statement of its own.
                        self.out.at = s.name;
                        self.out.load_const(CodeConst::None);
                        self.out.emit(Instr::Return);
                    }
                    FunctionBody::Expr(e) => {
                        self.expr(*e);
                        self.out.emit(Instr::Return);
                    }
                }
            }
            ScopeNode::Comprehension(e) => {
                let range = self.parsed.spans.expr(e);
                spans.whole = range;
                spans.name = TextRange::new(range.start, range.start);
                argcount = 1;
                self.params = 1;
                self.out.at = range;
                if let Expr::Comprehension(c) = &ast.exprs[e] {
                    self.comprehension_body(c);
                }
            }
        }
        let scope = &self.scopes.scopes[self.scope];
        let text = |n: Name| Box::<str>::from(self.scopes.text(n));
        let is_function = !matches!(node, ScopeNode::Module | ScopeNode::Class(_));
        let mut locals: Vec<Box<str>> = if is_function {
            scope.bound.keys().map(|n| text(*n)).collect()
        } else {
            Vec::new()
        };
        locals.extend(std::mem::take(&mut self.hidden));
        let cells = self
            .scopes
            .cells(self.scope)
            .map(|n| {
                let param = scope.bound.get_index_of(&n).map(|i| i as u32);
                (text(n), param.filter(|p| *p < self.params))
            })
            .collect();
        let name = scope.qualname.rsplit('.').next().unwrap_or("");
        let mut code = Code {
            name: name.into(),
            kind: match node {
                ScopeNode::Module => root,
                ScopeNode::Class(_) => CodeKind::Class,
                _ => CodeKind::Function,
            },
            argcount,
            varargs,
            varkeywords,
            locals,
            cells,
            frees: scope.frees.iter().map(|n| text(*n)).collect(),
            consts: Vec::new(),
            names: Vec::new(),
            calls: Vec::new(),
            functions: Vec::new(),
            imports: Vec::new(),
            instrs: Vec::new(),
            handlers: Vec::new(),
            generator: scope.generator,
            future: self.ast.future.flags(),
            max_stack: 0,
            doc,
            poisoned: self.poisoned,
        };
        let id = self.ids[self.scope];
        self.out.finish(&mut code, &mut spans);
        Compiled { id, code, spans }
    }

    fn module(&mut self, root: CodeKind, doc: &mut Option<u32>) {
        let body = &self.ast.body;
        if root == CodeKind::Eval {
            match body.first().map(|s| &self.ast.stmts[*s]) {
                Some(Stmt::Expr(e)) if body.len() == 1 => self.expr(*e),
                Some(Stmt::Error) => self.raise_syntax_error("invalid syntax"),
                _ => self.poison(TextRange::default(), "expected an expression"),
            }
            self.out.emit(Instr::Return);
            return;
        }
        *doc = self.doc(body);
        if let Some(doc) = doc {
            self.out.emit(Instr::LoadConst(*doc));
            self.store("__doc__");
        }
        self.block(body);
        self.out.load_const(CodeConst::None);
        self.out.emit(Instr::Return);
    }

    /// The docstring of a body, put into the constants.
    fn doc(&mut self, body: &Block) -> Option<u32> {
        let Stmt::Expr(e) = self.ast.stmts[*body.first()?] else {
            return None;
        };
        if !matches!(self.ast.exprs[e], Expr::Str(_) | Expr::Unicode(_)) {
            return None;
        }
        let value = self.constant(e)?;
        Some(self.out.consts.insert_full(value).0 as u32)
    }

    fn range(&self, e: ExprId) -> TextRange {
        self.parsed.spans.expr(e)
    }

    /// Reports a problem and has the body raise it where it stands.
    fn poison(&mut self, range: TextRange, message: &str) {
        self.errors.push(SyntaxError {
            range,
            problem: message.into(),
        });
        self.raise_syntax_error(message);
    }

    /// Makes the body raise SyntaxError here; takes the place of an expression.
    fn raise_syntax_error(&mut self, message: &str) {
        self.poisoned = true;
        let name = self.out.name("SyntaxError");
        self.out.emit(Instr::LoadGlobal(name));
        self.out
            .load_const(CodeConst::Str(message.as_bytes().into()));
        self.out.emit(Instr::Raise(2));
        // As if it had left a value.
        self.out.load_const(CodeConst::None);
    }

    /// Whether this is the body of a class or of a file's module.
    fn defines(&self) -> bool {
        let scope = &self.scopes.scopes[self.scope];
        match scope.node {
            ScopeNode::Class(_) => true,
            ScopeNode::Module => matches!(self.origin, Origin::File(_)),
            _ => false,
        }
    }

    /// A hidden local of its own.
    fn hidden_local(&mut self, what: &str) -> u32 {
        let scope = &self.scopes.scopes[self.scope];
        let named = match scope.node {
            ScopeNode::Module | ScopeNode::Class(_) => 0,
            _ => scope.bound.len(),
        };
        let n = self.hidden.len();
        self.hidden.push(format!(".{what}{n}").into());
        (named + n) as u32
    }

    fn place(&self, name: Name) -> (Name, Place) {
        let name = self.scopes.mangle(self.scope, name);
        (name, self.scopes.place(self.scope, name))
    }

    fn load_name(&mut self, name: Name) {
        let (name, place) = self.place(name);
        let text = |s: &mut Self| s.out.name(s.scopes.text(name));
        let instr = match place {
            Place::Fast(i) => Instr::LoadFast(i),
            Place::Deref(i) => Instr::LoadDeref(i),
            Place::Global => Instr::LoadGlobal(text(self)),
            Place::Dict => Instr::LoadName(text(self)),
        };
        self.out.emit(instr);
    }

    fn store_name(&mut self, name: Name) {
        let (name, place) = self.place(name);
        let text = |s: &mut Self| s.out.name(s.scopes.text(name));
        let instr = match place {
            Place::Fast(i) => Instr::StoreFast(i),
            Place::Deref(i) => Instr::StoreDeref(i),
            Place::Global => Instr::StoreGlobal(text(self)),
            Place::Dict => Instr::StoreName(text(self)),
        };
        self.out.emit(instr);
    }

    fn delete_name(&mut self, name: Name, range: TextRange) {
        let (name, place) = self.place(name);
        let text = |s: &mut Self| s.out.name(s.scopes.text(name));
        let instr = match place {
            Place::Fast(i) => Instr::DeleteFast(i),
            Place::Deref(_) => {
                self.poison(
                    range,
                    "cannot delete a variable that an inner function uses",
                );
                self.out.emit(Instr::Pop);
                return;
            }
            Place::Global => Instr::DeleteGlobal(text(self)),
            Place::Dict => Instr::DeleteName(text(self)),
        };
        self.out.emit(instr);
    }

    /// Loads a name of the compiler's own in a class body.
    fn load(&mut self, name: &str) {
        let i = self.out.name(name);
        self.out.emit(Instr::LoadName(i));
    }

    /// Stores one in a class or module body.
    fn store(&mut self, name: &str) {
        let i = self.out.name(name);
        self.out.emit(Instr::StoreName(i));
    }
}
