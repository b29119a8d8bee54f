//! What an edit makes run again.

use taipan_base::ErrorCode;
use taipan_testkit::TestDb;

use super::function;
use crate::{flow_diagnostics, flow_graph};

const SOURCE: &str = "
N = 5
M = 6
def f(x):
    return g(x) + N
def g(x):
    return x - M
";

/// How often `flow_graph` runs for `f` and `g` after an edit of the source.
fn runs_after(from: &str, to: &str) -> usize {
    let mut db = TestDb::with_fixture(SOURCE);
    let program = db.program();
    let flow = |db: &TestDb| {
        for name in ["f", "g"] {
            assert!(flow_graph(db, function(db, program, name)).graph.is_ok());
        }
    };
    flow(&db);
    db.take_log();
    assert!(SOURCE.contains(from));
    db.edit("/main.py", &SOURCE.replace(from, to));
    flow(&db);
    db.take_log().get("flow_graph").copied().unwrap_or(0)
}

#[test]
fn the_body_of_one_function() {
    assert_eq!(runs_after("x - M", "x * M"), 1);
}

#[test]
fn a_comment() {
    assert_eq!(runs_after("def f", "# comment\n\ndef f"), 0);
}

#[test]
fn a_global_that_one_function_folded() {
    assert_eq!(runs_after("N = 5", "N = 7"), 1);
}

#[test]
fn a_global_that_nobody_read() {
    assert_eq!(runs_after("N = 5", "N = 5\nO = 3"), 0);
}

#[test]
fn errors_move_with_the_text_without_a_new_graph() {
    let source = "def f():\n    return undefined\n";
    let mut db = TestDb::with_fixture(source);
    let program = db.program();
    let place = |db: &TestDb| {
        let diagnostics = flow_diagnostics(db, function(db, program, "f"));
        let [d] = &diagnostics[..] else {
            panic!("{diagnostics:?}");
        };
        (d.code, d.primary.expect("a place").range.start)
    };
    assert_eq!(place(&db), (ErrorCode::UndefinedName, 20));
    db.take_log();
    db.edit("/main.py", &format!("\n\n{source}"));
    assert_eq!(place(&db), (ErrorCode::UndefinedName, 22));
    let log = db.take_log();
    assert_eq!(log.get("flow_graph"), None);
    assert_eq!(log.get("flow_diagnostics"), Some(&1));
}
