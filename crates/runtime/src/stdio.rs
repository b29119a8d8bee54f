//! The C library's buffered files behind [`crate::externals`]. A file is the address of
//! its `FILE`; errors come back as minus the `errno`. The C library writes out what is
//! left in buffers when the process ends.

use core::ffi::{c_char, c_int, c_void};

use crate::os::{checked, with_c_string};
use crate::sys::errno;

unsafe extern "C" {
    #[cfg_attr(target_arch = "x86", link_name = "fopen64")]
    fn fopen(path: *const c_char, mode: *const c_char) -> *mut c_void;
    #[link_name = "fdopen"]
    fn c_fdopen(fd: c_int, mode: *const c_char) -> *mut c_void;
    #[link_name = "popen"]
    fn c_popen(command: *const c_char, mode: *const c_char) -> *mut c_void;
    #[link_name = "pclose"]
    fn c_pclose(file: *mut c_void) -> c_int;
    #[cfg_attr(target_arch = "x86", link_name = "tmpfile64")]
    fn tmpfile() -> *mut c_void;
    fn setvbuf(file: *mut c_void, buffer: *mut c_char, mode: c_int, size: usize) -> c_int;
    fn fclose(file: *mut c_void) -> c_int;
    fn fread(p: *mut u8, size: usize, n: usize, file: *mut c_void) -> usize;
    fn fwrite(p: *const u8, size: usize, n: usize, file: *mut c_void) -> usize;
    fn getc_unlocked(file: *mut c_void) -> c_int;
    fn ferror(file: *mut c_void) -> c_int;
    fn clearerr(file: *mut c_void);
    fn fflush(file: *mut c_void) -> c_int;
    #[cfg_attr(target_arch = "x86", link_name = "fseeko64")]
    fn fseeko(file: *mut c_void, pos: i64, how: c_int) -> c_int;
    #[cfg_attr(target_arch = "x86", link_name = "ftello64")]
    fn ftello(file: *mut c_void) -> i64;
    #[link_name = "fileno"]
    fn c_fileno(file: *mut c_void) -> c_int;
    static stdin: *mut c_void;
    static stdout: *mut c_void;
    static stderr: *mut c_void;
}

fn pointer(file: i64) -> *mut c_void {
    file as usize as *mut c_void
}

fn opened(file: *mut c_void) -> i64 {
    if file.is_null() {
        -errno()
    } else {
        file as usize as i64
    }
}

/// `fopen`
pub fn open(path: &[u8], mode: &[u8]) -> i64 {
    with_c_string(path, |p| {
        // SAFETY: both end in a zero byte.
        with_c_string(mode, |m| opened(unsafe { fopen(p, m) }))
    })
}

/// `fdopen`
pub fn fdopen(fd: i64, mode: &[u8]) -> i64 {
    // SAFETY: the mode ends in a zero byte.
    with_c_string(mode, |m| opened(unsafe { c_fdopen(fd as c_int, m) }))
}

/// `popen`
#[cfg(unix)]
pub fn popen(command: &[u8], mode: &[u8]) -> i64 {
    with_c_string(command, |c| {
        // SAFETY: both end in a zero byte.
        with_c_string(mode, |m| opened(unsafe { c_popen(c, m) }))
    })
}

/// `tmpfile`
#[cfg(unix)]
pub fn temporary() -> i64 {
    // SAFETY: no arguments.
    opened(unsafe { tmpfile() })
}

/// stdin, stdout or stderr.
pub fn standard(which: i64) -> i64 {
    // SAFETY: the C library's variables are set before the program starts.
    opened(unsafe {
        match which {
            0 => stdin,
            1 => stdout,
            _ => stderr,
        }
    })
}

/// `setvbuf` with a buffer of the C library's.
///
/// Here and below `file` is a file that has been opened and not closed, or the C
/// library's own misfortune is the program's.
pub fn set_buffer(file: i64, mode: i64, size: i64) -> i64 {
    // SAFETY: `file` is a `FILE` that the program has opened and not closed.
    checked(i64::from(unsafe {
        setvbuf(
            pointer(file),
            core::ptr::null_mut(),
            mode as c_int,
            size as usize,
        )
    }))
}

/// `fclose`
pub fn close(file: i64) -> i64 {
    // SAFETY: `file` is a `FILE` that the program has opened and not closed, and does not use
    // again.
    checked(i64::from(unsafe { fclose(pointer(file)) }))
}

/// `pclose`: the status of the command.
#[cfg(unix)]
pub fn pclose(file: i64) -> i64 {
    // SAFETY: `file` came from `popen`, is not closed, and the program does not use it again.
    checked(i64::from(unsafe { c_pclose(pointer(file)) }))
}

/// `n`, or the error that stopped the last operation, which is then forgotten.
fn unless_error(file: i64, n: usize) -> i64 {
    // SAFETY: `file` is a `FILE` that the program has opened and not closed.
    unsafe {
        if ferror(pointer(file)) != 0 {
            let error = -errno();
            clearerr(pointer(file));
            return error;
        }
        if n == 0 {
            // The end of a terminal or of a growing file is not the end for ever.
            clearerr(pointer(file));
        }
    }
    n as i64
}

/// `fread` into `out`: the number of bytes.
pub fn read(file: i64, out: &mut [u8]) -> i64 {
    // SAFETY: `out` is valid for its length.
    let n = unsafe { fread(out.as_mut_ptr(), 1, out.len(), pointer(file)) };
    if n > 0 {
        n as i64
    } else {
        unless_error(file, n)
    }
}

/// Reads up to a newline, that included, or until `out` is full: the number of bytes.
pub fn line(file: i64, out: &mut [u8]) -> i64 {
    let mut n = 0;
    while n < out.len() {
        // SAFETY: `file` is a `FILE` that the program has opened and not closed.
        let c = unsafe { getc_unlocked(pointer(file)) };
        let Ok(byte) = u8::try_from(c) else {
            return if n > 0 {
                n as i64
            } else {
                unless_error(file, n)
            };
        };
        out[n] = byte;
        n += 1;
        if byte == b'\n' {
            break;
        }
    }
    n as i64
}

/// `fwrite` of all bytes.
pub fn write(file: i64, s: &[u8]) -> i64 {
    // SAFETY: `s` is valid for its length.
    let n = unsafe { fwrite(s.as_ptr(), 1, s.len(), pointer(file)) };
    if n == s.len() {
        n as i64
    } else {
        unless_error(file, n)
    }
}

/// `fflush`
pub fn flush(file: i64) -> i64 {
    // SAFETY: `file` is a `FILE` that the program has opened and not closed.
    checked(i64::from(unsafe { fflush(pointer(file)) }))
}

/// `fseek`
pub fn seek(file: i64, pos: i64, how: i64) -> i64 {
    // SAFETY: `file` is a `FILE` that the program has opened and not closed.
    checked(i64::from(unsafe {
        fseeko(pointer(file), pos, how as c_int)
    }))
}

/// `ftell`
pub fn tell(file: i64) -> i64 {
    // SAFETY: `file` is a `FILE` that the program has opened and not closed.
    checked(unsafe { ftello(pointer(file)) })
}

/// `fileno`
pub fn fileno(file: i64) -> i64 {
    // SAFETY: `file` is a `FILE` that the program has opened and not closed.
    checked(i64::from(unsafe { c_fileno(pointer(file)) }))
}
