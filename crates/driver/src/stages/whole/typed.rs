//! The whole program as the RTyper makes it: what cannot be typed in it, and what is known of all
//! functions together.
//!
//! ```text
//! low_level_facts(roots)   depends on `solve` and `image` as a whole
//!     │ aside              functions with markers of drivers (`marked_functions`), late writes
//!     └─► object_flow(f)   for the functions that may be others
//! ```

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use taipan_annotator::{Roots, Spec};
use taipan_base::reads::apart;
use taipan_base::{Db, Diagnostic, ErrorCode, File, SHIPPED, Severity, noted};
use taipan_interp::{ObjData, Object, object};
use taipan_jit::{ClassField, LateWrite, LateWrites, ListField, ObjectFlow};
use taipan_lltype::{FuncKind, FuncSym, StaticSym};
use taipan_rtyper::{
    AttributeUses, Difference, StaticKey, attribute_uses, differences, instruction_span,
    prebuilt_attribute_uses,
};

use super::attributes::Attributes;
use super::graph::{Ask, Graph, Level, NodeIx, What, ask_all, ask_here, with_graph};
use crate::db::Database;
use crate::function::LLFunction;
use crate::stages::drivers::may_have_drivers;
use crate::stages::reach::References;
use crate::stages::{GraphStage, StageProgram, rtyped};

/// What is known of all functions of a program together.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct LowLevelFacts {
    marked: Arc<[FuncSym]>,
    /// Lists of virtualizables that others have as well, by field.
    pub(crate) leaked: Arc<[ListField]>,
    /// See [`taipan_jit::LateWrites`].
    pub(crate) late: Arc<[LateWrite]>,
}

/// What cannot be typed in what the roots reach, in the order in which a walk from the entries
/// gets there. Never to be called from within a query.
pub(crate) fn typing_diagnostics(db: &Database, roots: Roots) -> Vec<Diagnostic> {
    let ask = ask_all::<Typed>(db, roots);
    let found = with_typed(db, roots, false, &ask, |db, graph| {
        diagnostics(graph, db, roots, &ask)
    });
    found.unwrap_or_else(|d| vec![d])
}

noted! {
    /// What is known of all functions of a program together. Nothing where there are no entries.
    /// Whoever asks depends on this, not on what it is made from: whether it is another is
    /// found by comparing it.
    pub(crate) projection fn low_level_facts(db, roots: Roots) -> LowLevelFacts {
        let _timed = taipan_base::timed(db);
        apart(|| {
            let ask = ask_here::<Typed>(roots);
            with_typed(db, roots, true, &ask, facts).unwrap_or_default()
        })
    }
}

noted! {
    /// The functions with markers of drivers, by name.
    pub(crate) fn marked_functions(db, roots: Roots) -> Arc<[FuncSym]> {
        low_level_facts(db, roots).marked
    }
}

noted! {
    /// What a function does with objects by itself. None where it has no graph.
    fn object_flow_of(db, f: LLFunction) -> Option<Arc<ObjectFlow>> {
        let graph = rtyped(db, f.roots(db), f.sym(db))?.ok()?;
        let program = StageProgram::new(db, f.roots(db), GraphStage::Rtyped);
        Some(Arc::new(ObjectFlow::new(&program, &graph)))
    }
}

noted! {
    /// The fields whose lists a function shares with others.
    fn leaked_lists_of(db, f: LLFunction) -> Arc<[ListField]> {
        let Some(Ok(graph)) = rtyped(db, f.roots(db), f.sym(db)) else {
            return Arc::default();
        };
        let program = StageProgram::new(db, f.roots(db), GraphStage::Rtyped);
        taipan_jit::leaked_lists(&program, &graph).into_iter().collect()
    }
}

noted! {
    /// Fields that a function writes in objects not under construction.
    fn rewritten_fields_of(db, f: LLFunction) -> Arc<[ClassField]> {
        let Some(Ok(graph)) = rtyped(db, f.roots(db), f.sym(db)) else {
            return Arc::default();
        };
        taipan_jit::rewritten_fields(f.sym(db), &graph).into_iter().collect()
    }
}

noted! {
    /// Fields that a program writes in objects not under construction. Read when a program is built with a JIT.
    pub(crate) projection fn rewritten_fields(db, roots: Roots) -> Arc<BTreeSet<ClassField>> {
        apart(|| {
            let ask = ask_here::<Typed>(roots);
            let all = with_typed(db, roots, true, &ask, |db, graph| {
                let nodes = graph.walked(db, roots, &ask).into_iter();
                let functions = nodes.filter_map(|n| graph.node(n)?.what.function());
                functions.flat_map(|f| rewritten_fields_of(db, f).to_vec()).collect()
            });
            Arc::new(all.unwrap_or_default())
        })
    }
}

fn with_typed<R>(
    db: &dyn Db,
    roots: Roots,
    in_query: bool,
    ask: Ask<'_, Typed>,
    work: impl FnOnce(&dyn Db, &mut Graph<Typed>) -> R,
) -> Result<R, Diagnostic> {
    // Where the program cannot have drivers, nobody asks what functions do with objects.
    let with_drivers = may_have_drivers(db, roots);
    let notice = |typed: &mut Typed| {
        let same = typed.with_drivers == with_drivers;
        typed.with_drivers = with_drivers;
        same.then(Vec::new)
    };
    with_graph(db, roots, in_query, ask, notice, work)
}

/// What is kept of a node.
#[derive(Clone, PartialEq, Default)]
struct Fact {
    diagnostic: Option<Box<Diagnostic>>,
    flow: Option<Arc<ObjectFlow>>,
    leaked: Arc<[ListField]>,
    /// Operations that silently differ from Python.
    differences: Arc<[Difference]>,
    /// Uses of attributes of instances.
    attributes: Arc<AttributeUses>,
}

noted! {
    /// A function in what is kept of a whole program as the RTyper makes it.
    kept TypedFunction(LLFunction)
}

/// A program as the RTyper makes it.
#[derive(Default)]
struct Typed {
    with_drivers: bool,
    /// Functions whose flow has changed, and was not told to `late` yet.
    untold: FxHashSet<NodeIx>,
    gone: Vec<FuncSym>,
    broken: FxHashSet<NodeIx>,
    marked: FxHashSet<NodeIx>,
    /// Those that share lists of a field with others.
    leaking: FxHashSet<NodeIx>,
    /// Those with operations that silently differ from Python.
    differing: FxHashSet<NodeIx>,
    attributes: Attributes,
    late: LateWrites,
}

fn set(nodes: &mut FxHashSet<NodeIx>, n: NodeIx, is_in: bool) {
    if is_in {
        nodes.insert(n)
    } else {
        nodes.remove(&n)
    };
}

impl Level for Typed {
    type Fact = Fact;
    const STAGE: GraphStage = GraphStage::Rtyped;
    type Function = TypedFunction;
    const NAME: &'static str = "typed programs";

    fn fact(db: &dyn Db, f: LLFunction, references: &mut References) -> Fact {
        let with_drivers = may_have_drivers(db, f.roots(db));
        Fact {
            diagnostic: references.diagnostic.take().map(Box::new),
            flow: with_drivers.then(|| object_flow_of(db, f)).flatten(),
            leaked: if with_drivers {
                leaked_lists_of(db, f)
            } else {
                Arc::default()
            },
            differences: differences_of(db, f),
            attributes: attributes_of(db, f),
        }
    }

    fn data_fact(db: &dyn Db, key: StaticKey, references: &mut References) -> Fact {
        let attributes = match key.sym(db) {
            StaticSym::Object(id, _) => {
                prebuilt_attribute_uses(db, key.roots(db).program(db), *id).into()
            }
            _ => Arc::default(),
        };
        let leaked = match key.sym(db) {
            object @ StaticSym::Object(..) if may_have_drivers(db, key.roots(db)) => {
                let program = StageProgram::new(db, key.roots(db), GraphStage::Rtyped);
                taipan_jit::prebuilt_lists(&program, object)
            }
            _ => BTreeSet::new(),
        };
        Fact {
            diagnostic: references.diagnostic.take().map(Box::new),
            flow: None,
            leaked: leaked.into_iter().collect(),
            differences: Arc::default(),
            attributes,
        }
    }

    fn changed(&mut self, n: NodeIx, what: &What, fact: &Fact) {
        set(&mut self.broken, n, fact.diagnostic.is_some());
        set(&mut self.leaking, n, !fact.leaked.is_empty());
        set(&mut self.differing, n, !fact.differences.is_empty());
        self.attributes.set(n, Some(&fact.attributes));
        if matches!(what, What::Function(..)) {
            let is_marked = fact.flow.as_ref().is_some_and(|flow| flow.is_marked());
            set(&mut self.marked, n, is_marked);
            self.untold.insert(n);
        }
    }

    fn placed(&self) -> Vec<NodeIx> {
        let mut broken: Vec<NodeIx> = self.broken.iter().copied().collect();
        broken.sort_unstable();
        broken
    }

    fn gone(&mut self, db: &dyn Db, n: NodeIx, what: &What) {
        (self.gone).extend(what.function().map(|f| f.sym(db).clone()));
        self.untold.remove(&n);
        self.broken.remove(&n);
        self.leaking.remove(&n);
        self.differing.remove(&n);
        self.attributes.set(n, None);
        self.marked.remove(&n);
    }

    fn forgotten(&mut self) {
        *self = Typed {
            with_drivers: self.with_drivers,
            ..Typed::default()
        };
    }
}

/// A function of the program, and whether the author wrote it, so that it does not ship with the compiler.
fn user_function(db: &dyn Db, f: LLFunction) -> Option<(Spec, bool)> {
    let FuncKind::User { func, spec, .. } = f.sym(db).kind() else {
        return None;
    };
    let spec = Spec::new(db, f.roots(db), *func, spec.clone());
    let key = Object::new(db, f.roots(db).program(db), *func);
    let own = |file: File| !file.path(db).starts_with(SHIPPED);
    match object(db, key).as_deref() {
        Some(ObjData::Function(data)) => Some((spec, data.code.file(db).is_some_and(own))),
        _ => None,
    }
}

/// Operations of a function that silently differ from Python. None for functions that ship with the compiler.
fn differences_of(db: &dyn Db, f: LLFunction) -> Arc<[Difference]> {
    match user_function(db, f) {
        Some((spec, true)) => differences(db, spec).into(),
        _ => Arc::default(),
    }
}

/// Uses of attributes in a function. The reads of functions that ship with the compiler are left out.
fn attributes_of(db: &dyn Db, f: LLFunction) -> Arc<AttributeUses> {
    match user_function(db, f) {
        Some((spec, own)) => attribute_uses(db, spec, own).into(),
        None => Arc::default(),
    }
}

/// Warnings about operations that silently differ from Python, by place. Never to be called from within a query.
pub(crate) fn difference_warnings(db: &Database, roots: Roots) -> Vec<Diagnostic> {
    let ask = ask_all::<Typed>(db, roots);
    let found = with_typed(db, roots, false, &ask, |db, graph| {
        let function = |n: NodeIx| graph.node(n)?.what.function();
        let mut found = Vec::new();
        #[expect(clippy::iter_over_hash_type, reason = "warnings are sorted by place")]
        for n in &graph.level.differing {
            let Some(node) = graph.node(*n) else { continue };
            let Some(f) = node.what.function() else {
                continue;
            };
            for d in node.fact.differences.iter() {
                let (message, help) = d.words();
                found.push((f, d.at, d.code(), message, help.to_owned()));
            }
        }
        for lacking in graph.level.attributes.lacking(db, roots.program(db)) {
            let (message, help) = lacking.words(db, roots.program(db));
            let places = lacking.readers.iter();
            found.extend(places.filter_map(|(n, at)| {
                let code = ErrorCode::LackingAttribute;
                Some((function(*n)?, *at, code, message.clone(), help.clone()))
            }));
        }
        found
    });
    let mut all: Vec<Diagnostic> = Vec::new();
    let mut seen = FxHashSet::default();
    for (f, at, code, message, help) in found.unwrap_or_default() {
        let span = user_function(db, f).and_then(|(spec, _)| instruction_span(db, spec, at));
        let mut d = Diagnostic::error(code, span, message).with_help(help);
        d.severity = Severity::Warning;
        // Specialisations of a function repeat its warnings, and several operations may have one place.
        if span.is_some() && seen.insert((d.code, d.primary)) {
            all.push(d);
        }
    }
    all.sort_by_cached_key(|d| {
        let at = d.primary.map(|s| (s.file.path(db).clone(), s.range.start));
        (at, d.code)
    });
    all
}

/// What cannot be typed, in the order of a walk.
fn diagnostics(
    graph: &mut Graph<Typed>,
    db: &dyn Db,
    roots: Roots,
    ask: Ask<'_, Typed>,
) -> Vec<Diagnostic> {
    if graph.level.broken.is_empty() {
        return Vec::new();
    }
    let nodes = graph.walked(db, roots, ask).into_iter();
    let facts = nodes.filter_map(|n| Some(&graph.node(n)?.fact));
    facts
        .filter_map(|fact| fact.diagnostic.as_deref().cloned())
        .collect()
}

fn facts(db: &dyn Db, graph: &mut Graph<Typed>) -> LowLevelFacts {
    let sym = |n: NodeIx| Some(graph.node(n)?.what.function()?.sym(db).clone());
    let mut marked: Vec<FuncSym> = (graph.level.marked.iter())
        .filter_map(|n| sym(*n))
        .collect();
    marked.sort_by_cached_key(|f| (f.name().to_owned(), format!("{:?}", f.kind())));
    // Without drivers nobody asks.
    if !marked.is_empty() {
        let mut untold: Vec<NodeIx> = graph.level.untold.iter().copied().collect();
        untold.sort_unstable();
        let gone = graph.level.gone.iter().map(|f| (f.clone(), None));
        let flow = |n: NodeIx| graph.node(n)?.fact.flow.clone();
        let untold = untold.into_iter().filter_map(|n| Some((sym(n)?, flow(n))));
        let news: Vec<_> = gone.chain(untold).collect();
        let entries = graph.entries().to_vec();
        graph.level.late.update(news, &entries);
        graph.level.gone.clear();
        graph.level.untold.clear();
    }
    let leaking = graph.level.leaking.iter();
    let leaked: BTreeSet<ListField> = leaking
        .filter_map(|n| graph.node(*n))
        .flat_map(|node| node.fact.leaked.iter().cloned())
        .collect();
    LowLevelFacts {
        marked: marked.into(),
        leaked: leaked.into_iter().collect(),
        late: graph.level.late.found(),
    }
}
