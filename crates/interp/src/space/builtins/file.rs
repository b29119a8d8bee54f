//! Files open for reading, and the standard streams. What is written to other files
//! goes nowhere: loading a program changes nothing on the machine.

use camino::Utf8PathBuf;

use crate::space::builtin::{Args, Builtin};
use crate::space::heap::{FileObject, Kind, Ref};
use crate::space::modules::descriptors::contents;
use crate::space::types::ty;
use crate::space::value::Value;
use crate::space::{Interp, R};

/// A file whose contents go nowhere.
pub(crate) fn sink(it: &mut Interp, name: String) -> Value {
    let f = FileObject {
        name,
        data: [].into(),
        at: 0,
        stream: 2,
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
    if mode.contains(['w', 'a']) {
        return Ok(sink(it, name));
    }
    let path = it.absolute(&name);
    match contents(it, &path) {
        Ok(data) => {
            let f = FileObject {
                name,
                data,
                at: 0,
                stream: 0,
                closed: false,
            };
            Ok(Value::Ref(it.heap.alloc(ty::FILE, Kind::File(Box::new(f)))))
        }
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
    /// A path as the system knows it: relative ones start at the target's folder.
    pub(crate) fn absolute(&self, name: &str) -> Utf8PathBuf {
        let target = self.program.target(self.db);
        let mut base = target.parent().map_or("/".into(), Utf8PathBuf::from);
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
        let Kind::File(f) = &mut self.heap.get_mut(r).kind else {
            return self.type_error("descriptor requires a 'file' object");
        };
        let rest = &f.data[f.at.min(f.data.len())..];
        let n = rest
            .iter()
            .position(|b| *b == b'\n')
            .map_or(rest.len(), |i| i + 1);
        let line = Value::bytes(&rest[..n]);
        f.at += n;
        Ok(line)
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
    let Kind::File(f) = &mut it.heap.get_mut(r).kind else {
        return Ok(Value::None);
    };
    let rest = &f.data[f.at.min(f.data.len())..];
    let n = usize::try_from(limit).map_or(rest.len(), |n| n.min(rest.len()));
    let v = Value::bytes(&rest[..n]);
    f.at += n;
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
    let at = it.index_of(arg)?;
    if let Kind::File(f) = &mut it.heap.get_mut(r).kind {
        f.at = usize::try_from(at).unwrap_or(0);
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
    Builtin::method("file.close", close),
    Builtin::method("file.next", next),
    Builtin::method("file.__iter__", enter),
    Builtin::method("file.__enter__", enter),
    Builtin::method("file.__exit__", close),
];
