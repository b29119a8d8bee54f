//! Functions whose meaning the compiler knows (RPython: `builtin.py`, and the `ExtRegistryEntry`s of
//! rlib and lltypesystem).

use taipan_base::ErrorCode;
use taipan_graph::{Const, IntKind};
use taipan_language::{KnownFunction, PythonFunction};
use taipan_lltype::{CHAR, GCREF, LLType, OBJECT, STR, UNICODE};

use super::Cx;
use super::args::Arguments;
use super::lowlevel::{
    annotation_to_lltype, has_field, is_array, is_pointer, ll_type_val, lltype_to_annotation,
    number_type, simple_size, type_of,
};
use super::remedies::counted;
use crate::Desc;
use crate::facts::Known;
use crate::store::SlotKey;
use crate::val::{Atom, Ints, ListFlags, Step, Val};

/// The integer type that a function of `rarithmetic` is.
pub(crate) fn int_type(f: KnownFunction) -> Option<IntKind> {
    let (signed, bits) = f.integer()?;
    Some(IntKind { signed, bits })
}

/// The integer type that `rarithmetic` has under a name.
pub(crate) fn int_type_named(name: &str) -> Option<IntKind> {
    int_type(KnownFunction::named("rpython.rlib.rarithmetic", name)?)
}

impl Cx<'_> {
    /// Calls a known function with values that are there.
    #[expect(
        clippy::too_many_lines,
        reason = "a table: an arm per function, with few lines each"
    )]
    pub(super) fn call_known(&mut self, f: KnownFunction, args: &Arguments) -> Known<Val> {
        use KnownFunction::*;
        let vals = args.vals();
        let first = vals.first().cloned().unwrap_or_default();
        let ty = |i: usize| vals.get(i).and_then(type_of);
        Ok(match f {
            RInt | RUint | RLonglonglong | RUlonglonglong | RInt32 | RUint32 | RInt16 | RUint16
            | RInt8 | RUint8 => {
                let k = int_type(f).unwrap_or(IntKind::SIGNED);
                let v = Val::int_like(k, !k.signed, Ints::r_int());
                match &first.const_ {
                    Some(Const::Int(i)) if k != IntKind::SIGNED => {
                        v.with_const(Some(Const::RInt(k, k.wrap(i128::from(*i)).into())))
                    }
                    _ => v,
                }
            }
            RSinglefloat => Atom::SingleFloat.into(),
            Intmask => Val::signed(),
            Longlongmask => Atom::Int(Ints::r_int()).into(),
            Longlonglongmask => {
                let (signed, bits) = (true, 128);
                Val::int(IntKind { signed, bits }, false)
            }
            Ovfcheck => first,
            Widen => widened(first),
            IntBetween => Val::bool_(),
            IsValidInt => Val::const_bool(is_valid_int(&first)),
            IntForceGeZero => Val::nonneg(),
            UintMulHigh => Val::int(IntKind::UNSIGNED, true),

            Bin => self.call_python(PythonFunction::Bin, args)?,
            Bytearray => self.call_python(PythonFunction::Bytearray, args)?,
            Callable => self.call_python(PythonFunction::Callable, args)?,
            Chr => self.call_python(PythonFunction::Chr, args)?,
            Dict => self.call_python(PythonFunction::Dict, args)?,
            Enumerate => self.call_python(PythonFunction::Enumerate, args)?,
            Float => self.call_python(PythonFunction::Float, args)?,
            Hasattr => self.call_python(PythonFunction::Hasattr, args)?,
            Int => self.call_python(PythonFunction::Int, args)?,
            List => self.call_python(PythonFunction::List, args)?,
            Long => self.call_python(PythonFunction::Long, args)?,
            Max => self.call_python(PythonFunction::Max, args)?,
            Min => self.call_python(PythonFunction::Min, args)?,
            Range => self.call_python(PythonFunction::Range, args)?,
            Reversed => self.call_python(PythonFunction::Reversed, args)?,
            Slice => self.call_python(PythonFunction::Slice, args)?,
            Tuple => self.call_python(PythonFunction::Tuple, args)?,
            Unichr => self.call_python(PythonFunction::Unichr, args)?,
            Unicode => self.call_python(PythonFunction::Unicode, args)?,
            Xrange => self.call_python(PythonFunction::Xrange, args)?,
            Zip => self.call_python(PythonFunction::Zip, args)?,
            Getdefaultencoding => self.const_val(&Const::str("ascii"))?,
            Frexp => Val::tuple(vec![Atom::Float.into(), Val::signed()]),
            Modf => Val::tuple(vec![Atom::Float.into(), Atom::Float.into()]),
            Weakref => self.make_weakref(&vals),
            // Mostly called for the sake of abstract base classes.
            ObjectInit | BaseExceptionInit => Val::none(),
            Show | Text => Val::str_(false),

            OrderedDict => match (&vals[..], args.keywords.first()) {
                (_, Some((name, ..))) => self.no_keyword(f.name(), name),
                ([], None) => self.new_dict().1,
                _ => self.problem_help(
                    ErrorCode::NotCallable,
                    format!("OrderedDict() with {} is not RPython", counted(vals.len())),
                    Some("store one item after the other in an empty one"),
                ),
            },
            Instantiate => self.instantiate_pbc(&first)?,
            RDict | ROrdereddict => self.custom_dict(&vals),
            WeAreTranslated | WeAreTranslatedToC => Val::const_bool(true),
            RunningOnLlinterp | RevdbFlagIoDisabled | RevdbEnabled => Val::const_bool(false),
            IsAnnotationConstant => Val::const_bool(first.const_.is_some()),
            KeepaliveUntilHere | FreeNonGcObject | PrepareDictUpdate => Val::none(),
            ResizelistHint => {
                self.resize_if_list(&first);
                Val::none()
            }
            ComputeHash | ComputeIdentityHash | ComputeUniqueId | CurrentObjectAddrAsInt => {
                Val::signed()
            }
            NewlistHint => self.list_with_room(),
            ListGetPhysicalSize => Val::nonneg(),
            Likely | Unlikely => Val::bool_(),
            ReversedDict => match first.single() {
                Some(Atom::Dict(_)) => self.wrap_iterator("reversed", &first),
                _ => Val::default(),
            },
            IterkeysWithHash | IteritemsWithHash | ContainsWithHash | SetitemWithHash
            | GetitemWithHash | DelitemWithHash | DelitemIfValueIs | MoveToEnd => {
                let mut rest = args.positional[1..].to_vec();
                // `last=` of move_to_end() is the only parameter that callers name.
                rest.extend(args.keywords.iter().map(|(_, s, v)| (s.clone(), v.clone())));
                self.call_method(&first, f.name(), Arguments::positional(rest))?
            }

            LlAssertNotNone => first.non_none(),
            MakeSureNotResized => self.list_never_resized(first),
            CheckAnnotation | CheckNotAccessDirectly | MarkDictNonNull => first,
            CheckNonneg => self.check_nonneg(first),
            CheckRegularInt => self.check_regular_int(first),
            CheckListOfChars => self.check_list_of_chars(first),
            HaveDebugPrints | HaveDebugPrintsFor => Val::bool_(),
            DebugOffset | DebugStart | DebugStop => Val::signed(),
            LlAssert | DebugPrint | DebugFlush | DebugForked | AttachGdb => Val::none(),

            Hint | Promote | PromoteString | PromoteUnicode => {
                self.check_hints(&args.keywords);
                first.not_const()
            }
            WeAreJitted | Isvirtual | Isconstant | LoopUnrollingHeuristic => Val::bool_(),
            CurrentTraceLength => Val::signed(),
            RecordExactValue => {
                let known = vals.get(1).cloned().unwrap_or_default();
                self.join(&first, &known)
            }
            JitDebug | AssertGreen | RecordExactClass | RecordKnownResult | EnterPortalFrame
            | LeavePortalFrame | ForceVirtualizable | SetParam | SetParamToDefault => Val::none(),
            NonConstant => first.not_const(),

            StringBuilder => Atom::Builder { unicode: false }.into(),
            UnicodeBuilder => Atom::Builder { unicode: true }.into(),
            AssertStr0 | CheckStr0 => without_nul(first),
            Float2longlong => Val::signed(),
            Longlong2float => Atom::Float.into(),

            GcCollect | RgcCollect => Val::none(),
            CanMove => Val::bool_(),
            LlForResizableList => {
                self.resize_if_list(&first);
                Atom::Ptr(LLType::gc_list(*CHAR).ptr()).into()
            }
            ResizableListSupportingRawPtr => {
                self.resize_if_list(&first);
                first
            }

            CastAdrToInt | RawMallocUsage => Val::signed(),
            CastIntToAdr | RawMalloc => Atom::Address.into(),
            RawFree | RawMemcopy | RawMemmove | RawMemmoveNoFree | RawMemclear | RawMemset => {
                Val::none()
            }
            WeakrefCreate => Atom::Ptr(*GCREF).into(),
            WeakrefDeref => match ty(0) {
                Some(t) => lltype_to_annotation(t),
                None => self.needs_type(f),
            },
            Make | Malloc | ScopedAlloc | Nullptr => match ty(0) {
                Some(t) => Atom::Ptr(t.ptr()).into(),
                None => self.needs_type(f),
            },
            Array | GcArray | CArray | CArrayPtr => self.array_type(f, &vals),
            Ptr => match ty(0) {
                Some(t) => ll_type_val(t.ptr()),
                None => self.needs_type(f),
            },
            TypeOf => match annotation_to_lltype(&first) {
                Some(t) => ll_type_val(t),
                None => self.problem(
                    ErrorCode::InvalidLowLevelArgument,
                    "typeOf() of a value without low-level type",
                ),
            },
            CastPointer | CastOpaquePtr | CastIntToPtr | CastAdrToPtr => {
                match ty(0).or_else(|| ty(1)) {
                    Some(t) => lltype_to_annotation(t),
                    None => self.needs_type(f),
                }
            }
            CastPrimitive | Cast => match number_type(&first) {
                Some(t) => lltype_to_annotation(t),
                None => self.needs_type(f),
            },
            CastPtrToInt | Identityhash | Offsetof | Itemoffsetof => Val::signed(),
            CastPtrToAdr => Atom::Address.into(),
            Free | RenderImmortal => Val::none(),
            DirectArrayitems => self.direct_arrayitems(&first),
            DirectFieldptr => self.direct_fieldptr(&vals),
            DirectPtradd => first,
            LengthOfSimpleGcarrayFromOpaque => Val::nonneg(),
            Sizeof => match ty(0).and_then(simple_size) {
                Some(size) => Val::const_int(size),
                None => Val::signed(),
            },
            HasField => Val::const_bool(has_field(&vals)),
            EmptyArray => match ty(0) {
                Some(t) => Atom::Ptr(t.ptr()).into(),
                None => self.needs_type(f),
            },
            IsArray => Val::const_bool(is_array(&first)),
            IsPointer => Val::const_bool(is_pointer(&first)),

            Llstr => Atom::Ptr(STR.ptr()).into(),
            Llunicode => Atom::Ptr(UNICODE.ptr()).into(),
            Hlstr => Val::str_(false),
            Hlunicode => Val::unicode(false),
            CastInstanceToBasePtr => Atom::Ptr(OBJECT.ptr()).into(),
            CastInstanceToGcref => Atom::Ptr(*GCREF).into(),
            Llhelper => match (ty(0), vals.get(1)) {
                (Some(t), Some(function)) => self.llhelper(t, function)?,
                _ => self.needs_type(f),
            },
            CastBasePtrToInstance | CastGcrefToInstance | CheckedCastGcrefToInstance => {
                match first.single() {
                    Some(Atom::Pbc(descs)) if let [Desc::Class(c)] = descs[..] => {
                        self.instance(c)?.or_none()
                    }
                    _ => self.problem(
                        ErrorCode::InvalidLowLevelArgument,
                        format!("{}() needs a constant class", f.name()),
                    ),
                }
            }
        })
    }

    fn custom_dict(&mut self, functions: &[Val]) -> Val {
        let (site, dict) = self.new_dict();
        if let [eq, hash, ..] = functions {
            let pair = Val::tuple(vec![eq.clone(), hash.clone()]).not_const();
            self.write(SlotKey::Custom(site), pair);
        }
        dict
    }

    fn resize_if_list(&mut self, v: &Val) {
        if let Some(Atom::List(site)) = v.single() {
            self.resize(*site);
        }
    }

    /// A list with room for items, which changes none of them.
    fn list_with_room(&mut self) -> Val {
        let list = self.new_list(&[], Step::List);
        if let Some(Atom::List(site)) = list.single() {
            let resized = true;
            self.list_flags(
                *site,
                ListFlags {
                    resized,
                    ..ListFlags::default()
                },
            );
        }
        list
    }

    fn list_never_resized(&mut self, lists: Val) -> Val {
        for a in &lists.atoms {
            if let Atom::List(site) = a {
                self.never_resized(*site);
            }
        }
        lists
    }

    fn check_nonneg(&mut self, v: Val) -> Val {
        if v.ints().is_some_and(|i| !i.nonneg()) {
            self.problem(
                ErrorCode::MaybeNegative,
                "check_nonneg(): the integer may be negative",
            );
        }
        v
    }

    fn check_regular_int(&mut self, v: Val) -> Val {
        let regular = |i: &Ints| i.is_bool() || i.kind() == Some(IntKind::SIGNED);
        if !v.is_bottom() && !v.ints().is_some_and(|i| regular(&i)) {
            self.problem(
                ErrorCode::InvalidBuiltinArgument,
                "check_regular_int(): this is no plain int",
            );
        }
        v
    }

    fn check_list_of_chars(&mut self, v: Val) -> Val {
        let mut item = Val::default();
        for a in &v.atoms {
            match a {
                Atom::List(site) => {
                    let i = self.read(SlotKey::Item(*site));
                    item = self.join(&item, &i);
                }
                other => item = self.join(&item, &other.clone().into()),
            }
        }
        let is_char = |a: &Atom| {
            matches!(
                a,
                Atom::Str { char_: true, .. } | Atom::Uni { char_: true, .. } | Atom::Error
            )
        };
        if item.none || !item.atoms.iter().all(is_char) {
            let got = self.facts.describe(&item);
            let message = format!("check_list_of_chars(): an item is {got}");
            self.problem(ErrorCode::InvalidBuiltinArgument, message);
        }
        v
    }

    fn needs_type(&mut self, f: KnownFunction) -> Val {
        self.problem(
            ErrorCode::InvalidLowLevelArgument,
            format!("{}() needs a constant type", f.name()),
        )
    }
}

fn widened(v: Val) -> Val {
    match v.ints() {
        Some(i) if i.kind_or_widest().bits < 64 || i.is_bool() => {
            Val::int(IntKind::SIGNED, i.nonneg())
        }
        Some(_) => v.not_const(),
        None => v,
    }
}

fn is_valid_int(v: &Val) -> bool {
    let valid = |i: &Ints| i.is_bool() || i.kind().is_none_or(|k| k == IntKind::SIGNED);
    v.ints().is_some_and(|i| valid(&i))
}

fn without_nul(v: Val) -> Val {
    match v.single() {
        Some(Atom::Str { char_, .. }) => Atom::Str {
            char_: *char_,
            no_nul: true,
        }
        .into(),
        _ => v,
    }
}
