//! A program as a graph of functions and prebuilt data that refer to one another, kept up to date
//! after edits.
//!
//! Asking every function whether its low-level graph is still right takes longer, in a
//! large program, than an edit may take. The annotator knows what an edit may have
//! changed, and [`taipan_base::reads`] which nodes that can reach: only
//! those are asked for. What each of them refers to is remembered here,
//! outside salsa's tables, so that a walk over the program asks for nothing else; and if what was
//! asked for refers to what it did, there is no walk.

use std::hash::Hash;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_annotator::{Roots, changes_since, is_called};
use taipan_base::reads::{Noted, Step, dependants, scope};
use taipan_base::{Db, Diagnostic, aside};
use taipan_graph::ObjId;
use taipan_interp::{Image, image, image_changes, memo_call, memo_changes, noted_memo_calls};
use taipan_lltype::{FuncSym, StaticSym};
use taipan_rtyper::{FuncKey, FuncKeyKind, StaticKey, func_key, static_data};

use crate::db::Database;
use crate::function::LLFunction;
use crate::parallel::{par_map, par_steps};
use crate::stages::lowlevel_errors::typer_diagnostic;
use crate::stages::reach::{References, data_references, function_references};
use crate::stages::{GraphStage, root_syms};

/// What is kept of a program at one stage.
pub(super) trait Level: Default + Send + 'static {
    /// What is kept of each node besides what it refers to.
    type Fact: Clone + Default + PartialEq + Send;

    /// The stage whose references are followed.
    const STAGE: GraphStage;

    /// What asking for a function is noted as.
    type Function: Noted<Key = LLFunction>;

    /// Under which name it is kept.
    const NAME: &'static str;

    /// What else is kept of a function.
    fn fact(db: &dyn Db, f: LLFunction, references: &mut References) -> Self::Fact;

    /// The same of data.
    fn data_fact(db: &dyn Db, key: StaticKey, references: &mut References) -> Self::Fact;

    /// A node is another than before.
    fn changed(&mut self, n: NodeIx, what: &What, fact: &Self::Fact);

    /// A node is gone, or will be asked for again if it is come by again.
    fn gone(&mut self, db: &dyn Db, n: NodeIx, what: &What);

    /// Nodes that are asked for in any case, since they depend on what is not noted: on where code stands.
    fn placed(&self) -> Vec<NodeIx> {
        Vec::new()
    }

    /// Which functions there are, or their order, may be other than before.
    fn walked(&mut self) {}

    /// All nodes are forgotten.
    fn forgotten(&mut self);
}

/// A function or a piece of data.
#[derive(Clone)]
pub(super) enum What {
    Function(LLFunction, FuncKey),
    Data(StaticKey),
}

impl What {
    /// The function that it is.
    pub(super) fn function(&self) -> Option<LLFunction> {
        match self {
            What::Function(f, _) => Some(*f),
            What::Data(_) => None,
        }
    }
}

/// What a node is at present.
pub(super) struct Asked<F> {
    references: References,
    fact: F,
}

fn asked<L: Level>(db: &dyn Db, roots: Roots, node: &What) -> Asked<L::Fact> {
    match node {
        What::Function(f, _) => scope::<L::Function, _>(db, *f, || {
            let mut references = function_references(db, roots, L::STAGE, f.sym(db));
            let fact = L::fact(db, *f, &mut references);
            Asked { references, fact }
        }),
        What::Data(key) => {
            let mut references = data_references(db, roots, key.sym(db));
            let fact = L::data_fact(db, *key, &mut references);
            Asked { references, fact }
        }
    }
}

/// Asks what nodes are, in order.
pub(super) type Ask<'a, L> = &'a dyn Fn(&dyn Db, &[What]) -> Vec<Asked<<L as Level>::Fact>>;

/// Asks on this thread.
pub(super) fn ask_here<L: Level>(roots: Roots) -> impl Fn(&dyn Db, &[What]) -> Vec<Asked<L::Fact>> {
    move |db, nodes| nodes.iter().map(|n| asked::<L>(db, roots, n)).collect()
}

/// Asks on all threads.
pub(super) fn ask_all<L: Level>(
    db: &Database,
    roots: Roots,
) -> impl Fn(&dyn Db, &[What]) -> Vec<Asked<L::Fact>> {
    move |_, nodes| {
        let (functions, data): (Vec<&What>, Vec<&What>) =
            (nodes.iter()).partition(|n| matches!(n, What::Function(..)));
        let ask = |db: &Database, n: &&What| asked::<L>(db, roots, n);
        let mut functions = par_steps(db, &functions, ask).into_iter();
        let mut data = par_map(db, &data, ask).into_iter();
        let in_order = nodes.iter().filter_map(|n| match n {
            What::Function(..) => functions.next(),
            What::Data(_) => data.next(),
        });
        in_order.collect()
    }
}

/// Number of a node.
pub(super) type NodeIx = u32;

pub(super) struct Node<F> {
    pub(super) what: What,
    pub(super) fact: F,
    /// It may be another by now.
    stale: bool,
    functions: Box<[NodeIx]>,
    data: Box<[NodeIx]>,
    /// The last walk that came by.
    walk: u32,
}

/// A program at one stage.
pub(super) struct Graph<L: Level> {
    /// What is known of all nodes together.
    pub(super) level: L,
    /// What this holds for, but for what is stale.
    basis: Basis,
    entries: Vec<FuncSym>,
    nodes: Vec<Option<Node<L::Fact>>>,
    free: Vec<NodeIx>,
    functions: FxHashMap<LLFunction, NodeIx>,
    data: FxHashMap<StaticKey, NodeIx>,
    /// Nodes that are stale.
    stale: FxHashSet<NodeIx>,
    walk: u32,
    /// What the last walk came by is not all that there is: it did not get to its end.
    unfinished: bool,
}

impl<L: Level> Default for Graph<L> {
    fn default() -> Self {
        Graph {
            level: L::default(),
            basis: Basis::default(),
            entries: Vec::new(),
            nodes: Vec::new(),
            free: Vec::new(),
            functions: FxHashMap::default(),
            data: FxHashMap::default(),
            stale: FxHashSet::default(),
            walk: 0,
            unfinished: false,
        }
    }
}

/// Works with the program, which is brought up to date before. `notice` asks for nothing; it returns
/// what has changed besides what import time and annotation tell, and none where nothing that is
/// kept may be right. The diagnostic says why the program has no entries. In a query it depends on
/// what is asked for here, and on nothing that is asked for aside: one of these changes whenever one
/// of those may.
pub(super) fn with_graph<L: Level, R>(
    db: &dyn Db,
    roots: Roots,
    in_query: bool,
    ask: Ask<'_, L>,
    notice: impl FnOnce(&mut L) -> Option<Vec<Step>>,
    work: impl FnOnce(&dyn Db, &mut Graph<L>) -> R,
) -> Result<R, Diagnostic> {
    let entries = root_syms(db, roots).map_err(typer_diagnostic)?;
    let slot = place::<_, Graph<L>>(db, L::NAME, roots);
    let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
    // Before it is taken out: whoever is cancelled here loses nothing.
    let before = slot.as_ref().map(|graph| graph.basis.clone());
    let changes = before.unwrap_or_default().changes(db, roots);
    let mut graph = slot.take().unwrap_or_default();
    let more = notice(&mut graph.level);
    // Where it is cancelled, it is known what is stale.
    let done = work_in_place(slot, graph, |graph| {
        let run = |db: &dyn Db| {
            graph.notice(db, changes, more, entries);
            graph.update(db, roots, ask);
            work(db, graph)
        };
        if in_query { aside(db, run) } else { run(db) }
    });
    if in_query {
        // Neither import time nor annotation need be others where these are.
        for call in noted_memo_calls(db, roots.program(db)) {
            let _ = memo_call(db, call);
        }
    }
    Ok(done)
}

/// Works with something that was taken out of its place, where it is put back also if the work is
/// cancelled. A panic drops it.
pub(crate) fn work_in_place<T, R>(
    mut slot: MutexGuard<'_, Option<T>>,
    mut state: T,
    work: impl FnOnce(&mut T) -> R,
) -> R {
    let done = salsa::Cancelled::catch(AssertUnwindSafe(|| work(&mut state)));
    *slot = Some(state);
    drop(slot);
    match done {
        Ok(result) => result,
        Err(cancelled) => resume_unwind(Box::new(cancelled)),
    }
}

/// Where something is kept from one round to the next; empty while someone works with it.
pub(crate) type Place<T> = Arc<Mutex<Option<T>>>;

/// Where such things of that name and key are kept.
pub(crate) fn place<K, T>(db: &dyn Db, name: &'static str, key: K) -> Place<T>
where
    K: Eq + Hash + Send + 'static,
    T: Send + 'static,
{
    let all = |all: &mut FxHashMap<K, Place<T>>| all.entry(key).or_default().clone();
    db.warm().with(name, all)
}

/// The image object that a piece of data is made of.
fn object_of(sym: &StaticSym) -> Option<ObjId> {
    match sym {
        StaticSym::Object(o, _) | StaticSym::Part(o, ..) | StaticSym::Vtable(o) => Some(*o),
        StaticSym::Within(root, _) => object_of(root),
        _ => None,
    }
}

/// What import time and annotation came to: what everything that is kept of a program is made from.
#[derive(Clone, Default)]
pub(crate) struct Basis {
    image: Option<Arc<Image>>,
    /// The annotator's run.
    run: Option<u64>,
    /// The version of all memo calls.
    memos: u64,
}

/// How one basis differs from an earlier one.
pub(crate) struct BasisChanges {
    /// What may be other than it was. None where everything may.
    pub(crate) steps: Option<Vec<Step>>,
    /// Objects of the image that are gone.
    gone: FxHashSet<ObjId>,
    /// What it is now.
    pub(crate) now: Basis,
}

impl Basis {
    /// What has changed since.
    pub(crate) fn changes(&self, db: &dyn Db, roots: Roots) -> BasisChanges {
        let program = roots.program(db);
        let image = image(db, program).clone();
        let changes = changes_since(db, roots, self.run);
        let (memos, memo_steps) = memo_changes(db, program, self.memos);
        let mut gone = FxHashSet::default();
        let steps = (changes.steps)
            .zip(self.image.as_ref())
            .map(|(mut steps, old)| {
                steps.extend(memo_steps);
                if !Arc::ptr_eq(old, &image) {
                    let changes = image_changes(db, program, old, &image);
                    steps.extend(changes.steps);
                    gone.extend(changes.objects);
                    gone.retain(|o| !image.objects.contains_key(o));
                }
                steps
            });
        BasisChanges {
            steps,
            gone,
            now: Basis {
                image: Some(image),
                run: Some(changes.run),
                memos,
            },
        }
    }
}

impl<L: Level> Graph<L> {
    /// Notes what may have changed.
    fn notice(
        &mut self,
        db: &dyn Db,
        changes: BasisChanges,
        more: Option<Vec<Step>>,
        entries: Vec<FuncSym>,
    ) {
        let BasisChanges { steps, gone, now } = changes;
        match steps.zip(more) {
            Some((mut steps, more)) => {
                steps.extend(more);
                self.mark(db, &steps);
            }
            None => self.forget(),
        }
        self.mark_nodes(self.level.placed());
        // What referred to objects that are gone has changed as well: only a walk tells whether
        // they are asked for.
        let is_gone = |key: &StaticKey| object_of(key.sym(db)).is_some_and(|o| gone.contains(&o));
        let walk = !gone.is_empty() && self.data.keys().any(is_gone);
        self.unfinished |= walk || self.entries != entries;
        self.basis = now;
        self.entries = entries;
    }

    fn forget(&mut self) {
        let mut level = std::mem::take(&mut self.level);
        level.forgotten();
        *self = Graph {
            level,
            ..Graph::default()
        };
    }

    /// Marks what hangs on something as stale.
    fn mark(&mut self, db: &dyn Db, steps: &[Step]) {
        if steps.is_empty() {
            return;
        }
        let functions = dependants::<L::Function>(db, steps).into_iter();
        let functions = functions.filter_map(|f| self.functions.get(&f).copied());
        let data = dependants::<static_data>(db, steps).into_iter();
        let data = data.filter_map(|key| self.data.get(&key).copied());
        self.mark_nodes(functions.chain(data).collect());
    }

    fn mark_nodes(&mut self, nodes: Vec<NodeIx>) {
        for n in nodes {
            if let Some(node) = &mut self.nodes[n as usize] {
                node.stale = true;
                self.stale.insert(n);
            }
        }
    }

    /// A node, if there is one of that number.
    pub(super) fn node(&self, n: NodeIx) -> Option<&Node<L::Fact>> {
        self.nodes.get(n as usize)?.as_ref()
    }

    /// The functions that the program is entered by.
    pub(super) fn entries(&self) -> &[FuncSym] {
        &self.entries
    }

    /// Asks for what is stale, and walks over the program if it refers to something else now.
    fn update(&mut self, db: &dyn Db, roots: Roots, ask: Ask<'_, L>) {
        let first = self.unfinished || self.nodes.is_empty();
        if !first && self.stale.is_empty() {
            return;
        }
        // Nothing refers to functions any more that are not called: they are not asked for.
        let is_called = |node: &Node<L::Fact>| match &node.what {
            What::Function(_, key) => match key.kind(db) {
                FuncKeyKind::User(spec) => is_called(db, *spec),
                FuncKeyKind::Helper(_) | FuncKeyKind::Synth(..) => true,
            },
            What::Data(_) => true,
        };
        let mut stale: Vec<NodeIx> = self.stale.iter().copied().collect();
        stale.sort_unstable();
        let all_called = stale.iter().filter_map(|n| self.node(*n)).all(is_called);
        let mut walk = first || !all_called;
        if !walk {
            let what = |n: &NodeIx| self.node(*n).map(|n| n.what.clone());
            let whats: Vec<What> = stale.iter().filter_map(what).collect();
            for (n, asked) in stale.iter().zip(ask(db, &whats)) {
                walk |= self.set(db, roots, *n, asked);
            }
        }
        if walk {
            self.finish_walk(db, roots, ask);
        }
    }

    /// Takes in what a node is now. Returns whether it refers to something else than before.
    fn set(&mut self, db: &dyn Db, roots: Roots, n: NodeIx, asked: Asked<L::Fact>) -> bool {
        let References {
            functions, statics, ..
        } = asked.references;
        let functions = functions.into_iter();
        let functions = functions.filter_map(|f| self.function(db, roots, f));
        let functions: Box<[NodeIx]> = functions.collect();
        let data = statics.into_iter().map(|s| self.datum(db, roots, s));
        let data: Box<[NodeIx]> = data.collect();
        self.stale.remove(&n);
        let Some(node) = &mut self.nodes[n as usize] else {
            return true;
        };
        node.stale = false;
        if node.fact != asked.fact {
            node.fact = asked.fact;
            self.level.changed(n, &node.what, &node.fact);
        }
        let differs = node.functions != functions || node.data != data;
        node.functions = functions;
        node.data = data;
        // Until a walk was there.
        self.unfinished |= differs;
        differs
    }

    /// The node of a function; none if it has no graph. One whose type has changed is another
    /// function, and the one that it was goes when a walk does not come by.
    fn function(&mut self, db: &dyn Db, roots: Roots, f: FuncSym) -> Option<NodeIx> {
        let key = func_key(db, roots, &f)?;
        let f = LLFunction::new(db, roots, f);
        if let Some(n) = self.functions.get(&f) {
            return Some(*n);
        }
        let n = self.add(What::Function(f, key));
        self.functions.insert(f, n);
        Some(n)
    }

    fn datum(&mut self, db: &dyn Db, roots: Roots, s: StaticSym) -> NodeIx {
        let key = StaticKey::new(db, roots, s);
        if let Some(n) = self.data.get(&key) {
            return *n;
        }
        let n = self.add(What::Data(key));
        self.data.insert(key, n);
        n
    }

    fn add(&mut self, what: What) -> NodeIx {
        let node = Some(Node {
            what,
            fact: L::Fact::default(),
            stale: true,
            functions: Box::default(),
            data: Box::default(),
            walk: 0,
        });
        let n = match self.free.pop() {
            Some(n) => {
                self.nodes[n as usize] = node;
                n
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as NodeIx - 1
            }
        };
        self.stale.insert(n);
        // It may be told of before it is walked to.
        self.unfinished = true;
        n
    }

    /// Walks over the program wave by wave, asks for what is stale on the way, and drops what it
    /// does not come by.
    fn finish_walk(&mut self, db: &dyn Db, roots: Roots, ask: Ask<'_, L>) {
        self.unfinished = true;
        let seen = self.walked(db, roots, ask).len();
        self.unfinished = false;
        self.level.walked();
        let unseen = self.nodes.len() - self.free.len() - seen;
        if unseen > 0 {
            for n in 0..self.nodes.len() as NodeIx {
                if self.node(n).is_some_and(|node| node.walk != self.walk) {
                    self.remove(db, n);
                }
            }
        }
    }

    /// The functions and data of the program, wave by wave.
    pub(super) fn walked(&mut self, db: &dyn Db, roots: Roots, ask: Ask<'_, L>) -> Vec<NodeIx> {
        self.walk += 1;
        let mut seen = Vec::new();
        let (mut functions, mut data) = (Vec::new(), Vec::new());
        for f in self.entries.clone() {
            if let Some(n) = self.function(db, roots, f) {
                self.come_by(n, &mut functions);
            }
        }
        while !functions.is_empty() || !data.is_empty() {
            let mut wave = std::mem::take(&mut functions);
            wave.append(&mut data);
            let is_stale = |n: &NodeIx| self.node(*n).is_some_and(|n| n.stale);
            let stale: Vec<NodeIx> = wave.iter().copied().filter(is_stale).collect();
            if !stale.is_empty() {
                let whats = stale
                    .iter()
                    .filter_map(|n| Some(self.node(*n)?.what.clone()));
                let whats: Vec<What> = whats.collect();
                for (n, asked) in stale.into_iter().zip(ask(db, &whats)) {
                    self.set(db, roots, n, asked);
                }
            }
            for n in &wave {
                let Some(node) = &mut self.nodes[*n as usize] else {
                    continue;
                };
                // Taken out meanwhile.
                let own = std::mem::take(&mut node.functions);
                let own_data = std::mem::take(&mut node.data);
                for n in &own {
                    self.come_by(*n, &mut functions);
                }
                for n in &own_data {
                    self.come_by(*n, &mut data);
                }
                if let Some(node) = &mut self.nodes[*n as usize] {
                    (node.functions, node.data) = (own, own_data);
                }
            }
            seen.append(&mut wave);
        }
        seen
    }

    fn come_by(&mut self, n: NodeIx, out: &mut Vec<NodeIx>) {
        if let Some(node) = &mut self.nodes[n as usize]
            && node.walk != self.walk
        {
            node.walk = self.walk;
            out.push(n);
        }
    }

    fn remove(&mut self, db: &dyn Db, n: NodeIx) {
        let Some(node) = self.nodes[n as usize].take() else {
            return;
        };
        match &node.what {
            What::Function(f, _) => self.functions.remove(f),
            What::Data(key) => self.data.remove(key),
        };
        self.level.gone(db, n, &node.what);
        self.stale.remove(&n);
        self.free.push(n);
    }
}
