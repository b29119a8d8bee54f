//! What a process leaves of its memory, and the next one goes on with: answers are those of a
//! process that begins from nothing, and what did not change is not worked out again.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// A program of some files, and the cache folder of a user.
struct Project {
    dir: tempfile::TempDir,
    caches: tempfile::TempDir,
}

const TARGET: &str = "\
import shapes, table
print 'loading'

def main(argv):
    total = 0
    for s in shapes.ALL:
        total += s.area() + table.lookup(total)
    print total
    return 0

def target(driver, args):
    return main, None
";

const SHAPES: &str = "\
class Shape(object):
    def area(self):
        raise NotImplementedError

class Square(Shape):
    def __init__(self, side):
        self.side = side
    def area(self):
        return self.side * self.side

ALL = [Square(i) for i in range(5)]
";

const TABLE: &str = "\
import os
KEYS = dict([(str(i), i) for i in range(100)])
HOME = os.environ.get('SHAPES_HOME', 'nowhere')

def lookup(n):
    return KEYS.get(str(n % 100), 0) + len(HOME)
";

impl Project {
    fn new() -> Project {
        let p = Project {
            dir: tempfile::tempdir().unwrap(),
            caches: tempfile::tempdir().unwrap(),
        };
        p.write("target.py", TARGET);
        p.write("shapes.py", SHAPES);
        p.write("table.py", TABLE);
        p
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.dir.path().join(name), text).unwrap();
    }

    /// A command that saves its memory however short it takes.
    fn taipan(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
        command.current_dir(self.dir.path());
        command.env("XDG_CACHE_HOME", self.caches.path());
        command.env("TAIPAN_SAVE_AFTER", "0");
        command
    }

    fn command(&self) -> Command {
        let mut command = self.taipan();
        command.args(["check", "target.py"]);
        command
    }

    /// Edits the program and compares, which must parse that file alone or, with `all`, everything.
    fn edited(&self, nth: usize, why: &str, all: bool) {
        let edit = SHAPES.replace("range(5)", &format!("range({})", nth + 5));
        self.write("shapes.py", &edit);
        let (told, files) = self.compare(&[]);
        assert!(told.contains("no errors"), "{why}: {told}");
        assert_eq!(files.len(), if all { 3 } else { 1 }, "{why}");
    }

    /// The files of memory that are there.
    fn memories(&self) -> Vec<PathBuf> {
        self.files("memory")
    }

    fn files(&self, extension: &str) -> Vec<PathBuf> {
        let mut all = Vec::new();
        below(&self.caches.path().join("taipan/projects"), &mut all);
        all.retain(|f| f.extension().is_some_and(|e| e == extension));
        all
    }

    /// Waits until nobody writes memory, of which there must be some.
    fn wait(&self) -> PathBuf {
        let since = Instant::now();
        while self.memories().len() != 1 || !self.files("tmp").is_empty() {
            assert!(
                since.elapsed() < Duration::from_secs(60),
                "nothing was saved"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        self.memories().remove(0)
    }

    /// Checks with the cache and without, which must not differ; the files that were parsed with
    /// it.
    fn compare(&self, environment: &[(&str, &str)]) -> (String, BTreeSet<String>) {
        let log = self.dir.path().join("queries.log");
        let mut with = self.command();
        with.envs(environment.iter().copied());
        with.arg("--log-queries").arg(&log);
        let with = with.output().unwrap();
        let mut without = self.command();
        without.envs(environment.iter().copied());
        let without = without.arg("--no-cache").output().unwrap();
        assert_eq!(text(&with), text(&without));
        (text(&with), parsed(&log))
    }
}

/// Adds all files below a folder.
fn below(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => below(&path, all),
            false => all.push(path),
        }
    }
}

fn text(o: &Output) -> String {
    let seconds = regex::Regex::new(r" in \d+\.\d\d s").unwrap();
    let error = String::from_utf8_lossy(&o.stderr);
    let error = seconds.replace(&error, " in T s");
    format!(
        "{:?}\n{}{error}",
        o.status.code(),
        String::from_utf8_lossy(&o.stdout)
    )
}

/// Names of the program's own files that were compiled again.
fn parsed(log: &Path) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    for line in fs::read_to_string(log).unwrap().lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        if line["query"] == "module_codes" && line["event"] == "executed" {
            let key = line["key"].as_str().unwrap();
            if !key.contains("<taipan>") {
                let name = key.rsplit('/').next().unwrap();
                files.insert(name.to_owned());
            }
        }
    }
    files
}

fn set<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.map(str::to_owned).into()
}

#[test]
fn edits_are_all_that_is_worked_out() {
    let p = Project::new();
    let (told, files) = p.compare(&[]);
    assert!(told.contains("loading"), "{told}");
    assert_eq!(files, set(["shapes.py", "table.py", "target.py"]));
    p.wait();

    p.write(
        "shapes.py",
        &SHAPES.replace("* self.side", "* self.side * 2"),
    );
    let (told, files) = p.compare(&[]);
    assert!(told.contains("loading"), "{told}");
    assert_eq!(files, set(["shapes.py"]));
    p.wait();

    // From what the second process has left.
    p.write("table.py", &TABLE.replace("+ len(HOME)", "+ len(HOME.x)"));
    let (told, files) = p.compare(&[]);
    assert!(told.contains("table.py:6"), "{told}");
    assert_eq!(files, set(["table.py"]));
    p.wait();

    // A new file, which was looked for in vain before.
    p.write(
        "table.py",
        &TABLE.replace("import os", "import os, more  # noqa: TP0020"),
    );
    let (told, files) = p.compare(&[]);
    assert!(told.contains("more"), "{told}");
    assert_eq!(files, set(["table.py"]));
    p.wait();
    p.write("more.py", "X = 1\n");
    let (told, files) = p.compare(&[]);
    assert!(told.contains("no errors"), "{told}");
    assert_eq!(files, set(["more.py"]));
    p.wait();

    // As it was once: known as a whole, or worked out.
    p.write("table.py", TABLE);
    p.compare(&[]);
}

#[test]
fn memory_goes_on_for_so_many_processes() {
    let p = Project::new();
    p.compare(&[]);
    for i in 0..12 {
        p.wait();
        p.write(
            "shapes.py",
            &SHAPES.replace("range(5)", &format!("range({})", i + 6)),
        );
        let (_, files) = p.compare(&[]);
        // The last generation there can be is followed by a process that begins anew.
        let all = set(["shapes.py", "table.py", "target.py"]);
        assert!(
            files == set(["shapes.py"]) || (i == 7 && files == all),
            "{i}: {files:?}"
        );
    }
}

#[test]
fn the_environment_is_the_one_there_is() {
    let p = Project::new();
    p.write(
        "table.py",
        &TABLE.replace("+ len(HOME)", "+ len(HOME)\nprint HOME\n"),
    );
    let (told, _) = p.compare(&[("SHAPES_HOME", "here")]);
    assert!(told.contains("here\n"), "{told}");
    p.wait();
    let (told, files) = p.compare(&[("SHAPES_HOME", "there")]);
    assert!(told.contains("there\n"), "{told}");
    assert_eq!(files, set([]));
}

#[test]
fn damage_makes_it_slower_only() {
    let p = Project::new();
    p.compare(&[]);
    let memory = p.wait();
    let sound = p.dir.path().join("sound");
    fs::rename(&memory, &sound).unwrap();
    let len = fs::metadata(&sound).unwrap().len();
    let mut nth = 0;
    let mut edited = |why: &str, all: bool| {
        nth += 1;
        p.edited(nth, why, all);
        p.wait();
    };
    fs::copy(&sound, &memory).unwrap();
    edited("sound", false);
    for at in [3, 40, 66_000, len / 3, len / 2, len - 1] {
        fs::copy(&sound, &memory).unwrap();
        let file = fs::File::options()
            .read(true)
            .write(true)
            .open(&memory)
            .unwrap();
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[!byte[0]], at).unwrap();
        edited(&format!("byte {at}"), true);
    }
    for part in [0, 70, 70_000, len - 1] {
        fs::copy(&sound, &memory).unwrap();
        let file = fs::File::options().write(true).open(&memory).unwrap();
        file.set_len(part).unwrap();
        edited(&format!("{part} bytes"), true);
    }
    fs::remove_file(&memory).unwrap();
    fs::create_dir(&memory).unwrap();
    p.write("shapes.py", SHAPES);
    p.compare(&[]);
}

#[test]
fn other_folders_and_options_have_memory_of_their_own() {
    let p = Project::new();
    p.compare(&[]);
    p.wait();
    fs::create_dir(p.dir.path().join("inner")).unwrap();
    p.write(
        "shapes.py",
        &SHAPES.replace("return self.side", "return self.edge"),
    );
    let inner = |cache: &str| {
        let mut command = p.taipan();
        command.env_remove("TAIPAN_SAVE_AFTER");
        command.current_dir(p.dir.path().join("inner"));
        text(
            &command
                .args(["check", "../target.py", cache])
                .output()
                .unwrap(),
        )
    };
    let told = inner("--quiet");
    assert!(told.contains("../shapes.py:9"), "{told}");
    assert_eq!(
        told,
        text(&{
            let mut command = p.taipan();
            command.current_dir(p.dir.path().join("inner"));
            command
                .args(["check", "../target.py", "--quiet", "--no-cache"])
                .output()
                .unwrap()
        })
    );
    let limited = p.command().args(["--step-limit", "10"]).output().unwrap();
    assert!(text(&limited).contains("step"), "{}", text(&limited));
}

#[test]
fn builds_go_on_as_well() {
    let p = Project::new();
    let build = |options: &[&str], output: &str| {
        let mut command = p.taipan();
        command
            .args(["build", "target.py", "-o", output])
            .args(options);
        let told = command.output().unwrap();
        assert!(told.status.success(), "{}", text(&told));
        fs::read(p.dir.path().join(output)).unwrap()
    };
    build(&[], "first");
    p.wait();
    for (i, options) in [&[][..], &["--lldebug"], &["--jit"]].iter().enumerate() {
        p.write(
            "shapes.py",
            &SHAPES.replace("range(5)", &format!("range({})", i + 6)),
        );
        let log = ["--log-queries", "queries.log"];
        let made = build(&[&log, *options].concat(), "second");
        // Other code is another matter.
        let files = parsed(&p.dir.path().join("queries.log"));
        assert_eq!(files.len() == 1, options.is_empty(), "{files:?}");
        assert!(made == build(&[&["--no-cache"], *options].concat(), "third"));
    }
    let program = p.dir.path().join("second");
    let ran = Command::new(program).output().unwrap();
    assert_eq!(text(&ran), "Some(0)\n470\n");
}

#[test]
fn what_was_printed_is_printed_once() {
    let p = Project::new();
    p.write("other.py", &TARGET.replace("loading", "another"));
    let check = |options: &[&str]| {
        let mut command = p.command();
        command.arg("other.py").args(options);
        text(&command.output().unwrap())
    };
    assert_eq!(check(&[]), check(&["--no-cache"]));
    p.wait();
    for i in 6..9 {
        p.write(
            "other.py",
            &TARGET.replace("loading", &format!("number {i}")),
        );
        assert_eq!(check(&[]), check(&["--no-cache"]));
        p.wait();
    }
}

/// What only looks like the memory that this user's command has left is not taken.
#[test]
fn forged_memory_is_not_taken() {
    let p = Project::new();
    p.compare(&[]);
    let memory = p.wait();
    assert_eq!(memory.metadata().unwrap().mode() & 0o777, 0o600);
    let sound = p.caches.path().join("sound");
    fs::rename(&memory, &sound).unwrap();
    // Another command of the same user, whose memory is authentic, but stands for something else.
    assert!(
        (p.command().arg("--step-limit=9000000").output().unwrap())
            .status
            .success()
    );
    let other = p.wait();
    assert_ne!(other, memory);
    fs::rename(&other, &memory).unwrap();
    p.edited(1, "memory of another command", true);

    let put = |mode: u32| {
        p.wait();
        fs::remove_file(&memory).unwrap();
        fs::copy(&sound, &memory).unwrap();
        fs::set_permissions(&memory, fs::Permissions::from_mode(mode)).unwrap();
    };
    put(0o600);
    p.edited(2, "sound memory", false);
    for (i, mode) in [0o620, 0o602].into_iter().enumerate() {
        put(mode);
        p.edited(3 + i, "a file that others can write to", true);
    }
    put(0o600);
    fs::remove_file(&memory).unwrap();
    symlink(&sound, &memory).unwrap();
    p.edited(5, "a link", true);

    put(0o600);
    let folder = memory.parent().unwrap();
    let set = |mode| fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
    set(0o777);
    p.edited(6, "a folder that others can write to", true);
    assert_eq!(p.memories(), std::slice::from_ref(&memory));
    assert!(
        fs::read(&memory).unwrap() == fs::read(&sound).unwrap(),
        "nothing is saved there"
    );
    set(0o700);

    // Written by a user whose secret is another one.
    fs::write(p.caches.path().join("taipan/secret"), [7; 32]).unwrap();
    p.edited(7, "memory of another user", true);
    p.wait();
}

/// Variables that a program does not ask for are in no file of the cache, nor is the user's secret.
#[test]
fn the_environment_is_not_saved() {
    const TOKEN: &str = "q8Zw3vXk1RtY6uHpLs0d";
    let p = Project::new();
    let asks = "import os\nprint len(os.environ.get('SHAPES_TOKEN', ''))\n";
    let iterates = "import os\nprint 'SHAPES_TOKEN' in list(os.environ)\n";
    for (what, text, saved, found) in [
        ("no os", "pass\n", true, false),
        (
            "os",
            "import os\nX = os.environ.get('OTHER')\n",
            true,
            false,
        ),
        // So that something can be found.
        ("the variable", asks, true, true),
        ("all names", iterates, false, false),
    ] {
        p.write("table.py", &format!("{text}def lookup(n):\n    return n\n"));
        for file in p.memories() {
            fs::remove_file(file).unwrap();
        }
        let (told, _) = p.compare(&[("SHAPES_TOKEN", TOKEN)]);
        assert!(told.contains("no errors"), "{what}: {told}");
        assert_eq!(told.contains("True"), what == "all names", "{told}");
        // The file that is being written is there before the command ends.
        let begun = p.files("memory").len() + p.files("tmp").len();
        assert_eq!(begun, usize::from(saved), "{what}");
        if saved {
            p.wait();
        }
        let secret = fs::read(p.caches.path().join("taipan/secret")).unwrap();
        let mut files = Vec::new();
        below(&p.caches.path().join("taipan/projects"), &mut files);
        assert!(files.len() > 2);
        let mut has_token = false;
        for file in files {
            let bytes = fs::read(&file).unwrap();
            let has = |part: &[u8]| {
                let part: String = part.iter().map(|b| format!("\\x{b:02x}")).collect();
                let pattern = regex::bytes::Regex::new(&format!("(?-u){part}"));
                pattern.unwrap().is_match(&bytes)
            };
            has_token |= has(TOKEN.as_bytes());
            assert!(!has(&secret), "{what}: {file:?}");
        }
        assert_eq!(has_token, found, "{what}");
    }
}

#[test]
fn it_is_cleaned_away() {
    let p = Project::new();
    p.compare(&[]);
    p.wait();
    assert!((p.taipan().arg("clean").output().unwrap()).status.success());
    let projects = p.caches.path().join("taipan/projects");
    let left: Vec<_> = fs::read_dir(projects)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(left, ["tidied"]);
}

/// A process that continues with saved memory may drop values that share the standard library's empty slice. Here one
/// machine of `taipan init` replaces the other.
#[test]
fn another_program_in_the_same_place() {
    let p = Project::new();
    let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
    for template in ["stack", "register", "stack", "register"] {
        for file in ["main.py", "machine.py"] {
            let text = fs::read_to_string(templates.join(template).join(file)).unwrap();
            p.write(file, &text);
        }
        let o = p.taipan().args(["check", "main.py"]).output().unwrap();
        let stderr = String::from_utf8_lossy(&o.stderr);
        assert!(o.status.success(), "{template}: {:?} {stderr}", o.status);
    }
}
