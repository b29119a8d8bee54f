"""Checks and the end of the program, for low-level code."""
from rpython.rlib.debug import fatalerror, fatalerror_notb, ll_assert, ll_assert_not_none
