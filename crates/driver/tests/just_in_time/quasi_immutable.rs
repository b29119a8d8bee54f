//! Fields that seldom change: code that relies on them is invalid once they are written, whoever
//! writes.

use std::sync::{Arc, Mutex};

use crate::support::jit::{database, outcome};
use expect_test::{Expect, expect};
use taipan_driver::{Engine, JitOptions, JitReport};

/// Runs a call without compiled loops, and with them as machine code from the first round on,
/// from the third, and from the tenth; then how often some operations are in the code of
/// the first of these.
fn check(source: &str, (func, args): (&str, &[i64]), expected: &Expect) {
    let mut db = database(source);
    let plain = outcome(&db, func, args, Engine::LLInterp, None);
    db.generate_jit(true);
    let mut text = String::new();
    for threshold in [1, 3, 10] {
        let report = Arc::new(Mutex::new(JitReport::default()));
        let options = JitOptions {
            threshold: Some(threshold),
            report: Some(report.clone()),
            ..JitOptions::default()
        };
        let got = outcome(&db, func, args, Engine::Native, Some(options));
        assert_eq!(got, plain, "threshold {threshold}");
        let report = report.lock().expect("nothing panicked");
        assert_eq!(report.refused, [""; 0]);
        if threshold == 1 {
            let residual = &report.counts["residual"];
            let count = |op: &str| residual[op].as_u64().unwrap_or(0);
            text = format!(
                "reads {}, looks {}, writes {}, of these told of {}",
                count("getfield"),
                count("jit_invalidated"),
                count("setfield"),
                count("jit_force_quasi_immutable")
            );
        }
    }
    expected.assert_eq(&text);
}

const TREE: &str = "
from rpython.rlib import jit
class Node(object):
    _immutable_fields_ = ['left?', 'right?', 'n?']
    def __init__(self, n, left, right):
        self.n = n
        self.left = left
        self.right = right
    def run(self, x):
        if self.left is not None: x = self.left.run(x)
        if self.right is not None: x = self.right.run(x)
        return (x * 3 + self.n) & 0xffff
driver = jit.JitDriver(greens=['how', 'node'], reds=['n', 'i', 'x', 'other'])
@jit.dont_look_inside
def outside(node, i):
    if i % 50 == 30: node.right = Node(i, node.left, None)
    if i % 50 == 40: node.left.n += 1
@jit.dont_look_inside
def harmless(i):
    return i & 7
def loop(node, other, n, how):
    i = x = 0
    while i < n:
        driver.jit_merge_point(how=how, node=node, n=n, i=i, x=x, other=other)
        x = node.run(x)
        if how == 1: outside(node, i)
        elif how == 2:
            if i % 32 == 20: node.n = i
        elif how == 3:
            x = node.run(x) + harmless(x)
            x = node.run(x)
        elif how == 4:
            other.n = i
            x = node.run(x)
        i += 1
    return x
def tree():
    return Node(1, Node(2, None, None), Node(3, Node(4, None, None), None))
def never(n): return loop(tree(), None, n, 0)
def by_calls(n): return loop(tree(), None, n, 1)
def by_code(n): return loop(tree(), None, n, 2)
def harmless_calls(n): return loop(tree(), None, n, 3)
def others(n):
    t = tree()
    return loop(t, Node(9, None, None), n, 4)
def shared(n):
    t = tree()
    return loop(t, t.left, n, 4)
def all(n):
    return by_calls(n) + by_code(n) + harmless_calls(n) + others(n) + shared(n)
def entry_point(argv):
    n = len(argv)
    return never(n) + all(n)
def target(driver, args):
    return entry_point, None
";

/// One look in front of the loop; nothing is read.
#[test]
fn fields_that_never_change() {
    check(
        TREE,
        ("never", &[200]),
        &expect!["reads 0, looks 1, writes 0, of these told of 0"],
    );
}

/// What calls write is noticed; after calls that write no such field nobody looks.
#[test]
fn fields_that_calls_write() {
    check(
        TREE,
        ("by_calls", &[200]),
        &expect!["reads 6, looks 3, writes 0, of these told of 0"],
    );
    check(
        TREE,
        ("harmless_calls", &[200]),
        &expect!["reads 0, looks 1, writes 0, of these told of 0"],
    );
}

/// Compiled code writes, into objects that other code relies on, and others.
#[test]
fn fields_that_compiled_code_writes() {
    check(
        TREE,
        ("by_code", &[200]),
        &expect!["reads 1, looks 2, writes 7, of these told of 1"],
    );
    check(
        TREE,
        ("others", &[200]),
        &expect!["reads 0, looks 2, writes 1, of these told of 1"],
    );
    check(
        TREE,
        ("shared", &[200]),
        &expect!["reads 2, looks 22, writes 10, of these told of 10"],
    );
    check(
        TREE,
        ("all", &[300]),
        &expect!["reads 11, looks 30, writes 21, of these told of 12"],
    );
}

const INSTRUCTIONS: &str = "
from rpython.rlib import jit
class Table(object):
    _immutable_fields_ = ['a?', 'b?', 'c?', 'd?', 'e?', 'f?', 'g?', 'h?']
    def __init__(self): self.a = self.b = self.c = self.d = self.e = self.f = self.g = self.h = 1
driver = jit.JitDriver(greens=['pc', 'code', 'table'], reds=['n', 'total'])
@jit.dont_look_inside
def write(table, n):
    which = n // 100 % 8
    if which == 0: table.a = n
    elif which == 1: table.b = n
    elif which == 2: table.c = n
    elif which == 3: table.d = n
    elif which == 4: table.e = n
    elif which == 5: table.f = n
    elif which == 6: table.g = n
    else: table.h = n
def run(code, table, n):
    pc = total = 0
    while True:
        driver.jit_merge_point(pc=pc, code=code, table=table, n=n, total=total)
        op = code[pc]
        pc += 1
        if op == 'x': total += table.a + table.b + table.c + table.d + table.e + table.f + table.g + table.h
        elif op == 'a':
            if total & 1: total ^= n
        elif op == 'w':
            if n % 100 == 0: write(table, n)
        elif op == 'l':
            n -= 1
            if n == 0: return total & 0xffffff
            pc = 0
            driver.can_enter_jit(pc=pc, code=code, table=table, n=n, total=total)
def main(n): return run('xaxwal', Table(), n)
";

/// A cold path does not jump into code with invalidated assumptions. The jump's check would fail, compile the path
/// again, and emit the same jump, forever.
#[test]
fn what_is_invalid_is_not_joined() {
    let mut db = database(INSTRUCTIONS);
    let plain = outcome(&db, "main", &[3000], Engine::Native, None);
    db.generate_jit(true);
    for threshold in [3, 100, 300] {
        let options = JitOptions {
            threshold: Some(threshold),
            ..JitOptions::default()
        };
        let got = outcome(&db, "main", &[3000], Engine::Native, Some(options));
        assert_eq!(got, plain, "threshold {threshold}");
    }
}
