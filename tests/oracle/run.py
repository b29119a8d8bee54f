#!/usr/bin/env python3
"""Compares Taipan with the original toolchain on the toolchain's own tests.

usage: run.py record PYPY CASES [TEST_FILE...]   collect cases (CPython 2.7, minutes)
       run.py compare CASES [--only TEXT] [--jit N] [--taipan PATH] [--jobs N] [-v] [--differing FILE]
       run.py judge PYPY CASES [FILE]   which cases of plain Python are RPython (CPython 2.7)
       run.py programs PYPY PROGRAM...  whole programs with a function `run()` (CPython 2.7)

`record` runs rtyping tests of a pypy checkout under a plugin that notes which function
is called with what and what comes out. `compare` gives every case to `taipan call
--batch` and prints what differs, by reason. `judge` asks the original toolchain about
cases that it has not translated; see verdict.py. `programs` gives whole programs, such as the
test `generated` writes, to the original's low-level interpreter and to both engines.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDERS = ["rpython/%s/test" % f for f in
           ("annotator", "rtyper", "rtyper/lltypesystem", "translator/backendopt",
            "translator/c", "translator", "flowspace", "jit/tl", "memory", "rlib", "rlib/rsre",
            "rlib/rstrategies", "rlib/rstruct", "rlib/unicodedata", "rlib/parsing",
            "rlib/rvmprof", "rlib/rjitlog")]
# What is recorded of the tests of a folder besides what is interpreted and compiled.
KINDS = [("/annotator/", "annotator"), ("/flowspace/", "flow"), ("/rlib/", "plain"),
         ("/jit/metainterp/", "metainterp"), ("/translator/c/", ""), ("/translator/", "annotator")]
# Hours each, or they test the toolchain's own machinery.
SKIP = ("test_standalone", "test_boehm", "test_rbigint_slow", "test_zrpy",
        "test_rvmprof", "test_rcpu", "test_dlltool", "test_symboltable")

# Cases that one process answers.
BATCH = 300


def default_tests(pypy):
    """Test files that interpret, compile or annotate functions."""
    for folder in FOLDERS:
        for name in sorted(os.listdir(os.path.join(pypy, folder))):
            if not name.startswith("test_") or not name.endswith(".py"):
                continue
            if name.startswith(SKIP):
                continue
            yield os.path.join(folder, name)


def record(args):
    os.makedirs(args.cases, exist_ok=True)
    env = dict(os.environ, TAIPAN_CASES=os.path.abspath(args.cases), PYTHONPATH=HERE,
               PYTHONDONTWRITEBYTECODE="1")
    python = os.environ.get("PYTHON2", "python2.7")
    for test in args.tests or default_tests(args.pypy):
        env["TAIPAN_KINDS"] = next((k for f, k in KINDS if f in test), "")
        try:
            subprocess.call(
                [python, "pytest.py", "-p", "recorder", "-q", "--assert=plain", test],
                cwd=args.pypy, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                timeout=args.seconds)
        except subprocess.TimeoutExpired:
            print(test, "took too long")
        noted = os.path.join(args.cases, "cases.jsonl")
        count = sum(1 for _ in open(noted)) if os.path.exists(noted) else 0
        print(test, count, flush=True)


def judge(args):
    env = dict(os.environ, PYTHONPATH=os.pathsep.join([os.path.abspath(args.pypy), HERE]),
               PYTHONDONTWRITEBYTECODE="1")
    command = [os.environ.get("PYTHON2", "python2.7"), os.path.join(HERE, "verdict.py"),
               args.cases] + ([args.names] if args.names else [])
    subprocess.check_call(command, env=env)


def programs(args):
    known = [p for p in args.programs if original(p) is not None]
    new = [p for p in args.programs if p not in known]
    if new:
        env = dict(os.environ, PYTHONPATH=os.path.abspath(args.pypy), PYTHONDONTWRITEBYTECODE="1")
        subprocess.check_call([os.environ.get("PYTHON2", "python2.7"),
                               os.path.join(HERE, "programs.py")] + new,
                              env=env, stderr=subprocess.DEVNULL)
    functions = rejected = differing = 0
    for path in args.programs:
        with open(path) as f:
            functions += sum(1 for line in f if line.lstrip().startswith("def "))
        accepted, want = original(path)
        rejected += not accepted
        for engine in "native", "llinterp":
            done = subprocess.run([args.taipan, "run", "--no-cache", "--engine", engine, path],
                                  capture_output=True, text=True)
            if (done.returncode == 0) != accepted or accepted and done.stdout != want:
                differing += 1
                says = "" if accepted else ", which the original rejects: " + want.strip()[:300]
                print("%s, %s%s\n%s" % (path, engine, says, done.stderr[:500]), flush=True)
    print("%d programs with %d functions: %d rejected by the original, %d runs differ"
          % (len(args.programs), functions, rejected, differing))


def original(path):
    """Whether the original accepts a program and what that printed, or its reason; None if
    it has not been asked."""
    for accepted, ending in [(True, ".original"), (False, ".rejected")]:
        noted = os.path.splitext(path)[0] + ending
        if os.path.exists(noted):
            with open(noted) as f:
                return accepted, f.read()
    return None


def annotation(taipan, case):
    """What `taipan emit annotations` says."""
    done = subprocess.run(
        [taipan, "emit", "annotations", "%s:%s" % (case["file"], case["func"]),
         "--inputs", case["args"][0], "--format", "json"], capture_output=True, text=True)
    try:
        return dict(json.loads(done.stdout), id=case["id"])
    except ValueError:
        return {"error": "no answer: " + done.stderr[:200], "id": case["id"]}


def flow(taipan, case):
    """Whether `taipan emit flow` makes a graph."""
    done = subprocess.run([taipan, "emit", "flow", "%s:%s" % (case["file"], case["func"])],
                          capture_output=True, text=True)
    lines = done.stderr.split("\n")
    return {"ok": None} if done.returncode == 0 else {"error": lines[0]}


def agrees(expect, answer):
    if "error" in expect:
        return "error" in answer
    if "annotation" in expect:
        return answer.get("annotation") == expect["annotation"]
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
    return visible(want) == visible(got)


def visible(value):
    """A value without the halves of surrogate pairs, which `taipan call` cannot print."""
    if isinstance(value, list):
        return [visible(v) for v in value]
    if isinstance(value, str):
        return re.sub("[\ud800-\udfff]", "\ufffd", value)
    return value


def run_batches(args, calls, answers, options=()):
    """Gives cases to `taipan call --batch` and notes what it answers, by id. Cases of one
    file are done by the same process, which compiles it once; a process does not get too
    many, since it remembers all of them."""
    calls = sorted(calls, key=lambda c: c["file"])
    size = min(BATCH, -(-len(calls) // args.jobs) or 1)
    batches = [calls[i:i + size] for i in range(0, len(calls), size)]
    lock = threading.Lock()

    def work():
        while True:
            with lock:
                if not batches:
                    return
                batch = batches.pop()
            for answer in run_batch(args, batch, list(options)):
                answers[answer["id"]] = answer

    threads = [threading.Thread(target=work) for _ in range(args.jobs)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def run_batch(args, batch, options):
    """What one `taipan call --batch` answers until it ends or its time is over."""
    p = subprocess.Popen([args.taipan, "call", "--json", "--batch", "-"] +
                         (["--engine", args.engine] if args.engine else []) + options,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL)

    def feed():
        try:
            for c in batch:
                line = json.dumps({k: c[k] for k in ("file", "func", "args", "id")})
                p.stdin.write(line.encode() + b"\n")
            p.stdin.close()
        except OSError:
            pass  # it died: the missing answers tell

    threading.Thread(target=feed, daemon=True).start()
    killer = threading.Timer(args.seconds, p.kill)
    killer.start()
    for line in p.stdout:
        try:
            answer = json.loads(line.decode("utf-8", "replace"))
            if "id" in answer:
                yield answer
        except ValueError:
            pass
    killer.cancel()


def compare(args):
    cases = [json.loads(l) for l in open(os.path.join(args.cases, "cases.jsonl"))]
    if args.only:
        cases = [c for c in cases if args.only in c["id"]]
    answers = {c["id"]: annotation(args.taipan, c) for c in cases if c["kind"] == "annotation"}
    answers.update((c["id"], flow(args.taipan, c)) for c in cases if c["kind"] == "flow")
    calls = [c for c in cases if c["kind"] not in ("annotation", "flow")]
    run_batches(args, calls, answers)
    if args.jit is not None:
        # What plain Python cannot tell has to be what comes out without.
        for c in calls:
            if "any" in c["expect"]:
                c["expect"] = answers.get(c["id"], c["expect"])
        answers = {}
        run_batches(args, calls, answers, ["--jit", "--jit-threshold", str(args.jit)])
    reasons = collections.defaultdict(list)
    good = 0
    per_file = collections.defaultdict(lambda: [0, 0])
    for c in cases:
        a = answers.get(c["id"], {"error": "no answer (crashed)"})
        stem = c.get("suite", "?")
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
        for c, a in items if args.verbose else items[:2]:
            print("         %s(%s): wanted %s, got %s"
                  % (c["id"], ", ".join(c["args"]), c["expect"],
                     {k: v for k, v in a.items() if k != "id"} if "error" not in a else "error"))
    if args.differing:
        with open(args.differing, "w") as f:
            f.writelines(c["id"] + "\n" for items in reasons.values() for c, _ in items)
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
    r.add_argument("--seconds", type=int, default=300, help="for one test file")
    r.set_defaults(run=record)
    c = sub.add_parser("compare")
    c.add_argument("cases")
    c.add_argument("--only")
    c.add_argument("--engine")
    c.add_argument("--jit", type=int, metavar="THRESHOLD", help="compile loops just in time")
    c.add_argument("--taipan", default="target/release/taipan")
    c.add_argument("--jobs", type=int, default=2)
    c.add_argument("--most", type=int, default=40)
    c.add_argument("--seconds", type=int, default=300, help="for a batch, then the rest of it counts as crashed")
    c.add_argument("--differing", help="a file for the names of the cases that differ")
    c.add_argument("-v", dest="verbose", action="store_true")
    c.set_defaults(run=compare)
    j = sub.add_parser("judge")
    j.add_argument("pypy")
    j.add_argument("cases")
    j.add_argument("names", nargs="?")
    j.set_defaults(run=judge)
    g = sub.add_parser("programs")
    g.add_argument("pypy")
    g.add_argument("programs", nargs="+")
    g.add_argument("--taipan", default="target/release/taipan")
    g.set_defaults(run=programs)
    args = p.parse_args()
    args.run(args)


if __name__ == "__main__":
    sys.exit(main())
