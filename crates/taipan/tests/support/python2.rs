//! CPython 2.7, where there is one.

use std::path::Path;
use std::process::{Command, Output};

/// A CPython 2.7 that runs.
pub(crate) struct Python2(String);

impl Python2 {
    /// The interpreter, or why there is none. `PYTHON2` names it; `python2.7` is looked for
    /// otherwise. What only claims to be one, such as the stub of a version manager without a
    /// version, is none.
    pub(crate) fn find() -> Result<Python2, String> {
        let name = std::env::var("PYTHON2").unwrap_or_else(|_| "python2.7".to_owned());
        let version = "import sys; print sys.version_info[:2]";
        let o = match Command::new(&name).args(["-c", version]).output() {
            Ok(o) => o,
            Err(e) => return Err(format!("no CPython 2.7: {name}: {e}")),
        };
        if o.status.success() && o.stdout.trim_ascii() == b"(2, 7)" {
            return Ok(Python2(name));
        }
        let said = String::from_utf8_lossy(&o.stderr);
        let said = said.lines().next().unwrap_or("it printed another version");
        Err(format!("no CPython 2.7: {name}: {said}"))
    }

    /// Runs a program, which may import Taipan's own `rpython` package: that is Python as
    /// well.
    pub(crate) fn run(&self, folder: &Path, target: &str, args: &[&str]) -> Output {
        let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../prelude/src");
        let mut command = Command::new(&self.0);
        command.current_dir(folder).env("PYTHONPATH", package);
        // As at import time.
        command.env("TZ", "UTC");
        // What is printed and what is written to descriptors comes in order.
        let command = command.args(["-B", "-u"]).arg(target).args(args);
        command.output().expect("it was found")
    }
}
