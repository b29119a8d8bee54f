//! Call families: functions that are called at the same places, and their common
//! signatures (RPython: `CallFamily`, `normalizecalls.py`).

use std::collections::BTreeMap;
use std::sync::Arc;

use la_arena::Arena;
use rustc_hash::FxHashMap;
use taipan_graph::ObjId;

use super::Projector;
use super::groups::{Component, Groups, Members};
use super::index::Dirty;
use crate::SomeValue;
use crate::eval::{CallRecord, arg_count};
use crate::result::{CallFamily, FamilyRow, Signature};
use crate::solver::FactJoiner;
use crate::store::{NodeIx, SlotKey, SpecIx, SpecKey, Store};
use crate::val::Val;

/// One set of graphs that call sites pick: by function.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Row {
    graphs: Arc<[(ObjId, SpecIx)]>,
    /// How many arguments each of them takes.
    args: usize,
}

impl Members for Row {
    fn members(&self) -> impl Iterator<Item = ObjId> + '_ {
        self.graphs.iter().map(|(f, _)| *f)
    }
}

impl Row {
    /// The functions that a call may reach at run time through its callee.
    pub(super) fn of(specs: &Arena<SpecKey>, calls: &[CallRecord]) -> Row {
        let by_function: BTreeMap<ObjId, SpecIx> = calls
            .iter()
            .filter_map(|c| c.target)
            .map(|t| (specs[t].func, t))
            .collect();
        let called = calls.iter().find(|c| c.target.is_some());
        Row {
            graphs: by_function.into_iter().collect(),
            args: called.map_or(0, |c| c.args.len()),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.graphs.len()
    }

    /// A name that does not depend on the order of discovery.
    fn name<'s>(&self, specs: &'s Arena<SpecKey>) -> Vec<(ObjId, &'s str)> {
        (self.graphs.iter())
            .map(|(f, s)| (*f, &*specs[*s].key))
            .collect()
    }
}

/// A family's rows, where those that agree on the functions that they share are one.
#[derive(PartialEq, Eq, Default)]
struct Table {
    functions: Vec<ObjId>,
    rows: Vec<TableRow>,
}

/// Rows that agree on the functions that they share.
#[derive(PartialEq, Eq)]
struct TableRow {
    graphs: BTreeMap<ObjId, SpecIx>,
    args: usize,
}

impl TableRow {
    /// Whether the row takes no other graph of a function than this one has, and as many
    /// arguments.
    fn fits(&self, row: &Row) -> bool {
        let mut graphs = row.graphs.iter();
        self.args == row.args && graphs.all(|(f, s)| self.graphs.get(f).is_none_or(|t| t == s))
    }

    fn contains(&self, row: &Row) -> bool {
        let mut graphs = row.graphs.iter();
        self.args == row.args && graphs.all(|(f, s)| self.graphs.get(f) == Some(s))
    }
}

/// All call families.
#[derive(Default)]
pub(super) struct Families {
    calls: Groups<Row>,
    tables: FxHashMap<ObjId, Table>,
    places: FxHashMap<Row, (ObjId, u32)>,
    /// Functions that stand in the same rows, where there are several.
    shared: FxHashMap<SpecIx, Arc<[SpecIx]>>,
}

impl Families {
    pub(super) fn add(&mut self, row: &Row, node: NodeIx) {
        self.calls.add(row, node);
    }

    pub(super) fn remove(&mut self, row: &Row, node: NodeIx) {
        if self.calls.remove(row, node) {
            self.places.remove(row);
        }
    }

    /// The smallest function of a family.
    pub(super) fn head(&self, func: ObjId) -> Option<ObjId> {
        self.calls.head(func)
    }

    /// All functions of the family of one.
    pub(super) fn members(&self, func: ObjId) -> &[ObjId] {
        match self.head(func).and_then(|h| self.tables.get(&h)) {
            Some(t) => &t.functions,
            None => &[],
        }
    }

    /// The functions that share rows with one, itself included.
    pub(super) fn group(&self, spec: SpecIx) -> Vec<SpecIx> {
        match self.shared.get(&spec) {
            Some(g) => g.to_vec(),
            None => vec![spec],
        }
    }

    /// The family and row of the functions that a call site picks.
    pub(super) fn place(&self, row: &Row) -> Option<(ObjId, u32)> {
        self.places.get(row).copied()
    }

    /// Brings everything up to date. `dirty` learns of families and signatures that
    /// changed, the answer is the nodes with rows that stand elsewhere.
    pub(super) fn settle(&mut self, store: &Store, dirty: &mut Dirty) -> Vec<(NodeIx, Row)> {
        let mut moved = Vec::new();
        let (components, gone) = self.calls.settle();
        for f in gone {
            self.drop_table(f, dirty);
        }
        for component in components {
            self.tabulate(component, store, dirty, &mut moved);
        }
        moved
    }

    fn drop_table(&mut self, head: ObjId, dirty: &mut Dirty) -> Option<Table> {
        dirty.call_families.insert(head);
        let table = self.tables.remove(&head)?;
        dirty.call_families.extend(&table.functions);
        for spec in table.rows.iter().flat_map(|r| r.graphs.values()) {
            if self.shared.remove(spec).is_some() {
                dirty.signatures.insert(*spec);
            }
        }
        Some(table)
    }

    fn tabulate(
        &mut self,
        component: Component<Row>,
        store: &Store,
        dirty: &mut Dirty,
        moved: &mut Vec<(NodeIx, Row)>,
    ) {
        let Component { members, mut sets } = component;
        sets.sort_by_cached_key(|row| {
            let name = row.name(&store.specs);
            name.into_iter()
                .map(|(f, k)| (f, k.to_owned()))
                .collect::<Vec<_>>()
        });
        let mut table = Table {
            functions: members,
            rows: Vec::new(),
        };
        for row in &sets {
            let graphs = row.graphs.iter().copied();
            match table.rows.iter_mut().find(|r| r.fits(row)) {
                Some(r) => r.graphs.extend(graphs),
                None => table.rows.push(TableRow {
                    graphs: graphs.collect(),
                    args: row.args,
                }),
            }
        }
        let head = table.functions[0];
        for row in &sets {
            let n = (table.rows.iter())
                .position(|r| r.contains(row))
                .unwrap_or(0);
            let place = (head, n as u32);
            if self.places.insert(row.clone(), place) != Some(place) {
                moved.extend(self.calls.users(row).map(|n| (n, row.clone())));
            }
        }
        if self.tables.get(&head) == Some(&table) {
            return;
        }
        for f in &table.functions {
            self.drop_table(*f, dirty);
        }
        self.share(&table, dirty);
        self.tables.insert(head, table);
    }

    /// Finds out which functions share rows.
    fn share(&mut self, table: &Table, dirty: &mut Dirty) {
        let mut group: BTreeMap<SpecIx, usize> = BTreeMap::new();
        let mut groups: Vec<Vec<SpecIx>> = Vec::new();
        for row in table.rows.iter().filter(|r| r.graphs.len() > 1) {
            let mut here = groups.len();
            groups.push(Vec::new());
            for s in row.graphs.values() {
                match group.get(s).copied() {
                    Some(there) if there == here => {}
                    Some(there) => {
                        // The smaller one moves.
                        let (from, to) = if groups[there].len() > groups[here].len() {
                            (here, there)
                        } else {
                            (there, here)
                        };
                        let joined = std::mem::take(&mut groups[from]);
                        for j in &joined {
                            group.insert(*j, to);
                        }
                        groups[to].extend(joined);
                        here = to;
                    }
                    None => {
                        group.insert(*s, here);
                        groups[here].push(*s);
                    }
                }
            }
        }
        for g in groups.into_iter().filter(|g| g.len() > 1) {
            let g: Arc<[SpecIx]> = g.into();
            for s in g.iter() {
                dirty.signatures.insert(*s);
                self.shared.insert(*s, g.clone());
            }
        }
    }
}

impl Projector<'_> {
    /// The family that a function belongs to.
    pub(crate) fn call_family(&self, func: ObjId) -> Arc<CallFamily> {
        let families = &self.view.families;
        let Some(head) = families.head(func) else {
            return Arc::default();
        };
        self.view.cached(
            |c| &mut c.call_families,
            head,
            || {
                let Some(table) = families.tables.get(&head) else {
                    return CallFamily::default();
                };
                let rows = (table.rows.iter())
                    .map(|r| FamilyRow {
                        targets: r
                            .graphs
                            .iter()
                            .map(|(f, s)| (*f, self.target(*s)))
                            .collect(),
                        signature: (r.graphs.values().next())
                            .map(|s| self.signature(*s))
                            .unwrap_or_default(),
                    })
                    .collect();
                CallFamily {
                    functions: table.functions.clone(),
                    rows,
                }
            },
        )
    }

    /// What callers see of a function: what they see of all that share call sites.
    pub(crate) fn signature(&self, spec: SpecIx) -> Signature {
        match self.view.families.shared.get(&spec) {
            None => self.common_signature(&[spec]),
            Some(group) => {
                let common = || self.common_signature(group);
                let signature = self.view.cached(|c| &mut c.signatures, group[0], common);
                (*signature).clone()
            }
        }
    }

    fn common_signature(&self, group: &[SpecIx]) -> Signature {
        let mut joiner = FactJoiner::new(&self.solver.facts);
        let mut args: Vec<Val> = Vec::new();
        let mut result = Val::default();
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
            let v = if group.len() == 1 {
                v.clone()
            } else {
                v.not_const()
            };
            self.view.sites.some_value(&v)
        };
        Signature {
            args: args.iter().map(some).collect(),
            result: some(&result),
        }
    }

    /// The values of a function's arguments (`*args` flattened), and its result.
    pub(super) fn own_signature(&self, spec: SpecIx) -> (Vec<Val>, Val) {
        let store = &self.solver.store;
        let key = &store.specs[spec];
        let count = match self.solver.facts.function(key.func) {
            Ok(Some(info)) => arg_count(&info, &key.key),
            _ => 0,
        };
        let args = (0..count).map(|i| store.value(&SlotKey::Arg(spec, i)).clone());
        (args.collect(), store.value(&SlotKey::Ret(spec)).clone())
    }
}
