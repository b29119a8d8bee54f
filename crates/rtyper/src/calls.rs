//! Calls of functions, methods and classes, as the annotator resolved them
//! (RPython: `callparse.py`, `FunctionReprBase.call`, `ClassesPBCRepr.redispatch_call`).

use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use taipan_annotator::{
    ArgSource, CallInfo, DirectCall, Family, IndirectCall, Instantiate, MemoCall, Spec, Target,
};
use taipan_base::ErrorCode;
use taipan_graph::{Const, ObjId, Operand};
use taipan_interp::ObjData;
use taipan_language::Exc;
use taipan_lltype::{
    FuncKind, FuncSym, GCREF, HelperArg, LLConst, LLOperand, LLType, OBJECT_VTABLE, View, VoidConst,
};

use crate::exceptions::exception_id;
use crate::hop::{ArgValue, cfield, cvoid};
use crate::reprs::{ClassesPbcRepr, ErasedRepr, FunctionsPbcRepr, InstanceRepr, rtype_erase};
use crate::{Hop, RType, RTyper, Repr, Typed, TyperError, containers, queries, synth};

/// Types a call that is not one of a builtin function.
pub(crate) fn rtype_call(hop: &Hop<'_>) -> RType {
    match hop.call {
        Some(CallInfo::Direct(c)) => direct(hop, c),
        Some(CallInfo::Indirect(c)) => indirect(hop, c),
        Some(CallInfo::Instantiate(c)) => instantiate(hop, c),
        Some(CallInfo::Memo(c)) => memo(hop, c),
        Some(CallInfo::Entry(c)) => crate::entries::call(hop, c),
        Some(CallInfo::Never) => {
            hop.exception_cannot_occur()?;
            Ok(None)
        }
        Some(CallInfo::Builtin) | None => Err(TyperError::internal(format!(
            "the annotator did not resolve a call of {}",
            hop.args_r
                .first()
                .map_or_else(String::new, |r| r.methods().describe().to_string())
        ))),
    }
}

/// Reprs of a function's arguments and result, as its callers see them.
struct Callee {
    args: Vec<Repr>,
    result: Repr,
}

fn callee(hop: &Hop<'_>, target: Target) -> Typed<(FuncSym, Callee)> {
    let rt = hop.rt;
    let sym = rt.target_sym(target)?;
    let callee = match target {
        Target::Spec(spec) => signature_reprs(hop, &taipan_annotator::signature(rt.db, spec))?,
        Target::Helper(_) => Callee {
            args: sym.ty().args.iter().map(|t| rt.lltype_repr(*t)).collect(),
            result: rt.lltype_repr(sym.ty().result),
        },
    };
    Ok((sym, callee))
}

fn signature_reprs(hop: &Hop<'_>, sig: &taipan_annotator::Signature) -> Typed<Callee> {
    let args: Typed<Vec<Repr>> = sig.args.iter().map(|s| hop.rt.getrepr(s)).collect();
    Ok(Callee {
        args: args?,
        result: hop.rt.getrepr(&sig.result)?,
    })
}

/// The instance that is being made, for `__init__`.
type Made<'a> = Option<(&'a LLOperand, &'a Repr)>;

/// Operands for a callee's arguments.
fn arguments(
    hop: &Hop<'_>,
    sources: &[ArgSource],
    reprs: &[Repr],
    made: Made<'_>,
) -> Typed<Vec<LLOperand>> {
    if sources.len() != reprs.len() {
        return Err(TyperError::internal(format!(
            "{} arguments for {} parameters",
            sources.len(),
            reprs.len()
        )));
    }
    let mut out = Vec::with_capacity(sources.len());
    for (source, r) in sources.iter().zip(reprs) {
        out.push(argument(hop, source, r, made)?);
    }
    Ok(out)
}

fn argument(hop: &Hop<'_>, source: &ArgSource, r: &Repr, made: Made<'_>) -> Typed<LLOperand> {
    match source {
        ArgSource::Operand(i) => operand(hop, *i as usize, r),
        ArgSource::Receiver => receiver(hop, r),
        ArgSource::Instance => {
            let (v, from) = made.ok_or_else(|| TyperError::internal("no instance is made here"))?;
            hop.llops.convertvar(v.clone(), from, r)
        }
        ArgSource::Default(c) => hop.inputconst(r, c),
        ArgSource::Tuple(items) => {
            let reprs = containers::tuple_items(r)?;
            let values = arguments(hop, items, &reprs, made)?;
            containers::newtuple(hop.llops, r, values)
        }
        ArgSource::Item(i, item) => {
            let r_tuple = hop.args_r[*i as usize].clone();
            let v = hop.inputarg(&r_tuple, *i as usize)?;
            let (v, r_item) = containers::tuple_getitem(hop.llops, &r_tuple, v, *item as usize)?;
            hop.llops.convertvar(v, &r_item, r)
        }
    }
}

/// A run-time operand, or a Void one that a helper is specialised by.
fn operand(hop: &Hop<'_>, i: usize, r: &Repr) -> Typed<LLOperand> {
    if r.is_void()
        && let Some(arg) = hop.args_r.get(i)
    {
        let c = match arg {
            Repr::LLType(t) => VoidConst::Type(*t),
            Repr::LLFunc(f) => VoidConst::Func(f.clone()),
            _ => match hop.const_arg(i) {
                Some(Const::None) | None => VoidConst::None,
                Some(c) => VoidConst::Hl(c.clone()),
            },
        };
        return Ok(Operand::Const(LLConst::Void(c)));
    }
    hop.inputarg(r, i)
}

/// The object that the callee is bound to.
fn receiver(hop: &Hop<'_>, r: &Repr) -> Typed<LLOperand> {
    let from = match &hop.args_r[0] {
        Repr::Methods(m) => Repr::Instance(m.im_self),
        Repr::FrozenMethod(m) => m.im_self.clone(),
        Repr::AdtMeth(m) => hop.rt.lltype_repr(m.ptr),
        other => other.clone(),
    };
    let v = hop.inputarg(&hop.args_r[0].clone(), 0)?;
    hop.llops.convertvar(v, &from, r)
}

/// The result in the form that the annotation of the call asks for.
fn finish(hop: &Hop<'_>, v: LLOperand, result: &Repr) -> RType {
    if hop.r_result == Repr::Impossible {
        return Ok(None);
    }
    hop.convert_result(v, result).map(Some)
}

fn direct(hop: &Hop<'_>, call: &DirectCall) -> RType {
    let (sym, callee) = callee(hop, call.target)?;
    let args = arguments(hop, &call.args, &callee.args, None)?;
    hop.exception_is_here()?;
    let v = hop.llops.gencall(sym, args);
    finish(hop, v, &callee.result)
}

fn indirect(hop: &Hop<'_>, call: &IndirectCall) -> RType {
    if let [target] = &call.targets[..] {
        return direct(
            hop,
            &DirectCall {
                target: *target,
                args: call.args.clone(),
            },
        );
    }
    let syms = call_targets(hop, call.targets.clone())?;
    let (fnptr, r_fn) = function_pointer(hop)?;
    let Repr::Functions(r_fn) = &r_fn else {
        return Err(TyperError::internal("an indirect call of one function"));
    };
    call_row(
        hop,
        fnptr,
        r_fn,
        call.family,
        call.row,
        syms,
        &call.args,
        None,
    )
}

fn call_targets(hop: &Hop<'_>, targets: Arc<[Target]>) -> Typed<Arc<[FuncSym]>> {
    let rt = hop.rt;
    let set = queries::CallTargets::new(rt.db, rt.roots()?, targets);
    queries::call_targets(rt.db, set)
}

/// The names of the functions that a call may reach.
///
/// A row of a call family has one graph of each function: where a call wants two of one,
/// nothing at run time tells which (RPython fails on it, too).
pub(crate) fn target_syms(rt: &RTyper<'_>, targets: &[Target]) -> Typed<Arc<[FuncSym]>> {
    let mut seen: FxHashMap<ObjId, Spec> = FxHashMap::default();
    for target in targets {
        let Target::Spec(spec) = *target else {
            continue;
        };
        let func = spec.func(rt.db);
        if *seen.entry(func).or_insert(spec) != spec {
            let name = match &*rt.object(func)? {
                ObjData::Function(f) => f.name.clone(),
                _ => "a function".into(),
            };
            return Err(TyperError::with_code(
                ErrorCode::IncompatibleFunctions,
                format!(
                    "several classes share the function {name}(), and what it is specialised by \
                     differs among them: one call cannot choose"
                ),
            )
            .with_help("define the function in each of the classes"));
        }
    }
    targets.iter().map(|t| rt.target_sym(*t)).collect()
}

/// The callee as a function pointer: itself, or what the vtable of its self has.
fn function_pointer(hop: &Hop<'_>) -> Typed<(LLOperand, Repr)> {
    match &hop.args_r[0] {
        Repr::Methods(m) => {
            let v = hop.inputarg(&hop.args_r[0].clone(), 0)?;
            let vcls = m.im_self.gettype(hop.llops, v);
            let owner = m
                .im_self
                .class
                .ok_or_else(|| TyperError::internal("a method of object"))?;
            let field = format!("cls_{}", m.name);
            let v = crate::reprs::getclsfield(hop.llops, vcls, owner, &field, &m.function);
            Ok((v, m.function.clone()))
        }
        other => {
            let r = other.clone();
            Ok((hop.inputarg(&r, 0)?, r))
        }
    }
}

#[allow(clippy::too_many_arguments, reason = "the parts of an indirect call")]
fn call_row(
    hop: &Hop<'_>,
    fnptr: LLOperand,
    r_fn: &Arc<FunctionsPbcRepr>,
    family: ObjId,
    row: u32,
    targets: Arc<[FuncSym]>,
    sources: &[ArgSource],
    made: Made<'_>,
) -> RType {
    let rt = hop.rt;
    let key = Family::new(rt.db, rt.roots()?, family);
    let family = taipan_annotator::call_family(rt.db, key);
    let family_row = family
        .rows
        .get(row as usize)
        .ok_or_else(|| TyperError::internal("a call site without a row in its family"))?;
    let callee = signature_reprs(hop, &family_row.signature)?;
    let fnptr = r_fn.row_pointer(hop.llops, fnptr, row);
    let result = callee.result.lowleveltype();
    let args = arguments(hop, sources, &callee.args, made)?;
    hop.exception_is_here()?;
    let call = View::IndirectCall {
        callee: &fnptr,
        args: &args,
        targets: &Operand::Const(LLConst::Void(VoidConst::Targets(targets))),
    };
    let v = hop.genop(call, result);
    finish(hop, v, &callee.result)
}

fn instantiate(hop: &Hop<'_>, call: &Instantiate) -> RType {
    if let [(class, init)] = &call.classes[..] {
        return instantiate_one(hop, *class, *init, &call.args);
    }
    let Repr::Classes(r_classes) = &hop.args_r[0] else {
        return Err(TyperError::internal("instantiation of something else"));
    };
    let vcls = hop.inputarg(&Repr::Type, 0)?;
    let classes: Vec<ObjId> = call.classes.iter().map(|(c, _)| *c).collect();
    let v = instantiate_runtime_class(hop, vcls.clone(), &classes, hop.r_result.lowleveltype());
    let Some((family, row)) = call.init_family else {
        hop.exception_cannot_occur()?;
        return Ok(Some(v));
    };
    call_init(hop, r_classes, vcls, &v, family, row, call)?;
    Ok(Some(v))
}

fn call_init(
    hop: &Hop<'_>,
    r_classes: &ClassesPbcRepr,
    vcls: LLOperand,
    v: &LLOperand,
    family: ObjId,
    row: u32,
    call: &Instantiate,
) -> Typed<()> {
    let inits: IndexSet<Target, FxBuildHasher> =
        call.classes.iter().filter_map(|(_, init)| *init).collect();
    let syms = call_targets(hop, inits.into_iter().collect())?;
    let made = Some((v, &hop.r_result));
    let mut hop2 = hop.clone();
    hop2.r_result = Repr::None;
    let (vinit, r_init) = r_classes.getpbcfield(hop.llops, vcls, "__init__")?;
    match &r_init {
        Repr::Functions(r) => {
            call_row(&hop2, vinit, r, family, row, syms, &call.args, made)?;
        }
        _ => {
            let target = call
                .classes
                .iter()
                .find_map(|(_, init)| *init)
                .ok_or_else(|| TyperError::internal("no __init__ in a family of them"))?;
            init_call(&hop2, target, &call.args, made)?;
        }
    }
    Ok(())
}

fn init_call(hop: &Hop<'_>, target: Target, args: &[ArgSource], made: Made<'_>) -> Typed<()> {
    let (sym, callee) = callee(hop, target)?;
    let args = arguments(hop, args, &callee.args, made)?;
    hop.exception_is_here()?;
    hop.llops.gencall(sym, args);
    Ok(())
}

fn instantiate_one(hop: &Hop<'_>, class: ObjId, init: Option<Target>, args: &[ArgSource]) -> RType {
    let rt = hop.rt;
    if let Some(erased) = ErasedRepr::of_class(rt, class) {
        let v = rtype_erase(hop, erased)?;
        return finish(hop, v, &Repr::Erased(erased));
    }
    let r = InstanceRepr::new(rt, Some(class));
    if init.is_none() && is_simple_exception(hop, class)? {
        // Nobody can tell such instances apart: one prebuilt one serves.
        hop.exception_cannot_occur()?;
        let v = crate::statics::standard_instance_of(class, r.ty);
        return finish(hop, Operand::Const(v), &Repr::Instance(r));
    }
    let v = r.new_instance(hop.llops)?;
    match init {
        None => {
            hop.exception_cannot_occur()?;
            environment_error_init(hop, &r, &v)?;
        }
        Some(target) => init_call(hop, target, args, Some((&v, &Repr::Instance(r))))?,
    }
    finish(hop, v, &Repr::Instance(r))
}

/// What the constructor of `EnvironmentError` does: `errno, strerror, filename`, or
/// `strerror` alone.
fn environment_error_init(hop: &Hop<'_>, r: &InstanceRepr, v: &LLOperand) -> Typed<()> {
    let rt = hop.rt;
    let Some(class) = r.class else { return Ok(()) };
    if !rt.is_subclass(class, exception_id(Exc::EnvironmentError)) {
        return Ok(());
    }
    let names: &[&str] = match hop.nb_args() {
        2 => &["strerror"],
        _ => &["errno", "strerror", "filename"],
    };
    for (i, name) in names
        .iter()
        .enumerate()
        .take(hop.nb_args().saturating_sub(1))
    {
        let value = hop.inputarg(&r.getfieldrepr(rt, name)?, i + 1)?;
        r.setfield(hop.llops, v.clone(), name, value)?;
    }
    Ok(())
}

/// A builtin exception class, or one like it: without attributes.
fn is_simple_exception(hop: &Hop<'_>, class: ObjId) -> Typed<bool> {
    let rt = hop.rt;
    if !rt.is_exception(class) {
        return Ok(false);
    }
    let mut at = Some(class);
    while let Some(c) = at {
        if !rt.class_attributes(c).attrs.is_empty() {
            return Ok(false);
        }
        at = rt.class_base(c);
    }
    Ok(true)
}

/// A new instance of a class known at run time, without `__init__`: through the
/// function in its vtable.
pub(crate) fn instantiate_runtime_class(
    hop: &Hop<'_>,
    vcls: LLOperand,
    classes: &[ObjId],
    result: LLType,
) -> LLOperand {
    let ty = LLType::func(vec![], *GCREF).ptr();
    debug_assert_eq!(hop.llops.ty(&vcls), OBJECT_VTABLE.ptr());
    let f = hop.genop(
        View::Getfield {
            object: &vcls,
            field: &cfield("instantiate"),
        },
        ty,
    );
    let targets = classes.iter().map(|c| synth::instantiate_sym(*c)).collect();
    let targets = Operand::Const(LLConst::Void(VoidConst::Targets(targets)));
    let v = hop.genop(
        View::IndirectCall {
            callee: &f,
            args: &[],
            targets: &targets,
        },
        *GCREF,
    );
    hop.genop(View::CastOpaquePtr { value: &v }, result)
}

/// The result of a `specialize:memo` function is looked up in a table of all
/// argument values that can occur.
fn memo(hop: &Hop<'_>, call: &MemoCall) -> RType {
    if let Some(c) = hop.result_const() {
        hop.exception_cannot_occur()?;
        return c.map(Some);
    }
    let mut args = Vec::new();
    let mut types = Vec::new();
    for source in &call.args {
        let (v, c) = match source {
            ArgSource::Operand(i) => {
                let r = hop.args_r[*i as usize].clone();
                let v = hop.inputarg(&r, *i as usize)?;
                (v, hop.const_arg(*i as usize).cloned())
            }
            ArgSource::Default(c) => (cvoid(), Some(c.clone())),
            _ => return Err(TyperError::new("a star argument of a memo function")),
        };
        let ty = hop.llops.ty(&v);
        match c {
            Some(c) if ty.is_void() => types.push(HelperArg::Const(VoidConst::Hl(c))),
            _ => types.push(HelperArg::Type(ty)),
        }
        args.push(v);
    }
    let result = hop.r_result.lowleveltype();
    if result.is_void() {
        hop.exception_cannot_occur()?;
        return Ok(Some(cvoid()));
    }
    hop.exception_cannot_occur()?;
    let sym = synth::memo_sym(&call.table, &types, result);
    Ok(Some(hop.llops.gencall(sym, args)))
}

/// Constants at the end of a helper's arguments, which callers that know it as a
/// function of the others leave out: equality of lists by that of their items.
fn bound_arguments(f: &FuncSym) -> Vec<LLOperand> {
    let FuncKind::Helper { args, .. } = f.kind() else {
        return vec![];
    };
    let first = args
        .iter()
        .rposition(|a| matches!(a, HelperArg::Type(_)))
        .map_or(0, |i| i + 1);
    args[first..]
        .iter()
        .filter_map(|a| match a {
            HelperArg::Const(c) => Some(Operand::Const(LLConst::Void(c.clone()))),
            HelperArg::Type(_) => None,
        })
        .collect()
}

/// A call of a low-level function that is known while compiling.
pub(crate) fn call_llfunc(hop: &Hop<'_>, f: &FuncSym) -> RType {
    let params = &f.ty().args;
    let bound = bound_arguments(f);
    let own = params.len() - bound.len();
    let given = hop.nb_args() - 1;
    // The frozen self of a method that stands for a function is Void.
    let frozen = own.saturating_sub(given);
    if own < given || params[..frozen].iter().any(|t| !t.is_void()) {
        return Err(TyperError::new(format!(
            "{} takes {own} arguments, not {given}",
            f.name(),
        )));
    }
    let mut args = vec![crate::hop::cvoid(); frozen];
    for (i, t) in params[frozen..own].iter().enumerate() {
        args.push(operand(hop, i + 1, &hop.rt.lltype_repr(*t))?);
    }
    args.extend(bound);
    hop.exception_is_here()?;
    let v = hop.llops.gencall(f.clone(), args);
    finish(hop, v, &hop.rt.lltype_repr(f.ty().result))
}

/// The argument as a low-level operand, whatever it is.
pub(crate) fn low_arg(hop: &Hop<'_>, i: usize) -> Typed<LLOperand> {
    match &hop.args_v[i] {
        ArgValue::Low(v) => Ok(v.clone()),
        _ => hop.inputarg(&hop.args_r[i].clone(), i),
    }
}
