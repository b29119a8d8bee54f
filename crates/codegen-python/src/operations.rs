//! Operations as expressions and statements.

use taipan_lltype::{
    ConstantOperand, LLConst, LLOperand, LLType, NumFamily, NumOp, TIMESTAMP_UNIT, View, VoidConst,
};

use crate::convert::{converted, from_number, number, shift_count};
use crate::expr::{ADD, COMPARE, Expr, MUL};
use crate::function::{Bad, Writer};
use crate::names::Ref;
use crate::types::{Pointer, pointer, varsized};

/// What became of an operation.
pub(crate) enum Made {
    /// A value.
    Value(Expr),
    /// Its operand, whatever the operation is said to do.
    Passed(Expr),
    /// A statement; it has no value.
    Statement(String),
    /// Nothing is done.
    Nothing,
}

impl Writer<'_> {
    #[expect(
        clippy::too_many_lines,
        reason = "a table: an arm per operation, with few lines each"
    )]
    pub(crate) fn operation(
        &mut self,
        view: View<'_, LLOperand>,
        result: LLType,
    ) -> Result<Made, Bad> {
        Ok(match view {
            View::Unary { family, op, value } => {
                let e = self.operand(value);
                Made::Value(self.number(family, op, &e, &e, None)?)
            }
            View::Binary {
                family,
                op,
                left,
                right,
            } => {
                let (a, b) = (self.operand(left), self.operand(right));
                Made::Value(self.number(family, op, &a, &b, shift_count(right))?)
            }
            View::DirectCall { callee, args } | View::IndirectCall { callee, args, .. } => {
                Made::Value(self.call(callee, args))
            }
            View::JitConditionalCall {
                condition,
                callee,
                args,
            } => {
                let condition = self.operand(condition);
                let call = self.call(callee, args);
                Made::Statement(format!("if {}: {}", condition.text, call.text))
            }
            View::JitConditionalCallValue {
                value,
                callee,
                args,
            } => {
                let known = self.operand(value);
                let call = self.call(callee, args);
                let nothing = match pointer(self.ty(value)) {
                    Some(Pointer::Raw) | None => {
                        Expr::compare(&known, "==", &Expr::atom("0"), None)
                    }
                    Some(_) => Expr::compare(&known, "is", &Expr::atom("None"), None),
                };
                let text = format!("{} if {} else {}", call.text, nothing.text, known.text);
                Made::Value(Expr::new(text, crate::expr::NOT))
            }
            View::BoolNot { value } => Made::Value(self.operand(value).not()),
            View::PtrIszero { value } => Made::Value(self.nonzero(value).not()),
            View::PtrNonzero { value } => Made::Value(self.nonzero(value)),
            View::PtrEq { left, right } | View::AdrEq { left, right } => {
                Made::Value(self.same(left, right))
            }
            View::PtrNe { left, right } | View::AdrNe { left, right } => {
                Made::Value(self.same(left, right).not())
            }
            View::AdrLt { left, right } => self.compared(left, "<", right),
            View::AdrLe { left, right } => self.compared(left, "<=", right),
            View::AdrGt { left, right } => self.compared(left, ">", right),
            View::AdrGe { left, right } => self.compared(left, ">=", right),
            View::AdrAdd { address, offset } => {
                let (a, b) = (self.operand(address), self.operand(offset));
                Made::Value(Expr::call("address_add", &[&a, &b]))
            }
            View::AdrSub { address, offset } => {
                let (a, b) = (self.operand(address), self.operand(offset));
                let b = Expr::binary(&Expr::atom("0"), "-", &b, ADD);
                Made::Value(Expr::call("address_add", &[&a, &b]))
            }
            View::AdrDelta { left, right } => {
                let [a, b] = [left, right].map(|o| Expr::call("number_of", &[&self.operand(o)]));
                let delta = Expr::binary(&a, "-", &b, ADD);
                Made::Value(Expr::call("signed", &[&delta]))
            }
            View::IntBetween { low, value, high } => {
                let [a, b, c] = [low, value, high].map(|o| self.operand(o));
                let texts = [&a, &b, &c].map(|e| e.under(COMPARE + 1));
                let text = format!("{} <= {} < {}", texts[0], texts[1], texts[2]);
                Made::Value(Expr::new(text, COMPARE).reading(a.reads || b.reads || c.reads))
            }
            View::IntForceGeZero { value } => {
                let e = self.operand(value);
                Made::Value(Expr::call("max", &[&e, &Expr::atom("0")]))
            }
            View::UintMulHigh { left, right } => {
                let (a, b) = (self.operand(left), self.operand(right));
                let product = Expr::binary(&a, "*", &b, MUL);
                Made::Value(Expr::binary(
                    &product,
                    ">>",
                    &Expr::atom("64"),
                    crate::expr::SHIFT,
                ))
            }
            View::IntAddOvf { left, right } | View::IntAddNonnegOvf { left, right } => {
                self.checked(left, "+", right, ADD)
            }
            View::IntSubOvf { left, right } => self.checked(left, "-", right, ADD),
            View::IntMulOvf { left, right } => self.checked(left, "*", right, MUL),
            taipan_lltype::conversion!(value) | View::ForceCast { value } => {
                let from = self.ty(value);
                let e = self.operand(value);
                let to = converted(&e, from, result);
                Made::Value(to.ok_or_else(|| format!("cast from {from} to {result}"))?)
            }
            View::SameAs { value }
            | View::Likely { value }
            | View::Unlikely { value }
            | View::Hint { value, .. }
            | View::JitForceVirtual { value } => Made::Passed(self.operand(value)),
            View::ConvertFloatBytesToLonglong { value } => self.support("bits_of_float", &[value]),
            View::ConvertLonglongBytesToFloat { value } => self.support("float_of_bits", &[value]),
            View::CastPtrToInt { value } | View::CastAdrToInt { value } => {
                self.support("number_of", &[value])
            }
            View::CastIntToPtr { value } | View::CastIntToAdr { value } => {
                self.support(from_number(result), &[value])
            }
            View::CastPointer { value }
            | View::CastOpaquePtr { value }
            | View::CastPtrToAdr { value }
            | View::CastAdrToPtr { value } => {
                let raw = |ty| pointer(ty) == Some(Pointer::Raw);
                match (raw(self.ty(value)), raw(result)) {
                    (true, false) => self.support("as_object", &[value]),
                    (false, true) => self.support("as_address", &[value]),
                    _ => Made::Passed(self.operand(value)),
                }
            }
            View::Malloc {
                ty,
                flavor,
                destructor,
            } => {
                let made = self.malloc(type_of(ty)?, None, clears(flavor))?;
                match destructor.and_then(ConstantOperand::as_function) {
                    Some(f) => {
                        let f = self.refs.to(Ref::Func(f.clone()));
                        Made::Value(Expr::call("finalized", &[&made, &Expr::atom(f)]))
                    }
                    None => Made::Value(made),
                }
            }
            View::GcMallocNursery { ty, flavor } => {
                Made::Value(self.malloc(type_of(ty)?, None, clears(flavor))?)
            }
            View::MallocVarsize { ty, flavor, length }
            | View::GcMallocFilled { ty, flavor, length } => {
                Made::Value(self.malloc(type_of(ty)?, Some(length), clears(flavor))?)
            }
            View::Getfield { object, field } | View::Getsubstruct { object, field } => {
                Made::Value(self.load(object, std::slice::from_ref(field))?)
            }
            View::Setfield {
                object,
                field,
                value,
            }
            | View::BareSetfield {
                object,
                field,
                value,
            } => stored(self.store(object, std::slice::from_ref(field), value)?),
            View::Getarrayitem { array, index } | View::Getarraysubstruct { array, index } => {
                Made::Value(self.load(array, std::slice::from_ref(index))?)
            }
            View::Setarrayitem {
                array,
                index,
                value,
            }
            | View::BareSetarrayitem {
                array,
                index,
                value,
            } => stored(self.store(array, std::slice::from_ref(index), value)?),
            View::Getarraysize { array } => Made::Value(self.length(array, &[])?),
            View::Getinteriorfield { object, path } => Made::Value(self.load(object, path)?),
            View::Setinteriorfield {
                object,
                path,
                value,
            }
            | View::BareSetinteriorfield {
                object,
                path,
                value,
            } => stored(self.store(object, path, value)?),
            View::Getinteriorarraysize { object, path } => Made::Value(self.length(object, path)?),
            View::DirectFieldptr { object, field } => {
                Made::Value(self.field_pointer(object, field)?)
            }
            View::DirectArrayitems { array } => Made::Value(self.items_pointer(array)?),
            View::DirectPtradd { items, count } => Made::Value(self.pointer_add(items, count)?),
            View::RawLoad { address, offset } => {
                let distance = self.operand(offset);
                Made::Value(self.load_bytes(address, &distance, result)?)
            }
            View::RawStore {
                address,
                offset,
                value,
            } => {
                let distance = self.operand(offset);
                Made::Statement(self.store_bytes(address, &distance, value)?)
            }
            View::GcLoadIndexed {
                object,
                index,
                scale,
                offset,
            } => {
                let distance = self.distance(index, scale, offset);
                Made::Value(self.load_bytes(object, &distance, result)?)
            }
            View::GcStoreIndexed {
                object,
                index,
                value,
                scale,
                offset,
            } => {
                let distance = self.distance(index, scale, offset);
                Made::Statement(self.store_bytes(object, &distance, value)?)
            }
            taipan_lltype::note!()
            | View::JitAssertGreen { .. }
            | View::JitSetParam { .. }
            | View::JitForceQuasiImmutable { .. }
            | View::GcCollectMinor {}
            | View::GcWritebarrier { .. }
            | View::ZeroGcPointersInside { .. }
            | View::DebugStartTraceback { .. }
            | View::DebugRecordTraceback {}
            | View::DebugCatchException { .. }
            | View::DebugReraiseTraceback { .. }
            | View::DebugPrint { .. } => Made::Nothing,
            View::WeAreJitted {} | View::JitIsConstant { .. } | View::JitIsVirtual { .. } => {
                Made::Value(Expr::atom("False"))
            }
            View::JitTraceLength {} => Made::Value(Expr::new("-1", crate::expr::UNARY)),
            // Objects stay where they are, but new ones move as machine code.
            View::GcCanMove { .. } | View::GcWritebarrierBeforeCopy { .. } => {
                Made::Value(Expr::atom("True"))
            }
            View::LlGetTimestampUnit {} => Made::Value(Expr::atom(TIMESTAMP_UNIT.to_string())),
            View::RawMallocUsage { size } => Made::Passed(self.operand(size)),
            View::GcCollect { .. } => Made::Statement("collect()".to_owned()),
            // Nobody compiles anything here.
            View::JitEnter { .. } => Made::Value(Expr::atom("None")),
            View::GcCopyArray {
                source,
                dest,
                source_start,
                dest_start,
                length,
            } => {
                let (source, dest) = (self.items_of(source)?, self.items_of(dest)?);
                let [s, d, n] = [source_start, dest_start, length].map(|o| self.operand(o));
                Made::Statement(Expr::call("copy_items", &[&source, &dest, &s, &d, &n]).text)
            }
            View::ShrinkArray { array, length } => {
                let (items, n) = (self.items_of(array)?, self.operand(length));
                Made::Value(Expr::call("shrink", &[&items, &n]))
            }
            View::Free { object, .. } => self.support("raw_free", &[object]),
            View::RawFree { address } => self.support("raw_free", &[address]),
            View::RawMalloc { size, zero } => {
                let size = self.operand(size);
                let zero = match zero {
                    Some(zero) => self.operand(zero),
                    None => Expr::atom("False"),
                };
                Made::Value(Expr::call("raw_malloc", &[&size, &zero]))
            }
            View::RawMemclear { address, size } => {
                let (p, n) = (self.operand(address), self.operand(size));
                Made::Statement(Expr::call("memory_fill", &[&p, &Expr::atom("0"), &n]).text)
            }
            View::RawMemset {
                address,
                byte,
                size,
            } => self.support("memory_fill", &[address, byte, size]),
            View::RawMemcopy { source, dest, size } | View::RawMemmove { source, dest, size } => {
                self.support("memory_copy", &[source, dest, size])
            }
            View::WeakrefCreate { object } => self.support("WeakReference", &[object]),
            View::WeakrefDeref { weakref } => {
                let e = self.operand(weakref);
                Made::Value(
                    Expr::atom(format!("{}.get()", e.under(crate::expr::ATOM))).reading(true),
                )
            }
            View::GcIdentityhash { object } | View::GcId { object } => {
                self.support("identity", &[object])
            }
            View::GcFqRegister { queue, object } => {
                self.support("queue_register", &[queue, object])
            }
            View::GcFqNextDead { queue } => self.support("queue_next_dead", &[queue]),
            View::ThreadlocalrefGet { offset } => {
                let offset = self.operand(offset);
                let zero = Expr::atom(crate::types::zero(result));
                Made::Value(Expr::call("thread_locals.get", &[&offset, &zero]).reading(true))
            }
            View::ThreadlocalrefStore { offset, value } => {
                let (offset, value) = (self.operand(offset), self.operand(value));
                Made::Statement(format!("thread_locals[{}] = {}", offset.text, value.text))
            }
            View::LlReadTimestamp {} => Made::Value(Expr::atom("timestamp()")),
            View::DebugAssert { condition, .. } => self.support("debug_assert", &[condition]),
            View::DebugFatalerror { .. } => {
                Made::Statement("raise Fault('fatal RPython error')".to_owned())
            }
            View::GcEnterRootsFrame { .. }
            | View::GcLeaveRootsFrame { .. }
            | View::GcSaveRoot { .. }
            | View::GcRestoreRoot { .. }
            | View::StackCheck {}
            | View::ExcType {}
            | View::ExcValue {}
            | View::ExcOccurred {}
            | View::ExcSet { .. }
            | View::ExcClear {}
            | View::JitExit { .. }
            | View::JitCount { .. }
            | View::JitInvalidated { .. }
            | View::GcReserve { .. }
            | View::GcReserveSlowly { .. }
            | View::GcMallocReserved { .. } => {
                return Err(format!("{} is for machine code", view.op()));
            }
            View::GcRawrefcountInit { .. }
            | View::GcRawrefcountCreateLinkPypy { .. }
            | View::GcRawrefcountCreateLinkPyobj { .. }
            | View::GcRawrefcountMarkDeallocating { .. }
            | View::GcRawrefcountFromObj { .. }
            | View::GcRawrefcountToObj { .. }
            | View::GcRawrefcountNextDead {} => {
                let why = "rpython.rlib.rawrefcount needs Taipan's collector, and Python manages the memory";
                return Err(why.to_owned());
            }
        })
    }

    fn number(
        &self,
        family: NumFamily,
        op: NumOp,
        a: &Expr,
        b: &Expr,
        count: Option<i128>,
    ) -> Result<Expr, Bad> {
        number(family, op, a, b, count).ok_or_else(|| format!("{}_{}", family.name(), op.name()))
    }

    /// A function of the support library on operands.
    fn support(&mut self, name: &str, operands: &[&LLOperand]) -> Made {
        let args: Vec<Expr> = operands.iter().map(|o| self.operand(o)).collect();
        let args: Vec<&Expr> = args.iter().collect();
        Made::Value(Expr::call(name, &args))
    }

    fn call(&mut self, callee: &LLOperand, args: &[LLOperand]) -> Expr {
        let callee = match callee.as_function() {
            Some(f) => Expr::atom(self.refs.to(Ref::Func(f.clone()))),
            None => self.operand(callee),
        };
        let args: Vec<Expr> = (args.iter())
            .filter(|a| !self.ty(a).is_void())
            .cloned()
            .collect::<Vec<_>>()
            .iter()
            .map(|a| self.operand(a))
            .collect();
        let args: Vec<&Expr> = args.iter().collect();
        Expr::call(&callee.under(crate::expr::ATOM), &args)
    }

    fn nonzero(&mut self, value: &LLOperand) -> Expr {
        let ty = self.ty(value);
        let e = self.operand(value);
        match pointer(ty) {
            Some(Pointer::Raw) | None => Expr::compare(&e, "!=", &Expr::atom("0"), Some("==")),
            Some(_) => Expr::compare(&e, "is not", &Expr::atom("None"), Some("is")),
        }
    }

    fn same(&mut self, left: &LLOperand, right: &LLOperand) -> Expr {
        let is_null = |o: &LLOperand| matches!(o, LLOperand::Const(LLConst::Null(_)));
        match (is_null(left), is_null(right)) {
            (_, true) => return self.nonzero(left).not(),
            (true, _) => return self.nonzero(right).not(),
            _ => {}
        }
        let kind = pointer(self.ty(left));
        let (a, b) = (self.operand(left), self.operand(right));
        match kind {
            Some(Pointer::Object | Pointer::Function) => {
                Expr::compare(&a, "is", &b, Some("is not"))
            }
            Some(Pointer::Raw | Pointer::Opaque) | None => Expr::call("same", &[&a, &b]),
        }
    }

    fn compared(&mut self, left: &LLOperand, op: &str, right: &LLOperand) -> Made {
        let [a, b] = [left, right].map(|o| Expr::call("number_of", &[&self.operand(o)]));
        Made::Value(Expr::compare(&a, op, &b, None))
    }

    fn checked(&mut self, left: &LLOperand, op: &str, right: &LLOperand, level: u8) -> Made {
        let (a, b) = (self.operand(left), self.operand(right));
        Made::Value(Expr::call("ovfcheck", &[&Expr::binary(&a, op, &b, level)]))
    }

    /// `index * scale + offset`
    fn distance(&mut self, index: &LLOperand, scale: &LLOperand, offset: &LLOperand) -> Expr {
        let [index, scale, offset] = [index, scale, offset].map(|o| self.operand(o));
        let scaled = match scale.text == "1" {
            true => index,
            false => Expr::binary(&index, "*", &scale, MUL),
        };
        Expr::binary(&scaled, "+", &offset, ADD)
    }

    /// The items of an array, or of a struct that ends in one.
    fn items_of(&mut self, object: &LLOperand) -> Result<Expr, Bad> {
        let (_, ty) = self.pointee(object)?;
        let e = self.operand(object);
        Ok(match varsized(ty, self.program) {
            Some((attr, _)) => e.attribute(&attr),
            None => e,
        })
    }
}

fn stored(text: Option<String>) -> Made {
    text.map_or(Made::Nothing, Made::Statement)
}

fn type_of(o: &LLOperand) -> Result<LLType, Bad> {
    o.as_type()
        .ok_or_else(|| "malloc of what is no constant type".to_owned())
}

fn clears(flavor: &LLOperand) -> bool {
    matches!(
        flavor,
        LLOperand::Const(LLConst::Void(VoidConst::Flavor { zero: true, .. }))
    )
}
