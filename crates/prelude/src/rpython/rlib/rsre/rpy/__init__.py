"""Regular expressions, made into code while a program is imported."""
from rpython.rlib.rsre.rpy._sre import VERSION, get_code
