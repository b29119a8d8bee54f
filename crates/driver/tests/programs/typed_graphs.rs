//! The graphs of the programs in fixtures/ keep to the table of low-level operations at each stage.

use std::path::Path;

use camino::Utf8PathBuf;
use taipan_driver::{Database, Failure, LoadOptions, check_graphs};

#[test]
fn programs_of_all_kinds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/programs");
    let folder = folder.canonicalize().expect("it is there");
    for target in [
        "richards.py",
        "deltablue.py",
        "binarytrees.py",
        "wordcount.py",
        "raising.py",
        "lisp.py",
        "grammar.py",
        "files.py",
        "bignums.py",
        "jit/plusminus.py",
        "jit/lisp.py",
        "quill/targetquill.py",
    ] {
        let path = Utf8PathBuf::from_path_buf(folder.join(target)).expect("UTF-8");
        let db = Database::default();
        match check_graphs(&db, &LoadOptions::default(), &path) {
            Ok(wrong) => assert!(wrong.is_empty(), "{target}:\n{}", wrong.join("\n")),
            Err(Failure::Diagnostics(found)) => panic!("{target}: {found:?}"),
            Err(_) => panic!("{target} cannot be typed"),
        }
    }
}
