//! Warnings about what RPython does otherwise than Python, their levels, and comments that suppress them.

use std::path::Path;
use std::process::{Command, Output};

use expect_test::{Expect, expect};

/// Classes with special methods, and a class that has none.
const CLASSES: &str = "\
from rpython.rlib.objectmodel import not_rpython

class Node(object):
    pass

class Num(Node):
    def __init__(self, n):
        self.n = n
    def __eq__(self, other):
        return self.n == other.n
    def __ne__(self, other):
        return self.n != other.n
    def __hash__(self):
        return 1
    def __repr__(self):
        return 'Num'

class Stack(object):
    def __init__(self, items):
        self.items = items
    def __len__(self):
        return len(self.items)
    def __contains__(self, x):
        return x in self.items
    @not_rpython
    def __str__(self):
        return 'Stack'

class Plain(object):
    pass

class Base(object):
    by_body = 1
    def __init__(self):
        self.common = 2

class Leaf(Base):
    def __init__(self, n):
        Base.__init__(self)
        self.leaf = n
    def show(self):
        return self.leaf

class Other(Base):
    pass

class Third(Leaf):
    pass

PREBUILT = [Leaf(1), Other()]
PREBUILT[0].extra = 5

class Fault(Exception):
    def __init__(self, message):
        self.message = message

class Shown(Fault):
    def __str__(self):
        return self.message
";

fn taipan(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
    command.current_dir(folder).args(args);
    command.env("NO_COLOR", "1").output().unwrap()
}

/// Writes a program whose entry point has these statements.
fn write(folder: &Path, body: &str) {
    let mut text = format!("{CLASSES}\ndef entry_point(argv):\n    n = len(argv)\n");
    for line in body.lines() {
        text += &format!("    {line}\n");
    }
    text += "    return 0\n";
    std::fs::write(folder.join("main.py"), text).unwrap();
}

/// Warnings of the program in a folder, a line for each: the code, the marked text and the message.
fn warnings_of(folder: &Path) -> String {
    let out = taipan(folder, &["check", "--no-cache", "--format", "json"]);
    let source = std::fs::read_to_string(folder.join("main.py")).unwrap();
    let lines: Vec<&str> = source.lines().collect();
    let found: Vec<serde_json::Value> = serde_json::from_slice(&out.stdout).unwrap();
    let mut text = String::new();
    for d in found {
        let at = |key: &str| d[key].as_u64().unwrap() as usize - 1;
        let marked = &lines[at("line")][at("column")..at("end_column")];
        let (code, message) = (d["code"].as_str().unwrap(), d["message"].as_str().unwrap());
        assert_eq!(d["severity"], "warning", "{message}");
        text += &format!("{code} `{marked}` {message}\n");
    }
    text
}

/// Compares the warnings of a program with these statements.
#[track_caller]
fn told(body: &str, expected: Expect) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), body);
    expected.assert_eq(&warnings_of(folder.path()));
}

#[test]
fn methods_that_are_not_called() {
    told(
        "a, b = Num(n), Num(2)\nprint a == b, a != b\nprint a in [b]\nprint (a, 1) == (b, 1)\n\
         nodes = [Node(), a]\nprint nodes[n] == nodes[0]\n\
         print a\nprint str(a)\nprint 'x %s %d' % (a, n)\nprint '%s' % a\n\
         s = Stack([n])\nif s:\n    print 1\nwhile not s:\n    print 2\n\
         d = {}\nd[a] = 1\nprint d[b], b in d",
        expect![[r#"
            TP0430 `a == b` instances are compared by identity: main.Num.__eq__ is not called
            TP0430 `a != b` instances are compared by identity: main.Num.__ne__ is not called
            TP0430 `a in [b]` instances are compared by identity: main.Num.__eq__ is not called
            TP0430 `(a, 1) == (b, 1)` instances are compared by identity: main.Num.__eq__ is not called
            TP0430 `nodes[n] == nodes[0]` instances are compared by identity: main.Num.__eq__ is not called
            TP0431 `a` the text of an instance has the name of its class: main.Num.__repr__ is not called
            TP0431 `str(a)` the text of an instance has the name of its class: main.Num.__repr__ is not called
            TP0431 `'x %s %d' % (a, n)` the text of an instance has the name of its class: main.Num.__repr__ is not called
            TP0431 `'%s' % a` the text of an instance has the name of its class: main.Num.__repr__ is not called
            TP0432 `s` an instance is false where it is None only: main.Stack.__len__ is not called
            TP0432 `s` an instance is false where it is None only: main.Stack.__len__ is not called
            TP0433 `d[a]` dicts find instances by identity: main.Num.__eq__ is not called
            TP0433 `d[b]` dicts find instances by identity: main.Num.__eq__ is not called
            TP0433 `b in d` dicts find instances by identity: main.Num.__eq__ is not called
        "#]],
    );
}

/// The text of an exception has none of its arguments.
#[test]
fn texts_of_exceptions() {
    told(
        "try:\n    if n > 2:\n        raise Shown('c')\n    if n > 1:\n        raise Fault('b')\n    raise ValueError('a')\n\
         except ValueError as e:\n    print e\n    print 'x %s' % e, repr(e)\n\
         except Shown as e:\n    print e\n\
         except Fault as e:\n    print str(e), e.message",
        expect![[r#"
            TP0431 `e` the text of an instance has the name of its class: exceptions.ValueError.__str__ is not called
            TP0431 `'x %s' % e` the text of an instance has the name of its class: exceptions.ValueError.__str__ is not called
            TP0431 `repr(e)` the text of an instance has the name of its class: exceptions.ValueError.__repr__ is not called
            TP0431 `e` the text of an instance has the name of its class: main.Shown.__str__ is not called
            TP0431 `str(e)` the text of an instance has the name of its class: main.Fault.__str__ is not called
        "#]],
    );
}

/// Operations that are as in Python, or for which no method is meant.
#[test]
fn methods_that_nobody_misses() {
    told(
        "a, s, p = Num(n), Stack([n]), Plain()\nprint a is a, a is None\nprint p == p, p in [p]\n\
         print str(p), p\nassert n < 9, 'no ' + str(a)\nprint s, len(s), n in s\n\
         if p:\n    print 1\n\
         maybe = None\nif n > 1:\n    maybe = s\nif maybe:\n    print 2\n\
         base = Node()\nif n > 2:\n    base = a\nprint str(base)\n\
         d = {}\nd[p] = 1\nprint p in d\nprint a.__eq__(a)",
        expect![[r#"
            TP0432 `maybe` an instance is false where it is None only: main.Stack.__len__ is not called
        "#]],
    );
}

/// Attributes that some objects of a class lack, beside those that all have and those of a variable that `isinstance()` narrows.
#[test]
fn attributes_that_some_objects_lack() {
    told(
        "\
for x in [Leaf(n), Other(), Third(n)]:
    x.late = n
    print x.leaf, x.show()
    print x.common, x.by_body, x.late
    if isinstance(x, Leaf):
        print x.leaf
    if n > 5:
        assert isinstance(x, Leaf)
        print x.leaf, x.show()
    print x.leaf  # noqa: TP0435
print PREBUILT[n].extra",
        expect![[r#"
            TP0435 `x.leaf` `leaf` is read through class main.Base, and objects of main.Other have no value there: it is set in main.Leaf and main.Third alone
            TP0435 `PREBUILT[n].extra` `extra` is read through class main.Base, and objects of main.Other have no value there: it is set in main.Leaf and main.Third alone
        "#]],
    );
}

/// The list `sys.argv` by all its names, where it is used or returned, and lists that only look like it.
#[test]
fn command_line_of_the_compiler() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    let program = "\
import sys
from sys import argv as words
again = words
copy = words[:]

def first():
    from sys import argv
    return argv

def count(args):
    return len(args)

def unreached():
    return len(sys.argv)

def entry_point(argv):
    print sys.argv[0], ' '.join(words)
    for word in again:
        print word
    print len(first()), count(sys.argv), count(argv), count(copy)
    print len(sys.argv)  # noqa: TP0434
    return 0
";
    std::fs::write(folder.join("main.py"), program).unwrap();
    let message = "`sys.argv` is a constant: the command line of the compiler, not of the program";
    let places = ["argv", "sys.argv", "' '.join(words)", "again", "sys.argv"];
    let wanted = places.map(|place| format!("TP0434 `{place}` {message}\n"));
    assert_eq!(warnings_of(folder), wanted.concat());
    let out = taipan(folder, &["build", "--no-cache", "-o", "main", "main.py"]);
    let stderr = String::from_utf8(out.stderr).unwrap();
    assert!(out.status.success(), "{stderr}");
    // It has the words `rpython` and the target, as in the original.
    let mut command = Command::new(folder.join("main"));
    let out = command.args(["a", "b", "c"]).output().unwrap();
    let stdout = String::from_utf8(out.stdout).unwrap();
    assert!(stdout.starts_with("rpython rpython "), "{stdout}");
    assert!(stdout.ends_with("\n2 2 4 2\n2\n"), "{stdout}");
}

/// Imports, variables and statements without use, beside those that have one or are there on purpose.
#[test]
fn code_without_use() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    let file = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    file(
        "main.py",
        "\
from __future__ import division
import os, math
import os.path
import helper
from helper import (one,
                    two as second, three)
from offered import passed_on
try:
    import fast
except ImportError:
    fast = None

def values():
    return
    yield 1

def work(n):
    unused = n + 1
    used = n + 2
    _ignored = n
    a, b = n, n
    for i in range(3):
        pass
    if n > 3:
        return used
        print n
    elif n > 2:
        raise ValueError
    else:
        return 2
    n += 1
    print n

def late(n):
    while True:
        if n > 3:
            break
            n += 2
        n += 1
    return n
    assert False, 'not here'

def entry_point(argv):
    for v in values():
        print v
    print one(), helper.CONSTANT, helper.handed, a_word
    return work(len(argv)) + late(1)

a_word = 'math'
",
    );
    file(
        "helper.py",
        "\
from offered import handed, passed_on
import sys
CONSTANT = 1

def one():
    return 1
def two():
    return 2
def three():
    return 3
",
    );
    file("offered.py", "handed = 1\npassed_on = 2\n");
    let out = taipan(folder, &["check", "--no-cache", "--format", "json"]);
    let found: Vec<serde_json::Value> = serde_json::from_slice(&out.stdout).unwrap();
    let mut text = String::new();
    for d in found {
        let name = d["file"].as_str().unwrap().rsplit('/').next().unwrap();
        text += &format!(
            "{name}:{}:{} {} {}\n",
            d["line"],
            d["column"],
            d["code"].as_str().unwrap(),
            d["message"].as_str().unwrap()
        );
    }
    expect![[r#"
        main.py:2:8 TP0020 `os` is imported, and nothing uses it
        main.py:6:28 TP0020 `second` is imported, and nothing uses it
        main.py:6:36 TP0020 `three` is imported, and nothing uses it
        main.py:7:21 TP0020 `passed_on` is imported, and nothing uses it
        main.py:18:5 TP0021 variable `unused` gets a value, and nothing uses it
        main.py:26:9 TP0022 nothing reaches this code
        main.py:31:5 TP0022 nothing reaches this code
        main.py:38:13 TP0022 nothing reaches this code
        helper.py:1:29 TP0020 `passed_on` is imported, and nothing uses it
        helper.py:2:8 TP0020 `sys` is imported, and nothing uses it
    "#]]
    .assert_eq(&text);
}

#[test]
fn levels_and_comments() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    let check = |config: &str, body: &str| {
        std::fs::write(folder.join("pyproject.toml"), config).unwrap();
        write(folder, body);
        let out = taipan(folder, &["check"]);
        let stderr = String::from_utf8(out.stderr).unwrap();
        let firsts = stderr.lines().filter(|l| l.contains("[TP"));
        let kinds: Vec<&str> = firsts.map(|l| l.split(':').next().unwrap()).collect();
        (out.status.code().unwrap(), kinds.join(" "))
    };
    let body = "print Num(n) == Num(2)";
    let warned = (0, "warning[TP0430]".to_owned());
    assert_eq!(check("", body), warned);
    let table = |rule: &str| format!("[tool.taipan.rules]\n{rule}\n");
    // The same entry of the cache serves all levels.
    assert_eq!(
        check(&table("TP0430 = 'error'"), body),
        (1, "error[TP0430]".to_owned())
    );
    assert_eq!(check(&table("TP0430 = 'ignore'"), body), (0, String::new()));
    assert_eq!(
        check("", &format!("{body}  # noqa: TP0430")),
        (0, String::new())
    );
    assert_eq!(check("", &format!("{body}  # noqa: TP0317")), warned);
    assert_eq!(
        check("", &format!("# taipan: noqa: TP0430\n{body}")),
        (0, String::new())
    );
    // A comment hides no error.
    assert_eq!(
        check("", "print n + 'a'  # noqa"),
        (1, "error[TP0303]".to_owned())
    );
    let (code, told) = check(&table("TP0303 = 'ignore'"), body);
    assert_eq!((code, &*told), (0, "warning[TP0011] warning[TP0430]"));
}

/// Fixes that are certain are applied, and nothing else is changed.
#[test]
fn fixes() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    let program = |body: &str| {
        write(folder, body);
        std::fs::read_to_string(folder.join("main.py")).unwrap()
    };
    program(
        "s = Stack([n])\nif s and n > 1:\n    print hash('a'), hash('b')\nprint Num(n) == Num(2)\nprint n ** 2",
    );
    let out = taipan(folder, &["check", "--no-cache", "--fix"]);
    assert_eq!(out.status.code(), Some(1));
    let stderr = String::from_utf8(out.stderr).unwrap();
    assert!(
        stderr.contains("taipan: fixed 2 problems in main.py\n"),
        "{stderr}"
    );
    assert!(
        stderr.contains("TP0220") && !stderr.contains("TP0323"),
        "{stderr}"
    );
    let fixed = std::fs::read_to_string(folder.join("main.py")).unwrap();
    // The warnings come when the errors are gone.
    let wanted = program(
        "s = Stack([n])\nif s and n > 1:\n    print compute_hash('a'), compute_hash('b')\nprint Num(n) == Num(2)\nprint n ** 2",
    );
    let import = "from rpython.rlib.objectmodel import not_rpython\n";
    let wanted = wanted.replace(
        import,
        &format!("{import}from rpython.rlib.objectmodel import compute_hash\n"),
    );
    assert_eq!(fixed, wanted);
    program("s = Stack([n])\nif s and n > 1:\n    print 1\nprint Num(n) == Num(2)");
    let out = taipan(folder, &["check", "--no-cache", "--fix"]);
    let stderr = String::from_utf8(out.stderr).unwrap();
    assert!(stderr.contains("fixed 1 problem in main.py"), "{stderr}");
    assert!(
        !stderr.contains("TP0432") && stderr.contains("TP0430"),
        "{stderr}"
    );
    let fixed = std::fs::read_to_string(folder.join("main.py")).unwrap();
    assert!(fixed.contains("    if len(s) > 0 and n > 1:\n"), "{fixed}");
    // Nothing is left to fix.
    let out = taipan(folder, &["check", "--no-cache", "--fix"]);
    let stderr = String::from_utf8(out.stderr).unwrap();
    assert!(!stderr.contains("fixed"), "{stderr}");
}
