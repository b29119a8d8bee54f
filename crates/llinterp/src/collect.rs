//! Collections: what frames keep alive, and calls of finalizers.

use rustc_hash::FxHashSet;
use taipan_graph::{BlockId, Dialect, ExitSwitch, Graph, Operand, VarId};
use taipan_lltype::{LLValue, Trigger, TypeKind};

use crate::interp::{LLInterpreter, Stop};

impl LLInterpreter<'_> {
    /// A full collection, while the topmost frame executes instruction `pc`. Then the
    /// program is called back about dead objects: finalizer queues first, then
    /// `__del__`, then PyObjects without references.
    pub(crate) fn collect(&mut self, pc: usize) -> Result<(), Stop> {
        if let Some(top) = self.frames.last_mut() {
            top.pc = pc;
        }
        let mut roots = self.roots.clone();
        roots.extend([self.exc.0, self.exc.1]);
        for frame in &self.frames {
            let graph = &frame.code.graph;
            let Some((block, i)) = frame.code.places.get(frame.pc) else {
                continue;
            };
            for v in used_after(graph, *block, *i as usize) {
                if matches!(graph.ty(v).kind(), TypeKind::Ptr(_) | TypeKind::Address) {
                    roots.push(self.regs[frame.base + frame.code.slot_of[v.index()] as usize]);
                }
            }
        }
        self.heap.collect(roots.into_iter())?;
        if self.finalizing {
            return Ok(());
        }
        self.finalizing = true;
        let done = self.call_back();
        self.finalizing = false;
        done
    }

    fn call_back(&mut self) -> Result<(), Stop> {
        for trigger in self.heap.queues() {
            self.call_finalizer(trigger, Vec::new())?;
        }
        loop {
            let due = self.heap.take_due();
            if due.is_empty() {
                break;
            }
            // They stay alive while those before them run.
            let depth = self.roots.len();
            self.roots.extend(&due);
            for obj in due {
                let ty = self.heap.type_of(obj)?;
                let Some(f) = self.heap.program().destructor(ty) else {
                    continue;
                };
                let trigger = self.heap.func_addr(&f);
                let me = LLValue::from_word(i128::from(obj), ty.ptr());
                self.call_finalizer(trigger, vec![me])?;
            }
            self.roots.truncate(depth);
        }
        match self.heap.take_link_trigger() {
            Some(trigger) => self.call_finalizer(trigger, Vec::new()),
            None => Ok(()),
        }
    }

    /// Calls a finalizer. What it raises is reported and forgotten.
    fn call_finalizer(&mut self, f: Trigger, args: Vec<LLValue>) -> Result<(), Stop> {
        let depth = self.frames.len();
        let (regs, roots) = (self.regs.len(), self.roots.len());
        let before = std::mem::take(&mut self.exc);
        let raised = match self.eval_callee(crate::interp::func_id(f), &args) {
            Ok(_) => self.exc.0,
            Err(Stop::Raise(etype, _)) => etype,
            Err(other) => return Err(other),
        };
        if raised != 0 {
            let name = self.class_name(raised)?;
            let text = format!("exception raised by a finalizer, ignored: {name}\n");
            self.host.complain(&text);
        }
        self.exc = before;
        self.frames.truncate(depth);
        self.regs.truncate(regs);
        self.roots.truncate(roots);
        Ok(())
    }
}

/// The variables of a block that are alive behind one of its operations, without its result: those that are
/// defined before it and used after it. In graphs in SSI form no others are. The registers of variables that are
/// defined later still hold values of an earlier round.
pub(crate) fn used_after<D: Dialect>(graph: &Graph<D>, block: BlockId, i: usize) -> Vec<VarId> {
    let block = graph.block(block);
    let later = block.operations.iter().skip(i).map(|op| op.result);
    let later: FxHashSet<VarId> = later.collect();
    let operations = block.operations.iter().skip(i + 1).flat_map(|op| &op.args);
    let links = block.exits.iter().flat_map(|l| &l.args);
    let switch = match &block.exitswitch {
        ExitSwitch::Value(v) => Some(v),
        _ => None,
    };
    let all = operations.chain(links).chain(switch);
    let variables = all.filter_map(Operand::as_var);
    variables.filter(|v| !later.contains(v)).collect()
}
