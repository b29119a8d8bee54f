//! Object files without code.

use object::write::Object;
use object::{Architecture, BinaryFormat, Endianness, FileFlags, SectionFlags, SectionKind, elf};
use taipan_language::Machine;

use crate::{CodegenError, GDB_PRINTERS};

/// An object file for a machine, with nothing in it.
pub fn empty_object(machine: Machine) -> Result<Object<'static>, CodegenError> {
    let architecture = match machine {
        Machine::X86_64 => Architecture::X86_64,
        Machine::Aarch64 => Architecture::Aarch64,
        Machine::Riscv64 => Architecture::Riscv64,
        Machine::I386 => Architecture::I386,
        Machine::Wasm32 => {
            let message = "WebAssembly is made by way of C, not as an object file of ELF";
            return Err(CodegenError::new("object file", message));
        }
    };
    let mut o = Object::new(BinaryFormat::Elf, architecture, Endianness::Little);
    if machine == Machine::Riscv64 {
        // Floats are passed in registers of 64 bits.
        o.flags = FileFlags::Elf {
            os_abi: elf::ELFOSABI_NONE,
            abi_version: 0,
            e_flags: elf::EF_RISCV_FLOAT_ABI_DOUBLE,
        };
    }
    Ok(o)
}

/// What gdb runs when it loads a program, if it trusts its folder: the contents of a section.
pub fn gdb_script() -> Vec<u8> {
    // A script in Python as text: its name is its first line.
    const TEXT: u8 = 4;
    let mut bytes = vec![TEXT];
    bytes.extend_from_slice(b"taipan\n");
    bytes.extend_from_slice(GDB_PRINTERS.as_bytes());
    bytes.push(0);
    bytes
}

/// An object file with [`gdb_script`] alone, for programs whose code other compilers make.
pub fn gdb_object(machine: Machine) -> Result<Vec<u8>, CodegenError> {
    let mut o = empty_object(machine)?;
    let name = b".debug_gdb_scripts".to_vec();
    let scripts = o.add_section(Vec::new(), name, SectionKind::DebugString);
    o.set_section_data(scripts, gdb_script(), 1);
    // Linkers leave out what is in a file of which nothing is used.
    let flags = elf::SHF_MERGE | elf::SHF_STRINGS | elf::SHF_GNU_RETAIN;
    o.section_mut(scripts).flags = SectionFlags::Elf {
        sh_flags: u64::from(flags),
    };
    let e_flags = match o.flags {
        FileFlags::Elf { e_flags, .. } => e_flags,
        _ => 0,
    };
    o.flags = FileFlags::Elf {
        os_abi: elf::ELFOSABI_GNU,
        abi_version: 0,
        e_flags,
    };
    o.add_section(Vec::new(), b".note.GNU-stack".to_vec(), SectionKind::Other);
    o.write()
        .map_err(|e| CodegenError::new("object file", e.to_string()))
}
