//! A `taipan watch` under test.

use std::fs;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder with these files.
pub(crate) fn project(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

/// What has been written to a stream, read on a thread.
#[derive(Clone, Default)]
struct Stream(Arc<(Mutex<String>, Condvar)>);

impl Stream {
    fn read(from: impl Read + Send + 'static) -> Stream {
        let stream = Stream::default();
        let to = stream.clone();
        std::thread::spawn(move || {
            let mut from = from;
            let mut buffer = [0; 4096];
            // A terminal without a program answers with an error.
            while let Ok(n @ 1..) = from.read(&mut buffer) {
                let text = String::from_utf8_lossy(&buffer[..n]).into_owned();
                to.0.0.lock().unwrap().push_str(&text);
                to.0.1.notify_all();
            }
        });
        stream
    }

    /// Waits for a text behind `from`; answers where it ends.
    #[track_caller]
    fn wait(&self, from: usize, text: &str) -> usize {
        let end = Instant::now() + PATIENCE;
        let mut all = self.0.0.lock().unwrap();
        loop {
            if let Some(at) = all[from..].find(text) {
                return from + at + text.len();
            }
            let rest = end.saturating_duration_since(Instant::now());
            assert!(!rest.is_zero(), "no `{text}` in:\n{}", &all[from..]);
            all = self.0.1.wait_timeout(all, rest).unwrap().0;
        }
    }

    fn all(&self) -> String {
        self.0.0.lock().unwrap().clone()
    }
}

/// The process, and how far its output has been looked at.
pub(crate) struct Watched {
    child: Child,
    folder: std::path::PathBuf,
    stdout: Stream,
    stderr: Stream,
    seen: (usize, usize),
    terminal: Option<(OwnedFd, OwnedFd)>,
    /// The terminal's mode before anything was started on it.
    pub(crate) mode_before: Option<[u32; 3]>,
}

fn command(dir: &TempDir, args: &[&str]) -> Command {
    // aarch64.rs names another executable.
    let taipan = std::env::var_os("TAIPAN_TESTED");
    let taipan = taipan.unwrap_or_else(|| env!("CARGO_BIN_EXE_taipan").into());
    let mut command = Command::new(taipan);
    command.current_dir(dir.path()).arg("watch").args(args);
    command
}

/// Flags of a terminal's mode.
fn mode_of(terminal: &OwnedFd) -> [u32; 3] {
    // SAFETY: reads into a value of this frame.
    unsafe {
        let mut mode = std::mem::zeroed::<libc::termios>();
        assert_eq!(libc::tcgetattr(terminal.as_raw_fd(), &raw mut mode), 0);
        [mode.c_iflag, mode.c_oflag, mode.c_lflag]
    }
}

impl Watched {
    /// On pipes.
    pub(crate) fn start(dir: &TempDir, args: &[&str]) -> Watched {
        Watched::start_with(dir, args, Stdio::null())
    }

    pub(crate) fn start_with(dir: &TempDir, args: &[&str], stdin: Stdio) -> Watched {
        Watched::spawn(dir, command(dir, args), stdin)
    }

    /// With a variable of the environment.
    pub(crate) fn start_where(dir: &TempDir, args: &[&str], name: &str, value: &Path) -> Watched {
        let mut command = command(dir, args);
        command.env(name, value);
        Watched::spawn(dir, command, Stdio::null())
    }

    fn spawn(dir: &TempDir, mut command: Command, stdin: Stdio) -> Watched {
        command
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        Watched {
            stdout: Stream::read(child.stdout.take().unwrap()),
            stderr: Stream::read(child.stderr.take().unwrap()),
            child,
            folder: dir.path().to_owned(),
            seen: (0, 0),
            terminal: None,
            mode_before: None,
        }
    }

    /// On a terminal of its own.
    pub(crate) fn start_on_terminal(dir: &TempDir, args: &[&str]) -> Watched {
        let (mut ours, mut theirs) = (0, 0);
        // SAFETY: the descriptors are made here.
        let (ours, theirs) = unsafe {
            let made = libc::openpty(
                &raw mut ours,
                &raw mut theirs,
                std::ptr::null_mut(),
                std::ptr::null(),
                std::ptr::null(),
            );
            assert_eq!(made, 0);
            libc::fcntl(ours, libc::F_SETFD, libc::FD_CLOEXEC);
            libc::fcntl(theirs, libc::F_SETFD, libc::FD_CLOEXEC);
            (OwnedFd::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs))
        };
        let stdio = || Stdio::from(theirs.try_clone().unwrap());
        let mut command = command(dir, args);
        command.stdin(stdio()).stdout(stdio()).stderr(stdio());
        // SAFETY: plain system calls between fork and exec.
        unsafe {
            command.pre_exec(|| {
                libc::setsid();
                libc::ioctl(0, libc::TIOCSCTTY, 0);
                Ok(())
            });
        }
        let mode_before = Some(mode_of(&theirs));
        let child = command.spawn().unwrap();
        let screen = Stream::read(fs::File::from(ours.try_clone().unwrap()));
        Watched {
            child,
            folder: dir.path().to_owned(),
            stdout: screen.clone(),
            stderr: screen,
            seen: (0, 0),
            terminal: Some((ours, theirs)),
            mode_before,
        }
    }

    /// Waits for a text on standard error behind what was waited for before.
    #[track_caller]
    pub(crate) fn tells(&mut self, text: &str) {
        self.seen.1 = self.stderr.wait(self.seen.1, text);
    }

    /// Waits for a text on standard output.
    #[track_caller]
    pub(crate) fn prints(&mut self, text: &str) {
        self.seen.0 = self.stdout.wait(self.seen.0, text);
    }

    /// Waits for a text on the terminal.
    #[track_caller]
    pub(crate) fn shows(&mut self, text: &str) {
        self.prints(text);
    }

    /// The number of the program's process, as the program says it.
    #[track_caller]
    pub(crate) fn pid(&mut self) -> i32 {
        self.prints("pid ");
        let from = self.seen.0;
        self.prints("\n");
        self.stdout.all()[from..self.seen.0].trim().parse().unwrap()
    }

    pub(crate) fn everything(&self) -> String {
        self.stdout.all() + &self.stderr.all()
    }

    /// Saves a file at one stroke.
    pub(crate) fn save(&self, name: &str, text: &str) {
        let new = self.folder.join(".new");
        fs::write(&new, text).unwrap();
        fs::rename(new, self.folder.join(name)).unwrap();
    }

    pub(crate) fn press(&self, keys: &str) {
        let (ours, _) = self.terminal.as_ref().unwrap();
        let mut terminal = fs::File::from(ours.try_clone().unwrap());
        terminal.write_all(keys.as_bytes()).unwrap();
    }

    /// Flags of the terminal's mode, if there is one.
    pub(crate) fn terminal_mode(&self) -> Option<[u32; 3]> {
        self.terminal.as_ref().map(|(_, theirs)| mode_of(theirs))
    }

    pub(crate) fn signal(&self, number: i32) {
        signal(self.child.id() as i32, number);
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
    }

    #[track_caller]
    pub(crate) fn exit_code(&mut self) -> Option<i32> {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < end, "still there:\n{}", self.everything());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn signal(pid: i32, number: i32) {
    // SAFETY: a plain system call.
    unsafe { libc::kill(pid, number) };
}

/// Whether there is such a process that has not ended.
pub(crate) fn is_alive(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // `PID (NAME) STATE ...`
    let state = stat.rsplit(')').next().unwrap_or_default().trim();
    !state.is_empty() && !state.starts_with('Z')
}

#[track_caller]
pub(crate) fn wait_until_gone(pid: i32) {
    let end = Instant::now() + PATIENCE;
    while is_alive(pid) {
        assert!(Instant::now() < end, "process {pid} is still there");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[track_caller]
pub(crate) fn wait_for_file(path: &std::path::Path) {
    let end = Instant::now() + PATIENCE;
    while !path.exists() {
        assert!(Instant::now() < end, "there is no {}", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}
