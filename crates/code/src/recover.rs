//! While someone types: bodies that cannot be compiled keep what they said last.
//!
//! ```text
//! earlier text                present text            codes
//! def f(a): return a          def f(a): return (      f: as it was, at its new place
//! def g(): return f(1)        def g(): return f(2)    g: as it is
//! ```
//!
//! So a function in the middle of an edit keeps its signature for its callers, and a
//! module its globals. What is wrong is told all the same.
//!
//! A body *parses* in a text if it could be compiled there, and, if it is a function's, there is no syntax
//! error between its first and its last character. A text in which everything parses is *whole*: what
//! it does not have is gone. In any other text definitions may be missing because of what is
//! broken, so those that are missing stay.
//!
//! Codes of a text that is not whole are a function of that text and, for each body that does not
//! parse in it or is missing, of the last earlier text in which it parsed. [`texts_that_matter`] names
//! these: no other text changes anything.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_base::{Db, File};
use taipan_syntax::ParsedFile;

use crate::bytecode::*;
use crate::compile::{Compiled, compile};

/// Whether everything parses in a text.
pub(crate) fn is_whole(codes: &[Compiled], parsed: &ParsedFile) -> bool {
    parsed.errors.is_empty() && !codes.iter().any(|c| c.code.poisoned)
}

/// Whether a body parses in a text.
fn parses(c: &Compiled, parsed: &ParsedFile) -> bool {
    let whole = c.spans.whole;
    let inside = |at: u32| whole.start <= at && at < whole.end;
    let is_function = c.code.kind == CodeKind::Function;
    !(c.code.poisoned || is_function && parsed.errors.iter().any(|e| inside(e.range.start)))
}

/// The name of the warm state: texts that were read, which are read again after each edit.
const SLOT: &str = "code.recover";

/// Number of texts of a file that are remembered beyond those in use.
const SPARE: usize = 4;

/// The texts of each file, the newest last.
type Texts = FxHashMap<Origin, Vec<Arc<Read>>>;

/// A text with its bodies.
struct Read {
    text: Arc<str>,
    whole: bool,
    /// Whether each body parses.
    bodies: Vec<(Compiled, bool)>,
}

impl Read {
    fn new(text: Arc<str>, codes: Vec<Compiled>, parsed: &ParsedFile) -> Read {
        let whole = is_whole(&codes, parsed);
        let mark = |c: Compiled| {
            let parses = parses(&c, parsed);
            (c, parses)
        };
        Read {
            text,
            whole,
            bodies: codes.into_iter().map(mark).collect(),
        }
    }

    /// A text, which is compiled unless it is remembered.
    fn of(db: &dyn Db, origin: Origin, text: &Arc<str>, in_use: usize) -> Arc<Read> {
        let known = |texts: &mut Texts| {
            let found = texts.get(&origin)?.iter().find(|r| r.text == *text);
            found.cloned()
        };
        db.warm().with(SLOT, known).unwrap_or_else(|| {
            let parsed = taipan_syntax::parse(text);
            let (codes, _) = compile(db, origin, &parsed, CodeKind::Module);
            Read::new(text.clone(), codes, &parsed).remembered(db, origin, in_use)
        })
    }

    fn remembered(self, db: &dyn Db, origin: Origin, in_use: usize) -> Arc<Read> {
        let read = Arc::new(self);
        db.warm().with(SLOT, |texts: &mut Texts| {
            let texts = texts.entry(origin).or_default();
            texts.retain(|r| r.text != read.text);
            texts.push(read.clone());
            texts.drain(..texts.len().saturating_sub(in_use + SPARE));
        });
        read
    }
}

/// Bodies as they were where they parsed last.
#[derive(Default)]
struct Kept(HashMap<CodeId, KeptBody>);

struct KeptBody {
    /// The number of the text, and of the body in it.
    at: (usize, usize),
    read: Arc<Read>,
}

impl KeptBody {
    /// The body at its place in a text to which these edits lead.
    fn moved(&self, shifts: &[Shift]) -> Compiled {
        let (body, _) = &self.read.bodies[self.at.1];
        Compiled {
            id: body.id,
            code: body.code.clone(),
            spans: shifts[self.at.0].spans(body.spans.clone()),
        }
    }
}

impl Kept {
    /// The texts that are kept after these, oldest first.
    fn after(db: &dyn Db, origin: Origin, texts: &[Arc<str>]) -> Kept {
        let mut kept = Kept::default();
        for (n, text) in texts.iter().enumerate() {
            let read = Read::of(db, origin, text, texts.len());
            if read.whole {
                kept.0.clear();
            }
            for (i, (body, parses)) in read.bodies.iter().enumerate() {
                if *parses {
                    let read = read.clone();
                    kept.0.insert(body.id, KeptBody { at: (n, i), read });
                }
            }
        }
        kept
    }
}

/// Replaces the bodies that do not parse by those of earlier texts, and adds those that are missing.
pub(crate) fn recover(
    db: &dyn Db,
    origin: Origin,
    codes: &mut Vec<Compiled>,
    parsed: &ParsedFile,
    new: &str,
    earlier: &[Arc<str>],
) {
    let mut kept = Kept::after(db, origin, earlier).0;
    if let Origin::File(file) = origin
        && file.valid_up_to(db).is_none()
    {
        // After the next edit this text is an earlier one.
        Read::new(new.into(), codes.clone(), parsed).remembered(db, origin, earlier.len());
    }
    let shifts: Vec<Shift> = earlier.iter().map(|old| Shift::between(old, new)).collect();
    for c in codes.iter_mut() {
        if let Some(old) = kept.remove(&c.id)
            && !parses(c, parsed)
        {
            *c = old.moved(&shifts);
        }
    }
    let mut missing: Vec<KeptBody> = kept.into_values().collect();
    missing.sort_by_key(|k| k.at);
    codes.extend(missing.iter().map(|k| k.moved(&shifts)));
}

/// The numbers of those of a file's texts, the oldest first, that matter to what is said of any later
/// text.
pub fn texts_that_matter(db: &dyn Db, file: File, texts: &[Arc<str>]) -> BTreeSet<usize> {
    let kept = Kept::after(db, Origin::File(file), texts);
    kept.0.into_values().map(|k| k.at.0).collect()
}

/// One edit that leads from one text to another: what is in front of it stays where it
/// is, what is behind it moves, and what is inside goes to its end.
struct Shift {
    start: u32,
    old_end: u32,
    new_end: u32,
}

impl Shift {
    fn between(old: &str, new: &str) -> Shift {
        let (a, b) = (old.as_bytes(), new.as_bytes());
        let start = a.iter().zip(b).take_while(|(x, y)| x == y).count();
        let rest = a.len().min(b.len()) - start;
        let (back, ahead) = (a.iter().rev(), b.iter().rev());
        let end = back
            .zip(ahead)
            .take(rest)
            .take_while(|(x, y)| x == y)
            .count();
        Shift {
            start: start as u32,
            old_end: (a.len() - end) as u32,
            new_end: (b.len() - end) as u32,
        }
    }

    fn offset(&self, at: u32) -> u32 {
        if at <= self.start {
            at
        } else if at >= self.old_end {
            at - self.old_end + self.new_end
        } else {
            at.min(self.new_end)
        }
    }

    fn spans(&self, spans: CodeSpans) -> CodeSpans {
        spans.moved(|at| self.offset(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_move_with_the_text_around_them() {
        let shift = Shift::between("aaa bbb ccc", "aaa bXXXXb ccc");
        let places = [0, 3, 8, 11].map(|at| shift.offset(at));
        assert_eq!(places, [0, 3, 11, 14]);
        let shift = Shift::between("aaa bbb ccc", "aaa ccc");
        let places = [8, 11, 4, 7].map(|at| shift.offset(at));
        assert_eq!(places, [4, 7, 4, 4]);
    }
}
