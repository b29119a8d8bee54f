//! Calls of functions that an `ExtRegistryEntry` of the program describes: its
//! `specialize_call` runs while compiling, on an operation that notes what is done with
//! it. Here the notes become operations.
//!
//! ```text
//! v = hop.inputarg(Signed, arg=0)         ('arg', 0, Signed)
//! hop.exception_cannot_occur()            ('cannot',)
//! return hop.genop(LLOp::from('int_neg').view(&[v]), ..)    ('op', 'int_neg', (0,), Signed)
//! ```

use taipan_annotator::EntryCall;
use taipan_graph::{Const, Operand};
use taipan_interp::{MemoCall, ObjData, memo_call, named_id, type_object};
use taipan_lltype::{LLConst, LLOp, LLOperand, LLType};

use crate::hop::cvoid;
use crate::reprs::ptr::input_of_type;
use crate::{Hop, RType, Typed, TyperError};

/// Types such a call.
pub(crate) fn call(hop: &Hop<'_>, call: &EntryCall) -> RType {
    let reply = specialized(hop, call)?;
    let [steps, result] = items(&reply) else {
        return Err(TyperError::internal("an entry without an answer"));
    };
    let mut values: Vec<LLOperand> = Vec::new();
    let mut calls = call.calls.iter();
    for step in items(steps) {
        let [kind, rest @ ..] = items(step) else {
            return Err(TyperError::internal("a step of an entry that is none"));
        };
        let v = match (kind.as_str().unwrap_or(""), rest) {
            ("cannot", _) => {
                hop.exception_cannot_occur()?;
                cvoid()
            }
            ("here", _) => {
                hop.exception_is_here()?;
                cvoid()
            }
            ("arg", [Const::Int(i), t]) => {
                input_of_type(hop, low_level_type(hop, t)?, (*i).max(0) as usize + 1)?
            }
            ("const", [t, value]) => constant(hop, low_level_type(hop, t)?, value)?,
            ("op", [name, args, t]) => {
                let name = name.as_str().unwrap_or("");
                let op = LLOp::from_name(name)
                    .ok_or_else(|| TyperError::new(format!("no low-level operation '{name}'")))?;
                let args = operands(&values, args)?;
                hop.genop(op.view(&args), low_level_type(hop, t)?)
            }
            ("call", [_, args, _]) => {
                let Some(target) = calls.next() else {
                    return Err(TyperError::new(
                        "a function that an entry calls depends on how the arguments are represented",
                    ));
                };
                let sym = hop.rt.target_sym(*target)?;
                let args = operands(&values, args)?;
                let given = args.iter().map(|a| hop.llops.ty(a));
                if !given.eq(sym.ty().args.iter().copied()) {
                    let message =
                        format!("{} is called with other types than it takes", sym.name());
                    return Err(TyperError::new(message));
                }
                hop.llops.gencall(sym, args)
            }
            _ => return Err(TyperError::internal("a step of an entry that is unknown")),
        };
        values.push(v);
    }
    let Const::Int(i) = result else {
        return Ok(Some(cvoid()));
    };
    let v = operand(&values, *i)?;
    let r = hop.rt.lltype_repr(hop.llops.ty(&v));
    hop.convert_result(v, &r).map(Some)
}

/// What the entry's `specialize_call` does.
fn specialized(hop: &Hop<'_>, call: &EntryCall) -> Typed<Const> {
    let rt = hop.rt;
    let module = named_id("rpython.annotator.described");
    let Some(Const::Obj(helper)) = rt.module_global(module, "specialized_call") else {
        return Err(TyperError::internal("the module of entries is not there"));
    };
    if hop.nb_args() != call.args.len() + 1 {
        return Err(TyperError::new(
            "a call with keywords or *args of a function that an entry describes",
        ));
    }
    let known = |t: LLType| Const::Obj(type_object(t));
    let types = hop.args_r[1..].iter().map(|r| known(r.lowleveltype()));
    let args = vec![
        Const::Obj(call.entry),
        Const::Obj(call.about),
        Const::Tuple(call.args.clone().into()),
        call.result.clone(),
        Const::Tuple(types.collect()),
        known(hop.r_result.lowleveltype()),
    ];
    let program = rt.roots()?.program(rt.db);
    match memo_call(rt.db, MemoCall::new(rt.db, program, helper, args)) {
        Ok(reply) => Ok(reply.clone()),
        Err(d) => Err(TyperError::new(format!("specialize_call(): {}", d.message))),
    }
}

fn constant(hop: &Hop<'_>, t: LLType, value: &Const) -> Typed<LLOperand> {
    if t.is_void() {
        return Ok(cvoid());
    }
    let c: LLConst = hop.rt.convert_const_to(value, t)?;
    Ok(Operand::Const(c))
}

fn low_level_type(hop: &Hop<'_>, c: &Const) -> Typed<LLType> {
    if let Const::Obj(o) = c
        && let ObjData::LLType(t) = &*hop.rt.object(*o)?
    {
        return Ok(*t);
    }
    Err(TyperError::new(
        "an entry gives something else where a low-level type belongs",
    ))
}

fn operands(values: &[LLOperand], indices: &Const) -> Typed<Vec<LLOperand>> {
    let number = |c: &Const| match c {
        Const::Int(i) => operand(values, *i),
        _ => Err(TyperError::internal("an operand without a number")),
    };
    items(indices).iter().map(number).collect()
}

fn operand(values: &[LLOperand], i: i64) -> Typed<LLOperand> {
    let found = usize::try_from(i).ok().and_then(|i| values.get(i));
    found
        .cloned()
        .ok_or_else(|| TyperError::internal("an operand that no step makes"))
}

/// The items of a tuple.
fn items(c: &Const) -> &[Const] {
    match c {
        Const::Tuple(all) => all,
        _ => &[],
    }
}
