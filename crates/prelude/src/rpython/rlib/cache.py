"""Tables that are complete once the program is translated."""


class Cache(object):
    """Maps keys to what `_build(key)`, of a subclass, makes of them.

    While the program is compiled getorbuild() runs for every key that can come: the
    translated program only looks up.
    """

    def __init__(self):
        self.content = {}
        self._in_progress = {}

    def getorbuild(self, key):
        if key not in self.content:
            if key in self._in_progress:
                raise RuntimeError("%s: building %r needs it" % (self, key))
            self._in_progress[key] = True
            try:
                self.content[key] = self._build(key)
            finally:
                del self._in_progress[key]
            self._ready(self.content[key])
        return self.content[key]
    getorbuild._annspecialcase_ = 'specialize:memo'

    def __repr__(self):
        return '<%s, %d items>' % (type(self).__name__, len(self.content))

    def _ready(self, result):
        """Called with every result once it is in the table."""

    def _freeze_(self):
        return True
