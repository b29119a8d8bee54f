//! The text form of a code, as `taipan emit bytecode` prints it.
//!
//! ```text
//! f(x, *args)  stack 2
//!      0  LoadFast x
//!      1  JumpIfFalse 4
//!   >  4  ...
//!   handler 0..3 -> 9, depth 0
//! ```

use std::collections::BTreeSet;
use std::fmt::Write;

use taipan_base::Db;

use crate::bytecode::*;
use crate::queries::code;

/// The text of one code.
pub fn disassemble(db: &dyn Db, id: CodeId) -> String {
    disassemble_with(db, id, &|_| None)
}

/// The same with a comment before instructions that come from another place than those
/// before them: what `place` says of them.
pub fn disassemble_with(db: &dyn Db, id: CodeId, place: &dyn Fn(Pc) -> Option<String>) -> String {
    let code = code(db, id);
    let mut out = String::new();
    let _ = write_code(&mut out, db, id, &code, place);
    out
}

fn write_code(
    out: &mut String,
    db: &dyn Db,
    id: CodeId,
    code: &Code,
    place: &dyn Fn(Pc) -> Option<String>,
) -> std::fmt::Result {
    out.push_str(id.qualname(db));
    if id.nth(db) > 0 {
        write!(out, "#{}", id.nth(db))?;
    }
    if code.kind == CodeKind::Function {
        write!(out, "({})", parameters(code).join(", "))?;
    }
    write!(out, "  stack {}", code.max_stack)?;
    for (set, word) in [(code.generator, "generator"), (code.poisoned, "poisoned")] {
        if set {
            write!(out, " {word}")?;
        }
    }
    out.push('\n');
    if !code.cells.is_empty() {
        let cells: Vec<_> = code.cells.iter().map(|(n, _)| &**n).collect();
        writeln!(out, "  cells {}", cells.join(", "))?;
    }
    if !code.frees.is_empty() {
        writeln!(out, "  free {}", code.frees.join(", "))?;
    }
    if let Some(doc) = code.doc {
        writeln!(out, "  doc {}", constant(db, &code.consts[doc as usize]))?;
    }
    let targets: BTreeSet<Pc> = code
        .instrs
        .iter()
        .filter_map(|i| i.jump_target())
        .chain(code.handlers.iter().map(|h| h.target))
        .collect();
    let mut last = None;
    for (pc, instr) in code.instrs.iter().enumerate() {
        let here = place(pc as Pc);
        if let (Some(text), true) = (&here, here != last) {
            writeln!(out, "    ; {text}")?;
        }
        last = here;
        let mark = if targets.contains(&(pc as Pc)) {
            '>'
        } else {
            ' '
        };
        let operand = operand(db, code, *instr);
        let name = format!("{instr:?}");
        let name = name.split('(').next().unwrap_or("");
        let line = format!("  {mark} {pc:>3}  {name} {operand}");
        writeln!(out, "{}", line.trim_end())?;
    }
    for h in &code.handlers {
        writeln!(
            out,
            "  handler {}..{} -> {}, depth {}",
            h.start, h.end, h.target, h.depth
        )?;
    }
    Ok(())
}

fn parameters(code: &Code) -> Vec<String> {
    let mut locals = code.locals.iter();
    let mut out: Vec<String> = locals
        .by_ref()
        .take(code.argcount as usize)
        .map(|n| n.to_string())
        .collect();
    for (there, stars) in [(code.varargs, "*"), (code.varkeywords, "**")] {
        if there {
            out.extend(locals.next().map(|n| format!("{stars}{n}")));
        }
    }
    out
}

fn operand(db: &dyn Db, code: &Code, instr: Instr) -> String {
    use Instr::*;
    match instr {
        LoadConst(i) => constant(db, &code.consts[i as usize]),
        LoadFast(i) | StoreFast(i) | DeleteFast(i) => code.locals[i as usize].to_string(),
        LoadGlobal(i) | StoreGlobal(i) | DeleteGlobal(i) | LoadName(i) | StoreName(i)
        | DeleteName(i) | LoadAttr(i) | StoreAttr(i) | DeleteAttr(i) | ImportFrom(i) => {
            code.names[i as usize].to_string()
        }
        LoadDeref(i) | StoreDeref(i) | LoadClosure(i) => {
            let i = i as usize;
            match i.checked_sub(code.cells.len()) {
                Some(free) => code.frees[free].to_string(),
                None => code.cells[i].0.to_string(),
            }
        }
        Unary(op) | Binary(op) => op.to_string(),
        BuildTuple(n) | BuildList(n) | BuildDict(n) | BuildSet(n) | ListAppend(n) | SetAdd(n)
        | MapAdd(n) | UnpackSequence(n) | Raise(n) => n.to_string(),
        Call(i) => call(&code.calls[i as usize]),
        MakeFunction(i) => {
            let f = &code.functions[i as usize];
            let mut text = constant(db, &code.consts[f.code as usize]);
            for (n, what) in [(f.defaults, "defaults"), (f.closure, "closure")] {
                if n > 0 {
                    let _ = write!(text, ", {what} {n}");
                }
            }
            text
        }
        Import(i) => import(&code.imports[i as usize]),
        _ => instr
            .jump_target()
            .map_or_else(String::new, |t| t.to_string()),
    }
}

fn call(c: &CallDesc) -> String {
    let mut parts = vec![c.positional.to_string()];
    parts.extend(c.keywords.iter().map(|k| format!("{k}=")));
    parts.extend(c.star.then(|| "*".to_owned()));
    parts.extend(c.dstar.then(|| "**".to_owned()));
    parts.join(", ")
}

fn import(i: &ImportDesc) -> String {
    let mut text = format!("{:?} level {}", i.name, i.level);
    if let Some(from) = &i.from {
        let _ = write!(text, " from {}", from.join(", "));
    }
    if i.bind_leaf {
        text.push_str(" leaf");
    }
    text
}

fn constant(db: &dyn Db, c: &CodeConst) -> String {
    match c {
        CodeConst::None => "None".to_owned(),
        CodeConst::Bool(true) => "True".to_owned(),
        CodeConst::Bool(false) => "False".to_owned(),
        CodeConst::Int(i) => i.to_string(),
        CodeConst::Long(i) => format!("{i}L"),
        CodeConst::Float(f) => format!("{:?}", f64::from_bits(*f)),
        CodeConst::Imaginary(f) => format!("{:?}j", f64::from_bits(*f)),
        CodeConst::Str(s) => format!("'{}'", s.escape_ascii()),
        CodeConst::Unicode(s) => {
            let text: String = s
                .iter()
                .map(|c| match char::from_u32(*c) {
                    Some(c) => c.escape_default().to_string(),
                    None => format!("\\u{{{c:x}}}"),
                })
                .collect();
            format!("u'{text}'")
        }
        CodeConst::Tuple(items) => {
            let items: Vec<_> = items.iter().map(|i| constant(db, i)).collect();
            let comma = if items.len() == 1 { "," } else { "" };
            format!("({}{comma})", items.join(", "))
        }
        CodeConst::Ellipsis => "...".to_owned(),
        CodeConst::Code(id) => {
            let nth = id.nth(db);
            let mark = if nth > 0 {
                format!("#{nth}")
            } else {
                String::new()
            };
            format!("<{}{mark}>", id.qualname(db))
        }
    }
}
