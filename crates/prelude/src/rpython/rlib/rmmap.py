"""Files and anonymous memory mapped into the address space.

Except where it says so, methods of an MMap rely on the caller having asked `check_valid()`
and, before writing, `check_writeable()`.
"""
import os

from rpython.rlib import rposix_stat
from rpython.rlib._rposix_c import _c, _cast, _checked, _failed
from rpython.rlib.objectmodel import specialize
from rpython.rlib.rarithmetic import intmask
from rpython.rtyper.lltypesystem import lltype, rffi

_POSIX, _MS_WINDOWS = True, False

PTR = rffi.CCHARP
NULL = NODATA = lltype.nullptr(PTR.TO)

# Linux on x86-64.
constants = {
    'PROT_READ': 1, 'PROT_WRITE': 2, 'PROT_EXEC': 4,
    'MAP_SHARED': 1, 'MAP_PRIVATE': 2, 'MAP_FIXED': 0x10, 'MAP_ANON': 0x20,
    'MAP_ANONYMOUS': 0x20, 'MAP_DENYWRITE': 0x800, 'MAP_EXECUTABLE': 0x1000,
    'MAP_NORESERVE': 0x4000, 'MAP_POPULATE': 0x8000,
    'MS_SYNC': 4, 'MREMAP_MAYMOVE': 1, 'has_mremap': True, 'has_madvise': True,
    'MADV_NORMAL': 0, 'MADV_RANDOM': 1, 'MADV_SEQUENTIAL': 2, 'MADV_WILLNEED': 3,
    'MADV_DONTNEED': 4, 'MADV_FREE': 8, 'MADV_REMOVE': 9, 'MADV_DONTFORK': 10,
    'MADV_DOFORK': 11, 'MADV_MERGEABLE': 12, 'MADV_UNMERGEABLE': 13, 'MADV_HUGEPAGE': 14,
    'MADV_NOHUGEPAGE': 15, 'MADV_DONTDUMP': 16, 'MADV_DODUMP': 17, 'MADV_HWPOISON': 100,
    'MADV_SOFT_OFFLINE': 101, 'MADV_NOSYNC': None, 'MADV_AUTOSYNC': None,
    'MADV_NOCORE': None, 'MADV_CORE': None, 'MADV_PROTECT': None,
}
globals().update(constants)

_ACCESS_DEFAULT, ACCESS_READ, ACCESS_WRITE, ACCESS_COPY = range(4)
PAGESIZE = ALLOCATIONGRANULARITY = 4096
HAVE_LARGEFILE_SUPPORT = False

_S_IFMT, _S_IFREG = 0170000, 0100000

_ULONG, _INT, _LONG = rffi.ULONG, rffi.INT, rffi.LONG
_c_mmap = _c('mmap', [PTR, _ULONG, _INT, _INT, _INT, _LONG], PTR)
_c_munmap = _c('munmap', [PTR, _ULONG], _INT)
_c_msync = _c('msync', [PTR, _ULONG, _INT], _INT)
_c_mremap = _c('mremap', [PTR, _ULONG, _ULONG, _INT], PTR)
_c_madvise = _c('madvise', [PTR, _ULONG, _INT], _INT)
_c_memmove = _c('memmove', [PTR, PTR, _ULONG], PTR)


class RMMapError(Exception):
    """A mapping refuses something by itself."""

    def __init__(self, message):
        self.message = message


class RValueError(RMMapError):
    """What Python programs see as a ValueError."""


class RTypeError(RMMapError):
    """What Python programs see as a TypeError."""


def c_mmap_safe(address, size, prot, flags, fd, offset):
    return _c_mmap(address, _cast(_ULONG, size), _cast(_INT, prot), _cast(_INT, flags),
                   _cast(_INT, fd), _cast(_LONG, offset))

c_mmap = c_mmap_safe

def c_munmap_safe(address, size):
    return _c_munmap(address, _cast(_ULONG, size))

def c_madvise_safe(address, size, advice):
    return _c_madvise(address, _cast(_ULONG, size), _cast(_INT, advice))

def c_memmove(dest, source, count):
    _c_memmove(dest, source, _cast(_ULONG, count))

def _is_failure(address):
    return rffi.cast(lltype.Signed, address) == -1


class MMap(object):
    """`size` bytes of memory from `data` on, which are those of a file, copies of them, or
    of no file at all (`fd` is -1); `pos` is where the next read or write goes."""

    def __init__(self, access, offset):
        self.setdata(NODATA, 0)
        self.access, self.offset = access, offset
        self.pos = 0
        self.fd = -1
        self.closed = False

    def setdata(self, data, size):
        assert size >= 0
        self.data = data
        self.size = size

    def check_valid(self):
        if self.closed:
            raise RValueError("mmap closed or invalid")

    def check_writeable(self):
        if self.access == ACCESS_READ:
            raise RTypeError("mmap can't modify a readonly memory map.")

    def check_resizeable(self):
        if self.access == ACCESS_READ or self.access == ACCESS_COPY:
            raise RTypeError("mmap can't resize a readonly or copy-on-write memory map.")

    # The mapping as a whole.

    def unmap(self):
        self.unmap_range(0, self.size)

    def unmap_range(self, offset, size):
        """Gives whole pages back; the offset is that of a page."""
        c_munmap_safe(self.getptr(offset), size)

    def close(self):
        self.closed = True
        fd = self.fd
        if fd != -1:
            self.fd = -1
            os.close(fd)
        if self.size != 0:
            self.unmap()
        self.setdata(NODATA, 0)

    def __del__(self):
        self.close()

    def len(self):
        return self.size

    def file_size(self):
        """The size of the file, which may be more than what is mapped."""
        return rposix_stat.fstat(self.fd).st_size

    def flush(self, offset=0, size=0):
        """Writes what has changed to the file; without a size, all of it."""
        end = offset + (size or self.size)
        if not 0 <= offset <= end <= self.size:
            raise RValueError("flush values out of range")
        size = end - offset
        _checked(_c_msync(self.getptr(offset), _cast(_ULONG, size), _cast(_INT, MS_SYNC)),
                 'msync')
        return 0

    def resize(self, newsize):
        """Makes mapping and file longer or shorter; the data may move."""
        if self.fd >= 0:
            os.ftruncate(self.fd, self.offset + newsize)
        data = _c_mremap(self.data, _cast(_ULONG, self.size), _cast(_ULONG, newsize),
                         _cast(_INT, MREMAP_MAYMOVE))
        if _is_failure(data):
            raise _failed('mremap')
        self.setdata(data, newsize)

    def madvise(self, flags, start, end):
        """Says how `end` bytes from `start` on are going to be used."""
        _checked(c_madvise_safe(self.getptr(start), end, flags), 'madvise')

    # The position.

    def tell(self):
        return self.pos

    def seek(self, pos, whence=0):
        """Goes to a place relative to the start (0), to where it is (1) or the end (2)."""
        if whence == 0:
            where = pos
        elif whence == 1:
            where = self.pos + pos
        elif whence == 2:
            where = self.size + pos
        else:
            raise RValueError("unknown seek type")
        if where < 0 or where > self.size:
            raise RValueError("seek out of range")
        self.pos = intmask(where)

    # Reading.

    def getptr(self, offset):
        return rffi.ptradd(self.data, offset)

    def getslice(self, start, length):
        """length characters from start on, none if it is negative."""
        return rffi.charpsize2str(self.getptr(start), max(length, 0))

    def getitem(self, index):
        """One character; negative indices count from the end."""
        self.check_valid()
        at = index if index >= 0 else index + self.size
        return self.data[at]

    def _read_to(self, end):
        result = self.getslice(self.pos, end - self.pos)
        self.pos += len(result)
        return result

    def read_byte(self):
        pos = self.pos
        if pos >= self.size:
            raise RValueError("read byte out of range")
        self.pos = pos + 1
        return self.data[pos]

    def read(self, num=-1):
        """That many bytes or what is left, which is also what a negative number asks for."""
        end = self.size
        if num >= 0:
            end = min(end, self.pos + num)
        return self._read_to(end)

    def readline(self):
        """Up to the next line feed, with it, or the end."""
        end = self.pos
        while end < self.size:
            end += 1
            if self.data[end - 1] == '\n':
                break
        return self._read_to(max(end, self.pos))

    def _clipped(self, index):
        if index < 0:
            index += self.size
        return max(index, 0)

    def _is_at(self, tofind, place):
        for i in range(len(tofind)):
            if self.data[place + i] != tofind[i]:
                return False
        return True

    def find(self, tofind, start, end, reverse=False):
        """Where a text is between two indexes (which count from the end if negative) for
        the first time, or for the last; -1 if nowhere."""
        start = self._clipped(start)
        last = min(self._clipped(end), self.size) - len(tofind)
        if reverse:
            place = last
            while place >= start:
                if self._is_at(tofind, place):
                    return place
                place -= 1
        else:
            place = start
            while place <= last:
                if self._is_at(tofind, place):
                    return place
                place += 1
        return -1

    # Writing.

    def setitem(self, index, value):
        if len(value) != 1:
            raise RValueError("mmap assignment must be single-character string")
        if index < 0:
            index += self.size
        self.data[index] = value[0]

    def setslice(self, start, newdata):
        data = self.data
        for i in range(len(newdata)):
            data[start + i] = newdata[i]

    def write(self, data):
        end = self.pos + len(data)
        if end > self.size:
            raise RValueError("data out of range")
        self.setslice(self.pos, data)
        self.pos = end
        return len(data)

    def write_byte(self, byte):
        if len(byte) != 1:
            raise RTypeError("write_byte() argument must be char")
        pos = self.pos
        if pos >= self.size:
            raise RValueError("write byte out of range")
        self.data[pos] = byte[0]
        self.pos = pos + 1

    def move(self, dest, src, count):
        """Copies bytes within the mapping; the ranges may overlap."""
        size = self.size
        if src < 0 or dest < 0 or count < 0 or src + count > size or dest + count > size:
            raise RValueError("source or destination out of range")
        c_memmove(self.getptr(dest), self.getptr(src), count)


def _mapped_size(fd, length, offset):
    """How many bytes to map: those asked for, or with 0 what a file has from the offset."""
    try:
        st = rposix_stat.fstat(fd)
    except OSError:
        return length  # the mapping itself will tell
    if st.st_mode & _S_IFMT != _S_IFREG:
        return length
    size = st.st_size
    if length == 0:
        if size == 0:
            raise RValueError("cannot mmap an empty file")
        if offset > size:
            raise RValueError("mmap offset is greater than file size")
        return size - offset
    if offset + length > size:
        raise RValueError("mmap length is greater than file size")
    return length


def mmap(fileno, length, flags=MAP_SHARED, prot=PROT_WRITE | PROT_READ,
         access=_ACCESS_DEFAULT, offset=0):
    """Maps a file, all of it if `length` is 0, or with -1 memory of no file. Either `access`
    says how, or `flags` and `prot` do."""
    if access != _ACCESS_DEFAULT and (flags != MAP_SHARED or prot != PROT_WRITE | PROT_READ):
        raise RValueError("mmap can't specify both access and flags, prot.")
    if length < 0:
        raise RTypeError("memory mapped size must be positive")
    if offset < 0:
        raise RValueError("negative offset")
    if access == ACCESS_READ:
        prot = PROT_READ
    elif access == ACCESS_COPY:
        flags = MAP_PRIVATE
    elif access == _ACCESS_DEFAULT:
        if prot & PROT_WRITE == 0:
            access = ACCESS_READ
        elif prot & PROT_READ == 0:
            access = ACCESS_WRITE
    elif access != ACCESS_WRITE:
        raise RValueError("mmap invalid access parameter.")
    size = _mapped_size(fileno, length, offset)
    m = MMap(access, offset)
    if fileno == -1:
        flags |= MAP_ANONYMOUS
    else:
        m.fd = os.dup(fileno)
    data = c_mmap(NULL, size, prot, flags, fileno, offset)
    if _is_failure(data):
        raise _failed('mmap')
    m.setdata(data, size)
    return m

# ____________________________________________________________ memory without an object

def alloc_hinted(hintp, map_size):
    """Memory that can hold machine code, if possible at that address."""
    return c_mmap_safe(hintp, map_size, PROT_EXEC | PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)

def alloc(map_size):
    """Memory that can hold machine code."""
    data = alloc_hinted(NULL, map_size)
    if _is_failure(data):
        raise MemoryError
    return data

def free(address, map_size):
    return c_munmap_safe(address, map_size)

@specialize.argtype(0)
def clear_large_memory_chunk_aligned(addr, map_size):
    """Makes whole pages zeroes; whether that could be done."""
    addr = rffi.cast(PTR, addr)
    return c_mmap_safe(addr, map_size, PROT_READ | PROT_WRITE,
                       MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == addr

@specialize.argtype(0)
def madvise_free(addr, map_size):
    """Says that what is in these pages is not needed any more."""
    addr = rffi.cast(PTR, addr)
    if rffi.cast(lltype.Signed, c_madvise_safe(addr, map_size, MADV_FREE)) != 0:
        c_madvise_safe(addr, map_size, MADV_DONTNEED)

def enter_assembler_writing():
    pass

def leave_assembler_writing():
    pass
