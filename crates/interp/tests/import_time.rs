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

/// A program depends on the variables of the environment that it asks for.
#[test]
fn variables_are_inputs_by_name() {
    let mut db = TestDb::with_fixture(
        "#- /main.py\nimport os\nprint os.environ.get('A'), os.getenv('B', 'none'), 'C' in os.environ\n",
    );
    let program = db.program();
    assert_eq!(image(&db, program).printed, "None none False\n");
    db.take_log();
    db.edit("<environment>/A", "1");
    assert_eq!(image(&db, program).printed, "1 none False\n");
    assert!(db.take_log().contains_key("image"));
    db.edit("<environment>/D", "2");
    assert_eq!(image(&db, program).printed, "1 none False\n");
    assert!(!db.take_log().contains_key("image"));
    db.edit("<environment>/C", "");
    assert_eq!(image(&db, program).printed, "1 none True\n");
}

/// A program sees the variables that it sets; the others are unchanged.
#[test]
fn the_environment_can_be_changed_at_import_time() {
    let mut db = TestDb::with_fixture(
        "#- /main.py
        import os
        os.environ['X'] = 'set'
        del os.environ['A']
        print sorted(os.environ), len(os.environ), os.environ.copy() == {'B': '2', 'X': 'set'}
        print os.environ.get('A'), os.environ['B'], sorted(os.environ.items())
        print os.environ.pop('B'), 'B' in os.environ, os.environ.setdefault('A', 'again')
        print sorted(os.environ.keys())
        try:
            os.environ['NONE']
        except KeyError, e:
            print e
        ",
    );
    for (name, value) in [("A", "1"), ("B", "2")] {
        db.edit(&format!("<environment>/{name}"), value);
    }
    let program = db.program();
    let expected = "['B', 'X'] 2 True\n\
                    None 2 [('B', '2'), ('X', 'set')]\n\
                    2 False again\n\
                    ['A', 'X']\n\
                    'NONE'\n";
    assert_eq!(image(&db, program).printed, expected);
}
