//! The documents that the editor has open.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use lsp_types::{TextDocumentContentChangeEvent, Url};
use taipan_base::LineIndex;

use crate::convert::{Encoding, Lines};

/// An open document.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// Under which the client knows it.
    pub(crate) url: Url,
    /// As the client counts.
    pub(crate) version: i32,
    /// Its text.
    pub(crate) text: Arc<str>,
    /// Another number each time that a document is opened.
    pub(crate) opening: u64,
}

/// The open documents by path.
#[derive(Default)]
pub(crate) struct Documents {
    open: BTreeMap<Utf8PathBuf, Document>,
    openings: u64,
}

impl Documents {
    pub(crate) fn open(&mut self, path: Utf8PathBuf, url: Url, version: i32, text: String) {
        self.openings += 1;
        let document = Document {
            url,
            version,
            text: text.into(),
            opening: self.openings,
        };
        self.open.insert(path, document);
    }

    /// Applies changes in order; false if the document is not open.
    pub(crate) fn change(
        &mut self,
        path: &Utf8Path,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
        encoding: Encoding,
    ) -> bool {
        let Some(document) = self.open.get_mut(path) else {
            return false;
        };
        let mut text = document.text.to_string();
        for change in changes {
            match change.range {
                None => text = change.text,
                Some(range) => {
                    let index = LineIndex::new(&text);
                    let lines = Lines {
                        text: &text,
                        index: &index,
                        encoding,
                    };
                    let range = lines.text_range(range);
                    text.replace_range(range.start as usize..range.end as usize, &change.text);
                }
            }
        }
        document.text = text.into();
        document.version = version;
        true
    }

    pub(crate) fn close(&mut self, path: &Utf8Path) -> Option<Document> {
        self.open.remove(path)
    }

    pub(crate) fn get(&self, path: &Utf8Path) -> Option<&Document> {
        self.open.get(path)
    }

    /// All of them, sorted by path.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Utf8PathBuf, &Document)> {
        self.open.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lsp_types::{Position, Range};

    #[test]
    fn changes_apply_in_order() {
        let mut documents = Documents::default();
        let url = Url::parse("file:///a.py").unwrap();
        documents.open("/a.py".into(), url, 1, "x = 1\ny = 'ß𝄞'\n".to_owned());
        let change = |from: (u32, u32), to: (u32, u32), text: &str| {
            let range = Range::new(Position::new(from.0, from.1), Position::new(to.0, to.1));
            TextDocumentContentChangeEvent {
                range: Some(range),
                range_length: None,
                text: text.to_owned(),
            }
        };
        let path = Utf8Path::new("/a.py");
        let changes = vec![
            change((0, 0), (1, 0), "a = 0\nb = 1\n"),
            change((2, 6), (2, 8), "!"),
        ];
        assert!(documents.change(path, 2, changes, Encoding::Utf16));
        let document = documents.get(path).unwrap();
        assert_eq!(&*document.text, "a = 0\nb = 1\ny = 'ß!'\n");
        assert_eq!(document.version, 2);
    }
}
