//! Blocks, links and switches.

use taipan_codegen::DispatchTable;
use taipan_codegen::machine::{
    Bad, Exceptions, Instructions, Operands, Ty, lower_operations, machine_type,
};
use taipan_graph::{BlockId, ExitCase, ExitSwitch, Link, VarId};
use taipan_lltype::{LLConst, LLOperand, LowLevel, cold_blocks, const_word};

use super::{Chunk, Emitter, Value, integer};
use crate::text::Metadata;
use crate::types::Signature;

impl Emitter<'_> {
    pub(super) fn graph_blocks(&mut self, signature: &Signature) -> Result<(), Bad> {
        let graph = self.graph;
        let order = graph.reachable();
        self.entries[graph.startblock.index()] = 1;
        for b in &order {
            for l in &graph.block(*b).exits {
                self.entries[l.target.index()] += 1;
            }
        }
        for id in &order {
            if self.entries[id.index()] > 1 {
                self.name_inputs(*id);
            }
        }
        self.cold = cold_blocks(graph);
        let arguments: Vec<Value> = (signature.params.iter().enumerate())
            .map(|(i, p)| Value::new(format!("%a{i}"), p.ty))
            .collect();
        let start = graph.startblock;
        if self.entries[start.index()] > 1 {
            self.phis[start.index()].push(("entry".to_owned(), arguments));
        } else {
            let inputs = graph.block(start).inputargs.iter();
            let passed = inputs.filter(|v| !graph.ty(**v).is_void());
            for (v, a) in passed.zip(&arguments) {
                self.bind(*v, a);
            }
        }
        self.at = self.first_place(start);
        // Apart from the slots, which are written in front of it.
        self.go(&label(start));
        for id in &order {
            self.in_cold_block = self.cold[id.index()];
            self.at = self.first_place(*id);
            self.start_label(&label(*id));
            if self.entries[id.index()] > 1 {
                let text = std::mem::take(&mut self.out);
                self.done.push(Chunk::Text(text));
                self.done.push(Chunk::Phis(*id));
            }
            for v in &graph.block(*id).inputargs {
                self.describe(*v);
            }
            self.block_body(*id)?;
        }
        Ok(())
    }

    /// Where a block's first operation is.
    fn first_place(&self, b: BlockId) -> u32 {
        let first = self.graph.block(b).operations.first();
        first.map_or(self.at, |op| op.at)
    }

    fn name_inputs(&mut self, id: BlockId) {
        let graph = self.graph;
        for (i, v) in graph.block(id).inputargs.iter().enumerate() {
            if let Some(ty) = machine_type(*graph.ty(*v)) {
                let name = format!("%b{}.{i}", id.index());
                self.values[v.index()] = Some(Value::new(name, ty));
            }
        }
    }

    fn block_body(&mut self, id: BlockId) -> Result<(), Bad> {
        let graph = self.graph;
        let block = graph.block(id);
        lower_operations(self, graph, id)?;
        if id == graph.returnblock {
            match self.maybe(&LLOperand::Var(block.inputargs[0]))? {
                Some(v) => self.run(&format!("ret {}", v.typed())),
                None => self.run("ret void"),
            }
            return Ok(());
        }
        if id == graph.exceptblock {
            return self.raise_block([block.inputargs[0], block.inputargs[1]]);
        }
        match (&block.exitswitch, &block.exits[..]) {
            (ExitSwitch::None, [link]) => self.follow(link),
            (ExitSwitch::None, _) => Err(format!("{id:?} needs one exit")),
            (ExitSwitch::LastException, [ok, full]) if self.nursery_full.is_some() => {
                self.follow(ok)?;
                if let Some(label) = self.nursery_full.take() {
                    self.start_label(&label);
                }
                self.follow(full)
            }
            (ExitSwitch::LastException, [ok, raised]) if raised.last_exception.is_none() => {
                // An overflow check: the machine's flag decides.
                let overflow = self
                    .overflow
                    .take()
                    .ok_or("an overflow check without operation")?;
                self.branch_on(&overflow, raised, ok, true)
            }
            (ExitSwitch::LastException, _) => {
                Err("exception links must be transformed away before".into())
            }
            (ExitSwitch::Value(v), exits) => {
                let entries = self.entries[id.index()] as usize;
                match DispatchTable::of(graph, id, entries) {
                    Some(table) => self.jump_by_table(id, &table),
                    None => self.switch(v, exits),
                }
            }
        }
    }

    /// The except block of a graph that still has one: the exception is set, and the function returns anything.
    fn raise_block(&mut self, exception: [VarId; 2]) -> Result<(), Bad> {
        let class = self.value(&LLOperand::Var(exception[0]))?;
        let value = self.value(&LLOperand::Var(exception[1]))?;
        self.set_exception(&class, &value);
        match machine_type(*self.graph.ty(self.graph.returnvar())) {
            Some(ty) => {
                let zero = self.zero(ty);
                self.run(&format!("ret {}", zero.typed()));
            }
            None => self.run("ret void"),
        }
        Ok(())
    }

    /// Jumps along a link.
    pub(super) fn follow(&mut self, link: &Link<LowLevel>) -> Result<(), Bad> {
        self.arrive(link)?;
        self.go(&label(link.target));
        Ok(())
    }

    /// Hands the arguments of a link to its target, from the block that is being written. A
    /// target with a single entry takes none: its variables become names of the values.
    fn arrive(&mut self, link: &Link<LowLevel>) -> Result<(), Bad> {
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
            let Some(ty) = machine_type(*graph.ty(*input)) else {
                continue;
            };
            let value = self.value(arg)?;
            let value = self.as_type(&value, ty);
            if self.entries[link.target.index()] > 1 {
                args.push(value);
            } else {
                self.bind(*input, &value);
            }
        }
        if self.entries[link.target.index()] > 1 {
            let from = self.label.clone();
            self.phis[link.target.index()].push((from, args));
        }
        Ok(())
    }

    fn switch(&mut self, on: &LLOperand, exits: &[Link<LowLevel>]) -> Result<(), Bad> {
        if let [a, b] = exits
            && let (ExitCase::Bool(first), ExitCase::Bool(second)) = (&a.case, &b.case)
            && first != second
        {
            let (yes, no) = if *first { (a, b) } else { (b, a) };
            let value = self.value(on)?;
            let bit = self.bit(&value);
            return self.branch_on(&bit, yes, no, false);
        }
        let value = self.value(on)?;
        let value = self.as_type(&value, Ty::I64);
        let mut cases: Vec<(i128, String)> = Vec::new();
        let mut default = None;
        let mut labels = Vec::with_capacity(exits.len());
        for link in exits {
            let label = self.new_label("case");
            let case = match &link.case {
                ExitCase::Bool(b) => Some(i128::from(*b)),
                ExitCase::Value(c) => Some(Self::case_value(c, value.ty)?),
                ExitCase::Default => None,
                other => return Err(format!("a switch exit for {other:?}")),
            };
            match case {
                // Of exits for the same value the first one counts.
                Some(case) if cases.iter().any(|(c, _)| *c == case) => {}
                Some(case) => cases.push((case, label.clone())),
                None => default = Some(label.clone()),
            }
            labels.push(label);
        }
        let none = match &default {
            Some(label) => label.clone(),
            None => self.new_label("none"),
        };
        let cases: Vec<String> = (cases.iter())
            .map(|(c, label)| format!("{} {c}, label %{label}", value.ty))
            .collect();
        let text = format!(
            "switch {}, label %{none} [ {} ]",
            value.typed(),
            cases.join(" ")
        );
        self.run(&text);
        if default.is_none() {
            self.start_label(&none);
            self.never_reached();
        }
        for (link, label) in exits.iter().zip(labels) {
            self.start_label(&label);
            self.follow(link)?;
        }
        Ok(())
    }

    /// A case as a signed number of the value's width.
    fn case_value(c: &LLConst, ty: Ty) -> Result<i128, Bad> {
        let word = const_word(c).ok_or_else(|| format!("a switch on {c}"))?;
        let v = integer(ty, word);
        v.constant().ok_or_else(|| format!("a switch on {c}"))
    }

    /// A branch; `rare` if the first way is rarely taken, whatever the blocks say.
    fn branch_on(
        &mut self,
        bit: &str,
        yes: &Link<LowLevel>,
        no: &Link<LowLevel>,
        rare: bool,
    ) -> Result<(), Bad> {
        let (a, b) = (yes.target, no.target);
        let rare = match (rare || self.cold[a.index()], self.cold[b.index()]) {
            (true, false) => Some(Metadata::FirstIsRare),
            (false, true) => Some(Metadata::SecondIsRare),
            _ => None,
        };
        if a == b {
            // A phi tells its ways by the blocks that they come from.
            let between = self.new_label("between");
            self.arrive(no)?;
            self.branch_if(bit, &between, &label(b), rare);
            self.start_label(&between);
            return self.follow(yes);
        }
        self.arrive(yes)?;
        self.arrive(no)?;
        self.branch_if(bit, &label(a), &label(b), rare);
        Ok(())
    }
}

fn label(id: BlockId) -> String {
    format!("b{}", id.index())
}
