//! What the hint-annotator knows of a variable (RPython, 2008: `hintannotator/model.py`).

use std::collections::BTreeSet;

/// A place where a value came to be: an operation or an argument of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct OriginId(pub(crate) u32);

/// What is promised about the memory that a pointer leads to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) enum Frozen {
    /// Nothing.
    #[default]
    No,
    /// It is a list or its array; the length and the items never change (`x[*]`).
    List,
    /// Nothing that is reached through it changes (`deepfreeze`).
    Deep,
}

impl Frozen {
    /// Whether what is read through the pointer never changes.
    pub(crate) fn reads_constant(self) -> bool {
        self != Frozen::No
    }
}

/// What is known of a variable's binding time. Grows from `Unknown` to `Variable`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum Binding {
    /// Nothing yet: no value has arrived.
    #[default]
    Unknown,
    /// Perhaps known while compiling; what it depends on decides (RPython:
    /// `SomeLLAbstractConstant`).
    Constant(AbstractConstant),
    /// Red for certain (RPython: `SomeLLAbstractVariable`).
    Variable { frozen: Frozen },
}

/// A value that is green if all that it depends on can be.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct AbstractConstant {
    /// All that it depends on. Fixed if all of them are.
    pub(crate) origins: BTreeSet<OriginId>,
    /// A hint says that it is green, whatever it depends on.
    pub(crate) eager_concrete: bool,
    /// The operation or argument that it is, unless paths join.
    pub(crate) myorigin: Option<OriginId>,
    pub(crate) frozen: Frozen,
}

/// A value that a hint wants green meets a red one.
pub(crate) struct Contradiction;

impl Binding {
    /// A constant without origins: green.
    pub(crate) fn green() -> Binding {
        Binding::Constant(AbstractConstant::default())
    }

    /// A red variable.
    pub(crate) fn red() -> Binding {
        Binding::Variable { frozen: Frozen::No }
    }

    pub(crate) fn frozen(&self) -> Frozen {
        match self {
            Binding::Unknown => Frozen::No,
            Binding::Constant(c) => c.frozen,
            Binding::Variable { frozen } => *frozen,
        }
    }

    /// The same with another promise about the memory that it leads to.
    pub(crate) fn with_frozen(mut self, to: Frozen) -> Binding {
        match &mut self {
            Binding::Unknown => {}
            Binding::Constant(c) => c.frozen = to,
            Binding::Variable { frozen } => *frozen = to,
        }
        self
    }

    /// Keeps one origin, that of an earlier state if it had one.
    pub(crate) fn keep_origin_of(&mut self, old: &Binding) {
        let Binding::Constant(c) = self else {
            return;
        };
        let before = match old {
            Binding::Constant(old) => old.origins.first(),
            Binding::Unknown | Binding::Variable { .. } => None,
        };
        if let Some(kept) = before.or(c.origins.first()).copied()
            && c.origins.len() > 1
        {
            c.origins = BTreeSet::from([kept]);
        }
    }

    /// What holds of values of both.
    pub(crate) fn union(&self, other: &Binding) -> Result<Binding, Contradiction> {
        let frozen = self.frozen().min(other.frozen());
        Ok(match (self, other) {
            (Binding::Unknown, b) | (b, Binding::Unknown) => b.clone(),
            (Binding::Constant(a), Binding::Constant(b)) => Binding::Constant(AbstractConstant {
                origins: a.origins.union(&b.origins).copied().collect(),
                eager_concrete: a.eager_concrete && b.eager_concrete,
                myorigin: a.myorigin.filter(|o| b.myorigin == Some(*o)),
                frozen,
            }),
            (Binding::Variable { .. }, Binding::Variable { .. }) => Binding::Variable { frozen },
            (Binding::Constant(c), _) | (_, Binding::Constant(c)) => {
                if c.eager_concrete {
                    return Err(Contradiction);
                }
                Binding::Variable { frozen }
            }
        })
    }
}
