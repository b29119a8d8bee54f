//! What a program gives low-level types besides their fields (RPython: `adtmeths`).
//!
//! A type names its table by id, since types compare by content. Tables with the same
//! names for the same objects are one.

use taipan_graph::ObjId;
use taipan_lltype::{LLType, adtmeths};

use crate::space::builtin::Args;
use crate::space::dict::Dict;
use crate::space::heap::{Kind, Ref};
use crate::space::types::ty;
use crate::space::value::Value;
use crate::space::{Interp, R};
use crate::stable_id;

/// The table that `adtmeths={..}` of a call stands for; none where it is left out.
pub(super) fn table(it: &mut Interp, args: Args<'_>) -> R<Option<ObjId>> {
    let Some(Value::Ref(given)) = args.keyword("adtmeths") else {
        return Ok(None);
    };
    let Some(dict) = it.heap.dict_of(*given).filter(|d| d.len() > 0).cloned() else {
        return Ok(None);
    };
    it.spoil();
    for (id, r) in it.heap.adtmeths.clone() {
        if is_same(it, r, &dict)? {
            return Ok(Some(id));
        }
    }
    let r = it.heap.dict(dict);
    let site = it.heap.get(r).site;
    let place = match it.heap.sites[site.code as usize] {
        Some(code) => code.qualname(it.db).to_string(),
        None => String::new(),
    };
    let nth = it.heap.adtmeths.len().to_string();
    let id = stable_id(&["adtmeths", &place, &site.pc.to_string(), &nth]);
    it.heap.adtmeths.push((id, r));
    Ok(Some(id))
}

fn is_same(it: &mut Interp, a: Ref, b: &Dict) -> R<bool> {
    let a = it.dict_items(a)?;
    if a.len() != b.len() {
        return Ok(false);
    }
    for (name, v) in a {
        let Some(other) = name.as_text().and_then(|n| b.get_str(n)) else {
            return Ok(false);
        };
        let (v, other) = (inner(it, &v), inner(it, other));
        if !it.eq(&v, &other)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The function of a static method, which has no equality of its own.
fn inner(it: &Interp, v: &Value) -> Value {
    match v.as_ref().map(|r| it.heap.kind(r)) {
        Some(Kind::StaticMethod(f)) => f.clone(),
        _ => v.clone(),
    }
}

impl Interp<'_> {
    fn adtmeth(&self, t: LLType, name: &str) -> Option<Value> {
        let id = adtmeths(t)?;
        let (_, r) = self.heap.adtmeths.iter().find(|(i, _)| *i == id)?;
        self.heap.item(*r, name).cloned()
    }

    /// `T.name`, where `T` is a type and the name is none of its fields.
    pub(crate) fn type_adtmeth(&mut self, t: LLType, name: &str) -> R<Option<Value>> {
        let Some(v) = self.adtmeth(t, name) else {
            return Ok(None);
        };
        let of_type = match &v {
            Value::Ref(r) if matches!(self.heap.kind(*r), Kind::Function(_)) => {
                self.heap.attr(*r, "_type_method").is_some()
            }
            _ => false,
        };
        if of_type {
            let t = self.lltype(t);
            return self.bind(&v, Some(&t), ty::LLTYPE).map(Some);
        }
        Ok(Some(v))
    }

    /// `p.name`, where `p` is a pointer to such a container and the name is none of its
    /// fields: functions are bound to the pointer.
    pub(crate) fn pointer_adtmeth(
        &mut self,
        pointer: &Value,
        to: LLType,
        name: &str,
    ) -> R<Option<Value>> {
        match self.adtmeth(to, name) {
            Some(v) => self.bind(&v, Some(pointer), ty::LLPTR).map(Some),
            None => Ok(None),
        }
    }
}
