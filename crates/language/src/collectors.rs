//! The garbage collectors that programs are compiled for.

use std::fmt;

/// A garbage collector (RPython: the option `--gc`).
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Debug,
    Default,
    serde::Serialize,
    serde::Deserialize,
)]
pub enum Collector {
    /// Generations, of which the young one moves out of a nursery. The default.
    #[default]
    Generational,
    /// Reference counting. Cycles are never freed.
    Ref,
    /// The conservative collector of Boehm, Demers and Weiser, from the library libgc.
    Boehm,
    /// No object is ever freed.
    None,
}

impl Collector {
    /// All of them.
    pub const ALL: &'static [Collector] = &[
        Collector::Generational,
        Collector::Ref,
        Collector::Boehm,
        Collector::None,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Collector::Generational => "generational",
            Collector::Ref => "ref",
            Collector::Boehm => "boehm",
            Collector::None => "none",
        }
    }

    /// Name of the collector in RPython (`translation.gc`).
    pub fn rpython_name(self) -> &'static str {
        match self {
            Collector::Generational => "incminimark",
            Collector::Ref | Collector::Boehm | Collector::None => self.name(),
        }
    }

    /// The collector of that name.
    pub fn named(name: &str) -> Option<Collector> {
        Collector::ALL.iter().copied().find(|c| c.name() == name)
    }

    /// Whether objects come one behind the other, so that code makes most of them by itself.
    pub fn has_nursery(self) -> bool {
        match self {
            Collector::Generational | Collector::None => true,
            Collector::Ref | Collector::Boehm => false,
        }
    }

    /// Its number in program tables (`gc::Collector` of the runtime).
    pub fn number(self) -> u32 {
        match self {
            Collector::Generational => 0,
            Collector::Ref => 1,
            Collector::Boehm => 2,
            Collector::None => 3,
        }
    }
}

impl fmt::Display for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
