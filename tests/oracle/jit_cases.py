#!/usr/bin/env python3
"""Compares `taipan timeshift` with the tests of the JIT generator of 2008.

usage: jit_cases.py record OLD_PYPY CASES --pypy PYPY   collect cases (seconds)
       jit_cases.py compare CASES [--only TEXT] [--taipan PATH] [--jobs N] [-v]

OLD_PYPY is a checkout of pypy's history at f9704f2c6dcb (`git archive` of pypy/jit and
pypy/lang/automata will do), PYPY one of today, whose library the old tests are rewritten
to. `record` writes CASES/cases.jsonl, one line for each call of `self.timeshift` and its
kin: the function, its arguments, the options, the result and what the test states of the
residual graph; beside it the files with the functions. What makes no case is in
CASES/lost.txt. See jit_recorder.py, which CPython 2.7 ($PYTHON2) runs.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import subprocess
import sys

import run

HERE = os.path.dirname(os.path.abspath(__file__))


def record(args):
    os.makedirs(args.cases, exist_ok=True)
    env = dict(os.environ, PYTHONPATH=os.pathsep.join([os.path.abspath(args.pypy), HERE]),
               PYTHONDONTWRITEBYTECODE="1")
    subprocess.check_call([os.environ.get("PYTHON2", "python2.7"),
                           os.path.join(HERE, "jit_recorder.py"), os.path.abspath(args.old),
                           os.path.abspath(args.cases)], env=env)


def command(case, engine=None):
    """The arguments of `taipan` that run a case."""
    out = ["timeshift", "%s:%s" % (case["file"], case["func"])]
    if case["static"]:
        out += ["--static", ",".join(map(str, case["static"]))]
    if case["portal"]:
        out += ["--portal", case["portal"]]
    if case["policy"] != "default":
        out += ["--policy", case["policy"]]
    if case["inline"]:
        out += ["--inline", str(case["inline"])]
    if case["optimize"]:
        out.append("--optimize")
    if engine:
        out += ["--engine", engine]
    # An argument may start with a minus.
    return out + ["--json", "--"] + case["args"]


def answer(args, case):
    try:
        done = subprocess.run([args.taipan] + command(case, args.engine), capture_output=True, text=True,
                              timeout=args.seconds)
    except subprocess.TimeoutExpired:
        return {"error": "no answer in %d seconds" % args.seconds}
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"error": "no answer: " + (done.stderr.strip() or str(done.returncode))[-300:]}


def counts_differ(checks, got):
    """What of the stated counts is not what was got, as text; None if all is."""
    got = {name: n for name, n in (got or {}).items() if n}
    if "exactly" in checks and got != checks["exactly"]:
        return "wanted exactly %s, got %s" % (checks["exactly"], got)
    wrong = {n: c for n, c in checks.get("counts", {}).items() if got.get(n, 0) != c}
    return "wanted %s, got %s" % (wrong, got) if wrong else None


def difference(case, got):
    """Kind and text of the first thing in which an answer is not what a test asks for."""
    expect = case["expect"]
    if "error" in got and "error" not in expect:
        return "error: " + got["error"].split("\n")[0][:100], got["error"]
    if "truth" in expect:
        good = "ok" in got and bool(got["ok"]) == expect["truth"]
    else:
        good = "plainly" in expect or run.agrees(expect, got)
    if not good:
        return "result", "wanted %s, got %s" % (expect, got)
    for what in ("residual", "oops"):
        if what in case:
            text = counts_differ(case[what], got.get(what))
            if text:
                return what, text
    if case.get("flexswitches", got.get("flexswitches")) != got.get("flexswitches"):
        return "flexswitches", "wanted %d, got %s" % (case["flexswitches"], got["flexswitches"])
    return None


def compare(args):
    with open(os.path.join(args.cases, "cases.jsonl")) as f:
        cases = [json.loads(line) for line in f]
    if args.only:
        cases = [c for c in cases if args.only in c["id"]]
    if not args.skipped:
        cases = [c for c in cases if "skipped" not in c]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        answers = list(pool.map(lambda c: answer(args, c), cases))
    reasons = collections.defaultdict(list)
    suites = collections.defaultdict(lambda: [0, 0])
    for case, got in zip(cases, answers):
        suites[case["suite"]][1] += 1
        found = difference(case, got)
        if found is None:
            suites[case["suite"]][0] += 1
        else:
            reasons[found[0]].append((case, found[1]))
    for reason, items in sorted(reasons.items(), key=lambda r: -len(r[1])):
        print("%5d  %s" % (len(items), reason))
        for case, text in items if args.verbose else items[:3]:
            print("         %s: %s" % (case["id"], text.split("\n")[0]))
            if args.verbose:
                print("             taipan " + " ".join(command(case, args.engine)))
    print()
    for suite, (good, total) in sorted(suites.items()):
        print("%-24s %4d of %4d" % (suite, good, total))
    print("%d of %d agree" % (sum(g for g, _ in suites.values()), len(cases)))


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = p.add_subparsers(dest="what", required=True)
    r = sub.add_parser("record")
    r.add_argument("old")
    r.add_argument("cases")
    r.add_argument("--pypy", required=True, help="a checkout of today")
    r.set_defaults(run=record)
    c = sub.add_parser("compare")
    c.add_argument("cases")
    c.add_argument("--only")
    c.add_argument("--skipped", action="store_true", help="also what the old tests skip")
    c.add_argument("--taipan", default="target/release/taipan")
    c.add_argument("--engine", help="what executes residual code, as for taipan timeshift")
    c.add_argument("--jobs", type=int, default=2)
    c.add_argument("--seconds", type=int, default=60, help="for one case")
    c.add_argument("-v", dest="verbose", action="store_true")
    c.set_defaults(run=compare)
    args = p.parse_args()
    args.run(args)


if __name__ == "__main__":
    sys.exit(main())
