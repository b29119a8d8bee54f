//! Builtin functions by qualified name (RPython: `builtin.py` and the
//! `ExtRegistryEntry`s of rlib).

use std::sync::Arc;

use taipan_flow::FAILED_IMPORT;
use taipan_graph::{Const, IntKind};
use taipan_interp::ObjData;
use taipan_interp::constants::{float_of, has_attribute, int_of};
use taipan_prelude::{Kind, function};

use super::args::Arguments;
use super::{Cx, constants};
use crate::Desc;
use crate::facts::Known;
use crate::store::SlotKey;
use crate::val::{Atom, Ints, ListFlags, Step, Val, WeakClass};

/// The integer type of that name.
pub(crate) fn int_type(name: &str) -> Option<IntKind> {
    let (signed, bits) = match name {
        "r_int" | "r_longlong" | "r_int64" => (true, 64),
        "r_uint" | "r_ulonglong" | "r_uint64" => (false, 64),
        "r_longlonglong" => (true, 128),
        "r_ulonglonglong" => (false, 128),
        "r_int32" => (true, 32),
        "r_uint32" => (false, 32),
        "r_int16" | "r_short" => (true, 16),
        "r_uint16" | "r_ushort" => (false, 16),
        "r_int8" | "r_signedchar" => (true, 8),
        "r_uint8" | "r_uchar" => (false, 8),
        _ => return None,
    };
    Some(IntKind { signed, bits })
}

/// Functions and classes of the `rpython` package that annotator and RTyper know by
/// name; their Python bodies serve import time only.
pub fn is_known_builtin(module: &str, name: &str) -> bool {
    let known: &[&str] = match module {
        "rpython.rlib.rarithmetic" => {
            if int_type(name).is_some() {
                return true;
            }
            &[
                "intmask",
                "longlongmask",
                "longlonglongmask",
                "r_singlefloat",
                "widen",
                "ovfcheck",
                "int_between",
                "int_force_ge_zero",
                "is_valid_int",
                "uint_mul_high",
            ]
        }
        "collections" => &["OrderedDict"],
        "gc" => &["collect"],
        "rpython.rlib.objectmodel" => &[
            "instantiate",
            "r_dict",
            "r_ordereddict",
            "we_are_translated",
            "we_are_translated_to_c",
            "running_on_llinterp",
            "keepalive_until_here",
            "free_non_gc_object",
            "compute_hash",
            "compute_identity_hash",
            "compute_unique_id",
            "current_object_addr_as_int",
            "newlist_hint",
            "resizelist_hint",
            "list_get_physical_size",
            "likely",
            "unlikely",
            "is_annotation_constant",
            "prepare_dict_update",
            "reversed_dict",
            "iterkeys_with_hash",
            "iteritems_with_hash",
            "contains_with_hash",
            "setitem_with_hash",
            "getitem_with_hash",
            "delitem_with_hash",
            "delitem_if_value_is",
            "move_to_end",
            "revdb_flag_io_disabled",
            "revdb_enabled",
        ],
        "rpython.rlib.debug" => &[
            "ll_assert",
            "ll_assert_not_none",
            "debug_print",
            "debug_start",
            "debug_stop",
            "have_debug_prints",
            "have_debug_prints_for",
            "debug_offset",
            "debug_flush",
            "debug_forked",
            "check_annotation",
            "check_not_access_directly",
            "make_sure_not_resized",
            "mark_dict_non_null",
            "check_nonneg",
            "check_regular_int",
            "check_list_of_chars",
            "attach_gdb",
        ],
        "rpython.rlib.jit" => &[
            "hint",
            "promote",
            "promote_string",
            "promote_unicode",
            "we_are_jitted",
            "isconstant",
            "isvirtual",
            "current_trace_length",
            "jit_debug",
            "assert_green",
            "record_exact_class",
            "record_exact_value",
            "record_known_result",
            "enter_portal_frame",
            "leave_portal_frame",
            "force_virtualizable",
            "loop_unrolling_heuristic",
            "set_param",
            "set_param_to_default",
        ],
        "rpython.rlib.nonconst" => &["NonConstant"],
        "rpython.rlib.rstring" => &[
            "StringBuilder",
            "UnicodeBuilder",
            "assert_str0",
            "check_str0",
            "is_none_or_str",
        ],
        "rpython.rlib.longlong2float" => &["float2longlong", "longlong2float"],
        "rpython.rtyper.lltypesystem.llmemory" => &[
            "cast_adr_to_int",
            "cast_int_to_adr",
            "raw_malloc",
            "raw_free",
            "raw_memcopy",
            "raw_memmove",
            "raw_memclear",
            "raw_memset",
            "raw_malloc_usage",
            "weakref_create",
            "weakref_deref",
        ],
        "rpython.rtyper.lltypesystem.rffi" => &["make", "CArray", "CArrayPtr"],
        "rpython.rlib.rgc" => &[
            "collect",
            "can_move",
            "ll_for_resizable_list",
            "resizable_list_supporting_raw_ptr",
        ],
        "rpython.rtyper.annlowlevel" => &[
            "llstr",
            "hlstr",
            "llunicode",
            "hlunicode",
            "cast_instance_to_base_ptr",
            "cast_base_ptr_to_instance",
            "cast_instance_to_gcref",
            "cast_gcref_to_instance",
            "checked_cast_gcref_to_instance",
            "llhelper",
        ],
        _ => return function(&format!("{module}.{name}")).is_some(),
    };
    known.contains(&name) || function(&format!("{module}.{name}")).is_some()
}

/// Attributes of all functions and all classes.
const EVERYWHERE: [&str; 6] = [
    "__name__",
    "__module__",
    "__doc__",
    "__dict__",
    "__class__",
    "__call__",
];

impl Cx<'_> {
    /// Calls a builtin. Bottom where an argument is not there yet.
    pub(super) fn call_builtin(&mut self, name: &str, args: Arguments) -> Known<Val> {
        let name = name
            .strip_prefix("rpython.rtyper.lltypesystem.")
            .unwrap_or(name);
        if args.positional.iter().any(|(_, v)| v.is_bottom()) {
            return Ok(Val::default());
        }
        if let Some(v) = self.call_low_level(name, &args) {
            return Ok(v);
        }
        if let Some(short) = name.strip_prefix("__builtin__.") {
            return self.call_python_builtin(short, args);
        }
        if let Some(short) = name.strip_prefix("rpython.rlib.")
            && let Some(v) = self.call_rlib(short, &args)?
        {
            return Ok(v);
        }
        if let Some(short) = name.strip_prefix("rpython.rtyper.annlowlevel.") {
            return self.call_annlowlevel(short, &args);
        }
        if let Some(f) = function(name) {
            return Ok(self.call_helper_backed(f, &args));
        }
        match name {
            "weakref.ref" | "_weakref.ref" | "_weakref.weakref" | "weakref.ReferenceType" => {
                return Ok(self.make_weakref(&args.vals()));
            }
            "gc.collect" => return Ok(Val::none()),
            FAILED_IMPORT => {
                let vals = args.vals();
                let mut texts = vals.iter().filter_map(Val::const_str);
                let message = texts.next().unwrap_or_default();
                return Ok(self.problem_help("TP0227", message, texts.next()));
            }
            "_taipan.show" | "_taipan.text" => return Ok(Val::str_(false)),
            "collections.OrderedDict" => return Ok(self.new_dict().1),
            "math.frexp" => {
                return Ok(Val::tuple(vec![Atom::Float.into(), Val::signed()]));
            }
            "math.modf" => {
                return Ok(Val::tuple(vec![Atom::Float.into(), Atom::Float.into()]));
            }
            "sys.getdefaultencoding" => return Ok(Val::str_(true)),
            // Mostly called for the sake of abstract base classes.
            _ if name.ends_with(".__init__") => return Ok(Val::none()),
            _ => {}
        }
        Ok(self.problem_help(
            "TP0302",
            format!("{name} cannot be called in translated code"),
            Some(
                "it is there while the program loads only; look for a replacement in rpython.rlib",
            ),
        ))
    }

    /// A builtin that a prelude helper stands for.
    fn call_helper_backed(&mut self, f: &taipan_prelude::Function, args: &Arguments) -> Val {
        let given = args.positional.len();
        let least = f.args.len() - f.defaults.len();
        if given < least || given > f.args.len() || !args.keywords.is_empty() {
            return self.problem(
                "TP0304",
                format!(
                    "{}() takes {} arguments ({given} given)",
                    f.name,
                    f.args.len()
                ),
            );
        }
        for (i, ((_, v), kind)) in args.positional.iter().zip(f.args).enumerate() {
            let fits = match v.single() {
                None => v.is_none() && *kind == Kind::StrOrNone,
                Some(Atom::Int(_)) => {
                    matches!(kind, Kind::Int | Kind::Nonneg | Kind::Float | Kind::Bool)
                }
                Some(Atom::Float) => *kind == Kind::Float,
                Some(Atom::Str { char_, .. }) => {
                    *char_ || matches!(kind, Kind::Str | Kind::StrOrNone)
                }
                _ => false,
            };
            if !fits {
                let got = self.facts.describe(v);
                return self.problem(
                    "TP0306",
                    format!("argument {} of {}() cannot be {got}", i + 1, f.name),
                );
            }
        }
        for name in f.raises.split_whitespace() {
            let class = taipan_interp::named_id(&format!("exceptions.{name}"));
            if self.use_class(class).is_err() {
                self.missing = true;
            }
        }
        match f.result {
            Kind::None => Val::none(),
            Kind::Bool => Val::bool_(),
            Kind::Int => Val::signed(),
            Kind::Nonneg => Val::nonneg(),
            Kind::Uint => Val::int(IntKind::UNSIGNED, false),
            Kind::Float => Atom::Float.into(),
            Kind::Char => Val::char_(false),
            Kind::Str => Val::str_(false),
            Kind::Str0 => Val::str_(true),
            Kind::StrOrNone => Val::str_(false).or_none(),
            Kind::Str0OrNone => {
                let default = args.positional.get(f.args.len() - 1).map(|(_, v)| v);
                let no_nul = default.is_none_or(|v| {
                    v.is_none() || matches!(v.single(), Some(Atom::Str { no_nul: true, .. }))
                });
                Val::str_(no_nul).or_none()
            }
        }
    }

    pub(super) fn make_weakref(&mut self, args: &[Val]) -> Val {
        match args {
            [v] if !v.none => match v.single() {
                Some(Atom::Instance(Some(c))) => Atom::WeakRef(WeakClass::Of(*c)).into(),
                _ => {
                    let got = self.facts.describe(v);
                    self.problem("TP0303", format!("cannot take a weak reference to {got}"))
                }
            },
            _ => self.problem_help(
                "TP0303",
                "a weak reference needs an instance that is not None",
                Some("put an `assert x is not None` in front"),
            ),
        }
    }

    /// Functions and types of `__builtin__`.
    fn call_python_builtin(&mut self, name: &str, args: Arguments) -> Known<Val> {
        use taipan_graph::HlOp;
        let vals = args.vals();
        let first = vals.first().cloned().unwrap_or_default();
        if let Some(op) = HlOp::from_name(name).filter(|o| {
            matches!(
                o,
                HlOp::Len
                    | HlOp::Abs
                    | HlOp::Ord
                    | HlOp::Chr
                    | HlOp::Hex
                    | HlOp::Oct
                    | HlOp::Str
                    | HlOp::Repr
                    | HlOp::Hash
                    | HlOp::Id
                    | HlOp::Iter
                    | HlOp::Next
                    | HlOp::Long
            )
        }) && vals.len() == 1
        {
            return self.unary(op, &first);
        }
        Ok(match (name, vals.len()) {
            ("range" | "xrange", _) => self.range(&vals),
            ("enumerate", 1 | 2) => self.wrap_iterator("enumerate", &first),
            ("reversed", 1) => self.wrap_iterator("reversed", &first),
            ("bool", 1) => {
                let operand = super::operations::Operand {
                    local: first.into(),
                    var: None,
                };
                self.bool_op(&operand)?.val
            }
            ("bool", 0) => Val::const_bool(false),
            ("int", 1) => {
                if let Some(i) = first.ints()
                    && !i.is_bool()
                    && i.kind().is_some_and(|k| !k.signed)
                {
                    return Ok(self.problem_help(
                        "TP0303",
                        "int() of an unsigned integer",
                        Some("use intmask()"),
                    ));
                }
                match (first.const_.as_ref().and_then(int_of), first.ints()) {
                    // A long is no value: that is a mistake.
                    (Some(c), _) => self.const_val(&c)?,
                    (_, Some(i)) => Val::int(IntKind::SIGNED, i.nonneg()),
                    _ => self.unary(HlOp::Int, &first)?,
                }
            }
            ("int", 2) => {
                let texts = matches!(first.non_none().single(), Some(Atom::Str { .. }));
                if !texts || vals[1].ints().is_none() {
                    return Ok(self.problem(
                        "TP0303",
                        "int() with a base takes a byte string and an integer",
                    ));
                }
                Val::signed()
            }
            ("float", 1) => match first.const_.as_ref().and_then(float_of) {
                Some(f) => self.const_val(&Const::float(f))?,
                None => self.unary(HlOp::Float, &first)?,
            },
            ("unichr", 1) => match first.const_i64().and_then(|i| u32::try_from(i).ok()) {
                Some(c) => self.const_val(&Const::Unicode(Arc::from([c])))?,
                None => Val::unichar(false),
            },
            ("unicode", 1) => match constants::unicode_of(&first) {
                Some(text) => self.const_val(&Const::Unicode(text))?,
                None => Val::unicode(false),
            },
            ("unicode", 2) => Val::unicode(false),
            ("str", 0) => self.const_val(&Const::str(""))?,
            ("float", 0) => self.const_val(&Const::float(0.0))?,
            ("bytearray", 0 | 1) => Atom::ByteArray.into(),
            ("tuple", 0) => Val::tuple(Vec::new()),
            ("tuple", 1) => match first.single() {
                Some(Atom::Tuple(_)) => first,
                _ => self.problem_help(
                    "TP0303",
                    "`tuple()` of something else than a tuple is not RPython",
                    Some("the length of a tuple is a part of its type: write its items out, or use a list"),
                ),
            },
            ("list", 0) => self.new_list(&[], Step::List),
            ("list", 1) => match first.single() {
                Some(Atom::List(site)) => {
                    let site = *site;
                    self.offspring(&[site])
                }
                _ => {
                    let mut items = Vec::new();
                    for a in &first.atoms {
                        items.push(self.any_item(a, ""));
                    }
                    self.new_list(&items, Step::List)
                }
            },
            ("dict", 0) => self.new_dict().1,
            ("zip", 2) => {
                let mut items = Vec::new();
                for v in &vals {
                    let mut sum = Val::default();
                    for a in &v.atoms {
                        let i = self.any_item(a, "");
                        sum = self.join(&sum, &i);
                    }
                    items.push(sum);
                }
                let pair = Val::tuple(items);
                self.new_list(&[pair], Step::List)
            }
            ("min", 2) => self.join_all(vals.iter()).not_const(),
            ("max", 2) => {
                let sum = self.join_all(vals.iter()).not_const();
                match sum.single() {
                    Some(Atom::Int(i))
                        if !i.is_bool()
                            && vals.iter().any(|v| v.ints().is_some_and(|i| i.nonneg())) =>
                    {
                        Val::int_like(i.kind_or_widest(), true, *i)
                    }
                    _ => sum,
                }
            }
            ("pow", 2) => self.binary(HlOp::Pow, &vals[0], &vals[1])?,
            ("pow", 3) => Val::signed(),
            ("divmod", 2) => self.binary(HlOp::DivMod, &vals[0], &vals[1])?,
            ("cmp", 2) => Val::signed(),
            ("isinstance", 2) => {
                let operand = super::operations::Operand {
                    local: first.into(),
                    var: None,
                };
                self.isinstance(&operand, &vals[1])?.val
            }
            ("hasattr", 2) => self.hasattr(&vals[0], &vals[1])?,
            ("getattr", 2) => self.getattr_op(&vals[0], &vals[1])?,
            ("setattr", 3) => self.setattr_op(&vals[0], &vals[1], &vals[2])?,
            ("callable", 1) => Val::bool_(),
            ("bin", 1) if first.ints().is_some() => Val::str_(false),
            ("slice", 1) => Atom::Slice(Arc::new([Val::none(), first, Val::none()])).into(),
            ("slice", 2) => Atom::Slice(Arc::new([first, vals[1].clone(), Val::none()])).into(),
            ("slice", 3) => Atom::Slice(Arc::new([first, vals[1].clone(), vals[2].clone()])).into(),
            _ => self.no_such_call(name, vals.len()),
        })
    }

    fn wrap_iterator(&mut self, variant: &'static str, of: &Val) -> Val {
        Atom::Iterator {
            variant,
            of: of.non_none().not_const(),
        }
        .into()
    }

    fn range(&mut self, args: &[Val]) -> Val {
        let one = Val::const_int(1);
        let zero = Val::const_int(0);
        let (start, stop, step) = match args {
            [stop] => (&zero, stop, &one),
            [start, stop] => (start, stop, &one),
            [start, stop, step] => (start, stop, step),
            _ => return self.problem("TP0304", "range() takes 1 to 3 arguments"),
        };
        for bound in args {
            let Some(wrong) = bound
                .atoms
                .iter()
                .find(|a| !matches!(a, Atom::Int(_) | Atom::Error))
            else {
                continue;
            };
            let message = format!(
                "`range()` of {} is not RPython",
                self.facts.describe_atom(wrong)
            );
            let help = matches!(wrong, Atom::Float | Atom::Str { .. });
            let help = help.then_some("make an integer of it with `int()`");
            return self.problem_help("TP0303", message, help);
        }
        let n = step.const_i64().unwrap_or(0);
        if step.const_.is_some() && n == 0 {
            return self.problem("TP0303", "range() with step zero");
        }
        let nonneg = |v: &Val| v.ints().is_some_and(|i| i.nonneg());
        let empty = n != 0
            && match (start.const_i64(), stop.const_i64()) {
                (Some(a), Some(b)) => (n > 0 && a >= b) || (n < 0 && a <= b),
                _ => false,
            };
        let items = if empty {
            Vec::new()
        } else {
            let up = n > 0 || nonneg(step);
            let item_nonneg = if up {
                nonneg(start)
            } else {
                n < 0 && (nonneg(stop) || stop.const_i64().is_some_and(|s| s >= -1))
            };
            vec![Val::int(IntKind::SIGNED, item_nonneg)]
        };
        self.new_list(&items, Step::Range(n))
    }

    fn hasattr(&mut self, x: &Val, name: &Val) -> Known<Val> {
        let name: Arc<str> = match (name.const_str(), &name.const_) {
            (Some(name), _) => name.into(),
            (None, Some(Const::Unicode(name))) if name.iter().all(|c| *c < 0x80) => name
                .iter()
                .map(|c| *c as u8 as char)
                .collect::<String>()
                .into(),
            _ => return Ok(self.problem("TP0307", "the name of an attribute must be a constant")),
        };
        let Some(Atom::Pbc(descs)) = x.single() else {
            let known = x.const_.as_ref().and_then(|c| has_attribute(c, &name));
            return Ok(known.map_or_else(Val::bool_, Val::const_bool));
        };
        let mut answers = Vec::new();
        for d in descs.iter() {
            let there = match d {
                Desc::Class(c) => {
                    EVERYWHERE.contains(&&*name) || self.facts.lookup(*c, &name)?.is_some()
                }
                Desc::Function(f) => {
                    EVERYWHERE.contains(&&*name)
                        || (self.facts.function(*f)?).is_some_and(|f| f.data.get(&name).is_some())
                }
                Desc::Frozen(o) => match self.facts.object(*o)?.as_deref() {
                    Some(ObjData::Instance(i)) => {
                        i.get(&name).is_some() || self.facts.lookup(i.class, &name)?.is_some()
                    }
                    Some(ObjData::Module { .. }) => self.facts.global(*o, &name)?.is_some(),
                    _ => false,
                },
                _ => return Ok(Val::bool_()),
            };
            answers.push(there);
        }
        let first = answers.first().copied();
        Ok(match first {
            Some(b) if answers.iter().all(|a| *a == b) && !x.none => Val::const_bool(b),
            _ => Val::bool_(),
        })
    }

    /// Functions of rlib; the name without `rpython.rlib.`. None: no such function.
    fn call_rlib(&mut self, name: &str, args: &Arguments) -> Known<Option<Val>> {
        let (module, func) = name.split_once('.').unwrap_or(("", name));
        let vals = args.vals();
        let first = vals.first().cloned().unwrap_or_default();
        Ok(Some(match (module, func) {
            ("rarithmetic", "intmask" | "ovfcheck_float_to_int") => Val::signed(),
            ("rarithmetic", "longlongmask") => Atom::Int(Ints::r_int()).into(),
            ("rarithmetic", "longlonglongmask") => Val::int(
                IntKind {
                    signed: true,
                    bits: 128,
                },
                false,
            ),
            ("rarithmetic", "ovfcheck") => first,
            ("rarithmetic", "widen") => match first.ints() {
                Some(i) => {
                    let k = i.kind_or_widest();
                    if k.bits < 64 || i.is_bool() {
                        Val::int(IntKind::SIGNED, i.nonneg())
                    } else {
                        first.not_const()
                    }
                }
                None => first,
            },
            ("rarithmetic", "int_between") => Val::bool_(),
            ("rarithmetic", "is_valid_int") => Val::const_bool(
                first
                    .ints()
                    .is_some_and(|i| i.is_bool() || i.kind().is_none_or(|k| k == IntKind::SIGNED)),
            ),
            ("rarithmetic", "int_force_ge_zero") => Val::nonneg(),
            ("rarithmetic", "uint_mul_high") => Val::int(IntKind::UNSIGNED, true),
            ("rarithmetic", "r_singlefloat") => Atom::SingleFloat.into(),
            ("rarithmetic", t) if int_type(t).is_some() => match int_type(t) {
                Some(k) => {
                    let v = Val::int_like(k, !k.signed, Ints::r_int());
                    match &first.const_ {
                        Some(Const::Int(i)) if k != IntKind::SIGNED => {
                            v.with_const(Some(Const::RInt(k, k.wrap(i128::from(*i)).into())))
                        }
                        _ => v,
                    }
                }
                None => return Ok(None),
            },
            ("objectmodel", "instantiate") => self.instantiate_pbc(&first)?,
            ("objectmodel", "r_dict" | "r_ordereddict") => {
                let (site, dict) = self.new_dict();
                if let [eq, hash, ..] = &vals[..] {
                    let pair = Val::tuple(vec![eq.clone(), hash.clone()]).not_const();
                    self.write(SlotKey::Custom(site), pair);
                }
                dict
            }
            ("objectmodel", "we_are_translated" | "we_are_translated_to_c") => {
                Val::const_bool(true)
            }
            ("objectmodel", "running_on_llinterp" | "revdb_flag_io_disabled" | "revdb_enabled") => {
                Val::const_bool(false)
            }
            ("objectmodel", "is_annotation_constant") => Val::const_bool(first.const_.is_some()),
            (
                "objectmodel",
                "keepalive_until_here"
                | "free_non_gc_object"
                | "resizelist_hint"
                | "prepare_dict_update",
            ) => {
                if func == "resizelist_hint"
                    && let Some(Atom::List(site)) = first.single()
                {
                    self.resize(*site);
                }
                Val::none()
            }
            (
                "objectmodel",
                "compute_hash"
                | "compute_identity_hash"
                | "compute_unique_id"
                | "current_object_addr_as_int",
            ) => Val::signed(),
            ("objectmodel", "newlist_hint") => {
                let list = self.new_list(&[], Step::List);
                // Room for items changes none of them.
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
            ("objectmodel", "list_get_physical_size") => Val::nonneg(),
            ("objectmodel", "likely" | "unlikely") => Val::bool_(),
            ("objectmodel", "reversed_dict") => match first.single() {
                Some(Atom::Dict(_)) => self.wrap_iterator("reversed", &first),
                _ => Val::default(),
            },
            (
                "objectmodel",
                "iterkeys_with_hash"
                | "iteritems_with_hash"
                | "contains_with_hash"
                | "setitem_with_hash"
                | "getitem_with_hash"
                | "delitem_with_hash"
                | "delitem_if_value_is"
                | "move_to_end",
            ) => {
                let mut rest = args.positional[1..].to_vec();
                // `last=` of move_to_end() is the only parameter that callers name.
                rest.extend(args.keywords.iter().map(|(_, s, v)| (s.clone(), v.clone())));
                self.call_method(&first, func, Arguments::positional(rest))?
            }
            ("debug", "ll_assert_not_none") => first.non_none(),
            ("debug", "make_sure_not_resized") => {
                for a in &first.atoms {
                    if let Atom::List(site) = a {
                        self.never_resized(*site);
                    }
                }
                first
            }
            ("debug", "check_annotation" | "check_not_access_directly" | "mark_dict_non_null") => {
                first
            }
            ("debug", "check_nonneg") => {
                if first.ints().is_some_and(|i| !i.nonneg()) {
                    self.problem("TP0309", "check_nonneg(): the integer may be negative")
                } else {
                    Val::none()
                }
            }
            ("debug", "check_regular_int" | "check_list_of_chars") => Val::none(),
            ("debug", "have_debug_prints" | "have_debug_prints_for") => Val::bool_(),
            ("debug", "debug_offset") => Val::signed(),
            ("debug", "debug_start" | "debug_stop") => Val::signed(),
            (
                "debug",
                "ll_assert" | "debug_print" | "debug_flush" | "debug_forked" | "attach_gdb",
            ) => Val::none(),
            ("jit", "hint" | "promote" | "promote_string" | "promote_unicode") => {
                self.check_hints(&args.keywords);
                first.not_const()
            }
            ("jit", "we_are_jitted" | "isvirtual" | "isconstant" | "loop_unrolling_heuristic") => {
                Val::bool_()
            }
            ("jit", "current_trace_length") => Val::signed(),
            ("jit", "record_exact_value") => {
                let known = vals.get(1).cloned().unwrap_or_default();
                self.join(&first, &known)
            }
            (
                "jit",
                "jit_debug"
                | "assert_green"
                | "record_exact_class"
                | "record_known_result"
                | "enter_portal_frame"
                | "leave_portal_frame"
                | "force_virtualizable"
                | "set_param"
                | "set_param_to_default",
            ) => Val::none(),
            ("nonconst", "NonConstant") => first.not_const(),
            ("rstring", "StringBuilder") => Atom::Builder { unicode: false }.into(),
            ("rstring", "UnicodeBuilder") => Atom::Builder { unicode: true }.into(),
            ("rstring", "assert_str0" | "check_str0") => match first.single() {
                Some(Atom::Str { char_, .. }) => Atom::Str {
                    char_: *char_,
                    no_nul: true,
                }
                .into(),
                _ => first,
            },
            ("rstring", "is_none_or_str") => Val::bool_(),
            ("longlong2float", "float2longlong") => Val::signed(),
            ("longlong2float", "longlong2float") => Atom::Float.into(),
            ("rgc", "collect") => Val::none(),
            ("rgc", "can_move") => Val::bool_(),
            ("rgc", "ll_for_resizable_list" | "resizable_list_supporting_raw_ptr") => {
                if let Some(Atom::List(site)) = first.single() {
                    self.resize(*site);
                }
                match func {
                    "ll_for_resizable_list" => {
                        let list = taipan_lltype::LLType::gc_list(*taipan_lltype::CHAR);
                        Atom::Ptr(list.ptr()).into()
                    }
                    _ => first,
                }
            }
            _ => return Ok(None),
        }))
    }

    /// `instantiate(cls)`: an instance without `__init__`.
    fn instantiate_pbc(&mut self, cls: &Val) -> Known<Val> {
        let Some(Atom::Pbc(descs)) = cls.single() else {
            return Ok(self.problem("TP0303", "instantiate() needs a class"));
        };
        let mut sum = Val::default();
        for d in descs.iter() {
            if let Desc::Class(c) = d {
                let i = self.instance(*c)?;
                sum = self.join(&sum, &i);
            }
        }
        Ok(sum)
    }
}
