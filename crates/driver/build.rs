//! Where cargo puts what crate `jit-runtime` is linked to. It is there when this crate is compiled, not yet
//! when this script runs.

use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    // PROFILE/build/PACKAGE/out beside PROFILE/deps.
    let profile = out.ancestors().nth(3).unwrap_or(&out);
    let runtime = profile.join("deps/libtaipan_jit_runtime.so");
    println!("cargo::rustc-env=TAIPAN_JIT_RUNTIME={}", runtime.display());
}
