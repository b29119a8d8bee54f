//! Lines of a program that is being written, and which ones to write.

use std::fmt::Write;

use fastrand::Rng;

/// What has been written so far, and chance.
pub(crate) struct Text {
    pub(crate) rng: Rng,
    pub(crate) out: String,
    pub(crate) indent: usize,
}

impl Text {
    pub(crate) fn new(seed: u64, head: &str) -> Text {
        Text {
            rng: Rng::with_seed(seed),
            out: head.to_owned(),
            indent: 0,
        }
    }

    pub(crate) fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", self.indent * 4);
    }

    /// One of these.
    pub(crate) fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.rng.usize(..choices.len())]
    }

    /// True once in so many times.
    pub(crate) fn once_in(&mut self, n: u8) -> bool {
        self.rng.u8(..n) == 0
    }
}

fn number(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(n) => n.parse().expect("a number"),
        Err(_) => default,
    }
}

/// The numbers of the programs to try: `TAIPAN_PROGRAMS` many instead of a few, from
/// `TAIPAN_SEED` on.
pub(crate) fn seeds(few: u64) -> std::ops::Range<u64> {
    let first = number("TAIPAN_SEED", 1);
    first..first + number("TAIPAN_PROGRAMS", few)
}
