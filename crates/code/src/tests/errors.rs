//! What is said about wrong texts, and what is compiled of them.

use expect_test::expect;

use super::check_errors;

#[test]
fn missing_colon() {
    check_errors(
        r#"
        def f(x)
            if x
                return 1
            else
                return 2
        def g(): pass
        "#,
        expect![[r#"
            1:9 expected `:` []
            2:9 expected `:` []
            4:9 expected `:` []
            <module> f g"#]],
    );
}

#[test]
fn parameters_of_one_name() {
    check_errors(
        r#"
        def f(a, b, a): pass
        def g(a, (b, c), *a): pass
        def h(a): pass
        "#,
        expect![[r#"
            1:13 this parameter's name is used twice [a]
            2:18 this parameter's name is used twice [*a]
            <module> f g h"#]],
    );
}

#[test]
fn unclosed_bracket() {
    check_errors(
        r#"
        def f(x):
            y = g(1, [2
            return y
        def h(): pass
        x = (1,
        "#,
        expect![[r#"
            2:14 this `[` is never closed [[]
            5:5 this `(` is never closed [(]
            <module>! f! h"#]],
    );
}

#[test]
fn unmatched_brackets() {
    check_errors(
        r#"
        x = 1)
        y = (1]
        z = [1)
        def f(): pass
        "#,
        expect![[r#"
            1:6 `)` closes nothing [)]
            2:7 `]` does not close the `(` before it []]
            3:7 `)` does not close the `[` before it [)]
            <module>! f"#]],
    );
}

#[test]
fn unterminated_strings() {
    check_errors(
        r#"
        x = "abc
        def f():
            y = 'abc
            return 1
        z = """abc
        def g(): pass
        "#,
        expect![[r#"
            1:5 this string is never closed ["abc]
            3:9 this string is never closed ['abc]
            5:5 this string is never closed ["""]
            <module>! f!"#]],
    );
}

#[test]
fn bad_expressions() {
    check_errors(
        r#"
        def f(x):
            y = = 3
            return x
        def g(x):
            return x y
        def h(x):
            for 3 in x: pass
            x +
            (x
             + )
            return x
        "#,
        expect![[r#"
            2:9 an assignment is no expression [=]
            5:12 invalid syntax [x]
            7:5 invalid syntax [for 3 in x:]
            8:8 expected an expression []
            10:6 invalid syntax [+]
            <module> f! g! h!"#]],
    );
}

#[test]
fn bad_headers() {
    check_errors(
        r#"
        def f(x, 3):
            return x
        class C(:
            def m(self): pass
        while x y:
            break
        try:
            x = 1
        except A B:
            pass
        def : pass
        if x = 1: y
        elif:
            z
        "#,
        expect![[r#"
            1:10 invalid syntax [3]
            3:8 this `(` is never closed [(]
            5:9 invalid syntax [y]
            9:10 invalid syntax [B]
            11:1 invalid syntax [def :]
            12:6 an assignment is no expression [= 1]
            13:5 expected a name []
            <module>! f C C.m _!"#]],
    );
}

#[test]
fn indentation() {
    check_errors(
        r#"
        def f():
        x = 1
        def g():
                y = 1
            z = 2
            def h(): pass
          w = 3
        class C:
        # comment only
        def i():
            pass
               # a comment anywhere
            return 1
        "#,
        expect![[r#"
            1:9 expected an indented block []
            5:5 this indentation is none of the blocks around it [z]
            6:5 unexpected indent [d]
            8:9 expected an indented block []
            <module> f! g h C! i"#]],
    );
}

#[test]
fn unexpected_indent() {
    check_errors(
        r#"
        x = 1
            y = 2
            z = 3
        def f(): pass
        "#,
        expect![[r#"
            2:5 unexpected indent [y]
            <module> f"#]],
    );
}

#[test]
fn clauses() {
    check_errors(
        r#"
        else:
            x
        if x: y
        x = 1
        elif y:
            z
        try:
            x
        x = 1
        except A:
            pass
        for i in x: pass
        else: pass
        finally: pass
        try:
            x
        except:
            y
        else:
            z
        finally:
            w
        "#,
        expect![[r#"
            1:1 `else` has no `if`, loop or `except` before it [else:]
            5:1 `elif` has no `if` before it [elif y:]
            7:1 `try` needs an `except` or a `finally` clause [try]
            10:1 `except` has no `try` before it [except A:]
            14:1 `finally` has no `try` before it [finally: pass]
            <module>!"#]],
    );
}

#[test]
fn targets() {
    check_errors(
        r#"
        f() = 1
        1 = x
        x + 1 = 2
        None = 3
        [x, f()] = 1
        () = x
        for f() in x: pass
        del f(), 1
        "a" = 1
        f() += 1
        a, b += 1
        x = (yield) = 1
        with a as 1: pass
        "#,
        expect![[r#"
            1:1 cannot assign to this expression [f() =]
            2:1 cannot assign to this expression [1 =]
            3:1 cannot assign to this expression [x + 1 =]
            4:1 cannot assign to this expression [None =]
            5:1 cannot assign to this expression [[x, f()] =]
            6:1 cannot assign to `()` [()]
            7:1 invalid syntax [for f() in x:]
            8:5 cannot assign to the result of a call [f()]
            8:10 cannot assign to a literal [1]
            9:1 cannot assign to a literal ["a"]
            10:5 an assignment is no expression [+=]
            11:1 augmented assignment needs a single target [a, b]
            12:5 cannot assign to this expression [(yield) =]
            13:11 cannot assign to a literal [1]
            <module>!"#]],
    );
}

#[test]
fn python_3_only() {
    check_errors(
        r#"
        def f(x: int, *, y=1) -> int:
            nonlocal z
            x: int = 3
            return x
        async def g(): await h()
        print(f"{x}")
        def h():
            yield from x
            raise A from B
            a, *b = c
            y = a @ b
            if (n := 10): pass
            match x:
                case 1: pass
            return {**a}, [*b]
        "#,
        expect![[r#"
            1:7 annotations are Python 3 syntax [x: int]
            1:15 a bare `*` or `/` parameter is Python 3 syntax [*]
            1:26 annotations are Python 3 syntax [int]
            2:5 `nonlocal` is Python 3 syntax [nonlocal z]
            3:5 annotations are Python 3 syntax [x: int = 3]
            5:1 `async` is Python 3 syntax [async]
            5:16 `await` is Python 3 syntax [await]
            6:8 f-strings are Python 3 syntax ["{x}"]
            8:5 `yield from` is Python 3 syntax [yield from x]
            9:18 `raise .. from` is Python 3 syntax [B]
            10:8 a starred expression cannot stand here in Python 2 [*b]
            11:9 the operator `@` is Python 3 syntax [a @ b]
            12:9 `:=` is Python 3 syntax [n := 10]
            13:5 `match` is Python 3 syntax [match x:]
            15:13 `**` in a dict is Python 3 syntax [**a]
            15:20 a starred expression cannot stand here in Python 2 [*b]
            <module>! f! g h!"#]],
    );
}

#[test]
fn statements_out_of_place() {
    check_errors(
        r#"
        return 1
        break
        yield 2
        def f():
            continue
            for i in x:
                def g():
                    break
        class C:
            return 1
        def g():
            yield 1
            return 2
        "#,
        expect![[r#"
            1:1 `return` outside a function [return 1]
            2:1 `break` outside a loop [break]
            3:1 `yield` outside a function [yield 2]
            5:5 `continue` outside a loop [continue]
            8:13 `break` outside a loop [break]
            10:5 `return` outside a function [return 1]
            13:5 `return` with a value in a generator [return 2]
            <module>! f! f.<locals>.g! C! g!"#]],
    );
}

#[test]
fn bad_literals() {
    check_errors(
        r#"
        x = 09
        y = 0xg
        z = 1_000
        s = '\x4'
        u = u'\u12'
        v = u'\N{no such name}'
        w = u'\N{DIGIT ONE}\N'
        o = 0b12
        "#,
        expect![[r#"
            1:5 invalid digit in an octal number [09]
            2:5 invalid syntax [0x]
            3:5 underscores in numbers are Python 3 syntax [1_000]
            4:6 \x needs two hexadecimal digits [\x]
            5:7 \u needs four hexadecimal digits [\u]
            6:7 no unicode character has this name [\N{no such name}]
            7:20 \N needs a character's name in braces [\N]
            8:5 invalid digit in a binary number [0b12]
            <module>!"#]],
    );
}

#[test]
fn bad_characters() {
    check_errors(
        r#"
        x = $y
        y = a ? b
        z = é
        w = !a
        v = a != b
        def f(): pass
        "#,
        expect![[r#"
            1:5 unexpected character `$` [$]
            2:7 unexpected character `?` [?]
            3:5 a name in Python 2 is plain ASCII [é]
            4:5 unexpected character `!` [!]
            <module>! f"#]],
    );
}

#[test]
fn arguments() {
    check_errors(
        r#"
        f(a=1, 2)
        f(*a, b)
        f(**a, b=1)
        f(a=1, a=2)
        def g(a=1, b): pass
        def h(*a, b): pass
        def i(a, a): pass
        f(a.b=1)
        f(x for x in y, 1)
        "#,
        expect![[r#"
            1:8 positional argument after a keyword or starred one [2]
            2:7 positional argument after a keyword or starred one [b]
            3:8 no argument may follow `**` [b=1]
            4:8 keyword argument repeated [a=2]
            5:12 a parameter without a default follows one with a default [b]
            6:11 no parameter may follow `*args` or `**kwargs` [b]
            7:10 this parameter's name is used twice [a]
            8:3 expected a name without dots [a.b]
            9:2 a generator expression beside other arguments needs parentheses [(x for x in y, 1)]
            <module> g h i <genexpr>"#]],
    );
}

#[test]
fn strings_in_wrong_places() {
    check_errors(
        r#"
        def f"a": pass
        x = y "abc"
        import "m"
        f("a"=1)
        x."a"
        class "C": pass
        x = `a` `b`
        "#,
        expect![[r#"
            1:6 expected `(` ["a"]
            2:7 invalid syntax ["abc"]
            3:1 invalid syntax [import]
            4:6 an assignment is no expression [=1]
            5:3 expected a name []
            6:1 invalid syntax [class "C":]
            7:9 invalid syntax [`b`]
            <module>! f _!"#]],
    );
}

#[test]
fn imports() {
    check_errors(
        r#"
        import
        from x import
        from x import (a, b
        from . import *
        import a.b.
        from __future__ import braces
        def f(): pass
        "#,
        expect![[r#"
            1:7 expected a name []
            2:14 expected a name []
            3:15 this `(` is never closed [(]
            5:12 expected a name []
            6:24 Python 2.7 has no such future feature [braces]
            <module>! f"#]],
    );
}

#[test]
fn several_per_line_and_file() {
    check_errors(
        r#"
        a = ; b = 1
        def f():
            c = (
            d = )
            return 1 +
        e = [1, 2
        def g():
            return 1
        "#,
        expect![[r#"
            1:5 invalid syntax [;]
            4:7 an assignment is no expression [=]
            5:15 expected an expression []
            6:5 this `[` is never closed [[]
            <module>! f! g"#]],
    );
}

#[test]
fn try_alone() {
    check_errors(
        r#"
        try:
            x
        y
        try:
            x
        else:
            y
        try:
            x
        except:
            pass
        except A:
            pass
        "#,
        expect![[r#"
            1:1 `try` needs an `except` or a `finally` clause [try]
            4:1 `try` needs an `except` or a `finally` clause [try]
            6:1 `else` has no `if`, loop or `except` before it [else:]
            10:1 an `except` without a class must be the last [except]
            <module>!"#]],
    );
}

#[test]
fn empty_statements() {
    check_errors(
        r#"
        ;
        x = 1;;
        pass pass
        lambda
        if
        print >>
        exec
        raise a, b, c, d
        assert
        global
        del
        @
        "#,
        expect![[r#"
            1:1 invalid syntax [;]
            2:6 invalid syntax [;]
            3:1 invalid syntax [pass]
            4:1 invalid syntax [lambda]
            5:3 expected `:` []
            6:9 expected an expression []
            7:5 expected an expression []
            8:1 `raise` takes a class, a value and a traceback [raise a, b, c, d]
            9:7 expected an expression []
            10:7 expected a name []
            11:4 expected an expression []
            12:1 invalid syntax [@]
            <module>!"#]],
    );
}

#[test]
fn soft_keywords_are_names() {
    check_errors(
        r#"
        match = type = case = async = 1
        def match(type, case): return type(case)
        match(x)
        type (x)
        x.print
        x.exec(1)
        async.await
        "#,
        expect!["<module> match"],
    );
}
