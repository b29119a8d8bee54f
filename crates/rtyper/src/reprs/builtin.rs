//! Calls of builtin functions and methods (RPython: `rbuiltin.py`).

use std::sync::Arc;

use taipan_annotator::SomeValue;
use taipan_graph::{Const, Operand};
use taipan_lltype::{
    BOOL, LLConst, LLOp, LLOperand, LLType, PlainOp, SIGNED, VOID, VoidConst, external,
};

use crate::hop::{ArgValue, cvoid};
use crate::reprs::InstanceRepr;
use crate::reprs::ptr::{input_of_type, type_arg};
use crate::{Hop, LLOps, RType, RTyper, Repr, ReprMethods, Typed, TyperError, containers};

/// A builtin function: Void, known by name.
#[derive(Debug)]
pub struct BuiltinFunctionRepr;

impl ReprMethods for BuiltinFunctionRepr {
    fn lowleveltype(&self) -> LLType {
        *VOID
    }

    fn describe(&self) -> String {
        "a builtin function".into()
    }

    fn convert_const(&self, _: &RTyper<'_>, c: &Const) -> Typed<LLConst> {
        Ok(crate::rtyper::void_const(c))
    }

    fn rtype_getattr(&self, hop: &Hop<'_>) -> RType {
        match hop.result_const() {
            Some(c) => c.map(Some),
            None => Ok(Some(cvoid())),
        }
    }

    fn rtype_simple_call(&self, hop: &Hop<'_>) -> RType {
        let name = match &hop.args_r[0] {
            Repr::Builtin(name) => name.clone(),
            _ => return Err(TyperError::internal("not a builtin function")),
        };
        let mut hop2 = hop.clone();
        hop2.r_s_pop(0);
        rtype_builtin(&name, &hop2)
    }

    fn rtype_call_args(&self, hop: &Hop<'_>) -> RType {
        let Some(Const::Shape(shape)) = hop.const_arg(1).cloned() else {
            return Err(TyperError::internal("a call without a shape"));
        };
        let name = match &hop.args_r[0] {
            Repr::Builtin(name) => name.clone(),
            _ => return Err(TyperError::internal("not a builtin function")),
        };
        if shape.star {
            return Err(TyperError::new(format!("*args in a call of {name}")));
        }
        let mut hop2 = hop.clone();
        hop2.r_s_pop(0);
        hop2.r_s_pop(0);
        // Keyword arguments come last; the typers below look them up by name.
        hop2.keywords = shape.keywords.clone();
        rtype_builtin(&name, &hop2)
    }
}

/// A method of a builtin kind, bound: represented as its self.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BuiltinMethodRepr {
    /// Name of the method.
    pub name: Arc<str>,
    /// Annotation of self.
    pub s_self: SomeValue,
    /// Repr of self.
    pub self_repr: Repr,
}

impl BuiltinMethodRepr {
    /// The method of that name.
    pub fn new(name: Arc<str>, s_self: SomeValue, self_repr: Repr) -> Self {
        BuiltinMethodRepr {
            name,
            s_self,
            self_repr,
        }
    }

    fn call(&self, hop: &Hop<'_>, mut hop2: Hop<'_>) -> RType {
        if let ArgValue::Const(Const::Obj(o)) = &hop.args_v[0]
            && let taipan_interp::ObjData::Builtin {
                im_self: Some(s), ..
            } = &*hop.rt.object(*o)?
        {
            hop2.args_v[0] = ArgValue::Const(s.clone());
        }
        hop2.args_s[0] = self.s_self.clone();
        hop2.args_r[0] = self.self_repr.clone();
        self.self_repr.methods().rtype_method(&self.name, &hop2)
    }
}

impl ReprMethods for BuiltinMethodRepr {
    fn lowleveltype(&self) -> LLType {
        self.self_repr.lowleveltype()
    }

    fn describe(&self) -> String {
        format!(
            "the method '{}' of {}",
            self.name,
            self.self_repr.methods().describe()
        )
    }

    fn convert_const(&self, rt: &RTyper<'_>, c: &Const) -> Typed<LLConst> {
        if let Const::Obj(o) = c
            && let taipan_interp::ObjData::Builtin {
                im_self: Some(s), ..
            } = &*rt.object(*o)?
        {
            return self.self_repr.convert_const(rt, s);
        }
        self.self_repr.convert_const(rt, c)
    }

    fn rtype_simple_call(&self, hop: &Hop<'_>) -> RType {
        self.call(hop, hop.clone())
    }

    fn rtype_call_args(&self, hop: &Hop<'_>) -> RType {
        let Some(Const::Shape(shape)) = hop.const_arg(1).cloned() else {
            return Err(TyperError::internal("a call without a shape"));
        };
        if shape.star {
            return Err(TyperError::new(format!(
                "*args in a call of {}",
                self.describe()
            )));
        }
        let mut hop2 = hop.clone();
        hop2.r_s_pop(1);
        hop2.keywords = shape.keywords.clone();
        self.call(hop, hop2)
    }
}

/// Bound builtin methods of one name convert like their selves.
pub fn builtin_conversion(
    llops: &LLOps<'_>,
    v: LLOperand,
    from: &Repr,
    to: &Repr,
) -> Option<Typed<LLOperand>> {
    if let Some(result) = super::weakref::weakref_conversion(llops, v.clone(), from, to) {
        return Some(result);
    }
    match (from, to) {
        (Repr::BuiltinMethod(a), Repr::BuiltinMethod(b)) if a.name == b.name => {
            Some(llops.convertvar(v, &a.self_repr, &b.self_repr))
        }
        (_, Repr::Builtin(_) | Repr::LLType(_) | Repr::LLFunc(_)) => Some(Ok(cvoid())),
        _ => None,
    }
}

/// The last two parts of a qualified name: `rpython.rlib.rarithmetic.intmask` is
/// `rarithmetic.intmask` wherever it is imported from.
fn short_name(name: &str) -> &str {
    match name.rmatch_indices('.').nth(1) {
        Some((i, _)) => &name[i + 1..],
        None => name,
    }
}

/// Types a call of a builtin function. The arguments of the call are those of `hop`.
fn rtype_builtin(name: &str, hop: &Hop<'_>) -> RType {
    let short = short_name(name);
    if let Some(op) = short.strip_prefix("llop.") {
        return low_level_operation(op, hop);
    }
    if let Some(f) = name.strip_prefix("taipan_lowlevel.").and_then(external) {
        return call_external(hop, &f);
    }
    if let Some(result) = containers::rtype_builtin(name, hop) {
        return result;
    }
    let first = hop.args_r.first().cloned();
    let methods = |what: &str| {
        first
            .as_ref()
            .ok_or_else(|| TyperError::new(format!("{what}() without arguments")))
    };
    match short {
        "__builtin__.bool" => methods("bool")?.methods().rtype_bool(hop),
        "__builtin__.int" => methods("int")?.methods().rtype_int(hop),
        "__builtin__.long" => methods("long")?.methods().rtype_long(hop),
        "__builtin__.float" => methods("float")?.methods().rtype_float(hop),
        "__builtin__.chr" => methods("chr")?.methods().rtype_chr(hop),
        "__builtin__.unichr" => methods("unichr")?.methods().rtype_unichr(hop),
        "__builtin__.ord" => methods("ord")?.methods().rtype_ord(hop),
        "__builtin__.unicode" => methods("unicode")?.methods().rtype_unicode(hop),
        "__builtin__.str" => methods("str")?.methods().rtype_str(hop),
        "__builtin__.repr" => methods("repr")?.methods().rtype_repr(hop),
        "__builtin__.hex" => methods("hex")?.methods().rtype_hex(hop),
        "__builtin__.oct" => methods("oct")?.methods().rtype_oct(hop),
        "__builtin__.bin" => methods("bin")?.methods().rtype_bin(hop),
        "__builtin__.abs" => methods("abs")?.methods().rtype_abs(hop),
        "__builtin__.len" => methods("len")?.methods().rtype_len(hop),
        "__builtin__.hash" => methods("hash")?.methods().rtype_hash(hop),
        "__builtin__.id" => methods("id")?.methods().rtype_id(hop),
        "__builtin__.type" => methods("type")?.methods().rtype_type(hop),
        "__builtin__.iter" => methods("iter")?.methods().rtype_iter(hop),
        "__builtin__.next" => methods("next")?.methods().rtype_next(hop),
        "__builtin__.isinstance" => methods("isinstance")?.methods().rtype_isinstance(hop),
        "__builtin__.issubclass" => methods("issubclass")?.methods().rtype_issubtype(hop),
        "__builtin__.list" => methods("list")?.methods().rtype_bltn_list(hop),
        "__builtin__.bytearray" => methods("bytearray")?.methods().rtype_bytearray(hop),
        "__builtin__.min" | "__builtin__.max" => min_max(hop, short == "__builtin__.min"),
        "__builtin__.hasattr" | "__builtin__.callable" => constant_result(hop),
        "__builtin__.getattr" => methods("getattr")?.methods().rtype_getattr(hop),
        "__builtin__.setattr" => methods("setattr")?.methods().rtype_setattr(hop),
        "object.__init__" => {
            hop.exception_cannot_occur()?;
            Ok(Some(cvoid()))
        }
        "exceptions.Exception.__init__" | "Exception.__init__" | "BaseException.__init__" => {
            hop.exception_cannot_occur()?;
            Ok(Some(cvoid()))
        }
        "rarithmetic.intmask" | "rarithmetic.longlongmask" => converted(hop, &Repr::signed()),
        "rarithmetic.widen"
        | "rarithmetic.r_int"
        | "rarithmetic.r_uint"
        | "rarithmetic.r_longlong"
        | "rarithmetic.r_ulonglong"
        | "rarithmetic.r_int32"
        | "rarithmetic.r_uint32"
        | "rarithmetic.r_longlonglong"
        | "rarithmetic.r_ulonglonglong"
        | "rarithmetic.r_int64"
        | "rarithmetic.r_uint64"
        | "rarithmetic.r_singlefloat"
        | "rarithmetic.r_short"
        | "rarithmetic.r_ushort"
        | "rarithmetic.r_int8"
        | "rarithmetic.r_uint8"
        | "rarithmetic.r_int16"
        | "rarithmetic.r_uint16" => cast(hop),
        "rarithmetic.ovfcheck" => converted(hop, &hop.r_result.clone()),
        "rarithmetic.int_between" => int_between(hop),
        "rarithmetic.int_force_ge_zero" => int_force_ge_zero(hop),
        "objectmodel.we_are_translated" => {
            hop.exception_cannot_occur()?;
            Ok(Some(crate::hop::cbool(true)))
        }
        "objectmodel.keepalive_until_here" => keepalive(hop),
        "objectmodel.compute_hash" => methods("compute_hash")?.methods().rtype_hash(hop),
        "objectmodel.compute_identity_hash" => identity(hop, PlainOp::GcIdentityhash),
        "objectmodel.compute_unique_id" | "objectmodel.current_object_addr_as_int" => {
            identity(hop, PlainOp::GcId)
        }
        "objectmodel.instantiate" => instantiate(hop),
        "objectmodel.newlist_hint" | "objectmodel.resizelist_hint" => Err(TyperError::missing(
            short,
            first.map_or_else(String::new, |r| r.methods().describe()),
        )),
        "objectmodel.likely" => branch_hint(hop, PlainOp::Likely),
        "objectmodel.unlikely" => branch_hint(hop, PlainOp::Unlikely),
        "rgc.collect" | "gc.collect" => gc_collect(hop),
        "weakref.ref" => super::weakref::rtype_weakref_create(hop),
        "lltype.malloc" => malloc(hop),
        "lltype.free" => free(hop),
        "lltype.nullptr" => {
            hop.exception_cannot_occur()?;
            Ok(Some(Operand::Const(LLConst::Null(
                hop.r_result.lowleveltype(),
            ))))
        }
        "lltype.typeOf" | "lltype.Ptr" => {
            hop.exception_cannot_occur()?;
            Ok(Some(cvoid()))
        }
        "lltype.cast_primitive" => cast_to_type(hop),
        "lltype.cast_pointer" | "lltype.cast_opaque_ptr" | "rffi.cast" => cast_to_type(hop),
        "lltype.cast_ptr_to_int" => on_pointer(hop, PlainOp::CastPtrToInt, *SIGNED),
        "lltype.cast_int_to_ptr" => cast_to_type(hop),
        "lltype.identityhash" => on_pointer(hop, PlainOp::GcIdentityhash, *SIGNED),
        "lltype.direct_fieldptr" => direct_fieldptr(hop),
        "lltype.direct_arrayitems" => {
            let t = hop.r_result.lowleveltype();
            on_pointer(hop, PlainOp::DirectArrayitems, t)
        }
        "lltype.direct_ptradd" => direct_ptradd(hop),
        "llmemory.cast_ptr_to_adr" => {
            on_pointer(hop, PlainOp::CastPtrToAdr, *taipan_lltype::ADDRESS)
        }
        "debug.ll_assert" => ll_assert(hop),
        _ => match hop.result_const() {
            // Whatever it does, the annotator knows what comes out.
            Some(c) => {
                hop.exception_cannot_occur()?;
                c.map(Some)
            }
            None if hop.r_result == Repr::LLType(*VOID) => Ok(Some(cvoid())),
            None => Err(TyperError::with_code(
                "TP0415",
                format!("the builtin function {name} has no low-level form"),
            )),
        },
    }
}

fn converted(hop: &Hop<'_>, r: &Repr) -> RType {
    hop.exception_cannot_occur()?;
    let v = hop.inputarg(r, 0)?;
    hop.convert_result(v, r).map(Some)
}

/// Any number to the kind of the result.
fn cast(hop: &Hop<'_>) -> RType {
    hop.exception_cannot_occur()?;
    let Some(arg) = hop.args_r.first().cloned() else {
        return hop.inputconst(&hop.r_result, &Const::Int(0)).map(Some);
    };
    if let Some(c) = hop.const_arg(0)
        && !matches!(c, Const::Long(_))
        && !matches!(hop.r_result, Repr::SingleFloat)
    {
        return hop.inputconst(&hop.r_result, &c.clone()).map(Some);
    }
    let v = hop.inputarg(&arg, 0)?;
    super::gen_cast(hop.llops, hop.r_result.lowleveltype(), v).map(Some)
}

fn min_max(hop: &Hop<'_>, min: bool) -> RType {
    let r = hop.r_result.clone();
    let args = hop.inputargs([&r, &r])?;
    hop.exception_cannot_occur()?;
    let helper = if min {
        "rmodel.ll_min"
    } else {
        "rmodel.ll_max"
    };
    Ok(Some(hop.llops.gendirectcall_to(
        helper,
        args,
        r.lowleveltype(),
    )))
}

fn constant_result(hop: &Hop<'_>) -> RType {
    hop.exception_cannot_occur()?;
    hop.result_const()
        .unwrap_or_else(|| {
            Err(TyperError::new(
                "the answer of hasattr() is not known while compiling",
            ))
        })
        .map(Some)
}

fn int_between(hop: &Hop<'_>) -> RType {
    let r = Repr::signed();
    let args = hop.inputargs([&r, &r, &r])?;
    hop.exception_cannot_occur()?;
    Ok(Some(hop.genop(PlainOp::IntBetween, args, *BOOL)))
}

fn int_force_ge_zero(hop: &Hop<'_>) -> RType {
    let args = hop.inputargs([&Repr::signed()])?;
    hop.exception_cannot_occur()?;
    Ok(Some(hop.genop(PlainOp::IntForceGeZero, args, *SIGNED)))
}

fn keepalive(hop: &Hop<'_>) -> RType {
    hop.exception_cannot_occur()?;
    for i in 0..hop.nb_args() {
        let v = crate::calls::low_arg(hop, i)?;
        hop.genop_void(PlainOp::Keepalive, [v]);
    }
    Ok(Some(cvoid()))
}

fn identity(hop: &Hop<'_>, op: PlainOp) -> RType {
    let r = hop.args_r[0].clone();
    let v = hop.inputarg(&r, 0)?;
    hop.exception_cannot_occur()?;
    Ok(Some(hop.genop(op, [v], *SIGNED)))
}

fn branch_hint(hop: &Hop<'_>, op: PlainOp) -> RType {
    let v = hop.inputarg(&Repr::Bool, 0)?;
    hop.exception_cannot_occur()?;
    Ok(Some(hop.genop(op, [v], *BOOL)))
}

fn gc_collect(hop: &Hop<'_>) -> RType {
    hop.exception_cannot_occur()?;
    hop.genop_void(PlainOp::GcCollect, []);
    Ok(Some(cvoid()))
}

/// `instantiate(cls)`: without `__init__`.
fn instantiate(hop: &Hop<'_>) -> RType {
    hop.exception_cannot_occur()?;
    let Repr::Classes(classes) = hop.args_r[0].clone() else {
        return Err(TyperError::new(
            "instantiate() of something else than a class",
        ));
    };
    if let [class] = classes.classes[..] {
        let r = InstanceRepr::new(hop.rt, Some(class));
        let v = r.new_instance(hop.llops)?;
        return hop.convert_result(v, &Repr::Instance(r)).map(Some);
    }
    let vcls = hop.inputarg(&Repr::Type, 0)?;
    Ok(Some(crate::calls::instantiate_runtime_class(
        hop,
        vcls,
        &classes.classes,
        hop.r_result.lowleveltype(),
    )))
}

// ---- low-level types ----

/// The value of a keyword argument, and whether it was given.
fn keyword_const<'h>(hop: &'h Hop<'_>, name: &str) -> Option<&'h Const> {
    let first = hop.nb_args().checked_sub(hop.keywords.len())?;
    let i = hop.keywords.iter().position(|k| &**k == name)?;
    hop.const_arg(first + i)
}

fn malloc(hop: &Hop<'_>) -> RType {
    let ty = type_arg(hop, 0)?;
    let positional = hop.nb_args() - hop.keywords.len();
    let raw = keyword_const(hop, "flavor").and_then(Const::as_str) == Some("raw");
    let zero = matches!(
        keyword_const(hop, "zero"),
        Some(Const::Bool(true) | Const::Int(1))
    );
    let flavor = Operand::Const(LLConst::Void(VoidConst::Flavor { gc: !raw, zero }));
    let mut args = vec![crate::hop::ctype(ty), flavor];
    let op = if positional > 1 {
        args.push(hop.inputarg(&Repr::signed(), 1)?);
        PlainOp::MallocVarsize
    } else {
        PlainOp::Malloc
    };
    hop.has_implicit_exception("MemoryError")?;
    hop.exception_is_here()?;
    Ok(Some(hop.genop(op, args, hop.r_result.lowleveltype())))
}

fn free(hop: &Hop<'_>) -> RType {
    let v = crate::calls::low_arg(hop, 0)?;
    hop.exception_cannot_occur()?;
    let flavor = Operand::Const(LLConst::Void(VoidConst::Flavor {
        gc: false,
        zero: false,
    }));
    hop.genop_void(PlainOp::Free, [v, flavor]);
    Ok(Some(cvoid()))
}

fn cast_to_type(hop: &Hop<'_>) -> RType {
    let r = hop.args_r[1].clone();
    let v = hop.inputarg(&r, 1)?;
    hop.exception_cannot_occur()?;
    let target = hop.r_result.lowleveltype();
    super::gen_cast(hop.llops, target, v).map(Some)
}

fn on_pointer(hop: &Hop<'_>, op: PlainOp, result: LLType) -> RType {
    let v = crate::calls::low_arg(hop, 0)?;
    hop.exception_cannot_occur()?;
    Ok(Some(hop.genop(op, [v], result)))
}

fn direct_fieldptr(hop: &Hop<'_>) -> RType {
    let v = crate::calls::low_arg(hop, 0)?;
    let name = hop.const_name(1)?.to_owned();
    hop.exception_cannot_occur()?;
    Ok(Some(hop.genop(
        PlainOp::DirectFieldptr,
        [v, crate::hop::cfield(&name)],
        hop.r_result.lowleveltype(),
    )))
}

fn direct_ptradd(hop: &Hop<'_>) -> RType {
    let v = crate::calls::low_arg(hop, 0)?;
    let n = hop.inputarg(&Repr::signed(), 1)?;
    hop.exception_cannot_occur()?;
    Ok(Some(hop.genop(
        PlainOp::DirectPtradd,
        [v, n],
        hop.r_result.lowleveltype(),
    )))
}

fn ll_assert(hop: &Hop<'_>) -> RType {
    let v = hop.inputarg(&Repr::Bool, 0)?;
    let message = hop.inputarg(&Repr::Str, 1)?;
    hop.exception_cannot_occur()?;
    hop.genop_void(PlainOp::DebugAssert, [v, message]);
    Ok(Some(cvoid()))
}

/// `llop.NAME(RESULT, args...)`
fn low_level_operation(name: &str, hop: &Hop<'_>) -> RType {
    let op = LLOp::from_name(name)
        .ok_or_else(|| TyperError::new(format!("no low-level operation '{name}'")))?;
    let result = type_arg(hop, 0)?;
    let mut args = Vec::with_capacity(hop.nb_args());
    for i in 1..hop.nb_args() {
        args.push(crate::calls::low_arg(hop, i)?);
    }
    if op.can_raise() {
        hop.exception_is_here()?;
    } else {
        hop.exception_cannot_occur()?;
    }
    let v = hop.genop(op, args, result);
    Ok(Some(if result.is_void() { cvoid() } else { v }))
}

fn call_external(hop: &Hop<'_>, f: &taipan_lltype::FuncSym) -> RType {
    let params = f.ty().args.clone();
    if params.len() != hop.nb_args() {
        return Err(TyperError::new(format!(
            "{} takes {} arguments",
            f.name(),
            params.len()
        )));
    }
    let mut args = Vec::with_capacity(params.len());
    for (i, t) in params.iter().enumerate() {
        args.push(input_of_type(hop, *t, i)?);
    }
    hop.exception_cannot_occur()?;
    Ok(Some(hop.llops.gencall(f.clone(), args)))
}
