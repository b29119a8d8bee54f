//! From a low-level graph to Cranelift's intermediate representation.
//!
//! Blocks become blocks and link arguments become block arguments, except that a
//! block with one predecessor takes its values as they are. Void variables vanish.

mod arith;
mod call;
mod checks;
mod control;
mod convert;
mod exc;
mod gc;
mod glue;
mod init;
mod jit;
mod malloc;
mod memory;
mod ops;
mod symbols;
mod types;

use std::rc::Rc;

use cranelift_codegen::ir::{
    self, AliasRegion, AliasRegionData, Block, BlockArg, FuncRef, GlobalValue, InstBuilder,
    MemFlagsData, SigRef, Signature, Type, UserFuncName, Value,
};
use cranelift_codegen::isa::{CallConv, TargetIsa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use rustc_hash::FxHashMap;
use taipan_codegen::runtime::{Calls, RuntimeFunction};
use taipan_codegen::{RootsFrame, SymbolRef, abi};
use taipan_graph::{BlockId, VarId};
use taipan_lltype::{FuncSym, LLConst, LLGraph, LLOperand, LLType, Layout, Program, layout};

use crate::isa::Peculiarities;
use crate::{Addresses, debug};
pub(crate) use glue::emit_glue;
pub(crate) use jit::{emit_entry, unit_signature};
pub(crate) use symbols::{Symbols, symbol_text};
pub(crate) use types::clif_type;
use types::signature;

/// What is wrong with a graph.
type Bad = String;

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
        layouts: FxHashMap::default(),
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
    let done = emitter.graph();
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
    layouts: FxHashMap<LLType, Rc<Layout>>,
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

impl Emitter<'_, '_> {
    fn ty(&self, o: &LLOperand) -> LLType {
        match o {
            LLOperand::Var(v) => *self.graph.ty(*v),
            LLOperand::Const(c) => c.ty(),
        }
    }

    /// The value of an operand; none if it is Void.
    fn maybe(&mut self, o: &LLOperand) -> Result<Option<Value>, Bad> {
        let ty = self.ty(o);
        if ty.is_void() {
            return Ok(None);
        }
        match o {
            LLOperand::Var(v) => match self.values[v.index()] {
                Some(value) => Ok(Some(value)),
                None => Err(format!("variable {v:?} is used before it is defined")),
            },
            LLOperand::Const(c) => self.constant(c).map(Some),
        }
    }

    /// The value of an operand that is not Void.
    fn value(&mut self, o: &LLOperand) -> Result<Value, Bad> {
        self.maybe(o)?.ok_or_else(|| format!("{o:?} has no value"))
    }

    fn constant(&mut self, c: &LLConst) -> Result<Value, Bad> {
        Ok(match c {
            LLConst::Void(_) => return Err("a Void constant has no value".into()),
            LLConst::Bool(b) => self.int(ir::types::I8, i64::from(*b)),
            LLConst::Char(c) => self.int(ir::types::I8, i64::from(*c)),
            LLConst::UniChar(c) => self.int(ir::types::I32, i64::from(*c)),
            LLConst::Int(k, v) if k.bits == 128 => {
                let low = self.int(ir::types::I64, v.get() as i64);
                let high = self.int(ir::types::I64, (v.get() >> 64) as i64);
                self.b.ins().iconcat(low, high)
            }
            LLConst::Int(..) => {
                let ty =
                    clif_type(c.ty()).ok_or_else(|| format!("an integer of type {}", c.ty()))?;
                let LLConst::Int(_, v) = c else {
                    return Err("not an integer".into());
                };
                self.int(ty, v.get() as i64)
            }
            LLConst::Float(bits) => self
                .b
                .ins()
                .f64const(ir::immediates::Ieee64::with_bits(*bits)),
            LLConst::SingleFloat(bits) => self
                .b
                .ins()
                .f32const(ir::immediates::Ieee32::with_bits(*bits)),
            LLConst::Null(_) => self.int(PTR, 0),
            LLConst::Func(f) => {
                let f = self.function(f)?;
                self.b.ins().func_addr(PTR, f)
            }
            LLConst::Static(s, _) => self.address_of(&SymbolRef::Static((**s).clone())),
        })
    }

    /// An integer constant of at most 64 bits, given sign- or zero-extended.
    fn int(&mut self, ty: Type, v: i64) -> Value {
        let bits = ty.bits();
        let v = if bits < 64 { v & ((1 << bits) - 1) } else { v };
        self.b.ins().iconst(ty, v)
    }

    /// The address of data.
    fn address_of(&mut self, symbol: &SymbolRef) -> Value {
        if let Some(address) = self.addresses.and_then(|a| a.address(symbol)) {
            return self.int(PTR, address as i64);
        }
        let global = match self.globals.get(symbol) {
            Some(g) => *g,
            None => {
                let g = self.symbols.global(self.b.func, symbol);
                self.globals.insert(symbol.clone(), g);
                g
            }
        };
        self.b.ins().symbol_value(PTR, global)
    }

    /// The address of the state shared with the runtime.
    fn state(&mut self) -> Value {
        self.address_of(&SymbolRef::External(abi::STATE.into()))
    }

    fn load_state(&mut self, offset: i32) -> Value {
        let state = self.state();
        let flags = MemFlagsData::trusted().with_alias_region(Some(self.regions.state));
        self.b.ins().load(PTR, flags, state, offset)
    }

    fn store_state(&mut self, offset: i32, v: Value) {
        let state = self.state();
        let flags = MemFlagsData::trusted().with_alias_region(Some(self.regions.state));
        self.b.ins().store(flags, v, state, offset);
    }

    fn heap_flags(&self) -> MemFlagsData {
        MemFlagsData::new()
            .with_notrap()
            .with_alias_region(Some(self.regions.heap))
    }

    fn root_flags(&self) -> MemFlagsData {
        MemFlagsData::trusted().with_alias_region(Some(self.regions.roots))
    }

    fn define(&mut self, v: VarId, value: Value) {
        self.values[v.index()] = Some(value);
        if self.labels {
            self.b.set_val_label(value, debug::label(v.index()));
        }
    }

    fn layout(&mut self, ty: LLType) -> Rc<Layout> {
        let program = self.program;
        self.layouts
            .entry(ty)
            .or_insert_with(|| Rc::new(layout(ty, program)))
            .clone()
    }

    /// A new block out of the way of the code around it.
    fn cold_block(&mut self) -> Block {
        let block = self.b.create_block();
        self.b.set_cold_block(block);
        block
    }

    fn jump(&mut self, to: Block, args: &[Value]) {
        let args: Vec<BlockArg> = args.iter().map(|v| BlockArg::Value(*v)).collect();
        self.b.ins().jump(to, &args);
    }

    /// A function of the runtime, with C's conventions.
    fn call_runtime(&mut self, f: RuntimeFunction, args: &[Value]) -> Option<Value> {
        self.call_with(CallConv::SystemV, f, args)
    }

    /// A function of the runtime for slow paths, which leaves all registers alone. Its
    /// arguments are words in memory: a value that had to be in a certain register here would
    /// be kept in that one from where it is made, though the slow path is hardly ever taken.
    fn call_slow(&mut self, f: RuntimeFunction, args: &[Value]) {
        for (at, v) in (abi::state::SLOW_ARGUMENTS..).step_by(8).zip(args) {
            self.store_state(at, *v);
        }
        debug_assert_eq!(f.calls, Calls::Slow, "{}", f.name);
        self.call_with(CallConv::PreserveAll, f, &[]);
    }

    /// A function for slow paths that makes an object.
    fn allocate_slowly(&mut self, f: RuntimeFunction, args: &[Value]) -> Value {
        self.call_slow(f, args);
        self.load_state(abi::state::SLOW_RESULT)
    }

    fn call_with(
        &mut self,
        convention: CallConv,
        f: RuntimeFunction,
        args: &[Value],
    ) -> Option<Value> {
        let params: Vec<Type> = f.args.iter().filter_map(|(_, t)| types::of_c(*t)).collect();
        debug_assert!(
            (args.iter().map(|a| self.b.func.dfg.value_type(*a))).eq(params.iter().copied()),
            "the arguments of {}",
            f.name
        );
        let result = types::of_c(f.result);
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
