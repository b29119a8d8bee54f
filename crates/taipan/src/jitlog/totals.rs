//! Totals over all units of a log.

use super::{Log, Unit};

/// Length of a run, in seconds, after which all hot code should be optimised.
const LONG_RUN: f64 = 10.0;

/// Share of rounds and entries in quick units that counts as a fault of a long run.
const MOST_QUICK: f64 = 0.05;

/// Sums over a log.
#[derive(Default)]
pub(super) struct Totals {
    /// Rounds of loops and entries of units.
    pub(super) rounds: u64,
    /// Rounds and entries of units without optimisations.
    pub(super) quick: u64,
    /// Visits of the interpreter to merge points.
    pub(super) passed: u64,
    /// Estimated number of executed operations of compiled code.
    pub(super) work: f64,
    /// Microseconds.
    pub(super) specialising: u64,
    pub(super) compiling: u64,
    pub(super) cpu: u64,
    /// Seconds.
    pub(super) seconds: Option<f64>,
    /// Upper bound of the interpreter's time from one merge point to the next, in microseconds.
    pub(super) pace: Option<f64>,
}

/// The quotient, or 0 for an empty total.
pub(super) fn share(part: u64, all: u64) -> f64 {
    match all {
        0 => 0.0,
        all => part as f64 / all as f64,
    }
}

impl Totals {
    pub(super) fn new(log: &Log) -> Totals {
        let mut totals = Totals::default();
        for unit in log.units() {
            let rounds = log.all_rounds(unit);
            totals.rounds += rounds;
            if unit.kind != "loop" {
                totals.quick += rounds;
            }
            totals.work += work(log, unit);
        }
        totals.passed = log.greens.iter().map(|g| g.passed).sum();
        if let Some(end) = &log.end {
            totals.specialising = end.specialise_us;
            totals.compiling = end.compile_us;
            totals.cpu = end.cpu_us;
            totals.seconds = Some(end.at);
        }
        let first = log.functions.iter().find(|f| f.passed > 0);
        totals.pace = first.map(|f| f.cpu_us as f64 / f.passed as f64);
        totals
    }

    /// Whether the share of quick units is too large.
    pub(super) fn is_quick(&self) -> bool {
        share(self.quick, self.rounds) > MOST_QUICK
    }

    /// The fault of a long run with a large share of quick units.
    pub(super) fn fault(&self, log: &Log) -> Option<String> {
        let long = self.seconds.is_some_and(|s| s >= LONG_RUN);
        if !long || !self.is_quick() {
            return None;
        }
        let quick = |u: &&Unit| u.kind != "loop";
        let most = log
            .units()
            .filter(quick)
            .max_by_key(|u| log.all_rounds(u))?;
        let location = &log.functions[most.function].location;
        let location = most.merge_points.first().unwrap_or(location);
        Some(format!(
            "{:.0}% of all rounds and entries are in units without optimisations after {:.1} s, most of \
             them in unit {} ({location})",
            share(self.quick, self.rounds) * 100.0,
            self.seconds.unwrap_or_default(),
            most.unit
        ))
    }
}

/// Estimated number of executed operations of a unit.
fn work(log: &Log, unit: &Unit) -> f64 {
    let outside = log.rounds(unit, None) as f64 * unit.outside as f64;
    let inside = unit.loops.iter().enumerate();
    let inside =
        inside.map(|(i, operations)| log.rounds(unit, Some(i)) as f64 * *operations as f64);
    outside + inside.sum::<f64>()
}
