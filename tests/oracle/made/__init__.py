"""Random functions for the original toolchain and Taipan to disagree about.

Each module here makes functions of one subject. `make(rng)` returns the lines of a module that
defines `f`, and the argument tuples to call it with.
"""
from . import containers, exceptions, numbers, texts

SUBJECTS = {
    "cast": numbers.cast,
    "mixture": numbers.mixture,
    "arithmetic": numbers.arithmetic,
    "checked": numbers.checked,
    "floats": numbers.floats,
    "strings": texts.strings,
    "parsing": texts.parsing,
    "unicode": texts.unicodes,
    "codecs": texts.codecs,
    "formats": texts.formats,
    "lists": containers.lists,
    "dicts": containers.dicts,
    "r_dicts": containers.r_dicts,
    "flow": exceptions.flow,
    "identity": exceptions.identity,
}
