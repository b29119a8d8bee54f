//! What each code of a diagnostic means, with an example that has the mistake and one
//! that has not.
//!
//! Owns the texts: one Markdown file per code in `text/`, of which
//! `taipan explain`, editors and the tables in docs/diagnostics.md are made. A test
//! compares the files with the codes in the compiler's sources; another one, of the
//! command line, runs the examples.
//!
//! **Architecture invariants.** Knows nothing of the compiler.

mod explanation;

pub use explanation::{Example, Explanation, Piece};

use explanation::parse;
use std::sync::LazyLock;

/// The explanation of a code such as `TP0301`.
pub fn explanation(code: &str) -> Option<&'static Explanation> {
    let all = all();
    let at = all.binary_search_by(|e| e.code.cmp(code)).ok()?;
    Some(&all[at])
}

/// All explanations, in the order of their codes.
pub fn all() -> &'static [Explanation] {
    static ALL: LazyLock<Vec<Explanation>> =
        LazyLock::new(|| TEXTS.iter().map(|(code, text)| parse(code, text)).collect());
    &ALL
}

macro_rules! texts {
    ($($code:ident)*) => {
        /// The files, in the order of their codes.
        const TEXTS: &[(&str, &str)] = &[$((
            stringify!($code),
            include_str!(concat!("../text/", stringify!($code), ".md")),
        ),)*];
    };
}

texts! {
    TP0001 TP0010 TP0011
    TP0201 TP0202 TP0203 TP0204 TP0210 TP0211 TP0212 TP0213
    TP0220 TP0221 TP0222 TP0223 TP0224 TP0225 TP0226 TP0227
    TP0228 TP0229 TP0230 TP0232
    TP0300 TP0301 TP0302 TP0303 TP0304 TP0305 TP0306 TP0307
    TP0308 TP0309 TP0311 TP0312 TP0313 TP0314 TP0315 TP0316
    TP0317
    TP0401 TP0402 TP0404 TP0405 TP0408
    TP0409 TP0410 TP0411 TP0412 TP0413 TP0414 TP0415 TP0420
    TP0422 TP0423 TP0424 TP0425 TP0426 TP0427 TP0428
    TP0429 TP0499
    TP0501 TP0502 TP0503 TP0599
    TP0601 TP0602 TP0603 TP0604
}

#[cfg(test)]
mod tests;
