# What gc.collect() does to weak references, and noise for seeds.
import gc, os, weakref
class Node(object):
    def __init__(self, name): self.name = name; self.peers = []
def told(refs): return [r() and r().name for r in refs]
a, b, c = Node('a'), Node('b'), Node('c')
b.peers.append(c); c.peers.append(b)
gone = []
refs = [weakref.ref(a), weakref.ref(b, gone.append), weakref.ref(c, gone.append)]
gc.collect(); print told(refs), gone
del b, c
gc.collect(); print told(refs), len(gone), gone[0]() is None
print hash(refs[0]) == hash(a), refs[0] == weakref.ref(a), refs[1] == refs[2], refs[1] == refs[1]
# What only variables of callers hold stays, whatever way they call.
def outer(make, use):
    local = make('local')
    return use(weakref.ref(local)), local.name
def collecting(ref): gc.collect(); return told([ref])
print outer(Node, collecting)
class Property(object):
    @property
    def value(self): return collecting(self.ref)
def by_property(ref):
    p = Property(); p.ref = ref
    return p.value
print outer(Node, by_property)
def held():
    inside = Node('inside')
    yield weakref.ref(inside)
    gc.collect()
    yield inside.name
g = held(); ref = next(g); gc.collect(); print told([ref]), next(g), told([ref])
del g; gc.collect(); print told([ref])
print map(lambda i: collecting(weakref.ref(Node(i))), [1, 2])
class Space(object):
    def __init__(self):
        self.w_class = Node('fake')
        ref = weakref.ref(self.w_class)
        self.w_class = Node('real')
        gc.collect()
        assert ref() is None
Space(); print len(os.urandom(5)), len(set(os.urandom(64))) > 20
f = open('/dev/urandom', 'rb'); print len(f.read(16)), len(f.read(3)); f.close()
fd = os.open('/dev/urandom', os.O_RDONLY); print len(os.read(fd, 8)); os.close(fd)

# zip() takes from each iterable in turn, and stops with the first that ends.
import itertools
source = iter(range(5))
print zip(itertools.count(), 'ab', source), next(source), zip(), zip([1]), zip(source, itertools.count()), list(source)
