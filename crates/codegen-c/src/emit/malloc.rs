//! Allocation, barriers and roots. Objects of the collector are null where there is no memory. Words of new objects that
//! are stored to right away are not cleared: the C compiler drops stores that are never read.

use taipan_codegen::machine::{Bad, Objects, Operands};
use taipan_codegen::{Allocation, RootsFrame, allocation, nursery_size};
use taipan_graph::{Operation, VarId};
use taipan_lltype::{LLOperand, LLType, LowLevel, layout};

use super::Emitter;

/// Bytes that the frame of a function that calls others has at least where addresses have 64 bits: where to
/// return to, and the caller's frame pointer.
const LINKAGE: i64 = 16;

impl Objects for Emitter<'_> {
    fn malloc(
        &mut self,
        ty: LLType,
        flavor: &LLOperand,
        length: Option<&LLOperand>,
        op: &Operation<LowLevel>,
    ) -> Result<String, Bad> {
        match length {
            Some(length) => self.malloc_items(ty, flavor, length, op),
            None => self.malloc_fixed(ty, flavor, op),
        }
    }

    fn malloc_nursery(&mut self, ty: LLType, object: VarId) -> Result<String, Bad> {
        let size = nursery_size(ty, &layout(ty, self.program))?;
        let info = self.type_info(ty);
        let name = self.declare(object)?;
        self.statement(format!("{name} = (void *)rpy_state.nursery_free;"));
        self.nursery = Some((
            format!("(char *){name} + {size} > rpy_state.nursery_top"),
            vec![
                format!("rpy_state.nursery_free = (char *){name} + {size};"),
                format!("rpy_fill((char *){name}, {info}, {size});"),
            ],
        ));
        Ok(name)
    }

    fn raw_malloc(&mut self, size: &String, zero: bool) -> Result<String, Bad> {
        Ok(raw_malloc(size, zero))
    }

    fn free(&mut self, address: &String, op: &Operation<LowLevel>) {
        if self.options.checked {
            let location = self.location(op.at);
            self.statement(format!(
                "rpy_checked_free({address}, {location}, __builtin_frame_address(0));"
            ));
        } else {
            self.statement(format!("free({address});"));
        }
    }

    fn write_barrier(&mut self, object: &String, index: Option<&String>) {
        self.statement(match index {
            Some(i) => format!("rpy_writebarrier_array({object}, {i});"),
            None => format!("rpy_writebarrier({object});"),
        });
    }

    fn identity_hash(&mut self, object: &String) -> String {
        format!("rpy_identityhash({object})")
    }

    fn weakref_target(&mut self, weakref: &String, to: LLType) -> Result<String, Bad> {
        self.raw(&format!("(Address){weakref} + 8"), to)
    }

    fn roots(&self) -> Option<RootsFrame> {
        self.roots
    }

    fn enter_roots(&mut self, frame: RootsFrame) {
        if self.roots.is_none() {
            self.declarations.push_str("    RPyRoot *roots;\n");
        }
        self.roots = Some(frame);
        let bytes = match self.types.slots {
            true => frame.slots() * 4 - LINKAGE / 2,
            false => frame.machine_bytes(LINKAGE),
        };
        self.statement("roots = rpy_state.root_stack_top;");
        // A frame of unknown size is large enough: see `frame`.
        if bytes > 0 && !self.program.machine().is_wasm() {
            self.statement(format!("RPY_FRAME({bytes});"));
        }
        let slots = frame.slots();
        self.statement(format!("rpy_state.root_stack_top = roots + {slots};"));
    }

    fn leave_roots(&mut self) -> Result<(), Bad> {
        self.statement("rpy_state.root_stack_top = roots;");
        Ok(())
    }

    fn save_root(&mut self, slot: i64, root: &LLOperand) -> Result<(), Bad> {
        let root = self.value(root)?;
        self.statement(format!("roots[{slot}].object = {root};"));
        Ok(())
    }

    fn restore_root(&mut self, slot: i64) -> Result<String, Bad> {
        Ok(format!("roots[{slot}].object"))
    }
}

impl Emitter<'_> {
    /// `malloc` of an object of fixed size.
    fn malloc_fixed(
        &mut self,
        ty: LLType,
        flavor: &LLOperand,
        op: &Operation<LowLevel>,
    ) -> Result<String, Bad> {
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
    fn malloc_items(
        &mut self,
        ty: LLType,
        flavor: &LLOperand,
        length: &LLOperand,
        op: &Operation<LowLevel>,
    ) -> Result<String, Bad> {
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
            return Ok(name);
        }
        let info = self.type_info(ty);
        let how = allocation(ty, &l, Some(length), op, zero, self.inlines())?;
        Ok(match (how, &l.var) {
            (Allocation::Bump { size, length_at }, _) => {
                let name = self.declare(op.result)?;
                self.statement(format!("{name} = rpy_malloc({info}, {size});"));
                if let Some(at) = length_at {
                    self.statement(format!(
                        "if (RPY_LIKELY({name} != NULL)) *(RawSigned *)((Address){name} + {at}) = {n};"
                    ));
                }
                return Ok(name);
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
        })
    }
}

fn raw_malloc(size: &str, zero: bool) -> String {
    match zero {
        true => format!("calloc(1, {size})"),
        false => format!("malloc({size})"),
    }
}
