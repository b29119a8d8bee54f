//! Dicts (RPython: `rordereddict.py`). The layout is described in the prelude's
//! `rdict.py`.

use std::sync::Arc;

use taipan_annotator::{Site, SiteId};
use taipan_graph::{Const, HlOp, IntKind, ObjId};
use taipan_language::{DictMethod, Exc};
use taipan_lltype::{
    BOOL, Field, FuncSym, LLConst, LLOperand, LLType, SIGNED, StructBody, TypeKind, VOID,
};

use super::custom::{KeyFunction, custom_functions};
use super::recursive::{self, Container, RecursiveRepr};
use super::{eq_operand, hash_operand};
use crate::hop::{csigned, ctype};
use crate::{Description, Hop, RType, RTyper, Repr, ReprMethods, Typed, TyperError};

/// Dicts of one key and value Repr.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct DictRepr {
    /// Repr of the keys.
    pub key: Repr,
    /// Repr of the values.
    pub value: Repr,
    /// The container type.
    pub ty: LLType,
    /// Equality and hash of an `r_dict`.
    pub custom: Option<(KeyFunction, KeyFunction)>,
}

/// The Repr of the dicts of a creation site.
pub(crate) fn dict_repr(rt: &RTyper<'_>, site: SiteId) -> Typed<Repr> {
    if rt.is_inside(site) {
        return Ok(Repr::Recursive(RecursiveRepr { site, dict: true }));
    }
    let _guard = rt.enter(
        ObjId(site.0),
        "a dict contains itself: its type is not finite",
    )?;
    let def = taipan_annotator::dict_def(rt.db, Site::new(rt.db, rt.roots()?, site));
    let cycle = recursive::cycle(rt, &Container::Dict(def.clone()))?;
    let (key, value) = rt.inside(cycle, || {
        Ok((rt.getrepr(&def.key)?, rt.getrepr(&def.value)?))
    })?;
    let custom = match &def.custom {
        None => None,
        Some(fns) => Some(custom_functions(rt, &fns.0, &fns.1, &key)?),
    };
    let receivers = custom.iter().flat_map(|(eq, hash)| {
        [
            (EQ_SELF, eq.receiver_type()),
            (HASH_SELF, hash.receiver_type()),
        ]
    });
    let receivers = receivers.filter_map(|(name, ty)| Some((name, ty?)));
    Ok(Repr::Dict(Arc::new(DictRepr {
        ty: dict_type(key.lowleveltype(), value.lowleveltype(), receivers),
        key,
        value,
        custom,
    })))
}

/// Where a dict has what the functions of an `r_dict` are bound to.
const EQ_SELF: &str = "eq_self";
const HASH_SELF: &str = "hash_self";

/// The container behind dicts of these low-level types.
pub(super) fn dict_type(
    key: LLType,
    value: LLType,
    receivers: impl IntoIterator<Item = (&'static str, LLType)>,
) -> LLType {
    let field = |name: &str, ty| Field {
        name: name.into(),
        ty,
    };
    let entry = LLType::raw_struct(
        "dictentry",
        StructBody {
            fields: vec![
                field("key", key),
                field("value", value),
                field("f_hash", *SIGNED),
            ],
            ..StructBody::default()
        },
    );
    let index = LLType::new(TypeKind::Int(IntKind {
        signed: true,
        bits: 32,
    }));
    let mut fields = vec![
        field("num_live_items", *SIGNED),
        field("num_used_items", *SIGNED),
        field("num_filled", *SIGNED),
        field("indexes", LLType::gc_array(index).ptr()),
        field("entries", LLType::gc_array(entry).ptr()),
    ];
    fields.extend(receivers.into_iter().map(|(name, ty)| field(name, ty)));
    LLType::gc_struct(
        "dicttable",
        StructBody {
            fields,
            ..StructBody::default()
        },
    )
}

impl DictRepr {
    fn repr(&self) -> Repr {
        Repr::Dict(Arc::new(self.clone()))
    }

    /// The last arguments of helpers that look keys up.
    fn functions(&self, rt: &RTyper<'_>) -> Typed<[LLOperand; 2]> {
        match &self.custom {
            Some((eq, hash)) => Ok([
                super::fn_operand(hash.func.clone()),
                super::fn_operand(eq.func.clone()),
            ]),
            None => Ok([hash_operand(rt, &self.key)?, eq_operand(rt, &self.key)?]),
        }
    }

    /// Calls a helper on the dict, further arguments and the key functions.
    fn call(
        &self,
        hop: &Hop<'_>,
        helper: &str,
        args: impl IntoIterator<Item = LLOperand>,
        result: LLType,
    ) -> Typed<LLOperand> {
        let args = args.into_iter().chain(self.functions(hop.rt)?);
        Ok(hop.llops.gendirectcall_to(helper, args, result))
    }

    fn listing(&self, hop: &Hop<'_>, helper: &str, pairs: bool) -> RType {
        let v = hop.inputarg(&self.repr(), 0)?;
        let list = super::list_of(&hop.r_result)?;
        hop.exception_cannot_occur()?;
        let mut args = vec![ctype(list.ty)];
        if pairs {
            // Of a dict that stays empty there are no pairs.
            let Repr::Tuple(t) = &list.item else {
                args.push(csigned(0));
                let v = hop
                    .llops
                    .gendirectcall_to("rlist.ll_newlist", args, list.ty.ptr());
                return Ok(Some(v));
            };
            args.push(ctype(t.ty));
        }
        args.push(v);
        let t = list.ty.ptr();
        Ok(Some(hop.llops.gendirectcall_to(helper, args, t)))
    }

    /// Functions of `objectmodel` on dicts.
    fn special(&self, method: DictMethod, hop: &Hop<'_>) -> RType {
        use DictMethod::*;
        let (dict, signed) = (self.repr(), Repr::signed());
        let mut args = vec![hop.inputarg(&dict, 0)?, hop.inputarg(&self.key, 1)?];
        let (rest, result): (&[&Repr], LLType) = match method {
            ContainsWithHash => (&[&signed], *BOOL),
            GetItemWithHash => (&[&signed], self.value.lowleveltype()),
            SetItemWithHash => (&[&signed, &self.value], *VOID),
            DelItemIfValueIs => (&[&self.value], *VOID),
            MoveToEnd => (&[&Repr::Bool], *VOID),
            _ => (&[&signed], *VOID),
        };
        for (i, r) in rest.iter().enumerate() {
            args.push(if i + 2 < hop.nb_args() {
                hop.inputarg(r, i + 2)?
            } else {
                crate::hop::cbool(true)
            });
        }
        match method {
            GetItemWithHash | DelItemWithHash => self.maybe_key_error(hop)?,
            // Any handler may stand around it, as in RPython.
            MoveToEnd => hop.exception_is_here()?,
            _ => self.no_key_error(hop)?,
        }
        let helper = format!("rdict.ll_dict_{}", method.name());
        let v = self.call(hop, &helper, args, result)?;
        if method == GetItemWithHash {
            return hop.convert_result(v, &self.value).map(Some);
        }
        Ok(Some(v))
    }

    /// Only the functions of an `r_dict` may raise.
    fn no_key_error(&self, hop: &Hop<'_>) -> Typed<()> {
        if self.custom.is_none() {
            hop.exception_cannot_occur()
        } else {
            hop.exception_is_here()
        }
    }

    /// The hash function of the keys, as a helper's argument.
    pub(super) fn hash_function(&self, rt: &RTyper<'_>) -> Typed<LLOperand> {
        let [hash, _] = self.functions(rt)?;
        Ok(hash)
    }

    fn maybe_key_error(&self, hop: &Hop<'_>) -> Typed<()> {
        // The functions of an `r_dict` may raise anything.
        if self.custom.is_none() {
            hop.has_implicit_exception(Exc::KeyError)?;
        }
        hop.exception_is_here()
    }
}

impl ReprMethods for DictRepr {
    fn lowleveltype(&self) -> LLType {
        self.ty.ptr()
    }

    fn describe(&self) -> Description {
        Description::a("dict")
    }

    fn convert_const(&self, rt: &RTyper<'_>, c: &Const) -> Typed<LLConst> {
        super::statics::prebuilt(rt, c, self.ty)
    }

    fn get_ll_eq_function(&self, _: &RTyper<'_>) -> Typed<Option<FuncSym>> {
        Ok(None)
    }

    fn rtype_len(&self, hop: &Hop<'_>) -> RType {
        let v = hop.inputarg(&self.repr(), 0)?;
        Ok(Some(hop.llops.gendirectcall_to(
            "rdict.ll_dict_len",
            [v],
            *SIGNED,
        )))
    }

    fn rtype_bool(&self, hop: &Hop<'_>) -> RType {
        if let Some(c) = hop.result_const() {
            return c.map(Some);
        }
        let v = hop.inputarg(&self.repr(), 0)?;
        Ok(Some(hop.llops.gendirectcall_to(
            "rdict.ll_dict_bool",
            [v],
            *BOOL,
        )))
    }

    fn rtype_iter(&self, hop: &Hop<'_>) -> RType {
        super::iter::newiter(hop)
    }

    fn rtype_bltn_list(&self, hop: &Hop<'_>) -> RType {
        self.listing(hop, "rdict.ll_dict_keys", false)
    }

    fn rtype_method(&self, name: &str, hop: &Hop<'_>) -> RType {
        use DictMethod::*;
        let Some(method) = DictMethod::named(name) else {
            return Err(TyperError::missing(
                format_args!("`.{name}()`"),
                self.describe(),
            ));
        };
        let dict = self.repr();
        let value = self.value.lowleveltype();
        match method {
            Keys => self.listing(hop, "rdict.ll_dict_keys", false),
            Values => self.listing(hop, "rdict.ll_dict_values", false),
            Items => self.listing(hop, "rdict.ll_dict_items", true),
            IterKeys | IterValues | IterItems | IterKeysWithHash | IterItemsWithHash => {
                super::iter::newiter(hop)
            }
            HasKey => contains(hop, self),
            ContainsWithHash | GetItemWithHash | SetItemWithHash | DelItemWithHash
            | DelItemIfValueIs | MoveToEnd => self.special(method, hop),
            Get => {
                let [v, k] = [hop.inputarg(&dict, 0)?, hop.inputarg(&self.key, 1)?];
                let default = if hop.nb_args() > 2 {
                    hop.inputarg(&self.value, 2)?
                } else {
                    hop.inputconst(&self.value, &Const::None)?
                };
                hop.exception_cannot_occur()?;
                let v = self.call(hop, "rdict.ll_dict_get", [v, k, default], value)?;
                hop.convert_result(v, &self.value).map(Some)
            }
            SetDefault => {
                let args = hop.inputargs([&dict, &self.key, &self.value])?;
                hop.exception_cannot_occur()?;
                let v = self.call(hop, "rdict.ll_dict_setdefault", args, value)?;
                hop.convert_result(v, &self.value).map(Some)
            }
            Pop if hop.nb_args() == 2 => {
                let args = hop.inputargs([&dict, &self.key])?;
                self.maybe_key_error(hop)?;
                let v = self.call(hop, "rdict.ll_dict_pop", args, value)?;
                hop.convert_result(v, &self.value).map(Some)
            }
            Pop => {
                let args = hop.inputargs([&dict, &self.key, &self.value])?;
                hop.exception_cannot_occur()?;
                let v = self.call(hop, "rdict.ll_dict_pop_default", args, value)?;
                hop.convert_result(v, &self.value).map(Some)
            }
            PopItem => {
                let v = hop.inputarg(&dict, 0)?;
                let t = hop.r_result.lowleveltype();
                let container = t
                    .pointee()
                    .ok_or_else(|| TyperError::internal("popitem() gives a tuple"))?;
                let hash = self.hash_function(hop.rt)?;
                self.maybe_key_error(hop)?;
                let args = [ctype(container), v, hash];
                Ok(Some(hop.llops.gendirectcall_to(
                    "rdict.ll_dict_popitem",
                    args,
                    t,
                )))
            }
            Update => {
                let args = hop.inputargs([&dict, &dict])?;
                hop.exception_cannot_occur()?;
                self.call(hop, "rdict.ll_dict_update", args, *VOID)
                    .map(Some)
            }
            Clear => {
                let v = hop.inputarg(&dict, 0)?;
                hop.exception_cannot_occur()?;
                Ok(Some(hop.llops.gendirectcall_to(
                    "rdict.ll_dict_clear",
                    [v],
                    *VOID,
                )))
            }
            Copy => {
                let v = hop.inputarg(&dict, 0)?;
                hop.exception_cannot_occur()?;
                let t = self.lowleveltype();
                let v = hop.llops.gendirectcall_to("rdict.ll_dict_copy", [v], t);
                hop.convert_result(v, &dict).map(Some)
            }
            // Room for items changes none of them.
            PrepareUpdate => {
                hop.exception_cannot_occur()?;
                Ok(Some(crate::hop::cvoid()))
            }
        }
    }
}

/// Operations with a dict on the left.
pub(super) fn dict_pair(hop: &Hop<'_>, r1: &Repr, _: &Repr) -> Option<RType> {
    let Repr::Dict(d) = r1 else { return None };
    Some(match hop.op {
        HlOp::GetItem => getitem(hop, d),
        HlOp::SetItem => setitem(hop, d),
        HlOp::DelItem => delitem(hop, d),
        HlOp::Contains => contains(hop, d),
        _ => return None,
    })
}

fn getitem(hop: &Hop<'_>, d: &DictRepr) -> RType {
    let args = hop.inputargs([&d.repr(), &d.key])?;
    d.maybe_key_error(hop)?;
    let v = d.call(hop, "rdict.ll_dict_getitem", args, d.value.lowleveltype())?;
    hop.convert_result(v, &d.value).map(Some)
}

fn setitem(hop: &Hop<'_>, d: &DictRepr) -> RType {
    let args = hop.inputargs([&d.repr(), &d.key, &d.value])?;
    d.no_key_error(hop)?;
    d.call(hop, "rdict.ll_dict_setitem", args, *VOID).map(Some)
}

fn delitem(hop: &Hop<'_>, d: &DictRepr) -> RType {
    let args = hop.inputargs([&d.repr(), &d.key])?;
    d.maybe_key_error(hop)?;
    d.call(hop, "rdict.ll_dict_delitem", args, *VOID).map(Some)
}

fn contains(hop: &Hop<'_>, d: &DictRepr) -> RType {
    if let Some(c) = hop.result_const() {
        return c.map(Some);
    }
    let args = hop.inputargs([&d.repr(), &d.key])?;
    d.no_key_error(hop)?;
    d.call(hop, "rdict.ll_dict_contains", args, *BOOL).map(Some)
}

/// `{}`, `dict()`, `r_dict(...)`
pub(crate) fn rtype_newdict(hop: &Hop<'_>) -> RType {
    let Repr::Dict(d) = &hop.r_result else {
        return Err(TyperError::internal("newdict gives something else"));
    };
    hop.exception_cannot_occur()?;
    let t = d.lowleveltype();
    let v = (hop.llops).gendirectcall_to("rdict.ll_newdict", [ctype(d.ty)], t);
    if let Some((eq, hash)) = &d.custom {
        let functions = [(eq, "rdict.ll_bind_eq"), (hash, "rdict.ll_bind_hash")];
        for (i, (f, bind)) in functions.into_iter().enumerate() {
            if let Some(r) = &f.receiver {
                let receiver = hop.inputarg(r, i)?;
                hop.llops
                    .gendirectcall_to(bind, [v.clone(), receiver], *VOID);
            }
        }
    }
    Ok(Some(v))
}
