"""Stable sorting of lists: a merge sort that makes use of what is already sorted.

Runs that ascend or strictly descend are found from left to right, short ones are
extended to MIN_RUN by insertion, and neighbouring runs are merged so that the sizes
of pending runs fall at least like Fibonacci numbers (Tim Peters' invariant).
"""
MIN_RUN = 24


def merge_compute_minrun(n):
    """How long runs of a list of `n` items should be, for merges of equal sizes: up to 64,
    and such that their number is at most a power of two."""
    rest = 0
    while n >= 64:
        rest |= n & 1
        n >>= 1
    return n + rest


def powerloop(s1, n1, n2, n):
    """The power of the first of two neighbouring runs, of `n1` items from `s1` on and of
    `n2`, in a list of `n` items (Munro and Wild): how many binary digits tell their
    middles, as fractions of the list, apart."""
    assert s1 >= 0 and n1 >= 1 and n2 >= 1 and s1 + n1 + n2 <= n
    # Doubled, middles are integers.
    first = 2 * s1 + n1
    second = first + n1 + n2
    power = 1
    while first >= n or second < n:
        if first >= n:
            first -= n
            second -= n
        # Fails where twice a position does not fit a machine word.
        assert first < second < n
        first <<= 1
        second <<= 1
        power += 1
    return power


def make_timsort_class(getitem=None, setitem=None, length=None,
                       getitem_slice=None, lt=None):
    """A class with sort(); the functions say how to reach the items and how to
    compare them."""
    if getitem is None:
        def getitem(list, index):
            return list[index]
    if setitem is None:
        def setitem(list, index, item):
            list[index] = item
    if getitem_slice is None:
        def getitem_slice(list, start, stop):
            return list[start:stop]
    if lt is None:
        def lt(one, other):
            return one < other
    if length is None:
        def length(list):
            return len(list)

    class TimSort(object):
        """TimSort(list).sort() sorts in place."""

        def __init__(self, list, listlength=None):
            self.list = list
            self.listlength = length(list) if listlength is None else listlength

        def lt(self, a, b):
            return lt(a, b)

        def sort(self):
            n = self.listlength
            if n < 2:
                return
            starts = [0] * 64
            sizes = [0] * 64
            pending = 0
            start = 0
            while start < n:
                size = self.find_run(start, n)
                if size < MIN_RUN:
                    stop = start + MIN_RUN
                    if stop > n:
                        stop = n
                    self.insertion_sort(start, start + size, stop)
                    size = stop - start
                starts[pending] = start
                sizes[pending] = size
                pending += 1
                start += size
                pending = self.collapse(starts, sizes, pending)
            while pending > 1:
                i = pending - 2
                if i > 0 and sizes[i - 1] < sizes[i + 1]:
                    i -= 1
                pending = self.merge_at(starts, sizes, pending, i)

        def find_run(self, start, stop):
            """Length of the run at start; a descending one is turned round."""
            i = start + 1
            if i == stop:
                return 1
            list = self.list
            if self.lt(getitem(list, i), getitem(list, start)):
                i += 1
                while i < stop and self.lt(getitem(list, i), getitem(list, i - 1)):
                    i += 1
                low = start
                high = i - 1
                while low < high:
                    item = getitem(list, low)
                    setitem(list, low, getitem(list, high))
                    setitem(list, high, item)
                    low += 1
                    high -= 1
            else:
                i += 1
                while i < stop and not self.lt(getitem(list, i), getitem(list, i - 1)):
                    i += 1
            return i - start

        def insertion_sort(self, start, middle, stop):
            """start..middle is sorted already."""
            list = self.list
            while middle < stop:
                item = getitem(list, middle)
                low = start
                high = middle
                while low < high:
                    between = (low + high) >> 1
                    if self.lt(item, getitem(list, between)):
                        high = between
                    else:
                        low = between + 1
                i = middle
                while i > low:
                    setitem(list, i, getitem(list, i - 1))
                    i -= 1
                setitem(list, low, item)
                middle += 1

        def collapse(self, starts, sizes, pending):
            while pending > 1:
                i = pending - 2
                if ((i > 0 and sizes[i - 1] <= sizes[i] + sizes[i + 1]) or
                        (i > 1 and sizes[i - 2] <= sizes[i - 1] + sizes[i])):
                    if sizes[i - 1] < sizes[i + 1]:
                        i -= 1
                elif sizes[i] > sizes[i + 1]:
                    break
                pending = self.merge_at(starts, sizes, pending, i)
            return pending

        def merge_at(self, starts, sizes, pending, i):
            """Merges runs i and i + 1 and returns how many are left."""
            self.merge(starts[i], starts[i + 1], starts[i + 1] + sizes[i + 1])
            sizes[i] += sizes[i + 1]
            if i == pending - 3:
                starts[i + 1] = starts[i + 2]
                sizes[i + 1] = sizes[i + 2]
            return pending - 1

        def merge(self, start, middle, stop):
            list = self.list
            # What is in place already at both ends needs no moving.
            start = self.upper_bound(getitem(list, middle), start, middle)
            if start == middle:
                return
            stop = self.lower_bound(getitem(list, middle - 1), middle, stop)
            if stop == middle:
                return
            if middle - start <= stop - middle:
                self.merge_low(start, middle, stop)
            else:
                self.merge_high(start, middle, stop)

        def upper_bound(self, item, low, high):
            """First position whose item is greater."""
            while low < high:
                between = (low + high) >> 1
                if self.lt(item, getitem(self.list, between)):
                    high = between
                else:
                    low = between + 1
            return low

        def lower_bound(self, item, low, high):
            """First position whose item is not smaller."""
            while low < high:
                between = (low + high) >> 1
                if self.lt(getitem(self.list, between), item):
                    low = between + 1
                else:
                    high = between
            return low

        def merge_low(self, start, middle, stop):
            assert start >= 0
            assert middle >= 0
            list = self.list
            left = getitem_slice(list, start, middle)
            count = middle - start
            i = 0
            j = middle
            target = start
            while i < count and j < stop:
                item = getitem(list, j)
                if self.lt(item, left[i]):
                    setitem(list, target, item)
                    j += 1
                else:
                    setitem(list, target, left[i])
                    i += 1
                target += 1
            while i < count:
                setitem(list, target, left[i])
                i += 1
                target += 1

        def merge_high(self, start, middle, stop):
            assert middle >= 0
            assert stop >= 0
            list = self.list
            right = getitem_slice(list, middle, stop)
            i = middle - 1
            j = stop - middle - 1
            target = stop - 1
            while i >= start and j >= 0:
                item = getitem(list, i)
                if self.lt(right[j], item):
                    setitem(list, target, item)
                    i -= 1
                else:
                    setitem(list, target, right[j])
                    j -= 1
                target -= 1
            while j >= 0:
                setitem(list, target, right[j])
                j -= 1
                target -= 1

    return TimSort

TimSort = make_timsort_class()
