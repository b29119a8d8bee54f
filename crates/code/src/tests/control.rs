//! Control flow.

use expect_test::expect;

use super::check;

#[test]
fn if_elif_else() {
    check(
        r#"
        def f(a, b):
            if a:
                x = 1
            elif b or not a:
                x = 2
            else:
                x = 3
            return x
        "#,
        expect![[r#"
            f(a, b)  stack 1
                  0  LoadFast a
                  1  JumpIfFalse 5
                  2  LoadConst 1
                  3  StoreFast x
                  4  Jump 14
              >   5  LoadFast b
                  6  JumpIfTrue 9
                  7  LoadFast a
                  8  JumpIfTrue 12
              >   9  LoadConst 2
                 10  StoreFast x
                 11  Jump 14
              >  12  LoadConst 3
                 13  StoreFast x
              >  14  LoadFast x
                 15  Return
        "#]],
    );
}

#[test]
fn constant_conditions() {
    check(
        r#"
        def f(a):
            while 1:
                if a: break
            while True:
                if 0:
                    dropped
                return a
        "#,
        expect![[r#"
            f(a)  stack 1
              >   0  LoadFast a
                  1  JumpIfFalse 3
                  2  Jump 4
              >   3  Jump 0
              >   4  Jump 5
              >   5  LoadFast a
                  6  Return
        "#]],
    );
}

#[test]
fn loops() {
    check(
        r#"
        def f(xs):
            for i, x in xs:
                if x: continue
                if i: break
            else:
                g()
            while xs:
                if i: break
                if x: continue
                h()
            else:
                g()
        "#,
        expect![[r#"
            f(xs)  stack 3
                  0  LoadFast xs
                  1  GetIter
              >   2  ForIter 14
                  3  UnpackSequence 2
                  4  StoreFast i
                  5  StoreFast x
                  6  LoadFast x
                  7  JumpIfFalse 9
                  8  Jump 2
              >   9  LoadFast i
                 10  JumpIfFalse 13
                 11  Pop
                 12  Jump 17
              >  13  Jump 2
              >  14  LoadGlobal g
                 15  Call 0
                 16  Pop
              >  17  LoadFast xs
                 18  JumpIfFalse 29
                 19  LoadFast i
                 20  JumpIfFalse 22
                 21  Jump 32
              >  22  LoadFast x
                 23  JumpIfFalse 25
                 24  Jump 17
              >  25  LoadGlobal h
                 26  Call 0
                 27  Pop
                 28  Jump 17
              >  29  LoadGlobal g
                 30  Call 0
                 31  Pop
              >  32  LoadConst None
                 33  Return
        "#]],
    );
}

#[test]
fn return_in_loop() {
    check(
        r#"
        def f(xs):
            for x in xs:
                for y in x:
                    if y:
                        return x
                    break
        "#,
        expect![[r#"
            f(xs)  stack 3
                  0  LoadFast xs
                  1  GetIter
              >   2  ForIter 15
                  3  StoreFast x
                  4  LoadFast x
                  5  GetIter
                  6  ForIter 14
                  7  StoreFast y
                  8  LoadFast y
                  9  JumpIfFalse 12
                 10  LoadFast x
                 11  Return
              >  12  Pop
                 13  Jump 14
              >  14  Jump 2
              >  15  LoadConst None
                 16  Return
        "#]],
    );
}

#[test]
fn try_except() {
    check(
        r#"
        def f(a):
            try:
                g()
            except A:
                x = 1
            except (B, C), e:
                x = e
            except D as e.attr:
                x = 3
            except:
                x = 4
            else:
                x = 5
            return x
        "#,
        expect![[r#"
            f(a)  stack 5
                  0  LoadGlobal g
                  1  Call 0
                  2  Pop
                  3  LoadConst 5
                  4  StoreFast x
                  5  Jump 41
              >   6  Dup
                  7  LoadGlobal A
                  8  ExcMatch
                  9  JumpIfFalse 15
                 10  Pop
                 11  Pop
                 12  LoadConst 1
                 13  StoreFast x
                 14  Jump 41
              >  15  Dup
                 16  LoadGlobal B
                 17  LoadGlobal C
                 18  BuildTuple 2
                 19  ExcMatch
                 20  JumpIfFalse 26
                 21  Pop
                 22  StoreFast e
                 23  LoadFast e
                 24  StoreFast x
                 25  Jump 41
              >  26  Dup
                 27  LoadGlobal D
                 28  ExcMatch
                 29  JumpIfFalse 36
                 30  Pop
                 31  LoadFast e
                 32  StoreAttr attr
                 33  LoadConst 3
                 34  StoreFast x
                 35  Jump 41
              >  36  Pop
                 37  Pop
                 38  LoadConst 4
                 39  StoreFast x
                 40  Jump 41
              >  41  LoadFast x
                 42  Return
              handler 0..3 -> 6, depth 0
        "#]],
    );
}

#[test]
fn reraise() {
    check(
        r#"
        def f(a):
            try:
                g()
            except A, e:
                if a:
                    raise
                try:
                    h()
                except B:
                    raise
                raise
        "#,
        expect![[r#"
            f(a)  stack 4
                  0  LoadGlobal g
                  1  Call 0
                  2  Pop
                  3  Jump 37
              >   4  Dup
                  5  LoadGlobal A
                  6  ExcMatch
                  7  JumpIfFalse 36
                  8  StoreFast .class1
                  9  Dup
                 10  StoreFast .value0
                 11  StoreFast e
                 12  LoadFast a
                 13  JumpIfFalse 17
                 14  LoadFast .value0
                 15  LoadFast .class1
                 16  Reraise
              >  17  LoadGlobal h
                 18  Call 0
                 19  Pop
                 20  Jump 33
              >  21  Dup
                 22  LoadGlobal B
                 23  ExcMatch
                 24  JumpIfFalse 32
                 25  StoreFast .class1
                 26  Dup
                 27  StoreFast .value0
                 28  Pop
                 29  LoadFast .value0
                 30  LoadFast .class1
                 31  Reraise
              >  32  Reraise
              >  33  LoadFast .value0
                 34  LoadFast .class1
                 35  Reraise
              >  36  Reraise
              >  37  LoadConst None
                 38  Return
              handler 0..3 -> 4, depth 0
              handler 17..20 -> 21, depth 0
        "#]],
    );
}

#[test]
fn try_finally() {
    check(
        r#"
        def f(a):
            try:
                g()
            finally:
                h()
        "#,
        expect![[r#"
            f(a)  stack 3
                  0  LoadGlobal g
                  1  Call 0
                  2  Pop
                  3  LoadGlobal h
                  4  Call 0
                  5  Pop
                  6  Jump 11
              >   7  LoadGlobal h
                  8  Call 0
                  9  Pop
                 10  Reraise
              >  11  LoadConst None
                 12  Return
              handler 0..3 -> 7, depth 0
        "#]],
    );
}

#[test]
fn leaving_finally() {
    check(
        r#"
        def f(xs):
            for x in xs:
                try:
                    if x == 1:
                        return g(x)
                    if x == 2:
                        break
                    if x == 3:
                        continue
                    i()
                finally:
                    h()
        "#,
        expect![[r#"
            f(xs)  stack 4
                  0  LoadFast xs
                  1  GetIter
              >   2  ForIter 46
                  3  StoreFast x
                  4  LoadFast x
                  5  LoadConst 1
                  6  Binary eq
                  7  JumpIfFalse 17
                  8  LoadGlobal g
                  9  LoadFast x
                 10  Call 1
                 11  LoadGlobal h
                 12  Call 0
                 13  Pop
                 14  Rot2
                 15  Pop
                 16  Return
              >  17  LoadFast x
                 18  LoadConst 2
                 19  Binary eq
                 20  JumpIfFalse 26
                 21  LoadGlobal h
                 22  Call 0
                 23  Pop
                 24  Pop
                 25  Jump 46
              >  26  LoadFast x
                 27  LoadConst 3
                 28  Binary eq
                 29  JumpIfFalse 34
                 30  LoadGlobal h
                 31  Call 0
                 32  Pop
                 33  Jump 2
              >  34  LoadGlobal i
                 35  Call 0
                 36  Pop
                 37  LoadGlobal h
                 38  Call 0
                 39  Pop
                 40  Jump 45
              >  41  LoadGlobal h
                 42  Call 0
                 43  Pop
                 44  Reraise
              >  45  Jump 2
              >  46  LoadConst None
                 47  Return
              handler 4..11 -> 41, depth 1
              handler 17..21 -> 41, depth 1
              handler 26..30 -> 41, depth 1
              handler 34..37 -> 41, depth 1
        "#]],
    );
}

#[test]
fn nested_finally() {
    check(
        r#"
        def f(a):
            try:
                try:
                    return g()
                except A:
                    return 1
                finally:
                    h()
            finally:
                i()
        "#,
        expect![[r#"
            f(a)  stack 4
                  0  LoadGlobal g
                  1  Call 0
                  2  LoadGlobal h
                  3  Call 0
                  4  Pop
                  5  LoadGlobal i
                  6  Call 0
                  7  Pop
                  8  Return
              >   9  Dup
                 10  LoadGlobal A
                 11  ExcMatch
                 12  JumpIfFalse 23
                 13  Pop
                 14  Pop
                 15  LoadConst 1
                 16  LoadGlobal h
                 17  Call 0
                 18  Pop
                 19  LoadGlobal i
                 20  Call 0
                 21  Pop
                 22  Return
              >  23  Reraise
              >  24  LoadGlobal h
                 25  Call 0
                 26  Pop
                 27  Reraise
              >  28  LoadGlobal i
                 29  Call 0
                 30  Pop
                 31  Reraise
              handler 0..2 -> 9, depth 0
              handler 0..2 -> 24, depth 0
              handler 9..16 -> 24, depth 0
              handler 23..24 -> 24, depth 0
              handler 0..5 -> 28, depth 0
              handler 9..19 -> 28, depth 0
              handler 23..28 -> 28, depth 0
        "#]],
    );
}

#[test]
fn return_in_finally() {
    check(
        r#"
        def f(a):
            for x in a:
                try:
                    return g()
                finally:
                    if x:
                        return 1
                    break
        "#,
        expect![[r#"
            f(a)  stack 4
                  0  LoadFast a
                  1  GetIter
                  2  ForIter 21
                  3  StoreFast x
                  4  LoadGlobal g
                  5  Call 0
                  6  LoadFast x
                  7  JumpIfFalse 10
                  8  LoadConst 1
                  9  Return
              >  10  Pop
                 11  Pop
                 12  Jump 21
              >  13  LoadFast x
                 14  JumpIfFalse 17
                 15  LoadConst 1
                 16  Return
              >  17  Pop
                 18  Pop
                 19  Pop
                 20  Jump 21
              >  21  LoadConst None
                 22  Return
              handler 4..6 -> 13, depth 1
        "#]],
    );
}

#[test]
fn try_except_else_finally() {
    check(
        r#"
        def f():
            try:
                a()
            except E:
                b()
            else:
                c()
            finally:
                d()
        "#,
        expect![[r#"
            f()  stack 4
                  0  LoadGlobal a
                  1  Call 0
                  2  Pop
                  3  LoadGlobal c
                  4  Call 0
                  5  Pop
                  6  Jump 18
              >   7  Dup
                  8  LoadGlobal E
                  9  ExcMatch
                 10  JumpIfFalse 17
                 11  Pop
                 12  Pop
                 13  LoadGlobal b
                 14  Call 0
                 15  Pop
                 16  Jump 18
              >  17  Reraise
              >  18  LoadGlobal d
                 19  Call 0
                 20  Pop
                 21  Jump 26
              >  22  LoadGlobal d
                 23  Call 0
                 24  Pop
                 25  Reraise
              >  26  LoadConst None
                 27  Return
              handler 0..3 -> 7, depth 0
              handler 0..18 -> 22, depth 0
        "#]],
    );
}

#[test]
fn with_statement() {
    check(
        r#"
        def f(a):
            with a as x, b() as (y, z):
                g(x)
            with a:
                return 1
        "#,
        expect![[r#"
            f(a)  stack 6
                  0  LoadFast a
                  1  Dup
                  2  LoadAttr __exit__
                  3  StoreFast .exit0
                  4  LoadAttr __enter__
                  5  Call 0
                  6  StoreFast x
                  7  LoadGlobal b
                  8  Call 0
                  9  Dup
                 10  LoadAttr __exit__
                 11  StoreFast .exit1
                 12  LoadAttr __enter__
                 13  Call 0
                 14  UnpackSequence 2
                 15  StoreFast y
                 16  StoreFast z
                 17  LoadGlobal g
                 18  LoadFast x
                 19  Call 1
                 20  Pop
                 21  LoadFast .exit1
                 22  LoadConst None
                 23  LoadConst None
                 24  LoadConst None
                 25  Call 3
                 26  Pop
                 27  Jump 38
              >  28  Dup2
                 29  LoadFast .exit1
                 30  Rot3
                 31  Rot2
                 32  LoadConst None
                 33  Call 3
                 34  JumpIfSuppressed 36
                 35  Reraise
              >  36  Pop
                 37  Pop
              >  38  LoadFast .exit0
                 39  LoadConst None
                 40  LoadConst None
                 41  LoadConst None
                 42  Call 3
                 43  Pop
                 44  Jump 55
              >  45  Dup2
                 46  LoadFast .exit0
                 47  Rot3
                 48  Rot2
                 49  LoadConst None
                 50  Call 3
                 51  JumpIfSuppressed 53
                 52  Reraise
              >  53  Pop
                 54  Pop
              >  55  LoadFast a
                 56  Dup
                 57  LoadAttr __exit__
                 58  StoreFast .exit2
                 59  LoadAttr __enter__
                 60  Call 0
                 61  Pop
                 62  LoadConst 1
                 63  LoadFast .exit2
                 64  LoadConst None
                 65  LoadConst None
                 66  LoadConst None
                 67  Call 3
                 68  Pop
                 69  Return
              >  70  Dup2
                 71  LoadFast .exit2
                 72  Rot3
                 73  Rot2
                 74  LoadConst None
                 75  Call 3
                 76  JumpIfSuppressed 78
                 77  Reraise
              >  78  Pop
                 79  Pop
                 80  LoadConst None
                 81  Return
              handler 14..21 -> 28, depth 0
              handler 6..38 -> 45, depth 0
              handler 61..63 -> 70, depth 0
        "#]],
    );
}

#[test]
fn leaving_with() {
    check(
        r#"
        def f(xs):
            for x in xs:
                with x:
                    if x.a: continue
                    break
        "#,
        expect![[r#"
            f(xs)  stack 7
                  0  LoadFast xs
                  1  GetIter
              >   2  ForIter 40
                  3  StoreFast x
                  4  LoadFast x
                  5  Dup
                  6  LoadAttr __exit__
                  7  StoreFast .exit0
                  8  LoadAttr __enter__
                  9  Call 0
                 10  Pop
                 11  LoadFast x
                 12  LoadAttr a
                 13  JumpIfFalse 21
                 14  LoadFast .exit0
                 15  LoadConst None
                 16  LoadConst None
                 17  LoadConst None
                 18  Call 3
                 19  Pop
                 20  Jump 2
              >  21  LoadFast .exit0
                 22  LoadConst None
                 23  LoadConst None
                 24  LoadConst None
                 25  Call 3
                 26  Pop
                 27  Pop
                 28  Jump 40
              >  29  Dup2
                 30  LoadFast .exit0
                 31  Rot3
                 32  Rot2
                 33  LoadConst None
                 34  Call 3
                 35  JumpIfSuppressed 37
                 36  Reraise
              >  37  Pop
                 38  Pop
                 39  Jump 2
              >  40  LoadConst None
                 41  Return
              handler 10..14 -> 29, depth 1
        "#]],
    );
}
