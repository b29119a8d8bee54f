//! What a synthetic program is made of.

use std::collections::BTreeMap;

use crate::edit::{Flaw, Undo};

pub(crate) type FunctionId = usize;
pub(crate) type ClassId = usize;
pub(crate) type ModuleId = usize;

/// A synthetic program. Its target is [`Project::TARGET`], whose `entry_point` reaches
/// everything and prints a checksum.
#[derive(Clone, Debug)]
pub struct Project {
    pub(crate) functions: Vec<Function>,
    pub(crate) classes: Vec<Class>,
    /// In the order of imports: a module imports only earlier ones on its top level.
    pub(crate) modules: Vec<Module>,
    /// The root class of each package's hierarchy.
    pub(crate) roots: Vec<ClassId>,
    /// What [`crate::EditKind::Ripple`] sets off.
    pub(crate) ripples: Vec<Ripple>,
    pub(crate) files: BTreeMap<String, String>,
    /// What earlier edits replaced, for reverts.
    pub(crate) history: Vec<Undo>,
}

/// What a function takes and answers, and what its body is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// `(ctx, n)` to an integer: arithmetic, loops, branches.
    Calc,
    /// `(ctx, n, text)` to a string.
    Text,
    /// `(ctx, text)` to an integer, character by character.
    Scan,
    /// `(ctx, list of integers)` to an integer.
    Sum,
    /// `(ctx, n)` to a list of integers.
    Build,
    /// `(ctx, n)` to a tuple of an integer and a string.
    Pair,
    /// `(ctx, node)` to an integer, with calls of the node's methods.
    Visit,
    /// `(ctx, n)` to a node of the package's hierarchy.
    Make,
    /// `(ctx, n)` to a node or None.
    Find,
    /// `(ctx, n)` to an integer; may raise, and catches what others raise.
    Guard,
    /// `(ctx, n)` to an integer, through a dict of the module.
    Lookup,
    /// `(ctx, x)` on floats.
    Real,
    /// `(x, n)`, specialised by the type of `x`.
    Special,
    /// Method `(self, ctx, n)` to an integer.
    Step,
    /// Method `(self, ctx, n)` to an integer, of the root of all classes.
    Weight,
    /// Method `(self, ctx)` to a string.
    Label,
    /// Method `(self, ctx, node)` to a node.
    Combine,
    /// `(ctx, n)`: returns what its one callee returns; the last one decides its sign.
    Rise,
    /// `(ctx, n)`: passes its argument on to its callees.
    Fall,
    /// Of a ripple: calls some rises that no other rise calls.
    Landing,
    /// Of a ripple: calls the first fall.
    Shore,
}

impl Role {
    pub(crate) fn is_method(self) -> bool {
        matches!(
            self,
            Role::Step | Role::Weight | Role::Label | Role::Combine
        )
    }

    /// Whether calls to others can stand in the body.
    pub(crate) fn calls_others(self) -> bool {
        !matches!(self, Role::Label | Role::Special | Role::Real) && !self.ripples()
    }

    /// Whether it is part of a ripple.
    pub(crate) fn ripples(self) -> bool {
        matches!(self, Role::Rise | Role::Fall | Role::Landing | Role::Shore)
    }
}

/// A function or method.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) module: ModuleId,
    pub(crate) name: String,
    pub(crate) role: Role,
    /// Called once each, by the text of the body.
    pub(crate) calls: Vec<FunctionId>,
    /// Decides the body.
    pub(crate) seed: u64,
    /// Decides a constant in the body, and how much of it there is.
    pub(crate) tweak: u32,
    /// Of a ripple: whether what it decides is an integer of any sign.
    pub(crate) general: bool,
    pub(crate) flaw: Option<Flaw>,
    pub(crate) deleted: bool,
}

/// A class below `common.base.Node`.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    pub(crate) module: ModuleId,
    pub(crate) name: String,
    /// None for the root of a package's hierarchy, which extends `Node`.
    pub(crate) base: Option<ClassId>,
    pub(crate) methods: Vec<FunctionId>,
    /// Numbers of attributes that it sets itself.
    pub(crate) attributes: Vec<u32>,
}

/// What a module holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModuleKind {
    /// Classes, and functions for them.
    Classes,
    /// Functions.
    Functions,
    /// Tables that are built at import time, and functions on them.
    Registry,
    /// Part of a ripple.
    Ripple,
}

/// One file.
#[derive(Clone, Debug)]
pub(crate) struct Module {
    pub(crate) package: usize,
    /// Dotted name.
    pub(crate) name: String,
    pub(crate) kind: ModuleKind,
    pub(crate) functions: Vec<FunctionId>,
    pub(crate) classes: Vec<ClassId>,
    /// Of a registry: functions of role `Calc` in its table.
    pub(crate) table: Vec<FunctionId>,
    /// Of a registry: classes of its prebuilt instances, and their sizes.
    pub(crate) nodes: Vec<(ClassId, u32)>,
    /// Of a registry: what nobody else calls.
    pub(crate) entries: Vec<FunctionId>,
    /// Comment lines at its beginning.
    pub(crate) comments: u32,
}

/// Functions that hang on one edit.
#[derive(Clone, Debug)]
pub(crate) struct Ripple {
    pub(crate) depth: usize,
    /// Decides what all rises return.
    pub(crate) source: FunctionId,
    /// Decides what all falls take.
    pub(crate) shore: FunctionId,
}

impl Project {
    /// The file with the entry point.
    pub const TARGET: &'static str = "target.py";

    /// All files: paths relative to the project's folder, and texts.
    pub fn files(&self) -> &BTreeMap<String, String> {
        &self.files
    }

    /// How many functions and methods there are.
    pub fn function_count(&self) -> usize {
        let defs = |text: &String| text.matches("def ").count();
        self.files.values().map(defs).sum()
    }

    /// For how many functions an edit of kind [`crate::EditKind::Ripple`] can be asked.
    pub fn ripple_depths(&self) -> Vec<usize> {
        self.ripples.iter().map(|r| r.depth).collect()
    }

    pub(crate) fn package_name(package: usize) -> String {
        format!("pkg{package:03}")
    }
}
