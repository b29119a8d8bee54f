//! The functions of `taipan_lltype`'s table of externals: for each an `extern "C"`
//! wrapper under its symbol, which emitted code calls, and an entry of [`call`],
//! by which the llinterpreter calls the same function. Those without the prefix
//! `rpy_` are the C library's own.

use crate::string::RpyString;
use crate::{float, os};

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
    /// A string is live and used by nothing else.
    unsafe fn from_raw<'a>(raw: Self::Raw) -> Self::Arg<'a>;
    fn from_value<'a>(value: &'a mut Value<'_>) -> Option<Self::Arg<'a>>;
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

/// A byte string.
enum Str {}

impl Argument for Str {
    type Raw = *mut RpyString;
    type Arg<'a> = &'a mut [u8];
    unsafe fn from_raw<'a>(raw: *mut RpyString) -> &'a mut [u8] {
        // SAFETY: by contract.
        unsafe { RpyString::bytes(raw) }
    }
    fn from_value<'a>(value: &'a mut Value<'_>) -> Option<&'a mut [u8]> {
        match value {
            Value::Str(s) => Some(s),
            _ => None,
        }
    }
}

macro_rules! externals {
    (
        runtime { $($name:ident = $path:path, ($($arg:ident: $ty:ty),*) -> $result:ty;)* }
        libm { $($math:ident($($x:ident),*);)* }
    ) => {
        $(
            #[doc = concat!("`", stringify!($path), "`, called from emitted code.")]
            ///
            /// # Safety
            /// Strings are live and used by nothing else.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name(
                $($arg: <$ty as Argument>::Raw),*
            ) -> $result {
                // SAFETY: by contract.
                $path($(unsafe { <$ty as Argument>::from_raw($arg) }),*)
            }
        )*

        unsafe extern "C" {
            $(safe fn $math($($x: f64),*) -> f64;)*
        }

        /// Calls the external of that name; none if there is no such one or the
        /// arguments are not its.
        pub fn call(name: &str, args: &mut [Value<'_>]) -> Option<Value<'static>> {
            match name {
                $(stringify!($name) => {
                    let [$($arg),*] = args else { return None };
                    Some($path($(<$ty as Argument>::from_value($arg)?),*).into())
                })*
                $(stringify!($math) => {
                    let [$($x),*] = args else { return None };
                    Some($math($(<f64 as Argument>::from_value($x)?),*).into())
                })*
                _ => None,
            }
        }

        /// Names and addresses of all of them, for a linker in the same process.
        pub fn symbols(out: &mut dyn FnMut(&'static str, *const u8)) {
            $(out(stringify!($name), $name as *const u8);)*
            $(out(stringify!($math), $math as *const u8);)*
        }
    };
}

externals! {
    runtime {
        rpy_os_write = os::write, (fd: i64, s: Str) -> i64;
        rpy_os_read = os::read, (fd: i64, s: Str) -> i64;
        rpy_os_open = os::open, (path: Str, flags: i64, mode: i64) -> i64;
        rpy_os_close = os::close, (fd: i64) -> i64;
        rpy_os_lseek = os::lseek, (fd: i64, pos: i64, how: i64) -> i64;
        rpy_os_isatty = os::isatty, (fd: i64) -> bool;
        rpy_os_unlink = os::unlink, (path: Str) -> i64;
        rpy_os_stat = os::stat, (path: Str, field: i64) -> i64;
        rpy_os_fstat = os::fstat, (fd: i64, field: i64) -> i64;
        rpy_os_access = os::access, (path: Str, mode: i64) -> bool;
        rpy_os_mkdir = os::mkdir, (path: Str, mode: i64) -> i64;
        rpy_os_rmdir = os::rmdir, (path: Str) -> i64;
        rpy_os_rename = os::rename, (from: Str, to: Str) -> i64;
        rpy_os_chdir = os::chdir, (path: Str) -> i64;
        rpy_os_getcwd = os::getcwd, (out: Str) -> i64;
        rpy_os_getenv = os::getenv, (name: Str, out: Str) -> i64;
        rpy_os_strerror = os::strerror, (number: i64, out: Str) -> i64;
        rpy_os_getpid = os::getpid, () -> i64;
        rpy_os_exit = os::exit, (code: i64) -> ();
        rpy_fatal = os::fatal, (message: Str) -> ();
        rpy_time_time = os::time, () -> f64;
        rpy_time_clock = os::clock, () -> f64;
        rpy_time_sleep = os::sleep, (seconds: f64) -> ();
        rpy_float_format = float::format,
            (x: f64, code: u8, precision: i64, flags: i64, out: Str) -> i64;
        rpy_float_parse = float::parse, (s: Str) -> f64;
        rpy_float_parse_ok = float::parse_ok, (s: Str) -> bool;
        rpy_float_frexp_mantissa = float::frexp_mantissa, (x: f64) -> f64;
        rpy_float_frexp_exponent = float::frexp_exponent, (x: f64) -> i64;
        rpy_float_ldexp = float::ldexp, (x: f64, n: i64) -> f64;
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
