//! What RPython refuses though Python takes it, beside what it takes.

use crate::support::{check, check_files};

/// Functions, classes, methods and frozen instances have no value to compare; two
/// constants are compared by the flow space.
#[test]
fn constants_are_compared_by_identity() {
    check(
        "
class Frozen(object):
    def __init__(self, n): self.n = n
    def _freeze_(self): return True
class A(object): pass
class B(A): pass
one, two = Frozen(1), Frozen(2)
def first(n): return n
def second(n): return n + 1
def function(n):
    if n > 0: return first
    return second
def frozen(n):
    if n > 0: return one
    return two
def klass(n):
    if n > 0: return A
    return B
def nothing(n):
    if n > 0: return first
    return None
def functions(n): return function(n) == first
def instances(n): return frozen(n) != frozen(1)
def classes(n): return klass(n) == A
def none(n): return nothing(n) == None
def same(n): return function(n) is first, frozen(n) is one, klass(n) is A
def known(n):
    f = one if n > 0 else two
    return f == two, f == 3, f != None, first == second
",
        "
        functions(1) error `==` of a prebuilt constant is not RPython
        instances(1) error `!=` of a prebuilt constant is not RPython
        classes(1) error `==` of a class is not RPython
        none(1) error `==` of a prebuilt constant and None is not RPython
        same(0) == [false,false,false]
        known(0) == [true,false,true,false]
        ",
    );
}

/// Only what has a hash may be a key, or be looked for among constants.
#[test]
fn constants_without_a_hash() {
    check(
        "
class Frozen(object):
    def _freeze_(self): return True
class A(object): pass
class B(A): pass
one, two = Frozen(), Frozen()
def first(n): return n
def second(n): return n + 1
def function(n):
    if n > 0: return first
    return second
def frozen(n):
    if n > 0: return one
    return two
def klass(n):
    if n > 0: return A
    return B
def functions(n): return {function(n): 1}[first]
def instances(n): return {frozen(n): 1}[one]
def classes(n): return {klass(n): 1}[A]
def among(n): return frozen(n) in (one, two)
def variable(n): return n in (n, 2)
def listed(n): return n in [n, 2]
",
        "
        functions(1) error a prebuilt constant cannot be the key of a dict: it has no hash
        instances(1) error a prebuilt constant cannot be the key of a dict: it has no hash
        classes(1) == 1
        among(1) error a prebuilt constant cannot be the key of a dict: it has no hash
        variable(1) error `in` a tuple whose items are not constants is not RPython
        listed(1) == true
        ",
    );
}

/// A long that fits an int is cast like one.
#[test]
fn small_longs_are_cast() {
    check(
        "
from rpython.rlib.rarithmetic import intmask, r_uint
def masked(n): return intmask(r_uint(n) & -4L)
",
        "
        masked(5) == 4
        ",
    );
}

/// `r_longlong` is as wide as int, and another type.
#[test]
fn long_integers_are_no_ints() {
    check(
        "
from rpython.rlib.objectmodel import enforceargs, specialize
from rpython.rlib.rarithmetic import intmask, longlongmask, r_longlong, r_uint
def kind(n):
    x = r_longlong(n)
    return isinstance(x, int), isinstance(x, r_longlong), isinstance(n + 1, r_longlong)
def results(n):
    x = r_longlong(n)
    if x > 0:
        return isinstance(x + n, int), isinstance(n << x, int)
    return isinstance(-x, int), isinstance(intmask(x), int)
@specialize.argtype(0)
def name(x):
    if isinstance(x, int): return 'int'
    if isinstance(x, r_longlong): return 'r_longlong'
    return 'other'
def names(n): return name(n) + name(r_longlong(n)) + name(longlongmask(n)) + name(r_uint(n))
@enforceargs(r_uint)
def unsigned(u): return u > 5
@enforceargs(int)
def plain(i): return i > 5
def declared(n): return unsigned(r_uint(n))
def misfit(n): return plain(r_longlong(n))
def mixed(n):
    x = r_longlong(n)
    assert x >= 0
    return r_uint(n) + x
",
        "
        kind(1) == [false,true,false]
        results(1) == [false,true]
        results(0) == [false,true]
        names(1) == \"intr_longlongr_longlongother\"
        declared(-1) == true
        misfit(1) error argument 1 of plain() is declared as an int, but got an int
        mixed(1) error these integers may be of different signedness
        ",
    );
}

#[test]
fn declarations_that_nothing_fits() {
    check(
        "
from rpython.rlib import types
from rpython.rlib.signature import signature
@signature(types.list(types.int()), returns=types.int())
def size(l): return len(l)
class Five(object):
    def __init__(self): return 5
class Itself(object):
    def __init__(self): return self
def lists(n): return size([n])
def five(n):
    Five()
    return n
def itself(n): return Itself() is None
def surplus(n): return 'text' % 5
",
        "
        lists(1) error argument 1 of size() is declared as a list or dict of its own, which a list is not
        five(1) error __init__() of class main.Five returns an int; it has to return None
        itself(1) == false
        ",
    );
}

/// A bare `raise` raises what was caught last, also by another handler inside of its own.
#[test]
fn raising_again_what_was_caught_last() {
    check(
        "
def fail(n):
    if n > 0: raise IndexError
    raise KeyError
def again(n):
    try:
        fail(n)
    except Exception:
        try:
            if n > 1: raise ValueError
        except ValueError:
            pass
        raise
",
        "
        again(0) raises KeyError
        again(1) raises IndexError
        again(2) raises ValueError
        ",
    );
}

#[test]
fn objects_clean_up_before_the_program_runs() {
    check(
        "
class Cache(object):
    def __init__(self): self.size, self.known = 1, {1: 2}
    def _cleanup_(self):
        self.size = 0
        self.known.clear()
class Lock(object):
    def __init__(self): self.n = 3
    def _cleanup_(self): raise Exception('no locks before the program runs')
class Single(object):
    known = []
    def __init__(self, n): self.n = n
    def _cleanup_(self):
        assert not self.known
        self.known.append(self)
class Key(object):
    def _freeze_(self): raise TypeError('a key')
    def turn(self): return 4
cache = Cache()
lock = Lock()
key = Key()
single, unused_one = Single(3), Single(4)
def prebuilt(n): return cache.size + n * len(cache.known)
def fresh(n): return Cache().size
def refuses(n): return lock.n
def alone(n): return single.n + unused_one.n
def thaws(n): return key.turn()
def unused(n): return n + 1 if n else Lock().n
",
        "
        prebuilt(5) == 0
        fresh(5) == 1
        refuses(5) error this object is not ready for the program: _cleanup_() of it raises Exception: no locks before the program runs
        thaws(5) error this object is not ready for the program: _freeze_() of it raises TypeError: a key
        unused(0) == 3
        alone(0) == 7
        ",
    );
}

/// Prebuilt bytearrays can change; what is read of one at a known place is read at
/// compile time.
#[test]
fn prebuilt_bytearrays() {
    check(
        "
data = bytearray('abc')
def text(n): return str(data)
def constant(n):
    data[0] = 120
    return chr(data[0])
def variable(n):
    data[n] = 120
    return chr(data[n]) + chr(data[n - 1])
def size(n): return len(data)
def choice(n):
    b = data if n > 0 else bytearray('xyzw')
    return len(b)
",
        "
        text(0) == \"abc\"
        constant(0) == \"a\"
        variable(1) == \"xa\"
        size(0) == 3
        choice(0) == 4
        choice(1) == 3
        ",
    );
}

/// Symbols are integers once the program is loaded, not before.
#[test]
fn integers_that_are_computed_late() {
    check(
        "
from rpython.rlib.objectmodel import CDefinedIntSymbolic, ComputedIntSymbolic
loaded = False
def answer():
    assert loaded
    return 7
late = ComputedIntSymbolic(answer)
given = CDefinedIntSymbolic('LIMIT', default=30)
table = [late, late]
loaded = True
def product(n): return late * n
def both(n): return given + late
def chosen(n): return given if n > 0 else late
",
        "
        product(6) == 42
        both(0) == 37
        chosen(0) == 7
        chosen(1) == 30
        ",
    );
}

#[test]
fn short_integers_are_for_storage() {
    let calls: String = [
        "text",
        "short_text",
        "signed",
        "format",
        "digits",
        "truth",
        "with_bool",
        "with_int",
        "as_large",
        "least",
        "quotient",
        "items",
    ]
    .iter()
    .map(|f| match *f {
        "short_text" => {
            format!("{f}(5) error an r_int16 can be stored and converted, but not computed with\n")
        }
        "signed" => {
            format!("{f}(5) error an r_uint8 can be stored and converted, but not computed with\n")
        }
        _ => {
            format!("{f}(5) error an r_int32 can be stored and converted, but not computed with\n")
        }
    })
    .collect();
    check(
        "
from rpython.rtyper.lltypesystem import rffi
def text(n): return str(rffi.cast(rffi.INT, n))
def short_text(n): return str(rffi.cast(rffi.SHORT, n))
def signed(n): return '%d' % rffi.cast(rffi.UCHAR, n)
def format(n): return '%d' % rffi.cast(rffi.INT, n)
def digits(n): return hex(rffi.cast(rffi.INT, n))
def truth(n): return bool(rffi.cast(rffi.INT, n))
def with_bool(n): return rffi.cast(rffi.INT, n) + (n > 2)
def with_int(n): return n - rffi.cast(rffi.INT, n)
def as_large(n): return rffi.cast(rffi.INT, n) < n
def least(n): return min(rffi.cast(rffi.INT, n), n > 3)
def quotient(n): return divmod(n, rffi.cast(rffi.INT, n))
def items(n): return str([rffi.cast(rffi.INT, n)])
",
        &calls,
    );
    check(
        "
from rpython.rtyper.lltypesystem import rffi, lltype
from rpython.rlib.rarithmetic import r_uint, intmask, widen
def whole(n): return int(rffi.cast(rffi.SHORT, n))
def wide(n): return str(widen(rffi.cast(rffi.UINT, n)))
def unsigned(n): return rffi.cast(rffi.UINT, n) + r_uint(n)
def stored(n): return [rffi.cast(rffi.SHORT, n), rffi.cast(rffi.SHORT, 3)][n & 1]
",
        "
        whole(-70000) == -4464
        wide(-1) == \"4294967295\"
        unsigned(3) == 6
        stored(1) == 3
        ",
    );
}

/// What is folded while compiling is another matter.
#[test]
fn powers_of_integers_are_none() {
    let message = "error pow() of integers is not RPython: its result fits a machine word seldom";
    check(
        "
def power(a, b): return a ** b
def function(a, b): return pow(a, b)
def of_two(a): return 2 ** a
def in_place(a, b):
    a **= b
    return a
def real(x, n): return pow(x, n)
def mixed(n, x): return pow(n, x)
",
        &format!(
            "
        power(3, 70) error a ** b is not RPython
        function(3, 70) {message}
        of_two(80) error a ** b is not RPython
        in_place(3, 70) error a **= b is not RPython
        real(2.0, 10) == 1024.0
        mixed(2, 0.5) == 1.4142135623730951
        "
        ),
    );
}

#[test]
fn trunc_is_not_there() {
    check(
        "
import math
def whole(x): return math.trunc(x)
",
        "
        whole(2.5) error math.trunc cannot be called in translated code
        ",
    );
}

/// `min` and `max` compare once: of two floats that do not compare the second one is taken.
#[test]
fn the_least_of_what_does_not_compare() {
    check(
        "
def least(x, y): return min(x, y)
def most(x, y): return max(x, y)
def nan(): return 1e300 * 1e300 * 0.0
def first(n): return str(min(nan(), n + 0.5))
def second(n): return str(max(n + 0.5, nan()))
",
        "
        least(1.5, 2.5) == 1.5
        most(1.5, 2.5) == 2.5
        first(1) == \"1.500000\"
        second(1) == \"nan\"
        ",
    );
}

/// A module that fails while it loads matters where its import is reached.
#[test]
fn imports_that_fail_in_branches() {
    let main = "
class Config(object):
    def __init__(self, full): self.full = full
    def _freeze_(self): return True
small, full = Config(False), Config(True)
def choose(config, n):
    if not config.full: return n
    from broken import run
    return run(n)
def module(config, n):
    if not config.full: return n
    import package.broken
    return package.broken.run(n)
def member(config, n):
    if not config.full: return n
    from package import broken as b
    return b.run(n)
def small_choose(n): return choose(small, n)
def small_module(n): return module(small, n)
def small_member(n): return member(small, n)
def full_choose(n): return choose(full, n)
def full_module(n): return module(full, n)
def full_member(n): return member(full, n)
def caught(n):
    try:
        import broken
    except ImportError:
        return n
    return broken.run(n)
def missing(n):
    if not full.full: return n
    import nowhere
    return n
";
    let broken = "def run(n): return n\nraise ValueError('not ready')\n";
    check_files(
        &[
            ("/main.py", main),
            ("/broken.py", broken),
            ("/package/__init__.py", ""),
            ("/package/broken.py", broken),
        ],
        "
        small_choose(3) == 3
        small_module(3) == 3
        small_member(3) == 3
        full_choose(3) error ValueError: not ready
        full_module(3) error ValueError: not ready
        full_member(3) error ValueError: not ready
        caught(3) == 3
        missing(3) error ImportError: No module named nowhere
        ",
    );
}

/// What would be lost is refused.
#[test]
fn arguments_that_builtins_do_not_take() {
    check(
        "
from collections import OrderedDict
def named(n): return len(dict(a=n))
def ordered(n): return len(OrderedDict([(n, n)]))
def ordered_named(n): return len(OrderedDict(a=n))
def converted(n): return float(x=n)
def listed(n): return len(list(sequence=[n]))
def base(s): return int(s, base=16)
def counted(n):
    total = 0
    for i, x in enumerate([n, n], start=5): total += i
    return total
def letter(s):
    b = bytearray(s)
    b[0] = 'x'
    return len(b)
def extended(s):
    l = [s]
    l.extend(('a', 'b'))
    return l
def joined(s): return ''.join(c for c in s)
def space(s): return s.isspace()
def upper(u): return u.upper()
",
        "
        named(1) error dict() with the keyword argument `a` is not RPython
        ordered(1) error OrderedDict() with 1 argument is not RPython
        ordered_named(1) error OrderedDict() with the keyword argument `a` is not RPython
        converted(1) error float() with the keyword argument `x` is not RPython
        listed(1) error list() with the keyword argument `sequence` is not RPython
        base('11') == 17
        counted(1) == 11
        letter('abc') error the items of a bytearray are integers, and so are its indices
        extended('abc') error a tuple of 2 items cannot be used as a list
        joined('abc') error str.join() needs a list, not a generator
        space('abc') error str.isspace() is not RPython, except of a single character
        upper(u'abc') error unicode.upper() is not RPython
        ",
    );
}

/// `isinstance()` of several classes, of which nothing is known while compiling.
#[test]
fn instances_of_several_classes() {
    check(
        "
class Animal(object): pass
class Cat(Animal): pass
class Kitten(Cat): pass
class Dog(Animal):
    def __init__(self): self.tricks = 2
class Bird(Animal): pass
def make(n):
    if n == 0: return Animal()
    if n == 1: return Cat()
    if n == 2: return Kitten()
    if n == 3: return Dog()
    if n == 4: return Bird()
    return None
def several(n): return isinstance(make(n), (Cat, Dog))
def certain(n):
    a = make(n)
    assert a is not None
    return isinstance(a, (Dog, Bird, int)), isinstance(a, ()), isinstance(a, (str, int))
def narrowed(n):
    a = make(n)
    if isinstance(a, (Dog,)): return a.tricks
    return 0
",
        "
        several(0) == false
        several(1) == true
        several(2) == true
        several(3) == true
        several(4) == false
        several(5) == false
        certain(2) == [false,false,false]
        certain(3) == [true,false,false]
        certain(4) == [true,false,false]
        narrowed(3) == 2
        narrowed(1) == 0
        ",
    );
}
