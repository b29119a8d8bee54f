//! Exceptions in compiled code.

use crate::support::jit::agrees;

/// The handler of `attempt` ends with a call, and both of its outcomes return None, so residual code has no exception
/// check before the return. Nine other paths reach the return first, which exceeds the maximum number of versions: the
/// path of the handler is merged by force.
const LAST_CALL: &str = "
from rpython.rlib import jit
driver = jit.JitDriver(greens=['code'], reds=['n', 'total'])
class Mistake(Exception):
    def __init__(self, n): self.n = n
class Other(Exception): pass
class W(object):
    def __init__(self, n): self.n = n
W0 = W(3); W1 = W(5); W2 = W(7); W3 = W(11); W4 = W(13); W5 = W(17); W6 = W(19); W7 = W(23); W8 = W(29); W9 = W(31)
class Code(object):
    @jit.dont_look_inside
    def handle(self, e): raise e
@jit.dont_look_inside
def check(n):
    if n < 100: raise Mistake(n)
def attempt(code, n):
    k = n % 12
    try:
        if k == 11: w = W0
        elif k == 10: w = W1
        elif k == 9: w = W2
        elif k == 8: w = W3
        elif k == 7: w = W4
        elif k == 6: w = W5
        elif k == 5: w = W6
        elif k == 4: w = W7
        elif k == 3: w = W8
        elif k == 2: w = None
        elif k == 1: w = W9
        else:
            check(n)
            w = W0
    except Other:
        return W9
    except Exception as e:
        code.handle(e)
        w = None
    return w
def run(code, n):
    total = 0
    while n > 0:
        driver.can_enter_jit(code=code, n=n, total=total)
        driver.jit_merge_point(code=code, n=n, total=total)
        try:
            w = attempt(code, n)
            if w is None: total += 30
            else: total += w.n
        except Mistake as e:
            total += e.n * 1000
        n -= 1
    return total
CODE = Code()
def main(n): return run(CODE, n)
";

#[test]
fn an_exception_is_kept_where_states_meet() {
    agrees(LAST_CALL, &[311], &[1, 3, 30]);
}
