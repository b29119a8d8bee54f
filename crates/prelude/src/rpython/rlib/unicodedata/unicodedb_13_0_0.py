"""Unicode 13.0.0."""
from rpython.rlib.unicodedata._database import functions

version = '13.0.0'
globals().update(functions(version))
