//! Tests on fixtures: files after lines `#- /path.py`, `$0` where the cursor is. The
//! target is `/main.py`; what else looks like a target is one, too.

use std::sync::Arc;

use camino::Utf8Path;
use taipan_base::{Db, File, MemorySystem, Overlay, Span, position, sync};
use taipan_driver::{Database, LoadOptions};
use taipan_testkit::split_fixture;

use crate::{FilePosition, Others, Workspace};

mod diagnostics;
mod hierarchy;
mod hover;
mod navigation;
mod outline;
mod rename;
mod writing;

/// The place of the cursor in fixtures.
const CURSOR: &str = "$0";

/// A workspace, mostly with one program.
pub(crate) struct Fixture {
    pub(crate) db: Database,
    overlay: Arc<Overlay>,
    pub(crate) workspace: Workspace,
    /// Where the cursor is; the start of the target without one.
    pub(crate) position: FilePosition,
    /// All files.
    pub(crate) others: Others,
}

pub(crate) fn fixture(text: &str) -> Fixture {
    let system = MemorySystem::new(taipan_prelude::SHIPPED);
    let mut cursor = None;
    let mut paths = Vec::new();
    let mut targets = Vec::new();
    for (path, text) in split_fixture(text) {
        let text = match text.split_once(CURSOR) {
            Some((before, after)) => {
                cursor = Some((path.clone(), before.len() as u32));
                format!("{before}{after}")
            }
            None => text,
        };
        if path != "/main.py" && taipan_driver::is_target(&text) {
            targets.push(path.clone());
        }
        paths.push(path.clone());
        system.write(path, &text);
    }
    let overlay = Arc::new(Overlay::new(Arc::new(system)));
    let db = Database::new(overlay.clone());
    let program = |path: &str| {
        db.program(
            path.into(),
            LoadOptions {
                step_limit: 10_000_000,
                ..LoadOptions::default()
            },
        )
    };
    let mut programs = vec![program("/main.py")];
    programs.extend(targets.iter().map(|t| program(t)));
    let (path, offset) = cursor.unwrap_or(("/main.py".to_owned(), 0));
    let file = db.files().get(&db, Utf8Path::new(&path));
    let mut others = Others::default();
    for p in paths.iter().map(Utf8Path::new) {
        others.note(p);
        others.files.push(db.files().get(&db, p));
    }
    Fixture {
        workspace: Workspace {
            programs,
            folders: vec![("/".into(), LoadOptions::default())],
        },
        position: FilePosition { file, offset },
        others,
        overlay,
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

    /// Puts a text at the cursor, as if it had just been typed: the text that was there
    /// stands in for what is broken. The cursor is behind it.
    pub(crate) fn type_text(&mut self, typed: &str) {
        let old = self.file().text(&self.db).to_owned();
        let at = self.position.offset as usize;
        let new = format!("{}{typed}{}", &old[..at], &old[at..]);
        let path = self.file().path(&self.db).clone();
        self.overlay
            .set(path.clone(), new.into(), [old.into()].into());
        sync(&mut self.db, &[path]);
        self.position.offset += typed.len() as u32;
    }

    pub(crate) fn file(&self) -> File {
        self.position.file
    }
}
