#!/usr/bin/env python3
"""Compares two executables of one program: what they write, how they end, how long they take.

usage: benches/compare-programs.py [--runs=N] [--limit=SECONDS] [--ignore=REGEX] NEW OLD CASES

NEW and OLD are, say, a program built by Taipan and by the original toolchain. CASES is a file with a command line
per line, without the program's name, quoted as for a shell:

    bench.ql 100
    -f demo.ql < input.txt
    < /dev/null

`< FILE` is standard input (default: /dev/null; `<&-`: closed). Empty lines and lines that begin with `#` are skipped.
Both programs run in the current directory under the name of NEW, so that what they tell of `argv[0]` is the same.

Without `--runs` each case runs once with each; with it, N times in turns. Prints for each case the median of user
time (seconds) of both and their ratio, and `differs:` with what differs. Ends with 1 if anything differs. What matches
`--ignore` is left out of the comparison of outputs, such as times that the program prints. `--limit` is CPU time,
60 seconds unless given; where both run out of it, outputs are compared as far as the shorter one goes.
"""

import difflib
import os
import re
import resource
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile


def run(program, name, arguments, stdin, seconds):
    """Returns (how it ended, stdout, stderr, seconds of user time)."""

    def prepare():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, 64 << 20))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        if stdin is None:
            os.close(0)

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with open(stdin or os.devnull, "rb") as source:
            child = subprocess.Popen(
                [name] + arguments,
                executable=program,
                stdin=source,
                stdout=out,
                stderr=err,
                preexec_fn=prepare,
            )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = 0
        out.seek(0)
        err.seek(0)
        ended = os.waitstatus_to_exitcode(status)
        return ended, out.read(), err.read(), usage.ru_utime


def differences(new, old, ignore):
    """Lines that tell what differs between two results of `run`."""
    unlimited = not new[0] == old[0] == -signal.SIGXCPU
    if new[0] != old[0]:
        yield "    ends with %d, not with %d" % (new[0], old[0])
    for name, a, b in (("stdout", new[1], old[1]), ("stderr", new[2], old[2])):
        if ignore:
            a, b = ignore.sub(b"", a), ignore.sub(b"", b)
        if not unlimited:
            a, b = a[: len(b)], b[: len(a)]
        if a == b:
            continue
        yield "    %s (%d bytes, not %d)" % (name, len(a), len(b))
        texts = [text.decode("latin-1").splitlines() for text in (b, a)]
        if max(map(len, texts)) < 20000:
            for line in list(difflib.unified_diff(*texts, n=0, lineterm=""))[2:12]:
                yield "        " + line[:160]


def read_cases(path):
    """Yields (the line, arguments, path of standard input or None if it is closed)."""
    with open(path) as source:
        for line in source:
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            words = shlex.split(line)
            stdin = os.devnull
            if words and words[-1] == "<&-":
                words.pop()
                stdin = None
            elif len(words) > 1 and words[-2] == "<":
                stdin = words[-1]
                del words[-2:]
            yield line, words, stdin


def main():
    runs, limit, ignore, words = 1, 60, None, []
    for word in sys.argv[1:]:
        if word.startswith("--runs="):
            runs = int(word[7:])
        elif word.startswith("--limit="):
            limit = int(word[8:])
        elif word.startswith("--ignore="):
            ignore = re.compile(os.fsencode(word[9:]))
        else:
            words.append(word)
    if len(words) != 3:
        sys.exit(__doc__)
    new, old, cases = [os.path.abspath(word) for word in words]
    failed = 0
    for line, arguments, stdin in read_cases(cases):
        results = [[], []]
        for _ in range(runs):
            for program, found in zip((new, old), results):
                found.append(run(program, new, arguments, stdin, limit))
        seconds = [statistics.median(result[3] for result in found) for found in results]
        told = list(differences(results[0][0], results[1][0], ignore))
        failed += bool(told)
        print(
            "%-48s %8.3f %8.3f %6.2f%s"
            % (line[:48], *seconds, seconds[0] / max(seconds[1], 1e-3), "  differs:" if told else "")
        )
        for text in told:
            print(text)
        sys.stdout.flush()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
