//! The interpreter loop (RPython: `llinterp.py`).

use std::fmt;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use taipan_graph::Operation;
use taipan_language::Exc;
use taipan_lltype::{
    Addr, CodePlace, FuncKind, FuncSym, Heap, HeapError, LLGraph, LLOperand, LLType, LLValue,
    LowLevel, Memory, OBJECT_VTABLE, Program, TypeKind, convert, eval_num, eval_ovf, eval_wide,
    mul_high, word_of_u64,
};

use crate::code::{CONSTANT, Code, Inst, ItemShape, LinkCode, Opnd, OpndList};
use crate::decode::decode;
use crate::externals::{self, ExternalError, Host};
use crate::growing::{CallHook, JIT_ENTER};

/// Why a call did not return.
#[derive(Clone, Debug)]
pub enum LLError {
    /// It raised.
    Raised(LLException),
    /// The program ended the process, with this exit code.
    Exit(i32),
    /// The graphs did what low-level code must not do.
    Fault(Fault),
}

/// An RPython-level exception.
#[derive(Clone, Debug)]
pub struct LLException {
    /// Its class: address of a vtable.
    pub etype: Addr,
    /// Its instance.
    pub evalue: Addr,
    /// Name of the class.
    pub name: String,
    /// Names of the functions it went through, innermost first.
    pub traceback: Vec<String>,
}

/// An error of the low-level code itself: a use after free, a read out of bounds, ...
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// What happened.
    pub message: String,
    /// Name of the graph.
    pub graph: String,
    /// The operation.
    pub operation: String,
    /// The access that went wrong, if it was one.
    pub access: Option<HeapError>,
    /// The operation and the calls that led to it, innermost first.
    pub calls: Vec<CodePlace>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}: {}", self.message, self.graph, self.operation)
    }
}

impl fmt::Display for LLError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LLError::Raised(e) => f.write_str(&e.name),
            LLError::Exit(code) => write!(f, "exit code {code}"),
            LLError::Fault(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for LLError {}

/// What stops the loop; places are added on the way out.
pub(crate) enum Stop {
    Raise(Addr, Addr),
    Heap(HeapError),
    Text(String),
    Exit(i32),
}

impl From<HeapError> for Stop {
    fn from(e: HeapError) -> Self {
        Stop::Heap(e)
    }
}

enum Callee {
    Graph(Rc<Code>),
    External(FuncSym),
}

pub(crate) struct Frame {
    pub(crate) code: Rc<Code>,
    pub(crate) base: usize,
    /// The call that is under way, or the instruction being executed.
    pub(crate) pc: usize,
    /// Slot of the caller that takes the result.
    dst: u32,
    pub(crate) roots: usize,
}

impl Frame {
    /// The operation that is being executed; none at the end of a block.
    fn operation(&self) -> Option<&Operation<LowLevel>> {
        let (block, i) = self.code.places.get(self.pc)?;
        let block = self.code.graph.block(*block);
        block.operations.get(*i as usize)
    }
}

/// Executes low-level graphs, of any stage between rtyping and the GC transform.
pub struct LLInterpreter<'p> {
    /// Its memory.
    pub heap: Heap<'p>,
    /// The outside world.
    pub host: Host,
    /// How many calls and jumps may be executed, if limited.
    pub fuel: Option<u64>,
    /// Who implements further external functions.
    pub hook: Option<Rc<dyn CallHook<'p> + 'p>>,
    callees: FxHashMap<u32, Rc<Callee>>,
    pub(crate) regs: Vec<u64>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) roots: Vec<Addr>,
    /// `rpy_exc` of graphs after the exception transform.
    pub(crate) exc: (Addr, Addr),
    /// Finalizers are being called: a collection meanwhile calls no more of them.
    pub(crate) finalizing: bool,
    exceptions: FxHashMap<Exc, (Addr, Addr)>,
    pub(crate) thread_locals: FxHashMap<u64, u64>,
    pub(crate) ticks: u64,
}

impl<'p> LLInterpreter<'p> {
    /// An interpreter with an empty heap.
    pub fn new(program: &'p dyn Program) -> Self {
        LLInterpreter {
            heap: Heap::new(program),
            host: Host::default(),
            fuel: None,
            hook: None,
            callees: FxHashMap::default(),
            regs: Vec::new(),
            frames: Vec::new(),
            roots: Vec::new(),
            exc: (0, 0),
            finalizing: false,
            exceptions: FxHashMap::default(),
            thread_locals: FxHashMap::default(),
            ticks: 0,
        }
    }

    /// Calls a function (RPython: `eval_graph`). One value per argument, Void ones too.
    pub fn eval(&mut self, f: &FuncSym, args: Vec<LLValue>) -> Result<LLValue, LLError> {
        let id = func_id(self.heap.func_addr(f));
        let depth = self.frames.len();
        let done = self.eval_callee(id, &args);
        let (base, roots) = match self.frames.get(depth) {
            Some(f) => (f.base, f.roots),
            None => (self.regs.len(), self.roots.len()),
        };
        let result = match done {
            Ok(v) if self.exc.0 == 0 => Ok(v),
            Ok(_) => {
                let (etype, evalue) = std::mem::take(&mut self.exc);
                Err(self.raised(etype, evalue, depth))
            }
            Err(Stop::Raise(etype, evalue)) => Err(self.raised(etype, evalue, depth)),
            Err(Stop::Exit(code)) => Err(LLError::Exit(code)),
            Err(Stop::Heap(e)) => Err(self.fault(e.to_string(), Some(e))),
            Err(Stop::Text(s)) => Err(self.fault(s, None)),
        };
        self.frames.truncate(depth);
        self.regs.truncate(base);
        self.roots.truncate(roots);
        result
    }

    pub(crate) fn eval_callee(&mut self, id: u32, args: &[LLValue]) -> Result<LLValue, Stop> {
        let callee = self.callee(id)?;
        let words: Vec<i128> = args.iter().map(|a| a.word()).collect();
        match &*callee {
            Callee::External(f) => {
                let given = f.ty().args.iter().zip(&words).filter(|(t, _)| !t.is_void());
                let words: Vec<i128> = given.map(|(_, w)| *w).collect();
                Ok(LLValue::from_word(
                    self.call_external(f, &words)?,
                    f.ty().result,
                ))
            }
            Callee::Graph(code) => {
                if code.args.len() != args.len() {
                    return Err(Stop::Text(format!(
                        "{} takes {} arguments, not {}",
                        code.graph.name,
                        code.args.len(),
                        args.len()
                    )));
                }
                let base = self.regs.len();
                self.regs.resize(base + code.slots as usize + 1, 0);
                for ((slot, ty), w) in code.args.iter().zip(&words) {
                    self.regs[base + *slot as usize] = *w as u64;
                    if is_wide(*ty) {
                        self.regs[base + *slot as usize + 1] = (*w >> 64) as u64;
                    }
                }
                let bottom = self.frames.len();
                self.frames.push(Frame {
                    code: code.clone(),
                    base,
                    pc: 0,
                    dst: 0,
                    roots: self.roots.len(),
                });
                let mut w = self.run(bottom)?;
                if !is_wide(code.result) {
                    w = word_of_u64(w as u64, code.result);
                }
                Ok(LLValue::from_word(w, code.result))
            }
        }
    }

    /// Name of an exception class, from its vtable.
    pub fn class_name(&mut self, vtable: Addr) -> Result<String, HeapError> {
        let name = self.heap.get_field(vtable, *OBJECT_VTABLE, "name")?;
        match name.as_addr() {
            Some(a) if a != 0 => Ok(String::from_utf8_lossy(&self.heap.str_bytes(a)?).into_owned()),
            _ => Err(HeapError::Null),
        }
    }

    fn raised(&mut self, etype: Addr, evalue: Addr, depth: usize) -> LLError {
        let name = self
            .class_name(etype)
            .unwrap_or_else(|_| "<unknown exception>".into());
        let traceback = (self.frames[depth.min(self.frames.len())..].iter().rev())
            .map(|f| f.code.graph.name.to_string())
            .collect();
        LLError::Raised(LLException {
            etype,
            evalue,
            name,
            traceback,
        })
    }

    fn fault(&mut self, message: String, access: Option<HeapError>) -> LLError {
        let (graph, operation) = match self.frames.last() {
            Some(f) => {
                let graph = &f.code.graph;
                let text = f
                    .operation()
                    .map_or("end of a block".into(), |op| op_text(graph, op));
                (graph.name.to_string(), text)
            }
            None => ("the caller".into(), "call".into()),
        };
        let calls = (self.frames.iter().rev())
            .filter_map(|f| {
                let func = f.code.func.clone();
                Some(f.operation()?.at).map(|at| CodePlace { func, at })
            })
            .collect();
        LLError::Fault(Fault {
            message,
            graph,
            operation,
            access,
            calls,
        })
    }

    fn callee(&mut self, id: u32) -> Result<Rc<Callee>, Stop> {
        if let Some(c) = self.callees.get(&id) {
            return Ok(c.clone());
        }
        let addr = (u64::from(id) | u64::from(CONSTANT)) << 32;
        let f = self.heap.func_at(addr)?.clone();
        let callee = match f.kind() {
            FuncKind::External { .. } => Callee::External(f),
            _ => {
                let graph = (self.heap.program().graph(&f))
                    .ok_or_else(|| Stop::Text(format!("no graph of {}", f.name())))?;
                Callee::Graph(Rc::new(decode(&f, graph, &mut self.heap)))
            }
        };
        let callee = Rc::new(callee);
        self.callees.insert(id, callee.clone());
        Ok(callee)
    }

    fn exception(&mut self, exception: Exc) -> Stop {
        let heap = &mut self.heap;
        let (etype, evalue) = *self.exceptions.entry(exception).or_insert_with(|| {
            let program = heap.program();
            let vtable = program.exception_vtable(exception);
            let instance = program.exception_instance(exception);
            (heap.static_addr(&vtable), heap.static_addr(&instance))
        });
        Stop::Raise(etype, evalue)
    }

    /// Whether the exception class `etype` is `class` or a subclass of it.
    fn matches(&mut self, etype: Addr, class: Addr) -> Result<bool, Stop> {
        if etype == class {
            return Ok(true);
        }
        let mut number = |vtable, name| {
            let v = self.heap.get_field(vtable, *OBJECT_VTABLE, name)?;
            Ok::<i128, HeapError>(v.word())
        };
        let min = number(etype, "subclassrange_min")?;
        Ok(number(class, "subclassrange_min")? <= min && min < number(class, "subclassrange_max")?)
    }

    /// Runs the topmost frame until it returns; frames up to it stay for the report
    /// when it does not.
    fn run(&mut self, bottom: usize) -> Result<i128, Stop> {
        loop {
            match self.run_frame(bottom) {
                Ok(v) => return Ok(v),
                Err(Stop::Raise(etype, evalue)) => self.unwind(bottom, etype, evalue)?,
                Err(other) => return Err(other),
            }
        }
    }

    /// Finds what catches an exception raised in the topmost frame.
    fn unwind(&mut self, bottom: usize, etype: Addr, evalue: Addr) -> Result<(), Stop> {
        for top in (bottom..self.frames.len()).rev() {
            let frame = &self.frames[top];
            let (code, base) = (frame.code.clone(), frame.base);
            for h in code.handlers(frame.pc) {
                if !self.matches(etype, h.class)? {
                    continue;
                }
                self.frames.truncate(top + 1);
                self.regs.truncate(base + code.slots as usize + 1);
                for (slot, v) in [(h.etype, etype), (h.evalue, evalue)] {
                    if let Some(slot) = slot {
                        self.regs[base + slot as usize] = v;
                    }
                }
                let link = &code.links[h.link as usize];
                self.follow(&code, base, link);
                self.frames[top].pc = link.target as usize;
                return Ok(());
            }
        }
        Err(Stop::Raise(etype, evalue))
    }

    #[inline]
    fn get(&self, code: &Code, base: usize, o: Opnd) -> u64 {
        if o.0 & CONSTANT == 0 {
            self.regs[base + o.0 as usize]
        } else {
            code.constants[(o.0 & !CONSTANT) as usize]
        }
    }

    fn get_wide(&self, code: &Code, base: usize, o: Opnd) -> i128 {
        let (low, high) = (self.get(code, base, o), self.get(code, base, o.high()));
        i128::from(low) | i128::from(high as i64) << 64
    }

    #[inline]
    fn follow(&mut self, code: &Code, base: usize, link: &LinkCode) {
        if link.overlapping {
            let values: Vec<u64> = link
                .moves
                .iter()
                .map(|m| self.get(code, base, m.0))
                .collect();
            for (m, v) in link.moves.iter().zip(values) {
                self.regs[base + m.1 as usize] = v;
            }
        } else {
            for (from, to) in &link.moves {
                self.regs[base + *to as usize] = self.get(code, base, *from);
            }
        }
    }

    fn burn(&mut self) -> Result<(), Stop> {
        if let Some(fuel) = &mut self.fuel {
            if *fuel == 0 {
                return Err(Stop::Text("too many steps".into()));
            }
            *fuel -= 1;
        }
        Ok(())
    }

    /// Executes the topmost frame, and those it calls, until the one at `bottom`
    /// returns. On an error the pc of the topmost frame is the instruction at fault.
    #[expect(
        clippy::too_many_lines,
        reason = "a table: an arm per instruction, with few lines each"
    )]
    fn run_frame(&mut self, bottom: usize) -> Result<i128, Stop> {
        let Some(top) = self.frames.last() else {
            return Err(Stop::Text("no frame".into()));
        };
        let (mut code, mut base, mut pc) = (top.code.clone(), top.base, top.pc);
        macro_rules! get {
            ($o:expr) => {
                self.get(&code, base, $o)
            };
        }
        macro_rules! set {
            ($dst:expr, $v:expr) => {{
                let v = $v;
                self.regs[base + $dst as usize] = v;
            }};
        }
        // An error leaves the loop through here, with the place noted.
        macro_rules! check {
            ($e:expr) => {
                match $e {
                    Ok(v) => v,
                    Err(e) => {
                        if let Some(top) = self.frames.last_mut() {
                            top.pc = pc;
                        }
                        return Err(e.into());
                    }
                }
            };
        }
        macro_rules! jump {
            ($link:expr) => {{
                let link = &code.links[$link as usize];
                self.follow(&code, base, link);
                check!(self.burn());
                pc = link.target as usize;
                continue;
            }};
        }
        loop {
            match code.insts[pc] {
                Inst::Num {
                    family,
                    op,
                    a,
                    b,
                    dst,
                } => {
                    let (a, b) = (get!(a), get!(b));
                    match eval_num(family, op, a, b) {
                        Some(v) => set!(dst, v),
                        None => check!(Err(Stop::Text("division by zero".into()))),
                    }
                }
                Inst::Wide {
                    signed,
                    op,
                    a,
                    b,
                    b_wide,
                    dst,
                    dst_wide,
                } => {
                    let a = self.get_wide(&code, base, a);
                    let b = match b_wide {
                        true => self.get_wide(&code, base, b),
                        false => i128::from(get!(b) as i64),
                    };
                    let Some(v) = eval_wide(signed, op, a, b) else {
                        check!(Err(Stop::Text("division by zero".into())))
                    };
                    set!(dst, v as u64);
                    if dst_wide {
                        set!(dst + 1, (v >> 64) as u64);
                    }
                }
                Inst::Ovf { op, a, b, dst } => match eval_ovf(op, get!(a) as i64, get!(b) as i64) {
                    Some(v) => set!(dst, v as u64),
                    None => check!(Err(self.exception(Exc::OverflowError))),
                },
                Inst::Between { a, b, c, dst } => {
                    let [a, b, c] = [get!(a) as i64, get!(b) as i64, get!(c) as i64];
                    set!(dst, u64::from(a <= b && b < c));
                }
                Inst::ForceGeZero { a, dst } => set!(dst, (get!(a) as i64).max(0) as u64),
                Inst::MulHigh { a, b, dst } => set!(dst, mul_high(get!(a), get!(b))),
                Inst::Move { a, dst } => set!(dst, get!(a)),
                Inst::Convert { a, from, to, dst } => {
                    let (from, to) = (code.types[from as usize], code.types[to as usize]);
                    let w = match is_wide(from) {
                        true => self.get_wide(&code, base, a),
                        false => word_of_u64(get!(a), from),
                    };
                    let Some(v) = convert(w, from, to) else {
                        check!(Err(Stop::Text(format!("cast from {from} to {to}"))))
                    };
                    set!(dst, v as u64);
                    if is_wide(to) {
                        set!(dst + 1, (v >> 64) as u64);
                    }
                }
                Inst::CheckCast { a, to, dst } => {
                    let a = get!(a);
                    if a != 0 {
                        check!(self.heap.check_cast(a, code.types[to as usize]));
                    }
                    set!(dst, a);
                }
                Inst::Load {
                    p,
                    offset,
                    access,
                    dst,
                } => {
                    let at = get!(p).wrapping_add(u64::from(offset));
                    set!(dst, check!(self.heap.load(at, access)));
                }
                Inst::Store {
                    p,
                    offset,
                    access,
                    v,
                } => {
                    let at = get!(p).wrapping_add(u64::from(offset));
                    let v = get!(v);
                    check!(self.heap.store(at, access, v));
                }
                Inst::LoadItem {
                    p,
                    index,
                    shape,
                    access,
                    dst,
                } => {
                    let (p, index) = (get!(p), get!(index));
                    let at = check!(self.item_address(&code.shapes[shape as usize], p, index));
                    set!(dst, check!(self.heap.load(at, access)));
                }
                Inst::StoreItem {
                    p,
                    index,
                    shape,
                    access,
                    v,
                } => {
                    let (p, index, v) = (get!(p), get!(index), get!(v));
                    let at = check!(self.item_address(&code.shapes[shape as usize], p, index));
                    check!(self.heap.store(at, access, v));
                }
                Inst::ItemAddr {
                    p,
                    index,
                    shape,
                    dst,
                } => {
                    let (p, index) = (get!(p), get!(index));
                    set!(
                        dst,
                        check!(self.item_address(&code.shapes[shape as usize], p, index))
                    );
                }
                Inst::Malloc {
                    ty,
                    length,
                    zero,
                    dst,
                } => {
                    let length = get!(length);
                    let ty = code.types[ty as usize];
                    if self.heap.wants_collection() {
                        check!(self.collect(pc));
                    }
                    match self.heap.malloc(ty, length, zero) {
                        Ok(a) => set!(dst, a),
                        Err(HeapError::OutOfMemory) => {
                            check!(Err(self.exception(Exc::MemoryError)))
                        }
                        Err(e) => check!(Err(e)),
                    }
                }
                Inst::Finalize { p } => self.heap.register(0, get!(p)),
                Inst::Nursery { ty, full, dst } => {
                    // Both ways are as good here; graphs are tested by taking both.
                    self.ticks += 1;
                    if self.ticks.is_multiple_of(2) {
                        jump!(full);
                    }
                    set!(
                        dst,
                        check!(self.heap.malloc(code.types[ty as usize], 0, true))
                    );
                }
                Inst::Call { func, args, dst } => {
                    if let Some(top) = self.frames.last_mut() {
                        top.pc = pc;
                    }
                    if self.call(func, &code, base, args, dst)? {
                        (code, base, pc) = self.entered();
                        continue;
                    }
                    // A function that grows may have grown.
                    if self.hook.is_some() {
                        (code, base, pc) = self.entered();
                    }
                }
                Inst::CallIndirect { func, args, dst } => {
                    if let Some(top) = self.frames.last_mut() {
                        top.pc = pc;
                    }
                    let addr = get!(func);
                    self.heap.func_at(addr)?;
                    if self.call(func_id(addr), &code, base, args, dst)? {
                        (code, base, pc) = self.entered();
                        continue;
                    }
                }
                Inst::Run { run, args, dst } => {
                    let words: Vec<u64> = code.list(args).iter().map(|o| get!(*o)).collect();
                    let v = check!(self.run_by_name(run, &words));
                    set!(dst, v);
                }
                Inst::CopyItems { ty, args } => {
                    let words: Vec<u64> = code.list(args).iter().map(|o| get!(*o)).collect();
                    check!(self.copy_items(&words, code.types[ty as usize]));
                }
                Inst::Collect => check!(self.collect(pc)),
                Inst::JitEnter { args, dst } => {
                    if let Some(top) = self.frames.last_mut() {
                        top.pc = pc;
                    }
                    let words: Vec<i128> = (code.list(args).iter())
                        .map(|o| i128::from(get!(*o)))
                        .collect();
                    let v = match self.call_hook(JIT_ENTER, &words) {
                        Some(entry) => check!(entry) as u64,
                        // Nobody compiles anything here.
                        None => 0,
                    };
                    set!(dst, v);
                }
                Inst::Goto { link } => jump!(link),
                Inst::Branch { cond, yes, no } => {
                    let link = if get!(cond) != 0 { yes } else { no };
                    jump!(link);
                }
                Inst::SkipIfZero { cond, to } => {
                    if get!(cond) == 0 {
                        pc = to as usize;
                        continue;
                    }
                }
                Inst::Switch { v, wide, table } => {
                    let table = &code.switches[table as usize];
                    let low = get!(v);
                    let key = match wide {
                        true => self.get_wide(&code, base, v),
                        false => i128::from(low as i64),
                    };
                    // Unsigned keys are stored zero-extended, signed ones sign-extended.
                    let found = (table.cases.binary_search_by_key(&key, |c| c.0))
                        .or_else(|_| table.cases.binary_search_by_key(&i128::from(low), |c| c.0));
                    match (found, table.default) {
                        (Ok(i), _) => jump!(table.cases[i].1),
                        (Err(_), Some(link)) => jump!(link),
                        _ => check!(Err(Stop::Text("no case of a switch applies".into()))),
                    }
                }
                Inst::Return { v } => {
                    let low = get!(v);
                    let wide = is_wide(code.result);
                    let w = if wide {
                        self.get_wide(&code, base, v)
                    } else {
                        i128::from(low)
                    };
                    let Some(done) = self.frames.pop() else {
                        return Err(Stop::Text("no frame".into()));
                    };
                    self.regs.truncate(done.base);
                    if self.frames.len() == bottom {
                        return Ok(w);
                    }
                    (code, base, pc) = self.entered();
                    set!(done.dst, low);
                    if wide {
                        set!(done.dst + 1, (w >> 64) as u64);
                    }
                }
                Inst::Raise { etype, evalue } => {
                    let (etype, evalue) = (get!(etype), get!(evalue));
                    check!(Err(Stop::Raise(etype, evalue)));
                }
                Inst::Fault { message } => {
                    check!(Err(Stop::Text(code.faults[message as usize].clone())));
                }
            }
            pc += 1;
        }
    }

    /// The state of the topmost frame.
    fn entered(&self) -> (Rc<Code>, usize, usize) {
        let top = &self.frames[self.frames.len() - 1];
        (top.code.clone(), top.base, top.pc)
    }

    /// Calls a function. True if a frame was entered, false if it is done.
    fn call(
        &mut self,
        func: u32,
        code: &Rc<Code>,
        base: usize,
        args: OpndList,
        dst: u32,
    ) -> Result<bool, Stop> {
        let callee = match self.callees.get(&func) {
            Some(c) => c.clone(),
            None => self.callee(func)?,
        };
        match &*callee {
            Callee::Graph(target) => {
                if self.host.depth.is_too_big(self.frames.len()) {
                    return Err(self.exception(Exc::StackOverflow));
                }
                self.burn()?;
                let new_base = self.regs.len();
                self.regs.resize(new_base + target.slots as usize + 1, 0);
                let opnds = code.list(args);
                let mut i = 0;
                for (slot, ty) in &target.args {
                    if ty.is_void() {
                        continue;
                    }
                    for half in 0..if is_wide(*ty) { 2 } else { 1 } {
                        let Some(o) = opnds.get(i) else {
                            return Err(Stop::Text(format!(
                                "too few arguments for {}",
                                target.graph.name
                            )));
                        };
                        self.regs[new_base + *slot as usize + half] = self.get(code, base, *o);
                        i += 1;
                    }
                }
                self.frames.push(Frame {
                    code: target.clone(),
                    base: new_base,
                    pc: 0,
                    dst,
                    roots: self.roots.len(),
                });
                Ok(true)
            }
            Callee::External(f) => {
                let mut words = Vec::new();
                let mut opnds = code.list(args).iter();
                for ty in f.ty().args.iter().filter(|t| !t.is_void()) {
                    let o = opnds
                        .next()
                        .ok_or_else(|| Stop::Text("too few arguments".into()))?;
                    words.push(word_of_u64(self.get(code, base, *o), *ty));
                }
                let w = self.call_external(f, &words)?;
                if !f.ty().result.is_void() {
                    self.regs[base + dst as usize] = w as u64;
                }
                Ok(false)
            }
        }
    }

    /// Runs a function by other code from now on.
    pub(crate) fn set_code(&mut self, f: &FuncSym, code: Rc<Code>) {
        let id = func_id(self.heap.func_addr(f));
        self.callees.insert(id, Rc::new(Callee::Graph(code)));
    }

    fn call_external(&mut self, f: &FuncSym, words: &[i128]) -> Result<i128, Stop> {
        if let Some(done) = self.call_hook(f.name(), words) {
            return done;
        }
        externals::call(
            f.name(),
            &f.ty().args,
            words,
            &mut self.heap,
            &mut self.host,
            self.frames.len(),
        )
        .map_err(|e| match e {
            ExternalError::Heap(e) => Stop::Heap(e),
            ExternalError::Exit(code) => Stop::Exit(code),
            ExternalError::Fatal(s) => Stop::Text(s),
        })
    }

    #[inline]
    fn item_address(&mut self, s: &ItemShape, p: Addr, index: u64) -> Result<Addr, HeapError> {
        if let Some(at) = s.length {
            let n = self
                .heap
                .load(p.wrapping_add(at), taipan_lltype::Access::W64)?;
            if index >= n {
                return Err(HeapError::OutOfBounds(s.ty));
            }
        } else if s.fixed.is_some_and(|n| index >= n) {
            return Err(HeapError::OutOfBounds(s.ty));
        }
        Ok(p.wrapping_add(s.start)
            .wrapping_add(index.wrapping_mul(s.step)))
    }
}

pub(crate) fn func_id(addr: Addr) -> u32 {
    (addr >> 32) as u32 & !CONSTANT
}

fn op_text(graph: &LLGraph, op: &Operation<LowLevel>) -> String {
    let args: Vec<String> = (op.args.iter())
        .map(|a| match a {
            LLOperand::Var(v) => {
                format!("{}_{}: {}", graph.vars[v.index()].name, v.0, graph.ty(*v))
            }
            LLOperand::Const(c) => c.to_string(),
        })
        .collect();
    format!("{}({})", op.op, args.join(", "))
}

fn is_wide(ty: LLType) -> bool {
    matches!(ty.kind(), TypeKind::Int(k) if k.bits == 128)
}
