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

/// How deep calls are followed that get such a list. Beyond that a field is said to share its lists.
const MOST_DEPTH: u32 = 32;

/// How many functions are looked at, at most, for one graph. Beyond that as well.
const MOST_LOOKS: usize = 4_000;

/// A field of a class with lists.
pub type ListField = (ObjId, Arc<str>);

/// A question about a function that a list is passed to, as the arguments at these positions.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Question {
    about: About,
    function: FuncSym,
    passed: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum About {
    /// [`Followed::returns_one`]
    Returns,
    /// [`Followed::stays_here`]
    Stays,
    /// [`Followed::returns_new`]
    ReturnsNew,
    /// [`Followed::call_writes`]
    Writes,
}

impl About {
    /// The answer about a function inside itself: the least solution of `Returns` and `Writes`, the
    /// greatest one of `Stays`. A function that returns a list which it got from itself is not said to make it.
    fn inside_itself(self) -> bool {
        self == About::Stays
    }
}

/// Answers to questions about the functions that one graph calls.
#[derive(Default)]
struct Answers {
    /// None while the function is being looked at.
    known: RefCell<FxHashMap<Question, Option<bool>>>,
    /// Whether an answer was taken from a function that is being looked at.
    assumed: Cell<bool>,
    looks: Cell<usize>,
}

impl Answers {
    /// The answer to a question, which `look` finds. One that rests on a function which is being looked at is kept only if it
    /// would not change with that.
    fn of(&self, question: Question, look: impl FnOnce() -> bool) -> bool {
        let inside = question.about.inside_itself();
        match self.known.borrow().get(&question) {
            Some(Some(known)) => return *known,
            Some(None) => {
                self.assumed.set(true);
                return inside;
            }
            None => {}
        }
        self.looks.set(self.looks.get() + 1);
        if self.gave_up() {
            return inside;
        }
        self.known.borrow_mut().insert(question.clone(), None);
        let before = self.assumed.replace(false);
        let found = look();
        let mut known = self.known.borrow_mut();
        match found == inside && self.assumed.get() {
            true => known.remove(&question),
            false => known.insert(question, Some(found)),
        };
        self.assumed.set(before || self.assumed.get());
        found
    }

    /// Whether so much was looked at that answers are guesses.
    fn gave_up(&self) -> bool {
        self.looks.get() > MOST_LOOKS
    }

    fn give_up(&self) {
        self.looks.set(MOST_LOOKS + 1);
    }
}

/// A graph in which lists are followed.
#[derive(Clone, Copy)]
struct Followed<'a> {
    program: &'a dyn Program,
    graph: &'a LLGraph,
    answers: &'a Answers,
    /// How many calls lead here from where a list was read or made.
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

/// The fields whose lists a function shares with others. The program has the graphs of what it calls, as
/// the RTyper made them.
pub fn leaked_lists(program: &dyn Program, graph: &LLGraph) -> BTreeSet<ListField> {
    let answers = Answers::default();
    let whole = Followed::new(program, graph, &answers);
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
    if answers.gave_up() {
        leaked.extend(read.into_values().chain(stored));
    }
    leaked
}

/// The fields with lists that a prebuilt object has: other prebuilt objects may have its lists.
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

/// The variables of a graph that hold a list which a field owns, or its array of items, and that field. None if
/// that takes too long to find out.
pub(crate) fn own_lists(
    program: &dyn Program,
    graph: &LLGraph,
) -> Option<FxHashMap<VarId, FieldKey>> {
    let answers = Answers::default();
    let whole = Followed::new(program, graph, &answers);
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
    (!answers.gave_up()).then_some(all)
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
    let answers = Answers::default();
    let whole = Followed::new(program, graph, &answers);
    whole.call_writes(op, passed) || answers.gave_up()
}

/// A function that a call reaches which passes such lists.
struct Called {
    function: FuncSym,
    graph: Arc<LLGraph>,
    /// The numbers of the arguments that are such lists.
    passed: Vec<usize>,
}

impl Called {
    /// What a call of one function passes; none for other operations.
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

    /// The variables of the function that hold them at its start.
    fn sources(&self) -> Held {
        let args = self.graph.args();
        self.passed.iter().map(|i| args[*i]).collect()
    }

    fn question(&self, about: About) -> Question {
        Question {
            about,
            function: self.function.clone(),
            passed: self.passed.clone(),
        }
    }
}

fn is_null(o: &LLOperand) -> bool {
    matches!(o, LLOperand::Const(LLConst::Null(_)))
}

/// Whether a constant is null or an array without items. Nothing can be written there, so several
/// fields may have it.
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
    fn new(program: &'a dyn Program, graph: &'a LLGraph, answers: &'a Answers) -> Self {
        Followed {
            program,
            graph,
            answers,
            depth: 0,
        }
    }

    /// The same in the graph of a function that is called.
    fn callee<'b>(&self, graph: &'b LLGraph) -> Followed<'b>
    where
        'a: 'b,
    {
        if self.depth == MOST_DEPTH {
            self.answers.give_up();
        }
        Followed {
            graph,
            depth: self.depth + 1,
            ..*self
        }
    }

    /// The answer to a question about a function that is called.
    fn ask(
        &self,
        question: Question,
        graph: &LLGraph,
        look: impl FnOnce(Followed<'_>) -> bool,
    ) -> bool {
        self.answers.of(question, || look(self.callee(graph)))
    }

    /// The field with lists that an access is to.
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

    /// Adds the variables that get their values from these, through calls as well, and those that hold the
    /// array of items or an iterator of one.
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
        self.ask(called.question(About::Writes), &called.graph, |inner| {
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

    /// Whether a function may return one of the lists that it gets.
    fn returns_one(&self, called: &Called) -> bool {
        let graph = &called.graph;
        let result = graph.returnvar();
        graph.ty(result).is_gc_ptr()
            && self.ask(called.question(About::Returns), graph, |inner| {
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
        // Who calls it has the list already.
        let returned = self.depth == 0 && held.contains(&self.graph.returnvar());
        !returned && self.uses_are_harmless(&held, None)
    }

    /// Whether all operations on these lists are harmless but for one, and no link mixes them with others.
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
                    // One of these lists, or another one.
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
                    let question = c.question(About::Stays);
                    self.ask(question, &c.graph, |inner| inner.stays_here(c.sources()))
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

    /// Whether each list that a block makes is stored once at most: no list from before gets into that block, and
    /// control gets from the store to the same store only by way of that block.
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
                let question = Question {
                    about: About::ReturnsNew,
                    function: f.clone(),
                    passed: Vec::new(),
                };
                self.ask(question, &g, |inner| inner.returns_new())
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
