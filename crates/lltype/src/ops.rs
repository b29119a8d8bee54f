//! Low-level operations (RPython: `lloperation.py`).
//!
//! The table declares of each operation what its operands are called and what they and its result are
//! ([`Signature`]), and what effects it has. [`View`](crate::View) has the operands by these names;
//! `check_operations` compares graphs with the table, behind every pass in tests.
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
//! switch: the second exit is taken if the nursery is full, and leads to a `malloc`. So does a block that
//! ends in `gc_reserve(bytes) -> Address`, which reserves memory for several objects; its second exit leads to
//! `gc_reserve_slowly(bytes)`, which collects. `gc_malloc_reserved(type, flavor, room, offset, length?)` makes an
//! object in reserved memory, before the next operation that may collect.
//!
//! `indirect_call(callee, args..., targets)` ends in the functions that may be meant, `Void` where nobody
//! knows them. `jit_note(number)` stands in residual code where something is noted of it, and does nothing.
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

use crate::operands::{Count, Kind, Param, Signature};

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
/// Is executed by doing nothing, and stays where it is: it says something to passes or to a just-in-time compiler.
/// The operations of the table's second part, `notes`, are such.
pub const NOTE: u8 = 32;
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
    (
        operations {
            $($v:ident = $n:literal, $flags:expr, ($($arg:ident: $kind:tt),*) -> $result:ident;)*
        }
        notes {
            $($note:ident = $note_name:literal, ($($note_arg:ident: $note_kind:tt),*);)*
        }
    ) => {
        /// Operations that are not arithmetic.
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize,
        )]
        pub enum PlainOp {
            $(#[doc = concat!("`", $n, "`")] $v,)*
            $(#[doc = concat!("`", $note_name, "`")] $note,)*
        }
        impl PlainOp {
            /// All of them.
            pub const ALL: &'static [PlainOp] = &[$(PlainOp::$v,)* $(PlainOp::$note,)*];
            /// RPython's name.
            pub fn name(self) -> &'static str {
                match self { $(PlainOp::$v => $n,)* $(PlainOp::$note => $note_name,)* }
            }
            /// [`FOLD`], [`READ`], [`EFFECT`], [`RAISE`], [`GC`], [`NOTE`].
            pub fn flags(self) -> u8 {
                match self { $(PlainOp::$v => $flags,)* $(PlainOp::$note => NOTE | EFFECT,)* }
            }
            /// Its operands and its result.
            pub fn signature(self) -> Signature {
                match self {
                    $(PlainOp::$v => Signature {
                        params: const { &[$(param!($arg, $kind)),*] },
                        result: Kind::$result,
                    },)*
                    $(PlainOp::$note => Signature {
                        params: const { &[$(param!($note_arg, $note_kind)),*] },
                        result: Kind::Void,
                    },)*
                }
            }
        }

        /// A pattern: the [`View`](crate::View)s of operations that are executed by doing nothing ([`NOTE`]).
        #[macro_export]
        macro_rules! note {
            () => { $($crate::View::$note { .. })|* };
        }
    };
}

/// One declared operand: `name: Kind`, `name: (Kind?)` for one that may be missing, and
/// `name: [Kind]` for any number of them.
macro_rules! param {
    ($arg:ident, [$kind:ident]) => {
        Param::new(stringify!($arg), Kind::$kind, Count::Any)
    };
    ($arg:ident, ($kind:ident?)) => {
        Param::new(stringify!($arg), Kind::$kind, Count::Optional)
    };
    ($arg:ident, $kind:ident) => {
        Param::new(stringify!($arg), Kind::$kind, Count::One)
    };
}

/// The table, given to a macro.
macro_rules! plain_ops_table {
    ($with:ident) => {
        $with! {
            operations {
                DirectCall = "direct_call", EFFECT | RAISE | GC, (callee: Function, args: [Any]) -> Any;
                IndirectCall = "indirect_call", EFFECT | RAISE | GC, (callee: Function, args: [Any], targets: Targets) -> Any;
                BoolNot = "bool_not", FOLD, (value: Bool) -> Bool;
                IntBetween = "int_between", FOLD, (low: Signed, value: Signed, high: Signed) -> Bool;
                IntForceGeZero = "int_force_ge_zero", FOLD, (value: Signed) -> Signed;
                UintMulHigh = "uint_mul_high", FOLD, (left: Unsigned, right: Unsigned) -> Unsigned;
                IntAddOvf = "int_add_ovf", OVF, (left: Signed, right: Signed) -> Signed;
                IntAddNonnegOvf = "int_add_nonneg_ovf", OVF, (left: Signed, right: Signed) -> Signed;
                IntSubOvf = "int_sub_ovf", OVF, (left: Signed, right: Signed) -> Signed;
                IntMulOvf = "int_mul_ovf", OVF, (left: Signed, right: Signed) -> Signed;
                CastPrimitive = "cast_primitive", FOLD, (value: Primitive) -> Primitive;
                CastBoolToInt = "cast_bool_to_int", FOLD, (value: Bool) -> Signed;
                CastBoolToUint = "cast_bool_to_uint", FOLD, (value: Bool) -> Unsigned;
                CastBoolToFloat = "cast_bool_to_float", FOLD, (value: Bool) -> Float;
                CastCharToInt = "cast_char_to_int", FOLD, (value: Char) -> Signed;
                CastUnicharToInt = "cast_unichar_to_int", FOLD, (value: UniChar) -> Signed;
                CastIntToChar = "cast_int_to_char", FOLD, (value: Signed) -> Char;
                CastIntToUnichar = "cast_int_to_unichar", FOLD, (value: Signed) -> UniChar;
                CastIntToUint = "cast_int_to_uint", FOLD, (value: Signed) -> Unsigned;
                CastIntToFloat = "cast_int_to_float", FOLD, (value: Signed) -> Float;
                CastIntToLonglong = "cast_int_to_longlong", FOLD, (value: Signed) -> Signed;
                CastUintToInt = "cast_uint_to_int", FOLD, (value: Unsigned) -> Signed;
                CastUintToFloat = "cast_uint_to_float", FOLD, (value: Unsigned) -> Float;
                CastLonglongToFloat = "cast_longlong_to_float", FOLD, (value: Signed) -> Float;
                CastUlonglongToFloat = "cast_ulonglong_to_float", FOLD, (value: Unsigned) -> Float;
                CastFloatToInt = "cast_float_to_int", FOLD, (value: Float) -> Signed;
                CastFloatToUint = "cast_float_to_uint", FOLD, (value: Float) -> Unsigned;
                CastFloatToLonglong = "cast_float_to_longlong", FOLD, (value: Float) -> Signed;
                CastFloatToUlonglong = "cast_float_to_ulonglong", FOLD, (value: Float) -> Unsigned;
                TruncateLonglongToInt = "truncate_longlong_to_int", FOLD, (value: Signed) -> Signed;
                ForceCast = "force_cast", READ, (value: Primitive) -> Primitive;
                ConvertFloatBytesToLonglong = "convert_float_bytes_to_longlong", FOLD, (value: Float) -> Signed;
                ConvertLonglongBytesToFloat = "convert_longlong_bytes_to_float", FOLD, (value: Signed) -> Float;
                Likely = "likely", FOLD, (value: Bool) -> Bool;
                Unlikely = "unlikely", FOLD, (value: Bool) -> Bool;
                Malloc = "malloc", EFFECT | GC, (ty: Type, flavor: Flavor, destructor: (Function?)) -> Pointer;
                MallocVarsize = "malloc_varsize", EFFECT | GC, (ty: Type, flavor: Flavor, length: Signed) -> Pointer;
                ShrinkArray = "shrink_array", EFFECT, (array: Pointer, length: Signed) -> Bool;
                ZeroGcPointersInside = "zero_gc_pointers_inside", EFFECT, (object: Pointer) -> Void;
                Free = "free", EFFECT, (object: Pointer, flavor: Flavor) -> Void;
                Getfield = "getfield", READ, (object: Pointer, field: Field) -> Any;
                Setfield = "setfield", EFFECT, (object: Pointer, field: Field, value: Any) -> Void;
                BareSetfield = "bare_setfield", EFFECT, (object: Pointer, field: Field, value: Any) -> Void;
                Getarrayitem = "getarrayitem", READ, (array: Pointer, index: Signed) -> Any;
                Setarrayitem = "setarrayitem", EFFECT, (array: Pointer, index: Signed, value: Any) -> Void;
                BareSetarrayitem = "bare_setarrayitem", EFFECT, (array: Pointer, index: Signed, value: Any) -> Void;
                Getarraysize = "getarraysize", FOLD, (array: Pointer) -> Signed;
                Getsubstruct = "getsubstruct", FOLD, (object: Pointer, field: Field) -> Pointer;
                Getarraysubstruct = "getarraysubstruct", FOLD, (array: Pointer, index: Signed) -> Pointer;
                Getinteriorfield = "getinteriorfield", READ, (object: Pointer, path: [Step]) -> Any;
                Setinteriorfield = "setinteriorfield", EFFECT, (object: Pointer, path: [Step], value: Any) -> Void;
                BareSetinteriorfield = "bare_setinteriorfield", EFFECT, (object: Pointer, path: [Step], value: Any) -> Void;
                Getinteriorarraysize = "getinteriorarraysize", FOLD, (object: Pointer, path: [Step]) -> Signed;
                CastPointer = "cast_pointer", FOLD, (value: Pointer) -> Pointer;
                CastOpaquePtr = "cast_opaque_ptr", FOLD, (value: Pointer) -> Pointer;
                PtrEq = "ptr_eq", FOLD, (left: Pointer, right: Pointer) -> Bool;
                PtrNe = "ptr_ne", FOLD, (left: Pointer, right: Pointer) -> Bool;
                PtrNonzero = "ptr_nonzero", FOLD, (value: Pointer) -> Bool;
                PtrIszero = "ptr_iszero", FOLD, (value: Pointer) -> Bool;
                CastPtrToInt = "cast_ptr_to_int", READ, (value: Pointer) -> Signed;
                CastIntToPtr = "cast_int_to_ptr", READ, (value: Signed) -> Pointer;
                DirectFieldptr = "direct_fieldptr", FOLD, (object: Pointer, field: Field) -> Pointer;
                DirectArrayitems = "direct_arrayitems", FOLD, (array: Pointer) -> Pointer;
                DirectPtradd = "direct_ptradd", FOLD, (items: Pointer, count: Signed) -> Pointer;
                RawMalloc = "raw_malloc", EFFECT, (size: Signed, zero: (Bool?)) -> Address;
                RawMallocUsage = "raw_malloc_usage", READ, (size: Signed) -> Signed;
                RawFree = "raw_free", EFFECT, (address: Address) -> Void;
                RawMemclear = "raw_memclear", EFFECT, (address: Address, size: Signed) -> Void;
                RawMemset = "raw_memset", EFFECT, (address: Address, byte: Any, size: Signed) -> Void;
                RawMemcopy = "raw_memcopy", EFFECT, (source: Address, dest: Address, size: Signed) -> Void;
                RawMemmove = "raw_memmove", EFFECT, (source: Address, dest: Address, size: Signed) -> Void;
                RawLoad = "raw_load", READ, (address: Any, offset: Signed) -> Any;
                RawStore = "raw_store", EFFECT, (address: Any, offset: Signed, value: Any) -> Void;
                GcLoadIndexed = "gc_load_indexed", READ, (object: Pointer, index: Signed, scale: Signed, offset: Signed) -> Any;
                GcStoreIndexed = "gc_store_indexed", EFFECT, (object: Pointer, index: Signed, value: Any, scale: Signed, offset: Signed) -> Void;
                AdrAdd = "adr_add", FOLD, (address: Address, offset: Signed) -> Address;
                AdrSub = "adr_sub", FOLD, (address: Address, offset: Signed) -> Address;
                AdrDelta = "adr_delta", FOLD, (left: Address, right: Address) -> Signed;
                AdrLt = "adr_lt", FOLD, (left: Address, right: Address) -> Bool;
                AdrLe = "adr_le", FOLD, (left: Address, right: Address) -> Bool;
                AdrEq = "adr_eq", FOLD, (left: Address, right: Address) -> Bool;
                AdrNe = "adr_ne", FOLD, (left: Address, right: Address) -> Bool;
                AdrGt = "adr_gt", FOLD, (left: Address, right: Address) -> Bool;
                AdrGe = "adr_ge", FOLD, (left: Address, right: Address) -> Bool;
                CastPtrToAdr = "cast_ptr_to_adr", READ, (value: Pointer) -> Address;
                CastAdrToPtr = "cast_adr_to_ptr", FOLD, (value: Address) -> Pointer;
                CastAdrToInt = "cast_adr_to_int", READ, (value: Address) -> Signed;
                CastIntToAdr = "cast_int_to_adr", FOLD, (value: Signed) -> Address;
                JitEnter = "jit_enter", EFFECT | GC, (driver: Signed, greens: [Any]) -> Function;
                WeAreJitted = "we_are_jitted", READ, () -> Bool;
                JitIsConstant = "jit_is_constant", READ, (value: Any, most: (Signed?)) -> Bool;
                JitAssertGreen = "jit_assert_green", EFFECT, (value: Any) -> Void;
                JitTraceLength = "jit_trace_length", READ, () -> Signed;
                JitSetParam = "jit_set_param", EFFECT, (driver: Constant, name: Field, value: (Signed?)) -> Void;
                JitExit = "jit_exit", EFFECT, (cell: Signed, values: [Any]) -> Any;
                JitCount = "jit_count", EFFECT, (counter: Signed) -> Bool;
                JitForceQuasiImmutable = "jit_force_quasi_immutable", EFFECT, (object: Pointer, field: Field) -> Void;
                JitInvalidated = "jit_invalidated", EFFECT, (word: Signed) -> Bool;
                JitForceVirtual = "jit_force_virtual", EFFECT, (value: Any) -> Any;
                JitIsVirtual = "jit_is_virtual", READ, (value: Any) -> Bool;
                JitConditionalCall = "jit_conditional_call", EFFECT | RAISE | GC, (condition: Bool, callee: Function, args: [Any]) -> Void;
                JitConditionalCallValue = "jit_conditional_call_value", EFFECT | RAISE | GC, (value: Any, callee: Function, args: [Any]) -> Any;
                GcCollect = "gc__collect", EFFECT | GC, (generation: (Signed?)) -> Void;
                GcCollectMinor = "gc_collect_minor", EFFECT | GC, () -> Void;
                GcFqRegister = "gc_fq_register", EFFECT, (queue: Address, object: Pointer) -> Void;
                GcFqNextDead = "gc_fq_next_dead", EFFECT, (queue: Address) -> Pointer;
                GcRawrefcountInit = "gc_rawrefcount_init", EFFECT, (trigger: Address) -> Void;
                GcRawrefcountCreateLinkPypy = "gc_rawrefcount_create_link_pypy", EFFECT, (object: Pointer, pyobject: Address) -> Void;
                GcRawrefcountCreateLinkPyobj = "gc_rawrefcount_create_link_pyobj", EFFECT, (object: Pointer, pyobject: Address) -> Void;
                GcRawrefcountMarkDeallocating = "gc_rawrefcount_mark_deallocating", EFFECT, (marker: Pointer, pyobject: Address) -> Void;
                GcRawrefcountFromObj = "gc_rawrefcount_from_obj", READ, (object: Pointer) -> Address;
                GcRawrefcountToObj = "gc_rawrefcount_to_obj", READ, (pyobject: Address) -> Pointer;
                GcRawrefcountNextDead = "gc_rawrefcount_next_dead", EFFECT, () -> Address;
                GcIdentityhash = "gc_identityhash", READ | GC, (object: Pointer) -> Signed;
                GcId = "gc_id", READ | GC, (object: Pointer) -> Signed;
                GcCanMove = "gc_can_move", READ, (object: Pointer) -> Bool;
                GcMallocFilled = "gc_malloc_filled", EFFECT | GC, (ty: Type, flavor: Flavor, length: Signed) -> Pointer;
                GcMallocNursery = "gc_malloc_nursery", EFFECT, (ty: Type, flavor: Flavor) -> Pointer;
                GcReserve = "gc_reserve", EFFECT, (bytes: Signed) -> Address;
                GcReserveSlowly = "gc_reserve_slowly", EFFECT | GC, (bytes: Signed) -> Address;
                GcMallocReserved = "gc_malloc_reserved", EFFECT, (ty: Type, flavor: Flavor, room: Address, offset: Signed, length: (Signed?)) -> Pointer;
                GcWritebarrier = "gc_writebarrier", EFFECT, (object: Pointer, index: (Signed?)) -> Void;
                GcWritebarrierBeforeCopy = "gc_writebarrier_before_copy", EFFECT, (source: Pointer, dest: Pointer, source_start: Signed, dest_start: Signed, length: Signed) -> Bool;
                GcSaveRoot = "gc_save_root", EFFECT, (slot: Signed, root: Pointer) -> Void;
                GcRestoreRoot = "gc_restore_root", EFFECT, (slot: Signed) -> Pointer;
                GcEnterRootsFrame = "gc_enter_roots_frame", EFFECT, (slots: Signed) -> Void;
                GcLeaveRootsFrame = "gc_leave_roots_frame", EFFECT, (slots: Signed) -> Void;
                GcCopyArray = "gc_copy_array", EFFECT, (source: Pointer, dest: Pointer, source_start: Signed, dest_start: Signed, length: Signed) -> Void;
                WeakrefCreate = "weakref_create", READ | GC, (object: Pointer) -> Pointer;
                WeakrefDeref = "weakref_deref", READ, (weakref: Pointer) -> Pointer;
                StackCheck = "stack_check", EFFECT, () -> Bool;
                SameAs = "same_as", FOLD, (value: Any) -> Any;
                Hint = "hint", EFFECT, (value: Any, names: [Field]) -> Any;
                ThreadlocalrefGet = "threadlocalref_get", READ, (offset: Signed) -> Any;
                ThreadlocalrefStore = "threadlocalref_store", EFFECT, (offset: Signed, value: Any) -> Void;
                LlReadTimestamp = "ll_read_timestamp", EFFECT, () -> Signed;
                LlGetTimestampUnit = "ll_get_timestamp_unit", FOLD, () -> Signed;
                DebugPrint = "debug_print", EFFECT, (values: [Any]) -> Void;
                DebugAssert = "debug_assert", EFFECT, (condition: Bool, message: (Any?)) -> Void;
                DebugFatalerror = "debug_fatalerror", EFFECT, (message: Pointer) -> Void;
                DebugStartTraceback = "debug_start_traceback", EFFECT, (class: Pointer) -> Void;
                DebugRecordTraceback = "debug_record_traceback", EFFECT, () -> Void;
                DebugCatchException = "debug_catch_exception", EFFECT, (class: Pointer) -> Void;
                DebugReraiseTraceback = "debug_reraise_traceback", EFFECT, (class: (Pointer?)) -> Void;
                ExcType = "exc_type", READ, () -> Pointer;
                ExcValue = "exc_value", READ, () -> Pointer;
                ExcOccurred = "exc_occurred", READ, () -> Bool;
                ExcSet = "exc_set", EFFECT, (class: Pointer, value: Pointer) -> Void;
                ExcClear = "exc_clear", EFFECT, () -> Void;
            }
            notes {
                JitMarker = "jit_marker", (kind: Field, driver: Constant, shape: Constant, values: [Any]);
                JitForceVirtualizable = "jit_force_virtualizable", (object: Pointer);
                JitRecordExactClass = "jit_record_exact_class", (object: Pointer, class: Pointer);
                JitRecordExactValue = "jit_record_exact_value", (value: Any, known: Any);
                JitRecordKnownResult = "jit_record_known_result", (result: Any, function: Function, args: [Any]);
                Keepalive = "keepalive", (value: Any);
                DebugPrintTraceback = "debug_print_traceback", ();
                JitNote = "jit_note", (number: Signed);
            }
        }
    };
}
pub(crate) use plain_ops_table;

plain_ops_table!(plain_ops);

/// A pattern: the operations that make a number of one type of a number of another one. With a
/// name, of their [`View`](crate::View)s, where the name is the number.
#[macro_export]
macro_rules! conversion {
    () => {
        $crate::conversion!(@named plain [])
    };
    ($value:ident) => {
        $crate::conversion!(@named view [$value])
    };
    (@named $form:ident $value:tt) => {
        $crate::conversion!(@$form $value
            CastPrimitive
            CastBoolToInt
            CastBoolToUint
            CastBoolToFloat
            CastCharToInt
            CastUnicharToInt
            CastIntToChar
            CastIntToUnichar
            CastIntToUint
            CastIntToFloat
            CastIntToLonglong
            CastUintToInt
            CastUintToFloat
            CastLonglongToFloat
            CastUlonglongToFloat
            CastFloatToInt
            CastFloatToUint
            CastFloatToLonglong
            CastFloatToUlonglong
            TruncateLonglongToInt
        )
    };
    (@plain [] $($op:ident)*) => {
        $($crate::PlainOp::$op)|*
    };
    (@view [$value:ident] $($op:ident)*) => {
        $($crate::View::$op { $value })|*
    };
}

impl LLOp {
    /// [`FOLD`], [`READ`], [`EFFECT`], [`RAISE`], [`GC`], [`NOTE`].
    #[inline]
    pub fn flags(self) -> u8 {
        match self {
            LLOp::Num(..) => FOLD,
            LLOp::Plain(p) => p.flags(),
        }
    }

    /// Whether it may be dropped when its result is unused.
    #[inline]
    pub fn is_removable(self) -> bool {
        self.flags() & (EFFECT | RAISE) == 0
    }

    /// Whether it may be computed while compiling when its operands are constants.
    #[inline]
    pub fn can_fold(self) -> bool {
        self.flags() & FOLD != 0
    }

    /// Whether it may raise.
    #[inline]
    pub fn can_raise(self) -> bool {
        self.flags() & RAISE != 0
    }

    /// Whether it is executed by doing nothing.
    #[inline]
    pub fn is_note(self) -> bool {
        self.flags() & NOTE != 0
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

impl NumOp {
    /// Whether it has one operand, not two.
    pub fn is_unary(self) -> bool {
        use NumOp::*;
        matches!(self, IsTrue | Neg | Abs | Invert)
    }

    /// Whether its result is a Bool.
    pub fn is_comparison(self) -> bool {
        use NumOp::*;
        matches!(self, IsTrue | Lt | Le | Eq | Ne | Gt | Ge)
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
