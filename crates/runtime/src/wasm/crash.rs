//! Checks of checked builds that fail. Where code was called from is not known: WebAssembly shows its
//! stack to nobody.

use crate::exc;
use crate::os;
use crate::state::Location;

/// The start of a table of places, which programs have and nobody looks at here.
#[repr(C)]
pub struct Places {
    /// Whether the code has places for lines.
    pub checked: u64,
    /// Number of rows.
    pub count: u64,
}

/// The program that runs from now on has this table.
pub fn set_places(_table: *const Places) {}

/// Faults are told by the host.
pub fn install() {}

/// A check of a checked build has failed.
///
/// # Safety
/// The program's static data are there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_check_failed(
    what: u64,
    location: &'static Location,
    _frame: usize,
) -> ! {
    os::write_all(2, b"RPython traceback:\n");
    exc::print_location(location, true);
    exc::fatal(match what {
        1 => b"index out of range",
        2 => b"raw memory used after it was freed",
        3 => b"raw memory freed twice",
        4 => b"null pointer used",
        _ => b"AssertionError in debug_assert",
    })
}
