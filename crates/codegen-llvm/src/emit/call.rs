//! Calls.

use taipan_codegen::abi::{self, state};
use taipan_codegen::{Glue, SymbolRef, runtime};
use taipan_lltype::{
    FuncKind, FuncSym, FuncType, LLConst, LLOperand, TypeKind, VoidConst, releases_gil,
};

use super::{Emitter, Value};
use crate::names::global;
use crate::text::Metadata;
use crate::types::{Bad, Signature, Ty};

impl Emitter<'_> {
    /// `jit_conditional_call`
    pub(super) fn conditional_call(
        &mut self,
        condition: &LLOperand,
        callee: &LLOperand,
        args: &[LLOperand],
    ) -> Result<Option<Value>, Bad> {
        let condition = self.value(condition)?;
        let bit = self.bit(&condition);
        let (call, next) = (self.new_label("call"), self.new_label("next"));
        self.branch_if(&bit, &call, &next, Some(Metadata::FirstIsRare));
        self.start(&call);
        self.call(callee, args)?;
        self.go(&next);
        self.start(&next);
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
        let bit = self.bit(&value);
        let (call, next) = (self.new_label("call"), self.new_label("next"));
        let before = self.label.clone();
        self.branch_if(&bit, &next, &call, Some(Metadata::SecondIsRare));
        self.start(&call);
        let called = self.call(callee, args)?.unwrap_or_else(|| value.clone());
        let called = self.as_type(&called, value.ty);
        let after = self.label.clone();
        self.go(&next);
        self.start(&next);
        Ok(self.merge(value.ty, &[(&value, &before), (&called, &after)]))
    }

    pub(super) fn call(&mut self, f: &LLOperand, args: &[LLOperand]) -> Result<Option<Value>, Bad> {
        if let LLOperand::Const(LLConst::Func(f) | LLConst::Void(VoidConst::Func(f))) = f {
            if releases_gil(f, args) {
                return self.call_without_lock(f, args);
            }
            let external = matches!(f.kind(), FuncKind::External { .. });
            let values = self.call_args(f.ty(), args, external)?;
            if let Some(result) = self.instruction_of(f, &values) {
                return Ok(Some(result));
            }
            if let SymbolRef::External(name) = SymbolRef::function(f) {
                match &*name {
                    "rpy_signal_poll" => return self.poll_signals(f).map(Some),
                    abi::INCREF => {
                        self.incref(&values[0]);
                        return Ok(None);
                    }
                    abi::DECREF => {
                        self.decref(&values[0]);
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
        let values = self.call_args(ft, args, false)?;
        let address = self.pointer(f)?;
        let signature = Signature::of(ft, false)?;
        Ok(self.call_address(&address.text, &signature, &values))
    }

    fn call_address(
        &mut self,
        address: &str,
        signature: &Signature,
        values: &[Value],
    ) -> Option<Value> {
        let passed: Vec<String> = (values.iter().zip(&signature.params))
            .map(|(v, p)| format!("{p} {}", v.text))
            .collect();
        let text = format!(
            "call {} {address}({})",
            signature.result_text(),
            passed.join(", ")
        );
        match signature.result {
            Some(ty) => Some(self.ins(ty, &text)),
            None => {
                self.run(&text);
                None
            }
        }
    }

    fn call_function(&mut self, f: &FuncSym, values: &[Value]) -> Result<Option<Value>, Bad> {
        let external = matches!(f.kind(), FuncKind::External { .. });
        let signature = Signature::of(f.ty(), external)?;
        let address = self.function_address(f)?;
        Ok(self.call_address(&address.text, &signature, values))
    }

    /// The number of a signal, or -1. Interpreters ask at every instruction, and hardly ever is
    /// there one: a word of the state tells.
    fn poll_signals(&mut self, f: &FuncSym) -> Result<Value, Bad> {
        let (call, next) = (self.new_label("call"), self.new_label("next"));
        let place = self.state_place(state::SIGNALS);
        // An atomic one is never taken for one before it.
        let text = format!("load atomic volatile i64, ptr {place} monotonic, align 8");
        let pending = self.part(&text);
        let bit = self.part(&format!("icmp ne i64 {pending}, 0"));
        let none = self.int(Ty::I64, -1);
        let before = self.label.clone();
        self.branch_if(&bit, &call, &next, Some(Metadata::FirstIsRare));
        self.start(&call);
        let called = self.call_function(f, &[])?;
        let called = called.unwrap_or_else(|| none.clone());
        self.go(&next);
        self.start(&next);
        Ok(self.merge(Ty::I64, &[(&none, &before), (&called, &call)]))
    }

    /// A call of a C function while which other threads may run. The functions of the program
    /// that it is given take the lock when they are called.
    fn call_without_lock(&mut self, f: &FuncSym, args: &[LLOperand]) -> Result<Option<Value>, Bad> {
        let mut values = self.call_args(f.ty(), args, true)?;
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
        let signature = Signature::of(f.ty(), true)?;
        let name = self.mention(&SymbolRef::Glue(Glue::Callback(f.clone())));
        let address = global(&name);
        self.declarations
            .entry(name)
            .or_insert_with(|| signature.declare(&address, ""));
        Ok(Value::new(address, Ty::Ptr))
    }

    /// The result of a C function that the machine has an instruction for.
    fn instruction_of(&mut self, f: &FuncSym, args: &[Value]) -> Option<Value> {
        let SymbolRef::External(name) = SymbolRef::function(f) else {
            return None;
        };
        let known = match (&*name, args) {
            ("sqrt" | "fabs" | "floor" | "ceil" | "trunc", [_]) | ("copysign", [_, _]) => {
                args.iter().all(|a| a.ty == Ty::F64)
            }
            _ => false,
        };
        if !known {
            return None;
        }
        let args: Vec<&Value> = args.iter().collect();
        let text = self.intrinsic(&format!("llvm.{name}.f64"), &args, "double");
        Some(Value::new(text, Ty::F64))
    }

    /// The arguments that are passed.
    fn call_args(
        &mut self,
        ft: &FuncType,
        args: &[LLOperand],
        c_convention: bool,
    ) -> Result<Vec<Value>, Bad> {
        if args.len() != ft.args.len() {
            return Err(format!(
                "{} arguments instead of {}",
                args.len(),
                ft.args.len()
            ));
        }
        let signature = Signature::of(ft, c_convention)?;
        let mut values = Vec::with_capacity(args.len());
        let passed = args.iter().zip(&ft.args).filter(|(_, t)| !t.is_void());
        for ((a, _), param) in passed.zip(&signature.params) {
            let v = self.value(a)?;
            values.push(self.as_type(&v, param.ty));
        }
        Ok(values)
    }

    /// `jit_force_quasi_immutable(pointer, field)`
    pub(super) fn jit_force_quasi_immutable(
        &mut self,
        object: &LLOperand,
        field: &LLOperand,
    ) -> Result<Option<Value>, Bad> {
        let field = self.field_address(object, field)?;
        Ok(self.call_runtime(runtime::JIT_FIELD_WRITTEN, &[field]))
    }
}
