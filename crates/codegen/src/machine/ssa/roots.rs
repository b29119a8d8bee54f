//! The frame of roots on the shadow stack, write barriers, counts of references, and identity hashes.

use taipan_lltype::LLOperand;

use super::super::{Access, Bad, Binary, Cond, Instructions, Objects, Rare, Ty};
use super::{compare_with, displaced, with_constant};
use crate::abi::{self, state};
use crate::{RootsFrame, runtime};

pub(super) fn enter<M: Instructions>(m: &mut M, frame: RootsFrame) {
    m.enter_frame(frame);
    let base = m.load_state(state::ROOT_STACK_TOP, Ty::Ptr);
    m.set_roots_base(&base);
    let top = displaced(m, &base, frame.size());
    m.store_state(state::ROOT_STACK_TOP, &top);
}

pub(super) fn leave<M: Instructions>(m: &mut M) -> Result<(), Bad> {
    m.roots().ok_or("no roots frame was entered")?;
    let base = m.roots_base();
    m.store_state(state::ROOT_STACK_TOP, &base);
    Ok(())
}

pub(super) fn save<M: Instructions>(m: &mut M, slot: i64, root: &LLOperand) -> Result<(), Bad> {
    let base = m.roots_base();
    let v = m.pointer(root)?;
    m.store_at(&Access::ROOTS, &v, &base, RootsFrame::offset(slot));
    Ok(())
}

pub(super) fn restore<M: Instructions>(m: &mut M, slot: i64) -> M::Value {
    let base = m.roots_base();
    m.load_at(Ty::Ptr, &Access::ROOTS, &base, RootsFrame::offset(slot))
}

pub(super) fn write_barrier<M: Instructions>(
    m: &mut M,
    object: &M::Value,
    index: Option<&M::Value>,
) {
    let header = m.load_at(Ty::I8, &Access::HEAP, object, 0);
    let tracked = with_constant(m, Binary::And, &header, abi::TRACK);
    let tracked = m.bit(&tracked);
    let (slow, next) = (m.cold_block("barrier"), m.block("next"));
    m.branch(&tracked, &slow, &next, Rare::First);
    m.start(&slow);
    match index {
        Some(i) => {
            let args = [object.clone(), i.clone()];
            m.call_slow(runtime::SLOW_WRITEBARRIER_ARRAY, &args);
        }
        None => m.call_slow(runtime::SLOW_WRITEBARRIER, std::slice::from_ref(object)),
    }
    m.jump(&next);
    m.start(&next);
}

/// Counts a new reference to an object.
pub(super) fn incref<M: Instructions>(m: &mut M, object: &M::Value) {
    let next = m.block("next");
    let count = count_of(m, object, &next);
    let more = with_constant(m, Binary::Add, &count, 1);
    m.store_at(&Access::HEAP, &more, object, abi::COUNT.into());
    m.jump(&next);
    m.start(&next);
}

/// Counts a reference that is gone. The runtime handles the last one.
pub(super) fn decref<M: Instructions>(m: &mut M, object: &M::Value) {
    let next = m.block("next");
    let count = count_of(m, object, &next);
    let (less, last) = (m.block("less"), m.cold_block("last"));
    let others = compare_with(m, Cond::Gt, true, &count, 1);
    m.branch(&others, &less, &last, Rare::Second);
    m.start(&last);
    m.call_slow(runtime::SLOW_DECREF, std::slice::from_ref(object));
    m.jump(&next);
    m.start(&less);
    let fewer = with_constant(m, Binary::Add, &count, -1);
    m.store_at(&Access::HEAP, &fewer, object, abi::COUNT.into());
    m.jump(&next);
    m.start(&next);
}

/// The number of references to an object; null and objects that are not counted lead to another block.
fn count_of<M: Instructions>(m: &mut M, object: &M::Value, other: &M::Block) -> M::Value {
    let (there, counted) = (m.block("there"), m.block("counted"));
    let is_there = m.bit(object);
    m.branch(&is_there, &there, other, Rare::None);
    m.start(&there);
    let header = m.load_at(Ty::I8, &Access::HEAP, object, 0);
    let outside = with_constant(m, Binary::And, &header, abi::OUTSIDE);
    let outside = m.bit(&outside);
    m.branch(&outside, other, &counted, Rare::None);
    m.start(&counted);
    m.load_at(Ty::I64, &Access::HEAP, object, abi::COUNT.into())
}

/// That of a small old object, which most keys of dicts are, is made of its address (`rpy_gc_identityhash` of the
/// runtime).
pub(super) fn identity_hash<M: Instructions>(m: &mut M, object: &M::Value) -> M::Value {
    let (there, old) = (m.block("there"), m.block("old"));
    let (other, mut done) = (m.cold_block("other"), m.join("done", Ty::I64));
    let is_there = m.bit(object);
    m.branch(&is_there, &there, &other, Rare::Second);
    m.start(&there);
    let header = m.load_at(Ty::I8, &Access::HEAP, object, 0);
    let mask = abi::TRACK | abi::MARKED_OR_OUTSIDE;
    let kind = with_constant(m, Binary::And, &header, mask);
    let small = compare_with(m, Cond::Eq, false, &kind, abi::TRACK);
    m.branch(&small, &old, &other, Rare::Second);
    m.start(&old);
    let number = m.as_type(object, Ty::I64);
    let low = with_constant(m, Binary::LShr, &number, 4);
    let mixed = m.binary(Binary::Xor, &number, &low);
    m.jump_to_join(&mut done, &mixed);
    m.start(&other);
    let found = m.call_runtime(runtime::GC_IDENTITYHASH, std::slice::from_ref(object));
    let found = found.unwrap_or(mixed);
    m.jump_to_join(&mut done, &found);
    m.start_join(done)
}
