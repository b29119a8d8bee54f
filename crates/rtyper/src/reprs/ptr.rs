//! Low-level pointers as values (RPython: `rptr.py`).

use std::sync::Arc;

use taipan_annotator::{InteriorStep, SomeKind};
use taipan_graph::{Const, HlOp, Operand};
use taipan_lltype::{
    BOOL, Field, FuncSym, LLConst, LLOperand, LLType, NoProgram, NumFamily, NumOp, PlainOp, SIGNED,
    STR, StructBody, TypeKind, VOID, View, VoidConst, layout,
};

use crate::hop::{ArgValue, InteriorValue, cfield, cflavor_gc, csigned, ctype, cvoid};
use crate::{
    Description, Hop, LLOps, RType, RTyper, Repr, ReprMethods, Typed, TyperError, containers,
};

/// A pointer to a container.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PtrRepr {
    /// The pointer type.
    pub ty: LLType,
}

impl PtrRepr {
    fn target(&self) -> Typed<LLType> {
        self.ty
            .pointee()
            .ok_or_else(|| TyperError::internal(format!("{} is no pointer", self.ty)))
    }

    fn body(&self, rt: &RTyper<'_>) -> Typed<Arc<StructBody>> {
        match self.target()?.as_struct() {
            Some(s) => rt.struct_body(s),
            None => Err(TyperError::new(format!("{} has no fields", self.ty))),
        }
    }

    pub(super) fn field(&self, rt: &RTyper<'_>, name: &str) -> Typed<LLType> {
        let body = self.body(rt)?;
        body.fields
            .iter()
            .find(|f| &*f.name == name)
            .map(|f| f.ty)
            .ok_or_else(|| TyperError::new(format!("{} has no field '{name}'", self.ty)))
    }

    fn repr(&self) -> Repr {
        Repr::Ptr(*self)
    }

    /// The index that `itemN` of a fixed-size array stands for.
    fn item_field(&self, name: &str) -> Typed<Option<LLOperand>> {
        Ok(match self.target()?.kind() {
            TypeKind::FixedArray(..) => name
                .strip_prefix("item")
                .and_then(|i| i.parse().ok())
                .map(csigned),
            _ => None,
        })
    }

    /// Refuses what the collector would not see.
    fn check_store(&self, part: LLType) -> Typed<()> {
        if part.is_gc_ptr() && !self.target()?.is_gc_container() {
            return Err(TyperError::new(format!(
                "a pointer to an object of the heap is stored in raw memory ({}), where the \
                 collector does not look for it",
                self.ty
            )));
        }
        Ok(())
    }

    /// Type of an array's items.
    fn item(&self) -> Typed<LLType> {
        match self.target()?.kind() {
            TypeKind::Array(a) => Ok(a.of),
            TypeKind::FixedArray(of, _) => Ok(*of),
            _ => Err(TyperError::new(format!("{} has no items", self.ty))),
        }
    }
}

fn is_container(t: LLType) -> bool {
    matches!(
        t.kind(),
        TypeKind::Struct(_) | TypeKind::Array(_) | TypeKind::FixedArray(..)
    )
}

impl ReprMethods for PtrRepr {
    fn lowleveltype(&self) -> LLType {
        self.ty
    }

    fn describe(&self) -> Description {
        Description::a("low-level pointer").with(format_args!("({})", self.ty))
    }

    fn get_ll_eq_function(&self, _: &RTyper<'_>) -> Typed<Option<FuncSym>> {
        Ok(None)
    }

    fn rtype_getattr(&self, hop: &Hop<'_>) -> RType {
        if let Repr::AdtMeth(_) | Repr::BuiltinMethod(_) = &hop.r_result {
            return hop.inputarg(&self.repr(), 0).map(Some);
        }
        if let Some(c) = hop.result_const() {
            return c.map(Some);
        }
        let name = hop.const_name(1)?.to_owned();
        let v = hop.inputarg(&self.repr(), 0)?;
        if let Some(i) = self.item_field(&name)? {
            return item_of(hop, self, v, i);
        }
        let ty = self.field(hop.rt, &name)?;
        if !is_container(ty) {
            return Ok(Some(hop.genop(
                View::Getfield {
                    object: &v,
                    field: &cfield(&name),
                },
                ty,
            )));
        }
        let body = self.body(hop.rt)?;
        let first = body.fields.first().is_some_and(|f| *f.name == *name);
        let same_kind = ty.is_gc_container() == self.target()?.is_gc_container();
        if first && same_kind && ty.as_struct().is_some() {
            return Ok(Some(hop.genop(View::CastPointer { value: &v }, ty.ptr())));
        }
        if let Repr::InteriorPtr(_) = &hop.r_result {
            return Ok(Some(hop.interior(v, vec![cfield(&name)])));
        }
        Ok(Some(hop.genop(
            View::Getsubstruct {
                object: &v,
                field: &cfield(&name),
            },
            ty.ptr(),
        )))
    }

    fn rtype_setattr(&self, hop: &Hop<'_>) -> RType {
        let name = hop.const_name(1)?.to_owned();
        let v = hop.inputarg(&self.repr(), 0)?;
        if let Some(i) = self.item_field(&name)? {
            self.check_store(self.item()?)?;
            let value = input_of_type(hop, self.item()?, 2)?;
            hop.genop_void(View::Setarrayitem {
                array: &v,
                index: &i,
                value: &value,
            });
            return Ok(None);
        }
        let ty = self.field(hop.rt, &name)?;
        self.check_store(ty)?;
        let value = input_of_type(hop, ty, 2)?;
        hop.genop_void(View::Setfield {
            object: &v,
            field: &cfield(&name),
            value: &value,
        });
        Ok(None)
    }

    fn rtype_len(&self, hop: &Hop<'_>) -> RType {
        if let TypeKind::FixedArray(_, n) = self.target()?.kind() {
            return Ok(Some(csigned(*n as i64)));
        }
        let v = hop.inputarg(&self.repr(), 0)?;
        Ok(Some(hop.genop(View::Getarraysize { array: &v }, *SIGNED)))
    }

    fn rtype_bool(&self, hop: &Hop<'_>) -> RType {
        let v = hop.inputarg(&self.repr(), 0)?;
        Ok(Some(hop.genop(View::PtrNonzero { value: &v }, *BOOL)))
    }

    fn rtype_str(&self, hop: &Hop<'_>) -> RType {
        let v = hop.inputarg(&self.repr(), 0)?;
        hop.exception_cannot_occur()?;
        let text = hop
            .llops
            .gendirectcall_to("rclass.ll_ptr_str", [v], STR.ptr());
        Ok(Some(text))
    }

    /// A call with `*tuple` at the end.
    fn rtype_call_args(&self, hop: &Hop<'_>) -> RType {
        let Some(Const::Shape(shape)) = hop.const_arg(1).cloned() else {
            return Err(TyperError::internal("a call without a shape"));
        };
        if !shape.keywords.is_empty() {
            return Err(TyperError::new("a function pointer takes no keywords"));
        }
        let mut hop = hop.clone();
        hop.r_s_pop(1);
        if shape.star {
            let last = hop.nb_args() - 1;
            let r_tuple = hop.args_r[last].clone();
            let v = hop.inputarg(&r_tuple, last)?;
            let (_, s, _) = hop.r_s_pop(last);
            let SomeKind::Tuple(items) = s.kind else {
                return Err(TyperError::new("*args that are no tuple"));
            };
            for (i, s) in items.iter().enumerate() {
                let (v, r) = containers::tuple_getitem(hop.llops, &r_tuple, v.clone(), i)?;
                hop.args_v.push(ArgValue::Low(v));
                hop.args_s.push(s.clone());
                hop.args_r.push(r);
            }
        }
        self.rtype_simple_call(&hop)
    }

    /// `lltype.scoped_alloc` as a context manager: the pointer itself.
    fn rtype_method(&self, name: &str, hop: &Hop<'_>) -> RType {
        if name == "__enter__" {
            hop.exception_cannot_occur()?;
            return hop.inputarg(&self.repr(), 0).map(Some);
        }
        super::lowlevel::free(hop)
    }

    fn rtype_simple_call(&self, hop: &Hop<'_>) -> RType {
        let target = self.target()?;
        let f = target
            .as_func()
            .ok_or_else(|| TyperError::new(format!("a call of {target}, which is no function")))?;
        if f.args.len() + 1 != hop.nb_args() {
            return Err(TyperError::new(format!(
                "a call with {} arguments of a function that takes {}",
                hop.nb_args() - 1,
                f.args.len()
            )));
        }
        let callee = hop.inputarg(&self.repr(), 0)?;
        let known = matches!(callee, Operand::Const(LLConst::Func(_)));
        let mut args = Vec::with_capacity(f.args.len());
        for (i, t) in f.args.iter().enumerate() {
            args.push(input_of_type(hop, *t, i + 1)?);
        }
        hop.exception_is_here()?;
        let (callee, args) = (&callee, &args[..]);
        let targets = &cvoid();
        let call = match known {
            true => View::DirectCall { callee, args },
            false => View::IndirectCall {
                callee,
                args,
                targets,
            },
        };
        Ok(Some(hop.genop(call, f.result)))
    }
}

/// An argument as a value of a low-level type, converted among numbers where needed.
pub(crate) fn input_of_type(hop: &Hop<'_>, ty: LLType, i: usize) -> Typed<LLOperand> {
    let r = &hop.args_r[i];
    if r.lowleveltype() == ty && !matches!(hop.args_v[i], ArgValue::Const(_)) {
        return hop.inputarg(&r.clone(), i);
    }
    hop.inputarg(&hop.rt.lltype_repr(ty), i)
}

/// A pointer to a container inlined in a GC container. Every access starts from the
/// container (`getinteriorfield`), so that the collector may move it: within a block
/// the container and the way into it are kept as operands, between blocks and functions
/// in an object of their own.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct InteriorPtrRepr {
    /// The GC container.
    pub parent: LLType,
    /// The way from there.
    pub path: Arc<[InteriorStep]>,
    /// The inlined container.
    pub to: LLType,
}

impl InteriorPtrRepr {
    /// The container and the indices on the way, as an object of their own.
    fn boxed(&self) -> LLType {
        let indices = self.path.iter().filter(|s| **s == InteriorStep::Item);
        let mut fields = vec![Field {
            name: "base".into(),
            ty: self.parent.ptr(),
        }];
        fields.extend(indices.enumerate().map(|(i, _)| Field {
            name: format!("index{i}").into(),
            ty: *SIGNED,
        }));
        LLType::gc_struct(
            "interior_ptr",
            StructBody {
                fields,
                ..StructBody::default()
            },
        )
    }

    /// A pointer that leaves the block in which it is made.
    pub(crate) fn make_box(&self, llops: &LLOps<'_>, v: &InteriorValue) -> LLOperand {
        let ty = self.boxed();
        let made = llops.genop(
            View::Malloc {
                ty: &ctype(ty),
                flavor: &cflavor_gc(),
                destructor: None,
            },
            ty.ptr(),
        );
        let set = |name: &str, value: LLOperand| {
            llops.genop_void(View::Setfield {
                object: &made,
                field: &cfield(name),
                value: &value,
            });
        };
        set("base", v.base.clone());
        let steps = self.path.iter().zip(&v.path);
        let indices = steps.filter(|(s, _)| **s == InteriorStep::Item);
        for (i, (_, index)) in indices.enumerate() {
            set(&format!("index{i}"), index.clone());
        }
        made
    }

    fn value(&self, hop: &Hop<'_>) -> Typed<InteriorValue> {
        let made = match &hop.args_v[0] {
            ArgValue::Interior(v) => return Ok(v.clone()),
            ArgValue::Low(v) => v.clone(),
            ArgValue::Const(_) => {
                return Err(TyperError::internal("a constant pointer to a part"));
            }
        };
        let get = |name: &str, ty| {
            hop.genop(
                View::Getfield {
                    object: &made,
                    field: &cfield(name),
                },
                ty,
            )
        };
        let base = get("base", self.parent.ptr());
        let mut n = 0;
        let mut path = Vec::with_capacity(self.path.len());
        for step in self.path.iter() {
            path.push(match step {
                InteriorStep::Field(name) => cfield(name),
                InteriorStep::Item => {
                    n += 1;
                    get(&format!("index{}", n - 1), *SIGNED)
                }
            });
        }
        Ok(InteriorValue { base, path })
    }

    /// A field, or the index that `itemN` of a fixed-size array stands for.
    fn part(&self, rt: &RTyper<'_>, name: &str) -> Typed<(LLOperand, LLType)> {
        let r = PtrRepr { ty: self.to.ptr() };
        Ok(match r.item_field(name)? {
            Some(index) => (index, r.item()?),
            None => (cfield(name), r.field(rt, name)?),
        })
    }

    fn steps(&self, hop: &Hop<'_>, last: LLOperand) -> Typed<Vec<LLOperand>> {
        let v = self.value(hop)?;
        let mut all = vec![v.base];
        all.extend(v.path);
        all.push(last);
        Ok(all)
    }

    fn access(&self, hop: &Hop<'_>, last: LLOperand, ty: LLType) -> RType {
        if is_container(ty) {
            let mut v = self.value(hop)?;
            v.path.push(last);
            return Ok(Some(hop.interior(v.base, v.path)));
        }
        let args = self.steps(hop, last)?;
        Ok(Some(hop.genop(PlainOp::Getinteriorfield.view(&args), ty)))
    }
}

impl ReprMethods for InteriorPtrRepr {
    fn lowleveltype(&self) -> LLType {
        self.boxed().ptr()
    }

    fn describe(&self) -> Description {
        Description::a("pointer").with(format_args!("to a part ({})", self.to))
    }

    fn rtype_len(&self, hop: &Hop<'_>) -> RType {
        if let TypeKind::FixedArray(_, n) = self.to.kind() {
            return Ok(Some(csigned(*n as i64)));
        }
        let v = self.value(hop)?;
        let mut args = vec![v.base];
        args.extend(v.path);
        Ok(Some(
            hop.genop(PlainOp::Getinteriorarraysize.view(&args), *SIGNED),
        ))
    }

    fn rtype_getattr(&self, hop: &Hop<'_>) -> RType {
        let (step, ty) = self.part(hop.rt, hop.const_name(1)?)?;
        self.access(hop, step, ty)
    }

    fn rtype_setattr(&self, hop: &Hop<'_>) -> RType {
        let (step, ty) = self.part(hop.rt, hop.const_name(1)?)?;
        let mut args = self.steps(hop, step)?;
        args.push(input_of_type(hop, ty, 2)?);
        hop.genop_void(PlainOp::Setinteriorfield.view(&args));
        Ok(None)
    }
}

/// A method of a low-level type, bound: represented as the pointer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct AdtMethRepr {
    /// Type of the pointer.
    pub ptr: LLType,
    /// Name of the method.
    pub name: Arc<str>,
}

impl ReprMethods for AdtMethRepr {
    fn lowleveltype(&self) -> LLType {
        self.ptr
    }

    fn describe(&self) -> Description {
        Description::a("method").with(format_args!("of {}", self.ptr))
    }

    fn rtype_simple_call(&self, hop: &Hop<'_>) -> RType {
        crate::calls::rtype_call(hop)
    }
}

/// Items of arrays, and comparison of pointers.
pub(crate) fn ptr_pair(hop: &Hop<'_>, r1: &Repr, r2: &Repr) -> Option<RType> {
    let op = match hop.op {
        HlOp::Eq | HlOp::Is => Some(PlainOp::PtrEq),
        HlOp::Ne => Some(PlainOp::PtrNe),
        _ => None,
    };
    match (r1, r2, hop.op, op) {
        (Repr::LLType(_), Repr::LLType(_), _, Some(_)) => hop.result_const().map(|c| c.map(Some)),
        (Repr::Ptr(_), _, _, Some(op)) => Some(compare(hop, r1, op)),
        (_, Repr::Ptr(_), _, Some(op)) => Some(compare(hop, r2, op)),
        (Repr::Ptr(r), Repr::Int(_) | Repr::Bool, HlOp::GetItem, _) => Some(getitem(hop, r)),
        (Repr::Ptr(r), Repr::Int(_) | Repr::Bool, HlOp::SetItem, _) => Some(setitem(hop, r)),
        (Repr::InteriorPtr(r), Repr::Int(_) | Repr::Bool, HlOp::GetItem, _) => {
            Some(interior_getitem(hop, r))
        }
        (Repr::InteriorPtr(r), Repr::Int(_) | Repr::Bool, HlOp::SetItem, _) => {
            Some(interior_setitem(hop, r))
        }
        _ => None,
    }
}

fn compare(hop: &Hop<'_>, r: &Repr, op: PlainOp) -> RType {
    if let Some(c) = hop.result_const() {
        return c.map(Some);
    }
    let args = hop.inputargs([r, r])?;
    Ok(Some(hop.genop(op.view(&args), *BOOL)))
}

fn getitem(hop: &Hop<'_>, r: &PtrRepr) -> RType {
    let [v, index] = hop.inputargs([&r.repr(), &Repr::signed()])?;
    item_of(hop, r, v, index)
}

/// In checked builds: that an index is one of an array that knows its length.
fn assert_index(hop: &Hop<'_>, r: &PtrRepr, v: &LLOperand, index: &LLOperand) -> Typed<()> {
    if !hop.rt.is_checked() {
        return Ok(());
    }
    let length = match r.target()?.kind() {
        TypeKind::FixedArray(_, n) => csigned(*n as i64),
        TypeKind::Array(a) if !a.nolength => hop.genop(View::Getarraysize { array: v }, *SIGNED),
        _ => return Ok(()),
    };
    containers::assert_inside(hop, index.clone(), length);
    Ok(())
}

fn item_of(hop: &Hop<'_>, r: &PtrRepr, v: LLOperand, index: LLOperand) -> RType {
    let item = r.item()?;
    hop.exception_cannot_occur()?;
    assert_index(hop, r, &v, &index)?;
    if !is_container(item) {
        return Ok(Some(hop.genop(
            View::Getarrayitem {
                array: &v,
                index: &index,
            },
            item,
        )));
    }
    if let Repr::InteriorPtr(_) = &hop.r_result {
        return Ok(Some(hop.interior(v, vec![index])));
    }
    Ok(Some(hop.genop(
        View::Getarraysubstruct {
            array: &v,
            index: &index,
        },
        item.ptr(),
    )))
}

fn setitem(hop: &Hop<'_>, r: &PtrRepr) -> RType {
    let item = r.item()?;
    r.check_store(item)?;
    let v = hop.inputarg(&r.repr(), 0)?;
    let index = hop.inputarg(&Repr::signed(), 1)?;
    let value = input_of_type(hop, item, 2)?;
    hop.exception_cannot_occur()?;
    assert_index(hop, r, &v, &index)?;
    hop.genop_void(View::Setarrayitem {
        array: &v,
        index: &index,
        value: &value,
    });
    Ok(None)
}

fn interior_getitem(hop: &Hop<'_>, r: &InteriorPtrRepr) -> RType {
    let item = PtrRepr { ty: r.to.ptr() }.item()?;
    let index = hop.inputarg(&Repr::signed(), 1)?;
    hop.exception_cannot_occur()?;
    r.access(hop, index, item)
}

fn interior_setitem(hop: &Hop<'_>, r: &InteriorPtrRepr) -> RType {
    let item = PtrRepr { ty: r.to.ptr() }.item()?;
    let index = hop.inputarg(&Repr::signed(), 1)?;
    let mut args = r.steps(hop, index)?;
    args.push(input_of_type(hop, item, 2)?);
    hop.exception_cannot_occur()?;
    hop.genop_void(PlainOp::Setinteriorfield.view(&args));
    Ok(None)
}

/// Between pointer Reprs and what else has the same low-level type (a helper's
/// argument may be any of the Reprs that end in that pointer).
pub(crate) fn ptr_conversion(
    llops: &LLOps<'_>,
    v: LLOperand,
    from: &Repr,
    to: &Repr,
) -> Option<Typed<LLOperand>> {
    let pointer = |r: &Repr| matches!(r, Repr::Ptr(_) | Repr::AdtMeth(_));
    if !pointer(from) && !pointer(to) {
        return None;
    }
    let (a, b) = (from.lowleveltype(), to.lowleveltype());
    if a == b {
        return Some(Ok(v));
    }
    // Instances of one hierarchy are cast as among InstanceReprs.
    match (from, to) {
        (Repr::Instance(_), Repr::Ptr(_)) | (Repr::Ptr(_), Repr::Instance(_)) => {
            let both_structs =
                a.pointee()?.as_struct().is_some() && b.pointee()?.as_struct().is_some();
            both_structs.then(|| Ok(super::instance::cast_pointer(llops, v, b)))
        }
        _ => None,
    }
}

/// Raw addresses.
#[derive(Debug)]
pub(crate) struct AddressRepr;

impl ReprMethods for AddressRepr {
    fn lowleveltype(&self) -> LLType {
        *taipan_lltype::ADDRESS
    }

    fn describe(&self) -> Description {
        Description::an("address")
    }

    fn get_ll_eq_function(&self, _: &RTyper<'_>) -> Typed<Option<FuncSym>> {
        Ok(None)
    }

    fn get_ll_hash_function(&self, rt: &RTyper<'_>) -> Typed<FuncSym> {
        rt.helper_for("rclass.ll_address_hash", &[*taipan_lltype::ADDRESS])
    }

    /// `adr.signed`: the address itself, for the access that follows.
    fn rtype_getattr(&self, hop: &Hop<'_>) -> RType {
        hop.inputarg(&Repr::Address, 0).map(Some)
    }

    fn rtype_bool(&self, hop: &Hop<'_>) -> RType {
        let v = hop.inputarg(&Repr::Address, 0)?;
        let null = Operand::Const(LLConst::Null(self.lowleveltype()));
        Ok(Some(hop.genop(
            View::AdrNe {
                left: &v,
                right: &null,
            },
            *BOOL,
        )))
    }
}

/// Arithmetic and comparison of addresses.
pub(crate) fn address_pair(hop: &Hop<'_>, r1: &Repr, r2: &Repr) -> Option<RType> {
    let op = hop.op.not_inplace();
    let (second, plain, result) = match (r1, r2, op) {
        (Repr::Address, Repr::Address, HlOp::Sub) => (Repr::Address, PlainOp::AdrDelta, *SIGNED),
        (Repr::Address, Repr::Int(_), HlOp::Add) => {
            (Repr::signed(), PlainOp::AdrAdd, *taipan_lltype::ADDRESS)
        }
        (Repr::Address, Repr::Int(_), HlOp::Sub) => {
            (Repr::signed(), PlainOp::AdrSub, *taipan_lltype::ADDRESS)
        }
        (Repr::Address, Repr::Address, op) => {
            let plain = match op {
                HlOp::Eq | HlOp::Is => PlainOp::AdrEq,
                HlOp::Ne => PlainOp::AdrNe,
                HlOp::Lt => PlainOp::AdrLt,
                HlOp::Le => PlainOp::AdrLe,
                HlOp::Gt => PlainOp::AdrGt,
                HlOp::Ge => PlainOp::AdrGe,
                _ => return None,
            };
            (Repr::Address, plain, *BOOL)
        }
        _ => return None,
    };
    Some(
        hop.inputargs([&Repr::Address, &second])
            .map(|args| Some(hop.genop(plain.view(&args), result))),
    )
}

/// `adr.signed[i]` and its like, read and written.
pub(crate) fn address_access(hop: &Hop<'_>, r1: &Repr, r2: &Repr) -> Option<RType> {
    let (Repr::BuiltinMethod(m), Repr::Int(_) | Repr::Bool) = (r1, r2) else {
        return None;
    };
    let ty = match m.self_repr {
        Repr::Address => taipan_annotator::accessed_type(&m.name)?,
        _ => return None,
    };
    Some(match hop.op {
        HlOp::GetItem | HlOp::SetItem => access_memory(hop, r1, ty),
        _ => return None,
    })
}

fn access_memory(hop: &Hop<'_>, r: &Repr, ty: LLType) -> RType {
    let at = hop.inputarg(r, 0)?;
    let index = hop.inputarg(&Repr::signed(), 1)?;
    let size = layout(ty, &NoProgram).size as i64;
    let offset = hop.llops.genop(
        View::Binary {
            family: NumFamily::Int,
            op: NumOp::Mul,
            left: &index,
            right: &csigned(size),
        },
        *SIGNED,
    );
    hop.exception_cannot_occur()?;
    if hop.op == HlOp::GetItem {
        return Ok(Some(hop.genop(
            View::RawLoad {
                address: &at,
                offset: &offset,
            },
            ty,
        )));
    }
    let value = input_of_type(hop, ty, 2)?;
    hop.genop_void(View::RawStore {
        address: &at,
        offset: &offset,
        value: &value,
    });
    Ok(None)
}

/// A low-level type as a value: Void.
#[derive(Debug)]
pub(crate) struct LLTypeRepr;

impl ReprMethods for LLTypeRepr {
    fn lowleveltype(&self) -> LLType {
        *VOID
    }

    fn describe(&self) -> Description {
        Description::a("low-level type")
    }

    fn convert_const(&self, _: &RTyper<'_>, c: &taipan_graph::Const) -> Typed<LLConst> {
        Ok(crate::rtyper::void_const(c))
    }

    fn rtype_str(&self, hop: &Hop<'_>) -> RType {
        let Repr::LLType(t) = &hop.args_r[0] else {
            return Err(TyperError::internal("no low-level type"));
        };
        hop.exception_cannot_occur()?;
        let text = Const::str(&t.to_string());
        hop.inputconst(&Repr::Str, &text).map(Some)
    }

    /// Everything about a type is known while compiling; its parts are types themselves.
    fn rtype_getattr(&self, hop: &Hop<'_>) -> RType {
        match hop.result_const() {
            Some(c) => c.map(Some),
            None => Ok(Some(cvoid())),
        }
    }
}

/// A low-level function as a value: Void.
#[derive(Debug)]
pub(crate) struct LLFuncRepr;

impl ReprMethods for LLFuncRepr {
    fn lowleveltype(&self) -> LLType {
        *VOID
    }

    fn describe(&self) -> Description {
        Description::a("low-level function")
    }

    fn convert_const(&self, _: &RTyper<'_>, c: &taipan_graph::Const) -> Typed<LLConst> {
        Ok(crate::rtyper::void_const(c))
    }

    fn rtype_simple_call(&self, hop: &Hop<'_>) -> RType {
        match &hop.args_r[0] {
            Repr::LLFunc(f) => crate::calls::call_llfunc(hop, &f.clone()),
            _ => Err(TyperError::internal("not a low-level function")),
        }
    }
}

/// The low-level type that an argument stands for.
pub(crate) fn type_arg(hop: &Hop<'_>, i: usize) -> Typed<LLType> {
    match &hop.args_s[i].kind {
        SomeKind::LLType(t) => Ok(*t),
        _ => match &hop.args_v[i] {
            ArgValue::Low(Operand::Const(LLConst::Void(VoidConst::Type(t)))) => Ok(*t),
            _ => Err(TyperError::new(
                "a low-type argument that is not a constant type",
            )),
        },
    }
}
