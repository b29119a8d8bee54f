//! Databases with the files of a program, and their images as lines, to compare them.

use taipan_base::Program;
use taipan_interp::Image;
use taipan_testkit::TestDb;

/// Sets the contents of files.
pub(crate) fn write(db: &mut TestDb, files: &[(&str, String)]) {
    for (path, text) in files {
        db.edit(path, text);
    }
}

/// A database that has imported nothing yet, and the program `/main.py` with a limit of steps.
pub(crate) fn fresh(files: &[(&str, String)], steps: u64) -> (TestDb, Program) {
    let mut db = TestDb::default();
    write(&mut db, files);
    let program = Program::new(&db, "/main.py".into(), vec![], steps);
    (db, program)
}

/// Numbers of salsa's are whatever comes first.
pub(crate) fn without_ids(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("(Id(") {
        let (before, id) = rest.split_at(at);
        out.push_str(before);
        out.push_str("(_");
        rest = id
            .trim_start_matches("(Id(")
            .trim_start_matches(|c: char| c.is_alphanumeric());
        rest = rest.strip_prefix(')').unwrap_or(rest);
    }
    out + rest
}

/// The objects and globals of an image, sorted.
pub(crate) fn of_objects(image: &Image) -> Vec<String> {
    let mut lines = Vec::new();
    #[expect(clippy::iter_over_hash_type, reason = "the lines are sorted")]
    for (id, data) in &image.objects {
        lines.push(without_ids(&format!("{id:?} {data:?}")));
    }
    #[expect(clippy::iter_over_hash_type, reason = "the lines are sorted")]
    for (id, globals) in &image.globals {
        let mut globals: Vec<_> = globals.iter().collect();
        globals.sort_by_key(|(name, _)| *name);
        lines.push(format!("globals of {id:?}: {globals:?}"));
    }
    lines.sort();
    lines
}
