//! What edits of a large program cost: `cargo bench -p taipan-benches --bench edits --
//! [functions]...`
//!
//! For each size a warm database answers `check` after edits of several kinds; medians
//! in milliseconds go out, with how often each was measured: of CPU time, on all threads,
//! which does not depend on what else the machine does, and of wall-clock time.
//!
//! `--only=NAME` measures what has this in its name; `--rounds=N`, so often.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "its figures")]

use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use taipan_benches::{EditKind, Project};
use taipan_workbench::Workbench;

/// What the command itself uses.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A project in memory, and edits of it.
struct Edited {
    bench: Workbench,
    project: Project,
    rng: fastrand::Rng,
}

fn path(file: &str) -> Utf8PathBuf {
    Utf8Path::new("/project").join(file)
}

impl Edited {
    fn new(functions: usize) -> Edited {
        let project = Project::generate(1, functions);
        let files = project
            .files()
            .iter()
            .map(|(file, text)| (path(file), text));
        let mut bench = Workbench::of_files(files, path(Project::TARGET));
        bench.options.step_limit = u64::MAX;
        Edited {
            bench,
            project,
            rng: fastrand::Rng::with_seed(7),
        }
    }

    fn check(&self) -> usize {
        self.bench.check().diagnostics.len()
    }

    /// How long it takes until diagnostics are up to date after an edit.
    fn edit(&mut self, kind: EditKind) -> Option<Cost> {
        let edit = self.project.edit(kind, &mut self.rng)?;
        Some(measure(|| {
            let files = edit.files.iter();
            (self.bench).edit_all(files.map(|(file, text)| (path(file), text)));
            self.check();
        }))
    }
}

/// What something took.
struct Cost {
    /// On all threads.
    cpu: Duration,
    wall: Duration,
}

fn measure(work: impl FnOnce()) -> Cost {
    let (start, cpu) = (Instant::now(), cpu_time());
    work();
    Cost {
        cpu: cpu_time().saturating_sub(cpu),
        wall: start.elapsed(),
    }
}

/// CPU time of this process so far.
fn cpu_time() -> Duration {
    let mut t = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the clock is one that every process has, and `t` is there to be written.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    Duration::new(t.tv_sec as u64, t.tv_nsec as u32)
}

/// Median and maximum, in milliseconds.
fn spread(times: impl Iterator<Item = Duration>) -> (f64, f64) {
    let mut times: Vec<f64> = times.map(|t| t.as_secs_f64() * 1000.0).collect();
    times.sort_by(f64::total_cmp);
    let middle = times.get(times.len() / 2).copied().unwrap_or_default();
    (middle, times.last().copied().unwrap_or_default())
}

fn report(name: &str, costs: &[Cost]) {
    let (cpu, most) = spread(costs.iter().map(|c| c.cpu));
    let (wall, longest) = spread(costs.iter().map(|c| c.wall));
    println!(
        "  {name}: {cpu:.2} ms CPU, {wall:.2} ms wall (of {}; at most {most:.2} and {longest:.2})",
        costs.len()
    );
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
    let option = |name: &str| {
        let prefix = format!("--{name}=");
        std::env::args().find_map(|a| a.strip_prefix(&prefix).map(str::to_owned))
    };
    let only = option("only");
    let usual = if only.is_some() { 30 } else { 9 };
    let rounds = option("rounds")
        .and_then(|n| n.parse().ok())
        .unwrap_or(usual);
    for functions in sizes {
        let mut bench = Edited::new(functions);
        let mut wrong = 0;
        let cold = measure(|| wrong = bench.check());
        println!(
            "{functions} functions, cold: {:.0} ms CPU, {:.0} ms wall, {wrong} diagnostics",
            cold.cpu.as_secs_f64() * 1000.0,
            cold.wall.as_secs_f64() * 1000.0
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
        let nothing: Vec<Cost> = (0..rounds)
            .map(|_| {
                measure(|| {
                    bench.check();
                })
            })
            .collect();
        report("nothing changed", &nothing);
        for (name, kind) in kinds {
            if !only.as_ref().is_none_or(|o| name.contains(&**o)) {
                continue;
            }
            let costs: Vec<Cost> = (0..rounds).filter_map(|_| bench.edit(kind)).collect();
            report(&name, &costs);
        }
        // Taking it down again is no part of the figures, and takes a while.
        std::mem::forget(bench);
    }
}
