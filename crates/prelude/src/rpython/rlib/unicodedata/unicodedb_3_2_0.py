"""Unicode 3.2.0."""
from rpython.rlib.unicodedata._database import functions

version = '3.2.0'
globals().update(functions(version))
