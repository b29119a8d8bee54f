//! Databases that share a cache folder answer as one without a cache does, whatever was
//! edited between them.

use camino::{Utf8Path, Utf8PathBuf};
use fastrand::Rng;
use taipan_base::render_json;
use taipan_benches::{EditKind, Flaw, Project};
use taipan_driver::{Cache, CacheLimits, CacheSecret};
use taipan_workbench::Workbench;

const SECRET: CacheSecret = CacheSecret::fixed(b"the secret of a test of 32 bytes");

/// Diagnostics, and the object file or why there is none, as a new process finds them.
fn answers(project: &Project, cache: Option<&Utf8Path>) -> (String, Result<Vec<u8>, String>) {
    let path = |file: &str| Utf8PathBuf::from(format!("/{file}"));
    let files = project
        .files()
        .iter()
        .map(|(file, text)| (path(file), text));
    let bench = Workbench::of_files(files, path(Project::TARGET));
    let db = &bench.db;
    if let Some(folder) = cache {
        db.set_cache(Cache::open(folder, CacheLimits::default(), SECRET));
    }
    let found = bench.check().diagnostics;
    let object = bench.compile();
    db.cache().flush().expect("the cache can be written");
    (
        render_json(db, &found).to_string(),
        object.map_err(|_| "it cannot be compiled".to_owned()),
    )
}

/// `TAIPAN_CACHE_EDITS` says how many edits to try.
#[test]
fn a_shared_cache_changes_no_answer() {
    let number = |name: &str, default| {
        let given = std::env::var(name).ok().and_then(|n| n.parse().ok());
        given.unwrap_or(default)
    };
    let edits = number("TAIPAN_CACHE_EDITS", 6);
    let seed = number("TAIPAN_CACHE_SEED", 11);
    let folder = tempfile::tempdir().unwrap();
    let folder = Utf8Path::from_path(folder.path()).unwrap();
    let mut project = Project::generate(seed, number("TAIPAN_CACHE_FUNCTIONS", 20) as usize);
    let mut rng = Rng::with_seed(seed);
    assert_eq!(answers(&project, Some(folder)), answers(&project, None));
    for i in 0..edits {
        let kind = match i % 6 {
            // What was there before is found again.
            2 | 5 => EditKind::Revert,
            4 => EditKind::Flaw(Flaw::ALL[rng.usize(..Flaw::ALL.len())]),
            _ => EditKind::VALID[rng.usize(..EditKind::VALID.len())],
        };
        let Some(edit) = project.edit(kind, &mut rng) else {
            continue;
        };
        let cached = answers(&project, Some(folder));
        let fresh = answers(&project, None);
        assert!(cached == fresh, "after edit {i}, {kind:?} of {}", edit.what);
    }
}
