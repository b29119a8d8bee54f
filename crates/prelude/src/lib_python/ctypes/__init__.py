"""Of ctypes only `ctypes.util` is here: import time calls C functions by rffi."""
