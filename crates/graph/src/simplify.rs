//! Simplifications that every dialect shares
//! (RPython: `rpython/translator/simplify.py`, `rpython/translator/backendopt/ssa.py`).
//!
//! They keep a graph in SSI form, except that [`remove_identical_vars_ssa`] leaves
//! SSA form, which [`ssa_to_ssi`] mends. None renumbers: see [`Graph::compact`].

use rustc_hash::FxHashMap;

use crate::{
    BlockId, Dialect, ExitSwitch, Graph, LinkId, Operand, Operation, Substitution, VarId, entry_map,
};

/// Cleans up after a pass: dead operations and variables, constant switches, empty
/// blocks and trivial links go.
pub fn cleanup<D: Dialect>(graph: &mut Graph<D>) {
    constfold_exitswitch(graph);
    eliminate_empty_blocks(graph);
    transform_dead_op_vars(graph);
    remove_identical_vars(graph);
    join_blocks(graph);
}

/// Redirects links around blocks that do nothing.
///
/// ```text
/// goto block1(v0)                     goto block2(v0, 5)
/// block1(v1): goto block2(v1, 5)
/// ```
pub fn eliminate_empty_blocks<D: Dialect>(graph: &mut Graph<D>) {
    for source in graph.reachable() {
        for exit in 0..graph.block(source).exits.len() {
            // A cycle of empty blocks is an endless loop that stays one.
            for _ in 0..graph.blocks.len() {
                let link = &graph.block(source).exits[exit];
                let target = graph.block(link.target);
                let ([next], [], ExitSwitch::None) = (
                    &target.exits[..],
                    &target.operations[..],
                    &target.exitswitch,
                ) else {
                    break;
                };
                if next.target == link.target || link.target == graph.startblock {
                    break;
                }
                let passed = |a: &Operand<D>| match a {
                    Operand::Var(v) => (target.inputargs.iter().position(|i| i == v))
                        .map_or(a, |i| &link.args[i])
                        .clone(),
                    Operand::Const(_) => a.clone(),
                };
                let args = next.args.iter().map(passed).collect();
                let target = next.target;
                let link = &mut graph.block_mut(source).exits[exit];
                link.args = args;
                link.target = target;
            }
        }
    }
}

/// Decides switches on constants.
pub fn constfold_exitswitch<D: Dialect>(graph: &mut Graph<D>) {
    for b in graph.reachable() {
        graph.block_mut(b).fold_exitswitch();
    }
}

/// Appends a block to its only predecessor where that has no other exit.
///
/// ```text
/// v1 = op1(v0)                        v1 = op1(v0)
/// goto block1(v1)                     v3 = op2(v1)
/// block1(v2): v3 = op2(v2)
/// ```
pub fn join_blocks<D: Dialect>(graph: &mut Graph<D>) {
    let mut entries = vec![0u32; graph.blocks.len()];
    let order = graph.reachable();
    for link in order.iter().flat_map(|b| &graph.block(*b).exits) {
        entries[link.target.index()] += 1;
    }
    entries[graph.startblock.index()] += 1;
    for b in order {
        // Blocks that were appended to another one have no exits left.
        while let ([link], ExitSwitch::None) =
            (&graph.block(b).exits[..], &graph.block(b).exitswitch)
        {
            let target = link.target;
            if entries[target.index()] != 1 || graph.block(target).exits.is_empty() || target == b {
                break;
            }
            let mut next = std::mem::take(graph.block_mut(target));
            let map = zip(&next.inputargs, &graph.block(b).exits[0].args);
            next.substitute(&map);
            let before = targets(&next.exits);
            next.fold_exitswitch();
            for t in before {
                entries[t.index()] -= 1;
            }
            for t in targets(&next.exits) {
                entries[t.index()] += 1;
            }
            let block = graph.block_mut(b);
            block.operations.append(&mut next.operations);
            block.exitswitch = next.exitswitch;
            block.exits = next.exits;
        }
    }
}

fn targets<D: Dialect>(exits: &[crate::Link<D>]) -> Vec<BlockId> {
    exits.iter().map(|l| l.target).collect()
}

/// Removes operations whose results nobody needs, and variables that are passed
/// along links and never used.
pub fn transform_dead_op_vars<D: Dialect>(graph: &mut Graph<D>) {
    transform_dead_op_vars_with(graph, |op| D::is_removable(op.op));
}

/// The same, with the caller's idea of what may be removed.
pub fn transform_dead_op_vars_with<D: Dialect>(
    graph: &mut Graph<D>,
    removable: impl Fn(&Operation<D>) -> bool,
) {
    let blocks = graph.reachable();
    let mut read = vec![false; graph.vars.len()];
    let mut pending = Vec::new();
    let mut sources = Sources::new(graph.vars.len());
    let can_remove = |block: &crate::Block<D>, i: usize| {
        removable(&block.operations[i]) && !(block.canraise() && i + 1 == block.operations.len())
    };
    for b in &blocks {
        let block = graph.block(*b);
        for (i, op) in block.operations.iter().enumerate() {
            if can_remove(block, i) {
                sources.add(op.result, op.args.iter().filter_map(Operand::as_var));
            } else {
                pending.extend(op.args.iter().filter_map(Operand::as_var));
            }
        }
        if let ExitSwitch::Value(Operand::Var(v)) = &block.exitswitch {
            pending.push(*v);
        }
        for link in &block.exits {
            for (a, v) in link.args.iter().zip(&graph.block(link.target).inputargs) {
                sources.add(*v, a.as_var());
            }
        }
        if block.exits.is_empty() || *b == graph.startblock {
            pending.extend(&block.inputargs);
        }
    }
    while let Some(v) = pending.pop() {
        if !std::mem::replace(&mut read[v.index()], true) {
            sources.of(v, &mut pending);
        }
    }
    for b in &blocks {
        let block = graph.block(*b);
        let keep: Vec<bool> = (block.operations.iter().enumerate())
            .map(|(i, op)| read[op.result.index()] || !can_remove(block, i))
            .collect();
        let mut keep = keep.into_iter();
        graph
            .block_mut(*b)
            .operations
            .retain(|_| keep.next().unwrap_or(true));
    }
    remove_inputargs(graph, |_, v| !read[v.index()]);
}

/// What variables are made from: needed if they are. Lists of all variables in one
/// arena, since most have one or two members.
struct Sources {
    /// Where a variable's list starts; [`Sources::END`] for an empty one.
    heads: Vec<u32>,
    /// Members, each with the place of the next one.
    members: Vec<(VarId, u32)>,
}

impl Sources {
    const END: u32 = u32::MAX;

    fn new(vars: usize) -> Self {
        Sources {
            heads: vec![Self::END; vars],
            members: Vec::with_capacity(vars),
        }
    }

    fn add(&mut self, v: VarId, sources: impl IntoIterator<Item = VarId>) {
        for s in sources {
            let head = &mut self.heads[v.index()];
            self.members.push((s, *head));
            *head = self.members.len() as u32 - 1;
        }
    }

    fn of(&self, v: VarId, out: &mut Vec<VarId>) {
        let mut at = self.heads[v.index()];
        while at != Self::END {
            let (s, next) = self.members[at as usize];
            out.push(s);
            at = next;
        }
    }
}

/// Removes input arguments (never those of start, return and except block) and what
/// links pass for them.
pub fn remove_inputargs<D: Dialect>(
    graph: &mut Graph<D>,
    mut remove: impl FnMut(BlockId, VarId) -> bool,
) {
    let fixed = [graph.startblock, graph.returnblock, graph.exceptblock];
    let blocks = graph.reachable();
    let mut doomed: FxHashMap<BlockId, Vec<bool>> = FxHashMap::default();
    for b in &blocks {
        if fixed.contains(b) {
            continue;
        }
        let flags: Vec<bool> = graph
            .block(*b)
            .inputargs
            .iter()
            .map(|v| remove(*b, *v))
            .collect();
        if flags.contains(&true) {
            doomed.insert(*b, flags);
        }
    }
    if doomed.is_empty() {
        return;
    }
    for b in &blocks {
        if let Some(flags) = doomed.get(b) {
            retain(&mut graph.block_mut(*b).inputargs, flags);
        }
        for link in &mut graph.block_mut(*b).exits {
            if let Some(flags) = doomed.get(&link.target) {
                retain(&mut link.args, flags);
            }
        }
    }
}

fn retain<T>(items: &mut Vec<T>, doomed: &[bool]) {
    let mut flags = doomed.iter();
    items.retain(|_| !flags.next().copied().unwrap_or(false));
}

/// Where all links pass the same value for an input argument, or the same values for
/// two of them, keeps one name for it. Leaves SSA form: blocks then use variables
/// of the blocks that dominate them.
pub fn remove_identical_vars_ssa<D: Dialect>(graph: &mut Graph<D>) {
    let fixed = [graph.startblock, graph.returnblock, graph.exceptblock];
    let entries = entry_map(graph);
    let order = graph.reachable();
    let mut values = Values::new(graph, &order);
    // What each link passes, as numbers of values.
    let mut passed: Vec<Vec<Vec<u32>>> = vec![Vec::new(); graph.blocks.len()];
    for b in &order {
        let exits = &graph.block(*b).exits;
        passed[b.index()] = (exits.iter())
            .map(|l| l.args.iter().map(|a| values.number(a)).collect())
            .collect();
    }
    let mut found = false;
    loop {
        let mut progress = false;
        for b in order.iter().filter(|b| !fixed.contains(b)) {
            let mut phis: FxHashMap<Vec<u32>, VarId> = FxHashMap::default();
            for (i, v) in graph.block(*b).inputargs.iter().enumerate() {
                if values.same[v.index()] != v.0 {
                    continue;
                }
                let mut unique = Some(None);
                let mut column = Vec::new();
                for l in &entries[b.index()] {
                    let a = values.resolve(passed[l.source.index()][l.exit][i]);
                    column.push(a);
                    if a != v.0 {
                        unique = match unique {
                            Some(None) => Some(Some(a)),
                            Some(Some(u)) if u == a => unique,
                            _ => None,
                        };
                    }
                }
                if let Some(Some(a)) = unique
                    && !values.is_on_link(a)
                {
                    values.same[v.index()] = a;
                    progress = true;
                } else if let Some(w) = phis.get(&column) {
                    values.same[v.index()] = w.0;
                    progress = true;
                } else {
                    phis.insert(column, *v);
                }
            }
        }
        if !progress {
            break;
        }
        found = true;
    }
    if !found {
        return;
    }
    let mut resolved: Substitution<D> = Substitution::default();
    for v in order.iter().flat_map(|b| &graph.block(*b).inputargs) {
        let value = values.resolve(v.0);
        if value != v.0 {
            resolved.insert(*v, values.operand(value));
        }
    }
    remove_inputargs(graph, |_, v| resolved.contains_key(&v));
    for b in order {
        graph.block_mut(b).substitute(&resolved);
    }
}

/// Operands by number: variables by their own, constants after them.
struct Values<D: Dialect> {
    /// What stands for a value: itself, or another one.
    same: Vec<u32>,
    vars: u32,
    constants: Vec<D::Const>,
    numbers: FxHashMap<D::Const, u32>,
    on_links: Vec<bool>,
}

impl<D: Dialect> Values<D> {
    fn new(graph: &Graph<D>, order: &[BlockId]) -> Self {
        let mut on_links = vec![false; graph.vars.len()];
        for link in order.iter().flat_map(|b| &graph.block(*b).exits) {
            for v in link.last_exception.iter().chain(&link.last_exc_value) {
                on_links[v.index()] = true;
            }
        }
        let vars = graph.vars.len() as u32;
        Values {
            same: (0..vars).collect(),
            vars,
            constants: Vec::new(),
            numbers: FxHashMap::default(),
            on_links,
        }
    }

    fn number(&mut self, o: &Operand<D>) -> u32 {
        match o {
            Operand::Var(v) => v.0,
            Operand::Const(c) => match self.numbers.get(c) {
                Some(n) => *n,
                None => {
                    let n = self.same.len() as u32;
                    self.same.push(n);
                    self.constants.push(c.clone());
                    self.numbers.insert(c.clone(), n);
                    n
                }
            },
        }
    }

    fn resolve(&mut self, value: u32) -> u32 {
        let mut top = value;
        while self.same[top as usize] != top {
            top = self.same[top as usize];
        }
        // The next question is answered at once.
        let mut at = value;
        while at != top {
            at = std::mem::replace(&mut self.same[at as usize], top);
        }
        top
    }

    fn is_on_link(&self, value: u32) -> bool {
        self.on_links.get(value as usize).is_some_and(|b| *b)
    }

    fn operand(&self, value: u32) -> Operand<D> {
        match value.checked_sub(self.vars) {
            None => Operand::Var(VarId(value)),
            Some(i) => Operand::Const(self.constants[i as usize].clone()),
        }
    }
}

/// The same in SSI form: what a block needs is passed to it, once.
pub fn remove_identical_vars<D: Dialect>(graph: &mut Graph<D>) {
    remove_identical_vars_ssa(graph);
    ssa_to_ssi(graph);
}

/// Makes SSI form of SSA form: variables of dominating blocks are passed along the
/// links. A variable that is not defined on some way to its use is left as it is,
/// for the verifier to find.
pub fn ssa_to_ssi<D: Dialect>(graph: &mut Graph<D>) {
    let order = graph.reachable();
    let mut defined_in: Vec<Option<BlockId>> = vec![None; graph.vars.len()];
    for b in &order {
        for v in graph.block(*b).definitions() {
            defined_in[v.index()] = Some(*b);
        }
    }
    let mut pending: Vec<(BlockId, VarId)> = Vec::new();
    for b in order.iter().rev() {
        let from = pending.len();
        let mut used = |o: &Operand<D>| {
            if let Operand::Var(v) = o
                && defined_in[v.index()] != Some(*b)
            {
                pending.push((*b, *v));
            }
        };
        let block = graph.block(*b);
        block
            .operations
            .iter()
            .flat_map(|op| &op.args)
            .for_each(&mut used);
        if let ExitSwitch::Value(o) = &block.exitswitch {
            used(o);
        }
        block.exits.iter().flat_map(|l| &l.args).for_each(&mut used);
        // The first use is taken first.
        pending[from..].reverse();
    }
    if pending.is_empty() {
        return;
    }
    let entries = entry_map(graph);
    let mut renamed: Vec<Substitution<D>> = vec![Substitution::default(); graph.blocks.len()];
    while let Some((b, v)) = pending.pop() {
        let known = |b: BlockId| defined_in[v.index()] == Some(b);
        if b == graph.startblock || known(b) || renamed[b.index()].contains_key(&v) {
            continue;
        }
        for LinkId { source, .. } in &entries[b.index()] {
            if !known(*source) {
                pending.push((*source, v));
            }
        }
        let w = graph.copy_var(v);
        renamed[b.index()].insert(v, w.into());
        graph.block_mut(b).inputargs.push(w);
        for link in &entries[b.index()] {
            graph.link_mut(*link).args.push(v.into());
        }
    }
    for (b, map) in renamed.iter().enumerate() {
        graph.block_mut(BlockId(b as u32)).substitute(map);
    }
}

fn zip<D: Dialect>(vars: &[VarId], args: &[Operand<D>]) -> Substitution<D> {
    vars.iter().copied().zip(args.iter().cloned()).collect()
}
