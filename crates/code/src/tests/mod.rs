//! Snapshots of disassembly, by construct.

mod control;
mod errors;
mod expressions;
mod incremental;
mod mutations;
mod pieces;
mod scopes;
mod statements;
mod texts;

use expect_test::Expect;
use taipan_base::LineIndex;
use taipan_testkit::TestDb;

use crate::{code, disassemble, module_codes, syntax_diagnostics, verify};

/// Compares the disassembly of all codes but the module's, or of the module's if
/// there is no other.
fn check(source: &str, expect: Expect) {
    let db = TestDb::with_fixture(source);
    let file = db.file("/main.py");
    let diagnostics = syntax_diagnostics(&db, file);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let ids = module_codes(&db, file).ids();
    let mut texts = Vec::new();
    for (i, id) in ids.iter().enumerate() {
        verify(&code(&db, *id)).unwrap();
        if i > 0 || ids.len() == 1 {
            texts.push(disassemble(&db, *id));
        }
    }
    expect.assert_eq(&texts.join("\n"));
}

/// Compares the diagnostics of a file, and what of it was compiled all the same:
/// the names of the codes, with a `!` where they raise SyntaxError.
fn check_errors(source: &str, expect: Expect) {
    let db = TestDb::with_fixture(source);
    let file = db.file("/main.py");
    let text = file.text(&db);
    let lines = LineIndex::new(text);
    let mut out = String::new();
    for d in syntax_diagnostics(&db, file).iter() {
        let range = d.primary.map(|s| s.range).unwrap_or_default();
        let (line, column) = lines.line_column(text, range.start);
        let shown = text.get(range.start as usize..range.end as usize);
        let shown = shown.unwrap_or("").lines().next().unwrap_or("");
        out += &format!("{line}:{column} {} [{shown}]\n", d.message);
    }
    for id in module_codes(&db, file).ids() {
        let code = code(&db, *id);
        verify(&code).unwrap();
        let mark = if code.poisoned { "!" } else { "" };
        out += &format!("{}{mark} ", id.qualname(&db));
    }
    expect.assert_eq(out.trim_end());
}
