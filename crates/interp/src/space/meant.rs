//! What may have been meant by a name that is missing. Exceptions note which one is; candidates
//! are looked for only when one of them ends import time.

use std::sync::Arc;

use camino::Utf8PathBuf;
use taipan_base::{FileContents, Help, Problem, SHIPPED, did_you_mean};

use taipan_language::instead_of_module;

use super::heap::{Kind, Ref};
use super::import::LIB_PYTHON;
use super::modules;
use super::types::ty;
use super::value::Value;
use super::{Interp, R};

/// A name that is missing somewhere.
#[derive(Clone, Debug)]
pub(crate) enum Lacks {
    /// A variable of a module.
    Global(Ref, Box<str>),
    /// An attribute of an object.
    Attribute(Value, Box<str>),
    /// A module.
    Module {
        /// Its dotted name.
        name: Box<str>,
        /// Whether the exception's text has all of the name, not only its end.
        is_named: bool,
    },
    /// A parameter of a function, which has these.
    Parameter(Box<str>, Arc<[Box<str>]>),
}

/// The remedy for a standard module without source.
fn not_shipped(module: &str) -> String {
    match instead_of_module(module) {
        Some(instead) => format!("`{module}` does not ship with Taipan: {instead}"),
        None => format!("`{module}` does not ship with Taipan"),
    }
}

impl Interp<'_> {
    /// Raises a builtin exception about a missing name.
    pub(crate) fn raise_lacking<T>(
        &mut self,
        class: Ref,
        message: impl AsRef<str>,
        lacks: Lacks,
    ) -> R<T> {
        let raised = self.raise(class, message);
        if let Err(taipan_engine::Unwind::Raise(raised)) = &raised
            && let Value::Ref(e) = &raised.1
        {
            self.heap.set_lacking(*e, lacks);
        }
        raised
    }

    /// The question about the name that is most like a missing one.
    pub(crate) fn meant(&self, lacks: &Lacks) -> Option<Help> {
        match lacks {
            Lacks::Global(globals, name) => {
                let own = self.names_in(Some(*globals));
                let builtin = self.names_in(Some(self.builtins));
                did_you_mean(name, own.chain(builtin))
            }
            Lacks::Attribute(obj, name) => {
                if let Some(module) = self.name_of_empty(obj) {
                    return Some(not_shipped(&module).into());
                }
                let own = match obj {
                    Value::Ref(r) => self.heap.get(*r).attrs,
                    _ => None,
                };
                let class = match obj {
                    Value::Ref(r) if self.heap.class(*r).is_some() => *r,
                    _ => self.heap.type_of(obj),
                };
                let mro = self.heap.the_class(class).mro.iter();
                // What a module has in common with all objects is not meant.
                let of_class = mro
                    .filter(|_| class != ty::MODULE)
                    .flat_map(|c| self.names_in(self.heap.get(*c).attrs));
                did_you_mean(name, self.names_in(own).chain(of_class))
            }
            Lacks::Module { name, .. } => {
                let moved = module_today(name).map(|new| format!("`{name}` is `{new}` today"));
                (moved.map(Help::from))
                    .or_else(|| instead_of_module(name).map(Help::from))
                    .or_else(|| self.similar_module(name))
            }
            Lacks::Parameter(name, there) => did_you_mean(name, there.iter().map(|p| &**p)),
        }
    }

    /// The data of a diagnostic about a missing name.
    pub(crate) fn problem(&self, lacks: &Lacks) -> Option<Problem> {
        Some(match lacks {
            Lacks::Global(globals, name) => {
                let module = self.heap.item(*globals, "__name__");
                Problem::Undefined {
                    module: module?.as_text()?.into(),
                    name: name.clone(),
                }
            }
            Lacks::Attribute(of, name) => {
                let kind = of.as_ref().map(|r| self.heap.kind(r));
                let name = name.clone();
                match kind {
                    Some(Kind::Module(module)) => Problem::ModuleAttribute {
                        module: (**module).into(),
                        name,
                    },
                    _ => Problem::Attribute { name },
                }
            }
            Lacks::Module { name, .. } => Problem::NoModule { name: name.clone() },
            Lacks::Parameter(..) => return None,
        })
    }

    fn names_in(&self, dict: Option<Ref>) -> impl Iterator<Item = &str> {
        let dict = dict.and_then(|d| self.heap.dict_of(d));
        dict.into_iter()
            .flat_map(|d| d.keys())
            .filter_map(Value::as_text)
    }

    /// Looks for the first part of a dotted name that is missing.
    fn similar_module(&self, name: &str) -> Option<Help> {
        let mut package = "";
        for part in name.split('.') {
            let whole = match package {
                "" => part.to_owned(),
                _ => format!("{package}.{part}"),
            };
            if self.loaded(&whole).is_some() {
                package = &name[..whole.len()];
                continue;
            }
            let names = self.modules_in(package);
            return did_you_mean(part, names.iter().map(String::as_str));
        }
        None
    }

    /// The modules of a package, or those that need none.
    fn modules_in(&self, package: &str) -> Vec<String> {
        let mut dirs = self.search_path();
        let mut names: Vec<String> = Vec::new();
        if package.is_empty() {
            dirs.push(LIB_PYTHON.into());
            dirs.push(SHIPPED.into());
            names.extend(modules::names().map(str::to_owned));
        } else {
            let path = self
                .loaded(package)
                .and_then(|p| self.heap.attr(p, "__path__"));
            let list = path
                .and_then(Value::as_ref)
                .and_then(|l| self.heap.list_items(l));
            let texts = list.into_iter().flatten().filter_map(Value::as_text);
            dirs = texts.map(Utf8PathBuf::from).collect();
        }
        for dir in dirs {
            let FileContents::Directory(entries) = self.file_at(&dir).contents(self.db) else {
                continue;
            };
            for entry in entries.iter() {
                if let Some(module) = entry.strip_suffix(".py") {
                    names.push(module.to_owned());
                } else if !entry.contains('.') && self.is_package(&dir.join(&**entry)) {
                    names.push(entry.to_string());
                }
            }
        }
        names.retain(|n| n != "__init__");
        names
    }
}

/// Packages of the toolchain under the names that they had as parts of PyPy's.
const MOVED: [(&str, &str); 8] = [
    ("pypy.annotation", "rpython.annotator"),
    ("pypy.config", "rpython.config"),
    ("pypy.jit", "rpython.jit"),
    ("pypy.objspace.flow", "rpython.flowspace"),
    ("pypy.rlib", "rpython.rlib"),
    ("pypy.rpython", "rpython.rtyper"),
    ("pypy.tool", "rpython.tool"),
    ("pypy.translator", "rpython.translator"),
];

/// The shipped module that once had another name.
fn module_today(name: &str) -> Option<String> {
    MOVED.iter().find_map(|(old, new)| {
        let rest = name.strip_prefix(old)?;
        let today = format!("{new}{rest}");
        let path = today.replace('.', "/");
        let ends = [".py", "/__init__.py"];
        let ships = ends
            .iter()
            .any(|end| taipan_prelude::shipped(&format!("{path}{end}")).is_some());
        (ships && (rest.is_empty() || rest.starts_with('.'))).then_some(today)
    })
}
