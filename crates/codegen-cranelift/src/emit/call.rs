//! Calls.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{FuncRef, InstBuilder, MemFlagsData, Value};
use taipan_codegen::abi::{self, state};
use taipan_codegen::{Glue, SymbolRef, runtime};
use taipan_lltype::{
    FuncKind, FuncSym, FuncType, LLConst, LLOperand, TypeKind, VoidConst, releases_gil,
};

use super::types::{c_signature, signature};
use super::{Bad, Emitter, PTR};

impl Emitter<'_, '_> {
    /// `jit_conditional_call`
    pub(super) fn conditional_call(
        &mut self,
        condition: &LLOperand,
        callee: &LLOperand,
        args: &[LLOperand],
    ) -> Result<Option<Value>, Bad> {
        let condition = self.value(condition)?;
        let (call, next) = (self.cold_block(), self.b.create_block());
        self.b.ins().brif(condition, call, &[], next, &[]);
        self.b.switch_to_block(call);
        self.call(callee, args)?;
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(next);
        Ok(None)
    }

    /// `jit_conditional_call_value`: the value unless it is zero or null, else what the function
    /// returns.
    pub(super) fn conditional_call_value(
        &mut self,
        value: &LLOperand,
        callee: &LLOperand,
        args: &[LLOperand],
    ) -> Result<Value, Bad> {
        let value = self.value(value)?;
        let ty = self.b.func.dfg.value_type(value);
        let (call, next) = (self.cold_block(), self.b.create_block());
        let result = self.b.append_block_param(next, ty);
        let zero = self.zero(ty);
        let is_zero = self.b.ins().icmp(IntCC::Equal, value, zero);
        self.b.ins().brif(is_zero, call, &[], next, &[value.into()]);
        self.b.switch_to_block(call);
        let called = self.call(callee, args)?;
        self.jump(next, &[called.unwrap_or(value)]);
        self.b.switch_to_block(next);
        Ok(result)
    }

    pub(super) fn call(&mut self, f: &LLOperand, args: &[LLOperand]) -> Result<Option<Value>, Bad> {
        if let LLOperand::Const(LLConst::Func(f) | LLConst::Void(VoidConst::Func(f))) = f {
            if releases_gil(f, args) {
                return self.call_without_lock(f, args);
            }
            let values = self.call_args(f.ty(), args)?;
            if let Some(result) = self.instruction_of(f, &values) {
                return Ok(Some(result));
            }
            if let SymbolRef::External(name) = SymbolRef::function(f) {
                match &*name {
                    "rpy_signal_poll" => return self.poll_signals(f).map(Some),
                    abi::INCREF => {
                        self.incref(values[0]);
                        return Ok(None);
                    }
                    abi::DECREF => {
                        self.decref(values[0]);
                        return Ok(None);
                    }
                    _ => {}
                }
            }
            return self.call_function(f, &values);
        }
        let ty = self.ty(f);
        let ft = match ty.pointee().map(|t| t.kind()) {
            Some(TypeKind::Func(ft)) => ft,
            _ => return Err(format!("call of a {ty}")),
        };
        let values = self.call_args(ft, args)?;
        let address = self.value(f)?;
        let sig = signature(ft)?;
        let sig = self.b.import_signature(sig);
        let call = self.b.ins().call_indirect(sig, address, &values);
        Ok(self.b.inst_results(call).first().copied())
    }

    fn call_function(&mut self, f: &FuncSym, values: &[Value]) -> Result<Option<Value>, Bad> {
        let f = self.function(f)?;
        let call = self.b.ins().call(f, values);
        Ok(self.b.inst_results(call).first().copied())
    }

    /// The number of a signal, or -1. Interpreters ask at every instruction, and hardly ever is
    /// there one: a word of the state tells.
    fn poll_signals(&mut self, f: &FuncSym) -> Result<Value, Bad> {
        let (call, next) = (self.cold_block(), self.b.create_block());
        let result = self.b.append_block_param(next, I64);
        let state = self.state();
        let at = self.b.ins().iadd_imm_s(state, i64::from(state::SIGNALS));
        // An atomic one is never taken for one before it.
        let pending = self.b.ins().atomic_load(I64, MemFlagsData::trusted(), at);
        let none = self.int(I64, -1);
        self.b.ins().brif(pending, call, &[], next, &[none.into()]);
        self.b.switch_to_block(call);
        let called = self.call_function(f, &[])?;
        self.jump(next, &[called.unwrap_or(none)]);
        self.b.switch_to_block(next);
        Ok(result)
    }

    /// A call of a C function while which other threads may run. The functions of the
    /// program that it is given take the lock when they are called.
    fn call_without_lock(&mut self, f: &FuncSym, args: &[LLOperand]) -> Result<Option<Value>, Bad> {
        let mut values = self.call_args(f.ty(), args)?;
        let given = args.iter().zip(&f.ty().args).filter(|(_, t)| !t.is_void());
        let mut calls_back = false;
        for (value, (arg, _)) in values.iter_mut().zip(given) {
            if let LLOperand::Const(LLConst::Func(g)) = arg
                && !matches!(g.kind(), FuncKind::External { .. })
            {
                *value = self.callback(g)?;
                calls_back = true;
            }
        }
        if calls_back {
            self.call_runtime(runtime::CALLBACK_PREPARE, &[]);
        }
        self.call_runtime(runtime::GIL_RELEASE, &[]);
        let result = self.call_function(f, &values)?;
        self.call_runtime(runtime::GIL_ACQUIRE, &[]);
        Ok(result)
    }

    /// The address by which C code calls a function.
    fn callback(&mut self, f: &FuncSym) -> Result<Value, Bad> {
        let sig = c_signature(f.ty(), self.machine)?;
        let sig = self.b.import_signature(sig);
        let symbol = SymbolRef::Glue(Glue::Callback(f.clone()));
        let r = match self.functions.get(&symbol) {
            Some(r) => *r,
            None => {
                let r = self.symbols.function(self.b.func, &symbol, sig);
                self.functions.insert(symbol, r);
                r
            }
        };
        Ok(self.b.ins().func_addr(PTR, r))
    }

    /// The result of a C function that the machine has an instruction for: a call would
    /// cost all floating-point registers.
    fn instruction_of(&mut self, f: &FuncSym, args: &[Value]) -> Option<Value> {
        let SymbolRef::External(name) = SymbolRef::function(f) else {
            return None;
        };
        match (&*name, args) {
            ("sqrt", [x]) => Some(self.b.ins().sqrt(*x)),
            ("fabs", [x]) => Some(self.b.ins().fabs(*x)),
            ("floor", [x]) => Some(self.b.ins().floor(*x)),
            ("ceil", [x]) => Some(self.b.ins().ceil(*x)),
            ("trunc", [x]) => Some(self.b.ins().trunc(*x)),
            ("copysign", [x, y]) => Some(self.b.ins().fcopysign(*x, *y)),
            _ => None,
        }
    }

    /// The arguments that are passed.
    fn call_args(&mut self, ft: &FuncType, args: &[LLOperand]) -> Result<Vec<Value>, Bad> {
        if args.len() != ft.args.len() {
            return Err(format!(
                "{} arguments instead of {}",
                args.len(),
                ft.args.len()
            ));
        }
        let mut values = Vec::with_capacity(args.len());
        for (a, ty) in args.iter().zip(&ft.args) {
            if !ty.is_void() {
                values.push(self.value(a)?);
            }
        }
        Ok(values)
    }

    pub(super) fn function(&mut self, f: &FuncSym) -> Result<FuncRef, Bad> {
        let symbol = SymbolRef::function(f);
        if let Some(f) = self.functions.get(&symbol) {
            return Ok(*f);
        }
        let external = matches!(f.kind(), FuncKind::External { .. });
        let sig = match external {
            true => c_signature(f.ty(), self.machine)?,
            false => signature(f.ty())?,
        };
        let sig = self.b.import_signature(sig);
        let r = self.symbols.function(self.b.func, &symbol, sig);
        self.functions.insert(symbol, r);
        Ok(r)
    }
}
