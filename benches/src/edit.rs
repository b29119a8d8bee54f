//! Edits of a project: what a user would change, and which files that rewrites.

use std::collections::BTreeSet;

use fastrand::Rng;

use crate::model::{
    Class, ClassId, Function, FunctionId, Module, ModuleId, ModuleKind, Project, Role,
};

/// What an edit changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditKind {
    /// A constant or a statement in one body; what the function takes and answers stays.
    Body,
    /// What a function returns, so that this many functions (or the nearest number that
    /// there is, see [`Project::ripple_depths`]) return something else.
    Return(usize),
    /// What a function is called with, and so as many others.
    Argument(usize),
    /// A new attribute, set in the constructor and read in methods.
    AddAttribute,
    /// An attribute goes, with its uses.
    RemoveAttribute,
    /// A class gets another base.
    Rebase,
    /// A method is no longer overridden in a class, or is again.
    Override,
    /// A table of functions, or of prebuilt instances, changes.
    Table,
    /// A new function, called by one that there is.
    NewFunction,
    /// A function goes, with the calls to it.
    DeleteFunction,
    /// All bodies of a file are others, and it has new lines at its beginning.
    WholeFile,
    /// Only lines move.
    Lines,
    /// The last edit not yet reverted is undone.
    Revert,
    /// An error comes into one function.
    Flaw(Flaw),
}

/// A known error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// A list of an integer and a string.
    Union,
    /// An attribute that no class has.
    Attribute,
    /// A call with too many arguments.
    Arguments,
    /// A global name that is nowhere.
    Name,
    /// A line that does not parse.
    Syntax,
}

impl EditKind {
    /// Those that keep a program valid.
    pub const VALID: &'static [EditKind] = &[
        EditKind::Body,
        EditKind::Return(10),
        EditKind::Argument(10),
        EditKind::AddAttribute,
        EditKind::RemoveAttribute,
        EditKind::Rebase,
        EditKind::Override,
        EditKind::Table,
        EditKind::NewFunction,
        EditKind::DeleteFunction,
        EditKind::WholeFile,
        EditKind::Lines,
        EditKind::Revert,
    ];
}

impl Flaw {
    /// All flaws.
    pub const ALL: &'static [Flaw] = &[
        Flaw::Union,
        Flaw::Attribute,
        Flaw::Arguments,
        Flaw::Name,
        Flaw::Syntax,
    ];
}

/// What an edit did.
#[derive(Clone, Debug)]
pub struct Edit {
    /// What was asked for.
    pub kind: EditKind,
    /// For messages: what was edited.
    pub what: String,
    /// Files with a new text: paths as in [`Project::files`], in their order.
    pub files: Vec<(String, String)>,
}

/// What an edit replaced.
#[derive(Clone, Debug, Default)]
pub(crate) struct Undo {
    functions: Vec<(FunctionId, Function)>,
    classes: Vec<(ClassId, Class)>,
    modules: Vec<(ModuleId, Module)>,
    /// Modules to write again.
    touched: BTreeSet<ModuleId>,
}

impl Project {
    /// Applies an edit of a random kind that keeps the program valid.
    pub fn random_edit(&mut self, rng: &mut Rng) -> Edit {
        loop {
            let kind = *rng.choice(EditKind::VALID).expect("there are kinds");
            if let Some(edit) = self.edit(kind, rng) {
                return edit;
            }
        }
    }

    /// Applies an edit of this kind; None where nothing of the kind is there to edit.
    pub fn edit(&mut self, kind: EditKind, rng: &mut Rng) -> Option<Edit> {
        if kind == EditKind::Revert {
            let undo = self.history.pop()?;
            let touched = undo.touched.clone();
            self.restore(undo);
            return Some(self.written(kind, "the last edit".to_owned(), &touched));
        }
        // A random choice may have nothing to edit where another one has.
        let (what, undo) = (0..16).find_map(|_| {
            let mut undo = Undo::default();
            let what = self.apply(kind, rng, &mut undo)?;
            Some((what, undo))
        })?;
        let touched = undo.touched.clone();
        self.history.push(undo);
        Some(self.written(kind, what, &touched))
    }

    fn restore(&mut self, undo: Undo) {
        for (id, old) in undo.functions.into_iter().rev() {
            self.functions[id] = old;
        }
        for (id, old) in undo.classes.into_iter().rev() {
            self.classes[id] = old;
        }
        for (id, old) in undo.modules.into_iter().rev() {
            self.modules[id] = old;
        }
    }

    /// Writes modules again, and says which changed.
    fn written(&mut self, kind: EditKind, what: String, touched: &BTreeSet<ModuleId>) -> Edit {
        let mut files = Vec::new();
        for module in touched {
            let (path, text) = (self.path(*module), self.render(*module));
            if self.files[&path] != text {
                self.files.insert(path.clone(), text.clone());
                files.push((path, text));
            }
        }
        files.sort();
        Edit { kind, what, files }
    }

    fn change_function(&self, id: FunctionId, undo: &mut Undo) {
        undo.functions.push((id, self.functions[id].clone()));
        undo.touched.insert(self.functions[id].module);
    }

    fn change_class(&self, id: ClassId, undo: &mut Undo) {
        undo.classes.push((id, self.classes[id].clone()));
        undo.touched.insert(self.classes[id].module);
    }

    fn change_module(&self, id: ModuleId, undo: &mut Undo) {
        undo.modules.push((id, self.modules[id].clone()));
        undo.touched.insert(id);
    }

    /// Touches all modules of a class's package: they may mention what the class has.
    fn touch_package(&self, class: ClassId, undo: &mut Undo) {
        let package = self.modules[self.classes[class].module].package;
        for (id, module) in self.modules.iter().enumerate() {
            if module.package == package {
                undo.touched.insert(id);
            }
        }
    }

    fn any_function(&self, rng: &mut Rng, fits: impl Fn(&Function) -> bool) -> Option<FunctionId> {
        let at = rng.usize(..self.functions.len());
        (at..self.functions.len())
            .chain(0..at)
            .find(|id| !self.functions[*id].deleted && fits(&self.functions[*id]))
    }

    fn any_class(&self, rng: &mut Rng, fits: impl Fn(ClassId, &Class) -> bool) -> Option<ClassId> {
        let at = rng.usize(..self.classes.len());
        (at..self.classes.len())
            .chain(0..at)
            .find(|id| fits(*id, &self.classes[*id]))
    }

    fn any_module(&self, rng: &mut Rng, fits: impl Fn(&Module) -> bool) -> Option<ModuleId> {
        let at = rng.usize(..self.modules.len());
        (at..self.modules.len())
            .chain(0..at)
            .find(|id| fits(&self.modules[*id]))
    }

    /// Changes the model and answers what it changed.
    #[expect(clippy::too_many_lines, reason = "a table: an arm per kind of edit")]
    fn apply(&mut self, kind: EditKind, rng: &mut Rng, undo: &mut Undo) -> Option<String> {
        match kind {
            EditKind::Body => {
                let usual = |f: &Function| f.role.calls_others();
                let id = self.any_function(rng, usual)?;
                self.change_function(id, undo);
                self.functions[id].tweak += 1;
                Some(self.functions[id].name.clone())
            }
            EditKind::Flaw(flaw) => {
                let whole = |f: &Function| f.role == Role::Calc && f.flaw.is_none();
                let id = self.any_function(rng, whole)?;
                self.change_function(id, undo);
                self.functions[id].flaw = Some(flaw);
                Some(format!("{}: {flaw:?}", self.functions[id].name))
            }
            EditKind::Return(depth) | EditKind::Argument(depth) => {
                let ripple = (self.ripples.iter()).min_by_key(|r| r.depth.abs_diff(depth))?;
                let id = match kind {
                    EditKind::Return(_) => ripple.source,
                    _ => ripple.shore,
                };
                self.change_function(id, undo);
                self.functions[id].general ^= true;
                Some(self.functions[id].name.clone())
            }
            EditKind::AddAttribute => {
                let few = |_, c: &Class| c.attributes.len() < 6;
                let id = self.any_class(rng, few)?;
                self.change_class(id, undo);
                self.touch_package(id, undo);
                let number = rng.u32(1000..1_000_000);
                self.classes[id].attributes.push(number);
                Some(format!("{}.extra_{number}", self.classes[id].name))
            }
            EditKind::RemoveAttribute => {
                let id = self.any_class(rng, |_, c| !c.attributes.is_empty())?;
                self.change_class(id, undo);
                self.touch_package(id, undo);
                let attributes = &mut self.classes[id].attributes;
                let number = attributes.remove(rng.usize(..attributes.len()));
                Some(format!("{}.extra_{number}", self.classes[id].name))
            }
            EditKind::Rebase => {
                let id = self.any_class(rng, |_, c| c.base.is_some())?;
                // Classes stand in the order of definition: earlier ones of the package.
                let package = |c: ClassId| self.modules[self.classes[c].module].package;
                let old = self.classes[id].base;
                let bases: Vec<ClassId> = (0..id)
                    .filter(|c| package(*c) == package(id) && old != Some(*c))
                    .collect();
                let base = *rng.choice(&bases)?;
                self.change_class(id, undo);
                self.classes[id].base = Some(base);
                let (name, base) = (&self.classes[id].name, &self.classes[base].name);
                Some(format!("{name}({base})"))
            }
            EditKind::Override => {
                let id = self.any_class(rng, |_, c| c.base.is_some() && !c.methods.is_empty())?;
                let method = *rng.choice(&self.classes[id].methods)?;
                self.change_function(method, undo);
                self.functions[method].deleted ^= true;
                let (class, method) = (&self.classes[id], &self.functions[method]);
                Some(format!("{}.{}", class.name, method.name))
            }
            EditKind::Table => {
                let id = self.any_module(rng, |m| m.kind == ModuleKind::Registry)?;
                self.change_module(id, undo);
                let package = self.modules[id].package;
                match rng.u8(..3) {
                    0 => {
                        let (class, _) = *rng.choice(&self.modules[id].nodes)?;
                        self.modules[id].nodes.push((class, rng.u32(1..40)));
                    }
                    1 if self.modules[id].table.len() > 2 => {
                        // What only the table reached would be gone: it stays an entry.
                        let at = rng.usize(..self.modules[id].table.len());
                        let gone = self.modules[id].table.remove(at);
                        if !self.modules[id].entries.contains(&gone) {
                            self.modules[id].entries.push(gone);
                        }
                    }
                    _ => {
                        let fits = |f: &FunctionId| {
                            let function = &self.functions[*f];
                            function.role == Role::Calc
                                && !function.deleted
                                && !self.modules[id].table.contains(f)
                        };
                        let new: Vec<FunctionId> =
                            self.plain_functions(package).filter(fits).collect();
                        let new = *rng.choice(&new)?;
                        self.modules[id].table.push(new);
                    }
                }
                Some(self.modules[id].name.clone())
            }
            EditKind::NewFunction => {
                let few = |f: &Function| f.role.calls_others() && f.calls.len() < 8;
                let caller = self.any_function(rng, few)?;
                let module = self.functions[caller].module;
                self.change_function(caller, undo);
                self.change_module(module, undo);
                let callee = self.named_function(module, Role::Calc, rng);
                // Its number stays taken when it is gone again.
                let mut gone = self.functions[callee].clone();
                gone.deleted = true;
                undo.functions.push((callee, gone));
                let target = self.any_function(rng, |f| f.role == Role::Calc)?;
                if target != callee {
                    self.functions[callee].calls.push(target);
                }
                self.functions[caller].calls.push(callee);
                Some(self.functions[callee].name.clone())
            }
            EditKind::DeleteFunction => {
                // A table may not become empty, and roots of ripples stay.
                let in_table = |id: FunctionId| self.modules.iter().any(|m| m.table.contains(&id));
                let plain = |f: &Function| !f.role.is_method() && !f.role.ripples();
                let id = (0..20)
                    .filter_map(|_| self.any_function(rng, plain))
                    .find(|id| !in_table(*id))?;
                self.change_function(id, undo);
                for caller in &self.functions {
                    if caller.calls.contains(&id) {
                        undo.touched.insert(caller.module);
                    }
                }
                for (module, m) in self.modules.iter().enumerate() {
                    if m.entries.contains(&id) {
                        undo.touched.insert(module);
                    }
                }
                self.functions[id].deleted = true;
                Some(self.functions[id].name.clone())
            }
            EditKind::WholeFile => {
                let id = self.any_module(rng, |m| m.kind != ModuleKind::Ripple)?;
                self.change_module(id, undo);
                self.modules[id].comments += rng.u32(1..4);
                let methods = (self.modules[id].classes.iter())
                    .flat_map(|c| self.classes[*c].methods.iter().copied());
                let all: Vec<FunctionId> = (self.modules[id].functions.iter().copied())
                    .chain(methods)
                    .collect();
                for f in all {
                    self.change_function(f, undo);
                    self.functions[f].seed = rng.u64(..);
                }
                Some(self.modules[id].name.clone())
            }
            EditKind::Lines => {
                let id = self.any_module(rng, |_| true)?;
                self.change_module(id, undo);
                self.modules[id].comments += 1;
                Some(self.modules[id].name.clone())
            }
            EditKind::Revert => None,
        }
    }
}
