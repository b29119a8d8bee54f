//! Tests whose harness decides at run time which there are, with their times.

use std::time::Instant;

use libtest_mimic::{Completion, Failed, Trial};

/// Has each test of [`timed_trial`] print how long it took: `took 1.250 s: NAME`, on stdout.
const VARIABLE: &str = "TAIPAN_TEST_TIMES";

/// A test of `libtest_mimic` that may find that it cannot run here. With `TAIPAN_TEST_TIMES` set it prints its
/// time, as the standard harness does by `--report-time`: `.ci/slowest` reads both.
pub fn timed_trial(
    name: impl Into<String>,
    test: impl FnOnce() -> Result<Completion, Failed> + Send + 'static,
) -> Trial {
    let name = name.into();
    let known = name.clone();
    Trial::ignorable_test(name, move || {
        let begun = Instant::now();
        let outcome = test();
        if std::env::var_os(VARIABLE).is_some() {
            report(&known, begun);
        }
        outcome
    })
}

#[expect(clippy::print_stdout, reason = "the report of a test run")]
fn report(name: &str, begun: Instant) {
    println!("took {:.3} s: {name}", begun.elapsed().as_secs_f64());
}
