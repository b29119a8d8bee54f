//! Pages with a program as WebAssembly in them: `build --target web`.

use std::{fs, io};

use camino::{Utf8Path, Utf8PathBuf};

use crate::LoadOptions;
use crate::c::{COptions, build_c};
use crate::db::Database;
use crate::fault::Failure;
use crate::timing::Timings;

/// What is in the folder besides the program.
const FILES: [(&str, &str); 4] = [
    ("index.html", include_str!("web/index.html")),
    ("page.js", include_str!("web/page.js")),
    ("wasi.js", include_str!("web/wasi.js")),
    ("worker.js", include_str!("web/worker.js")),
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

/// Makes the folder of a page, without the program. Returns which file the page takes for it.
pub fn web_folder(target: &Utf8Path, folder: &Utf8Path) -> Result<Utf8PathBuf, Failure> {
    let title = target.file_stem().unwrap_or("program");
    write_files(title, folder).map_err(|e| Failure::Usage(format!("{folder}: {e}")))?;
    Ok(folder.join(PROGRAM))
}

fn write_files(title: &str, folder: &Utf8Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (name, text) in FILES {
        fs::write(folder.join(name), text.replace("@TITLE@", &escaped(title)))?;
    }
    Ok(())
}

/// Text as HTML has it.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
