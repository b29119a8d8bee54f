//! What is noted of residual code for those who read it (`taipan jitlog`).
//!
//! Where something is noted stands an operation in the code, which generates nothing:
//!
//! ```text
//! jit_note(3)
//! v7 = malloc(...)
//! ```
//!
//! Nothing is noted, and no operation is there, unless the [`World`](crate::World) wants it.

use std::collections::BTreeMap;

use taipan_graph::{BlockId, Operation};
use taipan_lltype::{
    FuncSym, LLConst, LLOperand, LLType, LowLevel, NamedOperands, PlainOp, VOID, View,
};

use crate::residual::Residual;
use crate::specialize::{Promoted, Specializer};
use crate::state::Word;

/// What is noted at a place of residual code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Note {
    /// The merge point of a driver, with these greens.
    MergePoint {
        /// The driver's.
        portal: FuncSym,
        /// Their words.
        greens: Vec<Word>,
    },
    /// An object that existed while compiling only is made.
    Forced {
        /// Its type.
        ty: LLType,
        /// What for.
        why: String,
    },
}

/// A type in words: structs by their names.
pub fn type_name(ty: LLType) -> String {
    match (ty.as_struct(), ty.pointee()) {
        (Some(s), _) => s.name.to_string(),
        (None, Some(to)) => format!("*{}", type_name(to)),
        (None, None) => ty.to_string(),
    }
}

/// Note about a promotion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waits {
    /// The reason for the promotion.
    pub of: Promoted,
    /// Number of the green, if a green is promoted.
    pub green: Option<usize>,
    /// Timeshifted graph and instruction.
    pub(crate) at: (u32, u32),
}

/// All notes of a residual function, if somebody wants them.
#[derive(Default)]
pub(crate) struct Notes {
    all: Option<Vec<Note>>,
    /// Promotions, by the numbers of their stubs.
    promotions: BTreeMap<usize, Waits>,
    /// What comes next, and may force an object.
    why: String,
    /// The green that is promoted next.
    pub(crate) green: usize,
}

impl Notes {
    pub(crate) fn new(wanted: bool) -> Notes {
        Notes {
            all: wanted.then(Vec::new),
            ..Notes::default()
        }
    }

    pub(crate) fn promotion(&self, stub: usize) -> Option<&Waits> {
        self.promotions.get(&stub)
    }

    pub(crate) fn get(&self, number: usize) -> Option<&Note> {
        self.all.as_ref()?.get(number)
    }
}

/// Whether an operation is a note.
pub fn is_note(op: &Operation<LowLevel>) -> bool {
    op.op == PlainOp::JitNote.into()
}

/// The number of the note that an operation stands for.
pub(crate) fn note_number(op: &Operation<LowLevel>) -> Option<usize> {
    match op.view_among(&[PlainOp::JitNote])? {
        View::JitNote {
            number: LLOperand::Const(LLConst::Int(_, n)),
        } => usize::try_from(n.get()).ok(),
        _ => None,
    }
}

impl Residual {
    /// Notes something at the end of a block.
    fn note(&mut self, at: BlockId, note: Note) {
        let Some(all) = &mut self.notes.all else {
            return;
        };
        all.push(note);
        let number = LLConst::signed(all.len() as i64 - 1);
        let number = &LLOperand::Const(number);
        self.op(at, View::JitNote { number }, *VOID);
    }
}

impl Specializer<'_> {
    /// Says what comes next, if somebody wants to know.
    pub(crate) fn because(&mut self, why: impl FnOnce(&Self) -> String) {
        if self.residual.notes.all.is_some() {
            self.residual.notes.why = why(self);
        }
    }

    /// Records the promotion that a stub stands for.
    pub(crate) fn note_promotion(&mut self, stub: usize, of: Promoted) {
        let at = self.residual.here;
        let notes = &mut self.residual.notes;
        if notes.all.is_some() {
            let green = (of == Promoted::Green).then_some(notes.green);
            notes.promotions.insert(stub, Waits { of, green, at });
        }
    }

    pub(crate) fn note_merge_point(&mut self, at: BlockId, portal: &FuncSym, greens: &[Word]) {
        if self.residual.notes.all.is_some() {
            let (portal, greens) = (portal.clone(), greens.to_vec());
            self.residual.note(at, Note::MergePoint { portal, greens });
        }
    }

    /// An object of that type is made, for the reason that was given last; returns it.
    pub(crate) fn note_forced(&mut self, at: BlockId, ty: LLType) -> String {
        let why = self.residual.notes.why.clone();
        if self.residual.notes.all.is_some() {
            let why = why.clone();
            self.residual.note(at, Note::Forced { ty, why });
        }
        why
    }
}
