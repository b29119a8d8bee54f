//! Warnings about valid operations whose meaning in RPython differs from Python ([`Difference`]).

use taipan_annotator::Spec;
use taipan_base::{Db, ErrorCode};
use taipan_graph::{Const, HighLevel, HlOp, Operand, Operation};
use taipan_interp::{Name, module_global, named_id};

use crate::equality::{IgnoredMethod, ignored_method};
use crate::specialize::makes_assertion_error;
use crate::{RTyper, Universe};

/// An operation of a function that silently differs from Python.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Difference {
    /// The instruction.
    pub at: u32,
    kind: Kind,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Kind {
    /// Python calls a method for the operation, and RPython does not.
    Method(IgnoredMethod),
    /// The list `sys.argv` is a constant, made while the program is imported.
    CommandLine,
}

impl Difference {
    /// The code of the warning.
    pub fn code(&self) -> ErrorCode {
        match &self.kind {
            Kind::Method(ignored) => ignored.code,
            Kind::CommandLine => ErrorCode::CompilersCommandLine,
        }
    }

    /// The message, and the remedy.
    pub fn words(&self) -> (String, &'static str) {
        match &self.kind {
            Kind::Method(ignored) => ignored.words(),
            Kind::CommandLine => (
                "`sys.argv` is a constant: the command line of the compiler, not of the program"
                    .to_owned(),
                "use the argument of the entry point, `entry_point(argv)`, and pass it on to functions that need it",
            ),
        }
    }
}

/// The differences in a function, in the order of its graph. None where its annotation is not complete.
pub fn differences(db: &dyn Db, spec: Spec) -> Vec<Difference> {
    let annotation = taipan_annotator::annotation(db, spec);
    let mut out = Vec::new();
    if annotation.broken.is_some() {
        return out;
    }
    let roots = spec.roots(db);
    let rt = RTyper::new(db, Universe::User(roots));
    let sys = named_id("sys");
    let command_line = module_global(db, Name::new(db, roots.program(db), sys, "argv"));
    let is_command_line = |a: &Operand<HighLevel>| match a {
        Operand::Const(c @ Const::Obj(_)) => command_line.as_ref() == Some(c),
        _ => false,
    };
    let reads_command_line = |op: &Operation<HighLevel>| {
        let attribute = [Const::Obj(sys), Const::str("argv")].map(Operand::Const);
        op.op == HlOp::GetAttr && op.args[..] == attribute
    };
    let graph = &annotation.graph;
    for b in graph.reachable() {
        if !annotation.reached[b.index()] {
            continue;
        }
        let failure = makes_assertion_error(graph, b);
        let block = graph.block(b);
        for (i, op) in block.operations.iter().enumerate() {
            let in_failure = failure.is_some_and(|f| i < f);
            let ignored = ignored_method(&rt, &annotation, op, in_failure).map(Kind::Method);
            let used = reads_command_line(op) || op.args.iter().any(is_command_line);
            let kinds = ignored.into_iter().chain(used.then_some(Kind::CommandLine));
            out.extend(kinds.map(|kind| Difference { at: op.at, kind }));
        }
        let returned = (block.exits.iter()).filter(|link| {
            link.target == graph.returnblock && link.args.iter().any(is_command_line)
        });
        out.extend(returned.filter_map(|link| {
            Some(Difference {
                at: link.at?,
                kind: Kind::CommandLine,
            })
        }));
    }
    out
}
