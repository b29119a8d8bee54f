//! CPython 2.7 says the same: the programs of fixtures/, the generated ones, what is kept of the
//! output of programs of import time (crates/interp/tests), and the tests of the prelude.
//!
//! `PYTHON2` names the interpreter; `python2.7` is looked for otherwise. Where there is
//! none, the tests are reported as ignored, with the reason: this target has a harness of
//! its own, since the standard one knows no test that finds out while it runs.

mod support {
    pub(crate) mod generated;
    pub(crate) mod prelude;
    pub(crate) mod programs;
    pub(crate) mod python2;
    pub(crate) mod text;
}

use std::path::Path;
use std::process::{Command, ExitCode, Output};
use std::sync::Arc;

use libtest_mimic::{Arguments, Completion, Failed};
use support::generated::{self, Generated};
use support::python2::Python2;
use support::{prelude, programs};
use taipan_testkit::timed_trial;

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

/// The output that `import_time.rs` of interp compares with is what CPython prints.
fn import_time(python: &Python2) -> Result<(), Failed> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../interp/tests/import_time");
    let mut run = 0;
    for entry in std::fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_none_or(|e| e != "py") {
            continue;
        }
        // Under the name that it has there, in a folder that it may write to.
        let scratch = tempfile::tempdir()?;
        std::fs::copy(&path, scratch.path().join("main.py"))?;
        let o = python.run(scratch.path(), "main.py", &[]);
        let expected = std::fs::read(path.with_extension("out"))?;
        if !o.status.success() || o.stdout != expected {
            let found = String::from_utf8_lossy(&o.stdout);
            let (expected, stderr) = (
                String::from_utf8_lossy(&expected),
                String::from_utf8_lossy(&o.stderr),
            );
            let difference = diffy::create_patch(&expected, &found);
            return Err(format!("{}\n{difference}{stderr}", path.display()).into());
        }
        run += 1;
    }
    match run {
        0 => Err("no programs".into()),
        _ => Ok(()),
    }
}

/// The tests of the prelude that say what the language does. Files named `test_rpython_*` say
/// what only RPython does.
fn prelude_tests(python: &Python2) -> Result<(), Failed> {
    let files = prelude::test_files();
    let files: Vec<&str> = (files.iter())
        .map(String::as_str)
        .filter(|f| !f.starts_with("test_rpython_"))
        .collect();
    let o = python.run(&prelude::folder(), "as_python.py", &files);
    if o.status.success() {
        return Ok(());
    }
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Err(format!("{}{}", text(&o.stdout), text(&o.stderr)).into())
}

/// The names that are there without being defined are those that the table of the language has.
fn names_of_python(python: &Python2) -> Result<(), Failed> {
    let program = "import __builtin__; print '\\n'.join(dir(__builtin__))";
    let out = python.run(Path::new("."), "-c", &[program]);
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
        timed_trial(name, move || match &*python {
            Ok(python) => test(python).map(|()| Completion::Completed),
            Err(reason) => Ok(Completion::ignored_with(reason)),
        })
    };
    let trials = vec![
        trial("fixtures", Box::new(fixtures)),
        trial("import_time", Box::new(import_time)),
        trial("names_of_python", Box::new(names_of_python)),
        trial("prelude_tests", Box::new(prelude_tests)),
        trial("projects", Box::new(all_of(generated::projects()))),
        trial(
            "random_programs",
            Box::new(all_of(generated::numbered(
                generated::PROGRAMS,
                6,
                generated::random_program,
            ))),
        ),
        trial(
            "programs_of_classes",
            Box::new(all_of(generated::numbered(
                generated::CLASSES,
                1,
                generated::program_of_classes,
            ))),
        ),
        trial(
            "programs_of_families",
            Box::new(all_of(generated::numbered(
                generated::FAMILIES,
                6,
                generated::program_of_families,
            ))),
        ),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
