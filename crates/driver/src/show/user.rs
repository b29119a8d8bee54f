//! Functions by file and name, as the programs that use them have them.

use taipan_base::{Db, File, Program};
use taipan_graph::{Const, ObjId};
use taipan_interp::{
    ModuleName, Name, ObjData, Object, class_attr, module_global, module_named, object,
    program_files, target_module,
};

use crate::db::Database;
use crate::program::{entry_roots, has_errors, import_diagnostics};

/// A function as a program has it.
#[derive(Clone, Copy)]
pub(crate) struct User {
    /// The program.
    pub(crate) program: Program,
    /// The function.
    pub(crate) func: ObjId,
}

/// The first program that calls a function of a file: the file itself if it is one, else one
/// of some targets. None if no program calls it, or if the file is a program.
pub(crate) fn user_of(
    db: &Database,
    own: Program,
    name: &str,
    targets: &[Program],
) -> Option<User> {
    if targets.contains(&own) {
        return None;
    }
    let file = db.files().get(db, own.target(db));
    let text = file.text(db);
    // Without loading it: a module of a package may not load by itself.
    if crate::is_target(text) {
        return None;
    }
    targets.iter().copied().find_map(|program| {
        if !program_files(db, program).contains(&file)
            || has_errors(&import_diagnostics(db, program))
        {
            return None;
        }
        let func = function_in(db, program, file, name)?;
        let roots = entry_roots(db, program).ok()?;
        let specs = taipan_annotator::specs_of(db, roots);
        let called = specs.iter().any(|s| s.func(db) == func);
        called.then_some(User { program, func })
    })
}

/// The function of that name in the module that a program made of a file.
fn function_in(db: &Database, program: Program, file: File, name: &str) -> Option<ObjId> {
    let mut at = module_of(db, program, file)?;
    for part in name.split('.') {
        let key = Name::new(db, program, at, part);
        let found = match module_global(db, key) {
            Some(found) => found.clone(),
            None => class_attr(db, key).as_ref().map(|(_, c)| c.clone())?,
        };
        let Const::Obj(id) = found else { return None };
        at = id;
    }
    match object(db, Object::new(db, program, at)).as_deref()? {
        ObjData::Function(_) => Some(at),
        ObjData::StaticMethod(Const::Obj(f))
        | ObjData::ClassMethod(Const::Obj(f))
        | ObjData::Method {
            im_func: Const::Obj(f),
            ..
        } => Some(*f),
        _ => None,
    }
}

/// The module that a program made of a file, if it did.
pub fn module_of(db: &Database, program: Program, file: File) -> Option<ObjId> {
    let path = file.path(db);
    if program.target(db) == path {
        return *target_module(db, program);
    }
    let stem = path.as_str().strip_suffix(".py")?;
    let stem = stem.strip_suffix("/__init__").unwrap_or(stem);
    let mut name = String::new();
    for part in stem.rsplit('/').filter(|p| !p.is_empty()) {
        name = if name.is_empty() {
            part.to_owned()
        } else {
            format!("{part}.{name}")
        };
        let key = ModuleName::new(db, program, &*name);
        let module = module_named(db, key).as_ref();
        if let Some(Ok(module)) = module
            && let Some(Const::Str(found)) =
                module_global(db, Name::new(db, program, *module, "__file__"))
            && found.as_ref() == path.as_str().as_bytes()
        {
            return Some(*module);
        }
    }
    None
}
