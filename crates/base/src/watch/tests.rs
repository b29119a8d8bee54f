//! Real files in a temporary folder. No test depends on how quick anything is: each
//! waits until every expected path has been reported.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use super::{Batch, FileWatcher, WatchMode, WatchOptions};

const PATIENCE: Duration = Duration::from_secs(60);

struct Place {
    _dir: TempDir,
    root: Utf8PathBuf,
    watcher: FileWatcher,
    batches: Receiver<Batch>,
}

impl Place {
    fn new(options: WatchOptions, files: &[&str]) -> Place {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap().to_owned();
        for file in files {
            write(&root.join(file), "old");
        }
        let (sender, batches) = channel();
        let watcher = FileWatcher::start(options, move |b| drop(sender.send(b)));
        Place {
            _dir: dir,
            root,
            watcher,
            batches,
        }
    }

    fn follow(&self, paths: &[&str]) {
        let paths: Vec<_> = paths.iter().map(|p| self.root.join(p)).collect();
        self.watcher.follow(&paths);
    }

    /// Waits until all of these have been reported; answers how many batches it took.
    #[track_caller]
    fn expect(&self, paths: &[&str]) -> usize {
        let mut missing: BTreeSet<_> = paths.iter().map(|p| self.root.join(p)).collect();
        let end = Instant::now() + PATIENCE;
        let mut batches = 0;
        while !missing.is_empty() {
            let rest = end.saturating_duration_since(Instant::now());
            let batch = self.batches.recv_timeout(rest);
            let batch = batch.unwrap_or_else(|_| panic!("not reported: {missing:?}"));
            assert!(batch.paths.is_sorted());
            batches += 1;
            for p in batch.paths {
                missing.remove(&p);
            }
        }
        batches
    }

    /// Nothing but this one is reported from now on until it is.
    #[track_caller]
    fn expect_only(&self, path: &str) {
        let batch = self
            .batches
            .recv_timeout(PATIENCE)
            .expect("nothing reported");
        assert_eq!(batch.paths, [self.root.join(path)]);
    }
}

fn write(path: &Utf8Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Each case by notification and by polling.
fn both(files: &[&str], case: impl Fn(&Place)) {
    for poll in [false, true] {
        let options = WatchOptions {
            poll,
            interval: Duration::from_millis(20),
            ..WatchOptions::default()
        };
        let place = Place::new(options, files);
        case(&place);
        let polls = matches!(place.watcher.mode(), WatchMode::Polling(_));
        assert_eq!(polls, poll, "{:?}", place.watcher.mode());
    }
}

#[test]
fn edits() {
    both(&["a.py", "b.py"], |p| {
        p.follow(&["a.py", "b.py"]);
        write(&p.root.join("a.py"), "new");
        p.expect(&["a.py"]);
        write(&p.root.join("b.py"), "newer");
        p.expect(&["b.py"]);
    });
}

#[test]
fn other_files_are_no_matter() {
    let p = Place::new(WatchOptions::default(), &["a.py", "b.py"]);
    p.follow(&["a.py"]);
    write(&p.root.join("b.py"), "new");
    write(&p.root.join("c.py"), "new");
    fs::read(p.root.join("a.py")).unwrap();
    write(&p.root.join("a.py"), "new");
    p.expect_only("a.py");
}

#[test]
fn files_are_reported_when_they_are_closed() {
    let options = WatchOptions {
        limit: PATIENCE,
        ..WatchOptions::default()
    };
    let p = Place::new(options, &["a.py"]);
    p.follow(&["a.py"]);
    let mut file = fs::File::create(p.root.join("a.py")).unwrap();
    for _ in 0..10 {
        std::thread::sleep(2 * options.settle);
        file.write_all(b"text\n").unwrap();
    }
    assert!(p.batches.try_recv().is_err());
    drop(file);
    p.expect_only("a.py");
}

#[test]
fn a_path_is_followed_once() {
    let p = Place::new(WatchOptions::default(), &["a.py"]);
    let a = p.root.join("a.py");
    assert_eq!(p.watcher.follow([&a]), std::slice::from_ref(&a));
    assert!(p.watcher.follow([&a]).is_empty());
}

#[test]
fn saving_by_rename() {
    both(&["a.py"], |p| {
        p.follow(&["a.py"]);
        for text in ["one", "three", "fifteen"] {
            write(&p.root.join(".a.py.tmp"), text);
            fs::rename(p.root.join(".a.py.tmp"), p.root.join("a.py")).unwrap();
            p.expect(&["a.py"]);
        }
        // With a backup, as some editors do.
        fs::rename(p.root.join("a.py"), p.root.join("a.py~")).unwrap();
        write(&p.root.join("a.py"), "after a backup");
        p.expect(&["a.py"]);
    });
}

#[test]
fn files_that_come_and_go() {
    both(&["a.py"], |p| {
        p.follow(&["a.py", "missing.py"]);
        write(&p.root.join("missing.py"), "");
        p.expect(&["missing.py"]);
        fs::remove_file(p.root.join("a.py")).unwrap();
        p.expect(&["a.py"]);
        fs::rename(p.root.join("missing.py"), p.root.join("a.py")).unwrap();
        p.expect(&["a.py", "missing.py"]);
    });
}

#[test]
fn folders_that_come_and_go() {
    both(&["other.py"], |p| {
        p.follow(&["pkg/sub/a.py", "pkg/__init__.py"]);
        write(&p.root.join("pkg/sub/a.py"), "one");
        p.expect(&["pkg/sub/a.py"]);
        write(&p.root.join("pkg/__init__.py"), "");
        p.expect(&["pkg/__init__.py"]);

        fs::remove_dir_all(p.root.join("pkg")).unwrap();
        p.expect(&["pkg/sub/a.py", "pkg/__init__.py"]);
        write(&p.root.join("pkg/sub/a.py"), "two is longer");
        p.expect(&["pkg/sub/a.py"]);
        // It is followed where it is now.
        write(&p.root.join("pkg/sub/a.py"), "three is longer still");
        p.expect(&["pkg/sub/a.py"]);

        fs::rename(p.root.join("pkg"), p.root.join("gone")).unwrap();
        p.expect(&["pkg/sub/a.py"]);
        fs::rename(p.root.join("gone"), p.root.join("pkg")).unwrap();
        p.expect(&["pkg/sub/a.py"]);
        write(&p.root.join("pkg/sub/a.py"), "four");
        p.expect(&["pkg/sub/a.py"]);
    });
}

#[test]
fn listings_of_folders() {
    both(&["pkg/a.py"], |p| {
        p.follow(&["pkg"]);
        write(&p.root.join("pkg/b.py"), "");
        p.expect(&["pkg"]);
        fs::remove_file(p.root.join("pkg/a.py")).unwrap();
        p.expect(&["pkg"]);
        fs::remove_dir_all(p.root.join("pkg")).unwrap();
        p.expect(&["pkg"]);
        fs::create_dir(p.root.join("pkg")).unwrap();
        p.expect(&["pkg"]);
        write(&p.root.join("pkg/c.py"), "");
        p.expect(&["pkg"]);
    });
}

#[test]
fn links_to_files() {
    both(&["real/a.py", "real/b.py"], |p| {
        symlink("real/a.py", p.root.join("link.py")).unwrap();
        p.follow(&["link.py"]);
        write(&p.root.join("real/a.py"), "what the link leads to");
        p.expect(&["link.py"]);
        symlink("real/b.py", p.root.join("new.py")).unwrap();
        fs::rename(p.root.join("new.py"), p.root.join("link.py")).unwrap();
        p.expect(&["link.py"]);
        write(&p.root.join("real/b.py"), "what it leads to now");
        p.expect(&["link.py"]);
    });
}

#[test]
fn links_to_folders() {
    both(&["one/a.py", "two/a.py"], |p| {
        symlink("one", p.root.join("link")).unwrap();
        // A link to itself leads nowhere and keeps nobody.
        symlink("loop", p.root.join("loop")).unwrap();
        p.follow(&["link/a.py", "loop/a.py"]);
        write(&p.root.join("one/a.py"), "behind the link");
        p.expect(&["link/a.py"]);
        fs::remove_file(p.root.join("link")).unwrap();
        symlink(p.root.join("two"), p.root.join("link")).unwrap();
        p.expect(&["link/a.py"]);
        write(&p.root.join("two/a.py"), "behind the link as it is now");
        p.expect(&["link/a.py"]);
    });
}

#[test]
fn many_files_at_once_are_few_batches() {
    let names: Vec<String> = (0..3000).map(|i| format!("p{}/m{i}.py", i % 30)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    both(&names, |p| {
        p.follow(&names);
        for name in &names {
            fs::write(p.root.join(name), "from another branch").unwrap();
        }
        let batches = p.expect(&names);
        assert!(batches < names.len() / 10, "{batches} batches");
    });
}

#[test]
fn lost_events_are_made_up_for() {
    let p = Place::new(WatchOptions::default(), &["a.py", "pkg/b.py"]);
    p.follow(&["a.py", "pkg/b.py", "missing.py"]);
    let lost = notify::Event::new(notify::EventKind::Other).set_flag(notify::event::Flag::Rescan);
    p.watcher
        .messages
        .send(super::Message::Happened(Ok(lost)))
        .unwrap();
    p.expect(&["a.py", "missing.py", "pkg/b.py"]);
    write(&p.root.join("pkg/b.py"), "still followed");
    p.expect(&["pkg/b.py"]);
}
