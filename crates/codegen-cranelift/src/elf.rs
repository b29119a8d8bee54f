//! Images as object files.

use object::write::{Object, Relocation, StandardSection, Symbol, SymbolId, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, RelocationEncoding, RelocationFlags, RelocationKind,
    SectionKind, SymbolFlags, SymbolKind, SymbolScope,
};
use taipan_codegen::{
    CodegenError, Image, LIBRARY_SYMBOL, MAIN_SYMBOL, RelocKind, SectionId, Target,
};

use crate::shared::position_independent;

/// The object file of an image. [`taipan_codegen::Glue::Main`] or
/// [`taipan_codegen::Glue::Library`], if it is there, is visible to the linker.
pub fn object_file(image: &Image) -> Result<Vec<u8>, CodegenError> {
    write(image, &[])
}

/// The object file of an image for a shared object: addresses in its code do not depend on
/// where that is loaded.
pub fn shared_object_file(image: &Image) -> Result<Vec<u8>, CodegenError> {
    let mut image = image.clone();
    let by_table = position_independent(&mut image)?;
    write(&image, &by_table)
}

/// Relocations of code at these places, in ascending order, are by the table of addresses that the
/// linker makes.
fn write(image: &Image, by_table: &[u64]) -> Result<Vec<u8>, CodegenError> {
    let mut o = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
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
            let (kind, encoding, size) = match (r.kind, r.target) {
                (RelocKind::Abs64, _) => {
                    (RelocationKind::Absolute, RelocationEncoding::Generic, 64)
                }
                (RelocKind::PcRel32, Target::External(_)) => (
                    RelocationKind::PltRelative,
                    RelocationEncoding::X86Branch,
                    32,
                ),
                (RelocKind::PcRel32, _) => {
                    (RelocationKind::Relative, RelocationEncoding::Generic, 32)
                }
            };
            let in_table = id == SectionId::Text && by_table.binary_search(&r.offset).is_ok();
            let relocation = Relocation {
                offset: r.offset,
                symbol,
                addend,
                flags: match in_table {
                    // The linker leaves the table out where it knows the distance.
                    true => RelocationFlags::Elf {
                        r_type: object::elf::R_X86_64_REX_GOTPCRELX,
                    },
                    false => RelocationFlags::Generic {
                        kind,
                        encoding,
                        size,
                    },
                },
            };
            (o.add_relocation(sections[id as usize], relocation))
                .map_err(|e| CodegenError::new("object file", e.to_string()))?;
        }
    }
    // Without it the linker would make the stack executable.
    o.add_section(Vec::new(), b".note.GNU-stack".to_vec(), SectionKind::Other);
    o.write()
        .map_err(|e| CodegenError::new("object file", e.to_string()))
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
