//! Programs that run on while the old generation is marked and swept.

#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "each test is one heap that nothing else uses"
)]

use super::api::*;
use super::header::STATIC_FLAGS;
use super::major::Phase;
use super::tests::{ARRAY, BYTES, Heap, NODE};
use super::tests::{get, node, pop, push, root, set, set_pointer};
use super::{MARKED_PER_OLD, gc, scaled};
use crate::stacklet::*;

const NURSERY: usize = 64 << 10;
/// How many items arrays have that are marked in pieces.
const ITEMS: usize = scaled(100_000);

/// A list of that many nodes, which is old; the slot of its first one.
fn list(length: usize) -> usize {
    let slot = push(0);
    for i in 0..length {
        *root(slot) = node(i, *root(slot), 0);
    }
    unsafe { rpy_gc_collect() };
    slot
}

/// The node of a list before its last one.
fn last_but_one(mut n: usize) -> usize {
    while get(get(n, 2), 2) != 0 {
        n = get(n, 2);
    }
    n
}

/// One step of a major collection, with so little to do that nothing is over soon.
fn step() {
    step_of(1);
}

/// One with so many bytes to mark.
fn step_of(mut budget: isize) {
    unsafe {
        gc().minor_collection();
        gc().step_within_phase(&mut budget, true);
        gc().reuse_nursery(0);
    }
}

fn phase() -> Phase {
    unsafe { gc().phase }
}

/// Goes on until the collection that is under way is over.
fn finish() {
    while phase() != Phase::Waiting {
        step();
    }
}

/// Starts a collection that has reached the roots and little else.
fn start() {
    assert_eq!(phase(), Phase::Waiting);
    step();
    step();
    assert_eq!(phase(), Phase::Marking);
}

#[test]
fn a_white_object_is_found_where_it_was_stored_in_a_black_one() {
    let _heap = Heap::new(NURSERY, false);
    let far = list(50);
    let near = list(1);
    // The end of the list is white when the other one, the last root, is black.
    let before = last_but_one(*root(far));
    start();
    set_pointer(*root(near), 3, get(before, 2));
    set_pointer(before, 2, 0);
    finish();
    assert_eq!(get(get(*root(near), 3), 1), 0);
    // What died was used again.
    let kept = list(2000);
    assert_eq!(get(get(*root(near), 3), 1), 0);
    assert_eq!(get(*root(kept), 1), 1999);
}

#[test]
fn a_white_object_is_found_on_the_stack() {
    let _heap = Heap::new(NURSERY, false);
    let far = list(50);
    start();
    let last = last_but_one(*root(far));
    let kept = push(get(last, 2));
    set_pointer(last, 2, 0);
    finish();
    let _more = list(2000);
    assert_eq!(get(*root(kept), 1), 0);
}

#[test]
fn new_objects_stay_if_only_black_ones_refer_to_them() {
    let _heap = Heap::new(NURSERY, false);
    let _far = list(5000);
    let near = list(1);
    start();
    for i in 0..scaled(3000) {
        let n = node(i, get(*root(near), 3), 0);
        set_pointer(*root(near), 3, n);
        if i % 100 == 0 && phase() == Phase::Marking {
            step();
        }
    }
    finish();
    let mut n = get(*root(near), 3);
    for i in (0..scaled(3000)).rev() {
        assert_eq!(get(n, 1), i);
        n = get(n, 2);
    }
    assert_eq!(n, 0);
}

#[test]
fn cards_of_black_arrays_are_looked_at() {
    let _heap = Heap::new(NURSERY, false);
    let array = || unsafe { rpy_gc_malloc_varsize(ARRAY.info(), ITEMS, false) };
    let black = push(array());
    let white = push(array());
    let far = list(50);
    let last = ITEMS - 1;
    unsafe { writebarrier_array(*root(white), last) };
    set(*root(white), 2 + last, *root(far));
    *root(far) = 0;
    unsafe { rpy_gc_collect() };
    start();
    let slices = || unsafe { gc().slices.len() };
    while slices() < 2 {
        step();
    }
    while slices() == 2 {
        step();
    }
    let n = last_but_one(get(*root(white), 2 + last));
    let young = node(7, 0, 0);
    for (i, obj) in [(last, get(n, 2)), (300, young)] {
        unsafe { writebarrier_array(*root(black), i) };
        set(*root(black), 2 + i, obj);
    }
    set_pointer(n, 2, 0);
    finish();
    let _more = list(2000);
    assert_eq!(get(get(*root(black), 2 + last), 1), 0);
    assert_eq!(get(get(*root(black), 2 + 300), 1), 7);
}

#[test]
fn long_arrays_are_marked_in_pieces() {
    let _heap = Heap::new(NURSERY, false);
    let array = push(unsafe { rpy_gc_malloc_varsize(ARRAY.info(), ITEMS, false) });
    for i in 0..ITEMS {
        let n = node(i, 0, 0);
        unsafe { writebarrier_array(*root(array), i) };
        set(*root(array), 2 + i, n);
    }
    unsafe { rpy_gc_collect() };
    start();
    let mut steps = 0;
    while phase() == Phase::Marking {
        steps += 1;
        step();
    }
    assert!(steps > ITEMS / 2048, "{steps}");
    finish();
    let total: usize = (0..ITEMS).map(|i| get(get(*root(array), 2 + i), 1)).sum();
    assert_eq!(total, ITEMS * (ITEMS - 1) / 2);
    // It becomes shorter while it is marked.
    start();
    step();
    set(*root(array), 1, 10);
    finish();
    assert_eq!(get(get(*root(array), 2 + 9), 1), 9);
}

#[repr(C)]
struct Static {
    hash: i64,
    object: [usize; 4],
}

#[test]
fn static_objects_are_roots_from_their_first_store_on() {
    let _heap = Heap::new(NURSERY, false);
    let far = list(50);
    let data = Box::leak(Box::new(Static {
        hash: 12,
        object: [0; 4],
    }));
    let obj = data.object.as_mut_ptr().expose_provenance();
    set(obj, 0, &raw const *NODE.info() as usize | STATIC_FLAGS);
    start();
    let n = last_but_one(*root(far));
    set_pointer(obj, 2, get(n, 2));
    set_pointer(n, 2, 0);
    finish();
    let _more = list(2000);
    assert_eq!(get(get(obj, 2), 1), 0);
    assert_eq!(unsafe { rpy_gc_identityhash(obj) }, data.hash);
}

#[test]
fn large_objects_keep_their_hash_and_cards_while_they_are_marked() {
    let _heap = Heap::new(NURSERY, false);
    let array = push(unsafe { rpy_gc_malloc_varsize(ARRAY.info(), ITEMS, false) });
    let bytes = push(unsafe { rpy_gc_malloc_varsize(&BYTES, scaled(100_000), true) });
    let _far = list(500);
    let hashes = || [array, bytes].map(|slot| unsafe { rpy_gc_identityhash(*root(slot)) });
    let before = hashes();
    start();
    while phase() == Phase::Marking {
        step_of(100);
        assert_eq!(hashes(), before);
        let n = node(5, 0, 0);
        unsafe { writebarrier_array(*root(array), 3) };
        set(*root(array), 2 + 3, n);
    }
    assert_eq!(hashes(), before);
    finish();
    assert_eq!(get(get(*root(array), 2 + 3), 1), 5);
    assert_eq!(unsafe { gc().static_roots.len() }, 0);
}

#[test]
fn weak_references_are_read_while_marking() {
    let _heap = Heap::new(NURSERY, false);
    let far = list(50);
    let weak = push(unsafe { rpy_gc_weakref_create(*root(far)) });
    let lost = push(unsafe { rpy_gc_weakref_create(*root(far)) });
    // One refers to the first node, the other one to a node that dies.
    let n = node(1, 0, 0);
    let other = push(n);
    *root(lost) = unsafe { rpy_gc_weakref_create(*root(other)) };
    unsafe { rpy_gc_collect() };
    *root(far) = 0;
    *root(other) = 0;
    start();
    *root(far) = get(*root(weak), 1);
    finish();
    assert_eq!(get(*root(far), 1), 49);
    assert_eq!(get(*root(weak), 1), *root(far));
    assert_eq!(get(*root(lost), 1), 0);
}

/// Takes the last node off the list whose slot it is told, when it is switched to for the first
/// time, and keeps it.
unsafe extern "C" fn holder(mut from: usize, far: usize) -> usize {
    let slot = push(0);
    from = unsafe { rpy_stacklet_switch(from) };
    let before = unsafe { *(far as *const usize) };
    *root(slot) = get(before, 2);
    set_pointer(before, 2, 0);
    from = unsafe { rpy_stacklet_switch(from) };
    assert_eq!(get(*root(slot), 1), 0);
    pop();
    from
}

#[test]
#[cfg_attr(miri, ignore = "Miri knows no other machine stacks")]
fn stacks_that_ran_while_marking_are_looked_at_again() {
    let _heap = Heap::new(NURSERY, false);
    let far = list(50);
    let mut before = last_but_one(*root(far));
    let argument = &raw mut before as usize;
    let handle = push(unsafe { rpy_stacklet_new(holder, argument) });
    unsafe { rpy_gc_collect() };
    start();
    *root(handle) = unsafe { rpy_stacklet_switch(*root(handle)) };
    finish();
    let _more = list(2000);
    let last = unsafe { rpy_stacklet_switch(*root(handle)) };
    assert_eq!(unsafe { rpy_stacklet_is_empty(last) }, 1);
}

/// Whatever the program makes meanwhile is new to who looks at the roots, or to what was marked.
#[test]
fn marking_ends_though_everything_survives() {
    for in_old_object in [false, true] {
        let _heap = Heap::new(1 << 20, false);
        let kept = push(0);
        let old = list(1);
        let mut most = 0;
        for i in 0..scaled(500_000) {
            *root(kept) = node(i, *root(kept), 0);
            if in_old_object {
                set_pointer(*root(old), 3, *root(kept));
            }
            most = most.max(unsafe { gc().old_bytes() });
        }
        // One begins at 4 MB, and is over soon; the next one at no less than 1.82 times that.
        let count = unsafe { gc().major_collections };
        assert!((2..5).contains(&count), "{count} {most}");
    }
}

/// While the program goes through the nursery, marking goes on; and the heap does not grow
/// without end before a collection is over.
#[test]
fn steps_keep_up_with_the_program() {
    let _heap = Heap::new(256 << 10, false);
    let kept = list(scaled(50_000));
    let least = unsafe { gc().old_bytes() };
    let other = push(0);
    let mut most = 0;
    let mut busy = 0;
    for i in 0..scaled(1_000_000) {
        let before = if i % scaled(10_000) == 0 {
            0
        } else {
            *root(other)
        };
        *root(other) = node(i, before, 0);
        if phase() != Phase::Waiting {
            busy += 1;
            most = most.max(unsafe { gc().old_bytes() });
        }
    }
    assert!(busy > scaled(1000), "{busy}");
    assert!(unsafe { gc().major_collections } > 3);
    let threshold = least * 19 / 10 + scaled(256 << 10);
    assert!(
        most < threshold + threshold / MARKED_PER_OLD + scaled(768 << 10),
        "{most} {threshold}"
    );
    let mut n = *root(kept);
    for i in (0..scaled(50_000)).rev() {
        assert_eq!(get(n, 1), i);
        n = get(n, 2);
    }
}
