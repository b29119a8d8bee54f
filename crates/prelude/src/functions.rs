//! Builtin functions that a prelude helper stands for once a program is translated:
//! their qualified names, and what annotator and RTyper need to know to call it.
//!
//! A name is that of a builtin (`math.sqrt`, `posix.write`) or of a function of the
//! shipped `rpython` package (`rpython.rlib.rfloat.formatd`), whose Python body then
//! serves import time only.

/// Type of an argument or result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `None`
    None,
    /// `SomeBool`
    Bool,
    /// `SomeInteger`
    Int,
    /// `SomeInteger(nonneg)`, as result.
    Nonneg,
    /// `SomeFloat`; integers given for it are converted.
    Float,
    /// `SomeChar`
    Char,
    /// `SomeString`, never None.
    Str,
    /// `SomeString(can_be_None)`
    StrOrNone,
}

/// A builtin function and its helper.
#[derive(Clone, Copy, Debug)]
pub struct Function {
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
    /// Exceptions that it may raise, separated by blanks.
    pub raises: &'static str,
}

/// Default value of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Default {
    /// None
    None,
    /// An integer.
    Int(i64),
}

macro_rules! functions {
    ($($name:literal = $helper:literal, ($($arg:ident $(= $default:expr)?),*) -> $result:ident, $raises:literal;)*) => {
        /// All of them, sorted by name.
        pub static FUNCTIONS: &[Function] = &[$(Function {
            name: $name,
            helper: $helper,
            args: &[$(Kind::$arg),*],
            defaults: &[$($($default,)?)*],
            result: Kind::$result,
            raises: $raises,
        },)*];
    };
}

functions! {
    "math.acos" = "rmath.ll_math_acos", (Float) -> Float, "ValueError OverflowError";
    "math.acosh" = "rmath.ll_math_acosh", (Float) -> Float, "ValueError OverflowError";
    "math.asin" = "rmath.ll_math_asin", (Float) -> Float, "ValueError OverflowError";
    "math.asinh" = "rmath.ll_math_asinh", (Float) -> Float, "";
    "math.atan" = "rmath.ll_math_atan", (Float) -> Float, "";
    "math.atan2" = "rmath.ll_math_atan2", (Float, Float) -> Float, "";
    "math.atanh" = "rmath.ll_math_atanh", (Float) -> Float, "ValueError";
    "math.ceil" = "rmath.ll_math_ceil", (Float) -> Float, "";
    "math.copysign" = "rmath.ll_math_copysign", (Float, Float) -> Float, "";
    "math.cos" = "rmath.ll_math_cos", (Float) -> Float, "ValueError OverflowError";
    "math.cosh" = "rmath.ll_math_cosh", (Float) -> Float, "ValueError OverflowError";
    "math.degrees" = "rmath.ll_math_degrees", (Float) -> Float, "";
    "math.erf" = "rmath.ll_math_erf", (Float) -> Float, "";
    "math.erfc" = "rmath.ll_math_erfc", (Float) -> Float, "";
    "math.exp" = "rmath.ll_math_exp", (Float) -> Float, "ValueError OverflowError";
    "math.expm1" = "rmath.ll_math_expm1", (Float) -> Float, "ValueError OverflowError";
    "math.fabs" = "rmath.ll_math_fabs", (Float) -> Float, "";
    "math.floor" = "rmath.ll_math_floor", (Float) -> Float, "";
    "math.fmod" = "rmath.ll_math_fmod", (Float, Float) -> Float, "ValueError";
    "math.gamma" = "rmath.ll_math_gamma", (Float) -> Float, "ValueError OverflowError";
    "math.hypot" = "rmath.ll_math_hypot", (Float, Float) -> Float, "OverflowError";
    "math.isinf" = "rmath.ll_math_isinf", (Float) -> Bool, "";
    "math.isnan" = "rmath.ll_math_isnan", (Float) -> Bool, "";
    "math.ldexp" = "rmath.ll_math_ldexp", (Float, Int) -> Float, "OverflowError";
    "math.lgamma" = "rmath.ll_math_lgamma", (Float) -> Float, "ValueError OverflowError";
    "math.log" = "rmath.ll_math_log", (Float) -> Float, "ValueError";
    "math.log10" = "rmath.ll_math_log10", (Float) -> Float, "ValueError";
    "math.log1p" = "rmath.ll_math_log1p", (Float) -> Float, "ValueError OverflowError";
    "math.pow" = "rmath.ll_math_pow", (Float, Float) -> Float, "ValueError OverflowError";
    "math.radians" = "rmath.ll_math_radians", (Float) -> Float, "";
    "math.sin" = "rmath.ll_math_sin", (Float) -> Float, "ValueError OverflowError";
    "math.sinh" = "rmath.ll_math_sinh", (Float) -> Float, "ValueError OverflowError";
    "math.sqrt" = "rmath.ll_math_sqrt", (Float) -> Float, "ValueError";
    "math.tan" = "rmath.ll_math_tan", (Float) -> Float, "ValueError OverflowError";
    "math.tanh" = "rmath.ll_math_tanh", (Float) -> Float, "";
    "math.trunc" = "rmath.ll_math_trunc", (Float) -> Float, "";
    "os._exit" = "rposix.ll_os__exit", (Int) -> None, "";
    "os.access" = "rposix.ll_os_access", (Str, Int) -> Bool, "";
    "os.chdir" = "rposix.ll_os_chdir", (Str) -> None, "OSError";
    "os.close" = "rposix.ll_os_close", (Int) -> None, "OSError";
    "os.exists" = "rposix.ll_path_exists", (Str) -> Bool, "";
    "os.getcwd" = "rposix.ll_os_getcwd", () -> Str, "OSError";
    "os.getenv" = "rposix.ll_os_getenv", (Str, StrOrNone = Default::None) -> StrOrNone, "";
    "os.getpid" = "rposix.ll_os_getpid", () -> Int, "";
    "os.isatty" = "rposix.ll_os_isatty", (Int) -> Bool, "";
    "os.isdir" = "rposix.ll_path_isdir", (Str) -> Bool, "";
    "os.isfile" = "rposix.ll_path_isfile", (Str) -> Bool, "";
    "os.lseek" = "rposix.ll_os_lseek", (Int, Int, Int) -> Int, "OSError";
    "os.mkdir" = "rposix.ll_os_mkdir", (Str, Int = Default::Int(0o777)) -> None, "OSError";
    "os.open" = "rposix.ll_os_open", (Str, Int, Int = Default::Int(0o777)) -> Int, "OSError";
    "os.read" = "rposix.ll_os_read", (Int, Int) -> Str, "OSError";
    "os.remove" = "rposix.ll_os_unlink", (Str) -> None, "OSError";
    "os.rename" = "rposix.ll_os_rename", (Str, Str) -> None, "OSError";
    "os.rmdir" = "rposix.ll_os_rmdir", (Str) -> None, "OSError";
    "os.strerror" = "rposix.ll_os_strerror", (Int) -> Str, "";
    "os.unlink" = "rposix.ll_os_unlink", (Str) -> None, "OSError";
    "os.write" = "rposix.ll_os_write", (Int, Str) -> Nonneg, "OSError";
    "rpython.rlib.debug.fatalerror" = "rclass.ll_fatalerror", (Str) -> None, "";
    "rpython.rlib.debug.fatalerror_notb" = "rclass.ll_fatalerror", (Str) -> None, "";
    "rpython.rlib.rfloat.erf" = "rmath.ll_math_erf", (Float) -> Float, "";
    "rpython.rlib.rfloat.erfc" = "rmath.ll_math_erfc", (Float) -> Float, "";
    "rpython.rlib.rfloat.formatd" = "ll_str.ll_formatd",
        (Float, Char, Int, Int = Default::Int(0)) -> Str, "";
    "rpython.rlib.rfloat.gamma" = "rmath.ll_math_gamma", (Float) -> Float, "ValueError OverflowError";
    "rpython.rlib.rfloat.lgamma" = "rmath.ll_math_lgamma", (Float) -> Float, "ValueError OverflowError";
    "rpython.rlib.rfloat.rstring_to_float" = "ll_str.ll_str2float", (Str) -> Float, "ValueError";
    "time.clock" = "rposix.ll_time_clock", () -> Float, "";
    "time.sleep" = "rposix.ll_time_sleep", (Float) -> None, "";
    "time.time" = "rposix.ll_time_time", () -> Float, "";
}

/// The function of that qualified name.
pub fn function(name: &str) -> Option<&'static Function> {
    let i = FUNCTIONS.binary_search_by_key(&name, |f| f.name).ok()?;
    Some(&FUNCTIONS[i])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_and_backed_by_helpers() {
        assert!(FUNCTIONS.is_sorted_by_key(|f| f.name));
        for f in FUNCTIONS {
            let (module, name) = f.helper.split_once('.').expect("module.function");
            let source = crate::shipped(&format!("taipan_prelude/{module}.py"));
            let source = source.unwrap_or_else(|| panic!("no module {module}"));
            let line = format!("\ndef {name}(");
            let rest = source.split_once(&line);
            let (_, rest) = rest.unwrap_or_else(|| panic!("no helper {}", f.helper));
            let (params, _) = rest.split_once(')').expect("closed");
            let count = params.split(',').filter(|p| !p.trim().is_empty()).count();
            assert_eq!(count, f.args.len(), "{}", f.name);
        }
    }
}
