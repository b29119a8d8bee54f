"""What names a file: byte strings, unicode strings of ASCII, and objects that have a method
`as_bytes()`."""
from rpython.rlib.objectmodel import specialize
from rpython.rlib.rstring import assert_str0


@specialize.argtype(0)
def _as_bytes(path):
    assert path is not None
    if isinstance(path, str):
        return path
    elif isinstance(path, unicode):
        return path.encode('ascii')
    else:
        return path.as_bytes()


@specialize.argtype(0)
def _as_bytes0(path):
    """The same, which C code may read up to its end."""
    path = _as_bytes(path)
    assert path is not None
    return assert_str0(path)
