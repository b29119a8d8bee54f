//! After any sequence of edits every artifact is what a fresh database gives.
//!
//! Three targets: `edits`, of small programs; `project-edits`, of generated ones; `fixture-edits`, of
//! those in fixtures/.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use fastrand::Rng;
use taipan_base::{Db, Diagnostic, LineIndex, Span};
use taipan_benches::{EditKind, Flaw, Project};
use taipan_driver::{EmitForm, EmitRequest, Stage, Timings, emit};
use taipan_testkit::fuzz::{Choices, Target};
use taipan_testkit::{edited, slightly_damaged};
use taipan_workbench::Workbench;

/// Texts by path.
type Files = BTreeMap<String, String>;

fn path(file: &str) -> Utf8PathBuf {
    format!("/{file}").into()
}

fn workbench(files: &Files, target: &str) -> Workbench {
    Workbench::of_files(
        files.iter().map(|(file, text)| (path(file), text)),
        path(target),
    )
}

fn write(bench: &mut Workbench, files: &[(String, String)]) {
    bench.edit_all(files.iter().map(|(file, text)| (path(file), text)));
}

fn place(bench: &Workbench, span: Option<Span>) -> String {
    let Some(span) = span else {
        return "nowhere".to_owned();
    };
    let text = span.file.text(&bench.db);
    let (line, column) = LineIndex::new(text).line_column(text, span.range.start);
    format!("{}:{line}:{column}", span.file.path(&bench.db))
}

fn diagnostic(bench: &Workbench, d: &Diagnostic, out: &mut String) {
    let _ = writeln!(out, "{} {} {}", place(bench, d.primary), d.code, d.message);
    for n in &d.notes {
        let _ = writeln!(out, "    {} {}", place(bench, n.span), n.message);
    }
}

/// Everything that can be said of the program, as text.
fn artifacts(bench: &Workbench, native: bool) -> String {
    let mut out = String::new();
    for d in &bench.check().diagnostics {
        diagnostic(bench, d, &mut out);
    }
    if !out.is_empty() {
        return out;
    }
    // Before anything else asks for graphs: what is kept linked knows by itself what has changed.
    if native {
        let _ = match bench.compile() {
            Ok(bytes) => writeln!(out, "{bytes:?}"),
            Err(e) => writeln!(out, "{e:?}"),
        };
    }
    let stages: &[Stage] = if native {
        &[Stage::Annotations, Stage::Rtyped, Stage::Gc]
    } else {
        &[Stage::Annotations, Stage::Rtyped]
    };
    for stage in stages {
        let request = EmitRequest {
            stage: *stage,
            file: bench.target.clone(),
            func: None,
            inputs: None,
            form: EmitForm::Text,
            targets: Vec::new(),
        };
        match emit(&bench.db, &bench.options, &request, &mut Timings::default()) {
            Ok(text) => out.push_str(&text),
            Err(e) => {
                let _ = writeln!(out, "{e:?}");
            }
        }
    }
    out
}

/// The first lines that differ.
fn difference(warm: &str, fresh: &str) -> String {
    let mut out = String::new();
    let (mut a, mut b) = (warm.lines(), fresh.lines());
    let mut header = "";
    loop {
        match (a.next(), b.next()) {
            (None, None) => return out,
            (x, y) if x == y => {
                if let Some(x) = x.filter(|x| x.starts_with("graph")) {
                    header = x;
                }
            }
            (x, y) => {
                let short = |l: Option<&str>| -> String {
                    l.unwrap_or("(nothing)").chars().take(300).collect()
                };
                let _ = writeln!(
                    out,
                    "{header}\n  warm:  {}\n  fresh: {}",
                    short(x),
                    short(y)
                );
                if out.lines().count() > 12 {
                    return out;
                }
            }
        }
    }
}

/// Applies random edits to a generated program, valid and invalid ones.
fn try_project(choices: &mut Choices<'_>, functions: usize, edits: usize, native: bool) {
    let seed = choices.number();
    let mut project = Project::generate(seed, functions);
    let mut rng = Rng::with_seed(seed);
    let mut warm = workbench(project.files(), Project::TARGET);
    artifacts(&warm, native);
    for n in 0..edits {
        let edit = match choices.below(8) {
            1 => {
                let flaw = choices.of(Flaw::ALL);
                project.edit(EditKind::Flaw(flaw), &mut rng)
            }
            2 => project.edit(EditKind::Revert, &mut rng),
            _ => Some(project.random_edit(&mut rng)),
        };
        let Some(edit) = edit else { continue };
        write(&mut warm, &edit.files);
        // Sometimes several edits come before anyone asks.
        if choices.below(4) == 1 {
            continue;
        }
        let fresh = workbench(project.files(), Project::TARGET);
        let (a, b) = (artifacts(&warm, native), artifacts(&fresh, native));
        assert!(
            a == b,
            "program {seed}, edit {n}: {:?} of {}\n{}",
            edit.kind,
            edit.what,
            difference(&a, &b)
        );
    }
}

#[test]
fn generated_programs() {
    let target = Target::new("project-edits").cases(2).bytes(128);
    target.run(|choices| try_project(choices, 60, 6, false));
}

#[test]
fn generated_programs_down_to_machine_code() {
    let target = Target::new("object-edits").cases(1).bytes(128);
    target.run(|choices| try_project(choices, 30, 3, true));
}

/// A program of two modules with a little of everything.
const SMALL: &[(&str, &str)] = &[
    ("main.py", include_str!("small/main.py")),
    ("shapes.py", include_str!("small/shapes.py")),
];

/// The texts that buffers had before, by path.
type Earlier = BTreeMap<String, Vec<Arc<str>>>;

/// Writes texts of open buffers.
fn write_buffers(bench: &mut Workbench, files: &Files, earlier: &Earlier) {
    for (file, text) in files {
        let earlier = earlier.get(file).map_or(&[][..], Vec::as_slice);
        bench.system.write_buffer(path(file), text, earlier.into());
    }
    let paths: Vec<Utf8PathBuf> = files.keys().map(|file| path(file)).collect();
    taipan_base::sync(&mut bench.db, &paths);
}

/// The texts that matter.
fn sifted(bench: &Workbench, earlier: &Earlier) -> Earlier {
    let sift = |(name, texts): (&String, &Vec<Arc<str>>)| {
        let file = bench.db.files().get(&bench.db, &path(name));
        let matter = taipan_code::texts_that_matter(&bench.db, file, texts);
        let kept = matter.into_iter().map(|i| texts[i].clone()).collect();
        (name.clone(), kept)
    };
    earlier.iter().map(sift).collect()
}

/// A few edits of a small program, each as likely to break it as not, and back: of files, or of open
/// buffers, in which what is broken keeps what it said last.
#[test]
fn small_programs() {
    let target = Target::new("edits").cases(8).bytes(256);
    target.run(|choices| {
        let original: Files = (SMALL.iter())
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
            .collect();
        let mut now = original.clone();
        let mut warm = workbench(&now, "main.py");
        let asked_first = choices.bool();
        let are_buffers = choices.bool();
        let mut earlier = Earlier::new();
        if asked_first {
            artifacts(&warm, false);
        }
        for _ in 0..1 + choices.below(4) {
            for _ in 0..1 + choices.below(2) {
                let (path, _) = choices.of(SMALL);
                let text = match choices.below(6) {
                    0 => original[path].clone(),
                    1 => slightly_damaged(&now[path], choices),
                    2 if are_buffers => slightly_damaged(&now[path], choices),
                    _ => edited(&now[path], choices),
                };
                if let Some(old) = now.insert(path.to_owned(), text)
                    && are_buffers
                {
                    earlier.entry(path.to_owned()).or_default().push(old.into());
                }
            }
            write_buffers(&mut warm, &now, &earlier);
            if choices.below(3) == 0 {
                continue;
            }
            let mut fresh = workbench(&now, "main.py");
            let matter = sifted(&fresh, &earlier);
            write_buffers(&mut fresh, &now, &matter);
            let (a, b) = (artifacts(&warm, false), artifacts(&fresh, false));
            let changes = now.iter().map(|(p, t)| line_difference(&original[p], t));
            let changes: String = changes.collect();
            assert!(a == b, "{changes}\n{}", difference(&a, &b));
        }
    });
}

/// A method that overrides another one goes and comes back: the one below it was bound to
/// the class meanwhile, and must not stay so.
#[test]
fn an_override_goes_and_comes_back() {
    const OVERRIDE: &str = "    def execute(self):\n        return 2\n";
    let program = format!(
        "\
class Base(object):
    def execute(self):
        return 1

class Left(Base):
    def other(self):
        return 5
{OVERRIDE}
class Right(Base):
    def execute(self):
        return 3

def run(c):
    return c.execute()

def left(c):
    return c.execute() + c.other()

def entry_point(argv):
    total = left(Left())
    for c in [Base(), Left(), Right()]:
        total += run(c)
    print total
    return 0
"
    );
    let without = program.replace(OVERRIDE, "");
    let file = "main.py".to_owned();
    let mut warm = workbench(&Files::from([(file.clone(), program.clone())]), &file);
    artifacts(&warm, false);
    for text in [without, program] {
        write(&mut warm, &[(file.clone(), text.clone())]);
        let fresh = workbench(&Files::from([(file.clone(), text)]), &file);
        let (a, b) = (artifacts(&warm, false), artifacts(&fresh, false));
        assert!(a == b, "{}", difference(&a, &b));
    }
}

/// Texts of the fixtures by path.
fn fixtures(dir: &Utf8Path, prefix: &str, out: &mut Files) {
    for entry in dir.read_dir_utf8().expect("fixtures").flatten() {
        let name = entry.file_name();
        if entry.path().is_dir() {
            fixtures(entry.path(), &format!("{prefix}{name}/"), out);
        } else if name.ends_with(".py") {
            let text = std::fs::read_to_string(entry.path()).expect("a program");
            out.insert(format!("{prefix}{name}"), text);
        }
    }
}

/// The programs of fixtures/ under edits that nobody would make, and back.
#[test]
fn fixtures_under_random_edits() {
    let root = Utf8Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/programs"));
    let mut files = Files::new();
    fixtures(root, "", &mut files);
    let mut targets: Vec<String> = files.keys().filter(|f| !f.contains('/')).cloned().collect();
    targets.push("quill/targetquill.py".to_owned());
    let target = Target::new("fixture-edits").cases(8).bytes(128);
    target.run(|choices| {
        let target = choices.one_of(&targets);
        let own: Vec<&String> = match target.split_once('/') {
            Some((folder, _)) => files.keys().filter(|f| f.starts_with(folder)).collect(),
            None => vec![target],
        };
        let mut now = files.clone();
        let mut warm = workbench(&now, target);
        artifacts(&warm, false);
        for _ in 0..1 + choices.below(3) {
            let file = choices.of(&own);
            let text = match choices.below(4) {
                0 => files[file].clone(),
                _ => edited(&now[file], choices),
            };
            now.insert(file.clone(), text.clone());
            write(&mut warm, &[(file.clone(), text.clone())]);
            let fresh = workbench(&now, target);
            let (a, b) = (artifacts(&warm, false), artifacts(&fresh, false));
            assert!(
                a == b,
                "{target}, an edit of {file}\n{}\n{}",
                line_difference(&files[file], &text),
                difference(&a, &b)
            );
        }
    });
}

fn line_difference(before: &str, after: &str) -> String {
    let gone = before.lines().filter(|l| !after.contains(l));
    let new = after.lines().filter(|l| !before.contains(l));
    let gone = gone.map(|l| format!("- {l}\n"));
    gone.chain(new.map(|l| format!("+ {l}\n"))).collect()
}
