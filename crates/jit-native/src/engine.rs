//! The compiler at work: which units there are, and what happens when one is missing.

use std::cell::{Cell as StdCell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::rc::Rc;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_codegen::{CodegenError, SymbolRef};
use taipan_codegen_cranelift::{FunctionCompiler, LoadedImage, OptLevel};
use taipan_graph::{BlockId, ExitCase, ExitSwitch, VarId};
use taipan_jit::engine::{References, ResidualFunction};
use taipan_jit::{Generator, JitProgram, ResidualCounts, Splits, Stub, Word};
use taipan_lltype::{
    FuncKind, FuncSym, FuncType, LLConst, LLGraph, LLType, OBJECT, OBJECT_VTABLE, Program, SIGNED,
    word_of_u64,
};
use taipan_runtime::jit::{Hooks, set_hooks};
use taipan_runtime::state::rpy_state;
use taipan_runtime::threads;
use taipan_transform::{gc_transform, optimize_residual};

use crate::cells::{Words, store};
use crate::code::CodeMemory;
use crate::program::{CallEffects, Running};
use crate::unit::{Exits, dispatcher, failing, region, thunk};
use crate::world::{InProcess, Names, Tables};

/// The exception that residual code raises once the compiler has given up.
const GIVEN_UP: &str = "RuntimeError";

/// What an image must contain besides the program's entry for a portal to be compiled
/// while it runs.
pub fn roots(generator: &Generator<'_>, program: &dyn Program) -> Vec<SymbolRef> {
    let references = References::of(generator);
    let mut out = vec![
        SymbolRef::Static(program.exception_vtable(GIVEN_UP)),
        SymbolRef::Static(program.exception_instance(GIVEN_UP)),
        SymbolRef::Static(program.exception_vtable("OverflowError")),
    ];
    let external = |f: &FuncSym| matches!(f.kind(), FuncKind::External { .. });
    for f in references.functions().filter(|f| !external(f)) {
        out.push(SymbolRef::Func(f.clone()));
    }
    for c in &references.consts {
        if let LLConst::Static(s, _) = c {
            out.push(SymbolRef::Static((**s).clone()));
        }
    }
    let gc = references.types.iter().filter(|t| t.is_gc_container());
    out.extend(gc.map(|t| SymbolRef::TypeInfo(*t)));
    let mut seen = FxHashSet::default();
    out.retain(|s| seen.insert(s.clone()));
    out
}

/// Choices that do not change what programs do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// How often a loop is entered before its code is compiled with optimisations.
    pub hot: u64,
    /// When the sides of branches are compiled.
    pub splits: Splits,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            hot: 1000,
            splits: Splits::Eager,
        }
    }
}

/// What was compiled.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Units that were compiled quickly.
    pub units: usize,
    /// Units that were compiled with optimisations.
    pub hot: usize,
    /// Bytes of code.
    pub bytes: usize,
    /// What the residual functions consist of.
    pub residual: ResidualCounts,
}

/// Where a unit starts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Point {
    /// At a block.
    Block(BlockId),
    /// Where compilation has stopped.
    Stub(usize),
    /// At a promotion, with a value for which there is no case.
    Default(usize),
    /// At a loop that was entered often.
    Hot(BlockId),
}

/// What a cell stands for.
#[derive(Clone, Debug)]
struct Cell {
    function: usize,
    point: Point,
    /// What is needed there.
    live: Vec<VarId>,
    /// The types of that, and of the promoted value, if it is a promotion.
    types: Vec<LLType>,
    promotes: bool,
}

/// A residual function.
struct Function<'p> {
    residual: Rc<ResidualFunction<'p>>,
    result: LLType,
    cells: FxHashMap<Point, usize>,
    /// Blocks that are in a unit.
    compiled: FxHashSet<BlockId>,
    /// The stub of each promotion and lazy split.
    stubs: FxHashMap<usize, Stub>,
}

/// Kind of the units by which cells without code lead to the compiler.
type ThunkKey = (Vec<LLType>, LLType, bool);

struct Inner<'p> {
    functions: Vec<Function<'p>>,
    by_greens: FxHashMap<Vec<u64>, usize>,
    cells: FxHashMap<usize, Cell>,
    words: Words,
    thunks: FxHashMap<ThunkKey, usize>,
    failures: FxHashMap<(Vec<LLType>, LLType), usize>,
    names: Names<'p>,
    tables: Tables,
    code: CodeMemory,
    quick: FunctionCompiler,
    speed: FunctionCompiler,
    counts: Counts,
}

/// The just-in-time compiler of a program that runs in this process.
pub struct NativeJit<'p> {
    generator: &'p Generator<'p>,
    program: Running<'p>,
    types: &'p dyn JitProgram,
    /// Which arguments of the portal are known while compiling.
    green: Vec<bool>,
    options: Options,
    inner: RefCell<Inner<'p>>,
    failure: RefCell<Option<String>>,
    /// The thread that compiles.
    busy: StdCell<Option<i64>>,
}

/// The compiler of the program that runs.
static CURRENT: AtomicPtr<NativeJit<'static>> = AtomicPtr::new(ptr::null_mut());

static HOOKS: Hooks = Hooks { enter, resume };

impl<'p> NativeJit<'p> {
    /// A compiler for the portal of a generator in a loaded program, whose arguments at
    /// the positions in `is_static` are known as green ones are.
    pub fn new(
        generator: &'p Generator<'p>,
        program: &'p dyn JitProgram,
        effects: &'p dyn CallEffects,
        image: &'p LoadedImage,
        is_static: &[usize],
        options: Options,
    ) -> Result<NativeJit<'p>, CodegenError> {
        let code = CodeMemory::new(image.start())
            .map_err(|e| CodegenError::new("code", format!("no executable memory: {e}")))?;
        let green = generator.green_arguments();
        let green = green.into_iter().enumerate();
        Ok(NativeJit {
            generator,
            program: Running { program, effects },
            types: program,
            green: green.map(|(i, g)| g || is_static.contains(&i)).collect(),
            options,
            inner: RefCell::new(Inner {
                functions: Vec::new(),
                by_greens: FxHashMap::default(),
                cells: FxHashMap::default(),
                words: Words::default(),
                thunks: FxHashMap::default(),
                failures: FxHashMap::default(),
                names: Names::new(image),
                tables: Tables::default(),
                code,
                quick: FunctionCompiler::for_units(OptLevel::Quick)?,
                speed: FunctionCompiler::for_units(OptLevel::Speed)?,
                counts: Counts::default(),
            }),
            failure: RefCell::default(),
            busy: StdCell::new(None),
        })
    }

    /// Runs `f` with this as the compiler of the program.
    pub fn run<T>(&self, f: impl FnOnce() -> T) -> T {
        struct Reset;
        impl Drop for Reset {
            fn drop(&mut self) {
                set_hooks(None);
                CURRENT.store(ptr::null_mut(), Relaxed);
            }
        }
        CURRENT.store(ptr::from_ref(self).cast_mut().cast(), Relaxed);
        let _reset = Reset;
        set_hooks(Some(&HOOKS));
        f()
    }

    /// Why the compiler gave up, if it did. The program has seen an exception then.
    pub fn failure(&self) -> Option<String> {
        self.failure.borrow().clone()
    }

    /// What was compiled so far.
    pub fn counts(&self) -> Counts {
        let inner = self.inner.borrow();
        let mut counts = inner.counts.clone();
        counts.bytes = inner.code.used();
        for f in &inner.functions {
            counts
                .residual
                .add(&f.residual.counts(self.generator.program()));
        }
        counts
    }

    /// Takes the compiler for this thread; waits if another one has it. None if this one
    /// has it already.
    fn take(&self) -> Option<Busy<'_, 'p>> {
        let me = threads::ident();
        loop {
            match self.busy.get() {
                None => break,
                Some(thread) if thread == me => return None,
                // It has let others run in the middle of a call of the program.
                Some(_) => threads::give_way(),
            }
        }
        self.busy.set(Some(me));
        Some(Busy(self, Exception::put_aside()))
    }

    fn enter(&self, greens: *const u64) -> usize {
        let Some(_busy) = self.take() else {
            return 0;
        };
        let mut inner = self.inner.borrow_mut();
        let inner = &mut *inner;
        let args = &self.generator.portal().ty().args;
        let types = args.iter().zip(&self.green);
        let types = types.filter(|(t, g)| **g && !t.is_void()).map(|(t, _)| *t);
        let (mut words, mut known) = (Vec::new(), Vec::new());
        let mut world = inner.world(self.types);
        for (i, ty) in types.enumerate() {
            // SAFETY: there is a word for each green argument.
            let word = unsafe { *greens.add(i) };
            let word = world.stable(word_of_u64(word, ty), ty);
            words.push(word as u64);
            known.push(word);
        }
        if let Some(entry) = inner.by_greens.get(&words) {
            return *entry;
        }
        let mut known = known.into_iter();
        let known = (args.iter().zip(&self.green)).map(|(t, green)| match (t.is_void(), green) {
            (true, _) => Some(0),
            (false, true) => known.next(),
            (false, false) => None,
        });
        let known: Vec<Option<Word>> = known.collect();
        match inner.compile_portal(self, &known) {
            Ok(entry) => {
                inner.by_greens.insert(words, entry);
                entry
            }
            Err(why) => {
                self.give_up(why);
                inner.failing_entry(self, &known).unwrap_or(0)
            }
        }
    }

    fn resume(&self, cell: usize, value: u64) -> usize {
        let Some(_busy) = self.take() else {
            // Residual code is not entered meanwhile.
            taipan_runtime::exc::fatal(b"residual code ran while it was compiled");
        };
        let mut inner = self.inner.borrow_mut();
        match inner.resume(self, cell, value) {
            Ok(next) => next,
            Err(why) => {
                self.give_up(why);
                (inner.failing_cell(self, cell))
                    .unwrap_or_else(|_| taipan_runtime::exc::fatal(b"no memory for code"))
            }
        }
    }

    fn give_up(&self, why: String) {
        self.failure.borrow_mut().get_or_insert(why);
    }
}

/// While the compiler works for a thread.
struct Busy<'a, 'p>(&'a NativeJit<'p>, Exception);

impl Drop for Busy<'_, '_> {
    fn drop(&mut self) {
        self.1.restore();
        self.0.busy.set(None);
    }
}

/// The exception that is set where residual code calls the compiler. It is a root while
/// calls of the program are made.
struct Exception {
    etype: *mut std::ffi::c_void,
    root: *mut usize,
}

impl Exception {
    fn put_aside() -> Exception {
        // SAFETY: the mutator's own state; its shadow stack has room for what the machine
        // stack has room for.
        unsafe {
            let state = &raw mut rpy_state;
            let saved = Exception {
                etype: (*state).exc_type,
                root: (*state).root_stack_top,
            };
            *saved.root = (*state).exc_value as usize;
            (*state).root_stack_top = saved.root.add(1);
            taipan_runtime::exc::clear_exception();
            saved
        }
    }

    fn restore(&self) {
        // SAFETY: as above; calls of the program have given their roots back.
        unsafe {
            let state = &raw mut rpy_state;
            (*state).exc_type = self.etype;
            (*state).exc_value = *self.root as *mut std::ffi::c_void;
            (*state).root_stack_top = self.root;
        }
    }
}

unsafe extern "C" fn enter(_driver: usize, greens: *const u64) -> usize {
    with_current(|jit| jit.enter(greens))
}

unsafe extern "C" fn resume(cell: usize, value: u64) -> usize {
    with_current(|jit| jit.resume(cell, value))
}

/// Runs `f` with the compiler of the program. Machine code cannot be unwound.
fn with_current(f: impl FnOnce(&NativeJit<'_>) -> usize) -> usize {
    let jit = CURRENT.load(Relaxed);
    // SAFETY: it is set as long as the hooks are, for the time that the value lives.
    let Some(jit) = (unsafe { jit.as_ref() }) else {
        return 0;
    };
    catch_unwind(AssertUnwindSafe(|| f(jit))).unwrap_or_else(|panic| {
        let text = match (panic.downcast_ref::<String>(), panic.downcast_ref::<&str>()) {
            (Some(text), _) => text.as_str(),
            (_, Some(text)) => *text,
            _ => "panic",
        };
        let text = format!("internal error in the JIT compiler: {text}");
        taipan_runtime::exc::fatal(text.as_bytes())
    })
}

impl<'p> Inner<'p> {
    fn world(&mut self, program: &'p dyn Program) -> InProcess<'_, 'p> {
        InProcess {
            program,
            names: &mut self.names,
            tables: &mut self.tables,
            code: &mut self.code,
            compiler: &mut self.speed,
        }
    }

    /// Compiles the portal for arguments that are known: where the code is entered.
    fn compile_portal(
        &mut self,
        jit: &NativeJit<'p>,
        known: &[Option<Word>],
    ) -> Result<usize, String> {
        let number = self.functions.len();
        let mut world = self.world(jit.types);
        let splits = jit.options.splits;
        let residual = ResidualFunction::compile(jit.generator, number, known, splits, &mut world)?;
        let graph = residual.graph();
        let start = graph.startblock;
        let live = graph.block(start).inputargs.clone();
        let ty = FuncType {
            args: live.iter().map(|v| *graph.ty(*v)).collect(),
            result: *graph.ty(graph.returnvar()),
        };
        self.functions.push(Function {
            result: ty.result,
            residual: Rc::new(residual),
            cells: FxHashMap::default(),
            compiled: FxHashSet::default(),
            stubs: FxHashMap::default(),
        });
        let cell = self.cell(jit, number, Point::Block(start), live, None)?;
        self.compile_unit(jit, cell)?;
        self.entry(&ty, cell).map_err(|e| e.to_string())
    }

    /// A function that enters the unit of a cell.
    fn entry(&mut self, ty: &FuncType, cell: usize) -> Result<usize, CodegenError> {
        let code = self.quick.compile_entry("entry", ty, cell)?;
        let names = &self.names;
        self.code.add(&code, &mut |s| names.resolve(s))
    }

    /// Machine code of a unit that is made up.
    fn made_up(&mut self, jit: &NativeJit<'p>, graph: &LLGraph) -> Result<usize, CodegenError> {
        let graph = gc_transform(graph, &jit.program);
        let compiler = &mut self.quick;
        let code = compiler.compile_unit(&jit.program, &graph.name, &graph, &self.names)?;
        let names = &self.names;
        self.code.add(&code, &mut |s| names.resolve(s))
    }

    /// The cell of a place, a new one if there is none; it leads to the compiler then.
    fn cell(
        &mut self,
        jit: &NativeJit<'p>,
        function: usize,
        point: Point,
        live: Vec<VarId>,
        value: Option<VarId>,
    ) -> Result<usize, String> {
        if let Some(cell) = self.functions[function].cells.get(&point) {
            return Ok(*cell);
        }
        let f = &self.functions[function];
        let graph = f.residual.graph();
        let types: Vec<LLType> = (live.iter().chain(&value)).map(|v| *graph.ty(*v)).collect();
        let result = f.result;
        let promotes = value.is_some();
        let target = self
            .thunk(jit, &types, result, promotes)
            .map_err(|e| e.to_string())?;
        let at = self.words.new_word(target as u64);
        let cell = Cell {
            function,
            point,
            live,
            types,
            promotes,
        };
        self.cells.insert(at, cell);
        self.functions[function].cells.insert(point, at);
        Ok(at)
    }

    fn thunk(
        &mut self,
        jit: &NativeJit<'p>,
        types: &[LLType],
        result: LLType,
        promotes: bool,
    ) -> Result<usize, CodegenError> {
        let key = (types.to_vec(), result, promotes);
        if let Some(at) = self.thunks.get(&key) {
            return Ok(*at);
        }
        let graph = thunk("thunk", result, types, promotes, |ty| {
            let kind = FuncKind::External {
                name: "rpy_jit_resume".into(),
                can_collect: true,
                can_raise: false,
                releases_gil: false,
                library: None,
            };
            let args = vec![*SIGNED, ty];
            LLConst::Func(FuncSym::new(
                kind,
                FuncType {
                    args,
                    result: *SIGNED,
                },
            ))
        });
        let at = self.made_up(jit, &graph)?;
        self.thunks.insert(key, at);
        Ok(at)
    }

    /// Makes the code that a cell lacks; the cell to go on by.
    fn resume(&mut self, jit: &NativeJit<'p>, at: usize, value: u64) -> Result<usize, String> {
        let cell = self.cells.get(&at).ok_or("no such cell")?.clone();
        match cell.point {
            Point::Block(_) => {
                self.compile_unit(jit, at)?;
                Ok(at)
            }
            Point::Hot(b) => self.compile_hot(jit, cell.function, b),
            Point::Stub(number) | Point::Default(number) => {
                let mut word = 0;
                if cell.promotes
                    && let Some(ty) = cell.types.last()
                {
                    let mut world = self.world(jit.types);
                    word = world.stable(word_of_u64(value, *ty), *ty);
                }
                self.grow(jit, cell.function, number, word)
            }
        }
    }

    /// Goes on compiling at a stub; the cell by which to go on.
    fn grow(
        &mut self,
        jit: &NativeJit<'p>,
        function: usize,
        number: usize,
        value: Word,
    ) -> Result<usize, String> {
        let mut world = InProcess {
            program: jit.types,
            names: &mut self.names,
            tables: &mut self.tables,
            code: &mut self.code,
            compiler: &mut self.speed,
        };
        let f = &mut self.functions[function];
        let residual = Rc::get_mut(&mut f.residual).ok_or("residual code is in use")?;
        residual.resume(number, value, &mut world)?;
        let stub = f.stubs.get(&number).ok_or("no such stub")?.clone();
        let at = *f.cells.get(&Point::Stub(number)).ok_or("no such cell")?;
        let Some(promoted) = stub.value else {
            self.compile_at(jit, at, stub.target, &stub.live)?;
            return Ok(at);
        };
        // One cell for each case, and the switch that decides between them.
        let graph = f.residual.graph();
        let block = graph.block(stub.target);
        let links: Vec<_> = (block.exits.iter())
            .filter(|l| l.case != ExitCase::Default)
            .map(|l| (l.case.clone(), l.target))
            .collect();
        debug_assert!(matches!(block.exitswitch, ExitSwitch::Value(_)));
        let (name, result) = (graph.name.clone(), f.result);
        let value_type = *graph.ty(promoted);
        let mut cases = Vec::new();
        for (case, target) in links {
            let live = stub.live.clone();
            cases.push((
                case,
                self.cell(jit, function, Point::Block(target), live, None)?,
            ));
        }
        let live = stub.live.clone();
        let default = self.cell(jit, function, Point::Default(number), live, Some(promoted))?;
        let types = self.cells[&at].types.clone();
        let live = &types[..types.len() - 1];
        let graph = dispatcher(&name, result, live, value_type, cases, default);
        let code = self.made_up(jit, &graph).map_err(|e| e.to_string())?;
        store(at, code as u64);
        Ok(at)
    }

    /// Compiles the unit of a cell that stands for a block.
    fn compile_unit(&mut self, jit: &NativeJit<'p>, at: usize) -> Result<(), String> {
        let cell = self.cells[&at].clone();
        match cell.point {
            Point::Block(b) => self.compile_at(jit, at, b, &cell.live),
            _ => Err("a cell without a block".to_owned()),
        }
    }

    /// Compiles what starts at a block, for a cell.
    fn compile_at(
        &mut self,
        jit: &NativeJit<'p>,
        at: usize,
        start: BlockId,
        live: &[VarId],
    ) -> Result<(), String> {
        let function = self.cells[&at].function;
        let graph = self.region(jit, function, start, live, None)?;
        let graph = gc_transform(&graph, &jit.program);
        let compiler = &mut self.quick;
        let code = (compiler.compile_unit(&jit.program, &graph.name, &graph, &self.names))
            .map_err(|e| e.to_string())?;
        let names = &self.names;
        let code = (self.code.add(&code, &mut |s| names.resolve(s))).map_err(|e| e.to_string())?;
        self.counts.units += 1;
        store(at, code as u64);
        Ok(())
    }

    /// Compiles a loop with optimisations; the cell by which it is entered.
    fn compile_hot(
        &mut self,
        jit: &NativeJit<'p>,
        function: usize,
        head: BlockId,
    ) -> Result<usize, String> {
        let residual = self.functions[function].residual.clone();
        let inside = cycle(&residual, head);
        let live = residual.graph().block(head).inputargs.clone();
        let mut graph = self.region(jit, function, head, &live, Some(&inside))?;
        optimize_residual(&mut graph, &jit.program);
        let graph = gc_transform(&graph, &jit.program);
        let compiler = &mut self.speed;
        let code = (compiler.compile_unit(&jit.program, &graph.name, &graph, &self.names))
            .map_err(|e| e.to_string())?;
        let names = &self.names;
        let code = (self.code.add(&code, &mut |s| names.resolve(s))).map_err(|e| e.to_string())?;
        self.counts.hot += 1;
        let entry = self.cell(jit, function, Point::Block(head), live.clone(), None)?;
        store(entry, code as u64);
        let hot = self.cell(jit, function, Point::Hot(head), live, None)?;
        store(hot, code as u64);
        Ok(entry)
    }

    /// The graph of a region.
    fn region(
        &mut self,
        jit: &NativeJit<'p>,
        function: usize,
        start: BlockId,
        live: &[VarId],
        inside: Option<&FxHashSet<BlockId>>,
    ) -> Result<LLGraph, String> {
        let residual = self.functions[function].residual.clone();
        let mut plan = Plan {
            inner: self,
            jit,
            function,
            inside,
            failure: None,
        };
        let graph = region(&residual, start, live, &mut plan);
        match plan.failure {
            None => Ok(graph),
            Some(why) => Err(why),
        }
    }

    /// Code for the portal that raises.
    fn failing_entry(
        &mut self,
        jit: &NativeJit<'p>,
        known: &[Option<Word>],
    ) -> Result<usize, CodegenError> {
        let ty = jit.generator.portal().ty();
        let args = ty.args.iter().zip(known).filter(|(_, k)| k.is_none());
        let ty = FuncType {
            args: args.map(|(t, _)| *t).collect(),
            result: ty.result,
        };
        let cell = self.failing(jit, &ty.args, ty.result)?;
        self.entry(&ty, cell)
    }

    /// A cell whose code raises, with the values of another one.
    fn failing_cell(&mut self, jit: &NativeJit<'p>, at: usize) -> Result<usize, CodegenError> {
        let missing = || CodegenError::new("code", "no such cell");
        let cell = self.cells.get(&at).ok_or_else(missing)?;
        let (types, result) = (cell.types.clone(), self.functions[cell.function].result);
        self.failing(jit, &types, result)
    }

    fn failing(
        &mut self,
        jit: &NativeJit<'p>,
        types: &[LLType],
        result: LLType,
    ) -> Result<usize, CodegenError> {
        let key = (types.to_vec(), result);
        if let Some(cell) = self.failures.get(&key) {
            return Ok(*cell);
        }
        let exception = [
            LLConst::data(jit.program.exception_vtable(GIVEN_UP), OBJECT_VTABLE.ptr()),
            LLConst::data(jit.program.exception_instance(GIVEN_UP), OBJECT.ptr()),
        ];
        let graph = failing("given up", result, types, exception);
        let code = self.made_up(jit, &graph)?;
        let cell = self.words.new_word(code as u64);
        self.failures.insert(key, cell);
        Ok(cell)
    }
}

/// The blocks of a residual function that are on a way from a block back to it.
fn cycle(residual: &ResidualFunction<'_>, head: BlockId) -> FxHashSet<BlockId> {
    let graph = residual.graph();
    let mut from: FxHashMap<BlockId, Vec<BlockId>> = FxHashMap::default();
    let mut waiting = vec![head];
    let mut seen = FxHashSet::from_iter([head]);
    while let Some(b) = waiting.pop() {
        for link in &graph.block(b).exits {
            let to = match residual.stub(link.target) {
                // Nothing is there yet, or what comes is the switch again.
                Some(stub) if stub.value.is_some() => continue,
                Some(stub) => stub.target,
                None => link.target,
            };
            from.entry(to).or_default().push(b);
            if seen.insert(to) {
                waiting.push(to);
            }
        }
    }
    let mut inside = FxHashSet::from_iter([head]);
    waiting.push(head);
    while let Some(b) = waiting.pop() {
        for b in from.get(&b).into_iter().flatten() {
            if inside.insert(*b) {
                waiting.push(*b);
            }
        }
    }
    inside
}

/// Where the unit that is being made is left.
struct Plan<'a, 'p> {
    inner: &'a mut Inner<'p>,
    jit: &'a NativeJit<'p>,
    function: usize,
    /// The loop that the unit is for, if it is for one.
    inside: Option<&'a FxHashSet<BlockId>>,
    failure: Option<String>,
}

impl Plan<'_, '_> {
    fn cell(&mut self, point: Point, live: Vec<VarId>, value: Option<VarId>) -> usize {
        match self.inner.cell(self.jit, self.function, point, live, value) {
            Ok(cell) => cell,
            Err(why) => {
                self.failure.get_or_insert(why);
                0
            }
        }
    }

    fn inputs(&self, b: BlockId) -> Vec<VarId> {
        let graph = self.inner.functions[self.function].residual.graph();
        graph.block(b).inputargs.clone()
    }
}

impl Exits for Plan<'_, '_> {
    fn entry(&mut self, b: BlockId) -> Option<usize> {
        let f = &mut self.inner.functions[self.function];
        let included = match self.inside {
            Some(inside) => inside.contains(&b),
            None => f.compiled.insert(b),
        };
        if included {
            return None;
        }
        let live = self.inputs(b);
        Some(self.cell(Point::Block(b), live, None))
    }

    fn stub(&mut self, stub: &Stub) -> usize {
        let f = &mut self.inner.functions[self.function];
        f.stubs.insert(stub.number, stub.clone());
        self.cell(Point::Stub(stub.number), stub.live.clone(), stub.value)
    }

    fn counter(&mut self, b: BlockId) -> Option<(usize, usize)> {
        if self.inside.is_some() {
            return None;
        }
        let live = self.inputs(b);
        let cell = self.cell(Point::Hot(b), live, None);
        let counter = self.inner.words.new_word(self.jit.options.hot);
        Some((counter, cell))
    }
}
