//! Annotations of constants (RPython: `Bookkeeper.immutablevalue`).

use std::sync::Arc;

use num_traits::ToPrimitive;
use taipan_base::ErrorCode;
use taipan_flow::{ERROR_VALUE, FAILED_IMPORT};
use taipan_graph::{Const, ObjId};
use taipan_interp::{Builtin, InstanceData, LLTarget, ObjData, named_id, stable_id};

use super::{Cx, Problem, Subject};
use crate::facts::Known;
use crate::store::SlotKey;
use crate::val::{Atom, Val, WeakClass};
use crate::{Desc, SiteId};

/// Creation site of a prebuilt list or dict.
pub fn prebuilt_site(obj: ObjId) -> SiteId {
    SiteId(stable_id(&["prebuilt", &format!("{:016x}", obj.0)]).0)
}

/// `unicode()` of a constant, which is taken for ASCII.
pub(super) fn unicode_of(v: &Val) -> Option<Arc<[u32]>> {
    match v.const_.as_ref()? {
        Const::Unicode(s) => Some(s.clone()),
        Const::Str(s) if s.is_ascii() => Some(s.iter().map(|b| u32::from(*b)).collect()),
        _ => None,
    }
}

impl Cx<'_> {
    /// The most precise annotation of a constant.
    pub(crate) fn const_val(&mut self, c: &Const) -> Known<Val> {
        let v = match c {
            Const::None => Val::none(),
            Const::Bool(b) => Val::const_bool(*b),
            Const::Int(i) => Val::const_int(*i),
            Const::RInt(kind, v) => Val::int(*kind, kind.is_nonneg(*v)).with_const(Some(c.clone())),
            Const::Long(l) => match l.to_i64() {
                Some(i) => Val::const_int(i),
                None => self.report(Problem {
                    code: Some(ErrorCode::InvalidConstant),
                    at: self.place.at,
                    message: format!("long constant {l} does not fit an int"),
                    help: Some("while the program loads, make an `r_uint` of it, or an `rbigint` of rpython.rlib.rbigint".into()),
                    about: None,
                    subject: Some(Subject::Constant(c.clone())),
                }),
            },
            Const::Float(_) => Val::from(Atom::Float).with_const(Some(c.clone())),
            Const::SingleFloat(_) => Val::from(Atom::SingleFloat).with_const(Some(c.clone())),
            // Helpers know strings as pointers only.
            Const::Str(s) if self.facts.helper_mode && s.len() != 1 => {
                Val::from(Atom::Ptr(taipan_lltype::STR.ptr())).with_const(Some(c.clone()))
            }
            Const::Str(s) => Val::from(Atom::Str {
                char_: s.len() == 1,
                no_nul: !s.contains(&0),
            })
            .with_const(Some(c.clone())),
            Const::Unicode(s) => Val::from(Atom::Uni {
                char_: s.len() == 1,
                no_nul: !s.contains(&0),
            })
            .with_const(Some(c.clone())),
            Const::Tuple(items) => {
                let mut vals = Vec::new();
                for i in items.iter() {
                    vals.push(self.const_val(i)?);
                }
                Val::from(Atom::Tuple(vals.into())).with_const(Some(c.clone()))
            }
            Const::Obj(o) => return self.object_val(*o),
            Const::Complex(..) => {
                self.problem_help(
                    ErrorCode::InvalidConstant,
                    "a complex number is no RPython value",
                    Some("use two floats"),
                )
            }
            Const::Shape(_) => Val::default(),
        };
        Ok(v)
    }

    fn object_val(&mut self, id: ObjId) -> Known<Val> {
        let here = Some(Const::Obj(id));
        let Some(data) = self.facts.object(id)? else {
            if id == named_id(ERROR_VALUE) {
                return Ok(Val::error());
            }
            if id == named_id(FAILED_IMPORT) {
                return Ok(Atom::Builtin(Builtin::FailedImport).into());
            }
            return Ok(self.problem(
                ErrorCode::InvalidConstant,
                "this object is not there any more when the program runs",
            ));
        };
        // `register_external` names another function for translated code.
        if let ObjData::Function(f) = &*data
            && let Some(llimpl) = f.get("_llimpl_")
        {
            return self.const_val(llimpl);
        }
        let v = match &*data {
            ObjData::Function(_) | ObjData::Class(_) | ObjData::Builtin { im_self: None, .. } => {
                let v = match (Builtin::of(&data), &*data) {
                    (Some(f), _) => Atom::Builtin(f).into(),
                    (None, ObjData::Class(_)) => Val::pbc(Desc::Class(id)),
                    (None, _) => Val::pbc(Desc::Function(id)),
                };
                v.with_const(here)
            }
            ObjData::Instance(i) => self.prebuilt_instance(id, i)?,
            ObjData::List(_) => {
                self.signal(SlotKey::Seen(id));
                Val::from(Atom::List(prebuilt_site(id))).with_const(here)
            }
            ObjData::Dict(_) => {
                self.signal(SlotKey::Seen(id));
                Val::from(Atom::Dict(prebuilt_site(id))).with_const(here)
            }
            ObjData::Method {
                im_self,
                im_func,
                im_class,
            } => match im_self {
                None => self.const_val(im_func)?,
                Some(s) => self.bound_method(id, s, im_func, *im_class)?,
            },
            ObjData::StaticMethod(f) => self.const_val(f)?,
            ObjData::Builtin {
                name,
                im_self: Some(s),
            } => {
                let of = self.const_val(s)?;
                let name = name.rsplit('.').next().unwrap_or(name).into();
                Atom::BuiltinMethod { name, of }.into()
            }
            ObjData::Slice(a, b, c) => {
                let parts = [self.const_val(a)?, self.const_val(b)?, self.const_val(c)?];
                Atom::Slice(parts.into()).into()
            }
            ObjData::Module { .. } => Val::pbc(Desc::Frozen(id)).with_const(here),
            ObjData::LLType(t) => super::lowlevel::ll_type_val(*t).with_const(here),
            ObjData::LLPtr { ty, to } => {
                if let LLTarget::Object(o) | LLTarget::Part(o, _) = to {
                    self.signal(SlotKey::Seen(*o));
                }
                super::lowlevel::lltype_to_annotation(*ty).with_const(here)
            }
            ObjData::WeakRef(Const::None) => {
                Val::from(Atom::WeakRef(WeakClass::Gone)).with_const(here)
            }
            ObjData::WeakRef(target) => {
                let target = self.const_val(target)?;
                match self.make_weakref(&[target]) {
                    v if v.is_bottom() => v,
                    v => v.with_const(here),
                }
            }
            ObjData::Cell(Some(c)) => self.const_val(c)?,
            ObjData::Cell(None)
            | ObjData::Set { .. }
            | ObjData::ClassMethod(_)
            | ObjData::Property { .. } => self.unusable(&data),
            ObjData::Other(kind) if &**kind == "ellipsis" => self.unusable(&data),
            ObjData::LLContainer { .. } | ObjData::LLFunction { .. } | ObjData::Other(_) => {
                Val::pbc(Desc::Frozen(id)).with_const(here)
            }
        };
        Ok(v)
    }

    fn unusable(&mut self, data: &ObjData) -> Val {
        let what = match data {
            ObjData::Set { .. } => "a set",
            ObjData::ClassMethod(_) => "a class method",
            ObjData::Property { .. } => "a property",
            ObjData::Other(_) => "Ellipsis",
            _ => "an unset variable of an outer function",
        };
        self.problem_help(
            ErrorCode::InvalidConstant,
            format!("{what} is no RPython value"),
            match data {
                ObjData::Set { .. } => Some("use a dict whose values are None"),
                ObjData::ClassMethod(_) => Some("use a static method"),
                _ => None,
            },
        )
    }

    fn prebuilt_instance(&mut self, id: ObjId, data: &InstanceData) -> Known<Val> {
        let here = Some(Const::Obj(id));
        if let Some(why) = &data.refused {
            return Ok(self.problem_help(
                ErrorCode::InvalidConstant,
                format!("this object is not ready for the program: {why}"),
                Some("`_freeze_()` and `_cleanup_()` are called when the program has loaded, in whatever state its objects are then"),
            ));
        }
        if let Some(v) = &data.value {
            // Symbols are integers that nothing is known of.
            if self.facts.lookup(data.class, "_taipan_integer_")?.is_some() {
                return Ok(Val::signed());
            }
            return self.const_val(v);
        }
        if data.frozen {
            return Ok(Val::pbc(Desc::Frozen(id)).with_const(here));
        }
        if let Some(unicode) = self.is_builder(data.class)? {
            return Ok(Val::from(Atom::Builder { unicode }).with_const(here));
        }
        if self.is_r_dict(data.class)? {
            self.signal(SlotKey::Seen(id));
            let site = prebuilt_site(id);
            return Ok(Val::from(Atom::Dict(site)).with_const(here));
        }
        if self.is_bytearray(data.class)? {
            return Ok(Val::from(Atom::ByteArray).with_const(here));
        }
        if let Some(p) = data.payload.as_deref() {
            match p {
                ObjData::Dict(_) => {
                    self.signal(SlotKey::Seen(id));
                    return Ok(Val::from(Atom::Dict(prebuilt_site(id))).with_const(here));
                }
                ObjData::List(_) => {
                    self.signal(SlotKey::Seen(id));
                    return Ok(Val::from(Atom::List(prebuilt_site(id))).with_const(here));
                }
                _ => {}
            }
        }
        if self.facts.lookup(data.class, "__call__")?.is_some()
            && !self.is_virtual_ref_class(data.class)?
        {
            return Ok(self.problem_help(
                ErrorCode::InvalidConstant,
                "a prebuilt instance with a __call__ method is not RPython",
                Some("call a method with another name, or give the class a `_freeze_` method"),
            ));
        }
        if let Some(ObjData::Class(c)) = self.facts.object(data.class)?.as_deref()
            && c.get("_extregistry_type_").is_some()
        {
            return Ok(self.problem(
                ErrorCode::InvalidConstant,
                format!(
                    "a prebuilt instance of {}, which has an entry for its type: only entries for functions are known",
                    c.name
                ),
            ));
        }
        self.signal(SlotKey::Seen(id));
        Ok(self.instance(data.class)?.with_const(here))
    }

    fn is_bytearray(&mut self, class: ObjId) -> Known<bool> {
        Ok(match self.facts.object(class)?.as_deref() {
            Some(ObjData::Class(c)) => c.builtin && &*c.name == "bytearray",
            _ => false,
        })
    }

    /// Whether a class is that of the virtual references of `rlib.jit`.
    pub(super) fn is_virtual_ref_class(&mut self, class: ObjId) -> Known<bool> {
        Ok(self
            .facts
            .class(class)?
            .as_deref()
            .is_some_and(|c| &*c.name == "rpython.rlib.jit.DirectVRef"))
    }

    /// Whether a class is that of string builders, and then, whether of unicode ones.
    fn is_builder(&mut self, class: ObjId) -> Known<Option<bool>> {
        let info = self.facts.class(class)?;
        Ok(match info.as_deref().map(|c| &*c.name) {
            Some("rpython.rlib.rstring.StringBuilder") => Some(false),
            Some("rpython.rlib.rstring.UnicodeBuilder") => Some(true),
            _ => None,
        })
    }

    /// Whether a class is that of prebuilt `r_dict`s.
    pub(super) fn is_r_dict(&mut self, class: ObjId) -> Known<bool> {
        Ok(matches!(
            self.facts.class(class)?.as_deref().map(|c| &*c.name),
            Some("rpython.rlib.objectmodel.r_dict" | "rpython.rlib.objectmodel.r_ordereddict")
        ))
    }

    fn bound_method(
        &mut self,
        id: ObjId,
        im_self: &Const,
        im_func: &Const,
        im_class: ObjId,
    ) -> Known<Val> {
        let (Const::Obj(obj), Const::Obj(func)) = (im_self, im_func) else {
            return Ok(self.problem(
                ErrorCode::InvalidConstant,
                "this bound method is no RPython value",
            ));
        };
        let object = self.facts.object(*obj)?;
        let Some(ObjData::Instance(inst)) = object.as_deref() else {
            return Ok(self.problem_help(
                ErrorCode::InvalidConstant,
                "a method bound to a class is no RPython value",
                Some("use a static method"),
            ));
        };
        if inst.frozen {
            return Ok(Val::pbc(Desc::FrozenMethod {
                func: *func,
                frozen: *obj,
            })
            .with_const(Some(Const::Obj(id))));
        }
        self.const_val(im_self)?;
        let Some(info) = self.facts.class(im_class)? else {
            return Ok(Val::default());
        };
        for part in info.mro() {
            let part = self.facts.object(*part)?;
            let name = match part.as_deref() {
                Some(ObjData::Class(c)) => c.dict.iter().find(|(_, v)| v == im_func),
                _ => None,
            };
            let Some((name, _)) = name else { continue };
            // Of a function of a mixin the class has a copy.
            if let Some((origin, Const::Obj(func))) = self.facts.lookup(im_class, name)? {
                let name: Arc<str> = (&**name).into();
                self.signal(SlotKey::AttrUsed(im_class, name.clone()));
                return Ok(Val::pbc(Desc::Method {
                    func,
                    origin,
                    self_class: Some(im_class),
                    name,
                })
                .with_const(Some(Const::Obj(id))));
            }
        }
        Ok(self.problem(
            ErrorCode::InvalidConstant,
            "this bound method is not an attribute of its class",
        ))
    }
}
