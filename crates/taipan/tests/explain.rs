//! `taipan explain`, and that what it says holds: each erroneous example gives its code and
//! nothing else, each corrected one nothing at all.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use expect_test::{expect, expect_file};
use taipan_codes::{Example, all};

fn taipan(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
    command.current_dir(folder).args(args);
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The codes in brackets, in the order of a text.
fn codes(text: &str) -> Vec<String> {
    let parts = text.split("[TP").skip(1);
    parts
        .filter_map(|p| Some(format!("TP{}", p.split_once(']')?.0)))
        .collect()
}

/// Runs an example in a process of its own.
fn alone(example: &Example) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut main = example.source;
    if example.language == "toml" {
        let file = folder.path().join("pyproject.toml");
        std::fs::write(file, example.source).unwrap();
        main = "def entry_point(argv):\n    return 0\n";
    }
    std::fs::write(folder.path().join("main.py"), main).unwrap();
    let mut args: Vec<&str> = example.command.unwrap_or("check").split(' ').collect();
    if args[0] == "check" {
        args.push("main.py");
    }
    args.insert(1, "--no-cache");
    taipan(folder.path(), &args)
}

/// The codes that an example gives in a process of its own.
fn codes_alone(example: &Example) -> Vec<String> {
    let out = alone(example);
    let told = text(&out.stdout) + &text(&out.stderr);
    if example.language == "python" {
        assert_eq!(out.status.success(), !example.is_wrong, "{told}");
    }
    codes(&told)
}

/// What is printed for each code's example is a file of its own, so that a change of words
/// or places is seen in review. `UPDATE_EXPECT=1` writes them anew.
#[test]
fn examples_are_told_in_these_words() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wordings");
    let mut names = Vec::new();
    // How much that is, how long it took, and the example's folder are no part of the words.
    let closing =
        regex::Regex::new(r"(?m)^checked .* in \d+\.\d\d s: (no errors\n|\d+ warnings?\n)?")
            .unwrap();
    let place = regex::Regex::new(r"(?m)taipan trust /.*$").unwrap();
    for e in all() {
        for x in e.examples().filter(|x| x.is_wrong) {
            let out = alone(x);
            let name = format!("{}.txt", e.code);
            let told = text(&out.stderr);
            let told = place.replace(&told, "taipan trust FOLDER");
            expect_file![folder.join(&name)].assert_eq(&closing.replace(&told, ""));
            names.push(name);
        }
    }
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|f| f.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, names, "files without an example");
}

#[test]
fn examples_do_what_is_said_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut files: BTreeMap<String, &str> = BTreeMap::new();
    let mut wrong = String::new();
    for e in all() {
        for x in e.examples() {
            let expected = if x.is_wrong {
                vec![e.code.as_str()]
            } else {
                vec![]
            };
            if x.command.is_some() || x.language != "python" {
                let got = codes_alone(x);
                if got != expected {
                    wrong += &format!("{}: {got:?}\n", e.code);
                }
            } else {
                // All together, which is quicker.
                let kind = if x.is_wrong { "wrong" } else { "right" };
                let name = format!("{}_{kind}.py", e.code);
                std::fs::write(folder.path().join(&name), x.source).unwrap();
                files.insert(name, expected.first().copied().unwrap_or(""));
            }
        }
    }
    let mut args = vec!["check", "--no-cache", "--format", "json"];
    args.extend(files.keys().map(|n| &**n));
    let out = taipan(folder.path(), &args);
    let found: Vec<serde_json::Value> = serde_json::from_slice(&out.stdout).unwrap();
    let mut got: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for d in found {
        let file = d["file"].as_str().unwrap().rsplit('/').next().unwrap();
        let code = d["code"].as_str().unwrap().to_owned();
        got.entry(file.to_owned()).or_default().push(code);
    }
    assert!(files.len() > 50);
    for (name, expected) in files {
        let got = got.remove(&name).unwrap_or_default();
        if got.join(" ") != expected {
            wrong += &format!("{name}: {got:?}\n");
        }
    }
    assert!(wrong.is_empty() && got.is_empty(), "{wrong}{got:?}");
    assert_eq!(text(&out.stderr), "");
}

#[test]
fn a_code_is_explained() {
    let here = Path::new(".");
    let out = taipan(here, &["explain", "tp0221"]);
    assert_eq!(out.status.code(), Some(0));
    expect![[r#"
        TP0221: A global variable is changed

        Globals are constants in RPython: the compiler knows their values when import
        time ends. What changes while the program runs belongs into an attribute of a
        global object.

        Wrong:

            counter = 0

            def entry_point(argv):
                global counter
                counter += 1
                return counter

        Right:

            class State(object):
                counter = 0

            state = State()

            def entry_point(argv):
                state.counter += 1
                return state.counter
    "#]]
    .assert_eq(&text(&out.stdout));
    let list = text(&taipan(here, &["explain"]).stdout);
    assert_eq!(list.lines().count(), all().len());
    assert!(list.contains("TP0221  A global variable is changed\n"));
}

/// A number alone is that of a code.
#[test]
fn a_code_by_its_number() {
    let by_number = taipan(Path::new("."), &["explain", "300"]);
    let by_name = taipan(Path::new("."), &["explain", "TP0300"]);
    assert!(by_number.status.success());
    assert_eq!(by_number.stdout, by_name.stdout);
}

#[test]
fn an_unknown_code_is_wrong_usage() {
    for (code, said) in [
        (
            "TP301",
            "taipan: there is no code TP301; did you mean `TP0301`?\n",
        ),
        (
            "TP030",
            "taipan: there is no code TP030; 10 codes begin so, from TP0300 to TP0309\n",
        ),
        (
            "E0308",
            "taipan: there is no code E0308; `taipan explain` lists all codes\n",
        ),
    ] {
        let out = taipan(Path::new("."), &["explain", code]);
        assert_eq!(out.status.code(), Some(2));
        assert_eq!(text(&out.stderr), said);
        assert_eq!(text(&out.stdout), "");
    }
}
