//! The documents that the editor has open.

use std::collections::{BTreeMap, BTreeSet};
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
    /// The texts that it had since it was opened, the oldest first, as far as they matter to what is said
    /// of broken ones ([`taipan_base::File::earlier`]).
    pub(crate) earlier: Vec<Arc<str>>,
    /// Number of texts that it had before the present one.
    edits: usize,
    /// The number of edits at which it was last found out which texts matter.
    sifted: usize,
}

/// The texts of a document at one moment, and which of them matter.
pub(crate) struct Sifted {
    opening: u64,
    edits: usize,
    pub(crate) texts: Vec<Arc<str>>,
}

impl Document {
    /// All texts up to now.
    pub(crate) fn to_sift(&self) -> Sifted {
        let mut texts = self.earlier.clone();
        texts.push(self.text.clone());
        Sifted {
            opening: self.opening,
            edits: self.edits,
            texts,
        }
    }

    /// Forgets texts that do not matter: all up to that moment but for the given ones.
    pub(crate) fn sift(&mut self, sifted: Sifted, matter: &BTreeSet<usize>) {
        if sifted.opening != self.opening || sifted.edits < self.sifted {
            return;
        }
        self.sifted = sifted.edits;
        // The last one was the present text then: it is, or stands at its place.
        let last = sifted.texts.len() - 1;
        let newer = self
            .earlier
            .split_off(self.earlier.len() - (self.edits - sifted.edits));
        let kept = sifted.texts.into_iter().enumerate();
        let kept = kept.filter(|(i, _)| *i != last && matter.contains(i));
        self.earlier = kept.map(|(_, text)| text).chain(newer).collect();
    }
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
            earlier: Vec::new(),
            edits: 0,
            sifted: 0,
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
        document.version = version;
        if *document.text != *text {
            let old = std::mem::replace(&mut document.text, text.into());
            document.earlier.push(old);
            document.edits += 1;
        }
        true
    }

    pub(crate) fn close(&mut self, path: &Utf8Path) -> Option<Document> {
        self.open.remove(path)
    }

    pub(crate) fn get_mut(&mut self, path: &Utf8Path) -> Option<&mut Document> {
        self.open.get_mut(path)
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

    #[test]
    fn texts_that_do_not_matter_are_forgotten() {
        let mut documents = Documents::default();
        let path = Utf8Path::new("/a.py");
        let url = Url::parse("file:///a.py").unwrap();
        documents.open(path.into(), url, 1, "0".to_owned());
        let mut version = 1;
        let mut write = |documents: &mut Documents, text: &str| {
            version += 1;
            let change = TextDocumentContentChangeEvent {
                range: None,
                range_length: None,
                text: text.to_owned(),
            };
            documents.change(path, version, vec![change], Encoding::Utf8);
        };
        let earlier =
            |documents: &Documents| -> String { documents.get(path).unwrap().earlier.concat() };
        write(&mut documents, "1");
        write(&mut documents, "2");
        let first = documents.get(path).unwrap().to_sift();
        write(&mut documents, "3");
        let second = documents.get(path).unwrap().to_sift();
        write(&mut documents, "4");
        assert_eq!(earlier(&documents), "0123");
        let document = documents.get_mut(path).unwrap();
        document.sift(first, &BTreeSet::from([1, 2]));
        assert_eq!(earlier(&documents), "123");
        let third = documents.get(path).unwrap().to_sift();
        let document = documents.get_mut(path).unwrap();
        document.sift(third, &BTreeSet::from([1, 3]));
        assert_eq!(earlier(&documents), "2");
        // It comes too late.
        let document = documents.get_mut(path).unwrap();
        document.sift(second, &BTreeSet::from([0]));
        assert_eq!(earlier(&documents), "2");
        write(&mut documents, "5");
        assert_eq!(earlier(&documents), "24");
    }
}
