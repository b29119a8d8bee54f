"""How the machine lays out numbers."""
native_is_bigendian = False
native_is_ieee754 = True
