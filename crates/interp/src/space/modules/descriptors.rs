//! File descriptors of `os`: those of files open for reading, the standard streams, and
//! one for all that is open to be written, which goes nowhere.

use std::sync::Arc;

use camino::Utf8Path;
use taipan_base::FileContents;

use super::os::{os_error, path_arg};
use crate::space::builtin::Args;
use crate::space::builtins::file::sink;
use crate::space::value::Value;
use crate::space::{Interp, R};

/// The descriptor of files that are opened to be written.
const SINK: i64 = 1000;
/// The descriptor of the file that was opened first for reading; the others follow.
const FIRST: i64 = 3;

/// A file that is being read.
#[derive(Debug)]
pub(crate) struct Descriptor {
    data: Arc<[u8]>,
    at: usize,
}

/// `open(path, flags)`
pub(crate) fn open(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "open", 2, 3)?;
    let flags = it.index_of(&args.pos[1])?;
    if flags & i64::from(libc::O_WRONLY | libc::O_RDWR) != 0 {
        return Ok(Value::Int(SINK));
    }
    let path = path_arg(it, args, "open")?;
    match contents(it, &path) {
        Ok(data) => {
            let opened = Descriptor { data, at: 0 };
            // The lowest free number, as Unix gives it.
            let free = it.descriptors.iter().position(Option::is_none);
            let at = free.unwrap_or_else(|| {
                it.descriptors.push(None);
                it.descriptors.len() - 1
            });
            it.descriptors[at] = Some(opened);
            Ok(Value::Int(FIRST + at as i64))
        }
        Err((errno, text)) => os_error(it, errno, text),
    }
}

/// What is read from a file, or the error that opening it gives.
pub(crate) fn contents(it: &Interp, path: &Utf8Path) -> Result<Arc<[u8]>, (i32, &'static str)> {
    if let Some(noise) = super::os::device(it, path) {
        return Ok(noise.into());
    }
    match it.file_at(path).contents(it.db) {
        FileContents::Text(t) => Ok(t.as_bytes().into()),
        FileContents::Missing => Err((libc::ENOENT, "No such file or directory")),
        FileContents::Directory(_) => Err((libc::EISDIR, "Is a directory")),
        FileContents::InvalidUtf8(_) | FileContents::Unreadable(_) => {
            Err((libc::EIO, "cannot be read as text"))
        }
    }
}

/// What the first argument stands for; OSError if that is no file open for reading.
fn reading<'i>(it: &'i mut Interp<'_>, args: Args<'_>, f: &str) -> R<&'i mut Descriptor> {
    let v = args.need(it, 0, f)?;
    let fd = it.index_of(v)?;
    let at = usize::try_from(fd - FIRST).unwrap_or(usize::MAX);
    if !matches!(it.descriptors.get(at), Some(Some(_))) {
        os_error(it, libc::EBADF, "Bad file descriptor")?;
    }
    Ok(it.descriptors[at].as_mut().expect("seen above"))
}

/// `read(fd, count)`
pub(crate) fn read(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "read", 2, 2)?;
    let count = usize::try_from(it.index_of(&args.pos[1])?).unwrap_or(0);
    let file = reading(it, args, "read")?;
    let start = file.at.min(file.data.len());
    let end = start.saturating_add(count).min(file.data.len());
    file.at = end;
    Ok(Value::bytes(&file.data[start..end]))
}

/// `lseek(fd, offset, whence)`
pub(crate) fn lseek(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "lseek", 3, 3)?;
    let offset = it.index_of(&args.pos[1])?;
    let whence = it.index_of(&args.pos[2])?;
    let file = reading(it, args, "lseek")?;
    let from = match whence {
        1 => file.at as i64,
        2 => file.data.len() as i64,
        _ => 0,
    };
    match usize::try_from(from.saturating_add(offset)) {
        Ok(at) => {
            file.at = at;
            Ok(Value::from(at))
        }
        Err(_) => os_error(it, libc::EINVAL, "Invalid argument"),
    }
}

/// `close(fd)`
pub(crate) fn close(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "close", 1, 1)?;
    let fd = it.index_of(&args.pos[0])?;
    if fd != SINK {
        reading(it, args, "close")?;
        it.descriptors[(fd - FIRST) as usize] = None;
    }
    Ok(Value::None)
}

/// `fdopen(fd, mode)`
pub(crate) fn fdopen(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "fdopen", 1, 3)?;
    match it.index_of(&args.pos[0])? {
        SINK => Ok(sink(it, "<fdopen>".to_owned())),
        _ => os_error(it, libc::EPERM, "not allowed while a program is imported"),
    }
}

/// `write(fd, text)`: to the standard streams, and to files that go nowhere.
pub(crate) fn write(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "write", 2, 2)?;
    let text = it.bytes_of(&args.pos[1])?;
    match it.index_of(&args.pos[0])? {
        1 => it.out.extend_from_slice(&text),
        2 | SINK => {}
        _ => return os_error(it, libc::EBADF, "Bad file descriptor"),
    }
    Ok(Value::from(text.len()))
}
