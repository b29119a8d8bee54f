"""`python -m taipan` is the binary."""

import os
import sys

from ._binary import find_binary

binary = find_binary()
os.execv(binary, [binary] + sys.argv[1:])
