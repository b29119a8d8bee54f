//! All files of a program.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexSet;
use serde::{Deserialize, Serialize};
use taipan_codegen::runtime::RUNTIME_FUNCTIONS;
use taipan_codegen::{
    CodegenError, Glue, Reloc, RelocKind, SymbolRef, abi, file_stems, program_table,
    type_info_object,
};
use taipan_lltype::{FuncSym, LLType, Program, StaticSym, TypeKind};

use crate::data::{self, Data, References};
use crate::emit::{CFunction, EmitOptions, emit_callback, emit_trampoline};
use crate::prelude::WIDE;
use crate::types::{Types, comment};
use crate::unit::Unit;
use crate::{names, places, prelude};

/// Functions that a file has at most before its module is spread over several.
const LARGE: usize = 150;
/// The file of what belongs to no module. Modules' files have no `-` in their names but before a hash.
const SUPPORT: &str = "taipan-support";
/// The file of prebuilt data.
const DATA: &str = "taipan-data";
/// The file of what a library is given.
const IMPORTS: &str = "taipan-imports";

/// Where the code of a function comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CodePlaces {
    /// The source file.
    pub file: Arc<str>,
    /// Its module.
    pub module: Arc<str>,
    /// The function, for tracebacks.
    pub function: Arc<str>,
    /// The line of each position in the bytecode, from 1; 0 if unknown.
    pub lines: Arc<[u32]>,
}

/// Where the functions of a program come from.
pub trait CSource {
    /// The C of these functions, which have graphs.
    fn functions(&mut self, functions: &[FuncSym]) -> Vec<Result<Arc<CFunction>, CodegenError>>;

    /// Where the code of a function comes from, as far as anybody knows.
    fn places(&mut self, f: &FuncSym) -> Option<CodePlaces>;
}

/// A file of a program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct File {
    /// Its name, without a folder.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// What there is of a program.
#[derive(Clone, Copy)]
pub enum Extent<'a> {
    /// An executable that starts with this function.
    Program(&'a FuncSym),
    /// A program that is part of another one, as a module for Python is: `taipan_start` makes its heap and
    /// calls this function.
    Part(&'a FuncSym),
    /// What a process needs that calls functions itself: type information and trampolines. Their
    /// addresses are in `rpy_exports`, and `rpy_bind` takes those of [`CProgram::imports`].
    Library(&'a [SymbolRef]),
}

/// A program in C.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CProgram {
    /// The headers.
    pub headers: Vec<File>,
    /// The files to be compiled, by name.
    pub sources: Vec<File>,
    /// Functions of C libraries that the program brings.
    pub foreign: Vec<FuncSym>,
    /// Of a library, the variables and functions of the runtime that it is to be given.
    pub imports: Vec<String>,
}

/// A function with where its code comes from.
type Placed = (Arc<CFunction>, Option<CodePlaces>);

/// Everything that is in a program.
#[derive(Default)]
struct Parts {
    functions: IndexSet<FuncSym>,
    done: Vec<(FuncSym, Arc<CFunction>)>,
    externals: IndexSet<FuncSym>,
    callbacks: IndexSet<FuncSym>,
    statics: IndexSet<StaticSym>,
    type_infos: IndexSet<LLType>,
    data: BTreeMap<String, (Option<String>, Data)>,
}

impl Parts {
    fn refer(&mut self, references: References) {
        self.functions.extend(references.functions);
        self.externals.extend(references.externals);
        self.statics.extend(references.statics);
        self.type_infos.extend(references.type_infos);
    }
}

/// The files of a program.
pub fn program_files(
    program: &dyn Program,
    source: &mut dyn CSource,
    extent: Extent<'_>,
    options: EmitOptions,
) -> Result<CProgram, CodegenError> {
    let mut parts = Parts::default();
    let mut types = Types::of(program);
    let mut glue = Vec::new();
    let end = match extent {
        Extent::Program(entry) | Extent::Part(entry) => {
            let start = match extent {
                Extent::Part(_) => START,
                _ => MAIN,
            };
            let (table, references) = program_table_of(entry, program)?;
            parts.refer(references);
            let (adapter, table) = match program.machine().is_wasm() {
                true => adapted(entry, table),
                false => (String::new(), table),
            };
            let definition = table.definition();
            format!(
                "{}extern {};\n{}{adapter}\n{definition}{start}",
                table.shape,
                table.declaration,
                places::DECLARATION
            )
        }
        Extent::Library(exports) => export(exports, &mut parts, &mut glue)?,
    };
    collect(&mut parts, program, source, &mut types)?;
    let mut modules: BTreeMap<Arc<str>, Vec<Placed>> = BTreeMap::new();
    let mut support: Vec<Placed> = Vec::new();
    let mut rows = Vec::new();
    for (f, text) in &parts.done {
        let places = source.places(f);
        // WebAssembly shows its stack to nobody.
        if !program.machine().is_wasm() {
            rows.push(places::Row::new(f, &text.name, places.as_ref()));
        }
        let functions = match &places {
            Some(p) => modules.entry(p.module.clone()).or_default(),
            None => &mut support,
        };
        functions.push((text.clone(), places));
    }
    for f in &parts.callbacks {
        support.push((Arc::new(emit_callback(f)?), None));
    }
    support.extend(glue.into_iter().map(|text| (text, None)));
    let stems = file_stems(modules.keys().map(|m| &**m));
    let files = modules
        .iter()
        .map(|(m, f)| (stems[&**m].as_str(), f.clone()));
    let mut sources = Vec::new();
    for (module, mut functions) in files.chain([(SUPPORT, support)]) {
        // As in the source.
        functions.sort_by(|(a, at_a), (b, at_b)| {
            let line = |p: &Option<CodePlaces>| p.as_ref().and_then(|p| p.lines.first().copied());
            (line(at_a), &a.name).cmp(&(line(at_b), &b.name))
        });
        for (name, functions) in spread(module, functions) {
            let text = Unit { functions }.text(program, &name)?;
            sources.push(File { name, text });
        }
    }
    let foreign = (parts.externals.iter())
        .filter(|f| matches!(SymbolRef::function(f), SymbolRef::Foreign(_)))
        .cloned()
        .collect();
    sources.push(data_file(&parts, &end, program, types)?);
    let imports = match extent {
        Extent::Program(_) | Extent::Part(_) => {
            sources.push(places::file(rows, options.checked));
            Vec::new()
        }
        Extent::Library(_) => {
            let imports = imports_of(&parts);
            sources.push(imports_file(&imports));
            imports
        }
    };
    sources.sort_by(|a, b| a.name.cmp(&b.name));
    if let Some(pair) = sources.windows(2).find(|w| w[0].name == w[1].name) {
        return Err(CodegenError::new(&pair[0].name, "two files have this name"));
    }
    let mut headers = vec![File {
        name: "taipan.h".to_owned(),
        text: prelude(),
    }];
    if !program.machine().has_wide_integers() {
        headers.push(File {
            name: "wide.h".to_owned(),
            text: WIDE.to_owned(),
        });
    }
    Ok(CProgram {
        headers,
        sources,
        foreign,
        imports,
    })
}

/// The table by which the runtime knows a program.
fn program_table_of(
    entry: &FuncSym,
    program: &dyn Program,
) -> Result<(Data, References), CodegenError> {
    let mut references = References::default();
    let mut table = program_table(entry, program)?;
    table.relocs.push(Reloc {
        offset: abi::table::PLACES,
        kind: RelocKind::Abs64,
        target: SymbolRef::Places,
        addend: 0,
    });
    table.relocs.sort_by_key(|r| r.offset);
    let table = data::words("rpy_program".to_owned(), &table, program, &mut references)?;
    Ok((table, references))
}

/// A function that calls the entry point and always has the type by which the runtime knows it, and the
/// table with it: WebAssembly calls no function by a type that is not its own.
fn adapted(entry: &FuncSym, mut table: Data) -> (String, Data) {
    let name = names::function(entry);
    let takes = entry.ty().args.iter().any(|t| !t.is_void());
    let (parameter, argument) = match takes {
        true => ("void *arguments", "arguments"),
        false => ("void", ""),
    };
    let call = format!("{name}({argument})");
    let is_code = matches!(entry.ty().result.kind(), TypeKind::Int(k) if k.bits == 64);
    let call = match is_code {
        true => format!("return {call};"),
        false => format!("{call};\n    return 0;"),
    };
    let adapter = "entry_of_program";
    table.value = table
        .value
        .replace(&format!("&{name}"), &format!("&{adapter}"));
    (
        format!("\nstatic Signed {adapter}({parameter})\n{{\n    {call}\n}}\n"),
        table,
    )
}

/// The table of what a library gives away; with the functions that are made for it.
fn export(
    exports: &[SymbolRef],
    parts: &mut Parts,
    glue: &mut Vec<Arc<CFunction>>,
) -> Result<String, CodegenError> {
    let (mut declarations, mut items) = (String::new(), String::new());
    for symbol in exports {
        let name = match symbol {
            SymbolRef::TypeInfo(ty) => {
                parts.type_infos.insert(*ty);
                names::type_info(*ty)
            }
            SymbolRef::Glue(Glue::Trampoline(f)) => {
                let text = Arc::new(emit_trampoline(f)?);
                parts.functions.extend(text.functions.iter().cloned());
                parts.externals.extend(text.externals.iter().cloned());
                let name = text.name.clone();
                declarations.push_str(&format!("extern void {name}(void);\n"));
                glue.push(text);
                name
            }
            other => {
                let message = format!("{other:?} cannot be given away");
                return Err(CodegenError::new("library", message));
            }
        };
        items.push_str(&format!("    &{name},\n"));
    }
    Ok(format!(
        "{declarations}\n__attribute__((visibility(\"default\")))\n\
         const void *const rpy_exports[] = {{\n{items}}};\n"
    ))
}

/// The variables and functions of the runtime that a library is to be given: the state, and all that it
/// may call.
fn imports_of(parts: &Parts) -> Vec<String> {
    let called = parts.externals.iter().map(|f| f.name());
    let called = called.filter(|name| name.starts_with("rpy_"));
    let mut functions: Vec<&str> = called.collect();
    functions.extend(RUNTIME_FUNCTIONS.iter().map(|f| f.name));
    functions.sort_unstable();
    functions.dedup();
    let all = std::iter::once(abi::STATE).chain(functions.into_iter().filter(|f| *f != abi::STATE));
    all.map(str::to_owned).collect()
}

/// The file by which a library gets to the runtime: functions that go on where they are told to.
fn imports_file(imports: &[String]) -> File {
    let mut text = format!(
        "#include \"taipan.h\"\n\nRPyState *rpy_state_at;\nvoid *rpy_imports[{0}];\n\n\
         __attribute__((visibility(\"default\")))\nvoid rpy_bind(void *const *addresses)\n{{\n    \
         for (int i = 0; i < {0}; i++)\n        rpy_imports[i] = addresses[i];\n    \
         rpy_state_at = rpy_imports[0];\n}}\n\n",
        imports.len()
    );
    for (i, name) in imports.iter().enumerate().skip(1) {
        text.push_str(&format!(
            "__asm__(\".text\\n.globl {name}\\n.hidden {name}\\n.type {name}, @function\\n{name}: \
             jmp *rpy_imports+{}(%rip)\");\n",
            8 * i
        ));
    }
    File {
        name: format!("{IMPORTS}.c"),
        text,
    }
}

/// Finds everything that the program needs.
fn collect(
    parts: &mut Parts,
    program: &dyn Program,
    source: &mut dyn CSource,
    types: &mut Types,
) -> Result<(), CodegenError> {
    let (mut functions, mut statics, mut infos, mut callbacks) = (0, 0, 0, 0);
    loop {
        if functions < parts.functions.len() {
            let new: Vec<FuncSym> = parts.functions.iter().skip(functions).cloned().collect();
            functions = parts.functions.len();
            let texts = source.functions(&new);
            for (f, text) in new.into_iter().zip(texts) {
                let text = text?;
                parts.functions.extend(text.functions.iter().cloned());
                parts.externals.extend(text.externals.iter().cloned());
                parts.callbacks.extend(text.callbacks.iter().cloned());
                parts.statics.extend(text.statics.iter().cloned());
                parts.type_infos.extend(text.type_infos.iter().copied());
                parts.done.push((f, text));
            }
        } else if let Some(f) = parts.callbacks.get_index(callbacks).cloned() {
            callbacks += 1;
            parts.functions.insert(f);
        } else if let Some(s) = parts.statics.get_index(statics).cloned() {
            statics += 1;
            let mut references = References::default();
            let contents = program.static_data(&s);
            let made = data::object(&s, &contents, program, types, &mut references)?;
            parts.refer(references);
            add_data(parts, data::said(&s), made)?;
        } else if let Some(ty) = parts.type_infos.get_index(infos).copied() {
            infos += 1;
            let mut references = References::default();
            let info = type_info_object(ty, program);
            let made = data::words(names::type_info(ty), &info, program, &mut references)?;
            parts.refer(references);
            add_data(parts, Some(ty.to_string()), made)?;
        } else {
            return Ok(());
        }
    }
}

fn add_data(parts: &mut Parts, said: Option<String>, data: Data) -> Result<(), CodegenError> {
    let name = data.name.clone();
    match parts.data.insert(name.clone(), (said, data)) {
        None => Ok(()),
        Some(_) => Err(CodegenError::new(name, "two pieces of data have this name")),
    }
}

/// The files of a module: several if it has many functions. Which function is in which one depends on
/// its name alone, so that an edit changes one file.
fn spread(module: &str, functions: Vec<Placed>) -> Vec<(String, Vec<Placed>)> {
    let parts = functions.len().div_ceil(LARGE).next_power_of_two();
    if parts == 1 {
        return vec![(format!("{module}.c"), functions)];
    }
    let mut out: Vec<_> = (1..=parts)
        .map(|i| (format!("{module}-{i}.c"), Vec::new()))
        .collect();
    for f in functions {
        // The end of the name is a hash.
        let hash = (f.0.name.bytes().rev().take(2)).fold(0, |h, b| h * 32 + usize::from(b));
        out[hash % parts].1.push(f);
    }
    out.retain(|(_, functions)| !functions.is_empty());
    out
}

/// Prebuilt data, type information, and what comes at the end.
fn data_file(
    parts: &Parts,
    end: &str,
    program: &dyn Program,
    mut types: Types,
) -> Result<File, CodegenError> {
    let mut declarations = String::new();
    for f in &parts.functions {
        let name = names::function(f);
        // Only addresses are taken, but linkers that see all of a program compare declarations.
        let text = types.prototype(f.ty(), &name, None);
        let text = text.map_err(|m| CodegenError::new(f.name(), m))?;
        declarations.push_str(&format!("extern {text};\n"));
    }
    for f in &parts.externals {
        let text = types
            .external(f)
            .map_err(|m| CodegenError::new(f.name(), m))?;
        declarations.push_str(&text);
        declarations.push('\n');
    }
    let (mut shapes, mut externs) = (String::new(), String::new());
    let mut definitions = String::new();
    for (said, data) in parts.data.values() {
        shapes.push_str(&data.shape);
        externs.push_str(&format!("extern {};\n", data.declaration));
        if let Some(said) = said {
            definitions.push_str(&format!("/* {} */\n", comment(said)));
        }
        definitions.push_str(&data.definition());
    }
    let mut text = "#include \"taipan.h\"\n\n".to_owned();
    text.push_str(&types.definitions(program)?);
    for part in [&declarations, &shapes, &externs] {
        text.push('\n');
        text.push_str(part);
    }
    text.push('\n');
    text.push_str(&definitions);
    text.push_str(end);
    Ok(File {
        name: format!("{DATA}.c"),
        text,
    })
}

const START: &str = "
extern int rpy_extension_start(const void *table, _Bool with_lock);

int taipan_start(_Bool with_lock)
{
    return rpy_extension_start(&rpy_program, with_lock);
}
";

const MAIN: &str = "
int main(int argc, char **argv)
{
    return rpy_main(argc, argv, &rpy_program);
}
";
