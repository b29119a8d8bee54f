//! Compiled calls between functions of the interpreted program, whose frames stay virtual.

use crate::support::jit::{database, outcome, reported};
use taipan_driver::Engine;

/// An interpreter for recursive programs; each call allocates a frame.
const SOURCE: &str = "
from rpython.rlib import jit
driver = jit.JitDriver(greens=['pc', 'code'], reds=['frame', 'world'], virtualizables=['frame'])
class W(object):
    _immutable_fields_ = ['value']
    def __init__(self, value): self.value = value
class Thrown(Exception):
    def __init__(self, w): self.w = w
class World(object):
    def __init__(self):
        self.kept = None
        self.calls = 0
class Frame(object):
    _virtualizable_ = ['w_n', 'depth', 'stack[*]']
    def __init__(self, w_n, kind):
        self = jit.hint(self, access_directly=True, fresh_virtualizable=True)
        self.w_n = w_n
        self.depth = 0
        self.stack = [None] * 4
        self.kind = kind
    def push(self, w):
        self.stack[self.depth] = w
        self.depth += 1
    def pop(self):
        self.depth -= 1
        w = self.stack[self.depth]
        self.stack[self.depth] = None
        return w
def call(code, frame, world, less):
    return run(code, Frame(W(frame.w_n.value - less), frame.kind + 1), world)
def run(code, frame, world):
    pc = 0
    while True:
        driver.jit_merge_point(pc=pc, code=code, frame=frame, world=world)
        op = code[pc]
        pc += 1
        if op == '1': frame.push(call(code, frame, world, 1))
        elif op == '2': frame.push(call(code, frame, world, 2))
        elif op == '+': frame.push(W((frame.pop().value + frame.pop().value) & 0xfffff))
        elif op == '?':
            if frame.w_n.value < 2: return frame.w_n
        elif op == 'c': world.calls += 1
        elif op == 'k':
            # Something looks at the frame later.
            if frame.w_n.value % 5 == 3: world.kept = frame
        elif op == 'l':
            kept = world.kept
            if kept is not None: frame.push(W(kept.w_n.value + kept.depth + kept.kind))
            else: frame.push(W(7))
            frame.push(W((frame.pop().value + frame.pop().value) & 0xfffff))
        elif op == 't':
            if frame.w_n.value % 4 == 2: raise Thrown(W(frame.pop().value ^ 5))
        elif op == 'a':
            try: w = call(code, frame, world, 1)
            except Thrown as e: w = e.w
            frame.push(w)
        elif op == 'b':
            try: w = call(code, frame, world, 2)
            except Thrown as e: w = e.w
            frame.push(w)
        elif op == 'd':
            frame.push(call(code, frame, world, 1))
        else:
            return frame.pop()
def start(code, n):
    world = World()
    try: w = run(code, Frame(W(n), 0), world)
    except Thrown as e: w = e.w
    return w.value * 1000 + world.calls % 1000
def fib(n): return start('?c12+.', n)
def keeps(n): return start('?ck12+l.', n)
def throws(n): return start('?cab+t.', n)
def deep(n):
    try: return start('d.', n)
    except RuntimeError: return 1234
";

/// Runs a function with and without the JIT and compares the results. Returns the residual functions.
fn check(func: &str, n: i64) -> Vec<String> {
    let mut db = database(SOURCE);
    let expected = outcome(&db, func, &[n], Engine::Native, None);
    assert!(expected.parse::<i64>().is_ok(), "{func}: {expected}");
    db.generate_jit(true);
    let mut graphs = Vec::new();
    for threshold in [1, 10, 1000] {
        let (got, report) = reported(&db, (func, &[n]), threshold, Engine::Native);
        assert_eq!(got, expected, "{func}, {threshold}");
        graphs.extend(report.graphs.iter().cloned());
    }
    graphs
}

/// Whether a residual function takes a number instead of a frame.
fn gets_a_number(graph: &str) -> bool {
    let first = graph.lines().find(|line| line.contains("block0("));
    first.is_some_and(|line| line.contains("Signed") && !line.contains("main.Frame"))
}

#[test]
fn values_of_frames_are_passed() {
    let graphs = check("fib", 22);
    assert!(graphs.iter().any(|g| gets_a_number(g)), "{graphs:#?}");
}

#[test]
fn frames_that_are_kept_exist() {
    check("keeps", 22);
}

#[test]
fn exceptions_pass_through_calls() {
    check("throws", 22);
}

#[test]
fn the_stack_has_an_end() {
    check("deep", 3);
}
