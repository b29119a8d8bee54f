//! `[tool.taipan]` counts where the command line says nothing.

use std::path::Path;
use std::process::{Command, Output};

fn taipan(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_taipan"))
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn check_without_arguments_checks_the_configured_targets() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    write(
        folder,
        "pyproject.toml",
        "[tool.taipan]\ntargets = ['good.py']\npath = ['lib']\n",
    );
    write(folder, "lib/helper.py", "def f():\n    return 0\n");
    write(
        folder,
        "good.py",
        "import helper\ndef entry_point(argv):\n    return helper.f()\n",
    );
    write(
        folder,
        "bad.py",
        "def entry_point(argv):\n    return 'text'\n",
    );
    let out = taipan(folder, &["check"]);
    assert!(out.status.success(), "{out:?}");
    // The target's own project counts, wherever the command is given.
    let target = folder.join("good.py");
    let out = taipan(Path::new("/"), &["check", target.to_str().unwrap()]);
    assert!(out.status.success(), "{out:?}");

    write(folder, "pyproject.toml", "[tool.taipan]\nstep-limit = 1\n");
    let out = taipan(folder, &["check"]);
    let text = String::from_utf8_lossy(&out.stderr);
    assert!(text.contains("TP0202"), "{text}");
    let out = taipan(
        folder,
        &["check", "good.py", "--step-limit=1000000", "--path=lib"],
    );
    assert!(out.status.success(), "{out:?}");
}

#[test]
fn what_is_wrong_in_the_configuration_is_told() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "pyproject.toml", "[tool.taipan]\nsteps = 1\n");
    write(
        dir.path(),
        "good.py",
        "def entry_point(argv):\n    return 0\n",
    );
    let out = taipan(dir.path(), &["check"]);
    let text = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success() && text.contains("TP0011"), "{text}");
}

#[test]
fn a_configuration_that_cannot_be_read_is_wrong_usage() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "pyproject.toml", "[tool.taipan]\npath = 1\n");
    let program = "def entry_point(argv):\n    print 'ran'\n    return 0\n";
    write(dir.path(), "good.py", program);
    for args in [
        &["check"][..],
        &["run", "good.py"],
        &["build", "good.py"],
        &["test"],
        &["emit", "flow", "good.py:entry_point"],
        &["watch", "check"],
        &["call", "good.py:entry_point", "[]"],
        &["call", "--batch", "-"],
    ] {
        let out = taipan(dir.path(), args);
        let text = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{args:?} {text}");
        assert!(text.contains("error[TP0010]"), "{args:?} {text}");
        assert_eq!(text.matches("TP0010").count(), 1, "{args:?} {text}");
        assert!(out.stdout.is_empty(), "{args:?}");
    }
    // Programs that read answers get one.
    let out = taipan(dir.path(), &["call", "--json", "good.py:entry_point", "[]"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(out.stdout.starts_with(b"{\"error\":"));
}

/// A project cannot have Taipan write elsewhere.
#[test]
fn the_cache_of_a_project_stays_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("project");
    let outside = dir.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    write(
        &project,
        "main.py",
        "def entry_point(argv):\n    return 0\n",
    );
    std::os::unix::fs::symlink(&outside, project.join("link")).unwrap();
    for (cache, told) in [
        ("inner/cache", ""),
        ("../outside", "inside of the project"),
        ("link", "outside of the project by a symbolic link"),
        ("link/inner", "outside of the project by a symbolic link"),
    ] {
        let text = format!("[tool.taipan]\ncache-dir = '{cache}'\n");
        write(&project, "pyproject.toml", &text);
        for command in ["check", "clean"] {
            let out = taipan(&project, &[command, "main.py"]);
            let text = String::from_utf8_lossy(&out.stderr);
            assert!(out.status.success(), "{cache}: {text}");
            let told_here = text.contains(told) || command == "clean";
            assert!(told_here, "{cache}: {text}");
            let inner = project.join("inner/cache/CACHEDIR.TAG").exists();
            assert_eq!(inner, told.is_empty() && command == "check");
            assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0, "{cache}");
        }
    }
}
