//! Work that is known to come, on all threads: files that will be imported, and
//! functions that the annotator will ask about.
//!
//! Import time and annotation are one query each, which ask for codes and flow graphs
//! one by one, on one thread. What they will ask for can be told well enough before:
//! whoever asks then finds the result. Nothing depends on the guess: too much costs
//! time, too little is made when it is asked for.

use camino::{Utf8Path, Utf8PathBuf};
use rustc_hash::FxHashSet;
use taipan_annotator::Roots;
use taipan_base::{Db, File, FileContents, Program, SHIPPED};
use taipan_code::{ImportDesc, code, function_imports, module_code_id, module_codes};
use taipan_flow::flow_graph;
use taipan_graph::{Const, ObjId};
use taipan_interp::{Function, Image, ObjData, image};

use crate::db::{Ahead, Database};
use crate::parallel::par_steps;

/// Parses and compiles the files that a program imports, directly or not.
pub fn compile_files(db: &Database, program: Program) {
    if !db.first_time(Ahead::Files(program)) {
        return;
    }
    let target = program.target(db);
    let mut folders: Vec<Utf8PathBuf> = Vec::new();
    let own = target.parent().unwrap_or(Utf8Path::new("/"));
    folders.extend(
        own.ancestors()
            .take(1 + packages_around(db, own))
            .map(Into::into),
    );
    folders.extend(program.options(db).path.iter().cloned());
    let target = db.files().get(db, target);
    let mut seen = FxHashSet::from_iter([target]);
    let mut wave = vec![target];
    while !wave.is_empty() {
        let found = par_steps(db, &wave, |db, file| imported(db, &folders, *file));
        wave = found
            .into_iter()
            .flatten()
            .filter(|f| seen.insert(*f))
            .collect();
    }
}

/// How many folders from this one upwards are packages.
fn packages_around(db: &Database, folder: &Utf8Path) -> usize {
    (folder.ancestors())
        .take_while(|f| text_file(db, &f.join("__init__.py")).is_some())
        .count()
}

fn text_file(db: &Database, path: &Utf8Path) -> Option<File> {
    let file = db.files().get(db, path);
    matches!(file.contents(db), FileContents::Text(_)).then_some(file)
}

/// The files that a file imports, as far as they can be told by their names.
fn imported(db: &Database, folders: &[Utf8PathBuf], file: File) -> Vec<File> {
    module_codes(db, file);
    let own = file.path(db).parent().unwrap_or(Utf8Path::new("/"));
    let body = code(db, module_code_id(db, file));
    let late = function_imports(db, file);
    let mut out = Vec::new();
    let mut seen = FxHashSet::default();
    for desc in body.imports.iter().chain(late.iter().map(|(_, d)| d)) {
        if !seen.insert(desc) {
            continue;
        }
        let bases: Vec<&Utf8Path> = match desc.level {
            ..=0 if desc.name.starts_with("rpython") => vec![Utf8Path::new(SHIPPED)],
            ..=0 => [own]
                .into_iter()
                .chain(folders.iter().map(|f| &**f))
                .collect(),
            up => own.ancestors().nth(up as usize - 1).into_iter().collect(),
        };
        bases.iter().any(|base| find(db, base, desc, &mut out));
    }
    out
}

/// Adds the files of a module that is imported from below a folder: packages on the
/// way, the module, and modules taken from it. Answers whether there is anything.
fn find(db: &Database, base: &Utf8Path, desc: &ImportDesc, out: &mut Vec<File>) -> bool {
    let mut folder = base.to_owned();
    let before = out.len();
    for part in desc.name.split('.').filter(|p| !p.is_empty()) {
        folder.push(part);
        match text_file(db, &folder.join("__init__.py")) {
            Some(package) => out.push(package),
            None => {
                out.extend(text_file(db, &folder.with_extension("py")));
                return out.len() > before;
            }
        }
    }
    for name in desc.from.iter().flatten().filter(|n| ***n != *"*") {
        out.extend(text_file(db, &folder.join(format!("{name}.py"))));
    }
    out.len() > before
}

/// Builds the flow graphs of what the roots will reach: functions that graphs mention,
/// and methods of classes and prebuilt instances that they mention.
pub fn flow_graphs(db: &Database, roots: Roots) {
    if !db.first_time(Ahead::Graphs(roots)) {
        return;
    }
    let program = roots.program(db);
    let mut reach = Reach {
        image: image(db, program),
        seen: FxHashSet::default(),
        functions: Vec::new(),
    };
    for root in roots.functions(db) {
        reach.object(root);
    }
    while !reach.functions.is_empty() {
        let wave = std::mem::take(&mut reach.functions);
        let found = par_steps(db, &wave, |db, f| {
            let flow = flow_graph(db, Function::new(db, program, *f));
            let mut objects = Vec::new();
            if let Ok(graph) = &flow.graph {
                graph.for_each_const(&mut |c| objects_in(c, &mut objects));
            }
            objects
        });
        for object in found.into_iter().flatten() {
            reach.object(object);
        }
    }
}

fn objects_in(c: &Const, out: &mut Vec<ObjId>) {
    match c {
        Const::Obj(id) => out.push(*id),
        Const::Tuple(items) => items.iter().for_each(|c| objects_in(c, out)),
        _ => {}
    }
}

/// What can be reached from objects of the image.
struct Reach<'a> {
    image: &'a Image,
    seen: FxHashSet<ObjId>,
    /// Functions found and not yet looked into.
    functions: Vec<ObjId>,
}

impl Reach<'_> {
    fn object(&mut self, id: ObjId) {
        let mut next = vec![id];
        while let Some(id) = next.pop() {
            if !self.seen.insert(id) {
                continue;
            }
            let Some(data) = self.image.objects.get(&id) else {
                continue;
            };
            data.for_each_const(&mut |c| objects_in(c, &mut next));
            match &**data {
                ObjData::Function(_) => self.functions.push(id),
                ObjData::Class(c) => next.extend(&c.bases),
                ObjData::Instance(i) => next.push(i.class),
                _ => {}
            }
        }
    }
}
