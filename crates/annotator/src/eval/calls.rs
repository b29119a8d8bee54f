//! Calls: of functions, methods, classes, and of builtins by their tables
//! (RPython: `description.py`).

use std::sync::Arc;

use taipan_base::{ErrorCode, Help, did_you_mean};
use taipan_graph::{Const, IntKind, ObjId};
use taipan_interp::{InstanceData, ObjData, type_object};
use taipan_language::ShippedFunction;

use super::args::Arguments;
use super::jit::is_jit_marker;
use super::lowlevel::{annotation_to_lltype, func_text, lltype_to_annotation, type_text};
use super::passing::Passed;
use super::remedies::{BYTES_IN_FILES, INSTEAD, is_text_option, of_call};
use super::{CallRecord, Cx, Problem, Subject};
use crate::bounds::{FEW_COPIES, LONGEST_KEY, MOST_ARGUMENTS, MOST_COPIES};
use crate::facts::{FuncInfo, Known};
use crate::special::Specialization;
use crate::store::{SlotKey, SpecIx};
use crate::val::{Atom, Val, WeakClass};
use crate::{ArgSource, Desc};

impl Cx<'_> {
    /// Calls a value.
    pub(crate) fn call(&mut self, callee: &Val, args: Arguments) -> Known<Val> {
        let mut result = Val::default();
        for atom in &callee.atoms {
            let r = self.call_atom(atom, args.clone())?;
            result = self.join(&result, &r);
        }
        Ok(result)
    }

    fn call_atom(&mut self, atom: &Atom, args: Arguments) -> Known<Val> {
        match atom {
            Atom::Pbc(descs) => {
                if let Some(result) = self.call_set(descs, &args) {
                    return Ok(result);
                }
                let several = descs.len() > 1;
                let args = if several {
                    self.in_common_order(descs, args)?
                } else {
                    args
                };
                let outer = std::mem::replace(&mut self.several_callees, several);
                let results = self.for_all(descs.iter(), |cx, d| cx.call_desc(d, args.clone()));
                self.several_callees = outer;
                Ok(self.join_all(&results?))
            }
            Atom::Builtin(f) => self.call_builtin(f, args),
            Atom::BuiltinMethod { name, of } => self.call_method(of, name, args),
            Atom::WeakRef(WeakClass::Of(c)) => Ok(self.instance(*c)?.or_none()),
            Atom::WeakRef(WeakClass::Gone) => Ok(Val::none()),
            Atom::Ptr(t) => Ok(self.call_pointer(*t, &args)),
            Atom::LLFunc(f) => Ok(lltype_to_annotation(f.ty().result)),
            Atom::AdtMeth { ptr, name } => self.call_adt_method(*ptr, name, args),
            other => Ok(self.problem_help(
                ErrorCode::NotCallable,
                format!("cannot call {}", self.facts.describe_atom(other)),
                of_call(other),
            )),
        }
    }

    /// Calls one member of a PBC.
    pub(crate) fn call_desc(&mut self, desc: &Desc, args: Arguments) -> Known<Val> {
        match desc {
            Desc::Function(f) => match self.entry_of(*f)? {
                Some(entry) => self.call_entry(desc, *f, entry, args),
                None => self.call_function(desc, *f, "", args),
            },
            Desc::Method {
                func,
                self_class: Some(class),
                ..
            } => {
                let me = self.known_instance(*class)?;
                let args = args.prepend(ArgSource::Receiver, me);
                self.call_function(desc, *func, "", args)
            }
            Desc::FrozenMethod { func, frozen } => {
                let me = self.const_val(&Const::Obj(*frozen))?;
                let args = args.prepend(ArgSource::Receiver, me);
                self.call_function(desc, *func, "", args)
            }
            Desc::Class(c) => self.instantiate(*c, args),
            Desc::Method { name, .. } => Ok(self.problem(
                ErrorCode::NotCallable,
                format!("method {name} is called without an instance"),
            )),
            Desc::Frozen(o) => {
                let what = self.facts.describe_object(*o)?;
                Ok(self.problem(ErrorCode::NotCallable, format!("cannot call {what}")))
            }
        }
    }

    /// Calls a function; `copy` tells copies of it apart.
    pub(crate) fn call_function(
        &mut self,
        desc: &Desc,
        func: ObjId,
        copy: &str,
        args: Arguments,
    ) -> Known<Val> {
        let Some(info) = self.facts.function(func)? else {
            // A builtin in the place of a function (a class attribute).
            let v = self.const_val(&Const::Obj(func))?;
            return match v.single() {
                Some(Atom::Builtin(_) | Atom::BuiltinMethod { .. }) => self.call(&v, args),
                _ => Ok(self.problem(ErrorCode::NotCallable, "cannot call this object")),
            };
        };
        let instead = info.data.attrs.iter().find(|(name, _)| &**name == INSTEAD);
        if let Some(help) = instead.and_then(|(_, help)| help.as_str()) {
            let message = format!(
                "{}.{}() cannot be called in translated code",
                info.data.module, info.data.name
            );
            return Ok(self.problem_help(ErrorCode::NotCallable, message, Some(help)));
        }
        let mut defaults = Vec::new();
        for d in &info.data.defaults {
            defaults.push((ArgSource::Default(d.clone()), self.const_val(d)?));
        }
        if is_jit_marker(&info.data) {
            self.check_jit_marker(&info.data.name, desc, &args)?;
            if &*info.data.name == "jit_merge_point" {
                self.call_hooks(desc, &args)?;
            }
            return self.const_val(&Const::None);
        }
        let order = if self.several_callees {
            args.sources()
        } else {
            Vec::new()
        };
        let of_python_3 = args.keywords.iter().any(|(name, ..)| is_text_option(name));
        let builtin = ShippedFunction::of(&info.data.module, &info.data.name);
        // The program knows it by its name in Python.
        let name = builtin.map_or(&*info.data.name, |f| {
            f.name.trim_start_matches("__builtin__.")
        });
        let matched = match args.matched(name, &info.params, &defaults) {
            Ok(m) => m,
            Err(e) => {
                let several = self
                    .several_callees
                    .then_some("functions that one call may reach take the same arguments");
                let of_file = (of_python_3
                    && builtin.is_some_and(|f| f.name == "__builtin__.open"))
                .then_some(BYTES_IN_FILES);
                return Ok(self.report(Problem {
                    code: Some(ErrorCode::InvalidArguments),
                    at: self.place.at,
                    message: e.message,
                    help: (of_file.map(Help::from))
                        .or(e.help)
                        .or(several.map(Help::from)),
                    about: None,
                    subject: Some(Subject::Callee(func)),
                }));
            }
        };
        let (mut inputs, mut extra) = (matched.named, matched.extra);
        if !self.enforce(&info, &mut inputs)? {
            return Ok(Val::default());
        }
        if info.special == Specialization::Memo {
            return self.call_memo(desc, func, &info, inputs);
        }
        let stars = info.params.varargs.then_some(extra.len());
        let may_become_another = self.may_be_specialised_otherwise(&info, &inputs, &extra)?;
        let Some(mut key) = self.spec_key(&info, copy, stars, &mut inputs, &mut extra)? else {
            return Ok(Val::default());
        };
        // Functions that are called at the same place take the same arguments: the others
        // are constants inside.
        if self.several_callees {
            key = Passed::of_call(&mut inputs, &order).key(key);
        }
        inputs.extend(extra);
        let key: Arc<str> = key.into();
        if self.is_copied_endlessly(func, &key, inputs.len()) {
            return Ok(self.problem_help(
                ErrorCode::EndlessSpecialisation,
                format!("{}() is specialised without end", info.data.name),
                Some("pass what differs in each call of the recursion as an ordinary argument"),
            ));
        }
        let spec = self.store.spec(func, &key);
        if may_become_another && self.is_new_call(spec) {
            self.premature = true;
            return Ok(Val::default());
        }
        self.signal(SlotKey::Called(spec));
        let mut sources = Vec::with_capacity(inputs.len());
        for (i, (source, val)) in inputs.into_iter().enumerate() {
            self.write(SlotKey::Arg(spec, i as u32), val);
            sources.push(source);
        }
        self.record.calls.push(CallRecord {
            desc: desc.clone(),
            target: Some(spec),
            args: sources,
            memo: None,
            entry: None,
        });
        let result = self.read(SlotKey::Ret(spec));
        match self.declared_result(&info)? {
            Some(declared) => Ok(declared),
            None => Ok(result),
        }
    }

    /// Whether a copy of a function is one of endlessly many, each of which calls another.
    fn is_copied_endlessly(&self, func: ObjId, key: &Arc<str>, args: usize) -> bool {
        let store = &*self.store;
        let copies = store.specs_of(func);
        if copies.len() < FEW_COPIES || store.find_spec(func, key).is_some() {
            return false;
        }
        // Some may be left over from what the program was before.
        let called = |s: &&SpecIx| !store.value(&SlotKey::Called(**s)).is_bottom();
        args > MOST_ARGUMENTS
            || key.len() > LONGEST_KEY
            || copies.len() >= MOST_COPIES && copies.iter().filter(called).count() >= MOST_COPIES
    }

    /// Whether arguments that are more general would lead to another specialisation, and may
    /// come as long as the program is not solved. It is of no interest but while solving, to
    /// operations of functions.
    fn may_be_specialised_otherwise(
        &mut self,
        info: &FuncInfo,
        inputs: &[(ArgSource, Val)],
        extra: &[(ArgSource, Val)],
    ) -> Known<bool> {
        if !self.lazy || self.impatient || self.place.op.is_none() {
            return Ok(false);
        }
        let (indices, by_value) = match &info.special {
            Specialization::ArgOrVar(indices) => (indices, true),
            Specialization::ArgType(indices) => (indices, false),
            _ => return Ok(false),
        };
        let get = |i: &usize| {
            inputs
                .get(*i)
                .or_else(|| extra.get(i.checked_sub(inputs.len())?))
        };
        let args: Vec<&(ArgSource, Val)> = indices.iter().filter_map(get).collect();
        if by_value && !args.iter().all(|(_, v)| v.const_.is_some()) {
            return Ok(false);
        }
        for (source, v) in args {
            let literal = match source {
                ArgSource::Default(_) => true,
                ArgSource::Operand(i) => self.literals & 1u64.checked_shl(*i).unwrap_or(0) != 0,
                _ => false,
            };
            if !literal && (by_value || self.may_widen(v)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a value may get a type that is more general.
    fn may_widen(&mut self, v: &Val) -> Known<bool> {
        Ok(match v.atoms.first() {
            Some(Atom::Instance(Some(c))) => {
                self.facts.class(*c)?.is_some_and(|c| c.base.is_some())
            }
            Some(
                Atom::Float
                | Atom::Str { char_: false, .. }
                | Atom::Uni { char_: false, .. }
                | Atom::List(_)
                | Atom::Dict(_)
                | Atom::Tuple(_),
            ) => false,
            _ => true,
        })
    }

    /// Whether the node has not called it before.
    fn is_new_call(&self, spec: SpecIx) -> bool {
        !self.has_contributed(&SlotKey::Called(spec))
    }

    /// The specialisation that arguments lead to; may make the arguments more general
    /// in passing. None if they are not as the policy wants them.
    fn spec_key(
        &mut self,
        info: &FuncInfo,
        copy: &str,
        stars: Option<usize>,
        inputs: &mut [(ArgSource, Val)],
        extra: &mut [(ArgSource, Val)],
    ) -> Known<Option<String>> {
        let mut parts: Vec<String> = Vec::new();
        if !copy.is_empty() {
            parts.push(copy.to_owned());
        }
        let get = |i: usize| {
            inputs
                .get(i)
                .or_else(|| extra.get(i.checked_sub(inputs.len())?))
        };
        match &info.special {
            Specialization::Default | Specialization::Memo => {}
            Specialization::Arg(indices) => {
                for i in indices {
                    let Some((_, v)) = get(*i) else { continue };
                    let v = v.clone();
                    match self.value_key(&v) {
                        Some(k) => parts.push(k),
                        None => {
                            self.problem_help(
                                ErrorCode::SpecializedByVariable,
                                format!(
                                    "argument {} of {}() must be a constant: it is specialised by its value",
                                    i + 1,
                                    info.data.name
                                ),
                                Some("use specialize.arg_or_var if a variable may come too"),
                            );
                            return Ok(None);
                        }
                    }
                }
            }
            Specialization::ArgOrVar(indices) => {
                let vals: Vec<Val> = indices
                    .iter()
                    .filter_map(|i| get(*i).map(|(_, v)| v.clone()))
                    .collect();
                if vals.iter().all(|v| v.const_.is_some()) {
                    for v in &vals {
                        parts.extend(self.value_key(v));
                    }
                }
            }
            Specialization::ArgType(indices) => {
                for i in indices {
                    let Some((_, v)) = get(*i) else { continue };
                    let v = v.clone();
                    parts.push(self.type_key(&v)?);
                }
            }
            Specialization::ArgListItemType(i) => {
                if let Some((_, v)) = get(*i)
                    && let Some(Atom::List(site)) = v.single()
                {
                    let item = self.read(SlotKey::Item(*site));
                    parts.push(self.type_key(&item)?);
                }
            }
            Specialization::CallLocation => parts.push(format!("at {}", self.place.text())),
            Specialization::LowLevel | Specialization::LowLevelAndArg(_) => {
                let by_value: &[usize] = match &info.special {
                    Specialization::LowLevelAndArg(i) => i,
                    _ => &[],
                };
                for (i, (_, v)) in inputs.iter_mut().chain(extra).enumerate() {
                    parts.push(self.low_level_key(v, by_value.contains(&i)));
                }
            }
            Specialization::Unknown(tag) => {
                let name = tag.strip_prefix("specialize:").unwrap_or(tag);
                let name = name.split('(').next().unwrap_or(name);
                let help = did_you_mean(name, Specialization::NAMES);
                self.problem_help(
                    ErrorCode::InvalidSpecialization,
                    format!("there is no way of specialising called `{tag}`"),
                    help,
                );
                return Ok(None);
            }
        }
        if let Some(n) = stars {
            parts.push(format!("*{n}"));
        }
        Ok(Some(parts.join(", ")))
    }

    /// Text of a constant argument, for `specialize:arg`.
    fn value_key(&mut self, v: &Val) -> Option<String> {
        if let Some(c) = &v.const_ {
            return Some(c.to_string());
        }
        match v.single() {
            Some(Atom::LLType(t)) => Some(type_text(*t)),
            Some(Atom::LLFunc(f)) => Some(func_text(f)),
            Some(Atom::Pbc(descs)) if !v.none => match &descs[..] {
                [
                    Desc::Method {
                        func, self_class, ..
                    },
                ] => Some(format!("{func:?} of {self_class:?}")),
                [Desc::FrozenMethod { func, frozen }] => Some(format!("{func:?} of {frozen:?}")),
                [one] => Some(format!("{one:?}")),
                _ => None,
            },
            _ => None,
        }
    }

    /// The Python type of an argument, for `specialize:argtype`.
    fn type_key(&mut self, v: &Val) -> Known<String> {
        Ok(match v.atoms.first() {
            None if v.none => "NoneType".into(),
            None => "?".into(),
            Some(Atom::Int(i)) if i.is_bool() => "bool".into(),
            Some(Atom::Int(i)) => {
                let k = i.kind_or_widest();
                if i.is_r_int() {
                    "r_longlong".into()
                } else if k == IntKind::SIGNED {
                    "int".into()
                } else {
                    format!("r_{}int{}", if k.signed { "" } else { "u" }, k.bits)
                }
            }
            Some(Atom::Instance(Some(c))) => match self.facts.class(*c)? {
                Some(info) => format!("{}{c:?}", info.name),
                None => "object".into(),
            },
            Some(Atom::Ptr(t)) => type_text(*t),
            Some(a) => self.facts.kind_name(a).into(),
        })
    }

    /// Low-level type of an argument, which becomes all that is known of it; the value of
    /// functions, classes and other constants. What has no low-level type goes by its kind.
    fn low_level_key(&mut self, v: &mut Val, by_value: bool) -> String {
        let mut t = annotation_to_lltype(v).filter(|t| !t.is_void());
        let constant = match v.single() {
            Some(Atom::Instance(_)) => false,
            // Pointers to the compiler's own helpers only.
            Some(Atom::Str { char_: false, .. } | Atom::Uni { char_: false, .. })
                if !self.facts.helper_mode =>
            {
                t = None;
                false
            }
            _ => t.is_none(),
        };
        if (by_value || constant)
            && let Some(k) = self.value_key(v)
        {
            return format!("<{k}>");
        }
        if let Some(t) = t.filter(|_| !by_value) {
            *v = lltype_to_annotation(t);
            return type_text(t);
        }
        *v = v.not_const();
        let kind = v.atoms.first().map(|a| self.facts.kind_name(a));
        format!("<{}>", kind.unwrap_or("None"))
    }

    /// `@enforceargs` and `@signature`: makes the arguments what is declared. Answers
    /// false if they are not.
    fn enforce(&mut self, info: &FuncInfo, inputs: &mut [(ArgSource, Val)]) -> Known<bool> {
        let declared = match (
            info.data.get("_annenforceargs_"),
            info.data.get("_signature_"),
        ) {
            (Some(e), _) => e.clone(),
            (None, Some(Const::Tuple(pair))) => match pair.first() {
                Some(args) => args.clone(),
                None => return Ok(true),
            },
            _ => return Ok(true),
        };
        let types: Vec<Const> = match &declared {
            Const::Tuple(t) => t.to_vec(),
            Const::Obj(o) => match self.facts.object(*o)?.as_deref() {
                Some(ObjData::List(l)) => l.clone(),
                Some(ObjData::Instance(i)) => match i.get("argtypes") {
                    Some(Const::Tuple(t)) => t.to_vec(),
                    _ => return Ok(true),
                },
                _ => return Ok(true),
            },
            _ => return Ok(true),
        };
        let by_signature = info.data.get("_annenforceargs_").is_none();
        let given: Vec<Val> = inputs.iter().map(|(_, v)| v.clone()).collect();
        for (i, (t, (source, v))) in types.iter().zip(inputs.iter_mut()).enumerate() {
            let container = |a: &Atom| matches!(a, Atom::List(_) | Atom::Dict(_));
            if by_signature && v.atoms.iter().any(container) && self.declares_container(t)? {
                let got = self.facts.describe(v);
                let name = &info.data.name;
                self.problem_help(
                    ErrorCode::InvalidArgument,
                    format!(
                        "argument {} of {name}() is declared as a list or dict of its own, which {got} is not",
                        i + 1
                    ),
                    Some("declare it as types.any()"),
                );
                return Ok(false);
            }
            let declared = match self.declaring_function(t)? {
                Some(function) => self.declared_by(function, &given)?,
                None => self.declared_type(t, v)?,
            };
            let Some(declared) = declared else {
                continue;
            };
            let sum = declared.join(v, self).with_one_kind();
            if !declared.contains(&sum, self) {
                let (want, got) = (self.facts.describe(&declared), self.facts.describe(v));
                self.problem(
                    ErrorCode::InvalidArgument,
                    format!(
                        "argument {} of {}() is declared as {want}, but got {got}",
                        i + 1,
                        info.data.name
                    ),
                );
                return Ok(false);
            }
            // As in RPython a default value stays the constant that it is.
            if !matches!(source, ArgSource::Default(_)) {
                *v = declared;
            }
        }
        Ok(true)
    }

    /// Whether a declaration is one of `types.list()`, `types.array()` and `types.dict()`:
    /// these make a list or dict that is the same as no other one. One with a `ListDef`
    /// that the program has made itself may be the result of another function.
    fn declares_container(&mut self, t: &Const) -> Known<bool> {
        let Const::Obj(o) = t else { return Ok(false) };
        let class = match self.facts.object(*o)?.as_deref() {
            Some(ObjData::Instance(i)) if i.get("shared") != Some(&Const::Bool(true)) => i.class,
            _ => return Ok(false),
        };
        let name = self.facts.class(class)?.map(|c| c.name.clone());
        Ok(name.is_some_and(|n| matches!(n.rsplit('.').next(), Some("SomeList" | "SomeDict"))))
    }

    /// The result that `@signature` declares.
    fn declared_result(&mut self, info: &FuncInfo) -> Known<Option<Val>> {
        match info.data.get("_signature_") {
            Some(Const::Tuple(pair)) if pair.len() == 2 => {
                self.declared_type(&pair[1].clone(), &Val::default())
            }
            _ => Ok(None),
        }
    }

    /// The class of the program that a `SomeInstance` of a declaration is about.
    fn declared_class(&self, declared: &InstanceData) -> Known<Option<ObjId>> {
        let Some(Const::Obj(class)) = declared.get("classdef") else {
            return Ok(None);
        };
        Ok(match self.facts.object(*class)?.as_deref() {
            Some(ObjData::Class(c)) if !c.builtin => Some(*class),
            _ => None,
        })
    }

    /// The annotation that a declaration stands for: a type, a one-item list of one, a
    /// tuple of them, a marker of `rpython.rlib.types`. None: no constraint.
    pub(crate) fn declared_type(&mut self, t: &Const, given: &Val) -> Known<Option<Val>> {
        let v = match t {
            Const::None => return Ok(None),
            Const::Tuple(items) => {
                return self.declared_tuple(items, given);
            }
            Const::Obj(o) => match self.facts.object(*o)?.as_deref() {
                Some(ObjData::Class(c)) if c.builtin && &*c.module != "exceptions" => {
                    match &*c.name {
                        "int" | "r_int" => Val::signed(),
                        "bool" => Val::bool_(),
                        "float" => Atom::Float.into(),
                        "str" => Val::str_(false),
                        "unicode" => Val::unicode(false),
                        "NoneType" => Val::none(),
                        name => match super::known::int_type_named(name) {
                            Some(k) => Val::int(k, false),
                            None => return Ok(None),
                        },
                    }
                }
                Some(ObjData::Class(c)) if super::unary::is_singlefloat(c) => {
                    Atom::SingleFloat.into()
                }
                Some(ObjData::Class(c)) => match super::unary::rarithmetic_type(c) {
                    Some(ints) => Atom::Int(ints).into(),
                    None => self.instance(*o)?,
                },
                Some(ObjData::LLType(t)) if t.is_void() => given.clone(),
                Some(ObjData::LLType(t)) => lltype_to_annotation(*t),
                Some(ObjData::List(items)) if items.len() == 1 => {
                    self.declare_items(&items[0], given)?;
                    if let Some(Atom::List(site)) = given.single() {
                        self.resize(*site);
                    }
                    given.clone()
                }
                Some(ObjData::Instance(i)) => {
                    let class = self.facts.class(i.class)?;
                    match class
                        .as_deref()
                        .map(|c| c.name.rsplit('.').next().unwrap_or(""))
                    {
                        // `NOT_CONSTANT` is a bare object.
                        Some("object") => given.not_const(),
                        Some("SomeInteger") => Val::int(
                            self.declared_kind(i.get("knowntype"))?,
                            i.get("nonneg") == Some(&Const::Bool(true)),
                        ),
                        Some("SomeTuple") => {
                            return match i.get("items") {
                                Some(Const::Tuple(items)) => self.declared_tuple(items, given),
                                _ => Ok(None),
                            };
                        }
                        Some("SomeList") => {
                            if let Some(item) = i.get("item") {
                                self.declare_items(item, given)?;
                            }
                            given.clone()
                        }
                        Some("SomeBool") => Val::bool_(),
                        Some("SomeFloat") => Atom::Float.into(),
                        Some("SomeChar") => Val::char_(false),
                        Some("SomeUnicodeCodePoint") => Val::unichar(false),
                        Some("SomeString") => {
                            Val::str_(i.get("no_nul") == Some(&Const::Bool(true)))
                                .or_none_if(i.get("can_be_None") == Some(&Const::Bool(true)))
                        }
                        Some("SomeUnicodeString") => Val::unicode(false)
                            .or_none_if(i.get("can_be_None") == Some(&Const::Bool(true))),
                        Some("SomeNone") => Val::none(),
                        Some("SomeInstance") => match self.declared_class(i)? {
                            Some(class) => self
                                .instance(class)?
                                .or_none_if(i.get("can_be_None") == Some(&Const::Bool(true))),
                            None => return Ok(None),
                        },
                        _ => return Ok(None),
                    }
                }
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        Ok((!v.is_bottom()).then_some(v))
    }

    /// Makes the declared items part of those of a list that is given.
    fn declare_items(&mut self, item: &Const, given: &Val) -> Known<()> {
        let item = self.declared_type(item, &Val::default())?;
        if let (Some(item), Some(Atom::List(site))) = (item, given.single()) {
            self.write(SlotKey::Item(*site), item);
        }
        Ok(())
    }

    /// A tuple of declared items. An item without a constraint of its own is the one that
    /// is given; where none is, the tuple as a whole has no constraint.
    fn declared_tuple(&mut self, items: &[Const], given: &Val) -> Known<Option<Val>> {
        let given = match given.single() {
            Some(Atom::Tuple(parts)) if parts.len() == items.len() => parts.to_vec(),
            _ => vec![Val::default(); items.len()],
        };
        let mut vals = Vec::new();
        for (item, part) in items.iter().zip(given) {
            match self.declared_type(item, &part)? {
                Some(v) => vals.push(v),
                None if part.is_bottom() => return Ok(None),
                None => vals.push(part),
            }
        }
        Ok(Some(Val::tuple(vals)))
    }

    /// The kind of integers of a declared `SomeInteger`, by its class.
    fn declared_kind(&mut self, class: Option<&Const>) -> Known<IntKind> {
        Ok(match class {
            Some(Const::Obj(o)) => match self.facts.object(*o)?.as_deref() {
                Some(ObjData::Class(c)) => super::known::int_type_named(&c.name),
                _ => None,
            },
            _ => None,
        }
        .unwrap_or(IntKind::SIGNED))
    }

    /// Makes an instance.
    fn instantiate(&mut self, class: ObjId, args: Arguments) -> Known<Val> {
        let Some(info) = self.facts.class(class)? else {
            return self.instance(class);
        };
        if let Some((_, help)) = self.facts.lookup(class, INSTEAD)?
            && let Some(help) = help.as_str()
        {
            let message = format!("{} cannot be used in translated code", info.name);
            return Ok(self.problem_help(ErrorCode::NotCallable, message, Some(help)));
        }
        let me = self.instance(class)?;
        let special = self.facts.lookup(class, "_annspecialcase_")?;
        if special.is_some_and(|(_, c)| c.as_str() != Some("")) {
            self.problem_help(
                ErrorCode::SpecialisedClass,
                format!(
                    "class {} has `_annspecialcase_`: classes cannot be specialised",
                    info.name
                ),
                Some("make a subclass for each use, or mix in what they have in common"),
            );
        }
        let init = self.facts.lookup(class, "__init__")?;
        let record = CallRecord {
            desc: Desc::Class(class),
            target: None,
            args: Vec::new(),
            memo: None,
            entry: None,
        };
        match init {
            Some((_, Const::Obj(f))) if self.facts.function(f)?.is_some() => {
                let args = args.prepend(ArgSource::Instance, me.clone());
                let desc = Desc::Class(class);
                let result = self.call_function(&desc, f, "", args)?;
                self.unreturned = result.is_bottom();
                self.check_init_result(&info.name, &result);
                return Ok(me);
            }
            // Builtin exception classes take anything.
            _ if info.exception => {}
            _ if args.is_empty() => {}
            _ => {
                let help = match self.facts.lookup(class, "__new__")? {
                    Some(_) => {
                        "RPython calls no `__new__`: write a function that makes the instance"
                    }
                    None => "write an `__init__` that takes them",
                };
                self.problem_help(
                    ErrorCode::InvalidArguments,
                    format!("class {} has no __init__ and takes no arguments", info.name),
                    Some(help),
                );
            }
        }
        self.record.calls.push(record);
        Ok(me)
    }

    /// What `__init__` returns is forgotten; as in RPython it has to be None or an instance.
    fn check_init_result(&mut self, class: &str, result: &Val) {
        let instance = |a: &Atom| matches!(a, Atom::Instance(_));
        if result.atoms.iter().all(instance) || result.has_error() {
            return;
        }
        let got = self.facts.describe(result);
        self.problem(
            ErrorCode::InitReturns,
            format!("__init__() of class {class} returns {got}; it has to return None"),
        );
    }

    /// Calls a `specialize:memo` function: at compile time, for all values that the
    /// arguments can have.
    fn call_memo(
        &mut self,
        desc: &Desc,
        func: ObjId,
        info: &FuncInfo,
        inputs: Vec<(ArgSource, Val)>,
    ) -> Known<Val> {
        let mut combinations: Vec<Vec<Const>> = vec![Vec::new()];
        for (i, (_, v)) in inputs.iter().enumerate() {
            let Some(values) = self.all_values(v) else {
                let got = self.facts.describe(v);
                return Ok(self.problem(
                    ErrorCode::SpecializedByVariable,
                    format!(
                        "argument {} of the memo function {}() must be a class or a frozen constant, not {got}",
                        i + 1,
                        info.data.name
                    ),
                ));
            };
            combinations = combinations
                .into_iter()
                .flat_map(|c| {
                    values.iter().map(move |v| {
                        let mut c = c.clone();
                        c.push(v.clone());
                        c
                    })
                })
                .collect();
        }
        let answers = self.for_all(&combinations, |cx, args| cx.facts.memo(func, args))?;
        let mut table = Vec::new();
        let mut result = Val::default();
        for (args, answer) in combinations.into_iter().zip(answers) {
            match answer {
                Ok(value) => {
                    let v = self.const_val(&value)?;
                    result = self.join(&result, &v);
                    table.push((args, value));
                }
                Err(message) => {
                    return Ok(self.problem(
                        ErrorCode::FailedPolicy,
                        format!("the memo function {}() failed: {message}", info.data.name),
                    ));
                }
            }
        }
        self.record.calls.push(CallRecord {
            desc: desc.clone(),
            target: None,
            args: inputs.into_iter().map(|(s, _)| s).collect(),
            memo: Some(table),
            entry: None,
        });
        Ok(result)
    }

    /// All values that a memo function's argument can have; none if that is no small
    /// set.
    fn all_values(&mut self, v: &Val) -> Option<Vec<Const>> {
        if let Some(c) = &v.const_ {
            return Some(vec![c.clone()]);
        }
        match v.single() {
            Some(Atom::Pbc(descs)) if !v.none => descs
                .iter()
                .map(|d| match d {
                    Desc::Function(o) | Desc::Class(o) | Desc::Frozen(o) => Some(Const::Obj(*o)),
                    _ => None,
                })
                .collect(),
            Some(Atom::Int(i)) if i.is_bool() => Some(vec![Const::Bool(false), Const::Bool(true)]),
            Some(Atom::LLType(t)) => Some(vec![Const::Obj(type_object(*t))]),
            None => Some(Vec::new()),
            _ => None,
        }
    }
}

impl Val {
    fn or_none_if(self, none: bool) -> Val {
        if none { self.or_none() } else { self }
    }
}
