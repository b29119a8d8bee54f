//! Modules of the shipped `rpython.rlib` about objects: declared signatures, storage
//! strategies, locks.

use crate::support::{check, check_without_python};

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
        total(4) error argument 2 of total() is declared as a list or dict of its own, which a list is not
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
        release() raises RThreadError
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

#[test]
fn virtual_references() {
    check(
        "
from rpython.rlib import jit
class Frame(object):
    def __init__(self, n): self.n, self.back = n, jit.vref_None
class Context(object):
    top = jit.vref_None
def enter(ec, frame):
    frame.back = ec.top
    ec.top = jit.virtual_ref(frame)
def leave(ec, frame):
    ref = ec.top
    ec.top = frame.back
    jit.virtual_ref_finish(ref, frame)
def frames(n):
    ec = Context()
    outer, inner = Frame(n), Frame(n + 1)
    enter(ec, outer)
    enter(ec, inner)
    top = ec.top()
    back = top.back()
    seen = top.n * 10 + back.n
    assert not ec.top.virtual
    leave(ec, inner)
    leave(ec, outer)
    return seen if ec.top() is None else -1
",
        "
        frames(3) == 43
        ",
    );
}

/// In Python the variable of a loop keeps its last object until the function returns.
#[test]
fn handles_of_dead_objects() {
    check_without_python(
        "
from rpython.rlib import rgc
from rpython.rlib.rweaklist import RWeakListMixin
class A(object):
    n = 5
class Handles(RWeakListMixin):
    def __init__(self): self.initialize()
def handles():
    l, a = Handles(), A()
    first = l.add_handle(a)
    for i in range(10): l.add_handle(A())
    rgc.collect()
    alive = 0
    for r in l.get_all_handles():
        if r() is not None: alive += 1
    return [first, l.fetch_handle(first) is a, alive, l.fetch_handle(99) is None]
",
        "
        handles() == [3,1,1,1]
        ",
    );
}

#[test]
fn lists_that_forget() {
    check(
        "
import weakref
from rpython.rlib import rgc, rrawarray
from rpython.rlib.rshrinklist import AbstractShrinkList
from rpython.rlib.rweakref import dead_ref
from rpython.rtyper.lltypesystem import lltype, rffi
class A(object):
    n = 5
class Even(AbstractShrinkList):
    def must_keep(self, x): return x % 2 == 0
prebuilt = A()
refs = [weakref.ref(prebuilt), dead_ref]
def prebuilt_refs(i):
    a = refs[i]()
    return -1 if a is None else a.n
def shrunk():
    l = Even()
    for i in range(40): l.append(i)
    return len(l.items())
def copied():
    buf = lltype.malloc(rffi.CArray(lltype.Signed), 3, flavor='raw')
    rrawarray.copy_list_to_raw_array([1, 2, 3], buf)
    l = []
    rrawarray.populate_list_from_raw_array(l, buf, 2)
    lltype.free(buf, flavor='raw')
    return l
",
        "
        prebuilt_refs(0) == 5
        prebuilt_refs(1) == -1
        shrunk() == 32
        copied() == [1,2]
        ",
    );
}

#[test]
fn functions_on_dicts_and_lists() {
    check(
        "
from rpython.rlib.objectmodel import *
class Odd(Exception): pass
def key_hash(n):
    if n == 13: raise Odd
    return n
def key_eq(a, b): return a == b
def caught(n):
    d = r_dict(key_eq, key_hash)
    d[1] = 5
    try: return d[n]
    except KeyError: return -1
    except Odd: return -2
def set(n):
    d = r_dict(key_eq, key_hash)
    try: d[n] = 1
    except Odd: return -2
    return len(d)
def backwards(n):
    d = {n: 1, n + 1: 2, n + 2: 3}
    del d[n + 1]
    return [k for k in reversed_dict(d)]
def moved(n):
    d = {n: 1, n + 1: 2, n + 2: 3}
    move_to_end(d, n)
    move_to_end(d, n + 2, last=False)
    return d.keys()
def room(n):
    l = [n]
    for i in range(n): l.append(i)
    return list_get_physical_size(l) >= len(l)
def fixed(n): return list_get_physical_size([n, n])
def option(): return fetch_translated_config().translation.continuation
def cleaned(n):
    d, total = {n: 1}, 0
    try:
        for k, v in d.iteritems(): total += k * v
    finally:
        total += 100
    return total
",
        "
        caught(1) == 5
        caught(2) == -1
        caught(13) == -2
        set(13) == -2
        set(3) == 1
        backwards(5) == [7,5]
        moved(5) == [7,6,5]
        room(9) == true
        fixed(1) == 2
        option() == false
        cleaned(7) == 107
        ",
    );
}

#[test]
fn functions_made_at_import_time() {
    check(
        "
import new
from rpython.tool.sourcetools import compile2, func_renamer, func_with_new_name
def g(n, k=3): return n + k
h = func_with_new_name(g, 'h')
@func_renamer('other')
def k(n): return n * 2
d = {}
exec compile2('def made(x): return x - 1') in d
made = new.function(d['made'].func_code, {}, 'minus')
names = h.__name__ + k.__name__ + made.__name__
def f(n): return h(n) + k(n) * 10 + made(n) * 100, names
",
        r#"
        f(4) == [387,"hotherminus"]
        "#,
    );
}

#[test]
fn marshalled_values() {
    check(
        "
from rpython.rlib.rmarshal import get_marshaller, get_unmarshaller
TYPE = [(int, str, {int: float}, bool)]
dump, load = get_marshaller(TYPE), get_unmarshaller(TYPE)
dump_int, load_str = get_marshaller(int), get_unmarshaller(str)
def codes(n):
    buf = []
    dump_int(buf, n)
    return [ord(c) for c in buf]
def there_and_back(n):
    buf = []
    dump(buf, [(n, 'x' * n, {n: 0.5}, n > 2), (-n, '', {}, False)])
    number, s, d, b = load(''.join(buf))[0]
    return [number, len(s), int(d[n] * 10.0), int(b)]
def wrong(): return load_str('i\\x05\\x00\\x00\\x00')
",
        "
        codes(258) == [73,2,1,0,0,0,0,0,0]
        there_and_back(3) == [3,3,5,1]
        wrong() raises ValueError
        ",
    );
}

#[test]
fn mixins() {
    check(
        "
from rpython.rlib.objectmodel import import_from_mixin
class Base(object):
    _immutable_fields_ = ['a']
class Mixin(Base):
    _immutable_fields_ = ['b[*]']
    kind = 'mixed'
    def __init__(self, a): self.a = a
    def __repr__(self): return 'stays where it is'
    def name(self): return '%s %d' % (self.kind, self.twice(self.a))
    @staticmethod
    def twice(n): return n * 2
class Mixed(object):
    _immutable_fields_ = ['c']
    import_from_mixin(Mixin)
fields = ' '.join(Mixed._immutable_fields_)
copied = '__repr__' in Mixed.__dict__
try:
    class Twice(object):
        def name(self): return ''
        import_from_mixin(Mixin)
    refused = ''
except Exception, e:
    refused = str(e)
def f(n): return Mixed(n).name(), fields, copied, refused
",
        r#"
        f(3) == ["mixed 6","c b[*] a",false,"import_from_mixin: would overwrite the value already defined locally for 'name'"]
        "#,
    );
}

/// A `ListDef` that several declarations name stands for any list of such items.
#[test]
fn declared_containers() {
    check(
        "
from rpython.annotator.listdef import ListDef
from rpython.annotator.model import SomeInteger, SomeList, SomeTuple
from rpython.rlib.signature import signature
pair = SomeTuple((SomeInteger(), SomeInteger()))
pairs = SomeList(ListDef(None, pair, mutated=False, resized=False))
@signature(pairs, returns=SomeInteger())
def total(l):
    n = 0
    for a, b in l: n += a * b
    return n
def f(n): return total([(n, 2), (1, n)])
",
        "f(5) == 15",
    );
}

#[test]
fn methods_as_functions_of_an_r_dict() {
    check(
        "
from rpython.rlib.objectmodel import r_dict, r_ordereddict
class Space(object):
    def __init__(self, n):
        self.n = n
        self.calls = 0
    def eq(self, a, b):
        self.calls += 1
        return a % self.n == b % self.n
    def hash(self, a):
        self.calls += 1
        return a % self.n
    def newdict(self):
        return r_dict(self.eq, self.hash)
def modulo(a): return a & 1
prebuilt_space = Space(10)
prebuilt = r_dict(prebuilt_space.eq, prebuilt_space.hash)
prebuilt[3] = 'three'
def two_dicts(n):
    d, e = Space(n).newdict(), Space(n + 1).newdict()
    for i in range(20):
        d[i] = i
        e[i] = i
    return len(d), len(e), d[n + 2], (n + 1) in e, e.get(2 * n + 4, -1)
def copies():
    space = Space(3)
    d = space.newdict()
    d[1] = 2
    e = d.copy()
    e[7] = 4
    calls = space.calls
    e.update(d)
    return len(d), d[4], e[1], space.calls > calls
def one_method():
    space = Space(4)
    d = r_ordereddict(space.eq, modulo)
    for i in range(16): d[i] = i
    return d.keys()
def constant(k):
    return prebuilt[k]
",
        "
        two_dicts(5) == [5,6,17,true,14]
        copies() == [1,2,2,true]
        one_method() == [0,1,2,3]
        constant(43) == \"three\"
        constant(44) raises KeyError
        ",
    );
}

#[test]
fn hints_that_are_wrong() {
    check(
        "
from rpython.rlib.jit import JitDriver
from rpython.rlib.signature import signature
from rpython.rlib import types
class A(object): pass
class B(A): pass
class C(object): pass
driver = JitDriver(greens=['pc', 'code.length'], reds=['x'])
def right(x):
    driver.jit_merge_point(pc=1, x=x)
    return x
def left_out(x):
    driver.jit_merge_point(pc=1)
    return x
def too_many(x):
    driver.can_enter_jit(pc=1, x=x, y=x)
    return x
@signature(types.instance(A), returns=types.int())
def of_a(a): return 3
def derived(n): return of_a(B())
def other(n): return of_a(C())
",
        "
        right(2) == 2
        left_out(2) error jit_merge_point() takes the variables of its driver: pc, x
        too_many(2) error can_enter_jit() takes the variables of its driver: pc, x
        derived(1) == 3
        other(1) error argument 1 of of_a() is declared as an instance of main.A, but got an instance of main.C
        ",
    );
}

#[test]
fn one_of_several_functions_of_an_r_dict() {
    check(
        "
from rpython.rlib.objectmodel import r_dict
class Key(object):
    def __init__(self, n): self.n = n
class Odd(Key): pass
class Exact(object):
    def eq(self, a, b): return a.n == b.n
    def hash(self, a): return a.n
    def newdict(self): return r_dict(self.eq, self.hash)
class Modulo(Exact):
    def __init__(self, m): self.m = m
    def eq(self, a, b): return a.n % self.m == b.n % self.m
    def hash(self, a): return a.n % self.m
class Same(Modulo): pass
class Strict(Modulo):
    def eq(self, a, b):
        if a.n + b.n > 15: raise ValueError
        return Modulo.eq(self, a, b)
def filled(d):
    for i in range(20): d[Odd(i)] = i
    return len(d)
def overridden(i):
    space = [Exact(), Modulo(4), Same(3), Strict(2)][i]
    space.eq(Key(1), Key(2))
    try: return filled(space.newdict())
    except ValueError: return -1
def plain(a, b): return a == b
def last(a, b): return a % 10 == b % 10
def number(a): return a
def last_hash(a): return a % 10
def prebuilt(eq, hash):
    d = r_dict(eq, hash)
    d[1] = 1
    return d
dicts = [prebuilt(plain, number), prebuilt(last, last_hash)]
def functions(i):
    eq, hash = plain, number
    if i: eq, hash = last, last_hash
    d = r_dict(eq, hash)
    for i in range(25): d[i] = i
    return len(d)
def before(i):
    d = dicts[i]
    for i in range(25): d[i] = i
    return len(d)
class Frozen(object):
    def __init__(self, n): self.n = n
    def _freeze_(self): return True
    def eq(self, a, b): return a % self.n == b % self.n
    def hash(self, a): return a % self.n
three, five = Frozen(3), Frozen(5)
def frozen(i):
    x = three
    if i: x = five
    d = r_dict(x.eq, x.hash)
    for i in range(25): d[i] = i
    return len(d)
",
        "
        overridden(0) == 20
        overridden(1) == 4
        overridden(2) == 3
        overridden(3) == -1
        functions(0) == 25
        functions(1) == 10
        before(0) == 25
        before(1) == 10
        frozen(0) == 3
        frozen(1) == 5
        ",
    );
}

/// Without a just-in-time compiler nothing is constant, and loops over nothing are unrolled.
#[test]
fn loops_over_nothing() {
    check(
        "
from rpython.rlib import jit
def short(n):
    l = [1] * n
    if jit.loop_unrolling_heuristic(l, len(l)): return 'empty'
    return 'long'
def at_most(n): return jit.loop_unrolling_heuristic([n], n, 5)
",
        "
        short(0) == \"empty\"
        short(1) == \"long\"
        at_most(0) == true
        at_most(2) == false
        ",
    );
}

/// Classes that have RStringIO mixed in empty it by init().
#[test]
fn files_in_memory_that_are_mixed_in() {
    check(
        "
from rpython.rlib.objectmodel import import_from_mixin
from rpython.rlib.rStringIO import RStringIO
class Bytes(object):
    import_from_mixin(RStringIO)
    def __init__(self): self.init()
def f(text):
    b = Bytes()
    b.write(text)
    b.seek(1)
    read = b.read(2)
    b.init()
    b.write('new')
    return read + b.getvalue()
",
        "
        f('abcd') == \"bcnew\"
        ",
    );
}

#[test]
fn bisection() {
    check(
        "
from rpython.rlib import rbisect
def left(n): return rbisect.bisect_left([1, 3, 3, 5], n, 4)
def right(n): return rbisect.bisect_right([1, 3, 3, 5], n, 4)
",
        "
        left(3) == 1
        left(4) == 3
        right(3) == 3
        right(9) == 4
        ",
    );
}

/// As in PyPy's list strategies: an `unerase()` without any `erase()` is dead code.
#[test]
fn pairs_that_erase_nothing() {
    check(
        "
from rpython.rlib.rerased import new_erasing_pair
class Strategy(object):
    def length(self, storage): raise NotImplementedError
class Numbers(Strategy):
    erase, unerase = [staticmethod(f) for f in new_erasing_pair('numbers')]
    def length(self, storage): return len(self.unerase(storage))
class Range(Strategy):
    erase, unerase = [staticmethod(f) for f in new_erasing_pair('range')]
    def length(self, storage):
        start, stop = self.unerase(storage)
        return stop - start
class Text(Strategy):
    erase, unerase = [staticmethod(f) for f in new_erasing_pair('text')]
    def length(self, storage): return len(self.unerase(storage))
numbers, ranges, texts = Numbers(), Range(), Text()
class W_List(object):
    def __init__(self, strategy, storage): self.strategy, self.storage = strategy, storage
def f(n):
    w = W_List(numbers, numbers.erase([1] * n)) if n else W_List(texts, texts.erase('abcd'))
    if w.strategy is ranges: return -1
    return w.strategy.length(w.storage)
",
        "
        f(3) == 3
        f(0) == 4
        ",
    );
}
