//! Tuples (RPython: `rtuple.py`): `GcStruct tuple { item0, item1, ... }`; the empty
//! one is Void.

use std::sync::Arc;

use taipan_annotator::{INSTEAD_OF_TUPLE_INDEX, SomeKind, SomeValue, VARIABLE_TUPLE_INDEX};
use taipan_base::ErrorCode;
use taipan_graph::{Const, HlOp};
use taipan_lltype::{
    BOOL, Field, FuncKind, FuncSym, FuncType, HelperArg, LLConst, LLOperand, LLType, SIGNED, STR,
    StaticSym, StructBody, VOID, View, VoidConst,
};

use super::eq_operand;
use crate::hop::{cbool, cfield, cflavor_gc, csigned, ctype, cvoid};
use crate::{Description, Hop, LLOps, RType, RTyper, Repr, ReprMethods, Typed, TyperError};

/// Tuples of these items.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TupleRepr {
    /// Reprs of the items.
    pub items: Arc<[Repr]>,
    /// The container type; Void for the empty tuple.
    pub ty: LLType,
}

/// The Repr of tuples of these items.
pub(crate) fn tuple_repr(rt: &RTyper<'_>, items: &Arc<[SomeValue]>) -> Typed<Repr> {
    let items: Typed<Vec<Repr>> = items.iter().map(|s| rt.getrepr(s)).collect();
    Ok(of_items(items?))
}

/// The Repr of tuples of items of these Reprs.
pub(super) fn of_items(items: Vec<Repr>) -> Repr {
    let ty = tuple_type(items.iter().map(Repr::lowleveltype));
    Repr::Tuple(Arc::new(TupleRepr {
        items: items.into(),
        ty,
    }))
}

fn tuple_type(items: impl Iterator<Item = LLType>) -> LLType {
    let fields: Vec<Field> = items
        .enumerate()
        .map(|(i, ty)| Field {
            name: field_name(i).into(),
            ty,
        })
        .collect();
    if fields.is_empty() {
        return *VOID;
    }
    let immutable = fields.iter().map(|f| f.name.clone()).collect();
    LLType::gc_struct(
        &format!("tuple{}", fields.len()),
        StructBody {
            fields,
            adtmeths: None,
            immutable,
            ..StructBody::default()
        },
    )
}

fn field_name(i: usize) -> String {
    format!("item{i}")
}

fn tuple_of(r: &Repr) -> Typed<&TupleRepr> {
    match r {
        Repr::Tuple(t) => Ok(t),
        other => Err(TyperError::internal(format!(
            "a tuple was expected, not {}",
            other.methods().describe()
        ))),
    }
}

/// Reprs of the items of a tuple's Repr.
pub(crate) fn tuple_items(r: &Repr) -> Typed<Vec<Repr>> {
    Ok(tuple_of(r)?.items.to_vec())
}

/// A new tuple of values in the form of the Repr's items.
pub(crate) fn newtuple(llops: &LLOps<'_>, r: &Repr, items: Vec<LLOperand>) -> Typed<LLOperand> {
    let t = tuple_of(r)?;
    if t.items.is_empty() {
        return Ok(cvoid());
    }
    let v = llops.genop(
        View::Malloc {
            ty: &ctype(t.ty),
            flavor: &cflavor_gc(),
            destructor: None,
        },
        t.ty.ptr(),
    );
    for (i, (item, r)) in items.into_iter().zip(&*t.items).enumerate() {
        if !r.is_void() {
            llops.genop_void(View::Setfield {
                object: &v,
                field: &cfield(&field_name(i)),
                value: &item,
            });
        }
    }
    Ok(v)
}

/// An item of a tuple, in the form of its own Repr, which comes too.
pub(crate) fn tuple_getitem(
    llops: &LLOps<'_>,
    r: &Repr,
    v: LLOperand,
    i: usize,
) -> Typed<(LLOperand, Repr)> {
    let t = tuple_of(r)?;
    let r_item = t
        .items
        .get(i)
        .ok_or_else(|| TyperError::internal("index beyond the end of a tuple"))?;
    if r_item.is_void() {
        return Ok((void_item(r_item), r_item.clone()));
    }
    let item = llops.genop(
        View::Getfield {
            object: &v,
            field: &cfield(&field_name(i)),
        },
        r_item.lowleveltype(),
    );
    Ok((item, r_item.clone()))
}

/// A Void value of a Repr, which may say more than its type.
fn void_item(r: &Repr) -> LLOperand {
    match r {
        Repr::LLType(t) => ctype(*t),
        Repr::LLFunc(f) => super::fn_operand(f.clone()),
        _ => cvoid(),
    }
}

impl TupleRepr {
    fn repr(&self) -> Repr {
        Repr::Tuple(Arc::new(self.clone()))
    }

    /// The function that the RTyper puts together for tuples of these items.
    fn synth(&self, name: &str, item_fns: Vec<VoidConst>, args: usize, result: LLType) -> FuncSym {
        let t = self.lowleveltype();
        let mut spec = vec![HelperArg::Type(t)];
        spec.extend(item_fns.into_iter().map(HelperArg::Const));
        FuncSym::new(
            FuncKind::Synth {
                name: name.into(),
                args: spec.into(),
            },
            FuncType {
                args: vec![t; args],
                result,
            },
        )
    }
}

fn void_fn(f: Option<FuncSym>) -> VoidConst {
    f.map_or(VoidConst::None, VoidConst::Func)
}

impl ReprMethods for TupleRepr {
    fn lowleveltype(&self) -> LLType {
        if self.items.is_empty() {
            *VOID
        } else {
            self.ty.ptr()
        }
    }

    fn describe(&self) -> Description {
        Description::a("tuple").with(format_args!("of {} items", self.items.len()))
    }

    fn convert_const(&self, _: &RTyper<'_>, c: &Const) -> Typed<LLConst> {
        match c {
            Const::None => Ok(LLConst::Null(self.lowleveltype())),
            Const::Tuple(items) if items.len() == self.items.len() => Ok(if items.is_empty() {
                LLConst::void()
            } else {
                LLConst::data(StaticSym::Value(c.clone(), self.ty), self.ty.ptr())
            }),
            other => Err(TyperError::internal(format!(
                "{other} is not {}",
                self.describe()
            ))),
        }
    }

    fn get_ll_eq_function(&self, rt: &RTyper<'_>) -> Typed<Option<FuncSym>> {
        let fns: Typed<Vec<VoidConst>> = self
            .items
            .iter()
            .map(|r| r.methods().get_ll_eq_function(rt).map(void_fn))
            .collect();
        Ok(Some(self.synth("tuple_eq", fns?, 2, *BOOL)))
    }

    fn get_ll_hash_function(&self, rt: &RTyper<'_>) -> Typed<FuncSym> {
        let fns: Typed<Vec<VoidConst>> = self
            .items
            .iter()
            .map(|r| Ok(VoidConst::Func(r.methods().get_ll_hash_function(rt)?)))
            .collect();
        Ok(self.synth("tuple_hash", fns?, 1, *SIGNED))
    }

    fn rtype_len(&self, _: &Hop<'_>) -> RType {
        Ok(Some(csigned(self.items.len() as i64)))
    }

    fn rtype_bool(&self, hop: &Hop<'_>) -> RType {
        match hop.result_const() {
            Some(c) => c.map(Some),
            None => Ok(Some(cbool(!self.items.is_empty()))),
        }
    }

    fn rtype_str(&self, hop: &Hop<'_>) -> RType {
        let tuple = hop.inputarg(&self.repr(), 0)?;
        let piece = |s: &str| hop.inputconst(&Repr::Str, &Const::str(s));
        let mut chunks = vec![piece("(")?];
        for (i, r) in self.items.iter().enumerate() {
            if i > 0 {
                chunks.push(piece(", ")?);
            }
            let (v, _) = tuple_getitem(hop.llops, &self.repr(), tuple.clone(), i)?;
            let mut one = hop.clone();
            one.args_v = vec![crate::hop::ArgValue::Low(v)];
            one.args_r = vec![r.clone()];
            one.args_s = match &hop.args_s[0].kind {
                taipan_annotator::SomeKind::Tuple(s) => vec![s[i].clone()],
                _ => return Err(TyperError::internal("a tuple without items")),
            };
            one.exceptionlinks = &[];
            let v = r
                .methods()
                .rtype_str(&one)?
                .ok_or_else(|| TyperError::new("an item without text"))?;
            chunks.push(v);
        }
        chunks.push(piece(if self.items.len() == 1 { ",)" } else { ")" })?);
        let v = super::format::join(hop, chunks, false);
        debug_assert_eq!(hop.llops.ty(&v), STR.ptr());
        Ok(Some(v))
    }

    fn rtype_getslice(&self, hop: &Hop<'_>) -> RType {
        let bound = |i: usize, default: usize| -> Typed<usize> {
            let n = self.items.len();
            Ok(match hop.const_arg(i) {
                Some(Const::None) => default,
                Some(Const::Int(k)) if *k < 0 => n.saturating_sub(k.unsigned_abs() as usize),
                Some(Const::Int(k)) => n.min(*k as usize),
                _ => {
                    return Err(TyperError::new("slicing a tuple needs constant bounds"));
                }
            })
        };
        let (start, stop) = (bound(1, 0)?, bound(2, self.items.len())?);
        let tuple = hop.inputarg(&self.repr(), 0)?;
        let r_items = tuple_items(&hop.r_result)?;
        let mut items = Vec::new();
        for (i, to) in (start..stop).zip(&r_items) {
            let (v, from) = tuple_getitem(hop.llops, &self.repr(), tuple.clone(), i)?;
            items.push(hop.llops.convertvar(v, &from, to)?);
        }
        newtuple(hop.llops, &hop.r_result, items).map(Some)
    }

    fn rtype_bltn_list(&self, hop: &Hop<'_>) -> RType {
        let list = super::list_of(&hop.r_result)?;
        let tuple = hop.inputarg(&self.repr(), 0)?;
        let mut items = Vec::new();
        for i in 0..self.items.len() {
            let (v, from) = tuple_getitem(hop.llops, &self.repr(), tuple.clone(), i)?;
            items.push(hop.llops.convertvar(v, &from, &list.item)?);
        }
        hop.exception_cannot_occur()?;
        Ok(Some(list.newlist(hop.llops, items)))
    }

    fn rtype_iter(&self, hop: &Hop<'_>) -> RType {
        super::iter::newiter(hop)
    }
}

/// Operations with a tuple on the left.
pub(super) fn tuple_pair(hop: &Hop<'_>, r1: &Repr, r2: &Repr) -> Option<RType> {
    let Repr::Tuple(t) = r1 else { return None };
    Some(match (hop.op.not_inplace(), r2) {
        (HlOp::GetItem, Repr::Int(_) | Repr::Bool) => getitem(hop, r1),
        (HlOp::Add, Repr::Tuple(_)) => concat(hop, r1, r2),
        (HlOp::Eq | HlOp::Ne, Repr::Tuple(_)) => compare(hop, r1, r2),
        (HlOp::Contains, _) => contains(hop, t),
        _ => return None,
    })
}

fn getitem(hop: &Hop<'_>, r: &Repr) -> RType {
    let n = tuple_of(r)?.items.len();
    let Some(Const::Int(i)) = hop.const_arg(1) else {
        return Err(
            TyperError::with_code(ErrorCode::VariableTupleIndex, VARIABLE_TUPLE_INDEX)
                .with_help(INSTEAD_OF_TUPLE_INDEX),
        );
    };
    let i = if *i < 0 { *i + n as i64 } else { *i };
    let i = usize::try_from(i)
        .map_err(|_| TyperError::internal("index before the start of a tuple"))?;
    if let Some(c) = hop.result_const() {
        hop.exception_cannot_occur()?;
        return c.map(Some);
    }
    let v = hop.inputarg(r, 0)?;
    hop.exception_cannot_occur()?;
    let (v, from) = tuple_getitem(hop.llops, r, v, i)?;
    hop.convert_result(v, &from).map(Some)
}

fn concat(hop: &Hop<'_>, r1: &Repr, r2: &Repr) -> RType {
    let [v1, v2] = hop.inputargs([r1, r2])?;
    let to = tuple_items(&hop.r_result)?;
    let n1 = tuple_of(r1)?.items.len();
    let mut items = Vec::with_capacity(to.len());
    for (i, to) in to.iter().enumerate() {
        let (r, v, i) = if i < n1 {
            (r1, &v1, i)
        } else {
            (r2, &v2, i - n1)
        };
        let (item, from) = tuple_getitem(hop.llops, r, v.clone(), i)?;
        items.push(hop.llops.convertvar(item, &from, to)?);
    }
    newtuple(hop.llops, &hop.r_result, items).map(Some)
}

/// Item by item, all of them: the items' own comparisons have no side effects.
fn compare(hop: &Hop<'_>, r1: &Repr, r2: &Repr) -> RType {
    if let Some(c) = hop.result_const() {
        return c.map(Some);
    }
    let (t1, t2) = (tuple_of(r1)?, tuple_of(r2)?);
    if t1.items.len() != t2.items.len() {
        return Ok(Some(cbool(hop.op == HlOp::Ne)));
    }
    let [v1, v2] = hop.inputargs([r1, r2])?;
    let mut equal = cbool(true);
    for i in 0..t1.items.len() {
        let (a, ra) = tuple_getitem(hop.llops, r1, v1.clone(), i)?;
        let (b, rb) = tuple_getitem(hop.llops, r2, v2.clone(), i)?;
        let r = common_repr(&ra, &rb);
        let a = hop.llops.convertvar(a, &ra, r)?;
        let b = hop.llops.convertvar(b, &rb, r)?;
        let eq = eq_operand(hop.rt, r)?;
        equal = hop
            .llops
            .gendirectcall_to("rtuple.ll_eq_items", [a, b, equal, eq], *BOOL);
    }
    hop.exception_cannot_occur()?;
    Ok(Some(super::maybe_negated(hop, equal)))
}

/// The Repr to compare values of two Reprs in: the more general one.
fn common_repr<'r>(a: &'r Repr, b: &'r Repr) -> &'r Repr {
    match (a, b) {
        (Repr::Char, Repr::Str) | (Repr::None, _) | (Repr::Bool | Repr::Int(_), Repr::Float) => b,
        (Repr::Bool, Repr::Int(_)) | (Repr::UniChar, Repr::Unicode) => b,
        _ => a,
    }
}

fn contains(hop: &Hop<'_>, t: &TupleRepr) -> RType {
    if let Some(c) = hop.result_const() {
        return c.map(Some);
    }
    let r_item = hop.args_r[1].clone();
    let tuple = hop.inputarg(&t.repr(), 0)?;
    let item = hop.inputarg(&r_item, 1)?;
    let mut found = cbool(false);
    let Some(Const::Tuple(constants)) = hop.const_arg(0).cloned() else {
        return Err(
            TyperError::not_rpython("`in` a tuple whose items are not constants")
                .with_help("write a list instead of the tuple"),
        );
    };
    if t.items.len() > 1 {
        // RPython looks into a dict of these.
        super::hash_operand(hop.rt, &r_item)?;
    }
    for i in 0..t.items.len() {
        if !may_equal(&hop.args_s[1].kind, &constants[i]) {
            continue;
        }
        let (v, from) = tuple_getitem(hop.llops, &t.repr(), tuple.clone(), i)?;
        let r = common_repr(&r_item, &from);
        let v = hop.llops.convertvar(v, &from, r)?;
        let item = hop.llops.convertvar(item.clone(), &r_item, r)?;
        let eq = eq_operand(hop.rt, r)?;
        found = hop
            .llops
            .gendirectcall_to("rtuple.ll_eq_any", [v, item, found, eq], *BOOL);
    }
    hop.exception_cannot_occur()?;
    Ok(Some(found))
}

/// Whether a value of that kind may be a constant: where the annotation of the constant
/// is none of its kind they are not compared, not even as `1` and `True` are in Python.
fn may_equal(kind: &SomeKind, c: &Const) -> bool {
    match (kind, c) {
        (SomeKind::Bool, _) => matches!(c, Const::Bool(_)),
        (SomeKind::Integer { kind, .. }, Const::RInt(of, _)) => kind == of,
        (SomeKind::Integer { .. }, _) => {
            matches!(c, Const::Int(_) | Const::Long(_) | Const::Bool(_))
        }
        (SomeKind::Float, _) => matches!(c, Const::Float(_) | Const::Int(_) | Const::Bool(_)),
        (SomeKind::SingleFloat, _) => matches!(c, Const::SingleFloat(_)),
        (SomeKind::Char { .. }, _) => matches!(c, Const::Str(s) if s.len() == 1),
        (SomeKind::UniChar, _) => matches!(c, Const::Unicode(s) if s.len() == 1),
        (SomeKind::Str { can_be_none, .. } | SomeKind::Unicode { can_be_none }, Const::None) => {
            *can_be_none
        }
        (SomeKind::Str { .. }, _) => matches!(c, Const::Str(_)),
        (SomeKind::Unicode { .. }, _) => matches!(c, Const::Unicode(_)),
        (SomeKind::None, _) => *c == Const::None,
        (_, Const::None | Const::Obj(_) | Const::Tuple(_)) => true,
        _ => false,
    }
}

/// `(a, b, ...)`
pub(crate) fn rtype_newtuple(hop: &Hop<'_>) -> RType {
    if let Some(c) = hop.result_const() {
        return c.map(Some);
    }
    let reprs = tuple_items(&hop.r_result)?;
    let mut items = Vec::with_capacity(reprs.len());
    for (i, r) in reprs.iter().enumerate() {
        items.push(hop.inputarg(r, i)?);
    }
    newtuple(hop.llops, &hop.r_result, items).map(Some)
}

/// Tuples of items that convert one by one.
pub(super) fn tuple_conversion(
    llops: &LLOps<'_>,
    v: LLOperand,
    from: &Repr,
    to: &Repr,
) -> Option<Typed<LLOperand>> {
    let (Repr::Tuple(a), Repr::Tuple(b)) = (from, to) else {
        return None;
    };
    if a.items.len() != b.items.len() {
        return None;
    }
    Some(convert_items(llops, v, from, to, &b.items))
}

fn convert_items(
    llops: &LLOps<'_>,
    v: LLOperand,
    from: &Repr,
    to: &Repr,
    reprs: &[Repr],
) -> Typed<LLOperand> {
    let mut items = Vec::with_capacity(reprs.len());
    for (i, r) in reprs.iter().enumerate() {
        let (item, r_item) = tuple_getitem(llops, from, v.clone(), i)?;
        items.push(llops.convertvar(item, &r_item, r)?);
    }
    newtuple(llops, to, items)
}

/// Emits the body of `tuple_eq`: the parameters are two tuples, the functions those
/// of the items.
pub(crate) fn gen_tuple_eq(
    llops: &LLOps<'_>,
    ty: LLType,
    fns: &[VoidConst],
    args: &[LLOperand],
) -> LLOperand {
    let mut equal = cbool(true);
    for (i, (f, t)) in fns.iter().zip(item_types(ty)).enumerate() {
        let [a, b] = [0, 1].map(|k: usize| item_of(llops, &args[k], i, t));
        let f = void_operand(f);
        equal = llops.gendirectcall_to("rtuple.ll_eq_items", [a, b, equal, f], *BOOL);
    }
    equal
}

/// Emits the body of `tuple_hash`.
pub(crate) fn gen_tuple_hash(
    llops: &LLOps<'_>,
    ty: LLType,
    fns: &[VoidConst],
    arg: &LLOperand,
) -> LLOperand {
    let mut hash = csigned(0x345678);
    for (i, (f, t)) in fns.iter().zip(item_types(ty)).enumerate() {
        let item = item_of(llops, arg, i, t);
        let f = void_operand(f);
        hash = llops.gendirectcall_to("rtuple.ll_mix_hash", [item, hash, f], *SIGNED);
    }
    hash
}

fn void_operand(f: &VoidConst) -> LLOperand {
    taipan_graph::Operand::Const(LLConst::Void(f.clone()))
}

pub(super) fn item_of(llops: &LLOps<'_>, tuple: &LLOperand, i: usize, ty: LLType) -> LLOperand {
    if ty.is_void() {
        return cvoid();
    }
    llops.genop(
        View::Getfield {
            object: tuple,
            field: &cfield(&field_name(i)),
        },
        ty,
    )
}

/// Types of the items, from the pointer type.
pub(super) fn item_types(ptr: LLType) -> Vec<LLType> {
    match ptr.pointee().and_then(LLType::as_struct).map(|s| &s.id) {
        Some(taipan_lltype::StructId::Inline(body)) => body.fields.iter().map(|f| f.ty).collect(),
        _ => vec![],
    }
}
