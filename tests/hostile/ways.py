"""The ways by which a folder is opened. Each yields a sentence for everything that went wrong."""

import json
import os
import queue
import resource
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

#: Bytes of memory that a command may use.
MEMORY = 2 << 30
#: Seconds for a command that ends by itself, limits of import time included.
PATIENCE = 60
#: Seconds within which the server answers `shutdown`, whatever it is doing.
AT_ONCE = 5


def limits():
    """Applies to the commands that are started, and what they start."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def watch_memory(process, found):
    """Ends a process that takes more than `MEMORY`."""
    while process.poll() is None:
        try:
            pages = int(Path(f'/proc/{process.pid}/statm').read_text().split()[1])
        except (OSError, IndexError):
            return
        if pages * 4096 > MEMORY:
            found.append(f'it took more than {MEMORY >> 20} MB of memory')
            process.kill()
            return
        time.sleep(0.02)


def start(taipan, arguments, place, **how):
    process = subprocess.Popen(
        [taipan, *arguments], cwd=place.project, env=place.environment(), preexec_fn=limits,
        stdin=how.pop('stdin', subprocess.DEVNULL), stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)
    found = []
    threading.Thread(target=watch_memory, args=(process, found), daemon=True).start()
    return process, found


#: Limits of import time, so that what comes to them does so soon.
LIMITS = ['--memory-limit', '256M', '--step-limit', '20000000']


def check(taipan, place):
    """`taipan check`, twice: the second one may go on with what the first one left."""
    for _ in range(2):
        process, found = start(taipan, ['check', *LIMITS], place)
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            yield f'check took longer than {PATIENCE} s'
            return
        yield from found
        text = (out + err).decode('utf-8', 'replace')
        if process.returncode not in (0, 1) or 'internal error' in text or 'panicked' in text:
            yield f'check ended with {process.returncode}: {text[-600:]}'
        for needed in place.case.says:
            if needed not in text:
                yield f'check does not say {needed!r}: {text[-600:]}'
        for unwanted in place.case.never_says:
            if unwanted in text:
                yield f'check says {unwanted!r}'


class Server:
    """A language server, and what it sends."""

    def __init__(self, taipan, place):
        self.process, self.found = start(taipan, ['lsp'], place, stdin=subprocess.PIPE)
        self.messages = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.number = 0

    def read(self):
        out = self.process.stdout
        while True:
            length = 0
            while line := out.readline().strip():
                if line.lower().startswith(b'content-length:'):
                    length = int(line.split(b':')[1])
            if not length:
                return self.messages.put(None)
            self.messages.put(json.loads(out.read(length)))

    def send(self, method, params, is_request=False):
        message = {'jsonrpc': '2.0', 'method': method, 'params': params}
        if is_request:
            self.number += 1
            message['id'] = self.number
        body = json.dumps(message).encode()
        try:
            self.process.stdin.write(b'Content-Length: %d\r\n\r\n%s' % (len(body), body))
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        return self.number

    def answer(self, number, seconds):
        """The answer to a request; requests of the server are answered with null. None if there is none in time."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            try:
                message = self.messages.get(timeout=left)
            except queue.Empty:
                return None
            if message is None:
                return None
            if message.get('id') == number and 'method' not in message:
                return message
            if 'id' in message and 'method' in message:
                body = json.dumps({'jsonrpc': '2.0', 'id': message['id'], 'result': None}).encode()
                self.process.stdin.write(b'Content-Length: %d\r\n\r\n%s' % (len(body), body))
                self.process.stdin.flush()
        return None


def lsp(taipan, place):
    """The server is told of the folder and nothing else, then of its target, then is asked to end."""
    server = Server(taipan, place)
    uri = place.project.as_uri()
    hello = server.send('initialize', {'processId': None, 'rootUri': uri, 'capabilities': {},
                                       'initializationOptions': {'memoryLimit': '256M'},
                                       'workspaceFolders': [{'uri': uri, 'name': 'project'}]}, True)
    if server.answer(hello, PATIENCE) is None:
        yield 'initialize was not answered'
    server.send('initialized', {})
    time.sleep(1.5)
    target = place.project / 'target.py'
    document = {'uri': target.as_uri(), 'languageId': 'python', 'version': 1,
                'text': target.read_text(errors='replace')}
    server.send('textDocument/didOpen', {'textDocument': document})
    server.send('textDocument/hover', {'textDocument': {'uri': target.as_uri()},
                                       'position': {'line': 0, 'character': 5}}, True)
    time.sleep(0.5)
    # The mistake is gone: the next question must not wait for what was asked of the old text.
    server.send('textDocument/didChange', {
        'textDocument': {'uri': target.as_uri(), 'version': 2},
        'contentChanges': [{'text': 'def entry_point(argv):\n    number = 6 * 7\n    return number\n'}]})
    hover = server.send('textDocument/hover', {'textDocument': {'uri': target.as_uri()},
                                               'position': {'line': 1, 'character': 6}}, True)
    if server.answer(hover, AT_ONCE) is None:
        yield f'a hover over mended text was not answered within {AT_ONCE} s'
    bye = server.send('shutdown', None, True)
    if server.answer(bye, AT_ONCE) is None:
        yield f'shutdown was not answered within {AT_ONCE} s'
    server.send('exit', None)
    try:
        server.process.wait(AT_ONCE)
    except subprocess.TimeoutExpired:
        server.process.kill()
        yield 'the server did not end after exit'
    if server.process.returncode not in (0, -signal.SIGKILL):
        yield f'the server ended with {server.process.returncode}'
    yield from server.found


def interrupt(process, name):
    """Ends a command that goes on, as a user does."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(AT_ONCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        yield f'{name} did not end within {AT_ONCE} s of Ctrl-C'


def watch(taipan, place):
    """`taipan watch check`, for some seconds."""
    process, found = start(taipan, ['watch', 'check', *LIMITS, 'target.py'], place)
    threading.Thread(target=process.stdout.read, daemon=True).start()
    threading.Thread(target=process.stderr.read, daemon=True).start()
    time.sleep(3)
    if process.poll() not in (None, 0, 1):
        yield f'watch ended with {process.returncode}'
    yield from interrupt(process, 'watch')
    yield from found


def explore(taipan, place):
    """The page of `taipan explore`: it may be asked for by whoever knows its address, and by nobody else."""
    process, found = start(taipan, ['explore', *LIMITS, 'target.py'], place)
    lines = queue.Queue()
    for stream in (process.stdout, process.stderr):
        threading.Thread(target=lambda s=stream: [lines.put(line) for line in s], daemon=True).start()
    address = None
    until = time.monotonic() + PATIENCE
    while address is None and time.monotonic() < until and process.poll() is None:
        try:
            words = lines.get(timeout=0.2).decode('utf-8', 'replace').split()
        except queue.Empty:
            continue
        address = next((word.strip('.,') for word in words if word.startswith('http://')), None)
    if address is None:
        yield 'explore gave no address'
    else:
        bare = '/'.join(address.split('/')[:3]) + '/'
        yield from refused(bare, {}, 'without its token')
        yield from refused(address, {'Host': 'attacker.example'}, 'under a foreign name')
    yield from interrupt(process, 'explore')
    yield from found


def refused(address, headers, how):
    request = urllib.request.Request(address, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            yield f'explore answers {how}: {answer.status}'
    except urllib.error.HTTPError as error:
        if error.code not in (400, 401, 403, 421):
            yield f'explore answers {how} with {error.code}'
    except OSError as error:
        yield f'explore: {error}'


def planted(taipan, place):
    """Nothing is taken from a cache that somebody else made, be it asked for by name."""
    for options in ([], ['--cache-dir', '.taipan-cache']):
        log = place.root / 'queries'
        process, _ = start(taipan, ['check', '--log-queries', str(log), *options, 'target.py'], place)
        out, err = process.communicate(timeout=PATIENCE)
        if process.returncode != 0:
            yield f'check ended with {process.returncode}: {err[-400:]}'
        elif '"restored"' in log.read_text():
            yield f'answers were taken from the planted cache with {options}'


#: The ways for every case that does not name its own.
ALL = [check, lsp, watch, explore]
SPECIAL = [planted]
