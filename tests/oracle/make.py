#!/usr/bin/env python3
"""Makes random functions for the original toolchain and Taipan: see the package `made`.

usage: make.py CASES COUNT [--seed N] [--only SUBJECT,..]

CASES gets a module per function and `cases.jsonl`; `run.py judge` fills in what the original says.
"""
import argparse
import json
import os
import random

from made import SUBJECTS


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("cases")
    p.add_argument("count", type=int, help="of functions per subject")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", default=",".join(SUBJECTS))
    args = p.parse_args()
    os.makedirs(args.cases, exist_ok=True)
    folder = os.path.abspath(args.cases)
    with open(os.path.join(folder, "cases.jsonl"), "w") as noted:
        for subject in args.only.split(","):
            rng = random.Random("%s %d" % (subject, args.seed))
            for i in range(args.count):
                name = "%s_%d_%d" % (subject, args.seed, i)
                lines, calls = SUBJECTS[subject](rng)
                path = os.path.join(folder, name + ".py")
                with open(path, "w") as f:
                    f.write("\n".join(lines) + "\n")
                for j, call in enumerate(calls):
                    case = {"id": "%s_%d" % (name, j), "kind": "made", "suite": subject, "file": path,
                            "func": "f", "args": call, "expect": None}
                    noted.write(json.dumps(case) + "\n")


if __name__ == "__main__":
    main()
