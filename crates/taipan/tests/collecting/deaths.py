"""What programs see of the deaths of objects: the same with every collector that frees them."""
from rpython.rlib import rgc
from rpython.rlib.objectmodel import compute_identity_hash, compute_unique_id
import weakref

class Node(object):
    def __init__(self, n):
        self.n = n

class Notes(object):
    pass
notes = Notes()
notes.deleted = 0
notes.triggered = 0
notes.queued = 0

class Mortal(Node):
    def __del__(self):
        notes.deleted += 1

class Queue(rgc.FinalizerQueue):
    Class = Node
    def finalizer_trigger(self):
        notes.triggered = 1
queue = Queue()

def weak(count):
    refs = []
    for i in range(count):
        node = Node(i)
        refs.append(weakref.ref(node))
    return refs

def mortals(count):
    for i in range(count):
        Mortal(i)

def registered(count):
    for i in range(count):
        queue.register_finalizer(Node(i))

def spoil(n):
    """Writes over what calls have left on the machine stack."""
    if n == 0:
        return 0
    return spoil(n - 1) + n

def take():
    while True:
        node = queue.next_dead()
        if node is None:
            return
        notes.queued += 1

def most(what, n):
    # A conservative collector may take a few for alive.
    if n >= 90:
        print what, 'most'
    elif n == 0:
        print what, 'none'
    else:
        print what, n

def raises(n):
    if n > 3:
        raise KeyError
    return Node(n)

def caught():
    total = 0
    for i in range(10):
        try:
            total += raises(i).n
        except KeyError:
            total += 100
    return total

def identities():
    seen = {}
    nodes = [Node(i) for i in range(100)]
    for node in nodes:
        seen[node] = compute_identity_hash(node)
    ids = [compute_unique_id(node) for node in nodes]
    rgc.collect()
    same = 0
    for i in range(100):
        node = nodes[i]
        if (seen[node] == compute_identity_hash(node)
                and ids[i] == compute_unique_id(node)):
            same += 1
    return same

def entry_point(argv):
    refs = weak(100)
    keep = Node(7)
    kept = weakref.ref(keep)
    mortals(100)
    registered(100)
    spoil(200)
    rgc.collect()
    spoil(200)
    take()
    rgc.collect()
    dead = 0
    for ref in refs:
        if ref() is None:
            dead += 1
    most('weak references', dead)
    most('__del__', notes.deleted)
    most('queue', notes.queued)
    print 'triggered', notes.triggered
    kept_node = kept()
    if kept_node is keep:
        print 'kept', keep.n
    print 'caught', caught()
    print 'identities', identities()
    return 0

def target(driver, args):
    return entry_point, None
