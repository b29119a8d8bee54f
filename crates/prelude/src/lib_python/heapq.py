"""Heaps."""


def heappush(heap, x):
    heap.append(x)
    i = len(heap) - 1
    while i > 0:
        parent = (i - 1) // 2
        if not heap[i] < heap[parent]:
            break
        heap[i], heap[parent] = heap[parent], heap[i]
        i = parent


def _sink(heap, i):
    while True:
        child = 2 * i + 1
        if child >= len(heap):
            return
        if child + 1 < len(heap) and heap[child + 1] < heap[child]:
            child += 1
        if not heap[child] < heap[i]:
            return
        heap[i], heap[child] = heap[child], heap[i]
        i = child


def heappop(heap):
    last = heap.pop()
    if not heap:
        return last
    first = heap[0]
    heap[0] = last
    _sink(heap, 0)
    return first


def heapify(heap):
    for i in reversed(range(len(heap) // 2)):
        _sink(heap, i)


def heapreplace(heap, x):
    first = heap[0]
    heap[0] = x
    _sink(heap, 0)
    return first


def nsmallest(n, iterable, key=None):
    return sorted(iterable, key=key)[:n]


def nlargest(n, iterable, key=None):
    return sorted(iterable, key=key, reverse=True)[:n]
