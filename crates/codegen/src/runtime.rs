//! The functions of the runtime and of the C library that code calls by itself, each declared once, and
//! the operations that are such calls.
//!
//! A function is added by a line in [`runtime_functions`](self) and one in the runtime; an operation that calls it
//! with its operands by one line in [`operations`](self). C's header, LLVM's declarations and Cranelift's
//! signatures are made of these lines.

use taipan_lltype::{LLOperand, LLType, STR, TypeKind, View};

/// What C has for an argument or a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CType {
    /// Nothing.
    Void,
    /// One byte.
    Bool,
    /// `int`
    Int32,
    /// 64 bits.
    Signed,
    /// As many bits as addresses have.
    Word,
    /// 128 bits.
    Int128,
    /// The same without a sign.
    UInt128,
    /// A `double`.
    Float,
    /// The address of an object or of memory.
    Pointer,
    /// The address of what the function does not write to.
    Constant,
}

/// How often a function is called, as far as that is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Calls {
    /// Nobody knows.
    Usual,
    /// Where something is wrong or written for people.
    Rare,
    /// The same, and it does not return.
    Last,
    /// On slow paths: all registers are as they were, and arguments and the result are in memory
    /// (`gc/slow.rs` of the runtime).
    Slow,
}

/// A function that code calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuntimeFunction {
    /// Its symbol.
    pub name: &'static str,
    /// How it is called.
    pub calls: Calls,
    /// Names and types of its arguments.
    pub args: &'static [(&'static str, CType)],
    /// Its result.
    pub result: CType,
}

macro_rules! functions {
    (
        $(#[$all:meta])* $list:ident:
        $($v:ident = $name:literal, $calls:ident, ($($arg:ident: $ty:ident),*) -> $result:ident;)*
    ) => {
        $(
            #[doc = concat!("`", $name, "`")]
            pub const $v: RuntimeFunction = RuntimeFunction {
                name: $name,
                calls: Calls::$calls,
                args: &[$((stringify!($arg), CType::$ty)),*],
                result: CType::$result,
            };
        )*
        $(#[$all])*
        pub const $list: &[RuntimeFunction] = &[$($v),*];
    };
}

functions! {
    /// The functions of the runtime.
    RUNTIME_FUNCTIONS:
    GC_MALLOC_FIXED = "rpy_gc_malloc_fixed", Usual, (info: Constant) -> Pointer;
    GC_MALLOC_VARSIZE = "rpy_gc_malloc_varsize", Usual, (info: Constant, length: Word, zero: Bool) -> Pointer;
    SLOW_MALLOC = "rpy_slow_malloc", Slow, () -> Void;
    SLOW_MALLOC_FIXED = "rpy_slow_malloc_fixed", Slow, () -> Void;
    SLOW_MALLOC_VARSIZE = "rpy_slow_malloc_varsize", Slow, () -> Void;
    SURE_MALLOC = "rpy_sure_malloc", Slow, () -> Void;
    SURE_MALLOC_FIXED = "rpy_sure_malloc_fixed", Slow, () -> Void;
    SURE_MALLOC_VARSIZE = "rpy_sure_malloc_varsize", Slow, () -> Void;
    SLOW_WRITEBARRIER = "rpy_slow_writebarrier", Slow, () -> Void;
    SLOW_WRITEBARRIER_ARRAY = "rpy_slow_writebarrier_array", Slow, () -> Void;
    SLOW_DECREF = "rpy_slow_decref", Slow, () -> Void;
    GC_DECREF = "rpy_gc_decref", Usual, (object: Pointer) -> Void;
    GC_COLLECT = "rpy_gc_collect", Usual, () -> Void;
    GC_COLLECT_MINOR = "rpy_gc_collect_minor", Usual, () -> Void;
    GC_FQ_REGISTER = "rpy_gc_fq_register", Usual, (queue: Pointer, object: Pointer) -> Void;
    GC_FQ_NEXT_DEAD = "rpy_gc_fq_next_dead", Usual, (queue: Pointer) -> Pointer;
    GC_RAWREFCOUNT_INIT = "rpy_gc_rawrefcount_init", Usual, (trigger: Pointer) -> Void;
    GC_RAWREFCOUNT_CREATE_LINK_PYPY = "rpy_gc_rawrefcount_create_link_pypy", Usual, (object: Pointer, pyobject: Pointer) -> Void;
    GC_RAWREFCOUNT_CREATE_LINK_PYOBJ = "rpy_gc_rawrefcount_create_link_pyobj", Usual, (object: Pointer, pyobject: Pointer) -> Void;
    GC_RAWREFCOUNT_MARK_DEALLOCATING = "rpy_gc_rawrefcount_mark_deallocating", Usual, (marker: Pointer, pyobject: Pointer) -> Void;
    GC_RAWREFCOUNT_FROM_OBJ = "rpy_gc_rawrefcount_from_obj", Usual, (object: Pointer) -> Pointer;
    GC_RAWREFCOUNT_TO_OBJ = "rpy_gc_rawrefcount_to_obj", Usual, (pyobject: Pointer) -> Pointer;
    GC_RAWREFCOUNT_NEXT_DEAD = "rpy_gc_rawrefcount_next_dead", Usual, () -> Pointer;
    GC_IDENTITYHASH = "rpy_gc_identityhash", Usual, (object: Pointer) -> Signed;
    GC_ID = "rpy_gc_id", Usual, (object: Pointer) -> Signed;
    GC_CAN_MOVE = "rpy_gc_can_move", Usual, (object: Pointer) -> Bool;
    GC_WEAKREF_CREATE = "rpy_gc_weakref_create", Usual, (object: Pointer) -> Pointer;
    READ_TIMESTAMP = "rpy_read_timestamp", Usual, () -> Signed;
    ASSERT_FAILED = "rpy_assert_failed", Rare, () -> Void;
    CHECK_FAILED = "rpy_check_failed", Last, (what: Signed, location: Constant, frame: Pointer) -> Void;
    UNIT_CHECK_FAILED = "rpy_unit_check_failed", Last, (name: Constant, length: Word) -> Void;
    CHECKED_FREE = "rpy_checked_free", Usual, (memory: Pointer, location: Constant, frame: Pointer) -> Void;
    DEBUG_PRINT = "rpy_debug_print", Rare, (kind: Int32, word: Signed) -> Void;
    DEBUG_FATALERROR = "rpy_debug_fatalerror", Rare, (message: Pointer) -> Void;
    JIT_ENTER = "rpy_jit_enter", Usual, (driver: Signed, greens: Constant) -> Pointer;
    JIT_FIELD_WRITTEN = "rpy_jit_field_written", Usual, (field: Pointer) -> Void;
    F64_TO_I128 = "rpy_f64_to_i128", Usual, (value: Float) -> Int128;
    F64_TO_U128 = "rpy_f64_to_u128", Usual, (value: Float) -> UInt128;
    I128_TO_F64 = "rpy_i128_to_f64", Usual, (value: Int128) -> Float;
    U128_TO_F64 = "rpy_u128_to_f64", Usual, (value: UInt128) -> Float;
    I128_DIV = "rpy_i128_div", Usual, (left: Int128, right: Int128) -> Int128;
    I128_REM = "rpy_i128_rem", Usual, (left: Int128, right: Int128) -> Int128;
    U128_DIV = "rpy_u128_div", Usual, (left: UInt128, right: UInt128) -> UInt128;
    U128_REM = "rpy_u128_rem", Usual, (left: UInt128, right: UInt128) -> UInt128;
    CALLBACK_PREPARE = "rpy_callback_prepare", Usual, () -> Void;
    CALLBACK_ENTER = "rpy_callback_enter", Usual, () -> Signed;
    CALLBACK_LEAVE = "rpy_callback_leave", Usual, (taken: Signed) -> Void;
    GIL_RELEASE = "rpy_gil_release", Usual, () -> Void;
    GIL_ACQUIRE = "rpy_gil_acquire", Usual, () -> Void;
}

functions! {
    /// Functions of the C library.
    C_FUNCTIONS:
    MALLOC = "malloc", Usual, (size: Word) -> Pointer;
    CALLOC = "calloc", Usual, (count: Word, size: Word) -> Pointer;
    FREE = "free", Usual, (memory: Pointer) -> Void;
    MEMSET = "memset", Usual, (memory: Pointer, byte: Int32, size: Word) -> Pointer;
    MEMCPY = "memcpy", Usual, (to: Pointer, from: Constant, size: Word) -> Pointer;
    MEMMOVE = "memmove", Usual, (to: Pointer, from: Constant, size: Word) -> Pointer;
}

/// What makes an integer of 128 bits of a float.
pub fn f64_to_128(signed: bool) -> RuntimeFunction {
    if signed { F64_TO_I128 } else { F64_TO_U128 }
}

/// What makes a float of an integer of 128 bits.
pub fn f64_of_128(signed: bool) -> RuntimeFunction {
    if signed { I128_TO_F64 } else { U128_TO_F64 }
}

/// What divides integers of 128 bits: the quotient, or the remainder.
pub fn division_of_128(quotient: bool, signed: bool) -> RuntimeFunction {
    match (quotient, signed) {
        (true, true) => I128_DIV,
        (true, false) => U128_DIV,
        (false, true) => I128_REM,
        (false, false) => U128_REM,
    }
}

/// What [`DEBUG_PRINT`] is told at the end of a line.
pub const END_OF_LINE: i32 = 4;

/// What [`DEBUG_PRINT`] is told of a value of that type, whose bits it gets as a word.
pub fn printed_kind(ty: LLType) -> i32 {
    match ty.kind() {
        TypeKind::Float | TypeKind::SingleFloat => 1,
        TypeKind::Ptr(to) if *to == *STR => 2,
        TypeKind::Char => 3,
        TypeKind::Ptr(_) | TypeKind::Address => 5,
        TypeKind::Int(k) if !k.signed => 6,
        _ => 0,
    }
}

/// A call that an operation is.
pub type RuntimeCall<'a> = (RuntimeFunction, Vec<&'a LLOperand>);

macro_rules! operations {
    ($($view:ident { $($arg:ident),* } => $f:ident;)*) => {
        /// The call that an operation is, if it is one and nothing more.
        pub fn runtime_call<'a>(view: &View<'a, LLOperand>) -> Option<RuntimeCall<'a>> {
            match view {
                $(View::$view { $($arg,)* .. } => Some(($f, vec![$($arg),*])),)*
                _ => None,
            }
        }

        /// The operations that [`runtime_call`] knows, as a pattern.
        macro_rules! runtime_operation {
            () => { $(::taipan_lltype::View::$view { .. })|* };
        }
        pub(crate) use runtime_operation;
    };
}

operations! {
    GcCollect {} => GC_COLLECT;
    GcCollectMinor {} => GC_COLLECT_MINOR;
    GcFqRegister { queue, object } => GC_FQ_REGISTER;
    GcFqNextDead { queue } => GC_FQ_NEXT_DEAD;
    GcRawrefcountInit { trigger } => GC_RAWREFCOUNT_INIT;
    GcRawrefcountCreateLinkPypy { object, pyobject } => GC_RAWREFCOUNT_CREATE_LINK_PYPY;
    GcRawrefcountCreateLinkPyobj { object, pyobject } => GC_RAWREFCOUNT_CREATE_LINK_PYOBJ;
    GcRawrefcountMarkDeallocating { marker, pyobject } => GC_RAWREFCOUNT_MARK_DEALLOCATING;
    GcRawrefcountFromObj { object } => GC_RAWREFCOUNT_FROM_OBJ;
    GcRawrefcountToObj { pyobject } => GC_RAWREFCOUNT_TO_OBJ;
    GcRawrefcountNextDead {} => GC_RAWREFCOUNT_NEXT_DEAD;
    GcId { object } => GC_ID;
    GcCanMove { object } => GC_CAN_MOVE;
    WeakrefCreate { object } => GC_WEAKREF_CREATE;
    LlReadTimestamp {} => READ_TIMESTAMP;
    DebugFatalerror { message } => DEBUG_FATALERROR;
}
