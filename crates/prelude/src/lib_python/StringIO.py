"""Files in memory."""


class StringIO(object):
    def __init__(self, buf=''):
        self.buf = buf
        self.pos = 0
        self.closed = False
        self.softspace = 0

    def write(self, s):
        self.buf = self.buf[:self.pos] + s + self.buf[self.pos + len(s):]
        self.pos += len(s)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def read(self, n=-1):
        end = len(self.buf) if n is None or n < 0 else self.pos + n
        s = self.buf[self.pos:end]
        self.pos += len(s)
        return s

    def readline(self):
        end = self.buf.find('\n', self.pos) + 1
        return self.read((end or len(self.buf)) - self.pos)

    def readlines(self):
        return list(self)

    def __iter__(self):
        return self

    def next(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def getvalue(self):
        return self.buf

    def seek(self, pos, mode=0):
        if mode == 1:
            pos += self.pos
        elif mode == 2:
            pos += len(self.buf)
        self.pos = max(0, pos)

    def tell(self):
        return self.pos

    def truncate(self, size=None):
        self.buf = self.buf[:self.pos if size is None else size]

    def flush(self):
        pass

    def isatty(self):
        return False

    def close(self):
        self.closed = True
