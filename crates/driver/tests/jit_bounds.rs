//! Compiled code has bounds: what comes after so many blocks is left to other residual
//! functions, and to the interpreter when there is too much of all.

mod support {
    pub(crate) mod jit;
}

use std::sync::{Arc, Mutex};

use support::jit::{database, outcome};
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
    let report = Arc::new(Mutex::new(JitReport::default()));
    let options = JitOptions {
        threshold: Some(2),
        most_blocks: Some(bound),
        report: Some(report.clone()),
        ..JitOptions::default()
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
