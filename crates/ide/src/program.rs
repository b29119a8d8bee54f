//! The programs of a workspace, and the objects of one that a file's names stand for.

use std::collections::BTreeSet;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use rustc_hash::FxHashMap;
use taipan_annotator::{RootSet, Roots, Spec, specs_of};
use taipan_base::{Db, File, Program, Span, TextRange};
use taipan_code::scope::ScopeNode;
use taipan_code::{CodeId, code_spans, module_codes, test_codes};
use taipan_driver::{Database, LoadOptions, entry_roots, module_of};
use taipan_graph::{Const, ObjId};
use taipan_interp::{
    ModuleName, Name, ObjData, Object, class_attr, module_global, module_named, object,
    program_files,
};

use crate::index::file_index;

/// The programs that an editor has to do with, in the order in which they count: what
/// is said of a file is what it is in the first program that it belongs to.
#[derive(Clone, Default, Debug)]
pub struct Workspace {
    /// The programs.
    pub programs: Vec<Program>,
    /// Folders of RPython, with how their modules are found: a file in them that no
    /// program reaches is looked at by itself.
    pub folders: Vec<(Utf8PathBuf, LoadOptions)>,
}

/// What the folders of a workspace hold besides its programs.
#[derive(Clone, Default, Debug)]
pub struct Others {
    /// The files of Python that hold the name in question; some may belong to programs.
    pub files: Vec<File>,
    /// The names of all modules and packages in the folders.
    pub names: BTreeSet<String>,
}

impl Others {
    /// Takes note of the modules and packages in the path of a file of Python.
    pub fn note(&mut self, path: &Utf8Path) {
        for part in path.components() {
            let name = part.as_str();
            let name = name.strip_suffix(".py").unwrap_or(name);
            if !self.names.contains(name) {
                self.names.insert(name.to_owned());
            }
        }
    }
}

/// A place in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FilePosition {
    /// The file.
    pub file: File,
    /// Bytes from its start.
    pub offset: u32,
}

/// A file as part of a program.
#[derive(Clone, Copy)]
pub(crate) struct Home<'db> {
    pub(crate) db: &'db Database,
    pub(crate) program: Program,
    /// Where its annotation starts; none without an entry point.
    pub(crate) roots: Option<Roots>,
}

impl Workspace {
    /// The first program that a file belongs to, if only as its own target.
    pub(crate) fn home<'db>(&self, db: &'db Database, file: File) -> Option<Home<'db>> {
        let program = self.program_of(db, file).or_else(|| self.alone(db, file));
        program.map(|p| Home::new(db, p))
    }

    /// The first program that reaches a file.
    pub(crate) fn program_of(&self, db: &Database, file: File) -> Option<Program> {
        let mut all = self.programs.iter().copied();
        all.find(|p| program_files(db, *p).contains(&file))
    }

    /// The program whose target is a file of RPython that no program reaches.
    pub(crate) fn alone(&self, db: &Database, file: File) -> Option<Program> {
        let path = file.path(db);
        let (_, options) = self.folders.iter().find(|(f, _)| path.starts_with(f))?;
        (path.extension() == Some("py") && file.exists(db))
            .then(|| db.program(path.clone(), options.clone()))
    }
}

impl Workspace {
    /// The program whose target is a file that no program reaches, as a test module: where
    /// the folder says nothing, its modules are found as those of any program.
    pub(crate) fn test_module(&self, db: &Database, file: File) -> Option<Program> {
        let path = file.path(db);
        let known = self.folders.iter().find(|(f, _)| path.starts_with(f));
        let mut options = known.map(|(_, o)| o.clone()).unwrap_or_default();
        options.tests = true;
        (path.extension() == Some("py") && file.exists(db))
            .then(|| db.program(path.clone(), options))
    }
}

impl<'db> Home<'db> {
    pub(crate) fn new(db: &'db Database, program: Program) -> Self {
        Home {
            db,
            program,
            roots: match program.options(db).tests {
                true => Some(Roots::new(
                    db,
                    program,
                    RootSet::Tests { except: [].into() },
                    false,
                )),
                false => entry_roots(db, program).ok(),
            },
        }
    }

    /// The code of a scope as this program has it: a test module has codes of its own.
    pub(crate) fn own_code(&self, code: CodeId) -> CodeId {
        self.translated(code, |file| {
            let (plain, own) = (module_codes(self.db, file), test_codes(self.db, file));
            (plain.ids(), own.ids())
        })
    }

    /// The code that the index of a file has for one of this program's.
    pub(crate) fn plain_code(&self, code: CodeId) -> CodeId {
        self.translated(code, |file| {
            let (plain, own) = (module_codes(self.db, file), test_codes(self.db, file));
            (own.ids(), plain.ids())
        })
    }

    fn translated<'a>(
        &self,
        code: CodeId,
        lists: impl FnOnce(File) -> (&'a [CodeId], &'a [CodeId]),
    ) -> CodeId {
        let file = code.file(self.db);
        let tests = file.filter(|f| {
            self.program.options(self.db).tests && f.path(self.db) == self.program.target(self.db)
        });
        let Some(file) = tests else { return code };
        let (from, to) = lists(file);
        let at = from.iter().position(|c| *c == code);
        let found = at.and_then(|at| to.get(at).copied());
        found
            .filter(|c| c.qualname(self.db) == code.qualname(self.db))
            .unwrap_or(code)
    }

    pub(crate) fn object(&self, id: ObjId) -> Option<Arc<ObjData>> {
        object(self.db, Object::new(self.db, self.program, id)).clone()
    }

    fn key(&self, obj: ObjId, name: &str) -> Name {
        Name::new(self.db, self.program, obj, name)
    }

    pub(crate) fn global(&self, module: ObjId, name: &str) -> Option<Const> {
        module_global(self.db, self.key(module, name)).clone()
    }

    pub(crate) fn class_attr(&self, class: ObjId, name: &str) -> Option<(ObjId, Const)> {
        class_attr(self.db, self.key(class, name)).clone()
    }

    pub(crate) fn module_named(&self, name: &str) -> Option<ObjId> {
        let key = ModuleName::new(self.db, self.program, name);
        module_named(self.db, key)
            .as_ref()
            .and_then(|r| r.as_ref().ok().copied())
    }

    /// The module object that a file became.
    pub(crate) fn module_of(&self, file: File) -> Option<ObjId> {
        module_of(self.db, self.program, file)
    }

    /// The file that a module was made from.
    pub(crate) fn file_of_module(&self, module: ObjId) -> Option<File> {
        match self.global(module, "__file__")? {
            Const::Str(path) => {
                let path = std::str::from_utf8(&path).ok()?;
                Some(self.db.files().get(self.db, path.into()))
            }
            _ => None,
        }
    }

    /// The class or function object that a qualified name of a file stands for. What
    /// functions make when they run has no such name.
    fn named(&self, code: CodeId) -> Option<ObjId> {
        let file = code.file(self.db)?;
        let mut at = self.module_of(file)?;
        let mut in_module = true;
        for part in code.qualname(self.db).split('.') {
            let found = match in_module {
                true => self.global(at, part)?,
                false => self.class_attr(at, part)?.1,
            };
            in_module = false;
            at = self.underlying(&found)?;
        }
        Some(at)
    }

    /// The object itself behind method and descriptor objects.
    fn underlying(&self, value: &Const) -> Option<ObjId> {
        let Const::Obj(id) = value else { return None };
        match self.object(*id).as_deref() {
            Some(
                ObjData::StaticMethod(Const::Obj(f))
                | ObjData::ClassMethod(Const::Obj(f))
                | ObjData::Method {
                    im_func: Const::Obj(f),
                    ..
                },
            ) => Some(*f),
            _ => Some(*id),
        }
    }

    /// The class object that a class body made.
    pub(crate) fn class_of(&self, code: CodeId) -> Option<ObjId> {
        let id = self.named(code)?;
        matches!(self.object(id).as_deref(), Some(ObjData::Class(c)) if !c.builtin).then_some(id)
    }

    /// The function objects that a body is of, as far as their names tell.
    pub(crate) fn function_of(&self, code: CodeId) -> Option<ObjId> {
        let id = self.named(code)?;
        matches!(self.object(id).as_deref(), Some(ObjData::Function(f)) if f.code == self.own_code(code))
            .then_some(id)
    }

    /// The specialisations in which a body is called, in a stable order.
    pub(crate) fn specs(&self, code: CodeId) -> Vec<Spec> {
        let Some(roots) = self.roots else {
            return Vec::new();
        };
        if let Some(f) = self.function_of(code)
            && let Some(specs) = specs_by_function(self.db, roots).get(&f)
        {
            return specs.clone();
        }
        // A copy of a mixin's function, or made by another function.
        let all = specs_by_code(self.db, roots);
        all.get(&self.own_code(code)).cloned().unwrap_or_default()
    }

    /// Place of the name of what an object was made from.
    pub(crate) fn place(&self, id: ObjId) -> Option<Span> {
        match self.object(id).as_deref()? {
            ObjData::Function(f) => Some(Span {
                file: f.code.file(self.db)?,
                range: code_spans(self.db, f.code).name,
            }),
            ObjData::Class(c) if !c.builtin => {
                let file = self.file_of_module(self.module_named(&c.module)?)?;
                let index = file_index(self.db, file);
                let scopes = &index.scopes.scopes;
                let class = scopes.iter().rev().find_map(|s| match s.node {
                    ScopeNode::Class(id) if s.qualname.rsplit('.').next() == Some(&*c.name) => {
                        Some(id)
                    }
                    _ => None,
                })?;
                Some(Span {
                    file,
                    range: index.parsed.spans.class(class).name,
                })
            }
            ObjData::Module { .. } => Some(Span {
                file: self.file_of_module(id)?,
                range: TextRange::new(0, 0),
            }),
            ObjData::StaticMethod(f) | ObjData::ClassMethod(f) => self.place(self.underlying(f)?),
            ObjData::Method { im_func, .. } => self.place(self.underlying(im_func)?),
            _ => None,
        }
    }

    /// The body of a class object, if its file still has it.
    pub(crate) fn code_of_class(&self, class: ObjId) -> Option<CodeId> {
        let place = self.place(class)?;
        let index = file_index(self.db, place.file);
        let ids = module_codes(self.db, place.file).ids();
        let scope = index.scopes.scopes.iter().position(|s| match s.node {
            ScopeNode::Class(c) => index.parsed.spans.class(c).name == place.range,
            _ => false,
        })?;
        ids.get(scope).copied()
    }

    /// `module.name` of a class, for people.
    pub(crate) fn class_name(&self, class: ObjId) -> String {
        match self.object(class).as_deref() {
            Some(ObjData::Class(c)) => c.name.to_string(),
            _ => "object".to_owned(),
        }
    }

    /// A class and those it is made from, builtin ones left out, itself first.
    pub(crate) fn mro(&self, class: ObjId) -> Vec<ObjId> {
        let Some(ObjData::Class(c)) = self.object(class).as_deref().cloned() else {
            return Vec::new();
        };
        let user =
            |c: &ObjId| matches!(self.object(*c).as_deref(), Some(ObjData::Class(d)) if !d.builtin);
        c.mro.iter().copied().filter(user).collect()
    }
}

/// The specialisations of each function.
#[salsa::tracked]
fn specs_by_function(db: &dyn Db, roots: Roots) -> FxHashMap<taipan_graph::ObjId, Vec<Spec>> {
    let mut out: FxHashMap<ObjId, Vec<Spec>> = FxHashMap::default();
    for s in specs_of(db, roots).iter() {
        out.entry(s.func(db)).or_default().push(*s);
    }
    out
}

/// The specialisations of each body.
#[salsa::tracked]
fn specs_by_code(db: &dyn Db, roots: Roots) -> FxHashMap<CodeId, Vec<Spec>> {
    let mut out: FxHashMap<CodeId, Vec<Spec>> = FxHashMap::default();
    for s in specs_of(db, roots).iter() {
        let data = object(db, Object::new(db, roots.program(db), s.func(db)));
        if let Some(ObjData::Function(f)) = data.as_deref() {
            out.entry(f.code).or_default().push(*s);
        }
    }
    out
}
