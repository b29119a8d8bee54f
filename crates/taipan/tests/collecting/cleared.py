"""With reference counting nothing is left of what has no cycles and is in no global variable."""
from rpython.rlib import rgc
import weakref

class Item(object):
    def __init__(self, n, next):
        self.n = n
        self.next = next
        self.text = str(n)

class Count(object):
    def __init__(self):
        self.made = 0
        self.died = 0
count = Count()

class Counted(Item):
    def __init__(self, n, next):
        Item.__init__(self, n, next)
        count.made += 1
    def __del__(self):
        count.died += 1

def fail(item, n):
    if n % 3 == 0:
        raise ValueError
    return Counted(n, item)

def lists(n):
    items = [Counted(i, None) for i in range(n)]
    items.append(Counted(n, items[0]))
    items.pop(0)
    items[2] = items[3]
    del items[1]
    items.reverse()
    part = items[1:4] + items
    items.extend(part)
    return len(items) + len(part)

def dicts(n):
    d = {}
    for i in range(n):
        d[str(i % 7)] = Counted(i, None)
    del d['3']
    total = 0
    for key in d.keys():
        total += d[key].n
    for value in d.itervalues():
        total += value.n
    e = d.copy()
    d.clear()
    return total + len(e)

def chains(n):
    item = None
    for i in range(n):
        try:
            item = fail(item, i)
        except ValueError:
            item = Counted(i, item)
    total = 0
    while item is not None:
        total += item.n
        item = item.next
    return total

def strings(n):
    parts = []
    for i in range(n):
        parts.append('%d-%s' % (i, str(i)))
    text = ','.join(parts)
    words = text.split(',')
    return len(words)

def swap(a, b, n):
    while n > 0:
        a, b = b, a
        if n % 5 == 0:
            a = Counted(n, b)
            b = a.next
        n -= 1
    if a is not None:
        return a.n
    return 0

def generated(n):
    for i in range(n):
        yield Counted(i, None)

def generators(n):
    total = 0
    for item in generated(n):
        total += item.n
        if total > 20:
            break
    return total

def tuples(n):
    total = 0
    pairs = [(Counted(i, None), str(i)) for i in range(n)]
    for item, text in pairs:
        total += item.n + len(text)
    best = pairs[0]
    for pair in pairs:
        if pair[0].n > best[0].n:
            best = pair
    return total + best[0].n

def weak(n):
    item = Counted(n, None)
    ref = weakref.ref(item)
    other = ref()
    if other is None:
        return 0
    return other.n

def entry_point(argv):
    for n in [5, 12, 30]:
        print lists(n), dicts(n), chains(n), strings(n), swap(None, Counted(n, None), n),
        print generators(n), tuples(n), weak(n)
    rgc.collect()
    print 'left', count.made - count.died
    return 0

def target(driver, args):
    return entry_point, None
