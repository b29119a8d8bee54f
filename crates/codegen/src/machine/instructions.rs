//! Machines that have instructions, basic blocks and values that are assigned once.

use taipan_graph::{Operation, VarId};
use taipan_lltype::{FuncSym, FuncType, LLOperand, LLType, LowLevel, NumOp};

use super::{Bad, Operands, Ty};
use crate::runtime::RuntimeFunction;
use crate::{RootsFrame, SymbolRef, abi};

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names of comparisons")]
pub enum Cond {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// An instruction with two operands of one type, which is that of its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binary {
    /// Sum of integers.
    Add,
    /// Difference of integers.
    Sub,
    /// Product of integers.
    Mul,
    /// The upper half of a product of integers without a sign.
    UMulHigh,
    /// Quotient with a sign. The divisor is not zero, and the quotient does not overflow.
    SDiv,
    /// Remainder with a sign, under the same conditions.
    SRem,
    /// Quotient without a sign. The divisor is not zero.
    UDiv,
    /// Remainder without a sign, under the same condition.
    URem,
    /// The larger integer with a sign.
    SMax,
    /// Bits of both.
    And,
    /// Bits of either.
    Or,
    /// Bits of one.
    Xor,
    /// Shift to the left by less than the number of bits.
    Shl,
    /// The same to the right, filled with the sign.
    AShr,
    /// The same to the right, filled with zeroes.
    LShr,
    /// Sum of floats.
    FAdd,
    /// Difference of floats.
    FSub,
    /// Product of floats.
    FMul,
    /// Quotient of floats.
    FDiv,
}

/// An instruction with one operand of the type of its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unary {
    /// The opposite of an integer.
    Neg,
    /// All bits of an integer inverted.
    Not,
    /// The opposite of a float.
    FNeg,
    /// A float without its sign.
    FAbs,
}

/// Parts of memory that never overlap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Region {
    /// Objects, and raw memory.
    Heap,
    /// The state shared with the runtime.
    State,
    /// The shadow stack.
    Roots,
}

/// A part of objects of the collector that overlaps no other one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part<'a> {
    /// Any.
    Any,
    /// A field of a type.
    Field(LLType, &'a str),
    /// Items of a type.
    Items(Ty),
    /// A length.
    Length,
}

/// Properties of a load or a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access<'a> {
    /// The memory.
    pub region: Region,
    /// The part of an object.
    pub part: Part<'a>,
    /// The alignment of the address, in bytes.
    pub align: u32,
    /// Whether the memory is never written.
    pub is_constant: bool,
    /// Whether it may contain anything: it is read to find out whether it was freed.
    pub is_unknown: bool,
}

impl Access<'_> {
    /// A word of an object.
    pub const HEAP: Access<'static> = Access {
        region: Region::Heap,
        part: Part::Any,
        align: 8,
        is_constant: false,
        is_unknown: false,
    };
    /// Raw memory at any address.
    pub const RAW: Access<'static> = Access {
        align: 1,
        ..Access::HEAP
    };
    /// The state shared with the runtime.
    pub const STATE: Access<'static> = Access {
        region: Region::State,
        ..Access::HEAP
    };
    /// The shadow stack.
    pub const ROOTS: Access<'static> = Access {
        region: Region::Roots,
        ..Access::HEAP
    };
}

/// Which target of a branch is rarely taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rare {
    /// Neither.
    None,
    /// The first one.
    First,
    /// The second one.
    Second,
}

/// A machine with instructions, to which the others of a [`Machine`](super::Machine) are reduced.
///
/// A *join* is a block with one value, which each jump to it passes. It is started by
/// [`start_join`](Instructions::start_join) when all jumps to it are emitted.
pub trait Instructions: Operands {
    /// A value of one bit.
    type Bit: Clone;
    /// A block.
    type Block: Clone;
    /// A block with a value.
    type Join;

    // Values.

    /// The type of a value. An address may be an integer.
    fn type_of(&self, v: &Self::Value) -> Ty;
    /// The number, if a value is a constant integer.
    fn known(&self, v: &Self::Value) -> Option<i128>;
    /// The zero of a type.
    fn zero(&mut self, ty: Ty) -> Self::Value;
    /// An address as an integer, or an integer as an address; all others as they are.
    fn as_type(&mut self, v: &Self::Value, to: Ty) -> Self::Value;
    /// The address of data.
    fn address_of(&mut self, symbol: &SymbolRef) -> Self::Value;
    /// The address of the record of a place in the source.
    fn location(&mut self, at: u32) -> Self::Value;

    // Arithmetic.

    /// An instruction with two operands.
    fn binary(&mut self, op: Binary, a: &Self::Value, b: &Self::Value) -> Self::Value;
    /// An instruction with one operand.
    fn unary(&mut self, op: Unary, a: &Self::Value) -> Self::Value;
    /// A comparison of integers or addresses.
    fn compare(&mut self, cond: Cond, signed: bool, a: &Self::Value, b: &Self::Value) -> Self::Bit;
    /// A comparison of floats: false of NaN, but for `Ne`.
    fn compare_floats(&mut self, cond: Cond, a: &Self::Value, b: &Self::Value) -> Self::Bit;
    /// A shift by any count, an integer without a sign of any width: one that is out of range shifts everything out.
    /// `known` is the count if it is a constant in range.
    fn shift(
        &mut self,
        op: Binary,
        a: &Self::Value,
        count: &Self::Value,
        known: Option<i128>,
    ) -> Self::Value;
    /// The result of a division by a constant zero, where no instruction traps.
    fn divided_by_zero(&mut self, _ty: Ty) -> Option<Self::Value> {
        None
    }
    /// Arithmetic that may overflow. The machine remembers the overflow until the block ends. `right` is not negative if
    /// `grows`.
    fn with_overflow(
        &mut self,
        num: NumOp,
        left: &LLOperand,
        right: &LLOperand,
        grows: bool,
    ) -> Result<Self::Value, Bad>;
    /// An integer in another width, extended by its sign or by zeroes.
    fn resize(&mut self, v: &Self::Value, to: Ty, signed: bool) -> Self::Value;
    /// A float in another width.
    fn resize_float(&mut self, v: &Self::Value, to: Ty) -> Self::Value;
    /// The integer of 64 bits nearest to a float of 64 bits, truncated.
    fn saturated(&mut self, v: &Self::Value) -> Self::Value;
    /// The float of an integer of 64 bits.
    fn float_of(&mut self, v: &Self::Value, to: Ty, signed: bool) -> Self::Value;
    /// The value of another type with the same bits.
    fn bitcast(&mut self, v: &Self::Value, to: Ty) -> Self::Value;

    // Bits.

    /// Whether a number is not zero, or an address not null.
    fn bit(&mut self, v: &Self::Value) -> Self::Bit;
    /// The Bool of a bit.
    fn boolean(&mut self, bit: Self::Bit) -> Self::Value;
    /// The other bit.
    fn not(&mut self, bit: &Self::Bit) -> Self::Bit;
    /// Whether both are set.
    fn both(&mut self, a: &Self::Bit, b: &Self::Bit) -> Self::Bit;
    /// One of two values.
    fn select(&mut self, bit: &Self::Bit, yes: &Self::Value, no: &Self::Value) -> Self::Value;

    // Blocks.

    /// A new block.
    fn block(&mut self, name: &str) -> Self::Block;
    /// A new block that is rarely executed.
    fn cold_block(&mut self, name: &str) -> Self::Block;
    /// A new block with a value.
    fn join(&mut self, name: &str, ty: Ty) -> Self::Join;
    /// Emits into a block from here on.
    fn start(&mut self, block: &Self::Block);
    /// Emits into a join from here on. Returns its value.
    fn start_join(&mut self, join: Self::Join) -> Self::Value;
    /// Jumps to a block.
    fn jump(&mut self, to: &Self::Block);
    /// Jumps to a join.
    fn jump_to_join(&mut self, to: &mut Self::Join, v: &Self::Value);
    /// Branches to one of two blocks.
    fn branch(&mut self, bit: &Self::Bit, yes: &Self::Block, no: &Self::Block, rare: Rare);
    /// Branches to a block, or to a join.
    fn branch_or_join(
        &mut self,
        bit: &Self::Bit,
        yes: &Self::Block,
        no: (&mut Self::Join, &Self::Value),
        rare: Rare,
    );
    /// Branches to one of two joins.
    fn branch_to_joins(
        &mut self,
        bit: &Self::Bit,
        yes: (&mut Self::Join, &Self::Value),
        no: (&mut Self::Join, &Self::Value),
        rare: Rare,
    );
    /// Ends a block whose end is never reached.
    fn never_reached(&mut self);

    // Memory.

    /// A load from an address and an offset.
    fn load_at(
        &mut self,
        ty: Ty,
        access: &Access<'_>,
        base: &Self::Value,
        offset: i64,
    ) -> Self::Value;
    /// A store to an address and an offset.
    fn store_at(&mut self, access: &Access<'_>, v: &Self::Value, base: &Self::Value, offset: i64);
    /// An address at a distance from another one.
    fn advance(&mut self, base: &Self::Value, distance: &Self::Value) -> Self::Value;
    /// The address of a part of the object at another address.
    fn inside(&mut self, base: &Self::Value, offset: u64) -> Self::Value;
    /// The address of the state shared with the runtime.
    fn state(&mut self) -> Self::Value;
    /// A load from the state.
    fn load_state(&mut self, offset: i32, ty: Ty) -> Self::Value;
    /// A store to the state.
    fn store_state(&mut self, offset: i32, v: &Self::Value);
    /// The number of signals that are pending, or any other number if there are some. Each use reads memory.
    fn pending_signals(&mut self) -> Self::Value;

    // Calls.

    /// A call of a function of the runtime, with C's conventions.
    fn call_runtime(&mut self, f: RuntimeFunction, args: &[Self::Value]) -> Option<Self::Value>;
    /// The same of a function that returns memory without other references.
    fn call_allocation(
        &mut self,
        f: RuntimeFunction,
        args: &[Self::Value],
    ) -> Result<Self::Value, Bad> {
        let result = self.call_runtime(f, args);
        result.ok_or_else(|| "no result".to_owned())
    }
    /// A function of the runtime for slow paths, which leaves all registers alone. Its arguments are words in memory: a
    /// value in a certain register here would be kept there from its definition, though the slow path is rarely taken.
    fn call_slow(&mut self, f: RuntimeFunction, args: &[Self::Value]);
    /// A function of the program or of C.
    fn call_function(
        &mut self,
        f: &FuncSym,
        values: &[Self::Value],
    ) -> Result<Option<Self::Value>, Bad>;
    /// The function of a type at an address.
    fn call_address(
        &mut self,
        address: &Self::Value,
        ty: &FuncType,
        values: &[Self::Value],
    ) -> Result<Option<Self::Value>, Bad>;
    /// The address by which C code calls a function of the program.
    fn callback(&mut self, f: &FuncSym) -> Result<Self::Value, Bad>;
    /// The result of a C function that the machine has an instruction for.
    fn instruction_of(&mut self, name: &str, args: &[Self::Value]) -> Option<Self::Value>;

    // Frames and objects.

    /// The frame on the shadow stack.
    fn frame(&self) -> Option<RootsFrame>;
    /// Enters one. The machine's own frame takes as many bytes as [`RootsFrame::machine_bytes`] says.
    fn enter_frame(&mut self, frame: RootsFrame);
    /// Sets the address of the frame on the shadow stack.
    fn set_roots_base(&mut self, base: &Self::Value);
    /// The address of the frame on the shadow stack.
    fn roots_base(&mut self) -> Self::Value;
    /// The stack pointer, as a word.
    fn stack_pointer(&mut self) -> Self::Value;
    /// The address of the machine's own frame.
    fn frame_address(&mut self) -> Self::Value;
    /// The free part of the nursery.
    fn nursery_free(&mut self) -> Self::Value {
        self.load_state(abi::state::NURSERY_FREE, Ty::Ptr)
    }
    /// Sets the block that the operation at hand ends in where the nursery is full.
    fn set_nursery_full(&mut self, block: Self::Block);
    /// Offsets of words of a new object, the value of a variable, that are stored before they are read.
    fn initialised_words(&mut self, _object: VarId) -> Vec<u64> {
        Vec::new()
    }
    /// Clears the words from one address to another, and jumps to a join.
    fn clear_words(
        &mut self,
        start: &Self::Value,
        end: &Self::Value,
        to: (&mut Self::Join, &Self::Value),
    );
    /// An assertion in code that is made while a program runs. Returns whether it is emitted.
    fn unit_assertion(&mut self, _condition: &Self::Value, _op: &Operation<LowLevel>) -> bool {
        false
    }
}
