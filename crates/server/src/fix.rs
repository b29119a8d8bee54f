//! Fixes without an editor: what `taipan check --fix` applies.

use camino::Utf8PathBuf;
use taipan_base::{Diagnostic, Program, SHIPPED, TextRange};
use taipan_driver::Database;
use taipan_ide::{Workspace, fixes};

/// A file with its fixes applied.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fixed {
    /// The file.
    pub path: Utf8PathBuf,
    /// Its new text.
    pub text: String,
    /// Number of problems that are fixed.
    pub count: usize,
}

/// The files of programs that have safe fixes, with these applied. Of fixes that overlap the first one counts.
pub fn fixed_files(db: &Database, programs: Vec<Program>, found: &[Diagnostic]) -> Vec<Fixed> {
    let workspace = Workspace {
        programs,
        folders: Vec::new(),
    };
    let mut files: Vec<_> = (found.iter())
        .filter_map(|d| Some(d.primary?.file))
        .filter(|f| !f.path(db).starts_with(SHIPPED))
        .collect();
    files.sort_by_cached_key(|f| f.path(db).clone());
    files.dedup();
    let mut out = Vec::new();
    for file in files {
        let text = file.text(db);
        let whole = TextRange::new(0, text.len() as u32);
        let mut edits: Vec<(TextRange, String)> = Vec::new();
        let mut count = 0;
        for fix in fixes(db, &workspace, file, whole)
            .into_iter()
            .filter(|f| f.safe)
        {
            let new: Vec<_> = (fix.edits.into_iter())
                .filter(|(at, _)| at.file == file)
                .map(|(at, text)| (at.range, text))
                // The same import serves several places.
                .filter(|edit| !edits.contains(edit))
                .collect();
            let apart = |(a, _): &(TextRange, String)| {
                let meets = |(b, _): &(TextRange, String)| a.start < b.end && b.start < a.end;
                !edits.iter().any(meets)
            };
            if new.iter().all(apart) {
                edits.extend(new);
                count += 1;
            }
        }
        if count == 0 {
            continue;
        }
        edits.sort_by_key(|(at, _)| at.start);
        let mut fixed = text.to_owned();
        for (at, new) in edits.iter().rev() {
            fixed.replace_range(at.start as usize..at.end as usize, new);
        }
        let path = file.path(db).clone();
        out.push(Fixed {
            path,
            text: fixed,
            count,
        });
    }
    out
}
