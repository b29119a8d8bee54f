"""Low-level forms of library functions."""
