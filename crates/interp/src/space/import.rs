//! Imports: finding modules, running them, binding names.

use camino::{Utf8Path, Utf8PathBuf};
use taipan_base::{File, SHIPPED};
use taipan_code::{CodeKind, ImportDesc, Instr};

use super::builtins::frames::body_of;
use super::dict::Dict;
use super::heap::{Kind, Ref};
use super::meant::Lacks;
use super::modules::standard;
use super::types::ty;
use super::units::Input;
use super::value::Value;
use super::written::What;
use super::{Interp, R, modules};
use crate::heap_image::queries::FileState;
use taipan_engine::Unwind;

/// Where the Python part of the standard library ships.
pub(super) const LIB_PYTHON: &str = "<taipan>/lib_python";
/// What the root of a project has, and how far above the target it may be.
const ROOT_MARKS: [&str; 3] = [".git", "setup.py", "pyproject.toml"];
const OUTSIDE: usize = 3;

/// What a search for a module found.
enum Found {
    /// A module written in Rust.
    Builtin,
    /// A source file, and the folders of its submodules if it is a package.
    Source(File, Option<Vec<Utf8PathBuf>>),
    /// A module of the standard library that nothing is known of.
    Empty,
}

impl Interp<'_> {
    /// Folders that `sys.path` starts with.
    pub(crate) fn initial_path(&self) -> Vec<Utf8PathBuf> {
        let target = self.program.target(self.db);
        let own = target.parent().unwrap_or(Utf8Path::new("/")).to_owned();
        let mut path = vec![own.clone()];
        let root = self.package_root(&own);
        if root != own && !self.target_is_script() {
            path.push(root);
        }
        path.extend(self.program.options(self.db).path.iter().cloned());
        path
    }

    pub(crate) fn is_package(&self, dir: &Utf8Path) -> bool {
        self.exists(&dir.join("__init__.py")).is_some()
    }

    /// The folder that contains the outermost package around a folder.
    fn package_root(&self, dir: &Utf8Path) -> Utf8PathBuf {
        let mut dir = dir;
        while self.is_package(dir) {
            match dir.parent() {
                Some(up) => dir = up,
                None => break,
            }
        }
        dir.to_owned()
    }

    /// Whether the target is run as a script, as the original toolchain runs its targets: its
    /// folder is no package then, whatever is in it. That is what offers an entry point.
    /// Tests, and files of which single functions are compiled, are modules of their packages.
    fn target_is_script(&self) -> bool {
        if self.program.options(self.db).tests {
            return false;
        }
        let file = self.file_at(self.program.target(self.db));
        let code = taipan_code::code(self.db, taipan_code::module_code_id(self.db, file));
        code.instrs.iter().any(|instr| match instr {
            Instr::StoreName(i) => {
                matches!(&*code.names[*i as usize], "target" | "entry_point")
            }
            _ => false,
        })
    }

    /// The name of the target module. Where it is no script, the dotted name as seen from its
    /// package root.
    pub(crate) fn target_name(&self) -> String {
        let target = self.program.target(self.db);
        if self.target_is_script() {
            return target.file_stem().unwrap_or("target").to_owned();
        }
        let own = target.parent().unwrap_or(Utf8Path::new("/"));
        let root = self.package_root(own);
        let stem = target.with_extension("");
        let rel = stem.strip_prefix(&root).unwrap_or(&stem);
        let mut parts: Vec<&str> = rel.components().map(|c| c.as_str()).collect();
        if parts.len() > 1 && parts.last() == Some(&"__init__") {
            parts.pop();
        }
        parts.join(".")
    }

    /// What there is at an absolute path; the answer of import time depends on it.
    pub(crate) fn file_at(&self, path: &Utf8Path) -> File {
        self.db.files().get_for(self.db, self.program, path)
    }

    fn exists(&self, path: &Utf8Path) -> Option<File> {
        (self.what_is(path) == What::File).then(|| self.file_at(path))
    }

    /// The folders to search for a top-level module, as `sys.path` has them now.
    pub(crate) fn search_path(&self) -> Vec<Utf8PathBuf> {
        let sys = self.heap.item(self.modules, "sys");
        let list = sys
            .and_then(Value::as_ref)
            .and_then(|m| self.heap.attr(m, "path"))
            .and_then(Value::as_ref)
            .and_then(|l| self.heap.list_items(l));
        match list {
            Some(l) => l
                .iter()
                .filter_map(Value::as_text)
                .map(Utf8PathBuf::from)
                .collect(),
            None => self.initial_path(),
        }
    }

    fn find_module(&self, name: &str, parent: Option<Ref>) -> Option<Found> {
        if modules::is_builtin(name) {
            return Some(Found::Builtin);
        }
        self.find_source(name, parent)
            .or_else(|| self.find_standard(name))
            .or_else(|| self.find_outside(name))
    }

    /// A module in a folder around the target's, up to the root of the project: there
    /// programs are started whose target has a folder of its own. A script in a package finds
    /// that package.
    fn find_outside(&self, name: &str) -> Option<Found> {
        if name.contains('.') {
            return None;
        }
        let target = self.program.target(self.db);
        let own = target.parent().unwrap_or(Utf8Path::new("/"));
        let beside = self.package_root(own);
        if beside != own
            && let Some(found) = self.source_in(&beside, name)
        {
            return Some(found);
        }
        let around: Vec<&Utf8Path> = target.ancestors().skip(1).take(OUTSIDE + 1).collect();
        let is_root = |dir: &&Utf8Path| {
            let mut marks = ROOT_MARKS.iter().map(|mark| self.file_at(&dir.join(mark)));
            marks.any(|file| {
                self.note_input(Input::State(file));
                *crate::heap_image::queries::file_state(self.db, file) != FileState::Missing
            })
        };
        let root = around.iter().position(is_root)?;
        // The target's own folder has been looked at.
        let mut dirs = around[..=root].iter().skip(1);
        dirs.find_map(|dir| self.source_in(dir, name))
    }

    /// A module of the standard library that does not ship, of a checkout if it can be.
    fn find_standard(&self, name: &str) -> Option<Found> {
        if !standard::is_standard(name) {
            return None;
        }
        let checkouts = self.search_path();
        let found = checkouts.iter().find_map(|dir| {
            let path = dir.join("lib-python/2.7").join(name.replace('.', "/"));
            self.exists(&path.with_extension("py"))
        });
        Some(match found.filter(|_| standard::is_library(name)) {
            Some(file) => Found::Source(file, None),
            None => Found::Empty,
        })
    }

    fn find_source(&self, name: &str, parent: Option<Ref>) -> Option<Found> {
        let dirs: Vec<Utf8PathBuf> = match parent {
            Some(p) => {
                let list = self.heap.attr(p, "__path__")?.as_ref()?;
                self.heap
                    .list_items(list)?
                    .iter()
                    .filter_map(Value::as_text)
                    .map(Utf8PathBuf::from)
                    .collect()
            }
            None => {
                // What ships under the name of the toolchain's package goes first,
                // a standard library module last.
                let mut dirs = self.search_path();
                if matches!(name, "rpython" | "taipan_prelude") {
                    dirs.insert(0, SHIPPED.into());
                } else if matches!(name, "py" | "pytest" | "_pytest") {
                    dirs.insert(0, LIB_PYTHON.into());
                } else {
                    dirs.push(LIB_PYTHON.into());
                }
                dirs
            }
        };
        dirs.iter().find_map(|dir| self.source_in(dir, name))
    }

    /// The source of a module in a folder.
    fn source_in(&self, dir: &Utf8Path, name: &str) -> Option<Found> {
        let last = name.rsplit('.').next().unwrap_or(name);
        let package = dir.join(last);
        if let Some(file) = self.exists(&package.join("__init__.py")) {
            let mut path = vec![package.clone()];
            if package.starts_with(SHIPPED) && !package.starts_with(LIB_PYTHON) {
                let rel = name.replace('.', "/");
                path.extend(self.search_path().iter().map(|d| d.join(&rel)));
            }
            return Some(Found::Source(file, Some(path)));
        }
        let file = self.exists(&dir.join(format!("{last}.py")))?;
        Some(Found::Source(file, None))
    }

    /// A loaded module.
    pub(crate) fn loaded(&self, name: &str) -> Option<Ref> {
        self.heap.item(self.modules, name)?.as_ref()
    }

    /// The module of that dotted name, loaded if need be; None if there is none.
    pub(crate) fn load_opt(&mut self, name: &str) -> R<Option<Ref>> {
        if let Some(m) = self.loaded(name) {
            return Ok(Some(m));
        }
        let parent = match name.rsplit_once('.') {
            Some((package, _)) => match self.load_opt(package)? {
                Some(p) => Some(p),
                None => return Ok(None),
            },
            None => None,
        };
        // Loading the package may have loaded it.
        if let Some(m) = self.loaded(name) {
            return Ok(Some(m));
        }
        let module = match self.find_module(name, parent) {
            None => return Ok(None),
            Some(Found::Builtin) => modules::make_builtin(self, name)?,
            Some(Found::Source(file, path)) => {
                if let Some(why) = self.unreadable(file.path(self.db)) {
                    let message = format!("{} cannot be read: {why}", file.path(self.db));
                    return self.raise(ty::IMPORT_ERROR, message);
                }
                self.run_module(name, file, path)?
            }
            Some(Found::Empty) => self.new_module(name),
        };
        if let (Some(p), Some((_, last))) = (parent, name.rsplit_once('.')) {
            self.heap.set_attr(p, last, Value::Ref(module));
        }
        Ok(Some(module))
    }

    /// Makes a module object and puts it into `sys.modules`.
    pub(crate) fn new_module(&mut self, name: &str) -> Ref {
        let m = self.heap.alloc(ty::MODULE, Kind::Module(name.into()));
        self.heap.set_attr(m, "__name__", Value::str(name));
        self.heap.set_attr(m, "__doc__", Value::None);
        let modules = self.modules;
        self.heap.set_item(modules, name, Value::Ref(m));
        m
    }

    /// Runs a source file as a module.
    pub(crate) fn run_module(
        &mut self,
        name: &str,
        file: File,
        path: Option<Vec<Utf8PathBuf>>,
    ) -> R<Ref> {
        let m = self.new_module(name);
        self.heap
            .set_attr(m, "__file__", Value::str(file.path(self.db).as_str()));
        let builtins = Value::Ref(self.builtins);
        self.heap.set_attr(m, "__builtins__", builtins);
        let package = match &path {
            Some(_) => name,
            None => name.rsplit_once('.').map_or("", |(p, _)| p),
        };
        self.heap.set_attr(m, "__package__", Value::str(package));
        if let Some(path) = &path {
            let dirs = path.iter().map(|p| Value::str(p.as_str())).collect();
            let list = self.heap.list(dirs);
            self.heap.set_attr(m, "__path__", list);
        }
        let is_test = self.program.options(self.db).tests
            && file.path(self.db) == self.program.target(self.db);
        let id = if is_test {
            // What its asserts call when they fail.
            let testing = self.load("_taipan_testing")?;
            self.heap
                .set_attr(m, taipan_code::TESTING_GLOBAL, Value::Ref(testing));
            taipan_code::test_code_id(self.db, file)
        } else if let Some(text) = self.written_text(file.path(self.db)) {
            let name = file.path(self.db).as_str();
            body_of(self, &Value::str(&text), name, CodeKind::Module)?
        } else {
            taipan_code::module_code_id(self.db, file)
        };
        let body = self.body(id);
        if let Some(doc) = body.code.doc {
            self.heap
                .set_attr(m, "__doc__", body.consts[doc as usize].clone());
        }
        // What functions of a written module import is found when they run.
        if self.written_text(file.path(self.db)).is_none() {
            self.files.push(file);
            self.note_loaded(name, package, id);
            taipan_base::step(self.db, taipan_base::Step::Import);
        }
        let globals = self.heap.attrs(m);
        if let Err(e) = self.run_body(id, globals, globals, &[]) {
            let modules = self.modules;
            self.heap.the_dict_mut(modules).remove_str(name);
            return Err(e);
        }
        // A module may replace itself in `sys.modules`.
        Ok(self.loaded(name).unwrap_or(m))
    }

    /// The module of that name, or ImportError.
    pub(crate) fn load(&mut self, name: &str) -> R<Ref> {
        match self.load_opt(name)? {
            Some(m) => Ok(m),
            None => {
                // The message names what follows the package that is there, as CPython does.
                let dots = name.rmatch_indices('.').map(|(at, _)| at);
                let package = dots
                    .into_iter()
                    .find(|at| self.loaded(&name[..*at]).is_some());
                let shown = package.map_or(name, |at| &name[at + 1..]);
                let message = format!("No module named {shown}");
                let lacks = Lacks::Module {
                    name: name.into(),
                    is_named: package.is_none(),
                };
                self.raise_lacking(ty::IMPORT_ERROR, message, lacks)
            }
        }
    }

    /// The module of that name for an import statement. One of the toolchain that is not
    /// here, or cannot be loaded from a checkout, is there without contents.
    fn load_or_absent(&mut self, name: &str) -> R<Ref> {
        if !self.may_be_absent(name) {
            return self.load(name);
        }
        match self.load_opt(name) {
            Ok(Some(m)) => return Ok(m),
            Err(Unwind::Stop(fatal)) => return Err(Unwind::Stop(fatal)),
            Ok(None) | Err(Unwind::Raise(..)) => {}
        }
        let m = self.new_module(name);
        if let Some((package, last)) = name.rsplit_once('.') {
            let package = self.load_or_absent(package)?;
            self.heap.set_attr(package, last, Value::Ref(m));
        }
        Ok(m)
    }

    /// Name of the package that a module with these globals belongs to.
    fn package_of(&self, globals: Ref) -> Option<String> {
        let global = |name| self.heap.item(globals, name);
        if let Some(p) = global("__package__").and_then(Value::as_text) {
            return (!p.is_empty()).then(|| p.to_owned());
        }
        let name = global("__name__")?.as_text()?;
        if global("__path__").is_some() {
            return Some(name.to_owned());
        }
        Some(name.rsplit_once('.')?.0.to_owned())
    }

    /// An `import` statement: the module to bind.
    pub(crate) fn import_statement(&mut self, globals: Ref, desc: &ImportDesc) -> R {
        let (top, leaf) = self.import_path(globals, &desc.name, desc.level)?;
        let Some(names) = &desc.from else {
            return Ok(Value::Ref(if desc.bind_leaf { leaf } else { top }));
        };
        let package = self.module_name(leaf);
        let has_path = self.heap.attr(leaf, "__path__").is_some();
        for n in names {
            if **n == *"*" || self.heap.attr(leaf, n).is_some() {
                continue;
            }
            let name = format!("{package}.{n}");
            if has_path || standard::is_standard(&name) {
                match self.load_opt(&name) {
                    Err(Unwind::Raise(..)) if self.may_be_absent(&name) => {}
                    found => _ = found?,
                }
            }
        }
        Ok(Value::Ref(leaf))
    }

    /// Whether an implicit relative import may find a module: what ships never finds
    /// modules of a checkout beside it.
    fn may_be_relative(&self, globals: Ref, name: &str) -> bool {
        let file = self.heap.item(globals, "__file__");
        if !file
            .and_then(Value::as_text)
            .is_some_and(|f| f.starts_with(SHIPPED))
        {
            return true;
        }
        let path = Utf8Path::new(SHIPPED).join(name.replace('.', "/"));
        self.is_package(&path) || self.exists(&path.with_extension("py")).is_some()
    }

    /// The first and the last module of a dotted name.
    pub(crate) fn import_path(&mut self, globals: Ref, name: &str, level: i32) -> R<(Ref, Ref)> {
        let package = self.package_of(globals);
        let absolute = match (level, package) {
            (0, _) | (-1, None) => name.to_owned(),
            (-1, Some(package)) => {
                let head = name.split('.').next().unwrap_or(name);
                let relative = format!("{package}.{head}");
                let found = match self.may_be_relative(globals, &relative) {
                    true => self.load_opt(&relative)?,
                    false => None,
                };
                match found {
                    Some(top) => {
                        let leaf = if head == name {
                            top
                        } else {
                            self.load(&format!("{package}.{name}"))?
                        };
                        return Ok((top, leaf));
                    }
                    None => name.to_owned(),
                }
            }
            (_, None) => {
                return self.value_error("Attempted relative import in non-package");
            }
            (n, Some(package)) => {
                let mut parts: Vec<&str> = package.split('.').collect();
                let up = n as usize - 1;
                if up >= parts.len() {
                    return self.value_error("Attempted relative import beyond toplevel package");
                }
                parts.truncate(parts.len() - up);
                if !name.is_empty() {
                    parts.push(name);
                }
                let leaf = self.load_or_absent(&parts.join("."))?;
                return Ok((leaf, leaf));
            }
        };
        let leaf = self.load_or_absent(&absolute)?;
        let head = absolute.split('.').next().unwrap_or(&absolute);
        let top = self.load(head)?;
        Ok((top, leaf))
    }

    /// `__name__` of a module.
    pub(crate) fn module_name(&self, m: Ref) -> String {
        match self.heap.kind(m) {
            Kind::Module(n) => n.to_string(),
            _ => String::new(),
        }
    }

    /// `from module import name`
    pub(crate) fn import_name_from(&mut self, module: &Value, name: &str) -> R {
        if let Some(v) = self.getattr_opt(module, name)? {
            return Ok(v);
        }
        if let Some(m) = self.name_of_empty(module) {
            return Ok(self.opaque(format!("{m}.{name}")));
        }
        match self.absent_attr(module, name) {
            Some(v) => Ok(v),
            None => {
                let message = format!("cannot import name {name}");
                let lacks = Lacks::Attribute(module.clone(), name.into());
                self.raise_lacking(ty::IMPORT_ERROR, message, lacks)
            }
        }
    }

    /// The name of a module of the standard library that nothing is known of.
    pub(super) fn name_of_empty(&self, module: &Value) -> Option<String> {
        let m = module.as_ref()?;
        let name = match self.heap.kind(m) {
            Kind::Module(name) => name,
            _ => return None,
        };
        let empty = standard::is_standard(name) && self.heap.attr(m, "__file__").is_none();
        empty.then(|| name.to_string())
    }

    /// `from module import *`
    pub(crate) fn import_all(&mut self, target: Ref, module: &Value) -> R<()> {
        if !matches!(self.heap.peek(target).kind, Kind::Dict(_)) {
            return self.type_error("import * needs a dict to import into");
        }
        self.note_star(target, module);
        let names: Vec<String> = match self.getattr_opt(module, "__all__")? {
            Some(all) => {
                let mut names = Vec::new();
                for n in self.list_of(&all)? {
                    names.push(self.name_of(&n, "__all__ item")?);
                }
                if let Value::Ref(m) = module
                    && self.heap.attr(*m, "__path__").is_some()
                {
                    let package = self.module_name(*m);
                    for n in &names {
                        if self.heap.attr(*m, n).is_none() {
                            self.load_opt(&format!("{package}.{n}"))?;
                        }
                    }
                }
                names
            }
            None => {
                let dict = match module {
                    Value::Ref(m) => self.heap.attrs(*m),
                    _ => return Ok(()),
                };
                self.heap
                    .the_dict(dict)
                    .keys()
                    .filter_map(Value::as_text)
                    .filter(|n| !n.starts_with('_'))
                    .map(str::to_owned)
                    .collect()
            }
        };
        for n in names {
            let v = self.getattr(module, &n)?;
            self.heap.set_item(target, &n, v);
        }
        Ok(())
    }

    /// A dict with the names of a namespace, for `locals()` and the like.
    pub(crate) fn namespace(&mut self, names: Vec<(Box<str>, Value)>) -> Ref {
        let mut d = Dict::default();
        for (n, v) in names {
            d.set_str(&n, v);
        }
        self.heap.dict(d)
    }
}
