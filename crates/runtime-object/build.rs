//! Compiles the runtime once more, as one object file that the C linker puts into
//! built programs: freestanding, without unwinding, with what it needs of `core`
//! linked in. For machines that Taipan does not run on it has to be compiled later: its
//! sources become a part of Taipan.

use std::env;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

include!("src/options.rs");

fn main() {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let source = manifest.join("../runtime/src");
    println!("cargo::rerun-if-changed={}", source.display());
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/options.rs");
    let archive = out.join("libtaipan_runtime.a");
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let target = env::var_os("TARGET").expect("cargo says for which machine");
    let status = Command::new(rustc)
        .arg("--target")
        .arg(target)
        .arg(source.join("lib.rs"))
        .args(OPTIONS)
        .arg("-o")
        .arg(&archive)
        .status();
    assert!(
        status.is_ok_and(|s| s.success()),
        "rustc cannot compile the runtime for programs"
    );
    let archive = std::fs::read(archive).expect("rustc has written the archive");
    let object = largest_object(&archive).expect("an archive has the runtime's object");
    std::fs::write(out.join("runtime.o"), object).expect("the output folder is writable");

    let mut files = Vec::new();
    sources(&source, &source, &mut files);
    files.sort();
    let mut table = String::from("&[\n");
    for name in files {
        let path = source.join(&name);
        let (name, path) = (name.display().to_string(), path.display().to_string());
        let _ = writeln!(table, "({name:?}, include_str!({path:?})),");
    }
    table.push_str("]\n");
    std::fs::write(out.join("runtime_sources.rs"), table).expect("the output folder is writable");
}

/// Finds the files of a folder, by their names from the root on.
fn sources(root: &Path, folder: &Path, out: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("the runtime has sources");
    for entry in entries {
        let path = entry.expect("the runtime has sources").path();
        if path.is_dir() {
            sources(root, &path, out);
        } else if let Ok(name) = path.strip_prefix(root) {
            out.push(name.to_owned());
        }
    }
}
