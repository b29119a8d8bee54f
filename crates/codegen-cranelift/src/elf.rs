//! Images as object files.

use object::write::{
    Object, Relocation, SectionId as ObjectSection, StandardSection, Symbol, SymbolId,
    SymbolSection,
};
use object::{RelocationFlags, SectionKind, SymbolFlags, SymbolKind, SymbolScope, elf};
use taipan_codegen::{
    CodegenError, Image, LIBRARY_SYMBOL, MAIN_SYMBOL, RelocKind, SectionId, Target, empty_object,
};
use taipan_language::Machine;

use crate::dwarf;
use crate::shared::position_independent;

/// The object file of an image. [`taipan_codegen::Glue::Main`] or
/// [`taipan_codegen::Glue::Library`], if it is there, is visible to the linker.
pub fn object_file(image: &Image, machine: Machine) -> Result<Vec<u8>, CodegenError> {
    write(image, machine, &[])
}

/// The object file of an image for a shared object of this machine: addresses in its code do not depend on
/// where that is loaded.
pub fn shared_object_file(image: &Image) -> Result<Vec<u8>, CodegenError> {
    let mut image = image.clone();
    let by_table = position_independent(&mut image, Machine::HOST)?;
    write(&image, Machine::HOST, &by_table)
}

/// Relocations of code at these places, in ascending order, are by the table of addresses that the
/// linker makes.
fn write(image: &Image, machine: Machine, by_table: &[u64]) -> Result<Vec<u8>, CodegenError> {
    let mut o = empty_object(machine)?;
    let sections = [
        StandardSection::Text,
        StandardSection::ReadOnlyDataWithRel,
        StandardSection::Data,
    ]
    .map(|s| o.section_id(s));
    let section_symbols = sections.map(|s| o.section_symbol(s));
    for id in SectionId::ALL {
        let bytes = &image.section(id).bytes;
        o.append_section_data(sections[id as usize], bytes, 16);
    }
    for s in &image.symbols {
        o.add_symbol(Symbol {
            name: s.name.as_bytes().to_vec(),
            value: s.place.offset,
            size: s.size,
            kind: match s.place.section {
                SectionId::Text => SymbolKind::Text,
                _ => SymbolKind::Data,
            },
            scope: match &*s.name {
                MAIN_SYMBOL | LIBRARY_SYMBOL => SymbolScope::Dynamic,
                _ => SymbolScope::Compilation,
            },
            weak: false,
            section: SymbolSection::Section(sections[s.place.section as usize]),
            flags: SymbolFlags::None,
        });
    }
    let externals: Vec<SymbolId> = (image.externals.iter())
        .map(|name| o.add_symbol(undefined(name)))
        .collect();

    for id in SectionId::ALL {
        for r in &image.section(id).relocs {
            let (symbol, addend) = match r.target {
                Target::Place(p) => (
                    section_symbols[p.section as usize],
                    r.addend + p.offset as i64,
                ),
                Target::External(i) => (externals[i], r.addend),
            };
            let (symbol, addend) = match r.kind {
                // What the instruction before refers to is found by that one's address.
                RelocKind::RiscvLow => (high_part(&mut o, sections[id as usize], r.offset - 4), 0),
                _ => (symbol, addend),
            };
            let in_table = id == SectionId::Text && by_table.binary_search(&r.offset).is_ok();
            let relocation = Relocation {
                offset: r.offset,
                symbol,
                addend,
                flags: RelocationFlags::Elf {
                    r_type: match in_table {
                        true => table_relocation_type(r.kind),
                        false => relocation_type(machine, r.kind, r.target),
                    },
                },
            };
            (o.add_relocation(sections[id as usize], relocation))
                .map_err(|e| CodegenError::new("object file", e.to_string()))?;
        }
    }
    if let Some(debug) = &image.debug {
        let size = image.section(SectionId::Text).bytes.len() as u64;
        let code = section_symbols[SectionId::Text as usize];
        dwarf::add(&mut o, debug, code, size)
            .map_err(|e| CodegenError::new("information for debuggers", e))?;
    }
    // Without it the linker would make the stack executable.
    o.add_section(Vec::new(), b".note.GNU-stack".to_vec(), SectionKind::Other);
    o.write()
        .map_err(|e| CodegenError::new("object file", e.to_string()))
}

/// How ELF numbers the relocation of an address in the linker's table.
fn table_relocation_type(kind: RelocKind) -> u32 {
    match kind {
        RelocKind::Aarch64Page => elf::R_AARCH64_ADR_GOT_PAGE,
        RelocKind::Aarch64PageOffset => elf::R_AARCH64_LD64_GOT_LO12_NC,
        // The linker leaves the table out where it knows the distance.
        _ => elf::R_X86_64_REX_GOTPCRELX,
    }
}

/// How ELF numbers a relocation.
fn relocation_type(machine: Machine, kind: RelocKind, target: Target) -> u32 {
    match (kind, machine) {
        (RelocKind::Abs64, Machine::X86_64) => elf::R_X86_64_64,
        (RelocKind::Abs64, Machine::Aarch64) => elf::R_AARCH64_ABS64,
        (RelocKind::Abs64, Machine::Riscv64) => elf::R_RISCV_64,
        // There is no such code: programs are made by way of C.
        (RelocKind::Abs64, Machine::I386 | Machine::Wasm32) => elf::R_386_32,
        (RelocKind::PcRel32, _) => match target {
            Target::External(_) => elf::R_X86_64_PLT32,
            Target::Place(_) => elf::R_X86_64_PC32,
        },
        (RelocKind::Aarch64Call, _) => elf::R_AARCH64_CALL26,
        (RelocKind::Aarch64Page, _) => elf::R_AARCH64_ADR_PREL_PG_HI21,
        (RelocKind::Aarch64PageOffset, _) => elf::R_AARCH64_ADD_ABS_LO12_NC,
        (RelocKind::RiscvCall, _) => elf::R_RISCV_CALL_PLT,
        (RelocKind::RiscvHigh, _) => elf::R_RISCV_PCREL_HI20,
        (RelocKind::RiscvLow, _) => elf::R_RISCV_PCREL_LO12_I,
    }
}

/// A symbol for the instruction at an offset, which has the high bits of a distance.
fn high_part(o: &mut Object<'_>, section: ObjectSection, offset: u64) -> SymbolId {
    o.add_symbol(Symbol {
        name: b".Lhigh".to_vec(),
        value: offset,
        size: 0,
        kind: SymbolKind::Label,
        scope: SymbolScope::Compilation,
        weak: false,
        section: SymbolSection::Section(section),
        flags: SymbolFlags::None,
    })
}

fn undefined(name: &str) -> Symbol {
    Symbol {
        name: name.as_bytes().to_vec(),
        value: 0,
        size: 0,
        kind: SymbolKind::Text,
        scope: SymbolScope::Dynamic,
        weak: false,
        section: SymbolSection::Undefined,
        flags: SymbolFlags::None,
    }
}
