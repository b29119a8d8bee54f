//! Which words of a new object need not be cleared.
//!
//! ```text
//! o = malloc(<type S>, <gc>)      header; only the words that are not
//! setfield(o, .x, a)          =>  set right away are stored as zero
//! setfield(o, .y, b)
//! ```

use taipan_codegen::machine::Operands;
use taipan_graph::{BlockId, ExitCase, ExitSwitch, VarId};
use taipan_lltype::{
    LLConst, LLOp, LLOperand, LLType, NamedOperands, PlainOp, View, VoidConst, field_of,
    is_conversion,
};

use super::Emitter;
use super::types::clif_type;

/// How many blocks are searched.
const MAX_BLOCKS: usize = 3;

impl Emitter<'_, '_> {
    /// Offsets of words of the object just allocated in `object` that are stored to
    /// before anything can look at them, in the same block or where it goes on.
    pub(super) fn words_stored_to(&mut self, object: VarId) -> Vec<u64> {
        let (mut block, index) = self.place;
        let graph = self.graph;
        let mut names = vec![object];
        let mut words = Vec::new();
        let mut from = index + 1;
        for _ in 0..MAX_BLOCKS {
            if !self.stores_to(block, from, &mut names, &mut words) {
                break;
            }
            // On to the only way; after an allocation, to that of its success.
            let exits = &graph.block(block).exits;
            let link = match (&graph.block(block).exitswitch, &exits[..]) {
                (ExitSwitch::None, [link]) => link,
                (ExitSwitch::LastException, [link, _]) if block == self.place.0 => link,
                (ExitSwitch::Value(LLOperand::Var(v)), [link, _])
                    if block == self.place.0
                        && link.case == ExitCase::Bool(false)
                        && self.is_test(*v, object) =>
                {
                    link
                }
                _ => break,
            };
            let inputs = &graph.block(link.target).inputargs;
            names = (link.args.iter().zip(inputs))
                .filter(|(a, _)| a.as_var().is_some_and(|v| names.contains(&v)))
                .map(|(_, input)| *input)
                .collect();
            (block, from) = (link.target, 0);
        }
        words
    }

    /// Whether a value says that an object of the block at hand is null.
    fn is_test(&self, value: VarId, object: VarId) -> bool {
        let operations = &self.graph.block(self.place.0).operations;
        operations.iter().any(|op| {
            op.result == value
                && matches!(op.view(), View::PtrIszero { value } if value.as_var() == Some(object))
        })
    }

    /// Collects stores into an object known by these names; whether the whole rest of
    /// the block leaves it alone otherwise.
    fn stores_to(
        &mut self,
        block: BlockId,
        from: usize,
        names: &mut Vec<VarId>,
        words: &mut Vec<u64>,
    ) -> bool {
        let graph = self.graph;
        for op in &graph.block(block).operations[from..] {
            let mentions = |o: &LLOperand| o.as_var().is_some_and(|v| names.contains(&v));
            match op.view() {
                View::Setfield {
                    object,
                    field: step,
                    value,
                }
                | View::BareSetfield {
                    object,
                    field: step,
                    value,
                }
                | View::Setarrayitem {
                    array: object,
                    index: step,
                    value,
                }
                | View::BareSetarrayitem {
                    array: object,
                    index: step,
                    value,
                } if mentions(object) => {
                    if mentions(value) {
                        return false;
                    }
                    words.extend(self.stored_word(object, step));
                }
                View::CastPointer { value } | View::CastOpaquePtr { value } if mentions(value) => {
                    names.push(op.result);
                }
                View::GcWritebarrier { object, .. }
                | View::JitForceQuasiImmutable { object, .. }
                    if mentions(object) => {}
                View::PtrIszero { .. } => {}
                _ if op.args.iter().any(mentions) => return false,
                _ => match op.op {
                    LLOp::Num(..) => {}
                    LLOp::Plain(p) if is_harmless(p) => {}
                    LLOp::Plain(_) => return false,
                },
            }
        }
        true
    }

    /// The offset that a store into a field or an item writes to, if it writes a whole
    /// word at a known place.
    fn stored_word(&mut self, object: &LLOperand, step: &LLOperand) -> Option<u64> {
        let container: LLType = self.ty(object).pointee()?;
        let (offset, ty) = match step.as_const()? {
            LLConst::Void(VoidConst::Field(name)) => {
                let (i, ty) = field_of(container, name, self.program)?;
                (self.layout(container).fields[i], ty)
            }
            LLConst::Int(_, i) => {
                let l = self.layout(container);
                let i = u64::try_from(i.get()).ok()?;
                (l.var.as_ref()?.items + 8 * i, container.as_array()?.of)
            }
            _ => return None,
        };
        let word = clif_type(ty).is_some_and(|t| t.bytes() == 8);
        word.then_some(offset)
    }
}

/// Whether the search for initialising stores may pass an operation: it neither collects nor calls nor raises.
fn is_harmless(p: PlainOp) -> bool {
    use PlainOp::*;
    is_conversion(p)
        || matches!(
            p,
            Getfield
                | Getarrayitem
                | Getinteriorfield
                | Getarraysize
                | Setfield
                | BareSetfield
                | Setarrayitem
                | BareSetarrayitem
                | GcWritebarrier
                | GcMallocReserved
                | JitNote
                | CastPointer
                | CastOpaquePtr
                | SameAs
                | GcEnterRootsFrame
                | GcSaveRoot
                | GcRestoreRoot
                | GcLeaveRootsFrame
                | PtrEq
                | PtrNe
                | PtrIszero
                | PtrNonzero
        )
}
