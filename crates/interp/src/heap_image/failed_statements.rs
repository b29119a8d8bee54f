//! Statements of modules that import time passes over, since it ended in them before.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_base::Db;
use taipan_code::{Code, CodeId, Instr, code_spans, parse};

/// No more statements than this are left out: what fails more often is in the middle of
/// being written.
pub(crate) const MOST_LEFT_OUT: usize = 12;

/// Statements by the code of their module, as ranges of its instructions.
#[derive(Clone, Default, Debug)]
pub(crate) struct LeftOut(FxHashMap<CodeId, Vec<Range<u32>>>);

impl LeftOut {
    /// Adds the statement of a module that an instruction belongs to; false if there is
    /// none, or it is left out already.
    pub(crate) fn add(&mut self, db: &dyn Db, (id, pc): (CodeId, u32)) -> bool {
        let Some(range) = statement(db, id, pc) else {
            return false;
        };
        let ranges = self.0.entry(id).or_default();
        let new = !ranges.contains(&range);
        ranges.push(range);
        new
    }

    /// Whether a message is about a name that what is left out would have set: that only
    /// follows.
    pub(crate) fn explains(&self, db: &dyn Db, message: &str) -> bool {
        let words: Vec<&str> = message
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .collect();
        self.0.iter().any(|(id, ranges)| {
            let code = taipan_code::code(db, *id);
            let mut left_out = ranges.iter().flat_map(|r| r.clone());
            left_out.any(|pc| match code.instrs.get(pc as usize) {
                Some(Instr::StoreName(n) | Instr::StoreGlobal(n)) => {
                    words.contains(&&*code.names[*n as usize])
                }
                _ => false,
            })
        })
    }

    /// The code without what is left out of it.
    pub(crate) fn apply(&self, id: CodeId, code: Arc<Code>) -> Arc<Code> {
        let Some(ranges) = self.0.get(&id) else {
            return code;
        };
        let mut code = Code::clone(&code);
        for r in ranges {
            // Between statements nothing is on the stack.
            code.instrs[r.start as usize] = Instr::Jump(r.end);
        }
        Arc::new(code)
    }
}

/// The instructions of the module's statement that has this one.
fn statement(db: &dyn Db, id: CodeId, pc: u32) -> Option<Range<u32>> {
    let parsed = parse(db, id.file(db)?);
    let spans = code_spans(db, id);
    let at = spans.instrs.get(pc as usize)?;
    let whole = (parsed.ast.body.iter())
        .map(|s| parsed.spans.stmt(*s))
        .find(|s| s.start <= at.start && at.end <= s.end)?;
    let inside = |i: &usize| {
        let span = spans.instrs[*i];
        whole.start <= span.start && span.end <= whole.end
    };
    let start = (0..spans.instrs.len()).find(inside)?;
    let end = (0..spans.instrs.len()).rfind(inside)? + 1;
    // The module's end is no part of any statement.
    let fits = end < spans.instrs.len() && (start..end).contains(&(pc as usize));
    fits.then_some(start as u32..end as u32)
}
