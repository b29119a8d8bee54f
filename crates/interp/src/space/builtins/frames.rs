//! What looks at the running frame: `locals`, `globals`, `dir`, `vars`, `eval`,
//! `execfile`, `exec`, `sys._getframe`.

use taipan_code::{Code, CodeId, CodeKind};

use crate::space::builtin::{Args, Builtin};
use crate::space::heap::{Kind, Ref};
use crate::space::types::ty;
use crate::space::value::Value;
use crate::space::written::What;
use crate::space::{Interp, R};
use taipan_engine::Frame;

/// The dict of a frame's local names; a copy where they are fast locals.
fn locals_of(it: &mut Interp, code: &Code, frame: &Frame<Value>) -> Ref {
    let own = frame.names.as_ref().and_then(Value::as_ref);
    if let Some(names) = own
        && code.kind != CodeKind::Function
    {
        return names;
    }
    let mut names: Vec<(Box<str>, Value)> = Vec::new();
    for (n, v) in code.locals.iter().zip(&frame.locals) {
        if let Some(v) = v
            && !n.starts_with('.')
        {
            names.push((n.clone(), v.clone()));
        }
    }
    let cells = code.cells.iter().map(|(n, _)| n).chain(&code.frees);
    for (n, cell) in cells.zip(&frame.cells) {
        if let Value::Ref(c) = cell
            && let Kind::Cell(Some(v)) = it.heap.kind(*c)
        {
            names.push((n.clone(), v.clone()));
        }
    }
    let Some(own) = own else {
        return it.namespace(names);
    };
    let d = it.heap.the_dict_mut(own);
    for (n, v) in names {
        d.set_str(&n, v);
    }
    own
}

/// Calls a builtin that looks at the frame.
pub(crate) fn call(
    it: &mut Interp,
    b: &'static Builtin,
    code: &Code,
    frame: &Frame<Value>,
    args: &[Value],
) -> R {
    match (b.name, args) {
        ("__builtin__.locals" | "__builtin__.vars", []) => {
            Ok(Value::Ref(locals_of(it, code, frame)))
        }
        ("__builtin__.dir", []) => {
            let names = locals_of(it, code, frame);
            let mut keys = it.list_of(&Value::Ref(names))?;
            keys = it.sorted(keys, &Args::new(&[]))?;
            Ok(it.heap.list(keys))
        }
        ("__builtin__.eval", [source]) => {
            let names = locals_of(it, code, frame);
            let Value::Ref(globals) = frame.globals else {
                return Ok(Value::None);
            };
            evaluate(it, source, globals, names)
        }
        _ => (b.func)(it, Args::new(args)),
    }
}

/// The `exec` statement.
pub(crate) fn exec(
    it: &mut Interp,
    code: &Code,
    frame: &mut Frame<Value>,
    source: &Value,
    globals: &Value,
    locals: &Value,
) -> R<()> {
    // `exec (source, globals, locals)` is the same statement.
    if let (Value::Tuple(t), Value::None) = (source, globals)
        && t.len() >= 2
    {
        let locals = t.get(2).cloned().unwrap_or(Value::None);
        return exec(it, code, frame, &t[0].clone(), &t[1].clone(), &locals);
    }
    let (globals, names) = match (globals, locals) {
        (Value::Ref(g), Value::Ref(l)) => (*g, *l),
        (Value::Ref(g), _) => (*g, *g),
        _ => match frame.globals {
            Value::Ref(g) => {
                let names = locals_of(it, code, frame);
                execute(it, source, g, names)?;
                if code.kind == CodeKind::Function {
                    keep_locals(it, code, frame, names);
                }
                return Ok(());
            }
            _ => return Ok(()),
        },
    };
    execute(it, source, globals, names)?;
    Ok(())
}

/// Makes what an `exec` in a function has set its locals: those that the function knows
/// of in their places, others by name.
fn keep_locals(it: &mut Interp, code: &Code, frame: &mut Frame<Value>, names: Ref) {
    let d = it.heap.the_dict_mut(names);
    for (n, v) in code.locals.iter().zip(&mut frame.locals) {
        if let Some(set) = d.get_str(n) {
            *v = Some(set.clone());
        }
    }
    frame.names = Some(Value::Ref(names));
}

fn need_dict(it: &mut Interp, globals: Ref) -> R<()> {
    if it.heap.dict_of(globals).is_none() {
        return it.type_error("exec: arg 2 must be a dictionary or None");
    }
    let builtins = Value::Ref(it.builtins);
    let d = it.heap.the_dict_mut(globals);
    if d.get_str("__builtins__").is_none() {
        d.set_str("__builtins__", builtins);
    }
    Ok(())
}

/// A code object or source text as a body to run.
pub(crate) fn body_of(
    it: &mut Interp,
    source: &Value,
    filename: &str,
    kind: CodeKind,
) -> R<CodeId> {
    let text = match source {
        Value::Ref(r) => match it.heap.kind(*r) {
            Kind::Code(id) => return Ok(*id),
            Kind::File(f) => match &f.path {
                Some(path) => it.written_text(path).unwrap_or_default(),
                None => String::from_utf8_lossy(&f.data).into_owned(),
            },
            Kind::Boxed(_) => it.name_of(source, "source")?,
            _ => return it.type_error("exec: arg 1 must be a string, file, or code object"),
        },
        _ => it.name_of(source, "source")?,
    };
    let text = match kind {
        CodeKind::Eval => text.trim(),
        _ => &text,
    };
    match taipan_code::compile_text(it.db, filename, text, kind) {
        Ok(id) => {
            it.keep_code(id, text);
            Ok(id)
        }
        Err(e) => {
            let at = (e.range.start as usize).min(text.len());
            let line = text.as_bytes()[..at]
                .iter()
                .filter(|&&c| c == b'\n')
                .count()
                + 1;
            let message = format!("{} ({filename}, line {line})", e.problem);
            it.raise(ty::SYNTAX_ERROR, message)
        }
    }
}

/// Runs source text or a code object.
pub(crate) fn execute(it: &mut Interp, source: &Value, globals: Ref, names: Ref) -> R {
    need_dict(it, globals)?;
    let id = body_of(it, source, "<string>", CodeKind::Module)?;
    it.run_body(id, globals, names, &[])
}

/// Evaluates source text or a code object.
pub(crate) fn evaluate(it: &mut Interp, source: &Value, globals: Ref, names: Ref) -> R {
    need_dict(it, globals)?;
    let id = body_of(it, source, "<string>", CodeKind::Eval)?;
    it.run_body(id, globals, names, &[])
}

/// `eval(source, globals, locals)`
pub(crate) fn eval(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "eval", 1, 3)?;
    let globals = match args.get(1) {
        Some(Value::Ref(g)) => *g,
        _ => it.stack.last().map_or(it.builtins, |a| a.globals),
    };
    let names = match args.get(2) {
        Some(Value::Ref(l)) => *l,
        _ => globals,
    };
    evaluate(it, &args.pos[0], globals, names)
}

/// `execfile(name, globals, locals)`
pub(crate) fn execfile(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "execfile", 1, 3)?;
    let name = it.name_of(&args.pos[0], "file name")?;
    let path = it.absolute(&name);
    if it.what_is(&path) != What::File {
        return it.raise(ty::IO_ERROR, format!("No such file or directory: '{name}'"));
    }
    let globals = match args.get(1) {
        Some(Value::Ref(g)) => *g,
        _ => it.stack.last().map_or(it.builtins, |a| a.globals),
    };
    let names = match args.get(2) {
        Some(Value::Ref(l)) => *l,
        _ => globals,
    };
    let id = match it.written_text(&path) {
        Some(text) => body_of(it, &Value::str(&text), &name, CodeKind::Module)?,
        None => taipan_code::module_code_id(it.db, it.file_at(&path)),
    };
    it.run_body(id, globals, names, &[])?;
    Ok(Value::None)
}

/// `compile(source, filename, mode)`
pub(crate) fn compile(it: &mut Interp, args: Args<'_>) -> R {
    let source = args.need(it, 0, "compile")?;
    let filename = match args.named(1, "filename") {
        Some(f) => it.name_of(f, "compile() filename")?,
        None => "<string>".to_owned(),
    };
    let kind = match args.named(2, "mode") {
        Some(m) if m.as_text() == Some("eval") => CodeKind::Eval,
        _ => CodeKind::Module,
    };
    let id = body_of(it, source, &filename, kind)?;
    Ok(it.code_object(id))
}
