//! How long each phase took, and how many queries it ran.

use std::time::{Duration, Instant};

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
    /// executed, queries whose old results were found to be right.
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
        out
    }
}
