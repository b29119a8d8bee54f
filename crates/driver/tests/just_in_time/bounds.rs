//! Compiled code has bounds: what comes after so many blocks is left to other residual
//! functions, and to the interpreter when there is too much of all.

use std::sync::{Arc, Mutex};

use crate::support::jit::{database, outcome};
use taipan_driver::{Engine, JitOptions, JitReport};

/// A machine with a long program: it walks over a list, and adds.
const LONG: &str = "
from rpython.rlib import jit
driver = jit.JitDriver(greens=['pc', 'code'], reds=['i', 'n', 'cells', 'total'])
class Overrun(Exception): pass
def interp(code, n):
    cells = [0, 1, 2, 3]
    pc = 0
    i = 0
    total = 0
    while pc < len(code):
        driver.jit_merge_point(pc=pc, code=code, i=i, n=n, cells=cells, total=total)
        op = code[pc]
        pc += 1
        if op == '>':
            i += 1
            if i == len(cells): i = 0
        elif op == '+':
            if cells[i] == 255: cells[i] = 0
            else: cells[i] += 1
        elif op == 'a': total += cells[i]
        elif op == '?':
            if total > 60000: raise Overrun
        elif op == ']':
            n -= 1
            if n > 0:
                pc = 0
                driver.can_enter_jit(pc=pc, code=code, i=i, n=n, cells=cells, total=total)
    return total
def main(k, n):
    code = '>+a>a+?' * k + ']'
    try: return interp(code, n)
    except Overrun: return -1
";

fn compiled(
    db: &taipan_driver::Database,
    args: &[i64],
    engine: Engine,
    bound: usize,
) -> (String, JitReport) {
    let options = JitOptions {
        most_blocks: Some(bound),
        ..JitOptions::default()
    };
    compiled_with(db, args, engine, options)
}

fn compiled_with(
    db: &taipan_driver::Database,
    args: &[i64],
    engine: Engine,
    options: JitOptions,
) -> (String, JitReport) {
    let report = Arc::new(Mutex::new(JitReport::default()));
    let options = JitOptions {
        threshold: options.threshold.or(Some(2)),
        report: Some(report.clone()),
        ..options
    };
    let got = outcome(db, "main", args, engine, Some(options));
    let report = report.lock().expect("nothing panicked").clone();
    (got, report)
}

/// Whatever the bound, programs compute what they compute without a compiler.
#[test]
fn loops_in_parts() {
    let mut db = database(LONG);
    let calls: &[&[i64]] = &[&[1, 9], &[5, 40], &[8, 1000]];
    let expected: Vec<String> = (calls.iter())
        .map(|args| outcome(&db, "main", args, Engine::LLInterp, None))
        .collect();
    assert_eq!(expected[2], "-1");
    db.generate_jit(true);
    for bound in [1, 40, 250] {
        for (args, expected) in calls.iter().zip(&expected) {
            let (got, _) = compiled(&db, args, Engine::Native, bound);
            assert_eq!(&got, expected, "{args:?}, {bound} blocks");
        }
        for (args, expected) in calls.iter().zip(&expected).take(2) {
            let (got, _) = compiled(&db, args, Engine::LLInterp, bound);
            assert_eq!(
                &got, expected,
                "{args:?}, {bound} blocks, low-level interpreter"
            );
        }
    }
}

/// Functions jump to each other: the stack does not grow, and the parts of a loop are the
/// same each time around.
#[test]
fn parts_of_a_loop_meet() {
    let mut db = database(LONG);
    db.generate_jit(true);
    let (short, few) = compiled(&db, &[8, 15], Engine::Native, 100);
    let (long, more) = compiled(&db, &[8, 40], Engine::Native, 100);
    assert_ne!(short, long);
    assert!(few.functions > 3, "{} functions", few.functions);
    assert_eq!(few.functions, more.functions);
    assert_eq!(more.refused, [""; 0]);
}

/// When there is as much machine code as there may be, nothing is added, and what code does not
/// cover is interpreted.
#[test]
fn machine_code_is_bounded() {
    let mut db = database(MANY);
    let args: &[i64] = &[60, 4];
    let expected = outcome(&db, "main", args, Engine::LLInterp, None);
    db.generate_jit(true);
    let mut sizes = Vec::new();
    for most in [1, 20_000, 60_000] {
        let options = JitOptions {
            most_code: Some(most),
            ..JitOptions::default()
        };
        let (got, report) = compiled_with(&db, args, Engine::Native, options);
        assert_eq!(got, expected, "{most} bytes");
        let refused = &report.refused;
        assert!(
            refused.iter().all(|why| why.contains("already")),
            "{refused:?}"
        );
        // What runs goes on to its next merge point.
        assert!(report.code_bytes < most + 50_000, "{}", report.code_bytes);
        sizes.push(report.code_bytes);
    }
    let (got, report) = compiled_with(&db, args, Engine::Native, JitOptions::default());
    assert_eq!(got, expected);
    assert_eq!(report.refused, [""; 0]);
    assert!(report.code_bytes > sizes[2], "{sizes:?}");
    assert!(sizes[0] < sizes[1] && sizes[1] < sizes[2], "{sizes:?}");
}

/// Compiling is in proportion to what a program does: of many loops that all come by often
/// enough a short run compiles a few, a longer one more of them.
#[test]
fn what_is_compiled_is_earned() {
    const LOOPS: i64 = 300;
    let mut db = database(MANY);
    db.generate_jit(true);
    // Four times in each round each loop comes by.
    let functions = [(260, 1000), (3000, 1000), (260, 2)].map(|(rounds, threshold)| {
        let options = JitOptions {
            threshold: Some(threshold),
            ..JitOptions::default()
        };
        let (_, report) = compiled_with(&db, &[LOOPS, rounds], Engine::Native, options);
        assert_eq!(report.refused, [""; 0]);
        report.functions
    });
    let [short, long, eager] = functions;
    let all = LOOPS as usize;
    assert!((1..all - 10).contains(&short), "{functions:?}");
    assert_eq!([long, eager], [all, all]);
}

/// What was compiled is entered even when nothing can be compiled any more.
#[test]
fn compiled_code_stays_when_there_is_no_room() {
    let mut db = database(INTERPRETED);
    let args: &[i64] = &[40, 500];
    let interpreted = outcome(&db, "main", args, Engine::LLInterp, None);
    db.generate_jit(true);
    let rounds = |most| {
        let options = JitOptions {
            most_code: Some(most),
            ..JitOptions::default()
        };
        let (got, report) = compiled_with(&db, args, Engine::Native, options);
        assert!(report.code_bytes < most.saturating_add(50_000));
        got.parse::<i64>().expect("a number")
    };
    assert_eq!(interpreted, "2000");
    assert_eq!(rounds(1), 2000);
    let most = [20_000, usize::MAX].map(rounds);
    assert!(most[0] < 50 && most[1] < 50, "{most:?}");
}

/// Counts how many rounds of a loop that was compiled first are interpreted, after many others
/// were run.
const INTERPRETED: &str = "
from rpython.rlib import jit
driver = jit.JitDriver(greens=['pc', 'code'], reds=['i', 'total'])
class Count(object): rounds = 0
count = Count()
def run(code, i):
    pc = 0
    total = 0
    while pc < len(code):
        driver.jit_merge_point(pc=pc, code=code, i=i, total=total)
        op = code[pc]
        pc += 1
        if op == '+': total += i
        elif op == '?':
            if total % 7 == 3: total += 2
            elif total % 5 == 1: total -= 1
        elif op == ']':
            if not jit.we_are_jitted(): count.rounds += 1
            i -= 1
            if i > 0:
                pc = 0
                driver.can_enter_jit(pc=pc, code=code, i=i, total=total)
    return total
def main(k, n):
    first = '+]'
    run(first, 100)
    total = 0
    for j in range(k): total += run('+?' * (j % 9 + 1) + '?' * (j // 9) + ']', 30)
    count.rounds = 0
    for j in range(4): total += run(first, n)
    if total == 0: return -1
    return count.rounds
";

/// Many short loops in functions that call each other, on boxed numbers.
const MANY: &str = "
from rpython.rlib import jit
driver = jit.JitDriver(greens=['pc', 'code'], reds=['i', 'total'])
class Num(object):
    def __init__(self, n): self.n = n
class Code(object):
    _immutable_fields_ = ['ops', 'inner']
    def __init__(self, ops, inner): self.ops, self.inner = ops, inner
def run(code, total):
    pc = 0
    i = 5
    while pc < len(code.ops):
        driver.jit_merge_point(pc=pc, code=code, i=i, total=total)
        op = code.ops[pc]
        pc += 1
        if op == '+': total = Num(total.n + i)
        elif op == '?':
            if total.n % 7 == 3: total = Num(total.n + 2)
            elif total.n % 5 == 1: total = Num(total.n - 1)
        elif op == 'c':
            if code.inner is not None: total = run(code.inner, total)
        elif op == ']':
            i -= 1
            if i > 0:
                pc = 0
                driver.can_enter_jit(pc=pc, code=code, i=i, total=total)
    return total
def main(k, rounds):
    total = Num(0)
    codes = []
    inner = None
    for j in range(k):
        inner = Code('+?+' + '?' * (j % 4) + ('c' if j % 3 else '') + ']', inner)
        codes.append(inner)
    for r in range(rounds):
        for code in codes:
            if total.n > 1000000: total = Num(total.n % 1000)
            total = run(code, total)
    return total.n
";

/// What cannot be compiled at once is compiled in pieces.
#[test]
fn large_units_are_compiled_in_pieces() {
    let mut db = database(MANY);
    let args: &[i64] = &[6, 40];
    let expected = outcome(&db, "main", args, Engine::LLInterp, None);
    db.generate_jit(true);
    let units = [1, 700, usize::MAX].map(|largest| {
        let options = JitOptions {
            largest_unit: Some(largest),
            ..JitOptions::default()
        };
        let (got, report) = compiled_with(&db, args, Engine::Native, options);
        assert_eq!(got, expected, "{largest} bytes");
        assert_eq!(report.refused, [""; 0]);
        report.units
    });
    assert!(units[0] > units[1] && units[1] > units[2], "{units:?}");
}
