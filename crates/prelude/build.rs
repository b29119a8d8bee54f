//! Makes the table of shipped files from the folders that hold them.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let src = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("set by cargo")).join("src");
    let mut files: Vec<PathBuf> = Vec::new();
    for root in ["lib_python", "rpython", "taipan_prelude"] {
        collect(&src.join(root), &mut files);
    }
    let mut files: Vec<(&str, &Path)> = files
        .iter()
        .map(|f| {
            let name = f.strip_prefix(&src).expect("below src");
            (name.to_str().expect("our own names are UTF-8"), f.as_path())
        })
        .collect();
    files.sort();
    let mut out = String::from(
        "/// Every shipped file: path below `<taipan>/` and text, sorted by path.\n\
         pub static SHIPPED: &[(&str, &str)] = &[\n",
    );
    for (path, file) in files {
        writeln!(out, "    ({path:?}, include_str!({:?})),", file.display()).expect("a string");
    }
    out.push_str("];\n");
    let dir = env::var("OUT_DIR").expect("set by cargo");
    fs::write(Path::new(&dir).join("shipped.rs"), out).expect("OUT_DIR is writable");
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    println!("cargo::rerun-if-changed={}", dir.display());
    for entry in fs::read_dir(dir).expect("part of the crate") {
        let path = entry.expect("part of the crate").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "py") {
            files.push(path);
        }
    }
}
