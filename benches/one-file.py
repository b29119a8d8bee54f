#!/usr/bin/env python3
"""What an edit of one body in a large file costs `taipan watch check`.

    TAIPAN=target/release/taipan benches/one-file.py [--edits N] [--classes N]

The program is one file of classes with methods (70 classes: 3,090 lines). Each edit changes one line of one method. Prints
medians by the watcher's own account, and its CPU time for each edit.
"""
import argparse
import os
import queue
import re
import statistics
import subprocess
import tempfile
import threading
import time

METHOD = """\
    def m{m}(self, other):
        total = self.n
        for i in self.items:
            if i > {m}:
                total += i * other
            else:
                total -= self.n
        return total
"""
BEFORE = "            if i > 2:\n                total += i * other"


def program(classes):
    """The text of the file."""
    lines = []
    for c in range(classes):
        lines += ["class C%d(object):" % c, "    def __init__(self, n):", "        self.n = n"]
        lines += ["        self.items = [n, n + 1]", ""]
        lines += [METHOD.format(m=m) for m in range(4)] + [""]
    lines += ["def entry(n):", "    total = 0"]
    for c in range(classes):
        lines += ["    c = C%d(n)" % c, "    total += c.m0(1) + c.m1(2) + c.m2(3) + c.m3(4)"]
    lines += ["    return total", "", "", "def main(argv):", "    print entry(len(argv))", "    return 0", "", ""]
    lines += ["def target(driver, args):", "    return main, None", ""]
    return "\n".join(lines)


class Watcher:
    """A process of `taipan watch check`."""

    def __init__(self, path):
        taipan = os.environ.get("TAIPAN", "taipan")
        self.process = subprocess.Popen(
            [taipan, "watch", "check", "--no-cache", path], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        self.wait()

    def read(self):
        for line in self.process.stderr:
            self.lines.put(line)

    def wait(self):
        """The lines of a round."""
        lines = []
        while not lines or "no errors" not in lines[-1]:
            lines.append(self.lines.get(timeout=60))
        return "".join(lines)

    def cpu(self):
        """CPU milliseconds so far."""
        with open("/proc/%d/stat" % self.process.pid) as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return 1e3 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edits", type=int, default=30)
    parser.add_argument("--classes", type=int, default=70)
    arguments = parser.parse_args()
    text = program(arguments.classes)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "prog.py")
        with open(path, "w") as f:
            f.write(text)
        watcher = Watcher(path)
        # What is done behind the first round.
        time.sleep(0.5)
        took, compiling, start = [], [], watcher.cpu()
        for n in range(arguments.edits):
            with open(path + ".new", "w") as f:
                f.write(text.replace(BEFORE, "%s + %d" % (BEFORE, n + 1), 1))
            os.rename(path + ".new", path)
            told = watcher.wait()
            took.append(float(re.search(r"took ([\d.]+) ms", told).group(1)))
            compiling.append(float(re.search(r"import ([\d.]+) ms", told).group(1)))
            time.sleep(0.05)
        cpu = (watcher.cpu() - start) / arguments.edits
        watcher.process.kill()
    print("%d lines, %d edits: took %.1f ms, of that compiling and import time %.1f ms; CPU time %.1f ms"
          % (text.count("\n"), arguments.edits, statistics.median(took), statistics.median(compiling), cpu))


if __name__ == "__main__":
    main()
