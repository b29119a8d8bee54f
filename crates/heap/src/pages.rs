//! Pages of the system's memory.

use std::{fs, io};

/// The size of a page in bytes; none where the system does not say.
pub(crate) fn page_size() -> Option<usize> {
    // SAFETY: it reads a number of the system's.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()
}

/// How much memory this process has.
///
/// # Errors
/// A system without `/proc`.
pub fn resident_bytes() -> io::Result<u64> {
    let pages = fs::read_to_string("/proc/self/statm")?;
    let pages = pages.split(' ').nth(1).and_then(|n| n.parse::<u64>().ok());
    let size = page_size().and_then(|size| u64::try_from(size).ok());
    let bytes = pages.zip(size).map(|(pages, size)| pages * size);
    bytes.ok_or_else(|| io::ErrorKind::InvalidData.into())
}
