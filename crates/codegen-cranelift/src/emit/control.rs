//! Blocks, links and switches.

use cranelift_codegen::ir::types::{I8, I32, I64};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Opcode, Value};
use cranelift_frontend::Switch;
use taipan_codegen::machine::{
    Bad, Exceptions, Instructions, Operands, lower_operations, machine_type,
};
use taipan_graph::{BlockId, ExitCase, ExitSwitch, Link, VarId};
use taipan_lltype::{LLConst, LLOperand, LowLevel, cold_blocks, const_word};

use super::Emitter;
use super::types::clif_type;

/// Cases that stand together from this many on are one jump table...
const LEAST_TABLE: usize = 8;
/// ... if at least one in so many of its entries is a case.
const SPARSEST_TABLE: u128 = 4;

/// Makes cases of numbers between cases that lead to where all others do: without gaps one
/// jump table does what else is a search for the right one first.
fn fill_holes(switch: &mut Switch, otherwise: Block) {
    let mut cases: Vec<u128> = switch.entries().keys().copied().collect();
    cases.sort_unstable();
    let mut from = 0;
    while from < cases.len() {
        let is_dense = |to: usize| {
            let count = (to - from + 1) as u128;
            cases[to] - cases[from] < count * SPARSEST_TABLE
        };
        let mut to = from;
        while to + 1 < cases.len() && is_dense(to + 1) {
            to += 1;
        }
        if to - from + 1 >= LEAST_TABLE {
            for pair in cases[from..=to].windows(2) {
                for hole in pair[0] + 1..pair[1] {
                    switch.set_entry(hole, otherwise);
                }
            }
        }
        from = to + 1;
    }
}

impl Emitter<'_, '_> {
    pub(super) fn blocks(&mut self) -> Result<(), Bad> {
        let graph = self.graph;
        let order = graph.reachable();
        let mut entries = vec![0u32; graph.blocks.len()];
        entries[graph.startblock.index()] = 1;
        for b in &order {
            for l in &graph.block(*b).exits {
                entries[l.target.index()] += 1;
            }
        }
        // The function's entry must not be jumped to. The arguments of a unit are in memory.
        let start_is_target = entries[graph.startblock.index()] > 1;
        let is_unit = self.addresses.is_some();
        let entry = (start_is_target || is_unit).then(|| self.b.create_block());
        for id in &order {
            let block = self.b.create_block();
            self.blocks[id.index()] = Some(block);
            if entries[id.index()] > 1 || (*id == graph.startblock) {
                for v in &graph.block(*id).inputargs {
                    if let Some(ty) = clif_type(*graph.ty(*v)) {
                        let value = self.b.append_block_param(block, ty);
                        self.define(*v, value)?;
                    }
                }
            }
        }
        if let Some(entry) = entry {
            let start = self.block_of(graph.startblock)?;
            self.b.append_block_params_for_function_params(entry);
            self.b.switch_to_block(entry);
            let mut args = self.b.block_params(entry).to_vec();
            if let (true, [cell]) = (is_unit, &args[..]) {
                args = self.unit_values(*cell)?;
            }
            self.jump_with(start, &args);
        }
        let cold = cold_blocks(graph);
        for id in &order {
            let block = self.block_of(*id)?;
            self.b.switch_to_block(block);
            self.in_cold_block = cold[id.index()];
            if self.in_cold_block {
                self.b.set_cold_block(block);
            }
            self.block_body(*id, &entries)?;
        }
        self.b.seal_all_blocks();
        Ok(())
    }

    fn block_of(&self, id: BlockId) -> Result<Block, Bad> {
        self.blocks[id.index()].ok_or_else(|| format!("{id:?} is not reachable"))
    }

    fn block_body(&mut self, id: BlockId, entries: &[u32]) -> Result<(), Bad> {
        let graph = self.graph;
        let block = graph.block(id);
        lower_operations(self, graph, id)?;
        if id == graph.returnblock {
            let v = self.maybe(&LLOperand::Var(block.inputargs[0]))?;
            self.b.ins().return_(v.as_slice());
            return Ok(());
        }
        if id == graph.exceptblock {
            return self.raise_block([block.inputargs[0], block.inputargs[1]]);
        }
        match (&block.exitswitch, &block.exits[..]) {
            (ExitSwitch::None, [link]) => self.follow(link, entries),
            (ExitSwitch::None, _) => Err(format!("{id:?} needs one exit")),
            (ExitSwitch::LastException, [ok, full]) if self.nursery_full.is_some() => {
                self.follow(ok, entries)?;
                if let Some(b) = self.nursery_full.take() {
                    self.b.switch_to_block(b);
                }
                self.follow(full, entries)
            }
            (ExitSwitch::LastException, [ok, raised]) if raised.last_exception.is_none() => {
                // An overflow check: the machine's flag decides.
                let overflow = self
                    .overflow
                    .take()
                    .ok_or("an overflow check without operation")?;
                self.branch_on(overflow, raised, ok, entries)
            }
            (ExitSwitch::LastException, _) => {
                Err("exception links must be transformed away before".into())
            }
            (ExitSwitch::Value(v), exits) => self.switch(v, exits, entries),
        }
    }

    /// The except block of a graph that still has one: the exception is set, and the function returns anything.
    fn raise_block(&mut self, exception: [VarId; 2]) -> Result<(), Bad> {
        let class = self.value(&LLOperand::Var(exception[0]))?;
        let value = self.value(&LLOperand::Var(exception[1]))?;
        self.set_exception(&class, &value);
        let result = machine_type(*self.graph.ty(self.graph.returnvar()));
        let dummy = result.map(|ty| self.zero(ty));
        self.b.ins().return_(dummy.as_slice());
        Ok(())
    }

    /// Jumps along a link.
    fn follow(&mut self, link: &Link<LowLevel>, entries: &[u32]) -> Result<(), Bad> {
        let args = self.link_args(link, entries)?;
        let target = self.block_of(link.target)?;
        self.b.ins().jump(target, &args);
        Ok(())
    }

    /// Arguments that the target block takes. One with a single entry takes none: its
    /// variables become names of the values.
    fn link_args(&mut self, link: &Link<LowLevel>, entries: &[u32]) -> Result<Vec<BlockArg>, Bad> {
        let graph = self.graph;
        let inputs = &graph.block(link.target).inputargs;
        if inputs.len() != link.args.len() {
            return Err(format!(
                "{} arguments for {:?}",
                link.args.len(),
                link.target
            ));
        }
        let mut args = Vec::new();
        for (arg, input) in link.args.iter().zip(inputs) {
            if graph.ty(*input).is_void() {
                continue;
            }
            let value = self.value(arg)?;
            if entries[link.target.index()] > 1 {
                args.push(BlockArg::Value(value));
            } else {
                self.define(*input, value)?;
            }
        }
        Ok(args)
    }

    fn switch(
        &mut self,
        on: &LLOperand,
        exits: &[Link<LowLevel>],
        entries: &[u32],
    ) -> Result<(), Bad> {
        if let [a, b] = exits
            && let (ExitCase::Bool(first), ExitCase::Bool(second)) = (&a.case, &b.case)
            && first != second
        {
            let (yes, no) = if *first { (a, b) } else { (b, a) };
            return self.branch(on, yes, no, entries);
        }
        let value = self.value(on)?;
        let mut switch = Switch::new();
        let mut default = None;
        let mut blocks = Vec::with_capacity(exits.len());
        for link in exits {
            let block = self.b.create_block();
            let case = match &link.case {
                ExitCase::Bool(b) => Some(u128::from(*b)),
                ExitCase::Value(c) => Some(self.case_value(c)?),
                ExitCase::Default => None,
                other => return Err(format!("a switch exit for {other:?}")),
            };
            match case {
                // Of exits for the same value the first one counts.
                Some(case) if switch.entries().contains_key(&case) => {}
                Some(case) => switch.set_entry(case, block),
                None => default = Some(block),
            }
            blocks.push(block);
        }
        let none = match default {
            Some(block) => block,
            None => self.cold_block("none"),
        };
        fill_holes(&mut switch, none);
        let value = self.narrowed(value, switch.entries().keys().copied().max());
        switch.emit(&mut self.b, value, none);
        if default.is_none() {
            self.b.switch_to_block(none);
            self.never_reached();
        }
        for (link, block) in exits.iter().zip(blocks) {
            self.b.switch_to_block(block);
            self.follow(link, entries)?;
        }
        Ok(())
    }

    /// A number of 32 bits for one that was made of fewer, such as a bytecode, if no case is
    /// higher: jump tables are indexed by such, so that others are tested first.
    fn narrowed(&mut self, value: Value, highest: Option<u128>) -> Value {
        let dfg = &self.b.func.dfg;
        let widened = dfg.value_def(value).inst().filter(|i| {
            dfg.insts[*i].opcode() == Opcode::Uextend
                && dfg.value_type(value) == I64
                && highest.is_none_or(|h| h <= u128::from(u8::MAX))
        });
        match widened.map(|i| dfg.inst_args(i)[0]) {
            Some(byte) if dfg.value_type(byte) == I8 => self.b.ins().uextend(I32, byte),
            _ => value,
        }
    }

    /// The bits of a case, as an unsigned number of the value's width.
    fn case_value(&self, c: &LLConst) -> Result<u128, Bad> {
        let word = const_word(c).ok_or_else(|| format!("a switch on {c}"))?;
        let bits = clif_type(c.ty()).map_or(128, |t| t.bits());
        Ok(match bits {
            128 => word as u128,
            n => word as u128 & ((1 << n) - 1),
        })
    }

    fn branch(
        &mut self,
        on: &LLOperand,
        yes: &Link<LowLevel>,
        no: &Link<LowLevel>,
        entries: &[u32],
    ) -> Result<(), Bad> {
        let value = self.value(on)?;
        self.branch_on(value, yes, no, entries)
    }

    fn branch_on(
        &mut self,
        value: Value,
        yes: &Link<LowLevel>,
        no: &Link<LowLevel>,
        entries: &[u32],
    ) -> Result<(), Bad> {
        let yes_args = self.link_args(yes, entries)?;
        let no_args = self.link_args(no, entries)?;
        let (yes, no) = (self.block_of(yes.target)?, self.block_of(no.target)?);
        self.b.ins().brif(value, yes, &yes_args, no, &no_args);
        Ok(())
    }
}
