//! Threads of programs. The low-level interpreter has machine code run them. Nothing here
//! depends on how fast a thread is.

use crate::support::{check, check_without_python};

#[test]
fn threads_take_turns() {
    check_without_python(
        "
import gc, os
from rpython.rlib import rgil, rthread
class Shared(object): pass
shared = Shared()
def finished():
    shared.left -= 1
    if shared.left == 0: shared.done.release()
def start(f, n):
    shared.done = rthread.allocate_lock()
    shared.done.acquire(True)
    shared.left = n
    for i in range(n): rthread.start_new_thread(f, ())
class Node(object):
    def __init__(self, n, next): self.n, self.next = n, next
def chain(n):
    node = None
    for i in range(n):
        node = Node(i, node)
        if i % 8 == 0: rgil.yield_thread()
    return node
def builds():
    node = chain(50)
    gc.collect()
    rgil.yield_thread()
    while node is not None:
        shared.total += node.n
        node = node.next
    finished()
def collected(n):
    shared.total = 0
    start(builds, n)
    mine = chain(20)
    shared.done.acquire(True)
    return shared.total, mine.n
def counts():
    for i in range(100):
        with shared.lock:
            n = shared.n
            rgil.yield_thread()
            shared.n = n + 1
    finished()
def locked(n):
    shared.lock = rthread.allocate_lock()
    shared.n = 0
    start(counts, n)
    shared.done.acquire(True)
    return shared.n
def reads():
    text = ''
    while True:
        s = os.read(shared.fd, 3)
        if not s: break
        text += s
    shared.text = text
    finished()
def pipe(n):
    shared.fd, fd = os.pipe()
    start(reads, 1)
    for i in range(n):
        os.write(fd, str(i))
        gc.collect()
    os.close(fd)
    shared.done.acquire(True)
    return shared.text
def names():
    shared.idents.append(rthread.get_ident())
    finished()
def idents(n):
    shared.idents = [rthread.get_ident()]
    start(names, 1)
    shared.done.acquire(True)
    return shared.idents[0] != shared.idents[1], rgil.am_I_holding_the_GIL()
def raises():
    try:
        raise KeyError
    except KeyError:
        rgil.yield_thread()
        try: raise ValueError
        except ValueError: shared.n += 1
    finished()
def exceptions(n):
    shared.n = 0
    start(raises, n)
    try:
        rgil.yield_thread()
        raise IndexError
    except IndexError:
        shared.done.acquire(True)
    return shared.n
def deep(n):
    return deep(n + 1) + 1
def recurses():
    try: deep(0)
    except RuntimeError: shared.n += 1
    finished()
def stacks(n):
    shared.n = 0
    sizes = [rthread.set_stacksize(100), rthread.set_stacksize(1 << 20), rthread.get_stacksize()]
    start(recurses, n)
    shared.done.acquire(True)
    return sizes, shared.n
",
        "
        collected(4) == [4900,19]
        locked(3) == 300
        pipe(12) == \"01234567891011\"
        idents(0) == [true,true]
        exceptions(3) == 3
        stacks(2) == [[-1,0,1048576],2]
        ",
    );
}

#[test]
fn functions_called_at_switches() {
    check_without_python(
        "
import gc
from rpython.rlib import rgil, rthread
class Shared(object): pass
shared = Shared()
shared.switches = []
def switched():
    shared.switches.append('to %d' % (rthread.get_ident() == shared.first))
def other():
    shared.wanted = True
    shared.done.release()
def f(n):
    shared.first = rthread.get_ident()
    rgil.invoke_after_thread_switch(switched)
    rgil.yield_thread()
    alone = len(shared.switches)
    for i in range(n):
        shared.done = rthread.allocate_lock()
        shared.done.acquire(True)
        mine = [str(i)]
        rthread.start_new_thread(other, ())
        shared.done.acquire(True)
        gc.collect()
        assert mine[0] == str(i)
    return alone, 'to 0' in shared.switches, 'to 1' in shared.switches, len(shared.switches) >= 2 * n
",
        "
        f(5) == [0,true,true,true]
        ",
    );
}

#[test]
fn variables_of_threads() {
    check_without_python(
        "
import gc, weakref
from rpython.rlib import rthread
from rpython.rtyper.lltypesystem import lltype
class Box(object):
    def __init__(self, n): self.n = n
box = rthread.ThreadLocalReference(Box)
number = rthread.ThreadLocalField(lltype.Signed, 'number')
class Shared(object): pass
shared = Shared()
def fill(n):
    b = Box(n)
    box.set(b)
    number.setraw(n)
    return weakref.ref(b)
def other():
    shared.empty = box.get() is None and number.getraw() == 0
    shared.ref = fill(7)
    gc.collect()
    shared.sum = box.get().n + number.getraw()
    shared.done.release()
def f(n):
    shared.done = rthread.allocate_lock()
    shared.done.acquire(True)
    mine = fill(n)
    rthread.start_new_thread(other, ())
    shared.done.acquire(True)
    gc.collect()
    return shared.empty, shared.sum, shared.ref() is None, mine().n + number.getraw()
",
        "
        f(4) == [true,14,true,8]
        ",
    );
}

#[test]
fn c_code_calls_back() {
    check_without_python(
        r#"
from rpython.rlib import rgil, rthread
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.translator.tool.cbuild import ExternalCompilationInfo
eci = ExternalCompilationInfo(separate_module_sources=["""
#include <pthread.h>
static int (*kept)(int);
void keep(int (*f)(int)) { kept = f; }
int call(int n) { int i, s = 0; for (i = 0; i < n; i++) s += kept(i); return s; }
static void *body(void *p) { *(int *)p = call(*(int *)p); return 0; }
int call_in_threads(int n) {
    pthread_t threads[4]; int i, s = 0, results[4];
    for (i = 0; i < 4; i++) { results[i] = n; pthread_create(&threads[i], 0, body, &results[i]); }
    for (i = 0; i < 4; i++) { pthread_join(threads[i], 0); s += results[i]; }
    return s;
}
"""], post_include_bits=[
    'void keep(int (*)(int)); int call(int); int call_in_threads(int);'])
CALLBACK = lltype.Ptr(lltype.FuncType([rffi.INT], rffi.INT))
keep = rffi.llexternal('keep', [CALLBACK], lltype.Void, compilation_info=eci)
call = rffi.llexternal('call', [rffi.INT], rffi.INT, compilation_info=eci)
call_in_threads = rffi.llexternal('call_in_threads', [rffi.INT], rffi.INT, compilation_info=eci)
class Shared(object): pass
shared = Shared()
def callback(i):
    texts = ['x' * j for j in range(rffi.cast(lltype.Signed, i))]
    shared.calls += 1
    return rffi.cast(rffi.INT, len(texts))
def other():
    text = ''
    while not shared.stop:
        text = text + 'x' if len(text) < 100 else ''
        rgil.yield_thread()
    shared.done.release()
def f(n):
    shared.calls = 0
    shared.stop = False
    shared.done = rthread.allocate_lock()
    shared.done.acquire(True)
    keep(callback)
    before = call(n) + call_in_threads(n)
    rthread.start_new_thread(other, ())
    after = call(n) + call_in_threads(n)
    shared.stop = True
    shared.done.acquire(True)
    return before, after, shared.calls
"#,
        "
        f(30) == [2175,2175,300]
        ",
    );
}

/// Threads that are in C functions when the program ends, and return from them later.
#[test]
fn threads_outlive_the_program() {
    check_without_python(
        "
import os
from rpython.rlib import rgil, rthread
class Shared(object):
    opened = 0
shared = Shared()
def opens():
    while True:
        path = '/dev/' + 'null'
        os.close(os.open(path, os.O_RDONLY, 0))
        shared.opened += 1
def left_opening(n):
    for i in range(n): rthread.start_new_thread(opens, ())
    while shared.opened < 10 * n: rgil.yield_thread()
    return n
",
        "
        left_opening(3) == 3
        left_opening(5) == 5
        left_opening(8) == 8
        ",
    );
}

/// Threads wait for the lock when the program ends. Threads of the next program do not give way to them.
#[test]
fn threads_wait_for_the_lock_at_the_end_of_the_program() {
    check_without_python(
        "
from rpython.rlib import rgil, rthread
class Shared(object):
    turns = 0
shared = Shared()
def yields():
    while True:
        shared.turns += 1
        rgil.yield_thread()
def left_waiting(n):
    shared.turns = 0
    for i in range(n): rthread.start_new_thread(yields, ())
    while shared.turns < 5 * n: rgil.yield_thread()
    return n
",
        &"left_waiting(4) == 4\nleft_waiting(9) == 9\n".repeat(8),
    );
}

#[test]
fn locks() {
    check(
        "
from rpython.rlib import rthread
def states():
    lock = rthread.allocate_lock()
    l = [lock.acquire(True), lock.acquire(False), lock.is_acquired()]
    lock.release()
    l += [lock.is_acquired(), lock.acquire(False), lock.is_acquired()]
    return l
def timed(microseconds):
    lock = rthread.allocate_lock()
    l = [lock.acquire_timed(microseconds), lock.acquire_timed(microseconds), lock.acquire_timed(0)]
    lock.release()
    l.append(lock.acquire_timed(1 << 61))
    return l
def released():
    rthread.allocate_lock().release()
def forever():
    lock = rthread.allocate_lock()
    lock.acquire(True)
    lock.acquire(True)
def dummy():
    with rthread.dummy_lock:
        return rthread.dummy_lock.is_acquired(), rthread.dummy_lock.acquire(False)
",
        "
        states() == [true,false,true,false,true,true]
        timed(10) == [1,0,0,1]
        released() raises RThreadError
        forever() raises RThreadError
        dummy() == [false,true]
        ",
    );
}
