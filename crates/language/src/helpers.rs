//! The functions that a prelude helper does the work of once a program is translated: their qualified
//! names, and what annotator and RTyper need to know to call it.
//!
//! A name is that of a builtin (`math.sqrt`, `posix.write`) or of a function of the
//! shipped `rpython` package (`rpython.rlib.rfloat.formatd`), whose Python body then
//! serves import time only.

use crate::Exc;
use crate::shipped::find;

/// Helpers that are never inlined, whatever their size: many functions have a call that is seldom
/// made.
pub const NEVER_INLINED: &[&str] = &["rlist.grow"];

/// Type of an argument or result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// `None`
    None,
    /// `SomeBool`
    Bool,
    /// `SomeInteger`
    Int,
    /// `SomeInteger(nonneg)`, as result.
    Nonneg,
    /// `SomeInteger(r_uint)`, as result.
    Uint,
    /// `SomeFloat`; integers given for it are converted.
    Float,
    /// `SomeChar`
    Char,
    /// `SomeString`, never None.
    Str,
    /// `SomeString(no_nul)`, as result: what C took for a string.
    Str0,
    /// `SomeString(can_be_None)`
    StrOrNone,
    /// `SomeString(can_be_None, no_nul)`, as result; without `no_nul` where the default
    /// value, its last argument, is.
    Str0OrNone,
}

/// A function and its helper.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HelperFunction {
    /// Qualified name.
    pub name: &'static str,
    /// `module.function` below `taipan_prelude`.
    pub helper: &'static str,
    /// Its arguments.
    pub args: &'static [Kind],
    /// Values of the last arguments where the caller leaves them out; None for
    /// `StrOrNone` arguments is [`Default::None`].
    pub defaults: &'static [Default],
    /// Its result.
    pub result: Kind,
    /// Exceptions that it may raise.
    pub raises: &'static [Exc],
}

/// Default value of an argument.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Default {
    /// None
    None,
    /// An integer.
    Int(i64),
}

macro_rules! helper_functions {
    ($($name:literal = $helper:literal, ($($arg:ident $(= $default:expr)?),*) -> $result:ident, [$($raises:ident),*];)*) => {
        static FUNCTIONS: &[HelperFunction] = &[$(HelperFunction {
            name: $name,
            helper: $helper,
            args: &[$(Kind::$arg),*],
            defaults: &[$($($default,)?)*],
            result: Kind::$result,
            raises: &[$(Exc::$raises),*],
        },)*];
    };
}

helper_functions! {
    "math.acos" = "rmath.ll_math_acos", (Float) -> Float, [ValueError, OverflowError];
    "math.acosh" = "rmath.ll_math_acosh", (Float) -> Float, [ValueError, OverflowError];
    "math.asin" = "rmath.ll_math_asin", (Float) -> Float, [ValueError, OverflowError];
    "math.asinh" = "rmath.ll_math_asinh", (Float) -> Float, [];
    "math.atan" = "rmath.ll_math_atan", (Float) -> Float, [];
    "math.atan2" = "rmath.ll_math_atan2", (Float, Float) -> Float, [];
    "math.atanh" = "rmath.ll_math_atanh", (Float) -> Float, [ValueError];
    "math.ceil" = "rmath.ll_math_ceil", (Float) -> Float, [];
    "math.copysign" = "rmath.ll_math_copysign", (Float, Float) -> Float, [];
    "math.cos" = "rmath.ll_math_cos", (Float) -> Float, [ValueError, OverflowError];
    "math.cosh" = "rmath.ll_math_cosh", (Float) -> Float, [ValueError, OverflowError];
    "math.degrees" = "rmath.ll_math_degrees", (Float) -> Float, [];
    "math.erf" = "rmath.ll_math_erf", (Float) -> Float, [];
    "math.erfc" = "rmath.ll_math_erfc", (Float) -> Float, [];
    "math.exp" = "rmath.ll_math_exp", (Float) -> Float, [ValueError, OverflowError];
    "math.expm1" = "rmath.ll_math_expm1", (Float) -> Float, [ValueError, OverflowError];
    "math.fabs" = "rmath.ll_math_fabs", (Float) -> Float, [];
    "math.floor" = "rmath.ll_math_floor", (Float) -> Float, [];
    "math.fmod" = "rmath.ll_math_fmod", (Float, Float) -> Float, [ValueError];
    "math.gamma" = "rmath.ll_math_gamma", (Float) -> Float, [ValueError, OverflowError];
    "math.hypot" = "rmath.ll_math_hypot", (Float, Float) -> Float, [OverflowError];
    "math.isinf" = "rmath.ll_math_isinf", (Float) -> Bool, [];
    "math.isnan" = "rmath.ll_math_isnan", (Float) -> Bool, [];
    "math.ldexp" = "rmath.ll_math_ldexp", (Float, Int) -> Float, [OverflowError];
    "math.lgamma" = "rmath.ll_math_lgamma", (Float) -> Float, [ValueError, OverflowError];
    "math.log" = "rmath.ll_math_log", (Float) -> Float, [ValueError];
    "math.log10" = "rmath.ll_math_log10", (Float) -> Float, [ValueError];
    "math.log1p" = "rmath.ll_math_log1p", (Float) -> Float, [ValueError, OverflowError];
    "math.pow" = "rmath.ll_math_pow", (Float, Float) -> Float, [ValueError, OverflowError];
    "math.radians" = "rmath.ll_math_radians", (Float) -> Float, [];
    "math.sin" = "rmath.ll_math_sin", (Float) -> Float, [ValueError, OverflowError];
    "math.sinh" = "rmath.ll_math_sinh", (Float) -> Float, [ValueError, OverflowError];
    "math.sqrt" = "rmath.ll_math_sqrt", (Float) -> Float, [ValueError];
    "math.tan" = "rmath.ll_math_tan", (Float) -> Float, [ValueError, OverflowError];
    "math.tanh" = "rmath.ll_math_tanh", (Float) -> Float, [];
    "os._environ" = "rposix.ll_environ", () -> Str, [];
    "os._exit" = "rposix.ll_os__exit", (Int) -> None, [];
    "os.access" = "rposix.ll_os_access", (Str, Int) -> Bool, [];
    "os.chdir" = "rposix.ll_os_chdir", (Str) -> None, [OSError];
    "os.chmod" = "rposix.ll_os_chmod", (Str, Int) -> None, [OSError];
    "os.close" = "rposix.ll_os_close", (Int) -> None, [OSError];
    "os.dup" = "rposix.ll_os_dup", (Int) -> Int, [OSError];
    "os.dup2" = "rposix.ll_os_dup2", (Int, Int) -> None, [OSError];
    "os.fdatasync" = "rposix.ll_os_fsync", (Int) -> None, [OSError];
    "os.fork" = "rposix.ll_os_fork", () -> Int, [OSError];
    "os.fsync" = "rposix.ll_os_fsync", (Int) -> None, [OSError];
    "os.ftruncate" = "rposix.ll_os_ftruncate", (Int, Int) -> None, [OSError];
    "os.getcwd" = "rposix.ll_os_getcwd", () -> Str0, [OSError];
    "os.getegid" = "rposix.ll_os_getegid", () -> Uint, [];
    "os.getenv" = "rposix.ll_os_getenv", (Str, StrOrNone = Default::None) -> Str0OrNone, [];
    "os.geteuid" = "rposix.ll_os_geteuid", () -> Uint, [];
    "os.getgid" = "rposix.ll_os_getgid", () -> Uint, [];
    "os.getpid" = "rposix.ll_os_getpid", () -> Int, [];
    "os.getppid" = "rposix.ll_os_getppid", () -> Int, [];
    "os.getuid" = "rposix.ll_os_getuid", () -> Uint, [];
    "os.isatty" = "rposix.ll_os_isatty", (Int) -> Bool, [];
    "os.kill" = "rposix.ll_os_kill", (Int, Int) -> None, [OSError];
    "os.link" = "rposix.ll_os_link", (Str, Str) -> None, [OSError];
    "os.lseek" = "rposix.ll_os_lseek", (Int, Int, Int) -> Int, [OSError];
    "os.mkdir" = "rposix.ll_os_mkdir", (Str, Int = Default::Int(0o777)) -> None, [OSError];
    "os.open" = "rposix.ll_os_open", (Str, Int, Int = Default::Int(0o777)) -> Int, [OSError];
    "os.path.exists" = "rposix.ll_path_exists", (Str) -> Bool, [];
    "os.path.isdir" = "rposix.ll_path_isdir", (Str) -> Bool, [];
    "os.path.isfile" = "rposix.ll_path_isfile", (Str) -> Bool, [];
    "os.putenv" = "rposix.ll_os_putenv", (Str, Str) -> None, [OSError];
    "os.read" = "rposix.ll_os_read", (Int, Int) -> Str, [OSError];
    "os.readlink" = "rposix.ll_os_readlink", (Str) -> Str0, [OSError];
    "os.remove" = "rposix.ll_os_unlink", (Str) -> None, [OSError];
    "os.rename" = "rposix.ll_os_rename", (Str, Str) -> None, [OSError];
    "os.rmdir" = "rposix.ll_os_rmdir", (Str) -> None, [OSError];
    "os.strerror" = "rposix.ll_os_strerror", (Int) -> Str0, [];
    "os.symlink" = "rposix.ll_os_symlink", (Str, Str) -> None, [OSError];
    "os.system" = "rposix.ll_os_system", (Str) -> Int, [OSError];
    "os.umask" = "rposix.ll_os_umask", (Int) -> Int, [];
    "os.unlink" = "rposix.ll_os_unlink", (Str) -> None, [OSError];
    "os.unsetenv" = "rposix.ll_os_unsetenv", (Str) -> None, [OSError];
    "os.urandom" = "rposix.ll_os_urandom", (Int) -> Str, [OSError];
    "os.write" = "rposix.ll_os_write", (Int, Str) -> Nonneg, [OSError];
    "rpython.rlib._rposix_c.get_saved_errno" = "rposix.ll_get_saved_errno", () -> Int, [];
    "rpython.rlib._rposix_c.set_saved_errno" = "rposix.ll_set_saved_errno", (Int) -> None, [];
    "rpython.rlib.debug.fatalerror" = "rclass.ll_fatalerror", (Str) -> None, [];
    "rpython.rlib.debug.fatalerror_notb" = "rclass.ll_fatalerror", (Str) -> None, [];
    "rpython.rlib.rfile._close" = "rfile.ll_file_close", (Int) -> Int, [IOError];
    "rpython.rlib.rfile._fdopen" = "rfile.ll_file_fdopen", (Int, Str) -> Int, [IOError];
    "rpython.rlib.rfile._fileno" = "rfile.ll_file_fileno", (Int) -> Int, [IOError];
    "rpython.rlib.rfile._flush" = "rfile.ll_file_flush", (Int) -> Int, [IOError];
    "rpython.rlib.rfile._line" = "rfile.ll_file_line", (Int, Int) -> Str, [IOError];
    "rpython.rlib.rfile._open" = "rfile.ll_file_open", (Str, Str) -> Int, [IOError];
    "rpython.rlib.rfile._pclose" = "rfile.ll_file_pclose", (Int) -> Int, [IOError];
    "rpython.rlib.rfile._popen" = "rfile.ll_file_popen", (Str, Str) -> Int, [IOError];
    "rpython.rlib.rfile._read" = "rfile.ll_file_read", (Int, Int) -> Str, [IOError];
    "rpython.rlib.rfile._seek" = "rfile.ll_file_seek", (Int, Int, Int) -> Int, [IOError];
    "rpython.rlib.rfile._set_buffer" = "rfile.ll_file_set_buffer", (Int, Int, Int) -> Int, [IOError];
    "rpython.rlib.rfile._standard" = "rfile.ll_file_standard", (Int) -> Int, [IOError];
    "rpython.rlib.rfile._tell" = "rfile.ll_file_tell", (Int) -> Int, [IOError];
    "rpython.rlib.rfile._temporary" = "rfile.ll_file_temporary", () -> Int, [IOError];
    "rpython.rlib.rfile._write" = "rfile.ll_file_write", (Int, Str) -> Int, [IOError];
    "rpython.rlib.rfloat.erf" = "rmath.ll_math_erf", (Float) -> Float, [];
    "rpython.rlib.rfloat.erfc" = "rmath.ll_math_erfc", (Float) -> Float, [];
    "rpython.rlib.rfloat.formatd" = "ll_str.ll_formatd",
        (Float, Char, Int, Int = Default::Int(0)) -> Str, [];
    "rpython.rlib.rfloat.gamma" = "rmath.ll_math_gamma", (Float) -> Float, [ValueError, OverflowError];
    "rpython.rlib.rfloat.lgamma" = "rmath.ll_math_lgamma", (Float) -> Float, [ValueError, OverflowError];
    "rpython.rlib.rfloat.rstring_to_float" = "ll_str.ll_str2float", (Str) -> Float, [ValueError];
    "rpython.rlib.rposix._execve" = "rposix.ll_execve", (Str, Str, Str) -> None, [OSError];
    "rpython.rlib.rposix._listdir" = "rposix.ll_listdir", (Str) -> Str, [OSError];
    "rpython.rlib.rposix._pipe" = "rposix.ll_pipe", () -> Int, [OSError];
    "rpython.rlib.rposix._utime" = "rposix.ll_utime", (Str, Float, Float) -> None, [OSError];
    "rpython.rlib.rposix._waitpid" = "rposix.ll_waitpid", (Int, Int) -> Int, [OSError];
    "rpython.rlib.rposix_stat._fd_fields" = "rposix.ll_fstat_fields", (Int) -> Str, [OSError];
    "rpython.rlib.rposix_stat._fields" = "rposix.ll_stat_fields", (Str, Bool) -> Str, [OSError];
    "rpython.rlib.rsignal._get_write_errno" = "rsignal.ll_wakeup_errno", () -> Int, [];
    "rpython.rlib.rsignal._set_wakeup_fd" = "rsignal.ll_wakeup_fd", (Int, Bool) -> Int, [];
    "rpython.rlib.rsignal.pypysig_default" = "rsignal.ll_default", (Int) -> None, [OSError];
    "rpython.rlib.rsignal.pypysig_ignore" = "rsignal.ll_ignore", (Int) -> None, [OSError];
    "rpython.rlib.rsignal.pypysig_poll" = "rsignal.ll_poll", () -> Int, [];
    "rpython.rlib.rsignal.pypysig_pushback" = "rsignal.ll_push", (Int) -> None, [];
    "rpython.rlib.rsignal.pypysig_setflag" = "rsignal.ll_note", (Int) -> None, [OSError];
    "rpython.rlib.rtime._clock_ns" = "rposix.ll_clock_ns", (Int) -> Int, [OSError];
    "time.clock" = "rposix.ll_time_clock", () -> Float, [];
    "time.sleep" = "rposix.ll_time_sleep", (Float) -> None, [];
    "time.time" = "rposix.ll_time_time", () -> Float, [];
}

impl HelperFunction {
    /// All of them, sorted by name.
    pub fn all() -> &'static [HelperFunction] {
        FUNCTIONS
    }

    /// The function of that name in a module.
    pub fn named(module: &str, name: &str) -> Option<&'static HelperFunction> {
        find(FUNCTIONS, |f| f.name, module, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted() {
        assert!(FUNCTIONS.is_sorted_by_key(|f| f.name));
    }
}
