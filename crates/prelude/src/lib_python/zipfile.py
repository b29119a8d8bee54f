"""Names of the zip format; archives are read by rpython.rlib.rzipfile."""

ZIP_STORED = 0
ZIP_DEFLATED = 8


class BadZipfile(Exception):
    pass

error = BadZipfile
