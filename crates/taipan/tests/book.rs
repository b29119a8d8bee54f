//! What the documentation shows is what happens: listings become files, command lines are run,
//! and their output is compared.
//!
//! A fenced code block says by the words after its fence what is done with it:
//!
//! | | |
//! | --- | --- |
//! | `LANGUAGE file=NAME` | becomes the file |
//! | `LANGUAGE append=NAME` | is added to the end of a file |
//! | `diff file=NAME` | is applied to a file |
//! | `console` | lines after `$ ` are run by a shell, and what they print has to be what follows; `...` stands for any text, on a line of its own for any lines, `in 0.12 s` for any time |
//! | `console fails` | the last of these commands ends with another exit code than 0 |
//! | `console interrupt` | one command, which is ended as soon as it has printed what follows |
//! | `sh` | is run by a shell whose home is the folder, and has to succeed; what it prints is not compared |
//! | `sh elsewhere` | is not run, for it needs the network, the super-user, minutes, or files that are not in the repository; lines that begin with `taipan` are command lines that it takes |
//! | `sh setup` | the same; `tests/newcomer` runs it |
//!
//! A page has a folder of its own, with a copy of `fixtures`; the chapters of the first part
//! share one.
//! `UPDATE_BOOK=1` puts what commands really print into the pages. `TAIPAN` names another
//! binary to run, `TAIPAN_BOOK_LOG=1` shows commands as they run.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what was looked at"
)]

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use regex::Regex;

/// The chapters that build on each other.
const FIRST: &[&str] = &[
    "first/hello.md",
    "first/tokens.md",
    "first/interpreter.md",
    "first/tests.md",
    "first/editor.md",
    "first/jit.md",
];

/// A command that prints what is expected may take so long.
const PATIENCE: Duration = Duration::from_secs(120);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

struct Listing {
    /// The words after the fence.
    words: Vec<String>,
    text: String,
    /// Where the text stands in the page.
    at: std::ops::Range<usize>,
    line: usize,
}

impl Listing {
    fn value(&self, name: &str) -> Option<&str> {
        let words = self.words.iter();
        let mut values = words.filter_map(|w| w.strip_prefix(name)?.strip_prefix('='));
        values.next()
    }

    fn is(&self, language: &str) -> bool {
        self.words.first().is_some_and(|w| w == language)
    }

    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|w| w == word)
    }
}

fn listings(page: &str) -> Vec<Listing> {
    let mut all = Vec::new();
    let mut open: Option<Listing> = None;
    for (event, at) in Parser::new(page).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                open = Some(Listing {
                    words: info.split_whitespace().map(str::to_owned).collect(),
                    text: String::new(),
                    at: at.end..at.end,
                    line: page[..at.start].matches('\n').count() + 1,
                });
            }
            Event::Text(text) => {
                if let Some(listing) = &mut open {
                    listing.text += &text;
                    listing.at = listing.at.start.min(at.start)..at.end;
                }
            }
            Event::End(TagEnd::CodeBlock) => all.extend(open.take()),
            _ => {}
        }
    }
    all
}

/// A page as it is followed.
struct Reader {
    folder: PathBuf,
    page: String,
    failures: String,
    /// What to put into the page, by place.
    updates: Vec<(std::ops::Range<usize>, String)>,
}

impl Reader {
    fn fail(&mut self, line: usize, what: &str) {
        writeln!(self.failures, "docs/{}:{line}: {what}\n", self.page).unwrap();
    }

    fn follow(&mut self, listing: &Listing) {
        let file = |name| self.folder.join::<&str>(name);
        if let Some(name) = listing.value("file") {
            let path = file(name);
            if listing.is("diff") {
                let old = std::fs::read_to_string(&path).unwrap_or_default();
                let new = diffy::Patch::from_str(&listing.text)
                    .map_err(|e| e.to_string())
                    .and_then(|p| diffy::apply(&old, &p).map_err(|e| e.to_string()));
                match new {
                    Ok(new) => std::fs::write(path, new).unwrap(),
                    Err(e) => self.fail(listing.line, &e),
                }
            } else {
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, &listing.text).unwrap();
            }
        } else if let Some(name) = listing.value("append") {
            let path = file(name);
            let old = std::fs::read_to_string(&path).unwrap();
            std::fs::write(path, old + &listing.text).unwrap();
        } else if listing.is("console") {
            self.console(listing);
        } else if listing.is("sh") {
            self.command_lines(listing);
            if !listing.has("elsewhere") && !listing.has("setup") {
                let (output, ok) = self.shell(&format!("set -e\n{}", listing.text), None);
                if !ok {
                    self.fail(listing.line, &format!("this fails:\n{output}"));
                }
            }
        } else if listing.words.is_empty() {
            self.fail(listing.line, "this listing does not say what it is");
        } else if listing.text.lines().any(|l| l.starts_with("$ ")) {
            self.fail(listing.line, "commands belong into a `console` listing");
        }
    }

    fn command_lines(&mut self, listing: &Listing) {
        for line in listing.text.replace("\\\n", " ").lines() {
            // Comments and the shell's own part are not Taipan's.
            let ends = ["  #", " > ", " 2> ", " | "].iter();
            let end = ends.filter_map(|e| line.find(e)).min();
            let line = line[..end.unwrap_or(line.len())].trim();
            let Some(words) = line.strip_prefix("taipan ") else {
                continue;
            };
            let Some(words) = shlex::split(words) else {
                self.fail(listing.line, &format!("`{line}`: a quote is not closed"));
                continue;
            };
            let words = std::iter::once("taipan".to_owned()).chain(words);
            if let Err(e) = taipan_cli::command().try_get_matches_from(words)
                && e.use_stderr()
            {
                self.fail(listing.line, &format!("`{line}`: {e}"));
            }
        }
    }

    fn console(&mut self, listing: &Listing) {
        let mut steps: Vec<(&str, String)> = Vec::new();
        for line in listing.text.lines() {
            match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => steps.push((command, String::new())),
                (None, Some((_, expected))) => *expected += &format!("{line}\n"),
                (None, None) => self.fail(listing.line, "this begins without a command"),
            }
        }
        let count = steps.len();
        let mut printed = String::new();
        let mut matched = true;
        for (i, (command, expected)) in steps.into_iter().enumerate() {
            let wanted = pattern(&expected);
            let fails = listing.has("fails") && i + 1 == count;
            let interrupt = listing.has("interrupt").then_some(&wanted);
            let started = Instant::now();
            let (output, ok) = self.shell(command, interrupt);
            if std::env::var_os("TAIPAN_BOOK_LOG").is_some() {
                eprintln!("[{:?}] $ {command}\n{output}", started.elapsed());
            }
            if ok == fails {
                self.fail(
                    listing.line,
                    &format!("`{command}`: exit code 0: {ok}\n{output}"),
                );
            }
            let same = wanted.is_match(&output);
            matched &= same;
            let shown = if same { &expected } else { &output };
            write!(printed, "$ {command}\n{shown}").unwrap();
        }
        if !matched {
            let what = format!(
                "expected:\n{}\nthe commands print:\n{printed}",
                listing.text
            );
            self.fail(listing.line, &what);
            self.updates.push((listing.at.clone(), printed));
        }
    }

    /// What a command prints on both streams, and whether its exit code is 0. With a pattern
    /// it is ended when its output matches.
    fn shell(&self, command: &str, until: Option<&Regex>) -> (String, bool) {
        let log = self.folder.join(".output");
        let output = std::fs::File::create(&log).unwrap();
        let taipan = std::env::var_os("TAIPAN").map(PathBuf::from);
        let taipan = taipan.unwrap_or_else(|| env!("CARGO_BIN_EXE_taipan").into());
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", taipan.parent().unwrap().display());
        // The command's own process group, so that all of it is ended.
        let mut child = Command::new("setsid")
            .args(["bash", "-c", command])
            .current_dir(&self.folder)
            .env("PATH", path)
            .env("HOME", &self.folder)
            .env_remove("TAIPANPATH")
            .stdin(Stdio::null())
            .stdout(output.try_clone().unwrap())
            .stderr(output)
            .spawn()
            .unwrap();
        let started = Instant::now();
        let text = || {
            let mut text = Vec::new();
            let mut file = std::fs::File::open(&log).unwrap();
            file.read_to_end(&mut text).unwrap();
            String::from_utf8_lossy(&text).into_owned()
        };
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return (text(), status.success() && until.is_none());
            }
            let late = started.elapsed() > PATIENCE;
            if late || until.is_some_and(|until| until.is_match(&text())) {
                let group = format!("-{}", child.id());
                let kill = Command::new("kill").args(["-INT", "--", &group]).status();
                assert!(kill.unwrap().success());
                std::thread::sleep(Duration::from_millis(50));
                let _ = child.kill();
                let _ = child.wait();
                return (text(), !late);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The pattern that expected output stands for.
fn pattern(expected: &str) -> Regex {
    let mut text = String::from(r"\A");
    let seconds = Regex::new(r" in \d+\\\.\d\d s\b").unwrap();
    for line in expected.lines() {
        if line == "..." {
            text += r"(?:.*\n)*?";
        } else {
            let parts: Vec<String> = line.split("...").map(regex::escape).collect();
            text += &seconds.replace_all(&parts.join(".*"), r" in \d+\.\d\d s");
            text += r"\n";
        }
    }
    text += r"\z";
    Regex::new(&text).unwrap()
}

/// Follows pages one after the other in one folder, and returns it with what is wrong.
fn follow(pages: &[&str]) -> (tempfile::TempDir, String) {
    let mut failures = String::new();
    let folder = tempfile::tempdir().unwrap();
    if pages != FIRST {
        copy(&root().join("fixtures"), &folder.path().join("fixtures"));
    }
    for page in pages {
        let path = root().join("docs").join(page);
        let mut text = std::fs::read_to_string(&path).unwrap();
        let mut reader = Reader {
            folder: folder.path().to_owned(),
            page: (*page).to_owned(),
            failures: String::new(),
            updates: Vec::new(),
        };
        for listing in listings(&text) {
            reader.follow(&listing);
        }
        if std::env::var_os("UPDATE_BOOK").is_some() && !reader.updates.is_empty() {
            for (at, new) in reader.updates.iter().rev() {
                text.replace_range(at.clone(), new);
            }
            std::fs::write(&path, text).unwrap();
        }
        failures += &reader.failures;
    }
    (folder, failures)
}

/// Copies a folder, without caches.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap();
        if path.is_dir() && name != ".taipan-cache" {
            copy(&path, &to.join(name));
        } else if path.is_file() {
            std::fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

/// All pages, as paths below docs/.
fn pages() -> Vec<String> {
    let docs = root().join("docs");
    let mut all = Vec::new();
    let mut waiting = vec![docs.clone()];
    while let Some(at) = waiting.pop() {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                let page = path.strip_prefix(&docs).unwrap();
                all.push(page.to_str().unwrap().to_owned());
            }
        }
    }
    all.sort();
    all
}

/// Who follows the first chapters has what `taipan init` makes.
#[test]
fn the_first_interpreter() {
    let (folder, failures) = follow(FIRST);
    assert!(failures.is_empty(), "{failures}");
    let template = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/init");
    for entry in std::fs::read_dir(template).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "py") {
            let name = path.file_name().unwrap();
            let ours = std::fs::read_to_string(folder.path().join(name)).unwrap();
            let init = std::fs::read_to_string(&path).unwrap();
            assert!(ours == init, "{name:?} is not what `taipan init` makes");
        }
    }
}

#[test]
fn pages_show_what_happens() {
    let mut failures = String::new();
    for page in pages().iter().filter(|p| !FIRST.contains(&p.as_str())) {
        failures += &follow(&[page]).1;
    }
    assert!(failures.is_empty(), "{failures}");
}

/// The table of contents names every page.
#[test]
fn the_book_has_every_page() {
    let summary = std::fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    for page in pages().iter().filter(|p| *p != "SUMMARY.md") {
        assert!(summary.contains(&format!("({page})")), "{page}");
    }
}

/// Every command has a page, and the list of commands in the book and in README.md has it.
#[test]
fn every_command_has_a_page() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
    let (index, readme) = (read("docs/commands/index.md"), read("README.md"));
    for command in taipan_cli::command().get_subcommands() {
        let name = command.get_name();
        let page = read(&format!("docs/commands/{name}.md"));
        assert!(page.starts_with(&format!("# taipan {name}\n")), "{name}");
        assert!(
            index.contains(&format!("[`taipan {name}`]({name}.md)")),
            "{name}"
        );
        let told = [format!("`taipan {name}"), format!("`{name}`")];
        assert!(told.iter().any(|t| readme.contains(t)), "{name}");
    }
}
