//! Graphs of small functions, construct by construct. All were compared with those of
//! RPython's own flow space.

mod calls;
mod comprehensions;
mod constants;
mod control;
mod errors;
mod exceptions;
mod generators;
mod incremental;

use expect_test::Expect;
use taipan_base::Program;
use taipan_graph::{Const, ObjId, assert_valid};
use taipan_interp::{Function, Name, image_diagnostics, module_global, target_module};
use taipan_testkit::TestDb;

use crate::{flow_graph, flow_text};

/// A global of the target module that is an object.
fn global(db: &TestDb, program: Program, name: &str) -> ObjId {
    let problems = image_diagnostics(db, program);
    assert!(problems.is_empty(), "{problems:#?}");
    let module = target_module(db, program).expect("the module loads");
    match module_global(db, Name::new(db, program, module, name)) {
        Some(Const::Obj(id)) => *id,
        other => panic!("{name} is {other:?}"),
    }
}

fn function(db: &TestDb, program: Program, name: &str) -> Function {
    Function::new(db, program, global(db, program, name))
}

/// The text of a function's graph, which is valid and in its canonical form.
fn text(db: &TestDb, func: Function) -> String {
    if let Ok(graph) = &flow_graph(db, func).graph {
        assert_valid(graph);
        let mut again = (**graph).clone();
        again.compact();
        assert_eq!(again, **graph);
    }
    flow_text(db, func)
}

/// Flows the function `f` of a source.
fn check(fixture: &str, expected: Expect) {
    let db = TestDb::with_fixture(fixture);
    expected.assert_eq(&text(&db, function(&db, db.program(), "f")));
}
