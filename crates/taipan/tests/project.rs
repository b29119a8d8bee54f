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

/// A folder, or none, stands for the target of its project.
#[test]
fn the_target_of_the_project() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let program = "def entry_point(argv):\n    print argv[0], argv[1:]\n    return 0\n";
    let printing = "def entry_point(argv):\n    print ' '.join(argv)\n    return 0\n";
    write("one/main.py", printing);
    write("one/sub/other.txt", "");
    write(
        "two/pyproject.toml",
        "[tool.taipan]\ntargets = ['src/b.py']\n",
    );
    write("two/src/a.py", program);
    write("two/src/b.py", printing);
    write("three/a.py", printing);
    write("three/b.py", printing);
    write("none/readme.txt", "");
    let at = |name: &str| dir.path().join(name);
    // Everything behind the target is the program's.
    assert_eq!(
        works(&at("one"), &["run", "main.py", "--timings", "-q"]),
        "main.py --timings -q\n"
    );
    assert_eq!(
        works(&at("one"), &["run", "main.py", "--", "--", "x"]),
        "main.py -- x\n"
    );
    assert_eq!(works(&at("one"), &["run"]), "main.py\n");
    assert_eq!(works(dir.path(), &["run", "one", "x"]), "one/main.py x\n");
    assert_eq!(works(&at("two"), &["run", "."]), "src/b.py\n");
    // The project is found from below, as cargo finds it.
    let below = works(&at("two/src"), &["run"]);
    assert_eq!(below, "b.py\n");
    works(&at("two"), &["build"]);
    assert!(at("two/b-c").exists());
    works(dir.path(), &["check", "two"]);
    let wrong = |folder: &str, args: &[&str]| {
        let o = taipan(&at(folder), args);
        assert_eq!(o.status.code(), Some(2), "{args:?}");
        String::from_utf8(o.stderr).unwrap()
    };
    let several = wrong("three", &["run"]);
    assert_eq!(
        several,
        "taipan: .: there are several targets, name one of them: a.py, b.py\n"
    );
    let none = wrong("none", &["build"]);
    assert!(none.contains("name the target"), "{none}");
}

/// Variables of the configuration are there at import time and in the program, where the process has none.
#[test]
fn variables_of_the_project() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    write(
        "pyproject.toml",
        "[tool.taipan]\nenv = { MODE = 'AST', NONE = '' }\n",
    );
    write(
        "main.py",
        "import os\nMODE = os.environ.get('MODE', 'BC')\nHAS = 'MODE' in os.environ.keys() and 'NONE' in os.environ\n\n\
         def entry_point(argv):\n    print MODE, HAS, os.environ['MODE']\n    return 0\n",
    );
    write(
        "test_main.py",
        "from main import MODE\n\ndef test_mode():\n    assert MODE == 'AST'\n",
    );
    assert_eq!(works(dir.path(), &["run"]), "AST True AST\n");
    works(dir.path(), &["test"]);
    let o = Command::new(env!("CARGO_BIN_EXE_taipan"))
        .args(["run", "main.py"])
        .current_dir(dir.path())
        .env("MODE", "mine")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&o.stdout), "mine True mine\n");
}

/// `init` keeps a README and a `.gitignore`, and adds the other files.
#[test]
fn a_new_project_beside_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("README.md"), "mine\n").unwrap();
    std::fs::write(folder.path().join(".gitignore"), "target\n").unwrap();
    let o = taipan(folder.path(), &["init", "--bare"]);
    assert!(o.status.success(), "{o:?}");
    let said = String::from_utf8(o.stderr).unwrap();
    assert_eq!(
        said,
        "taipan: ./.gitignore is as it was\ntaipan: ./README.md is as it was\n"
    );
    let readme = std::fs::read_to_string(folder.path().join("README.md")).unwrap();
    assert_eq!(readme, "mine\n");
    assert_eq!(works(folder.path(), &["run", ".", "Ada"]), "Hello, Ada\n");
    works(folder.path(), &["test"]);
    // All else is not overwritten.
    let o = taipan(folder.path(), &["init", "--bare"]);
    assert_eq!(o.status.code(), Some(2));
}

/// Every template works as it says, and compiles nothing away that it should.
#[test]
fn templates() {
    let uses: [(&str, &[&str], &str); 4] = [
        ("bare", &["."], "Hello, world\n"),
        (
            "calculator",
            &[".", "r = 3", "2 * (r + 4)"],
            "3.000000\n14.000000\n",
        ),
        (
            "stack",
            &["--jit", ".", "examples/sum.asm"],
            "1291890006563070912\n",
        ),
        (
            "register",
            &["--jit", ".", "examples/sum.asm"],
            "1291890006563070912\n",
        ),
    ];
    for (template, args, expected) in uses {
        let folder = tempfile::tempdir().unwrap();
        works(folder.path(), &["init", "--template", template]);
        let o = taipan(folder.path(), &[&["run", "-q"], args].concat());
        let stderr = String::from_utf8(o.stderr).unwrap();
        assert_eq!(
            String::from_utf8(o.stdout).unwrap(),
            expected,
            "{template}: {stderr}"
        );
        // Warnings of the just-in-time compiler would appear on standard error.
        assert_eq!(stderr, "", "{template}");
        let checked = taipan(folder.path(), &["check"]);
        let checked = String::from_utf8(checked.stderr).unwrap();
        assert!(checked.contains("no errors"), "{template}: {checked}");
        works(folder.path(), &["test"]);
    }
}

#[test]
fn the_name_of_a_new_language() {
    let folder = tempfile::tempdir().unwrap();
    works(folder.path(), &["init", "--name", "quark"]);
    for file in files(folder.path()) {
        let text = std::fs::read_to_string(folder.path().join(&file)).unwrap();
        let there = text.to_lowercase().contains("minnow") || file.contains("minnow");
        assert!(!there, "{file} has the template's name");
    }
    works(folder.path(), &["test", "test_quark.py"]);
    for wrong in ["", "a b", "1st", "value", "../x"] {
        let o = taipan(folder.path(), &["init", "--name", wrong, "other"]);
        assert_eq!(o.status.code(), Some(2), "{wrong}");
        assert!(!folder.path().join("other").exists());
    }
}

/// The entry point is called with the words of the command line.
#[test]
fn an_entry_point_without_parameters() {
    let dir = tempfile::tempdir().unwrap();
    let main = dir.path().join("main.py");
    std::fs::write(
        &main,
        "import os\n\ndef main():\n    print 'hi'\n    return 0\n",
    )
    .unwrap();
    let o = taipan(dir.path(), &["run", "main.py"]);
    assert_eq!(o.status.code(), Some(1));
    let said = String::from_utf8(o.stderr).unwrap();
    assert!(
        said.contains("main() takes no arguments, but the entry point is called with one"),
        "{said}"
    );
    assert!(said.contains("main.py:3:5"), "{said}");
    assert!(said.contains("write `def main(argv):`"), "{said}");
    let two = "def main(argv, more=1):\n    print more\n    return 0\n";
    std::fs::write(&main, two).unwrap();
    let o = taipan(dir.path(), &["check", "main.py"]);
    let said = String::from_utf8(o.stderr).unwrap();
    assert!(said.contains("main() takes 2 arguments, but"), "{said}");
    let one = "def main(argv=None):\n    print 1\n    return 0\n";
    std::fs::write(&main, one).unwrap();
    assert_eq!(works(dir.path(), &["run", "main.py"]), "1\n");
}

/// A program that prints a variable of its import time, its arguments, and whether it has a just-in-time compiler.
const MODES: &str = "\
import os
MODE = os.environ.get('MODE', 'none')

def entry_point(argv):
    print MODE, os.environ['MODE'], argv[1:]
    return 0

def target(driver, args):
    print 'target', args, driver.config.translation.jit
    return entry_point, None
";

const TARGETS: &str = "\
[tool.taipan]
env = { MODE = 'project' }

[[tool.taipan.targets]]
name = 'ast'
file = 'src/main.py'
env = { MODE = 'ast' }
jit = true
target-options = ['--tree']
output = 'out/ast'

[[tool.taipan.targets]]
name = 'bc'
file = 'src/main.py'
gc = 'none'
";

/// Options of one target in the configuration, by its name or its file. The command line counts before them.
#[test]
fn options_of_targets() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    std::fs::create_dir_all(root.join("src")).unwrap();
    std::fs::create_dir_all(root.join("out")).unwrap();
    std::fs::write(root.join("pyproject.toml"), TARGETS).unwrap();
    std::fs::write(root.join("src/main.py"), MODES).unwrap();
    let run = |args: &[&str]| {
        let o = taipan(root, &[&["run", "-q"], args].concat());
        assert!(o.status.success(), "{args:?}: {o:?}");
        let stderr = String::from_utf8(o.stderr).unwrap();
        let told = stderr.lines().find(|l| l.starts_with("target")).unwrap();
        format!("{told}; {}", String::from_utf8(o.stdout).unwrap().trim())
    };
    assert_eq!(run(&["ast", "x"]), "target ['--tree'] True; ast ast [x]");
    assert_eq!(run(&["bc"]), "target [] False; project project []");
    // The first one with this file.
    assert_eq!(run(&["src/main.py"]), "target ['--tree'] True; ast ast []");
    assert_eq!(
        run(&["--jit=false", "--target-option=-x", "ast"]),
        "target ['-x'] False; ast ast []"
    );
    works(root, &["build", "-q", "bc"]);
    works(root, &["build", "-q", "--jit=false", "ast"]);
    assert!(root.join("bc-c").exists() && root.join("out/ast").exists());
    works(root, &["build", "-q", "--jit=false", "ast", "-o", "mine"]);
    assert!(root.join("mine").exists());
    let wrong = |args: &[&str]| {
        let o = taipan(root, args);
        assert_eq!(o.status.code(), Some(2), "{args:?}: {o:?}");
        String::from_utf8(o.stderr).unwrap()
    };
    assert_eq!(
        wrong(&["run"]),
        "taipan: .: there are several targets, name one of them: ast, bc\n"
    );
    assert_eq!(
        wrong(&["build", "tree"]),
        "taipan: there is no file and no target `tree`; the targets are: ast, bc\n"
    );
    // Each target is checked with its own options, and by its name.
    for (args, expected) in [
        (&["check"][..], "target ['--tree'] True\ntarget [] False\n"),
        (&["check", "bc"], "target [] False\n"),
        (&["check", "."], "target ['--tree'] True\ntarget [] False\n"),
    ] {
        let o = taipan(root, args);
        let stderr = String::from_utf8(o.stderr).unwrap();
        let told: Vec<&str> = (stderr.lines())
            .filter(|l| l.starts_with("target"))
            .collect();
        assert_eq!(format!("{}\n", told.join("\n")), expected, "{args:?}");
    }
}

/// `taipan test` in the folder of the project takes the tests that it names, as pytest does.
#[test]
fn tests_of_the_project() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let test = "def test_it():\n    assert 1 + 1 == 2\n";
    for file in ["tests/test_a.py", "more/test_b.py", "lib/test_c.py"] {
        write(file, test);
    }
    // Folders of a virtual environment have tests of other projects.
    write("tests/env/pyvenv.cfg", "");
    write("tests/env/lib/test_d.py", test);
    let count = |at: &str, args: &[&str]| {
        let said = works(&dir.path().join(at), &[&["test"], args].concat());
        let at = said.find("collected ").unwrap() + "collected ".len();
        said[at..]
            .split(' ')
            .next()
            .unwrap()
            .parse::<usize>()
            .unwrap()
    };
    assert_eq!(count(".", &[]), 3);
    write(
        "pyproject.toml",
        "[tool.pytest.ini_options]\ntestpaths = ['tests', 'more']\n",
    );
    assert_eq!(count(".", &[]), 2);
    assert_eq!(count(".", &["lib"]), 1);
    assert_eq!(count("lib", &[]), 1);
    write("pyproject.toml", "[tool.taipan]\ntestpaths = ['tests']\n");
    assert_eq!(count(".", &[]), 1);
}
