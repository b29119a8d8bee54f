//! Rules of the repository that are tests.

#[path = "tidy/fuzz_targets.rs"]
mod fuzz_targets;
#[path = "tidy/sentences.rs"]
mod sentences;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Crates from the bottom up: each may use those before it, and no others.
const ORDER: &[&str] = &[
    "codes",
    "language",
    "heap",
    "platform",
    "base",
    "picture",
    "syntax",
    "graph",
    "lltype",
    "ootype",
    "code",
    "prelude",
    "runtime",
    "runtime-object",
    "engine",
    "interp",
    "flow",
    "annotator",
    "rtyper",
    "llinterp",
    "transform",
    "jit",
    "codegen",
    "codegen-c",
    "codegen-cranelift",
    "codegen-python",
    "codegen-llvm",
    "codegen-wasmgc",
    "jit-native",
    "jit-embed",
    "jit-file",
    "jit-runtime",
    "cache",
    "driver",
    "testing",
    "watch",
    "debug",
    "ide",
    "server",
    "explore",
    "taipan",
];

/// Crates that only tests use.
const FOR_TESTS: &[&str] = &["fuzz", "testkit", "workbench"];

/// What a crate must not use even though it stands below.
const FORBIDDEN: &[(&str, &[&str])] = &[
    ("codes", &["salsa"]),
    ("language", &["codes", "salsa"]),
    ("heap", &["codes", "language", "salsa"]),
    ("platform", &["codes", "heap", "salsa"]),
    ("picture", &["base", "salsa"]),
    ("graph", &["base", "salsa"]),
    ("lltype", &["base", "salsa"]),
    ("ootype", &["base", "salsa"]),
    ("syntax", &["salsa"]),
    ("runtime", &["base", "graph", "lltype"]),
    ("runtime-object", &["base", "graph", "lltype", "runtime"]),
    ("prelude", &["base"]),
    ("llinterp", &["salsa", "annotator", "rtyper"]),
    ("jit", &["salsa", "annotator", "rtyper"]),
    ("codegen", &["salsa", "rtyper"]),
    ("codegen-c", &["salsa", "rtyper"]),
    ("codegen-cranelift", &["salsa", "rtyper"]),
    ("codegen-python", &["salsa", "rtyper"]),
    ("codegen-llvm", &["salsa", "rtyper"]),
    ("codegen-wasmgc", &["salsa", "rtyper"]),
    (
        "debug",
        &["salsa", "base", "cache", "driver", "testing", "watch"],
    ),
    ("jit-native", &["salsa", "rtyper"]),
    ("jit-file", &["salsa", "rtyper"]),
    ("jit-runtime", &["salsa", "rtyper"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Dependencies (not those for tests) by crate.
fn manifests() -> BTreeMap<String, Vec<String>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(path.join("Cargo.toml")).unwrap();
        let mut inside = false;
        let mut deps = Vec::new();
        for line in text.lines() {
            if line.starts_with('[') {
                inside = line == "[dependencies]";
            } else if inside && let Some((dep, _)) = line.split_once(['.', ' ', '=']) {
                deps.push(dep.trim_start_matches("taipan-").to_owned());
            }
        }
        all.insert(name, deps);
    }
    all
}

#[test]
fn dependencies_point_downwards() {
    let all = manifests();
    let mut wrong = Vec::new();
    for (name, deps) in &all {
        if FOR_TESTS.contains(&name.as_str()) {
            continue;
        }
        let Some(height) = ORDER.iter().position(|c| c == name) else {
            wrong.push(format!("{name} has no place in the order"));
            continue;
        };
        for dep in deps {
            if FOR_TESTS.contains(&dep.as_str())
                || ORDER
                    .iter()
                    .position(|c| c == dep)
                    .is_some_and(|h| h >= height)
            {
                wrong.push(format!("{name} uses {dep}"));
            }
        }
        for (_, forbidden) in FORBIDDEN.iter().filter(|(c, _)| c == name) {
            for dep in deps.iter().filter(|d| forbidden.contains(&d.as_str())) {
                wrong.push(format!("{name} must not know {dep}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The text of a Rust file, or of all in a folder, without tests.
fn code_below(path: &Path, out: &mut String) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            code_below(&entry.unwrap().path(), out);
        }
    } else if !path.ends_with("tests.rs") {
        let text = std::fs::read_to_string(path).unwrap();
        out.push_str(text.split("#[cfg(test)]\nmod tests {").next().unwrap());
    }
}

/// What modules of a crate use of each other, by module at the top.
fn module_uses(crate_name: &str) -> BTreeMap<String, BTreeSet<String>> {
    let src = root().join("crates").join(crate_name).join("src");
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for entry in std::fs::read_dir(&src).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = texts.entry(name).or_default();
        code_below(&path, text);
    }
    // What the head of the crate hands on, by name.
    let head = texts.remove("lib").unwrap();
    let mut handed_on: BTreeMap<&str, &str> = BTreeMap::new();
    for item in head.split(';').filter_map(|i| i.split_once("use ")) {
        let path = item.1.trim_start_matches("crate::");
        if let Some((module, names)) = path.split_once("::") {
            let words = names.split(|c: char| !c.is_alphanumeric() && c != '_');
            handed_on.extend(words.map(|word| (word, module)));
        }
    }
    let mut uses = BTreeMap::new();
    for (name, text) in &texts {
        let code: String = text
            .lines()
            .map(|l| l.split("//").next().unwrap())
            .collect::<Vec<_>>()
            .join("\n");
        let mut used = BTreeSet::new();
        for rest in code.split("crate::").skip(1) {
            let names: Vec<&str> = match rest.strip_prefix('{') {
                Some(list) => {
                    let list = list.split("};").next().unwrap();
                    list.split(',').map(str::trim).collect()
                }
                None => vec![rest],
            };
            for item in names {
                let word = item
                    .split(|c: char| !c.is_alphanumeric() && c != '_')
                    .next()
                    .unwrap();
                let module = match texts.contains_key(word) {
                    true => word,
                    false => handed_on.get(word).copied().unwrap_or(word),
                };
                if module != name && texts.contains_key(module) {
                    used.insert(module.to_owned());
                }
            }
        }
        uses.insert(name.clone(), used);
    }
    uses
}

/// The modules of the driver stand on one another: none uses itself through others.
#[test]
fn modules_of_the_driver_have_no_cycle() {
    let mut uses = module_uses("driver");
    assert!(uses["check"].contains("stages") && uses["stages"].contains("parallel"));
    while let Some(free) = uses
        .iter()
        .find(|(_, used)| used.is_empty())
        .map(|(name, _)| name.clone())
    {
        uses.remove(&free);
        uses.values_mut().for_each(|used| {
            used.remove(&free);
        });
    }
    assert!(uses.is_empty(), "cycles among {uses:#?}");
}

/// The text of all Rust files of a folder and below.
fn rust_below(folder: &Path, out: &mut String) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_below(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn dependencies_are_used() {
    let mut wrong = Vec::new();
    for (name, deps) in manifests() {
        let mut text = String::new();
        rust_below(&root().join("crates").join(&name), &mut text);
        for dep in deps {
            let local = root().join("crates").join(&dep).exists();
            let prefix = if local { "taipan_" } else { "" };
            // What its library is called.
            let library = if dep == "md-5" { "md5" } else { &dep };
            let path = format!("{prefix}{}", library.replace('-', "_"));
            let is_used = [
                format!("{path}::"),
                format!("use {path}"),
                format!("with = \"{path}\""),
            ];
            // The driver has the executable that cargo makes of it, by the assembler.
            let is_embedded = (name.as_str(), dep.as_str()) == ("driver", "jit-runtime");
            if !is_embedded && !is_used.iter().any(|u| text.contains(u.as_str())) {
                wrong.push(format!("{name} does not use {dep}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Most manifests switch documentation tests off, so that rustdoc is not started for each crate: an example of
/// Rust in a doc comment would never run there.
#[test]
fn examples_in_doc_comments_are_run() {
    let mut with_examples = 0;
    for name in manifests().keys() {
        let folder = root().join("crates").join(name);
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let mut text = String::new();
        rust_below(&folder, &mut text);
        let examples = examples_of_rust(&text);
        let are_run = !manifest.contains("doctest = false");
        assert_eq!(are_run, !examples.is_empty(), "{name}: {examples:?}");
        with_examples += usize::from(are_run);
    }
    assert!(with_examples > 0);
}

/// The first lines of examples of Rust in doc comments.
fn examples_of_rust(text: &str) -> Vec<&str> {
    let mut examples = Vec::new();
    let mut is_open = false;
    for line in text.lines().map(str::trim) {
        let Some(doc) = line.strip_prefix("///").or(line.strip_prefix("//!")) else {
            is_open = false;
            continue;
        };
        if let Some(language) = doc.trim().strip_prefix("```") {
            let is_rust = ["", "rust", "should_panic", "no_run", "compile_fail"];
            if !is_open && is_rust.contains(&language) {
                examples.push(line);
            }
            is_open = !is_open;
        }
    }
    examples
}

/// CONTRIBUTING.md and the pages of recipes name no file that is not there, and CONTRIBUTING.md names
/// every page.
#[test]
fn recipes_name_files_that_are_there() {
    let index = std::fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let mut texts = vec![("CONTRIBUTING.md".to_owned(), index.clone())];
    for entry in std::fs::read_dir(root().join("docs/contributing")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(
            index.contains(&format!("(docs/contributing/{name})")),
            "{name}"
        );
        texts.push((name, std::fs::read_to_string(path).unwrap()));
    }
    let mut count = 0;
    for (page, text) in &texts {
        let lines = text.lines().filter(|line| !line.starts_with("```"));
        let quoted = lines.flat_map(|line| line.split('`').skip(1).step_by(2));
        let folders = ["crates/", "docs/", "tests/", "benches/"];
        let paths = quoted.filter(|q| folders.iter().any(|f| q.starts_with(f)));
        for path in paths.filter(|p| !p.contains('*')) {
            // A command starts with the path of its program.
            let path = path.split(' ').next().unwrap_or(path);
            assert!(root().join(path).exists(), "{page}: {path} is not there");
            count += 1;
        }
    }
    assert!(count > 50, "{count} files");
}

#[test]
fn crates_open_with_what_they_own() {
    for name in manifests().keys() {
        let src = root().join("crates").join(name).join("src");
        let text = std::fs::read_to_string(src.join("lib.rs")).unwrap();
        assert!(text.starts_with("//! "), "{name} does not say what it owns");
    }
}

#[test]
fn dependencies_have_a_reason() {
    let reasons = std::fs::read_to_string(root().join("docs/dependencies.md")).unwrap();
    let local: Vec<String> = manifests().keys().cloned().collect();
    for (name, deps) in manifests() {
        for dep in deps.iter().filter(|d| !local.contains(d)) {
            let told = reasons.contains(dep.as_str())
                || dep.starts_with("cranelift") && reasons.contains("cranelift-*");
            assert!(
                told,
                "{name} uses {dep}, which docs/dependencies.md does not explain"
            );
        }
    }
}
