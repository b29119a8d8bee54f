//! Operations that block: in a reached function, nothing comes to their operands.

use taipan_base::ErrorCode;
use taipan_graph::{BlockId, Const, FunctionGraph, HighLevel, HlOp, Operand, Operation};

use super::Fault;
use crate::SiteId;
use crate::eval::{FunctionState, of_class, of_exception, of_file, of_generator, special_method};
use crate::facts::ClassInfo;
use crate::origins::object_name;
use crate::project::Projector;
use crate::store::{SlotKey, SpecIx};
use crate::val::{Atom, Val};

/// Functions, by module and name, whose blocked operations are dead code: no `erase()` reaches this `unerase()`, as in
/// RPython; no exception of this class is raised.
const DEAD: [(&str, &str); 2] = [
    ("rpython.rlib.rerased", "unerase"),
    ("_taipan_extension", "message"),
];

/// Operations that cannot succeed although nothing is wrong with them: they wait for
/// a value that never comes. That is said only where nothing else explains it.
pub(super) fn blocked(projector: &Projector<'_>, spec: SpecIx) -> Vec<Fault> {
    let func = projector.solver.store.specs[spec].func;
    let (Some(state), Some(graph)) = (projector.reached_state(spec), projector.graph(spec)) else {
        return Vec::new();
    };
    if let Ok(Some(info)) = projector.solver.facts.function(func)
        && DEAD.contains(&(&*info.data.module, &*info.data.name))
    {
        return Vec::new();
    }
    let fault = |(b, n): &(BlockId, u32)| {
        let op = &graph.block(*b).operations[*n as usize];
        let name = match &op.args[..] {
            [_, Operand::Const(name)] if op.op == HlOp::GetAttr => name.as_str(),
            _ => special_method(op.op),
        };
        if let Some(Operand::Var(x)) = op.args.first()
            && let (Some(x), Some(name)) = (state.vars.get(x.index()), name)
            && (op.op == HlOp::GetAttr || x.atoms.iter().any(|a| matches!(a, Atom::Instance(_))))
            && !x.is_bottom()
        {
            return Fault::At {
                place: Some((func, Some(op.at))),
                code: ErrorCode::NoSuchAttribute,
                message: format!(
                    "{} has no attribute `{name}`",
                    projector.solver.facts.describe(x)
                ),
                help: Some(lacking(projector, x, name).into()),
                origins: Vec::new(),
                follows: false,
                caller: None,
                about: None,
                subject: None,
            };
        }
        let (message, help) = never(projector, &graph, state, op);
        Fault::At {
            place: Some((func, Some(op.at))),
            code: ErrorCode::NeverComes,
            message,
            help: help.map(Into::into),
            origins: Vec::new(),
            follows: false,
            caller: None,
            about: None,
            subject: None,
        }
    };
    state.blocked.iter().map(fault).collect()
}

/// The remedy for an attribute that nothing reached defines.
fn lacking(projector: &Projector<'_>, x: &Val, name: &str) -> &'static str {
    let default = "neither its class nor an assignment that is reached defines it";
    let Some(Atom::Instance(Some(class))) = x.single() else {
        return default;
    };
    let facts = &projector.solver.facts;
    let of_known = |info: &ClassInfo| {
        (of_exception(name).filter(|_| info.builtin_exception))
            .or_else(|| of_file(&info.name, name))
            .or_else(|| of_generator(&info.name, name))
    };
    let info = facts.class(*class).ok().flatten();
    let remedy = (info.as_deref().and_then(of_known))
        .or_else(|| of_class(facts, *class, name).ok().flatten());
    remedy.unwrap_or(default)
}

/// An operation on a result that is always None: the name of the function that returns it.
fn none_of(
    projector: &Projector<'_>,
    graph: &FunctionGraph,
    state: &FunctionState,
    op: &Operation<HighLevel>,
) -> Option<String> {
    let none = op.args.iter().find_map(|a| match a {
        Operand::Var(v) if state.vars.get(v.index()).is_some_and(Val::is_none) => Some(*v),
        _ => None,
    })?;
    let made = (graph.reachable().into_iter())
        .flat_map(|b| &graph.block(b).operations)
        .find(|o| o.result == none)?;
    match (made.op, made.args.first()) {
        (HlOp::SimpleCall, Some(Operand::Const(Const::Obj(f)))) => {
            Some(object_name(projector.solver, *f))
        }
        _ => None,
    }
}

/// Why an operation never comes to a value, and what helps.
fn never(
    projector: &Projector<'_>,
    graph: &FunctionGraph,
    state: &FunctionState,
    op: &Operation<HighLevel>,
) -> (String, Option<&'static str>) {
    let store = &projector.solver.store;
    let empty = |site: &SiteId| store.value(&SlotKey::Item(*site)).is_bottom();
    let set = "one of its operands is never set: an attribute that nothing assigns, or the result \
               of a function that never returns";
    if let (HlOp::GetItem, [Operand::Var(of), rest @ ..]) = (op.op, &op.args[..]) {
        match (state.vars.get(of.index()).and_then(Val::single), rest) {
            (Some(Atom::List(site)), _) if empty(site) => {
                let help = "append to it, or leave the operation out";
                return (
                    "this list is always empty: nothing puts an item into it".into(),
                    Some(help),
                );
            }
            (Some(Atom::Dict(site)), _) if store.value(&SlotKey::Value(*site)).is_bottom() => {
                let help = "assign to an item, or leave the operation out";
                return (
                    "this dict is always empty: nothing puts an item into it".into(),
                    Some(help),
                );
            }
            (Some(Atom::Tuple(items)), [Operand::Const(Const::Int(i))]) => {
                let message = format!("a tuple of {} has no item {i}", items.len());
                return (message, None);
            }
            _ => {}
        }
    }
    let unset = op.args.iter().filter_map(|a| match a {
        Operand::Var(v) if state.vars.get(v.index()).is_some_and(Val::is_bottom) => {
            Some(&*graph.vars[v.index()].name)
        }
        _ => None,
    });
    if let Some(function) = none_of(projector, graph, state, op) {
        let message = format!("{} gets None, which {function}() returns", op.op.spelt());
        return (
            message,
            Some("`return` a value in it; a function that ends without `return` returns None"),
        );
    }
    match unset.into_iter().find(|name| !name.is_empty()) {
        Some(name) => (format!("`{name}` never gets a value"), Some(set)),
        None => (
            format!("{} never comes to a value here", op.op.spelt()),
            Some(set),
        ),
    }
}
