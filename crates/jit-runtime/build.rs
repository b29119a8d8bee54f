//! The library is linked as an executable: the last of the C compiler's options that say what to make
//! counts. It lies at fixed addresses, so that programs are laid out for it when they are built.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for option in [
        "-no-pie",
        // Programs refer to the runtime's functions by name.
        "-rdynamic",
        "-Wl,--strip-all",
        // Programs call functions of these which the runtime itself does not call.
        "-Wl,--no-as-needed",
        "-lm",
        "-lpthread",
        "-ldl",
    ] {
        println!("cargo::rustc-link-arg-cdylib={option}");
    }
}
