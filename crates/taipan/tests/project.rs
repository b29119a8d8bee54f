//! What comes before and after the compiler's work: a new project, completions and manual
//! pages, an empty cache.

#[path = "untrusted/mod.rs"]
mod untrusted;

use std::path::Path;
use std::process::{Command, Output};

fn taipan(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_taipan"))
        .current_dir(folder)
        .env("XDG_CACHE_HOME", folder.join(CACHES))
        .args(args)
        .output()
        .unwrap()
}

/// Where caches are in these tests.
const CACHES: &str = "caches";

#[track_caller]
fn works(folder: &Path, args: &[&str]) -> String {
    let o = taipan(folder, args);
    let stderr = String::from_utf8_lossy(&o.stderr);
    assert!(o.status.success(), "{args:?}: {stderr}");
    String::from_utf8(o.stdout).unwrap()
}

/// A path below a folder for each file of it.
fn files(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(at) = waiting.pop() {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let path = path.strip_prefix(folder).unwrap();
                all.push(path.to_str().unwrap().to_owned());
            }
        }
    }
    all.sort();
    all
}

#[test]
fn a_new_project_checks_runs_tests_and_builds() {
    let folder = tempfile::tempdir().unwrap();
    let said = works(folder.path(), &["init", "minnow"]);
    assert!(said.contains("taipan run main.py"), "{said}");
    let project = folder.path().join("minnow");
    works(&project, &["check"]);
    assert_eq!(
        works(&project, &["run", "main.py", "examples/fib.mw"]),
        "fib(20) is 6765\n"
    );
    assert!(works(&project, &["test"]).contains(" 16 passed"));
    works(&project, &["build", "--jit", "-o", "minnow", "main.py"]);
    let o = Command::new(project.join("minnow"))
        .arg(project.join("examples/primes.mw"))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&o.stdout), "25997\n");
}

/// All files of the template are written, under the names that editors look for.
/// As the original names it: `%(backend)s` is `c`.
#[test]
fn the_target_names_the_executable() {
    let folder = tempfile::tempdir().unwrap();
    let main = "def run(argv):\n    print 'named'\n    return 0\n\n\n\
                def target(driver, args):\n    driver.exe_name = 'mine-%(backend)s'\n    return run, None\n";
    std::fs::write(folder.path().join("main.py"), main).unwrap();
    works(folder.path(), &["build", "--no-cache", "main.py"]);
    assert_eq!(files(folder.path()), ["main.py", "mine-c"]);
    let o = Command::new(folder.path().join("mine-c")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&o.stdout), "named\n");
}

#[test]
fn a_new_project_is_the_whole_template() {
    let folder = tempfile::tempdir().unwrap();
    works(folder.path(), &["init"]);
    let template = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/init");
    let hidden = |path: &String| match path.split('/').next().unwrap() {
        "gitignore" | "vscode" | "helix" => format!(".{path}"),
        _ => path.clone(),
    };
    let mut expected: Vec<String> = files(&template).iter().map(hidden).collect();
    expected.sort();
    assert_eq!(files(folder.path()), expected);
}

#[test]
fn a_new_project_overwrites_nothing() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("lexer.py"), "mine").unwrap();
    let o = taipan(folder.path(), &["init"]);
    assert_eq!(o.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&o.stderr);
    assert!(stderr.contains("lexer.py exists already"), "{stderr}");
    assert_eq!(files(folder.path()), ["lexer.py"]);
}

#[test]
fn clean_removes_the_cache_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(
        folder.join("main.py"),
        "def entry_point(argv):\n    return 0\n",
    )
    .unwrap();
    assert!(works(folder, &["clean"]).starts_with("Nothing to remove"));
    works(folder, &["check", "main.py"]);
    let before = files(folder);
    let pack = before.iter().find(|f| f.ends_with(".pack")).unwrap();
    assert!(works(folder, &["clean", "--dry-run"]).starts_with("Would remove 4 files"));
    assert_eq!(files(folder), before);
    let mine = Path::new(pack).ancestors().nth(2).unwrap().join("mine");
    std::fs::write(folder.join(&mine), "").unwrap();
    assert!(works(folder, &["clean"]).starts_with("Removed 4 files"));
    let left = [
        mine.to_str().unwrap(),
        "caches/taipan/projects/tidied",
        "caches/taipan/secret",
        "main.py",
    ];
    assert_eq!(files(folder), left);

    // What older versions have left in the project, if it is theirs.
    let old = folder.join(".taipan-cache");
    works(
        folder,
        &["check", "main.py", "--cache-dir", ".taipan-cache"],
    );
    let said = works(folder, &["clean"]);
    let line = said.lines().last().unwrap();
    assert!(
        line.starts_with("Removed 3 files") && line.ends_with("/.taipan-cache"),
        "{said}"
    );
    assert!(!old.exists());
    let build = old.join("0".repeat(32));
    std::fs::create_dir_all(&build).unwrap();
    std::fs::write(build.join("not-ours.pack"), "").unwrap();
    works(folder, &["clean"]);
    assert!(build.join("not-ours.pack").exists());
    let o = taipan(folder, &["clean", "elsewhere"]);
    assert_eq!(o.status.code(), Some(2));
}

/// Completions know the commands, and Bash takes them.
#[test]
fn completions_of_every_shell() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = works(folder.path(), &["completions", shell]);
        assert!(text.contains("timeshift"), "{shell}");
    }
    let script = "eval \"$(\"$TAIPAN\" completions bash)\"\n\
        COMP_WORDS=(taipan che) COMP_CWORD=1\n\
        _taipan taipan che taipan\n\
        echo \"${COMPREPLY[@]}\"\n";
    let o = Command::new("bash")
        .args(["-c", script])
        .env("TAIPAN", env!("CARGO_BIN_EXE_taipan"))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&o.stdout), "check\n", "{o:?}");
}

#[test]
fn a_manual_page_for_every_command() {
    let folder = tempfile::tempdir().unwrap();
    works(folder.path(), &["man", "pages"]);
    let pages = folder.path().join("pages");
    let mut expected = vec!["taipan.1".to_owned()];
    let mut waiting = vec![("taipan".to_owned(), taipan_cli::command())];
    while let Some((name, command)) = waiting.pop() {
        for c in command.get_subcommands() {
            let name = format!("{name}-{}", c.get_name());
            expected.push(format!("{name}.1"));
            waiting.push((name, c.clone()));
        }
    }
    expected.sort();
    assert_eq!(files(&pages), expected);
    let page = std::fs::read_to_string(pages.join("taipan-watch-run.1")).unwrap();
    assert!(page.contains("taipan\\-watch\\-run"), "{page}");
    assert!(page.contains("\\-\\-hot"), "{page}");
}
