//! What is wrong with a solved program, with places and the ways that types came.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_base::{Db, Diagnostic, Span};
use taipan_flow::{flow_diagnostics, span_at};
use taipan_graph::{BlockId, ObjId};
use taipan_interp::{Function, ObjData};

use crate::eval::{FLOW_FAILED, FunctionState};
use crate::project::is_conflict;
use crate::result::FunctionAnnotation;
use crate::solver::{FactJoiner, Solver};
use crate::store::{NodeIx, NodeKey, SlotIx, SlotKey, SpecIx};
use crate::val::Val;
use crate::{RootSet, Roots};

type Functions = FxHashMap<(ObjId, Arc<str>), Arc<FunctionAnnotation>>;

/// Collects diagnostics in a stable order, and marks the functions that they are
/// about as broken.
pub(crate) fn collect(
    db: &dyn Db,
    roots: Roots,
    solver: &mut Solver,
    functions: &mut Functions,
) -> Arc<[Diagnostic]> {
    let mut all: Vec<Diagnostic> = Vec::new();
    let mut add = |d: Diagnostic| {
        if !all.contains(&d) {
            all.push(d);
        }
    };
    let roots_of = (0..solver.roots.len()).filter_map(|i| solver.root_state(i));
    for p in roots_of.flat_map(|state| &state.problems) {
        add(Diagnostic::error(p.code, None, &p.message));
    }
    for d in slot_conflicts(db, roots, solver) {
        add(d);
    }
    if let Some(d) = entry_point_result(db, roots, solver) {
        add(d);
    }
    let mut specs: Vec<_> = solver.store.specs.iter().enumerate().collect();
    specs.sort_by(|a, b| (a.1.func, &a.1.key).cmp(&(b.1.func, &b.1.key)));
    for (i, spec) in specs {
        let Some(state) = state_of(solver, i as SpecIx) else {
            continue;
        };
        let function = Function::new(db, roots.program(db), spec.func);
        let mut own = Vec::new();
        for p in &state.problems {
            if p.code == FLOW_FAILED {
                own.extend(flow_diagnostics(db, function).iter().cloned());
                continue;
            }
            let mut d = Diagnostic::error(p.code, span_at(db, function, p.at), &p.message);
            d.help = p.help.map(Into::into);
            own.push(d);
        }
        own.extend(local_conflict(db, solver, function, spec.func, state));
        if let Some(first) = own.first()
            && let Some(f) = functions.get_mut(&(spec.func, spec.key.clone()))
        {
            let mut broken = (**f).clone();
            broken.broken = Some(Arc::new(first.clone()));
            *f = Arc::new(broken);
        }
        own.into_iter().for_each(&mut add);
    }
    if all.is_empty() {
        all = blocked(db, roots, solver);
    }
    all.sort_by_key(|d| order(db, d.primary));
    all.into()
}

/// An entry point returns an int: the exit code.
fn entry_point_result(db: &dyn Db, roots: Roots, solver: &Solver) -> Option<Diagnostic> {
    let RootSet::EntryPoint(func) = roots.set(db) else {
        return None;
    };
    let spec = solver.spec_of_root(solver.roots.first()?)?;
    let result = solver.store.value(&SlotKey::Ret(spec));
    if result.is_bottom() || is_conflict(result) || (!result.none && result.ints().is_some()) {
        return None;
    }
    let function = Function::new(db, roots.program(db), *func);
    let got = solver.facts.describe(result);
    Some(
        Diagnostic::error(
            "TP0316",
            span_at(db, function, None),
            format!("the entry point returns {got}, not an integer"),
        )
        .with_help("return 0 at the end"),
    )
}

/// Operations that cannot succeed although nothing is wrong with them: they wait for
/// a value that never comes. That is said only where nothing else explains it.
fn blocked(db: &dyn Db, roots: Roots, solver: &Solver) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for (i, spec) in solver.store.specs.iter().enumerate() {
        let Some(state) = state_of(solver, i as SpecIx) else {
            continue;
        };
        let Ok(flow) = solver.facts.flow(spec.func) else {
            continue;
        };
        let Ok(graph) = &flow.graph else { continue };
        let function = Function::new(db, roots.program(db), spec.func);
        for (b, n) in &state.blocked {
            let op = &graph.block(*b).operations[*n as usize];
            out.push(
                Diagnostic::error(
                    "TP0311",
                    span_at(db, function, Some(op.at)),
                    format!("this `{}` never gets a value", op.op),
                )
                .with_help(
                    "one of its operands is never set: an attribute that nothing assigns, \
                     an item of a list that stays empty",
                ),
            );
        }
    }
    out.dedup();
    out
}

fn state_of(solver: &Solver, spec: SpecIx) -> Option<&Arc<FunctionState>> {
    let node = solver.store.find_node(&NodeKey::Spec(spec))?;
    if solver.store.value(&SlotKey::Called(spec)).is_bottom() {
        return None;
    }
    solver.functions.get(node as usize)?.as_ref()
}

/// By file and place.
fn order(db: &dyn Db, span: Option<Span>) -> (String, u32, u32) {
    match span {
        Some(s) => (s.file.path(db).to_string(), s.range.start, s.range.end),
        None => Default::default(),
    }
}

/// One way in which a value came to a place.
struct Origin {
    val: Val,
    span: Option<Span>,
    from: String,
}

/// Slots whose contributions have no common annotation.
fn slot_conflicts(db: &dyn Db, roots: Roots, solver: &mut Solver) -> Vec<Diagnostic> {
    let mut places: BTreeMap<String, SlotIx> = BTreeMap::new();
    for (i, slot) in solver.store.slots.iter().enumerate() {
        let named = matches!(
            slot.key,
            SlotKey::Arg(..)
                | SlotKey::Ret(_)
                | SlotKey::Attr(..)
                | SlotKey::Item(_)
                | SlotKey::Key(_)
                | SlotKey::Value(_)
        );
        if named && is_conflict(slot.current()) {
            places
                .entry(slot_name(solver, &slot.key))
                .or_insert(i as SlotIx);
        }
    }
    let mut out = Vec::new();
    for (name, slot) in places {
        let mut nodes: Vec<NodeIx> = solver.store.slots[slot as usize]
            .log
            .iter()
            .map(|e| e.node)
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut origins: Vec<Origin> = Vec::new();
        for n in nodes {
            let key = solver.store.nodes[n as usize].key.clone();
            for (val, at) in solver.contributions(n, slot) {
                let (span, from) = match key {
                    NodeKey::Spec(s) => {
                        let func = solver.store.specs[s as usize].func;
                        let f = Function::new(db, roots.program(db), func);
                        let name = object_name(solver, func);
                        (span_at(db, f, at), format!("in {name}()"))
                    }
                    NodeKey::Root(_) => (None, "from outside the program".into()),
                    NodeKey::Prebuilt(_) => (None, "in a prebuilt object".into()),
                    NodeKey::Attr(..) => (None, "in a class or prebuilt instance".into()),
                    _ => continue,
                };
                origins.push(Origin { val, span, from });
            }
        }
        out.extend(conflict(db, solver, &format!("{name} mixes"), origins));
    }
    out
}

/// The diagnostic for values that do not go together.
fn conflict(
    db: &dyn Db,
    solver: &Solver,
    what: &str,
    mut origins: Vec<Origin>,
) -> Option<Diagnostic> {
    origins.retain(|o| !is_conflict(&o.val) && !o.val.is_bottom());
    origins.sort_by_cached_key(|o| order(db, o.span));
    let first = origins.first()?;
    let mut joiner = FactJoiner::new(&solver.facts);
    let mut sum = Val::default();
    let mut clash = None;
    for o in &origins {
        sum = sum.join(&o.val, &mut joiner);
        if is_conflict(&sum) {
            clash = Some(o);
            break;
        }
    }
    let clash = clash?;
    let (a, b) = (
        solver.facts.describe(&first.val),
        solver.facts.describe(&clash.val),
    );
    let mut d = Diagnostic::error(
        "TP0300",
        clash.span.or(first.span),
        format!("{what} {a} and {b}"),
    )
    .with_label(format!("{b} comes from here"))
    .with_note(first.span, format!("{a} comes from here, {}", first.from))
    .with_note(clash.span, format!("{b} comes from here, {}", clash.from));
    if a.contains("None") != b.contains("None") {
        d = d.with_help("only strings, lists, dicts, instances and the like may be None; use a special value instead");
    }
    Some(d)
}

/// A variable inside a function where values of different kinds come together.
fn local_conflict(
    db: &dyn Db,
    solver: &Solver,
    function: Function,
    func: ObjId,
    state: &FunctionState,
) -> Option<Diagnostic> {
    let flow = solver.facts.flow(func).ok()?;
    let graph = flow.graph.as_ref().ok()?;
    for target in graph.reachable() {
        for (i, v) in graph.block(target).inputargs.iter().enumerate() {
            if !state.vars.get(v.index()).is_some_and(is_conflict) {
                continue;
            }
            let mut origins = Vec::new();
            for (b, exit) in &state.followed {
                let block = graph.block(*b);
                let link = &block.exits[*exit as usize];
                if link.target != target {
                    continue;
                }
                let val = match &link.args[i] {
                    taipan_graph::Operand::Var(x) => state.vars[x.index()].clone(),
                    taipan_graph::Operand::Const(c) => const_val(solver, c),
                };
                let at = last_instruction(graph, *b);
                origins.push(Origin {
                    val,
                    span: span_at(db, function, at),
                    from: "on one way through the function".into(),
                });
            }
            let name = &graph.vars[v.index()].name;
            let what = if name.is_empty() {
                "a value here mixes".to_owned()
            } else {
                format!("variable {name} mixes")
            };
            if let Some(d) = conflict(db, solver, &what, origins) {
                return Some(d);
            }
        }
    }
    None
}

fn last_instruction(graph: &taipan_graph::FunctionGraph, b: BlockId) -> Option<u32> {
    graph.block(b).operations.last().map(|o| o.at)
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
        Const::RInt(k, v) => Val::int(*k, *v >= 0),
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

fn object_name(solver: &Solver, o: ObjId) -> String {
    match solver.facts.object(o).ok().flatten().as_deref() {
        Some(ObjData::Function(f)) => f.name.to_string(),
        Some(ObjData::Class(c)) => c.name.to_string(),
        _ => "?".into(),
    }
}

/// A slot in words.
fn slot_name(solver: &Solver, key: &SlotKey) -> String {
    let func = |s: &SpecIx| solver.store.specs[*s as usize].func;
    match key {
        SlotKey::Arg(s, i) => {
            let name = match solver.facts.function(func(s)) {
                Ok(Some(info)) => info.params.argnames.get(*i as usize).cloned(),
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
        SlotKey::Key(_) => "the keys of a dict".into(),
        SlotKey::Value(_) => "the values of a dict".into(),
        _ => "a value".into(),
    }
}
