"""C calls while programs load, which there are none of."""

# What C code would still be using, by address.
ALLOCATED = {}
