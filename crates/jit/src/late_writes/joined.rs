//! What all functions of a program do with objects, joined, and kept up to date.
//!
//! What a function does depends on what those do that it calls, in cycles too: the least solution
//! is wanted. As in the annotator's solver each function keeps the values that it has had with a
//! stamp, and each of them follows from values with lower stamps. After an edit, values of the
//! changed functions are derived again as of their stamps, and lowered to what still follows,
//! and so those that followed from them; then the functions that changed, or were lowered, are
//! raised as before with new stamps. What is left is the least solution, whatever was known
//! before: no value is there because of itself.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_lltype::FuncSym;

use super::LateWrite;
use super::facts::{Callee, Facts, Summary, facts, passed, summary};
use super::object_flow::ObjectFlow;

type Stamp = u64;

/// All late writes of a program, kept up to date.
#[derive(Default)]
pub struct LateWrites {
    functions: Vec<Function>,
    numbers: FxHashMap<FuncSym, u32>,
    /// Numbers that nobody has.
    free: Vec<u32>,
    last: Stamp,
    entries: Vec<FuncSym>,
    /// By number: the functions that are only called before the first interpreter runs.
    early: FxHashSet<u32>,
    /// The functions whose writes or calls the search has looked at,
    read: FxHashSet<u32>,
    /// and those all of whose callers it has.
    traced: FxHashSet<u32>,
    found: Arc<[LateWrite]>,
    /// How often a function was looked at, for tests.
    looked: Cell<usize>,
}

struct Function {
    sym: FuncSym,
    /// None where it has no graph, or is no part of the program.
    flow: Option<Arc<ObjectFlow>>,
    /// The values that it had, the last one now; what it has before is the least one.
    values: Vec<(Stamp, Arc<Summary>)>,
    callers: BTreeSet<u32>,
    facts: Facts,
}

impl LateWrites {
    /// What has changed: the functions that have come or are others now, with what they do
    /// unless they have no graph; and those that have gone. Calls of functions that were never
    /// told of do anything.
    pub fn update(
        &mut self,
        changed: impl IntoIterator<Item = (FuncSym, Option<Arc<ObjectFlow>>)>,
        entries: &[FuncSym],
    ) {
        let mut others = BTreeSet::new();
        // Those that some caller has left.
        let mut left = Vec::new();
        // Those that callers see, or do not see any more.
        let mut appeared = BTreeSet::new();
        let mut moved = self.entries != entries;
        self.entries = entries.to_vec();
        for (sym, flow) in changed {
            let f = self.number(&sym);
            let old = self.functions[f as usize].flow.take();
            if old != flow {
                others.insert(f);
                if old.is_some() != flow.is_some() {
                    appeared.insert(f);
                }
                let targets = |flow: &Option<Arc<ObjectFlow>>| {
                    let calls = flow.iter().flat_map(|f| &f.calls);
                    calls.map(|c| c.targets.clone()).collect::<Vec<_>>()
                };
                moved |= targets(&old) != targets(&flow);
                self.set_callers(f, old.as_deref(), flow.as_deref(), &mut left);
            }
            self.functions[f as usize].flow = flow;
        }
        if others.is_empty() && !moved {
            return;
        }
        let callers = appeared
            .iter()
            .flat_map(|f| &self.functions[*f as usize].callers);
        let mut derived_anew: BTreeSet<u32> = callers.copied().collect();
        derived_anew.extend(&others);
        let mut touched = self.retract(&derived_anew);
        self.raise(&derived_anew, &mut touched);
        self.look_at(derived_anew, &touched, moved);
        left.extend(others);
        self.forget(left);
    }

    /// All late writes: of each field and place one.
    pub fn found(&self) -> Arc<[LateWrite]> {
        self.found.clone()
    }

    fn number(&mut self, sym: &FuncSym) -> u32 {
        if let Some(f) = self.numbers.get(sym) {
            return *f;
        }
        let function = Function {
            sym: sym.clone(),
            flow: None,
            values: Vec::new(),
            callers: BTreeSet::new(),
            facts: Facts::default(),
        };
        let f = match self.free.pop() {
            Some(f) => {
                self.functions[f as usize] = function;
                f
            }
            None => {
                self.functions.push(function);
                self.functions.len() as u32 - 1
            }
        };
        self.numbers.insert(sym.clone(), f);
        f
    }

    /// Gives up the numbers of functions that are no part of the program and not called.
    fn forget(&mut self, functions: Vec<u32>) {
        for f in functions {
            let function = &self.functions[f as usize];
            let used = function.flow.is_some() || !function.callers.is_empty();
            if !used && self.numbers.remove(&function.sym).is_some() {
                self.early.remove(&f);
                self.read.remove(&f);
                self.traced.remove(&f);
                self.free.push(f);
            }
        }
    }

    /// Notes whom a function calls now. Those that it does not call any more are added to `left`.
    fn set_callers(
        &mut self,
        f: u32,
        old: Option<&ObjectFlow>,
        new: Option<&ObjectFlow>,
        left: &mut Vec<u32>,
    ) {
        let callees = |flow: Option<&ObjectFlow>| -> FxHashSet<FuncSym> {
            flow.into_iter()
                .flat_map(|f| f.callees().cloned())
                .collect()
        };
        let (old, new) = (callees(old), callees(new));
        for callee in old.difference(&new) {
            let callee = self.number(callee);
            self.functions[callee as usize].callers.remove(&f);
            left.push(callee);
        }
        for callee in new.difference(&old) {
            let callee = self.number(callee);
            self.functions[callee as usize].callers.insert(f);
        }
    }

    /// What a function did at a stamp: what it came to before.
    fn as_of(&self, f: u32, stamp: Stamp) -> Option<Arc<Summary>> {
        let values = &self.functions[f as usize].values;
        let after = values.partition_point(|(s, _)| *s < stamp);
        Some(values[after.checked_sub(1)?].1.clone())
    }

    fn callee(&self, sym: &FuncSym, stamp: Stamp) -> Callee {
        match self.numbers.get(sym) {
            Some(f) if self.functions[*f as usize].flow.is_some() => {
                Callee::Does(self.as_of(*f, stamp).unwrap_or_default())
            }
            _ => Callee::Opaque,
        }
    }

    /// What follows for a function from what others did at a stamp.
    fn derived(&self, f: u32, stamp: Stamp) -> Option<Summary> {
        self.looked.set(self.looked.get() + 1);
        let flow = self.functions[f as usize].flow.as_ref()?;
        Some(summary(flow, &|callee| self.callee(callee, stamp)))
    }

    /// Takes back what does not follow any more once these functions are others. Answers the
    /// functions with other values, and what these were.
    fn retract(&mut self, others: &BTreeSet<u32>) -> BTreeMap<u32, Option<Arc<Summary>>> {
        let mut touched = BTreeMap::new();
        let mut pending: BTreeSet<(Stamp, u32)> = BTreeSet::new();
        for f in others {
            let function = &self.functions[*f as usize];
            pending.extend(function.values.iter().map(|(s, _)| (*s, *f)));
        }
        while let Some((stamp, f)) = pending.pop_first() {
            let values = &self.functions[f as usize].values;
            let Ok(at) = values.binary_search_by_key(&stamp, |(s, _)| *s) else {
                continue;
            };
            let old = values[at].1.clone();
            let derived = self.derived(f, stamp);
            let last = self.as_of(f, Stamp::MAX);
            let before = self.as_of(f, stamp).unwrap_or_default();
            let function = &mut self.functions[f as usize];
            let new = match derived {
                Some(derived) => before.joined(&old.met(&derived)),
                None => Summary::default(),
            };
            if new == *old && new != *before {
                continue;
            }
            touched.entry(f).or_insert(last);
            match new == *before {
                true => drop(function.values.remove(at)),
                false => function.values[at].1 = Arc::new(new),
            }
            let later = |g: &u32| {
                let values = self.functions[*g as usize].values.iter();
                let later = values.filter(|(s, _)| *s > stamp);
                later.map(|(s, _)| (*s, *g)).collect::<Vec<_>>()
            };
            let readers = self.functions[f as usize].callers.iter().chain([&f]);
            pending.extend(readers.flat_map(later));
        }
        touched
    }

    /// Raises functions that are others, and what follows, to the least solution.
    fn raise(&mut self, others: &BTreeSet<u32>, touched: &mut BTreeMap<u32, Option<Arc<Summary>>>) {
        let lowered = touched.keys().chain(others).copied().collect();
        let mut pending: VecDeque<u32> = self.callees_first(lowered).into();
        let mut waits: FxHashSet<u32> = pending.iter().copied().collect();
        while let Some(f) = pending.pop_front() {
            if !waits.remove(&f) {
                continue;
            }
            let Some(derived) = self.derived(f, Stamp::MAX) else {
                continue;
            };
            let last = self.as_of(f, Stamp::MAX);
            let known = last.clone().unwrap_or_default();
            let joined = known.joined(&derived);
            if joined == *known {
                continue;
            }
            touched.entry(f).or_insert(last);
            self.last += 1;
            let function = &mut self.functions[f as usize];
            function.values.push((self.last, Arc::new(joined)));
            for caller in &function.callers {
                if waits.insert(*caller) {
                    pending.push_back(*caller);
                }
            }
        }
    }

    /// Functions, those that others call before these as far as that can be.
    fn callees_first(&self, functions: BTreeSet<u32>) -> Vec<u32> {
        let mut out = Vec::with_capacity(functions.len());
        let mut seen = FxHashSet::default();
        for f in &functions {
            // A function is taken out again when its callees have been.
            let mut stack = vec![(*f, false)];
            while let Some((f, done)) = stack.pop() {
                if done {
                    out.push(f);
                    continue;
                }
                if !seen.insert(f) {
                    continue;
                }
                stack.push((f, true));
                let flow = self.functions[f as usize].flow.iter();
                let callees = flow.flat_map(|flow| flow.callees());
                let callees = callees.filter_map(|callee| self.numbers.get(callee));
                stack.extend(
                    callees
                        .filter(|c| functions.contains(c))
                        .map(|c| (*c, false)),
                );
            }
        }
        out
    }

    /// Looks at writes and calls again where something may be different: in these functions, and
    /// where what callees do is.
    fn look_at(
        &mut self,
        mut concerned: BTreeSet<u32>,
        touched: &BTreeMap<u32, Option<Arc<Summary>>>,
        moved: bool,
    ) {
        for (f, before) in touched {
            if self.as_of(*f, Stamp::MAX) != *before {
                concerned.extend(&self.functions[*f as usize].callers);
            }
        }
        let mut order = moved;
        let mut search = false;
        for f in &concerned {
            let new = match &self.functions[*f as usize].flow {
                Some(flow) => facts(flow, &|callee| self.callee(callee, Stamp::MAX)),
                None => Facts::default(),
            };
            let function = &mut self.functions[*f as usize];
            let old = std::mem::replace(&mut function.facts, new);
            order |= old.ran != function.facts.ran;
            search |= !function.facts.writes.is_empty();
            search |= self.read.contains(f) || self.calls_traced(*f);
        }
        if order {
            let early = self.early();
            // Only where something is written does it matter.
            let differ = early.symmetric_difference(&self.early);
            search |= differ.into_iter().any(|f| self.read.contains(f));
            self.early = early;
        }
        if search {
            let found = self.search();
            if *found != *self.found {
                self.found = found.into();
            }
        }
    }

    /// Whether a function calls one whose callers are looked at.
    fn calls_traced(&self, f: u32) -> bool {
        let flow = self.functions[f as usize].flow.iter();
        let mut callees = flow.flat_map(|flow| flow.callees());
        callees.any(|c| (self.numbers.get(c)).is_some_and(|c| self.traced.contains(c)))
    }

    /// The functions that are only called before the first interpreter runs.
    fn early(&self) -> FxHashSet<u32> {
        let mut early: FxHashSet<u32> = FxHashSet::default();
        let mut late: FxHashSet<u32> = FxHashSet::default();
        let entries = self.entries.iter().filter_map(|f| self.numbers.get(f));
        let mut pending: Vec<(u32, bool)> = entries.map(|f| (*f, false)).collect();
        while let Some((f, ran)) = pending.pop() {
            let known = if ran { &mut late } else { &mut early };
            if !known.insert(f) {
                continue;
            }
            let function = &self.functions[f as usize];
            let Some(flow) = &function.flow else { continue };
            for (i, call) in flow.calls.iter().enumerate() {
                let ran = ran || function.facts.ran.get(i).copied().unwrap_or_default();
                let targets = call.targets.iter().flat_map(|t| t.iter());
                let targets = targets.filter_map(|t| self.numbers.get(t));
                pending.extend(targets.map(|t| (*t, ran)));
            }
        }
        early.retain(|f| !late.contains(f));
        early
    }

    fn search(&mut self) -> Vec<LateWrite> {
        let mut search = Search {
            all: self,
            found: BTreeMap::new(),
            pending: Vec::new(),
            seen: FxHashSet::default(),
            read: FxHashSet::default(),
            traced: FxHashSet::default(),
        };
        for (f, function) in (0..).zip(&self.functions) {
            if function.flow.is_some() && !function.facts.writes.is_empty() {
                search.own_writes(f);
            }
        }
        while let Some(passed) = search.pending.pop() {
            search.passed_on(passed);
        }
        let Search {
            found,
            read,
            traced,
            ..
        } = search;
        let mut found: Vec<LateWrite> = (found.into_iter())
            .filter_map(|((f, write), call)| self.late_write(f, write, call))
            .collect();
        found.sort_by_cached_key(|w| {
            let place = (name_order(&w.place.0), w.place.1);
            (place, w.class, w.field.clone(), call_order(&w.call))
        });
        found.dedup_by(|a, b| (a.class, &a.field, &a.place) == (b.class, &b.field, &b.place));
        self.read = read;
        self.traced = traced;
        found
    }

    fn late_write(&self, f: u32, write: u32, call: LateCall) -> Option<LateWrite> {
        let function = &self.functions[f as usize];
        let write = &function.flow.as_ref()?.writes[write as usize];
        Some(LateWrite {
            class: write.class,
            field: write.field.clone(),
            place: (function.sym.clone(), write.at),
            call,
        })
    }
}

/// A call that passes an object which is not new: its function, the instruction, and the
/// function that is called.
type LateCall = Option<(FuncSym, u32, FuncSym)>;

/// What functions are ordered by, so that the same is said whatever came first.
fn name_order(f: &FuncSym) -> (String, String) {
    (f.name().to_owned(), format!("{:?}", f.kind()))
}

fn call_order(call: &LateCall) -> impl Ord + use<> {
    (call.as_ref()).map(|(f, at, callee)| (name_order(f), *at, name_order(callee)))
}

/// A function writes a field of one of its arguments, in callees at the latest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Passed {
    /// The function that writes, and the number of the write.
    write: (u32, u32),
    function: u32,
    argument: u32,
    /// An interpreter may have run since it was entered.
    ran: bool,
}

/// From writes back to where the objects come from.
struct Search<'a> {
    all: &'a LateWrites,
    /// Of each write the first call by name.
    found: BTreeMap<(u32, u32), LateCall>,
    pending: Vec<Passed>,
    seen: FxHashSet<Passed>,
    read: FxHashSet<u32>,
    traced: FxHashSet<u32>,
}

impl Search<'_> {
    /// The writes of a function itself.
    fn own_writes(&mut self, f: u32) {
        let all = self.all;
        self.read.insert(f);
        let early = all.early.contains(&f);
        for (i, used) in (0..).zip(&all.functions[f as usize].facts.writes) {
            if early && !used.ran {
                continue;
            }
            if used.known {
                self.is_late((f, i), None);
            }
            for argument in &used.arguments {
                self.writes_argument(Passed {
                    write: (f, i),
                    function: f,
                    argument: *argument,
                    ran: used.ran,
                });
            }
        }
    }

    /// Looks at all calls of a function that writes to an argument.
    fn passed_on(&mut self, passed_on: Passed) {
        let all = self.all;
        let reached = &all.functions[passed_on.function as usize];
        self.traced.insert(passed_on.function);
        for caller in &reached.callers {
            let function = &all.functions[*caller as usize];
            let Some(flow) = &function.flow else { continue };
            self.read.insert(*caller);
            let early = all.early.contains(caller) && !passed_on.ran;
            let callee = |f: &FuncSym| all.callee(f, Stamp::MAX);
            let calls = passed(flow, &callee, &reached.sym, passed_on.argument as usize);
            for (call, used) in calls {
                if early && !used.ran {
                    continue;
                }
                if used.known || (used.shared && passed_on.ran) {
                    let at = flow.calls[call].at;
                    let call = (function.sym.clone(), at, reached.sym.clone());
                    self.is_late(passed_on.write, Some(call));
                }
                for argument in &used.arguments {
                    self.writes_argument(Passed {
                        function: *caller,
                        argument: *argument,
                        ran: passed_on.ran || used.ran,
                        ..passed_on
                    });
                }
            }
        }
    }

    fn writes_argument(&mut self, passed: Passed) {
        if self.seen.insert(passed) {
            self.pending.push(passed);
        }
    }

    fn is_late(&mut self, write: (u32, u32), call: LateCall) {
        use std::collections::btree_map::Entry;
        match self.found.entry(write) {
            Entry::Vacant(e) => drop(e.insert(call)),
            Entry::Occupied(mut e) => {
                if *e.get() != call && call_order(&call) < call_order(e.get()) {
                    e.insert(call);
                }
            }
        }
    }
}

#[cfg(test)]
impl LateWrites {
    /// What a function does, as callers see it, for comparison.
    pub(super) fn now(&self, f: &FuncSym) -> String {
        match self.callee(f, Stamp::MAX) {
            Callee::Opaque => "anything".to_owned(),
            Callee::Does(summary) => format!("{summary:?}"),
        }
    }

    /// How often functions were looked at since this was asked.
    pub(super) fn take_looked(&self) -> usize {
        self.looked.take()
    }
}
