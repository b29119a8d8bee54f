//! Builtin functions that a function of the shipped `rpython` package stands for once a program is
//! translated: those that work on more than numbers and strings, and so are annotated with the
//! program that calls them.
//!
//! Import time loads a module of these only if a function body mentions one of the names; the flow
//! space makes calls of the builtin calls of the shipped function.

/// A builtin function and what takes its place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ShippedFunction {
    /// Qualified name of the builtin.
    pub name: &'static str,
    /// The shipped module.
    pub module: &'static str,
    /// The function in it.
    pub function: &'static str,
}

macro_rules! shipped_functions {
    ($($name:literal = $module:literal $function:literal;)*) => {
        static FUNCTIONS: &[ShippedFunction] = &[$(ShippedFunction {
            name: $name,
            module: $module,
            function: $function,
        },)*];
    };
}

shipped_functions! {
    "__builtin__.file" = "rpython.rlib.rfile" "create_file";
    "__builtin__.open" = "rpython.rlib.rfile" "create_file";
    "os.chown" = "rpython.rlib._rposix_c" "chown";
    "os.chroot" = "rpython.rlib._rposix_c" "chroot";
    "os.confstr" = "rpython.rlib._rposix_c" "confstr";
    "os.ctermid" = "rpython.rlib._rposix_c" "ctermid";
    "os.execv" = "rpython.rlib.rposix" "execv";
    "os.execve" = "rpython.rlib.rposix" "execve";
    "os.fchdir" = "rpython.rlib._rposix_c" "fchdir";
    "os.fchmod" = "rpython.rlib._rposix_c" "fchmod";
    "os.fchown" = "rpython.rlib._rposix_c" "fchown";
    "os.fdopen" = "rpython.rlib.rfile" "create_fdopen_rfile";
    "os.forkpty" = "rpython.rlib._rposix_c" "forkpty";
    "os.fpathconf" = "rpython.rlib._rposix_c" "fpathconf";
    "os.fstat" = "rpython.rlib.rposix_stat" "fstat";
    "os.getgroups" = "rpython.rlib._rposix_c" "getgroups";
    "os.getloadavg" = "rpython.rlib._rposix_c" "getloadavg";
    "os.getlogin" = "rpython.rlib._rposix_c" "getlogin";
    "os.getpgid" = "rpython.rlib._rposix_c" "getpgid";
    "os.getpgrp" = "rpython.rlib._rposix_c" "getpgrp";
    "os.getresgid" = "rpython.rlib._rposix_c" "getresgid";
    "os.getresuid" = "rpython.rlib._rposix_c" "getresuid";
    "os.getsid" = "rpython.rlib._rposix_c" "getsid";
    "os.initgroups" = "rpython.rlib._rposix_c" "initgroups";
    "os.killpg" = "rpython.rlib._rposix_c" "killpg";
    "os.lchown" = "rpython.rlib._rposix_c" "lchown";
    "os.listdir" = "rpython.rlib.rposix" "listdir";
    "os.lstat" = "rpython.rlib.rposix_stat" "lstat";
    "os.major" = "rpython.rlib._rposix_c" "major";
    "os.makedev" = "rpython.rlib._rposix_c" "makedev";
    "os.minor" = "rpython.rlib._rposix_c" "minor";
    "os.mkfifo" = "rpython.rlib._rposix_c" "mkfifo";
    "os.mknod" = "rpython.rlib._rposix_c" "mknod";
    "os.nice" = "rpython.rlib._rposix_c" "nice";
    "os.openpty" = "rpython.rlib._rposix_c" "openpty";
    "os.path.abspath" = "rpython.rlib.rpath" "rabspath";
    "os.path.getsize" = "rpython.rlib.rposix_stat" "_getsize";
    "os.path.islink" = "rpython.rlib.rposix_stat" "_islink";
    "os.pathconf" = "rpython.rlib._rposix_c" "pathconf";
    "os.pipe" = "rpython.rlib.rposix" "pipe";
    "os.popen" = "rpython.rlib.rfile" "create_popen_file";
    "os.setegid" = "rpython.rlib._rposix_c" "setegid";
    "os.seteuid" = "rpython.rlib._rposix_c" "seteuid";
    "os.setgid" = "rpython.rlib._rposix_c" "setgid";
    "os.setgroups" = "rpython.rlib._rposix_c" "setgroups";
    "os.setpgid" = "rpython.rlib._rposix_c" "setpgid";
    "os.setpgrp" = "rpython.rlib._rposix_c" "setpgrp";
    "os.setregid" = "rpython.rlib._rposix_c" "setregid";
    "os.setresgid" = "rpython.rlib._rposix_c" "setresgid";
    "os.setresuid" = "rpython.rlib._rposix_c" "setresuid";
    "os.setreuid" = "rpython.rlib._rposix_c" "setreuid";
    "os.setsid" = "rpython.rlib._rposix_c" "setsid";
    "os.setuid" = "rpython.rlib._rposix_c" "setuid";
    "os.stat" = "rpython.rlib.rposix_stat" "stat";
    "os.sysconf" = "rpython.rlib._rposix_c" "sysconf";
    "os.tcgetpgrp" = "rpython.rlib._rposix_c" "tcgetpgrp";
    "os.tcsetpgrp" = "rpython.rlib._rposix_c" "tcsetpgrp";
    "os.times" = "rpython.rlib._rposix_c" "times";
    "os.tmpfile" = "rpython.rlib.rfile" "create_temp_rfile";
    "os.ttyname" = "rpython.rlib._rposix_c" "ttyname";
    "os.uname" = "rpython.rlib._rposix_c" "uname";
    "os.utime" = "rpython.rlib.rposix" "utime";
    "os.waitpid" = "rpython.rlib.rposix" "waitpid";
}

impl ShippedFunction {
    /// All of them, sorted by name.
    pub fn all() -> &'static [ShippedFunction] {
        FUNCTIONS
    }

    /// What stands for the builtin function of that name in a module.
    pub fn named(module: &str, name: &str) -> Option<&'static ShippedFunction> {
        find(FUNCTIONS, |f| f.name, module, name)
    }

    /// The builtin that a function of a shipped module stands for. Of several the last.
    pub fn of(module: &str, function: &str) -> Option<&'static ShippedFunction> {
        let is_it = |f: &&ShippedFunction| (f.module, f.function) == (module, function);
        FUNCTIONS.iter().rfind(is_it)
    }

    /// Modules that a function may need which mentions this name as a global or attribute.
    pub fn modules(name: &str) -> impl Iterator<Item = &'static str> {
        let is_last = move |f: &&ShippedFunction| {
            let last = f.name.rsplit_once('.');
            last.is_some_and(|(_, last)| last == name)
        };
        FUNCTIONS.iter().filter(is_last).map(|f| f.module)
    }
}

/// The entry of a table, sorted by qualified names, whose name is this one in that module.
pub(crate) fn find<T>(
    table: &'static [T],
    qualified: impl Fn(&T) -> &'static str,
    module: &str,
    name: &str,
) -> Option<&'static T> {
    let wanted = || module.bytes().chain([b'.']).chain(name.bytes());
    let i = table.binary_search_by(|f| qualified(f).bytes().cmp(wanted()));
    table.get(i.ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted() {
        assert!(FUNCTIONS.is_sorted_by_key(|f| f.name));
        assert!(ShippedFunction::named("os", "listdir").is_some());
        assert!(ShippedFunction::named("os", "listdi").is_none());
    }
}
