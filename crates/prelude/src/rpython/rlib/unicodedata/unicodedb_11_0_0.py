"""Unicode 11.0.0."""
from rpython.rlib.unicodedata._database import functions

version = '11.0.0'
globals().update(functions(version))
