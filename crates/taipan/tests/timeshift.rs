//! Whole programs as residual code: what they print must be the same.

use std::path::Path;
use std::process::{Command, Output};

fn taipan(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_taipan"))
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/programs"))
        .args(args)
        .output()
        .expect("taipan runs")
}

#[test]
fn programs_run_as_residual_code() {
    for (target, n) in [
        ("nbody.py", "2"),
        ("fannkuch.py", "4"),
        ("richards.py", "1"),
    ] {
        let argv = format!("['x', '{n}']");
        let entry = format!("{target}:entry_point");
        let residual = taipan(&["timeshift", "--no-cache", "--json", &entry, &argv]);
        let stderr = String::from_utf8_lossy(&residual.stderr);
        assert_eq!(residual.status.code(), Some(0), "{target}: {stderr}");
        let printed = String::from_utf8_lossy(&residual.stdout);
        let (printed, last) = printed.trim_end().rsplit_once('\n').expect("two lines");
        assert!(last.contains("\"ok\":0"), "{target}: {last}");
        let run = taipan(&["run", "--no-cache", target, n]);
        let expected = String::from_utf8_lossy(&run.stdout);
        assert_eq!(printed, expected.trim_end(), "{target}");
    }
}
