//! Costs in the residual code of a unit, for the log: each with its source line, its location in the interpreted
//! program, and its loop.
//!
//! ```text
//! block1(i):                      loop 0
//!     # main 8: load              location of the operations below
//!     call f(x)                   in each round: it dominates the back edge
//!     switch c
//!         True: block2(i)
//! block2(i):
//!     call g(x)                   in some rounds
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};
use taipan_graph::{
    Block, BlockId, Dominators, ExitSwitch, Loop, Operation, VarId, find_loops,
    remove_identical_vars_ssa,
};
use taipan_jit::{JitProgram, Note, StaysCall, Word, portal_of, rest_of, runner_of, type_name};
use taipan_lltype::{
    BOOL, Called, CodePlace, ConstantOperand, FuncKind, FuncSym, LLConst, LLGraph, LLOperand,
    LLType, LowLevel, NamedOperands, PlainOp, StructId, View, VoidConst,
};
use taipan_transform::{CallAccess, CallFacts, Part};

/// Maximum number of possible callees that the log names per call.
const MOST_TARGETS: usize = 4;

/// Context of a unit that its graph does not have.
pub(crate) trait About {
    /// The note that an operation refers to.
    fn note(&self, op: &Operation<LowLevel>) -> Option<Note>;

    /// The source instruction of an operation.
    fn origin(&self, op: &Operation<LowLevel>) -> Option<CodePlace>;

    /// Printable location of the greens of a merge point.
    fn location(&mut self, portal: &FuncSym, greens: &[Word]) -> String;
}

/// Costs of a unit.
#[derive(Default)]
pub(crate) struct Costs {
    /// For each loop: its header, and its number of operations without those of inner loops.
    pub(crate) loops: Vec<(BlockId, usize)>,
    /// The number of operations outside of loops.
    pub(crate) outside: usize,
    /// The calls.
    pub(crate) calls: Vec<Value>,
    /// Allocations.
    pub(crate) objects: Vec<Value>,
    /// Reads of fields of instances.
    pub(crate) reads: Vec<Value>,
}

/// Entries with multiplicities.
type Counted = BTreeMap<String, (usize, Map<String, Value>)>;

struct Analysis<'a> {
    graph: &'a LLGraph,
    program: &'a dyn JitProgram,
    facts: &'a dyn CallFacts,
    dominators: Dominators,
    loops: Vec<Loop>,
    /// By block: the innermost loop.
    inside: FxHashMap<BlockId, usize>,
    definitions: FxHashMap<VarId, &'a Operation<LowLevel>>,
    /// Values that would be known if all classes declared `_immutable_fields_`, each with the undeclared field that it
    /// depends on.
    follows: FxHashMap<VarId, KnownField>,
}

/// A field that is only written while its object is constructed.
#[derive(Clone)]
struct KnownField {
    class: Arc<str>,
    name: Arc<str>,
    /// The class declares it in `_immutable_fields_`.
    immutable: bool,
    list: bool,
    /// It is a list whose length changes.
    resized: bool,
    /// Its value is an object, not a number or a string.
    deep: bool,
}

impl KnownField {
    /// A read of the field from an object that is known, or would be.
    fn entry(&self, known: bool, follows: bool) -> Value {
        json!({
            "class": &*self.class,
            "field": &*self.name,
            "immutable": self.immutable,
            "known": known,
            "follows": follows,
            "list": self.list,
            "resized": self.resized,
            "deep": self.deep,
        })
    }
}

impl Costs {
    /// Finds them in a unit.
    pub(crate) fn new(
        graph: &LLGraph,
        program: &dyn JitProgram,
        facts: &dyn CallFacts,
        about: &mut dyn About,
    ) -> Costs {
        let mut ssa = graph.clone();
        remove_identical_vars_ssa(&mut ssa);
        let graph = &ssa;
        let order = graph.reachable();
        let dominators = Dominators::new(graph);
        let loops = find_loops(graph);
        let mut inside: FxHashMap<BlockId, usize> = FxHashMap::default();
        for (i, l) in loops.iter().enumerate() {
            for b in &l.blocks {
                let innermost = inside.entry(*b).or_insert(i);
                if loops[*innermost].blocks.len() > l.blocks.len() {
                    *innermost = i;
                }
            }
        }
        let operations = order.iter().flat_map(|b| &graph.block(*b).operations);
        let mut analysis = Analysis {
            graph,
            program,
            facts,
            definitions: operations.map(|op| (op.result, op)).collect(),
            follows: FxHashMap::default(),
            dominators,
            loops,
            inside,
        };
        analysis.run(&order, about)
    }
}

impl Analysis<'_> {
    fn run(&mut self, order: &[BlockId], about: &mut dyn About) -> Costs {
        let mut costs = Costs {
            loops: self.loops.iter().map(|l| (l.header, 0)).collect(),
            ..Costs::default()
        };
        let mut lists: [Counted; 3] = Default::default();
        // By block: the last merge point before it.
        let mut locations: FxHashMap<BlockId, String> = FxHashMap::default();
        // By block: notes whose allocation has not been seen yet. It may have been removed.
        let mut noted: FxHashMap<BlockId, Vec<(LLType, String)>> = FxHashMap::default();
        // Dominators come first.
        for b in order.iter().copied() {
            if self.is_left(b) {
                continue;
            }
            let before = self.dominators.immediate(b);
            let mut location =
                (before.and_then(|d| locations.get(&d)).cloned()).unwrap_or_default();
            let mut forced = (before.and_then(|d| noted.get(&d)).cloned()).unwrap_or_default();
            for op in &self.graph.block(b).operations {
                let mut found = None;
                match about.note(op) {
                    Some(Note::MergePoint { portal, greens }) => {
                        location = about.location(&portal, &greens);
                        continue;
                    }
                    Some(Note::Forced { ty, why }) => forced.push((ty, why)),
                    None => {
                        let count = match self.inside.get(&b) {
                            Some(l) => &mut costs.loops[*l].1,
                            None => &mut costs.outside,
                        };
                        *count += usize::from(crate::log::does_something(op.op));
                    }
                }
                match op.view() {
                    View::DirectCall { .. } | View::IndirectCall { .. } => {
                        found = self.call(op).map(|call| (0, call));
                    }
                    View::Malloc { .. } | View::MallocVarsize { .. } => {
                        let ty = self.graph.ty(op.result).pointee();
                        let noted = forced.iter().rposition(|f| Some(f.0) == ty);
                        let why = noted.map(|i| forced.remove(i).1);
                        found = Some((1, json!({"type": ty.map(type_name), "why": why})));
                    }
                    _ => {}
                }
                if found.is_none() {
                    found = self.read(op).map(|read| (2, read));
                }
                if let Some((list, Value::Object(mut entry))) = found {
                    self.place(b, about.origin(op), &mut entry);
                    let key = Value::Object(entry.clone()).to_string();
                    entry.insert("location".to_owned(), location.clone().into());
                    lists[list].entry(key).or_insert((0, entry)).0 += 1;
                }
            }
            locations.insert(b, location);
            noted.insert(b, forced);
        }
        let [calls, objects, reads] = lists.map(|list| {
            let entries = list.into_values().map(|(count, mut entry)| {
                entry.insert("count".to_owned(), count.into());
                Value::Object(entry)
            });
            entries.collect()
        });
        Costs {
            calls,
            objects,
            reads,
            ..costs
        }
    }

    /// Whether a block is the fallback to the interpreter, taken while the callee is not compiled.
    fn is_left(&self, b: BlockId) -> bool {
        let calls_portal = |op: &Operation<LowLevel>| match op.view().call().map(|c| c.callee) {
            Some(LLOperand::Const(LLConst::Func(f))) => portal_called(f).is_some(),
            _ => false,
        };
        let asks = self
            .dominators
            .immediate(b)
            .map(|d| &self.graph.block(d).exitswitch);
        let Some(ExitSwitch::Value(on)) = asks else {
            return false;
        };
        matches!(self.definition(on), Some(View::StackCheck {}))
            && self.graph.block(b).operations.iter().any(calls_portal)
    }

    /// Source line and loop of an operation.
    fn place(&self, b: BlockId, origin: Option<CodePlace>, entry: &mut Map<String, Value>) {
        if let Some(place) = origin {
            if let Some(at) = self.program.line(&place) {
                entry.insert("file".to_owned(), (&*at.file).into());
                entry.insert("line".to_owned(), at.line.into());
            }
            let f = portal_of(&place.func).unwrap_or(&place.func);
            entry.insert("function".to_owned(), f.name().into());
        }
        if let Some(number) = self.inside.get(&b) {
            let back = &self.loops[*number].back_links;
            let each = back.iter().all(|l| self.dominators.dominates(b, l.source));
            entry.insert("loop".to_owned(), (*number).into());
            entry.insert("each_round".to_owned(), each.into());
        }
    }

    fn definition(&self, o: &LLOperand) -> Option<View<'_, LLOperand>> {
        Some(self.definitions.get(&o.as_var()?)?.view())
    }

    /// Records a call, unless it enters compiled code.
    fn call(&self, op: &Operation<LowLevel>) -> Option<Value> {
        let Called {
            callee,
            args,
            targets,
            ..
        } = op.view().call()?;
        let LLOperand::Const(LLConst::Func(f)) = callee else {
            if let Some(View::CastIntToPtr { .. }) = self.definition(callee) {
                return None;
            }
            let targets: &[FuncSym] = match targets {
                Some(LLOperand::Const(LLConst::Void(VoidConst::Targets(targets)))) => targets,
                _ => &[],
            };
            let names: Vec<&str> = targets
                .iter()
                .take(MOST_TARGETS)
                .map(|f| f.name())
                .collect();
            return Some(json!({
                "callee": null,
                "why": "unknown",
                "targets": names,
                "target_count": targets.len(),
            }));
        };
        if let Some(portal) = portal_called(f) {
            return Some(json!({"callee": portal.name(), "why": "portal"}));
        }
        let why = match f.kind() {
            FuncKind::External { .. } => Some(StaysCall::External),
            _ => self.program.stays_call(f),
        };
        let valued = args.iter().filter(|a| !self.ty(a).is_void());
        let unknown: Vec<usize> = (valued.clone().enumerate())
            .filter(|(_, a)| a.as_var().is_some())
            .map(|(i, _)| i)
            .collect();
        let access = self.facts.access(f, Part::Other);
        let mut call = json!({
            "callee": f.name(),
            "why": why.map(StaysCall::name),
            "arguments": valued.count(),
            "unknown_arguments": unknown,
            "writes": access == CallAccess::Writes,
            "helper": matches!(f.kind(), FuncKind::Helper { .. }),
        });
        if let (Some(at), Value::Object(call)) = (self.program.loop_line(f), &mut call) {
            call.insert("loop_file".to_owned(), (&*at.file).into());
            call.insert("loop_line".to_owned(), at.line.into());
        }
        Some(call)
    }

    /// Records a read that immutable fields would make unnecessary: of a field, or of an item of a field's value.
    fn read(&mut self, op: &Operation<LowLevel>) -> Option<Value> {
        let constant = |o: &LLOperand| o.as_var().is_none();
        let (object, field) = match op.view() {
            View::Getfield { object, field } => (object, field.as_field()?),
            View::Getarrayitem { array, index } if constant(index) => (array, ""),
            View::Getinteriorfield { object, path } if path.iter().all(constant) => (object, ""),
            View::Getarraysize { array } => (array, ""),
            View::Getinteriorarraysize { object, .. } => (object, ""),
            View::CastPointer { value } | View::SameAs { value } => {
                if let Some(field) = self.would_be_known(value).flatten() {
                    self.follows.insert(op.result, field);
                }
                return None;
            }
            _ => return None,
        };
        let known = self.would_be_known(object);
        let container = self.ty(object).pointee()?;
        let of = (container.as_struct())
            .filter(|s| matches!(s.id, StructId::Instance(_)) && !field.is_empty());
        let Some(of) = of else {
            // Items of a list, characters of a string.
            let from = known.flatten()?;
            self.follows.insert(op.result, from.clone());
            return Some(from.entry(false, true));
        };
        let name = field.strip_prefix("inst_")?;
        let body = self.program.body(of);
        let said = |all: &[Arc<str>]| all.iter().any(|f| **f == *field);
        let immutable = said(&body.immutable) || said(&body.quasi_immutable);
        if !immutable && !self.program.is_settled(&of.id, field) {
            return None;
        }
        let item = self.graph.ty(op.result).pointee();
        let resized =
            (item.and_then(LLType::as_struct)).is_some_and(|s| s.name.starts_with("list"));
        let list = resized || item.is_some_and(|ty| ty.as_array().is_some());
        let instance = item
            .and_then(LLType::as_struct)
            .is_some_and(|s| matches!(s.id, StructId::Instance(_)));
        let own = KnownField {
            class: of.name.clone(),
            name: name.into(),
            immutable,
            list,
            resized,
            deep: list || instance,
        };
        if let Some(from) = &known {
            let from = from.as_ref().filter(|_| immutable).unwrap_or(&own);
            self.follows.insert(op.result, from.clone());
        }
        Some(own.entry(constant(object), known.is_some()))
    }

    /// Whether an object is known, or would be if all classes declared `_immutable_fields_`; in the second case the
    /// undeclared field.
    fn would_be_known(&self, o: &LLOperand) -> Option<Option<KnownField>> {
        match o.as_var() {
            None => Some(None),
            Some(v) => self.follows.get(&v).cloned().map(Some),
        }
    }

    fn ty(&self, o: &LLOperand) -> LLType {
        match o {
            LLOperand::Var(v) => *self.graph.ty(*v),
            LLOperand::Const(c) => c.ty(),
        }
    }
}

/// The portal that a runner or entry function calls.
fn portal_called(f: &FuncSym) -> Option<&FuncSym> {
    portal_of(runner_of(f).or_else(|| rest_of(f)).unwrap_or(f))
}

/// Inserts counters for the rounds of loops: one of `words` per header, counted down.
pub(crate) fn count_rounds(graph: &mut LLGraph, loops: &[(BlockId, usize)], words: &[usize]) {
    for ((header, _), word) in loops.iter().zip(words) {
        let counter = LLOperand::Const(LLConst::signed(*word as i64));
        let result = graph.new_var("", *BOOL);
        let op = View::JitCount { counter: &counter }.operation(result, 0);
        graph.block_mut(*header).operations.insert(0, op);
    }
}

/// Whether an operation is a counter of the log.
pub(crate) fn is_tally(block: &Block<LowLevel>, op: &Operation<LowLevel>) -> bool {
    let on = ExitSwitch::Value(LLOperand::Var(op.result));
    op.op == PlainOp::JitCount.into() && block.exitswitch != on
}
