"""Stacklets, other threads and finalizer queues keep nothing that they do not need."""
from rpython.rlib import rgc, rstacklet, rthread
import weakref, time
class Node(object):
    def __init__(self, n):
        self.n = n
        self.other = None
class State(object): pass
state = State()
state.refs = [weakref.ref(Node(1))]
state.total = 0
state.wrong = 0
state.finalized = 0
state.ready = False
state.stop = False
state.done = False
def circle(n):
    a = Node(n)
    b = Node(n + 1)
    a.other = b
    b.other = a
    return a
def watched(n):
    node = circle(n)
    state.refs.append(weakref.ref(node))
    return node
def begin():
    state.refs = []
def dead():
    rgc.collect()
    n = 0
    for ref in state.refs:
        if ref() is None: n += 1
    return n
def touch(node):
    state.total += node.n + len([node] * 3)

class Sthreads(object): pass
sthreads = Sthreads()

def body(h, arg):
    node = watched(7)
    touch(node)
    h = sthreads.t.switch(h)
    touch(node)
    if dead() != 1: state.wrong += 1
    return h

def thread_body():
    node = watched(9)
    touch(node)
    state.ready = True
    while not state.stop:
        time.sleep(0.001)
    touch(node)
    other = watched(10)
    touch(other)
    touch(other)
    state.done = True
    while state.done:
        time.sleep(0.001)
    state.ready = False

class Queue(rgc.FinalizerQueue):
    Class = Node
    def finalizer_trigger(self):
        while True:
            node = self.next_dead()
            if node is None: break
            touch(node)
            state.finalized += 1
queue = Queue()

# Counts what is found alive that must not be.
def main(argv):
    wrong = 0
    sthreads.t = rstacklet.StackletThread()
    begin()
    h = sthreads.t.new(body)
    if dead() != 0: wrong += 1
    h = sthreads.t.switch(h)
    if dead() != 1: wrong += 1
    wrong += state.wrong
    begin()
    rthread.start_new_thread(thread_body, ())
    while not state.ready: time.sleep(0.001)
    if dead() != 0: wrong += 1
    state.stop = True
    while not state.done: time.sleep(0.001)
    if dead() != 2: wrong += 1
    state.done = False
    while state.ready: time.sleep(0.001)
    begin()
    node = Node(3)
    state.refs.append(weakref.ref(node))
    queue.register_finalizer(node)
    touch(node)
    if dead() != 1: wrong += 1
    if state.finalized != 1: wrong += 1
    print wrong, 'found alive'
    return 0
def target(driver, args): return main, None
