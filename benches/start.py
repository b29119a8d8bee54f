#!/usr/bin/env python3
"""How long programs take that do nothing, as whole processes, in turns: wall-clock time, CPU time, peak memory.

    benches/start.py [--runs N] 'PROGRAM [ARGUMENT...]'...
"""
import argparse
import os
import shlex
import statistics
import subprocess
import time


def run(words):
    """Seconds of wall-clock and CPU time of one process."""
    nothing = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_RDWR, 0) for fd in range(3)]
    started = time.perf_counter()
    pid = os.posix_spawn(words[0], words, {}, file_actions=nothing)
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - started
    if status:
        raise SystemExit("%s: status %d" % (shlex.join(words), status))
    return wall, usage.ru_utime + usage.ru_stime


def memory(words):
    """Kilobytes at most. A process starts with those of the one that it was forked from: a small one."""
    command = ["/usr/bin/time", "-q", "-f", "%M", "-o", "/dev/stdout", "sh", "-c", 'exec "$@" >/dev/null 2>&1', "sh"]
    output = subprocess.run(command + words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
    return int(output.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("programs", nargs="+")
    arguments = parser.parse_args()
    programs = [shlex.split(p) for p in arguments.programs]
    results = [[] for _ in programs]
    for _ in range(arguments.runs):
        for words, result in zip(programs, results):
            result.append(run(words))
    print("wall: least, median   CPU: least, median   memory   program")
    for words, result in zip(programs, results):
        wall, cpu = zip(*result)
        print(
            "%8.2f %8.2f ms %8.2f %8.2f ms %5.1f MB   %s"
            % (
                min(wall) * 1e3,
                statistics.median(wall) * 1e3,
                min(cpu) * 1e3,
                statistics.median(cpu) * 1e3,
                memory(words) / 1e3,
                shlex.join(words),
            )
        )


if __name__ == "__main__":
    main()
