use expect_test::{Expect, expect};
use taipan_base::{Db, render_text};

use super::fixture;

fn check(text: &str, path: &str, expected: Expect) {
    let f = fixture(text);
    let file = f.db.files().get(&f.db, path.into());
    let found = crate::file_diagnostics(&f.db, &f.workspace, file);
    let shown: Vec<String> = found.iter().map(|d| render_text(&f.db, d, false)).collect();
    expected.assert_eq(&shown.join("\n\n"));
}

const PROGRAM: &str = "
#- /main.py
import used
def entry_point(argv):
    return used.f()
#- /used.py
def f():
    return 1
def g(x):
    return lambda: x
#- /unused.py
import used
def f(x):
    return lambda: x
def g():
    return used.f() +
";

#[test]
fn files_that_no_target_reaches() {
    check(PROGRAM, "/used.py", expect![]);
    check(
        PROGRAM,
        "/unused.py",
        expect![[r#"
            error[TP0001]: expected an expression
             --> /unused.py:5:22
              |
            5 |     return used.f() +
              |                      ^

            warning[TP0225]: an inner function uses the variable `x` of f()
             --> /unused.py:3:20
              |
            3 |     return lambda: x
              |                    ^ `x` is used here
              |
            note: f() starts here
             --> /unused.py:2:5
              |
            2 | def f(x):
              |     ^
              = note: no target of the workspace reaches this file
              = help: functions that run cannot make closures: pass the value as an argument, or keep it in an attribute of an object"#]],
    );
}

#[test]
fn names_of_such_files_are_known_as_well() {
    let f = fixture(&PROGRAM.replace("return used.f() +", "return used.$0f()"));
    let found = crate::definitions(&f.db, &f.workspace, f.position);
    let shown: Vec<String> = found.into_iter().map(|s| f.show(s)).collect();
    assert_eq!(shown, ["/used.py:1:5 f"]);
}
