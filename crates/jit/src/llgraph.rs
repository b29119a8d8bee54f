//! Residual code in the low-level interpreter (RPython, 2008: `codegen/llgraph`): for
//! tests, for `taipan timeshift`, and for drivers of a program.

mod drivers;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use taipan_language::{Collector, Exc};
use taipan_llinterp::{CallHook, Fault, HostCall, LLError, LLInterpreter};
use taipan_lltype::{
    Addr, FuncKind, FuncSym, FuncType, LLConst, LLGraph, LLType, LLValue, Memory, Program,
    StaticData, StaticSym, StructBody, StructId, word_const,
};

use crate::generate::Generator;
use crate::prepare::call_stub;
use crate::residual::{CONTINUE, ResidualCounts};
use crate::specialize::{Failure, MOST_BLOCKS, Setup, Specializer, Splits};

use crate::state::Word;
use crate::world::{Called, World};
pub use drivers::DriversJit;

/// What residual code and calls of the portal ask for.
const PORTAL: &str = "rpy_jit_portal";

/// A program with residual code.
pub struct WithJit<'p> {
    program: &'p dyn Program,
    /// A function that is not to run itself, and what runs instead.
    portal: Option<(FuncSym, Arc<LLGraph>)>,
    residual: RefCell<FxHashMap<FuncSym, Arc<LLGraph>>>,
}

impl<'p> WithJit<'p> {
    /// The program, with calls of that function going to the specialiser.
    pub fn new(program: &'p dyn Program, portal: &FuncSym) -> Self {
        let kind = FuncKind::External {
            name: PORTAL.into(),
            can_collect: true,
            can_raise: true,
            releases_gil: false,
            library: None,
        };
        let callee = FuncSym::new(kind, portal.ty().clone());
        WithJit {
            program,
            portal: Some((portal.clone(), Arc::new(call_stub(&callee)))),
            residual: RefCell::default(),
        }
    }

    /// The program, whose functions ask for compiled code by themselves.
    pub fn of_drivers(program: &'p dyn Program) -> Self {
        WithJit {
            program,
            portal: None,
            residual: RefCell::default(),
        }
    }
}

impl Program for WithJit<'_> {
    fn graph(&self, f: &FuncSym) -> Option<Arc<LLGraph>> {
        if let Some((portal, stub)) = &self.portal
            && f == portal
        {
            return Some(stub.clone());
        }
        match self.residual.borrow().get(f) {
            Some(graph) => Some(graph.clone()),
            None => self.program.graph(f),
        }
    }

    fn static_data(&self, s: &StaticSym) -> Arc<StaticData> {
        self.program.static_data(s)
    }

    fn struct_body(&self, s: &StructId) -> Arc<StructBody> {
        self.program.struct_body(s)
    }

    fn exception_vtable(&self, exception: Exc) -> StaticSym {
        self.program.exception_vtable(exception)
    }

    fn exception_instance(&self, exception: Exc) -> StaticSym {
        self.program.exception_instance(exception)
    }

    fn destructor(&self, ty: LLType) -> Option<FuncSym> {
        self.program.destructor(ty)
    }

    fn collector(&self) -> Collector {
        self.program.collector()
    }

    fn is_light_destructor(&self, f: &FuncSym) -> bool {
        self.program.is_light_destructor(f)
    }
}

struct InInterpreter<'a, 'p>(&'a mut LLInterpreter<'p>);

impl World for InInterpreter<'_, '_> {
    fn memory(&mut self) -> &mut dyn Memory {
        &mut self.0.heap
    }

    fn word(&mut self, c: &LLConst) -> Word {
        self.0.heap.const_value(c)
    }

    fn constant(&mut self, w: Word, ty: LLType) -> LLConst {
        if let Some(c) = word_const(w, ty) {
            return c;
        }
        let addr = w as Addr;
        if addr == 0 {
            return LLConst::Null(ty);
        }
        if let Ok(f) = self.0.heap.func_at(addr) {
            return LLConst::Func(f.clone());
        }
        let container = ty.pointee().unwrap_or(ty);
        let sym = StaticSym::Named(format!("jit.{addr:x}").into(), container);
        self.0.heap.name_object(sym.clone(), addr);
        LLConst::data(sym, ty)
    }

    fn function(&mut self, w: Word) -> Option<FuncSym> {
        self.0.heap.func_at(w as Addr).ok().cloned()
    }

    fn call(
        &mut self,
        f: Word,
        args: &[(Word, LLType)],
        _result: LLType,
    ) -> Result<Called, String> {
        let sym = self.function(f).ok_or("a call of what is no function")?;
        let mut given = args.iter();
        let values = sym
            .ty()
            .args
            .iter()
            .map(|t| match t.is_void() {
                true => LLValue::Void,
                false => given
                    .next()
                    .map_or(LLValue::Void, |(w, _)| LLValue::from_word(*w, *t)),
            })
            .collect();
        match self.0.eval(&sym, values) {
            Ok(v) => Ok(Ok(v.word())),
            Err(LLError::Raised(e)) => Ok(Err((Word::from(e.etype), Word::from(e.evalue)))),
            Err(e) => Err(e.to_string()),
        }
    }
}

/// A residual function, and the specialiser that goes on with it.
struct Compiled<'g> {
    specializer: RefCell<Specializer<'g>>,
    sym: FuncSym,
}

/// Names a residual function.
fn residual_sym(name: &str, ty: FuncType) -> FuncSym {
    let kind = FuncKind::Synth {
        name: name.into(),
        args: Arc::new([]),
    };
    FuncSym::new(kind, ty)
}

/// The just-in-time compiler of a program in the low-level interpreter: compiles the
/// portal where it is called with green arguments that are new.
pub struct Jit<'p> {
    generator: &'p Generator<'p>,
    program: &'p WithJit<'p>,
    is_static: Vec<usize>,
    splits: Splits,
    compiled: RefCell<IndexMap<Vec<Option<Word>>, Rc<Compiled<'p>>>>,
    failure: RefCell<Option<Failure>>,
    /// What residual code did that no code must do, if that happened.
    fault: RefCell<Option<Fault>>,
}

impl<'p> Jit<'p> {
    /// The compiler that a generator makes, for a program that an interpreter runs. The
    /// arguments at the positions in `is_static` are constants, as green ones are.
    pub fn new(
        generator: &'p Generator<'p>,
        program: &'p WithJit<'p>,
        is_static: &[usize],
        splits: Splits,
    ) -> Self {
        Jit {
            splits,
            generator,
            program,
            is_static: is_static.to_vec(),
            compiled: RefCell::default(),
            failure: RefCell::default(),
            fault: RefCell::default(),
        }
    }

    /// Why the specialiser gave up, if it did; the program ends then.
    pub fn failure(&self) -> Option<Failure> {
        self.failure.borrow().clone()
    }

    /// What residual code did that low-level code must not do, if it was that.
    pub fn fault(&self) -> Option<Fault> {
        self.fault.borrow().clone()
    }

    /// What all residual functions together consist of.
    pub fn counts(&self) -> ResidualCounts {
        let mut all = ResidualCounts::default();
        for c in self.compiled.borrow().values() {
            all.add(
                &c.specializer
                    .borrow()
                    .residual
                    .counts(self.generator.program()),
            );
        }
        all
    }

    /// The residual functions, in the order in which they were compiled.
    pub fn residual_graphs(&self) -> Vec<LLGraph> {
        let compiled = self.compiled.borrow();
        let graphs = compiled.values();
        graphs
            .map(|c| c.specializer.borrow().residual.finished())
            .collect()
    }

    fn compile(
        &self,
        interpreter: &mut LLInterpreter<'p>,
        known: Vec<Option<Word>>,
    ) -> Result<Rc<Compiled<'p>>, Failure> {
        if let Some(c) = self.compiled.borrow().get(&known) {
            return Ok(c.clone());
        }
        let portal = self.generator.portal();
        let number = self.compiled.borrow().len();
        let name = format!("{} (residual {number})", portal.name());
        let specializer = Specializer::compile(
            self.generator.program(),
            self.generator.graphs(),
            &Setup {
                name: &name,
                number,
                splits: self.splits,
                of_driver: false,
                shared: Rc::default(),
                most_blocks: MOST_BLOCKS,
                virtual_arguments: None,
                layouts: Rc::default(),
            },
            &known,
            self.generator.touches(),
            &[],
            &mut InInterpreter(interpreter),
        )
        .inspect_err(|why| *self.failure.borrow_mut() = Some(why.clone()))?;
        let args = portal.ty().args.iter().zip(&known);
        let ty = FuncType {
            args: args.filter(|(_, k)| k.is_none()).map(|(t, _)| *t).collect(),
            result: portal.ty().result,
        };
        let sym = residual_sym(&name, ty);
        let graph = specializer.residual.snapshot();
        self.program
            .residual
            .borrow_mut()
            .insert(sym.clone(), graph);
        let compiled = Rc::new(Compiled {
            specializer: RefCell::new(specializer),
            sym,
        });
        self.compiled.borrow_mut().insert(known, compiled.clone());
        Ok(compiled)
    }

    /// A fault whose calls are those of the program: residual code knows what it comes from.
    fn with_places(&self, mut fault: Fault) -> Fault {
        let compiled = self.compiled.borrow();
        // What stands in the place of the portal does nothing but call the specialiser.
        fault.calls.retain(|c| c.func != *self.generator.portal());
        for call in &mut fault.calls {
            let residual = compiled.values().find(|c| c.sym == call.func);
            let residual = residual.and_then(|c| c.specializer.try_borrow().ok());
            if let Some(place) = residual.and_then(|s| s.origin(call.at)) {
                *call = place;
            }
        }
        fault
    }

    /// A call of the portal.
    fn enter(
        &self,
        interpreter: &mut LLInterpreter<'p>,
        words: &[Word],
    ) -> Result<HostCall, Failure> {
        let types = &self.generator.portal().ty().args;
        let green = self.generator.green_arguments();
        let mut words = words.iter();
        let (mut known, mut left) = (Vec::new(), Vec::new());
        for (i, ty) in types.iter().enumerate() {
            if ty.is_void() {
                known.push(Some(0));
                continue;
            }
            let word = *words.next().ok_or("an argument is missing")?;
            if green[i] || self.is_static.contains(&i) {
                known.push(Some(word));
            } else {
                known.push(None);
                left.push(LLValue::from_word(word, *ty));
            }
        }
        let compiled = self.compile(interpreter, known)?;
        let result = match interpreter.eval(&compiled.sym, left) {
            Ok(v) => v.word(),
            Err(LLError::Raised(e)) => {
                interpreter.set_exception(e.etype, e.evalue);
                0
            }
            Err(e) => {
                if let LLError::Fault(fault) = &e {
                    let mut kept = self.fault.borrow_mut();
                    kept.get_or_insert_with(|| self.with_places(fault.clone()));
                }
                return Err(e.to_string().into());
            }
        };
        Ok(HostCall {
            result,
            grown: None,
        })
    }

    fn resume(
        &self,
        interpreter: &mut LLInterpreter<'p>,
        number: Word,
        value: Word,
    ) -> Result<HostCall, Failure> {
        let (function, stub) = ((number >> 32) as usize, number as u32 as usize);
        let found = self
            .compiled
            .borrow()
            .get_index(function)
            .map(|c| c.1.clone());
        let compiled = found.ok_or("a stub of no function")?;
        let mut specializer = compiled.specializer.borrow_mut();
        specializer
            .continue_compilation(&mut InInterpreter(interpreter), stub, value, &[])
            .inspect_err(|why| *self.failure.borrow_mut() = Some(why.clone()))?;
        let graph = specializer.residual.snapshot();
        let residual = &self.program.residual;
        residual
            .borrow_mut()
            .insert(compiled.sym.clone(), graph.clone());
        Ok(HostCall {
            result: 0,
            grown: Some((compiled.sym.clone(), graph)),
        })
    }
}

impl<'p> CallHook<'p> for Jit<'p> {
    fn call(
        &self,
        interpreter: &mut LLInterpreter<'p>,
        name: &str,
        words: &[i128],
    ) -> Option<Result<HostCall, String>> {
        let called = match (name, words) {
            (PORTAL, words) => self.enter(interpreter, words),
            (CONTINUE, [number, value @ ..]) => {
                self.resume(interpreter, *number, value.first().copied().unwrap_or(0))
            }
            _ => return None,
        };
        Some(called.map_err(|f| f.why))
    }
}
