//! Allocation, of GC objects and raw memory. What is stored right behind it clears nothing: the C compiler
//! drops stores that nobody sees.

use taipan_codegen::abi::LARGE_OBJECT;
use taipan_graph::Operation;
use taipan_lltype::{
    ConstantOperand, LLConst, LLOperand, LowLevel, PlainOp, STR, UNICODE, VoidConst,
    has_destructor, layout, round_up,
};

use super::Emitter;
use super::ops::{Value, raw_malloc};
use crate::types::Bad;

/// Objects of up to this size are allocated inline.
const MAX_INLINE: u64 = 128;

impl Emitter<'_> {
    /// `malloc` of an object of fixed size.
    pub(super) fn malloc(
        &mut self,
        ty: &LLOperand,
        flavor: &LLOperand,
        op: &Operation<LowLevel>,
    ) -> Result<String, Bad> {
        let ty = ty.as_type().ok_or("of what is no constant type")?;
        let (gc, zero) = flavor_of(flavor, ty.is_gc_container());
        let l = layout(ty, self.program);
        if !gc {
            return Ok(raw_malloc(&l.size.max(1).to_string(), zero));
        }
        let info = self.type_info(ty);
        let size = round_up(l.size, 8);
        let inline = size <= MAX_INLINE && !has_destructor(op) && self.inlines();
        Ok(match inline {
            true => format!("rpy_malloc({info}, {size})"),
            false => format!("rpy_gc_malloc_fixed({info})"),
        })
    }

    /// Whether allocation is worth code of its own here.
    fn inlines(&self) -> bool {
        !self.in_cold_block && self.program.collector().has_nursery()
    }

    /// `malloc_varsize` and its like. Items are cleared if they contain GC pointers or the flavour says
    /// so; the others are filled by who makes them.
    pub(super) fn malloc_items(
        &mut self,
        ty: &LLOperand,
        flavor: &LLOperand,
        length: &LLOperand,
        op: &Operation<LowLevel>,
    ) -> Result<Value, Bad> {
        let ty = ty.as_type().ok_or("of what is no constant type")?;
        let (gc, zero) = flavor_of(flavor, ty.is_gc_container());
        let l = layout(ty, self.program);
        let n = self.value(length)?;
        if !gc {
            let size = match &l.var {
                Some(var) => format!("{n} * {} + {}", var.item_size, var.items),
                None => l.size.max(1).to_string(),
            };
            let name = self.declare(op.result)?;
            self.statement(format!("{name} = {};", raw_malloc(&size, zero)));
            if let Some(at) = l.var.and_then(|v| v.length) {
                self.statement(format!("*(RawSigned *)((Address){name} + {at}) = {n};"));
            }
            return Ok(Value::Declared);
        }
        let var = (l.var.as_ref()).ok_or_else(|| format!("{ty} has no items"))?;
        let info = self.type_info(ty);
        if let (LLOperand::Const(LLConst::Int(_, count)), Some(at)) = (length, var.length)
            && let Some(size) = u64::try_from(count.get())
                .ok()
                .and_then(|n| l.size_of_varsized(n))
            && round_up(size, 8) <= MAX_INLINE
            && self.inlines()
        {
            let name = self.declare(op.result)?;
            let size = round_up(size, 8);
            self.statement(format!("{name} = rpy_malloc({info}, {size});"));
            self.statement(format!("*(RawSigned *)((Address){name} + {at}) = {n};"));
            return Ok(Value::Declared);
        }
        let is_string = ty == *STR || ty == *UNICODE;
        let filled = op.op == PlainOp::GcMallocFilled.into();
        let zero = zero || !is_string && !var.item_gc_pointers.is_empty() && !filled;
        let most = match is_string {
            true => LARGE_OBJECT / 2,
            false => MAX_INLINE,
        };
        let inline = (1..=most).contains(&var.item_size) && self.inlines();
        Ok(Value::Is(match var.length {
            Some(at) if inline => format!(
                "rpy_malloc_array({info}, {n}, {}, {}, {}, {at}, {})",
                most / var.item_size,
                var.items,
                var.item_size,
                u8::from(zero)
            ),
            _ => format!("rpy_gc_malloc_varsize({info}, {n}, {})", u8::from(zero)),
        }))
    }

    /// An object of fixed size that ends its block: the second exit is for when the nursery is full.
    pub(super) fn malloc_nursery(
        &mut self,
        ty: &LLOperand,
        op: &Operation<LowLevel>,
    ) -> Result<Value, Bad> {
        let ty = ty.as_type().ok_or("of what is no constant type")?;
        let size = round_up(layout(ty, self.program).size, 8);
        if size > MAX_INLINE {
            return Err(format!("{ty} is too big"));
        }
        let info = self.type_info(ty);
        let name = self.declare(op.result)?;
        self.statement(format!("{name} = (void *)rpy_state.nursery_free;"));
        self.nursery = Some((
            format!("(char *){name} + {size} > rpy_state.nursery_top"),
            vec![
                format!("rpy_state.nursery_free = (char *){name} + {size};"),
                format!("rpy_fill((char *){name}, {info}, {size});"),
            ],
        ));
        Ok(Value::Declared)
    }
}

/// Whether memory is the collector's, and whether it is cleared.
fn flavor_of(flavor: &LLOperand, gc_container: bool) -> (bool, bool) {
    match flavor {
        LLOperand::Const(LLConst::Void(VoidConst::Flavor { gc, zero })) => (*gc, *zero),
        _ => (gc_container, false),
    }
}
