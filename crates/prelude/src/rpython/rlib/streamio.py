"""Streams: a file descriptor at the bottom, and on it buffers and filters of newlines,
each a Stream around another one.

    open_file_as_stream(path, mode, buffering)      the tower that a mode asks for
    fdopen_as_stream(fd, mode, buffering)           the same over a descriptor

A stream raises OSError where the system refuses, StreamError where it does itself, and
MyNotImplementedError for what it cannot do at all.
"""
import os

from rpython.rlib import rposix
from rpython.rlib.objectmodel import specialize
from rpython.rlib.rarithmetic import intmask, r_longlong
from rpython.rlib.rstring import StringBuilder

O_BINARY = 0
O_RDONLY, O_WRONLY, O_RDWR = os.O_RDONLY, os.O_WRONLY, os.O_RDWR
O_CREAT, O_TRUNC, O_APPEND = os.O_CREAT, os.O_TRUNC, os.O_APPEND

# By the letter of the mode and whether there is a '+'.
OS_MODE = {}
for _letter, _alone, _made in [('r', O_RDONLY, 0), ('w', O_WRONLY, O_CREAT | O_TRUNC),
                               ('a', O_WRONLY, O_CREAT | O_APPEND)]:
    OS_MODE[_letter, False] = _alone | _made
    OS_MODE[_letter, True] = O_RDWR | _made

BUFSIZE = 8192


class MyNotImplementedError(Exception):
    """What NotImplementedError is to Python: that one cannot be caught in RPython."""


# The methods of streams that others wrap, with the types of their arguments.
STREAM_METHODS = {
    'close1': [int], 'flush': [], 'flushable': [], 'getnewlines': [], 'peek': [],
    'read': [int], 'readall': [], 'readline': [], 'seek': [r_longlong, int], 'tell': [],
    'truncate': [r_longlong], 'try_to_find_file_descriptor': [], 'write': [str],
}


class StreamError(Exception):
    """A stream refuses something by itself."""
    message = ''     # of programs that handle it and use no stream that raises it

    def __init__(self, message):
        self.message = message

# What may go wrong.
StreamErrors = (OSError, StreamError)


# Newlines.

def replace_crlf_with_lf(s, first_index=-1):
    """`first_index`, if given, is the place of the first '\\r' in s."""
    if first_index < 0:
        first_index = s.find('\r')
        if first_index < 0:
            return s
    builder = StringBuilder(len(s))
    start = 0
    at = first_index
    while at >= 0:
        if at + 1 < len(s) and s[at + 1] == '\n':
            builder.append_slice(s, start, at)
            start = at + 1
        at = s.find('\r', at + 1)
    builder.append_slice(s, start, len(s))
    return builder.build()


def replace_char_with_str(string, c, s):
    """All characters c of a string replaced."""
    pieces = string.split(c)
    return s.join(pieces)


# Opening.

def _setfd_binary(fd):
    """Only Windows has descriptors of text."""


def fdopen_as_stream(fd, mode, buffering=-1, signal_checker=None):
    _, universal, reading, writing, _, binary = decode_mode(mode)
    bottom = DiskFile(fd, signal_checker)
    return construct_stream_tower(bottom, buffering, universal, reading, writing, binary)


@specialize.argtype(0)
def open_file_as_stream(path, mode="r", buffering=-1, signal_checker=None):
    flags, universal, reading, writing, letter, binary = decode_mode(mode)
    bottom = open_path_helper(path, flags, letter == "a", signal_checker)
    return construct_stream_tower(bottom, buffering, universal, reading, writing, binary)


@specialize.argtype(0)
def open_path_helper(path, os_flags, append, signal_checker=None):
    """The stream at the bottom; at its end if it is to be appended to."""
    bottom = DiskFile(rposix.open(path, os_flags, 0666), signal_checker)
    if append:
        try:
            bottom.seek(0, 2)
        except OSError:
            # Pipes and terminals have no end to go to.
            pass
    return bottom


def decode_mode(mode):
    """What a mode asks for: flags of `os.open`, universal newlines, reading, writing,
    its letter, binary."""
    if mode.find('U') >= 0:
        universal = True
        basemode = 'r'
    elif mode != '' and mode[0] in 'rwa':
        universal = False
        basemode = mode[0]
    else:
        raise ValueError("the mode must begin with 'r', 'w', 'a' or 'U'")
    plus = mode.find('+') >= 0
    reading = basemode == 'r' or plus
    writing = basemode != 'r' or plus
    binary = mode.find('b') >= 0
    flags = OS_MODE[basemode, plus]
    return flags, universal, reading, writing, basemode, binary


def construct_stream_tower(stream, buffering, universal, reading, writing, binary):
    if buffering != 0:
        if buffering == 1:
            if writing:
                stream = LineBufferingOutputStream(stream)
            size = -1
        else:
            if buffering < -1:
                raise StreamError("the size of a buffer must not be negative")
            size = buffering
            if writing:
                stream = BufferingOutputStream(stream, size)
        if reading:
            stream = BufferingInputStream(stream, size)
    if universal:
        if writing:
            stream = TextOutputFilter(stream)
        if reading:
            stream = TextInputFilter(stream)
    return stream


def offset2int(offset):
    """An offset that a buffer can have."""
    result = intmask(offset)
    if result != offset:
        raise StreamError("seek() offset is out of range")
    return result


# Streams.

class Stream(object):
    """What all streams have, for those that can only do a part."""

    def read(self, n):
        """At most n bytes; '' at the end only."""
        raise MyNotImplementedError

    def write(self, data):
        """All of data."""
        raise MyNotImplementedError

    def truncate(self, size):
        """Cuts it to size bytes."""
        raise MyNotImplementedError

    def seek(self, offset, whence):
        """To offset bytes from the start, or as whence is 1 or 2 from here or the end."""
        raise MyNotImplementedError

    def tell(self):
        """Where it reads and writes, in bytes from the start."""
        raise MyNotImplementedError

    def readall(self):
        builder = StringBuilder()
        size = BUFSIZE
        while True:
            data = self.read(size)
            if data == '':
                return builder.build()
            builder.append(data)
            if size < 1 << 20:
                size += size

    def readline(self):
        builder = StringBuilder()
        while True:
            c = self.read(1)
            if c == '':
                break
            builder.append(c)
            if c == '\n':
                break
        return builder.build()

    def flush_buffers(self):
        """Writes what is to be written, and goes back to where the reader is."""

    def flush(self):
        """Writes what is to be written."""

    def flushable(self):
        """Whether there is something to be written now and then."""
        return False

    def close1(self, closefileno):
        """Closes it; the descriptor at the bottom only if asked for."""

    def close(self):
        """Closes it and all below."""
        self.close1(True)

    def peek(self):
        """A place in a text: what follows it will be read next."""
        return (0, '')

    def count_buffered_bytes(self):
        """How many bytes can be read without asking the system, -1 if unknown."""
        done, text = self.peek()
        return len(text) - done

    def getnewlines(self):
        """The kinds of newlines that were read, as a sum of bits."""
        return 0

    def try_to_find_file_descriptor(self):
        """The one at the bottom, -1 if there is none."""
        return -1


class DiskFile(Stream):
    """A file descriptor. `signal_checker` is called after interrupted system calls,
    which the runtime resumes by itself."""

    def __init__(self, fd, signal_checker=None):
        self.signal_checker = signal_checker
        self.fd = fd

    def tell(self):
        return os.lseek(self.fd, 0, 1)

    def seek(self, offset, whence):
        os.lseek(self.fd, offset, whence)

    def read(self, n):
        assert isinstance(n, int)
        return os.read(self.fd, n)

    def write(self, data):
        while data:
            n = os.write(self.fd, data)
            if n >= len(data):
                break
            data = data[n:]

    def truncate(self, size):
        os.ftruncate(self.fd, size)

    def close1(self, closefileno):
        if closefileno:
            os.close(self.fd)

    def try_to_find_file_descriptor(self):
        return self.fd


class _Layer(Stream):
    """A stream around another one, which does what this one does not."""

    def read(self, n):
        return self.base.read(n)

    def readall(self):
        return self.base.readall()

    def readline(self):
        return self.base.readline()

    def write(self, data):
        self.base.write(data)

    def tell(self):
        return self.base.tell()

    def seek(self, offset, whence):
        self.base.seek(offset, whence)

    def truncate(self, size):
        self.flush_buffers()
        self.base.truncate(size)

    def flush_buffers(self):
        self.base.flush_buffers()

    def flush(self):
        self.base.flush()

    def flushable(self):
        return self.base.flushable()

    def close1(self, closefileno):
        self.base.close1(closefileno)

    def peek(self):
        return self.base.peek()

    def try_to_find_file_descriptor(self):
        return self.base.try_to_find_file_descriptor()

    def getnewlines(self):
        return self.base.getnewlines()


class BufferingInputStream(_Layer):
    """Reads ahead: `buf[pos:]` has been read from the base and not given out."""

    bigsize = 1 << 19
    bufsize = BUFSIZE

    def __init__(self, base, bufsize=-1):
        self.base = base
        if bufsize == -1:
            bufsize = BUFSIZE
        self.bufsize = bufsize
        self.buf = ''
        self.pos = 0

    def _rest(self):
        pos = self.pos
        assert pos >= 0
        return self.buf[pos:]

    def _forget(self):
        self.buf = ''
        self.pos = 0

    def flush_buffers(self):
        ahead = len(self.buf) - self.pos
        if ahead:
            try:
                self.base.seek(-ahead, 1)
            except (MyNotImplementedError, OSError):
                # What cannot go back keeps what it has.
                return
        self._forget()

    def tell(self):
        return self.base.tell() - (len(self.buf) - self.pos)

    def seek(self, offset, whence):
        if whence == 0:
            self._seek_to(offset)
        elif whence == 1:
            self._seek_by(offset)
        elif whence == 2:
            self._seek_from_end(offset)
        else:
            raise StreamError("whence should be 0, 1 or 2")

    def _seek_to(self, offset):
        try:
            end = self.base.tell()
        except MyNotImplementedError:
            raise StreamError("cannot seek")
        start = end - len(self.buf)
        if start <= offset <= end:
            self.pos = offset2int(offset - start)
            return
        try:
            self.base.seek(offset, 0)
        except MyNotImplementedError:
            if offset < end:
                raise StreamError("cannot seek backwards")
            self._forget()
            self._skip(offset2int(offset - end))
            return
        self._forget()

    def _seek_by(self, offset):
        ahead = len(self.buf) - self.pos
        if -self.pos <= offset <= ahead:
            self.pos += offset2int(offset)
            return
        try:
            self.base.seek(offset - ahead, 1)
        except MyNotImplementedError:
            if offset < 0:
                raise StreamError("cannot seek backwards")
            self._forget()
            self._skip(offset2int(offset - ahead))
            return
        self._forget()

    def _seek_from_end(self, offset):
        try:
            self.base.seek(offset, 2)
        except MyNotImplementedError:
            text = self.buf + self._readall_from_base()
            place = len(text) + offset2int(offset)
            if place < 0:
                raise StreamError("cannot seek backwards")
            self.buf = text
            self.pos = min(place, len(text))
            return
        self._forget()

    def _skip(self, count):
        while count > 0:
            data = self.base.read(min(count, self.bufsize))
            if data == '':
                break
            count -= len(data)

    def _readall_from_base(self):
        builder = StringBuilder()
        size = self.bufsize
        while True:
            try:
                data = self.base.read(size)
            except OSError:
                # What has been read is not lost.
                if builder.getlength() == 0:
                    raise
                break
            if data == '':
                break
            builder.append(data)
            if size < self.bigsize:
                size += size
        return builder.build()

    def readall(self):
        rest = self._rest()
        self._forget()
        return rest + self._readall_from_base()

    def read(self, n=-1):
        """Exactly n bytes unless the file ends before; all without n."""
        assert isinstance(n, int)
        if n < 0:
            return self.readall()
        pos = self.pos
        assert pos >= 0
        if n <= len(self.buf) - pos:
            self.pos = pos + n
            return self.buf[pos:pos + n]
        builder = StringBuilder(n)
        builder.append(self._rest())
        self._forget()
        while builder.getlength() < n:
            missing = n - builder.getlength()
            try:
                data = self.base.read(max(missing, self.bufsize))
            except OSError:
                if builder.getlength() == 0:
                    raise
                break
            if data == '':
                break
            self.buf = data
            self.pos = min(missing, len(data))
            builder.append_slice(data, 0, self.pos)
        return builder.build()

    def readline(self):
        pos = self.pos
        assert pos >= 0
        end = self.buf.find('\n', pos) + 1
        if end > 0:
            self.pos = end
            return self.buf[pos:end]
        builder = StringBuilder()
        builder.append(self._rest())
        self._forget()
        while True:
            try:
                data = self.base.read(self.bufsize)
            except OSError:
                if builder.getlength() == 0:
                    raise
                break
            if data == '':
                break
            end = data.find('\n') + 1
            if end > 0:
                builder.append_slice(data, 0, end)
                self.buf = data
                self.pos = end
                break
            builder.append(data)
        return builder.build()

    def write(self, data):
        self.flush_buffers()
        self.base.write(data)

    def peek(self):
        pos = self.pos
        assert pos >= 0
        return (pos, self.buf)


class BufferingOutputStream(_Layer):
    """Writes when a buffer's worth has come together. Whoever reads from it or seeks
    makes it write first."""

    bufsize = BUFSIZE

    def __init__(self, base, bufsize=-1):
        self.base = base
        if bufsize == -1:
            bufsize = BUFSIZE
        self.bufsize = bufsize
        self.buf = []
        self.buflen = 0

    def do_write(self, data):
        self.base.write(data)

    def flush_buffers(self):
        if self.buf:
            data = ''.join(self.buf)
            # Should writing fail, it is not tried again.
            self.buf = []
            self.buflen = 0
            self.do_write(data)

    def flush(self):
        self.flush_buffers()
        self.base.flush()

    def tell(self):
        return self.base.tell() + self.buflen

    def write(self, data):
        room = self.bufsize - self.buflen
        if self.buflen > 0 and len(data) >= room:
            assert room >= 0
            self.buf.append(data[:room])
            self.flush_buffers()
            data = data[room:]
        if len(data) >= self.bufsize:
            self.do_write(data)
        elif data != '':
            self.buf.append(data)
            self.buflen += len(data)

    def read(self, n):
        self.flush_buffers()
        return self.base.read(n)

    def readall(self):
        self.flush_buffers()
        return self.base.readall()

    def readline(self):
        self.flush_buffers()
        return self.base.readline()

    def seek(self, offset, whence):
        self.flush_buffers()
        self.base.seek(offset, whence)

    def flushable(self):
        return True

    def close1(self, closefileno):
        try:
            self.flush_buffers()
        finally:
            self.base.close1(closefileno)


class LineBufferingOutputStream(BufferingOutputStream):
    """Writes at the end of every line."""

    def write(self, data):
        end = data.rfind('\n') + 1
        assert end >= 0
        if end > 0:
            self.buf.append(data[:end])
            self.flush_buffers()
            data = data[end:]
        BufferingOutputStream.write(self, data)


class CRLFFilter(_Layer):
    """Reads '\\r\\n' and '\\r' as '\\n'. It only reads."""

    def __init__(self, base):
        self.base = base
        self.atcr = False

    def read(self, n):
        data = self.base.read(n)
        if self.atcr and data != '' and data[0] == '\n':
            data = data[1:]
            if data == '':
                data = self.base.read(n)
        self.atcr = data.endswith('\r')
        return replace_char_with_str(replace_crlf_with_lf(data), '\r', '\n')

    def readall(self):
        return Stream.readall(self)

    def readline(self):
        return Stream.readline(self)


class TextCRLFFilter(_Layer):
    """Reads '\\r\\n' as '\\n', and writes it."""

    def __init__(self, base):
        self.base = base
        # A byte that has been read to see whether it is the '\n' after a '\r'.
        self.lfbuffer = ''

    def read(self, n):
        data = self.lfbuffer + self.base.read(max(n - len(self.lfbuffer), 0))
        self.lfbuffer = ''
        if data.endswith('\r'):
            c = self.base.read(1)
            if c == '\n':
                data += c
            else:
                self.lfbuffer = c
        return replace_crlf_with_lf(data)

    def readall(self):
        data = self.lfbuffer + self.base.readall()
        self.lfbuffer = ''
        return replace_crlf_with_lf(data)

    def readline(self):
        data = self.lfbuffer
        self.lfbuffer = ''
        if data != '\n':
            data += self.base.readline()
        return replace_crlf_with_lf(data)

    def tell(self):
        return self.base.tell() - len(self.lfbuffer)

    def seek(self, offset, whence):
        if whence == 1:
            offset -= len(self.lfbuffer)
        self.lfbuffer = ''
        self.base.seek(offset, whence)

    def flush_buffers(self):
        if self.lfbuffer:
            try:
                self.base.seek(-len(self.lfbuffer), 1)
            except (MyNotImplementedError, OSError):
                return
            self.lfbuffer = ''
        self.base.flush_buffers()

    def write(self, data):
        self.flush_buffers()
        self.base.write(replace_char_with_str(data, '\n', '\r\n'))


class TextInputFilter(_Layer):
    """Reads every kind of newline as '\\n', and remembers which there were."""

    def __init__(self, base):
        self.base = base
        # The last byte was a '\r': a '\n' that follows belongs to it.
        self.atcr = False
        # Bytes of the base that have not been looked at.
        self.buf = ''
        self.CR = False
        self.NL = False
        self.CRLF = False

    def getnewlines(self):
        """1 for '\\r', 2 for '\\n', 4 for '\\r\\n', added up."""
        return self.CR * 1 + self.NL * 2 + self.CRLF * 4

    def _bytes(self, n):
        data = self.buf
        if data == '':
            return self.base.read(n)
        if len(data) > n:
            assert n >= 0
            self.buf = data[n:]
            return data[:n]
        self.buf = ''
        return data

    def read(self, n):
        while True:
            data = self._bytes(n)
            if data == '' and n > 0 and self.atcr:
                self.CR = True
                self.atcr = False
            result = self._translated(data)
            if result != '' or data == '':
                return result

    def _translated(self, data):
        builder = StringBuilder(len(data))
        for c in data:
            if self.atcr:
                self.atcr = False
                if c == '\n':
                    self.CRLF = True
                    continue
                self.CR = True
            if c == '\r':
                self.atcr = True
                builder.append('\n')
                continue
            if c == '\n':
                self.NL = True
            builder.append(c)
        return builder.build()

    def readall(self):
        return Stream.readall(self)

    def readline(self):
        builder = StringBuilder()
        while True:
            data = self.buf
            self.buf = ''
            if data == '':
                data = self.base.readline()
            if data == '':
                if self.atcr:
                    self.CR = True
                    self.atcr = False
                return builder.build()
            end = 0
            while end < len(data) and (data[end] not in '\r\n' or
                                       (end == 0 and self.atcr and data[end] == '\n')):
                end += 1
            if end < len(data):
                end += 1
                self.buf = data[end:]
                builder.append(self._translated(data[:end]))
                return builder.build()
            builder.append(self._translated(data))

    def _after_newline(self):
        """Makes sure that no '\\n' follows which belongs to what was read."""
        if self.atcr:
            c = self._bytes(1)
            self.atcr = False
            if c == '\n':
                self.CRLF = True
            else:
                self.CR = True
                self.buf = c + self.buf

    def tell(self):
        self._after_newline()
        return self.base.tell() - len(self.buf)

    def seek(self, offset, whence):
        if whence == 1:
            self._after_newline()
            offset -= len(self.buf)
        self.atcr = False
        self.buf = ''
        self.base.seek(offset, whence)

    def flush_buffers(self):
        self._after_newline()
        if self.buf:
            try:
                self.base.seek(-len(self.buf), 1)
            except (MyNotImplementedError, OSError):
                return
            self.buf = ''
        self.base.flush_buffers()

    def write(self, data):
        self.flush_buffers()
        self.base.write(data)

    def peek(self):
        return (0, self.buf)


class TextOutputFilter(_Layer):
    """Writes '\\n' as another line separator."""

    def __init__(self, base, linesep=os.linesep):
        assert linesep in ('\n', '\r\n', '\r')
        self.base = base
        self.linesep = linesep

    def write(self, data):
        if self.linesep != '\n':
            data = replace_char_with_str(data, '\n', self.linesep)
        self.base.write(data)


class CallbackReadFilter(_Layer):
    """Calls a function before it reads."""

    def __init__(self, base, callback):
        self.base = base
        self.callback = callback

    def flush_buffers(self):
        pass

    def read(self, n):
        self.callback()
        return self.base.read(n)

    def readall(self):
        self.callback()
        return self.base.readall()

    def readline(self):
        self.callback()
        return self.base.readline()
