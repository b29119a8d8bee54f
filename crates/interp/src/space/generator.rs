//! Generators: a frame kept between resumptions.

use taipan_code::CodeId;

use super::heap::{Kind, Ref};
use super::run::Outcome;
use super::types::ty;
use super::value::Value;
use super::words;
use super::{Interp, R};
use taipan_engine::{Frame, Unwind, unwind};

/// A generator.
#[derive(Clone, Debug)]
pub(crate) struct Generator {
    /// Its body.
    pub(crate) code: CodeId,
    /// Its frame; None while it runs and after it has ended.
    pub(crate) frame: Option<Box<Frame<Value>>>,
    /// Whether it has begun.
    pub(crate) started: bool,
    /// Whether it runs.
    pub(crate) running: bool,
}

/// Body and frame of a generator about to run, and whether it has started.
type Entered = (CodeId, Box<Frame<Value>>, bool);

impl Generator {
    /// A generator that has not begun.
    pub(crate) fn make(it: &mut Interp, code: CodeId, frame: Frame<Value>) -> Value {
        let g = Generator {
            code,
            frame: Some(Box::new(frame)),
            started: false,
            running: false,
        };
        Value::Ref(it.heap.alloc(ty::GENERATOR, Kind::Generator(Box::new(g))))
    }
}

impl Interp<'_> {
    pub(crate) fn generator(&mut self, r: Ref) -> &mut Generator {
        match &mut self.heap.get_mut(r).kind {
            Kind::Generator(g) => g,
            _ => unreachable!("checked by the caller"),
        }
    }

    /// Takes the frame out to run it.
    fn enter_generator(&mut self, r: Ref) -> R<Option<Entered>> {
        let g = self.generator(r);
        if g.running {
            return self.value_error("generator already executing");
        }
        let Some(frame) = g.frame.take() else {
            return Ok(None);
        };
        g.running = true;
        let started = std::mem::replace(&mut g.started, true);
        Ok(Some((g.code, frame, started)))
    }

    /// Runs a generator's frame to its next yield, and moves the value to `place`. False at its end.
    fn run_generator(
        &mut self,
        r: Ref,
        code: CodeId,
        mut frame: Box<Frame<Value>>,
        place: &mut Value,
    ) -> R<bool> {
        let body = self.body(code);
        let outcome = self.run(code, &body, &mut frame);
        let g = self.generator(r);
        g.running = false;
        match outcome {
            Ok(Outcome::Yield) => {
                words::pop_to(&mut frame.stack, place);
                g.frame = Some(frame);
                Ok(true)
            }
            Ok(Outcome::Return) => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Resumes a generator; None when it has ended.
    pub(crate) fn resume(&mut self, r: Ref, sent: Value) -> R<Option<Value>> {
        let mut place = Value::None;
        let more = self.resume_to(r, sent, &mut place)?;
        Ok(more.then_some(place))
    }

    /// Resumes a generator and moves the value that it yields to `place`. False when it has ended.
    pub(crate) fn resume_to(&mut self, r: Ref, sent: Value, place: &mut Value) -> R<bool> {
        let Some((code, mut frame, started)) = self.enter_generator(r)? else {
            return Ok(false);
        };
        if started {
            frame.stack.push(sent);
        } else if !sent.is_none() {
            let g = self.generator(r);
            g.running = false;
            g.started = false;
            g.frame = Some(frame);
            return self.type_error("can't send non-None value to a just-started generator");
        }
        match self.run_generator(r, code, frame, place) {
            Err(Unwind::Raise(raised))
                if self.matches(&raised.0, &Value::Ref(ty::STOP_ITERATION)) =>
            {
                Ok(false)
            }
            outcome => outcome,
        }
    }

    /// Raises an exception where a generator stands.
    pub(crate) fn throw(&mut self, r: Ref, etype: Value, evalue: Value) -> R<Option<Value>> {
        let Some((code, mut frame, started)) = self.enter_generator(r)? else {
            return Err(Unwind::raised(etype, evalue));
        };
        if !started {
            self.generator(r).running = false;
            return Err(Unwind::raised(etype, evalue));
        }
        // It stands behind the yield, whose handlers count.
        frame.pc -= 1;
        let body = self.body(code);
        if let Err((t, v)) = unwind(&body.code, &mut frame, etype, evalue) {
            self.generator(r).running = false;
            return Err(Unwind::raised(t, v));
        }
        let mut place = Value::None;
        let more = self.run_generator(r, code, frame, &mut place)?;
        Ok(more.then_some(place))
    }
}
