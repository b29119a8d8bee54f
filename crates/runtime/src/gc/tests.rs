//! The collector on small hand-made heaps. Its state is process-wide, so the tests
//! take turns.

#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "each test is one heap that nothing else uses"
)]

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::api::*;
use super::header::{STATIC_FLAGS, TypeInfo};
use super::inspect::*;
use super::settings::Settings;
use super::{LARGE_OBJECT, gc, scaled, setup_with, teardown};
use crate::stacklet::*;
use crate::state::state;
use crate::threads::*;

/// How many items arrays have that are large.
const ITEMS: usize = scaled(10_000);

static TURN: Mutex<()> = Mutex::new(());

/// The turn of a test that has a heap.
pub(super) fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(|e| e.into_inner())
}

/// A heap of its own for one test.
pub(super) struct Heap(#[allow(dead_code)] MutexGuard<'static, ()>);

impl Heap {
    pub(super) fn new(nursery: usize, stress: bool) -> Heap {
        Heap::growing(nursery, nursery, stress)
    }

    fn growing(nursery: usize, most: usize, stress: bool) -> Heap {
        let settings = Settings {
            stress,
            ..Settings::NONE
        };
        Heap::with(nursery, most, &settings)
    }

    pub(super) fn with(nursery: usize, most: usize, settings: &Settings) -> Heap {
        let guard = turn();
        unsafe { setup_with(scaled(8 << 20), scaled(nursery), scaled(most), settings) };
        Heap(guard)
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        unsafe { teardown() }
    }
}

#[repr(C)]
pub(super) struct WithOffsets<const N: usize>(TypeInfo, [u32; N]);

impl<const N: usize> WithOffsets<N> {
    /// The record, by its address: whoever has that gets at the offsets too, as in programs.
    pub(super) fn info(&'static self) -> &'static TypeInfo {
        let at = (&raw const *self).expose_provenance();
        unsafe { &*core::ptr::with_exposed_provenance(at) }
    }
}

const fn info(fixed_size: u32, pointers: u32) -> TypeInfo {
    TypeInfo {
        fixed_size,
        item_size: 0,
        length_offset: 0,
        items_offset: 0,
        pointers,
        item_pointers: 0,
        kind: 0,
        heavy_finalizer: 0,
        finalizer: None,
        text: 0,
    }
}

/// header, value, left, right
pub(super) static NODE: WithOffsets<2> = WithOffsets(info(32, 2), [16, 24]);
/// header, length, pointers
pub(super) static ARRAY: WithOffsets<1> = WithOffsets(
    TypeInfo {
        item_size: 8,
        length_offset: 8,
        items_offset: 16,
        item_pointers: 1,
        ..info(16, 0)
    },
    [0],
);
/// header, length, bytes
pub(super) static BYTES: TypeInfo = TypeInfo {
    item_size: 1,
    length_offset: 8,
    items_offset: 16,
    ..info(16, 0)
};
/// header, hash, length, bytes and one more: `STR`
static TEXT: TypeInfo = TypeInfo {
    item_size: 1,
    length_offset: 16,
    items_offset: 24,
    ..info(25, 0)
};

#[test]
fn room_behind_the_last_item() {
    let sizes = [0, 7, 8, 15, 16].map(|n| TEXT.size_with(n).unwrap());
    assert_eq!(sizes, [32, 32, 40, 40, 48]);
    assert_eq!(BYTES.size_with(8), Some(24));
    assert_eq!(TEXT.size_with(usize::MAX - 20), None);
}

pub(super) static FINALIZED: AtomicUsize = AtomicUsize::new(0);
unsafe extern "C" fn count_finalized(obj: usize) {
    FINALIZED.fetch_add(get(obj, 1), Ordering::Relaxed);
}
pub(super) static MORTAL: TypeInfo = TypeInfo {
    finalizer: Some(count_finalized),
    ..info(16, 0)
};

/// header, value, another object
static PHOENIX: WithOffsets<1> = WithOffsets(
    TypeInfo {
        heavy_finalizer: 1,
        finalizer: Some(note_and_allocate),
        ..info(24, 1)
    },
    [16],
);
static NOTED: AtomicUsize = AtomicUsize::new(0);
/// Notes the values in the order of the calls, as decimal digits.
unsafe extern "C" fn note_and_allocate(obj: usize) {
    NOTED.store(
        NOTED.load(Ordering::Relaxed) * 10 + get(obj, 1),
        Ordering::Relaxed,
    );
    node(0, 0, 0);
}
unsafe extern "C" fn trigger() {
    NOTED.fetch_add(1000, Ordering::Relaxed);
}

pub(super) fn get(obj: usize, word: usize) -> usize {
    unsafe { *(obj as *const usize).add(word) }
}

pub(super) fn set(obj: usize, word: usize, value: usize) {
    unsafe { *(obj as *mut usize).add(word) = value }
}

pub(super) fn set_pointer(obj: usize, word: usize, value: usize) {
    unsafe { writebarrier(obj) };
    set(obj, word, value);
}

pub(super) fn push(obj: usize) -> usize {
    unsafe {
        let s = state();
        *(*s).root_stack_top = obj;
        (*s).root_stack_top = (*s).root_stack_top.add(1);
        (*s).root_stack_top as usize - gc().root_stack - 8
    }
}

pub(super) fn root(slot: usize) -> &'static mut usize {
    unsafe { &mut *((gc().root_stack + slot) as *mut usize) }
}

pub(super) fn pop() -> usize {
    unsafe {
        let s = state();
        (*s).root_stack_top = (*s).root_stack_top.sub(1);
        *(*s).root_stack_top
    }
}

pub(super) fn node(value: usize, left: usize, right: usize) -> usize {
    push(left);
    push(right);
    let n = unsafe { rpy_gc_malloc_fixed(NODE.info()) };
    set(n, 3, pop());
    set(n, 2, pop());
    set(n, 1, value);
    n
}

fn tree(depth: usize, next: &mut usize) -> usize {
    if depth == 0 {
        return 0;
    }
    let left = push(tree(depth - 1, next));
    let right = push(tree(depth - 1, next));
    *next += 1;
    let n = node(*next, *root(left), *root(right));
    pop();
    pop();
    n
}

fn sum(tree: usize) -> usize {
    if tree == 0 {
        return 0;
    }
    get(tree, 1) + sum(get(tree, 2)) + sum(get(tree, 3))
}

#[test]
fn trees_survive() {
    for (nursery, stress) in [(128 << 10, true), (64 << 10, false), (1 << 20, false)] {
        let _heap = Heap::new(nursery, stress);
        let smaller = if cfg!(miri) { 4 } else { 0 };
        let depth = if stress { 7 } else { 14 } - smaller;
        let (mut a, mut b) = (0, 0);
        let kept = push(tree(depth, &mut a));
        for _ in 0..20 {
            b = 0;
            let t = tree(depth, &mut b);
            assert_eq!(sum(t), b * (b + 1) / 2);
        }
        unsafe { rpy_gc_collect() };
        assert_eq!(a, b);
        assert_eq!(sum(*root(kept)), a * (a + 1) / 2);
        assert!(unsafe { gc().minor_collections } > 2);
    }
}

/// Lists that are somewhat shorter than the small nursery is large.
#[test]
fn the_nursery_grows_where_less_survives_then() {
    let _heap = Heap::growing(256 << 10, 1 << 20, false);
    let gc = || unsafe { gc() };
    let kept = push(0);
    for i in 0..scaled(100_000) {
        node(i, 0, 0);
    }
    assert!(gc().minor_collections > 5);
    assert_eq!(gc().nursery_size, scaled(256 << 10));
    let length = scaled(6_000);
    for _ in 0..if cfg!(miri) { 4 } else { 100 } {
        *root(kept) = 0;
        for i in 0..length {
            *root(kept) = node(i, *root(kept), 0);
        }
    }
    if !cfg!(miri) {
        assert!(gc().nursery_size > scaled(256 << 10));
    }
    let mut at = *root(kept);
    for i in (0..length).rev() {
        assert_eq!(get(at, 1), i);
        at = get(at, 2);
    }
}

/// Each size of objects has blocks of its own; what counts is what is in them.
#[test]
fn few_objects_of_many_sizes_are_little() {
    let _heap = Heap::growing(256 << 10, 1 << 20, false);
    let kept = push(unsafe { rpy_gc_malloc_varsize(ARRAY.info(), 12, true) });
    for i in 0..12 {
        let bytes = unsafe { rpy_gc_malloc_varsize(&BYTES, 8 * i, true) };
        set_pointer(*root(kept), 2 + i, bytes);
    }
    unsafe { rpy_gc_collect_minor() };
    let gc = unsafe { gc() };
    assert_eq!(gc.minor_collections, 1);
    assert!(gc.old_bytes() > 12 * scaled(60 << 10));
    assert_eq!(
        gc.survived,
        (0..12).map(|i| 16 + 8 * i).sum::<usize>() + 16 + 12 * 8
    );
    assert_eq!(gc.nursery_size, scaled(256 << 10));
}

#[test]
fn garbage_is_given_back() {
    let _heap = Heap::new(64 << 10, false);
    let kept = push(0);
    let rounds = if cfg!(miri) { 1 } else { 4 };
    for i in 0..rounds * scaled(100_000) {
        // Every list survives minor collections, then dies.
        let before = if i % scaled(5000) == 0 {
            0
        } else {
            *root(kept)
        };
        *root(kept) = node(i, before, 0);
    }
    let gc = unsafe { gc() };
    assert!(gc.major_collections > rounds);
    assert!(gc.old_bytes() < scaled(2 << 20), "{}", gc.old_bytes());
}

#[test]
fn old_objects_point_to_young_ones() {
    let _heap = Heap::new(64 << 10, true);
    let array = push(unsafe { rpy_gc_malloc_varsize(ARRAY.info(), 100, false) });
    unsafe { rpy_gc_collect() };
    for i in 0..100 {
        let n = node(i, 0, 0);
        set_pointer(*root(array), 2 + i, n);
    }
    unsafe { rpy_gc_collect() };
    let total: usize = (0..100).map(|i| get(get(*root(array), 2 + i), 1)).sum();
    assert_eq!(total, 4950);
}

#[test]
fn large_objects() {
    let _heap = Heap::new(64 << 10, false);
    let array = push(unsafe { rpy_gc_malloc_varsize(ARRAY.info(), ITEMS, false) });
    for i in 0..ITEMS {
        // Initialising stores need no barrier as long as nothing was collected.
        let n = node(i, 0, 0);
        set_pointer(*root(array), 2 + i, n);
    }
    for _ in 0..scaled(1000) {
        let b = unsafe { rpy_gc_malloc_varsize(&BYTES, scaled(100_000), true) };
        assert_eq!(get(b, 1), scaled(100_000));
    }
    let total: usize = (0..ITEMS).map(|i| get(get(*root(array), 2 + i), 1)).sum();
    assert_eq!(total, ITEMS * (ITEMS - 1) / 2);
    unsafe { rpy_gc_collect() };
    assert_eq!(unsafe { gc().large.bytes }, 16 + 8 * ITEMS);
}

fn bytes(length: usize) -> usize {
    unsafe { rpy_gc_malloc_varsize(&BYTES, length, false) }
}

#[test]
fn large_objects_that_die_young_are_freed_by_minor_collections() {
    let _heap = Heap::new(64 << 10, false);
    let size = scaled(100_000);
    let kept = push(bytes(size));
    bytes(size);
    let large = || unsafe { (gc().large.young_bytes, gc().large.bytes) };
    let each = (size + 16).next_multiple_of(8);
    assert_eq!(large(), (2 * each, 0));
    unsafe { rpy_gc_collect_minor() };
    assert_eq!(large(), (0, each));
    // They bring minor collections about, and no others.
    for _ in 0..1000 {
        bytes(size);
        assert!(large().0 <= scaled(4 << 20) + each && large().1 == each);
    }
    let gc = unsafe { gc() };
    assert!(gc.minor_collections > 20);
    assert_eq!(gc.major_collections, 0);
    assert_eq!(get(*root(kept), 1), size);
}

#[test]
fn young_large_objects_live_as_long_as_they_are_referred_to() {
    for stress in [false, true] {
        let _heap = Heap::new(64 << 10, stress);
        let array = || unsafe { rpy_gc_malloc_varsize(ARRAY.info(), ITEMS, false) };
        // By an old object, by one in the nursery, by another one, and by a card.
        let old = push(node(1, 0, 0));
        let cards = push(array());
        unsafe { rpy_gc_collect() };
        let large = array();
        set_pointer(*root(old), 2, large);
        let large = array();
        let young = push(node(2, large, 0));
        let outer = push(array());
        let inner = array();
        unsafe { writebarrier_array(*root(outer), 500) };
        set(*root(outer), 502, inner);
        let large = array();
        unsafe { writebarrier_array(*root(cards), 500) };
        set(*root(cards), 502, large);
        assert_eq!(unsafe { rpy_gc_id(large) }, large as i64);
        assert!(!unsafe { rpy_gc_can_move(large) });
        let get_all = || {
            let nested = get(*root(outer), 502);
            let (a, b) = (get(*root(old), 2), get(*root(young), 2));
            [a, b, nested, get(*root(cards), 502)]
        };
        // What they refer to lives, though stores need no barrier at first, and does after it.
        for round in 0..3 {
            for i in 0..4 {
                let n = node(round * 10 + i, 0, 0);
                set_pointer(get_all()[i], 2 + i, n);
            }
            unsafe { rpy_gc_collect_minor() };
            for (i, large) in get_all().into_iter().enumerate() {
                assert_eq!(get(large, 1), ITEMS);
                assert_eq!(get(get(large, 2 + i), 1), round * 10 + i);
            }
            assert_eq!(unsafe { gc().large.young_bytes }, 0);
        }
        assert_eq!(unsafe { gc().large.bytes }, 6 * (16 + 8 * ITEMS));
    }
}

#[test]
fn what_watches_a_large_object_sees_it_die_young() {
    static WIDE: TypeInfo = TypeInfo {
        finalizer: Some(count_finalized),
        ..info(LARGE_OBJECT as u32, 0)
    };
    let _heap = Heap::new(64 << 10, false);
    FINALIZED.store(0, Ordering::Relaxed);
    let wide = |value| {
        let obj = unsafe { rpy_gc_malloc_fixed(&WIDE) };
        set(obj, 1, value);
        obj
    };
    let kept = push(wide(1));
    let weak_kept = push(unsafe { rpy_gc_weakref_create(*root(kept)) });
    let weak_dead = push(unsafe { rpy_gc_weakref_create(wide(10)) });
    let flagged = bytes(LARGE_OBJECT);
    unsafe { rpy_gc_toggle_flag(flagged) };
    unsafe { rpy_gc_collect_minor() };
    assert_eq!(FINALIZED.load(Ordering::Relaxed), 10);
    assert_eq!(get(*root(weak_kept), 1), *root(kept));
    assert_eq!(get(*root(weak_dead), 1), 0);
    // What gets the same place does not get the flag.
    for _ in 0..10 {
        assert_eq!(unsafe { rpy_gc_flag(bytes(LARGE_OBJECT)) }, 0);
    }
    // Objects in a queue come out of it after major collections only.
    let queue = trigger as *const () as usize;
    let queued = bytes(LARGE_OBJECT);
    unsafe {
        rpy_gc_fq_register(queue, queued);
        rpy_gc_collect_minor();
        assert_eq!(rpy_gc_fq_next_dead(queue), 0);
        rpy_gc_collect();
        assert_eq!(rpy_gc_fq_next_dead(queue), queued);
    }
    *root(kept) = 0;
    unsafe { rpy_gc_collect_minor() };
    assert_eq!(FINALIZED.load(Ordering::Relaxed), 10);
    unsafe { rpy_gc_collect() };
    assert_eq!(FINALIZED.load(Ordering::Relaxed), 11);
}

#[test]
fn young_large_objects_can_be_kept_for_good() {
    let _heap = Heap::new(64 << 10, false);
    let large = bytes(LARGE_OBJECT);
    assert_eq!(unsafe { keep(large) }, large);
    unsafe { rpy_gc_collect() };
    assert_eq!(get(large, 1), LARGE_OBJECT);
    assert_eq!(unsafe { gc().large.bytes }, LARGE_OBJECT + 16);
}

#[test]
fn big_arrays_have_cards() {
    let _heap = Heap::new(64 << 10, false);
    let array = push(unsafe { rpy_gc_malloc_varsize(ARRAY.info(), ITEMS, false) });
    unsafe { rpy_gc_collect() };
    let mut expected = vec![0; ITEMS];
    let mut x = 1usize;
    for round in 0..scaled(40_000) {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let i = (x >> 33) % ITEMS;
        let n = node(round, 0, 0);
        unsafe { writebarrier_array(*root(array), i) };
        set(*root(array), 2 + i, n);
        expected[i] = round;
        assert!(unsafe { gc().remembered.len() } == 0);
    }
    unsafe { rpy_gc_collect() };
    for (i, value) in expected.into_iter().enumerate() {
        let n = get(*root(array), 2 + i);
        assert_eq!(if n == 0 { 0 } else { get(n, 1) }, value);
    }
    // A barrier for the whole goes together with one for an item.
    let n = push(node(1, 0, 0));
    unsafe { writebarrier_array(*root(array), ITEMS - 1) };
    set_pointer(*root(array), 1 + ITEMS, *root(n));
    set_pointer(*root(array), 2, *root(n));
    unsafe { rpy_gc_collect() };
    assert_eq!(get(get(*root(array), 1 + ITEMS), 1), 1);
    assert_eq!(get(get(*root(array), 2), 1), 1);
}

#[test]
fn static_objects_become_roots_when_written() {
    #[repr(C, align(16))]
    struct Static([usize; 6]);
    let _heap = Heap::new(64 << 10, true);
    let mut data = Static([0; 6]);
    // All of it: the words around the object are its own.
    let obj = &raw mut data as usize + 16;
    set(obj - 8, 0, 4711);
    set(obj, 0, &raw const NODE as usize | STATIC_FLAGS);
    let n = node(7, 0, 0);
    set_pointer(obj, 2, n);
    unsafe { rpy_gc_collect() };
    for i in 0..10 {
        let n = node(i, get(obj, 3), 0);
        set_pointer(obj, 3, n);
    }
    unsafe { rpy_gc_collect() };
    assert_eq!((sum(get(obj, 2)), sum(get(obj, 3))), (7, 45));
    assert_eq!(unsafe { rpy_gc_identityhash(obj) }, 4711);
    assert_eq!(unsafe { gc().static_roots.len() }, 1);
}

#[test]
fn identity_is_stable() {
    for stress in [false, true] {
        let _heap = Heap::new(64 << 10, stress);
        let mut seen = HashMap::new();
        for i in 0..200 {
            let slot = push(if i % 2 == 0 {
                node(i, 0, 0)
            } else {
                unsafe { rpy_gc_malloc_varsize(&BYTES, 10 * i, true) }
            });
            let obj = *root(slot);
            unsafe {
                assert!(rpy_gc_can_move(obj));
                let (id, hash) = (rpy_gc_id(obj), rpy_gc_identityhash(obj));
                assert_eq!(rpy_gc_id(obj), id);
                assert!(seen.insert(id, (slot, hash)).is_none());
            }
        }
        // Dead ones whose place was reserved for nothing.
        for i in 0..200 {
            let n = unsafe { rpy_gc_malloc_varsize(&BYTES, 10 * i, true) };
            unsafe { rpy_gc_id(n) };
        }
        for _ in 0..2 {
            unsafe { rpy_gc_collect() };
            #[expect(clippy::iter_over_hash_type, reason = "each is looked at by itself")]
            for (id, (slot, hash)) in &seen {
                let obj = *root(*slot);
                unsafe {
                    assert!(!rpy_gc_can_move(obj));
                    assert_eq!((rpy_gc_id(obj), rpy_gc_identityhash(obj)), (*id, *hash));
                }
            }
        }
    }
}

#[test]
fn weak_references_do_not_keep_alive() {
    let _heap = Heap::new(64 << 10, false);
    let kept = push(node(1, 0, 0));
    let weak_kept = push(unsafe { rpy_gc_weakref_create(*root(kept)) });
    let n = node(2, 0, 0);
    let weak_dead = push(unsafe { rpy_gc_weakref_create(n) });
    let later = push(node(3, 0, 0));
    let weak_later = push(unsafe { rpy_gc_weakref_create(*root(later)) });
    unsafe { rpy_gc_collect() };
    assert_eq!(get(*root(weak_kept), 1), *root(kept));
    assert_eq!(get(*root(weak_dead), 1), 0);
    assert_eq!(get(*root(weak_later), 1), *root(later));
    *root(later) = 0;
    unsafe { rpy_gc_collect() };
    assert_eq!(get(*root(weak_kept), 1), *root(kept));
    assert_eq!(get(*root(weak_later), 1), 0);
}

#[test]
fn finalizers_run_once() {
    let _heap = Heap::new(64 << 10, false);
    FINALIZED.store(0, Ordering::Relaxed);
    let mortal = |value| {
        let obj = unsafe { rpy_gc_malloc_fixed(&MORTAL) };
        set(obj, 1, value);
        obj
    };
    let kept = push(mortal(1));
    mortal(10);
    let old = push(mortal(100));
    unsafe { rpy_gc_collect() };
    assert_eq!(FINALIZED.load(Ordering::Relaxed), 10);
    *root(old) = 0;
    unsafe { rpy_gc_collect() };
    unsafe { rpy_gc_collect() };
    assert_eq!(FINALIZED.load(Ordering::Relaxed), 110);
    assert_eq!(get(*root(kept), 1), 1);
}

#[test]
fn heavy_finalizers_run_after_collections() {
    let _heap = Heap::new(64 << 10, false);
    NOTED.store(0, Ordering::Relaxed);
    let make = |value, other| {
        let slot = push(other);
        let obj = unsafe { rpy_gc_malloc_fixed(PHOENIX.info()) };
        set(obj, 1, value);
        set(obj, 2, *root(slot));
        pop();
        obj
    };
    let last = make(3, 0);
    let middle = make(2, last);
    make(1, middle);
    make(4, 0);
    let cycle = push(make(9, 0));
    let other = make(8, *root(cycle));
    set_pointer(*root(cycle), 2, other);
    pop();
    for order in [149, 14_928, 149_283, 149_283] {
        unsafe { rpy_gc_collect() };
        assert_eq!(NOTED.load(Ordering::Relaxed), order);
    }
}

#[test]
fn finalizer_queues() {
    let _heap = Heap::new(64 << 10, false);
    NOTED.store(0, Ordering::Relaxed);
    let queue = trigger as *const () as usize;
    let kept = push(node(1, 0, 0));
    unsafe {
        rpy_gc_fq_register(queue, *root(kept));
        rpy_gc_fq_register(queue, node(2, 0, 0));
        let held = push(node(3, 0, 0));
        let holder = node(4, *root(held), 0);
        rpy_gc_fq_register(queue, holder);
        rpy_gc_fq_register(queue, pop());
        assert_eq!(rpy_gc_fq_next_dead(queue), 0);
        rpy_gc_collect();
        assert_eq!(NOTED.load(Ordering::Relaxed), 1000);
        assert_eq!(get(rpy_gc_fq_next_dead(queue), 1), 2);
        let holder = rpy_gc_fq_next_dead(queue);
        assert_eq!((get(holder, 1), get(get(holder, 2), 1)), (4, 3));
        assert_eq!(rpy_gc_fq_next_dead(queue), 0);
        rpy_gc_collect();
        assert_eq!(get(rpy_gc_fq_next_dead(queue), 1), 3);
        rpy_gc_collect();
        assert_eq!(rpy_gc_fq_next_dead(queue), 0);
    }
    assert_eq!(get(*root(kept), 1), 1);
}

/// Keeps a tree alive on its own shadow stack while others run and collect, and writes
/// down its sum in the argument.
unsafe extern "C" fn gardener(mut from: usize, argument: usize) -> usize {
    let mut n = 0;
    let kept = push(tree(6, &mut n));
    for _ in 0..3 {
        from = unsafe { rpy_stacklet_switch(from) };
        unsafe { rpy_gc_collect() };
    }
    unsafe { *(argument as *mut usize) += sum(*root(kept)) };
    pop();
    from
}

#[test]
#[cfg_attr(miri, ignore = "Miri knows no other machine stacks")]
fn stacklets_have_roots_of_their_own() {
    for stress in [true, false] {
        let _heap = Heap::new(128 << 10, stress);
        let mut total = 0usize;
        let argument = &raw mut total as usize;
        let mut handles = [0; 5];
        for h in &mut handles {
            // Handles never move.
            *h = unsafe { rpy_stacklet_new(gardener, argument) };
            push(*h);
        }
        let lost = unsafe { rpy_stacklet_new(gardener, argument) };
        assert_eq!(unsafe { rpy_stacklet_is_empty(lost) }, 0);
        let mut n = 0;
        for _ in 0..3 {
            for h in &mut handles {
                tree(6, &mut n);
                *h = unsafe { rpy_stacklet_switch(*h) };
            }
        }
        for h in handles {
            assert_eq!(unsafe { rpy_stacklet_is_empty(h) }, 1);
            pop();
        }
        assert_eq!(total, 5 * (63 * 64 / 2));
    }
}

static FINISHED: AtomicUsize = AtomicUsize::new(0);

/// Keeps a tree alive on the shadow stack of its thread while others run and collect.
unsafe extern "C" fn forester() {
    let mut n = 0;
    unsafe { rpy_thread_set_object(3, node(7, 0, 0)) };
    let kept = push(tree(6, &mut n));
    for _ in 0..3 {
        give_way();
        unsafe { rpy_gc_collect() };
    }
    assert_eq!(sum(*root(kept)), 63 * 64 / 2);
    assert_eq!(get(unsafe { rpy_thread_object(3) }, 1), 7);
    pop();
    FINISHED.fetch_add(1, Ordering::Relaxed);
}

#[test]
#[cfg_attr(miri, ignore = "Miri knows no attributes of threads")]
fn threads_have_roots_of_their_own() {
    for stress in [true, false] {
        let _heap = Heap::new(128 << 10, stress);
        FINISHED.store(0, Ordering::Relaxed);
        let mut n = 0;
        let kept = push(tree(6, &mut n));
        for _ in 0..5 {
            assert!(unsafe { rpy_thread_start(forester) } != -1);
            tree(6, &mut n);
        }
        while FINISHED.load(Ordering::Relaxed) < 5 {
            tree(3, &mut n);
            give_way();
        }
        assert_eq!(holder(), ident());
        assert_eq!(unsafe { rpy_thread_object(3) }, 0);
        assert_eq!(sum(*root(kept)), 63 * 64 / 2);
        pop();
    }
}

#[test]
fn the_heap_can_be_looked_at() {
    let _heap = Heap::new(128 << 10, false);
    let list = push(unsafe { rpy_gc_malloc_varsize(ARRAY.info(), 2, true) });
    let leaf = push(node(1, 0, 0));
    let top = push(node(2, *root(leaf), 0));
    let look = |obj| unsafe { rpy_gc_referents(obj, *root(list)) };
    assert_eq!((look(*root(top)), look(*root(leaf))), (1, 0));
    assert_eq!(get(*root(list), 2), *root(leaf));
    // More than there is room for: all are counted.
    assert_eq!(unsafe { rpy_gc_roots(*root(list)) }, 3);
    unsafe {
        assert_eq!(rpy_gc_size(*root(top)), 32);
        assert_eq!(rpy_gc_is_instance(*root(top)), 0);
        let number = rpy_gc_type_number(*root(top));
        assert_eq!(number, rpy_gc_type_number(*root(leaf)));
        assert_ne!(number, rpy_gc_type_number(*root(list)));
    }
}

#[test]
fn flags_stay_with_their_objects() {
    let _heap = Heap::new(128 << 10, false);
    let (a, b) = (push(node(1, 0, 0)), push(node(2, 0, 0)));
    let flags = || unsafe { (rpy_gc_flag(*root(a)), rpy_gc_flag(*root(b))) };
    assert_eq!(flags(), (0, 0));
    unsafe {
        rpy_gc_toggle_flag(*root(a));
        rpy_gc_toggle_flag(*root(b));
        rpy_gc_toggle_flag(*root(b));
    }
    assert_eq!(flags(), (1, 0));
    unsafe { rpy_gc_collect() };
    assert_eq!(flags(), (1, 0));
    // What gets the place of a dead object does not get its flag.
    *root(a) = 0;
    unsafe { rpy_gc_collect() };
    *root(a) = *root(b);
    let n = push(node(3, 0, 0));
    unsafe { rpy_gc_collect() };
    assert_eq!(unsafe { rpy_gc_flag(*root(n)) }, 0);
}
