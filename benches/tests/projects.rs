//! Generated programs are valid, the same every time, and stay valid through edits.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use fastrand::Rng;
use taipan_base::{MemorySystem, System, sync};
use taipan_benches::{Edit, EditKind, Flaw, Project};
use taipan_driver::{Database, LoadOptions, Timings, check, load};

struct Bench {
    db: Database,
    system: Arc<MemorySystem>,
}

impl Bench {
    fn new(project: &Project) -> Bench {
        let system = Arc::new(MemorySystem::new(taipan_prelude::SHIPPED));
        for (path, text) in project.files() {
            system.write(format!("/{path}"), text);
        }
        let db = Database::new(system.clone() as Arc<dyn System>);
        Bench { db, system }
    }

    fn apply(&mut self, edit: &Edit) {
        let mut paths = Vec::new();
        for (path, text) in &edit.files {
            let path = Utf8PathBuf::from(format!("/{path}"));
            self.system.write(&path, text);
            paths.push(path);
        }
        sync(&mut self.db, &paths);
    }

    /// Code and message of everything that is wrong.
    fn problems(&self) -> Vec<String> {
        let target = format!("/{}", Project::TARGET);
        let program = load(&self.db, Utf8Path::new(&target), &LoadOptions::default())
            .expect("the target is there");
        (check(&self.db, program, &mut Timings::default()).iter())
            .map(|d| format!("{}: {}", d.code, d.message))
            .collect()
    }
}

#[test]
fn the_same_seed_gives_the_same_text() {
    let (a, b) = (Project::generate(7, 400), Project::generate(7, 400));
    assert_eq!(a.files(), b.files());
    assert_ne!(a.files(), Project::generate(8, 400).files());
    assert!((300..500).contains(&a.function_count()));
}

#[test]
fn edits_keep_the_program_valid() {
    let mut project = Project::generate(3, 60);
    let mut rng = Rng::with_seed(3);
    let mut bench = Bench::new(&project);
    assert_eq!(bench.problems(), [""; 0]);
    for kind in EditKind::VALID.iter().cycle().take(26) {
        let edit = project
            .edit(*kind, &mut rng)
            .expect("there is something to edit");
        bench.apply(&edit);
        assert_eq!(bench.problems(), [""; 0], "after {kind:?} of {}", edit.what);
    }
}

#[test]
fn reverts_go_back_to_the_first_text() {
    let mut project = Project::generate(5, 60);
    let first = project.files().clone();
    let mut rng = Rng::with_seed(5);
    for kind in EditKind::VALID.iter().filter(|k| **k != EditKind::Revert) {
        project.edit(*kind, &mut rng);
    }
    assert_ne!(*project.files(), first);
    while project.edit(EditKind::Revert, &mut rng).is_some() {}
    assert_eq!(*project.files(), first);
}

#[test]
fn flaws_are_found() {
    let mut project = Project::generate(3, 60);
    let mut rng = Rng::with_seed(3);
    let mut bench = Bench::new(&project);
    for flaw in Flaw::ALL {
        let edit = project.edit(EditKind::Flaw(*flaw), &mut rng).unwrap();
        bench.apply(&edit);
        assert_ne!(bench.problems(), [""; 0], "{}", edit.what);
        let edit = project.edit(EditKind::Revert, &mut rng).unwrap();
        bench.apply(&edit);
        assert_eq!(bench.problems(), [""; 0]);
    }
}
