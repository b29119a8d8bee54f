"""Values of cases as text: arguments as literals, results as JSON would have them.

Python 2.7. Low-level strings, lists, tuples and instances are read, too.
"""
import re


def literal(x):
    """The text of a value as an argument of `taipan call`, or None."""
    if x is None or type(x) in (bool, int, float, str, unicode):
        return repr(x)
    if type(x) is long:
        return str(x)
    if type(x) in (list, tuple):
        parts = [literal(y) for y in x]
        if None in parts:
            return None
        if type(x) is list:
            return '[%s]' % ', '.join(parts)
        return '(%s)' % ''.join([p + ', ' for p in parts])
    return from_lowlevel(x)


def from_lowlevel(x):
    value = plain(x)
    if isinstance(value, (str, unicode)):
        return repr(value)
    return None


UNKNOWN = object()


def plain(x):
    """A result as JSON would have it; UNKNOWN where that is not known."""
    if x is None or type(x) in (bool, int):
        return x
    if type(x) is long:
        return int(x)
    if type(x) is float:
        if x != x:
            return 'nan'
        if x in (float('inf'), float('-inf')):
            return 'inf' if x > 0 else '-inf'
        return x
    if type(x) is str:
        return x
    if type(x) is unicode:
        return x
    if type(x) in (list, tuple):
        items = [plain(y) for y in x]
        return UNKNOWN if UNKNOWN in items else items
    if isinstance(x, long):
        return int(x)
    try:
        from rpython.rtyper.lltypesystem import lltype
        t = lltype.typeOf(x)
        if t == lltype.Void:
            return None
        if isinstance(t, lltype.Ptr):
            name = getattr(t.TO, '_name', '')
            if name in ('rpy_string', 'rpy_unicode'):
                if not x:
                    return None
                return ('' if name == 'rpy_string' else u'').join(list(x.chars))
            if not x:
                return None
            return container(x, t.TO)
    except Exception:
        pass
    return UNKNOWN


def container(x, t):
    """What a low-level tuple, list or instance holds; UNKNOWN for anything else."""
    from rpython.rtyper import rclass
    from rpython.rtyper.lltypesystem import lltype
    if isinstance(t, lltype.GcArray):
        if isinstance(t.OF, lltype.Struct):
            return UNKNOWN
        items = [plain(x[i]) for i in range(len(x))]
    elif t._name.startswith('tuple'):
        if lltype.Void in [t._flds[n] for n in t._names]:
            return UNKNOWN
        items = [plain(getattr(x, n)) for n in t._names]
    elif t._name == 'list':
        items = [plain(x.items[i]) for i in range(x.length)]
    elif lltype._castdepth(t, rclass.OBJECT) >= 0:
        name = lltype.cast_pointer(rclass.OBJECTPTR, x).typeptr.name
        return '<%s object>' % ''.join(list(name)).rstrip('\0').rsplit('.', 1)[-1]
    else:
        return UNKNOWN
    return UNKNOWN if UNKNOWN in items else items


def outcome(value):
    """What is expected of a case that gives this value."""
    return {'any': True} if value is UNKNOWN or has_address(value) else {'ok': value}


def has_address(value):
    """Whether a result tells where something is in memory."""
    if isinstance(value, list):
        return any([has_address(v) for v in value])
    if isinstance(value, str):
        return re.search('0x[0-9a-f]{6}', value) is not None
    # What CPython's `id` gives on x86-64.
    return isinstance(value, (int, long)) and value >> 40 in (0x55, 0x56, 0x7e, 0x7f)
