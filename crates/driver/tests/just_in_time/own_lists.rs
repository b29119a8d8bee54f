//! Lists that a field owns beside other lists of the same type.

use std::sync::{Arc, Mutex};

use crate::support::jit::{agrees, database, outcome};
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

/// Residual calls read and write lists that are passed to them.
#[test]
fn lists_that_are_passed() {
    let functions = "@jit.dont_look_inside\ndef peek(l): return l[0].value\n\
                     @jit.dont_look_inside\ndef poke(l, n): l[1] = W(n)\n\
                     @jit.dont_look_inside\ndef same(l): return l\n\
                     @jit.dont_look_inside\ndef turn(l):\n    for i in range(len(l)):\n        \
                     w = l[i]\n        if w is not None: l[i] = l[0]; l[0] = w\ndef step(";
    let calls = [
        "x += peek(frame.stack)",
        "poke(frame.stack, n); x += frame.stack[1].value",
        "l = same(frame.stack); frame.stack[0] = W(n + 1); poke(l, n); x += frame.stack[1].value",
        "turn(frame.stack)",
    ];
    for style in STYLES {
        for call in calls {
            let call = format!("    {call}\n    frame.stack[1] = W(");
            let changes = [
                ("def step(", functions),
                ("    frame.stack[1] = W(", call.as_str()),
            ];
            loops(style, "pass", &changes);
        }
    }
}

/// Helpers of the prelude read and reverse lists of text and numbers.
const HELPERS: &str = "
from rpython.rlib import jit
driver = jit.JitDriver(greens=[], reds=['n', 'acc', 'frame'])
class Frame(object):
    def __init__(self):
        self.p = ['', 'b', 'c']
        self.q = [3, 1, 2]
def main(n):
    frame = Frame()
    acc = 1
    while True:
        driver.jit_merge_point(n=n, frame=frame, acc=acc)
        if n <= 0: return acc
        frame.p[0] = chr(65 + (n & 15))
        acc += ord(''.join(frame.p)[0])
        if 'C' in frame.p: acc += 1
        frame.q[0] = n
        frame.q.reverse()
        acc = (acc * 31 + frame.q[0]) & 0xffffff
        n -= 1
";

#[test]
fn helpers_get_them() {
    agrees(HELPERS, &[30], &[1, 3, 7]);
}

/// A function makes lists and stores them in several frames; the loop uses two of the frames.
const SEVERAL: &str = "
from rpython.rlib import jit
driver = jit.JitDriver(greens=[], reds=['n', 'a', 'b', 'acc'])
class W(object):
    def __init__(self, value): self.value = value
class Frame(object):
    def __init__(self):
        self.stack = None
def several(n):
    all = [Frame() for i in range(n)]
    l = None
    i = 0
    while i < n:
        BODY
        i += 1
    return all
def run(a, b, n):
    acc = 0
    while True:
        driver.jit_merge_point(n=n, a=a, b=b, acc=acc)
        if n <= 0: return acc
        a = jit.promote(a)
        b = jit.promote(b)
        a.stack[0] = W(n)
        b.stack[0] = W(n + 1000)
        acc = (acc * 31 + a.stack[0].value) & 0xfffffff
        n -= 1
def main(n):
    l = several(7)
    return run(l[1], l[2], n)
";

/// A list that is made in one iteration and stored in later ones belongs to several frames.
#[test]
fn made_once_and_stored_often() {
    let bodies = [
        "new = [W(0), W(1), W(2)]\n        if l is None or i == 5: l = new\n        \
         all[i].stack = l",
        "all[i].stack = l\n        new = [W(0), W(1), W(2)]\n        if i == 0: l = new",
    ];
    for body in bodies {
        agrees(&SEVERAL.replace("BODY", body), &[30], &[1, 3]);
    }
}

/// The analysis of a function that passes its list to itself takes linear time.
#[test]
fn recursive_functions_get_them() {
    let kinds = ["+", "-", "*", "&", "|", "^"].iter().enumerate();
    let kinds = kinds.map(|(i, op)| {
        format!(
            "    if k == {}: return W(ev(env, node.a).value {op} ev(env, node.b).value)\n",
            i + 1
        )
    });
    let source = "
from rpython.rlib import jit
driver = jit.JitDriver(greens=['node'], reds=['n', 'f'])
class W(object):
    def __init__(self, value): self.value = value
class Node(object):
    _immutable_fields_ = ['kind', 'a', 'b']
    def __init__(self, kind, a, b):
        self.kind = kind; self.a = a; self.b = b
class Frame(object):
    def __init__(self, n):
        self.env = [W(1)] * n
def ev(env, node):
    k = node.kind
    if k == 0: return env[0]
KINDS    return W(k)
def run(node, f, n):
    while True:
        driver.jit_merge_point(node=node, n=n, f=f)
        if n <= 0: return f.env[0].value
        f.env[0] = ev(f.env, node)
        n -= 1
def main(n):
    one = Node(9, None, None)
    return run(Node(1, Node(0, None, None), Node(3, one, one)), Frame(3), n)
";
    agrees(
        &source.replace("KINDS", &kinds.collect::<String>()),
        &[30],
        &[1, 3],
    );
}
