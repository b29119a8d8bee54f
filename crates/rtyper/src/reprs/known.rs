//! Calls of known functions: one match over all of them, by what types them.

use taipan_language::KnownFunction;
use taipan_lltype::{ADDRESS, BOOL, FLOAT, GCREF, PlainOp, SIGNED, View};

use super::ptr::type_arg;
use super::{builtin, jit, lowlevel, rlib, weakref};
use crate::hop::{cbool, cvoid};
use crate::reprs::InstanceRepr;
use crate::{Hop, RType, Repr, TyperError, containers};

/// Types a call of a known function.
#[expect(clippy::too_many_lines, reason = "a table: an arm per function")]
pub(super) fn rtype(f: KnownFunction, hop: &Hop<'_>) -> RType {
    use KnownFunction::*;
    let root = || Repr::Instance(InstanceRepr::root());
    match f {
        Min | Max => builtin::min_max(hop, f == Min),
        Hasattr => {
            let help = "give the class the attribute, with None where it has no value, and write `x.a is not None`";
            builtin::constant_result(hop, f.name(), help)
        }
        Callable => {
            let help = "keep functions and other values apart, and compare by `is not None`";
            builtin::constant_result(hop, f.name(), help)
        }
        Zip => containers::rtype_zip(hop),
        Range | Xrange => containers::rtype_range(hop),
        Enumerate | Reversed => containers::newiter(hop),
        Dict => containers::rtype_newdict(hop),
        List if hop.nb_args() == 0 => containers::rtype_newlist(hop),
        List => builtin::by_first(hop, f, |r| r.rtype_bltn_list(hop)),
        Tuple => builtin::tuple(hop),
        Bytearray if hop.nb_args() == 0 => containers::bytearray_of_length(hop),
        Bytearray => builtin::by_first(hop, f, |r| r.rtype_bytearray(hop)),
        Int => builtin::by_first(hop, f, |r| r.rtype_int(hop)),
        Long => builtin::by_first(hop, f, |r| r.rtype_long(hop)),
        Float => builtin::by_first(hop, f, |r| r.rtype_float(hop)),
        Chr => builtin::by_first(hop, f, |r| r.rtype_chr(hop)),
        Unichr => builtin::by_first(hop, f, |r| r.rtype_unichr(hop)),
        Unicode => builtin::by_first(hop, f, |r| r.rtype_unicode(hop)),
        Bin => builtin::by_first(hop, f, |r| r.rtype_bin(hop)),
        Slice => builtin::known_result(hop, f),
        Frexp => containers::math_pair(hop, "frexp_mantissa", "frexp_exponent"),
        Modf => containers::math_pair(hop, "modf_fraction", "modf_integer"),
        Weakref => weakref::rtype_weakref_create(hop),
        ObjectInit | BaseExceptionInit => rlib::returns(hop, cvoid()),
        Show => containers::rtype_show(hop, false),
        Text => containers::rtype_show(hop, true),

        RInt | RUint | RLonglonglong | RUlonglonglong | RInt32 | RUint32 | RInt16 | RUint16
        | RInt8 | RUint8 | RSinglefloat => rlib::construct(hop),
        Intmask | Longlongmask => rlib::converted(hop, &Repr::signed()),
        Longlonglongmask | Widen => rlib::cast(hop),
        Ovfcheck => rlib::converted(hop, &hop.r_result.clone()),
        IntBetween => rlib::int_between(hop),
        IntForceGeZero => rlib::int_force_ge_zero(hop),
        IsValidInt => rlib::returns(hop, cbool(true)),
        UintMulHigh => rlib::uint_mul_high(hop),

        WeAreTranslated | WeAreTranslatedToC => rlib::returns(hop, cbool(true)),
        RunningOnLlinterp | RevdbEnabled | RevdbFlagIoDisabled => rlib::returns(hop, cbool(false)),
        // The annotator knows.
        IsAnnotationConstant => rlib::returns(hop, cbool(false)),
        KeepaliveUntilHere => rlib::keepalive(hop),
        FreeNonGcObject | PrepareDictUpdate => rlib::returns(hop, cvoid()),
        ComputeHash => match hop.args_r.first() {
            Some(r) => r.clone().methods().rtype_hash(hop),
            None => Err(TyperError::new("compute_hash() takes an argument")),
        },
        ComputeIdentityHash => rlib::identity(hop, PlainOp::GcIdentityhash),
        ComputeUniqueId | CurrentObjectAddrAsInt => rlib::identity(hop, PlainOp::GcId),
        Instantiate => rlib::instantiate(hop),
        Likely => rlib::branch_hint(hop, PlainOp::Likely),
        Unlikely => rlib::branch_hint(hop, PlainOp::Unlikely),
        RDict | ROrdereddict | OrderedDict => containers::rtype_newdict(hop),
        NewlistHint => containers::newlist_hint(hop),
        ResizelistHint => containers::resizelist_hint(hop),
        ListGetPhysicalSize => containers::list_get_physical_size(hop),
        ReversedDict => containers::newiter(hop),
        IterkeysWithHash | IteritemsWithHash | ContainsWithHash | SetitemWithHash
        | GetitemWithHash | DelitemWithHash | DelitemIfValueIs | MoveToEnd => {
            match hop.args_r.first().cloned() {
                Some(d @ Repr::Dict(_)) => d.methods().rtype_method(f.name(), hop),
                _ => Err(TyperError::new(format!("{}() needs a dict", f.name()))),
            }
        }

        // Assertions and output for debugging stay.
        LlAssert => rlib::ll_assert(hop),
        LlAssertNotNone
        | MakeSureNotResized
        | CheckAnnotation
        | CheckNonneg
        | CheckRegularInt
        | CheckListOfChars
        | CheckNotAccessDirectly
        | MarkDictNonNull => rlib::first_argument(hop),
        HaveDebugPrints => rlib::debug_output(hop, "rpy_debug_have_prints"),
        HaveDebugPrintsFor => rlib::debug_output(hop, "rpy_debug_have_prints_for"),
        DebugOffset => rlib::debug_output(hop, "rpy_debug_offset"),
        DebugStart => rlib::debug_output(hop, "rpy_debug_start"),
        DebugStop => rlib::debug_output(hop, "rpy_debug_stop"),
        DebugFlush => rlib::debug_output(hop, "rpy_debug_flush"),
        DebugForked => rlib::debug_output(hop, "rpy_debug_forked"),
        DebugPrint => rlib::debug_print(hop),
        AttachGdb => rlib::returns(hop, cvoid()),

        Hint => jit::hint(hop, &jit::true_keywords(hop)),
        Promote | PromoteString | PromoteUnicode => jit::hint(hop, &[f.name()]),
        WeAreJitted => jit::value(hop, PlainOp::WeAreJitted, 0),
        Isconstant => jit::value(hop, PlainOp::JitIsConstant, 1),
        Isvirtual => jit::value(hop, PlainOp::JitIsVirtual, 1),
        LoopUnrollingHeuristic => jit::loop_unrolling_heuristic(hop),
        CurrentTraceLength => jit::value(hop, PlainOp::JitTraceLength, 0),
        AssertGreen => jit::effect(hop, PlainOp::JitAssertGreen, 1),
        RecordExactClass => jit::record_exact_class(hop),
        RecordExactValue => jit::record_exact_value(hop),
        SetParam => jit::set_param(hop, true),
        SetParamToDefault => jit::set_param(hop, false),
        JitDebug | RecordKnownResult | EnterPortalFrame | LeavePortalFrame | ForceVirtualizable => {
            jit::nothing(hop)
        }
        NonConstant | AssertStr0 | CheckStr0 => rlib::first_argument(hop),

        StringBuilder => containers::new_builder(hop, false),
        UnicodeBuilder => containers::new_builder(hop, true),
        Float2longlong => rlib::float_bytes(hop, PlainOp::ConvertFloatBytesToLonglong, *SIGNED),
        Longlong2float => rlib::float_bytes(hop, PlainOp::ConvertLonglongBytesToFloat, *FLOAT),

        GcCollect | RgcCollect => rlib::gc_collect(hop),
        CanMove => {
            let v = crate::calls::low_arg(hop, 0)?;
            hop.exception_cannot_occur()?;
            Ok(Some(hop.genop(View::GcCanMove { object: &v }, *BOOL)))
        }
        LlForResizableList | ResizableListSupportingRawPtr => containers::char_list(hop),

        Malloc => lowlevel::malloc(hop, false),
        ScopedAlloc => lowlevel::malloc(hop, true),
        Free => lowlevel::free(hop),
        Nullptr => lowlevel::null(hop),
        TypeOf | Ptr | Array | GcArray | RenderImmortal | CArray | CArrayPtr => {
            lowlevel::nothing(hop)
        }
        CastPrimitive | CastPointer | CastOpaquePtr | CastIntToPtr => {
            lowlevel::cast_to_type(hop, 1)
        }
        CastAdrToPtr => lowlevel::cast_to_type(hop, 0),
        CastPtrToInt => lowlevel::on_pointer(hop, PlainOp::CastPtrToInt, *SIGNED),
        CastPtrToAdr => lowlevel::on_pointer(hop, PlainOp::CastPtrToAdr, *ADDRESS),
        Identityhash => lowlevel::on_pointer(hop, PlainOp::GcIdentityhash, *SIGNED),
        DirectFieldptr => lowlevel::direct_fieldptr(hop),
        DirectArrayitems => {
            let t = hop.r_result.lowleveltype();
            lowlevel::on_pointer(hop, PlainOp::DirectArrayitems, t)
        }
        DirectPtradd => lowlevel::direct_ptradd(hop),
        LengthOfSimpleGcarrayFromOpaque => lowlevel::gcarray_length(hop),
        Sizeof => type_arg(hop, 0).and_then(|t| lowlevel::sizeof(hop, t)),
        Offsetof => lowlevel::offsetof(hop),
        Itemoffsetof => lowlevel::itemoffsetof(hop),
        Cast => lowlevel::rffi_cast(hop),
        Make => lowlevel::make(hop),
        CastAdrToInt => lowlevel::address_as_int(hop),
        CastIntToAdr => lowlevel::on_pointer(hop, PlainOp::CastIntToAdr, *ADDRESS),
        WeakrefCreate => lowlevel::on_pointer(hop, PlainOp::WeakrefCreate, *GCREF),
        WeakrefDeref => lowlevel::weakref_deref(hop),
        RawMalloc => lowlevel::raw_malloc(hop),
        RawFree => lowlevel::raw(hop, PlainOp::RawFree),
        RawMemcopy => lowlevel::raw(hop, PlainOp::RawMemcopy),
        RawMemmove | RawMemmoveNoFree => lowlevel::raw(hop, PlainOp::RawMemmove),
        RawMemset => lowlevel::raw(hop, PlainOp::RawMemset),
        RawMemclear => lowlevel::raw(hop, PlainOp::RawMemclear),
        RawMallocUsage => lowlevel::cast_to_type(hop, 0),
        EmptyArray => lowlevel::empty_array(hop),
        // The annotator knows.
        HasField | IsArray | IsPointer => rlib::returns(hop, cbool(false)),
        Getdefaultencoding => rlib::returns(hop, cvoid()),

        // High-level values as what stands for them at the low level, and back.
        Llstr | Hlstr => rlib::same_pointer(hop, 0, &Repr::Str),
        Llunicode | Hlunicode => rlib::same_pointer(hop, 0, &Repr::Unicode),
        CastInstanceToBasePtr => rlib::same_pointer(hop, 0, &root()),
        CastInstanceToGcref => rlib::same_pointer(hop, 0, &root())
            .map(|v| v.map(|v| hop.genop(View::CastOpaquePtr { value: &v }, *GCREF))),
        CastGcrefToInstance => rlib::gcref_to_instance(hop),
        CheckedCastGcrefToInstance => rlib::checked_gcref_to_instance(hop),
        Llhelper => rlib::llhelper(hop),
        CastBasePtrToInstance => rlib::same_pointer(hop, 1, &root())
            .and_then(|v| v.map_or(Ok(None), |v| hop.convert_result(v, &root()).map(Some))),
    }
}
