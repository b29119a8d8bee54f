//! Warnings about operations that could not succeed and are left out, since nothing needs
//! their results. RPython says nothing of them.

use expect_test::{Expect, expect};
use taipan_workbench::Workbench;

fn told(bench: &Workbench) -> String {
    let db = &bench.db;
    let checked = bench.check();
    let line = |d: &taipan_base::Diagnostic| {
        let span = d.primary.expect("a place");
        let text = span.file.text(db);
        let (start, end) = (span.range.start as usize, span.range.end as usize);
        let what = d
            .message
            .strip_suffix("; it is left out, since its value is not used");
        format!(
            "{} {}: {}\n",
            d.code,
            &text[start..end],
            what.unwrap_or(&d.message)
        )
    };
    // Values that nothing uses are what these programs are about.
    let others = |d: &&taipan_base::Diagnostic| d.code != taipan_base::ErrorCode::UnusedVariable;
    checked
        .diagnostics
        .iter()
        .filter(others)
        .map(line)
        .collect()
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&told(&Workbench::of(text)));
}

#[test]
fn numbers_strings_and_none() {
    check(
        "
def f(n, s):
    a = n + s
    b = (n + 1) * 2 + s
    c = -s
    d = s * s
    g = 'arguments: ' + len([n])
    if n > 3:
        print n
        e = s - n
    return n
def g(x):
    return x is None or (x + 1) is None
def h(x):
    y = x + 1
    return 0
def entry_point(argv):
    h(None)
    return f(len(argv), argv[0]) + g(None)
",
        expect![[r#"
            TP0317 n + s: `+` of an int and a str is not RPython
            TP0317 (n + 1) * 2 + s: `+` of an int and a str is not RPython
            TP0317 -s: `-` of a str is not RPython
            TP0317 s * s: `*` of a str and a str is not RPython
            TP0317 'arguments: ' + len([n]): `+` of a str and an int is not RPython
            TP0317 s - n: `-` of a str and an int is not RPython
            TP0317 x + 1: `+` of None and an int is not RPython
        "#]],
    );
}

#[test]
fn what_may_succeed_or_is_not_reached_is_left_alone() {
    check(
        "
from rpython.rlib.objectmodel import specialize

class Money(object):
    def __add__(self, other):
        return self

@specialize.argtype(0)
def both(x):
    y = x + 1
    return 0
def never(x):
    if isinstance(x, Money):
        y = x + 1
        print 'money'
    if x is None:
        print 'nothing'
        z = x + 'a'
    return 0
def right(n, s, items):
    a = n + 1
    b = s + 'x'
    c = '%d' % n
    d = s[n]
    e = items + items
    f = (n, s)[1]
    return 0
def unreached(n):
    x = n + 'x'
    return n
def entry_point(argv):
    money = Money() if len(argv) > 1 else None
    return both(1) + both('a') + never(money) + right(len(argv), argv[0], argv)
",
        expect![""],
    );
}

#[test]
fn they_go_with_an_edit() {
    let text = "
def add(a, b):
    total = a + b
    return 0
def entry_point(argv):
    return add(1, 'a')
";
    let mut bench = Workbench::of(text);
    let before = told(&bench);
    assert!(before.contains("`+` of an int and a str"), "{before}");
    bench.edit("/main.py", &text.replace("'a'", "2"));
    assert_eq!(told(&bench), "");
    bench.edit("/main.py", text);
    assert_eq!(told(&bench), before);
    bench.edit("/main.py", &text.replace("return 0", "return total"));
    assert!(told(&bench).starts_with("TP0303"));
}
