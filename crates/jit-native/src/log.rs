//! What was compiled, when and why, a JSON object on each line (`TAIPAN_JITLOG`, read by
//! `taipan jitlog`), and the names of code for profilers (`TAIPAN_PERF_MAP`).

use std::fs::File;
use std::io::Write as _;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use taipan_lltype::{LLGraph, LLOp, PlainOp};

use crate::costs::is_tally;

/// The version of the format.
const VERSION: u32 = 1;

/// Where lines go. Nobody is told about files that cannot be written.
pub(crate) struct Log {
    lines: Option<Lines>,
    perf: Option<File>,
    start: Instant,
}

struct Lines {
    file: File,
    /// A process that was forked writes nothing.
    process: u32,
    /// Machine code is written as text, too.
    assembly: bool,
    /// Time that went into specialising, and into machine code.
    specialising: Duration,
    compiling: Duration,
    /// By cell: why what it leads to was compiled, and which unit that is.
    reasons: FxHashMap<usize, String>,
    units: FxHashMap<usize, usize>,
    /// The words that units count down, by number.
    tallies: Vec<usize>,
    /// The same for the rounds of their loops, by unit.
    rounds: FxHashMap<usize, Vec<usize>>,
    /// CPU time of the process when the program started.
    cpu: Duration,
}

impl Log {
    /// As the environment asks.
    pub(crate) fn from_environment() -> Log {
        let lines = std::env::var_os("TAIPAN_JITLOG").and_then(|f| File::create(f).ok());
        let perf = std::env::var_os("TAIPAN_PERF_MAP").and_then(|_| {
            let name = format!("/tmp/perf-{}.map", std::process::id());
            File::options().create(true).append(true).open(name).ok()
        });
        Log {
            lines: lines.map(|file| Lines {
                file,
                process: std::process::id(),
                assembly: std::env::var_os("TAIPAN_JITLOG_ASM").is_some(),
                specialising: Duration::ZERO,
                compiling: Duration::ZERO,
                reasons: FxHashMap::default(),
                units: FxHashMap::default(),
                tallies: Vec::new(),
                rounds: FxHashMap::default(),
                cpu: process_time(),
            }),
            perf,
            start: Instant::now(),
        }
    }

    /// Whether somebody wants to know.
    pub(crate) fn is_on(&self) -> bool {
        self.lines.is_some()
    }

    /// Whether somebody wants to read machine code.
    pub(crate) fn wants_assembly(&self) -> bool {
        self.lines.as_ref().is_some_and(|l| l.assembly)
    }

    /// A line about something, with the time since the start. What is to be said is asked
    /// for only if somebody wants to know.
    pub(crate) fn event(&mut self, what: &str, about: impl FnOnce() -> Value) {
        let Some(lines) = &mut self.lines else {
            return;
        };
        if lines.process != std::process::id() {
            return;
        }
        let at = self.start.elapsed().as_secs_f64();
        let mut event = json!({"event": what, "at": (at * 1e6).round() / 1e6});
        if let (Value::Object(event), Value::Object(about)) = (&mut event, about()) {
            event.extend(about);
        }
        let _ = lines.file.write_all(format!("{event}\n").as_bytes());
    }

    /// The first line.
    pub(crate) fn begin(&mut self, drivers: impl FnOnce() -> Value) {
        self.event(
            "begin",
            || json!({"version": VERSION, "drivers": drivers()}),
        );
    }

    /// The last one.
    pub(crate) fn end(&mut self, units: usize, hot: usize, bytes: usize) {
        let Some(lines) = &self.lines else { return };
        let (specialising, compiling) = (lines.specialising, lines.compiling);
        let cpu = self.cpu();
        self.event("end", || {
            json!({
                "cpu_us": micros(cpu),
                "specialise_us": micros(specialising),
                "compile_us": micros(compiling),
                "units": units,
                "loops": hot,
                "bytes": bytes,
            })
        });
    }

    /// Measures from now on, if somebody wants to know.
    pub(crate) fn stopwatch(&self) -> Stopwatch {
        Stopwatch(self.is_on().then(cpu_time))
    }

    /// Time that went into specialising.
    pub(crate) fn specialised(&mut self, took: Duration) {
        if let Some(lines) = &mut self.lines {
            lines.specialising += took;
        }
    }

    /// Time that went into machine code.
    pub(crate) fn compiled(&mut self, took: Duration) {
        if let Some(lines) = &mut self.lines {
            lines.compiling += took;
        }
    }

    /// Says why what a cell leads to is going to be compiled.
    pub(crate) fn reason(&mut self, cell: usize, why: impl FnOnce() -> String) {
        if let Some(lines) = &mut self.lines {
            lines.reasons.insert(cell, why());
        }
    }

    /// The same, if nothing was said yet.
    pub(crate) fn first_reason(&mut self, cell: usize, why: impl FnOnce() -> String) {
        if let Some(lines) = &mut self.lines {
            lines.reasons.entry(cell).or_insert_with(why);
        }
    }

    /// The word that the unit which is made next counts down.
    pub(crate) fn count_by(&mut self, tally: usize) {
        if let Some(lines) = &mut self.lines {
            lines.tallies.push(tally);
        }
    }

    /// Counters of the loops of a unit.
    pub(crate) fn count_rounds_by(&mut self, unit: usize, words: Vec<usize>) {
        if let Some(lines) = &mut self.lines {
            lines.rounds.insert(unit, words);
        }
    }

    /// Counters of the loops of a unit.
    pub(crate) fn rounds(&self, unit: usize) -> &[usize] {
        let lines = self.lines.as_ref();
        lines.and_then(|l| l.rounds.get(&unit)).map_or(&[], |w| w)
    }

    /// CPU time of the process since the program started. None without a log.
    pub(crate) fn cpu(&self) -> Duration {
        let lines = self.lines.as_ref();
        lines.map_or(Duration::ZERO, |l| process_time().saturating_sub(l.cpu))
    }

    /// The words that units count down, by number.
    pub(crate) fn tallies(&self) -> Vec<usize> {
        self.lines
            .as_ref()
            .map_or(Vec::new(), |l| l.tallies.clone())
    }

    /// The unit that a cell leads to.
    pub(crate) fn unit(&self, cell: usize) -> Option<usize> {
        self.lines.as_ref()?.units.get(&cell).copied()
    }

    /// The number of the unit that was just made for a cell, and why it was made.
    pub(crate) fn new_unit(&mut self, cell: usize) -> (usize, String) {
        let Some(lines) = &mut self.lines else {
            return (0, String::new());
        };
        let unit = lines.tallies.len() - 1;
        lines.units.insert(cell, unit);
        let why = lines.reasons.remove(&cell);
        (unit, why.unwrap_or_else(|| "code got there".to_owned()))
    }

    /// Tells profilers what code is called.
    pub(crate) fn code(&mut self, at: usize, size: usize, name: &str) {
        if let Some(file) = &mut self.perf {
            let line = format!("{at:x} {size:x} {name}\n");
            let _ = file.write_all(line.as_bytes());
        }
    }
}

/// CPU time of a thread since a moment: what else the machine does makes no difference.
#[derive(Clone, Copy)]
pub(crate) struct Stopwatch(Option<Duration>);

impl Stopwatch {
    pub(crate) fn elapsed(&self) -> Duration {
        (self.0).map_or(Duration::ZERO, |since| cpu_time().saturating_sub(since))
    }

    /// Goes on as if something had taken no time.
    pub(crate) fn leave_out(&mut self, took: Duration) {
        if let Some(since) = &mut self.0 {
            *since += took;
        }
    }
}

/// How long this thread has run.
fn cpu_time() -> Duration {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU time of all threads of the process.
fn process_time() -> Duration {
    clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn clock(which: libc::clockid_t) -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the time is written there.
    unsafe { libc::clock_gettime(which, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

pub(crate) fn micros(d: Duration) -> u64 {
    d.as_micros() as u64
}

/// Number of operations of a graph without the notes and counters of the log, so that the log does not change what is
/// compiled.
pub(crate) fn operations(g: &LLGraph) -> usize {
    let each = g.blocks.iter().map(|b| {
        let operations = b.operations.iter();
        operations
            .filter(|op| does_something(op.op) && !is_tally(b, op))
            .count()
    });
    each.sum()
}

/// Whether code is emitted for an operation.
pub(crate) fn does_something(op: LLOp) -> bool {
    !matches!(
        op,
        LLOp::Plain(PlainOp::SameAs | PlainOp::CastPointer | PlainOp::JitNote)
    )
}
