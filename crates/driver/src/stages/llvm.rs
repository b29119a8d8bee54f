//! LLVM's text: one artifact per function as a query, modules from them.
//!
//! ```text
//! llvm_code   the text of a function
//! modules     the texts of all functions and data that a program needs, by module
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use taipan_annotator::Roots;
use taipan_base::{Db, noted};
use taipan_codegen::{
    CodegenError, DataObject, DebugTypes, Glue, MAIN_SYMBOL, Piece, SymbolRef, mangle_function,
};
use taipan_codegen_llvm::{
    FunctionText, Module, PlacesRow, Source, function_text, glue_references, rooted, symbol_name,
};
use taipan_lltype::{FuncKind, FuncSym};
use taipan_transform::thread_dispatch;

use crate::db::Database;
use crate::function::LLFunction;
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

noted! {
    /// The text of a function; calls in it go to symbols, so it stays the same when a callee
    /// changes.
    pub fn llvm_code(db, f: LLFunction) -> Result<Arc<FunctionText>, Arc<CodegenError>> {
        let kept = search_of(db, f, kept_llvm_code);
        let checked = f.roots(db).program(db).checked(db);
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

/// A program as modules, in the order in which they are to be linked.
pub(crate) struct LlvmProgram {
    /// The modules.
    pub(crate) modules: Vec<Module>,
    /// The functions of C libraries that the program brings.
    pub(crate) foreign: Vec<FuncSym>,
}

/// The module of what belongs to the program as a whole. No module of Python is called so.
const PROGRAM: &str = "taipan+program";
/// How many objects are in one module of data, about.
const DATA_SIZE: usize = 2048;

/// The modules of everything that a program needs.
pub(crate) fn modules(
    db: &Database,
    roots: Roots,
    entry: &FuncSym,
    timings: &mut Timings,
) -> Result<LlvmProgram, CodegenError> {
    let functions = timings.phase("optimize", || optimized_functions(db, roots));
    let found = timings.phase("codegen", || everything(db, roots, entry, functions))?;
    timings.phase("modules", || arranged(db, roots, found))
}

/// The module of one function alone.
pub(crate) fn function_module(
    db: &dyn Db,
    roots: Roots,
    f: &FuncSym,
) -> Result<Module, CodegenError> {
    let text = llvm_code(db, LLFunction::new(db, roots, f.clone())).map_err(|e| (*e).clone())?;
    Ok(Module {
        name: f.name().to_owned(),
        functions: vec![source(db, roots, f, text)],
        ..Module::default()
    })
}

/// What a program consists of.
#[derive(Default)]
struct Everything {
    functions: Vec<(FuncSym, Arc<FunctionText>)>,
    data: Vec<(SymbolRef, Arc<DataObject>)>,
    glue: Vec<Glue>,
    foreign: Vec<FuncSym>,
}

/// What the program's `main` refers to, directly or not.
fn everything(
    db: &Database,
    roots: Roots,
    entry: &FuncSym,
    likely: Vec<FuncSym>,
) -> Result<Everything, CodegenError> {
    let text = |db: &Database, f: &FuncSym| {
        llvm_code(db, LLFunction::new(db, roots, f.clone())).map_err(|e| (*e).clone())
    };
    // On all threads at once; some may turn out to be needed by nobody. Errors come back when
    // they are asked for.
    let _ = par_steps(db, &likely, |db, f| text(db, f).is_ok());
    let mut all = Everything::default();
    let mut seen = FxHashSet::default();
    let main = SymbolRef::Glue(Glue::Main);
    seen.insert(main.clone());
    let mut wave = vec![main];
    while !wave.is_empty() {
        let (mut functions, mut data) = (Vec::new(), Vec::new());
        let mut next = Vec::new();
        for symbol in std::mem::take(&mut wave) {
            match symbol {
                SymbolRef::Func(f) => functions.push(f),
                SymbolRef::Static(_) | SymbolRef::TypeInfo(_) | SymbolRef::ProgramTable => {
                    data.push(symbol);
                }
                SymbolRef::Foreign(f) => all.foreign.push(f),
                SymbolRef::Glue(glue) => {
                    next.extend(glue_references(&glue));
                    all.glue.push(glue);
                }
                SymbolRef::External(_) | SymbolRef::Location(_) | SymbolRef::Places => {}
            }
        }
        let texts = par_map(db, &functions, |db, f| text(db, f));
        for (f, text) in functions.into_iter().zip(texts) {
            let text = text?;
            next.extend_from_slice(text.symbols());
            all.functions.push((f, text));
        }
        let objects = par_map(db, &data, |db, symbol| {
            let program = StageProgram::new(db, roots, GraphStage::Gc);
            match Piece::data(symbol, Some(entry), &program)? {
                Piece::Data(object) => rooted(Arc::unwrap_or_clone(object), &program).map(Arc::new),
                Piece::Code(_) | Piece::Within(..) => Err(CodegenError::new("data", "no object")),
            }
        });
        for (symbol, object) in data.into_iter().zip(objects) {
            let object = object?;
            next.extend(object.relocs.iter().map(|r| r.target.clone()));
            all.data.push((symbol, object));
        }
        wave.extend(next.into_iter().filter(|s| seen.insert(s.clone())));
    }
    Ok(all)
}

/// Distributes what there is over modules: a function goes to that of its file, data goes to
/// modules by the hash in its name, so that one that changes leaves the others where they are.
fn arranged(db: &Database, roots: Roots, all: Everything) -> Result<LlvmProgram, CodegenError> {
    let mut names = BTreeMap::new();
    let symbols = all.functions.iter().map(|(f, _)| mangle_function(f));
    let data = all.data.iter().filter_map(|(s, _)| symbol_name(s));
    for name in symbols.chain(data) {
        if names.insert(name.clone(), ()).is_some() {
            return Err(CodegenError::new(name, "two things have this name"));
        }
    }
    let described = roots.program(db).debug(db);
    let sources = par_map(db, &all.functions, |db, (f, text)| {
        let mut source = source(db, roots, f, text.clone());
        if described {
            let is_own = owns_variables(db, roots, written_as(f));
            let variables = text.variables.iter();
            source.shown = variables
                .map(|v| v.argument != 0 || is_own(&v.name))
                .collect();
        }
        (module_name(db, roots, f), source)
    });
    let mut by_module: BTreeMap<String, Vec<Source>> = BTreeMap::new();
    for (name, source) in sources {
        by_module.entry(name).or_default().push(source);
    }
    let mut modules = Vec::new();
    let mut rows = Vec::new();
    let program = roots.program(db);
    for (name, mut functions) in by_module {
        functions.sort_by_cached_key(|s| {
            let line = s.lines.iter().copied().filter(|l| *l != 0).min();
            (line, s.symbol())
        });
        rows.extend(functions.iter().map(|s| PlacesRow {
            symbol: s.symbol(),
            file: s.file.clone(),
            function: s.function.clone(),
        }));
        let types = program.debug(db).then(|| {
            let graphs = StageProgram::new(db, roots, GraphStage::Gc);
            let mut types = DebugTypes::default();
            for s in &mut functions {
                let variables = s.text.variables.iter().zip(&s.shown);
                s.variables = variables
                    .map(|(v, shown)| shown.then(|| types.number(v.ty, &graphs))?)
                    .collect();
            }
            types.finish()
        });
        modules.push(Module {
            name,
            functions,
            types,
            ..Module::default()
        });
    }
    let (table, data): (Vec<_>, Vec<_>) =
        (all.data.into_iter()).partition(|(s, _)| *s == SymbolRef::ProgramTable);
    modules.extend(data_modules(data));
    let mut glue = all.glue;
    glue.sort_by_cached_key(|g| {
        let name = symbol_name(&SymbolRef::Glue(g.clone()));
        (name.as_deref() != Some(MAIN_SYMBOL), name)
    });
    modules.push(Module {
        name: PROGRAM.to_owned(),
        data: table,
        glue,
        places: Some((rows, roots.program(db).checked(db))),
        ..Module::default()
    });
    Ok(LlvmProgram {
        modules,
        foreign: all.foreign,
    })
}

fn data_modules(data: Vec<(SymbolRef, Arc<DataObject>)>) -> Vec<Module> {
    let count = (data.len() / DATA_SIZE + 1).next_power_of_two();
    let mut named: Vec<(String, (SymbolRef, Arc<DataObject>))> = data
        .into_iter()
        .filter_map(|d| Some((symbol_name(&d.0)?, d)))
        .collect();
    named.sort_by(|a, b| a.0.cmp(&b.0));
    let mut modules: Vec<Module> = (0..count)
        .map(|i| Module {
            name: format!("taipan+data.{i}"),
            ..Module::default()
        })
        .collect();
    for (name, object) in named {
        let hash = name.rsplit('.').next().unwrap_or_default();
        let hash = u64::from_str_radix(hash, 16).unwrap_or(0) as usize;
        modules[hash % count].data.push(object);
    }
    modules.retain(|m| !m.data.is_empty());
    modules
}

/// A function with the lines that its code comes from.
fn source(db: &dyn Db, roots: Roots, f: &FuncSym, text: Arc<FunctionText>) -> Source {
    let written_as = written_as(f);
    let Some((file, spans, lines)) = source_of(db, roots, written_as) else {
        return Source::unknown(text, written_as.name());
    };
    let lines_of = |places: &[u32]| {
        let places = places.iter();
        places
            .map(|at| line_of(db, file, &spans, &lines, *at))
            .collect()
    };
    Source {
        file: file.path(db).as_str().into(),
        function: written_as.name().into(),
        locations: lines_of(&text.locations),
        lines: lines_of(&text.places),
        shown: Vec::new(),
        variables: Vec::new(),
        text,
    }
}

/// The module that a function is in.
fn module_name(db: &dyn Db, roots: Roots, f: &FuncSym) -> String {
    let written_as = written_as(f);
    match (written_as.kind(), source_of(db, roots, written_as)) {
        (FuncKind::Helper { name, .. }, _) => {
            let module = name.rsplit_once('.').map_or(&**name, |(module, _)| module);
            format!("taipan_prelude.{module}")
        }
        (_, Some((file, ..))) => module_of(file.path(db)),
        (_, None) => "taipan+generated".to_owned(),
    }
}
