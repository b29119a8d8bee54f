//! Programs that are built here for other targets.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use libtest_mimic::Failed;

/// Fixtures that allocate little enough for a collection at each allocation.
pub(crate) const STRESSED: &[&str] = &[
    "raising.py",
    "shapes.py",
    "grammar.py",
    "erased.py",
    "jit/plusminus.py",
    "jit/stack.py",
    "jit/lisp.py",
    "files.py",
    "graphs.py",
    "bignums.py",
];

/// A folder of a test target, with programs of its own, and a cache for all runs.
pub(crate) struct Place(pub(crate) PathBuf);

impl Place {
    /// An empty one, but for these files.
    pub(crate) fn new(name: &str, files: &[(&str, &str)]) -> Place {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        for (name, text) in files {
            std::fs::write(folder.join(name), text).expect("a program");
        }
        Place(folder)
    }

    pub(crate) fn taipan(&self, folder: &Path, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_taipan"))
            .current_dir(folder)
            .arg(args[0])
            .arg("--cache-dir")
            .arg(self.0.join("cache"))
            .args(&args[1..])
            .stdin(Stdio::null())
            .output()
            .expect("taipan runs")
    }

    /// Builds a program for a target: what was made.
    pub(crate) fn built(
        &self,
        folder: &Path,
        target: &str,
        triple: &str,
        options: &[&str],
    ) -> Result<PathBuf, Failed> {
        let name = format!("{}-{triple}{}", target.replace('/', "_"), options.concat());
        let out = self.0.join(name);
        let mut args = vec!["build", "--quiet", "--target", triple, "-o"];
        args.push(out.to_str().expect("a path in UTF-8"));
        args.extend(options);
        args.push(target);
        let o = self.taipan(folder, &args);
        match o.status.success() {
            true => Ok(out),
            false => Err(format!("{target}: {}", stderr(&o)).into()),
        }
    }
}

/// What a process wrote to stderr.
pub(crate) fn stderr(o: &Output) -> String {
    String::from_utf8_lossy(&o.stderr).into_owned()
}
