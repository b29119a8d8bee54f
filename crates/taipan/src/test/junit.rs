//! JUnit's XML, as continuous integration reads it.

use std::collections::BTreeMap;

use camino::Utf8Path;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use taipan_driver::Database;
use taipan_testing::{TestFailure, TestOutcome, TestReport, TestResult};

use super::failure;
use super::terminal::{Listed, Style};
use crate::args::Traceback;

const PLAIN: Style = Style {
    color: false,
    verbosity: 0,
    traceback: Traceback::Long,
    shows_output: false,
    listed: Listed::FAILED,
    durations: None,
};

/// Writes a report to a file: a suite per test file.
pub(crate) fn write(db: &Database, report: &TestReport, file: &Utf8Path) -> std::io::Result<()> {
    let mut xml = Report::new("taipan test");
    xml.set_time(report.duration);
    let mut suites: BTreeMap<&str, TestSuite> = BTreeMap::new();
    let mut suite = |file: &str, case: TestCase| {
        let name = file.to_owned();
        // Borrowed from the report, which outlives the map.
        let key = report_key(report, file);
        suites
            .entry(key)
            .or_insert_with(|| TestSuite::new(name))
            .add_test_case(case);
    };
    for r in &report.results {
        suite(&r.file, case(db, r));
    }
    for e in &report.collected.errors {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message("tests cannot be collected");
        status.set_description(failure::diagnostics(db, PLAIN, &e.diagnostics));
        suite(&e.file, TestCase::new(e.file.as_str(), status));
    }
    for (file, reason) in &report.collected.skipped {
        let mut status = TestCaseStatus::skipped();
        status.set_message(reason.as_str());
        suite(file, TestCase::new(file.as_str(), status));
    }
    xml.add_test_suites(suites.into_values());
    let mut out = Vec::new();
    xml.serialize(&mut out).map_err(std::io::Error::other)?;
    std::fs::write(file, out)
}

/// The file's name as the report has it.
fn report_key<'a>(report: &'a TestReport, file: &str) -> &'a str {
    let errors = report.collected.errors.iter().map(|e| e.file.as_str());
    let skipped = report.collected.skipped.iter().map(|(f, _)| f.as_str());
    let mut all = (report.results.iter().map(|r| r.file.as_str()))
        .chain(errors)
        .chain(skipped);
    all.find(|f| *f == file).unwrap_or_default()
}

fn case(db: &Database, r: &TestResult) -> TestCase {
    let status = match &r.outcome {
        TestOutcome::Passed | TestOutcome::UnexpectedPass(_) => TestCaseStatus::success(),
        TestOutcome::Skipped(why) | TestOutcome::ExpectedFailure(why) => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(why.as_str());
            status
        }
        TestOutcome::Failed(f) => {
            let kind = match f {
                TestFailure::Assertion(_) | TestFailure::Said(_) => NonSuccessKind::Failure,
                _ => NonSuccessKind::Error,
            };
            let mut status = TestCaseStatus::non_success(kind);
            status.set_message(f.headline());
            status.set_description(failure::section(db, PLAIN, r));
            status
        }
    };
    // `path.test_a.TestX` and `test_m[1]`, as pytest writes them.
    let module = r
        .file
        .strip_suffix(".py")
        .unwrap_or(&r.file)
        .replace('/', ".");
    let (class, name) = match r.name.rsplit_once("::") {
        Some((class, name)) => (format!("{module}.{class}"), name),
        None => (module, r.name.as_str()),
    };
    let mut case = TestCase::new(name, status);
    case.set_classname(class);
    case.set_time(r.duration);
    case.extra.insert("file".into(), r.file.as_str().into());
    case.extra.insert("line".into(), r.line.to_string().into());
    if !r.output.is_empty() {
        case.set_system_out(String::from_utf8_lossy(&r.output));
    }
    case
}
