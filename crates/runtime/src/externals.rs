//! The functions of `taipan_lltype`'s table of externals: for each an `extern "C"`
//! wrapper under its symbol, which emitted code calls, and an entry of [`call`],
//! by which the llinterpreter calls the same function. Those without the prefix
//! `rpy_` are the C library's own. What is for Unix alone is missing from WebAssembly
//! (`taipan_lltype::missing_on`).

use crate::gc::{control, dump};
use crate::state::state;
use crate::string::RpyString;
use crate::{debug, exc, files, float, os, process, pthread, signals, stacks, stdio, sys, threads};

/// An argument or result of [`call`].
#[derive(Debug)]
pub enum Value<'a> {
    /// Void
    Void,
    /// Bool
    Bool(bool),
    /// Char
    Char(u8),
    /// Signed; Unsigned by its bits.
    Int(i64),
    /// Float
    Float(f64),
    /// The bytes of a `STR`.
    Str(&'a mut [u8]),
}

/// A type of arguments: how they arrive from emitted code and from [`call`].
trait Argument {
    /// What emitted code passes.
    type Raw;
    /// What the function takes.
    type Arg<'a>;
    /// # Safety
    /// A string is live, and used by nothing else if the function may write to it.
    unsafe fn from_raw<'a>(raw: Self::Raw) -> Self::Arg<'a>;
    fn from_value<'a>(value: &'a mut Value<'_>) -> Option<Self::Arg<'a>>;

    /// What a function takes while other threads run.
    type Held;
    /// # Safety
    /// As for `from_raw`; what is held is let go in the end.
    unsafe fn hold(raw: Self::Raw) -> Self::Held;
    fn held(held: &mut Self::Held) -> Self::Arg<'_>;
    /// # Safety
    /// Other threads wait again.
    unsafe fn let_go(held: Self::Held);
}

macro_rules! plain_argument {
    ($($ty:ty: $variant:ident),*) => {
        $(impl Argument for $ty {
            type Raw = $ty;
            type Arg<'a> = $ty;
            unsafe fn from_raw<'a>(raw: $ty) -> Self::Arg<'a> {
                raw
            }
            fn from_value<'a>(value: &'a mut Value<'_>) -> Option<Self::Arg<'a>> {
                match value {
                    Value::$variant(v) => Some(*v),
                    _ => None,
                }
            }
            type Held = $ty;
            unsafe fn hold(raw: $ty) -> $ty {
                raw
            }
            fn held(held: &mut $ty) -> $ty {
                *held
            }
            unsafe fn let_go(_: $ty) {}
        }
        impl From<$ty> for Value<'_> {
            fn from(v: $ty) -> Self {
                Value::$variant(v)
            }
        })*
    };
}
plain_argument!(bool: Bool, u8: Char, i64: Int, f64: Float);

impl From<()> for Value<'_> {
    fn from((): ()) -> Self {
        Value::Void
    }
}

/// A byte string that functions may write to.
enum Str {}

impl Argument for Str {
    type Raw = *mut RpyString;
    type Arg<'a> = &'a mut [u8];
    unsafe fn from_raw<'a>(raw: *mut RpyString) -> &'a mut [u8] {
        // SAFETY: compiled code passes a live string, which does not move before the function
        // returns.
        unsafe { RpyString::bytes(raw) }
    }
    fn from_value<'a>(value: &'a mut Value<'_>) -> Option<&'a mut [u8]> {
        match value {
            Value::Str(s) => Some(s),
            _ => None,
        }
    }

    type Held = HeldStr;

    unsafe fn hold(raw: *mut RpyString) -> HeldStr {
        // SAFETY: the string is live, and from now on a root in a new word of the shadow stack. The
        // copy has room for its bytes.
        unsafe {
            let s = state();
            let root = (*s).root_stack_top;
            *root = raw as usize;
            (*s).root_stack_top = root.add(1);
            let bytes = RpyString::bytes(raw);
            let copy: *mut u8 = sys::malloc(bytes.len().max(1)).cast();
            if copy.is_null() {
                exc::out_of_memory();
            }
            copy.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            let len = bytes.len();
            HeldStr { root, copy, len }
        }
    }

    fn held(held: &mut HeldStr) -> &mut [u8] {
        held.bytes()
    }

    unsafe fn let_go(mut held: HeldStr) {
        // SAFETY: the root is where the string is now.
        unsafe {
            let string = RpyString::bytes(*held.root as *mut RpyString);
            // Prebuilt strings cannot be written to.
            if *string != *held.bytes() {
                string.copy_from_slice(held.bytes());
            }
            (*state()).root_stack_top = held.root;
            sys::free(held.copy.cast());
        }
    }
}

/// A byte string that functions only read. The program may pass the same one twice.
enum Text {}

impl Argument for Text {
    type Raw = *mut RpyString;
    type Arg<'a> = &'a [u8];
    unsafe fn from_raw<'a>(raw: *mut RpyString) -> &'a [u8] {
        // SAFETY: compiled code passes a live string, which nothing changes or moves before the function returns.
        unsafe { RpyString::text(raw) }
    }
    fn from_value<'a>(value: &'a mut Value<'_>) -> Option<&'a [u8]> {
        Str::from_value(value).map(|s| &*s)
    }

    type Held = HeldStr;

    unsafe fn hold(raw: *mut RpyString) -> HeldStr {
        // SAFETY: compiled code passes a live string and has saved its roots.
        unsafe { Str::hold(raw) }
    }

    fn held(held: &mut HeldStr) -> &[u8] {
        held.bytes()
    }

    unsafe fn let_go(held: HeldStr) {
        // SAFETY: other threads wait again, and `held` is the last string that is held.
        unsafe { Str::let_go(held) }
    }
}

/// A string whose bytes a function works on while the collector may move it: a copy.
struct HeldStr {
    /// Where the shadow stack has the string.
    root: *mut usize,
    copy: *mut u8,
    len: usize,
}

impl HeldStr {
    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the copy has that length.
        unsafe { core::slice::from_raw_parts_mut(self.copy, self.len) }
    }
}

/// Lets go what was held, the last one first: they are on a stack.
macro_rules! let_go {
    () => {};
    ($arg:ident: $ty:ty $(, $rest:ident: $rest_ty:ty)*) => {
        let_go!($($rest: $rest_ty),*);
        <$ty as Argument>::let_go($arg);
    };
}

macro_rules! externals {
    (
        runtime { $($(#[$cfg:meta])* $name:ident = $path:path, ($($arg:ident: $ty:ty),*) -> $result:ty;)* }
        blocking { $($(#[$slow_cfg:meta])* $slow:ident = $f:path, ($($a:ident: $t:ty),*) -> $r:ty;)* }
        libm { $($math:ident($($x:ident),*);)* }
    ) => {
        $(
            $(#[$cfg])*
            #[doc = concat!("`", stringify!($path), "`, called from emitted code.")]
            ///
            /// # Safety
            /// Strings are live, and those that the function may write to are used by nothing else.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name(
                $($arg: <$ty as Argument>::Raw),*
            ) -> $result {
                // SAFETY: compiled code passes live strings, which stay in place: no function that
                // takes strings collects.
                $path($(unsafe { <$ty as Argument>::from_raw($arg) }),*)
            }
        )*

        $(
            $(#[$slow_cfg])*
            #[doc = concat!("`", stringify!($f), "`, called from emitted code. Other threads run meanwhile.")]
            ///
            /// # Safety
            /// Strings are live; the caller's roots are saved.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $slow($($a: <$t as Argument>::Raw),*) -> $r {
                // SAFETY: compiled code passes live strings and has saved its roots. Without the
                // lock, `$f` gets copies only; `let_go` runs with the lock again.
                unsafe {
                    if !threads::started() {
                        return $f($(<$t as Argument>::from_raw($a)),*);
                    }
                    $(let mut $a = <$t as Argument>::hold($a);)*
                    threads::release();
                    let result = $f($(<$t as Argument>::held(&mut $a)),*);
                    threads::take();
                    let_go!($($a: $t),*);
                    result
                }
            }
        )*

        unsafe extern "C" {
            $(safe fn $math($($x: f64),*) -> f64;)*
        }

        /// Calls the external of that name; none if there is no such one or the
        /// arguments are not its.
        pub fn call(name: &str, args: &mut [Value<'_>]) -> Option<Value<'static>> {
            match name {
                $($(#[$cfg])* stringify!($name) => {
                    let [$($arg),*] = args else { return None };
                    Some($path($(<$ty as Argument>::from_value($arg)?),*).into())
                })*
                $($(#[$slow_cfg])* stringify!($slow) => {
                    let [$($a),*] = args else { return None };
                    Some($f($(<$t as Argument>::from_value($a)?),*).into())
                })*
                $(stringify!($math) => {
                    let [$($x),*] = args else { return None };
                    Some($math($(<f64 as Argument>::from_value($x)?),*).into())
                })*
                _ => None,
            }
        }

        /// Those that other threads run during.
        pub const BLOCKING: &[&str] = &[$($(#[$slow_cfg])* stringify!($slow)),*];

        /// Names and addresses of all of them, for a linker in the same process.
        pub fn symbols(out: &mut dyn FnMut(&'static str, *const u8)) {
            $($(#[$cfg])* out(stringify!($name), $name as *const u8);)*
            $($(#[$slow_cfg])* out(stringify!($slow), $slow as *const u8);)*
            $(out(stringify!($math), $math as *const u8);)*
        }
    };
}

externals! {
    runtime {
        rpy_os_close = os::close, (fd: i64) -> i64;
        rpy_os_lseek = os::lseek, (fd: i64, pos: i64, how: i64) -> i64;
        rpy_os_isatty = os::isatty, (fd: i64) -> bool;
        rpy_os_unlink = os::unlink, (path: Text) -> i64;
        rpy_os_stat = os::stat, (path: Text, field: i64) -> i64;
        rpy_os_fstat = os::fstat, (fd: i64, field: i64) -> i64;
        rpy_os_access = os::access, (path: Text, mode: i64) -> bool;
        rpy_os_mkdir = os::mkdir, (path: Text, mode: i64) -> i64;
        rpy_os_rmdir = os::rmdir, (path: Text) -> i64;
        rpy_os_rename = os::rename, (from: Text, to: Text) -> i64;
        rpy_os_chdir = os::chdir, (path: Text) -> i64;
        rpy_os_getcwd = os::getcwd, (out: Str) -> i64;
        rpy_os_getenv = os::getenv, (name: Text, out: Str) -> i64;
        rpy_os_strerror = os::strerror, (number: i64, out: Str) -> i64;
        rpy_os_getpid = os::getpid, () -> i64;
        #[cfg(unix)]
        rpy_os_dup = files::dup, (fd: i64) -> i64;
        #[cfg(unix)]
        rpy_os_dup2 = files::dup2, (from: i64, to: i64) -> i64;
        #[cfg(unix)]
        rpy_os_pipe = files::pipe, () -> i64;
        rpy_os_ftruncate = files::ftruncate, (fd: i64, len: i64) -> i64;
        rpy_os_stat_fields = files::stat, (path: Text, follow: bool, out: Str) -> i64;
        rpy_os_fstat_fields = files::fstat, (fd: i64, out: Str) -> i64;
        rpy_os_listdir = files::listdir, (path: Text, out: Str) -> i64;
        rpy_os_readlink = files::readlink, (path: Text, out: Str) -> i64;
        rpy_os_symlink = files::symlink, (target: Text, path: Text) -> i64;
        rpy_os_link = files::link, (from: Text, to: Text) -> i64;
        #[cfg(unix)]
        rpy_os_chmod = files::chmod, (path: Text, mode: i64) -> i64;
        rpy_os_utime = files::utime, (path: Text, accessed: f64, modified: f64) -> i64;
        #[cfg(unix)]
        rpy_os_umask = files::umask, (mask: i64) -> i64;
        rpy_os_environ = process::environ, (out: Str) -> i64;
        rpy_os_putenv = process::putenv, (name: Text, value: Text) -> i64;
        rpy_os_unsetenv = process::unsetenv, (name: Text) -> i64;
        #[cfg(unix)]
        rpy_os_fork = process::fork, () -> i64;
        #[cfg(unix)]
        rpy_os_execve = process::execve, (path: Text, args: Text, env: Text) -> i64;
        #[cfg(unix)]
        rpy_os_kill = process::kill, (pid: i64, signal: i64) -> i64;
        #[cfg(unix)]
        rpy_os_getppid = process::getppid, () -> i64;
        #[cfg(unix)]
        rpy_os_getuid = process::getuid, () -> i64;
        #[cfg(unix)]
        rpy_os_geteuid = process::geteuid, () -> i64;
        #[cfg(unix)]
        rpy_os_getgid = process::getgid, () -> i64;
        #[cfg(unix)]
        rpy_os_getegid = process::getegid, () -> i64;
        rpy_os_urandom = process::urandom, (out: Str) -> i64;
        rpy_file_fdopen = stdio::fdopen, (fd: i64, mode: Text) -> i64;
        #[cfg(unix)]
        rpy_file_popen = stdio::popen, (command: Text, mode: Text) -> i64;
        #[cfg(unix)]
        rpy_file_temporary = stdio::temporary, () -> i64;
        rpy_file_standard = stdio::standard, (which: i64) -> i64;
        rpy_file_set_buffer = stdio::set_buffer, (file: i64, mode: i64, size: i64) -> i64;
        rpy_file_seek = stdio::seek, (file: i64, pos: i64, how: i64) -> i64;
        rpy_file_tell = stdio::tell, (file: i64) -> i64;
        rpy_file_fileno = stdio::fileno, (file: i64) -> i64;
        rpy_os_saved_errno = os::saved_errno, () -> i64;
        rpy_os_set_saved_errno = os::set_saved_errno, (number: i64) -> ();
        #[cfg(unix)]
        rpy_signal_set = signals::set, (number: i64, what: i64) -> i64;
        rpy_signal_poll = signals::poll, () -> i64;
        rpy_signal_push = signals::push, (number: i64) -> ();
        #[cfg(unix)]
        rpy_signal_wakeup_fd = signals::wakeup_fd, (fd: i64, is_zero: bool) -> i64;
        #[cfg(unix)]
        rpy_signal_wakeup_errno = signals::wakeup_errno, () -> i64;
        rpy_os_exit = os::exit, (code: i64) -> ();
        rpy_fatal = os::fatal, (message: Text) -> ();
        rpy_debug_start = debug::start, (category: Text, timestamp: bool) -> i64;
        rpy_debug_stop = debug::stop, (category: Text, timestamp: bool) -> i64;
        rpy_debug_have_prints = debug::have_prints, () -> bool;
        rpy_debug_have_prints_for = debug::have_prints_for, (prefix: Text) -> bool;
        rpy_debug_offset = debug::offset, () -> i64;
        rpy_debug_flush = debug::flush, () -> ();
        rpy_debug_forked = debug::forked, (offset: i64) -> ();
        rpy_time_time = os::time, () -> f64;
        rpy_time_clock = os::clock, () -> f64;
        rpy_time_clock_ns = os::clock_nanoseconds, (clock: i64) -> i64;
        rpy_memory_room = control::room, (bytes: i64) -> bool;
        rpy_gc_collect_step = control::collect_step, () -> i64;
        rpy_gc_dump = dump::dump, (fd: i64) -> bool;
        rpy_gc_set_enabled = control::set_enabled, (enabled: bool) -> ();
        rpy_gc_is_enabled = control::is_enabled, () -> bool;
        rpy_gc_stat = control::stat, (number: i64) -> i64;
        rpy_gc_set_most_heap = control::set_most_heap, (bytes: i64) -> ();
        rpy_gc_add_pressure = control::add_pressure, (bytes: i64) -> ();
        rpy_float_format = float::format,
            (x: f64, code: u8, precision: i64, flags: i64, out: Str) -> i64;
        rpy_float_parse = float::parse, (s: Text) -> f64;
        rpy_float_parse_ok = float::parse_ok, (s: Text) -> bool;
        rpy_float_frexp_mantissa = float::frexp_mantissa, (x: f64) -> f64;
        rpy_float_frexp_exponent = float::frexp_exponent, (x: f64) -> i64;
        rpy_float_ldexp = float::ldexp, (x: f64, n: i64) -> f64;
        rpy_stack_set_length_fraction = stacks::set_length_fraction, (fraction: f64) -> ();
        rpy_stack_set_critical = stacks::set_critical, (critical: bool) -> ();
        rpy_stack_is_too_big = stacks::is_too_big, () -> bool;
        rpy_stack_is_almost_full = stacks::is_almost_full, () -> bool;
        rpy_thread_ident = threads::ident, () -> i64;
        rpy_thread_stack_size = threads::stack_size, () -> i64;
        rpy_thread_set_stack_size = threads::set_stack_size, (size: i64) -> i64;
        rpy_gil_release = threads::release, () -> ();
        rpy_gil_acquire = threads::take, () -> ();
        rpy_gil_yield = threads::give_way, () -> ();
        rpy_gil_holder = threads::holder, () -> i64;
        rpy_lock_new = pthread::new_lock, () -> i64;
        rpy_lock_free = pthread::free_lock, (lock: i64) -> ();
        rpy_lock_try = pthread::try_lock, (lock: i64) -> bool;
        rpy_lock_release = pthread::unlock, (lock: i64) -> i64;
    }
    blocking {
        rpy_os_write = os::write, (fd: i64, s: Text) -> i64;
        rpy_os_read = os::read, (fd: i64, s: Str) -> i64;
        rpy_os_open = os::open, (path: Text, flags: i64, mode: i64) -> i64;
        rpy_os_fsync = files::fsync, (fd: i64) -> i64;
        #[cfg(unix)]
        rpy_os_waitpid = process::waitpid, (pid: i64, options: i64) -> i64;
        #[cfg(unix)]
        rpy_os_system = process::system, (command: Text) -> i64;
        rpy_file_open = stdio::open, (path: Text, mode: Text) -> i64;
        rpy_file_close = stdio::close, (file: i64) -> i64;
        #[cfg(unix)]
        rpy_file_pclose = stdio::pclose, (file: i64) -> i64;
        rpy_file_read = stdio::read, (file: i64, out: Str) -> i64;
        rpy_file_line = stdio::line, (file: i64, out: Str) -> i64;
        rpy_file_write = stdio::write, (file: i64, s: Text) -> i64;
        rpy_file_flush = stdio::flush, (file: i64) -> i64;
        rpy_time_sleep = os::sleep, (seconds: f64) -> ();
        rpy_lock_wait = pthread::wait_for_lock,
            (lock: i64, microseconds: i64, interruptible: bool) -> i64;
    }
    libm {
        acos(x); acosh(x); asin(x); asinh(x); atan(x); atan2(y, x); atanh(x); ceil(x);
        copysign(x, y); cos(x); cosh(x); erf(x); erfc(x); exp(x); expm1(x); fabs(x);
        floor(x); fmod(x, y); hypot(x, y); lgamma(x); log(x); log10(x); log1p(x);
        pow(x, y); round(x); sin(x); sinh(x); sqrt(x); tan(x); tanh(x); tgamma(x); trunc(x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_name() {
        let mut out = [0; 40];
        let mut args = [
            Value::Float(0.5),
            Value::Char(b'r'),
            Value::Int(0),
            Value::Int(0),
            Value::Str(&mut out),
        ];
        assert!(matches!(
            call("rpy_float_format", &mut args),
            Some(Value::Int(3))
        ));
        assert_eq!(&out[..3], b"0.5");
        let r = call("atan2", &mut [Value::Float(0.0), Value::Float(1.0)]);
        assert!(matches!(r, Some(Value::Float(0.0))));
        assert!(call("atan2", &mut [Value::Float(0.0)]).is_none());
        assert!(call("no_such", &mut []).is_none());
    }
}
