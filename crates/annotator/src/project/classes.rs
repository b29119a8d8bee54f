//! Classes in use and their attributes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_graph::{Const, FunctionGraph, HlOp, ObjId, Operand};
use taipan_interp::ObjData;

use super::Projector;
use super::index::Dirty;
use crate::Desc;
use crate::eval::FunctionState;
use crate::facts::Facts;
use crate::hierarchy::{ClassSet, Hierarchy};
use crate::result::{Attribute, ClassAttributes, ClassDef};
use crate::solver::FactJoiner;
use crate::store::{NodeIx, SlotKey, Store};
use crate::val::{Atom, Val};

/// An attribute that is read through a PBC of several classes: it goes to their
/// common base.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct ClassRead {
    pub(super) base: ObjId,
    name: Arc<str>,
    val: Val,
}

/// What a function does with classes as values.
#[derive(Default)]
pub(super) struct ClassUses {
    pub(super) reads: Vec<ClassRead>,
    /// Classes that are called, or that `instantiate` is called on, through a PBC of
    /// several.
    pub(super) generic: Vec<ObjId>,
}

impl ClassUses {
    /// Those of a function.
    pub(super) fn of(facts: &Facts, graph: &FunctionGraph, state: &FunctionState) -> ClassUses {
        let mut uses = ClassUses::default();
        for op in graph.blocks.iter().flat_map(|b| &b.operations) {
            if !matches!(op.op, HlOp::GetAttr | HlOp::SimpleCall | HlOp::CallArgs) {
                continue;
            }
            let called = op.op != HlOp::GetAttr;
            let (x, instantiate) = match &op.args[..] {
                [Operand::Var(x), ..] => (*x, false),
                [Operand::Const(Const::Obj(f)), Operand::Var(x), ..]
                    if called && is_instantiate(facts, *f) =>
                {
                    (*x, true)
                }
                _ => continue,
            };
            // Variables of blocks that were not reached have no value.
            let Some(Atom::Pbc(descs)) = state.vars.get(x.index()).and_then(|v| v.single()) else {
                continue;
            };
            let classes: Vec<ObjId> = descs
                .iter()
                .filter_map(|d| match d {
                    Desc::Class(c) => Some(*c),
                    _ => None,
                })
                .collect();
            if called && descs.len() > 1 {
                uses.generic
                    .extend(classes.iter().filter(|c| is_class(facts, **c)));
            }
            if instantiate || classes.len() < 2 {
                continue;
            }
            let mut joiner = FactJoiner::new(facts);
            let Some(base) = crate::val::base_of_all(&classes, &mut joiner) else {
                continue;
            };
            let read = if called {
                inits(facts, &classes).map(|v| ("__init__", v))
            } else {
                // A constant, or a variable that is known to have one value.
                let name = match &op.args[1] {
                    Operand::Const(c) => c.as_str(),
                    Operand::Var(v) => state.vars.get(v.index()).and_then(Val::const_str),
                };
                name.filter(|n| *n != "__name__")
                    .map(|n| (n, state.vars[op.result.index()].not_const()))
            };
            if let Some((name, val)) = read {
                let name = name.into();
                uses.reads.push(ClassRead { base, name, val });
            }
        }
        uses
    }
}

/// The `__init__`s of classes that all have one.
fn inits(facts: &Facts, classes: &[ObjId]) -> Option<Val> {
    let mut inits: Vec<Desc> = classes
        .iter()
        .map(|c| match facts.lookup(*c, "__init__") {
            Ok(Some((_, Const::Obj(f)))) => Some(Desc::Function(f)),
            _ => None,
        })
        .collect::<Option<_>>()?;
    inits.sort();
    inits.dedup();
    Some(Atom::Pbc(inits.into()).into())
}

/// The functions that a value is one of, if it is nothing else.
fn functions(v: &Val) -> Option<&[Desc]> {
    match v.single() {
        Some(Atom::Pbc(descs)) if descs.iter().all(|d| matches!(d, Desc::Function(_))) => {
            Some(descs)
        }
        _ => None,
    }
}

/// Whether values of a class attribute must have one representation: all do but sets of
/// functions that have none in common.
fn is_related(a: &Val, b: &Val) -> bool {
    match (functions(a), functions(b)) {
        (Some(a), Some(b)) => a.iter().any(|d| b.contains(d)),
        _ => true,
    }
}

fn is_instantiate(facts: &Facts, o: ObjId) -> bool {
    match facts.object(o).ok().flatten().as_deref() {
        Some(ObjData::Function(f)) => {
            &*f.module == "rpython.rlib.objectmodel" && &*f.name == "instantiate"
        }
        _ => false,
    }
}

fn is_class(facts: &Facts, o: ObjId) -> bool {
    matches!(
        facts.object(o).ok().flatten().as_deref(),
        Some(ObjData::Class(_))
    )
}

/// A class by its name, which tells the order.
type Named = (Arc<str>, ObjId);

/// What a class says of itself.
struct Def {
    name: Arc<str>,
    base: Option<ObjId>,
    finalizer: Option<ObjId>,
}

/// All classes in use.
#[derive(Default)]
pub(super) struct Classes {
    used: BTreeSet<Named>,
    defs: FxHashMap<ObjId, Def>,
    below: FxHashMap<ObjId, BTreeSet<Named>>,
    /// Attributes that are used on instances of a class, and the classes on whose
    /// instances one is used.
    attrs: FxHashMap<ObjId, BTreeSet<Arc<str>>>,
    with_attr: FxHashMap<Arc<str>, ClassSet>,
    readers: FxHashMap<ObjId, FxHashMap<NodeIx, u32>>,
    generic: FxHashMap<ObjId, u32>,
}

impl Classes {
    /// Puts a class among those in use, or takes it away.
    pub(super) fn set_used(&mut self, class: ObjId, used: bool, facts: &Facts, dirty: &mut Dirty) {
        if let Some(Def { name, base, .. }) = self.defs.remove(&class) {
            if let Some(below) = base.and_then(|b| self.below.get_mut(&b)) {
                below.remove(&(name.clone(), class));
            }
            dirty.classes.extend(base);
            self.used.remove(&(name, class));
        }
        if used && let Ok(Some(info)) = facts.class(class) {
            let def = Def {
                name: info.name.clone(),
                base: info.base,
                finalizer: info.finalizer(),
            };
            self.defs.insert(class, def);
            if let Some(base) = info.base {
                let below = self.below.entry(base).or_default();
                below.insert((info.name.clone(), class));
                dirty.classes.insert(base);
            }
            self.used.insert((info.name.clone(), class));
        }
        dirty.classes.insert(class);
        dirty.attributes.insert(class);
        dirty.class_list = true;
    }

    /// An attribute is used on instances of a class, or not any more.
    pub(super) fn set_attr(
        &mut self,
        class: ObjId,
        name: &Arc<str>,
        used: bool,
        facts: &Facts,
        dirty: &mut Dirty,
    ) {
        let attrs = self.attrs.entry(class).or_default();
        let with = self.with_attr.entry(name.clone()).or_default();
        if used {
            attrs.insert(name.clone());
            with.insert(class);
        } else {
            attrs.remove(name);
            with.remove(class);
        }
        dirty.attributes.insert(class);
        // Subclasses have it from this class, or no longer: the nearest ones. Others have it from
        // classes between.
        let below = facts.hierarchy(|h| with.topmost_below(class, h, |_| true));
        dirty.attributes.extend(below);
    }

    pub(super) fn add_uses(&mut self, uses: &ClassUses, node: NodeIx, dirty: &mut Dirty) {
        for r in &uses.reads {
            *self
                .readers
                .entry(r.base)
                .or_default()
                .entry(node)
                .or_default() += 1;
            dirty.attributes.insert(r.base);
        }
        for c in &uses.generic {
            *self.generic.entry(*c).or_default() += 1;
            dirty.classes.insert(*c);
        }
    }

    pub(super) fn remove_uses(&mut self, uses: &ClassUses, node: NodeIx, dirty: &mut Dirty) {
        for r in &uses.reads {
            let readers = self.readers.entry(r.base).or_default();
            if let Some(n) = readers.get_mut(&node) {
                *n -= 1;
                if *n == 0 {
                    readers.remove(&node);
                }
            }
            dirty.attributes.insert(r.base);
        }
        for c in &uses.generic {
            if let Some(n) = self.generic.get_mut(c) {
                *n -= 1;
                if *n == 0 {
                    self.generic.remove(c);
                }
            }
            dirty.classes.insert(*c);
        }
    }
}

impl Projector<'_> {
    /// All classes in use, by name.
    pub(crate) fn class_list(&self) -> Arc<[ObjId]> {
        self.view.classes.used.iter().map(|(_, c)| *c).collect()
    }

    /// A class among those in use.
    pub(crate) fn class(&self, class: ObjId) -> Arc<ClassDef> {
        let classes = &self.view.classes;
        let project = || {
            let Some(def) = classes.defs.get(&class) else {
                return ClassDef::default();
            };
            let below = classes.below.get(&class).into_iter().flatten();
            ClassDef {
                name: def.name.clone(),
                base: def.base,
                subclasses: below.map(|(_, c)| *c).collect(),
                generic_instantiate: classes.generic.contains_key(&class),
                finalizer: def.finalizer,
            }
        };
        self.view.cached(|c| &mut c.classes, class, project)
    }

    /// The attributes that a class declares.
    pub(crate) fn attributes(&self, class: ObjId) -> Arc<ClassAttributes> {
        let project = || {
            let classes = &self.view.classes;
            if !classes.defs.contains_key(&class) {
                return ClassAttributes::default();
            }
            let names = classes.attrs.get(&class).into_iter().flatten();
            let attrs = names
                .filter(|n| !self.declared_above(class, n))
                .map(|n| (n.clone(), self.attribute(&self.solver.store, class, n)))
                .collect();
            ClassAttributes {
                attrs,
                class_attrs: self.class_attrs(class),
            }
        };
        self.view.cached(|c| &mut c.attributes, class, project)
    }

    fn attribute(&self, store: &Store, class: ObjId, name: &Arc<str>) -> Attribute {
        let value = store.value(&SlotKey::Attr(class, name.clone()));
        let set = store.value(&SlotKey::AttrSet(class, name.clone()));
        Attribute {
            value: self.view.sites.some_value(value),
            readonly: set.is_bottom(),
        }
    }

    /// Whether a base class declares the attribute.
    fn declared_above(&self, class: ObjId, name: &Arc<str>) -> bool {
        let Some(with) = self.view.classes.with_attr.get(name) else {
            return false;
        };
        let above = |h: &Hierarchy| with.nearest_above(class, h, |_| true);
        self.solver.facts.hierarchy(above).is_some()
    }

    fn class_attrs(&self, base: ObjId) -> BTreeMap<Arc<str>, Vec<crate::SomeValue>> {
        let mut joiner = FactJoiner::new(&self.solver.facts);
        let mut vals: BTreeMap<Arc<str>, Vec<Val>> = BTreeMap::new();
        for node in self.view.classes.readers.get(&base).into_iter().flatten() {
            for r in self.view.nodes.class_reads(*node.0) {
                if r.base != base {
                    continue;
                }
                let groups = vals.entry(r.name.clone()).or_default();
                let (near, mut apart): (Vec<Val>, Vec<Val>) = std::mem::take(groups)
                    .into_iter()
                    .partition(|g| is_related(g, &r.val));
                let all = near
                    .iter()
                    .fold(r.val.clone(), |sum, g| sum.join(g, &mut joiner));
                apart.push(all);
                *groups = apart;
            }
        }
        let projected = |groups: Vec<Val>| {
            let mut values: Vec<_> = (groups.iter())
                .map(|v| {
                    (
                        functions(v).map(<[Desc]>::to_vec),
                        self.view.sites.some_value(v),
                    )
                })
                .collect();
            values.sort_by(|(a, _), (b, _)| a.cmp(b));
            values.into_iter().map(|(_, v)| v).collect()
        };
        vals.into_iter()
            .map(|(name, groups)| (name, projected(groups)))
            .collect()
    }
}
