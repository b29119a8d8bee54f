//! The verifier (RPython: `checkgraph`). It holds for every graph after every
//! stage:
//!
//! - ids are in range, and start, return and except block are three blocks;
//! - a variable is defined once: as an input argument, a result, or one of the two
//!   exception variables of a link;
//! - SSI form: a block uses only what it defines, a link what its block or itself
//!   defines; exception links do not use the result of the operation that raised;
//! - a link has one argument per input argument of its target, of the same type;
//! - exits agree with the exit switch: one plain exit without a switch; distinct
//!   cases, the default last, with a switch on a value; the normal exit first and
//!   one exception class per further exit where the last operation may raise;
//! - the return block has one input argument, the except block two, and neither has
//!   operations or exits; every other reachable block has an exit.

use std::fmt;

use rustc_hash::FxHashSet;

use crate::{BlockId, Dialect, ExitCase, ExitSwitch, Graph, Link, Operand, VarId};

/// What is wrong with a graph: one line per finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifierErrors(pub Vec<String>);

impl fmt::Display for VerifierErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for VerifierErrors {}

/// Checks all invariants of the model.
pub fn verify<D: Dialect>(graph: &Graph<D>) -> Result<(), VerifierErrors> {
    let mut v = Verifier {
        graph,
        errors: Vec::new(),
        defined: vec![false; graph.vars.len()],
    };
    v.run();
    if v.errors.is_empty() {
        Ok(())
    } else {
        Err(VerifierErrors(v.errors))
    }
}

/// Checks all invariants of the model, for tests.
///
/// # Panics
/// If there is something wrong: with the findings.
#[track_caller]
pub fn assert_valid<D: Dialect>(graph: &Graph<D>) {
    if let Err(e) = verify(graph) {
        panic!("graph {} is not valid:\n{e}\n{graph:#?}", graph.name);
    }
}

struct Verifier<'a, D: Dialect> {
    graph: &'a Graph<D>,
    errors: Vec<String>,
    defined: Vec<bool>,
}

impl<D: Dialect> Verifier<'_, D> {
    fn run(&mut self) {
        let g = self.graph;
        let special = [g.startblock, g.returnblock, g.exceptblock];
        if special.iter().any(|b| b.index() >= g.blocks.len()) {
            self.errors.push("no start, return or except block".into());
            return;
        }
        if special[0] == special[1] || special[1] == special[2] || special[0] == special[2] {
            self.errors
                .push("start, return and except block are not distinct".into());
        }
        for (i, block) in g.blocks.iter().enumerate() {
            for link in &block.exits {
                if link.target.index() >= g.blocks.len() {
                    self.error(BlockId(i as u32), format!("link to {:?}", link.target));
                    return;
                }
            }
        }
        self.final_block(g.returnblock, 1);
        self.final_block(g.exceptblock, 2);
        let mut blocks = g.reachable();
        for b in [g.returnblock, g.exceptblock] {
            if !blocks.contains(&b) {
                blocks.push(b);
            }
        }
        for b in blocks {
            self.block(b);
        }
    }

    fn error(&mut self, b: BlockId, message: String) {
        self.errors.push(format!("block{}: {message}", b.0));
    }

    fn final_block(&mut self, b: BlockId, args: usize) {
        let block = self.graph.block(b);
        if block.inputargs.len() != args {
            self.error(b, format!("final block needs {args} input arguments"));
        }
        if !block.operations.is_empty() || !block.exits.is_empty() {
            self.error(b, "final block with operations or exits".into());
        }
    }

    fn block(&mut self, b: BlockId) {
        let block = self.graph.block(b);
        let mut local = FxHashSet::default();
        for v in &block.inputargs {
            self.define(b, *v, &mut local);
        }
        for op in &block.operations {
            for a in &op.args {
                self.operand(b, a, &local);
            }
            self.define(b, op.result, &mut local);
        }
        if let ExitSwitch::Value(o) = &block.exitswitch {
            self.operand(b, o, &local);
        }
        self.exits(b);
        for link in &block.exits {
            self.link(b, link, &local);
        }
    }

    fn define(&mut self, b: BlockId, v: VarId, local: &mut FxHashSet<VarId>) {
        match self.defined.get_mut(v.index()) {
            None => self.error(b, format!("no variable v{}", v.0)),
            Some(true) => self.error(b, format!("v{} is defined twice", v.0)),
            Some(d) => *d = true,
        }
        local.insert(v);
    }

    fn operand(&mut self, b: BlockId, o: &Operand<D>, local: &FxHashSet<VarId>) {
        if let Operand::Var(v) = o
            && !local.contains(v)
        {
            self.error(b, format!("v{} is not defined in this block", v.0));
        }
    }

    fn exits(&mut self, b: BlockId) {
        let g = self.graph;
        let block = g.block(b);
        let exits = &block.exits;
        if exits.is_empty() {
            if b != g.returnblock && b != g.exceptblock {
                self.error(b, "no exits".into());
            }
            return;
        }
        match &block.exitswitch {
            ExitSwitch::None => {
                if exits.len() != 1 || exits[0].case != ExitCase::None {
                    self.error(b, "several exits or an exit case without a switch".into());
                }
            }
            ExitSwitch::Value(_) => {
                let mut cases = FxHashSet::default();
                for (i, link) in exits.iter().enumerate() {
                    if !cases.insert(&link.case) {
                        self.error(b, "two exits with the same case".into());
                    }
                    let good = match link.case {
                        ExitCase::Bool(_) | ExitCase::Value(_) => true,
                        ExitCase::Default => i + 1 == exits.len(),
                        ExitCase::None | ExitCase::Exception(_) => false,
                    };
                    if !good {
                        self.error(b, format!("exit {i} does not fit a switch on a value"));
                    }
                }
            }
            ExitSwitch::LastException => {
                if block.operations.is_empty() {
                    self.error(b, "no operation that may raise".into());
                }
                if exits.len() < 2 || exits[0].case != ExitCase::None {
                    self.error(b, "no normal exit or no exception exit".into());
                }
                for link in &exits[1..] {
                    if !matches!(link.case, ExitCase::Exception(_)) {
                        self.error(b, "exit without an exception class".into());
                    }
                }
            }
        }
    }

    fn link(&mut self, b: BlockId, link: &Link<D>, local: &FxHashSet<VarId>) {
        let block = self.graph.block(b);
        let mut seen = local.clone();
        let exceptional = matches!(link.case, ExitCase::Exception(_));
        if exceptional && let Some(op) = block.operations.last() {
            seen.remove(&op.result);
        }
        for v in [link.last_exception, link.last_exc_value]
            .into_iter()
            .flatten()
        {
            self.define(b, v, &mut seen);
            if !exceptional {
                self.error(b, "exception variables on a normal link".into());
            }
        }
        for a in &link.args {
            self.operand(b, a, &seen);
        }
        let target = self.graph.block(link.target);
        if link.args.len() != target.inputargs.len() {
            self.error(
                b,
                format!(
                    "{} arguments for {} input arguments of block{}",
                    link.args.len(),
                    target.inputargs.len(),
                    link.target.0
                ),
            );
            return;
        }
        for (i, (a, v)) in link.args.iter().zip(&target.inputargs).enumerate() {
            let (Some(have), Some(want)) = (self.ty(a), self.graph.vars.get(v.index())) else {
                continue;
            };
            if have != want.ty {
                let message = format!(
                    "argument {i} for block{} is a {have:?}, not a {:?}",
                    link.target.0, want.ty
                );
                self.error(b, message);
            }
        }
    }

    fn ty(&self, o: &Operand<D>) -> Option<D::Ty> {
        match o {
            Operand::Var(v) => self.graph.vars.get(v.index()).map(|d| d.ty.clone()),
            Operand::Const(c) => Some(D::const_ty(c)),
        }
    }
}
