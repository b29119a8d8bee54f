//! `taipan explain`

use std::fmt::Write as _;

use taipan_base::{Help, did_you_mean};
use taipan_codes::{ErrorCode, Explanation, Piece, all};

use crate::args::ExplainArgs;
use crate::output::{put, tell};

pub(crate) fn explain(args: &ExplainArgs) -> i32 {
    let Some(given) = &args.code else {
        let line = |e: &Explanation| format!("{}  {}\n", e.code, e.title);
        return put(&all().iter().map(line).collect::<String>());
    };
    let code = full_name(given);
    match ErrorCode::named(&code) {
        Some(code) => put(&text(code.explanation())),
        None => {
            let help = beginning(&code)
                .or_else(|| did_you_mean(&code, ErrorCode::ALL.iter().map(|c| c.as_str())))
                .unwrap_or_else(|| "`taipan explain` lists all codes".into());
            tell(&format!("taipan: there is no code {given}; {help}\n"));
            2
        }
    }
}

/// The full code: letters become capitals, and a bare number gets the prefix.
fn full_name(given: &str) -> String {
    let given = given.to_uppercase();
    match given.parse::<u32>() {
        Ok(number) => format!("TP{number:04}"),
        Err(_) => given,
    }
}

/// A hint with the codes that start with `given`. None if `given` is only the letters of a code.
fn beginning(given: &str) -> Option<Help> {
    let codes = ErrorCode::ALL.iter().map(|c| c.as_str());
    let found: Vec<&str> = codes
        .filter(|c| given.len() > 2 && c.starts_with(given))
        .collect();
    match &found[..] {
        [] => None,
        [one] => Some(Help::Similar((*one).into())),
        [first, .., last] => {
            let text = format!("{} codes begin so, from {first} to {last}", found.len());
            Some(text.into())
        }
    }
}

/// An explanation for people.
fn text(e: &Explanation) -> String {
    let mut out = format!("{}: {}\n", e.code, e.title);
    for piece in &e.pieces {
        out.push('\n');
        match piece {
            Piece::Text(t) => {
                let _ = writeln!(out, "{t}");
            }
            Piece::Example(x) => {
                for line in x.source.lines() {
                    let line = format!("    {line}");
                    let _ = writeln!(out, "{}", line.trim_end());
                }
            }
        }
    }
    out
}
