//! The generated programs, by kind.

mod families;
mod objects;
mod random;

use taipan_benches::Project;
use taipan_fuzz::{Choices, bytes_of_case};
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

/// The target of programs of one module that use much of the language.
pub(crate) const PROGRAMS: &str = "programs";

/// The target of programs of one module with many classes.
pub(crate) const CLASSES: &str = "classes";

/// The target of programs of one module with calls that reach several functions.
pub(crate) const FAMILIES: &str = "families";

/// How many bytes such a program is made from.
pub(crate) const BYTES: usize = 16 << 10;

/// A program of one module that uses much of the language.
pub(crate) fn random_program(choices: Choices<'_>) -> Generated {
    one_module(PROGRAMS, random::program(choices))
}

/// A program of one module with many classes.
pub(crate) fn program_of_classes(choices: Choices<'_>) -> Generated {
    one_module(CLASSES, objects::program(choices))
}

/// A program of one module with calls that reach several functions.
pub(crate) fn program_of_families(choices: Choices<'_>) -> Generated {
    one_module(FAMILIES, families::program(choices))
}

/// The first programs of a target, or those that the environment asks for.
#[allow(dead_code, reason = "each test binary has this module of its own")]
pub(crate) fn numbered(
    target: &'static str,
    few: u64,
    make: fn(Choices<'_>) -> Generated,
) -> impl Iterator<Item = Generated> {
    seeds(few).map(move |n| make(Choices::new(&bytes_of_case(target, n, BYTES))))
}

/// Adds what a program ends with: run as a target, and by CPython.
fn target(program: &mut Text<'_>) {
    program.out.push_str(
        "
def target(driver, args):
    return entry_point, None
if __name__ == '__main__':
    entry_point(['main'])
",
    );
}

fn one_module(target: &str, program: String) -> Generated {
    Generated {
        name: format!("a program of target {target}:\n{program}"),
        target: "main.py",
        files: vec![("main.py".to_owned(), program)],
    }
}
