//! Object-oriented low-level types, for targets with objects and a collector of their own (RPython:
//! `rpython/ootypesystem`, until 2012).
//!
//! ```text
//! lltype                                        ootype
//! *GcStruct instance, super inlined             Instance, with a base
//! *Struct vtable                                Class: a record of static methods, with a base
//! *GcArray of T                                 Array
//! *GcStruct with an array at its end            Instance with a field of type Array
//! *Struct inlined in an array or a struct       Record: an object that its container made and keeps
//! *func(...) -> T                               StaticMethod
//! GCREF                                         Object
//! ```
//!
//! There is one RTyper: [`lower`] translates the graph of a function from `lltype` to `ootype`, after optimisation
//! and the exception transform, before the collector's. So helpers of the prelude, layouts of classes and prebuilt
//! data are the same in both type systems. A type of `ootype` names the `lltype` container that it comes from
//! ([`OOType`]); the fields of a class are found with [`fields_of`].
//!
//! [`initialize_at_once`] joins allocations with the first values of fields.
//!
//! Raw memory and addresses have no translation: [`lower`] reports them as a [`Lack`].
//!
//! **Architecture invariants.** No salsa. No target: back ends decide the layout of objects.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod dialect;
mod fields;
mod initial;
mod lack;
mod lower;
mod ops;
#[cfg(test)]
mod tests;
mod types;
mod verify;

pub use dialect::{OOGraph, OOOperand, ObjectOriented, const_type, type_of};
pub use fields::{
    Member, Place, base_of, fields_of, identity_field, inherited, items_field, member, storage,
};
pub use initial::initialize_at_once;
pub use lack::{Lack, Unsupported};
pub use lower::lower;
pub use ops::{Argument, OOOp, ObjectOp};
pub use types::OOType;
pub use verify::check_graph;
