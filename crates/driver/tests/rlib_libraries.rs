//! Modules of the shipped `rpython.rlib` that call libraries whose headers a machine may lack:
//! libffi and zlib; and tables of calls by way of compilers: that of C, and clang. Where one is missing, the tests that
//! need it are reported as ignored, with the reason: this target has a harness of its own, since the standard one knows
//! no test that finds out while it runs.

mod support;

/// The tables of calls, as a list.
macro_rules! tables {
    ($($(#[$meta:meta])* $name:ident: $source:literal => $calls:literal;)*) => {
        /// Names, sources and calls.
        pub(crate) const TABLES: &[(&str, &str, &str)] = &[$((stringify!($name), $source, $calls)),*];
    };
}

#[path = "programs/lowlevel.rs"]
mod lowlevel;

use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion};
use support::check;
use support::compiled::{Compiler, check_compiled};
use taipan_testkit::timed_trial;

/// Whether a library's header is there.
fn has(header: &str) -> bool {
    ["/usr/include", "/usr/include/x86_64-linux-gnu"]
        .iter()
        .any(|folder| Path::new(folder).join(header).exists())
}

fn functions_of_libraries() {
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

fn calls_through_descriptions() {
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

fn compression() {
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

fn main() -> ExitCode {
    let trial = |name: &str, header: &'static str, test: fn()| {
        timed_trial(name, move || {
            if !has(header) {
                return Ok(Completion::ignored_with(format!("no {header}")));
            }
            test();
            Ok(Completion::Completed)
        })
    };
    let compiled = [Compiler::C, Compiler::Llvm].into_iter().flat_map(|by| {
        let missing = by.missing();
        lowlevel::TABLES.iter().map(move |(name, source, calls)| {
            let missing = missing.clone();
            timed_trial(format!("{name}_by_{by:?}"), move || match missing {
                Some(why) => Ok(Completion::ignored_with(why)),
                None => {
                    check_compiled(by, source, calls);
                    Ok(Completion::Completed)
                }
            })
        })
    });
    let mut trials = vec![
        trial("functions_of_libraries", "ffi.h", functions_of_libraries),
        trial(
            "calls_through_descriptions",
            "ffi.h",
            calls_through_descriptions,
        ),
        trial("compression", "zlib.h", compression),
    ];
    trials.extend(compiled);
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
