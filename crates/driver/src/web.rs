//! Pages with a program as WebAssembly in them: `build --target web`.

use std::{fs, io};

use camino::{Utf8Path, Utf8PathBuf};
use taipan_codegen_wasmgc::SUPPORT;

use crate::LoadOptions;
use crate::c::{COptions, build_c};
use crate::db::Database;
use crate::fault::Failure;
use crate::timing::Timings;
use crate::wasmgc::wasmgc_module;

/// What is in the folder besides the program.
const FILES: [(&str, &str); 4] = [
    ("index.html", include_str!("web/index.html")),
    ("page.js", include_str!("web/page.js")),
    ("wasi.js", include_str!("web/wasi.js")),
    ("worker.js", include_str!("web/worker.js")),
];

/// Further files for a program whose objects are the browser's.
const WITH_COLLECTOR: [(&str, &str); 2] = [
    ("host.js", SUPPORT),
    ("system.js", include_str!("web/system.js")),
];

/// The texts that differ in the script that runs the program: its scripts, and the class of runs.
const BY_C: [(&str, &str); 2] = [("@SCRIPTS@", "'wasi.js'"), ("@RUN@", "Run")];

/// The same for a program whose objects are the browser's.
const BY_COLLECTOR: [(&str, &str); 2] = [
    ("@SCRIPTS@", "'wasi.js', 'host.js', 'system.js'"),
    ("@RUN@", "GcRun"),
];

/// The program, as the page knows it.
const PROGRAM: &str = "program.wasm";

/// Makes a folder with a page that runs a program.
pub fn build_web(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    folder: &Utf8Path,
    c: &COptions,
    timings: &mut Timings,
) -> Result<(), Failure> {
    let program = web_folder(target, folder)?;
    build_c(db, options, target, &program, c, timings)
}

/// Makes a folder with a page that runs a program, whose objects are the browser's.
pub fn build_web_with_collector(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    folder: &Utf8Path,
    timings: &mut Timings,
) -> Result<(), Failure> {
    let built = wasmgc_module(db, options, target, PROGRAM.into(), timings)?;
    built.write(&web_folder_with_collector(target, folder)?)
}

/// Makes the folder of a page whose objects are the browser's, without the program. Returns which file the page takes
/// for it.
pub fn web_folder_with_collector(
    target: &Utf8Path,
    folder: &Utf8Path,
) -> Result<Utf8PathBuf, Failure> {
    let title = target.file_stem().unwrap_or("program");
    write_files(title, folder, &WITH_COLLECTOR, BY_COLLECTOR)
        .map_err(|e| Failure::Usage(format!("{folder}: {e}")))?;
    Ok(folder.join(PROGRAM))
}

/// Makes the folder of a page, without the program. Returns which file the page takes for it.
pub fn web_folder(target: &Utf8Path, folder: &Utf8Path) -> Result<Utf8PathBuf, Failure> {
    let title = target.file_stem().unwrap_or("program");
    write_files(title, folder, &[], BY_C).map_err(|e| Failure::Usage(format!("{folder}: {e}")))?;
    Ok(folder.join(PROGRAM))
}

fn write_files(
    title: &str,
    folder: &Utf8Path,
    more: &[(&str, &str)],
    words: [(&str, &str); 2],
) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (name, text) in FILES.iter().chain(more) {
        let mut text = text.replace("@TITLE@", &escaped(title));
        for (word, meaning) in words {
            text = text.replace(word, meaning);
        }
        fs::write(folder.join(name), text)?;
    }
    Ok(())
}

/// Text as HTML has it.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
