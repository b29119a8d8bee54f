//! Calls and generators that run in the instruction loop of their caller.
//!
//! ```text
//! for x in numbers():        run_loop   frame of the module
//!     print square(x)                     frame of `numbers`, while the next item is computed
//!                                         frame of `square`, until it returns
//! ```
//!
//! A call of a function written in Python pushes a frame on the stack of the loop, so the interpreter does not recurse.
//! [`Interp::inline`] binds the arguments of frequent forms of calls; it has no effect where it returns None. All other
//! calls go through [`Interp::call_desc`], which gives the same results.

use std::rc::Rc;

use taipan_code::{CallDesc, CodeId, Instr};
use taipan_engine::Frame;

use super::builtin::Args;
use super::dict::Dict;
use super::heap::{Kind, Ref, Site};
use super::meter::own_size;
use super::run::Outcome;
use super::types::ty;
use super::value::{Tuple, Value};
use super::words;
use super::{Activation, Body, DEPTH_LIMIT, Interp, R};

/// Maximum number of unused frames that are kept for the next calls.
const MOST_SPARE: usize = 64;

/// Maximum number of values in `*args`, of the caller or of the function.
const MOST_SPREAD: usize = 64;

/// Nesting and number of values of tuples in `*args` of a function.
const FLAT: u32 = 100;

/// Maximum number of keywords in an inlined call, and of parameters of a function that is called with keywords.
const MOST_KEYWORDS: usize = 8;
const MOST_NAMED: usize = 64;

/// The position of a keyword without a parameter.
const EXTRA: u8 = u8::MAX;

/// A body that runs in the loop of its caller.
pub(crate) struct Inlined {
    /// The body.
    pub(crate) id: CodeId,
    pub(crate) then: Then,
    /// Number of steps that were left when it began.
    pub(crate) steps: u64,
    /// Its frame, while it waits for a call.
    suspended: Option<Active>,
}

/// The frame that is executed.
pub(crate) struct Active {
    pub(crate) body: Rc<Body>,
    pub(crate) frame: Box<Frame<Value>>,
}

impl Inlined {
    /// Takes the frame, to execute it.
    #[inline(always)]
    pub(crate) fn resume(&mut self) -> Option<Active> {
        self.suspended.take()
    }

    /// Keeps the frame while a call that it makes is executed.
    #[inline(always)]
    pub(crate) fn suspend(&mut self, active: Active) {
        self.suspended = Some(active);
    }
}

/// Use of the value of a body in its caller.
#[derive(Clone, Copy)]
pub(crate) enum Then {
    /// It replaces the function and this number of operands.
    Result(usize),
    /// The instance replaces the class and this number of operands. The value of `__init__` has to be None if `checked`.
    Instance {
        operands: usize,
        instance: Ref,
        checked: bool,
    },
    /// It is the next item of this generator.
    Item(Ref),
}

/// The callee of an inlined call.
struct Callee {
    function: Ref,
    slf: Option<Ref>,
    /// The class that is called, and whether it is an old-style class.
    class: Option<(Ref, bool)>,
}

/// Positions of the arguments of a call among the parameters.
struct Binding {
    /// Values of the `*` argument.
    star: Option<Tuple>,
    /// Parameters of the keywords; [`EXTRA`] for keywords that go to `**keywords`.
    keywords: [u8; MOST_KEYWORDS],
    /// Number of parameters that positional arguments and the object give.
    given: usize,
}

impl Interp<'_> {
    /// Enters the callee of a `Call` instruction. False if the call is not inlined; nothing is changed then.
    #[inline(always)]
    pub(crate) fn inline(&mut self, frame: &mut Frame<Value>, desc: &CallDesc) -> bool {
        let operands = desc.operands();
        let at = frame.stack.len() - operands - 1;
        match &frame.stack[at] {
            Value::Ref(r) => match self.heap.kind(*r) {
                Kind::Function(_) | Kind::Class(_) => {}
                _ => return false,
            },
            Value::Bound(_) => {}
            _ => return false,
        }
        self.inline_at(frame, desc, at).is_some()
    }

    #[inline(never)]
    fn inline_at(&mut self, frame: &mut Frame<Value>, desc: &CallDesc, at: usize) -> Option<()> {
        if desc.dstar || self.memo_calls.is_some() || self.stack.len() >= DEPTH_LIMIT {
            return None;
        }
        let callee = self.callee(&frame.stack[at])?;
        let Kind::Function(f) = self.heap.kind(callee.function) else {
            return None;
        };
        let (id, globals) = (f.code, f.globals);
        let (defaults, closure) = (f.defaults.len(), f.closure.len());
        let body = self.body(id);
        if body.is_unit.get() {
            return None;
        }
        // Positional arguments for all parameters.
        let positional = desc.positional as usize;
        if callee.class.is_none()
            && body.plain
            && positional == desc.operands()
            && positional + usize::from(callee.slf.is_some()) == body.code.argcount as usize
            && defaults <= body.code.argcount as usize
        {
            let mut entered = self.frames.pop().unwrap_or_else(new_frame);
            if let Some(slf) = callee.slf {
                words::push_local(&mut entered.locals, &Value::Ref(slf));
            }
            for v in &mut frame.stack[at + 1..] {
                words::move_local(&mut entered.locals, v);
            }
            for _ in entered.locals.len()..body.code.locals.len() {
                words::push_unset(&mut entered.locals);
            }
            if closure > 0
                && let Kind::Function(f) = self.heap.kind(callee.function)
            {
                entered.cells.extend_from_slice(&f.closure);
            }
            entered.stack.reserve(body.code.max_stack as usize);
            self.enter(id, body, globals, entered, Then::Result(positional));
            return Some(());
        }
        let binding = self.binding(frame, desc, &callee, &body)?;
        // From here on the call is certain.
        let operands = frame.stack.len() - at - 1;
        let mut then = Then::Result(operands);
        let mut slf = callee.slf;
        if let Some((class, old_style)) = callee.class {
            let instance = match self.heap.the_class(class).layout {
                None => self.heap.alloc(class, Kind::Plain),
                Some(_) => match self.builtin_new(class, Args::new(&[]), true) {
                    Ok(Value::Ref(r)) => r,
                    _ => return None,
                },
            };
            slf = Some(instance);
            then = Then::Instance {
                operands,
                instance,
                checked: !old_style,
            };
        }
        let mut entered = self.frames.pop().unwrap_or_else(new_frame);
        self.place_arguments(
            frame,
            at,
            desc,
            slf,
            binding,
            callee.function,
            &body,
            &mut entered,
        );
        self.enter(id, body, globals, entered, then);
        Some(())
    }

    /// Enters a function with a frame that holds its arguments.
    #[inline(always)]
    fn enter(
        &mut self,
        id: CodeId,
        body: Rc<Body>,
        globals: Ref,
        mut frame: Box<Frame<Value>>,
        then: Then,
    ) {
        frame.globals = Value::Ref(globals);
        self.activations += 1;
        self.stack.push(Activation {
            code: id,
            globals,
            names: None,
            number: self.activations,
        });
        self.inlined.push(Inlined {
            id,
            then,
            steps: self.steps,
            suspended: Some(Active { body, frame }),
        });
    }

    /// The function that a call of this value runs.
    fn callee(&mut self, v: &Value) -> Option<Callee> {
        match v {
            Value::Bound(m) => Some(Callee {
                function: m.func,
                slf: Some(m.slf),
                class: None,
            }),
            Value::Ref(r) => match self.heap.kind(*r) {
                Kind::Class(_) => self.constructor(*r),
                _ => Some(Callee {
                    function: *r,
                    slf: None,
                    class: None,
                }),
            },
            _ => None,
        }
    }

    /// The `__init__` of a class whose instances are made by builtin code.
    fn constructor(&mut self, class: Ref) -> Option<Callee> {
        let c = self.heap.the_class(class);
        let old_style = c.old_style;
        let plain = matches!(c.layout, None | Some(ty::BASE_EXCEPTION));
        if c.builtin || !plain {
            return None;
        }
        if !old_style {
            if self.heap.get(class).class != ty::TYPE {
                return None;
            }
            let new = self
                .lookups
                .find(&self.heap, class, self.special.new.name());
            match new {
                Some((_, Value::Ref(f))) if matches!(self.heap.kind(*f), Kind::Builtin(_)) => {}
                _ => return None,
            }
        }
        let init = self
            .lookups
            .find(&self.heap, class, self.special.init.name());
        match init {
            Some((_, Value::Ref(f))) if matches!(self.heap.kind(*f), Kind::Function(_)) => {
                Some(Callee {
                    function: *f,
                    // It is made when the arguments are known to fit.
                    slf: None,
                    class: Some((class, old_style)),
                })
            }
            _ => None,
        }
    }

    /// How the arguments of a call are bound. None if they do not fit, or for less frequent forms.
    #[inline(always)]
    fn binding(
        &mut self,
        frame: &Frame<Value>,
        desc: &CallDesc,
        callee: &Callee,
        body: &Body,
    ) -> Option<Binding> {
        let code = &body.code;
        let Kind::Function(f) = self.heap.kind(callee.function) else {
            return None;
        };
        let argcount = code.argcount as usize;
        let mut given =
            desc.positional as usize + usize::from(callee.slf.is_some() || callee.class.is_some());
        let mut star = None;
        if desc.star {
            match frame.stack.last() {
                Some(Value::Tuple(items)) if items.len() <= MOST_SPREAD => {
                    given += items.len();
                    star = Some(items.clone());
                }
                _ => return None,
            }
        }
        let defaults = f.defaults.len();
        if code.generator
            || defaults > argcount
            || given > argcount && (!code.varargs || given > argcount + MOST_SPREAD)
        {
            return None;
        }
        let given = given.min(argcount);
        let first_default = argcount - defaults;
        if code.varargs && !self.is_flat(frame, desc, star.as_ref()) {
            return None;
        }
        let mut keywords = [EXTRA; MOST_KEYWORDS];
        if desc.keywords.is_empty() {
            if given < first_default {
                return None;
            }
        } else {
            if argcount > MOST_NAMED || desc.keywords.len() > MOST_KEYWORDS {
                return None;
            }
            let mut bound: u64 = 0;
            for (name, place) in desc.keywords.iter().zip(&mut keywords) {
                match code.locals[..argcount].iter().position(|n| n == name) {
                    Some(i) if i < given || bound >> i & 1 != 0 => return None,
                    Some(i) => {
                        bound |= 1 << i;
                        *place = i as u8;
                    }
                    None if code.varkeywords => {}
                    None => return None,
                }
            }
            if (given..first_default).any(|i| bound >> i & 1 == 0) {
                return None;
            }
        }
        Some(Binding {
            star,
            keywords,
            given,
        })
    }

    /// Whether a tuple of the positional arguments is far from the limits of [`Interp::check_size`].
    fn is_flat(&self, frame: &Frame<Value>, desc: &CallDesc, star: Option<&Tuple>) -> bool {
        let is_flat = |v: &Value| match v {
            Value::Tuple(inner) => inner.depth() < FLAT && inner.nodes() < FLAT.into(),
            Value::Method(_) => false,
            _ => true,
        };
        let at = frame.stack.len() - desc.operands();
        let args = &frame.stack[at..][..desc.positional as usize];
        args.iter().all(is_flat) && star.is_none_or(|star| star.iter().all(is_flat))
    }

    /// Puts arguments into the locals of a frame and makes its cells.
    #[expect(clippy::too_many_arguments, reason = "the parts of a call")]
    #[inline(always)]
    fn place_arguments(
        &mut self,
        frame: &mut Frame<Value>,
        at: usize,
        desc: &CallDesc,
        slf: Option<Ref>,
        binding: Binding,
        function: Ref,
        body: &Body,
        entered: &mut Frame<Value>,
    ) {
        let code = &body.code;
        let argcount = code.argcount as usize;
        let locals = &mut entered.locals;
        if let Some(slf) = slf {
            locals.push(Some(Value::Ref(slf)));
        }
        let positional = desc.positional as usize;
        let args = &mut frame.stack[at + 1..];
        for v in &mut args[..positional] {
            words::move_local(locals, v);
        }
        if let Some(star) = &binding.star {
            for v in star.iter() {
                words::push_local(locals, v);
            }
        }
        let rest = code.varargs.then(|| {
            let rest: Tuple = locals
                .drain(argcount.min(locals.len())..)
                .flatten()
                .collect();
            Value::Tuple(rest)
        });
        locals.resize(argcount, None);
        let mut extra = code.varkeywords.then(Dict::default);
        let values = args[positional..].iter_mut();
        for ((name, at), v) in desc.keywords.iter().zip(binding.keywords).zip(values) {
            let v = std::mem::replace(v, Value::None);
            match &mut extra {
                Some(extra) if at == EXTRA => extra.set_str(name, v),
                _ => locals[usize::from(at)] = Some(v),
            }
        }
        let Kind::Function(f) = self.heap.kind(function) else {
            return;
        };
        let first_default = argcount - f.defaults.len();
        if binding.given < argcount {
            for (slot, v) in locals[first_default..].iter_mut().zip(&f.defaults) {
                if slot.is_none() {
                    *slot = Some(v.clone());
                }
            }
        }
        if let Some(rest) = rest {
            self.heap.fresh += own_size(&rest);
            locals.push(Some(rest));
        }
        if let Some(extra) = extra {
            locals.push(Some(Value::Ref(self.heap.dict(extra))));
        }
        locals.resize(code.locals.len().max(locals.len()), None);
        for (_, param) in &code.cells {
            let contents = param.and_then(|p| locals[p as usize].take());
            let cell = self.heap.alloc(ty::CELL, Kind::Cell(contents));
            entered.cells.push(Value::Ref(cell));
        }
        if let Kind::Function(f) = self.heap.kind(function) {
            entered.cells.extend_from_slice(&f.closure);
        }
        entered.stack.reserve(code.max_stack as usize);
    }

    /// Resumes the generator on top of the stack. False for other values.
    #[inline(always)]
    pub(crate) fn inline_generator(&mut self, frame: &Frame<Value>) -> R<bool> {
        let Some(Value::Ref(r)) = frame.stack.last() else {
            return Ok(false);
        };
        let r = *r;
        match self.heap.kind(r) {
            Kind::Generator(g) if !g.running && g.frame.is_some() => self.resume_inlined(r),
            _ => Ok(false),
        }
    }

    fn resume_inlined(&mut self, r: Ref) -> R<bool> {
        if self.stack.len() >= DEPTH_LIMIT {
            return Ok(false);
        }
        self.work(1)?;
        let g = self.generator(r);
        let Some(mut entered) = g.frame.take() else {
            return Ok(false);
        };
        let id = g.code;
        g.running = true;
        if std::mem::replace(&mut g.started, true) {
            entered.stack.push(Value::None);
        }
        let body = self.body(id);
        self.activations += 1;
        self.stack.push(Activation {
            code: id,
            globals: match &entered.globals {
                Value::Ref(r) => *r,
                _ => self.builtins,
            },
            names: entered.names.as_ref().and_then(Value::as_ref),
            number: self.activations,
        });
        self.inlined.push(Inlined {
            id,
            then: Then::Item(r),
            steps: self.steps,
            suspended: Some(Active {
                body,
                frame: entered,
            }),
        });
        Ok(true)
    }

    /// Continues in the caller after a body has returned or yielded.
    #[inline(never)]
    pub(crate) fn leave_inlined(
        &mut self,
        then: Then,
        mut done: Box<Frame<Value>>,
        outcome: Outcome,
        body: &Body,
        frame: &mut Frame<Value>,
    ) -> R<()> {
        self.heap.site = Site {
            code: body.site,
            pc: frame.pc,
        };
        match then {
            Then::Result(operands) => {
                for _ in 0..operands {
                    words::discard(&mut frame.stack);
                }
                if let Some(place) = frame.stack.last_mut() {
                    words::pop_to(&mut done.stack, place);
                }
                self.recycle(done);
                frame.pc += 1;
            }
            Then::Instance {
                operands,
                instance,
                checked,
            } => {
                let v = done.take();
                self.recycle(done);
                if checked && !v.is_none() {
                    let t = self.heap.type_name(&v).to_owned();
                    return self.type_error(format!("__init__() should return None, not '{t}'"));
                }
                for _ in 0..operands {
                    words::discard(&mut frame.stack);
                }
                if let Some(place) = frame.stack.last_mut() {
                    words::put(place, Value::Ref(instance));
                }
                frame.pc += 1;
            }
            Then::Item(r) => {
                let g = self.generator(r);
                g.running = false;
                if outcome == Outcome::Return {
                    self.recycle(done);
                    exhausted(body, frame);
                    return Ok(());
                }
                let mut item = Value::None;
                words::pop_to(&mut done.stack, &mut item);
                g.frame = Some(done);
                self.check_item(&item)?;
                words::push_copy(&mut frame.stack, &item);
                frame.pc += 1;
            }
        }
        Ok(())
    }

    #[cold]
    /// Leaves a body that has raised an exception. Returns the exception unless it ends the loop of the caller over a
    /// generator.
    pub(crate) fn abandon_inlined(
        &mut self,
        then: Then,
        done: Box<Frame<Value>>,
        raised: Box<(Value, Value)>,
        body: &Body,
        frame: &mut Frame<Value>,
    ) -> Option<Box<(Value, Value)>> {
        self.heap.site = Site {
            code: body.site,
            pc: frame.pc,
        };
        let ends = match then {
            Then::Item(r) => {
                self.generator(r).running = false;
                self.matches(&raised.0, &Value::Ref(ty::STOP_ITERATION))
            }
            _ => false,
        };
        self.recycle(done);
        if ends {
            exhausted(body, frame);
            return None;
        }
        Some(raised)
    }

    /// Keeps the memory of a frame for the next call.
    fn recycle(&mut self, mut frame: Box<Frame<Value>>) {
        if self.frames.len() >= MOST_SPARE {
            return;
        }
        words::discard_locals(&mut frame.locals);
        frame.stack.clear();
        frame.cells.clear();
        frame.names = None;
        frame.pc = 0;
        self.frames.push(frame);
    }
}

fn new_frame() -> Box<Frame<Value>> {
    Box::new(Frame {
        pc: 0,
        locals: Vec::new(),
        stack: Vec::new(),
        cells: Vec::new(),
        globals: Value::None,
        names: None,
    })
}

/// Leaves a loop whose iterator has ended.
fn exhausted(body: &Body, frame: &mut Frame<Value>) {
    words::discard(&mut frame.stack);
    match body.code.instrs[frame.pc as usize] {
        Instr::ForIter(target) => frame.pc = target,
        _ => unreachable!("generators are inlined at the head of a loop"),
    }
}
