//! Calls.

use taipan_codegen::{SymbolRef, abi};
use taipan_lltype::{
    FuncKind, FuncSym, FuncType, LLConst, LLOperand, LLType, TypeKind, VoidConst, releases_gil,
};

use super::Emitter;
use super::ops::{Value, done};
use crate::names;
use crate::types::Bad;

impl Emitter<'_> {
    /// `jit_conditional_call`
    pub(super) fn conditional_call(
        &mut self,
        condition: &LLOperand,
        callee: &LLOperand,
        args: &[LLOperand],
    ) -> Result<Value, Bad> {
        let condition = self.value(condition)?;
        let call = self.call_text(callee, args)?;
        done(format!("if (RPY_UNLIKELY({condition})) {call}"))
    }

    /// `jit_conditional_call_value`: the value unless it is zero or null, else what the function
    /// returns.
    pub(super) fn conditional_call_value(
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

    pub(super) fn call(
        &mut self,
        f: &LLOperand,
        args: &[LLOperand],
        result: LLType,
    ) -> Result<Value, Bad> {
        if let LLOperand::Const(LLConst::Func(f) | LLConst::Void(VoidConst::Func(f))) = f
            && releases_gil(f, args)
        {
            return self.call_without_lock(f, args, result);
        }
        let text = self.call_text(f, args)?;
        Ok(match result.is_void() {
            true => Value::Done(Some(text)),
            false => Value::Is(text),
        })
    }

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
    ) -> Result<Value, Bad> {
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
                Value::Done(None)
            }
            false => {
                let kept = self.typed_temporary(result)?;
                self.statement(format!("{kept} = {call};"));
                Value::Is(kept)
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

    /// `jit_enter(driver, greens...)`
    pub(super) fn jit_enter(
        &mut self,
        driver: &LLOperand,
        greens: &[LLOperand],
    ) -> Result<String, Bad> {
        let driver = self.value(driver)?;
        let mut words = Vec::new();
        for a in greens {
            let Some(v) = self.maybe(a)? else { continue };
            words.push(match self.ty(a).kind() {
                TypeKind::Float => format!("(Word)rpy_float_bits({v})"),
                TypeKind::SingleFloat => return Err("a green value of single precision".into()),
                TypeKind::Int(k) if k.bits > 64 => {
                    return Err("a green value of more than a machine word".into());
                }
                _ => format!("(Word){v}"),
            });
        }
        if words.is_empty() {
            words.push("0".to_owned());
        }
        Ok(format!(
            "rpy_jit_enter({driver}, (Word[]){{{}}})",
            words.join(", ")
        ))
    }
}

/// Functions of C that the machine has an instruction for.
fn is_instruction(name: &str) -> bool {
    matches!(
        name,
        "sqrt" | "fabs" | "floor" | "ceil" | "trunc" | "copysign"
    )
}
