"""Handlers of MemoryError in the very function that makes what there is no memory for.

usage: handlers [NAME]      what makes large objects, or one of the others by its name
"""
class Node(object):
    def __init__(self, n):
        self.n = n
        self.next = None
class Keep(object):
    l = None
    d = None
    s = ''
    o = None
keep = Keep()

def append_product(n):
    l = []
    try:
        while True: l.append([1] * 100000)
    except MemoryError:
        return len(l) > 3
def product(n):
    try:
        return len([n] * (n << 28))
    except MemoryError:
        return -1
def nested_finally(n):
    keep.s = ''
    try:
        try:
            x = [n] * (n << 28)
            return len(x)
        finally:
            keep.s = 'finally'
    except MemoryError:
        return -len(keep.s)
def concat(n):
    s = 'x' * 1000
    try:
        while True: s = s + s
    except MemoryError:
        return len(s) > 1000
def concat_inplace(n):
    s = 'x' * 1000
    try:
        while True: s += s
    except MemoryError:
        return len(s) > 1000
def times(n):
    try:
        return len('ab' * (n << 28))
    except MemoryError:
        return -2
def extend(n):
    l = [1, 2, 3]
    try:
        while True: l.extend(l[:])
    except MemoryError:
        return len(l) > 3
def extend_inplace(n):
    l = [1, 2, 3]
    try:
        while True: l += l
    except MemoryError:
        return len(l) > 3
def slices(n):
    l = [1, 2, 3] * 1000
    keep.l = []
    try:
        while True: keep.l = keep.l + l[1:]
    except MemoryError:
        n = len(keep.l)
        keep.l = None
        return n > 3
def grow_dict(n):
    d = {}
    i = 0
    try:
        while True:
            d[i] = i
            i += 1
    except MemoryError:
        return len(d) > 1000
def append(n):
    l = []
    try:
        while True: l.append(len(l))
    except MemoryError:
        return len(l) > 1000
def instances(n):
    o = None
    try:
        while True:
            p = Node(n)
            p.next = o
            o = p
            n += 1
    except MemoryError:
        return n > 1000
def tuples(n):
    l = [(1, 2)]
    try:
        while True: l.append((len(l), 2))
    except MemoryError:
        return len(l) > 1000
def lists(n):
    l = [[1]]
    try:
        while True: l.append([len(l), 2])
    except MemoryError:
        return len(l) > 1000
def formats(n):
    l = ['']
    try:
        while True: l.append('%d and %s' % (len(l), l[-1]))
    except MemoryError:
        return len(l) > 10
def joins(n):
    l = ['abc', 'def'] * 1000
    s = 'x'
    try:
        while True: l.append(s.join(l))
    except MemoryError:
        return len(l) > 2000
def in_tuple(n):
    l = []
    try:
        while True: l.append([1] * 100000)
    except (ValueError, MemoryError):
        return len(l) > 3
def with_others(n):
    l = []
    try:
        while True:
            l.append([1] * 100000)
            l[len(l) - 1][n] = 100 // (n - 5)
    except ZeroDivisionError:
        return False
    except MemoryError:
        return len(l) > 3
    except IndexError:
        return False


LARGE = [('append_product', append_product),
         ('product', product),
         ('nested_finally', nested_finally),
         ('concat', concat),
         ('concat_inplace', concat_inplace),
         ('times', times),
         ('extend', extend),
         ('extend_inplace', extend_inplace),
         ('slices', slices),
         ('grow_dict', grow_dict),
         ('append', append),
         ('joins', joins),
         ('in_tuple', in_tuple),
         ('with_others', with_others)]
SMALL = {'instances': instances, 'tuples': tuples, 'lists': lists, 'formats': formats}

def entry_point(argv):
    if len(argv) > 1:
        print SMALL[argv[1]](1)
        return 0
    for name, function in LARGE:
        print name, function(len(argv))
    return 0

def target(driver, args):
    return entry_point, None
