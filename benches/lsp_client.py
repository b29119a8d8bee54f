"""A client of a language server on pipes, for the scripts that measure one."""

import json
import os
import shlex
import shutil
import subprocess


def absolute(command):
    """The command, wherever it is started."""
    return [os.path.abspath(shutil.which(command[0])), *command[1:]]


class Client:
    def __init__(self, command, root, settings=None):
        self.process = subprocess.Popen(
            absolute(shlex.split(command)), cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.next = 0
        self.version = 1
        self.request("initialize", {
            "processId": None,
            "capabilities": {"general": {"positionEncodings": ["utf-8"]},
                             "window": {"workDoneProgress": True}},
            "workspaceFolders": [{"uri": root.as_uri(), "name": "bench"}],
            "initializationOptions": settings or {},
        })
        self.notify("initialized", {})

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self):
        length = 0
        while line := self.process.stdout.readline().strip():
            name, _, value = line.partition(b": ")
            if name == b"Content-Length":
                length = int(value)
        message = json.loads(self.process.stdout.read(length))
        if "id" in message and "method" in message:
            # One empty answer per item that is asked for.
            items = message.get("params", {}).get("items") if message["params"] else None
            self.send({"id": message["id"], "result": items and [{} for _ in items]})
        return message

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def request(self, method, params):
        """The result of a request. An error is repeated: the program is still being analysed."""
        while True:
            self.next += 1
            self.send({"id": self.next, "method": method, "params": params})
            reply = self.wait(lambda m: m.get("id") == self.next and "method" not in m)
            if "error" not in reply:
                return reply["result"]

    def wait(self, wanted):
        while not wanted(message := self.receive()):
            pass
        return message

    def open(self, path):
        text = path.read_text()
        self.notify("textDocument/didOpen", {"textDocument": {
            "uri": path.as_uri(), "languageId": "python", "version": self.version, "text": text}})
        return text

    def replace(self, path, first, end, text):
        """Replaces whole lines of an open file."""
        self.version += 1
        self.notify("textDocument/didChange", {
            "textDocument": {"uri": path.as_uri(), "version": self.version},
            "contentChanges": [{"range": {
                "start": {"line": first, "character": 0},
                "end": {"line": end, "character": 0}}, "text": text}]})

    def stop(self):
        self.request("shutdown", None)
        self.notify("exit", None)
        self.process.wait()
