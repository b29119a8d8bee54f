"""The instructions of CPython, by name; functions have none of them here."""
from opcode import *


def dis(x=None):
    raise TypeError("functions have no CPython bytecode while a program loads")

disassemble = disco = distb = dis
