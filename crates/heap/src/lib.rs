//! The process's memory: an allocator whose blocks lie at addresses that are known
//! beforehand, so that all of them can be written to a file, and a later process of the
//! same executable can map that file and go on with what is there.
//!
//! ```text
//! generation 0   [0x2000_0000_0000 ..)  blocks of the process that began from nothing
//! generation 1   [0x2010_0000_0000 ..)  blocks of a process that mapped generation 0
//! generation 2   ...                    blocks of one that mapped both
//! ```
//!
//! A process allocates in one generation only, the one after those that it maps. Mapped
//! memory is private to it (copy on write) and is read from the file page by page, as it is
//! touched. What is freed there stays as it is; what grows moves.
//!
//! Four things make pointers in the file mean the same in the next process:
//! - The heap lies where it lay ([`reserve`], [`map`]).
//! - The executable lies where it lay: functions, vtables, constants and type ids. It is
//!   linked to fixed addresses (`-no-pie`), and a file is taken by the build that wrote
//!   it alone: the build belongs to the key.
//! - Tables in statics that the heap refers to, or that numbers in the heap are about, are
//!   written along ([`StaticTable`]) and put back before anybody looks at them.
//! - Nothing else may be referred to: no thread, no descriptor, no lock that is held, no
//!   memory of a C library. Whoever calls [`save`] vouches for that.
//!
//! Memory is full of addresses of functions: who forges a file runs code of their own. So all of it
//! is authenticated by a key ([`MemoryKey`]); a file that is damaged, forged or of another key is refused
//! as a whole, before anything of it is used. The caller sees to it that nobody else can write to
//! the file while it is mapped.
//!
//! The idea is that of Emacs' portable dumper and of SBCL's cores. Owns the allocator, the
//! file format and the mapping. Must not know what the memory holds.

mod format;
mod mapping;
mod pages;
mod region;
mod saving;

pub use format::MemoryKey;
pub use mapping::{Mapped, map};
pub use pages::resident_bytes;
pub use region::{Heap, is_reserved, next_generation, own_generation, reserve};
pub use saving::{Saving, save};

/// The environment variable that names the generation in which a process is to allocate: a digit, a
/// colon, and whatever the process wants to know besides. Without it the process begins from
/// nothing.
pub const GENERATION_VARIABLE: &str = "TAIPAN_HEAP";

/// A static that belongs to what is saved: its bytes are written along.
#[derive(Clone, Copy, Debug)]
pub struct StaticTable {
    address: usize,
    len: usize,
}

impl StaticTable {
    /// That static. It refers to nothing but the heap, and holds no lock when memory is saved.
    pub fn of<T: Sync>(table: &'static T) -> StaticTable {
        StaticTable {
            address: std::ptr::from_ref(table) as usize,
            len: size_of::<T>(),
        }
    }
}
