import os
import sys

cdir = '/translator/c'
for _folder in [_entry for _entry in sys.path if isinstance(_entry, str)]:
    # C sources are only in a checkout of the original toolchain.
    _folder = os.path.join(_folder, 'rpython/translator/c')
    if os.path.isdir(_folder):
        cdir = _folder
