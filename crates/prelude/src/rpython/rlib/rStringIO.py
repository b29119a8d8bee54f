"""Files in memory."""
from rpython.rlib.rstring import StringBuilder

AT_END = -1


class RStringIO(object):
    """A text that is read and written like a file.

    What is written at the end goes to `__builder`; any other use joins it to `__text`.
    `__pos` is AT_END while the position is the end of both.
    """

    def __init__(self):
        self.init()

    def init(self):
        """Makes it empty, for classes that have it mixed in, too."""
        self.__closed = False
        self.__text = ''
        self.__builder = StringBuilder()
        self.__pos = AT_END

    def close(self):
        self.__closed = True
        self.__text = ''
        self.__builder = StringBuilder()
        self.__pos = AT_END

    def is_closed(self):
        return self.__closed

    def __join(self):
        if self.__builder.getlength() > 0:
            self.__text += self.__builder.build()
            self.__builder = StringBuilder()

    def getvalue(self):
        self.__join()
        return self.__text

    def getsize(self):
        return len(self.__text) + self.__builder.getlength()

    def write(self, buffer):
        """Overwrites from the position on, which zero bytes fill if it is behind the
        end."""
        if self.__pos == AT_END:
            self.__builder.append(buffer)
            return
        self.__join()
        pos = self.__pos
        size = len(self.__text)
        if pos >= size:
            self.__builder.append_multiple_char('\0', pos - size)
            self.__builder.append(buffer)
            self.__pos = AT_END
            return
        end = pos + len(buffer)
        assert pos >= 0 and end >= 0
        if end >= size:
            self.__text = self.__text[:pos]
            self.__builder.append(buffer)
            self.__pos = AT_END
        else:
            self.__text = self.__text[:pos] + buffer + self.__text[end:]
            self.__pos = end

    def seek(self, position, mode=0):
        """To a place counted from the start, from here (1) or from the end (2)."""
        size = self.getsize()
        if mode == 1:
            position += self.tell()
        elif mode == 2:
            position += size
        if position == size:
            self.__pos = AT_END
        else:
            self.__pos = max(position, 0)

    def tell(self):
        if self.__pos == AT_END:
            return self.getsize()
        return self.__pos

    def read(self, size=-1):
        """At most that many bytes, or all that follow."""
        pos = self.__pos
        if pos == AT_END:
            return ''
        self.__join()
        end = len(self.__text)
        if pos >= end:
            return ''
        if 0 <= size < end - pos:
            end = pos + size
            self.__pos = end
        else:
            self.__pos = AT_END
        assert 0 <= pos <= end
        return self.__text[pos:end]

    def readline(self, size=-1):
        """The next line with its newline, or the beginning of it."""
        pos = self.__pos
        if pos == AT_END:
            return ''
        self.__join()
        limit = len(self.__text)
        if pos >= limit:
            return ''
        if 0 <= size < limit - pos:
            limit = pos + size
        assert pos >= 0 and limit >= 0
        end = self.__text.find('\n', pos, limit) + 1
        if end <= 0:
            end = limit
        result = self.__text[pos:end]
        self.__pos = AT_END if end == len(self.__text) else end
        return result

    def truncate(self, size):
        """Cuts it there and moves to the end."""
        assert size >= 0
        self.__join()
        if size < len(self.__text):
            self.__text = self.__text[:size]
        self.__pos = AT_END
