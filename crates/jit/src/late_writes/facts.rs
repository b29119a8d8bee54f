//! What a function does with objects: which of them are new, and whether they have been put
//! somewhere.

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_graph::{BlockId, ObjId, Operation};
use taipan_lltype::{FuncSym, LLConst, LLGraph, LLOp, LLOperand, LowLevel, PlainOp, VoidConst};

use super::{operations, written_field};
use crate::drivers::marker_kind;
use crate::hints::{Hint, hint_of};
use crate::program::JitProgram;
use crate::purity::{call_targets, operand_ty};

/// Where an object comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Site {
    /// An argument of the function.
    Argument(usize),
    /// It was made here, by an allocation or by a function that makes it.
    New,
}

/// The objects that a value may be: sites of the function by number, in order.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Origin {
    sites: Vec<usize>,
    /// Others as well.
    unknown: bool,
}

impl Origin {
    fn unknown() -> Origin {
        Origin {
            unknown: true,
            ..Origin::default()
        }
    }

    fn add(&mut self, other: &Origin) -> bool {
        let before = (self.sites.len(), self.unknown);
        self.unknown |= other.unknown;
        for s in &other.sites {
            if let Err(at) = self.sites.binary_search(s) {
                self.sites.insert(at, *s);
            }
        }
        before != (self.sites.len(), self.unknown)
    }
}

/// What has become of the objects of a site.
#[derive(Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Debug)]
enum Status {
    /// Only the function has it, and what it is passed to while they run.
    #[default]
    Own,
    /// It was put somewhere.
    Shared,
    /// After that an interpreter with a driver has run, or it was promoted.
    Known,
}

/// What is known where control is.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct State {
    status: Vec<Status>,
    /// An interpreter has run since the function was entered.
    ran: bool,
}

impl State {
    fn add(&mut self, other: &State) -> bool {
        let mut changed = other.ran && !self.ran;
        self.ran |= other.ran;
        for (mine, other) in self.status.iter_mut().zip(&other.status) {
            changed |= *other > *mine;
            *mine = (*mine).max(*other);
        }
        changed
    }

    fn becomes(&mut self, origin: &Origin, status: Status) {
        for s in &origin.sites {
            self.status[*s] = self.status[*s].max(status);
        }
    }

    /// An interpreter runs.
    fn run(&mut self) {
        self.ran = true;
        for s in &mut self.status {
            if *s == Status::Shared {
                *s = Status::Known;
            }
        }
    }
}

/// An object that is written to or passed on, there and then.
#[derive(Clone, Debug, Default)]
pub(super) struct Used {
    /// It may be one that compiled code knows.
    pub(super) known: bool,
    /// It may be one that was put somewhere.
    pub(super) shared: bool,
    /// It may be one of these arguments of the function.
    pub(super) arguments: Vec<usize>,
    /// An interpreter may have run since the function was entered.
    pub(super) ran: bool,
}

/// What a function returns.
#[derive(Clone, Default, Debug)]
struct Returned {
    /// An object that it makes; whether it has put it somewhere.
    new: Option<bool>,
    arguments: Vec<usize>,
    unknown: bool,
}

/// What a function does with objects.
#[derive(Default, Debug)]
pub(super) struct Facts {
    /// What becomes of its arguments.
    arguments: Vec<Status>,
    returned: Returned,
    pub(super) writes: Vec<(ObjId, Arc<str>, u32, Used)>,
    pub(super) calls: Vec<CallFacts>,
}

#[derive(Debug)]
pub(super) struct CallFacts {
    pub(super) targets: Vec<FuncSym>,
    pub(super) at: u32,
    /// An interpreter may have run since the function was entered.
    pub(super) ran: bool,
    pub(super) arguments: Vec<Used>,
}

/// The functions that were looked at.
pub(super) struct Analysis<'p> {
    program: &'p dyn JitProgram,
    /// Functions that come by a marker of a driver, in what they call at the latest.
    running: FxHashSet<FuncSym>,
    /// None of those that are in progress.
    known: FxHashMap<FuncSym, Option<Rc<Facts>>>,
    depth: usize,
}

/// Calls are followed that deep; of what is below nothing is known.
const DEEPEST: usize = 200;

impl<'p> Analysis<'p> {
    /// For programs with these functions that come by a marker of a driver.
    pub(super) fn new(program: &'p dyn JitProgram, running: FxHashSet<FuncSym>) -> Self {
        Analysis {
            program,
            running,
            known: FxHashMap::default(),
            depth: 0,
        }
    }

    /// What a function does; none where nothing is known of it.
    pub(super) fn facts(&mut self, f: &FuncSym) -> Option<Rc<Facts>> {
        if let Some(known) = self.known.get(f) {
            return known.clone();
        }
        let graph = self.program.graph(f).filter(|_| self.depth < DEEPEST)?;
        self.known.insert(f.clone(), None);
        self.depth += 1;
        let facts = Rc::new(FunctionReader::read(self, &graph));
        self.depth -= 1;
        self.known.insert(f.clone(), Some(facts.clone()));
        Some(facts)
    }
}

/// A function that is read.
struct FunctionReader<'a, 'p> {
    analysis: &'a mut Analysis<'p>,
    graph: &'a LLGraph,
    sites: Vec<Site>,
    /// The sites of operations that make objects.
    made: FxHashMap<u32, usize>,
    /// By variable.
    origins: Vec<Origin>,
    facts: Facts,
}

impl FunctionReader<'_, '_> {
    fn read(analysis: &mut Analysis<'_>, graph: &LLGraph) -> Facts {
        let mut reader = FunctionReader {
            analysis,
            graph,
            sites: Vec::new(),
            made: FxHashMap::default(),
            origins: vec![Origin::default(); graph.vars.len()],
            facts: Facts::default(),
        };
        for (i, v) in graph.args().iter().enumerate() {
            if graph.ty(*v).is_gc_ptr() {
                let site = reader.new_site(Site::Argument(i));
                reader.origins[v.index()].sites.push(site);
            }
        }
        for op in operations(graph) {
            if graph.ty(op.result).is_gc_ptr() && makes_objects(op) {
                let site = reader.new_site(Site::New);
                reader.made.insert(op.result.0, site);
            }
        }
        reader.facts.arguments = vec![Status::Own; graph.args().len()];
        reader.flow();
        reader.facts
    }

    fn new_site(&mut self, site: Site) -> usize {
        self.sites.push(site);
        self.sites.len() - 1
    }

    /// Passes on what is known from block to block until nothing changes, then notes what
    /// the operations do.
    fn flow(&mut self) {
        let graph = self.graph;
        let order = graph.reachable();
        let mut states: Vec<Option<State>> = vec![None; graph.blocks.len()];
        let start = State {
            status: vec![Status::Own; self.sites.len()],
            ran: false,
        };
        states[graph.startblock.index()] = Some(start);
        let mut changed = true;
        while changed {
            changed = false;
            for b in &order {
                let Some(mut state) = states[b.index()].clone() else {
                    continue;
                };
                self.block(*b, &mut state, false);
                for link in &graph.block(*b).exits {
                    if let Some(v) = link.last_exc_value {
                        self.origins[v.index()] = Origin::unknown();
                    }
                    let inputs = &graph.block(link.target).inputargs;
                    for (arg, input) in link.args.iter().zip(inputs) {
                        let origin = self.origin(arg);
                        changed |= self.origins[input.index()].add(&origin);
                    }
                    match &mut states[link.target.index()] {
                        Some(known) => changed |= known.add(&state),
                        new => {
                            *new = Some(state.clone());
                            changed = true;
                        }
                    }
                }
            }
        }
        for b in &order {
            if let Some(mut state) = states[b.index()].clone() {
                self.block(*b, &mut state, true);
            }
        }
        if let Some(state) = &states[graph.returnblock.index()] {
            self.returns(state);
        }
    }

    fn returns(&mut self, state: &State) {
        let origin = self.origins[self.graph.returnvar().index()].clone();
        let returned = &mut self.facts.returned;
        returned.unknown = origin.unknown;
        for s in origin.sites {
            match (self.sites[s], state.status[s]) {
                (Site::Argument(i), _) => returned.arguments.push(i),
                (Site::New, Status::Known) => returned.unknown = true,
                (Site::New, status) => {
                    let shared = status == Status::Shared || returned.new == Some(true);
                    returned.new = Some(shared);
                }
            }
        }
    }

    /// The objects that an operand may be.
    fn origin(&self, o: &LLOperand) -> Origin {
        match o {
            LLOperand::Var(v) => self.origins[v.index()].clone(),
            LLOperand::Const(LLConst::Null(_)) => Origin::default(),
            LLOperand::Const(_) => Origin::unknown(),
        }
    }

    fn used(&self, origin: &Origin, state: &State) -> Used {
        let mut used = Used {
            known: origin.unknown,
            ran: state.ran,
            ..Used::default()
        };
        for s in &origin.sites {
            let status = state.status[*s];
            used.known |= status == Status::Known;
            used.shared |= status == Status::Shared;
            if let Site::Argument(i) = self.sites[*s] {
                used.arguments.push(i);
            }
        }
        used
    }

    fn block(&mut self, b: BlockId, state: &mut State, note: bool) {
        let graph = self.graph;
        for op in &graph.block(b).operations {
            if !self.concerns(op) {
                continue;
            }
            let result = self.operation(b, op, state, note);
            if graph.ty(op.result).is_gc_ptr() {
                self.origins[op.result.index()].add(&result);
            }
        }
        for (s, status) in state.status.iter().enumerate() {
            if let Site::Argument(i) = self.sites[s] {
                let known = &mut self.facts.arguments[i];
                *known = (*known).max(*status);
            }
        }
    }

    /// Whether objects are among what an operation works on or makes.
    fn concerns(&self, op: &Operation<LowLevel>) -> bool {
        let is_object = |o: &LLOperand| operand_ty(self.graph, o).is_gc_ptr();
        self.graph.ty(op.result).is_gc_ptr()
            || op.args.iter().any(is_object)
            || matches!(
                op.op,
                LLOp::Plain(PlainOp::DirectCall | PlainOp::IndirectCall | PlainOp::JitMarker)
            )
    }

    /// What the result of an operation may be.
    fn operation(
        &mut self,
        b: BlockId,
        op: &Operation<LowLevel>,
        state: &mut State,
        note: bool,
    ) -> Origin {
        use PlainOp::*;
        let LLOp::Plain(p) = op.op else {
            return Origin::unknown();
        };
        match p {
            Malloc | MallocVarsize => self.makes(b, op, state, Status::Own),
            DirectCall | IndirectCall => self.call(b, op, state, note),
            SameAs | CastPointer | CastOpaquePtr => self.origin(&op.args[0]),
            Hint => {
                let origin = self.origin(&op.args[0]);
                if hint_of(op) == Some(self::Hint::Promote) {
                    state.becomes(&origin, Status::Known);
                }
                origin
            }
            Setfield | BareSetfield => {
                if let (true, Some((class, field))) =
                    (note, written_field(self.analysis.program, self.graph, op))
                {
                    let object = self.origin(&op.args[0]);
                    let used = self.used(&object, state);
                    self.facts.writes.push((class, field, op.at, used));
                }
                self.shares_others(op, state);
                Origin::unknown()
            }
            Setarrayitem | BareSetarrayitem | Setinteriorfield | BareSetinteriorfield => {
                self.shares_others(op, state);
                Origin::unknown()
            }
            Getfield | Getarrayitem | Getinteriorfield | Getarraysize | Getinteriorarraysize
            | PtrEq | PtrNe | PtrNonzero | PtrIszero | DebugAssert | Keepalive => Origin::unknown(),
            _ => {
                for o in &op.args {
                    state.becomes(&self.origin(o), Status::Shared);
                }
                let runs = matches!(p, JitConditionalCall | JitConditionalCallValue);
                if runs || marker_kind(op).is_some() {
                    state.run();
                }
                Origin::unknown()
            }
        }
    }

    /// All operands after the first are put where that one points.
    fn shares_others(&self, op: &Operation<LowLevel>, state: &mut State) {
        for o in &op.args[1..] {
            state.becomes(&self.origin(o), Status::Shared);
        }
    }

    /// The operation makes an object.
    fn makes(
        &self,
        b: BlockId,
        op: &Operation<LowLevel>,
        state: &mut State,
        status: Status,
    ) -> Origin {
        let Some(site) = self.made.get(&op.result.0).copied() else {
            return Origin::unknown();
        };
        // What became of the one before is forgotten if that is out of reach.
        let inputs = self.graph.block(b).inputargs.iter();
        let mut inputs = inputs.map(|v| &self.origins[v.index()]);
        let before = match inputs.any(|o| o.sites.contains(&site)) {
            true => state.status[site],
            false => Status::Own,
        };
        state.status[site] = before.max(status);
        Origin {
            sites: vec![site],
            unknown: false,
        }
    }

    fn call(
        &mut self,
        b: BlockId,
        op: &Operation<LowLevel>,
        state: &mut State,
        note: bool,
    ) -> Origin {
        let targets = call_targets(op);
        let mut args = &op.args[1..];
        if let Some(LLOperand::Const(LLConst::Void(VoidConst::Targets(_)))) = args.last() {
            args = &args[..args.len() - 1];
        }
        let origins: Vec<Origin> = args.iter().map(|o| self.origin(o)).collect();
        let before = state.clone();
        let mut returned = Returned::default();
        let mut becomes = vec![Status::Own; args.len()];
        let mut runs = targets.is_none();
        for f in targets.iter().flatten() {
            runs |= self.analysis.running.contains(f);
            let facts = self.analysis.facts(f);
            for (i, status) in becomes.iter_mut().enumerate() {
                let callee = facts.as_ref().and_then(|facts| facts.arguments.get(i));
                *status = (*status).max(callee.copied().unwrap_or(Status::Shared));
            }
            match facts {
                Some(facts) => {
                    let theirs = &facts.returned;
                    returned.unknown |= theirs.unknown;
                    returned.new = returned.new.max(theirs.new);
                    returned.arguments.extend(&theirs.arguments);
                }
                None => returned.unknown = true,
            }
        }
        if targets.is_none() {
            returned.unknown = true;
            becomes.fill(Status::Shared);
        }
        for (origin, status) in origins.iter().zip(becomes) {
            state.becomes(origin, status);
        }
        if runs {
            state.run();
        }
        if let (true, Some(targets)) = (note, targets) {
            self.facts.calls.push(CallFacts {
                targets,
                at: op.at,
                ran: before.ran,
                arguments: origins.iter().map(|o| self.used(o, &before)).collect(),
            });
        }
        let mut result = match returned.new {
            Some(true) => self.makes(b, op, state, Status::Shared),
            Some(false) => self.makes(b, op, state, Status::Own),
            None => Origin::default(),
        };
        result.unknown |= returned.unknown;
        for i in returned.arguments {
            if let Some(origin) = origins.get(i) {
                result.add(origin);
            }
        }
        result
    }
}

/// Whether an operation may make an object.
fn makes_objects(op: &Operation<LowLevel>) -> bool {
    use PlainOp::*;
    matches!(
        op.op,
        LLOp::Plain(Malloc | MallocVarsize | DirectCall | IndirectCall)
    )
}
