//! The programs of fixtures/ and the generated ones print the same under CPython 2.7.
//!
//! `PYTHON2` names the interpreter; `python2.7` is looked for otherwise. Where there is
//! none, the tests are reported as ignored, with the reason: this target has a harness of
//! its own, since the standard one knows no test that finds out while it runs.

mod support {
    pub(crate) mod generated;
    pub(crate) mod programs;
    pub(crate) mod text;
}

use std::path::Path;
use std::process::{Command, ExitCode, Output};
use std::sync::Arc;

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use support::generated::{self, Generated};
use support::programs;

/// A CPython 2.7 that runs.
struct Python2(String);

impl Python2 {
    /// The interpreter, or why there is none. What only claims to be one, such as the
    /// stub of a version manager without a version, is none.
    fn find() -> Result<Python2, String> {
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
    fn run(&self, folder: &Path, target: &str, args: &[&str]) -> Output {
        let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../prelude/src");
        let mut command = Command::new(&self.0);
        command.current_dir(folder).env("PYTHONPATH", package);
        let command = command.arg("-B").arg(target).args(args);
        command.output().expect("it was found")
    }
}

fn native(folder: &Path, target: &str, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
    command.current_dir(folder);
    let command = command.args(["run", "--no-cache", target]).args(args);
    command.output().expect("taipan runs")
}

fn compare(
    python: &Python2,
    folder: &Path,
    target: &str,
    args: &[&str],
    name: &str,
) -> Result<(), Failed> {
    let (found, expected) = (
        native(folder, target, args),
        python.run(folder, target, args),
    );
    if programs::outcome(&found) == programs::outcome(&expected) {
        return Ok(());
    }
    Err(format!(
        "{name}\n--- native\n{:?}\n{}\n--- CPython\n{:?}\n{}",
        programs::outcome(&found),
        String::from_utf8_lossy(&found.stderr),
        programs::outcome(&expected),
        String::from_utf8_lossy(&expected.stderr),
    )
    .into())
}

fn fixtures(python: &Python2) -> Result<(), Failed> {
    for (target, args) in programs::PROGRAMS {
        let name = format!("{target} {args:?}");
        compare(python, &programs::programs(), target, args, &name)?;
    }
    Ok(())
}

fn all_of(
    programs: impl Iterator<Item = Generated>,
) -> impl FnOnce(&Python2) -> Result<(), Failed> {
    move |python| {
        for program in programs {
            let folder = program.write();
            compare(python, folder.path(), program.target, &[], &program.name)?;
        }
        Ok(())
    }
}

/// The names that are there without being defined are those that the table of the language has.
fn names_of_python(python: &Python2) -> Result<(), Failed> {
    let program = "import __builtin__; print '\\n'.join(dir(__builtin__))";
    let mut command = Command::new(&python.0);
    let out = command
        .args(["-c", program])
        .output()
        .expect("it was found");
    let names = String::from_utf8_lossy(&out.stdout).into_owned();
    let names: Vec<&str> = names.lines().collect();
    let unknown: Vec<_> = (names.iter())
        .filter(|n| !taipan_language::is_python_name(n))
        .collect();
    let invented: Vec<_> = (taipan_language::python_names().into_iter())
        // A name of another system.
        .filter(|n| *n != "WindowsError" && !names.contains(n))
        .collect();
    match (&unknown[..], &invented[..]) {
        ([], []) if names.len() > 100 => Ok(()),
        _ => Err(format!("unknown: {unknown:?}; not in Python: {invented:?}").into()),
    }
}

type Test = Box<dyn FnOnce(&Python2) -> Result<(), Failed> + Send>;

fn main() -> ExitCode {
    let python = Arc::new(Python2::find());
    let trial = |name: &str, test: Test| {
        let python = python.clone();
        Trial::ignorable_test(name, move || match &*python {
            Ok(python) => test(python).map(|()| Completion::Completed),
            Err(reason) => Ok(Completion::ignored_with(reason)),
        })
    };
    let trials = vec![
        trial("fixtures", Box::new(fixtures)),
        trial("names_of_python", Box::new(names_of_python)),
        trial("projects", Box::new(all_of(generated::projects()))),
        trial(
            "random_programs",
            Box::new(all_of(generated::random_programs())),
        ),
        trial(
            "programs_of_classes",
            Box::new(all_of(generated::programs_of_classes())),
        ),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
