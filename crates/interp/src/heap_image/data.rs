//! What the image says of an object.

use std::sync::Arc;

use taipan_code::CodeId;
use taipan_graph::{Const, ObjId};
use taipan_lltype::LLType;

/// Name and value, in the order in which they came about.
pub type Attrs = Vec<(Box<str>, Const)>;

/// The content of an image object, as import time left it. Modules do not list
/// their globals here: see [`crate::module_global`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ObjData {
    /// A module.
    Module {
        /// Its dotted name.
        name: Box<str>,
    },
    /// A class, builtin or not.
    Class(ClassData),
    /// A function written in Python.
    Function(FunctionData),
    /// An instance of a class written in Python, or of a builtin class that has no
    /// form of its own here (exceptions).
    Instance(InstanceData),
    /// A list.
    List(Vec<Const>),
    /// A dict, in insertion order.
    Dict(Vec<(Const, Const)>),
    /// A set or frozenset, in insertion order.
    Set {
        /// Its items.
        items: Vec<Const>,
        /// Whether it is a frozenset.
        frozen: bool,
    },
    /// A method bound to an instance or class; unbound where `im_self` is `None`.
    Method {
        /// What it is bound to.
        im_self: Option<Const>,
        /// The function.
        im_func: Const,
        /// The class that it was looked up on.
        im_class: ObjId,
    },
    /// `staticmethod(f)`
    StaticMethod(Const),
    /// `classmethod(f)`
    ClassMethod(Const),
    /// A weak reference, and what it refers to: None where that is gone.
    WeakRef(Const),
    /// `property(fget, fset, fdel)`, None where left out
    Property {
        /// Getter.
        fget: Const,
        /// Setter.
        fset: Const,
        /// Deleter.
        fdel: Const,
    },
    /// A closure's cell.
    Cell(Option<Const>),
    /// A function or other object that is implemented in Rust, by qualified name
    /// (`__builtin__.len`, `list.append`, `math.sqrt`).
    Builtin {
        /// The qualified name.
        name: Box<str>,
        /// The object that a builtin method is bound to.
        im_self: Option<Const>,
    },
    /// A slice object.
    Slice(Const, Const, Const),
    /// A low-level type (`lltype.Signed`, `lltype.GcStruct(..)`).
    LLType(LLType),
    /// A low-level struct or array.
    LLContainer {
        /// Its type.
        ty: LLType,
        /// Fields or items: primitive values, pointers (None if null), the containers
        /// inlined in it.
        parts: Vec<Const>,
        /// The container that it is inlined in, and as which part.
        parent: Option<(ObjId, u32)>,
    },
    /// A low-level pointer or address.
    LLPtr {
        /// Its type.
        ty: LLType,
        /// What it points to.
        to: LLTarget,
    },
    /// A function behind low-level pointers.
    LLFunction {
        /// Its name.
        name: Box<str>,
        /// Its type.
        ty: LLType,
        /// The function in RPython; None for one of a C library.
        callable: Const,
        /// How a C function is found: an `ExternalCompilationInfo`, or None.
        external: Const,
    },
    /// Anything else: the name of its type.
    Other(Box<str>),
}

impl ObjData {
    /// Calls this for every constant in it, in order: what it refers to, apart from
    /// classes that are named by id.
    pub fn for_each_const(&self, f: &mut dyn FnMut(&Const)) {
        match self {
            ObjData::Class(c) => c.dict.iter().for_each(|(_, v)| f(v)),
            ObjData::Function(data) => {
                data.defaults.iter().for_each(&mut *f);
                data.closure.iter().flatten().for_each(&mut *f);
                data.attrs.iter().for_each(|(_, v)| f(v));
            }
            ObjData::Instance(data) => {
                data.attrs.iter().for_each(|(_, v)| f(v));
                if let Some(payload) = &data.payload {
                    payload.for_each_const(f);
                }
                data.value.iter().for_each(f);
            }
            ObjData::List(items) | ObjData::Set { items, .. } => items.iter().for_each(f),
            ObjData::Dict(items) => items.iter().for_each(|(k, v)| {
                f(k);
                f(v);
            }),
            ObjData::Method {
                im_self, im_func, ..
            } => {
                im_self.iter().for_each(&mut *f);
                f(im_func);
            }
            ObjData::StaticMethod(c) | ObjData::ClassMethod(c) | ObjData::WeakRef(c) => f(c),
            ObjData::Property { fget, fset, fdel } => [fget, fset, fdel].into_iter().for_each(f),
            ObjData::Cell(c) => c.iter().for_each(f),
            ObjData::Builtin { im_self, .. } => im_self.iter().for_each(f),
            ObjData::Slice(a, b, c) => [a, b, c].into_iter().for_each(f),
            ObjData::LLContainer { parts, parent, .. } => {
                parts.iter().for_each(&mut *f);
                parent.iter().for_each(|(o, _)| f(&Const::Obj(*o)));
            }
            ObjData::LLPtr {
                to: LLTarget::Object(o) | LLTarget::Part(o, _),
                ..
            } => f(&Const::Obj(*o)),
            ObjData::LLFunction {
                callable, external, ..
            } => [callable, external].into_iter().for_each(f),
            ObjData::Module { .. }
            | ObjData::LLType(_)
            | ObjData::LLPtr { .. }
            | ObjData::Other(_) => {}
        }
    }
}

/// What a low-level pointer points to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LLTarget {
    /// Nothing.
    Null,
    /// A container or function.
    Object(ObjId),
    /// The parts of a container from this one on.
    Part(ObjId, i64),
    /// An integer cast to a pointer.
    Int(i64),
}

/// A class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClassData {
    /// `__name__`
    pub name: Box<str>,
    /// Name of the module it was made in (`__builtin__`, `exceptions` for builtin ones).
    pub module: Box<str>,
    /// Bases in order; empty for `object` and for old-style roots.
    pub bases: Vec<ObjId>,
    /// Method resolution order, from the class itself.
    pub mro: Vec<ObjId>,
    /// Its class.
    pub metaclass: ObjId,
    /// Its own attributes. Functions stand for themselves here.
    pub dict: Attrs,
    /// What its mixins put into it in RPython's eyes, by name. Functions are copies that
    /// belong to this class alone, since other classes may use them with other types.
    pub mixed_in: Attrs,
    /// Made without `object` among its ancestors (Python 2's `classobj`).
    pub old_style: bool,
    /// Implemented in Rust.
    pub builtin: bool,
}

impl ClassData {
    /// An attribute of its own.
    pub fn get(&self, name: &str) -> Option<&Const> {
        attr(&self.dict, name)
    }

    /// An attribute that a mixin put into it.
    pub fn mixed_in(&self, name: &str) -> Option<&Const> {
        attr(&self.mixed_in, name)
    }

    /// Whether it is there to be copied into others only: no class of instances.
    pub fn is_mixin(&self) -> bool {
        self.get("_mixin_") == Some(&Const::Bool(true))
    }

    /// Whether it is `object`.
    pub fn is_object(&self) -> bool {
        self.builtin && &*self.module == "__builtin__" && &*self.name == "object"
    }
}

/// A function written in Python.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionData {
    /// `__name__`, which import-time code may have changed.
    pub name: Box<str>,
    /// Name of the module whose globals it uses.
    pub module: Box<str>,
    /// Its body.
    pub code: CodeId,
    /// The module object, or the dict object for functions made by `exec` in a dict.
    pub globals: ObjId,
    /// Default values of the last parameters.
    pub defaults: Vec<Const>,
    /// Contents of the cells of its free variables, None where unset.
    pub closure: Vec<Option<Const>>,
    /// Its attributes (`_annspecialcase_`, `_jit_unroll_safe_`, ...).
    pub attrs: Attrs,
    /// The class whose attribute it first became, if any, to tell methods.
    pub class: Option<ObjId>,
}

impl FunctionData {
    /// One of its attributes.
    pub fn get(&self, name: &str) -> Option<&Const> {
        attr(&self.attrs, name)
    }
}

/// An instance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InstanceData {
    /// Its class.
    pub class: ObjId,
    /// Its attributes.
    pub attrs: Attrs,
    /// What `_freeze_()` answered: the object is a constant for the annotator.
    pub frozen: bool,
    /// What its `_freeze_()` or `_cleanup_()` raised: the program cannot use it.
    pub refused: Option<Arc<str>>,
    /// The builtin value inside (an instance of a subclass of `list`, `int`, ...).
    pub payload: Option<Arc<ObjData>>,
    /// The immutable builtin value inside (of a subclass of `int`, `str`, ...).
    pub value: Option<Const>,
}

impl InstanceData {
    /// One of its attributes.
    pub fn get(&self, name: &str) -> Option<&Const> {
        attr(&self.attrs, name)
    }
}

fn attr<'a>(attrs: &'a Attrs, name: &str) -> Option<&'a Const> {
    attrs.iter().find(|(n, _)| &**n == name).map(|(_, v)| v)
}

/// The id of an object with a qualified name: builtins (`__builtin__.len`,
/// `exceptions.IndexError`, `lltype.malloc`) and modules. The same for every program.
pub fn named_id(qualified: &str) -> ObjId {
    stable_id(&["name", qualified])
}

/// A hash of these texts that no build of the compiler changes.
pub fn stable_id(parts: &[&str]) -> ObjId {
    let begin = StableHash::new();
    parts.iter().fold(begin, |hash, part| hash.part(part)).id()
}

/// The state of a hash of texts (FNV-1a with a final mix): equal texts have equal beginnings, which are hashed once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StableHash(u64);

impl StableHash {
    /// The hash of no texts.
    pub(crate) fn new() -> StableHash {
        StableHash(0xcbf2_9ce4_8422_2325)
    }

    /// Adds a text.
    pub(crate) fn part(self, text: &str) -> StableHash {
        self.bytes(text.as_bytes())
    }

    /// Adds the text of a number.
    pub(crate) fn number(self, mut n: u64) -> StableHash {
        let mut digits = [0; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (n % 10) as u8;
            n /= 10;
            if n == 0 {
                return self.bytes(&digits[at..]);
            }
        }
    }

    fn bytes(self, bytes: &[u8]) -> StableHash {
        let mix = |h: u64, b: &u8| (h ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3);
        StableHash(bytes.iter().chain(&[0xff]).fold(self.0, mix))
    }

    /// The id.
    pub(crate) fn id(self) -> ObjId {
        let mut h = self.0;
        h ^= h >> 32;
        h = h.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        h ^= h >> 29;
        ObjId(h)
    }
}
