//! What compiled loops know of memory after calls that stay calls.

use std::sync::{Arc, Mutex};

use crate::support::jit::{database, outcome, report_of};
use expect_test::expect;
use taipan_driver::{Engine, JitOptions, JitReport};

const CALLS: &str = "
from rpython.rlib.jit import JitDriver, dont_look_inside
driver = JitDriver(greens=['how'], reds=['n', 'p', 'q', 'total'])
class P(object):
    def __init__(self, x): self.x = x
class Q(object):
    def __init__(self): self.items = [0]; self.n = 0
@dont_look_inside
def other(q, k):
    q.items.append(k)
    q.n += k
@dont_look_inside
def same(p):
    deeper(p)
def deeper(p): p.x += 1
def main(how):
    p = P(5); q = Q(); n = 30; total = 0
    while n > 0:
        driver.jit_merge_point(how=how, n=n, p=p, q=q, total=total)
        total += p.x
        if how == 0: other(q, n)
        else: same(p)
        total += p.x
        n -= 1
    return total + q.n + len(q.items)
";

/// A call makes the compiler forget what the function may write, and what it calls, and
/// nothing else: with graphs to read as with tables.
#[test]
fn what_calls_write() {
    let mut db = database(CALLS);
    let expected: Vec<String> = (0..2)
        .map(|how| outcome(&db, "main", &[how], Engine::LLInterp, None))
        .collect();
    db.generate_jit(true);
    let mut text = String::new();
    for engine in [Engine::LLInterp, Engine::Native] {
        for (how, expected) in (0..).zip(&expected) {
            let report = Arc::new(Mutex::new(JitReport::default()));
            let options = JitOptions {
                threshold: Some(2),
                report: Some(report.clone()),
                ..JitOptions::default()
            };
            let got = outcome(&db, "main", &[how], engine, Some(options));
            assert_eq!(&got, expected);
            let report = report.lock().expect("nothing panicked");
            let reads = &report.counts["residual"]["getfield"];
            text += &format!("{engine:?} {how}: {reads} reads\n");
        }
    }
    expect![[r#"
        LLInterp 0: 4 reads
        LLInterp 1: 5 reads
        Native 0: 4 reads
        Native 1: 5 reads
    "#]]
    .assert_eq(&text);
}

/// A portal that calls itself enters compiled code, and notices that there is no more stack.
#[test]
fn portals_that_call_themselves() {
    const TREES: &str = "
from rpython.rlib.jit import JitDriver, promote
class Node(object):
    _immutable_ = True
    def __init__(self, more): self.more = more
driver = JitDriver(greens=['node'], reds=['n'], is_recursive=True)
NODES = [Node(1), Node(2)]
def run(node, n):
    driver.jit_merge_point(node=node, n=n)
    if n <= 1: return n
    return run(NODES[0], n - 1) + run(NODES[node.more & 1], n - 2)
def fib(n):
    return run(NODES[1], n)
def endless(node, n):
    endless_driver.jit_merge_point(node=node, n=n)
    if n < 0: return 0
    return 1 + endless(NODES[0], n + 1)
endless_driver = JitDriver(greens=['node'], reds=['n'], is_recursive=True)
def deep(n):
    for i in range(5):
        try: endless(NODES[0], n)
        except RuntimeError: n += 1
    return n
def entry_point(argv):
    return fib(len(argv)) + deep(len(argv))
def target(driver, args):
    return entry_point, None
";
    let mut db = database(TREES);
    let calls: [(&str, &[i64]); 2] = [("fib", &[16]), ("deep", &[7])];
    let expected = calls.map(|(f, args)| outcome(&db, f, args, Engine::Native, None));
    assert_eq!(expected, ["987", "12"]);
    db.generate_jit(true);
    for ((f, args), expected) in calls.iter().zip(expected) {
        for threshold in [1, 3, 100] {
            let report = Arc::new(Mutex::new(JitReport::default()));
            let options = JitOptions {
                threshold: Some(threshold),
                report: Some(report.clone()),
                ..JitOptions::default()
            };
            let got = outcome(&db, f, args, Engine::Native, Some(options));
            assert_eq!(got, expected, "{f}, threshold {threshold}");
            let report = report.lock().expect("nothing panicked");
            assert!(report.functions > 0);
        }
    }
}

const LOOKUPS: &str = "
from rpython.rlib.jit import JitDriver, elidable, dont_look_inside, promote
driver = JitDriver(greens=['how'], reds=['n', 'space', 'total'])
class W(object):
    _immutable_fields_ = ['value']
    def __init__(self, value): self.value = value
class Version(object): pass
class Space(object):
    def __init__(self):
        self.names = {'x': W(3), 'y': W(4)}
        self.cache = {}
        self.made = 0
        self.version = Version()
    def set(self, name, value):
        self.names[name] = W(value)
        self.version = Version()
    @elidable
    def lookup(self, name, version):
        return self.names.get(name, None)
    @elidable
    def must_find(self, name, version):
        return self.names[name]
    @elidable
    def find(self, key):
        return self.cache.get(key, None)
    def get(self, key):
        w = self.find(key)
        if w is None: w = self.make(key)
        return w
    @dont_look_inside
    def make(self, key):
        self.made += 1
        w = W(key * 10 + self.made)
        self.cache[key] = w
        return w
    @elidable
    def number(self, key, version): return key * 3 + len(self.names)
@dont_look_inside
def sometimes(space, n):
    if n % 16 == 0: space.set('x', n)
    if n % 40 == 5: space.set('z', n)
def main(how):
    space = Space(); n = 100; total = 0
    while n > 0:
        driver.jit_merge_point(how=how, n=n, space=space, total=total)
        if how == 0:
            w = space.lookup('x', space.version)
            if w is not None: total += w.value
            w = space.lookup('x', space.version)
            if w is not None: total += w.value
        elif how == 1:
            w = space.get(n & 7)
            v = space.get(n & 7)
            total += w.value
            if v is not w: total += 100000
        elif how == 2:
            try:
                total += space.must_find('z', space.version).value
                total += space.must_find('z', space.version).value
            except KeyError:
                total += 1
            sometimes(space, n)
        elif how == 3:
            total += space.number(n & 1, space.version) + space.number(n & 1, space.version)
            sometimes(space, n)
        elif how == 4:
            w = space.lookup('x', space.version)
            if w is not None: total += w.value
            sometimes(space, n)
            w = space.lookup('x', space.version)
            if w is not None: total += w.value
        n -= 1
    return total + space.made
";

/// Calls of elidable functions with arguments that are not known are merged, but for those that
/// have found nothing, and have raised.
#[test]
fn calls_of_elidable_functions_are_merged() {
    let mut db = database(LOOKUPS);
    let expected: Vec<String> = (0..5)
        .map(|how| outcome(&db, "main", &[how], Engine::LLInterp, None))
        .collect();
    db.generate_jit(true);
    let mut text = String::new();
    for (how, expected) in (0..).zip(&expected) {
        for engine in [Engine::LLInterp, Engine::Native] {
            for threshold in [1, 3, 20] {
                let report = Arc::new(Mutex::new(JitReport::default()));
                let options = JitOptions {
                    threshold: Some(threshold),
                    report: Some(report.clone()),
                    ..JitOptions::default()
                };
                let got = outcome(&db, "main", &[how], engine, Some(options));
                assert_eq!(&got, expected, "{how}, {engine:?}, threshold {threshold}");
                let report = report.lock().expect("nothing panicked");
                if threshold == 3 {
                    let calls = &report.counts["residual"]["direct_call"];
                    text += &format!("{engine:?} {how}: {calls} calls\n");
                }
            }
        }
    }
    expect![[r#"
        LLInterp 0: 3 calls
        Native 0: 3 calls
        LLInterp 1: 6 calls
        Native 1: 6 calls
        LLInterp 2: 3 calls
        Native 2: 3 calls
        LLInterp 3: 2 calls
        Native 3: 2 calls
        LLInterp 4: 5 calls
        Native 4: 5 calls
    "#]]
    .assert_eq(&text);
}

const CHAIN: &str = "
from rpython.rlib.jit import JitDriver
driver = JitDriver(greens=['pc', 'code'], reds=['n', 'total'])
class Code(object):
    _immutable_fields_ = ['ops', 'callee']
    def __init__(self, ops, callee):
        self.ops = ops
        self.callee = callee
def chain(depth):
    code = Code('a', None)
    for i in range(depth):
        code = Code('ac', code)
    return Code('cj', code)
CHAINS = [chain(depth) for depth in range(20)]
def run(code, n, total):
    pc = 0
    while pc < len(code.ops):
        driver.jit_merge_point(pc=pc, code=code, n=n, total=total)
        op = code.ops[pc]
        pc += 1
        if op == 'a':
            total += n
        elif op == 'c':
            total = run(code.callee, n, total)
        else:
            n -= 1
            if n > 0:
                pc = 0
                driver.can_enter_jit(pc=pc, code=code, n=n, total=total)
    return total
def main(depth):
    return run(CHAINS[depth], 60, 0)
";

/// A chain of calls is compiled into the loop that makes the first one, as deep as the limit.
#[test]
fn chains_of_calls_are_inlined() {
    let mut db = database(CHAIN);
    let depths = [3, 8, 11, 12, 18];
    let plain = depths.map(|d| outcome(&db, "main", &[d], Engine::LLInterp, None));
    db.generate_jit(true);
    let mut text = String::new();
    for (depth, expected) in depths.iter().zip(&plain) {
        let report = Arc::new(Mutex::new(JitReport::default()));
        let options = JitOptions {
            threshold: Some(5),
            report: Some(report.clone()),
            ..JitOptions::default()
        };
        let got = outcome(&db, "main", &[*depth], Engine::Native, Some(options));
        assert_eq!(&got, expected);
        let report = report.lock().expect("nothing panicked");
        let calls = &report.counts["residual"]["direct_call"];
        text += &format!("{depth}: {calls} calls\n");
    }
    expect![[r#"
        3: null calls
        8: null calls
        11: 1 calls
        12: 1 calls
        18: 1 calls
    "#]]
    .assert_eq(&text);
}

const INNER_LOOPS: &str = "
from rpython.rlib.jit import JitDriver
driver = JitDriver(greens=['pc', 'code'], reds=['n', 'total'])
class Code(object):
    _immutable_fields_ = ['ops', 'callee']
    def __init__(self, ops, callee):
        self.ops = ops
        self.callee = callee
INNER = Code('aal', None)
PLAIN = Code('aa', None)
OUTER = [Code('c' * count + 'l', inner) for inner in [PLAIN, INNER] for count in [1, 4]]
def run(code, n, total):
    pc = 0
    while pc < len(code.ops):
        driver.jit_merge_point(pc=pc, code=code, n=n, total=total)
        op = code.ops[pc]
        pc += 1
        if op == 'a':
            total += n
        elif op == 'c':
            total = run(code.callee, 20, total)
        else:
            n -= 1
            if n > 0:
                pc = 0
                driver.can_enter_jit(pc=pc, code=code, n=n, total=total)
    return total
def main(which):
    return run(OUTER[which], 60, 0)
";

/// Functions of the interpreted program that have loops are called after the first time that one was compiled into its
/// caller; others are inlined wherever they are called.
#[test]
fn functions_with_loops_are_called() {
    let mut text = String::new();
    for (which, called) in [
        "one call",
        "four calls",
        "one call, a loop",
        "four calls, loops",
    ]
    .iter()
    .enumerate()
    {
        let report = report_of(INNER_LOOPS, &[which as i64], 5, Engine::Native);
        let (calls, adds) = (
            &report.counts["residual"]["direct_call"],
            &report.counts["residual"]["int_add"],
        );
        text += &format!(
            "{called}: {calls} calls, {adds} additions, {} functions\n",
            report.functions
        );
    }
    expect![[r#"
        one call: null calls, 2 additions, 1 functions
        four calls: null calls, 10 additions, 2 functions
        one call, a loop: 1 calls, 4 additions, 2 functions
        four calls, loops: 4 calls, 4 additions, 2 functions
    "#]]
    .assert_eq(&text);
}

const TREE: &str = "
from rpython.rlib.jit import JitDriver, promote
class Node(object):
    _immutable_fields_ = ['value', 'then', 'other', 'body']
    def __init__(self, value, then, other, body):
        self.value = value; self.then = then; self.other = other; self.body = body
    def run(self, n): raise NotImplementedError
class Number(Node):
    def run(self, n): return self.value
class If(Node):
    def run(self, n):
        if n % 40 == self.value:
            return self.then.run(n)
        return self.other.run(n)
class Down(Node):
    def run(self, n):
        if n == 0:
            return 0
        return 1 + self.body.run(n - 1)
def chain(length):
    node = Number(100, None, None, None)
    for i in range(length):
        node = If(length - i, Number(i, None, None, None), node, None)
    return node
def recursion():
    node = Down(0, None, None, None)
    node.body = node
    return node
TREES = [chain(5), chain(25), recursion()]
driver = JitDriver(greens=['tree'], reds=['n', 'total'])
def main(which):
    tree = TREES[which]
    n = 60; total = 0
    while n > 0:
        driver.jit_merge_point(tree=tree, n=n, total=total)
        total += tree.run(n)
        n -= 1
    return total
";

/// A function of the interpreter is inlined into itself as deep as a syntax tree is. A recursion on one node is limited.
#[test]
fn syntax_trees_are_inlined() {
    let mut db = database(TREE);
    let trees = ["chain of 5", "chain of 25", "recursion"];
    let plain: Vec<_> = (0..)
        .zip(trees)
        .map(|(which, _)| outcome(&db, "main", &[which], Engine::LLInterp, None))
        .collect();
    db.generate_jit(true);
    let mut text = String::new();
    for ((which, tree), expected) in (0..).zip(trees).zip(&plain) {
        let report = Arc::new(Mutex::new(JitReport::default()));
        let options = JitOptions {
            threshold: Some(5),
            report: Some(report.clone()),
            ..JitOptions::default()
        };
        let got = outcome(&db, "main", &[which], Engine::Native, Some(options));
        assert_eq!(&got, expected);
        let report = report.lock().expect("nothing panicked");
        let residual = &report.counts["residual"];
        let calls = residual["direct_call"].as_u64().unwrap_or(0);
        text += &format!("{tree}: {calls} calls\n");
    }
    expect![[r#"
        chain of 5: 0 calls
        chain of 25: 0 calls
        recursion: 1 calls
    "#]]
    .assert_eq(&text);
}
