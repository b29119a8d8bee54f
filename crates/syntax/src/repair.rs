//! Finds the statements that the grammar rejects.
//!
//! tree-sitter's error recovery may take whole functions into one ERROR node. But the
//! pre-pass has seen to it that brackets and blocks are balanced, so what is wrong is
//! wrong within one line: every line that an ERROR node touches is parsed alone, and
//! those that fail are the ones.

use taipan_base::TextRange;
use tree_sitter::{Node, Parser, Tree};

use crate::mask::{Keyword, Line, Masked};
use crate::{SyntaxError, SyntaxProblem};

/// No more lines than this are parsed alone.
const MAX_LINES: usize = 5_000;

/// A token that may be missing at the end of a statement, and the problem without it.
fn continuations() -> [(&'static str, SyntaxProblem); 3] {
    [
        (" 0", SyntaxProblem::ExpectedExpression),
        (" a", SyntaxProblem::ExpectedName),
        (" else 0", "expected `else`".into()),
    ]
}

/// The wrong lines of a text, as indexes, with what is wrong.
pub(crate) fn wrong_lines(
    parser: &mut Parser,
    masked: &Masked,
    tree: &Tree,
) -> Vec<(usize, SyntaxError)> {
    let mut suspects = Vec::new();
    for node in errors(tree.root_node()) {
        let range = masked.range(node.start_byte(), node.end_byte());
        let (first, last) = (masked.line_at(range.start), masked.line_at(range.end));
        let (first, last) = (first.unwrap_or(0), last.unwrap_or(0));
        suspects.extend(first..=last);
        if suspects.len() > MAX_LINES {
            break;
        }
    }
    suspects.sort_unstable();
    suspects.dedup();
    suspects.truncate(MAX_LINES);
    suspects.retain(|i| masked.lines.get(*i).is_some_and(|l| !l.bad));
    let mut bad = Vec::new();
    for i in &suspects {
        if let Some(error) = wrong(parser, masked, &masked.lines[*i]) {
            bad.push((*i, error));
        }
    }
    if bad.is_empty()
        && let Some(i) = suspects.first()
    {
        let error = SyntaxError {
            range: masked.lines[*i].range,
            problem: SyntaxProblem::Invalid,
        };
        bad.push((*i, error));
    }
    bad
}

/// Wrong lines that end with a dot, as while an attribute is being written. A parse of the whole text finds them as well, but
/// its error recovery takes as long as the parse itself.
pub(crate) fn unfinished_lines(parser: &mut Parser, masked: &Masked) -> Vec<(usize, SyntaxError)> {
    let ends_with_dot = |line: &Line| {
        let text = &masked.text[line.text.0 as usize..line.text.1 as usize];
        !line.bad && text.last() == Some(&b'.')
    };
    let lines = masked.lines.iter().enumerate();
    lines
        .filter(|(_, line)| ends_with_dot(line))
        .take(MAX_LINES)
        .filter_map(|(i, line)| Some((i, wrong(parser, masked, line)?)))
        .collect()
}

/// The outermost ERROR and MISSING nodes.
fn errors(root: Node<'_>) -> Vec<Node<'_>> {
    let mut out = Vec::new();
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        let bad = node.is_error() || node.is_missing();
        if bad {
            out.push(node);
        }
        if !bad && node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return out;
            }
        }
    }
}

/// Parses a line alone and answers what is wrong with it.
pub(crate) fn wrong(parser: &mut Parser, masked: &Masked, line: &Line) -> Option<SyntaxError> {
    let (start, end) = (line.text.0 as usize, line.text.1 as usize);
    let prefix = match line.keyword {
        Some(Keyword::Elif | Keyword::Else) => "if 0: 0\n",
        Some(Keyword::Except | Keyword::Finally) => "try: 0\n",
        _ => "",
    };
    let mut text = prefix.as_bytes().to_vec();
    text.extend_from_slice(&masked.text[start..end]);
    if line.keyword.is_some() && !line.inline {
        text.extend_from_slice(b" 0");
    } else if masked.text[start..end].starts_with(b"@") {
        text.extend_from_slice(b"\ndef a(): 0");
    }
    let complete = text.len();
    text.push(b'\n');
    let tree = parser.parse(&text, None)?;
    let mut node = *errors(tree.root_node()).first()?;
    if line.keyword.is_none() {
        // Nothing is wrong with a statement that more of it would mend.
        for (more, problem) in continuations() {
            text.truncate(complete);
            text.extend_from_slice(more.as_bytes());
            text.push(b'\n');
            let tree = parser.parse(&text, None)?;
            if !tree.root_node().has_error() {
                let end = line.range.end;
                return Some(SyntaxError {
                    range: TextRange::new(end, end),
                    problem,
                });
            }
        }
    }
    // The innermost one tells best.
    while let Some(inner) = (0..node.child_count())
        .filter_map(|i| node.child(i))
        .find(|c| c.is_error() || c.is_missing())
    {
        node = inner;
    }
    let place = |offset: usize| (offset.saturating_sub(prefix.len()) + start).clamp(start, end);
    let range = masked.range(place(node.start_byte()), place(node.end_byte()));
    let child = |i: usize| node.child(i).map(|c| c.kind());
    let problem = if child(0) == Some("=") {
        SyntaxProblem::AssignmentInExpression
    } else if node.child_count().checked_sub(1).and_then(child) == Some("=") {
        SyntaxProblem::NoTarget
    } else if node.is_missing() {
        match node.kind() {
            "identifier" => SyntaxProblem::ExpectedName,
            kind if node.is_named() => format!("expected {}", kind.replace('_', " ")).into(),
            kind => format!("expected `{kind}`").into(),
        }
    } else {
        SyntaxProblem::Invalid
    };
    Some(SyntaxError { range, problem })
}
