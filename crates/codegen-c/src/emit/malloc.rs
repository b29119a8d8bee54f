//! Allocation, of GC objects, which are null where there is no memory, and of raw memory. What is stored right behind it clears nothing: the C compiler
//! drops stores that nobody sees.

use taipan_codegen::{Allocation, allocation, nursery_size};
use taipan_graph::Operation;
use taipan_lltype::{ConstantOperand, LLOperand, LowLevel, layout};

use super::Emitter;
use super::ops::{Value, raw_malloc};
use crate::types::Bad;

impl Emitter<'_> {
    /// `malloc` of an object of fixed size.
    pub(super) fn malloc(
        &mut self,
        ty: &LLOperand,
        flavor: &LLOperand,
        op: &Operation<LowLevel>,
    ) -> Result<String, Bad> {
        let ty = ty.as_type().ok_or("of what is no constant type")?;
        let (gc, zero) = taipan_codegen::flavor(flavor, ty);
        let l = layout(ty, self.program);
        if !gc {
            return Ok(raw_malloc(&l.size.max(1).to_string(), zero));
        }
        let info = self.type_info(ty);
        Ok(match allocation(ty, &l, None, op, zero, self.inlines())? {
            Allocation::Bump { size, .. } => format!("rpy_malloc({info}, {size})"),
            _ => format!("rpy_gc_malloc_fixed({info})"),
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
        let (gc, zero) = taipan_codegen::flavor(flavor, ty);
        let l = layout(ty, self.program);
        let n = self.value(length)?;
        if !gc {
            let size = match &l.var {
                Some(var) => format!("{n} * {} + {}", var.item_size, var.empty_size),
                None => l.size.max(1).to_string(),
            };
            let name = self.declare(op.result)?;
            self.statement(format!("{name} = {};", raw_malloc(&size, zero)));
            if let Some(at) = l.var.and_then(|v| v.length) {
                self.statement(format!("*(RawSigned *)((Address){name} + {at}) = {n};"));
            }
            return Ok(Value::Declared);
        }
        let info = self.type_info(ty);
        let how = allocation(ty, &l, Some(length), op, zero, self.inlines())?;
        Ok(Value::Is(match (how, &l.var) {
            (Allocation::Bump { size, length_at }, _) => {
                let name = self.declare(op.result)?;
                self.statement(format!("{name} = rpy_malloc({info}, {size});"));
                if let Some(at) = length_at {
                    self.statement(format!(
                        "if (RPY_LIKELY({name} != NULL)) *(RawSigned *)((Address){name} + {at}) = {n};"
                    ));
                }
                return Ok(Value::Declared);
            }
            (
                Allocation::Items {
                    most,
                    length_at,
                    zero,
                },
                Some(var),
            ) => format!(
                "rpy_malloc_array({info}, {n}, {most}, {}, {}, {}, {length_at}, {})",
                var.items,
                var.empty_size,
                var.item_size,
                u8::from(zero)
            ),
            (Allocation::Varsize { zero } | Allocation::Items { zero, .. }, _) => {
                format!("rpy_gc_malloc_varsize({info}, {n}, {})", u8::from(zero))
            }
            (Allocation::Fixed, _) => format!("rpy_gc_malloc_fixed({info})"),
        }))
    }

    /// An object of fixed size that ends its block: the second exit is for when the nursery is full.
    pub(super) fn malloc_nursery(
        &mut self,
        ty: &LLOperand,
        op: &Operation<LowLevel>,
    ) -> Result<Value, Bad> {
        let ty = ty.as_type().ok_or("of what is no constant type")?;
        let size = nursery_size(ty, &layout(ty, self.program))?;
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
