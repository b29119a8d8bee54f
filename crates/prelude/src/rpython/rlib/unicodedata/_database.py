"""The functions of one version of the database."""
from rpython.rlib.unicodedata._casing import casing
from rpython.rlib.unicodedata._decompositions import decompositions
from rpython.rlib.unicodedata._names import naming
from rpython.rlib.unicodedata._properties import properties


def functions(version):
    """By their names. Each refers to the tables that it needs, so that programs keep those
    of the functions that they call."""
    result = properties(version)
    result.update(casing(version))
    result.update(decompositions(version))
    result.update(naming(version, result['category']))
    return result
