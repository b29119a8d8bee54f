//! The translation of each operation.

use std::slice::from_ref;

use taipan_graph::{Operand, Operation};
use taipan_lltype::{Accessed, LLConst, LLOperand, LowLevel, NamedOperands, TIMESTAMP_UNIT, View};

use super::objects::nothing;
use super::{Lowerer, operand, truth};
use crate::{Lack, ObjectOp};

impl Lowerer<'_> {
    #[expect(
        clippy::too_many_lines,
        reason = "a table: an arm per operation, with few lines each"
    )]
    pub(super) fn translate(
        &mut self,
        view: View<'_, LLOperand>,
        op: &Operation<LowLevel>,
    ) -> Result<(), Lack> {
        let result = op.result;
        match view {
            View::Getfield { .. }
            | View::Setfield { .. }
            | View::BareSetfield { .. }
            | View::Getarrayitem { .. }
            | View::Setarrayitem { .. }
            | View::BareSetarrayitem { .. }
            | View::Getinteriorfield { .. }
            | View::Setinteriorfield { .. }
            | View::BareSetinteriorfield { .. } => {
                if let Some(Accessed {
                    object,
                    path,
                    stored,
                }) = op.view().access()
                {
                    match stored {
                        Some(value) => self.store(object, path, value, result)?,
                        None => self.load(object, path, result)?,
                    }
                }
            }
            View::Getsubstruct {
                object,
                field: step,
            }
            | View::Getarraysubstruct {
                array: object,
                index: step,
            } => self.load(object, from_ref(step), result)?,
            View::Getarraysize { array } => self.length(array, &[], result)?,
            View::Getinteriorarraysize { object, path } => self.length(object, path, result)?,
            View::GcCopyArray {
                source,
                dest,
                source_start,
                dest_start,
                length,
            } => {
                self.copy_items([source, dest], [source_start, dest_start, length], result)?;
            }
            View::ShrinkArray { array, length } => {
                self.pointee(array)?.as_struct().ok_or(Lack::Addresses)?;
                let done = self.out.new_var("", crate::OOType::Void);
                self.object(
                    ObjectOp::Shrink,
                    vec![operand(array), operand(length)],
                    done,
                );
                self.same(truth(true), result);
            }
            View::Malloc {
                ty,
                flavor,
                destructor,
            } => {
                self.allocate(ty, flavor, None, result)?;
                if let Some(f) = destructor {
                    let args = vec![Operand::Var(result), operand(f)];
                    let done = self.out.new_var("", crate::OOType::Void);
                    self.object(ObjectOp::Finalize, args, done);
                }
            }
            View::GcFqRegister { queue, object } => {
                let args = vec![operand(queue), operand(object)];
                self.object(ObjectOp::Enqueue, args, result);
            }
            View::GcFqNextDead { queue } => {
                self.object(ObjectOp::NextDead, vec![operand(queue)], result);
            }
            View::MallocVarsize { ty, flavor, length }
            | View::GcMallocFilled { ty, flavor, length } => {
                self.allocate(ty, flavor, Some(length), result)?;
            }
            View::CastPointer { value }
            | View::CastOpaquePtr { value }
            | View::CastPtrToAdr { value }
            | View::CastAdrToPtr { value } => {
                self.cast(operand(value), result)?;
            }
            View::PtrEq { left, right } => {
                let args = vec![operand(left), operand(right)];
                self.object(ObjectOp::Is, args, result);
            }
            View::PtrNe { left, right } => {
                let args = vec![operand(left), operand(right)];
                let is = self.push(ObjectOp::Is, args, crate::OOType::Bool);
                self.not(is, result);
            }
            View::PtrIszero { value } => {
                self.object(ObjectOp::IsNull, vec![operand(value)], result);
            }
            View::PtrNonzero { value } => {
                let args = vec![operand(value)];
                let is = self.push(ObjectOp::IsNull, args, crate::OOType::Bool);
                self.not(is, result);
            }
            View::IndirectCall { callee, args, .. } => {
                let args = std::iter::once(callee).chain(args).map(operand).collect();
                self.object(ObjectOp::Call, args, result);
            }
            View::GcIdentityhash { object } | View::GcId { object } => {
                let ty = self.pointee(object).map_err(|_| Lack::IdentityOfArrays)?;
                if !self.is_instance(ty) {
                    return Err(Lack::IdentityOfArrays);
                }
                self.object(ObjectOp::IdentityHash, vec![operand(object)], result);
            }
            View::WeakrefCreate { object } => {
                self.object(ObjectOp::NewWeakref, vec![operand(object)], result);
            }
            View::WeakrefDeref { weakref } => {
                self.object(ObjectOp::Deref, vec![operand(weakref)], result);
            }
            View::Likely { value }
            | View::Unlikely { value }
            | View::Hint { value, .. }
            | View::JitForceVirtual { value }
            | View::RawMallocUsage { size: value } => self.same(operand(value), result),
            View::WeAreJitted {} | View::JitIsConstant { .. } | View::JitIsVirtual { .. } => {
                self.same(truth(false), result)
            }
            View::GcCanMove { .. } | View::GcWritebarrierBeforeCopy { .. } => {
                self.same(truth(true), result);
            }
            View::JitTraceLength {} => self.signed(-1, op),
            View::LlGetTimestampUnit {} => self.signed(TIMESTAMP_UNIT, op),
            taipan_lltype::note!()
            | View::JitAssertGreen { .. }
            | View::JitSetParam { .. }
            | View::JitForceQuasiImmutable { .. }
            | View::GcCollectMinor {}
            | View::GcWritebarrier { .. }
            | View::ZeroGcPointersInside { .. } => self.same(nothing(), result),
            View::RawMalloc { .. }
            | View::RawFree { .. }
            | View::Free { .. }
            | View::RawMemclear { .. }
            | View::RawMemset { .. }
            | View::RawMemcopy { .. }
            | View::RawMemmove { .. }
            | View::RawLoad { .. }
            | View::RawStore { .. } => return Err(Lack::RawMemory),
            View::GcLoadIndexed { .. } | View::GcStoreIndexed { .. } => {
                return Err(Lack::Reinterpretation);
            }
            View::ThreadlocalrefGet { .. } | View::ThreadlocalrefStore { .. } => {
                return Err(Lack::ThreadLocals);
            }
            View::JitEnter { .. } => return Err(Lack::Jit),
            _ if crate::OOOp::is_shared(op.op) => self.shared(op),
            View::CastPtrToInt { .. }
            | View::CastIntToPtr { .. }
            | View::CastAdrToInt { .. }
            | View::CastIntToAdr { .. }
            | View::DirectFieldptr { .. }
            | View::DirectArrayitems { .. }
            | View::DirectPtradd { .. }
            | View::AdrAdd { .. }
            | View::AdrSub { .. }
            | View::AdrDelta { .. }
            | View::AdrLt { .. }
            | View::AdrLe { .. }
            | View::AdrEq { .. }
            | View::AdrNe { .. }
            | View::AdrGt { .. }
            | View::AdrGe { .. } => return Err(Lack::Addresses),
            // Those of the collector's transform, and of code that is made while a program runs.
            _ => return Err(Lack::Operation(op.op.to_string())),
        }
        Ok(())
    }

    fn not(&mut self, value: crate::OOOperand, result: taipan_graph::VarId) {
        let op = taipan_lltype::PlainOp::BoolNot.into();
        self.emit(crate::OOOp::Low(op), vec![value], result);
    }

    fn signed(&mut self, n: i64, op: &Operation<LowLevel>) {
        self.same(Operand::Const(LLConst::signed(n)), op.result);
    }

    /// Whether a type is that of the instances of a class.
    fn is_instance(&self, ty: taipan_lltype::LLType) -> bool {
        let mut ty = Some(ty);
        while let Some(t) = ty {
            if t == *taipan_lltype::OBJECT {
                return true;
            }
            ty = crate::base_of(t, self.program);
        }
        false
    }
}
