//! `--help` offers what works, and nothing else.

use std::process::{Command, Output};

const PROGRAM: &str = "\
def double(n):
    return n * 2

def entry_point(argv):
    print double(len(argv))
    return 0
";

const TEST: &str = "\
from main import double

def test_double():
    assert double(2) == 4
";

fn taipan(args: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("main.py"), PROGRAM).unwrap();
    std::fs::write(folder.path().join("test_main.py"), TEST).unwrap();
    Command::new(env!("CARGO_BIN_EXE_taipan"))
        .current_dir(folder.path())
        .args(args)
        .output()
        .unwrap()
}

fn help(command: &str) -> String {
    let o = taipan(&[command, "--help"]);
    assert!(o.status.success(), "{command}");
    String::from_utf8(o.stdout).unwrap()
}

/// The values that `--help` lists below the mention of an option or argument.
fn values(help: &str, of: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|l| !l.trim_start().starts_with(of));
    let values = (lines.skip(1))
        .skip_while(|l| l.trim() != "Possible values:")
        .skip(1);
    values
        .map_while(|l| l.trim().strip_prefix("- "))
        .map(|l| l.split(':').next().unwrap().to_owned())
        .collect()
}

#[test]
fn every_stage_that_is_offered_works() {
    let stages = values(&help("emit"), "<STAGE>");
    assert!(stages.len() >= 11, "{stages:?}");
    for stage in stages {
        let o = taipan(&["emit", &stage, "main.py:double"]);
        let stderr = String::from_utf8_lossy(&o.stderr);
        assert!(o.status.success(), "{stage}: {stderr}");
        assert!(!o.stdout.is_empty(), "{stage}");
    }
}

#[test]
fn every_engine_that_is_offered_works() {
    let calls: [(&str, &[&str]); 3] = [
        ("run", &["main.py"]),
        ("call", &["main.py:double", "3"]),
        ("test", &["test_main.py"]),
    ];
    for (command, rest) in calls {
        let engines = values(&help(command), "--engine");
        assert!(engines.len() >= 2, "{command}: {engines:?}");
        for engine in engines {
            let o = taipan(&[&[command, "--engine", &engine], rest].concat());
            let stderr = String::from_utf8_lossy(&o.stderr);
            assert!(o.status.success(), "{command} {engine}: {stderr}");
        }
    }
}

/// What scripts may give one day is refused with the reason, and is not offered.
#[test]
fn what_is_not_there_yet_is_not_offered() {
    let options: [&[&str]; 4] = [
        &["--backend", "c"],
        &["--backend", "llvm"],
        &["--gc", "ref"],
        &["--gc", "boehm"],
    ];
    for command in ["run", "build"] {
        let help = help(command);
        for option in options {
            let o = taipan(&[&[command], option, &["main.py"]].concat());
            let stderr = String::from_utf8_lossy(&o.stderr);
            assert_eq!(o.status.code(), Some(2), "{option:?}: {stderr}");
            assert!(!help.contains(option[0]), "{command} {option:?}:\n{help}");
        }
        assert!(help.contains("--jit"), "{command}:\n{help}");
        assert!(taipan(&[command, "--jit", "main.py"]).status.success());
        // All levels make the same code so far.
        assert!(!help.contains("-O"), "{help}");
        assert!(taipan(&[command, "-O0", "main.py"]).status.success());
    }
    for stage in ["c", "llvm", "python"] {
        let o = taipan(&["emit", stage, "main.py:double"]);
        assert_eq!(o.status.code(), Some(2), "{stage}");
    }
}
