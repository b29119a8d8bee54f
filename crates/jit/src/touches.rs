//! What calls do to memory (RPython: `effectinfo.py`, `writeanalyze.py`): which fields and
//! arrays a function and all that it calls read and write.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use taipan_graph::{Operation, VarId};
use taipan_lltype::{
    ConstantOperand, FuncKind, FuncSym, LLGraph, LLOp, LLOperand, LLType, LowLevel, NamedOperands,
    Program, View,
};

use crate::layout::{Index, Place, Step, place_at};
use crate::own_lists::{call_writes, items_of, own_lists};
use crate::program::JitProgram;
use crate::purity::{call_targets, operand_ty, pointee};
use crate::state::{FieldKey, Owner};

/// Places of one kind, in whatever object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
enum Kind {
    Field(FieldKey),
    Array(LLType),
    /// Lists that a field owns, with arrays of this type.
    OwnList(FieldKey, LLType),
}

/// What one call may do.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Touched {
    reads_anything: bool,
    writes_anything: bool,
    reads: Kinds,
    writes: Kinds,
}

type Kinds = IndexSet<Kind, FxBuildHasher>;

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

    /// Whether it may write to a place of an object, which is a list of that owner if it is one. `passed` are the lists
    /// that are passed to it.
    pub(crate) fn writes(&self, place: Place, owner: Owner, passed: &[PassedList]) -> bool {
        self.writes_anything || includes(&self.writes, place, owner, passed)
    }

    /// Whether it may write to any place at all.
    pub(crate) fn writes_something(&self) -> bool {
        self.writes_anything || !self.writes.is_empty()
    }

    /// Whether it may read or write there.
    pub(crate) fn touches(&self, place: Place, owner: Owner, passed: &[PassedList]) -> bool {
        self.reads_anything
            || self.writes(place, owner, passed)
            || includes(&self.reads, place, owner, passed)
    }

    fn add(&mut self, other: &Touched) {
        self.reads_anything |= other.reads_anything;
        self.writes_anything |= other.writes_anything;
        self.reads.extend(&other.reads);
        self.writes.extend(&other.writes);
    }

    /// Adds a kind of place that it reads and writes; any place, if that is not known.
    fn adds(&mut self, kind: Option<Kind>) {
        match kind {
            Some(kind) => {
                self.reads.insert(kind);
                self.writes.insert(kind);
            }
            None => *self = Touched::anything(),
        }
    }

    /// What it writes is its own affair.
    fn writes_nothing(&mut self) {
        self.writes.clear();
        self.writes_anything = false;
    }
}

/// A list that a call passes: its owner, and the type of its array of items. A function does not know the owner of an
/// argument.
pub(crate) type PassedList = (Owner, LLType);

/// Whether a place of an object is of one of these kinds.
fn includes(kinds: &Kinds, place: Place, owner: Owner, passed: &[PassedList]) -> bool {
    match place {
        Place::Field(key) => kinds.contains(&Kind::Field(key)),
        Place::Item { array, field, .. } => match owner {
            Owner::Field(key) => {
                let may_be_it = |l: &PassedList| l.1 == array && !l.0.differs(owner);
                kinds.contains(&Kind::OwnList(key, array))
                    || (kinds.contains(&Kind::Array(array)) && passed.iter().any(may_be_it))
            }
            Owner::Elsewhere | Owner::Unknown => {
                let of_field = |k: &Kind| matches!(k, Kind::OwnList(_, a) if *a == array);
                kinds.contains(&Kind::Array(array))
                    || field.is_some_and(|key| kinds.contains(&Kind::Field(key)))
                    || (owner == Owner::Unknown && kinds.iter().any(of_field))
            }
        },
        Place::Length(_) => false,
    }
}

/// What a function does to memory itself, and which functions it calls.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct OwnTouches {
    touched: Touched,
    callees: Vec<FuncSym>,
}

impl OwnTouches {
    /// What a function does of which nothing is known.
    pub fn anything() -> OwnTouches {
        OwnTouches {
            touched: Touched::anything(),
            callees: Vec::new(),
        }
    }

    /// What a function with that graph does; what one without any does tells its name.
    pub fn new(program: &dyn Program, f: &FuncSym, graph: Option<&LLGraph>) -> OwnTouches {
        let mut own = OwnTouches::default();
        match (graph, f.kind()) {
            (Some(graph), _) => {
                let Some(own_lists) = own_lists(program, graph) else {
                    return OwnTouches::anything();
                };
                let reader = Reader {
                    program,
                    graph,
                    own_lists,
                };
                for b in graph.reachable() {
                    for op in &graph.block(b).operations {
                        reader.operation(op, &mut own);
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
        own
    }
}

/// What calls of the functions of a program do, kept.
pub struct Touches<'p> {
    program: &'p dyn JitProgram,
    known: RefCell<FxHashMap<FuncSym, Rc<Touched>>>,
    /// Which of them may write a field that seldom changes.
    invalidating: RefCell<FxHashMap<FuncSym, bool>>,
}

impl<'p> Touches<'p> {
    /// Nothing is kept yet.
    pub fn new(program: &'p dyn JitProgram) -> Self {
        Touches {
            program,
            known: RefCell::default(),
            invalidating: RefCell::default(),
        }
    }

    /// Whether a call of a function may write a field that seldom changes (RPython:
    /// `QuasiImmutAnalyzer`).
    pub(crate) fn may_invalidate(&self, f: &FuncSym) -> bool {
        if let Some(known) = self.invalidating.borrow().get(f) {
            return *known;
        }
        let touched = self.of(f);
        let seldom_changes = |kind: &Kind| match kind {
            Kind::Field((ty, index)) => ty.as_struct().is_some_and(|s| {
                let body = self.program.body(s);
                let name = body.fields.get(*index).map(|f| &f.name);
                name.is_some_and(|name| body.quasi_immutable.contains(name))
            }),
            Kind::Array(_) | Kind::OwnList(..) => false,
        };
        let may = touched.writes_anything || touched.writes.iter().any(seldom_changes);
        self.invalidating.borrow_mut().insert(f.clone(), may);
        may
    }

    /// Whether a call of a function may read, and whether it may write, a field of a struct type,
    /// or items of an array type if no field is given.
    pub fn part(&self, f: &FuncSym, container: LLType, field: Option<&str>) -> [bool; 2] {
        let touched = self.of(f);
        let step = field.map_or(Step::Item(Index::Unknown), Step::Field);
        match place_at(self.program, container, &[step], false) {
            Some(place) => [
                touched.touches(place, Owner::Unknown, &[]),
                touched.writes(place, Owner::Unknown, &[]),
            ],
            None => self.any(f),
        }
    }

    /// Whether a call of a function may read, and whether it may write, anything.
    pub fn any(&self, f: &FuncSym) -> [bool; 2] {
        let touched = self.of(f);
        let reads = touched.reads_anything || !touched.reads.is_empty();
        [reads, touched.writes_something()]
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
            let own = self.program.touches(&f);
            all.add(&own.touched);
            pending.extend(own.callees.iter().cloned());
        }
        if self.program.hints(f).elidable {
            all.writes_nothing();
        }
        let all = Rc::new(all);
        self.known.borrow_mut().insert(f.clone(), all.clone());
        all
    }
}

/// What calls of functions do, for programs that are known by tables. Its parts can be written
/// and read.
#[derive(Clone, Debug, Default)]
pub struct TouchTable {
    /// What the sets are about.
    pub kinds: TouchKinds,
    /// What several functions do alike stands here once.
    pub sets: Vec<TouchSet>,
    /// The number of each function's set.
    pub functions: FxHashMap<FuncSym, u32>,
}

/// The kinds of places that the sets of a [`TouchTable`] are about.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TouchKinds(Vec<Kind>);

/// What calls of some functions do, with all that they call.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
pub struct TouchSet {
    reads_anything: bool,
    writes_anything: bool,
    reads: Vec<u64>,
    writes: Vec<u64>,
}

impl TouchTable {
    /// That of these functions of a program.
    pub fn new<'f>(
        program: &dyn JitProgram,
        functions: impl Iterator<Item = &'f FuncSym>,
    ) -> TouchTable {
        let functions: Vec<FuncSym> = functions.cloned().collect();
        let (order, own) = callees_first(program, &functions);
        let mut kinds = Kinds::default();
        let mut sets: Vec<TouchSet> = Vec::new();
        for o in &own {
            sets.push(TouchSet {
                reads_anything: o.touched.reads_anything,
                writes_anything: o.touched.writes_anything,
                reads: bits(&o.touched.reads, &mut kinds),
                writes: bits(&o.touched.writes, &mut kinds),
            });
        }
        let callees: Vec<Vec<usize>> = (own.iter())
            .map(|o| o.callees.iter().filter_map(|f| order.get_index_of(f)))
            .map(Iterator::collect)
            .collect();
        let mut changed = true;
        while changed {
            changed = false;
            for (i, callees) in callees.iter().enumerate() {
                for callee in callees {
                    if *callee != i {
                        let other = sets[*callee].clone();
                        changed |= sets[i].add(&other);
                    }
                }
            }
        }
        let mut distinct: IndexSet<TouchSet> = IndexSet::new();
        let of = functions.into_iter().filter_map(|f| {
            let mut set = sets[order.get_index_of(&f)?].clone();
            if program.hints(&f).elidable {
                set.writes_anything = false;
                set.writes.clear();
            }
            Some((f, distinct.insert_full(set).0 as u32))
        });
        TouchTable {
            functions: of.collect(),
            kinds: TouchKinds(kinds.into_iter().collect()),
            sets: distinct.into_iter().collect(),
        }
    }
}

impl TouchKinds {
    fn of(&self, bits: &[u64]) -> Kinds {
        let is_set = |i: &usize| bits.get(i / 64).is_some_and(|w| w >> (i % 64) & 1 != 0);
        let set = (0..self.0.len()).filter(is_set);
        set.map(|i| self.0[i]).collect()
    }
}

fn bits(set: &Kinds, all: &mut Kinds) -> Vec<u64> {
    let mut bits = Vec::new();
    for kind in set {
        let at = all.insert_full(*kind).0;
        if bits.len() <= at / 64 {
            bits.resize(at / 64 + 1, 0);
        }
        bits[at / 64] |= 1 << (at % 64);
    }
    bits
}

impl TouchSet {
    /// The same as a function's own touches: there are no callees to look at.
    pub fn touches(&self, kinds: &TouchKinds) -> OwnTouches {
        OwnTouches {
            touched: Touched {
                reads_anything: self.reads_anything,
                writes_anything: self.writes_anything,
                reads: kinds.of(&self.reads),
                writes: kinds.of(&self.writes),
            },
            callees: Vec::new(),
        }
    }

    /// Adds another one; whether that changed anything.
    fn add(&mut self, other: &TouchSet) -> bool {
        let before = (self.reads_anything, self.writes_anything);
        self.reads_anything |= other.reads_anything;
        self.writes_anything |= other.writes_anything;
        let mut changed = before != (self.reads_anything, self.writes_anything);
        for (mine, others) in [
            (&mut self.reads, &other.reads),
            (&mut self.writes, &other.writes),
        ] {
            if mine.len() < others.len() {
                mine.resize(others.len(), 0);
            }
            for (mine, other) in mine.iter_mut().zip(others) {
                changed |= *other & !*mine != 0;
                *mine |= other;
            }
        }
        changed
    }
}

/// All functions that these reach, most of them after those that they call, and what each
/// does itself.
fn callees_first(
    program: &dyn JitProgram,
    functions: &[FuncSym],
) -> (IndexSet<FuncSym>, Vec<Arc<OwnTouches>>) {
    let mut order = IndexSet::new();
    let mut all = Vec::new();
    let mut seen = FxHashSet::default();
    for f in functions {
        // Functions in progress, and how many of their callees were looked at.
        let mut stack: Vec<(FuncSym, Arc<OwnTouches>, usize)> = Vec::new();
        if seen.insert(f.clone()) {
            stack.push((f.clone(), program.touches(f), 0));
        }
        while let Some((_, own, next)) = stack.last_mut() {
            match own.callees.get(*next).cloned() {
                Some(callee) => {
                    *next += 1;
                    if seen.insert(callee.clone()) {
                        let own = program.touches(&callee);
                        stack.push((callee, own, 0));
                    }
                }
                None => {
                    if let Some((f, own, _)) = stack.pop() {
                        order.insert(f);
                        all.push(own);
                    }
                }
            }
        }
    }
    (order, all)
}

/// A graph that is read.
struct Reader<'a> {
    program: &'a dyn Program,
    graph: &'a LLGraph,
    /// The variables with lists that a field owns, and that field.
    own_lists: FxHashMap<VarId, FieldKey>,
}

impl Reader<'_> {
    fn operation(&self, op: &Operation<LowLevel>, own: &mut OwnTouches) {
        let LLOp::Plain(p) = op.op else { return };
        let view = op.view();
        if let Some(access) = view.access() {
            let touched = &mut own.touched;
            let kept = || operand_ty(self.graph, access.object).is_gc_ptr();
            match (self.kind(access.object, access.path), access.stored) {
                (Some(kind), None) => _ = touched.reads.insert(kind),
                (Some(kind), Some(_)) => _ = touched.writes.insert(kind),
                // Of raw memory no facts are kept.
                (None, None) => touched.reads_anything |= kept(),
                (None, Some(_)) => touched.writes_anything |= kept(),
            }
            return;
        }
        match view {
            View::DirectCall { .. } | View::IndirectCall { .. } => match call_targets(op) {
                Some(targets) => {
                    own.callees.extend(targets);
                    // What is called takes them for any other lists.
                    let mut lists = op
                        .args
                        .iter()
                        .filter(|o| self.owner(o).is_some())
                        .peekable();
                    if lists.peek().is_none() {
                        return;
                    }
                    let is_own = |o: &LLOperand| self.owner(o).is_some();
                    let writes = call_writes(self.program, self.graph, op, &is_own);
                    for list in lists {
                        match self.items_kind(list) {
                            Some(kind) if !writes => _ = own.touched.reads.insert(kind),
                            kind => own.touched.adds(kind),
                        }
                    }
                }
                None => own.touched = Touched::anything(),
            },
            View::GcCopyArray { source, dest, .. } => {
                for list in [source, dest] {
                    own.touched.adds(self.items_kind(list));
                }
            }
            _ if crate::specialize::touches_memory(p) => own.touched = Touched::anything(),
            _ => {}
        }
    }

    /// The field that owns the list of an operand.
    fn owner(&self, o: &LLOperand) -> Option<FieldKey> {
        self.own_lists.get(&o.as_var()?).copied()
    }

    /// What the items of a list are.
    fn items_kind(&self, list: &LLOperand) -> Option<Kind> {
        let array = self.array_of(list)?;
        Some(match self.owner(list) {
            Some(key) => Kind::OwnList(key, array),
            None => Kind::Array(array),
        })
    }

    /// The kind of place that a path leads to.
    fn kind(&self, object: &LLOperand, path: &[LLOperand]) -> Option<Kind> {
        let container = pointee(self.graph, object)?;
        let steps: Vec<Step<'_>> = (path.iter())
            .map(|o| match o.as_field() {
                Some(name) => Step::Field(name),
                None => Step::Item(Index::Unknown),
            })
            .collect();
        match place_at(self.program, container, &steps, false)? {
            Place::Field(key) => Some(Kind::Field(key)),
            Place::Item { array, .. } => Some(match self.owner(object) {
                Some(key) => Kind::OwnList(key, array),
                None => Kind::Array(array),
            }),
            Place::Length(_) => None,
        }
    }

    fn array_of(&self, pointer: &LLOperand) -> Option<LLType> {
        let container = operand_ty(self.graph, pointer).pointee()?;
        if let Some(array) = items_of(container) {
            return Some(array);
        }
        match container.as_struct() {
            None => container.as_array().map(|_| container),
            Some(s) => (self.program.body(s).fields.last())
                .map(|f| f.ty)
                .filter(|ty| ty.as_array().is_some()),
        }
    }
}
