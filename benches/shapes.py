"""CPU time of `taipan check --no-cache` over shapes of programs at doubled sizes.

    python3 benches/shapes.py TAIPAN [SIZE...]
    python3 benches/shapes.py --keep FOLDER SIZE...

Prints the median of three runs for each shape and size, and the ratio to the size before; or writes
the programs into a folder.
"""

import os
import resource
import subprocess
import sys
import tempfile


def calls(size):
    """One function that calls so many others in one expression."""
    lines = []
    for i in range(size):
        lines += ["def f%d(n):" % i, "    return n + %d" % i]
    total = " + ".join("f%d(n)" % i for i in range(size))
    return lines + ["def entry_point(argv):", "    n = len(argv)", "    print " + total, "    return 0"]


def call_chain(size):
    """Functions each of which calls the one before."""
    lines = ["def f0(n):", "    return n"]
    for i in range(1, size):
        lines += ["def f%d(n):" % i, "    return f%d(n) + 1" % (i - 1)]
    return lines + ["def entry_point(argv):", "    print f%d(len(argv))" % (size - 1), "    return 0"]


def object_chain(size):
    """A list of prebuilt objects, linked one to the next."""
    return [
        "class Node(object):",
        "    def __init__(self, value, next):",
        "        self.value = value",
        "        self.next = next",
        "first = None",
        "for i in range(%d):" % size,
        "    first = Node(i, first)",
        "def entry_point(argv):",
        "    total = 0",
        "    node = first",
        "    while node is not None:",
        "        total += node.value",
        "        node = node.next",
        "    print total",
        "    return 0",
    ]


def methods(size):
    """A call of a method that so many classes define."""
    lines = ["class Base(object):", "    def run(self, n):", "        return n"]
    for i in range(size):
        lines += [
            "class C%d(Base):" % i,
            "    def run(self, n):",
            "        return n + %d" % i,
        ]
    lines += ["objects = [%s]" % ", ".join("C%d()" % i for i in range(size))]
    return lines + [
        "def entry_point(argv):",
        "    total = 0",
        "    for o in objects:",
        "        total += o.run(len(argv))",
        "    print total",
        "    return 0",
    ]


def table(size):
    """A list of so many functions, one of which is called."""
    lines = []
    for i in range(size):
        lines += ["def f%d(n):" % i, "    return n + %d" % i]
    lines += ["TABLE = [%s]" % ", ".join("f%d" % i for i in range(size))]
    return lines + ["def entry_point(argv):", "    print TABLE[len(argv)](3)", "    return 0"]


def operations(size):
    """One function of so many statements."""
    lines = ["def entry_point(argv):", "    n = len(argv)", "    x = 0"]
    lines += ["    x = x * 3 + n" for _ in range(size)]
    return lines + ["    print x", "    return 0"]


def seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


SHAPES = (calls, call_chain, object_chain, methods, table, operations)


def write(folder, shape, size):
    path = os.path.join(folder, "%s%d.py" % (shape.__name__, size))
    with open(path, "w") as f:
        text = shape(size) + ["def target(driver, args):", "    return entry_point, None"]
        f.write("\n".join(text) + "\n")
    return path


def main():
    if sys.argv[1] == "--keep":
        for shape in SHAPES:
            for size in sys.argv[3:]:
                write(sys.argv[2], shape, int(size))
        return
    taipan = os.path.abspath(sys.argv[1])
    sizes = [int(s) for s in sys.argv[2:]] or [1000, 2000, 4000]
    print("| shape |" + "".join(" %d |" % s for s in sizes))
    print("| --- |" + " --- |" * len(sizes))
    with tempfile.TemporaryDirectory() as folder:
        for shape in SHAPES:
            row, before = [], None
            for size in sizes:
                path = write(folder, shape, size)
                runs = sorted(seconds([taipan, "check", "--no-cache", path]) for _ in range(3))
                ratio = "" if before is None else " (%.1f)" % (runs[1] / before)
                row.append(" %.2f s%s |" % (runs[1], ratio))
                before = runs[1]
            print("| %s |" % shape.__name__.replace("_", " ") + "".join(row), flush=True)


if __name__ == "__main__":
    main()
