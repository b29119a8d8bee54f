//! Source text to a typed, error-tolerant syntax tree.
//!
//! ```text
//! text --mask--> text of the same length that the grammar reads --tree-sitter--> tree --lower--> Ast
//! ```
//!
//! Both spellings of what Python 2.7 and Python 3 write differently are accepted and
//! give the same tree.
//!
//! **Architecture invariants.** No salsa, no input or output. The tree holds no
//! positions ([`Spans`] does). Whatever the text is, there is a tree: what could not
//! be parsed is an error node in it, with a [`SyntaxError`] that says why.

mod ast;
mod kind;
mod literal;
mod lower;
mod mask;

pub use ast::*;
use taipan_base::TextRange;

/// A problem in the text.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SyntaxError {
    /// Where.
    pub range: TextRange,
    /// What is wrong, on one line.
    pub message: String,
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

/// Parses a module's text.
pub fn parse(source: &str) -> ParsedFile {
    let masked = mask::mask(source);
    let mut parser = tree_sitter::Parser::new();
    let mut errors = masked.errors.clone();
    let mut file = ParsedFile::default();
    let tree = match parser.set_language(&kind::language()) {
        Ok(()) => parser.parse(&masked.text, None),
        Err(_) => None,
    };
    if let Some(tree) = tree {
        let (ast, spans, more) = lower::lower(source, &masked, tree.root_node());
        file.ast = ast;
        file.spans = spans;
        errors.extend(more);
        if tree.root_node().has_error() {
            collect(tree.root_node(), &mut errors);
        }
    }
    errors.sort_by_key(|e| (e.range, e.message.clone()));
    errors.dedup();
    file.errors = errors
        .into_iter()
        .map(|e| SyntaxError {
            range: e.range,
            message: e.message,
        })
        .collect();
    file
}

/// The places where tree-sitter could not go on.
fn collect(root: tree_sitter::Node<'_>, errors: &mut Vec<mask::LexError>) {
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        let bad = node.is_error() || node.is_missing();
        if bad {
            errors.push(mask::LexError {
                range: TextRange::new(node.start_byte() as u32, node.end_byte() as u32),
                message: if node.is_missing() {
                    format!("expected `{}`", node.kind())
                } else {
                    "invalid syntax".to_owned()
                },
            });
        }
        if !bad && node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}
