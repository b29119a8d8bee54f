//! The text of a round's report.

use std::fmt::Write as _;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use taipan_base::WatchMode;
use taipan_driver::Database;
use taipan_watch::{Answer, Reran};

/// More names than this are counted.
const MOST_FILES: usize = 3;
/// Shorter phases are left out.
const SHORTEST: Duration = Duration::from_micros(50);

/// The report of a round, in whole lines.
#[derive(Clone, Default)]
pub(super) struct Told {
    /// Changed files.
    pub(super) changed: String,
    /// Queries that ran, and their time.
    pub(super) statistics: String,
    /// The table of `--timings`.
    pub(super) timings: String,
}

impl Told {
    /// All of it.
    pub(super) fn all(&self) -> String {
        format!("{}{}{}", self.changed, self.statistics, self.timings)
    }
}

/// The report of a round.
pub(super) fn told<T>(db: &Database, answer: &Answer<T>) -> Told {
    let here = std::env::current_dir()
        .ok()
        .and_then(|d| Utf8PathBuf::from_path_buf(d).ok());
    let changed = if answer.changed.is_empty() {
        String::new()
    } else {
        format!("changed: {}\n", files(&answer.changed, here.as_deref()))
    };
    let phases = answer.round.timings.phases();
    Told {
        changed,
        statistics: format!(
            "ran {}\ntook {}\n",
            queries(&answer.reran(db)),
            times(answer.gathering, answer.working, phases)
        ),
        timings: String::new(),
    }
}

/// How much is watched, and how.
pub(super) fn watching(files: usize, mode: &WatchMode) -> String {
    let plural = if files == 1 { "" } else { "s" };
    match mode {
        WatchMode::Notified => format!("watching {files} file{plural}"),
        WatchMode::Polling(None) => format!("polling {files} file{plural}"),
        WatchMode::Polling(Some(why)) => format!("polling {files} file{plural} ({why})"),
    }
}

fn files(paths: &[Utf8PathBuf], here: Option<&Utf8Path>) -> String {
    let short = |p: &Utf8PathBuf| match here.and_then(|h| p.strip_prefix(h).ok()) {
        Some(here) if here == "" => ".".to_owned(),
        other => other.unwrap_or(p).to_string(),
    };
    let most = match paths.len() {
        n if n <= MOST_FILES => n,
        _ => MOST_FILES - 1,
    };
    let mut out = paths[..most]
        .iter()
        .map(short)
        .collect::<Vec<_>>()
        .join(", ");
    if most < paths.len() {
        let _ = write!(out, " and {} more", paths.len() - most);
    }
    out
}

fn queries(reran: &Reran) -> String {
    let all = reran.executed + reran.validated;
    let mut out = format!("{} of {all} queries", reran.executed);
    if !reran.stages.is_empty() {
        let stages = reran.stages.iter();
        let stages: Vec<_> = stages
            .map(|s| format!("{} {}", s.stage, s.executed))
            .collect();
        let _ = write!(out, ": {}", stages.join(", "));
    }
    if !reran.functions.is_empty() {
        let _ = write!(out, "; {}", reran.functions.join(", "));
    }
    out
}

fn times(
    gathering: Duration,
    working: Duration,
    phases: impl Iterator<Item = (&'static str, Duration)>,
) -> String {
    let ms = |d: Duration| format!("{:.1} ms", d.as_secs_f64() * 1e3);
    let mut parts = Vec::new();
    if gathering >= SHORTEST {
        parts.push(format!("gathering {}", ms(gathering)));
    }
    for (name, took) in phases.filter(|(_, took)| *took >= SHORTEST) {
        parts.push(format!("{name} {}", ms(took)));
    }
    let total = ms(gathering + working);
    if parts.is_empty() {
        total
    } else {
        format!("{total}: {}", parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use taipan_watch::StageCount;

    use super::*;

    #[test]
    fn few_files_are_named() {
        let paths: Vec<Utf8PathBuf> = ["/p/a.py", "/p/q/b.py", "/c.py", "/d.py"]
            .map(Into::into)
            .to_vec();
        let here = Some(Utf8Path::new("/p"));
        assert_eq!(files(&paths[..3], here), "a.py, q/b.py, /c.py");
        assert_eq!(files(&paths, here), "a.py, q/b.py and 2 more");
        assert_eq!(files(&["/p".into()], here), ".");
    }

    #[test]
    fn rounds_in_words() {
        let reran = Reran {
            executed: 3,
            validated: 40,
            stages: vec![StageCount {
                stage: "parse",
                executed: 1,
                validated: 0,
            }],
            functions: vec!["m.f".to_owned()],
        };
        expect!["3 of 43 queries: parse 1; m.f"].assert_eq(&queries(&reran));
        let ms = Duration::from_millis;
        let phases = [("import", ms(2)), ("annotate", Duration::ZERO)];
        expect!["14.0 ms: gathering 10.0 ms, import 2.0 ms"].assert_eq(&times(
            ms(10),
            ms(4),
            phases.into_iter(),
        ));
    }
}
