//! LLVM's text: of each function, and of each module of a program.
//!
//! ```text
//! llvm_code ─► llvm_source ─┬─► llvm_program ─► llvm_contents ─┐
//! llvm_data ────────────────┘                                  ├─► llvm_module
//!     the code, data and lines of what is in it ───────────────┘
//! ```
//!
//! What is in a program and where is `llvm_program`, which looks at all of it and is mostly equal after an edit; a
//! module is put together again where something that is in it has changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_annotator::Roots;
use taipan_base::{Db, noted};
use taipan_codegen::{
    CodegenError, DataObject, DebugTypes, Glue, MAIN_SYMBOL, Piece, SymbolRef, mangle_function,
};
use taipan_codegen_llvm::{
    FunctionText, Module, PlacesRow, Source, function_text, glue_references, rooted, symbol_name,
};
use taipan_lltype::{FuncKind, FuncSym};
use taipan_rtyper::StaticKey;
use taipan_transform::thread_dispatch;

use crate::db::Database;
use crate::function::LLFunction;
use crate::keys::{ModuleKey, TypeKey};
use crate::parallel::{par_map, par_steps};
use crate::stages::c::module_of;
use crate::stages::native::{
    emitted, kept_emission, line_of, owns_variables, source_of, written_as,
};
use crate::stages::pass_counts::with_passes;
use crate::stages::stage_cache::Search;
use crate::stages::whole::optimized_functions;
use crate::stages::{GraphStage, StageProgram, search_of};
use crate::timing::Timings;

/// What a query found, or why there is nothing.
type Made<T> = Result<Arc<T>, Arc<CodegenError>>;

noted! {
    /// The text of a function; calls in it go to symbols, so it stays the same when a callee
    /// changes.
    pub fn llvm_code(db, f: LLFunction) -> Result<Arc<FunctionText>, Arc<CodegenError>> {
        let kept = search_of(db, f, kept_llvm_code);
        let checked = f.roots(db).program(db).options(db).checked;
        emitted(db, f, LLVM_CODE, &kept, |program, graph| {
            let graph = with_passes(db, f, |passes| thread_dispatch(graph, passes));
            function_text(program, f.sym(db), &graph, checked)
        })
    }
}

const LLVM_CODE: &str = "llvm_code";

noted! {
    /// What is kept of [`llvm_code`].
    fn kept_llvm_code(db, f: LLFunction) -> Search<Arc<FunctionText>> {
        kept_emission(db, f, LLVM_CODE)
    }
}

/// A function with the lines that its code comes from.
#[salsa::tracked(returns(clone))]
pub(crate) fn llvm_source(db: &dyn Db, f: LLFunction) -> Made<Source> {
    let _timed = taipan_base::timed(db);
    let text = llvm_code(db, f)?;
    let written_as = written_as(f.sym(db));
    let roots = f.roots(db);
    let Some((file, spans, lines)) = source_of(db, roots, written_as) else {
        return Ok(Arc::new(Source::unknown(text, written_as)));
    };
    let lines_of = |places: &[u32]| {
        let places = places.iter();
        places
            .map(|at| line_of(db, file, &spans, &lines, *at))
            .collect()
    };
    let shown = if roots.program(db).options(db).debug {
        let is_own = owns_variables(db, roots, written_as);
        let variables = text.variables.iter();
        variables
            .map(|v| v.argument != 0 || is_own(&v.name))
            .collect()
    } else {
        Vec::new()
    };
    Ok(Arc::new(Source {
        file: file.path(db).as_str().into(),
        function: written_as.name().into(),
        locations: lines_of(&text.locations),
        lines: lines_of(&text.places),
        shown,
        variables: Vec::new(),
        text,
    }))
}

/// What the table of places says of a function.
#[salsa::tracked(returns(clone))]
fn llvm_row(db: &dyn Db, f: LLFunction) -> Made<PlacesRow> {
    let source = llvm_source(db, f)?;
    Ok(Arc::new(PlacesRow {
        symbol: source.symbol(),
        file: source.file.clone(),
        function: source.function.clone(),
    }))
}

/// A piece of prebuilt data, which refers to whole objects.
#[salsa::tracked(returns(clone))]
fn llvm_data(db: &dyn Db, s: StaticKey) -> Made<DataObject> {
    data_object(db, s.roots(db), &SymbolRef::Static(s.sym(db).clone()), None)
}

/// The type information of a container.
#[salsa::tracked(returns(clone))]
fn llvm_type_info(db: &dyn Db, ty: TypeKey) -> Made<DataObject> {
    data_object(db, ty.roots(db), &SymbolRef::TypeInfo(ty.ty(db)), None)
}

fn data_object(
    db: &dyn Db,
    roots: Roots,
    symbol: &SymbolRef,
    entry: Option<&FuncSym>,
) -> Made<DataObject> {
    let _timed = taipan_base::timed(db);
    let program = StageProgram::new(db, roots, GraphStage::Gc);
    let object = match Piece::data(symbol, entry, &program)? {
        Piece::Data(object) => rooted(Arc::unwrap_or_clone(object), &program)?,
        Piece::Code(_) | Piece::Within(..) => {
            return Err(Arc::new(CodegenError::new("data", "no object")));
        }
    };
    Ok(Arc::new(object))
}

/// An object of a program that starts with a function.
fn object_of(db: &dyn Db, entry: LLFunction, symbol: &SymbolRef) -> Made<DataObject> {
    let roots = entry.roots(db);
    match symbol {
        SymbolRef::Static(s) => llvm_data(db, StaticKey::new(db, roots, s.clone())),
        SymbolRef::TypeInfo(ty) => llvm_type_info(db, TypeKey::new(db, roots, *ty)),
        _ => data_object(db, roots, symbol, Some(entry.sym(db))),
    }
}

/// What is in a module.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Contents {
    /// Functions, in the order of the text.
    functions: Vec<LLFunction>,
    data: Vec<SymbolRef>,
    glue: Vec<Glue>,
    /// The functions of the table of places, if it is here.
    places: Option<Vec<LLFunction>>,
}

/// What a program consists of.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct LlvmProgram {
    /// Names of modules and what is in them, in the order in which they are to be linked.
    modules: Vec<(Arc<str>, Arc<Contents>)>,
    /// The functions of C libraries that the program brings.
    pub(crate) foreign: Vec<FuncSym>,
}

/// The module of what belongs to the program as a whole. No module of Python is called so.
const PROGRAM: &str = "taipan+program";
/// How many objects are in one module of data, about.
const DATA_SIZE: usize = 2048;

/// What a program consists of that starts with a function.
#[salsa::tracked(returns(clone))]
pub(crate) fn llvm_program(db: &dyn Db, entry: LLFunction) -> Made<LlvmProgram> {
    let _timed = taipan_base::timed(db);
    let mut all = Everything::default();
    let mut wave = all.start();
    while !wave.is_empty() {
        let (functions, data, mut next) = all.sorted(std::mem::take(&mut wave));
        for f in functions {
            let f = LLFunction::new(db, entry.roots(db), f);
            next.extend_from_slice(llvm_code(db, f)?.symbols());
            all.functions.push(f);
        }
        for symbol in data {
            let object = object_of(db, entry, &symbol)?;
            next.extend(object.relocs.iter().map(|r| r.target.clone()));
            all.data.push(symbol);
        }
        wave = all.new_ones(next);
    }
    arranged(db, all).map(Arc::new)
}

/// What is in a module.
#[salsa::tracked(returns(clone))]
fn llvm_contents(db: &dyn Db, module: ModuleKey) -> Made<Contents> {
    let program = llvm_program(db, module.entry(db))?;
    let found = program.modules.iter().find(|(n, _)| n == module.name(db));
    Ok(found.map(|(_, c)| c.clone()).unwrap_or_default())
}

/// The text of a module.
#[salsa::tracked(returns(clone))]
pub(crate) fn llvm_module(db: &dyn Db, module: ModuleKey) -> Result<Arc<str>, Arc<CodegenError>> {
    let _timed = taipan_base::timed(db);
    let entry = module.entry(db);
    let program = entry.roots(db).program(db);
    let contents = llvm_contents(db, module)?;
    let functions = contents.functions.iter().map(|f| llvm_source(db, *f));
    let mut functions: Vec<Source> = functions
        .map(|source| source.map(Arc::unwrap_or_clone))
        .collect::<Result<_, _>>()?;
    let is_code = !functions.is_empty();
    let types = (is_code && program.options(db).debug).then(|| {
        let graphs = StageProgram::new(db, entry.roots(db), GraphStage::Gc);
        let mut types = DebugTypes::default();
        for s in &mut functions {
            let variables = s.text.variables.iter().zip(&s.shown);
            s.variables = variables
                .map(|(v, shown)| shown.then(|| types.number(v.ty, &graphs))?)
                .collect();
        }
        types.finish()
    });
    let data = contents.data.iter().map(|symbol| {
        let object = object_of(db, entry, symbol)?;
        Ok::<_, Arc<CodegenError>>((symbol.clone(), object))
    });
    let data = data.collect::<Result<_, _>>()?;
    let rows = contents.places.iter().flatten();
    let rows: Vec<PlacesRow> = rows
        .map(|f| llvm_row(db, *f).map(Arc::unwrap_or_clone))
        .collect::<Result<_, _>>()?;
    let module = Module {
        name: module.name(db).to_string(),
        functions,
        data,
        glue: contents.glue.clone(),
        places: (contents.places.is_some()).then(|| (rows, program.options(db).checked)),
        types,
    };
    Ok(module.text()?.into())
}

/// A module's name and its text.
pub(crate) type ModuleText = (Arc<str>, Arc<str>);

/// The modules of everything that a program needs, as text under their names, in the order in which they are to be
/// linked; and the functions of C libraries that it brings.
pub(crate) fn modules(
    db: &Database,
    roots: Roots,
    entry: &FuncSym,
    timings: &mut Timings,
) -> Result<(Vec<ModuleText>, Vec<FuncSym>), CodegenError> {
    let entry = LLFunction::new(db, roots, entry.clone());
    let functions = timings.phase("optimize", || optimized_functions(db, roots));
    timings.phase("codegen", || prefetch(db, entry, &functions));
    let made = timings.phase("modules", || -> Result<_, Arc<CodegenError>> {
        let program = llvm_program(db, entry)?;
        let texts = par_map(db, &program.modules, |db, (name, _)| {
            let text = llvm_module(db, ModuleKey::new(db, entry, name.clone()))?;
            Ok((name.clone(), text))
        });
        let texts: Vec<_> = texts
            .into_iter()
            .collect::<Result<_, Arc<CodegenError>>>()?;
        Ok((texts, program.foreign.clone()))
    });
    made.map_err(|e| (*e).clone())
}

/// Makes what a program consists of on all threads: queries ask for one thing after the other. Some of it may
/// turn out to be needed by nobody. Errors come back when it is asked for.
fn prefetch(db: &Database, entry: LLFunction, likely: &[FuncSym]) {
    let roots = entry.roots(db);
    let source = |db: &Database, f: &FuncSym| {
        let source = llvm_source(db, LLFunction::new(db, roots, f.clone()));
        source.map_or(Vec::new(), |s| s.text.symbols().to_vec())
    };
    par_steps(db, likely, |db, f| source(db, f).is_empty());
    let mut all = Everything::default();
    let mut wave = all.start();
    while !wave.is_empty() {
        let (functions, data, mut next) = all.sorted(std::mem::take(&mut wave));
        next.extend(par_map(db, &functions, source).into_iter().flatten());
        let objects = par_map(db, &data, |db, symbol| object_of(db, entry, symbol));
        for object in objects.iter().flatten() {
            next.extend(object.relocs.iter().map(|r| r.target.clone()));
        }
        wave = all.new_ones(next);
    }
}

/// The text of a module with one function alone.
pub(crate) fn function_module(
    db: &dyn Db,
    roots: Roots,
    f: &FuncSym,
) -> Result<String, CodegenError> {
    let source =
        llvm_source(db, LLFunction::new(db, roots, f.clone())).map_err(|e| (*e).clone())?;
    let module = Module {
        name: f.name().to_owned(),
        functions: vec![Arc::unwrap_or_clone(source)],
        ..Module::default()
    };
    module.text()
}

/// What `main` refers to, directly or not.
#[derive(Default)]
struct Everything {
    functions: Vec<LLFunction>,
    data: Vec<SymbolRef>,
    glue: Vec<Glue>,
    foreign: Vec<FuncSym>,
    seen: FxHashSet<SymbolRef>,
}

impl Everything {
    fn start(&mut self) -> Vec<SymbolRef> {
        self.new_ones(vec![SymbolRef::Glue(Glue::Main)])
    }

    /// Those that were not there before.
    fn new_ones(&mut self, mut symbols: Vec<SymbolRef>) -> Vec<SymbolRef> {
        symbols.retain(|s| self.seen.insert(s.clone()));
        symbols
    }

    /// Functions and data, and what the rest refers to.
    fn sorted(&mut self, wave: Vec<SymbolRef>) -> (Vec<FuncSym>, Vec<SymbolRef>, Vec<SymbolRef>) {
        let (mut functions, mut data, mut next) = (Vec::new(), Vec::new(), Vec::new());
        for symbol in wave {
            match symbol {
                SymbolRef::Func(f) => functions.push(f),
                SymbolRef::Static(_) | SymbolRef::TypeInfo(_) | SymbolRef::ProgramTable => {
                    data.push(symbol);
                }
                SymbolRef::Foreign(f) => self.foreign.push(f),
                SymbolRef::Glue(glue) => {
                    next.extend(glue_references(&glue));
                    self.glue.push(glue);
                }
                SymbolRef::External(_) | SymbolRef::Location(_) | SymbolRef::Places => {}
            }
        }
        (functions, data, next)
    }
}

/// Distributes what there is over modules: a function goes to that of its file, data goes to
/// modules by the hash in its name, so that one that changes leaves the others where they are.
fn arranged(db: &dyn Db, all: Everything) -> Result<LlvmProgram, Arc<CodegenError>> {
    let mut names = FxHashSet::default();
    let symbols = all.functions.iter().map(|f| mangle_function(f.sym(db)));
    let data = all.data.iter().filter_map(symbol_name);
    for name in symbols.chain(data) {
        if let Some(twice) = names.replace(name) {
            let error = CodegenError::new(twice, "two things have this name");
            return Err(Arc::new(error));
        }
    }
    let mut by_module: BTreeMap<Arc<str>, Vec<LLFunction>> = BTreeMap::new();
    for f in all.functions {
        by_module.entry(module_name(db, f)).or_default().push(f);
    }
    let mut modules = Vec::new();
    let mut rows = Vec::new();
    for (name, functions) in by_module {
        let functions = in_order(db, functions)?;
        rows.extend_from_slice(&functions);
        let contents = Contents {
            functions,
            ..Contents::default()
        };
        modules.push((name, Arc::new(contents)));
    }
    let (table, data): (Vec<_>, Vec<_>) =
        (all.data.into_iter()).partition(|s| *s == SymbolRef::ProgramTable);
    modules.extend(data_modules(data));
    let mut glue = all.glue;
    glue.sort_by_cached_key(|g| {
        let name = symbol_name(&SymbolRef::Glue(g.clone()));
        (name.as_deref() != Some(MAIN_SYMBOL), name)
    });
    let contents = Contents {
        functions: Vec::new(),
        data: table,
        glue,
        places: Some(rows),
    };
    modules.push((PROGRAM.into(), Arc::new(contents)));
    Ok(LlvmProgram {
        modules,
        foreign: all.foreign,
    })
}

/// Functions of a module in the order of the source.
fn in_order(db: &dyn Db, functions: Vec<LLFunction>) -> Result<Vec<LLFunction>, Arc<CodegenError>> {
    let mut keys = FxHashMap::default();
    for f in &functions {
        let source = llvm_source(db, *f)?;
        let line = source.lines.iter().copied().filter(|l| *l != 0).min();
        keys.insert(*f, (line, source.symbol()));
    }
    let mut functions = functions;
    functions.sort_by(|a, b| keys[a].cmp(&keys[b]));
    Ok(functions)
}

fn data_modules(data: Vec<SymbolRef>) -> Vec<(Arc<str>, Arc<Contents>)> {
    let count = (data.len() / DATA_SIZE + 1).next_power_of_two();
    let mut named: Vec<(String, SymbolRef)> = data
        .into_iter()
        .filter_map(|d| Some((symbol_name(&d)?, d)))
        .collect();
    named.sort_by(|a, b| a.0.cmp(&b.0));
    let mut modules: Vec<Contents> = vec![Contents::default(); count];
    for (name, symbol) in named {
        let hash = name.rsplit('.').next().unwrap_or_default();
        let hash = u64::from_str_radix(hash, 16).unwrap_or(0) as usize;
        modules[hash % count].data.push(symbol);
    }
    let modules = modules.into_iter().enumerate();
    let modules = modules.filter(|(_, m)| !m.data.is_empty());
    modules
        .map(|(i, m)| (format!("taipan+data.{i}").into(), Arc::new(m)))
        .collect()
}

/// The module that a function is in.
fn module_name(db: &dyn Db, f: LLFunction) -> Arc<str> {
    let written_as = written_as(f.sym(db));
    match (written_as.kind(), source_of(db, f.roots(db), written_as)) {
        (FuncKind::Helper { name, .. }, _) => {
            let module = name.rsplit_once('.').map_or(&**name, |(module, _)| module);
            format!("taipan_prelude.{module}").into()
        }
        // What is not Python's has a `+` in it.
        (_, Some((file, ..))) => module_of(file.path(db)).replace('+', "_").into(),
        (_, None) => "taipan+generated".into(),
    }
}
