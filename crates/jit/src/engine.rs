//! What an engine needs that runs residual code in a way of its own.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_graph::{BlockId, Operation, VarId};
use taipan_lltype::{
    Addr, CodePlace, FuncSym, FuncType, HeapError, LLConst, LLGraph, LLType, LowLevel, Memory,
    VoidConst,
};

use crate::arguments::{Built, VirtualArguments, built_arguments};
use crate::code::{Arg, TsGraph, TsKind};
use crate::drivers::DriverInfo;
use crate::generate::Generator;
use crate::layout::Layouts;
use crate::notes::{Note, Waits, note_number};
use crate::program::JitProgram;
pub use crate::residual::PortalCall;
use crate::residual::{ResidualCounts, Stub};
use crate::specialize::{Failure, MOST_BLOCKS, Setup, Shared, Specializer, Splits};
use crate::state::Word;
use crate::touches::Touches;
use crate::world::World;

/// A driver, or a portal that is entered as one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entered {
    /// For people.
    pub name: String,
    /// Types of the greens.
    pub greens: Vec<LLType>,
    /// The type of residual code: it takes the reds.
    pub entry: FuncType,
    /// What is compiled.
    pub portal: FuncSym,
    /// What goes on with the values that code has left to the interpreter; none where it leaves
    /// none. See [`DriverInfo::rest`].
    pub rest: Option<FuncSym>,
    /// A function of the program that says in words what greens mean.
    pub printable_location: Option<FuncSym>,
    /// There is code for greens that never come by: what the program says of those is not
    /// asked.
    pub compiles_ahead: bool,
}

/// Reds of a portal: their virtual arguments, if any, and the known words of the passed values.
pub type Reds<'a> = (Option<&'a VirtualArguments>, &'a [Option<Word>]);

/// What is compiled when code comes by with certain greens often enough.
pub trait Portals<'p> {
    /// The drivers, by number.
    fn drivers(&self) -> Vec<Entered>;

    /// Compiles the portal of a driver for the words of the greens. `number` identifies the function. `reds` has the
    /// virtual arguments, if any, and the current words of the passed values where they are known.
    fn compile(
        &self,
        driver: usize,
        number: usize,
        greens: &[Word],
        reds: Reds<'_>,
        world: &mut dyn World,
    ) -> Result<ResidualFunction<'p>, Failure>;
}

/// The portal of a generator.
pub struct OnePortal<'p> {
    /// It has the compiler.
    pub generator: &'p Generator<'p>,
    /// Positions of arguments that are known while compiling, as green ones are.
    pub is_static: Vec<usize>,
    /// What becomes of the sides of branches.
    pub splits: Splits,
}

impl OnePortal<'_> {
    /// Which arguments are known while compiling.
    pub fn green(&self) -> Vec<bool> {
        let green = self.generator.green_arguments().into_iter().enumerate();
        green
            .map(|(i, g)| g || self.is_static.contains(&i))
            .collect()
    }
}

impl<'p> Portals<'p> for OnePortal<'p> {
    fn drivers(&self) -> Vec<Entered> {
        let portal = self.generator.portal();
        let green = self.green();
        let of_color = |color: bool| {
            let args = portal.ty().args.iter().zip(&green);
            let args = args.filter(|(t, g)| **g == color && !t.is_void());
            args.map(|(t, _)| *t).collect()
        };
        vec![Entered {
            name: portal.name().to_owned(),
            greens: of_color(true),
            entry: FuncType {
                args: of_color(false),
                result: portal.ty().result,
            },
            portal: portal.clone(),
            rest: None,
            printable_location: None,
            compiles_ahead: false,
        }]
    }

    fn compile(
        &self,
        _: usize,
        number: usize,
        greens: &[Word],
        _: Reds<'_>,
        world: &mut dyn World,
    ) -> Result<ResidualFunction<'p>, Failure> {
        let mut greens = greens.iter();
        let args = self.generator.portal().ty().args.iter().zip(self.green());
        let known: Vec<Option<Word>> = args
            .map(|(t, green)| match (t.is_void(), green) {
                (true, _) => Some(0),
                (false, true) => greens.next().copied(),
                (false, false) => None,
            })
            .collect();
        ResidualFunction::compile(self.generator, number, &known, self.splits, world)
    }
}

/// The drivers of a program.
pub struct Drivers<'p> {
    /// What compiles their portals.
    pub compiler: DriverCompiler<'p>,
    /// By number.
    pub infos: Vec<DriverInfo>,
    /// What becomes of the sides of branches.
    pub splits: Splits,
}

impl<'p> Portals<'p> for Drivers<'p> {
    fn drivers(&self) -> Vec<Entered> {
        let drivers = self.infos.iter().map(|d| Entered {
            name: d.name.clone(),
            greens: d.greens.clone(),
            entry: d.entry_type(),
            portal: d.portal.clone(),
            rest: d.can_leave().then(|| d.rest.clone()),
            printable_location: d.hooks.printable_location.clone(),
            compiles_ahead: self.splits == Splits::Eager,
        });
        drivers.collect()
    }

    fn compile(
        &self,
        driver: usize,
        number: usize,
        greens: &[Word],
        reds: Reds<'_>,
        world: &mut dyn World,
    ) -> Result<ResidualFunction<'p>, Failure> {
        let info = (self.infos.get(driver)).ok_or("a driver that does not exist")?;
        (self.compiler).compile(info, number, greens, (self.splits, reds), world)
    }
}

/// A residual function that grows.
pub struct ResidualFunction<'p>(Specializer<'p>);

impl<'p> ResidualFunction<'p> {
    /// Compiles the portal for the words of the arguments that are known; the others
    /// become the arguments of the residual function. Functions are told apart by number.
    pub fn compile(
        generator: &Generator<'p>,
        number: usize,
        known: &[Option<Word>],
        splits: Splits,
        world: &mut dyn World,
    ) -> Result<ResidualFunction<'p>, Failure> {
        let name = format!("{} (residual {number})", generator.portal().name());
        let setup = Setup {
            name: &name,
            number,
            splits,
            of_driver: false,
            shared: Rc::default(),
            most_blocks: MOST_BLOCKS,
            virtual_arguments: None,
            layouts: Rc::default(),
        };
        Specializer::compile(
            generator.program(),
            generator.graphs(),
            &setup,
            known,
            generator.touches(),
            &[],
            world,
        )
        .map(ResidualFunction)
    }

    /// Goes on at a stub, with the value that arrived there if it waits for one, and as far
    /// as they are known those that arrived with it: of the arguments of [`Stub::target`].
    /// Nothing happens if that was done before.
    pub fn resume(
        &mut self,
        stub: usize,
        value: Option<Word>,
        arrived: &[Option<Word>],
        world: &mut dyn World,
    ) -> Result<(), Failure> {
        self.0
            .continue_compilation(world, stub, value.unwrap_or_default(), arrived)
    }

    /// From now on nothing is added that is not needed to get to the next merge point of the
    /// driver, where another function or the interpreter goes on.
    pub fn finish_soon(&mut self) {
        self.0.most_blocks = 0;
    }

    /// The code as far as it goes, in SSA form.
    pub fn graph(&self) -> &LLGraph {
        self.0.residual.graph()
    }

    /// Whether a block can be entered from other code: its input arguments are all that is
    /// used from there on.
    pub fn is_entry(&self, b: BlockId) -> bool {
        self.0.residual.is_entry(b)
    }

    /// The words of the greens for which a block calls the portal, if that is the last thing
    /// that it does: what is left is interpreted, or is the business of another residual
    /// function.
    pub fn leaves(&self, b: BlockId) -> Option<&[Word]> {
        self.0.residual.leaves(b)
    }

    /// Whether the interpreter is to go on after such a block, whatever code there is for the
    /// greens.
    pub fn is_left(&self, b: BlockId) -> bool {
        self.0.residual.is_left(b)
    }

    /// The portal called by the operation with that result, if compiled code may be entered instead. Compiled code
    /// takes the reds, which are the last operands.
    pub fn portal_call(&self, result: VarId) -> Option<&PortalCall> {
        self.0.residual.portal_call(result)
    }

    /// Whether the operation with that result is an `@elidable` call with known arguments that returned null so far.
    pub fn found_nothing(&self, result: VarId) -> bool {
        self.0.residual.found_nothing(result)
    }

    /// Recognises virtual arguments of a portal call, given by block and index. The last `reds` operands of the call
    /// are the reds; `uses` are the use counts of [`ResidualFunction::graph`].
    pub fn built_arguments(
        &self,
        call: (BlockId, usize),
        reds: usize,
        uses: &FxHashMap<VarId, usize>,
    ) -> Option<Built> {
        built_arguments(self.0.program, self.graph(), uses, call, reds)
    }

    /// How large the code is.
    pub fn block_count(&self) -> usize {
        self.0.residual.block_count()
    }

    /// The stub that a block is, if it is one.
    pub fn stub(&self, b: BlockId) -> Option<Stub> {
        self.0.residual.stub(b)
    }

    /// Whether a block is the stub of a promotion, which asks again.
    pub fn promotes(&self, b: BlockId) -> bool {
        self.0.residual.promotes(b)
    }

    /// What is noted by an operation of the code.
    pub fn note(&self, op: &Operation<LowLevel>) -> Option<&Note> {
        self.0.residual.notes.get(note_number(op)?)
    }

    /// Source instruction of an operation.
    pub fn origin(&self, op: &Operation<LowLevel>) -> Option<CodePlace> {
        self.0.origin(op.at)
    }

    /// Note and instruction of a promotion, by its stub.
    pub fn promotion(&self, stub: usize) -> Option<(Waits, Option<CodePlace>)> {
        let waits = *self.0.residual.notes.promotion(stub)?;
        Some((waits, self.0.instruction_at(waits.at)))
    }

    /// The code for people.
    pub fn finished(&self) -> LLGraph {
        self.0.residual.finished()
    }

    /// What it consists of.
    pub fn counts(&self, program: &dyn JitProgram) -> ResidualCounts {
        self.0.residual.counts(program)
    }
}

/// The function that a timeshifted graph is of.
pub fn function_of(graph: &TsGraph) -> &FuncSym {
    &graph.func
}

/// The compiler for the drivers of a program.
pub struct DriverCompiler<'p> {
    program: &'p dyn JitProgram,
    touches: Rc<Touches<'p>>,
    layouts: Rc<Layouts>,
    most_blocks: usize,
    /// By driver.
    shared: RefCell<BTreeMap<u32, Rc<Shared>>>,
}

impl<'p> DriverCompiler<'p> {
    /// The compiler for a program, whose functions it reads when it gets to them.
    pub fn new(program: &'p dyn JitProgram) -> Self {
        DriverCompiler {
            program,
            touches: Rc::new(Touches::new(program)),
            layouts: Rc::default(),
            most_blocks: MOST_BLOCKS,
            shared: RefCell::default(),
        }
    }

    /// The same with another bound for the blocks of a residual function: what comes after
    /// so many is left to other functions, or to the interpreter.
    pub fn with_bound(self, most_blocks: usize) -> Self {
        DriverCompiler {
            most_blocks,
            ..self
        }
    }

    /// Compiles the portal of a driver for the words of its greens. Functions are told apart
    /// by number.
    pub fn compile(
        &self,
        driver: &DriverInfo,
        number: usize,
        greens: &[Word],
        (splits, (virtual_arguments, arrived)): (Splits, Reds<'_>),
        world: &mut dyn World,
    ) -> Result<ResidualFunction<'p>, Failure> {
        let name = residual_name(driver, number);
        let portal = self.program.timeshifted(&driver.portal);
        let portal = portal.ok_or("the portal has no graph")?;
        let reds = driver.reds.iter().map(|_| None);
        let known: Vec<_> = greens.iter().map(|w| Some(*w)).chain(reds).collect();
        let setup = Setup {
            name: &name,
            number,
            splits,
            of_driver: true,
            shared: (self.shared.borrow_mut().entry(driver.number).or_default()).clone(),
            most_blocks: self.most_blocks,
            virtual_arguments,
            layouts: self.layouts.clone(),
        };
        let touches = Some(self.touches.clone());
        let graphs = vec![portal];
        let made = Specializer::compile(
            self.program,
            graphs,
            &setup,
            &known,
            touches,
            arrived,
            world,
        )?;
        let started = &setup.shared.started;
        started.borrow_mut().insert(greens.to_vec());
        Ok(ResidualFunction(made))
    }
}

/// More strings than this are not promoted by their characters.
pub const MOST_STRINGS: usize = 10_000;

/// The characters of a string or unicode string, for telling them apart.
pub fn characters(memory: &mut dyn Memory, at: Addr, wide: bool) -> Result<Vec<u32>, HeapError> {
    match wide {
        true => memory.unicode_chars(at),
        false => Ok(memory.str_bytes(at)?.into_iter().map(u32::from).collect()),
    }
}

/// The name of the residual function of a driver with that number.
pub fn residual_name(driver: &DriverInfo, number: usize) -> String {
    format!("{} (residual {number})", driver.portal.name())
}

/// What timeshifted graphs refer to, each thing perhaps several times.
#[derive(Clone, Debug, Default)]
pub struct References {
    /// Constants, functions and prebuilt data among them.
    pub consts: Vec<LLConst>,
    /// Types of which objects are made.
    pub types: Vec<LLType>,
    /// Types of all values.
    pub values: Vec<LLType>,
}

impl References {
    /// Those of a generator's graphs.
    pub fn of(generator: &Generator<'_>) -> References {
        let mut out = References::default();
        for graph in generator.graphs() {
            out.graph(&graph);
        }
        out
    }

    /// Those of what drivers may follow, which comes as well.
    pub fn of_drivers(
        program: &dyn JitProgram,
        drivers: &[DriverInfo],
    ) -> (References, Vec<Arc<TsGraph>>) {
        let mut out = References::default();
        let mut graphs = Vec::new();
        let mut seen: FxHashSet<FuncSym> = FxHashSet::default();
        let hooks = drivers.iter().flat_map(|d| d.hooks.functions());
        let runners = drivers.iter().flat_map(|d| [&d.runner, &d.rest]);
        let called = hooks.chain(runners);
        out.consts.extend(called.cloned().map(LLConst::Func));
        let mut waiting: Vec<FuncSym> = drivers.iter().map(|d| d.portal.clone()).collect();
        while let Some(f) = waiting.pop() {
            if !seen.insert(f.clone()) {
                continue;
            }
            out.consts.push(LLConst::Func(f.clone()));
            let Some(graph) = program.timeshifted(&f) else {
                continue;
            };
            for op in graph.blocks.iter().flat_map(|b| &b.ops) {
                if let TsKind::Inline(targets) = &op.kind {
                    waiting.extend(targets.iter().cloned());
                }
            }
            out.graph(&graph);
            graphs.push(graph);
        }
        (out, graphs)
    }

    fn graph(&mut self, graph: &TsGraph) {
        self.values.extend(graph.slots.iter().map(|s| s.ty));
        for block in &graph.blocks {
            for op in &block.ops {
                if let TsKind::Malloc(ty) = op.kind {
                    self.types.push(ty);
                }
                op.args.iter().for_each(|a| self.arg(a));
            }
            for link in block.exit.links() {
                link.args.iter().for_each(|a| self.arg(a));
            }
        }
    }

    fn arg(&mut self, a: &Arg) {
        match a {
            Arg::Const(LLConst::Void(VoidConst::Type(ty))) => self.types.push(*ty),
            Arg::Const(LLConst::Void(VoidConst::Targets(targets))) => {
                let functions = targets.iter().cloned().map(LLConst::Func);
                self.consts.extend(functions);
            }
            Arg::Const(c) => self.consts.push(c.clone()),
            Arg::Slot(_) => {}
        }
    }

    /// The functions among the constants.
    pub fn functions(&self) -> impl Iterator<Item = &FuncSym> {
        self.consts.iter().filter_map(|c| match c {
            LLConst::Func(f) | LLConst::Void(VoidConst::Func(f)) => Some(f),
            _ => None,
        })
    }
}
