"""What is wrong with regular expressions, and the numbers of `sre`."""
from rpython.rlib.rsre.rsre_constants import *


class error(Exception):
    """Not a regular expression."""
