//! Prebuilt data as bytes and relocations.

use taipan_graph::IntKind;
use taipan_lltype::{
    LLConst, LLType, Layout, Program, StaticData, StaticSym, StaticValue, TypeKind, layout,
};

use crate::abi::{STATIC_FLAGS, STATIC_PREFIX};
use crate::{CodegenError, DataObject, Reloc, RelocKind, SymbolRef, mangle_static};

/// The bytes of a prebuilt object. A GC object has its header, and the word of its
/// identity hash before it.
pub fn static_object(
    sym: &StaticSym,
    data: &StaticData,
    program: &dyn Program,
) -> Result<DataObject, CodegenError> {
    let gc = data.ty.is_gc_container();
    let start = if gc { STATIC_PREFIX } else { 0 };
    let l = layout(data.ty, program);
    let error = |m: String| CodegenError::new(mangle_static(sym), m);
    let size = (l.size_of_varsized(items(&data.value)))
        .ok_or_else(|| error(format!("prebuilt {} is too large", data.ty)))?;
    let mut w = Writer {
        program,
        start,
        // Empty objects are told apart by their addresses, too.
        bytes: vec![0; (start + size).max(1) as usize],
        relocs: Vec::new(),
    };
    if gc {
        w.put(-(STATIC_PREFIX as i64), 8, i128::from(sym.identity_hash()));
        w.address(0, SymbolRef::TypeInfo(data.ty), STATIC_FLAGS);
    }
    w.value(0, data.ty, &l, &data.value).map_err(error)?;
    w.relocs.sort_by_key(|r| r.offset);
    Ok(DataObject {
        bytes: w.bytes,
        relocs: w.relocs,
        align: l.align.max(8),
        start,
        readonly: data.readonly,
    })
}

/// Number of items of a variable-sized object, 0 for any other.
fn items(value: &StaticValue) -> u64 {
    match value {
        StaticValue::Array(v) => v.len() as u64,
        StaticValue::Bytes(b) => b.len() as u64,
        StaticValue::Struct(fields) => fields.last().map_or(0, items),
        StaticValue::Const(_) | StaticValue::Zero => 0,
    }
}

struct Writer<'a> {
    program: &'a dyn Program,
    start: u64,
    bytes: Vec<u8>,
    relocs: Vec<Reloc>,
}

impl Writer<'_> {
    fn put(&mut self, at: i64, size: usize, v: i128) {
        let at = (self.start as i64 + at) as usize;
        self.bytes[at..at + size].copy_from_slice(&v.to_le_bytes()[..size]);
    }

    fn address(&mut self, at: u64, target: SymbolRef, addend: i64) {
        self.relocs.push(Reloc {
            offset: self.start + at,
            kind: RelocKind::Abs64,
            target,
            addend,
        });
    }

    fn value(
        &mut self,
        at: u64,
        ty: LLType,
        l: &Layout,
        value: &StaticValue,
    ) -> Result<(), String> {
        match (ty.kind(), value) {
            (_, StaticValue::Zero) => Ok(()),
            (_, StaticValue::Const(c)) => self.constant(at, c),
            (TypeKind::Struct(s), StaticValue::Struct(values)) => {
                let body = self.program.body(s);
                if body.fields.len() != values.len() {
                    return Err(format!("{} values for the fields of {ty}", values.len()));
                }
                for ((field, offset), v) in body.fields.iter().zip(&l.fields).zip(values) {
                    let field_layout = layout(field.ty, self.program);
                    self.value(at + offset, field.ty, &field_layout, v)?;
                }
                Ok(())
            }
            (TypeKind::Array(a), StaticValue::Array(_) | StaticValue::Bytes(_)) => {
                let Some(var) = &l.var else {
                    return Err(format!("{ty} has no items"));
                };
                if let Some(length) = var.length {
                    self.put((at + length) as i64, 8, i128::from(items(value)));
                }
                self.items(at + var.items, a.of, var.item_size, value)
            }
            (TypeKind::FixedArray(of, _), StaticValue::Array(_) | StaticValue::Bytes(_)) => {
                let step = layout(*of, self.program).size;
                self.items(at, *of, step, value)
            }
            _ => Err(format!("the value of a {ty} is of another shape")),
        }
    }

    fn items(&mut self, at: u64, of: LLType, step: u64, value: &StaticValue) -> Result<(), String> {
        match value {
            StaticValue::Bytes(b) => {
                let at = (self.start + at) as usize;
                self.bytes[at..at + b.len()].copy_from_slice(b);
            }
            StaticValue::Array(values) => {
                let l = layout(of, self.program);
                for (i, v) in values.iter().enumerate() {
                    self.value(at + step * i as u64, of, &l, v)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn constant(&mut self, at: u64, c: &LLConst) -> Result<(), String> {
        let (size, v) = match c {
            LLConst::Void(_) | LLConst::Null(_) => return Ok(()),
            LLConst::Bool(b) => (1, i128::from(*b)),
            LLConst::Char(c) => (1, i128::from(*c)),
            LLConst::UniChar(c) => (4, i128::from(*c)),
            LLConst::Int(IntKind { bits, .. }, v) => (usize::from(*bits) / 8, v.get()),
            LLConst::Float(b) => (8, i128::from(*b)),
            LLConst::SingleFloat(b) => (4, i128::from(*b)),
            LLConst::Func(f) => {
                self.address(at, SymbolRef::function(f), 0);
                return Ok(());
            }
            LLConst::Static(s, _) => {
                self.address(at, SymbolRef::Static((**s).clone()), 0);
                return Ok(());
            }
        };
        self.put(at as i64, size, v);
        Ok(())
    }
}
