//! Generators: the graph of the function, and that of its body.

use expect_test::{Expect, expect};
use taipan_graph::{Const, ObjId};
use taipan_interp::{Function, Name, ObjData, Object, class_attr, object};
use taipan_testkit::TestDb;

use super::{function, text};
use crate::{flow_graph, object_names};

/// The class of the iterators: what the function's graph calls last.
fn iterator_class(db: &TestDb, func: Function) -> ObjId {
    let graph = flow_graph(db, func).graph.clone().expect("it flows");
    let names = object_names(db, func.program(db), &graph);
    let mut found = None;
    graph.for_each_const(&mut |c| {
        if let Const::Obj(id) = c
            && names
                .name(*id)
                .is_some_and(|n| n.ends_with("GeneratorIterator"))
        {
            found = Some(*id);
        }
    });
    found.expect("it makes an iterator")
}

/// The function that stands for the generator's body: `next` has it in its closure.
fn body(db: &TestDb, class: ObjId) -> ObjId {
    let program = db.program();
    let next = class_attr(db, Name::new(db, program, class, "next"));
    let Some((_, Const::Obj(next))) = next else {
        panic!("no next method");
    };
    match object(db, Object::new(db, program, *next)).as_deref() {
        Some(ObjData::Function(f)) => match f.closure[..] {
            [Some(Const::Obj(body))] => body,
            ref other => panic!("closure {other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

fn check(fixture: &str, expected: Expect) {
    let db = TestDb::with_fixture(fixture);
    let func = function(&db, "f");
    let body = body(&db, iterator_class(&db, func));
    let body = Function::new(&db, db.program(), body);
    expected.assert_eq(&(text(&db, func) + &text(&db, body)));
}

#[test]
fn two_yields() {
    check(
        "
        def f(n):
            for i in n:
                yield i
            yield 7
        ",
        expect![""],
    );
}

#[test]
fn next_method() {
    let db = TestDb::with_fixture("def f(n):\n    yield n\n");
    let func = function(&db, "f");
    let class = iterator_class(&db, func);
    let mut out = String::new();
    for name in ["__init__", "__iter__", "next"] {
        let method = class_attr(&db, Name::new(&db, db.program(), class, name));
        let Some((_, Const::Obj(method))) = method else {
            panic!("no {name} method");
        };
        out += &text(&db, Function::new(&db, db.program(), *method));
    }
    expect![""].assert_eq(&out);
}

#[test]
fn yield_inside_try() {
    check(
        "
        def f(l):
            try:
                yield l[0]
            except IndexError:
                yield 5
        ",
        expect![""],
    );
}

#[test]
fn generator_expression() {
    super::check(
        "
        def f():
            return list(x + 1 for x in (1, 2))
        ",
        expect![""],
    );
}
