//! Reprs of everything but containers: numbers, None, instances, classes, functions
//! and other prebuilt constants, builtin functions, low-level pointers.

mod bool;
mod builtin;
mod class;
mod erased;
mod float;
mod instance;
mod int;
pub(crate) mod jit;
mod known;
mod lowlevel;
mod none;
mod pbc;
pub(crate) mod ptr;
mod rlib;
mod weakref;

pub(crate) use bool::BoolRepr;
pub(crate) use builtin::{BuiltinFunctionRepr, BuiltinMethodRepr, builtin_conversion};
pub(crate) use class::{ClassesPbcRepr, RootClassRepr};
pub(crate) use erased::ErasedRepr;
pub(crate) use float::{FloatRepr, SingleFloatRepr, float_pair};
pub(crate) use instance::{InstanceRepr, instance_conversion, instance_pair};
pub(crate) use int::{IntegerRepr, int_pair, num_conversion};
pub(crate) use none::{NoneRepr, VoidRepr, none_conversion, none_pair};
pub(crate) use pbc::{
    FrozenMethodRepr, FrozenPbcRepr, FunctionRepr, FunctionsPbcRepr, MethodsPbcRepr,
    pbc_conversion, pbc_pair,
};
pub(crate) use ptr::{
    AddressRepr, AdtMethRepr, InteriorPtrRepr, LLFuncRepr, LLTypeRepr, PtrRepr, address_access,
    address_pair, ptr_conversion, ptr_pair,
};
pub(crate) use weakref::WeakRefRepr;

pub(crate) use pbc::{BoundMethods, common_to_methods};
pub(crate) use weakref::prebuilt_weakref;

pub(crate) use class::{
    gen_issubclass, getclsfield, group_field, group_of_field, may_be, vtable_repr,
};
pub(crate) use erased::{erased_constant, erased_conversion, rtype_erase};
pub(crate) use float::{comparison, const_as_float};
pub(crate) use instance::{cast_pointer, class_of_instance, default_fields};
pub(crate) use int::{const_as_int, gen_cast, is_nonneg};
pub(crate) use pbc::{
    attr_family, family_of_struct, frozen_attribute, frozen_struct, pbc_repr, points_to_frozen,
    variants_of,
};
