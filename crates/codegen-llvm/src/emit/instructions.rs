//! LLVM's instructions, as the machine that operations are lowered to.

use std::rc::Rc;

use taipan_codegen::machine::{
    Access, Bad, Binary, Cond, Instructions, Operands, Part, Rare, Region, Ty, Unary, Units,
};
use taipan_codegen::runtime::{self, Calls, RuntimeFunction};
use taipan_codegen::{Glue, RootsFrame, SymbolRef, abi};
use taipan_graph::Operation;
use taipan_lltype::{FuncKind, FuncSym, FuncType, LLOperand, LowLevel, NumOp, View};

use super::{Emitter, HEAP, ROOTS, STATE, Value, integer};
use crate::names::global;
use crate::text::Metadata;
use crate::types::Signature;

/// Bytes that the frame of a function that calls others has at least: the return address.
const LINKAGE: i64 = 8;

/// The variable with the address of the frame on the shadow stack.
const FRAME: &str = "%roots";

/// The reason why operations of programs with a just-in-time compiler are refused.
const NO_JIT: &str = "the LLVM back end has no just-in-time compiler";

/// A block with a value: its label, and the values that jumps from other labels pass.
pub(super) struct Join {
    label: String,
    ty: Ty,
    ways: Vec<(Value, String)>,
}

impl Instructions for Emitter<'_> {
    type Bit = Rc<str>;
    type Block = String;
    type Join = Join;

    fn type_of(&self, v: &Value) -> Ty {
        v.ty
    }

    fn known(&self, v: &Value) -> Option<i128> {
        v.constant()
    }

    fn zero(&mut self, ty: Ty) -> Value {
        Value::new(zero_text(ty), ty)
    }

    fn as_type(&mut self, v: &Value, to: Ty) -> Value {
        match (v.ty, to) {
            (Ty::Ptr, Ty::I64) if &*v.text == "null" => integer(Ty::I64, 0),
            (Ty::Ptr, Ty::I64) => self.ins(Ty::I64, &format!("ptrtoint ptr {} to i64", v.text)),
            (Ty::I64, Ty::Ptr) if v.constant() == Some(0) => self.null(),
            (Ty::I64, Ty::Ptr) => self.ins(Ty::Ptr, &format!("inttoptr i64 {} to ptr", v.text)),
            _ => v.clone(),
        }
    }

    fn address_of(&mut self, symbol: &SymbolRef) -> Value {
        let name = self.mention(symbol);
        let address = global(&name);
        let declaration = match symbol {
            // The bytes of strings and vtables are elsewhere: only their alignment is known.
            SymbolRef::External(_) => format!("{address} = external global [0 x i8], align 8"),
            _ => format!("{address} = external dso_local global [0 x i8], align 8"),
        };
        self.declarations.entry(name).or_insert(declaration);
        Value::new(address, Ty::Ptr)
    }

    fn location(&mut self, at: u32) -> Value {
        let i = match self.locations.iter().position(|l| *l == at) {
            Some(i) => i,
            None => {
                self.locations.push(at);
                self.locations.len() - 1
            }
        };
        let own = taipan_codegen::mangle_function(self.f);
        Value::new(global(&format!("place.{own}.{i}")), Ty::Ptr)
    }

    fn binary(&mut self, op: Binary, a: &Value, b: &Value) -> Value {
        let name = match op {
            Binary::Add => "add",
            Binary::Sub => "sub",
            Binary::Mul => "mul",
            Binary::SDiv => "sdiv",
            Binary::SRem => "srem",
            Binary::UDiv => "udiv",
            Binary::URem => "urem",
            Binary::And => "and",
            Binary::Or => "or",
            Binary::Xor => "xor",
            Binary::Shl => "shl",
            Binary::AShr => "ashr",
            Binary::LShr => "lshr",
            Binary::FAdd => "fadd",
            Binary::FSub => "fsub",
            Binary::FMul => "fmul",
            Binary::FDiv => "fdiv",
            Binary::UMulHigh => return self.multiply_high(a, b),
            Binary::SMax => {
                let name = format!("llvm.smax.{}", a.ty);
                let text = self.intrinsic(&name, &[a, b], &a.ty.to_string());
                return Value::new(text, a.ty);
            }
        };
        self.ins(a.ty, &format!("{name} {}, {}", a.typed(), b.text))
    }

    fn unary(&mut self, op: Unary, a: &Value) -> Value {
        match op {
            Unary::Neg => self.ins(a.ty, &format!("sub {} 0, {}", a.ty, a.text)),
            Unary::Not => self.ins(a.ty, &format!("xor {}, -1", a.typed())),
            Unary::FNeg => self.ins(a.ty, &format!("fneg {}", a.typed())),
            Unary::FAbs => {
                let text = self.intrinsic("llvm.fabs.f64", &[a], "double");
                Value::new(text, Ty::F64)
            }
        }
    }

    fn compare(&mut self, cond: Cond, signed: bool, a: &Value, b: &Value) -> Rc<str> {
        let cc = match (cond, signed) {
            (Cond::Eq, _) => "eq",
            (Cond::Ne, _) => "ne",
            (Cond::Lt, true) => "slt",
            (Cond::Lt, false) => "ult",
            (Cond::Le, true) => "sle",
            (Cond::Le, false) => "ule",
            (Cond::Gt, true) => "sgt",
            (Cond::Gt, false) => "ugt",
            (Cond::Ge, true) => "sge",
            (Cond::Ge, false) => "uge",
        };
        self.part(&format!("icmp {cc} {}, {}", a.typed(), b.text))
    }

    fn compare_floats(&mut self, cond: Cond, a: &Value, b: &Value) -> Rc<str> {
        let cc = match cond {
            Cond::Eq => "oeq",
            Cond::Ne => "une",
            Cond::Lt => "olt",
            Cond::Le => "ole",
            Cond::Gt => "ogt",
            Cond::Ge => "oge",
        };
        self.part(&format!("fcmp {cc} {}, {}", a.typed(), b.text))
    }

    fn shift(&mut self, op: Binary, a: &Value, count: &Value, known: Option<i128>) -> Value {
        if known.is_some() {
            let count = self.resize(count, a.ty, false);
            return self.binary(op, a, &count);
        }
        let most = integer(count.ty, i128::from(bits(a.ty)) - 1);
        let good = self.part(&format!("icmp ule {}, {}", count.typed(), most.text));
        let clamped = self.select(&good, count, &most);
        let clamped = self.resize(&clamped, a.ty, false);
        let shifted = self.binary(op, a, &clamped);
        if op == Binary::AShr {
            return shifted;
        }
        let zero = integer(a.ty, 0);
        self.select(&good, &shifted, &zero)
    }

    /// The machine's instruction faults; LLVM's would make the code around it undefined.
    fn divided_by_zero(&mut self, ty: Ty) -> Option<Value> {
        self.trap();
        Some(integer(ty, 0))
    }

    fn with_overflow(
        &mut self,
        num: NumOp,
        left: &LLOperand,
        right: &LLOperand,
        _grows: bool,
    ) -> Result<Value, Bad> {
        let (a, b) = (self.word(left)?, self.word(right)?);
        let name = match num {
            NumOp::Add => "llvm.sadd.with.overflow.i64",
            NumOp::Sub => "llvm.ssub.with.overflow.i64",
            _ => "llvm.smul.with.overflow.i64",
        };
        let both = self.intrinsic(name, &[&a, &b], "{ i64, i1 }");
        let value = self.ins(Ty::I64, &format!("extractvalue {{ i64, i1 }} {both}, 0"));
        let overflow = self.part(&format!("extractvalue {{ i64, i1 }} {both}, 1"));
        self.overflow = Some(overflow.to_string());
        Ok(value)
    }

    fn resize(&mut self, v: &Value, to: Ty, signed: bool) -> Value {
        let (Some(from), Some(wanted)) = (v.ty.int_bits(), to.int_bits()) else {
            return v.clone();
        };
        match (from.cmp(&wanted), v.constant()) {
            (std::cmp::Ordering::Equal, _) => v.clone(),
            (std::cmp::Ordering::Greater, Some(n)) => integer(to, n),
            (std::cmp::Ordering::Less, Some(n)) if signed || from >= 128 => integer(to, n),
            (std::cmp::Ordering::Less, Some(n)) => integer(to, n & ((1 << from) - 1)),
            (std::cmp::Ordering::Greater, None) => {
                self.ins(to, &format!("trunc {} to {to}", v.typed()))
            }
            (std::cmp::Ordering::Less, None) => {
                let how = if signed { "sext" } else { "zext" };
                self.ins(to, &format!("{how} {} to {to}", v.typed()))
            }
        }
    }

    fn resize_float(&mut self, v: &Value, to: Ty) -> Value {
        match (v.ty, to) {
            (Ty::F32, Ty::F64) => self.ins(to, &format!("fpext {} to double", v.typed())),
            (Ty::F64, Ty::F32) => self.ins(to, &format!("fptrunc {} to float", v.typed())),
            _ => v.clone(),
        }
    }

    fn saturated(&mut self, v: &Value) -> Value {
        let text = self.intrinsic("llvm.fptosi.sat.i64.f64", &[v], "i64");
        Value::new(text, Ty::I64)
    }

    fn float_of(&mut self, v: &Value, to: Ty, signed: bool) -> Value {
        let how = if signed { "sitofp" } else { "uitofp" };
        self.ins(to, &format!("{how} {} to {to}", v.typed()))
    }

    fn bitcast(&mut self, v: &Value, to: Ty) -> Value {
        self.ins(to, &format!("bitcast {} to {to}", v.typed()))
    }

    fn bit(&mut self, v: &Value) -> Rc<str> {
        if let Some(bit) = self.bits.get(&v.text) {
            return bit.clone();
        }
        match v.constant() {
            Some(0) => "false".into(),
            Some(_) => "true".into(),
            None => self.part(&format!("icmp ne {}, {}", v.typed(), zero_text(v.ty))),
        }
    }

    fn boolean(&mut self, bit: Rc<str>) -> Value {
        let value = self.ins(Ty::I8, &format!("zext i1 {bit} to i8"));
        self.bits.insert(value.text.clone(), bit);
        value
    }

    fn not(&mut self, bit: &Rc<str>) -> Rc<str> {
        self.part(&format!("xor i1 {bit}, true"))
    }

    fn both(&mut self, a: &Rc<str>, b: &Rc<str>) -> Rc<str> {
        self.part(&format!("and i1 {a}, {b}"))
    }

    fn select(&mut self, bit: &Rc<str>, yes: &Value, no: &Value) -> Value {
        let text = format!("select i1 {bit}, {}, {}", yes.typed(), no.typed());
        self.ins(yes.ty, &text)
    }

    fn block(&mut self, name: &str) -> String {
        self.new_label(name)
    }

    fn cold_block(&mut self, name: &str) -> String {
        self.new_label(name)
    }

    fn join(&mut self, name: &str, ty: Ty) -> Join {
        Join {
            label: self.new_label(name),
            ty,
            ways: Vec::new(),
        }
    }

    fn start(&mut self, block: &String) {
        self.start_label(block);
    }

    fn start_join(&mut self, join: Join) -> Value {
        self.start_label(&join.label);
        let ways: Vec<String> = (join.ways.iter())
            .map(|(v, label)| format!("[ {}, %{label} ]", v.text))
            .collect();
        self.ins(join.ty, &format!("phi {} {}", join.ty, ways.join(", ")))
    }

    fn jump(&mut self, to: &String) {
        self.go(to);
    }

    fn jump_to_join(&mut self, to: &mut Join, v: &Value) {
        to.ways.push((v.clone(), self.label.clone()));
        self.go(&to.label);
    }

    fn branch(&mut self, bit: &Rc<str>, yes: &String, no: &String, rare: Rare) {
        self.branch_if(bit, yes, no, weights(rare));
    }

    fn branch_or_join(
        &mut self,
        bit: &Rc<str>,
        yes: &String,
        (no, v): (&mut Join, &Value),
        rare: Rare,
    ) {
        no.ways.push((v.clone(), self.label.clone()));
        self.branch_if(bit, yes, &no.label, weights(rare));
    }

    fn branch_to_joins(
        &mut self,
        bit: &Rc<str>,
        (yes, v): (&mut Join, &Value),
        (no, w): (&mut Join, &Value),
        rare: Rare,
    ) {
        yes.ways.push((v.clone(), self.label.clone()));
        no.ways.push((w.clone(), self.label.clone()));
        self.branch_if(bit, &yes.label, &no.label, weights(rare));
    }

    fn never_reached(&mut self) {
        self.trap();
        self.run("unreachable");
    }

    fn load_at(&mut self, ty: Ty, access: &Access<'_>, base: &Value, offset: i64) -> Value {
        let at = self.place_at(access, base, offset);
        let tag = self.tag_of(access);
        let mut notes = String::new();
        if access.part == Part::Length {
            let range = self.metadata(Metadata::Length);
            notes = format!(", !range {range}");
        }
        if access.is_constant {
            let nothing = self.metadata(Metadata::Empty);
            notes = format!(", !invariant.load {nothing}");
        }
        let how = if access.is_unknown {
            "load volatile"
        } else {
            "load"
        };
        let (at, align) = (&at.text, access.align);
        self.ins(
            ty,
            &format!("{how} {ty}, ptr {at}, align {align}{tag}{notes}"),
        )
    }

    fn store_at(&mut self, access: &Access<'_>, v: &Value, base: &Value, offset: i64) {
        let at = self.place_at(access, base, offset);
        let tag = self.tag_of(access);
        let (at, align) = (&at.text, access.align);
        self.run(&format!(
            "store {}, ptr {at}, align {align}{tag}",
            v.typed()
        ));
    }

    fn advance(&mut self, base: &Value, distance: &Value) -> Value {
        let base = self.as_type(base, Ty::Ptr);
        let distance = self.as_type(distance, Ty::I64);
        if distance.constant() == Some(0) {
            return base;
        }
        let text = format!("getelementptr i8, ptr {}, {}", base.text, distance.typed());
        self.ins(Ty::Ptr, &text)
    }

    fn inside(&mut self, base: &Value, offset: u64) -> Value {
        if offset == 0 {
            return base.clone();
        }
        let text = format!("getelementptr inbounds i8, ptr {}, i64 {offset}", base.text);
        self.ins(Ty::Ptr, &text)
    }

    fn state(&mut self) -> Value {
        self.address_of(&SymbolRef::External(abi::STATE.into()))
    }

    fn load_state(&mut self, offset: i32, ty: Ty) -> Value {
        let (place, tag) = (self.state_place(offset), self.tag_of(&Access::STATE));
        self.ins(ty, &format!("load {ty}, ptr {place}, align 8{tag}"))
    }

    fn store_state(&mut self, offset: i32, v: &Value) {
        let (place, tag) = (self.state_place(offset), self.tag_of(&Access::STATE));
        self.run(&format!("store {}, ptr {place}, align 8{tag}", v.typed()));
    }

    fn pending_signals(&mut self) -> Value {
        let place = self.state_place(abi::state::SIGNALS);
        // An atomic one is never taken for one before it.
        let text = format!("load atomic volatile i64, ptr {place} monotonic, align 8");
        self.ins(Ty::I64, &text)
    }

    fn call_runtime(&mut self, f: RuntimeFunction, args: &[Value]) -> Option<Value> {
        self.call_runtime_with("", f, args)
    }

    fn call_allocation(&mut self, f: RuntimeFunction, args: &[Value]) -> Result<Value, Bad> {
        // Checked code reads memory that was never written, to find out whether it was freed. LLVM may assume any
        // contents of the result of a `noalias` function.
        let any_contents = !self.checked || ![runtime::MALLOC, runtime::CALLOC].contains(&f);
        let attribute = if any_contents { "noalias " } else { "" };
        let result = self.call_runtime_with(attribute, f, args);
        result.ok_or_else(|| "no result".to_owned())
    }

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

    fn call_function(&mut self, f: &FuncSym, values: &[Value]) -> Result<Option<Value>, Bad> {
        let external = matches!(f.kind(), FuncKind::External { .. });
        let signature = Signature::of(f.ty(), external)?;
        let address = self.function_address(f)?;
        Ok(self.call_signature(&address.text, &signature, values))
    }

    fn call_address(
        &mut self,
        address: &Value,
        ty: &FuncType,
        values: &[Value],
    ) -> Result<Option<Value>, Bad> {
        let signature = Signature::of(ty, false)?;
        Ok(self.call_signature(&address.text, &signature, values))
    }

    fn callback(&mut self, f: &FuncSym) -> Result<Value, Bad> {
        let signature = Signature::of(f.ty(), true)?;
        let name = self.mention(&SymbolRef::Glue(Glue::Callback(f.clone())));
        let address = global(&name);
        self.declarations
            .entry(name)
            .or_insert_with(|| signature.declare(&address, ""));
        Ok(Value::new(address, Ty::Ptr))
    }

    fn instruction_of(&mut self, name: &str, args: &[Value]) -> Option<Value> {
        let known = match (name, args) {
            ("sqrt" | "fabs" | "floor" | "ceil" | "trunc", [_]) | ("copysign", [_, _]) => {
                args.iter().all(|a| a.ty == Ty::F64)
            }
            _ => false,
        };
        if !known {
            return None;
        }
        let args: Vec<&Value> = args.iter().collect();
        let text = self.intrinsic(&format!("llvm.{name}.f64"), &args, "double");
        Some(Value::new(text, Ty::F64))
    }

    fn frame(&self) -> Option<RootsFrame> {
        self.roots
    }

    fn enter_frame(&mut self, frame: RootsFrame) {
        if self.roots.is_none() {
            self.slot(FRAME, "ptr");
        }
        self.take_machine_stack(frame);
        self.roots = Some(frame);
    }

    fn set_roots_base(&mut self, base: &Value) {
        self.run(&format!("store {}, ptr {FRAME}, align 8", base.typed()));
    }

    fn roots_base(&mut self) -> Value {
        self.ins(Ty::Ptr, &format!("load ptr, ptr {FRAME}, align 8"))
    }

    fn stack_pointer(&mut self) -> Value {
        let register = self.metadata(Metadata::StackPointer);
        (self.declarations)
            .entry("llvm.read_register.i64".to_owned())
            .or_insert_with(|| "declare i64 @llvm.read_register.i64(metadata)".to_owned());
        let text = format!("call i64 @llvm.read_register.i64(metadata {register})");
        self.ins(Ty::I64, &text)
    }

    fn frame_address(&mut self) -> Value {
        let level = Value::new("0", Ty::I32);
        let frame = self.intrinsic("llvm.frameaddress.p0", &[&level], "ptr");
        Value::new(frame, Ty::Ptr)
    }

    /// The free part of the nursery is not null even if there is none.
    fn nursery_free(&mut self) -> Value {
        let place = self.state_place(abi::state::NURSERY_FREE);
        let tag = self.tag_of(&Access::STATE);
        let empty = self.metadata(Metadata::Empty);
        let text = format!("load ptr, ptr {place}, align 8{tag}, !nonnull {empty}");
        self.ins(Ty::Ptr, &text)
    }

    fn set_nursery_full(&mut self, block: String) {
        self.nursery_full = Some(block);
    }

    fn clear_words(&mut self, start: &Value, end: &Value, (done, result): (&mut Join, &Value)) {
        let (clear, cleared) = (self.new_label("clear"), self.new_label("cleared"));
        let (start, end) = (&start.text, &end.text);
        let some = self.part(&format!("icmp ult ptr {start}, {end}"));
        let before = self.label.clone();
        self.branch_if(&some, &clear, &cleared, None);
        self.start_label(&clear);
        let next = self.name();
        let text = format!("phi ptr [ {start}, %{before} ], [ {next}, %{clear} ]");
        let at = self.part(&text);
        let tag = self.tag_of(&Access::HEAP);
        self.run(&format!("store i64 0, ptr {at}, align 8{tag}"));
        self.run(&format!("{next} = getelementptr i8, ptr {at}, i64 8"));
        let more = self.part(&format!("icmp ult ptr {next}, {end}"));
        self.branch_if(&more, &clear, &cleared, None);
        self.start_label(&cleared);
        self.jump_to_join(done, result);
    }
}

impl Units for Emitter<'_> {
    fn jit_enter(&mut self, _driver: &LLOperand, _greens: &[LLOperand]) -> Result<Value, Bad> {
        Err(NO_JIT.into())
    }

    fn unit_operation(
        &mut self,
        _view: View<'_, LLOperand>,
        _op: &Operation<LowLevel>,
    ) -> Result<Option<Value>, Bad> {
        Err(NO_JIT.into())
    }
}

impl Emitter<'_> {
    /// The upper half of a product of words.
    fn multiply_high(&mut self, a: &Value, b: &Value) -> Value {
        let [a, b] = [a, b].map(|v| self.resize(v, Ty::I128, false));
        let product = self.ins(Ty::I128, &format!("mul {}, {}", a.typed(), b.text));
        let high = self.ins(Ty::I128, &format!("lshr {}, 64", product.typed()));
        self.ins(Ty::I64, &format!("trunc {} to i64", high.typed()))
    }

    /// The address of an access.
    fn place_at(&mut self, access: &Access<'_>, base: &Value, offset: i64) -> Value {
        // The state is declared without its size.
        match u64::try_from(offset) {
            Ok(offset) if access.region != Region::State => self.inside(base, offset),
            _ => self.advance(base, &integer(Ty::I64, offset.into())),
        }
    }

    /// The tag of an access: its class of memory, and the part of that.
    fn tag_of(&mut self, access: &Access<'_>) -> String {
        let region = match access.region {
            Region::Heap => HEAP,
            Region::State => STATE,
            Region::Roots => ROOTS,
        };
        let part = match access.part {
            Part::Any => None,
            Part::Field(ty, name) => Some(format!("{ty}.{name}")),
            Part::Items(ty) => Some(format!("items of {ty}")),
            Part::Length => Some("length".to_owned()),
        };
        let path = [Some(region.to_owned()), part];
        let number = self.metadata(Metadata::Access(path.into_iter().flatten().collect()));
        format!(", !tbaa {number}")
    }

    fn call_signature(
        &mut self,
        address: &str,
        signature: &Signature,
        values: &[Value],
    ) -> Option<Value> {
        let passed: Vec<String> = (values.iter().zip(&signature.params))
            .map(|(v, p)| format!("{p} {}", v.text))
            .collect();
        let text = format!(
            "call {} {address}({})",
            signature.result_text(),
            passed.join(", ")
        );
        match signature.result {
            Some(ty) => Some(self.ins(ty, &text)),
            None => {
                self.run(&text);
                None
            }
        }
    }

    /// See [`RootsFrame::machine_bytes`]. An instruction that mentions the memory and does nothing keeps LLVM from
    /// dropping it.
    fn take_machine_stack(&mut self, frame: RootsFrame) {
        let bytes = frame.machine_bytes(LINKAGE);
        if bytes == 0 {
            return;
        }
        let name = self.name();
        let ty = format!("[{bytes} x i8]");
        self.slot(&name, &ty);
        let text = format!("call void asm sideeffect \"\", \"*m\"(ptr elementtype({ty}) {name})");
        self.run(&text);
    }

    /// Ends the program.
    fn trap(&mut self) {
        (self.declarations)
            .entry("llvm.trap".to_owned())
            .or_insert_with(|| "declare void @llvm.trap()".to_owned());
        self.run("call void @llvm.trap()");
    }
}

fn bits(ty: Ty) -> u32 {
    ty.int_bits().unwrap_or(64)
}

fn zero_text(ty: Ty) -> &'static str {
    match ty {
        Ty::Ptr => "null",
        Ty::F32 | Ty::F64 => "0.0",
        _ => "0",
    }
}

fn weights(rare: Rare) -> Option<Metadata> {
    match rare {
        Rare::None => None,
        Rare::First => Some(Metadata::FirstIsRare),
        Rare::Second => Some(Metadata::SecondIsRare),
    }
}
