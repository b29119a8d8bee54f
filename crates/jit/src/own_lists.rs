//! Which lists belong to one field of one object (RPython: `vable_array_vars` of `jtransform.py` for
//! virtualizables; for other classes there is no counterpart).
//!
//! A field of a class owns its lists if every list stored there is new, and every list read
//! from there is only used for access to its items and length:
//!
//! ```text
//! self.stack = [None] * size      ; fine: new, and not used any more here
//! w = self.stack[i]               ; fine
//! self.stack.append(w)            ; fine: a list that grows owns its array of items
//! self.stack = stack              ; an argument: somebody else has it
//! args = self.stack               ; fine, as long as only items of it are asked for
//! for w in self.stack: ...        ; fine
//! return self.stack               ; somebody else gets it
//! ```
//!
//! Then a write to an item of such a list changes no other list, and the other way round. This module looks at one
//! function; the driver unites the results.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use taipan_graph::{BlockId, ObjId, Operation, VarId};
use taipan_lltype::{
    FuncSym, LLConst, LLGraph, LLOperand, LLType, LowLevel, NamedOperands, Program, SIGNED,
    StaticSym, StaticValue, StructBody, StructId, View,
};

use crate::purity::{field_of, handed_on, operand_ty};
use crate::state::FieldKey;

/// Maximum depth of calls that pass a list. A field whose lists are passed deeper owns none.
const MOST_DEPTH: u32 = 32;

/// Maximum number of summaries that are computed for one graph. Beyond it the fields of the graph own no lists.
const MOST_SUMMARIES: usize = 4_000;

/// A field of a class with lists.
pub type ListField = (ObjId, Arc<str>);

/// A property of a function whose arguments at the positions `passed` are lists of one field.
#[derive(Clone, PartialEq, Eq, Hash)]
struct SummaryKey {
    property: Property,
    function: FuncSym,
    passed: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Property {
    /// [`Followed::returns_one`]
    Returns,
    /// [`Followed::stays_here`]
    Stays,
    /// [`Followed::returns_new`]
    ReturnsNew,
    /// [`Followed::call_writes`]
    Writes,
}

impl Property {
    /// The assumption at a recursive call. `Stays` is a greatest fixpoint, the others are least fixpoints.
    fn assumption(self) -> bool {
        self == Property::Stays
    }
}

/// Function summaries, computed on demand for the callees of one graph.
#[derive(Default)]
struct Summaries {
    /// None while the summary is being computed.
    known: RefCell<FxHashMap<SummaryKey, Option<bool>>>,
    /// The current computation has used an assumption about a recursive call.
    assumed: Cell<bool>,
    computed: Cell<usize>,
}

impl Summaries {
    /// Returns the summary, computed by `compute` if it is not known. A result that equals its own assumption and depends on
    /// an assumption is provisional, and is not kept.
    fn of(&self, key: SummaryKey, compute: impl FnOnce() -> bool) -> bool {
        let assumption = key.property.assumption();
        match self.known.borrow().get(&key) {
            Some(Some(known)) => return *known,
            Some(None) => {
                self.assumed.set(true);
                return assumption;
            }
            None => {}
        }
        self.computed.set(self.computed.get() + 1);
        if self.is_exhausted() {
            return assumption;
        }
        self.known.borrow_mut().insert(key.clone(), None);
        let before = self.assumed.replace(false);
        let found = compute();
        let mut known = self.known.borrow_mut();
        match found == assumption && self.assumed.get() {
            true => known.remove(&key),
            false => known.insert(key, Some(found)),
        };
        self.assumed.set(before || self.assumed.get());
        found
    }

    /// Whether a limit was exceeded. Summaries are meaningless then.
    fn is_exhausted(&self) -> bool {
        self.computed.get() > MOST_SUMMARIES
    }

    fn exhaust(&self) {
        self.computed.set(MOST_SUMMARIES + 1);
    }
}

/// A graph in which lists are followed.
#[derive(Clone, Copy)]
struct Followed<'a> {
    program: &'a dyn Program,
    graph: &'a LLGraph,
    summaries: &'a Summaries,
    /// Number of calls between the first graph and this one.
    depth: u32,
}

/// The variables of a graph that hold lists of one field, or the array of items or an iterator of one.
type Held = FxHashSet<VarId>;

fn holds(held: &Held, o: &LLOperand) -> bool {
    o.as_var().is_some_and(|v| held.contains(&v))
}

/// The fields of a class that may own lists: those that hold a pointer to a list.
pub fn list_fields(body: &StructBody) -> impl Iterator<Item = &Arc<str>> {
    let fields = body.fields.iter();
    let fields = fields.filter(|f| f.ty.pointee().and_then(LLType::list_items).is_some());
    fields.map(|f| &f.name)
}

/// The fields whose lists a function shares with others. `program` has the graphs of its callees, as the RTyper
/// made them.
pub fn leaked_lists(program: &dyn Program, graph: &LLGraph) -> BTreeSet<ListField> {
    let summaries = Summaries::default();
    let whole = Followed::new(program, graph, &summaries);
    let mut stored: Vec<ListField> = Vec::new();
    let mut leaked = BTreeSet::new();
    let mut read: FxHashMap<VarId, ListField> = FxHashMap::default();
    for b in graph.reachable() {
        for (i, op) in graph.block(b).operations.iter().enumerate() {
            match op.view() {
                View::Getfield { object, field } => {
                    if let Some(list) = whole.list_field(object, field) {
                        read.insert(op.result, list);
                    }
                }
                View::Setfield {
                    object,
                    field,
                    value,
                }
                | View::BareSetfield {
                    object,
                    field,
                    value,
                } => {
                    if let Some(list) = whole.list_field(object, field) {
                        if !leaked.contains(&list) && !whole.is_new((b, i), value) {
                            leaked.insert(list.clone());
                        }
                        stored.push(list);
                    }
                }
                _ => {}
            }
        }
    }
    let fields: BTreeSet<ListField> = read.values().cloned().collect();
    for field in fields {
        let of_field = read.iter().filter(|r| *r.1 == field);
        if !whole.stays_here(of_field.map(|r| *r.0).collect()) {
            leaked.insert(field);
        }
    }
    if summaries.is_exhausted() {
        leaked.extend(read.into_values().chain(stored));
    }
    leaked
}

/// The fields of a prebuilt object that hold lists with items: other prebuilt objects may hold the same lists.
pub fn prebuilt_lists(program: &dyn Program, object: &StaticSym) -> BTreeSet<ListField> {
    let data = program.static_data(object);
    let mut all = BTreeSet::new();
    let mut next = Some((data.ty, &data.value));
    while let Some((ty, value)) = next {
        let Some(s) = ty.as_struct() else { break };
        let StructId::Instance(class) = s.id else {
            break;
        };
        let body = program.body(s);
        let StaticValue::Struct(values) = value else {
            break;
        };
        let lists: FxHashSet<&Arc<str>> = list_fields(&body).collect();
        for (field, value) in body.fields.iter().zip(values) {
            let is_shared = match value {
                StaticValue::Const(c) => !has_no_items(program, c),
                _ => true,
            };
            if is_shared && lists.contains(&field.name) {
                all.insert((class, field.name.clone()));
            }
        }
        next = body.fields.first().map(|f| f.ty).zip(values.first());
    }
    all
}

/// The variables of a graph that hold an owned list, its array of items or an iterator, each with the owning field. None
/// if a limit of the analysis is exceeded.
pub(crate) fn own_lists(
    program: &dyn Program,
    graph: &LLGraph,
) -> Option<FxHashMap<VarId, FieldKey>> {
    let summaries = Summaries::default();
    let whole = Followed::new(program, graph, &summaries);
    let mut read: IndexMap<FieldKey, Held, FxBuildHasher> = IndexMap::default();
    for b in graph.reachable() {
        for op in &graph.block(b).operations {
            if let View::Getfield { object, field } = op.view()
                && let Some((container, name)) = field_of(graph, object, field)
                && let Some(key) = own_field(program, container, name)
            {
                read.entry(key).or_default().insert(op.result);
            }
        }
    }
    let mut all = FxHashMap::default();
    for (key, mut held) in read {
        whole.spread(&mut held);
        all.extend(held.into_iter().map(|v| (v, key)));
    }
    (!summaries.is_exhausted()).then_some(all)
}

/// The key of a field that owns its lists.
fn own_field(program: &dyn Program, container: LLType, name: &str) -> Option<FieldKey> {
    let body = program.body(container.as_struct()?);
    body.own_lists.iter().find(|n| &***n == name)?;
    let at = body.fields.iter().position(|f| &*f.name == name)?;
    Some((container, at))
}

/// Whether a call that passes such lists may write items of them.
pub(crate) fn call_writes(
    program: &dyn Program,
    graph: &LLGraph,
    op: &Operation<LowLevel>,
    passed: &dyn Fn(&LLOperand) -> bool,
) -> bool {
    let summaries = Summaries::default();
    let whole = Followed::new(program, graph, &summaries);
    whole.call_writes(op, passed) || summaries.is_exhausted()
}

/// The callee of a call that passes lists of one field.
struct Called {
    function: FuncSym,
    graph: Arc<LLGraph>,
    /// Positions of the arguments that are such lists.
    passed: Vec<usize>,
}

impl Called {
    /// The callee of a direct call. None for other operations, and if no argument is such a list.
    fn by(
        program: &dyn Program,
        op: &Operation<LowLevel>,
        is_passed: &dyn Fn(&LLOperand) -> bool,
    ) -> Option<Called> {
        let View::DirectCall {
            callee: LLOperand::Const(LLConst::Func(f)),
            args,
        } = op.view()
        else {
            return None;
        };
        let passed = args.iter().enumerate().filter(|(_, a)| is_passed(a));
        let passed: Vec<usize> = passed.map(|(i, _)| i).collect();
        if passed.is_empty() {
            return None;
        }
        let graph = program.graph(f).filter(|g| g.args().len() == args.len())?;
        Some(Called {
            function: f.clone(),
            graph,
            passed,
        })
    }

    /// The parameters that hold the lists.
    fn sources(&self) -> Held {
        let args = self.graph.args();
        self.passed.iter().map(|i| args[*i]).collect()
    }

    fn key(&self, property: Property) -> SummaryKey {
        SummaryKey {
            property,
            function: self.function.clone(),
            passed: self.passed.clone(),
        }
    }
}

fn is_null(o: &LLOperand) -> bool {
    matches!(o, LLOperand::Const(LLConst::Null(_)))
}

/// Whether a constant is null or an array without items. Several fields may share it, since no write changes it.
fn has_no_items(program: &dyn Program, c: &LLConst) -> bool {
    match c {
        LLConst::Null(_) => true,
        LLConst::Static(sym, ty) if ty.pointee().is_some_and(|t| t.as_array().is_some()) => {
            matches!(&program.static_data(sym).value, StaticValue::Array(items) if items.is_empty())
        }
        _ => false,
    }
}

/// The array type of the items of a list or of an iterator over one.
pub(crate) fn items_of(ty: LLType) -> Option<LLType> {
    ty.list_items().or_else(|| iterated(ty)?.list_items())
}

/// The type of the list that an iterator is over: a struct of the RTyper with a list and a number.
fn iterated(ty: LLType) -> Option<LLType> {
    let StructId::Inline(body) = &ty.as_struct()?.id else {
        return None;
    };
    match &body.fields[..] {
        [list, index] if index.ty == *SIGNED => list.ty.pointee().filter(|t| is_list_ty(*t)),
        _ => None,
    }
}

impl<'a> Followed<'a> {
    fn new(program: &'a dyn Program, graph: &'a LLGraph, summaries: &'a Summaries) -> Self {
        Followed {
            program,
            graph,
            summaries,
            depth: 0,
        }
    }

    /// Continues in the graph of a callee.
    fn callee<'b>(&self, graph: &'b LLGraph) -> Followed<'b>
    where
        'a: 'b,
    {
        if self.depth == MOST_DEPTH {
            self.summaries.exhaust();
        }
        Followed {
            graph,
            depth: self.depth + 1,
            ..*self
        }
    }

    /// The summary of a callee.
    fn summary(
        &self,
        key: SummaryKey,
        graph: &LLGraph,
        compute: impl FnOnce(Followed<'_>) -> bool,
    ) -> bool {
        self.summaries.of(key, || compute(self.callee(graph)))
    }

    /// The accessed field, if it holds lists.
    fn list_field(&self, object: &LLOperand, field: &LLOperand) -> Option<ListField> {
        let (container, name) = field_of(self.graph, object, field)?;
        let s = container.as_struct()?;
        let StructId::Instance(class) = s.id else {
            return None;
        };
        let body = self.program.body(s);
        let name = list_fields(&body).find(|n| &***n == name)?;
        Some((class, name.clone()))
    }

    /// Extends the set to the variables that these values flow to, through calls as well, and to arrays of items and
    /// iterators.
    fn spread(&self, held: &mut Held) {
        let graph = self.graph;
        let order = graph.reachable();
        loop {
            let before = held.len();
            for b in &order {
                let block = graph.block(*b);
                for op in &block.operations {
                    if !op.args.iter().any(|o| holds(held, o)) {
                        continue;
                    }
                    let same = match op.view() {
                        View::Getfield { object, .. } => {
                            holds(held, object) && graph.ty(op.result).is_gc_ptr()
                        }
                        View::Setfield { object, value, .. } => {
                            if let Some(v) = object.as_var()
                                && holds(held, value)
                                && self.is_iterator(object)
                            {
                                held.insert(v);
                            }
                            false
                        }
                        _ => match Called::by(self.program, op, &|o| holds(held, o)) {
                            Some(called) => self.returns_one(&called),
                            None => handed_on(op).is_some_and(|o| holds(held, o)),
                        },
                    };
                    if same {
                        held.insert(op.result);
                    }
                }
                for link in &block.exits {
                    let inputs = &graph.block(link.target).inputargs;
                    for (arg, input) in link.args.iter().zip(inputs) {
                        if holds(held, arg) {
                            held.insert(*input);
                        }
                    }
                }
            }
            if held.len() == before {
                return;
            }
        }
    }

    fn is_iterator(&self, o: &LLOperand) -> bool {
        let pointee = operand_ty(self.graph, o).pointee();
        pointee.is_some_and(|ty| !is_list_ty(ty) && iterated(ty).is_some())
    }

    fn call_writes(&self, op: &Operation<LowLevel>, passed: &dyn Fn(&LLOperand) -> bool) -> bool {
        let Some(called) = Called::by(self.program, op, passed) else {
            return true;
        };
        self.summary(called.key(Property::Writes), &called.graph, |inner| {
            let mut held = called.sources();
            inner.spread(&mut held);
            let holds = |o: &LLOperand| holds(&held, o);
            let operations = inner.graph.reachable().into_iter();
            let mut operations = operations.flat_map(|b| &inner.graph.block(b).operations);
            operations.any(|op| match op.view() {
                View::Setarrayitem { array, .. } | View::BareSetarrayitem { array, .. } => {
                    holds(array)
                }
                View::GcCopyArray { dest, .. } => holds(dest),
                View::DirectCall { args, .. } | View::IndirectCall { args, .. } => {
                    args.iter().any(holds) && inner.call_writes(op, &holds)
                }
                _ => false,
            })
        })
    }

    /// Whether a callee may return one of the lists that are passed to it.
    fn returns_one(&self, called: &Called) -> bool {
        let graph = &called.graph;
        let result = graph.returnvar();
        graph.ty(result).is_gc_ptr()
            && self.summary(called.key(Property::Returns), graph, |inner| {
                let mut held = called.sources();
                inner.spread(&mut held);
                held.contains(&result)
            })
    }

    /// Whether the lists in these variables are only used for access to items and lengths, in the function and
    /// its callees.
    fn stays_here(&self, sources: Held) -> bool {
        let is_list = |v: &VarId| self.graph.ty(*v).pointee().and_then(items_of).is_some();
        if !sources.iter().all(is_list) {
            return false;
        }
        let mut held = sources;
        self.spread(&mut held);
        // The caller of an inner function holds the list already.
        let returned = self.depth == 0 && held.contains(&self.graph.returnvar());
        !returned && self.uses_are_harmless(&held, None)
    }

    /// Whether all operations on these lists except one are harmless, and no link mixes them with other lists.
    fn uses_are_harmless(&self, held: &Held, except: Option<(BlockId, usize)>) -> bool {
        let graph = self.graph;
        let raised = &graph.block(graph.exceptblock).inputargs;
        if raised.iter().any(|v| held.contains(v)) {
            return false;
        }
        graph.reachable().into_iter().all(|b| {
            let block = graph.block(b);
            let mut operations = block.operations.iter().enumerate();
            let harmless = operations.all(|(i, op)| {
                except == Some((b, i))
                    || !op.args.iter().any(|o| holds(held, o))
                    || self.is_harmless((b, i), op, held)
            });
            harmless
                && block.exits.iter().all(|link| {
                    let inputs = &graph.block(link.target).inputargs;
                    let mut pairs = link.args.iter().zip(inputs);
                    // A mixed variable holds one of these lists or another one.
                    pairs.all(|(arg, input)| {
                        !held.contains(input) || holds(held, arg) || is_null(arg)
                    })
                })
        })
    }

    /// Whether an operation on such lists creates no further reference to them.
    fn is_harmless(&self, at: (BlockId, usize), op: &Operation<LowLevel>, held: &Held) -> bool {
        match op.view() {
            View::Getarrayitem { .. }
            | View::Getarraysize { .. }
            | View::GcCopyArray { .. }
            | View::SameAs { .. }
            | View::CastPointer { .. }
            | View::CastOpaquePtr { .. }
            | View::Hint { .. }
            | View::PtrEq { .. }
            | View::PtrNe { .. }
            | View::PtrNonzero { .. }
            | View::PtrIszero { .. }
            | View::DebugAssert { .. }
            | View::Keepalive { .. } => true,
            // The length or the array of items of a list that grows.
            View::Getfield { object, .. } => holds(held, object),
            View::Setfield { object, value, .. } if self.is_iterator(object) => {
                holds(held, value) || !operand_ty(self.graph, value).is_gc_ptr()
            }
            View::Setfield { object, value, .. } | View::BareSetfield { object, value, .. } => {
                holds(held, object)
                    && !holds(held, value)
                    && (!operand_ty(self.graph, value).is_gc_ptr() || self.is_new(at, value))
            }
            View::Setarrayitem { value, .. } | View::BareSetarrayitem { value, .. } => {
                !holds(held, value)
            }
            View::DirectCall { .. } => {
                let called = Called::by(self.program, op, &|o| holds(held, o));
                called.is_some_and(|c| {
                    let key = c.key(Property::Stays);
                    self.summary(key, &c.graph, |inner| inner.stays_here(c.sources()))
                })
            }
            _ => false,
        }
    }

    /// Whether the list or array stored by an operation is new: one allocation makes it for this store
    /// alone, and nothing else refers to it.
    fn is_new(&self, store: (BlockId, usize), value: &LLOperand) -> bool {
        if let LLOperand::Const(c) = value {
            return has_no_items(self.program, c);
        }
        let Some(v) = value.as_var() else {
            return false;
        };
        let graph = self.graph;
        if !operand_ty(graph, value).pointee().is_some_and(is_list_ty) {
            return false;
        }
        graph.reachable().into_iter().any(|b| {
            let operations = &graph.block(b).operations;
            operations.iter().any(|op| {
                let made = graph.ty(op.result).pointee().is_some_and(is_list_ty);
                if !made || !self.makes_list(op) {
                    return false;
                }
                let mut held = Held::from_iter([op.result]);
                self.spread(&mut held);
                held.contains(&v)
                    && !held.contains(&graph.returnvar())
                    && self.uses_are_harmless(&held, Some(store))
                    && self.once_for_each(b, store.0, &held)
            })
        })
    }

    /// Whether each list of an allocating block is stored at most once: no older list enters that block, and each path
    /// from the store back to itself passes through it.
    fn once_for_each(&self, made: BlockId, store: BlockId, held: &Held) -> bool {
        if (self.graph.block(made).inputargs.iter()).any(|v| held.contains(v)) {
            return false;
        }
        if made == store {
            return true;
        }
        let mut seen = FxHashSet::default();
        let mut pending = vec![store];
        while let Some(b) = pending.pop() {
            for link in &self.graph.block(b).exits {
                if link.target == store {
                    return false;
                }
                if link.target != made && seen.insert(link.target) {
                    pending.push(link.target);
                }
            }
        }
        true
    }

    /// Whether an operation makes a new list that nothing else has.
    fn makes_list(&self, op: &Operation<LowLevel>) -> bool {
        match op.view() {
            View::MallocVarsize { .. } | View::Malloc { .. } => true,
            View::DirectCall {
                callee: LLOperand::Const(LLConst::Func(f)),
                ..
            } => self.program.graph(f).is_some_and(|g| {
                let key = SummaryKey {
                    property: Property::ReturnsNew,
                    function: f.clone(),
                    passed: Vec::new(),
                };
                self.summary(key, &g, |inner| inner.returns_new())
            }),
            _ => false,
        }
    }

    /// Whether the function returns a new list that nothing else has.
    fn returns_new(&self) -> bool {
        let graph = self.graph;
        let result = graph.returnvar();
        if !graph.ty(result).pointee().is_some_and(is_list_ty) {
            return false;
        }
        let mut made = Held::default();
        for b in graph.reachable() {
            for op in &graph.block(b).operations {
                let is_list = graph.ty(op.result) == graph.ty(result);
                if is_list && self.makes_list(op) {
                    made.insert(op.result);
                }
            }
        }
        self.spread(&mut made);
        made.contains(&result) && self.uses_are_harmless(&made, None)
    }
}

fn is_list_ty(ty: LLType) -> bool {
    ty.list_items().is_some()
}
