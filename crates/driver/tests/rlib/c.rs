//! Modules of the shipped `rpython.rlib` that call functions of the C library: complex functions,
//! rarer system calls. `rlib_libraries.rs` has those that call other libraries.

use crate::support::check;

#[test]
fn complex_numbers() {
    check(
        "
from rpython.rlib import rcomplex
def parts(z): return str(int(z[0] * 1000.0)) + ' ' + str(int(z[1] * 1000.0))
def arithmetic(x, y):
    z, w = (x, y), (2.0, 1.0)
    return ', '.join([parts(v) for v in [rcomplex.c_mul(z, w), rcomplex.c_div(z, w),
                                         rcomplex.c_pow(z, w)]])
def functions(x, y):
    return ', '.join([parts(v) for v in [rcomplex.c_sqrt(x, y), rcomplex.c_sin(x, y),
                                         rcomplex.c_atanh(x, y), rcomplex.c_polar(x, y)]])
def exp(x, y): return parts(rcomplex.c_exp(x, y))
def log(x, y): return parts(rcomplex.c_log(x, y))
",
        r#"
        arithmetic(1.0, 2.0) == "0 5000, 800 600, -1640 202"
        functions(1.0, 2.0) == "1272 786, 3165 1959, 173 1178, 2236 1107"
        exp(1000.0, 1.0) raises OverflowError
        exp(1.0, inf) raises ValueError
        log(0.0, 0.0) raises ValueError
        "#,
    );
}

#[test]
fn rarer_system_calls() {
    check(
        "
import os, sys
from rpython.rlib import rposix
from rpython.rlib.rarithmetic import r_uint
def relative():
    name = '/tmp/taipan-at-' + str(os.getpid())
    os.mkdir(name)
    folder = os.open(name, os.O_RDONLY, 0)
    f = rposix.openat('x', os.O_CREAT | os.O_RDWR, 0666, folder)
    rposix.pwrite(f, 'hello', 2)
    text = rposix.pread(f, 3, 3)
    os.close(f)
    rposix.symlinkat('x', 'y', folder)
    rposix.renameat('x', 'z', folder, folder)
    text += rposix.readlinkat('y', folder) + str(rposix.faccessat('z', os.R_OK, folder))
    rposix.utimensat('z', 7, 0, 8, 0, dir_fd=folder)
    text += str(int(os.stat(name + '/z').st_mtime))
    rposix.mkdirat('d', 0777, folder)
    rposix.unlinkat('d', folder, removedir=True)
    for entry in ['y', 'z']: rposix.unlinkat(entry, folder)
    os.close(folder)
    os.rmdir(name)
    return text
def absent():
    try: rposix.openat('/no/such/file', os.O_RDONLY, 0)
    except OSError as e: return e.errno
    return 0
def asked(): return os.sysconf(os.sysconf_names['SC_PAGESIZE']) % 4096 + os.getpgid(0) * 0
def users(): return os.getresuid()[0] == os.getuid() and len(os.getgroups()) >= 0
def unsigned():
    return os.getuid() <= r_uint(sys.maxint) and os.getgid() == os.getresgid()[0] and os.getegid() >= r_uint(0)
",
        r#"
        relative() == "ellx18"
        absent() == 2
        asked() == 0
        users() == true
        unsigned() == true
        "#,
    );
}

#[test]
fn waiting_for_descriptors() {
    check(
        "
import os
from rpython.rlib import rpoll
def poll():
    r, w = os.pipe()
    before = len(rpoll.poll({r: rpoll.POLLIN}, 1))
    can_read, can_write, _ = rpoll.select([r], [w], [], 0.001)
    os.write(w, 'x')
    after = rpoll.poll({r: rpoll.POLLIN, w: rpoll.POLLIN}, 1000)
    ready, _, _ = rpoll.select([r], [], [r], 1.0)
    return [before, len(can_read), len(can_write), len(after), after[0][1], len(ready)]
def bad():
    try: rpoll.select([-1], [], [])
    except rpoll.SelectError as e: return e.errno
    return 0
",
        "
        poll() == [0,0,1,1,1,1]
        bad() == 9
        ",
    );
}
