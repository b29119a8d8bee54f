//! Hints that contradict each other or cannot be kept: each is a diagnostic, or the program
//! computes what it computes without a compiler.

use std::sync::{Arc, Mutex};

use crate::support::jit::{database, outcome};
use expect_test::expect;
use taipan_driver::{Engine, JitOptions, JitReport};

const HEAD: &str = "
from rpython.rlib import jit
from rpython.rlib.jit import JitDriver, hint, promote
";

/// What a program gives with a compiler, on both engines, and how many functions were
/// compiled.
fn compiled(source: &str, n: i64) -> (String, usize) {
    let mut db = database(&format!("{HEAD}{source}"));
    db.generate_jit(true);
    let mut all = Vec::new();
    for engine in [Engine::LLInterp, Engine::Native] {
        for threshold in [1, 3] {
            let report = Arc::new(Mutex::new(JitReport::default()));
            let options = JitOptions {
                threshold: Some(threshold),
                report: Some(report.clone()),
                ..JitOptions::default()
            };
            let got = outcome(&db, "main", &[n], engine, Some(options));
            all.push((got, report.lock().expect("nothing panicked").functions));
        }
    }
    let (got, functions) = all[0].clone();
    assert!(all.iter().all(|other| other.0 == got), "{all:?}");
    (got, functions)
}

/// The program computes the same with a compiler, which has something to do.
#[track_caller]
fn same(source: &str, n: i64) {
    let without = outcome(
        &database(&format!("{HEAD}{source}")),
        "main",
        &[n],
        Engine::LLInterp,
        None,
    );
    let (with, functions) = compiled(source, n);
    assert_eq!(with, without);
    assert!(functions > 0, "nothing was compiled");
}

/// What is said of a program, with a compiler and without.
fn said(source: &str) -> String {
    let without = outcome(
        &database(&format!("{HEAD}{source}")),
        "main",
        &[3],
        Engine::LLInterp,
        None,
    );
    let (with, _) = compiled(source, 3);
    format!("{with}\n    without a compiler: {without}\n")
}

#[test]
fn hints_that_contradict_each_other() {
    let text = [
        "def main(n): return hint(n, concrete=True, variable=True)",
        "def main(n): return hint(n, promote=True, force_no_const=True)",
        "
class Frame(object):
    _virtualizable_ = ['n']
    def __init__(self, n):
        self = hint(self, fresh_virtualizable=True)
        self.n = n
def main(n): return Frame(n).n",
        "
@jit.unroll_safe
@jit.elidable
def f(n): return n
def main(n): return f(n)",
        "
@jit.dont_look_inside
@jit.unroll_safe
def f(n): return n
def main(n): return f(n)",
        "
@jit.unroll_safe
@jit.loop_invariant
def f(): return 4
def main(n): return f()",
        "
driver = JitDriver(greens=[], reds='auto')
def main(n):
    while n > 0:
        driver.jit_merge_point()
        n -= 1
        driver.can_enter_jit()
    return n",
        "
driver = JitDriver(greens=['n'], reds=[], virtualizables=['frame'])
def main(n):
    while n > 0:
        driver.jit_merge_point(n=n)
        n -= 1
    return n",
    ]
    .map(said);
    expect![[r#"
        TP0326: the hints 'concrete' and 'variable' contradict each other
            without a compiler: TP0326: the hints 'concrete' and 'variable' contradict each other
        TP0326: the hints 'promote' and 'force_no_const' contradict each other
            without a compiler: TP0326: the hints 'promote' and 'force_no_const' contradict each other
        TP0326: hint 'fresh_virtualizable' needs 'access_directly' as well
            without a compiler: TP0326: hint 'fresh_virtualizable' needs 'access_directly' as well
        TP0201: TypeError: f cannot be both elidable and unroll_safe
            without a compiler: TP0201: TypeError: f cannot be both elidable and unroll_safe
        TP0201: TypeError: f cannot be both dont_look_inside and unroll_safe
            without a compiler: TP0201: TypeError: f cannot be both dont_look_inside and unroll_safe
        TP0201: TypeError: f cannot be both dont_look_inside and unroll_safe
            without a compiler: TP0201: TypeError: f cannot be both dont_look_inside and unroll_safe
        TP0326: can_enter_jit() of a driver with reds='auto': its merge point alone says where the loop is
            without a compiler: TP0326: can_enter_jit() of a driver with reds='auto': its merge point alone says where the loop is
        TP0201: AssertionError: the virtualizable frame is no red variable
            without a compiler: TP0201: AssertionError: the virtualizable frame is no red variable
    "#]].assert_eq(&text.concat());
}

/// It has a loop that closes, and nowhere to begin.
#[test]
fn a_driver_without_a_merge_point() {
    let (got, functions) = compiled(
        "
driver = JitDriver(greens=[], reds=['n'])
def main(n):
    total = 0
    while n > 0:
        driver.can_enter_jit(n=n)
        n -= 1
        total += n
    return total",
        10,
    );
    assert_eq!((&*got, functions), ("45", 0));
}

/// A field that is a green variable and is written all the same, and numbers that are
/// different each time around.
#[test]
fn green_variables_that_change() {
    same(
        "
class Interp(object):
    driver = JitDriver(greens=['pc', 'self.code'], reds=['self', 'x'])
    def __init__(self, code): self.code = code
    def run(self, x):
        pc = 0
        while pc < len(self.code):
            self.driver.jit_merge_point(pc=pc, self=self, x=x)
            c = self.code[pc]
            pc += 1
            if c == '-': x -= 1
            elif c == 'j':
                if x > 0: pc = 0
                elif x > -9: self.code = '+--s---------j'
            elif c == 's': self.code = '---+j'; pc = 0
        return x
def main(n): return Interp('--j').run(n) + Interp('--s').run(n)",
        20,
    );
    same(
        "
driver = JitDriver(greens=['x'], reds=['n'])
def main(n):
    x = 0.5
    while n > 0:
        driver.jit_merge_point(n=n, x=x)
        n -= 1
        x += 1.25
        if x > 7.0: x = 0.5
    return x",
        60,
    );
}

/// A driver names an object as virtualizable, and its class does not.
#[test]
fn what_is_no_virtualizable() {
    same(
        "
class Frame(object):
    def __init__(self, n): self.n = n; self.total = 0
driver = JitDriver(greens=[], reds=['frame'], virtualizables=['frame'])
def main(n):
    frame = Frame(n)
    frame = hint(frame, access_directly=True)
    while frame.n > 0:
        driver.jit_merge_point(frame=frame)
        frame.n -= 1
        frame.total += frame.n
    return frame.total",
        20,
    );
}

/// Others read and write the virtualizable: a function that is called, an object that it
/// was stored in, what catches an exception, the caller of the loop.
#[test]
fn a_virtualizable_that_escapes() {
    same(
        "
class Frame(object):
    _virtualizable_ = ['n', 'total', 'stack[*]']
    def __init__(self, n):
        self = hint(self, access_directly=True, fresh_virtualizable=True)
        self.n = n
        self.total = 0
        self.stack = [0] * 3
class Holder(object): pass
holder = Holder()
holder.frame = None
holder.other = None
class Stop(Exception):
    def __init__(self, frame): self.frame = frame
driver = JitDriver(greens=[], reds=['frame', 'holder'], virtualizables=['frame'])
@jit.dont_look_inside
def peek():
    f = holder.frame
    f.stack[1] += 1
    f.total += f.n
    return f.stack[2] + f.n
def stop(frame):
    frame.stack[0] += 7
    raise Stop(frame)
def run(frame, holder):
    frame = hint(frame, access_directly=True)
    while frame.n > 0:
        driver.jit_merge_point(frame=frame, holder=holder)
        frame.n -= 1
        frame.stack[2] += 2
        frame.total += 10
        if frame.n % 3 == 0: frame.total += peek()
        if frame.n % 4 == 1:
            try: stop(frame)
            except Stop, e: frame.total += e.frame.stack[0]
        # The same object by another way.
        holder.other = frame
        holder.other.stack[1] += frame.stack[2]
        if frame.n % 5 == 2: holder.frame.n -= 1
    return frame.total * 100 + frame.stack[1]
def main(n):
    frame = Frame(n)
    holder.frame = frame
    return run(frame, holder) + frame.total + holder.other.stack[2]",
        40,
    );
}

/// The portal calls itself deeper than calls are followed, and the program ends as it does
/// without a compiler where it never stops doing so.
#[test]
fn a_portal_that_calls_itself() {
    let source = "
driver = JitDriver(greens=['k'], reds=['n', 'total'], is_recursive=True)
def run(k, n):
    total = 0
    while n > 0:
        driver.jit_merge_point(k=k, n=n, total=total)
        n -= 1
        total += k
        if k < DEPTH: total += run(k + 1, 2 if k % 50 == 0 else 1)
        if total > 1000000: total -= 1000000
    return total
def main(n): return run(0, n)";
    same(&source.replace("DEPTH", "120"), 12);
}

/// A function of loops that depends on what it gets is called each time.
#[test]
fn loop_invariant_with_an_argument() {
    same(
        "
driver = JitDriver(greens=[], reds=['n', 'total'])
@jit.loop_invariant
def get(x): return x * 2
def main(n):
    total = 0
    while n > 0:
        driver.jit_merge_point(n=n, total=total)
        n -= 1
        total += get(n)
    return total",
        20,
    );
}
