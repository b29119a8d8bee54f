//! Snapshots of disassembly, by construct.

use expect_test::{Expect, expect};
use taipan_base::LineIndex;
use taipan_testkit::TestDb;

use crate::{disassemble, module_codes, syntax_diagnostics};

/// Compares the disassembly of all codes but the module's, or of the module's if
/// there is no other.
fn check(source: &str, expect: Expect) {
    let db = TestDb::with_fixture(source);
    let file = db.file("/main.py");
    let diagnostics = syntax_diagnostics(&db, file);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let ids: Vec<_> = module_codes(&db, file).ids().collect();
    let from = usize::from(ids.len() > 1);
    let text: Vec<_> = ids[from..].iter().map(|id| disassemble(&db, *id)).collect();
    expect.assert_eq(&text.join("\n"));
}

#[test]
fn simple_function() {
    check(
        "
        def f(x, y=2):
            z = x + y * 3
            if z > 4 and not x:
                return g(z, k=1)
            return -z
        ",
        expect![[r#"
            f(x, y)  stack 3
                  0  LoadFast x
                  1  LoadFast y
                  2  LoadConst 3
                  3  Binary mul
                  4  Binary add
                  5  StoreFast z
                  6  LoadFast z
                  7  LoadConst 4
                  8  Binary gt
                  9  JumpIfFalse 17
                 10  LoadFast x
                 11  JumpIfTrue 17
                 12  LoadGlobal g
                 13  LoadFast z
                 14  LoadConst 1
                 15  Call 1, k=
                 16  Return
              >  17  LoadFast z
                 18  Unary neg
                 19  Return
        "#]],
    );
}
