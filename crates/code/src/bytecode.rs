//! The instruction set and the code object.

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use std::sync::Arc;

use num_bigint::BigInt;
use taipan_base::{File, TextRange};
use taipan_graph::HlOp;

/// Source text given to `exec`, `eval` or `compile` at import time.
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
pub struct SourceText {
    /// The file name it was compiled under.
    #[returns(ref)]
    pub filename: Box<str>,
    /// The text.
    #[returns(ref)]
    pub text: Box<str>,
    /// `Module` for `exec` and `Eval` for `eval`.
    #[returns(copy)]
    pub kind: CodeKind,
}

/// What a code was compiled from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, salsa::SalsaValue)]
pub enum Origin {
    /// A source file.
    File(File),
    /// A source file as a test module: asserts explain themselves.
    Test(File),
    /// A text that import-time code made.
    Text(SourceText),
}

/// Identity of a function body, class body or module body: where it was compiled
/// from, qualified name, and which of several with that name. Interned, so it is
/// `Copy` and may be kept anywhere; its number says nothing (never sort by it, never
/// print it).
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
pub struct CodeId {
    /// The file or text.
    #[returns(copy)]
    pub origin: Origin,
    /// `<module>`, `f`, `C`, `C.method`, `f.<locals>.g`, `f.<locals>.<lambda>`, ...
    #[returns(ref)]
    pub qualname: Box<str>,
    /// 0 for the first of that name in the file, 1 for the second, ...
    #[returns(copy)]
    pub nth: u32,
}

impl CodeId {
    /// The source file; none for a text that import-time code made.
    pub fn file(self, db: &dyn taipan_base::Db) -> Option<File> {
        match self.origin(db) {
            Origin::File(f) | Origin::Test(f) => Some(f),
            Origin::Text(_) => None,
        }
    }
}

/// Index of an instruction; jump target.
pub type Pc = u32;

/// One instruction of the stack machine. Comments give the stack before and after,
/// top at the right. Every instruction performs at most one operation that can
/// raise or branch, as its last act, so that the flow space can end a block after
/// it with the frame in a consistent state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Instr {
    /// `-> consts[i]`
    LoadConst(u32),
    /// `-> locals[i]`, or UnboundLocalError
    LoadFast(u32),
    /// `v ->`
    StoreFast(u32),
    /// `->`
    DeleteFast(u32),
    /// `-> globals[names[i]]`, else the builtin of that name, else NameError
    LoadGlobal(u32),
    /// `v ->`
    StoreGlobal(u32),
    /// `->`
    DeleteGlobal(u32),
    /// `-> v`: dict of local names (module, class and exec bodies), then global, then builtin
    LoadName(u32),
    /// `v ->`
    StoreName(u32),
    /// `->`
    DeleteName(u32),
    /// `-> v`: contents of a cell (cells first, then free variables)
    LoadDeref(u32),
    /// `v ->`
    StoreDeref(u32),
    /// `-> cell`
    LoadClosure(u32),
    /// `-> d`: the dict of local names
    LoadLocals,
    /// `obj -> obj.names[i]`
    LoadAttr(u32),
    /// `v obj ->`
    StoreAttr(u32),
    /// `obj ->`
    DeleteAttr(u32),
    /// `a -> op(a)`
    Unary(HlOp),
    /// `a b -> op(a, b)`: arithmetic, augmented assignment, comparison, `is_`,
    /// `getitem`; `contains` is `a in b` with the stack `b a` (RPython's order of operands)
    Binary(HlOp),
    /// `a -> not a`
    Not,
    /// `a -> bool(a)`: truth value as a bool
    ToBool,
    /// `v obj key ->`
    StoreSubscr,
    /// `obj key ->`
    DeleteSubscr,
    /// `obj start stop -> obj[start:stop]`, None where left out
    GetSlice,
    /// `v obj start stop ->`
    SetSlice,
    /// `obj start stop ->`
    DelSlice,
    /// `start stop step -> slice(start, stop, step)`
    BuildSlice,
    /// `a1..an -> (a1, .., an)`
    BuildTuple(u32),
    /// `a1..an -> [a1, .., an]`
    BuildList(u32),
    /// `k1 v1..kn vn -> {k1: v1, ..}`
    BuildDict(u32),
    /// `a1..an -> {a1, .., an}`
    BuildSet(u32),
    /// `.. v ->`: appends to the list `n` below the top, counted after `v` is popped (1 is the new top)
    ListAppend(u32),
    /// `.. v ->`: likewise for a set
    SetAdd(u32),
    /// `.. k v ->`: likewise for a dict
    MapAdd(u32),
    /// `seq -> an .. a1` (the first item on top), or ValueError
    UnpackSequence(u32),
    /// `a ->`
    Pop,
    /// `a -> a a`
    Dup,
    /// `a b -> a b a b`
    Dup2,
    /// `a b c -> a b c a b c`
    Dup3,
    /// `a b -> b a`
    Rot2,
    /// `a b c -> c a b`
    Rot3,
    /// `a b c d -> d a b c`
    Rot4,
    /// `->`
    Jump(Pc),
    /// `a ->`
    JumpIfFalse(Pc),
    /// `a ->`
    JumpIfTrue(Pc),
    /// `a -> a` and jump if false, else `a ->`
    JumpIfFalseOrPop(Pc),
    /// `a -> a` and jump if true, else `a ->`
    JumpIfTrueOrPop(Pc),
    /// `a -> iter(a)`
    GetIter,
    /// `it -> it next`, or `it ->` and jump when it is exhausted
    ForIter(Pc),
    /// `f a1..an k1..km [star] [dstar] -> result`, as `calls[i]` says
    Call(u32),
    /// `d1..dn [c1..cm] -> function` of the code `consts[i]`, as `functions[i]` says
    MakeFunction(u32),
    /// `name bases body_function -> class` (Python 2's BUILD_CLASS: calls the body,
    /// which returns its dict, finds the metaclass and calls it)
    BuildClass,
    /// `v ->` and leaves the frame
    Return,
    /// `v -> sent value`
    Yield,
    /// `type [value [traceback]] ->` with n operands (0 to 3) and raises; without
    /// operands what is being handled, outside an except clause of the same body
    Raise(u32),
    /// `evalue etype ->` and raises again what a handler received
    Reraise,
    /// `etype cls -> bool`: whether the exception class matches (a class or a tuple of them)
    ExcMatch,
    /// `-> module`: see `imports[i]`
    Import(u32),
    /// `module -> module attr`
    ImportFrom(u32),
    /// `module ->` and stores all its public names
    ImportStar,
    /// `v ->` (softspace handling is the space's)
    PrintItem,
    /// `->`
    PrintNewline,
    /// `v file -> file`
    PrintItemTo,
    /// `file ->`
    PrintNewlineTo,
    /// `source globals locals ->`, None where left out. The frame's own variables are
    /// meant where both are.
    Exec,
    /// `a ->`, the answer of an `__exit__` that was given an exception: jumps if it is
    /// true. In RPython a context manager cannot suppress an exception: the flow space
    /// never jumps.
    JumpIfSuppressed(Pc),
}

impl Instr {
    /// Where it may jump to.
    pub fn jump_target(self) -> Option<Pc> {
        use Instr::*;
        match self {
            Jump(t) | JumpIfFalse(t) | JumpIfTrue(t) | JumpIfFalseOrPop(t) | JumpIfTrueOrPop(t)
            | JumpIfSuppressed(t) | ForIter(t) => Some(t),
            _ => None,
        }
    }
}

/// How a `Call` passes arguments.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CallDesc {
    /// Positional arguments.
    pub positional: u32,
    /// Names of keyword arguments.
    pub keywords: Vec<Box<str>>,
    /// Whether `*args` follows.
    pub star: bool,
    /// Whether `**kwargs` follows.
    pub dstar: bool,
}

impl CallDesc {
    /// Number of operands above the function.
    pub fn operands(&self) -> usize {
        let named = self.keywords.len();
        self.positional as usize + named + usize::from(self.star) + usize::from(self.dstar)
    }
}

/// What a `MakeFunction` makes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FunctionDesc {
    /// Index of its code in `consts`.
    pub code: u32,
    /// Number of default values on the stack.
    pub defaults: u32,
    /// Number of closure cells on the stack, in the order of the code's free variables.
    pub closure: u32,
}

/// What an `Import` imports.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ImportDesc {
    /// Dotted name as written; empty in `from . import x`.
    pub name: Box<str>,
    /// -1: first relative to the package, then absolute (Python 2); 0: absolute; n: n dots.
    pub level: i32,
    /// The names after `from .. import`; none for `import a.b`, which gives `a`
    /// unless `bind_leaf`.
    pub from: Option<Vec<Box<str>>>,
    /// `import a.b as c` gives `a.b`.
    pub bind_leaf: bool,
}

/// A constant of the code.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum CodeConst {
    /// `None`
    None,
    /// `True`, `False`
    Bool(bool),
    /// An int literal that fits 64 bits.
    Int(i64),
    /// A larger literal or one with `L`.
    Long(Arc<BigInt>),
    /// A float literal, as its bits.
    Float(u64),
    /// A complex literal's imaginary part, as its bits.
    Imaginary(u64),
    /// A byte string.
    Str(Arc<[u8]>),
    /// A unicode string, as code points.
    Unicode(Arc<[u32]>),
    /// A tuple of constants.
    Tuple(Arc<[CodeConst]>),
    /// `...`
    Ellipsis,
    /// A nested body.
    Code(CodeId),
}

/// A protected range of instructions. On an exception in `start..end` the stack is
/// cut to `depth`, then the exception's value and its class are pushed (class on
/// top) and execution goes on at `target`. The first entry that covers an
/// instruction counts: inner ones come first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Handler {
    /// First protected instruction.
    pub start: Pc,
    /// One past the last.
    pub end: Pc,
    /// The handler.
    pub target: Pc,
    /// Stack depth at the handler, before the two pushes.
    pub depth: u32,
}

/// What kind of body it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, salsa::SalsaValue)]
pub enum CodeKind {
    /// A module body, or source given to `exec`: names live in a dict.
    Module,
    /// A class body: names live in a dict, which it returns.
    Class,
    /// A function or lambda (generator expressions and comprehensions that need a
    /// scope of their own are functions too).
    Function,
    /// The source of an `eval`: returns the expression's value.
    Eval,
}

/// A compiled body.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Code {
    /// Last part of the qualified name: `__name__` of the function.
    pub name: Box<str>,
    /// What it is.
    pub kind: CodeKind,
    /// Number of positional parameters; they are the first locals, in order. A
    /// tuple parameter is a local named `.0`, `.1`, .. that the prologue unpacks.
    pub argcount: u32,
    /// Whether the local after them holds `*args`.
    pub varargs: bool,
    /// Whether the local after those holds `**kwargs`.
    pub varkeywords: bool,
    /// Names of the fast locals. Names that start with a dot are the compiler's own
    /// (saved exceptions, `with` managers).
    pub locals: Vec<Box<str>>,
    /// Names of locals that inner functions capture, with the parameter's index where
    /// it is one (the value is moved into the cell on entry).
    pub cells: Vec<(Box<str>, Option<u32>)>,
    /// Names of captured variables of outer functions.
    pub frees: Vec<Box<str>>,
    /// Constants.
    pub consts: Vec<CodeConst>,
    /// Names of globals and attributes.
    pub names: Vec<Box<str>>,
    /// Operands of `Call`.
    pub calls: Vec<CallDesc>,
    /// Operands of `MakeFunction`.
    pub functions: Vec<FunctionDesc>,
    /// Operands of `Import`.
    pub imports: Vec<ImportDesc>,
    /// The instructions.
    pub instrs: Vec<Instr>,
    /// Protected ranges, inner ones first.
    pub handlers: Vec<Handler>,
    /// Whether it contains `yield`.
    pub generator: bool,
    /// The `__future__` imports of the file, as `co_flags` bits.
    pub future: u32,
    /// Greatest stack depth.
    pub max_stack: u32,
    /// Index of the docstring in `consts`.
    pub doc: Option<u32>,
    /// A problem found while compiling this body (`break` outside a loop, ...): the
    /// instructions raise it as SyntaxError when run.
    pub poisoned: bool,
}

/// Positions of a code's parts.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct CodeSpans {
    /// One per instruction.
    pub instrs: Vec<TextRange>,
    /// The whole definition.
    pub whole: TextRange,
    /// Its name (for lambdas and modules: where it starts).
    pub name: TextRange,
    /// One per local that is a parameter.
    pub params: Vec<TextRange>,
    /// The items of list displays, and keys and values of dict displays in turn, by the
    /// instructions that make these; in functions only.
    pub items: Vec<(Pc, Box<[TextRange]>)>,
}

impl CodeSpans {
    /// The items of the display that an instruction makes.
    pub fn items_at(&self, pc: Pc) -> Option<&[TextRange]> {
        let i = self.items.binary_search_by_key(&pc, |(at, _)| *at).ok()?;
        Some(&self.items[i].1)
    }

    /// The spans after all positions have moved. The order of positions stays.
    pub(crate) fn moved(mut self, mut to: impl FnMut(u32) -> u32) -> CodeSpans {
        let items = (self.items.iter_mut()).flat_map(|(_, items)| items.iter_mut());
        let all = (self.instrs.iter_mut())
            .chain(&mut self.params)
            .chain(items);
        for r in all.chain([&mut self.whole, &mut self.name]) {
            let start = to(r.start);
            *r = TextRange::new(start, to(r.end).max(start));
        }
        self
    }
}

impl Code {
    /// Stands for a code that its file has no longer.
    pub(crate) fn gone(qualname: &str) -> Code {
        Code {
            name: qualname.rsplit('.').next().unwrap_or("").into(),
            kind: CodeKind::Function,
            argcount: 0,
            varargs: false,
            varkeywords: false,
            future: 0,
            locals: Vec::new(),
            cells: Vec::new(),
            frees: Vec::new(),
            consts: vec![CodeConst::None],
            names: Vec::new(),
            calls: Vec::new(),
            functions: Vec::new(),
            imports: Vec::new(),
            instrs: vec![Instr::LoadConst(0), Instr::Return],
            handlers: Vec::new(),
            generator: false,
            max_stack: 1,
            doc: None,
            poisoned: true,
        }
    }
}
