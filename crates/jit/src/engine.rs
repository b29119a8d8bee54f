//! What an engine needs that runs residual code in a way of its own.

use std::rc::Rc;

use taipan_graph::BlockId;
use taipan_lltype::{FuncSym, LLConst, LLGraph, LLType, VoidConst};

use crate::code::{Arg, TsKind};
use crate::drivers::DriverInfo;
use crate::generate::Generator;
use crate::program::JitProgram;
use crate::residual::{ResidualCounts, Stub};
use crate::specialize::{Setup, Specializer, Splits};
use crate::state::Word;
use crate::touches::Touches;
use crate::world::World;

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
    ) -> Result<ResidualFunction<'p>, String> {
        let name = format!("{} (residual {number})", generator.portal().name());
        let setup = Setup {
            name: &name,
            number,
            splits,
            of_driver: false,
        };
        Specializer::compile(
            generator.program(),
            generator.graphs(),
            &setup,
            known,
            generator.touches(),
            world,
        )
        .map(ResidualFunction)
    }

    /// Goes on at a stub, with the value that arrived there if it waits for one. Nothing
    /// happens if that was done before.
    pub fn resume(
        &mut self,
        stub: usize,
        value: Word,
        world: &mut dyn World,
    ) -> Result<(), String> {
        self.0.continue_compilation(world, stub, value)
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

    /// The stub that a block is, if it is one.
    pub fn stub(&self, b: BlockId) -> Option<Stub> {
        self.0.residual.stub(b)
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

/// The compiler for the drivers of a program.
pub struct DriverCompiler<'p> {
    program: &'p dyn JitProgram,
    touches: Rc<Touches<'p>>,
}

impl<'p> DriverCompiler<'p> {
    /// The compiler for a program, whose functions it reads when it gets to them.
    pub fn new(program: &'p dyn JitProgram) -> Self {
        DriverCompiler {
            program,
            touches: Rc::new(Touches::new(program)),
        }
    }

    /// Compiles the portal of a driver for the words of its greens. Functions are told apart
    /// by number.
    pub fn compile(
        &self,
        driver: &DriverInfo,
        number: usize,
        greens: &[Word],
        splits: Splits,
        world: &mut dyn World,
    ) -> Result<ResidualFunction<'p>, String> {
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
        };
        let touches = Some(self.touches.clone());
        Specializer::compile(self.program, vec![portal], &setup, &known, touches, world)
            .map(ResidualFunction)
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
}

impl References {
    /// Those of a generator's graphs.
    pub fn of(generator: &Generator<'_>) -> References {
        let mut out = References::default();
        for graph in generator.graphs() {
            for block in &graph.blocks {
                for op in &block.ops {
                    if let TsKind::Malloc(ty) = op.kind {
                        out.types.push(ty);
                    }
                    op.args.iter().for_each(|a| out.arg(a));
                }
                for link in block.exit.links() {
                    link.args.iter().for_each(|a| out.arg(a));
                }
            }
        }
        out
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
