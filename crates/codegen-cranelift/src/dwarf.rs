//! DWARF of an image: lines, functions, variables with their types, and frames.
//!
//! One unit has all of a program. It is said to be C, which is what debuggers read expressions as
//! that its types allow: `l->items->items[0]`.

use std::collections::HashMap;
use std::sync::Arc;

use gimli::write::{
    Address, AttributeValue, CallFrameInstruction, CommonInformationEntry, DwarfUnit, EhFrame,
    EndianVec, Error, Expression, FileId, FrameDescriptionEntry, FrameTable, LineProgram,
    LineString, Location, LocationList, RelocateWriter, Relocation, RelocationTarget, Sections,
    UnitEntryId,
};
use gimli::{
    DW_ATE_UTF, DW_ATE_address, DW_ATE_boolean, DW_ATE_float, DW_ATE_signed, DW_ATE_unsigned,
    DW_ATE_unsigned_char, Encoding, Format, LineEncoding, LittleEndian, Register,
};
use object::write::{Object, SymbolId};
use object::{Architecture, RelocationEncoding, RelocationFlags, RelocationKind, SectionKind};
use taipan_codegen::{
    DebugFunction, DebugType, FrameStep, ImageDebug, ScalarKind, VariablePlace, gdb_script,
};

/// A section of an object file.
struct DebugSection {
    name: &'static str,
    bytes: Vec<u8>,
    /// What the linker fills in: relative to code, or to another section of these.
    relocations: Vec<Relocation>,
}

/// Debuggers of today read version 4 without exception.
const ENCODING: Encoding = Encoding {
    address_size: 8,
    format: Format::Dwarf32,
    version: 4,
};

/// Bytes, and what is to be filled in.
#[derive(Clone)]
struct Output {
    bytes: EndianVec<LittleEndian>,
    relocations: Vec<Relocation>,
}

impl RelocateWriter for Output {
    type Writer = EndianVec<LittleEndian>;

    fn writer(&self) -> &Self::Writer {
        &self.bytes
    }

    fn writer_mut(&mut self) -> &mut Self::Writer {
        &mut self.bytes
    }

    fn relocate(&mut self, relocation: Relocation) {
        self.relocations.push(relocation);
    }
}

/// A place in the code.
fn code(offset: u64) -> Address {
    Address::Symbol {
        symbol: 0,
        addend: offset as i64,
    }
}

/// The sections that debuggers read.
fn debug_sections(
    debug: &ImageDebug,
    code_size: u64,
    architecture: Architecture,
) -> Result<Vec<DebugSection>, Error> {
    let empty = Output {
        bytes: EndianVec::new(LittleEndian),
        relocations: Vec::new(),
    };
    let mut sections = Sections::new(empty.clone());
    let mut writer = Writer::new(debug, code_size);
    for (i, ty) in debug.types.iter().enumerate() {
        writer.describe(writer.types[i], ty);
    }
    for f in &debug.functions {
        writer.function(f);
    }
    writer.dwarf.write(&mut sections)?;
    let mut frames = EhFrame(empty);
    frame_table(debug, architecture).write_eh_frame(&mut frames)?;
    let mut out = Vec::new();
    let mut add = |name, output: &Output| {
        if !output.bytes.slice().is_empty() {
            out.push(DebugSection {
                name,
                bytes: output.bytes.slice().to_vec(),
                relocations: output.relocations.clone(),
            });
        }
    };
    sections.for_each(|id, output| {
        add(id.name(), output);
        Ok::<(), Error>(())
    })?;
    add(".eh_frame", &frames.0);
    Ok(out)
}

struct Writer {
    dwarf: DwarfUnit,
    /// The entries of types, by number.
    types: Vec<UnitEntryId>,
    files: HashMap<Arc<str>, FileId>,
}

/// The folder and the name of a file.
fn split(path: &str) -> (&str, &str) {
    match path.rsplit_once('/') {
        Some(("", name)) => ("/", name),
        Some(parts) => parts,
        None => (".", path),
    }
}

fn text(s: &str) -> LineString {
    LineString::String(s.as_bytes().to_vec())
}

impl Writer {
    fn new(debug: &ImageDebug, code_size: u64) -> Writer {
        let mut dwarf = DwarfUnit::new(ENCODING);
        // That of the entry point, which comes first.
        let file = debug.functions.iter().find_map(|f| f.file.clone());
        let file = file.unwrap_or_else(|| "?".into());
        let (folder, name) = split(&file);
        dwarf.unit.line_program = LineProgram::new(
            ENCODING,
            LineEncoding::default(),
            text(folder),
            None,
            text(name),
            None,
        );
        let root = dwarf.unit.root();
        let strings = [
            (gimli::DW_AT_producer, "taipan"),
            (gimli::DW_AT_name, name),
            (gimli::DW_AT_comp_dir, folder),
        ];
        for (at, s) in strings {
            let id = dwarf.strings.add(s);
            let unit = dwarf.unit.get_mut(root);
            unit.set(at, AttributeValue::StringRef(id));
        }
        let unit = dwarf.unit.get_mut(root);
        let language = AttributeValue::Language(gimli::DW_LANG_C99);
        unit.set(gimli::DW_AT_language, language);
        unit.set(gimli::DW_AT_low_pc, AttributeValue::Address(code(0)));
        unit.set(gimli::DW_AT_high_pc, AttributeValue::Udata(code_size));
        let types = debug.types.iter().map(|ty| {
            let tag = match ty {
                DebugType::Scalar { .. } => gimli::DW_TAG_base_type,
                DebugType::Pointer(_) => gimli::DW_TAG_pointer_type,
                DebugType::Struct { .. } => gimli::DW_TAG_structure_type,
                DebugType::Array(..) => gimli::DW_TAG_array_type,
            };
            dwarf.unit.add(root, tag)
        });
        let types = types.collect();
        Writer {
            dwarf,
            types,
            files: HashMap::new(),
        }
    }

    fn file(&mut self, path: &Arc<str>) -> FileId {
        if let Some(known) = self.files.get(path) {
            return *known;
        }
        let (folder, name) = split(path);
        let lines = &mut self.dwarf.unit.line_program;
        let folder = lines.add_directory(text(folder));
        let file = lines.add_file(text(name), folder, None);
        self.files.insert(path.clone(), file);
        file
    }

    fn name(&mut self, entry: UnitEntryId, name: &str) {
        let id = self.dwarf.strings.add(name);
        let entry = self.dwarf.unit.get_mut(entry);
        entry.set(gimli::DW_AT_name, AttributeValue::StringRef(id));
    }

    fn set(&mut self, entry: UnitEntryId, at: gimli::DwAt, value: AttributeValue) {
        self.dwarf.unit.get_mut(entry).set(at, value);
    }

    fn function(&mut self, f: &DebugFunction) {
        let root = self.dwarf.unit.root();
        let entry = self.dwarf.unit.add(root, gimli::DW_TAG_subprogram);
        self.name(entry, &f.name);
        self.set(
            entry,
            gimli::DW_AT_low_pc,
            AttributeValue::Address(code(f.start)),
        );
        self.set(entry, gimli::DW_AT_high_pc, AttributeValue::Udata(f.size));
        let mut frame = Expression::new();
        frame.op(gimli::DW_OP_call_frame_cfa);
        self.set(
            entry,
            gimli::DW_AT_frame_base,
            AttributeValue::Exprloc(frame),
        );
        if let Some(path) = &f.file {
            let file = self.file(path);
            let line = f.line();
            self.set(
                entry,
                gimli::DW_AT_decl_file,
                AttributeValue::FileIndex(Some(file)),
            );
            self.set(
                entry,
                gimli::DW_AT_decl_line,
                AttributeValue::Udata(u64::from(line)),
            );
            self.lines(f, file, line);
        }
        for v in &f.variables {
            let tag = match v.is_argument {
                true => gimli::DW_TAG_formal_parameter,
                false => gimli::DW_TAG_variable,
            };
            let variable = self.dwarf.unit.add(entry, tag);
            self.name(variable, &v.name);
            self.set_type(variable, v.ty);
            if v.places.is_empty() {
                continue;
            }
            let places = v.places.iter().map(|(start, end, place)| {
                let mut at = Expression::new();
                match place {
                    VariablePlace::Register(r) => at.op_reg(Register(*r)),
                    VariablePlace::Frame(offset) => at.op_fbreg(*offset),
                }
                // Relative to the unit's code, which is all code.
                Location::OffsetPair {
                    begin: f.start + u64::from(*start),
                    end: f.start + u64::from(*end),
                    data: at,
                }
            });
            let list = LocationList(places.collect());
            let list = self.dwarf.unit.locations.add(list);
            let list = AttributeValue::LocationListRef(list);
            self.set(variable, gimli::DW_AT_location, list);
        }
    }

    fn lines(&mut self, f: &DebugFunction, file: FileId, first: u32) {
        let lines = &mut self.dwarf.unit.line_program;
        lines.begin_sequence(Some(code(f.start)));
        let mut row = |offset: u32, line: u32| {
            let row = lines.row();
            row.address_offset = u64::from(offset);
            row.file = file;
            row.line = u64::from(line);
            lines.generate_row();
        };
        // How the frame is made belongs to the function as a whole.
        row(0, first);
        for (offset, line) in &f.lines {
            row(*offset, *line);
        }
        lines.end_sequence(f.size);
    }

    fn set_type(&mut self, entry: UnitEntryId, ty: usize) {
        let ty = AttributeValue::UnitRef(self.types[ty]);
        self.set(entry, gimli::DW_AT_type, ty);
    }

    /// Fills in the entry of a type.
    fn describe(&mut self, entry: UnitEntryId, ty: &DebugType) {
        match ty {
            DebugType::Scalar { name, size, kind } => {
                self.name(entry, name);
                let encoding = match kind {
                    ScalarKind::Bool => DW_ATE_boolean,
                    ScalarKind::Char => DW_ATE_unsigned_char,
                    ScalarKind::UniChar => DW_ATE_UTF,
                    ScalarKind::Signed => DW_ATE_signed,
                    ScalarKind::Unsigned => DW_ATE_unsigned,
                    ScalarKind::Float => DW_ATE_float,
                    ScalarKind::Address => DW_ATE_address,
                };
                self.set(entry, gimli::DW_AT_byte_size, AttributeValue::Udata(*size));
                self.set(
                    entry,
                    gimli::DW_AT_encoding,
                    AttributeValue::Encoding(encoding),
                );
            }
            DebugType::Pointer(to) => {
                self.set(entry, gimli::DW_AT_byte_size, AttributeValue::Udata(8));
                if let Some(to) = to {
                    self.set_type(entry, *to);
                }
            }
            DebugType::Struct {
                name,
                size,
                members,
            } => {
                self.name(entry, name);
                self.set(entry, gimli::DW_AT_byte_size, AttributeValue::Udata(*size));
                for m in members {
                    let member = self.dwarf.unit.add(entry, gimli::DW_TAG_member);
                    self.name(member, &m.name);
                    self.set_type(member, m.ty);
                    let offset = AttributeValue::Udata(m.offset);
                    self.set(member, gimli::DW_AT_data_member_location, offset);
                }
            }
            DebugType::Array(of, count) => {
                self.set_type(entry, *of);
                let range = self.dwarf.unit.add(entry, gimli::DW_TAG_subrange_type);
                if let Some(count) = count {
                    self.set(range, gimli::DW_AT_count, AttributeValue::Udata(*count));
                }
            }
        }
    }
}

/// The registers that a function need not leave as they were, by DWARF's numbers.
fn changed_by_calls(architecture: Architecture) -> Vec<u16> {
    match architecture {
        // x0 to x17, v0 to v7, v16 to v31.
        Architecture::Aarch64 => (0..=17).chain(64..=71).chain(80..=95).collect(),
        // t0 to t2, a0 to a7, t3 to t6, and the same of floats.
        Architecture::Riscv64 => (5..=7)
            .chain(10..=17)
            .chain(28..=39)
            .chain(42..=49)
            .chain(60..=63)
            .collect(),
        // rax, rdx, rcx, rsi, rdi, r8 to r11, xmm0 to xmm15.
        _ => [0, 1, 2, 4, 5]
            .into_iter()
            .chain(8..=11)
            .chain(17..=32)
            .collect(),
    }
}

/// How callers are found from each function.
fn frame_table(debug: &ImageDebug, architecture: Architecture) -> FrameTable {
    // The stack pointer, what holds the return address, and how far above the pointer the frame
    // starts at a call.
    let (pointer, back, start) = match architecture {
        Architecture::Aarch64 => (31, 30, 0),
        Architecture::Riscv64 => (2, 1, 0),
        _ => (7, 16, 8),
    };
    let encoding = Encoding {
        version: 1,
        ..ENCODING
    };
    let mut common = CommonInformationEntry::new(encoding, 1, -8, Register(back));
    // Relative, so that the code may be anywhere.
    common.fde_address_encoding = gimli::DwEhPe(gimli::DW_EH_PE_pcrel.0 | gimli::DW_EH_PE_sdata4.0);
    common.add_instruction(CallFrameInstruction::Cfa(Register(pointer), start));
    if start != 0 {
        common.add_instruction(CallFrameInstruction::Offset(Register(back), -start));
    }
    // A debugger would show their present contents as variables of callers.
    for register in changed_by_calls(architecture) {
        common.add_instruction(CallFrameInstruction::Undefined(Register(register)));
    }
    let mut table = FrameTable::default();
    let common = table.add_cie(common);
    for f in &debug.functions {
        let mut entry = FrameDescriptionEntry::new(code(f.start), f.size as u32);
        for (at, step) in &f.frame {
            entry.add_instruction(
                *at,
                match step {
                    FrameStep::Offset(n) => CallFrameInstruction::CfaOffset(*n),
                    FrameStep::Register(r) => CallFrameInstruction::CfaRegister(Register(*r)),
                    FrameStep::Saved(r, n) => CallFrameInstruction::Offset(Register(*r), *n),
                },
            );
        }
        table.add_fde(common, entry);
    }
    table
}

/// Adds the sections that debuggers read. Code is where that symbol is.
pub(crate) fn add(
    o: &mut Object<'_>,
    debug: &ImageDebug,
    code: SymbolId,
    code_size: u64,
) -> Result<(), String> {
    let mut sections =
        debug_sections(debug, code_size, o.architecture()).map_err(|e| e.to_string())?;
    let mut ids = HashMap::new();
    for s in &mut sections {
        let kind = match s.name {
            ".eh_frame" => SectionKind::ReadOnlyData,
            ".debug_str" => SectionKind::DebugString,
            _ => SectionKind::Debug,
        };
        let id = o.add_section(Vec::new(), s.name.as_bytes().to_vec(), kind);
        o.set_section_data(
            id,
            std::mem::take(&mut s.bytes),
            if s.name == ".eh_frame" { 8 } else { 1 },
        );
        ids.insert(s.name, (id, o.section_symbol(id)));
    }
    for s in &sections {
        for r in &s.relocations {
            let symbol = match r.target {
                RelocationTarget::Symbol(_) => code,
                RelocationTarget::Section(to) => match ids.get(to.name()) {
                    Some((_, symbol)) => *symbol,
                    None => return Err(format!("there is no {}", to.name())),
                },
            };
            let relative = r
                .eh_pe
                .is_some_and(|e| e.application() == gimli::DW_EH_PE_pcrel);
            let relocation = object::write::Relocation {
                offset: r.offset as u64,
                symbol,
                addend: r.addend,
                flags: RelocationFlags::Generic {
                    kind: match relative {
                        true => RelocationKind::Relative,
                        false => RelocationKind::Absolute,
                    },
                    encoding: RelocationEncoding::Generic,
                    size: r.size * 8,
                },
            };
            o.add_relocation(ids[s.name].0, relocation)
                .map_err(|e| e.to_string())?;
        }
    }
    let scripts = o.add_section(
        Vec::new(),
        b".debug_gdb_scripts".to_vec(),
        SectionKind::DebugString,
    );
    o.set_section_data(scripts, gdb_script(), 1);
    Ok(())
}
