//! Local variables of the frames that an exception unwound, for reports of failed tests.

use taipan_engine::Frame;

use super::Interp;
use super::heap::{Kind, TracebackEntry};
use super::value::Value;
use taipan_code::Code;

/// Maximum number of characters of a value that is shown.
const LONGEST: usize = 240;

/// Names and values of variables.
type Variables = Vec<(Box<str>, Value)>;

/// The frames of the last exception that no frame has handled yet, innermost first, with names and values of their variables.
#[derive(Default)]
pub(crate) struct EndedFrames {
    frames: Vec<(TracebackEntry, Variables)>,
}

impl Interp<'_> {
    /// Records the local variables of a frame that an exception reaches, if the run asks for them.
    pub(crate) fn keep_locals(&mut self, exception: &Value, code: &Code, frame: &Frame<Value>) {
        let Some(ended) = &mut self.ended_frames else {
            return;
        };
        let Value::Ref(r) = exception else { return };
        let Kind::Exception(e) = self.heap.kind(*r) else {
            return;
        };
        let Some(place) = e.traceback.last() else {
            return;
        };
        if e.traceback.len() == 1 {
            ended.frames.clear();
        }
        let is_name = |name: &str| name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let values = code.locals.iter().zip(&frame.locals);
        let values = values.filter(|(name, _)| is_name(name));
        let values = values.filter_map(|(name, v)| Some((name.clone(), v.clone()?)));
        ended.frames.push((*place, values.collect()));
    }

    /// Names of the variables of a traceback's frame, and `repr()` of their values. Empty if they were not recorded.
    pub(crate) fn locals_at(&mut self, place: TracebackEntry) -> Vec<(String, String)> {
        let ended = self.ended_frames.iter().flat_map(|e| &e.frames);
        let found = ended.rev().find(|(p, _)| *p == place);
        let values = found.map(|(_, values)| values.clone());
        let mut out = Vec::new();
        for (name, value) in values.into_iter().flatten() {
            // The program's own `__repr__` may fail.
            let text = match self.repr(&value) {
                Ok(text) => shortened(&String::from_utf8_lossy(&text)),
                Err(_) => "<its repr() fails>".to_owned(),
            };
            out.push((name.into(), text));
        }
        out
    }
}

/// A text without its middle, if it is long.
fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= LONGEST {
        return text.to_owned();
    }
    let half = (LONGEST - 3) / 2;
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(count - half).collect();
    format!("{start}...{end}")
}
