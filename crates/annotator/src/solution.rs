//! The solved program: what the projections in `queries` read from, and the query
//! that solves it.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_base::{Db, Diagnostic};
use taipan_flow::flow_graph;
use taipan_graph::{FunctionGraph, ObjId};
use taipan_interp::{Function, MemoCall, Name, Object, memo_call, module_global, named_id, object};

use crate::eval::Root;
use crate::facts::{Facts, Request};
use crate::project::{Naming, Projector};
use crate::result::{
    AttrFamily, CallFamily, ClassAttributes, ClassDef, FunctionAnnotation, Signature,
};
use crate::solver::Solver;
use crate::store::{NodeIx, NodeKey};
use crate::{DictDef, InputType, ListDef, RootSet, Roots, SiteId};

/// The outcome of annotation. Shared, so that an unchanged part is the same `Arc` as
/// in the last revision and compares in no time.
#[derive(Default)]
pub(crate) struct Solution {
    functions: FxHashMap<(ObjId, Arc<str>), Arc<FunctionAnnotation>>,
    order: Vec<(ObjId, Arc<str>)>,
    classes: FxHashMap<ObjId, Arc<ClassDef>>,
    attributes: FxHashMap<ObjId, Arc<ClassAttributes>>,
    lists: FxHashMap<SiteId, Arc<ListDef>>,
    dicts: FxHashMap<SiteId, Arc<DictDef>>,
    aliases: FxHashMap<SiteId, SiteId>,
    call_families: FxHashMap<ObjId, Arc<CallFamily>>,
    attr_families: FxHashMap<ObjId, Arc<AttrFamily>>,
    diagnostics: Arc<[Diagnostic]>,
}

/// The old value where nothing changed.
fn keep<T: PartialEq>(new: T, old: Option<&Arc<T>>) -> Arc<T> {
    match old {
        Some(o) if **o == new => o.clone(),
        _ => Arc::new(new),
    }
}

impl Solution {
    pub(crate) fn add_function(
        &mut self,
        func: ObjId,
        key: Arc<str>,
        f: FunctionAnnotation,
        old: Option<&Solution>,
    ) {
        let k = (func, key);
        let f = keep(f, old.and_then(|o| o.functions.get(&k)));
        self.order.push(k.clone());
        self.functions.insert(k, f);
    }

    pub(crate) fn add_class(
        &mut self,
        class: ObjId,
        def: ClassDef,
        attrs: ClassAttributes,
        old: Option<&Solution>,
    ) {
        let def = keep(def, old.and_then(|o| o.classes.get(&class)));
        let attrs = keep(attrs, old.and_then(|o| o.attributes.get(&class)));
        self.classes.insert(class, def);
        self.attributes.insert(class, attrs);
    }

    pub(crate) fn add_list(&mut self, site: SiteId, def: ListDef, old: Option<&Solution>) {
        let def = keep(def, old.and_then(|o| o.lists.get(&site)));
        self.lists.insert(site, def);
    }

    pub(crate) fn add_dict(&mut self, site: SiteId, def: DictDef, old: Option<&Solution>) {
        let def = keep(def, old.and_then(|o| o.dicts.get(&site)));
        self.dicts.insert(site, def);
    }

    pub(crate) fn add_alias(&mut self, site: SiteId, canonical: SiteId) {
        self.aliases.insert(site, canonical);
    }

    pub(crate) fn add_call_family(
        &mut self,
        member: ObjId,
        family: &CallFamily,
        old: Option<&Solution>,
    ) {
        let family = keep(
            family.clone(),
            old.and_then(|o| o.call_families.get(&member)),
        );
        self.call_families.insert(member, family);
    }

    pub(crate) fn add_attr_family(
        &mut self,
        member: ObjId,
        family: &AttrFamily,
        old: Option<&Solution>,
    ) {
        let family = keep(
            family.clone(),
            old.and_then(|o| o.attr_families.get(&member)),
        );
        self.attr_families.insert(member, family);
    }

    pub(crate) fn function(&self, func: ObjId, key: &Arc<str>) -> Arc<FunctionAnnotation> {
        match self.functions.get(&(func, key.clone())) {
            Some(f) => f.clone(),
            None => Arc::new(unreached()),
        }
    }

    pub(crate) fn specs(&self) -> impl Iterator<Item = (ObjId, Arc<str>)> + '_ {
        self.order.iter().cloned()
    }

    /// All classes, by name.
    pub(crate) fn classes(&self) -> Vec<ObjId> {
        let mut all: Vec<_> = self.classes.iter().map(|(c, d)| (&d.name, *c)).collect();
        all.sort();
        all.into_iter().map(|(_, c)| c).collect()
    }

    pub(crate) fn class(&self, class: ObjId) -> Arc<ClassDef> {
        self.classes.get(&class).cloned().unwrap_or_default()
    }

    pub(crate) fn attributes(&self, class: ObjId) -> Arc<ClassAttributes> {
        self.attributes.get(&class).cloned().unwrap_or_default()
    }

    fn canonical(&self, site: SiteId) -> SiteId {
        self.aliases.get(&site).copied().unwrap_or(site)
    }

    pub(crate) fn list(&self, site: SiteId) -> Arc<ListDef> {
        let site = self.canonical(site);
        self.lists.get(&site).cloned().unwrap_or_default()
    }

    pub(crate) fn dict(&self, site: SiteId) -> Arc<DictDef> {
        let site = self.canonical(site);
        self.dicts.get(&site).cloned().unwrap_or_default()
    }

    pub(crate) fn call_family(&self, member: ObjId) -> Arc<CallFamily> {
        self.call_families.get(&member).cloned().unwrap_or_default()
    }

    pub(crate) fn attr_family(&self, member: ObjId) -> Arc<AttrFamily> {
        self.attr_families.get(&member).cloned().unwrap_or_default()
    }

    pub(crate) fn diagnostics(&self) -> Arc<[Diagnostic]> {
        self.diagnostics.clone()
    }
}

/// The annotation of a function that is never called.
pub(crate) fn unreached() -> FunctionAnnotation {
    FunctionAnnotation {
        graph: Arc::new(FunctionGraph::new("", (), (), ())),
        vars: vec![Default::default(); 3],
        reached: vec![false; 3],
        calls: BTreeMap::new(),
        followed: Vec::new(),
        signature: Signature::default(),
        broken: None,
    }
}

/// A solver that is kept between revisions, with the outcome it had.
struct Warm {
    solver: Solver,
    solution: Arc<Solution>,
}

/// Warm solvers by their roots.
type WarmSolvers = FxHashMap<Roots, Warm>;

/// Name of the slot of warm state.
const SLOT: &str = "annotator";

/// Fetches facts through salsa.
pub(crate) fn fetch(
    db: &dyn Db,
    program: taipan_base::Program,
    facts: &mut Facts,
    requests: Vec<Request>,
) {
    for r in requests {
        match r {
            Request::Object(o) => {
                let data = object(db, Object::new(db, program, o));
                facts.objects.insert(o, data.clone());
            }
            Request::Graph(f) => {
                let flow = flow_graph(db, Function::new(db, program, f));
                facts.set_flow(f, flow.clone());
            }
            Request::Global(module, name) => {
                let value = module_global(db, Name::new(db, program, module, name.clone()));
                facts.globals.insert((module, name), value.clone());
            }
            Request::Memo(func, args) => {
                let result = call_memo(db, program, func, &args);
                facts.memos.insert((func, args), result);
            }
        }
    }
}

/// Calls a function while compiling.
fn call_memo(
    db: &dyn Db,
    program: taipan_base::Program,
    func: ObjId,
    args: &[taipan_graph::Const],
) -> Result<taipan_graph::Const, String> {
    match memo_call(db, MemoCall::new(db, program, func, args.to_vec())) {
        Ok(c) => Ok(c.clone()),
        Err(d) => Err(d.message.clone()),
    }
}

/// Reads every fact again and says what changed: functions with another graph, and
/// whether anything else did.
pub(crate) fn refresh(
    db: &dyn Db,
    program: taipan_base::Program,
    facts: &mut Facts,
) -> (Vec<ObjId>, bool) {
    let mut other = false;
    for (o, data) in &facts.objects {
        other |= object(db, Object::new(db, program, *o)) != data;
    }
    for ((module, name), value) in &facts.globals {
        other |= module_global(db, Name::new(db, program, *module, name.clone())) != value;
    }
    for ((func, args), result) in &facts.memos {
        other |= call_memo(db, program, *func, args) != *result;
    }
    let mut changed = Vec::new();
    for (f, old) in &facts.graphs {
        let new = flow_graph(db, Function::new(db, program, *f));
        if !Arc::ptr_eq(new, old) && new != old {
            changed.push((*f, new.clone()));
        }
    }
    let functions = changed.iter().map(|(f, _)| *f).collect();
    for (f, flow) in changed {
        facts.set_flow(f, flow);
    }
    (functions, other)
}

/// Runs a solver to the end.
pub(crate) fn run(db: &dyn Db, program: taipan_base::Program, solver: &mut Solver) {
    loop {
        let wanted = solver.ascend();
        if wanted.is_empty() {
            return;
        }
        fetch(db, program, &mut solver.facts, wanted);
    }
}

/// Annotates the program. Not compared: every consumer reads it through a projection.
#[salsa::tracked(returns(clone), no_eq)]
pub(crate) fn solve(db: &dyn Db, roots: Roots) -> Arc<Solution> {
    let program = roots.program(db);
    let root = root_call(db, roots);
    let slot = db.warm().slot(SLOT);
    // Taken out while it works: a panic or a cancelled query drops it.
    let warm = slot
        .lock()
        .unwrap_or_else(|e| e.into_inner())
        .as_mut()
        .and_then(|b| b.downcast_mut::<WarmSolvers>())
        .and_then(|w| w.remove(&roots));
    let (mut solver, old) = match warm {
        Some(w) => (Some(w.solver), Some(w.solution)),
        None => (None, None),
    };
    if let Some(s) = &mut solver {
        let same_root = s.roots == [root.clone()];
        let (edited, other) = refresh(db, program, &mut s.facts);
        if same_root && !other {
            let nodes = nodes_of(s, &edited);
            s.retract(&nodes);
        } else {
            solver = None;
        }
    }
    let mut solver = solver.unwrap_or_else(|| Solver::new(Facts::default(), vec![root]));
    run(db, program, &mut solver);
    let mut projector = Projector::new(&solver, Naming::Program(db, roots));
    let mut solution = projector.solution(old.as_deref());
    solution.diagnostics =
        crate::diagnostics::collect(db, roots, &mut solver, &mut solution.functions);
    let solution = Arc::new(solution);
    let warm = Warm {
        solver,
        solution: solution.clone(),
    };
    if let Some(all) = slot
        .lock()
        .unwrap_or_else(|e| e.into_inner())
        .get_or_insert_with(|| Box::new(WarmSolvers::default()))
        .downcast_mut::<WarmSolvers>()
    {
        all.insert(roots, warm);
    }
    solution
}

/// The nodes of functions.
fn nodes_of(s: &Solver, functions: &[ObjId]) -> Vec<NodeIx> {
    s.store
        .specs
        .iter()
        .enumerate()
        .filter(|(_, k)| functions.contains(&k.func))
        .filter_map(|(i, _)| s.store.find_node(&NodeKey::Spec(i as u32)))
        .collect()
}

/// What the roots call.
fn root_call(db: &dyn Db, roots: Roots) -> Root {
    match roots.set(db) {
        RootSet::EntryPoint(func) => Root::Call {
            func: *func,
            args: vec![InputType::List {
                item: Box::new(InputType::Str {
                    can_be_none: false,
                    no_nul: true,
                }),
                resized: true,
                mutated: true,
            }],
            classes: Vec::new(),
        },
        RootSet::Call { func, args } => Root::Call {
            func: *func,
            args: args.to_vec(),
            classes: classes_in(db, roots, *func, args),
        },
    }
}

/// The classes that input types name: globals of the function's module, or
/// `module.Class`.
fn classes_in(
    db: &dyn Db,
    roots: Roots,
    func: ObjId,
    args: &[InputType],
) -> Vec<(Box<str>, ObjId)> {
    fn names(t: &InputType, out: &mut Vec<Box<str>>) {
        match t {
            InputType::Instance { class, .. } => out.push(class.clone()),
            InputType::List { item, .. } => names(item, out),
            InputType::Dict { key, value } => {
                names(key, out);
                names(value, out);
            }
            InputType::Tuple(items) => items.iter().for_each(|i| names(i, out)),
            _ => {}
        }
    }
    let program = roots.program(db);
    let mut wanted = Vec::new();
    args.iter().for_each(|a| names(a, &mut wanted));
    let home = match object(db, Object::new(db, program, func)).as_deref() {
        Some(taipan_interp::ObjData::Function(f)) => f.globals,
        _ => return Vec::new(),
    };
    wanted
        .into_iter()
        .filter_map(|n| {
            let (module, name) = match n.rsplit_once('.') {
                Some((m, c)) => (named_id(m), c),
                None => (home, &*n),
            };
            match module_global(db, Name::new(db, program, module, name)) {
                Some(taipan_graph::Const::Obj(o)) => Some((n.clone(), *o)),
                _ => None,
            }
        })
        .collect()
}
