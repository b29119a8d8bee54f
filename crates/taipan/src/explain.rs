//! `taipan explain`

use std::fmt::Write as _;

use taipan_base::did_you_mean;
use taipan_codes::{ErrorCode, Explanation, Piece, all};

use crate::args::ExplainArgs;
use crate::output::{put, tell};

pub(crate) fn explain(args: &ExplainArgs) -> i32 {
    let Some(given) = &args.code else {
        let line = |e: &Explanation| format!("{}  {}\n", e.code, e.title);
        return put(&all().iter().map(line).collect::<String>());
    };
    let code = given.to_uppercase();
    match ErrorCode::named(&code) {
        Some(code) => put(&text(code.explanation())),
        None => {
            let help = did_you_mean(&code, ErrorCode::ALL.iter().map(|c| c.as_str()))
                .unwrap_or_else(|| "`taipan explain` lists all codes".to_owned());
            tell(&format!("taipan: there is no code {given}; {help}\n"));
            2
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
