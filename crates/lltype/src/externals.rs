//! The functions of the runtime that prelude helpers and the shipped `rpython`
//! package call: one table shared by those who write calls (prelude), give them
//! types (annotator, RTyper) and implement them (runtime, llinterp).
//!
//! The prelude imports them from the builtin module `taipan_lowlevel`; calling one
//! there is a `direct_call` of [`external`]'s symbol.
//!
//! **Invariants.** None of them allocates GC memory or raises: a result that does
//! not fit a register is written into a `STR` that the caller allocated, and errors
//! come back as values (a negative number is minus the C `errno`). So none moves
//! objects, but those that let other threads run meanwhile ([`blocks`]), and strings are
//! passed as they are. Functions named without the prefix
//! `rpy_` are the C library's.

use taipan_language::Machine;

use crate::{
    BOOL, CHAR, FLOAT, FuncKind, FuncSym, FuncType, LLOperand, LLType, SIGNED, STR, UNSIGNED, VOID,
};

/// Types of arguments and results of external functions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ExtType {
    /// Void, as result.
    Void,
    /// Bool
    Bool,
    /// Char
    Char,
    /// Signed
    Signed,
    /// Unsigned
    Unsigned,
    /// Float
    Float,
    /// `Ptr(STR)`, never null.
    Str,
}

impl ExtType {
    /// As a low-level type.
    pub fn ty(self) -> LLType {
        match self {
            ExtType::Void => *VOID,
            ExtType::Bool => *BOOL,
            ExtType::Char => *CHAR,
            ExtType::Signed => *SIGNED,
            ExtType::Unsigned => *UNSIGNED,
            ExtType::Float => *FLOAT,
            ExtType::Str => STR.ptr(),
        }
    }
}

/// A function of the runtime or of the C library.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct External {
    /// Its symbol.
    pub name: &'static str,
    /// Types of its arguments.
    pub args: &'static [ExtType],
    /// Type of its result.
    pub result: ExtType,
    /// What it does.
    pub doc: &'static str,
}

macro_rules! externals {
    ($($name:ident($($arg:ident),*) -> $result:ident, $doc:literal;)*) => {
        /// All of them.
        pub static EXTERNALS: &[External] = &[$(External {
            name: stringify!($name),
            args: &[$(ExtType::$arg),*],
            result: ExtType::$result,
            doc: $doc,
        },)*];
    };
}

externals! {
    // Files and processes.
    rpy_os_write(Signed, Str) -> Signed, "write(fd, all of s): bytes written or -errno";
    rpy_os_read(Signed, Str) -> Signed, "read(fd, into s, at most len(s)): bytes read or -errno";
    rpy_os_open(Str, Signed, Signed) -> Signed, "open(path, flags, mode): fd or -errno";
    rpy_os_close(Signed) -> Signed, "close(fd): 0 or -errno";
    rpy_os_lseek(Signed, Signed, Signed) -> Signed, "lseek(fd, pos, how): position or -errno";
    rpy_os_isatty(Signed) -> Bool, "isatty(fd)";
    rpy_os_unlink(Str) -> Signed, "unlink(path): 0 or -errno";
    rpy_os_stat(Str, Signed) -> Signed,
        "field of stat(path): 0 mode, 1 size, 2 mtime in ns, 3 inode, 4 device; or -errno";
    rpy_os_fstat(Signed, Signed) -> Signed, "the same of fstat(fd)";
    rpy_os_access(Str, Signed) -> Bool, "access(path, mode) succeeds";
    rpy_os_mkdir(Str, Signed) -> Signed, "mkdir(path, mode): 0 or -errno";
    rpy_os_rmdir(Str) -> Signed, "rmdir(path): 0 or -errno";
    rpy_os_rename(Str, Str) -> Signed, "rename(old, new): 0 or -errno";
    rpy_os_chdir(Str) -> Signed, "chdir(path): 0 or -errno";
    rpy_os_getcwd(Str) -> Signed, "working directory into s: its length (nothing is written if it exceeds len(s)) or -errno";
    rpy_os_getenv(Str, Str) -> Signed, "value of a variable into the second: its length (nothing is written if it exceeds len) or -1 if unset";
    rpy_os_strerror(Signed, Str) -> Signed, "message of an errno into s, cut to len(s): its length";
    rpy_os_getpid() -> Signed, "getpid()";
    rpy_os_dup(Signed) -> Signed, "dup(fd): new fd or -errno";
    rpy_os_dup2(Signed, Signed) -> Signed, "dup2(from, to): to or -errno";
    rpy_os_pipe() -> Signed, "pipe(): fd to read | fd to write << 32, or -errno";
    rpy_os_ftruncate(Signed, Signed) -> Signed, "ftruncate(fd, len): 0 or -errno";
    rpy_os_fsync(Signed) -> Signed, "fsync(fd): 0 or -errno";
    rpy_os_stat_fields(Str, Bool, Str) -> Signed, "stat(path), or lstat if not follow, into s of 104 bytes: mode, inode, device, links, uid, gid, size, atime, mtime, ctime in ns, blksize, blocks, rdev, 8 bytes each, lowest first; or -errno";
    rpy_os_fstat_fields(Signed, Str) -> Signed, "the same of fstat(fd)";
    rpy_os_listdir(Str, Str) -> Signed, "names in a folder, a zero byte after each, into s: length of all (what does not fit is not written) or -errno";
    rpy_os_readlink(Str, Str) -> Signed, "target of a link into s: its length (nothing is written if it exceeds len(s)) or -errno";
    rpy_os_symlink(Str, Str) -> Signed, "symlink(target, path): 0 or -errno";
    rpy_os_link(Str, Str) -> Signed, "link(old, new): 0 or -errno";
    rpy_os_chmod(Str, Signed) -> Signed, "chmod(path, mode): 0 or -errno";
    rpy_os_utime(Str, Float, Float) -> Signed, "sets times, in seconds since the epoch: 0 or -errno";
    rpy_os_umask(Signed) -> Signed, "umask(mask): the mask before";
    rpy_os_environ(Str) -> Signed, "all variables as NAME=value, a zero byte after each, into s: length of all (what does not fit is not written)";
    rpy_os_putenv(Str, Str) -> Signed, "sets a variable: 0 or -errno";
    rpy_os_unsetenv(Str) -> Signed, "forgets a variable: 0 or -errno";
    rpy_os_fork() -> Signed, "fork(): pid, 0 in the child, or -errno";
    rpy_os_waitpid(Signed, Signed) -> Signed, "waitpid(pid, options): pid << 32 | status, or -errno";
    rpy_os_execve(Str, Str, Str) -> Signed, "execve(path, args, env), a zero byte after each argument and variable: -errno";
    rpy_os_kill(Signed, Signed) -> Signed, "kill(pid, signal): 0 or -errno";
    rpy_os_system(Str) -> Signed, "system(command): its status or -errno";
    rpy_os_getppid() -> Signed, "getppid()";
    rpy_os_getuid() -> Signed, "getuid()";
    rpy_os_geteuid() -> Signed, "geteuid()";
    rpy_os_getgid() -> Signed, "getgid()";
    rpy_os_getegid() -> Signed, "getegid()";
    rpy_os_urandom(Str) -> Signed, "fills s with random bytes: its length or -errno";
    rpy_os_saved_errno() -> Signed, "the errno of the last function here that failed, or what was set since";
    rpy_os_set_saved_errno(Signed) -> Void, "sets what rpy_os_saved_errno() answers";
    rpy_os_exit(Signed) -> Void, "_exit(code)";
    rpy_fatal(Str) -> Void, "prints the message to stderr and aborts";
    // Sections of debug output.
    rpy_debug_start(Str, Bool) -> Signed, "debug_start(category, timestamp): the time, if asked for";
    rpy_debug_stop(Str, Bool) -> Signed, "debug_stop(category, timestamp): the time, if asked for";
    rpy_debug_have_prints() -> Bool, "have_debug_prints()";
    rpy_debug_have_prints_for(Str) -> Bool, "have_debug_prints_for(prefix)";
    rpy_debug_offset() -> Signed, "debug_offset(): how much was written, or -1";
    rpy_debug_flush() -> Void, "debug_flush()";
    rpy_debug_forked(Signed) -> Void, "debug_forked(offset)";
    // The C library's files, which are known by their addresses.
    rpy_file_open(Str, Str) -> Signed, "fopen(path, mode): file or -errno";
    rpy_file_fdopen(Signed, Str) -> Signed, "fdopen(fd, mode): file or -errno";
    rpy_file_popen(Str, Str) -> Signed, "popen(command, mode): file or -errno";
    rpy_file_temporary() -> Signed, "tmpfile(): file or -errno";
    rpy_file_standard(Signed) -> Signed, "stdin, stdout or stderr: file";
    rpy_file_set_buffer(Signed, Signed, Signed) -> Signed, "setvbuf(file, NULL, mode, size): 0 or -errno";
    rpy_file_close(Signed) -> Signed, "fclose(file): 0 or -errno";
    rpy_file_pclose(Signed) -> Signed, "pclose(file): status or -errno";
    rpy_file_read(Signed, Str) -> Signed, "fread into s, at most len(s): bytes read or -errno";
    rpy_file_line(Signed, Str) -> Signed, "reads into s up to a newline or until it is full: bytes read or -errno";
    rpy_file_write(Signed, Str) -> Signed, "fwrite of all of s: its length or -errno";
    rpy_file_flush(Signed) -> Signed, "fflush(file): 0 or -errno";
    rpy_file_seek(Signed, Signed, Signed) -> Signed, "fseek(file, pos, how): 0 or -errno";
    rpy_file_tell(Signed) -> Signed, "ftell(file): position or -errno";
    rpy_file_fileno(Signed) -> Signed, "fileno(file): fd or -errno";
    // Sockets.
    // Signals.
    rpy_signal_set(Signed, Signed) -> Signed, "what a signal does from now on, 0 the default, 1 nothing, 2 it is noted: 0 or -errno";
    rpy_signal_poll() -> Signed, "a signal that was noted and is now forgotten, or -1";
    rpy_signal_push(Signed) -> Void, "notes a signal as if it had arrived";
    rpy_signal_wakeup_fd(Signed, Bool) -> Signed, "where the numbers of signals are written as well, or zeroes: the fd before, or -1";
    rpy_signal_wakeup_errno() -> Signed, "why that failed last, or 0";
    // Time.
    rpy_time_time() -> Float, "seconds since the epoch";
    rpy_time_clock() -> Float, "CPU seconds of the process";
    rpy_time_sleep(Float) -> Void, "sleeps that many seconds";
    rpy_time_clock_ns(Signed) -> Signed, "nanoseconds of one of the system's clocks, or -errno";
    // Limits of the stack depth.
    rpy_stack_set_length_fraction(Float) -> Void, "how deep stacks may be from now on, 1.0 by default";
    rpy_stack_set_critical(Bool) -> Void, "whether only the end of the stack counts";
    rpy_stack_is_too_big() -> Bool, "whether the stack is deeper than it may be";
    rpy_stack_is_almost_full() -> Bool, "whether less than a sixteenth of it is left";
    // Threads and their locks.
    rpy_thread_ident() -> Signed, "the number of this thread";
    rpy_thread_stack_size() -> Signed, "what new threads get as stack, 0 if that was never set";
    rpy_thread_set_stack_size(Signed) -> Signed, "sets that: 0, or -1 for a size that is not possible";
    rpy_gil_release() -> Void, "lets other threads run";
    rpy_gil_acquire() -> Void, "waits until no other thread runs";
    rpy_gil_yield() -> Void, "lets another thread run that waits to";
    rpy_gil_holder() -> Signed, "the number of the thread that runs the program, or 0";
    rpy_lock_new() -> Signed, "a new lock, or 0";
    rpy_lock_free(Signed) -> Void, "ends a lock";
    rpy_lock_try(Signed) -> Bool, "takes a lock unless somebody has it";
    rpy_lock_wait(Signed, Signed, Bool) -> Signed, "waits so many microseconds for a lock, negative: for ever; whether a signal interrupts that: 0 no lock, 1 it was taken, 2 a signal came, 3 nobody else is there";
    rpy_lock_release(Signed) -> Signed, "gives a lock back: 0, or -1 if nobody has it";
    // Memory.
    rpy_memory_room(Signed) -> Bool, "whether the system would give that many bytes at once, and the limit of the heap allows it";
    rpy_gc_collect_step() -> Signed, "a step of a major collection: the number of the phase before, times 256, plus the one of the phase after, or -1 if collections do not go in steps";
    rpy_gc_dump(Signed) -> Bool, "writes all objects to a file: whether that worked";
    rpy_gc_set_enabled(Bool) -> Void, "whether major collections come by themselves";
    rpy_gc_is_enabled() -> Bool, "the same, asked";
    rpy_gc_stat(Signed) -> Signed, "a figure of rgc.get_stats()";
    rpy_gc_set_most_heap(Signed) -> Void, "the limit of the heap, none if it is 0";
    rpy_gc_add_pressure(Signed) -> Void, "so many bytes outside of the heap depend on it";
    // Floats and text.
    rpy_float_format(Float, Char, Signed, Signed, Str) -> Signed,
        "text of a float as CPython's PyOS_double_to_string: code among e E f F g G r (r: shortest that reads back, precision ignored), precision, flags (1 sign, 2 add .0 to integral values, 4 alternate form); into s, whose length suffices if it is 32 + precision (+ 310 for f F): its length";
    rpy_float_parse(Str) -> Float, "value of s, which rpy_float_parse_ok accepts";
    rpy_float_parse_ok(Str) -> Bool, "whether all of s is a float literal (sign, digits, exponent), no blanks around";
    rpy_float_frexp_mantissa(Float) -> Float, "first result of frexp()";
    rpy_float_frexp_exponent(Float) -> Signed, "second result of frexp(), 0 for 0, nan, inf";
    rpy_float_ldexp(Float, Signed) -> Float, "x * 2**n, inf on overflow, n clamped to C's int";
    // The C library's mathematics.
    acos(Float) -> Float, "";
    acosh(Float) -> Float, "";
    asin(Float) -> Float, "";
    asinh(Float) -> Float, "";
    atan(Float) -> Float, "";
    atan2(Float, Float) -> Float, "";
    atanh(Float) -> Float, "";
    ceil(Float) -> Float, "";
    copysign(Float, Float) -> Float, "";
    cos(Float) -> Float, "";
    cosh(Float) -> Float, "";
    erf(Float) -> Float, "";
    erfc(Float) -> Float, "";
    exp(Float) -> Float, "";
    expm1(Float) -> Float, "";
    fabs(Float) -> Float, "";
    floor(Float) -> Float, "";
    fmod(Float, Float) -> Float, "";
    hypot(Float, Float) -> Float, "";
    lgamma(Float) -> Float, "";
    log(Float) -> Float, "";
    log10(Float) -> Float, "";
    log1p(Float) -> Float, "";
    pow(Float, Float) -> Float, "";
    round(Float) -> Float, "";
    sin(Float) -> Float, "";
    sinh(Float) -> Float, "";
    sqrt(Float) -> Float, "";
    tan(Float) -> Float, "";
    tanh(Float) -> Float, "";
    tgamma(Float) -> Float, "";
    trunc(Float) -> Float, "";
}

/// Those that may take long, or change threads: other threads of the program run meanwhile.
const BLOCKING: &[&str] = &[
    "rpy_os_write",
    "rpy_os_read",
    "rpy_os_open",
    "rpy_os_fsync",
    "rpy_os_waitpid",
    "rpy_os_system",
    "rpy_file_open",
    "rpy_file_close",
    "rpy_file_pclose",
    "rpy_file_read",
    "rpy_file_line",
    "rpy_file_write",
    "rpy_file_flush",
    "rpy_time_sleep",
    "rpy_lock_wait",
    "rpy_gil_release",
    "rpy_gil_acquire",
    "rpy_gil_yield",
    "taipan_py_acquire",
];

/// Those that look at what active functions hold.
const NEEDS_ROOTS: &[&str] = &["rpy_gc_collect_step", "rpy_gc_dump"];

/// Whether other threads run while the function of that name does.
pub fn blocks(name: &str) -> bool {
    BLOCKING.contains(&name)
}

/// The entry of that name.
pub fn find_external(name: &str) -> Option<&'static External> {
    EXTERNALS.iter().find(|e| e.name == name)
}

impl External {
    /// Its symbol.
    pub fn symbol(&self) -> FuncSym {
        let kind = FuncKind::External {
            name: self.name.into(),
            can_collect: blocks(self.name) || NEEDS_ROOTS.contains(&self.name),
            can_raise: false,
            releases_gil: false,
            library: None,
        };
        let ty = FuncType {
            args: self.args.iter().map(|a| a.ty()).collect(),
            result: self.result.ty(),
        };
        FuncSym::new(kind, ty)
    }
}

/// The symbol of that name.
pub fn external(name: &str) -> Option<FuncSym> {
    find_external(name).map(External::symbol)
}

/// The name of an external function for people: those of the runtime are mostly called as those of the system are.
pub fn shown_name(name: &str) -> &str {
    let prefixes = ["rpy_os_", "rpy_file_", "rpy_"];
    let short = prefixes.iter().find_map(|p| name.strip_prefix(p));
    short.unwrap_or(name)
}

/// What a machine does not have that an external function needs; none if the function is there.
pub fn missing_on(machine: Machine, name: &str) -> Option<&'static str> {
    if !machine.is_wasm() {
        return None;
    }
    Some(match name {
        "rpy_os_fork" | "rpy_os_execve" | "rpy_os_waitpid" | "rpy_os_kill" | "rpy_os_system"
        | "rpy_os_getppid" | "rpy_file_popen" | "rpy_file_pclose" => "processes",
        "rpy_os_getuid" | "rpy_os_geteuid" | "rpy_os_getgid" | "rpy_os_getegid" => "users",
        "rpy_os_dup" | "rpy_os_dup2" => "copies of file descriptors",
        "rpy_os_pipe" => "pipes",
        "rpy_os_chmod" | "rpy_os_umask" => "permissions of files",
        "rpy_file_temporary" => "folder for temporary files",
        "rpy_signal_set" | "rpy_signal_wakeup_fd" | "rpy_signal_wakeup_errno" => "signals",
        "rpy_thread_start" => "threads",
        "rpy_stacklet_new" | "rpy_stacklet_switch" | "rpy_stacklet_is_empty" => "stacklets",
        _ if name.starts_with("rpy_") || find_external(name).is_some() => return None,
        _ => "C functions of the host",
    })
}

/// Whether other threads may run while a function is called. Where it is not known which
/// functions it is given they may not: these do not take the lock.
pub fn releases_gil(f: &FuncSym, args: &[LLOperand]) -> bool {
    let FuncKind::External {
        releases_gil: true, ..
    } = f.kind()
    else {
        return false;
    };
    let is_function = |t: &LLType| t.pointee().is_some_and(|to| to.as_func().is_some());
    let unknown = |a: &LLOperand| !matches!(a, LLOperand::Const(_));
    !(args.iter().zip(&f.ty().args)).any(|(a, t)| is_function(t) && unknown(a))
}
