# ------------------------------------------------------------------------------
# Functions of C
# ------------------------------------------------------------------------------


def load_library(text):
    """A shared object, from its bytes in hexadecimal."""
    fd = os.memfd_create('c-library')
    os.write(fd, bytes.fromhex(text))
    return ctypes.CDLL('/proc/self/fd/%d' % fd, use_errno=True)


errno_places = []


def errno_place():
    """Where programs find errno: the process's own is Python's, too."""
    if not errno_places:
        errno_places.append(raw_malloc(4, True))
    return errno_places[0]


def c_function(library, symbol, result, args):
    """A function of C as one of Python. Letters say what it takes and returns, `-` nothing; a pair what
    a function takes and returns that it is given."""
    if symbol == '__errno_location':
        return errno_place
    try:
        f = library[symbol]
    except AttributeError:
        def missing(*args):
            raise Fault('there is no C function ' + symbol)
        return missing
    f.restype = None if result == '-' else C_TYPES[result]
    f.argtypes = [C_TYPES[c if type(c) is str else 'P'] for c in args]

    def call(*values):
        given, copies = [], []
        for code, value in zip(args, values):
            if type(code) is tuple:
                value = function_for_c(value, *code)
            elif code in 'PO':
                value = passed_to_c(value, copies)
            given.append(value)
        ctypes.set_errno(load(errno_place(), 'i'))
        value = f(*given)
        # Programs save it from there themselves.
        store(errno_place(), 'i', ctypes.get_errno())
        for place, copy in copies:
            memory_write(place, copy.raw[:-1])
        if result == '?':
            return value != 0
        if result == 'O':
            return object_of_number(value)
        return address_of_number(value or 0) if result == 'P' else value

    return call


def passed_to_c(p, copies):
    """The address of what C is given: of items of an array, that of a copy."""
    if type(p) is bytearray:
        p = Within(p, 1, 'B', 0)
    if type(p) is not Within:
        return number_of(p) & 0xffffffffffffffff
    size = len(p.items) * p.size - p.at
    copy = ctypes.create_string_buffer(p.read(size))
    copies.append((p, copy))
    return ctypes.addressof(copy)


callbacks = {}


def function_for_c(f, result, args):
    """The address by which C calls a function of the program."""
    if f is None or type(f) is int:
        return f or 0
    if f not in callbacks:
        types = [C_TYPES[c if type(c) is str else 'P'] for c in args]
        prototype = ctypes.CFUNCTYPE(None if result == '-' else C_TYPES[result], *types)

        def call(*values):
            given = (address_of_number(v) if c in 'PO' else v for c, v in zip(args, values))
            value = f(*given)
            return number_of(value) & 0xffffffffffffffff if result in 'PO' else value

        callbacks[f] = prototype(call)
    return ctypes.cast(callbacks[f], ctypes.c_void_p).value
