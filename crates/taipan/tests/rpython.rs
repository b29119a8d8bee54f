//! `taipan rpython` and the executable `rpython`: command lines of the original.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

use expect_test::expect;
use tempfile::TempDir;

const TARGET: &str = "\
import os

def entry_point(argv):
    os.write(1, 'hello %d\\n' % len(argv))
    return 0

def target(driver, args):
    translation = driver.config.translation
    print translation.thread, translation.gc, translation.jit, args
    return entry_point, None
";

const JIT: &str = "\
from rpython.rlib.jit import JitDriver
driver = JitDriver(greens=['pc'], reds=['n', 'step'])

def entry_point(argv):
    n = 0
    pc = 0
    step = len(argv)
    while n < 100:
        driver.jit_merge_point(pc=pc, n=n, step=step)
        n += step
    print n
    return 0

def target(driver, args):
    driver.config.translation.suggest(jit=True)
    return entry_point, None
";

/// A folder with files, and `rpython` as a link to the binary.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    symlink(env!("CARGO_BIN_EXE_taipan"), folder.path().join("rpython")).unwrap();
    folder
}

fn run(folder: &Path, program: &str, args: &[&str]) -> Output {
    Command::new(folder.join(program))
        .current_dir(folder)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .args(args)
        .output()
        .unwrap()
}

/// Standard error of `rpython`, which must succeed, without times.
fn said(folder: &Path, args: &[&str]) -> String {
    let o = run(folder, "rpython", args);
    let stderr = String::from_utf8(o.stderr).unwrap();
    assert!(o.status.success(), "{args:?}: {stderr}");
    assert!(o.stdout.is_empty(), "{args:?}");
    let time = regex::Regex::new(r" in \d+\.\d\d s").unwrap();
    time.replace_all(&stderr, "").into_owned()
}

/// Standard error of `rpython`, which must refuse.
fn refused(folder: &Path, args: &[&str]) -> String {
    let o = run(folder, "rpython", args);
    assert_eq!(o.status.code(), Some(2), "{args:?}");
    String::from_utf8(o.stderr).unwrap()
}

fn prints(folder: &Path, program: &str, args: &[&str]) -> String {
    let o = run(folder, program, args);
    assert!(o.status.success(), "{program}: {o:?}");
    String::from_utf8(o.stdout).unwrap()
}

/// The executable has the original's name, the target's own options follow it, and every option with another effect
/// here gets one line.
#[test]
fn a_translation() {
    let folder = folder(&[("targethello.py", TARGET)]);
    let folder = folder.path();
    let options =
        "--batch --gc=semispace --thread --gcrootfinder=shadowstack -O1 targethello --full --gc x";
    let options: Vec<&str> = options.split(' ').collect();
    expect![[r#"
        taipan: --gc=semispace: means the generational collector, which moves objects and is the only one here that does
        True incminimark False ['--full', '--gc', 'x']
        built targethello-c from 1 file, 1 function
    "#]]
    .assert_eq(&said(folder, &options));
    assert_eq!(prints(folder, "targethello-c", &["a"]), "hello 2\n");
    expect![[r#"
        taipan: --no-log: sections of output (PYPYLOG) are there in any case
        taipan: --huge=3: `taipan explore TARGET.py` shows graphs of any size
        False incminimark False []
        built named-c from 1 file, 1 function
    "#]]
    .assert_eq(&said(
        folder,
        &[
            "--no-log",
            "--huge",
            "3",
            "--make-jobs=2",
            "--cc=gcc",
            "--output",
            "named-%(backend)s",
            "--opt=2",
            "targethello.py",
        ],
    ));
    assert_eq!(prints(folder, "named-c", &[]), "hello 1\n");
}

/// The level by default is 2, by way of C, as that of the original is.
#[test]
fn the_level_is_2() {
    let folder = folder(&[(
        "target.py",
        "def main(argv): return 0\n\ndef target(driver, args):\n    print driver.config.translation.withsmallfuncsets\n    return main, None\n",
    )]);
    let o = run(folder.path(), "rpython", &["--verbose", "target.py"]);
    let stderr = String::from_utf8(o.stderr).unwrap();
    assert!(o.status.success(), "{stderr}");
    assert!(stderr.lines().any(|l| l.starts_with("cc ")), "{stderr}");
    assert!(stderr.starts_with("5\n"), "{stderr}");
}

#[test]
fn only_errors_or_only_c_files() {
    let folder = folder(&[("targethello.py", TARGET)]);
    let folder = folder.path();
    let checked = said(folder, &["-t", "targethello.py"]);
    assert!(checked.contains("checked"), "{checked}");
    let text = said(folder, &["--source", "-O0", "targethello.py"]);
    assert!(text.contains("wrote targethello-c-source from"), "{text}");
    assert!(!folder.join("targethello-c").exists());
    let source = folder.join("targethello-c-source");
    let made = Command::new("make").arg("-s").current_dir(&source).status();
    assert!(made.unwrap().success());
    assert_eq!(prints(&source, "targethello-c", &[]), "hello 1\n");
}

/// Options that would change the meaning are refused, with an alternative.
#[test]
fn refusals() {
    let folder = folder(&[("targethello.py", TARGET)]);
    let folder = folder.path();
    let lines = [
        "--shared -Ojit targethello.py",
        "--sandbox targethello.py",
        "--platform=arm targethello.py",
        "--jit-backend=arm targethello.py",
        "--llinterpret targethello.py",
        "--no-compile targethello.py",
        "--profopt targethello.py",
        "--make-jobs=0 targethello.py",
        "missing",
    ];
    let text: String = (lines.iter())
        .map(|line| refused(folder, &line.split(' ').collect::<Vec<_>>()))
        .collect();
    expect![[r#"
        taipan: --shared: a library has no just-in-time compiler: leave out -Ojit, or --shared
        taipan: --sandbox: sandboxed executables are not supported: leave it out, and run the executable in a sandbox of the system such as bubblewrap
        taipan: --platform=arm: `taipan build --target TRIPLE` makes programs for other machines
        taipan: --jit-backend=arm: the just-in-time compiler makes code for x86-64: leave it out
        taipan: --llinterpret: `taipan run --engine llinterp TARGET.py` interprets low-level graphs
        taipan: --no-compile: steps are not left out: name the last one (--annotate, --rtype, --source)
        taipan: --profopt: it takes a training run: give the program's arguments by --profoptargs
        error: invalid value '0' for '--threads <N>': it takes a number from 1 to 1024

        For more information, try '--help'.
        taipan: missing.py: no such file
    "#]].assert_eq(&text);
    let unknown = refused(folder, &["--frob", "targethello.py"]);
    assert!(unknown.contains("'--frob'"), "{unknown}");
}

/// Settings of the target's configuration count as options of the command line.
#[test]
fn settings_of_targets() {
    let folder = folder(&[
        ("targetjit.py", JIT),
        (
            "targetcheck.py",
            "def main(argv): return 0\n\ndef target(driver, args):\n    driver.default_goal = 'annotate'\n    return main, None\n",
        ),
        (
            "targetbox.py",
            "def main(argv): return 0\n\ndef target(driver, args):\n    driver.config.translation.sandbox = True\n    return main, None\n",
        ),
        (
            "targetnone.py",
            "def main(argv): return 0\n\ndef handle_config(config, translateconfig):\n    config.translation.backendopt.none = True\n    config.translation.shared = True\n\ndef target(driver, args):\n    print driver.config.translation.backendopt.inline\n    return main, None\n",
        ),
    ]);
    let folder = folder.path();
    said(folder, &["targetjit.py"]);
    let log = folder.join("jitlog");
    let o = Command::new(folder.join("targetjit-c"))
        .env("TAIPAN_JITLOG", &log)
        .output();
    assert_eq!(o.unwrap().stdout, b"100\n");
    assert!(log.exists(), "it has no just-in-time compiler");
    said(folder, &["-O1", "targetcheck.py"]);
    assert!(!folder.join("targetcheck-c").exists());
    said(folder, &["-O1", "targetnone.py"]);
    expect![[r#"
        taipan: targetbox.py sets config.translation.sandbox: --sandbox: sandboxed executables are not supported: leave it out, and run the executable in a sandbox of the system such as bubblewrap
    "#]].assert_eq(&refused(folder, &["targetbox.py"]));
}

/// Modules are found along PYTHONPATH, as CPython that runs the original finds them.
#[test]
fn the_path_of_python() {
    let folder = folder(&[
        (
            "src/targetpath.py",
            "from found import main\n\ndef target(driver, args):\n    return main, None\n",
        ),
        (
            "lib/found.py",
            "def main(argv):\n    print 'found'\n    return 0\n",
        ),
    ]);
    let o = Command::new(folder.path().join("rpython"))
        .current_dir(folder.path())
        .env("PYTHONPATH", ":lib:/none")
        .args(["-O1", "src/targetpath.py"])
        .output()
        .unwrap();
    assert!(o.status.success(), "{o:?}");
    assert_eq!(prints(folder.path(), "targetpath-c", &[]), "found\n");
}

/// The script of the packages is run by a shell and by Python.
#[test]
fn the_script_of_packages() {
    let folder = folder(&[("target.py", TARGET)]);
    let script =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/taipan.data/scripts/rpython");
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::fs::copy(script, bin.join("rpython")).unwrap();
    symlink(env!("CARGO_BIN_EXE_taipan"), bin.join("taipan")).unwrap();
    let script = bin.join("rpython");
    let script = script.to_str().unwrap();
    for words in [&["sh", script][..], &["python3", script], &[script]] {
        let o = Command::new(words[0])
            .args(&words[1..])
            .args(["-O1", "--output=by-script", "target.py", "a b"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&o.stderr);
        assert!(o.status.success(), "{words:?}: {stderr}");
        assert!(stderr.contains("['a b']"), "{words:?}: {stderr}");
        std::fs::remove_file(folder.path().join("by-script")).unwrap();
    }
}

/// The options of `translate.py` itself; those of `config.translation` are asked of that module.
const OF_TRANSLATE: &str = "\
-O --opt --profile --pdb --batch --huge --view -h --help --full-help -a --annotate --no-annotate -t --rtype --no-rtype \
--pyjitpl --no-pyjitpl --pyjittest --no-jittest --backendopt --no-backendopt -s --source --no-source -c --compile \
--no-compile --llinterpret --no-llinterpret";

/// The names of all options, as the original's parser has them.
const NAMES: &str = "\
from rpython.config.translationoption import get_combined_translation_config
from rpython.config.config import to_optparse
parser = to_optparse(get_combined_translation_config(), useoptions=['translation.*'])
for group in [parser] + parser.option_groups:
    for option in group.option_list:
        print ' '.join(option._short_opts + option._long_opts)

def entry_point(argv):
    return 0
";

#[test]
fn every_option_of_the_original_is_known() {
    let folder = folder(&[("names.py", NAMES)]);
    let o = run(folder.path(), "rpython", &["--annotate", "names.py"]);
    let printed = String::from_utf8(o.stderr).unwrap();
    let names = (printed.lines()).take_while(|l| l.starts_with('-'));
    let mut names: BTreeSet<&str> = names.flat_map(str::split_whitespace).collect();
    assert!(names.len() > 80, "{printed}");
    names.extend(OF_TRANSLATE.split_whitespace());
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/moving.md");
    let page = std::fs::read_to_string(page).unwrap();
    for name in &names {
        let is_negative = name.starts_with("--no-") && !OF_TRANSLATE.contains(name);
        let known = page.contains(&format!("`{name}"))
            || is_negative
            || name.ends_with("help")
            || *name == "-h";
        // Rows say `(and its `_threshold`)`.
        let of_group = name.contains("profile_based_inline_");
        assert!(known || of_group, "docs/moving.md does not have {name}");
    }
    let mut command = taipan_cli::command();
    let command = command.find_subcommand_mut("rpython").unwrap();
    command.build();
    for option in command.get_arguments() {
        if let Some(name) = option.get_long() {
            names.remove(format!("--{name}").as_str());
        }
        if let Some(name) = option.get_short() {
            names.remove(format!("-{name}").as_str());
        }
    }
    assert!(names.is_empty(), "unknown: {names:?}");
}
