//! How large the nursery is.
//!
//! A larger one pays where objects die a little after the nursery was full: they need no copy
//! then. Where the same share survives whatever the size, it only costs memory, and misses of
//! the cache. So the next size is tried now and then, for some collections, and kept where
//! enough less survives of it; and so is the size before, where hardly more does.

/// Shares of bytes are counted in such parts.
const WHOLE: usize = 1024;
/// The share before the first collection.
const NONE: usize = usize::MAX;
/// A larger nursery is tried when more than this share survives.
const LEAST_SHARE: usize = WHOLE / 8;
/// And no more than this one: where nearly everything survives, a nursery of twice the size cannot change that
/// by much, and to empty it takes twice as long.
const MOST_SHARE: usize = WHOLE / 8 * 7;
/// How many collections a trial takes.
const TRIAL: u32 = 4;
/// How many collections pass between trials: twice as many after each in vain, up to the most.
const LEAST_WAIT: u32 = 4;
const MOST_WAIT: u32 = 64;

/// Chooses the size of the nursery, from collection to collection.
pub(super) struct Sizes {
    least: usize,
    most: usize,
    size: usize,
    /// What survived of [`WHOLE`] bytes in the last collections at this size: an average in
    /// which the last one counts a quarter.
    share: usize,
    /// While another size is tried: the one before, and what survived of it.
    trial: Option<(usize, usize)>,
    /// How many collections are left to the trial, or to the next one.
    left: u32,
    wait: u32,
    /// Whether the last trial was that of a larger size.
    went_up: bool,
}

impl Sizes {
    pub(super) const fn new(least: usize, most: usize) -> Self {
        Sizes {
            least,
            most,
            size: least,
            share: NONE,
            trial: None,
            left: 0,
            wait: LEAST_WAIT,
            went_up: false,
        }
    }

    /// After a collection of that many bytes, of which so many survived: how large the nursery
    /// is to be now.
    pub(super) fn next(&mut self, used: usize, survived: usize) -> usize {
        // A collection that came early says nothing about the size.
        if used < self.size / 2 {
            return self.size;
        }
        // The product may be larger than an address.
        let share = (survived as u64 * WHOLE as u64 / used.max(1) as u64) as usize;
        let first = self.share == NONE || self.trial.is_some() && self.left == TRIAL;
        self.share = if first {
            share
        } else {
            (3 * self.share + share) / 4
        };
        self.left = self.left.saturating_sub(1);
        if self.left > 0 {
            return self.size;
        }
        match self.trial.take() {
            Some((size, share)) => self.judge(size, share),
            None => self.attempt(),
        }
        self.size
    }

    fn attempt(&mut self) {
        let shares = LEAST_SHARE + 1..=MOST_SHARE;
        let up = self.size < self.most && shares.contains(&self.share);
        let down = self.size > self.least;
        let up = match (up, down) {
            (true, true) => !self.went_up,
            (false, false) => return,
            _ => up,
        };
        self.trial = Some((self.size, self.share));
        self.left = TRIAL;
        self.went_up = up;
        self.size = if up {
            (self.size * 2).min(self.most)
        } else {
            (self.size / 2).max(self.least)
        };
    }

    fn judge(&mut self, before: usize, share: usize) {
        let pays = match self.size > before {
            true => self.share < share / 4 * 3,
            false => self.share < share / 8 * 9 + WHOLE / 128,
        };
        if pays {
            self.wait = LEAST_WAIT;
        } else {
            (self.size, self.share) = (before, share);
            self.wait = (self.wait * 2).min(MOST_WAIT);
        }
        self.left = if pays && self.went_up { 1 } else { self.wait };
    }
}

#[cfg(test)]
mod tests {
    use super::Sizes;

    const KIB: usize = 1 << 10;

    /// The sizes that so many collections go through, of which that share survives.
    fn sizes(collections: usize, survived: impl Fn(usize, usize) -> usize) -> Vec<usize> {
        let mut sizes = Sizes::new(64 * KIB, 512 * KIB);
        (0..collections)
            .map(|i| sizes.next(sizes.size, survived(i, sizes.size)) / KIB)
            .collect()
    }

    /// How many collections have each size.
    fn histogram(sizes: &[usize]) -> Vec<(usize, usize)> {
        let count = |size| sizes.iter().filter(|s| **s == size).count();
        [64, 128, 256, 512].map(|s| (s, count(s))).to_vec()
    }

    #[test]
    fn where_little_survives_the_nursery_stays_small() {
        let all = sizes(1000, |_, size| size / 10);
        assert!(all.iter().all(|s| *s == 64));
    }

    #[test]
    fn where_the_same_share_survives_the_nursery_stays_small() {
        for parts in [1, 2, 3, 5] {
            let all = sizes(1000, |_, size| size / parts);
            assert_eq!(histogram(&all)[2..], [(256, 0), (512, 0)]);
            assert!(histogram(&all)[1].1 < 100, "trials are rare: {all:?}");
        }
    }

    #[test]
    fn where_the_same_amount_survives_the_nursery_grows() {
        let all = sizes(1000, |_, _| 48 * KIB);
        assert!(histogram(&all)[2].1 + histogram(&all)[3].1 > 950, "{all:?}");
        let all = sizes(1000, |i, size| (48 + i % 7) * KIB * size / size);
        assert!(histogram(&all)[2].1 + histogram(&all)[3].1 > 950, "{all:?}");
    }

    #[test]
    fn the_nursery_shrinks_when_its_size_does_not_pay_any_more() {
        let all = sizes(2000, |i, size| if i < 100 { 48 * KIB } else { size / 2 });
        assert!(all[..100].contains(&512));
        assert_eq!(
            all[1900..].iter().filter(|s| **s > 128).count(),
            0,
            "{all:?}"
        );
    }

    #[test]
    fn early_collections_say_nothing() {
        let mut sizes = Sizes::new(64 * KIB, 512 * KIB);
        for _ in 0..1000 {
            assert_eq!(sizes.next(20 * KIB, 20 * KIB), 64 * KIB);
        }
    }
}
