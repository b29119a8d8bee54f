//! From lattice values to annotations.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use taipan_interp::Builtin;

use super::Projector;
use crate::store::{NodeIx, SlotIx, SlotKey};
use crate::val::{Atom, Ints, Step, Val, WeakClass};
use crate::{DictDef, ListDef, SiteId, SomeKind, SomeValue};

/// Who mentions a site.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum User {
    /// The variables of a function.
    Node(NodeIx),
    /// The value of a slot.
    Slot(SlotIx),
}

/// Which site stands for which: the smallest of those that meet.
#[derive(Default)]
pub(crate) struct Sites {
    edges: FxHashMap<SiteId, SmallVec<[SiteId; 2]>>,
    /// Where it is another one.
    canonical: FxHashMap<SiteId, SiteId>,
    dirty: Vec<SiteId>,
    users: FxHashMap<SiteId, FxHashSet<User>>,
}

impl Sites {
    /// By the edges of a solved program.
    #[cfg(test)]
    pub(crate) fn of(store: &crate::store::Store) -> Sites {
        use crate::val::EdgeKind;
        let mut sites = Sites::default();
        for (_, slot) in store.slots.iter() {
            if let SlotKey::Edge(EdgeKind::List | EdgeKind::Dict, a, b) = slot.key
                && !slot.current().is_bottom()
            {
                sites.set_edge(a, b, true);
            }
        }
        sites.settle();
        sites
    }

    /// Two sites meet, or do not any more.
    pub(super) fn set_edge(&mut self, a: SiteId, b: SiteId, meet: bool) {
        for (x, y) in [(a, b), (b, a)] {
            let to = self.edges.entry(x).or_default();
            if meet {
                to.push(y);
            } else {
                to.retain(|z| *z != y);
                if to.is_empty() {
                    self.edges.remove(&x);
                }
            }
            self.dirty.push(x);
        }
    }

    /// Finds out again who stands for whom. Answers the sites that another one stands
    /// for now.
    pub(super) fn settle(&mut self) -> Vec<SiteId> {
        let mut moved = Vec::new();
        let mut seen: FxHashSet<SiteId> = FxHashSet::default();
        for start in std::mem::take(&mut self.dirty) {
            if !seen.insert(start) {
                continue;
            }
            let mut component = vec![start];
            let mut next = 0;
            while let Some(s) = component.get(next).copied() {
                next += 1;
                let to = self.edges.get(&s).into_iter().flatten();
                component.extend(to.filter(|t| seen.insert(**t)));
            }
            let smallest = component.iter().copied().min().unwrap_or(start);
            for s in component {
                let was = self.find(s);
                if s == smallest {
                    self.canonical.remove(&s);
                } else {
                    self.canonical.insert(s, smallest);
                }
                if was != smallest {
                    moved.push(s);
                }
            }
        }
        moved
    }

    /// The canonical site.
    pub(crate) fn find(&self, s: SiteId) -> SiteId {
        self.canonical.get(&s).copied().unwrap_or(s)
    }

    pub(super) fn users(&self, site: SiteId) -> impl Iterator<Item = User> + '_ {
        self.users.get(&site).into_iter().flatten().copied()
    }

    pub(super) fn add_user(&mut self, site: SiteId, user: User) {
        self.users.entry(site).or_default().insert(user);
    }

    pub(super) fn remove_user(&mut self, site: SiteId, user: User) {
        if let Some(users) = self.users.get_mut(&site) {
            users.remove(&user);
            if users.is_empty() {
                self.users.remove(&site);
            }
        }
    }

    /// A user's value is another one than before.
    pub(super) fn replace(&mut self, user: User, old: &Val, new: &Val) {
        let (mut before, mut now) = (Vec::new(), Vec::new());
        old.sites(&mut before);
        new.sites(&mut now);
        for s in before {
            if !now.contains(&s) {
                self.remove_user(s, user);
            }
        }
        for s in now {
            self.add_user(s, user);
        }
    }

    /// The annotation that a value stands for.
    pub(crate) fn some_value(&self, v: &Val) -> SomeValue {
        SomeValue {
            kind: self.kind(v),
            const_: v.const_.clone(),
        }
    }

    fn kind(&self, v: &Val) -> SomeKind {
        let atom = match &v.atoms[..] {
            [] if v.none => return SomeKind::None,
            [] => return SomeKind::Impossible,
            [one] => one,
            _ => return SomeKind::Conflict,
        };
        if v.none && !atom.is_nullable() {
            return SomeKind::Conflict;
        }
        let can_be_none = v.none;
        match atom {
            Atom::Int(i) => int_kind(*i),
            Atom::Float => SomeKind::Float,
            Atom::SingleFloat => SomeKind::SingleFloat,
            Atom::Str { char_, no_nul } if *char_ && !can_be_none => {
                SomeKind::Char { no_nul: *no_nul }
            }
            Atom::Str { no_nul, .. } => SomeKind::Str {
                can_be_none,
                no_nul: *no_nul,
            },
            Atom::Uni { char_: true, .. } if !can_be_none => SomeKind::UniChar,
            Atom::Uni { .. } => SomeKind::Unicode { can_be_none },
            Atom::ByteArray => SomeKind::ByteArray { can_be_none },
            Atom::List(site) => SomeKind::List {
                site: self.find(*site),
                can_be_none,
            },
            Atom::Dict(site) => SomeKind::Dict {
                site: self.find(*site),
                can_be_none,
            },
            Atom::Tuple(items) => {
                SomeKind::Tuple(items.iter().map(|i| self.some_value(i)).collect())
            }
            Atom::Instance(None) | Atom::Error => SomeKind::Conflict,
            Atom::Instance(class) => SomeKind::Instance {
                class: *class,
                can_be_none,
            },
            Atom::Exception(classes) => SomeKind::Exception(classes.clone()),
            Atom::Pbc(descs) if descs.is_mixed() => SomeKind::Conflict,
            Atom::Pbc(descs) => SomeKind::Pbc {
                descs: descs.clone(),
                can_be_none,
            },
            Atom::Iterator { variant, of } => SomeKind::Iterator {
                container: Arc::new(self.some_value(of)),
                variant,
            },
            Atom::Type => SomeKind::Type,
            Atom::Builtin(f) => SomeKind::Builtin(f.clone()),
            Atom::BuiltinMethod { name, of } => SomeKind::BuiltinMethod {
                name: name.clone(),
                of: Arc::new(self.some_value(of)),
            },
            Atom::Slice(parts) => SomeKind::Slice(Arc::new([
                self.some_value(&parts[0]),
                self.some_value(&parts[1]),
                self.some_value(&parts[2]),
            ])),
            Atom::Builder { unicode } => SomeKind::Builder {
                unicode: *unicode,
                can_be_none,
            },
            Atom::Property => SomeKind::Builtin(Builtin::Other("__builtin__.property".into())),
            Atom::WeakRef(WeakClass::Conflict) => SomeKind::Conflict,
            Atom::WeakRef(WeakClass::Gone) => SomeKind::WeakRef { class: None },
            Atom::WeakRef(WeakClass::Of(c)) => SomeKind::WeakRef { class: Some(*c) },
            Atom::Ptr(t) => SomeKind::Ptr(*t),
            Atom::Interior { parent, path, to } => SomeKind::InteriorPtr {
                parent: *parent,
                path: path.clone(),
                to: *to,
            },
            Atom::AdtMeth { ptr, name } => SomeKind::AdtMeth {
                ptr: *ptr,
                name: name.clone(),
            },
            Atom::Address => SomeKind::Address,
            Atom::LLType(t) => SomeKind::LLType(*t),
            Atom::LLFunc(f) => SomeKind::LLFunc(f.clone()),
            Atom::ListFlags(_) | Atom::Event => SomeKind::Impossible,
        }
    }
}

impl Projector<'_> {
    /// What the lists of a site hold. Sites that meet hold the same.
    pub(crate) fn list(&self, site: SiteId) -> Arc<ListDef> {
        let store = &self.solver.store;
        let project = || {
            let flags = store.value(&SlotKey::Flags(site)).flags();
            ListDef {
                item: self
                    .view
                    .sites
                    .some_value(store.value(&SlotKey::Item(site))),
                resized: flags.resized,
                mutated: flags.mutated,
                range_step: match flags.step {
                    Step::Range(n) => Some(n),
                    _ => None,
                },
            }
        };
        self.view.cached(|c| &mut c.lists, site, project)
    }

    /// What the dicts of a site hold. Sites that meet hold the same.
    pub(crate) fn dict(&self, site: SiteId) -> Arc<DictDef> {
        let store = &self.solver.store;
        let sites = &self.view.sites;
        let project = || {
            let custom = match store.value(&SlotKey::Custom(site)).single() {
                Some(Atom::Tuple(pair)) => Some(Arc::new((
                    sites.some_value(&pair[0]),
                    sites.some_value(&pair[1]),
                ))),
                _ => None,
            };
            DictDef {
                key: sites.some_value(store.value(&SlotKey::Key(site))),
                value: sites.some_value(store.value(&SlotKey::Value(site))),
                custom,
            }
        };
        self.view.cached(|c| &mut c.dicts, site, project)
    }
}

fn int_kind(i: Ints) -> SomeKind {
    if i.is_bool() {
        return SomeKind::Bool;
    }
    match i.kind() {
        Some(kind) => SomeKind::Integer {
            nonneg: i.nonneg(),
            kind,
        },
        None => SomeKind::Conflict,
    }
}

/// Whether no annotation stands for a value.
pub(crate) fn is_conflict(v: &Val) -> bool {
    // Errors come last.
    let known = v.atoms.strip_suffix(&[Atom::Error]).unwrap_or(&v.atoms);
    let [atom] = known else {
        return !known.is_empty();
    };
    if v.none && !atom.is_nullable() {
        return true;
    }
    match atom {
        Atom::Int(i) => !i.is_bool() && i.kind().is_none(),
        Atom::Instance(None) | Atom::WeakRef(WeakClass::Conflict) => true,
        Atom::Pbc(descs) => descs.is_mixed(),
        Atom::Tuple(items) => items.iter().any(is_conflict),
        _ => false,
    }
}
