//! Comparison with outcomes of RPython's own annotator.

use taipan_testkit::TestDb;

use super::basic::result_of;

/// `TAIPAN_ORACLE` names a folder with `cases.txt` (lines of name, inputs and expected
/// result, separated by tabs) and a module per case that defines `f`. Prints where we
/// differ. Without it there is nothing to compare with.
#[test]
fn as_rpython_annotates() {
    let Ok(dir) = std::env::var("TAIPAN_ORACLE") else {
        return;
    };
    let only = std::env::var("TAIPAN_ORACLE_ONLY").unwrap_or_default();
    let cases = std::fs::read_to_string(format!("{dir}/cases.txt")).expect("cases.txt");
    let (mut good, mut bad) = (0, String::new());
    for line in cases.lines() {
        let [name, inputs, expected] = line.split('\t').collect::<Vec<_>>()[..] else {
            continue;
        };
        let known = !expected.starts_with("SKIP") && !expected.starts_with("TIMEOUT");
        if !known || !name.contains(&only) {
            continue;
        }
        let source = std::fs::read_to_string(format!("{dir}/{name}.py")).expect("a module");
        let got = std::panic::catch_unwind(|| {
            let db = TestDb::with_fixture(&format!("#- /main.py\n{source}"));
            result_of(&db, inputs)
        });
        let got = got.unwrap_or_else(|_| "panicked".into()).replace('\n', " ");
        if got == expected || expected.starts_with("ERROR") && got.contains("TP0") {
            good += 1;
        } else {
            bad += &format!("{name}({inputs})\n   RPython {expected}\n   Taipan  {got}\n");
        }
    }
    assert!(bad.is_empty(), "{good} agree; these do not:\n{bad}");
}
