"""Numbered weak references: numbers of objects that are gone are given out again."""
import weakref

from rpython.rlib.rweakref import dead_ref

INITIAL_SIZE = 4


class RWeakListMixin(object):
    _mixin_ = True

    def initialize(self):
        self.handles = [dead_ref] * INITIAL_SIZE
        self.free_list = range(INITIAL_SIZE)

    def get_all_handles(self):
        return self.handles

    def reserve_next_handle_index(self):
        """A free number, for store_handle()."""
        if not self.free_list:
            self._find_free()
        return self.free_list.pop()

    def _find_free(self):
        handles = self.handles
        count = len(handles)
        for i in range(count):
            if handles[i]() is None:
                self.free_list.append(i)
        # Searching is only worth its while if it finds much.
        if 3 * len(self.free_list) < 2 * count:
            self.free_list += range(count, 2 * count)
            self.handles = handles + [dead_ref] * count

    def add_handle(self, content):
        index = self.reserve_next_handle_index()
        self.store_handle(index, content)
        return index

    def store_handle(self, index, content):
        self.handles[index] = weakref.ref(content)

    def fetch_handle(self, index):
        """The object, None if it is gone or there is no such number."""
        if index < 0 or index >= len(self.handles):
            return None
        return self.handles[index]()
