//! Tests whose `conftest.py` files have hooks. Worker processes set up, call and tear down several
//! tests each, so that state of hooks and fixtures is created once per worker.
//!
//! ```text
//! queue of tests ──► worker: set up, call, tear down ──► records of each test
//!                      │ fork before each call
//!                      └─► waiting copy: repeats the call if `gc.collect()` frees more objects than
//!                          were known
//! ```
//!
//! Workers fork copies only after some test has called `gc.collect()`; the next worker repeats that
//! test. A crash or timeout of a worker fails its current test, and another worker takes the
//! remaining tests. A worker whose heap has grown by [`GROWTH`] is replaced as well: the interpreter
//! frees nothing.

use std::fs::File;
use std::io::{self, Read, Write};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use taipan_driver::resident_bytes;
use taipan_interp::{TestRun, TestSession};

use crate::execute::record_run;
use crate::process::{Ended, Exit, Process, pipe, record};

/// Record: a test starts. Its place in the queue.
const BEGUN: u8 = b'B';
/// Record: the output of the test.
const PRINTED: u8 = b'P';
/// Record: the test has ended. Its duration in microseconds.
const ENDED: u8 = b'E';
/// Record: the test has to be repeated by a worker that forks copies.
const ANEW: u8 = b'A';

/// Maximum growth of a worker's memory, in bytes.
const GROWTH: u64 = 1 << 30;

/// The workers of a session.
pub(super) struct Workers {
    workers: Vec<Worker>,
    queue: Queue,
    /// Places of tests to repeat.
    anew: Vec<usize>,
    /// A test has called `gc.collect()`.
    makes_copies: bool,
    timeout: Duration,
}

struct Worker {
    process: Process,
    /// Place and start of the current test.
    test: Option<(usize, Instant)>,
    records: Vec<(u8, Vec<u8>)>,
    timed_out: bool,
}

impl Workers {
    /// An empty pool.
    pub(super) fn new(timeout: Duration) -> io::Result<Workers> {
        Ok(Workers {
            workers: Vec::new(),
            queue: Queue::new()?,
            anew: Vec::new(),
            makes_copies: false,
            timeout,
        })
    }

    /// Starts a worker for the tests with these numbers, in the order of the queue.
    pub(super) fn start(
        &mut self,
        mut session: TestSession<'_>,
        numbers: &[usize],
    ) -> io::Result<()> {
        let queue = &self.queue;
        let anew = std::mem::take(&mut self.anew);
        let copies = self.makes_copies;
        let process = Process::start(|| work(&mut session, numbers, queue, anew, copies))?;
        self.workers.push(Worker {
            process,
            test: None,
            records: Vec::new(),
            timed_out: false,
        });
        Ok(())
    }

    /// Whether some of the `tests` tests are not taken yet.
    pub(super) fn has_work(&self, tests: usize) -> bool {
        !self.anew.is_empty() || self.queue.taken() < tests
    }

    /// Number of running workers.
    pub(super) fn len(&self) -> usize {
        self.workers.len()
    }

    /// Blocks until tests end or `patience` has passed. Returns the places of the ended tests with their outcomes.
    pub(super) fn next(&mut self, patience: Duration) -> Vec<(usize, Ended)> {
        for w in &mut self.workers {
            if w.test
                .is_some_and(|(_, since)| since.elapsed() > self.timeout)
                && !w.timed_out
            {
                w.timed_out = true;
                w.process.kill();
            }
        }
        Process::poll(self.workers.iter_mut().map(|w| &mut w.process), patience);
        let mut ended = Vec::new();
        for w in &mut self.workers {
            for (kind, content) in w.process.take_records() {
                let text = || {
                    String::from_utf8_lossy(&content)
                        .parse::<u64>()
                        .unwrap_or(0)
                };
                match kind {
                    BEGUN => w.test = Some((text() as usize, Instant::now())),
                    ANEW => {
                        self.makes_copies = true;
                        self.anew.extend(w.test.take().map(|(place, _)| place));
                    }
                    ENDED => {
                        let took = Duration::from_micros(text());
                        ended.extend(w.end(Exit::Code(0), took));
                    }
                    _ => w.records.push((kind, content)),
                }
            }
        }
        let mut i = 0;
        while i < self.workers.len() {
            if self.workers[i].process.is_open() {
                i += 1;
                continue;
            }
            let mut w = self.workers.remove(i);
            let exit = w.process.wait();
            let exit = if w.timed_out { Exit::TimedOut } else { exit };
            let took = w.test.map_or(Duration::ZERO, |(_, since)| since.elapsed());
            // The records of an interrupted test are incomplete.
            w.records.clear();
            ended.extend(w.end(exit, took));
        }
        ended
    }
}

impl Worker {
    /// Ends the current test. None if there is none.
    fn end(&mut self, exit: Exit, duration: Duration) -> Option<(usize, Ended)> {
        let (place, _) = self.test.take()?;
        let mut records = std::mem::take(&mut self.records);
        let printed = records.iter().position(|(kind, _)| *kind == PRINTED);
        let output = printed.map_or_else(|| self.process.take_output(), |i| records.remove(i).1);
        let ended = Ended {
            exit,
            records,
            output,
            duration,
        };
        Some((place, ended))
    }
}

impl Drop for Workers {
    /// Kills all workers.
    fn drop(&mut self) {
        for w in &mut self.workers {
            w.process.kill();
            w.process.wait();
        }
    }
}

/// The main loop of a worker process.
fn work(
    session: &mut TestSession<'_>,
    numbers: &[usize],
    queue: &Queue,
    mut anew: Vec<usize>,
    makes_copies: bool,
) {
    let mut take = || {
        let next = anew.pop().unwrap_or_else(|| queue.take());
        Some(next).filter(|place| *place < numbers.len())
    };
    let limit = resident_bytes().unwrap_or(0) + GROWTH;
    let mut next = take();
    while let Some(place) = next {
        record(BEGUN, place.to_string().as_bytes());
        let since = Instant::now();
        let number = numbers[place];
        let mut run = session.set_up(number);
        if run.raised.is_none() {
            let called = match makes_copies {
                true => call(session, number),
                false => match session.call(number, &[]) {
                    Ok(run) => run,
                    // The session cannot be used any more.
                    Err(_) => return record(ANEW, b""),
                },
            };
            run.printed.extend(called.printed);
            run.raised = called.raised;
        }
        next = if resident_bytes().unwrap_or(0) > limit {
            None
        } else {
            take()
        };
        let torn_down = session.tear_down(number, next.map(|n| numbers[n]));
        run.printed.extend(torn_down.printed);
        // Those that were executed so far.
        run.lines = torn_down.lines;
        run.raised = run.raised.or(torn_down.raised);
        record(PRINTED, &run.printed);
        record_run(run);
        record(ENDED, since.elapsed().as_micros().to_string().as_bytes());
    }
}

/// The next place that no worker has taken: a counter in shared memory.
struct Queue(NonNull<AtomicUsize>);

impl Queue {
    fn new() -> io::Result<Queue> {
        // SAFETY: new memory, which is zero.
        let at = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size_of::<AtomicUsize>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let at = NonNull::new(at.cast::<AtomicUsize>());
        at.map(Queue).ok_or_else(io::Error::last_os_error)
    }

    /// Number of taken places. It exceeds the number of tests when workers find the queue empty.
    fn taken(&self) -> usize {
        // SAFETY: the mapping lives as long as `self`.
        unsafe { self.0.as_ref() }.load(Ordering::Relaxed)
    }

    /// Takes the next place.
    fn take(&self) -> usize {
        // SAFETY: the mapping lives as long as `self`.
        unsafe { self.0.as_ref() }.fetch_add(1, Ordering::Relaxed)
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: `new` mapped it, and nothing refers to it any more.
        unsafe { libc::munmap(self.0.as_ptr().cast(), size_of::<AtomicUsize>()) };
    }
}

/// Calls a test after its setup. If the call has to be repeated, a copy of this process from before the call
/// continues, and this process exits.
fn call(session: &mut TestSession<'_>, number: usize) -> TestRun {
    let mut known = Vec::new();
    loop {
        let Ok((from, to)) = pipe() else {
            return session.call(number, &known).unwrap_or_default();
        };
        // SAFETY: this process has one thread.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            drop(to);
            known.clear();
            let _ = File::from(from).read_to_end(&mut known);
            if known.first() != Some(&AGAIN) {
                // SAFETY: ends the process without running anything of the worker's.
                unsafe { libc::_exit(0) }
            }
            known.remove(0);
            continue;
        }
        drop(from);
        match session.call(number, &known) {
            Ok(run) => {
                drop(to);
                // SAFETY: the copy is ours and not yet waited for. It ends at once.
                unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
                return run;
            }
            Err(more) => {
                let _ = File::from(to).write_all(&[&[AGAIN][..], &more].concat());
                // SAFETY: ends the process without running anything of the copy's.
                unsafe { libc::_exit(0) }
            }
        }
    }
}

/// First byte of the message that resumes a waiting copy; the known collections follow.
const AGAIN: u8 = b'k';
