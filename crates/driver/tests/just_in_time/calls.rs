//! What compiled loops know of memory after calls that stay calls.

use std::sync::{Arc, Mutex};

use crate::support::jit::{database, outcome};
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
