//! Low-level operations (RPython: `lloperation.py`).
//!
//! The table declares of each operation what its operands and its result are ([`Signature`]) and what
//! effects it has; `check_operations` compares graphs with it, behind every pass in tests.
//!
//! Operands that differ from lltype's: `gc_copy_array(src, dst, src_start, dst_start,
//! length)` moves items between GcArrays of one type, or between the inlined arrays of
//! variable-sized GcStructs (`STR`), as memmove does; write barriers are its own affair.
//! `gc_identityhash(ptr)` is a Signed that stays the same when the object moves.
//! `uint_mul_high(a, b)` is the upper word of the product of two Unsigned.
//!
//! After the exception transform: `exc_occurred() -> Bool`, `exc_type()`, `exc_value()`,
//! `exc_set(type, value)`, `exc_clear()` work on the current exception, and
//! `stack_check() -> Bool` says whether the stack is used up. `debug_start_traceback(type)`
//! stands where an exception is raised, `debug_record_traceback()` where it is passed on,
//! `debug_catch_exception(type)` where it is caught. The only blocks with a `canraise`
//! switch left are those that end in an `int_*_ovf` operation; the second exit is for
//! the overflow and has no exception variables.
//!
//! After the GC transform: `gc_enter_roots_frame(n)` takes `n` words of the shadow stack,
//! `gc_save_root(i, ptr)` stores into and `gc_restore_root(i) -> ptr` reads from word
//! `i` of them, `gc_leave_roots_frame(n)` gives them back. `gc_writebarrier(object)` comes
//! before stores of GC pointers; stores themselves are plain. A block that ends in
//! `gc_malloc_nursery(type, flavor)`, an allocation that does not collect, has a `canraise`
//! switch: the second exit is taken if the nursery is full, and leads to a `malloc`.
//!
//! `jit_enter(driver, greens...)` is a pointer to the code that a just-in-time compiler has
//! made for these greens, which takes the reds, or null.
//!
//! Only in code that is made while a program runs: `jit_exit(cell, values...)` goes on in
//! the code whose address is in the word at `cell`, for good; it stands last in a block
//! that returns its result, which never exists. `jit_count(counter) -> Bool` takes one
//! from the word at that address, and says whether it has become negative.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::operands::{Kind, Signature};

/// No side effect and a result that depends on the operands only: may be folded,
/// merged, moved and dropped.
pub const FOLD: u8 = 1;
/// No side effect, but reads memory: may be dropped.
pub const READ: u8 = 2;
/// Has a side effect.
pub const EFFECT: u8 = 4;
/// May raise.
pub const RAISE: u8 = 8;
/// May allocate GC memory, and so move objects.
pub const GC: u8 = 16;
/// Raises OverflowError, else pure.
pub const OVF: u8 = FOLD | RAISE;

/// What `ll_get_timestamp_unit` returns: `ll_read_timestamp` counts nanoseconds
/// (RPython: `rtimer.UNIT_NS`).
pub const TIMESTAMP_UNIT: i64 = 1;

/// Operations of the original toolchain that mark something for its collectors and have no
/// effect with this runtime: calls of `llop` that are left out.
pub const MARKERS: &[&str] = &["gc_stack_bottom"];

/// A low-level operation. Arithmetic comes in families, named by the type of the
/// first operand: `int_add`, `uint_add`, `float_add`, ...
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum LLOp {
    /// Arithmetic and comparison: family and operation.
    Num(NumFamily, NumOp),
    /// Any other.
    Plain(PlainOp),
}

macro_rules! named {
    ($(#[$m:meta])* $ty:ident { $($v:ident = $n:literal,)* }) => {
        $(#[$m])*
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize,
        )]
        pub enum $ty { $(#[doc = concat!("`", $n, "`")] $v,)* }
        impl $ty {
            /// All of them.
            pub const ALL: &'static [$ty] = &[$($ty::$v,)*];
            /// Its name in operation names.
            pub fn name(self) -> &'static str {
                match self { $($ty::$v => $n,)* }
            }
        }
    };
}

named! {
    /// Types that arithmetic is done on. On 64-bit machines `llong` is `int`; the
    /// narrower kinds of integers are widened first, as RPython does.
    NumFamily {
        Int = "int", Uint = "uint", Lllong = "lllong", Ulllong = "ulllong", Float = "float",
        Char = "char", Unichar = "unichar",
    }
}
named! {
    /// Arithmetic and comparison. `floordiv` and `mod` truncate as C does; results of
    /// comparisons and of `is_true` are Bool; shift counts are Signed.
    NumOp {
        IsTrue = "is_true", Neg = "neg", Abs = "abs", Invert = "invert", Add = "add", Sub = "sub",
        Mul = "mul", FloorDiv = "floordiv", Mod = "mod", TrueDiv = "truediv", And = "and",
        Or = "or", Xor = "xor", LShift = "lshift", RShift = "rshift", Lt = "lt", Le = "le",
        Eq = "eq", Ne = "ne", Gt = "gt", Ge = "ge",
    }
}

macro_rules! plain_ops {
    ($($v:ident = $n:literal, $flags:expr, ($($arg:ident),*) -> $result:ident;)*) => {
        /// Operations that are not arithmetic.
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize,
        )]
        pub enum PlainOp { $(#[doc = concat!("`", $n, "`")] $v,)* }
        impl PlainOp {
            /// All of them.
            pub const ALL: &'static [PlainOp] = &[$(PlainOp::$v,)*];
            /// RPython's name.
            pub fn name(self) -> &'static str {
                match self { $(PlainOp::$v => $n,)* }
            }
            /// [`FOLD`], [`READ`], [`EFFECT`], [`RAISE`], [`GC`].
            pub fn flags(self) -> u8 {
                match self { $(PlainOp::$v => $flags,)* }
            }
            /// Its operands and its result.
            pub fn signature(self) -> Signature {
                match self {
                    $(PlainOp::$v => Signature {
                        args: &[$(Kind::$arg),*],
                        result: Kind::$result,
                    },)*
                }
            }
        }
    };
}

plain_ops! {
    DirectCall = "direct_call", EFFECT | RAISE | GC, (Function, Rest) -> Any;
    IndirectCall = "indirect_call", EFFECT | RAISE | GC, (Function, Rest) -> Any;
    BoolNot = "bool_not", FOLD, (Bool) -> Bool;
    IntBetween = "int_between", FOLD, (Signed, Signed, Signed) -> Bool;
    IntForceGeZero = "int_force_ge_zero", FOLD, (Signed) -> Signed;
    UintMulHigh = "uint_mul_high", FOLD, (Unsigned, Unsigned) -> Unsigned;
    IntAddOvf = "int_add_ovf", OVF, (Signed, Signed) -> Signed;
    IntAddNonnegOvf = "int_add_nonneg_ovf", OVF, (Signed, Signed) -> Signed;
    IntSubOvf = "int_sub_ovf", OVF, (Signed, Signed) -> Signed;
    IntMulOvf = "int_mul_ovf", OVF, (Signed, Signed) -> Signed;
    CastPrimitive = "cast_primitive", FOLD, (Primitive) -> Primitive;
    CastBoolToInt = "cast_bool_to_int", FOLD, (Bool) -> Signed;
    CastBoolToUint = "cast_bool_to_uint", FOLD, (Bool) -> Unsigned;
    CastBoolToFloat = "cast_bool_to_float", FOLD, (Bool) -> Float;
    CastCharToInt = "cast_char_to_int", FOLD, (Char) -> Signed;
    CastUnicharToInt = "cast_unichar_to_int", FOLD, (UniChar) -> Signed;
    CastIntToChar = "cast_int_to_char", FOLD, (Signed) -> Char;
    CastIntToUnichar = "cast_int_to_unichar", FOLD, (Signed) -> UniChar;
    CastIntToUint = "cast_int_to_uint", FOLD, (Signed) -> Unsigned;
    CastIntToFloat = "cast_int_to_float", FOLD, (Signed) -> Float;
    CastIntToLonglong = "cast_int_to_longlong", FOLD, (Signed) -> Signed;
    CastUintToInt = "cast_uint_to_int", FOLD, (Unsigned) -> Signed;
    CastUintToFloat = "cast_uint_to_float", FOLD, (Unsigned) -> Float;
    CastLonglongToFloat = "cast_longlong_to_float", FOLD, (Signed) -> Float;
    CastUlonglongToFloat = "cast_ulonglong_to_float", FOLD, (Unsigned) -> Float;
    CastFloatToInt = "cast_float_to_int", FOLD, (Float) -> Signed;
    CastFloatToUint = "cast_float_to_uint", FOLD, (Float) -> Unsigned;
    CastFloatToLonglong = "cast_float_to_longlong", FOLD, (Float) -> Signed;
    CastFloatToUlonglong = "cast_float_to_ulonglong", FOLD, (Float) -> Unsigned;
    TruncateLonglongToInt = "truncate_longlong_to_int", FOLD, (Signed) -> Signed;
    ForceCast = "force_cast", READ, (Primitive) -> Primitive;
    ConvertFloatBytesToLonglong = "convert_float_bytes_to_longlong", FOLD, (Float) -> Signed;
    ConvertLonglongBytesToFloat = "convert_longlong_bytes_to_float", FOLD, (Signed) -> Float;
    Likely = "likely", FOLD, (Bool) -> Bool;
    Unlikely = "unlikely", FOLD, (Bool) -> Bool;
    Malloc = "malloc", EFFECT | GC, (Type, Flavor, Rest) -> Pointer;
    MallocVarsize = "malloc_varsize", EFFECT | GC, (Type, Flavor, Signed, Rest) -> Pointer;
    ShrinkArray = "shrink_array", EFFECT, (Pointer, Signed) -> Any;
    ZeroGcPointersInside = "zero_gc_pointers_inside", EFFECT, (Pointer, Rest) -> Void;
    Free = "free", EFFECT, (Pointer, Flavor) -> Void;
    Getfield = "getfield", READ, (Pointer, Field) -> Any;
    Setfield = "setfield", EFFECT, (Pointer, Field, Any) -> Void;
    BareSetfield = "bare_setfield", EFFECT, (Pointer, Field, Any) -> Void;
    Getarrayitem = "getarrayitem", READ, (Pointer, Signed) -> Any;
    Setarrayitem = "setarrayitem", EFFECT, (Pointer, Signed, Any) -> Void;
    BareSetarrayitem = "bare_setarrayitem", EFFECT, (Pointer, Signed, Any) -> Void;
    Getarraysize = "getarraysize", FOLD, (Pointer) -> Signed;
    Getsubstruct = "getsubstruct", FOLD, (Pointer, Field) -> Pointer;
    Getarraysubstruct = "getarraysubstruct", FOLD, (Pointer, Signed) -> Pointer;
    Getinteriorfield = "getinteriorfield", READ, (Pointer, Rest) -> Any;
    Setinteriorfield = "setinteriorfield", EFFECT, (Pointer, Rest) -> Void;
    BareSetinteriorfield = "bare_setinteriorfield", EFFECT, (Pointer, Rest) -> Void;
    Getinteriorarraysize = "getinteriorarraysize", FOLD, (Pointer, Rest) -> Signed;
    CastPointer = "cast_pointer", FOLD, (Pointer) -> Pointer;
    CastOpaquePtr = "cast_opaque_ptr", FOLD, (Pointer) -> Pointer;
    PtrEq = "ptr_eq", FOLD, (Pointer, Pointer) -> Bool;
    PtrNe = "ptr_ne", FOLD, (Pointer, Pointer) -> Bool;
    PtrNonzero = "ptr_nonzero", FOLD, (Pointer) -> Bool;
    PtrIszero = "ptr_iszero", FOLD, (Pointer) -> Bool;
    CastPtrToInt = "cast_ptr_to_int", READ, (Pointer) -> Signed;
    CastIntToPtr = "cast_int_to_ptr", READ, (Signed) -> Pointer;
    DirectFieldptr = "direct_fieldptr", FOLD, (Pointer, Field) -> Pointer;
    DirectArrayitems = "direct_arrayitems", FOLD, (Pointer) -> Pointer;
    DirectPtradd = "direct_ptradd", FOLD, (Pointer, Signed) -> Pointer;
    RawMalloc = "raw_malloc", EFFECT, (Signed, Rest) -> Address;
    RawMallocUsage = "raw_malloc_usage", READ, (Signed) -> Signed;
    RawFree = "raw_free", EFFECT, (Address) -> Void;
    RawMemclear = "raw_memclear", EFFECT, (Address, Signed) -> Void;
    RawMemset = "raw_memset", EFFECT, (Address, Any, Signed) -> Void;
    RawMemcopy = "raw_memcopy", EFFECT, (Address, Address, Signed) -> Void;
    RawMemmove = "raw_memmove", EFFECT, (Address, Address, Signed) -> Void;
    RawLoad = "raw_load", READ, (Any, Signed) -> Any;
    RawStore = "raw_store", EFFECT, (Any, Signed, Any) -> Void;
    GcLoadIndexed = "gc_load_indexed", READ, (Pointer, Signed, Signed, Signed) -> Any;
    GcStoreIndexed = "gc_store_indexed", EFFECT, (Pointer, Signed, Any, Signed, Signed) -> Void;
    AdrAdd = "adr_add", FOLD, (Address, Signed) -> Address;
    AdrSub = "adr_sub", FOLD, (Address, Signed) -> Address;
    AdrDelta = "adr_delta", FOLD, (Address, Address) -> Signed;
    AdrLt = "adr_lt", FOLD, (Address, Address) -> Bool;
    AdrLe = "adr_le", FOLD, (Address, Address) -> Bool;
    AdrEq = "adr_eq", FOLD, (Address, Address) -> Bool;
    AdrNe = "adr_ne", FOLD, (Address, Address) -> Bool;
    AdrGt = "adr_gt", FOLD, (Address, Address) -> Bool;
    AdrGe = "adr_ge", FOLD, (Address, Address) -> Bool;
    CastPtrToAdr = "cast_ptr_to_adr", READ, (Pointer) -> Address;
    CastAdrToPtr = "cast_adr_to_ptr", FOLD, (Address) -> Pointer;
    CastAdrToInt = "cast_adr_to_int", READ, (Address) -> Signed;
    CastIntToAdr = "cast_int_to_adr", FOLD, (Signed) -> Address;
    JitMarker = "jit_marker", EFFECT, (Rest) -> Void;
    JitEnter = "jit_enter", EFFECT | GC, (Rest) -> Any;
    WeAreJitted = "we_are_jitted", READ, () -> Bool;
    JitIsConstant = "jit_is_constant", READ, (Any, Rest) -> Bool;
    JitAssertGreen = "jit_assert_green", EFFECT, (Any) -> Void;
    JitTraceLength = "jit_trace_length", READ, () -> Signed;
    JitSetParam = "jit_set_param", EFFECT, (Rest) -> Void;
    JitExit = "jit_exit", EFFECT, (Rest) -> Any;
    JitCount = "jit_count", EFFECT, (Any) -> Bool;
    JitForceVirtualizable = "jit_force_virtualizable", EFFECT, (Rest) -> Void;
    JitForceQuasiImmutable = "jit_force_quasi_immutable", EFFECT, (Rest) -> Void;
    JitInvalidated = "jit_invalidated", EFFECT, (Rest) -> Any;
    JitForceVirtual = "jit_force_virtual", EFFECT, (Any) -> Any;
    JitIsVirtual = "jit_is_virtual", READ, (Any) -> Bool;
    JitRecordExactClass = "jit_record_exact_class", EFFECT, (Rest) -> Void;
    JitRecordExactValue = "jit_record_exact_value", EFFECT, (Rest) -> Void;
    JitRecordKnownResult = "jit_record_known_result", EFFECT, (Rest) -> Void;
    JitConditionalCall = "jit_conditional_call", EFFECT | RAISE | GC, (Bool, Function, Rest) -> Void;
    JitConditionalCallValue = "jit_conditional_call_value", EFFECT | RAISE | GC, (Any, Function, Rest) -> Any;
    GcCollect = "gc__collect", EFFECT | GC, (Rest) -> Void;
    GcCollectMinor = "gc_collect_minor", EFFECT | GC, () -> Void;
    GcFqRegister = "gc_fq_register", EFFECT, (Rest) -> Any;
    GcFqNextDead = "gc_fq_next_dead", EFFECT, (Rest) -> Any;
    GcIdentityhash = "gc_identityhash", READ | GC, (Pointer) -> Signed;
    GcId = "gc_id", READ | GC, (Pointer) -> Signed;
    GcCanMove = "gc_can_move", READ, (Pointer) -> Bool;
    GcMallocFilled = "gc_malloc_filled", EFFECT | GC, (Type, Flavor, Signed, Rest) -> Pointer;
    GcMallocNursery = "gc_malloc_nursery", EFFECT, (Type, Flavor, Rest) -> Pointer;
    GcWritebarrier = "gc_writebarrier", EFFECT, (Pointer, Rest) -> Void;
    GcWritebarrierBeforeCopy = "gc_writebarrier_before_copy", EFFECT, (Rest) -> Bool;
    GcSaveRoot = "gc_save_root", EFFECT, (Signed, Pointer) -> Void;
    GcRestoreRoot = "gc_restore_root", EFFECT, (Signed) -> Pointer;
    GcEnterRootsFrame = "gc_enter_roots_frame", EFFECT, (Signed) -> Void;
    GcLeaveRootsFrame = "gc_leave_roots_frame", EFFECT, (Signed) -> Void;
    GcCopyArray = "gc_copy_array", EFFECT, (Pointer, Pointer, Signed, Signed, Signed) -> Void;
    WeakrefCreate = "weakref_create", READ | GC, (Pointer) -> Pointer;
    WeakrefDeref = "weakref_deref", READ, (Pointer) -> Pointer;
    StackCheck = "stack_check", EFFECT, () -> Bool;
    Keepalive = "keepalive", EFFECT, (Any) -> Void;
    SameAs = "same_as", FOLD, (Any) -> Any;
    Hint = "hint", EFFECT, (Any, Rest) -> Any;
    ThreadlocalrefGet = "threadlocalref_get", READ, (Rest) -> Any;
    ThreadlocalrefStore = "threadlocalref_store", EFFECT, (Rest) -> Any;
    LlReadTimestamp = "ll_read_timestamp", EFFECT, () -> Signed;
    LlGetTimestampUnit = "ll_get_timestamp_unit", FOLD, () -> Signed;
    DebugPrint = "debug_print", EFFECT, (Rest) -> Void;
    DebugAssert = "debug_assert", EFFECT, (Bool, Rest) -> Void;
    DebugFatalerror = "debug_fatalerror", EFFECT, (Rest) -> Void;
    DebugStartTraceback = "debug_start_traceback", EFFECT, (Pointer) -> Void;
    DebugRecordTraceback = "debug_record_traceback", EFFECT, () -> Void;
    DebugCatchException = "debug_catch_exception", EFFECT, (Pointer) -> Void;
    DebugReraiseTraceback = "debug_reraise_traceback", EFFECT, (Rest) -> Void;
    DebugPrintTraceback = "debug_print_traceback", EFFECT, (Rest) -> Void;
    ExcType = "exc_type", READ, () -> Pointer;
    ExcValue = "exc_value", READ, () -> Pointer;
    ExcOccurred = "exc_occurred", READ, () -> Bool;
    ExcSet = "exc_set", EFFECT, (Pointer, Pointer) -> Void;
    ExcClear = "exc_clear", EFFECT, () -> Void;
}

/// A pattern: the operations that make a number of one type of a number of another one.
#[macro_export]
macro_rules! conversion {
    () => {
        $crate::PlainOp::CastPrimitive
            | $crate::PlainOp::CastBoolToInt
            | $crate::PlainOp::CastBoolToUint
            | $crate::PlainOp::CastBoolToFloat
            | $crate::PlainOp::CastCharToInt
            | $crate::PlainOp::CastUnicharToInt
            | $crate::PlainOp::CastIntToChar
            | $crate::PlainOp::CastIntToUnichar
            | $crate::PlainOp::CastIntToUint
            | $crate::PlainOp::CastIntToFloat
            | $crate::PlainOp::CastIntToLonglong
            | $crate::PlainOp::CastUintToInt
            | $crate::PlainOp::CastUintToFloat
            | $crate::PlainOp::CastLonglongToFloat
            | $crate::PlainOp::CastUlonglongToFloat
            | $crate::PlainOp::CastFloatToInt
            | $crate::PlainOp::CastFloatToUint
            | $crate::PlainOp::CastFloatToLonglong
            | $crate::PlainOp::CastFloatToUlonglong
            | $crate::PlainOp::TruncateLonglongToInt
    };
}

impl LLOp {
    /// [`FOLD`], [`READ`], [`EFFECT`], [`RAISE`], [`GC`].
    pub fn flags(self) -> u8 {
        match self {
            LLOp::Num(..) => FOLD,
            LLOp::Plain(p) => p.flags(),
        }
    }

    /// Whether it may be dropped when its result is unused.
    pub fn is_removable(self) -> bool {
        self.flags() & (EFFECT | RAISE) == 0
    }

    /// Whether it may be computed while compiling when its operands are constants.
    pub fn can_fold(self) -> bool {
        self.flags() & FOLD != 0
    }

    /// Whether it may raise.
    pub fn can_raise(self) -> bool {
        self.flags() & RAISE != 0
    }

    /// The operation of that name.
    pub fn from_name(name: &str) -> Option<LLOp> {
        if let Some(p) = PlainOp::ALL.iter().find(|p| p.name() == name) {
            return Some(LLOp::Plain(*p));
        }
        let (family, op) = name.split_once('_')?;
        let family = NumFamily::ALL.iter().find(|f| f.name() == family)?;
        let op = NumOp::ALL.iter().find(|o| o.name() == op)?;
        Some(LLOp::Num(*family, *op))
    }
}

impl From<PlainOp> for LLOp {
    fn from(p: PlainOp) -> Self {
        LLOp::Plain(p)
    }
}

impl fmt::Display for LLOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LLOp::Num(family, op) => write!(f, "{}_{}", family.name(), op.name()),
            LLOp::Plain(p) => f.write_str(p.name()),
        }
    }
}
