//! Builtin functions by qualified name (RPython: `builtin.py` and the
//! `ExtRegistryEntry`s of rlib).

use std::sync::Arc;

use taipan_base::ErrorCode;
use taipan_graph::{Const, HlOp, IntKind};
use taipan_interp::constants::{float_of, has_attribute, int_of};
use taipan_interp::{Builtin, ObjData};
use taipan_language::{Codec, HelperFunction, Kind, PythonFunction};

use super::args::Arguments;
use super::operations::{Operand, is_instance, special_method};
use super::remedies::{CONSTANT_ATTRIBUTE, ORDER, counted, of_import_time};
use super::{Cx, Problem, constants, lowlevel};
use crate::Desc;
use crate::facts::Known;
use crate::val::{Atom, Step, Val, WeakClass};

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
    pub(super) fn call_builtin(&mut self, f: &Builtin, args: Arguments) -> Known<Val> {
        if args.positional.iter().any(|(_, v)| v.is_bottom()) {
            return Ok(Val::default());
        }
        let help = match f {
            Builtin::Known(known) => return self.call_known(*known, &args),
            Builtin::Operation(op) => return self.call_operation(*op, &args.vals()),
            Builtin::Helper(helper) => return Ok(self.call_helper(helper, &args)),
            Builtin::LowLevel(_) | Builtin::Marker(_) => {
                let Some(result) = args.vals().first().and_then(lowlevel::type_of) else {
                    let message = format!("{} needs a result type first", f.name());
                    return Ok(self.problem(ErrorCode::InvalidLowLevelArgument, message));
                };
                if let Builtin::LowLevel(op) = f {
                    self.check_low_level(*op, &args, result);
                }
                return Ok(lowlevel::lltype_to_annotation(result));
            }
            Builtin::Runtime(f) => return Ok(lowlevel::lltype_to_annotation(f.result.ty())),
            Builtin::FailedImport => {
                let vals = args.vals();
                let mut texts = vals.iter().filter_map(Val::const_str);
                let name = texts.next().unwrap_or_default().into();
                return Ok(self.report(Problem {
                    code: Some(ErrorCode::FailedImport),
                    at: self.place.at,
                    message: texts.next().unwrap_or_default().to_owned(),
                    help: texts.next().map(Into::into),
                    about: Some(taipan_base::Problem::FailedModule { name }),
                    subject: None,
                }));
            }
            Builtin::Flow(f) => return Ok(self.no_such_call(f.name(), args.positional.len())),
            Builtin::Shipped(f) => format!(
                "call it by its name, or call `{}` of {}",
                f.function, f.module
            ),
            Builtin::Other(name) => match name.strip_prefix("__builtin__.") {
                Some("sorted") if !args.keywords.is_empty() => {
                    let message = "sorted() is not RPython";
                    return Ok(self.problem_help(ErrorCode::NotCallable, message, Some(ORDER)));
                }
                Some(name) => return Ok(self.no_such_call(name, args.positional.len())),
                None => of_import_time(name).to_owned(),
            },
        };
        let message = format!("{} cannot be called in translated code", f.name());
        Ok(self.problem_help(ErrorCode::NotCallable, message, Some(help)))
    }

    /// Calls a function that is an operation, and was not known while the flow graph was built.
    fn call_operation(&mut self, op: HlOp, vals: &[Val]) -> Known<Val> {
        match (op, vals) {
            (HlOp::Bool, []) => return Ok(Val::const_bool(false)),
            (HlOp::Str, []) => return self.const_val(&Const::str("")),
            _ => {}
        }
        if !op.operands().contains(&vals.len()) {
            return Ok(self.no_such_call(op.name(), vals.len()));
        }
        let instance = |v: &Val| v.atoms.iter().any(is_instance);
        if special_method(op).is_some() && vals.first().is_some_and(instance) {
            return Ok(self.problem_help(
                ErrorCode::NotCallable,
                format!(
                    "{} is a value here, which cannot be called with an instance",
                    op.spelt()
                ),
                Some("call it by its name, or call the instance's method"),
            ));
        }
        let operand = |v: &Val| Operand {
            local: v.clone().into(),
            var: None,
        };
        let operands: Vec<Operand> = vals.iter().map(operand).collect();
        Ok(self.operation(op, &operands, &[])?.val)
    }

    /// A builtin that a prelude helper stands for.
    fn call_helper(&mut self, f: &HelperFunction, args: &Arguments) -> Val {
        let given = args.positional.len();
        let least = f.args.len() - f.defaults.len();
        if given < least || given > f.args.len() || !args.keywords.is_empty() {
            return self.problem(
                ErrorCode::InvalidArguments,
                format!(
                    "{}() takes {} ({given} given)",
                    f.name,
                    counted(f.args.len())
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
                    ErrorCode::InvalidBuiltinArgument,
                    format!("argument {} of {}() cannot be {got}", i + 1, f.name),
                );
            }
        }
        for e in f.raises {
            let class = super::exceptions::builtin_class(*e);
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
                    self.problem_help(
                        ErrorCode::InvalidWeakref,
                        format!("cannot take a weak reference to {got}"),
                        Some("refer to an instance of a class that holds it"),
                    )
                }
            },
            _ => self.problem_help(
                ErrorCode::InvalidWeakref,
                "a weak reference needs an instance that is not None",
                Some("put an `assert x is not None` in front"),
            ),
        }
    }

    /// Functions and types of `__builtin__`.
    pub(super) fn call_python(&mut self, f: PythonFunction, args: &Arguments) -> Known<Val> {
        use PythonFunction::*;
        let takes = |name: &str| match f {
            Enumerate => name == "start",
            Int => name == "base",
            Unicode => matches!(name, "encoding" | "errors"),
            _ => false,
        };
        if let Some((name, ..)) = args.keywords.iter().find(|(name, ..)| !takes(name)) {
            return Ok(self.no_keyword(f.name(), name));
        }
        let vals = &args.vals()[..];
        if !f.arguments().contains(&vals.len()) {
            return Ok(self.no_such_call(f.name(), vals.len()));
        }
        let argument = |i: usize| vals.get(i).cloned().unwrap_or_default();
        let (first, second) = (argument(0), argument(1));
        Ok(match f {
            Range | Xrange => self.range(vals),
            Enumerate => self.wrap_iterator("enumerate", &first),
            Reversed => self.wrap_iterator("reversed", &first),
            Chr => self.unary(HlOp::Chr, &first)?,
            Long => self.unary(HlOp::Long, &first)?,
            Int if vals.len() == 2 => self.int_with_base(&first, &second),
            Int => self.int(&first)?,
            Float if vals.is_empty() => self.const_val(&Const::float(0.0))?,
            Float => match first.const_.as_ref().and_then(float_of) {
                Some(f) => self.const_val(&Const::float(f))?,
                None => self.unary(HlOp::Float, &first)?,
            },
            Unichr => match first.const_i64().and_then(|i| u32::try_from(i).ok()) {
                Some(c) => self.const_val(&Const::Unicode(Arc::from([c])))?,
                None => Val::unichar(false),
            },
            Unicode if vals.len() == 2 => match second.const_str().and_then(Codec::named) {
                Some(Codec::Ascii) => Val::unicode(false),
                _ => self.problem_help(
                    ErrorCode::InvalidBuiltinArgument,
                    "`unicode()` with an encoding other than ASCII is not RPython",
                    Some("use the method: `s.decode('utf-8')`"),
                ),
            },
            Unicode => match constants::unicode_of(&first) {
                Some(text) => self.const_val(&Const::Unicode(text))?,
                None => Val::unicode(false),
            },
            Bytearray => Atom::ByteArray.into(),
            Tuple if vals.is_empty() => Val::tuple(Vec::new()),
            Tuple => match first.single() {
                Some(Atom::Tuple(_)) => first,
                _ => self.problem_help(
                    ErrorCode::InvalidBuiltinArgument,
                    "`tuple()` of something else than a tuple is not RPython",
                    Some("the length of a tuple is a part of its type: write its items out, or use a list"),
                ),
            },
            List if vals.is_empty() => self.new_list(&[], Step::List),
            List => match first.single() {
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
            Dict => self.new_dict().1,
            Zip => self.zip(vals),
            Min => self.join_all(vals.iter()).not_const(),
            Max => self.max(vals),
            Hasattr => self.hasattr(&first, &second)?,
            Callable => Val::bool_(),
            Bin => match first.ints() {
                Some(_) => Val::str_(false),
                None => self.no_such_call(f.name(), vals.len()),
            },
            Slice => {
                let parts = match vals.len() {
                    1 => [Val::none(), first, Val::none()],
                    2 => [first, second, Val::none()],
                    _ => [first, second, argument(2)],
                };
                Atom::Slice(Arc::new(parts)).into()
            }
        })
    }

    /// `int(x)`
    fn int(&mut self, of: &Val) -> Known<Val> {
        if let Some(i) = of.ints()
            && !i.is_bool()
            && i.kind().is_some_and(|k| !k.signed)
        {
            return Ok(self.problem_help(
                ErrorCode::InvalidBuiltinArgument,
                "int() of an unsigned integer",
                Some("use intmask()"),
            ));
        }
        match (of.const_.as_ref().and_then(int_of), of.ints()) {
            // A long is no value: that is a mistake.
            (Some(c), _) => self.const_val(&c),
            (_, Some(i)) => Ok(Val::int(IntKind::SIGNED, i.nonneg())),
            _ => self.unary(HlOp::Int, of),
        }
    }

    /// `int(text, base)`
    fn int_with_base(&mut self, text: &Val, base: &Val) -> Val {
        let is_text = matches!(text.non_none().single(), Some(Atom::Str { .. }));
        if !is_text || base.ints().is_none() {
            return self.problem(
                ErrorCode::InvalidBuiltinArgument,
                "int() with a base takes a byte string and an integer",
            );
        }
        Val::signed()
    }

    fn zip(&mut self, lists: &[Val]) -> Val {
        let mut items = Vec::new();
        for v in lists {
            let mut sum = Val::default();
            for a in &v.atoms {
                if matches!(
                    a,
                    Atom::Instance(_) | Atom::Int(_) | Atom::Float | Atom::Pbc(_)
                ) {
                    let what = self.facts.describe_atom(a);
                    return self.problem_help(
                        ErrorCode::InvalidBuiltinArgument,
                        format!("zip() of {what} is not RPython"),
                        Some("make a list of it first: `[x for x in items]`"),
                    );
                }
                let i = self.any_item(a, "");
                sum = self.join(&sum, &i);
            }
            items.push(sum);
        }
        let pair = Val::tuple(items);
        self.new_list(&[pair], Step::List)
    }

    /// The larger is no negative number if one of them is not.
    fn max(&mut self, vals: &[Val]) -> Val {
        let sum = self.join_all(vals.iter()).not_const();
        match sum.single() {
            Some(Atom::Int(i))
                if !i.is_bool() && vals.iter().any(|v| v.ints().is_some_and(|i| i.nonneg())) =>
            {
                Val::int_like(i.kind_or_widest(), true, *i)
            }
            _ => sum,
        }
    }

    pub(super) fn wrap_iterator(&mut self, variant: &'static str, of: &Val) -> Val {
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
            [start, stop, step, ..] => (start, stop, step),
            [] => (&zero, &zero, &one),
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
            return self.problem_help(ErrorCode::InvalidBuiltinArgument, message, help);
        }
        let n = step.const_i64().unwrap_or(0);
        if step.const_.is_some() && n == 0 {
            return self.problem(ErrorCode::InvalidBuiltinArgument, "range() with step zero");
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
            _ => {
                return Ok(self.problem_help(
                    ErrorCode::ConstantNeeded,
                    "the name of an attribute must be a constant",
                    Some(CONSTANT_ATTRIBUTE),
                ));
            }
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

    /// `instantiate(cls)`: an instance without `__init__`.
    pub(super) fn instantiate_pbc(&mut self, cls: &Val) -> Known<Val> {
        let Some(Atom::Pbc(descs)) = cls.single() else {
            return Ok(self.problem(
                ErrorCode::InvalidBuiltinArgument,
                "instantiate() needs a class",
            ));
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
