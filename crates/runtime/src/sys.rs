//! The C library's functions, as far as the runtime needs them. For WebAssembly those whose structs or
//! numbers are others than Linux's are in `wasm/wasi.c`. Where `long` has 32 bits, the C library has functions of
//! other names for sizes and times of 64 bits.

use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};

use crate::threads;

#[repr(C)]
#[derive(Default)]
pub(crate) struct Timespec {
    pub(crate) sec: i64,
    pub(crate) nsec: i64,
}

#[repr(C)]
#[derive(Default)]
pub(crate) struct Rlimit {
    pub(crate) cur: u64,
    pub(crate) max: u64,
}

pub(crate) const PROT_NONE: c_int = 0;
pub(crate) const PROT_READ_WRITE: c_int = 3;
pub(crate) const MAP_ANON_PRIVATE: c_int = 0x22;
pub(crate) const MAP_ANON_PRIVATE_NORESERVE: c_int = 0x4022;
pub(crate) const MADV_DONTNEED: c_int = 4;
pub(crate) const MADV_HUGEPAGE: c_int = 14;
pub(crate) const MADV_NOHUGEPAGE: c_int = 15;
pub(crate) const RLIMIT_STACK: c_int = 3;
/// Of the values that the system gives a process: where the name of the executable is.
pub(crate) const AT_EXECFN: usize = 31;
pub(crate) const CLOCK_REALTIME: c_int = 0;
pub(crate) const CLOCK_MONOTONIC: c_int = 1;
pub(crate) const CLOCK_PROCESS_CPUTIME_ID: c_int = 2;
pub(crate) const EINTR: c_int = 4;
pub(crate) const RTLD_NOW: c_int = 2;
pub(crate) const ENOSYS: c_int = 38;
pub(crate) const STATX_BASIC_STATS: u32 = 0x7ff;
pub(crate) const AT_FDCWD: c_int = -100;
pub(crate) const AT_EMPTY_PATH: c_int = 0x1000;
pub(crate) const AT_SYMLINK_NOFOLLOW: c_int = 0x100;

/// The kernel's `statx`, the same on every architecture.
#[repr(C)]
pub(crate) struct Statx {
    pub(crate) mask: u32,
    pub(crate) blksize: u32,
    pub(crate) attributes: u64,
    pub(crate) nlink: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) mode: u16,
    pub(crate) pad: u16,
    pub(crate) ino: u64,
    pub(crate) size: u64,
    pub(crate) blocks: u64,
    pub(crate) attributes_mask: u64,
    /// Access, birth, change, modification: seconds, then nanoseconds and padding.
    pub(crate) times: [StatxTime; 4],
    pub(crate) rdev: [u32; 2],
    /// Major and minor number.
    pub(crate) dev: [u32; 2],
    pub(crate) rest: [u64; 14],
}

/// A point of time in [`Statx`].
#[repr(C)]
pub(crate) struct StatxTime {
    pub(crate) sec: i64,
    pub(crate) nsec: u32,
    pub(crate) pad: i32,
}

/// An entry of a folder; the name ends in a zero byte.
#[repr(C)]
pub(crate) struct Dirent {
    pub(crate) ino: u64,
    pub(crate) off: i64,
    pub(crate) reclen: u16,
    pub(crate) kind: u8,
    pub(crate) name: [c_char; 256],
}

unsafe extern "C" {
    pub(crate) fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    pub(crate) fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    #[cfg_attr(target_arch = "x86", link_name = "mmap64")]
    pub(crate) fn mmap(
        addr: *mut c_void,
        len: usize,
        prot: c_int,
        flags: c_int,
        fd: c_int,
        off: i64,
    ) -> *mut c_void;
    pub(crate) fn munmap(addr: *mut c_void, len: usize) -> c_int;
    pub(crate) fn mprotect(addr: *mut c_void, len: usize, prot: c_int) -> c_int;
    pub(crate) fn madvise(addr: *mut c_void, len: usize, advice: c_int) -> c_int;
    pub(crate) fn malloc(size: usize) -> *mut c_void;
    pub(crate) fn calloc(n: usize, size: usize) -> *mut c_void;
    pub(crate) fn realloc(p: *mut c_void, size: usize) -> *mut c_void;
    pub(crate) fn memcpy(to: *mut c_void, from: *const c_void, n: usize) -> *mut c_void;
    pub(crate) fn memmove(to: *mut c_void, from: *const c_void, n: usize) -> *mut c_void;
    pub(crate) fn memset(p: *mut c_void, byte: c_int, n: usize) -> *mut c_void;
    pub(crate) fn free(p: *mut c_void);
    pub(crate) fn _exit(code: c_int) -> !;
    pub(crate) fn abort() -> !;
    pub(crate) fn __errno_location() -> *mut c_int;
    pub(crate) fn getauxval(kind: usize) -> usize;
    #[cfg_attr(target_arch = "x86", link_name = "getrlimit64")]
    pub(crate) fn getrlimit(what: c_int, out: *mut Rlimit) -> c_int;
    pub(crate) fn write(fd: c_int, p: *const u8, n: usize) -> isize;
    pub(crate) fn read(fd: c_int, p: *mut u8, n: usize) -> isize;
    #[cfg(unix)]
    #[cfg_attr(target_arch = "x86", link_name = "open64")]
    pub(crate) fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    #[cfg(target_family = "wasm")]
    #[link_name = "rpy_wasi_open"]
    pub(crate) fn open(path: *const c_char, flags: c_int, mode: c_int) -> c_int;
    #[cfg(target_family = "wasm")]
    fn rpy_wasi_errno() -> c_int;
    pub(crate) fn close(fd: c_int) -> c_int;
    #[cfg_attr(target_family = "wasm", link_name = "rpy_wasi_lseek")]
    #[cfg_attr(target_arch = "x86", link_name = "lseek64")]
    pub(crate) fn lseek(fd: c_int, pos: i64, how: c_int) -> i64;
    pub(crate) fn isatty(fd: c_int) -> c_int;
    pub(crate) fn unlink(path: *const c_char) -> c_int;
    #[cfg_attr(target_family = "wasm", link_name = "rpy_wasi_statx")]
    pub(crate) fn statx(
        fd: c_int,
        path: *const c_char,
        flags: c_int,
        mask: u32,
        out: *mut Statx,
    ) -> c_int;
    pub(crate) fn access(path: *const c_char, mode: c_int) -> c_int;
    pub(crate) fn mkdir(path: *const c_char, mode: u32) -> c_int;
    pub(crate) fn rmdir(path: *const c_char) -> c_int;
    pub(crate) fn rename(from: *const c_char, to: *const c_char) -> c_int;
    pub(crate) fn chdir(path: *const c_char) -> c_int;
    pub(crate) fn getcwd(p: *mut c_char, n: usize) -> *mut c_char;
    pub(crate) fn getenv(name: *const c_char) -> *const c_char;
    #[cfg_attr(target_family = "wasm", link_name = "rpy_wasi_strerror")]
    pub(crate) fn strerror(errno: c_int) -> *const c_char;
    pub(crate) fn strlen(s: *const c_char) -> usize;
    #[cfg_attr(target_family = "wasm", link_name = "rpy_wasi_getpid")]
    pub(crate) fn getpid() -> c_int;
    #[cfg_attr(target_family = "wasm", link_name = "rpy_wasi_clock_gettime")]
    #[cfg_attr(target_arch = "x86", link_name = "__clock_gettime64")]
    pub(crate) fn clock_gettime(clock: c_int, out: *mut Timespec) -> c_int;
    #[cfg_attr(target_family = "wasm", link_name = "rpy_wasi_nanosleep")]
    #[cfg_attr(target_arch = "x86", link_name = "__nanosleep64")]
    pub(crate) fn nanosleep(time: *const Timespec, rest: *mut Timespec) -> c_int;
    pub(crate) fn ldexp(x: f64, n: c_int) -> f64;
    pub(crate) fn dup(fd: c_int) -> c_int;
    pub(crate) fn dup2(from: c_int, to: c_int) -> c_int;
    pub(crate) fn pipe(fds: *mut c_int) -> c_int;
    #[cfg_attr(target_arch = "x86", link_name = "ftruncate64")]
    pub(crate) fn ftruncate(fd: c_int, len: i64) -> c_int;
    pub(crate) fn fsync(fd: c_int) -> c_int;
    pub(crate) fn opendir(path: *const c_char) -> *mut c_void;
    #[cfg(unix)]
    #[cfg_attr(target_arch = "x86", link_name = "readdir64")]
    pub(crate) fn readdir(dir: *mut c_void) -> *const Dirent;
    /// The name of the next entry.
    #[cfg(target_family = "wasm")]
    #[link_name = "rpy_wasi_readdir"]
    pub(crate) fn readdir(dir: *mut c_void) -> *const c_char;
    pub(crate) fn closedir(dir: *mut c_void) -> c_int;
    pub(crate) fn readlink(path: *const c_char, p: *mut c_char, n: usize) -> isize;
    pub(crate) fn symlink(target: *const c_char, path: *const c_char) -> c_int;
    pub(crate) fn link(from: *const c_char, to: *const c_char) -> c_int;
    pub(crate) fn chmod(path: *const c_char, mode: u32) -> c_int;
    #[cfg_attr(target_family = "wasm", link_name = "rpy_wasi_utimensat")]
    #[cfg_attr(target_arch = "x86", link_name = "__utimensat64")]
    pub(crate) fn utimensat(
        fd: c_int,
        path: *const c_char,
        times: *const Timespec,
        flags: c_int,
    ) -> c_int;
    pub(crate) fn umask(mask: u32) -> u32;
    pub(crate) fn setenv(name: *const c_char, value: *const c_char, replace: c_int) -> c_int;
    pub(crate) fn unsetenv(name: *const c_char) -> c_int;
    pub(crate) static environ: *const *const c_char;
    pub(crate) fn fork() -> c_int;
    pub(crate) fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
    pub(crate) fn execve(
        path: *const c_char,
        args: *const *const c_char,
        env: *const *const c_char,
    ) -> c_int;
    pub(crate) fn kill(pid: c_int, signal: c_int) -> c_int;
    pub(crate) fn raise(signal: c_int) -> c_int;
    pub(crate) fn system(command: *const c_char) -> c_int;
    pub(crate) fn getppid() -> c_int;
    pub(crate) fn getuid() -> u32;
    pub(crate) fn geteuid() -> u32;
    pub(crate) fn getgid() -> u32;
    pub(crate) fn getegid() -> u32;
    #[cfg_attr(target_family = "wasm", link_name = "rpy_wasi_getrandom")]
    pub(crate) fn getrandom(p: *mut u8, n: usize, flags: u32) -> isize;
}

/// The last error number that [`errno`] answered, or that the program has set: it can
/// ask for it later.
pub(crate) static SAVED_ERRNO: AtomicI64 = AtomicI64::new(0);

/// The error number of the last failed call.
pub(crate) fn errno() -> i64 {
    // SAFETY: the C library's per-thread location is always valid.
    #[cfg(unix)]
    let errno = i64::from(unsafe { *__errno_location() });
    // SAFETY: asks for a number.
    #[cfg(target_family = "wasm")]
    let errno = i64::from(unsafe { rpy_wasi_errno() });
    save_errno(errno);
    errno
}

/// Keeps an error number for the program: where its threads have places of their own,
/// there.
pub(crate) fn save_errno(number: i64) {
    match threads::saved_errno() {
        // SAFETY: the word belongs to the calling thread, which is alive.
        Some(own) => unsafe { *own = number },
        None => SAVED_ERRNO.store(number, Relaxed),
    }
}
