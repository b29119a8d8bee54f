//! Annotations as consumers see them (RPython: `rpython/annotator/model.py`).

use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use rustc_hash::FxBuildHasher;
use taipan_graph::{Const, IntKind, ObjId};
use taipan_interp::Builtin;
use taipan_lltype::{FuncSym, LLType};

/// Creation site of a list or dict: a stable hash of function, specialisation and
/// ordinal (or of the image object, for prebuilt ones). Of several merged sites the
/// smallest stands for all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SiteId(pub u64);

/// What is known of a variable.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct SomeValue {
    /// Its kind.
    pub kind: SomeKind,
    /// Its value, where it is always the same one. For an instance, function, class
    /// or other image object: [`Const::Obj`].
    pub const_: Option<Const>,
}

/// Kinds of annotation.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum SomeKind {
    /// Nothing: no value ever gets here (`s_ImpossibleValue`).
    #[default]
    Impossible,
    /// `SomeInteger`
    Integer {
        /// Never negative.
        nonneg: bool,
        /// `int`, `r_uint`, ...
        kind: IntKind,
    },
    /// `SomeBool`
    Bool,
    /// `SomeFloat`
    Float,
    /// `SomeSingleFloat`
    SingleFloat,
    /// `SomeChar`
    Char {
        /// Never `'\0'`.
        no_nul: bool,
    },
    /// `SomeUnicodeCodePoint`
    UniChar,
    /// `SomeString`
    Str {
        /// May be None.
        can_be_none: bool,
        /// Contains no `'\0'`.
        no_nul: bool,
    },
    /// `SomeUnicodeString`
    Unicode {
        /// May be None.
        can_be_none: bool,
    },
    /// `SomeByteArray`
    ByteArray {
        /// May be None.
        can_be_none: bool,
    },
    /// `SomeList`; its items and flags are in `list_def`.
    List {
        /// Canonical creation site.
        site: SiteId,
        /// May be None.
        can_be_none: bool,
    },
    /// `SomeDict` and `SomeOrderedDict`; keys and values are in `dict_def`.
    Dict {
        /// Canonical creation site.
        site: SiteId,
        /// May be None.
        can_be_none: bool,
    },
    /// `SomeTuple`
    Tuple(Arc<[SomeValue]>),
    /// `SomeInstance`; none stands for the common root `object`.
    Instance {
        /// The class.
        class: Option<ObjId>,
        /// May be None.
        can_be_none: bool,
    },
    /// `SomePBC`: functions, classes, bound methods, frozen instances. Sorted.
    Pbc {
        /// The possible values.
        descs: Descs,
        /// May be None.
        can_be_none: bool,
    },
    /// `s_None`: always None.
    None,
    /// `SomeIterator`
    Iterator {
        /// What is iterated over.
        container: Arc<SomeValue>,
        /// `` (plain), `keys`, `values`, `items`, `enumerate`, `reversed`.
        variant: &'static str,
    },
    /// `SomeException`: the class of a caught exception.
    Exception(Arc<[ObjId]>),
    /// `SomeTypeOf`: the class of these variables' values; and any other class known
    /// only as `type(x)`.
    Type,
    /// `SomeBuiltin`: a builtin function or type.
    Builtin(Builtin),
    /// `SomeBuiltinMethod`: method of a builtin kind (`list.append`).
    BuiltinMethod {
        /// Method name.
        name: Arc<str>,
        /// The object it is bound to.
        of: Arc<SomeValue>,
    },
    /// `SomeStringBuilder`, `SomeUnicodeBuilder`
    Builder {
        /// Builds a unicode string.
        unicode: bool,
        /// May be None.
        can_be_none: bool,
    },
    /// `slice(...)` given to `[]`.
    Slice(Arc<[SomeValue; 3]>),
    /// `SomeWeakRef`
    WeakRef {
        /// Class of the object; none: dead from the start.
        class: Option<ObjId>,
    },
    /// `SomePtr`
    Ptr(LLType),
    /// `SomeInteriorPtr`: pointer to a container that is inlined in a GC container.
    InteriorPtr {
        /// The GC container.
        parent: LLType,
        /// The way from there.
        path: Arc<[InteriorStep]>,
        /// The inlined container.
        to: LLType,
    },
    /// `SomeLLADTMeth`: a method of a low-level type, bound to a pointer.
    AdtMeth {
        /// Type of the pointer.
        ptr: LLType,
        /// Method name.
        name: Arc<str>,
    },
    /// `SomeAddress`
    Address,
    /// A low-level type as a value (`typeOf(p).TO`, Void arguments of helpers).
    LLType(LLType),
    /// A low-level function known while compiling: a Void argument of a helper, such
    /// as the equality of a dict's keys. Calling it is a direct call.
    LLFunc(FuncSym),
    /// A union that RPython forbids. Diagnostics say why; nothing is generated.
    Conflict,
}

/// One step from a container into a part of it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum InteriorStep {
    /// A field of a struct.
    Field(Arc<str>),
    /// An item of an array; its index is not part of the annotation.
    Item,
}

/// One member of a PBC set. Ordered by stable content.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Desc {
    /// A function.
    Function(ObjId),
    /// A class.
    Class(ObjId),
    /// A function bound to instances of a class (`MethodDesc`): function, the class
    /// that the attribute was found in, the class of self.
    Method {
        /// The function.
        func: ObjId,
        /// Class whose dict has it.
        origin: ObjId,
        /// Class of self; none in the value of a class's attribute, which is not
        /// bound yet.
        self_class: Option<ObjId>,
        /// Name under which it was looked up.
        name: Arc<str>,
    },
    /// A frozen prebuilt instance, or a module.
    Frozen(ObjId),
    /// A function bound to a frozen prebuilt instance.
    FrozenMethod {
        /// The function.
        func: ObjId,
        /// The instance.
        frozen: ObjId,
    },
}

/// Members of a PBC, sorted. Copies share them, and they are hashed once: calls of one set stand
/// in many functions, and sets of thousands of methods are keys of tables.
#[derive(Clone)]
pub struct Descs(Arc<DescsData>);

struct DescsData {
    hash: u64,
    members: Box<[Desc]>,
}

impl Descs {
    /// Whether there are members of several kinds: they are sorted by kind.
    pub fn is_mixed(&self) -> bool {
        match (self.first(), self.last()) {
            (Some(a), Some(b)) => std::mem::discriminant(a) != std::mem::discriminant(b),
            _ => false,
        }
    }
}

impl From<Vec<Desc>> for Descs {
    fn from(members: Vec<Desc>) -> Descs {
        Descs(Arc::new(DescsData {
            hash: FxBuildHasher.hash_one(&members),
            members: members.into(),
        }))
    }
}

impl From<Desc> for Descs {
    fn from(only: Desc) -> Descs {
        vec![only].into()
    }
}

impl FromIterator<Desc> for Descs {
    fn from_iter<I: IntoIterator<Item = Desc>>(members: I) -> Descs {
        members.into_iter().collect::<Vec<Desc>>().into()
    }
}

impl Deref for Descs {
    type Target = [Desc];

    fn deref(&self) -> &[Desc] {
        &self.0.members
    }
}

impl PartialEq for Descs {
    fn eq(&self, other: &Descs) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || self.0.hash == other.0.hash && self.0.members == other.0.members
    }
}

impl Eq for Descs {}

impl Hash for Descs {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

impl fmt::Debug for Descs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.members.fmt(f)
    }
}

/// What is known of all lists of one canonical site (`ListDef`).
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ListDef {
    /// Item annotation.
    pub item: SomeValue,
    /// Changes its length.
    pub resized: bool,
    /// Items are replaced.
    pub mutated: bool,
    /// It was made by `range()` with this step; 0 for a variable step.
    pub range_step: Option<i64>,
}

/// What is known of all dicts of one canonical site (`DictDef`).
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct DictDef {
    /// Key annotation.
    pub key: SomeValue,
    /// Value annotation.
    pub value: SomeValue,
    /// `r_dict`: its key equality and hash functions (annotations of the callables).
    pub custom: Option<Arc<(SomeValue, SomeValue)>>,
}
