//! While someone types: bodies that cannot be compiled keep what they said last.
//!
//! ```text
//! last text that compiled     present text            codes
//! def f(a): return a          def f(a): return (      f: as it was, at its new place
//! def g(): return f(1)        def g(): return f(2)    g: as it is
//! ```
//!
//! So a function in the middle of an edit keeps its signature for its callers, and a
//! module its globals. What is wrong is told all the same.

use std::collections::HashMap;

use taipan_base::{Db, TextRange};
use taipan_syntax::SyntaxError;

use crate::bytecode::*;
use crate::compile::{Compiled, compile};

/// Replaces the bodies that could not be compiled, and functions that have an error
/// anywhere (in their parameters), by those of an older text, and adds those that only
/// that one has: a definition whose header is broken may be in no tree.
pub(crate) fn recover(
    db: &dyn Db,
    origin: Origin,
    codes: &mut Vec<Compiled>,
    errors: &[SyntaxError],
    new: &str,
    old: &str,
) {
    let inside = |e: &SyntaxError, whole: TextRange| {
        whole.start <= e.range.start && e.range.start < whole.end
    };
    let broken = |c: &Compiled| {
        c.code.poisoned
            || c.code.kind == CodeKind::Function && errors.iter().any(|e| inside(e, c.spans.whole))
    };
    let parsed = taipan_syntax::parse(old);
    let (olds, _) = compile(db, origin, &parsed, CodeKind::Module);
    let shift = Shift::between(old, new);
    let mut olds: HashMap<CodeId, (usize, Compiled)> = olds
        .into_iter()
        .enumerate()
        .filter(|(_, c)| !c.code.poisoned)
        .map(|(i, c)| (c.id, (i, c)))
        .collect();
    for c in codes.iter_mut() {
        if let Some((_, old)) = olds.remove(&c.id)
            && broken(c)
        {
            c.code = old.code;
            c.spans = shift.spans(old.spans);
        }
    }
    let mut gone: Vec<(usize, Compiled)> = olds.into_values().collect();
    gone.sort_by_key(|(i, _)| *i);
    codes.extend(gone.into_iter().map(|(_, mut c)| {
        c.spans = shift.spans(c.spans);
        c
    }));
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

    fn range(&self, r: TextRange) -> TextRange {
        let start = self.offset(r.start);
        TextRange::new(start, self.offset(r.end).max(start))
    }

    fn spans(&self, mut spans: CodeSpans) -> CodeSpans {
        let items = spans
            .items
            .iter_mut()
            .flat_map(|(_, items)| items.iter_mut());
        let all = spans
            .instrs
            .iter_mut()
            .chain(&mut spans.params)
            .chain(items);
        all.chain([&mut spans.whole, &mut spans.name])
            .for_each(|r| *r = self.range(*r));
        spans
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_move_with_the_text_around_them() {
        let shift = Shift::between("aaa bbb ccc", "aaa bXXXXb ccc");
        assert_eq!(shift.range(TextRange::new(0, 3)), TextRange::new(0, 3));
        assert_eq!(shift.range(TextRange::new(8, 11)), TextRange::new(11, 14));
        let shift = Shift::between("aaa bbb ccc", "aaa ccc");
        assert_eq!(shift.range(TextRange::new(8, 11)), TextRange::new(4, 7));
        assert_eq!(shift.range(TextRange::new(4, 7)), TextRange::new(4, 4));
    }
}
