"""Files on top of the C library's buffered ones, as `open()` makes them in translated
code.

The functions `_open`, `_read` and so on are the C library's. A file is the address of its
`FILE`, which is 0 once it is closed.
"""
import errno
import os
import stat

from rpython.rlib.objectmodel import instantiate
from rpython.rlib.rstring import StringBuilder, replace
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.rtyper.lltypesystem.rffi import RFFI_SAVE_ERRNO
from rpython.translator.tool.cbuild import ExternalCompilationInfo

# The C library's functions themselves, for those who work with its files.
FILEP = rffi.COpaquePtr('FILE')
c_fopen = rffi.llexternal('fopen', [rffi.CCHARP, rffi.CCHARP], FILEP, save_err=RFFI_SAVE_ERRNO)
c_fdopen = rffi.llexternal('fdopen', [rffi.INT, rffi.CCHARP], FILEP, save_err=RFFI_SAVE_ERRNO)
c_fclose = rffi.llexternal('fclose', [FILEP], rffi.INT, save_err=RFFI_SAVE_ERRNO)
c_fclose_in_del = rffi.llexternal('fclose', [FILEP], rffi.INT, releasegil=False)
c_setvbuf = rffi.llexternal(
    'setvbuf', [FILEP, rffi.CCHARP, rffi.INT, rffi.SIZE_T], rffi.INT)
c_fseek = rffi.llexternal(
    'fseek', [FILEP, rffi.LONG, rffi.INT], rffi.INT, save_err=RFFI_SAVE_ERRNO)
c_ftell = rffi.llexternal('ftell', [FILEP], rffi.LONG, save_err=RFFI_SAVE_ERRNO)
c_ftruncate = rffi.llexternal(
    'ftruncate', [rffi.INT, rffi.OFF_T], rffi.INT, save_err=RFFI_SAVE_ERRNO)
c_fflush = rffi.llexternal('fflush', [FILEP], rffi.INT, save_err=RFFI_SAVE_ERRNO)
c_fgets = rffi.llexternal('fgets', [rffi.CCHARP, rffi.INT, FILEP], rffi.CCHARP)
c_fread = rffi.llexternal(
    'fread', [rffi.CCHARP, rffi.SIZE_T, rffi.SIZE_T, FILEP], rffi.SIZE_T)
c_fwrite = rffi.llexternal(
    'fwrite', [rffi.CCHARP, rffi.SIZE_T, rffi.SIZE_T, FILEP], rffi.SIZE_T)
c_fileno = rffi.llexternal('fileno', [FILEP], rffi.INT)
_eci = ExternalCompilationInfo(includes=['stdio.h'])
c_stdin, c_stdout, c_stderr = [
    rffi.CExternVariable(FILEP, _name, _eci, c_type='FILE*', getter_only=True,
                         declare_as_extern=False)
    for _name in ('stdin', 'stdout', 'stderr')]
c_feof = rffi.llexternal('feof', [FILEP], rffi.INT)
c_ferror = rffi.llexternal('ferror', [FILEP], rffi.INT)

_IOFBF = 0
_IOLBF = 1
_IONBF = 2
BUFSIZ = 8192

CHUNK = 4096
LINE_CHUNK = 128

NEWLINE_UNKNOWN = 0
NEWLINE_CR = 1
NEWLINE_LF = 2
NEWLINE_CRLF = 4


def _unavailable():
    raise IOError(errno.EPERM, "not allowed while a program is imported")


def _open(path, mode):
    _unavailable()


def _fdopen(fd, mode):
    _unavailable()


def _popen(command, mode):
    _unavailable()


def _temporary():
    _unavailable()


def _standard(which):
    _unavailable()


def _set_buffer(file, mode, size):
    _unavailable()


def _close(file):
    _unavailable()


def _pclose(file):
    _unavailable()


def _read(file, count):
    _unavailable()


def _line(file, count):
    _unavailable()


def _write(file, value):
    _unavailable()


def _flush(file):
    _unavailable()


def _seek(file, pos, whence):
    _unavailable()


def _tell(file):
    _unavailable()


def _fileno(file):
    _unavailable()


def _describe(e):
    """The same error with the system's text for it."""
    return IOError(e.errno, os.strerror(e.errno))


def _sanitize_mode(mode):
    """The mode for the C library, and whether newlines are translated."""
    if mode == '':
        raise ValueError("the mode is empty")
    if mode.find('U') < 0:
        if mode[0] not in 'rwa':
            raise ValueError("the mode must begin with 'r', 'w', 'a' or 'U'")
        return mode, False
    rest = replace(mode, 'U', '')
    if rest != '' and (rest[0] == 'w' or rest[0] == 'a'):
        raise ValueError("universal newlines are for reading only")
    if rest == '' or rest[0] != 'r':
        rest = 'r' + rest
    if rest.find('b') < 0:
        rest = 'rb' + rest[1:]
    return rest, True


def _refuse_directory(fd):
    try:
        st = os.fstat(fd)
    except OSError:
        return
    if stat.S_ISDIR(st.st_mode):
        raise IOError(errno.EISDIR, os.strerror(errno.EISDIR))


CLOSE_FILE = 0
CLOSE_PIPE = 1
LEAVE_OPEN = 2


def _rfile(file, universal=False, how_to_close=CLOSE_FILE):
    result = instantiate(RFile)
    result._begin(file, universal, how_to_close)
    return result


def create_file(filename, mode="r", buffering=-1):
    """What `open()` does. `buffering` is 0 for none, 1 for lines, more for that many
    bytes, less for the C library's choice."""
    c_mode, universal = _sanitize_mode(mode)
    try:
        file = _open(filename, c_mode)
    except IOError as e:
        raise _describe(e)
    try:
        _refuse_directory(_fileno(file))
    except IOError:
        _close(file)
        raise
    result = _rfile(file, universal)
    if buffering >= 0:
        result._setbufsize(buffering)
    return result


def create_fdopen_rfile(fd, mode="r", buffering=-1):
    """What `os.fdopen()` does."""
    c_mode, universal = _sanitize_mode(mode)
    _refuse_directory(fd)
    try:
        file = _fdopen(fd, c_mode)
    except IOError as e:
        raise OSError(e.errno, os.strerror(e.errno))
    result = _rfile(file, universal)
    if buffering >= 0:
        result._setbufsize(buffering)
    return result


def create_temp_rfile():
    """A file without a name that is gone when it is closed."""
    try:
        return _rfile(_temporary())
    except IOError as e:
        raise OSError(e.errno, os.strerror(e.errno))


def create_popen_file(command, type):
    """The output, or the input, of a shell command. `close()` answers its status."""
    try:
        return _rfile(_popen(command, type), False, CLOSE_PIPE)
    except IOError as e:
        raise OSError(e.errno, os.strerror(e.errno))


def create_stdio():
    """stdin, stdout and stderr. Closing them leaves the descriptors open."""
    return (_rfile(_standard(0), False, LEAVE_OPEN),
            _rfile(_standard(1), False, LEAVE_OPEN),
            _rfile(_standard(2), False, LEAVE_OPEN))


class RFile(object):
    """An open file.

    Every method raises ValueError once the file is closed, but for `close`, and IOError
    with its errno where the system refuses.
    """
    _newlinetypes = NEWLINE_UNKNOWN

    def __init__(self, ll_file, mode=None, close2=(c_fclose, c_fclose)):
        """Of a file of the C library, with the functions that close it, or None."""
        how_to_close = LEAVE_OPEN if close2[0] is None else CLOSE_FILE
        self._begin(rffi.cast(lltype.Signed, ll_file), mode is not None and 'U' in mode,
                    how_to_close)

    def _begin(self, file, universal, how_to_close):
        self._file = file
        self._universal = universal
        self._how_to_close = how_to_close
        # With universal newlines: the last byte given out stood for '\r', so that a
        # '\n' that follows belongs to it.
        self._after_cr = False

    def _setbufsize(self, size):
        if size == 0:
            _set_buffer(self._file, _IONBF, 0)
        elif size == 1:
            _set_buffer(self._file, _IOLBF, BUFSIZ)
        else:
            _set_buffer(self._file, _IOFBF, size)

    def close(self):
        """Closes it, once. The status of the command, of a pipe; else 0."""
        file = self._file
        if not file:
            return 0
        self._file = 0
        try:
            if self._how_to_close == CLOSE_FILE:
                return _close(file)
            if self._how_to_close == CLOSE_PIPE:
                return _pclose(file)
        except IOError as e:
            raise _describe(e)
        return 0

    def _check_closed(self):
        if not self._file:
            raise ValueError("I/O operation on closed file")

    @property
    def closed(self):
        return not self._file

    def read(self, size=-1):
        """At most that many bytes, or all up to the end. '' at the end."""
        self._check_closed()
        try:
            if self._universal:
                return self._read_universal(size)
            return self._read_plain(size)
        except IOError as e:
            raise _describe(e)

    def _read_plain(self, size):
        if size >= 0:
            return _read(self._file, size)
        builder = StringBuilder(CHUNK)
        while True:
            data = _read(self._file, CHUNK)
            if data == '':
                return builder.build()
            builder.append(data)

    def _read_universal(self, size):
        builder = StringBuilder(CHUNK)
        while size < 0 or builder.getlength() < size:
            want = CHUNK
            if size >= 0:
                want = min(CHUNK, size - builder.getlength())
            data = _read(self._file, want)
            if data == '':
                break
            for c in data:
                self._translate(c, builder)
        return builder.build()

    def _translate(self, c, builder):
        """Appends what universal newlines make of a byte. True at the end of a line."""
        if self._after_cr:
            self._after_cr = False
            if c == '\n':
                self._newlinetypes |= NEWLINE_CRLF
                return False
            self._newlinetypes |= NEWLINE_CR
        if c == '\r':
            self._after_cr = True
            builder.append('\n')
            return True
        if c == '\n':
            self._newlinetypes |= NEWLINE_LF
        builder.append(c)
        return c == '\n'

    def readline(self, size=-1):
        """The next line with its newline, or the beginning of it. '' at the end."""
        self._check_closed()
        try:
            if self._universal:
                return self._readline_universal(size)
            return self._readline_plain(size)
        except IOError as e:
            raise _describe(e)

    def _readline_plain(self, size):
        if size >= 0:
            return _line(self._file, size)
        data = _line(self._file, LINE_CHUNK)
        if len(data) < LINE_CHUNK or data[LINE_CHUNK - 1] == '\n':
            return data
        builder = StringBuilder(3 * LINE_CHUNK)
        builder.append(data)
        while True:
            data = _line(self._file, LINE_CHUNK)
            builder.append(data)
            if len(data) < LINE_CHUNK or data[LINE_CHUNK - 1] == '\n':
                return builder.build()

    def _readline_universal(self, size):
        builder = StringBuilder(LINE_CHUNK)
        while size < 0 or builder.getlength() < size:
            data = _read(self._file, 1)
            if data == '' or self._translate(data[0], builder):
                break
        return builder.build()

    def write(self, value):
        self._check_closed()
        try:
            _write(self._file, value)
        except IOError as e:
            raise _describe(e)

    def flush(self):
        self._check_closed()
        try:
            _flush(self._file)
        except IOError as e:
            raise _describe(e)

    def truncate(self, arg=-1):
        """Cuts the file here, or at that position. The position stays."""
        self._check_closed()
        if arg == -1:
            arg = self.tell()
        self.flush()
        try:
            os.ftruncate(self.fileno(), arg)
        except OSError as e:
            raise IOError(e.errno, os.strerror(e.errno))

    def seek(self, pos, whence=0):
        self._check_closed()
        self._after_cr = False
        try:
            _seek(self._file, pos, whence)
        except IOError as e:
            raise _describe(e)

    def tell(self):
        self._check_closed()
        try:
            return _tell(self._file)
        except IOError as e:
            raise _describe(e)

    def fileno(self):
        self._check_closed()
        return _fileno(self._file)

    def isatty(self):
        self._check_closed()
        return os.isatty(self.fileno())

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.close()
