//! What calls do to memory (RPython: `effectinfo.py`, `writeanalyze.py`): which fields and
//! arrays a function and all that it calls read and write.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_graph::Operation;
use taipan_lltype::{FuncKind, FuncSym, LLGraph, LLOp, LLOperand, LLType, LowLevel, PlainOp};

use crate::layout::{Place, Step, place_at};
use crate::program::JitProgram;
use crate::purity::{call_targets, field_name, operand_ty};
use crate::state::FieldKey;

/// Places of one kind, in whatever object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Kind {
    Field(FieldKey),
    Array(LLType),
}

/// What one call may do.
#[derive(Clone, Default, Debug)]
pub(crate) struct Touched {
    reads_anything: bool,
    writes_anything: bool,
    reads: FxHashSet<Kind>,
    writes: FxHashSet<Kind>,
}

impl Touched {
    /// What is known of calls of unknown functions.
    pub(crate) fn anything() -> Touched {
        Touched {
            reads_anything: true,
            writes_anything: true,
            ..Touched::default()
        }
    }

    fn is_anything(&self) -> bool {
        self.reads_anything && self.writes_anything
    }

    /// Whether it may write to a place of an object.
    pub(crate) fn writes(&self, place: Place) -> bool {
        self.writes_anything || kinds(place).any(|k| self.writes.contains(&k))
    }

    /// Whether it may read or write there.
    pub(crate) fn touches(&self, place: Place) -> bool {
        self.reads_anything || self.writes(place) || kinds(place).any(|k| self.reads.contains(&k))
    }

    fn add(&mut self, other: &Touched) {
        self.reads_anything |= other.reads_anything;
        self.writes_anything |= other.writes_anything;
        self.reads.extend(&other.reads);
        self.writes.extend(&other.writes);
    }
}

fn kinds(place: Place) -> impl Iterator<Item = Kind> {
    let (one, two) = match place {
        Place::Field(key) => (Some(Kind::Field(key)), None),
        Place::Item { array, field, .. } => (Some(Kind::Array(array)), field.map(Kind::Field)),
        Place::Length(_) => (None, None),
    };
    one.into_iter().chain(two)
}

/// What a function does itself, and which it calls.
struct Own {
    touched: Touched,
    callees: Vec<FuncSym>,
}

/// What calls of the functions of a program do, kept.
pub(crate) struct Touches<'p> {
    program: &'p dyn JitProgram,
    own: RefCell<FxHashMap<FuncSym, Rc<Own>>>,
    known: RefCell<FxHashMap<FuncSym, Rc<Touched>>>,
}

impl<'p> Touches<'p> {
    pub(crate) fn new(program: &'p dyn JitProgram) -> Self {
        Touches {
            program,
            own: RefCell::default(),
            known: RefCell::default(),
        }
    }

    /// What a call of a function may do.
    pub(crate) fn of(&self, f: &FuncSym) -> Rc<Touched> {
        if let Some(known) = self.known.borrow().get(f) {
            return known.clone();
        }
        let mut all = Touched::default();
        let mut seen = FxHashSet::default();
        let mut pending = VecDeque::from([f.clone()]);
        while let Some(f) = pending.pop_front() {
            if all.is_anything() || !seen.insert(f.clone()) {
                continue;
            }
            let own = self.own(&f);
            all.add(&own.touched);
            pending.extend(own.callees.iter().cloned());
        }
        if self.program.hints(f).elidable {
            // Whatever it writes is its own affair.
            all.writes.clear();
            all.writes_anything = false;
        }
        let all = Rc::new(all);
        self.known.borrow_mut().insert(f.clone(), all.clone());
        all
    }

    fn own(&self, f: &FuncSym) -> Rc<Own> {
        if let Some(own) = self.own.borrow().get(f) {
            return own.clone();
        }
        let mut own = Own {
            touched: Touched::default(),
            callees: Vec::new(),
        };
        match (self.program.graph(f), f.kind()) {
            (Some(graph), _) => {
                for b in graph.reachable() {
                    for op in &graph.block(b).operations {
                        self.operation(&graph, op, &mut own);
                    }
                }
            }
            // It neither calls back nor lets others run. The objects that it gets are
            // strings, which do not change.
            (
                None,
                FuncKind::External {
                    can_collect: false,
                    releases_gil: false,
                    ..
                },
            ) => {}
            (None, _) => own.touched = Touched::anything(),
        }
        let own = Rc::new(own);
        self.own.borrow_mut().insert(f.clone(), own.clone());
        own
    }

    fn operation(&self, graph: &LLGraph, op: &Operation<LowLevel>, own: &mut Own) {
        use PlainOp::*;
        let LLOp::Plain(p) = op.op else { return };
        match p {
            DirectCall | IndirectCall => match call_targets(op) {
                Some(targets) => own.callees.extend(targets),
                None => own.touched = Touched::anything(),
            },
            Getfield | Getarrayitem | Getinteriorfield => {
                match self.kind(graph, op, &op.args[1..]) {
                    Some(kind) => _ = own.touched.reads.insert(kind),
                    None => own.touched.reads_anything |= may_be_kept(graph, op),
                }
            }
            Setfield | BareSetfield | Setarrayitem | BareSetarrayitem | Setinteriorfield
            | BareSetinteriorfield => match self.kind(graph, op, &op.args[1..op.args.len() - 1]) {
                Some(kind) => _ = own.touched.writes.insert(kind),
                None => own.touched.writes_anything |= may_be_kept(graph, op),
            },
            GcCopyArray => {
                let array = op.args.first().and_then(|p| self.array_of(graph, p));
                match array {
                    Some(array) => {
                        own.touched.reads.insert(Kind::Array(array));
                        own.touched.writes.insert(Kind::Array(array));
                    }
                    None => own.touched = Touched::anything(),
                }
            }
            _ if crate::specialize::touches_memory(p) => own.touched = Touched::anything(),
            _ => {}
        }
    }

    /// The kind of place that an operation names.
    fn kind(
        &self,
        graph: &LLGraph,
        op: &Operation<LowLevel>,
        offsets: &[LLOperand],
    ) -> Option<Kind> {
        let container = operand_ty(graph, op.args.first()?).pointee()?;
        let steps: Vec<Step<'_>> = (offsets.iter())
            .map(|o| match field_name(Some(o)) {
                Some(name) => Step::Field(name),
                None => Step::Item(None),
            })
            .collect();
        match place_at(self.program, container, &steps, false)? {
            Place::Field(key) => Some(Kind::Field(key)),
            Place::Item { array, .. } => Some(Kind::Array(array)),
            Place::Length(_) => None,
        }
    }

    fn array_of(&self, graph: &LLGraph, pointer: &LLOperand) -> Option<LLType> {
        let container = operand_ty(graph, pointer).pointee()?;
        match container.as_struct() {
            None => container.as_array().map(|_| container),
            Some(s) => (self.program.body(s).fields.last())
                .map(|f| f.ty)
                .filter(|ty| ty.as_array().is_some()),
        }
    }
}

/// Whether facts are kept about what an operation with an unknown place works on: of raw
/// memory there are none.
fn may_be_kept(graph: &LLGraph, op: &Operation<LowLevel>) -> bool {
    (op.args.first()).is_some_and(|p| operand_ty(graph, p).is_gc_ptr())
}
