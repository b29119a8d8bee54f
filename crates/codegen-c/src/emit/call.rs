//! Calls.

use taipan_codegen::machine::{Bad, Calls, Operands};
use taipan_codegen::runtime::{CType, RuntimeFunction};
use taipan_codegen::{SymbolRef, abi};
use taipan_lltype::{
    ConstantOperand, FuncKind, FuncSym, FuncType, LLConst, LLOperand, LLType, TypeKind, VoidConst,
    releases_gil,
};

use super::Emitter;
use crate::names;

impl Calls for Emitter<'_> {
    fn call(
        &mut self,
        callee: &LLOperand,
        args: &[LLOperand],
        to: LLType,
    ) -> Result<Option<String>, Bad> {
        if let Some(f) = callee.as_function()
            && releases_gil(f, args)
        {
            return self.call_without_lock(f, args, to);
        }
        let text = self.call_text(callee, args)?;
        if to.is_void() {
            self.statement(format!("{text};"));
            return Ok(None);
        }
        Ok(Some(text))
    }

    fn conditional_call(
        &mut self,
        condition: &LLOperand,
        callee: &LLOperand,
        args: &[LLOperand],
    ) -> Result<(), Bad> {
        let condition = self.value(condition)?;
        let call = self.call_text(callee, args)?;
        self.statement(format!("if (RPY_UNLIKELY({condition})) {call};"));
        Ok(())
    }

    fn conditional_call_value(
        &mut self,
        value: &LLOperand,
        callee: &LLOperand,
        args: &[LLOperand],
        to: LLType,
    ) -> Result<String, Bad> {
        let value = self.value(value)?;
        let call = self.call_text(callee, args)?;
        let ty = self.types.value(to)?;
        Ok(format!("RPY_LIKELY({value} != 0) ? {value} : ({ty}){call}"))
    }

    fn runtime_operation(&mut self, f: RuntimeFunction, values: Vec<String>) -> Option<String> {
        let call = format!("{}({})", f.name, values.join(", "));
        if f.result == CType::Void {
            self.statement(format!("{call};"));
            return None;
        }
        Some(call)
    }

    fn field_written(&mut self, object: &LLOperand, field: &LLOperand) -> Result<(), Bad> {
        let place = self.place_in(object, std::slice::from_ref(field))?;
        self.statement(format!("rpy_jit_field_written((void *)&{});", place.text()));
        Ok(())
    }
}

impl Emitter<'_> {
    fn call_text(&mut self, f: &LLOperand, args: &[LLOperand]) -> Result<String, Bad> {
        if let LLOperand::Const(LLConst::Func(f) | LLConst::Void(VoidConst::Func(f))) = f {
            let values = self.call_args(f.ty(), args)?;
            if let SymbolRef::External(name) = SymbolRef::function(f) {
                if is_instruction(&name) {
                    return Ok(format!("__builtin_{name}({})", values.join(", ")));
                }
                match &*name {
                    abi::INCREF => return Ok(format!("rpy_incref({})", values.join(", "))),
                    abi::DECREF => return Ok(format!("rpy_decref({})", values.join(", "))),
                    _ => {}
                }
                // Interpreters ask at every instruction whether there is a signal, and hardly ever is
                // there one: a word of the state tells.
                if &*name == "rpy_signal_poll" {
                    let poll = self.function_name(f);
                    return Ok(format!(
                        "(RPY_UNLIKELY(__atomic_load_n(&rpy_state.signals, __ATOMIC_RELAXED)) \
                         ? {poll}() : -1)"
                    ));
                }
            }
            self.calls |= !matches!(f.kind(), FuncKind::External { .. });
            return Ok(format!("{}({})", self.function_name(f), values.join(", ")));
        }
        self.calls = true;
        let ty = self.ty(f);
        let ft = match ty.pointee().map(|t| t.kind()) {
            Some(TypeKind::Func(ft)) => ft,
            _ => return Err(format!("call of a {ty}")),
        };
        let values = self.call_args(ft, args)?;
        Ok(format!("{}({})", self.value(f)?, values.join(", ")))
    }

    /// A call of a C function while which other threads may run. The functions of the program
    /// that it is given take the lock when they are called.
    fn call_without_lock(
        &mut self,
        f: &FuncSym,
        args: &[LLOperand],
        result: LLType,
    ) -> Result<Option<String>, Bad> {
        let mut values = self.call_args(f.ty(), args)?;
        let given = args.iter().zip(&f.ty().args).filter(|(_, t)| !t.is_void());
        let mut calls_back = false;
        for (value, (arg, _)) in values.iter_mut().zip(given) {
            if let LLOperand::Const(LLConst::Func(g)) = arg
                && !matches!(g.kind(), FuncKind::External { .. })
            {
                self.callbacks.insert(g.clone());
                *value = format!("&{}", names::callback(g));
                calls_back = true;
            }
        }
        if calls_back {
            self.statement("rpy_callback_prepare();");
        }
        self.statement("rpy_gil_release();");
        let call = format!("{}({})", self.function_name(f), values.join(", "));
        let value = match result.is_void() {
            true => {
                self.statement(format!("{call};"));
                None
            }
            false => {
                let kept = self.typed_temporary(result)?;
                self.statement(format!("{kept} = {call};"));
                Some(kept)
            }
        };
        self.statement("rpy_gil_acquire();");
        Ok(value)
    }

    /// The arguments that are passed.
    fn call_args(&mut self, ft: &FuncType, args: &[LLOperand]) -> Result<Vec<String>, Bad> {
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
}

/// Functions of C that the machine has an instruction for.
fn is_instruction(name: &str) -> bool {
    matches!(
        name,
        "sqrt" | "fabs" | "floor" | "ceil" | "trunc" | "copysign"
    )
}
