//! From a low-level graph to Cranelift's intermediate representation.
//!
//! Blocks become blocks and link arguments become block arguments, except that a
//! block with one predecessor takes its values as they are. Void variables vanish.

mod arith;
mod call;
mod control;
mod glue;
mod init;
mod instructions;
mod jit;
mod symbols;
mod types;

use std::rc::Rc;

use cranelift_codegen::ir::{
    self, AliasRegion, AliasRegionData, Block, BlockArg, FuncRef, GlobalValue, InstBuilder, SigRef,
    Signature, SourceLoc, Type, UserFuncName, Value,
};
use cranelift_codegen::isa::{CallConv, TargetIsa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use rustc_hash::FxHashMap;
use taipan_codegen::machine::{Bad, Instructions, Operands, Ty, machine_type, type_of_c};
use taipan_codegen::runtime::RuntimeFunction;
use taipan_codegen::{Layouts, RootsFrame, SymbolRef};
use taipan_graph::{BlockId, Operation, VarId};
use taipan_lltype::{FuncSym, LLConst, LLGraph, LLType, Layout, LowLevel, Program};

use crate::isa::Peculiarities;
use crate::{Addresses, debug};
pub(crate) use glue::emit_glue;
pub(crate) use jit::{emit_entry, unit_signature};
pub(crate) use symbols::{Symbols, symbol_text};
pub(crate) use types::clif_type;
use types::{clif, signature};

/// The address type.
const PTR: Type = ir::types::I64;

/// What a graph is to become.
pub(crate) enum Form<'a> {
    /// A function.
    Function(&'a FuncSym),
    /// The same, whose instructions know from which ones of the bytecode they come.
    Listed(&'a FuncSym),
    /// The same, with checks.
    Checked(&'a FuncSym),
    /// Code that jumps to more of its kind, in a process where things have addresses.
    Unit(&'a str, &'a dyn Addresses),
}

/// Fills in `func` from the graph.
pub(crate) fn emit_graph(
    func: &mut ir::Function,
    builder_context: &mut FunctionBuilderContext,
    isa: &dyn TargetIsa,
    program: &dyn Program,
    form: &Form<'_>,
    graph: &LLGraph,
) -> Result<Symbols, Bad> {
    let addresses = match form {
        Form::Function(f) | Form::Listed(f) | Form::Checked(f) => {
            func.name = UserFuncName::testcase(f.name());
            func.signature = signature(f.ty())?;
            None
        }
        Form::Unit(name, addresses) => {
            func.name = UserFuncName::testcase(name);
            func.signature = unit_signature(*graph.ty(graph.returnvar()));
            Some(*addresses)
        }
    };
    let regions = Regions::new(func);
    let machine = Peculiarities::of(isa);
    let labels = func.dfg.values_labels.is_some();
    let mut emitter = Emitter {
        b: FunctionBuilder::new(func, builder_context),
        program,
        addresses,
        machine,
        graph,
        values: vec![None; graph.vars.len()],
        blocks: vec![None; graph.blocks.len()],
        symbols: Symbols::new(machine),
        functions: FxHashMap::default(),
        globals: FxHashMap::default(),
        signatures: FxHashMap::default(),
        layouts: Layouts::default(),
        regions,
        roots: None,
        place: (graph.startblock, 0),
        placed: labels || matches!(form, Form::Listed(_) | Form::Checked(_)),
        labels,
        checked: matches!(form, Form::Checked(_)),
        overflow: None,
        nursery_full: None,
        in_cold_block: false,
    };
    let done = emitter.blocks();
    let Emitter { b, symbols, .. } = emitter;
    // An unfinished function cannot be finalized; the context starts afresh.
    match done {
        Ok(()) => {
            b.finalize(isa.frontend_config());
            Ok(symbols)
        }
        Err(e) => {
            *builder_context = FunctionBuilderContext::new();
            Err(e)
        }
    }
}

/// Parts of memory that never overlap, so that Cranelift may keep values of one across
/// stores to another.
#[derive(Clone, Copy)]
struct Regions {
    /// Objects, GC and raw.
    heap: AliasRegion,
    /// The state shared with the runtime.
    state: AliasRegion,
    /// The shadow stack.
    roots: AliasRegion,
}

impl Regions {
    fn new(func: &mut ir::Function) -> Regions {
        let mut region = |user_id, description: &'static str| {
            func.dfg.alias_regions.insert(AliasRegionData {
                user_id,
                description: description.into(),
            })
        };
        Regions {
            heap: region(1, "heap"),
            state: region(2, "state"),
            roots: region(3, "roots"),
        }
    }
}

/// Key of a signature: types of arguments and results, and convention.
type SignatureKey = (Vec<Type>, Vec<Type>, CallConv);

struct Emitter<'a, 'b> {
    b: FunctionBuilder<'b>,
    program: &'a dyn Program,
    /// Where data are, if that is known already.
    addresses: Option<&'a dyn Addresses>,
    machine: Peculiarities,
    graph: &'a LLGraph,
    /// Of variables defined so far; none for Void ones.
    values: Vec<Option<Value>>,
    /// Of reachable blocks.
    blocks: Vec<Option<Block>>,
    symbols: Symbols,
    functions: FxHashMap<SymbolRef, FuncRef>,
    globals: FxHashMap<SymbolRef, GlobalValue>,
    signatures: FxHashMap<SignatureKey, SigRef>,
    layouts: Layouts,
    regions: Regions,
    /// The frame on the shadow stack: its address, and its number of slots.
    roots: Option<(Variable, RootsFrame)>,
    /// The operation being emitted.
    place: (BlockId, usize),
    /// Whether instructions get to know where they come from.
    placed: bool,
    /// Whether values get the names of variables.
    labels: bool,
    /// Whether undefined behaviour is checked for.
    checked: bool,
    /// Whether the block's last operation overflowed, if it is one that may.
    overflow: Option<Value>,
    /// Where the block's last operation goes on if it found the nursery full, if it
    /// is one that may.
    nursery_full: Option<Block>,
    /// Whether the current block is rarely executed.
    in_cold_block: bool,
}

impl Operands for Emitter<'_, '_> {
    type Value = Value;

    fn graph(&self) -> &LLGraph {
        self.graph
    }

    fn program(&self) -> &dyn Program {
        self.program
    }

    fn is_checked(&self) -> bool {
        self.checked
    }

    fn begin(&mut self, block: BlockId, index: usize, op: &Operation<LowLevel>) {
        self.place = (block, index);
        if self.placed {
            self.b.set_srcloc(SourceLoc::new(op.at));
        }
    }

    fn place(&self) -> (BlockId, usize) {
        self.place
    }

    fn in_cold_block(&self) -> bool {
        self.in_cold_block
    }

    fn variable(&self, v: VarId) -> Option<Value> {
        self.values[v.index()]
    }

    fn constant(&mut self, c: &LLConst) -> Result<Value, Bad> {
        Ok(match c {
            LLConst::Void(_) => return Err("a Void constant has no value".into()),
            LLConst::Bool(b) => self.int(Ty::I8, (*b).into()),
            LLConst::Char(c) => self.int(Ty::I8, (*c).into()),
            LLConst::UniChar(c) => self.int(Ty::I32, (*c).into()),
            LLConst::Int(_, v) => {
                let ty =
                    machine_type(c.ty()).ok_or_else(|| format!("an integer of type {}", c.ty()))?;
                self.int(ty, v.get())
            }
            LLConst::Float(bits) => self
                .b
                .ins()
                .f64const(ir::immediates::Ieee64::with_bits(*bits)),
            LLConst::SingleFloat(bits) => self
                .b
                .ins()
                .f32const(ir::immediates::Ieee32::with_bits(*bits)),
            LLConst::Null(_) => self.null(),
            LLConst::Func(f) => {
                let f = self.function(f)?;
                self.b.ins().func_addr(PTR, f)
            }
            LLConst::Static(s, _) => self.address_of(&SymbolRef::Static((**s).clone())),
        })
    }

    fn int(&mut self, ty: Ty, n: i128) -> Value {
        if ty != Ty::I128 {
            return self.word_constant(clif(ty), n as i64);
        }
        let low = self.word_constant(ir::types::I64, n as i64);
        let high = self.word_constant(ir::types::I64, (n >> 64) as i64);
        self.b.ins().iconcat(low, high)
    }

    fn null(&mut self) -> Value {
        self.word_constant(PTR, 0)
    }

    fn define(&mut self, v: VarId, value: Value) -> Result<(), Bad> {
        self.values[v.index()] = Some(value);
        if self.labels {
            self.b.set_val_label(value, debug::label(v.index()));
        }
        Ok(())
    }

    fn layout(&mut self, ty: LLType) -> Rc<Layout> {
        self.layouts.get(ty, self.program)
    }
}

impl Emitter<'_, '_> {
    /// An integer constant of at most 64 bits, given sign- or zero-extended.
    fn word_constant(&mut self, ty: Type, v: i64) -> Value {
        let bits = ty.bits();
        let v = if bits < 64 { v & ((1 << bits) - 1) } else { v };
        self.b.ins().iconst(ty, v)
    }

    fn jump_with(&mut self, to: Block, args: &[Value]) {
        let args: Vec<BlockArg> = args.iter().map(|v| BlockArg::Value(*v)).collect();
        self.b.ins().jump(to, &args);
    }

    fn call_with(
        &mut self,
        convention: CallConv,
        f: RuntimeFunction,
        args: &[Value],
    ) -> Option<Value> {
        let of_c = |ty| type_of_c(ty).map(clif);
        let params: Vec<Type> = f.args.iter().filter_map(|(_, t)| of_c(*t)).collect();
        debug_assert!(
            (args.iter().map(|a| self.b.func.dfg.value_type(*a))).eq(params.iter().copied()),
            "the arguments of {}",
            f.name
        );
        let result = of_c(f.result);
        let key = (params, result.into_iter().collect::<Vec<_>>(), convention);
        let sig = match self.signatures.get(&key) {
            Some(s) => *s,
            None => {
                let mut sig = Signature::new(convention);
                sig.params = (key.0.iter())
                    .map(|t| types::c_value(*t, false, self.machine))
                    .collect();
                sig.returns = key.1.iter().map(|t| ir::AbiParam::new(*t)).collect();
                let sig = self.b.import_signature(sig);
                self.signatures.insert(key, sig);
                sig
            }
        };
        let symbol = SymbolRef::External(f.name.into());
        let f = match self.functions.get(&symbol) {
            Some(f) => *f,
            None => {
                let f = self.symbols.function(self.b.func, &symbol, sig);
                self.functions.insert(symbol, f);
                f
            }
        };
        let call = self.b.ins().call(f, args);
        self.b.inst_results(call).first().copied()
    }
}
