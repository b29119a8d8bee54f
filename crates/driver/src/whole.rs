//! The whole program as the RTyper makes it, kept up to date after edits: its functions and data,
//! what cannot be typed in them, and what is known of all functions together.
//!
//! Asking every function whether its low-level graph is still right takes longer, in a
//! large program, than an edit may take. The annotator knows what an edit may have
//! changed, and [`taipan_annotator::reads`] which graphs and data that can reach: only
//! those are asked for. What each function and each piece of data refers to is remembered here,
//! outside salsa's tables, so that a walk over the program asks for nothing else; and if what was
//! asked for refers to what it did, there is no walk.
//!
//! ```text
//! low_level_facts(roots)   depends on `solve` and `image` as a whole
//!     │ aside              functions with markers of drivers (`marked_functions`), late writes
//!     └─► object_flow(f)   for the functions that may be others
//! ```

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use std::any::Any;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use salsa::plumbing::{AsId, FromId};
use taipan_annotator::reads::{Query, apart, dependants, image_changes, note, scope};
use taipan_annotator::{Changes, Roots, changes_since, is_called};
use taipan_base::{Db, Diagnostic, aside};
use taipan_graph::ObjId;
use taipan_interp::{Image, image};
use taipan_jit::{LateWrite, LateWrites, ObjectFlow};
use taipan_lltype::{FuncSym, StaticSym};
use taipan_rtyper::{FuncKey, FuncKeyKind, StaticKey, func_key};

use crate::Database;
use crate::compile::typer_diagnostic;
use crate::drivers::may_have_drivers;
use crate::parallel::{par_map, par_steps};
use crate::reach::{References, data_references, function_references};
use crate::stages::{GraphStage, LLFunction, StageProgram, root_syms, rtyped};

/// What is known of all functions of a program together.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct LowLevelFacts {
    marked: Arc<[FuncSym]>,
    /// See [`taipan_jit::LateWrites`].
    pub(crate) late: Arc<[LateWrite]>,
}

/// What cannot be typed in what the roots reach, in the order in which a walk from the entries
/// gets there. Never to be called from within a query.
pub(crate) fn typing_diagnostics(db: &Database, roots: Roots) -> Vec<Diagnostic> {
    let ask = |_: &dyn Db, nodes: &[What]| {
        let (functions, data): (Vec<&What>, Vec<&What>) =
            (nodes.iter()).partition(|n| matches!(n, What::Function(..)));
        let mut functions = par_steps(db, &functions, |db, n| asked(db, roots, n)).into_iter();
        let mut data = par_map(db, &data, |db, n| asked(db, roots, n)).into_iter();
        let in_order = nodes.iter().filter_map(|n| match n {
            What::Function(..) => functions.next(),
            What::Data(_) => data.next(),
        });
        in_order.collect()
    };
    let found = with_whole(db, roots, false, &ask, |db, whole| {
        whole.diagnostics(db, roots, &ask)
    });
    found.unwrap_or_else(|d| vec![d])
}

/// What is known of all functions of a program together. Nothing where there are no entries.
#[salsa::tracked(returns(clone))]
pub(crate) fn low_level_facts(db: &dyn Db, roots: Roots) -> LowLevelFacts {
    let _timed = taipan_base::timed(db);
    // Whoever asks depends on this, not on what it is made from.
    apart(|| {
        let ask = |db: &dyn Db, nodes: &[What]| {
            let asked = nodes.iter().map(|n| asked(db, roots, n));
            asked.collect()
        };
        with_whole(db, roots, true, &ask, |db, whole| whole.facts(db)).unwrap_or_default()
    })
}

/// The functions with markers of drivers, by name.
#[salsa::tracked(returns(clone))]
pub(crate) fn marked_functions(db: &dyn Db, roots: Roots) -> Arc<[FuncSym]> {
    low_level_facts(db, roots).marked
}

/// What a function does with objects by itself. None where it has no graph.
fn object_flow(db: &dyn Db, f: LLFunction) -> Option<Arc<ObjectFlow>> {
    note(Query::ObjectFlow, f.as_id());
    object_flow_of(db, f)
}

#[salsa::tracked(returns(clone))]
fn object_flow_of(db: &dyn Db, f: LLFunction) -> Option<Arc<ObjectFlow>> {
    scope(db, Query::ObjectFlow, f.as_id(), || {
        let graph = rtyped(db, f.roots(db), f.sym(db))?.ok()?;
        let program = StageProgram::new(db, f.roots(db), GraphStage::Rtyped);
        Some(Arc::new(ObjectFlow::new(&program, &graph)))
    })
}

/// A function or a piece of data.
#[derive(Clone)]
enum What {
    Function(LLFunction, FuncKey),
    Data(StaticKey),
}

/// What a node is at present.
#[derive(Default)]
struct Asked {
    references: References,
    flow: Option<Arc<ObjectFlow>>,
}

fn asked(db: &dyn Db, roots: Roots, node: &What) -> Asked {
    match node {
        What::Function(f, _) => Asked {
            references: function_references(db, roots, GraphStage::Rtyped, f.sym(db)),
            flow: (may_have_drivers(db, roots).then(|| object_flow(db, *f))).flatten(),
        },
        What::Data(key) => Asked {
            references: data_references(db, roots, key.sym(db)),
            flow: None,
        },
    }
}

/// Asks what nodes are, in order.
type Ask<'a> = &'a dyn Fn(&dyn Db, &[What]) -> Vec<Asked>;

type NodeIx = u32;

struct Node {
    what: What,
    /// It may be another by now.
    stale: bool,
    functions: Box<[NodeIx]>,
    data: Box<[NodeIx]>,
    diagnostic: Option<Box<Diagnostic>>,
    flow: Option<Arc<ObjectFlow>>,
    /// The last walk that came by.
    walk: u32,
}

/// A program as the RTyper makes it.
#[derive(Default)]
struct Whole {
    /// The annotator's run that this holds for, but for what is stale.
    run: Option<u64>,
    /// And the image.
    image: Option<Arc<Image>>,
    entries: Vec<FuncSym>,
    with_drivers: bool,
    nodes: Vec<Option<Node>>,
    free: Vec<NodeIx>,
    functions: FxHashMap<FuncKey, NodeIx>,
    data: FxHashMap<StaticKey, NodeIx>,
    /// Nodes that are stale.
    stale: FxHashSet<NodeIx>,
    /// Functions whose flow has changed, and was not told to `late` yet.
    untold: FxHashSet<NodeIx>,
    gone: Vec<FuncSym>,
    broken: FxHashSet<NodeIx>,
    marked: FxHashSet<NodeIx>,
    walk: u32,
    /// What the last walk came by is not all that there is: it did not get to its end.
    unfinished: bool,
    late: LateWrites,
}

/// Works with the program, which is brought up to date before. The diagnostic says why it has no
/// entries. In a query it depends on what is asked for here, and on nothing that is asked for
/// aside: one of these changes whenever one of those may.
fn with_whole<R>(
    db: &dyn Db,
    roots: Roots,
    in_query: bool,
    ask: Ask<'_>,
    work: impl FnOnce(&dyn Db, &mut Whole) -> R,
) -> Result<R, Diagnostic> {
    let entries = root_syms(db, roots).map_err(typer_diagnostic)?;
    let with_drivers = may_have_drivers(db, roots);
    let image = image(db, roots.program(db)).clone();
    let slot = place(db, roots);
    let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
    let mut whole = slot.take().unwrap_or_default();
    let changes = changes_since(db, roots, whole.run);
    // Where it is cancelled, it is known what is stale. A panic drops it.
    let done = salsa::Cancelled::catch(AssertUnwindSafe(|| {
        let run = |db: &dyn Db| {
            whole.notice(db, roots, changes, image, entries);
            whole.set_with_drivers(with_drivers);
            whole.update(db, roots, ask);
            work(db, &mut whole)
        };
        match in_query {
            true => aside(db, run),
            false => run(db),
        }
    }));
    *slot = Some(whole);
    drop(slot);
    match done {
        Ok(result) => Ok(result),
        Err(cancelled) => resume_unwind(Box::new(cancelled)),
    }
}

type Place = Arc<Mutex<Option<Whole>>>;

fn place(db: &dyn Db, roots: Roots) -> Place {
    let slot = db.warm().slot("whole programs");
    let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
    let all = slot.get_or_insert_with(|| {
        Box::new(FxHashMap::<Roots, Place>::default()) as Box<dyn Any + Send>
    });
    match all.downcast_mut::<FxHashMap<Roots, Place>>() {
        Some(all) => all.entry(roots).or_default().clone(),
        None => Place::default(),
    }
}

/// The image object that a piece of data is made of.
fn object_of(sym: &StaticSym) -> Option<ObjId> {
    match sym {
        StaticSym::Object(o, _) | StaticSym::Part(o, ..) | StaticSym::Vtable(o) => Some(*o),
        StaticSym::Within(root, _) => object_of(root),
        _ => None,
    }
}

impl Whole {
    /// Notes what may have changed.
    fn notice(
        &mut self,
        db: &dyn Db,
        roots: Roots,
        changes: Changes,
        image: Arc<Image>,
        entries: Vec<FuncSym>,
    ) {
        let mut gone = FxHashSet::default();
        let steps = match (changes.steps, &self.image) {
            (Some(mut steps), Some(old)) => {
                if !Arc::ptr_eq(old, &image) {
                    let changes = image_changes(db, roots.program(db), old, &image);
                    steps.extend(changes.steps);
                    gone.extend(changes.objects);
                    gone.retain(|o| !image.objects.contains_key(o));
                }
                Some(steps)
            }
            _ => None,
        };
        match steps {
            Some(steps) if steps.is_empty() => {}
            Some(steps) => {
                let functions = dependants(db, &steps, Query::RtypedGraph).into_iter();
                let functions = functions.map(FuncKey::from_id);
                (self.stale).extend(functions.filter_map(|key| self.functions.get(&key)));
                let flows = dependants(db, &steps, Query::ObjectFlow).into_iter();
                let flows = flows
                    .map(LLFunction::from_id)
                    .filter(|f| f.roots(db) == roots);
                let keys = flows.filter_map(|f| func_key(db, roots, f.sym(db)));
                (self.stale).extend(keys.filter_map(|key| self.functions.get(&key)));
                let data = dependants(db, &steps, Query::StaticData).into_iter();
                let data = data.map(StaticKey::from_id);
                (self.stale).extend(data.filter_map(|key| self.data.get(&key)));
                self.mark_stale();
            }
            None => *self = Whole::default(),
        }
        // What referred to objects that are gone has changed as well: only a walk tells whether
        // they are asked for.
        let is_gone = |key: &StaticKey| object_of(key.sym(db)).is_some_and(|o| gone.contains(&o));
        let walk = !gone.is_empty() && self.data.keys().any(is_gone);
        self.unfinished |= walk || self.entries != entries;
        self.run = Some(changes.run);
        self.image = Some(image);
        self.entries = entries;
    }

    /// Whether the program may have drivers. Where it cannot, nobody asks what functions do with
    /// objects.
    fn set_with_drivers(&mut self, with_drivers: bool) {
        if self.with_drivers != with_drivers {
            self.stale.extend(self.functions.values());
            self.mark_stale();
        }
        self.with_drivers = with_drivers;
    }

    fn mark_stale(&mut self) {
        for n in &self.stale {
            if let Some(node) = &mut self.nodes[*n as usize] {
                node.stale = true;
            }
        }
    }

    /// Asks for what is stale, and walks over the program if it refers to something else now.
    fn update(&mut self, db: &dyn Db, roots: Roots, ask: Ask<'_>) {
        let first = self.unfinished || self.nodes.is_empty();
        if !first && self.stale.is_empty() {
            return;
        }
        // Nothing refers to functions any more that are not called: they are not asked for.
        let is_called = |node: &Node| match &node.what {
            What::Function(_, key) => match key.kind(db) {
                FuncKeyKind::User(spec) => is_called(db, *spec),
                FuncKeyKind::Helper(_) | FuncKeyKind::Synth(..) => true,
            },
            What::Data(_) => true,
        };
        let mut stale: Vec<NodeIx> = self.stale.iter().copied().collect();
        stale.sort_unstable();
        let all_called = (stale.iter())
            .filter_map(|n| self.nodes[*n as usize].as_ref())
            .all(is_called);
        let mut walk = first || !all_called;
        if !walk {
            let what = |n: &NodeIx| self.nodes[*n as usize].as_ref().map(|n| n.what.clone());
            let whats: Vec<What> = stale.iter().filter_map(what).collect();
            for (n, asked) in stale.iter().zip(ask(db, &whats)) {
                walk |= self.set(db, roots, *n, asked);
            }
        }
        if walk {
            self.walk(db, roots, ask);
        }
    }

    /// Takes in what a node is now. Answers whether it refers to something else than before.
    fn set(&mut self, db: &dyn Db, roots: Roots, n: NodeIx, asked: Asked) -> bool {
        let References {
            functions,
            statics,
            diagnostic,
        } = asked.references;
        let functions = functions.into_iter();
        let functions = functions.filter_map(|f| self.function(db, roots, f));
        let functions: Box<[NodeIx]> = functions.collect();
        let data = statics.into_iter().map(|s| self.datum(db, roots, s));
        let data: Box<[NodeIx]> = data.collect();
        self.stale.remove(&n);
        match &diagnostic {
            Some(_) => self.broken.insert(n),
            None => self.broken.remove(&n),
        };
        match &asked.flow {
            Some(flow) if flow.is_marked() => self.marked.insert(n),
            _ => self.marked.remove(&n),
        };
        let Some(node) = &mut self.nodes[n as usize] else {
            return true;
        };
        node.stale = false;
        node.diagnostic = diagnostic.map(Box::new);
        if node.flow != asked.flow {
            node.flow = asked.flow;
            self.untold.insert(n);
        }
        let differs = node.functions != functions || node.data != data;
        node.functions = functions;
        node.data = data;
        // Until a walk was there.
        self.unfinished |= differs;
        differs
    }

    /// The node of a function; none if it has no graph.
    fn function(&mut self, db: &dyn Db, roots: Roots, f: FuncSym) -> Option<NodeIx> {
        let key = func_key(db, roots, &f)?;
        if let Some(n) = self.functions.get(&key) {
            return Some(*n);
        }
        let n = self.add(What::Function(LLFunction::new(db, roots, f), key));
        self.functions.insert(key, n);
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
            stale: true,
            functions: Box::default(),
            data: Box::default(),
            diagnostic: None,
            flow: None,
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
    fn walk(&mut self, db: &dyn Db, roots: Roots, ask: Ask<'_>) {
        self.unfinished = true;
        let seen = self.walked(db, roots, ask).len();
        self.unfinished = false;
        let unseen = self.nodes.len() - self.free.len() - seen;
        if unseen > 0 {
            for n in 0..self.nodes.len() {
                if self.nodes[n]
                    .as_ref()
                    .is_some_and(|node| node.walk != self.walk)
                {
                    self.remove(db, n as NodeIx);
                }
            }
        }
    }

    /// The functions and data of the program, wave by wave.
    fn walked(&mut self, db: &dyn Db, roots: Roots, ask: Ask<'_>) -> Vec<NodeIx> {
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
            let node = |n: NodeIx| self.nodes[n as usize].as_ref();
            let is_stale = |n: &NodeIx| node(*n).is_some_and(|n| n.stale);
            let stale: Vec<NodeIx> = wave.iter().copied().filter(is_stale).collect();
            if !stale.is_empty() {
                let whats = stale.iter().filter_map(|n| Some(node(*n)?.what.clone()));
                let whats: Vec<What> = whats.collect();
                for (n, asked) in stale.into_iter().zip(ask(db, &whats)) {
                    self.set(db, roots, n, asked);
                }
            }
            for n in &wave {
                let Some(node) = &self.nodes[*n as usize] else {
                    continue;
                };
                for n in node.functions.clone() {
                    self.come_by(n, &mut functions);
                }
                let Some(node) = &self.nodes[*n as usize] else {
                    continue;
                };
                for n in node.data.clone() {
                    self.come_by(n, &mut data);
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
        match node.what {
            What::Function(f, key) => {
                self.functions.remove(&key);
                if node.flow.is_some() || self.untold.contains(&n) {
                    self.gone.push(f.sym(db).clone());
                }
            }
            What::Data(key) => drop(self.data.remove(&key)),
        }
        self.stale.remove(&n);
        self.untold.remove(&n);
        self.broken.remove(&n);
        self.marked.remove(&n);
        self.free.push(n);
    }

    /// What cannot be typed, in the order of a walk.
    fn diagnostics(&mut self, db: &dyn Db, roots: Roots, ask: Ask<'_>) -> Vec<Diagnostic> {
        if self.broken.is_empty() {
            return Vec::new();
        }
        let nodes = self.walked(db, roots, ask).into_iter();
        let nodes = nodes.filter_map(|n| self.nodes[n as usize].as_ref());
        nodes
            .filter_map(|n| n.diagnostic.as_deref().cloned())
            .collect()
    }

    fn facts(&mut self, db: &dyn Db) -> LowLevelFacts {
        let sym = |n: NodeIx| match self.nodes[n as usize].as_ref()?.what {
            What::Function(f, _) => Some(f.sym(db).clone()),
            What::Data(_) => None,
        };
        let mut marked: Vec<FuncSym> = self.marked.iter().filter_map(|n| sym(*n)).collect();
        marked.sort_by_cached_key(|f| (f.name().to_owned(), format!("{:?}", f.kind())));
        // Without drivers nobody asks.
        if !marked.is_empty() {
            let flow = |n: NodeIx| self.nodes[n as usize].as_ref()?.flow.clone();
            let gone = self.gone.iter().map(|f| (f.clone(), None));
            let mut untold: Vec<NodeIx> = self.untold.iter().copied().collect();
            untold.sort_unstable();
            let untold = untold.into_iter().filter_map(|n| Some((sym(n)?, flow(n))));
            self.late.update(gone.chain(untold), &self.entries);
            self.gone.clear();
            self.untold.clear();
        }
        LowLevelFacts {
            marked: marked.into(),
            late: self.late.found(),
        }
    }
}
