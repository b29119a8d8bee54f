//! Operations on one value (RPython: `unaryop.py`).

use std::sync::Arc;

use taipan_base::ErrorCode;
use taipan_graph::{Const, HlOp, IntKind, ObjId};
use taipan_interp::{ClassData, ObjData, constants, is_of_kind};

use super::operations::Operand;
use super::remedies::{of_iteration, of_unary};
use super::{Cx, Local};
use crate::Desc;
use crate::facts::Known;
use crate::store::SlotKey;
use crate::val::{Atom, Ints, Val};

impl Cx<'_> {
    pub(super) fn unary(&mut self, op: HlOp, v: &Val) -> Known<Val> {
        if v.is_none() && matches!(op, HlOp::Str | HlOp::Repr) {
            return Ok(Val::str_(false));
        }
        let mut result = Val::default();
        for atom in &v.atoms {
            let r = self.unary_atom(op, v, atom)?;
            result = self.join(&result, &r);
        }
        Ok(result)
    }

    fn unary_atom(&mut self, op: HlOp, v: &Val, atom: &Atom) -> Known<Val> {
        use HlOp::*;
        Ok(match (op, atom) {
            (Neg | NegOvf | Invert, Atom::Int(i)) => Val::int_like(plain(*i), false, *i),
            (Pos | Int | Long, Atom::Int(i)) if i.is_bool() => Val::nonneg(),
            (Pos, Atom::Int(i)) => Val::int_like(i.kind_or_widest(), i.nonneg(), *i),
            (Int | Long, Atom::Int(i)) => Val::int(i.kind_or_widest(), i.nonneg()),
            (Abs | AbsOvf, Atom::Int(i)) => Val::int_like(plain(*i), true, *i),
            (Pos | Neg | Abs, Atom::Float) => Atom::Float.into(),
            (Int | Long, Atom::Float | Atom::Str { .. } | Atom::Uni { .. }) => Val::signed(),
            (Float, Atom::Int(_) | Atom::Float | Atom::SingleFloat | Atom::Str { .. }) => {
                Atom::Float.into()
            }
            (Str | Repr | Hex | Oct, _) => Val::str_(false),
            (Unicode, Atom::Uni { .. }) => v.non_none(),
            (Unicode, _) => Val::unicode(false),
            (Ord, Atom::Str { char_: true, .. } | Atom::Uni { char_: true, .. }) => match &v.const_
            {
                Some(Const::Str(s)) if s.len() == 1 => Val::const_int(i64::from(s[0])),
                Some(Const::Unicode(s)) if s.len() == 1 => Val::const_int(i64::from(s[0])),
                _ => Val::nonneg(),
            },
            (Chr, Atom::Int(_)) => match v.const_i64() {
                Some(c @ 0..=255) => self.const_val(&Const::Str(Arc::from([c as u8])))?,
                _ => Val::char_(false),
            },
            (Len, _) => self.len(v, atom),
            (Hash, _) => self.problem_help(
                ErrorCode::ReplacedOperation,
                "hash() is not RPython",
                Some("use rpython.rlib.objectmodel.compute_hash"),
            ),
            (Id, _) => self.problem_help(
                ErrorCode::ReplacedOperation,
                "id() is not RPython",
                Some("use rpython.rlib.objectmodel.compute_unique_id"),
            ),
            (Iter, _) => self.iter(v, atom),
            (Next, Atom::Iterator { variant, of }) => self.next_item(variant, of),
            _ => {
                let what = self.facts.describe_atom(atom);
                self.problem_help(
                    ErrorCode::UnsupportedOperands,
                    format!("{} of {what} is not RPython", op.spelt()),
                    of_unary(op, atom),
                )
            }
        })
    }

    fn len(&mut self, v: &Val, atom: &Atom) -> Val {
        match atom {
            Atom::Tuple(t) => Val::const_int(t.len() as i64),
            Atom::Str { char_: true, .. } | Atom::Uni { char_: true, .. } => Val::const_int(1),
            Atom::Str { .. } => match &v.const_ {
                Some(Const::Str(s)) => Val::const_int(s.len() as i64),
                _ => Val::nonneg(),
            },
            Atom::Uni { .. } => match &v.const_ {
                Some(Const::Unicode(s)) => Val::const_int(s.len() as i64),
                _ => Val::nonneg(),
            },
            Atom::List(site) => {
                if self.read(SlotKey::Item(*site)).is_bottom() {
                    Val::const_int(0)
                } else {
                    Val::nonneg()
                }
            }
            Atom::Dict(site) => {
                if self.dict_is_empty(*site) {
                    Val::const_int(0)
                } else {
                    Val::nonneg()
                }
            }
            Atom::ByteArray => Val::nonneg(),
            Atom::Ptr(_) | Atom::Interior { .. } => Val::nonneg(),
            other => {
                let what = self.facts.describe_atom(other);
                self.problem(
                    ErrorCode::UnsupportedOperands,
                    format!("{what} has no length"),
                )
            }
        }
    }

    /// Nothing was put into dicts of this site so far.
    pub(super) fn dict_is_empty(&mut self, site: crate::SiteId) -> bool {
        let key = self.read(SlotKey::Key(site)).is_bottom();
        key | self.read(SlotKey::Value(site)).is_bottom()
    }

    pub(super) fn iter(&mut self, v: &Val, atom: &Atom) -> Val {
        let of = Val::from(atom.clone());
        match atom {
            Atom::Iterator { .. } => v.non_none(),
            Atom::List(_)
            | Atom::Dict(_)
            | Atom::Tuple(_)
            | Atom::Str { .. }
            | Atom::Uni { .. } => Atom::Iterator { variant: "", of }.into(),
            other => {
                let what = self.facts.describe_atom(other);
                self.problem_help(
                    ErrorCode::UnsupportedOperands,
                    format!("{what} is not iterable"),
                    of_iteration(self.facts, other),
                )
            }
        }
    }

    /// What an iterator over this container yields.
    pub(super) fn next_item(&mut self, variant: &'static str, of: &Val) -> Val {
        let mut sum = Val::default();
        for a in &of.atoms {
            let item = self.any_item(a, variant);
            sum = self.join(&sum, &item);
        }
        match variant {
            "enumerate" if !sum.is_bottom() => Val::tuple(vec![Val::nonneg(), sum]),
            _ => sum,
        }
    }

    /// Any item of a container.
    pub(super) fn any_item(&mut self, atom: &Atom, variant: &'static str) -> Val {
        match atom {
            Atom::List(site) => self.read(SlotKey::Item(*site)),
            Atom::Tuple(items) => self.join_all(items.iter()),
            Atom::Str { no_nul, .. } => Val::char_(*no_nul),
            Atom::Uni { no_nul, .. } => Val::unichar(*no_nul),
            Atom::Iterator { variant, of } => self.next_item(variant, of),
            Atom::Dict(site) => {
                let (key, value) = (
                    self.read(SlotKey::Key(*site)),
                    self.read(SlotKey::Value(*site)),
                );
                let parts: Vec<Val> = match variant {
                    "values" => return value,
                    "items" => vec![key, value],
                    "items_with_hash" => vec![key, value, Val::signed()],
                    "keys_with_hash" => vec![key, Val::signed()],
                    _ => return key,
                };
                if parts.iter().any(Val::is_bottom) {
                    Val::default()
                } else {
                    Val::tuple(parts)
                }
            }
            _ => Val::default(),
        }
    }

    /// `bool(x)`: what is known of x afterwards.
    pub(super) fn bool_op(&mut self, x: &Operand) -> Known<Local> {
        let v = x.val();
        if let Some(Atom::Int(i)) = v.single()
            && i.is_bool()
        {
            return Ok(x.local.clone());
        }
        let mut answer = Val::bool_();
        if let Some(b) = v.const_.as_ref().and_then(|c| self.truth_of_const(c, v)) {
            answer = Val::const_bool(b);
        } else if v.is_none() {
            answer = Val::const_bool(false);
        } else if let Some(atom) = v.single()
            && let Some(b) = self.truth_of(v, atom)
            && !(v.none && b)
        {
            answer = Val::const_bool(b);
        }
        let mut local = Local::from(answer);
        if let Some(var) = x.var {
            local.knows = Some(Arc::new([Vec::new(), vec![(var, v.non_none())]]));
        }
        Ok(local)
    }

    /// Truth of every value of that kind, where it is always the same.
    fn truth_of(&mut self, v: &Val, atom: &Atom) -> Option<bool> {
        match atom {
            Atom::Instance(_)
            | Atom::Exception(_)
            | Atom::Pbc(_)
            | Atom::Builtin(_)
            | Atom::BuiltinMethod { .. } => Some(true),
            Atom::Tuple(_) | Atom::List(_) | Atom::Dict(_) | Atom::Str { .. } => {
                self.len(v, atom).const_i64().map(|n| n > 0)
            }
            Atom::Uni { char_: true, .. } => Some(true),
            _ => None,
        }
    }

    fn truth_of_const(&mut self, c: &Const, v: &Val) -> Option<bool> {
        Some(match c {
            Const::Tuple(t) => !t.is_empty(),
            Const::Obj(_) => match v.single()? {
                // Prebuilt containers change, and so does their truth.
                Atom::List(_) | Atom::Dict(_) | Atom::Ptr(_) => return None,
                _ => true,
            },
            c => return constants::truth(c),
        })
    }

    pub(super) fn type_op(&mut self, x: &Operand) -> Local {
        Local {
            val: Atom::Type.into(),
            knows: None,
            type_of: x.var.map(|v| Arc::from([v])),
        }
    }

    pub(super) fn issubtype(&mut self, x: &Operand, class: &Val, vars: &[Local]) -> Known<Local> {
        if let Some(of) = &x.local.type_of
            && let Some(first) = of.first()
        {
            let val = vars[first.index()].val.clone();
            // What is raised right here keeps the classes of Python: KeyboardInterrupt is
            // no Exception, though it derives from it everywhere else.
            let exception = taipan_interp::named_id("exceptions.Exception");
            if class.const_ == Some(Const::Obj(exception))
                && let Some(Atom::Instance(Some(c))) = val.single()
                && let Some(ObjData::Class(data)) = self.facts.object(*c)?.as_deref()
                && !data.mro.contains(&exception)
            {
                return Ok(Val::const_bool(false).into());
            }
            return self.isinstance_of(&val, class, of);
        }
        if let (Some(Const::Obj(a)), Some(Const::Obj(b))) = (&x.val().const_, &class.const_) {
            return Ok(Val::const_bool(self.facts.is_subclass(*a, *b)?).into());
        }
        Ok(Val::bool_().into())
    }

    pub(super) fn isinstance(&mut self, x: &Operand, class: &Val) -> Known<Local> {
        let vars: Vec<_> = x.var.into_iter().collect();
        self.isinstance_of(x.val(), class, &vars)
    }

    fn isinstance_of(
        &mut self,
        v: &Val,
        class: &Val,
        vars: &[taipan_graph::VarId],
    ) -> Known<Local> {
        if let Some(what) = self.no_class(class)? {
            let message = format!("the second argument of `isinstance()` is {what}, not a class");
            return Ok(self
                .problem(ErrorCode::InvalidBuiltinArgument, message)
                .into());
        }
        let Some(c) = &class.const_ else {
            return Ok(Val::bool_().into());
        };
        let classes = classes_of(c);
        let (mut all_no, mut any_yes) = (true, false);
        let mut known = Val::default();
        for c in &classes {
            let Const::Obj(o) = c else { continue };
            match self.is_instance_of_class(v, *o)? {
                Some(true) => (any_yes, all_no) = (true, false),
                Some(false) => {}
                None => all_no = false,
            }
            if let Some(d) = self.facts.class(*o)?
                && !d.primitive
                && matches!(class.single(), Some(Atom::Pbc(_) | Atom::Tuple(_)))
                && !self.is_builtin_type(*o)?
            {
                let i = self.instance(*o)?;
                known = self.join(&known, &i);
            }
            // The one builtin type that RPython's annotator learns from.
            if self.type_name(*o)?.as_deref() == Some("str") {
                known = self.join(&known, &Val::str_(false));
            }
        }
        let answer = match (any_yes, all_no) {
            (true, _) => Val::const_bool(true),
            (_, true) => Val::const_bool(false),
            _ => Val::bool_(),
        };
        let mut local = Local::from(answer);
        if !known.is_bottom() && !vars.is_empty() {
            let yes = vars.iter().map(|x| (*x, known.clone())).collect();
            local.knows = Some(Arc::new([Vec::new(), yes]));
        }
        Ok(local)
    }

    /// What an argument of `isinstance()` is, if it is no class, nor a tuple of such.
    fn no_class(&mut self, class: &Val) -> Known<Option<String>> {
        let Some(c) = &class.const_ else {
            let wrong = class.atoms.iter().find(|a| {
                matches!(
                    a,
                    Atom::Int(_)
                        | Atom::Float
                        | Atom::Str { .. }
                        | Atom::Uni { .. }
                        | Atom::List(_)
                        | Atom::Dict(_)
                        | Atom::Instance(_)
                )
            });
            return Ok(wrong.map(|a| self.facts.describe_atom(a)));
        };
        for c in classes_of(c) {
            let is_class = match &c {
                Const::Obj(o) => match self.facts.object(*o)?.as_deref() {
                    Some(data) => !matches!(
                        data,
                        ObjData::Instance(_)
                            | ObjData::Function(_)
                            | ObjData::Module { .. }
                            | ObjData::List(_)
                            | ObjData::Dict(_)
                            | ObjData::Set { .. }
                    ),
                    None => true,
                },
                Const::Tuple(_) => true,
                _ => false,
            };
            if !is_class {
                return Ok(Some(match class.single() {
                    Some(Atom::Tuple(_)) => "a tuple with something else in it".into(),
                    _ => self.facts.describe(class),
                }));
            }
        }
        Ok(None)
    }

    fn is_builtin_type(&mut self, class: ObjId) -> Known<bool> {
        Ok(match self.facts.object(class)?.as_deref() {
            Some(ObjData::Class(c)) => is_type(c),
            _ => true,
        })
    }

    /// Whether all values, or none, are instances of a class.
    fn is_instance_of_class(&mut self, v: &Val, class: ObjId) -> Known<Option<bool>> {
        if v.is_bottom() {
            return Ok(None);
        }
        // Of one prebuilt object the class is known, and not only a base of it.
        if let (Some(Atom::Instance(Some(c))), Some(_), false) = (v.single(), &v.const_, v.none)
            && self.type_name(class)?.is_none()
        {
            return Ok(Some(self.facts.is_subclass(*c, class)?));
        }
        let mut answers = Vec::new();
        if v.none {
            answers.push(Some(self.type_name(class)?.as_deref() == Some("NoneType")));
        }
        for a in &v.atoms {
            answers.push(self.atom_is_instance(a, class)?);
        }
        let first = answers[0];
        Ok(first.filter(|_| answers.iter().all(|a| *a == first)))
    }

    fn atom_is_instance(&mut self, atom: &Atom, class: ObjId) -> Known<Option<bool>> {
        if let Atom::LLType(t) = atom {
            return Ok(match self.facts.object(class)?.as_deref() {
                Some(ObjData::Builtin { name, .. }) => is_of_kind(*t, name),
                _ => Some(false),
            });
        }
        let builtin = self.type_name(class)?;
        let is_object = builtin.as_deref() == Some("object");
        if is_object {
            return Ok(Some(true));
        }
        Ok(match atom {
            Atom::Instance(None) => None,
            Atom::Instance(Some(c)) => {
                if self.facts.is_subclass(*c, class)? {
                    Some(true)
                } else if self.facts.is_subclass(class, *c)? {
                    None
                } else {
                    Some(false)
                }
            }
            Atom::Exception(classes) => {
                let mut answers = Vec::new();
                for c in classes.iter() {
                    answers.push(self.facts.is_subclass(*c, class)?);
                }
                let first = answers.first().copied();
                first.filter(|f| answers.iter().all(|a| a == f))
            }
            Atom::Pbc(descs) => {
                let mut answers = Vec::new();
                for d in descs.iter() {
                    answers.push(match d {
                        Desc::Frozen(o) => match self.facts.object(*o)?.as_deref() {
                            Some(ObjData::Instance(i)) => self.facts.is_subclass(i.class, class)?,
                            _ => false,
                        },
                        Desc::Class(_) => builtin.as_deref() == Some("type"),
                        _ => false,
                    });
                }
                let first = answers.first().copied();
                first.filter(|f| answers.iter().all(|a| a == f))
            }
            Atom::Int(i) if i.is_bool() => Some(matches!(builtin.as_deref(), Some("bool" | "int"))),
            Atom::Int(i) => {
                let kind = i.kind_or_widest();
                match builtin.as_deref() {
                    Some("int") => Some(kind == IntKind::SIGNED && !i.is_r_int()),
                    Some("base_int") => Some(kind != IntKind::SIGNED || i.is_r_int()),
                    Some(name) => Some(
                        super::known::int_type_named(name) == Some(kind)
                            && (kind != IntKind::SIGNED || i.may_be_r_int()),
                    ),
                    None => Some(false),
                }
            }
            other => {
                let names: &[&str] = match other {
                    Atom::Float => &["float"],
                    Atom::SingleFloat => &["r_singlefloat"],
                    Atom::Str { .. } => &["str", "basestring"],
                    Atom::Uni { .. } => &["unicode", "basestring"],
                    Atom::ByteArray => &["bytearray"],
                    Atom::List(_) => &["list"],
                    Atom::Dict(_) => &["dict"],
                    Atom::Tuple(_) => &["tuple"],
                    Atom::Type | Atom::Builtin(_) => return Ok(None),
                    _ => &[],
                };
                Some(builtin.is_some_and(|b| names.contains(&&*b)))
            }
        })
    }

    /// Name of a builtin type.
    fn type_name(&mut self, class: ObjId) -> Known<Option<Box<str>>> {
        Ok(match self.facts.object(class)?.as_deref() {
            Some(ObjData::Class(c)) if is_type(c) => Some(c.name.clone()),
            Some(ObjData::Builtin { name, .. }) => {
                Some(name.rsplit('.').next().unwrap_or(name).into())
            }
            _ => None,
        })
    }
}

/// The integers of a class of rarithmetic.
pub(super) fn rarithmetic_type(c: &ClassData) -> Option<Ints> {
    let kind = super::known::int_type_named(&c.name)?;
    let known = &*c.module == "rpython.rlib.rarithmetic";
    known.then(|| Ints::of(kind, false).made_like(Ints::r_int()))
}

/// Whether a class is `r_singlefloat`.
pub(super) fn is_singlefloat(c: &ClassData) -> bool {
    &*c.module == "rpython.rlib.rarithmetic" && &*c.name == "r_singlefloat"
}

/// A builtin type, or one of the integer types of rarithmetic.
fn is_type(c: &ClassData) -> bool {
    c.builtin && &*c.module != "exceptions" || &*c.module == "rpython.rlib.rarithmetic"
}

/// Arithmetic on bools is arithmetic on ints.
fn plain(i: Ints) -> IntKind {
    i.kind_or_widest()
}

/// The classes that `isinstance()` is asked about.
fn classes_of(c: &Const) -> Vec<Const> {
    match c {
        Const::Tuple(t) => t.to_vec(),
        one => vec![one.clone()],
    }
}
