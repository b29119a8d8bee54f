//! The image of a program after import time, and its projections.
//!
//! `image` is one big value that is recomputed whenever import-time code or what it
//! read changes. Everyone reads it through the queries here, which compare, so that
//! a change in one object re-runs only the readers of that object.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_base::{Db, Diagnostic, Program};
use taipan_graph::{Const, ObjId};

use crate::ObjData;
use crate::synthetic::synthetic;

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

/// A name in an object of the image: the key of [`module_global`] and [`class_attr`].
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

/// What import time left.
#[derive(Debug, Default)]
pub struct Image {
    /// All objects that can be reached from modules.
    pub objects: FxHashMap<ObjId, Arc<ObjData>>,
    /// Globals of each module.
    pub globals: FxHashMap<ObjId, FxHashMap<Box<str>, Const>>,
    /// `sys.modules`, in the order of import; an import inside a function body that
    /// failed is there with its diagnostic.
    pub modules: FxHashMap<Box<str>, Result<ObjId, Diagnostic>>,
    /// The target module, unless it could not be loaded.
    pub target: Option<ObjId>,
    /// What the program offers as its entry point, or why there is none.
    pub entry_point: Option<Result<ObjId, Diagnostic>>,
    /// What was printed.
    pub stdout: String,
    /// What went wrong.
    pub diagnostics: Vec<Diagnostic>,
}

/// Runs a program's import time.
#[salsa::tracked(no_eq)]
pub fn image(_db: &dyn Db, _program: Program) -> Arc<Image> {
    Arc::new(Image::default())
}

/// The content of an object; None for an id that is not in the image (any more).
#[salsa::tracked]
pub fn object(db: &dyn Db, key: Object) -> Option<Arc<ObjData>> {
    find(db, key.program(db), key.obj(db))
}

/// An object of the image or one that the flow space made.
fn find(db: &dyn Db, program: Program, id: ObjId) -> Option<Arc<ObjData>> {
    let found = image(db, program).objects.get(&id).cloned();
    found.or_else(|| synthetic(db, id))
}

/// A global of a module.
#[salsa::tracked]
pub fn module_global(db: &dyn Db, key: Name) -> Option<Const> {
    let image = image(db, key.program(db));
    image
        .globals
        .get(&key.obj(db))?
        .get(&**key.name(db))
        .cloned()
}

/// A class attribute, found along the method resolution order: the class that has
/// it, and its value.
#[salsa::tracked]
pub fn class_attr(db: &dyn Db, key: Name) -> Option<(ObjId, Const)> {
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

/// The module of that name, or why an import inside a function body failed. None if
/// nothing imported it.
#[salsa::tracked]
pub fn module_named(db: &dyn Db, key: ModuleName) -> Option<Result<ObjId, Diagnostic>> {
    image(db, key.program(db))
        .modules
        .get(&**key.name(db))
        .cloned()
}

/// The target module.
#[salsa::tracked]
pub fn target_module(db: &dyn Db, program: Program) -> Option<ObjId> {
    image(db, program).target
}

/// What went wrong at import time.
#[salsa::tracked]
pub fn image_diagnostics(db: &dyn Db, program: Program) -> Arc<Vec<Diagnostic>> {
    Arc::new(image(db, program).diagnostics.clone())
}

/// The function that the program starts with: what `target(driver, args)` answers,
/// else `entry_point`, else `main`.
#[salsa::tracked]
pub fn entry_point(db: &dyn Db, program: Program) -> Result<ObjId, Diagnostic> {
    match &image(db, program).entry_point {
        Some(e) => e.clone(),
        None => Err(Diagnostic::error(
            "TP0210",
            None,
            "the program has no entry point",
        )),
    }
}
