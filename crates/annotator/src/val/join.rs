//! Joins and meets of values.

use std::sync::Arc;

use smallvec::SmallVec;
use taipan_graph::ObjId;

use super::{Atom, ListFlags, Val, ValData, WeakClass};
use crate::{Desc, Descs, SiteId};

/// What has two creation sites that may meet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum EdgeKind {
    /// Lists that are one: items and flags.
    List,
    /// Lists whose items agree.
    Items,
    /// Dicts that are one.
    Dict,
}

/// What a join needs to know of the program, and tells about it.
pub(crate) trait Joiner {
    /// The closest class that both are instances of.
    fn common_base(&mut self, a: ObjId, b: ObjId) -> Option<ObjId>;
    /// Whether a class is the other one or derives from it.
    fn is_subclass(&mut self, a: ObjId, b: ObjId) -> bool;
    /// Lists (or dicts) of these sites meet in one place.
    fn same_site(&mut self, kind: EdgeKind, a: SiteId, b: SiteId);
}

impl Val {
    /// The least value that holds both.
    pub(crate) fn join(&self, other: &Val, j: &mut dyn Joiner) -> Val {
        if self == other || other.is_bottom() {
            return self.clone();
        }
        if self.is_bottom() {
            return other.clone();
        }
        let mut atoms: SmallVec<[Atom; 1]> = SmallVec::new();
        let (mut a, mut b) = (&self.atoms[..], &other.atoms[..]);
        while let (Some(x), Some(y)) = (a.first(), b.first()) {
            match x.key().cmp(&y.key()) {
                std::cmp::Ordering::Less => {
                    atoms.push(x.clone());
                    a = &a[1..];
                }
                std::cmp::Ordering::Greater => {
                    atoms.push(y.clone());
                    b = &b[1..];
                }
                std::cmp::Ordering::Equal => {
                    atoms.push(join_atom(x, y, j));
                    (a, b) = (&a[1..], &b[1..]);
                }
            }
        }
        atoms.extend(a.iter().chain(b).cloned());
        let const_ = if self.const_ == other.const_ {
            self.const_.clone()
        } else {
            None
        };
        let mut v = ValData {
            none: self.none | other.none,
            const_,
            atoms,
        };
        absorb(&mut v, j);
        if v == **self {
            self.clone()
        } else if v == **other {
            other.clone()
        } else {
            Val(Some(Arc::new(v)))
        }
    }

    /// Whether this one holds everything that the other one does.
    pub(crate) fn contains(&self, other: &Val, j: &mut dyn Joiner) -> bool {
        /// Lists of different sites are different, as long as nothing makes them meet.
        struct Strict<'a> {
            inner: &'a mut dyn Joiner,
            met: bool,
        }
        impl Joiner for Strict<'_> {
            fn common_base(&mut self, a: ObjId, b: ObjId) -> Option<ObjId> {
                self.inner.common_base(a, b)
            }
            fn is_subclass(&mut self, a: ObjId, b: ObjId) -> bool {
                self.inner.is_subclass(a, b)
            }
            fn same_site(&mut self, _: EdgeKind, _: SiteId, _: SiteId) {
                self.met = true;
            }
        }
        let mut strict = Strict {
            inner: j,
            met: false,
        };
        self.join(other, &mut strict) == *self && !strict.met
    }

    /// A value that both hold. Where neither holds the other that is the bottom: a
    /// lower bound will do, as what is missing is added again.
    pub(crate) fn meet(&self, other: &Val, j: &mut dyn Joiner) -> Val {
        if other.contains(self, j) {
            self.clone()
        } else if self.contains(other, j) {
            other.clone()
        } else {
            Val::default()
        }
    }
}

/// What holds another kind whole takes it up.
fn absorb(v: &mut ValData, j: &mut dyn Joiner) {
    if v.atoms.len() > 1 {
        if v.atoms.contains(&Atom::Float) {
            v.atoms.retain(|a| !matches!(a, Atom::Int(_)));
        }
        // The class of a value may be known beforehand as well.
        if v.atoms.contains(&Atom::Type) {
            v.atoms.retain(|a| match a {
                Atom::Pbc(descs) => !descs.iter().all(|d| matches!(d, Desc::Class(_))),
                Atom::Builtin(_) => false,
                _ => true,
            });
        }
        let instance = v.atoms.iter().position(|a| matches!(a, Atom::Instance(_)));
        let exception = v.atoms.iter().position(|a| matches!(a, Atom::Exception(_)));
        if let (Some(i), Some(e)) = (instance, exception) {
            let Atom::Exception(classes) = v.atoms.remove(e) else {
                return;
            };
            let Atom::Instance(class) = &mut v.atoms[i] else {
                return;
            };
            for c in classes.iter() {
                *class = class.and_then(|x| j.common_base(x, *c));
            }
        }
    }
    if v.none
        && let Some(a) = v.atoms.iter_mut().find(|a| matches!(a, Atom::Exception(_)))
        && let Atom::Exception(classes) = a
    {
        let class = base_of_all(classes, j);
        *a = Atom::Instance(class);
        v.atoms.sort_by_key(Atom::key);
    }
}

/// The closest common base.
pub(crate) fn base_of_all(classes: &[ObjId], j: &mut dyn Joiner) -> Option<ObjId> {
    let (first, rest) = classes.split_first()?;
    rest.iter()
        .try_fold(*first, |base, c| j.common_base(base, *c))
}

fn join_atom(a: &Atom, b: &Atom, j: &mut dyn Joiner) -> Atom {
    if a == b {
        return a.clone();
    }
    let vals = |x: &[Val], y: &[Val], j: &mut dyn Joiner| -> Vec<Val> {
        x.iter().zip(y).map(|(x, y)| x.join(y, j)).collect()
    };
    match (a, b) {
        (Atom::Int(x), Atom::Int(y)) => Atom::Int(x.join(*y)),
        (
            Atom::Str { char_, no_nul },
            Atom::Str {
                char_: c,
                no_nul: n,
            },
        ) => Atom::Str {
            char_: *char_ && *c,
            no_nul: *no_nul && *n,
        },
        (
            Atom::Uni { char_, no_nul },
            Atom::Uni {
                char_: c,
                no_nul: n,
            },
        ) => Atom::Uni {
            char_: *char_ && *c,
            no_nul: *no_nul && *n,
        },
        (Atom::List(x), Atom::List(y)) => {
            j.same_site(EdgeKind::List, *x, *y);
            a.clone()
        }
        (Atom::Dict(x), Atom::Dict(y)) => {
            j.same_site(EdgeKind::Dict, *x, *y);
            a.clone()
        }
        (Atom::Tuple(x), Atom::Tuple(y)) => Atom::Tuple(vals(x, y, j).into()),
        (Atom::Instance(x), Atom::Instance(y)) => Atom::Instance(match (x, y) {
            (Some(x), Some(y)) => j.common_base(*x, *y),
            _ => None,
        }),
        (Atom::Exception(x), Atom::Exception(y)) => {
            let mut all: Vec<ObjId> = x.iter().chain(y.iter()).copied().collect();
            all.sort_unstable();
            all.dedup();
            Atom::Exception(all.into())
        }
        (Atom::Pbc(x), Atom::Pbc(y)) => join_pbcs(x, y, j),
        (Atom::Iterator { variant, of: x }, Atom::Iterator { of: y, .. }) => Atom::Iterator {
            variant,
            of: x.join(y, j),
        },
        (Atom::BuiltinMethod { name, of: x }, Atom::BuiltinMethod { of: y, .. }) => {
            Atom::BuiltinMethod {
                name: name.clone(),
                of: x.join(y, j),
            }
        }
        (Atom::Slice(x), Atom::Slice(y)) => Atom::Slice(Arc::new([
            x[0].join(&y[0], j),
            x[1].join(&y[1], j),
            x[2].join(&y[2], j),
        ])),
        (Atom::WeakRef(WeakClass::Gone), Atom::WeakRef(x))
        | (Atom::WeakRef(x), Atom::WeakRef(WeakClass::Gone)) => Atom::WeakRef(*x),
        (Atom::WeakRef(WeakClass::Of(x)), Atom::WeakRef(WeakClass::Of(y))) => Atom::WeakRef(
            j.common_base(*x, *y)
                .map_or(WeakClass::Conflict, WeakClass::Of),
        ),
        (Atom::WeakRef(_), Atom::WeakRef(_)) => Atom::WeakRef(WeakClass::Conflict),
        (Atom::ListFlags(x), Atom::ListFlags(y)) => Atom::ListFlags(ListFlags {
            resized: x.resized | y.resized,
            mutated: x.mutated | y.mutated,
            must_not_resize: x.must_not_resize | y.must_not_resize,
            step: x.step.join(y.step),
        }),
        // The key of all other kinds is all that they consist of.
        _ => a.clone(),
    }
}

/// The join of many values. Two of about the same size are joined at a time, so that large sets
/// are not copied for each of their members.
pub(crate) fn join_evenly(mut vals: Vec<Val>, j: &mut dyn Joiner) -> Val {
    while vals.len() > 1 {
        let pairs = vals.chunks(2);
        vals = pairs
            .map(|pair| match pair {
                [a, b] => a.join(b, j),
                _ => pair[0].clone(),
            })
            .collect();
    }
    vals.pop().unwrap_or_default()
}

/// The members of both sets.
fn join_pbcs(x: &Descs, y: &Descs, j: &mut dyn Joiner) -> Atom {
    // Large sets mostly meet members of their own.
    for (all, part) in [(x, y), (y, x)] {
        if part.len() <= all.len() && part.iter().all(|d| all.binary_search(d).is_ok()) {
            return Atom::Pbc(all.clone());
        }
    }
    let mut all: Vec<Desc> = Vec::with_capacity(x.len() + y.len());
    let (mut a, mut b) = (&x[..], &y[..]);
    while let (Some(p), Some(q)) = (a.first(), b.first()) {
        let order = p.cmp(q);
        all.push(if order.is_le() { p } else { q }.clone());
        a = &a[usize::from(order.is_le())..];
        b = &b[usize::from(order.is_ge())..];
    }
    all.extend(a.iter().chain(b).cloned());
    Atom::Pbc(most_general(all, j).into())
}

/// Of methods that differ in the class of self only, keeps the most general ones, so
/// that a more general receiver gives a more general set. Takes and answers sorted
/// members: such methods stand side by side.
fn most_general(descs: Vec<Desc>, j: &mut dyn Joiner) -> Vec<Desc> {
    fn bound(d: &Desc) -> Option<(ObjId, ObjId, ObjId, &Arc<str>)> {
        match d {
            Desc::Method {
                func,
                origin,
                self_class: Some(class),
                name,
            } => Some((*func, *origin, *class, name)),
            _ => None,
        }
    }
    let same = |a: &Desc, b: &Desc| match (bound(a), bound(b)) {
        (Some((f, o, ..)), Some((g, p, ..))) => f == g && o == p,
        _ => false,
    };
    if !descs.windows(2).any(|w| same(&w[0], &w[1])) {
        return descs;
    }
    let mut kept = Vec::with_capacity(descs.len());
    for run in descs.chunk_by(same) {
        let mut general = |d: &Desc| {
            let Some((_, _, class, name)) = bound(d) else {
                return true;
            };
            !run.iter()
                .filter_map(bound)
                .any(|(_, _, other, n)| n == name && other != class && j.is_subclass(class, other))
        };
        kept.extend(run.iter().filter(|d| general(d)).cloned());
    }
    kept
}
