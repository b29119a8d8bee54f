#!/usr/bin/env python3
"""Compares Taipan with the original toolchain on the toolchain's own tests.

usage: run.py record PYPY CASES [TEST_FILE...]   collect cases (CPython 2.7, minutes)
       run.py compare CASES [--only TEXT] [--taipan PATH] [--jobs N] [-v]

`record` runs rtyping tests of a pypy checkout under a plugin that notes which function
is called with what and what comes out. `compare` gives every case to `taipan call
--batch` and prints what differs, by reason.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
DEFAULT = [
    "rpython/rtyper/test/test_%s.py" % t
    for t in (
        "llinterp rint rfloat rbool rstr runicode rlist rdict rtuple rrange riterable rgenerator "
        "rclass rpbc exception rbuiltin nongc rconstantdict rcontextmanager rset rbytearray "
        "rweakref rvirtualizable annlowlevel generator rordereddict rtyper llann llop"
    ).split()
] + [
    "rpython/rlib/test/test_%s.py" % t
    for t in "objectmodel rarithmetic rstring rfloat unroll listsort rbigint debug nonconst rerased jit".split()
] + [
    "rpython/translator/c/test/test_%s.py" % t
    for t in "typed lltyped exception genc".split()
] + [
    "rpython/translator/backendopt/test/test_%s.py" % t
    for t in "inline malloc removenoops storesink finalizer".split()
]


def record(args):
    os.makedirs(args.cases, exist_ok=True)
    env = dict(os.environ, TAIPAN_CASES=os.path.abspath(args.cases), PYTHONPATH=HERE,
               PYTHONDONTWRITEBYTECODE="1")
    python = os.environ.get("PYTHON2", "python2.7")
    for test in args.tests or DEFAULT:
        if not os.path.exists(os.path.join(args.pypy, test)):
            continue
        subprocess.call(
            [python, "pytest.py", "-p", "recorder", "-q", "--assert=plain", test],
            cwd=args.pypy, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        print(test, sum(1 for _ in open(os.path.join(args.cases, "cases.jsonl"))), flush=True)


def agrees(expect, answer):
    if "any" in expect:
        return "ok" in answer
    if "raises" in expect:
        return answer.get("raises") == expect["raises"]
    if "ok" not in answer:
        return False
    want, got = expect["ok"], answer["ok"]
    if isinstance(want, bool) or isinstance(got, bool):
        return want == got or (want in (0, 1) and got in (0, 1) and int(want) == int(got))
    if isinstance(want, float) and isinstance(got, (int, float)):
        return want == got or abs(want - got) <= 1e-9 * max(abs(want), abs(got))
    return want == got


def compare(args):
    cases = [json.loads(l) for l in open(os.path.join(args.cases, "cases.jsonl"))]
    if args.only:
        cases = [c for c in cases if args.only in c["id"]]
    chunks = [cases[i::args.jobs] for i in range(args.jobs)]
    running = []
    for chunk in chunks:
        p = subprocess.Popen([args.taipan, "call", "--json", "--batch", "-"] +
                             (["--engine", args.engine] if args.engine else []),
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL)
        data = "".join(json.dumps({k: c[k] for k in ("file", "func", "args", "id")}) + "\n"
                       for c in chunk)
        running.append((p, data))
    answers = {}
    def drive(p, data):
        def feed():
            try:
                p.stdin.write(data.encode())
                p.stdin.close()
            except OSError:
                pass  # it died: the missing answers tell

        threading.Thread(target=feed, daemon=True).start()
        killer = threading.Timer(args.seconds, p.kill)
        killer.start()
        for line in p.stdout:
            try:
                a = json.loads(line.decode("utf-8", "replace"))
                answers[a["id"]] = a
            except (ValueError, KeyError):
                pass
        killer.cancel()

    threads = [threading.Thread(target=drive, args=r) for r in running]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    reasons = collections.defaultdict(list)
    good = 0
    per_file = collections.defaultdict(lambda: [0, 0])
    for c in cases:
        a = answers.get(c["id"], {"error": "no answer (crashed)"})
        stem = c["id"].split("_test_")[0]
        per_file[stem][1] += 1
        if agrees(c["expect"], a):
            good += 1
            per_file[stem][0] += 1
            continue
        if "error" in a:
            reason = "error: " + a["error"].split("\n")[0][:100]
        else:
            reason = "different: wanted %s" % ("a value" if "ok" in c["expect"] else c["expect"])
        reasons[reason].append((c, a))
    for reason, items in sorted(reasons.items(), key=lambda r: -len(r[1]))[:args.most]:
        print("%5d  %s" % (len(items), reason))
        for c, a in items[: 10 if args.verbose else 2]:
            print("         %s(%s): wanted %s, got %s"
                  % (c["id"], ", ".join(c["args"]), c["expect"],
                     {k: v for k, v in a.items() if k != "id"} if "error" not in a else "error"))
    print()
    for stem, (ok, total) in sorted(per_file.items()):
        print("%-28s %5d of %5d" % (stem, ok, total))
    print("%d of %d agree" % (good, len(cases)))


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = p.add_subparsers(dest="what", required=True)
    r = sub.add_parser("record")
    r.add_argument("pypy")
    r.add_argument("cases")
    r.add_argument("tests", nargs="*")
    r.set_defaults(run=record)
    c = sub.add_parser("compare")
    c.add_argument("cases")
    c.add_argument("--only")
    c.add_argument("--engine")
    c.add_argument("--taipan", default="target/release/taipan")
    c.add_argument("--jobs", type=int, default=2)
    c.add_argument("--most", type=int, default=40)
    c.add_argument("--seconds", type=int, default=300, help="then the rest counts as crashed")
    c.add_argument("-v", dest="verbose", action="store_true")
    c.set_defaults(run=compare)
    args = p.parse_args()
    args.run(args)


if __name__ == "__main__":
    sys.exit(main())
