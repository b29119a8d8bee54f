//! Lines of a program that is being written.

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

    /// What a program ends with: run as a target, and by CPython.
    pub(crate) fn target(&mut self) {
        self.out.push_str(
            "
def target(driver, args):
    return entry_point, None
if __name__ == '__main__':
    entry_point(['main'])
",
        );
    }
}
