//! The generated programs, by kind.

mod objects;
mod random;

use taipan_benches::Project;
use tempfile::TempDir;

use super::text::{Text, seeds};

/// How many functions a project has.
const SIZE: usize = 30;

/// A program to run.
pub(crate) struct Generated {
    /// What to call it where it fails.
    pub(crate) name: String,
    /// The file with its entry point.
    pub(crate) target: &'static str,
    files: Vec<(String, String)>,
}

impl Generated {
    /// Writes its files to a new folder. With `TAIPAN_WRITE` it is made there and stays, for
    /// `tests/oracle/run.py programs`.
    pub(crate) fn write(&self) -> TempDir {
        let folder = match std::env::var_os("TAIPAN_WRITE") {
            Some(kept) => (tempfile::Builder::new()
                .prefix("program")
                .disable_cleanup(true))
            .tempdir_in(kept),
            None => tempfile::tempdir(),
        };
        let folder = folder.unwrap();
        for (path, text) in &self.files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }
}

/// Programs of several modules, as the benchmarks have them.
pub(crate) fn projects() -> impl Iterator<Item = Generated> {
    seeds(3).map(|seed| {
        let project = Project::generate(seed, SIZE);
        let files = project.files().clone();
        Generated {
            name: format!("project {seed}"),
            target: Project::TARGET,
            files: files.into_iter().collect(),
        }
    })
}

/// Programs of one module that use much of the language.
pub(crate) fn random_programs() -> impl Iterator<Item = Generated> {
    seeds(6).map(|seed| one_module("program", seed, random::program(seed)))
}

/// Programs of one module with many classes.
pub(crate) fn programs_of_classes() -> impl Iterator<Item = Generated> {
    seeds(1).map(|seed| one_module("program of classes", seed, objects::program(seed)))
}

/// Adds what a program ends with: run as a target, and by CPython.
fn target(program: &mut Text) {
    program.out.push_str(
        "
def target(driver, args):
    return entry_point, None
if __name__ == '__main__':
    entry_point(['main'])
",
    );
}

fn one_module(what: &str, seed: u64, program: String) -> Generated {
    Generated {
        name: format!("{what} {seed}\n{program}"),
        target: "main.py",
        files: vec![("main.py".to_owned(), program)],
    }
}
