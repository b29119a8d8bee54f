//! Generated programs are valid, the same every time, and stay valid through edits.

use camino::Utf8PathBuf;
use fastrand::Rng;
use taipan_base::{Diagnostic, ErrorCode};
use taipan_benches::{Edit, EditKind, Flaw, Project};
use taipan_workbench::Workbench;

fn path(file: &str) -> Utf8PathBuf {
    format!("/{file}").into()
}

fn workbench(project: &Project) -> Workbench {
    let files = project
        .files()
        .iter()
        .map(|(file, text)| (path(file), text));
    Workbench::of_files(files, path(Project::TARGET))
}

fn apply(bench: &mut Workbench, edit: &Edit) {
    bench.edit_all(edit.files.iter().map(|(file, text)| (path(file), text)));
}

/// Code and message of each diagnostic except those about code without use: generated modules have unused imports and
/// unreachable statements.
fn problems(bench: &Workbench) -> Vec<String> {
    let without_use = |d: &Diagnostic| {
        matches!(
            d.code,
            ErrorCode::UnusedImport | ErrorCode::UnusedVariable | ErrorCode::UnreachedCode
        )
    };
    let found = bench.check().diagnostics;
    (found.iter())
        .filter(|d| !without_use(d))
        .map(|d| format!("{}: {}", d.code, d.message))
        .collect()
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
    let mut bench = workbench(&project);
    assert_eq!(problems(&bench), [""; 0]);
    for kind in EditKind::VALID.iter().cycle().take(26) {
        let edit = project
            .edit(*kind, &mut rng)
            .expect("there is something to edit");
        apply(&mut bench, &edit);
        assert_eq!(problems(&bench), [""; 0], "after {kind:?} of {}", edit.what);
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
    let mut bench = workbench(&project);
    for flaw in Flaw::ALL {
        let edit = project.edit(EditKind::Flaw(*flaw), &mut rng).unwrap();
        apply(&mut bench, &edit);
        assert_ne!(problems(&bench), [""; 0], "{}", edit.what);
        let edit = project.edit(EditKind::Revert, &mut rng).unwrap();
        apply(&mut bench, &edit);
        assert_eq!(problems(&bench), [""; 0]);
    }
}
