//! The interpreter of object-oriented graphs.
//!
//! ```text
//! v1: Instance(GcStruct point) = oonew(<type GcStruct point>)      objects[7] = point { words: [0, 0] }
//! v2: Void = oosetfield(v1, .y, 5)                                 objects[7].words[1] = 5
//! v3: Array(GcArray of Char) = oonew_items(.., 3)                  objects[8] = array { bytes: 0 0 0 }
//! ```
//!
//! Its memory is a heap of objects ([`heap`]): fields and items are words, a reference is the number of an object, and
//! nothing has an address. Graphs are those after optimisation and the exception transform; they are decoded once
//! ([`decode`]). Functions of the runtime get their strings through a low-level heap ([`transfer`]), which also has the
//! arguments and the result of a whole evaluation.

mod decode;
mod heap;
mod run;
#[cfg(test)]
mod tests;
mod transfer;

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_lltype::{
    CodePlace, FuncKind, FuncSym, Heap, HeapError, LLValue, Memory as _, OBJECT_VTABLE, Program,
};
use taipan_ootype::{Lack, OOGraph, Unsupported};

use crate::externals::Host;
use crate::interp::{Fault, LLError, LLException};
use decode::{Code, decode};
use heap::Objects;

/// The graph of a function. None for functions without one.
pub type GraphOf<'p> = dyn Fn(&FuncSym) -> Option<Result<Arc<OOGraph>, Vec<Unsupported>>> + 'p;

/// Why an evaluation did not return.
#[derive(Clone, Debug)]
pub enum OOError {
    /// As for other graphs.
    Low(LLError),
    /// A function needs a feature that object-oriented types lack.
    Lacks {
        /// The feature.
        lack: Lack,
        /// The operation that needs it, and the calls that led to it, innermost first.
        calls: Vec<CodePlace>,
    },
}

/// A reason to end the loop.
enum Stop {
    Heap(HeapError),
    Text(String),
    Exit(i32),
    Lacks(FuncSym, Unsupported),
}

impl From<HeapError> for Stop {
    fn from(e: HeapError) -> Stop {
        Stop::Heap(e)
    }
}

#[derive(Clone)]
enum Callee {
    Graph(Rc<Code>),
    External(FuncSym),
}

struct Frame {
    code: Rc<Code>,
    /// The first of its registers.
    base: usize,
    block: usize,
    /// The operation that is executed.
    index: usize,
    /// The caller's variable that takes the result.
    dst: usize,
}

/// Executes object-oriented graphs.
pub struct OOInterpreter<'p> {
    /// Its memory.
    objects: Objects<'p>,
    /// The outside world.
    pub host: Host,
    /// Maximum number of calls and jumps, if limited.
    pub fuel: Option<u64>,
    graph_of: Box<GraphOf<'p>>,
    callees: FxHashMap<FuncSym, Callee>,
    frames: Vec<Frame>,
    registers: Vec<i128>,
    /// The current exception: its class and its instance.
    exception: (i128, i128),
    /// The functions that it went through.
    traceback: Vec<String>,
    /// Finalizers are being called.
    finalizing: bool,
    /// Objects that wait for their finalizers.
    due: Vec<i128>,
    ticks: i128,
}

impl<'p> OOInterpreter<'p> {
    /// An interpreter with an empty heap. `program` has the types and the prebuilt data of the graphs.
    pub fn new(program: &'p dyn Program, graph_of: Box<GraphOf<'p>>) -> OOInterpreter<'p> {
        OOInterpreter {
            objects: Objects::new(program),
            host: Host::default(),
            fuel: None,
            graph_of,
            callees: FxHashMap::default(),
            frames: Vec::new(),
            registers: Vec::new(),
            exception: (0, 0),
            traceback: Vec::new(),
            finalizing: false,
            due: Vec::new(),
            ticks: 0,
        }
    }

    /// The low-level heap of the arguments and of the result of [`Self::eval`].
    pub fn memory(&mut self) -> &mut Heap<'p> {
        &mut self.objects.low
    }

    /// Calls a function. Arguments and the result are values of [`Self::memory`]; of the objects that the program makes
    /// the result is a copy.
    ///
    /// # Errors
    /// An exception of the program, its exit, an access that is not allowed, and a feature that the types lack.
    pub fn eval(&mut self, f: &FuncSym, args: &[LLValue]) -> Result<LLValue, OOError> {
        let done = self.eval_values(f, args);
        let result = match done {
            Ok(v) if self.exception.0 == 0 => Ok(v),
            Ok(_) => Err(OOError::Low(LLError::Raised(self.raised()))),
            Err(Stop::Exit(code)) => Err(OOError::Low(LLError::Exit(code))),
            Err(Stop::Heap(e)) => Err(self.fault(e.to_string(), Some(e))),
            Err(Stop::Text(text)) => Err(self.fault(text, None)),
            Err(Stop::Lacks(func, Unsupported { lack, at })) => {
                let mut calls = vec![CodePlace { func, at }];
                calls.extend(self.calls());
                Err(OOError::Lacks { lack, calls })
            }
        };
        self.frames.clear();
        self.registers.clear();
        self.exception = (0, 0);
        result
    }

    fn eval_values(&mut self, f: &FuncSym, args: &[LLValue]) -> Result<LLValue, Stop> {
        let mut words = Vec::new();
        for (v, ty) in args.iter().zip(&f.ty().args) {
            if !ty.is_void() {
                words.push(self.objects.taken(*v, *ty)?);
            }
        }
        let word = self.call_function(f, &words)?;
        match self.exception.0 {
            0 => Ok(self.objects.given(word, f.ty().result)?),
            _ => Ok(LLValue::Void),
        }
    }

    fn raised(&mut self) -> LLException {
        let class = self.exception.0;
        let name = self.class_name(class);
        LLException {
            etype: class as u64,
            evalue: self.exception.1 as u64,
            name: name.unwrap_or_else(|_| "<unknown exception>".to_owned()),
            traceback: std::mem::take(&mut self.traceback),
        }
    }

    /// The name of a class.
    fn class_name(&mut self, class: i128) -> Result<String, HeapError> {
        let name = self.objects.named_field(class, *OBJECT_VTABLE, "name")?;
        let text = self.objects.exported(name, *taipan_lltype::STR)?;
        let bytes = self.objects.low.str_bytes(text)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The operations that are executed, innermost first.
    fn calls(&self) -> impl Iterator<Item = CodePlace> {
        let frames = self.frames.iter().rev();
        frames.filter_map(|f| {
            let op = f.code.operation(f.block, f.index)?;
            let func = f.code.func.clone();
            Some(CodePlace { func, at: op.at })
        })
    }

    fn fault(&self, message: String, access: Option<HeapError>) -> OOError {
        let top = self.frames.last();
        let operation = top.and_then(|f| f.code.operation(f.block, f.index));
        OOError::Low(LLError::Fault(Fault {
            message,
            graph: top.map_or("the caller".into(), |f| f.code.graph.name.to_string()),
            operation: operation.map_or("end of a block".into(), |op| op.op.to_string()),
            access,
            calls: self.calls().collect(),
        }))
    }

    /// The code of a function.
    fn callee(&mut self, f: &FuncSym) -> Result<Callee, Stop> {
        if let Some(callee) = self.callees.get(f) {
            return Ok(callee.clone());
        }
        let callee = match f.kind() {
            FuncKind::External { .. } => Callee::External(f.clone()),
            _ => match (self.graph_of)(f) {
                None => return Err(Stop::Text(format!("no graph of {}", f.name()))),
                Some(Ok(graph)) => Callee::Graph(Rc::new(decode(f, graph, &mut self.objects))),
                Some(Err(lacks)) => {
                    let first = lacks.into_iter().next();
                    let lack = || Lack::Function(f.name().to_owned());
                    let first = first.unwrap_or_else(|| Unsupported {
                        lack: lack(),
                        at: 0,
                    });
                    return Err(Stop::Lacks(f.clone(), first));
                }
            },
        };
        self.callees.insert(f.clone(), callee.clone());
        Ok(callee)
    }
}
