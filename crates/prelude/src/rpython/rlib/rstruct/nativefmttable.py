"""How the machine lays out numbers: what packs and unpacks the values of native `struct`
formats. Places of numbers are multiples of their sizes (`alignment`)."""
from rpython.rlib import rutf8
from rpython.rlib.longlong2float import singlefloat2uint
from rpython.rlib.objectmodel import specialize
from rpython.rlib.rarithmetic import intmask, r_singlefloat, r_uint
from rpython.rlib.rstruct import standardfmttable as std
from rpython.rlib.rstruct.error import StructError
from rpython.rlib.rstruct.standardfmttable import native_is_bigendian, native_is_ieee754


def pack_float(fmtiter):
    """What is too large for the format becomes infinite."""
    value = r_singlefloat(fmtiter.accept_float_arg())
    std.pack_bits(fmtiter, r_uint(singlefloat2uint(value)), 4)

# Characters of unicode: no code of `struct`, but of arrays.

def pack_unichar(fmtiter):
    utf8, length = fmtiter.accept_unicode_arg()
    if length != 1:
        raise StructError("expected a unicode string of length 1")
    std.pack_bits(fmtiter, r_uint(rutf8.codepoint_at_pos(utf8, 0)), 4)

@specialize.argtype(0)
def unpack_unichar(fmtiter):
    fmtiter.append_utf8(intmask(std.unpack_bits(fmtiter, 4)))


native_fmttable = dict((code, std.standard_fmttable[code]) for code in 'xcsp')

for _code, _size in dict(b=1, h=2, i=4, l=8, q=8, n=8).items():
    native_fmttable[_code] = std.int_entry(_size, True)
    native_fmttable[_code.upper()] = std.int_entry(_size, False)
native_fmttable['P'] = std.int_entry(8, False)
for _code in '?ed':
    native_fmttable[_code] = dict(std.standard_fmttable[_code])
native_fmttable['f'] = dict(std.standard_fmttable['f'], pack=pack_float)
native_fmttable['u'] = {'size': 4, 'pack': pack_unichar, 'unpack': unpack_unichar}
for _code in native_fmttable:
    if _code not in 'xcsp':
        native_fmttable[_code]['alignment'] = native_fmttable[_code]['size']

sizeof_double = 8
sizeof_float = 4
