//! File descriptors of `os`: those of files, and the standard streams.

use std::sync::Arc;

use camino::Utf8PathBuf;

use super::os::{os_error, path_arg, stat_result};
use crate::space::builtin::Args;
use crate::space::builtins::file::{Opened, new_file};
use crate::space::value::Value;
use crate::space::written::TOO_LARGE;
use crate::space::{Interp, R};

/// The descriptor of the file that was opened first; the others follow.
const FIRST: i64 = 3;

/// An open file.
#[derive(Clone, Debug)]
pub(crate) struct Descriptor {
    /// What was in a file that is only read.
    data: Arc<[u8]>,
    path: Utf8PathBuf,
    /// Whether it may be written.
    written: bool,
    /// Whether all is written at its end.
    append: bool,
    at: usize,
}

/// `open(path, flags)`
pub(crate) fn open(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "open", 2, 3)?;
    let flags = it.index_of(&args.pos[1])?;
    let has = |flag: i32| flags & i64::from(flag) != 0;
    let path = path_arg(it, args, "open")?;
    let opened = if has(libc::O_WRONLY | libc::O_RDWR) {
        let there = it.what_is(&path) != crate::space::written::What::Nothing;
        let opened = match (there, has(libc::O_CREAT), has(libc::O_EXCL)) {
            (false, false, _) => Err((libc::ENOENT, "No such file or directory")),
            (true, true, true) => Err((libc::EEXIST, "File exists")),
            _ => it.open_to_write(&path, !has(libc::O_TRUNC)),
        };
        opened.map(|()| Descriptor {
            data: [].into(),
            path,
            written: true,
            append: has(libc::O_APPEND),
            at: 0,
        })
    } else {
        it.read_file(&path).map(|data| Descriptor {
            data,
            path,
            written: false,
            append: false,
            at: 0,
        })
    };
    match opened {
        Ok(opened) => {
            it.spoil();
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

/// What the first argument stands for, and its place among the open files; OSError if that is
/// none.
fn opened(it: &mut Interp<'_>, args: Args<'_>, f: &str) -> R<(usize, Descriptor)> {
    it.spoil();
    let v = args.need(it, 0, f)?;
    let fd = it.index_of(v)?;
    let at = usize::try_from(fd - FIRST).unwrap_or(usize::MAX);
    match it.descriptors.get(at) {
        Some(Some(file)) => Ok((at, file.clone())),
        _ => os_error(it, libc::EBADF, "Bad file descriptor"),
    }
}

fn move_to(it: &mut Interp<'_>, n: usize, at: usize) {
    if let Some(file) = &mut it.descriptors[n] {
        file.at = at;
    }
}

/// All that is in an open file.
fn data<'a>(it: &'a Interp<'_>, file: &'a Descriptor) -> &'a [u8] {
    match file.written {
        true => it.written_data(&file.path),
        false => &file.data,
    }
}

/// `read(fd, count)`
pub(crate) fn read(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "read", 2, 2)?;
    let count = usize::try_from(it.index_of(&args.pos[1])?).unwrap_or(0);
    let (n, file) = opened(it, args, "read")?;
    let data = data(it, &file);
    let start = file.at.min(data.len());
    let end = start.saturating_add(count).min(data.len());
    let v = Value::bytes(&data[start..end]);
    move_to(it, n, end);
    Ok(v)
}

/// `lseek(fd, offset, whence)`
pub(crate) fn lseek(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "lseek", 3, 3)?;
    let offset = it.index_of(&args.pos[1])?;
    let whence = it.index_of(&args.pos[2])?;
    let (n, file) = opened(it, args, "lseek")?;
    let from = match whence {
        1 => file.at as i64,
        2 => data(it, &file).len() as i64,
        _ => 0,
    };
    match usize::try_from(from.saturating_add(offset)) {
        Ok(at) => {
            move_to(it, n, at);
            Ok(Value::from(at))
        }
        Err(_) => os_error(it, libc::EINVAL, "Invalid argument"),
    }
}

/// `ftruncate(fd, size)`
pub(crate) fn ftruncate(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "ftruncate", 2, 2)?;
    let size = usize::try_from(it.index_of(&args.pos[1])?).unwrap_or(0);
    let (_, file) = opened(it, args, "ftruncate")?;
    if !file.written {
        return os_error(it, libc::EINVAL, "Invalid argument");
    }
    if !it.may_have_size(size)? {
        return os_error(it, TOO_LARGE.0, TOO_LARGE.1);
    }
    it.resize_file(&file.path, size);
    Ok(Value::None)
}

/// `fstat(fd)`
pub(crate) fn fstat(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "fstat", 1, 1)?;
    if (0..FIRST).contains(&it.index_of(&args.pos[0])?) {
        return Ok(stat_result(it, libc::S_IFCHR | 0o620, 0, "".into()));
    }
    let (_, file) = opened(it, args, "fstat")?;
    let size = data(it, &file).len();
    Ok(stat_result(it, libc::S_IFREG | 0o644, size, &file.path))
}

/// `close(fd)`
pub(crate) fn close(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "close", 1, 1)?;
    let (n, _) = opened(it, args, "close")?;
    it.descriptors[n] = None;
    Ok(Value::None)
}

/// `fdopen(fd, mode)`: the file goes on by itself, and its number is free again.
pub(crate) fn fdopen(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "fdopen", 1, 3)?;
    let (n, file) = opened(it, args, "fdopen")?;
    it.descriptors[n] = None;
    let opened = Opened {
        data: file.data,
        path: file.written.then_some(file.path),
        append: file.append,
    };
    Ok(new_file(it, "<fdopen>".to_owned(), opened, file.at))
}

/// `write(fd, text)`: to the standard streams, and to files.
pub(crate) fn write(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "write", 2, 2)?;
    let text = it.bytes_of(&args.pos[1])?;
    match it.index_of(&args.pos[0])? {
        n @ (1 | 2) => it.write_standard(n == 2, &text)?,
        _ => {
            let (n, file) = opened(it, args, "write")?;
            if !file.written {
                return os_error(it, libc::EBADF, "Bad file descriptor");
            }
            let at = (!file.append).then_some(file.at);
            let start = at.unwrap_or_else(|| it.written_data(&file.path).len());
            if !it.may_have_size(start.saturating_add(text.len()))? {
                return os_error(it, TOO_LARGE.0, TOO_LARGE.1);
            }
            it.heap.fresh += text.len() as u64;
            let end = it.write_at(&file.path, at, &text);
            move_to(it, n, end);
        }
    }
    Ok(Value::from(text.len()))
}
