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
        words[0] = var.empty_size as u32;
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
    let pointers = (l.gc_pointers.len() + item_pointers.len()) * size_of::<u32>();
    bytes.resize(TYPE_INFO_SIZE - size_of::<u64>(), 0);
    bytes.extend(((TYPE_INFO_SIZE + pointers) as u64).to_le_bytes());
    for offset in l.gc_pointers.iter().chain(item_pointers) {
        bytes.extend((*offset as u32).to_le_bytes());
    }
    bytes.extend(text(ty, program).bytes());
    // A zero byte at the end, and whole words.
    bytes.resize((bytes.len() + 1).next_multiple_of(size_of::<u32>()), 0);
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

/// What `rgc.get_typeids_z()` says of a type: structures come with the names of their fields.
fn text(ty: LLType, program: &dyn Program) -> String {
    match ty.kind() {
        TypeKind::Struct(s) => {
            let body = program.body(s);
            let names: Vec<&str> = body.fields.iter().map(|f| &*f.name).collect();
            format!("{ty} {{ {} }}", names.join(", "))
        }
        _ => ty.to_string(),
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
