//! What a worker has: the state of the world at one moment.

use std::sync::Arc;

use camino::Utf8PathBuf;
use lsp_types::{Location, Range, TextDocumentPositionParams, Url};
use taipan_base::{Db, File, LineIndex, SHIPPED, Span, TextRange, line_index};
use taipan_driver::Database;
use taipan_ide::{FilePosition, Workspace};

use crate::capabilities::Client;
use crate::convert::{Lines, path_of, url_of};
use crate::reruns::Reruns;
use crate::settings::Settings;
use crate::shipped::copy_of;
use crate::tokens::{Sent, SentTokens};

/// A clone of the database with what else answers depend on.
#[derive(Clone)]
pub(crate) struct Snapshot {
    pub(crate) db: Database,
    pub(crate) workspace: Arc<Workspace>,
    /// The folders of the workspace.
    pub(crate) folders: Arc<[Utf8PathBuf]>,
    pub(crate) client: Arc<Client>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) tokens: SentTokens,
    /// Why functions were compiled again after the last edit.
    pub(crate) reruns: Arc<Reruns>,
}

impl Snapshot {
    /// The semantic tokens that the client has.
    pub(crate) fn sent(&self) -> Sent<'_> {
        Sent(&self.tokens, &self.db)
    }

    /// The file of a document.
    pub(crate) fn file(&self, url: &Url) -> File {
        let path: Utf8PathBuf = path_of(url);
        self.db.files().get(&self.db, &path)
    }

    fn with_lines<R>(&self, file: File, with: impl FnOnce(Lines<'_>) -> R) -> R {
        let index: Arc<LineIndex> = line_index(&self.db, file);
        with(Lines {
            text: file.text(&self.db),
            index: &index,
            encoding: self.client.encoding,
        })
    }

    /// A place in a document.
    pub(crate) fn position(&self, params: &TextDocumentPositionParams) -> FilePosition {
        let file = self.file(&params.text_document.uri);
        FilePosition {
            file,
            offset: self.with_lines(file, |l| l.offset(params.position)),
        }
    }

    /// A range of bytes as the client counts.
    pub(crate) fn range(&self, file: File, range: TextRange) -> Range {
        self.with_lines(file, |l| l.range(range))
    }

    /// A range of the client's in bytes.
    pub(crate) fn text_range(&self, file: File, range: Range) -> TextRange {
        self.with_lines(file, |l| l.text_range(range))
    }

    /// Where a span is.
    pub(crate) fn location(&self, span: Span) -> Option<Location> {
        let url = self.url(span.file)?;
        Some(Location::new(url, self.range(span.file, span.range)))
    }

    /// The URL of a file; for what ships inside the binary that of a copy.
    pub(crate) fn url(&self, file: File) -> Option<Url> {
        let path = file.path(&self.db);
        match path.starts_with(SHIPPED) {
            true => url_of(&copy_of(path, file.text(&self.db))?),
            false => url_of(path).or_else(|| Url::parse(path.as_str()).ok()),
        }
    }
}
