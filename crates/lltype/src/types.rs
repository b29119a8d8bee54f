//! Low-level types (RPython: `lltype.py`).

use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock, Mutex};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};
use taipan_graph::{IntKind, ObjId};
use taipan_heap::StaticTable;

/// A low-level type: primitive or container. Interned for the life of the process:
/// copying is free and equality is identity. Hash and text depend on content only.
#[derive(Clone, Copy)]
pub struct LLType(&'static Interned);

struct Interned {
    kind: TypeKind,
    hash: u64,
}

/// What a type is.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum TypeKind {
    /// No value at run time; constants of this type carry what helpers are
    /// specialised by.
    Void,
    /// One byte, 0 or 1.
    Bool,
    /// One byte.
    Char,
    /// A code point, four bytes.
    UniChar,
    /// An integer; `Signed` and `Unsigned` are the 64-bit ones.
    Int(IntKind),
    /// Double precision.
    Float,
    /// Single precision, for storage and casts only.
    SingleFloat,
    /// A raw machine address (`llmemory.Address`).
    Address,
    /// Pointer to a container. It is a GC pointer if the container is a GC one.
    Ptr(LLType),
    /// `Struct` and `GcStruct`.
    Struct(StructType),
    /// `Array` and `GcArray`: a length and that many items.
    Array(ArrayType),
    /// A raw array of a fixed number of items, without a length field.
    FixedArray(LLType, u64),
    /// A function's type; only ever behind a pointer.
    Func(FuncType),
    /// Contents unknown (`OpaqueType`, `GcOpaqueType`); `GCREF` is a pointer to the
    /// GC one of the name `llmemory.GCREF`.
    Opaque {
        /// Its name.
        name: Arc<str>,
        /// Whether it is a GC object.
        gc: bool,
    },
}

/// A struct type.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct StructType {
    /// For people; part of the identity of inline structs, as in lltype.
    pub name: Arc<str>,
    /// `GcStruct` rather than `Struct`.
    pub gc: bool,
    /// Where its fields are found.
    pub id: StructId,
}

/// Where the fields of a struct type are found.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum StructId {
    /// Here.
    Inline(Arc<StructBody>),
    /// The instance layout of a class, by [`Program::struct_body`]. The first field
    /// is `super`, the layout of the base class; that of the root is
    /// `object`, inline, with the one field `typeptr`.
    Instance(ObjId),
    /// The vtable of a class. The first field is `super`, the vtable layout of the
    /// base class; that of the root is `object_vtable`, inline.
    Vtable(ObjId),
    /// A named forward reference, resolved by [`Program::struct_body`].
    Forward(Arc<str>),
}

/// Fields of a struct.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct StructBody {
    /// In order. The last one may be an inlined array (variable-sized struct).
    pub fields: Vec<Field>,
    /// The table of what pointers to it have besides the fields: see [`crate::adtmeths`].
    pub adtmeths: Option<ObjId>,
    /// Fields that never change after initialisation (hint `immutable` lists all).
    pub immutable: Vec<Arc<str>>,
    /// Fields with lists whose lengths and items never change (`x[*]`).
    pub frozen_lists: Vec<Arc<str>>,
    /// Fields that seldom change (`x?`).
    pub quasi_immutable: Vec<Arc<str>>,
    /// Fields that a just-in-time compiler keeps out of the object while it can
    /// (`_virtualizable_`).
    pub virtualizable: Vec<Arc<str>>,
    /// Those of them with lists of fixed length whose items it keeps as well (`x[*]`).
    pub virtualizable_lists: Vec<Arc<str>>,
    /// Fields that own their lists: the program holds each such list in no other place. Set by the JIT generator.
    pub own_lists: Vec<Arc<str>>,
    /// A C union: all fields lie at its start (hint `union`).
    pub union: bool,
}

/// A field of a struct.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Field {
    /// Its name; instance attributes are `inst_NAME`, tuple items `item0`...
    pub name: Arc<str>,
    /// Its type; structs and arrays here are inlined.
    pub ty: LLType,
}

/// An array type.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct ArrayType {
    /// `GcArray` rather than `Array`.
    pub gc: bool,
    /// Type of the items; a struct type means inlined structs.
    pub of: LLType,
    /// Hint `nolength`: a raw array without a length field (C arrays).
    pub nolength: bool,
    /// Hint `immutable`.
    pub immutable: bool,
    /// Hint `extra_item_after_alloc`: there is memory for one more item than the length says, which the
    /// program may write to. Byte strings have it, for the zero byte at the end that C code expects.
    pub extra_item: bool,
    /// As in [`StructBody`].
    pub adtmeths: Option<ObjId>,
}

/// A function type.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct FuncType {
    /// Types of the arguments; Void ones are not passed at run time.
    pub args: Vec<LLType>,
    /// Type of the result.
    pub result: LLType,
}

/// The tables behind types: types are addresses in the first.
pub fn type_tables() -> [StaticTable; 2] {
    [StaticTable::of(&TABLE), crate::forward::bodies_table()]
}

static TABLE: LazyLock<Mutex<HashTable<&'static Interned>>> = LazyLock::new(Mutex::default);

impl LLType {
    /// The type of that kind.
    pub fn new(kind: TypeKind) -> LLType {
        let hash = FxBuildHasher.hash_one(&kind);
        let mut table = TABLE.lock().unwrap_or_else(|e| e.into_inner());
        match table.entry(hash, |t| t.kind == kind, |t| t.hash) {
            Entry::Occupied(known) => LLType(known.get()),
            Entry::Vacant(place) => {
                let new: &'static Interned = Box::leak(Box::new(Interned { kind, hash }));
                place.insert(new);
                LLType(new)
            }
        }
    }

    /// The type of integers of that kind.
    pub fn int(kind: IntKind) -> LLType {
        match kind {
            IntKind::SIGNED => *SIGNED,
            IntKind::UNSIGNED => *UNSIGNED,
            _ => LLType::new(TypeKind::Int(kind)),
        }
    }

    /// What it is.
    #[inline]
    pub fn kind(self) -> &'static TypeKind {
        &self.0.kind
    }

    /// Pointer to this container.
    pub fn ptr(self) -> LLType {
        LLType::new(TypeKind::Ptr(self))
    }

    /// `GcStruct(name, fields...)` with its body here.
    pub fn gc_struct(name: &str, body: StructBody) -> LLType {
        Self::inline_struct(name, true, body)
    }

    /// `Struct(name, fields...)` with its body here.
    pub fn raw_struct(name: &str, body: StructBody) -> LLType {
        Self::inline_struct(name, false, body)
    }

    fn inline_struct(name: &str, gc: bool, body: StructBody) -> LLType {
        LLType::new(TypeKind::Struct(StructType {
            name: name.into(),
            gc,
            id: StructId::Inline(Arc::new(body)),
        }))
    }

    /// `GcArray(of)`.
    pub fn gc_array(of: LLType) -> LLType {
        LLType::new(TypeKind::Array(ArrayType {
            gc: true,
            of,
            nolength: false,
            immutable: false,
            extra_item: false,
            adtmeths: None,
        }))
    }

    /// The struct of resizable lists of an item type: their length, and an array with room
    /// for that many items or more.
    pub fn gc_list(item: LLType) -> LLType {
        let field = |name: &str, ty| Field {
            name: name.into(),
            ty,
        };
        let items = LLType::gc_array(item).ptr();
        LLType::gc_struct(
            "list",
            StructBody {
                fields: vec![field("length", *SIGNED), field("items", items)],
                ..StructBody::default()
            },
        )
    }

    /// The array type of the items of a list of either kind: a `GcArray` itself, or that of
    /// [`LLType::gc_list`]. None for other types.
    pub fn list_items(self) -> Option<LLType> {
        match self.kind() {
            TypeKind::Array(a) => a.gc.then_some(self),
            TypeKind::Struct(s) if s.gc && &*s.name == "list" => {
                let StructId::Inline(body) = &s.id else {
                    return None;
                };
                match &body.fields[..] {
                    [length, items] if &*length.name == "length" && &*items.name == "items" => {
                        items.ty.pointee()
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// `Array(of)`.
    pub fn raw_array(of: LLType) -> LLType {
        LLType::new(TypeKind::Array(ArrayType {
            gc: false,
            of,
            nolength: false,
            immutable: false,
            extra_item: false,
            adtmeths: None,
        }))
    }

    /// A function type.
    pub fn func(args: Vec<LLType>, result: LLType) -> LLType {
        LLType::new(TypeKind::Func(FuncType { args, result }))
    }

    /// The pointed-to container, if it is a pointer.
    #[inline]
    pub fn pointee(self) -> Option<LLType> {
        match self.kind() {
            TypeKind::Ptr(t) => Some(*t),
            _ => None,
        }
    }

    /// The function type, if it is one.
    #[inline]
    pub fn as_func(self) -> Option<&'static FuncType> {
        match self.kind() {
            TypeKind::Func(f) => Some(f),
            _ => None,
        }
    }

    /// The struct type, if it is one.
    #[inline]
    pub fn as_struct(self) -> Option<&'static StructType> {
        match self.kind() {
            TypeKind::Struct(s) => Some(s),
            _ => None,
        }
    }

    /// The array type, if it is one.
    #[inline]
    pub fn as_array(self) -> Option<&'static ArrayType> {
        match self.kind() {
            TypeKind::Array(a) => Some(a),
            _ => None,
        }
    }

    /// Whether it has no value at run time.
    pub fn is_void(self) -> bool {
        matches!(self.kind(), TypeKind::Void)
    }

    /// Whether it is a container whose objects the collector manages.
    pub fn is_gc_container(self) -> bool {
        match self.kind() {
            TypeKind::Struct(s) => s.gc,
            TypeKind::Array(a) => a.gc,
            TypeKind::Opaque { gc, .. } => *gc,
            _ => false,
        }
    }

    /// Whether it is the vtable of a class: a struct that nobody writes to.
    pub fn is_vtable(self) -> bool {
        let is_of_class = |s: &StructType| matches!(s.id, StructId::Vtable(_));
        self == *OBJECT_VTABLE || self.as_struct().is_some_and(is_of_class)
    }

    /// Whether it is a pointer that the collector follows.
    #[inline]
    pub fn is_gc_ptr(self) -> bool {
        self.pointee().is_some_and(LLType::is_gc_container)
    }
}

macro_rules! primitives {
    ($($(#[$m:meta])* $name:ident = $kind:expr;)*) => {
        $($(#[$m])* pub static $name: LazyLock<LLType> = LazyLock::new(|| LLType::new($kind));)*
    };
}
primitives! {
    /// `Void`
    VOID = TypeKind::Void;
    /// `Bool`
    BOOL = TypeKind::Bool;
    /// `Char`
    CHAR = TypeKind::Char;
    /// `UniChar`
    UNICHAR = TypeKind::UniChar;
    /// `Signed`
    SIGNED = TypeKind::Int(IntKind::SIGNED);
    /// `Unsigned`
    UNSIGNED = TypeKind::Int(IntKind::UNSIGNED);
    /// `Float`
    FLOAT = TypeKind::Float;
    /// `SingleFloat`
    SINGLEFLOAT = TypeKind::SingleFloat;
    /// `Address`
    ADDRESS = TypeKind::Address;
    /// `llmemory.GCREF`
    GCREF = TypeKind::Ptr(LLType::new(TypeKind::Opaque { name: "GCREF".into(), gc: true }));
    /// `STR`, the container behind every byte string: cached hash (0 if not yet
    /// computed) and characters.
    STR = TypeKind::Struct(StructType {
        name: "rpy_string".into(),
        gc: true,
        id: StructId::Inline(Arc::new(string_body(*CHAR))),
    });
    /// `UNICODE`, likewise with code points.
    UNICODE = TypeKind::Struct(StructType {
        name: "rpy_unicode".into(),
        gc: true,
        id: StructId::Inline(Arc::new(string_body(*UNICHAR))),
    });
    /// `object_vtable`, what every class has: `subclassrange_min`,
    /// `subclassrange_max` (Signed; a class is a subclass of another if its min lies
    /// in min..max of the other), `name` (`Ptr(STR)`), `hash` (Signed).
    OBJECT_VTABLE = TypeKind::Struct(StructType {
        name: "object_vtable".into(),
        gc: false,
        id: StructId::Inline(Arc::new(StructBody {
            fields: vec![
                Field { name: "subclassrange_min".into(), ty: *SIGNED },
                Field { name: "subclassrange_max".into(), ty: *SIGNED },
                Field { name: "name".into(), ty: STR.ptr() },
                Field { name: "hash".into(), ty: *SIGNED },
                Field { name: "instantiate".into(), ty: LLType::func(vec![], *GCREF).ptr() },
            ],
            adtmeths: None,
            immutable: ["subclassrange_min", "subclassrange_max", "name", "hash", "instantiate"]
                .map(Into::into)
                .to_vec(),
            ..StructBody::default()
        })),
    });
    /// `object`, the layout that every instance starts with: `typeptr`.
    OBJECT = TypeKind::Struct(StructType {
        name: "object".into(),
        gc: true,
        id: StructId::Inline(Arc::new(StructBody {
            fields: vec![Field { name: "typeptr".into(), ty: OBJECT_VTABLE.ptr() }],
            adtmeths: None,
            immutable: vec!["typeptr".into()],
            ..StructBody::default()
        })),
    });
    /// The container of prebuilt weak references, laid out like those of the collector's.
    WEAKREF = LLType::gc_struct(
        "weakref",
        StructBody {
            fields: vec![Field { name: "target".into(), ty: OBJECT.ptr() }],
            ..StructBody::default()
        },
    ).kind().clone();
}

fn string_body(item: LLType) -> StructBody {
    let chars = LLType::new(TypeKind::Array(ArrayType {
        gc: false,
        of: item,
        nolength: false,
        immutable: true,
        extra_item: item == *CHAR,
        adtmeths: None,
    }));
    StructBody {
        fields: vec![
            Field {
                name: "hash".into(),
                ty: *SIGNED,
            },
            Field {
                name: "chars".into(),
                ty: chars,
            },
        ],
        adtmeths: None,
        immutable: vec!["chars".into()],
        ..StructBody::default()
    }
}

impl PartialEq for LLType {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for LLType {}

impl Hash for LLType {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash.hash(state);
    }
}

impl fmt::Debug for LLType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// As lltype prints it: `Signed`, `*GcStruct point`, `*GcArray of Signed`.
impl fmt::Display for LLType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            TypeKind::Void => f.write_str("Void"),
            TypeKind::Bool => f.write_str("Bool"),
            TypeKind::Char => f.write_str("Char"),
            TypeKind::UniChar => f.write_str("UniChar"),
            TypeKind::Int(IntKind::SIGNED) => f.write_str("Signed"),
            TypeKind::Int(IntKind::UNSIGNED) => f.write_str("Unsigned"),
            TypeKind::Int(k) => write!(f, "{}Int{}", if k.signed { "" } else { "U" }, k.bits),
            TypeKind::Float => f.write_str("Float"),
            TypeKind::SingleFloat => f.write_str("SingleFloat"),
            TypeKind::Address => f.write_str("Address"),
            TypeKind::Ptr(t) => write!(f, "*{t}"),
            TypeKind::Struct(s) => {
                write!(f, "{}Struct {}", if s.gc { "Gc" } else { "" }, s.name)
            }
            TypeKind::Array(a) => {
                write!(f, "{}Array of {}", if a.gc { "Gc" } else { "" }, a.of)
            }
            TypeKind::FixedArray(t, n) => write!(f, "FixedSizeArray {n} of {t}"),
            TypeKind::Func(ft) => {
                f.write_str("func(")?;
                for (i, a) in ft.args.iter().enumerate() {
                    write!(f, "{}{a}", if i > 0 { ", " } else { "" })?;
                }
                write!(f, ") -> {}", ft.result)
            }
            TypeKind::Opaque { name, .. } => f.write_str(name),
        }
    }
}
