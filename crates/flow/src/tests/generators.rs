//! Generators: the graph of the function, and that of its body.

use expect_test::{Expect, expect};
use taipan_base::Program;
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
fn body(db: &TestDb, program: Program, class: ObjId) -> ObjId {
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
    let func = function(&db, db.program(), "f");
    let body = body(&db, func.program(&db), iterator_class(&db, func));
    let body = Function::new(&db, func.program(&db), body);
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
        expect![[r#"
            graph f
            block0(n_0):
                v1 = simple_call(#rpython.flowspace.generator.Entry)
                v2 = setattr(v1, 'g_n', n_0)
                v3 = simple_call(#rpython.flowspace.generator.GeneratorIterator, v1)
                goto return(v3)
            return(v4)
            except(etype_5, evalue_6)
            graph f__next
            block0(entry_0):
                v1 = isinstance(entry_0, #rpython.flowspace.generator.Entry)
                switch v1
                    False: block1(entry_0)
                    True: block6(entry_0)
            block1(entry_2):
                v3 = isinstance(entry_2, #rpython.flowspace.generator.Resume1)
                switch v3
                    False: block2(entry_2)
                    True: block5(entry_2)
            block2(entry_4):
                v5 = isinstance(entry_4, #rpython.flowspace.generator.Resume2)
                switch v5
                    False: block3(entry_4)
                    True: block4()
            block3(entry_6):
                v7 = simple_call(#exceptions.AssertionError)
                v8 = type(v7)
                goto except(v8, v7)
            block4():
                v9 = simple_call(#exceptions.StopIteration)
                v10 = type(v9)
                goto except(v10, v9)
            block5(entry_11):
                v12 = getattr(entry_11, 'g_v')
                goto block8(v12)
            block6(entry_13):
                n_14 = getattr(entry_13, 'g_n')
                goto block7(n_14)
            block7(n_15):
                v16 = iter(n_15) @1
                goto block8(v16)
            block8(v17):
                i_18 = next(v17) @2
                canraise
                    ok: block9(v17, i_18)
                    #exceptions.StopIteration(last_exception_19, last_exc_value_20): block10()
            block9(v21, i_22):
                v23 = simple_call(#rpython.flowspace.generator.Resume1)
                v24 = setattr(v23, 'g_v', v21)
                v25 = newtuple(v23, i_22)
                goto return(v25)
            block10():
                v26 = simple_call(#rpython.flowspace.generator.Resume2)
                v27 = newtuple(v26, 7)
                goto return(v27)
            return(v28)
            except(etype_29, evalue_30)
        "#]],
    );
}

#[test]
fn next_method() {
    let db = TestDb::with_fixture("def f(n):\n    yield n\n");
    let func = function(&db, db.program(), "f");
    let class = iterator_class(&db, func);
    let mut out = String::new();
    for name in ["__init__", "__iter__", "next"] {
        let method = class_attr(&db, Name::new(&db, func.program(&db), class, name));
        let Some((_, Const::Obj(method))) = method else {
            panic!("no {name} method");
        };
        out += &text(&db, Function::new(&db, func.program(&db), *method));
    }
    expect![[r#"
        graph __init__
        block0(self_0, entry_1):
            v2 = setattr(self_0, 'current', entry_1) @2
            goto return(None)
        return(v3)
        except(etype_4, evalue_5)
        graph __iter__
        block0(self_0):
            goto return(self_0)
        return(v1)
        except(etype_2, evalue_3)
        graph next
        block0(self_0):
            entry_1 = getattr(self_0, 'current') @1
            v2 = setattr(self_0, 'current', None) @5
            v3 = is_(entry_1, None) @8
            v4 = bool(v3) @9
            switch v4
                False: block1(entry_1, self_0)
                True: block4()
        block1(entry_5, self_6):
            v7 = simple_call(#main.f__next, entry_5) @17
            v8 = len(v7) @18
            v9 = eq(v8, 2) @18
            v10 = bool(v9) @18
            switch v10
                False: block2()
                True: block3(v7, self_6)
        block2():
            v11 = simple_call(#exceptions.ValueError) @18
            v12 = type(v11) @18
            goto except(v12, v11)
        block3(v13, self_14):
            position_15 = getitem(v13, 0) @18
            value_16 = getitem(v13, 1) @18
            v17 = setattr(self_14, 'current', position_15) @23
            goto return(value_16)
        block4():
            v18 = simple_call(#exceptions.AssertionError, 'generator already executing') @13
            v19 = isinstance(v18, #__builtin__.type) @14
            switch v19
                False: block5(v18)
                True: block6(v18)
        block5(v20):
            v21 = type(v20) @14
            goto except(v21, v20)
        block6(v22):
            v23 = simple_call(v22) @14
            v24 = type(v23) @14
            goto except(v24, v23)
        return(v25)
        except(etype_26, evalue_27)
    "#]]
    .assert_eq(&out);
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
        expect![[r#"
            graph f
            block0(l_0):
                v1 = simple_call(#rpython.flowspace.generator.Entry)
                v2 = setattr(v1, 'g_l', l_0)
                v3 = simple_call(#rpython.flowspace.generator.GeneratorIterator, v1)
                goto return(v3)
            return(v4)
            except(etype_5, evalue_6)
            graph f__next
            block0(entry_0):
                v1 = isinstance(entry_0, #rpython.flowspace.generator.Entry)
                switch v1
                    False: block1(entry_0)
                    True: block5(entry_0)
            block1(entry_2):
                v3 = isinstance(entry_2, #rpython.flowspace.generator.Resume1)
                switch v3
                    False: block2(entry_2)
                    True: block4()
            block2(entry_4):
                v5 = isinstance(entry_4, #rpython.flowspace.generator.Resume2)
                switch v5
                    False: block3(entry_4)
                    True: block4()
            block3(entry_6):
                v7 = simple_call(#exceptions.AssertionError)
                v8 = type(v7)
                goto except(v8, v7)
            block4():
                v9 = simple_call(#exceptions.StopIteration)
                v10 = type(v9)
                goto except(v10, v9)
            block5(entry_11):
                l_12 = getattr(entry_11, 'g_l')
                goto block6(l_12)
            block6(l_13):
                v14 = getitem(l_13, 0) @2
                canraise
                    ok: block7(v14)
                    #exceptions.IndexError(last_exception_15, last_exc_value_16): block8()
                    #exceptions.Exception(last_exception_17, last_exc_value_18): except(last_exception_17, last_exc_value_18)
            block7(v19):
                v20 = simple_call(#rpython.flowspace.generator.Resume1)
                v21 = newtuple(v20, v19)
                goto return(v21)
            block8():
                v22 = simple_call(#rpython.flowspace.generator.Resume2)
                v23 = newtuple(v22, 5)
                goto return(v23)
            return(v24)
            except(etype_25, evalue_26)
        "#]],
    );
}

#[test]
fn generator_expression() {
    super::check(
        "
        def f():
            return list(x + 1 for x in (1, 2))
        ",
        expect![[r#"
            graph f
            block0():
                v0 = iter((1, 2)) @3
                v1 = simple_call(#main.f.<locals>.<genexpr>, v0) @4
                v2 = simple_call(#__builtin__.list, v1) @5
                goto return(v2)
            return(v3)
            except(etype_4, evalue_5)
        "#]],
    );
}

/// The original stops with an AssertionError at the assignment.
#[test]
fn value_of_a_yield() {
    check(
        "
        def f(n):
            x = yield n
            print x
            yield (yield n)
        ",
        expect![[r#"
            graph f
            block0(n_0):
                v1 = simple_call(#rpython.flowspace.generator.Entry)
                v2 = setattr(v1, 'g_n', n_0)
                v3 = simple_call(#rpython.flowspace.generator.GeneratorIterator, v1)
                goto return(v3)
            return(v4)
            except(etype_5, evalue_6)
            error TP0220: the value of a yield expression is not RPython
        "#]],
    );
}
