//! Calls about processes and their environment behind [`crate::externals`]. Errors come
//! back as minus the `errno`.

use core::ffi::c_char;
#[cfg(unix)]
use core::ffi::c_int;

use crate::os::{c_bytes, checked, with_c_string};
use crate::sys::{self, errno};
#[cfg(unix)]
use crate::threads;

/// Most arguments, and most variables, that [`execve`] passes on.
const MOST_WORDS: usize = 4096;
const E2BIG: i64 = 7;
const ENOMEM: i64 = 12;

/// All variables as `NAME=value`, each with a zero byte after it: their length
/// together; what does not fit is not written.
pub fn environ(out: &mut [u8]) -> i64 {
    let mut length = 0;
    // SAFETY: the C library keeps a table of strings that a null pointer ends.
    unsafe {
        let mut next = sys::environ;
        while !next.is_null() && !(*next).is_null() {
            let text = c_bytes(*next);
            let end = length + text.len() + 1;
            if let Some(to) = out.get_mut(length..end) {
                to[..text.len()].copy_from_slice(text);
                to[text.len()] = 0;
            }
            length = end;
            next = next.add(1);
        }
    }
    length as i64
}

/// Calls `f` with a copy of a text of any length as the C library wants it.
fn with_long_string(text: &[u8], f: impl FnOnce(*const c_char) -> i64) -> i64 {
    // SAFETY: the copy has room for the text and a zero byte, and lives until `f` is done.
    unsafe {
        let copy: *mut u8 = sys::malloc(text.len() + 1).cast();
        if copy.is_null() {
            return -ENOMEM;
        }
        copy.copy_from_nonoverlapping(text.as_ptr(), text.len());
        *copy.add(text.len()) = 0;
        let result = f(copy.cast());
        sys::free(copy.cast());
        result
    }
}

/// Sets a variable.
pub fn putenv(name: &[u8], value: &[u8]) -> i64 {
    with_c_string(name, |n| {
        with_long_string(value, |v| {
            // SAFETY: both end in a zero byte; the C library copies them.
            checked(i64::from(unsafe { sys::setenv(n, v, 1) }))
        })
    })
}

/// Forgets a variable.
pub fn unsetenv(name: &[u8]) -> i64 {
    // SAFETY: the name ends in a zero byte.
    with_c_string(name, |n| checked(i64::from(unsafe { sys::unsetenv(n) })))
}

/// `fork`
#[cfg(unix)]
pub fn fork() -> i64 {
    // SAFETY: the child goes on with this thread alone, which has the lock.
    let pid = checked(i64::from(unsafe { sys::fork() }));
    if pid == 0 {
        // SAFETY: this is the child, whose one thread has the lock of the threads.
        unsafe { threads::after_fork() };
        crate::debug::forked(0);
    }
    pid
}

/// `waitpid`: the process in the upper 32 bits, its status in the lower. A signal is an error (EINTR).
#[cfg(unix)]
pub fn waitpid(pid: i64, options: i64) -> i64 {
    let mut status: c_int = 0;
    // SAFETY: `status` is valid for writing.
    let pid = unsafe { sys::waitpid(pid as c_int, &raw mut status, options as c_int) };
    if pid < 0 {
        return -errno();
    }
    i64::from(pid) << 32 | i64::from(status as u32)
}

/// The starts of words that each have a zero byte after them, and a null pointer.
fn words(text: &[u8], out: &mut [*const c_char; MOST_WORDS + 1]) -> bool {
    let mut n = 0;
    let mut start = 0;
    while let Some(len) = text[start..].iter().position(|b| *b == 0) {
        if n == MOST_WORDS {
            return false;
        }
        out[n] = text[start..].as_ptr().cast();
        n += 1;
        start += len + 1;
    }
    out[n] = core::ptr::null();
    true
}

/// Replaces the process by a program with these arguments, each with a zero byte
/// after it, and this environment.
#[cfg(unix)]
pub fn execve(path: &[u8], args: &[u8], env: &[u8]) -> i64 {
    let mut argv = [core::ptr::null(); MOST_WORDS + 1];
    let mut envp = [core::ptr::null(); MOST_WORDS + 1];
    if !words(args, &mut argv) || !words(env, &mut envp) {
        return -E2BIG;
    }
    with_c_string(path, |p| {
        // SAFETY: strings end in zero bytes, tables in null pointers.
        checked(i64::from(unsafe {
            sys::execve(p, argv.as_ptr(), envp.as_ptr())
        }))
    })
}

/// `kill`
#[cfg(unix)]
pub fn kill(pid: i64, signal: i64) -> i64 {
    let signal = signal as c_int;
    // SAFETY: at worst there is no such process or signal, which is an error.
    checked(i64::from(unsafe {
        // A signal that a program with one thread sends to itself has arrived when this returns,
        // even if the process has other threads besides. With several threads the system chooses
        // the thread: one that waits for the signal, or the first one.
        if pid == i64::from(sys::getpid()) && signal != 0 && !threads::started() {
            sys::raise(signal)
        } else {
            sys::kill(pid as c_int, signal)
        }
    }))
}

/// Runs a command in the shell: its status.
#[cfg(unix)]
pub fn system(command: &[u8]) -> i64 {
    // SAFETY: the command ends in a zero byte.
    with_long_string(command, |c| checked(i64::from(unsafe { sys::system(c) })))
}

/// `getppid`
#[cfg(unix)]
pub fn getppid() -> i64 {
    // SAFETY: cannot fail.
    i64::from(unsafe { sys::getppid() })
}

/// `getuid`
#[cfg(unix)]
pub fn getuid() -> i64 {
    // SAFETY: cannot fail.
    i64::from(unsafe { sys::getuid() })
}

/// `geteuid`
#[cfg(unix)]
pub fn geteuid() -> i64 {
    // SAFETY: cannot fail.
    i64::from(unsafe { sys::geteuid() })
}

/// `getgid`
#[cfg(unix)]
pub fn getgid() -> i64 {
    // SAFETY: cannot fail.
    i64::from(unsafe { sys::getgid() })
}

/// `getegid`
#[cfg(unix)]
pub fn getegid() -> i64 {
    // SAFETY: cannot fail.
    i64::from(unsafe { sys::getegid() })
}

/// Fills `out` with random bytes of the system.
pub fn urandom(out: &mut [u8]) -> i64 {
    let mut done = 0;
    while done < out.len() {
        let rest = &mut out[done..];
        // SAFETY: valid for its length.
        let n = unsafe { sys::getrandom(rest.as_mut_ptr(), rest.len(), 0) };
        match usize::try_from(n) {
            Ok(n) => done += n,
            Err(_) if errno() == i64::from(sys::EINTR) => {}
            Err(_) => return -errno(),
        }
    }
    done as i64
}
