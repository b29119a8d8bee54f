//! Names that the classes of a deep hierarchy have, in little room.

use std::sync::Arc;

/// A set of names that may take others for its own.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Names(Arc<Bits>);

/// Two bits for every name.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Bits([u64; WORDS]);

const WORDS: usize = 128;

impl Default for Bits {
    fn default() -> Bits {
        Bits([0; WORDS])
    }
}

impl Bits {
    fn get(&self, bit: usize) -> bool {
        self.0[bit / 64] & 1 << (bit % 64) != 0
    }
}

/// The bits of a name; those of `x__getter__` and `x__setter__` are those of `x`.
fn bits(name: &str) -> [usize; 2] {
    let property = (name.strip_suffix("__getter__")).or_else(|| name.strip_suffix("__setter__"));
    let name = property.filter(|p| !p.is_empty()).unwrap_or(name);
    // FNV-1a.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)
    });
    [hash, hash >> 32].map(|h| h as usize % (64 * WORDS))
}

impl Names {
    pub(crate) fn insert(&mut self, name: &str) {
        for bit in bits(name) {
            if !self.0.get(bit) {
                Arc::make_mut(&mut self.0).0[bit / 64] |= 1 << (bit % 64);
            }
        }
    }

    /// False if it has not got it.
    pub fn may_have(&self, name: &str) -> bool {
        bits(name).iter().all(|bit| self.0.get(*bit))
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn names_are_found_and_most_others_are_not() {
        let mut names = Names::default();
        let inside = (0..500).map(|i| format!("run{i}"));
        inside.clone().for_each(|n| names.insert(&n));
        assert!(inside.clone().all(|n| names.may_have(&n)));
        assert!(names.may_have("run7__getter__"));
        let outside = (0..500).filter(|i| names.may_have(&format!("attribute{i}")));
        assert!(outside.count() < 50);
        let before = names.clone();
        inside.for_each(|n| names.insert(&n));
        assert_eq!(names, before);
    }
}
