//! Functions that several classes have: each class with a mixin has copies of its own.

use crate::support::check;

#[test]
fn methods_of_one_mixin_through_a_common_base() {
    check(
        "
class Base(object):
    kind = 'base'
    def describe(self, n): return self.kind
    def weigh(self, n): return 0
class Named(object):
    _mixin_ = True
    def describe(self, n): return self.kind + str(self.x + n)
    def weigh(self, n): return self.own_weight(n)
    def own_weight(self, n): return len(self.kind) + n
class A(Named, Base):
    kind = 'a'
    def __init__(self): self.x = 1
class B(Named, Base):
    kind = 'bb'
    def __init__(self): self.x = 20
class C(Base):
    pass
class D(B):
    kind = 'd'
def make(n):
    if n == 0: return A()
    if n == 1: return B()
    if n == 2: return C()
    return D()
def both(n):
    x = make(n)
    return x.describe(n) + ':' + str(x.weigh(n))
prebuilt = [A(), B(), C(), D()]
def all_of(n):
    x = prebuilt[n]
    return x.describe(n) + ':' + str(x.weigh(n))
",
        "
        both(0) == \"a1:1\"
        both(1) == \"bb21:3\"
        both(2) == \"base:0\"
        both(3) == \"d23:4\"
        all_of(0) == \"a1:1\"
        all_of(1) == \"bb21:3\"
        all_of(2) == \"base:0\"
        all_of(3) == \"d23:4\"
        ",
    );
}

#[test]
fn mixins_of_mixins_and_what_overrides_them() {
    check(
        "
class Base(object):
    def f(self): return 'base'
    def g(self): return 'base'
    def h(self): return 'base'
class Low(object):
    _mixin_ = True
    tag = 'low'
    def f(self): return 'low f ' + self.tag
    def g(self): return 'low g ' + self.tag
    def h(self): return 'low h ' + self.tag
class High(Low):
    _mixin_ = True
    def g(self): return 'high g ' + self.tag
class A(High, Base):
    tag = 'a'
class B(High, Base):
    def h(self): return 'own h ' + Base.h(self)
class C(Base, Low):
    pass
class D(A):
    tag = 'd'
    def f(self): return 'd ' + A.f(self)
objects = [Base(), A(), B(), C(), D()]
def all_three(n):
    x = objects[n]
    return x.f() + ', ' + x.g() + ', ' + x.h()
",
        "
        all_three(0) == \"base, base, base\"
        all_three(1) == \"low f a, high g a, low h a\"
        all_three(2) == \"low f low, high g low, own h base\"
        all_three(3) == \"base, base, base\"
        all_three(4) == \"d low f d, high g d, low h d\"
        ",
    );
}

#[test]
fn constructors_properties_and_static_methods_of_mixins() {
    check(
        "
class Base(object):
    _attrs_ = ['x']
class Parts(object):
    _mixin_ = True
    def __init__(self, x): self.x = x * self.factor
    @property
    def size(self): return self.x + self.factor
    def get_own(self): return self.x
    def set_own(self, x): self.x = x * self.factor
    own = property(get_own, set_own)
    @staticmethod
    def scale(n): return n + 1
    def scaled(self): return self.scale(self.x)
class A(Parts, Base):
    factor = 2
class B(Parts, Base):
    factor = 30
def make(n):
    if n & 1: cls = A
    else: cls = B
    return cls(n)
def sizes(n): return A(n).size * 1000 + B(n).size
def through_class(n):
    x = make(n)
    return x.x
def owned(n):
    a = A(1)
    b = B(1)
    a.own = n
    b.own = n
    return [a.own, b.own, a.scaled(), b.scaled()]
",
        "
        sizes(3) == 8120
        through_class(3) == 6
        through_class(4) == 120
        owned(5) == [10,150,11,151]
        ",
    );
}

#[test]
fn functions_of_mixins_as_values() {
    check(
        "
class Base(object):
    def f(self): return 0
class Mix(object):
    _mixin_ = True
    def f(self): return self.x
    def helper(n): return n + 1
    helper = staticmethod(helper)
class A(Mix, Base):
    x = 5
class B(Mix, Base):
    x = 70
a, b = A(), B()
bound_a, bound_b = a.f, b.f
def bound(): return bound_a() * 100 + bound_b()
def picked(n):
    if n: x = a
    else: x = b
    m = x.f
    return m() * 100 + m()
def of_class(n):
    if n: cls = A
    else: cls = B
    return cls.helper(n)
class Frozen(Mix):
    def __init__(self, x): self.x = x
    def _freeze_(self): return True
class Other(Mix):
    def __init__(self, x): self.x = x
    def _freeze_(self): return True
one, two = Frozen(3), Other(4)
def frozen(n):
    if n: x = one
    else: x = two
    return x.f()
",
        "
        bound() == 570
        picked(1) == 505
        picked(0) == 7070
        of_class(1) == 2
        of_class(0) == 1
        frozen(1) == 3
        frozen(0) == 4
        ",
    );
}

#[test]
fn one_function_in_two_classes() {
    check(
        "
from rpython.rlib.objectmodel import specialize, import_from_mixin
def twice(self): return self.x * 2
class Base(object):
    def f(self): return -1
    def g(self): return -1
class Mix(object):
    def g(self): return self.x * 3
class A(Base):
    import_from_mixin(Mix)
    f = twice
    def __init__(self): self.x = 1
class B(Base):
    import_from_mixin(Mix)
    f = twice
    def __init__(self): self.x = 2
objects = [Base(), A(), B()]
def pair(n):
    x = objects[n]
    return [x.f(), x.g()]
",
        "
        pair(0) == [-1,-1]
        pair(1) == [2,3]
        pair(2) == [4,6]
        ",
    );
}

#[test]
fn one_function_with_two_specialisations_in_one_call() {
    let shared = "several classes share the function twice(), and what it is specialised by \
                  differs among them: one call cannot choose";
    check(
        "
from rpython.rlib.objectmodel import specialize
@specialize.argtype(0)
def twice(self): return self.x * 2
class Base(object):
    def f(self): return -1
class A(Base):
    f = twice
    g = twice
    def __init__(self): self.x = 1
class B(Base):
    f = twice
    g = twice
    def __init__(self): self.x = 2
objects = [Base(), A(), B()]
def through_base(n):
    x = objects[n]
    return x.f()
def apart(n):
    x = objects[n]
    if isinstance(x, A): return x.g()
    if isinstance(x, B): return x.g()
    return 0
",
        &format!(
            "
        through_base(1) == error {shared}
        apart(1) == 2
        apart(2) == 4
        "
        )
        .replace("== error", "error"),
    );
}
