//! Representations: how values of an annotation look at the low level
//! (RPython: `rpython/rtyper/rmodel.py`).

use std::fmt::Debug;
use std::sync::Arc;

use taipan_base::ErrorCode;
use taipan_graph::{Const, IntKind};
use taipan_interp::Builtin;
use taipan_lltype::{FuncSym, LLConst, LLType, View};

use crate::containers::{
    BuilderRepr, DictRepr, IterRepr, ListRepr, RecursiveRepr, SliceRepr, TupleRepr,
};
use crate::reprs::{
    AdtMethRepr, BuiltinMethodRepr, ClassesPbcRepr, ErasedRepr, FrozenMethodRepr, FrozenPbcRepr,
    FunctionRepr, FunctionsPbcRepr, InstanceRepr, IntegerRepr, InteriorPtrRepr, MethodsPbcRepr,
    PtrRepr,
};
use crate::{Description, Hop, RType, RTyper, Typed, TyperError, containers, reprs};

/// The chosen representation for an annotation. Structural and cheap to clone: two
/// Reprs are equal if values of one are values of the other as they are, with the
/// same operations. Recursion ends at class handles: an [`InstanceRepr`] names its
/// class and holds nothing of its layout.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Repr {
    /// No value ever (`VoidRepr`, `impossible_repr`).
    Impossible,
    /// Always None.
    None,
    /// Integers of one kind.
    Int(IntegerRepr),
    /// Truth values.
    Bool,
    /// Double precision.
    Float,
    /// Single precision.
    SingleFloat,
    /// Characters of byte strings.
    Char,
    /// Unicode characters.
    UniChar,
    /// Byte strings.
    Str,
    /// Unicode strings.
    Unicode,
    /// `bytearray`
    ByteArray,
    /// Lists, also ranges.
    List(Arc<ListRepr>),
    /// Dicts.
    Dict(Arc<DictRepr>),
    /// A list or dict as part of itself.
    Recursive(RecursiveRepr),
    /// Tuples.
    Tuple(Arc<TupleRepr>),
    /// Iterators.
    Iter(Arc<IterRepr>),
    /// String builders.
    Builder(BuilderRepr),
    /// `slice` objects, which exist only on their way into `[]`.
    Slice(Arc<SliceRepr>),
    /// Instances of a class and its subclasses.
    Instance(InstanceRepr),
    /// Erased values: pointers of no particular type.
    Erased(ErasedRepr),
    /// Classes of which nothing is known: pointers to the root vtable
    /// (`rootclass_repr`).
    Type,
    /// One function: Void.
    Function(Arc<FunctionRepr>),
    /// Several functions, or None.
    Functions(Arc<FunctionsPbcRepr>),
    /// Classes as values.
    Classes(Arc<ClassesPbcRepr>),
    /// Bound methods: represented as their self.
    Methods(Arc<MethodsPbcRepr>),
    /// Frozen prebuilt instances and modules.
    Frozen(Arc<FrozenPbcRepr>),
    /// Methods bound to frozen instances: represented as these.
    FrozenMethod(Arc<FrozenMethodRepr>),
    /// A builtin function, by qualified name.
    Builtin(Builtin),
    /// A method of a builtin kind: represented as its self.
    BuiltinMethod(Arc<BuiltinMethodRepr>),
    /// Weak references to instances of a class.
    WeakRef(InstanceRepr),
    /// Low-level pointers.
    Ptr(PtrRepr),
    /// Pointers to parts of GC objects.
    InteriorPtr(Arc<InteriorPtrRepr>),
    /// A method of a low-level type bound to a pointer.
    AdtMeth(Arc<AdtMethRepr>),
    /// Raw addresses.
    Address,
    /// A low-level type as a value: Void.
    LLType(LLType),
    /// A low-level function as a value: Void.
    LLFunc(FuncSym),
}

macro_rules! unary_methods {
    ($($(#[$m:meta])* $name:ident = $op:literal;)*) => {
        $($(#[$m])*
        fn $name(&self, hop: &Hop<'_>) -> RType {
            let _ = hop;
            Err(TyperError::not_rpython(format_args!($op, self.describe())))
        })*
    };
}

/// What each kind of Repr implements. Methods for unary operations have RPython's
/// names and reject the operation by default; binary operations are in the tables of
/// `pairs.rs`.
pub trait ReprMethods: Debug {
    /// The low-level type of the values.
    fn lowleveltype(&self) -> LLType;

    /// The kind of value, in the user's words, for error messages.
    fn describe(&self) -> Description;

    /// A constant in this representation.
    fn convert_const(&self, rt: &RTyper<'_>, c: &Const) -> Typed<LLConst> {
        rt.convert_const_to(c, self.lowleveltype())
    }

    /// Helper that compares two values; none where comparing the low-level values
    /// serves.
    fn get_ll_eq_function(&self, rt: &RTyper<'_>) -> Typed<Option<FuncSym>> {
        let _ = rt;
        Err(TyperError::missing("`==`", self.describe()))
    }

    /// Helper that computes the hash of a value.
    fn get_ll_hash_function(&self, rt: &RTyper<'_>) -> Typed<FuncSym> {
        let _ = rt;
        let what = self.describe();
        Err(TyperError::with_code(
            ErrorCode::MissingRTypeOperation,
            format!("{what} cannot be the key of a dict: it has no hash"),
        ))
    }

    /// Whether the hash is so cheap that dicts need not keep it.
    fn has_fasthash(&self) -> bool {
        false
    }

    /// A call of method `name` of a builtin kind. Argument 0 is self.
    fn rtype_method(&self, name: &str, hop: &Hop<'_>) -> RType {
        let _ = hop;
        Err(TyperError::missing(
            format_args!("`.{name}()`"),
            self.describe(),
        ))
    }

    /// `type(x)`
    fn rtype_type(&self, hop: &Hop<'_>) -> RType {
        let _ = hop;
        Err(TyperError::missing("`type()`", self.describe()).with_help(
            "a variable holds values of one kind, which is known while compiling; of instances write `isinstance(x, A)`",
        ))
    }

    /// `unicode(x)`
    fn rtype_unicode(&self, hop: &Hop<'_>) -> RType {
        let _ = hop;
        Err(TyperError::missing("`unicode()`", self.describe())
            .with_help("make a str of it first: `str(x).decode('utf-8')`"))
    }

    /// `list(x)`
    fn rtype_bltn_list(&self, hop: &Hop<'_>) -> RType {
        let _ = hop;
        Err(TyperError::missing("`list()`", self.describe())
            .with_help("write a list display or comprehension: `[x]`, `[x for x in items]`"))
    }

    /// `x.name`. Methods of builtin kinds are represented as their self.
    fn rtype_getattr(&self, hop: &Hop<'_>) -> RType {
        match &hop.r_result {
            Repr::BuiltinMethod(m) => hop.inputarg(&m.self_repr, 0).map(Some),
            _ => Err(TyperError::missing(
                format_args!("`.{}`", hop.const_name(1)?),
                self.describe(),
            )),
        }
    }

    /// `bool(x)`: by length where there is one.
    fn rtype_bool(&self, hop: &Hop<'_>) -> RType {
        if let Some(c) = hop.result_const() {
            return c.map(Some);
        }
        match self.rtype_len(hop)? {
            Some(v) => Ok(Some(hop.llops.genop(
                View::Unary {
                    family: taipan_lltype::NumFamily::Int,
                    op: taipan_lltype::NumOp::IsTrue,
                    value: &v,
                },
                *taipan_lltype::BOOL,
            ))),
            None => Ok(None),
        }
    }

    /// `hash(x)`, through the helper.
    fn rtype_hash(&self, hop: &Hop<'_>) -> RType {
        let f = self.get_ll_hash_function(hop.rt)?;
        let v = hop.inputarg(&hop.args_r[0].clone(), 0)?;
        Ok(Some(hop.llops.gencall(f, [v])))
    }

    /// `isinstance(x, kind)` where only None is in doubt.
    fn rtype_isinstance(&self, hop: &Hop<'_>) -> RType {
        hop.exception_cannot_occur()?;
        if let Some(c) = hop.result_const() {
            return c.map(Some);
        }
        let r = hop.args_r[0].clone();
        if r.lowleveltype().pointee().is_some() {
            let v = hop.inputarg(&r, 0)?;
            return Ok(Some(
                hop.genop(View::PtrNonzero { value: &v }, *taipan_lltype::BOOL),
            ));
        }
        Err(TyperError::missing("`isinstance()`", self.describe()))
    }

    /// A hint changes nothing by itself.
    fn rtype_hint(&self, hop: &Hop<'_>) -> RType {
        hop.exception_cannot_occur()?;
        hop.inputarg(&hop.r_result, 0).map(Some)
    }

    unary_methods! {
        /// `x.name = v`
        rtype_setattr = "assigning to an attribute of {}";
        /// `del x.name`
        rtype_delattr = "deleting an attribute of {}";
        /// `len(x)`
        rtype_len = "`len()` of {}";
        /// `str(x)`
        rtype_str = "`str()` of {}";
        /// `repr(x)`
        rtype_repr = "`repr()` of {}";
        /// `iter(x)`
        rtype_iter = "iteration over {}";
        /// The next item.
        rtype_next = "`next()` of {}";
        /// `x(...)`
        rtype_simple_call = "calling {}";
        /// `x(..., k=v, *args)`
        rtype_call_args = "calling {}";
        /// `x[a:b]`
        rtype_getslice = "slicing of {}";
        /// `x[a:b] = v`
        rtype_setslice = "assigning to a slice of {}";
        /// `del x[a:b]`
        rtype_delslice = "deleting a slice of {}";
        /// `+x`
        rtype_pos = "`+` of {}";
        /// `-x`
        rtype_neg = "`-` of {}";
        /// `-x` with overflow check.
        rtype_neg_ovf = "`-` of {}";
        /// `abs(x)`
        rtype_abs = "`abs()` of {}";
        /// `abs(x)` with overflow check.
        rtype_abs_ovf = "`abs()` of {}";
        /// `~x`
        rtype_invert = "`~` of {}";
        /// `ord(x)`
        rtype_ord = "`ord()` of {}";
        /// `chr(x)`
        rtype_chr = "`chr()` of {}";
        /// `unichr(x)`
        rtype_unichr = "`unichr()` of {}";
        /// `int(x)`
        rtype_int = "`int()` of {}";
        /// `float(x)`
        rtype_float = "`float()` of {}";
        /// `long(x)`
        rtype_long = "`long()` of {}";
        /// `hex(x)`
        rtype_hex = "`hex()` of {}";
        /// `oct(x)`
        rtype_oct = "`oct()` of {}";
        /// `bin(x)`
        rtype_bin = "`bin()` of {}";
        /// `id(x)`
        rtype_id = "`id()` of {}";
        /// `issubclass(x, y)`
        rtype_issubtype = "`issubclass()` of {}";
        /// `bytearray(x)`
        rtype_bytearray = "`bytearray()` of {}";
    }
}

impl Repr {
    /// Plain `int`.
    pub fn signed() -> Repr {
        Repr::Int(IntegerRepr::new(IntKind::SIGNED))
    }

    /// `r_uint`.
    pub fn unsigned() -> Repr {
        Repr::Int(IntegerRepr::new(IntKind::UNSIGNED))
    }

    /// Its methods.
    pub fn methods(&self) -> &dyn ReprMethods {
        match self {
            Repr::Impossible => &reprs::VoidRepr,
            Repr::None => &reprs::NoneRepr,
            Repr::Int(r) => r,
            Repr::Bool => &reprs::BoolRepr,
            Repr::Float => &reprs::FloatRepr,
            Repr::SingleFloat => &reprs::SingleFloatRepr,
            Repr::Char => &containers::CharacterRepr::<false>,
            Repr::UniChar => &containers::CharacterRepr::<true>,
            Repr::Str => &containers::TextRepr::<false>,
            Repr::Unicode => &containers::TextRepr::<true>,
            Repr::ByteArray => &containers::ByteArrayRepr,
            Repr::List(r) => &**r,
            Repr::Dict(r) => &**r,
            Repr::Recursive(r) => r,
            Repr::Tuple(r) => &**r,
            Repr::Iter(r) => &**r,
            Repr::Builder(r) => r,
            Repr::Slice(r) => &**r,
            Repr::Instance(r) => r,
            Repr::Erased(r) => r,
            Repr::Type => &reprs::RootClassRepr,
            Repr::Function(r) => &**r,
            Repr::Functions(r) => &**r,
            Repr::Classes(r) => &**r,
            Repr::Methods(r) => &**r,
            Repr::Frozen(r) => &**r,
            Repr::FrozenMethod(r) => &**r,
            Repr::Builtin(_) => &reprs::BuiltinFunctionRepr,
            Repr::BuiltinMethod(r) => &**r,
            Repr::WeakRef(_) => &reprs::WeakRefRepr,
            Repr::Ptr(r) => r,
            Repr::InteriorPtr(r) => &**r,
            Repr::AdtMeth(r) => &**r,
            Repr::Address => &reprs::AddressRepr,
            Repr::LLType(_) => &reprs::LLTypeRepr,
            Repr::LLFunc(_) => &reprs::LLFuncRepr,
        }
    }

    /// The low-level type of the values.
    pub fn lowleveltype(&self) -> LLType {
        self.methods().lowleveltype()
    }

    /// A constant in this representation.
    pub fn convert_const(&self, rt: &RTyper<'_>, c: &Const) -> Typed<LLConst> {
        self.methods().convert_const(rt, c)
    }

    /// Whether values have no low-level form.
    pub fn is_void(&self) -> bool {
        self.lowleveltype().is_void()
    }
}
