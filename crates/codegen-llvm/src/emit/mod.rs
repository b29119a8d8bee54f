//! From a low-level graph to LLVM's text.
//!
//! Blocks become blocks and link arguments become phis, except that a block with one
//! predecessor takes its values as they are. Void variables vanish. Bools are bytes; the
//! one-bit value that a comparison has is remembered for the branch on it.

mod arith;
mod call;
mod checks;
mod control;
mod convert;
mod dispatch;
mod exc;
mod gc;
mod malloc;
mod memory;
mod ops;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_codegen::runtime::{Calls, RuntimeFunction};
use taipan_codegen::{CodegenError, RootsFrame, SymbolRef, abi, mangle_static};
use taipan_graph::{BlockId, VarId};
use taipan_lltype::{
    FuncKind, FuncSym, LLConst, LLGraph, LLOperand, LLType, Layout, PlainOp, Program, layout,
};

use crate::names::{global, symbol_name};
use crate::text::{
    FunctionText, Metadata, TextVariable, function_mark, metadata_mark, place_mark, variable_mark,
};
use crate::types::{Bad, Param, Signature, Ty, llvm_type, of_c};

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
    layouts: FxHashMap<LLType, Rc<Layout>>,
    symbols: Vec<SymbolRef>,
    known_symbols: FxHashSet<SymbolRef>,
    declarations: BTreeMap<String, String>,
    metadata: Vec<Metadata>,
    locations: Vec<u32>,
    places: Vec<u32>,
    variables: Vec<TextVariable>,
    /// Position in the bytecode of what is being emitted.
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
            layouts: FxHashMap::default(),
            symbols: Vec::new(),
            known_symbols: FxHashSet::default(),
            declarations: BTreeMap::new(),
            metadata: Vec::new(),
            locations: Vec::new(),
            places: Vec::new(),
            variables: Vec::new(),
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
    fn place(&mut self) -> String {
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
        let place = self.place();
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

    /// A Bool of a one-bit value.
    fn boolean(&mut self, bit: Rc<str>) -> Value {
        let value = self.ins(Ty::I8, &format!("zext i1 {bit} to i8"));
        self.bits.insert(value.text.clone(), bit);
        value
    }

    /// The one-bit value of a number that is not zero.
    fn bit(&mut self, v: &Value) -> Rc<str> {
        if let Some(bit) = self.bits.get(&v.text) {
            return bit.clone();
        }
        match v.constant() {
            Some(0) => "false".into(),
            Some(_) => "true".into(),
            None => self.part(&format!("icmp ne {}, {}", v.typed(), v.ty.zero())),
        }
    }

    fn new_label(&mut self, what: &str) -> String {
        self.next_label += 1;
        format!("{what}{}", self.next_label)
    }

    /// What follows stands in that block.
    fn start(&mut self, label: &str) {
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

    /// A value that depends on the way by which its block was reached.
    fn merge(&mut self, ty: Ty, ways: &[(&Value, &str)]) -> Value {
        let ways: Vec<String> = (ways.iter())
            .map(|(v, label)| format!("[ {}, %{label} ]", v.text))
            .collect();
        self.ins(ty, &format!("phi {ty} {}", ways.join(", ")))
    }

    // Operands.

    fn ty(&self, o: &LLOperand) -> LLType {
        match o {
            LLOperand::Var(v) => *self.graph.ty(*v),
            LLOperand::Const(c) => c.ty(),
        }
    }

    /// The value of an operand; none if it is Void.
    fn maybe(&mut self, o: &LLOperand) -> Result<Option<Value>, Bad> {
        if self.ty(o).is_void() {
            return Ok(None);
        }
        match o {
            LLOperand::Var(v) => match &self.values[v.index()] {
                Some(value) => Ok(Some(value.clone())),
                None => Err(format!("variable {v:?} is used before it is defined")),
            },
            LLOperand::Const(c) => self.constant(c).map(Some),
        }
    }

    /// The value of an operand that is not Void.
    fn value(&mut self, o: &LLOperand) -> Result<Value, Bad> {
        self.maybe(o)?.ok_or_else(|| format!("{o:?} has no value"))
    }

    /// The same as a word: an address is its number.
    fn word(&mut self, o: &LLOperand) -> Result<Value, Bad> {
        let v = self.value(o)?;
        Ok(self.as_type(&v, Ty::I64))
    }

    /// The same as an address.
    fn pointer(&mut self, o: &LLOperand) -> Result<Value, Bad> {
        let v = self.value(o)?;
        Ok(self.as_type(&v, Ty::Ptr))
    }

    /// Addresses as numbers and back. Everything else stays what it is.
    fn as_type(&mut self, v: &Value, to: Ty) -> Value {
        match (v.ty, to) {
            (Ty::Ptr, Ty::I64) if &*v.text == "null" => self.int(Ty::I64, 0),
            (Ty::Ptr, Ty::I64) => self.ins(Ty::I64, &format!("ptrtoint ptr {} to i64", v.text)),
            (Ty::I64, Ty::Ptr) if v.constant() == Some(0) => Value::new("null", Ty::Ptr),
            (Ty::I64, Ty::Ptr) => self.ins(Ty::Ptr, &format!("inttoptr i64 {} to ptr", v.text)),
            _ => v.clone(),
        }
    }

    fn constant(&mut self, c: &LLConst) -> Result<Value, Bad> {
        Ok(match c {
            LLConst::Void(_) => return Err("a Void constant has no value".into()),
            LLConst::Bool(b) => self.int(Ty::I8, i128::from(*b)),
            LLConst::Char(c) => self.int(Ty::I8, i128::from(*c)),
            LLConst::UniChar(c) => self.int(Ty::I32, i128::from(*c)),
            LLConst::Int(_, v) => {
                let ty =
                    llvm_type(c.ty()).ok_or_else(|| format!("an integer of type {}", c.ty()))?;
                self.int(ty, v.get())
            }
            LLConst::Float(bits) => Value::new(format!("0x{bits:016X}"), Ty::F64),
            LLConst::SingleFloat(bits) => {
                Value::new(format!("bitcast (i32 {} to float)", *bits as i32), Ty::F32)
            }
            LLConst::Null(_) => Value::new("null", Ty::Ptr),
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

    /// An integer constant, given in any number of bits.
    fn int(&self, ty: Ty, v: i128) -> Value {
        let v = match ty {
            Ty::I8 => i128::from(v as i8),
            Ty::I16 => i128::from(v as i16),
            Ty::I32 => i128::from(v as i32),
            Ty::I64 => i128::from(v as i64),
            _ => v,
        };
        Value::new(v.to_string(), ty)
    }

    fn define(&mut self, v: VarId, value: &Value) {
        let value = match llvm_type(*self.graph.ty(v)) {
            Some(ty) => self.as_type(value, ty),
            None => value.clone(),
        };
        self.values[v.index()] = Some(value);
    }

    fn layout(&mut self, ty: LLType) -> Rc<Layout> {
        let program = self.program;
        self.layouts
            .entry(ty)
            .or_insert_with(|| Rc::new(layout(ty, program)))
            .clone()
    }

    // Symbols.

    fn mention(&mut self, symbol: &SymbolRef) -> String {
        if self.known_symbols.insert(symbol.clone()) {
            self.symbols.push(symbol.clone());
        }
        symbol_name(symbol).unwrap_or_default()
    }

    /// The address of data.
    fn address_of(&mut self, symbol: &SymbolRef) -> Value {
        if let SymbolRef::Location(i) = symbol {
            let own = taipan_codegen::mangle_function(self.f);
            return Value::new(global(&format!("place.{own}.{i}")), Ty::Ptr);
        }
        let name = self.mention(symbol);
        let address = global(&name);
        let declaration = match symbol {
            // The bytes of strings and vtables are elsewhere: what is known of them is their
            // alignment.
            SymbolRef::External(_) => format!("{address} = external global [0 x i8], align 8"),
            _ => format!("{address} = external dso_local global [0 x i8], align 8"),
        };
        self.declarations.entry(name).or_insert(declaration);
        Value::new(address, Ty::Ptr)
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

    /// The symbol of the record for a place in the source.
    fn location(&mut self, at: u32) -> SymbolRef {
        let i = match self.locations.iter().position(|l| *l == at) {
            Some(i) => i,
            None => {
                self.locations.push(at);
                self.locations.len() - 1
            }
        };
        SymbolRef::Location(i as u32)
    }

    // Memory.

    /// The tag of an access to a class of memory.
    fn tag(&mut self, path: &[&str]) -> String {
        let path = path.iter().map(|p| (*p).to_owned()).collect();
        let number = self.metadata(Metadata::Access(path));
        format!(", !tbaa {number}")
    }

    fn state_place(&mut self, offset: i32) -> String {
        let state = self.address_of(&SymbolRef::External(abi::STATE.into()));
        match offset {
            0 => state.text.to_string(),
            n => format!("getelementptr (i8, ptr {}, i64 {n})", state.text),
        }
    }

    fn load_state(&mut self, offset: i32, ty: Ty) -> Value {
        let (place, tag) = (self.state_place(offset), self.tag(&[STATE]));
        self.ins(ty, &format!("load {ty}, ptr {place}, align 8{tag}"))
    }

    fn store_state(&mut self, offset: i32, v: &Value) {
        let (place, tag) = (self.state_place(offset), self.tag(&[STATE]));
        self.run(&format!("store {}, ptr {place}, align 8{tag}", v.typed()));
    }

    /// An address so many bytes further on in an object.
    fn offset(&mut self, base: &Value, offset: u64) -> Value {
        match offset {
            0 => base.clone(),
            n => self.ins(
                Ty::Ptr,
                &format!("getelementptr inbounds i8, ptr {}, i64 {n}", base.text),
            ),
        }
    }

    /// An address so many bytes further on, wherever that is.
    fn advance(&mut self, base: &Value, distance: &Value) -> Value {
        let base = self.as_type(base, Ty::Ptr);
        let distance = self.as_type(distance, Ty::I64);
        if distance.constant() == Some(0) {
            return base;
        }
        self.ins(
            Ty::Ptr,
            &format!("getelementptr i8, ptr {}, {}", base.text, distance.typed()),
        )
    }

    // Calls of the runtime.

    /// A function of the runtime, with C's conventions.
    fn call_runtime(&mut self, f: RuntimeFunction, args: &[Value]) -> Option<Value> {
        self.call_runtime_with("", f, args)
    }

    fn call_runtime_with(
        &mut self,
        result_attribute: &str,
        f: RuntimeFunction,
        args: &[Value],
    ) -> Option<Value> {
        let (name, result) = (f.name, of_c(f.result));
        let types = f.args.iter().filter_map(|(_, t)| of_c(*t));
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

    /// A function of the runtime for slow paths, which leaves all registers alone. Its
    /// arguments are words in memory.
    fn call_slow(&mut self, f: RuntimeFunction, args: &[Value]) {
        let name = f.name;
        debug_assert_eq!(f.calls, Calls::Slow, "{name}");
        for (at, v) in (abi::state::SLOW_ARGUMENTS..).step_by(8).zip(args) {
            self.store_state(at, v);
        }
        let address = global(name);
        self.mention(&SymbolRef::External(name.into()));
        self.declarations
            .entry(name.to_owned())
            .or_insert_with(|| format!("declare preserve_allcc void {address}() nounwind cold"));
        self.run(&format!("call preserve_allcc void {address}()"));
    }

    /// A function for slow paths that makes an object.
    fn allocate_slowly(&mut self, f: RuntimeFunction, args: &[Value]) -> Value {
        self.call_slow(f, args);
        self.load_state(abi::state::SLOW_RESULT, Ty::Ptr)
    }
}

/// What LLVM is told of a function of the runtime.
fn attributes_of(f: RuntimeFunction) -> &'static str {
    match f.calls {
        Calls::Last => " noreturn cold",
        Calls::Rare => " cold",
        Calls::Usual | Calls::Slow => "",
    }
}
