//! Allocation, of objects of the collector, which are null where there is no memory, and of raw memory.

use taipan_graph::{Operation, VarId};
use taipan_lltype::{LLOperand, LLType, Layout, LowLevel, VarLayout};

use super::super::{Access, Bad, Binary, Cond, Instructions, Objects, Rare, Ty, machine_type};
use super::{checks, compare_with, displaced, roots, with_constant};
use crate::abi::state;
use crate::runtime::{self, RuntimeFunction};
use crate::{Allocation, RootsFrame, SymbolRef, allocation, flavor, is_tested, nursery_size};

/// The functions of the runtime that make objects where code does not.
struct SlowFunctions {
    may_be_null: bool,
    /// A number of bytes in the nursery.
    bytes: RuntimeFunction,
    fixed: RuntimeFunction,
    varsize: RuntimeFunction,
}

/// For code that tests whether there was memory.
const WITH_NULL: SlowFunctions = SlowFunctions {
    may_be_null: true,
    bytes: runtime::SLOW_MALLOC,
    fixed: runtime::SLOW_MALLOC_FIXED,
    varsize: runtime::SLOW_MALLOC_VARSIZE,
};

/// For code that cannot raise MemoryError: residual code.
const NEVER_NULL: SlowFunctions = SlowFunctions {
    may_be_null: false,
    bytes: runtime::SURE_MALLOC,
    fixed: runtime::SURE_MALLOC_FIXED,
    varsize: runtime::SURE_MALLOC_VARSIZE,
};

/// An array whose items are allocated by code if there are few.
struct Few<'a> {
    /// The number from which on the runtime allocates them.
    most: u64,
    var: &'a VarLayout,
    length_at: u64,
    /// Whether items are cleared.
    zero: bool,
}

/// The length of a new object, at an offset.
type Length<V> = Option<(u64, V)>;

impl<M: Instructions> Objects for M {
    fn malloc(
        &mut self,
        ty: LLType,
        how: &LLOperand,
        length: Option<&LLOperand>,
        op: &Operation<LowLevel>,
    ) -> Result<Self::Value, Bad> {
        let (gc, zero) = flavor(how, ty);
        let count = length.map(|l| self.word(l)).transpose()?;
        let l = self.layout(ty);
        if !gc {
            return malloc_raw(self, &l, count.as_ref(), zero);
        }
        let info = self.address_of(&SymbolRef::TypeInfo(ty));
        let inlines = !self.in_cold_block() && self.program().collector().has_nursery();
        let how = allocation(ty, &l, length, op, zero, inlines)?;
        let n = count.unwrap_or_else(|| info.clone());
        let tested = is_tested(self.graph().block(self.place().0), op);
        let slow = match tested {
            true => &WITH_NULL,
            false => &NEVER_NULL,
        };
        let by_slow_function = self.in_cold_block() || !tested;
        Ok(match (how, &l.var) {
            (Allocation::Bump { size, length_at }, _) => {
                let length = length_at.map(|at| (at, n));
                malloc_inline(self, slow, &info, size, length, op.result)
            }
            (
                Allocation::Items {
                    most,
                    length_at,
                    zero,
                },
                Some(var),
            ) => {
                let few = Few {
                    most,
                    var,
                    length_at,
                    zero,
                };
                malloc_items(self, slow, &few, &info, &n)
            }
            (Allocation::Fixed, _) if by_slow_function => {
                allocate_slowly(self, slow.fixed, &[info])
            }
            (Allocation::Fixed, _) => self.call_allocation(runtime::GC_MALLOC_FIXED, &[info])?,
            (Allocation::Varsize { zero }, _) if by_slow_function => {
                let zero = self.int(Ty::I64, zero.into());
                allocate_slowly(self, slow.varsize, &[info, n, zero])
            }
            (Allocation::Varsize { zero } | Allocation::Items { zero, .. }, _) => {
                let zero = self.int(Ty::I8, zero.into());
                self.call_allocation(runtime::GC_MALLOC_VARSIZE, &[info, n, zero])?
            }
        })
    }

    fn malloc_nursery(&mut self, ty: LLType, object: VarId) -> Result<Self::Value, Bad> {
        let l = self.layout(ty);
        let size = nursery_size(ty, &l)?;
        let full = self.cold_block("full");
        self.set_nursery_full(full.clone());
        let bytes = self.int(Ty::I64, size.into());
        let p = bump(self, &bytes, &full);
        let info = self.address_of(&SymbolRef::TypeInfo(ty));
        fill(self, &p, &info, size, None, object);
        Ok(p)
    }

    fn raw_malloc(&mut self, size: &Self::Value, zero: bool) -> Result<Self::Value, Bad> {
        if zero {
            let one = self.int(Ty::I64, 1);
            return self.call_allocation(runtime::CALLOC, &[one, size.clone()]);
        }
        self.call_allocation(runtime::MALLOC, std::slice::from_ref(size))
    }

    fn free(&mut self, address: &Self::Value, _op: &Operation<LowLevel>) {
        if self.is_checked() {
            checks::checked_free(self, address);
        } else {
            self.call_runtime(runtime::FREE, std::slice::from_ref(address));
        }
    }

    fn write_barrier(&mut self, object: &Self::Value, index: Option<&Self::Value>) {
        roots::write_barrier(self, object, index);
    }

    fn identity_hash(&mut self, object: &Self::Value) -> Self::Value {
        roots::identity_hash(self, object)
    }

    fn weakref_target(&mut self, weakref: &Self::Value, to: LLType) -> Result<Self::Value, Bad> {
        let ty = machine_type(to).ok_or_else(|| format!("a load of {to}"))?;
        Ok(self.load_at(ty, &Access::HEAP, weakref, 8))
    }

    fn roots(&self) -> Option<RootsFrame> {
        self.frame()
    }

    fn enter_roots(&mut self, frame: RootsFrame) {
        roots::enter(self, frame);
    }

    fn leave_roots(&mut self) -> Result<(), Bad> {
        roots::leave(self)
    }

    fn save_root(&mut self, slot: i64, root: &LLOperand) -> Result<(), Bad> {
        roots::save(self, slot, root)
    }

    fn restore_root(&mut self, slot: i64) -> Result<Self::Value, Bad> {
        Ok(roots::restore(self, slot))
    }
}

/// A function for slow paths that makes an object.
pub fn allocate_slowly<M: Instructions>(
    m: &mut M,
    f: RuntimeFunction,
    args: &[M::Value],
) -> M::Value {
    m.call_slow(f, args);
    m.load_state(state::SLOW_RESULT, Ty::Ptr)
}

fn malloc_raw<M: Instructions>(
    m: &mut M,
    l: &Layout,
    n: Option<&M::Value>,
    zero: bool,
) -> Result<M::Value, Bad> {
    let size = match (n, &l.var) {
        (Some(n), Some(var)) => {
            let items = with_constant(m, Binary::Mul, n, var.item_size as i64);
            with_constant(m, Binary::Add, &items, var.empty_size as i64)
        }
        _ => m.int(Ty::I64, l.size.max(1).into()),
    };
    let p = m.raw_malloc(&size, zero)?;
    let length = l.var.as_ref().and_then(|var| var.length);
    if let (Some(n), Some(at)) = (n, length) {
        m.store_at(&Access::RAW, n, &p, at as i64);
    }
    Ok(p)
}

/// An object of known size, cleared, with its length if it has one. The nursery's free pointer is bumped inline.
fn malloc_inline<M: Instructions>(
    m: &mut M,
    runtime: &SlowFunctions,
    info: &M::Value,
    size: u64,
    length: Length<M::Value>,
    object: VarId,
) -> M::Value {
    let (slow, mut made) = (m.cold_block("slow"), m.join("made", Ty::Ptr));
    let bytes = m.int(Ty::I64, size.into());
    let fast = bump(m, &bytes, &slow);
    m.jump_to_join(&mut made, &fast);
    m.start(&slow);
    let bytes = m.int(Ty::I64, size.into());
    let p = allocate_slowly(m, runtime.bytes, &[bytes]);
    let done = if runtime.may_be_null {
        let mut done = m.join("done", Ty::Ptr);
        let bit = m.bit(&p);
        m.branch_to_joins(&bit, (&mut made, &p), (&mut done, &p), Rare::Second);
        Some(done)
    } else {
        m.jump_to_join(&mut made, &p);
        None
    };
    let p = m.start_join(made);
    fill(m, &p, info, size, length, object);
    let Some(mut done) = done else {
        return p;
    };
    m.jump_to_join(&mut done, &p);
    m.start_join(done)
}

/// Fills a new object, the value of `object`: its header, its length at an offset if it has items, and zeroes in words
/// that no store initialises.
pub fn fill<M: Instructions>(
    m: &mut M,
    p: &M::Value,
    info: &M::Value,
    size: u64,
    length: Length<M::Value>,
    object: VarId,
) {
    m.store_at(&Access::HEAP, info, p, 0);
    let zero = m.int(Ty::I64, 0);
    let mut initialised = m.initialised_words(object);
    initialised.extend(length.as_ref().map(|(at, _)| *at));
    for at in (8..size).step_by(8).filter(|at| !initialised.contains(at)) {
        m.store_at(&Access::HEAP, &zero, p, at as i64);
    }
    if let Some((at, n)) = length {
        m.store_at(&Access::HEAP, &n, p, at as i64);
    }
}

/// Takes `size` bytes of the nursery, or jumps to `slow` if they are not there.
pub fn bump<M: Instructions>(m: &mut M, size: &M::Value, slow: &M::Block) -> M::Value {
    let fast = m.block("fast");
    let free = m.nursery_free();
    let end = m.advance(&free, size);
    let top = m.load_state(state::NURSERY_TOP, Ty::Ptr);
    let fits = m.compare(Cond::Le, false, &end, &top);
    m.branch(&fits, &fast, slow, Rare::Second);
    m.start(&fast);
    m.store_state(state::NURSERY_FREE, &end);
    free
}

/// An object with items, inline if they are few.
fn malloc_items<M: Instructions>(
    m: &mut M,
    runtime: &SlowFunctions,
    few: &Few<'_>,
    info: &M::Value,
    n: &M::Value,
) -> M::Value {
    let (short, long) = (m.block("short"), m.cold_block("long"));
    let mut done = m.join("done", Ty::Ptr);
    let is_short = compare_with(m, Cond::Lt, false, n, few.most as i64);
    m.branch(&is_short, &short, &long, Rare::Second);
    m.start(&long);
    let zero = m.int(Ty::I64, few.zero.into());
    let p = allocate_slowly(m, runtime.varsize, &[info.clone(), n.clone(), zero]);
    m.jump_to_join(&mut done, &p);
    m.start(&short);
    let size = size_of(m, few.var, n);
    let p = bump(m, &size, &long);
    m.store_at(&Access::HEAP, info, &p, 0);
    let null = m.int(Ty::I64, 0);
    let header = (8..few.var.items).step_by(8);
    for at in header.filter(|at| *at != few.length_at) {
        m.store_at(&Access::HEAP, &null, &p, at as i64);
    }
    m.store_at(&Access::HEAP, n, &p, few.length_at as i64);
    if few.zero {
        // Word by word: there are few.
        let start = displaced(m, &p, few.var.items as i64);
        let bytes = with_constant(m, Binary::Mul, n, few.var.item_size as i64);
        let end = m.advance(&start, &bytes);
        m.clear_words(&start, &end, (&mut done, &p));
    } else {
        m.jump_to_join(&mut done, &p);
    }
    m.start_join(done)
}

/// The size of an object with `n` items, in whole words.
fn size_of<M: Instructions>(m: &mut M, var: &VarLayout, n: &M::Value) -> M::Value {
    let items = with_constant(m, Binary::Mul, n, var.item_size as i64);
    let end = with_constant(m, Binary::Add, &items, var.empty_size as i64 + 7);
    with_constant(m, Binary::And, &end, -8)
}
