//! The Python function of a graph: statements and expressions of its blocks.

use rustc_hash::FxHashMap;
use taipan_graph::{BlockId, IntKind, Operation, VarId};
use taipan_lltype::{
    EFFECT, LLConst, LLGraph, LLOperand, LLType, LowLevel, Program, RAISE, TypeKind, View,
};

use crate::expr::{Expr, UNARY};
use crate::names::{FunctionText, Line, Ref, Refs, bytes_literal, identifier};
use crate::operations::Made;
use crate::shape::Shape;
use crate::types::zero;

/// Why an operation has no Python.
pub(crate) type Bad = String;

/// A graph that Python cannot be made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsupported {
    /// Why not.
    pub message: String,
    /// The instruction that it is about.
    pub at: u32,
}

/// Expressions longer than this get a variable.
const LONG: usize = 100;

/// Makes the Python function of a graph.
///
/// # Errors
/// An operation that Python does not have.
pub fn function_text(graph: &LLGraph, program: &dyn Program) -> Result<FunctionText, Unsupported> {
    let mut writer = Writer {
        shape: Shape::new(graph),
        program,
        refs: Refs::default(),
        pending: Vec::new(),
        labels: FxHashMap::default(),
        problem: None,
    };
    let args = graph.args().iter().filter(|v| !graph.ty(**v).is_void());
    let parameters = args.map(|v| writer.name(*v)).collect();
    let lines = writer.body();
    match writer.problem {
        Some(problem) => Err(problem),
        None => Ok(FunctionText {
            parameters,
            lines,
            refs: writer.refs.all,
        }),
    }
}

/// Makes the text of a graph.
pub(crate) struct Writer<'a> {
    pub(crate) shape: Shape<'a>,
    pub(crate) program: &'a dyn Program,
    pub(crate) refs: Refs,
    /// Expressions that are written where they are used.
    pending: Vec<(VarId, Expr)>,
    /// Numbers of blocks that are jumped to by number.
    pub(crate) labels: FxHashMap<BlockId, usize>,
    pub(crate) problem: Option<Unsupported>,
}

impl Writer<'_> {
    pub(crate) fn graph(&self) -> &LLGraph {
        self.shape.graph
    }

    /// The name of a variable.
    pub(crate) fn name(&self, v: VarId) -> String {
        let name = &self.graph().vars[v.index()].name;
        match name.is_empty() {
            true => format!("v{}", v.0),
            false => format!("{}_{}", identifier(name), v.0),
        }
    }

    pub(crate) fn ty(&self, o: &LLOperand) -> LLType {
        match o {
            LLOperand::Var(v) => *self.graph().ty(*v),
            LLOperand::Const(c) => c.ty(),
        }
    }

    /// The class of a struct type.
    pub(crate) fn class(&mut self, ty: LLType) -> String {
        self.refs.to(Ref::Class(ty))
    }

    /// What an operand is; an expression that was waiting for its use is written here.
    pub(crate) fn operand(&mut self, o: &LLOperand) -> Expr {
        match self.shape.resolve(o) {
            LLOperand::Var(v) => {
                if let Some(i) = self.pending.iter().position(|(p, _)| *p == v) {
                    return self.pending.remove(i).1;
                }
                Expr::atom(self.name(v))
            }
            LLOperand::Const(c) => constant(&c, &mut self.refs),
        }
    }

    /// The statements of a block, without what follows at its end.
    pub(crate) fn statements(&mut self, b: BlockId, out: &mut Vec<Line>) {
        let block = self.shape.graph.block(b);
        let count = block.operations.len() - usize::from(block.canraise());
        for op in &block.operations[..count] {
            self.statement(op, out);
        }
    }

    fn statement(&mut self, op: &Operation<LowLevel>, out: &mut Vec<Line>) {
        let Some(made) = self.made(op) else { return };
        let result = op.result;
        let void = self.graph().ty(result).is_void();
        let effect = op.op.flags() & (EFFECT | RAISE) != 0;
        let text = match made {
            Made::Nothing => return,
            Made::Statement(text) => text,
            Made::Passed(value) if self.shape.is_used_once_there(result) => {
                self.pending.push((result, value));
                return;
            }
            Made::Value(value)
                if !effect && self.shape.is_used_once_there(result) && value.text.len() < LONG =>
            {
                self.pending.push((result, value));
                return;
            }
            Made::Passed(_) if void || self.shape.uses(result) == 0 => return,
            Made::Value(_) if !effect && (void || self.shape.uses(result) == 0) => return,
            Made::Value(value) if void || self.shape.uses(result) == 0 => value.text,
            Made::Passed(value) | Made::Value(value) => {
                format!("{} = {}", self.name(result), value.text)
            }
        };
        if effect {
            self.flush(out, op.at);
        }
        out.push(Line {
            indent: 0,
            text,
            at: Some(op.at),
        });
    }

    /// What an operation is; none, with a note of the problem, if Python has nothing like it.
    pub(crate) fn made(&mut self, op: &Operation<LowLevel>) -> Option<Made> {
        let result = *self.graph().ty(op.result);
        let made = match View::of(op.op, &op.args) {
            Some(view) => self.operation(view, result),
            None => Err(format!("{} of {} operands", op.op, op.args.len())),
        };
        match made {
            Ok(made) => Some(made),
            Err(message) => {
                let at = op.at;
                self.problem.get_or_insert(Unsupported { message, at });
                None
            }
        }
    }

    /// Gives variables to expressions that read memory, before it changes.
    pub(crate) fn flush(&mut self, out: &mut Vec<Line>, at: u32) {
        let pending = std::mem::take(&mut self.pending);
        let (reading, others) = pending.into_iter().partition(|(_, e)| e.reads);
        self.pending = others;
        let reading: Vec<(VarId, Expr)> = reading;
        for (v, e) in reading {
            let text = format!("{} = {}", self.name(v), e.text);
            out.push(Line {
                indent: 0,
                text,
                at: Some(at),
            });
        }
    }

    /// The last operation of a block that catches exceptions, as a statement.
    pub(crate) fn raising(&mut self, b: BlockId, out: &mut Vec<Line>) -> Option<Line> {
        let op = self.shape.graph.block(b).operations.last()?;
        let made = self.made(op)?;
        self.flush(out, op.at);
        let unused = self.graph().ty(op.result).is_void() || self.shape.uses(op.result) == 0;
        let text = match made {
            Made::Nothing => "pass".to_owned(),
            Made::Statement(text) => text,
            Made::Value(e) | Made::Passed(e) if unused => e.text,
            Made::Value(e) | Made::Passed(e) => format!("{} = {}", self.name(op.result), e.text),
        };
        Some(Line {
            indent: 0,
            text,
            at: Some(op.at),
        })
    }

    /// Expressions that wait, for what is tried in two ways.
    pub(crate) fn pending(&self) -> Vec<(VarId, Expr)> {
        self.pending.clone()
    }

    pub(crate) fn set_pending(&mut self, pending: Vec<(VarId, Expr)>) {
        self.pending = pending;
    }
}

/// A constant.
pub(crate) fn constant(c: &LLConst, refs: &mut Refs) -> Expr {
    let number = |v: i128| match v < 0 {
        true => Expr::new(v.to_string(), UNARY),
        false => Expr::atom(v.to_string()),
    };
    match c {
        LLConst::Void(_) => Expr::atom("None"),
        LLConst::Bool(b) => Expr::atom(if *b { "True" } else { "False" }),
        // The compiler of Python makes a number of it.
        LLConst::Char(c) if matches!(c, b' '..=b'~') => {
            Expr::atom(format!("{}[0]", bytes_literal(&[*c])))
        }
        LLConst::Char(c) => number(i128::from(*c)),
        LLConst::UniChar(c) => number(i128::from(*c)),
        // What is beyond the greatest signed number is kept as a negative one.
        LLConst::Int(
            IntKind {
                signed: false,
                bits: 128,
            },
            v,
        ) => Expr::atom((v.get() as u128).to_string()),
        LLConst::Int(_, v) => number(v.get()),
        LLConst::Float(bits) => float(f64::from_bits(*bits)),
        LLConst::SingleFloat(bits) => float(f64::from(f32::from_bits(*bits))),
        LLConst::Null(t) => Expr::atom(zero(*t)),
        LLConst::Func(f) => Expr::atom(refs.to(Ref::Func(f.clone()))),
        LLConst::Static(s, _) => Expr::atom(refs.to(Ref::Static((**s).clone()))),
    }
}

fn float(f: f64) -> Expr {
    if f.is_nan() {
        return Expr::atom(format!("float_of_bits({:#x})", f.to_bits()));
    }
    if f.is_infinite() {
        return Expr::atom(if f > 0.0 {
            "INFINITY"
        } else {
            "MINUS_INFINITY"
        });
    }
    match f.is_sign_negative() {
        true => Expr::new(format!("{f:?}"), UNARY),
        false => Expr::atom(format!("{f:?}")),
    }
}

/// Whether calls of a type return something.
pub(crate) fn returns_nothing(ty: LLType) -> bool {
    *ty.kind() == TypeKind::Void
}
