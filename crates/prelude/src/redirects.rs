//! Builtin functions that a function of the shipped `rpython` package stands for once a
//! program is translated: those that work on more than numbers and strings, and so are
//! annotated with the program that calls them.
//!
//! Import time loads a module of these only if a function body mentions one of the
//! names; the flow space makes calls of the builtin calls of the shipped function.

/// A builtin function and what takes its place.
#[derive(Clone, Copy, Debug)]
pub struct Redirect {
    /// Qualified name of the builtin.
    pub name: &'static str,
    /// The shipped module.
    pub module: &'static str,
    /// The function in it.
    pub function: &'static str,
}

macro_rules! redirects {
    ($($name:literal = $module:literal $function:literal;)*) => {
        /// All of them, sorted by name.
        pub static REDIRECTS: &[Redirect] = &[$(Redirect {
            name: $name,
            module: $module,
            function: $function,
        },)*];
    };
}

redirects! {
    "__builtin__.file" = "rpython.rlib.rfile" "create_file";
    "__builtin__.open" = "rpython.rlib.rfile" "create_file";
    "os.execv" = "rpython.rlib.rposix" "execv";
    "os.execve" = "rpython.rlib.rposix" "execve";
    "os.fdopen" = "rpython.rlib.rfile" "create_fdopen_rfile";
    "os.fstat" = "rpython.rlib.rposix_stat" "fstat";
    "os.listdir" = "rpython.rlib.rposix" "listdir";
    "os.lstat" = "rpython.rlib.rposix_stat" "lstat";
    "os.path.abspath" = "rpython.rlib.rpath" "rabspath";
    "os.path.getsize" = "rpython.rlib.rposix_stat" "_getsize";
    "os.path.islink" = "rpython.rlib.rposix_stat" "_islink";
    "os.pipe" = "rpython.rlib.rposix" "pipe";
    "os.popen" = "rpython.rlib.rfile" "create_popen_file";
    "os.stat" = "rpython.rlib.rposix_stat" "stat";
    "os.tmpfile" = "rpython.rlib.rfile" "create_temp_rfile";
    "os.utime" = "rpython.rlib.rposix" "utime";
    "os.waitpid" = "rpython.rlib.rposix" "waitpid";
}

/// What stands for the builtin function of that qualified name.
pub fn redirect(name: &str) -> Option<&'static Redirect> {
    let i = REDIRECTS.binary_search_by_key(&name, |r| r.name).ok()?;
    Some(&REDIRECTS[i])
}

/// Modules that a function may need which mentions this name as a global or attribute.
pub fn redirected_modules(name: &str) -> impl Iterator<Item = &'static str> {
    (REDIRECTS.iter())
        .filter(move |r| {
            r.name
                .rsplit_once('.')
                .is_some_and(|(_, last)| last == name)
        })
        .map(|r| r.module)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_and_shipped() {
        assert!(REDIRECTS.is_sorted_by_key(|r| r.name));
        for r in REDIRECTS {
            let path = format!("{}.py", r.module.replace('.', "/"));
            let source = crate::shipped(&path).unwrap_or_else(|| panic!("no {path}"));
            let line = format!("\ndef {}(", r.function);
            assert!(source.contains(&line), "{} of {path}", r.function);
        }
    }
}
