"""With what the program was compiled."""
from rpython.rlib.objectmodel import we_are_translated


def get_compiler_info():
    if we_are_translated():
        return "Taipan"
    return "(untranslated)"
