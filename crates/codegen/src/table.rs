//! The program table: what the runtime's start-up needs to know.

use taipan_graph::IntKind;
use taipan_lltype::{FuncSym, LLType, Program, STR, TypeKind, field_of, layout};

use crate::abi::table;
use crate::{CodegenError, DataObject, Reloc, RelocKind, SymbolRef};

/// How an entry point is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryShape {
    /// Without arguments.
    NoArgv,
    /// With an array of byte strings of this type (a list that is never resized).
    Array(LLType),
    /// With a struct of length and array.
    List {
        /// The struct.
        list: LLType,
        /// The array.
        array: LLType,
    },
}

impl EntryShape {
    /// How that function is called as an entry point.
    pub fn of(entry: &FuncSym, program: &dyn Program) -> Result<EntryShape, CodegenError> {
        let mut args = entry.ty().args.iter().filter(|t| !t.is_void());
        let (Some(arg), None) = (args.next(), args.next()) else {
            return match entry.ty().args.iter().all(|t| t.is_void()) {
                true => Ok(EntryShape::NoArgv),
                false => Err(CodegenError::new(
                    entry.name(),
                    "an entry point takes one argument",
                )),
            };
        };
        let container = arg.pointee().unwrap_or(*arg);
        if is_string_array(container) {
            return Ok(EntryShape::Array(container));
        }
        let items = field_of(container, "items", program)
            .filter(|_| field_of(container, "length", program).is_some());
        match items.and_then(|(_, ty)| ty.pointee()) {
            Some(array) if is_string_array(array) => Ok(EntryShape::List {
                list: container,
                array,
            }),
            _ => Err(CodegenError::new(
                entry.name(),
                format!("an entry point takes a list of strings, not {arg}"),
            )),
        }
    }
}

fn is_string_array(ty: LLType) -> bool {
    ty.as_array().is_some_and(|a| a.gc && a.of == STR.ptr())
}

/// The table for a program with that entry point.
pub fn program_table(entry: &FuncSym, program: &dyn Program) -> Result<DataObject, CodegenError> {
    let mut bytes = vec![0; table::SIZE];
    let mut relocs = vec![
        address(table::ENTRY, SymbolRef::function(entry)),
        address(table::STRING, SymbolRef::TypeInfo(*STR)),
    ];
    let mut put = |at: usize, v: u64| bytes[at..at + 4].copy_from_slice(&(v as u32).to_le_bytes());
    match EntryShape::of(entry, program)? {
        EntryShape::NoArgv => {}
        EntryShape::Array(array) => {
            put(table::ARGV, 1);
            relocs.push(address(table::STRING_ARRAY, SymbolRef::TypeInfo(array)));
        }
        EntryShape::List { list, array } => {
            put(table::ARGV, 2);
            relocs.push(address(table::STRING_ARRAY, SymbolRef::TypeInfo(array)));
            relocs.push(address(table::STRING_LIST, SymbolRef::TypeInfo(list)));
            let offsets = layout(list, program).fields;
            let offset = |name| field_of(list, name, program).map_or(0, |(i, _)| offsets[i]);
            put(table::LIST_LENGTH, offset("length"));
            put(table::LIST_ITEMS, offset("items"));
        }
    }
    put(table::COLLECTOR, u64::from(program.collector().number()));
    let returns_code = matches!(
        entry.ty().result.kind(),
        TypeKind::Int(IntKind { bits: 64, .. })
    );
    put(table::RETURNS_CODE, u64::from(returns_code));
    Ok(DataObject {
        bytes,
        relocs,
        align: 8,
        start: 0,
        readonly: true,
    })
}

pub(crate) fn address(offset: u64, target: SymbolRef) -> Reloc {
    Reloc {
        offset,
        kind: RelocKind::Abs64,
        target,
        addend: 0,
    }
}
