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


def method_sites(size):
    """A method that a fifth as many classes define, called in so many functions."""
    lines = ["class Base(object):", "    def run(self, n):", "        return n"]
    for i in range(size // 5):
        lines += ["class C%d(Base):" % i, "    def run(self, n):", "        return n + %d" % i]
    lines += ["objects = [%s]" % ", ".join("C%d()" % i for i in range(size // 5))]
    for i in range(size):
        lines += ["def f%d(o, n):" % i, "    return o.run(n + %d)" % i]
    lines += ["def entry_point(argv):", "    n = len(argv)", "    o = objects[n]", "    total = 0"]
    lines += ["    total += f%d(o, n)" % i for i in range(size)]
    return lines + ["    print total", "    return 0"]


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


def visitor(size):
    """So many classes of nodes, whose methods call the method of any of them."""
    lines = ["class Node(object):", "    pass"]
    for i in range(size):
        lines += [
            "class N%d(Node):" % i,
            "    def __init__(self, left, right):",
            "        self.left = left",
            "        self.right = right",
            "    def eval(self, n):",
            "        if n == 0:",
            "            return %d" % i,
            "        return self.left.eval(n - 1) + self.right.eval(n - 1)",
        ]
    lines += ["class Leaf(Node):", "    def eval(self, n):", "        return n", "def make(n):", "    node = Leaf()"]
    for i in range(size):
        lines += ["    if n > %d:" % i, "        node = N%d(node, node)" % i]
    return lines + ["    return node", "def entry_point(argv):", "    print make(len(argv)).eval(3)", "    return 0"]


def subclass_chain(size):
    """Classes each of which derives from the one before, and calls its method."""
    lines = ["class C0(object):", "    def __init__(self):", "        self.a0 = 0", "    def run(self, n):", "        return n"]
    for i in range(1, size):
        lines += [
            "class C%d(C%d):" % (i, i - 1),
            "    def run(self, n):",
            "        self.a%d = n" % i,
            "        return C%d.run(self, n) + self.a%d" % (i - 1, i // 2),
        ]
    return lines + ["def entry_point(argv):", "    print C%d().run(len(argv))" % (size - 1), "    return 0"]


def subclass_mix(size):
    """Classes each of which derives from the one before, overrides its method, is made and sets an
    attribute of its own; and prebuilt instances of the last one."""
    lines = ["class C0(object):", "    def __init__(self, n):", "        self.common = n", "    def run(self, n):", "        return n"]
    for i in range(1, size):
        lines += [
            "class C%d(C%d):" % (i, i - 1),
            "    def __init__(self, n):",
            "        self.common = n",
            "        self.a%d = n" % i,
            "    def run(self, n):",
            "        return self.a%d + self.common" % i,
        ]
    lines += ["objects = [C%d(i) for i in range(10)]" % (size - 1), "def entry_point(argv):", "    n = len(argv)", "    total = 0"]
    lines += ["    total += C%d(n).common" % i for i in range(size)]
    return lines + ["    for o in objects:", "        total += o.run(n)", "    print total", "    return 0"]


def object_cycle(size):
    """Prebuilt objects of a tenth as many classes, in a ring."""
    lines = ["class Base(object):", "    pass"]
    for i in range(size // 10):
        lines += ["class C%d(Base):" % i, "    def step(self):", "        self.value += 1", "        return self.next"]
    return lines + [
        "objects = [globals()['C%%d' %% (i %% %d)]() for i in range(%d)]" % (size // 10, size),
        "for i, o in enumerate(objects):",
        "    o.value = i",
        "    o.next = objects[(i + 1) % len(objects)]",
        "first = objects[0]",
        "def entry_point(argv):",
        "    o = first",
        "    for i in range(1000):",
        "        o = o.step()",
        "    print o.value",
        "    return 0",
    ]


def call_sites(size):
    """A table of so many functions that is called in a tenth as many functions."""
    lines = []
    for i in range(size):
        lines += ["def f%d(n, x):" % i, "    return n + %d" % i]
    lines += ["TABLE = [%s]" % ", ".join("f%d" % i for i in range(size))]
    for i in range(size // 10):
        lines += ["def g%d(n):" % i, "    return TABLE[n](%d, n)" % i]
    total = " + ".join("g%d(n)" % i for i in range(size // 10))
    return lines + ["def entry_point(argv):", "    n = len(argv)", "    print " + total, "    return 0"]


def mixins(size):
    """So many classes with the methods of a mix-in."""
    lines = [
        "class Mixin(object):",
        "    _mixin_ = True",
        "    def first(self):",
        "        return self.value",
        "    def second(self):",
        "        return self.first() + self.third()",
        "class Base(object):",
        "    pass",
    ]
    for i in range(size):
        lines += ["class C%d(Mixin, Base):" % i, "    value = %d" % i, "    def third(self):", "        return %d" % i]
    lines += ["objects = [%s]" % ", ".join("C%d()" % i for i in range(size))]
    return lines + [
        "def entry_point(argv):",
        "    total = 0",
        "    for o in objects:",
        "        total += o.second()",
        "    print total",
        "    return 0",
    ]


def wrapped(size):
    """Closures that a decorator makes of so many functions, after a look into their code."""
    lines = [
        "registry = {}",
        "def operation(f):",
        "    names = f.func_code.co_varnames[:f.func_code.co_argcount]",
        "    assert names == ('n', 'x')",
        "    def wrapper(n):",
        "        return f(n, 1) + 1",
        "    registry[f.func_name] = wrapper",
        "    return wrapper",
    ]
    for i in range(size):
        lines += ["@operation", "def f%d(n, x):" % i, "    return n + x + %d" % i]
    return lines + ["def entry_point(argv):", "    print registry[argv[0]](len(argv))", "    return 0"]


def attributes(size):
    """A class with so many attributes, each with a setter and a getter."""
    lines = ["class Box(object):"]
    for i in range(size):
        lines += ["    def set%d(self, x):" % i, "        self.a%d = x" % i, "    def get%d(self):" % i, "        return self.a%d" % i]
    lines += ["def entry_point(argv):", "    box = Box()", "    total = 0"]
    for i in range(size):
        lines += ["    box.set%d(len(argv))" % i, "    total += box.get%d()" % i]
    return lines + ["    print total", "    return 0"]


def specialized(size):
    """So many copies of a function, by a constant argument."""
    lines = ["from rpython.rlib.objectmodel import specialize", "@specialize.arg(0)", "def f(i, n):", "    return i + n"]
    lines += ["def entry_point(argv):", "    n = len(argv)", "    total = 0"]
    lines += ["    total += f(%d, n)" % i for i in range(size)]
    return lines + ["    print total", "    return 0"]


def containers(size):
    """`size` functions, each with a list of tuples and a dict of its own class."""
    lines = []
    for i in range(size):
        lines += [
            "class C%d(object):" % i,
            "    def __init__(self, n):",
            "        self.n = n",
            "def f%d(n):" % i,
            "    pairs = [(n, C%d(n))]" % i,
            "    pairs.append((n + 1, C%d(n + 1)))" % i,
            "    table = {}",
            "    for key, c in pairs:",
            "        table[key] = c",
            "    return len(pairs) + table[n].n",
        ]
    lines += ["def entry_point(argv):", "    n = len(argv)", "    total = 0"]
    lines += ["    total += f%d(n)" % i for i in range(size)]
    return lines + ["    print total", "    return 0"]


def exceptions(size):
    """`size` exception classes, each with functions that raise and catch it."""
    lines = ["class Error(Exception):", "    pass"]
    for i in range(size):
        lines += [
            "class E%d(Error):" % i,
            "    def __init__(self, n):",
            "        self.n = n",
            "def raise%d(n):" % i,
            "    if n > %d:" % i,
            "        raise E%d(n)" % i,
            "    return n",
            "def f%d(n):" % i,
            "    try:",
            "        return raise%d(n)" % i,
            "    except E%d as e:" % i,
            "        return e.n",
        ]
    for start in range(0, size, 100):
        lines += ["def group%d(n):" % start, "    total = 0", "    try:"]
        lines += ["        total += f%d(n)" % i for i in range(start, min(size, start + 100))]
        lines += ["    except Error:", "        return 0", "    return total"]
    lines += ["def entry_point(argv):", "    n = len(argv)", "    total = 0"]
    lines += ["    total += group%d(n)" % start for start in range(0, size, 100)]
    return lines + ["    print total", "    return 0"]


def tried(size):
    """A function that calls `size` others in one try statement."""
    lines = []
    for i in range(size):
        lines += ["def f%d(n):" % i, "    if n > %d:" % i, "        raise ValueError", "    return n"]
    lines += ["def entry_point(argv):", "    n = len(argv)", "    total = 0", "    try:"]
    lines += ["        total += f%d(n)" % i for i in range(size)]
    return lines + ["    except ValueError:", "        total = -1", "    print total", "    return 0"]


def prebuilt_dict(size):
    """A prebuilt dict of `size` tuples."""
    return [
        "table = {}",
        "for i in range(%d):" % size,
        "    table['key%d' % i] = (i, 'value%d' % i, i * 0.5)",
        "def entry_point(argv):",
        "    number, name, half = table[argv[0]]",
        "    print number, name, half",
        "    return 0",
    ]


def seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


# Shapes of many parts that are small each.
TIMES = {table: 5, operations: 10, prebuilt_dict: 20}

SHAPES = (
    calls,
    call_chain,
    call_sites,
    object_chain,
    object_cycle,
    methods,
    method_sites,
    visitor,
    subclass_chain,
    subclass_mix,
    mixins,
    attributes,
    table,
    wrapped,
    specialized,
    operations,
    containers,
    exceptions,
    tried,
    prebuilt_dict,
)


def write(folder, shape, size):
    path = os.path.join(folder, "%s%d.py" % (shape.__name__, size))
    with open(path, "w") as f:
        text = shape(size * TIMES.get(shape, 1)) + ["def target(driver, args):", "    return entry_point, None"]
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
            name = shape.__name__.replace("_", " ")
            if shape in TIMES:
                name += ", times %d" % TIMES[shape]
            print("| %s |" % name + "".join(row), flush=True)


if __name__ == "__main__":
    main()
