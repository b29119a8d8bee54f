//! Tests of the collectors other than the generational one.

#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "each test is one heap that nothing else uses"
)]

use std::sync::MutexGuard;
use std::sync::atomic::Ordering::Relaxed;

use super::api::{
    rpy_gc_collect, rpy_gc_fq_next_dead, rpy_gc_fq_register, rpy_gc_id, rpy_gc_identityhash,
    rpy_gc_malloc_fixed, rpy_gc_malloc_varsize, rpy_gc_weakref_create,
};
use super::header::STATIC_FLAGS;
use super::refcount::{rpy_gc_copy_counted, rpy_gc_decref, rpy_gc_incref};
use super::settings::Settings;
use super::shadow::ShadowTable;
use super::tests::{ARRAY, BYTES, FINALIZED, MORTAL, NODE, turn};
use super::{Collector, counted_objects, missing_library, scaled, setup_other, teardown};
use crate::threads::{give_way, rpy_thread_set_object, rpy_thread_start};

struct Heap(#[allow(dead_code)] MutexGuard<'static, ()>);

impl Heap {
    fn new(collector: Collector, stress: bool) -> Heap {
        let settings = Settings {
            stress,
            ..Settings::NONE
        };
        Heap::with(collector, &settings)
    }

    fn with(collector: Collector, settings: &Settings) -> Heap {
        let guard = turn();
        unsafe { setup_other(scaled(8 << 20), collector, settings) };
        Heap(guard)
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        unsafe { teardown() }
    }
}

/// A node that refers to two others, which it takes over.
fn node(a: usize, b: usize) -> usize {
    unsafe {
        let obj = rpy_gc_malloc_fixed(NODE.info());
        *((obj + 16) as *mut usize) = a;
        *((obj + 24) as *mut usize) = b;
        obj
    }
}

fn tree(depth: usize) -> usize {
    match depth {
        0 => node(0, 0),
        n => node(tree(n - 1), tree(n - 1)),
    }
}

fn target(weakref: usize) -> usize {
    unsafe { *((weakref + 8) as *const usize) }
}

#[test]
fn the_last_reference_frees_all() {
    for stress in [false, true] {
        let _heap = Heap::new(Collector::Ref, stress);
        let depth = if cfg!(miri) { 4 } else { 12 };
        let root = tree(depth);
        assert_eq!(counted_objects(), (2 << depth) - 1);
        unsafe {
            rpy_gc_incref(root);
            rpy_gc_decref(root);
            assert_eq!(counted_objects(), (2 << depth) - 1);
            rpy_gc_decref(root);
        }
        assert_eq!(counted_objects(), 0);
    }
}

#[test]
fn long_lists_are_freed_without_recursion() {
    let _heap = Heap::new(Collector::Ref, false);
    let mut list = 0;
    for _ in 0..scaled(1 << 20) {
        list = node(list, 0);
    }
    unsafe { rpy_gc_decref(list) };
    assert_eq!(counted_objects(), 0);
}

#[test]
fn memory_of_the_dead_is_used_again() {
    let _heap = Heap::new(Collector::Ref, false);
    unsafe {
        let small = node(0, 0);
        rpy_gc_decref(small);
        assert_eq!(node(0, 0), small);
        for length in [1, 100, 1000, 100_000] {
            let bytes = rpy_gc_malloc_varsize(&BYTES, length, true);
            assert_eq!(*((bytes + 8) as *const usize), length);
            assert_eq!(bytes % 8, 0);
            rpy_gc_decref(bytes);
        }
        assert_eq!(counted_objects(), 1);
    }
}

#[test]
fn counted_objects_tell_weak_references_and_finalizers() {
    for stress in [false, true] {
        let _heap = Heap::new(Collector::Ref, stress);
        unsafe {
            let before = FINALIZED.load(Relaxed);
            let mortal = mortal();
            let (first, second) = (rpy_gc_weakref_create(mortal), rpy_gc_weakref_create(mortal));
            // One goes before its target.
            rpy_gc_decref(first);
            assert_eq!(target(second), mortal);
            rpy_gc_decref(mortal);
            assert_eq!(target(second), 0);
            assert_eq!(FINALIZED.load(Relaxed), before + 1);
            rpy_gc_decref(second);
            assert_eq!(counted_objects(), 0);
        }
    }
}

/// A thread whose variable has the last reference to an object with a finalizer.
unsafe extern "C" fn keeper() {
    unsafe {
        let mortal = mortal();
        rpy_thread_set_object(2, mortal);
        rpy_gc_decref(mortal);
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri knows no attributes of threads")]
fn variables_of_threads_that_end_give_references_up() {
    let _heap = Heap::new(Collector::Ref, false);
    let before = FINALIZED.load(Relaxed);
    unsafe {
        assert!(rpy_thread_start(keeper) != -1);
        while FINALIZED.load(Relaxed) == before {
            give_way();
        }
        assert_eq!(counted_objects(), 0);
    }
}

unsafe extern "C" fn nothing() {}

#[test]
fn queues_have_a_reference_of_their_own() {
    let _heap = Heap::new(Collector::Ref, true);
    unsafe {
        let trigger = nothing as *const () as usize;
        let obj = node(0, 0);
        rpy_gc_fq_register(trigger, obj);
        rpy_gc_decref(obj);
        assert_eq!(counted_objects(), 1);
        assert_eq!(rpy_gc_fq_next_dead(trigger), obj);
        assert_eq!(rpy_gc_fq_next_dead(trigger), 0);
        rpy_gc_decref(obj);
        assert_eq!(counted_objects(), 0);
    }
}

#[test]
fn copies_of_items_are_counted() {
    let _heap = Heap::new(Collector::Ref, true);
    unsafe {
        let array = rpy_gc_malloc_varsize(ARRAY.info(), 4, true);
        let item = |i: usize| (array + 16 + i * 8) as *mut usize;
        for i in 0..4 {
            *item(i) = node(0, 0);
        }
        let second = *item(1);
        // Overlapping: 0 1 2 3 becomes 1 2 3 3.
        rpy_gc_copy_counted(array, array, 1, 0, 3);
        assert_eq!(*item(0), second);
        assert_eq!(counted_objects(), 4);
        rpy_gc_decref(array);
        assert_eq!(counted_objects(), 0);
    }
}

#[test]
fn tables_forget_what_is_taken_out() {
    let mut table = ShadowTable::new();
    // Many in few places, so that they get in each other's way.
    let keys: Vec<usize> = (1..200).map(|i| i * 8).collect();
    for k in &keys {
        table.insert(*k, k + 1);
    }
    for (i, k) in keys.iter().enumerate() {
        assert_eq!(table.remove(*k), Some(k + 1));
        assert_eq!(table.remove(*k), None);
        for other in &keys[i + 1..] {
            assert_eq!(table.get(*other), Some(other + 1));
        }
    }
    table.release();
}

#[test]
fn without_a_collector_everything_stays() {
    for stress in [false, true] {
        let _heap = Heap::new(Collector::None, stress);
        unsafe {
            let weakref = rpy_gc_weakref_create(tree(3));
            let big = rpy_gc_malloc_varsize(&BYTES, scaled(32 << 20), true);
            assert_eq!(*((big + 16) as *const u8), 0);
            for _ in 0..1000 {
                node(0, 0);
            }
            rpy_gc_collect();
            assert_ne!(target(weakref), 0);
            assert_eq!(rpy_gc_id(weakref), weakref as i64);
        }
    }
}

/// How many nodes of 32 bytes there are before the limit of the heap, and whether a large array has room
/// before that.
fn nodes_below(most_heap: usize, collector: Collector) -> (usize, bool) {
    let settings = Settings {
        most_heap: Some(most_heap),
        ..Settings::NONE
    };
    let _heap = Heap::with(collector, &settings);
    let large = unsafe { rpy_gc_malloc_varsize(&BYTES, most_heap, true) };
    let mut last = 0;
    for count in 0.. {
        let new = unsafe { rpy_gc_malloc_fixed(NODE.info()) };
        if new == 0 {
            return (count, large != 0);
        }
        unsafe { *((new + 16) as *mut usize) = last };
        last = new;
    }
    unreachable!()
}

#[test]
fn the_others_keep_the_limit_exactly() {
    // The second one takes several chunks.
    let limits = [100_000, 70 << 20];
    for most in &limits[..if cfg!(miri) { 1 } else { 2 }] {
        let most = *most;
        for collector in [Collector::Ref, Collector::None] {
            assert_eq!(
                nodes_below(most, collector),
                (most / 32, false),
                "{collector:?}"
            );
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "libgc is C code")]
fn libgc_keeps_the_limit() {
    if missing_library(Collector::Boehm).is_some() {
        // crates/taipan/tests/collectors.rs reports it.
        return;
    }
    // Other tests have had memory of the library, which it keeps.
    let most = 256 << 20;
    let (count, large) = nodes_below(most, Collector::Boehm);
    assert!(!large && count <= most / 32 && count > most / 64, "{count}");
}

#[test]
fn sizes_that_overflow_find_no_room() {
    for collector in [Collector::Ref, Collector::None] {
        let _heap = Heap::new(collector, false);
        for length in [usize::MAX, usize::MAX / 2, usize::MAX / 8] {
            assert_eq!(unsafe { rpy_gc_malloc_varsize(&BYTES, length, true) }, 0);
        }
        assert_ne!(node(0, 0), 0);
    }
}

/// An object whose finalizer counts one.
fn mortal() -> usize {
    unsafe {
        let obj = rpy_gc_malloc_fixed(&MORTAL);
        *((obj + 8) as *mut usize) = 1;
        obj
    }
}

/// What dies is found in memory that no stack mentions any more.
#[inline(never)]
fn dead_weakrefs(count: usize) -> Vec<usize> {
    // Hidden from the collector: the complement.
    let weakrefs = (0..count).map(|_| unsafe {
        let weakref = rpy_gc_weakref_create(node(0, 0));
        super::api::keep(weakref);
        !weakref
    });
    weakrefs.collect()
}

#[test]
#[cfg_attr(miri, ignore = "libgc is C code")]
fn libgc_finds_the_dead_and_keeps_the_living() {
    if let Some(what) = missing_library(Collector::Boehm) {
        // crates/taipan/tests/collectors.rs reports it.
        eprintln!("not tested: {what} is missing");
        return;
    }
    for stress in [false, true] {
        let _heap = Heap::new(Collector::Boehm, stress);
        unsafe {
            let alive = tree(6);
            let hash = rpy_gc_identityhash(alive);
            let before = FINALIZED.load(Relaxed);
            let weakrefs = dead_weakrefs(1000);
            for _ in 0..1000 {
                mortal();
            }
            rpy_gc_collect();
            // libgc is conservative: stale words on the stack keep some objects alive. Their number depends on
            // the generated code.
            let dead = weakrefs.iter().filter(|w| target(!**w) == 0).count();
            assert!(dead > 500, "{dead}");
            let finalized = FINALIZED.load(Relaxed) - before;
            assert!(finalized > 500, "{finalized}");
            assert_eq!(rpy_gc_identityhash(alive), hash);
            let mut obj = alive;
            for _ in 0..6 {
                obj = *((obj + 16) as *const usize);
                assert_eq!(*(obj as *const usize), &raw const *NODE.info() as usize);
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "libgc is C code")]
fn libgc_does_not_read_marks_of_null_and_static_targets() {
    if missing_library(Collector::Boehm).is_some() {
        // crates/taipan/tests/collectors.rs reports it.
        return;
    }
    let header = (&raw const *NODE.info() as usize) | STATIC_FLAGS;
    let object = &raw const *Box::leak(Box::new([header, 1, 0, 0])) as usize;
    let _heap = Heap::new(Collector::Boehm, false);
    unsafe {
        let [to_static, to_null] = [object, 0].map(|target| rpy_gc_weakref_create(target));
        rpy_gc_collect();
        assert_eq!([target(to_static), target(to_null)], [object, 0]);
    }
}
