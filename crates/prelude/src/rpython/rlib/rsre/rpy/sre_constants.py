class error(Exception):
    """Not a regular expression."""
