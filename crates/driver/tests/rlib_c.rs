//! Modules of the shipped `rpython.rlib` that call C libraries: libffi, zlib, complex
//! functions, rarer system calls.

mod support;

use std::path::Path;

use support::check;

/// Whether a library's header is there; tests that need one that is not pass.
fn has(header: &str) -> bool {
    ["/usr/include", "/usr/include/x86_64-linux-gnu"]
        .iter()
        .any(|folder| Path::new(folder).join(header).exists())
}

#[test]
fn functions_of_libraries() {
    if !has("ffi.h") {
        return;
    }
    check(
        "
from rpython.rlib.clibffi import *
from rpython.rlib.rarithmetic import intmask
from rpython.rtyper.lltypesystem import lltype, rffi
def power(x, y):
    p = CDLL('libm.so.6').getpointer('pow', [ffi_type_double, ffi_type_double], ffi_type_double)
    p.push_arg(x)
    p.push_arg(y)
    return p.call(rffi.DOUBLE)
def absolute(n):
    p = CDLL('libc.so.6').getpointer('abs', [ffi_type_sint], ffi_type_sint)
    p.push_arg(n)
    return intmask(p.call(rffi.INT))
def compare(args, result, userdata):
    a = rffi.cast(rffi.INTP, rffi.cast(rffi.VOIDPP, args[0])[0])[0]
    b = rffi.cast(rffi.INTP, rffi.cast(rffi.VOIDPP, args[1])[0])[0]
    rffi.cast(rffi.SIGNEDP, result)[0] = (intmask(a) - intmask(b)) * userdata.addarg
def backwards(l):
    size = cast_type_to_ffitype(rffi.SIZE_T)
    p = CDLL('libc.so.6').getpointer('qsort', [ffi_type_pointer, size, size, ffi_type_pointer],
                                     ffi_type_void)
    callback = CallbackFuncPtr([ffi_type_pointer, ffi_type_pointer], ffi_type_sint, compare, -1)
    items = lltype.malloc(rffi.INTP.TO, len(l), flavor='raw')
    for i in range(len(l)): items[i] = rffi.cast(rffi.INT, l[i])
    p.push_arg(rffi.cast(rffi.VOIDP, items))
    p.push_arg(rffi.cast(rffi.SIZE_T, len(l)))
    p.push_arg(rffi.cast(rffi.SIZE_T, 4))
    p.push_arg(callback.get_closure())
    p.call(lltype.Void)
    result = [intmask(items[i]) for i in range(len(l))]
    lltype.free(items, flavor='raw')
    return result
def missing(what):
    try: lib = CDLL('libc.so.6' if what else 'libnothing.so')
    except DLOpenError as e: return e.msg
    try: lib.getaddressindll('no such thing')
    except KeyError: return 'no symbol'
    return ''
",
        r#"
        power(2.0, 10.0) == 1024.0
        absolute(-5) == 5
        backwards([2, 3, 1]) == [3,2,1]
        missing(0) == "libnothing.so: cannot open shared object file: No such file or directory"
        missing(1) == "no symbol"
        "#,
    );
}

#[test]
fn calls_through_descriptions() {
    if !has("ffi.h") {
        return;
    }
    check(
        "
from rpython.rlib.clibffi import CDLL, FFI_DEFAULT_ABI
from rpython.rlib.jit_libffi import CIF_DESCRIPTION, FFI_TYPE_PP, jit_ffi_call, jit_ffi_prep_cif, types
from rpython.rtyper.lltypesystem import lltype, rffi
def longer(a, b):
    address = CDLL('libc.so.6').getaddressindll('labs')
    cif = lltype.malloc(CIF_DESCRIPTION, 1, flavor='raw')
    cif.atypes = lltype.malloc(FFI_TYPE_PP.TO, 1, flavor='raw')
    cif.atypes[0] = types.slong
    cif.abi, cif.nargs, cif.rtype = FFI_DEFAULT_ABI, 1, types.slong
    cif.exchange_size, cif.exchange_result = 32, 8
    cif.exchange_args[0] = 16
    assert jit_ffi_prep_cif(cif) == 0
    buf = lltype.malloc(rffi.CCHARP.TO, 32, flavor='raw')
    rffi.cast(rffi.SIGNEDP, rffi.ptradd(buf, 16))[0] = a
    jit_ffi_call(cif, address, buf)
    result = rffi.cast(rffi.SIGNEDP, rffi.ptradd(buf, 8))[0]
    kind = types.getkind(types.slong) + types.getkind(types.double) + types.getkind(types.pointer)
    for p in [buf, rffi.cast(rffi.CCHARP, cif.atypes), rffi.cast(rffi.CCHARP, cif)]:
        lltype.free(p, flavor='raw')
    return str(result + b) + kind
",
        r#"
        longer(-40, 2) == "42ifu"
        "#,
    );
}

#[test]
fn compression() {
    if !has("zlib.h") {
        return;
    }
    check(
        "
from rpython.rlib import rzlib
def packed(s, level):
    stream = rzlib.deflateInit(level)
    data = rzlib.compress(stream, s) + rzlib.compress(stream, '', rzlib.Z_FINISH)
    rzlib.deflateEnd(stream)
    return data
def there_and_back(s):
    data = packed(s, 9)
    stream = rzlib.inflateInit()
    text, finished, rest = rzlib.decompress(stream, data + 'xyz')
    rzlib.inflateEnd(stream)
    return [text == s, len(data) < len(s), finished, rest == 3]
def piece(n):
    stream = rzlib.inflateInit()
    text, finished, _ = rzlib.decompress(stream, packed('hello, world', 6), max_length=n)
    rzlib.inflateEnd(stream)
    return text + str(finished)
def broken():
    stream = rzlib.inflateInit()
    try: rzlib.decompress(stream, 'no zlib data')
    except rzlib.RZlibError as e: return e.msg
    return ''
def level(n): packed('', n)
def sums(s): return rzlib.crc32(s) == rzlib.crc32(s[2:], rzlib.crc32(s[:2]))
",
        r#"
        there_and_back('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab') == [true,true,true,true]
        piece(5) == "hello0"
        piece(50) == "hello, world1"
        broken() == "Error -3 while decompressing data: incorrect header check"
        level(1000) raises ValueError
        sums('checksum') == true
        "#,
    );
}

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
