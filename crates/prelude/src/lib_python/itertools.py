"""Iterators."""


def count(start=0, step=1):
    while True:
        yield start
        start += step


def cycle(iterable):
    saved = []
    for x in iterable:
        yield x
        saved.append(x)
    while saved:
        for x in saved:
            yield x


def repeat(x, times=None):
    if times is None:
        while True:
            yield x
    for i in xrange(times):
        yield x


class chain(object):
    def __init__(self, *iterables):
        self._items = self._all(iterables)

    @staticmethod
    def _all(iterables):
        for iterable in iterables:
            for x in iterable:
                yield x

    @classmethod
    def from_iterable(cls, iterables):
        return cls._all(iterables)

    def __iter__(self):
        return self

    def next(self):
        return self._items.next()


def compress(data, selectors):
    for x, keep in izip(data, selectors):
        if keep:
            yield x


def dropwhile(predicate, iterable):
    dropping = True
    for x in iterable:
        if dropping and predicate(x):
            continue
        dropping = False
        yield x


def takewhile(predicate, iterable):
    for x in iterable:
        if not predicate(x):
            break
        yield x


def ifilter(predicate, iterable):
    for x in iterable:
        if (x if predicate is None else predicate(x)):
            yield x


def ifilterfalse(predicate, iterable):
    for x in iterable:
        if not (x if predicate is None else predicate(x)):
            yield x


def izip(*iterables):
    iterators = map(iter, iterables)
    while iterators:
        row = []
        for it in iterators:
            try:
                row.append(next(it))
            except StopIteration:
                return
        yield tuple(row)


def izip_longest(*iterables, **kwds):
    fill = kwds.get('fillvalue')
    columns = map(list, iterables)
    for i in range(max([0] + map(len, columns))):
        yield tuple([c[i] if i < len(c) else fill for c in columns])


def imap(function, *iterables):
    for args in izip(*iterables):
        if function is None:
            yield args
        else:
            yield function(*args)


def starmap(function, iterable):
    for args in iterable:
        yield function(*args)


def islice(iterable, *bounds):
    s = slice(*bounds)
    at, stop, step = s.start or 0, s.stop, s.step or 1
    for i, x in enumerate(iterable):
        if stop is not None and i >= stop:
            return
        if i == at:
            yield x
            at += step


def tee(iterable, n=2):
    items = list(iterable)
    return tuple([iter(items) for i in range(n)])


def groupby(iterable, key=None):
    group = []
    current = None
    for x in iterable:
        k = x if key is None else key(x)
        if group and k != current:
            yield current, iter(group)
            group = []
        current = k
        group.append(x)
    if group:
        yield current, iter(group)


def product(*iterables, **kwds):
    rows = [()]
    for column in map(tuple, iterables) * kwds.get('repeat', 1):
        rows = [row + (x,) for row in rows for x in column]
    return iter(rows)


def _choose(items, n, ordered, again):
    def extend(chosen):
        if len(chosen) == n:
            yield tuple([items[i] for i in chosen])
            return
        if ordered:
            candidates = [i for i in range(len(items)) if i not in chosen]
        elif chosen:
            candidates = range(chosen[-1] + (0 if again else 1), len(items))
        else:
            candidates = range(len(items))
        for i in candidates:
            for row in extend(chosen + [i]):
                yield row
    return extend([])


def permutations(iterable, r=None):
    items = tuple(iterable)
    return _choose(items, len(items) if r is None else r, True, False)


def combinations(iterable, r):
    return _choose(tuple(iterable), r, False, False)


def combinations_with_replacement(iterable, r):
    return _choose(tuple(iterable), r, False, True)


# The remedy that the compiler shows where translated code calls these.
for _function in [product, permutations, combinations, combinations_with_replacement, groupby]:
    _function._instead_ = 'write loops, one within the other'
