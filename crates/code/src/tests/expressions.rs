//! Expressions.

use expect_test::expect;

use super::check;

#[test]
fn simple_function() {
    check(
        r#"
        def f(x, y=2):
            z = x + y * 3
            if z > 4 and not x:
                return g(z, k=1)
            return -z
        "#,
        expect![[r#"
            f(x, y)  stack 3
                  0  LoadFast x
                  1  LoadFast y
                  2  LoadConst 3
                  3  Binary mul
                  4  Binary add
                  5  StoreFast z
                  6  LoadFast z
                  7  LoadConst 4
                  8  Binary gt
                  9  JumpIfFalse 17
                 10  LoadFast x
                 11  JumpIfTrue 17
                 12  LoadGlobal g
                 13  LoadFast z
                 14  LoadConst 1
                 15  Call 1, k=
                 16  Return
              >  17  LoadFast z
                 18  Unary neg
                 19  Return
        "#]],
    );
}

#[test]
fn literals() {
    check(
        r#"
        a = [1, -1, 0777, 0o17, 0xFFL, 10L, 9223372036854775808, -9223372036854775808]
        b = [1.5, 1e3, -2.5, 3j, True, None]
        c = ['a\x41\n\101', ur'\u0041\n', u'\u20ac' 'b', r'\n', b'x', "é", u"é"]
        d = (1, ('a', None))
        "#,
        expect![[r#"
            <module>  stack 8
                  0  LoadConst 1
                  1  LoadConst -1
                  2  LoadConst 511
                  3  LoadConst 15
                  4  LoadConst 255L
                  5  LoadConst 10L
                  6  LoadConst 9223372036854775808L
                  7  LoadConst -9223372036854775808
                  8  BuildList 8
                  9  StoreName a
                 10  LoadConst 1.5
                 11  LoadConst 1000.0
                 12  LoadConst -2.5
                 13  LoadConst 3.0j
                 14  LoadConst True
                 15  LoadConst None
                 16  BuildList 6
                 17  StoreName b
                 18  LoadConst 'aA\nA'
                 19  LoadConst u'A\\n'
                 20  LoadConst u'\u{20ac}b'
                 21  LoadConst '\\n'
                 22  LoadConst 'x'
                 23  LoadConst '\xc3\xa9'
                 24  LoadConst u'\u{e9}'
                 25  BuildList 7
                 26  StoreName c
                 27  LoadConst (1, ('a', None))
                 28  StoreName d
                 29  LoadConst None
                 30  Return
        "#]],
    );
}

#[test]
fn arithmetic() {
    check(
        r#"
        def f(a, b):
            return [a + b, a - b, a * b, a / b, a // b, a % b, a ** b, a << b, a >> b, a & b, a | b, a ^ b, ~a, +a, -a, not a, `a`]
        "#,
        expect![[r#"
            f(a, b)  stack 17
                  0  LoadFast a
                  1  LoadFast b
                  2  Binary add
                  3  LoadFast a
                  4  LoadFast b
                  5  Binary sub
                  6  LoadFast a
                  7  LoadFast b
                  8  Binary mul
                  9  LoadFast a
                 10  LoadFast b
                 11  Binary div
                 12  LoadFast a
                 13  LoadFast b
                 14  Binary floordiv
                 15  LoadFast a
                 16  LoadFast b
                 17  Binary mod
                 18  LoadFast a
                 19  LoadFast b
                 20  Binary pow
                 21  LoadFast a
                 22  LoadFast b
                 23  Binary lshift
                 24  LoadFast a
                 25  LoadFast b
                 26  Binary rshift
                 27  LoadFast a
                 28  LoadFast b
                 29  Binary and_
                 30  LoadFast a
                 31  LoadFast b
                 32  Binary or_
                 33  LoadFast a
                 34  LoadFast b
                 35  Binary xor
                 36  LoadFast a
                 37  Unary invert
                 38  LoadFast a
                 39  Unary pos
                 40  LoadFast a
                 41  Unary neg
                 42  LoadFast a
                 43  Not
                 44  LoadFast a
                 45  Unary repr
                 46  BuildList 17
                 47  Return
        "#]],
    );
}

#[test]
fn true_division() {
    check(
        r#"
        from __future__ import division
        def f(a, b):
            a /= b
            return a / b
        "#,
        expect![[r#"
            f(a, b)  stack 2
                  0  LoadFast a
                  1  LoadFast b
                  2  Binary inplace_truediv
                  3  StoreFast a
                  4  LoadFast a
                  5  LoadFast b
                  6  Binary truediv
                  7  Return
        "#]],
    );
}

#[test]
fn comparisons() {
    check(
        r#"
        def f(a, b, c):
            return a < b <= c, a in b, a not in b, a is b, a is not b, a == b != c, a <> b
        "#,
        expect![[r#"
            f(a, b, c)  stack 8
                  0  LoadFast a
                  1  LoadFast b
                  2  Dup
                  3  Rot3
                  4  Binary lt
                  5  JumpIfFalseOrPop 9
                  6  LoadFast c
                  7  Binary le
                  8  Jump 11
              >   9  Rot2
                 10  Pop
              >  11  LoadFast a
                 12  LoadFast b
                 13  Rot2
                 14  Binary contains
                 15  LoadFast a
                 16  LoadFast b
                 17  Rot2
                 18  Binary contains
                 19  Not
                 20  LoadFast a
                 21  LoadFast b
                 22  Binary is_
                 23  LoadFast a
                 24  LoadFast b
                 25  Binary is_
                 26  Not
                 27  LoadFast a
                 28  LoadFast b
                 29  Dup
                 30  Rot3
                 31  Binary eq
                 32  JumpIfFalseOrPop 36
                 33  LoadFast c
                 34  Binary ne
                 35  Jump 38
              >  36  Rot2
                 37  Pop
              >  38  LoadFast a
                 39  LoadFast b
                 40  Binary ne
                 41  BuildTuple 7
                 42  Return
        "#]],
    );
}

#[test]
fn boolean_operators() {
    check(
        r#"
        def f(a, b, c):
            x = a and b and c or a
            y = b if not (a and b) else c
            return x
        "#,
        expect![[r#"
            f(a, b, c)  stack 1
                  0  LoadFast a
                  1  JumpIfFalseOrPop 5
                  2  LoadFast b
                  3  JumpIfFalseOrPop 5
                  4  LoadFast c
              >   5  JumpIfTrueOrPop 7
                  6  LoadFast a
              >   7  StoreFast x
                  8  LoadFast a
                  9  JumpIfFalse 12
                 10  LoadFast b
                 11  JumpIfTrue 14
              >  12  LoadFast b
                 13  Jump 15
              >  14  LoadFast c
              >  15  StoreFast y
                 16  LoadFast x
                 17  Return
        "#]],
    );
}

#[test]
fn calls() {
    check(
        r#"
        def f(a):
            a()
            a(1, 2, k=3)
            a(*b)
            a(1, k=2, *b, **c)
            a.b.c(x)(y).z[0]
            return a(i for i in b)
        "#,
        expect![[r#"
            f(a)  stack 5
                  0  LoadFast a
                  1  Call 0
                  2  Pop
                  3  LoadFast a
                  4  LoadConst 1
                  5  LoadConst 2
                  6  LoadConst 3
                  7  Call 2, k=
                  8  Pop
                  9  LoadFast a
                 10  LoadGlobal b
                 11  Call 0, *
                 12  Pop
                 13  LoadFast a
                 14  LoadConst 1
                 15  LoadConst 2
                 16  LoadGlobal b
                 17  LoadGlobal c
                 18  Call 1, k=, *, **
                 19  Pop
                 20  LoadFast a
                 21  LoadAttr b
                 22  LoadAttr c
                 23  LoadGlobal x
                 24  Call 1
                 25  LoadGlobal y
                 26  Call 1
                 27  LoadAttr z
                 28  LoadConst 0
                 29  Binary getitem
                 30  Pop
                 31  LoadFast a
                 32  MakeFunction <f.<locals>.<genexpr>>
                 33  LoadGlobal b
                 34  GetIter
                 35  Call 1
                 36  Call 1
                 37  Return

            f.<locals>.<genexpr>(.0)  stack 2 generator
                  0  LoadFast .0
              >   1  ForIter 7
                  2  StoreFast i
                  3  LoadFast i
                  4  Yield
                  5  Pop
                  6  Jump 1
              >   7  LoadConst None
                  8  Return
        "#]],
    );
}

#[test]
fn subscripts() {
    check(
        r#"
        def f(a, i, j):
            a[i]
            a[i:j]
            a[:]
            a[i:]
            a[::2]
            a[i, j]
            a[i, 1:2]
            a[...]
        "#,
        expect![[r#"
            f(a, i, j)  stack 5
                  0  LoadFast a
                  1  LoadFast i
                  2  Binary getitem
                  3  Pop
                  4  LoadFast a
                  5  LoadFast i
                  6  LoadFast j
                  7  GetSlice
                  8  Pop
                  9  LoadFast a
                 10  LoadConst None
                 11  LoadConst None
                 12  GetSlice
                 13  Pop
                 14  LoadFast a
                 15  LoadFast i
                 16  LoadConst None
                 17  GetSlice
                 18  Pop
                 19  LoadFast a
                 20  LoadConst None
                 21  LoadConst None
                 22  LoadConst 2
                 23  BuildSlice
                 24  Binary getitem
                 25  Pop
                 26  LoadFast a
                 27  LoadFast i
                 28  LoadFast j
                 29  BuildTuple 2
                 30  Binary getitem
                 31  Pop
                 32  LoadFast a
                 33  LoadFast i
                 34  LoadConst 1
                 35  LoadConst 2
                 36  LoadConst None
                 37  BuildSlice
                 38  BuildTuple 2
                 39  Binary getitem
                 40  Pop
                 41  LoadFast a
                 42  LoadConst ...
                 43  Binary getitem
                 44  Pop
                 45  LoadConst None
                 46  Return
        "#]],
    );
}

#[test]
fn displays() {
    check(
        r#"
        def f(a):
            return [], [a], (), (a,), {}, {1: a, a: 2}, {a, 1}
        "#,
        expect![[r#"
            f(a)  stack 9
                  0  BuildList 0
                  1  LoadFast a
                  2  BuildList 1
                  3  LoadConst ()
                  4  LoadFast a
                  5  BuildTuple 1
                  6  BuildDict 0
                  7  LoadConst 1
                  8  LoadFast a
                  9  LoadConst 2
                 10  LoadFast a
                 11  Rot2
                 12  BuildDict 2
                 13  LoadFast a
                 14  LoadConst 1
                 15  BuildSet 2
                 16  BuildTuple 7
                 17  Return
        "#]],
    );
}

#[test]
fn lambdas() {
    check(
        r#"
        def f(a):
            return lambda x, y=a, *z, **k: x + a, lambda (p, q): p
        "#,
        expect![[r#"
            f(a)  stack 2
              cells a
                  0  LoadDeref a
                  1  LoadClosure a
                  2  MakeFunction <f.<locals>.<lambda>>, defaults 1, closure 1
                  3  MakeFunction <f.<locals>.<lambda>#1>
                  4  BuildTuple 2
                  5  Return

            f.<locals>.<lambda>(x, y, *z, **k)  stack 2
              free a
                  0  LoadFast x
                  1  LoadDeref a
                  2  Binary add
                  3  Return

            f.<locals>.<lambda>#1(.0)  stack 2
                  0  LoadFast .0
                  1  UnpackSequence 2
                  2  StoreFast p
                  3  StoreFast q
                  4  LoadFast p
                  5  Return
        "#]],
    );
}

#[test]
fn comprehensions() {
    check(
        r#"
        def f(xs, k):
            a = [x * k for x in xs if x for y in x if y]
            b = (x * k for x in xs if x)
            c = {x for x in xs}
            d = {x: k for x in xs}
            return x
        "#,
        expect![[r#"
            f(xs, k)  stack 5
              cells k
                  0  BuildList 0
                  1  LoadFast xs
                  2  GetIter
              >   3  ForIter 19
                  4  StoreFast x
                  5  LoadFast x
                  6  JumpIfFalse 3
                  7  LoadFast x
                  8  GetIter
              >   9  ForIter 18
                 10  StoreFast y
                 11  LoadFast y
                 12  JumpIfFalse 9
                 13  LoadFast x
                 14  LoadDeref k
                 15  Binary mul
                 16  ListAppend 3
                 17  Jump 9
              >  18  Jump 3
              >  19  StoreFast a
                 20  LoadClosure k
                 21  MakeFunction <f.<locals>.<genexpr>>, closure 1
                 22  LoadFast xs
                 23  GetIter
                 24  Call 1
                 25  StoreFast b
                 26  MakeFunction <f.<locals>.<setcomp>>
                 27  LoadFast xs
                 28  GetIter
                 29  Call 1
                 30  StoreFast c
                 31  LoadClosure k
                 32  MakeFunction <f.<locals>.<dictcomp>>, closure 1
                 33  LoadFast xs
                 34  GetIter
                 35  Call 1
                 36  StoreFast d
                 37  LoadFast x
                 38  Return

            f.<locals>.<genexpr>(.0)  stack 3 generator
              free k
                  0  LoadFast .0
              >   1  ForIter 11
                  2  StoreFast x
                  3  LoadFast x
                  4  JumpIfFalse 1
                  5  LoadFast x
                  6  LoadDeref k
                  7  Binary mul
                  8  Yield
                  9  Pop
                 10  Jump 1
              >  11  LoadConst None
                 12  Return

            f.<locals>.<setcomp>(.0)  stack 3
                  0  BuildSet 0
                  1  LoadFast .0
              >   2  ForIter 7
                  3  StoreFast x
                  4  LoadFast x
                  5  SetAdd 2
                  6  Jump 2
              >   7  Return

            f.<locals>.<dictcomp>(.0)  stack 4
              free k
                  0  BuildDict 0
                  1  LoadFast .0
              >   2  ForIter 9
                  3  StoreFast x
                  4  LoadDeref k
                  5  LoadFast x
                  6  Rot2
                  7  MapAdd 2
                  8  Jump 2
              >   9  Return
        "#]],
    );
}

#[test]
fn generators() {
    check(
        r#"
        def f():
            x = yield
            yield x
            return
        "#,
        expect![[r#"
            f()  stack 1 generator
                  0  LoadConst None
                  1  Yield
                  2  StoreFast x
                  3  LoadFast x
                  4  Yield
                  5  Pop
                  6  LoadConst None
                  7  Return
        "#]],
    );
}

/// As CPython's bytecode compiler does, which is what RPython sees.
#[test]
fn arithmetic_on_literals_is_computed() {
    check(
        r#"
        a = [1 << 100, 2 ** 63 - 1, -(1 << 63), 7 // -2, 7 % -2, ~5 & 0xff, 3 - 4L]
        b = [1 + 2 + x, x + 1 + 2, 4 / 2, 1 // 0, 1 << -1, 1.5 + 2, (1 | 2, 3 ^ 1)]
        while 3 - 3:
            f()
        "#,
        expect![[r#"
            <module>  stack 7
                  0  LoadConst 1267650600228229401496703205376L
                  1  LoadConst 9223372036854775807L
                  2  LoadConst -9223372036854775808L
                  3  LoadConst -4
                  4  LoadConst -1
                  5  LoadConst 250
                  6  LoadConst -1L
                  7  BuildList 7
                  8  StoreName a
                  9  LoadConst 3
                 10  LoadName x
                 11  Binary add
                 12  LoadName x
                 13  LoadConst 1
                 14  Binary add
                 15  LoadConst 2
                 16  Binary add
                 17  LoadConst 4
                 18  LoadConst 2
                 19  Binary div
                 20  LoadConst 1
                 21  LoadConst 0
                 22  Binary floordiv
                 23  LoadConst 1
                 24  LoadConst -1
                 25  Binary lshift
                 26  LoadConst 1.5
                 27  LoadConst 2
                 28  Binary add
                 29  LoadConst (3, 2)
                 30  BuildList 7
                 31  StoreName b
                 32  Jump 33
              >  33  LoadConst None
                 34  Return
        "#]],
    );
}
