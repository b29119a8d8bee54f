"""Unicode 14.0.0."""
from rpython.rlib.unicodedata._database import functions

version = '14.0.0'
globals().update(functions(version))
