//! What the hint-annotator knows of a variable (RPython, 2008: `hintannotator/model.py`).

use std::collections::BTreeSet;

/// A place where a value came to be: an operation or an argument of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct OriginId(pub(crate) u32);

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
    Variable {
        /// What is reached through it never changes.
        deepfrozen: bool,
    },
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
    /// What is reached through it never changes.
    pub(crate) deepfrozen: bool,
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
        Binding::Variable { deepfrozen: false }
    }

    pub(crate) fn deepfrozen(&self) -> bool {
        match self {
            Binding::Unknown => false,
            Binding::Constant(c) => c.deepfrozen,
            Binding::Variable { deepfrozen } => *deepfrozen,
        }
    }

    /// The same with another promise about what is reached through it.
    pub(crate) fn with_deepfrozen(mut self, to: bool) -> Binding {
        match &mut self {
            Binding::Unknown => {}
            Binding::Constant(c) => c.deepfrozen = to,
            Binding::Variable { deepfrozen } => *deepfrozen = to,
        }
        self
    }

    /// What holds of values of both.
    pub(crate) fn union(&self, other: &Binding) -> Result<Binding, Contradiction> {
        let deepfrozen = self.deepfrozen() && other.deepfrozen();
        Ok(match (self, other) {
            (Binding::Unknown, b) | (b, Binding::Unknown) => b.clone(),
            (Binding::Constant(a), Binding::Constant(b)) => Binding::Constant(AbstractConstant {
                origins: a.origins.union(&b.origins).copied().collect(),
                eager_concrete: a.eager_concrete && b.eager_concrete,
                myorigin: a.myorigin.filter(|o| b.myorigin == Some(*o)),
                deepfrozen,
            }),
            (Binding::Variable { .. }, Binding::Variable { .. }) => {
                Binding::Variable { deepfrozen }
            }
            (Binding::Constant(c), _) | (_, Binding::Constant(c)) => {
                if c.eager_concrete {
                    return Err(Contradiction);
                }
                Binding::Variable { deepfrozen }
            }
        })
    }
}
