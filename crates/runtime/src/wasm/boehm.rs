//! `--gc boehm` is not there: libgc is a library of the machine's own. What the collector asks of it.

use core::ops::Range;

use super::Obj;
use super::api::Failure;
use crate::exc;

pub(super) struct Boehm;

impl Boehm {
    pub(super) const fn new() -> Boehm {
        Boehm
    }
}

fn none() -> ! {
    exc::fatal(b"there is no libgc for WebAssembly")
}

pub(super) unsafe fn setup() {
    none()
}

/// What is missing.
pub(super) fn missing() -> Option<&'static str> {
    Some("libgc")
}

pub(super) unsafe fn add_static_data(_data: Range<usize>) {}

pub(super) unsafe fn teardown() {}

pub(super) fn set_most_heap(_most: Option<usize>) {}

pub(super) unsafe fn allocate(_size: usize, _has_pointers: bool, _failure: Failure) -> Obj {
    none()
}

pub(super) unsafe fn collect() {}

pub(super) unsafe fn register(_trigger: usize, _obj: Obj) {}

pub(super) unsafe fn register_link(_link: *mut usize, _target: Obj) {}
