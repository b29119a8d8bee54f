//! What of `rpython.rlib` talks to the system through the C library: sockets, mapped
//! files, terminals, the rarer calls of rposix.

use crate::support::check;

#[test]
fn sockets() {
    check(
        "
from rpython.rlib import rsocket
from rpython.rlib.rsocket import *
HOST = '127.0.0.1'
def timeouts():
    a, b = socketpair()
    a.settimeout(0.01)
    try: a.recv(1)
    except SocketTimeout as e: return e.get_msg()
    return 'data'
def packets(text):
    r, s = RSocket(AF_INET, SOCK_DGRAM), RSocket(AF_INET, SOCK_DGRAM)
    r.bind(INETAddress('', 0))
    to = INETAddress(HOST, r.getsockname().get_port())
    with rffi.scoped_str2charp(text) as p:
        s.sendto(p, len(text), 0, to)
    got, sender = r.recvfrom(100)
    assert isinstance(sender, INETAddress)
    return got + ' ' + sender.get_host()
def messages():
    a, b = socketpair()
    a.sendmsg(['abc', 'def'], [(SOL_SOCKET, SCM_RIGHTS, '\\0\\0\\0\\0')])
    text, control, flags, sender = b.recvmsg(10, CMSG_SPACE(4))
    return text + str(len(control)) + str(len(control[0][2]))
def places():
    u = UNIXAddress('/tmp/no/such/socket')
    try: RSocket(AF_UNIX).connect(u)
    except CSocketError as e: return u.get_path() + ' ' + str(e.errno)
    return ''
def numbers():
    long = inet_ntop(AF_INET6, inet_pton(AF_INET6, '0:0::1'))
    return inet_ntoa(inet_aton('127.1')) + ' ' + long + ' ' + str(INET6Address('::1', 80).get_port())
def wrong():
    try: inet_aton('nowhere')
    except RSocketError as e: return e.get_msg()
    return ''
def options():
    s = RSocket()
    s.setsockopt_int(SOL_SOCKET, SO_REUSEADDR, 1)
    return s.getsockopt_int(SOL_SOCKET, SO_TYPE) + 10 * s.getsockopt_int(SOL_SOCKET, SO_REUSEADDR)
",
        r#"
        timeouts() == "timed out"
        packets('hey') == "hey 127.0.0.1"
        messages() == "abcdef14"
        places() == "/tmp/no/such/socket 2"
        numbers() == "127.0.0.1 ::1 80"
        wrong() == "illegal IP address string passed to inet_aton"
        options() == 11
        "#,
    );
}

#[test]
fn mapped_files() {
    check(
        "
import os
from rpython.rlib import rmmap
def file(text):
    name = '/tmp/taipan-rmmap-' + str(os.getpid())
    fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0600)
    os.unlink(name)
    os.write(fd, text)
    return fd
def reads():
    m = rmmap.mmap(file('one\\ntwo\\nlast'), 0, access=rmmap.ACCESS_READ)
    parts = [m.readline(), m.read(2), m.read_byte(), m.read()]
    m.seek(-4, 2)
    parts.append(m.readline() + str(m.tell()))
    parts.append(str(m.find('o', 0, 12)) + str(m.find('o', 1, 12)) + str(m.find('o', 0, -5, True)))
    try: m.check_writeable()
    except rmmap.RTypeError: parts.append('read only')
    m.close()
    try: m.check_valid()
    except rmmap.RValueError as e: parts.append(e.message)
    return ','.join(parts)
def writes():
    fd = file('hello world')
    m = rmmap.mmap(fd, 11)
    m.write('HE')
    m.setitem(-1, '!')
    m.move(6, 0, 4)
    m.flush()
    m.resize(5000)
    m.setslice(11, 'more')
    m.close()
    os.lseek(fd, 0, 0)
    return os.read(fd, 15)
def refused(how):
    fd = file('x')
    try:
        if how == 0: rmmap.mmap(fd, 2)
        elif how == 1: rmmap.mmap(fd, -1)
        elif how == 2: rmmap.mmap(fd, 1, access=9)
        else: rmmap.mmap(fd, 1).write('xy')
    except rmmap.RValueError as e: return e.message
    except rmmap.RTypeError as e: return e.message
    return ''
def plain():
    m = rmmap.mmap(-1, 8192)
    m.setitem(8191, 'x')
    m.madvise(rmmap.MADV_NORMAL, 0, 8192)
    return m.getslice(8190, 2)
",
        r#"
        reads() == "one\n,tw,o,\nlast,last12,066,read only,mmap closed or invalid"
        writes() == "HEllo HEll!more"
        refused(0) == "mmap length is greater than file size"
        refused(1) == "memory mapped size must be positive"
        refused(2) == "mmap invalid access parameter."
        refused(3) == "data out of range"
        plain() == "\u0000x"
        "#,
    );
}

#[test]
fn terminals_and_folders() {
    check(
        "
import os
from rpython.rlib import rposix, rposix_environ, rposix_scandir, rtermios
def echo():
    master, slave = rposix.openpty()
    a = rtermios.tcgetattr(slave)
    chars = a[6]
    chars[rtermios.VINTR] = 'x'
    rtermios.tcsetattr(slave, rtermios.TCSANOW,
                       (a[0], a[1], a[2], a[3] & ~rtermios.ECHO, a[4], a[5], chars))
    b = rtermios.tcgetattr(slave)
    return b[6][rtermios.VINTR] + str(b[3] & rtermios.ECHO) + str(a[4] == b[4])
def no_terminal():
    try: rtermios.tcgetattr(-1)
    except OSError as e: return e.errno
    return 0
def entries():
    name = '/tmp/taipan-scandir-' + str(os.getpid())
    os.mkdir(name, 0700)
    os.mkdir(name + '/d', 0700)
    found = []
    dirp = rposix_scandir.opendir(name, len(name))
    while True:
        entry = rposix_scandir.nextentry(dirp)
        if not entry: break
        if rposix_scandir.get_known_type(entry) == rposix_scandir.DT_DIR:
            found.append(len(rposix_scandir.get_name_bytes(entry)))
    rposix_scandir.closedir(dirp)
    names = rposix.fdlistdir(os.open(name, os.O_RDONLY, 0))
    os.rmdir(name + '/d')
    os.rmdir(name)
    total = 0
    for n in found: total += n
    return str(total) + names[0] + str(len(names))
def environment():
    rposix_environ.r_putenv('TAIPAN_OWN', 'val')
    value = rposix_environ.r_getenv('TAIPAN_OWN')
    rposix_environ.r_unsetenv('TAIPAN_OWN')
    assert value is not None
    return value + str(rposix_environ.r_getenv('TAIPAN_OWN') is None)
",
        "
        echo() == \"x01\"
        no_terminal() == 9
        entries() == \"4d1\"
        environment() == \"val1\"
        ",
    );
}

#[test]
fn rarer_calls() {
    check(
        "
import os
from rpython.rlib import rposix
def attributes():
    try: rposix.getxattr('/tmp/no/such/file', 'user.x')
    except OSError as e: return e.errno
    return 0
def copied(no_offset):
    r, w = rposix.pipe()
    fd = rposix.memfd_create('taipan', 0)
    os.write(fd, 'some text')
    if no_offset:
        os.lseek(fd, 2, 0)
        n = rposix.sendfile_no_offset(w, fd, 4)
    else:
        n = rposix.sendfile(w, fd, 5, 100)
    return os.read(r, n)
def ended():
    pid = os.fork()
    if pid == 0: os._exit(7)
    pid, status = rposix.waitpid(pid, 0)
    if rposix.WIFEXITED(status) and not rposix.WIFSIGNALED(status):
        return rposix.WEXITSTATUS(status)
    return -1
def inherited():
    fd = rposix.dup(1, False)
    before = rposix.get_inheritable(fd)
    rposix.set_inheritable(fd, True)
    return not before and rposix.get_inheritable(fd)
def policy():
    return rposix.sched_getscheduler(0) == rposix.SCHED_OTHER
def system():
    parts = os.uname()
    return parts[0] + ' ' + str(len(parts[2]) > 0)
def touched(now):
    try:
        if now: os.utime('/tmp/no/such/file', None)
        else: os.utime('/tmp/no/such/file', (1, 2))
    except OSError as e: return e.errno
    return 0
def owned(fd):
    try: return os.fchown(fd, -1, -1)
    except OSError: pass
",
        "
        attributes() == 2
        copied(True) == \"me t\"
        copied(False) == \"text\"
        ended() == 7
        inherited() == true
        policy() == true
        system() == \"Linux 1\"
        touched(true) == 2
        touched(false) == 2
        owned(-1) == null
        ",
    );
}

#[test]
fn locale_and_numbers() {
    check(
        "
from rpython.rlib import listsort, rcomplex, rlocale
from rpython.rlib.rbigint import rbigint
from rpython.rtyper.lltypesystem import rffi
def point(): return rffi.charp2str(rlocale.localeconv().c_decimal_point)
def names(): return rlocale.nl_langinfo(rlocale.MON_1) + rlocale.nl_langinfo(rlocale.DAY_7)
def unknown():
    try: return rlocale.nl_langinfo(77)
    except ValueError: return 'no'
def arccosine(x, y): return rcomplex.c_acos(x, y)[1] == -2.1073424255447017e-08
def arccosh(x, y):
    r, i = rcomplex.c_acosh(x, y * rcomplex.INFINITY * 0.0)
    return r != r and i != i
def logarithm(n, base): return rbigint.fromint(n).lshift(2000).log(base)
def small_logarithm(n, base): return rbigint.fromint(n).log(base)
def exponential(x, y): return rcomplex.c_exp(x, y)[0] == 7.321022327454795e+307
def no_tangent(x, y):
    r, i = rcomplex.c_tanh(x, y * rcomplex.INFINITY * 0.0)
    return r != r and i != i
def power(s1, n1, n2, n): return listsort.powerloop(s1, n1, n2, n)
",
        "
        point() == \".\"
        names() == \"JanuarySaturday\"
        unknown() == \"no\"
        arccosine(-1.0000000000000002, 0.0) == true
        arccosh(0.0, 1.0) == true
        small_logarithm(2, 10.0) == 0.3010299956639812
        small_logarithm(1000, 10.0) == 3.0
        small_logarithm(8, 2.0) == 3.0
        logarithm(8, 2.0) == 2003.0
        exponential(709.5, 1.0) == true
        exponential(800.0, 0.0) raises OverflowError
        no_tangent(0.0, 1.0) == true
        power(67, 61, 24443, 47459) == 2
        power(16397, 8763, 3147, 54647) == 4
        ",
    );
}

#[test]
fn signals_in_a_field() {
    check(
        "
import os
from rpython.rlib import rdtoa, rsignal
from rpython.rtyper.lltypesystem import lltype, rffi
def arrived():
    rsignal.pypysig_setflag(rsignal.SIGUSR2)
    before = rsignal.pypysig_getaddr_occurred().c_value
    os.kill(os.getpid(), rsignal.SIGUSR2)
    after = rsignal.pypysig_getaddr_occurred().c_value
    if not rsignal.pypysig_check_and_reset(): return -1
    signum = rsignal.pypysig_poll()
    if rsignal.pypysig_check_and_reset(): return -2
    rsignal.pypysig_reinstall(signum)
    if rffi.cast(lltype.Signed, rsignal.c_siginterrupt(signum, 1)) < 0: return -3
    whole = rsignal.pypysig_getaddr_occurred_fullstruct()
    if whole.c_debugger_pending_call or whole.c_value: return -4
    return signum * 100 + before * 10 + after
def read(text):
    with rffi.scoped_str2charp(text) as p:
        with lltype.scoped_alloc(rffi.CCHARPP.TO, 1) as end:
            value = rdtoa.dg_strtod(p, end)
            return value * 10.0 + (rffi.cast(lltype.Signed, end[0]) - rffi.cast(lltype.Signed, p))
",
        "
        arrived() == 1199
        read('1.5e3x') == 15005.0
        ",
    );
}

#[test]
fn file_systems() {
    check(
        "
from rpython.rlib import rposix_stat
def same():
    by_path, by_fd = rposix_stat.statvfs('/'), rposix_stat.fstatvfs(0)
    return (by_path.f_bsize == by_path[0], len(by_fd), by_path.f_blocks >= by_path.f_bfree,
            by_path.f_namemax == by_path[9])
def missing():
    try: rposix_stat.statvfs('/there/is/no/such/thing')
    except OSError as e: return e.errno
    return 0
",
        "
        same() == [true,10,true,true]
        missing() == 2
        ",
    );
}

#[test]
fn a_folder_is_no_file_and_stays_open() {
    check(
        "
import errno, os
def folder():
    fd = os.open('/', os.O_RDONLY, 0)
    try: os.fdopen(fd)
    except IOError as e: code = e.errno
    else: code = -1
    os.close(fd)
    return code == errno.EISDIR
",
        "
        folder() == true
        ",
    );
}

/// Paths may be unicode strings, and objects that know their bytes.
#[test]
fn paths_of_every_kind() {
    check(
        "
from rpython.rlib import rposix, streamio
class Path(object):
    def __init__(self, number): self.number = number
    def as_bytes(self): return '/tmp/taipan-path-%d-%d' % (rposix.getpid(), self.number)
def f(n):
    path = Path(n)
    stream = streamio.open_file_as_stream(path, 'w')
    stream.write('hello')
    stream.close()
    size = rposix.stat(path).st_size
    found = rposix.access(path.as_bytes().decode('ascii'), 0)
    rposix.unlink(path)
    return size, found, rposix.access(path, 0)
",
        "f(7) == [5,true,false]",
    );
}

/// Programs that call select() by themselves.
#[test]
fn sets_of_descriptors() {
    check(
        "
import os
from rpython.rlib import _rsocket_rffi as _c
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.rtyper.tool import rffi_platform
class CConfig:
    _compilation_info_ = rffi_platform.ExternalCompilationInfo(includes=['stdlib.h'])
    THERE = rffi_platform.Has('dump(\"x\", (long)&getenv)')
    MISSING = rffi_platform.Has('dump(\"x\", (long)&getenv_of_nobody)')
FOUND = rffi_platform.configure(CConfig)
HAS = FOUND['THERE'] and not FOUND['MISSING']
def ready(text):
    if not HAS or len(text) > _c.PIPE_BUF: return -9
    r, w = os.pipe()
    if text: os.write(w, text)
    fds = lltype.malloc(_c.fd_set.TO, flavor='raw')
    limit = rffi.make(_c.timeval)
    rffi.setintfield(limit, 'c_tv_sec', 0)
    rffi.setintfield(limit, 'c_tv_usec', 10)
    _c.FD_ZERO(fds)
    _c.FD_SET(w, fds)
    _c.FD_CLR(w, fds)
    _c.FD_SET(r, fds)
    none = lltype.nullptr(_c.fd_set.TO)
    count = rffi.cast(lltype.Signed, _c.select(max(r, w) + 1, fds, none, none, limit))
    if _c.FD_ISSET(w, fds): return -1
    if bool(_c.FD_ISSET(r, fds)) != (count == 1): return -2
    lltype.free(fds, flavor='raw')
    lltype.free(limit, flavor='raw')
    os.close(r)
    os.close(w)
    return count
",
        "
        ready('x') == 1
        ready('') == 0
        ",
    );
}

#[test]
fn files_of_open_folders() {
    check(
        "
import os
from rpython.rlib import rposix, rposix_stat
from rpython.rlib.rbigint import rbigint
from rpython.rtyper.lltypesystem import lltype
def fields():
    name = '/tmp/taipan-fstatat-' + str(os.getpid())
    os.mkdir(name)
    folder = os.open(name, os.O_RDONLY, 0)
    f = rposix.openat('x', os.O_CREAT | os.O_RDWR, 0640, folder)
    os.write(f, 'hello')
    rposix.futimens(f, 7, 250000001, 9, 500000000)
    rposix.symlinkat('x', 'y', folder)
    a = rposix_stat.fstatat('y', folder)
    b = rposix_stat.fstatat('y', folder, False)
    c = rposix_stat.stat3(name + '/x')
    same = (a.st_dev == c.st_dev and a.st_ino == c.st_ino and a[3] == c[3] and a.st_rdev == c.st_rdev
            and a.st_blocks == c.st_blocks and a.st_uid == c.st_uid and a.st_ctime == c.st_ctime)
    text = '%d %d %d %d %s' % (a.st_size, a[8], a.nsec_atime, a.st_mode & 0777, a.st_mtime == 9.5)
    text += ' %s %s ' % (same, b.st_mode & 0170000 == 0120000)
    text += rposix_stat.get_stat_ns_as_bigint(c, 'atime').str()
    for entry in ['x', 'y']: rposix.unlinkat(entry, folder)
    os.close(folder)
    os.close(f)
    os.rmdir(name)
    return text
def absent():
    try: rposix_stat.fstatat('/no/such/file')
    except OSError as e: return e.errno
    return 0
def window():
    r, w = os.pipe()
    with lltype.scoped_alloc(rposix.WINSIZE) as size:
        failed = rposix.c_ioctl_voidp(r, rposix.TIOCGWINSZ, size)
        return failed, rposix.get_saved_errno(), rposix.c_close(w), rposix.c_close(r), rposix.c_close(r)
def variables():
    rposix.putenv('TAIPAN_SURFACE', 'a')
    text = os.environ['TAIPAN_SURFACE']
    rposix.unsetenv(u'TAIPAN_SURFACE')
    try: rposix.unsetenv('TAIPAN_SURFACE')
    except KeyError: return text + ' gone'
    return text
def spread(f):
    def inner(fd, *args): return f(fd, *args)
    return inner
ask = spread(os.fstat)
def spreading():
    fd = os.open('/dev/null', os.O_RDONLY, 0)
    kind = ask(fd).st_mode & 0170000
    os.close(fd)
    return kind == 0020000
def names(): return len(rposix.sysconf_names) + rposix.sysconf_names['SC_THREADS'] + rposix.confstr_names['CS_PATH']
",
        r#"
        fields() == "5 9 250000001 416 1 1 1 7250000001"
        absent() == 2
        window() == [-1,25,0,0,-1]
        variables() == "a gone"
        names() == 201
        spreading() == true
        "#,
    );
}

#[test]
fn clocks_threads_and_sets_of_signals() {
    check(
        "
import os
from rpython.rlib import rposix, rsignal, rthread, rtime
from rpython.rtyper.lltypesystem import lltype
def used():
    with lltype.scoped_alloc(rtime.RUSAGE) as r:
        failed = rtime.c_getrusage(rtime.RUSAGE_SELF, r)
        seconds = rtime.decode_timeval(r.c_ru_utime)
        return failed == 0 and 0.0 <= seconds < 10000.0 and rtime.decode_timeval_ns(r.c_ru_stime) >= 0
def ticks():
    with lltype.scoped_alloc(rposix.TMS) as t:
        return rposix.c_times(t) > 0 and t.c_tms_utime >= 0
def ident(): return rthread.c_get_native_id() > 0
def members():
    with lltype.scoped_alloc(rsignal.c_sigset_t.TO) as mask:
        rsignal.c_sigemptyset(mask)
        rsignal.c_sigaddset(mask, rsignal.SIGUSR2)
        return rsignal.c_sigismember(mask, rsignal.SIGUSR2), rsignal.c_sigismember(mask, rsignal.SIGINT)
def wakeup():
    r, w = rposix.pipe(os.O_NONBLOCK)
    first = rsignal.pypysig_set_wakeup_fd(w, rsignal.PYPYSIG_NO_WARN_FULL)
    rsignal.pypysig_setflag(rsignal.SIGUSR1)
    os.kill(os.getpid(), rsignal.SIGUSR1)
    while rsignal.pypysig_poll() < 0: pass
    last = rsignal.pypysig_set_wakeup_fd(-1, rsignal.PYPYSIG_WITH_NUL_BYTE)
    rsignal.pypysig_default(rsignal.SIGUSR1)
    return first, last == w, ord(os.read(r, 10)[0]) == rsignal.SIGUSR1
",
        r#"
        used() == true
        ticks() == true
        ident() == true
        members() == [1,0]
        wakeup() == [-1,true,true]
        "#,
    );
}
