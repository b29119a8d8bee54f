//! Parses and compiles Python files, prints their diagnostics and the speed:
//! `cargo run --release -p taipan-code --example corpus -- DIR_OR_FILE...`

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it is a program")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use taipan_base::{FileContents, LineIndex, decode};
use taipan_code::{CodeKind, SourceText, code, text_codes, verify};
use taipan_testkit::TestDb;

fn collect(path: &Path, out: &mut Vec<PathBuf>) {
    if let Ok(entries) = std::fs::read_dir(path) {
        let mut entries: Vec<_> = entries.flatten().map(|e| e.path()).collect();
        entries.sort();
        for e in entries {
            collect(&e, out);
        }
    } else if path.extension().is_some_and(|e| e == "py") {
        out.push(path.to_owned());
    }
}

fn main() {
    let mut files = Vec::new();
    for arg in std::env::args().skip(1) {
        collect(Path::new(&arg), &mut files);
    }
    let db = TestDb::default();
    let (mut bytes, mut time, mut parse, mut bad) = (0, Duration::ZERO, Duration::ZERO, 0);
    for path in &files {
        let Ok(contents) = std::fs::read(path) else {
            continue;
        };
        let FileContents::Text(text) = decode(contents) else {
            eprintln!("{}: not UTF-8", path.display());
            continue;
        };
        bytes += text.len();
        let start = Instant::now();
        taipan_syntax::parse(&text);
        parse += start.elapsed();
        let name = path.display().to_string();
        let source = SourceText::new(&db, name.as_str(), &*text, CodeKind::Module);
        let start = Instant::now();
        let codes = text_codes(&db, source);
        time += start.elapsed();
        for id in codes.ids() {
            if let Err(e) = verify(&code(&db, *id)) {
                eprintln!("{name}: {}: {e}", id.qualname(&db));
            }
        }
        let lines = LineIndex::new(&text);
        for e in codes.errors(&db).iter() {
            let (line, column) = lines.line_column(&text, e.range.start);
            eprintln!("{name}:{line}:{column}: {}", e.problem);
        }
        bad += usize::from(!codes.errors(&db).is_empty());
    }
    let speed = |t: Duration| bytes as f64 / 1e6 / t.as_secs_f64();
    eprintln!(
        "{} files, {bad} with errors; parse {:.1} MB/s, parse and compile {:.1} MB/s",
        files.len(),
        speed(parse),
        speed(time)
    );
}
