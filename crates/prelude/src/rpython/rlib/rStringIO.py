"""Files in memory."""
from rpython.rlib.rstring import StringBuilder

AT_END = -1


class RStringIO(object):
    """A text that is read and written like a file.

    What is written at the end goes to `_builder`; any other use joins it to `_text`.
    `_pos` is AT_END while the position is the end of both.
    """

    def __init__(self):
        self._closed = False
        self._text = ''
        self._builder = StringBuilder()
        self._pos = AT_END

    def close(self):
        self._closed = True
        self._text = ''
        self._builder = StringBuilder()
        self._pos = AT_END

    def is_closed(self):
        return self._closed

    def _join(self):
        if self._builder.getlength() > 0:
            self._text += self._builder.build()
            self._builder = StringBuilder()

    def getvalue(self):
        self._join()
        return self._text

    def getsize(self):
        return len(self._text) + self._builder.getlength()

    def write(self, buffer):
        """Overwrites from the position on, which zero bytes fill if it is behind the
        end."""
        if self._pos == AT_END:
            self._builder.append(buffer)
            return
        self._join()
        pos = self._pos
        size = len(self._text)
        if pos >= size:
            self._builder.append_multiple_char('\0', pos - size)
            self._builder.append(buffer)
            self._pos = AT_END
            return
        end = pos + len(buffer)
        assert pos >= 0 and end >= 0
        if end >= size:
            self._text = self._text[:pos]
            self._builder.append(buffer)
            self._pos = AT_END
        else:
            self._text = self._text[:pos] + buffer + self._text[end:]
            self._pos = end

    def seek(self, position, mode=0):
        """To a place counted from the start, from here (1) or from the end (2)."""
        size = self.getsize()
        if mode == 1:
            position += self.tell()
        elif mode == 2:
            position += size
        if position == size:
            self._pos = AT_END
        else:
            self._pos = max(position, 0)

    def tell(self):
        if self._pos == AT_END:
            return self.getsize()
        return self._pos

    def read(self, size=-1):
        """At most that many bytes, or all that follow."""
        pos = self._pos
        if pos == AT_END:
            return ''
        self._join()
        end = len(self._text)
        if pos >= end:
            return ''
        if 0 <= size < end - pos:
            end = pos + size
            self._pos = end
        else:
            self._pos = AT_END
        assert 0 <= pos <= end
        return self._text[pos:end]

    def readline(self, size=-1):
        """The next line with its newline, or the beginning of it."""
        pos = self._pos
        if pos == AT_END:
            return ''
        self._join()
        limit = len(self._text)
        if pos >= limit:
            return ''
        if 0 <= size < limit - pos:
            limit = pos + size
        assert pos >= 0 and limit >= 0
        end = self._text.find('\n', pos, limit) + 1
        if end <= 0:
            end = limit
        result = self._text[pos:end]
        self._pos = AT_END if end == len(self._text) else end
        return result

    def truncate(self, size):
        """Cuts it there and moves to the end."""
        assert size >= 0
        self._join()
        if size < len(self._text):
            self._text = self._text[:size]
        self._pos = AT_END
