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
pub enum Kind {
    /// A field.
    Field(FieldKey),
    /// Items of arrays of a type.
    Array(LLType),
    /// Lists that a field owns, with arrays of this type.
    OwnList(FieldKey, LLType),
    /// Lists that any field owns, with arrays of this type.
    OwnLists(LLType),
}

impl Kind {
    /// The kind of the same lists whatever field owns them.
    fn of_any_owner(self) -> Option<Kind> {
        match self {
            Kind::OwnList(_, array) => Some(Kind::OwnLists(array)),
            Kind::Field(_) | Kind::Array(_) | Kind::OwnLists(_) => None,
        }
    }
}

/// What one call may do.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Touched {
    reads_anything: bool,
    writes_anything: bool,
    reads: Kinds,
    writes: Kinds,
}

type Kinds = IndexSet<Kind, FxBuildHasher>;

impl Touched {
    /// What is known of calls of unknown functions.
    fn anything() -> Touched {
        Touched {
            reads_anything: true,
            writes_anything: true,
            ..Touched::default()
        }
    }

    fn is_anything(&self) -> bool {
        self.reads_anything && self.writes_anything
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
                self.reads(kind);
                self.writes(kind);
            }
            None => *self = Touched::anything(),
        }
    }

    /// Adds a kind of place that it reads.
    fn reads(&mut self, kind: Kind) {
        self.reads.insert(kind);
        self.reads.extend(kind.of_any_owner());
    }

    /// Adds a kind of place that it writes.
    fn writes(&mut self, kind: Kind) {
        self.writes.insert(kind);
        self.writes.extend(kind.of_any_owner());
    }

    /// What it writes is its own affair.
    fn writes_nothing(&mut self) {
        self.writes.clear();
        self.writes_anything = false;
    }
}

/// Owner of a list that a call passes, and the type of its array of items. The effects of the callee do not name the
/// owner of an argument.
pub(crate) type PassedList = (Owner, LLType);

/// Whether a set of kinds includes a place. `owner` is that of the object, if it is a list.
fn includes(place: Place, owner: Owner, passed: &[PassedList], has: impl Fn(Kind) -> bool) -> bool {
    match place {
        Place::Field(key) => has(Kind::Field(key)),
        Place::Item { array, field, .. } => match owner {
            Owner::Field(of) => {
                let may_be_it = |l: &PassedList| l.1 == array && !l.0.differs(owner);
                has(Kind::OwnList(of.key(), array))
                    || (passed.iter().any(may_be_it) && has(Kind::Array(array)))
            }
            Owner::Elsewhere | Owner::Unknown => {
                has(Kind::Array(array))
                    || field.is_some_and(|key| has(Kind::Field(key)))
                    || (owner == Owner::Unknown && has(Kind::OwnLists(array)))
            }
        },
        Place::Length(_) => false,
    }
}

/// The effects of a function and its callees.
pub(crate) struct Effect<'p> {
    known: Rc<Known>,
    program: &'p dyn JitProgram,
}

enum Known {
    /// Computed from graphs.
    Found(Touched),
    /// From the tables of the program.
    Tabled(Arc<TouchSet>),
}

impl Known {
    fn reads_anything(&self) -> bool {
        match self {
            Known::Found(touched) => touched.reads_anything,
            Known::Tabled(set) => set.reads_anything,
        }
    }

    fn writes_anything(&self) -> bool {
        match self {
            Known::Found(touched) => touched.writes_anything,
            Known::Tabled(set) => set.writes_anything,
        }
    }
}

impl Effect<'_> {
    /// Whether a call may write to a place. `owner` is that of the object, if it is a list; `passed` are the lists among the
    /// arguments.
    pub(crate) fn writes(&self, place: Place, owner: Owner, passed: &[PassedList]) -> bool {
        let writes = |kind: Kind| match &*self.known {
            Known::Found(touched) => touched.writes.contains(&kind),
            Known::Tabled(set) => has_bit(&set.writes, self.program.touch_number(&kind)),
        };
        self.known.writes_anything() || includes(place, owner, passed, writes)
    }

    /// Whether it may read or write there.
    pub(crate) fn touches(&self, place: Place, owner: Owner, passed: &[PassedList]) -> bool {
        let reads = |kind: Kind| match &*self.known {
            Known::Found(touched) => touched.reads.contains(&kind),
            Known::Tabled(set) => has_bit(&set.reads, self.program.touch_number(&kind)),
        };
        self.known.reads_anything()
            || self.writes(place, owner, passed)
            || includes(place, owner, passed, reads)
    }

    /// Whether it may write to any place at all.
    pub(crate) fn writes_something(&self) -> bool {
        self.known.writes_anything()
            || match &*self.known {
                Known::Found(touched) => !touched.writes.is_empty(),
                Known::Tabled(set) => set.writes.iter().any(|w| *w != 0),
            }
    }

    fn reads_something(&self) -> bool {
        self.known.reads_anything()
            || match &*self.known {
                Known::Found(touched) => !touched.reads.is_empty(),
                Known::Tabled(set) => set.reads.iter().any(|w| *w != 0),
            }
    }
}

fn has_bit(bits: &[u64], number: Option<u32>) -> bool {
    number.is_some_and(|n| {
        let word = bits.get(n as usize / 64);
        word.is_some_and(|w| w >> (n % 64) & 1 != 0)
    })
}

/// Whether a field of that kind seldom changes.
fn seldom_changes(program: &dyn Program, kind: &Kind) -> bool {
    let Kind::Field((ty, index)) = kind else {
        return false;
    };
    ty.as_struct().is_some_and(|s| {
        let body = program.body(s);
        let name = body.fields.get(*index).map(|f| &f.name);
        name.is_some_and(|name| body.quasi_immutable.contains(name))
    })
}

/// What a function does to memory itself, and which functions it calls.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct OwnTouches {
    touched: Touched,
    callees: Vec<FuncSym>,
    /// The effects of the function and its callees, from the tables of the program.
    tabled: Option<Arc<TouchSet>>,
}

impl OwnTouches {
    /// What a function does of which nothing is known.
    pub fn anything() -> OwnTouches {
        OwnTouches {
            touched: Touched::anything(),
            ..OwnTouches::default()
        }
    }

    /// The effects of a function and its callees, from the tables of a program.
    pub fn tabled(set: TouchSet) -> OwnTouches {
        OwnTouches {
            tabled: Some(Arc::new(set)),
            ..OwnTouches::default()
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
    known: RefCell<FxHashMap<FuncSym, Rc<Known>>>,
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
        let may = match &*self.of(f).known {
            Known::Found(touched) => {
                let mut writes = touched.writes.iter();
                touched.writes_anything || writes.any(|k| seldom_changes(self.program, k))
            }
            Known::Tabled(set) => set.invalidates,
        };
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
        [touched.reads_something(), touched.writes_something()]
    }

    /// What a call of a function may do.
    pub(crate) fn of(&self, f: &FuncSym) -> Effect<'p> {
        let program = self.program;
        if let Some(known) = self.known.borrow().get(f) {
            let known = known.clone();
            return Effect { known, program };
        }
        let known = Rc::new(match &program.touches(f).tabled {
            Some(set) => Known::Tabled(set.clone()),
            None => Known::Found(self.found(f)),
        });
        self.known.borrow_mut().insert(f.clone(), known.clone());
        Effect { known, program }
    }

    fn found(&self, f: &FuncSym) -> Touched {
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
    /// They may write a field that seldom changes.
    invalidates: bool,
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
                invalidates: false,
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
        let seldom = kinds.iter().enumerate();
        let seldom = seldom.filter(|(_, kind)| seldom_changes(program, kind));
        let seldom: Vec<u32> = seldom.map(|(number, _)| number as u32).collect();
        let mut distinct: IndexSet<TouchSet> = IndexSet::new();
        let of = functions.into_iter().filter_map(|f| {
            let mut set = sets[order.get_index_of(&f)?].clone();
            if program.hints(&f).elidable {
                set.writes_anything = false;
                set.writes.clear();
            }
            let writes = |n: &u32| has_bit(&set.writes, Some(*n));
            set.invalidates = set.writes_anything || seldom.iter().any(writes);
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
    /// Each with its number.
    pub fn numbered(&self) -> impl Iterator<Item = (Kind, u32)> {
        self.0.iter().copied().zip(0..)
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
                (Some(kind), None) => touched.reads(kind),
                (Some(kind), Some(_)) => touched.writes(kind),
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
                            Some(kind) if !writes => own.touched.reads(kind),
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

    /// The kind of the items of a list.
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
