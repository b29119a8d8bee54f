"""Unicode 12.1.0."""
from rpython.rlib.unicodedata._database import functions

version = '12.1.0'
globals().update(functions(version))
