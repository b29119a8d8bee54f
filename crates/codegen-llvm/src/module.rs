//! Modules: the texts of functions and data with what they need around them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_codegen::{
    CodegenError, DataObject, DebugType, Glue, MAIN_SYMBOL, SymbolRef, file_of_unplaced,
    is_source_file,
};
use taipan_lltype::FuncSym;

use crate::debug::type_nodes;
use crate::names::{escaped, global, symbol_name};
use crate::table::{PlacesRow, places_table};
use crate::text::{END, FunctionText, Metadata, START};
use crate::{data, glue};

/// A function with what is known of where it comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// The text.
    pub text: Arc<FunctionText>,
    /// The file, if one is known.
    pub file: Arc<str>,
    /// The function that is named.
    pub function: Arc<str>,
    /// The line of each of [`FunctionText::locations`].
    pub locations: Vec<u32>,
    /// The line of each of [`FunctionText::places`].
    pub lines: Vec<u32>,
    /// Whether debuggers are told of each of [`FunctionText::variables`].
    pub shown: Vec<bool>,
    /// Of each of [`FunctionText::variables`] the number of its type in [`Module::types`], if debuggers are told of
    /// it.
    pub variables: Vec<Option<usize>>,
}

impl Source {
    /// The name of the function's symbol.
    pub fn symbol(&self) -> String {
        symbol_name(&self.text.symbol).unwrap_or_default()
    }

    /// One of which nothing is known but its name.
    pub fn unknown(text: Arc<FunctionText>, f: &FuncSym) -> Source {
        Source {
            file: file_of_unplaced(f).into(),
            function: f.name().into(),
            locations: vec![0; text.locations.len()],
            lines: vec![0; text.places.len()],
            shown: Vec::new(),
            variables: Vec::new(),
            text,
        }
    }
}

/// What becomes one object file. Its text follows from what is in it.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Its name.
    pub name: String,
    /// Functions.
    pub functions: Vec<Source>,
    /// Prebuilt data, whose relocations refer to whole objects.
    pub data: Vec<(SymbolRef, Arc<DataObject>)>,
    /// Glue.
    pub glue: Vec<Glue>,
    /// The table of places, and whether code is checked: in one module of a program, which
    /// has its `main` and comes last.
    pub places: Option<(Vec<PlacesRow>, bool)>,
    /// The types of its functions' variables, if debuggers are told of them.
    pub types: Option<Vec<DebugType>>,
}

impl Module {
    /// The text.
    pub fn text(&self) -> Result<String, CodegenError> {
        let mut declarations = BTreeMap::new();
        let mut places = Places::default();
        let mut metadata = Nodes::default();
        let types = self.types.as_ref();
        let types = types.map(|types| type_nodes(types, &mut metadata));
        if types.is_some() && !self.functions.is_empty() {
            let text = "declare void @llvm.dbg.value(metadata, metadata, metadata)";
            declarations.insert("llvm.dbg.value".to_owned(), text.to_owned());
        }
        let mut body = String::new();
        for glue in &self.glue {
            let text = glue::define(glue, &mut declarations)?;
            let _ = writeln!(body, "{text}");
        }
        for f in &self.functions {
            for (name, text) in &f.text.declarations {
                declare(&mut declarations, name, text);
            }
            function(f, types.as_deref(), &mut places, &mut metadata, &mut body);
            body.push('\n');
        }
        let mut objects = String::new();
        for (symbol, object) in &self.data {
            objects.push_str(&data::define(symbol, object, &mut declarations)?);
        }
        if let Some((rows, checked)) = &self.places {
            let end = MAIN_SYMBOL;
            let table = places_table(rows, *checked, end, &mut places, &mut declarations);
            objects.push_str(&table);
        }
        for name in self.defined() {
            declarations.remove(&name);
        }
        let mut out = format!(
            "; {}\nsource_filename = \"{}\"\n",
            self.name,
            escaped(self.name.as_bytes())
        );
        if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
            out.push_str(X86_64_LINUX);
        }
        out.push('\n');
        for part in [&objects, &places.text] {
            if !part.is_empty() {
                let _ = writeln!(out, "{part}");
            }
        }
        out.push_str(&body);
        for text in declarations.values() {
            let _ = writeln!(out, "{text}");
        }
        metadata.write(&mut out);
        Ok(out)
    }

    /// The names that it defines.
    fn defined(&self) -> Vec<String> {
        let functions = self.functions.iter().map(|f| f.text.symbol.clone());
        let data = self.data.iter().map(|(s, _)| s.clone());
        let glue = self.glue.iter().cloned().map(SymbolRef::Glue);
        let places = self.places.iter().map(|_| SymbolRef::Places);
        let all = functions.chain(data).chain(glue).chain(places);
        all.filter_map(|s| symbol_name(&s)).collect()
    }
}

const X86_64_LINUX: &str = "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-\
    i64:64-f80:128-n8:16:32:64-S128\"\ntarget triple = \"x86_64-pc-linux-gnu\"\n";

/// Of declarations that differ the first by alphabet counts: a function that is called in
/// another way than it is declared in is called in that way all the same.
fn declare(declarations: &mut BTreeMap<String, String>, name: &str, text: &str) {
    let slot = declarations
        .entry(name.to_owned())
        .or_insert_with(|| text.to_owned());
    // What is only known by its address is declared as it is elsewhere.
    if text < slot.as_str() || slot.starts_with("declare void") && slot.ends_with("()") {
        text.clone_into(slot);
    }
}

/// Records of places in the source, for tracebacks.
#[derive(Default)]
pub(crate) struct Places {
    text: String,
    records: FxHashMap<(Arc<str>, Arc<str>, u32), String>,
    strings: FxHashMap<Arc<str>, String>,
}

impl Places {
    /// The address of the record of a place. Line 0 is the function as a whole.
    pub(crate) fn record(&mut self, file: &Arc<str>, function: &Arc<str>, line: u32) -> String {
        let key = (file.clone(), function.clone(), line);
        if let Some(known) = self.records.get(&key) {
            return known.clone();
        }
        let (f, g) = (self.string(file), self.string(function));
        let name = format!("@place.{}", self.records.len());
        let _ = writeln!(
            self.text,
            "{name} = private unnamed_addr constant {{ ptr, ptr, i32, i32 }} \
             {{ ptr {f}, ptr {g}, i32 {line}, i32 0 }}, align 8"
        );
        self.records.insert(key, name.clone());
        name
    }

    fn string(&mut self, s: &Arc<str>) -> String {
        if let Some(known) = self.strings.get(s) {
            return known.clone();
        }
        let name = format!("@text.{}", self.strings.len());
        let _ = writeln!(
            self.text,
            "{name} = private unnamed_addr constant [{} x i8] c\"{}\\00\", align 1",
            s.len() + 1,
            escaped(s.as_bytes())
        );
        self.strings.insert(s.clone(), name.clone());
        name
    }
}

/// Numbered metadata.
#[derive(Default)]
pub(crate) struct Nodes {
    lines: Vec<String>,
    index: FxHashMap<String, usize>,
    unit: Option<usize>,
}

impl Nodes {
    /// A node that is the same as others with its content.
    fn node(&mut self, text: String) -> usize {
        if let Some(n) = self.index.get(&text) {
            return *n;
        }
        let n = self.distinct(text.clone());
        self.index.insert(text, n);
        n
    }

    /// Replaces the text of a node.
    pub(crate) fn fill(&mut self, number: usize, text: String) {
        self.lines[number] = text;
    }

    pub(crate) fn distinct(&mut self, text: String) -> usize {
        self.lines.push(text);
        self.lines.len() - 1
    }

    fn metadata(&mut self, m: &Metadata) -> usize {
        match m {
            Metadata::Access(path) => {
                let mut at = self.node("!{!\"taipan\"}".to_owned());
                for part in path {
                    let name = escaped(part.as_bytes());
                    at = self.node(format!("!{{!\"{name}\", !{at}, i64 0}}"));
                }
                self.node(format!("!{{!{at}, !{at}, i64 0}}"))
            }
            Metadata::FirstIsRare => {
                self.node("!{!\"branch_weights\", i32 1, i32 2000}".to_owned())
            }
            Metadata::SecondIsRare => {
                self.node("!{!\"branch_weights\", i32 2000, i32 1}".to_owned())
            }
            Metadata::Length => self.node(format!("!{{i64 0, i64 {}}}", i64::MAX)),
            Metadata::StackPointer => {
                let name = if cfg!(target_arch = "x86_64") {
                    "rsp"
                } else {
                    "sp"
                };
                self.node(format!("!{{!\"{name}\"}}"))
            }
            Metadata::Empty => self.node("!{}".to_owned()),
        }
    }

    fn file(&mut self, path: &str) -> usize {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let (folder, name) = (escaped(folder.as_bytes()), escaped(name.as_bytes()));
        self.node(format!(
            "!DIFile(filename: \"{name}\", directory: \"{folder}\")"
        ))
    }

    /// The function, for debuggers.
    fn function(&mut self, f: &Source, has_types: bool) -> usize {
        let file = self.file(&f.file);
        let unit = match self.unit {
            Some(unit) => unit,
            None => {
                let kind = match has_types {
                    true => "FullDebug",
                    false => "LineTablesOnly",
                };
                // Debuggers know no types of Python; expressions are as in C.
                let unit = self.distinct(format!(
                    "distinct !DICompileUnit(language: DW_LANG_C99, file: !{file}, \
                     producer: \"taipan\", isOptimized: true, runtimeVersion: 0, \
                     emissionKind: {kind}, splitDebugInlining: false, \
                     nameTableKind: None)"
                ));
                self.unit = Some(unit);
                unit
            }
        };
        let nothing = self.node("!{null}".to_owned());
        let ty = self.node(format!("!DISubroutineType(types: !{nothing})"));
        let lines = f.lines.iter().copied().filter(|l| *l != 0);
        let line = lines.min().unwrap_or(0);
        let name = escaped(f.function.as_bytes());
        // No linkageName: gdb would show that and know no function by the other one.
        self.distinct(format!(
            "distinct !DISubprogram(name: \"{name}\", scope: !{file}, \
             file: !{file}, line: {line}, type: !{ty}, scopeLine: {line}, \
             spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !{unit})"
        ))
    }

    fn write(mut self, out: &mut String) {
        if let Some(unit) = self.unit {
            let dwarf = self.node("!{i32 7, !\"Dwarf Version\", i32 4}".to_owned());
            let debug = self.node("!{i32 2, !\"Debug Info Version\", i32 3}".to_owned());
            let _ = writeln!(out, "\n!llvm.dbg.cu = !{{!{unit}}}");
            let _ = writeln!(out, "!llvm.module.flags = !{{!{dwarf}, !{debug}}}");
        }
        out.push('\n');
        for (i, line) in self.lines.iter().enumerate() {
            let _ = writeln!(out, "!{i} = {line}");
        }
    }
}

/// The node of a line of a function.
fn line_node(
    f: &Source,
    place: usize,
    scope: usize,
    known: &mut [Option<usize>],
    nodes: &mut Nodes,
) -> usize {
    *known[place].get_or_insert_with(|| {
        let line = f.lines[place];
        nodes.node(format!(
            "!DILocation(line: {line}, column: 0, scope: !{scope})"
        ))
    })
}

/// Writes a function, with numbers in place of its marks.
fn function(
    f: &Source,
    types: Option<&[usize]>,
    places: &mut Places,
    nodes: &mut Nodes,
    out: &mut String,
) {
    // Its records are called as its text says.
    let own = f.symbol();
    let records: Vec<String> = f
        .locations
        .iter()
        .map(|line| places.record(&f.file, &f.function, *line))
        .collect();
    for (i, record) in records.into_iter().enumerate() {
        let name = global(&format!("place.{own}.{i}"));
        let _ = writeln!(
            places.text,
            "{name} = private alias {{ ptr, ptr, i32, i32 }}, ptr {record}"
        );
    }
    let known = is_source_file(&f.file);
    let subprogram = known.then(|| nodes.function(f, types.is_some()));
    let variables: Vec<Option<usize>> = (f.text.variables.iter().zip(&f.variables))
        .map(|(v, ty)| {
            let (ty, scope) = (types?.get((*ty)?)?, subprogram?);
            let argument = match v.argument {
                0 => String::new(),
                n => format!("arg: {n}, "),
            };
            let file = nodes.file(&f.file);
            Some(nodes.node(format!(
                "!DILocalVariable(name: \"{}\", {argument}scope: !{scope}, file: !{file}, type: !{ty})",
                escaped(v.name.as_bytes())
            )))
        })
        .collect();
    let metadata: Vec<usize> = f.text.metadata.iter().map(|m| nodes.metadata(m)).collect();
    let mut lines: Vec<Option<usize>> = vec![None; f.lines.len()];
    let mut rest = f.text.text.as_str();
    while let Some(start) = rest.find(START) {
        out.push_str(&rest[..start]);
        let end = rest[start..].find(END).map_or(rest.len(), |n| start + n);
        let mark = &rest[start + 1..end];
        let number = mark.get(1..).and_then(|n| n.parse::<usize>().ok());
        match (mark.chars().next(), number, subprogram) {
            (Some('m'), Some(n), _) => {
                let _ = write!(out, "!{}", metadata.get(n).copied().unwrap_or(0));
            }
            (Some('p'), Some(n), Some(scope)) if n < lines.len() => {
                let node = line_node(f, n, scope, &mut lines, nodes);
                let _ = write!(out, ", !dbg !{node}");
            }
            (Some('v'), _, Some(scope)) => {
                let mut parts = mark[1..].splitn(3, ' ');
                let mut number = || parts.next().and_then(|n| n.parse::<usize>().ok());
                if let (Some(v), Some(place)) = (number(), number())
                    && let Some(Some(variable)) = variables.get(v)
                    && let Some(value) = parts.next()
                    && place < lines.len()
                {
                    let node = line_node(f, place, scope, &mut lines, nodes);
                    let _ = writeln!(
                        out,
                        "  call void @llvm.dbg.value(metadata {value}, metadata !{variable}, \
                         metadata !DIExpression()), !dbg !{node}"
                    );
                }
            }
            (Some('f'), _, Some(scope)) => {
                let _ = write!(out, " !dbg !{scope}");
            }
            _ => {}
        }
        rest = &rest[(end + 1).min(rest.len())..];
    }
    out.push_str(rest);
}
