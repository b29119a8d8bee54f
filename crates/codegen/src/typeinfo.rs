//! Type information of GC containers as data of the image.

use taipan_lltype::{LLType, OBJECT, Program, TypeKind, layout, round_up};

use crate::abi::{INSTANCE, TYPE_INFO_SIZE};
use crate::{DataObject, Reloc, RelocKind, SymbolRef};

/// The record by which the collector knows a type (`taipan_runtime::gc::TypeInfo`).
pub fn type_info_object(ty: LLType, program: &dyn Program) -> DataObject {
    let l = layout(ty, program);
    let mut words = [0u32; 8];
    words[0] = round_up(l.size, 8) as u32;
    let mut item_pointers: &[u64] = &[];
    if let Some(var) = &l.var {
        words[1] = var.item_size as u32;
        words[2] = var.length.unwrap_or(0) as u32;
        words[3] = var.items as u32;
        item_pointers = &var.item_gc_pointers;
    }
    words[4] = l.gc_pointers.len() as u32;
    words[5] = item_pointers.len() as u32;
    words[6] = if is_instance(ty, program) {
        INSTANCE
    } else {
        0
    };
    let destructor = program.destructor(ty);
    words[7] = match &destructor {
        Some(f) if !program.is_light_destructor(f) => 1,
        _ => 0,
    };
    let mut bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let finalizer = bytes.len() as u64;
    bytes.resize(TYPE_INFO_SIZE, 0);
    for offset in l.gc_pointers.iter().chain(item_pointers) {
        bytes.extend((*offset as u32).to_le_bytes());
    }
    let relocs = destructor.map(|f| Reloc {
        offset: finalizer,
        kind: RelocKind::Abs64,
        target: SymbolRef::function(&f),
        addend: 0,
    });
    DataObject {
        bytes,
        relocs: relocs.into_iter().collect(),
        align: 16,
        start: 0,
        readonly: true,
    }
}

/// Whether objects of a type start with an instance of the class that all others derive
/// from.
fn is_instance(mut ty: LLType, program: &dyn Program) -> bool {
    while ty != *OBJECT {
        let TypeKind::Struct(s) = ty.kind() else {
            return false;
        };
        match program.body(s).fields.first() {
            Some(first) => ty = first.ty,
            None => return false,
        }
    }
    true
}
