"""Where libraries are."""
from _taipan import find_library
