//! Whole programs are annotated without a complaint.

use camino::Utf8Path;
use expect_test::expect;
use taipan_testkit::TestDb;

use crate::{RootSet, Roots, annotation_diagnostics, specs_of};

fn fixture(dir: &Utf8Path, prefix: &str, out: &mut String) {
    let mut names: Vec<_> = dir
        .read_dir_utf8()
        .expect("fixtures")
        .filter_map(|e| Some(e.ok()?.into_path()))
        .collect();
    names.sort();
    for path in names {
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() {
            fixture(&path, &format!("{prefix}{name}/"), out);
        } else if name.ends_with(".py") {
            let text = std::fs::read_to_string(&path).expect("a program");
            out.push_str(&format!("#- {prefix}{name}\n{text}\n"));
        }
    }
}

/// What is wrong with the program in that file of fixtures/programs, and how many
/// functions it has.
fn annotate(target: &str) -> String {
    let root = Utf8Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/programs"
    ));
    let mut files = String::new();
    fixture(root, "/", &mut files);
    let db = TestDb::with_fixture(&files);
    let path = format!("/{target}").into();
    let program = taipan_base::Program::new(&db, path, vec![], 10_000_000);
    if let Some(d) = taipan_interp::image_diagnostics(&db, program).first() {
        return format!("import: {}", d.message);
    }
    let entry = match taipan_interp::entry_point(&db, program) {
        Ok(e) => *e,
        Err(d) => return d.message.clone(),
    };
    let roots = Roots::new(&db, program, RootSet::EntryPoint(entry), false);
    let mut out = String::new();
    for d in annotation_diagnostics(&db, roots).iter() {
        let place = d.primary.map_or(String::new(), |s| {
            let text = s.file.text(&db);
            let line = taipan_base::LineIndex::new(text)
                .line_column(text, s.range.start)
                .0;
            format!("{}:{line}: ", s.file.path(&db))
        });
        out.push_str(&format!("{place}{} {}\n", d.code, d.message));
        for n in &d.notes {
            out.push_str(&format!("    {}\n", n.message));
        }
    }
    if out.is_empty() {
        assert!(specs_of(&db, roots).len() > 3, "{target}");
    }
    out
}

#[test]
fn fixtures() {
    let root = Utf8Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/programs"
    ));
    let mut targets: Vec<String> = root
        .read_dir_utf8()
        .expect("fixtures")
        .filter_map(|e| Some(e.ok()?.into_path()))
        .filter(|p| p.extension() == Some("py"))
        .filter_map(|p| Some(p.file_name()?.to_owned()))
        .collect();
    targets.push("quill/targetquill.py".into());
    targets.sort();
    let mut out = String::new();
    for t in targets {
        let wrong = annotate(&t);
        if !wrong.is_empty() {
            out.push_str(&format!("{t}\n{wrong}"));
        }
    }
    expect![[""]].assert_eq(&out);
}
