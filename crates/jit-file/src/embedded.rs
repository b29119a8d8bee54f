//! The executable of crate `jit-runtime`, as a writer sees it.

use std::collections::HashMap;

use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectKind, ObjectSymbol};

/// An executable that programs are put behind.
pub struct Runtime<'a> {
    pub(crate) bytes: &'a [u8],
    /// The functions and variables that programs refer to.
    addresses: HashMap<&'a str, usize>,
}

impl<'a> Runtime<'a> {
    /// An executable with its symbols; none for bytes that are no executable linked to fixed addresses.
    pub fn new(bytes: &'a [u8]) -> Option<Runtime<'a>> {
        let file = ElfFile64::<Endianness>::parse(bytes).ok()?;
        if file.kind() != ObjectKind::Executable {
            return None;
        }
        let symbols = file.dynamic_symbols().filter(|s| s.is_definition());
        let addresses = symbols.filter_map(|s| Some((s.name().ok()?, s.address() as usize)));
        Some(Runtime {
            bytes,
            addresses: addresses.collect(),
        })
    }

    /// The address of a function or variable.
    pub(crate) fn address(&self, name: &str) -> Option<usize> {
        self.addresses.get(name).copied()
    }
}
