//! Calls about files, folders and descriptors behind [`crate::externals`], besides the
//! elementary ones of [`crate::os`]. Errors come back as minus the `errno`.

use core::ffi::c_int;

use crate::os::{
    PATH_MAX, c_bytes, checked, copy_if_fits, device, nanoseconds, statx, with_c_string,
};
use crate::sys::{self, Timespec, errno};

const EINVAL: i64 = 22;

/// `dup`
#[cfg(unix)]
pub fn dup(fd: i64) -> i64 {
    // SAFETY: at worst the descriptor is invalid, which is an error.
    checked(i64::from(unsafe { sys::dup(fd as c_int) }))
}

/// `dup2`
#[cfg(unix)]
pub fn dup2(from: i64, to: i64) -> i64 {
    // SAFETY: a descriptor that is invalid is an error, no more.
    checked(i64::from(unsafe { sys::dup2(from as c_int, to as c_int) }))
}

/// `pipe`: the end to read in the low 32 bits, the end to write above.
#[cfg(unix)]
pub fn pipe() -> i64 {
    let mut fds: [c_int; 2] = [0; 2];
    // SAFETY: room for two descriptors.
    match checked(i64::from(unsafe { sys::pipe(fds.as_mut_ptr()) })) {
        0 => i64::from(fds[0]) | i64::from(fds[1]) << 32,
        error => error,
    }
}

/// `ftruncate`
pub fn ftruncate(fd: i64, len: i64) -> i64 {
    // SAFETY: a descriptor that is invalid is an error, no more.
    checked(i64::from(unsafe { sys::ftruncate(fd as c_int, len) }))
}

/// `fsync`
pub fn fsync(fd: i64) -> i64 {
    // SAFETY: a descriptor that is invalid is an error, no more.
    checked(i64::from(unsafe { sys::fsync(fd as c_int) }))
}

/// Number of bytes that [`stat`] writes.
const STAT_SIZE: usize = 104;

/// What `stat` says of a path, or `lstat` where links are not followed: mode, inode,
/// device, links, owner, group, size, times of access, modification and change in
/// nanoseconds, best size of blocks, blocks, the device that it stands for, eight bytes
/// each, the lowest first.
pub fn stat(path: &[u8], follow: bool, out: &mut [u8]) -> i64 {
    let flags = if follow { 0 } else { sys::AT_SYMLINK_NOFOLLOW };
    with_c_string(path, |p| write_stat(statx(sys::AT_FDCWD, p, flags), out))
}

/// The same for an open file.
pub fn fstat(fd: i64, out: &mut [u8]) -> i64 {
    let found = statx(fd as c_int, c"".as_ptr(), sys::AT_EMPTY_PATH);
    write_stat(found, out)
}

fn write_stat(found: Result<sys::Statx, i64>, out: &mut [u8]) -> i64 {
    let st = match found {
        Ok(st) => st,
        Err(error) => return error,
    };
    let fields = [
        i64::from(st.mode),
        st.ino as i64,
        device(st.dev),
        i64::from(st.nlink),
        i64::from(st.uid),
        i64::from(st.gid),
        st.size as i64,
        nanoseconds(&st.times[0]),
        nanoseconds(&st.times[3]),
        nanoseconds(&st.times[2]),
        i64::from(st.blksize),
        st.blocks as i64,
        device(st.rdev),
    ];
    if out.len() < STAT_SIZE {
        return -EINVAL;
    }
    for (to, field) in out.chunks_exact_mut(8).zip(fields) {
        to.copy_from_slice(&field.to_le_bytes());
    }
    STAT_SIZE as i64
}

/// Names in a folder but for `.` and `..`, each with a zero byte after it: their
/// length together; what does not fit is not written.
pub fn listdir(path: &[u8], out: &mut [u8]) -> i64 {
    with_c_string(path, |p| {
        // SAFETY: the path ends in a zero byte.
        let dir = unsafe { sys::opendir(p) };
        if dir.is_null() {
            return -errno();
        }
        let mut length = 0;
        loop {
            // SAFETY: the folder is open; the entry lives until the next call.
            let entry = unsafe { sys::readdir(dir) };
            if entry.is_null() {
                break;
            }
            // SAFETY: names end in a zero byte.
            #[cfg(unix)]
            let entry = unsafe { (&raw const (*entry).name).cast() };
            // SAFETY: names end in a zero byte, and the entry lives until the next call of
            // `readdir`.
            let name = unsafe { c_bytes(entry) };
            if name == b"." || name == b".." {
                continue;
            }
            let end = length + name.len() + 1;
            if let Some(to) = out.get_mut(length..end) {
                to[..name.len()].copy_from_slice(name);
                to[name.len()] = 0;
            }
            length = end;
        }
        // SAFETY: open until here.
        unsafe { sys::closedir(dir) };
        length as i64
    })
}

/// Where a symbolic link points: its length; nothing is written if it exceeds `out`.
pub fn readlink(path: &[u8], out: &mut [u8]) -> i64 {
    let mut buffer = [0u8; PATH_MAX];
    let n = with_c_string(path, |p| {
        // SAFETY: the buffer is valid for its length.
        checked(unsafe { sys::readlink(p, buffer.as_mut_ptr().cast(), buffer.len()) } as i64)
    });
    match usize::try_from(n) {
        Ok(n) => copy_if_fits(&buffer[..n], out),
        Err(_) => n,
    }
}

/// `symlink`
pub fn symlink(target: &[u8], path: &[u8]) -> i64 {
    with_c_string(target, |t| {
        // SAFETY: both end in a zero byte.
        with_c_string(path, |p| checked(i64::from(unsafe { sys::symlink(t, p) })))
    })
}

/// `link`
pub fn link(from: &[u8], to: &[u8]) -> i64 {
    with_c_string(from, |f| {
        // SAFETY: both end in a zero byte.
        with_c_string(to, |t| checked(i64::from(unsafe { sys::link(f, t) })))
    })
}

/// `chmod`
#[cfg(unix)]
pub fn chmod(path: &[u8], mode: i64) -> i64 {
    with_c_string(path, |p| {
        // SAFETY: the path ends in a zero byte.
        checked(i64::from(unsafe { sys::chmod(p, mode as u32) }))
    })
}

/// Sets the times of access and modification, in seconds since the epoch.
pub fn utime(path: &[u8], accessed: f64, modified: f64) -> i64 {
    let times = [accessed, modified].map(|t| {
        let ns = (t * 1e9) as i64;
        Timespec {
            sec: ns.div_euclid(1_000_000_000),
            nsec: ns.rem_euclid(1_000_000_000),
        }
    });
    with_c_string(path, |p| {
        // SAFETY: the path ends in a zero byte, and there are two times.
        checked(i64::from(unsafe {
            sys::utimensat(sys::AT_FDCWD, p, times.as_ptr(), 0)
        }))
    })
}

/// `umask`
#[cfg(unix)]
pub fn umask(mask: i64) -> i64 {
    // SAFETY: cannot fail.
    i64::from(unsafe { sys::umask(mask as u32) })
}
