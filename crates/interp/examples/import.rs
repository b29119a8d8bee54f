//! Runs the import time of a program and says what became of it:
//! `cargo run --release -p taipan-interp --example import -- FILE.py [PATH...] [--OPTION-OF-THE-TARGET...]`
//!
//! With the variable `EDITS` it makes the edits in that file: each line has a path, a text in that file, and another text,
//! separated by tabs. Each edit is taken back after the next import.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it is a program")]

use std::sync::Arc;
use std::time::Instant;

use camino::Utf8PathBuf;
use taipan_base::{Db, Files, LoadOptions, OsSystem, Program, System, WarmState};

/// That of the compiler.
#[global_allocator]
static ALLOCATOR: taipan_heap::Heap = taipan_heap::Heap;

#[salsa::db]
#[derive(Clone)]
struct Database {
    storage: salsa::Storage<Self>,
    system: Arc<OsSystem>,
    files: Files,
    warm: WarmState,
}

#[salsa::db]
impl salsa::Database for Database {}

#[salsa::db]
impl Db for Database {
    fn files(&self) -> &Files {
        &self.files
    }

    fn system(&self) -> &dyn System {
        &*self.system
    }

    fn warm(&self) -> &WarmState {
        &self.warm
    }

    fn fork(&self) -> Box<dyn Db> {
        Box::new(self.clone())
    }
}

/// Makes edits, and says how long the import after each takes and how much of it is replayed.
fn make_edits(db: &mut Database, program: Program, edits: &str) {
    for line in std::fs::read_to_string(edits).expect("edits").lines() {
        let [path, old, new] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("a path and two texts: {line}");
        };
        let original = std::fs::read_to_string(path).expect("a file");
        let [old, new] = [old, new].map(|text| text.replace("\\n", "\n"));
        let absolute = Utf8PathBuf::from(path).canonicalize_utf8().expect("a file");
        for text in [&original.replacen(&old, &new, 1), &original] {
            std::fs::write(path, text).expect("the file can be written");
            taipan_base::sync(db, std::slice::from_ref(&absolute));
            let start = Instant::now();
            taipan_interp::image(db, program);
            eprintln!(
                "{:.2} s, {:?} per cent replayed: {path} {old:?}",
                start.elapsed().as_secs_f64(),
                taipan_interp::replayed_steps(db, program)
            );
        }
    }
}

fn main() {
    let mut args = std::env::args().skip(1);
    let Some(target) = args.next() else {
        eprintln!("usage: import FILE.py [PATH...] [--OPTION-OF-THE-TARGET...]");
        std::process::exit(2);
    };
    let mut db = Database {
        storage: salsa::Storage::new(None),
        system: Arc::new(OsSystem::new(taipan_prelude::SHIPPED)),
        files: Files::default(),
        warm: WarmState::default(),
    };
    let target = Utf8PathBuf::from(target)
        .canonicalize_utf8()
        .expect("the target exists");
    let (options, path): (Vec<String>, Vec<String>) = args.partition(|a| a.starts_with("--"));
    let path: Vec<Utf8PathBuf> = path.into_iter().map(Into::into).collect();
    let options = LoadOptions {
        target_options: options,
        ..LoadOptions::limited(path, 1_000_000_000)
    };
    let program = Program::with_options(&db, target, options);
    let start = Instant::now();
    let image = taipan_interp::image(&db, program);
    let time = start.elapsed();
    print!("{}", image.printed);
    for d in &image.diagnostics {
        eprintln!("{}: {}", d.code, d.message);
        for n in &d.notes {
            let place = n.span.map_or_else(String::new, |s| {
                let text = s.file.text(&db);
                let line = text[..s.range.start as usize].matches('\n').count() + 1;
                format!("{}:{line} ", s.file.path(&db))
            });
            eprintln!("    {place}{}", n.message);
        }
    }
    let mut failed: Vec<_> = image
        .modules
        .iter()
        .filter_map(|(name, m)| Some((name, m.as_ref().err()?)))
        .collect();
    failed.sort_by_key(|(name, _)| (*name).clone());
    for (name, d) in failed {
        eprintln!("import of {name} in a function: {}", d.message);
    }
    if let Some(Err(d)) = &image.entry_point {
        eprintln!("entry point: {}", d.message);
    }
    eprintln!(
        "{} modules, {} objects, {} files, {:.2} ms",
        image.modules.len(),
        image.objects.len(),
        image.files.len(),
        time.as_secs_f64() * 1e3
    );
    if let Ok(edits) = std::env::var("EDITS") {
        make_edits(&mut db, program, &edits);
    }
}
