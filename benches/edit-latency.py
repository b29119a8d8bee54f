#!/usr/bin/env python3
"""What an edit of a real program costs: from the edit to the diagnostics or to the output of the
new code.

usage: benches/edit-latency.py [--rounds N] [--edit NAME] [--bc] HOW PROGRAM...

HOW is `server` (from `didChange` to `publishDiagnostics`), `check` (`taipan watch check`, from the rename
that saves the file to "no errors"), `run` or `hot` (`taipan watch run [--hot]`, from there to the first
byte that the new program writes). PROGRAM is `quill` or a checkout of SOM-st/PySOM or of PyPy, which is
copied. PySOM's interpreter is the one of syntax trees; that of bytecode with --bc.

Every edit gives the file a line more or less in front of a function that nothing calls. It is shown faded, so
that the server has something to tell although nothing is wrong.

TAIPAN: the binary to measure; by default target/release/taipan
"""
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TAIPAN = os.path.abspath(os.environ.get('TAIPAN', ROOT / 'target/release/taipan'))

# For each edit a file, what is found in it and what takes its place. `{n}` counts edits.
QUILL = {
    'a body': ('vm.py', r'(    raise QuillError\(.bad instruction %d. % op, )0', r'\g<1>{n}'),
    'the loop': ('vm.py', r'( +)self\.instructions \+= 1\n',
                 r'\g<0>\1if self.instructions == {n}000001:\n\1    self.calls += 1\n'),
    'an attribute': ('vm.py', r'        self\.calls = 0\n', r'\g<0>        self.new_{n} = {n}\n'),
    'a function': ('vm.py', r'def binary\(op, w_left, w_right\):\n',
                   r'def new_{n}(n):\n    return n * {n} + 1\n\n\n\g<0>'
                   r'    if op == 300:\n        op = new_{n}(op)\n'),
    'a class': ('vm.py', r'def binary\(op, w_left, w_right\):\n',
                r'class New{n}(W_Root):\n    def less(self, other):\n        return not other.less(self)'
                r'\n\n\n\g<0>    if op == 300:\n        w_left = New{n}()\n'),
    'a table': ('opcodes.py', r"    \('NIL', False, 1\),\n", r"\g<0>    ('NEW_{n}', False, {n}),\n"),
    'a body that ran': ('opcodes.py', r'    OPCODES\.append\(op\)\n', r'\g<0>    assert op.number != -{n}\n'),
}
PYSOM = {
    'a body': ('src/som/vm/universe.py', r'    def load_shell_class\(self, stmt\):\n',
               r'\g<0>        if stmt == "{n}":\n            return None\n'),
    'an attribute': ('src/som/vm/universe.py', r'        self\.classpath = None\n',
                     r'\g<0>        self.new_{n} = {n}\n'),
    'a function': ('src/som/vm/universe.py', r'    def load_shell_class\(self, stmt\):\n',
                   r'    def new_{n}(self, n):\n        return "%d" % (n * {n})\n\n'
                   r'\g<0>        if stmt == self.new_{n}(len(stmt)):\n            return None\n'),
    'a class': ('src/som/vm/universe.py', r'class Universe\(object\):\n',
                r'class New{n}(Exit):\n    pass\n\n\n\g<0>    def new(self):\n        raise New{n}({n})\n\n',
                r'    def load_shell_class\(self, stmt\):\n', r'\g<0>        self.new()\n'),
    'a table': ('src/som/compiler/lexer.py', r'    _SEPARATOR = "----"\n', r'    _SEPARATOR = "----{n}"\n'),
    'a handler': ('src/som/primitives/integer_primitives.py', r'def _as_string\(rcvr\):\n',
                  r'\g<0>    if rcvr.get_embedded_integer() == {n}:\n        return rcvr.prim_as_string()\n'),
}
PYSOM_BC = dict(PYSOM, **{
    'a table': ('src/som/interpreter/bc/bytecodes.py', r'    LEN_TWO_ARGS,  # push_frame_0\n',
                r'    LEN_TWO_ARGS + {n},\n'),
    'a handler': ('src/som/interpreter/bc/interpreter.py',
                  r'( +)elif bytecode == Bytecodes\.push_nil:\n', r'\g<0>\1    assert stack_ptr != {n}00000\n'),
})
PYPY = {
    'a body': ('pypy/interpreter/pyframe.py', r'    def append_block\(self, block\):\n',
               r'\g<0>        if self.valuestackdepth == -{n}:\n            return\n'),
    'a handler': ('pypy/interpreter/pyopcode.py', r'    def ROT_TWO\(self, oparg, next_instr\):\n',
                  r'\g<0>        if oparg == -{n}:\n            return\n'),
    'an attribute': ('pypy/interpreter/baseobjspace.py', r'        self\.fromcache = .*\n',
                     r'\g<0>        self.new_{n} = {n}\n'),
    'a function': ('pypy/interpreter/pyopcode.py', r'class __extend__\(pyframe\.PyFrame\):\n',
                   r'def new_{n}(n):\n    return n * {n} + 1\n\n\g<0>',
                   r'    def ROT_TWO\(self, oparg, next_instr\):\n',
                   r'\g<0>        oparg = new_{n}(oparg)\n'),
    'a table': ('pypy/interpreter/pyopcode.py', r'class __extend__\(pyframe\.PyFrame\):\n',
                r'NEW = [{n}, 2, 3]\n\n\g<0>'),
}
# Nothing calls it.
MARK = '\n\ndef nobody_calls_this():\n    return 1\n'


class Project:
    """A copy of a program, which is edited."""

    def __init__(self, name, work, bc):
        self.environment = dict(os.environ)
        self.options, self.arguments = [], []
        given = pathlib.Path(name)
        skip = shutil.ignore_patterns('.git', '*.pyc')
        if name == 'quill':
            self.root, self.edits = work / 'quill', QUILL
            shutil.copytree(ROOT / 'fixtures/programs/quill', self.root)
            self.target, path = 'targetquill.py', []
            demo = work / 'demo.ql'
            demo.write_text('print "done";\n')
            self.arguments = [str(demo)]
        elif (given / 'src/som').is_dir():
            self.root, self.edits = work / 'pysom', PYSOM_BC if bc else PYSOM
            shutil.copytree(given, self.root, ignore=skip, symlinks=True)
            self.target, path = 'src/main_rpython.py', ['src']
            self.environment['SOM_INTERP'] = 'BC' if bc else 'AST'
            self.arguments = ['-cp', 'Smalltalk', 'Examples/Hello.som']
        else:
            self.root, self.edits = work / 'pypy', PYPY
            shutil.copytree(given, self.root, ignore=skip, symlinks=True)
            self.target, path = 'pypy/goal/targetpypystandalone.py', ['.']
            self.options = PYPY_OPTIONS
            self.arguments = ['-c', 'print 6*7']
        lines = ['[tool.taipan]', f'targets = ["{self.target}"]', f'path = {json.dumps(path)}']
        if self.options:
            lines += ['step-limit = 1_000_000_000_000', f'target-options = {json.dumps(self.options)}']
        (self.root / 'pyproject.toml').write_text('\n'.join(lines) + '\n')

    def start(self, arguments):
        return subprocess.Popen([TAIPAN, *arguments], cwd=self.root, env=self.environment,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                bufsize=0)


PYPY_OPTIONS = ['--no-allworkingmodules', '--withmod-signal', '--withmod-struct', '--withmod-array',
                '--withmod-binascii', '--withmod-cStringIO', '--withmod-_collections']


def edited(edit, source, n):
    """The text of a file with an edit made for the nth time; as it is for 0."""
    if n:
        for pattern, new in zip(edit[1::2], edit[2::2]):
            source, found = re.subn(pattern, new.replace('{n}', str(n)), source, count=1)
            if not found:
                sys.exit('nothing fits %s in %s' % (pattern, edit[0]))
    return source + '\n' * (1 + n % 2 if n else 0) + MARK


class Stream:
    """What a process writes, read on a thread, with the time at which it came."""

    def __init__(self, stream):
        self.text, self.seen, self.now = b'', 0, 0
        self.changed = threading.Condition()
        threading.Thread(target=self.read, args=(stream,), daemon=True).start()

    def read(self, stream):
        while piece := os.read(stream.fileno(), 1 << 16):
            now = time.perf_counter()
            with self.changed:
                self.text += piece
                self.now = now
                self.changed.notify_all()

    def wait(self, pattern, seconds=60):
        """Waits for what fits and has not been waited for; the match, and the time at which it was there."""
        end = time.monotonic() + seconds
        with self.changed:
            while not (found := re.compile(pattern).search(self.text, self.seen)):
                if not self.changed.wait(max(0, end - time.monotonic())):
                    sys.exit('no %r after:\n%s' % (pattern, self.text[-2000:].decode()))
            self.seen = found.end()
            return found, self.now


class Watcher:
    """`taipan watch check` or `taipan watch run`."""

    def __init__(self, project, how):
        words = {'check': ['check'], 'run': ['run'], 'hot': ['run', '--hot']}[how]
        target = [project.target] if how != 'check' else []
        self.how, self.root, self.path = how, project.root, None
        arguments = project.arguments if how != 'check' else []
        self.process = project.start(['watch', *words, *target, *arguments])
        self.told, self.output = Stream(self.process.stderr), Stream(self.process.stdout)

    def open(self, path):
        """Says which file is edited next; when the program has been checked, and runs."""
        if self.path is None:
            if self.how != 'check':
                self.output.wait(rb'\n')
            self.told.wait(rb'watching')
        self.path = self.root / path

    def edit(self, text):
        new = self.path.with_suffix('.new')
        new.write_text(text)
        start = time.perf_counter()
        os.rename(new, self.path)
        if self.how == 'check':
            end = self.told.wait(rb'taipan: (no errors|\d+ warnings?)\n')[1]
        else:
            end = self.output.wait(rb'\n')[1]
        return (end - start) * 1e3

    def account(self):
        """Phases by the watcher's own account of the last round, in milliseconds."""
        text = self.told.text[self.told.text.rfind(b'took '):].split(b'\n')[0].decode()
        return [(name, float(ms)) for name, ms in re.findall(r'([a-z ]+) ([0-9.]+) ms', text)]


class Server:
    """`taipan lsp`, and an editor that shows functions faded."""

    def __init__(self, project, _how):
        self.process = project.start(['lsp'])
        self.root = project.root
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.output = self.process.stdout
        self.read, self.path = b'', None
        self.send({'id': 1, 'method': 'initialize', 'params': {
            'processId': None,
            'capabilities': {
                'general': {'positionEncodings': ['utf-8']},
                'textDocument': {'publishDiagnostics': {'tagSupport': {'valueSet': [1, 2]}}}},
            'workspaceFolders': [{'uri': self.root.as_uri(), 'name': 'bench'}]}})
        while 'id' not in self.receive():
            pass
        self.send({'method': 'initialized', 'params': {}})

    def send(self, message):
        body = json.dumps({'jsonrpc': '2.0', **message}).encode()
        self.process.stdin.write(b'Content-Length: %d\r\n\r\n' % len(body) + body)

    def receive(self):
        while not (head := re.match(rb'Content-Length: (\d+)\r\n\r\n', self.read)):
            self.more()
        start, end = head.end(), head.end() + int(head.group(1))
        while len(self.read) < end:
            self.more()
        message = json.loads(self.read[start:end])
        self.read = self.read[end:]
        if 'id' in message and 'method' in message:
            self.send({'id': message['id'], 'result': None})
        return message

    def more(self):
        piece = os.read(self.output.fileno(), 1 << 20)
        if not piece:
            sys.exit('the server is gone')
        self.read += piece

    def open(self, path):
        """Opens a file, unless it is open."""
        if self.path == self.root / path:
            return
        if self.path:
            self.send({'method': 'textDocument/didClose', 'params': {
                'textDocument': {'uri': self.path.as_uri()}}})
        self.path = self.root / path
        self.text = self.path.read_text()
        self.version = 1
        self.send({'method': 'textDocument/didOpen', 'params': {'textDocument': {
            'uri': self.path.as_uri(), 'languageId': 'python', 'version': 1, 'text': self.text}}})
        self.published()

    def published(self):
        """Waits for what is wrong with the version that was sent last."""
        while True:
            message = self.receive()
            params = message.get('params', {})
            if (message.get('method') != 'textDocument/publishDiagnostics'
                    or params['uri'] != self.path.as_uri()):
                continue
            errors = [d['message'] for d in params['diagnostics'] if d['severity'] == 1]
            if errors:
                sys.exit('%s: %s' % (self.path, errors[0]))
            if params.get('version') == self.version and params['diagnostics']:
                return

    def edit(self, text):
        old, new = self.text.splitlines(True), text.splitlines(True)
        start, end = 0, 0
        while start < min(len(old), len(new)) and old[start] == new[start]:
            start += 1
        while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
            end += 1
        self.text = text
        self.version += 1
        begin = time.perf_counter()
        self.send({'method': 'textDocument/didChange', 'params': {
            'textDocument': {'uri': self.path.as_uri(), 'version': self.version},
            'contentChanges': [{'text': ''.join(new[start:len(new) - end]), 'range': {
                'start': {'line': start, 'character': 0},
                'end': {'line': len(old) - end, 'character': 0}}}]}})
        self.published()
        return (time.perf_counter() - begin) * 1e3

    def account(self):
        return []


def cpu(pid):
    """Seconds of user and system time that a process has taken."""
    with open('/proc/%d/stat' % pid) as f:
        fields = f.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def measure(project, how, rounds, only):
    edits = {name: e for name, e in project.edits.items() if only in (None, name)}
    bases = {}
    for edit in edits.values():
        path = project.root / edit[0]
        bases.setdefault(edit[0], path.read_text())
        path.write_text(edited(edit, bases[edit[0]], 0))
    begin = time.perf_counter()
    server = (Server if how == 'server' else Watcher)(project, how)
    try:
        measure_edits(server, edits, bases, rounds, begin)
    finally:
        server.process.terminate()
        server.process.wait()


def measure_edits(server, edits, bases, rounds, begin):
    first = True
    for name, edit in edits.items():
        source = bases[edit[0]]
        server.open(edit[0])
        if first:
            print('  first: %.2f s' % (time.perf_counter() - begin))
            first = False
        times, phases = [], {}
        spent = 0
        for n in range(1, rounds + 2):
            time.sleep(0.3)
            before = cpu(server.process.pid)
            took = server.edit(edited(edit, source, n))
            time.sleep(0.1)
            # The first one meets what was never asked before.
            if n > 1:
                spent += cpu(server.process.pid) - before
                times.append(took)
                for phase, ms in server.account():
                    phases.setdefault(phase, []).append(ms)
        where = ', '.join('%s %.1f' % (p, statistics.median(v)) for p, v in phases.items())
        print('  %-16s median %7.1f ms, at least %7.1f, at most %7.1f; CPU %6.1f ms  %s'
              % (name, statistics.median(times), min(times), max(times), spent * 1e3 / rounds, where),
              flush=True)
        # As it was, for the next one.
        time.sleep(0.3)
        server.edit(edited(edit, source, 0))


def main():
    args = sys.argv[1:]
    rounds, only, bc = 15, None, False
    while args and args[0].startswith('--'):
        option = args.pop(0)
        if option == '--rounds':
            rounds = int(args.pop(0))
        elif option == '--edit':
            only = args.pop(0)
        elif option == '--bc':
            bc = True
        else:
            sys.exit(__doc__)
    if len(args) < 2 or args[0] not in ('server', 'check', 'run', 'hot'):
        sys.exit(__doc__)
    how = args.pop(0)
    for name in args:
        # Not in /tmp: who lists that while it is imported would see whatever comes and goes.
        work = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get('TAIPAN_BENCH_DIR')))
        try:
            print('%s, %s' % (how, name))
            measure(Project(name, work, bc), how, rounds, only)
        finally:
            shutil.rmtree(work)


if __name__ == '__main__':
    main()
