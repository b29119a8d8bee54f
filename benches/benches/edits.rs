//! What edits of a large program cost: `cargo bench -p taipan-benches --bench edits --
//! [functions]...`
//!
//! For each size a warm database answers `check` after edits of several kinds; medians
//! in milliseconds go out, with how often each was measured.

use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use taipan_base::{MemorySystem, System, sync};
use taipan_benches::{EditKind, Project};
use taipan_driver::{Database, LoadOptions, Timings, check, load};

/// A database over a project in memory.
struct Workbench {
    db: Database,
    system: Arc<MemorySystem>,
    project: Project,
    rng: fastrand::Rng,
}

fn path(file: &str) -> Utf8PathBuf {
    Utf8Path::new("/project").join(file)
}

impl Workbench {
    fn new(functions: usize) -> Workbench {
        let system = Arc::new(MemorySystem::new(taipan_prelude::SHIPPED));
        let project = Project::generate(1, functions);
        for (file, text) in project.files() {
            system.write(path(file), text);
        }
        Workbench {
            db: Database::new(system.clone() as Arc<dyn System>),
            system,
            project,
            rng: fastrand::Rng::with_seed(7),
        }
    }

    fn check(&self) -> usize {
        let options = LoadOptions {
            step_limit: u64::MAX,
            ..LoadOptions::default()
        };
        let program = match load(&self.db, &path(Project::TARGET), &options) {
            Ok(p) => p,
            Err(e) => panic!("{e:?}"),
        };
        let found = check(&self.db, program, &mut Timings::default());
        found.len()
    }

    /// How long it takes until diagnostics are up to date after an edit.
    fn edit(&mut self, kind: EditKind) -> Option<Duration> {
        let edit = self.project.edit(kind, &mut self.rng)?;
        let mut paths = Vec::new();
        for (file, text) in &edit.files {
            self.system.write(path(file), text);
            paths.push(path(file));
        }
        let start = Instant::now();
        sync(&mut self.db, &paths);
        self.check();
        Some(start.elapsed())
    }
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times
        .get(times.len() / 2)
        .map_or(0.0, |t| t.as_secs_f64() * 1000.0)
}

fn main() {
    let sizes: Vec<usize> = std::env::args()
        .skip(1)
        .filter_map(|a| a.parse().ok())
        .collect();
    let sizes = if sizes.is_empty() {
        vec![1_000, 10_000, 30_000]
    } else {
        sizes
    };
    let only = std::env::args().find_map(|a| a.strip_prefix("--only=").map(str::to_owned));
    let rounds = if only.is_some() { 30 } else { 9 };
    for functions in sizes {
        let mut bench = Workbench::new(functions);
        let start = Instant::now();
        let wrong = bench.check();
        println!(
            "{functions} functions, cold: {:.0} ms, {wrong} diagnostics",
            start.elapsed().as_secs_f64() * 1000.0
        );
        let mut kinds = vec![
            ("lines moved".to_owned(), EditKind::Lines),
            ("a body".to_owned(), EditKind::Body),
        ];
        for k in bench.project.ripple_depths() {
            kinds.push((format!("a result, {k} functions"), EditKind::Return(k)));
            kinds.push((format!("an argument, {k} functions"), EditKind::Argument(k)));
        }
        kinds.push(("an import-time table".into(), EditKind::Table));
        kinds.push(("a new attribute".into(), EditKind::AddAttribute));
        kinds.push(("a new function".into(), EditKind::NewFunction));
        let mut noop = Vec::new();
        for _ in 0..rounds {
            let start = Instant::now();
            bench.check();
            noop.push(start.elapsed());
        }
        println!("  nothing changed: {:.2} ms", median(noop));
        for (name, kind) in kinds {
            if !only.as_ref().is_none_or(|o| name.contains(&**o)) {
                continue;
            }
            let times: Vec<_> = (0..rounds).filter_map(|_| bench.edit(kind)).collect();
            let (n, max) = (times.len(), times.iter().max().copied().unwrap_or_default());
            println!(
                "  {name}: {:.2} ms (of {n}, at most {:.2})",
                median(times),
                max.as_secs_f64() * 1000.0
            );
        }
    }
}
