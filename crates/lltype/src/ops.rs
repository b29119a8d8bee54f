//! Low-level operations (RPython: `lloperation.py`).
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
    ($($v:ident = $n:literal, $flags:expr;)*) => {
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
        }
    };
}

plain_ops! {
    DirectCall = "direct_call", EFFECT | RAISE | GC;
    IndirectCall = "indirect_call", EFFECT | RAISE | GC;
    BoolNot = "bool_not", FOLD;
    IntBetween = "int_between", FOLD;
    IntForceGeZero = "int_force_ge_zero", FOLD;
    UintMulHigh = "uint_mul_high", FOLD;
    IntAddOvf = "int_add_ovf", OVF;
    IntAddNonnegOvf = "int_add_nonneg_ovf", OVF;
    IntSubOvf = "int_sub_ovf", OVF;
    IntMulOvf = "int_mul_ovf", OVF;
    CastPrimitive = "cast_primitive", FOLD;
    CastBoolToInt = "cast_bool_to_int", FOLD;
    CastBoolToUint = "cast_bool_to_uint", FOLD;
    CastBoolToFloat = "cast_bool_to_float", FOLD;
    CastCharToInt = "cast_char_to_int", FOLD;
    CastUnicharToInt = "cast_unichar_to_int", FOLD;
    CastIntToChar = "cast_int_to_char", FOLD;
    CastIntToUnichar = "cast_int_to_unichar", FOLD;
    CastIntToUint = "cast_int_to_uint", FOLD;
    CastIntToFloat = "cast_int_to_float", FOLD;
    CastIntToLonglong = "cast_int_to_longlong", FOLD;
    CastUintToInt = "cast_uint_to_int", FOLD;
    CastUintToFloat = "cast_uint_to_float", FOLD;
    CastLonglongToFloat = "cast_longlong_to_float", FOLD;
    CastUlonglongToFloat = "cast_ulonglong_to_float", FOLD;
    CastFloatToInt = "cast_float_to_int", FOLD;
    CastFloatToUint = "cast_float_to_uint", FOLD;
    CastFloatToLonglong = "cast_float_to_longlong", FOLD;
    CastFloatToUlonglong = "cast_float_to_ulonglong", FOLD;
    TruncateLonglongToInt = "truncate_longlong_to_int", FOLD;
    ForceCast = "force_cast", READ;
    ConvertFloatBytesToLonglong = "convert_float_bytes_to_longlong", FOLD;
    ConvertLonglongBytesToFloat = "convert_longlong_bytes_to_float", FOLD;
    Likely = "likely", FOLD;
    Unlikely = "unlikely", FOLD;
    Malloc = "malloc", EFFECT | GC;
    MallocVarsize = "malloc_varsize", EFFECT | GC;
    ShrinkArray = "shrink_array", EFFECT;
    ZeroGcPointersInside = "zero_gc_pointers_inside", EFFECT;
    Free = "free", EFFECT;
    Getfield = "getfield", READ;
    Setfield = "setfield", EFFECT;
    BareSetfield = "bare_setfield", EFFECT;
    Getarrayitem = "getarrayitem", READ;
    Setarrayitem = "setarrayitem", EFFECT;
    BareSetarrayitem = "bare_setarrayitem", EFFECT;
    Getarraysize = "getarraysize", FOLD;
    Getsubstruct = "getsubstruct", FOLD;
    Getarraysubstruct = "getarraysubstruct", FOLD;
    Getinteriorfield = "getinteriorfield", READ;
    Setinteriorfield = "setinteriorfield", EFFECT;
    BareSetinteriorfield = "bare_setinteriorfield", EFFECT;
    Getinteriorarraysize = "getinteriorarraysize", FOLD;
    CastPointer = "cast_pointer", FOLD;
    CastOpaquePtr = "cast_opaque_ptr", FOLD;
    PtrEq = "ptr_eq", FOLD;
    PtrNe = "ptr_ne", FOLD;
    PtrNonzero = "ptr_nonzero", FOLD;
    PtrIszero = "ptr_iszero", FOLD;
    CastPtrToInt = "cast_ptr_to_int", READ;
    CastIntToPtr = "cast_int_to_ptr", READ;
    DirectFieldptr = "direct_fieldptr", FOLD;
    DirectArrayitems = "direct_arrayitems", FOLD;
    DirectPtradd = "direct_ptradd", FOLD;
    RawMalloc = "raw_malloc", EFFECT;
    RawMallocUsage = "raw_malloc_usage", READ;
    RawFree = "raw_free", EFFECT;
    RawMemclear = "raw_memclear", EFFECT;
    RawMemset = "raw_memset", EFFECT;
    RawMemcopy = "raw_memcopy", EFFECT;
    RawMemmove = "raw_memmove", EFFECT;
    RawLoad = "raw_load", READ;
    RawStore = "raw_store", EFFECT;
    GcLoadIndexed = "gc_load_indexed", READ;
    GcStoreIndexed = "gc_store_indexed", EFFECT;
    AdrAdd = "adr_add", FOLD;
    AdrSub = "adr_sub", FOLD;
    AdrDelta = "adr_delta", FOLD;
    AdrLt = "adr_lt", FOLD;
    AdrLe = "adr_le", FOLD;
    AdrEq = "adr_eq", FOLD;
    AdrNe = "adr_ne", FOLD;
    AdrGt = "adr_gt", FOLD;
    AdrGe = "adr_ge", FOLD;
    CastPtrToAdr = "cast_ptr_to_adr", READ;
    CastAdrToPtr = "cast_adr_to_ptr", FOLD;
    CastAdrToInt = "cast_adr_to_int", READ;
    CastIntToAdr = "cast_int_to_adr", FOLD;
    JitMarker = "jit_marker", EFFECT;
    JitEnter = "jit_enter", EFFECT | GC;
    WeAreJitted = "we_are_jitted", READ;
    JitIsConstant = "jit_is_constant", READ;
    JitAssertGreen = "jit_assert_green", EFFECT;
    JitTraceLength = "jit_trace_length", READ;
    JitSetParam = "jit_set_param", EFFECT;
    JitExit = "jit_exit", EFFECT;
    JitCount = "jit_count", EFFECT;
    JitForceVirtualizable = "jit_force_virtualizable", EFFECT;
    JitForceQuasiImmutable = "jit_force_quasi_immutable", EFFECT;
    JitInvalidated = "jit_invalidated", EFFECT;
    JitForceVirtual = "jit_force_virtual", EFFECT;
    JitIsVirtual = "jit_is_virtual", READ;
    JitRecordExactClass = "jit_record_exact_class", EFFECT;
    JitRecordExactValue = "jit_record_exact_value", EFFECT;
    JitRecordKnownResult = "jit_record_known_result", EFFECT;
    JitConditionalCall = "jit_conditional_call", EFFECT | RAISE | GC;
    JitConditionalCallValue = "jit_conditional_call_value", EFFECT | RAISE | GC;
    GcCollect = "gc__collect", EFFECT | GC;
    GcCollectMinor = "gc_collect_minor", EFFECT | GC;
    GcFqRegister = "gc_fq_register", EFFECT;
    GcFqNextDead = "gc_fq_next_dead", EFFECT;
    GcIdentityhash = "gc_identityhash", READ | GC;
    GcId = "gc_id", READ | GC;
    GcCanMove = "gc_can_move", READ;
    GcMallocFilled = "gc_malloc_filled", EFFECT | GC;
    GcMallocNursery = "gc_malloc_nursery", EFFECT;
    GcWritebarrier = "gc_writebarrier", EFFECT;
    GcWritebarrierBeforeCopy = "gc_writebarrier_before_copy", EFFECT;
    GcSaveRoot = "gc_save_root", EFFECT;
    GcRestoreRoot = "gc_restore_root", EFFECT;
    GcEnterRootsFrame = "gc_enter_roots_frame", EFFECT;
    GcLeaveRootsFrame = "gc_leave_roots_frame", EFFECT;
    GcCopyArray = "gc_copy_array", EFFECT;
    WeakrefCreate = "weakref_create", READ | GC;
    WeakrefDeref = "weakref_deref", READ;
    StackCheck = "stack_check", EFFECT;
    Keepalive = "keepalive", EFFECT;
    SameAs = "same_as", FOLD;
    Hint = "hint", EFFECT;
    ThreadlocalrefGet = "threadlocalref_get", READ;
    ThreadlocalrefStore = "threadlocalref_store", EFFECT;
    LlReadTimestamp = "ll_read_timestamp", EFFECT;
    DebugPrint = "debug_print", EFFECT;
    DebugAssert = "debug_assert", EFFECT;
    DebugFatalerror = "debug_fatalerror", EFFECT;
    DebugStartTraceback = "debug_start_traceback", EFFECT;
    DebugRecordTraceback = "debug_record_traceback", EFFECT;
    DebugCatchException = "debug_catch_exception", EFFECT;
    DebugReraiseTraceback = "debug_reraise_traceback", EFFECT;
    DebugPrintTraceback = "debug_print_traceback", EFFECT;
    ExcType = "exc_type", READ;
    ExcValue = "exc_value", READ;
    ExcOccurred = "exc_occurred", READ;
    ExcSet = "exc_set", EFFECT;
    ExcClear = "exc_clear", EFFECT;
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
