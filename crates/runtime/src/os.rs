//! Operating-system calls on byte slices: the functions behind [`crate::externals`].
//! Errors come back as minus the `errno`.

use core::ffi::{c_char, c_int};
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::Relaxed;

use crate::sys::{self, Timespec, errno};
use crate::threads;

/// Longest path or name that is passed on; longer ones are answered as the system
/// would (`ENAMETOOLONG`).
pub(crate) const PATH_MAX: usize = 4096;
pub(crate) const ENAMETOOLONG: i64 = 36;

/// Bytes of a string that ends in a zero byte.
///
/// # Safety
/// `s` is such a string and outlives the result.
pub unsafe fn c_bytes<'a>(s: *const c_char) -> &'a [u8] {
    // SAFETY: `s` ends in a zero byte, which `strlen` finds, and the caller keeps it as long as the
    // result.
    unsafe { core::slice::from_raw_parts(s.cast(), sys::strlen(s)) }
}

/// Calls `f` with the name as the C library wants it, cut at its first zero byte.
pub(crate) fn with_c_string(name: &[u8], f: impl FnOnce(*const c_char) -> i64) -> i64 {
    let mut buffer = [0u8; PATH_MAX];
    if name.len() >= PATH_MAX {
        return -ENAMETOOLONG;
    }
    buffer[..name.len()].copy_from_slice(name);
    f(buffer.as_ptr().cast())
}

/// The result, or minus the `errno`.
pub(crate) fn checked(result: i64) -> i64 {
    if result < 0 { -errno() } else { result }
}

/// The errno of the last function that failed, or what was set since.
pub fn saved_errno() -> i64 {
    match threads::saved_errno() {
        // SAFETY: the word belongs to the calling thread, which is alive.
        Some(own) => unsafe { *own },
        None => sys::SAVED_ERRNO.load(Relaxed),
    }
}

/// Sets what [`saved_errno`] answers.
pub fn set_saved_errno(number: i64) {
    sys::save_errno(number);
}

/// One call of `write`: the number of written bytes. A signal that arrives before the first byte is written is
/// an error (EINTR); a later one ends the call early, so that the program can handle it.
pub fn write(fd: i64, s: &[u8]) -> i64 {
    match write_some(fd as c_int, s) {
        Ok(n) => n as i64,
        Err(error) => -error,
    }
}

/// Writes all of the runtime's own text, whatever signals arrive: the number of bytes.
pub fn write_all(fd: c_int, mut s: &[u8]) -> i64 {
    let len = s.len() as i64;
    while !s.is_empty() {
        match write_some(fd, s) {
            Ok(n) => s = &s[n..],
            Err(error) if error == i64::from(sys::EINTR) => {}
            Err(error) => return -error,
        }
    }
    len
}

/// One call of `write`: the number of bytes, or errno.
fn write_some(fd: c_int, s: &[u8]) -> Result<usize, i64> {
    // SAFETY: the slice is valid for its length.
    let n = unsafe { sys::write(fd, s.as_ptr(), s.len()) };
    if n < 0 { Err(errno()) } else { Ok(n as usize) }
}

/// `read` into `s`. A signal that arrives before the first byte is an error (EINTR).
pub fn read(fd: i64, s: &mut [u8]) -> i64 {
    // SAFETY: the slice is valid for its length.
    let n = unsafe { sys::read(fd as c_int, s.as_mut_ptr(), s.len()) };
    checked(n as i64)
}

/// `open`
pub fn open(path: &[u8], flags: i64, mode: i64) -> i64 {
    with_c_string(path, |p| {
        // SAFETY: the path ends in a zero byte.
        checked(i64::from(unsafe {
            sys::open(p, flags as c_int, mode as c_int)
        }))
    })
}

/// `close`
pub fn close(fd: i64) -> i64 {
    // SAFETY: at worst the descriptor is invalid, which is an error.
    checked(i64::from(unsafe { sys::close(fd as c_int) }))
}

/// `lseek`
pub fn lseek(fd: i64, pos: i64, how: i64) -> i64 {
    // SAFETY: a descriptor that is invalid is an error, no more.
    checked(unsafe { sys::lseek(fd as c_int, pos, how as c_int) })
}

/// `isatty`
pub fn isatty(fd: i64) -> bool {
    // SAFETY: a descriptor that is invalid is an error, no more.
    unsafe { sys::isatty(fd as c_int) != 0 }
}

/// `unlink`
pub fn unlink(path: &[u8]) -> i64 {
    // SAFETY: the path ends in a zero byte.
    with_c_string(path, |p| checked(i64::from(unsafe { sys::unlink(p) })))
}

/// A field of what `stat` says: mode, size, modification time in nanoseconds, inode,
/// device.
pub fn stat(path: &[u8], field: i64) -> i64 {
    with_c_string(path, |p| stat_field(sys::AT_FDCWD, p, 0, field))
}

/// The same for an open file.
pub fn fstat(fd: i64, field: i64) -> i64 {
    stat_field(fd as c_int, c"".as_ptr(), sys::AT_EMPTY_PATH, field)
}

fn stat_field(fd: c_int, path: *const c_char, flags: c_int, field: i64) -> i64 {
    match statx(fd, path, flags) {
        Ok(st) => match field {
            0 => i64::from(st.mode),
            1 => st.size as i64,
            2 => nanoseconds(&st.times[3]),
            3 => st.ino as i64,
            _ => device(st.dev),
        },
        Err(e) => e,
    }
}

pub(crate) fn statx(fd: c_int, path: *const c_char, flags: c_int) -> Result<sys::Statx, i64> {
    let mut out = MaybeUninit::<sys::Statx>::zeroed();
    // SAFETY: the path ends in a zero byte, `out` has the kernel's layout, and zeroes
    // are valid for it.
    let (result, st) = unsafe {
        let result = sys::statx(fd, path, flags, sys::STATX_BASIC_STATS, out.as_mut_ptr());
        (result, out.assume_init())
    };
    if result < 0 { Err(-errno()) } else { Ok(st) }
}

pub(crate) fn nanoseconds(t: &sys::StatxTime) -> i64 {
    t.sec * 1_000_000_000 + i64::from(t.nsec)
}

/// Device number of a file, as `st_dev` has it.
pub(crate) fn device([major, minor]: [u32; 2]) -> i64 {
    let (major, minor) = (u64::from(major), u64::from(minor));
    ((minor & 0xff) | (major << 8) | ((minor & !0xff) << 12)) as i64
}

/// Whether `access` succeeds.
pub fn access(path: &[u8], mode: i64) -> bool {
    with_c_string(path, |p| {
        // SAFETY: the path ends in a zero byte.
        i64::from(unsafe { sys::access(p, mode as c_int) })
    }) == 0
}

/// `mkdir`
pub fn mkdir(path: &[u8], mode: i64) -> i64 {
    with_c_string(path, |p| {
        // SAFETY: the path ends in a zero byte.
        checked(i64::from(unsafe { sys::mkdir(p, mode as u32) }))
    })
}

/// `rmdir`
pub fn rmdir(path: &[u8]) -> i64 {
    // SAFETY: the path ends in a zero byte.
    with_c_string(path, |p| checked(i64::from(unsafe { sys::rmdir(p) })))
}

/// `rename`
pub fn rename(from: &[u8], to: &[u8]) -> i64 {
    with_c_string(from, |f| {
        // SAFETY: both paths end in a zero byte.
        with_c_string(to, |t| checked(i64::from(unsafe { sys::rename(f, t) })))
    })
}

/// `chdir`
pub fn chdir(path: &[u8]) -> i64 {
    // SAFETY: the path ends in a zero byte.
    with_c_string(path, |p| checked(i64::from(unsafe { sys::chdir(p) })))
}

/// The working directory: its length; nothing is written if it exceeds `out`.
pub fn getcwd(out: &mut [u8]) -> i64 {
    let mut buffer = [0u8; PATH_MAX];
    // SAFETY: the buffer is valid for its length.
    let p = unsafe { sys::getcwd(buffer.as_mut_ptr().cast(), buffer.len()) };
    if p.is_null() {
        return -errno();
    }
    // SAFETY: `getcwd` wrote a string that ends in a zero byte.
    copy_if_fits(unsafe { c_bytes(p) }, out)
}

/// A variable of the environment: its length or -1; nothing is written if it exceeds
/// `out`.
pub fn getenv(name: &[u8], out: &mut [u8]) -> i64 {
    // SAFETY: the name ends in a zero byte; the value is a string that lives until the
    // environment changes, which nothing here does.
    with_c_string(name, |n| unsafe {
        let value = sys::getenv(n);
        if value.is_null() {
            return -1;
        }
        copy_if_fits(c_bytes(value), out)
    })
    .max(-1)
}

pub(crate) fn copy_if_fits(text: &[u8], out: &mut [u8]) -> i64 {
    if let Some(out) = out.get_mut(..text.len()) {
        out.copy_from_slice(text);
    }
    text.len() as i64
}

/// The system's message for an `errno`, cut to the length of `out`: its length.
pub fn strerror(number: i64, out: &mut [u8]) -> i64 {
    // SAFETY: `strerror` returns a string that ends in a zero byte.
    let text = unsafe { c_bytes(sys::strerror(number as c_int)) };
    let n = text.len().min(out.len());
    out[..n].copy_from_slice(&text[..n]);
    n as i64
}

/// `getpid`
pub fn getpid() -> i64 {
    // SAFETY: cannot fail.
    i64::from(unsafe { sys::getpid() })
}

/// `_exit`
pub fn exit(code: i64) {
    // SAFETY: ends the process.
    unsafe { sys::_exit(crate::exc::exit_code(code)) }
}

/// Prints the message on stderr and ends the process.
pub fn fatal(message: &[u8]) {
    crate::exc::fatal(message)
}

/// Seconds since the epoch.
pub fn time() -> f64 {
    clock_seconds(sys::CLOCK_REALTIME)
}

/// Nanoseconds of one of the system's clocks, or minus the `errno`.
pub fn clock_nanoseconds(clock: i64) -> i64 {
    let mut t = Timespec::default();
    // SAFETY: `t` is valid for writing; an unknown clock is an error.
    match checked(i64::from(unsafe {
        sys::clock_gettime(clock as c_int, &raw mut t)
    })) {
        0 => t.sec * 1_000_000_000 + t.nsec,
        error => error,
    }
}

/// CPU seconds of this process.
pub fn clock() -> f64 {
    clock_seconds(sys::CLOCK_PROCESS_CPUTIME_ID)
}

/// CPU nanoseconds of this process.
pub(crate) fn cpu_nanoseconds() -> i64 {
    let t = clock_time(sys::CLOCK_PROCESS_CPUTIME_ID);
    t.sec * 1_000_000_000 + t.nsec
}

fn clock_seconds(clock: c_int) -> f64 {
    let t = clock_time(clock);
    t.sec as f64 + t.nsec as f64 * 1e-9
}

fn clock_time(clock: c_int) -> Timespec {
    let mut t = Timespec::default();
    // SAFETY: `t` is valid for writing.
    unsafe { sys::clock_gettime(clock, &raw mut t) };
    t
}

/// The time so many microseconds from now.
pub(crate) fn time_after(microseconds: i64) -> Timespec {
    let mut t = Timespec::default();
    // SAFETY: `t` is valid for writing.
    unsafe { sys::clock_gettime(sys::CLOCK_REALTIME, &raw mut t) };
    let nsec = t.nsec + microseconds % 1_000_000 * 1000;
    t.sec += microseconds / 1_000_000 + nsec / 1_000_000_000;
    t.nsec = nsec % 1_000_000_000;
    t
}

/// Sleeps, until a signal arrives; not at all for negative or undefined times.
pub fn sleep(seconds: f64) {
    if seconds.is_nan() || seconds <= 0.0 {
        return;
    }
    let mut t = Timespec {
        sec: seconds as i64,
        nsec: ((seconds - (seconds as i64) as f64) * 1e9) as i64,
    };
    let request = &raw mut t;
    // SAFETY: both arguments are valid.
    unsafe { sys::nanosleep(request, request) };
}
