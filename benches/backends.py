#!/usr/bin/env python3
"""Compares back ends, side by side: how long they take to build each fixture, how long the executables run, how
much memory they take, and how large they are.

usage: benches/backends.py [--runs N] [--backends cranelift,c,...] [--options "..."] [FIXTURE...]

Environment: TAIPAN (the binary; default target/release/taipan). With PYTHON2 (CPython 2.7) and PYPY (a pypy
checkout) the original toolchain (-O2, gcc, its default collector) is a further column, to which all ratios are;
without them they are to the first back end, and the script says so. ORIGINALS names a folder with executables that
the original has made before (FIXTURE-c), which are built where they are missing.

The last column, `gcc`, is the same program in C (benches/loops) by `gcc -O2`, where there is one.

Executables run in turns (A B A B). User and system time is that of the process; its minimum over the runs counts,
because what else the machine does only adds to it. `differs` is said where outputs do, and the script ends with 1.
"""

import argparse
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAMS = os.path.join(ROOT, "fixtures", "programs")
LOOPS = os.path.join(ROOT, "benches", "loops")

# Fixture, its file, and arguments for a run of about a second.
FIXTURES = [
    ("richards", "richards.py", ["300"]),
    ("deltablue", "deltablue.py", ["100000"]),
    ("nbody", "nbody.py", ["3000000"]),
    ("spectralnorm", "spectralnorm.py", ["1500"]),
    ("fannkuch", "fannkuch.py", ["10"]),
    ("binarytrees", "binarytrees.py", ["18"]),
    ("wordcount", "wordcount.py", ["300000"]),
    ("raising", "raising.py", ["5000000"]),
    ("shapes", "shapes.py", ["3000000"]),
    ("bignums", "bignums.py", ["5000"]),
    ("quill", "quill/targetquill.py", [os.path.join(PROGRAMS, "quill", "demo", "bench.ql")]),
]


def measured(command):
    """Runs a command: (seconds of CPU, megabytes at most, what it wrote and how it ended)."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(write, 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.close(read)
        try:
            os.execv(command[0], command)
        finally:
            os._exit(127)
    os.close(write)
    with os.fdopen(read, "rb") as output:
        written = output.read()
    _, status, used = os.wait4(pid, 0)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024.0, (written, status)


def cpu_of_children(work):
    """Does some work; returns the seconds of CPU that processes took for it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def geometric_mean(ratios):
    return math.exp(sum(math.log(r) for r in ratios) / len(ratios))


class Builder:
    """Makes the executables of a column."""

    def __init__(self, name, options):
        self.name = name
        self.options = options
        self.taipan = os.environ.get("TAIPAN", os.path.join(ROOT, "target", "release", "taipan"))

    def build(self, name, source, output):
        command = [self.taipan, "build", "-q", "--no-cache", "--backend", self.name, *self.options, source, "-o", output]
        return cpu_of_children(lambda: subprocess.run(command, check=True))


class Original(Builder):
    """The original toolchain."""

    name = "original"

    def __init__(self, python, checkout):
        self.python = python
        self.checkout = checkout
        self.folder = os.environ.get("ORIGINALS")

    def build(self, name, source, output):
        kept = self.folder and os.path.join(self.folder, os.path.basename(source)[:-3] + "-c")
        if kept and os.path.exists(kept):
            shutil.copy(kept, output)
            return None
        translate = os.path.join(self.checkout, "rpython", "bin", "rpython")
        command = [self.python, translate, "--batch", "-O2", "--output=" + output, source]
        environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")

        def work():
            subprocess.run(command, check=True, env=environment, cwd=os.path.dirname(output),
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        seconds = cpu_of_children(work)
        if kept:
            shutil.copy(output, kept)
        return seconds


class Gcc(Builder):
    """The programs that are there in C, too."""

    def __init__(self):
        self.name = "gcc"

    def build(self, name, source, output):
        written = os.path.join(LOOPS, name + ".c")
        if not os.path.exists(written):
            return None
        command = ["gcc", "-O2", "-ffp-contract=off", "-o", output, written, "-lm"]
        return cpu_of_children(lambda: subprocess.run(command, check=True))


def columns(names, options):
    out = [Builder(name, options) for name in names] + [Gcc()]
    python, checkout = os.environ.get("PYTHON2"), os.environ.get("PYPY")
    if python and checkout:
        out.insert(0, Original(python, checkout))
    else:
        print("PYTHON2 and PYPY are not set: without the original toolchain")
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--backends", default="cranelift,c")
    parser.add_argument("--options", default="")
    parser.add_argument("fixtures", nargs="*")
    arguments = parser.parse_args()
    builders = columns(arguments.backends.split(","), arguments.options.split())
    wanted = [f for f in FIXTURES if not arguments.fixtures or f[0] in arguments.fixtures]
    ratios = {b.name: [] for b in builders}
    failed = False
    header = "".join(f"{b.name:>34}" for b in builders)
    print(f"{'':14}{header}")
    print(f"{'':14}" + f"{'build':>8}{'run':>8}{'ratio':>6}{'MB':>6}{'KB':>6}" * len(builders))
    with tempfile.TemporaryDirectory() as folder:
        for name, file, rest in wanted:
            built, best = {}, {}
            for b in builders:
                output = os.path.join(folder, f"{name}-{b.name}")
                built[b.name] = b.build(name, os.path.join(PROGRAMS, file), output)
            outcomes = set()
            there = [b for b in builders if os.path.exists(os.path.join(folder, f"{name}-{b.name}"))]
            for _ in range(arguments.runs):
                for b in there:
                    seconds, megabytes, outcome = measured([os.path.join(folder, f"{name}-{b.name}"), *rest])
                    outcomes.add(outcome)
                    before = best.get(b.name, (seconds, megabytes))
                    best[b.name] = (min(seconds, before[0]), min(megabytes, before[1]))
            line = f"{name:14}"
            first = best[builders[0].name][0]
            for b in builders:
                if b not in there:
                    line += " " * 34
                    continue
                seconds, megabytes = best[b.name]
                ratio = seconds / max(first, 1e-3)
                ratios[b.name].append(max(ratio, 1e-3))
                size = os.path.getsize(os.path.join(folder, f"{name}-{b.name}")) // 1024
                build = "kept" if built[b.name] is None else f"{built[b.name]:.2f}"
                line += f"{build:>8}{seconds:8.2f}{ratio:6.2f}{megabytes:6.0f}{size:6}"
            differs = len(outcomes) != 1
            failed |= differs
            print(line + ("  differs" if differs else ""), flush=True)
    means = "".join(f"{geometric_mean(ratios[b.name] or [1]):>22.2f}{'':12}" for b in builders)
    print(f"{'mean':14}{means}")
    return 1 if failed else 0


if __name__ == "__main__":
    started = time.time()
    code = main()
    print(f"{time.time() - started:.0f} s")
    sys.exit(code)
