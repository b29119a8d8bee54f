//! Files, processes and the environment in translated code: builtin functions and
//! modules of `os`, and what stands on them in `rpython.rlib`.

use crate::support::{check, check_without_python};

/// A name for a file or folder of this test's own.
const OWN: &str = "
import os
def own(name): return '/tmp/taipan-' + name + '-' + str(os.getpid())
";

fn check_files(source: &str, calls: &str) {
    check(&format!("{OWN}{source}"), calls);
}

#[test]
fn open_files() {
    check_files(
        "
def written(mode, text):
    name = own('open')
    f = open(name, mode)
    f.write(text)
    f.close()
    return name
def lines():
    name = written('w', 'one\\ntwo\\nlast')
    result = []
    with open(name) as f:
        while True:
            line = f.readline()
            if line == '': break
            result.append(line)
    os.unlink(name)
    return '|'.join(result)
def long_line(n):
    name = written('w', 'x' * n + '\\ny')
    f = open(name)
    first, second = len(f.readline()), f.readline()
    f.close()
    os.unlink(name)
    return str(first) + second
def universal():
    name = written('wb', 'one\\r\\ntwo\\rthree\\n\\rx')
    with open(name, 'U') as f: text = f.readline() + f.read(3) + f.read()
    os.unlink(name)
    return text
def places():
    name = written('w+', 'hello')
    f = open(name, 'r+')
    f.seek(-2, 2)
    at = f.tell()
    f.write('LO!')
    f.seek(0)
    text = f.read(20)
    f.truncate(3)
    f.flush()
    size = os.path.getsize(name)
    f.close()
    os.unlink(name)
    return [at, len(text), size, ord(text[3])]
def appended():
    name = written('w', 'a')
    written('a', 'b')
    with open(name) as f: text = f.read()
    os.unlink(name)
    return text
def after_close():
    f = open('/dev/null', 'r')
    f.close()
    f.close()
    assert f.closed
    return f.read()
def failing(name, mode):
    try: open(name, mode)
    except IOError as e: return e.errno
    return 0
def read_what_is_written():
    f = open('/dev/null', 'w')
    try: f.read(1)
    except IOError as e: return e.errno
    return 0
def unbuffered():
    name = own('open')
    f = open(name, 'w', 0)
    f.write('abc')
    size = os.path.getsize(name)
    f.close()
    os.unlink(name)
    return size
def descriptor():
    r, w = os.pipe()
    f, g = os.fdopen(r), os.fdopen(w, 'w')
    g.write('through')
    g.close()
    text = f.read()
    f.close()
    return text
def command(text):
    f = os.popen(text, 'r')
    answer = f.read()
    return answer + str(os.WEXITSTATUS(f.close()))
",
        r#"
        lines() == "one\n|two\n|last"
        long_line(127) == "128y"
        long_line(128) == "129y"
        long_line(1000) == "1001y"
        universal() == "one\ntwo\nthree\n\nx"
        places() == [3,6,3,76]
        appended() == "ab"
        after_close() raises ValueError
        failing('/nonexistent/file', 'r') == 2
        failing('/tmp', 'r') == 21
        failing('/dev/null', 'x') raises ValueError
        read_what_is_written() == 9
        unbuffered() == 3
        descriptor() == "through"
        command('echo hi; exit 3') == "hi\n3"
        "#,
    );
}

#[test]
fn descriptors_and_folders() {
    check_files(
        "
import stat
def folder():
    name = own('folder')
    os.mkdir(name)
    for c in 'ab':
        os.close(os.open(name + '/' + c, os.O_CREAT | os.O_WRONLY, 0666))
    os.rename(name + '/a', name + '/c')
    names = os.listdir(name)
    kinds = os.path.isdir(name) * 2 + os.path.isfile(name + '/b')
    for n in names: os.remove(name + '/' + n)
    os.rmdir(name)
    found = 'b' in names and 'c' in names
    return len(names) * 100 + kinds * 10 + found + os.path.exists(name)
def numbers():
    name = own('numbers')
    fd = os.open(name, os.O_CREAT | os.O_RDWR, 0644)
    os.write(fd, 'x' * 10)
    os.ftruncate(fd, 7)
    a, b = os.stat(name), os.fstat(fd)
    os.close(fd)
    os.utime(name, (1.5, 2.25))
    c = os.stat(name)
    os.unlink(name)
    same = a.st_ino == b.st_ino and a[6] == b.st_size == 7
    return [same, stat.S_ISREG(a.st_mode), a[0] & 0777, c[7], int(c.st_mtime * 4)]
def failing(which):
    try:
        if which == 0: os.listdir('/nonexistent')
        elif which == 1: os.stat('/nonexistent')
        elif which == 2: os.read(-1, 1)
        elif which == 3: os.mkdir('/tmp')
        elif which == 4: os.dup(-1)
        elif which == 5: os.readlink('/tmp')
        elif which == 6: os.kill(0x7fffffff, 0)
        else: os.execv('/nonexistent', ['x'])
    except OSError as e: return e.errno
    return 0
def links():
    name = own('link')
    os.symlink('/tmp', name)
    result = os.readlink(name) + str(os.path.islink(name)) + str(os.path.islink('/tmp'))
    os.unlink(name)
    return result
def resolved(rest):
    name = own('resolved')
    os.symlink('/', name)
    result = os.path.realpath(name + rest) + str(os.path.lexists(name))
    os.unlink(name)
    return result + str(os.path.lexists(name))
def endless():
    name = own('endless')
    os.symlink(name, name)
    result = os.path.realpath(name + '/a') == name + '/a'
    os.unlink(name)
    return result
def same(): return os.path.samefile('/', '/tmp/..') * 2 + os.path.samefile('/', '/tmp')
def changed(path):
    try:
        return os.path.getmtime(path) > 0.0
    except OSError as e:
        return e.errno == 13
def duplicate():
    r, w = os.pipe()
    other = os.dup(w)
    os.close(w)
    os.write(other, 'abc')
    os.close(other)
    text = os.read(r, 2) + os.read(r, 2) + os.read(r, 2)
    os.close(r)
    return text
",
        r#"
        folder() == 231
        numbers() == [1,1,420,1,9]
        failing(0) == 2
        failing(1) == 2
        failing(2) == 9
        failing(3) == 17
        failing(4) == 9
        failing(5) == 22
        failing(6) == 3
        failing(7) == 2
        links() == "/tmp10"
        resolved('/tmp/./.') == "/tmp10"
        resolved('/../tmp') == "/tmp10"
        resolved('/nonexistent/x/..') == "/nonexistent10"
        endless() == true
        same() == 2
        changed('/') == true
        changed('/nonexistent') == false
        duplicate() == "abc"
        "#,
    );
}

#[test]
fn environment_and_shell() {
    check_files(
        "
from rpython.rlib import rposix
def variables():
    name = 'TAIPAN_' + own('')[12:]
    before = name in os.environ
    os.environ[name] = 'a=b'
    result = [str(before), os.environ[name], os.environ.get(name, 'no'), str(name in os.environ.keys())]
    del os.environ[name]
    result.append(os.environ.get(name, 'no'))
    result.append(str(os.getenv(name) is None))
    return ','.join(result)
def no_variable():
    return os.environ['TAIPAN_NOT_SET']
def shell(command):
    return os.WEXITSTATUS(os.system(command))
def spawned(mode, command):
    answer = rposix.spawnv(mode, '/bin/sh', ['sh', '-c', command])
    if mode == 0: return answer
    pid, status = os.waitpid(answer, 0)
    return (pid == answer) * 1000 + os.WEXITSTATUS(status)
def spawned_with(value):
    return rposix.spawnve(0, '/bin/sh', ['sh', '-c', 'exit $STATUS'], {'STATUS': value})
def randomness(n):
    return len(os.urandom(n))
",
        r#"
        variables() == "0,a=b,a=b,1,no,1"
        no_variable() raises KeyError
        shell('exit 4') == 4
        spawned(0, 'exit 3') == 3
        spawned(0, 'kill -9 $$') == -9
        spawned(1, 'exit 3') == 1003
        spawned_with('5') == 5
        randomness(300) == 300
        "#,
    );
}

/// Python 3 raises KeyError for all of them.
#[test]
fn variables_that_cannot_be_removed() {
    check_without_python(
        "
import os
def removed(name):
    try: del os.environ[name]
    except OSError as e: return e.errno
    return 0
",
        "
        removed('TAIPAN_NOT_SET') raises KeyError
        removed('') == 22
        removed('a=b') == 22
        ",
    );
}

#[test]
fn streams() {
    check_files(
        "
from rpython.rlib.streamio import open_file_as_stream, BufferingInputStream, Stream, StreamError
class Text(Stream):
    def __init__(self, text):
        self.text = text
        self.pos = 0
    def read(self, n):
        start = self.pos
        assert start >= 0 and n >= 0
        result = self.text[start:start + n]
        self.pos += len(result)
        return result
def both(buffering, mode):
    name = own('stream')
    f = open_file_as_stream(name, 'w', buffering)
    f.write('one\\r\\ntwo')
    f.write('\\nthree')
    at = f.tell()
    f.close()
    f = open_file_as_stream(name, mode, buffering)
    first, second, there = f.readline(), f.read(2), f.tell()
    rest = f.readall()
    f.seek(-2, 2)
    last = f.read(9)
    f.seek(1, 0)
    again = f.readline()
    f.close()
    os.unlink(name)
    return '%d|%s|%s|%d|%s|%s|%s' % (at, first, second, there, rest, last, again)
def update():
    name = own('stream')
    f = open_file_as_stream(name, 'w+')
    f.write('0123456789')
    f.seek(2, 0)
    start = f.read(2)
    f.write('xy')
    f.seek(0, 0)
    f.truncate(8)
    text = f.readall()
    f.close()
    os.unlink(name)
    return start + text
def lines(text, size):
    f = BufferingInputStream(Text(text), size)
    result = []
    while True:
        line = f.readline()
        if line == '': return '|'.join(result)
        result.append(line)
def no_seek(offset):
    f = BufferingInputStream(Text('0123456789'), 4)
    f.read(5)
    try: f.seek(offset, 1)
    except StreamError: return 'StreamError'
    return f.read(3)
",
        r#"
        both(-1, 'r') == "14|one\r\n|tw|7|o\nthree|ee|ne\r\n"
        both(0, 'r') == "14|one\r\n|tw|7|o\nthree|ee|ne\r\n"
        both(1, 'rb') == "14|one\r\n|tw|7|o\nthree|ee|ne\r\n"
        both(3, 'U') == "14|one\n|tw|7|o\nthree|ee|ne\n"
        both(0, 'U') == "14|one\n|tw|7|o\nthree|ee|ne\n"
        both(-1, 'x') raises ValueError
        update() == "230123xy67"
        lines('ab\ncdef\n\nx', 3) == "ab\n|cdef\n|\n|x"
        no_seek(2) == "789"
        no_seek(-1) == "456"
        no_seek(-6) == "StreamError"
        "#,
    );
}

#[test]
fn paths() {
    check(
        "
import os
from rpython.rlib import rpath
def normal(p): return rpath.rnormpath(p)
def absolute(p): return rpath.rabspath(p)
def joined(a, b): return rpath.rjoin(a, b)
def parts(p): return os.path.dirname(p) + '|' + os.path.basename(p) + '|' + os.path.splitext(p)[1]
def kinds(p): return rpath.risdir(p) * 2 + rpath.risabs(p)
",
        r#"
        normal('///..//./foo/.//bar') == "/foo/bar"
        normal('//a/../..') == "//"
        normal('a/../..') == ".."
        normal('') == "."
        absolute('/x/../y') == "/y"
        joined('a', 'b') == "a/b"
        joined('a/', 'b') == "a/b"
        joined('a', '/b') == "/b"
        joined('', 'b') == "b"
        joined('a', '') == "a/"
        parts('/usr/x.tar.gz') == "/usr|x.tar.gz|.gz"
        parts('x') == "|x|"
        kinds('/tmp') == 3
        kinds('tmp') == 0
        "#,
    );
}

#[test]
fn sockets() {
    check(
        "
from rpython.rlib.rsocket import AF_INET, SOCK_STREAM, SHUT_WR, CSocketError, INETAddress, RSocket
HOST = '127.0.0.1'
def talk(text):
    server = RSocket(AF_INET, SOCK_STREAM)
    server.bind(INETAddress(HOST, 0))
    server.listen(1)
    client = RSocket()
    client.connect(INETAddress(HOST, server.getsockname().get_port()))
    fd, _ = server.accept()
    other = RSocket(fd=fd)
    client.sendall(text)
    client.shutdown(SHUT_WR)
    result = ''
    while True:
        data = other.recv(3)
        if data == '': break
        result += data
    for s in [server, client, other]: s.close()
    return result
def refused():
    try: RSocket().connect(INETAddress(HOST, 1))
    except CSocketError as e: return e.errno
    return 0
",
        "
        talk('hello there') == \"hello there\"
        refused() == 111
        ",
    );
}

#[test]
fn signals() {
    check(
        "
import os
from rpython.rlib import rsignal
def noted(count):
    rsignal.pypysig_setflag(rsignal.SIGUSR2)
    seen = [rsignal.pypysig_poll()]
    for i in range(count):
        os.kill(os.getpid(), rsignal.SIGUSR2)
        seen.append(rsignal.pypysig_poll())
    seen.append(rsignal.pypysig_poll())
    rsignal.pypysig_ignore(rsignal.SIGUSR2)
    os.kill(os.getpid(), rsignal.SIGUSR2)
    seen.append(rsignal.pypysig_poll())
    return seen
def written():
    r, w = os.pipe()
    rsignal.pypysig_set_wakeup_fd(w, False)
    rsignal.pypysig_setflag(rsignal.SIGUSR2)
    os.kill(os.getpid(), rsignal.SIGUSR2)
    number = ord(os.read(r, 10)[0])
    assert rsignal.pypysig_set_wakeup_fd(-1, False) == w
    return number == rsignal.SIGUSR2 and rsignal.pypysig_poll() == number
def impossible():
    try: rsignal.pypysig_setflag(1000)
    except OSError as e: return e.errno
    return 0
",
        "
        noted(2) == [-1,12,12,-1,-1]
        written() == true
        impossible() == 22
        ",
    );
}
