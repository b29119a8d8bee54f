//! What can be imported.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use taipan_base::{Db, File, FileContents, SHIPPED, Span, TextRange};
use taipan_interp::image;

use super::{Completion, CompletionKind, module_members};
use crate::index::file_index;
use crate::program::{Home, Workspace};
use crate::symbol::Resolver;

/// Where the modules of the standard library are that ship with Taipan.
const LIBRARY: &str = "lib_python";

/// Modules and their globals, if an import statement is being written.
pub(super) fn completions(
    r: &Resolver<'_>,
    workspace: &Workspace,
    file: File,
    before: &str,
) -> Option<Vec<Completion>> {
    let wanted = Wanted::of(before)?;
    let folders = Folders::new(r, workspace, file);
    Some(match wanted {
        Wanted::Module { dots, package } => folders.modules(dots, &package),
        Wanted::Name { dots, module } => {
            let mut out = match &r.home {
                Some(home) => folders.globals(home, dots, &module),
                None => Vec::new(),
            };
            out.extend(folders.modules(dots, &module));
            out
        }
    })
}

/// Whether an import statement is being written at the end of a text.
pub(super) fn is_import(before: &str) -> bool {
    Wanted::of(before).is_some()
}

/// What an import statement lacks.
#[derive(PartialEq, Debug)]
enum Wanted {
    /// A module in a package (in the folders of the program, if it has no name).
    Module { dots: usize, package: String },
    /// A global of a module, or a module in it.
    Name { dots: usize, module: String },
}

impl Wanted {
    /// By the text up to the name that is being written.
    fn of(before: &str) -> Option<Wanted> {
        let line = logical_line(before)?;
        let line = line.trim_start();
        let (word, rest) = line.split_once([' ', '\t'])?;
        match word {
            "import" => {
                let last = rest.rsplit(',').next().unwrap_or("").trim_start();
                let package = dotted(last)?;
                Some(Wanted::Module { dots: 0, package })
            }
            "from" => {
                let rest = rest.trim_start();
                let dots = rest.len() - rest.trim_start_matches('.').len();
                let rest = &rest[dots..];
                match rest.split_once([' ', '\t']) {
                    None => {
                        let package = dotted(rest)?;
                        Some(Wanted::Module { dots, package })
                    }
                    Some((module, names)) => {
                        let names = names.trim_start().strip_prefix("import")?;
                        let list = names.trim_start_matches(|c: char| {
                            c.is_alphanumeric() || matches!(c, '_' | ',' | '(' | ' ' | '\t' | '\n')
                        });
                        let last = names.trim_end().rsplit([',', '(']).next().unwrap_or("");
                        let named = !last.trim().is_empty();
                        let module = module.to_owned();
                        (list.is_empty() && !named && names.starts_with([' ', '\t', '(']))
                            .then_some(Wanted::Name { dots, module })
                    }
                }
            }
            _ => None,
        }
    }
}

/// The package in front of the last dot, if there is nothing but a dotted name.
fn dotted(text: &str) -> Option<String> {
    let plain = text
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
    let package = text.rsplit_once('.').map_or("", |(package, _)| package);
    // What follows the last dot has been taken off.
    (plain && (text.is_empty() || text.ends_with('.'))).then(|| package.to_owned())
}

/// The statement that the text ends with: its last line, or the lines since an opening
/// parenthesis of an import.
fn logical_line(before: &str) -> Option<&str> {
    let start = before.rfind('\n').map_or(0, |i| i + 1);
    let line = &before[start..];
    let line = line.rsplit(';').next().unwrap_or(line);
    if line.trim_start().starts_with("from ") || line.trim_start().starts_with("import ") {
        return Some(line);
    }
    let open = before.rfind('(')?;
    if before[open..].contains([')', '#', '"', '\'']) {
        return None;
    }
    let start = before[..open].rfind('\n').map_or(0, |i| i + 1);
    before[start..]
        .trim_start()
        .starts_with("from ")
        .then(|| &before[start..])
}

/// The folders in which modules are looked for.
struct Folders<'a> {
    db: &'a taipan_driver::Database,
    file: File,
    /// In the order in which they count.
    all: Vec<Utf8PathBuf>,
    loaded: Vec<String>,
}

impl<'a> Folders<'a> {
    fn new(r: &Resolver<'a>, workspace: &Workspace, file: File) -> Self {
        let db = r.db;
        let path = file.path(db);
        let mut all: Vec<Utf8PathBuf> = Vec::new();
        let mut add = |folder: &Utf8Path| {
            if !all.iter().any(|f| f == folder) {
                all.push(folder.to_owned());
            }
        };
        path.parent().into_iter().for_each(&mut add);
        let home = r.home.as_ref().map(|h| h.program);
        for p in home.iter().chain(&workspace.programs) {
            let around = p.target(db).ancestors().skip(1);
            // The target's own folder, and the one that its package is in.
            let mut around = around.peekable();
            around.peek().into_iter().for_each(|f| add(f));
            let root = around.find(|f| !is_text(db, &f.join("__init__.py")));
            root.into_iter().for_each(&mut add);
            p.options(db).path.iter().for_each(|f| add(f));
        }
        for (folder, options) in &workspace.folders {
            if path.starts_with(folder) {
                options.path.iter().for_each(|f| add(f));
            }
        }
        let loaded = r.home.as_ref().map(|h| {
            let image = image(db, h.program);
            let mut names: Vec<String> = image.modules.keys().map(|m| m.to_string()).collect();
            names.sort();
            names
        });
        Folders {
            db,
            file,
            all,
            loaded: loaded.unwrap_or_default(),
        }
    }

    /// The folder that a number of dots stands for.
    fn relative(&self, dots: usize) -> Option<Utf8PathBuf> {
        let path = self.file.path(self.db);
        path.ancestors().nth(dots).map(Utf8Path::to_owned)
    }

    /// The modules and packages in a package.
    fn modules(&self, dots: usize, package: &str) -> Vec<Completion> {
        let inside = package.replace('.', "/");
        let mut found: BTreeMap<String, Option<Utf8PathBuf>> = BTreeMap::new();
        let folders = match dots {
            0 => self.all.clone(),
            dots => self.relative(dots).into_iter().collect(),
        };
        for folder in &folders {
            let folder = match inside.is_empty() {
                true => folder.clone(),
                false => folder.join(&inside),
            };
            self.in_folder(&folder, &mut found);
        }
        if dots == 0 {
            shipped("", &inside, &mut found);
            shipped(LIBRARY, &inside, &mut found);
            for name in &self.loaded {
                let rest = match package {
                    "" => Some(&**name),
                    package => name.strip_prefix(package).and_then(|r| r.strip_prefix('.')),
                };
                if let Some(rest) = rest.filter(|r| !r.contains('.')) {
                    found.entry(rest.to_owned()).or_default();
                }
            }
        }
        // What nobody imports.
        found.retain(|name, _| {
            let own = matches!(
                &**name,
                LIBRARY | "taipan_prelude" | "__init__" | "__builtin__"
            );
            !(own || name.starts_with("_taipan"))
        });
        found
            .into_iter()
            .map(|(name, path)| Completion {
                definition: path.map(|p| Span {
                    file: self.db.files().get(self.db, &p),
                    range: TextRange::new(0, 0),
                }),
                ..Completion::new(&name, CompletionKind::Module, None)
            })
            .collect()
    }

    fn in_folder(&self, folder: &Utf8Path, found: &mut BTreeMap<String, Option<Utf8PathBuf>>) {
        let system = self.db.system();
        let FileContents::Directory(names) = system.read(folder) else {
            return;
        };
        for name in names.iter() {
            let path = folder.join(&**name);
            let (module, path) = match name.strip_suffix(".py") {
                Some(stem) => (stem, path),
                None => (&**name, path.join("__init__.py")),
            };
            if is_identifier(module) && is_text(self.db, &path) {
                found
                    .entry(module.to_owned())
                    .or_default()
                    .get_or_insert(path);
            }
        }
    }

    /// The globals of a module that the program has loaded; else what its text binds.
    fn globals(&self, home: &Home<'_>, dots: usize, module: &str) -> Vec<Completion> {
        let mut out = Vec::new();
        let name = match dots {
            0 => module.to_owned(),
            _ => String::new(),
        };
        let loaded = self.beside(home, module).filter(|_| dots == 0);
        if let Some(m) = loaded.or_else(|| home.module_named(&name)) {
            module_members(home, m, &mut out);
            return out;
        }
        let Some(file) = self.source(dots, module) else {
            return out;
        };
        if let Some(m) = home.module_of(file) {
            module_members(home, m, &mut out);
            return out;
        }
        let index = file_index(self.db, file);
        for t in index.tokens.iter().filter(|t| t.role.binds()) {
            let (scope, name) = index.variable(t);
            if scope != 0 || name.starts_with("__") {
                continue;
            }
            let kind = match t.role {
                crate::Role::Function(_) => CompletionKind::Function,
                crate::Role::Class(_) => CompletionKind::Class,
                _ => CompletionKind::Global,
            };
            out.push(Completion {
                definition: Some(Span {
                    file,
                    range: t.range,
                }),
                ..Completion::new(name, kind, None)
            });
        }
        out
    }

    /// A module that the program has loaded from the folder of the file.
    fn beside(&self, home: &Home<'_>, module: &str) -> Option<taipan_graph::ObjId> {
        let path = self.relative(1)?.join(module.replace('.', "/"));
        let source = [path.with_extension("py"), path.join("__init__.py")];
        let source = source.into_iter().find(|p| is_text(self.db, p))?;
        home.module_of(self.db.files().get(self.db, &source))
    }

    /// The source of a module.
    fn source(&self, dots: usize, module: &str) -> Option<File> {
        let inside = module.replace('.', "/");
        let mut folders = match dots {
            0 => self.all.clone(),
            dots => self.relative(dots).into_iter().collect(),
        };
        if dots == 0 {
            folders.push(SHIPPED.into());
            folders.push(Utf8Path::new(SHIPPED).join(LIBRARY));
        }
        let paths = folders.iter().flat_map(|f| {
            let whole = match inside.is_empty() {
                true => f.clone(),
                false => f.join(&inside),
            };
            [
                Utf8PathBuf::from(format!("{whole}.py")),
                whole.join("__init__.py"),
            ]
        });
        let found = paths.into_iter().find(|p| is_text(self.db, p))?;
        Some(self.db.files().get(self.db, &found))
    }
}

fn is_text(db: &taipan_driver::Database, path: &Utf8Path) -> bool {
    matches!(db.system().read(path), FileContents::Text(_))
}

fn is_identifier(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// What ships inside the binary below a folder.
fn shipped(root: &str, inside: &str, found: &mut BTreeMap<String, Option<Utf8PathBuf>>) {
    let folder = match (root, inside) {
        (root, "") => root.to_owned(),
        ("", inside) => inside.to_owned(),
        (root, inside) => format!("{root}/{inside}"),
    };
    for (path, _) in taipan_prelude::SHIPPED {
        let rest = match &*folder {
            "" => Some(*path),
            folder => path.strip_prefix(folder).and_then(|r| r.strip_prefix('/')),
        };
        let Some(rest) = rest else { continue };
        let name = match rest.split_once('/') {
            Some((package, "__init__.py")) => package,
            Some(_) => continue,
            None => match rest.strip_suffix(".py") {
                Some(module) => module,
                None => continue,
            },
        };
        let path = Utf8Path::new(SHIPPED).join(path);
        found
            .entry(name.to_owned())
            .or_default()
            .get_or_insert(path);
    }
}

#[cfg(test)]
mod tests {
    use super::Wanted;

    #[test]
    fn imports_that_are_being_written() {
        let module = |dots, package: &str| {
            let package = package.to_owned();
            Some(Wanted::Module { dots, package })
        };
        let name = |dots, module: &str| {
            let module = module.to_owned();
            Some(Wanted::Name { dots, module })
        };
        for (text, wanted) in [
            ("import ", module(0, "")),
            (
                "x = 1\n    import os, rpython.rlib.",
                module(0, "rpython.rlib"),
            ),
            ("from ", module(0, "")),
            ("from rpython.rlib.", module(0, "rpython.rlib")),
            ("from .", module(1, "")),
            ("from ..a.", module(2, "a")),
            ("from a.b import ", name(0, "a.b")),
            ("from a import b, ", name(0, "a")),
            ("from . import ", name(1, "")),
            ("from a import (b,\n    c,\n    ", name(0, "a")),
            ("from a import b as ", None),
            ("import a as ", None),
            ("from a import b\nf(", None),
            ("f(a, ", None),
            ("importer.", None),
            ("x.", None),
        ] {
            assert_eq!(Wanted::of(text), wanted, "{text}");
        }
    }
}
