//! Where values came from, in the solver's state: who contributes to a slot, and by which
//! calls and assignments an operation has what it works on. For messages only, so without
//! positions in the sources.

pub(crate) mod way;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_graph::{Args, Const, FunctionGraph, HighLevel, HlOp, ObjId, Operand, Operation, VarId};
use taipan_interp::ObjData;

use self::way::Way;
use crate::eval::{CallRecord, FunctionState, OpRecord, Passed};
use crate::project::is_conflict;
use crate::solver::{FactJoiner, Solver};
use crate::store::{NodeKey, SlotKey, SpecIx};
use crate::val::{Atom, Val};
use crate::{ArgSource, Desc, SiteId};

/// An instruction of a function, or the function as a whole; none: no place in the
/// program.
pub(crate) type Place = Option<(ObjId, Option<u32>)>;

/// One way in which a value came to a place.
pub(crate) struct Origin {
    pub(crate) val: Val,
    pub(crate) place: Place,
    /// Which of the items it is, of the list or dict that may be displayed there.
    pub(crate) item: Option<usize>,
    /// How it came there.
    pub(crate) way: Way,
}

/// How far back ways are followed.
const FAR: usize = 12;

/// Maximum number of prebuilt contributors of a slot for which users are searched. A slot of a large program
/// has thousands, and each search evaluates functions again.
const MOST_SEARCHES: usize = 16;

/// Who contributes to a slot: where, what, and in words.
pub(crate) fn contributors(solver: &mut Solver, key: &SlotKey) -> Vec<Origin> {
    let mut out = Vec::new();
    contributors_of_joined(solver, key, &mut Search::default(), &mut out);
    out
}

/// The state of a search for the contributors of a slot.
#[derive(Default)]
struct Search {
    seen: FxHashSet<SlotKey>,
    /// Prebuilt contributors whose users were searched.
    prebuilt: usize,
}

/// The same, of a slot and of those whose content it shares.
fn contributors_of_joined(
    solver: &mut Solver,
    key: &SlotKey,
    search: &mut Search,
    out: &mut Vec<Origin>,
) {
    if !search.seen.insert(key.clone()) {
        return;
    }
    // A display writes its items in their order.
    let (each, first) = match key {
        SlotKey::Item(_) => (1, Some(0)),
        SlotKey::Key(_) => (2, Some(0)),
        SlotKey::Value(_) => (2, Some(1)),
        _ => (0, None),
    };
    let mut last = None;
    let mut item = first;
    for (node, val, at) in writers(solver, key) {
        let this = Some((node.clone(), at));
        item = match item {
            Some(item) if last == this => Some(item + each),
            _ => first,
        };
        last = this;
        if let (NodeKey::Dispatch(set, count), SlotKey::Arg(_, i)) = (&node, key) {
            // Methods have their self before what is passed.
            let first = solver.store.methods(*set).first();
            let selves = u32::from(matches!(first, Some(Desc::Method { .. })));
            if let Some(i) = i.checked_sub(selves) {
                out.extend(contributors(solver, &SlotKey::SetArg(*set, *count, i)));
                continue;
            }
        }
        let (place, way) = match node {
            NodeKey::Spec(s) => {
                let func = solver.store.specs[s].func;
                let function = Some(object_name(solver, func));
                let line = None;
                (Some((func, at)), Way::Here { line, function })
            }
            NodeKey::Root(_) => (None, Way::Outside),
            NodeKey::Prebuilt(o) => {
                search.prebuilt += 1;
                let user = match search.prebuilt <= MOST_SEARCHES {
                    true => user_of(solver, o, FAR, &mut FxHashSet::default()),
                    false => None,
                };
                let way = user.map_or(Way::Prebuilt, |_| Way::UsedPrebuilt);
                (user, way)
            }
            // A field of a subclass is that of the base class on which it is used.
            NodeKey::Attr(class, name) if matches!(key, SlotKey::Attr(to, _) if *to != class) => {
                contributors_of_joined(solver, &SlotKey::Attr(class, name), search, out);
                continue;
            }
            NodeKey::Attr(..) => (None, Way::Class),
            NodeKey::Edge(_, a, b) => {
                for site in [a, b] {
                    if let Some(other) = at_site(key, site) {
                        contributors_of_joined(solver, &other, search, out);
                    }
                }
                continue;
            }
            _ => continue,
        };
        out.push(Origin {
            val,
            place,
            item,
            way,
        });
    }
}

/// What a slot of a list or dict is for another one.
fn at_site(key: &SlotKey, site: SiteId) -> Option<SlotKey> {
    Some(match key {
        SlotKey::Item(_) => SlotKey::Item(site),
        SlotKey::Key(_) => SlotKey::Key(site),
        SlotKey::Value(_) => SlotKey::Value(site),
        _ => return None,
    })
}

/// Nodes that write to a slot, with what they write and at which instruction.
fn writers(solver: &mut Solver, key: &SlotKey) -> Vec<(NodeKey, Val, Option<u32>)> {
    let Some(slot) = solver.store.find_slot_ix(key) else {
        return Vec::new();
    };
    let log = &solver.store.slots[slot].log;
    let mut nodes: Vec<_> = log.iter().map(|e| e.node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let mut out = Vec::new();
    for n in nodes {
        let node = solver.store.nodes[n].key.clone();
        let written = solver.contributions(n, slot).into_iter();
        out.extend(written.map(|(val, at)| (node.clone(), val, at)));
    }
    out
}

/// A place in a function that uses a prebuilt object, or an attribute.
pub(crate) fn user_of_data(solver: &mut Solver, data: &NodeKey) -> Place {
    match data {
        NodeKey::Prebuilt(o) => user_of(solver, *o, FAR, &mut FxHashSet::default()),
        NodeKey::Attr(class, name) => {
            let readers = readers_of_data(solver, *class, name);
            readers.into_iter().min()
        }
        _ => None,
    }
}

/// A place in a function that uses a prebuilt object, itself or by way of others that were not `seen`.
fn user_of(solver: &mut Solver, object: ObjId, far: usize, seen: &mut FxHashSet<ObjId>) -> Place {
    if !seen.insert(object) {
        return None;
    }
    let users = writers(solver, &SlotKey::Seen(object));
    let direct = users.iter().filter_map(|(node, _, at)| match node {
        NodeKey::Spec(s) => Some((solver.store.specs[*s].func, *at)),
        _ => None,
    });
    if let Some(place) = direct.min() {
        return Some(place);
    }
    if far == 0 {
        return None;
    }
    let mut places: Vec<(ObjId, Option<u32>)> = Vec::new();
    for (node, ..) in users {
        match node {
            NodeKey::Prebuilt(o) if o != object => {
                let attributes = attributes_with(solver, o, object);
                if attributes.is_empty() {
                    places.extend(user_of(solver, o, far - 1, seen));
                }
                for (class, name) in attributes {
                    places.extend(readers_of_attribute(solver, class, name));
                }
            }
            NodeKey::Attr(class, name) => {
                places.extend(readers_of_data(solver, class, &name));
            }
            _ => {}
        }
    }
    places.into_iter().min()
}

/// The attributes by which a prebuilt instance holds an object, with each class that may
/// have them in use.
fn attributes_with(solver: &Solver, instance: ObjId, object: ObjId) -> Vec<(ObjId, Arc<str>)> {
    let data = solver.facts.object(instance).ok().flatten();
    let Some(ObjData::Instance(data)) = data.as_deref() else {
        return Vec::new();
    };
    let chain = solver.facts.chain(data.class).unwrap_or_default();
    let held = data.attrs.iter().filter(|(_, v)| *v == Const::Obj(object));
    held.flat_map(|(name, _)| chain.iter().map(|c| (*c, Arc::from(&**name))))
        .collect()
}

/// The places in functions that read or write what a class has of an attribute: on its
/// instances, or on those of the nearest base class where that is done.
fn readers_of_data(
    solver: &mut Solver,
    class: ObjId,
    name: &Arc<str>,
) -> Vec<(ObjId, Option<u32>)> {
    let chain = solver.facts.chain(class).unwrap_or_default();
    let used = |c: &ObjId| {
        let used = solver.store.value(&SlotKey::AttrUsed(*c, name.clone()));
        !used.is_bottom()
    };
    match chain.into_iter().find(used) {
        Some(home) => readers_of_attribute(solver, home, name.clone()),
        None => Vec::new(),
    }
}

/// The places in functions that read or write an attribute on instances of a class.
fn readers_of_attribute(
    solver: &mut Solver,
    class: ObjId,
    name: Arc<str>,
) -> Vec<(ObjId, Option<u32>)> {
    let readers = writers(solver, &SlotKey::AttrUsed(class, name));
    let in_functions = readers.into_iter().filter_map(|(node, _, at)| match node {
        NodeKey::Spec(s) => Some((solver.store.specs[s].func, at)),
        _ => None,
    });
    in_functions.collect()
}

/// For each operand of the operations at an instruction that comes from elsewhere: the
/// places that it came by, from the function outwards.
pub(crate) fn operands(solver: &mut Solver, spec: SpecIx, at: u32) -> Vec<Vec<Origin>> {
    let mut slots: Vec<SlotKey> = Vec::new();
    with_graph(solver, spec, |graph, state| {
        for op in operations(graph, at) {
            for operand in &op.args {
                let slot = source(solver, spec, graph, state, operand);
                slots.extend(slot.filter(|s| !slots.contains(s)));
            }
        }
    });
    (slots.into_iter())
        .map(|slot| ways(solver, slot))
        .filter(|chain| !chain.is_empty())
        .collect()
}

/// Whether an operation at an instruction works on values that do not go together: that
/// is a mistake of its own.
pub(crate) fn works_on_conflict(solver: &Solver, spec: SpecIx, at: u32) -> bool {
    let mut found = false;
    with_graph(solver, spec, |graph, state| {
        let vars = operations(graph, at).flat_map(|op| op.args.iter().filter_map(var));
        found = (vars.filter_map(|v| state.vars.get(v.index()))).any(is_conflict);
    });
    found
}

/// The remedy for a call of a property's value at an instruction.
pub(crate) fn called_property(solver: &Solver, spec: SpecIx, at: u32) -> Option<String> {
    let mut found = None;
    with_graph(solver, spec, |graph, state| {
        let callees = operations(graph, at)
            .filter(|op| op.op == HlOp::SimpleCall)
            .filter_map(|op| op.args.first().and_then(var));
        let callees: Vec<VarId> = callees.collect();
        found = state.ops.iter().find_map(|(b, n, record)| {
            let op = &graph.block(*b).operations[*n as usize];
            let (getter, _) = record.special.as_ref()?;
            let property = getter.strip_suffix("__getter__")?;
            let called = op.op == HlOp::GetAttr && callees.contains(&op.result);
            called.then(|| format!("`{property}` is a property: leave the parentheses out"))
        });
    });
    found
}

/// A constant that a block passes to the next one.
pub(crate) struct PassedConstant {
    /// The instruction at which the block ends.
    pub(crate) at: u32,
    /// The variable whose value it becomes.
    pub(crate) name: Box<str>,
}

/// Where a block that ends at an instruction passes on a constant, if no operation there works on it.
pub(crate) fn passed_constant(
    solver: &Solver,
    spec: SpecIx,
    at: u32,
    value: &Const,
) -> Option<PassedConstant> {
    let is_it = |a: &Operand<HighLevel>| a.as_const() == Some(value);
    let mut found = None;
    with_graph(solver, spec, |graph, _| {
        if operations(graph, at).any(|op| op.args.iter().any(is_it)) {
            return;
        }
        let blocks = graph.reachable().into_iter().map(|b| graph.block(b));
        let ending = blocks.filter(|block| block.operations.last().is_some_and(|op| op.at == at));
        found = ending.flat_map(|block| &block.exits).find_map(|link| {
            let i = link.args.iter().position(is_it)?;
            let target = graph.block(link.target).inputargs[i];
            Some(PassedConstant {
                at: link.at.unwrap_or(at),
                name: graph.vars[target.index()].name.clone(),
            })
        });
    });
    found
}

fn with_graph(solver: &Solver, spec: SpecIx, look: impl FnOnce(&FunctionGraph, &FunctionState)) {
    let func = solver.store.specs[spec].func;
    if let Ok(flow) = solver.facts.flow(func)
        && let Some(graph) = flow.any_graph()
        && let Some(state) = state_of(solver, spec)
    {
        look(graph, state);
    }
}

/// The operations that an instruction became.
fn operations(graph: &FunctionGraph, at: u32) -> impl Iterator<Item = &Operation<HighLevel>> {
    (graph.reachable().into_iter())
        .flat_map(|b| &graph.block(b).operations)
        .filter(move |op| op.at == at)
}

/// How a value came to a slot, the nearest place first. Of several the first in the order
/// of the program: they agree on the kind, or that is the mistake.
fn ways(solver: &mut Solver, mut slot: SlotKey) -> Vec<Origin> {
    let mut chain: Vec<Origin> = Vec::new();
    while chain.len() < FAR {
        let mut found = contributors(solver, &slot);
        found.retain(|o| o.place.is_some_and(|(_, at)| at.is_some()));
        found.sort_by_cached_key(|o| (o.place, solver.facts.describe(&o.val)));
        let Some(first) = found.into_iter().next() else {
            break;
        };
        let place = first.place;
        chain.push(first);
        let Some((func, Some(at))) = place else {
            break;
        };
        match handed_on(solver, (func, at), &slot) {
            Some(next) if next != slot => slot = next,
            _ => break,
        }
    }
    chain
}

/// Where an instruction has the value from that it hands to a slot.
fn handed_on(solver: &Solver, (func, at): (ObjId, u32), slot: &SlotKey) -> Option<SlotKey> {
    // By name: numbers depend on the edits before.
    let mut specs: Vec<SpecIx> = solver.store.specs_of(func).to_vec();
    specs.sort_by_key(|s| &solver.store.specs[*s].key);
    let mut out = None;
    for spec in specs {
        with_graph(solver, spec, |graph, state| {
            out = match slot {
                SlotKey::Arg(callee, arg) => state.ops.iter().find_map(|(b, n, record)| {
                    let op = &graph.block(*b).operations[*n as usize];
                    let mut calls = calls_of(solver, record).iter().filter(|_| op.at == at);
                    let call = calls.find(|c| c.target == Some(*callee))?;
                    match call.args.get(*arg as usize)? {
                        ArgSource::Operand(i) => {
                            source(solver, spec, graph, state, op.args.get(*i as usize)?)
                        }
                        _ => None,
                    }
                }),
                SlotKey::Attr(..) => operations(graph, at)
                    .find(|op| op.op == HlOp::SetAttr)
                    .and_then(|op| source(solver, spec, graph, state, op.args.get(2)?)),
                _ => None,
            }
        });
        if out.is_some() {
            break;
        }
    }
    out
}

/// Calls of several functions whose results do not go together: the instructions, with two
/// of the functions each.
pub(crate) fn mixed_results(solver: &Solver, spec: SpecIx) -> Vec<(u32, [Origin; 2])> {
    let mut out = Vec::new();
    with_graph(solver, spec, |graph, state| {
        for (b, n, record) in &state.ops {
            let op = &graph.block(*b).operations[*n as usize];
            if !state.vars.get(op.result.index()).is_some_and(is_conflict) {
                continue;
            }
            let called = called(solver, record).into_iter().map(|s| {
                let func = solver.store.specs[s].func;
                let val = solver.store.value(&SlotKey::Ret(s)).clone();
                (val, func, object_name(solver, func))
            });
            let mut called: Vec<_> = called.filter(|(val, ..)| !val.is_bottom()).collect();
            // That follows from another mistake.
            if called
                .iter()
                .any(|(val, ..)| is_conflict(val) || val.has_error())
            {
                continue;
            }
            // In an order that does not depend on the objects' ids.
            called.sort_by_cached_key(|(val, func, name)| {
                (solver.facts.describe(val), name.clone(), *func)
            });
            let mut joiner = FactJoiner::new(&solver.facts);
            let mut sum = Val::default();
            let clash = called.iter().position(|(val, ..)| {
                sum = sum.join(val, &mut joiner);
                is_conflict(&sum)
            });
            let Some(clash @ 1..) = clash else { continue };
            let origin = |i: usize| {
                let (val, func, name) = called[i].clone();
                Origin {
                    val,
                    place: Some((func, None)),
                    item: None,
                    way: Way::ReturnedBy(name),
                }
            };
            out.push((op.at, [origin(0), origin(clash)]));
        }
    });
    out
}

/// The nearest call that leads to a function and stands in a function that satisfies the
/// condition; the first by name where there are several.
pub(crate) fn caller(
    solver: &Solver,
    callee: SpecIx,
    wanted: impl Fn(ObjId) -> bool,
) -> Option<(ObjId, u32)> {
    let mut callers: FxHashMap<SpecIx, Vec<(SpecIx, u32)>> = FxHashMap::default();
    for (spec, _) in solver.store.specs.iter() {
        with_graph(solver, spec, |graph, state| {
            for (b, n, record) in &state.ops {
                let at = graph.block(*b).operations[*n as usize].at;
                for target in called(solver, record) {
                    callers.entry(target).or_default().push((spec, at));
                }
            }
        });
    }
    let (mut seen, mut level) = (FxHashSet::from_iter([callee]), vec![callee]);
    while !level.is_empty() {
        let calls = level.iter().filter_map(|s| callers.get(s)).flatten();
        let func = |s: SpecIx| solver.store.specs[s].func;
        let found = calls.clone().map(|(s, at)| (func(*s), *at));
        if let Some(place) = found.filter(|(f, _)| wanted(*f)).min() {
            return Some(place);
        }
        let next = calls.map(|(s, _)| *s).filter(|s| seen.insert(*s));
        level = next.collect();
    }
    None
}

/// The functions that an operation calls.
fn called(solver: &Solver, record: &OpRecord) -> Vec<SpecIx> {
    let calls = calls_of(solver, record).iter();
    calls.filter_map(|c| c.target).collect()
}

/// How an operation calls them.
fn calls_of<'s>(solver: &'s Solver, record: &'s OpRecord) -> &'s [CallRecord] {
    match record.family {
        Some((set, count)) => (solver.store.find_node(&NodeKey::Dispatch(set, count)))
            .and_then(|n| solver.functions.get(n).map(|s| &**s))
            .and_then(|state| state.ops.first())
            .map_or(&[][..], |(.., record)| &record.calls),
        None => &record.calls,
    }
}

/// What is known inside a function.
fn state_of(solver: &Solver, spec: SpecIx) -> Option<&FunctionState> {
    let node = solver.store.find_node(&NodeKey::Spec(spec))?;
    solver.functions.get(node).map(|s| &**s)
}

fn var(operand: &Operand<HighLevel>) -> Option<VarId> {
    match operand {
        Operand::Var(v) => Some(*v),
        Operand::Const(_) => None,
    }
}

/// The argument, attribute or result that an operand is, or is taken out of.
fn source(
    solver: &Solver,
    spec: SpecIx,
    graph: &FunctionGraph,
    state: &FunctionState,
    operand: &Operand<HighLevel>,
) -> Option<SlotKey> {
    let mut seen = vec![var(operand)?];
    let mut next = 0;
    while let Some(v) = seen.get(next).copied() {
        next += 1;
        let start = &graph.block(graph.startblock).inputargs;
        if let Some(i) = start.iter().position(|x| *x == v) {
            let passed = Passed::of_key(&solver.store.specs[spec].key);
            return Some(SlotKey::Arg(spec, passed.argument_of(i)? as u32));
        }
        for b in graph.reachable() {
            let block = graph.block(b);
            for (n, op) in block.operations.iter().enumerate() {
                if op.result != v {
                    continue;
                }
                match op.op {
                    HlOp::GetItem | HlOp::GetSlice | HlOp::Iter | HlOp::Next => {
                        let whole = op.args.first().and_then(var);
                        seen.extend(whole.filter(|x| !seen.contains(x)));
                    }
                    HlOp::GetAttr => return attribute(state, &op.args),
                    _ => {
                        let here = (b, n as u32);
                        let (.., record) = state.ops.iter().find(|(b, n, _)| (*b, *n) == here)?;
                        let call = calls_of(solver, record).first()?;
                        return Some(SlotKey::Ret(call.target?));
                    }
                }
            }
            for link in &block.exits {
                let inputs = &graph.block(link.target).inputargs;
                let given = inputs.iter().position(|x| *x == v);
                let given = given.and_then(|i| link.args.get(i).and_then(var));
                seen.extend(given.filter(|x| !seen.contains(x)));
            }
        }
    }
    None
}

/// The attribute that is read of an instance.
fn attribute(state: &FunctionState, args: &Args<HighLevel>) -> Option<SlotKey> {
    let [Operand::Var(x), Operand::Const(name)] = &args[..] else {
        return None;
    };
    let of = state
        .vars
        .get(x.index())?
        .atoms
        .iter()
        .find_map(|a| match a {
            Atom::Instance(c) => *c,
            _ => None,
        })?;
    Some(SlotKey::Attr(of, name.as_str()?.into()))
}

/// The name of a function or class.
pub(crate) fn object_name(solver: &Solver, o: ObjId) -> String {
    match solver.facts.object(o).ok().flatten().as_deref() {
        Some(ObjData::Function(f)) => f.name.to_string(),
        Some(ObjData::Class(c)) => c.name.to_string(),
        _ => "?".into(),
    }
}
