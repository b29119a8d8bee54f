//! Images as object files.

use object::write::{Object, Relocation, StandardSection, Symbol, SymbolId, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, RelocationEncoding, RelocationFlags, RelocationKind,
    SectionKind, SymbolFlags, SymbolKind, SymbolScope,
};
use taipan_codegen::{
    CodegenError, CompiledFunction, Image, ImageReloc, RelocKind, SectionId, SymbolRef, Target,
};

/// The object file of a program: its image and the code of `main`.
pub fn object_file(image: &Image, main: &CompiledFunction) -> Result<Vec<u8>, CodegenError> {
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
            name: s.name.clone().into_bytes(),
            value: s.place.offset,
            size: s.size,
            kind: match s.place.section {
                SectionId::Text => SymbolKind::Text,
                _ => SymbolKind::Data,
            },
            scope: SymbolScope::Compilation,
            weak: false,
            section: SymbolSection::Section(sections[s.place.section as usize]),
            flags: SymbolFlags::None,
        });
    }
    let mut names = image.externals.clone();
    for r in &main.relocs {
        if let SymbolRef::External(name) = &r.target
            && !names.contains(name)
        {
            names.push(name.clone());
        }
    }
    let externals: Vec<SymbolId> = (names.iter())
        .map(|name| o.add_symbol(undefined(name)))
        .collect();

    let text = sections[SectionId::Text as usize];
    let main_offset = o.append_section_data(text, &main.code, 16);
    o.add_symbol(Symbol {
        value: main_offset,
        size: main.code.len() as u64,
        kind: SymbolKind::Text,
        section: SymbolSection::Section(text),
        ..undefined("main")
    });
    let main_relocs = main.relocs.iter().map(|r| {
        let target = match &r.target {
            SymbolRef::External(name) => {
                (names.iter().position(|n| n == name)).map(Target::External)
            }
            other => image.place(other).map(Target::Place),
        };
        let target = target.ok_or_else(|| CodegenError::new("main", "unknown symbol"))?;
        Ok(ImageReloc {
            offset: main_offset + r.offset,
            kind: r.kind,
            target,
            addend: r.addend,
        })
    });
    let main_relocs: Vec<ImageReloc> = main_relocs.collect::<Result<_, CodegenError>>()?;

    for id in SectionId::ALL {
        let own = &image.section(id).relocs;
        let extra = if id == SectionId::Text {
            &main_relocs[..]
        } else {
            &[]
        };
        for r in own.iter().chain(extra) {
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
                (RelocKind::GotPcRel32, _) => {
                    (RelocationKind::GotRelative, RelocationEncoding::Generic, 32)
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
            let relocation = Relocation {
                offset: r.offset,
                symbol,
                addend,
                flags: RelocationFlags::Generic {
                    kind,
                    encoding,
                    size,
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
