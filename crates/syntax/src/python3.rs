//! What came with Python 3, or is the habit of another language: errors about it say so, and what
//! Python 2.7 has instead.

use taipan_base::TextRange;

use crate::{Habit, SyntaxProblem};

/// The habit behind an error that the grammar only knows as a mistake.
pub(crate) fn habit(source: &str, range: TextRange, problem: &SyntaxProblem) -> Option<Habit> {
    let start = range.start as usize;
    let before = source.get(..start)?;
    let here = source.get(start..)?;
    match problem {
        SyntaxProblem::NoTarget | SyntaxProblem::AssignmentInExpression => {
            let line = before.rfind('\n').map_or(0, |i| i + 1);
            let call = before[line..].trim_start().strip_prefix("print")?;
            (call.trim_start().starts_with('(')).then_some(Habit::PrintKeyword)
        }
        SyntaxProblem::ExpectedExpression | SyntaxProblem::ExpectedName => {
            let operator = before.trim_end_matches([' ', '\t']);
            if operator.ends_with("++") {
                Some(Habit::Increment)
            } else {
                operator.ends_with("--").then_some(Habit::Decrement)
            }
        }
        SyntaxProblem::Invalid => of_words(before, here),
        _ => None,
    }
}

/// The habit that words show at which a statement ceases to make sense.
fn of_words(before: &str, here: &str) -> Option<Habit> {
    if here.starts_with(['"', '\'']) {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let prefix = &before[before.trim_end_matches(word).len()..];
        return matches!(prefix.to_ascii_lowercase().as_str(), "f" | "fr" | "rf")
            .then_some(Habit::FString);
    }
    let mut words = here.split_whitespace();
    match words.next()? {
        "match" if here.lines().next()?.trim_end().ends_with(':') => Some(Habit::Match),
        "type" if words.nth(1) == Some("=") => Some(Habit::TypeStatement),
        "else" if words.next() == Some("if") => Some(Habit::ElseIf),
        _ => None,
    }
}
