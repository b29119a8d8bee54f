//! The files fit the compiler and the documents.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{ErrorCode, Piece, all};

/// Codes that have no example, in groups.
const WITHOUT_EXAMPLE: &[ErrorCode] = &[
    // A limit that takes minutes to reach: the steps of the flow space.
    ErrorCode::FunctionTooBig,
    // A file that vanishes while the compiler runs (`import_time` of interp tests it).
    ErrorCode::UnreadableFile,
    // What others tell in their own words: of a memo function TP0305, of a function that
    // is defined in a part with a syntax error the file.
    ErrorCode::UnknownAtImportTime,
    ErrorCode::BrokenFunction,
    // What the annotator tells first, as far as is known: TP0301, TP0302 and TP0313. The RTyper
    // meets it where the two know different things of a class, a builtin function or a list.
    ErrorCode::AttributeWithoutRepr,
    ErrorCode::InteriorAsValue,
    ErrorCode::BuiltinWithoutRepr,
    ErrorCode::FixedListOperation,
    // Faults of the compiler.
    ErrorCode::StagesDisagree,
    ErrorCode::NoCode,
    ErrorCode::UnreadableResult,
    ErrorCode::TestNotRun,
    // It takes the tools of another target: `tests/wasm.rs` has one.
    ErrorCode::NotOnTheTarget,
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The names of codes that a text mentions.
fn codes_in(text: &str, found: &mut BTreeSet<String>) {
    for rest in text.split("ErrorCode::").skip(1) {
        let name = rest.split(|c: char| !c.is_alphanumeric()).next();
        found.extend(name.map(str::to_owned));
    }
}

fn sources(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            sources(&path, found);
        } else if name.ends_with(".rs") && !name.ends_with("tests.rs") {
            codes_in(&std::fs::read_to_string(&path).unwrap(), found);
        }
    }
}

#[test]
fn every_code_is_used() {
    let mut used = BTreeSet::new();
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap() != "codes" {
            sources(&path.join("src"), &mut used);
        }
    }
    let unused = ErrorCode::ALL.iter().filter(|c| !used.contains(c.name()));
    let unused: Vec<_> = unused.collect();
    assert!(unused.is_empty(), "no longer used: {unused:?}");
    for file in std::fs::read_dir(root().join("crates/codes/text")).unwrap() {
        let path = file.unwrap().path();
        let number = path.file_stem().unwrap().to_str().unwrap();
        assert!(
            ErrorCode::named(number).is_some(),
            "{number} is not declared"
        );
    }
}

#[test]
fn explanations_are_complete() {
    let mut without = Vec::new();
    let mut last = "";
    for e in all() {
        assert!(last < e.code.as_str(), "{} is out of order", e.code);
        last = e.code.as_str();
        assert_eq!(ErrorCode::named(last), Some(e.code));
        assert!(!e.title.is_empty() && !e.title.ends_with('.'), "{}", e.code);
        assert!(
            matches!(e.pieces.first(), Some(Piece::Text(_))),
            "{}",
            e.code
        );
        let kinds: Vec<bool> = e.examples().map(|x| x.is_wrong).collect();
        match &kinds[..] {
            [] => without.push(e.code),
            [true, false] => {}
            other => panic!("{} has examples {other:?}", e.code),
        }
        for x in e.examples() {
            assert!(matches!(x.language, "python" | "toml"), "{}", e.code);
            assert!(x.source.ends_with('\n'), "{}", e.code);
        }
    }
    let mut known = WITHOUT_EXAMPLE.to_vec();
    known.sort_unstable();
    assert_eq!(without, known);
    assert!(ErrorCode::named("TP9999").is_none());
}

const START: &str = "<!-- codes: made of crates/codes/text -->\n";
const END: &str = "<!-- end of codes -->\n";

/// With `UPDATE_EXPECT=1` the table is written anew.
#[test]
fn the_table_in_the_documents_is_up_to_date() {
    let path = root().join("docs/diagnostics.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(START).unwrap();
    let (table, after) = rest.split_once(END).unwrap();
    let mut now = "| code | what |\n| --- | --- |\n".to_owned();
    for e in all() {
        now += &format!("| {} | {} |\n", e.code, e.title);
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, format!("{before}{START}{now}{END}{after}")).unwrap();
    } else {
        assert_eq!(table, now, "run this test with UPDATE_EXPECT=1");
    }
}
