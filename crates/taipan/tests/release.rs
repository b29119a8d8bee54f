//! The files of a release, as far as they are made without tools that may be missing.

use std::path::Path;
use std::process::{Command, Output};

fn release(out: &Path, steps: &[&str]) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/release.py");
    Command::new("python3")
        .arg(script)
        .arg("--out")
        .arg(out)
        .args(["--binary", env!("CARGO_BIN_EXE_taipan")])
        .args(steps)
        .output()
        .unwrap()
}

/// Names and contents of the files of a folder.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| {
            let e = e.unwrap();
            let name = e.file_name().into_string().unwrap();
            (name, std::fs::read(e.path()).unwrap())
        })
        .collect();
    all.sort();
    all
}

#[test]
fn the_same_files_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("a"), folder.path().join("b"));
    for out in [&first, &second] {
        let o = release(out, &["source", "tar", "sbom"]);
        assert!(o.status.success(), "{o:?}");
    }
    let made = files(&first);
    assert!(made == files(&second), "the files differ");
    let version = env!("CARGO_PKG_VERSION");
    let machine = std::env::consts::ARCH;
    let names: Vec<&str> = made.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "SHA256SUMS".to_owned(),
        format!("taipan-{version}-{machine}-linux.tar.gz"),
        format!("taipan-{version}.cdx.json"),
        format!("taipan-{version}.tar.gz"),
    ];
    assert_eq!(names, expected);
    let checked = Command::new("sha256sum")
        .args(["-c", "--quiet", "SHA256SUMS"])
        .current_dir(&first)
        .status()
        .unwrap();
    assert!(checked.success());
    let listed = String::from_utf8_lossy(&made[2].1);
    assert!(listed.contains("pkg:cargo/salsa@"), "{listed}");
    let run = Command::new("tar")
        .args(["xzf", names[1]])
        .current_dir(&first)
        .status()
        .unwrap();
    assert!(run.success());
    let binary = first.join(format!("taipan-{version}-{machine}-linux/bin/taipan"));
    let o = Command::new(binary).arg("--version").output().unwrap();
    assert!(String::from_utf8_lossy(&o.stdout).starts_with(&format!("taipan {version}")));
}

#[test]
fn steps_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let o = release(folder.path(), &["uploading"]);
    assert_eq!(o.status.code(), Some(2));
    let text = String::from_utf8_lossy(&o.stderr);
    assert!(text.contains("no step uploading"), "{text}");
}
