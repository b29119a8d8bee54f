//! Interpreters with a `JitDriver`: with compiled loops they compute what they compute
//! without, whenever loops are compiled, and little is left of them.

use std::sync::{Arc, Mutex};

use crate::support::jit::{database, outcome, report_of};
use expect_test::{Expect, expect};
use taipan_driver::{Engine, JitOptions, JitReport, Splits};

/// Runs calls with and without compiled loops. Returns what was compiled in the end for the
/// last call with lazy splits.
fn check(source: &str, calls: &[(&str, &[i64])]) -> JitReport {
    let mut db = database(source);
    let expected: Vec<String> = (calls.iter())
        .map(|(func, args)| outcome(&db, func, args, Engine::LLInterp, None))
        .collect();
    db.generate_jit(true);
    let report = Arc::new(Mutex::new(JitReport::default()));
    for splits in [Splits::Eager, Splits::Lazy] {
        for threshold in [1, 2, 5] {
            for ((func, args), expected) in calls.iter().zip(&expected) {
                let options = JitOptions {
                    splits,
                    threshold: Some(threshold),
                    report: Some(report.clone()),
                    ..JitOptions::default()
                };
                let got = outcome(&db, func, args, Engine::LLInterp, Some(options));
                assert_eq!(&got, expected, "{func}{args:?}, {splits:?}, {threshold}");
            }
        }
    }
    let report = report.lock().expect("nothing panicked").clone();
    // As machine code, which is compiled in parts.
    let native = Arc::new(Mutex::new(JitReport::default()));
    for ((func, args), expected) in calls.iter().zip(&expected) {
        let options = JitOptions {
            splits: Splits::Lazy,
            threshold: Some(1),
            report: Some(native.clone()),
            ..JitOptions::default()
        };
        let got = outcome(&db, func, args, Engine::Native, Some(options));
        assert_eq!(&got, expected, "{func}{args:?}, machine code");
    }
    let native = native.lock().expect("nothing panicked").clone();
    assert_eq!(native.refused, [""; 0]);
    assert!(native.functions > 0);
    assert_eq!(report.refused, [""; 0]);
    report
}

/// The operations of all residual functions, in alphabetical order.
fn residual(report: &JitReport, expected: &Expect) {
    let mut text = format!("{} functions\n", report.functions);
    if let Some(all) = report.counts["residual"].as_object() {
        for (name, n) in all {
            text += &format!("{name} {n}\n");
        }
    }
    expected.assert_eq(&text);
}

const STACK: &str = "
from rpython.rlib import jit
PUSH, ADD, SUB, DUP, JNZ, LOAD, STORE, RET = range(8)
driver = jit.JitDriver(greens=['pc', 'code'], reds=['stack', 'sp', 'x'])
def interp(code, x):
    stack = [0] * 10
    sp = 0
    pc = 0
    while pc < len(code):
        driver.jit_merge_point(pc=pc, code=code, stack=stack, sp=sp, x=x)
        op = ord(code[pc])
        pc += 1
        if op == PUSH:
            stack[sp] = ord(code[pc])
            sp += 1
            pc += 1
        elif op == ADD:
            sp -= 1
            stack[sp-1] += stack[sp]
        elif op == SUB:
            sp -= 1
            stack[sp-1] -= stack[sp]
        elif op == DUP:
            stack[sp] = stack[sp-1]
            sp += 1
        elif op == LOAD:
            stack[sp] = x
            sp += 1
        elif op == STORE:
            sp -= 1
            x = stack[sp]
        elif op == JNZ:
            sp -= 1
            target = ord(code[pc])
            pc += 1
            if stack[sp] != 0:
                if target < pc:
                    driver.can_enter_jit(pc=target, code=code, stack=stack, sp=sp, x=x)
                pc = target
        elif op == RET:
            return stack[sp-1]
    return -1
def main(n):
    # acc = 0; while x: acc += x; x -= 1
    code = ''.join([chr(c) for c in [PUSH, 0, LOAD, ADD, LOAD, PUSH, 1, SUB, DUP, STORE, JNZ, 2, RET]])
    return interp(code, n)
";

/// Of an interpreter of a stack of integers nothing is left but the stack.
#[test]
fn a_stack_machine() {
    let report = check(STACK, &[("main", &[1]), ("main", &[3]), ("main", &[100])]);
    residual(
        &report,
        &expect![[r#"
            1 functions
            getarrayitem 3
            int_add 5
            int_lt 5
            int_ne 1
            int_sub 4
            setarrayitem 5
        "#]],
    );
}

const OBJECTS: &str = "
from rpython.rlib import jit
class Box(object):
    pass
class IntBox(Box):
    _immutable_fields_ = ['value']
    def __init__(self, value): self.value = value
    def add(self, other): return other.add_int(self.value)
    def add_int(self, v): return IntBox(self.value + v)
    def add_float(self, f): return FloatBox(self.value + f)
    def is_true(self): return self.value != 0
    def sub(self, n): return IntBox(self.value - n)
    def as_int(self): return self.value
class FloatBox(Box):
    _immutable_fields_ = ['value']
    def __init__(self, value): self.value = value
    def add(self, other): return other.add_float(self.value)
    def add_int(self, v): return FloatBox(self.value + v)
    def add_float(self, f): return FloatBox(self.value + f)
    def is_true(self): return self.value != 0.0
    def sub(self, n): return FloatBox(self.value - n)
    def as_int(self): return int(self.value)
class Frame(object):
    def __init__(self, code, arg):
        self.code = code
        self.stack = [None] * 8
        self.sp = 0
        self.arg = arg
        self.acc = IntBox(0)
    def push(self, w):
        self.stack[self.sp] = w
        self.sp += 1
    def pop(self):
        self.sp -= 1
        w = self.stack[self.sp]
        assert w is not None
        return w
class Stop(Exception):
    def __init__(self, w): self.w = w
driver = jit.JitDriver(greens=['pc', 'code'], reds=['frame'])
def step(frame, op, arg):
    if op == 'a': frame.push(frame.acc)
    elif op == 'x': frame.push(frame.arg)
    elif op == '+': frame.push(frame.pop().add(frame.pop()))
    elif op == 'S': frame.acc = frame.pop()
    elif op == 'd': frame.push(frame.pop().sub(1))
    elif op == 'X': frame.arg = frame.pop()
    elif op == 'R': raise Stop(frame.acc)
def interp(frame):
    pc = 0
    code = frame.code
    while True:
        driver.jit_merge_point(pc=pc, code=code, frame=frame)
        op = code[pc]
        pc += 1
        if op == 'J':
            if frame.pop().is_true():
                pc = 0
                driver.can_enter_jit(pc=pc, code=code, frame=frame)
        else:
            step(frame, op, 0)
def main(n, f):
    if f: b = FloatBox(float(n))
    else: b = IntBox(n)
    frame = Frame('ax+SxdXxJR', b)
    try:
        interp(frame)
    except Stop as e:
        return e.w.as_int()
    return -1
";

/// Methods are compiled into the loop once the class is known, for each class that comes;
/// objects that live for a moment only are never made.
#[test]
fn boxed_objects() {
    let report = check(
        OBJECTS,
        &[("main", &[1, 0]), ("main", &[9, 0]), ("main", &[9, 1])],
    );
    residual(
        &report,
        &expect![[r#"
            1 functions
            exc_set 1
            float_add 2
            float_ne 2
            float_sub 2
            getarrayitem 1
            getfield 10
            int_add 7
            int_lt 4
            int_sub 1
            malloc 5
            setarrayitem 6
            setfield 36
        "#]],
    );
}

const CACHES: &str = "
from rpython.rlib import jit
class Entry(object):
    _immutable_fields_ = ['key', 'value', 'next']
    def __init__(self, key, value, next):
        self.key, self.value, self.next = key, value, next
class Place(object):
    def __init__(self):
        self.first = None
        self.made = 0
    @jit.elidable
    def lookup(self, key):
        e = self.first
        while e is not None:
            if e.key == key: return e
            e = e.next
        return None
    @jit.elidable
    def wanted(self, key):
        e = self.first
        while e is not None:
            if e.key == key: return e.value
            e = e.next
        raise KeyError
    @jit.dont_look_inside
    def add(self, key):
        self.made += 1
        self.first = Entry(key, self.made, self.first)
        return self.first
    def find(self, key):
        e = self.lookup(key)
        if e is None: e = self.add(key)
        return e.value
    def find_or_raise(self, key):
        try: return self.wanted(key)
        except KeyError: return self.add(key).value
driver = jit.JitDriver(greens=['raising', 'place'], reds=['n', 'acc'])
def main(n, raising):
    place = Place()
    acc = 0
    while n > 0:
        driver.jit_merge_point(raising=raising, place=place, n=n, acc=acc)
        assert not jit.we_are_jitted()
        key = jit.promote(n % 3)
        if raising: acc += place.find_or_raise(key)
        else: acc += place.find(key)
        n -= 1
    return acc * 1000 + place.made
";

/// Elidable functions find nothing until the program has made what they look for: that it
/// was not there is no constant. Assertions are left out, those as well that say that code is
/// not compiled.
#[test]
fn caches_that_fill_up() {
    let report = check(CACHES, &[("main", &[40, 0]), ("main", &[40, 1])]);
    residual(
        &report,
        &expect![[r#"
        1 functions
        getfield 1
        int_add 4
        int_gt 3
        int_mod 1
        int_mul 1
        int_sub 3
    "#]],
    );
}

const FOUND_LATER: &str = "
from rpython.rlib import jit
class Table(object):
    def __init__(self): self.found = None; self.looked = 0
    @jit.elidable
    def lookup(self, key): return self.found
    @jit.dont_look_inside
    def add(self, key): self.found = Entry(key * 2)
class Entry(object):
    def __init__(self, value): self.value = value
driver = jit.JitDriver(greens=['table'], reds=['n', 'total'])
def main(n):
    table = Table()
    total = 0
    while n > 0:
        driver.jit_merge_point(table=table, n=n, total=total)
        e = table.lookup(7)
        if e is None:
            total += 1000
            if n == 30: table.add(7)
        else:
            total += e.value
        n -= 1
    return total
";

/// What a call finds at last stands where the call was: only the one that adds is left.
#[test]
fn calls_that_found_nothing_first() {
    let report = check(FOUND_LATER, &[("main", &[60])]);
    assert_eq!(report.counts["residual"]["direct_call"], 1);
}

/// An `@elidable` call that keeps returning null is dropped after a while.
#[test]
fn calls_that_find_nothing() {
    let source = FOUND_LATER
        .replace(
            "def lookup(self, key): return self.found",
            "def lookup(self, key): self.looked += 1; return self.found",
        )
        .replace("    return total\n", "    return table.looked\n");
    let mut db = database(&source);
    db.generate_jit(true);
    let looked = |n| {
        let options = JitOptions {
            threshold: Some(3),
            ..JitOptions::default()
        };
        let looked = outcome(&db, "main", &[n], Engine::Native, Some(options));
        looked.parse::<i64>().expect("a number")
    };
    // The entry is added when `n` is 30.
    assert!((20..40).contains(&looked(50)), "{}", looked(50));
    assert!((1_000..1_100).contains(&looked(5_000)), "{}", looked(5_000));
}

const QUICKENS: &str = "
from rpython.rlib import jit
class Code(object):
    _immutable_fields_ = ['ops?[*]']
    def __init__(self, text):
        self.ops = [c for c in text]
    @jit.elidable_promote('all')
    def get(self, pc):
        return self.ops[pc]
    def change(self, pc, op):
        self.ops[pc] = op
driver = jit.JitDriver(greens=['pc', 'code'], reds=['x', 'acc'])
def interp(code, x):
    pc = 0
    acc = 0
    while True:
        driver.jit_merge_point(pc=pc, code=code, x=x, acc=acc)
        op = code.get(pc)
        if op == '?':
            code.change(pc, '+')
            continue
        if op == '!':
            code.change(pc, '?')
            continue
        pc += 1
        if op == '+': acc += x
        elif op == '-': x -= 1
        elif op == 'd':
            if x % 2: acc += 1
            else: pc += 1
        elif op == 'j':
            if x > 0:
                pc = 0
                driver.can_enter_jit(pc=pc, code=code, x=x, acc=acc)
        elif op == 'r': return acc
def main(n):
    code = Code('+d?!-jr')
    acc = interp(code, n)
    return acc * 1000 + interp(code, n)
";

/// An interpreter that replaces an instruction by another one and looks again: compiled code
/// finds the new one. What code does before it is compiled further has been done by then.
#[test]
fn instructions_that_are_replaced() {
    let calls: &[(&str, &[i64])] = &[("main", &[1]), ("main", &[2]), ("main", &[50])];
    let report = check(QUICKENS, calls);
    residual(
        &report,
        &expect![[r#"
        1 functions
        int_add 4
        int_gt 1
        int_is_true 2
        int_lt 1
        int_mod 1
        int_ne 1
        int_sub 1
        int_xor 1
    "#]],
    );
}

const EXPLODES: &str = "
from rpython.rlib import jit
driver = jit.JitDriver(greens=['levels'], reds=['n', 'acc'])
def f(level, x):
    if level == 0: return x
    return g(level - 1, x + 1) ^ g(level - 1, x * 3)
def g(level, x):
    if level == 0: return x + 1
    return f(level - 1, x - 1) + f(level - 1, x * 5)
def main(levels, n):
    acc = 0
    while n > 0:
        driver.jit_merge_point(levels=levels, n=n, acc=acc)
        if n & 1: acc += f(levels, n) & 1023
        else: jit.assert_green(n)
        n -= 1
    return acc
";

/// What would be too much is left to calls and to the interpreter, also where code that is
/// compiled already asks for more.
/// Nodes whose children seldom change: once a list of them is known, its items are.
#[test]
fn lists_that_seldom_change() {
    let report = check(
        "
from rpython.rlib import jit
class Node(object):
    _immutable_fields_ = ['children?[*]', 'n']
    def __init__(self, n, children):
        self.n = n
        self.children = children
    @jit.unroll_safe
    def run(self, x):
        x += self.n
        for i in range(len(self.children)):
            x = self.children[i].run(x)
        return x
driver = jit.JitDriver(greens=['node'], reds=['n', 'i', 'x'])
def loop(node, n):
    i = x = 0
    while i < n:
        driver.jit_merge_point(node=node, n=n, i=i, x=x)
        x = node.run(x)
        if i == 20:
            node.children = [Node(5, [])]
        i += 1
    return x
def f(n):
    return loop(Node(1, [Node(2, []), Node(3, [Node(4, [])])]), n)
def g(n):
    return loop(Node(7, []), n)
def entry_point(argv):
    return f(len(argv)) + g(len(argv))
def target(driver, args):
    return entry_point, None
",
        &[("f", &[50]), ("g", &[50])],
    );
    let operations = &report.counts["residual"];
    assert!(operations.get("getarrayitem").is_none(), "{operations}");
}

#[test]
fn too_much_code() {
    let report = report_of(EXPLODES, &[12, 4], 1, Engine::Native);
    assert!(report.counts["residual"]["direct_call"].as_u64() > Some(0));
}

const SEVERAL: &str = "
from rpython.rlib import jit
d1 = jit.JitDriver(greens=['pc', 'code'], reds=['x', 'acc'], name='outer', is_recursive=True)
d2 = jit.JitDriver(greens=['k'], reds=['i', 'n', 's'], name='inner')
class Bad(Exception):
    def __init__(self, n): self.n = n
def inner(k, n):
    i = 0
    s = 0
    while i < n:
        d2.jit_merge_point(k=k, i=i, n=n, s=s)
        if k == 0: s += i
        elif k == 1: s -= i
        else: s ^= i
        i += 1
        if s > 1000: raise Bad(s)
        if i < n: d2.can_enter_jit(k=k, i=i, n=n, s=s)
    return s
@jit.elidable
def lookup(pc): return (pc * 7) % 3
def helper(x, y):
    try:
        if x % 5 == 3: raise Bad(y)
        return x + y
    except Bad as b:
        return b.n - 1
def outer(code, x):
    pc = 0
    acc = 0
    while pc < len(code):
        d1.jit_merge_point(pc=pc, code=code, x=x, acc=acc)
        c = code[pc]
        if c == 'i':
            try:
                acc += inner(lookup(pc), x)
            except Bad as b:
                acc += b.n & 255
        elif c == 'r':
            if x > 3: acc += outer(code, x // 2)
        elif c == 'h': acc = helper(x, acc)
        elif c == 'o':
            try: acc = acc * 1000003
            except OverflowError: acc = 1
            acc = acc & 0xffff
        elif c == '-': x -= 1
        elif c == 'j':
            if x > 0:
                pc = 0
                d1.can_enter_jit(pc=pc, code=code, x=x, acc=acc)
                continue
        pc += 1
    return acc
def main(n):
    return outer('iiiohr-j', n) + outer('ih-j', n)
";

/// Two drivers, one loop inside the other, recursion, exceptions through compiled code.
#[test]
fn several_drivers() {
    let report = check(
        SEVERAL,
        &[
            ("main", &[0]),
            ("main", &[3]),
            ("main", &[12]),
            ("main", &[40]),
        ],
    );
    residual(
        &report,
        &expect![[r#"
            5 functions
            direct_call 12
            exc_occurred 12
            int_add 24
            int_and 3
            int_eq 7
            int_floordiv 3
            int_gt 11
            int_lt 11
            int_mod 4
            int_mul 3
            int_ne 4
            int_sub 10
            int_xor 5
        "#]],
    );
}

/// The frame's fields and stack are variables, and the boxes in them never made: what is
/// left of a loop is arithmetic, once on the way into it and once inside.
#[test]
fn a_virtualizable_frame() {
    let source = OBJECTS
        .replace(
            "class Frame(object):\n",
            "class Frame(object):\n    _virtualizable_ = ['sp', 'arg', 'acc', 'stack[*]']\n",
        )
        .replace(
            "        self.stack[self.sp] = w
        self.sp += 1
",
            "        sp = jit.promote(self.sp)
        assert sp >= 0
        self.stack[sp] = w
        self.sp = sp + 1
",
        )
        .replace(
            "        self.sp -= 1
        w = self.stack[self.sp]
",
            "        sp = jit.promote(self.sp) - 1
        assert sp >= 0
        self.sp = sp
        w = self.stack[sp]
        self.stack[sp] = None
",
        )
        .replace(
            "reds=['frame'])",
            "reds=['frame'], virtualizables=['frame'])",
        );
    let report = check(&source, &[("main", &[1, 0]), ("main", &[9, 0])]);
    residual(
        &report,
        &expect![[r#"
            1 functions
            exc_set 1
            getfield 10
            int_add 2
            int_ne 2
            int_sub 2
            malloc 3
            setarrayitem 2
            setfield 9
        "#]],
    );
    // The loop has no memory accesses and no allocations.
    let graph = &report.graphs[0];
    let number = |text: &str| text.split('(').next().and_then(|n| n.parse::<u32>().ok());
    let back = graph.split("\nblock").find(|b| {
        let targets = b.split(" block").skip(1).filter_map(number);
        let least = targets.min();
        !b.contains("rpy_jit_continue") && number(b) >= least && least.is_some()
    });
    let back = back.expect("a loop");
    for access in ["getfield", "setfield", "arrayitem", "malloc"] {
        assert!(!back.contains(access), "{back}");
    }
}

const POLICY: &str = "
from rpython.rlib import jit
driver = jit.JitDriver(greens=['pc', 'code'], reds=['frame', 'n'])
class Code(object):
    _immutable_fields_ = ['ops[*]', 'name']
    def __init__(self, ops, name):
        self.ops = ops
        self.name = name
class Frame(object):
    def __init__(self): self.x = 0
@jit.elidable
def slow(n):
    total = 0
    for i in range(n): total += i
    return total
@jit.elidable_promote('0')
def promoted(k, n): return k * 100 + n
@jit.dont_look_inside
def opaque(frame): frame.x += 1
@jit.unroll_safe
def unrolled(n):
    total = 0
    i = 0
    while i < n:
        total += i
        i += 1
    return total
def loops(n):
    total = 0
    for i in range(n): total += i
    return total
def small(n): return n < 5
@jit.look_inside_iff(small)
def sometimes(n):
    total = 0
    for i in range(n): total += i
    return total
def interp(code, n):
    pc = 0
    frame = Frame()
    while pc < len(code.ops):
        driver.jit_merge_point(pc=pc, code=code, frame=frame, n=n)
        op = code.ops[pc]
        pc += 1
        if op == 0: frame.x += slow(pc * 4)
        elif op == 1: frame.x += promoted(pc, n)
        elif op == 2: opaque(frame)
        elif op == 3: frame.x += unrolled(pc)
        elif op == 4: frame.x += loops(pc)
        elif op == 5:
            if jit.we_are_jitted(): frame.x += 1
            else: frame.x += 1
        elif op == 6:
            if code.name == 'two': frame.x += 2
        elif op == 7:
            m = jit.promote(n & 3)
            frame.x += slow(m)
        elif op == 8: frame.x += sometimes(pc)
        elif op == 9:
            n -= 1
            if n > 0:
                pc = 0
                driver.can_enter_jit(pc=pc, code=code, frame=frame, n=n)
    return frame.x
codes = [Code([0, 9], 'one'), Code([1, 9], 'two'), Code([2, 9], 'three'), Code([3, 3, 9], 'four'),
         Code([4, 9], 'five'), Code([5, 9], 'six'), Code([6, 9], 'two'), Code([7, 9], 'eight'),
         Code([8, 9], 'nine'), Code([5, 5, 5, 5, 5, 8, 9], 'ten')]
def main(k, n): return interp(codes[k], n)
";

/// What one loop leaves of an instruction.
fn left_of(k: i64) -> String {
    let report = check(POLICY, &[("main", &[k, 20])]);
    let all = report.counts["residual"].as_object().cloned();
    let text = (all.into_iter().flatten()).map(|(name, n)| format!("{name} {n}"));
    text.collect::<Vec<_>>().join(", ")
}

/// Which calls are made while compiling, which are followed, and which stay calls. All loops
/// have a subtraction, a test, a read and a write of `x` and an addition to it.
#[test]
fn what_is_looked_inside() {
    let left: Vec<String> = (0..10).map(|k| format!("{k}: {}\n", left_of(k))).collect();
    expect![[r#"
        0: getfield 2, int_add 1, int_gt 1, int_sub 1, setfield 1
        1: direct_call 1, getfield 2, int_add 1, int_gt 1, int_sub 1, setfield 1
        2: direct_call 1, getfield 1, int_gt 1, int_sub 1
        3: getfield 2, int_add 2, int_gt 1, int_sub 1, setfield 2
        4: direct_call 1, exc_occurred 1, getfield 2, int_add 1, int_gt 1, int_sub 1, setfield 1
        5: getfield 2, int_add 1, int_gt 1, int_sub 1, setfield 1
        6: getfield 2, int_add 1, int_gt 1, int_sub 1, setfield 1
        7: getfield 5, int_add 4, int_and 1, int_gt 2, int_sub 2, setfield 4
        8: getfield 2, int_add 1, int_gt 1, int_sub 1, setfield 1
        9: direct_call 1, exc_occurred 1, getfield 2, int_add 6, int_gt 1, int_sub 1, setfield 6
    "#]]
    .assert_eq(&left.concat());
}

/// Merge points that RPython would refuse.
#[test]
fn markers_in_the_wrong_place() {
    let wrong = |body: &str| {
        let source = format!(
            "from rpython.rlib.jit import JitDriver
d = JitDriver(greens=['pc'], reds=['n'], name='d')
{body}
def main(n): return f(n)
"
        );
        let mut db = database(&source);
        db.generate_jit(true);
        outcome(
            &db,
            "main",
            &[3],
            Engine::LLInterp,
            Some(JitOptions::default()),
        )
    };
    let found = [
        wrong(
            "def f(n):\n    pc = 0\n    m = n * 2\n    while n > 0:\n        d.jit_merge_point(pc=pc, n=n)\n        n -= 1\n    return m",
        ),
        wrong(
            "def f(n):\n    pc = 0\n    d.jit_merge_point(pc=pc, n=n)\n    n += 1\n    d.jit_merge_point(pc=pc, n=n)\n    return n",
        ),
        wrong(
            "def g(n):\n    pc = 0\n    while n > 0:\n        d.jit_merge_point(pc=pc, n=n)\n        n -= 1\n    return n\ndef f(n):\n    pc = 1\n    while n > 1:\n        d.jit_merge_point(pc=pc, n=n)\n        n -= 1\n    return g(n)",
        ),
        wrong(
            "def f(n):\n    while n > 0:\n        d.jit_merge_point(pc=n, n=n)\n        n -= 1\n    return n",
        ),
    ];
    expect![[r#"
        TP0603: `m` is used after the merge point, and is neither green nor red
        TP0603: main.f has several calls of jit_merge_point
        TP0603: the driver d has a jit_merge_point in main.f as well
        TP0603: the red variable `n` of the merge point is a green one as well"#]]
    .assert_eq(&found.join("\n"));
}

const FORMS: &str = "
from rpython.rlib import jit
class Interp(object):
    driver = jit.JitDriver(greens=['pc', 'self.code'], reds=['self', 'x'])
    _immutable_fields_ = ['code']
    def __init__(self, code): self.code = code
    def run(self, x):
        pc = 0
        while pc < len(self.code):
            self.driver.jit_merge_point(pc=pc, self=self, x=x)
            c = self.code[pc]
            pc += 1
            if c == '-': x -= 1
            elif c == 'j':
                if x > 0: pc = self.jump(x)
        return x
    def jump(self, x):
        self.driver.can_enter_jit(pc=0, self=self, x=x)
        return 0
auto = jit.JitDriver(greens=['k'], reds='auto')
def looped(n, k, items):
    total = 0
    for it in items:
        auto.jit_merge_point(k=k)
        if k == 0: total += it.value()
        else: total -= it.value()
    return total
class A(object):
    def value(self): return 1
class B(A):
    def __init__(self, n): self.n = n
    def value(self): return self.n
class C(A):
    def value(self):
        if self is None: return 2
        raise KeyError
def main(n):
    items = [A(), B(3), B(n), A(), B(2)] * 5
    r = looped(n, 0, items) * 1000 + looped(n, 1, items)
    r += Interp('--j').run(n)
    items.append(C())
    try: r += looped(n, 0, items)
    except KeyError: r += 7
    return r
";

/// A driver of a class, a green that is a field, `can_enter_jit` in another function, reds
/// that are found automatically, more classes than were there when code was compiled.
#[test]
fn forms_of_drivers() {
    let report = check(FORMS, &[("main", &[3]), ("main", &[9])]);
    assert_eq!(report.functions, 3);
}

/// The program sets thresholds itself, unless one is given.
#[test]
fn thresholds() {
    let source = "
from rpython.rlib.jit import JitDriver, set_param, set_user_param, set_param_to_default
driver = JitDriver(greens=[], reds=['n', 'total'])
def loop(n):
    total = 0
    while n > 0:
        driver.jit_merge_point(n=n, total=total)
        total += n
        n -= 1
        driver.can_enter_jit(n=n, total=total)
    return total
def main(k):
    if k == 1: set_param(driver, 'threshold', 5)
    if k == 2: set_param(None, 'threshold', 50)
    if k == 3: set_user_param(driver, 'threshold=5,inlining=0')
    if k == 4:
        set_user_param(driver, 'threshold=5')
        set_user_param(driver, 'off')
    if k == 5:
        set_param(driver, 'threshold', 5)
        set_param_to_default(driver, 'threshold')
    return loop(30)
";
    let mut db = database(source);
    db.generate_jit(true);
    let functions = |k: i64, threshold: Option<i64>| {
        let report = Arc::new(Mutex::new(JitReport::default()));
        let options = JitOptions {
            threshold,
            report: Some(report.clone()),
            ..JitOptions::default()
        };
        assert_eq!(
            outcome(&db, "main", &[k], Engine::LLInterp, Some(options)),
            "465"
        );
        report.lock().expect("nothing panicked").functions
    };
    let found: Vec<usize> = (0..6).map(|k| functions(k, None)).collect();
    assert_eq!(found, [0, 1, 0, 1, 0, 0]);
    let found: Vec<usize> = (0..6).map(|k| functions(k, Some(2))).collect();
    assert_eq!(found, [1; 6]);
}

const ELSEWHERE: &str = "
from rpython.rlib.jit import JitDriver
driver = JitDriver(greens=['pc', 'code'], reds=['self'])
class Machine(object):
    def __init__(self, n):
        self.n = n
        self.total = 0
    def loop(self, code, target):
        self.n -= 1
        if self.n <= 0: return -1
        driver.can_enter_jit(pc=target, code=code, self=self)
        return target
    def run(self, code):
        pc = 0
        while pc >= 0:
            driver.jit_merge_point(pc=pc, code=code, self=self)
            op = code[pc]
            pc += 1
            if op == '+': self.total += self.n
            elif op == 'l': pc = self.loop(code, 0)
            elif op == 'j':
                # Not taken here.
                pc = 0
                driver.can_enter_jit(pc=pc, code=code, self=self)
        return self.total
def main(n): return Machine(n).run('+l')
";

/// Loops may close in other functions than that with the merge point, and in it as well.
#[test]
fn loops_that_close_elsewhere() {
    let report = check(ELSEWHERE, &[("main", &[30])]);
    assert_eq!(report.functions, 1);
}

const OUTSIDE: &str = "
from rpython.rlib import jit
driver = jit.JitDriver(greens=[], reds=['n', 'x'])
class X(object):
    n = 0
@jit.not_in_trace
def outside(x):
    if jit.we_are_jitted(): raise NotImplementedError
    x.n += 1
def main(n):
    x = X()
    while n >= 0:
        driver.jit_merge_point(n=n, x=x)
        outside(x)
        n -= 1
    return x.n
";

/// Functions that are not to be in compiled code are called by it.
#[test]
fn functions_outside() {
    check(OUTSIDE, &[("main", &[20])]);
}
