//! Running bodies: frames, the instruction loop, tracebacks.

use std::cell::Cell;
use std::rc::Rc;

use taipan_code::{CodeConst, CodeId, Instr};

use super::dict::KnownName;
use super::fused::{Op, fuse};
use super::heap::{Caught, Kind, Ref, Site, TracebackEntry};
use super::inlined::{Active, Inlined, Then};
use super::ops::Running;
use super::units::Units;
use super::value::Value;
use super::{Activation, Body, DEPTH_LIMIT, Fatal, Interp, R};
use crate::Complex;
use taipan_engine::{Frame, ObjectSpace, Step, Unwind, step, unwind};

/// Native stack that must be left before a Python call, and how much more is taken.
const RED_ZONE: usize = 256 * 1024;
const STACK_SEGMENT: usize = 8 * 1024 * 1024;

/// Maximum number of instructions that are executed before their steps are counted.
const MOST_UNCOUNTED: u64 = 32;

/// Size of the direct-mapped cache of bodies by id.
const RECENT: usize = 512;

/// How the execution of a body ended. Its value is on the stack of the frame ([`Frame::take`]).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It returned.
    Return,
    /// It yielded, and can be resumed.
    Yield,
}

/// Why the execution of a frame was interrupted.
enum Left {
    /// A call was inlined.
    Enter,
    /// The body has returned or yielded.
    End(Outcome),
    /// The instruction raised an exception.
    Raise(Box<(Value, Value)>),
    /// Import time ends.
    Stop(Fatal),
}

impl From<Unwind<Value, Fatal>> for Left {
    fn from(unwind: Unwind<Value, Fatal>) -> Left {
        match unwind {
            Unwind::Raise(raised) => Left::Raise(raised),
            Unwind::Stop(s) => Left::Stop(s),
        }
    }
}

impl Interp<'_> {
    /// A body made ready to run.
    pub(crate) fn body(&mut self, id: CodeId) -> Rc<Body> {
        let at = salsa::plumbing::AsId::as_id(&id).index() as usize % RECENT;
        if let Some(Some((known, body))) = self.recent.get(at)
            && *known == id
        {
            if body.noted.get() != self.epoch {
                self.note_body(id, body);
            }
            return body.clone();
        }
        let body = self.made_body(id);
        if body.noted.get() != self.epoch {
            self.note_body(id, &body);
        }
        self.recent.resize(RECENT, None);
        self.recent[at] = Some((id, body.clone()));
        body
    }

    fn made_body(&mut self, id: CodeId) -> Rc<Body> {
        if let Some(b) = self.bodies.get(&id) {
            return b.clone();
        }
        let recorded = match &self.units {
            Units::Replaying(replay) => replay.code(id),
            Units::Plain | Units::Recording(_) => None,
        };
        let code = recorded.unwrap_or_else(|| taipan_code::code(self.db, id));
        let code = self.left_out.apply(id, code);
        let consts = code.consts.iter().map(constant).collect();
        let names: Box<[KnownName]> = code.names.iter().map(|n| self.known_name(n)).collect();
        let site = match self.heap.sites.iter().position(|s| *s == Some(id)) {
            Some(i) => i,
            None => {
                self.heap.sites.push(Some(id));
                self.heap.sites.len() - 1
            }
        };
        if let Units::Replaying(replay) = &self.units
            && let Some(recorded) = replay.changed_code(id)
            && let Some(slots) = self.heap.slots()
        {
            slots.match_instructions(site as u32, &code, &recorded);
        }
        let all = || code.instrs.iter();
        let body = Rc::new(Body {
            // Operations of several instructions are executed without a stop at each.
            ops: match self.notes_execution {
                true => all().map(|_| Op::Engine).collect(),
                false => fuse(&code),
            },
            is_unit: Cell::new(self.is_unit(id, &code)),
            noted: Cell::default(),
            executed: (self.notes_execution).then(|| all().map(|_| Cell::default()).collect()),
            consts,
            hints: names.iter().map(|_| Cell::default()).collect(),
            builtin_hints: names.iter().map(|_| Cell::default()).collect(),
            plain: !code.varargs && !code.varkeywords && !code.generator && code.cells.is_empty(),
            names,
            code,
            site: site as u32,
        });
        self.bodies.insert(id, body.clone());
        body
    }

    fn known_name(&mut self, text: &str) -> KnownName {
        KnownName::new(super::interned(&mut self.texts, text))
    }

    /// Runs a module, class or exec body.
    pub(crate) fn run_body(
        &mut self,
        id: CodeId,
        globals: Ref,
        names: Ref,
        closure: &[Value],
    ) -> R {
        let body = self.body(id);
        let mut frame = Frame::enter(
            &mut Running {
                it: self,
                body: &body,
            },
            &body.code,
            Value::Ref(globals),
            Vec::new(),
            Vec::new(),
            closure,
        );
        frame.names = Some(Value::Ref(names));
        self.run_unit(id, &body, &mut frame)?;
        Ok(frame.take())
    }

    /// Runs a frame until it returns, yields or raises.
    pub(crate) fn run(&mut self, id: CodeId, body: &Body, frame: &mut Frame<Value>) -> R<Outcome> {
        // Constants are computed without running code of the program.
        if self.timeless {
            return self.untold();
        }
        if self.stack.len() >= DEPTH_LIMIT {
            return self.raise(
                super::types::ty::RUNTIME_ERROR,
                "maximum recursion depth exceeded",
            );
        }
        let globals = match &frame.globals {
            Value::Ref(r) => *r,
            _ => self.builtins,
        };
        self.activations += 1;
        self.stack.push(Activation {
            code: id,
            globals,
            names: frame.names.as_ref().and_then(Value::as_ref),
            number: self.activations,
        });
        let (saved, gathered) = (self.heap.site, self.meter.gathered());
        let result =
            stacker::maybe_grow(RED_ZONE, STACK_SEGMENT, || self.run_loop(id, body, frame));
        self.heap.site = saved;
        self.meter.set_gathered(gathered);
        if let Err(Unwind::Stop(_)) = &result {
            self.last_stack.push((id, frame.pc));
            self.leave_to_collect(frame);
        }
        self.stack.pop();
        result
    }

    /// Executes a frame, and those of the calls that are inlined in it.
    fn run_loop(&mut self, id: CodeId, body: &Body, frame: &mut Frame<Value>) -> R<Outcome> {
        let gathered = self.meter.gathered();
        let base = self.inlined.len();
        // The frame of the innermost inlined call, which is executed.
        let mut inner: Option<Active> = None;
        loop {
            let left = {
                let (body, frame) = top(&mut inner, body, frame);
                self.run_frame(body, frame, gathered)
            };
            let mut raised = match left {
                Left::Enter => {
                    let entered = self.inlined.last_mut().and_then(Inlined::resume);
                    if let Some(caller) = std::mem::replace(&mut inner, entered)
                        && let [.., suspended, _] = &mut self.inlined[..]
                    {
                        suspended.suspend(caller);
                    }
                    continue;
                }
                Left::End(outcome) => {
                    let Some(done) = inner.take() else {
                        return Ok(outcome);
                    };
                    if let Some(i) = self.inlined.last() {
                        self.note_steps(i.id, &done.body, i.steps);
                    }
                    let then = self.pop_inlined(base, &mut inner);
                    let (body, frame) = top(&mut inner, body, frame);
                    match self.leave_inlined(then, done.frame, outcome, body, frame) {
                        Ok(()) => continue,
                        Err(Unwind::Raise(raised)) => raised,
                        Err(Unwind::Stop(s)) => return self.stop(s, base, inner),
                    }
                }
                Left::Raise(raised) => raised,
                Left::Stop(s) => return self.stop(s, base, inner),
            };
            // The exception goes to the innermost frame that handles it.
            loop {
                let id = match self.inlined[base..].last() {
                    Some(i) => i.id,
                    None => id,
                };
                let (top_body, top_frame) = top(&mut inner, body, frame);
                if self.is_handled(&raised, id, top_body, top_frame) {
                    break;
                }
                let Some(done) = inner.take() else {
                    return Err(Unwind::Raise(raised));
                };
                let then = self.pop_inlined(base, &mut inner);
                let (body, frame) = top(&mut inner, body, frame);
                match self.abandon_inlined(then, done.frame, raised, body, frame) {
                    Some(goes_on) => raised = goes_on,
                    None => break,
                }
            }
        }
    }

    /// Ends the innermost inlined call, and resumes the one that is its caller.
    #[inline(always)]
    fn pop_inlined(&mut self, base: usize, inner: &mut Option<Active>) -> Then {
        self.stack.pop();
        let then = match self.inlined.last() {
            Some(i) => i.then,
            None => unreachable!("an inlined call is on the stack"),
        };
        self.inlined.truncate(self.inlined.len() - 1);
        if self.inlined.len() > base {
            *inner = self.inlined.last_mut().and_then(Inlined::resume);
        }
        then
    }

    /// Adds the current instruction of a frame to the traceback of an exception. Returns whether the frame has a handler,
    /// at which it continues.
    fn is_handled(
        &mut self,
        raised: &(Value, Value),
        id: CodeId,
        body: &Body,
        frame: &mut Frame<Value>,
    ) -> bool {
        let code = &*body.code;
        let (t, v) = raised;
        self.add_traceback(v, id, frame.pc, code.instrs[frame.pc as usize]);
        self.keep_locals(v, code, frame);
        if unwind(code, frame, t.clone(), v.clone()).is_err() {
            return false;
        }
        self.note_caught(v);
        self.exc_info = Some((t.clone(), v.clone()));
        self.handled += 1;
        true
    }

    /// Ends the inlined calls from `base` on, for good.
    #[cold]
    fn stop(&mut self, why: Fatal, base: usize, mut inner: Option<Active>) -> R<Outcome> {
        while let Some(active) = inner.take() {
            let id = self.inlined.last().map(|i| i.id);
            self.last_stack.extend(id.map(|id| (id, active.frame.pc)));
            self.leave_to_collect(&active.frame);
            self.pop_inlined(base, &mut inner);
        }
        Err(Unwind::Stop(why))
    }

    /// Executes a frame until another one is to be executed.
    #[inline(always)]
    fn run_frame(&mut self, body: &Body, frame: &mut Frame<Value>, gathered: u64) -> Left {
        let (site, code) = (body.site, &*body.code);
        // Steps that are not counted yet.
        let mut steps = 0;
        loop {
            let at = |pc| Site { code: site, pc };
            if self.memory_is_due() {
                self.heap.site = at(frame.pc);
                if let Err(e) = self.work(0) {
                    return e.into();
                }
            }
            let mut pc = frame.pc;
            while steps < MOST_UNCOUNTED {
                match self.fused(&body.ops[pc as usize], body, frame, &mut pc) {
                    0 => break,
                    done => steps += done,
                }
            }
            frame.pc = pc;
            if let Some(executed) = &body.executed {
                executed[pc as usize].set(true);
            }
            self.heap.site = at(frame.pc);
            // Buffers of the previous instruction are freed.
            self.meter.set_gathered(gathered);
            if let Err(e) = self.work(std::mem::take(&mut steps) + 1) {
                return e.into();
            }
            let ended = match body.ops[frame.pc as usize] {
                Op::Call(i) => {
                    let desc = &code.calls[i as usize];
                    if self.inline(frame, desc) {
                        return Left::Enter;
                    }
                    let mut running = Running { it: self, body };
                    match running.call_top(code, frame, desc, desc.operands()) {
                        Ok(()) => {
                            frame.pc += 1;
                            continue;
                        }
                        Err(e) => return e.into(),
                    }
                }
                Op::Return => return Left::End(Outcome::Return),
                Op::Yield => {
                    frame.pc += 1;
                    return Left::End(Outcome::Yield);
                }
                Op::Next(_) | Op::Iterate => {
                    match self.inline_generator(frame) {
                        Ok(true) => return Left::Enter,
                        Ok(false) => {}
                        Err(e) => return e.into(),
                    }
                    match self.iterate(body, frame) {
                        Ok(true) => continue,
                        Ok(false) => step(&mut Running { it: self, body }, code, frame),
                        Err(e) => return e.into(),
                    }
                }
                Op::GetIter if self.quick_iter(&mut frame.stack) => {
                    frame.pc += 1;
                    continue;
                }
                _ => step(&mut Running { it: self, body }, code, frame),
            };
            match ended {
                Step::Continue => {}
                Step::Return => return Left::End(Outcome::Return),
                Step::Yield => return Left::End(Outcome::Yield),
                Step::Raise(raised) => return Left::Raise(raised),
                Step::Stop(s) => return Left::Stop(s),
                Step::Fork(_) => unreachable!("the concrete space knows all truth values"),
            }
        }
    }

    /// Goes one level down into nested data: the way out of data that is nested
    /// without end is a Python exception.
    pub(crate) fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> R<T>) -> R<T> {
        if self.nesting >= DEPTH_LIMIT {
            return self.raise(
                super::types::ty::RUNTIME_ERROR,
                "maximum recursion depth exceeded",
            );
        }
        self.nesting += 1;
        let result = stacker::maybe_grow(RED_ZONE, STACK_SEGMENT, || f(self));
        self.nesting -= 1;
        result
    }

    /// Adds the current instruction to the traceback of an exception.
    ///
    /// A re-raise in the handler, or in a callee of the handler, keeps the traceback, which leads to the origin. Any
    /// other raise of the same instance, such as a prebuilt one, starts a new traceback.
    fn add_traceback(&mut self, v: &Value, code: CodeId, pc: u32, at: Instr) {
        let depth = self.stack.len() as u32;
        let number = self.stack.last().map_or(0, |a| a.number);
        let raises_again = self.raises_again;
        let Value::Ref(r) = v else { return };
        self.use_exception(*r);
        if let Kind::Exception(e) = &mut self.heap.get_mut(*r).kind {
            let again = match at {
                Instr::Reraise => true,
                Instr::Raise(_) => raises_again || e.caught.by == number,
                _ => e.caught.returns,
            };
            let last = e.traceback.last().map(|t| t.depth);
            if again && last.is_some_and(|last| last <= depth) {
                e.caught.returns = last != Some(depth);
                return;
            }
            if last.is_some_and(|last| last <= depth) {
                e.traceback.clear();
                e.caught = Caught::default();
            }
            e.traceback.push(TracebackEntry { code, pc, depth });
        }
    }

    /// Records that the running body caught an exception.
    fn note_caught(&mut self, v: &Value) {
        let number = self.stack.last().map_or(0, |a| a.number);
        if let Some(caught) = self.caught(v) {
            *caught = Caught {
                by: number,
                returns: false,
            };
        }
    }

    /// Records that an exception with its traceback is raised at the current position of a generator.
    pub(crate) fn note_returning(&mut self, v: &Value) {
        if let Some(caught) = self.caught(v) {
            caught.returns = true;
        }
    }

    fn caught(&mut self, v: &Value) -> Option<&mut Caught> {
        let Value::Ref(r) = v else { return None };
        self.use_exception(*r);
        match &mut self.heap.get_mut(*r).kind {
            Kind::Exception(e) => Some(&mut e.caught),
            _ => None,
        }
    }
}

/// The innermost frame of a loop, with its body.
#[inline(always)]
fn top<'a>(
    inner: &'a mut Option<Active>,
    body: &'a Body,
    frame: &'a mut Frame<Value>,
) -> (&'a Body, &'a mut Frame<Value>) {
    match inner {
        Some(i) => (&i.body, &mut i.frame),
        None => (body, frame),
    }
}

/// A constant of a code as a value.
pub(crate) fn constant(c: &CodeConst) -> Value {
    match c {
        CodeConst::None | CodeConst::Code(_) => Value::None,
        CodeConst::Bool(b) => Value::Bool(*b),
        CodeConst::Int(i) => Value::Int(*i),
        CodeConst::Long(l) => Value::Long(l.clone()),
        CodeConst::Float(f) => Value::Float(f64::from_bits(*f)),
        CodeConst::Imaginary(f) => Value::Complex(Complex::imaginary(f64::from_bits(*f))),
        CodeConst::Str(s) => Value::Str(s.clone()),
        CodeConst::Unicode(u) => Value::Unicode(u.clone()),
        CodeConst::Tuple(t) => Value::Tuple(t.iter().map(constant).collect()),
        CodeConst::Ellipsis => Value::Ref(super::types::ELLIPSIS),
    }
}
