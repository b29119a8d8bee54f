//! What tests tell of a variable: `isinstance`, `is None`, also where they cannot hold.

use crate::support::check;

const CLASSES: &str = "
class C0(object):
    def __init__(self, y): self.y = y
    def get(self): return self.y
    def kind(self): return 0
class C1(C0):
    def __init__(self, y):
        self.y = y
        self.x = y * 10
    def get(self): return self.x
class C2(C1):
    def kind(self): return 2
class D(C0):
    def kind(self): return 3
class State(object): pass
st = State()
st.x = 0
st.g1 = C0(5)
st.maybe = None
st.sub = C2(7)
st.other = D(8)
made = [C1(1), C2(2), D(3), C0(4)]
";

#[test]
fn prebuilt_objects_of_a_base_class() {
    check(
        &format!(
            "{CLASSES}
def joined(n):
    g = st.g1
    if isinstance(g, C1):
        st.x = n
    return g.y
def alias(n):
    g = st.g1
    h = g
    if isinstance(g, C1):
        st.x = n
        return h.get()
    return h.y + g.y
def kept(n):
    g = st.g1
    total = 0
    while n > 0:
        if isinstance(g, C1):
            total += g.get()
        elif isinstance(g, D):
            total += 1000
        else:
            total += g.y
        n -= 1
    return total
def nested(n):
    g = st.g1
    if isinstance(g, C1):
        if isinstance(g, C2):
            st.x = n
        else:
            st.x = n + 1
    return g.y
def sub(n):
    g = st.sub
    if isinstance(g, C1):
        n += g.x
    if not isinstance(g, C2):
        n += 1000
    if isinstance(g, C0) and not isinstance(g, D):
        n += g.kind()
    return n
def unrelated(n):
    g = st.other
    if isinstance(g, C1) or n > 5:
        return g.kind() * 10
    return g.get()
def never_none(n):
    g = st.maybe
    if g is None:
        return n
    return 1000
def none_or(n):
    g = st.maybe
    if isinstance(g, C1):
        return 1000
    if g is not None:
        return 2000
    return n
def in_list(n):
    g = made[3]
    if isinstance(g, C1):
        n = g.x
    elif isinstance(g, C2) or n > 100:
        n = g.kind()
    else:
        n += g.y
    return n
def constant(n):
    g = st.g1
    if n > 3: g = st.sub
    if isinstance(g, C2): return g.x
    return g.y
"
        ),
        "
        joined(3) == 5
        alias(3) == 10
        kept(3) == 15
        nested(1) == 5
        sub(1) == 73
        unrelated(1) == 8
        unrelated(9) == 30
        never_none(4) == 4
        none_or(4) == 4
        in_list(1) == 5
        in_list(101) == 0
        constant(1) == 5
        constant(4) == 70
        ",
    );
}

#[test]
fn computed_objects() {
    check(
        &format!(
            "{CLASSES}
def joined(n):
    g = C0(n)
    if isinstance(g, C1):
        st.x = n
    return g.y
def asserted(n):
    g = made[n]
    if n < 2:
        assert isinstance(g, C1)
        return g.x
    return g.get()
def after(n):
    g = made[n]
    if isinstance(g, C1):
        n = g.x
    if isinstance(g, C2):
        n += g.kind()
    return n + g.get() + g.kind()
def alias(n):
    g = h = made[n]
    if isinstance(g, C1) and not isinstance(g, C2):
        return h.get() + g.x
    if isinstance(h, C2) or isinstance(h, D):
        return h.kind()
    return -h.y
def maybe(n):
    g = None
    if n > 0: g = made[n]
    if g is None: return -1
    if isinstance(g, D): return g.y
    return g.get()
def walk(n):
    g = made[0]
    i = 0
    while isinstance(g, C1):
        i += 1
        g = made[i]
    return i * 100 + g.y
"
        ),
        "
        joined(3) == 3
        asserted(0) == 10
        asserted(2) == 3
        after(0) == 20
        after(1) == 44
        after(2) == 8
        after(3) == 7
        alias(0) == 20
        alias(1) == 2
        alias(2) == 3
        alias(3) == -4
        maybe(0) == -1
        maybe(1) == 20
        maybe(2) == 3
        walk(0) == 203
        ",
    );
}
