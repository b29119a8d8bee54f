//! Where classes stand among each other, and sets of classes that are asked for by that.
//!
//! Every class covers a stretch of one line, inside of that of its base: whether a class derives
//! from another one is a comparison, and the classes below one that are in some set stand side
//! by side in it. None of these numbers is ever seen in an outcome.

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_graph::ObjId;

/// The place of a class.
struct Place {
    class: ObjId,
    base: Option<u32>,
    depth: u32,
}

/// All classes that are known.
#[derive(Default)]
pub(crate) struct Hierarchy {
    numbers: FxHashMap<ObjId, u32>,
    places: Vec<Place>,
    /// Of every class where its stretch begins and where it ends, at twice its number and the
    /// place after that.
    labels: Vec<u64>,
    /// What follows each of these on the line; the last one names itself.
    next: Vec<u32>,
    /// The last label.
    last: u64,
    /// How often it was made from nothing: classes have other numbers then.
    generation: u32,
}

/// Steps of a line that nothing is on.
const GAP: u64 = 1 << 32;

impl Hierarchy {
    /// One without classes, in whose place others will stand.
    pub(crate) fn successor(&self) -> Hierarchy {
        Hierarchy {
            generation: self.generation + 1,
            ..Hierarchy::default()
        }
    }

    /// Whether a class is there.
    pub(crate) fn contains(&self, class: ObjId) -> bool {
        self.numbers.contains_key(&class)
    }

    /// Takes in a class whose base is known.
    pub(crate) fn add(&mut self, class: ObjId, base: Option<ObjId>) {
        if self.numbers.contains_key(&class) {
            return;
        }
        let base = base.and_then(|b| self.numbers.get(&b).copied());
        let number = self.places.len() as u32;
        self.numbers.insert(class, number);
        let depth = base.map_or(0, |b| self.places[b as usize].depth + 1);
        self.places.push(Place { class, base, depth });
        let (start, end) = (2 * number, 2 * number + 1);
        match base {
            None => {
                if self.last > u64::MAX - 2 * GAP {
                    self.spread();
                }
                let (first, last) = (self.last + GAP, self.last + 2 * GAP);
                self.labels.extend([first, last]);
                self.next.extend([end, end]);
                self.last = last;
            }
            Some(base) => {
                let before = 2 * base as usize;
                if self.labels[self.next[before] as usize] - self.labels[before] < 3 {
                    self.spread();
                }
                let after = self.next[before];
                let (low, high) = (self.labels[before], self.labels[after as usize]);
                let third = (high - low) / 3;
                self.labels.extend([low + third, low + 2 * third]);
                self.next.extend([end, after]);
                self.next[before] = start;
            }
        }
    }

    /// Makes room everywhere.
    fn spread(&mut self) {
        let mut roots: Vec<u32> = (0..self.places.len() as u32)
            .filter(|n| self.places[*n as usize].base.is_none())
            .filter(|n| (2 * *n as usize) < self.labels.len())
            .collect();
        roots.sort_by_key(|n| self.labels[2 * *n as usize]);
        let gap = (u64::MAX / 2 / (self.labels.len() as u64 + 1)).min(GAP);
        let mut label = 0;
        for root in roots {
            let (mut at, end) = (2 * root, 2 * root + 1);
            loop {
                label += gap;
                self.labels[at as usize] = label;
                if at == end {
                    break;
                }
                at = self.next[at as usize];
            }
        }
        self.last = label;
    }

    fn number(&self, class: ObjId) -> Option<u32> {
        self.numbers.get(&class).copied()
    }

    fn start(&self, number: u32) -> u64 {
        self.labels[2 * number as usize]
    }

    fn end(&self, number: u32) -> u64 {
        self.labels[2 * number as usize + 1]
    }

    fn covers(&self, above: u32, below: u32) -> bool {
        let at = self.start(below);
        self.start(above) <= at && at < self.end(above)
    }

    /// Whether a class is another one or derives from it.
    pub(crate) fn is_below(&self, class: ObjId, above: ObjId) -> bool {
        match (self.number(class), self.number(above)) {
            (Some(c), Some(a)) => self.covers(a, c),
            _ => false,
        }
    }

    /// The closest class that two derive from.
    pub(crate) fn common_base(&self, a: ObjId, b: ObjId) -> Option<ObjId> {
        let (mut a, b) = (self.number(a)?, self.number(b)?);
        while !self.covers(a, b) {
            a = self.places[a as usize].base?;
        }
        Some(self.places[a as usize].class)
    }

    /// How many bases a class has.
    pub(crate) fn depth(&self, class: ObjId) -> u32 {
        self.number(class)
            .map_or(0, |n| self.places[n as usize].depth)
    }

    /// The classes that derive from a class, and that itself first.
    pub(crate) fn below(&self, class: ObjId) -> Vec<ObjId> {
        let Some(class) = self.number(class) else {
            return Vec::new();
        };
        let next = |at: &u32| (*at != 2 * class + 1).then(|| self.next[*at as usize]);
        std::iter::successors(Some(2 * class), next)
            .filter(|at| at % 2 == 0)
            .map(|at| self.places[at as usize / 2].class)
            .collect()
    }

    /// A class and its bases, the nearest first.
    pub(crate) fn chain(&self, class: ObjId) -> impl Iterator<Item = ObjId> + '_ {
        let first = self.number(class);
        let base = |n: &u32| self.places[*n as usize].base;
        std::iter::successors(first, base).map(|n| self.places[n as usize].class)
    }
}

/// A set of classes that is asked for those above a class, and for those below it.
#[derive(Default)]
pub(crate) struct ClassSet {
    members: FxHashSet<ObjId>,
    /// Members in the order of the hierarchy that is numbered like this.
    sorted: Vec<u32>,
    generation: u32,
    /// Members that do not stand there yet.
    new: Vec<ObjId>,
}

impl ClassSet {
    /// Takes in a class. Returns whether it is new.
    pub(crate) fn insert(&mut self, class: ObjId) -> bool {
        let new = self.members.insert(class);
        if new {
            self.new.push(class);
        }
        new
    }

    /// Takes a class out.
    pub(crate) fn remove(&mut self, class: ObjId) {
        if self.members.remove(&class) {
            self.sorted.clear();
            self.new = self.members.iter().copied().collect();
        }
    }

    /// Whether a class is a member.
    pub(crate) fn contains(&self, class: ObjId) -> bool {
        self.members.contains(&class)
    }

    /// Whether there is no member.
    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The members that are bases of a class, the nearest first; the class itself is left out.
    pub(crate) fn above(&self, class: ObjId, all: &Hierarchy) -> Vec<ObjId> {
        let few = self.members.len() as u32;
        if few == 0 {
            return Vec::new();
        }
        if few >= all.depth(class) {
            let bases = all.chain(class).skip(1);
            return bases.filter(|b| self.contains(*b)).collect();
        }
        let mut found: Vec<ObjId> = (self.members.iter().copied())
            .filter(|m| *m != class && all.is_below(class, *m))
            .collect();
        found.sort_unstable_by_key(|m| std::cmp::Reverse(all.depth(*m)));
        found
    }

    /// The nearest member among the bases of a class for which something holds.
    pub(crate) fn nearest_above(
        &self,
        class: ObjId,
        all: &Hierarchy,
        mut holds: impl FnMut(ObjId) -> bool,
    ) -> Option<ObjId> {
        let few = self.members.len() as u32;
        if few == 0 {
            return None;
        }
        if few >= all.depth(class) {
            let mut bases = all.chain(class).skip(1);
            return bases.find(|b| self.contains(*b) && holds(*b));
        }
        self.above(class, all).into_iter().find(|b| holds(*b))
    }

    /// The members below a class for which something holds, and that have no such member
    /// between themselves and the class.
    pub(crate) fn topmost_below(
        &mut self,
        class: ObjId,
        all: &Hierarchy,
        mut holds: impl FnMut(ObjId) -> bool,
    ) -> Vec<ObjId> {
        let mut found = Vec::new();
        let Some(class) = all.number(class) else {
            return found;
        };
        self.sort(all);
        let mut at = self.at(all.start(class) + 1, all);
        while let Some(m) = self.sorted.get(at).copied()
            && all.start(m) < all.end(class)
        {
            let member = all.places[m as usize].class;
            at += 1;
            if holds(member) {
                found.push(member);
                at += self.sorted[at..].partition_point(|n| all.start(*n) < all.end(m));
            }
        }
        found
    }

    /// The members below a class that are not below others, nor these themselves. The others
    /// are below the class, in the order of the hierarchy, and not below each other.
    pub(crate) fn below_but(
        &mut self,
        class: ObjId,
        others: &[ObjId],
        all: &Hierarchy,
    ) -> Vec<ObjId> {
        let Some(class) = all.number(class) else {
            return Vec::new();
        };
        self.sort(all);
        let mut found = Vec::new();
        let mut from = all.start(class) + 1;
        let others = others.iter().filter_map(|o| all.number(*o));
        for other in others.chain([class]) {
            let to = if other == class {
                all.end(class)
            } else {
                all.start(other)
            };
            let part = self.at(from, all)..self.at(to, all);
            let members = self.sorted[part].iter();
            found.extend(members.map(|m| all.places[*m as usize].class));
            from = all.end(other);
        }
        found
    }

    /// How many members stand before a label.
    fn at(&self, label: u64, all: &Hierarchy) -> usize {
        self.sorted.partition_point(|m| all.start(*m) < label)
    }

    fn sort(&mut self, all: &Hierarchy) {
        if self.generation != all.generation {
            self.generation = all.generation;
            self.sorted.clear();
            self.new = self.members.iter().copied().collect();
        }
        if self.new.is_empty() {
            return;
        }
        let count = self.sorted.len();
        let sorted = &mut self.sorted;
        self.new.retain(|class| match all.number(*class) {
            Some(n) => {
                sorted.push(n);
                false
            }
            None => true,
        });
        match &sorted[count..] {
            [] => {}
            [one] => {
                let one = *one;
                sorted.pop();
                let at = sorted.partition_point(|m| all.start(*m) < all.start(one));
                sorted.insert(at, one);
            }
            _ => sorted.sort_by_key(|m| all.start(*m)),
        }
    }
}
