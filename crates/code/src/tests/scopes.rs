//! Which variable a name means.

use expect_test::expect;

use super::check;

#[test]
fn closures() {
    check(
        r#"
        def f(a, b):
            c = 1
            def g(x):
                def h():
                    return a + c + x
                return h
            b = c
            return g
        "#,
        expect![[r#"
            f(a, b)  stack 2
              cells a, c
                  0  LoadConst 1
                  1  StoreDeref c
                  2  LoadClosure a
                  3  LoadClosure c
                  4  MakeFunction <f.<locals>.g>, closure 2
                  5  StoreFast g
                  6  LoadDeref c
                  7  StoreFast b
                  8  LoadFast g
                  9  Return

            f.<locals>.g(x)  stack 3
              cells x
              free a, c
                  0  LoadClosure a
                  1  LoadClosure c
                  2  LoadClosure x
                  3  MakeFunction <f.<locals>.g.<locals>.h>, closure 3
                  4  StoreFast h
                  5  LoadFast h
                  6  Return

            f.<locals>.g.<locals>.h()  stack 2
              free a, c, x
                  0  LoadDeref a
                  1  LoadDeref c
                  2  Binary add
                  3  LoadDeref x
                  4  Binary add
                  5  Return
        "#]],
    );
}

#[test]
fn globals_and_builtins() {
    check(
        r#"
        def f():
            global x
            x = len(y)
            del x
            import z
            return z
        "#,
        expect![[r#"
            f()  stack 2
                  0  LoadGlobal len
                  1  LoadGlobal y
                  2  Call 1
                  3  StoreGlobal x
                  4  DeleteGlobal x
                  5  Import "z" level -1
                  6  StoreFast z
                  7  LoadFast z
                  8  Return
        "#]],
    );
}

#[test]
fn class_scopes() {
    check(
        r#"
        def f(a):
            class C(object):
                a = a
                b = 1
                def m(self):
                    return a, b, C
                c = [m for m in b]
            return C
        "#,
        expect![[r#"
            f(a)  stack 4
              cells a, C
                  0  LoadConst 'C'
                  1  LoadGlobal object
                  2  BuildTuple 1
                  3  LoadClosure C
                  4  LoadClosure a
                  5  MakeFunction <f.<locals>.C>, closure 2
                  6  BuildClass
                  7  StoreDeref C
                  8  LoadDeref C
                  9  Return

            f.<locals>.C  stack 3
              free C, a
                  0  LoadName __name__
                  1  StoreName __module__
                  2  LoadName a
                  3  StoreName a
                  4  LoadConst 1
                  5  StoreName b
                  6  LoadClosure C
                  7  LoadClosure a
                  8  MakeFunction <f.<locals>.C.m>, closure 2
                  9  StoreName m
                 10  BuildList 0
                 11  LoadName b
                 12  GetIter
              >  13  ForIter 18
                 14  StoreName m
                 15  LoadName m
                 16  ListAppend 2
                 17  Jump 13
              >  18  StoreName c
                 19  LoadLocals
                 20  Return

            f.<locals>.C.m(self)  stack 3
              free C, a
                  0  LoadDeref a
                  1  LoadGlobal b
                  2  LoadDeref C
                  3  BuildTuple 3
                  4  Return
        "#]],
    );
}

#[test]
fn global_in_outer_function() {
    check(
        r#"
        def f():
            global x
            x = 1
            def g():
                return x
        "#,
        expect![[r#"
            f()  stack 1
                  0  LoadConst 1
                  1  StoreGlobal x
                  2  MakeFunction <f.<locals>.g>
                  3  StoreFast g
                  4  LoadConst None
                  5  Return

            f.<locals>.g()  stack 1
                  0  LoadGlobal x
                  1  Return
        "#]],
    );
}

#[test]
fn comprehension_scopes() {
    check(
        r#"
        class C:
            a = 1
            b = (a + i for i in a)
            c = [a + i for i in a]
        "#,
        expect![[r#"
            C  stack 4
                  0  LoadName __name__
                  1  StoreName __module__
                  2  LoadConst 1
                  3  StoreName a
                  4  MakeFunction <C.<genexpr>>
                  5  LoadName a
                  6  GetIter
                  7  Call 1
                  8  StoreName b
                  9  BuildList 0
                 10  LoadName a
                 11  GetIter
              >  12  ForIter 19
                 13  StoreName i
                 14  LoadName a
                 15  LoadName i
                 16  Binary add
                 17  ListAppend 2
                 18  Jump 12
              >  19  StoreName c
                 20  LoadLocals
                 21  Return

            C.<genexpr>(.0)  stack 3 generator
                  0  LoadFast .0
              >   1  ForIter 9
                  2  StoreFast i
                  3  LoadGlobal a
                  4  LoadFast i
                  5  Binary add
                  6  Yield
                  7  Pop
                  8  Jump 1
              >   9  LoadConst None
                 10  Return
        "#]],
    );
}

#[test]
fn tuple_parameter_in_closure() {
    check(
        r#"
        def f((a, b), c):
            return lambda: (a, c)
        "#,
        expect![[r#"
            f(.0, c)  stack 2
              cells c, a
                  0  LoadFast .0
                  1  UnpackSequence 2
                  2  StoreDeref a
                  3  StoreFast b
                  4  LoadClosure a
                  5  LoadClosure c
                  6  MakeFunction <f.<locals>.<lambda>>, closure 2
                  7  Return

            f.<locals>.<lambda>()  stack 2
              free a, c
                  0  LoadDeref a
                  1  LoadDeref c
                  2  BuildTuple 2
                  3  Return
        "#]],
    );
}

#[test]
fn same_names() {
    check(
        r#"
        if x:
            def f(): return 1
        else:
            def f(): return 2
        g = lambda: 1, lambda: 2
        "#,
        expect![[r#"
            f()  stack 1
                  0  LoadConst 1
                  1  Return

            f#1()  stack 1
                  0  LoadConst 2
                  1  Return

            <lambda>()  stack 1
                  0  LoadConst 1
                  1  Return

            <lambda>#1()  stack 1
                  0  LoadConst 2
                  1  Return
        "#]],
    );
}

#[test]
fn unqualified_exec() {
    check(
        r#"
        def f(a):
            exec a
            return b + a
        "#,
        expect![[r#"
            f(a)  stack 3
                  0  LoadFast a
                  1  LoadConst None
                  2  LoadConst None
                  3  Exec
                  4  LoadName b
                  5  LoadFast a
                  6  Binary add
                  7  Return
        "#]],
    );
}

#[test]
fn class_global() {
    check(
        r#"
        class C:
            global x
            x = 1
            y = x
        "#,
        expect![[r#"
            C  stack 1
                  0  LoadName __name__
                  1  StoreName __module__
                  2  LoadConst 1
                  3  StoreGlobal x
                  4  LoadGlobal x
                  5  StoreName y
                  6  LoadLocals
                  7  Return
        "#]],
    );
}
