//! A cache of attribute lookups along the bases of classes.
//!
//! An entry holds the location of a name, namespace and slot, not its value; the value is read at each lookup.
//! An entry is valid while [`class_version`] is unchanged. The version changes when a name is added to the
//! namespace of a class or removed from one, and when the method resolution order of a class changes.

use super::dict::{Name, class_version};
use super::heap::{Heap, Ref};
use super::value::Value;

/// Entries at first and at most, powers of two.
const FEWEST: usize = 32;
const MOST: usize = 4096;

/// A direct-mapped table: each class and name has one place, which other pairs may overwrite.
#[derive(Default)]
pub(crate) struct Lookups {
    entries: Vec<Entry>,
    /// Number of searches since the table was resized.
    searches: usize,
}

#[derive(Clone, Default)]
struct Entry {
    version: u64,
    hash: u64,
    text: Box<[u8]>,
    /// The place of the text that was looked up last, or 0.
    place: usize,
    class: Option<Ref>,
    found: Option<Found>,
}

/// Where a name was found.
#[derive(Clone, Copy)]
struct Found {
    /// The class that has it.
    class: Ref,
    /// The namespace of that class.
    names: Ref,
    slot: u32,
}

impl Lookups {
    /// A class attribute along the method resolution order, and the class that has it: what
    /// [`Heap::lookup_where`] finds.
    #[inline]
    pub(crate) fn find<'h>(
        &mut self,
        heap: &'h Heap,
        class: Ref,
        name: Name<'_>,
    ) -> Option<(Ref, &'h Value)> {
        let at = place(class, name);
        let found = match self.entries.get(at & self.entries.len().wrapping_sub(1)) {
            Some(e)
                if e.class == Some(class)
                    && e.version == class_version()
                    && (name.place() == Some(e.place)
                        || e.hash == name.hash() && *e.text == *name.text()) =>
            {
                e.found
            }
            _ => self.search(heap, class, name),
        }?;
        Some((
            found.class,
            heap.names(found.names, name).at(found.slot as usize),
        ))
    }

    #[inline(never)]
    fn search(&mut self, heap: &Heap, class: Ref, name: Name<'_>) -> Option<Found> {
        if self.searches >= self.entries.len() && self.entries.len() < MOST {
            let size = (self.entries.len() * 2).max(FEWEST);
            self.entries = vec![Entry::default(); size];
            self.searches = 0;
        }
        self.searches += 1;
        let mro = &heap.class(class)?.mro;
        let found = mro.iter().find_map(|c| {
            let names = heap.get(*c).attrs?;
            let slot = heap.names(names, name).find_name(name)?;
            Some(Found {
                class: *c,
                names,
                slot: slot as u32,
            })
        });
        let at = place(class, name) & (self.entries.len() - 1);
        let e = &mut self.entries[at];
        if *e.text != *name.text() {
            e.text = name.text().into();
        }
        (e.class, e.version, e.hash, e.found) = (Some(class), class_version(), name.hash(), found);
        e.place = name.place().unwrap_or(0);
        found
    }
}

fn place(class: Ref, name: Name<'_>) -> usize {
    (name.hash() ^ u64::from(class.0).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize
}
