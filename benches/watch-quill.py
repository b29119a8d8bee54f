#!/usr/bin/env python3
"""How long after an edit the new code runs: a one-line change in the VM loop of Quill, the
small-language interpreter in fixtures/, under `taipan watch run`.

The program starts by printing a number that the edit changes. Measured is the time from the
rename that saves the file to the first byte that the new program writes, and where it goes by the
watcher's own account.

usage: benches/watch-quill.py [--hot] [ROUNDS]
       TAIPAN: the binary to measure; by default target/release/taipan
"""
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TAIPAN = os.environ.get('TAIPAN', os.path.join(ROOT, 'target/release/taipan'))


def main():
    args = sys.argv[1:]
    hot = '--hot' in args
    rounds = int(next((a for a in args if a != '--hot'), 20))
    if not os.access(TAIPAN, os.X_OK):
        sys.exit("no %s: run 'cargo build --release' first" % TAIPAN)
    work = tempfile.mkdtemp()
    try:
        measure(work, hot, rounds)
    finally:
        shutil.rmtree(work)


def measure(work, hot, rounds):
    quill = os.path.join(work, 'quill')
    shutil.copytree(os.path.join(ROOT, 'fixtures/programs/quill'), quill)
    demo = os.path.join(work, 'demo.ql')
    with open(demo, 'w') as f:
        # A loop without end, where the new code has to come in while it runs.
        f.write('fn step(n) { return n; }\nwhile true { step(1); }\n' if hot else 'print "done";\n')
    vm = os.path.join(quill, 'vm.py')
    with open(vm) as f:
        source = f.read()
    # By a loop that goes on, the number is printed now and then.
    when = 'self.instructions & 0xffff == 0' if hot else 'self.instructions == 0'
    save(vm, edited(source, when, 0))
    command = [TAIPAN, 'watch', 'run'] + (['--hot'] if hot else [])
    command += [os.path.join(quill, 'targetquill.py'), demo]
    watcher = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, bufsize=0)
    told = Lines(watcher.stderr)
    output = Lines(watcher.stdout)
    try:
        output.wait('round 0')
        told.wait('watching')
        before = cpu(watcher.pid)
        totals, phases = [], {}
        for n in range(1, rounds + 1):
            time.sleep(0.3)
            text = edited(source, when, n)
            start = save(vm, text)
            totals.append((output.wait('round %d\n' % n) - start) * 1e3)
            for name, ms in re.findall(r'([a-z]+) ([0-9.]+) ms', told.after('took ')):
                phases.setdefault(name, []).append(float(ms))
        spent = (cpu(watcher.pid) - before) * 1e3 / rounds
    finally:
        watcher.terminate()
        watcher.wait()
    print('%s, %d edits: median %.1f ms, fastest %.1f ms, slowest %.1f ms'
          % ('watch run --hot' if hot else 'watch run', rounds, statistics.median(totals),
             min(totals), max(totals)))
    for name, values in phases.items():
        print('  %-10s %6.1f ms' % (name, statistics.median(values)))
    inside = sum(statistics.median(v) for v in phases.values())
    print('  %-10s %6.1f ms' % ('the rest', statistics.median(totals) - inside))
    print('CPU time of the watcher per edit, on all its threads: %.1f ms' % spent)


def cpu(pid):
    """Seconds of user and system time that a process has taken."""
    with open('/proc/%d/stat' % pid) as f:
        fields = f.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def edited(source, when, n):
    """The VM with one line of its loop changed."""
    return re.sub(r'( +)(self\.instructions \+= 1\n)',
                  r'\1if %s: os.write(1, "round %d\\n")\n\1\2' % (when, n),
                  'import os\n' + source, count=1)


def save(path, text):
    new = path + '.new'
    with open(new, 'w') as f:
        f.write(text)
    start = time.perf_counter()
    os.rename(new, path)
    return start


class Lines(object):
    """A stream read on a thread, with the time at which each piece came."""

    def __init__(self, stream):
        self.text = ''
        self.seen = 0
        self.changed = threading.Condition()
        threading.Thread(target=self.read, args=(stream,), daemon=True).start()

    def read(self, stream):
        while True:
            piece = os.read(stream.fileno(), 65536)
            now = time.perf_counter()
            with self.changed:
                self.text += piece.decode()
                self.now = now
                self.changed.notify_all()
            if not piece:
                return

    def wait(self, text):
        with self.changed:
            while text not in self.text[self.seen:]:
                if not self.changed.wait(60):
                    sys.exit('no %r after:\n%s' % (text, self.text[-2000:]))
            self.seen = self.text.index(text, self.seen) + len(text)
            return self.now

    def after(self, text):
        self.wait(text)
        with self.changed:
            while '\n' not in self.text[self.seen:]:
                self.changed.wait(60)
            return self.text[self.seen:self.text.index('\n', self.seen)]


if __name__ == '__main__':
    main()
