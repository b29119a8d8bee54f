//! Residual functions as units: which there are, and how they are made.

mod hot;
mod pending;
mod plan;
mod record;

use std::ptr;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_codegen::CodegenError;
use taipan_codegen_cranelift::{FunctionCompiler, LoadedImage, OptLevel, arrival_code};
use taipan_graph::{BlockId, ExitCase, VarId};
use taipan_jit::engine::{MOST_STRINGS, ResidualFunction, characters};
use taipan_jit::{Failure, JitProgram, Stub, VirtualArguments, Word, World};
use taipan_lltype::{
    Addr, FuncType, LLConst, LLGraph, LLOperand, LLType, NamedOperands, OBJECT, OBJECT_VTABLE,
    PlainOp, Program, STR, View, word_of_u64,
};
use taipan_runtime::gc::api::collections;
use taipan_transform::gc_transform_quickly;

use crate::arrived::{Arrived, Values};
use crate::assumptions::Assumptions;
use crate::cells::{Words, load, store};
use crate::code::CodeMemory;
use crate::engine::{Counts, NativeJit, resume};
use crate::entries::{Entries, PortalKey};
use crate::log::{Log, operations};
use crate::loops::{Loops, has_loops};
use crate::roots::GIVEN_UP;
use crate::unit::{dispatcher, failing, interpreted, left, region};
use crate::world::{InProcess, Names, Tables};
use hot::Hot;
use pending::Pending;
use plan::{Extent, Plan};

/// How many blocks all residual functions together may have; then nothing is added. With
/// what is needed to go on at each stub and to join each loop, a block takes some kilobytes.
const MOST_BLOCKS: usize = 300_000;

/// Maximum number of variants with virtual arguments per list of greens.
const MOST_ARGUMENTS: usize = 3;

/// What a word starts with that is counted down and never gets to its end.
const NEVER: u64 = i64::MAX as u64;

/// Where a unit starts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Point {
    /// At a block.
    Block(BlockId),
    /// Where compilation has stopped.
    Stub(usize),
    /// At a promotion, with a value for which there is no case.
    Default(usize),
    /// At a loop or a function that was entered often.
    Hot(BlockId),
    /// At one that was entered often after it was compiled with optimisations.
    Again(BlockId),
    /// At the merge point of a driver that another function goes on at.
    Portal,
}

/// A function that is compiled when code gets there: one that the interpreter enters, or one in which
/// another one goes on at a merge point that is not its own.
struct Left {
    key: PortalKey,
    /// How often the interpreter came by.
    count: i64,
    /// The portal.
    callee: LLOperand,
    /// The greens, as operands of a call of it.
    greens: Vec<LLOperand>,
    /// For a variant with virtual arguments: a unit that allocates them and calls the portal.
    makes_arguments: Option<LLGraph>,
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
    key: PortalKey,
    result: LLType,
    cells: FxHashMap<Point, usize>,
    /// Blocks that are in a unit.
    compiled: FxHashSet<BlockId>,
    /// Those that a unit starts with.
    starts: FxHashSet<BlockId>,
    /// The stub of each promotion and lazy split.
    stubs: FxHashMap<usize, Stub>,
    /// Regions that were compiled with optimisations.
    hot: FxHashMap<BlockId, Hot>,
    /// What counts how often a block is entered, and up to how many times.
    counters: FxHashMap<BlockId, (usize, u64)>,
    /// The first block of each unit without optimisations, and the word that counts its entries down.
    tallies: Vec<(BlockId, usize)>,
    /// Words that count the remaining attempts of `@elidable` calls that returned null, by result.
    tries: FxHashMap<VarId, usize>,
    /// The loops of the code as it is, once somebody has asked for them.
    loops: Option<Loops>,
    /// The cells of the units that have a block in the middle, and the other way around.
    middle: FxHashMap<BlockId, Vec<usize>>,
    inside: FxHashMap<usize, Vec<BlockId>>,
}

/// All residual functions of a program.
pub(crate) struct Functions<'p> {
    functions: Vec<Function<'p>>,
    cells: FxHashMap<usize, Cell>,
    words: Words,
    /// What the values of cells are, by their types. It stays where it is.
    values: FxHashMap<Vec<LLType>, Box<Values>>,
    /// The code of cells that have none of their own: it calls the compiler.
    waiting: usize,
    failures: FxHashMap<(Vec<LLType>, LLType), usize>,
    /// By driver: the cell whose code leaves the values of a merge point to the interpreter, and their
    /// types.
    leaving: FxHashMap<usize, (usize, Vec<LLType>)>,
    /// How many blocks all of them have.
    blocks: usize,
    /// The cells by which residual functions are entered.
    portals: FxHashMap<PortalKey, usize>,
    entries: Entries,
    /// Virtual arguments of portal variants, by number.
    arguments: Vec<VirtualArguments>,
    /// Those for which there is no function yet.
    left: FxHashMap<usize, Left>,
    names: Names<'p>,
    tables: Tables,
    assumptions: Rc<Assumptions>,
    code: CodeMemory,
    quick: FunctionCompiler,
    speed: FunctionCompiler,
    /// None if regions are optimised on this thread.
    pending: Option<Pending>,
    counts: Counts,
    log: Log,
    /// One string for all with the same characters.
    strings: FxHashMap<(bool, Vec<u32>), usize>,
    /// Where greens are, in words: by driver and greens.
    locations: FxHashMap<(usize, Vec<Word>), String>,
}

impl<'p> Functions<'p> {
    /// None yet.
    pub(crate) fn new(
        image: &'p LoadedImage,
        assumptions: Rc<Assumptions>,
    ) -> Result<Functions<'p>, CodegenError> {
        let mut code = CodeMemory::new(image.start())
            .map_err(|e| CodegenError::new("code", format!("no executable memory: {e}")))?;
        let no_names = &mut |_: &_| Err(CodegenError::new("code", "no names"));
        let waiting = code.add(&arrival_code(resume as *const () as usize), no_names)?;
        Ok(Functions {
            functions: Vec::new(),
            cells: FxHashMap::default(),
            words: Words::default(),
            values: FxHashMap::default(),
            waiting,
            failures: FxHashMap::default(),
            leaving: FxHashMap::default(),
            blocks: 0,
            portals: FxHashMap::default(),
            entries: Entries::default(),
            arguments: Vec::new(),
            left: FxHashMap::default(),
            names: Names::new(image),
            tables: Tables::default(),
            assumptions,
            code,
            quick: FunctionCompiler::for_units(OptLevel::None)?,
            speed: FunctionCompiler::for_units(OptLevel::Speed)?,
            pending: None,
            counts: Counts::default(),
            log: Log::from_environment(),
            locations: FxHashMap::default(),
            strings: FxHashMap::default(),
        })
    }

    /// What was compiled so far.
    pub(crate) fn counts(&self, program: &dyn JitProgram) -> Counts {
        let mut counts = self.counts.clone();
        counts.bytes = self.code.used();
        for f in &self.functions {
            counts.residual.add(&f.residual.counts(program));
        }
        counts
    }

    /// The residual functions, in the order in which they were compiled.
    pub(crate) fn residual_graphs(&self) -> Vec<LLGraph> {
        self.functions
            .iter()
            .map(|f| f.residual.finished())
            .collect()
    }

    /// The running program as the specialiser sees it.
    pub(crate) fn world(&mut self, jit: &NativeJit<'p>) -> InProcess<'_, 'p> {
        self.world_and_functions(jit).0
    }

    /// The same, and the functions.
    fn world_and_functions(
        &mut self,
        jit: &NativeJit<'p>,
    ) -> (InProcess<'_, 'p>, &mut [Function<'p>]) {
        let world = InProcess {
            program: jit.types,
            names: &mut self.names,
            tables: &mut self.tables,
            code: &mut self.code,
            compiler: &mut self.speed,
            words: &mut self.words,
            leaves: jit.leaves(),
            assumptions: &self.assumptions,
            notes: self.log.is_on(),
        };
        (world, &mut self.functions)
    }

    /// The string that stands for all with the characters of one, and stays where it is.
    pub(crate) fn unique_string(
        &mut self,
        jit: &NativeJit<'p>,
        string: usize,
        wide: bool,
    ) -> usize {
        let mut world = self.world(jit);
        let Ok(characters) = characters(&mut world, string as Addr, wide) else {
            return string;
        };
        let key = (wide, characters);
        if let Some(known) = self.strings.get(&key) {
            return *known;
        }
        if self.strings.len() >= MOST_STRINGS {
            return string;
        }
        let mut world = self.world(jit);
        let kept = world.stable(Word::from(string as u64), STR.ptr()) as usize;
        self.strings.insert(key, kept);
        kept
    }

    /// The function by which the code of a portal for greens is entered. The portal is compiled when
    /// that is done for the first time: then it is known with what values.
    pub(crate) fn portal_entry(
        &mut self,
        jit: &NativeJit<'p>,
        driver: usize,
        greens: &[Word],
        count: i64,
    ) -> Result<usize, Failure> {
        let of = &jit.entered[driver];
        self.check_room(jit)?;
        let key = PortalKey::plain(driver, greens);
        let cell = match self.portals.get(&key) {
            Some(cell) => *cell,
            None => {
                let mut world = self.world(jit);
                let types = of.greens.iter().zip(greens);
                let fixed = types.map(|(ty, w)| LLOperand::Const(world.constant(*w, *ty)));
                let left = Left {
                    key: key.clone(),
                    count,
                    greens: fixed.collect(),
                    callee: LLOperand::Const(LLConst::Func(of.portal.clone())),
                    makes_arguments: None,
                };
                self.waiting_portal(jit, self.functions.len(), left)
            }
        };
        let entry = self.entry(&of.entry, cell).map_err(|e| e.to_string())?;
        self.entries.set(key, entry, &mut self.words);
        Ok(entry)
    }

    /// Fails if so much was compiled that no function is added.
    fn check_room(&self, jit: &NativeJit<'p>) -> Result<(), Failure> {
        if !self.is_full(jit) {
            return Ok(());
        }
        let why = format!(
            "there are {} bytes of code and residual functions of {} blocks already",
            self.code.used(),
            self.blocks
        );
        Err(why.into())
    }

    /// Compiles a portal for greens, with the words that the reds have now: the function by which the
    /// code is entered.
    fn compile_portal(
        &mut self,
        jit: &NativeJit<'p>,
        key: &PortalKey,
        (count, arrived): (i64, &[Option<Word>]),
    ) -> Result<usize, Failure> {
        let (driver, greens) = (key.driver, &*key.greens);
        let entry = &self.entry_type(jit, key);
        self.check_room(jit)?;
        let started = self.log.stopwatch();
        let number = self.functions.len();
        let arguments = key.arguments.map(|number| self.arguments[number].clone());
        let reds = (arguments.as_ref(), arrived);
        let mut world = self.world(jit);
        let residual = (jit.portals).compile(driver, number, greens, reds, &mut world)?;
        self.blocks += residual.block_count();
        let graph = residual.graph();
        let start = graph.startblock;
        let live = graph.block(start).inputargs.clone();
        let took = started.elapsed();
        self.log.specialised(took);
        self.log_function(jit, (number, driver), greens, count, took);
        self.functions.push(Function {
            result: entry.result,
            residual: Rc::new(residual),
            key: key.clone(),
            cells: FxHashMap::default(),
            compiled: FxHashSet::default(),
            starts: FxHashSet::default(),
            stubs: FxHashMap::default(),
            hot: FxHashMap::default(),
            counters: FxHashMap::default(),
            tallies: Vec::new(),
            tries: FxHashMap::default(),
            loops: None,
            middle: FxHashMap::default(),
            inside: FxHashMap::default(),
        });
        let cell = match self.portals.get(key) {
            // Others lead there already.
            Some(cell) => {
                self.left.remove(cell);
                if let Some(of) = self.cells.get_mut(cell) {
                    (of.function, of.point, of.live) = (number, Point::Block(start), live);
                }
                let f = &mut self.functions[number];
                f.cells.insert(Point::Block(start), *cell);
                *cell
            }
            None => self.cell(number, Point::Block(start), live, None),
        };
        self.portals.insert(key.clone(), cell);
        self.log.reason(cell, || "it starts here".to_owned());
        self.compile_unit(jit, cell)?;
        let entry = self.entry(entry, cell).map_err(|e| e.to_string())?;
        self.entries.set(key.clone(), entry, &mut self.words);
        Ok(entry)
    }

    /// Whether compiled code of a portal has loops. Virtual arguments do not pay off there: the loops dominate.
    fn has_loops(&self, key: &PortalKey) -> bool {
        let cell = self.portals.get(key).and_then(|at| self.cells.get(at));
        let function = cell.and_then(|cell| self.functions.get(cell.function));
        function.is_none_or(|f| has_loops(&f.residual))
    }

    /// Number of these virtual arguments. None if the greens have [`MOST_ARGUMENTS`] variants already.
    fn number_of_arguments(
        &mut self,
        driver: usize,
        greens: &[Word],
        arguments: &VirtualArguments,
    ) -> Option<usize> {
        let known = self.arguments.iter().position(|a| a == arguments);
        let number = known.unwrap_or(self.arguments.len());
        let mut key = PortalKey::plain(driver, greens);
        let mut exists = |n: usize| {
            key.arguments = Some(n);
            self.portals.contains_key(&key)
        };
        let is_new = !exists(number);
        if is_new && (0..self.arguments.len()).filter(|n| exists(*n)).count() >= MOST_ARGUMENTS {
            return None;
        }
        if known.is_none() {
            self.arguments.push(arguments.clone());
        }
        Some(number)
    }

    /// Function type of a compiled portal.
    fn entry_type(&self, jit: &NativeJit<'p>, key: &PortalKey) -> FuncType {
        let entry = &jit.entered[key.driver].entry;
        match key.arguments {
            Some(number) => FuncType {
                args: self.arguments[number].types().to_vec(),
                result: entry.result,
            },
            None => entry.clone(),
        }
    }

    /// Whether so much was compiled that nothing is added. Then what there is can be entered,
    /// and the interpreter goes on where it is left.
    fn is_full(&self, jit: &NativeJit<'p>) -> bool {
        let full = self.blocks > MOST_BLOCKS || self.code.used() > jit.options.most_code;
        if full {
            jit.full.set(true);
        }
        full
    }

    /// The cell by which a function goes on at the merge point of its driver for greens that
    /// are not its own business: another residual function, which is compiled when code
    /// gets there.
    fn portal_cell(
        &mut self,
        jit: &NativeJit<'p>,
        function: usize,
        greens: &[Word],
        (callee, fixed): (&LLOperand, &[LLOperand]),
    ) -> usize {
        let driver = self.functions[function].key.driver;
        let key = PortalKey::plain(driver, greens);
        if let Some(cell) = self.portals.get(&key) {
            return *cell;
        }
        let left = Left {
            key,
            count: 0,
            callee: callee.clone(),
            greens: fixed.to_vec(),
            makes_arguments: None,
        };
        self.waiting_portal(jit, function, left)
    }

    /// The cell of a portal that is compiled when code gets there.
    fn waiting_portal(&mut self, jit: &NativeJit<'p>, function: usize, left: Left) -> usize {
        let entry = self.entry_type(jit, &left.key);
        let at = self.waiting_cell(&entry.args);
        let cell = Cell {
            function,
            point: Point::Portal,
            live: Vec::new(),
            types: entry.args,
            promotes: false,
        };
        self.cells.insert(at, cell);
        self.portals.insert(left.key.clone(), at);
        self.left.insert(at, left);
        at
    }

    /// Compiles the function for a merge point that another one goes on at. If that cannot
    /// be done, the interpreter goes on there.
    fn go_on_at_portal(
        &mut self,
        jit: &NativeJit<'p>,
        at: usize,
        arrived: &[Option<Word>],
    ) -> Result<usize, Failure> {
        let left = self.left.remove(&at).ok_or("no such merge point")?;
        let (driver, greens) = (left.key.driver, &left.key.greens);
        let made = match jit.compiles(driver) {
            true => jit.or_broken(|| self.compile_portal(jit, &left.key, (left.count, arrived))),
            false => Err("the compiler is switched off".into()),
        };
        match made {
            // The interpreter cannot enter a variant with virtual arguments.
            Ok(_) if left.key.arguments.is_some() => {}
            Ok(entry) => jit.has_compiled(driver, greens, entry),
            Err(why) => {
                self.log_refused(jit, driver, greens, &why.why);
                if jit.options.raises {
                    return Err(why);
                }
                self.entries.set(left.key.clone(), 0, &mut self.words);
                let graph = match left.makes_arguments {
                    Some(graph) => graph,
                    None => {
                        jit.refuse(driver, greens, why);
                        let types = &jit.entered[driver].entry;
                        let (result, args) = (types.result, &types.args);
                        let name = "the interpreter";
                        interpreted(name, result, args, &left.callee, &left.greens)
                    }
                };
                let code = self.made_up(jit, graph).map_err(|e| e.to_string())?;
                store(at, code as u64);
            }
        }
        Ok(at)
    }

    /// A function that enters the unit of a cell.
    fn entry(&mut self, ty: &FuncType, cell: usize) -> Result<usize, CodegenError> {
        let code = self.quick.compile_entry("entry", ty, cell)?;
        let names = &self.names;
        self.code.add(&code, &mut |s| names.resolve(s))
    }

    /// Machine code of a unit that is made up.
    fn made_up(&mut self, jit: &NativeJit<'p>, graph: LLGraph) -> Result<usize, CodegenError> {
        let graph = gc_transform_quickly(graph, &jit.program);
        self.emit(jit, &graph, false, usize::MAX)
    }

    /// Machine code of a unit, if it has no more bytes than that.
    fn emit(
        &mut self,
        jit: &NativeJit<'p>,
        graph: &LLGraph,
        hot: bool,
        most: usize,
    ) -> Result<usize, CodegenError> {
        let compiler = match hot {
            true => &mut self.speed,
            false => &mut self.quick,
        };
        let code = compiler.compile_unit(&jit.program, &graph.name, graph, &self.names)?;
        if code.code.len() > most {
            return Err(CodegenError::new(graph.name.to_string(), "too large"));
        }
        let names = &self.names;
        let at = self.code.add(&code, &mut |s| names.resolve(s))?;
        self.log.code(at, code.code.len(), &graph.name);
        Ok(at)
    }

    /// The cell of a place, a new one if there is none; it leads to the compiler then.
    fn cell(
        &mut self,
        function: usize,
        point: Point,
        live: Vec<VarId>,
        value: Option<VarId>,
    ) -> usize {
        if let Some(cell) = self.functions[function].cells.get(&point) {
            return *cell;
        }
        let f = &self.functions[function];
        let graph = f.residual.graph();
        let types: Vec<LLType> = (live.iter().chain(&value)).map(|v| *graph.ty(*v)).collect();
        let promotes = value.is_some();
        let at = self.waiting_cell(&types);
        let cell = Cell {
            function,
            point,
            live,
            types,
            promotes,
        };
        self.cells.insert(at, cell);
        self.functions[function].cells.insert(point, at);
        at
    }

    /// A new cell for values of these types, which leads to the compiler.
    fn waiting_cell(&mut self, types: &[LLType]) -> usize {
        if !self.values.contains_key(types) {
            let values = Box::new(Values::new(types));
            self.values.insert(types.to_vec(), values);
        }
        let values = ptr::from_ref(&*self.values[types]);
        self.words.new_cell(self.waiting as u64, values as u64)
    }

    /// Makes the code that a cell lacks; the cell to go on by.
    pub(crate) fn resume(
        &mut self,
        jit: &NativeJit<'p>,
        at: usize,
        arrived: &Arrived<'_>,
    ) -> Result<usize, Failure> {
        self.install_finished(jit);
        let cell = self.cells.get(&at).ok_or("no such cell")?.clone();
        match cell.point {
            Point::Block(_) if load(at) != self.waiting as u64 => Ok(at),
            Point::Block(_) => {
                self.compile_unit(jit, at)?;
                Ok(at)
            }
            Point::Portal => {
                let words = self.words_of(&cell, arrived);
                self.go_on_at_portal(jit, at, &words)
            }
            Point::Hot(b) | Point::Again(b) => {
                if let Some(meanwhile) = self.go_on_meanwhile(jit, cell.function, b)? {
                    return Ok(meanwhile);
                }
                if !self.is_earned(jit, cell.function, b) {
                    return self.go_on_quickly(jit, cell.function, b);
                }
                match self.compile_hot(jit, cell.function, b) {
                    Ok(entry) => Ok(entry),
                    Err(_) => {
                        // The code that there is goes on as it is.
                        self.stop_counting(cell.function, b);
                        Ok(self.cell(cell.function, Point::Block(b), cell.live, None))
                    }
                }
            }
            Point::Stub(number) | Point::Default(number) => {
                let words = self.words_of(&cell, arrived);
                // SAFETY: this is the mutator.
                let moves = unsafe { collections() };
                let mut value = None;
                if let (true, Some(ty)) = (cell.promotes, cell.types.last()) {
                    let word = words.last().copied().flatten();
                    let word = word.ok_or_else(|| format!("a {ty} is promoted"))?;
                    let mut world = self.world(jit);
                    value = Some(world.stable(word, *ty));
                }
                // SAFETY: this is the mutator.
                let words = match moves == unsafe { collections() } {
                    true => words,
                    false => Vec::new(),
                };
                self.grow(jit, cell.function, number, value, &words)
            }
        }
    }

    /// What arrived for a cell, as words.
    fn words_of(&self, cell: &Cell, arrived: &Arrived<'_>) -> Vec<Option<Word>> {
        let words = arrived.words().into_iter().zip(&cell.types);
        words.map(|(w, ty)| Some(word_of_u64(w?, *ty))).collect()
    }

    /// Goes on compiling at a stub, with values that arrived there; the cell by which to go
    /// on.
    fn grow(
        &mut self,
        jit: &NativeJit<'p>,
        function: usize,
        number: usize,
        value: Option<Word>,
        arrived: &[Option<Word>],
    ) -> Result<usize, Failure> {
        let started = self.log.stopwatch();
        let full = self.is_full(jit);
        let (mut world, functions) = self.world_and_functions(jit);
        let f = &mut functions[function];
        let stub = f.stubs.get(&number).ok_or("no such stub")?.clone();
        let at = *f.cells.get(&Point::Stub(number)).ok_or("no such cell")?;
        f.loops = None;
        let residual = Rc::get_mut(&mut f.residual).ok_or("residual code is in use")?;
        if full {
            residual.finish_soon();
            if f.key.arguments.is_none() {
                jit.interprets(f.key.driver, &f.key.greens);
            }
        }
        let before = residual.block_count();
        residual.resume(number, value, arrived, &mut world)?;
        let grown = residual.block_count() - before;
        if full {
            let key = f.key.clone();
            self.entries.set(key, 0, &mut self.words);
        }
        self.blocks += grown;
        self.log.specialised(started.elapsed());
        self.log_grown(jit, (function, number), value.zip(stub.value), started);
        let Some(promoted) = stub.value else {
            let live = self.cells[&at].live.clone();
            let f = &mut self.functions[function];
            f.compiled.insert(stub.target);
            f.cells.entry(Point::Block(stub.target)).or_insert(at);
            (self.log).reason(at, || format!("stub {number} was reached"));
            self.compile_at(jit, at, stub.target, &live)?;
            return Ok(at);
        };
        let waiting = self.cells[&at].live.clone();
        // One cell for each case, and the switch that decides between them.
        let f = &self.functions[function];
        let graph = f.residual.graph();
        let (name, result) = (graph.name.clone(), f.result);
        let value_type = *graph.ty(promoted);
        let links = graph.block(stub.target).exits.clone();
        let mut cases = Vec::new();
        let mut default = None;
        for link in links {
            let live = waiting.clone();
            let waits = self.functions[function]
                .residual
                .stub(link.target)
                .is_some();
            let cell = match waits {
                true => self.cell(function, Point::Default(number), live, Some(promoted)),
                false => self.cell(function, Point::Block(link.target), live, None),
            };
            match link.case {
                ExitCase::Default | ExitCase::None => default = Some((cell, waits)),
                case => {
                    self.log_case(jit, cell, number, &case);
                    cases.push((case, cell));
                }
            }
        }
        let default = default.ok_or("a promotion without a way for other values")?;
        let types = self.cells[&at].types.clone();
        let live = &types[..types.len() - 1];
        let graph = dispatcher(&name, result, live, value_type, cases, default);
        let code = self.made_up(jit, graph).map_err(|e| e.to_string())?;
        store(at, code as u64);
        Ok(at)
    }

    /// Compiles the unit of a cell that stands for a block.
    fn compile_unit(&mut self, jit: &NativeJit<'p>, at: usize) -> Result<(), Failure> {
        let cell = self.cells[&at].clone();
        match cell.point {
            Point::Block(b) => self.compile_at(jit, at, b, &cell.live),
            _ => Err("a cell without a block".into()),
        }
    }

    /// Compiles the unit of a cell once more, if it is one that starts with a block.
    fn compile_again(&mut self, jit: &NativeJit<'p>, at: usize) -> Result<(), Failure> {
        let cell = self.cells[&at].clone();
        let f = &self.functions[cell.function];
        let start = match cell.point {
            Point::Block(b) => b,
            Point::Stub(number) => match f.stubs.get(&number) {
                Some(stub) if stub.value.is_none() => stub.target,
                _ => return Ok(()),
            },
            _ => return Ok(()),
        };
        if f.hot.contains_key(&start) {
            return Ok(());
        }
        // What no other unit has is this one's again.
        let f = &mut self.functions[cell.function];
        for b in f.inside.remove(&at).unwrap_or_default() {
            let Some(units) = f.middle.get_mut(&b) else {
                continue;
            };
            units.retain(|u| *u != at);
            if units.is_empty() && !f.starts.contains(&b) {
                f.compiled.remove(&b);
            }
        }
        self.compile_at(jit, at, start, &cell.live)
    }

    /// Compiles what starts at a block, for a cell.
    fn compile_at(
        &mut self,
        jit: &NativeJit<'p>,
        at: usize,
        start: BlockId,
        live: &[VarId],
    ) -> Result<(), Failure> {
        self.compile_as_far(jit, at, start, live, Extent::Rest(at))
    }

    /// The same, as far as that. What cannot be compiled at once is compiled in pieces as small as
    /// they can be, each when code gets there.
    fn compile_as_far(
        &mut self,
        jit: &NativeJit<'p>,
        at: usize,
        start: BlockId,
        live: &[VarId],
        extent: Extent<'_>,
    ) -> Result<(), Failure> {
        self.functions[self.cells[&at].function]
            .starts
            .insert(start);
        let most = jit.options.largest_unit;
        self.compile_extent(jit, at, start, live, (extent, most))
            .or_else(|_| self.compile_extent(jit, at, start, live, (Extent::Piece, usize::MAX)))
    }

    /// The cell by which code goes on at a block that it has come by often, if that cannot be compiled
    /// with optimisations yet: a unit with all of the loop.
    fn go_on_quickly(
        &mut self,
        jit: &NativeJit<'p>,
        function: usize,
        head: BlockId,
    ) -> Result<usize, Failure> {
        let live = self.inputs(function, head);
        let at = self.cell(function, Point::Block(head), live.clone(), None);
        if load(at) == self.waiting as u64 {
            let inside = self.hot_place(function, head).map(|place| place.1);
            let inside = inside.unwrap_or_default();
            self.log.reason(at, || "code got there".to_owned());
            self.compile_as_far(jit, at, head, &live, Extent::Copy(at, &inside))?;
        }
        Ok(at)
    }

    fn inputs(&self, function: usize, b: BlockId) -> Vec<VarId> {
        let graph = self.functions[function].residual.graph();
        graph.block(b).inputargs.clone()
    }

    fn compile_extent(
        &mut self,
        jit: &NativeJit<'p>,
        at: usize,
        start: BlockId,
        live: &[VarId],
        (extent, most): (Extent<'_>, usize),
    ) -> Result<(), Failure> {
        let mut started = self.log.stopwatch();
        let function = self.cells[&at].function;
        let mut graph = self.region(jit, function, start, live, extent);
        let made = self.log_listing(jit, function, &mut graph, &mut started);
        let before = self.code.used();
        let graph = gc_transform_quickly(graph, &jit.program);
        let code = self
            .emit(jit, &graph, false, most)
            .map_err(|e| e.to_string())?;
        self.counts.units += 1;
        jit.account.compiled(operations(&graph));
        self.log_unit(
            jit,
            made,
            &graph,
            (at, code, self.code.used() - before),
            started,
        );
        store(at, code as u64);
        Ok(())
    }

    /// The graph of a region, in SSA form.
    fn region(
        &mut self,
        jit: &NativeJit<'p>,
        function: usize,
        start: BlockId,
        live: &[VarId],
        extent: Extent<'_>,
    ) -> LLGraph {
        let residual = self.functions[function].residual.clone();
        let mut plan = Plan {
            inner: self,
            jit,
            function,
            extent,
            start,
            live,
            again: 0,
        };
        let graph = region(&residual, start, live, &mut plan);
        debug_assert!(self.exits_fit(&graph));
        graph
    }

    /// Whether a unit is left with what the cells want by which it is left.
    fn exits_fit(&self, g: &LLGraph) -> bool {
        let operations = g.reachable().into_iter();
        let operations = operations.flat_map(|b| &g.block(b).operations);
        let mut exits = operations.filter(|op| op.op == PlainOp::JitExit.into());
        exits.all(|op| {
            let View::JitExit {
                cell: LLOperand::Const(LLConst::Int(_, at)),
                values,
            } = op.view()
            else {
                return true;
            };
            let at = at.get() as usize;
            let leaving = self.leaving.values().find(|l| l.0 == at);
            let types = match (self.cells.get(&at), leaving) {
                (Some(cell), _) => &cell.types,
                (None, Some((_, types))) => types,
                (None, None) => return false,
            };
            let passed = values.iter().map(|a| match a {
                LLOperand::Var(v) => *g.ty(*v),
                LLOperand::Const(c) => c.ty(),
            });
            let fits = |a: LLType, b: LLType| a == b || (a.is_gc_ptr() && b.is_gc_ptr());
            passed.len() == types.len() && passed.zip(types).all(|(a, b)| fits(a, *b))
        })
    }

    /// The cell by which code leaves the values of a merge point of a driver to the interpreter.
    fn leaving_cell(&mut self, jit: &NativeJit<'p>, driver: usize) -> Result<usize, CodegenError> {
        if let Some((cell, _)) = self.leaving.get(&driver) {
            return Ok(*cell);
        }
        let portal = jit.entered[driver].portal.ty();
        let types: Vec<LLType> = (portal.args.iter().copied())
            .filter(|ty| !ty.is_void())
            .collect();
        let graph = left("left to the interpreter", portal.result, &types);
        let code = self.made_up(jit, graph)?;
        let cell = self.words.new_word(code as u64);
        self.leaving.insert(driver, (cell, types));
        Ok(cell)
    }

    /// A function that raises.
    pub(crate) fn failing_entry(
        &mut self,
        jit: &NativeJit<'p>,
        ty: &FuncType,
    ) -> Result<usize, CodegenError> {
        let cell = self.failing(jit, &ty.args, ty.result)?;
        self.entry(ty, cell)
    }

    /// A cell whose code raises, with the values of another one.
    pub(crate) fn failing_cell(
        &mut self,
        jit: &NativeJit<'p>,
        at: usize,
    ) -> Result<usize, CodegenError> {
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
        let code = self.made_up(jit, graph)?;
        let cell = self.words.new_word(code as u64);
        self.failures.insert(key, cell);
        Ok(cell)
    }
}
