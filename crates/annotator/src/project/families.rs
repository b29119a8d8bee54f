//! Call families: functions that are called at the same places, and their common
//! signatures (RPython: `CallFamily`, `normalizecalls.py`); attribute families.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use taipan_graph::{HlOp, ObjId};
use taipan_interp::ObjData;
use taipan_lltype::HelperArg;

use super::{Naming, Projector};
use crate::eval::{CallRecord, annotation_to_lltype};
use crate::result::{AttrFamily, CallFamily, FamilyRow, Signature};
use crate::solution::Solution;
use crate::solver::FactJoiner;
use crate::store::{NodeKey, SlotKey, SpecIx};
use crate::val::{Atom, Val};
use crate::{Desc, SomeValue};

/// A union-find over functions or objects; the smallest one stands for all.
#[derive(Default)]
struct Union(BTreeMap<ObjId, ObjId>);

impl Union {
    fn find(&self, mut x: ObjId) -> ObjId {
        while let Some(p) = self.0.get(&x) {
            x = *p;
        }
        x
    }

    fn union(&mut self, a: ObjId, b: ObjId) {
        let (a, b) = (self.find(a), self.find(b));
        if a != b {
            self.0.insert(a.max(b), a.min(b));
        }
    }
}

/// One set of graphs that call sites pick: by function.
type Row = BTreeMap<ObjId, SpecIx>;

/// The functions that a call may reach at run time through its callee.
pub(super) fn row_of(specs: &[crate::store::SpecKey], calls: &[CallRecord]) -> Row {
    calls
        .iter()
        .filter_map(|c| c.target)
        .map(|t| (specs[t as usize].func, t))
        .collect()
}

impl Projector<'_> {
    /// Finds the call families. Only those of a program have names outside: among
    /// helpers, calls that pick one function have no part in any.
    pub(super) fn find_families(&mut self) {
        let fewest = match self.naming {
            Naming::Program(..) => 1,
            Naming::Helpers(..) => 2,
        };
        let store = &self.solver.store;
        let mut union = Union::default();
        let mut sites: Vec<Row> = Vec::new();
        for spec in &self.order {
            let Some(state) = self.state(*spec) else {
                continue;
            };
            for (_, _, record) in &state.ops {
                if record.calls.len() < fewest {
                    continue;
                }
                let row = row_of(&store.specs, &record.calls);
                if row.len() < fewest {
                    continue;
                }
                let mut functions = row.keys();
                if let Some(first) = functions.next() {
                    for f in functions {
                        union.union(*first, *f);
                    }
                }
                sites.push(row);
            }
        }
        // Rows that agree on the functions they share are one.
        let mut rows: BTreeMap<ObjId, Vec<Row>> = BTreeMap::new();
        let mut members: BTreeMap<ObjId, BTreeSet<ObjId>> = BTreeMap::new();
        sites.sort();
        sites.dedup();
        for row in &sites {
            let Some(first) = row.keys().next() else {
                continue;
            };
            let family = union.find(*first);
            members.entry(family).or_default().extend(row.keys());
            let table = rows.entry(family).or_default();
            let fits = |r: &Row| row.iter().all(|(f, s)| r.get(f).is_none_or(|t| t == s));
            match table.iter_mut().find(|r| fits(r)) {
                Some(r) => r.extend(row.iter().map(|(f, s)| (*f, *s))),
                None => table.push(row.clone()),
            }
        }
        for row in &sites {
            let Some(first) = row.keys().next() else {
                continue;
            };
            let table = &rows[&union.find(*first)];
            let n = table
                .iter()
                .position(|r| row.iter().all(|(f, s)| r.get(f) == Some(s)));
            let key = row.iter().map(|(f, s)| (*f, *s)).collect();
            self.rows.insert(key, n.unwrap_or(0) as u32);
        }
        for row in rows.values().flatten().filter(|r| r.len() > 1) {
            for s in row.values() {
                self.shared.entry(*s).or_default().extend(row.values());
            }
        }
        for (family, table) in rows {
            let functions: Vec<ObjId> = members.remove(&family).into_iter().flatten().collect();
            for f in &functions {
                self.family_of.insert(*f, family);
            }
            let rows = table
                .iter()
                .map(|r| FamilyRow {
                    targets: r.iter().map(|(f, s)| (*f, self.target(*s))).collect(),
                    signature: r
                        .values()
                        .next()
                        .map(|s| self.signature(*s))
                        .unwrap_or_default(),
                })
                .collect();
            self.families.insert(family, CallFamily { functions, rows });
        }
    }

    /// What callers see of functions that share call sites.
    fn common_signature(&self, group: &BTreeSet<SpecIx>) -> Signature {
        let mut joiner = FactJoiner::new(&self.solver.facts);
        let mut args: Vec<Val> = Vec::new();
        let mut result = Val::default();
        let alone = group.len() == 1;
        for spec in group {
            let (own, ret) = self.own_signature(*spec);
            for (i, v) in own.into_iter().enumerate() {
                match args.get_mut(i) {
                    Some(a) => *a = a.join(&v, &mut joiner),
                    None => args.push(v),
                }
            }
            result = result.join(&ret, &mut joiner);
        }
        let some = |v: &Val| -> SomeValue {
            let v = if alone { v.clone() } else { v.not_const() };
            self.sites.some_value(&v)
        };
        Signature {
            args: args.iter().map(some).collect(),
            result: some(&result),
        }
    }

    /// The values of a function's arguments (`*args` flattened), and its result.
    pub(super) fn own_signature(&self, spec: SpecIx) -> (Vec<Val>, Val) {
        let store = &self.solver.store;
        let mut args = Vec::new();
        while let Some(slot) = store.find_slot(&SlotKey::Arg(spec, args.len() as u32)) {
            args.push(slot.current().clone());
        }
        (args, store.value(&SlotKey::Ret(spec)).clone())
    }

    pub(super) fn signature(&self, spec: SpecIx) -> Signature {
        self.common_signature(&closure(spec, &self.shared))
    }

    pub(super) fn state(&self, spec: SpecIx) -> Option<&Arc<crate::eval::FunctionState>> {
        let node = self.solver.store.find_node(&NodeKey::Spec(spec))?;
        self.solver.functions.get(node as usize)?.as_ref()
    }

    /// The family and row of the functions that a call site picks.
    pub(super) fn family(&self, row: &Row) -> Option<(ObjId, u32)> {
        let key: Vec<_> = row.iter().map(|(f, s)| (*f, *s)).collect();
        let family = self.family_of.get(&key.first()?.0)?;
        Some((*family, *self.rows.get(&key)?))
    }

    /// A helper's outside name: what it is and what it is specialised by.
    pub(super) fn helper_name(&self, spec: SpecIx) -> (Arc<str>, Arc<[HelperArg]>) {
        let key = &self.solver.store.specs[spec as usize];
        let name = match self.solver.facts.function(key.func) {
            Ok(Some(info)) => {
                let module = info.data.module.strip_prefix("taipan_prelude.");
                format!("{}.{}", module.unwrap_or(&info.data.module), info.data.name)
            }
            _ => String::new(),
        };
        let (args, _) = self.own_signature(spec);
        (name.into(), args.iter().map(helper_arg).collect())
    }

    /// Frozen instances whose attributes are read at the same places.
    pub(super) fn add_attr_families(&self, solution: &mut Solution, old: Option<&Solution>) {
        let mut union = Union::default();
        let mut read: BTreeMap<ObjId, BTreeMap<Arc<str>, Val>> = BTreeMap::new();
        let mut joiner = FactJoiner::new(&self.solver.facts);
        for spec in &self.order {
            let (Some(state), Some(graph)) = (self.state(*spec), self.graph(*spec)) else {
                continue;
            };
            for (b, block) in graph.blocks.iter().enumerate() {
                if !state.reached.get(b).copied().unwrap_or(false) {
                    continue;
                }
                for op in &block.operations {
                    if op.op != HlOp::GetAttr {
                        continue;
                    }
                    let [x, name] = &op.args[..] else { continue };
                    let (Some(x), Some(name)) = (x.as_var(), name.as_const()) else {
                        continue;
                    };
                    let (Some(Atom::Pbc(descs)), Some(name)) =
                        (state.vars[x.index()].single(), name.as_str())
                    else {
                        continue;
                    };
                    let frozen: Vec<ObjId> = descs
                        .iter()
                        .filter_map(|d| match d {
                            Desc::Frozen(o) | Desc::Class(o) => Some(*o),
                            _ => None,
                        })
                        .collect();
                    let Some(first) = frozen.first() else {
                        continue;
                    };
                    for f in &frozen[1..] {
                        union.union(*first, *f);
                    }
                    for f in &frozen {
                        let v = read.entry(*f).or_default().entry(name.into()).or_default();
                        *v = v.join(&state.vars[op.result.index()], &mut joiner);
                    }
                }
            }
        }
        let mut families: BTreeMap<ObjId, AttrFamily> = BTreeMap::new();
        let mut vals: BTreeMap<(ObjId, Arc<str>), Val> = BTreeMap::new();
        for (member, attrs) in read {
            let family = union.find(member);
            families.entry(family).or_default().members.push(member);
            for (name, v) in attrs {
                let sum = vals.entry((family, name)).or_default();
                *sum = sum.join(&v, &mut joiner);
            }
        }
        for ((family, name), v) in vals {
            if let Some(f) = families.get_mut(&family) {
                f.attrs.insert(name, self.sites.some_value(&v.not_const()));
            }
        }
        for family in families.into_values() {
            for m in family.members.clone() {
                solution.add_attr_family(m, &family, old);
            }
        }
    }

    /// Whether an object is a class.
    pub(super) fn is_class(&self, o: ObjId) -> bool {
        matches!(
            self.solver.facts.object(o).ok().flatten().as_deref(),
            Some(ObjData::Class(_))
        )
    }
}

fn closure(spec: SpecIx, shared: &BTreeMap<SpecIx, BTreeSet<SpecIx>>) -> BTreeSet<SpecIx> {
    let mut all = BTreeSet::from([spec]);
    let mut todo = vec![spec];
    while let Some(s) = todo.pop() {
        for t in shared.get(&s).into_iter().flatten() {
            if all.insert(*t) {
                todo.push(*t);
            }
        }
    }
    all
}

/// What a helper is specialised by, of one argument.
fn helper_arg(v: &Val) -> HelperArg {
    use taipan_lltype::VoidConst;
    match v.single() {
        Some(Atom::LLType(t)) => HelperArg::Const(VoidConst::Type(*t)),
        Some(Atom::LLFunc(f)) => HelperArg::Const(VoidConst::Func(f.clone())),
        _ => match annotation_to_lltype(v) {
            Some(t) if !t.is_void() => HelperArg::Type(t),
            Some(_) => HelperArg::Const(VoidConst::None),
            None => HelperArg::Const(match &v.const_ {
                Some(c) => VoidConst::Hl(c.clone()),
                None => VoidConst::None,
            }),
        },
    }
}
