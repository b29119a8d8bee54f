//! What annotation queries are keyed by.

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use std::sync::Arc;

use taipan_base::{Db, Program};
use taipan_graph::ObjId;
use taipan_interp::{Function, Tests};
use taipan_lltype::HelperArg;

/// Where annotation of a program starts.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum RootSet {
    /// `entry_point(argv)`: one argument, a list of byte strings; returns an int.
    EntryPoint(ObjId),
    /// A function called with arguments of given types (`taipan call`).
    Call {
        /// The function.
        func: ObjId,
        /// One per argument, in the text form of annotations.
        args: Arc<[InputType]>,
    },
    /// The tests of a test module, but for some.
    Tests {
        /// Runners that are left out, in ascending order.
        except: Arc<[ObjId]>,
    },
    /// Functions that are called without arguments.
    Functions(Arc<[ObjId]>),
}

/// The annotation of an argument that comes from outside the program: without
/// image objects and creation sites, so that it is a plain value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum InputType {
    /// `SomeInteger`, with its flags.
    Integer {
        /// Never negative.
        nonneg: bool,
        /// `int`, `r_uint`, ...
        kind: taipan_graph::IntKind,
    },
    /// `SomeBool`
    Bool,
    /// `SomeFloat`
    Float,
    /// `SomeSingleFloat`
    SingleFloat,
    /// `SomeChar`
    Char,
    /// `SomeUnicodeCodePoint`
    UniChar,
    /// `SomeString`
    Str {
        /// May be None.
        can_be_none: bool,
        /// Contains no `'\0'`.
        no_nul: bool,
    },
    /// `SomeByteArray`
    ByteArray,
    /// `SomeUnicodeString`
    Unicode {
        /// May be None.
        can_be_none: bool,
    },
    /// `SomeList[ITEM]`
    List {
        /// What is in it.
        item: Box<InputType>,
        /// Changes its length.
        resized: bool,
        /// Items are replaced.
        mutated: bool,
    },
    /// `SomeDict[KEY, VALUE]`
    Dict {
        /// Keys.
        key: Box<InputType>,
        /// Values.
        value: Box<InputType>,
    },
    /// `SomeTuple[...]`
    Tuple(Vec<InputType>),
    /// `SomeInstance(Class)`; the class by `module.Class` or `Class` of the target module.
    Instance {
        /// Name of the class.
        class: Box<str>,
        /// May be None.
        can_be_none: bool,
    },
    /// A value that is known: a number, a string, a bool or None.
    Const(taipan_graph::Const),
    /// `SomeNone`
    None,
    /// `SomeImpossibleValue`: items of an empty list.
    Impossible,
}

/// A program together with its roots: one whole-program annotation. Every other key
/// of this crate starts with one.
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug, constructor = make)]
pub struct Roots {
    /// The program.
    #[returns(copy)]
    pub program: Program,
    /// Where it starts.
    #[returns(ref)]
    pub set: RootSet,
    /// For code that compiles loops while it runs.
    #[returns(copy)]
    pub jit: bool,
    /// To look for more mistakes in a program that has some: an operation that is wrong has
    /// a value of which nothing is known, and what works on such a value is not wrong.
    #[returns(copy)]
    pub(crate) recovering: bool,
}

impl Roots {
    /// A program with what it starts with.
    pub fn new(db: &dyn Db, program: Program, set: RootSet, jit: bool) -> Roots {
        Roots::make(db, program, set, jit, false)
    }

    /// The same, to look for more mistakes: what [`crate::annotation_diagnostics`] asks once
    /// there is one.
    pub fn recover(self, db: &dyn Db) -> Roots {
        let (program, jit) = (self.program(db), self.jit(db));
        Roots::make(db, program, self.set(db).clone(), jit, true)
    }
}

/// A function with its specialisation key: what one annotated graph belongs to
/// (RPython: an entry of `FunctionDesc._cache`).
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
pub struct Spec {
    /// The annotation that it is part of.
    #[returns(copy)]
    pub roots: Roots,
    /// The function object.
    #[returns(copy)]
    pub func: ObjId,
    /// The specialisation, as text: empty for the plain one. Stable: made of names,
    /// types and constants, never of numbers given in the order of discovery.
    #[returns(ref)]
    pub key: Arc<str>,
}

impl Roots {
    /// The functions that are called from outside.
    pub fn functions(self, db: &dyn Db) -> Vec<ObjId> {
        match self.set(db) {
            RootSet::EntryPoint(func) | RootSet::Call { func, .. } => vec![*func],
            RootSet::Functions(functions) => functions.to_vec(),
            RootSet::Tests { except } => match &**taipan_interp::tests(db, self.program(db)) {
                Tests::Found(items) => {
                    let mut out = Vec::new();
                    for f in items.iter().filter_map(|i| i.runner) {
                        if !except.contains(&f) && !out.contains(&f) {
                            out.push(f);
                        }
                    }
                    out
                }
                Tests::Skipped(_) | Tests::Misused(_) | Tests::Failed(_) => Vec::new(),
            },
        }
    }
}

impl Spec {
    /// The key of the function's own queries.
    pub fn function(self, db: &dyn Db) -> Function {
        Function::new(db, self.roots(db).program(db), self.func(db))
    }
}

/// A class as one annotation sees it.
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
pub struct Class {
    /// The annotation.
    #[returns(copy)]
    pub roots: Roots,
    /// The class object.
    #[returns(copy)]
    pub obj: ObjId,
}

/// A list, dict or other site as one annotation sees it.
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
pub struct Site {
    /// The annotation.
    #[returns(copy)]
    pub roots: Roots,
    /// The site; canonical or not.
    #[returns(copy)]
    pub id: crate::SiteId,
}

/// A set of descriptions that are used together (RPython: the representative of an
/// `UnionFind` of `Desc`s): named by its smallest member.
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
pub struct Family {
    /// The annotation.
    #[returns(copy)]
    pub roots: Roots,
    /// The smallest member: a function for call families, a class or frozen
    /// instance for attribute families.
    #[returns(copy)]
    pub member: ObjId,
}

/// A helper of the prelude, specialised by low-level types: annotated by itself, in
/// the prelude's own image.
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
pub struct HelperKey {
    /// The prelude's program.
    #[returns(copy)]
    pub prelude: Program,
    /// `module.function` below `taipan_prelude`.
    #[returns(ref)]
    pub name: Arc<str>,
    /// One per argument.
    #[returns(ref)]
    pub args: Arc<[HelperArg]>,
}
