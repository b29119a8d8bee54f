"""What is wrong with regular expressions, and the numbers of `sre`."""
from rpython.rlib.rsre import rsre_constants
from rpython.rlib.rsre.rsre_constants import *


class error(Exception):
    """Not a regular expression."""


# The numbers of operations by their names in `sre`.
OPCODES = {}
for _name, _number in rsre_constants.OPCODES.items():
    if _number is not None:
        OPCODES[_name.lower()] = _number
