"""Objects that must be found dead by the first collection after their last use.

Names what is found alive."""
from rpython.rlib import rgc, jit
from rpython.rlib.objectmodel import keepalive_until_here
import weakref

class Node(object):
    def __init__(self, n):
        self.n = n
        self.other = None

class State(object):
    pass
state = State()
state.kept = None
state.count = 0
state.died = ""
state.last = 0
state.refs = [weakref.ref(Node(1))]
state.watched = 0

class Noted(object):
    def __init__(self, name): self.name = name
    def __del__(self): state.died += self.name

@jit.dont_look_inside
def collect():
    rgc.collect()

def is_dead(ref):
    collect()
    return ref() is None

def touch(node):
    "May allocate, and keeps nothing."
    state.count += len([node.n] * (node.n & 3))
    state.last = Node(node.n).n

def make(n):
    return Node(n)

def circle(n):
    a = make(n)
    b = make(n + 1)
    a.other = b
    b.other = a
    return a

# ---- in one function
def straight(n):
    node = circle(n)
    ref = weakref.ref(node)
    touch(node)
    rgc.collect()
    return ref() is None

def through_a_call(n):
    node = circle(n)
    ref = weakref.ref(node)
    touch(node)
    return is_dead(ref)

def through_several_calls(n):
    a = circle(n)
    b = circle(n + 1)
    c = circle(n + 2)
    refs = [weakref.ref(a), weakref.ref(b), weakref.ref(c)]
    touch(a)
    touch(b)
    touch(c)
    dead = is_dead(refs[0]) and is_dead(refs[1])
    return dead and is_dead(refs[2])

def one_after_the_other(n):
    a = circle(n)
    b = circle(n + 1)
    ra = weakref.ref(a)
    rb = weakref.ref(b)
    touch(a)
    first = is_dead(ra)
    alive = not is_dead(rb)
    touch(b)
    return first and alive and is_dead(rb)

def reassigned(n):
    node = circle(n)
    ref = weakref.ref(node)
    touch(node)
    if n > 2:
        node = None
    dead = is_dead(ref)
    if node is not None:
        touch(node)
    return dead

def reassigned_to_another(n):
    node = circle(n)
    ref = weakref.ref(node)
    touch(node)
    node = circle(n + 1)
    dead = is_dead(ref)
    touch(node)
    return dead

# ---- branches
def branch(n):
    node = circle(n)
    ref = weakref.ref(node)
    if n & 1:
        touch(node)
        touch(node)
    return is_dead(ref)

def both_branches(n):
    ref = None
    if n & 1:
        node = circle(n)
        touch(node)
        ref = weakref.ref(node)
        touch(node)
    else:
        a = circle(n)
        b = circle(n + 1)
        touch(a)
        ref = weakref.ref(b)
        touch(a)
        touch(b)
    return is_dead(ref)

def needed_on_one_side(n):
    node = circle(n)
    ref = weakref.ref(node)
    touch(node)
    if n & 1:
        dead = is_dead(ref)
    else:
        dead = not is_dead(ref)
        touch(node)
    return dead and is_dead(ref)

# ---- loops
def loop(n):
    dead = 0
    for i in range(n):
        node = circle(i)
        ref = weakref.ref(node)
        touch(node)
        if is_dead(ref):
            dead += 1
    return dead == n

def loop_before(n):
    node = circle(n)
    ref = weakref.ref(node)
    touch(node)
    dead = 0
    for i in range(n):
        if is_dead(ref):
            dead += 1
    return dead == n

def loop_after(n):
    node = None
    for i in range(n):
        node = circle(i)
        touch(node)
    assert node is not None
    ref = weakref.ref(node)
    touch(node)
    return is_dead(ref)

def loop_with_some(n):
    dead = 0
    ref = weakref.ref(state)
    for i in range(n):
        if i % 3 == 1:
            node = circle(i)
            noderef = weakref.ref(node)
            touch(node)
            touch(node)
            if is_dead(noderef):
                dead += 1
        elif i % 3 == 2:
            a = circle(i)
            b = circle(i + 1)
            ra = weakref.ref(a)
            touch(b)
            touch(a)
            if is_dead(ra):
                dead += 1
        else:
            collect()
            dead += 1
    return dead == n

def previous_round(n):
    "What a round made is not needed in the next one, but up to its end."
    dead = 0
    ref = None
    for i in range(n):
        if ref is not None and is_dead(ref):
            dead += 1
        node = circle(i)
        ref = weakref.ref(node)
        touch(node)
        touch(node)
    return dead == n - 1

def nested_loops(n):
    dead = 0
    for i in range(n):
        outer = circle(i)
        ref = weakref.ref(outer)
        for j in range(n):
            inner = circle(j)
            iref = weakref.ref(inner)
            touch(inner)
            touch(outer)
            if is_dead(iref):
                dead += 1
        for j in range(n):
            if is_dead(ref):
                dead += 1
    return dead == 2 * n * n

def linked(n):
    "Walks a chain whose beginning is not needed."
    node = None
    for i in range(n):
        new = make(i)
        new.other = node
        node = new
    assert node is not None
    ref = weakref.ref(node)
    dead = 0
    while node is not None:
        touch(node)
        node = node.other
        if is_dead(ref):
            dead += 1
    return dead == n

def interpreter(code):
    dead = 0
    tests = 0
    acc = circle(1)
    for c in code:
        if c == 'n':
            acc = circle(len(code))
        elif c == 't':
            t = circle(2)
            touch(acc)
            touch(t)
            touch(acc)
        elif c == 'u':
            t = circle(2)
            u = circle(3)
            v = circle(4)
            touch(t)
            touch(u)
            touch(v)
            ref = weakref.ref(u)
            touch(v)
            tests += 1
            if is_dead(ref):
                dead += 1
        elif c == 'w':
            ref = weakref.ref(acc)
            touch(acc)
            acc = circle(5)
            tests += 1
            if is_dead(ref):
                dead += 1
            touch(acc)
        elif c == 'c':
            collect()
        elif c == 's':
            acc.n += 1
    touch(acc)
    return dead == tests

def test_interpreter(n):
    return interpreter('ntuwcsuwwtts' * n)

# ---- callers
def callee(node, ref):
    touch(node)
    return is_dead(ref)

def argument(n):
    node = circle(n)
    ref = weakref.ref(node)
    touch(node)
    return callee(node, ref)

def argument_twice(n):
    node = circle(n)
    ref = weakref.ref(node)
    touch(node)
    dead = not callee(node, ref)
    return dead and callee(node, ref)

def deep(node, ref, n):
    if n == 0:
        touch(node)
        return is_dead(ref)
    touch(node)
    dead = deep(node, ref, n - 1)
    return dead and is_dead(ref)

def callers(n):
    node = circle(n)
    ref = weakref.ref(node)
    touch(node)
    return deep(node, ref, n)

def deep_own(n):
    if n == 0:
        return 0
    node = circle(n)
    ref = weakref.ref(node)
    touch(node)
    dead = deep_own(n - 1)
    if is_dead(ref):
        dead += 1
    return dead

def each_frame(n):
    return deep_own(n) == n

def deep_finalizer(n):
    if n == 0:
        collect()
        return state.died
    noted = Noted(chr(ord('a') + n))
    touch_noted(noted)
    return deep_finalizer(n - 1)

def touch_noted(noted):
    state.count += len(noted.name) + len([noted] * 3)

def finalizers(n):
    state.died = ''
    deep_finalizer(n)
    return len(state.died) == n

class Box(object):
    def __init__(self, node):
        self.node = node
    def method(self, ref):
        touch(self.node)
        self.node = None
        return is_dead(ref)

def attribute(n):
    box = Box(circle(n))
    node = box.node
    assert node is not None
    ref = weakref.ref(node)
    touch(node)
    dead = box.method(ref)
    return dead and box.node is None

class Shape(object):
    def run(self, node, ref): raise NotImplementedError
class A(Shape):
    def run(self, node, ref):
        touch(node)
        return is_dead(ref)
class B(Shape):
    def run(self, node, ref):
        touch(node)
        touch(node)
        collect()
        return is_dead(ref)
shapes = [A(), B()]

def virtual(n):
    node = circle(n)
    ref = weakref.ref(node)
    touch(node)
    return shapes[n & 1].run(node, ref)

# ---- exceptions
class Error(Exception):
    def __init__(self, node):
        self.node = node

def fail(node):
    touch(node)
    if node.n >= 0:
        raise Error(node)

def caught(n):
    node = circle(n)
    ref = weakref.ref(node)
    try:
        fail(node)
    except Error, e:
        touch(e.node)
    return is_dead(ref)

def caught_in_loop(n):
    dead = 0
    for i in range(n):
        node = circle(i)
        ref = weakref.ref(node)
        try:
            fail(node)
        except Error:
            pass
        if is_dead(ref):
            dead += 1
    return dead == n

def in_handler(n):
    node = circle(n)
    ref = weakref.ref(node)
    try:
        fail(node)
    except Error:
        return is_dead(ref)
    return False

def exception_value(n):
    ref = None
    try:
        node = circle(n)
        fail(node)
    except Error, e:
        ref = weakref.ref(e)
        touch(e.node)
    if ref is None: return False
    collect()
    return ref() is None

def passing(n):
    node = circle(n)
    ref = weakref.ref(node)
    try:
        passing_on(node)
    except Error:
        pass
    return is_dead(ref)

def passing_on(node):
    touch(node)
    fail(node)
    touch(node)

def finally_(n):
    node = circle(n)
    ref = weakref.ref(node)
    dead = False
    try:
        try:
            fail(node)
        finally:
            collect()
            touch(node)
    except Error:
        dead = is_dead(ref)
    return dead

def failing(n):
    if n:
        collect()
        raise KeyError

def raising_later(n):
    node = circle(n)
    ref = weakref.ref(node)
    touch(node)
    try:
        failing(n)
    except KeyError:
        return is_dead(ref)
    return False

# ---- containers
def in_list(n):
    items = [circle(i) for i in range(n)]
    ref = weakref.ref(items[n - 1])
    touch(items[0])
    node = items.pop()
    touch(node)
    return is_dead(ref) and len(items) == n - 1

def list_dies(n):
    items = [circle(i) for i in range(n)]
    ref = weakref.ref(items[0])
    total = 0
    for item in items:
        touch(item)
        total += item.n
    return is_dead(ref) and total > 0

def in_dict(n):
    d = {}
    for i in range(n):
        d[i] = circle(i)
    ref = weakref.ref(d[0])
    touch(d[0])
    del d[0]
    return is_dead(ref) and len(d) == n - 1

def tuples(n):
    pair = (circle(n), circle(n + 1))
    ref = weakref.ref(pair[0])
    touch(pair[0])
    touch(pair[1])
    dead = is_dead(ref)
    return dead

def closure(n):
    kept = circle(n)
    keepalive_until_here(kept)
    ref = weakref.ref(kept)
    alive = not is_dead(ref)
    keepalive_until_here(kept)
    return alive and is_dead(ref)


# ---- references are kept apart, so that frames hold nothing else
def watch(node):
    state.refs.append(weakref.ref(node))
    state.watched += 1

def gone(count):
    "Whether so many of those that are watched are dead; more may be."
    collect()
    dead = 0
    for ref in state.refs:
        if ref() is None: dead += 1
    return dead >= count

def begin():
    state.refs = []
    state.watched = 0

def three(n):
    begin()
    a = circle(n)
    b = circle(n + 1)
    c = circle(n + 2)
    watch(a)
    watch(b)
    watch(c)
    ok = gone(0)
    touch(a)
    ok = ok and gone(1)
    touch(b)
    ok = ok and gone(2)
    touch(c)
    return ok and gone(3)

def backwards(n):
    begin()
    a = circle(n)
    b = circle(n + 1)
    c = circle(n + 2)
    watch(a)
    watch(b)
    watch(c)
    touch(c)
    ok = gone(1)
    touch(b)
    ok = ok and gone(2)
    touch(a)
    return ok and gone(3)

def halves(n):
    begin()
    a = circle(n)
    b = circle(n + 1)
    watch(a)
    watch(b)
    ok = gone(0)
    touch(a)
    touch(b)
    if n & 1:
        c = circle(n + 2)
        d = circle(n + 3)
        watch(c)
        watch(d)
        touch(c)
        touch(d)
        ok = ok and gone(4)
    else:
        ok = ok and gone(2)
        collect()
    return ok and gone(state.watched)

def some_round(n):
    "Slots that some rounds use."
    begin()
    ok = True
    for i in range(3 * n):
        if i % 3 == 0:
            a = circle(i)
            b = circle(i)
            watch(a)
            watch(b)
            touch(b)
            touch(a)
        elif i % 3 == 1:
            a = circle(i)
            b = circle(i)
            c = circle(i)
            watch(c)
            touch(a)
            touch(b)
            touch(c)
        ok = ok and gone(state.watched)
    return ok

def some_round_kept(n):
    begin()
    kept = circle(n)
    watch(kept)
    ok = True
    for i in range(3 * n):
        if i % 3 == 0:
            a = circle(i)
            watch(a)
            touch(a)
            touch(kept)
        ok = ok and gone(state.watched - 1)
        if i % 3 == 1:
            a = circle(i)
            b = circle(i)
            watch(b)
            touch(a)
            touch(b)
    touch(kept)
    return ok and gone(state.watched)

def inner(n):
    begin()
    ok = True
    for i in range(n):
        a = circle(i)
        watch(a)
        for j in range(i):
            b = circle(i)
            c = circle(j)
            watch(b)
            watch(c)
            touch(b)
            touch(c)
            touch(a)
        ok = ok and gone(state.watched)
        for j in range(i):
            ok = ok and gone(state.watched)
    return ok

def until(n):
    "Left in the middle."
    begin()
    i = 0
    while True:
        a = circle(i)
        watch(a)
        touch(a)
        if i == n:
            break
        b = circle(i)
        watch(b)
        touch(a)
        touch(b)
        i += 1
    return gone(state.watched)

def fails(n):
    if n > 3:
        collect()
        raise KeyError

def handled(n):
    begin()
    a = circle(n)
    b = circle(n)
    watch(a)
    watch(b)
    try:
        fails(n)
        touch(a)
    except KeyError:
        ok = gone(1)
        touch(b)
        return ok and gone(2)
    ok = gone(1)
    touch(b)
    return ok and gone(2)

def fails_and_drops(n):
    a = circle(n)
    b = circle(n)
    watch(a)
    watch(b)
    touch(a)
    touch(b)
    fails(4)

def dropped(n):
    begin()
    try:
        fails_and_drops(n)
    except KeyError:
        return gone(2)
    return False

def drop(a, b, c):
    touch(a)
    touch(b)
    touch(c)
    return gone(3)

def given(n):
    begin()
    a = circle(n)
    b = circle(n)
    c = circle(n)
    watch(a)
    watch(b)
    watch(c)
    return drop(a, b, c)

def down(node, n):
    touch(node)
    if n == 0:
        touch(node)
        ok = gone(1)
    else:
        ok = down(node, n - 1)
    return ok and gone(1)

def frames(n):
    begin()
    a = circle(n)
    watch(a)
    touch(a)
    return down(a, n)

def strings(n):
    "Arrays inside strings and lists that are loaded before a loop."
    begin()
    items = [circle(i) for i in range(n)]
    watch(items[0])
    total = 0
    for i in range(len(items)):
        total += items[i].n
        touch(items[i])
    ok = gone(0)
    total += len(items)
    return gone(1) and ok and total > 0

class Holder(object):
    def __init__(self, n):
        self.items = [circle(n)]
        self.node = circle(n)

def fields(n):
    "A field is read before the object is changed."
    begin()
    holder = Holder(n)
    node = holder.node
    assert node is not None
    watch(node)
    watch(holder.items[0])
    total = 0
    for i in range(n):
        total += holder.node.n + holder.items[0].n
        state.count += 1
    holder.node = Node(1)
    ok = gone(1)
    holder.items = [Node(2)]
    ok = ok and gone(2)
    touch(holder.node)
    touch(holder.items[0])
    return ok and total > 0

def replaced(n):
    begin()
    node = circle(n)
    watch(node)
    ok = True
    for i in range(n):
        touch(node)
        node = circle(i)
        ok = ok and gone(state.watched)
        watch(node)
    touch(node)
    return ok and gone(state.watched)

def swapped(n):
    begin()
    a = circle(n)
    b = circle(n)
    watch(a)
    watch(b)
    for i in range(n):
        a, b = b, a
        touch(a)
    touch(b)
    touch(a)
    ok = True
    if n & 1:
        a = b
        ok = gone(1)
    touch(a)
    return ok and gone(2)

def allocating(n):
    "Allocates in line, with what is dead in slots."
    begin()
    total = 0
    for i in range(50 * n):
        a = Node(i)
        b = Node(i + 1)
        a.other = b
        if i % 50 == 25:
            watch(a)
            watch(b)
            touch(a)
            touch(b)
            c = Node(5)
            touch(c)
            total += c.n
            if not gone(state.watched): return False
        else:
            c = Node(6)
            total += c.n + b.n
            d = Node(total)
            state.last = d.n + c.n
    return total > 0

# ---- compiled while it runs
driver = jit.JitDriver(greens=['pc', 'code'], reds=['rounds', 'frame', 'ok'])

class Frame(object):
    def __init__(self): self.node = None

def run_code(code, rounds):
    frame = Frame()
    pc = 0
    ok = True
    while pc < len(code):
        driver.jit_merge_point(pc=pc, code=code, rounds=rounds, frame=frame, ok=ok)
        c = code[pc]
        pc += 1
        if c == 'n':
            frame.node = circle(rounds)
        elif c == 'w':
            node = frame.node
            assert node is not None
            watch(node)
        elif c == 't':
            touch(frame.node)
        elif c == 'd':
            frame.node = None
        elif c == 'x':
            a = circle(rounds)
            b = circle(rounds)
            watch(a)
            watch(b)
            touch(b)
            touch(a)
            ok = ok and gone(2)
        elif c == 'g':
            ok = ok and gone(state.watched)
            begin()
        elif c == 'l':
            rounds -= 1
            if rounds > 0:
                pc = 0
                driver.can_enter_jit(pc=pc, code=code, rounds=rounds, frame=frame, ok=ok)
    return ok

def loops(n):
    begin()
    return run_code('nwttdgl', 10 * n)

def loops_with_two(n):
    begin()
    return run_code('nwtxtdgnwtdgl', 10 * n)

def loops_with_last(n):
    begin()
    return run_code('nwtxnwdgl', 10 * n)

TESTS = [
    ('straight', straight), ('through_a_call', through_a_call), ('through_several_calls', through_several_calls),
    ('one_after_the_other', one_after_the_other), ('reassigned', reassigned), ('reassigned_to_another', reassigned_to_another),
    ('branch', branch), ('both_branches', both_branches), ('needed_on_one_side', needed_on_one_side),
    ('loop', loop), ('loop_before', loop_before), ('loop_after', loop_after), ('loop_with_some', loop_with_some),
    ('previous_round', previous_round), ('nested_loops', nested_loops), ('linked', linked), ('interpreter', test_interpreter),
    ('argument', argument), ('argument_twice', argument_twice), ('callers', callers), ('each_frame', each_frame),
    ('finalizers', finalizers), ('attribute', attribute), ('virtual', virtual),
    ('caught', caught), ('caught_in_loop', caught_in_loop), ('in_handler', in_handler), ('exception_value', exception_value),
    ('passing', passing), ('finally', finally_), ('raising_later', raising_later),
    ('in_list', in_list), ('list_dies', list_dies), ('in_dict', in_dict), ('tuples', tuples), ('closure', closure),
    ('three', three),
    ('backwards', backwards),
    ('halves', halves),
    ('some_round', some_round),
    ('some_round_kept', some_round_kept),
    ('inner', inner),
    ('until', until),
    ('handled', handled),
    ('dropped', dropped),
    ('given', given),
    ('frames', frames),
    ('strings', strings),
    ('fields', fields),
    ('replaced', replaced),
    ('swapped', swapped),
    ('allocating', allocating),
    ('loops', loops), ('loops_with_two', loops_with_two), ('loops_with_last', loops_with_last),
]

def main(argv):
    bad = 0
    for name, test in TESTS:
        for n in range(3, 7):
            if not test(n):
                print name, n
                bad += 1
    print bad, 'found alive'
    return 0

def target(driver, args):
    return main, None
