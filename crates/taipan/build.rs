//! The executable lies at fixed addresses, so that memory that refers to its functions and
//! constants can be mapped by a later process (see `taipan_heap`).

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-link-arg-bin=taipan=-no-pie");
    }
}
