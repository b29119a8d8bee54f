//! What the shipped `rpython.rlib` offers over the runtime's own machinery: stacklets, and
//! looking around in the heap. The low-level interpreter has machine code run it.

use crate::support::check_without_python;

#[test]
fn stacklets_take_turns() {
    check_without_python(
        "
from rpython.rlib import rgc, rstacklet
from rpython.rlib.rstackovf import StackOverflow
from rpython.rtyper.lltypesystem import llmemory, lltype, rffi

class Shared(object):
    pass
shared = Shared()

def argument(h, arg):
    shared.seen.append(rffi.cast(lltype.Signed, arg))
    return h

def starts(n):
    shared.seen = []
    thread = rstacklet.StackletThread()
    h = thread.new(argument, rffi.cast(llmemory.Address, n))
    return shared.seen[0], thread.is_empty_handle(h)

def count(h, arg):
    i = 0
    while i < 3:
        mine = [i, len(shared.seen)]
        h = shared.thread.switch(h)
        shared.seen.append(mine[0] * 10 + mine[1])
        i += 1
    return h

def turns():
    shared.thread = thread = rstacklet.StackletThread()
    shared.seen = []
    a = thread.new(count)
    b = thread.new(count)
    while not thread.is_empty_handle(a):
        a = thread.switch(a)
        rgc.collect()
        b = thread.switch(b)
    return shared.seen

def lost():
    shared.thread = thread = rstacklet.StackletThread()
    shared.seen = []
    for i in range(3000):
        thread.new(count)
    return len(shared.seen)

def deep(n):
    return deep(n + 1) + 1

def overflows(h, arg):
    try:
        shared.seen.append(deep(0))
    except StackOverflow:
        shared.seen.append(-1)
    return h

def has_a_limit():
    shared.seen = []
    rstacklet.StackletThread().new(overflows)
    return shared.seen

def no_handle():
    thread = rstacklet.StackletThread()
    return thread.get_null_handle() == lltype.nullptr(rstacklet.handle.TO)
",
        "
        starts(41) == [41,true]
        turns() == [0,0,11,12,23,24]
        lost() == 0
        has_a_limit() == [-1]
        no_handle() == true
        ",
    );
}

#[test]
fn programs_look_around_in_the_heap() {
    check_without_python(
        "
from rpython.rlib import rgc
class A(object):
    def __init__(self, n, next):
        self.n = n
        self.next = next
class B(A):
    pass
class Holder(object):
    pass
holder = Holder()

def instances(Class):
    todo, seen, found = rgc.get_rpy_roots(), [], []
    while todo:
        gcref = todo.pop()
        if not gcref or rgc.get_gcflag_extra(gcref):
            continue
        rgc.toggle_gcflag_extra(gcref)
        seen.append(gcref)
        x = rgc.try_cast_gcref_to_instance(Class, gcref)
        if x is not None:
            found.append(x)
        todo.extend(rgc.get_rpy_referents(gcref))
    for gcref in seen:
        rgc.toggle_gcflag_extra(gcref)
    rgc.assert_no_more_gcflags()
    return found

def search():
    holder.chain = B(1, B(2, A(3, None)))
    holder.one = B(4, None)
    holder.other = [A(5, None)]
    total = 0
    for b in instances(B):
        total += b.n
    return total, holder.chain.next.n

def one():
    a = A(1, A(2, B(3, None)))
    ref, next = rgc.cast_instance_to_gcref(a), rgc.cast_instance_to_gcref(a.next)
    referents = rgc.get_rpy_referents(ref)
    return (len(referents), referents[0] == next, rgc.get_rpy_memory_usage(ref) > 16,
            rgc.get_rpy_type_index(ref) == rgc.get_rpy_type_index(next))

def classes():
    ref = rgc.cast_instance_to_gcref(A(1, None))
    return (rgc.try_cast_gcref_to_instance(A, ref) is None,
            rgc.try_cast_gcref_to_instance(B, ref) is None,
            rgc.try_cast_gcref_to_instance(Holder, ref) is None)

def clear():
    a = A(1, A(2, None))
    ref, next = rgc.cast_instance_to_gcref(a), rgc.cast_instance_to_gcref(a.next)
    rgc.toggle_gcflag_extra(ref)
    rgc.toggle_gcflag_extra(next)
    rgc.collect()
    before = rgc.get_gcflag_extra(next)
    rgc.clear_gcflag_extra([ref])
    return before, rgc.get_gcflag_extra(next), a.next.n

prebuilt = B(5, None)
def marks():
    a = A(1, None)
    rgc.toggle_gcflag_extra(a)
    rgc.toggle_gcflag_extra(prebuilt)
    before = rgc.get_gcflag_extra(a), rgc.get_gcflag_extra(prebuilt)
    rgc.toggle_gcflag_extra(prebuilt)
    return (before, rgc.get_gcflag_extra(prebuilt),
            rgc.get_typeid(a) == rgc.get_typeid(A(2, None)))
",
        "
        search() == [7,2]
        one() == [1,true,true,true]
        classes() == [false,true,true]
        clear() == [true,false,2]
        marks() == [[true,true],false,true]
        ",
    );
}

#[test]
fn collections_go_in_steps() {
    check_without_python(
        "
from rpython.rlib import rgc
class Node(object):
    def __init__(self, n, next):
        self.n = n
        self.next = next

def steps():
    rgc.disable()
    node = None
    for i in range(1000):
        node = Node(i, node)
    count = 0
    while True:
        states = rgc.collect_step()
        node = Node(count, node)
        count += 1
        if rgc.is_done(states):
            break
    enabled = rgc.isenabled()
    rgc.enable()
    total = 0
    while node is not None:
        total += node.n
        node = node.next
    return (enabled, rgc.isenabled(), rgc.new_state(states), rgc.old_state(states) > 0, count < 1000,
            total - count * (count - 1) // 2)
",
        "
        steps() == [false,true,0,true,true,499500]
        ",
    );
}
