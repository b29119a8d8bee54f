"""Declarations of low-level types in C, for programs that write headers while they load."""
from rpython.rtyper.lltypesystem import lltype, llmemory, rffi
from rpython.tool.cparser.model import C_NAMES

_NAMES = [
    (lltype.Signed, 'Signed'), (lltype.Unsigned, 'size_t'), (lltype.Float, 'double'),
    (lltype.SingleFloat, 'float'), (lltype.Char, 'char'), (lltype.UniChar, 'wchar_t'),
    (lltype.Bool, 'bool_t'), (lltype.Void, 'void'), (llmemory.Address, 'void*'),
    (llmemory.GCREF, 'void*'),
]

# By size. Where signs differ the names do, too.
_INTEGERS = {1: ('signed char', 'unsigned char'), 2: ('short', 'unsigned short'),
             4: ('int', 'unsigned int'), 8: ('long long', 'unsigned long long'),
             16: ('__int128_t', '__uint128_t')}


class LowLevelDatabase(object):
    """Types have their names of C. A struct has that of the declaration that it was made of,
    or its own as a tag, which a header of the program declares; an opaque type has the name in
    rffi.COpaque()."""

    def __init__(self, translator=None):
        self.translator = translator

    def gettype(self, T, varlength=None, who_asks=None, argnames=()):
        """The declaration of something of a type, with an @ for what is declared."""
        # It is the same type as CCHARP, and another object.
        if T is rffi.VOIDP or T is rffi.CONST_VOIDP:
            return 'void *@'
        for known, name in _NAMES:
            if T == known:
                return name + ' @'
        if isinstance(T, lltype.Ptr):
            return self._pointer(T.TO)
        if isinstance(T, lltype.Number):
            size, unsigned = rffi.size_and_sign(T)
            return _INTEGERS[size][unsigned] + ' @'
        if isinstance(T, lltype.FuncType):
            return self._function(T, argnames)
        if isinstance(T, lltype.FixedSizeArray):
            return self.gettype(T.OF).replace('@', '@[%d]' % T.length)
        if isinstance(T, lltype.Struct) and T._gckind == 'raw':
            if T._name.startswith('C '):
                return T._name[2:] + ' @'       # opaque, of a known size
            return C_NAMES.get(T, 'struct ' + T._name) + ' @'
        if isinstance(T, lltype.OpaqueType) and T.__name__.startswith('C '):
            return T.__name__[2:] + ' @'
        raise TypeError("%s is no type of C" % (T,))

    def _pointer(self, T):
        if isinstance(T, lltype.Array) and T._hints.get('nolength'):
            return self.gettype(T.OF).replace('@', '*@')
        if isinstance(T, lltype.FixedSizeArray):
            return self.gettype(T.OF).replace('@', '(*@)[%d]' % T.length)
        return self.gettype(T).replace('@', '*@')

    def _function(self, T, argnames):
        args = []
        for i, ARG in enumerate(T.ARGS):
            if ARG != lltype.Void:
                name = argnames[i] if i < len(argnames) else ''
                args.append(self.gettype(ARG).replace('@', name).strip())
        return self.gettype(T.RESULT).replace('@', '(@)(%s)' % (', '.join(args) or 'void'))
