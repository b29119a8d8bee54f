//! Building blocks of passes: substitution, copies, splitting
//! (RPython: `rpython/translator/unsimplify.py`).

use rustc_hash::FxHashMap;

use crate::{Block, BlockId, Dialect, ExitCase, ExitSwitch, Graph, Link, LinkId, Operand, VarId};

/// What stands in for variables.
pub type Substitution<D> = FxHashMap<VarId, Operand<D>>;

impl<D: Dialect> Block<D> {
    /// Replaces uses (not definitions) of variables.
    pub fn substitute(&mut self, map: &Substitution<D>) {
        if !map.is_empty() {
            self.substitute_by(|v| map.get(&v).cloned());
        }
    }

    /// The same, with what stands in for a variable answered by a function; none where
    /// the variable stays.
    pub fn substitute_by(&mut self, new: impl Fn(VarId) -> Option<Operand<D>>) {
        let replace = |o: &mut Operand<D>| {
            if let Operand::Var(v) = o
                && let Some(new) = new(*v)
            {
                *o = new;
                return true;
            }
            false
        };
        for op in &mut self.operations {
            let mut changed = false;
            for a in &mut op.args {
                changed |= replace(a);
            }
            if changed {
                D::normalize(op);
            }
        }
        if let ExitSwitch::Value(o) = &mut self.exitswitch {
            replace(o);
        }
        for link in &mut self.exits {
            for a in &mut link.args {
                replace(a);
            }
        }
    }

    /// Where the switch is on a constant: leaves the exit that it selects.
    pub fn fold_exitswitch(&mut self) -> bool {
        let ExitSwitch::Value(Operand::Const(c)) = &self.exitswitch else {
            return false;
        };
        let truth = D::as_bool(c);
        let selected = self.exits.iter().position(|link| match &link.case {
            ExitCase::Bool(b) => truth == Some(*b),
            ExitCase::Value(v) => v == c,
            _ => false,
        });
        let default = || self.exits.iter().position(|l| l.case == ExitCase::Default);
        let Some(i) = selected.or_else(default) else {
            return false;
        };
        let mut link = self.exits.swap_remove(i);
        link.case = ExitCase::None;
        self.exits = vec![link];
        self.exitswitch = ExitSwitch::None;
        true
    }
}

impl<D: Dialect> Graph<D> {
    /// The link.
    pub fn link(&self, id: LinkId) -> &Link<D> {
        &self.block(id.source).exits[id.exit]
    }

    /// The link, to be changed by the pass that owns the graph.
    pub fn link_mut(&mut self, id: LinkId) -> &mut Link<D> {
        &mut self.block_mut(id.source).exits[id.exit]
    }

    /// Calls this for every constant that reachable blocks mention, in order.
    pub fn for_each_const(&self, f: &mut dyn FnMut(&D::Const)) {
        for b in self.reachable() {
            let block = self.block(b);
            let operations = block.operations.iter().flat_map(|op| &op.args);
            let switch = match &block.exitswitch {
                ExitSwitch::Value(v) => Some(v),
                _ => None,
            };
            operations
                .chain(switch)
                .filter_map(Operand::as_const)
                .for_each(&mut *f);
            for link in &block.exits {
                if let ExitCase::Exception(c) | ExitCase::Value(c) = &link.case {
                    f(c);
                }
                link.args
                    .iter()
                    .filter_map(Operand::as_const)
                    .for_each(&mut *f);
            }
        }
    }

    /// Adds all blocks and variables of another graph and answers what must be added
    /// to its block and variable ids. They are not linked to anything yet.
    pub fn append(&mut self, other: &Graph<D>) -> (u32, u32) {
        let (blocks, vars) = (self.blocks.len() as u32, self.vars.len() as u32);
        self.vars.extend(other.vars.iter().cloned());
        for block in &other.blocks {
            let mut block = block.clone();
            map_vars(&mut block, |v| VarId(v.0 + vars));
            for link in &mut block.exits {
                link.target.0 += blocks;
            }
            self.blocks.push(block);
        }
        (blocks, vars)
    }

    /// Copies blocks, with fresh variables for what they define; links among them go
    /// to the copies, links out of them stay. Answers the copies, in order, and
    /// what became of the variables.
    pub fn copy_blocks(&mut self, blocks: &[BlockId]) -> (Vec<BlockId>, FxHashMap<VarId, VarId>) {
        let first = self.blocks.len() as u32;
        let copies: Vec<BlockId> = (0..blocks.len() as u32)
            .map(|i| BlockId(first + i))
            .collect();
        let targets: FxHashMap<BlockId, BlockId> =
            blocks.iter().copied().zip(copies.iter().copied()).collect();
        let mut renamed = FxHashMap::default();
        for b in blocks {
            let definitions: Vec<VarId> = self.block(*b).definitions().collect();
            for v in definitions {
                let copy = self.copy_var(v);
                renamed.insert(v, copy);
            }
        }
        for b in blocks {
            let mut block = self.block(*b).clone();
            map_vars(&mut block, |v| renamed.get(&v).copied().unwrap_or(v));
            for link in &mut block.exits {
                if let Some(t) = targets.get(&link.target) {
                    link.target = *t;
                }
            }
            self.blocks.push(block);
        }
        (copies, renamed)
    }

    /// Puts an empty block on a link and returns it. Its input arguments are what
    /// the link passed; constants go along the new link.
    pub fn insert_empty_block(&mut self, link: LinkId) -> BlockId {
        let (target, old_args) = {
            let l = self.link_mut(link);
            (l.target, std::mem::take(&mut l.args))
        };
        let mut passed = Vec::new();
        let mut inputargs: Vec<VarId> = Vec::new();
        let mut args = Vec::new();
        for a in old_args {
            let Operand::Var(v) = a else {
                args.push(a);
                continue;
            };
            let at = match passed.iter().position(|p| *p == Operand::Var(v)) {
                Some(at) => at,
                None => {
                    passed.push(a);
                    inputargs.push(self.copy_var(v));
                    passed.len() - 1
                }
            };
            args.push(inputargs[at].into());
        }
        let new = self.new_block(inputargs);
        self.block_mut(new).exits = vec![Link::new(target, args)];
        let l = self.link_mut(link);
        l.target = new;
        l.args = passed;
        new
    }

    /// Moves the operations from `index` on, and the exits, to a new block that the
    /// old one links to, and returns it. What the moved part needs of the
    /// rest is passed along.
    pub fn split_block(&mut self, b: BlockId, index: usize) -> BlockId {
        let block = self.block_mut(b);
        let tail = Block {
            inputargs: Vec::new(),
            operations: block.operations.split_off(index),
            exitswitch: std::mem::replace(&mut block.exitswitch, ExitSwitch::None),
            exits: std::mem::take(&mut block.exits),
        };
        let needed = tail.free_variables();
        let mut map = Substitution::<D>::default();
        let new = self.new_block(Vec::new());
        let mut inputargs = Vec::new();
        for v in &needed {
            let w = self.copy_var(*v);
            map.insert(*v, w.into());
            inputargs.push(w);
        }
        *self.block_mut(new) = tail;
        self.block_mut(new).substitute(&map);
        self.block_mut(new).inputargs = inputargs;
        let args = needed.into_iter().map(Operand::Var).collect();
        self.block_mut(b).exits = vec![Link::new(new, args)];
        new
    }
}

impl<D: Dialect> Graph<D> {
    /// Number of uses of each variable in all blocks: as an operand, a link argument, or an exit switch.
    pub fn count_uses(&self) -> FxHashMap<VarId, usize> {
        let mut uses = FxHashMap::default();
        for block in &self.blocks {
            let of_operations = block.operations.iter().flat_map(|op| &op.args);
            let of_links = block.exits.iter().flat_map(|l| &l.args);
            let of_switch = match &block.exitswitch {
                ExitSwitch::Value(v) => Some(v),
                _ => None,
            };
            for arg in of_operations.chain(of_links).chain(of_switch) {
                if let Operand::Var(v) = arg {
                    *uses.entry(*v).or_default() += 1;
                }
            }
        }
        uses
    }
}

impl<D: Dialect> Block<D> {
    /// Variables that the block defines: input arguments, results, exception variables
    /// of its links.
    pub fn definitions(&self) -> impl Iterator<Item = VarId> + '_ {
        let results = self.operations.iter().map(|op| op.result);
        let on_links = (self.exits.iter()).flat_map(|l| [l.last_exception, l.last_exc_value]);
        (self.inputargs.iter().copied())
            .chain(results)
            .chain(on_links.flatten())
    }

    /// Variables that the block uses without defining them, in order of first use:
    /// none in SSI form.
    pub fn free_variables(&self) -> Vec<VarId> {
        let mut seen: rustc_hash::FxHashSet<VarId> = self.definitions().collect();
        let mut free = Vec::new();
        let mut used = |o: &Operand<D>| {
            if let Operand::Var(v) = o
                && seen.insert(*v)
            {
                free.push(*v);
            }
        };
        for op in &self.operations {
            op.args.iter().for_each(&mut used);
        }
        if let ExitSwitch::Value(o) = &self.exitswitch {
            used(o);
        }
        for link in &self.exits {
            link.args.iter().for_each(&mut used);
        }
        free
    }
}

/// Renames definitions and uses alike.
fn map_vars<D: Dialect>(block: &mut Block<D>, f: impl Fn(VarId) -> VarId) {
    let operand = |o: &mut Operand<D>| {
        if let Operand::Var(v) = o {
            *v = f(*v);
        }
    };
    block.inputargs.iter_mut().for_each(|v| *v = f(*v));
    for op in &mut block.operations {
        op.args.iter_mut().for_each(operand);
        op.result = f(op.result);
    }
    if let ExitSwitch::Value(o) = &mut block.exitswitch {
        operand(o);
    }
    for link in &mut block.exits {
        link.args.iter_mut().for_each(operand);
        link.last_exception = link.last_exception.map(&f);
        link.last_exc_value = link.last_exc_value.map(&f);
    }
}
