//! Programs in tests/import_time run at import time and print what CPython 2.7 prints: the
//! `.out` files are CPython's output, which `tests/cpython.rs` of taipan checks where there is one.

use std::fs;
use std::path::Path;

#[path = "import_time/limits.rs"]
mod limits;

use expect_test::expect_file;
use taipan_interp::{image, image_diagnostics};
use taipan_testkit::TestDb;

#[test]
fn programs_print_what_cpython_prints() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import_time");
    let mut files: Vec<_> = fs::read_dir(&dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "py"))
        .collect();
    files.sort();
    for path in files {
        let db = TestDb::with_fixture(&format!(
            "#- /main.py\n{}",
            fs::read_to_string(&path).unwrap()
        ));
        let program = db.program();
        let mut out = image(&db, program).printed.clone();
        for d in image_diagnostics(&db, program).iter() {
            out.push_str(&format!("{path:?}: {} {}\n", d.code, d.message));
            for n in &d.notes {
                let place = n.span.map(|s| {
                    let text = s.file.text(&db);
                    let line = text[..s.range.start as usize].matches('\n').count() + 1;
                    format!("{}:{line}", s.file.path(&db))
                });
                out.push_str(&format!("  {} {}\n", place.unwrap_or_default(), n.message));
            }
        }
        expect_file![path.with_extension("out")].assert_eq(&out);
    }
}
