//! Graphs, blocks, links and operations (RPython: `rpython/flowspace/model.py`).

use std::fmt::{Debug, Display};
use std::hash::Hash;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// What a graph's operations, constants and variable types are.
pub trait Dialect: Copy + Clone + Debug + PartialEq + Eq + Hash + Send + Sync + 'static {
    /// Operation names.
    type Op: Copy + Eq + Hash + Debug + Display + Send + Sync + Serialize + DeserializeOwned;
    /// Values of constants.
    type Const: Clone + Eq + Hash + Debug + Display + Send + Sync + Serialize + DeserializeOwned;
    /// What is known of every variable: nothing in [`crate::HighLevel`], the
    /// `concretetype` in the low-level dialect.
    type Ty: Clone + Eq + Hash + Debug + Send + Sync + Serialize + DeserializeOwned;

    /// Type of a constant.
    fn const_ty(c: &Self::Const) -> Self::Ty;

    /// Whether an operation may be dropped when its result is unused.
    fn is_removable(op: Self::Op) -> bool;

    /// The truth that a constant stands for, if it is a bool.
    fn as_bool(c: &Self::Const) -> Option<bool>;

    /// Called when operands of an operation have been replaced, for what can now be
    /// said in a simpler way.
    fn normalize(_op: &mut Operation<Self>) {}
}

macro_rules! id {
    ($(#[$m:meta])* $name:ident) => {
        $(#[$m])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub u32);
        impl $name {
            /// The id as an index into its arena.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
        impl Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}{}", stringify!($name), self.0)
            }
        }
    };
}
id!(
    /// A variable of one graph.
    VarId
);
id!(
    /// A block of one graph.
    BlockId
);

/// An operand: a variable or a constant (RPython: `Hlvalue`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Operand<D: Dialect> {
    /// A variable of the block.
    Var(VarId),
    /// A constant; in the low-level dialect it carries its own type.
    Const(D::Const),
}

impl<D: Dialect> Operand<D> {
    /// The variable, if it is one.
    pub fn as_var(&self) -> Option<VarId> {
        match self {
            Operand::Var(v) => Some(*v),
            Operand::Const(_) => None,
        }
    }

    /// The constant, if it is one.
    pub fn as_const(&self) -> Option<&D::Const> {
        match self {
            Operand::Var(_) => None,
            Operand::Const(c) => Some(c),
        }
    }
}

impl<D: Dialect> From<VarId> for Operand<D> {
    fn from(v: VarId) -> Self {
        Operand::Var(v)
    }
}

/// Argument list of an operation.
pub type Args<D> = SmallVec<[Operand<D>; 3]>;

/// `result = op(args)` (RPython: `SpaceOperation`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Operation<D: Dialect> {
    /// The operation.
    pub op: D::Op,
    /// Its operands.
    pub args: Args<D>,
    /// The variable it defines; every operation defines one (Void if without value).
    pub result: VarId,
    /// Index of the bytecode instruction it came from in the function's own
    /// `Code`: no source position, so edits elsewhere in the file leave it alone.
    pub at: u32,
}

/// What decides between a block's exits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum ExitSwitch<D: Dialect> {
    /// One exit at the most.
    None,
    /// The value of an operand: exits carry [`ExitCase::Bool`], [`ExitCase::Value`]
    /// and at the end perhaps [`ExitCase::Default`].
    Value(Operand<D>),
    /// The last operation may raise (`c_last_exception`): the first exit is the
    /// normal one ([`ExitCase::None`]), the others carry [`ExitCase::Exception`].
    LastException,
}

/// The case in which a link is taken.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum ExitCase<D: Dialect> {
    /// The only exit, or the one without exception.
    None,
    /// For a switch on a truth value.
    Bool(bool),
    /// For a switch on a number or character.
    Value(D::Const),
    /// Every other value.
    Default,
    /// An exception of this class or of a subclass (a class in the high-level
    /// dialect, a vtable pointer in the low-level one).
    Exception(D::Const),
}

/// An edge between blocks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Link<D: Dialect> {
    /// Where it leads.
    pub target: BlockId,
    /// One operand per input argument of the target. May mention
    /// `last_exception` and `last_exc_value` of the same link.
    pub args: Vec<Operand<D>>,
    /// When it is taken.
    pub case: ExitCase<D>,
    /// On exception links: the variable that receives the exception class.
    pub last_exception: Option<VarId>,
    /// On exception links: the variable that receives the exception instance.
    pub last_exc_value: Option<VarId>,
    /// Index of the last bytecode instruction on this way before it meets others, where
    /// the flow space knows it: for messages about values that do not go together there. On a
    /// link to the except block, the instruction that raises.
    pub at: Option<u32>,
}

impl<D: Dialect> Link<D> {
    /// An unconditional link.
    pub fn new(target: BlockId, args: Vec<Operand<D>>) -> Self {
        Link {
            target,
            args,
            case: ExitCase::None,
            last_exception: None,
            last_exc_value: None,
            at: None,
        }
    }

    /// The same link, from behind an instruction.
    pub fn with_at(mut self, at: u32) -> Self {
        self.at = Some(at);
        self
    }

    /// A link taken in one case of a switch.
    pub fn with_case(target: BlockId, args: Vec<Operand<D>>, case: ExitCase<D>) -> Self {
        Link {
            target,
            args,
            case,
            last_exception: None,
            last_exc_value: None,
            at: None,
        }
    }
}

/// A basic block. Every variable used in a block is one of its input arguments or
/// the result of an earlier operation of the same block (SSI form: nothing is
/// used across a link without being passed along it).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Block<D: Dialect> {
    /// Parameters, defined by the arguments of the incoming links.
    pub inputargs: Vec<VarId>,
    /// Operations in order.
    pub operations: Vec<Operation<D>>,
    /// Decides between the exits.
    pub exitswitch: ExitSwitch<D>,
    /// Outgoing links; none in the return block and the except block.
    pub exits: Vec<Link<D>>,
}

impl<D: Dialect> Default for Block<D> {
    fn default() -> Self {
        Block {
            inputargs: Vec::new(),
            operations: Vec::new(),
            exitswitch: ExitSwitch::None,
            exits: Vec::new(),
        }
    }
}

impl<D: Dialect> Block<D> {
    /// Whether its last operation may raise and has exception links.
    pub fn canraise(&self) -> bool {
        matches!(self.exitswitch, ExitSwitch::LastException)
    }
}

/// What is known of a variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct VarData<D: Dialect> {
    /// A name for people, from the source where there is one; may be empty and
    /// need not be unique.
    pub name: Box<str>,
    /// Its type in this dialect.
    pub ty: D::Ty,
}

/// The control-flow graph of one function (RPython: `FunctionGraph`).
///
/// The return block has one input argument and no exits; the except block has two
/// (exception class, exception instance) and no exits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Graph<D: Dialect> {
    /// A name for people, usually the function's.
    pub name: Box<str>,
    /// Arena of variables.
    pub vars: Vec<VarData<D>>,
    /// Arena of blocks.
    pub blocks: Vec<Block<D>>,
    /// Where execution starts; its input arguments are the function's.
    pub startblock: BlockId,
    /// A link to it returns.
    pub returnblock: BlockId,
    /// A link to it raises.
    pub exceptblock: BlockId,
}

impl<D: Dialect> Graph<D> {
    /// A graph with empty start, return and except blocks; the types are those of
    /// the returned value, the exception class and the exception instance.
    pub fn new(name: &str, ret: D::Ty, exc_type: D::Ty, exc_value: D::Ty) -> Self {
        let mut g = Graph {
            name: name.into(),
            vars: Vec::new(),
            blocks: vec![Block::default(), Block::default(), Block::default()],
            startblock: BlockId(0),
            returnblock: BlockId(1),
            exceptblock: BlockId(2),
        };
        let r = g.new_var("", ret);
        let (t, v) = (g.new_var("etype", exc_type), g.new_var("evalue", exc_value));
        g.blocks[1].inputargs = vec![r];
        g.blocks[2].inputargs = vec![t, v];
        g
    }

    /// Adds a variable.
    pub fn new_var(&mut self, name: &str, ty: D::Ty) -> VarId {
        self.vars.push(VarData {
            name: name.into(),
            ty,
        });
        VarId(self.vars.len() as u32 - 1)
    }

    /// Adds a variable like another one (same name and type).
    pub fn copy_var(&mut self, v: VarId) -> VarId {
        let d = self.vars[v.index()].clone();
        self.vars.push(d);
        VarId(self.vars.len() as u32 - 1)
    }

    /// Adds an empty block with these input arguments.
    pub fn new_block(&mut self, inputargs: Vec<VarId>) -> BlockId {
        self.blocks.push(Block {
            inputargs,
            ..Block::default()
        });
        BlockId(self.blocks.len() as u32 - 1)
    }

    /// The block.
    pub fn block(&self, b: BlockId) -> &Block<D> {
        &self.blocks[b.index()]
    }

    /// The block, to be changed by the pass that owns the graph.
    pub fn block_mut(&mut self, b: BlockId) -> &mut Block<D> {
        &mut self.blocks[b.index()]
    }

    /// Type of a variable.
    pub fn ty(&self, v: VarId) -> &D::Ty {
        &self.vars[v.index()].ty
    }

    /// The function's arguments.
    pub fn args(&self) -> &[VarId] {
        &self.block(self.startblock).inputargs
    }

    /// The variable that holds the returned value.
    pub fn returnvar(&self) -> VarId {
        self.block(self.returnblock).inputargs[0]
    }

    /// Blocks reachable from the start block, in reverse postorder where exits are
    /// visited in order: the canonical order for printing and numbering.
    pub fn reachable(&self) -> Vec<BlockId> {
        let mut seen = vec![false; self.blocks.len()];
        let mut post = Vec::new();
        let mut stack = vec![(self.startblock, 0usize)];
        seen[self.startblock.index()] = true;
        while let Some((b, i)) = stack.last_mut() {
            let exits = &self.blocks[b.index()].exits;
            // Last exit first, so that the reversed order has the first exit first.
            if *i < exits.len() {
                let t = exits[exits.len() - 1 - *i].target;
                *i += 1;
                if !std::mem::replace(&mut seen[t.index()], true) {
                    stack.push((t, 0));
                }
            } else {
                post.push(*b);
                stack.pop();
            }
        }
        post.reverse();
        post
    }

    /// Drops unreachable blocks (return and except block are kept) and unused
    /// variables and renumbers both in canonical order, so that equal graphs
    /// compare equal however they were made.
    pub fn compact(&mut self) {
        let mut order = self.reachable();
        order.retain(|b| *b != self.returnblock && *b != self.exceptblock);
        order.push(self.returnblock);
        order.push(self.exceptblock);
        let mut bmap = vec![u32::MAX; self.blocks.len()];
        for (i, b) in order.iter().enumerate() {
            bmap[b.index()] = i as u32;
        }
        let mut vmap = vec![u32::MAX; self.vars.len()];
        let mut vars = Vec::new();
        let mut blocks = Vec::with_capacity(order.len());
        let old_vars = &self.vars;
        let mut v = |x: &mut VarId| {
            let m = &mut vmap[x.index()];
            if *m == u32::MAX {
                *m = vars.len() as u32;
                vars.push(old_vars[x.index()].clone());
            }
            *x = VarId(*m);
        };
        for b in &order {
            let mut block = std::mem::take(&mut self.blocks[b.index()]);
            block.inputargs.iter_mut().for_each(&mut v);
            for op in &mut block.operations {
                for a in &mut op.args {
                    if let Operand::Var(x) = a {
                        v(x);
                    }
                }
                v(&mut op.result);
            }
            if let ExitSwitch::Value(Operand::Var(x)) = &mut block.exitswitch {
                v(x);
            }
            for link in &mut block.exits {
                if let Some(x) = &mut link.last_exception {
                    v(x);
                }
                if let Some(x) = &mut link.last_exc_value {
                    v(x);
                }
                for a in &mut link.args {
                    if let Operand::Var(x) = a {
                        v(x);
                    }
                }
                link.target = BlockId(bmap[link.target.index()]);
                link.args.shrink_to_fit();
            }
            block.operations.shrink_to_fit();
            block.exits.shrink_to_fit();
            blocks.push(block);
        }
        vars.shrink_to_fit();
        self.startblock = BlockId(bmap[self.startblock.index()]);
        self.returnblock = BlockId(bmap[self.returnblock.index()]);
        self.exceptblock = BlockId(bmap[self.exceptblock.index()]);
        self.vars = vars;
        self.blocks = blocks;
    }
}
