//! Lines of a program that is being written, and which ones to write.

use std::fmt::Write;

use taipan_fuzz::Choices;

/// What has been written so far, and chance.
pub(crate) struct Text<'c> {
    pub(crate) rng: Choices<'c>,
    pub(crate) out: String,
    pub(crate) indent: usize,
}

impl<'c> Text<'c> {
    pub(crate) fn new(rng: Choices<'c>, head: &str) -> Text<'c> {
        Text {
            rng,
            out: head.to_owned(),
            indent: 0,
        }
    }

    pub(crate) fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", self.indent * 4);
    }

    /// One of these.
    pub(crate) fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        self.rng.of(choices)
    }

    /// True once in so many times.
    pub(crate) fn once_in(&mut self, n: usize) -> bool {
        self.rng.below(n) == 0
    }
}

fn number(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(n) => n.parse().expect("a number"),
        Err(_) => default,
    }
}

/// The numbers of the programs to try: `TAIPAN_FUZZ_CASES` many instead of a few, from
/// `TAIPAN_FUZZ_FIRST` on.
pub(crate) fn seeds(few: u64) -> std::ops::Range<u64> {
    let first = number("TAIPAN_FUZZ_FIRST", 0);
    first..first + number("TAIPAN_FUZZ_CASES", few)
}
