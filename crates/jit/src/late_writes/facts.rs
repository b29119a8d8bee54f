//! What becomes of the objects of a function, given what the functions do that it calls.

use std::sync::Arc;

use super::object_flow::{Call, FlowBlock, ObjectFlow, Site, Step, Value};
use taipan_lltype::FuncSym;

/// The objects that a value may be: sites of the function by number, in order.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Origin {
    sites: Vec<u32>,
    /// Others as well.
    unknown: bool,
}

impl Origin {
    fn site(site: u32) -> Origin {
        Origin {
            sites: vec![site],
            unknown: false,
        }
    }

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
pub(super) enum Status {
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
            let mine = &mut self.status[*s as usize];
            *mine = (*mine).max(status);
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

/// What a function does, as far as its callers are concerned. Values are joined: there are finitely
/// many above each.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Summary {
    /// What becomes of its arguments.
    arguments: Vec<Status>,
    /// It returns an object that it makes; whether it has put it somewhere.
    new: Option<bool>,
    /// The arguments that it may return, in order.
    returned: Vec<u32>,
    /// It may return any object.
    unknown: bool,
    /// An interpreter runs in it.
    runs: bool,
}

impl Summary {
    /// Both.
    pub(super) fn joined(&self, other: &Summary) -> Summary {
        let mut returned = self.returned.clone();
        returned.extend(&other.returned);
        returned.sort_unstable();
        returned.dedup();
        Summary {
            arguments: self.pairwise(other, Status::max),
            new: self.new.max(other.new),
            returned,
            unknown: self.unknown || other.unknown,
            runs: self.runs || other.runs,
        }
    }

    /// What both say.
    pub(super) fn met(&self, other: &Summary) -> Summary {
        let both = self.returned.iter().filter(|a| other.returned.contains(a));
        Summary {
            arguments: self.pairwise(other, Status::min),
            new: self.new.min(other.new),
            returned: both.copied().collect(),
            unknown: self.unknown && other.unknown,
            runs: self.runs && other.runs,
        }
    }

    /// By argument; what is not there is the least. At its end that is left out.
    fn pairwise(&self, other: &Summary, one: fn(Status, Status) -> Status) -> Vec<Status> {
        let most = self.arguments.len().max(other.arguments.len());
        let at = |of: &Summary, i: usize| of.arguments.get(i).copied().unwrap_or_default();
        let all = (0..most).map(|i| one(at(self, i), at(other, i)));
        trimmed(all.collect())
    }
}

fn trimmed(mut arguments: Vec<Status>) -> Vec<Status> {
    let used = arguments.iter().rposition(|s| *s != Status::Own);
    arguments.truncate(used.map_or(0, |i| i + 1));
    arguments
}

/// What is known of a function that is called.
pub(super) enum Callee {
    /// Nothing.
    Opaque,
    /// That.
    Does(Arc<Summary>),
}

/// An object that is written to or passed on, there and then.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Used {
    /// It may be one that compiled code knows.
    pub(super) known: bool,
    /// It may be one that was put somewhere.
    pub(super) shared: bool,
    /// It may be one of these arguments of the function.
    pub(super) arguments: Box<[u32]>,
    /// An interpreter may have run since the function was entered.
    pub(super) ran: bool,
}

/// What is known where a function writes and calls.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Facts {
    /// By number.
    pub(super) writes: Vec<Used>,
    /// Whether an interpreter may have run since the function was entered, by number. Those at
    /// the end before which none has are left out.
    pub(super) ran: Vec<bool>,
}

/// What a function does.
pub(super) fn summary(flow: &ObjectFlow, callee: &dyn Fn(&FuncSym) -> Callee) -> Summary {
    let mut reader = Reader::new(flow, callee);
    reader.flow();
    reader.summary()
}

/// What is known where it writes and calls.
pub(super) fn facts(flow: &ObjectFlow, callee: &dyn Fn(&FuncSym) -> Callee) -> Facts {
    let mut facts = Facts {
        writes: vec![Used::default(); flow.writes.len()],
        ran: Vec::new(),
    };
    if flow.writes.is_empty() && flow.calls.is_empty() {
        return facts;
    }
    let mut reader = Reader::new(flow, callee);
    reader.flow();
    reader.look(&mut |reader, state, step| match step {
        Step::Write(w) => {
            let origin = reader.origin(flow.writes[*w as usize].object);
            facts.writes[*w as usize] = reader.used(&origin, state);
        }
        Step::Call(c) if state.ran => {
            let c = *c as usize;
            facts.ran.resize(facts.ran.len().max(c + 1), false);
            facts.ran[c] = true;
        }
        _ => {}
    });
    facts
}

/// What is known of an argument at the calls of a function that may reach another one: the number
/// of the call, and the argument. Calls that pass fewer are left out.
pub(super) fn passed(
    flow: &ObjectFlow,
    callee: &dyn Fn(&FuncSym) -> Callee,
    reached: &FuncSym,
    argument: usize,
) -> Vec<(usize, Used)> {
    let mut out = Vec::new();
    let mut reader = Reader::new(flow, callee);
    reader.flow();
    reader.look(&mut |reader, state, step| {
        if let Step::Call(c) = step {
            let call = &flow.calls[*c as usize];
            let reaches = (call.targets.iter()).any(|t| t.iter().any(|f| f == reached));
            if let (true, Some(value)) = (reaches, call.arguments.get(argument)) {
                let used = reader.used(&reader.origin(*value), state);
                out.push((*c as usize, used));
            }
        }
    });
    out
}

/// A function that is read.
struct Reader<'a> {
    flow: &'a ObjectFlow,
    callee: &'a dyn Fn(&FuncSym) -> Callee,
    /// By variable.
    origins: Vec<Origin>,
    /// What is known at the beginning of each block that control gets to.
    states: Vec<Option<State>>,
    /// What becomes of its arguments.
    arguments: Vec<Status>,
    /// The origins of a variable have grown since its block was read last.
    grown: bool,
}

impl<'a> Reader<'a> {
    fn new(flow: &'a ObjectFlow, callee: &'a dyn Fn(&FuncSym) -> Callee) -> Self {
        let mut origins = vec![Origin::default(); flow.vars];
        for (var, site) in &flow.given {
            origins[*var as usize].sites.push(*site);
        }
        Reader {
            flow,
            callee,
            origins,
            states: vec![None; flow.blocks.len()],
            arguments: vec![Status::Own; flow.arguments],
            grown: false,
        }
    }

    /// Passes on what is known from block to block until nothing changes.
    fn flow(&mut self) {
        let flow = self.flow;
        let Some(start) = self.states.first_mut() else {
            return;
        };
        *start = Some(State {
            status: vec![Status::Own; flow.sites.len()],
            ran: false,
        });
        let mut changed = true;
        while changed || std::mem::take(&mut self.grown) {
            changed = false;
            for (b, block) in flow.blocks.iter().enumerate() {
                let Some(mut state) = self.states[b].clone() else {
                    continue;
                };
                for step in &block.steps {
                    self.step(block, step, &mut state);
                }
                for (s, status) in state.status.iter().enumerate() {
                    if let Site::Argument(i) = flow.sites[s] {
                        let known = &mut self.arguments[i as usize];
                        *known = (*known).max(*status);
                    }
                }
                for exit in &block.exits {
                    for (value, input) in &exit.passed {
                        let origin = self.origin(*value);
                        changed |= self.origins[*input as usize].add(&origin);
                    }
                    match &mut self.states[exit.target as usize] {
                        Some(known) => changed |= known.add(&state),
                        new => {
                            *new = Some(state.clone());
                            changed = true;
                        }
                    }
                }
            }
        }
    }

    /// Looks at all steps once more, with what is known before each.
    fn look(&mut self, see: &mut dyn FnMut(&Self, &State, &Step)) {
        let flow = self.flow;
        for (b, block) in flow.blocks.iter().enumerate() {
            let Some(mut state) = self.states[b].clone() else {
                continue;
            };
            for step in &block.steps {
                see(self, &state, step);
                self.step(block, step, &mut state);
            }
        }
    }

    fn summary(&self) -> Summary {
        let mut out = Summary {
            arguments: trimmed(self.arguments.clone()),
            runs: self.flow.marked || self.flow.callees().any(|f| self.runs(f)),
            ..Summary::default()
        };
        let Some((block, value)) = self.flow.returned else {
            return out;
        };
        let Some(state) = &self.states[block as usize] else {
            return out;
        };
        let origin = self.origin(value);
        out.unknown = origin.unknown;
        for s in origin.sites {
            match (self.flow.sites[s as usize], state.status[s as usize]) {
                (Site::Argument(i), _) => out.returned.push(i),
                (Site::New | Site::Older, status) => {
                    out.unknown |= status == Status::Known;
                    out.new = out.new.max(Some(status > Status::Own));
                }
            }
        }
        out.returned.sort_unstable();
        out
    }

    fn runs(&self, f: &FuncSym) -> bool {
        matches!((self.callee)(f), Callee::Does(summary) if summary.runs)
    }

    /// The objects that a value may be.
    fn origin(&self, value: Value) -> Origin {
        match value {
            Value::Var(v) => self.origins[v as usize].clone(),
            Value::Nothing => Origin::default(),
            Value::Unknown => Origin::unknown(),
        }
    }

    fn used(&self, origin: &Origin, state: &State) -> Used {
        let mut used = Used {
            known: origin.unknown,
            ran: state.ran,
            ..Used::default()
        };
        let mut arguments = Vec::new();
        for s in &origin.sites {
            let status = state.status[*s as usize];
            used.known |= status == Status::Known;
            used.shared |= status == Status::Shared;
            if let Site::Argument(i) = self.flow.sites[*s as usize] {
                arguments.push(i);
            }
        }
        used.arguments = arguments.into();
        used
    }

    fn step(&mut self, block: &FlowBlock, step: &Step, state: &mut State) {
        match step {
            Step::Make(var, site) => {
                let made = self.makes(block, (*site, *var), state, Status::Own);
                self.origins[*var as usize].add(&made);
            }
            Step::Promote(value) => state.becomes(&self.origin(*value), Status::Known),
            Step::Share(values) => {
                for value in values {
                    state.becomes(&self.origin(*value), Status::Shared);
                }
            }
            Step::Run => state.run(),
            Step::Write(_) => {}
            Step::Call(c) => self.call(block, &self.flow.calls[*c as usize], state),
        }
    }

    /// Allocates an object of a site. The previous newest object becomes an older one.
    fn makes(
        &mut self,
        block: &FlowBlock,
        (site, var): (u32, u32),
        state: &mut State,
        status: Status,
    ) -> Origin {
        let older = site + 1;
        let before = std::mem::replace(&mut state.status[site as usize], status);
        let known = &mut state.status[older as usize];
        *known = (*known).max(before);
        // Variables that may hold the previous object: inputs of the block, and results of its calls.
        let results = block.steps.iter().filter_map(|step| match step {
            Step::Call(c) => self.flow.calls[*c as usize].result.map(|r| r.0),
            _ => None,
        });
        for v in block.inputs.iter().copied().chain(results) {
            let origin = &mut self.origins[v as usize];
            if v != var && origin.sites.contains(&site) {
                self.grown |= origin.add(&Origin::site(older));
            }
        }
        Origin::site(site)
    }

    fn call(&mut self, block: &FlowBlock, call: &Call, state: &mut State) {
        let mut returned = Summary::default();
        let mut becomes = vec![Status::Own; call.arguments.len()];
        let targets = call.targets.iter().flat_map(|t| t.iter());
        let callees = targets.map(self.callee);
        let none = call.targets.is_none().then_some(Callee::Opaque);
        for callee in callees.chain(none) {
            let Callee::Does(theirs) = callee else {
                becomes
                    .iter_mut()
                    .for_each(|s| *s = (*s).max(Status::Shared));
                returned.unknown = true;
                continue;
            };
            for (status, theirs) in becomes.iter_mut().zip(&theirs.arguments) {
                *status = (*status).max(*theirs);
            }
            returned.runs |= theirs.runs;
            returned.unknown |= theirs.unknown;
            returned.new = returned.new.max(theirs.new);
            returned.returned.extend(&theirs.returned);
        }
        for (value, status) in call.arguments.iter().zip(becomes) {
            state.becomes(&self.origin(*value), status);
        }
        if returned.runs || call.targets.is_none() {
            state.run();
        }
        let Some((var, site)) = call.result else {
            return;
        };
        let mut result = match returned.new {
            Some(true) => self.makes(block, (site, var), state, Status::Shared),
            Some(false) => self.makes(block, (site, var), state, Status::Own),
            None => Origin::default(),
        };
        result.unknown |= returned.unknown;
        for i in returned.returned {
            if let Some(value) = call.arguments.get(i as usize) {
                result.add(&self.origin(*value));
            }
        }
        self.origins[var as usize].add(&result);
    }
}
