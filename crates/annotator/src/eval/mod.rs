//! Evaluation of one node: what it contributes, given the values of slots as of a
//! stamp. Transfer functions live in the submodules, by the kind of operation.

mod args;
mod attrs;
mod binary;
mod builtins;
mod call_sets;
mod calls;
mod class_attrs;
mod constants;
mod dead;
mod describe;
mod entries;
mod exceptions;
mod flow;
mod function;
mod jit;
mod known;
mod lowlevel;
mod methods;
mod nodes;
mod operations;
mod passing;
mod past;
mod remedies;
mod resume;
mod unary;

pub use args::arity_problem;
pub(crate) use call_sets::DispatchProgress;
pub(crate) use class_attrs::AttrProgress;
pub use constants::prebuilt_site;
pub(crate) use flow::Shape;
pub use jit::{JIT_HOOKS, is_jit_marker};
pub use lowlevel::accessed_type;
pub(crate) use lowlevel::annotation_to_lltype;
pub(crate) use operations::special_method;
pub(crate) use passing::{Passed, arg_count, default_of};
pub(crate) use past::Past;
use remedies::of_builtin_base;
pub(crate) use remedies::{BOTH_TEXTS, of_class, of_exception, of_file, of_generator};
pub use remedies::{INSTEAD_OF_TUPLE_INDEX, VARIABLE_TUPLE_INDEX};
pub(crate) use resume::FunctionProgress;

use std::sync::Arc;

use taipan_base::{ErrorCode, Help};
use taipan_graph::{BlockId, Const, HlOp, ObjId, VarId};
use taipan_interp::stable_id;
use taipan_lltype::HelperArg;

use crate::facts::{Facts, Known, Missing};
use crate::store::{NodeIx, NodeKey, SetIx, SlotIx, SlotKey, SpecIx, Stamp, Store};
use crate::val::{Atom, EdgeKind, Joiner, ListFlags, Step, Val, join_evenly};
use crate::{ArgSource, Desc, InputType, SiteId};

/// Where evaluation starts.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Root {
    /// A call from outside the program.
    Call {
        /// The function.
        func: ObjId,
        /// Its arguments.
        args: Vec<InputType>,
        /// Names of classes in `args`.
        classes: Vec<(Box<str>, ObjId)>,
    },
    /// A helper called with low-level values.
    Helper {
        /// The function.
        func: ObjId,
        /// What it is specialised by.
        args: Vec<HelperArg>,
    },
}

/// Sites that meet.
pub(crate) type Meetings = Vec<(EdgeKind, SiteId, SiteId)>;

/// What an evaluation yields.
pub(crate) struct Evaluation {
    /// Contributions, in any order.
    pub(crate) writes: Vec<Write>,
    /// Sites that meet.
    pub(crate) met: Meetings,
    /// For a function: what is known inside it. For a root: what it calls, as the
    /// operation of block 0. For prebuilt objects and attributes: what is wrong with them,
    /// if anything is.
    pub(crate) state: Option<FunctionState>,
    /// How often slots were read and written.
    pub(crate) steps: u64,
}

/// A contribution to a slot.
#[derive(Clone)]
pub(crate) struct Write {
    pub(crate) slot: SlotIx,
    pub(crate) val: Val,
    /// The instruction that makes it.
    pub(crate) at: Option<u32>,
}

/// What is known inside a function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct FunctionState {
    /// By variable.
    pub(crate) vars: Vec<Val>,
    /// By block.
    pub(crate) reached: Vec<bool>,
    /// Exits that are taken, sorted.
    pub(crate) followed: Vec<(BlockId, u32)>,
    /// What calls are resolved to, by block and operation; sorted.
    pub(crate) ops: Vec<(BlockId, u32, OpRecord)>,
    /// What is wrong in it.
    pub(crate) problems: Vec<Problem>,
    /// Operations that never succeed, where RPython would report a blocked block.
    pub(crate) blocked: Vec<(BlockId, u32)>,
    /// Operations that could not succeed, and are left out since nothing needs their results.
    pub(crate) dead: Vec<Problem>,
}

/// How an operation is resolved.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct OpRecord {
    /// The functions that it calls.
    pub(crate) calls: Vec<CallRecord>,
    /// It calls a set of methods with so many arguments: the functions are those that
    /// the set's own node calls.
    pub(crate) family: Option<(SetIx, u32)>,
    /// It stands for `getattr(x, name)` and a call of the outcome.
    pub(crate) special: Option<(Arc<str>, Val)>,
}

/// One function that an operation calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CallRecord {
    /// The callee's value that it comes from.
    pub(crate) desc: Desc,
    /// What is called; none for a class without `__init__`.
    pub(crate) target: Option<SpecIx>,
    /// One per argument of the target's graph.
    pub(crate) args: Vec<ArgSource>,
    /// For a `specialize:memo` function: the results for all arguments.
    pub(crate) memo: Option<Vec<(Vec<taipan_graph::Const>, taipan_graph::Const)>>,
    /// For a function that an entry of the program describes.
    pub(crate) entry: Option<Arc<EntryRecord>>,
}

/// A call of a function that an `ExtRegistryEntry` describes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct EntryRecord {
    /// The entry's class.
    pub(crate) entry: ObjId,
    /// The function.
    pub(crate) about: ObjId,
    /// Descriptions of the arguments.
    pub(crate) args: Vec<taipan_graph::Const>,
    /// Description of the result.
    pub(crate) result: taipan_graph::Const,
    /// The low-level functions that it calls.
    pub(crate) calls: Vec<SpecIx>,
}

/// Something that RPython forbids.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Problem {
    /// What kind of mistake it is; none: the function has no flow graph.
    pub(crate) code: Option<ErrorCode>,
    /// Instruction of the function's code; none: the function as a whole.
    pub(crate) at: Option<u32>,
    /// What is wrong.
    pub(crate) message: String,
    /// The usual remedy.
    pub(crate) help: Option<Help>,
    /// The data of the problem, if a later stage decides by it.
    pub(crate) about: Option<taipan_base::Problem>,
    /// The object that the problem is about, if a note or the place depends on it.
    pub(crate) subject: Option<Subject>,
}

/// An object that a problem is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Subject {
    /// The function whose parameters do not fit the arguments of a call.
    Callee(ObjId),
    /// A class that has no instances in RPython.
    Class(ObjId),
    /// A constant that is no value of RPython.
    Constant(Const),
}

/// What is known of variables if a bool is false, and if it is true.
pub(crate) type Knows = [Vec<(VarId, Val)>; 2];

/// A variable's value with what it says about other variables of the block.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Local {
    pub(crate) val: Val,
    /// For a bool: what variables are known to be if it is false, and if it is true
    /// (RPython: `knowntypedata`).
    pub(crate) knows: Option<Arc<Knows>>,
    /// For a class: the variables whose class it is (RPython: `is_type_of`).
    pub(crate) type_of: Option<Arc<[VarId]>>,
}

impl From<Val> for Local {
    fn from(val: Val) -> Local {
        Local {
            val,
            knows: None,
            type_of: None,
        }
    }
}

/// How far the evaluation of a node has come: the next one goes on from there.
pub(crate) enum Progress {
    /// Of a function.
    Function(Box<FunctionProgress>),
    /// Of an attribute of a class.
    Attr(Box<AttrProgress>),
    /// Of calls of a set.
    Dispatch(Box<DispatchProgress>),
}

/// An evaluation that waits.
pub(crate) struct Waits {
    /// Since when.
    pub(crate) since: Stamp,
    /// Until nothing else is left to do.
    pub(crate) patient: bool,
}

impl Progress {
    /// Whether it waits for something.
    pub(crate) fn waits(&self) -> Option<Waits> {
        match self {
            Progress::Function(p) => p.waits(),
            Progress::Attr(_) | Progress::Dispatch(_) => None,
        }
    }

    /// What is known inside the node, if anything is.
    pub(crate) fn into_state(self) -> Option<FunctionState> {
        match self {
            Progress::Function(p) => Some(p.into_state()),
            Progress::Dispatch(p) => Some(p.into_state()),
            Progress::Attr(_) => None,
        }
    }
}

/// How a node is evaluated while the program is solved, and what comes of that besides what
/// is contributed.
#[derive(Default)]
pub(crate) struct Solving {
    /// How far the evaluation had come; afterwards, how far it has.
    pub(crate) progress: Option<Progress>,
    /// What it waits for will not come.
    pub(crate) gives_up: bool,
    /// The contributions are all that the node has, not only what is new.
    pub(crate) whole: bool,
    /// How often slots were read and written: what the evaluation cost.
    pub(crate) steps: u64,
}

/// Evaluates a node as a whole.
pub(crate) fn evaluate(
    facts: &Facts,
    store: &mut Store,
    roots: &[Root],
    node: NodeIx,
    t: Stamp,
) -> Known<Evaluation> {
    evaluate_lazily(facts, store, roots, node, t, None)
}

/// Evaluates a node. While the program is solved, a function goes on from where it was, and
/// contributes what is new since it did last; what is known inside it is in its progress.
pub(crate) fn evaluate_lazily(
    facts: &Facts,
    store: &mut Store,
    roots: &[Root],
    node: NodeIx,
    t: Stamp,
    mut solving: Option<&mut Solving>,
) -> Known<Evaluation> {
    let key = store.nodes[node].key.clone();
    let mut cx = Cx::new(facts, store, node, t);
    if let Some(s) = &solving {
        (cx.lazy, cx.tracks, cx.gives_up) = (true, true, s.gives_up);
    }
    let before = solving.as_mut().and_then(|s| s.progress.take());
    let mut state = None;
    match key {
        NodeKey::Root(i) => {
            // None: it is a root no longer.
            if let Some(root) = roots.get(i as usize) {
                state = Some(cx.root_node(i, root)?);
            }
        }
        NodeKey::Spec(spec) => {
            if let Some(Progress::Function(p)) = before {
                cx.progress = Some(p);
            }
            let outcome = cx.function_node(spec);
            if let Some(s) = &mut solving {
                s.progress = cx.progress.take().map(Progress::Function);
                s.steps = cx.steps;
            }
            state = outcome?;
        }
        NodeKey::Class(class) => cx.class_node(class)?,
        NodeKey::SubClasses(class) => cx.subclasses_node(class)?,
        NodeKey::Attr(class, name) => {
            let before = match before {
                Some(Progress::Attr(p)) => Some(p),
                _ => None,
            };
            let progress = cx.attr_node(class, &name, before)?;
            if let Some(s) = &mut solving {
                s.progress = progress.map(Progress::Attr);
            }
            state = cx.only_problems();
        }
        NodeKey::Prebuilt(obj) => {
            cx.prebuilt_node(obj)?;
            state = cx.only_problems();
        }
        NodeKey::Edge(kind, a, b) => cx.edge_node(kind, a, b),
        NodeKey::Custom(site) => cx.custom_node(site)?,
        NodeKey::Set(set) => cx.set_node(set)?,
        NodeKey::Dispatch(set, count) => {
            let before = match before {
                Some(Progress::Dispatch(p)) => Some(p),
                _ => None,
            };
            let progress = cx.dispatch_node(set, count, before)?;
            match &mut solving {
                Some(s) => s.progress = progress.map(Progress::Dispatch),
                None => state = progress.map(|p| p.into_state()),
            }
            if solving.as_ref().is_none_or(|s| s.progress.is_none()) && state.is_none() {
                state = Some(FunctionState::default());
            }
        }
    }
    if let Some(s) = solving {
        (s.whole, s.steps) = (cx.whole, cx.steps);
        if cx.missing {
            s.progress = None;
        }
    }
    if cx.missing {
        return Err(Missing);
    }
    Ok(Evaluation {
        writes: cx.writes,
        met: cx.met,
        state,
        steps: cx.steps,
    })
}

/// Evaluates a function on values of the past, going on from an evaluation of a stamp before that.
/// All that it contributes is in `before` then, or in the outcome if that is nothing.
pub(crate) fn evaluate_past(
    facts: &Facts,
    store: &mut Store,
    (node, spec): (NodeIx, SpecIx),
    t: Stamp,
    before: &mut Option<Box<Past>>,
) -> Known<Evaluation> {
    let mut cx = Cx::new(facts, store, node, t);
    cx.tracks = true;
    cx.past_function(spec, before)?;
    if cx.missing {
        *before = None;
        return Err(Missing);
    }
    Ok(Evaluation {
        writes: cx.writes,
        met: cx.met,
        state: None,
        steps: cx.steps,
    })
}

/// Where in the program the evaluation is, for the names of creation sites.
#[derive(Clone, Default, Debug)]
pub(crate) struct Place {
    /// Function and specialisation: one text.
    owner: String,
    /// The operation: its kind, and how many of that kind stand before it.
    op: Option<(HlOp, u32)>,
    /// How many sites the current operation has made.
    made: u32,
    /// Instruction of the current operation.
    at: Option<u32>,
}

impl Place {
    /// Function, specialisation, operation: one text.
    fn text(&self) -> String {
        match self.op {
            Some((op, n)) => format!("{} {} {n}", self.owner, op.name()),
            None => self.owner.clone(),
        }
    }
}

/// The context of an evaluation.
pub(crate) struct Cx<'a> {
    pub(crate) facts: &'a Facts,
    pub(crate) store: &'a mut Store,
    node: NodeIx,
    t: Stamp,
    writes: Vec<Write>,
    met: Meetings,
    missing: bool,
    problems: Vec<Problem>,
    record: OpRecord,
    place: Place,
    /// The call site has several callees, which take the same arguments: default values
    /// are left to each.
    several_callees: bool,
    /// That the current operation has no outcome is no mistake.
    harmless: bool,
    /// The current operation works on what is wrong elsewhere: it is not wrong itself.
    tainted: bool,
    /// The program is solved: a function may wait for what it asks for as the first.
    lazy: bool,
    /// The evaluation is gone on from: what it reads is of interest.
    tracks: bool,
    /// See [`Solving`].
    gives_up: bool,
    /// The current operation calls what it will perhaps not call in the end: that waits.
    premature: bool,
    /// It has waited for that.
    impatient: bool,
    /// The current operation has an outcome, but what it calls has not returned: it may wait for
    /// that, since it would be done again then.
    unreturned: bool,
    /// Which operands of the current operation are constants of the graph, by bit.
    literals: u64,
    /// The current operation is one of slices, and an end of it is a negated variable.
    from_the_end: bool,
    /// The operation that the evaluation has come to lacks facts.
    fetches: bool,
    /// Slots that were read since the last operation began, if it is of interest.
    read: Vec<SlotIx>,
    /// How far the evaluation of a function has come.
    progress: Option<Box<FunctionProgress>>,
    whole: bool,
    steps: u64,
}

impl Joiner for Cx<'_> {
    fn common_base(&mut self, a: ObjId, b: ObjId) -> Option<ObjId> {
        self.facts.common_base(a, b).unwrap_or_else(|_| {
            self.missing = true;
            None
        })
    }

    fn is_subclass(&mut self, a: ObjId, b: ObjId) -> bool {
        self.facts.is_subclass(a, b).unwrap_or_else(|_| {
            self.missing = true;
            false
        })
    }

    fn same_site(&mut self, kind: EdgeKind, a: SiteId, b: SiteId) {
        self.met.push((kind, a.min(b), a.max(b)));
    }
}

impl<'a> Cx<'a> {
    fn new(facts: &'a Facts, store: &'a mut Store, node: NodeIx, t: Stamp) -> Cx<'a> {
        Cx {
            facts,
            store,
            node,
            t,
            writes: Vec::new(),
            met: Vec::new(),
            missing: false,
            problems: Vec::new(),
            record: OpRecord::default(),
            place: Place::default(),
            several_callees: false,
            harmless: false,
            tainted: false,
            lazy: false,
            tracks: false,
            gives_up: false,
            premature: false,
            impatient: false,
            unreturned: false,
            literals: 0,
            from_the_end: false,
            fetches: false,
            read: Vec::new(),
            progress: None,
            whole: true,
            steps: 0,
        }
    }
}

impl Cx<'_> {
    /// The value of a slot. The node is evaluated again when that changes.
    pub(crate) fn read(&mut self, key: SlotKey) -> Val {
        let slot = self.store.slot(key);
        self.read_slot(slot)
    }

    /// The same, by its number.
    fn read_slot(&mut self, slot: SlotIx) -> Val {
        self.steps += 1;
        self.store.register(slot, self.node);
        if self.tracks {
            self.read.push(slot);
        }
        self.store.slots[slot].as_of(self.t).clone()
    }

    pub(crate) fn write(&mut self, key: SlotKey, val: Val) {
        if !val.is_bottom() {
            self.steps += 1;
            let slot = self.store.slot(key);
            self.writes.push(Write {
                slot,
                val,
                at: self.place.at,
            });
        }
    }

    /// What is wrong with a node that is no function.
    fn only_problems(&mut self) -> Option<FunctionState> {
        let problems = std::mem::take(&mut self.problems);
        (!problems.is_empty()).then(|| FunctionState {
            problems,
            ..FunctionState::default()
        })
    }

    pub(crate) fn signal(&mut self, key: SlotKey) {
        self.write(key, Val::event());
    }

    pub(crate) fn join(&mut self, a: &Val, b: &Val) -> Val {
        a.join(b, self)
    }

    pub(crate) fn join_all<'v>(&mut self, vals: impl IntoIterator<Item = &'v Val>) -> Val {
        join_evenly(vals.into_iter().cloned().collect(), self)
    }

    /// Does the same for all of them, also where facts are missing: those that others need are
    /// asked for at once.
    pub(crate) fn for_all<T, R>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut each: impl FnMut(&mut Self, T) -> Known<R>,
    ) -> Known<Vec<R>> {
        let mut missing = None;
        let mut results = Vec::new();
        for item in items {
            match each(self, item) {
                Ok(r) => results.push(r),
                Err(m) => missing = Some(m),
            }
        }
        missing.map_or(Ok(results), Err)
    }

    /// Reports what is wrong at the current operation; the operation then has no
    /// outcome.
    pub(crate) fn problem(&mut self, code: ErrorCode, message: impl Into<String>) -> Val {
        self.problem_help(code, message, None::<Help>)
    }

    pub(crate) fn problem_help(
        &mut self,
        code: ErrorCode,
        message: impl Into<String>,
        help: Option<impl Into<Help>>,
    ) -> Val {
        self.report(Problem {
            code: Some(code),
            at: self.place.at,
            message: message.into(),
            help: help.map(Into::into),
            about: None,
            subject: None,
        })
    }

    pub(crate) fn report(&mut self, p: Problem) -> Val {
        if !self.tainted && !self.problems.contains(&p) {
            self.problems.push(p);
        }
        self.without_result()
    }

    /// The result of an operation that is wrong.
    pub(crate) fn without_result(&self) -> Val {
        if self.facts.recovering {
            Val::error()
        } else {
            Val::default()
        }
    }

    /// The creation site of the current operation.
    fn new_site(&mut self) -> SiteId {
        let made = self.place.made;
        self.place.made += 1;
        SiteId(stable_id(&["site", &self.place.text(), &made.to_string()]).0)
    }

    /// A class is in use from here on.
    pub(crate) fn use_class(&mut self, class: ObjId) -> Known<()> {
        self.known_instance(class)?;
        if self.facts.class(class)?.is_some() {
            self.signal(SlotKey::ClassUsed(class));
        }
        Ok(())
    }

    /// Instances of a class.
    pub(crate) fn instance(&mut self, class: ObjId) -> Known<Val> {
        self.use_class(class)?;
        Ok(Val::instance(class))
    }

    /// The same where there are such instances: whoever made them has their class in use.
    pub(crate) fn known_instance(&mut self, class: ObjId) -> Known<Val> {
        if let Some(info) = self.facts.class(class)?
            && let Some(p) = &info.problem
        {
            let help = info.builtin_base.as_deref().map(of_builtin_base);
            self.report(Problem {
                code: Some(ErrorCode::InvalidClassLayout),
                at: self.place.at,
                message: p.to_string(),
                help: help.map(Help::from),
                about: None,
                subject: Some(Subject::Class(class)),
            });
        }
        Ok(Val::instance(class))
    }

    // Lists and dicts.

    /// A new list made here.
    pub(crate) fn new_list(&mut self, items: &[Val], step: Step) -> Val {
        let site = self.new_site();
        for i in items {
            self.write(SlotKey::Item(site), i.clone());
        }
        self.list_flags(
            site,
            ListFlags {
                step,
                ..ListFlags::default()
            },
        );
        Atom::List(site).into()
    }

    pub(crate) fn list_flags(&mut self, site: SiteId, flags: ListFlags) {
        self.write(SlotKey::Flags(site), Atom::ListFlags(flags).into());
    }

    pub(crate) fn mutate(&mut self, site: SiteId) {
        self.list_flags(
            site,
            ListFlags {
                mutated: true,
                ..ListFlags::default()
            },
        );
    }

    pub(crate) fn resize(&mut self, site: SiteId) {
        self.list_flags(
            site,
            ListFlags {
                mutated: true,
                resized: true,
                ..ListFlags::default()
            },
        );
        if self.read(SlotKey::Flags(site)).flags().must_not_resize {
            self.problem(
                ErrorCode::FixedListResized,
                "this list is resized, but it was declared never to be (`make_sure_not_resized`)",
            );
        }
    }

    pub(crate) fn never_resized(&mut self, site: SiteId) {
        self.list_flags(
            site,
            ListFlags {
                must_not_resize: true,
                ..ListFlags::default()
            },
        );
    }

    /// A new list whose items are those of others (RPython: `ListDef.offspring`).
    pub(crate) fn offspring(&mut self, of: &[SiteId]) -> Val {
        let new = self.new_list(&[], Step::List);
        if let Some(Atom::List(site)) = new.single().cloned().as_ref() {
            for o in of {
                self.agree(*site, *o);
            }
        }
        new
    }

    /// A list that is complete: one of its own, whose length need not change because
    /// that of the list under construction did.
    pub(crate) fn fenced(&mut self, v: &Val) -> Val {
        match v.single() {
            Some(Atom::List(site)) if !v.none => self.offspring(&[*site]),
            _ => v.clone(),
        }
    }

    /// Makes the items of two lists equally general (RPython: `ListDef.agree`).
    pub(crate) fn agree(&mut self, a: SiteId, b: SiteId) {
        self.same_site(EdgeKind::Items, a, b);
    }

    pub(crate) fn new_dict(&mut self) -> (SiteId, Val) {
        let site = self.new_site();
        (site, Atom::Dict(site).into())
    }

    /// The class of a known instance, for kinds that are instances at heart.
    pub(crate) fn as_instance_class(&mut self, atom: &Atom) -> Option<Option<ObjId>> {
        match atom {
            Atom::Instance(c) => Some(*c),
            Atom::Exception(classes) => Some(crate::val::base_of_all(classes, self)),
            _ => None,
        }
    }
}
