//! Running pieces of work in child processes, several at a time: each starts from the
//! memory of this process as it is, so compiled code is at hand, and whatever it does
//! (crash, exit, run for ever, change prebuilt data) concerns nobody else.
//!
//! A child tells what it has to say on a pipe of its own, as records; what it prints
//! is kept apart. It must not need other threads: there are none in it.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use libc::{c_int, pid_t};

/// The descriptor on which a child reports, in the child. Tests know it too
/// (`REPORT_FD` of `_taipan_testing`).
const REPORT_FD: RawFd = 199;

/// More than this of what a child prints is dropped.
const OUTPUT_LIMIT: usize = 1 << 20;

/// How a child ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It took too long and was killed.
    TimedOut,
}

/// What is known of a child that has ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Ended {
    pub(super) exit: Exit,
    /// Its records: kind and content.
    pub(super) records: Vec<(u8, Vec<u8>)>,
    /// What it printed.
    pub(super) output: Vec<u8>,
    /// How long it ran.
    pub(super) duration: Duration,
}

/// Children that are running.
pub(super) struct Pool {
    children: Vec<Child>,
    timeout: Duration,
}

struct Child {
    key: usize,
    pid: pid_t,
    report: Stream,
    output: Stream,
    started: Instant,
    timed_out: bool,
}

/// A child process whose records are read while it runs. It may fork copies of itself: it counts as alive as long as
/// one of them is.
pub(super) struct Process {
    pid: pid_t,
    report: Stream,
    output: Stream,
}

impl Process {
    /// Forks a child that runs `work` and exits. The child writes records with [`record`].
    pub(super) fn start(work: impl FnOnce()) -> io::Result<Process> {
        let (report, report_end) = pipe()?;
        let (output, output_end) = pipe()?;
        // SAFETY: as in [`Pool::start`].
        let pid = unsafe { libc::fork() };
        match pid {
            -1 => return Err(io::Error::last_os_error()),
            0 => in_child(report_end.as_raw_fd(), output_end.as_raw_fd(), work),
            _ => {}
        }
        Ok(Process {
            pid,
            report: Stream::new(report, usize::MAX)?,
            output: Stream::new(output, OUTPUT_LIMIT)?,
        })
    }

    /// Reads pending output of the processes. Blocks until there is output or `wait` has passed.
    pub(super) fn poll<'a>(all: impl Iterator<Item = &'a mut Process>, wait: Duration) {
        let all: Vec<&mut Process> = all.collect();
        let streams = all.iter().flat_map(|p| [&p.report, &p.output]);
        wait_for(streams, wait);
        for p in all {
            p.report.read();
            p.output.read();
        }
    }

    /// Removes and returns the complete records.
    pub(super) fn take_records(&mut self) -> Vec<(u8, Vec<u8>)> {
        let (records, rest) = parse_records(&self.report.bytes);
        let taken = self.report.bytes.len() - rest;
        self.report.bytes.drain(..taken);
        records
    }

    /// Removes and returns the output of the child since the previous call.
    pub(super) fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output.bytes)
    }

    /// Whether more records may follow.
    pub(super) fn is_open(&self) -> bool {
        self.report.fd.is_some()
    }

    /// Kills the child, its copies and their children.
    pub(super) fn kill(&self) {
        kill(self.pid);
    }

    /// Waits for the child to exit.
    pub(super) fn wait(&mut self) -> Exit {
        let mut status = 0;
        // SAFETY: the child is ours and not yet waited for.
        unsafe { libc::waitpid(self.pid, &raw mut status, 0) };
        if libc::WIFSIGNALED(status) {
            Exit::Signal(libc::WTERMSIG(status))
        } else {
            Exit::Code(libc::WEXITSTATUS(status))
        }
    }
}

/// Kills a child and its children.
fn kill(pid: pid_t) {
    // SAFETY: the child is not yet waited for, so its number is its own.
    unsafe {
        libc::kill(-pid, libc::SIGKILL);
        libc::kill(pid, libc::SIGKILL);
    }
}

/// Blocks until one of the streams is readable or `wait` has passed.
fn wait_for<'a>(streams: impl Iterator<Item = &'a Stream>, wait: Duration) {
    let mut fds: Vec<libc::pollfd> = streams
        .filter_map(|s| Some(s.fd.as_ref()?.as_raw_fd()))
        .map(|fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    let millis = c_int::try_from(wait.as_millis()).unwrap_or(c_int::MAX);
    // SAFETY: the array is ours and as long as said.
    unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, millis) };
}

/// The reading end of a pipe and what came out of it.
struct Stream {
    fd: Option<OwnedFd>,
    bytes: Vec<u8>,
    limit: usize,
}

impl Pool {
    /// An empty pool whose children may run for so long.
    pub(super) fn new(timeout: Duration) -> Pool {
        Pool {
            children: Vec::new(),
            timeout,
        }
    }

    /// How many are running.
    pub(super) fn len(&self) -> usize {
        self.children.len()
    }

    /// Forks a child that runs `work` and exits. The child writes records with [`record`].
    pub(super) fn start(&mut self, key: usize, work: impl FnOnce()) -> io::Result<()> {
        let (report, report_end) = pipe()?;
        let (output, output_end) = pipe()?;
        // SAFETY: the child uses no other thread's state: allocator and standard
        // library of this process allow work after a fork.
        let pid = unsafe { libc::fork() };
        match pid {
            -1 => return Err(io::Error::last_os_error()),
            0 => in_child(report_end.as_raw_fd(), output_end.as_raw_fd(), work),
            _ => {}
        }
        self.children.push(Child {
            key,
            pid,
            report: Stream::new(report, usize::MAX)?,
            output: Stream::new(output, OUTPUT_LIMIT)?,
            started: Instant::now(),
            timed_out: false,
        });
        Ok(())
    }

    /// Waits for the next child to end. None if there is none, or after `patience` so
    /// that the caller can look around.
    pub(super) fn next(&mut self, patience: Duration) -> Option<(usize, Ended)> {
        let give_up = Instant::now() + patience;
        while !self.children.is_empty() {
            let mut wait = give_up.saturating_duration_since(Instant::now());
            for c in &mut self.children {
                let left = self.timeout.saturating_sub(c.started.elapsed());
                if left.is_zero() && !c.timed_out {
                    c.timed_out = true;
                    c.kill();
                }
                wait = wait.min(match (c.report.fd.is_some(), c.timed_out) {
                    (true, false) => left,
                    // About to end.
                    _ => Duration::from_millis(1),
                });
            }
            self.poll(wait.max(Duration::from_millis(1)));
            for i in 0..self.children.len() {
                if let Some(exit) = self.children[i].reap() {
                    let c = self.children.remove(i);
                    return Some((c.key, c.ended(exit)));
                }
            }
            if Instant::now() >= give_up {
                return None;
            }
        }
        None
    }

    /// Reads what there is to read.
    fn poll(&mut self, wait: Duration) {
        let streams = self.children.iter().flat_map(|c| [&c.report, &c.output]);
        wait_for(streams, wait);
        for c in &mut self.children {
            c.report.read();
            c.output.read();
        }
    }
}

impl Drop for Pool {
    /// Nothing outlives the pool.
    fn drop(&mut self) {
        for c in &mut self.children {
            c.kill();
            // SAFETY: the child is ours and not yet waited for.
            unsafe { libc::waitpid(c.pid, std::ptr::null_mut(), 0) };
        }
    }
}

impl Child {
    /// Ends the child and what it started.
    fn kill(&self) {
        kill(self.pid);
    }

    /// How it ended, if it has.
    fn reap(&mut self) -> Option<Exit> {
        // As long as the pipe is open the child is alive, unless it gave it to another
        // process; asking for every child in every turn is cheap.
        let mut status = 0;
        // SAFETY: the child is ours and not yet waited for.
        let pid = unsafe { libc::waitpid(self.pid, &raw mut status, libc::WNOHANG) };
        if pid != self.pid {
            return None;
        }
        self.report.read();
        self.output.read();
        Some(if self.timed_out {
            Exit::TimedOut
        } else if libc::WIFSIGNALED(status) {
            Exit::Signal(libc::WTERMSIG(status))
        } else {
            Exit::Code(libc::WEXITSTATUS(status))
        })
    }

    fn ended(self, exit: Exit) -> Ended {
        Ended {
            exit,
            records: parse_records(&self.report.bytes).0,
            output: self.output.bytes,
            duration: self.started.elapsed(),
        }
    }
}

impl Stream {
    fn new(fd: OwnedFd, limit: usize) -> io::Result<Stream> {
        // SAFETY: the descriptor is open.
        let result = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Stream {
            fd: Some(fd),
            bytes: Vec::new(),
            limit,
        })
    }

    /// Reads what is there, without waiting.
    fn read(&mut self) {
        let Some(fd) = &self.fd else { return };
        let mut buffer = [0u8; 1 << 16];
        loop {
            // SAFETY: the buffer is ours and as long as said.
            let n = unsafe { libc::read(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
            match n {
                0 => {
                    self.fd = None;
                    return;
                }
                n if n < 0 => return,
                n => {
                    let room = self.limit.saturating_sub(self.bytes.len());
                    self.bytes.extend(&buffer[..room.min(n as usize)]);
                }
            }
        }
    }
}

/// Reading and writing end of a pipe.
pub(super) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [0; 2];
    // SAFETY: the array takes two descriptors, which nobody else owns.
    unsafe {
        if libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])))
    }
}

/// The life of a child.
fn in_child(report: RawFd, output: RawFd, work: impl FnOnce()) -> ! {
    // SAFETY: descriptors and settings of this process alone, which has one thread.
    unsafe {
        libc::setpgid(0, 0);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        let no_core = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        libc::setrlimit(libc::RLIMIT_CORE, &raw const no_core);
        // The standard library explains overflows of its own threads' stacks.
        for signal in [libc::SIGSEGV, libc::SIGBUS] {
            libc::signal(signal, libc::SIG_DFL);
        }
        libc::dup2(report, REPORT_FD);
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY);
        libc::dup2(null, 0);
        libc::dup2(output, 1);
        libc::dup2(output, 2);
        for fd in [report, output, null] {
            if fd != REPORT_FD && fd > 2 {
                libc::close(fd);
            }
        }
    }
    // What a panic says goes to the output.
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    // SAFETY: ends the process without running anything of the parent's.
    unsafe { libc::_exit(i32::from(result.is_err())) }
}

/// Writes a record, in a child.
pub(super) fn record(kind: u8, content: &[u8]) {
    let mut bytes = vec![kind];
    bytes.extend(content.len().to_string().bytes());
    bytes.push(b':');
    bytes.extend(content);
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        // SAFETY: the bytes are ours.
        let n = unsafe { libc::write(REPORT_FD, rest.as_ptr().cast(), rest.len()) };
        if n <= 0 {
            return;
        }
        rest = &rest[n as usize..];
    }
}

/// Parses records of the form `kind length ":" content`. Returns the number of bytes after the last complete record.
fn parse_records(bytes: &[u8]) -> (Vec<(u8, Vec<u8>)>, usize) {
    let mut out = Vec::new();
    let mut rest = bytes;
    while let Some((kind, more)) = rest.split_first() {
        let Some(colon) = more.iter().position(|b| *b == b':') else {
            break;
        };
        let length = std::str::from_utf8(&more[..colon]).ok();
        let Some(length) = length.and_then(|l| l.parse::<usize>().ok()) else {
            break;
        };
        let Some(content) = more.get(colon + 1..).and_then(|c| c.get(..length)) else {
            break;
        };
        out.push((*kind, content.to_vec()));
        rest = &more[colon + 1 + length..];
    }
    (out, rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(work: impl FnOnce()) -> Ended {
        let mut pool = Pool::new(Duration::from_millis(300));
        pool.start(7, work).unwrap();
        let (key, ended) = pool.next(Duration::from_secs(60)).unwrap();
        assert_eq!(key, 7);
        ended
    }

    fn print(text: &str) {
        // SAFETY: the text is ours.
        unsafe { libc::write(1, text.as_ptr().cast(), text.len()) };
    }

    #[test]
    fn records_and_output_are_told_apart() {
        let ended = run(|| {
            print("hello ");
            record(b'a', b"one:two");
            print("world\n");
            record(b'k', b"");
        });
        assert_eq!(ended.exit, Exit::Code(0));
        assert_eq!(ended.output, b"hello world\n");
        let records = [(b'a', b"one:two".to_vec()), (b'k', Vec::new())];
        assert_eq!(ended.records, records);
    }

    #[test]
    fn children_end_as_they_like() {
        // SAFETY: these end the child only.
        unsafe {
            assert_eq!(run(|| libc::_exit(3)).exit, Exit::Code(3));
            let killed = run(|| {
                libc::raise(libc::SIGSEGV);
            });
            assert_eq!(killed.exit, Exit::Signal(libc::SIGSEGV));
            let ended = run(|| {
                print("before");
                loop {
                    libc::pause();
                }
            });
            assert_eq!(ended.exit, Exit::TimedOut);
            assert_eq!(ended.output, b"before");
            // Without its pipes.
            let closed = run(|| {
                for fd in [1, 2, REPORT_FD] {
                    libc::close(fd);
                }
                libc::usleep(20_000);
                libc::_exit(4);
            });
            assert_eq!(closed.exit, Exit::Code(4));
        }
    }

    #[test]
    fn much_output_is_cut() {
        let ended = run(|| {
            for _ in 0..40 {
                print(&"x".repeat(50_000));
            }
        });
        assert_eq!(ended.exit, Exit::Code(0));
        assert_eq!(ended.output.len(), OUTPUT_LIMIT);
    }

    #[test]
    fn damaged_records_end_the_list() {
        for (bytes, count) in [
            (&b""[..], 0),
            (b"k0:", 1),
            (b"k0:a", 1),
            (b"a3:abck1:", 1),
            (b"a3:abcx:", 1),
            (b"a99999999999999999999:", 0),
        ] {
            assert_eq!(parse_records(bytes).0.len(), count, "{bytes:?}");
        }
    }
}
