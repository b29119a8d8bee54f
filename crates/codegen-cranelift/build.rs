//! Compiles the runtime once more, as one object file that the C linker puts into
//! built programs: freestanding, without unwinding, with what it needs of `core`
//! linked in.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let source = manifest.join("../runtime/src");
    println!("cargo::rerun-if-changed={}", source.display());
    println!("cargo::rerun-if-changed=build.rs");
    let archive = out.join("libtaipan_runtime.a");
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let status = Command::new(rustc)
        .arg(source.join("lib.rs"))
        .args([
            "--crate-name",
            "taipan_runtime",
            "--crate-type",
            "staticlib",
        ])
        .args([
            "--edition",
            "2024",
            "--cfg",
            "taipan_standalone",
            "--cap-lints",
            "allow",
        ])
        .args(["-C", "opt-level=3", "-C", "panic=abort", "-C", "lto=fat"])
        .args(["-C", "codegen-units=1", "-C", "relocation-model=pic"])
        .arg("-o")
        .arg(&archive)
        .status();
    assert!(
        status.is_ok_and(|s| s.success()),
        "rustc cannot compile the runtime for programs"
    );
    let object = first_object(&archive).expect("an archive has the runtime's object");
    std::fs::write(out.join("runtime.o"), object).expect("the output folder is writable");
}

/// The member of the archive that is the crate itself, after link-time optimisation.
/// The others are helpers of the compiler that the C library's own ones replace.
fn first_object(archive: &Path) -> Option<Vec<u8>> {
    let bytes = std::fs::read(archive).ok()?;
    let mut at = 8;
    loop {
        let header = bytes.get(at..at + 60)?;
        let size: usize = std::str::from_utf8(&header[48..58])
            .ok()?
            .trim()
            .parse()
            .ok()?;
        let content = bytes.get(at + 60..at + 60 + size)?;
        // The tables of symbols and of long names come first.
        if content.starts_with(b"\x7fELF") {
            return Some(content.to_vec());
        }
        at += 60 + size + size % 2;
    }
}
