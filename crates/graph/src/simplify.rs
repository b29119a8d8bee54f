//! Simplifications that every dialect shares
//! (RPython: `rpython/translator/simplify.py`, `rpython/translator/backendopt/ssa.py`).
//!
//! They keep a graph in SSI form, except that [`remove_identical_vars_ssa`] leaves
//! SSA form, which [`ssa_to_ssi`] mends. None renumbers: see [`Graph::compact`].

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::{
    BlockId, Dialect, ExitSwitch, Graph, LinkId, Operand, Operation, Substitution, VarId,
    cfg::entry_map_of,
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
                // Of the two places the one where values are given that come together, or where
                // an exception is raised.
                let only_passes = next.target != graph.exceptblock
                    && next.args.iter().all(|a| a.as_var().is_some());
                let at = match (link.at, next.at) {
                    (Some(at), _) if only_passes => Some(at),
                    (before, at) => at.or(before),
                };
                let target = next.target;
                let link = &mut graph.block_mut(source).exits[exit];
                link.args = args;
                link.target = target;
                link.at = at;
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

/// The same for a graph in SSA form: other blocks may use the input arguments of a block that
/// is appended.
pub fn join_blocks_ssa<D: Dialect>(graph: &mut Graph<D>) {
    let mut entries = vec![0u32; graph.blocks.len()];
    let order = graph.reachable();
    for link in order.iter().flat_map(|b| &graph.block(*b).exits) {
        entries[link.target.index()] += 1;
    }
    entries[graph.startblock.index()] += 1;
    // What stands for the input arguments that are gone.
    let mut passed: Vec<Option<Operand<D>>> = vec![None; graph.vars.len()];
    let mut joined = false;
    for b in &order {
        while let ([link], ExitSwitch::None) =
            (&graph.block(*b).exits[..], &graph.block(*b).exitswitch)
        {
            let target = link.target;
            if entries[target.index()] != 1 || graph.block(target).exits.is_empty() || target == *b
            {
                break;
            }
            let mut next = std::mem::take(graph.block_mut(target));
            let block = graph.block_mut(*b);
            let args = std::mem::replace(&mut block.exits, next.exits);
            for (v, a) in next.inputargs.iter().zip(&args[0].args) {
                passed[v.index()] = Some(a.clone());
            }
            block.operations.append(&mut next.operations);
            block.exitswitch = next.exitswitch;
            joined = true;
        }
    }
    if !joined {
        return;
    }
    let stands_for = |v: VarId| {
        let mut found = passed[v.index()].as_ref()?;
        while let Some(next) = found.as_var().and_then(|v| passed[v.index()].as_ref()) {
            found = next;
        }
        Some(found.clone())
    };
    for b in order {
        graph.block_mut(b).substitute_by(stands_for);
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
    remove_inputargs(graph, &blocks, |v| !read[v.index()]);
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
fn remove_inputargs<D: Dialect>(
    graph: &mut Graph<D>,
    reachable: &[BlockId],
    remove: impl Fn(VarId) -> bool,
) {
    let fixed = [graph.startblock, graph.returnblock, graph.exceptblock];
    // No flags: all stay.
    let mut doomed: Vec<Vec<bool>> = vec![Vec::new(); graph.blocks.len()];
    let mut any = false;
    for b in reachable.iter().filter(|b| !fixed.contains(b)) {
        let inputargs = &graph.block(*b).inputargs;
        if inputargs.iter().any(|v| remove(*v)) {
            doomed[b.index()] = inputargs.iter().map(|v| remove(*v)).collect();
            any = true;
        }
    }
    if !any {
        return;
    }
    for b in reachable {
        let block = graph.block_mut(*b);
        retain(&mut block.inputargs, &doomed[b.index()]);
        for link in &mut block.exits {
            retain(&mut link.args, &doomed[link.target.index()]);
        }
    }
}

fn retain<T>(items: &mut Vec<T>, doomed: &[bool]) {
    if doomed.is_empty() {
        return;
    }
    let mut flags = doomed.iter();
    items.retain(|_| !flags.next().copied().unwrap_or(false));
}

/// Where all links pass the same value for an input argument, or the same values for
/// two of them, keeps one name for it. Leaves SSA form: blocks then use variables
/// of the blocks that dominate them.
pub fn remove_identical_vars_ssa<D: Dialect>(graph: &mut Graph<D>) {
    let fixed = [graph.startblock, graph.returnblock, graph.exceptblock];
    let order = graph.reachable();
    let mut values = Values::new(graph, &order);
    let passed = Passed::new(graph, &order, &mut values);
    let mut phis = Phis::default();
    let mut found = false;
    loop {
        let mut progress = false;
        for b in order.iter().filter(|b| !fixed.contains(b)) {
            phis.clear();
            for (i, v) in graph.block(*b).inputargs.iter().enumerate() {
                if values.same[v.index()] != v.0 {
                    continue;
                }
                let same = match passed.only_value(*b, i, v.0, &mut values) {
                    Some(a) if !values.is_on_link(a) => Some(a),
                    _ => phis.find_or_add(*v, passed.column(*b, i), &mut values),
                };
                if let Some(a) = same {
                    values.same[v.index()] = a;
                    progress = true;
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
    // From here on, one step leads to the value that stands for another one.
    for v in 0..values.same.len() as u32 {
        values.resolve(v);
    }
    let gone = |v: VarId| values.same[v.index()] != v.0;
    remove_inputargs(graph, &order, gone);
    for b in order {
        graph
            .block_mut(b)
            .substitute_by(|v| gone(v).then(|| values.operand(values.same[v.index()])));
    }
}

/// What links pass, as numbers of values.
struct Passed {
    /// The arguments of all links, one link after the other.
    args: Vec<u32>,
    /// For every block, where the arguments of the links to it start.
    links: Vec<Vec<u32>>,
}

impl Passed {
    fn new<D: Dialect>(graph: &Graph<D>, order: &[BlockId], values: &mut Values<D>) -> Self {
        let mut this = Passed {
            args: Vec::new(),
            links: vec![Vec::new(); graph.blocks.len()],
        };
        for link in order.iter().flat_map(|b| &graph.block(*b).exits) {
            this.links[link.target.index()].push(this.args.len() as u32);
            this.args.extend(link.args.iter().map(|a| values.number(a)));
        }
        this
    }

    /// What the links to a block pass for its input argument of that index.
    fn column(&self, b: BlockId, index: usize) -> impl Iterator<Item = u32> + Clone + '_ {
        (self.links[b.index()].iter()).map(move |start| self.args[*start as usize + index])
    }

    /// The value that all links pass, but for those that pass the argument itself.
    fn only_value<D: Dialect>(
        &self,
        b: BlockId,
        index: usize,
        itself: u32,
        values: &mut Values<D>,
    ) -> Option<u32> {
        let mut unique = None;
        for a in self.column(b, index) {
            let a = values.resolve(a);
            if a != itself && *unique.get_or_insert(a) != a {
                return None;
            }
        }
        unique
    }
}

/// The input arguments of one block, by what links pass for them.
#[derive(Default)]
struct Phis {
    /// The last one whose column has this hash.
    last: FxHashMap<u64, usize>,
    /// Each with the one before it of the same hash, and where its column starts.
    all: Vec<(VarId, Option<usize>, usize)>,
    columns: Vec<u32>,
}

impl Phis {
    fn clear(&mut self) {
        self.last.clear();
        self.all.clear();
        self.columns.clear();
    }

    /// The earlier argument for which all links pass the same as for `v`; if there is
    /// none, `v` is added.
    fn find_or_add<D: Dialect>(
        &mut self,
        v: VarId,
        column: impl Iterator<Item = u32>,
        values: &mut Values<D>,
    ) -> Option<u32> {
        let start = self.columns.len();
        self.columns.extend(column.map(|a| values.resolve(a)));
        let (before, column) = self.columns.split_at(start);
        let mut hasher = FxHasher::default();
        column.hash(&mut hasher);
        let hash = hasher.finish();
        let mut at = self.last.get(&hash).copied();
        while let Some(i) = at {
            let (w, previous, from) = self.all[i];
            if before[from..from + column.len()] == *column {
                self.columns.truncate(start);
                return Some(w.0);
            }
            at = previous;
        }
        let previous = self.last.insert(hash, self.all.len());
        self.all.push((v, previous, start));
        None
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
    let entries = entry_map_of(graph, &order);
    let mut seen: FxHashSet<(BlockId, VarId)> = FxHashSet::default();
    // What is passed to a block, and its name there.
    let mut renamed: Vec<Vec<(VarId, VarId)>> = vec![Vec::new(); graph.blocks.len()];
    while let Some((b, v)) = pending.pop() {
        let known = |b: BlockId| defined_in[v.index()] == Some(b);
        if b == graph.startblock || known(b) || !seen.insert((b, v)) {
            continue;
        }
        for LinkId { source, .. } in &entries[b.index()] {
            if !known(*source) {
                pending.push((*source, v));
            }
        }
        let w = graph.copy_var(v);
        renamed[b.index()].push((v, w));
        graph.block_mut(b).inputargs.push(w);
        for link in &entries[b.index()] {
            graph.link_mut(*link).args.push(v.into());
        }
    }
    let mut name: Vec<Option<VarId>> = vec![None; graph.vars.len()];
    for (b, pairs) in renamed.iter().enumerate().filter(|(_, p)| !p.is_empty()) {
        for (v, w) in pairs {
            name[v.index()] = Some(*w);
        }
        graph.blocks[b].substitute_by(|v| name[v.index()].map(Operand::Var));
        for (v, _) in pairs {
            name[v.index()] = None;
        }
    }
}

fn zip<D: Dialect>(vars: &[VarId], args: &[Operand<D>]) -> Substitution<D> {
    vars.iter().copied().zip(args.iter().cloned()).collect()
}
