//! Modules of the shipped `rpython.rlib` about objects: declared signatures, storage
//! strategies, locks.

mod support;

use support::check;

#[test]
fn signatures() {
    check(
        "
from rpython.annotator import model
from rpython.rlib import types
from rpython.rlib.objectmodel import enforceargs
from rpython.rlib.signature import finishsigs, signature
@signature(types.int(), types.str(), returns=types.str())
def repeated(n, s): return s * n
@finishsigs
class A(object):
    @signature(types.self(), types.list(types.int()), returns=types.int())
    def total(self, l):
        n = 0
        for x in l: n += x
        return n
    @signature(types.self(), types.any(), returns=types.instance(object))
    def same(self, x): return x
@enforceargs(model.SomeInteger(nonneg=True), model.SomeString())
def tail(n, s): return s[n:]
def total(n): return A().total([n, n, 1])
def same(n):
    a = A()
    return a.same(a) is a
",
        r#"
        repeated(3, 'ab') == "ababab"
        total(4) == 9
        same(1) == true
        "#,
    );
}

#[test]
fn locks() {
    check(
        "
from rpython.rlib import rthread
lock = rthread.allocate_lock()
def twice(flag):
    with lock:
        taken = lock.is_acquired()
        try: again = lock.acquire(bool(flag))
        except rthread.error: again = True
    return taken * 4 + again * 2 + lock.is_acquired()
def release(): lock.release()
",
        "
        twice(0) == 4
        twice(1) == 6
        release() raises error
        ",
    );
}

#[test]
fn storage_strategies() {
    check(
        "
from rpython.rlib.rstrategies import rstrategies as rs
from rpython.rlib.objectmodel import import_from_mixin
class W_Root(object): pass
class W_Int(W_Root):
    def __init__(self, value): self.value = value
class W_List(W_Root):
    rs.make_accessors(strategy='strategy', storage='items')
    def __init__(self):
        self.strategy = None
nil = W_Root()
class Strategy(object):
    __metaclass__ = rs.StrategyMetaclass
    import_from_mixin(rs.AbstractStrategy)
    import_from_mixin(rs.SafeIndexingMixin)
    def __init__(self, factory, w_self=None, size=0):
        self.factory = factory
    def strategy_factory(self): return self.factory
class Factory(rs.StrategyFactory):
    def instantiate_strategy(self, strategy_type, w_self=None, size=0):
        return strategy_type(self, w_self, size)
@rs.strategy(generalize=[])
class Generic(Strategy):
    import_from_mixin(rs.GenericStrategy)
    def default_value(self): return nil
@rs.strategy(generalize=[Generic])
class Ints(Strategy):
    import_from_mixin(rs.SingleTypeStrategy)
    contained_type = W_Int
    def wrap(self, value): return W_Int(value)
    def unwrap(self, w_value):
        assert isinstance(w_value, W_Int)
        return w_value.value
    def default_value(self): return W_Int(0)
@rs.strategy(generalize=[Generic])
class Nils(Strategy):
    import_from_mixin(rs.SingleValueStrategy)
    def value(self): return nil
factory = Factory(Strategy)
def total(w):
    n = 0
    for w_item in w.strategy.fetch_all(w):
        if isinstance(w_item, W_Int): n += w_item.value
    return n
def run(kind, n):
    w = W_List()
    if kind == 0: factory.set_initial_strategy(w, Nils, n)
    else: factory.set_initial_strategy(w, Ints, n)
    w.strategy.append(w, [W_Int(i) for i in range(n)])
    special = w.strategy is factory.strategy_singleton_instance(Ints)
    w.strategy.store(w, 0, nil)
    general = w.strategy is factory.strategy_singleton_instance(Generic)
    return [total(w), w.strategy.size(w), special, general]
def best(a):
    l = [nil, nil]
    if a: l = [W_Int(3), W_Int(4)]
    if a > 1: l.append(nil)
    t = factory.strategy_type_for(l)
    if t is Nils: return 0
    if t is Ints: return 1
    return 2
def outside(n):
    w = W_List()
    factory.set_initial_strategy(w, Ints, n)
    try: w.strategy.fetch(w, n)
    except IndexError: return True
    return False
",
        "
        run(0, 3) == [3,6,0,1]
        run(1, 3) == [3,6,1,1]
        best(0) == 0
        best(1) == 1
        best(2) == 2
        outside(2) == true
        ",
    );
}
