//! Lists that a field owns beside other lists of the same type.

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

/// The kinds of frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Style {
    /// With a list of fixed length.
    Virtualizable,
    /// The same without `_virtualizable_`.
    Plain,
    /// Without `_virtualizable_`, and with a list that grows.
    Growing,
}

const NO_CHANGE: (&str, &str) = ("pc = 0", "pc = 0");

const STYLES: [Style; 3] = [Style::Virtualizable, Style::Plain, Style::Growing];

/// The program with frames of that kind.
fn source(style: Style) -> String {
    if style == Style::Virtualizable {
        return SOURCE.to_owned();
    }
    let mut source = SOURCE
        .replace(", virtualizables=['frame']", "")
        .replace("    _virtualizable_ = ['w_list', 'stack[*]']\n", "")
        .replace(
            "        self = jit.hint(self, access_directly=True, fresh_virtualizable=True)\n",
            "",
        );
    if style == Style::Growing {
        source = source
            .replace(
                "        self.stack = [None] * 3\n",
                "        self.stack = [None] * 3\n        self.stack.append(None)\n",
            )
            .replace(
                "    frame.stack[0] = W(frame.stack[0].value + n)\n",
                "    frame.stack.append(W(n))\n",
            )
            .replace(
                "= W(frame.stack[0].value ^",
                "= W(frame.stack.pop().value ^",
            );
        assert_eq!(source.matches("append").count(), 2);
    }
    source
}

/// Runs the program with changes and a line before the loop, with and without compiled loops; the code of the
/// loops.
fn loops(style: Style, setup: &str, changes: &[(&str, &str)]) -> String {
    let mut source = source(style).replace("SETUP", setup);
    for (from, to) in changes {
        assert!(source.contains(from));
        source = source.replacen(from, to, 1);
    }
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
            assert_eq!(got, expected, "{style:?} {setup} {engine:?} {threshold}");
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
    let straight = [
        ("0 if w is None else w.value", "w.value"),
        (
            "W_List([None] * 3)\n    frame",
            "W_List([W(7)] * 3)\n    frame",
        ),
    ];
    for style in STYLES {
        let own = loops(style, "pass", &straight);
        let [first, second] = straight;
        let given = (
            "        self.stack = [None] * 3",
            "        self.stack = stack",
        );
        let shared = loops(style, "pass", &[first, second, given]);
        assert!(made(&own) < made(&shared), "{style:?}\n{own}\n{shared}");
    }
}

/// Loops over the list, empty lists of prebuilt frames and lists that are replaced share nothing.
#[test]
fn harmless_uses() {
    let straight = [
        ("0 if w is None else w.value", "w.value"),
        (
            "W_List([None] * 3)\n    frame",
            "W_List([W(7)] * 3)\n    frame",
        ),
    ];
    let uses = [
        (
            "n += count(frame)",
            "def count(frame):\n    n = 0\n    for w in frame.stack:\n        if w is None: n += 1\n    \
             return n\ndef step(",
        ),
        (
            "n += len(other(n).stack)",
            "none = Frame(None, None)\nnone.stack = []\ndef other(n):\n    \
             return none if n else Frame(None, None)\ndef step(",
        ),
        (
            "replace(frame)",
            "def replace(frame):\n    stack = [None] * 3\n    i = 0\n    while i < 3:\n        \
             stack[i] = frame.stack[i]\n        i += 1\n    frame.stack = stack\ndef step(",
        ),
    ];
    for style in [Style::Virtualizable, Style::Plain] {
        let own = loops(style, "pass", &straight);
        for (setup, functions) in uses {
            let [first, second] = straight;
            let used = loops(style, setup, &[first, second, ("def step(", functions)]);
            assert_eq!(made(&own), made(&used), "{style:?}\n{own}\n{used}");
        }
    }
}

/// The list is the stack: whatever way it came by that.
#[test]
fn the_same_list() {
    let ways = [
        // Read from the frame.
        ("frame.w_list = W_List(frame.stack)", NO_CHANGE),
        // Put into the frame.
        (
            "stack = [W(0), W(1), None]; frame.stack = stack; w_list.items = stack",
            NO_CHANGE,
        ),
        // By way of functions.
        (
            "w_list.items = same(frame.stack)",
            ("def step(", "def same(l): return l\ndef step("),
        ),
        (
            "keep(w_list, frame.stack)",
            (
                "def step(",
                "def keep(w_list, l): w_list.items = l\ndef step(",
            ),
        ),
        (
            "w_list.items = chosen(frame, n)",
            (
                "def step(",
                "def chosen(frame, n):\n    l = [None] * 3\n    if n > 3: l = frame.stack\n    \
                 return l\ndef step(",
            ),
        ),
        // Made once, stored in several frames.
        (
            "frame = several(w_list)",
            (
                "def step(",
                "def several(w_list):\n    l = [W(0), W(1), None]\n    i = 0\n    frame = None\n    \
                 while i < 2:\n        old = frame\n        frame = Frame(w_list, [None] * 3)\n        \
                 frame.stack = l\n        i += 1\n    return old\ndef step(",
            ),
        ),
        // Made, stored, and kept.
        (
            "w_list.items = stored(frame)",
            (
                "def step(",
                "def stored(frame):\n    l = [W(0), W(1), None]\n    frame.stack = l\n    \
                 return l\ndef step(",
            ),
        ),
    ];
    for style in STYLES {
        for (setup, change) in ways {
            loops(style, setup, &[change]);
        }
    }
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
    for style in STYLES {
        loops(style, "pass", &[change]);
    }
}
