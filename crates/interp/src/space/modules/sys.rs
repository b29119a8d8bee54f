//! `sys`, and `_taipan`: what the shipped Python modules need from the interpreter.

use camino::Utf8Path;

use crate::space::builtin::{Args, Builtin};
use crate::space::collect::WeakRef;
use crate::space::heap::{FileObject, Kind, Ref};
use crate::space::modules::questions;
use crate::space::types::ty;
use crate::space::value::Value;
use crate::space::{Activation, Interp, R};

fn exc_info(it: &mut Interp, _: Args<'_>) -> R {
    it.use_exc_info();
    Ok(match &it.exc_info {
        Some((t, v)) => Value::tuple(vec![t.clone(), v.clone(), Value::None]),
        None => Value::tuple(vec![Value::None, Value::None, Value::None]),
    })
}

fn exc_clear(it: &mut Interp, _: Args<'_>) -> R {
    it.exc_info = None;
    it.handled += 1;
    Ok(Value::None)
}

fn getframe(it: &mut Interp, args: Args<'_>) -> R {
    let depth = match args.get(0) {
        Some(v) => it.index_of(v)?,
        None => 0,
    };
    let at = it.stack.len() as i64 - 1 - depth;
    let Some(at) = usize::try_from(at).ok().filter(|i| *i < it.stack.len()) else {
        it.spoil();
        return it.value_error("call stack is not deep enough");
    };
    // Nobody looks further back than this.
    const CALLERS: usize = 16;
    let mut frame = Value::None;
    let first = at.saturating_sub(CALLERS);
    it.use_callers(first);
    for i in first..=at {
        frame = frame_object(it, i, frame);
    }
    Ok(frame)
}

/// The frame object of an activation, by its place on the stack.
fn frame_object(it: &mut Interp, at: usize, back: Value) -> Value {
    let Activation {
        code,
        globals,
        names,
        ..
    } = &it.stack[at];
    let (code, globals, names) = (*code, *globals, *names);
    let frame = it.heap.alloc(ty::OBJECT, Kind::Plain);
    let locals = match names {
        Some(n) => n,
        None => it.namespace(vec![]),
    };
    let code_object = it.code_object(code);
    it.heap.set_attr(frame, "f_globals", Value::Ref(globals));
    it.heap.set_attr(frame, "f_locals", Value::Ref(locals));
    it.heap.set_attr(frame, "f_code", code_object);
    it.heap.set_attr(frame, "f_back", back);
    Value::Ref(frame)
}

fn exit(it: &mut Interp, args: Args<'_>) -> R {
    it.raise_args(ty::SYSTEM_EXIT, args.pos.to_vec())
}

fn getrecursionlimit(_: &mut Interp, _: Args<'_>) -> R {
    Ok(Value::Int(1000))
}

fn ignore(_: &mut Interp, _: Args<'_>) -> R {
    Ok(Value::None)
}

fn getrefcount(_: &mut Interp, _: Args<'_>) -> R {
    Ok(Value::Int(1))
}

fn getdefaultencoding(_: &mut Interp, _: Args<'_>) -> R {
    Ok(Value::str("ascii"))
}

/// Functions of `sys`.
pub(crate) const SYS: &[Builtin] = &[
    Builtin::function("sys.exc_info", exc_info),
    Builtin::function("sys.exc_clear", exc_clear),
    Builtin::function("sys._getframe", getframe),
    Builtin::function("sys.exit", exit),
    Builtin::function("sys.getrecursionlimit", getrecursionlimit),
    Builtin::function("sys.setrecursionlimit", ignore),
    Builtin::function("sys.setcheckinterval", ignore),
    Builtin::function("sys.settrace", ignore),
    Builtin::function("sys.getrefcount", getrefcount),
    Builtin::function("sys.getdefaultencoding", getdefaultencoding),
    Builtin::function("sys.getfilesystemencoding", getdefaultencoding),
];

fn stream(it: &mut Interp, name: &str, stream: u8) -> Value {
    let f = FileObject {
        path: None,
        append: false,
        name: name.to_owned(),
        data: [].into(),
        at: 0,
        stream,
        closed: false,
    };
    Value::Ref(it.heap.alloc(ty::FILE, Kind::File(Box::new(f))))
}

/// The other members of `sys`.
pub(crate) fn init(it: &mut Interp, m: Ref) {
    let path = it.initial_path();
    let path = path.iter().map(|p| Value::str(p.as_str())).collect();
    let path = it.heap.list(path);
    let target = it.program.target(it.db).to_string();
    // Programs ask by the name of what loads them whether they are being translated.
    let argv = it
        .heap
        .list(vec![Value::str("rpython"), Value::str(&target)]);
    let modules = Value::Ref(it.modules);
    let out = stream(it, "<stdout>", 1);
    let err = stream(it, "<stderr>", 2);
    let input = stream(it, "<stdin>", 0);
    let version = version_info(it);
    let meta_path = it.heap.list(vec![]);
    for (name, v) in [
        ("modules", modules),
        ("path", path),
        ("argv", argv),
        ("maxint", Value::Int(i64::MAX)),
        ("maxsize", Value::Int(i64::MAX)),
        ("maxunicode", Value::Int(0x10_ffff)),
        ("byteorder", Value::str("little")),
        ("platform", Value::str("linux2")),
        ("executable", Value::str("taipan")),
        ("prefix", Value::str("/usr")),
        ("exec_prefix", Value::str("/usr")),
        ("version", Value::str("2.7.18 (Taipan)")),
        ("version_info", version),
        ("hexversion", Value::Int(0x0207_12f0)),
        ("copyright", Value::str("")),
        ("dont_write_bytecode", Value::Bool(true)),
        ("meta_path", meta_path),
        ("stdout", out.clone()),
        ("stderr", err.clone()),
        ("stdin", input),
        ("__stdout__", out),
        ("__stderr__", err),
    ] {
        it.heap.set_attr(m, name, v);
    }
    let names = crate::space::modules::MODULES
        .iter()
        .map(|m| Value::str(m.name))
        .collect();
    it.heap
        .set_attr(m, "builtin_module_names", Value::tuple(names));
    let flags = it.heap.alloc(ty::OBJECT, Kind::Plain);
    for n in ["optimize", "debug", "verbose"] {
        it.heap.set_attr(flags, n, Value::Int(0));
    }
    it.heap.set_attr(m, "flags", Value::Ref(flags));
    let float_info = it.heap.alloc(ty::OBJECT, Kind::Plain);
    for (n, v) in [
        ("max", Value::Float(f64::MAX)),
        ("min", Value::Float(f64::MIN_POSITIVE)),
        ("epsilon", Value::Float(f64::EPSILON)),
        ("mant_dig", Value::Int(53)),
        ("dig", Value::Int(15)),
        ("max_exp", Value::Int(1024)),
        ("min_exp", Value::Int(-1021)),
        ("max_10_exp", Value::Int(308)),
        ("min_10_exp", Value::Int(-307)),
        ("radix", Value::Int(2)),
    ] {
        it.heap.set_attr(float_info, n, v);
    }
    it.heap.set_attr(m, "float_info", Value::Ref(float_info));
}

fn random(it: &mut Interp, _: Args<'_>) -> R {
    it.spoil();
    let mut x = it.random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    it.random = x;
    Ok(Value::Float((x >> 11) as f64 / (1u64 << 53) as f64))
}

/// `digest(name, text)`: for `hashlib`.
fn digest(it: &mut Interp, args: Args<'_>) -> R {
    use sha2::Digest;
    args.expect(it, "digest", 2, 2)?;
    let name = it.name_of(&args.pos[0], "hash name")?;
    let text = it.bytes_of(&args.pos[1])?;
    let digest = match &*name {
        "md5" => md5::Md5::digest(&text).to_vec(),
        "sha1" => sha1::Sha1::digest(&text).to_vec(),
        "sha224" => sha2::Sha224::digest(&text).to_vec(),
        "sha256" => sha2::Sha256::digest(&text).to_vec(),
        "sha384" => sha2::Sha384::digest(&text).to_vec(),
        "sha512" => sha2::Sha512::digest(&text).to_vec(),
        _ => return it.value_error(format!("unsupported hash type {name}")),
    };
    Ok(Value::bytes(&digest))
}

fn make_cell(it: &mut Interp, args: Args<'_>) -> R {
    Ok(Value::Ref(
        it.heap.alloc(ty::CELL, Kind::Cell(args.get(0).cloned())),
    ))
}

/// `function(code, globals, name, defaults, closure)`
pub(crate) fn make_function(it: &mut Interp, args: Args<'_>) -> R {
    let code = match args.get(0) {
        Some(Value::Ref(r)) => match it.heap.kind(*r) {
            Kind::Code(id) => Some(*id),
            _ => None,
        },
        _ => None,
    };
    let (Some(code), Some(Value::Ref(globals))) = (code, args.get(1)) else {
        return it.type_error("function() needs a code object and a dict");
    };
    let name = match args.named(2, "name") {
        Some(v) if !v.is_none() => it.name_of(v, "name")?,
        _ => {
            let q = code.qualname(it.db);
            q.rsplit('.').next().unwrap_or(q).to_owned()
        }
    };
    let items = |it: &mut Interp, i: usize, n: &str| -> R<Vec<Value>> {
        match args.named(i, n) {
            Some(v) if !v.is_none() => it.list_of(v),
            _ => Ok(vec![]),
        }
    };
    let defaults = items(it, 3, "argdefs")?;
    let closure = items(it, 4, "closure")?;
    let f = crate::space::heap::Function {
        code,
        name: name.into(),
        globals: *globals,
        defaults,
        closure,
        class: None,
    };
    Ok(Value::Ref(
        it.heap.alloc(ty::FUNCTION, Kind::Function(Box::new(f))),
    ))
}

/// `sys.version_info`: a tuple whose items have names.
fn version_info(it: &mut Interp) -> Value {
    let items = [
        ("major", Value::Int(2)),
        ("minor", Value::Int(7)),
        ("micro", Value::Int(18)),
        ("releaselevel", Value::str("final")),
        ("serial", Value::Int(0)),
    ];
    Value::Ref(it.named_tuple(ty::VERSION_INFO, &items))
}

impl Interp<'_> {
    /// A tuple of a class whose items are attributes, too.
    pub(super) fn named_tuple(&mut self, class: Ref, items: &[(&str, Value)]) -> Ref {
        let tuple = Value::tuple(items.iter().map(|(_, v)| v.clone()).collect());
        let object = self.heap.alloc(class, Kind::Boxed(tuple));
        for (name, v) in items {
            self.heap.set_attr(object, name, v.clone());
        }
        object
    }
}

/// What tests show of a value.
fn show(it: &mut Interp, args: Args<'_>) -> R {
    let v = args.get(0).cloned().unwrap_or(Value::None);
    it.repr(&v).map(|s| Value::Str(s.into()))
}

/// The same, but texts as they are.
fn text(it: &mut Interp, args: Args<'_>) -> R {
    match args.get(0) {
        Some(s @ Value::Str(_)) => Ok(s.clone()),
        _ => show(it, args),
    }
}

/// `written_files(folder)`: the files below a folder that the program has written while it
/// loads: name in that folder, text, name, text, ...
fn written_files(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "written_files", 1, 1)?;
    let folder = it.name_of(&args.pos[0], "folder")?;
    let files = it.written_below(Utf8Path::new(&folder));
    let parts = files.into_iter().flat_map(|(name, text)| [name, text]);
    Ok(Value::tuple(parts.map(|p| Value::str(&p)).collect()))
}

/// `finalize(obj, callback)`: the callback gets the object when a collection finds nothing else that
/// refers to it.
fn finalize(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "finalize", 2, 2)?;
    let watcher = WeakRef {
        target: args.pos[0].clone(),
        callback: args.pos[1].clone(),
        hash: None,
        is_finalizer: true,
    };
    it.heap.alloc(ty::WEAKREF, Kind::WeakRef(Box::new(watcher)));
    Ok(Value::None)
}

fn collect(it: &mut Interp, _: Args<'_>) -> R {
    it.collect()?;
    Ok(Value::None)
}

/// Functions of `_taipan`.
pub(crate) const TAIPAN: &[Builtin] = &[
    Builtin::function("_taipan.collect", collect),
    Builtin::function("_taipan.finalize", finalize),
    Builtin::function("_taipan.random", random),
    Builtin::function("_taipan.digest", digest),
    Builtin::function("_taipan.make_cell", make_cell),
    Builtin::function("_taipan.show", show),
    Builtin::function("_taipan.text", text),
    Builtin::function("_taipan.ask_c_compiler", questions::ask_c_compiler),
    Builtin::function("_taipan.ask_tool", questions::ask_tool),
    Builtin::function("_taipan.find_library", questions::find_library),
    Builtin::function("_taipan.written_files", written_files),
];

/// The builtin classes that have no name elsewhere.
pub(crate) fn init_taipan(it: &mut Interp, m: Ref) {
    for (name, r) in [
        ("NoneType", ty::NONE_TYPE),
        ("function", ty::FUNCTION),
        ("builtin", ty::BUILTIN),
        ("instancemethod", ty::METHOD),
        ("module", ty::MODULE),
        ("iterator", ty::ITERATOR),
        ("generator", ty::GENERATOR),
        ("code", ty::CODE),
        ("classobj", ty::CLASSOBJ),
        ("instance", ty::INSTANCE),
        ("member_descriptor", ty::MEMBER),
        ("traceback", ty::TRACEBACK),
        ("ref", ty::WEAKREF),
        ("file", ty::FILE),
    ] {
        it.heap.set_attr(m, name, Value::Ref(r));
    }
}
