//! Memo functions, which run while the program is compiled.

use crate::support::check;

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

/// A collection in `_cleanup_()` repeats the round on the heap from before it.
#[test]
fn collections_in_cleanup_methods() {
    check(
        "
import gc, weakref
class Late(object):
    def __init__(self, n): self.n = n
def first(n): return Late(n)
def second(n): return [n]
class Box(object):
    dead = False
    made = None
    def _cleanup_(self):
        w = weakref.ref(first(3))
        self.many = second(1) + second(2)
        gc.collect()
        self.dead = w() is None
        self.made = first(4)
        self.many = second(5)
box = Box()
def f(n): return n + box.made.n + int(box.dead) + box.many[0]
",
        "f(3) == 13",
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

/// What a memo function makes may ask for a collection when it cleans up.
#[test]
fn collections_while_cleaning_up() {
    check(
        "
import gc, weakref
class Thing(object): pass
class Cache(object):
    def __init__(self):
        self.thing = weakref.ref(Thing())
        self.n = 1
    def _cleanup_(self):
        gc.collect()
        self.n = 5 if self.thing() is None else 0
        del self.thing
class Space(object):
    def _freeze_(self): return True
    def made(self, cls): return cls()
    made._annspecialcase_ = 'specialize:memo'
space = Space()
def f(n): return space.made(Cache).n + n
",
        "f(1) == 6",
    );
}

/// Modules that are only imported when objects are asked whether they are frozen, and what the
/// functions of those import.
#[test]
fn imports_while_cleaning_up() {
    let main = "
class Lazy(object):
    module = None
    def _cleanup_(self):
        import second
        self.value = second.value
lazy = Lazy()
lazy.value = None
def f(n): return lazy.value(n)
";
    let files = [
        ("/main.py", main),
        (
            "/second.py",
            "def value(n):\n    from third import more\n    return more(n)\n",
        ),
        ("/third.py", "def more(n): return n + 40\n"),
    ];
    crate::support::check_files(&files, "f(2) == 42");
}

/// Low-level types are arguments like any other that is known while compiling.
#[test]
fn memo_functions_of_low_level_types() {
    check(
        "
from rpython.rlib.objectmodel import enforceargs, specialize
from rpython.rlib.rarithmetic import r_singlefloat
from rpython.rtyper.lltypesystem import lltype, rffi
@specialize.memo()
def size(TYPE):
    if isinstance(TYPE, lltype.Ptr):
        return -1
    return rffi.sizeof(TYPE)
@specialize.argtype(0)
def size_of(x): return size(lltype.typeOf(x))
@enforceargs(r_singlefloat, int)
def whole(x, n): return int(float(x)) + n
def f(n):
    p = lltype.malloc(rffi.CCHARP.TO, 1, flavor='raw')
    total = size_of(n) * 100 + size_of(rffi.cast(rffi.SHORT, n)) * 10 + size_of(p)
    lltype.free(p, flavor='raw')
    return total
def g(n): return whole(r_singlefloat(2.5), n)
",
        "
        f(1) == 819
        g(1) == 3
        ",
    );
}

const CACHES: &str = "
from rpython.rlib.cache import Cache
class T(object):
    def __init__(self, name, base): self.name, self.base, self.ready = name, base, None
class Key(object):
    def __init__(self, name, base): self.name, self.base = name, base
    def _freeze_(self): return True
B = Key('b', None)
A = Key('a', B)
C = Key('c', A)
class Types(Cache):
    def _build(self, key):
        base = None
        if key.base is not None: base = self.getorbuild(key.base)
        return T(key.name, base)
types = Types()
class X(object):
    typedef = A
class Y(X):
    typedef = B
def get(x): return types.getorbuild(x.typedef)
";

/// What a memo call makes while another one runs it is what it makes by itself.
#[test]
fn memo_calls_inside_memo_calls_make_the_same_objects() {
    check(
        &format!(
            "{CACHES}
def bases(n):
    a = types.getorbuild(A)
    b = types.getorbuild(B)
    x = X() if n else Y()
    return (a.base is b) * 4 + (get(x) is a) * 2 + (get(x) is b)
def three(n):
    c = types.getorbuild(C)
    a = types.getorbuild(A)
    b = types.getorbuild(B)
    b.name = 'changed%d' % n
    return (c.base is a) * 2 + (c.base.base is b) + len(c.base.base.name)
def inner_first(n):
    b = types.getorbuild(B)
    return types.getorbuild(A).base is b
"
        ),
        "
        bases(1) == 6
        bases(0) == 5
        three(5) == 11
        inner_first(0) == true
        ",
    );
}

/// A memo function that keeps nothing makes something new each time.
#[test]
fn memo_functions_that_keep_nothing() {
    check(
        "
class Row(object):
    def __init__(self): self.n = 1
class Table(object):
    def __init__(self, row): self.row = row
class Key(object):
    def _freeze_(self): return True
key = Key()
def fresh(key): return Row()
fresh._annspecialcase_ = 'specialize:memo'
def table(key): return Table(fresh(key))
table._annspecialcase_ = 'specialize:memo'
def f(n):
    row = fresh(key)
    row.n = n
    return (table(key).row is row) * 100 + table(key).row.n
",
        "f(5) == 1",
    );
}

/// What is made ready needs what is being built; a cache that needs itself fails.
#[test]
fn memo_calls_that_need_each_other() {
    check(
        "
from rpython.rlib.cache import Cache
class T(object):
    other = None
    def __init__(self, n): self.n = n
class Key(object):
    other = None
    def __init__(self, n): self.n = n
    def _freeze_(self): return True
a, b = Key(1), Key(2)
a.other, b.other = b, a
class Ready(Cache):
    def _build(self, key):
        result = T(key.n)
        result.key = key
        return result
    def _ready(self, result):
        result.other = self.getorbuild(result.key.other)
ready = Ready()
def f(n):
    x, y = ready.getorbuild(a), ready.getorbuild(b)
    return (x.other is y) * 2 + (y.other is x) + x.n * 10 + y.n * 100
class Never(Cache):
    def _build(self, key): return self.getorbuild(key.other)
never = Never()
def g(n): return never.getorbuild(a)
def again(key):
    if key not in seen:
        seen[key] = None
        seen[key] = T(again(key) is None)
    return seen[key]
again._annspecialcase_ = 'specialize:memo'
seen = {}
def h(n): return again(a).n + n
",
        "
        f(0) == 213
        h(1) == 2
        ",
    );
}

/// Classes and functions that an inner call makes are the same, too.
#[test]
fn classes_of_memo_calls_inside_memo_calls() {
    check(
        "
classes, tables = {}, {}
class Base(object):
    def id(self): return 1
class Table(object):
    def __init__(self, cls, add): self.cls, self.add = cls, add
def sub(cls):
    if cls not in classes:
        class Sub(cls):
            def id(self): return 2
        def add(n): return n + 3
        classes[cls] = Table(Sub, add)
    return classes[cls]
sub._annspecialcase_ = 'specialize:memo'
def table(cls):
    if cls not in tables:
        inner = sub(cls)
        tables[cls] = Table(inner.cls, inner.add)
    return tables[cls]
table._annspecialcase_ = 'specialize:memo'
def f(n):
    outer, inner = table(Base), sub(Base)
    made = outer.cls() if n else Base()
    same = (outer.cls is inner.cls) + (outer.add is inner.add) * 2
    return same * 100 + isinstance(made, inner.cls) * 10 + made.id() + outer.add(n)
",
        "
        f(1) == 316
        f(0) == 304
        ",
    );
}

/// Calls that run each other and are given what the other one makes.
#[test]
fn memo_calls_that_are_given_what_they_make() {
    check(
        "
class Key(object):
    def __init__(self, n): self.n = n
    def _freeze_(self): return True
a, b = Key(1), Key(2)
a.other, b.other = b, a
class R(object):
    wrapped = None
    def __init__(self, n): self.n = n
    def _freeze_(self): return True
class S(object):
    def __init__(self, of): self.of = of
results, wraps = {}, {}
def wrap(r):
    if r not in wraps: wraps[r] = S(r)
    return wraps[r]
wrap._annspecialcase_ = 'specialize:memo'
def make(key):
    if key not in results:
        r = results[key] = R(key.n)
        r.wrapped = wrap(make(key.other))
    return results[key]
make._annspecialcase_ = 'specialize:memo'
def f(n):
    return make(a).wrapped.of.n * 10 + make(b).wrapped.of.n
",
        "f(0) == 21",
    );
}

/// Many rows are told apart by the identity of the argument, a field of what stands for it.
#[test]
fn memo_functions_with_many_rows() {
    check(
        "
class Kind(object):
    def __init__(self, n): self.n, self.name = n, 'kind %d' % n
    def _freeze_(self): return True
class Type(object):
    def __init__(self, kind): self.weight = kind.n * kind.n
kinds = [Kind(n) for n in range(40)]
def type_of(kind): return Type(kind)
type_of._annspecialcase_ = 'specialize:memo'
def weight_of(kind, more): return kind.n * 2 + more
weight_of._annspecialcase_ = 'specialize:memo'
def f(n): return type_of(kinds[n]).weight
def g(n): return weight_of(kinds[n], 1) + weight_of(kinds[n], 2)
def h(n): return kinds[n].name
class Base(object): pass
classes = [type('C%d' % n, (Base,), {'n': n}) for n in range(30)]
def number_of(cls): return cls.n + 1
number_of._annspecialcase_ = 'specialize:memo'
def of_class(n): return number_of(classes[n])
class Mark(object):
    def __init__(self, n): self.n = n
    def _freeze_(self): return True
class Half(Mark):
    def __init__(self, n): self.n, self.half = n, n // 2
marks = [Mark(n) for n in range(20)] + [Half(n) for n in range(20, 40)]
halves = marks[20:]
def number(mark): return mark.n
number._annspecialcase_ = 'specialize:memo'
def unread(n): return number(marks[n])
def some_read(n): return number(marks[n]) + halves[1].half + halves[n // 2].half
",
        "
        f(0) == 0
        f(7) == 49
        f(38) == 1444
        f(39) == 1521
        g(0) == 3
        g(39) == 159
        h(21) == \"kind 21\"
        of_class(0) == 1
        of_class(17) == 18
        of_class(29) == 30
        unread(0) == 0
        unread(39) == 39
        some_read(3) == 23
        some_read(38) == 67
        ",
    );
}
