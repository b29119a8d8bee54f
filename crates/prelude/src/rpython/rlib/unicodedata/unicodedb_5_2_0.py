"""Unicode 5.2.0."""
from rpython.rlib.unicodedata._database import functions

version = '5.2.0'
globals().update(functions(version))
