"""What is taken out of a container is found dead by the next collection.

Names where it is found alive, or something else dead."""
from rpython.rlib import rgc
from rpython.rlib.objectmodel import r_dict, newlist_hint
from collections import OrderedDict
import weakref

class Node(object):
    def __init__(self, n):
        self.n = n
        self.other = None
class State(object): pass
state = State()
state.refs = [weakref.ref(Node(1))]
state.watched = 0
state.lst = [Node(0)]
state.dct = {0: Node(0)}

def circle(n):
    a = Node(n)
    b = Node(n + 1)
    a.other = b
    b.other = a
    return a
def watched(n):
    node = circle(n)
    state.refs.append(weakref.ref(node))
    state.watched += 1
    return node
def gone(count):
    rgc.collect()
    dead = 0
    for ref in state.refs:
        if ref() is None: dead += 1
    return dead == count
def begin():
    state.refs = []
    state.watched = 0

def fill(n):
    begin()
    return [watched(i) for i in range(n)]
def fill_growing(n):
    begin()
    l = []
    for i in range(n): l.append(watched(i))
    return l

def pop(n):
    l = fill_growing(n)
    l.pop()
    ok = gone(1)
    return ok and len(l) == n - 1
def pop0(n):
    l = fill_growing(n)
    l.pop(0)
    ok = gone(1)
    return ok and len(l) == n - 1
def pop_i(n):
    l = fill_growing(n)
    l.pop(1)
    ok = gone(1)
    return ok and len(l) == n - 1
def del_item(n):
    l = fill_growing(n)
    del l[1]
    ok = gone(1)
    return ok and len(l) == n - 1
def del_last(n):
    l = fill_growing(n)
    del l[-1]
    ok = gone(1)
    return ok and len(l) == n - 1
def del_slice(n):
    l = fill_growing(n)
    del l[1:3]
    ok = gone(2)
    return ok and len(l) == n - 2
def del_tail(n):
    l = fill_growing(n)
    del l[1:]
    ok = gone(n - 1)
    return ok and len(l) == 1
def del_all(n):
    l = fill_growing(n)
    del l[:]
    ok = gone(n)
    return ok and len(l) == 0
def del_head(n):
    l = fill_growing(n)
    del l[:2]
    ok = gone(2)
    return ok and len(l) == n - 2
def set_item(n):
    l = fill_growing(n)
    l[1] = Node(1)
    ok = gone(1)
    return ok and len(l) == n
def remove(n):
    l = fill_growing(n)
    x = l[1]
    l.remove(x)
    ok = gone(1)
    return ok and len(l) == n - 1
def many_pops(n):
    begin()
    l = []
    for i in range(100): l.append(watched(i))
    for i in range(95): l.pop()
    ok = gone(95)
    l.append(watched(5))
    ok = ok and gone(95)
    while l: l.pop()
    return gone(101) and ok and len(l) == 0
def reverse_(n):
    l = fill_growing(n)
    l.reverse()
    l.pop()
    ok = gone(1)
    return ok and len(l) == n - 1

def in_dict(n):
    begin()
    d = {}
    for i in range(n): d[i] = watched(i)
    return d
def d_del(n):
    d = in_dict(n)
    del d[1]
    ok = gone(1)
    return ok and len(d) == n - 1
def d_pop(n):
    d = in_dict(n)
    d.pop(1)
    ok = gone(1)
    return ok and len(d) == n - 1
def d_popdef(n):
    d = in_dict(n)
    x = d.pop(1, None)
    if x is not None: state.watched += x.n
    ok = gone(1)
    return ok and len(d) == n - 1
def d_popitem(n):
    d = in_dict(n)
    k, v = d.popitem()
    state.watched += v.n
    ok = gone(1)
    return ok and len(d) == n - 1
def d_clear(n):
    d = in_dict(n)
    d.clear()
    ok = gone(n)
    return ok and len(d) == 0
def d_set(n):
    d = in_dict(n)
    d[1] = Node(1)
    ok = gone(1)
    return ok and len(d) == n
def d_iter(n):
    d = in_dict(n)
    t = 0
    for k, v in d.items(): t += v.n
    for v in d.itervalues(): t += v.n
    ok = gone(0)
    d.clear()
    ok = ok and gone(n)
    return ok and t > 0
def d_keys(n):
    begin()
    d = {}
    for i in range(n): d[watched(i)] = i
    for k in d.keys():
        if k.n == 1:
            del d[k]
            break
    ok = gone(1)
    return ok and len(d) == n - 1
def d_str(n):
    begin()
    d = {}
    for i in range(n): d[str(i)] = watched(i)
    del d['1']
    ok = gone(1)
    for i in range(30): d[str(i + 100)] = Node(1)
    for i in range(30): del d[str(i + 100)]
    ok = ok and gone(1)
    d['0'] = Node(3)
    return gone(2) and ok and len(d) == n - 1
def eq(a, b): return a.n == b.n
def hsh(a): return a.n
def rd(n):
    begin()
    d = r_dict(eq, hsh)
    for i in range(n): d[watched(i)] = i
    del d[Node(1)]
    ok = gone(1)
    d.clear()
    return ok and gone(n)
def od(n):
    begin()
    d = OrderedDict()
    for i in range(n): d[i] = watched(i)
    del d[1]
    ok = gone(1)
    k, v = d.popitem()
    state.watched += v.n
    ok = ok and gone(2)
    return ok and len(d) == n - 2
def glob(n):
    begin()
    state.lst.append(watched(n))
    state.dct[5] = watched(n)
    ok = gone(0)
    state.lst.pop()
    del state.dct[5]
    return ok and gone(2)
def hint(n):
    begin()
    l = newlist_hint(n)
    for i in range(n): l.append(watched(i))
    del l[1:]
    ok = gone(n - 1)
    return ok and len(l) == 1 and l[0].n == 0
def sliced(n):
    l = fill_growing(n)
    m = l[1:]
    l = None
    ok = gone(1)
    return ok and len(m) == n - 1
def extended(n):
    l = fill_growing(n)
    m = [Node(1)]
    m += l
    m.extend(l)
    l = None
    m.pop()
    del m[1:]
    ok = gone(n)
    return ok and len(m) == 1
def set_slice(n):
    l = fill_growing(n)
    l[0:2] = [Node(1), Node(2)]
    ok = gone(2)
    return ok and len(l) == n
def mul(n):
    begin()
    l = [watched(1)] * n
    for i in range(n): l[i] = Node(i)
    ok = gone(1)
    return ok and len(l) == n
TESTS = [('pop', pop), ('pop0', pop0), ('pop_i', pop_i), ('del_item', del_item), ('del_last', del_last),
    ('del_slice', del_slice), ('del_tail', del_tail), ('del_all', del_all), ('del_head', del_head), ('set_item', set_item),
    ('remove', remove), ('many_pops', many_pops), ('reverse', reverse_), ('d_del', d_del), ('d_pop', d_pop), ('d_popdef', d_popdef),
    ('d_popitem', d_popitem), ('d_clear', d_clear), ('d_set', d_set), ('d_iter', d_iter), ('d_keys', d_keys), ('d_str', d_str),
    ('rd', rd), ('od', od), ('glob', glob), ('hint', hint), ('sliced', sliced), ('extended', extended), ('set_slice', set_slice), ('mul', mul)]
def main(argv):
    bad = 0
    for name, test in TESTS:
        for n in range(3, 7):
            if not test(n):
                print name, n
                bad += 1
    print bad, 'found alive'
    return 0
def target(driver, args): return main, None
