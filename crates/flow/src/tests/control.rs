//! Branches, loops, comprehensions, unpacking, print.

use expect_test::expect;

use super::check;

#[test]
fn straight_line() {
    check(
        r#"
        def f(a, b):
            return a + b * 2
        "#,
        expect![""],
    );
}

#[test]
fn constants_that_differ_become_a_variable() {
    check(
        r#"
        def f(a):
            if a:
                x = 1
                y = 7
            else:
                x = 2
                y = 7
            return g(x, y)
        def g(x, y):
            pass
        "#,
        expect![""],
    );
}

#[test]
fn a_local_set_on_one_way_is_unset() {
    check(
        r#"
        def f(a):
            if a:
                x = 1
            return 0
        "#,
        expect![""],
    );
}

#[test]
fn while_loop() {
    check(
        r#"
        def f(n):
            s = 0
            while n > 0:
                s += n
                n -= 1
            else:
                s = -s
            return s
        "#,
        expect![""],
    );
}

#[test]
fn for_loop() {
    check(
        r#"
        def f(l):
            for x in l:
                if x < 0:
                    break
                if x == 5:
                    continue
                g(x)
            else:
                return 1
            return 2
        def g(x):
            pass
        "#,
        expect![""],
    );
}

#[test]
fn and_or_not() {
    check(
        r#"
        def f(a, b):
            return a and b or not a
        "#,
        expect![""],
    );
}

#[test]
fn repeated_tests_are_made_once() {
    check(
        r#"
        def f(a, b):
            if not (a or b):
                return 1
            return 2
        "#,
        expect![""],
    );
}

#[test]
fn chained_comparison() {
    check(
        r#"
        def f(a, b, c):
            return a < b <= c
        "#,
        expect![""],
    );
}

#[test]
fn in_and_is() {
    check(
        r#"
        def f(a, b):
            if a in b:
                return a is None
            return a not in b or a is not b
        "#,
        expect![""],
    );
}

#[test]
fn conditional_expression() {
    check(
        r#"
        def f(a):
            return 1 if a else 2
        "#,
        expect![""],
    );
}

#[test]
fn list_comprehension() {
    check(
        r#"
        def f(l):
            return [x + 1 for x in l if x]
        "#,
        expect![""],
    );
}

#[test]
fn dict_display() {
    check(
        r#"
        def f(a):
            return {1: a, 'b': 2}
        "#,
        expect![""],
    );
}

#[test]
fn unpacking() {
    check(
        r#"
        def f(t):
            a, (b, c) = t
            return a + b + c
        "#,
        expect![""],
    );
}

#[test]
fn unpacking_a_tuple_display() {
    check(
        r#"
        def f(a, b):
            a, b = b, a
            return (a, b)
        "#,
        expect![""],
    );
}

#[test]
fn items_and_slices() {
    check(
        r#"
        def f(l, i):
            l[i] = l[i + 1]
            del l[0]
            l[1:] = l[:i]
            del l[i:2]
            return l[:]
        "#,
        expect![""],
    );
}

#[test]
fn attributes() {
    check(
        r#"
        def f(a):
            a.x = a.y.z
            a.n += 1
        "#,
        expect![""],
    );
}

#[test]
fn print_statement() {
    check(
        r#"
        def f(a):
            print 'a is', a
            print a,
            print
        "#,
        expect![""],
    );
}

#[test]
fn global_statement_reads() {
    check(
        r#"
        x = [1]
        def f():
            global x
            x.append(1)
            return x
        "#,
        expect![""],
    );
}

#[test]
fn endless_loop() {
    check(
        r#"
        def f():
            while True:
                pass
        "#,
        expect![""],
    );
}

#[test]
fn tuple_parameter() {
    check(
        r#"
        def f(a, (b, c)):
            return a + c
        "#,
        expect![""],
    );
}

#[test]
fn delete_local() {
    check(
        r#"
        def f(a):
            b = a
            del b
            return a
        "#,
        expect![""],
    );
}

#[test]
fn backquotes() {
    check(
        r#"
        def f(a):
            return `a`
        "#,
        expect![""],
    );
}

#[test]
fn a_first_round_that_folds() {
    check(
        r#"
        def f(x):
            result = []
            i = 0
            while 1:
                i = i + 1
                if i & 1:
                    result.append(i)
                    continue
                if i >= x:
                    break
            return result
        "#,
        expect![""],
    );
}
