use expect_test::{Expect, expect};
use taipan_base::{Db, TextRange};

use super::fixture;
use crate::FilePosition;

fn completions(text: &str, expected: Expect) {
    let f = fixture(text);
    let found = crate::completions(&f.db, &f.workspace, f.position);
    let lines: Vec<String> = found
        .iter()
        .filter(|c| {
            use crate::CompletionKind::{Builtin, Keyword};
            !matches!(c.kind, Builtin | Keyword)
        })
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
            Class B 
            Module helper "#]],
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
            Method reverse "#]],
    );
}

/// What can be written behind each of some lines that are being typed into a program.
fn typing(lines: &[&str]) -> String {
    let mut out = String::new();
    for line in lines {
        let mut f = fixture(
            "
            import os
            import tools.shapes
            from tools import shapes as s
            class Node(object):
                def __init__(self, value):
                    self.value = value
                    self.next = None
                    self.tag = 'x'
                def last(self):
                    return self
                def _hidden(self):
                    return self.last
            class Box(object):
                def __init__(self, node):
                    self.node = node
                    node.next = node
            def make(n):
                return Node(n)
            def entry_point(argv):
                arguments = [make(len(argv))]
                table = {'a': Box(arguments[0])}
                pair = (1, table['a'])
                pass
                $0
                return arguments[0].last().value + pair[1].node.value + s.area(len(os.getcwd()))
            #- /tools/__init__.py
            # A package.
            #- /tools/shapes.py
            SIZE = 3
            def area(n):
                return n
            ",
        );
        let whole = crate::workspace_diagnostics(&f.db, &f.workspace);
        assert!(whole.is_empty(), "{whole:?}");
        f.type_text(line);
        let found = crate::completions(&f.db, &f.workspace, f.position);
        let names: Vec<&str> = found.iter().map(|c| &*c.name).take(8).collect();
        out.push_str(&format!("{line} {}\n", names.join(" ")));
    }
    out
}

#[test]
fn completion_of_expressions_that_are_being_written() {
    let found = typing(&[
        "arguments[0].",
        "x = arguments[0].next.",
        "make(1).",
        "if make(1).last().",
        "table['a'].",
        "table.values()[0].no",
        "pair[1].node.",
        "Box(make(2)).node.",
        "f(arguments.pop().",
        "print (arguments[0] or make(2)).",
        "arguments.",
        "'a'.",
        "'a,b'.split(',')[0].",
        "arguments[0].tag.strip().",
        "os.path.",
        "tools.",
        "tools.shapes.",
        "s.",
        "Node.",
        "argv[1:].",
        "argv[0].",
        // Nothing is known, or nothing is to be written.
        "nothing.",
        "1.",
        "# arguments[0].",
        "'arguments[0].",
    ]);
    expect![[r#"
        arguments[0]. next tag value last _hidden
        x = arguments[0].next. next tag value last _hidden
        make(1). next tag value last _hidden
        if make(1).last(). next tag value last _hidden
        table['a']. node
        table.values()[0].no node
        pair[1].node. next tag value last _hidden
        Box(make(2)).node. next tag value last _hidden
        f(arguments.pop(). next tag value last _hidden
        print (arguments[0] or make(2)). next tag value last _hidden
        arguments. append count extend index insert pop remove reverse
        'a'. count decode encode endswith find isalnum isalpha isdigit
        'a,b'.split(',')[0]. count decode encode endswith find isalnum isalpha isdigit
        arguments[0].tag.strip(). count decode encode endswith find isalnum isalpha isdigit
        os.path. basename commonprefix dirname expanduser expandvars getatime getctime getmtime
        tools. shapes
        tools.shapes. area SIZE
        s. area SIZE
        Node. next tag value last _hidden
        argv[1:]. append count extend index insert pop remove reverse
        argv[0]. count decode encode endswith find isalnum isalpha isdigit
        nothing. 
        1. 
        # arguments[0]. 
        'arguments[0]. 
    "#]]
    .assert_eq(&found);
}

#[test]
fn completion_of_imports() {
    let found = typing(&[
        "import ",
        "import os, too",
        "import tools.",
        "from ",
        "from tools import ",
        "from tools.shapes import SIZE, ",
        "from tools.shapes import (SIZE,\n        a",
        "from os import ge",
        "from rpython.rlib import ",
        "from rpython.rlib.rstring import ",
        "from . import ",
        "from nothing import ",
        "from tools import shapes as ",
    ]);
    expect![[r#"
        import  main tools StringIO abc atexit binascii bisect cStringIO
        import os, too main tools StringIO abc atexit binascii bisect cStringIO
        import tools. shapes
        from  main tools StringIO abc atexit binascii bisect cStringIO
        from tools import  shapes
        from tools.shapes import SIZE,  area SIZE
        from tools.shapes import (SIZE,
                a area SIZE
        from os import ge WCOREDUMP WEXITSTATUS WIFCONTINUED WIFEXITED WIFSIGNALED WIFSTOPPED WSTOPSIG WTERMSIG
        from rpython.rlib import  buffer cache clibffi compilerinfo debug entrypoint jit jit_hooks
        from rpython.rlib.rstring import  assert_str0 check_str0 count endswith find newlist_hint not_rpython replace
        from . import  main tools
        from nothing import  
        from tools import shapes as  arguments argv pair table entry_point make Box Node
    "#]].assert_eq(&found);
}

#[test]
fn names_in_reach_come_first() {
    let found = typing(&["", "x = "]);
    expect![[r#"
         arguments argv pair table entry_point make Box Node
        x =  arguments argv pair table entry_point make Box Node
    "#]]
    .assert_eq(&found);
}

#[test]
fn documentation_of_completions() {
    let f = fixture(
        "
        class A(object):
            'A thing.'
            def __init__(self, n):
                self.n = n
            def double(self, by):
                '''Twice
                as much.

                Not more.'''
                return self.n * by
        def entry_point(argv):
            a = A(len(argv))
            return a.double(2) + a.$0n
        ",
    );
    let mut shown = String::new();
    let show = |c: &crate::Completion| {
        let at = |d: taipan_base::Span| FilePosition {
            file: d.file,
            // It was offered some edits ago.
            offset: d.range.start + 3,
        };
        let docs = c.definition.map(at);
        let docs = docs.and_then(|d| crate::documentation(&f.db, &f.workspace, d, &c.name));
        let docs = docs.map(|d| [d.code, d.notes].concat().join("\n"));
        format!("{}: {}\n", c.name, docs.unwrap_or_default())
    };
    for c in crate::completions(&f.db, &f.workspace, f.position) {
        shown.push_str(&show(&c));
    }
    let start = FilePosition {
        offset: 0,
        ..f.position
    };
    let all = crate::completions(&f.db, &f.workspace, start);
    shown.push_str(&show(all.iter().find(|c| c.name == "A").unwrap()));
    expect![[r#"
        n: 
        double: def A.double(self: SomeInstance(A), by: SomeInteger(nonneg, const=2)) -> SomeInteger(nonneg)
        low-level `(*GcStruct main.A, Signed) -> Signed`
        Twice as much.
        A: class A(object)
            n: SomeInteger(nonneg)
        A thing.
        layout `{inst_n: Signed}`
    "#]].assert_eq(&shown);
    let module = "<taipan>/rpython/rlib/rarithmetic.py".into();
    let docs = crate::module_documentation(&f.db, f.db.files().get(&f.db, module));
    expect!["Integers of a given width and signedness, and checked arithmetic."]
        .assert_eq(&docs.map(|d| d.notes.join("\n")).unwrap_or_default());
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
        let codes: Vec<&str> = left.iter().map(|d| d.code.as_str()).collect();
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
            TP0323 Use `compute_hash`: ["from rpython.rlib.objectmodel import compute_hash", "    return compute_hash(argv[0])"] leaves []
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
            TP0319 Decode the byte string: ["    if argv[0].decode('utf-8') == u'x':"] leaves []
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

/// A remedy of a mistake in another module changes nothing here: the name at the import is right.
#[test]
fn slips_in_modules_that_fail() {
    fixes(
        "
        def entry_point(argv):
            import helper
            return helper.n
        #- /helper.py
        length = 1
        n = lenght
        ",
        expect![[r#""#]],
    );
}

#[test]
fn slips_of_names() {
    fixes(
        "
        length = 1
        def entry_point(argv):
            return lenght
        ",
        expect![[r#"
            TP0222 Write `length`: ["    return length"] leaves []
        "#]],
    );
}
