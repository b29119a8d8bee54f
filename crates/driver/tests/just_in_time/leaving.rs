//! Compiled code that returns to the interpreter at a merge point.

use std::sync::{Arc, Mutex};

use crate::support::jit::{agrees, database, outcome};
use taipan_driver::{Engine, JitOptions, JitReport, Splits};

/// Reds of every kind that fits into a word, and rarely taken branches.
const KINDS: &str = "
from rpython.rlib import jit
from rpython.rlib.rarithmetic import intmask, r_uint
driver = jit.JitDriver(greens=['pc', 'code'], reds=['n', 'total', 'flag', 'c', 'u', 'f', 'w', 's'])
def run(code, n):
    pc = 0
    total = 0
    flag = False
    c = 'a'
    u = unichr(n + 200)
    f = 0.5
    w = r_uint(n)
    s = 'x'
    while pc < len(code):
        driver.jit_merge_point(pc=pc, code=code, n=n, total=total, flag=flag, c=c, u=u, f=f, w=w, s=s)
        op = code[pc]
        pc += 1
        if op == 'f': flag = n % 3 == 1
        elif op == 'c': c = chr(97 + n % 20)
        elif op == 'u': u = unichr(300 + n)
        elif op == 'd': f = f * 0.5 + n
        elif op == 'w': w = w * r_uint(2654435769) + r_uint(n)
        elif op == 's': s = c + s[:2]
        elif op == '+':
            total = (total * 31 + ord(c) + ord(u) + int(f) + intmask(w & r_uint(255)) + len(s)) & 0xfffff
            if flag: total += 1
        elif op == 'a':
            if n % 7 == 0: total += 3
        elif op == 'b':
            if n % 11 == 5: total ^= 77
        elif op == 'l':
            n -= 1
            if n > 0:
                pc = 0
                driver.can_enter_jit(pc=pc, code=code, n=n, total=total, flag=flag, c=c, u=u, f=f, w=w, s=s)
    return total
def nested(n):
    # The portal is called from code that was compiled as well as from the interpreter.
    total = 0
    for i in range(n): total = (total * 7 + run('fcudws+abl', i + 3)) & 0xffffff
    return total
def main(n): return run('fcudws+ab' + 'abfcud+' * 3 + 'l', n)
";

fn check(calls: &[(&str, &[i64])]) {
    let mut db = database(KINDS);
    let expected: Vec<String> = (calls.iter())
        .map(|(func, args)| outcome(&db, func, args, Engine::LLInterp, None))
        .collect();
    assert!(
        expected.iter().all(|e| e.parse::<i64>().is_ok()),
        "{expected:?}"
    );
    db.generate_jit(true);
    for threshold in [1, 2, 10, 60] {
        let report = Arc::new(Mutex::new(JitReport::default()));
        for ((func, args), expected) in calls.iter().zip(&expected) {
            let options = JitOptions {
                splits: Splits::Lazy,
                threshold: Some(threshold),
                report: Some(report.clone()),
                ..JitOptions::default()
            };
            let got = outcome(&db, func, args, Engine::Native, Some(options));
            assert_eq!(&got, expected, "{func}{args:?}, {threshold}");
        }
        let report = report.lock().expect("nothing panicked");
        assert_eq!(report.refused, [""; 0]);
        assert!(report.functions > 0, "{threshold}: {report:?}");
    }
}

/// All reds keep their values, also when compiled code calls compiled code that returns to the interpreter.
#[test]
fn values_of_all_kinds() {
    check(&[("main", &[300]), ("nested", &[120])]);
}

/// An interpreter that creates code while it runs, as a Prolog with `call/1` does: its greens have unboundedly many
/// values.
const CHANGING: &str = "
from rpython.rlib import jit
driver = jit.JitDriver(greens=['step'], reds=['n', 'total'])
class Step(object):
    _immutable_fields_ = ['by', 'next']
    def __init__(self, by, next):
        self.by = by
        self.next = next
def run(step, n):
    total = 0
    while n > 0:
        driver.jit_merge_point(step=step, n=n, total=total)
        total = (total * 3 + step.by) & 0xffffff
        n -= 1
        if step is HEAD:
            step = Step(total & 7, Step(n & 3, None))
        elif step.next is not None:
            step = step.next
        else:
            step = HEAD
    return total
HEAD = Step(1, None)
def main(n): return run(HEAD, n)
";

#[test]
fn greens_without_end_do_not_fill_the_stack() {
    agrees(CHANGING, &[20_000], &[1, 3, 60]);
}
