//! Drivers in the low-level interpreter: what the operation `jit_enter` gets.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use taipan_llinterp::{CallHook, HostCall, JIT_ENTER, LLInterpreter};
use taipan_lltype::{Addr, FuncSym, LLValue, Memory};

use super::{InInterpreter, WithJit, residual_sym};
use crate::drivers::{DriverInfo, PARAMETERS, SET_PARAM, TAKE_LEFT};
use crate::engine::{DriverCompiler, MOST_STRINGS, ResidualFunction, characters, residual_name};
use crate::program::JitProgram;
use crate::residual::{CONTINUE, ResidualCounts, UNIQUE_STRING};
use crate::specialize::{Failure, Splits};
use crate::state::Word;

/// How often code comes by before it is compiled.
const THRESHOLD: i64 = 1039;

/// One driver, with what is compiled for it.
struct Driver {
    info: DriverInfo,
    threshold: Cell<i64>,
    /// By greens: how often code came by, and what was compiled.
    seen: RefCell<IndexMap<Vec<Word>, Seen>>,
}

#[derive(Clone)]
enum Seen {
    Counted(i64),
    Compiled(FuncSym),
    /// It cannot be compiled.
    Refused,
}

/// A residual function that grows.
struct Function<'p> {
    code: RefCell<ResidualFunction<'p>>,
    sym: FuncSym,
}

/// The just-in-time compiler of a program with drivers in the low-level interpreter.
pub struct DriversJit<'p> {
    program: &'p dyn JitProgram,
    compiler: DriverCompiler<'p>,
    graphs: &'p WithJit<'p>,
    splits: Splits,
    drivers: Vec<Driver>,
    functions: RefCell<Vec<Rc<Function<'p>>>>,
    refused: RefCell<Vec<String>>,
    /// Functions of the program that are called while compiling enter no compiled code:
    /// it might be what is being compiled.
    compiling: Cell<bool>,
    /// Nobody sets another threshold.
    fixed: bool,
    /// One string for all with the same characters.
    strings: RefCell<FxHashMap<(bool, Vec<u32>), Word>>,
}

impl<'p> DriversJit<'p> {
    /// The compiler for these drivers of a program, which an interpreter runs as
    /// `graphs`. A threshold given here stays what it is.
    pub fn new(
        program: &'p dyn JitProgram,
        graphs: &'p WithJit<'p>,
        drivers: &[DriverInfo],
        splits: Splits,
        threshold: Option<i64>,
    ) -> Self {
        let drivers = drivers.iter().map(|info| Driver {
            info: info.clone(),
            threshold: Cell::new(threshold.unwrap_or(THRESHOLD)),
            seen: RefCell::default(),
        });
        DriversJit {
            program,
            compiler: DriverCompiler::new(program),
            graphs,
            splits,
            drivers: drivers.collect(),
            functions: RefCell::default(),
            refused: RefCell::default(),
            compiling: Cell::new(false),
            fixed: threshold.is_some(),
            strings: RefCell::default(),
        }
    }

    /// The same with another bound for the blocks of a residual function.
    pub fn with_bound(self, most_blocks: usize) -> Self {
        DriversJit {
            compiler: self.compiler.with_bound(most_blocks),
            ..self
        }
    }

    /// Why loops were not compiled, if some were not.
    pub fn refused(&self) -> Vec<String> {
        self.refused.borrow().clone()
    }

    /// What all residual functions together consist of.
    pub fn counts(&self) -> ResidualCounts {
        let mut all = ResidualCounts::default();
        for f in self.functions.borrow().iter() {
            all.add(&f.code.borrow().counts(self.program));
        }
        all
    }

    /// The residual functions, in the order in which they were compiled.
    pub fn residual_graphs(&self) -> Vec<taipan_lltype::LLGraph> {
        let functions = self.functions.borrow();
        let graphs = functions.iter();
        graphs.map(|f| f.code.borrow().finished()).collect()
    }

    /// The address of compiled code for these greens; 0 if there is none.
    fn enter(&self, interpreter: &mut LLInterpreter<'p>, words: &[Word]) -> Result<Word, String> {
        if self.compiling.get() {
            return Ok(0);
        }
        let driver = words.first().and_then(|n| self.drivers.get(*n as usize));
        let driver = driver.ok_or("a driver that does not exist")?;
        let types = driver.info.greens.iter();
        let greens: Vec<Word> = (types.zip(&words[1..]))
            .map(|(ty, w)| LLValue::from_word(*w, *ty).word())
            .collect();
        let threshold = driver.threshold.get();
        let seen = driver.seen.borrow().get(&greens).cloned();
        let count = match seen {
            Some(Seen::Compiled(f)) => return Ok(Word::from(interpreter.heap.func_addr(&f))),
            Some(Seen::Refused) => return Ok(0),
            Some(Seen::Counted(n)) => n + 1,
            None => 1,
        };
        if threshold < 0 || count < threshold {
            driver
                .seen
                .borrow_mut()
                .insert(greens, Seen::Counted(count));
            return Ok(0);
        }
        let compiled = self.compile(interpreter, &driver.info, &greens);
        let (seen, address) = match compiled {
            Ok(f) => {
                let address = Word::from(interpreter.heap.func_addr(&f));
                (Seen::Compiled(f), address)
            }
            Err(why) => {
                self.refused.borrow_mut().push(why.why);
                (Seen::Refused, 0)
            }
        };
        driver.seen.borrow_mut().insert(greens, seen);
        Ok(address)
    }

    fn compile(
        &self,
        interpreter: &mut LLInterpreter<'p>,
        driver: &DriverInfo,
        greens: &[Word],
    ) -> Result<FuncSym, Failure> {
        let number = self.functions.borrow().len();
        let world = &mut InInterpreter(interpreter);
        self.compiling.set(true);
        let compiled =
            (self.compiler).compile(driver, number, greens, (self.splits, (None, &[])), world);
        self.compiling.set(false);
        let residual_function = compiled?;
        let name = residual_name(driver, number);
        let sym = residual_sym(&name, driver.entry_type());
        let graph = Arc::new(residual_function.graph().clone());
        let residual = &self.graphs.residual;
        residual.borrow_mut().insert(sym.clone(), graph);
        self.functions.borrow_mut().push(Rc::new(Function {
            code: RefCell::new(residual_function),
            sym: sym.clone(),
        }));
        Ok(sym)
    }

    fn resume(
        &self,
        interpreter: &mut LLInterpreter<'p>,
        number: Word,
        value: Word,
    ) -> Result<HostCall, Failure> {
        let (function, stub) = ((number >> 32) as usize, number as u32 as usize);
        let found = self.functions.borrow().get(function).cloned();
        let function = found.ok_or("a stub of no function")?;
        let mut code = function.code.borrow_mut();
        self.compiling.set(true);
        let world = &mut InInterpreter(interpreter);
        let went = code.resume(stub, Some(value), &[], world);
        self.compiling.set(false);
        went?;
        let graph = Arc::new(code.graph().clone());
        let residual = &self.graphs.residual;
        residual
            .borrow_mut()
            .insert(function.sym.clone(), graph.clone());
        Ok(HostCall {
            result: 0,
            grown: Some((function.sym.clone(), graph)),
        })
    }

    /// The string that stands for all with the characters of one.
    fn unique_string(&self, heap: &mut dyn Memory, string: Word, wide: bool) -> Word {
        let Ok(characters) = characters(heap, string as Addr, wide) else {
            return string;
        };
        let mut strings = self.strings.borrow_mut();
        match strings.len() < MOST_STRINGS {
            true => *strings.entry((wide, characters)).or_insert(string),
            false => *strings.get(&(wide, characters)).unwrap_or(&string),
        }
    }

    fn set_param(&self, driver: Word, parameter: Word, value: Word) {
        if self.fixed || PARAMETERS.get(parameter as usize) != Some(&"threshold") {
            return;
        }
        let drivers = self.drivers.iter().enumerate();
        for (_, d) in drivers.filter(|(i, _)| driver < 0 || *i as Word == driver) {
            d.threshold.set(match value as i64 {
                i64::MIN => THRESHOLD,
                n => n,
            });
        }
    }
}

impl<'p> CallHook<'p> for DriversJit<'p> {
    fn call(
        &self,
        interpreter: &mut LLInterpreter<'p>,
        name: &str,
        words: &[i128],
    ) -> Option<Result<HostCall, String>> {
        let done = |result| HostCall {
            result,
            grown: None,
        };
        Some(match (name, words) {
            (JIT_ENTER, words) => self.enter(interpreter, words).map(done),
            (CONTINUE, [number, value @ ..]) => self
                .resume(interpreter, *number, value.first().copied().unwrap_or(0))
                .map_err(|f| f.why),
            (SET_PARAM, [driver, parameter, value]) => {
                self.set_param(*driver, *parameter, *value);
                Ok(done(0))
            }
            // Code here leaves nothing to the interpreter.
            (TAKE_LEFT, []) => Ok(done(0)),
            (UNIQUE_STRING, [string, wide]) => Ok(done(self.unique_string(
                &mut interpreter.heap,
                *string,
                *wide != 0,
            ))),
            _ => return None,
        })
    }
}
