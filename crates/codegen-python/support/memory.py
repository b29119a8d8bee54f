# ------------------------------------------------------------------------------
# Raw memory, which is that of the process
# ------------------------------------------------------------------------------

import ctypes

process = ctypes.CDLL(None, use_errno=True)
process.malloc.restype = process.calloc.restype = ctypes.c_void_p
process.malloc.argtypes = [ctypes.c_size_t]
process.calloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
process.free.argtypes = [ctypes.c_void_p]

# How values lie in memory: 'P' is an address, 'O' an object of Python, by its number.
C_TYPES = {
    '?': ctypes.c_uint8, 'b': ctypes.c_int8, 'B': ctypes.c_uint8, 'h': ctypes.c_int16,
    'H': ctypes.c_uint16, 'i': ctypes.c_int32, 'I': ctypes.c_uint32, 'q': ctypes.c_int64,
    'Q': ctypes.c_uint64, 'd': ctypes.c_double, 'f': ctypes.c_float, 'P': ctypes.c_uint64,
    'O': ctypes.c_uint64,
}

# Objects that have a number, which passes for their address. Nothing else is there.
FIRST_NUMBER = 0x4000_0000_0000_0000
objects_by_number = {}
numbers_by_id = {}


def number_of_object(p):
    """The number of an object, which lives for ever from now on."""
    n = numbers_by_id.get(id(p))
    if n is None:
        n = FIRST_NUMBER + ((len(objects_by_number) + 1) << 32)
        numbers_by_id[id(p)] = n
        objects_by_number[n] = p
    return n


class Within:
    """A place in the items of an array that is an object, by bytes."""

    __slots__ = ('items', 'size', 'code', 'at', 'room')

    def __init__(self, items, size, code, at, room=False):
        self.items = items
        self.size = size
        self.code = code
        self.at = at
        # The item behind the last one may be read and written, and stays 0: it is for the end of a C string.
        self.room = room

    def read(self, count):
        if count == 0:
            return b''
        first, last = self.at // self.size, (self.at + count - 1) // self.size
        if first < 0 or last >= len(self.items):
            raise Fault('access out of the bounds of an array')
        part = b''.join(packed(self.code, v) for v in self.items[first:last + 1])
        skipped = self.at - first * self.size
        return part[skipped:skipped + count]

    def write(self, data):
        if not data:
            return
        first, last = self.at // self.size, (self.at + len(data) - 1) // self.size
        start = Within(self.items, self.size, self.code, first * self.size)
        part = bytearray(start.read((last + 1 - first) * self.size))
        skipped = self.at - first * self.size
        part[skipped:skipped + len(data)] = data
        for i in range(first, last + 1):
            at = (i - first) * self.size
            self.items[i] = unpacked(self.code, bytes(part[at:at + self.size]))


class FieldPlace:
    """A field of an object."""

    __slots__ = ('object', 'name')

    def __init__(self, object, name):
        self.object = object
        self.name = name


def packed(code, value):
    """The bytes of a value."""
    if code in 'wW':
        return (value & ((1 << 128) - 1)).to_bytes(16, 'little')
    if code in 'PO':
        return (number_of(value) & 0xffffffffffffffff).to_bytes(8, 'little')
    return struct.pack('<' + code, value)


def unpacked(code, data):
    if code in 'wW':
        return int.from_bytes(data, 'little', signed=code == 'w')
    if code in 'PO':
        n = int.from_bytes(data, 'little')
        return object_of_number(n) if code == 'O' else address_of_number(n)
    return struct.unpack('<' + code, data)[0]


def size_of_code(code):
    return 16 if code in 'wW' else ctypes.sizeof(C_TYPES[code])


def as_address(p):
    """A pointer to an object as a raw one."""
    return 0 if p is None else p


def as_object(p):
    """A raw pointer as one to an object."""
    if type(p) is int:
        return object_of_number(p)
    if type(p) is Within and p.at == 0:
        return p.items
    return p


def number_of(p):
    """A pointer as a number."""
    if type(p) is int:
        return signed(p)
    if p is None:
        return 0
    if type(p) is Within:
        return number_of_object(p.items) + p.at
    return number_of_object(p)


def object_of_number(n):
    n &= 0xffffffffffffffff
    return None if n == 0 else objects_by_number.get(n, n)


def address_of_number(n):
    n &= 0xffffffffffffffff
    return objects_by_number.get(n, n) if n >= FIRST_NUMBER else n


def same(a, b):
    """Whether two pointers, one of which may be raw, are equal."""
    if a is b:
        return True
    if type(a) is int or type(b) is int:
        return a == b and type(a) is type(b)
    if type(a) is Within and type(b) is Within:
        return a.items is b.items and a.at == b.at
    if type(a) is FieldPlace and type(b) is FieldPlace:
        return a.object is b.object and a.name == b.name
    if type(a) is Within:
        return a.items is b and a.at == 0
    return type(b) is Within and b.items is a and b.at == 0


def address_add(p, n):
    if type(p) is int:
        return (p + n) & 0xffffffffffffffff
    if n == 0:
        return p
    if type(p) is Within:
        return Within(p.items, p.size, p.code, p.at + n, p.room)
    if type(p) is rpy_string:
        return Within(p.chars, 1, 'B', n - 24, True)
    if type(p) is bytearray:
        return Within(p, 1, 'B', n - 16)
    raise Fault('an address inside of an object')


def usable(p):
    if p < 4096:
        raise Fault('null pointer dereference')
    return p


def load(p, code):
    """The value that a pointer refers to."""
    if type(p) is int:
        if code in 'wW':
            return unpacked(code, ctypes.string_at(usable(p), 16))
        value = C_TYPES[code].from_address(usable(p)).value
        if code == '?':
            return value != 0
        if code in 'PO':
            return object_of_number(value) if code == 'O' else address_of_number(value)
        return value
    if type(p) is Within:
        if code == p.code and p.at % p.size == 0:
            at = p.at // p.size
            if not 0 <= at < len(p.items):
                if p.room and at == len(p.items):
                    return 0
                raise Fault('access out of the bounds of an array')
            return p.items[at]
        return unpacked(code, p.read(size_of_code(code)))
    if type(p) is FieldPlace:
        return getattr(p.object, p.name)
    raise Fault('null pointer dereference' if p is None else 'load of a whole object')


def store(p, code, value):
    if type(p) is int:
        if code in 'wW':
            ctypes.memmove(usable(p), packed(code, value), 16)
            return
        if code in 'PO':
            value = number_of(value) & 0xffffffffffffffff
        C_TYPES[code].from_address(usable(p)).value = value
    elif type(p) is Within:
        if code == p.code and p.at % p.size == 0:
            at = p.at // p.size
            if not 0 <= at < len(p.items):
                if p.room and at == len(p.items):
                    return
                raise Fault('access out of the bounds of an array')
            p.items[at] = value
        else:
            p.write(packed(code, value))
    elif type(p) is FieldPlace:
        setattr(p.object, p.name, value)
    else:
        raise Fault('null pointer dereference' if p is None else 'store of a whole object')


def getfield(p, name, offset, code):
    """A field of a struct behind a pointer that may be raw."""
    if type(p) is int:
        return load(p + offset, code) if p else load(0, code)
    if type(p) is Within:
        return load(address_add(p, offset), code)
    return getattr(p, name)


def setfield(p, name, offset, code, value):
    if type(p) is int:
        store(p + offset if p else 0, code, value)
    elif type(p) is Within:
        store(address_add(p, offset), code, value)
    else:
        setattr(p, name, value)


def field_at(p, name, offset):
    """A struct or an array inside of another one."""
    if type(p) is int:
        return usable(p) + offset
    if type(p) is Within:
        return address_add(p, offset)
    return getattr(p, name) if name else p


def field_pointer(p, name, offset):
    if type(p) is int:
        return usable(p) + offset
    if type(p) is Within:
        return address_add(p, offset)
    return FieldPlace(p, name)


def getitem(p, index, start, size, code):
    """An item of an array behind a pointer that may be raw."""
    if type(p) is int:
        return load(usable(p) + start + index * size, code)
    if type(p) is Within:
        return load(address_add(p, index * size), code)
    if type(p) is FieldPlace and index == 0:
        return load(p, code)
    if index < 0:
        raise Fault('access out of the bounds of an array')
    return p[index]


def setitem(p, index, start, size, code, value):
    if type(p) is int:
        store(usable(p) + start + index * size, code, value)
    elif type(p) is Within:
        store(address_add(p, index * size), code, value)
    elif type(p) is FieldPlace and index == 0:
        store(p, code, value)
    elif index < 0:
        raise Fault('access out of the bounds of an array')
    else:
        p[index] = value


def item_at(p, index, start, size):
    if type(p) is int:
        return usable(p) + start + index * size
    if type(p) is Within:
        return address_add(p, index * size)
    return p[index]


def items_pointer(p, start, size, code):
    """Where the items of an array are."""
    if type(p) is int:
        return usable(p) + start
    if type(p) is Within:
        return p
    if p is None:
        raise Fault('null pointer dereference')
    return Within(p, size, code, 0) if code else p


def length(p, offset):
    return load(usable(p) + offset, 'q') if type(p) is int else len(p)


def raw_malloc(size, zero):
    if not 0 <= size < 1 << 31:
        raise Raised(*OUT_OF_MEMORY)
    p = process.calloc(max(size, 1), 1) if zero else process.malloc(max(size, 1))
    if not p:
        raise Raised(*OUT_OF_MEMORY)
    return p


def raw_array(n, empty_size, size, length_at, zero):
    """Raw memory for an array of so many items; empty_size is what it takes without any."""
    p = raw_malloc(empty_size + allocated(n, size) * size, zero)
    if length_at is not None:
        store(p + length_at, 'q', n)
    return p


def raw_free(p):
    if type(p) is int:
        process.free(p)


def memory_read(p, count):
    """Bytes that a pointer refers to."""
    if type(p) is int:
        return ctypes.string_at(usable(p), count) if count else b''
    if type(p) is Within:
        return p.read(count)
    if type(p) is bytearray:
        return bytes(p[:count])
    raise Fault('bytes of an object')


def memory_write(p, data):
    if type(p) is int:
        if data:
            ctypes.memmove(usable(p), bytes(data), len(data))
    elif type(p) is Within:
        p.write(data)
    elif type(p) is bytearray:
        p[:len(data)] = data
    else:
        raise Fault('bytes of an object')


def memory_fill(p, byte, count):
    memory_write(p, bytes([byte & 0xff]) * count)


def memory_copy(source, dest, count):
    memory_write(dest, memory_read(source, count))
