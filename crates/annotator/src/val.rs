//! The lattice that the solver works on.
//!
//! A [`Val`] is a product with one component ([`Atom`]) per kind of value, so that
//! every two values have a join, joins commute and every transfer function can stay
//! monotone: what RPython rejects as a `UnionError` is here a value of several kinds.
//! [`crate::project`] makes a [`crate::SomeValue`] of it, where that becomes
//! [`crate::SomeKind::Conflict`].

mod ints;
mod join;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, LazyLock};

use rustc_hash::{FxHashSet, FxHasher};
use smallvec::SmallVec;
use taipan_graph::{Const, IntKind, ObjId};
use taipan_interp::Builtin;
use taipan_lltype::{FuncSym, LLType};

use crate::bounds::Nesting;
use crate::{Desc, Descs, InteriorStep, SiteId};

pub(crate) use ints::Ints;
pub(crate) use join::{EdgeKind, Joiner, base_of_all, join_evenly};

/// What is known of a value. The default is the bottom: nothing gets here.
///
/// Copies share it: a value goes through links, contributions and slots unchanged most of the
/// time.
#[derive(Clone, Default)]
pub(crate) struct Val(Option<Arc<ValData>>);

/// What a [`Val`] holds.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ValData {
    /// May be None.
    pub(crate) none: bool,
    /// Its value, where it is always the same one: then there is one atom and not
    /// `none`, or no atom and `none`.
    pub(crate) const_: Option<Const>,
    /// One per kind, sorted by [`Atom::key`].
    pub(crate) atoms: Atoms,
}

/// The atoms of a value, nearly always one.
pub(crate) type Atoms = SmallVec<[Atom; 1]>;

static BOTTOM: ValData = ValData {
    none: false,
    const_: None,
    atoms: SmallVec::new_const(),
};

impl Deref for Val {
    type Target = ValData;

    fn deref(&self) -> &ValData {
        self.0.as_deref().unwrap_or(&BOTTOM)
    }
}

impl DerefMut for Val {
    fn deref_mut(&mut self) -> &mut ValData {
        Arc::make_mut(self.0.get_or_insert_with(|| Arc::new(BOTTOM.clone())))
    }
}

impl PartialEq for Val {
    fn eq(&self, other: &Val) -> bool {
        std::ptr::eq::<ValData>(&**self, &**other) || **self == **other
    }
}

impl Eq for Val {}

impl Hash for Val {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl fmt::Debug for Val {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// The part of a [`Val`] that is of one kind.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Atom {
    /// Integers and bools: which kinds, and whether a signed one may be negative.
    Int(Ints),
    Float,
    SingleFloat,
    Str {
        char_: bool,
        no_nul: bool,
    },
    Uni {
        char_: bool,
        no_nul: bool,
    },
    ByteArray,
    List(SiteId),
    /// All dicts keep their order.
    Dict(SiteId),
    Tuple(Arc<[Val]>),
    /// None: instances of classes without common base.
    Instance(Option<ObjId>),
    /// An instance of one of these exception classes; sorted.
    Exception(Arc<[ObjId]>),
    /// Sorted.
    Pbc(Descs),
    Iterator {
        variant: &'static str,
        of: Val,
    },
    /// The class of some value.
    Type,
    Builtin(Builtin),
    BuiltinMethod {
        name: Arc<str>,
        of: Val,
    },
    Slice(Arc<[Val; 3]>),
    /// `StringBuilder`, `UnicodeBuilder`
    Builder {
        unicode: bool,
    },
    WeakRef(WeakClass),
    Ptr(LLType),
    /// Pointer to a part of a GC container.
    Interior {
        parent: LLType,
        path: Arc<[InteriorStep]>,
        to: LLType,
    },
    AdtMeth {
        ptr: LLType,
        name: Arc<str>,
    },
    Address,
    /// A low-level type as a value.
    LLType(LLType),
    /// A low-level function known while compiling.
    LLFunc(FuncSym),
    /// A property that is asked for as an ordinary attribute: goes with nothing
    /// (RPython: `SomeProperty`).
    Property,
    /// A value of which nothing is known because an operation is wrong; only while more
    /// mistakes are looked for ([`crate::Roots`]).
    Error,
    /// Never in a variable: what is known of a list beside its items.
    ListFlags(ListFlags),
    /// Never in a variable: some event happened (a function is called, an attribute
    /// is assigned).
    Event,
}

/// What is known of a list beside its items.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct ListFlags {
    pub(crate) resized: bool,
    pub(crate) mutated: bool,
    /// `make_sure_not_resized`, `_immutable_fields_`.
    pub(crate) must_not_resize: bool,
    pub(crate) step: Step,
}

/// Whether lists come from `range()`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) enum Step {
    /// No list so far.
    #[default]
    Unknown,
    /// Ranges with this step; 0 if it varies.
    Range(i64),
    /// Others too.
    List,
}

impl Step {
    fn join(self, o: Step) -> Step {
        match (self, o) {
            (Step::Range(a), Step::Range(b)) if a != b => Step::Range(0),
            (a, b) => a.max(b),
        }
    }
}

/// Class of the objects behind weak references.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum WeakClass {
    /// This one or a subclass.
    Of(ObjId),
    /// None: all of them are gone.
    Gone,
    /// Classes without common base.
    Conflict,
}

impl Atom {
    /// Atoms with the same key are joined; others stay side by side.
    fn key(&self) -> (u8, u64) {
        fn h(x: impl Hash) -> u64 {
            let mut s = FxHasher::default();
            x.hash(&mut s);
            s.finish()
        }
        match self {
            Atom::Int(_) => (0, 0),
            Atom::Float => (1, 0),
            Atom::SingleFloat => (2, 0),
            Atom::Str { .. } => (3, 0),
            Atom::Uni { .. } => (4, 0),
            Atom::ByteArray => (5, 0),
            Atom::List(_) => (6, 0),
            Atom::Dict(_) => (7, 0),
            Atom::Tuple(t) => (8, t.len() as u64),
            Atom::Instance(_) => (9, 0),
            Atom::Exception(_) => (10, 0),
            Atom::Pbc(_) => (11, 0),
            Atom::Iterator { variant, .. } => (12, h(variant)),
            Atom::Type => (13, 0),
            Atom::Builtin(n) => (14, h(n)),
            Atom::BuiltinMethod { name, .. } => (15, h(name)),
            Atom::Slice(_) => (16, 0),
            Atom::WeakRef(_) => (17, 0),
            Atom::Ptr(t) => (18, h(t)),
            Atom::Interior { parent, path, .. } => (19, h((parent, path))),
            Atom::AdtMeth { ptr, name } => (20, h((ptr, name))),
            Atom::Address => (21, 0),
            Atom::ListFlags(_) => (22, 0),
            Atom::Event => (23, 0),
            Atom::LLType(t) => (25, h(t)),
            Atom::LLFunc(f) => (26, h(f)),
            Atom::Builder { unicode } => (24, u64::from(*unicode)),
            Atom::Property => (27, 0),
            Atom::Error => (28, 0),
        }
    }

    /// Whether None may stand in for a value of this kind.
    pub(crate) fn is_nullable(&self) -> bool {
        matches!(
            self,
            Atom::Str { .. }
                | Atom::Uni { .. }
                | Atom::ByteArray
                | Atom::List(_)
                | Atom::Dict(_)
                | Atom::Instance(_)
                | Atom::Exception(_)
                | Atom::Pbc(_)
                | Atom::Builder { .. }
                | Atom::WeakRef(_)
        )
    }
}

impl From<Atom> for Val {
    fn from(a: Atom) -> Val {
        Val::new(false, None, SmallVec::from_buf([a]))
    }
}

impl Val {
    /// Nothing.
    pub(crate) const BOTTOM: Val = Val(None);

    /// A value of these parts.
    pub(crate) fn new(none: bool, const_: Option<Const>, atoms: Atoms) -> Val {
        Val(Some(Arc::new(ValData {
            none,
            const_,
            atoms,
        })))
    }

    pub(crate) fn none() -> Val {
        static NONE: LazyLock<Val> =
            LazyLock::new(|| Val::new(true, Some(Const::None), SmallVec::new()));
        NONE.clone()
    }

    pub(crate) fn int(kind: IntKind, nonneg: bool) -> Val {
        Atom::Int(Ints::of(kind, nonneg)).into()
    }

    /// An integer of a kind, made by `r_longlong()` if others are.
    pub(crate) fn int_like(kind: IntKind, nonneg: bool, like: Ints) -> Val {
        Atom::Int(Ints::of(kind, nonneg).made_like(like)).into()
    }

    pub(crate) fn signed() -> Val {
        static SIGNED: LazyLock<Val> = LazyLock::new(|| Val::int(IntKind::SIGNED, false));
        SIGNED.clone()
    }

    pub(crate) fn nonneg() -> Val {
        static NONNEG: LazyLock<Val> = LazyLock::new(|| Val::int(IntKind::SIGNED, true));
        NONNEG.clone()
    }

    pub(crate) fn bool_() -> Val {
        static BOOL: LazyLock<Val> = LazyLock::new(|| Atom::Int(Ints::BOOL).into());
        BOOL.clone()
    }

    pub(crate) fn const_bool(b: bool) -> Val {
        Val::bool_().with_const(Some(Const::Bool(b)))
    }

    pub(crate) fn const_int(v: i64) -> Val {
        Val::int(IntKind::SIGNED, v >= 0).with_const(Some(Const::Int(v)))
    }

    pub(crate) fn str_(no_nul: bool) -> Val {
        Atom::Str {
            char_: false,
            no_nul,
        }
        .into()
    }

    pub(crate) fn char_(no_nul: bool) -> Val {
        Atom::Str {
            char_: true,
            no_nul,
        }
        .into()
    }

    pub(crate) fn unicode(no_nul: bool) -> Val {
        Atom::Uni {
            char_: false,
            no_nul,
        }
        .into()
    }

    pub(crate) fn unichar(no_nul: bool) -> Val {
        Atom::Uni {
            char_: true,
            no_nul,
        }
        .into()
    }

    pub(crate) fn instance(class: ObjId) -> Val {
        Atom::Instance(Some(class)).into()
    }

    pub(crate) fn pbc(desc: Desc) -> Val {
        Atom::Pbc(desc.into()).into()
    }

    pub(crate) fn tuple(items: Vec<Val>) -> Val {
        let const_ = items
            .iter()
            .map(|i| i.const_.clone())
            .collect::<Option<Arc<[Const]>>>()
            .map(Const::Tuple);
        Val::from(Atom::Tuple(items.into())).with_const(const_)
    }

    pub(crate) fn event() -> Val {
        static EVENT: LazyLock<Val> = LazyLock::new(|| Atom::Event.into());
        EVENT.clone()
    }

    pub(crate) fn with_const(mut self, c: Option<Const>) -> Val {
        if self.const_ != c {
            self.const_ = c;
        }
        self
    }

    pub(crate) fn or_none(mut self) -> Val {
        if !self.none || self.const_.is_some() {
            self.none = true;
            self.const_ = None;
        }
        self
    }

    /// Nothing gets here.
    pub(crate) fn is_bottom(&self) -> bool {
        !self.none && self.atoms.is_empty()
    }

    /// None and nothing else.
    pub(crate) fn is_none(&self) -> bool {
        self.none && self.atoms.is_empty()
    }

    /// Whether a list or dict is in it, which may meet others.
    pub(crate) fn has_site(&self) -> bool {
        self.atoms.iter().any(|a| match a {
            Atom::List(_) | Atom::Dict(_) => true,
            Atom::Tuple(items) => items.iter().any(Val::has_site),
            Atom::Iterator { of, .. } | Atom::BuiltinMethod { of, .. } => of.has_site(),
            _ => false,
        })
    }

    /// Whether joining it with something may come out in another way where one of these
    /// classes stands elsewhere among the others.
    pub(crate) fn depends_on_classes(&self, classes: &FxHashSet<ObjId>) -> bool {
        let in_val = |v: &Val| v.depends_on_classes(classes);
        self.atoms.iter().any(|a| match a {
            Atom::Instance(Some(c)) | Atom::WeakRef(WeakClass::Of(c)) => classes.contains(c),
            Atom::Exception(all) => all.iter().any(|c| classes.contains(c)),
            Atom::Pbc(descs) => descs.iter().any(|d| match d {
                Desc::Method { self_class, .. } => self_class.is_some_and(|c| classes.contains(&c)),
                _ => false,
            }),
            Atom::Tuple(items) => items.iter().any(in_val),
            Atom::Iterator { of, .. } | Atom::BuiltinMethod { of, .. } => in_val(of),
            Atom::Slice(parts) => parts.iter().any(in_val),
            _ => false,
        })
    }

    /// The sites of lists and dicts in it.
    pub(crate) fn sites(&self, out: &mut Vec<SiteId>) {
        for a in &self.atoms {
            match a {
                Atom::List(site) | Atom::Dict(site) => out.push(*site),
                Atom::Tuple(items) => items.iter().for_each(|i| i.sites(out)),
                Atom::Iterator { of, .. } | Atom::BuiltinMethod { of, .. } => of.sites(out),
                Atom::Slice(parts) => parts.iter().for_each(|p| p.sites(out)),
                _ => {}
            }
        }
    }

    /// Whether values are nested in it beyond limits.
    pub(crate) fn is_nested_beyond(&self, most: &Nesting) -> bool {
        /// How deep it is, in all and counting conflicts; none where there are more parts than
        /// are left.
        fn depth(v: &Val, left: &mut usize) -> Option<(usize, usize)> {
            let conflict = usize::from(v.none || v.atoms.len() > 1);
            let mut deepest = (0, 0);
            for atom in &v.atoms {
                let (inside, counts): (&[Val], usize) = match atom {
                    Atom::Tuple(items) => (items, conflict),
                    Atom::Iterator { of, .. } | Atom::BuiltinMethod { of, .. } => {
                        (std::slice::from_ref(of), 0)
                    }
                    Atom::Slice(parts) => (&parts[..], 0),
                    _ => continue,
                };
                *left = left.checked_sub(inside.len())?;
                for v in inside {
                    let (all, conflicts) = depth(v, left)?;
                    deepest.0 = deepest.0.max(all + 1);
                    deepest.1 = deepest.1.max(conflicts + counts);
                }
            }
            Some(deepest)
        }
        let deepest = depth(self, &mut { most.parts });
        deepest.is_none_or(|(all, conflicts)| all > most.levels || conflicts > most.conflicts)
    }

    /// The value, if it is a plain one, without None.
    pub(crate) fn single(&self) -> Option<&Atom> {
        match &self.atoms[..] {
            [a] => Some(a),
            _ => None,
        }
    }

    /// The same without None.
    pub(crate) fn non_none(&self) -> Val {
        if self.none {
            Val::new(false, None, self.atoms.clone())
        } else {
            self.clone()
        }
    }

    /// The same without the knowledge of which value it is.
    pub(crate) fn not_const(&self) -> Val {
        if self.atoms.is_empty() {
            self.clone()
        } else {
            self.clone().with_const(None)
        }
    }

    pub(crate) fn ints(&self) -> Option<Ints> {
        self.atoms.iter().find_map(|a| match a {
            Atom::Int(i) => Some(*i),
            _ => None,
        })
    }

    pub(crate) fn const_str(&self) -> Option<&str> {
        self.const_.as_ref().and_then(Const::as_str)
    }

    pub(crate) fn const_i64(&self) -> Option<i64> {
        match &self.const_ {
            Some(Const::Int(i)) => Some(*i),
            Some(Const::Bool(b)) => Some(i64::from(*b)),
            _ => None,
        }
    }

    pub(crate) fn flags(&self) -> ListFlags {
        match self.single() {
            Some(Atom::ListFlags(f)) => *f,
            _ => ListFlags::default(),
        }
    }

    /// The value of an operation that is wrong.
    pub(crate) fn error() -> Val {
        Atom::Error.into()
    }

    /// Whether nothing is known because an operation is wrong.
    pub(crate) fn is_error(&self) -> bool {
        !self.none && matches!(self.atoms[..], [Atom::Error])
    }

    /// Whether an operation that is wrong may have given this value, or a part of a tuple.
    pub(crate) fn has_error(&self) -> bool {
        self.atoms.iter().any(|a| match a {
            Atom::Error => true,
            Atom::Tuple(items) => items.iter().any(Val::has_error),
            _ => false,
        })
    }

    /// What is known of the value if something is, whatever is wrong elsewhere.
    pub(crate) fn drop_error(&mut self) {
        if (self.none || self.atoms.len() > 1) && self.atoms.contains(&Atom::Error) {
            self.atoms.retain(|a| !matches!(a, Atom::Error));
        }
    }

    /// The same with integers of one kind each, that which holds all those that met
    /// (also in tuples). Conflicts stay.
    pub(crate) fn with_one_kind(&self) -> Val {
        let mut v = self.clone();
        for a in &mut v.atoms {
            match a {
                Atom::Int(i) if !i.is_bool() => {
                    if let Some(kind) = i.kind() {
                        *i = Ints::of(kind, i.nonneg()).made_like(*i);
                    }
                }
                Atom::Tuple(items) => *items = items.iter().map(Val::with_one_kind).collect(),
                _ => {}
            }
        }
        v
    }

    /// The same where nothing is known of `'\0'` in strings.
    pub(crate) fn with_nul(&self) -> Val {
        let no_nul =
            |a: &Atom| matches!(a, Atom::Str { no_nul, .. } | Atom::Uni { no_nul, .. } if *no_nul);
        let mut v = self.clone();
        if v.atoms.iter().any(no_nul) {
            for a in &mut v.atoms {
                if let Atom::Str { no_nul, .. } | Atom::Uni { no_nul, .. } = a {
                    *no_nul = false;
                }
            }
        }
        v
    }
}
