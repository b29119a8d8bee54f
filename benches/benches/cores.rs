//! What more cores would bring: `cargo bench -p taipan-benches --bench cores -- [options]
//! PROGRAM...`
//!
//! A program is a target file, or a number: of functions of a generated program. It is compiled
//! to its object file from nothing on one thread (`--check`: it is checked), while it is recorded
//! what is fanned out: waves of pieces that do not wait for one another, each of which ends
//! before what follows begins. The pieces are then dealt out to 1, 2, ... cores as the driver does
//! it. What two pieces need both is a part of the first one, for which the second one would
//! have to wait: that is left out. Beside it stands what it takes on that many threads in fact, as
//! far as the machine has cores.
//!
//! `--target-option=OPTION` is passed to the program.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "its figures")]

use std::collections::BTreeMap;
use std::env;
use std::process::Command;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use taipan_benches::Project;
use taipan_driver::{
    Database, LoadOptions, Timings, Wave, check, compile_native, has_errors, load, piece_size,
    set_threads,
};
use taipan_workbench::Workbench;

/// What the command itself uses.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const CORES: [usize; 5] = [1, 2, 4, 8, 16];

#[derive(Default)]
struct Options {
    check: bool,
    /// Only measures, on that many threads: what the bench asks of itself.
    threads: Option<usize>,
    target_options: Vec<String>,
    programs: Vec<String>,
}

/// What compiling a program took.
struct Run {
    phases: Vec<(&'static str, Duration)>,
    waves: Vec<Wave>,
    whole: Duration,
}

fn main() {
    let mut options = Options::default();
    for arg in env::args().skip(1) {
        if let Some(option) = arg.strip_prefix("--target-option=") {
            options.target_options.push(option.to_owned());
        } else if let Some(n) = arg.strip_prefix("--threads=") {
            options.threads = n.parse().ok();
        } else if arg == "--check" {
            options.check = true;
        } else if arg != "--bench" {
            options.programs.push(arg);
        }
    }
    if options.programs.is_empty() {
        options.programs = vec!["3000".to_owned()];
    }
    let threads = options.threads.unwrap_or(1);
    if let Err(e) = set_threads(threads) {
        panic!("{e}");
    }
    for program in &options.programs {
        let run = run(program, &options);
        match options.threads {
            Some(_) => println!("{}", run.whole.as_secs_f64()),
            None => report(program, &options, &run),
        }
    }
}

fn run(program: &str, options: &Options) -> Run {
    let load_options = LoadOptions {
        step_limit: u64::MAX,
        target_options: options.target_options.clone(),
        ..LoadOptions::default()
    };
    let (db, target) = match program.parse() {
        Ok(functions) => generated(functions),
        Err(_) => (Database::default(), Utf8PathBuf::from(program)),
    };
    db.log().record_waves_from_now();
    let mut timings = Timings::counting(db.log());
    let start = Instant::now();
    if options.check {
        match load(&db, &target, &load_options) {
            Ok(p) => assert!(!has_errors(&check(&db, p, &mut timings)), "it has errors"),
            Err(e) => panic!("{e:?}"),
        }
    } else if let Err(e) = compile_native(&db, &load_options, &target, &mut timings) {
        panic!("{e:?}");
    }
    let whole = start.elapsed();
    let run = Run {
        phases: timings.phases().collect(),
        waves: db.log().take_waves(),
        whole,
    };
    // It would take as long as all the rest.
    std::mem::forget(db);
    run
}

fn generated(functions: usize) -> (Database, Utf8PathBuf) {
    let project = Project::generate(1, functions);
    let folder = Utf8Path::new("/project");
    let files = project.files().iter();
    let files = files.map(|(file, text)| (folder.join(file), text));
    let bench = Workbench::of_files(files, folder.join(Project::TARGET));
    (bench.db, bench.target)
}

/// How long a wave takes on some cores: whichever is free first does the next pieces.
fn on_cores(wave: &Wave, cores: usize) -> Duration {
    let size = match cores {
        1 => wave.pieces.len().max(1),
        _ => piece_size(wave.pieces.len(), cores).max(1),
    };
    let mut busy = vec![Duration::ZERO; cores];
    for pieces in wave.pieces.chunks(size) {
        if let Some(first) = busy.iter_mut().min() {
            *first += pieces.iter().sum::<Duration>();
        }
    }
    busy.into_iter().max().unwrap_or_default()
}

fn report(program: &str, options: &Options, run: &Run) {
    let ms = |d: Duration| format!("{:.1}", d.as_secs_f64() * 1e3);
    println!("{program}, milliseconds");
    print!("{:<14}{:>9}{:>9}{:>9}", "phase", "whole", "serial", "waves");
    for cores in CORES {
        print!("{:>9}", format!("{cores} cores"));
    }
    println!();
    let mut by_phase: BTreeMap<&str, Vec<&Wave>> = BTreeMap::new();
    for wave in &run.waves {
        by_phase.entry(wave.phase).or_default().push(wave);
    }
    let none = Vec::new();
    let mut sums = [Duration::ZERO; CORES.len()];
    let (mut total, mut all_serial) = (Duration::ZERO, Duration::ZERO);
    for (name, whole) in &run.phases {
        let waves = by_phase.get(name).unwrap_or(&none);
        let fanned_out: Duration = waves.iter().flat_map(|w| &w.pieces).sum();
        let serial = whole.saturating_sub(fanned_out);
        total += *whole;
        all_serial += serial;
        print!(
            "{name:<14}{:>9}{:>9}{:>9}",
            ms(*whole),
            ms(serial),
            waves.len()
        );
        for (cores, sum) in CORES.iter().zip(&mut sums) {
            let took = serial + waves.iter().map(|w| on_cores(w, *cores)).sum::<Duration>();
            *sum += took;
            print!("{:>9}", ms(took));
        }
        println!();
    }
    print!(
        "{:<14}{:>9}{:>9}{:>9}",
        "all",
        ms(total),
        ms(all_serial),
        run.waves.len()
    );
    for sum in sums {
        print!("{:>9}", ms(sum));
    }
    println!();
    let share = |sum: Duration| 100.0 * all_serial.as_secs_f64() / sum.as_secs_f64();
    print!("{:<41}", "serial share, %");
    for sum in sums {
        print!("{:>9.0}", share(sum));
    }
    println!();
    print!("{:<41}", "measured");
    let here = std::thread::available_parallelism().map_or(1, usize::from);
    for threads in CORES.into_iter().filter(|c| *c <= here) {
        print!(
            "{:>9}",
            measured(program, options, threads).map_or("-".to_owned(), ms)
        );
    }
    println!("\n");
}

/// What it takes on so many threads, in another process.
fn measured(program: &str, options: &Options, threads: usize) -> Option<Duration> {
    let mut command = Command::new(env::current_exe().ok()?);
    command.arg(format!("--threads={threads}")).arg(program);
    if options.check {
        command.arg("--check");
    }
    let given = options.target_options.iter();
    command.args(given.map(|o| format!("--target-option={o}")));
    let output = command.output().ok()?;
    let seconds = String::from_utf8(output.stdout).ok()?.trim().parse().ok()?;
    Some(Duration::from_secs_f64(seconds))
}
