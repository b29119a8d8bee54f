//! Annotated graphs: rewritten where annotations decide what an operation means.

use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use taipan_graph::{Block, Const, FunctionGraph, HighLevel, HlOp, Link, Operand, Operation};

use super::Projector;
use super::families::Row;
use crate::eval::{CallRecord, FunctionState, OpRecord, Passed, default_of};
use crate::result::{
    CallInfo, Calls, DirectCall, EntryCall, FunctionAnnotation, IndirectCall, Instantiate,
    MemoCall, Target, VarAnnotations,
};
use crate::solution::unreached;
use crate::store::{NodeIx, NodeKey, SpecIx};
use crate::val::{Atom, Val};
use crate::{Desc, SomeValue};

impl Projector<'_> {
    /// The flow graph of a function.
    pub(crate) fn graph(&self, spec: SpecIx) -> Option<Arc<FunctionGraph>> {
        let func = self.solver.store.specs[spec].func;
        self.solver.facts.flow(func).ok()?.graph.clone().ok()
    }

    /// The annotated graph of a function.
    pub(crate) fn function(&self, spec: SpecIx) -> Arc<FunctionAnnotation> {
        self.view
            .cached(|c| &mut c.functions, spec, || self.annotated(spec))
    }

    fn annotated(&self, spec: SpecIx) -> FunctionAnnotation {
        let (Some(state), Some(graph)) = (self.state(spec), self.graph(spec)) else {
            return FunctionAnnotation {
                signature: self.signature(spec),
                broken: self.broken(spec),
                ..unreached()
            };
        };
        let vars = self.var_annotations(&state.vars, graph.vars.len());
        let mut reached = state.reached.clone();
        reached.resize(graph.blocks.len(), false);
        let mut out = FunctionAnnotation {
            graph: graph.clone(),
            vars,
            reached,
            calls: Calls::default(),
            followed: state.followed.clone(),
            signature: self.signature(spec),
            broken: self.broken(spec),
        };
        let mut rewritten = None;
        out.calls = self.resolve_calls(&graph, state, &mut out, &mut rewritten);
        self.adapt_start(spec, &graph, &mut out, &mut rewritten);
        if let Some(g) = rewritten {
            out.graph = Arc::new(g);
        }
        out
    }

    /// Annotations of so many variables, the first of which have these values.
    fn var_annotations(&self, vals: &[Val], vars: usize) -> VarAnnotations {
        let bottom = Val::default();
        let mut seen: FxHashMap<&Val, u32> = FxHashMap::default();
        let mut distinct: IndexSet<SomeValue, FxBuildHasher> = IndexSet::default();
        let all = vals.iter().chain(std::iter::repeat(&bottom)).take(vars);
        let index = all.map(|val| {
            *seen.entry(val).or_insert_with(|| {
                let (i, _) = distinct.insert_full(self.view.sites.some_value(val));
                i as u32
            })
        });
        let index = index.collect();
        VarAnnotations::new(distinct, index)
    }

    /// Resolves calls, and spells out operations that stand for a call.
    fn resolve_calls(
        &self,
        graph: &FunctionGraph,
        state: &FunctionState,
        out: &mut FunctionAnnotation,
        rewritten: &mut Option<FunctionGraph>,
    ) -> Calls {
        let mut calls = Vec::new();
        for block in graph.reachable() {
            if !out.reached[block.index()] {
                continue;
            }
            let mut records = &state.ops[state.ops.partition_point(|(b, ..)| *b < block)..];
            let mut shift = 0;
            for (i, op) in graph.block(block).operations.iter().enumerate() {
                let record = match records.split_first() {
                    Some(((b, n, record), rest)) if (*b, *n as usize) == (block, i) => {
                        records = rest;
                        Some(record)
                    }
                    _ => None,
                };
                let at = (block, i as u32 + shift);
                if let Some(OpRecord {
                    special: Some((name, method)),
                    ..
                }) = record
                {
                    let g = rewritten.get_or_insert_with(|| graph.clone());
                    let v_method = g.new_var("", ());
                    out.vars.push(self.view.sites.some_value(method));
                    let ops = &mut g.block_mut(block).operations;
                    let place = at.1 as usize;
                    let old = &ops[place];
                    let mut args = smallvec::smallvec![Operand::Var(v_method)];
                    // The name of a property's attribute is no argument of its accessor.
                    let skip = match old.op {
                        HlOp::GetAttr | HlOp::SetAttr => 2,
                        _ => 1,
                    };
                    args.extend(old.args.iter().skip(skip).cloned());
                    let call = Operation {
                        op: HlOp::SimpleCall,
                        args,
                        result: old.result,
                        at: old.at,
                    };
                    let getattr = Operation {
                        op: HlOp::GetAttr,
                        args: smallvec::smallvec![
                            old.args[0].clone(),
                            Operand::Const(Const::str(name))
                        ],
                        result: v_method,
                        at: old.at,
                    };
                    ops[place] = call;
                    ops.insert(place, getattr);
                    shift += 1;
                    calls.push(((block, at.1 + 1), self.resolved(record, method)));
                } else if matches!(op.op, HlOp::SimpleCall | HlOp::CallArgs) {
                    let callee = self.operand_val(&op.args[0], state);
                    calls.push((at, self.resolved(record, &callee)));
                }
            }
        }
        calls.into_iter().collect()
    }

    fn operand_val(&self, o: &Operand<HighLevel>, state: &FunctionState) -> Val {
        match o {
            Operand::Var(v) => state.vars[v.index()].clone(),
            Operand::Const(_) => Val::event(),
        }
    }

    /// How the call of an operation is resolved.
    fn resolved(&self, record: Option<&OpRecord>, callee: &Val) -> CallInfo {
        let Some(record) = record else {
            return self.call_info(&[], callee);
        };
        let dispatch = record.family.map(|(set, n)| NodeKey::Dispatch(set, n));
        match dispatch.map(|key| self.solver.store.find_node(&key)) {
            None => self.call_info(&record.calls, callee),
            Some(None) => self.call_info(&[], callee),
            // All calls of a set are resolved in the same way.
            Some(Some(n)) => {
                let resolve = || self.call_info(self.dispatched(n), callee);
                let info = self.view.cached(|c| &mut c.dispatches, n, resolve);
                CallInfo::clone(&info)
            }
        }
    }

    /// The functions that the node of a set calls.
    fn dispatched(&self, n: NodeIx) -> &[CallRecord] {
        let state = self.solver.functions.get(n);
        match state.and_then(|s| s.ops.first()) {
            Some((_, _, r)) => &r.calls,
            None => &[],
        }
    }

    /// How a call is resolved.
    fn call_info(&self, calls: &[CallRecord], callee: &Val) -> CallInfo {
        let Some(first) = calls.first() else {
            return if callee.atoms.is_empty() {
                CallInfo::Never
            } else {
                CallInfo::Builtin
            };
        };
        if matches!(
            callee.single(),
            Some(Atom::Builtin(_) | Atom::BuiltinMethod { .. })
        ) {
            return CallInfo::Builtin;
        }
        if let [CallRecord { entry: Some(e), .. }] = calls {
            return CallInfo::Entry(EntryCall {
                entry: e.entry,
                about: e.about,
                args: e.args.clone(),
                result: e.result.clone(),
                calls: e.calls.iter().map(|s| self.target(*s)).collect(),
            });
        }
        if calls.iter().any(|c| matches!(c.desc, Desc::Class(_))) {
            return self.instantiation(calls);
        }
        if let Some(table) = &first.memo {
            // The one instance that a method is bound to is no argument at run time.
            let (func, bound) = match first.desc {
                Desc::Function(func) => (func, 0),
                Desc::FrozenMethod { func, .. } if calls.len() == 1 => (func, 1),
                _ => return CallInfo::Builtin,
            };
            return CallInfo::Memo(MemoCall {
                func,
                table: table
                    .iter()
                    .map(|(args, result)| (args[bound..].to_vec(), result.clone()))
                    .collect(),
                args: first.args[bound..].to_vec(),
            });
        }
        let row = Row::of(&self.solver.store.specs, calls);
        debug_assert_same_arguments(calls);
        // Graphs of one function have one place in a row: the RTyper says so.
        let one = calls.iter().all(|c| c.target == first.target);
        match (row.len(), first.target, self.view.families.place(&row)) {
            (0 | 1, Some(target), _) if one => CallInfo::Direct(DirectCall {
                target: self.target(target),
                args: first.args.clone(),
            }),
            (_, Some(_), Some((family, n))) => CallInfo::Indirect(IndirectCall {
                family,
                row: n,
                targets: self.distinct_targets(calls),
                args: first.args.clone(),
            }),
            _ => CallInfo::Never,
        }
    }

    fn distinct_targets(&self, calls: &[CallRecord]) -> Arc<[Target]> {
        let mut all: Vec<(&Desc, SpecIx)> = (calls.iter())
            .filter_map(|c| Some((&c.desc, c.target?)))
            .collect();
        all.sort_unstable();
        let distinct: IndexSet<SpecIx, FxBuildHasher> = all.into_iter().map(|t| t.1).collect();
        distinct.into_iter().map(|t| self.target(t)).collect()
    }

    fn instantiation(&self, calls: &[CallRecord]) -> CallInfo {
        let mut classes: Vec<_> = calls
            .iter()
            .filter_map(|c| match c.desc {
                Desc::Class(class) => Some((class, c.target.map(|t| self.target(t)))),
                _ => None,
            })
            .collect();
        classes.sort_by_key(|c| c.0);
        classes.dedup_by_key(|c| c.0);
        let row = Row::of(&self.solver.store.specs, calls);
        debug_assert_same_arguments(calls);
        CallInfo::Instantiate(Instantiate {
            classes,
            args: calls
                .iter()
                .find(|c| c.target.is_some())
                .map(|c| c.args.clone())
                .unwrap_or_default(),
            init_family: if calls.len() > 1 {
                self.view.families.place(&row)
            } else {
                None
            },
        })
    }

    /// Makes the graph take what calls pass: `*args` one by one, and of the named arguments
    /// those that callers pass, in their order.
    fn adapt_start(
        &self,
        spec: SpecIx,
        graph: &Arc<FunctionGraph>,
        out: &mut FunctionAnnotation,
        rewritten: &mut Option<FunctionGraph>,
    ) {
        let key = &self.solver.store.specs[spec];
        let Ok(Some(info)) = self.solver.facts.function(key.func) else {
            return;
        };
        let by_callers = Passed::of_key(&key.key);
        if !info.params.varargs && by_callers == Passed::All {
            return;
        }
        let (args, _) = self.own_signature(spec);
        let g = rewritten.get_or_insert_with(|| (**graph).clone());
        let inner = g.args().to_vec();
        let (named, tuple) = match inner.split_last() {
            Some((tuple, named)) if info.params.varargs => (named, Some(*tuple)),
            _ => (&inner[..], None),
        };
        let given = by_callers.count(named.len());
        let mut block: Block<HighLevel> = Block::default();
        for arg in 0..given {
            let v = named[by_callers.parameter_of(arg)];
            block.inputargs.push(g.copy_var(v));
            out.vars.push_copy(v);
        }
        let mut passed: Vec<Operand<HighLevel>> = Vec::new();
        for i in 0..named.len() {
            match by_callers.argument_of(i) {
                Some(arg) => passed.push(Operand::Var(block.inputargs[arg])),
                None => passed.extend(
                    default_of(&info.data.defaults, named.len(), i)
                        .map(|d| Operand::Const(d.clone())),
                ),
            }
        }
        if let Some(tuple) = tuple {
            let mut items = smallvec::SmallVec::new();
            for (i, v) in args.iter().enumerate().skip(given) {
                let item = g.new_var(&format!("stararg{}", i - given), ());
                out.vars.push(self.view.sites.some_value(v));
                block.inputargs.push(item);
                items.push(Operand::Var(item));
            }
            let made = g.copy_var(tuple);
            out.vars.push_copy(tuple);
            block.operations.push(Operation {
                op: HlOp::NewTuple,
                args: items,
                result: made,
                at: 0,
            });
            passed.push(Operand::Var(made));
        }
        block.exits.push(Link::new(g.startblock, passed));
        let id = taipan_graph::BlockId(g.blocks.len() as u32);
        g.blocks.push(block);
        g.startblock = id;
        out.reached.push(true);
        out.followed.push((id, 0));
    }
}

/// All callees of one call site take the same arguments: the call has one list of them.
fn debug_assert_same_arguments(calls: &[CallRecord]) {
    let mut called = calls.iter().filter(|c| c.target.is_some());
    let first = called.next();
    debug_assert!(
        called.all(|c| first.is_some_and(|f| f.args == c.args)),
        "callees of one call take different arguments: {calls:?}"
    );
}
