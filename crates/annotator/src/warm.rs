//! A solved program that is kept between revisions, and how it follows edits.
//!
//! The solver's facts are thousands of flow graphs and objects. As dependencies of one
//! query all of them would be looked at in every revision; so they are asked for aside
//! ([`aside`]), and what the query reads is coarser and changes whenever they may: the
//! image, and per file the codes of its functions. Which facts changed is found out
//! here, by comparing.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use taipan_base::reads::dependants;
use taipan_base::{Db, File, Program, aside};
use taipan_code::{Code, CodeId, file_codes, test_file_codes};
use taipan_flow::{FlowResult, flow_graph};
use taipan_graph::{Const, ObjId};
use taipan_heap::StaticTable;
use taipan_interp::{
    Function, Image, MemoCall, Name, ObjData, Object, image, image_changes, memo_call,
    memo_objects, module_global, object,
};

use crate::bounds;
use crate::eval::Root;
use crate::facts::{Facts, Request};
use crate::project::{Dirty, Naming, Projector, View};
use crate::solver::Solver;
use crate::store::{NodeIx, NodeKey};

/// A solver with the tables over its outcome.
pub(crate) struct Warm {
    pub(crate) solver: Solver,
    pub(crate) view: View,
    sources: Sources,
    /// Number of the last update that changed anything: no two in a process are the same.
    pub(crate) run: u64,
    /// What the last updates changed, the newest last.
    log: VecDeque<Update>,
    /// False while the solver's state is being changed: a panic leaves it unusable.
    pub(crate) consistent: bool,
}

/// What was changed by a run, from the one before.
struct Update {
    before: u64,
    dirty: Dirty,
}

/// How many updates [`Warm`] remembers.
const REMEMBERED: usize = 32;

/// How many runs there were.
static RUNS: AtomicU64 = AtomicU64::new(0);

/// The number of runs, which solutions are told apart by.
pub fn runs_table() -> StaticTable {
    StaticTable::of(&RUNS)
}

fn next_run() -> u64 {
    RUNS.fetch_add(1, Ordering::Relaxed) + 1
}

/// The codes of a file.
type Codes = Arc<[(CodeId, Arc<Code>)]>;
/// A global, by module and name, and what it holds.
type Global = ((ObjId, Box<str>), Option<Const>);
/// A call while compiling, and what it answers.
type Memo = ((ObjId, Vec<Const>), Result<Const, String>);

/// Where the facts came from.
#[derive(Default)]
struct Sources {
    image: Option<Arc<Image>>,
    files: IndexMap<File, Source>,
}

/// A file, and the functions in it whose graphs are known.
struct Source {
    codes: Codes,
    functions: Vec<(CodeId, ObjId)>,
}

/// Facts that are others now.
#[derive(Default)]
struct Changes {
    image: Option<Arc<Image>>,
    files: Vec<(File, Codes)>,
    objects: Vec<(ObjId, Option<Arc<ObjData>>)>,
    globals: Vec<Global>,
    memos: Vec<Memo>,
    flows: Vec<(ObjId, Arc<FlowResult>)>,
}

impl Warm {
    /// Nothing known yet.
    pub(crate) fn new(facts: Facts, roots: Vec<Root>) -> Warm {
        let helpers = facts.helper_mode;
        Warm {
            solver: Solver::new(facts, roots),
            view: View::new(helpers),
            sources: Sources::default(),
            run: next_run(),
            log: VecDeque::new(),
            consistent: true,
        }
    }

    /// For questions.
    pub(crate) fn projector<'a>(&'a self, naming: Naming<'a>) -> Projector<'a> {
        Projector {
            solver: &self.solver,
            view: &self.view,
            naming,
        }
    }

    /// What changed since a run; none if that is not known any more.
    pub(crate) fn changes_since(&self, run: u64) -> Option<impl Iterator<Item = &Dirty>> {
        let first = if run == self.run {
            self.log.len()
        } else {
            self.log.iter().position(|u| u.before == run)?
        };
        Some(self.log.iter().skip(first).map(|u| &u.dirty))
    }

    /// Takes in what changed in the program. Reads, as dependencies, all that the facts
    /// were made from.
    pub(crate) fn refresh(&mut self, db: &dyn Db, program: Program) {
        let changes = self.changes(db, program);
        self.consistent = false;
        self.apply(changes);
        self.consistent = true;
    }

    fn changes(&self, db: &dyn Db, program: Program) -> Changes {
        let facts = &self.solver.facts;
        let mut changes = Changes::default();
        let now = image(db, program);
        let mut suspects: Vec<ObjId> = Vec::new();
        match self.sources.image.as_ref() {
            Some(old) if Arc::ptr_eq(old, now) => {}
            Some(old) => {
                changes.image = Some(now.clone());
                let differences = image_changes(db, program, old, now);
                self.object_changes(db, program, now, &differences.objects, &mut changes);
                #[expect(
                    clippy::iter_over_hash_type,
                    reason = "each change is applied to its own key"
                )]
                for (key, old) in &facts.globals {
                    let new = now.globals.get(&key.0).and_then(|g| g.get(&key.1));
                    if new != old.as_ref() {
                        changes.globals.push((key.clone(), new.cloned()));
                    }
                }
                let functions = dependants::<flow_graph>(db, &differences.steps).into_iter();
                let ours = functions.filter(|f| f.program(db) == program);
                suspects.extend(ours.map(|f| f.obj(db)));
                suspects.retain(|f| facts.graphs.contains_key(f));
            }
            None => changes.image = Some(now.clone()),
        }
        for (file, source) in &self.sources.files {
            let codes = codes_of(db, program, *file);
            if !Arc::ptr_eq(&codes, &source.codes) {
                suspects.extend(source.changed(&codes));
                changes.files.push((*file, codes));
            }
        }
        suspects.sort_unstable();
        suspects.dedup();
        aside(db, |db| {
            for f in suspects {
                let flow = flow_graph(db, Function::new(db, program, f));
                let old = facts.graphs.get(&f);
                if !old.is_some_and(|o| Arc::ptr_eq(o, flow) || o == flow) {
                    changes.flows.push((f, flow.clone()));
                }
            }
        });
        // Few, and they may run any code: each is a dependency.
        let mut made: Vec<ObjId> = Vec::new();
        #[expect(
            clippy::iter_over_hash_type,
            reason = "each change is applied to its own key"
        )]
        for ((func, args), old) in &facts.memos {
            let new = call_memo(db, program, *func, args);
            if new != *old {
                changes.memos.push(((*func, args.clone()), new));
            }
            let key = MemoCall::new(db, program, *func, args.clone());
            for (id, data) in memo_objects(db, key) {
                let known = facts.objects.get(&id);
                if known.is_some_and(|old| old.as_ref() != Some(&data)) {
                    made.push(id);
                }
            }
        }
        made.sort_unstable();
        self.object_changes(db, program, now, &made, &mut changes);
        changes
    }

    /// Takes in objects of a new image, as far as anyone asked for them, and what their
    /// classes are made of now.
    fn object_changes(
        &self,
        db: &dyn Db,
        program: Program,
        image: &Image,
        changed: &[ObjId],
        changes: &mut Changes,
    ) {
        let facts = &self.solver.facts;
        let mut seen: FxHashSet<ObjId> = FxHashSet::default();
        let known = changed.iter().filter(|id| facts.objects.contains_key(id));
        let mut queue: Vec<ObjId> = known.copied().collect();
        while let Some(id) = queue.pop() {
            if !seen.insert(id) {
                continue;
            }
            let new = match image.objects.get(&id) {
                Some(new) => Some(new.clone()),
                None => aside(db, |db| object(db, Object::new(db, program, id)).clone()),
            };
            // What a class looks like depends on what is in it.
            if let Some(data) = &new
                && let ObjData::Class(class) = &**data
            {
                let mut parts = Vec::new();
                data.for_each_const(&mut |c| objects_in(c, false, &mut parts));
                let parts = parts.into_iter().map(|(id, _)| id);
                let parts = parts.chain(class.mro.iter().copied());
                queue.extend(parts.filter(|id| !facts.objects.contains_key(id)));
            }
            changes.objects.push((id, new));
        }
    }

    fn apply(&mut self, changes: Changes) {
        if let Some(image) = changes.image {
            self.sources.image = Some(image);
        }
        for (file, codes) in changes.files {
            self.sources.files[&file].codes = codes;
        }
        let facts = &mut self.solver.facts;
        let mut changed: Vec<ObjId> = changes.objects.iter().map(|(o, _)| *o).collect();
        for ((module, name), value) in changes.globals {
            changed.push(module);
            facts.globals.insert((module, name), value);
        }
        for ((func, args), result) in changes.memos {
            changed.push(func);
            facts.memos.insert((func, args), result);
        }
        let mut edited: Vec<ObjId> = Vec::new();
        for (f, flow) in changes.flows {
            edited.push(f);
            if facts.set_flow(f, flow) {
                changed.push(f);
            }
        }
        let mut moved = FxHashSet::default();
        if !changes.objects.is_empty() {
            let reshaped = facts.set_objects(changes.objects);
            moved = reshaped.hierarchy;
            changed.extend(&reshaped.classes);
            changed.extend(&reshaped.holders);
            self.solver.changed.classes.extend(reshaped.classes);
        }
        let mut nodes = self.nodes_of(&edited);
        nodes.extend(self.solver.readers_of(&changed));
        nodes.sort_unstable();
        nodes.dedup();
        if !nodes.is_empty() || !moved.is_empty() {
            self.solver.changed.touched.extend(&nodes);
            self.solver.retract(&nodes, &moved);
        }
    }

    /// The nodes of functions.
    fn nodes_of(&self, functions: &[ObjId]) -> Vec<NodeIx> {
        let store = &self.solver.store;
        functions
            .iter()
            .flat_map(|f| store.specs_of(*f))
            .filter_map(|i| store.find_node(&NodeKey::Spec(*i)))
            .collect()
    }

    /// Solves what is left to solve, and brings the tables up to date.
    pub(crate) fn solve(&mut self, db: &dyn Db, program: Program) {
        loop {
            self.consistent = false;
            let wanted = self.solver.ascend();
            if let Some(at) = self.solver.store.endless {
                let place = bounds::describe(db, program, &self.solver, at);
                panic!("the annotation of {place} does not end");
            }
            self.consistent = true;
            if wanted.is_empty() {
                break;
            }
            self.fetch(db, program, wanted);
        }
        self.consistent = false;
        let dirty = self.view.update(&mut self.solver);
        self.consistent = true;
        if !dirty.is_empty() {
            let before = std::mem::replace(&mut self.run, next_run());
            self.log.push_back(Update { before, dirty });
            if self.log.len() > REMEMBERED {
                self.log.pop_front();
            }
        }
    }

    /// Fetches facts through salsa; with a graph also what it mentions, which will be
    /// asked for next: every answer that is missing costs an evaluation in vain.
    fn fetch(&mut self, db: &dyn Db, program: Program, requests: Vec<Request>) {
        let mut memos = Vec::new();
        let image = self.sources.image.clone();
        let new = aside(db, |side| {
            let mut fetch = Fetch {
                db: side,
                program,
                image,
                facts: &mut self.solver.facts,
                graphs: Vec::new(),
                queue: Vec::new(),
            };
            for r in requests {
                match r {
                    Request::Object(o) => fetch.queue.push((o, false)),
                    Request::Graph(f) => fetch.graph(f),
                    Request::Global(module, name) => {
                        let key = Name::new(side, program, module, name.clone());
                        let value = module_global(side, key);
                        fetch.facts.globals.insert((module, name), value.clone());
                    }
                    Request::Memo(func, args) => memos.push((func, args)),
                }
                fetch.mentioned();
            }
            fetch.graphs
        });
        for (func, args) in memos {
            let result = call_memo(db, program, func, &args);
            self.solver.facts.memos.insert((func, args), result);
        }
        for (file, code, func) in new {
            let source = self.sources.files.entry(file).or_insert_with(|| Source {
                codes: codes_of(db, program, file),
                functions: Vec::new(),
            });
            source.functions.push((code, func));
        }
    }
}

/// The codes of a file as a program has them: a test module has codes of its own.
fn codes_of(db: &dyn Db, program: Program, file: File) -> Arc<[(CodeId, Arc<Code>)]> {
    if program.options(db).tests && file.path(db) == program.target(db) {
        test_file_codes(db, file)
    } else {
        file_codes(db, file)
    }
}

/// Facts on their way from the database.
struct Fetch<'a> {
    db: &'a dyn Db,
    program: Program,
    image: Option<Arc<Image>>,
    facts: &'a mut Facts,
    /// Functions with their files and codes, whose graphs came in.
    graphs: Vec<(File, CodeId, ObjId)>,
    /// Objects to fetch, and whether their graphs as well, if they are functions.
    queue: Vec<(ObjId, bool)>,
}

impl Fetch<'_> {
    fn object(&self, id: ObjId) -> Option<Arc<ObjData>> {
        match self.image.as_ref().and_then(|i| i.objects.get(&id)) {
            Some(data) => Some(data.clone()),
            None => object(self.db, Object::new(self.db, self.program, id)).clone(),
        }
    }

    fn graph(&mut self, f: ObjId) {
        if self.facts.graphs.contains_key(&f) {
            return;
        }
        let flow = flow_graph(self.db, Function::new(self.db, self.program, f));
        self.facts.set_flow(f, flow.clone());
        taipan_base::step(self.db, taipan_base::Step::Annotation);
        if let Some(ObjData::Function(data)) = self.object(f).as_deref()
            && let Some(file) = data.code.file(self.db)
        {
            self.graphs.push((file, data.code, f));
        }
        self.queue.push((f, false));
        if let Ok(graph) = &flow.graph {
            graph.for_each_const(&mut |c| objects_in(c, true, &mut self.queue));
        }
    }

    /// Fetches what is in the queue, and what that mentions.
    fn mentioned(&mut self) {
        while let Some((id, called)) = self.queue.pop() {
            if called && let Some(Some(data)) = self.facts.objects.get(&id) {
                if matches!(**data, ObjData::Function(_)) {
                    self.graph(id);
                }
                continue;
            }
            if self.facts.objects.contains_key(&id) {
                continue;
            }
            let data = self.object(id);
            self.facts.objects.insert(id, data.clone());
            let Some(data) = data else { continue };
            match &*data {
                ObjData::Function(_) if called => self.graph(id),
                ObjData::Class(c) => self.queue.extend(c.mro.iter().map(|c| (*c, false))),
                ObjData::Instance(i) => self.queue.push((i.class, false)),
                _ => {}
            }
            // The functions of tables and classes are there to be called.
            let table = matches!(
                *data,
                ObjData::List(_) | ObjData::Dict(_) | ObjData::Class(_)
            );
            data.for_each_const(&mut |c| objects_in(c, table, &mut self.queue));
        }
    }
}

fn objects_in(c: &Const, called: bool, out: &mut Vec<(ObjId, bool)>) {
    match c {
        Const::Obj(id) => out.push((*id, called)),
        Const::Tuple(items) => items.iter().for_each(|c| objects_in(c, called, out)),
        _ => {}
    }
}

impl Source {
    /// The functions whose codes are others now.
    fn changed(&self, now: &[(CodeId, Arc<Code>)]) -> Vec<ObjId> {
        let before: FxHashMap<CodeId, &Arc<Code>> =
            self.codes.iter().map(|(id, code)| (*id, code)).collect();
        let now: FxHashMap<CodeId, &Arc<Code>> = now.iter().map(|(id, code)| (*id, code)).collect();
        let functions = self.functions.iter();
        functions
            .filter(|(id, _)| before.get(id) != now.get(id))
            .map(|(_, f)| *f)
            .collect()
    }
}

/// Calls a function while compiling.
fn call_memo(db: &dyn Db, program: Program, func: ObjId, args: &[Const]) -> Result<Const, String> {
    match memo_call(db, MemoCall::new(db, program, func, args.to_vec())) {
        Ok(c) => Ok(c.clone()),
        Err(d) => Err(d.message.clone()),
    }
}
