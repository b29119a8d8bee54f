//! The command line of `taipan test`.

use std::ffi::OsString;

use camino::Utf8PathBuf;
use clap::{Arg, Args, Command, ValueEnum};
use taipan_base::did_you_mean;

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
    /// Leave out tests whose ids begin with PREFIX, as FILE.py::TestX. Can be repeated.
    #[arg(long, value_name = "PREFIX")]
    pub(crate) deselect: Vec<String>,
    /// Leave out a file or folder where folders are searched. Can be repeated.
    #[arg(long, value_name = "PATH")]
    pub(crate) ignore: Vec<Utf8PathBuf>,
    /// Run tests with the mark `xfail` as if they had none, and make `pytest.xfail()` do nothing.
    #[arg(long)]
    pub(crate) runxfail: bool,
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
    #[arg(short = 'x', long, alias = "exitfirst")]
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
    #[arg(long, alias = "co", alias = "collectonly")]
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
    /// Whether output is captured: no and tee-sys show it, as -s.
    #[arg(long, value_enum, value_name = "HOW", default_value = "fd")]
    pub(crate) capture: Capture,
    /// How much of a failure is shown.
    #[arg(long, value_enum, value_name = "STYLE", default_value = "long")]
    pub(crate) tb: Traceback,
    /// Show the local variables of each function in a failure, where the test runs as Python.
    #[arg(short = 'l', long = "showlocals", visible_alias = "show-locals")]
    pub(crate) show_locals: bool,
    /// List tests in the summary, by letters: (f)ailed, (E)rrors, (s)kipped, (x)failed, (X)passed, (p)assed, (a)ll but
    /// passed, (A)ll, (N)one.
    #[arg(short = 'r', value_name = "LETTERS", default_value = "fE", value_parser = report_letters)]
    pub(crate) report: String,
    /// List the N slowest tests; 0 for all.
    #[arg(long, value_name = "N")]
    pub(crate) durations: Option<usize>,
    /// Import a module with fixtures and hooks, as if it were a conftest.py; no:NAME is accepted and has no effect.
    #[arg(short = 'p', value_name = "MODULE", value_parser = plugin)]
    pub(crate) plugins: Vec<Plugin>,
    /// A filter of warnings. It has no effect: translated code has no warnings.
    #[arg(short = 'W', long = "pythonwarnings", value_name = "FILTER")]
    pub(crate) warning_filters: Vec<String>,
    /// An option that a conftest.py declares, as the command line is rewritten.
    #[arg(long, hide = true, value_name = "OPTION", allow_hyphen_values = true)]
    pub(crate) conftest_option: Vec<String>,
    /// Report which lines of functions the tests execute; of files below PATH. All tests are interpreted then.
    #[arg(long = "cov", value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "."
    )]
    pub(crate) coverage: Vec<Utf8PathBuf>,
    /// How coverage is reported: term, a table; lcov:FILE, for editors and services.
    #[arg(long = "cov-report", value_name = "TYPE", value_parser = coverage_report, requires = "coverage")]
    pub(crate) coverage_reports: Vec<CoverageReport>,
    /// A line per test.
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Print less; twice: only failures.
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub(crate) quiet: u8,
}

/// A value of `-p`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Plugin {
    /// A module is imported.
    Module(String),
    /// A plugin of that name is switched off.
    Off(String),
}

/// How coverage is reported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum CoverageReport {
    /// A table behind the results.
    Table,
    /// A file in the format of lcov.
    Lcov(Utf8PathBuf),
}

fn coverage_report(text: &str) -> Result<CoverageReport, String> {
    match (text, text.strip_prefix("lcov:")) {
        ("term" | "term-missing", _) => Ok(CoverageReport::Table),
        ("lcov", _) => Ok(CoverageReport::Lcov("coverage.lcov".into())),
        (_, Some(file)) if !file.is_empty() => Ok(CoverageReport::Lcov(file.into())),
        _ => Err("it takes term, term-missing, lcov or lcov:FILE".to_owned()),
    }
}

fn plugin(text: &str) -> Result<Plugin, String> {
    match text.strip_prefix("no:") {
        Some(name) => Ok(Plugin::Off(name.to_owned())),
        None if text.is_empty() => Err("it takes the name of a module".to_owned()),
        None => Ok(Plugin::Module(text.to_owned())),
    }
}

impl TestArgs {
    /// Whether the output of every test is shown.
    pub(crate) fn shows_output(&self) -> bool {
        self.show_output || matches!(self.capture, Capture::No | Capture::TeeSys)
    }

    /// The options that `conftest.py` files see.
    pub(crate) fn conftest_options(&self) -> Vec<String> {
        let own = self.runxfail.then(|| "--runxfail".to_owned());
        self.conftest_option.iter().cloned().chain(own).collect()
    }

    /// A line for each option that is accepted and has no effect.
    pub(crate) fn without_effect(&self) -> Vec<String> {
        let off = self.plugins.iter().filter_map(|p| match p {
            Plugin::Off(name) => Some(format!(
                "-p no:{name} has no effect: there is no such plugin"
            )),
            Plugin::Module(_) => None,
        });
        let filters = self.warning_filters.iter();
        let filters =
            filters.map(|f| format!("-W {f} has no effect: translated code has no warnings"));
        off.chain(filters).collect()
    }
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

/// Ways of pytest to capture output. Each test is a process of its own here, so `sys` is `fd`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Capture {
    /// The output of the process is shown if the test fails.
    Fd,
    /// The same.
    Sys,
    /// It is shown.
    No,
    /// It is shown.
    TeeSys,
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

/// Rewrites a command line: long options that `taipan test` does not have become values of `--conftest-option`. Near misses of its
/// own options stay, so that the parser reports them.
pub(crate) fn with_own_options(
    words: impl Iterator<Item = OsString>,
    taipan: &Command,
) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.collect();
    let first = match words.get(1).and_then(|w| w.to_str()) {
        Some("watch") => 2,
        _ => 1,
    };
    if words.get(first).is_none_or(|w| w != "test") {
        return words;
    }
    let Some(test) = taipan.find_subcommand("test") else {
        return words;
    };
    let known: Vec<(&str, bool)> = test.get_arguments().flat_map(names).collect();
    let mut is_value = false;
    for word in words.iter_mut().skip(first + 1) {
        let Some(text) = word.to_str() else { continue };
        if text == "--" {
            break;
        }
        if std::mem::take(&mut is_value) {
            continue;
        }
        if let Some(option) = text.strip_prefix("--") {
            let name = option.split('=').next().unwrap_or_default();
            match known.iter().find(|(n, _)| *n == name) {
                Some((_, takes_value)) => is_value = *takes_value && !option.contains('='),
                None if did_you_mean(name, known.iter().map(|(n, _)| *n)).is_some() => {}
                None => *word = format!("--conftest-option={text}").into(),
            }
        } else {
            is_value = matches!(text, "-k" | "-m" | "-r" | "-p" | "-W");
        }
    }
    words
}

/// The long names of an option, each with whether it takes a value.
fn names(arg: &Arg) -> Vec<(&str, bool)> {
    let longs = arg.get_long().into_iter();
    let all = longs.chain(arg.get_all_aliases().unwrap_or_default());
    let required = arg.get_num_args().is_some_and(|n| n.min_values() > 0);
    let takes_value = arg.get_action().takes_values() && required;
    all.map(|name| (name, takes_value)).collect()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::with_own_options;
    use crate::args::Cli;

    fn made(line: &str) -> String {
        let mut command = Cli::command();
        command.build();
        let words = line.split(' ').map(Into::into);
        let words = with_own_options(words, &command);
        let words: Vec<&str> = words.iter().filter_map(|w| w.to_str()).collect();
        words.join(" ")
    }

    #[test]
    fn unknown_options_are_left_to_conftest() {
        assert_eq!(
            made("taipan test --slow -k --deep --size=3 --maxfail 2 a.py"),
            "taipan test --conftest-option=--slow -k --deep --conftest-option=--size=3 --maxfail 2 a.py"
        );
        assert_eq!(
            made("taipan watch test --slow"),
            "taipan watch test --conftest-option=--slow"
        );
    }

    #[test]
    fn near_misses_and_other_commands_stay() {
        for line in [
            "taipan test --durration 3",
            "taipan test --help",
            "taipan test --lldebug a.py --lf",
            "taipan test -- --slow",
            "taipan check --slow",
        ] {
            assert_eq!(made(line), line);
        }
    }
}
