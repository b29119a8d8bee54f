//! How long each phase took, and how many queries it ran.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use taipan_base::PassCounts;
use taipan_language::Pass;

use crate::log::{QueryCounts, QueryLog};

/// Phases in the order in which they first ran.
#[derive(Clone, Default)]
pub struct Timings {
    phases: Vec<Phase>,
    log: Option<QueryLog>,
}

#[derive(Clone)]
struct Phase {
    name: &'static str,
    took: Duration,
    queries: QueryCounts,
}

impl Timings {
    /// Timings that also count the queries of a database.
    pub fn counting(log: &QueryLog) -> Timings {
        log.forget_pass_counts();
        Timings {
            phases: Vec::new(),
            log: Some(log.clone()),
        }
    }

    /// Runs a phase and adds its time and queries.
    pub fn phase<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let counts = |log: &Option<QueryLog>| log.as_ref().map(QueryLog::counts);
        let before = counts(&self.log).unwrap_or_default();
        let start = Instant::now();
        let result = match &self.log {
            Some(log) => log.phase(name, work),
            None => work(),
        };
        let took = start.elapsed();
        let after = counts(&self.log).unwrap_or_default();
        let at = match self.phases.iter().position(|p| p.name == name) {
            Some(at) => at,
            None => {
                self.phases.push(Phase {
                    name,
                    took: Duration::ZERO,
                    queries: QueryCounts::default(),
                });
                self.phases.len() - 1
            }
        };
        let phase = &mut self.phases[at];
        phase.took += took;
        phase.queries.executed += after.executed - before.executed;
        phase.queries.reused += after.reused - before.reused;
        result
    }

    /// Phases and their times, in the order in which they first ran.
    pub fn phases(&self) -> impl Iterator<Item = (&'static str, Duration)> {
        self.phases.iter().map(|p| (p.name, p.took))
    }

    /// The table that `--timings` prints: milliseconds of wall-clock time, queries
    /// executed, queries whose old results were found to be right. Below it what passes did to graphs
    /// since the database was asked to count that ([`QueryLog::count_passes_from_now`]).
    pub fn table(&self) -> String {
        let mut total = Phase {
            name: "total",
            took: Duration::ZERO,
            queries: QueryCounts::default(),
        };
        for phase in &self.phases {
            total.took += phase.took;
            total.queries.executed += phase.queries.executed;
            total.queries.reused += phase.queries.reused;
        }
        let mut out = format!(
            "{:<12} {:>13} {:>9} {:>9}\n",
            "phase", "time", "executed", "reused"
        );
        for phase in self.phases.iter().chain([&total]) {
            out.push_str(&format!(
                "{:<12} {:>10.3} ms {:>9} {:>9}\n",
                phase.name,
                phase.took.as_secs_f64() * 1e3,
                phase.queries.executed,
                phase.queries.reused,
            ));
        }
        if let Some(log) = &self.log {
            out.push_str(&pass_table(&log.pass_counts()));
        }
        out
    }
}

/// The table of what passes did: graphs that each ran over, those that it changed, what it began
/// with, what it added, and how long it took. Empty if none ran.
fn pass_table(counts: &BTreeMap<Pass, PassCounts>) -> String {
    let mut out = String::new();
    for (pass, c) in counts {
        if out.is_empty() {
            out = format!(
                "{:<18} {:>8} {:>8} {:>10} {:>9} {:>8} {:>8} {:>13}\n",
                "pass", "graphs", "changed", "operations", "more", "blocks", "more", "time"
            );
        }
        out.push_str(&format!(
            "{:<18} {:>8} {:>8} {:>10} {:>+9} {:>8} {:>+8} {:>10.3} ms\n",
            pass.name(),
            c.graphs,
            c.changed,
            c.operations,
            c.more_operations,
            c.blocks,
            c.more_blocks,
            c.time.as_secs_f64() * 1e3,
        ));
    }
    out
}
