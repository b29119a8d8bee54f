"""Uses the parts of the system that Node has."""

import errno
import os
import time
from rpython.rlib import rthread, rgc, rweakref
from rpython.rlib.rfile import create_file


# The target's.
MACHINE = os.uname()[4]


class Node(object):
    def __init__(self, next):
        self.next = next


def files():
    os.mkdir('folder', 0777)
    fd = os.open('folder/text', os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0666)
    print os.write(fd, 'one\ntwo\n')
    os.close(fd)
    try:
        os.open('folder/text', os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0666)
    except OSError as e:
        print 'exists', e.errno == errno.EEXIST
    fd = os.open('folder/text', os.O_WRONLY | os.O_APPEND, 0666)
    os.write(fd, 'three\n')
    os.close(fd)
    f = create_file('folder/text', 'r')
    print f.readline() + f.read(),
    f.seek(4, 0)
    print f.readline(), f.tell()
    f.close()
    st = os.stat('folder/text')
    print st.st_size, st.st_mode & 0170000 == 0100000, os.path.isdir('folder')
    print os.listdir('folder'), os.path.exists('folder/none')
    fd = os.open('folder/text', os.O_RDWR | os.O_TRUNC, 0666)
    print os.fstat(fd).st_size
    os.write(fd, 'abc')
    os.lseek(fd, 1, 0)
    print os.read(fd, 10)
    os.close(fd)
    os.rename('folder/text', 'folder/other')
    try:
        os.rmdir('folder')
    except OSError as e:
        print 'not empty', e.errno == errno.ENOTEMPTY, os.strerror(e.errno)
    os.unlink('folder/other')
    os.rmdir('folder')
    try:
        os.open('none', os.O_RDONLY, 0)
    except OSError as e:
        print 'missing', e.errno, os.strerror(e.errno)


def environment():
    print os.environ.get('TAIPAN_TEST'), os.environ.get('TAIPAN_NONE') is None
    os.environ['TAIPAN_NONE'] = 'now'
    print os.environ['TAIPAN_NONE']
    now = time.time()
    print now > 1700000000.0, time.clock() >= 0.0
    time.sleep(0.01)
    print time.time() >= now + 0.005
    print len(os.urandom(300))
    print MACHINE, os.getpid() > 1
    os.chdir('/')
    print os.getcwd(), os.path.exists('etc')


def many(n):
    return len([0] * n)


def memory():
    lock = rthread.allocate_lock()
    print lock.acquire(False), lock.acquire(False)
    lock.release()
    node = None
    for i in range(100000):
        node = Node(None)
    alive = Node(node)
    ref = rweakref.ref(alive)
    rgc.collect()
    print ref() is alive
    try:
        print many(1 << 40)
    except MemoryError:
        print 'too much'


def deep(n):
    return deep(n + 1) + n


def stack():
    try:
        print deep(0)
    except RuntimeError:
        print 'too deep'
    # The stack is as good as new.
    try:
        print deep(0)
    except RuntimeError:
        print 'again'


def entry_point(argv):
    print argv[1:]
    files()
    environment()
    memory()
    stack()
    print os.read(0, 100)
    return int(argv[1])


def target(driver, args):
    return entry_point
