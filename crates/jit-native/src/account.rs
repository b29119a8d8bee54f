//! What compiling may cost: a program that runs for a short time is not to be compiled for
//! a long one.
//!
//! Time is no measure: each run would compile other code. The account has the number of visits of places where compiled
//! code could be entered, as income, and the number of compiled operations, as expense. While expenses exceed
//! income, only functions that are hot by themselves are started. Hot stubs and hot loops of
//! started functions are compiled in any case: their own counters are the limit.

use std::cell::Cell;

use crate::engine::THRESHOLD;

/// So many operations are compiled in advance: what a program with a few loops consists of.
/// With a threshold that is lower than usual it is more.
const ADVANCE: u64 = 3_000;
/// How many operations are earned each time that code came by as often as the threshold
/// says.
const EARNED: u64 = 8;
/// So many rounds of compiled code take about as long as the interpreter needs from one place
/// where code could be entered to the next.
const ROUNDS: u64 = 16;

/// What was earned, and what it was spent for.
#[derive(Default)]
pub(crate) struct Account {
    /// How often code came by, times [`ROUNDS`].
    passed: Cell<u64>,
    /// Operations that were compiled.
    compiled: Cell<u64>,
}

impl Account {
    /// Credits `times` visits of the interpreter to places where compiled code could be entered.
    pub(crate) fn comes_by(&self, times: u64) {
        self.went(times.saturating_mul(ROUNDS));
    }

    /// Compiled code went around that often.
    pub(crate) fn went(&self, rounds: u64) {
        self.passed.set(self.passed.get().saturating_add(rounds));
    }

    /// Number of visits so far, in rounds of the interpreter.
    pub(crate) fn passed(&self) -> u64 {
        self.passed.get() / ROUNDS
    }

    /// So many operations were compiled.
    pub(crate) fn compiled(&self, operations: usize) {
        self.compiled.set(self.compiled.get() + operations as u64);
    }

    /// Whether something new may be compiled: in proportion to a driver's threshold, since
    /// that says how much code is to run first.
    pub(crate) fn allows(&self, threshold: i64) -> bool {
        let threshold = u64::try_from(threshold).unwrap_or(0).max(1);
        let earned = self.passed().saturating_mul(EARNED) / threshold;
        let advance = ADVANCE * (THRESHOLD as u64 / threshold).max(1);
        self.compiled.get() <= earned.saturating_add(advance)
    }
}

#[cfg(test)]
mod tests {
    use super::{ADVANCE, Account, EARNED, ROUNDS};

    #[test]
    fn what_is_compiled_is_earned_first() {
        let account = Account::default();
        account.compiled(ADVANCE as usize);
        assert!(account.allows(1000));
        account.compiled(EARNED as usize);
        assert!(!account.allows(1000));
        (1..1000).for_each(|_| account.comes_by(1));
        assert!(!account.allows(1000));
        account.comes_by(1);
        assert!(account.allows(1000));
    }

    #[test]
    fn rounds_of_compiled_code_earn_less() {
        let account = Account::default();
        account.compiled((ADVANCE + EARNED) as usize);
        account.went(1000 * ROUNDS - 1);
        assert!(!account.allows(1000));
        account.went(1);
        assert!(account.allows(1000));
    }

    #[test]
    fn a_low_threshold_is_eager() {
        let account = Account::default();
        account.compiled(ADVANCE as usize * 100);
        assert!(!account.allows(1000));
        assert!(account.allows(2));
        assert!(account.allows(0));
        (0..1000).for_each(|_| account.comes_by(1));
        assert!(!account.allows(1000));
        assert!(account.allows(10));
    }
}
