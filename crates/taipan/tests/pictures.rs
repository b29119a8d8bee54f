//! Pictures of graphs in docs (`docs/pictures/*.svg`), which `taipan emit` makes of the programs in `pictures/`.
//!
//! `UPDATE_PICTURES=1` (`just pictures`) updates them.

use std::path::Path;
use std::process::Command;

/// Name of each picture, and the words of the command that prints it.
const PICTURES: [(&str, &str, &[&str]); 8] = [
    (
        "mean-flow",
        "SomeList[SomeFloat]",
        &["flow", "mean.py:mean"],
    ),
    (
        "mean-rtyped",
        "SomeList[SomeFloat]",
        &["rtyped", "mean.py:mean"],
    ),
    (
        "mean-optimized",
        "SomeList[SomeFloat]",
        &["optimized", "mean.py:mean"],
    ),
    ("moved-rtyped", "int, int", &["rtyped", "vector.py:moved"]),
    (
        "moved-optimized",
        "int, int",
        &["optimized", "vector.py:moved"],
    ),
    ("power-colors", "int, int", &["colors", "power.py:power"]),
    ("cells-generational", "int", &["gc", "cell.py:cells"]),
    ("cells-ref", "int", &["gc", "--gc=ref", "cell.py:cells"]),
];

#[test]
fn pictures_are_current() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = crate_folder.join("../../docs/pictures");
    let mut old = Vec::new();
    for (name, inputs, words) in PICTURES {
        let out = Command::new(env!("CARGO_BIN_EXE_taipan"))
            .arg("emit")
            .args(words)
            .args(["--format", "svg", "--no-cache", "--inputs", inputs])
            .current_dir(crate_folder.join("tests/pictures"))
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success(), "{name}: {errors}");
        let path = folder.join(format!("{name}.svg"));
        if std::fs::read(&path).unwrap_or_default() == out.stdout {
            continue;
        }
        if std::env::var_os("UPDATE_PICTURES").is_some() {
            std::fs::write(&path, &out.stdout).unwrap();
        } else {
            old.push(name);
        }
    }
    assert!(
        old.is_empty(),
        "UPDATE_PICTURES=1 updates these pictures: {old:?}"
    );
}

/// Docs show every picture, with the program that it is made of.
#[test]
fn pictures_are_shown() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = ["architecture", "optimisation", "jit", "collectors"];
    let pages = pages.map(|page| {
        let path = crate_folder.join(format!("../../docs/{page}.md"));
        std::fs::read_to_string(path).unwrap()
    });
    for (name, _, words) in PICTURES {
        let link = format!("](pictures/{name}.svg)");
        let page = pages.iter().find(|p| p.contains(&link));
        let page = page.unwrap_or_else(|| panic!("no page shows {name}.svg"));
        let file = words.last().and_then(|w| w.split(':').next()).unwrap();
        let program = std::fs::read_to_string(crate_folder.join("tests/pictures").join(file));
        assert!(
            page.contains(program.unwrap().trim_end()),
            "{file} is not on the page of {name}.svg"
        );
    }
}
