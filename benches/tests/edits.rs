//! After any sequence of edits every artifact is what a fresh database gives.
//!
//! `TAIPAN_EDITS` says how many edits to try per program, where the usual few are not
//! enough; `TAIPAN_EDITS_SEED` which ones.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use fastrand::Rng;
use taipan_base::{Diagnostic, LineIndex, MemorySystem, Span, System, sync};
use taipan_benches::{EditKind, Flaw, Project};
use taipan_driver::{
    Database, EmitForm, EmitRequest, LoadOptions, Stage, Timings, check, compile_native, emit, load,
};

/// Texts by path.
type Files = BTreeMap<String, String>;

struct Workbench {
    db: Database,
    system: Arc<MemorySystem>,
    target: Utf8PathBuf,
}

impl Workbench {
    fn new(files: &Files, target: &str) -> Workbench {
        let system = Arc::new(MemorySystem::new(taipan_prelude::SHIPPED));
        for (path, text) in files {
            system.write(format!("/{path}"), text);
        }
        Workbench {
            db: Database::new(system.clone() as Arc<dyn System>),
            system,
            target: format!("/{target}").into(),
        }
    }

    fn write(&mut self, files: &[(String, String)]) {
        let mut paths = Vec::new();
        for (path, text) in files {
            let path = Utf8PathBuf::from(format!("/{path}"));
            self.system.write(&path, text);
            paths.push(path);
        }
        sync(&mut self.db, &paths);
    }

    fn place(&self, span: Option<Span>) -> String {
        let Some(span) = span else {
            return "nowhere".to_owned();
        };
        let text = span.file.text(&self.db);
        let (line, column) = LineIndex::new(text).line_column(text, span.range.start);
        format!("{}:{line}:{column}", span.file.path(&self.db))
    }

    fn diagnostic(&self, d: &Diagnostic, out: &mut String) {
        let _ = writeln!(out, "{} {} {}", self.place(d.primary), d.code, d.message);
        for n in &d.notes {
            let _ = writeln!(out, "    {} {}", self.place(n.span), n.message);
        }
    }

    /// Everything that can be said of the program, as text.
    fn artifacts(&self, native: bool) -> String {
        let options = LoadOptions::default();
        let program = load(&self.db, &self.target, &options).expect("the target is there");
        let mut out = String::new();
        for d in check(&self.db, program, &mut Timings::default()) {
            self.diagnostic(&d, &mut out);
        }
        if !out.is_empty() {
            return out;
        }
        // Before anything else asks for graphs: what is kept linked knows by itself what has changed.
        if native {
            let object = compile_native(&self.db, &options, &self.target, &mut Timings::default());
            let _ = match object {
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
                file: self.target.clone(),
                func: None,
                inputs: None,
                form: EmitForm::Text,
                targets: Vec::new(),
            };
            match emit(&self.db, &options, &request, &mut Timings::default()) {
                Ok(text) => out.push_str(&text),
                Err(e) => {
                    let _ = writeln!(out, "{e:?}");
                }
            }
        }
        out
    }
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

fn number(name: &str, usual: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.and_then(|n| n.parse().ok()).unwrap_or(usual)
}

fn edits(usual: u64) -> u64 {
    number("TAIPAN_EDITS", usual)
}

/// Applies random edits to a generated program, valid and invalid ones.
fn try_project(seed: u64, functions: usize, edits: u64, native: bool) {
    let mut project = Project::generate(seed, functions);
    let mut rng = Rng::with_seed(seed ^ number("TAIPAN_EDITS_SEED", 0));
    let mut warm = Workbench::new(project.files(), Project::TARGET);
    warm.artifacts(native);
    for n in 0..edits {
        let edit = match rng.u32(0..8) {
            0 => {
                let flaw = *rng.choice(Flaw::ALL).expect("there are flaws");
                project.edit(EditKind::Flaw(flaw), &mut rng)
            }
            1 => project.edit(EditKind::Revert, &mut rng),
            _ => Some(project.random_edit(&mut rng)),
        };
        let Some(edit) = edit else { continue };
        warm.write(&edit.files);
        // Sometimes several edits come before anyone asks.
        if rng.u32(0..4) == 0 {
            continue;
        }
        let fresh = Workbench::new(project.files(), Project::TARGET);
        let (a, b) = (warm.artifacts(native), fresh.artifacts(native));
        assert!(
            a == b,
            "TAIPAN_EDITS_SEED={}: program {seed}, edit {n}: {:?} of {}\n{}",
            number("TAIPAN_EDITS_SEED", 0),
            edit.kind,
            edit.what,
            difference(&a, &b)
        );
    }
}

#[test]
fn generated_programs() {
    for seed in 0..2 {
        try_project(seed, 60, edits(6), false);
    }
}

#[test]
fn generated_programs_down_to_machine_code() {
    try_project(11, 30, edits(3), true);
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
    let mut warm = Workbench::new(&Files::from([(file.clone(), program.clone())]), &file);
    warm.artifacts(false);
    for text in [without, program] {
        warm.write(&[(file.clone(), text.clone())]);
        let fresh = Workbench::new(&Files::from([(file.clone(), text)]), &file);
        let (a, b) = (warm.artifacts(false), fresh.artifacts(false));
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

/// A random change of a text, which may well break it: a line goes or is doubled, a
/// number or an operator is another one, None comes in.
fn mutate(text: &str, rng: &mut Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..50 {
        if lines.is_empty() {
            break;
        }
        let at = rng.usize(0..lines.len());
        let line = lines[at].clone();
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        let replaced = match rng.u32(0..8) {
            0 => line.replacen(" + ", " - ", 1),
            1 => line.replacen('1', "2", 1),
            2 => line.replacen("return ", "return None and ", 1),
            3 => line.replacen('0', "'zero'", 1),
            4 => line.replacen("= ", "= None or ", 1),
            5 => line.replacen("self.", "self.other_", 1),
            6 => {
                lines.insert(at, line);
                break;
            }
            _ => {
                lines.remove(at);
                break;
            }
        };
        if replaced != line {
            lines[at] = replaced;
            break;
        }
    }
    lines.join("\n") + "\n"
}

/// The programs of fixtures/ under edits that nobody would make, and back.
#[test]
fn fixtures_under_random_edits() {
    let root = Utf8Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/programs"));
    let mut files = Files::new();
    fixtures(root, "", &mut files);
    let mut rng = Rng::with_seed(number("TAIPAN_EDITS_SEED", 0));
    let mut targets: Vec<String> = files.keys().filter(|f| !f.contains('/')).cloned().collect();
    targets.push("quill/targetquill.py".to_owned());
    for target in targets {
        let own: Vec<String> = match target.split_once('/') {
            Some((folder, _)) => files
                .keys()
                .filter(|f| f.starts_with(folder))
                .cloned()
                .collect(),
            None => vec![target.clone()],
        };
        let mut now = files.clone();
        let mut warm = Workbench::new(&now, &target);
        warm.artifacts(false);
        for n in 0..edits(1) {
            let file = rng.choice(&own).expect("there are files").clone();
            let text = match rng.u32(0..4) {
                0 if n > 0 => files[&file].clone(),
                _ => mutate(&now[&file], &mut rng),
            };
            now.insert(file.clone(), text.clone());
            warm.write(&[(file.clone(), text.clone())]);
            let fresh = Workbench::new(&now, &target);
            let (a, b) = (warm.artifacts(false), fresh.artifacts(false));
            assert!(
                a == b,
                "TAIPAN_EDITS_SEED={}: {target}, edit {n} of {file}\n{}\n{}",
                number("TAIPAN_EDITS_SEED", 0),
                line_difference(&files[&file], &text),
                difference(&a, &b)
            );
        }
    }
}

fn line_difference(before: &str, after: &str) -> String {
    let gone = before.lines().filter(|l| !after.contains(l));
    let new = after.lines().filter(|l| !before.contains(l));
    let gone = gone.map(|l| format!("- {l}\n"));
    gone.chain(new.map(|l| format!("+ {l}\n"))).collect()
}
