//! The functions and classes for whose calls the compiler has code of its own.

use crate::Exc;

macro_rules! known_functions {
    ($($module:literal { $($variant:ident = $name:literal,)* })*) => {
        /// A function or class whose meaning in translated programs annotator and RTyper have code for;
        /// a Python body of it serves import time only.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum KnownFunction {
            $($(#[doc = concat!("`", $module, ".", $name, "`")] $variant,)*)*
        }

        impl KnownFunction {
            /// All of them, by module.
            pub const ALL: &'static [KnownFunction] = &[$($(KnownFunction::$variant,)*)*];

            /// The module that it belongs to.
            pub const fn module(self) -> &'static str {
                match self { $($(KnownFunction::$variant => $module,)*)* }
            }

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self { $($(KnownFunction::$variant => $name,)*)* }
            }

            /// The function of that name in a module.
            pub fn named(module: &str, name: &str) -> Option<KnownFunction> {
                match module {
                    $($module => match name {
                        $($name => Some(KnownFunction::$variant),)*
                        _ => None,
                    },)*
                    _ => None,
                }
            }
        }
    };
}

known_functions! {
    "BaseException" {
        BaseExceptionInit = "__init__",
    }
    "__builtin__" {
        Bin = "bin",
        Bytearray = "bytearray",
        Callable = "callable",
        Chr = "chr",
        Dict = "dict",
        Enumerate = "enumerate",
        Float = "float",
        Hasattr = "hasattr",
        Int = "int",
        List = "list",
        Long = "long",
        Max = "max",
        Min = "min",
        Range = "range",
        Reversed = "reversed",
        Slice = "slice",
        Tuple = "tuple",
        Unichr = "unichr",
        Unicode = "unicode",
        Xrange = "xrange",
        Zip = "zip",
    }
    "_taipan" {
        Show = "show",
        Text = "text",
    }
    "_weakref" {
        Weakref = "weakref",
    }
    "collections" {
        OrderedDict = "OrderedDict",
    }
    "gc" {
        GcCollect = "collect",
    }
    "math" {
        Frexp = "frexp",
        Modf = "modf",
    }
    "object" {
        ObjectInit = "__init__",
    }
    "rpython.rlib.debug" {
        LlAssert = "ll_assert",
        LlAssertNotNone = "ll_assert_not_none",
        DebugPrint = "debug_print",
        DebugStart = "debug_start",
        DebugStop = "debug_stop",
        HaveDebugPrints = "have_debug_prints",
        HaveDebugPrintsFor = "have_debug_prints_for",
        DebugOffset = "debug_offset",
        DebugFlush = "debug_flush",
        DebugForked = "debug_forked",
        CheckAnnotation = "check_annotation",
        CheckNotAccessDirectly = "check_not_access_directly",
        MakeSureNotResized = "make_sure_not_resized",
        MarkDictNonNull = "mark_dict_non_null",
        CheckNonneg = "check_nonneg",
        CheckRegularInt = "check_regular_int",
        CheckListOfChars = "check_list_of_chars",
        AttachGdb = "attach_gdb",
    }
    "rpython.rlib.jit" {
        Hint = "hint",
        Promote = "promote",
        PromoteString = "promote_string",
        PromoteUnicode = "promote_unicode",
        WeAreJitted = "we_are_jitted",
        Isconstant = "isconstant",
        Isvirtual = "isvirtual",
        CurrentTraceLength = "current_trace_length",
        JitDebug = "jit_debug",
        AssertGreen = "assert_green",
        RecordExactClass = "record_exact_class",
        RecordExactValue = "record_exact_value",
        RecordKnownResult = "record_known_result",
        EnterPortalFrame = "enter_portal_frame",
        LeavePortalFrame = "leave_portal_frame",
        ForceVirtualizable = "force_virtualizable",
        LoopUnrollingHeuristic = "loop_unrolling_heuristic",
        SetParam = "set_param",
        SetParamToDefault = "set_param_to_default",
    }
    "rpython.rlib.longlong2float" {
        Float2longlong = "float2longlong",
        Longlong2float = "longlong2float",
    }
    "rpython.rlib.nonconst" {
        NonConstant = "NonConstant",
    }
    "rpython.rlib.objectmodel" {
        Instantiate = "instantiate",
        RDict = "r_dict",
        ROrdereddict = "r_ordereddict",
        WeAreTranslated = "we_are_translated",
        WeAreTranslatedToC = "we_are_translated_to_c",
        RunningOnLlinterp = "running_on_llinterp",
        KeepaliveUntilHere = "keepalive_until_here",
        FreeNonGcObject = "free_non_gc_object",
        ComputeHash = "compute_hash",
        ComputeIdentityHash = "compute_identity_hash",
        ComputeUniqueId = "compute_unique_id",
        CurrentObjectAddrAsInt = "current_object_addr_as_int",
        NewlistHint = "newlist_hint",
        ResizelistHint = "resizelist_hint",
        ListGetPhysicalSize = "list_get_physical_size",
        Likely = "likely",
        Unlikely = "unlikely",
        IsAnnotationConstant = "is_annotation_constant",
        PrepareDictUpdate = "prepare_dict_update",
        ReversedDict = "reversed_dict",
        IterkeysWithHash = "iterkeys_with_hash",
        IteritemsWithHash = "iteritems_with_hash",
        ContainsWithHash = "contains_with_hash",
        SetitemWithHash = "setitem_with_hash",
        GetitemWithHash = "getitem_with_hash",
        DelitemWithHash = "delitem_with_hash",
        DelitemIfValueIs = "delitem_if_value_is",
        MoveToEnd = "move_to_end",
        RevdbFlagIoDisabled = "revdb_flag_io_disabled",
        RevdbEnabled = "revdb_enabled",
    }
    "rpython.rlib.rarithmetic" {
        RInt = "r_int",
        RUint = "r_uint",
        RLonglonglong = "r_longlonglong",
        RUlonglonglong = "r_ulonglonglong",
        RInt32 = "r_int32",
        RUint32 = "r_uint32",
        RInt16 = "r_int16",
        RUint16 = "r_uint16",
        RInt8 = "r_int8",
        RUint8 = "r_uint8",
        Intmask = "intmask",
        Longlongmask = "longlongmask",
        Longlonglongmask = "longlonglongmask",
        RSinglefloat = "r_singlefloat",
        Widen = "widen",
        Ovfcheck = "ovfcheck",
        IntBetween = "int_between",
        IntForceGeZero = "int_force_ge_zero",
        IsValidInt = "is_valid_int",
        UintMulHigh = "uint_mul_high",
    }
    "rpython.rlib.rgc" {
        RgcCollect = "collect",
        CanMove = "can_move",
        LlForResizableList = "ll_for_resizable_list",
        ResizableListSupportingRawPtr = "resizable_list_supporting_raw_ptr",
    }
    "rpython.rlib.rstring" {
        StringBuilder = "StringBuilder",
        UnicodeBuilder = "UnicodeBuilder",
        AssertStr0 = "assert_str0",
        CheckStr0 = "check_str0",
    }
    "rpython.rtyper.annlowlevel" {
        Llstr = "llstr",
        Hlstr = "hlstr",
        Llunicode = "llunicode",
        Hlunicode = "hlunicode",
        CastInstanceToBasePtr = "cast_instance_to_base_ptr",
        CastBasePtrToInstance = "cast_base_ptr_to_instance",
        CastInstanceToGcref = "cast_instance_to_gcref",
        CastGcrefToInstance = "cast_gcref_to_instance",
        CheckedCastGcrefToInstance = "checked_cast_gcref_to_instance",
        Llhelper = "llhelper",
    }
    "rpython.rtyper.lltypesystem.llmemory" {
        CastPtrToAdr = "cast_ptr_to_adr",
        CastAdrToPtr = "cast_adr_to_ptr",
        Sizeof = "sizeof",
        Offsetof = "offsetof",
        Itemoffsetof = "itemoffsetof",
        CastAdrToInt = "cast_adr_to_int",
        CastIntToAdr = "cast_int_to_adr",
        RawMalloc = "raw_malloc",
        RawFree = "raw_free",
        RawMemcopy = "raw_memcopy",
        RawMemmove = "raw_memmove",
        RawMemmoveNoFree = "raw_memmove_no_free",
        RawMemclear = "raw_memclear",
        RawMemset = "raw_memset",
        RawMallocUsage = "raw_malloc_usage",
        WeakrefCreate = "weakref_create",
        WeakrefDeref = "weakref_deref",
    }
    "rpython.rtyper.lltypesystem.lltype" {
        Malloc = "malloc",
        Free = "free",
        ScopedAlloc = "scoped_alloc",
        RenderImmortal = "render_immortal",
        Nullptr = "nullptr",
        TypeOf = "typeOf",
        Ptr = "Ptr",
        Array = "Array",
        GcArray = "GcArray",
        CastPointer = "cast_pointer",
        CastOpaquePtr = "cast_opaque_ptr",
        CastPtrToInt = "cast_ptr_to_int",
        CastIntToPtr = "cast_int_to_ptr",
        CastPrimitive = "cast_primitive",
        Identityhash = "identityhash",
        DirectFieldptr = "direct_fieldptr",
        DirectArrayitems = "direct_arrayitems",
        DirectPtradd = "direct_ptradd",
        LengthOfSimpleGcarrayFromOpaque = "length_of_simple_gcarray_from_opaque",
    }
    "rpython.rtyper.lltypesystem.rffi" {
        Cast = "cast",
        Make = "make",
        CArray = "CArray",
        CArrayPtr = "CArrayPtr",
    }
    "sys" {
        Getdefaultencoding = "getdefaultencoding",
    }
    "taipan_lowlevel" {
        HasField = "has_field",
        EmptyArray = "empty_array",
        IsArray = "is_array",
        IsPointer = "is_pointer",
    }
}

impl KnownFunction {
    /// What it may raise by itself; none where that depends on what it calls, or is not known.
    pub const fn raises(self) -> Option<&'static [Exc]> {
        use KnownFunction::*;
        match self {
            Chr | Float | Int | Unichr => Some(&[Exc::ValueError]),
            Unicode => Some(&[Exc::UnicodeDecodeError]),
            Frexp | Modf => Some(&[]),
            _ => None,
        }
    }

    /// Whether the integers of the type that it is have a sign, and how many bits; none if it is no
    /// integer type.
    pub const fn integer(self) -> Option<(bool, u8)> {
        use KnownFunction::*;
        match self {
            RInt => Some((true, 64)),
            RUint => Some((false, 64)),
            RLonglonglong => Some((true, 128)),
            RUlonglonglong => Some((false, 128)),
            RInt32 => Some((true, 32)),
            RUint32 => Some((false, 32)),
            RInt16 => Some((true, 16)),
            RUint16 => Some((false, 16)),
            RInt8 => Some((true, 8)),
            RUint8 => Some((false, 8)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back() {
        for f in KnownFunction::ALL {
            assert_eq!(KnownFunction::named(f.module(), f.name()), Some(*f));
            assert_eq!(
                f.name().starts_with("r_") && f.module().ends_with("rarithmetic"),
                f.integer().is_some() || *f == KnownFunction::RSinglefloat,
                "{f:?}"
            );
        }
    }
}

macro_rules! python_functions {
    ($($variant:ident = $least:literal..=$most:literal,)*) => {
        /// The functions and classes of Python among them, which are called with so many arguments.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum PythonFunction {
            $(#[doc = concat!("`", stringify!($variant), "`, in Python's own case")] $variant,)*
        }

        impl PythonFunction {
            /// How many arguments it takes in RPython.
            pub const fn arguments(self) -> std::ops::RangeInclusive<usize> {
                match self { $(PythonFunction::$variant => $least..=$most,)* }
            }

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self { $(PythonFunction::$variant => KnownFunction::$variant.name(),)* }
            }
        }
    };
}

python_functions! {
    Bin = 1..=1,
    Bytearray = 0..=1,
    Callable = 1..=1,
    Chr = 1..=1,
    Dict = 0..=0,
    Enumerate = 1..=2,
    Float = 0..=1,
    Hasattr = 2..=2,
    Int = 1..=2,
    List = 0..=1,
    Long = 1..=1,
    Max = 2..=2,
    Min = 2..=2,
    Range = 1..=3,
    Reversed = 1..=1,
    Slice = 1..=3,
    Tuple = 0..=1,
    Unichr = 1..=1,
    Unicode = 1..=2,
    Xrange = 1..=3,
    Zip = 2..=2,
}
