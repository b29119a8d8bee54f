//! Calls.

use taipan_lltype::{
    ConstantOperand, FuncKind, FuncSym, FuncType, LLConst, LLOperand, LLType, TypeKind, VOID,
    releases_gil,
};

use super::super::{Bad, Calls, Cond, Instructions, Rare, Ty, machine_type};
use super::{memory, roots};
use crate::runtime::{self, RuntimeFunction};
use crate::{SymbolRef, abi};

impl<M: Instructions> Calls for M {
    fn call(
        &mut self,
        callee: &LLOperand,
        args: &[LLOperand],
        _to: LLType,
    ) -> Result<Option<Self::Value>, Bad> {
        if let Some(f) = callee.as_function() {
            return direct_call(self, f, args);
        }
        let ty = self.ty(callee);
        let ft = match ty.pointee().map(|t| t.kind()) {
            Some(TypeKind::Func(ft)) => ft,
            _ => return Err(format!("call of a {ty}")),
        };
        let values = arguments(self, ft, args)?;
        let address = self.pointer(callee)?;
        self.call_address(&address, ft, &values)
    }

    fn conditional_call(
        &mut self,
        condition: &LLOperand,
        callee: &LLOperand,
        args: &[LLOperand],
    ) -> Result<(), Bad> {
        let condition = self.value(condition)?;
        let bit = self.bit(&condition);
        let (call, next) = (self.cold_block("call"), self.block("next"));
        self.branch(&bit, &call, &next, Rare::First);
        self.start(&call);
        self.call(callee, args, *VOID)?;
        self.jump(&next);
        self.start(&next);
        Ok(())
    }

    fn conditional_call_value(
        &mut self,
        value: &LLOperand,
        callee: &LLOperand,
        args: &[LLOperand],
        to: LLType,
    ) -> Result<Self::Value, Bad> {
        let value = self.value(value)?;
        let ty = self.type_of(&value);
        let (call, mut next) = (self.cold_block("call"), self.join("next", ty));
        let zero = self.zero(ty);
        let is_zero = self.compare(Cond::Eq, false, &value, &zero);
        self.branch_or_join(&is_zero, &call, (&mut next, &value), Rare::First);
        self.start(&call);
        let called = self.call(callee, args, to)?.unwrap_or(value);
        let called = self.as_type(&called, ty);
        self.jump_to_join(&mut next, &called);
        Ok(self.start_join(next))
    }

    fn runtime_operation(
        &mut self,
        f: RuntimeFunction,
        values: Vec<Self::Value>,
    ) -> Option<Self::Value> {
        self.call_runtime(f, &values)
    }

    fn field_written(&mut self, object: &LLOperand, field: &LLOperand) -> Result<(), Bad> {
        let field = memory::field_address(self, object, field)?;
        self.call_runtime(runtime::JIT_FIELD_WRITTEN, &[field]);
        Ok(())
    }
}

/// A call of a known function.
fn direct_call<M: Instructions>(
    m: &mut M,
    f: &FuncSym,
    args: &[LLOperand],
) -> Result<Option<M::Value>, Bad> {
    if releases_gil(f, args) {
        return call_without_lock(m, f, args);
    }
    let values = arguments(m, f.ty(), args)?;
    if let SymbolRef::External(name) = SymbolRef::function(f) {
        if let Some(result) = m.instruction_of(&name, &values) {
            return Ok(Some(result));
        }
        match &*name {
            "rpy_signal_poll" => return poll_signals(m, f).map(Some),
            abi::INCREF => {
                roots::incref(m, &values[0]);
                return Ok(None);
            }
            abi::DECREF => {
                roots::decref(m, &values[0]);
                return Ok(None);
            }
            _ => {}
        }
    }
    m.call_function(f, &values)
}

/// The number of a signal, or -1. Interpreters poll at every instruction, and there is hardly ever one: a word of the
/// state says whether there may be.
fn poll_signals<M: Instructions>(m: &mut M, f: &FuncSym) -> Result<M::Value, Bad> {
    let (call, mut next) = (m.cold_block("call"), m.join("next", Ty::I64));
    let pending = m.pending_signals();
    let none = m.int(Ty::I64, -1);
    let pending = m.bit(&pending);
    m.branch_or_join(&pending, &call, (&mut next, &none), Rare::First);
    m.start(&call);
    let called = m.call_function(f, &[])?.unwrap_or(none);
    m.jump_to_join(&mut next, &called);
    Ok(m.start_join(next))
}

/// A call of a C function during which other threads may run. The functions of the program among its arguments take the
/// lock when they are called.
fn call_without_lock<M: Instructions>(
    m: &mut M,
    f: &FuncSym,
    args: &[LLOperand],
) -> Result<Option<M::Value>, Bad> {
    let mut values = arguments(m, f.ty(), args)?;
    let given = args.iter().zip(&f.ty().args).filter(|(_, t)| !t.is_void());
    let mut calls_back = false;
    for (value, (arg, _)) in values.iter_mut().zip(given) {
        if let LLOperand::Const(LLConst::Func(g)) = arg
            && !matches!(g.kind(), FuncKind::External { .. })
        {
            *value = m.callback(g)?;
            calls_back = true;
        }
    }
    if calls_back {
        m.call_runtime(runtime::CALLBACK_PREPARE, &[]);
    }
    m.call_runtime(runtime::GIL_RELEASE, &[]);
    let result = m.call_function(f, &values)?;
    m.call_runtime(runtime::GIL_ACQUIRE, &[]);
    Ok(result)
}

/// The arguments that are passed.
fn arguments<M: Instructions>(
    m: &mut M,
    ft: &FuncType,
    args: &[LLOperand],
) -> Result<Vec<M::Value>, Bad> {
    if args.len() != ft.args.len() {
        return Err(format!(
            "{} arguments instead of {}",
            args.len(),
            ft.args.len()
        ));
    }
    let mut values = Vec::with_capacity(args.len());
    for (a, ty) in args.iter().zip(&ft.args).filter(|(_, t)| !t.is_void()) {
        let v = m.value(a)?;
        let ty = machine_type(*ty).ok_or_else(|| format!("a {ty} as argument"))?;
        values.push(m.as_type(&v, ty));
    }
    Ok(values)
}
