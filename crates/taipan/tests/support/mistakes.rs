//! Programs with mistakes, and the messages about them.

use std::process::{Command, Output};

use expect_test::Expect;

/// Writes files, each after a line `#- name`, and checks `main.py`.
fn check(files: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    for part in files.split("#- ").skip(1) {
        let (name, text) = part.split_once('\n').unwrap();
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
    command.current_dir(folder.path());
    let args = ["check", "--no-cache", "--format", "json", "main.py"];
    command.args(args).output().unwrap()
}

/// Compares the messages about a program with the expected ones: one line each, in order of appearance.
#[track_caller]
pub(crate) fn told(files: &str, expected: Expect) {
    expected.assert_eq(&lines(files, false));
}

/// The same, with the notes of each.
#[track_caller]
#[allow(
    dead_code,
    reason = "not every test file that includes this one needs it"
)]
pub(crate) fn told_with_notes(files: &str, expected: Expect) {
    expected.assert_eq(&lines(files, true));
}

fn lines(files: &str, notes: bool) -> String {
    let out = check(files);
    let found: Vec<serde_json::Value> = serde_json::from_slice(&out.stdout).unwrap();
    let mut text = String::new();
    for d in found {
        let file = d["file"].as_str().unwrap().rsplit('/').next().unwrap();
        let code = d["code"].as_str().unwrap();
        let message = d["message"].as_str().unwrap();
        text += &format!("{file}:{} {code} {message}\n", d["line"]);
        for note in d["notes"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|_| notes)
        {
            text += &format!(
                "    {}: {}\n",
                note["line"],
                note["message"].as_str().unwrap()
            );
        }
        if let Some(help) = d["help"].as_str() {
            text += &format!("    {help}\n");
        }
    }
    text
}
