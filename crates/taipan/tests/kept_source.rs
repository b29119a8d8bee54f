//! `--keep-source`: `make` in the folder puts together the program that Taipan made.

mod support {
    pub(crate) mod named;
}

use std::path::Path;
use std::process::Command;

use support::named;

/// What a command prints, which succeeds.
fn said(command: &mut Command) -> (String, String) {
    let o = command.output().unwrap();
    let [out, err] = [o.stdout, o.stderr].map(|t| String::from_utf8_lossy(&t).into_owned());
    assert!(o.status.success(), "{command:?}\n{out}{err}");
    (out, err)
}

/// Builds the program, makes it again in the folder, and runs both. What `make` has to say of it is
/// returned.
fn built_and_made(folder: &Path, options: &[&str], target: &str) -> String {
    let mut build = Command::new(env!("CARGO_BIN_EXE_taipan"));
    build.current_dir(folder).args(["build", "--backend", "c"]);
    build.args(["--no-cache", "--keep-source", "kept", "main.py"]);
    said(build.args(options));
    let kept = folder.join("kept");
    let (_, messages) = said(Command::new("make").current_dir(&kept));
    let own = options.last().unwrap();
    for executable in [folder.join(own), kept.join(target)] {
        assert_eq!(said(&mut Command::new(executable)).0, named::printed());
    }
    messages
}

#[test]
fn modules_of_any_name() {
    let dir = named::write();
    built_and_made(dir.path(), &["-O0", "-o", "out"], "out");
    // Two of a name that differs in case would be one where case is ignored.
    let files = std::fs::read_dir(dir.path().join("kept")).unwrap();
    let mut names: Vec<String> = files
        .map(|f| f.unwrap().file_name().to_string_lossy().to_lowercase())
        .collect();
    let all = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), all, "{names:?}");
}

/// The linker compares the declarations of all files.
#[test]
fn optimised_together_and_called_as_a_target_of_the_makefile() {
    let dir = named::write();
    let messages = built_and_made(dir.path(), &["-O1", "--lto", "-o", "clean"], "program");
    assert_eq!(messages, "");
}
