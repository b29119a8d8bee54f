//! `posix` (what `os` stands on) and `time`. What is written stays with the program: see
//! [`crate::space::written`].

use camino::Utf8Path;
use taipan_base::{ENVIRONMENT, FileContents, variable_path};
use taipan_language::Machine;

use super::{descriptors, system};
use crate::space::builtin::{Args, Builtin};
use crate::space::dict::mix;
use crate::space::heap::Ref;
use crate::space::types::ty;
use crate::space::units::Input;
use crate::space::value::Value;
use crate::space::written::{SystemError, What};
use crate::space::{Interp, R};

pub(crate) fn path_arg(it: &mut Interp, args: Args<'_>, f: &str) -> R<camino::Utf8PathBuf> {
    let v = args.need(it, 0, f)?;
    let name = it.name_of(v, "path")?;
    Ok(it.absolute(&name))
}

fn exists(it: &mut Interp, args: Args<'_>) -> R {
    let p = path_arg(it, args, "exists")?;
    Ok(Value::Bool(it.what_is(&p) != What::Nothing))
}

fn isfile(it: &mut Interp, args: Args<'_>) -> R {
    let p = path_arg(it, args, "isfile")?;
    Ok(Value::Bool(it.what_is(&p) == What::File))
}

fn isdir(it: &mut Interp, args: Args<'_>) -> R {
    let p = path_arg(it, args, "isdir")?;
    Ok(Value::Bool(it.what_is(&p) == What::Folder))
}

fn listdir(it: &mut Interp, args: Args<'_>) -> R {
    let p = path_arg(it, args, "listdir")?;
    match it.list_folder(&p) {
        Ok(names) => {
            let names = names.iter().map(|n| Value::str(n)).collect();
            Ok(it.heap.list(names))
        }
        Err((errno, text)) => os_error(it, errno, text),
    }
}

pub(crate) fn os_error<T>(it: &mut Interp, errno: i32, text: &str) -> R<T> {
    let args = vec![Value::Int(errno.into()), Value::str(text)];
    it.raise_args(ty::OS_ERROR, args)
}

/// Links are followed when a program is imported, and never seen.
fn islink(_: &mut Interp, _: Args<'_>) -> R {
    Ok(Value::Bool(false))
}

fn abspath(it: &mut Interp, args: Args<'_>) -> R {
    let p = path_arg(it, args, "abspath")?;
    Ok(Value::str(p.as_str()))
}

fn getcwd(it: &mut Interp, _: Args<'_>) -> R {
    let p = it.absolute(".");
    Ok(Value::str(p.as_str()))
}

/// Tests may change their current folder, import time may not.
fn chdir(it: &mut Interp, args: Args<'_>) -> R {
    if it.folder.is_none() {
        return forbidden(it, args);
    }
    let p = path_arg(it, args, "chdir")?;
    match it.what_is(&p) {
        What::Folder => it.folder = Some(p),
        What::File => return os_error(it, libc::ENOTDIR, "Not a directory"),
        What::Nothing => return os_error(it, libc::ENOENT, "No such file or directory"),
    }
    Ok(Value::None)
}

fn forbidden(it: &mut Interp, _: Args<'_>) -> R {
    os_error(it, libc::EPERM, "not allowed while a program is imported")
}

/// Bytes without pattern: always the same ones where a program asks at the same point, since
/// the same sources must give the same program.
fn noise(it: &Interp, n: usize) -> Vec<u8> {
    it.spoil();
    let mut state = it.heap.made() as u64;
    let byte = |_| {
        state = mix(state, 1);
        (state >> 56) as u8
    };
    (0..n).map(byte).collect()
}

fn urandom(it: &mut Interp, args: Args<'_>) -> R {
    let n = args.need(it, 0, "urandom")?.clone();
    let n = usize::try_from(it.index_of(&n)?).unwrap_or(0);
    Ok(Value::bytes(&noise(it, n)))
}

/// What is read from the devices that give noise, as much of it as a program may want at
/// import time.
pub(crate) fn device(it: &Interp, path: &Utf8Path) -> Option<Vec<u8>> {
    matches!(path.as_str(), "/dev/urandom" | "/dev/random").then(|| noise(it, 1 << 16))
}

fn done(it: &mut Interp, result: Result<(), SystemError>) -> R {
    match result {
        Ok(()) => Ok(Value::None),
        Err((errno, text)) => os_error(it, errno, text),
    }
}

fn mkdir(it: &mut Interp, args: Args<'_>) -> R {
    let p = path_arg(it, args, "mkdir")?;
    let made = it.make_folder(&p);
    done(it, made)
}

fn unlink(it: &mut Interp, args: Args<'_>) -> R {
    let p = path_arg(it, args, "unlink")?;
    let removed = it.remove_file(&p);
    done(it, removed)
}

fn rmdir(it: &mut Interp, args: Args<'_>) -> R {
    let p = path_arg(it, args, "rmdir")?;
    let removed = it.remove_folder(&p);
    done(it, removed)
}

fn rename(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "rename", 2, 2)?;
    let from = path_arg(it, args, "rename")?;
    let to = it.name_of(&args.pos[1], "path")?;
    let to = it.absolute(&to);
    let renamed = it.rename_file(&from, &to);
    done(it, renamed)
}

/// Changes what nothing depends on at import time, and so is left undone.
fn unseen(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "this function", 1, 3)?;
    Ok(Value::None)
}

fn getpid(_: &mut Interp, _: Args<'_>) -> R {
    Ok(Value::Int(1))
}

/// Whose process it is must make no difference.
fn nobody(_: &mut Interp, _: Args<'_>) -> R {
    Ok(Value::Int(0))
}

fn isatty(_: &mut Interp, _: Args<'_>) -> R {
    Ok(Value::Bool(false))
}

/// `access(path, mode)`: everything may be read and nothing written.
fn access(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "access", 2, 2)?;
    let mode = it.index_of(&args.pos[1])?;
    let p = path_arg(it, args, "access")?;
    let there = it.what_is(&p) != What::Nothing;
    Ok(Value::Bool(there && mode & i64::from(libc::W_OK) == 0))
}

fn getsize(it: &mut Interp, args: Args<'_>) -> R {
    let p = path_arg(it, args, "getsize")?;
    match it.read_file(&p) {
        Ok(data) => Ok(Value::from(data.len())),
        Err((errno, text)) => os_error(it, errno, text),
    }
}

/// What a path is, and its size.
fn stat(it: &mut Interp, args: Args<'_>) -> R {
    let p = path_arg(it, args, "stat")?;
    let (mode, size) = match it.what_is(&p) {
        What::Nothing => return os_error(it, libc::ENOENT, "No such file or directory"),
        What::Folder => (libc::S_IFDIR | 0o755, 4096),
        What::File => match it.read_file(&p) {
            Ok(data) => (libc::S_IFREG | 0o644, data.len()),
            Err((errno, text)) => return os_error(it, errno, text),
        },
    };
    Ok(stat_result(it, mode, size, &p))
}

/// What `stat()` answers: all files are as old, and anybody's.
pub(super) fn stat_result(it: &mut Interp, mode: u32, size: usize, path: &Utf8Path) -> Value {
    // Another number for each path, which is all that programs compare.
    let inode = path.as_str().bytes().fold(0, |h, b| mix(h, b.into())) >> 16;
    let fields = [
        ("st_mode", Value::Int(mode.into())),
        ("st_ino", Value::Int(inode as i64)),
        ("st_dev", Value::Int(1)),
        ("st_nlink", Value::Int(1)),
        ("st_uid", Value::Int(0)),
        ("st_gid", Value::Int(0)),
        ("st_size", Value::from(size)),
        ("st_atime", Value::Int(0)),
        ("st_mtime", Value::Int(0)),
        ("st_ctime", Value::Int(0)),
    ];
    let result = it.named_tuple(ty::STAT_RESULT, &fields);
    for name in ["st_atime", "st_mtime", "st_ctime"] {
        it.heap.set_attr(result, name, Value::Float(0.0));
    }
    Value::Ref(result)
}

/// The same wherever Taipan runs, as all that import time sees: of the machine that the program is
/// compiled for.
fn uname(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "uname", 0, 0)?;
    let parts = [
        "Linux",
        "localhost",
        "",
        "",
        it.program.options(it.db).machine.name(),
    ];
    Ok(Value::tuple(parts.map(Value::str).to_vec()))
}

/// `_variable(name)`: the value of a variable of the environment, or None.
fn variable(it: &mut Interp, args: Args<'_>) -> R {
    let name = args.need(it, 0, "_variable")?.clone();
    let name = it.name_of(&name, "a variable")?;
    let Some(path) = variable_path(&name) else {
        return Ok(Value::None);
    };
    let file = it.db.files().get_for(it.db, it.program, &path);
    it.note_input(Input::Contents(file));
    if let FileContents::Text(value) = file.contents(it.db) {
        return Ok(Value::str(value));
    }
    let configured = it.program.options(it.db).environment.iter();
    let value = configured.rev().find(|(n, _)| **n == *name);
    Ok(value.map_or(Value::None, |(_, value)| Value::str(value)))
}

/// `_variables()`: the names of the variables of the environment.
fn variables(it: &mut Interp, _: Args<'_>) -> R {
    let folder = (it.db.files()).get_for(it.db, it.program, Utf8Path::new(ENVIRONMENT));
    it.note_input(Input::Contents(folder));
    let mut names: Vec<&str> = match folder.contents(it.db) {
        FileContents::Directory(names) => names.iter().map(|n| &**n).collect(),
        _ => Vec::new(),
    };
    names.extend(
        it.program
            .options(it.db)
            .environment
            .iter()
            .map(|(n, _)| n.as_str()),
    );
    names.sort_unstable();
    names.dedup();
    let names = names.into_iter().map(Value::str).collect();
    Ok(it.heap.list(names))
}

/// Functions of `posix`, under the names that programs know them by.
pub(crate) const POSIX: &[Builtin] = &[
    Builtin::function("os.path.exists", exists),
    Builtin::function("os.path.isfile", isfile),
    Builtin::function("os.path.isdir", isdir),
    Builtin::function("os.path.abspath", abspath),
    Builtin::function("os.getcwd", getcwd),
    Builtin::function("os.getpid", getpid),
    Builtin::function("os.getuid", nobody),
    Builtin::function("os.getgid", nobody),
    Builtin::function("os.isatty", isatty),
    Builtin::function("os.write", descriptors::write),
    Builtin::function("os.read", descriptors::read),
    Builtin::function("os.open", descriptors::open),
    Builtin::function("os.close", descriptors::close),
    Builtin::function("os.fdopen", descriptors::fdopen),
    Builtin::function("os.lseek", descriptors::lseek),
    Builtin::function("os.stat", stat),
    Builtin::function("os.fstat", descriptors::fstat),
    Builtin::function("os.lstat", stat),
    Builtin::function("os.access", access),
    Builtin::function("os.unlink", unlink),
    Builtin::function("os.remove", unlink),
    Builtin::function("os.mkdir", mkdir),
    Builtin::function("os.rmdir", rmdir),
    Builtin::function("os.rename", rename),
    Builtin::function("os.chdir", chdir),
    Builtin::function("os.listdir", listdir),
    Builtin::function("os.system", forbidden),
    Builtin::function("os.popen", forbidden),
    Builtin::function("os.fork", forbidden),
    Builtin::function("os.strerror", forbidden),
    Builtin::function("os._exit", forbidden),
    Builtin::function("os.path.getsize", getsize),
    Builtin::function("os.path.islink", islink),
    Builtin::function("os.chmod", unseen),
    Builtin::function("os.dup", forbidden),
    Builtin::function("os.dup2", forbidden),
    Builtin::function("os.execv", forbidden),
    Builtin::function("os.execve", forbidden),
    Builtin::function("os.fdatasync", unseen),
    Builtin::function("os.fsync", unseen),
    Builtin::function("os.ftruncate", descriptors::ftruncate),
    Builtin::function("os.getegid", getpid),
    Builtin::function("os.geteuid", getpid),
    Builtin::function("os.getppid", getpid),
    Builtin::function("os.kill", forbidden),
    Builtin::function("os.link", unseen),
    Builtin::function("os.pipe", forbidden),
    Builtin::function("os.readlink", forbidden),
    Builtin::function("os.symlink", unseen),
    Builtin::function("os.tmpfile", forbidden),
    Builtin::function("os.umask", forbidden),
    Builtin::function("os.urandom", urandom),
    Builtin::function("os.utime", unseen),
    Builtin::function("os.waitpid", forbidden),
    Builtin::function("os.abort", forbidden),
    Builtin::function("os.closerange", forbidden),
    Builtin::function("os.fstatvfs", forbidden),
    Builtin::function("os.lchmod", forbidden),
    Builtin::function("os.statvfs", forbidden),
    Builtin::function("os.tempnam", forbidden),
    Builtin::function("os.tmpnam", forbidden),
    Builtin::function("os.wait", forbidden),
    Builtin::function("os.wait3", forbidden),
    Builtin::function("os.wait4", forbidden),
    Builtin::function("os.chown", unseen),
    Builtin::function("os.chroot", forbidden),
    Builtin::function("os.confstr", forbidden),
    Builtin::function("os.ctermid", forbidden),
    Builtin::function("os.fchdir", forbidden),
    Builtin::function("os.fchmod", unseen),
    Builtin::function("os.fchown", unseen),
    Builtin::function("os.fpathconf", forbidden),
    Builtin::function("os.getgroups", forbidden),
    Builtin::function("os.getloadavg", forbidden),
    Builtin::function("os.getlogin", forbidden),
    Builtin::function("os.getpgid", forbidden),
    Builtin::function("os.getpgrp", forbidden),
    Builtin::function("os.getresgid", forbidden),
    Builtin::function("os.getresuid", forbidden),
    Builtin::function("os.getsid", forbidden),
    Builtin::function("os.initgroups", forbidden),
    Builtin::function("os.killpg", forbidden),
    Builtin::function("os.lchown", unseen),
    Builtin::function("os.major", forbidden),
    Builtin::function("os.makedev", forbidden),
    Builtin::function("os.minor", forbidden),
    Builtin::function("os.mkfifo", unseen),
    Builtin::function("os.mknod", forbidden),
    Builtin::function("os.nice", forbidden),
    Builtin::function("os.openpty", forbidden),
    Builtin::function("os.forkpty", forbidden),
    Builtin::function("os.pathconf", forbidden),
    Builtin::function("os.setegid", forbidden),
    Builtin::function("os.seteuid", forbidden),
    Builtin::function("os.setgid", forbidden),
    Builtin::function("os.setgroups", forbidden),
    Builtin::function("os.setpgid", forbidden),
    Builtin::function("os.setpgrp", forbidden),
    Builtin::function("os.setregid", forbidden),
    Builtin::function("os.setresgid", forbidden),
    Builtin::function("os.setresuid", forbidden),
    Builtin::function("os.setreuid", forbidden),
    Builtin::function("os.setsid", forbidden),
    Builtin::function("os.setuid", forbidden),
    Builtin::function("os.sysconf", system::sysconf),
    Builtin::function("os.tcgetpgrp", forbidden),
    Builtin::function("os.tcsetpgrp", forbidden),
    Builtin::function("os.times", forbidden),
    Builtin::function("os.ttyname", forbidden),
    Builtin::function("os.uname", uname),
    Builtin::function("os._variable", variable),
    Builtin::function("os._variables", variables),
];

/// The constants of `posix`.
pub(crate) fn init(it: &mut Interp, m: Ref) {
    // The only ones that are not the same on each machine.
    let [directory, no_follow, direct] = match it.program.options(it.db).machine {
        Machine::Aarch64 => [0x4000, 0x8000, 0x10000],
        // For WebAssembly the runtime translates Linux's numbers to WASI's.
        Machine::X86_64 | Machine::Riscv64 | Machine::I386 | Machine::Wasm32 => {
            [0x10000, 0x20000, 0x4000]
        }
    };
    for (name, v) in [
        ("O_RDONLY", libc::O_RDONLY),
        ("O_WRONLY", libc::O_WRONLY),
        ("O_RDWR", libc::O_RDWR),
        ("O_CREAT", libc::O_CREAT),
        ("O_EXCL", libc::O_EXCL),
        ("O_TRUNC", libc::O_TRUNC),
        ("O_APPEND", libc::O_APPEND),
        ("O_SYNC", libc::O_SYNC),
        ("O_DSYNC", libc::O_DSYNC),
        ("O_RSYNC", libc::O_RSYNC),
        ("O_NOCTTY", libc::O_NOCTTY),
        ("O_NONBLOCK", libc::O_NONBLOCK),
        ("O_NDELAY", libc::O_NDELAY),
        ("O_DIRECTORY", directory),
        ("O_NOFOLLOW", no_follow),
        ("O_ASYNC", libc::O_ASYNC),
        ("O_DIRECT", direct),
        ("WNOHANG", libc::WNOHANG),
        ("WUNTRACED", libc::WUNTRACED),
        ("F_OK", libc::F_OK),
        ("R_OK", libc::R_OK),
        ("W_OK", libc::W_OK),
        ("X_OK", libc::X_OK),
    ] {
        it.heap.set_attr(m, name, Value::Int(i64::from(v)));
    }
    system::init(it, m);
}

/// Import time must give the same image every time it runs: its clock counts instructions,
/// a hundred million to the second.
fn clock(it: &mut Interp, _: Args<'_>) -> R {
    it.spoil();
    let done = it
        .program
        .options(it.db)
        .step_limit
        .saturating_sub(it.steps);
    Ok(Value::Float(done as f64 * 1e-8))
}

/// Import time does not wait.
fn sleep(_: &mut Interp, _: Args<'_>) -> R {
    Ok(Value::None)
}

/// Calls a function about dates, which are written in Python: with the argument at
/// `position`, or with the present time in its place, as seconds or as a date.
fn calendar(it: &mut Interp, f: &str, args: Args<'_>, position: usize, seconds: bool) -> R {
    let m = Value::Ref(it.load("_calendar")?);
    let mut given = Vec::new();
    for i in 0..position {
        given.push(args.need(it, i, f)?.clone());
    }
    given.push(match args.get(position) {
        Some(Value::None) if seconds => clock(it, Args::new(&[]))?,
        Some(v) => v.clone(),
        None => {
            let now = clock(it, Args::new(&[]))?;
            if seconds {
                now
            } else {
                it.call_method(&m, "gmtime", &[now])?
            }
        }
    });
    it.call_method(&m, f, &given)
}

fn gmtime(it: &mut Interp, args: Args<'_>) -> R {
    calendar(it, "gmtime", args, 0, true)
}

fn ctime(it: &mut Interp, args: Args<'_>) -> R {
    let date = gmtime(it, args)?;
    let m = Value::Ref(it.load("_calendar")?);
    it.call_method(&m, "asctime", &[date])
}

fn asctime(it: &mut Interp, args: Args<'_>) -> R {
    calendar(it, "asctime", args, 0, false)
}

fn strftime(it: &mut Interp, args: Args<'_>) -> R {
    calendar(it, "strftime", args, 1, false)
}

fn mktime(it: &mut Interp, args: Args<'_>) -> R {
    let date = args.need(it, 0, "mktime")?.clone();
    let m = Value::Ref(it.load("_calendar")?);
    it.call_method(&m, "mktime", &[date])
}

/// The time zone of import time is UTC, wherever the machine stands.
pub(crate) fn init_time(it: &mut Interp, m: Ref) {
    for name in ["timezone", "altzone", "daylight"] {
        it.heap.set_attr(m, name, Value::Int(0));
    }
    let names = Value::tuple(vec![Value::str("UTC"), Value::str("UTC")]);
    it.heap.set_attr(m, "tzname", names);
}

/// Functions of `time`.
pub(crate) const TIME: &[Builtin] = &[
    Builtin::function("time.time", clock),
    Builtin::function("time.clock", clock),
    Builtin::function("time.sleep", sleep),
    Builtin::function("time.localtime", gmtime),
    Builtin::function("time.gmtime", gmtime),
    Builtin::function("time.asctime", asctime),
    Builtin::function("time.ctime", ctime),
    Builtin::function("time.mktime", mktime),
    Builtin::function("time.strftime", strftime),
];
