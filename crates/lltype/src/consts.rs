//! Constants of low-level graphs, names of functions and of prebuilt data.

use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};
use taipan_graph::{Const, Dialect, Graph, IntKind, ObjId, Operand, Operation, Wide};

use crate::{
    BOOL, CHAR, CLibrary, FLOAT, FuncType, LLOp, LLType, NamedOperands, PlainOp, Program,
    SINGLEFLOAT, TypeKind, UNICHAR, VOID, View, item_offset, layout,
};

/// The dialect after rtyping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LowLevel;

impl Dialect for LowLevel {
    type Op = LLOp;
    type Const = LLConst;
    type Ty = LLType;

    fn const_ty(c: &LLConst) -> LLType {
        c.ty()
    }

    fn is_removable(op: LLOp) -> bool {
        op.is_removable()
    }

    fn as_bool(c: &LLConst) -> Option<bool> {
        match c {
            LLConst::Bool(b) => Some(*b),
            _ => None,
        }
    }

    /// An indirect call of a known function is a direct one.
    fn normalize(op: &mut Operation<LowLevel>) {
        if op.op == LLOp::from(PlainOp::IndirectCall)
            && let View::IndirectCall { callee, args, .. } = op.view()
            && let Operand::Const(LLConst::Func(_)) = callee
        {
            *op = View::DirectCall { callee, args }.operation(op.result, op.at);
        }
    }
}

/// A function after rtyping.
pub type LLGraph = Graph<LowLevel>;
/// An operand of a low-level operation.
pub type LLOperand = taipan_graph::Operand<LowLevel>;

/// A constant of a low-level graph.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum LLConst {
    /// Of type Void: what it stands for, `None` where nothing is known or needed.
    Void(VoidConst),
    /// Bool
    Bool(bool),
    /// Char
    Char(u8),
    /// UniChar
    UniChar(u32),
    /// An integer of this kind, within its range.
    Int(IntKind, Wide),
    /// Float, as its bits.
    Float(u64),
    /// SingleFloat, as its bits.
    SingleFloat(u32),
    /// The null pointer of this pointer type (or of Address).
    Null(LLType),
    /// Pointer to a function.
    Func(FuncSym),
    /// Pointer to prebuilt data. The type is the pointer type at this use, which may
    /// be that of an enclosing `super` (a cast of the address).
    Static(Arc<StaticSym>, LLType),
}

/// What a Void constant stands for.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum VoidConst {
    /// Nothing.
    None,
    /// A field name (`getfield`, `setfield`).
    Field(Arc<str>),
    /// A type (`malloc`).
    Type(LLType),
    /// A high-level constant (a class, a function of a one-element PBC, ...).
    Hl(Const),
    /// A low-level function known while compiling.
    Func(FuncSym),
    /// Allocation flavour of `malloc` and `free`: `gc`, or raw with its flags.
    Flavor {
        /// GC object rather than raw memory.
        gc: bool,
        /// Zeroed.
        zero: bool,
    },
    /// The candidate targets at the end of an `indirect_call`.
    Targets(Arc<[FuncSym]>),
}

impl LLConst {
    /// An integer of this kind, which must be within its range.
    pub fn int(kind: IntKind, v: i128) -> LLConst {
        LLConst::Int(kind, v.into())
    }

    /// A pointer of this type to prebuilt data.
    pub fn data(sym: StaticSym, ptr: LLType) -> LLConst {
        LLConst::Static(Arc::new(sym), ptr)
    }

    /// A Signed.
    pub fn signed(v: i64) -> LLConst {
        LLConst::int(IntKind::SIGNED, i128::from(v))
    }

    /// A field name.
    pub fn field(name: &str) -> LLConst {
        LLConst::Void(VoidConst::Field(name.into()))
    }

    /// Nothing, as Void.
    pub fn void() -> LLConst {
        LLConst::Void(VoidConst::None)
    }

    /// Its `concretetype`.
    pub fn ty(&self) -> LLType {
        match self {
            LLConst::Void(_) => *VOID,
            LLConst::Bool(_) => *BOOL,
            LLConst::Char(_) => *CHAR,
            LLConst::UniChar(_) => *UNICHAR,
            LLConst::Int(k, _) => LLType::int(*k),
            LLConst::Float(_) => *FLOAT,
            LLConst::SingleFloat(_) => *SINGLEFLOAT,
            LLConst::Null(t) | LLConst::Static(_, t) => *t,
            LLConst::Func(f) => f.ptr_type(),
        }
    }
}

/// The name of a low-level function: what it is made from. Equal names mean equal
/// graphs for a given program, and for [`FuncKind::Helper`] for every program.
#[derive(Clone)]
pub struct FuncSym(Arc<Hashed>);

/// The name with its hash: names are keys of most tables, and long.
struct Hashed {
    hash: u64,
    data: FuncSymData,
}

impl PartialEq for FuncSym {
    fn eq(&self, other: &FuncSym) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.hash == other.0.hash && self.0.data == other.0.data
    }
}

impl Eq for FuncSym {}

impl Hash for FuncSym {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

/// Parts of a [`FuncSym`].
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct FuncSymData {
    /// What it is made from.
    pub kind: FuncKind,
    /// Its type (RPython: `FuncType` of the function pointer).
    pub ty: FuncType,
}

/// Where low-level code comes from: an instruction of a function.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CodePlace {
    /// The function.
    pub func: FuncSym,
    /// Index of the instruction in the function's bytecode.
    pub at: u32,
}

/// What a function is made from.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum FuncKind {
    /// A function of the program.
    User {
        /// The function object.
        func: ObjId,
        /// Which specialisation; empty for the plain one. Opaque here.
        spec: Arc<str>,
        /// Name for people: `module.qualname`.
        name: Arc<str>,
    },
    /// A prelude helper specialised for low-level argument types.
    Helper {
        /// `module.function` below `taipan_prelude`.
        name: Arc<str>,
        /// What it is specialised by, one per argument.
        args: Arc<[HelperArg]>,
    },
    /// A graph that the RTyper builds itself.
    Synth {
        /// Which kind, by the name of its builder.
        name: Arc<str>,
        /// Parameters of the builder.
        args: Arc<[HelperArg]>,
    },
    /// A function of the runtime or of the C library, by symbol name. Pointers to
    /// STR are passed as they are; such functions do not move objects unless
    /// `can_collect`.
    External {
        /// The symbol.
        name: Arc<str>,
        /// Whether it may allocate GC memory or call back.
        can_collect: bool,
        /// Whether it may leave an exception set.
        can_raise: bool,
        /// Whether emitted code lets other threads run while it is called.
        releases_gil: bool,
        /// The C library that the program brings it from; none for functions of the
        /// runtime and of the standard C library.
        library: Option<Arc<CLibrary>>,
    },
}

/// One argument that a helper is specialised by.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum HelperArg {
    /// A run-time argument of this type.
    Type(LLType),
    /// A Void argument with this value.
    Const(VoidConst),
}

impl FuncSym {
    /// Names a function.
    pub fn new(kind: FuncKind, ty: FuncType) -> FuncSym {
        let data = FuncSymData { kind, ty };
        let hash = FxBuildHasher.hash_one(&data);
        FuncSym(Arc::new(Hashed { hash, data }))
    }

    /// What it is made from.
    pub fn kind(&self) -> &FuncKind {
        &self.0.data.kind
    }

    pub(crate) fn data(&self) -> &FuncSymData {
        &self.0.data
    }

    /// Its type.
    pub fn ty(&self) -> &FuncType {
        &self.0.data.ty
    }

    /// Type of a pointer to it.
    pub fn ptr_type(&self) -> LLType {
        LLType::new(TypeKind::Func(self.ty().clone())).ptr()
    }

    /// Name for people.
    pub fn name(&self) -> &str {
        match self.kind() {
            FuncKind::User { name, .. }
            | FuncKind::Helper { name, .. }
            | FuncKind::Synth { name, .. }
            | FuncKind::External { name, .. } => name,
        }
    }
}

impl fmt::Debug for FuncSym {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name of a prebuilt data object: what it is made from. Its contents come from
/// [`crate::Program::static_data`].
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum StaticSym {
    /// The vtable of a class.
    Vtable(ObjId),
    /// The vtable of the root, `object`.
    ObjectVtable,
    /// A byte string.
    Str(Arc<[u8]>),
    /// A unicode string.
    Unicode(Arc<[u32]>),
    /// An image object in the low-level form of this container type.
    Object(ObjId, LLType),
    /// A part of an image object in low-level form (the items of a list, the entries
    /// of a dict): which part, and its container type.
    Part(ObjId, Arc<str>, LLType),
    /// A constant without identity in the low-level form of this container type (a
    /// prebuilt tuple, the items of empty lists).
    Value(Const, LLType),
    /// Anything that a later stage adds (type information, tables), by name.
    Named(Arc<str>, LLType),
    /// A place inside another object: which field or item, from the outermost
    /// container inwards. The last one may be an item before or after an array.
    Within(Arc<StaticSym>, Arc<[i64]>),
}

impl StaticSym {
    /// The object that it is or lies in, and how far from its start; none if there is
    /// no such place.
    pub fn place(&self, program: &(impl Program + ?Sized)) -> Option<(&StaticSym, i64)> {
        let StaticSym::Within(root, path) = self else {
            return Some((self, 0));
        };
        let (StaticSym::Object(_, ty) | StaticSym::Part(_, _, ty)) = &**root else {
            return None;
        };
        let (mut ty, mut at) = (*ty, 0);
        for i in path.iter() {
            match ty.kind() {
                TypeKind::Struct(s) => {
                    let field = usize::try_from(*i).ok()?;
                    at += *layout(ty, program).fields.get(field)? as i64;
                    ty = program.body(s).fields.get(field)?.ty;
                }
                TypeKind::Array(a) => {
                    at += item_offset(ty, *i, program)?;
                    ty = a.of;
                }
                TypeKind::FixedArray(of, _) => {
                    at += item_offset(ty, *i, program)?;
                    ty = *of;
                }
                _ => return None,
            }
        }
        Some((&**root, at))
    }

    /// The object that it is or lies in.
    pub fn root(&self) -> &StaticSym {
        match self {
            StaticSym::Within(root, _) => root,
            other => other,
        }
    }

    /// What `gc_identityhash` answers for the object: the same in every run, so that
    /// prebuilt hash tables keyed by identity can be laid out while compiling.
    pub fn identity_hash(&self) -> i64 {
        let mut h = rustc_hash::FxHasher::default();
        self.hash(&mut h);
        // Not negative, and never the 0 that stands for "not yet computed".
        ((h.finish() >> 1) as i64).max(1)
    }
}

impl fmt::Display for LLConst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LLConst::Void(v) => match v {
                VoidConst::None => f.write_str("Void"),
                VoidConst::Field(n) => write!(f, ".{n}"),
                VoidConst::Type(t) => write!(f, "<{t}>"),
                VoidConst::Hl(c) => write!(f, "<{c}>"),
                VoidConst::Func(s) => write!(f, "<{}>", s.name()),
                VoidConst::Flavor { gc, zero } => {
                    write!(
                        f,
                        "<{}{}>",
                        if *gc { "gc" } else { "raw" },
                        if *zero { ", zero" } else { "" }
                    )
                }
                VoidConst::Targets(t) => {
                    f.write_str("{")?;
                    for (i, s) in t.iter().enumerate() {
                        write!(f, "{}{}", if i > 0 { ", " } else { "" }, s.name())?;
                    }
                    f.write_str("}")
                }
            },
            LLConst::Bool(b) => write!(f, "{}", if *b { "True" } else { "False" }),
            LLConst::Char(c) => write!(f, "'{}'", c.escape_ascii()),
            LLConst::UniChar(c) => write!(f, "u+{c:04x}"),
            LLConst::Int(IntKind::SIGNED, v) => write!(f, "{v}"),
            LLConst::Int(k, v) => write!(f, "{v}{}{}", if k.signed { 'i' } else { 'u' }, k.bits),
            LLConst::Float(b) => write!(f, "{:?}", f64::from_bits(*b)),
            LLConst::SingleFloat(b) => write!(f, "{:?}f", f32::from_bits(*b)),
            LLConst::Null(t) => write!(f, "null {t}"),
            LLConst::Func(s) => write!(f, "&{}", s.name()),
            LLConst::Static(s, _) => match &**s {
                StaticSym::Vtable(o) => write!(f, "&vtable {o:?}"),
                StaticSym::ObjectVtable => f.write_str("&vtable object"),
                StaticSym::Str(s) => write!(f, "&'{}'", s.escape_ascii()),
                StaticSym::Unicode(u) => write!(f, "&{}", Const::Unicode(u.clone())),
                StaticSym::Object(o, t) => write!(f, "&{t} {o:?}"),
                StaticSym::Part(o, p, _) => write!(f, "&{o:?}.{p}"),
                StaticSym::Value(c, _) => write!(f, "&{c}"),
                StaticSym::Named(n, _) => write!(f, "&{n}"),
                StaticSym::Within(root, path) => write!(f, "&{root:?} at {path:?}"),
            },
        }
    }
}
