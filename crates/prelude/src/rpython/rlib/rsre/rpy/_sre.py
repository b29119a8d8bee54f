from rpython.rlib.rsre.rpy import sre_compile
from rpython.rlib.rsre.rpy.sre_parse import parse
from rpython.rlib.rsre.rsre_core import CompiledPattern

# Of the `sre` module whose language it is.
VERSION = '2.7.6'


def get_code(regexp, flags=0, allargs=False):
    """The code of a regular expression. With `allargs` also its flags and (number of
    groups, their numbers by name, their names by number)."""
    tree, groups, names, flags = parse(regexp, flags)
    code = CompiledPattern(sre_compile.code_of(tree, flags), flags, True)
    if not allargs:
        return code
    by_number = [None] * (groups + 1)
    for name in names:
        by_number[names[name]] = name
    return code, flags, (groups, names, by_number)
