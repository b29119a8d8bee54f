#!/usr/bin/env python3
"""What passes over graphs bring: programs of fixtures/ built with switches of passes, and run in turns.

    TAIPAN=target/release/taipan benches/passes.py --rounds 3
    TAIPAN=target/release/taipan benches/passes.py --rounds 5 --options="--backend c" -- -inlining -all

Without switches after `--`, each pass is switched off by itself. A row is a program: the least CPU seconds of a run with the
usual passes, then ratios to that with each switch. Below them stands the geometric mean.
"""

import argparse
import math
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAMS = {
    "richards.py": ["1000"],
    "deltablue.py": ["100000"],
    "nbody.py": ["3000000"],
    "spectralnorm.py": ["1600"],
    "fannkuch.py": ["10"],
    "binarytrees.py": ["17"],
    "wordcount.py": ["50000"],
    "raising.py": ["2000000"],
    "shapes.py": ["600000"],
    "bignums.py": ["2500"],
    "quill/targetquill.py": [os.path.join(ROOT, "benches/jit/objects.ql")],
}


def passes():
    """The names of all passes, as the page about them has them."""
    with open(os.path.join(ROOT, "docs/optimisation.md")) as page:
        return re.findall(r"^\| `([a-z-]+)` \| `\w+\.rs`", page.read(), re.M)


def cpu(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--options", default="", help="of each build")
    parser.add_argument("switches", nargs="*")
    args = parser.parse_args()
    taipan = os.path.abspath(os.environ.get("TAIPAN", os.path.join(ROOT, "target/release/taipan")))
    switches = args.switches or ["-" + name for name in passes()]
    sums = [0.0] * len(switches)
    print("| program | usual |" + "".join(f" {s} |" for s in switches))
    print("|---|---|" + "---|" * len(switches))
    with tempfile.TemporaryDirectory() as folder:
        for program, arguments in PROGRAMS.items():
            commands = []
            for i, switch in enumerate([None, *switches]):
                out = os.path.join(folder, str(i))
                build = [taipan, "build", "--quiet", "--no-cache", *shlex.split(args.options)]
                build += [f"--passes={switch}"] if switch else []
                subprocess.run(
                    build + ["-o", out, program], cwd=os.path.join(ROOT, "fixtures/programs"), check=True
                )
                commands.append([out, *arguments])
            least = [min(times) for times in zip(*([cpu(c) for c in commands] for _ in range(args.rounds)))]
            ratios = [time / least[0] for time in least[1:]]
            sums = [s + math.log(r) for s, r in zip(sums, ratios)]
            print(f"| {program} | {least[0]:.3f} s |" + "".join(f" {r:.2f} |" for r in ratios))
            sys.stdout.flush()
    means = [math.exp(s / len(PROGRAMS)) for s in sums]
    print("| geometric mean | |" + "".join(f" {m:.2f} |" for m in means))


if __name__ == "__main__":
    main()
