//! Blocks, links and switches.

use std::rc::Rc;

use indexmap::IndexSet;
use taipan_codegen::DispatchTable;
use taipan_codegen::machine::{Operands, lower_operations};
use taipan_graph::{BlockId, ExitCase, ExitSwitch, Link};
use taipan_lltype::{
    FLOAT, FuncType, LLConst, LLOperand, LLType, LowLevel, cold_blocks, const_word,
};

use super::plain;
use super::wide::is_wide;
use super::{AT, Emitter};
use crate::types::Bad;

/// Where fewer than one variable in so many is a float, vectors are no use.
const FEW: usize = 50;

impl Emitter<'_> {
    /// The whole function, which is the body afterwards.
    pub(super) fn function(&mut self, ty: &FuncType) -> Result<(), Bad> {
        let graph = self.graph;
        let cold = cold_blocks(graph);
        let all = graph.reachable();
        let mut entries = vec![0u32; graph.blocks.len()];
        entries[graph.startblock.index()] = 1;
        for b in &all {
            for l in &graph.block(*b).exits {
                entries[l.target.index()] += 1;
            }
        }
        let mut parameters = Vec::new();
        for v in graph.args().iter().filter(|v| !graph.ty(**v).is_void()) {
            parameters.push(self.declare(*v)?);
        }
        // Parameters declare themselves.
        self.declarations.clear();
        let name = self.name.clone();
        let prototype = self.types.prototype(ty, &name, Some(&parameters))?;
        for id in &all {
            if entries[id.index()] > 1 && *id != graph.startblock {
                for v in &graph.block(*id).inputargs {
                    if !graph.ty(*v).is_void() {
                        self.declare(*v)?;
                    }
                }
            }
        }
        for id in &all {
            if let Some(table) = DispatchTable::of(graph, *id, entries[id.index()] as usize) {
                self.dispatches.insert(*id, Rc::new(table));
            }
        }
        // Values are named before they are used: a block comes behind those that lead to it. What is
        // rare is moved behind all others afterwards.
        for (i, id) in all.iter().enumerate() {
            self.in_cold_block = cold[id.index()];
            self.at = None;
            let next = all
                .get(i + 1)
                .filter(|n| cold[n.index()] == cold[id.index()]);
            self.block_body(*id, &entries, next.copied())?;
            let text = std::mem::take(&mut self.body);
            self.blocks.push((*id, text));
        }
        let blocks = std::mem::take(&mut self.blocks);
        let (rare, usual): (Vec<_>, Vec<_>) =
            blocks.into_iter().partition(|(id, _)| cold[id.index()]);
        let attribute = match self.roots {
            Some(_) if self.has_few_floats() => "RPY_SCALAR ",
            _ => "",
        };
        let mut out = format!(
            "{attribute}{prototype}\n{{\n{}{}",
            self.declarations,
            self.frame()
        );
        for (id, text) in usual.iter().chain(&rare) {
            if self.targets.contains(id) {
                out.push_str(&format!("block{}:;\n", id.0));
            }
            out.push_str(text);
        }
        out.push_str("}\n");
        self.body = plain::renamed(&out, &self.declared);
        Ok(())
    }

    /// Whether arithmetic on floats, for which vectors pay, is next to nothing here.
    fn has_few_floats(&self) -> bool {
        let vars = &self.graph.vars;
        let floats = vars.iter().filter(|v| v.ty == *FLOAT).count();
        floats * FEW <= vars.len()
    }

    fn block_body(
        &mut self,
        id: BlockId,
        entries: &[u32],
        next: Option<BlockId>,
    ) -> Result<(), Bad> {
        let graph = self.graph;
        let block = graph.block(id);
        lower_operations(self, graph, id)?;
        if id == graph.returnblock && block.operations.is_empty() {
            // Links to it return by themselves.
            return Ok(());
        }
        if id == graph.returnblock {
            let v = self.maybe(&LLOperand::Var(block.inputargs[0]))?;
            self.return_value(v);
            return Ok(());
        }
        if id == graph.exceptblock {
            let etype = self.value(&LLOperand::Var(block.inputargs[0]))?;
            let evalue = self.value(&LLOperand::Var(block.inputargs[1]))?;
            self.statement(format!("rpy_exc_set({etype}, {evalue});"));
            let ty = *graph.ty(graph.returnvar());
            let zero = match ty.is_void() {
                true => None,
                false if is_wide(ty) => Some("RPY_INT128(0, 0)".to_owned()),
                false => Some("0".to_owned()),
            };
            self.return_value(zero);
            return Ok(());
        }
        match (&block.exitswitch, &block.exits[..]) {
            (ExitSwitch::None, [link]) => self.follow(link, entries, next),
            (ExitSwitch::None, _) => Err(format!("{id:?} needs one exit")),
            (ExitSwitch::LastException, [ok, full]) if self.nursery.is_some() => {
                let (condition, fill) = self.nursery.take().unwrap_or_default();
                self.branch(&format!("RPY_UNLIKELY({condition})"), full, entries)?;
                fill.iter().for_each(|line| self.statement(line));
                self.follow(ok, entries, next)
            }
            (ExitSwitch::LastException, [ok, raised]) if raised.last_exception.is_none() => {
                let overflow = self
                    .overflow
                    .take()
                    .ok_or("an overflow check without operation")?;
                self.branch(&format!("RPY_UNLIKELY({overflow})"), raised, entries)?;
                self.follow(ok, entries, next)
            }
            (ExitSwitch::LastException, _) => {
                Err("exception links must be transformed away before".into())
            }
            (ExitSwitch::Value(v), exits) => match self.dispatches.get(&id).cloned() {
                Some(table) => self.table(id, &table, exits, entries),
                None => self.switch(v, exits, entries, next),
            },
        }
    }

    fn return_value(&mut self, v: Option<String>) {
        match v {
            Some(v) => self.statement(format!("return {v};")),
            None => self.statement("return;"),
        }
    }

    /// Goes along a link if a condition holds.
    fn branch(
        &mut self,
        condition: &str,
        link: &Link<LowLevel>,
        entries: &[u32],
    ) -> Result<(), Bad> {
        let lines = self.link(link, entries, None)?;
        match &lines[..] {
            [one] => self.statement(format!("if ({condition}) {one}")),
            _ => {
                self.statement(format!("if ({condition}) {{"));
                lines
                    .iter()
                    .for_each(|l| self.statement(format!("    {l}")));
                self.statement("}");
            }
        }
        Ok(())
    }

    /// Goes along a link.
    fn follow(
        &mut self,
        link: &Link<LowLevel>,
        entries: &[u32],
        next: Option<BlockId>,
    ) -> Result<(), Bad> {
        let lines = self.link(link, entries, next)?;
        lines.iter().for_each(|l| self.statement(l));
        Ok(())
    }

    /// The statements that go along a link. A block with a single entry takes no arguments: its
    /// variables become names of the values.
    pub(super) fn link(
        &mut self,
        link: &Link<LowLevel>,
        entries: &[u32],
        next: Option<BlockId>,
    ) -> Result<Vec<String>, Bad> {
        let graph = self.graph;
        let target = graph.block(link.target);
        if target.inputargs.len() != link.args.len() {
            return Err(format!(
                "{} arguments for {:?}",
                link.args.len(),
                link.target
            ));
        }
        if link.target == graph.returnblock && target.operations.is_empty() {
            let v = self.maybe(&link.args[0])?;
            return Ok(vec![match v {
                Some(v) => format!("return {v};"),
                None => "return;".to_owned(),
            }]);
        }
        let several = entries[link.target.index()] > 1;
        let mut copies = Vec::new();
        for (arg, input) in link.args.iter().zip(&target.inputargs) {
            let ty = *graph.ty(*input);
            if ty.is_void() {
                continue;
            }
            let value = self.value(arg)?;
            match several {
                true => {
                    let to = self.value(&LLOperand::Var(*input))?;
                    copies.push(Copy { to, value, ty });
                }
                false => self.values[input.index()] = Some(value),
            }
        }
        let mut lines = self.in_parallel(copies)?;
        if let Some(table) = self.dispatches.get(&link.target).cloned() {
            lines.extend(self.jump_by_table(link.target, &table)?);
            return Ok(lines);
        }
        if next != Some(link.target) {
            self.targets.insert(link.target);
            lines.push(format!("goto block{};", link.target.0));
        }
        Ok(lines)
    }

    /// Assignments that all take place at once, one after the other.
    fn in_parallel(&mut self, mut copies: Vec<Copy>) -> Result<Vec<String>, Bad> {
        copies.retain(|c| c.to != c.value);
        let mut lines = Vec::new();
        while !copies.is_empty() {
            let read: IndexSet<&str> = copies.iter().map(|c| &*c.value).collect();
            // One whose target is no longer read.
            let free = copies.iter().position(|c| !read.contains(&*c.to));
            if let Some(i) = free {
                let c = copies.remove(i);
                lines.push(format!("{} = {};", c.to, c.value));
                continue;
            }
            let (to, ty) = (copies[0].to.clone(), copies[0].ty);
            let ty = self.types.value(ty)?;
            let kept = self.temporary(&ty);
            lines.push(format!("{kept} = {to};"));
            for c in copies.iter_mut().filter(|c| c.value == to) {
                c.value.clone_from(&kept);
            }
        }
        Ok(lines)
    }

    fn switch(
        &mut self,
        on: &LLOperand,
        exits: &[Link<LowLevel>],
        entries: &[u32],
        next: Option<BlockId>,
    ) -> Result<(), Bad> {
        let value = self.value(on)?;
        if let [a, b] = exits
            && let (ExitCase::Bool(first), ExitCase::Bool(second)) = (&a.case, &b.case)
            && first != second
        {
            // The one that the next block belongs to comes last.
            let (now, then) = match next == Some(a.target) {
                true => (b, a),
                false => (a, b),
            };
            let condition = match now.case == ExitCase::Bool(true) {
                true => value,
                false => format!("!{value}"),
            };
            self.branch(&condition, now, entries)?;
            return self.follow(then, entries, next);
        }
        let ty = self.ty(on);
        if is_wide(ty) {
            return self.search(&value, exits, entries);
        }
        let mut cases = IndexSet::new();
        self.statement(format!("switch ({value}) {{"));
        let mut has_default = false;
        for link in exits {
            let label = match &link.case {
                ExitCase::Bool(b) => case_label(&LLConst::Bool(*b))?,
                ExitCase::Value(c) => case_label(c)?,
                ExitCase::Default => {
                    has_default = true;
                    "default".to_owned()
                }
                other => return Err(format!("a switch exit for {other:?}")),
            };
            let lines = self.link(link, entries, None)?;
            // Of exits for the same value the first one counts.
            if !cases.insert(label.clone()) {
                continue;
            }
            match &lines[..] {
                [one] => self.statement(format!("{label}: {one}")),
                _ => {
                    self.statement(format!("{label}:"));
                    lines
                        .iter()
                        .for_each(|l| self.statement(format!("    {l}")));
                }
            }
        }
        if !has_default {
            self.statement("default: RPY_NEVER();");
        }
        self.statement("}");
        Ok(())
    }

    /// A switch on what C has no switches on.
    fn search(
        &mut self,
        value: &str,
        exits: &[Link<LowLevel>],
        entries: &[u32],
    ) -> Result<(), Bad> {
        let mut otherwise = None;
        for link in exits {
            match &link.case {
                ExitCase::Value(c) => {
                    let c = self.constant(c)?;
                    let is_same = match self.types.pairs {
                        true => format!("rpy_wide_eq({value}, {c})"),
                        false => format!("{value} == {c}"),
                    };
                    self.branch(&is_same, link, entries)?;
                }
                ExitCase::Default => otherwise = Some(link),
                other => return Err(format!("a switch exit for {other:?}")),
            }
        }
        match otherwise {
            Some(link) => self.follow(link, entries, None),
            None => {
                self.statement("RPY_NEVER();");
                Ok(())
            }
        }
    }

    /// Says where the code comes from that follows.
    pub(super) fn mark(&mut self, at: u32) {
        if self.at != Some(at) {
            self.at = Some(at);
            self.body.push_str(&format!("{AT}{at}\n"));
        }
    }

    /// A new variable for the value of an operation.
    pub(super) fn typed_temporary(&mut self, ty: LLType) -> Result<String, Bad> {
        let ty = self.types.value(ty)?;
        Ok(self.temporary(&ty))
    }
}

/// An assignment.
struct Copy {
    to: String,
    value: String,
    ty: LLType,
}

fn case_label(c: &LLConst) -> Result<String, Bad> {
    const_word(c).ok_or_else(|| format!("a switch on {c}"))?;
    let number = super::number_text(c).ok_or_else(|| format!("a switch on {c}"))?;
    Ok(format!("case {number}"))
}
