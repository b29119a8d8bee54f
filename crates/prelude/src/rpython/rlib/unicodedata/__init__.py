"""What is known of Unicode characters, in several versions of the standard.

Each `unicodedb_X_Y_Z` has the functions of `_properties`, `_casing`, `_decompositions` and
`_names`, and `version`. Characters are given by their codes. `unicodedb` is
`unicodedb_5_2_0`.
"""
