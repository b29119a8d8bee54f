#!/usr/bin/env python3
"""How long each kind of request takes: lsp-requests.py [--target TARGET] [--server COMMAND] PROJECT FILE

PROJECT is a folder with a target, FILE a Python file of its program. The targets are those of the project
unless one is given. Columns, in milliseconds:

    opened   a new server's first request, right behind the file's `didOpen`, until there is a result
    first    the first request of the kind in another new server, once a hover has a result
    later    median and maximum of requests at other places of the file
    edited   median and maximum of requests right behind an edit: the line up to the place is written once
             more for completion and signature help, an assignment above it for the others

A server that is not measured fills the cache first.
"""

import argparse
import pathlib
import re
import statistics
import time

from lsp_client import Client

ROUNDS = 15


class Kind:
    def __init__(self, name, method, column=None, half=False, **params):
        self.name = name
        self.method = method
        # Where in the match of a call the request is made; None for the whole file.
        self.column = column
        # Whether it is made at the end of a line that is being written.
        self.half = half
        self.params = params

    def request(self, client, path, line, call):
        params = {"textDocument": {"uri": path.as_uri()}, **self.params}
        if self.column:
            params["position"] = {"line": line, "character": self.column(call)}
        return client.request(f"textDocument/{self.method}", params)


def kinds(lines):
    name = lambda call: call.start("name")
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": lines, "character": 0}}
    return [
        Kind("hover", "hover", name),
        Kind("completion", "completion", name, half=True),
        Kind("signature help", "signatureHelp", lambda call: call.end("name") + 1, half=True),
        Kind("definition", "definition", name),
        Kind("references", "references", name, context={"includeDeclaration": True}),
        Kind("semantic tokens", "semanticTokens/full"),
        Kind("inlay hints", "inlayHint", range=whole),
        Kind("code lenses", "codeLens"),
        Kind("symbols", "documentSymbol"),
    ]


def calls(lines):
    """Calls of methods, spread over the file: the line and the match of each."""
    pattern = re.compile(r"(?P<indent>    +)(?:\w+ = |return )?\w+\.(?P<name>\w+)\(")
    found = [(i, m) for i, l in enumerate(lines) if (m := pattern.match(l))]
    return found[::max(1, len(found) // ROUNDS)][:ROUNDS]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--target")
    parser.add_argument("--server", default="taipan lsp")
    parser.add_argument("project", type=pathlib.Path)
    parser.add_argument("file")
    args = parser.parse_args()
    root = args.project.resolve()
    path = root / args.file
    lines = path.read_text().splitlines()
    places = calls(lines)

    all_kinds = kinds(len(lines))
    hover = all_kinds[0]

    def opened(analysed):
        """A new server with the file open, and when it was opened."""
        client = Client(args.server, root, args.target and {"targets": [args.target]})
        start = time.monotonic()
        client.open(path)
        # Diagnostics of the syntax alone come first; a hover needs the program.
        while analysed and not hover.request(client, path, *places[0]):
            time.sleep(0.01)
        return client, start

    client, start = opened(True)
    print(f"{args.file}, {len(lines)} lines, {len(places)} places; first analysis {time.monotonic() - start:.1f} s")
    client.stop()
    print("| | opened | first | later | at most | edited | at most |")
    print("| --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for kind in all_kinds:
        client, start = opened(False)
        kind.request(client, path, *places[0])
        row = [(time.monotonic() - start) * 1000]
        client.stop()
        client, _ = opened(True)
        first, *later = [took(kind.request, client, path, *place) for place in places]
        edited = [t for place in places for t in edits(client, kind, path, *place)]
        client.stop()
        row += [first, statistics.median(later), max(later), statistics.median(edited), max(edited)]
        print("|", kind.name, "|", " | ".join(f"{t:.1f}" for t in row), "|", flush=True)


def edits(client, kind, path, line, call):
    """Times of a request behind an edit, and behind its undoing. No text comes twice."""
    def edit(end, text, at):
        client.replace(path, line, end, text)
        kind.request(client, path, at, call)

    assignment = f"{call['indent']}edited = {client.version}\n"
    if kind.half:
        edit(line, assignment, line + 1)
        yield took(edit, line, call.string[:kind.column(call)] + "\n", line)
        edit(line + 2, "", line)
    else:
        yield took(edit, line, assignment, line + 1)
        yield took(edit, line + 1, "", line)


def took(work, *args):
    begin = time.monotonic()
    work(*args)
    return (time.monotonic() - begin) * 1000


if __name__ == "__main__":
    main()
