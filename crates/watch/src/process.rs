//! The process that runs a watched program, apart from the compiler: its crash or its
//! endless loop is nobody else's.
//!
//! ```text
//! watcher ──fork, while it has one thread──► launcher ──fork, for every start──► program
//!    │  ◄────────── messages ──────────────►    │
//!    └── writes code into the region, which all three have at the same addresses
//! ```
//!
//! The launcher does nothing but start, end and wait for programs, so that a fork is
//! cheap and no lock of another thread is ever held in it. It ends when the watcher
//! does, and the program with it.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use taipan_codegen_cranelift::{LoadedProgram, Region};
use taipan_lltype::{from_bytes, to_bytes};

use taipan_driver::parts::run_payload;
use taipan_driver::{JitOptions, Splits};

/// What the program's standard input is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input {
    /// The watcher's own; a file is read from its start by every run.
    Inherited,
    /// What [`Launcher::input`] gives it: the watcher keeps the terminal for itself.
    Given,
}

/// How a program ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// With an exit code.
    Code(i32),
    /// By a signal of this number.
    Signal(i32),
    /// It could not be started: the error number.
    NotStarted(i32),
}

/// The end of the program that was started as number `run`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ended {
    /// Its number.
    pub run: u64,
    /// How it ended.
    pub end: End,
}

/// Starts programs in processes of their own, one at a time.
pub struct Launcher {
    socket: UnixStream,
    region: Region,
    runs: u64,
}

/// A message in either direction: what, and two operands.
type Message = [u64; 3];

const START: u64 = 1;
const STOP: u64 = 2;
const INPUT: u64 = 3;
const INPUT_ENDS: u64 = 4;
const ENDED: u64 = 5;
const NOT_STARTED: u64 = 6;
const START_WITH_JIT: u64 = 7;

/// How long a program may take to end after it was asked to.
const GRACE_MILLISECONDS: i32 = 200;

impl Launcher {
    /// Forks the launcher of a program with these arguments, the first of which is its
    /// own name.
    ///
    /// # Safety
    /// This process has one thread.
    pub unsafe fn fork(argv: Vec<Vec<u8>>, input: Input) -> io::Result<Launcher> {
        let region = Region::new()?;
        let (ours, theirs) = UnixStream::pair()?;
        // SAFETY: the child goes on with whole data, since no other thread has held
        // anything.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                drop(ours);
                let code = Serving::new(theirs, region, argv, input).map_or(1, Serving::serve);
                // SAFETY: ends the process without running what the watcher registered.
                unsafe { libc::_exit(code) }
            }
            _ => Ok(Launcher {
                socket: ours,
                region,
                runs: 0,
            }),
        }
    }

    /// Where programs are loaded. Nothing may be running when one is.
    pub fn region(&mut self) -> &mut Region {
        &mut self.region
    }

    /// Starts the program that the region holds. Returns its number.
    pub fn start(&mut self, program: &LoadedProgram) -> io::Result<u64> {
        self.runs += 1;
        send(&self.socket, [START, self.runs, program.table as u64])?;
        let library = to_bytes(&program.library).unwrap_or_default();
        send(&self.socket, [library.len() as u64, 0, 0])?;
        (&self.socket).write_all(&library)?;
        Ok(self.runs)
    }

    /// Starts a program that compiles its loops while it runs, and loads itself.
    pub(super) fn start_with_jit(
        &mut self,
        program: &[u8],
        splits: Splits,
        threshold: Option<i64>,
    ) -> io::Result<u64> {
        self.runs += 1;
        send(
            &self.socket,
            [START_WITH_JIT, self.runs, program.len() as u64],
        )?;
        let eager = u64::from(splits == Splits::Eager);
        let is_given = u64::from(threshold.is_some());
        send(
            &self.socket,
            [eager, is_given, threshold.unwrap_or(0) as u64],
        )?;
        (&self.socket).write_all(program)?;
        Ok(self.runs)
    }

    /// Ends the program if it runs: [`Launcher::wait`] tells when it is over.
    pub fn stop(&self) -> io::Result<()> {
        send(&self.socket, [STOP, 0, 0])
    }

    /// Gives text to the program's standard input.
    pub fn input(&self, text: &[u8]) -> io::Result<()> {
        send(&self.socket, [INPUT, text.len() as u64, 0])?;
        (&self.socket).write_all(text)
    }

    /// Ends the program's standard input.
    pub fn end_input(&self) -> io::Result<()> {
        send(&self.socket, [INPUT_ENDS, 0, 0])
    }

    /// Calls `report` for every end of a program, on a thread of its own.
    pub fn wait(&self, mut report: impl FnMut(Ended) + Send + 'static) -> io::Result<()> {
        let socket = self.socket.try_clone()?;
        std::thread::Builder::new()
            .name("program".to_owned())
            .spawn(move || {
                while let Ok([what, run, detail]) = receive(&socket) {
                    let end = match what {
                        NOT_STARTED => End::NotStarted(detail as i32),
                        _ => end_of(detail as i32),
                    };
                    report(Ended { run, end });
                }
            })?;
        Ok(())
    }
}

fn end_of(status: i32) -> End {
    match libc::WIFSIGNALED(status) {
        true => End::Signal(libc::WTERMSIG(status)),
        false => End::Code(libc::WEXITSTATUS(status)),
    }
}

fn send(mut socket: &UnixStream, message: Message) -> io::Result<()> {
    let mut bytes = [0; 24];
    for (to, word) in bytes.chunks_exact_mut(8).zip(message) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    socket.write_all(&bytes)
}

fn receive(mut socket: &UnixStream) -> io::Result<Message> {
    let mut message = [0; 3];
    for word in &mut message {
        let mut bytes = [0; 8];
        socket.read_exact(&mut bytes)?;
        *word = u64::from_le_bytes(bytes);
    }
    Ok(message)
}

/// The launcher's own side.
struct Serving {
    socket: UnixStream,
    region: Region,
    argv: Vec<Vec<u8>>,
    input: Input,
    /// Readable when a program has ended.
    ends: OwnedFd,
    program: Option<Program>,
}

/// What is started.
enum Start {
    /// What the region holds.
    Loaded(LoadedProgram),
    /// A program that is loaded by its own process.
    WithJit(Vec<u8>, JitOptions),
}

struct Program {
    run: u64,
    pid: libc::pid_t,
    stdin: Option<std::fs::File>,
}

impl Serving {
    fn new(
        socket: UnixStream,
        region: Region,
        argv: Vec<Vec<u8>>,
        input: Input,
    ) -> io::Result<Serving> {
        // SAFETY: plain system calls on values of this frame.
        let ends = unsafe {
            // What the terminal sends to all its processes is for the watcher.
            for signal in TERMINAL_SIGNALS {
                libc::signal(signal, libc::SIG_IGN);
            }
            let set = child_signal();
            libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
            let fd = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(fd)
        };
        Ok(Serving {
            socket,
            region,
            argv,
            input,
            ends,
            program: None,
        })
    }

    /// Serves until the watcher is gone; answers the exit code.
    fn serve(mut self) -> i32 {
        loop {
            let mut ready =
                [self.socket.as_raw_fd(), self.ends.as_raw_fd()].map(|fd| libc::pollfd {
                    fd,
                    events: libc::POLLIN,
                    revents: 0,
                });
            // SAFETY: two entries are passed, as the count says.
            unsafe { libc::poll(ready.as_mut_ptr(), 2, -1) };
            if ready[1].revents != 0 {
                self.ended();
            }
            if ready[0].revents != 0 {
                let done = receive(&self.socket).and_then(|m| self.obey(m));
                if done.is_err() {
                    self.stop();
                    return 0;
                }
            }
        }
    }

    fn obey(&mut self, message: Message) -> io::Result<()> {
        match message {
            [START, run, table] => {
                let [len, ..] = receive(&self.socket)?;
                let mut library = vec![0; len as usize];
                self.socket.read_exact(&mut library)?;
                let loaded = LoadedProgram {
                    table: table as usize,
                    library: from_bytes(&library).flatten(),
                };
                self.start(run, Start::Loaded(loaded))?;
            }
            [START_WITH_JIT, run, len] => {
                let [eager, is_given, threshold] = receive(&self.socket)?;
                let mut program = vec![0; len as usize];
                self.socket.read_exact(&mut program)?;
                let options = JitOptions {
                    splits: match eager {
                        0 => Splits::Lazy,
                        _ => Splits::Eager,
                    },
                    threshold: (is_given != 0).then_some(threshold as i64),
                    ..JitOptions::default()
                };
                self.start(run, Start::WithJit(program, options))?;
            }
            [STOP, ..] => self.stop(),
            [INPUT, len, _] => {
                let mut text = vec![0; len as usize];
                self.socket.read_exact(&mut text)?;
                if let Some(stdin) = self.program.as_mut().and_then(|p| p.stdin.as_mut()) {
                    // A program that does not read loses it.
                    let _ = stdin.write_all(&text);
                }
            }
            [INPUT_ENDS, ..] => {
                if let Some(p) = &mut self.program {
                    p.stdin = None;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, run: u64, what: Start) -> io::Result<()> {
        match self.fork(run, what) {
            Ok(program) => self.program = Some(program),
            Err(e) => {
                let number = e.raw_os_error().unwrap_or(0);
                send(&self.socket, [NOT_STARTED, run, number as u64])?;
            }
        }
        Ok(())
    }

    fn fork(&self, run: u64, what: Start) -> io::Result<Program> {
        let pipe = match self.input {
            Input::Inherited => None,
            Input::Given => Some(pipe()?),
        };
        // SAFETY: this process has one thread.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                let stdin = pipe.as_ref().map(|(read, _)| read);
                // SAFETY: the watcher has loaded the program before it asked for this.
                let code = unsafe { self.be_program(what, stdin) };
                // SAFETY: ends the process.
                unsafe { libc::_exit(code) }
            }
            pid => Ok(Program {
                run,
                pid,
                stdin: pipe.map(|(_, write)| write.into()),
            }),
        }
    }

    /// The rest of the life of a program's process: its exit code.
    ///
    /// # Safety
    /// The region holds a program with the table that is given.
    unsafe fn be_program(&self, what: Start, stdin: Option<&OwnedFd>) -> i32 {
        // SAFETY: plain system calls; all descriptors of the launcher are given up
        // together with its memory of them.
        unsafe {
            // A group of its own: it is ended with whatever it has started.
            libc::setpgid(0, 0);
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            for signal in TERMINAL_SIGNALS {
                libc::signal(signal, libc::SIG_DFL);
            }
            let set = child_signal();
            libc::sigprocmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
            match stdin {
                Some(fd) => drop(libc::dup2(fd.as_raw_fd(), 0)),
                // Fails where there is no file to go back in.
                None => drop(libc::lseek(0, 0, libc::SEEK_SET)),
            }
        }
        let entered = match what {
            Start::Loaded(_) => self.region.enter().map_err(|e| e.to_string()),
            Start::WithJit(..) => Ok(()),
        };
        // SAFETY: nothing uses them from here on; the mapping stays without its file.
        unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0) };
        let result = entered.and_then(|()| match what {
            // SAFETY: the region holds a program with that table, which the watcher has loaded
            // before it asked for the start, and this process has just entered.
            Start::Loaded(program) => unsafe {
                let loaded = program.library.map_or(Ok(()), |l| l.load());
                let run = || self.region.run(program.table, &self.argv);
                loaded.and_then(|()| run()).map_err(|e| e.to_string())
            },
            Start::WithJit(program, options) => run_payload(program, &self.argv, &options)
                .unwrap_or_else(|| Err("the program got lost on the way here".to_owned())),
        });
        result.unwrap_or_else(|e| {
            #[expect(clippy::print_stderr, reason = "this process is the program")]
            {
                eprintln!("taipan: {e}");
            }
            2
        })
    }

    /// Ends the program, gently first, and waits for it.
    fn stop(&mut self) {
        let mut patience = GRACE_MILLISECONDS;
        self.signal(libc::SIGTERM);
        while self.program.is_some() {
            let mut ended = libc::pollfd {
                fd: self.ends.as_raw_fd(),
                events: libc::POLLIN,
                revents: 0,
            };
            // SAFETY: one entry is passed, as the count says.
            if unsafe { libc::poll(&raw mut ended, 1, patience) } == 0 {
                self.signal(libc::SIGKILL);
                patience = -1;
            }
            self.ended();
        }
    }

    fn signal(&self, signal: i32) {
        if let Some(p) = &self.program {
            // SAFETY: plain system calls; the process has not been waited for.
            unsafe {
                // Before it has made its group, only it itself can be told.
                libc::kill(p.pid, signal);
                libc::kill(-p.pid, signal);
            }
        }
    }

    /// Sees whether the program has ended, and tells.
    fn ended(&mut self) {
        let mut info = [0u8; 128];
        let mut status = 0;
        // SAFETY: reads into values of this frame.
        let gone = unsafe {
            libc::read(self.ends.as_raw_fd(), info.as_mut_ptr().cast(), info.len());
            libc::waitpid(-1, &raw mut status, libc::WNOHANG)
        };
        if let Some(program) = self.program.take_if(|p| p.pid == gone) {
            // What it has started goes with it.
            // SAFETY: a plain system call; nobody else has the group's number yet.
            unsafe { libc::kill(-gone, libc::SIGKILL) };
            // If the watcher is gone, so are we soon.
            let _ = send(&self.socket, [ENDED, program.run, status as u32 as u64]);
        }
    }
}

const TERMINAL_SIGNALS: [i32; 6] = [
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGHUP,
];

fn child_signal() -> libc::sigset_t {
    // SAFETY: the set is initialised by the first call.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        set
    }
}

/// A pipe to a program; writing to it never waits.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: the descriptors are made here.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(io::Error::last_os_error());
        }
        libc::fcntl(ends[1], libc::F_SETFL, libc::O_NONBLOCK);
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}
