//! Keys for merging states: the position of a state in the interpreted program.
//!
//! In an interpreter of bytecode, the greens of the last merge point are that position. In an interpreter of syntax trees, part
//! of it is in the frames of the interpreter's functions: the node of each, and the counter of an unrolled loop over children.

use rustc_hash::FxHashMap;

use super::Specializer;
use crate::state::{BoxId, Frame, JitState, Val, Word};

/// The places of all functions, the greens of the last merge points, and known values.
pub(super) type FlatKey = (Vec<(u32, u32, u32, bool)>, Vec<Word>);

/// Maximum number of positions in the interpreted program that are kept apart at the same places of functions.
const MOST_POSITIONS: u32 = 100;

/// Number of positions by places of functions.
pub(super) type Positions = FxHashMap<FlatKey, u32>;

impl Specializer<'_> {
    /// The key of a state for merging inside functions: places, greens and the position in the interpreted program. Without
    /// the position if these places have [`MOST_POSITIONS`] already, or the residual function is full.
    pub(super) fn flat_key(&mut self, state: &JitState) -> FlatKey {
        let key = self.key_of_places(state);
        if !self.of_driver || self.is_full() {
            return key;
        }
        let position = self.position(state);
        if position.is_empty() {
            return key;
        }
        let mut positioned = key.clone();
        positioned.1.extend(position);
        if !self.flat_seen.contains_key(&positioned) {
            let count = self.positions.entry(key.clone()).or_default();
            if *count >= MOST_POSITIONS {
                return key;
            }
            *count += 1;
        }
        positioned
    }

    /// The known values of frames: nodes of the interpreted program, and counters of unrolled loops. All nodes of a class
    /// share the places of the functions that evaluate them. A merge of two positions would lose both nodes, and everything
    /// below them would be interpreted by residual code.
    ///
    /// Numbers of the innermost function belong to the position at the head of a loop only, and only if the loop has no branch
    /// that is decided at run time. Otherwise its number of rounds may be unknown, and each round would be a position.
    fn position(&self, state: &JitState) -> Vec<Word> {
        let mut words = Vec::new();
        let Some((innermost, callers)) = state.frames.split_last() else {
            return words;
        };
        let counts = self.is_head(innermost) && !innermost.decides;
        let known = |b: BoxId, all: bool| {
            let counts = all || state.get(b).ty.is_gc_ptr();
            state.known(b).filter(|w| *w != 0 && counts)
        };
        let mut add = |frame: &Frame, all: bool| {
            for (slot, value) in frame.values.iter() {
                let Val::Red(b) = value else {
                    continue;
                };
                words.extend(
                    known(b, all)
                        .into_iter()
                        .flat_map(|w| [Word::from(slot), w]),
                );
                // Iterators have their counters in them.
                let parts = state.parts_of_helper(b).iter().zip(0..);
                for (part, number) in parts {
                    let w = known(*part, all).into_iter();
                    words.extend(w.flat_map(|w| [Word::from(slot), -1 - number, w]));
                }
            }
        };
        add(innermost, counts);
        callers.iter().for_each(|f| add(f, true));
        words
    }

    /// Whether a frame is at the head of a loop.
    pub(super) fn is_head(&self, frame: &Frame) -> bool {
        self.graphs[frame.code as usize].blocks[frame.block as usize].is_head
    }

    fn key_of_places(&self, state: &JitState) -> FlatKey {
        let (places, mut greens) = where_frames_are(state);
        greens.extend(state.version.map(|b| Word::from(b.0)));
        for f in &state.frames {
            let slots = &self.graphs[f.code as usize].slots;
            for (slot, v) in f.values.iter() {
                if let (Val::Green(w), false) = (v, slots[slot as usize].ty.is_void()) {
                    greens.push(w);
                }
            }
        }
        (places, greens)
    }
}

/// The places of all functions of a state, and the greens of their last merge points.
pub(super) fn where_frames_are(state: &JitState) -> FlatKey {
    let places = (state.frames.iter()).map(|f| (f.code, f.block, f.op, f.closes));
    let greens = state
        .frames
        .iter()
        .filter_map(|f| f.greens.as_deref())
        .flatten()
        .copied();
    (places.collect(), greens.collect())
}
