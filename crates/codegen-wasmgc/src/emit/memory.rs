//! Objects, arrays, their fields and items.

use taipan_lltype::{ConstantOperand, LLOperand, LLType, TypeKind};
use taipan_ootype::{Lack, OOOperand, OOType, fields_of, inherited, items_field, storage};
use wasm_encoder::{BlockType, HeapType, ValType};

use super::{Emitter, is_wide};
use crate::code::Ins;
use crate::symbols::{Glue, TypeSym};
use crate::types::{Numbers, Packed, item_size, item_type, nullable, packed};

/// No array has more bytes: V8 traps where one is larger, with its head, than 1 GB. A program gets MemoryError.
const MOST_BYTES: i64 = (1 << 30) - 1024;

/// Items of a part of an object that are made one by one.
const MOST_PARTS: u64 = 1000;

fn low(o: &OOOperand) -> LLOperand {
    match o {
        OOOperand::Var(v) => LLOperand::Var(*v),
        OOOperand::Const(c) => LLOperand::Const(c.clone()),
    }
}

/// The type that an operand names.
fn type_operand(o: &OOOperand) -> Result<LLType, Lack> {
    low(o)
        .as_type()
        .ok_or_else(|| Lack::Operation("malloc of what is no constant type".into()))
}

/// Whether all fields of a new object are zero or null.
fn is_plain(ty: LLType, program: &dyn taipan_lltype::Program) -> bool {
    fields_of(ty, program).iter().all(|m| !is_part(m.ty))
}

/// Whether a type is that of a part, which the container makes.
fn is_part(ty: LLType) -> bool {
    matches!(
        ty.kind(),
        TypeKind::Struct(_) | TypeKind::Array(_) | TypeKind::FixedArray(..)
    )
}

/// The instruction that pushes zero or null, of a field's type.
pub(crate) fn zero(ty: OOType, symbols: &mut dyn Numbers) -> Result<Ins, Lack> {
    Ok(match crate::types::val_type(ty, symbols)? {
        Some(ValType::I64) => Ins::I64Const(0),
        Some(ValType::F32) => Ins::F32Const(0.0.into()),
        Some(ValType::F64) => Ins::F64Const(0.0.into()),
        Some(ValType::Ref(_)) => Ins::RefNull(crate::types::heap_type(ty, symbols)),
        _ => Ins::I32Const(0),
    })
}

/// The instructions that make a new object, or a part of one: fields are zero or null, but parts are there. The array at its end, if
/// there is one, is on the stack of its own: `items` pushes it.
pub(crate) fn new_object(
    ty: LLType,
    program: &dyn taipan_lltype::Program,
    symbols: &mut dyn Numbers,
    items: Option<&[Ins]>,
) -> Result<Vec<Ins>, Lack> {
    let number = symbols.number(TypeSym::Container(ty));
    match ty.kind() {
        TypeKind::FixedArray(of, n) if !is_part(*of) => Ok(vec![
            Ins::I32Const(i32::try_from(*n).map_err(|_| Lack::RawMemory)?),
            Ins::ArrayNewDefault(number),
        ]),
        TypeKind::FixedArray(of, n) if *n <= MOST_PARTS => {
            let part = new_object(*of, program, symbols, None)?;
            let mut code: Vec<Ins> = (0..*n).flat_map(|_| part.iter().cloned()).collect();
            code.push(Ins::ArrayNewFixed {
                array_type_index: number,
                array_size: *n as u32,
            });
            Ok(code)
        }
        TypeKind::Array(_) => Ok(vec![Ins::I32Const(0), Ins::ArrayNewDefault(number)]),
        TypeKind::Struct(_) if is_plain(ty, program) => Ok(vec![Ins::StructNewDefault(number)]),
        TypeKind::Struct(_) => {
            let fields = fields_of(ty, program);
            let mut code = Vec::new();
            for (i, m) in fields.iter().enumerate() {
                match items {
                    Some(items) if i + 1 == fields.len() => code.extend(items.iter().cloned()),
                    _ if is_part(m.ty) => code.extend(new_object(m.ty, program, symbols, None)?),
                    _ => code.push(zero(storage(m.ty), symbols)?),
                }
            }
            code.push(Ins::StructNew(number));
            Ok(code)
        }
        _ => Err(Lack::RawMemory),
    }
}

impl Emitter<'_> {
    /// A new object. `given` are names of fields, each with its value.
    pub(super) fn new_object(&mut self, ty: &OOOperand, given: &[OOOperand]) -> Result<(), Lack> {
        let ty = type_operand(ty)?;
        if given.is_empty() {
            let code = new_object(ty, self.program, &mut self.symbols, None)?;
            self.out.extend(code);
            return Ok(());
        }
        let number = self.symbols.ty(TypeSym::Container(ty));
        let fields = fields_of(ty, self.program);
        let mut values = vec![None; fields.len()];
        for pair in given.chunks(2) {
            let (i, _) = self.place_in(ty, &pair[0])?;
            values[i as usize] = pair.get(1);
        }
        for (m, value) in fields.iter().zip(values) {
            match value {
                Some(value) => self.push(value)?,
                None if is_part(m.ty) => {
                    let part = new_object(m.ty, self.program, &mut self.symbols, None)?;
                    self.out.extend(part);
                }
                None => {
                    let zero = zero(storage(m.ty), &mut self.symbols)?;
                    self.out.push(zero);
                }
            }
        }
        self.out.push(Ins::StructNew(number));
        Ok(())
    }

    /// A new array, or an object with one at its end; null where there is no such array.
    pub(super) fn new_items(&mut self, ty: &OOOperand, length: &OOOperand) -> Result<(), Lack> {
        let ty = type_operand(ty)?;
        let array = items_field(ty, self.program).map_or(ty, |(_, array)| array);
        let item = item_type(array);
        let n = self.kept(length)?;
        let number = self.symbols.ty(TypeSym::Container(array));
        let mut items = vec![Ins::LocalGet(n)];
        if matches!(item, OOType::Record(_)) {
            let glue = crate::symbols::Callee::Glue(Glue::NewRecords(array));
            items.push(Ins::Call(self.symbols.callee(glue)));
        } else {
            items.extend([Ins::I32WrapI64, Ins::ArrayNewDefault(number)]);
        }
        let made = match ty == array {
            true => items,
            false => new_object(ty, self.program, &mut self.symbols, Some(&items))?,
        };
        let result = HeapType::Concrete(self.symbols.ty(TypeSym::Container(ty)));
        self.out.extend([
            Ins::LocalGet(n),
            Ins::I64Const(MOST_BYTES / item_size(item)),
            Ins::I64GtU,
            Ins::If(BlockType::Result(nullable(result))),
            Ins::RefNull(result),
            Ins::Else,
        ]);
        self.out.extend(made);
        self.out.push(Ins::End);
        Ok(())
    }

    /// The number of the type of an object, that of a field, and the field's content.
    fn field(&mut self, object: &OOOperand, name: &OOOperand) -> Result<(u32, u32, OOType), Lack> {
        let class = self.ty(object).container().ok_or(Lack::Addresses)?;
        let (i, ty) = self.place_in(class, name)?;
        Ok((self.symbols.ty(TypeSym::Container(class)), i, ty))
    }

    /// The number of a field of a class, and its content.
    fn place_in(&self, class: LLType, name: &OOOperand) -> Result<(u32, OOType), Lack> {
        let name = low(name);
        let name = name.as_field().ok_or(Lack::Addresses)?;
        match inherited(class, name, self.program) {
            Some((_, ty)) if is_wide(storage(ty)) => Err(Lack::WideIntegers),
            Some((i, ty)) => Ok((i as u32, storage(ty))),
            None => Err(Lack::Operation(format!("field {name}"))),
        }
    }

    pub(super) fn get_field(&mut self, object: &OOOperand, name: &OOOperand) -> Result<(), Lack> {
        let (struct_type_index, field_index, ty) = self.field(object, name)?;
        self.push(object)?;
        self.out.push(match packed(ty) {
            Packed::No => Ins::StructGet {
                struct_type_index,
                field_index,
            },
            Packed::Signed => Ins::StructGetS {
                struct_type_index,
                field_index,
            },
            Packed::Unsigned => Ins::StructGetU {
                struct_type_index,
                field_index,
            },
        });
        Ok(())
    }

    pub(super) fn set_field(
        &mut self,
        object: &OOOperand,
        name: &OOOperand,
        value: &OOOperand,
    ) -> Result<(), Lack> {
        let (struct_type_index, field_index, _) = self.field(object, name)?;
        self.push(object)?;
        self.push(value)?;
        self.out.push(Ins::StructSet {
            struct_type_index,
            field_index,
        });
        Ok(())
    }

    /// The number of the type of an array, and the content of its items.
    fn array(&mut self, array: &OOOperand) -> Result<(u32, OOType), Lack> {
        let ty = self.ty(array).container().ok_or(Lack::Addresses)?;
        let number = self.symbols.ty(TypeSym::Container(ty));
        match is_wide(item_type(ty)) {
            true => Err(Lack::WideIntegers),
            false => Ok((number, item_type(ty))),
        }
    }

    pub(super) fn get_item(&mut self, array: &OOOperand, index: &OOOperand) -> Result<(), Lack> {
        let (number, ty) = self.array(array)?;
        self.push(array)?;
        self.index(index)?;
        self.out.push(match packed(ty) {
            Packed::No => Ins::ArrayGet(number),
            Packed::Signed => Ins::ArrayGetS(number),
            Packed::Unsigned => Ins::ArrayGetU(number),
        });
        Ok(())
    }

    pub(super) fn set_item(
        &mut self,
        array: &OOOperand,
        index: &OOOperand,
        value: &OOOperand,
    ) -> Result<(), Lack> {
        let (number, _) = self.array(array)?;
        self.push(array)?;
        self.index(index)?;
        self.push(value)?;
        self.out.push(Ins::ArraySet(number));
        Ok(())
    }

    /// Pushes an index or a length as an `i32`.
    fn index(&mut self, index: &OOOperand) -> Result<(), Lack> {
        if let OOOperand::Const(taipan_lltype::LLConst::Int(_, n)) = index
            && let Ok(n) = i32::try_from(n.get())
        {
            self.out.push(Ins::I32Const(n));
            return Ok(());
        }
        self.push(index)?;
        self.out.push(Ins::I32WrapI64);
        Ok(())
    }

    /// `source, dest, source_start, dest_start, length`
    pub(super) fn copy_items(&mut self, args: &[OOOperand]) -> Result<(), Lack> {
        let [source, dest, from, to, length] = args else {
            return Err(Lack::Operation("oocopyitems".into()));
        };
        let (source_type, item) = self.array(source)?;
        let (dest_type, _) = self.array(dest)?;
        if matches!(item, OOType::Record(_)) {
            let ty = self.ty(source).container().ok_or(Lack::Addresses)?;
            self.on(args, &[])?;
            self.call_glue(Glue::CopyRecords(ty));
            return Ok(());
        }
        self.push(dest)?;
        self.index(to)?;
        self.push(source)?;
        self.index(from)?;
        self.index(length)?;
        self.out.push(Ins::ArrayCopy {
            array_type_index_dst: dest_type,
            array_type_index_src: source_type,
        });
        Ok(())
    }

    /// Gives an object a shorter copy of the array at its end.
    pub(super) fn shrink(&mut self, object: &OOOperand, length: &OOOperand) -> Result<(), Lack> {
        let ty = self.ty(object).container().ok_or(Lack::Addresses)?;
        let (field, array) = items_field(ty, self.program).ok_or(Lack::Addresses)?;
        let struct_type_index = self.symbols.ty(TypeSym::Container(ty));
        let number = self.symbols.ty(TypeSym::Container(array));
        let field_index = field as u32;
        let this = self.temporary(nullable(HeapType::Concrete(struct_type_index)));
        let new = self.temporary(nullable(HeapType::Concrete(number)));
        self.on(std::slice::from_ref(object), &[Ins::LocalSet(this)])?;
        self.index(length)?;
        self.out.extend([
            Ins::ArrayNewDefault(number),
            Ins::LocalTee(new),
            Ins::I32Const(0),
            Ins::LocalGet(this),
            Ins::StructGet {
                struct_type_index,
                field_index,
            },
            Ins::I32Const(0),
            Ins::LocalGet(new),
            Ins::ArrayLen,
            Ins::ArrayCopy {
                array_type_index_dst: number,
                array_type_index_src: number,
            },
            Ins::LocalGet(this),
            Ins::LocalGet(new),
            Ins::StructSet {
                struct_type_index,
                field_index,
            },
        ]);
        Ok(())
    }
}
