//! Functions called through the LLInterpreter: what the RTyper makes of numbers,
//! classes, functions as values and exceptions.

use crate::support::check;

#[test]
fn numbers() {
    check(
        "
def add(a, b): return a + b
def div(a, b): return a // b
def mod(a, b): return a % b
def divz(a, b):
    try:
        return a // b
    except ZeroDivisionError:
        return -77
def mix(a, x): return a * x + True
def bits(a, b): return (a & b) | (a ^ 3) << 2
def neg(a): return -abs(~a)
def cmp_(a, b):
    if a < b: return 1
    elif a == b: return 2
    return 3
def to_float(a): return float(a) / 2
def to_int(x): return int(x)
def char(n): return chr(n)
def fact(n):
    result = 1
    while n > 0:
        result *= n
        n -= 1
    return result
def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)
",
        "
        add(2, 3) == 5
        add(True, 3) == 4
        add(1.5, 3) == 4.5
        div(7, 2) == 3
        div(-7, 2) == -4
        mod(-7, 3) == 2
        mod(7, -3) == -2
        divz(1, 0) == -77
        divz(9, 3) == 3
        mix(3, 1.5) == 5.5
        bits(12, 10) == 60
        neg(4) == -5
        cmp_(1, 2) == 1
        cmp_(2, 2) == 2
        cmp_(3, 2) == 3
        to_float(5) == 2.5
        to_int(-2.5) == -2
        char(65) == \"A\"
        fact(10) == 3628800
        fib(15) == 610
        ",
    );
}

#[test]
fn overflow() {
    check(
        "
from rpython.rlib.rarithmetic import ovfcheck, intmask, r_uint
def add(a, b):
    try:
        return ovfcheck(a + b)
    except OverflowError:
        return -1
def mul(a, b): return ovfcheck(a * b)
def shl(a, b):
    try:
        return ovfcheck(a << b)
    except OverflowError:
        return -1
def wrap(a): return intmask(r_uint(a) * r_uint(3))
def unsigned(a, b): return intmask(r_uint(a) // r_uint(b))
",
        "
        add(1, 2) == 3
        add(9223372036854775807, 1) == -1
        mul(3, 4) == 12
        mul(9223372036854775807, 2) raises OverflowError
        shl(1, 62) == 4611686018427387904
        shl(1, 63) == -1
        wrap(-1) == -3
        unsigned(-1, 3) == 6148914691236517205
        ",
    );
}

#[test]
fn instances() {
    check(
        "
class A(object):
    kind = 10
    def __init__(self, x):
        self.x = x
    def get(self): return self.x
    def who(self): return 1
class B(A):
    kind = 20
    def __init__(self, x, y):
        A.__init__(self, x)
        self.y = y
    def get(self): return self.x + self.y
class C(B):
    def who(self): return 3
def make(n):
    if n == 0: return A(5)
    elif n == 1: return B(5, 6)
    return C(5, 7)
def get(n): return make(n).get()
def who(n): return make(n).who()
def kind(n): return make(n).kind
def isb(n): return isinstance(make(n), B)
def none(n):
    a = None
    if n: a = A(n)
    if a is None: return -1
    return a.x
def narrow(n):
    a = make(n)
    if isinstance(a, B):
        return a.y
    return 0
def same(n):
    a = make(n)
    b = a
    return a is b
def attrs(n):
    a = A(1)
    a.x = n
    a.x += 2
    return a.get()
",
        "
        get(0) == 5
        get(1) == 11
        get(2) == 12
        who(0) == 1
        who(1) == 1
        who(2) == 3
        kind(0) == 10
        kind(1) == 20
        kind(2) == 20
        isb(0) == false
        isb(1) == true
        isb(2) == true
        none(0) == -1
        none(4) == 4
        narrow(0) == 0
        narrow(2) == 7
        same(1) == true
        attrs(5) == 7
        ",
    );
}

#[test]
fn exceptions() {
    check(
        "
class MyError(Exception):
    def __init__(self, n): self.n = n
class Sub(MyError): pass
def fail(n):
    if n == 0: raise ValueError
    if n == 1: raise KeyError('x')
    if n == 2: raise MyError(42)
    if n == 3: raise Sub(43)
    return n
def catch(n):
    try:
        return fail(n)
    except ValueError:
        return -1
    except MyError, e:
        return e.n
def reraise(n):
    try:
        return fail(n)
    except MyError:
        raise
def fin(n):
    x = 0
    try:
        try:
            fail(n)
        finally:
            x = 5
    except Exception:
        return x + 1
    return x
",
        "
        fail(0) raises ValueError
        fail(1) raises KeyError
        fail(3) raises Sub
        catch(0) == -1
        catch(1) raises KeyError
        catch(2) == 42
        catch(3) == 43
        catch(7) == 7
        reraise(2) raises MyError
        fin(0) == 6
        fin(9) == 5
        ",
    );
}

#[test]
fn functions_as_values() {
    check(
        "
def one(x): return x + 1
def two(x): return x * 2
def pick(n):
    if n: f = one
    else: f = two
    return f(10)
def maybe(n):
    f = None
    if n: f = one
    if f: return f(1)
    return -1
def const():
    f = one
    return f(4)
def defaults(a, b=10, c=20): return a + b * c
def call(n): return defaults(n) + defaults(n, 1) + defaults(n, c=2)
def star(a, *rest): return a + len(rest)
def calls(n): return star(n) + star(n, 1, 2)
class A(object):
    def m(self, x): return x + 1
class B(A):
    def m(self, x): return x + 2
def bound(n):
    if n: a = A()
    else: a = B()
    m = a.m
    return m(10)
def classes(n):
    if n: cls = A
    else: cls = B
    return cls().m(20)
",
        "
        pick(1) == 11
        pick(0) == 20
        maybe(1) == 2
        maybe(0) == -1
        const() == 5
        call(1) == 243
        calls(5) == 12
        bound(1) == 11
        bound(0) == 12
        classes(1) == 21
        classes(0) == 22
        ",
    );
}

#[test]
fn prebuilt() {
    check(
        "
class P(object):
    def __init__(self, x, next): self.x, self.next = x, next
chain = P(1, P(2, None))
class Frozen(object):
    def _freeze_(self): return True
    def scaled(self, by=10, plus=0): return self.value * by + plus
a, b = Frozen(), Frozen()
a.value, b.value = 10, 20
def total(n):
    p = chain
    s = n
    while p is not None:
        s += p.x
        p = p.next
    return s
def frozen(n):
    if n: f = a
    else: f = b
    return f.value
def frozen_method(n):
    if n > 5: f = a
    else: f = b
    m = f.scaled
    return m(plus=n) + m(1)
def class_name(n):
    if n: x = chain
    else: x = P(0, None)
    return type(x).__name__
def mutate(n):
    chain.x = n
    return chain.x + chain.next.x
",
        "
        total(0) == 3
        frozen(1) == 10
        frozen(0) == 20
        frozen_method(6) == 116
        frozen_method(1) == 221
        class_name(1) == \"P\"
        mutate(5) == 7
        ",
    );
}

#[test]
fn interpreters() {
    check(
        "
from rpython.rlib.jit import JitDriver
driver = JitDriver(greens=['pc'], reds=['acc', 'code'])
class Insn(object):
    __slots__ = ('op', 'arg')
    _immutable_fields_ = ['op', 'arg']
    def __init__(self, op, arg=0):
        self.op = op
        self.arg = arg
class Leave(Exception):
    _attrs_ = ['value']
    def __init__(self, value): self.value = value
def leave(value):
    try:
        if value: raise Leave(value)
    except Leave as e:
        return e.value
    return -1
def run(n):
    code = [Insn('+', n), Insn('*', 3), Insn('-')]
    pc = acc = 0
    while pc < len(code):
        driver.jit_merge_point(pc=pc, acc=acc, code=code)
        insn = code[pc]
        pc += 1
        if insn.op == '+': acc += insn.arg
        elif insn.op == '*': acc *= insn.arg
        elif insn.op == '-': acc -= 1
        driver.can_enter_jit(pc=pc, acc=acc, code=code)
    return acc
",
        "
        run(5) == 14
        leave(3) == 3
        leave(0) == -1
        ",
    );
}

#[test]
fn loops_over_star_arguments() {
    check(
        "
def add(x, *rest):
    for r in rest:
        x += r
    return x + len(rest)
def one(n):
    return add(n, 2)
def none(n):
    return add(n)
def some(n):
    return add(n, 2, 3)
",
        "
        one(1) == 4
        none(1) error iteration over a tuple of 0 items is not RPython
        some(1) error iteration over a tuple of 2 items is not RPython
        ",
    );
}

#[test]
fn attributes_of_classes_that_nobody_instantiates() {
    check(
        "
class Base(object): pass
class A(Base): value = 10
class B(Base): value = 5
class C(Base): value = 2.5
def first(i): return A if i > 0 else B
def second(i): return B if i > 5 else C
def f(i): return first(i).value
def g(i): return first(i).value, second(i).value
",
        "
        f(1) == 10
        f(0) == 5
        g(1) == [10,2.5]
        g(7) == [10,5.0]
        ",
    );
}

/// A method that subclasses override is no part of their vtables' type. Which function
/// comes first in a family is decided by hashes of names: several names are tried.
#[test]
fn overridden_methods_of_a_base_that_nobody_makes() {
    for base in ["Node", "Base", "Root", "Top", "First"] {
        check(
            &format!(
                "
class {base}(object):
    def __init__(self, size):
        self.size = size
    def weight(self, n):
        return self.size - n
class Ring({base}):
    def weight(self, n):
        return n + 2
class Cell(Ring):
    def weight(self, n):
        return n + {base}.weight(self, n)
NODES = [Ring(3), Cell(4)]
def f(n):
    return NODES[n % 2].weight(n)
"
            ),
            "
            f(10) == 12
            f(11) == 4
            ",
        );
    }
}

#[test]
fn isinstance_of_the_own_class() {
    check(
        "
class Value(object): pass
class Text(Value):
    def __init__(self, text): self.text = text
    def equals(self, other):
        return isinstance(other, self.__class__) and self.text == other.text
class Number(Value):
    def __init__(self, n): self.n = n
    def equals(self, other):
        return isinstance(other, self.__class__) and self.n == other.n
values = [Text('x'), Number(5), Text('y'), Number(5)]
def f(i, j): return values[i].equals(values[j])
",
        "
        f(0, 0) == true
        f(0, 1) == false
        f(0, 2) == false
        f(1, 3) == true
        ",
    );
}

#[test]
fn properties_that_subclasses_override() {
    check(
        "
class Bare(object):
    @property
    def p(self): return False
    def get_v(self): return self.w
    def set_v(self, v): self.w = v
    v = property(get_v, set_v)
class Obj(Bare):
    w = 1
class Prim(Obj): pass
class Assign(Prim):
    @property
    def p(self): return True
    def set_v(self, v): self.w = v * 10
    v = property(Bare.get_v.im_func, set_v)
def make(n): return [Obj(), Prim(), Assign()][n]
def f(n):
    x = make(n)
    x.v = 5
    return x.p, x.v
",
        "
        f(0) == [false,5]
        f(1) == [false,5]
        f(2) == [true,50]
        ",
    );
}

/// Counts that the machine would take modulo the width.
#[test]
fn shifts_by_any_count() {
    check(
        "
from rpython.rlib.rarithmetic import r_uint, r_longlonglong, intmask
def left(n, by): return n << by
def right(n, by): return n >> by
def uleft(n, by): return intmask(r_uint(n) << by)
def uright(n, by): return intmask(r_uint(n) >> by)
def wide(n, by): return intmask((r_longlonglong(n) << by) >> by)
def constant(n): return (n << 64, n >> 64, (n - 5) >> 100)
",
        "
        left(1, 62) == 4611686018427387904
        left(1, 70) == 0
        right(-5, 1) == -3
        right(-5, 64) == -1
        right(5, 64) == 0
        uleft(3, 64) == 0
        uright(-1, 63) == 1
        uright(-1, 64) == 0
        wide(7, 100) == 7
        wide(7, 128) == 0
        constant(3) == [0,0,-1]
        ",
    );
}

#[test]
fn floats_out_of_range() {
    check(
        "
def f(x): return int(x)
",
        "
        f(1e18) == 1000000000000000000
        f(-2.75) == -2
        f(9223372036854775808.0) == -9223372036854775808
        f(1e19) == -8446744073709551616
        f(-1e19) == 8446744073709551616
        f(1e30) == 5076964154930102272
        ",
    );
}

/// None may stand beside weak references; those whose target Python had freed while the
/// program loaded are dead.
#[test]
fn weak_references_from_before_the_program_runs() {
    check(
        "
import weakref
class A(object): pass
kept = A()
gone = A()
refs = [weakref.ref(kept), weakref.ref(gone), None]
del gone
def f(n):
    r = refs[n]
    if r is None: return -1
    a = r()
    if a is None: return 0
    return 1
",
        "
        f(0) == 1
        f(1) == 0
        f(2) == -1
        ",
    );
}

#[test]
fn texts_of_truth_values() {
    check(
        "
def f(n): return str(n > 1) + '%s %d %f' % (n > 2, n > 3, n) + hex(n > 1)
def u(n): return str(None if n else u'abc')
def v(n): return u'<%s>' % (None if n else u'abc')
",
        "
        f(3) == \"11 0 30x1\"
        u(0) == \"abc\"
        u(1) == \"None\"
        v(0) == \"<abc>\"
        v(1) == \"<None>\"
        ",
    );
}

#[test]
fn constants_through_builtins() {
    check(
        "
from rpython.rlib.rarithmetic import r_uint
def text(n): return (unicode('%d:') + u'%s') % (n, unichr(65))
def numbers(n): return [0] * (int(' 2 ') + int(1.9)) + [n]
def unsigned(n): return r_uint(1 << 63) + r_uint(n), r_uint((1 << 64) - 1)
def mixed(n): return u'a' + 'b', u'%s' % 'c', '%s' % u'd', u'e' == 'e', '%x' % 255
def long(n): return n + (1 << 100)
",
        "
        text(7) == \"7:A\"
        numbers(5) == [0,0,0,5]
        unsigned(1) == [9223372036854775809,18446744073709551615]
        mixed(1) == [\"ab\",\"c\",\"d\",true,\"ff\"]
        long(1) error long constant 1267650600228229401496703205376 does not fit an int
        ",
    );
}

#[test]
fn powers_of_constants() {
    check(
        "
def powers(): return 2 ** 10, 2.0 ** 1023 > 1e307, 2 ** -1, 9 ** 0.5
",
        "
        powers() == [1024,true,0.5,3.0]
        ",
    );
}

#[test]
fn numbers_that_do_not_become_each_other() {
    check(
        "
from rpython.rlib.rarithmetic import r_longlong, r_longlonglong, r_singlefloat, r_uint
def wide(x): return r_longlonglong(x)
def of_wide(n): return float(r_longlonglong(n))
def single_of_wide(n): return float(r_singlefloat(r_longlonglong(n)))
def of_single(x): return r_uint(r_singlefloat(x))
def single_of_single(x): return float(r_singlefloat(r_singlefloat(x)))
def of_constant(): return r_longlong(2.5)
def allowed(x): return r_longlong(x) + r_longlong(float(r_singlefloat(x)))
",
        "
        wide(2.5) error cannot make an r_longlonglong of a float
        of_wide(2) error an r_longlonglong cannot be used as a float
        single_of_wide(2) error cannot make an r_singlefloat of an r_longlonglong
        of_single(2.5) error cannot make an r_uint of an r_singlefloat
        single_of_single(2.5) error cannot make an r_singlefloat of an r_singlefloat
        of_constant() error cannot make an int of a float
        allowed(2.5) == 4
        ",
    );
}
