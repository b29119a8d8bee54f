//! Source text to a typed, error-tolerant syntax tree.
//!
//! ```text
//! text --mask--> tokens as the grammar reads them --tree-sitter--> tree --lower--> Ast
//! ```
//!
//! Both spellings of what Python 2.7 and Python 3 write differently are accepted and
//! give the same tree.
//!
//! **Architecture invariants.** No salsa, no input or output. The tree holds no
//! positions ([`Spans`] does). Whatever the text is, there is a tree: what could not
//! be parsed is an error node in it, with a [`SyntaxError`] that says why.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod ast;
mod kind;
mod literal;
mod lower;
mod mask;
mod problem;
mod python3;
mod repair;
mod split;
pub mod walk;

pub use ast::*;
use mask::Wrong;
pub use problem::{Habit, SyntaxProblem};
pub use split::{Cut, FunctionPiece, Split, split};
use std::cmp::Ordering;

use taipan_base::TextRange;

/// A problem in the text.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SyntaxError {
    /// Where.
    pub range: TextRange,
    /// The fault.
    pub problem: SyntaxProblem,
}

impl SyntaxError {
    /// The order of places; of several at one place, of their messages.
    pub fn order(&self, other: &SyntaxError) -> Ordering {
        let places = self.range.cmp(&other.range);
        places.then_with(|| self.problem.message().cmp(other.problem.message()))
    }
}

/// A parsed text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ParsedFile {
    /// What it says.
    pub ast: Ast,
    /// Where it says it.
    pub spans: Spans,
    /// What is wrong with it, in the order of places.
    pub errors: Vec<SyntaxError>,
}

/// No more errors than this are reported of one text.
const MAX_ERRORS: usize = 200;

/// No more rounds of repairs are tried.
const MAX_REPAIRS: usize = 8;

/// Parses a module's text.
pub fn parse(source: &str) -> ParsedFile {
    let mut file = ParsedFile::default();
    let mut parser = tree_sitter::Parser::new();
    let mut errors = match parser.set_language(&kind::language()) {
        Ok(()) => parse_into(&mut file, &mut parser, source),
        Err(_) => Vec::new(),
    };
    errors.sort_by(SyntaxError::order);
    errors.dedup();
    if errors.len() > MAX_ERRORS {
        let range = errors[MAX_ERRORS].range;
        errors.truncate(MAX_ERRORS);
        errors.push(SyntaxError {
            range,
            problem: "too many errors, the others are not shown".into(),
        });
    }
    for e in &mut errors {
        if let Some(habit) = python3::habit(source, e.range, &e.problem) {
            e.problem = habit.into();
        }
    }
    file.errors = errors;
    file
}

fn parse_into(
    file: &mut ParsedFile,
    parser: &mut tree_sitter::Parser,
    source: &str,
) -> Vec<SyntaxError> {
    let mut wrong = Wrong::default();
    let mut masked = mask::lex(source, &wrong);
    let mut repairs = Vec::new();
    let unfinished = repair::unfinished_lines(parser, &masked);
    if !unfinished.is_empty() {
        leave_out(unfinished, &masked, &mut wrong, &mut repairs);
        masked = mask::lex(source, &wrong);
    }
    for round in 0..=MAX_REPAIRS {
        let Some(tree) = parser.parse(&masked.text, None) else {
            break;
        };
        let root = tree.root_node();
        let mut bad = Vec::new();
        if root.has_error() && round < MAX_REPAIRS {
            bad = repair::wrong_lines(parser, &masked, &tree);
        }
        if bad.is_empty() {
            let lowered = lower::lower(source, &masked, root);
            if lowered.overruns.is_empty() || round == MAX_REPAIRS {
                file.ast = lowered.ast;
                file.spans = lowered.spans;
                repairs.extend(lowered.errors);
                break;
            }
            bad.extend(lowered.overruns.into_iter().map(|i| {
                let error = repair::wrong(parser, &masked, &masked.lines[i]);
                let end = masked.lines[i].range.end;
                let unknown = || SyntaxError {
                    range: TextRange::new(end, end),
                    problem: "the statement is not complete".into(),
                };
                (i, error.unwrap_or_else(unknown))
            }));
        }
        leave_out(bad, &masked, &mut wrong, &mut repairs);
        masked = mask::lex(source, &wrong);
    }
    let mut errors = masked.errors;
    errors.extend(repairs);
    errors
}

/// Notes wrong lines and their errors.
fn leave_out(
    bad: Vec<(usize, SyntaxError)>,
    masked: &mask::Masked,
    wrong: &mut Wrong,
    errors: &mut Vec<SyntaxError>,
) {
    for (i, error) in bad {
        wrong.lines.insert(i);
        if !masked.lines[i].reported {
            wrong.reported.insert(i);
            errors.push(error);
        }
    }
}
