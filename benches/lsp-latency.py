#!/usr/bin/env python3
"""How long an editor waits: lsp-latency.py PROJECT [--file FILE] SERVER...

PROJECT is a folder with a target, for instance of
`cargo run --release -p taipan-benches --bin generate -- --functions 30000 OUT`.
A SERVER is a command: `'target/release/taipan lsp' 'ty server' 'pyrefly lsp'`. Each is started
there, opens FILE (by default the longest one), and is waited for until it has told what is
wrong with it. Then mistakes are made and taken back: medians in milliseconds from the edit to
the diagnostics, and of requests right after an edit.
"""

import pathlib
import re
import shlex
import shutil
import statistics
import sys
import time

from lsp_client import Client

ROUNDS = 15


def main():
    args = sys.argv[1:]
    root = pathlib.Path(args.pop(0)).resolve()
    path = max(root.rglob("*.py"), key=lambda p: p.stat().st_size)
    if args[:1] == ["--file"]:
        path = root / args[1]
        args = args[2:]
    for command in args:
        program = shlex.split(command)[0]
        if not shutil.which(program):
            print(f"{command}: there is no {program}")
            continue
        print(f"{command}, {path.relative_to(root)}")
        measure_server(command, root, path)


def measure_server(command, root, path):
    uri = path.as_uri()
    client = Client(command, root)
    start = time.monotonic()
    text = client.open(path)
    told = lambda m: (m.get("method") == "textDocument/publishDiagnostics"
                      and m["params"]["uri"] == uri)
    # Servers that infer within files find something in programs without annotations.
    usual = len(client.wait(told)["params"]["diagnostics"])
    print(f"  first analysis: {time.monotonic() - start:.2f} s")

    # A line in the middle of the file that returns something.
    lines = text.splitlines()
    returns = [i for i, l in enumerate(lines) if re.match(r"    +return \S", l)]
    line = returns[len(returns) // 2]
    indent = re.match(r" *", lines[line]).group()

    def change(start_line, end_line, new):
        client.replace(path, start_line, end_line, new)

    def published(more):
        return lambda m: told(m) and (len(m["params"]["diagnostics"]) > usual) == more

    times = {}

    def measure(name, work):
        begin = time.monotonic()
        work()
        times.setdefault(name, []).append((time.monotonic() - begin) * 1000)

    at = {"textDocument": {"uri": uri},
          "position": {"line": line, "character": len(indent) + 8}}
    for _ in range(ROUNDS):
        mistake = f"{indent}no_such_name_anywhere()\n"
        measure("a mistake is told", lambda: (
            change(line, line, mistake), client.wait(published(True))))
        measure("its end is told", lambda: (
            change(line, line + 1, ""), client.wait(published(False))))
        measure("a broken line is told", lambda: (
            change(line, line, f"{indent}x = (\n"), client.wait(published(True))))
        measure("it is whole again", lambda: (
            change(line, line + 1, ""), client.wait(published(False))))
        measure("hover", lambda: client.request("textDocument/hover", at))
        measure("hover right after an edit", lambda: (
            change(line, line, f"{indent}x = 1\n"),
            client.request("textDocument/hover", at)))
        measure("tokens of the file", lambda: client.request(
            "textDocument/semanticTokens/full", {"textDocument": {"uri": uri}}))
        measure("hints of the file", lambda: client.request("textDocument/inlayHint", {
            "textDocument": {"uri": uri}, "range": {
                "start": {"line": 0, "character": 0},
                "end": {"line": len(lines), "character": 0}}}))
        measure("references", lambda: client.request("textDocument/references", {
            **at, "context": {"includeDeclaration": True}}))
        change(line, line + 1, "")
    for name, values in times.items():
        print(f"  {name:28} {statistics.median(values):9.1f} ms   worst {max(values):9.1f}")
    client.stop()


if __name__ == "__main__":
    main()
