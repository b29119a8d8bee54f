//! Functions whose graphs grow while they run: residual code of a just-in-time compiler,
//! which asks for more of itself when it gets to where it has not been compiled yet.

use std::rc::Rc;
use std::sync::Arc;

use taipan_lltype::{Addr, FuncSym, LLGraph};

use crate::code::Code;
use crate::decode::decode;
use crate::interp::{LLInterpreter, Stop};

/// What the operation `jit_enter` asks of the hook: number of the driver and greens, as
/// the words that registers hold.
pub const JIT_ENTER: &str = "rpy_jit_enter";

/// What a call to the outside did.
pub struct HostCall {
    /// The word that it returns.
    pub result: i128,
    /// A function that has a new graph: the old one with more in it. Its calls that are
    /// under way go on in the old graph until they come back here themselves.
    pub grown: Option<(FuncSym, Arc<LLGraph>)>,
}

/// Somebody who implements external functions.
pub trait CallHook<'p> {
    /// Calls an external function on words; none if it is somebody else's.
    fn call(
        &self,
        interpreter: &mut LLInterpreter<'p>,
        name: &str,
        words: &[i128],
    ) -> Option<Result<HostCall, String>>;
}

impl<'p> LLInterpreter<'p> {
    /// Calls an external function of the hook, if it has it.
    pub(crate) fn call_hook(&mut self, name: &str, words: &[i128]) -> Option<Result<i128, Stop>> {
        let hook = self.hook.clone()?;
        let exc = std::mem::take(&mut self.exc);
        let called = hook.call(self, name, words)?;
        if self.exc.0 == 0 {
            self.exc = exc;
        }
        Some(match called {
            Ok(HostCall { result, grown }) => {
                if let Some((f, graph)) = grown {
                    self.replace(&f, graph);
                }
                Ok(result)
            }
            Err(text) => Err(Stop::Text(text)),
        })
    }

    /// Sets the current exception of graphs after the exception transform: class and
    /// instance.
    pub fn set_exception(&mut self, etype: Addr, evalue: Addr) {
        self.exc = (etype, evalue);
    }

    /// Gives a function a graph that has all that the old one has, with the same numbers.
    /// If it is what calls just now, it goes on in the new one.
    fn replace(&mut self, f: &FuncSym, graph: Arc<LLGraph>) {
        let code = Rc::new(decode(f, graph, &mut self.heap));
        self.set_code(f, code.clone());
        let Some(top) = self.frames.last_mut() else {
            return;
        };
        if top.code.graph.name != code.graph.name {
            return;
        }
        top.pc = same_place(&top.code, top.pc, &code);
        let end = top.base + code.slots as usize + 1;
        top.code = code;
        if self.regs.len() < end {
            self.regs.resize(end, 0);
        }
    }
}

/// The instruction of the new code that stands where one of the old code does.
fn same_place(old: &Code, pc: usize, new: &Code) -> usize {
    let place = old.places[pc];
    let nth = old.places[..pc].iter().filter(|p| **p == place).count();
    let mut found = (new.places.iter().enumerate()).filter(|(_, p)| **p == place);
    found.nth(nth).map_or(0, |(i, _)| i)
}
