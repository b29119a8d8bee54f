//! What a function does with objects by itself: its graph without all that does not matter here.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_graph::{ObjId, Operation, VarId};
use taipan_lltype::{
    FuncSym, LLConst, LLGraph, LLOp, LLOperand, LowLevel, NamedOperands, PlainOp, Program, View,
};

use super::{operations, written_field};
use crate::drivers::{has_markers, marker_kind};
use crate::hints::{Hint, hint_of};
use crate::purity::{call_targets, handed_on, operand_ty};

/// What a function does with objects, as far as its own graph tells: what its calls do is left
/// open. Most edits of a function leave it as it is.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ObjectFlow {
    /// A marker of a driver stands in it.
    pub(super) marked: bool,
    /// How many arguments it has.
    pub(super) arguments: usize,
    /// Where objects come from.
    pub(super) sites: Vec<Site>,
    /// Number of variables.
    pub(super) vars: usize,
    /// What the variables of arguments hold at the beginning: variable and site.
    pub(super) given: Vec<(u32, u32)>,
    /// The first one is the start.
    pub(super) blocks: Vec<FlowBlock>,
    /// The block in which it returns, and what.
    pub(super) returned: Option<(u32, Value)>,
    pub(super) writes: Vec<Write>,
    pub(super) calls: Vec<Call>,
}

/// Where an object comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Site {
    /// An argument of the function.
    Argument(u32),
    /// The newest object of an allocation, or of a call that returns a new object.
    New,
    /// The older objects of the preceding site (recency abstraction: Balakrishnan and Reps, 2006).
    Older,
}

/// What an operand may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Value {
    /// What a variable may be.
    Var(u32),
    /// No object.
    Nothing,
    /// Any object.
    Unknown,
}

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct FlowBlock {
    /// Variables that it is entered with.
    pub(super) inputs: Vec<u32>,
    pub(super) steps: Vec<Step>,
    pub(super) exits: Vec<FlowExit>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct FlowExit {
    pub(super) target: u32,
    /// Values, and the variables that they go on in.
    pub(super) passed: Vec<(Value, u32)>,
}

/// What is done in a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// An object is made: its variable and its site.
    Make(u32, u32),
    /// Compiled code knows an object.
    Promote(Value),
    /// Objects are put somewhere.
    Share(Vec<Value>),
    /// An interpreter runs.
    Run,
    /// A field is written: the number of a [`Write`].
    Write(u32),
    /// The number of a [`Call`].
    Call(u32),
}

/// A write to a field that the class calls immutable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Write {
    pub(super) class: ObjId,
    pub(super) field: Arc<str>,
    pub(super) at: u32,
    pub(super) object: Value,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Call {
    /// The functions that it may reach; none if unknown.
    pub(super) targets: Option<Box<[FuncSym]>>,
    pub(super) at: u32,
    pub(super) arguments: Vec<Value>,
    /// The variable of an object that it returns, and the site of one that it makes.
    pub(super) result: Option<(u32, u32)>,
}

impl ObjectFlow {
    /// What a function does with objects.
    pub fn new(program: &dyn Program, graph: &LLGraph) -> ObjectFlow {
        let mut reader = Reader {
            program,
            graph,
            values: FxHashMap::default(),
            flow: ObjectFlow {
                marked: has_markers(graph),
                arguments: graph.args().len(),
                ..ObjectFlow::default()
            },
        };
        reader.read();
        reader.flow
    }

    /// Whether a marker of a driver stands in the function.
    pub fn is_marked(&self) -> bool {
        self.marked
    }

    /// The functions that it calls, each as often as it is called.
    pub(super) fn callees(&self) -> impl Iterator<Item = &FuncSym> {
        self.calls
            .iter()
            .flat_map(|c| c.targets.iter().flat_map(|t| t.iter()))
    }
}

struct Reader<'a> {
    program: &'a dyn Program,
    graph: &'a LLGraph,
    /// What variables are that hold objects. Those that are not there hold anything.
    values: FxHashMap<VarId, Value>,
    flow: ObjectFlow,
}

impl Reader<'_> {
    fn read(&mut self) {
        let graph = self.graph;
        let order = graph.reachable();
        for b in &order {
            for v in &graph.block(*b).inputargs {
                if graph.ty(*v).is_gc_ptr() {
                    self.new_var(*v);
                }
            }
        }
        for (i, v) in graph.args().iter().enumerate() {
            if let Some(Value::Var(var)) = self.values.get(v).copied() {
                let site = self.argument(i as u32);
                self.flow.given.push((var, site));
            }
        }
        for op in operations(graph) {
            if graph.ty(op.result).is_gc_ptr() && makes_objects(op) {
                self.new_var(op.result);
            }
        }
        // What goes on under another name is the same; operations come after those whose
        // results they take, but for loops, where it is a block's input.
        for op in operations(graph) {
            if graph.ty(op.result).is_gc_ptr()
                && let Some(value) = handed_on(op)
            {
                let value = self.value(value);
                self.values.insert(op.result, value);
            }
        }
        let number: FxHashMap<_, u32> = (order.iter().copied()).zip(0..).collect();
        for b in &order {
            let block = graph.block(*b);
            let mut out = FlowBlock::default();
            for v in &block.inputargs {
                if let Some(Value::Var(var)) = self.values.get(v) {
                    out.inputs.push(*var);
                }
            }
            for op in &block.operations {
                self.operation(op, &mut out.steps);
            }
            for link in &block.exits {
                let inputs = &graph.block(link.target).inputargs;
                let pairs = link.args.iter().zip(inputs);
                let passed = pairs.filter_map(|(arg, input)| {
                    let Some(Value::Var(input)) = self.values.get(input).copied() else {
                        return None;
                    };
                    let value = self.value(arg);
                    (value != Value::Nothing).then_some((value, input))
                });
                out.exits.push(FlowExit {
                    target: number[&link.target],
                    passed: passed.collect(),
                });
            }
            self.flow.blocks.push(out);
        }
        if let Some(b) = number.get(&graph.returnblock) {
            let returned = self.value(&LLOperand::Var(graph.returnvar()));
            self.flow.returned = Some((*b, returned));
        }
    }

    fn new_var(&mut self, v: VarId) {
        let number = self.flow.vars as u32;
        self.flow.vars += 1;
        self.values.insert(v, Value::Var(number));
    }

    fn argument(&mut self, i: u32) -> u32 {
        self.flow.sites.push(Site::Argument(i));
        self.flow.sites.len() as u32 - 1
    }

    /// The site of the newest object. The site of the older objects is the next number.
    fn new_site(&mut self) -> u32 {
        self.flow.sites.extend([Site::New, Site::Older]);
        self.flow.sites.len() as u32 - 2
    }

    fn value(&self, o: &LLOperand) -> Value {
        if !operand_ty(self.graph, o).is_gc_ptr() {
            return Value::Nothing;
        }
        match o {
            LLOperand::Var(v) => self.values.get(v).copied().unwrap_or(Value::Unknown),
            LLOperand::Const(LLConst::Null(_)) => Value::Nothing,
            LLOperand::Const(_) => Value::Unknown,
        }
    }

    /// The variable of a result, if it is an object that may be made there.
    fn made(&self, op: &Operation<LowLevel>) -> Option<u32> {
        match self.values.get(&op.result) {
            Some(Value::Var(var)) if self.graph.ty(op.result).is_gc_ptr() => Some(*var),
            _ => None,
        }
    }

    fn operation(&mut self, op: &Operation<LowLevel>, steps: &mut Vec<Step>) {
        match op.view() {
            View::Unary { .. } | View::Binary { .. } => {}
            View::Malloc { .. } | View::MallocVarsize { .. } => {
                if let Some(var) = self.made(op) {
                    let site = self.new_site();
                    steps.push(Step::Make(var, site));
                }
            }
            View::DirectCall { args, .. } | View::IndirectCall { args, .. } => {
                self.call(op, args, steps);
            }
            View::SameAs { .. } | View::CastPointer { .. } | View::CastOpaquePtr { .. } => {}
            View::Hint { value, .. } => {
                let value = self.value(value);
                if hint_of(op) == Some(Hint::Promote) && matches!(value, Value::Var(_)) {
                    steps.push(Step::Promote(value));
                }
            }
            View::Setfield { object, value, .. } | View::BareSetfield { object, value, .. } => {
                if let Some((class, field)) = written_field(self.program, self.graph, op) {
                    self.flow.writes.push(Write {
                        class,
                        field,
                        at: op.at,
                        object: self.value(object),
                    });
                    steps.push(Step::Write(self.flow.writes.len() as u32 - 1));
                }
                self.share(std::slice::from_ref(value), steps);
            }
            // What these put somewhere goes where the first operand points.
            View::Setarrayitem { value, .. }
            | View::BareSetarrayitem { value, .. }
            | View::Setinteriorfield { value, .. }
            | View::BareSetinteriorfield { value, .. } => {
                self.share(std::slice::from_ref(value), steps);
            }
            View::Getfield { .. }
            | View::Getarrayitem { .. }
            | View::Getinteriorfield { .. }
            | View::Getarraysize { .. }
            | View::Getinteriorarraysize { .. }
            | View::PtrEq { .. }
            | View::PtrNe { .. }
            | View::PtrNonzero { .. }
            | View::PtrIszero { .. }
            | View::DebugAssert { .. }
            | View::Keepalive { .. } => {}
            other => {
                self.share(&op.args, steps);
                let runs = matches!(
                    other,
                    View::JitConditionalCall { .. } | View::JitConditionalCallValue { .. }
                );
                if runs || marker_kind(op).is_some() {
                    steps.push(Step::Run);
                }
            }
        }
    }

    fn share(&self, operands: &[LLOperand], steps: &mut Vec<Step>) {
        let values = operands.iter().map(|o| self.value(o));
        let values: Vec<Value> = values.filter(|v| matches!(v, Value::Var(_))).collect();
        if !values.is_empty() {
            steps.push(Step::Share(values));
        }
    }

    fn call(&mut self, op: &Operation<LowLevel>, args: &[LLOperand], steps: &mut Vec<Step>) {
        let result = self.made(op).map(|var| (var, self.new_site()));
        self.flow.calls.push(Call {
            targets: call_targets(op).map(Into::into),
            at: op.at,
            arguments: args.iter().map(|o| self.value(o)).collect(),
            result,
        });
        steps.push(Step::Call(self.flow.calls.len() as u32 - 1));
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
