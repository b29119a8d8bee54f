//! Fuzz targets: the tests, the rows of `tests/fuzz` that start them, and the table of `docs/trust.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::root;

/// How a target is started, as in a row of `tests/fuzz`.
struct Row {
    package: String,
    binary: String,
    test: String,
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn rows() -> BTreeMap<String, Row> {
    let script = read(&root().join("tests/fuzz"));
    let table = script.split("targets='").nth(1).unwrap();
    let lines = table.split('\'').next().unwrap().lines();
    let row = |line: &str| {
        let [name, package, binary, test] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            return None;
        };
        let (package, binary, test) = (package.to_owned(), binary.to_owned(), test.to_owned());
        let row = Row {
            package,
            binary,
            test,
        };
        Some((name.to_owned(), row))
    };
    lines.filter_map(row).collect()
}

/// Names in the first column of the table of targets.
fn documented() -> BTreeSet<String> {
    let text = read(&root().join("docs/trust.md"));
    let table = text.split("| target | each case |").nth(1).unwrap();
    let lines = table.lines().skip(2).take_while(|l| l.starts_with('|'));
    let names = lines.flat_map(|line| {
        let cell = line.split('|').nth(1).unwrap();
        cell.split('`').skip(1).step_by(2)
    });
    names.map(str::to_owned).collect()
}

/// The file with the test of a row.
fn file_of(row: &Row) -> Option<PathBuf> {
    let name = row.package.strip_prefix("taipan-");
    let folder = match name {
        Some("benches") => root().join("benches"),
        name => root().join("crates").join(name.unwrap_or("taipan")),
    };
    let modules: Vec<&str> = row.test.split("::").collect();
    let (_, modules) = modules.split_last()?;
    let inside = modules.join("/");
    let files = match row.binary.strip_prefix("--test=") {
        None => vec![
            folder.join("src").join(format!("{inside}.rs")),
            folder.join("src").join(inside).join("mod.rs"),
        ],
        Some(test) if modules.is_empty() => vec![
            folder.join("tests").join(format!("{test}.rs")),
            folder.join("tests").join(test).join("main.rs"),
        ],
        Some(test) => vec![folder.join("tests").join(test).join(format!("{inside}.rs"))],
    };
    files.into_iter().find(|f| f.exists())
}

/// The body of a test function, which begins with its attribute.
fn body<'a>(text: &'a str, function: &str) -> Option<&'a str> {
    let (before, rest) = text.split_once(&format!("fn {function}()"))?;
    let is_test = before.trim_end().ends_with("#[test]");
    is_test.then(|| rest.split("\n}").next().unwrap())
}

/// The targets that tests declare, by the name in `Target::new`.
fn declared() -> BTreeSet<String> {
    let mut text = String::new();
    // Those of `fuzz` itself are about targets, and are none.
    let crates = super::manifests().into_keys().filter(|name| name != "fuzz");
    for name in crates {
        super::rust_below(&root().join("crates").join(name), &mut text);
    }
    super::rust_below(&root().join("benches"), &mut text);
    let mut out = BTreeSet::new();
    // In two parts, so that this file declares none.
    for rest in text.split(concat!("Target", "::new(")).skip(1) {
        out.extend(name_of(rest));
    }
    out
}

/// The name that the argument at the beginning of a text is.
fn name_of(text: &str) -> Option<String> {
    let argument = text.split(')').next()?;
    Some(match argument.strip_prefix('"') {
        Some(name) => name.trim_end_matches('"').to_owned(),
        None => constant(argument),
    })
}

/// The value of a constant of the programs that are generated, by its path.
fn constant(path: &str) -> String {
    let text = read(&root().join("crates/taipan/tests/support/generated/mod.rs"));
    let name = path.strip_prefix("generated::").unwrap_or(path);
    let declaration = format!("const {name}: &str = \"");
    let value = text.split(&declaration).nth(1);
    let value = value.unwrap_or_else(|| panic!("no constant {path}"));
    value.split('"').next().unwrap().to_owned()
}

/// `just fuzz TARGET` starts each target: its row names the test that declares it.
#[test]
fn fuzz_targets_can_be_started() {
    let rows = rows();
    let names: BTreeSet<String> = rows.keys().cloned().collect();
    assert_eq!(names, documented(), "tests/fuzz and docs/trust.md differ");
    assert_eq!(names, declared(), "tests/fuzz and the tests differ");
    let mut wrong = Vec::new();
    for (name, row) in &rows {
        let function = row.test.rsplit("::").next().unwrap();
        let text = file_of(row).map(|f| read(&f));
        let Some(body) = text.as_deref().and_then(|t| body(t, function)) else {
            wrong.push(format!("{name}: {} has no test {}", row.package, row.test));
            continue;
        };
        let argument = body.split(concat!("Target", "::new(")).nth(1);
        if argument.and_then(name_of).as_ref() != Some(name) {
            wrong.push(format!("{name}: {} is another target", row.test));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
