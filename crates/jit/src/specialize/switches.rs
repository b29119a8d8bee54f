//! The link of a switch for a known value.

use rustc_hash::FxHashMap;
use taipan_graph::ExitCase;
use taipan_lltype::const_word;

use super::Specializer;
use crate::code::TsLink;
use crate::state::Word;
use crate::world::World;

/// Maximum number of links for a linear search. An interpreter's switch on an opcode has a hundred links.
const FEW: usize = 8;

/// The links of switches with many cases, by graph and block; none for switches on other values than numbers.
pub(super) type Switches = FxHashMap<(u32, u32), Option<Cases>>;

/// The links of a switch on numbers, by number.
pub(super) struct Cases {
    links: FxHashMap<Word, usize>,
    /// The link for all other numbers.
    other: Option<usize>,
}

impl Cases {
    fn of(links: &[TsLink]) -> Option<Cases> {
        let mut cases = Cases {
            links: FxHashMap::default(),
            other: None,
        };
        for (i, link) in links.iter().enumerate() {
            let word = match &link.case {
                ExitCase::Bool(b) => Word::from(*b),
                ExitCase::Value(c) => const_word(c)?,
                _ => {
                    cases.other = Some(i);
                    break;
                }
            };
            cases.links.entry(word).or_insert(i);
        }
        Some(cases)
    }

    fn taken(&self, on: Word) -> Option<usize> {
        self.links.get(&on).copied().or(self.other)
    }
}

impl Specializer<'_> {
    /// The link of a switch that a value takes. `at` is the graph and the block of the switch.
    pub(super) fn taken<'l>(
        &mut self,
        world: &mut dyn World,
        at: (u32, u32),
        on: Word,
        links: &'l [TsLink],
    ) -> Option<&'l TsLink> {
        if links.len() > FEW {
            let cases = self.switches.entry(at).or_insert_with(|| Cases::of(links));
            if let Some(cases) = cases {
                return links.get(cases.taken(on)?);
            }
        }
        links.iter().find(|link| match &link.case {
            ExitCase::Bool(b) => Word::from(*b) == on,
            ExitCase::Value(c) => world.word(c) == on,
            _ => true,
        })
    }
}

#[cfg(test)]
mod tests {
    use taipan_graph::ExitCase;
    use taipan_lltype::LLConst;

    use super::Cases;
    use crate::code::TsLink;

    #[test]
    fn the_first_link_counts() {
        let cases = [
            ExitCase::Value(LLConst::signed(5)),
            ExitCase::Value(LLConst::Char(7)),
            ExitCase::Value(LLConst::signed(5)),
            ExitCase::Default,
            ExitCase::Value(LLConst::signed(9)),
        ];
        let links = cases.map(|case| TsLink {
            target: 0,
            args: Vec::new(),
            case,
        });
        let cases = Cases::of(&links).expect("numbers");
        let taken = [5, 7, 9, -1].map(|on| cases.taken(on));
        assert_eq!(taken, [Some(0), Some(1), Some(3), Some(3)]);
        let cases = Cases::of(&links[..3]).expect("numbers");
        assert_eq!(cases.taken(9), None);
    }
}
