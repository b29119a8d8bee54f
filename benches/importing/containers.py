"""Items and slices of lists, tuples, dicts and sets, and their methods."""


def work(n):
    items = range(100)
    table = {}
    names = dict([("name%d" % i, i) for i in items])
    keys = names.keys()
    seen = set()
    total = 0
    for i in xrange(n):
        k = i % 100
        items[k] = items[99 - k] + 1
        table[k] = table.get(k, 0) + 1
        total += names[keys[k]]
        if k not in seen:
            seen.add(k)
        pair = (k, total)
        total += pair[0] + len(items[:3])
        if k == 0:
            items.append(items.pop())
    for key, value in sorted(names.items()):
        total += value
    return total


def by_pairs(n):
    table = {}
    for i in xrange(n):
        table[i, i + 1] = i
    found = 0
    for i in xrange(n):
        if (i, i + 1) in table:
            found += 1
    return found


TOTAL = work(250000) + by_pairs(60000)


def main(argv):
    return 0


def target(driver, args):
    return main, None
