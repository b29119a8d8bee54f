//! There are no stacklets: WebAssembly lets nobody change stacks. What the collector asks of them.

/// No roots.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn visit_fresh(_visit: impl FnMut(*mut usize)) {}

/// No roots.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn visit_all(_visit: impl FnMut(*mut usize)) {}

/// No roots.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn forget_visits() {}

/// No handles.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn visit_handles(_visit: impl FnMut(usize)) {}

/// No handles.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn visit_alive(
    _is_marked: impl Fn(usize) -> bool,
    _visit: impl FnMut(*mut usize),
) {
}

/// No handles.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn sweep(_is_marked: impl Fn(usize) -> bool) {}

/// Nothing is there.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn teardown() {}
