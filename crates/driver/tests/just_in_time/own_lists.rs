//! Lists of virtualizables beside other lists of the same type.

use std::sync::{Arc, Mutex};

use crate::support::jit::{database, outcome};
use taipan_driver::{Engine, JitOptions, JitReport, Splits};

/// A frame whose stack has items of the same class as the list that the program writes to.
const SOURCE: &str = "
from rpython.rlib import jit
driver = jit.JitDriver(greens=['pc'], reds=['n', 'frame'], virtualizables=['frame'])
class W(object):
    _immutable_fields_ = ['value']
    def __init__(self, value): self.value = value
class W_List(object):
    def __init__(self, items): self.items = items
class Frame(object):
    _virtualizable_ = ['w_list', 'stack[*]']
    def __init__(self, w_list, stack):
        self = jit.hint(self, access_directly=True, fresh_virtualizable=True)
        self.w_list = w_list
        self.stack = [None] * 3
        self.stack[0] = W(0)
        self.stack[1] = W(1)
def step(frame, n):
    # A write and a read of the list, between a write to the frame's stack and a read of it.
    frame.stack[0] = W(frame.stack[0].value + n)
    frame.w_list.items[n & 1] = W(n)
    w = frame.w_list.items[n & 2]
    x = 0 if w is None else w.value
    frame.stack[1] = W(frame.stack[0].value ^ frame.stack[1].value ^ x)
def run(frame, n):
    pc = 0
    while n > 0:
        driver.jit_merge_point(pc=pc, n=n, frame=frame)
        step(frame, n)
        n -= 1
        pc = 0
        driver.can_enter_jit(pc=pc, n=n, frame=frame)
    return frame.stack[0].value * 1000 + frame.stack[1].value
def main(n):
    w_list = W_List([None] * 3)
    frame = Frame(w_list, [None] * 3)
    SETUP
    result = run(frame, n)
    for w in w_list.items:
        if w is not None:
            result = result * 10 + w.value
    return result
";

/// Runs the program with a line before the loop, with and without compiled loops; the code of the
/// loops.
fn loops(setup: &str, change: (&str, &str)) -> String {
    assert!(SOURCE.contains(change.0));
    let source = SOURCE
        .replace("SETUP", setup)
        .replacen(change.0, change.1, 1);
    let mut db = database(&source);
    let expected = outcome(&db, "main", &[40], Engine::LLInterp, None);
    db.generate_jit(true);
    let report = Arc::new(Mutex::new(JitReport::default()));
    for engine in [Engine::Native, Engine::LLInterp] {
        for threshold in [1, 3] {
            let options = JitOptions {
                splits: Splits::Lazy,
                threshold: Some(threshold),
                report: Some(report.clone()),
                ..JitOptions::default()
            };
            let got = outcome(&db, "main", &[40], engine, Some(options));
            assert_eq!(got, expected, "{setup} {engine:?} {threshold}");
        }
    }
    let report = report.lock().expect("nothing panicked");
    assert_eq!(report.refused, [""; 0]);
    report.graphs.join("\n")
}

/// How many objects are made in residual code.
fn made(graphs: &str) -> usize {
    graphs.matches("malloc(<type GcStruct main.W>").count()
}

/// The frame owns its stack: reads and writes of another list force no box on it.
#[test]
fn nothing_else_has_them() {
    let own = loops("pass", ("pc = 0", "pc = 0"));
    let shared = loops(
        "frame.w_list.items[0] = None",
        ("self.stack = [None] * 3", "self.stack = stack"),
    );
    assert!(made(&own) < made(&shared), "{own}\n{shared}");
}

/// The list is the stack: whatever way it came by that.
#[test]
fn the_same_list() {
    // Read from the frame.
    loops("frame.w_list = W_List(frame.stack)", ("pc = 0", "pc = 0"));
    // Put into the frame.
    loops(
        "stack = [W(0), W(1), None]; frame.stack = stack; w_list.items = stack",
        ("pc = 0", "pc = 0"),
    );
    // By way of functions.
    loops(
        "w_list.items = same(frame.stack)",
        ("def step(", "def same(l): return l\ndef step("),
    );
    loops(
        "keep(w_list, frame.stack)",
        (
            "def step(",
            "def keep(w_list, l): w_list.items = l\ndef step(",
        ),
    );
    loops(
        "w_list.items = chosen(frame, n)",
        (
            "def step(",
            "def chosen(frame, n):\n    l = [None] * 3\n    if n > 3: l = frame.stack\n    return l\ndef step(",
        ),
    );
}

/// A prebuilt frame has a list that something else has as well.
#[test]
fn a_prebuilt_frame() {
    let change = (
        "def main(n):\n    w_list = W_List([None] * 3)\n    frame = Frame(w_list, [None] * 3)\n",
        "prebuilt = Frame(W_List([None] * 3), [None] * 3)\nprebuilt.w_list.items = prebuilt.stack\n\
         def main(n):\n    frame = prebuilt\n    w_list = frame.w_list\n    \
         frame.stack[0] = W(0)\n    frame.stack[1] = W(1)\n",
    );
    loops("pass", change);
}
