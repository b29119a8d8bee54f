"""Sizes and signs of the C types of a machine, asked of its C compiler one by one."""
from rpython.rlib import rarithmetic
from rpython.rtyper.lltypesystem import lltype
from rpython.rtyper.tool.rffi_platform import ask_statements, ask_values
from rpython.translator.tool.cbuild import ExternalCompilationInfo

_HEADERS = ['stdlib.h', 'sys/types.h', 'inttypes.h']


def _information(add_source=""):
    return ExternalCompilationInfo(includes=_HEADERS, post_include_bits=[add_source])

def ask_gcc(question, add_source="", ignore_errors=False):
    """What a C program with that statement prints."""
    return '\n'.join(ask_statements(_information(add_source), [str(question)]))

def sizeof_c_types(typenames_c, add_source="", ignore_errors=False):
    values = [(name, 'i', 'sizeof(%s)' % name) for name in typenames_c]
    [said] = ask_values(_information(add_source), [((), values)])
    return [said[name] for name in typenames_c]

def sizeof_c_type(c_typename, **kwds):
    return sizeof_c_types([c_typename], **kwds)[0]

def signof_c_type(c_typename, add_source="", ignore_errors=False):
    """Whether there are negative values."""
    value = 'signed', 'i', '(%s)-1 <= (%s)0' % (c_typename, c_typename)
    [said] = ask_values(_information(add_source), [((), [value])])
    return said['signed'] == 1


class Platform(object):
    """The integer types that were asked for, by the name of their low-level type."""

    def __init__(self):
        self.types = {}
        self.numbertype_to_rclass = {}

    def inttype(self, name, c_name, signed, **kwds):
        if name not in self.types:
            self._make_type(name, signed, sizeof_c_type(c_name, **kwds))
        return self.types[name]

    def _make_type(self, name, signed, size):
        rclass = rarithmetic.build_int('r_' + name, signed, 8 * size)
        self.types[name] = TYPE = lltype.build_number(name, rclass)
        self.numbertype_to_rclass[TYPE] = rclass
        return TYPE

platform = Platform()
