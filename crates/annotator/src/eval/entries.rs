//! Calls of functions that the program describes by an `ExtRegistryEntry`.
//!
//! Entries compute with annotations in Python, while compiling. They get descriptions of
//! the arguments, tuples of constants, and answer one:
//!
//! ```text
//! f(x)    x: SomeInteger(nonneg)    ('int', (), 'int', True)
//!   -> entry.compute_result_annotation(annotation object)
//!   -> ('given', (), 0)             the annotation of x
//! ```
//!
//! An entry may ask for the result of another call; it is then run again with the answer.

use std::sync::Arc;

use taipan_base::ErrorCode;
use taipan_graph::{Const, ObjId};
use taipan_interp::{ObjData, named_id, type_object};
use taipan_lltype::LLType;

use super::args::Arguments;
use super::lowlevel::{annotation_to_lltype, lltype_to_annotation, type_text};
use super::{CallRecord, Cx, EntryRecord, OpRecord};
use crate::facts::Known;
use crate::store::{SlotKey, SpecIx};
use crate::text::int_kind_name;
use crate::val::{Atom, Val};
use crate::{ArgSource, Desc};

/// The shipped module that stands between the compiler and entries.
const MODULE: &str = "rpython.annotator.described";

/// Descriptions of what is nested deeper do not say what it is.
const MAX_DEPTH: u32 = 6;

impl Cx<'_> {
    /// The entry that describes a function.
    pub(super) fn entry_of(&self, func: ObjId) -> Known<Option<ObjId>> {
        Ok(match self.facts.object(func)?.as_deref() {
            Some(ObjData::Function(f)) => match f.get("_extregistry_") {
                Some(Const::Obj(entry)) => Some(*entry),
                _ => None,
            },
            _ => None,
        })
    }

    /// Calls a function that an entry describes.
    pub(super) fn call_entry(
        &mut self,
        desc: &Desc,
        about: ObjId,
        entry: ObjId,
        args: Arguments,
    ) -> Known<Val> {
        let names: Vec<Const> = args.keywords.iter().map(|k| Const::str(&k.0)).collect();
        let mut known = args.vals();
        known.extend(args.keywords.into_iter().map(|(_, _, v)| v));
        if known.iter().any(Val::is_bottom) {
            return Ok(Val::default());
        }
        let mut described = Vec::with_capacity(known.len());
        for v in &known {
            described.push(self.description(v, 0)?);
        }
        let own = [Const::Obj(entry), Const::Obj(about), tuple(&described)];
        // What the entry calls is not what the operation calls.
        let record = std::mem::take(&mut self.record);
        let answer = self.entry_result(&own, tuple(&names), &mut known)?;
        let Some(result) = answer else {
            self.record = record;
            return Ok(Val::default());
        };
        let described_result = self.description(&result, 0)?;
        let calls = self.calls_of_entry(&own, &described_result, &known[..described.len()])?;
        self.record = record;
        self.record.calls.push(CallRecord {
            desc: desc.clone(),
            target: None,
            args: Vec::new(),
            memo: None,
            entry: Some(Arc::new(EntryRecord {
                entry,
                about,
                args: described,
                result: described_result,
                calls,
            })),
        });
        Ok(result)
    }

    /// What an entry says of the result; none where that is not known yet or wrong.
    fn entry_result(
        &mut self,
        own: &[Const; 3],
        names: Const,
        known: &mut Vec<Val>,
    ) -> Known<Option<Val>> {
        let Some(helper) = self.described_function("result_annotation")? else {
            self.problem(
                ErrorCode::FailedPolicy,
                format!("there is no module {MODULE}"),
            );
            return Ok(None);
        };
        let mut answers: Vec<Const> = Vec::new();
        loop {
            let args: Vec<Const> = own
                .iter()
                .cloned()
                .chain([names.clone(), tuple(&answers)])
                .collect();
            let reply = match self.facts.memo(helper, &args)? {
                Ok(reply) => reply,
                Err(message) => {
                    self.problem(
                        ErrorCode::FailedPolicy,
                        format!("compute_result_annotation(): {message}"),
                    );
                    return Ok(None);
                }
            };
            match items(&reply) {
                [kind, result] if kind.as_str() == Some("result") => {
                    return self.annotated(result, known).map(Some);
                }
                [_, callee, asked] => {
                    let callee = self.annotated(callee, known)?;
                    let mut given = Vec::new();
                    for d in items(asked) {
                        given.push((ArgSource::Receiver, self.annotated(d, known)?));
                    }
                    let answer = self.call(&callee, Arguments::positional(given))?;
                    if answer.is_bottom() {
                        return Ok(None);
                    }
                    answers.push(self.description(&answer, 0)?);
                    known.push(answer);
                }
                _ => return Ok(None),
            }
        }
    }

    /// The function that a declaration in `_annenforceargs_` is, if it is one.
    pub(super) fn declaring_function(&self, declaration: &Const) -> Known<Option<ObjId>> {
        Ok(match declaration {
            Const::Obj(o) => match self.facts.object(*o)?.as_deref() {
                Some(ObjData::Function(_)) => Some(*o),
                _ => None,
            },
            _ => None,
        })
    }

    /// What such a function declares an argument to be, given all arguments.
    pub(super) fn declared_by(&mut self, function: ObjId, given: &[Val]) -> Known<Option<Val>> {
        let Some(helper) = self.described_function("declared_by")? else {
            return Ok(None);
        };
        if given.iter().any(Val::is_bottom) {
            return Ok(None);
        }
        let mut described = Vec::with_capacity(given.len());
        for v in given {
            described.push(self.description(v, 0)?);
        }
        match self
            .facts
            .memo(helper, &[Const::Obj(function), tuple(&described)])?
        {
            Ok(reply) => self.annotated(&reply, given).map(Some),
            Err(message) => {
                self.problem(
                    ErrorCode::FailedPolicy,
                    format!("_annenforceargs_: {message}"),
                );
                Ok(None)
            }
        }
    }

    /// Calls the low-level functions that `specialize_call` will call, as far as that is
    /// known before the representations are.
    fn calls_of_entry(
        &mut self,
        own: &[Const; 3],
        result: &Const,
        args: &[Val],
    ) -> Known<Vec<SpecIx>> {
        let Some(helper) = self.described_function("specialized_call")? else {
            return Ok(Vec::new());
        };
        let known_type = |v: &Val| match annotation_to_lltype(v) {
            Some(t) => Const::Obj(type_object(t)),
            None => Const::None,
        };
        let types: Vec<Const> = args.iter().map(known_type).collect();
        let mut given: Vec<Const> = own.to_vec();
        given.extend([result.clone(), tuple(&types), Const::None]);
        let Ok(reply) = self.facts.memo(helper, &given)? else {
            return Ok(Vec::new());
        };
        let mut calls = Vec::new();
        for step in items(&reply).first().map_or(&[][..], items) {
            let [kind, Const::Obj(function), _, types] = items(step) else {
                continue;
            };
            if kind.as_str() != Some("call") {
                continue;
            }
            let mut args = Vec::new();
            let mut key = String::from("ll");
            for t in items(types) {
                let Some(t) = self.low_level_type(t)? else {
                    return Ok(Vec::new());
                };
                key = format!("{key} {}", type_text(t));
                args.push((ArgSource::Receiver, lltype_to_annotation(t)));
            }
            self.record = OpRecord::default();
            let desc = Desc::Function(*function);
            self.call_function(&desc, *function, &key, Arguments::positional(args))?;
            calls.extend(self.record.calls.last().and_then(|c| c.target));
        }
        Ok(calls)
    }

    fn described_function(&self, name: &str) -> Known<Option<ObjId>> {
        Ok(match self.facts.global(named_id(MODULE), name)? {
            Some(Const::Obj(f)) => Some(f),
            _ => None,
        })
    }

    /// A value as it is described to entries.
    fn description(&mut self, v: &Val, depth: u32) -> Known<Const> {
        let constant = match &v.const_ {
            Some(c) => tuple(std::slice::from_ref(c)),
            None => tuple(&[]),
        };
        let described = |kind: &str, more: &[Const]| {
            let mut all = vec![Const::str(kind), constant.clone()];
            all.extend_from_slice(more);
            tuple(&all)
        };
        let none = Const::Bool(v.none);
        let atom = match v.single() {
            Some(atom) => atom.clone(),
            None if v.is_none() => return Ok(described("none", &[])),
            None if v.is_bottom() => return Ok(described("impossible", &[])),
            None => return Ok(described("object", &[])),
        };
        Ok(match &atom {
            Atom::Int(i) if i.is_bool() => described("bool", &[]),
            Atom::Int(i) => {
                let name = int_kind_name(i.kind_or_widest());
                let name = Const::str(name.as_deref().unwrap_or("int"));
                described("int", &[name, Const::Bool(i.nonneg())])
            }
            Atom::Float => described("float", &[]),
            Atom::SingleFloat => described("singlefloat", &[]),
            Atom::Str { char_, no_nul } => {
                if *char_ {
                    described("char", &[Const::Bool(*no_nul)])
                } else {
                    described("str", &[none, Const::Bool(*no_nul)])
                }
            }
            Atom::Uni { char_, no_nul } => {
                if *char_ {
                    described("unichar", &[Const::Bool(*no_nul)])
                } else {
                    described("unicode", &[none, Const::Bool(*no_nul)])
                }
            }
            Atom::ByteArray => described("bytearray", &[none, Const::Bool(false)]),
            Atom::Instance(Some(class)) => described("instance", &[Const::Obj(*class), none]),
            _ if depth > MAX_DEPTH => described("object", &[]),
            Atom::Tuple(parts) => {
                let mut all = Vec::new();
                for p in parts.iter() {
                    all.push(self.description(p, depth + 1)?);
                }
                described("tuple", &[tuple(&all)])
            }
            Atom::List(site) => {
                let item = self.read(SlotKey::Item(*site));
                let item = self.description(&item, depth + 1)?;
                described("list", &[item, Const::Bool(true)])
            }
            Atom::Dict(site) => {
                let key = self.read(SlotKey::Key(*site));
                let key = self.description(&key, depth + 1)?;
                let value = self.read(SlotKey::Value(*site));
                let value = self.description(&value, depth + 1)?;
                described("dict", &[key, value])
            }
            Atom::Ptr(t) => described("ptr", &[Const::Obj(type_object(*t))]),
            Atom::LLType(t) => {
                let t = Const::Obj(type_object(*t));
                tuple(&[
                    Const::str("pbc"),
                    tuple(std::slice::from_ref(&t)),
                    tuple(&[t]),
                ])
            }
            Atom::Pbc(descs) => {
                let objects = descs.iter().filter_map(|d| match d {
                    Desc::Function(o) | Desc::Class(o) | Desc::Frozen(o) => Some(Const::Obj(*o)),
                    Desc::Method { .. } | Desc::FrozenMethod { .. } => None,
                });
                described("pbc", &[tuple(&objects.collect::<Vec<_>>())])
            }
            _ => described("object", &[]),
        })
    }

    /// The value that a description stands for; `known` are those that it may refer to.
    fn annotated(&mut self, d: &Const, known: &[Val]) -> Known<Val> {
        let [kind, constant, more @ ..] = items(d) else {
            return Ok(Val::default());
        };
        let constant = items(constant).first();
        let flag = |i: usize| more.get(i) == Some(&Const::Bool(true));
        let v = match (kind.as_str().unwrap_or(""), more) {
            ("given", [Const::Int(i)]) => {
                let i = usize::try_from(*i).unwrap_or(usize::MAX);
                return Ok(known.get(i).cloned().unwrap_or_default());
            }
            ("instance", [Const::Obj(class), _]) => {
                let v = self.instance(*class)?;
                if flag(1) { v.or_none() } else { v }
            }
            ("tuple", [parts]) => {
                let mut all = Vec::new();
                for p in items(parts) {
                    all.push(self.annotated(p, known)?);
                }
                return Ok(Val::tuple(all));
            }
            ("ptr", [t]) => match self.low_level_type(t)? {
                Some(t) => lltype_to_annotation(t),
                None => Val::default(),
            },
            ("none", _) => Val::none(),
            ("impossible", _) => Val::default(),
            _ if let Some(c) = constant => return self.const_val(c),
            ("bool", _) => Val::bool_(),
            ("int", [name, _]) => {
                let name = name.as_str().unwrap_or("");
                let kind =
                    super::known::int_type_named(name).unwrap_or(taipan_graph::IntKind::SIGNED);
                Val::int(kind, flag(1))
            }
            ("float", _) => Atom::Float.into(),
            ("singlefloat", _) => Atom::SingleFloat.into(),
            ("char", _) => Val::char_(flag(0)),
            ("unichar", _) => Val::unichar(flag(0)),
            ("str", _) => nullable(Val::str_(flag(1)), flag(0)),
            ("unicode", _) => nullable(Val::unicode(flag(1)), flag(0)),
            ("bytearray", _) => nullable(Atom::ByteArray.into(), flag(0)),
            (other, _) => self.problem(
                ErrorCode::FailedPolicy,
                format!("an entry answers an annotation of kind {other}"),
            ),
        };
        Ok(v)
    }

    fn low_level_type(&self, c: &Const) -> Known<Option<LLType>> {
        let Const::Obj(o) = c else {
            return Ok(None);
        };
        Ok(match self.facts.object(*o)?.as_deref() {
            Some(ObjData::LLType(t)) => Some(*t),
            _ => None,
        })
    }
}

fn nullable(v: Val, none: bool) -> Val {
    if none { v.or_none() } else { v }
}

fn tuple(all: &[Const]) -> Const {
    Const::Tuple(all.into())
}

/// The items of a tuple.
fn items(c: &Const) -> &[Const] {
    match c {
        Const::Tuple(all) => all,
        _ => &[],
    }
}
