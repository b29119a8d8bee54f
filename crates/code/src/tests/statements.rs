//! Statements without control flow.

use expect_test::expect;

use super::check;

#[test]
fn assignments() {
    check(
        r#"
        def f(a, b):
            x = y = a
            a.b = x
            a[b] = x
            a[b:] = x
            x, (y, z) = a
            [x, y] = a
            x, y = y, x
            x, y, z = z, x, y
            x, y, z, w = 1, 2, 3, a
        "#,
        expect![[r#"
            f(a, b)  stack 4
                  0  LoadFast a
                  1  Dup
                  2  StoreFast x
                  3  StoreFast y
                  4  LoadFast x
                  5  LoadFast a
                  6  StoreAttr b
                  7  LoadFast x
                  8  LoadFast a
                  9  LoadFast b
                 10  StoreSubscr
                 11  LoadFast x
                 12  LoadFast a
                 13  LoadFast b
                 14  LoadConst None
                 15  SetSlice
                 16  LoadFast a
                 17  UnpackSequence 2
                 18  StoreFast x
                 19  UnpackSequence 2
                 20  StoreFast y
                 21  StoreFast z
                 22  LoadFast a
                 23  UnpackSequence 2
                 24  StoreFast x
                 25  StoreFast y
                 26  LoadFast y
                 27  LoadFast x
                 28  Rot2
                 29  StoreFast x
                 30  StoreFast y
                 31  LoadFast z
                 32  LoadFast x
                 33  LoadFast y
                 34  Rot3
                 35  Rot2
                 36  StoreFast x
                 37  StoreFast y
                 38  StoreFast z
                 39  LoadConst 1
                 40  LoadConst 2
                 41  LoadConst 3
                 42  LoadFast a
                 43  BuildTuple 4
                 44  UnpackSequence 4
                 45  StoreFast x
                 46  StoreFast y
                 47  StoreFast z
                 48  StoreFast w
                 49  LoadConst None
                 50  Return
        "#]],
    );
}

#[test]
fn augmented_assignments() {
    check(
        r#"
        def f(a, b):
            a += b
            a.x -= b
            a[b] *= b
            a[b:a] |= b
            g.y //= 2
        "#,
        expect![[r#"
            f(a, b)  stack 6
                  0  LoadFast a
                  1  LoadFast b
                  2  Binary inplace_add
                  3  StoreFast a
                  4  LoadFast a
                  5  Dup
                  6  LoadAttr x
                  7  LoadFast b
                  8  Binary inplace_sub
                  9  Rot2
                 10  StoreAttr x
                 11  LoadFast a
                 12  LoadFast b
                 13  Dup2
                 14  Binary getitem
                 15  LoadFast b
                 16  Binary inplace_mul
                 17  Rot3
                 18  StoreSubscr
                 19  LoadFast a
                 20  LoadFast b
                 21  LoadFast a
                 22  Dup3
                 23  GetSlice
                 24  LoadFast b
                 25  Binary inplace_or
                 26  Rot4
                 27  SetSlice
                 28  LoadGlobal g
                 29  Dup
                 30  LoadAttr y
                 31  LoadConst 2
                 32  Binary inplace_floordiv
                 33  Rot2
                 34  StoreAttr y
                 35  LoadConst None
                 36  Return
        "#]],
    );
}

#[test]
fn deletions() {
    check(
        r#"
        def f(a, b):
            del a.x, a[b], a[b:], b
            del (a)
        "#,
        expect![[r#"
            f(a, b)  stack 3
                  0  LoadFast a
                  1  DeleteAttr x
                  2  LoadFast a
                  3  LoadFast b
                  4  DeleteSubscr
                  5  LoadFast a
                  6  LoadFast b
                  7  LoadConst None
                  8  DelSlice
                  9  DeleteFast b
                 10  DeleteFast a
                 11  LoadConst None
                 12  Return
        "#]],
    );
}

#[test]
fn print_statements() {
    check(
        r#"
        print
        print a
        print a, b,
        print(a)
        print (a), b
        print >>f, a, b
        print >>f, a,
        print >>f
        print "%s" % a; print
        if a: print; print
        "#,
        expect![[r#"
            <module>  stack 2
                  0  PrintNewline
                  1  LoadName a
                  2  PrintItem
                  3  PrintNewline
                  4  LoadName a
                  5  PrintItem
                  6  LoadName b
                  7  PrintItem
                  8  LoadName a
                  9  PrintItem
                 10  PrintNewline
                 11  LoadName a
                 12  PrintItem
                 13  LoadName b
                 14  PrintItem
                 15  PrintNewline
                 16  LoadName f
                 17  LoadName a
                 18  Rot2
                 19  PrintItemTo
                 20  LoadName b
                 21  Rot2
                 22  PrintItemTo
                 23  PrintNewlineTo
                 24  LoadName f
                 25  LoadName a
                 26  Rot2
                 27  PrintItemTo
                 28  Pop
                 29  LoadName f
                 30  PrintNewlineTo
                 31  LoadConst '%s'
                 32  LoadName a
                 33  Binary mod
                 34  PrintItem
                 35  PrintNewline
                 36  PrintNewline
                 37  LoadName a
                 38  JumpIfFalse 42
                 39  PrintNewline
                 40  PrintNewline
                 41  Jump 42
              >  42  LoadConst None
                 43  Return
        "#]],
    );
}

#[test]
fn print_function() {
    check(
        r#"
        from __future__ import print_function
        print(a, file=b)
        "#,
        expect![[r#"
            <module>  stack 3
                  0  Import "__future__" level -1 from print_function
                  1  ImportFrom print_function
                  2  StoreName print_function
                  3  Pop
                  4  LoadName print
                  5  LoadName a
                  6  LoadName b
                  7  Call 1, file=
                  8  Pop
                  9  LoadConst None
                 10  Return
        "#]],
    );
}

#[test]
fn exec_statements() {
    check(
        r#"
        exec a
        exec a in b
        exec a in b, c
        exec(a, b, c)
        exec "x = 1" in {}
        "#,
        expect![[r#"
            <module>  stack 3
                  0  LoadName a
                  1  LoadConst None
                  2  LoadConst None
                  3  Exec
                  4  LoadName a
                  5  LoadName b
                  6  LoadConst None
                  7  Exec
                  8  LoadName a
                  9  LoadName b
                 10  LoadName c
                 11  Exec
                 12  LoadName a
                 13  LoadName b
                 14  LoadName c
                 15  Exec
                 16  LoadConst 'x = 1'
                 17  BuildDict 0
                 18  LoadConst None
                 19  Exec
                 20  LoadConst None
                 21  Return
        "#]],
    );
}

#[test]
fn imports() {
    check(
        r#"
        import a
        import a.b.c
        import a.b as c, d
        from a.b import c, d as e
        from . import x
        from ..y.z import w
        from m import (p,
                       q)
        from n import *
        "#,
        expect![[r#"
            <module>  stack 2
                  0  Import "a" level -1
                  1  StoreName a
                  2  Import "a.b.c" level -1
                  3  StoreName a
                  4  Import "a.b" level -1 leaf
                  5  StoreName c
                  6  Import "d" level -1
                  7  StoreName d
                  8  Import "a.b" level -1 from c, d
                  9  ImportFrom c
                 10  StoreName c
                 11  ImportFrom d
                 12  StoreName e
                 13  Pop
                 14  Import "" level 1 from x
                 15  ImportFrom x
                 16  StoreName x
                 17  Pop
                 18  Import "y.z" level 2 from w
                 19  ImportFrom w
                 20  StoreName w
                 21  Pop
                 22  Import "m" level -1 from p, q
                 23  ImportFrom p
                 24  StoreName p
                 25  ImportFrom q
                 26  StoreName q
                 27  Pop
                 28  Import "n" level -1 from *
                 29  ImportStar
                 30  LoadConst None
                 31  Return
        "#]],
    );
}

#[test]
fn absolute_imports() {
    check(
        r#"
        from __future__ import absolute_import
        import a
        from b import c
        "#,
        expect![[r#"
            <module>  stack 2
                  0  Import "__future__" level 0 from absolute_import
                  1  ImportFrom absolute_import
                  2  StoreName absolute_import
                  3  Pop
                  4  Import "a" level 0
                  5  StoreName a
                  6  Import "b" level 0 from c
                  7  ImportFrom c
                  8  StoreName c
                  9  Pop
                 10  LoadConst None
                 11  Return
        "#]],
    );
}

#[test]
fn asserts_and_raises() {
    check(
        r#"
        def f(a):
            assert a
            assert a > 1, "message"
            if a == 1:
                raise
            if a == 2:
                raise E
            if a == 3:
                raise E, a
            if a == 4:
                raise E(a)
            raise E, a, tb
        "#,
        expect![[r#"
            f(a)  stack 3
                  0  LoadFast a
                  1  JumpIfTrue 4
                  2  LoadGlobal AssertionError
                  3  Raise 1
              >   4  LoadFast a
                  5  LoadConst 1
                  6  Binary gt
                  7  JumpIfTrue 12
                  8  LoadGlobal AssertionError
                  9  LoadConst 'message'
                 10  Call 1
                 11  Raise 1
              >  12  LoadFast a
                 13  LoadConst 1
                 14  Binary eq
                 15  JumpIfFalse 17
                 16  Raise 0
              >  17  LoadFast a
                 18  LoadConst 2
                 19  Binary eq
                 20  JumpIfFalse 23
                 21  LoadGlobal E
                 22  Raise 1
              >  23  LoadFast a
                 24  LoadConst 3
                 25  Binary eq
                 26  JumpIfFalse 30
                 27  LoadGlobal E
                 28  LoadFast a
                 29  Raise 2
              >  30  LoadFast a
                 31  LoadConst 4
                 32  Binary eq
                 33  JumpIfFalse 38
                 34  LoadGlobal E
                 35  LoadFast a
                 36  Call 1
                 37  Raise 1
              >  38  LoadGlobal E
                 39  LoadFast a
                 40  LoadGlobal tb
                 41  Raise 3
        "#]],
    );
}

#[test]
fn definitions() {
    check(
        r#"
        @deco
        @other(1)
        def f(a, b=1, *args, **kwargs):
            "doc"
            pass

        @deco
        class C(A, B):
            """Doc."""
            x = 1
            def __init__(self):
                self.__private = C.__other__
            def m(self, __x):
                global g
                g = self._C__private
        class D: pass
        "#,
        expect![[r#"
            f(a, b, *args, **kwargs)  stack 1
              doc 'doc'
                  0  LoadConst None
                  1  Return

            C  stack 1
              doc 'Doc.'
                  0  LoadName __name__
                  1  StoreName __module__
                  2  LoadConst 'Doc.'
                  3  StoreName __doc__
                  4  LoadConst 1
                  5  StoreName x
                  6  MakeFunction <C.__init__>
                  7  StoreName __init__
                  8  MakeFunction <C.m>
                  9  StoreName m
                 10  LoadLocals
                 11  Return

            C.__init__(self)  stack 2
                  0  LoadGlobal C
                  1  LoadAttr __other__
                  2  LoadFast self
                  3  StoreAttr _C__private
                  4  LoadConst None
                  5  Return

            C.m(self, _C__x)  stack 1
                  0  LoadFast self
                  1  LoadAttr _C__private
                  2  StoreGlobal g
                  3  LoadConst None
                  4  Return

            D  stack 1
                  0  LoadName __name__
                  1  StoreName __module__
                  2  LoadLocals
                  3  Return
        "#]],
    );
}

#[test]
fn tuple_parameters() {
    check(
        r#"
        def f(a, (b, (c, d)), e=1):
            return lambda: b
        "#,
        expect![[r#"
            f(a, .1, e)  stack 2
              cells b
                  0  LoadFast .1
                  1  UnpackSequence 2
                  2  StoreDeref b
                  3  UnpackSequence 2
                  4  StoreFast c
                  5  StoreFast d
                  6  LoadClosure b
                  7  MakeFunction <f.<locals>.<lambda>>, closure 1
                  8  Return

            f.<locals>.<lambda>()  stack 1
              free b
                  0  LoadDeref b
                  1  Return
        "#]],
    );
}

#[test]
fn module_with_docstring() {
    check(
        r#"
        """Docstring."""
        x = 1
        "#,
        expect![[r#"
            <module>  stack 1
              doc 'Docstring.'
                  0  LoadConst 'Docstring.'
                  1  StoreName __doc__
                  2  LoadConst 1
                  3  StoreName x
                  4  LoadConst None
                  5  Return
        "#]],
    );
}
