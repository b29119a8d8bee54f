//! Which words of a new object need not be cleared.
//!
//! ```text
//! o = malloc(<type S>, <gc>)      header; only the words that are not
//! setfield(o, .x, a)          =>  set right away are stored as zero
//! setfield(o, .y, b)
//! ```

use taipan_graph::VarId;
use taipan_lltype::{
    GC, LLConst, LLOp, LLOperand, LLType, PlainOp, VoidConst, field_of, is_conversion,
};

use super::Emitter;
use super::types::clif_type;

impl Emitter<'_, '_> {
    /// Offsets of words of the object just allocated in `object` that are stored to in
    /// the same block before anything can look at them.
    pub(super) fn initialised_words(&mut self, object: VarId) -> Vec<u64> {
        let (block, index) = self.place;
        let graph = self.graph;
        let mut names = vec![object];
        let mut words = Vec::new();
        for op in &graph.block(block).operations[index + 1..] {
            let mentions = |o: &LLOperand| o.as_var().is_some_and(|v| names.contains(&v));
            let own = op.args.first().is_some_and(mentions);
            match op.op {
                LLOp::Plain(PlainOp::Setfield | PlainOp::BareSetfield) if own => {
                    if op.args.last().is_some_and(mentions) {
                        break;
                    }
                    words.extend(self.stored_word(&op.args));
                }
                LLOp::Plain(PlainOp::CastPointer) if own => names.push(op.result),
                LLOp::Plain(PlainOp::GcWritebarrier) if own => {}
                LLOp::Plain(p) if p.flags() & GC != 0 => break,
                _ if op.args.iter().any(mentions) => break,
                LLOp::Num(..) => {}
                // What may call or raise ends the search; what only reads or writes
                // other objects does not.
                LLOp::Plain(p) => {
                    let harmless = is_conversion(p)
                        || matches!(
                            p,
                            PlainOp::Getfield
                                | PlainOp::Getarrayitem
                                | PlainOp::Getinteriorfield
                                | PlainOp::Getarraysize
                                | PlainOp::CastPointer
                                | PlainOp::SameAs
                                | PlainOp::GcRestoreRoot
                                | PlainOp::PtrEq
                                | PlainOp::PtrNe
                                | PlainOp::PtrIszero
                                | PlainOp::PtrNonzero
                        );
                    if !harmless {
                        break;
                    }
                }
            }
        }
        words
    }

    /// The offset that a `setfield` writes to, if it writes a whole word.
    fn stored_word(&mut self, args: &[LLOperand]) -> Option<u64> {
        let [
            object,
            LLOperand::Const(LLConst::Void(VoidConst::Field(name))),
            _,
        ] = args
        else {
            return None;
        };
        let container: LLType = self.ty(object).pointee()?;
        let (i, ty) = field_of(container, name, self.program)?;
        let word = clif_type(ty).is_some_and(|t| t.bytes() == 8);
        word.then(|| self.layout(container).fields[i])
    }
}
