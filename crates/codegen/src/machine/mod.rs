//! The meaning of each low-level operation, once for all machines.
//!
//! ```text
//! View ── lower ──► Machine ─┬─────────────────────────────────► text of C
//!                            └─ ssa ──► Instructions ─┬────────► Cranelift's intermediate representation
//!                                                     └────────► text of LLVM
//! ```
//!
//! [`lower_operations`] has an arm per operation and calls methods of a [`Machine`], which is split by subject:
//! [`Operands`], [`Arithmetic`], [`Memory`], [`Objects`], [`Calls`], [`Exceptions`], [`Checks`] and [`Units`]. A machine
//! whose code has expressions and functions of its own for barriers and allocations, as C has, implements them. One
//! that has instructions and basic blocks implements [`Instructions`], over which the module `ssa` implements all others.

mod instructions;
mod lower;
mod ssa;
mod types;

use std::rc::Rc;

use taipan_graph::{BlockId, Operation, VarId};
use taipan_lltype::{
    LLConst, LLGraph, LLOperand, LLType, Layout, LowLevel, NumFamily, NumOp, Program, View,
};

pub use instructions::{Access, Binary, Cond, Instructions, Part, Rare, Region, Unary};
pub use lower::lower_operations;
pub use ssa::{allocate_slowly, bump, fill};
pub use types::{Ty, family_type, is_signed, machine_type, type_of_c};

use crate::RootsFrame;
use crate::runtime::RuntimeFunction;

/// The description of an error in a graph.
pub type Bad = String;

/// Variables and constants, and where code is emitted.
pub trait Operands {
    /// A value.
    type Value: Clone;

    /// The graph.
    fn graph(&self) -> &LLGraph;
    /// The program that the graph is a part of.
    fn program(&self) -> &dyn Program;
    /// Whether undefined behaviour is checked for.
    fn is_checked(&self) -> bool;
    /// Starts an operation.
    fn begin(&mut self, block: BlockId, index: usize, op: &Operation<LowLevel>);
    /// The block of the operation at hand, and its index there.
    fn place(&self) -> (BlockId, usize);
    /// Whether the block at hand is rarely executed.
    fn in_cold_block(&self) -> bool;

    /// The value of a variable that is not Void; none before it is defined.
    fn variable(&self, v: VarId) -> Option<Self::Value>;
    /// The value of a constant that is not Void.
    fn constant(&mut self, c: &LLConst) -> Result<Self::Value, Bad>;
    /// An integer constant, given in any number of bits.
    fn int(&mut self, ty: Ty, n: i128) -> Self::Value;
    /// The null pointer.
    fn null(&mut self) -> Self::Value;
    /// Gives a variable its value.
    fn define(&mut self, v: VarId, value: Self::Value) -> Result<(), Bad>;
    /// Emits a value for its effects.
    fn discard(&mut self, _value: Self::Value) {}

    /// The layout of a container.
    fn layout(&mut self, ty: LLType) -> Rc<Layout>;

    /// The type of an operand.
    fn ty(&self, o: &LLOperand) -> LLType {
        match o {
            LLOperand::Var(v) => *self.graph().ty(*v),
            LLOperand::Const(c) => c.ty(),
        }
    }

    /// The container that a pointer points to.
    fn pointee(&self, o: &LLOperand) -> Result<LLType, Bad> {
        let ty = self.ty(o);
        ty.pointee()
            .ok_or_else(|| format!("a {ty} where a pointer is needed"))
    }

    /// The value of an operand; none if it is Void.
    fn maybe(&mut self, o: &LLOperand) -> Result<Option<Self::Value>, Bad> {
        if self.ty(o).is_void() {
            return Ok(None);
        }
        match o {
            LLOperand::Var(v) => match self.variable(*v) {
                Some(value) => Ok(Some(value)),
                None => Err(format!("variable {v:?} is used before it is defined")),
            },
            LLOperand::Const(c) => self.constant(c).map(Some),
        }
    }

    /// The value of an operand that is not Void.
    fn value(&mut self, o: &LLOperand) -> Result<Self::Value, Bad> {
        self.maybe(o)?.ok_or_else(|| format!("{o:?} has no value"))
    }

    /// The same as a word: an address is its number.
    fn word(&mut self, o: &LLOperand) -> Result<Self::Value, Bad> {
        self.value(o)
    }

    /// The same as an address.
    fn pointer(&mut self, o: &LLOperand) -> Result<Self::Value, Bad> {
        self.value(o)
    }
}

/// Arithmetic, comparison and conversion. `taipan_lltype::eval_num` and `taipan_lltype::convert` define the results;
/// where they define none, nothing traps, except that divisors are never zero.
pub trait Arithmetic: Operands {
    /// Arithmetic and comparison of a family, with a result of type `to`.
    fn num(
        &mut self,
        family: NumFamily,
        num: NumOp,
        left: &LLOperand,
        right: Option<&LLOperand>,
        to: LLType,
    ) -> Result<Self::Value, Bad>;
    /// `bool_not`
    fn bool_not(&mut self, a: &Self::Value) -> Self::Value;
    /// `low <= value < high`
    fn int_between(
        &mut self,
        low: &LLOperand,
        value: &LLOperand,
        high: &LLOperand,
    ) -> Result<Self::Value, Bad>;
    /// A number, or zero if it is negative.
    fn at_least_zero(&mut self, a: &Self::Value) -> Self::Value;
    /// The upper word of a product.
    fn uint_mul_high(&mut self, a: &Self::Value, b: &Self::Value) -> Self::Value;
    /// Arithmetic that may overflow, the value of `result`; `right` is not negative if `grows`. It ends its block,
    /// whose exits depend on the overflow.
    fn overflowing(
        &mut self,
        num: NumOp,
        left: &LLOperand,
        right: &LLOperand,
        grows: bool,
        result: VarId,
    ) -> Result<Self::Value, Bad>;
    /// A number as one of another type.
    fn convert(&mut self, value: &LLOperand, to: LLType) -> Result<Self::Value, Bad>;
    /// The float or the integer with the same bits.
    fn with_bits(&mut self, value: &LLOperand, to: LLType) -> Result<Self::Value, Bad>;
    /// The same value in another type: pointers, addresses and their numbers.
    fn cast(&mut self, value: &LLOperand, to: LLType) -> Result<Option<Self::Value>, Bad>;
    /// A Bool that is usually `expected`.
    fn expected(&mut self, value: &LLOperand, expected: bool) -> Result<Self::Value, Bad>;
    /// A comparison of addresses.
    fn compare_addresses(
        &mut self,
        cond: Cond,
        left: &LLOperand,
        right: &LLOperand,
    ) -> Result<Self::Value, Bad>;
    /// Whether a pointer is null, or is not.
    fn compare_to_null(&mut self, cond: Cond, pointer: &LLOperand) -> Result<Self::Value, Bad>;
    /// An address behind another one.
    fn add_to_address(&mut self, address: &Self::Value, offset: &Self::Value) -> Self::Value;
    /// An address before another one, or the distance between two.
    fn subtract_from_address(
        &mut self,
        left: &Self::Value,
        right: &Self::Value,
        to: LLType,
    ) -> Result<Self::Value, Bad>;
}

/// Fields, items and raw memory.
pub trait Memory: Operands {
    /// The value of a field or an item; none if it is Void.
    fn load(
        &mut self,
        object: &LLOperand,
        path: &[LLOperand],
        op: &Operation<LowLevel>,
    ) -> Result<Option<Self::Value>, Bad>;
    /// Stores a value in a field or an item.
    fn store(
        &mut self,
        object: &LLOperand,
        path: &[LLOperand],
        value: &LLOperand,
        op: &Operation<LowLevel>,
    ) -> Result<(), Bad>;
    /// The length of an array in an object.
    fn length(
        &mut self,
        object: &LLOperand,
        path: &[LLOperand],
        op: &Operation<LowLevel>,
    ) -> Result<Self::Value, Bad>;
    /// Sets the length, at an offset, of an array.
    fn set_length(&mut self, array: &Self::Value, at: u64, length: &Self::Value);
    /// The address of a part of an object; none if it is Void.
    fn part_address(
        &mut self,
        object: &LLOperand,
        step: &LLOperand,
        op: &Operation<LowLevel>,
    ) -> Result<Option<Self::Value>, Bad>;
    /// The address of the first item of an array.
    fn items_address(&mut self, array: &LLOperand, to: LLType) -> Result<Self::Value, Bad>;
    /// The address of the item that is `count` behind another one.
    fn item_address(
        &mut self,
        items: &LLOperand,
        count: &LLOperand,
        to: LLType,
    ) -> Result<Self::Value, Bad>;
    /// `address + offset`
    fn raw_address(&mut self, address: &Self::Value, offset: &Self::Value) -> Self::Value;
    /// `object + index * scale + offset`
    fn indexed_address(
        &mut self,
        object: &Self::Value,
        index: &Self::Value,
        scale: &Self::Value,
        offset: &Self::Value,
    ) -> Self::Value;
    /// The value at an address of any alignment.
    fn load_raw(&mut self, at: &Self::Value, ty: LLType) -> Result<Self::Value, Bad>;
    /// Stores a value of a type at an address of any alignment.
    fn store_raw(&mut self, at: &Self::Value, value: &Self::Value, ty: LLType) -> Result<(), Bad>;
    /// Fills memory with a byte, or with zeroes.
    fn fill(&mut self, address: &Self::Value, byte: Option<&Self::Value>, size: &Self::Value);
    /// Copies memory by `memcpy` or `memmove` of C.
    fn copy(
        &mut self,
        f: RuntimeFunction,
        source: &Self::Value,
        dest: &Self::Value,
        size: &Self::Value,
    );
    /// Copies items from one array of a type to another: source and target, their first indices, and the number.
    fn copy_items(&mut self, ty: LLType, operands: [&LLOperand; 5]) -> Result<(), Bad>;
}

/// Allocation, write barriers and roots.
pub trait Objects: Operands {
    /// An object, or raw memory, of a type, with items if it has a length; the operation's result may be null.
    fn malloc(
        &mut self,
        ty: LLType,
        flavor: &LLOperand,
        length: Option<&LLOperand>,
        op: &Operation<LowLevel>,
    ) -> Result<Self::Value, Bad>;
    /// An object of fixed size, the value of `object`. It ends its block, whose second exit is taken where the nursery
    /// is full.
    fn malloc_nursery(&mut self, ty: LLType, object: VarId) -> Result<Self::Value, Bad>;
    /// Raw memory.
    fn raw_malloc(&mut self, size: &Self::Value, zero: bool) -> Result<Self::Value, Bad>;
    /// Frees raw memory.
    fn free(&mut self, address: &Self::Value, op: &Operation<LowLevel>);
    /// The barrier before a store into an object, or into one item of an array.
    fn write_barrier(&mut self, object: &Self::Value, index: Option<&Self::Value>);
    /// The identity hash of an object.
    fn identity_hash(&mut self, object: &Self::Value) -> Self::Value;
    /// The object of a weak reference.
    fn weakref_target(&mut self, weakref: &Self::Value, to: LLType) -> Result<Self::Value, Bad>;
    /// The frame of roots that was entered.
    fn roots(&self) -> Option<RootsFrame>;
    /// Takes slots of the shadow stack. All of them are filled before the collector reads them.
    fn enter_roots(&mut self, frame: RootsFrame);
    /// Gives them back.
    fn leave_roots(&mut self) -> Result<(), Bad>;
    /// Stores a root.
    fn save_root(&mut self, slot: i64, root: &LLOperand) -> Result<(), Bad>;
    /// Reads a root.
    fn restore_root(&mut self, slot: i64) -> Result<Self::Value, Bad>;
}

/// Calls.
pub trait Calls: Operands {
    /// A call; its value unless it is Void.
    fn call(
        &mut self,
        callee: &LLOperand,
        args: &[LLOperand],
        to: LLType,
    ) -> Result<Option<Self::Value>, Bad>;
    /// A call on a condition that rarely holds.
    fn conditional_call(
        &mut self,
        condition: &LLOperand,
        callee: &LLOperand,
        args: &[LLOperand],
    ) -> Result<(), Bad>;
    /// A value unless it is zero or null, else the result of a function.
    fn conditional_call_value(
        &mut self,
        value: &LLOperand,
        callee: &LLOperand,
        args: &[LLOperand],
        to: LLType,
    ) -> Result<Self::Value, Bad>;
    /// A call of the runtime.
    fn runtime_operation(
        &mut self,
        f: RuntimeFunction,
        values: Vec<Self::Value>,
    ) -> Option<Self::Value>;
    /// Notifies the just-in-time compiler of a store in a field that it takes for constant.
    fn field_written(&mut self, object: &LLOperand, field: &LLOperand) -> Result<(), Bad>;
}

/// The current exception, and the record of where exceptions went.
pub trait Exceptions: Operands {
    /// Whether there is one.
    fn exc_occurred(&mut self) -> Self::Value;
    /// Its class.
    fn exc_type(&mut self) -> Self::Value;
    /// Its instance.
    fn exc_value(&mut self) -> Self::Value;
    /// Makes an exception the current one.
    fn set_exception(&mut self, class: &Self::Value, value: &Self::Value);
    /// Records that an exception passed a place in the source.
    fn traceback_location(&mut self, at: u32, class: &Self::Value);
    /// Records another event: one of `abi::mark`.
    fn traceback_mark(&mut self, mark: i64, class: &Self::Value);
}

/// Assertions, and output for people.
pub trait Checks: Operands {
    /// Ends the program, or says so, unless a condition holds.
    fn assertion(&mut self, condition: &Self::Value, op: &Operation<LowLevel>) -> Result<(), Bad>;
    /// Whether the machine stack is used up.
    fn stack_check(&mut self) -> Self::Value;
    /// The bits of a value as `rpy_debug_print` takes them.
    fn printable(&mut self, ty: LLType, value: &Self::Value) -> Result<Self::Value, Bad>;
    /// Prints a word.
    fn print_word(&mut self, kind: i32, word: &Self::Value);
}

/// Operations of programs with a just-in-time compiler.
pub trait Units: Operands {
    /// `jit_enter(driver, greens...)`
    fn jit_enter(&mut self, driver: &LLOperand, greens: &[LLOperand]) -> Result<Self::Value, Bad>;

    /// An operation that only code has which is made while a program runs. No machine but that of such code has any.
    fn unit_operation(
        &mut self,
        _view: View<'_, LLOperand>,
        _op: &Operation<LowLevel>,
    ) -> Result<Option<Self::Value>, Bad> {
        Err("only code that is made while a program runs has it".into())
    }
}

/// A machine that code is emitted for.
pub trait Machine: Arithmetic + Memory + Objects + Calls + Exceptions + Checks + Units {}

impl<M: Arithmetic + Memory + Objects + Calls + Exceptions + Checks + Units> Machine for M {}
