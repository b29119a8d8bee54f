#!/usr/bin/env python3
"""What an editor and the page of `taipan explore` show of a new project: `tests/newcomer.py FOLDER`.

`taipan` is the one on PATH. Exits with the text of the first failure.
"""

import http.cookiejar
import json
import subprocess
import sys
import urllib.parse
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benches"))
from lsp_client import Client


def editor(folder):
    """A hover, the error of a slip, and its end."""
    client = Client("taipan lsp", folder)
    path = folder / "interpreter.py"
    lines = client.open(path).splitlines()
    line = next(i for i, text in enumerate(lines) if text.startswith("class Frame"))
    place = {"textDocument": {"uri": path.as_uri()}, "position": {"line": line, "character": 7}}
    hover = client.request("textDocument/hover", place)
    assert hover and "Frame" in json.dumps(hover["contents"]), hover

    def diagnostics():
        found = client.wait(lambda m: m.get("method") == "textDocument/publishDiagnostics"
                            and m["params"]["uri"] == path.as_uri()
                            and m["params"].get("version", client.version) == client.version)
        return found["params"]["diagnostics"]

    at = next(i for i, text in enumerate(lines) if "(compare(instruction" in text or "int(compare(instruction" in text)
    slip = lines[at].replace("Integer(int(", "", 1).replace("))))", "))", 1)
    assert slip != lines[at], lines[at]
    client.replace(path, at, at + 1, slip + "\n")
    while not any(d["code"] == "TP0300" for d in diagnostics()):
        pass
    client.replace(path, at, at + 1, lines[at] + "\n")
    while any(d["code"] == "TP0300" for d in diagnostics()):
        pass
    client.process.kill()


def page(folder):
    """The program, and a function of it as a picture."""
    server = subprocess.Popen(["taipan", "explore", "main.py"], cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().strip()
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        opener = urllib.request.build_opener(jar)
        with opener.open(address) as reply:
            assert "<title>taipan explore</title>" in reply.read().decode()
        base = address.split("/?")[0]

        def get(path, **parameters):
            query = urllib.parse.urlencode(parameters)
            with opener.open(f"{base}{path}?{query}", timeout=120) as reply:
                return json.load(reply)

        names = [f["name"] for f in get("/api/program")["functions"]]
        name = next(n for n in names if n.startswith("interpreter."))
        assert "<svg" in get("/api/view", f=name, stage="annotations")["svg"]
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    project = Path(sys.argv[1]).resolve()
    editor(project)
    page(project)
