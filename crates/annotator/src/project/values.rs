//! From lattice values to annotations.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::store::{SlotKey, Store};
use crate::val::{Atom, EdgeKind, Ints, Step, Val, WeakClass};
use crate::{Desc, DictDef, ListDef, SiteId, SomeKind, SomeValue};

/// Which site stands for which: the smallest of those that meet.
#[derive(Default)]
pub(crate) struct Sites {
    parent: FxHashMap<SiteId, SiteId>,
}

impl Sites {
    /// By the edges of a solved program.
    pub(crate) fn of(store: &Store) -> Sites {
        let mut sites = Sites::default();
        for slot in &store.slots {
            if let SlotKey::Edge(EdgeKind::List | EdgeKind::Dict, a, b) = slot.key
                && !slot.current().is_bottom()
            {
                let (a, b) = (sites.find(a), sites.find(b));
                if a != b {
                    sites.parent.insert(a.max(b), a.min(b));
                }
            }
        }
        sites
    }

    /// The canonical site.
    pub(crate) fn find(&self, mut s: SiteId) -> SiteId {
        while let Some(p) = self.parent.get(&s) {
            s = *p;
        }
        s
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
            Atom::Dict { site, .. } => SomeKind::Dict {
                site: self.find(*site),
                can_be_none,
            },
            Atom::Tuple(items) => {
                SomeKind::Tuple(items.iter().map(|i| self.some_value(i)).collect())
            }
            Atom::Instance(None) => SomeKind::Conflict,
            Atom::Instance(class) => SomeKind::Instance {
                class: *class,
                can_be_none,
            },
            Atom::Exception(classes) => SomeKind::Exception(classes.clone()),
            Atom::Pbc(descs) if mixed(descs) => SomeKind::Conflict,
            Atom::Pbc(descs) => SomeKind::Pbc {
                descs: descs.clone(),
                can_be_none,
            },
            Atom::Iterator { variant, of } => SomeKind::Iterator {
                container: Arc::new(self.some_value(of)),
                variant,
            },
            Atom::Type => SomeKind::Type,
            Atom::Builtin(name) => SomeKind::Builtin(name.clone()),
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
            Atom::Property => SomeKind::Builtin("__builtin__.property".into()),
            Atom::WeakRef(WeakClass::Conflict) => SomeKind::Conflict,
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

    /// What the lists of a site hold.
    pub(crate) fn list_def(&self, store: &Store, site: SiteId) -> ListDef {
        let flags = store.value(&SlotKey::Flags(site)).flags();
        ListDef {
            item: self.some_value(store.value(&SlotKey::Item(site))),
            resized: flags.resized,
            mutated: flags.mutated,
            range_step: match flags.step {
                Step::Range(n) if !flags.mutated => Some(n),
                _ => None,
            },
        }
    }

    /// What the dicts of a site hold.
    pub(crate) fn dict_def(&self, store: &Store, site: SiteId) -> DictDef {
        let custom = match store.value(&SlotKey::Custom(site)).single() {
            Some(Atom::Tuple(pair)) => Some(Arc::new((
                self.some_value(&pair[0]),
                self.some_value(&pair[1]),
            ))),
            _ => None,
        };
        DictDef {
            key: self.some_value(store.value(&SlotKey::Key(site))),
            value: self.some_value(store.value(&SlotKey::Value(site))),
            custom,
        }
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

/// Whether a PBC set has members of several kinds.
fn mixed(descs: &[Desc]) -> bool {
    let kind = |d: &Desc| match d {
        Desc::Function(_) => 0,
        Desc::Class(_) => 1,
        Desc::Method { .. } => 2,
        Desc::Frozen(_) => 3,
        Desc::FrozenMethod { .. } => 4,
    };
    descs
        .split_first()
        .is_some_and(|(f, rest)| rest.iter().any(|d| kind(d) != kind(f)))
}

/// Whether no annotation stands for a value.
pub(crate) fn is_conflict(v: &Val) -> bool {
    fn has(k: &SomeKind) -> bool {
        match k {
            SomeKind::Conflict => true,
            SomeKind::Tuple(items) => items.iter().any(|i| has(&i.kind)),
            _ => false,
        }
    }
    has(&Sites::default().kind(v))
}
