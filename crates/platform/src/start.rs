//! Starting a process that prepares itself before it becomes another program.
//!
//! A copy of this process by `fork` takes time in proportion to its memory: 0.1 s for 2 GB, since the kernel copies the
//! tables of pages, and each page that is written later is copied once. The new process therefore uses the memory of this
//! one, while the thread that starts it waits (`CLONE_VFORK`), as in `posix_spawn`.

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::fs::File;
use std::io::{self, PipeReader};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::ptr;

use crate::command::on_path;

/// The environment of a new process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Environment {
    /// That of this process, with the variables of the command.
    Inherited,
    /// None.
    Empty,
}

/// A process that was started.
pub(crate) struct Running {
    pub(crate) id: libc::pid_t,
    pub(crate) stdout: PipeReader,
    pub(crate) stderr: PipeReader,
}

/// Bytes of the stack on which the new process prepares itself.
const STACK: usize = 256 << 10;

/// Starts a command in a process group of its own, without input. `prepare` runs in the new process.
///
/// # Errors
/// There is no such program, no process, or `prepare` fails.
///
/// # Safety
/// `prepare` leaves the memory of this process as it is, but for what it returns: it makes system calls, which concern the
/// new process.
pub(crate) unsafe fn start(
    command: &Command,
    environment: Environment,
    prepare: &dyn Fn() -> io::Result<()>,
) -> io::Result<Running> {
    unsafe extern "C" {
        static environ: *const *const c_char;
    }
    let program = on_path(command.get_program()).ok_or(io::ErrorKind::NotFound)?;
    let program = text(program.as_os_str())?;
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<CString> = words.map(text).collect::<io::Result<_>>()?;
    let argv = pointers(&words);
    let folder = command.get_current_dir();
    let folder = folder.map(|f| text(f.as_os_str())).transpose()?;
    let is_inherited = environment == Environment::Inherited;
    let variables = match is_inherited && command.get_envs().next().is_some() {
        true => variables(command)?,
        false => Vec::new(),
    };
    let envp = pointers(&variables);
    let input = File::open("/dev/null")?;
    let (stdout, out) = io::pipe()?;
    let (stderr, err) = io::pipe()?;
    let mut child = Child {
        program: &program,
        argv: argv.as_ptr(),
        envp: match is_inherited && variables.is_empty() {
            // SAFETY: nobody changes the environment.
            true => unsafe { environ },
            false => envp.as_ptr(),
        },
        folder: folder.as_deref(),
        streams: [input.as_raw_fd(), out.as_raw_fd(), err.as_raw_fd()],
        prepare,
        error: None,
    };
    let mut stack = vec![0_u128; STACK / size_of::<u128>()];
    // A handler of this process must not run in the new one, which has the same memory.
    let mask = set_mask(&full_mask());
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the stack is the new process's alone, and it ends before its end. This thread waits until the new process is
    // another program or has ended, so both use the memory in turns.
    let id = unsafe {
        let top = stack.as_mut_ptr_range().end;
        libc::clone(become_program, top.cast(), flags, (&raw mut child).cast())
    };
    let failed = io::Error::last_os_error();
    set_mask(&mask);
    if id < 0 {
        return Err(failed);
    }
    match child.error {
        Some(e) => {
            let _ = wait(id);
            Err(e)
        }
        None => Ok(Running { id, stdout, stderr }),
    }
}

/// How a process ended, if it has.
pub(crate) fn ended(id: libc::pid_t) -> io::Result<Option<ExitStatus>> {
    wait_with(id, libc::WNOHANG)
}

/// Waits for the end of a process.
pub(crate) fn wait(id: libc::pid_t) -> io::Result<ExitStatus> {
    wait_with(id, 0)?.ok_or_else(|| io::ErrorKind::NotFound.into())
}

fn wait_with(id: libc::pid_t, flags: c_int) -> io::Result<Option<ExitStatus>> {
    let mut status = 0;
    loop {
        // SAFETY: a number, and room for one.
        let ended = unsafe { libc::waitpid(id, &raw mut status, flags) };
        match ended {
            0 => return Ok(None),
            -1 => {
                let e = io::Error::last_os_error();
                if e.kind() != io::ErrorKind::Interrupted {
                    return Err(e);
                }
            }
            _ => return Ok(Some(ExitStatus::from_raw(status))),
        }
    }
}

fn text(s: &OsStr) -> io::Result<CString> {
    Ok(CString::new(s.as_bytes())?)
}

/// Pointers to strings, and a null pointer.
fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    let pointers = strings.iter().map(|s| s.as_ptr());
    pointers.chain([ptr::null()]).collect()
}

/// The environment of this process with the variables of a command.
fn variables(command: &Command) -> io::Result<Vec<CString>> {
    let is_own = |name: &OsStr| command.get_envs().any(|(own, _)| own == name);
    let inherited = std::env::vars_os().filter(|(name, _)| !is_own(name));
    let own =
        (command.get_envs()).filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
    let all = inherited.chain(own).map(|(mut variable, value)| {
        variable.push("=");
        variable.push(value);
        CString::new(variable.into_vec()).map_err(Into::into)
    });
    all.collect()
}

/// A new process on the way to its program.
struct Child<'a> {
    program: &'a CStr,
    argv: *const *const c_char,
    envp: *const *const c_char,
    folder: Option<&'a CStr>,
    streams: [c_int; 3],
    prepare: &'a dyn Fn() -> io::Result<()>,
    /// The error that kept it from its program.
    error: Option<io::Error>,
}

extern "C" fn become_program(child: *mut c_void) -> c_int {
    // SAFETY: `start` passes this, and waits.
    let child = unsafe { &mut *child.cast::<Child<'_>>() };
    child.error = child.prepared().err().or_else(|| {
        // SAFETY: strings with an end, and lists of them with null pointers at their ends.
        unsafe { libc::execve(child.program.as_ptr(), child.argv, child.envp) };
        Some(io::Error::last_os_error())
    });
    // SAFETY: it ends this process alone.
    unsafe { libc::_exit(127) }
}

impl Child<'_> {
    fn prepared(&self) -> io::Result<()> {
        without_handlers();
        let done = |result: c_int| match result {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        };
        for (stream, to) in self.streams.iter().zip(0..) {
            // SAFETY: numbers.
            done(unsafe { libc::dup2(*stream, to) })?;
        }
        // SAFETY: numbers.
        done(unsafe { libc::setpgid(0, 0) })?;
        if let Some(folder) = self.folder {
            // SAFETY: a string with an end.
            done(unsafe { libc::chdir(folder.as_ptr()) })?;
        }
        (self.prepare)()?;
        set_mask(&empty_mask());
        Ok(())
    }
}

/// Resets the signal handlers of this process to the defaults, and SIGPIPE, which Rust's runtime ignores.
fn without_handlers() {
    for signal in 1..=libc::SIGRTMAX() {
        // SAFETY: a structure of numbers; a signal that does not exist is refused.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let known = libc::sigaction(signal, ptr::null(), &raw mut action) == 0;
            let is_ignored = action.sa_sigaction == libc::SIG_IGN;
            if known
                && action.sa_sigaction != libc::SIG_DFL
                && (!is_ignored || signal == libc::SIGPIPE)
            {
                libc::signal(signal, libc::SIG_DFL);
            }
        }
    }
}

fn empty_mask() -> libc::sigset_t {
    // SAFETY: zeros are a set, and the call makes it an empty one.
    unsafe {
        let mut mask = std::mem::zeroed();
        libc::sigemptyset(&raw mut mask);
        mask
    }
}

fn full_mask() -> libc::sigset_t {
    let mut mask = empty_mask();
    // SAFETY: a set.
    unsafe { libc::sigfillset(&raw mut mask) };
    mask
}

/// Sets the mask of blocked signals, and returns the mask before.
fn set_mask(mask: &libc::sigset_t) -> libc::sigset_t {
    let mut before = empty_mask();
    // SAFETY: two sets.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, mask, &raw mut before) };
    before
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::process::Command;

    use super::*;

    fn started(command: &Command, environment: Environment) -> io::Result<(String, ExitStatus)> {
        // SAFETY: it does nothing.
        let mut running = unsafe { start(command, environment, &|| Ok(()))? };
        let mut text = String::new();
        running.stdout.read_to_string(&mut text)?;
        Ok((text, wait(running.id)?))
    }

    #[test]
    fn a_program_gets_its_words_its_folder_and_variables() {
        let mut command = Command::new("sh");
        command.args(["-c", "pwd; echo \"$1 $NAMED\"; kill -PIPE $$", "sh", "a b"]);
        command.current_dir("/").env("NAMED", "value");
        let (text, status) = started(&command, Environment::Inherited).unwrap();
        assert_eq!(text, "/\na b value\n");
        assert_eq!(status.signal(), Some(libc::SIGPIPE));
        let (text, _) = started(&Command::new("env"), Environment::Empty).unwrap();
        assert_eq!(text, "");
        let (text, _) = started(&Command::new("env"), Environment::Inherited).unwrap();
        assert!(text.contains("PATH="), "{text}");
    }

    #[test]
    fn errors_of_a_new_process_are_known() {
        let missing = started(&Command::new("no-such-program"), Environment::Empty);
        assert_eq!(missing.unwrap_err().kind(), io::ErrorKind::NotFound);
        let refuse = || Err(io::Error::other("refused"));
        // SAFETY: it does nothing but return.
        let refused = unsafe { start(&Command::new("true"), Environment::Empty, &refuse) };
        assert_eq!(refused.err().unwrap().to_string(), "refused");
        let mut elsewhere = Command::new("true");
        elsewhere.current_dir("/no/such/folder");
        let failed = started(&elsewhere, Environment::Empty);
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
