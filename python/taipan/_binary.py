"""Where the compiler is."""

import os
import shutil
import sysconfig


def find_binary():
    """The path of the `taipan` binary.

    The variable TAIPAN names one; else it is the one that was installed with this package, or that is
    on PATH. Raises FileNotFoundError if there is none.
    """
    given = os.environ.get("TAIPAN")
    if given:
        return given
    schemes = [None, f"{os.name}_user"]
    for scheme in schemes:
        folder = sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts")
        path = os.path.join(folder, "taipan")
        if os.path.isfile(path):
            return path
    path = shutil.which("taipan")
    if path is None:
        raise FileNotFoundError("there is no `taipan` binary beside this package or on PATH")
    return path
