//! What an edit makes run again.

use expect_test::expect;
use taipan_base::File;
use taipan_testkit::TestDb;

use crate::{Code, CodeId, code, code_spans, function_imports, module_codes, syntax_diagnostics};

const SOURCE: &str = "
        import a

        def f(x):
            return x + 1

        def g(y):
            def h():
                return y
            return h

        class C(object):
            def m(self):
                return 3
        ";

/// All codes of a file, read through the queries that later stages use.
fn read(db: &TestDb, file: File) -> Vec<(CodeId, Code)> {
    let ids = module_codes(db, file).ids();
    ids.iter()
        .map(|id| (*id, (*code(db, *id)).clone()))
        .collect()
}

fn changed(db: &TestDb, before: &[(CodeId, Code)], after: &[(CodeId, Code)]) -> Vec<String> {
    assert_eq!(
        before.iter().map(|c| c.0).collect::<Vec<_>>(),
        after.iter().map(|c| c.0).collect::<Vec<_>>(),
    );
    let pairs = before.iter().zip(after);
    pairs
        .filter(|(a, b)| a.1 != b.1)
        .map(|(a, _)| a.0.qualname(db).to_string())
        .collect()
}

/// Edits a file by replacing a piece of its text, and answers which codes differ.
fn edit(from: &str, to: &str) -> (TestDb, Vec<String>) {
    let mut db = TestDb::with_fixture(SOURCE);
    let file = db.file("/main.py");
    let before = read(&db, file);
    let text = file.text(&db).replace(from, to);
    db.edit("/main.py", &text);
    db.take_log();
    let after = read(&db, file);
    let changed = changed(&db, &before, &after);
    (db, changed)
}

#[test]
fn editing_a_body_changes_its_code_alone() {
    let (db, changed) = edit("x + 1", "x + 2");
    assert_eq!(changed, ["f"]);
    expect![[r#"
        {
            "code": 1,
            "module_codes": 1,
        }
    "#]]
    .assert_debug_eq(&db.take_log());
}

#[test]
fn editing_a_nested_body_leaves_the_outer_code() {
    let (_, changed) = edit("return y", "return y * 2");
    assert_eq!(changed, ["g.<locals>.h"]);
}

#[test]
fn shifting_lines_changes_no_code() {
    let (db, changed) = edit("import a", "# A comment.\n\nimport a");
    assert!(changed.is_empty());
    expect![[r#"
        {
            "module_codes": 1,
        }
    "#]]
    .assert_debug_eq(&db.take_log());
}

#[test]
fn spans_follow_a_shift() {
    let (db, _) = edit("import a", "# A comment.\n\nimport a");
    let file = db.file("/main.py");
    let id = CodeId::new(&db, crate::Origin::File(file), "f", 0);
    let spans = code_spans(&db, id);
    let range = spans.name;
    assert_eq!(
        &file.text(&db)[range.start as usize..range.end as usize],
        "f"
    );
    assert_eq!(spans.instrs.len(), code(&db, id).instrs.len());
}

#[test]
fn a_removed_function_is_gone() {
    let mut db = TestDb::with_fixture(SOURCE);
    let file = db.file("/main.py");
    let id = CodeId::new(&db, crate::Origin::File(file), "f", 0);
    assert!(!code(&db, id).poisoned);
    db.edit("/main.py", "x = 1\n");
    assert!(code(&db, id).poisoned);
    assert!(syntax_diagnostics(&db, file).is_empty());
}

#[test]
fn imports_of_functions() {
    let source = "
        import a
        class C:
            import in_class
            def m(self):
                import b
                from c import d as e
        def f(x):
            def g():
                from . import h
            import b
        ";
    let mut db = TestDb::with_fixture(source);
    let file = db.file("/main.py");
    let imports = function_imports(&db, file);
    let text: Vec<_> = imports
        .iter()
        .map(|(id, i)| format!("{}: {} {:?}", id.qualname(&db), i.name, i.from))
        .collect();
    expect![[r#"
        [
            "C.m: b None",
            "C.m: c Some([\"d\"])",
            "f: b None",
            "f.<locals>.g:  Some([\"h\"])",
        ]
    "#]]
    .assert_debug_eq(&text);
    let text = file.text(&db).replace("import b", "import b; x = 1");
    db.edit("/main.py", &text);
    assert_eq!(imports, function_imports(&db, file));
}
