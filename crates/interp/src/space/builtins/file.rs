//! Files, and the standard streams.

use std::sync::Arc;

use camino::Utf8PathBuf;

use crate::space::builtin::{Args, Builtin};
use crate::space::heap::{FileObject, Kind, Ref};
use crate::space::types::ty;
use crate::space::value::Value;
use crate::space::written::TOO_LARGE;
use crate::space::{Interp, R};

/// A file that was opened.
pub(crate) struct Opened {
    /// What is in a file that is only read.
    pub(crate) data: Arc<[u8]>,
    /// A file that is written.
    pub(crate) path: Option<Utf8PathBuf>,
    /// Whether all is written at its end.
    pub(crate) append: bool,
}

/// A file object.
pub(crate) fn new_file(it: &mut Interp, name: String, opened: Opened, at: usize) -> Value {
    let f = FileObject {
        name,
        data: opened.data,
        path: opened.path,
        append: opened.append,
        at,
        stream: 0,
        closed: false,
    };
    Value::Ref(it.heap.alloc(ty::FILE, Kind::File(Box::new(f))))
}

/// `open(name, mode)`
pub(crate) fn open(it: &mut Interp, args: Args<'_>) -> R {
    let name = args.need(it, 0, "open")?;
    let name = it.name_of(name, "file name")?;
    let mode = match args.named(1, "mode") {
        Some(m) => it.name_of(m, "mode")?,
        None => "r".to_owned(),
    };
    let path = it.absolute(&name);
    let append = mode.contains('a');
    let opened = if mode.contains(['w', 'a', '+']) {
        // A file that is to be read, too, must be there.
        let opened = match mode.contains('r') {
            true => it.read_file(&path).map(|_| ()),
            false => Ok(()),
        };
        opened
            .and_then(|()| it.open_to_write(&path, !mode.contains('w')))
            .map(|()| Opened {
                data: [].into(),
                path: Some(path),
                append,
            })
    } else {
        it.read_file(&path).map(|data| Opened {
            data,
            path: None,
            append,
        })
    };
    match opened {
        Ok(opened) => Ok(new_file(it, name, opened, 0)),
        Err((errno, text)) => it.raise_args(
            ty::IO_ERROR,
            vec![
                Value::Int(errno.into()),
                Value::str(text),
                Value::str(&name),
            ],
        ),
    }
}

impl Interp<'_> {
    /// A path as the system knows it: relative ones start at the current folder.
    pub(crate) fn absolute(&self, name: &str) -> Utf8PathBuf {
        let target = || {
            let target = self.program.target(self.db);
            target.parent().map_or("/".into(), Utf8PathBuf::from)
        };
        let mut base = self.folder.clone().unwrap_or_else(target);
        base.push(name);
        let mut out = Utf8PathBuf::new();
        for c in base.components() {
            match c.as_str() {
                ".." => {
                    out.pop();
                }
                "." => {}
                c => out.push(c),
            }
        }
        out
    }

    /// The next line of a file, with its end; empty at the end of the file.
    pub(crate) fn read_line(&mut self, r: Ref) -> R {
        let rest = self.rest_of_file(r);
        let n = rest
            .iter()
            .position(|b| *b == b'\n')
            .map_or(rest.len(), |i| i + 1);
        let line = Value::bytes(&rest[..n]);
        self.pass_in_file(r, n);
        Ok(line)
    }

    /// What can be read of a file from where it stands.
    fn rest_of_file(&self, r: Ref) -> &[u8] {
        let Kind::File(f) = self.heap.kind(r) else {
            return &[];
        };
        let data = match &f.path {
            Some(path) => self.written_data(path),
            None => &f.data,
        };
        &data[f.at.min(data.len())..]
    }

    fn pass_in_file(&mut self, r: Ref, n: usize) {
        if let Kind::File(f) = &mut self.heap.get_mut(r).kind {
            f.at += n;
        }
    }

    /// Raises IOError if a file may not have that size.
    fn need_size(&mut self, size: usize) -> R<()> {
        if self.may_have_size(size)? {
            return Ok(());
        }
        let (errno, text) = TOO_LARGE;
        let args = vec![Value::Int(errno.into()), Value::str(text)];
        self.raise_args(ty::IO_ERROR, args)
    }

    /// Writes to a file where it stands.
    pub(crate) fn write_to_file(&mut self, r: Ref, bytes: &[u8]) -> R<()> {
        let Kind::File(f) = self.heap.kind(r) else {
            return Ok(());
        };
        if f.closed {
            return self.value_error("I/O operation on closed file");
        }
        let Some(path) = f.path.clone() else {
            return self.raise(ty::IO_ERROR, "File not open for writing");
        };
        let at = (!f.append).then_some(f.at);
        let start = at.unwrap_or_else(|| self.written_data(&path).len());
        self.need_size(start.saturating_add(bytes.len()))?;
        self.heap.fresh += bytes.len() as u64;
        let end = self.write_at(&path, at, bytes);
        if let Kind::File(f) = &mut self.heap.get_mut(r).kind {
            f.at = end;
        }
        Ok(())
    }
}

fn this(it: &mut Interp, args: Args<'_>) -> R<Ref> {
    match args.get(0) {
        Some(Value::Ref(r)) if matches!(it.heap.kind(*r), Kind::File(_)) => Ok(*r),
        _ => it.type_error("descriptor requires a 'file' object"),
    }
}

fn read(it: &mut Interp, args: Args<'_>) -> R {
    let r = this(it, args)?;
    let limit = match args.get(1) {
        Some(v) => it.index_of(v)?,
        None => -1,
    };
    let rest = it.rest_of_file(r);
    let n = usize::try_from(limit).map_or(rest.len(), |n| n.min(rest.len()));
    let v = Value::bytes(&rest[..n]);
    it.pass_in_file(r, n);
    Ok(v)
}

fn readline(it: &mut Interp, args: Args<'_>) -> R {
    let r = this(it, args)?;
    it.read_line(r)
}

fn readlines(it: &mut Interp, args: Args<'_>) -> R {
    this(it, args)?;
    let items = it.list_of(&args.pos[0])?;
    Ok(it.heap.list(items))
}

fn write(it: &mut Interp, args: Args<'_>) -> R {
    this(it, args)?;
    let s = args.need(it, 1, "write")?;
    let bytes = it.bytes_of(s)?;
    it.write_to(Some(&args.pos[0]), &bytes)?;
    Ok(Value::None)
}

fn nothing(_: &mut Interp, _: Args<'_>) -> R {
    Ok(Value::None)
}

fn no(_: &mut Interp, _: Args<'_>) -> R {
    Ok(Value::Bool(false))
}

fn close(it: &mut Interp, args: Args<'_>) -> R {
    let r = this(it, args)?;
    if let Kind::File(f) = &mut it.heap.get_mut(r).kind {
        f.closed = true;
    }
    Ok(Value::None)
}

fn seek(it: &mut Interp, args: Args<'_>) -> R {
    let r = this(it, args)?;
    let arg = args.need(it, 1, "seek")?;
    let offset = it.index_of(arg)?;
    let whence = match args.get(2) {
        Some(w) => it.index_of(w)?,
        None => 0,
    };
    let Kind::File(f) = it.heap.kind(r) else {
        return Ok(Value::None);
    };
    let from = match whence {
        1 => f.at,
        2 => match &f.path {
            Some(path) => it.written_data(path).len(),
            None => f.data.len(),
        },
        _ => 0,
    };
    if let Kind::File(f) = &mut it.heap.get_mut(r).kind {
        f.at = usize::try_from(from as i64 + offset).unwrap_or(0);
    }
    Ok(Value::None)
}

fn tell(it: &mut Interp, args: Args<'_>) -> R {
    let r = this(it, args)?;
    match it.heap.kind(r) {
        Kind::File(f) => Ok(Value::from(f.at)),
        _ => Ok(Value::None),
    }
}

fn truncate(it: &mut Interp, args: Args<'_>) -> R {
    let r = this(it, args)?;
    let size = match args.get(1) {
        Some(n) => Some(it.index_of(n)?),
        None => None,
    };
    if let Kind::File(f) = it.heap.kind(r)
        && let Some(path) = f.path.clone()
    {
        let size = size.map_or(f.at, |n| usize::try_from(n).unwrap_or(0));
        it.need_size(size)?;
        it.resize_file(&path, size);
    }
    Ok(Value::None)
}

fn writelines(it: &mut Interp, args: Args<'_>) -> R {
    this(it, args)?;
    let lines = args.need(it, 1, "writelines")?.clone();
    for line in it.list_of(&lines)? {
        let bytes = it.bytes_of(&line)?;
        it.write_to(Some(&args.pos[0]), &bytes)?;
    }
    Ok(Value::None)
}

fn enter(it: &mut Interp, args: Args<'_>) -> R {
    Ok(args.need(it, 0, "__enter__")?.clone())
}

fn next(it: &mut Interp, args: Args<'_>) -> R {
    let r = this(it, args)?;
    match it.read_line(r)? {
        Value::Str(s) if s.is_empty() => it.raise_args(ty::STOP_ITERATION, vec![]),
        line => Ok(line),
    }
}

fn fileno(it: &mut Interp, args: Args<'_>) -> R {
    let r = this(it, args)?;
    match it.heap.kind(r) {
        Kind::File(f) => Ok(Value::Int(i64::from(f.stream))),
        _ => Ok(Value::None),
    }
}

/// Methods of `file`.
pub(crate) const FILE: &[Builtin] = &[
    Builtin::method("file.read", read),
    Builtin::method("file.readline", readline),
    Builtin::method("file.readlines", readlines),
    Builtin::method("file.write", write),
    Builtin::method("file.flush", nothing),
    Builtin::method("file.isatty", no),
    Builtin::method("file.fileno", fileno),
    Builtin::method("file.seek", seek),
    Builtin::method("file.tell", tell),
    Builtin::method("file.truncate", truncate),
    Builtin::method("file.writelines", writelines),
    Builtin::method("file.close", close),
    Builtin::method("file.next", next),
    Builtin::method("file.__iter__", enter),
    Builtin::method("file.__enter__", enter),
    Builtin::method("file.__exit__", close),
];
