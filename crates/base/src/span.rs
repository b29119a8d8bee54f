//! Places in source text. Spans live in queries of their own, never in the values
//! that later stages compare.

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use std::sync::Arc;

use crate::{Db, File};

/// A range of bytes in a file's text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct TextRange {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl TextRange {
    /// From `start` up to, not including, `end`.
    pub fn new(start: u32, end: u32) -> Self {
        TextRange { start, end }
    }
}

/// A range in a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Span {
    /// The file.
    pub file: File,
    /// The range in it.
    pub range: TextRange,
}

/// The lines of a file.
#[salsa::tracked(returns(clone))]
pub fn line_index(db: &dyn Db, file: File) -> Arc<LineIndex> {
    Arc::new(LineIndex::new(file.text(db)))
}

/// Line starts of a text, for byte offsets to lines and columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    /// Indexes a text.
    pub fn new(text: &str) -> Self {
        let mut starts = vec![0];
        starts.extend(
            text.bytes()
                .enumerate()
                .filter(|(_, b)| *b == b'\n')
                .map(|(i, _)| i as u32 + 1),
        );
        LineIndex { starts }
    }

    /// 0-based line of a byte offset.
    pub fn line(&self, offset: u32) -> u32 {
        self.starts.partition_point(|s| *s <= offset).max(1) as u32 - 1
    }

    /// Byte offset of the start of a 0-based line, if there is one.
    pub fn start(&self, line: u32) -> Option<u32> {
        self.starts.get(line as usize).copied()
    }

    /// 1-based line, and 1-based column in characters, of a byte offset.
    pub fn line_column(&self, text: &str, offset: u32) -> (u32, u32) {
        let line = self.line(offset);
        let start = self.starts[line as usize] as usize;
        let mut end = (offset as usize).min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let column = text[start.min(end)..end].chars().count() as u32;
        (line + 1, column + 1)
    }
}
