//! The builtin exception classes, and the numbering of classes
//! (RPython: `exceptiondata.py`, `assign_inheritance_ids`).

use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_annotator::{Roots, SomeKind, SomeValue};
use taipan_base::{Db, noted};
use taipan_graph::{IntKind, ObjId};
use taipan_interp::named_id;
use taipan_language::Exc;

use crate::Universe;
use crate::queries::{ClassKey, class_base, class_name};

/// The builtin exception classes of RPython, at the top of which is `Exception`.
fn exceptions() -> impl Iterator<Item = Exc> {
    let all = Exc::ALL.iter().copied();
    all.filter(|e| *e != Exc::BaseException)
}

/// The id of a builtin exception class.
pub(crate) fn exception_id(e: Exc) -> ObjId {
    named_id(e.qualified())
}

/// The builtin exception class of that id.
pub(crate) fn builtin_exception(class: ObjId) -> Option<Exc> {
    use std::sync::LazyLock;
    static TABLE: LazyLock<FxHashMap<ObjId, Exc>> =
        LazyLock::new(|| exceptions().map(|e| (exception_id(e), e)).collect());
    TABLE.get(&class).copied()
}

/// Attributes that instances of a builtin exception class have without ever being
/// assigned.
pub(crate) fn forced_attributes(class: ObjId) -> Vec<(&'static str, SomeValue)> {
    if builtin_exception(class) != Some(Exc::EnvironmentError) {
        return vec![];
    }
    let value = |kind| SomeValue { kind, const_: None };
    let text = || {
        value(SomeKind::Str {
            can_be_none: true,
            no_nul: false,
        })
    };
    let number = value(SomeKind::Integer {
        nonneg: false,
        kind: IntKind::SIGNED,
    });
    vec![
        ("errno", number),
        ("filename", text()),
        ("strerror", text()),
    ]
}

type Ranges = FxHashMap<ObjId, (i64, i64)>;

noted! {
    /// Numbers all classes of a program: a class is a subclass of another one if its
    /// `subclassrange_min` lies in the other's range.
    pub(crate) fn class_ranges(db, roots: Roots) -> Arc<Ranges> {
        ranges(db, roots)
    }
}

fn ranges(db: &dyn Db, roots: Roots) -> Arc<Ranges> {
    let universe = Universe::User(roots);
    let mut classes: Vec<ObjId> = taipan_annotator::classes_of(db, roots).to_vec();
    for e in exceptions() {
        let id = exception_id(e);
        if !classes.contains(&id) {
            classes.push(id);
        }
    }
    let mut below: FxHashMap<Option<ObjId>, Vec<ObjId>> = FxHashMap::default();
    for c in &classes {
        let base = class_base(db, ClassKey::new(db, universe, *c));
        below.entry(base).or_default().push(*c);
    }
    #[expect(clippy::iter_over_hash_type, reason = "each list is sorted by itself")]
    for list in below.values_mut() {
        list.sort_by_cached_key(|c| (class_name(db, ClassKey::new(db, universe, *c)), *c));
    }
    let mut ranges = Ranges::default();
    let mut next = 1;
    number(&below, None, &mut next, &mut ranges);
    Arc::new(ranges)
}

fn number(
    below: &FxHashMap<Option<ObjId>, Vec<ObjId>>,
    base: Option<ObjId>,
    next: &mut i64,
    ranges: &mut Ranges,
) {
    for c in below.get(&base).into_iter().flatten() {
        let min = *next;
        *next += 1;
        number(below, Some(*c), next, ranges);
        ranges.insert(*c, (min, *next));
    }
}
