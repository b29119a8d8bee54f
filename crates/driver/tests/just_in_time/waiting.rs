//! Delayed writes: a push onto a frame that is not virtualizable does not force the box.

use crate::support::jit::{agrees, report_of};
use taipan_driver::Engine;

/// A stack machine with plain frames. Each round pushes and pops boxes.
const MACHINE: &str = "
from rpython.rlib import jit
driver = jit.JitDriver(greens=['pc', 'code'], reds=['frame'])
class W_Int(object):
    def __init__(self, value): self.value = value
class Frame(object):
    def __init__(self):
        self.stack = [None] * 4
        self.depth = 0
        self.x = W_Int(0)
        self.n = W_Int(0)
    def push(self, w):
        self.stack[self.depth] = w
        self.depth += 1
    def pop(self):
        self.depth -= 1
        return self.stack[self.depth]
@jit.dont_look_inside
def look(frame):
    w = frame.stack[0]
    return 0 if w is None else w.value
def step(code, pc, frame):
    op = code[pc]
    if op == 'x': frame.push(frame.x)
    elif op == 'n': frame.push(frame.n)
    elif op == '1': frame.push(W_Int(1))
    elif op == '-': b = frame.pop(); a = frame.pop(); frame.push(W_Int(a.value - b.value))
    elif op == '+': b = frame.pop(); a = frame.pop(); frame.push(W_Int(a.value + b.value))
    elif op == 'X': frame.x = frame.pop()
    elif op == 'N': frame.n = frame.pop()
    elif op == 'l': frame.push(W_Int(look(frame)))
    elif op == 'e': frame.push(W_Int(jit.promote(frame.pop().value & 3)))
def run(code, frame):
    pc = 0
    while True:
        driver.jit_merge_point(pc=pc, code=code, frame=frame)
        if pc == len(code):
            if frame.n.value <= 0: return frame.x.value
            pc = 0
            driver.can_enter_jit(pc=pc, code=code, frame=frame)
        step(code, pc, frame)
        pc += 1
def main(n):
    frame = Frame()
    frame.n = W_Int(n)
    return run('CODE', frame)
";

/// A field of a `Signature` is written before the specialiser calls its elidable method.
const FILLED: &str = "
from rpython.rlib import jit
driver = jit.JitDriver(greens=[], reds=['n', 'x', 'cache'])
class Size(object):
    def __init__(self, n): self.n = n
class Signature(object):
    def __init__(self): self.size = Size(0)
    @jit.elidable
    def count(self): return self.size.n + 1
class Cache(object):
    def __init__(self):
        self.last = None
        self.calls = 0
@jit.dont_look_inside
def make(cache):
    if cache.calls % 100 == 0: cache.last = Signature()
    cache.calls += 1
    return cache.last
def main(n):
    x = 0
    cache = Cache()
    while n > 0:
        driver.jit_merge_point(n=n, x=x, cache=cache)
        s = make(cache)
        s.size = Size(4)
        x += jit.promote(s).count()
        n -= 1
    return x
";

/// Two indexes of one list, equal at run time.
const INDEXES: &str = "
from rpython.rlib import jit
driver = jit.JitDriver(greens=[], reds=['n', 'x', 'frame'])
class W(object):
    def __init__(self, value): self.value = value
class Frame(object):
    def __init__(self, n):
        self.items = [None] * (n & 7 | 4)
        self.a = 3
        self.b = 3
def main(n):
    x = 0
    frame = Frame(n)
    while n > 0:
        driver.jit_merge_point(n=n, x=x, frame=frame)
        items = frame.items
        FIRST = W(n)
        SECOND = W(n + 1000)
        x = (x + FIRST.value) & 0xffff
        n -= 1
    return x
";

/// An object that its constructor stores in a list before it initialises an immutable field.
const PUBLISHED: &str = "
from rpython.rlib import jit
driver = jit.JitDriver(greens=[], reds=['n', 'x', 'k', 'pool'])
class W(object):
    def __init__(self, value): self.value = value
class Node(object):
    _immutable_fields_ = ['FIELD']
    def __init__(self, pool, k, value):
        pool[k] = self
        self.same = pool[2]
        FILL
def main(n):
    x = 0
    pool = [None] * 4
    k = n & 2 | 2
    while n > 0:
        driver.jit_merge_point(n=n, x=x, k=k, pool=pool)
        if n % EVERY == 0:
            node = Node(pool, k, n)
            same = HINT(node.same)
            x = (x + same.READ.value) & 0xffff
        n -= 1
    return x
";

/// A stack machine with a generator of random programs. Its instructions push and pop, read and write lists at variable
/// indexes, use aliases of a list and of a cell, and call functions that stay calls.
const RANDOM: &str = "
from rpython.rlib import jit
driver = jit.JitDriver(greens=['pc', 'code'], reds=['n', 'frame'])
class W_Int(object):
    def __init__(self, value): self.value = value
class Cell(object):
    def __init__(self): self.w = W_Int(0)
class Frame(object):
    def __init__(self, same):
        STACK
        self.locals = [W_Int(i) for i in range(4)]
        self.other = self.locals if same & 1 else [W_Int(9) for i in range(4)]
        self.a = Cell()
        self.b = self.a if same & 2 else Cell()
    def push(self, w):
        PUSH
    def pop(self):
        POP
@jit.dont_look_inside
def look(frame):
    total = frame.a.w.value
    for w in frame.locals: total = (total * 3 + w.value) & 0xffff
    return total
@jit.dont_look_inside
def poke(frame, value):
    frame.other[value & 3] = W_Int(value & 0xff)
    frame.b.w = frame.locals[0]
def step(op, arg, frame):
    if op == 0: frame.push(W_Int(arg))
    elif op == 1: frame.push(frame.locals[arg])
    elif op == 2: frame.locals[arg] = frame.pop()
    elif op == 3:
        b = frame.pop(); a = frame.pop()
        frame.push(W_Int((a.value * 5 + b.value) & 0xffff))
    elif op == 4: frame.push(frame.other[frame.pop().value & 3])
    elif op == 5: frame.other[frame.locals[arg].value & 3] = frame.pop()
    elif op == 6: frame.push(frame.a.w)
    elif op == 7: frame.b.w = frame.pop()
    elif op == 8: frame.push(W_Int(look(frame)))
    elif op == 9: poke(frame, frame.pop().value)
    elif op == 10:
        if frame.locals[arg].value & 1: frame.locals[arg] = W_Int(frame.a.w.value ^ 1)
    elif op == 11:
        a = frame.pop(); b = frame.pop()
        frame.push(a)
        frame.push(b)
    elif op == 12: frame.locals[frame.locals[arg].value & 3] = frame.pop()
    elif op == 13: frame.push(W_Int(1 if frame.a.w is frame.locals[arg] else 0))
def run(code, n, frame):
    pc = 0
    while True:
        driver.jit_merge_point(pc=pc, code=code, n=n, frame=frame)
        if pc == len(code):
            n -= 1
            if n == 0: break
            pc = 0
            driver.can_enter_jit(pc=pc, code=code, n=n, frame=frame)
        step(ord(code[pc]) >> 2, ord(code[pc]) & 3, frame)
        pc += 1
    return look(frame)
TAKES = [0, 0, 1, 2, 1, 1, 0, 1, 0, 1, 0, 2, 1, 0]
GIVES = [1, 1, 0, 1, 1, 0, 1, 0, 1, 0, 0, 2, 0, 1]
def program(seed):
    text = []
    depth = 0
    while len(text) < 24 or depth > 0:
        seed = (seed * 1103515245 + 12345) & 0x7fffffff
        op = (seed >> 16) % 14
        if len(text) >= 24: op = 2
        if TAKES[op] > depth or depth - TAKES[op] + GIVES[op] > 5: continue
        depth += GIVES[op] - TAKES[op]
        text.append(chr(op * 4 + ((seed >> 8) & 3)))
    return ''.join(text)
def main(seed):
    total = 0
    for i in range(12):
        total = (total * 31 + run(program(seed + i * 7919), 40, Frame(seed + i))) & 0xffffff
    return total
";

fn mallocs(code: &str) -> u64 {
    let report = report_of(&MACHINE.replace("CODE", code), &[300], 2, Engine::Native);
    let count = &report.counts["residual"]["malloc"];
    count.as_u64().unwrap_or(0)
}

#[test]
fn boxes_on_the_stack_of_a_plain_frame_are_not_made() {
    // The rest is made where code returns to the interpreter.
    let (short, long) = (mallocs("xn+Xn1-N"), mallocs("xn+n-n+n-n+Xn1-N"));
    assert!(long < 2 * short, "{short} {long}");
}

#[test]
fn boxes_on_a_growing_stack_are_not_made() {
    let growing = MACHINE
        .replace("[None] * 4", "[]")
        .replace("self.stack[self.depth] = w", "self.stack.append(w)")
        .replace("return self.stack[self.depth]", "return self.stack.pop()");
    let made = |code: &str| {
        let report = report_of(&growing.replace("CODE", code), &[300], 2, Engine::Native);
        report.counts["residual"]["malloc"].as_u64().unwrap_or(0)
    };
    let (short, long) = (made("xn+Xn1-N"), made("xn+n-n+n-n+Xn1-N"));
    assert!(long < 2 * short, "{short} {long}");
}

#[test]
fn random_programs_agree() {
    let fixed = [
        "self.stack = [None] * 6; self.depth = 0",
        "self.stack[self.depth] = w; self.depth += 1",
        "self.depth -= 1; return self.stack[self.depth]",
    ];
    let growing = [
        "self.stack = []",
        "self.stack.append(w)",
        "return self.stack.pop()",
    ];
    for [stack, push, pop] in [fixed, growing] {
        let source = RANDOM.replace("STACK", stack);
        let source = source.replace("PUSH", push).replace("POP", pop);
        for seed in [1, 2, 3] {
            agrees(&source, &[seed], &[1, 3]);
        }
    }
}

#[test]
fn functions_that_read_a_place_find_what_was_written() {
    for code in ["xn+l+Xn1-N", "1l+Xnl+Xn1-N", "xn+le+Xn1-N"] {
        agrees(&MACHINE.replace("CODE", code), &[300], &[1, 2, 50]);
    }
}

#[test]
fn functions_that_are_called_while_compiling_find_what_was_written() {
    agrees(FILLED, &[300], &[1, 2, 50]);
}

#[test]
fn indexes_may_be_equal() {
    let places = ["items[frame.a]", "items[frame.b]", "items[3]"];
    for first in places {
        for second in places {
            let source = INDEXES.replace("FIRST", first).replace("SECOND", second);
            agrees(&source, &[60], &[1, 3]);
        }
    }
}

#[test]
fn constant_reads_find_what_was_written() {
    let fields = [
        ("box", "self.box = W(value)", "box"),
        (
            "items[*]",
            "self.items = [None] * k; self.items[1] = W(value)",
            "items[1]",
        ),
    ];
    for (field, fill, read) in fields {
        let source = PUBLISHED.replace("FIELD", field).replace("FILL", fill);
        let source = source.replace("READ", read);
        for (hint, every) in [("", "1"), ("jit.promote", "20")] {
            let source = source.replace("HINT", hint).replace("EVERY", every);
            agrees(&source, &[90], &[1, 3]);
        }
    }
}

/// A push waits at a promotion, and the next one is beside it.
const PUSHES: &str = "
from rpython.rlib import jit
driver = jit.JitDriver(greens=['pc'], reds=['n', 'x', 'frame'])
class W(object):
    def __init__(self, value): self.value = value
class A(object): pass
class Frame(object):
    def __init__(self):
        self.t = [W(0)]
        self.items = [W(1), W(2)]
        self.objs = [A(), A()]
def main(n):
    frame = Frame()
    pc = 0
    x = 0
    while True:
        driver.jit_merge_point(pc=pc, n=n, x=x, frame=frame)
        if n <= 0: break
        jit.promote(frame.objs[INDEX])
        frame.t.append(W(n))
        READ
        pc = 1 - pc
        n -= 1
    return frame.t[0].value * 100 + frame.t[3].value + x * 10000
";

#[test]
fn pushes_wait_at_promotions() {
    for index in ["0", "pc", "n & 1"] {
        for read in ["pass", "x = (x + frame.items[0].value) & 255"] {
            let source = PUSHES.replace("INDEX", index).replace("READ", read);
            agrees(&source, &[40], &[1, 3, 10]);
        }
    }
}
