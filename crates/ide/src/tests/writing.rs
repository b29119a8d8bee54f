use expect_test::{Expect, expect};
use taipan_base::TextRange;

use super::fixture;

fn completions(text: &str, expected: Expect) {
    let f = fixture(text);
    let found = crate::completions(&f.db, &f.workspace, f.position);
    let lines: Vec<String> = found
        .iter()
        .filter(|c| c.kind != crate::CompletionKind::Builtin)
        .map(|c| {
            format!(
                "{:?} {} {}",
                c.kind,
                c.name,
                c.detail.as_deref().unwrap_or("")
            )
        })
        .collect();
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn completion() {
    let program = |line: &str| {
        format!(
            "
            import helper
            class A(object):
                kind = 'a'
                def __init__(self, n):
                    self.n = n
                def double(self, by):
                    return self.n * by
            class B(A):
                def more(self):
                    return 1
            def entry_point(argv):
                a = B(len(argv))
                items = [1]
                items.append(2)
                {line}
                return a.double(2) + helper.f(items)
            #- /helper.py
            SIZE = 3
            def f(items):
                return items[0]
            "
        )
    };
    completions(
        &program("a.$0n"),
        expect![[r#"
        Attribute kind 'a'
        Attribute n SomeInteger(nonneg)
        Method double (self, by)
        Method more (self)"#]],
    );
    completions(
        &program("helper.$0SIZE"),
        expect![[r#"
        Function f (items)
        Global SIZE 3"#]],
    );
    completions(
        &program("$0"),
        expect![[r#"
        Local a SomeInstance(B)
        Local argv SomeList[SomeString(no_nul)](resized, mutated)
        Local items SomeList[SomeInteger(nonneg)](resized, mutated)
        Function entry_point (argv)
        Class A 
        Class B "#]],
    );
    completions(
        &program("items.$0pop()"),
        expect![[r#"
        Method append 
        Method count 
        Method extend 
        Method index 
        Method insert 
        Method pop 
        Method remove 
        Method reverse 
        Method sort "#]],
    );
}

#[test]
fn signature_help() {
    let f = fixture(
        "
        class A(object):
            def __init__(self, n, name='x'):
                self.n = n
        def f(a, b, c=1):
            return a.n + b + c
        def entry_point(argv):
            a = A(1, 'y')
            return f(a, $0len(argv))
        ",
    );
    let found = crate::signatures(&f.db, &f.workspace, f.position);
    let shown: Vec<String> = found
        .iter()
        .map(|s| {
            let p = s.parameters[s.active as usize];
            format!(
                "{} [{}]",
                s.label,
                &s.label[p.start as usize..p.end as usize]
            )
        })
        .collect();
    expect!["f(a: SomeInstance(A), b: SomeInteger(nonneg), c: SomeInteger(nonneg, const=1)=1) [b: SomeInteger(nonneg)]"].assert_eq(&shown.join("\n"));
}

/// Applies every fix of a program by itself; the texts that come out must be free of
/// the diagnostic.
fn fixes(text: &str, expected: Expect) {
    let f = fixture(text);
    let whole = TextRange::new(0, f.file().text(&f.db).len() as u32);
    let found = crate::fixes(&f.db, &f.workspace, f.file(), whole);
    let mut out = String::new();
    for fix in &found {
        let mut text = f.file().text(&f.db).to_owned();
        let mut edits = fix.edits.clone();
        edits.sort_by_key(|(s, _)| std::cmp::Reverse(s.range.start));
        for (span, new) in &edits {
            text.replace_range(span.range.start as usize..span.range.end as usize, new);
        }
        let fixed = fixture(&text);
        let left = crate::workspace_diagnostics(&fixed.db, &fixed.workspace);
        let codes: Vec<&str> = left.iter().map(|d| d.code).collect();
        let changed: Vec<&str> = text
            .lines()
            .filter(|l| !f.file().text(&f.db).lines().any(|old| old == *l))
            .collect();
        out.push_str(&format!(
            "{} {}: {changed:?} leaves {codes:?}\n",
            fix.diagnostic.code, fix.title
        ));
    }
    expected.assert_eq(&out);
}

#[test]
fn remedies() {
    fixes(
        "
        def entry_point(argv):
            print len(argv) ** 2
            return 0
        ",
        expect![[r#"
            TP0220 Write `pow(float(len(argv)), 2)`: ["    print pow(float(len(argv)), 2)"] leaves []
        "#]],
    );
    fixes(
        "
        def entry_point(argv):
            return intmask(len(argv))
        ",
        expect![[r#"
            TP0222 Import `intmask`: ["from rpython.rlib.rarithmetic import intmask"] leaves []
        "#]],
    );
    fixes(
        "
        class A(object):
            pass
        class B(A):
            def more(self):
                return 1
        def f(a):
            return a.more()
        def entry_point(argv):
            f(A())
            return f(B())
        ",
        expect![],
    );
    fixes(
        "
        def entry_point(argv):
            return hash(argv[0])
        ",
        expect![[r#"
            TP0303 Use `compute_hash`: ["from rpython.rlib.objectmodel import compute_hash", "    return compute_hash(argv[0])"] leaves []
        "#]],
    );
    fixes(
        "
        def entry_point(argv):
            if argv[0] == u'x':
                return 1
            return 0
        ",
        expect![[r#"
            TP0303 Decode the byte string: ["    if argv[0].decode('utf-8') == u'x':"] leaves []
        "#]],
    );
    fixes(
        "
        class A(object):
            _attrs_ = ['x']
            def __init__(self):
                self.x = 1
                self.y = 2
        def entry_point(argv):
            return A().x
        ",
        expect![[r#"
            TP0307 Add 'y' to `_attrs_` of A: ["    _attrs_ = ['x', 'y']"] leaves []
        "#]],
    );
    fixes(
        "
        from rpython.rlib.rarithmetic import r_uint
        def entry_point(argv):
            a = r_uint(len(argv))
            b = -len(argv)
            if a + b > r_uint(3):
                return 1
            return 0
        ",
        expect![[r#"
            TP0308 Write `intmask(a)`: ["from rpython.rlib.rarithmetic import intmask", "    if intmask(a) + b > r_uint(3):"] leaves ["TP0409"]
            TP0308 Write `r_uint(b)`: ["    if a + r_uint(b) > r_uint(3):"] leaves []
        "#]],
    );
    fixes(
        "
        def f(s, n):
            return s[n:]
        def entry_point(argv):
            return len(f(argv[0], len(argv) - 5))
        ",
        expect![[r#"
            TP0309 Add `assert n >= 0`: ["    assert n >= 0"] leaves []
        "#]],
    );
    fixes(
        "
        def entry_point(argv):
            print 'hello'
        ",
        expect![[r#"
            TP0316 Add `return 0`: ["    return 0"] leaves []
        "#]],
    );
}
