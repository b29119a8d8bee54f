//! What can be done with functions, above them.

use taipan_base::{File, TextRange};
use taipan_code::scope::ScopeNode;
use taipan_driver::Database;

use crate::index::{FileIndex, Role, file_index};
use crate::program::{Home, Workspace};

/// Something that can be done with a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lens {
    /// The function's name.
    pub range: TextRange,
    /// What.
    pub kind: LensKind,
}

/// What can be done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LensKind {
    /// Run the program that starts here.
    Run,
    /// Make an executable of it.
    Build,
    /// Run the test of that name.
    Test(String),
    /// Show the flow graph of the function, by its qualified name.
    Graph(String),
    /// Nothing: why it was compiled again.
    Reran(String),
}

/// What can be done with the functions of a file, in the order of places. `reran` says why a
/// function was compiled again after the last edit, by its path, qualified name and number.
pub fn lenses(
    db: &Database,
    workspace: &Workspace,
    file: File,
    reran: &dyn Fn(&str) -> Option<String>,
) -> Vec<Lens> {
    let index = file_index(db, file);
    let path = file.path(db);
    let is_target = workspace.programs.iter().any(|p| p.target(db) == path);
    let stem = path.file_stem().unwrap_or_default();
    let is_test = stem.starts_with("test_") || stem.ends_with("_test");
    let homes: Vec<Home<'_>> = workspace.home(db, file).into_iter().collect();
    let mut out = Vec::new();
    for t in &index.tokens {
        let Role::Function(f) = t.role else { continue };
        let name = index.text(t);
        let mut add = |kind: LensKind| {
            let range = t.range;
            out.push(Lens { range, kind });
        };
        if is_target && t.scope == 0 && matches!(name, "target" | "entry_point" | "main") {
            // One of them is enough.
            let first = ["target", "entry_point", "main"];
            let first = first.iter().find(|n| index.bindings(n).next().is_some());
            if first == Some(&name) {
                add(LensKind::Run);
                add(LensKind::Build);
            }
        }
        if is_test && let Some(test) = test_name(&index, t.scope, name) {
            add(LensKind::Test(test));
        }
        let scope = index.scopes.by_node.get(&ScopeNode::Function(f));
        let Some(code) = scope.and_then(|s| index.codes.get(*s).copied()) else {
            continue;
        };
        let qualname = code.qualname(db);
        if homes.iter().any(|h| !h.specs(code).is_empty()) {
            add(LensKind::Graph(qualname.to_string()));
        }
        if let Some(why) = reran(&format!("{path}:{qualname}#{}", code.nth(db))) {
            add(LensKind::Reran(why));
        }
    }
    out
}

/// The name of a test, as `taipan test -k` knows it.
fn test_name(index: &FileIndex, scope: usize, name: &str) -> Option<String> {
    if !name.starts_with("test") {
        return None;
    }
    match index.scopes.scopes[scope].node {
        ScopeNode::Module => Some(name.to_owned()),
        ScopeNode::Class(_) => Some(format!("{}::{name}", index.scopes.scopes[scope].qualname)),
        _ => None,
    }
}
