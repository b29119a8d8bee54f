//! From a low-level graph to LLVM's text.
//!
//! Blocks become blocks and link arguments become phis, except that a block with one
//! predecessor takes its values as they are. Void variables vanish. Bools are bytes; the
//! one-bit value that a comparison has is remembered for the branch on it.

mod control;
mod dispatch;
mod instructions;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_codegen::machine::{Bad, Instructions, Operands, Ty, machine_type, type_of_c};
use taipan_codegen::runtime::{Calls, RuntimeFunction};
use taipan_codegen::{CodegenError, Layouts, RootsFrame, SymbolRef, abi, mangle_static};
use taipan_graph::{BlockId, Operation, VarId};
use taipan_lltype::{
    FuncKind, FuncSym, LLConst, LLGraph, LLOperand, LLType, Layout, LowLevel, PlainOp, Program,
};

use crate::names::{global, symbol_name};
use crate::text::{
    FunctionText, Metadata, TextVariable, function_mark, metadata_mark, place_mark, variable_mark,
};
use crate::types::{Param, Signature};

/// The text of a function. Checked code looks for what would be undefined behaviour.
pub fn function_text(
    program: &dyn Program,
    f: &FuncSym,
    graph: &LLGraph,
    checked: bool,
) -> Result<FunctionText, CodegenError> {
    let mut emitter = Emitter::new(program, f, graph, checked);
    match emitter.function() {
        Ok(()) => Ok(emitter.finish()),
        Err(message) => Err(CodegenError::new(f.name(), message)),
    }
}

/// A value: its name or the constant.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Value {
    text: Rc<str>,
    ty: Ty,
}

impl Value {
    fn new(text: impl Into<Rc<str>>, ty: Ty) -> Value {
        Value {
            text: text.into(),
            ty,
        }
    }

    /// With its type in front.
    fn typed(&self) -> String {
        format!("{} {}", self.ty, self.text)
    }

    /// The number, if it is one that is known.
    fn constant(&self) -> Option<i128> {
        match self.ty {
            Ty::F32 | Ty::F64 | Ty::Ptr => None,
            _ => self.text.parse().ok(),
        }
    }
}

/// A part of the text.
enum Chunk {
    Text(String),
    /// The phis of a block, known at the end.
    Phis(BlockId),
}

/// Classes of memory that never overlap, and their parts.
const HEAP: &str = "heap";
const STATE: &str = "state";
const ROOTS: &str = "roots";

struct Emitter<'a> {
    program: &'a dyn Program,
    f: &'a FuncSym,
    graph: &'a LLGraph,
    /// Whether undefined behaviour is checked for.
    checked: bool,
    /// Of variables defined so far; none for Void ones.
    values: Vec<Option<Value>>,
    done: Vec<Chunk>,
    out: String,
    /// Instructions at the start of the function, for slots on the machine stack.
    slots: String,
    /// The label of the block that is being written.
    label: String,
    /// By block: the labels that lead there, each with the arguments.
    phis: Vec<Vec<(String, Vec<Value>)>>,
    /// Number of links into each block.
    entries: Vec<u32>,
    cold: Vec<bool>,
    next_value: u32,
    next_label: u32,
    /// The one-bit values of Bools, by name.
    bits: FxHashMap<Rc<str>, Rc<str>>,
    layouts: Layouts,
    symbols: Vec<SymbolRef>,
    known_symbols: FxHashSet<SymbolRef>,
    declarations: BTreeMap<String, String>,
    metadata: Vec<Metadata>,
    locations: Vec<u32>,
    places: Vec<u32>,
    variables: Vec<TextVariable>,
    /// The operation being emitted.
    place: (BlockId, usize),
    /// Its position in the bytecode.
    at: u32,
    /// The frame on the shadow stack: its number of slots.
    roots: Option<RootsFrame>,
    /// Whether the block's last operation overflowed, if it is one that may.
    overflow: Option<String>,
    /// Where the block's last operation goes on if it found the nursery full, if it is one
    /// that may.
    nursery_full: Option<String>,
    in_cold_block: bool,
    /// Tables of addresses, in front of the function.
    tables: String,
}

impl<'a> Emitter<'a> {
    fn new(
        program: &'a dyn Program,
        f: &'a FuncSym,
        graph: &'a LLGraph,
        checked: bool,
    ) -> Emitter<'a> {
        Emitter {
            program,
            f,
            graph,
            checked,
            values: vec![None; graph.vars.len()],
            done: Vec::new(),
            out: String::new(),
            slots: String::new(),
            label: "entry".to_owned(),
            phis: vec![Vec::new(); graph.blocks.len()],
            entries: vec![0; graph.blocks.len()],
            cold: Vec::new(),
            next_value: 0,
            next_label: 0,
            bits: FxHashMap::default(),
            layouts: Layouts::default(),
            symbols: Vec::new(),
            known_symbols: FxHashSet::default(),
            declarations: BTreeMap::new(),
            metadata: Vec::new(),
            locations: Vec::new(),
            places: Vec::new(),
            variables: Vec::new(),
            place: (graph.startblock, 0),
            at: 0,
            roots: None,
            overflow: None,
            nursery_full: None,
            in_cold_block: false,
            tables: String::new(),
        }
    }

    fn function(&mut self) -> Result<(), Bad> {
        let signature = Signature::of(self.f.ty(), false)?;
        self.graph_blocks(&signature)
    }

    /// The attributes of the definition.
    fn attributes(&self) -> String {
        // Null faults, as it does everywhere: what follows a load is not taken for reached.
        // Tracebacks of faults find callers by the table for unwinding.
        let mut out = String::from(" nounwind uwtable null_pointer_is_valid");
        if cfg!(target_arch = "x86_64") {
            // What Cranelift's code uses, too.
            out.push_str(" \"target-cpu\"=\"x86-64\" \"target-features\"=\"+sse4.2,+popcnt\"");
        }
        let blocks = self.graph.reachable();
        let mut operations = blocks.iter().flat_map(|b| &self.graph.block(*b).operations);
        // Runaway recursion ends in an exception, not in a loop.
        if self.checked || operations.any(|op| op.op == PlainOp::StackCheck.into()) {
            out.push_str(" \"disable-tail-calls\"=\"true\"");
        }
        if self.checked {
            // Functions show as themselves in tracebacks, and so do their callers.
            out.push_str(" noinline \"frame-pointer\"=\"all\" \"no-builtins\"");
        }
        // In the order of the module: the table of places is sorted by address.
        out.push_str(" section \".text\"");
        out
    }

    fn finish(mut self) -> FunctionText {
        let rest = std::mem::take(&mut self.out);
        self.done.push(Chunk::Text(rest));
        let (name, types) = (
            global(&taipan_codegen::mangle_function(self.f)),
            Signature::of(self.f.ty(), false),
        );
        let (result, params) = match types {
            Ok(s) => {
                let params = (s.params.iter().enumerate())
                    .map(|(i, p)| format!("{} %a{i}", p.ty))
                    .collect::<Vec<_>>();
                (s.result_text(), params.join(", "))
            }
            Err(_) => Default::default(),
        };
        let mut text = format!(
            "{}define dso_local {result} {name}({params}){}{} {{\nentry:\n{}",
            self.tables,
            self.attributes(),
            function_mark(),
            self.slots
        );
        for chunk in &self.done {
            match chunk {
                Chunk::Text(t) => text.push_str(t),
                Chunk::Phis(b) => self.write_phis(*b, &mut text),
            }
        }
        text.push_str("}\n");
        self.declarations
            .remove(&taipan_codegen::mangle_function(self.f));
        FunctionText {
            text,
            symbol: SymbolRef::Func(self.f.clone()),
            symbols: self.symbols,
            declarations: self.declarations,
            metadata: self.metadata,
            locations: self.locations,
            places: self.places,
            variables: self.variables,
        }
    }

    fn write_phis(&self, b: BlockId, text: &mut String) {
        let Some((_, first)) = self.phis[b.index()].first() else {
            return;
        };
        let inputs = self.graph.block(b).inputargs.iter();
        let defined = inputs.filter_map(|v| self.values[v.index()].as_ref());
        for (i, (value, first)) in defined.zip(first).enumerate() {
            let ways: Vec<String> = (self.phis[b.index()].iter())
                .map(|(label, args)| format!("[ {}, %{label} ]", args[i].text))
                .collect();
            let _ = writeln!(
                text,
                "  {} = phi {} {}",
                value.text,
                first.ty,
                ways.join(", ")
            );
        }
    }

    // Text.

    /// The mark of the place that instructions come from.
    fn mark(&mut self) -> String {
        place_mark(self.place_number())
    }

    fn place_number(&mut self) -> usize {
        let at = self.at;
        match self.places.iter().rposition(|p| *p == at) {
            Some(i) => i,
            None => {
                self.places.push(at);
                self.places.len() - 1
            }
        }
    }

    /// Tells debuggers what a variable is from here on.
    fn describe(&mut self, v: VarId) {
        let data = &self.graph.vars[v.index()];
        let Some(value) = self.values[v.index()].clone() else {
            return;
        };
        if data.name.is_empty() {
            return;
        }
        let known = self.variables.iter();
        let known = known
            .enumerate()
            .rfind(|(_, k)| *k.name == *data.name && k.ty == data.ty);
        let number = match known {
            Some((i, _)) => i,
            None => {
                let arguments = self.graph.args().iter();
                let mut passed = arguments.filter(|a| !self.graph.ty(**a).is_void());
                let argument = passed.position(|a| *a == v).map_or(0, |i| i as u32 + 1);
                self.variables.push(TextVariable {
                    name: data.name.to_string(),
                    ty: data.ty,
                    argument,
                });
                self.variables.len() - 1
            }
        };
        let place = self.place_number();
        self.out
            .push_str(&variable_mark(number, place, &value.typed()));
    }

    fn metadata(&mut self, m: Metadata) -> String {
        let i = match self.metadata.iter().position(|known| *known == m) {
            Some(i) => i,
            None => {
                self.metadata.push(m);
                self.metadata.len() - 1
            }
        };
        metadata_mark(i)
    }

    /// An instruction without a value.
    fn run(&mut self, text: &str) {
        let place = self.mark();
        let _ = writeln!(self.out, "  {text}{place}");
    }

    fn name(&mut self) -> Rc<str> {
        self.next_value += 1;
        format!("%v{}", self.next_value).into()
    }

    /// An instruction with a value.
    fn ins(&mut self, ty: Ty, text: &str) -> Value {
        let name = self.name();
        self.run(&format!("{name} = {text}"));
        Value { text: name, ty }
    }

    /// An instruction with a value that is no operand of the program's.
    fn part(&mut self, text: &str) -> Rc<str> {
        let name = self.name();
        self.run(&format!("{name} = {text}"));
        name
    }

    fn new_label(&mut self, what: &str) -> String {
        self.next_label += 1;
        format!("{what}{}", self.next_label)
    }

    /// Starts a block.
    fn start_label(&mut self, label: &str) {
        let _ = writeln!(self.out, "{label}:");
        label.clone_into(&mut self.label);
    }

    fn go(&mut self, label: &str) {
        self.run(&format!("br label %{label}"));
    }

    /// A branch of which the way to `rare` is rarely taken.
    fn branch_if(&mut self, bit: &str, yes: &str, no: &str, rare: Option<Metadata>) {
        let rare = match rare {
            Some(m) => format!(", !prof {}", self.metadata(m)),
            None => String::new(),
        };
        self.run(&format!("br i1 {bit}, label %{yes}, label %{no}{rare}"));
    }

    /// A slot on the machine stack.
    fn slot(&mut self, name: &str, what: &str) {
        let _ = writeln!(self.slots, "  {name} = alloca {what}, align 8");
    }

    /// Makes a value, or the same as an address or a number, that of a variable.
    fn bind(&mut self, v: VarId, value: &Value) {
        let value = match machine_type(*self.graph.ty(v)) {
            Some(ty) => self.as_type(value, ty),
            None => value.clone(),
        };
        self.values[v.index()] = Some(value);
    }

    // Symbols.

    fn mention(&mut self, symbol: &SymbolRef) -> String {
        if self.known_symbols.insert(symbol.clone()) {
            self.symbols.push(symbol.clone());
        }
        symbol_name(symbol).unwrap_or_default()
    }

    /// A function of the program or of C.
    fn function_address(&mut self, f: &FuncSym) -> Result<Value, Bad> {
        let symbol = SymbolRef::function(f);
        let external = matches!(f.kind(), FuncKind::External { .. });
        let signature = Signature::of(f.ty(), external)?;
        let name = self.mention(&symbol);
        let address = global(&name);
        self.declarations
            .entry(name)
            .or_insert_with(|| signature.declare(&address, ""));
        Ok(Value::new(address, Ty::Ptr))
    }

    // Memory.

    fn state_place(&mut self, offset: i32) -> String {
        let state = self.address_of(&SymbolRef::External(abi::STATE.into()));
        match offset {
            0 => state.text.to_string(),
            n => format!("getelementptr (i8, ptr {}, i64 {n})", state.text),
        }
    }

    // Calls of the runtime.

    fn call_runtime_with(
        &mut self,
        result_attribute: &str,
        f: RuntimeFunction,
        args: &[Value],
    ) -> Option<Value> {
        let (name, result) = (f.name, type_of_c(f.result));
        let types = f.args.iter().filter_map(|(_, t)| type_of_c(*t));
        let params: Vec<Param> = types.map(Param::of_runtime).collect();
        // An address may be a number here, and the other way round.
        let args: Vec<Value> = (args.iter().zip(&params))
            .map(|(a, p)| self.as_type(a, p.ty))
            .collect();
        debug_assert!(
            args.iter().map(|a| a.ty).eq(params.iter().map(|p| p.ty)),
            "the arguments of {name}"
        );
        let passed: Vec<String> = (args.iter().zip(&params))
            .map(|(a, p)| format!("{p} {}", a.text))
            .collect();
        let signature = Signature { params, result };
        let address = global(name);
        self.mention(&SymbolRef::External(name.into()));
        self.declarations
            .entry(name.to_owned())
            .or_insert_with(|| signature.declare(&address, attributes_of(f)));
        let text = format!(
            "call {result_attribute}{} {address}({})",
            signature.result_text(),
            passed.join(", ")
        );
        match result {
            Some(ty) => Some(self.ins(ty, &text)),
            None => {
                self.run(&text);
                None
            }
        }
    }

    /// One of LLVM's own functions.
    fn intrinsic(&mut self, name: &str, args: &[&Value], result: &str) -> Rc<str> {
        let types: Vec<String> = args.iter().map(|a| a.ty.to_string()).collect();
        let passed: Vec<String> = args.iter().map(|a| a.typed()).collect();
        self.declarations
            .entry(name.to_owned())
            .or_insert_with(|| format!("declare {result} @{name}({})", types.join(", ")));
        self.part(&format!("call {result} @{name}({})", passed.join(", ")))
    }
}

impl Operands for Emitter<'_> {
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
        self.at = op.at;
    }

    fn place(&self) -> (BlockId, usize) {
        self.place
    }

    fn in_cold_block(&self) -> bool {
        self.in_cold_block
    }

    fn variable(&self, v: VarId) -> Option<Value> {
        self.values[v.index()].clone()
    }

    fn constant(&mut self, c: &LLConst) -> Result<Value, Bad> {
        Ok(match c {
            LLConst::Void(_) => return Err("a Void constant has no value".into()),
            LLConst::Bool(b) => integer(Ty::I8, i128::from(*b)),
            LLConst::Char(c) => integer(Ty::I8, i128::from(*c)),
            LLConst::UniChar(c) => integer(Ty::I32, i128::from(*c)),
            LLConst::Int(_, v) => {
                let ty =
                    machine_type(c.ty()).ok_or_else(|| format!("an integer of type {}", c.ty()))?;
                integer(ty, v.get())
            }
            LLConst::Float(bits) => Value::new(format!("0x{bits:016X}"), Ty::F64),
            LLConst::SingleFloat(bits) => {
                Value::new(format!("bitcast (i32 {} to float)", *bits as i32), Ty::F32)
            }
            LLConst::Null(_) => self.null(),
            LLConst::Func(f) => self.function_address(f)?,
            LLConst::Static(s, _) => {
                let (root, offset) = (s.place(self.program))
                    .ok_or_else(|| format!("{}: no such place", mangle_static(s)))?;
                let root = self.address_of(&SymbolRef::Static(root.clone()));
                match offset {
                    0 => root,
                    n => {
                        let text = format!("getelementptr (i8, ptr {}, i64 {n})", root.text);
                        Value::new(text, Ty::Ptr)
                    }
                }
            }
        })
    }

    fn int(&mut self, ty: Ty, n: i128) -> Value {
        integer(ty, n)
    }

    fn null(&mut self) -> Value {
        Value::new("null", Ty::Ptr)
    }

    fn define(&mut self, v: VarId, value: Value) -> Result<(), Bad> {
        self.bind(v, &value);
        self.describe(v);
        Ok(())
    }

    fn layout(&mut self, ty: LLType) -> Rc<Layout> {
        self.layouts.get(ty, self.program)
    }

    fn word(&mut self, o: &LLOperand) -> Result<Value, Bad> {
        let v = self.value(o)?;
        Ok(self.as_type(&v, Ty::I64))
    }

    fn pointer(&mut self, o: &LLOperand) -> Result<Value, Bad> {
        let v = self.value(o)?;
        Ok(self.as_type(&v, Ty::Ptr))
    }
}

/// An integer constant, given in any number of bits.
fn integer(ty: Ty, n: i128) -> Value {
    let n = match ty {
        Ty::I8 => i128::from(n as i8),
        Ty::I16 => i128::from(n as i16),
        Ty::I32 => i128::from(n as i32),
        Ty::I64 => i128::from(n as i64),
        _ => n,
    };
    Value::new(n.to_string(), ty)
}

/// What LLVM is told of a function of the runtime.
fn attributes_of(f: RuntimeFunction) -> &'static str {
    match f.calls {
        Calls::Last => " noreturn cold",
        Calls::Rare => " cold",
        Calls::Usual | Calls::Slow => "",
    }
}
