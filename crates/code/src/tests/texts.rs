//! Layout of the text, and texts that import-time code gives to `exec` and `eval`.

use expect_test::expect;
use taipan_testkit::TestDb;

use super::check;
use crate::{CodeKind, compile_text, disassemble};

/// Both texts must give the same codes.
fn same(a: &str, b: &str) {
    let code = |text: &str| {
        let db = TestDb::default();
        let id = compile_text(&db, "<text>", text, CodeKind::Module).unwrap();
        disassemble(&db, id)
    };
    assert_eq!(code(a), code(b));
}

#[test]
fn tabs_go_to_the_next_multiple_of_eight() {
    same(
        "if a:\n\tb\n        c\n    \td\n",
        "if a:\n    b\n    c\n    d\n",
    );
    same(
        "if a:\n    if b:\n\tc\n    d\n",
        "if a:\n    if b:\n        c\n    d\n",
    );
    same("if a:\n \x0c  b\n  c\n", "if a:\n  b\n  c\n");
}

#[test]
fn line_breaks() {
    same("a\r\nif b:\r\n  c\r\n", "a\nif b:\n  c\n");
    same("a\rb\r", "a\nb\n");
    same("a = b + \\\n  c\n", "a = b + c\n");
    same("if a and \\\r\n b: c", "if a and b: c");
    same("f(a, # one\n\n# two\n  b)\n", "f(a, b)\n");
    same("x = ('a' # one\n  'b'\n 'c')\n", "x = 'abc'\n");
    same("x = 'a\\\nb'\n", "x = 'ab'\n");
    same("x = '''a\r\nb'''\n", "x = 'a\\nb'\n");
}

#[test]
fn both_spellings() {
    same("raise E, v\n", "raise E, v\n");
    same("try: a\nexcept E, e: b\n", "try: a\nexcept E as e: b\n");
    same("print a\n", "print(a)\n");
    same("exec a in b\n", "exec(a, b)\n");
    same("x = 0777\n", "x = 0o777\n");
    same("x = a <> b\n", "x = a != b\n");
    same("x = `a`\n", "x =`(a)`\n");
}

#[test]
fn comments_and_blank_lines_are_no_indentation() {
    same(
        "if a:\n# x\n    b\n# y\n\n    c\n  # z\nd\n",
        "if a:\n    b\n    c\nd\n",
    );
}

#[test]
fn source_of_eval() {
    let db = TestDb::default();
    let id = compile_text(&db, "<text>", " a + 1\n", CodeKind::Eval).unwrap();
    expect![[r#"
        <module>  stack 2
              0  LoadName a
              1  LoadConst 1
              2  Binary add
              3  Return
    "#]]
    .assert_eq(&disassemble(&db, id));
    let error = |text| {
        compile_text(&db, "<text>", text, CodeKind::Eval)
            .unwrap_err()
            .problem
            .to_string()
    };
    assert_eq!(error("a = 1"), "expected an expression");
    assert_eq!(error("a; b"), "expected an expression");
    assert_eq!(error(""), "expected an expression");
    assert_eq!(error("a +"), "expected an expression");
}

#[test]
fn source_of_exec_with_definitions() {
    let db = TestDb::default();
    let text = "def f(x):\n    return x\n";
    let id = compile_text(&db, "<text>", text, CodeKind::Module).unwrap();
    expect![[r#"
        <module>  stack 1
              0  MakeFunction <f>
              1  StoreName f
              2  LoadConst None
              3  Return
    "#]]
    .assert_eq(&disassemble(&db, id));
    // The same text gives the same codes.
    let again = compile_text(&db, "<text>", text, CodeKind::Module);
    assert_eq!(again, Ok(id));
}

#[test]
fn words_that_newer_pythons_took() {
    check(
        r#"
        match = type = case = async = 1
        match(x)
        type (x).async
        print >>x.print, x.exec(await=1)
        "#,
        expect![[r#"
            <module>  stack 3
                  0  LoadConst 1
                  1  Dup
                  2  StoreName match
                  3  Dup
                  4  StoreName type
                  5  Dup
                  6  StoreName case
                  7  StoreName async
                  8  LoadName match
                  9  LoadName x
                 10  Call 1
                 11  Pop
                 12  LoadName type
                 13  LoadName x
                 14  Call 1
                 15  LoadAttr async
                 16  Pop
                 17  LoadName x
                 18  LoadAttr print
                 19  LoadName x
                 20  LoadAttr exec
                 21  LoadConst 1
                 22  Call 0, await=
                 23  Rot2
                 24  PrintItemTo
                 25  PrintNewlineTo
                 26  LoadConst None
                 27  Return
        "#]],
    );
}
