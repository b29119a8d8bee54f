//! Reports of coverage: a table, and files in the format of lcov.

use std::fmt::Write as _;

use camino::{Utf8Path, Utf8PathBuf};
use taipan_base::{Db as _, shown_path};
use taipan_driver::Database;
use taipan_driver::parts::clean;
use taipan_testing::{FileCoverage, TestReport};

use super::terminal::Style;
use crate::args::{CoverageReport, TestArgs};

/// The files below the PATH of `--cov`.
fn files<'a>(db: &Database, args: &TestArgs, report: &'a TestReport) -> Vec<&'a FileCoverage> {
    let here = db.system().current_folder();
    let here = here.map(Utf8Path::to_owned).unwrap_or_default();
    let asked = args.coverage.iter().map(|path| clean(&here.join(path)));
    let asked: Vec<Utf8PathBuf> = asked.collect();
    let below = |file: &&FileCoverage| {
        let path = Utf8Path::new(&file.file);
        asked.iter().any(|folder| path.starts_with(folder))
    };
    let all = report.coverage.iter().flat_map(|c| &c.files);
    all.filter(below).collect()
}

/// The table with its title: a line per file, with the lines that no test executed. Empty without `--cov`.
pub(crate) fn section(db: &Database, args: &TestArgs, style: Style, report: &TestReport) -> String {
    let reports = &args.coverage_reports;
    if report.coverage.is_none()
        || !(reports.is_empty() || reports.contains(&CoverageReport::Table))
    {
        return String::new();
    }
    let mut rows = Vec::new();
    let (mut all, mut executed) = (0, 0);
    for file in files(db, args, report) {
        let missing = file.missing().into_iter().map(|(first, last)| {
            if first == last {
                first.to_string()
            } else {
                format!("{first}-{last}")
            }
        });
        let missing = missing.collect::<Vec<_>>().join(", ");
        rows.push((
            shown_path(db, Utf8Path::new(&file.file)).to_string(),
            file.lines.len(),
            file.executed(),
            missing,
        ));
        all += file.lines.len();
        executed += file.executed();
    }
    rows.push(("TOTAL".to_owned(), all, executed, String::new()));
    let width = rows.iter().map(|r| r.0.chars().count()).max().unwrap_or(0);
    let title = style.rule('-', "coverage of functions, run as Python");
    let mut out = format!(
        "\n{title}\n{:width$}  {:>5}  {:>5}  {:>5}  Missing\n",
        "Name", "Lines", "Miss", "Cover"
    );
    for (name, all, executed, missing) in rows {
        let percent = (executed * 100).checked_div(all).unwrap_or(100);
        let miss = all - executed;
        let line = format!("{name:width$}  {all:>5}  {miss:>5}  {percent:>4}%  {missing}");
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

/// Writes the files of `--cov-report`. Returns the message of an error.
pub(crate) fn write_files(
    db: &Database,
    args: &TestArgs,
    report: &TestReport,
) -> Result<(), String> {
    for asked in &args.coverage_reports {
        if let CoverageReport::Lcov(path) = asked {
            let mut text = String::new();
            for file in files(db, args, report) {
                let _ = writeln!(text, "SF:{}", file.file);
                for (line, executed) in &file.lines {
                    let _ = writeln!(text, "DA:{line},{}", u8::from(*executed));
                }
                let (found, hit) = (file.lines.len(), file.executed());
                let _ = writeln!(text, "LF:{found}\nLH:{hit}\nend_of_record");
            }
            std::fs::write(path, text).map_err(|e| format!("{path}: {e}"))?;
        }
    }
    Ok(())
}
