//! Processes with bounds: time, memory, output, and what they may do to the machine.
//!
//! A *compiler* that works on files of a folder which nobody trusts reads what it likes and writes into one
//! folder only. A *program* that was compiled from them reads the system's libraries and its own folder,
//! and nothing else: it writes nothing, starts no process, opens no connection and sees no environment.
//! Landlock keeps the files, a seccomp filter all the rest. The filter ends the process at the first system
//! call that is not on its list, so that no program continues after a denied call.

use std::collections::BTreeMap;
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, Scope, path_beneath_rules,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

use crate::start::{Environment, Running, ended, start, wait};

/// Limits of a process.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long it may take, all processes that it starts included.
    pub time: Duration,
    /// Bytes of address space.
    pub memory: u64,
    /// Bytes that it may print.
    pub output: u64,
}

/// Restrictions of a process.
#[derive(Clone, Copy, Debug)]
pub enum Confinement<'a> {
    /// Whatever the user may.
    None,
    /// Write into this folder only.
    Compiler(&'a Path),
    /// Read the system's libraries and these folders only.
    Program(&'a [PathBuf]),
}

/// Whether the outcome of a process is still needed.
pub type IsWanted<'a> = &'a dyn Fn() -> bool;

/// How a process ended.
#[derive(Debug)]
pub struct Ended {
    /// Its status.
    pub status: ExitStatus,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
    /// The limit that it came to, in words.
    pub exceeded: Option<&'static str>,
}

impl Ended {
    /// Whether the filter of system calls has ended it.
    pub fn was_confined(&self) -> bool {
        self.status.signal() == Some(libc::SIGSYS)
    }
}

/// Folders and files that a program needs to start.
const SYSTEM: &[&str] = &[
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/nix/store",
    "/gnu/store",
    "/dev/null",
    "/dev/urandom",
];

/// Bytes of a file that a compiler may write.
const LARGEST_FILE: u64 = 1 << 28;

/// Runs a command to its end, or to a limit.
///
/// `is_wanted` is asked every few milliseconds whether the outcome still matters.
///
/// # Errors
/// It cannot be started, this kernel cannot confine it, or it is not wanted any more
/// ([`io::ErrorKind::Interrupted`]).
pub fn run_bounded(
    command: Command,
    limits: Limits,
    confinement: Confinement<'_>,
    is_wanted: IsWanted<'_>,
) -> io::Result<Ended> {
    let (rules, filter, environment) = match confinement {
        Confinement::None => (None, None, Environment::Inherited),
        Confinement::Compiler(folder) => (compiler_rules(folder), None, Environment::Inherited),
        Confinement::Program(folders) => {
            let (rules, filter) = (program_rules(folders)?, program_filter()?);
            (Some(rules), Some(filter), Environment::Empty)
        }
    };
    // Closed here, once the process is started. There is none where the kernel lacks Landlock.
    let rules = rules.and_then(Option::<OwnedFd>::from);
    let is_program = matches!(confinement, Confinement::Program(_));
    let prepare = || {
        bound(limits, is_program)?;
        if let Some(rules) = &rules {
            restrict(rules.as_raw_fd())?;
        }
        match &filter {
            Some(filter) => seccompiler::apply_filter(filter).map_err(io::Error::other),
            None => Ok(()),
        }
    };
    // SAFETY: `prepare` makes system calls with file descriptors and filters that exist already, and allocates for errors alone.
    let process = unsafe { start(&command, environment, &prepare)? };
    watch(process, limits, is_wanted)
}

/// Restricts this process by Landlock rules.
fn restrict(rules: RawFd) -> io::Result<()> {
    // SAFETY: numbers.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::syscall(libc::SYS_landlock_restrict_self, rules, 0) == 0
    };
    match done {
        true => Ok(()),
        false => Err(io::Error::last_os_error()),
    }
}

/// Sets the limits of this process, which the system sees to.
fn bound(limits: Limits, is_program: bool) -> io::Result<()> {
    let seconds = limits.time.as_secs().max(1);
    let file = if is_program { 0 } else { LARGEST_FILE };
    let bounds = [
        (libc::RLIMIT_CPU, seconds),
        (libc::RLIMIT_AS, limits.memory),
        (libc::RLIMIT_FSIZE, file),
        (libc::RLIMIT_CORE, 0),
    ];
    for (what, most) in bounds {
        let limit = libc::rlimit {
            rlim_cur: most,
            rlim_max: most,
        };
        // SAFETY: the limit is a value of this frame.
        if unsafe { libc::setrlimit(what, &raw const limit) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    // SAFETY: numbers. Whatever this process has open beyond its streams is none of the new one's
    // business; it ends with the one that waits for it.
    unsafe {
        libc::syscall(
            libc::SYS_close_range,
            3_u32,
            u32::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        );
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
    }
    Ok(())
}

/// Waits for a process's end, and ends it with all that it has started where it does not come.
fn watch(child: Running, limits: Limits, is_wanted: IsWanted<'_>) -> io::Result<Ended> {
    let group = -child.id;
    let until = Instant::now() + limits.time;
    let reader = |stream: PipeReader| {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            // Unreadable output counts as none.
            let _ = stream.take(limits.output + 1).read_to_end(&mut text);
            text
        })
    };
    let (out, err) = (reader(child.stdout), reader(child.stderr));
    let mut exceeded = None;
    let mut pause = Duration::from_micros(200);
    let status = loop {
        if let Some(status) = ended(child.id)? {
            break status;
        }
        if Instant::now() > until {
            exceeded = Some("time");
            end(group);
            break wait(child.id)?;
        }
        if !is_wanted() {
            end(group);
            wait(child.id)?;
            return Err(io::Error::from(io::ErrorKind::Interrupted));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    };
    // Processes that it has left behind hold its streams open.
    end(group);
    let (stdout, stderr) = (
        out.join().unwrap_or_default(),
        err.join().unwrap_or_default(),
    );
    let most = limits.output as usize;
    if stdout.len() > most || stderr.len() > most {
        exceeded = Some("output");
    }
    if status.signal() == Some(libc::SIGXCPU) {
        exceeded = Some("time");
    }
    Ok(Ended {
        status,
        stdout,
        stderr,
        exceeded,
    })
}

fn end(group: libc::pid_t) {
    // SAFETY: a number, of a group that this process has made.
    unsafe { libc::kill(group, libc::SIGKILL) };
}

/// The compiler's rules. Without Landlock there are none: options that write are refused before.
fn compiler_rules(folder: &Path) -> Option<RulesetCreated> {
    let writes = AccessFs::from_write(ABI::V5);
    let rules = Ruleset::default()
        .handle_access(writes)
        .and_then(|r| r.handle_access(AccessNet::from_all(ABI::V4)))
        .and_then(Ruleset::create)
        .and_then(|r| r.add_rules(path_beneath_rules([folder, Path::new("/dev/null")], writes)));
    rules.ok()
}

/// A program's rules. A kernel without Landlock is an error.
fn program_rules(folders: &[PathBuf]) -> io::Result<RulesetCreated> {
    let (reads, all) = (AccessFs::from_read(ABI::V5), AccessFs::from_all(ABI::V5));
    let system = SYSTEM.iter().map(Path::new);
    let readable = system.chain(folders.iter().map(|f| &**f));
    let all: BitFlags<AccessFs> = all;
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))
        .map(|r| r.set_compatibility(CompatLevel::BestEffort))
        .and_then(|r| r.handle_access(all))
        .and_then(|r| r.handle_access(AccessNet::from_all(ABI::V4)))
        .and_then(|r| r.scope(Scope::from_all(ABI::V6)))
        .and_then(Ruleset::create)
        .and_then(|r| r.add_rules(path_beneath_rules(readable, reads)))
        .map_err(|e| io::Error::other(format!("this kernel has no Landlock: {e}")))
}

/// System calls that programs may make with any arguments.
const HARMLESS: &[libc::c_long] = &[
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_close,
    libc::SYS_execve,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_faccessat,
    libc::SYS_fstat,
    libc::SYS_futex,
    libc::SYS_getcwd,
    libc::SYS_getdents64,
    libc::SYS_getegid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_gettid,
    libc::SYS_gettimeofday,
    libc::SYS_getuid,
    libc::SYS_lseek,
    libc::SYS_madvise,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_newfstatat,
    libc::SYS_pread64,
    libc::SYS_read,
    libc::SYS_readlinkat,
    libc::SYS_readv,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_sigaltstack,
    libc::SYS_statx,
    libc::SYS_sysinfo,
    libc::SYS_times,
    libc::SYS_uname,
    libc::SYS_write,
    libc::SYS_writev,
];

/// The same, on x86-64 alone.
#[cfg(target_arch = "x86_64")]
const HARMLESS_HERE: &[libc::c_long] = &[
    libc::SYS_access,
    libc::SYS_arch_prctl,
    libc::SYS_lstat,
    libc::SYS_readlink,
    libc::SYS_stat,
    libc::SYS_time,
];
#[cfg(not(target_arch = "x86_64"))]
const HARMLESS_HERE: &[libc::c_long] = &[];

/// System calls with the argument that has to be without these bits.
const WITHOUT_BITS: &[(libc::c_long, u8, u64)] = &[
    (libc::SYS_openat, 2, WRITES),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1, WRITES),
    // New limits: their address.
    (libc::SYS_prlimit64, 2, u64::MAX),
];

/// Flags of files that are opened to be written.
const WRITES: u64 = (libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC) as u64;

/// System calls with a value that one argument has to have.
const WITH_VALUE: &[(libc::c_long, u8, u64)] = &[
    // Whether a stream is a terminal.
    (libc::SYS_ioctl, 1, libc::TCGETS),
    (libc::SYS_fcntl, 1, libc::F_GETFD as u64),
    (libc::SYS_fcntl, 1, libc::F_SETFD as u64),
    (libc::SYS_fcntl, 1, libc::F_GETFL as u64),
];

/// The filter of system calls for programs.
fn program_filter() -> io::Result<BpfProgram> {
    let made = || -> Result<BpfProgram, seccompiler::BackendError> {
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
        for call in HARMLESS.iter().chain(HARMLESS_HERE) {
            rules.insert(*call, Vec::new());
        }
        let masked = WITHOUT_BITS
            .iter()
            .map(|(call, argument, bits)| (call, argument, SeccompCmpOp::MaskedEq(*bits), 0));
        let exact = (WITH_VALUE.iter())
            .map(|(call, argument, value)| (call, argument, SeccompCmpOp::Eq, *value));
        for (call, argument, op, value) in masked.chain(exact) {
            let len = match *call {
                libc::SYS_prlimit64 => SeccompCmpArgLen::Qword,
                _ => SeccompCmpArgLen::Dword,
            };
            let condition = SeccompCondition::new(*argument, len, op, value)?;
            let rule = SeccompRule::new(vec![condition])?;
            rules.entry(*call).or_default().push(rule);
        }
        SeccompFilter::new(
            rules,
            SeccompAction::KillProcess,
            SeccompAction::Allow,
            std::env::consts::ARCH.try_into()?,
        )?
        .try_into()
    };
    made().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        time: Duration::from_secs(20),
        memory: 1 << 30,
        output: 1000,
    };

    /// A C program, run as one of an untrusted folder.
    fn confined(body: &str) -> Ended {
        let dir = tempfile::tempdir().unwrap();
        let (source, program) = (dir.path().join("a.c"), dir.path().join("a"));
        let text = format!(
            "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n#include <fcntl.h>\n\
             #include <sys/socket.h>\n#include <math.h>\n#include <string.h>\n#include <errno.h>\n\
             int main(int argc, char **argv) {{ {body} }}\n"
        );
        std::fs::write(&source, text).unwrap();
        let mut cc = Command::new("cc");
        cc.args(["-w", "-o"]).arg(&program).arg(&source).arg("-lm");
        assert!(cc.status().unwrap().success());
        let folder = dir.path().to_owned();
        run_bounded(
            Command::new(&program),
            LIMITS,
            Confinement::Program(&[folder]),
            &|| true,
        )
        .unwrap()
    }

    #[test]
    fn programs_compute_and_print() {
        let ended = confined("printf(\"%.3f %s\", sqrt(argc + 1), strdup(\"x\")); return 3;");
        assert_eq!(String::from_utf8_lossy(&ended.stdout), "1.414 x");
        assert_eq!(ended.status.code(), Some(3));
        assert_eq!(ended.exceeded, None);
    }

    #[test]
    fn programs_end_with_what_they_may_not_do() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().display();
        for body in [
            "system(\"true\");".to_owned(),
            "fork();".to_owned(),
            "socket(AF_INET, SOCK_STREAM, 0);".to_owned(),
            format!("open(\"{path}\", O_WRONLY);"),
            format!("open(\"{path}.new\", O_RDONLY | O_CREAT, 0600);"),
            format!("unlink(\"{path}\");"),
            format!("rename(\"{path}\", \"{path}.other\");"),
            format!("chmod(\"{path}\", 0777);"),
            "kill(getppid(), 0);".to_owned(),
        ] {
            let ended = confined(&format!("{body} puts(\"went on\"); return 0;"));
            assert!(ended.was_confined(), "{body}: {ended:?}");
            assert!(ended.stdout.is_empty(), "{body}");
        }
        assert!(file.path().exists());
        // Other files and the environment are hidden from it.
        let ended = confined(&format!(
            "int fd = open(\"{path}\", O_RDONLY); \
             printf(\"%d %d %d\", fd, errno == EACCES, getenv(\"HOME\") == 0); return 0;"
        ));
        assert_eq!(String::from_utf8_lossy(&ended.stdout), "-1 1 1");
    }

    #[test]
    fn programs_have_limits() {
        let limits = Limits {
            time: Duration::from_secs(1),
            ..LIMITS
        };
        let ended = run_bounded(
            sh("sleep 60 & sleep 60"),
            limits,
            Confinement::None,
            &|| true,
        )
        .unwrap();
        assert_eq!(ended.exceeded, Some("time"));
        let ended = run_bounded(sh("yes"), LIMITS, Confinement::None, &|| true).unwrap();
        assert_eq!(ended.exceeded, Some("output"));
        let unwanted = run_bounded(sh("sleep 60"), LIMITS, Confinement::None, &|| false);
        assert_eq!(unwanted.unwrap_err().kind(), io::ErrorKind::Interrupted);
        let ended = confined("return malloc(2000000000) == 0;");
        assert_eq!(ended.status.code(), Some(1));
    }

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn compilers_write_into_one_folder() {
        let (own, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let script = format!(
            "echo > {}/x; echo > {}/x",
            own.path().display(),
            other.path().display()
        );
        let ended = run_bounded(
            sh(&script),
            LIMITS,
            Confinement::Compiler(own.path()),
            &|| true,
        )
        .unwrap();
        assert!(!ended.status.success());
        assert!(own.path().join("x").exists() && !other.path().join("x").exists());
    }
}
