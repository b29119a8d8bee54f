//! Memo functions, which run while the program is compiled.

mod support;

use support::check;

#[test]
fn memo_functions_of_memo_results() {
    check(
        "
class Table(object):
    def __init__(self, space): self.rows = [space.step, space.step * 2]
    def _freeze_(self): return True
    def row(self, key): return self.rows[key.index]
    row._annspecialcase_ = 'specialize:memo'
class Key(object):
    def __init__(self, index): self.index = index
    def _freeze_(self): return True
class Space(object):
    step = 5
    def _freeze_(self): return True
    def made(self, cls): return cls(self)
    made._annspecialcase_ = 'specialize:memo'
space, first, second = Space(), Key(0), Key(1)
def f(n):
    key = first if n else second
    return space.made(Table).row(key)
",
        "
        f(0) == 10
        f(1) == 5
        ",
    );
}

/// What `_cleanup_()` brings to light is asked whether it is frozen, too.
#[test]
fn frozen_objects_that_cleaning_up_makes() {
    check(
        "
class Part(object):
    def __init__(self, n): self.n = n
    def _freeze_(self): return True
class Late(object):
    def __init__(self): self.part = Part(1)
    def _cleanup_(self): self.part = Part(4)
late = Late()
def twice(part): return part.n * 2
twice._annspecialcase_ = 'specialize:memo'
def f(n): return twice(late.part) + n
",
        "f(1) == 9",
    );
}
