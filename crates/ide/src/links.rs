//! Modules named in imports, as links to their files.

use taipan_base::{File, TextRange};
use taipan_driver::Database;

use crate::index::{Role, file_index};
use crate::program::Workspace;
use crate::symbol::{Resolver, Symbol};

/// The names of modules in the imports of a file, with the files that they stand for.
pub fn links(db: &Database, workspace: &Workspace, file: File) -> Vec<(TextRange, File)> {
    let index = file_index(db, file);
    let r = Resolver::of(db, workspace, file);
    let mut out = Vec::new();
    for t in &index.tokens {
        if !matches!(t.role, Role::Module(..) | Role::Imported(..)) {
            continue;
        }
        if let [Symbol::Module(to)] = &r.symbols(file, &index, t)[..] {
            out.push((t.range, *to));
        }
    }
    out
}
