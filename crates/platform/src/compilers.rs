//! Which C compiler makes code for a machine.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

use taipan_language::Machine;

use crate::c::compiler_options;
use crate::command::{on_path, said};

/// The C compiler that makes code for a machine. For the one that Taipan runs on that is `$CC`, or
/// `cc`; for another one `$CC` if it makes code for that, or GNU's. If there is none, what is to be
/// installed.
pub fn c_compiler(machine: Machine) -> Result<OsString, String> {
    let own = std::env::var_os("CC");
    if machine == Machine::HOST {
        return Ok(own.unwrap_or_else(|| "cc".into()));
    }
    match machine {
        Machine::Wasm32 => return clang_for_wasm(own),
        Machine::I386 => return compiler_for_i386(own),
        _ => {}
    }
    if let Some(cc) = own
        && makes_code_for(&cc, machine)
    {
        return Ok(cc);
    }
    let name = format!("{}-gcc", machine.gnu_triple());
    match on_path(&name) {
        Some(_) => Ok(name.into()),
        None => Err(format!(
            "there is no C compiler for {machine}: neither {name} nor a $CC that makes code for it \
             (Debian's package is {})",
            machine.c_compiler_package()
        )),
    }
}

/// The C compiler that makes code for 32-bit x86: `$CC`, `cc`, `gcc` or `clang` with the libraries for that, or GNU's
/// for that machine alone.
fn compiler_for_i386(own: Option<OsString>) -> Result<OsString, String> {
    let cross = format!("{}-gcc", Machine::I386.gnu_triple());
    let others = ["cc", "gcc", &cross, "clang"].map(OsString::from);
    let mut all = own.into_iter().chain(others);
    all.find(|cc| has_i386_libraries(cc)).ok_or_else(|| {
        format!(
            "there is no C compiler for {}: neither $CC, cc, gcc, {cross} nor clang makes programs with -m32 \
             (Debian's packages are {})",
            Machine::I386,
            Machine::I386.c_compiler_package()
        )
    })
}

/// Whether a C compiler finds what starts programs for 32-bit x86, and its own library for them.
fn has_i386_libraries(cc: &OsStr) -> bool {
    let is_there = |option: &str| {
        let path = said(Command::new(cc).args(["-m32", option]));
        path.is_some_and(|p| Path::new(p.trim()).is_absolute() && Path::new(p.trim()).is_file())
    };
    is_there("-print-file-name=crt1.o") && is_there("-print-libgcc-file-name")
}

/// The newest clang that is looked for by its number, and the oldest that will do.
const CLANGS: std::ops::RangeInclusive<u32> = 14..=30;

/// A clang with all that it takes to make WebAssembly: `$CC`, `$CLANG`, `clang`, or the newest `clang-N`.
fn clang_for_wasm(own: Option<OsString>) -> Result<OsString, String> {
    let named = [own, std::env::var_os("CLANG"), Some("clang".into())];
    let numbered = CLANGS.rev().map(|n| OsString::from(format!("clang-{n}")));
    let mut lacking = None;
    for cc in named.into_iter().flatten().chain(numbered) {
        match lacking_for_wasm(&cc) {
            None => continue,
            Some(missing) if missing.is_empty() => return Ok(cc),
            Some(missing) => lacking.get_or_insert((cc, missing)),
        };
    }
    let what = match &lacking {
        Some((cc, missing)) => format!("{} lacks {}", cc.display(), missing.join(", ")),
        None => "there is no clang".to_owned(),
    };
    Err(format!(
        "no WebAssembly can be made: {what} (Debian's packages are {})",
        Machine::Wasm32.c_compiler_package()
    ))
}

/// What a clang lacks to make WebAssembly; none if it is no clang.
fn lacking_for_wasm(cc: &OsStr) -> Option<Vec<&'static str>> {
    let says = |option: &str| {
        let text = said(
            Command::new(cc)
                .args(compiler_options(Machine::Wasm32))
                .arg(option),
        )?;
        Some(text.trim().to_owned())
    };
    if !says("-dumpmachine")?.starts_with("wasm32") {
        return None;
    }
    // What is not there is told by its name alone.
    let parts = [
        ("-print-prog-name=wasm-ld", "the linker wasm-ld"),
        ("-print-file-name=libc.a", "the C library wasi-libc"),
        ("-print-libgcc-file-name", "compiler-rt for wasm32"),
    ];
    let is_there = |option: &str| {
        says(option)
            .is_some_and(|path| Path::new(&path).is_absolute() && Path::new(&path).is_file())
    };
    let missing = parts.into_iter().filter(|(option, _)| !is_there(option));
    Some(missing.map(|(_, what)| what).collect())
}

fn makes_code_for(cc: &OsString, machine: Machine) -> bool {
    let name = said(Command::new(cc).arg("-dumpmachine"));
    name.is_some_and(|n| n.split('-').next() == Some(machine.name()))
}
