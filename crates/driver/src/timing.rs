//! How long each phase took.

use std::time::{Duration, Instant};

/// Phases in the order in which they first ran.
#[derive(Clone, Debug, Default)]
pub struct Timings {
    phases: Vec<(&'static str, Duration)>,
}

impl Timings {
    /// Runs a phase and adds its time.
    pub fn phase<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        let took = start.elapsed();
        match self.phases.iter_mut().find(|(n, _)| *n == name) {
            Some((_, total)) => *total += took,
            None => self.phases.push((name, took)),
        }
        result
    }

    /// The table that `--timings` prints.
    pub fn table(&self) -> String {
        let mut out = String::new();
        let total: Duration = self.phases.iter().map(|(_, d)| *d).sum();
        for (name, d) in self.phases.iter().copied().chain([("total", total)]) {
            out.push_str(&format!("{name:<12} {:>10.3} ms\n", d.as_secs_f64() * 1e3));
        }
        out
    }
}
