//! The image of a program after import time, and its projections.
//!
//! `image` is one big value that is recomputed whenever import-time code or what it
//! read changes. Everyone reads it through the queries here, which compare, so that
//! a change in one object re-runs only the readers of that object.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use taipan_base::reads::{note, scope};
use taipan_base::{
    Db, Diagnostic, ErrorCode, File, FileContents, Problem, Program, did_you_mean, noted,
};
use taipan_graph::{Const, ObjId};

use crate::heap_image::image_to_heap::{MemoAnswer, made_later};
use crate::heap_image::import_time::{Image, no_entry_point};
use crate::heap_image::memo::{self, MemoRun};
use crate::heap_image::memo_changes::keep;
use crate::heap_image::names::Names;
use crate::{ClassData, ObjData, Tests};

/// An object of a program's image: the key of [`object`].
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
pub struct Object {
    /// The program.
    #[returns(copy)]
    pub program: Program,
    /// The object.
    #[returns(copy)]
    pub obj: ObjId,
}

/// A name in an object of the image: the key of [`module_global`], [`class_attr`] and
/// [`desc_attr`].
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
pub struct Name {
    /// The program.
    #[returns(copy)]
    pub program: Program,
    /// The module or class.
    #[returns(copy)]
    pub obj: ObjId,
    /// The name.
    #[returns(ref)]
    pub name: Box<str>,
}

/// A module by its dotted name: the key of [`module_named`].
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
pub struct ModuleName {
    /// The program.
    #[returns(copy)]
    pub program: Program,
    /// The name, as in `sys.modules`.
    #[returns(ref)]
    pub name: Box<str>,
}

/// What there is at a path, whatever it says.
#[derive(Clone, PartialEq, Eq, Debug, salsa::SalsaValue)]
pub(crate) enum FileState {
    /// A text.
    Text,
    /// Nothing.
    Missing,
    /// A directory.
    Directory,
    /// Something that cannot be read, and why.
    Unreadable(String),
}

/// What there is at a file's path: import time asks this, so that a change of the
/// text alone does not concern it.
#[salsa::tracked]
pub(crate) fn file_state(db: &dyn Db, file: File) -> FileState {
    match file.contents(db) {
        // What is wrong with it is a syntax error.
        FileContents::Text(_) | FileContents::InvalidUtf8 { .. } => FileState::Text,
        FileContents::Missing => FileState::Missing,
        FileContents::Directory(_) => FileState::Directory,
        FileContents::Unreadable(why) => FileState::Unreadable(why.to_string()),
    }
}

/// Runs a program's import time.
#[salsa::tracked(no_eq)]
pub fn image(db: &dyn Db, program: Program) -> Arc<Image> {
    let _timed = taipan_base::timed(db);
    Arc::new(crate::heap_image::import_time::run(db, program))
}

noted! {
    /// The content of an object; None for an id that is not in the image (any more).
    pub projection fn object(db, key: Object) -> &Option<Arc<ObjData>> {
        find(db, key.program(db), key.obj(db))
    }
}

noted! {
    /// A global of a module.
    pub projection fn module_global(db, key: Name) -> &Option<Const> {
        let image = image(db, key.program(db));
        image
            .globals
            .get(&key.obj(db))?
            .get(&**key.name(db))
            .cloned()
    }
}

/// The names that an object has: globals of a module or dict, attributes of a class or
/// instance. For messages: whoever asks depends on all of them.
#[salsa::tracked]
pub fn names_of(db: &dyn Db, of: Object) -> Arc<BTreeSet<Box<str>>> {
    let image = image(db, of.program(db));
    let mut names = BTreeSet::new();
    let id = of.obj(db);
    if let Some(globals) = image.globals.get(&id) {
        names.extend(globals.keys().cloned());
    }
    let mut class = None;
    match image.objects.get(&id).map(|o| &**o) {
        Some(ObjData::Class(_)) => class = Some(id),
        Some(ObjData::Instance(i)) => {
            names.extend(i.attrs.iter().map(|(n, _)| n.clone()));
            class = Some(i.class);
        }
        Some(ObjData::Dict(items)) => {
            let texts = items.iter().filter_map(|(k, _)| k.as_str());
            names.extend(texts.map(Into::into));
        }
        _ => {}
    }
    let data = |id: &ObjId| match image.objects.get(id).map(|o| &**o) {
        Some(ObjData::Class(c)) => Some(c),
        _ => None,
    };
    let mro = class.as_ref().and_then(data).map(|c| &c.mro);
    for class in mro.into_iter().flatten().filter_map(data) {
        names.extend(class.dict.iter().map(|(n, _)| n.clone()));
    }
    Arc::new(names)
}

noted! {
    /// A class attribute, found along the method resolution order: the class that has
    /// it, and its value.
    pub fn class_attr(db, key: Name) -> &Option<(ObjId, Const)> {
        let program = key.program(db);
        let class = find(db, program, key.obj(db))?;
        let ObjData::Class(class) = &*class else {
            return None;
        };
        class
            .mro
            .iter()
            .find_map(|c| match &*find(db, program, *c)? {
                ObjData::Class(d) => Some((*c, d.get(key.name(db))?.clone())),
                _ => None,
            })
    }
}

noted! {
    /// A class attribute in RPython's eyes: a class's own attributes, those of its mixins,
    /// then those of its one regular base. `x__getter__` and `x__setter__` are the functions of
    /// a property `x` (RPython: `ClassDesc.lookup`, `classdict`).
    pub fn desc_attr(db, key: Name) -> &Option<Const> {
        let program = key.program(db);
        let name: &str = key.name(db);
        let mut at = Some(key.obj(db));
        for level in 1.. {
            let class = at?;
            // In a deep hierarchy most names are far above, or nowhere.
            if level % NEAR == 0
                && !names_above(db, Object::new(db, program, class)).may_have(name)
            {
                return None;
            }
            let data = find(db, program, class)?;
            let ObjData::Class(class) = &*data else {
                return None;
            };
            let own = class.get(name).cloned();
            if let Some(c) = own.or_else(|| accessor(db, program, class, name)) {
                return Some(c);
            }
            if let Some(c) = class.mixed_in(name) {
                return Some(c.clone());
            }
            at = regular_base(db, program, class);
        }
        None
    }
}

noted! {
    /// Which names a class and its bases have, in RPython's eyes; perhaps some more.
    pub fn names_above(db, key: Object) -> Names {
        let program = key.program(db);
        let mut near = Vec::new();
        let mut at = Some(key.obj(db));
        while let Some(class) = at
            && near.len() < NEAR
        {
            let Some(data) = find(db, program, class) else {
                break;
            };
            let ObjData::Class(class) = &*data else {
                break;
            };
            at = regular_base(db, program, class);
            near.push(data);
        }
        let far = at.filter(|_| near.len() == NEAR);
        let mut names = far.map_or_else(Names::default, |c| {
            names_above(db, Object::new(db, program, c))
        });
        for data in &near {
            if let ObjData::Class(class) = &**data {
                let own = class.dict.iter().chain(&class.mixed_in);
                own.for_each(|(name, _)| names.insert(name));
            }
        }
        names
    }
}

noted! {
    /// The module of that name, or why an import inside a function body failed. None if
    /// nothing imported it.
    pub projection fn module_named(db, key: ModuleName) -> &Option<Result<ObjId, Box<Diagnostic>>> {
        image(db, key.program(db))
            .modules
            .get(&**key.name(db))
            .cloned()
    }
}

/// So many classes are looked at one by one.
const NEAR: usize = 32;

/// The first base class that is no mixin.
fn regular_base(db: &dyn Db, program: Program, class: &ClassData) -> Option<ObjId> {
    let is_regular = |b: &&ObjId| match find(db, program, **b).as_deref() {
        Some(ObjData::Class(base)) => !base.is_mixin(),
        _ => false,
    };
    class.bases.iter().find(is_regular).copied()
}

/// The function behind `x__getter__` or `x__setter__`, where a class has a property `x`.
fn accessor(db: &dyn Db, program: Program, class: &ClassData, name: &str) -> Option<Const> {
    let (property, getter) = match name.strip_suffix("__getter__") {
        Some(property) => (property, true),
        None => (name.strip_suffix("__setter__")?, false),
    };
    let Some(Const::Obj(property)) = class.get(property) else {
        return None;
    };
    match &*find(db, program, *property)? {
        ObjData::Property { fget, fset, .. } => {
            let f = if getter { fget } else { fset };
            (*f != Const::None).then(|| f.clone())
        }
        _ => None,
    }
}

/// An object of the image or one that the flow space made.
fn find(db: &dyn Db, program: Program, id: ObjId) -> Option<Arc<ObjData>> {
    note::<object>(Object::new(db, program, id));
    if let Some(found) = image(db, program).objects.get(&id) {
        return Some(found.clone());
    }
    // It hangs on the call that made it.
    scope::<object, _>(db, Object::new(db, program, id), || made_later(db, id))
}

/// The target module.
#[salsa::tracked]
pub fn target_module(db: &dyn Db, program: Program) -> Option<ObjId> {
    image(db, program).target
}

/// Whether something is missing since statements of modules failed at import time and did not
/// run: one of these would have set it. So it only follows, and is of no interest.
pub fn lacks_since_failure(db: &dyn Db, program: Program, problem: &Problem) -> bool {
    image(db, program).lacks_since_failure(db, problem)
}

/// What went wrong at import time.
#[salsa::tracked]
pub fn image_diagnostics(db: &dyn Db, program: Program) -> Arc<Vec<Diagnostic>> {
    Arc::new(image(db, program).diagnostics.clone())
}

/// The function that the program starts with: what `target(driver, args)` answers,
/// else `entry_point`, else `main`.
#[salsa::tracked]
pub fn entry_point(db: &dyn Db, program: Program) -> Result<ObjId, Box<Diagnostic>> {
    let image = image(db, program);
    match (&image.entry_point, image.diagnostics.first()) {
        (Some(e), _) => e.clone(),
        (None, Some(problem)) => Err(Box::new(problem.clone())),
        (None, None) => Err(Box::new(no_entry_point())),
    }
}

/// What the program's `target()` calls the executable (`driver.exe_name`), if it does.
#[salsa::tracked(returns(clone))]
pub fn executable_name(db: &dyn Db, program: Program) -> Option<Box<str>> {
    image(db, program).executable.clone()
}

/// Settings that `target()` makes in `driver.config.translation`: paths below it and values, as text.
#[salsa::tracked(returns(clone))]
pub fn target_settings(db: &dyn Db, program: Program) -> Vec<(String, String)> {
    image(db, program).settings.clone()
}

/// The tests of a test module. Asked of programs whose target is one.
#[salsa::tracked]
pub fn tests(db: &dyn Db, program: Program) -> Arc<Tests> {
    Arc::new(image(db, program).tests.clone())
}

/// The source files that import time ran as modules, in order.
#[salsa::tracked]
pub fn program_files(db: &dyn Db, program: Program) -> Arc<Vec<File>> {
    Arc::new(image(db, program).files.clone())
}

/// A call at compile time: the key of [`memo_call`].
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
pub struct MemoCall {
    /// The program.
    #[returns(copy)]
    pub program: Program,
    /// The function.
    #[returns(copy)]
    pub func: ObjId,
    /// The arguments.
    #[returns(ref)]
    pub args: Vec<Const>,
}

noted! {
    /// What a function answers when it is called after import time, on a copy of the
    /// image (RPython: `specialize:memo`).
    pub projection fn memo_call(db, key: MemoCall) -> &Result<Const, Box<Diagnostic>> {
        let answer = memo_answer(db, key);
        keep(db, key, answer);
        let answer = answer.as_ref();
        answer.map(|a| a.value.clone()).map_err(Clone::clone)
    }
}

/// The objects that such a call made, by itself or by memo calls that it ran, with their
/// content now; their ids do not depend on it. Empty if the call failed.
pub fn memo_objects(db: &dyn Db, key: MemoCall) -> Vec<(ObjId, Arc<ObjData>)> {
    let mut made = Vec::new();
    let mut seen = FxHashSet::default();
    let mut calls = vec![key];
    while let Some(call) = calls.pop() {
        if seen.insert(call)
            && let Ok(answer) = memo_answer(db, call)
        {
            made.extend(answer.made.iter().map(|(id, data)| (*id, data.clone())));
            calls.extend(&answer.inner);
        }
    }
    made
}

/// What a call at compile time left, before its objects have their content for others. No two
/// runs of a call are taken for equal: what goes on with the heap that it left runs again, too.
#[salsa::tracked(no_eq, cycle_result = needs_itself)]
pub(crate) fn memo_run(db: &dyn Db, key: MemoCall) -> Result<Arc<MemoRun>, Box<Diagnostic>> {
    let program = key.program(db);
    memo::run(db, program, image(db, program), key).map(Arc::new)
}

/// What a call at compile time came to, with the objects that it made. As [`memo_run`], it is
/// never equal to what it was.
#[salsa::tracked(no_eq, cycle_result = settles_itself)]
pub(crate) fn memo_answer(db: &dyn Db, key: MemoCall) -> Result<Arc<MemoAnswer>, Box<Diagnostic>> {
    let run = memo_run(db, key).as_ref().map_err(Clone::clone)?;
    let image = image(db, key.program(db));
    Ok(Arc::new(memo::settle(db, image, key, run)))
}

fn needs_itself(
    db: &dyn Db,
    _id: salsa::Id,
    key: MemoCall,
) -> Result<Arc<MemoRun>, Box<Diagnostic>> {
    Err(cycle(db, key))
}

fn settles_itself(
    db: &dyn Db,
    _id: salsa::Id,
    key: MemoCall,
) -> Result<Arc<MemoAnswer>, Box<Diagnostic>> {
    Err(cycle(db, key))
}

/// A call that is given what it makes itself.
fn cycle(db: &dyn Db, key: MemoCall) -> Box<Diagnostic> {
    let objects = &image(db, key.program(db)).objects;
    let name = match objects.get(&key.func(db)).map(|o| &**o) {
        Some(ObjData::Function(f)) => format!("{}()", f.name),
        _ => "a call".to_owned(),
    };
    let message =
        format!("{name} needs objects that another call makes, which needs those of this one");
    Box::new(Diagnostic::error(
        ErrorCode::UnknownAtImportTime,
        None,
        message,
    ))
}

/// The function that a dotted name in the target module stands for: `f`, `C.method`.
pub fn named_function(db: &dyn Db, program: Program, name: &str) -> Result<ObjId, Box<Diagnostic>> {
    let problem =
        |message: String| Box::new(Diagnostic::error(ErrorCode::NoSuchFunction, None, message));
    let Some(mut at) = *target_module(db, program) else {
        let first = image_diagnostics(db, program).first().cloned();
        return Err(first.map_or_else(|| problem("there is no module".into()), Box::new));
    };
    for part in name.split('.') {
        let key = Name::new(db, program, at, part);
        let found = match module_global(db, key) {
            Some(c) => Some(c.clone()),
            None => class_attr(db, key).as_ref().map(|(_, c)| c.clone()),
        };
        at = match found {
            Some(Const::Obj(id)) => id,
            Some(_) => return Err(problem(format!("`{name}` is no function"))),
            None => {
                // Import time may have failed before the function was defined.
                if let Some(first) = image_diagnostics(db, program).first() {
                    return Err(Box::new(first.clone()));
                }
                let there = names_of(db, Object::new(db, program, at));
                let mut d = problem(format!("the module has no function `{name}`"));
                d.help = did_you_mean(part, there.iter().map(|n| &**n));
                return Err(d);
            }
        };
    }
    match object(db, Object::new(db, program, at)).as_deref() {
        Some(ObjData::Function(_)) => Ok(at),
        Some(
            ObjData::StaticMethod(Const::Obj(f))
            | ObjData::Method {
                im_func: Const::Obj(f),
                ..
            },
        ) => Ok(*f),
        _ => Err(problem(format!("`{name}` is no function"))),
    }
}
