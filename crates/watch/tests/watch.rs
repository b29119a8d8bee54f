//! The watch loop, without a command line: rounds, cancellation, what they report.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use taipan_base::WatchOptions;
use taipan_driver::{Database, LoadOptions, Timings, check, guarded, has_errors, load};
use taipan_watch::{Answer, Job, Watch, WatchEvent};
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(120);

const MAIN: &str = "\
from lib import twice

def entry_point(argv):
    print twice(len(argv))
    return 0
";
const LIB: &str = "def twice(n):\n    return n * 2\n";

/// Whether the program is free of errors.
type Verdict = Result<bool, String>;

struct Bench {
    dir: TempDir,
    watch: Watch<Verdict>,
    events: Receiver<WatchEvent<Verdict>>,
}

impl Bench {
    fn new(files: &[(&str, &str)], before: impl Fn() + Send + Sync + 'static) -> Bench {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let target = path(&dir, "main.py");
        let (sender, events) = channel();
        let work = move |db: &Database, timings: &mut taipan_driver::Timings| {
            timings.phase("check", || {
                let program =
                    load(db, &target, &LoadOptions::default()).map_err(|e| format!("{e:?}"))?;
                before();
                let found = guarded(|| check(db, program, &mut Timings::default()))
                    .map_err(|e| e.to_string())?;
                Ok(!has_errors(&found))
            })
        };
        let report = move |e| drop(sender.send(e));
        let watch = Watch::start(
            Database::default(),
            WatchOptions::default(),
            Job::new(Arc::new(work)),
            report,
        );
        Bench {
            dir,
            watch: watch.unwrap(),
            events,
        }
    }

    /// Saves at one stroke.
    fn write(&self, name: &str, text: &str) {
        let new = self.dir.path().join("new");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(new, self.dir.path().join(name)).unwrap();
    }

    /// Waits for the next round that is up to date.
    #[track_caller]
    fn answer(&mut self) -> Answer<Verdict> {
        loop {
            match self.events.recv_timeout(PATIENCE).expect("no answer") {
                WatchEvent::Changed(batch) => drop(self.watch.changed(&batch)),
                WatchEvent::Finished(round) => {
                    if let Some(answer) = self.watch.finished(*round) {
                        return answer;
                    }
                }
            }
        }
    }

    #[track_caller]
    fn verdict(&mut self) -> bool {
        self.answer().round.outcome.unwrap().unwrap()
    }
}

fn path(dir: &TempDir, name: &str) -> Utf8PathBuf {
    Utf8Path::from_path(dir.path()).unwrap().join(name)
}

#[test]
fn rounds_follow_changes() {
    let mut b = Bench::new(&[("main.py", MAIN), ("lib.py", LIB)], || ());
    let first = b.answer();
    assert_eq!(first.round.outcome, Ok(Ok(true)));
    assert!(first.changed.is_empty());
    assert!(first.reran(b.watch.db()).executed > 0);

    b.write("lib.py", "def twice(n):\n    return n * 3\n");
    let second = b.answer();
    assert_eq!(second.round.outcome, Ok(Ok(true)));
    assert_eq!(second.changed, [path(&b.dir, "lib.py")]);
    assert_eq!(second.reran(b.watch.db()).functions, ["lib.twice"]);

    b.write("lib.py", "def twice(n:\n");
    assert!(!b.verdict());
    std::fs::remove_file(b.dir.path().join("lib.py")).unwrap();
    assert!(!b.verdict());
    b.write("lib.py", LIB);
    assert!(b.verdict());
}

#[test]
fn imports_that_appear() {
    let main = format!("import more\n{MAIN}");
    let mut b = Bench::new(&[("main.py", &main), ("lib.py", LIB)], || ());
    assert!(!b.verdict());
    std::fs::create_dir(b.dir.path().join("more")).unwrap();
    b.write("more/__init__.py", "x = 1\n");
    while !b.verdict() {}
}

#[test]
fn asking_again_reruns() {
    let mut b = Bench::new(&[("main.py", MAIN), ("lib.py", LIB)], || ());
    assert!(b.verdict());
    b.watch.rerun();
    let again = b.answer();
    assert_eq!(again.round.outcome, Ok(Ok(true)));
    assert!(again.changed.is_empty());
    assert_eq!(again.reran(b.watch.db()).executed, 0);
}

#[test]
fn a_change_cancels_an_outdated_round() {
    // Every round of work waits until it is let go, before it asks for queries.
    let (go, gate) = channel::<()>();
    let (started, starts) = channel();
    let gate = std::sync::Mutex::new(gate);
    let before = move || {
        let _ = started.send(());
        let _ = gate.lock().unwrap().recv();
    };
    let mut b = Bench::new(&[("main.py", MAIN), ("lib.py", LIB)], before);
    starts.recv_timeout(PATIENCE).unwrap();
    go.send(()).unwrap();
    assert!(b.verdict());

    b.write("lib.py", "def twice(n):\n    return n * 4\n");
    let Ok(WatchEvent::Changed(batch)) = b.events.recv_timeout(PATIENCE) else {
        panic!("the change was not noticed");
    };
    assert!(b.watch.changed(&batch));
    starts.recv_timeout(PATIENCE).unwrap();
    // The next change comes while the round is under way: the round is let go only when
    // setting the input has begun to wait for it, or before; either way it is outdated.
    b.write("lib.py", "def twice(n):\n    return unknown\n");
    let lib = path(&b.dir, "lib.py");
    let batch = taipan_base::Batch {
        paths: vec![lib.clone()],
        first: std::time::Instant::now(),
    };
    go.send(()).unwrap();
    assert!(b.watch.changed(&batch));
    go.send(()).unwrap();
    let last = b.answer();
    assert_eq!(last.round.outcome, Ok(Ok(false)));
    assert_eq!(last.changed, [lib]);
    assert_eq!(last.round.number, 3);
}
