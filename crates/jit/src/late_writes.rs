//! Late writes: those to fields that classes call immutable, in objects that compiled code
//! may know already.
//!
//! The tracing JIT believes `_immutable_fields_`, and so would residual code: what it read
//! of a known object stays. A write is right as long as no code can have been compiled for
//! the object: it was made in this function, or in one that passes it here, and since then
//! it was not put where interpreters find it, or none has run.
//!
//! ```text
//! __init__(self, x):                        replace(self, other):
//!     self.x = x          ; right               self.x = other      ; late
//! make(x):
//!     f = F(x)
//!     f.y = x             ; right
//!     frames.append(f)
//!     f.z = x             ; right
//!     run(f)              ; comes by a merge point
//!     f.z = 0             ; late
//! ```
//!
//! Two passes: in each function, where objects come from and whether they have been put
//! somewhere (`facts.rs`), asking for what its callees do with their arguments; then from
//! the functions that write a field of an argument back to those that call them. What is
//! done before the first interpreter runs is right in any case (`early`).

mod facts;

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_graph::{ObjId, Operation};
use taipan_lltype::{FuncSym, LLGraph, LLType, LowLevel, PlainOp, StructId};

use crate::drivers::has_markers;
use crate::program::JitProgram;
use crate::purity::{call_targets, field_name, is_immutable_field, operand_ty};
use facts::Analysis;

/// A late write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LateWrite {
    /// The class whose field it is.
    pub class: ObjId,
    /// The field, as low-level code calls it.
    pub field: Arc<str>,
    /// The function that writes, and the instruction.
    pub place: (FuncSym, u32),
    /// If it writes to an object that it was passed: a call that passes one which is not
    /// new, and the function that is called there.
    pub call: Option<(FuncSym, u32, FuncSym)>,
}

/// All late writes of a program, which consists of these functions and starts with some of
/// them. Of each field and place the first one that is found. The program shows the RTyper's
/// graphs.
pub fn late_writes(
    program: &dyn JitProgram,
    entries: &[FuncSym],
    functions: &[FuncSym],
) -> Vec<LateWrite> {
    let graphs: Vec<(&FuncSym, Arc<LLGraph>)> = (functions.iter())
        .filter_map(|f| Some((f, program.graph(f)?)))
        .collect();
    let writers: Vec<&FuncSym> = (graphs.iter())
        .filter(|(_, graph)| writes(program, graph).next().is_some())
        .map(|(f, _)| *f)
        .collect();
    if writers.is_empty() {
        return Vec::new();
    }
    let mut callers: FxHashMap<FuncSym, Vec<FuncSym>> = FxHashMap::default();
    for (f, graph) in &graphs {
        let mut seen = FxHashSet::default();
        for op in operations(graph) {
            for callee in call_targets(op).unwrap_or_default() {
                if seen.insert(callee.clone()) {
                    callers.entry(callee).or_default().push((*f).clone());
                }
            }
        }
    }
    let mut running = FxHashSet::default();
    let marked = graphs.iter().filter(|(_, graph)| has_markers(graph));
    let mut pending: Vec<FuncSym> = marked.map(|(f, _)| (*f).clone()).collect();
    while let Some(f) = pending.pop() {
        if running.insert(f.clone()) {
            pending.extend(callers.get(&f).into_iter().flatten().cloned());
        }
    }
    let mut analysis = Analysis::new(program, running);
    let mut search = Search {
        early: early(&mut analysis, entries),
        analysis,
        callers,
        found: Vec::new(),
        pending: VecDeque::new(),
        seen: FxHashSet::default(),
    };
    for f in writers {
        search.own_writes(f);
    }
    while let Some(passed) = search.pending.pop_front() {
        search.passed_on(&passed);
    }
    search.found
}

fn operations(graph: &LLGraph) -> impl Iterator<Item = &Operation<LowLevel>> {
    let blocks = graph.reachable().into_iter();
    blocks.flat_map(|b| &graph.block(b).operations)
}

/// The writes to fields of instances that classes call immutable.
fn writes<'a>(
    program: &'a dyn JitProgram,
    graph: &'a LLGraph,
) -> impl Iterator<Item = &'a Operation<LowLevel>> {
    operations(graph).filter(|op| written_field(program, graph, op).is_some())
}

/// The class and the field that an operation writes, if the class calls it immutable.
fn written_field(
    program: &dyn JitProgram,
    graph: &LLGraph,
    op: &Operation<LowLevel>,
) -> Option<(ObjId, Arc<str>)> {
    if op.op != PlainOp::Setfield.into() {
        return None;
    }
    let name = field_name(op.args.get(1)).filter(|name| name.starts_with("inst_"))?;
    let container = operand_ty(graph, op.args.first()?).pointee()?;
    let class = instance_of(container)?;
    let holds_nothing = operand_ty(graph, op.args.get(2)?).is_void();
    (!holds_nothing && is_immutable_field(program, container, name)).then(|| (class, name.into()))
}

fn instance_of(container: LLType) -> Option<ObjId> {
    match container.as_struct()?.id {
        StructId::Instance(class) => Some(class),
        _ => None,
    }
}

/// A function writes a field of one of its arguments, in callees at the latest.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Passed {
    class: ObjId,
    field: Arc<str>,
    place: (FuncSym, u32),
    function: FuncSym,
    argument: usize,
    /// An interpreter may have run since it was entered.
    ran: bool,
}

/// The functions that are only called before the first interpreter runs.
fn early(analysis: &mut Analysis<'_>, entries: &[FuncSym]) -> FxHashSet<FuncSym> {
    let mut early: FxHashSet<FuncSym> = FxHashSet::default();
    let mut late: FxHashSet<FuncSym> = FxHashSet::default();
    let mut pending: Vec<(FuncSym, bool)> = entries.iter().map(|f| (f.clone(), false)).collect();
    while let Some((f, ran)) = pending.pop() {
        let known = if ran { &mut late } else { &mut early };
        if !known.insert(f.clone()) {
            continue;
        }
        if let Some(facts) = analysis.facts(&f) {
            for call in &facts.calls {
                let ran = ran || call.ran;
                pending.extend(call.targets.iter().map(|f| (f.clone(), ran)));
            }
        }
    }
    early.retain(|f| !late.contains(f));
    early
}

/// From writes back to where the objects come from.
struct Search<'p> {
    analysis: Analysis<'p>,
    early: FxHashSet<FuncSym>,
    callers: FxHashMap<FuncSym, Vec<FuncSym>>,
    found: Vec<LateWrite>,
    pending: VecDeque<Passed>,
    seen: FxHashSet<Passed>,
}

impl Search<'_> {
    /// The writes of a function itself.
    fn own_writes(&mut self, f: &FuncSym) {
        let Some(facts) = self.analysis.facts(f) else {
            return;
        };
        let early = self.early.contains(f);
        for (class, field, at, used) in &facts.writes {
            if early && !used.ran {
                continue;
            }
            let write = Passed {
                class: *class,
                field: field.clone(),
                place: (f.clone(), *at),
                function: f.clone(),
                argument: 0,
                ran: false,
            };
            if used.known {
                self.is_late(&write, None);
            }
            for argument in &used.arguments {
                self.writes_argument(Passed {
                    argument: *argument,
                    ran: used.ran,
                    ..write.clone()
                });
            }
        }
    }

    /// Looks at all calls of a function that writes to an argument.
    fn passed_on(&mut self, passed: &Passed) {
        let callers = self.callers.get(&passed.function).cloned();
        for caller in callers.into_iter().flatten() {
            let Some(facts) = self.analysis.facts(&caller) else {
                continue;
            };
            let calls = facts.calls.iter();
            let early = self.early.contains(&caller) && !passed.ran;
            for call in calls.filter(|c| c.targets.contains(&passed.function)) {
                if early && !call.ran {
                    continue;
                }
                let Some(used) = call.arguments.get(passed.argument) else {
                    continue;
                };
                if used.known || (used.shared && passed.ran) {
                    self.is_late(
                        passed,
                        Some((caller.clone(), call.at, passed.function.clone())),
                    );
                }
                for argument in &used.arguments {
                    self.writes_argument(Passed {
                        function: caller.clone(),
                        argument: *argument,
                        ran: passed.ran || used.ran,
                        ..passed.clone()
                    });
                }
            }
        }
    }

    fn writes_argument(&mut self, passed: Passed) {
        if self.seen.insert(passed.clone()) {
            self.pending.push_back(passed);
        }
    }

    fn is_late(&mut self, write: &Passed, call: Option<(FuncSym, u32, FuncSym)>) {
        let same = |w: &LateWrite| {
            w.class == write.class && w.field == write.field && w.place == write.place
        };
        if !self.found.iter().any(same) {
            self.found.push(LateWrite {
                class: write.class,
                field: write.field.clone(),
                place: write.place.clone(),
                call,
            });
        }
    }
}
