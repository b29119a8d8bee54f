"""Numbered weak references: numbers of objects that are gone are given out again."""
import weakref

from rpython.rlib.rweakref import dead_ref

# So many numbers there are at first.
INITIAL_SIZE = 4


class RWeakListMixin(object):
    _mixin_ = True

    def initialize(self):
        """To be called before all else."""
        self.free_list = range(INITIAL_SIZE)
        self.handles = [dead_ref] * INITIAL_SIZE

    def fetch_handle(self, index):
        """The object, None if it is gone or there is no such number."""
        if 0 <= index < len(self.handles):
            return self.handles[index]()
        return None

    def get_all_handles(self):
        """The references by number."""
        return self.handles

    def reserve_next_handle_index(self):
        """A free number, for store_handle()."""
        if not self.free_list:
            self._find_free()
        return self.free_list.pop()

    def store_handle(self, index, content):
        self.handles[index] = weakref.ref(content)

    def add_handle(self, content):
        """Gives an object a number."""
        number = self.reserve_next_handle_index()
        self.store_handle(number, content)
        return number

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
