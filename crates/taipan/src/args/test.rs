//! The command line of `taipan test`.

use camino::Utf8PathBuf;
use clap::{Args, ValueEnum};

use super::{Checks, CollectorOption, Common};

#[derive(Clone, Args)]
pub(crate) struct TestArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Which engine executes.
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) engine: TestEngine,
    #[command(flatten)]
    pub(crate) collector: CollectorOption,
    #[command(flatten)]
    pub(crate) checks: Checks,
    /// Test files, folders, or tests as FILE.py::TestX::test_y; by default `testpaths` of the project, else this folder.
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<Utf8PathBuf>,
    /// Run only tests whose names match: parts of names with `and`, `or`, `not`, `()`.
    #[arg(short = 'k', value_name = "EXPR", allow_hyphen_values = true)]
    pub(crate) select: Option<String>,
    /// Run only tests whose marks match: names of marks with `and`, `or`, `not`, `()`.
    #[arg(short = 'm', value_name = "EXPR", allow_hyphen_values = true)]
    pub(crate) marks: Option<String>,
    /// Run all, also what has not changed since it passed.
    #[arg(long)]
    pub(crate) all: bool,
    /// Run only the tests that failed last, or all if none did.
    #[arg(long, alias = "lf")]
    pub(crate) last_failed: bool,
    /// Run the tests that failed last first, with their files.
    #[arg(long, alias = "ff")]
    pub(crate) failed_first: bool,
    /// Stop after the first failure.
    #[arg(short = 'x', long)]
    pub(crate) exit_first: bool,
    /// Stop after N failures.
    #[arg(long = "maxfail", value_name = "N")]
    pub(crate) max_failures: Option<usize>,
    /// Seconds that a test may run.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 60.0,
        allow_negative_numbers = true
    )]
    pub(crate) timeout: f64,
    /// Do not run again what has not changed, even if it reads files or the clock.
    #[arg(long)]
    pub(crate) trust: bool,
    /// Only list the tests.
    #[arg(long, alias = "co")]
    pub(crate) collect_only: bool,
    /// Also write the results as JUnit XML.
    #[arg(long, value_name = "FILE", alias = "junitxml")]
    pub(crate) junit_xml: Option<Utf8PathBuf>,
    /// Print one line of JSON per test.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the output of every test that runs, behind its result.
    #[arg(short = 's', long)]
    pub(crate) show_output: bool,
    /// How much of a failure is shown.
    #[arg(long, value_enum, value_name = "STYLE", default_value = "long")]
    pub(crate) tb: Traceback,
    /// List tests in the summary, by letters: (f)ailed, (E)rrors, (s)kipped, (x)failed, (X)passed, (p)assed, (a)ll but
    /// passed, (A)ll, (N)one.
    #[arg(short = 'r', value_name = "LETTERS", default_value = "fE", value_parser = report_letters)]
    pub(crate) report: String,
    /// List the N slowest tests; 0 for all.
    #[arg(long, value_name = "N")]
    pub(crate) durations: Option<usize>,
    /// A line per test.
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Print less; twice: only failures.
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub(crate) quiet: u8,
}

/// Which engine executes tests.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestEngine {
    /// Machine code, and the interpreter for what cannot be translated.
    Auto,
    /// Machine code: what cannot be translated fails.
    Native,
    /// The interpreter of low-level graphs.
    Llinterp,
    /// The interpreter of bytecode, which runs tests as Python.
    Interp,
}

/// How much of a failure is shown.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Traceback {
    /// The source of the test, and of each call.
    #[value(alias = "auto")]
    Long,
    /// A line of each call.
    Short,
    /// A line of each failure.
    Line,
    /// None.
    No,
}

/// Letters of `-r`, with what those for several stand for.
fn report_letters(text: &str) -> Result<String, String> {
    let mut letters = String::new();
    for c in text.chars() {
        match c {
            'f' | 'E' | 's' | 'x' | 'X' | 'p' => letters.push(c),
            'a' => letters.push_str("fEsxX"),
            'A' => letters.push_str("fEsxXp"),
            'N' => letters.clear(),
            _ => {
                return Err(format!(
                    "it takes the letters f, E, s, x, X, p, a, A and N, not {c}"
                ));
            }
        }
    }
    Ok(letters)
}
