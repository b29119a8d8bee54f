//! Tests on fixtures: files after lines `#- /path.py`, `$0` where the cursor is. The
//! target is `/main.py`.

use std::sync::Arc;

use camino::Utf8Path;
use taipan_base::{Db, File, MemorySystem, Span, position};
use taipan_driver::{Database, LoadOptions};
use taipan_testkit::split_fixture;

use crate::{FilePosition, Workspace};

mod diagnostics;
mod hover;
mod navigation;
mod outline;
mod rename;
mod writing;

/// The place of the cursor in fixtures.
const CURSOR: &str = "$0";

/// A workspace with one program.
pub(crate) struct Fixture {
    pub(crate) db: Database,
    pub(crate) workspace: Workspace,
    /// Where the cursor is; the start of the target without one.
    pub(crate) position: FilePosition,
}

pub(crate) fn fixture(text: &str) -> Fixture {
    let system = MemorySystem::new(taipan_prelude::SHIPPED);
    let mut cursor = None;
    for (path, text) in split_fixture(text) {
        let text = match text.split_once(CURSOR) {
            Some((before, after)) => {
                cursor = Some((path.clone(), before.len() as u32));
                format!("{before}{after}")
            }
            None => text,
        };
        system.write(path, &text);
    }
    let db = Database::new(Arc::new(system));
    let program = db.program("/main.py".into(), vec![], 10_000_000, false);
    let (path, offset) = cursor.unwrap_or(("/main.py".to_owned(), 0));
    let file = db.files().get(&db, Utf8Path::new(&path));
    Fixture {
        workspace: Workspace {
            programs: vec![program],
            folders: vec![("/".into(), LoadOptions::default())],
        },
        position: FilePosition { file, offset },
        db,
    }
}

impl Fixture {
    /// `file:line:column text` of a span.
    pub(crate) fn show(&self, span: Span) -> String {
        let p = position(&self.db, span);
        let text = span.file.text(&self.db);
        let text = &text[span.range.start as usize..span.range.end as usize];
        format!("{}:{}:{} {text}", p.file, p.start.0, p.start.1)
    }

    pub(crate) fn file(&self) -> File {
        self.position.file
    }
}
