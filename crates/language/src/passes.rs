//! The passes over low-level graphs that can be switched on and off.
//!
//! The order of the table is the order in which they first run. A pass of crate `transform` is
//! declared here; switches, levels, statistics and the documentation come from the declaration.

use std::fmt;
use std::str::FromStr;

/// The step of compilation that a pass is part of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PassStage {
    /// What needs no other function. Callers inline the result.
    Simplify,
    /// What may read other functions.
    Optimize,
    /// What stands beside the GC transform.
    Collect,
}

macro_rules! passes {
    ($($id:ident, $name:literal, $file:literal, $stage:ident, $level:literal.., $what:literal;)*) => {
        /// A pass over low-level graphs.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Pass {
            $(#[doc = $what] $id,)*
        }

        impl Pass {
            /// All of them, in the order in which they first run.
            pub const ALL: &'static [Pass] = &[$(Pass::$id),*];

            /// Its name on the command line.
            pub fn name(self) -> &'static str {
                match self { $(Pass::$id => $name,)* }
            }

            /// The file of crate `transform` that it is in.
            pub fn file(self) -> &'static str {
                match self { $(Pass::$id => $file,)* }
            }

            /// The step that it first runs in.
            pub fn stage(self) -> PassStage {
                match self { $(Pass::$id => PassStage::$stage,)* }
            }

            /// The level (`-O`) from which on it runs.
            pub fn level(self) -> u8 {
                match self { $(Pass::$id => $level,)* }
            }

            /// What it does, in a sentence without a full stop.
            pub fn what(self) -> &'static str {
                match self { $(Pass::$id => $what,)* }
            }
        }
    };
}

passes! {
    Divisions, "divisions", "division.rs", Simplify, 0..,
        "divisions by constants become shifts, or the machine's division with the rounding of Python";
    Folding, "folding", "fold.rs", Simplify, 0..,
        "operations on constants are done; branches whose outcome another branch has decided go";
    Inlining, "inlining", "inline.rs", Optimize, 0..,
        "calls of small functions become their bodies; virtual calls of few functions become tests for those";
    Asserts, "asserts", "asserts.rs", Optimize, 3..,
        "branches that only raise AssertionError go (RPython: `remove_asserts`)";
    CommonOperations, "common-operations", "cse.rs", Optimize, 1..,
        "what is there already is not computed or loaded again";
    Allocations, "allocations", "malloc.rs", Optimize, 1..,
        "objects that do not leave the function are kept as variables (RPython: malloc removal)";
    Switches, "switches", "switch.rs", Optimize, 1..,
        "chains of comparisons become one switch (RPython: `merge_if_blocks`)";
    LoopRotation, "loop-rotation", "loops.rs", Optimize, 1..,
        "the condition of a loop is at its end";
    Invariants, "invariants", "loops.rs", Optimize, 1..,
        "what is the same in each round of a loop is computed before it";
    Ranges, "ranges", "ranges.rs", Optimize, 1..,
        "comparisons and checks of overflow and null are decided by what numbers and pointers can be there";
    Rematerialisation, "rematerialisation", "rematerialize.rs", Collect, 1..,
        "casts are made again behind a collection, so that an object is one root";
    Zeroing, "zeroing", "zeroing.rs", Collect, 1..,
        "items that are filled right away are not cleared first";
    Barriers, "barriers", "barriers.rs", Collect, 1..,
        "a write barrier is left out where the object is new, or had one just before";
    Nursery, "nursery", "nursery.rs", Collect, 1..,
        "allocations have a way without shadow stack where the nursery has room";
    Dispatch, "dispatch", "dispatch.rs", Collect, 1..,
        "each handler of a loop over bytecodes jumps to the next one by itself (by C and LLVM)";
}

impl Pass {
    /// The pass of that name.
    pub fn named(name: &str) -> Option<Pass> {
        Pass::ALL.iter().copied().find(|p| p.name() == name)
    }
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which passes run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PassSet(u64);

impl PassSet {
    /// None at all.
    pub const EMPTY: PassSet = PassSet(0);

    /// Those of an optimisation level.
    pub fn of_level(level: u8) -> PassSet {
        PassSet::of(|p| p.level() <= level)
    }

    /// Those of which something holds.
    fn of(holds: impl Fn(Pass) -> bool) -> PassSet {
        let chosen = Pass::ALL.iter().filter(|p| holds(**p));
        PassSet(chosen.fold(0, |set, p| set | 1 << *p as u64))
    }

    /// Whether a pass is among them.
    pub fn contains(self, pass: Pass) -> bool {
        self.0 & (1 << pass as u64) != 0
    }

    /// The same with or without a pass.
    #[must_use]
    pub fn with(self, pass: Pass, on: bool) -> PassSet {
        match on {
            true => PassSet(self.0 | 1 << pass as u64),
            false => PassSet(self.0 & !(1 << pass as u64)),
        }
    }

    /// Those that make a difference to graphs up to a step.
    #[must_use]
    pub fn up_to(self, stage: PassStage) -> PassSet {
        PassSet(self.0 & PassSet::of(|p| p.stage() <= stage).0)
    }

    /// A number for each set.
    pub fn bits(self) -> u64 {
        self.0
    }
}

/// Those of level 1, at which programs are compiled unless they are asked to be otherwise.
impl Default for PassSet {
    fn default() -> Self {
        PassSet::of_level(1)
    }
}

impl fmt::Debug for PassSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let on = Pass::ALL.iter().filter(|p| self.contains(**p));
        f.debug_set().entries(on.map(|p| p.name())).finish()
    }
}

/// Switches of passes, as in `-inlining,+asserts`. Later ones count.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct PassSwitches(Vec<(Option<Pass>, bool)>);

impl PassSwitches {
    /// Passes with these switches.
    #[must_use]
    pub fn apply(&self, passes: PassSet) -> PassSet {
        self.0
            .iter()
            .fold(passes, |set, (pass, on)| match (pass, on) {
                (Some(pass), on) => set.with(*pass, *on),
                (None, true) => PassSet::of(|_| true),
                (None, false) => PassSet::EMPTY,
            })
    }
}

impl FromStr for PassSwitches {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let switches = text.split(',').map(|switch| {
            let (on, name) = match (switch.strip_prefix('+'), switch.strip_prefix('-')) {
                (Some(name), _) => (true, name),
                (_, Some(name)) => (false, name),
                _ => return Err(format!("`{switch}` begins neither with `+` nor with `-`")),
            };
            if name == "all" {
                return Ok((None, on));
            }
            let names = || Pass::ALL.iter().map(|p| p.name());
            let list = || names().collect::<Vec<_>>().join(", ");
            let unknown = || format!("there is no pass `{name}`; there are: {}, and all", list());
            Ok((Some(Pass::named(name).ok_or_else(unknown)?), on))
        });
        Ok(PassSwitches(switches.collect::<Result<_, _>>()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_read_in_order() {
        let applied = |text: &str| {
            text.parse::<PassSwitches>()
                .map(|s| s.apply(PassSet::EMPTY))
        };
        let only = PassSet::EMPTY.with(Pass::Inlining, true);
        assert_eq!(applied("+inlining"), Ok(only));
        assert_eq!(applied("+all,-all,+inlining"), Ok(only));
        assert_eq!(applied("+inlining,-inlining"), Ok(PassSet::EMPTY));
        let wrong = applied("inlining").unwrap_err();
        assert_eq!(wrong, "`inlining` begins neither with `+` nor with `-`");
        let wrong = applied("-inline").unwrap_err();
        assert!(
            wrong.starts_with("there is no pass `inline`; there are: divisions, "),
            "{wrong}"
        );
    }

    /// The table in the documentation. `UPDATE_EXPECT=1` writes it anew.
    #[test]
    fn the_documentation_has_this_table() {
        const BEGIN: &str = "| pass | file | from | what it does |\n|---|---|---|---|\n";
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/optimisation.md");
        let page = std::fs::read_to_string(file).unwrap();
        let (before, rest) = page
            .split_once(BEGIN)
            .expect("the page has a table of passes");
        let (_, after) = rest.split_once("\n\n").expect("the table ends");
        let rows = Pass::ALL.iter().map(|p| {
            let (name, level) = (p.name(), p.level());
            format!("| `{name}` | `{}` | `-O{level}` | {} |", p.file(), p.what())
        });
        let rows = rows.collect::<Vec<_>>().join("\n");
        let expected = format!("{before}{BEGIN}{rows}\n\n{after}");
        expect_test::expect_file![file].assert_eq(&expected);
    }

    #[test]
    fn every_pass_is_in_a_file_of_the_transforms() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../transform/src");
        for pass in Pass::ALL {
            assert!(
                std::path::Path::new(folder).join(pass.file()).exists(),
                "{pass}"
            );
        }
    }

    #[test]
    fn higher_levels_have_the_passes_of_lower_ones() {
        for level in 0..3 {
            let (low, high) = (PassSet::of_level(level), PassSet::of_level(level + 1));
            assert_eq!(low.bits() & high.bits(), low.bits());
        }
        assert_eq!(PassSet::of_level(3), PassSet::of(|_| true));
    }

    #[test]
    fn later_steps_make_no_difference_to_earlier_ones() {
        let all = PassSet::of_level(3);
        let simplify = all.up_to(PassStage::Simplify);
        assert_eq!(
            simplify,
            PassSet::EMPTY
                .with(Pass::Divisions, true)
                .with(Pass::Folding, true)
        );
        assert_eq!(all.up_to(PassStage::Collect), all);
    }
}
