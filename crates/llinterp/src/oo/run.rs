//! The loop.

use taipan_lltype::{
    FuncSym, LLType, PlainOp, Trigger, TypeKind, convert, eval_ovf, fold_number, mul_high,
    word_of_u64,
};
use taipan_ootype::ObjectOp;

use super::decode::{Code, Exit, Instruction, Jump, Value, Work};
use super::{Callee, Frame, OOInterpreter, Stop};
use crate::collect::used_after;
use crate::externals::{self, ExternalError};

impl OOInterpreter<'_> {
    /// Calls a function. Returns the word of its result.
    pub(super) fn call_function(&mut self, f: &FuncSym, words: &[i128]) -> Result<i128, Stop> {
        let bottom = self.frames.len();
        match self.callee(f)? {
            Callee::External(f) => self.call_external(&f, words),
            Callee::Graph(code) => {
                self.enter(code, words.iter().copied(), 0);
                self.run(bottom)
            }
        }
    }

    fn enter(&mut self, code: std::rc::Rc<Code>, words: impl Iterator<Item = i128>, dst: usize) {
        let base = self.registers.len();
        self.registers.resize(base + code.graph.vars.len(), 0);
        for (v, word) in code.args.iter().zip(words) {
            self.registers[base + *v as usize] = word;
        }
        self.frames.push(Frame {
            block: code.graph.startblock.index(),
            code,
            base,
            index: 0,
            dst,
        });
    }

    fn call_external(&mut self, f: &FuncSym, words: &[i128]) -> Result<i128, Stop> {
        let types: Vec<LLType> = f
            .ty()
            .args
            .iter()
            .copied()
            .filter(|t| !t.is_void())
            .collect();
        let mut low_words = Vec::with_capacity(words.len());
        for (word, ty) in words.iter().zip(&types) {
            low_words.push(self.objects.exported_word(*word, *ty)?);
        }
        let calls = self.frames.len();
        let low = &mut self.objects.low;
        let done = externals::call(f.name(), &types, &low_words, low, &mut self.host, calls);
        let result = done.map_err(|e| match e {
            ExternalError::Heap(e) => Stop::Heap(e),
            ExternalError::Exit(code) => Stop::Exit(code),
            ExternalError::Fatal(text) => Stop::Text(text),
        })?;
        // Strings are passed to be written to as well.
        for ((word, low), ty) in words.iter().zip(low_words).zip(&types) {
            if *ty == taipan_lltype::STR.ptr() {
                self.objects.take_characters(*word, low as u64)?;
            }
        }
        Ok(word_of_u64(result as u64, f.ty().result))
    }

    /// Runs the topmost frame, and those that it calls, until the one at `bottom` returns.
    fn run(&mut self, bottom: usize) -> Result<i128, Stop> {
        loop {
            let Some(top) = self.frames.last() else {
                return Err(Stop::Text("no frame".into()));
            };
            let (code, base) = (top.code.clone(), top.base);
            if let Some(result) = self.run_frame(&code, base)? {
                self.registers.truncate(base);
                let done = self.frames.pop();
                if self.frames.len() == bottom {
                    return Ok(result);
                }
                if let (Some(done), Some(caller)) = (done, self.frames.last_mut()) {
                    caller.index += 1;
                    self.registers[caller.base + done.dst] = result;
                }
            }
        }
    }

    #[inline]
    fn value(&self, base: usize, v: Value) -> i128 {
        match v {
            Value::Var(i) => self.registers[base + i as usize],
            Value::Word(word) => word,
        }
    }

    /// Runs the topmost frame until it returns a word, or another frame is on top of it.
    fn run_frame(&mut self, code: &Code, base: usize) -> Result<Option<i128>, Stop> {
        let Some(top) = self.frames.last() else {
            return Err(Stop::Text("no frame".into()));
        };
        let (mut b, mut i) = (top.block, top.index);
        let depth = self.frames.len();
        let mut overflowed = false;
        loop {
            let block = &code.blocks[b];
            while let Some(ins) = block.instructions.get(i) {
                let top = &mut self.frames[depth - 1];
                (top.block, top.index) = (b, i);
                if let Some(word) = self.instruction(ins, base, &mut overflowed)? {
                    self.registers[base + ins.dst as usize] = word;
                } else if self.frames.len() > depth {
                    return Ok(None);
                }
                i += 1;
            }
            let top = &mut self.frames[depth - 1];
            (top.block, top.index) = (b, i);
            let jump = match &block.exit {
                Exit::Return(v) => return Ok(Some(self.value(base, *v))),
                Exit::Goto(jump) => jump,
                Exit::Branch(v, yes, no) => match self.value(base, *v) {
                    0 => no,
                    _ => yes,
                },
                Exit::Switch(v, cases, default) => {
                    let v = self.value(base, *v);
                    let found = cases.binary_search_by_key(&v, |c| c.0);
                    match (found, default) {
                        (Ok(n), _) => &cases[n].1,
                        (Err(_), Some(jump)) => jump,
                        _ => return Err(Stop::Text("no case of a switch applies".into())),
                    }
                }
                Exit::Overflow(done, overflow) => match std::mem::take(&mut overflowed) {
                    false => done,
                    true => overflow,
                },
                Exit::Fault(why) => return Err(Stop::Text(why.clone())),
            };
            if overflowed {
                return Err(Stop::Text("an overflow that nothing checks for".into()));
            }
            self.burn()?;
            self.follow(jump, base);
            (b, i) = (jump.target, 0);
        }
    }

    fn follow(&mut self, jump: &Jump, base: usize) {
        match jump.moves.as_slice() {
            [(from, to)] => self.registers[base + *to as usize] = self.value(base, *from),
            moves => {
                let words: Vec<i128> = moves.iter().map(|m| self.value(base, m.0)).collect();
                for ((_, to), word) in moves.iter().zip(words) {
                    self.registers[base + *to as usize] = word;
                }
            }
        }
    }

    fn burn(&mut self) -> Result<(), Stop> {
        if let Some(fuel) = &mut self.fuel {
            *fuel = fuel
                .checked_sub(1)
                .ok_or_else(|| Stop::Text("too many steps".into()))?;
        }
        Ok(())
    }

    /// Executes an instruction. Returns its result; none if it entered a function.
    fn instruction(
        &mut self,
        ins: &Instruction,
        base: usize,
        overflowed: &mut bool,
    ) -> Result<Option<i128>, Stop> {
        let arg = |on: &Self, i: usize| on.value(base, ins.args[i]);
        Ok(Some(match &ins.work {
            Work::Number(family, op, result) => {
                let b = if op.is_unary() { 0 } else { arg(self, 1) };
                let zero = || Stop::Text("division by zero".into());
                fold_number(*family, *op, (arg(self, 0), b), *result).ok_or_else(zero)?
            }
            Work::Overflow(op) => match eval_ovf(*op, arg(self, 0) as i64, arg(self, 1) as i64) {
                Some(v) => i128::from(v),
                None => {
                    *overflowed = true;
                    0
                }
            },
            Work::Convert(from, to) => {
                let cast = || Stop::Text(format!("cast from {from} to {to}"));
                convert(arg(self, 0), *from, *to).ok_or_else(cast)?
            }
            Work::Plain(op) => return self.plain(*op, ins, base),
            Work::Object(op) => self.object(*op, ins, base)?,
            Work::New(ty, fields) => {
                let object = self.allocate(*ty, 0)?;
                for (i, v) in fields.iter().zip(&ins.args) {
                    let word = self.value(base, *v);
                    self.objects.set_field(object, *i, word)?;
                }
                object
            }
            Work::NewItems(ty) => self.allocate(*ty, arg(self, 0))?,
            Work::GetField(i) => self.objects.field(arg(self, 0), *i)?,
            Work::SetField(i) => {
                self.objects.set_field(arg(self, 0), *i, arg(self, 1))?;
                0
            }
            Work::Shrink(i) => {
                let array = self.objects.field(arg(self, 0), *i)?;
                self.objects.shrink(array, arg(self, 1))?;
                0
            }
            Work::Cast(to) => {
                let word = arg(self, 0);
                if let Some(to) =
                    to.filter(|to| word != 0 && !matches!(to.kind(), TypeKind::Func(_)))
                {
                    self.objects.check_cast(word, to)?;
                }
                word
            }
            Work::Call(f) => return self.call(f, &ins.args, ins.dst, base),
            Work::CallIf(f) => match arg(self, 0) {
                0 => 0,
                _ => return self.call(f, &ins.args[1..], ins.dst, base),
            },
            Work::CallUnless(f) => match arg(self, 0) {
                0 => return self.call(f, &ins.args[1..], ins.dst, base),
                word => word,
            },
            Work::CallMethod => {
                let f = self.objects.low.func_at(arg(self, 0) as u64)?.clone();
                return self.call(&f, &ins.args[1..], ins.dst, base);
            }
            Work::Fault(why) => return Err(Stop::Text(why.clone())),
        }))
    }

    /// A new object, after a collection if one is due.
    fn allocate(&mut self, ty: LLType, length: i128) -> Result<i128, Stop> {
        if self.objects.wants_collection() {
            self.collect()?;
        }
        Ok(self.objects.new_object(ty, length))
    }

    fn call(
        &mut self,
        f: &FuncSym,
        args: &[Value],
        dst: u32,
        base: usize,
    ) -> Result<Option<i128>, Stop> {
        let words: Vec<i128> = args.iter().map(|v| self.value(base, *v)).collect();
        match self.callee(f)? {
            Callee::External(f) => self.call_external(&f, &words).map(Some),
            Callee::Graph(code) => {
                self.burn()?;
                self.enter(code, words.into_iter(), dst as usize);
                Ok(None)
            }
        }
    }

    /// Operations on objects.
    fn object(&mut self, op: ObjectOp, ins: &Instruction, base: usize) -> Result<i128, Stop> {
        let arg = |on: &Self, i: usize| on.value(base, ins.args[i]);
        let a = arg(self, 0);
        Ok(match op {
            ObjectOp::GetItem => self.objects.item(a, arg(self, 1))?,
            ObjectOp::SetItem => {
                self.objects.set_item(a, arg(self, 1), arg(self, 2))?;
                0
            }
            ObjectOp::Length => self.objects.length(a)?,
            ObjectOp::CopyItems => {
                self.objects
                    .copy_items([0, 1, 2, 3, 4].map(|i| arg(self, i)))?;
                0
            }
            ObjectOp::Is => i128::from(a == arg(self, 1)),
            ObjectOp::IsNull => i128::from(a == 0),
            ObjectOp::IdentityHash => self.objects.identity_hash(a)?,
            ObjectOp::NewWeakref => self.objects.new_weakref(a),
            ObjectOp::Deref => self.objects.deref(a)?,
            ObjectOp::Finalize => {
                self.objects.register(0, a)?;
                0
            }
            ObjectOp::Enqueue => {
                self.objects.register(a as Trigger, arg(self, 1))?;
                0
            }
            ObjectOp::NextDead => {
                let dead = self.objects.finalizers.next_dead(a as Trigger);
                dead.map_or(0, |i| i as i128)
            }
            ObjectOp::New
            | ObjectOp::NewItems
            | ObjectOp::GetField
            | ObjectOp::SetField
            | ObjectOp::Shrink
            | ObjectOp::Cast
            | ObjectOp::Call => return Err(Stop::Text(format!("{} is decoded", op.name()))),
        })
    }

    /// Other operations on numbers, and those on the state of the program.
    fn plain(&mut self, op: PlainOp, ins: &Instruction, base: usize) -> Result<Option<i128>, Stop> {
        let arg = |on: &Self, i: usize| on.value(base, ins.args[i]);
        Ok(Some(match op {
            PlainOp::SameAs => arg(self, 0),
            PlainOp::ConvertFloatBytesToLonglong => i128::from(arg(self, 0) as i64),
            PlainOp::ConvertLonglongBytesToFloat => i128::from(arg(self, 0) as u64),
            PlainOp::BoolNot => 1 - arg(self, 0),
            PlainOp::IntBetween => {
                let v = arg(self, 1);
                i128::from(arg(self, 0) <= v && v < arg(self, 2))
            }
            PlainOp::IntForceGeZero => arg(self, 0).max(0),
            PlainOp::UintMulHigh => i128::from(mul_high(arg(self, 0) as u64, arg(self, 1) as u64)),
            PlainOp::StackCheck => i128::from(self.host.depth.is_too_big(self.frames.len() + 2)),
            PlainOp::LlReadTimestamp => {
                self.ticks += 1;
                self.ticks
            }
            PlainOp::GcCollect => {
                self.collect()?;
                0
            }
            PlainOp::DebugAssert if arg(self, 0) == 0 => {
                return Err(Stop::Text("debug_assert failed".into()));
            }
            PlainOp::DebugFatalerror => return Err(Stop::Text("fatal RPython error".into())),
            PlainOp::DebugStartTraceback => {
                self.traceback.clear();
                self.record();
                0
            }
            PlainOp::DebugRecordTraceback => {
                self.record();
                0
            }
            PlainOp::DebugAssert
            | PlainOp::DebugPrint
            | PlainOp::DebugCatchException
            | PlainOp::DebugReraiseTraceback => 0,
            PlainOp::ExcType => self.exception.0,
            PlainOp::ExcValue => self.exception.1,
            PlainOp::ExcOccurred => i128::from(self.exception.0 != 0),
            PlainOp::ExcSet => {
                self.exception = (arg(self, 0), arg(self, 1));
                0
            }
            PlainOp::ExcClear => {
                self.exception = (0, 0);
                0
            }
            other => return Err(Stop::Text(format!("no operation {}", other.name()))),
        }))
    }

    /// Notes that the current exception goes through the topmost function.
    fn record(&mut self) {
        if let Some(top) = self.frames.last() {
            self.traceback.push(top.code.graph.name.to_string());
        }
    }

    // Collections.

    /// The references that the frames still use.
    fn roots(&self) -> Vec<i128> {
        let mut roots = vec![self.exception.0, self.exception.1];
        roots.extend(&self.due);
        for frame in &self.frames {
            let graph = &*frame.code.graph;
            let block = taipan_graph::BlockId(frame.block as u32);
            let mut used = used_after(graph, block, frame.index);
            // An allocation stores its operands after the collection.
            if let Some(op) = frame.code.operation(frame.block, frame.index)
                && op.op == ObjectOp::New.into()
            {
                used.extend(op.args.iter().filter_map(|o| o.as_var()));
            }
            for v in used {
                if graph.ty(v).is_reference() {
                    roots.push(self.registers[frame.base + v.index()]);
                }
            }
        }
        roots
    }

    /// A full collection. Then the program's finalizers are called: first queues, then `__del__`.
    fn collect(&mut self) -> Result<(), Stop> {
        let roots = self.roots();
        self.objects.collect(roots.into_iter())?;
        if self.finalizing {
            return Ok(());
        }
        self.finalizing = true;
        let done = self.call_back();
        self.finalizing = false;
        done
    }

    fn call_back(&mut self) -> Result<(), Stop> {
        for trigger in self.objects.finalizers.queues() {
            let f = self.objects.low.func_at(trigger)?.clone();
            self.call_finalizer(&f, &[])?;
        }
        loop {
            let due = self.objects.finalizers.take_due();
            if due.is_empty() {
                return Ok(());
            }
            // They stay alive while those before them run.
            self.due = due.iter().map(|i| *i as i128).collect();
            for me in self.due.clone() {
                let ty = self.objects.type_of(me)?;
                if let Some(f) = self.objects.program.destructor(ty) {
                    self.call_finalizer(&f, &[me])?;
                }
            }
            self.due.clear();
        }
    }

    /// Calls a finalizer. The exception that it raises is reported and forgotten.
    fn call_finalizer(&mut self, f: &FuncSym, args: &[i128]) -> Result<(), Stop> {
        let before = std::mem::take(&mut self.exception);
        let traceback = std::mem::take(&mut self.traceback);
        self.call_function(f, args)?;
        if self.exception.0 != 0 {
            let name = self.class_name(self.exception.0)?;
            let text = format!("exception raised by a finalizer, ignored: {name}\n");
            self.host.complain(&text);
        }
        (self.exception, self.traceback) = (before, traceback);
        Ok(())
    }
}
