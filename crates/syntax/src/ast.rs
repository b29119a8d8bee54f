//! The typed syntax tree: what was written, without places and without sugar of
//! spelling (Python 2's and Python 3's forms of one thing are one node).
//!
//! Nodes live in arenas and refer to each other by index. A node holds no position:
//! those are in [`Spans`], so that two trees can be compared by what they say. What
//! could not be parsed is [`Expr::Error`] or [`Stmt::Error`]; the rest of the file
//! is there all the same.

use std::sync::Arc;

use la_arena::{Arena, Idx};
use num_bigint::BigInt;
use taipan_base::TextRange;

/// Index of an expression.
pub type ExprId = Idx<Expr>;
/// Index of a statement.
pub type StmtId = Idx<Stmt>;
/// Index of a function definition or lambda.
pub type FunctionId = Idx<Function>;
/// Index of a class definition.
pub type ClassId = Idx<Class>;

/// A name, as an index into [`Ast::names`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Name(pub u32);

/// Statements in a row.
pub type Block = Box<[StmtId]>;

/// The tree of one source text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ast {
    /// All expressions.
    pub exprs: Arena<Expr>,
    /// All statements.
    pub stmts: Arena<Stmt>,
    /// All function definitions and lambdas, in source order.
    pub functions: Arena<Function>,
    /// All class definitions, in source order.
    pub classes: Arena<Class>,
    /// The text of each name.
    pub names: Vec<Box<str>>,
    /// The module's statements.
    pub body: Block,
    /// What its `from __future__` imports ask for.
    pub future: Future,
}

impl Ast {
    /// Gives back the room that growing took beyond what is there.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.exprs.shrink_to_fit();
        self.stmts.shrink_to_fit();
        self.functions.shrink_to_fit();
        self.classes.shrink_to_fit();
        self.names.shrink_to_fit();
    }

    /// The text of a name.
    pub fn name(&self, name: Name) -> &str {
        &self.names[name.0 as usize]
    }
}

/// Effects of `from __future__ import ...`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Future {
    /// `/` is true division.
    pub division: bool,
    /// `print` is a function.
    pub print_function: bool,
    /// Literals without a prefix are unicode.
    pub unicode_literals: bool,
    /// `import x` does not look into the package first.
    pub absolute_import: bool,
}

impl Future {
    /// Their flags in code objects.
    pub fn flags(self) -> u32 {
        let flag = |is_on: bool, flag| if is_on { flag } else { 0 };
        flag(self.division, 0x2000)
            | flag(self.absolute_import, 0x4000)
            | flag(self.print_function, 0x1_0000)
            | flag(self.unicode_literals, 0x2_0000)
    }
}

/// An expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expr {
    /// What could not be parsed; a diagnostic tells of it.
    Error,
    /// A name.
    Name(Name),
    /// `None`
    None,
    /// `True`, `False`
    Bool(bool),
    /// `...`
    Ellipsis,
    /// An int literal that fits 64 bits.
    Int(i64),
    /// A larger one, or one with `L`.
    Long(Arc<BigInt>),
    /// A float literal, as its bits.
    Float(u64),
    /// A literal with `j`, as the bits of its imaginary part.
    Imaginary(u64),
    /// A byte string, adjacent literals joined.
    Str(Arc<[u8]>),
    /// A unicode string as code points, adjacent literals joined.
    Unicode(Arc<[u32]>),
    /// `(a, b)`, also without the parentheses.
    Tuple(Box<[ExprId]>),
    /// `[a, b]`
    List(Box<[ExprId]>),
    /// `{a, b}`
    Set(Box<[ExprId]>),
    /// `{k: v}`
    Dict(Box<[(ExprId, ExprId)]>),
    /// `-a`, `not a`, ...
    Unary(UnaryOp, ExprId),
    /// `a + b`, ...
    Binary(BinaryOp, ExprId, ExprId),
    /// `a and b and c`: two or more operands.
    And(Box<[ExprId]>),
    /// `a or b or c`: two or more operands.
    Or(Box<[ExprId]>),
    /// `a < b <= c`: the first operand, then each operator with its right operand.
    Compare(ExprId, Box<[(CompareOp, ExprId)]>),
    /// `then if test else orelse`
    Conditional {
        /// The condition.
        test: ExprId,
        /// Its value where it holds.
        then: ExprId,
        /// Its value elsewhere.
        orelse: ExprId,
    },
    /// `lambda`
    Lambda(FunctionId),
    /// `f(a, k=b, *c, **d)`
    Call(Box<Call>),
    /// `a.b`
    Attribute(ExprId, Name),
    /// `a[index]`; the index may be a [`Expr::Slice`] or a tuple that has some.
    Subscript(ExprId, ExprId),
    /// `lower:upper:step`, only inside a subscript.
    Slice {
        /// Before the first colon.
        lower: Option<ExprId>,
        /// After it.
        upper: Option<ExprId>,
        /// `Some` where there is a second colon, holding what follows that.
        step: Option<Option<ExprId>>,
    },
    /// Backquotes.
    Repr(ExprId),
    /// `yield a`
    Yield(Option<ExprId>),
    /// A comprehension or generator expression.
    Comprehension(Box<Comprehension>),
}

/// A call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// What is called.
    pub function: ExprId,
    /// Positional arguments.
    pub args: Box<[ExprId]>,
    /// Keyword arguments.
    pub keywords: Box<[(Name, ExprId)]>,
    /// `*a`
    pub star: Option<ExprId>,
    /// `**a`
    pub dstar: Option<ExprId>,
}

/// What a comprehension builds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ComprehensionKind {
    /// `[..]`: its variables belong to the scope around it.
    List,
    /// `{..}`
    Set,
    /// `{k: v ..}`
    Dict,
    /// `(..)`
    Generator,
}

/// A comprehension or generator expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comprehension {
    /// What it builds.
    pub kind: ComprehensionKind,
    /// The element, or the key.
    pub element: ExprId,
    /// The value of a dict comprehension.
    pub value: Option<ExprId>,
    /// Its clauses; the first is a `for`.
    pub clauses: Box<[Clause]>,
}

/// A clause of a comprehension.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Clause {
    /// `for target in iter`
    For(ExprId, ExprId),
    /// `if test`
    If(ExprId),
}

/// An operator before its operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `+`
    Pos,
    /// `~`
    Invert,
    /// `not`
    Not,
}

/// An operator between two operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Mod,
    Pow,
    LShift,
    RShift,
    And,
    Or,
    Xor,
}

/// A comparison operator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum CompareOp {
    Lt,
    Le,
    Eq,
    Ne,
    Gt,
    Ge,
    In,
    NotIn,
    Is,
    IsNot,
}

/// A statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stmt {
    /// What could not be parsed; a diagnostic tells of it.
    Error,
    /// An expression for its effect.
    Expr(ExprId),
    /// `a = b = value`
    Assign(Box<[ExprId]>, ExprId),
    /// `a += value`
    AugAssign(BinaryOp, ExprId, ExprId),
    /// `del a, b`
    Delete(Box<[ExprId]>),
    /// `print >>dest, a, b`
    Print {
        /// After `>>`.
        dest: Option<ExprId>,
        /// What is printed.
        values: Box<[ExprId]>,
        /// Whether no comma ends it.
        newline: bool,
    },
    /// `exec code in globals, locals`
    Exec {
        /// Source or code object.
        code: ExprId,
        /// The first dict.
        globals: Option<ExprId>,
        /// The second.
        locals: Option<ExprId>,
    },
    /// `return a`
    Return(Option<ExprId>),
    /// `raise type, value, traceback`: up to three operands.
    Raise(Box<[ExprId]>),
    /// `assert test, message`
    Assert(ExprId, Option<ExprId>),
    /// `pass`
    Pass,
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `global a, b`
    Global(Box<[Name]>),
    /// `import a.b as c, d`
    Import(Box<[ImportAlias]>),
    /// `from a import b as c`
    ImportFrom(Box<ImportFrom>),
    /// `if`, `elif` and `else`: tests with their blocks, then the last one.
    If(Box<[(ExprId, Block)]>, Block),
    /// `while test: body else: orelse`
    While {
        /// The condition.
        test: ExprId,
        /// The loop.
        body: Block,
        /// Runs unless a `break` ends the loop.
        orelse: Block,
    },
    /// `for target in iter: body else: orelse`
    For {
        /// What each item is assigned to.
        target: ExprId,
        /// The sequence.
        iter: ExprId,
        /// The loop.
        body: Block,
        /// Runs unless a `break` ends the loop.
        orelse: Block,
    },
    /// `try`
    Try(Box<Try>),
    /// `with a as b, c: body`
    With(Box<[(ExprId, Option<ExprId>)]>, Block),
    /// `def`
    Function(FunctionId),
    /// `class`
    Class(ClassId),
}

/// One name of an `import`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportAlias {
    /// The dotted name.
    pub module: Box<str>,
    /// After `as`.
    pub alias: Option<Name>,
    /// What is bound without `as`: the name up to the first dot.
    pub first: Name,
}

/// A `from .. import ..`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportFrom {
    /// The dotted name, without leading dots.
    pub module: Box<str>,
    /// Number of leading dots.
    pub dots: u32,
    /// The names with what they are bound to; `None` for `*`.
    pub names: Option<Box<[(Name, Name)]>>,
}

/// A `try` statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Try {
    /// What is protected.
    pub body: Block,
    /// The `except` clauses.
    pub handlers: Box<[ExceptClause]>,
    /// The `else` clause; empty where there is none.
    pub orelse: Block,
    /// The `finally` clause; empty where there is none.
    pub finally: Block,
}

/// An `except` clause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExceptClause {
    /// The classes it catches; all where there is none.
    pub class: Option<ExprId>,
    /// Where the exception is put.
    pub target: Option<ExprId>,
    /// Its body.
    pub body: Block,
}

/// A function definition or lambda.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its name, `<lambda>` for a lambda.
    pub name: Name,
    /// Its parameters.
    pub params: Params,
    /// What it does.
    pub body: FunctionBody,
    /// Decorators, from top to bottom.
    pub decorators: Box<[ExprId]>,
}

/// What a function does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FunctionBody {
    /// A `def`'s statements.
    Block(Block),
    /// A lambda's value.
    Expr(ExprId),
}

/// Parameters of a function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Params {
    /// Positional ones.
    pub positional: Box<[Param]>,
    /// Default values of the last of them.
    pub defaults: Box<[ExprId]>,
    /// `*args`
    pub varargs: Option<Name>,
    /// `**kwargs`
    pub varkeywords: Option<Name>,
}

/// A positional parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Param {
    /// A name.
    Name(Name),
    /// A tuple of targets, which the argument is unpacked to.
    Tuple(ExprId),
}

impl Param {
    /// Its name; a tuple has none.
    pub fn name(&self) -> Option<Name> {
        match self {
            Param::Name(n) => Some(*n),
            Param::Tuple(_) => None,
        }
    }
}

impl Params {
    /// The names of all parameters in their order, `*args` and `**kwargs` last.
    pub fn names(&self) -> impl Iterator<Item = Option<Name>> {
        let positional = self.positional.iter().map(Param::name);
        let rest = [self.varargs, self.varkeywords].into_iter().flatten();
        positional.chain(rest.map(Some))
    }
}

/// A class definition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Class {
    /// Its name.
    pub name: Name,
    /// Its bases.
    pub bases: Box<[ExprId]>,
    /// Its body.
    pub body: Block,
    /// Decorators, from top to bottom.
    pub decorators: Box<[ExprId]>,
}

/// Where the nodes stand: side tables by arena index.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Spans {
    pub(crate) exprs: Vec<TextRange>,
    pub(crate) stmts: Vec<TextRange>,
    pub(crate) functions: Vec<DefinitionSpans>,
    pub(crate) classes: Vec<DefinitionSpans>,
}

/// Places of a definition.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DefinitionSpans {
    /// All of it, without decorators.
    pub whole: TextRange,
    /// Its name; for a lambda the word `lambda`.
    pub name: TextRange,
    /// Its parameters: positional ones, `*args`, `**kwargs`.
    pub params: Vec<TextRange>,
}

fn raw<T>(id: Idx<T>) -> usize {
    id.into_raw().into_u32() as usize
}

impl Spans {
    /// Gives back the room that growing took beyond what is there.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.exprs.shrink_to_fit();
        self.stmts.shrink_to_fit();
        self.functions.shrink_to_fit();
        self.classes.shrink_to_fit();
    }

    /// Place of an expression.
    pub fn expr(&self, id: ExprId) -> TextRange {
        self.exprs[raw(id)]
    }

    /// Place of a statement; for a compound one, of all its lines.
    pub fn stmt(&self, id: StmtId) -> TextRange {
        self.stmts[raw(id)]
    }

    /// Places of a function.
    pub fn function(&self, id: FunctionId) -> &DefinitionSpans {
        &self.functions[raw(id)]
    }

    /// Places of a class.
    pub fn class(&self, id: ClassId) -> &DefinitionSpans {
        &self.classes[raw(id)]
    }
}
