//! Import time as a whole: runs the target module, asks for the entry point, loads
//! what function bodies import, and freezes what is left.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_base::{Db, Diagnostic, ErrorCode, File, Program, SHIPPED, Span};
use taipan_code::{CodeId, CodeKind, ImportDesc, Origin};
use taipan_graph::{Const, ObjId};

use crate::heap_image::failed_statements::{LeftOut, MOST_LEFT_OUT, ModuleBodies};
use crate::heap_image::freeze_methods::ask_freeze;
use crate::heap_image::heap_to_image::{Asked, Freezer};
use crate::heap_image::image_to_heap::Thawed;
use crate::heap_image::queries::{FileState, file_state};
use crate::heap_image::records::{self, Plan};
use crate::space::collect::Collections;
use crate::space::heap::{Kind, Ref, TracebackEntry};
use crate::space::meant::Lacks;
use crate::space::types::ty;
use crate::space::value::Value;
use crate::space::{Fatal, Interp, R};
use crate::{Extension, Library, ObjData, Tests, extension, library, named_id, testing};
use taipan_engine::Unwind;

/// What import time left.
#[derive(Debug, Default)]
pub struct Image {
    /// All objects that can be reached from modules.
    pub objects: FxHashMap<ObjId, Arc<ObjData>>,
    /// Globals of each module.
    pub globals: FxHashMap<ObjId, FxHashMap<Box<str>, Const>>,
    /// `sys.modules`; an import inside a function body that failed is there with its
    /// diagnostic.
    pub modules: FxHashMap<Box<str>, Result<ObjId, Box<Diagnostic>>>,
    /// The target module, unless it could not be loaded.
    pub target: Option<ObjId>,
    /// What the program offers as its entry point, or why there is none.
    pub entry_point: Option<Result<ObjId, Box<Diagnostic>>>,
    /// The tests of a test module.
    pub tests: Tests,
    /// The name that `target()` gives the executable.
    pub executable: Option<Box<str>>,
    /// Settings that `target()` makes in `driver.config.translation`: paths below it and values, as text.
    pub settings: Vec<(String, String)>,
    /// What a module for Python offers.
    pub extension: Extension,
    /// What a library offers to C.
    pub library: Library,
    /// Source files that were run as modules, in order.
    pub files: Vec<File>,
    /// The bodies that ran.
    pub ran: FxHashSet<CodeId>,
    /// Statements of them that did not run, since they failed.
    pub(crate) left_out: LeftOut,
    /// The bodies of those files, by the names of the modules.
    pub(crate) module_bodies: ModuleBodies,
    /// What was written to standard output and standard error, in order.
    pub printed: String,
    /// What went wrong.
    pub diagnostics: Vec<Diagnostic>,
    /// What runs each test in the interpreter.
    pub(crate) test_items: Vec<Value>,
    /// The session that sets tests up; None without hooks.
    pub(crate) test_session: Option<Value>,
    /// The heap, for calls after import time.
    pub(crate) thawed: Option<Arc<Thawed>>,
}

/// Runs a program's import time. What ends it is told; so that the rest of the program
/// is known all the same, it runs once more without the statement that did, until it comes
/// to its end: what is wrong in one module does not hide what is in another. Not where
/// tests are looked for: they mean nothing then.
pub(crate) fn run(db: &dyn Db, program: Program) -> Image {
    let mut left_out = LeftOut::default();
    let (mut first, mut failed) = attempt(db, program, &left_out);
    if program.options(db).tests {
        return first;
    }
    let mut found = first.diagnostics.clone();
    for _ in 0..MOST_LEFT_OUT {
        if !failed.is_some_and(|at| left_out.add(db, at)) {
            break;
        }
        let (mut image, next) = attempt(db, program, &left_out);
        let more = std::mem::take(&mut image.diagnostics);
        let ended = image.target.is_none();
        let follows = |d: &Diagnostic| {
            let problem = d.problem.as_ref().filter(|_| ended);
            problem.is_some_and(|p| image.lacks_since_failure(db, p))
        };
        let is_new = |d: &Diagnostic| !found.contains(d) && !follows(d);
        let more: Vec<Diagnostic> = more.into_iter().filter(is_new).collect();
        found.extend(more);
        if !ended {
            image.diagnostics = found;
            return image;
        }
        failed = next;
    }
    first.diagnostics = found;
    first
}

/// What one run came to: the image, and the statement of a module that ended it.
type Attempt = (Image, Option<(CodeId, u32)>);

/// One run, again after each `gc.collect()` until it is known what that finds.
fn attempt(db: &dyn Db, program: Program, left_out: &LeftOut) -> Attempt {
    let mut collections = Collections::default();
    let mut plan = match left_out.is_empty() {
        true => Plan::of(db, program),
        false => Plan::Plain,
    };
    loop {
        match attempt_with(db, program, left_out, collections, &plan) {
            Ok(attempt) => return attempt,
            Err(Again::Knowing(known)) => collections = known,
            Err(Again::Plainly) => {
                collections = Collections::default();
                records::give_up(db, program);
            }
        }
        plan = Plan::Plain;
    }
}

/// Why a run is repeated.
enum Again {
    /// More is known of collections.
    Knowing(Collections),
    /// Replaying units may have changed its outcome.
    Plainly,
}

/// Puts the globals of modules into the image.
fn put_globals(
    it: &Interp<'_>,
    modules: &[(Box<str>, Ref)],
    freezer: &mut Freezer<'_>,
    image: &mut Image,
) {
    for (name, m) in modules {
        if !matches!(it.heap.kind(*m), Kind::Module(_)) {
            continue;
        }
        let Some(dict) = it.heap.get(*m).attrs else {
            continue;
        };
        let globals = freezer.namespace(dict).into_iter().collect();
        let id = freezer.ids[m];
        image.globals.insert(id, globals);
        image.modules.insert(name.clone(), Ok(id));
    }
    let builtins = freezer.namespace(it.builtins).into_iter().collect();
    image.globals.insert(named_id("__builtin__"), builtins);
    // `llop` is a module that is not in `sys.modules`.
    for r in &it.heap.modules {
        if let Some(id) = freezer.ids.get(r).copied()
            && !image.globals.contains_key(&id)
            && let Some(dict) = it.heap.get(*r).attrs
        {
            let globals = freezer.namespace(dict).into_iter().collect();
            image.globals.insert(id, globals);
        }
    }
}

/// Puts tests into the image, if there are any.
fn put_tests(
    it: &Interp<'_>,
    items: &[testing::RawItem],
    ids: &FxHashMap<Ref, ObjId>,
    image: &mut Image,
) {
    if !items.is_empty() {
        let finished = items.iter().map(|i| i.finish(it, ids));
        image.tests = Tests::Found(finished.collect());
        image.test_items = items.iter().map(testing::RawItem::interpretable).collect();
    }
}

/// One run in which as much is known of collections. Where that is not enough, what the
/// next run has to know.
fn attempt_with(
    db: &dyn Db,
    program: Program,
    left_out: &LeftOut,
    collections: Collections,
    plan: &Plan,
) -> Result<Attempt, Again> {
    let mut image = Image::default();
    let path = program.target(db);
    let file = db.files().get_for(db, program, path);
    if let Some(problem) = unreadable(db, file) {
        image.diagnostics.push(problem);
        return Ok((image, None));
    }
    let mut it = Interp::new(db, program);
    it.collections = collections;
    it.left_out = left_out.clone();
    plan.begin(&mut it);
    let name = it.target_name();
    let mut ended_in = None;
    let (mut entry, mut items, mut offered, mut to_c) = (None, Vec::new(), None, None);
    let mut target = None;
    let finder = program
        .options(db)
        .tests
        .then(|| testing::Finder::new(&mut it, path.as_str(), &name));
    if let Some(Err(problem)) = &finder {
        image.tests = problem.clone();
    } else if let Some(Ok(finder)) = &finder
        && let Some(session) = finder.session()
    {
        // Hooks decide how the file is collected.
        match finder.of_session(&mut it) {
            Ok(found) => items = found,
            Err(problem) => image.tests = problem,
        }
        target = it.loaded(&name);
        image.test_session = Some(session.clone());
    } else {
        target = match load_target(&mut it, &name, file) {
            Ok(m) => Some(m),
            Err(e) => {
                image.tests = testing::failure(&it, &e);
                image.diagnostics.push(diagnose(&it, &e));
                ended_in = failed_statement(&it, &e);
                None
            }
        };
    }
    match target {
        Some(m) if program.options(db).extension => {
            let found = extension::find(&mut it, m);
            entry = Some(match &found {
                Ok(found) => found
                    .entry_point()
                    .ok_or_else(|| Box::new(no_entry_point())),
                Err(problem) => Err(problem.clone()),
            });
            offered = found.ok();
        }
        Some(m) if let Some(keys) = &program.options(db).entrypoints => {
            let found = find_entry_point(&mut it, m).and_then(|f| library::find(&mut it, f, keys));
            entry = Some(match &found {
                Ok(found) => found
                    .entry_point()
                    .ok_or_else(|| Box::new(no_entry_point())),
                Err(problem) => Err(problem.clone()),
            });
            to_c = found.ok();
        }
        Some(m) if let Some(finder) = &finder => {
            if let Ok(finder) = finder
                && finder.session().is_none()
            {
                match finder.of_module(&mut it, m) {
                    Ok(found) => items = found,
                    Err(problem) => image.tests = problem,
                }
            }
        }
        Some(m) => entry = Some(find_entry_point(&mut it, m)),
        None => {}
    }
    let is_unsound = |it: &Interp| *plan == Plan::Replay && it.observed.get();
    if is_unsound(&it) {
        return Err(Again::Plainly);
    }
    image.executable = executable_name(&it);
    image.settings = settings_of_target(&it);
    if it.meter.is_exhausted() {
        return Ok((without_objects(image, it), None));
    }
    if let Some(known) = it.collection(&[]) {
        return Err(Again::Knowing(known));
    }
    if image.test_session.is_some() {
        return Ok((as_found(image, it, &items), None));
    }
    let mut late = LateImports::default();
    let mut asked = Asked::default();
    // What objects do when they are asked may import modules, too.
    while late.load(&mut it) {
        if is_unsound(&it) {
            return Err(Again::Plainly);
        }
        if let Some(known) = it.collection(&[]) {
            return Err(Again::Knowing(known));
        }
        if it.meter.is_exhausted() {
            return Ok((without_objects(image, it), None));
        }
        let loaded: Vec<Value> = it.heap.the_dict(it.modules).values().cloned().collect();
        let done = ask_freeze(&mut it, &loaded, &|_| false, &mut asked);
        if !done || is_unsound(&it) {
            return Err(Again::Plainly);
        }
    }
    if !records::end(&mut it, target.is_some()) {
        return Err(Again::Plainly);
    }

    let modules: Vec<(Box<str>, Ref)> = it
        .heap
        .the_dict(it.modules)
        .iter()
        .filter_map(|(k, v)| Some((k.as_text()?.into(), v.as_ref()?)))
        .collect();
    let mut roots: Vec<Value> = modules.iter().map(|(_, m)| Value::Ref(*m)).collect();
    roots.push(Value::Ref(it.builtins));
    // `target` may have made it just now.
    if let Some(Ok(f)) = &entry {
        roots.push(Value::Ref(*f));
    }
    roots.extend(items.iter().flat_map(testing::RawItem::roots).cloned());
    let none = FxHashMap::default();
    let mut freezer = Freezer::new(db, &it.heap, String::new(), None, none, &asked);
    freezer.freeze(&roots);
    put_globals(&it, &modules, &mut freezer, &mut image);
    for (name, problem) in late.failed {
        image.modules.entry(name).or_insert(Err(Box::new(problem)));
    }
    image.target = target.map(|m| freezer.ids[&m]);
    image.entry_point = entry.map(|e| e.map(|f| freezer.ids[&f]));
    put_tests(&it, &items, &freezer.ids, &mut image);
    if let Some(offered) = &offered {
        image.extension = offered.finish(&it, &freezer.ids);
    }
    if let Some(offered) = &to_c {
        image.library = offered.finish(&freezer.ids);
    }
    image.ran = it.ran().collect();
    image.objects = std::mem::take(&mut freezer.objects);
    let ids = std::mem::take(&mut freezer.ids);
    drop(freezer);
    image.files = std::mem::take(&mut it.files);
    image.left_out = left_out.clone();
    image.module_bodies = std::mem::take(&mut it.module_bodies);
    image.printed = String::from_utf8_lossy(&it.printed).into_owned();
    image.thawed = Some(Arc::new(Thawed::new(it.into_world(), ids, None)));
    Ok((image, ended_in))
}

/// The image of a file whose tests are all interpreted: the heap at the end of import time. No code is
/// compiled, so `_freeze_` and its like, which may change objects, are not called.
fn as_found(mut image: Image, mut it: Interp, items: &[testing::RawItem]) -> Image {
    put_tests(&it, items, &FxHashMap::default(), &mut image);
    image.ran = it.ran().collect();
    image.files = std::mem::take(&mut it.files);
    image.module_bodies = std::mem::take(&mut it.module_bodies);
    image.printed = String::from_utf8_lossy(&it.printed).into_owned();
    image.thawed = Some(Arc::new(Thawed::new(
        it.into_world(),
        FxHashMap::default(),
        None,
    )));
    image
}

/// What is known of an import time that took too much memory: its objects may be more than
/// there is memory for to freeze them.
fn without_objects(mut image: Image, mut it: Interp) -> Image {
    if image.diagnostics.is_empty() {
        let stop = Unwind::Stop(Fatal::MemoryLimit);
        image.diagnostics.push(diagnose(&it, &stop));
    }
    image.ran = it.ran().collect();
    image.files = std::mem::take(&mut it.files);
    image.printed = String::from_utf8_lossy(&it.printed).into_owned();
    image
}

/// Where in the body of one of the user's modules an exception came through, innermost.
fn failed_statement(it: &Interp, e: &Unwind<Value, Fatal>) -> Option<(CodeId, u32)> {
    let Unwind::Raise(raised) = e else {
        return None;
    };
    let Kind::Exception(e) = it.heap.kind(raised.1.as_ref()?) else {
        return None;
    };
    let is_module = |f: &&TracebackEntry| match f.code.origin(it.db) {
        Origin::File(file) => {
            **f.code.qualname(it.db) == *"<module>" && !file.path(it.db).starts_with(SHIPPED)
        }
        Origin::Test(_) | Origin::Text(_) => false,
    };
    let frame = e.traceback.iter().find(is_module)?;
    Some((frame.code, frame.pc))
}

fn unreadable(db: &dyn Db, file: File) -> Option<Diagnostic> {
    let path = file.path(db);
    let message = match file_state(db, file) {
        FileState::Text => return None,
        FileState::Missing => format!("there is no file {path}"),
        FileState::Directory => format!("{path} is a directory"),
        FileState::Unreadable(why) => format!("{path} cannot be read: {why}"),
    };
    Some(Diagnostic::error(ErrorCode::UnreadableFile, None, message))
}

fn load_target(it: &mut Interp, name: &str, file: File) -> R<Ref> {
    it.load("sys")?;
    if let Some((package, _)) = name.rsplit_once('.') {
        it.load(package)?;
        if let Some(m) = it.loaded(name) {
            return Ok(m);
        }
    }
    let path = file.path(it.db);
    let is_package = path.file_name() == Some("__init__.py");
    let dirs = path
        .parent()
        .filter(|_| is_package)
        .map(|d| vec![d.to_owned()]);
    let m = it.run_module(name, file, dirs)?;
    if let Some((package, last)) = name.rsplit_once('.')
        && let Some(p) = it.loaded(package)
    {
        it.heap.set_attr(p, last, Value::Ref(m));
    }
    Ok(m)
}

/// The function that the program starts with.
fn find_entry_point(it: &mut Interp, module: Ref) -> Result<Ref, Box<Diagnostic>> {
    let found = match it.heap.attr(module, "target").cloned() {
        Some(target) if is_callable(it, &target) => match call_target(it, module) {
            Ok(v) => Some(v),
            Err(e) => return Err(Box::new(diagnose(it, &e))),
        },
        _ => ["entry_point", "main"]
            .iter()
            .find_map(|n| it.heap.attr(module, n).cloned()),
    };
    let v = match found {
        Some(Value::Tuple(t)) => t.first().cloned(),
        other => other,
    };
    match v {
        Some(Value::Ref(r)) if let Kind::Function(f) = it.heap.kind(r) => {
            match wrong_parameters(it.db, f.code) {
                Some(problem) => Err(Box::new(problem)),
                None => Ok(r),
            }
        }
        Some(v) => {
            let what = it.heap.type_name(&v);
            let message = format!("the entry point must be a function, not {what}");
            Err(Box::new(Diagnostic::error(
                ErrorCode::EntryPointNoFunction,
                None,
                message,
            )))
        }
        None => Err(Box::new(no_entry_point())),
    }
}

/// Why a function cannot be the entry point, which is called with the words of the command line.
fn wrong_parameters(db: &dyn Db, code: CodeId) -> Option<Diagnostic> {
    let signature = taipan_code::code_signature(db, code);
    if signature.argcount == 1 || signature.varargs {
        return None;
    }
    let name = &signature.name;
    let takes = match signature.argcount {
        0 => "no arguments".to_owned(),
        n => format!("{n} arguments"),
    };
    let file = match code.origin(db) {
        Origin::File(file) | Origin::Test(file) => Some(file),
        Origin::Text(_) => None,
    };
    let range = taipan_code::code_spans(db, code).name;
    let message = format!(
        "{name}() takes {takes}, but the entry point is called with one: the words of the command line"
    );
    let help = format!("write `def {name}(argv):`; `argv[0]` is the name of the program");
    let span = file.map(|file| Span { file, range });
    Some(Diagnostic::error(ErrorCode::InvalidArguments, span, message).with_help(help))
}

pub(crate) fn no_entry_point() -> Diagnostic {
    Diagnostic::error(ErrorCode::NoEntryPoint, None, "the program has no entry point").with_help(
        "define `target(driver, args)` that returns the entry point, or `entry_point(argv)`, or `main(argv)`",
    )
}

fn is_callable(it: &Interp, v: &Value) -> bool {
    match v {
        Value::Bound(_) | Value::Method(_) => true,
        Value::Ref(r) => matches!(it.heap.kind(*r), Kind::Function(_)),
        _ => false,
    }
}

/// Calls the module's `target`, after the functions that prepare the options for it.
fn call_target(it: &mut Interp, module: Ref) -> R {
    let m = it.load("_taipan_driver")?;
    let options = it
        .program
        .options(it.db)
        .target_options
        .iter()
        .map(|o| Value::str(o));
    let options = Value::tuple(options.collect());
    let translation = it.program.options(it.db).translation;
    let level = Value::str(&translation.level_name());
    let jit = Value::Bool(translation.jit);
    let collector = Value::str(it.program.options(it.db).collector.rpython_name());
    let settings = it.program.options(it.db).settings.iter();
    let settings = settings.map(|(p, v)| Value::tuple(vec![Value::str(p), Value::str(v)]));
    let settings = Value::tuple(settings.collect());
    let translation = Value::tuple(vec![level, jit, collector, settings]);
    it.call_method(
        &Value::Ref(m),
        "call_target",
        &[Value::Ref(module), options, translation],
    )
}

/// Settings that `target()` has made in `driver.config.translation`.
fn settings_of_target(it: &Interp) -> Vec<(String, String)> {
    let text = |v: &Value| v.as_text().map(str::to_owned);
    let pair = |v: &Value| match v {
        Value::Tuple(pair) => Some((text(pair.first()?)?, text(pair.get(1)?)?)),
        _ => None,
    };
    let found = it.loaded("_taipan_driver");
    match found.and_then(|driver| it.heap.attr(driver, "settings").cloned()) {
        Some(Value::Tuple(all)) => all.iter().filter_map(pair).collect(),
        _ => Vec::new(),
    }
}

/// The name that `target()` gave the executable.
fn executable_name(it: &Interp) -> Option<Box<str>> {
    let driver = it.loaded("_taipan_driver")?;
    it.heap.attr(driver, "exe_name")?.as_text().map(Into::into)
}

/// Loads what function bodies import. Of modules of the original toolchain that are
/// found along the path only imports of shipped modules count: the rest of what their
/// functions import is for another translator.
#[derive(Default)]
struct LateImports {
    /// How many of the files that were run have been looked at.
    files: usize,
    /// A module that fails is run again by every import of it, and so are those that it
    /// imports and that fail: each file counts once, and so does each failure.
    seen_files: FxHashSet<File>,
    seen: FxHashSet<(Ref, ImportDesc)>,
    tried: BTreeSet<&'static str>,
    /// Imports that failed, by the name of the module.
    failed: Vec<(Box<str>, Diagnostic)>,
}

impl LateImports {
    /// What the flow space makes calls of, for print and raise statements and builtin functions.
    const ALWAYS: [&str; 3] = [
        "rpython.rlib.rprint",
        "rpython.rlib.debug",
        "rpython.flowspace.builtins",
    ];

    /// Loads what the functions of files import that have been run since the last call.
    /// Returns whether there were such files.
    fn load(&mut self, it: &mut Interp) -> bool {
        let before = self.files;
        if before == 0 {
            for name in Self::ALWAYS {
                self.try_module(it, name);
            }
        }
        let (mut modules, mut listed) = (FxHashMap::default(), 0);
        while self.files < it.files.len() {
            let file = it.files[self.files];
            self.files += 1;
            if !self.seen_files.insert(file) {
                continue;
            }
            let path = file.path(it.db);
            let known = it.heap.the_dict(it.modules).len();
            if listed != known || !modules.contains_key(path.as_str()) {
                (modules, listed) = (modules_by_file(it), known);
            }
            if let Some(module) = modules.get(path.as_str()).copied() {
                self.load_needs(it, file, module);
            }
        }
        self.files > before
    }

    /// Loads what the functions of a module need.
    fn load_needs(&mut self, it: &mut Interp, file: File, module: Ref) {
        let path = file.path(it.db);
        let name = it.module_name(module);
        let foreign = name.starts_with("rpython.") && !path.starts_with(SHIPPED);
        let needs = late_needs(it.db, file);
        for name in &needs.replacing {
            self.try_module(it, name);
        }
        // What functions of the standard library import, few translated ones do.
        if path.starts_with("<taipan>/lib_python") {
            return;
        }
        let globals = it.heap.attrs(module);
        for desc in &needs.imports {
            if !self.seen.insert((module, desc.clone())) || foreign && !of_shipped(desc) {
                continue;
            }
            if let Err(e) = it.import_statement(globals, desc) {
                let problem = diagnose(it, &e);
                let names = desc.from.iter().flatten();
                let submodules = names.map(|n| format!("{}.{n}", desc.name).into());
                for name in submodules.chain([desc.name.clone()]) {
                    self.failed.push((name, problem.clone()));
                }
            }
        }
    }

    /// Loads a shipped module, once.
    fn try_module(&mut self, it: &mut Interp, name: &'static str) {
        if !self.tried.insert(name) {
            return;
        }
        if let Err(e) = it.load(name) {
            let problem = diagnose(it, &e);
            self.failed.push((name.into(), problem));
        }
    }
}

/// The modules that there are, by their `__file__`.
fn modules_by_file(it: &Interp) -> FxHashMap<Box<str>, Ref> {
    let mut modules = FxHashMap::default();
    for m in it.heap.the_dict(it.modules).values() {
        let Some(r) = m.as_ref() else { continue };
        let file = it.heap.attr(r, "__file__");
        if let Some(path) = file.as_ref().and_then(|f| f.as_text()) {
            modules.entry(path.into()).or_insert(r);
        }
    }
    modules
}

/// Whether an import is of nothing but shipped modules of the `rpython` package. Functions
/// of other modules of that package, which come from a checkout of the original
/// toolchain, import all of the toolchain, if one lets them.
fn of_shipped(desc: &ImportDesc) -> bool {
    let file = |name: &str, end: &str| {
        taipan_prelude::shipped(&format!("{}{end}", name.replace('.', "/"))).is_some()
    };
    let name = &*desc.name;
    file(name, ".py")
        || file(name, "/__init__.py")
            && (desc.from.iter().flatten()).all(|n| file(&format!("{name}.{n}"), ".py"))
}

/// What has to be loaded because functions of a file may need it when they run.
#[derive(PartialEq, Eq)]
struct LateNeeds {
    /// What they import, in source order.
    imports: Vec<ImportDesc>,
    /// Shipped modules of functions that stand for builtin ones which they may call, going
    /// by the names that they mention.
    replacing: BTreeSet<&'static str>,
}

/// Stays equal when other things in the functions change.
#[salsa::tracked(returns(ref))]
fn late_needs(db: &dyn Db, file: File) -> LateNeeds {
    let codes = taipan_code::file_codes(db, file);
    let functions = codes.iter().map(|(_, code)| code);
    let functions = functions.filter(|code| code.kind == CodeKind::Function);
    let mut needs = LateNeeds {
        imports: Vec::new(),
        replacing: BTreeSet::new(),
    };
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for code in functions {
        needs.imports.extend(code.imports.iter().cloned());
        names.extend(code.names.iter().map(|n| &**n));
    }
    let replacing = names
        .into_iter()
        .flat_map(taipan_language::ShippedFunction::modules);
    needs.replacing.extend(replacing);
    needs
}

/// Where all bodies stood when import time was stopped, innermost first.
fn frames_of_stop(it: &Interp) -> Vec<TracebackEntry> {
    let frames = it.last_stack.iter().map(|(code, pc)| TracebackEntry {
        code: *code,
        pc: *pc,
        depth: 0,
    });
    frames.collect()
}

/// What an untrusted folder may not do, at the place in the program that does it.
fn untrusted(it: &Interp) -> Diagnostic {
    let is_programs = |f: &TracebackEntry| match f.code.file(it.db) {
        Some(file) => !file.path(it.db).starts_with(SHIPPED),
        None => true,
    };
    let frames = frames_of_stop(it);
    let shipped = frames.iter().take_while(|f| !is_programs(f)).count();
    let what = it.forbidden.as_deref().unwrap_or_default();
    let message = format!("this folder is not trusted, and while it is imported {what}");
    let folder = it.program.target(it.db).parent();
    let help = format!(
        "if you trust the code in this folder, say so: taipan trust {}",
        folder.map_or("", |f| f.as_str())
    );
    with_traceback(it, ErrorCode::UntrustedFolder, message, &frames[shipped..]).with_help(help)
}

/// What went wrong at import time, with the Python traceback.
pub(crate) fn diagnose(it: &Interp, e: &Unwind<Value, Fatal>) -> Diagnostic {
    let (t, v) = match e {
        Unwind::Raise(raised) => (&raised.0, &raised.1),
        Unwind::Stop(fatal) => {
            let (code, message, help) = match fatal {
                Fatal::StepLimit => (
                    ErrorCode::ImportTimeEndless,
                    "import time does not end: the step limit was reached",
                    "raise the limit with --step-limit if the program needs it",
                ),
                Fatal::MemoryLimit => (
                    ErrorCode::ImportTimeMemory,
                    "import time takes too much memory: the memory limit was reached",
                    "make large tables smaller, or at run time; raise the limit with --memory-limit if the program needs it",
                ),
                Fatal::LongOperation => (
                    ErrorCode::ImportTimeEndless,
                    "import time takes too long: an operation on very large integers",
                    "compute with smaller integers, or at run time",
                ),
                Fatal::Untrusted => return untrusted(it),
                // Nobody sees these: import time knows all its objects, and the run is followed by one that knows more.
                Fatal::Collection | Fatal::Untold => (
                    ErrorCode::ImportTimeException,
                    "what gc.collect() finds is not known yet",
                    "import again",
                ),
            };
            let frames = frames_of_stop(it);
            return with_traceback(it, code, message.to_owned(), &frames).with_help(help);
        }
    };
    let class = match t {
        Value::Ref(c) => it.heap.class_name(*c).to_owned(),
        _ => "exception".to_owned(),
    };
    let (text, frames) = match v {
        Value::Ref(r) => match it.heap.kind(*r) {
            Kind::Exception(e) => (text_of_exception(it, *r), e.traceback.clone()),
            _ => (String::new(), Vec::new()),
        },
        _ => (String::new(), Vec::new()),
    };
    let message = match &*text {
        "" => class,
        text => format!("{class}: {text}"),
    };
    let mut d = with_traceback(it, ErrorCode::ImportTimeException, message, &frames);
    if let Value::Ref(r) = v
        && let Kind::Exception(e) = it.heap.kind(*r)
    {
        let lacks = e.lacks.as_deref();
        d.help = lacks.and_then(|lacks| it.meant(lacks));
        d.problem = lacks.and_then(|lacks| it.problem(lacks));
        if let Some(Lacks::Module {
            name,
            is_named: false,
        }) = lacks
        {
            d = d.with_note(None, format!("the module is `{name}`"));
        }
    }
    d
}

/// The text of an exception, without running anything.
pub(crate) fn text_of_exception(it: &Interp, r: Ref) -> String {
    let Kind::Exception(e) = it.heap.kind(r) else {
        return String::new();
    };
    let plain = |v: &Value| match v {
        Value::Str(s) => String::from_utf8_lossy(s).into_owned(),
        Value::Unicode(u) => crate::space::number::text_of(u),
        Value::Int(i) => i.to_string(),
        Value::Float(f) => crate::space::repr::float_repr(*f),
        Value::None => "None".to_owned(),
        other => format!("<{}>", it.heap.type_name(other)),
    };
    let class = it.heap.get(r).class;
    match &e.args {
        Value::Tuple(t) => match &t[..] {
            [Value::Str(s)] if it.heap.is_subclass(class, ty::KEY_ERROR) => {
                crate::space::repr::quote_bytes(s)
            }
            [one] => plain(one),
            [errno, text] if it.heap.is_subclass(class, ty::ENVIRONMENT_ERROR) => {
                format!("[Errno {}] {}", plain(errno), plain(text))
            }
            [errno, text, file] if it.heap.is_subclass(class, ty::ENVIRONMENT_ERROR) => {
                format!(
                    "[Errno {}] {}: '{}'",
                    plain(errno),
                    plain(text),
                    plain(file)
                )
            }
            many => many.iter().map(plain).collect::<Vec<_>>().join(", "),
        },
        _ => String::new(),
    }
}

fn with_traceback(
    it: &Interp,
    code: ErrorCode,
    message: String,
    frames: &[TracebackEntry],
) -> Diagnostic {
    let place = |f: &TracebackEntry| span_of(it.db, f.code, f.pc);
    // What ships with the compiler is nothing to change: the call that leads there is.
    let own = |s: &Span| !s.file.path(it.db).starts_with(SHIPPED);
    let primary =
        (frames.iter().filter_map(place).find(own)).or_else(|| frames.iter().find_map(place));
    let raised = match frames.first().map(|f| f.code.qualname(it.db)) {
        None => "raised at import time".to_owned(),
        Some(name) if **name == *"<module>" => "raised at import time".to_owned(),
        Some(name) => format!("raised at import time, in {name}"),
    };
    let mut d = Diagnostic::error(code, primary, message).with_label(raised);
    // The innermost one with a place is where it is raised.
    let told = frames.iter().position(|f| place(f) == primary);
    // Recursion without end shows its ends only.
    let shown = 5;
    for (i, f) in frames.iter().rev().enumerate() {
        if frames.len() > 2 * shown && i == shown {
            let left_out = frames.len() - 2 * shown;
            d = d.with_note(None, format!("{left_out} more frames"));
        }
        if frames.len() > 2 * shown && i >= shown && i < frames.len() - shown {
            continue;
        }
        if told.is_some_and(|told| i + 1 + told == frames.len()) {
            continue;
        }
        let qualname = f.code.qualname(it.db);
        let text = match f.code.origin(it.db) {
            Origin::File(_) | Origin::Test(_) => format!("in {qualname}"),
            Origin::Text(t) => format!(
                "in {qualname} of {}, line {}",
                t.filename(it.db),
                it.line_of(f.code, Some(f.pc))
            ),
        };
        d = d.with_note(place(f), text);
    }
    d
}

fn span_of(db: &dyn Db, code: CodeId, pc: u32) -> Option<Span> {
    let file = code.file(db)?;
    let spans = taipan_code::code_spans(db, code);
    let range = spans.instrs.get(pc as usize).copied().unwrap_or(spans.name);
    Some(Span { file, range })
}
