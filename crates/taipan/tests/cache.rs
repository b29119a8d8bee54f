//! What a second process takes over from the first: the answer must be the same, and
//! never an old one.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Target file below fixtures/programs, and arguments of a short run.
const PROGRAMS: &[(&str, &[&str])] = &[
    ("raising.py", &["60"]),
    ("quill/targetquill.py", &["quill/demo/closures.ql"]),
];

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/programs")
}

/// A program, and the cache folder of a user.
struct Project {
    dir: tempfile::TempDir,
    caches: tempfile::TempDir,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Project {
        let p = Project {
            dir: tempfile::tempdir().unwrap(),
            caches: tempfile::tempdir().unwrap(),
        };
        for (path, text) in files {
            p.write(path, text);
        }
        p
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// `taipan COMMAND OPTIONS... ARGS...` here.
    fn taipan(&self, command: &str, options: &[&str], args: &[&str]) -> Output {
        let mut taipan = self.command(self.caches.path());
        taipan.arg(command).args(options).args(args);
        taipan.output().unwrap()
    }

    /// The command, as a user with this cache folder gives it.
    fn command(&self, caches: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
        command
            .current_dir(self.dir.path())
            .env("XDG_CACHE_HOME", caches);
        command
    }

    /// The same with and without the cache, which must not differ; how the first went,
    /// and the queries whose results came from the cache.
    fn compare(&self, command: &str, args: &[&str]) -> (Output, Vec<String>) {
        let cold = self.taipan(command, &["--no-cache"], args);
        let log = self.path("queries.log");
        let logging = ["--log-queries", log.to_str().unwrap()];
        let cached = self.taipan(command, &logging, args);
        assert_same(&cold, &cached);
        (cached, restored(&log))
    }
}

fn assert_same(a: &Output, b: &Output) {
    let seconds = regex::Regex::new(r" in \d+\.\d\d s").unwrap();
    let text = |o: &Output| {
        format!(
            "{:?}\n--- stdout\n{}\n--- stderr\n{}",
            o.status.code(),
            String::from_utf8_lossy(&o.stdout),
            seconds.replace(&String::from_utf8_lossy(&o.stderr), " in T s")
        )
    };
    assert_eq!(text(a), text(b));
}

/// Names of the queries that a log says were restored.
fn restored(log: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for line in std::fs::read_to_string(log).unwrap().lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        if line["event"] == "restored" {
            names.push(line["query"].as_str().unwrap().to_owned());
        }
    }
    names
}

#[test]
fn a_pass_that_is_switched_off_makes_anew_what_it_is_part_of() {
    let p = Project::new(&[(
        "main.py",
        "class Box(object):\n    pass\n\ndef entry_point(argv):\n    box = Box()\n    box.args = argv\n    \
         print len(box.args)\n    return 0\n",
    )]);
    let log = p.path("queries.log");
    let options = ["--log-queries", log.to_str().unwrap()];
    let kept = |passes: &[&str]| {
        let o = p.taipan("run", &[&options, passes].concat(), &["main.py"]);
        assert_eq!(String::from_utf8_lossy(&o.stdout), "1\n");
        let names = restored(&log);
        ["optimized", "machine_code", "image_to_run"].map(|n| names.iter().any(|m| m == n))
    };
    assert_eq!(kept(&[]), [false, false, false]);
    // A pass of the collector's makes no difference to optimised graphs.
    assert_eq!(kept(&["--passes=-barriers"]), [true, false, false]);
    assert_eq!(kept(&["--passes=-inlining"]), [false, false, false]);
    // Each set of passes has its own.
    for passes in [&[][..], &["--passes=-barriers"], &["--passes=-inlining"]] {
        assert_eq!(kept(passes), [false, false, true], "{passes:?}");
    }
}

#[test]
fn a_second_process_answers_from_the_cache() {
    let cache = tempfile::tempdir().unwrap();
    let out = cache.path().join("program");
    for (target, args) in PROGRAMS {
        let log = cache.path().join("queries.log");
        let target = programs().join(target);
        let target = target.to_str().unwrap();
        let commands: &[(&str, &str, Vec<&str>)] = &[
            ("check", "check", vec![target]),
            ("run", "image_to_run", [&[target][..], args].concat()),
            (
                "build",
                "image_to_build",
                vec![target, "-o", out.to_str().unwrap()],
            ),
            ("emit", "emit", vec!["gc", target]),
        ];
        for (command, query, args) in commands {
            let options = [
                "--cache-dir",
                cache.path().to_str().unwrap(),
                "--log-queries",
                log.to_str().unwrap(),
            ];
            let run = |verify: bool| {
                let mut taipan = Command::new(env!("CARGO_BIN_EXE_taipan"));
                taipan.current_dir(programs()).arg(command);
                if verify {
                    taipan.env("TAIPAN_CACHE_VERIFY", "1");
                }
                taipan.args(options).args(args).output().unwrap()
            };
            let _ = std::fs::remove_file(&out);
            let cold = run(false);
            let executable = std::fs::read(&out).ok();
            // Worked out all the same, and compared inside.
            assert_same(&cold, &run(true));
            let _ = std::fs::remove_file(&out);
            assert_same(&cold, &run(false));
            assert_eq!(restored(&log), [*query], "{command} {target}");
            assert!(executable == std::fs::read(&out).ok(), "{command} {target}");
        }
    }
}

const MAIN: &str = "
from lib import helper

def entry_point(argv):
    print helper(len(argv))
    return 0
";

#[test]
fn every_edit_is_noticed() {
    let p = Project::new(&[
        ("pyproject.toml", ""),
        ("main.py", MAIN),
        ("lib.py", "def helper(n):\n    return n + 1\n"),
    ]);
    let ran = |answer: &str, from_cache: bool| {
        let (out, restored) = p.compare("run", &["main.py"]);
        assert_eq!(String::from_utf8_lossy(&out.stdout), answer);
        assert_eq!(restored.contains(&"image_to_run".to_owned()), from_cache);
    };
    ran("2\n", false);
    ran("2\n", true);
    p.write("lib.py", "def helper(n):\n    return n + 2\n");
    ran("3\n", false);
    // The same length, within the resolution of any clock.
    p.write("lib.py", "def helper(n):\n    return n + 3\n");
    ran("4\n", false);
    p.write("lib.py", "def helper(n):\n    return n + 1\n");
    ran("2\n", true);
    // A package goes before a module: a file that was looked for and not found.
    p.write("lib/__init__.py", "def helper(n):\n    return 'package'\n");
    ran("package\n", false);
    std::fs::remove_dir_all(p.path("lib")).unwrap();
    ran("2\n", true);
    p.write("lib.py", "import more\ndef helper(n):\n    return more.N\n");
    p.write("more.py", "N = 7\n");
    ran("7\n", false);
    p.write("more.py", "N = 8\n");
    ran("8\n", false);
    std::fs::rename(p.path("lib.py"), p.path("lib2.py")).unwrap();
    let (out, _) = p.compare("run", &["main.py"]);
    assert_eq!(out.status.code(), Some(1));
    let (again, restored) = p.compare("run", &["main.py"]);
    assert_same(&out, &again);
    assert!(restored.contains(&"image_to_run".to_owned()));
    std::fs::rename(p.path("lib2.py"), p.path("lib.py")).unwrap();
    ran("8\n", true);
    std::fs::remove_dir_all(p.caches.path().join("taipan/projects")).unwrap();
    ran("8\n", false);
}

#[test]
fn diagnostics_are_restored_with_their_places() {
    let text = "
def f(n):
    if n > 3:
        return 'text'
    return n

def entry_point(argv):
    return f(len(argv)) + 1
";
    let p = Project::new(&[("main.py", text)]);
    for format in ["text", "json", "sarif"] {
        let (first, _) = p.compare("check", &["--format", format, "main.py"]);
        let (second, restored) = p.compare("check", &["--format", format, "main.py"]);
        assert_eq!(first.status.code(), Some(1));
        assert_same(&first, &second);
        assert_eq!(restored, ["check"]);
    }
    // The same program elsewhere in the file: what is found moves along.
    p.write("main.py", &format!("\n\n{text}"));
    p.compare("check", &["main.py"]);
}

#[test]
fn options_belong_to_the_question() {
    let p = Project::new(&[
        ("main.py", MAIN),
        ("a/lib.py", "def helper(n):\n    return 1\n"),
        ("b/lib.py", "def helper(n):\n    return 2\n"),
    ]);
    for _ in 0..2 {
        for (path, answer) in [("a", "1\n"), ("b", "2\n")] {
            let (out, _) = p.compare("run", &["--path", path, "main.py"]);
            assert_eq!(String::from_utf8_lossy(&out.stdout), answer);
        }
    }
}

/// Entries that another user has made say nothing, wherever they lie.
#[test]
fn planted_entries_are_not_read() {
    let p = Project::new(&[
        ("pyproject.toml", ""),
        ("main.py", MAIN),
        ("lib.py", "def helper(n):\n    return n + 1\n"),
    ]);
    let theirs = tempfile::tempdir().unwrap();
    let log = p.path("queries.log");
    let run = |caches: &Path, key: Option<&str>, options: &[&str]| {
        let mut command = p.command(caches);
        command
            .arg("run")
            .arg("--log-queries")
            .arg(&log)
            .args(options);
        command.envs(key.map(|key| ("TAIPAN_CACHE_KEY", key)));
        let out = command.arg("main.py").output().unwrap();
        assert_eq!(String::from_utf8_lossy(&out.stdout), "2\n");
        assert_eq!(String::from_utf8_lossy(&out.stderr), "");
        restored(&log).contains(&"image_to_run".to_owned())
    };
    let here = ["--cache-dir", ".taipan-cache"];
    assert!(!run(theirs.path(), None, &here));
    assert!(
        run(theirs.path(), None, &here),
        "they are found by who made them"
    );
    let mine = p.caches.path();
    assert!(!run(mine, None, &[]));
    std::fs::remove_dir_all(mine.join("taipan/projects")).unwrap();
    p.write(
        "pyproject.toml",
        "[tool.taipan]\ncache-dir = '.taipan-cache'\n",
    );
    assert!(!run(mine, None, &[]), "nor where the project says so");
    assert!(run(mine, None, &[]), "one's own are found beside them");

    // Who has the key may share a folder.
    let shared = ["--cache-dir", "shared"];
    assert!(!run(theirs.path(), Some("the key of our servers"), &shared));
    assert!(run(mine, Some("the key of our servers"), &shared));
    assert!(!run(mine, Some("another key"), &shared));
    assert!(!run(mine, None, &shared));
}

#[test]
fn the_cache_of_a_project_is_in_the_users_folder() {
    let p = Project::new(&[
        ("pyproject.toml", ""),
        ("sub/main.py", MAIN),
        ("sub/lib.py", "def helper(n):\n    return n\n"),
    ]);
    p.compare("check", &["sub/main.py"]);
    assert!(!p.path(".taipan-cache").exists());
    let projects = p.caches.path().join("taipan/projects");
    let folders = std::fs::read_dir(projects)
        .unwrap()
        .map(|e| e.unwrap().path());
    let folders: Vec<PathBuf> = folders.filter(|f| f.is_dir()).collect();
    let [folder] = &folders[..] else {
        panic!("{folders:?}");
    };
    let name = std::fs::read_to_string(folder.join("project")).unwrap();
    assert_eq!(Path::new(name.trim_end()), p.dir.path());
    // Other places below the root have the same one.
    let (_, restored) = p.compare("check", &[p.path("sub/main.py").to_str().unwrap()]);
    assert_eq!(restored, ["check"]);
}

#[test]
fn commands_work_where_nothing_can_be_written() {
    let p = Project::new(&[
        ("main.py", MAIN),
        ("lib.py", "def helper(n):\n    return n\n"),
        ("file", ""),
    ]);
    for dir in ["file", "/proc/nothing", "/dev/null/x"] {
        let out = p.taipan("run", &["--cache-dir", dir], &["main.py"]);
        assert_eq!(String::from_utf8_lossy(&out.stdout), "1\n");
        assert_eq!(String::from_utf8_lossy(&out.stderr), "");
    }
    // Users without a folder for caches.
    let nowhere: [(&str, Option<&str>); 4] = [
        ("XDG_CACHE_HOME", Some("/proc/nothing")),
        ("XDG_CACHE_HOME", Some("/dev/null")),
        ("HOME", None),
        ("HOME", Some("relative")),
    ];
    for (name, value) in nowhere {
        let mut command = p.command(p.caches.path());
        command.env_remove("XDG_CACHE_HOME").env_remove(name);
        command.envs(value.map(|v| (name, v)));
        let out = command.args(["run", "main.py"]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&out.stdout), "1\n");
        assert_eq!(String::from_utf8_lossy(&out.stderr), "");
    }
    assert!(!p.path("relative").exists());
}
