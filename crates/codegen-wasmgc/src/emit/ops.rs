//! The translation of each operation.

use taipan_graph::Operation;
use taipan_lltype::{ConstantOperand, FuncKind, LLConst, LLOp, LLOperand, PlainOp, VoidConst};
use taipan_ootype::{Lack, OOOp, OOOperand, OOType, ObjectOp, ObjectOriented};
use wasm_encoder::{BlockType, ValType};

use super::Emitter;
use crate::code::Ins;
use crate::host;
use crate::symbols::{Callee, Global, Glue, HostFunction, TypeSym};
use crate::types::{OBJECT, val_type};

/// Finalizers of the shipped library that need not run: the host frees the same when the program ends.
const HARMLESS: &[&str] = &["rpython.rlib.rthread.Lock.__del__"];

fn is_harmless(finalizer: &OOOperand) -> bool {
    matches!(
        finalizer,
        OOOperand::Const(LLConst::Func(f) | LLConst::Void(VoidConst::Func(f)))
            if HARMLESS.contains(&f.name())
    )
}

impl Emitter<'_> {
    /// The instructions of an operation: its result is on the stack behind them.
    pub(super) fn instructions(&mut self, op: &Operation<ObjectOriented>) -> Result<(), Lack> {
        match op.op {
            OOOp::Object(object) => self.object_operation(object, op),
            OOOp::Low(LLOp::Num(family, num)) => self.number(family, num, &op.args),
            OOOp::Low(LLOp::Plain(plain)) => self.plain(plain, op),
        }
    }

    /// All operands, and an instruction on them.
    pub(super) fn on(&mut self, args: &[OOOperand], ins: &[Ins]) -> Result<(), Lack> {
        for a in args {
            self.push(a)?;
        }
        self.out.extend(ins.iter().cloned());
        Ok(())
    }

    pub(super) fn call_glue(&mut self, glue: Glue) {
        let callee = self.symbols.callee(Callee::Glue(glue));
        self.out.push(Ins::Call(callee));
    }

    fn object_operation(
        &mut self,
        object: ObjectOp,
        op: &Operation<ObjectOriented>,
    ) -> Result<(), Lack> {
        let args = &op.args;
        match object {
            ObjectOp::New => self.new_object(&args[0], &args[1..]),
            ObjectOp::NewItems => self.new_items(&args[0], &args[1]),
            ObjectOp::GetField => self.get_field(&args[0], &args[1]),
            ObjectOp::SetField => self.set_field(&args[0], &args[1], &args[2]),
            ObjectOp::GetItem => self.get_item(&args[0], &args[1]),
            ObjectOp::SetItem => self.set_item(&args[0], &args[1], &args[2]),
            ObjectOp::Length => self.on(args, &[Ins::ArrayLen, Ins::I64ExtendI32U]),
            ObjectOp::CopyItems => self.copy_items(args),
            ObjectOp::Shrink => self.shrink(&args[0], &args[1]),
            ObjectOp::Cast => self.cast(&args[0], *self.graph.ty(op.result)),
            ObjectOp::Is => self.is(&args[0], &args[1]),
            ObjectOp::IsNull => self.on(args, &[Ins::RefIsNull]),
            ObjectOp::Call => self.call_method(&args[0], &args[1..]),
            ObjectOp::IdentityHash => {
                self.push(&args[0])?;
                self.call_glue(Glue::IdentityHash);
                Ok(())
            }
            ObjectOp::NewWeakref => {
                self.push(&args[0])?;
                self.call_glue(Glue::NewWeakref);
                Ok(())
            }
            ObjectOp::Deref => {
                self.push(&args[0])?;
                self.call_glue(Glue::Deref);
                self.narrow(OOType::Object, *self.graph.ty(op.result));
                Ok(())
            }
            ObjectOp::Finalize if is_harmless(&args[1]) => Ok(()),
            ObjectOp::Finalize | ObjectOp::Enqueue | ObjectOp::NextDead => Err(Lack::Finalizers),
        }
    }

    fn plain(&mut self, plain: PlainOp, op: &Operation<ObjectOriented>) -> Result<(), Lack> {
        let args = &op.args;
        let result = *self.graph.ty(op.result);
        match plain {
            PlainOp::DirectCall => self.call(&args[0], &args[1..]),
            PlainOp::JitConditionalCall => {
                self.push(&args[0])?;
                self.out.push(Ins::If(BlockType::Empty));
                self.call(&args[1], &args[2..])?;
                self.out.push(Ins::End);
                Ok(())
            }
            PlainOp::JitConditionalCallValue => self.value_or_call(args, result),
            PlainOp::BoolNot => self.on(args, &[Ins::I32Eqz]),
            PlainOp::IntBetween => self.between(args),
            PlainOp::IntForceGeZero => self.not_negative(&args[0]),
            PlainOp::UintMulHigh => {
                self.on(args, &[])?;
                self.call_glue(Glue::MulHigh);
                Ok(())
            }
            PlainOp::ConvertFloatBytesToLonglong => self.on(args, &[Ins::I64ReinterpretF64]),
            PlainOp::ConvertLonglongBytesToFloat => self.on(args, &[Ins::F64ReinterpretI64]),
            PlainOp::SameAs => self.on(args, &[]),
            PlainOp::StackCheck => {
                let depth = self.symbols.global(Global::Depth);
                let most = self.symbols.global(Global::StackLimit);
                self.on(
                    &[],
                    &[Ins::GlobalGet(depth), Ins::GlobalGet(most), Ins::I32GtU],
                )
            }
            PlainOp::LlReadTimestamp => {
                let f = host::external("rpy_read_timestamp");
                let callee = self.symbols.callee(Callee::Func(f));
                self.on(&[], &[Ins::Call(callee)])
            }
            PlainOp::DebugAssert => {
                self.on(&args[..1], &[Ins::I32Eqz, Ins::If(BlockType::Empty)])?;
                let f = host::external("rpy_assert_failed");
                let callee = self.symbols.callee(Callee::Func(f));
                self.on(&[], &[Ins::Call(callee), Ins::End])
            }
            PlainOp::DebugFatalerror => {
                let f = host::external("rpy_fatal");
                let callee = self.symbols.callee(Callee::Func(f));
                self.on(args, &[Ins::Call(callee)])
            }
            PlainOp::GcCollect => {
                let collect = self.symbols.callee(Callee::Host(HostFunction::Collect));
                self.on(&[], &[Ins::Call(collect)])
            }
            // Sections of debug output are never on.
            PlainOp::DebugPrint
            // There are no tracebacks.
            | PlainOp::DebugStartTraceback
            | PlainOp::DebugRecordTraceback
            | PlainOp::DebugCatchException
            | PlainOp::DebugReraiseTraceback => Ok(()),
            PlainOp::ExcOccurred => {
                let class = self.symbols.global(Global::ExcType);
                self.on(&[], &[Ins::GlobalGet(class), Ins::RefIsNull, Ins::I32Eqz])
            }
            PlainOp::ExcType => {
                let class = self.symbols.global(Global::ExcType);
                self.on(&[], &[Ins::GlobalGet(class)])
            }
            PlainOp::ExcValue => {
                let value = self.symbols.global(Global::ExcValue);
                self.on(&[], &[Ins::GlobalGet(value)])
            }
            PlainOp::ExcSet => {
                let class = self.symbols.global(Global::ExcType);
                let value = self.symbols.global(Global::ExcValue);
                self.on(args, &[Ins::GlobalSet(value), Ins::GlobalSet(class)])
            }
            PlainOp::ExcClear => self.clear_exception(),
            _ if taipan_lltype::is_conversion(plain) || plain == PlainOp::ForceCast => {
                let from = self.ty(&args[0]);
                self.push(&args[0])?;
                self.convert(from, result)
            }
            other => Err(Lack::Operation(other.name().to_owned())),
        }
    }

    fn clear_exception(&mut self) -> Result<(), Lack> {
        let class = TypeSym::Container(*taipan_lltype::OBJECT_VTABLE);
        let object = TypeSym::Container(*taipan_lltype::OBJECT);
        for (global, ty) in [(Global::ExcType, class), (Global::ExcValue, object)] {
            let ty = wasm_encoder::HeapType::Concrete(self.symbols.ty(ty));
            let global = self.symbols.global(global);
            self.out.extend([Ins::RefNull(ty), Ins::GlobalSet(global)]);
        }
        Ok(())
    }

    /// A call of a known function.
    fn call(&mut self, callee: &OOOperand, args: &[OOOperand]) -> Result<(), Lack> {
        let low = match callee {
            OOOperand::Const(c) => LLOperand::Const(c.clone()),
            OOOperand::Var(_) => return self.call_method(callee, args),
        };
        let f = low
            .as_function()
            .ok_or_else(|| Lack::Operation("call".into()))?;
        self.on(args, &[])?;
        if let FuncKind::External { name, .. } = f.kind() {
            if let Some(ins) = host::instruction(name) {
                self.out.push(ins);
                return Ok(());
            }
            if !host::is_available(f) {
                self.lacks(Lack::Function(name.to_string()));
            }
        }
        let callee = self.symbols.callee(Callee::Func(f.clone()));
        self.out.push(Ins::Call(callee));
        Ok(())
    }

    /// A call of a static method.
    fn call_method(&mut self, method: &OOOperand, args: &[OOOperand]) -> Result<(), Lack> {
        if let OOOperand::Const(LLConst::Func(_) | LLConst::Void(VoidConst::Func(_))) = method {
            return self.call(method, args);
        }
        let ty = self.ty(method).container().ok_or(Lack::Addresses)?;
        self.on(args, &[])?;
        self.push(method)?;
        let object = self.symbols.ty(TypeSym::Method(ty));
        let function = self.symbols.ty(TypeSym::Function(ty));
        self.out.extend([
            Ins::StructGet {
                struct_type_index: object,
                field_index: 0,
            },
            Ins::CallRef(function),
        ]);
        Ok(())
    }

    /// `jit_conditional_call_value`: the value, or the result of a function if it is zero or null.
    fn value_or_call(&mut self, args: &[OOOperand], result: OOType) -> Result<(), Lack> {
        let Some(ty) = val_type(result, &mut self.symbols)? else {
            return Err(Lack::Operation("jit_conditional_call_value".into()));
        };
        let value = self.temporary(ty);
        self.push(&args[0])?;
        self.out.push(Ins::LocalTee(value));
        match ty {
            ValType::I64 => self.out.push(Ins::I64Eqz),
            ValType::I32 => self.out.push(Ins::I32Eqz),
            ValType::Ref(_) => self.out.push(Ins::RefIsNull),
            _ => return Err(Lack::Operation("jit_conditional_call_value".into())),
        }
        self.out.push(Ins::If(BlockType::Result(ty)));
        self.call(&args[1], &args[2..])?;
        self.out.extend([Ins::Else, Ins::LocalGet(value), Ins::End]);
        Ok(())
    }

    fn is(&mut self, left: &OOOperand, right: &OOOperand) -> Result<(), Lack> {
        let is_null = |o: &OOOperand| matches!(o, OOOperand::Const(LLConst::Null(_)));
        match (is_null(left), is_null(right)) {
            (_, true) => self.on(std::slice::from_ref(left), &[Ins::RefIsNull]),
            (true, _) => self.on(std::slice::from_ref(right), &[Ins::RefIsNull]),
            _ => self.on(&[left.clone(), right.clone()], &[Ins::RefEq]),
        }
    }

    fn cast(&mut self, o: &OOOperand, to: OOType) -> Result<(), Lack> {
        if let OOOperand::Const(LLConst::Null(_)) = o {
            return self.default_of(to);
        }
        let from = self.ty(o);
        self.push(o)?;
        self.narrow(from, to);
        Ok(())
    }

    /// Makes a reference one of another type.
    pub(super) fn narrow(&mut self, from: OOType, to: OOType) {
        let is_object = val_type(to, &mut self.symbols) == Ok(Some(OBJECT));
        if is_object || self.is_subtype(from, to) {
            return;
        }
        let heap_type = crate::types::heap_type(to, &mut self.symbols);
        self.out.push(Ins::RefCastNullable(heap_type));
    }

    /// Whether all objects of a type are of another one.
    fn is_subtype(&self, from: OOType, to: OOType) -> bool {
        let (Some(mut ty), Some(to)) = (from.container(), to.container()) else {
            return false;
        };
        loop {
            if ty == to {
                return true;
            }
            match taipan_ootype::base_of(ty, self.program) {
                Some(base) => ty = base,
                None => return false,
            }
        }
    }
}
