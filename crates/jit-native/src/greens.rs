//! What is known of the green values of a driver: how often code came by with them, or
//! where the code for them is.

use rustc_hash::FxHashSet;

/// No entry.
const FREE: u32 = u32::MAX;

/// What is known of one list of greens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Seen {
    /// Code came by so often.
    Counted(u64),
    /// The address of compiled code.
    Compiled(usize),
    /// It cannot be compiled.
    Refused,
}

/// Summary of the table of a driver.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Summary {
    /// Number of lists of greens.
    pub(crate) seen: usize,
    /// Number of those with compiled code.
    pub(crate) compiled: usize,
    /// Number of those that cannot be compiled.
    pub(crate) refused: usize,
    /// Number of visits with the others.
    pub(crate) passed: u64,
    /// For each green: number of distinct values.
    pub(crate) values: Vec<usize>,
}

/// A hash table by green values, of a fixed number of words.
pub(crate) struct GreenTable {
    width: usize,
    /// Open addressing: numbers of entries. The length is a power of two.
    slots: Vec<u32>,
    words: Vec<u64>,
    seen: Vec<Seen>,
}

impl GreenTable {
    pub(crate) fn new(width: usize) -> GreenTable {
        GreenTable {
            width,
            slots: vec![FREE; 16],
            words: Vec::new(),
            seen: Vec::new(),
        }
    }

    /// What is known of these greens; nothing was counted if they are new.
    pub(crate) fn entry(&mut self, greens: &[u64]) -> &mut Seen {
        let mut at = self.find(greens);
        if self.slots[at] == FREE {
            if (self.seen.len() + 1) * 2 > self.slots.len() {
                self.grow();
                at = self.find(greens);
            }
            self.slots[at] = self.seen.len() as u32;
            self.words.extend_from_slice(greens);
            self.seen.push(Seen::Counted(0));
        }
        let entry = self.slots[at] as usize;
        &mut self.seen[entry]
    }

    /// Summarises the table, for the log.
    pub(crate) fn summary(&self) -> Summary {
        let mut summary = Summary {
            seen: self.seen.len(),
            ..Summary::default()
        };
        for seen in &self.seen {
            match seen {
                Seen::Counted(n) => summary.passed += n,
                Seen::Compiled(_) => summary.compiled += 1,
                Seen::Refused => summary.refused += 1,
            }
        }
        summary.values = (0..self.width)
            .map(|i| {
                let words = self.words.iter().skip(i).step_by(self.width);
                words.collect::<FxHashSet<_>>().len()
            })
            .collect();
        summary
    }

    fn find(&self, greens: &[u64]) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = hash(greens) & mask;
        loop {
            match self.slots[at] {
                FREE => return at,
                entry if self.of(entry) == greens => return at,
                _ => at = (at + 1) & mask,
            }
        }
    }

    fn of(&self, entry: u32) -> &[u64] {
        let from = entry as usize * self.width;
        &self.words[from..from + self.width]
    }

    fn grow(&mut self) {
        self.slots = vec![FREE; self.slots.len() * 2];
        for entry in 0..self.seen.len() as u32 {
            let at = self.find(self.of(entry));
            self.slots[at] = entry;
        }
    }
}

/// Hash of greens.
pub(crate) fn hash(greens: &[u64]) -> usize {
    let mix = |h: u64, w: &u64| (h ^ w).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let h = greens.iter().fold(0, mix);
    (h ^ (h >> 32)) as usize
}

#[cfg(test)]
mod tests {
    use super::{GreenTable, Seen, Summary};

    #[test]
    fn greens_are_told_apart() {
        let mut table = GreenTable::new(2);
        for i in 0..1000 {
            *table.entry(&[i % 40, i / 40]) = Seen::Counted(i);
        }
        for i in 0..1000 {
            assert_eq!(*table.entry(&[i % 40, i / 40]), Seen::Counted(i));
        }
        assert_eq!(*table.entry(&[40, 0]), Seen::Counted(0));
        *table.entry(&[3, 0]) = Seen::Refused;
        *table.entry(&[4, 0]) = Seen::Compiled(1);
        let expected = Summary {
            seen: 1001,
            compiled: 1,
            refused: 1,
            passed: 999 * 500 - 3 - 4,
            values: vec![41, 25],
        };
        assert_eq!(table.summary(), expected);
    }

    #[test]
    fn a_driver_without_greens_has_one_entry() {
        let mut table = GreenTable::new(0);
        *table.entry(&[]) = Seen::Refused;
        assert_eq!(*table.entry(&[]), Seen::Refused);
    }
}
