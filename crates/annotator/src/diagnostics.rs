//! What is wrong with a solved program, with places and the ways that types came.
//!
//! What is wrong is found in the solver's state without positions; where that stands in
//! the sources is looked up last. So the solver depends on no position, and an edit that
//! moves lines only has places looked up again.

mod blocked;
mod conflict;

use std::cell::LazyCell;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_base::{Db, Diagnostic, ErrorCode, Help, Program, SHIPPED, Severity, Span};
use taipan_flow::{
    Given, assigned_at, flow_diagnostics, item_span_at, made_text_at, reads_variable, span_at,
};
use taipan_graph::{BlockId, FunctionGraph, HighLevel, Link, ObjId, Operand};
use taipan_interp::{Function, ObjData};

use self::blocked::blocked;
use self::conflict::{conflict, parts};
use crate::eval::{FunctionState, Passed, Problem, Subject};
use crate::origins::way::Way;
use crate::origins::{
    Origin, Place, called_property, caller, contributors, mixed_results, object_name, operands,
    passed_constant, user_of_data, works_on_conflict,
};
use crate::project::{Projector, is_conflict};
use crate::solution::Solution;
use crate::solver::{FactJoiner, Solver};
use crate::store::{NodeKey, SlotIx, SlotKey, SpecIx};
use crate::val::Val;
use crate::warm::Warm;
use crate::{RootSet, Roots};

/// Something that is wrong, without its place in the sources.
enum Fault {
    /// A mistake at an instruction of a function, or of a root.
    At {
        place: Place,
        code: ErrorCode,
        message: String,
        help: Option<Help>,
        /// How each operand came to the operation, from the place outwards.
        origins: Vec<Vec<Origin>>,
        /// Its operands do not go together: worth telling only if nobody else says so.
        follows: bool,
        /// Of a mistake in what ships with the compiler: the call in the program that leads to
        /// it.
        caller: Place,
        /// The data of the problem, if a later stage decides by it.
        about: Option<taipan_base::Problem>,
        /// The object that it is about.
        subject: Option<Subject>,
    },
    /// A function without flow graph.
    Flow(ObjId),
    /// Values that do not go together.
    Conflict { what: String, origins: Vec<Origin> },
}

/// Values that do not go together.
const CONFLICT: ErrorCode = ErrorCode::UnionError;

/// Mistakes that say something of the kinds of operands: where those come from helps.
const OF_KINDS: &[ErrorCode] = &[
    ErrorCode::NoSuchAttribute,
    ErrorCode::NotCallable,
    ErrorCode::UnsupportedOperands,
    ErrorCode::MixedSignedness,
    ErrorCode::InvalidBuiltinArgument,
    ErrorCode::MixedStrings,
    ErrorCode::ConstantNeeded,
    ErrorCode::InvalidLowLevelArgument,
    ErrorCode::EndlessNesting,
    ErrorCode::InvalidWeakref,
];

impl Fault {
    fn problem(func: Option<ObjId>, p: &Problem) -> Fault {
        match (func, p.code) {
            (Some(f), None) => Fault::Flow(f),
            (_, code) => Fault::At {
                place: func.map(|f| (f, p.at)),
                code: code.unwrap_or(ErrorCode::Untranslatable),
                message: p.message.clone(),
                help: p.help.clone(),
                origins: Vec::new(),
                follows: false,
                caller: None,
                about: p.about.clone(),
                subject: p.subject.clone(),
            },
        }
    }
}

/// All diagnostics, by file and place.
pub(crate) fn collect(db: &dyn Db, roots: Roots, solution: &Solution) -> Arc<[Diagnostic]> {
    let program = roots.program(db);
    let places = Places {
        db,
        solution,
        program,
    };
    let mut all: Vec<Found> = Vec::new();
    let mut following: Vec<Found> = Vec::new();
    let mut mixed = Vec::new();
    for fault in solution.write(|w| faults(db, roots, w)) {
        match fault {
            Fault::At {
                place,
                code,
                message,
                help,
                origins,
                follows,
                caller,
                about,
                subject,
            } => {
                let at = places.span(place);
                let mut d = Diagnostic::error(code, at, message);
                d.help = help;
                d.problem = about;
                if at.is_none()
                    && let Some(line) = places.made(place)
                {
                    d = d.with_note(None, format!("this is {line}"));
                }
                let d = places.with_callee(d, subject.as_ref());
                let d = places.with_origins(d, place, origins);
                let d = places.with_caller(d, place, caller);
                let found = Found {
                    is_at_call: d.primary != at,
                    diagnostic: d,
                    class: match subject {
                        Some(Subject::Class(class)) => Some(class),
                        _ => None,
                    },
                };
                if follows {
                    following.push(found);
                } else {
                    all.push(found);
                }
            }
            Fault::Flow(f) => {
                let function = Function::new(db, program, f);
                all.extend(
                    flow_diagnostics(db, function)
                        .iter()
                        .cloned()
                        .map(Found::from),
                );
            }
            Fault::Conflict { what, origins } => {
                let mut origins: Vec<_> = (origins.into_iter())
                    .map(|o| (places.origin(&o), places.with_line(o)))
                    .collect();
                origins.sort_by_cached_key(|(span, _)| order(db, *span));
                match solution.read(|w| conflict(&w.solver, &what, &origins)) {
                    Some(d) => all.push(d.into()),
                    None => mixed.push((what, origins)),
                }
            }
        }
    }
    if all.is_empty() {
        all.append(&mut following);
    }
    // Nothing else is wrong: values were mixed already where they came from.
    if all.is_empty() {
        let taken_apart = |(what, origins): (String, _)| {
            let origins = parts(origins);
            solution.read(|w| conflict(&w.solver, &what, &origins))
        };
        // Two places say more than one at which both kinds arrive.
        let places = |d: &Diagnostic| d.notes.iter().filter(|n| n.span.is_some()).count();
        let found = mixed.into_iter().filter_map(taken_apart);
        let best = found.min_by_key(|d| Reverse((d.primary.is_some(), places(d))));
        all.extend(best.map(Found::from));
    }
    all.sort_by_cached_key(|found| order(db, found.diagnostic.primary));
    without_repetitions(all)
}

/// A diagnostic, with the facts that tell whether another one repeats it.
struct Found {
    diagnostic: Diagnostic,
    /// It stands at the call of a function of the library in which the mistake is.
    is_at_call: bool,
    /// The class that is wrong.
    class: Option<ObjId>,
}

impl From<Diagnostic> for Found {
    fn from(diagnostic: Diagnostic) -> Found {
        Found {
            diagnostic,
            is_at_call: false,
            class: None,
        }
    }
}

/// Leaves one of the same mistakes in several specialisations of a function, one of several mistakes in
/// the library that one call leads to, and one of several uses of a class that is wrong.
fn without_repetitions(all: Vec<Found>) -> Arc<[Diagnostic]> {
    let mut out: Vec<Found> = Vec::with_capacity(all.len());
    for new in all {
        let same =
            |old: &Found| old.diagnostic == new.diagnostic || old.is_at_call && new.is_at_call;
        let is_here = |old: &&Found| old.diagnostic.primary == new.diagnostic.primary;
        let mut here = out.iter().rev().take_while(is_here);
        let of_class = |old: &Found| new.class.is_some() && old.class == new.class;
        if !here.any(same) && !out.iter().any(of_class) {
            out.push(new);
        }
    }
    out.into_iter().map(|found| found.diagnostic).collect()
}

/// Warnings about operations that could not succeed, and are left out since nothing needs their
/// results: RPython says nothing of them. By file and place. Means something for a program
/// without errors only.
pub(crate) fn dead_operations(db: &dyn Db, roots: Roots, solution: &Solution) -> Arc<[Diagnostic]> {
    let found = solution.read(|warm| {
        let specs = &warm.solver.store.specs;
        let dead = &warm.view.faults.dead;
        let mut found: BTreeMap<ObjId, Option<Vec<Problem>>> =
            dead.iter().map(|s| (specs[*s].func, None)).collect();
        if found.is_empty() {
            return found;
        }
        let projector = warm.projector(crate::project::Naming::Program(db, roots));
        for (spec, key) in specs.iter() {
            if let Some(in_all) = found.get_mut(&key.func)
                && let Some(state) = projector.reached_state(spec)
            {
                match in_all {
                    None => *in_all = Some(state.dead.clone()),
                    // What succeeds with arguments of other kinds has its use.
                    Some(all) => all.retain(|p| state.dead.iter().any(|d| d.at == p.at)),
                }
            }
        }
        found
    });
    let warning = |func: ObjId, p: Problem| {
        let span = span_at(db, Function::new(db, roots.program(db), func), p.at)?;
        if span.file.path(db).starts_with(SHIPPED) {
            return None;
        }
        let message = format!("{}; it is left out, since its value is not used", p.message);
        let mut d = Diagnostic::error(ErrorCode::DeadOperation, Some(span), message);
        d.severity = Severity::Warning;
        d.help = p.help;
        Some(d)
    };
    let found = found.into_iter().flat_map(|(func, problems)| {
        let problems = problems.into_iter().flatten();
        problems.map(move |p| (func, p))
    });
    let mut all: Vec<Diagnostic> = found.filter_map(|(func, p)| warning(func, p)).collect();
    all.sort_by_cached_key(|d| order(db, d.primary));
    all.into()
}

/// What stands under a call of a function of the library that does not work with the
/// arguments that it is given.
const CALLED: &str = "this leads to it";

/// How many places are shown that a value came by.
const SHOWN: usize = 4;

/// Looks places up in the sources.
struct Places<'a> {
    db: &'a dyn Db,
    solution: &'a Solution,
    program: Program,
}

impl Places<'_> {
    fn span(&self, place: Place) -> Option<Span> {
        let (func, at) = place?;
        span_at(self.db, Function::new(self.db, self.program, func), at)
    }

    /// Where a value came from: an item of a display, or all of an instruction.
    fn origin(&self, o: &Origin) -> Option<Span> {
        let item = |(func, at): (ObjId, Option<u32>)| {
            item_span_at(
                self.db,
                Function::new(self.db, self.program, func),
                at?,
                o.item?,
            )
        };
        o.place.and_then(item).or_else(|| self.span(o.place))
    }

    /// The line of a place in a text that the program makes while it loads.
    fn made(&self, place: Place) -> Option<String> {
        let (func, at) = place?;
        made_text_at(self.db, Function::new(self.db, self.program, func), at)
    }

    /// An origin that names the line, if no file has it.
    fn with_line(&self, mut origin: Origin) -> Origin {
        if let Way::Here { line, .. } = &mut origin.way {
            *line = self.made(origin.place);
        }
        origin
    }

    /// A diagnostic about what ships with the compiler, moved to the call in the program that
    /// leads there, unless it was moved already.
    fn with_caller(&self, d: Diagnostic, place: Place, caller: Place) -> Diagnostic {
        let inside = d.primary.filter(|p| self.ships(*p));
        let (Some(inside), Some(call)) = (inside, self.span(caller)) else {
            return d;
        };
        let mut d = d.with_label(CALLED);
        d.primary = Some(call);
        self.happens_in(d, inside, place)
    }

    /// Notes in which function that ships with the compiler something happens.
    fn happens_in(&self, d: Diagnostic, inside: Span, place: Place) -> Diagnostic {
        let name = |(func, _)| self.solution.read(|w| object_name(&w.solver, func));
        let function = place.map(name).unwrap_or_default();
        d.with_note(Some(inside), format!("it happens here, in {function}()"))
    }

    /// A note where the function is that is called with arguments that it does not take.
    fn with_callee(&self, d: Diagnostic, subject: Option<&Subject>) -> Diagnostic {
        let Some(Subject::Callee(func)) = subject else {
            return d;
        };
        match self.span(Some((*func, None))) {
            Some(span) if !self.ships(span) => {
                let name = self.solution.read(|w| object_name(&w.solver, *func));
                d.with_note(Some(span), format!("{name}() is defined here"))
            }
            _ => d,
        }
    }

    fn ships(&self, span: Span) -> bool {
        span.file.path(self.db).starts_with(SHIPPED)
    }

    /// A diagnostic with where the operands come from. If it is inside of what ships with
    /// the compiler, it is moved to the place of the program that leads to it.
    fn with_origins(&self, d: Diagnostic, place: Place, origins: Vec<Vec<Origin>>) -> Diagnostic {
        let primary = d.primary;
        let inside = primary.is_some_and(|p| self.ships(p));
        let mut d = d;
        for chain in origins {
            let spans = chain.iter().filter_map(|o| Some((self.origin(o)?, o)));
            let shown: Vec<_> = spans
                .filter(|(span, _)| !inside || !self.ships(*span))
                .take(SHOWN)
                .collect();
            let Some((span, o)) = shown.first() else {
                continue;
            };
            let passes = self.solution.read(|w| w.solver.facts.describe(&o.val));
            if let Some(here) = primary
                && inside
                && d.primary == primary
            {
                d.primary = Some(*span);
                d = self.happens_in(d.with_label(CALLED), here, place);
            }
            d = d.with_note(Some(*span), format!("{passes} {}", o.way));
            for (span, o) in &shown[1..] {
                d = d.with_note(Some(*span), o.way.of_former());
            }
        }
        d
    }
}

/// What is wrong, in an order that does not depend on how it was found.
fn faults(db: &dyn Db, roots: Roots, warm: &mut Warm) -> Vec<Fault> {
    let solver = &warm.solver;
    let states = (0..solver.roots.len()).filter_map(|i| solver.root_state(i));
    let mut all: Vec<Fault> = states
        .flat_map(|state| &state.problems)
        .map(|p| Fault::problem(None, p))
        .collect();
    all.extend(slot_conflicts(warm));
    all.extend(dispatch_problems(warm));
    let filled = |data: &ObjData| matches!(data, ObjData::List(_) | ObjData::Dict(_));
    all.extend(data_problems(warm, filled));
    all.extend(entry_point_result(db, roots, &warm.solver));
    let projector = warm.projector(crate::project::Naming::Program(db, roots));
    let mut inside: Vec<(usize, SpecIx)> = Vec::new();
    let sources = Some((db, roots.program(db)));
    for spec in stable(&warm.solver, &warm.view.faults.functions) {
        let func = warm.solver.store.specs[spec].func;
        let Some(state) = projector.reached_state(spec) else {
            continue;
        };
        let first = all.len();
        all.extend(state.problems.iter().map(|p| Fault::problem(Some(func), p)));
        inside.extend((first..all.len()).map(|i| (i, spec)));
        all.extend(local_conflicts(&warm.solver, sources, func, state));
        for (at, [a, b]) in mixed_results(&warm.solver, spec) {
            let describe = |o: &Origin| warm.solver.facts.describe(&o.val);
            let (one, other) = (describe(&a), describe(&b));
            all.push(Fault::At {
                place: Some((func, Some(at))),
                code: CONFLICT,
                message: format!("the functions called here return {one} and {other}"),
                help: None,
                origins: vec![vec![a], vec![b]],
                follows: false,
                caller: None,
                about: None,
                subject: None,
            });
        }
    }
    if all.is_empty() {
        for spec in stable(&warm.solver, &warm.view.faults.blocked) {
            all.extend(blocked(&projector, spec));
        }
        if !all.is_empty() {
            let unusable = data_problems(warm, |_| true);
            if !unusable.is_empty() {
                all = unusable;
            }
        }
    }
    for (i, spec) in inside {
        if let Fault::At {
            place: Some((func, Some(at))),
            code,
            origins,
            follows,
            caller,
            help,
            subject,
            ..
        } = &mut all[i]
        {
            if *code == ErrorCode::NotCallable && help.is_none() {
                *help = called_property(&warm.solver, spec, *at).map(Into::into);
            }
            if let Some(Subject::Constant(value)) = subject
                && let Some(passed) = passed_constant(&warm.solver, spec, *at, value)
            {
                let function = Function::new(db, roots.program(db), *func);
                *at = assigned_at(db, function, passed.at, &passed.name, Given::Const(value));
            }
            if !OF_KINDS.contains(code) {
                continue;
            }
            *follows = works_on_conflict(&warm.solver, spec, *at);
            *origins = operands(&mut warm.solver, spec, *at);
            let own = |o: &Origin| o.place.is_some_and(|(f, _)| !ships(db, roots, f));
            if !origins.iter().flatten().any(own) {
                *caller = caller_outside(db, roots, &warm.solver, spec);
            }
        }
    }
    all
}

/// Whether a function is one of those that ship with the compiler.
fn ships(db: &dyn Db, roots: Roots, func: ObjId) -> bool {
    span_at(db, Function::new(db, roots.program(db), func), None)
        .is_some_and(|span| span.file.path(db).starts_with(SHIPPED))
}

/// The call in the program that leads to a function that ships with the compiler.
fn caller_outside(db: &dyn Db, roots: Roots, solver: &Solver, spec: SpecIx) -> Place {
    if !ships(db, roots, solver.store.specs[spec].func) {
        return None;
    }
    let (func, at) = caller(solver, spec, |f| !ships(db, roots, f))?;
    Some((func, Some(at)))
}

/// Specialised functions by their names.
fn stable<'a>(solver: &Solver, specs: impl IntoIterator<Item = &'a SpecIx>) -> Vec<SpecIx> {
    let mut specs: Vec<SpecIx> = specs.into_iter().copied().collect();
    specs.sort_by_key(|s| {
        let k = &solver.store.specs[*s];
        (k.func, &k.key)
    });
    specs
}

/// An entry point returns an int: the exit code.
fn entry_point_result(db: &dyn Db, roots: Roots, solver: &Solver) -> Option<Fault> {
    let RootSet::EntryPoint(func) = roots.set(db) else {
        return None;
    };
    let spec = solver.spec_of_root(solver.roots.first()?)?;
    let result = solver.store.value(&SlotKey::Ret(spec));
    if result.is_bottom()
        || result.has_error()
        || is_conflict(result)
        || (!result.none && result.ints().is_some_and(|i| !i.is_bool()))
    {
        return None;
    }
    let got = solver.facts.describe(result);
    let help = match result.ints() {
        Some(_) if !result.none => "convert it: `return int(x)`",
        _ => "return 0 at the end",
    };
    // None may be all that is left of a value, if a function that gives it is not called for
    // another mistake.
    let flow = solver.facts.flow(*func);
    let constant = flow
        .as_ref()
        .ok()
        .and_then(|f| f.any_graph())
        .is_some_and(|g| {
            let returned = |link: &&Link<HighLevel>| link.target == g.returnblock;
            let blocks = g.reachable().into_iter();
            let mut links = blocks.flat_map(|b| g.block(b).exits.iter().filter(returned));
            links.any(|link| matches!(link.args[..], [Operand::Const(_)]))
        });
    Some(Fault::At {
        place: Some((*func, None)),
        code: ErrorCode::EntryPointResult,
        message: format!("the entry point returns {got}, not an integer"),
        help: Some(help.into()),
        origins: Vec::new(),
        follows: !constant && result.none && result.atoms.is_empty(),
        caller: None,
        about: None,
        subject: None,
    })
}

/// Prebuilt objects and attributes that functions cannot use, where they try to. What an
/// instance has in attributes that nothing reads does not matter, but any item of a list or dict does.
fn data_problems(warm: &mut Warm, wanted: impl Fn(&ObjData) -> bool) -> Vec<Fault> {
    let mut out = Vec::new();
    for n in &warm.view.faults.data {
        let solver = &mut warm.solver;
        let key = solver.store.nodes[*n].key.clone();
        let Some(state) = solver.functions.get(*n).cloned() else {
            continue;
        };
        let counts = match &key {
            NodeKey::Prebuilt(o) => {
                let data = solver.facts.object(*o).ok().flatten();
                data.is_some_and(|data| wanted(&data))
            }
            NodeKey::Attr(..) => true,
            _ => false,
        };
        if counts && let Some((func, at)) = user_of_data(solver, &key) {
            for p in &state.problems {
                let mut p = p.clone();
                p.at = at;
                out.push(Fault::problem(Some(func), &p));
            }
        }
    }
    out
}

impl Projector<'_> {
    /// What is known inside a function that is called.
    fn reached_state(&self, spec: SpecIx) -> Option<&Arc<FunctionState>> {
        let called = self.solver.store.value(&SlotKey::Called(spec));
        self.state(spec).filter(|_| !called.is_bottom())
    }

    /// The first mistake in a function: nothing can be generated from it. Without its
    /// place, which changes more often.
    pub(crate) fn broken(&self, spec: SpecIx) -> Option<Arc<Diagnostic>> {
        if !self.view.faults.functions.contains(&spec) {
            return None;
        }
        let func = self.solver.store.specs[spec].func;
        let state = self.reached_state(spec)?;
        let first = state.problems.first();
        let d = match first.map(|p| (p, p.code)) {
            Some((_, None)) => {
                let flow = self.solver.facts.flow(func).ok()?;
                let e = flow.graph.as_ref().err()?;
                let mut d = Diagnostic::error(e.code, None, &e.message);
                d.help = e.help.clone();
                d
            }
            Some((p, Some(code))) => {
                let mut d = Diagnostic::error(code, None, &p.message);
                d.help = p.help.clone();
                d
            }
            None => {
                let first = local_conflicts(self.solver, None, func, state);
                let Some(Fault::Conflict { what, mut origins }) = first.into_iter().next() else {
                    return None;
                };
                origins.sort_by_key(|o| o.place);
                let origins: Vec<_> = origins.into_iter().map(|o| (None, o)).collect();
                conflict(self.solver, &what, &origins)?
            }
        };
        Some(Arc::new(d))
    }
}

/// By file and place.
fn order(db: &dyn Db, span: Option<Span>) -> (String, u32, u32) {
    match span {
        Some(s) => (s.file.path(db).to_string(), s.range.start, s.range.end),
        None => Default::default(),
    }
}

/// The variable of a program that slots hold, one for each specialisation.
#[derive(PartialEq, Eq, Hash)]
enum Variable {
    Argument(ObjId, u32),
    Result(ObjId),
    Attribute(ObjId, Arc<str>),
}

impl Variable {
    fn of(solver: &Solver, key: &SlotKey) -> Option<Variable> {
        let func = |s: &SpecIx| solver.store.specs[*s].func;
        match key {
            SlotKey::Arg(s, i) => Some(Variable::Argument(func(s), *i)),
            SlotKey::Ret(s) => Some(Variable::Result(func(s))),
            SlotKey::Attr(class, name) => Some(Variable::Attribute(*class, name.clone())),
            _ => None,
        }
    }
}

/// Slots whose contributions have no common annotation.
fn slot_conflicts(warm: &mut Warm) -> Vec<Fault> {
    let solver = &mut warm.solver;
    let mut places: BTreeMap<(String, String), SlotIx> = BTreeMap::new();
    for slot in &warm.view.faults.slots {
        let key = &solver.store.slots[*slot].key;
        // Where names are the same, sites and specialisations decide.
        let stable = match key {
            SlotKey::Arg(s, i) => format!("{:?} {i}", solver.store.specs[*s]),
            SlotKey::Ret(s) => format!("{:?}", solver.store.specs[*s]),
            other => format!("{other:?}"),
        };
        places.insert((slot_name(solver, key), stable), *slot);
    }
    // One specialisation of several will do; but not every list is the same.
    let mut named = FxHashSet::default();
    let mut out = Vec::new();
    for ((name, _), slot) in places {
        let key = solver.store.slots[slot].key.clone();
        if Variable::of(solver, &key).is_some_and(|v| !named.insert(v)) {
            continue;
        }
        let mut origins = contributors(solver, &key);
        // Prebuilt instances that differ: shown where one is used.
        if let (SlotKey::Attr(class, name), [only]) = (&key, &mut origins[..])
            && only.place.is_none()
        {
            only.place = user_of_data(solver, &NodeKey::Attr(*class, name.clone()));
            only.way = Way::Instance;
        }
        origins.sort_by_cached_key(|o| (o.place, o.way.clone(), format!("{:?}", o.val)));
        let what = format!("{name} mixes");
        out.push(Fault::Conflict { what, origins });
    }
    out
}

/// What is wrong with calls of sets of methods, at each of the places that call them.
fn dispatch_problems(warm: &mut Warm) -> Vec<Fault> {
    let mut out = Vec::new();
    for n in &warm.view.faults.dispatches {
        let solver = &mut warm.solver;
        let (NodeKey::Dispatch(set, count), Some(state)) = (
            solver.store.nodes[*n].key.clone(),
            solver.functions.get(*n).cloned(),
        ) else {
            continue;
        };
        for o in contributors(solver, &SlotKey::SetCalled(set, count)) {
            for p in &state.problems {
                let mut p = p.clone();
                p.at = o.place.and_then(|(_, at)| at);
                out.push(Fault::problem(o.place.map(|(f, _)| f), &p));
            }
        }
    }
    out
}

/// The variables inside a function where values of different kinds come together, and its
/// result if that is one.
fn local_conflicts(
    solver: &Solver,
    sources: Option<(&dyn Db, Program)>,
    func: ObjId,
    state: &FunctionState,
) -> Vec<Fault> {
    let mut all = Vec::new();
    let flow = solver.facts.flow(func);
    let Some(graph) = flow.as_ref().ok().and_then(|f| f.any_graph()) else {
        return all;
    };
    let mut told: Vec<((bool, &str), Vec<Place>)> = Vec::new();
    // Most functions have no such variable.
    let ways = LazyCell::new(|| only_ways(graph));
    for target in graph.reachable() {
        for (i, v) in graph.block(target).inputargs.iter().enumerate() {
            if !state.vars.get(v.index()).is_some_and(is_conflict) {
                continue;
            }
            let name = &graph.vars[v.index()].name;
            let returned = target == graph.returnblock;
            let mut origins = Vec::new();
            let mut sum = Val::default();
            let mut clash = false;
            for (b, exit) in &state.followed {
                let link = &graph.block(*b).exits[*exit as usize];
                if link.target != target {
                    continue;
                }
                let arg = &link.args[i];
                let val = match arg {
                    Operand::Var(x) => state.vars[x.index()].clone(),
                    Operand::Const(c) => const_val(solver, c),
                };
                if !is_conflict(&val) {
                    sum = sum.join(&val, &mut FactJoiner::new(&solver.facts));
                    clash |= is_conflict(&sum);
                }
                let last = graph.block(*b).operations.last().map(|o| o.at);
                let given = given(graph, &ways, *b, arg);
                let at = match (given, link.at.or(last), sources) {
                    // `return x`: that is where it is returned, wherever it was made.
                    (_, Some(at), Some((db, program)))
                        if returned && reads_variable(db, Function::new(db, program, func), at) =>
                    {
                        Some(at)
                    }
                    // A value of its own, which no variable has had.
                    (Given::MadeBy(at), _, _) if name.is_empty() => Some(at),
                    (_, Some(at), Some((db, program))) => {
                        let function = Function::new(db, program, func);
                        Some(assigned_at(db, function, at, name, given))
                    }
                    (_, at, _) => at,
                };
                let ends = |(db, program)| {
                    let function = Function::new(db, program, func);
                    at.is_some() && span_at(db, function, at) == span_at(db, function, None)
                };
                let way = if !returned {
                    Way::Here {
                        line: None,
                        function: None,
                    }
                } else if sources.is_some_and(ends) {
                    Way::ReturnedAtEnd
                } else {
                    Way::Returned
                };
                origins.push(Origin {
                    val,
                    place: Some((func, at)),
                    item: None,
                    way,
                });
            }
            if !clash {
                continue;
            }
            let what = match &**name {
                _ if returned => format!("the result of {}() mixes", object_name(solver, func)),
                "" => "a value here mixes".to_owned(),
                name => format!("variable {name} mixes"),
            };
            // What comes together differently in front of a loop and behind it.
            let this = (
                (returned, &**name),
                origins.iter().map(|o| o.place).collect(),
            );
            if !told.contains(&this) {
                told.push(this);
                all.push(Fault::Conflict { what, origins });
            }
        }
    }
    all
}

/// The one link that leads to each block, with the block that it leaves; none where several
/// lead there or the function begins.
type Ways<'a> = FxHashMap<BlockId, Option<(BlockId, &'a Link<HighLevel>)>>;

fn only_ways(graph: &FunctionGraph) -> Ways<'_> {
    let mut ways = Ways::default();
    ways.insert(graph.startblock, None);
    for from in graph.reachable() {
        for link in &graph.block(from).exits {
            ways.entry(link.target)
                .and_modify(|way| *way = None)
                .or_insert(Some((from, link)));
        }
    }
    ways
}

/// What can be said of a value that a block passes on.
fn given<'a>(
    graph: &'a FunctionGraph,
    ways: &Ways<'a>,
    block: BlockId,
    arg: &'a Operand<HighLevel>,
) -> Given<'a> {
    let (mut block, mut v) = match arg {
        Operand::Const(c) => return Given::Const(c),
        Operand::Var(v) => (block, *v),
    };
    // As long as only one way leads there.
    for _ in 0..graph.blocks.len() {
        let b = graph.block(block);
        if let Some(op) = b.operations.iter().find(|op| op.result == v) {
            return Given::MadeBy(op.at);
        }
        let Some(i) = b.inputargs.iter().position(|x| *x == v) else {
            break;
        };
        match ways.get(&block) {
            Some(Some((from, link))) => match &link.args[i] {
                Operand::Const(c) => return Given::Const(c),
                Operand::Var(x) => (block, v) = (*from, *x),
            },
            _ => break,
        }
    }
    Given::Variable(&graph.vars[v.index()].name)
}

/// The kind of a constant, as far as messages need it.
fn const_val(solver: &Solver, c: &taipan_graph::Const) -> Val {
    use crate::Desc;
    use crate::val::Atom;
    use taipan_graph::Const;
    match c {
        Const::None => Val::none(),
        Const::Bool(_) => Val::bool_(),
        Const::Int(i) => Val::const_int(*i),
        Const::RInt(k, v) => Val::int(*k, k.is_nonneg(*v)),
        Const::Float(_) => Atom::Float.into(),
        Const::Str(_) => Val::str_(false),
        Const::Unicode(_) => Val::unicode(false),
        Const::Tuple(items) => Val::tuple(items.iter().map(|i| const_val(solver, i)).collect()),
        Const::Obj(o) => match solver.facts.object(*o).ok().flatten().as_deref() {
            Some(ObjData::Function(_)) => Val::pbc(Desc::Function(*o)),
            Some(ObjData::Class(_)) => Val::pbc(Desc::Class(*o)),
            Some(ObjData::Instance(i)) if !i.frozen => Val::instance(i.class),
            Some(_) => Val::pbc(Desc::Frozen(*o)),
            None => Val::default(),
        },
        _ => Val::default(),
    }
}

/// A slot in words.
fn slot_name(solver: &Solver, key: &SlotKey) -> String {
    let func = |s: &SpecIx| solver.store.specs[*s].func;
    match key {
        SlotKey::Arg(s, i) => {
            let name = match solver.facts.function(func(s)) {
                Ok(Some(info)) => {
                    let passed = Passed::of_key(&solver.store.specs[*s].key);
                    let parameter = passed.parameter_of(*i as usize);
                    info.params.argnames.get(parameter).cloned()
                }
                _ => None,
            };
            match name {
                Some(n) => format!("argument {n} of {}()", object_name(solver, func(s))),
                None => format!("argument {} of {}()", i + 1, object_name(solver, func(s))),
            }
        }
        SlotKey::Ret(s) => format!("the result of {}()", object_name(solver, func(s))),
        SlotKey::Attr(c, n) => format!("attribute {n} of {}", object_name(solver, *c)),
        SlotKey::Item(_) => "a list".into(),
        SlotKey::Key(_) => "the set of keys of a dict".into(),
        SlotKey::Value(_) => "the set of values of a dict".into(),
        _ => "a value".into(),
    }
}
