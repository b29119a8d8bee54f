#!/usr/bin/env python3
"""Runs the interpreters of benches/jit/suite three ways and prints Markdown tables: built by Taipan without and with
`--jit`, and by the original toolchain with its tracing JIT.

usage: benches/jit/suite.py [--tracing EXECUTABLE] [--quick] [-k TEXT] [--runs N] [--set-aside] [--keep DIR]

Environment: TAIPAN (the binary; default target/release/taipan). EXECUTABLE is `suite/all.py`, translated by the original
with `-Ojit`; without it the columns of the tracing JIT are left out.

Each pair of an interpreter and a program runs as long as plain takes 0.1, 1 and 10 s (`--quick`: 1 s only), in turns
(plain, --jit, tracing). Seconds are user and system time of the process, minimum over the runs. Iterations are timed
by the interpreters, in CPU time, in the longest run: the peak is the median of the last quarter of them. The time to 90% ends where
the first iteration begins that takes at most the peak / 0.9, as the median of it and the next four does. Memory is the maximum
resident set of that run.
A line is marked where outputs differ, and the script ends with 1. `us/op` is what specialising and compiling cost in
CPU time per operation of the machine code, from the log of a run of its own.

Interpreters that are set aside (SET_ASIDE) are run by `--set-aside` only, and then no others: nobody tunes to them.
"""

import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SUITE = os.path.join(HERE, "suite")
PROGRAMS = os.path.join(SUITE, "programs")
SET_ASIDE = ["cek", "generators", "regex", "sends"]
# Length of a run in seconds without a JIT, and the number of units of 10 ms in it.
LENGTHS = [(0.1, 10), (1, 100), (10, 1000)]


class Run:
    """What one process took and wrote."""

    def __init__(self, seconds, megabytes, output, stamps):
        self.seconds = seconds
        self.megabytes = megabytes
        self.output = output
        starts = [0] + stamps[:-1]
        self.starts = starts
        self.iterations = [max(end - start, 1) / 1e3 for start, end in zip(starts, stamps)]

    def peak(self):
        """Milliseconds."""
        return statistics.median(self.iterations[-max(1, len(self.iterations) // 4):])

    def warm(self):
        """Milliseconds until the peak is nearly reached."""
        limit = self.peak() / 0.9
        for i in range(len(self.iterations)):
            following = self.iterations[i:i + 5]
            if following[0] <= limit and statistics.median(following) <= limit:
                return self.starts[i] / 1e3
        return self.starts[-1] / 1e3


def measured(command, environment=None):
    """Runs a command. `time` stands between, since a process keeps the resident set of what it was forked from."""
    with tempfile.NamedTemporaryFile("r") as memory, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        timed = ["/usr/bin/time", "-q", "-f", "%M", "-o", memory.name] + command
        process = subprocess.Popen(timed, stdout=out, stderr=err, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        output = out.read().decode(errors="replace").strip()
        errors = err.read().decode(errors="replace").strip().split("\n")
        if process.returncode != 0:
            return Run(0.0, 0.0, "ends with %d: %s" % (process.returncode, errors[-1]), [])
        stamps = [int(line.split()[1]) for line in errors if line]
        megabytes = int(memory.read().split()[-1]) / 1024
        return Run(usage.ru_utime + usage.ru_stime, megabytes, output, stamps)


def pairs():
    """Interpreter, program, size of a unit."""
    with open(os.path.join(PROGRAMS, "sizes.txt")) as file:
        lines = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return [(interpreter, program, size) for interpreter, program, size, _ in lines]


def shown_name(interpreter, program):
    return "%s %s" % (interpreter, os.path.basename(program))


def build(taipan, interpreter, options, output):
    command = [taipan, "build", *options, os.path.join(SUITE, interpreter + ".py"), "-o", output]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit("%s\n%s" % (" ".join(command), result.stderr))


def microseconds_per_operation(command, folder):
    """What compiling took per operation of all units, and how many there were."""
    log = os.path.join(folder, "log")
    run = measured(command, dict(os.environ, TAIPAN_JITLOG=log))
    operations = spent = 0
    if os.path.exists(log):
        with open(log) as file:
            for line in file:
                event = json.loads(line)
                if event["event"] == "unit":
                    operations += event["operations"]
                elif event["event"] == "end":
                    spent = event["specialise_us"] + event["compile_us"]
        os.remove(log)
    return (spent / operations if operations else None), operations, run.output


class Pair:
    """The figures of one program on one interpreter."""

    def __init__(self, name):
        self.name = name
        self.runs = {}          # (way, units): minimum
        self.per_operation = None
        self.operations = 0
        self.differs = set()

    def figure(self, way, length, what):
        run = self.runs.get((way, length))
        return what(run) if run is not None and run.iterations else None


def collect(pair, commands, lengths, runs):
    expected = {}
    for units in lengths:
        # Long runs vary less.
        for _ in range(runs if units < 1000 else 1):
            for way, command in commands.items():
                run = measured(command + ["--iterations", str(units)])
                if expected.setdefault(units, run.output) != run.output:
                    pair.differs.add("%s writes `%s`, not `%s`" % (way, run.output, expected[units]))
                best = pair.runs.get((way, units))
                if best is None or run.seconds < best.seconds:
                    pair.runs[way, units] = run


def ratio(left, right):
    return left / right if left is not None and right else None


def mean(values):
    values = [value for value in values if value]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def shown(value, digits=2):
    if value is None:
        return ""
    if digits == 2 and value >= 100:
        return "%.0f" % value
    return "%.*f" % (digits, value)


def table(title, head, rows):
    print("\n%s\n" % title)
    print("| " + " | ".join(head) + " |")
    print("| --- |" + " --: |" * (len(head) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def ratios(pair, longest, what, tracing):
    """`--jit` to tracing, if there is one, and to plain."""
    values = {way: pair.figure(way, longest, what) for way in ["plain", "--jit", "tracing"]}
    result = [ratio(values["--jit"], values["plain"])]
    return [ratio(values["--jit"], values["tracing"])] + result if tracing else result


def iterations_table(results, longest, ways, tracing):
    head = ["program"] + ["peak, " + way for way in ways]
    head += (["to tracing"] if tracing else []) + ["to plain"]
    head += ["first, " + way for way in ways[1:]] + ["90%, " + way for way in ways[1:]]
    rows = []
    for pair in results:
        row = [pair.name + (" **differs**" if pair.differs else "")]
        row += [shown(pair.figure(way, longest, Run.peak), 3) for way in ways]
        row += [shown(value) for value in ratios(pair, longest, Run.peak, tracing)]
        row += [shown(pair.figure(way, longest, lambda run: run.iterations[0])) for way in ways[1:]]
        row += [shown(pair.figure(way, longest, Run.warm)) for way in ways[1:]]
        rows.append(row)
    table("Iterations, ms", head, rows)


def runs_table(results, lengths, ways, tracing):
    head = ["program"]
    for seconds, _ in lengths:
        head += ["%g s, %s" % (seconds, way) for way in ways]
        head += (["to tracing"] if tracing else []) + ["to plain"]
    head += ["MB, " + way for way in ways] + ["us/op", "operations"]
    rows = []
    for pair in results:
        row = [pair.name]
        for _, units in lengths:
            row += [shown(pair.figure(way, units, lambda run: run.seconds), 3) for way in ways]
            row += [shown(value) for value in ratios(pair, units, lambda run: run.seconds, tracing)]
        row += [shown(pair.figure(way, lengths[-1][1], lambda run: run.megabytes), 0) for way in ways]
        row += [shown(pair.per_operation, 1), str(pair.operations)]
        rows.append(row)
    table("Whole runs, s of CPU time; memory", head, rows)


def means_table(results, lengths, tracing):
    longest = lengths[-1][1]
    kinds = [("peak", longest, Run.peak), ("first", longest, lambda run: run.iterations[0])]
    kinds += [("%g s" % seconds, units, lambda run: run.seconds) for seconds, units in lengths]
    kinds += [("MB", longest, lambda run: run.megabytes)]
    head = ["interpreter"]
    for kind, _, _ in kinds:
        head += ([kind + " to tracing", "worst"] if tracing else []) + [kind + " to plain", "worst"]
    names = []
    for pair in results:
        name = pair.name.split()[0]
        if name not in names:
            names.append(name)
    rows = []
    for name in names + ["all"]:
        members = [pair for pair in results if name in (pair.name.split()[0], "all")]
        row = [name]
        for _, units, what in kinds:
            columns = zip(*[ratios(pair, units, what, tracing) for pair in members])
            for column in columns:
                known = [value for value in column if value is not None]
                row += [shown(mean(known)), shown(max(known) if known else None)]
        rows.append(row)
    table("Geometric means of ratios", head, rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tracing", help="the executable of suite/all.py that the original made")
    parser.add_argument("--quick", action="store_true", help="only runs of 1 s")
    parser.add_argument("-k", metavar="TEXT", default="", help="only pairs whose name, as in the tables, has this text")
    parser.add_argument("--runs", type=int, default=2, help="runs of which the minimum counts")
    parser.add_argument("--set-aside", action="store_true", help="the interpreters that are set aside, instead of the others")
    parser.add_argument("--keep", metavar="DIR", help="where executables stay")
    options = parser.parse_args()
    taipan = os.environ.get("TAIPAN", os.path.join(ROOT, "target", "release", "taipan"))
    lengths = LENGTHS[1:2] if options.quick else LENGTHS
    folder = options.keep or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    chosen = [pair for pair in pairs() if (pair[0] in SET_ASIDE) == options.set_aside]
    chosen = [pair for pair in chosen if options.k in shown_name(*pair[:2])]
    if not chosen:
        sys.exit("no pair has %r in its name" % options.k)
    for interpreter in sorted({pair[0] for pair in chosen}):
        build(taipan, interpreter, [], os.path.join(folder, interpreter + ".plain"))
        build(taipan, interpreter, ["--jit"], os.path.join(folder, interpreter + ".jit"))
    results = []
    for interpreter, program, size in chosen:
        pair = Pair(shown_name(interpreter, program))
        arguments = [os.path.join(PROGRAMS, program), size]
        commands = {
            "plain": [os.path.join(folder, interpreter + ".plain")] + arguments,
            "--jit": [os.path.join(folder, interpreter + ".jit")] + arguments,
        }
        if options.tracing:
            commands["tracing"] = [options.tracing, interpreter] + arguments
        collect(pair, commands, [units for _, units in lengths], options.runs)
        logged = commands["--jit"] + ["--iterations", "100"]
        pair.per_operation, pair.operations, _ = microseconds_per_operation(logged, folder)
        results.append(pair)
        progress = [pair.name, shown(ratios(pair, lengths[-1][1], Run.peak, bool(options.tracing))[0])]
        print(*progress, *sorted(pair.differs), file=sys.stderr, flush=True)
    ways = ["plain", "--jit"] + (["tracing"] if options.tracing else [])
    tracing = bool(options.tracing)
    iterations_table(results, lengths[-1][1], ways, tracing)
    runs_table(results, lengths, ways, tracing)
    means_table(results, lengths, tracing)
    for pair in results:
        for difference in sorted(pair.differs):
            print("\n%s: %s" % (pair.name, difference))
    if not options.keep:
        shutil.rmtree(folder)
    sys.exit(1 if any(pair.differs for pair in results) else 0)


if __name__ == "__main__":
    main()
