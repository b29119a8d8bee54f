//! Links to PyObjects, on small hand-made heaps.

#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "each test is one heap that nothing else uses"
)]

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::api::*;
use super::control::collect_step;
use super::rawrefcount::*;
use super::tests::{ARRAY, BYTES, Heap, get, node, pop, push, root, set_pointer};
use super::{LARGE_OBJECT, gc, scaled};
use crate::sys;

static CALLS: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn trigger() {
    CALLS.fetch_add(1, Relaxed);
}

/// How often the program was called back since the last time.
fn calls() -> usize {
    CALLS.swap(0, Relaxed)
}

fn heap(stress: bool) -> Heap {
    let heap = Heap::new(64 << 10, stress);
    unsafe { rpy_gc_rawrefcount_init(trigger as *const () as usize) };
    calls();
    heap
}

/// A PyObject: its count and its link are its words.
fn pyobject(count: i64) -> usize {
    let ob = unsafe { sys::malloc(24) } as usize;
    super::tests::set(ob, 0, count as usize);
    super::tests::set(ob, 1, 0);
    ob
}

fn add(ob: usize, references: i64) {
    super::tests::set(ob, 0, get(ob, 0).wrapping_add(references as usize));
}

fn count(ob: usize) -> i64 {
    get(ob, 0) as i64
}

fn free(ob: usize) {
    unsafe { sys::free(ob as *mut _) }
}

fn minor() {
    unsafe { rpy_gc_collect_minor() }
}

fn major() {
    unsafe { rpy_gc_collect() }
}

fn to_obj(ob: usize) -> usize {
    unsafe { rpy_gc_rawrefcount_to_obj(ob) }
}

fn from_obj(obj: usize) -> usize {
    unsafe { rpy_gc_rawrefcount_from_obj(obj) }
}

fn next_dead() -> usize {
    unsafe { rpy_gc_rawrefcount_next_dead() }
}

fn link_pypy(obj: usize, count: i64) -> usize {
    let ob = pyobject(count);
    unsafe { rpy_gc_rawrefcount_create_link_pypy(obj, ob) };
    ob
}

fn link_pyobj(obj: usize) -> usize {
    let ob = pyobject(FROM_PYPY);
    unsafe { rpy_gc_rawrefcount_create_link_pyobj(obj, ob) };
    ob
}

/// A node in the nursery, an old one, a young large array, or an old one.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Made {
    Young,
    Old,
    YoungLarge,
    OldLarge,
}

const ALL: [Made; 4] = [Made::Young, Made::Old, Made::YoungLarge, Made::OldLarge];

/// An object that nothing refers to.
fn made(how: Made) -> usize {
    let obj = match how {
        Made::Young | Made::Old => node(42, 0, 0),
        Made::YoungLarge | Made::OldLarge => unsafe {
            rpy_gc_malloc_varsize(&BYTES, LARGE_OBJECT, true)
        },
    };
    if matches!(how, Made::Young | Made::YoungLarge) {
        return obj;
    }
    push(obj);
    minor();
    pop()
}

fn no_links() {
    let gc = unsafe { gc() };
    let lists = gc.links.lengths();
    assert_eq!(lists, [0; 4]);
}

#[test]
fn pyobjects_and_objects_find_each_other() {
    let _heap = heap(false);
    for how in ALL {
        let obj = made(how);
        assert_eq!(from_obj(obj), 0);
        let ob = link_pypy(obj, FROM_PYPY_LIGHT);
        assert_eq!((from_obj(obj), to_obj(ob)), (ob, obj));
        let other = node(1, 0, 0);
        let pyobj = link_pyobj(other);
        assert_eq!((from_obj(other), to_obj(pyobj)), (0, other));
        let none = pyobject(1);
        assert_eq!(to_obj(none), 0);
        free(none);
        minor();
        assert_eq!(to_obj(pyobj), 0);
        assert_eq!(next_dead(), pyobj);
        free(pyobj);
        major();
    }
    no_links();
}

#[test]
fn references_of_c_keep_objects_alive() {
    let _heap = heap(false);
    for (how, worth) in ALL
        .into_iter()
        .flat_map(|how| [(how, FROM_PYPY), (how, FROM_PYPY_LIGHT)])
    {
        let ob = link_pypy(made(how), worth);
        add(ob, 1);
        for collect in [minor, major, minor, major] {
            collect();
            let obj = to_obj(ob);
            assert_eq!((from_obj(obj), count(ob)), (ob, worth + 1), "{how:?}");
        }
        add(ob, -1);
        minor();
        assert_ne!(to_obj(ob), 0, "old objects outlive minor collections");
        assert_eq!(calls(), 0);
        major();
        no_links();
        if worth == FROM_PYPY {
            assert_eq!(calls(), 1, "{how:?}");
            assert_eq!((count(ob), to_obj(ob)), (1, 0));
            assert_eq!(next_dead(), ob);
            free(ob);
        }
        assert_eq!((next_dead(), next_dead(), calls()), (0, 0, 0));
    }
}

#[test]
fn references_of_objects_keep_links() {
    let _heap = heap(false);
    for how in ALL {
        let slot = push(made(how));
        let ob = link_pypy(*root(slot), FROM_PYPY);
        let pyobj = link_pyobj(*root(slot));
        for collect in [minor, major, minor] {
            collect();
            assert_eq!(to_obj(ob), *root(slot));
            assert_eq!(to_obj(pyobj), *root(slot));
            assert_eq!(from_obj(*root(slot)), ob);
        }
        assert_eq!((next_dead(), calls()), (0, 0));
        pop();
        major();
        assert_eq!(calls(), 1, "one call for all");
        let dead = [next_dead(), next_dead(), next_dead()];
        assert_eq!(dead, [ob, pyobj, 0]);
        no_links();
        free(ob);
        free(pyobj);
    }
}

#[test]
fn young_objects_die_at_once() {
    let _heap = heap(false);
    for how in [Made::Young, Made::YoungLarge] {
        link_pypy(made(how), FROM_PYPY_LIGHT);
        minor();
        no_links();
        assert_eq!((next_dead(), calls()), (0, 0));
        let ob = link_pypy(made(how), FROM_PYPY);
        minor();
        no_links();
        assert_eq!((next_dead(), calls()), (ob, 1));
        free(ob);
    }
}

#[test]
fn references_of_c_to_o_links_keep_the_pyobject_only() {
    let _heap = heap(false);
    for how in ALL {
        let ob = link_pyobj(made(how));
        add(ob, 1);
        minor();
        if matches!(how, Made::Old | Made::OldLarge) {
            assert_ne!(to_obj(ob), 0);
            major();
        }
        assert_eq!((count(ob), to_obj(ob)), (1, 0));
        assert_eq!((next_dead(), calls()), (0, 0));
        no_links();
        free(ob);
    }
}

#[test]
fn linked_objects_keep_others_alive() {
    let _heap = heap(false);
    let ob = link_pypy(node(1, 0, 0), FROM_PYPY);
    add(ob, 1);
    let left = node(7, 0, 0);
    set_pointer(to_obj(ob), 2, left);
    minor();
    assert_eq!(get(get(to_obj(ob), 2), 1), 7);
    let right = node(8, 0, 0);
    set_pointer(to_obj(ob), 3, right);
    major();
    assert_eq!(get(get(to_obj(ob), 3), 1), 8);
    add(ob, -1);
    major();
    assert_eq!(next_dead(), ob);
    free(ob);
}

#[test]
fn weak_references_see_links() {
    let _heap = heap(false);
    let ob = link_pypy(node(1, 0, 0), FROM_PYPY_LIGHT);
    add(ob, 1);
    let slot = push(unsafe { rpy_gc_weakref_create(to_obj(ob)) });
    minor();
    major();
    assert_eq!(get(*root(slot), 1), to_obj(ob));
    add(ob, -1);
    major();
    assert_eq!(get(*root(slot), 1), 0);
}

#[test]
fn a_marker_is_returned_for_what_is_being_freed() {
    let _heap = heap(false);
    let slot = push(node(1, 0, 0));
    minor();
    let ob = pyobject(1);
    unsafe { rpy_gc_rawrefcount_mark_deallocating(*root(slot), ob) };
    major();
    assert_eq!(to_obj(ob), *root(slot));
    free(ob);
}

#[test]
fn links_change_while_a_collection_is_under_way() {
    let _heap = heap(false);
    let slot = push(unsafe { rpy_gc_malloc_varsize(ARRAY.info(), 64, true) });
    let mut held = Vec::new();
    for i in 0..64 {
        let obj = node(i, 0, 0);
        set_pointer(*root(slot), 2 + i, obj);
        let ob = link_pypy(obj, FROM_PYPY);
        held.push(ob);
    }
    minor();
    let steps = scaled(2000);
    for i in 0..steps {
        let ob = held[i % 64];
        match i / 64 % 4 {
            // C takes over the only reference, and gives it back.
            0 if get(*root(slot), 2 + i % 64) != 0 => {
                add(ob, 1);
                set_pointer(*root(slot), 2 + i % 64, 0);
            }
            2 if count(ob) == FROM_PYPY + 1 => {
                set_pointer(*root(slot), 2 + i % 64, to_obj(ob));
                add(ob, -1);
            }
            _ => {
                node(i, 0, 0);
            }
        }
        if i % 8 == 0 {
            collect_step();
        }
        assert_eq!(get(to_obj(ob), 1), i % 64);
        assert_eq!(from_obj(to_obj(ob)), ob);
    }
    assert_eq!((next_dead(), calls()), (0, 0));
    for ob in &held {
        if count(*ob) != FROM_PYPY {
            add(*ob, -1);
        }
    }
    *root(slot) = 0;
    // An object that was reached before is alive for the collection under way.
    major();
    major();
    let mut dead: Vec<usize> =
        core::iter::from_fn(|| Some(next_dead()).filter(|ob| *ob != 0)).collect();
    assert!(calls() > 0);
    dead.sort();
    held.sort();
    assert_eq!(dead, held);
    held.into_iter().for_each(free);
    no_links();
}

#[test]
fn stress() {
    let _heap = heap(true);
    let mut all = Vec::new();
    for i in 0..scaled(400) {
        let slot = push(node(i, 0, 0));
        let ob = link_pypy(*root(slot), FROM_PYPY);
        add(ob, i64::from(i % 3 == 0));
        all.push(ob);
        node(0, 0, 0);
        assert_eq!((to_obj(ob), from_obj(*root(slot))), (*root(slot), ob));
        pop();
    }
    for (i, ob) in all.iter().enumerate().filter(|(i, _)| i % 3 == 0) {
        assert_eq!(get(to_obj(*ob), 1), i);
        add(*ob, -1);
    }
    major();
    major();
    for _ in 0..all.len() {
        free(next_dead());
    }
    assert_eq!(next_dead(), 0);
    no_links();
}
