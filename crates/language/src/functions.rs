//! Builtin functions.

use crate::Exc;

macro_rules! known_functions {
    ($($module:literal { $($variant:ident = $name:literal,)* })*) => {
        /// A function or class of the `rpython` package, or of one or two modules of Python, whose
        /// meaning in translated programs the compiler knows; a Python body of it serves import time
        /// only.
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
    "collections" {
        OrderedDict = "OrderedDict",
    }
    "gc" {
        GcCollect = "collect",
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
        RLonglong = "r_longlong",
        RInt64 = "r_int64",
        RUint = "r_uint",
        RUlonglong = "r_ulonglong",
        RUint64 = "r_uint64",
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
        CastAdrToInt = "cast_adr_to_int",
        CastIntToAdr = "cast_int_to_adr",
        RawMalloc = "raw_malloc",
        RawFree = "raw_free",
        RawMemcopy = "raw_memcopy",
        RawMemmove = "raw_memmove",
        RawMemclear = "raw_memclear",
        RawMemset = "raw_memset",
        RawMallocUsage = "raw_malloc_usage",
        WeakrefCreate = "weakref_create",
        WeakrefDeref = "weakref_deref",
    }
    "rpython.rtyper.lltypesystem.rffi" {
        Make = "make",
        CArray = "CArray",
        CArrayPtr = "CArrayPtr",
    }
}

impl KnownFunction {
    /// The function of that name with its module: `rpython.rlib.rarithmetic.intmask`.
    pub fn qualified(name: &str) -> Option<KnownFunction> {
        let (module, name) = name.rsplit_once('.')?;
        KnownFunction::named(module, name)
    }

    /// Whether the integers of the type that it is have a sign, and how many bits; none if it is no
    /// integer type.
    pub const fn integer(self) -> Option<(bool, u8)> {
        use KnownFunction::*;
        match self {
            RInt | RLonglong | RInt64 => Some((true, 64)),
            RUint | RUlonglong | RUint64 => Some((false, 64)),
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

/// What a function or class of `__builtin__` may raise implicitly when it is called by name; those that
/// are not listed raise nothing.
pub fn python_builtin_raises(name: &str) -> &'static [Exc] {
    match name {
        "int" | "float" | "chr" | "unichr" => &[Exc::ValueError],
        "unicode" => &[Exc::UnicodeDecodeError],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back() {
        for f in KnownFunction::ALL {
            let name = format!("{}.{}", f.module(), f.name());
            assert_eq!(KnownFunction::qualified(&name), Some(*f));
            assert_eq!(
                f.name().starts_with("r_") && f.module().ends_with("rarithmetic"),
                f.integer().is_some() || *f == KnownFunction::RSinglefloat,
                "{name}"
            );
        }
    }
}
