//! What annotation says, per function, class and family: plain values that compare
//! by content, the fire walls in front of the RTyper.

use std::collections::BTreeMap;
use std::sync::Arc;

use taipan_base::Diagnostic;
use taipan_graph::{BlockId, Const, FunctionGraph, ObjId, VarId};

use crate::{HelperKey, SomeValue, Spec};

/// An annotated function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionAnnotation {
    /// The graph that everything here refers to: the function's flow graph after the
    /// rewrites that depend on annotations: special methods of instances and
    /// properties are spelled out as `getattr` and `simple_call`, and the arguments of
    /// a function that takes `*args` are flattened.
    /// Blocks that are never reached are still there, see `reached`.
    pub graph: Arc<FunctionGraph>,
    /// Annotation of every variable of the graph; `Impossible` where no value gets.
    pub vars: VarAnnotations,
    /// For every block, by its index: whether control gets there.
    pub reached: Vec<bool>,
    /// Its calls.
    pub calls: Calls,
    /// Links on which control leaves a reached block: block and index of the exit. An
    /// exit that is not here is dead (its exception cannot occur, or the switch is
    /// constant).
    pub followed: Vec<(BlockId, u32)>,
    /// What callers see.
    pub signature: Signature,
    /// The first error of this function: nothing can be generated from it then.
    pub broken: Option<Arc<Diagnostic>>,
}

impl FunctionAnnotation {
    /// Annotation of a variable.
    pub fn var(&self, v: VarId) -> &SomeValue {
        self.vars.get(v)
    }

    /// Whether an exit of a block is ever taken.
    pub fn is_followed(&self, block: BlockId, exit: usize) -> bool {
        self.followed.binary_search(&(block, exit as u32)).is_ok()
    }
}

/// Annotations of the variables of a graph. A function has many variables and few kinds of them,
/// which are held once.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct VarAnnotations {
    distinct: Vec<SomeValue>,
    /// By variable.
    index: Vec<u32>,
}

impl VarAnnotations {
    /// With the annotations, and for each variable the number of its own.
    pub(crate) fn new(
        distinct: impl IntoIterator<Item = SomeValue>,
        index: Vec<u32>,
    ) -> VarAnnotations {
        VarAnnotations {
            distinct: distinct.into_iter().collect(),
            index,
        }
    }

    /// Annotation of a variable.
    pub fn get(&self, v: VarId) -> &SomeValue {
        &self.distinct[self.index[v.index()] as usize]
    }

    /// The annotation of one more variable.
    pub(crate) fn push(&mut self, annotation: SomeValue) {
        self.index.push(self.distinct.len() as u32);
        self.distinct.push(annotation);
    }

    /// One more variable with the annotation of another one.
    pub(crate) fn push_copy(&mut self, of: VarId) {
        self.index.push(self.index[of.index()]);
    }
}

impl FromIterator<SomeValue> for VarAnnotations {
    /// One for each variable, in their order.
    fn from_iter<I: IntoIterator<Item = SomeValue>>(all: I) -> VarAnnotations {
        let mut vars = VarAnnotations::default();
        all.into_iter().for_each(|annotation| vars.push(annotation));
        vars
    }
}

/// How the calls of a function are resolved.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Calls(Vec<((BlockId, u32), CallInfo)>);

impl Calls {
    /// That of an operation, by block and index in it. None if it is no call, or in a block that
    /// is not reached.
    pub fn get(&self, block: BlockId, op: u32) -> Option<&CallInfo> {
        let found = self.0.binary_search_by_key(&(block, op), |c| c.0).ok()?;
        Some(&self.0[found].1)
    }

    /// All of them, with their operations, in that order.
    pub fn iter(&self) -> impl Iterator<Item = &((BlockId, u32), CallInfo)> {
        self.0.iter()
    }
}

impl FromIterator<((BlockId, u32), CallInfo)> for Calls {
    fn from_iter<I: IntoIterator<Item = ((BlockId, u32), CallInfo)>>(calls: I) -> Calls {
        let mut calls: Vec<_> = calls.into_iter().collect();
        calls.sort_unstable_by_key(|c| c.0);
        calls.shrink_to_fit();
        Calls(calls)
    }
}

/// Argument and result annotations as callers see them: those of the graph, made
/// equal among the functions of a call family (RPython: `normalizecalls`). Where they
/// differ from those of the start block's and return block's variables, the function
/// converts on entry and exit.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Signature {
    /// One per input argument of the graph.
    pub args: Vec<SomeValue>,
    /// What is returned; `Impossible` if it never returns.
    pub result: SomeValue,
}

/// How a call operation (`simple_call`, `call_args`) is resolved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CallInfo {
    /// One function known while compiling: a function, or a method of all objects
    /// that get here.
    Direct(DirectCall),
    /// One of several functions of a family, chosen at run time through the callee.
    Indirect(IndirectCall),
    /// Calls of one or more classes.
    Instantiate(Instantiate),
    /// A `specialize:memo` function: the result is looked up by the arguments.
    Memo(MemoCall),
    /// A function that an `ExtRegistryEntry` of the program describes.
    Entry(EntryCall),
    /// A builtin function or method, known by the annotation of the callee.
    Builtin,
    /// The callee is None or never there: the call is not reached.
    Never,
}

/// The target of a direct call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// A function of the program.
    Spec(Spec),
    /// In helper mode: another helper, specialised by its low-level arguments.
    Helper(HelperKey),
}

/// A call of one known function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DirectCall {
    /// What is called.
    pub target: Target,
    /// One per input argument of the target's graph.
    pub args: Vec<ArgSource>,
}

/// A call of one of several functions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IndirectCall {
    /// The smallest function of the family ([`crate::call_family`]).
    pub family: ObjId,
    /// Row in the family's table.
    pub row: u32,
    /// The functions that the callee's possible values stand for. Shared by all calls of the
    /// same set.
    pub targets: Arc<[Target]>,
    /// One per input argument.
    pub args: Vec<ArgSource>,
}

/// A call of classes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instantiate {
    /// The possible classes, sorted; `__init__` of each where there is one.
    pub classes: Vec<(ObjId, Option<Target>)>,
    /// Arguments of `__init__`, the first one [`ArgSource::Instance`]; empty without
    /// `__init__`.
    pub args: Vec<ArgSource>,
    /// With several classes: row in the call family of the `__init__`s.
    pub init_family: Option<(ObjId, u32)>,
}

/// A call of a `specialize:memo` function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoCall {
    /// The function.
    pub func: ObjId,
    /// All combinations of argument values that can occur, with the result.
    pub table: Vec<(Vec<Const>, Const)>,
    /// One per parameter.
    pub args: Vec<ArgSource>,
}

/// A call of a function that an `ExtRegistryEntry` describes. Annotations are described
/// as the shipped module `rpython.annotator.described` says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EntryCall {
    /// The entry's class.
    pub entry: ObjId,
    /// The function.
    pub about: ObjId,
    /// Descriptions of the arguments.
    pub args: Vec<Const>,
    /// Description of the result.
    pub result: Const,
    /// The low-level functions that `specialize_call` calls, in order; none if they
    /// depend on representations.
    pub calls: Vec<Target>,
}

/// Where an argument of the callee comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ArgSource {
    /// This operand of the call operation (0 is the callee).
    Operand(u32),
    /// The object that the callee (a bound method) is bound to.
    Receiver,
    /// The instance that is being made.
    Instance,
    /// A default value.
    Default(Const),
    /// A new tuple of these (`*args` of a callee that is not flattened).
    Tuple(Vec<ArgSource>),
    /// One item of a tuple operand (a `*args` of the caller).
    Item(u32, u32),
}

/// The functions that are called at the same places (RPython: `CallFamily`).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CallFamily {
    /// Members, sorted. For methods: the functions.
    pub functions: Vec<ObjId>,
    /// One row per distinct set of graphs that call sites pick from it.
    pub rows: Vec<FamilyRow>,
}

/// What one kind of call sites picks from a family: for each function the graph that
/// is called (RPython: a row of a call table).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FamilyRow {
    /// Function and the specialisation of it that these call sites reach. Functions
    /// of the family that they do not reach are absent.
    pub targets: Vec<(ObjId, Target)>,
    /// The common signature.
    pub signature: Signature,
}

/// A class in use (RPython: `ClassDef`).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClassDef {
    /// `module.Class`
    pub name: Arc<str>,
    /// The base class; none directly below `object`.
    pub base: Option<ObjId>,
    /// Direct subclasses in use, in a stable order.
    pub subclasses: Vec<ObjId>,
    /// `instantiate` is called on a PBC of several classes with this one.
    pub generic_instantiate: bool,
    /// The function `__del__` of this class itself.
    pub finalizer: Option<ObjId>,
}

/// The attributes of a class in use.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClassAttributes {
    /// Attributes of instances that are declared here: not by a base class,
    /// generalised from all subclasses.
    pub attrs: BTreeMap<Arc<str>, Attribute>,
    /// Attributes read through the class itself as a value (`cls.attr` on a PBC of
    /// several classes whose smallest common base this is), beyond `attrs`.
    /// `__init__` is here if it is called through such a PBC. Functions that are never
    /// called at the same place are apart, each group with a representation of its own.
    pub class_attrs: BTreeMap<Arc<str>, Vec<SomeValue>>,
}

/// An attribute of instances.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attribute {
    /// What it holds. For methods a PBC of [`Desc::Method`]s.
    pub value: SomeValue,
    /// Never assigned on an instance and in no prebuilt instance: lives in the vtable.
    pub readonly: bool,
}

/// Frozen prebuilt instances whose attributes are read at the same places (RPython:
/// `FrozenAttrFamily`).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AttrFamily {
    /// Members, sorted.
    pub members: Vec<ObjId>,
    /// Attributes that are read.
    pub attrs: BTreeMap<Arc<str>, FamilyAttr>,
}

/// An attribute of a family of frozen instances.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FamilyAttr {
    /// What is read.
    pub value: SomeValue,
    /// The members of which it is read, sorted: in others it may be anything.
    pub readers: Vec<ObjId>,
}
