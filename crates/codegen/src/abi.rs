//! The contract with the runtime, in numbers. The runtime's own definitions are in
//! `taipan_runtime::{gc::header, start, state}`; a test of each back end compares
//! them.

/// Flags in the header of static objects (`gc::header::STATIC_FLAGS`).
pub const STATIC_FLAGS: i64 = 15;
/// Bit of a header that the write barrier tests (`gc::header::TRACK`).
pub const TRACK: i64 = 1;
/// Bits that are clear in headers of small old objects (`gc::header::MARKED`, `OUTSIDE`).
pub const MARKED_OR_OUTSIDE: i64 = 6;
/// Bit of the header of an object that is not counted (`gc::header::OUTSIDE`).
pub const OUTSIDE: i64 = 4;
/// Where the count of an object is (`gc::refcount`).
pub const COUNT: i32 = -8;
/// The runtime's functions that count references, which code does by itself.
pub const INCREF: &str = "rpy_gc_incref";
/// The same.
pub const DECREF: &str = "rpy_gc_decref";
/// Bytes before a static object that hold its identity hash.
pub const STATIC_PREFIX: u64 = 8;
/// Objects of this size and above are not allocated inline (`gc::LARGE_OBJECT`).
pub const LARGE_OBJECT: u64 = 32 << 10;
/// Size of a type-information record without its offsets (`gc::TypeInfo`).
pub const TYPE_INFO_SIZE: usize = 48;
/// Kind of types whose objects are instances of classes (`gc::header::INSTANCE`).
pub const INSTANCE: u32 = 2;
/// Size of a location record (`state::Location`).
pub const LOCATION_SIZE: usize = 24;

/// Symbol of the state that emitted code shares with the runtime.
pub const STATE: &str = "rpy_state";
/// Symbol that the body of `main` calls with the program table.
pub const MAIN: &str = "rpy_main";
/// Symbol that a program which is a part of another one is started by.
pub const EXTENSION_START: &str = "rpy_extension_start";

/// Offsets in the state (`state::offset`).
pub mod state {
    /// Next free byte of the nursery.
    pub const NURSERY_FREE: i32 = 0;
    /// End of the nursery.
    pub const NURSERY_TOP: i32 = 8;
    /// First free word of the shadow stack.
    pub const ROOT_STACK_TOP: i32 = 16;
    /// Vtable of the current exception.
    pub const EXC_TYPE: i32 = 24;
    /// Instance of the current exception.
    pub const EXC_VALUE: i32 = 32;
    /// Lowest address for the machine stack.
    pub const STACK_LIMIT: i32 = 40;
    /// What a function for slow paths has to say.
    pub const SLOW_RESULT: i32 = 48;
    /// What it is given: words.
    pub const SLOW_ARGUMENTS: i32 = 56;
    /// Not zero if `rpy_signal_poll` may have something to say.
    pub const SIGNALS: i32 = 80;
    /// Number of traceback entries recorded.
    pub const TRACEBACK_COUNT: i32 = 88;
    /// The ring of traceback entries: location, exception type.
    pub const TRACEBACK: i32 = 96;
    /// Number of entries in the ring.
    pub const TRACEBACK_DEPTH: i64 = 128;
}

/// First word of raw memory that was freed (`raw::FREED`).
pub const FREED: u64 = 0xdead_f3ee_d1ad_0bad;

/// What a check of a checked build was about (`crash::rpy_check_failed`).
pub mod check {
    /// `debug_assert`
    pub const ASSERTION: i64 = 0;
    /// An index.
    pub const INDEX: i64 = 1;
    /// Raw memory that was freed.
    pub const FREED: i64 = 2;
    /// A pointer that is null, where the machine does not notice.
    pub const NULL: i64 = 4;
}

/// Marks in traceback entries in place of a location (`state::RAISED` and so on).
pub mod mark {
    /// An exception was raised.
    pub const RAISED: i64 = 0;
    /// It was caught.
    pub const CAUGHT: i64 = 1;
    /// What was caught is raised again.
    pub const RERAISED: i64 = 2;
}

/// Fields of the program table (`start::ProgramTable`).
pub mod table {
    /// Size.
    pub const SIZE: usize = 64;
    /// Offset of the entry point.
    pub const ENTRY: u64 = 0;
    /// Offset of the type information of byte strings.
    pub const STRING: u64 = 8;
    /// Offset of that of arrays of byte strings.
    pub const STRING_ARRAY: u64 = 16;
    /// Offset of that of lists of byte strings.
    pub const STRING_LIST: u64 = 24;
    /// Offset of: offset of the length in such lists.
    pub const LIST_LENGTH: usize = 32;
    /// Offset of: offset of the items in such lists.
    pub const LIST_ITEMS: usize = 36;
    /// Offset of the kind of argument.
    pub const ARGV: usize = 40;
    /// Offset of: whether an exit code is returned.
    pub const RETURNS_CODE: usize = 44;
    /// Offset of the table of places.
    pub const PLACES: u64 = 48;
    /// Offset of the number of the garbage collector.
    pub const COLLECTOR: usize = 56;
}
