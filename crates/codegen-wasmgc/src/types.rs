//! Types of values, fields and functions as WebAssembly has them.

use taipan_graph::IntKind;
use taipan_lltype::{LLType, Program, TypeKind};
use taipan_ootype::{Lack, OOType, base_of, fields_of, storage};
use wasm_encoder::{
    ArrayType, CompositeInnerType, CompositeType, FieldType, FuncType, HeapType, RefType,
    StorageType, StructType, SubType, ValType,
};

use crate::emit::is_wide;
use crate::symbols::TypeSym;

/// The numbers of types.
pub(crate) trait Numbers {
    fn number(&mut self, ty: TypeSym) -> u32;
}

impl Numbers for crate::symbols::Symbols {
    fn number(&mut self, ty: TypeSym) -> u32 {
        self.ty(ty)
    }
}

/// `eqref`
pub(crate) const OBJECT: ValType = ValType::Ref(RefType::EQREF);

/// The symbol of a reference's target type; none for references to any object.
pub(crate) fn symbol(ty: OOType) -> Option<TypeSym> {
    match ty {
        OOType::Instance(t) | OOType::Record(t) | OOType::Class(t) | OOType::Array(t) => {
            Some(TypeSym::Container(t))
        }
        OOType::StaticMethod(t) => Some(TypeSym::Method(t)),
        _ => None,
    }
}

/// The target type of a reference.
pub(crate) fn heap_type(ty: OOType, numbers: &mut dyn Numbers) -> HeapType {
    symbol(ty).map_or(RefType::EQREF.heap_type, |s| {
        HeapType::Concrete(numbers.number(s))
    })
}

/// A nullable reference.
pub(crate) fn nullable(heap_type: HeapType) -> ValType {
    ValType::Ref(RefType {
        nullable: true,
        heap_type,
    })
}

/// The type of a value that has one part; none of Void.
pub(crate) fn val_type(ty: OOType, numbers: &mut dyn Numbers) -> Result<Option<ValType>, Lack> {
    Ok(Some(match ty {
        OOType::Void => return Ok(None),
        OOType::Bool | OOType::Char | OOType::UniChar => ValType::I32,
        OOType::Int(IntKind { bits: 128, .. }) => return Err(Lack::WideIntegers),
        OOType::Int(IntKind { bits: 64, .. }) => ValType::I64,
        OOType::Int(_) => ValType::I32,
        OOType::Float => ValType::F64,
        OOType::SingleFloat => ValType::F32,
        OOType::Raw(_) => return Err(Lack::RawMemory),
        _ => nullable(heap_type(ty, numbers)),
    }))
}

/// The types of the parts that a value has in functions: two of an integer of 128 bits, none of Void.
pub(crate) fn val_types(ty: OOType, numbers: &mut dyn Numbers) -> Result<Vec<ValType>, Lack> {
    Ok(match is_wide(ty) {
        true => vec![ValType::I64; 2],
        false => val_type(ty, numbers)?.into_iter().collect(),
    })
}

/// How a packed field or item of a type is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Packed {
    /// It is not packed.
    No,
    /// With its sign.
    Signed,
    /// With zeroes.
    Unsigned,
}

/// How a field or an item is read.
pub(crate) fn packed(ty: OOType) -> Packed {
    match ty {
        OOType::Bool | OOType::Char => Packed::Unsigned,
        OOType::Int(k) if k.bits < 32 => match k.signed {
            true => Packed::Signed,
            false => Packed::Unsigned,
        },
        _ => Packed::No,
    }
}

/// The type of a field or an item.
fn storage_type(ty: OOType, numbers: &mut dyn Numbers) -> Result<StorageType, Lack> {
    Ok(match ty {
        OOType::Bool | OOType::Char => StorageType::I8,
        OOType::Int(IntKind { bits: 8, .. }) => StorageType::I8,
        OOType::Int(IntKind { bits: 16, .. }) => StorageType::I16,
        _ => match val_type(ty, numbers)? {
            Some(ty) => StorageType::Val(ty),
            // Arrays of nothing have a length.
            None => StorageType::I8,
        },
    })
}

/// The number of bytes of an item.
pub(crate) fn item_size(ty: OOType) -> i64 {
    match ty {
        OOType::Bool | OOType::Char | OOType::Void => 1,
        OOType::Int(k) => i64::from(k.bits / 8),
        OOType::UniChar | OOType::SingleFloat => 4,
        _ => 8,
    }
}

/// The items of an array type.
pub(crate) fn item_type(array: LLType) -> OOType {
    match array.kind() {
        TypeKind::Array(a) => storage(a.of),
        TypeKind::FixedArray(of, _) => storage(*of),
        _ => OOType::Void,
    }
}

/// Arguments and results of functions of a type.
pub(crate) fn signature(
    ty: LLType,
    numbers: &mut dyn Numbers,
) -> Result<(Vec<ValType>, Vec<ValType>), Lack> {
    let f = ty.as_func().ok_or(Lack::Addresses)?;
    let mut params = Vec::new();
    for a in &f.args {
        params.extend(val_types(OOType::of(*a), numbers)?);
    }
    Ok((params, val_types(OOType::of(f.result), numbers)?))
}

/// The type that another one is a subtype of.
pub(crate) fn supertype(ty: TypeSym, program: &dyn Program) -> Option<TypeSym> {
    match ty {
        TypeSym::Container(t) => base_of(t, program).map(TypeSym::Container),
        TypeSym::Weakref => Some(TypeSym::Container(*taipan_lltype::WEAKREF)),
        TypeSym::Function(_) | TypeSym::Method(_) => None,
    }
}

/// Whether a field is never set after its object is made: those of classes that refer to earlier objects alone.
fn is_fixed(class: LLType, field: LLType) -> bool {
    let field = storage(field);
    let is_early = !field.is_reference()
        || matches!(field, OOType::StaticMethod(_))
        || field.low() == taipan_lltype::STR.ptr();
    class.is_vtable() && is_early
}

/// The definition of a type.
pub(crate) fn definition(
    ty: TypeSym,
    program: &dyn Program,
    numbers: &mut dyn Numbers,
) -> Result<SubType, Lack> {
    let mut fields = |t: LLType| -> Result<Vec<FieldType>, Lack> {
        let members = fields_of(t, program);
        let fields = members.iter().map(|m| {
            Ok(FieldType {
                element_type: storage_type(storage(m.ty), numbers)?,
                mutable: !is_fixed(t, m.ty),
            })
        });
        fields.collect()
    };
    let inner = match ty {
        TypeSym::Container(t) if t.as_struct().is_some() => {
            CompositeInnerType::Struct(StructType {
                fields: fields(t)?.into(),
            })
        }
        TypeSym::Weakref => {
            let mut fields = fields(*taipan_lltype::WEAKREF)?;
            fields.push(FieldType {
                element_type: StorageType::Val(ValType::EXTERNREF),
                mutable: true,
            });
            CompositeInnerType::Struct(StructType {
                fields: fields.into(),
            })
        }
        TypeSym::Container(t) => CompositeInnerType::Array(ArrayType(FieldType {
            element_type: storage_type(item_type(t), numbers)?,
            mutable: true,
        })),
        TypeSym::Function(t) => {
            let (params, results) = signature(t, numbers)?;
            CompositeInnerType::Func(FuncType::new(params, results))
        }
        TypeSym::Method(t) => {
            let function = HeapType::Concrete(numbers.number(TypeSym::Function(t)));
            let field = FieldType {
                element_type: StorageType::Val(ValType::Ref(RefType {
                    nullable: false,
                    heap_type: function,
                })),
                mutable: false,
            };
            CompositeInnerType::Struct(StructType {
                fields: [field].into(),
            })
        }
    };
    let base = supertype(ty, program).map(|s| numbers.number(s));
    Ok(SubType {
        is_final: false,
        supertype_idxs: base.into_iter().collect(),
        composite_type: CompositeType {
            inner,
            shared: false,
            descriptor: None,
            describes: None,
        },
    })
}
