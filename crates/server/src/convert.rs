//! Between byte offsets and the protocol's positions, and between paths and URLs.

use camino::{Utf8Path, Utf8PathBuf};
use lsp_types::{Position, PositionEncodingKind, Range, Url};
use taipan_base::{LineIndex, TextRange};

use crate::shipped;

/// How columns are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Encoding {
    /// In bytes.
    Utf8,
    /// In units of two bytes.
    Utf16,
    /// In characters.
    Utf32,
}

impl Encoding {
    /// The protocol's name of it.
    pub(crate) fn kind(self) -> PositionEncodingKind {
        match self {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
            Encoding::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    fn width(self, c: char) -> u32 {
        match self {
            Encoding::Utf8 => c.len_utf8() as u32,
            Encoding::Utf16 => c.len_utf16() as u32,
            Encoding::Utf32 => 1,
        }
    }

    /// Columns that a text takes.
    pub(crate) fn columns(self, text: &str) -> u32 {
        text.chars().map(|c| self.width(c)).sum()
    }
}

/// A text with its lines.
#[derive(Clone, Copy)]
pub(crate) struct Lines<'a> {
    pub(crate) text: &'a str,
    pub(crate) index: &'a LineIndex,
    pub(crate) encoding: Encoding,
}

impl Lines<'_> {
    /// The byte offset of a position. One past the end of a line is its end, one past
    /// the last line the end of the text, and one inside of a character its start.
    pub(crate) fn offset(&self, position: Position) -> u32 {
        let Some(start) = self.index.start(position.line) else {
            return self.text.len() as u32;
        };
        let line = self.text[start as usize..].split('\n').next().unwrap_or("");
        let line = line.strip_suffix('\r').unwrap_or(line);
        let mut left = position.character;
        for (i, c) in line.char_indices() {
            let width = self.encoding.width(c);
            if left < width {
                return start + i as u32;
            }
            left -= width;
        }
        start + line.len() as u32
    }

    /// The position of a byte offset; inside of a character its start.
    pub(crate) fn position(&self, offset: u32) -> Position {
        let mut at = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let line = self.index.line(at as u32);
        let start = self.index.start(line).unwrap_or(0) as usize;
        Position::new(line, self.encoding.columns(&self.text[start..at]))
    }

    pub(crate) fn range(&self, range: TextRange) -> Range {
        Range::new(
            self.position(range.start),
            self.position(range.end.max(range.start)),
        )
    }

    pub(crate) fn text_range(&self, range: Range) -> TextRange {
        let start = self.offset(range.start);
        TextRange::new(start, self.offset(range.end).max(start))
    }
}

/// The path of a document, of the shipped file where it is a copy of one. A document that is no file has its URL for a path.
pub(crate) fn path_of(url: &Url) -> Utf8PathBuf {
    let path = url.to_file_path().ok();
    path.and_then(|p| Utf8PathBuf::from_path_buf(p).ok())
        .map_or_else(|| url.as_str().into(), shipped::original_of)
}

/// The URL of a file; none for what has no place on disk.
pub(crate) fn url_of(path: &Utf8Path) -> Option<Url> {
    Url::from_file_path(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a = 1\r\nß𝄞x = 2\n";

    fn check(encoding: Encoding, positions: &[(u32, u32, u32)]) {
        let index = LineIndex::new(TEXT);
        let lines = Lines {
            text: TEXT,
            index: &index,
            encoding,
        };
        for (offset, line, column) in positions {
            let position = Position::new(*line, *column);
            assert_eq!(lines.position(*offset), position, "{offset}");
            assert_eq!(lines.offset(position), *offset, "{position:?}");
        }
    }

    #[test]
    fn columns_in_each_encoding() {
        check(
            Encoding::Utf8,
            &[(0, 0, 0), (4, 0, 4), (7, 1, 0), (9, 1, 2), (13, 1, 6)],
        );
        check(
            Encoding::Utf16,
            &[(0, 0, 0), (7, 1, 0), (9, 1, 1), (13, 1, 3), (14, 1, 4)],
        );
        check(
            Encoding::Utf32,
            &[(0, 0, 0), (7, 1, 0), (9, 1, 1), (13, 1, 2), (14, 1, 3)],
        );
    }

    #[test]
    fn positions_that_are_none_are_put_right() {
        let index = LineIndex::new(TEXT);
        let lines = Lines {
            text: TEXT,
            index: &index,
            encoding: Encoding::Utf16,
        };
        // Past the end of a line, before its line break.
        assert_eq!(lines.offset(Position::new(0, 99)), 5);
        assert_eq!(lines.offset(Position::new(99, 0)), TEXT.len() as u32);
        // Inside of a surrogate pair, and inside of a character.
        assert_eq!(lines.offset(Position::new(1, 2)), 9);
        assert_eq!(lines.position(8), Position::new(1, 0));
    }
}
