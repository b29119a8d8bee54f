//! Imports, variables and statements without use: which queries look for them after an edit.

use expect_test::expect;
use taipan_workbench::Workbench;

const MAIN: &str = "
import helper
def entry_point(argv):
    return helper.one()
";

const HELPER: &str = "
import os
def one():
    unused = 1
    return 1
";

fn codes(bench: &Workbench) -> String {
    let found = bench.check().diagnostics;
    let codes: Vec<&str> = found.iter().map(|d| d.code.as_str()).collect();
    codes.join(" ")
}

#[test]
fn one_file_is_looked_at_again() {
    const STAGES: &[&str] = &["mentioned_in", "mentioned_in_file", "unused_in_file"];
    let mut bench = Workbench::with(&[("/main.py", MAIN), ("/helper.py", HELPER)]);
    bench.db.log().record_from_now();
    assert_eq!(codes(&bench), "TP0020 TP0021");
    bench.db.take_log();
    // A body that takes nothing else from other modules.
    bench.edit("/main.py", &MAIN.replace("one()", "one() + 1"));
    assert_eq!(codes(&bench), "TP0020 TP0021");
    expect![[r#"
        mentioned_in_file /main.py
        unused_in_file /main.py
    "#]]
    .assert_eq(&bench.ran(STAGES));
    // A name that may be the import of another file.
    bench.edit(
        "/main.py",
        &MAIN.replace("one()", "one() + len(helper.os.name)"),
    );
    assert_eq!(codes(&bench), "TP0021");
    expect![[r#"
        mentioned_in /main.py
        mentioned_in_file /main.py
        unused_in_file /main.py
    "#]]
    .assert_eq(&bench.ran(STAGES));
}

/// Levels apply to results that are there.
#[test]
fn levels_run_no_stage_again() {
    let config = |rules: &str| format!("[tool.taipan.rules]\n{rules}\n");
    let mut bench = Workbench::with(&[
        ("/main.py", MAIN),
        ("/helper.py", HELPER),
        ("/pyproject.toml", &config("")),
    ]);
    bench.db.log().record_from_now();
    assert_eq!(codes(&bench), "TP0020 TP0021");
    bench.db.take_log();
    bench.edit("/pyproject.toml", &config("TP0020 = 'ignore'"));
    assert_eq!(codes(&bench), "TP0021");
    let stages = [
        "parse",
        "module_codes",
        "image",
        "flow_graph",
        "solve",
        "annotation",
        "rtyped_graph",
        "unused_in_file",
        "mentioned_in_file",
        "mentioned_in",
    ];
    assert_eq!(bench.ran(&stages), "");
}
