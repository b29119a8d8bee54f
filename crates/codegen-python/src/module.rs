//! Whole programs: everything gets its name, and its place in one file.

use std::fmt::Write as _;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_language::Exc;
use taipan_lltype::{
    FuncKind, FuncSym, FuncType, LLType, Program, StaticSym, TypeKind, find_external,
    foreign_symbol, library_of,
};

use crate::names::{FunctionText, Line, Ref, Refs, identifier, is_taken, with_names};
use crate::statics::{DataText, data_name, data_text};
use crate::types::{attribute, code, is_string, super_type, zero};
use crate::values::{Entry, argument, shown};

/// The support library, piece by piece.
const SUPPORT: &[&str] = &[
    include_str!("../support/numbers.py"),
    include_str!("../support/memory.py"),
    include_str!("../support/objects.py"),
    include_str!("../support/errors.py"),
    include_str!("../support/floats.py"),
    include_str!("../support/files.py"),
    include_str!("../support/processes.py"),
    include_str!("../support/foreign.py"),
    include_str!("../support/start.py"),
];

/// The support library, which stands at the head of what is emitted.
pub fn support_library() -> String {
    SUPPORT.join("\n\n")
}

/// Where code comes from.
pub trait Comments {
    /// The file of a function, and the line of one of its instructions, from 1.
    fn place(&self, f: &FuncSym, at: u32) -> Option<(String, u32)>;
}

/// A program that is being put together.
pub struct Module<'p> {
    program: &'p dyn Program,
    functions: Vec<(FuncSym, Arc<FunctionText>)>,
    statics: Vec<(StaticSym, DataText)>,
    /// External functions that are not in the support library.
    external: Vec<FuncSym>,
    seen: FxHashSet<Ref>,
    wanted: Vec<FuncSym>,
    /// All functions of the program that are mentioned.
    mentioned: Vec<FuncSym>,
    classes: Vec<LLType>,
}

/// Functions of the runtime that are in no table, and in the support library.
const THREAD_VARIABLES: &[&str] = &[
    "rpy_thread_word",
    "rpy_thread_object",
    "rpy_thread_set_object",
];

/// What builtin exceptions the support library raises, and what it calls them.
const RAISED: [(Exc, &str); 3] = [
    (Exc::OverflowError, "OVERFLOW"),
    (Exc::MemoryError, "OUT_OF_MEMORY"),
    (Exc::StackOverflow, "STACK_OVERFLOW"),
];

impl<'p> Module<'p> {
    /// A program without functions.
    pub fn new(program: &'p dyn Program) -> Module<'p> {
        Module {
            program,
            functions: Vec::new(),
            statics: Vec::new(),
            external: Vec::new(),
            seen: FxHashSet::default(),
            wanted: Vec::new(),
            mentioned: Vec::new(),
            classes: Vec::new(),
        }
    }

    /// What the support library needs of every program, and a function.
    ///
    /// # Errors
    /// What cannot be expressed.
    pub fn enter(&mut self, f: &FuncSym) -> Result<(), String> {
        self.want(&Ref::Func(f.clone()))?;
        for (exception, _) in RAISED {
            let (vtable, instance) = self.raised(exception);
            self.want(&Ref::Static(vtable))?;
            self.want(&Ref::Static(instance))?;
        }
        Ok(())
    }

    fn raised(&self, exception: Exc) -> (StaticSym, StaticSym) {
        let p = self.program;
        (
            p.exception_vtable(exception),
            p.exception_instance(exception),
        )
    }

    /// The functions that have been mentioned since this was last asked.
    pub fn missing(&mut self) -> Vec<FuncSym> {
        std::mem::take(&mut self.wanted)
    }

    /// Adds a function that was missing.
    ///
    /// # Errors
    /// What cannot be expressed.
    pub fn add(&mut self, f: &FuncSym, text: Arc<FunctionText>) -> Result<(), String> {
        for r in &text.refs {
            self.want(r)?;
        }
        self.functions.push((f.clone(), text));
        Ok(())
    }

    /// Functions of C libraries that the program brings.
    pub fn foreign(&self) -> Vec<FuncSym> {
        self.external
            .iter()
            .filter(|f| library_of(f).is_some())
            .cloned()
            .collect()
    }

    fn want(&mut self, r: &Ref) -> Result<(), String> {
        let mut todo = vec![r.clone()];
        while let Some(r) = todo.pop() {
            if !self.seen.insert(r.clone()) {
                continue;
            }
            match r {
                Ref::Func(f) => match f.kind() {
                    FuncKind::External { name, .. } => {
                        let known = THREAD_VARIABLES.contains(&&**name);
                        if find_external(name).is_none() && !known {
                            available(&f)?;
                            self.external.push(f);
                        }
                    }
                    FuncKind::User { .. } | FuncKind::Helper { .. } | FuncKind::Synth { .. } => {
                        self.mentioned.push(f.clone());
                        self.wanted.push(f);
                    }
                },
                Ref::Static(s) => {
                    let data = data_text(&s, self.program)?;
                    todo.extend(data.refs.all.iter().cloned());
                    self.statics.push((s, data));
                }
                Ref::Class(ty) => {
                    let Some(s) = ty.as_struct() else { continue };
                    todo.extend(super_type(s, self.program).map(Ref::Class));
                    for field in &self.program.body(s).fields {
                        todo.extend(inlined(field.ty).map(Ref::Class));
                    }
                    self.classes.push(ty);
                }
            }
        }
        Ok(())
    }

    /// The file.
    ///
    /// # Errors
    /// Arguments that do not fit the function.
    pub fn finish(
        mut self,
        title: &str,
        entry: &Entry,
        library: Option<&[u8]>,
        comments: &dyn Comments,
    ) -> Result<String, String> {
        let start = self.start(entry)?;
        let names = Names::of(&self);
        let mut out = String::from("#!/usr/bin/env python3\n");
        let _ = writeln!(out, "# {title}: RPython as Python 3, made by Taipan.\n");
        out.push_str(&support_library());
        section(&mut out, "structs");
        self.write_classes(&names, &mut out);
        self.write_external(&names, library, &mut out);
        self.write_functions(&names, comments, &mut out);
        section(&mut out, "prebuilt data");
        self.write_statics(&names, &mut out);
        out.push('\n');
        out.push_str(&with_names(&start.0, |i| names.get(&start.1.all[i])));
        Ok(out)
    }

    /// Some functions alone, to be looked at.
    pub fn finish_functions(&self, functions: &[FuncSym], comments: &dyn Comments) -> String {
        let names = Names::of(self);
        let mut out = String::new();
        for (f, text) in &self.functions {
            if functions.contains(f) {
                write_function(f, text, &names, comments, &mut out);
            }
        }
        out.trim_start().to_owned()
    }

    /// What enters the program.
    fn start(&mut self, entry: &Entry) -> Result<(String, Refs), String> {
        let mut refs = Refs::default();
        let mut text = String::new();
        for (exception, name) in RAISED {
            let (vtable, instance) = self.raised(exception);
            let (vtable, instance) = (refs.to(Ref::Static(vtable)), refs.to(Ref::Static(instance)));
            let _ = writeln!(text, "{name}[:] = [{vtable}, {instance}]");
        }
        match entry {
            Entry::Nothing => {}
            Entry::Program(f) => {
                let function = refs.to(Ref::Func(f.clone()));
                let argv = match f.ty().args.first().and_then(|t| t.pointee()) {
                    None => "None".to_owned(),
                    Some(to) if to.as_array().is_some() => "list".to_owned(),
                    Some(to) => refs.to(Ref::Class(to)),
                };
                let _ = writeln!(
                    text,
                    "\nif __name__ == '__main__':\n    start({function}, {argv})"
                );
            }
            Entry::Call(f, args) => {
                let types = &f.ty().args;
                if types.len() != args.len() {
                    return Err(format!(
                        "{} takes {} arguments, not {}",
                        f.name(),
                        types.len(),
                        args.len()
                    ));
                }
                let function = refs.to(Ref::Func(f.clone()));
                let mut texts = Vec::new();
                for (a, ty) in args.iter().zip(types).filter(|(_, ty)| !ty.is_void()) {
                    texts.push(argument(a, *ty, self.program, &mut refs)?);
                }
                let shown = shown(f.ty().result, self.program, 0);
                let args = texts.join(", ");
                let _ = writeln!(
                    text,
                    "\nif __name__ == '__main__':\n    answer(lambda: {function}({args}), {shown})"
                );
            }
        }
        for r in refs.all.clone() {
            self.want(&r)?;
        }
        Ok((text, refs))
    }

    fn write_classes(&self, names: &Names, out: &mut String) {
        let mut written: FxHashSet<LLType> = FxHashSet::default();
        for ty in &self.classes {
            // Base classes first.
            let mut chain = Vec::new();
            let mut next = Some(*ty);
            while let Some(ty) = next.filter(|t| !written.contains(t)) {
                chain.push(ty);
                next = ty.as_struct().and_then(|s| super_type(s, self.program));
            }
            for ty in chain.into_iter().rev() {
                written.insert(ty);
                if !is_string(ty) {
                    self.write_class(ty, names, out);
                }
            }
        }
    }

    fn write_class(&self, ty: LLType, names: &Names, out: &mut String) {
        let Some(s) = ty.as_struct() else { return };
        let name = names.get(&Ref::Class(ty));
        let base =
            super_type(s, self.program).map_or("Struct".to_owned(), |b| names.get(&Ref::Class(b)));
        let own: Vec<String> = (self.program.body(s).fields.iter())
            .filter(|f| !f.ty.is_void())
            .filter_map(|f| attribute(s, &f.name, self.program))
            .collect();
        let slots: Vec<String> = own.iter().map(|f| format!("'{f}'")).collect();
        let comma = if slots.len() == 1 { "," } else { "" };
        let _ = write!(out, "\n\nclass {name}({base}):  # {}\n", s.name);
        let _ = writeln!(out, "    __slots__ = ({}{comma})", slots.join(", "));
        let mut fields = Vec::new();
        let mut varsized = false;
        let mut next = Some(ty);
        while let Some(s) = next.and_then(|t| t.as_struct()) {
            let mut here = Vec::new();
            for field in self
                .program
                .body(s)
                .fields
                .iter()
                .filter(|f| !f.ty.is_void())
            {
                let Some(attr) = attribute(s, &field.name, self.program) else {
                    continue;
                };
                varsized |= field.ty.as_array().is_some();
                here.push(format!(
                    "        self.{attr} = {}\n",
                    cleared(field.ty, names)
                ));
            }
            fields.splice(0..0, here);
            next = super_type(s, self.program);
        }
        if !fields.is_empty() {
            let length = if varsized { ", n" } else { "" };
            let _ = write!(
                out,
                "\n    def __init__(self{length}):\n{}",
                fields.concat()
            );
        }
    }

    fn write_external(&self, names: &Names, library: Option<&[u8]>, out: &mut String) {
        if self.external.is_empty() {
            return;
        }
        section(out, "functions of C");
        out.push('\n');
        if let Some(library) = library {
            out.push_str("foreign = load_library('''\n");
            for line in library.chunks(48) {
                for b in line {
                    let _ = write!(out, "{b:02x}");
                }
                out.push('\n');
            }
            out.push_str("''')\n");
        }
        for f in &self.external {
            let args = passed(f.ty());
            let (from, symbol) = match library_of(f) {
                Some(_) => ("foreign", foreign_symbol(f)),
                None => ("process", f.name().to_owned()),
            };
            let name = names.get(&Ref::Func(f.clone()));
            let result = code(f.ty().result).unwrap_or("-");
            let _ = writeln!(
                out,
                "{name} = c_function({from}, '{symbol}', '{result}', ({args}))"
            );
        }
    }

    fn write_functions(&self, names: &Names, comments: &dyn Comments, out: &mut String) {
        let mut modules: Vec<String> = Vec::new();
        for (f, _) in &self.functions {
            let module = module_of(f);
            if !modules.contains(&module) {
                modules.push(module);
            }
        }
        for module in modules {
            section(out, &module);
            for (f, text) in self
                .functions
                .iter()
                .filter(|(f, _)| module_of(f) == module)
            {
                write_function(f, text, names, comments, out);
            }
        }
    }

    fn write_statics(&self, names: &Names, out: &mut String) {
        out.push('\n');
        let is_part = |s: &StaticSym| matches!(s, StaticSym::Within(..));
        let whole = self.statics.iter().filter(|(s, _)| !is_part(s));
        let parts = self.statics.iter().filter(|(s, _)| is_part(s));
        for (sym, data) in whole.chain(parts) {
            let made = with_names(&data.made, |i| names.get(&data.refs.all[i]));
            let _ = writeln!(out, "{} = {made}", names.get(&Ref::Static(sym.clone())));
        }
        for (_, data) in &self.statics {
            for line in &data.filled {
                out.push_str(&with_names(line, |i| names.get(&data.refs.all[i])));
                out.push('\n');
            }
        }
    }
}

fn section(out: &mut String, title: &str) {
    let _ = write!(
        out,
        "\n\n# {}\n# {title}\n# {}\n",
        "-".repeat(78),
        "-".repeat(78)
    );
}

/// What a function of C takes, each with a comma behind it.
fn passed(ty: &FuncType) -> String {
    let one = |ty: &LLType| match ty.pointee().and_then(LLType::as_func) {
        Some(f) => format!("('{}', ({})), ", code(f.result).unwrap_or("-"), passed(f)),
        None => format!("'{}', ", code(*ty).unwrap_or("-")),
    };
    let all: String = ty.args.iter().filter(|t| !t.is_void()).map(one).collect();
    all.trim_end().to_owned()
}

/// The module that a function is of.
fn module_of(f: &FuncSym) -> String {
    match f.kind() {
        FuncKind::User { name, .. } => name.split('.').next().unwrap_or_default().to_owned(),
        FuncKind::Helper { name, .. } => {
            let module = name.rsplit_once('.').map_or("", |(m, _)| m);
            format!("helpers: {module}")
        }
        FuncKind::Synth { .. } => "functions of the RTyper".to_owned(),
        FuncKind::External { .. } => "functions of C".to_owned(),
    }
}

fn write_function(
    f: &FuncSym,
    text: &FunctionText,
    names: &Names,
    comments: &dyn Comments,
    out: &mut String,
) {
    let name = |i: usize| names.get(&text.refs[i]);
    let _ = write!(
        out,
        "\n\ndef {}({}):\n",
        names.get(&Ref::Func(f.clone())),
        text.parameters.join(", ")
    );
    let mut last = None;
    for Line { indent, text, at } in &text.lines {
        let text = with_names(text, name);
        let _ = write!(out, "{:1$}{text}", "", 4 * (indent + 1));
        let place = at.and_then(|at| comments.place(f, at));
        if place.is_some() && place != last {
            if let Some((path, line)) = &place {
                let _ = write!(out, "  # {path}:{line}");
            }
            last = place;
        }
        out.push('\n');
    }
}

/// The struct that is inlined in a field, or in the items of one.
fn inlined(ty: LLType) -> Option<LLType> {
    match ty.kind() {
        TypeKind::Struct(_) => Some(ty),
        TypeKind::Array(a) => inlined(a.of),
        TypeKind::FixedArray(of, _) => inlined(*of),
        _ => None,
    }
}

/// What a field holds at first; `n` is the length of the array at the end.
fn cleared(ty: LLType, names: &Names) -> String {
    let items = |of: LLType, n: &str| match of.kind() {
        TypeKind::Char => format!("bytearray({n})"),
        TypeKind::Struct(_) | TypeKind::Array(_) | TypeKind::FixedArray(..) => {
            format!("InlinedItems({} for _ in range({n}))", cleared(of, names))
        }
        _ => format!("[{}] * {n}", zero(of)),
    };
    match ty.kind() {
        TypeKind::Struct(_) => format!("{}()", names.get(&Ref::Class(ty))),
        TypeKind::Array(a) => items(a.of, "n"),
        TypeKind::FixedArray(of, n) => items(*of, &n.to_string()),
        _ => zero(ty).to_owned(),
    }
}

/// Whether CPython can call an external function that is in no table.
fn available(f: &FuncSym) -> Result<(), String> {
    let name = f.name();
    if library_of(f).is_none() && (name.starts_with("rpy_") || name.starts_with("pthread_")) {
        return Err(format!(
            "{name}() is for machine code: Python has no threads, stacklets and collector of the program's own"
        ));
    }
    let passed = |ty: &LLType| ty.is_void() || code(*ty).is_some();
    if f.ty().args.iter().all(passed) && passed(&f.ty().result) {
        return Ok(());
    }
    Err(format!(
        "{name}() takes or returns what Python cannot give to C"
    ))
}

/// The names of everything.
struct Names(FxHashMap<Ref, String>);

impl Names {
    fn of(module: &Module<'_>) -> Names {
        let mut taken: FxHashSet<String> = FxHashSet::default();
        for line in support_library().lines() {
            taken.extend(defined(line).map(str::to_owned));
        }
        let mut names = FxHashMap::default();
        let mut counts: FxHashMap<String, usize> = FxHashMap::default();
        let mut give = |r: Ref, wanted: String| {
            let mut name = wanted.clone();
            while is_taken(&name) || !taken.insert(name.clone()) {
                let n = counts.entry(wanted.clone()).or_insert(1);
                *n += 1;
                name = format!("{wanted}_{n}");
            }
            names.insert(r, name);
        };
        for f in &module.mentioned {
            give(Ref::Func(f.clone()), identifier(f.name()));
        }
        for f in &module.external {
            give(Ref::Func(f.clone()), format!("c_{}", identifier(f.name())));
        }
        for ty in &module.classes {
            let Some(s) = ty.as_struct() else { continue };
            if !is_string(*ty) {
                let name = identifier(&s.name);
                give(
                    Ref::Class(*ty),
                    format!("{}{}", name[..1].to_uppercase(), &name[1..]),
                );
            }
        }
        for (s, _) in &module.statics {
            give(Ref::Static(s.clone()), data_name(s, module.program));
        }
        Names(names)
    }

    fn get(&self, r: &Ref) -> String {
        if let Some(name) = self.0.get(r) {
            return name.clone();
        }
        match r {
            Ref::Func(f) if f.name().starts_with("rpy_") => f.name().to_owned(),
            Ref::Func(f) => format!("libm.{}", f.name()),
            Ref::Class(ty) => ty
                .as_struct()
                .map_or_else(String::new, |s| s.name.to_string()),
            Ref::Static(_) => "missing".to_owned(),
        }
    }
}

/// The name that a line at the outermost level of Python defines.
fn defined(line: &str) -> Option<&str> {
    let rest = line
        .strip_prefix("def ")
        .or_else(|| line.strip_prefix("class "));
    let rest = rest.or_else(|| line.strip_prefix("import ")).or_else(|| {
        line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            .then_some(line)
    })?;
    rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .next()
}
