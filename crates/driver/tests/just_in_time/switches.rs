//! Switches on values that are not known while compiling, such as opcodes in a list that may change.

use crate::support::jit::report_of;
use taipan_driver::Engine;

/// Nine opcodes and a default. With `first`, the first instruction changes in each round and takes up to six
/// cases one after the other, among them the default.
const SOURCE: &str = "
from rpython.rlib import jit
driver = jit.JitDriver(greens=['pc', 'code'], reds=['x', 'n', 'first'])
class Code(object):
    def __init__(self, ops): self.ops = ops
def interp(code, n, first):
    pc = 0
    x = 1
    while n > 0:
        driver.jit_merge_point(pc=pc, code=code, x=x, n=n, first=first)
        op = code.ops[pc]
        pc += 1
        if op == 0: x += 1
        elif op == 1: x ^= n
        elif op == 2: x = x * 3 & 65535
        elif op == 3: x -= 7
        elif op == 4: x = -x
        elif op == 5: x += n
        elif op == 6: x |= 5
        elif op == 7: x &= 1023
        elif op == 8:
            n -= 1
            pc = 0
            if first > 0: code.ops[0] = x % first
            driver.can_enter_jit(pc=pc, code=code, x=x, n=n, first=first)
        else: x += op
    return x
def main(first, n):
    if first: return interp(Code([25, 1, 2, 7, 20, 8]), n, first)
    return interp(Code([0, 1, 20, 2, 3, 5, 30, 8]), n, 0)
";

#[test]
fn results_agree() {
    for engine in [Engine::LLInterp, Engine::Native] {
        for threshold in [1, 3, 50] {
            for args in [[0, 200], [2, 300], [4, 300], [12, 600]] {
                report_of(SOURCE, &args, threshold, engine);
            }
        }
    }
}

/// Nothing is compiled for the nine cases of each of eight switches that no instruction takes.
#[test]
fn cases_that_are_not_taken_cost_nothing() {
    let report = report_of(SOURCE, &[0, 200], 2, Engine::Native);
    let blocks = report.counts["blocks"].as_u64();
    assert!(blocks < Some(80), "{blocks:?}");
}
