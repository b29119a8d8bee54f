"""Files and the system: `taipan_prelude.rposix` and `rfile`."""
import errno
import os
import time

from hidden import number, text


def path():
    return '/tmp/taipan-prelude-%d' % os.getpid()

def contents(name):
    fd = os.open(name, os.O_RDONLY, 0)
    result = ''
    while True:
        piece = os.read(fd, number(5))
        if not piece:
            break
        result += piece
    os.close(fd)
    return result

def test_descriptors():
    name = path() + '.1'
    fd = os.open(name, os.O_CREAT | os.O_RDWR | os.O_TRUNC, 0666)
    assert os.write(fd, text('hello world')) == 11
    assert os.write(fd, text('')) == 0
    assert os.lseek(fd, number(6), 0) == 6
    assert os.read(fd, number(100)) == 'world'
    assert os.read(fd, number(100)) == ''
    assert os.read(fd, number(0)) == ''
    assert os.lseek(fd, number(-5), 2) == 6
    os.ftruncate(fd, number(5))
    assert os.fstat(fd).st_size == 5
    assert not os.isatty(fd)
    os.close(fd)
    assert contents(name) == 'hello'
    os.unlink(name)

def failure_of_open(name):
    try:
        os.open(name, os.O_RDONLY, 0)
    except OSError as e:
        return e.errno
    return 0

def failure_of_read(fd, count):
    try:
        os.read(fd, count)
    except OSError as e:
        return e.errno
    return 0

def failure_of_seek(fd):
    try:
        os.lseek(fd, number(-1), 0)
    except OSError as e:
        return e.errno
    return 0

def test_failures():
    assert failure_of_open(text('/nothing/here')) == errno.ENOENT
    assert failure_of_open(text('')) == errno.ENOENT
    assert failure_of_read(number(-1), 5) == errno.EBADF
    fd = os.open(text('/dev/null'), os.O_RDONLY, 0)
    assert failure_of_read(fd, number(-1)) == errno.EINVAL
    assert failure_of_seek(number(-1)) == errno.EBADF
    os.close(fd)

def test_names():
    name = path() + '.2'
    os.mkdir(name, 0777)
    inner = os.path.join(name, 'file')
    os.close(os.open(inner, os.O_CREAT | os.O_WRONLY, 0600))
    assert os.listdir(name) == ['file']
    assert os.access(inner, os.R_OK)
    os.rename(inner, inner + '2')
    assert not os.access(inner, os.F_OK)
    os.symlink('file2', inner)
    assert os.readlink(inner) == 'file2'
    assert os.path.exists(inner) and os.path.isdir(name) and not os.path.isdir(inner)
    assert len(os.listdir(name)) == 2
    os.unlink(inner)
    os.unlink(inner + '2')
    os.rmdir(name)
    assert not os.path.exists(name)

def test_environment():
    os.putenv('TAIPAN_PRELUDE', 'x=y')
    os.unsetenv('TAIPAN_PRELUDE')
    assert os.environ.get('TAIPAN_PRELUDE_NOT_THERE') is None

def test_pipes():
    reading, writing = os.pipe()
    assert os.write(writing, text('abc')) == 3
    other = os.dup(writing)
    os.close(writing)
    assert os.write(other, text('d')) == 1
    os.close(other)
    assert os.read(reading, number(100)) == 'abcd'
    assert os.read(reading, number(100)) == ''
    os.close(reading)

def test_where_we_are():
    before = os.getcwd()
    os.chdir('/')
    assert os.getcwd() == '/'
    os.chdir(before)
    assert os.getcwd() == before
    assert os.getpid() > 1
    assert os.getuid() >= 0 and os.getppid() >= 0

def test_random_bytes():
    assert len(os.urandom(number(10))) == 10
    assert os.urandom(number(0)) == ''
    assert os.urandom(number(16)) != os.urandom(number(16))

def test_errors_have_a_text():
    assert os.strerror(number(2)) == 'No such file or directory'

def test_time():
    before = time.time()
    time.sleep(0.01)
    assert time.time() > before > 1e9
    assert time.clock() >= 0.0

def test_files():
    name = path() + '.3'
    f = open(name, 'w+')
    f.write(text('one\ntwo\r\nthree'))
    f.seek(number(0))
    assert f.readline() == 'one\n'
    assert f.readline() == 'two\r\n'
    assert f.tell() == 9
    assert f.readline() == 'three'
    assert f.readline() == ''
    f.seek(number(-2), 2)
    assert f.read() == 'ee'
    assert f.read() == ''
    f.seek(number(4))
    assert f.read(number(3)) == 'two'
    f.truncate(number(3))
    f.close()
    f = open(name, 'a')
    f.write(text('!'))
    f.flush()
    f.close()
    assert contents(name) == 'one!'
    os.unlink(name)

def failure_of_file(name):
    try:
        open(name, 'r')
    except IOError as e:
        return e.errno
    return 0

def test_file_that_is_not_there():
    assert failure_of_file(text('/nothing/here')) == errno.ENOENT
    assert failure_of_file(text('/tmp')) == errno.EISDIR

def test_long_lines():
    name = path() + '.4'
    f = open(name, 'w')
    f.write('x' * number(5000) + '\n' + 'y' * number(100))
    f.close()
    f = open(name, 'r')
    line = f.readline()
    assert len(line) == 5001 and line[0] == 'x' and line[5000] == '\n'
    assert len(f.read(number(10))) == 10
    assert len(f.read()) == 90
    f.close()
    os.unlink(name)

def test_more_of_descriptors():
    reading, writing = os.pipe()
    os.dup2(writing, reading + 100)
    os.close(writing)
    assert os.write(reading + 100, text('abc')) == 3
    os.close(reading + 100)
    assert os.read(reading, number(9)) == 'abc'
    os.close(reading)

def test_more_of_names():
    name = path() + '.5'
    fd = os.open(name, os.O_CREAT | os.O_WRONLY, 0600)
    os.write(fd, text('abc'))
    os.fsync(fd)
    os.close(fd)
    os.link(name, name + 'b')
    os.chmod(name, number(0444))
    found = os.stat(name + 'b')
    assert found.st_size == 3
    assert found.st_mode & 0777 == 0444
    assert os.path.isfile(name)
    os.utime(name, (1000.0, 2000.0))
    # Whole seconds are exact.
    assert os.stat(name).st_mtime == 2000.0
    os.unlink(name)
    os.unlink(name + 'b')

def test_masks_and_owners():
    before = os.umask(number(022))
    assert os.umask(before) == 022
    assert os.geteuid() == os.getuid()
    assert os.getegid() == os.getgid()

def test_processes():
    pid = os.fork()
    if pid == 0:
        os._exit(number(7))
    found, status = os.waitpid(pid, 0)
    assert found == pid
    assert os.WIFEXITED(status) and os.WEXITSTATUS(status) == 7
    assert os.system('exit 3') >> 8 == 3
