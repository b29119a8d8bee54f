#!/usr/bin/env python3
"""Import time beside CPython 2.7: what modules do while they load, as CPU seconds of whole processes, in turns.

    TAIPAN=target/release/taipan PYTHON2='python2.7' benches/import-time.py [--rounds N] [FILE.py...]

Each program of benches/importing/ (or each FILE) is checked without the cache and run by CPython. What a program that does
nothing takes is subtracted from both. A row: the least milliseconds of each, and Taipan's divided by CPython's; below them the
geometric mean.
"""
import argparse
import glob
import math
import os
import resource
import shlex
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.abspath(__file__))
NOTHING = "def main(argv):\n    return 0\n\n\ndef target(driver, args):\n    return main, None\n"


def cpu(words):
    """CPU milliseconds of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("files", nargs="*")
    arguments = parser.parse_args()
    files = arguments.files or sorted(glob.glob(os.path.join(ROOT, "importing", "*.py")))
    taipan = os.environ.get("TAIPAN", "taipan")
    python = shlex.split(os.environ.get("PYTHON2", "python2.7"))
    with tempfile.TemporaryDirectory() as folder:
        nothing = os.path.join(folder, "nothing.py")
        with open(nothing, "w") as f:
            f.write(NOTHING)
        least = {}
        for _ in range(arguments.rounds):
            for file in [nothing] + files:
                for words in ([taipan, "check", "--no-cache", file], python + ["-B", file]):
                    key = file, words[0]
                    least[key] = min(cpu(words), least.get(key, math.inf))
    product = 1.0
    print("%-16s %8s %8s %6s" % ("program", "taipan", "cpython", "ratio"))
    for file in files:
        own, other = (least[file, words] - least[nothing, words] for words in (taipan, python[0]))
        product *= own / other
        name = os.path.splitext(os.path.basename(file))[0]
        print("%-16s %6.1fms %6.1fms %6.2f" % (name, own, other, own / other))
    print("%-16s %17s %6.2f" % ("geometric mean", "", product ** (1 / len(files))))


if __name__ == "__main__":
    main()
