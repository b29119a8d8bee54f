//! The code of a graph.
//!
//! An operation whose result is used once, in the block that has it, is written where the result is used, if nothing
//! in between can change it: those that read memory are written out before the next operation with an effect.

mod arith;
mod convert;
mod memory;
mod ops;
mod wide;

pub(crate) use memory::{new_object, zero};
pub(crate) use wide::is_wide;

use std::ops::Range;

use taipan_graph::{BlockId, ExitSwitch, Operation, VarId, remove_identical_vars_ssa};
use taipan_lltype::{EFFECT, LLConst, LLType, Program, RAISE, READ, StaticSym, TypeKind};
use taipan_ootype::{
    Lack, OOGraph, OOOperand, OOType, ObjectOriented, Place, Unsupported, member, type_of,
};
use wasm_encoder::ValType;

use crate::code::{Ins, body, place};
use crate::control::Frame;
use crate::symbols::{FunctionCode, Global, Symbols, TypeSym};
use crate::types::{Numbers, heap_type, val_types};

/// Makes the code of a graph. `ty` is the function's type.
///
/// # Errors
/// Functions that the host does not have, and the first operation or variable that WebAssembly has nothing for.
pub fn function_code(
    graph: &OOGraph,
    ty: LLType,
    program: &dyn Program,
) -> Result<FunctionCode, Vec<Unsupported>> {
    let mut graph = graph.clone();
    remove_identical_vars_ssa(&mut graph);
    let mut emitter = Emitter::new(&graph, program);
    match emitter.function() {
        Ok(params) if emitter.found.is_empty() => {
            let number = emitter.symbols.ty(TypeSym::Function(ty));
            let code = std::mem::take(&mut emitter.out);
            let bytes = body(code, &emitter.local_types, params);
            Ok(emitter.symbols.code(number, bytes))
        }
        Ok(_) => Err(emitter.found),
        Err(lack) => {
            emitter.lacks(lack);
            Err(emitter.found)
        }
    }
}

/// A value that is written where it is used.
#[derive(Clone)]
pub(crate) struct Pending {
    var: VarId,
    code: Vec<Ins>,
    /// It reads memory.
    reads: bool,
}

/// A function in the making.
pub(crate) struct Emitter<'a> {
    pub(crate) graph: &'a OOGraph,
    pub(crate) program: &'a dyn Program,
    pub(crate) symbols: Symbols,
    pub(crate) out: Vec<Ins>,
    /// The local of each variable that has one.
    locals: Vec<Option<u32>>,
    pub(crate) local_types: Vec<ValType>,
    /// Variables that are constants.
    constants: Vec<Option<Ins>>,
    /// How often each variable is used, and whether only in the block that defines it.
    uses: Vec<u32>,
    is_local: Vec<bool>,
    pending: Vec<Pending>,
    /// The instruction that code is made for.
    at: u32,
    found: Vec<Unsupported>,
    /// The constructs that enclose the current place, outermost first.
    pub(crate) frames: Vec<Frame>,
    /// The local that says which block is next, where blocks are dispatched.
    pub(crate) next: Option<u32>,
    /// The frame's share of [`Global::Depth`]; 0 if it does not count itself.
    frame_size: i32,
}

impl<'a> Emitter<'a> {
    fn new(graph: &'a OOGraph, program: &'a dyn Program) -> Self {
        let mut emitter = Emitter {
            graph,
            program,
            symbols: Symbols::default(),
            out: Vec::new(),
            locals: vec![None; graph.vars.len()],
            local_types: Vec::new(),
            constants: vec![None; graph.vars.len()],
            uses: vec![0; graph.vars.len()],
            is_local: vec![true; graph.vars.len()],
            pending: Vec::new(),
            at: 0,
            found: Vec::new(),
            frames: Vec::new(),
            next: None,
            frame_size: 0,
        };
        emitter.count_uses();
        emitter
    }

    fn count_uses(&mut self) {
        let graph = self.graph;
        let mut home = vec![None; graph.vars.len()];
        let order = graph.reachable();
        for b in &order {
            for op in &graph.block(*b).operations {
                home[op.result.index()] = Some(*b);
            }
        }
        for b in &order {
            let block = graph.block(*b);
            let of_operations = block.operations.iter().flat_map(|op| &op.args);
            let switch = match &block.exitswitch {
                ExitSwitch::Value(o) => Some(o),
                ExitSwitch::None | ExitSwitch::LastException => None,
            };
            let passed = block.exits.iter().flat_map(|l| &l.args);
            for o in of_operations.chain(switch).chain(passed) {
                if let OOOperand::Var(v) = o {
                    self.uses[v.index()] += 1;
                    self.is_local[v.index()] &= home[v.index()] == Some(*b);
                }
            }
        }
    }

    /// The whole function. Returns the number of its parameters.
    fn function(&mut self) -> Result<usize, Lack> {
        for v in self.graph.args() {
            self.local(*v)?;
        }
        let params = self.local_types.len();
        if self.checks_stack() {
            self.frame_size = frame_size(self.graph);
            self.add_depth(self.frame_size);
        }
        self.structured()?;
        self.out.push(Ins::Unreachable);
        Ok(params)
    }

    fn checks_stack(&self) -> bool {
        let is_check = |op: &Operation<ObjectOriented>| {
            op.op == taipan_ootype::OOOp::Low(taipan_lltype::PlainOp::StackCheck.into())
        };
        let blocks = self.graph.reachable();
        (blocks.iter()).any(|b| self.graph.block(*b).operations.iter().any(is_check))
    }

    fn add_depth(&mut self, by: i32) {
        let depth = self.symbols.global(Global::Depth);
        self.out.extend([
            Ins::GlobalGet(depth),
            Ins::I32Const(by),
            Ins::I32Add,
            Ins::GlobalSet(depth),
        ]);
    }

    /// Returns from the function; its result is on the stack.
    pub(crate) fn return_(&mut self) {
        if self.frame_size != 0 {
            self.add_depth(-self.frame_size);
        }
        self.out.push(Ins::Return);
    }

    /// The type of an operand.
    pub(crate) fn ty(&self, o: &OOOperand) -> OOType {
        type_of(self.graph, o)
    }

    /// The locals of a variable: one, two of 128 bits, none of a Void one.
    pub(crate) fn local(&mut self, v: VarId) -> Result<Range<u32>, Lack> {
        let types = val_types(*self.graph.ty(v), &mut self.symbols)?;
        let count = types.len() as u32;
        let first = match self.locals[v.index()] {
            Some(n) => n,
            None => {
                let n = self.local_types.len() as u32;
                self.local_types.extend(types);
                n
            }
        };
        self.locals[v.index()] = Some(first);
        Ok(first..first + count)
    }

    /// A new local.
    pub(crate) fn temporary(&mut self, ty: ValType) -> u32 {
        self.local_types.push(ty);
        self.local_types.len() as u32 - 1
    }

    /// The local that a variable is in already.
    pub(crate) fn local_of(&self, o: &OOOperand) -> Option<u32> {
        let v = o.as_var()?;
        self.locals[v.index()].filter(|_| self.constants[v.index()].is_none())
    }

    /// Pushes a value; nothing for Void.
    pub(crate) fn push(&mut self, o: &OOOperand) -> Result<(), Lack> {
        match o {
            OOOperand::Var(v) => {
                if let Some(i) = self.pending.iter().position(|p| p.var == *v) {
                    let code = self.pending.remove(i).code;
                    self.out.extend(code);
                    self.out.push(place(self.at));
                } else if let Some(ins) = &self.constants[v.index()] {
                    self.out.push(ins.clone());
                } else {
                    let locals = self.local(*v)?;
                    self.out.extend(locals.map(Ins::LocalGet));
                }
                Ok(())
            }
            OOOperand::Const(c) => self.constant(c),
        }
    }

    fn constant(&mut self, c: &LLConst) -> Result<(), Lack> {
        let ins = match c {
            LLConst::Void(_) => return Ok(()),
            LLConst::Static(s, _) => return self.data(s),
            LLConst::Func(f) => Ins::GlobalGet(self.symbols.global(Global::Method(f.clone()))),
            LLConst::Null(ty) => match OOType::of(*ty) {
                OOType::Raw(_) => return Err(Lack::Addresses),
                ty => Ins::RefNull(heap_type(ty, &mut self.symbols)),
            },
            LLConst::Int(k, v) if k.bits == 128 => {
                let (low, high) = (v.get() as i64, (v.get() >> 64) as i64);
                self.out.extend([Ins::I64Const(low), Ins::I64Const(high)]);
                return Ok(());
            }
            number => number_ins(number)?,
        };
        self.out.push(ins);
        Ok(())
    }

    /// A reference to prebuilt data, or to a part of it.
    fn data(&mut self, sym: &StaticSym) -> Result<(), Lack> {
        let root = sym.root().clone();
        let ty = self.program.static_data(&root).ty;
        let number = self.symbols.global(Global::Static(root));
        self.out.push(Ins::GlobalGet(number));
        if let StaticSym::Within(_, path) = sym {
            let code = path_code(ty, path, self.program, &mut self.symbols)?;
            self.out.extend(code);
        }
        Ok(())
    }

    /// The operations of a block, but for the last one of a block that checks for an overflow.
    pub(crate) fn operations(&mut self, b: BlockId) -> Result<(), Lack> {
        let block = self.graph.block(b);
        let count = block.operations.len() - usize::from(block.canraise());
        for op in &block.operations[..count] {
            self.at = op.at;
            self.operation(op)?;
        }
        Ok(())
    }

    /// Pushes the value of a type in cleared memory.
    pub(crate) fn default_of(&mut self, ty: OOType) -> Result<(), Lack> {
        if is_wide(ty) {
            self.out.extend([Ins::I64Const(0), Ins::I64Const(0)]);
        } else if ty != OOType::Void {
            let ins = zero(ty, &mut self.symbols)?;
            self.out.push(ins);
        }
        Ok(())
    }

    /// Notes that something is missing.
    pub(crate) fn lacks(&mut self, lack: Lack) {
        let at = self.at;
        self.found.push(Unsupported { lack, at });
    }

    /// Moves to the instruction of an operation.
    pub(crate) fn set_at(&mut self, at: u32) {
        self.at = at;
        self.out.push(place(at));
    }

    /// The values that are not written yet, for code that is made for one exit of a block.
    pub(crate) fn kept_pending(&self) -> Vec<Pending> {
        self.pending.clone()
    }

    /// Goes back to these.
    pub(crate) fn restore_pending(&mut self, pending: Vec<Pending>) {
        self.pending = pending;
    }

    /// Writes out values that read memory, before an operation changes it. The operation itself reads its operands
    /// before.
    fn flush(&mut self, operands: &[OOOperand]) -> Result<(), Lack> {
        let mut i = 0;
        while i < self.pending.len() {
            let is_operand = operands.contains(&OOOperand::Var(self.pending[i].var));
            if self.pending[i].reads && !is_operand {
                let p = self.pending.remove(i);
                self.out.extend(p.code);
                self.store(p.var)?;
            } else {
                i += 1;
            }
        }
        Ok(())
    }

    /// Pops a value into the local of a variable.
    pub(crate) fn store(&mut self, v: VarId) -> Result<(), Lack> {
        let used = self.uses[v.index()] > 0;
        let parts = self.local(v)?.rev();
        self.out.extend(parts.map(|n| match used {
            true => Ins::LocalSet(n),
            false => Ins::Drop,
        }));
        Ok(())
    }

    fn operation(&mut self, op: &Operation<ObjectOriented>) -> Result<(), Lack> {
        let flags = op.op.flags();
        let result = op.result;
        let is_void = *self.graph.ty(result) == OOType::Void;
        if flags & (EFFECT | RAISE) != 0 {
            self.flush(&op.args)?;
            self.out.push(place(self.at));
            self.instructions(op)?;
            return if is_void { Ok(()) } else { self.store(result) };
        }
        let uses = self.uses[result.index()];
        if is_void || uses == 0 {
            // Its operands are dropped with it.
            for o in &op.args {
                if let OOOperand::Var(v) = o {
                    self.pending.retain(|p| p.var != *v);
                }
            }
            return Ok(());
        }
        let before = std::mem::take(&mut self.out);
        let reading = |p: &Pending| op.args.contains(&OOOperand::Var(p.var)) && p.reads;
        let reads = flags & READ != 0 || self.pending.iter().any(reading);
        self.instructions(op)?;
        let code = std::mem::replace(&mut self.out, before);
        match &code[..] {
            // Another name for a local. That is assigned where its variable is defined alone, and nothing that the
            // definition dominates has the old value then.
            [Ins::LocalGet(n)] => {
                self.locals[result.index()] = Some(*n);
                return Ok(());
            }
            [ins @ (Ins::I32Const(_) | Ins::I64Const(_) | Ins::F64Const(_) | Ins::RefNull(_))] => {
                self.constants[result.index()] = Some(ins.clone());
                return Ok(());
            }
            _ => {}
        }
        let mut code = code;
        code.insert(0, place(self.at));
        if uses == 1 && self.is_local[result.index()] {
            self.pending.push(Pending {
                var: result,
                code,
                reads,
            });
            return Ok(());
        }
        self.out.extend(code);
        self.store(result)
    }
}

/// The instruction that pushes a number.
pub(crate) fn number_ins(c: &LLConst) -> Result<Ins, Lack> {
    Ok(match c {
        LLConst::Bool(b) => Ins::I32Const(i32::from(*b)),
        LLConst::Char(c) => Ins::I32Const(i32::from(*c)),
        LLConst::UniChar(c) => Ins::I32Const(*c as i32),
        LLConst::Int(k, v) => match k.bits {
            128 => return Err(Lack::WideIntegers),
            64 => Ins::I64Const(v.get() as i64),
            _ => Ins::I32Const(v.get() as i32),
        },
        LLConst::Float(bits) => Ins::F64Const(f64::from_bits(*bits).into()),
        LLConst::SingleFloat(bits) => Ins::F32Const(f32::from_bits(*bits).into()),
        other => return Err(Lack::Operation(format!("constant {other}"))),
    })
}

/// The steps from an object on the stack to a part of it.
pub(crate) fn path_code(
    ty: LLType,
    path: &[i64],
    program: &dyn Program,
    symbols: &mut dyn Numbers,
) -> Result<Vec<Ins>, Lack> {
    let (mut ty, mut code) = (ty, Vec::new());
    for i in path {
        let number = symbols.number(TypeSym::Container(ty));
        ty = match ty.kind() {
            TypeKind::Struct(s) => {
                let body = program.body(s);
                let field = usize::try_from(*i).ok().and_then(|i| body.fields.get(i));
                let field = field.ok_or(Lack::Addresses)?;
                match member(ty, &field.name, program) {
                    Some(Place::Base(base)) => base,
                    Some(Place::Field(n, ty)) => {
                        code.push(Ins::StructGet {
                            struct_type_index: number,
                            field_index: n as u32,
                        });
                        ty
                    }
                    Some(Place::Nothing) | None => return Err(Lack::Addresses),
                }
            }
            TypeKind::Array(a) => {
                code.extend([Ins::I32Const(*i as i32), Ins::ArrayGet(number)]);
                a.of
            }
            TypeKind::FixedArray(of, _) => {
                code.extend([Ins::I32Const(*i as i32), Ins::ArrayGet(number)]);
                *of
            }
            _ => return Err(Lack::Addresses),
        };
    }
    match ty.kind() {
        TypeKind::Struct(_) | TypeKind::Array(_) | TypeKind::FixedArray(..) => Ok(code),
        // A pointer to a number inside of an object.
        _ => Err(Lack::Addresses),
    }
}

/// Upper estimate of a frame of the host's machine code, in bytes: a slot for each variable, and the costs of a call.
fn frame_size(graph: &OOGraph) -> i32 {
    let variables = i32::try_from(graph.vars.len()).unwrap_or(i32::MAX / 64);
    96 + 8 * variables.min(1000)
}
