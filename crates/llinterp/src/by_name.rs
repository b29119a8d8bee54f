//! Operations that have no instruction of their own: done by name, on the words of their operands.

use taipan_lltype::{Addr, HeapError, LLType, PlainOp, TIMESTAMP_UNIT};

use crate::interp::{LLInterpreter, Stop};

impl LLInterpreter<'_> {
    /// Operations that are not worth an instruction of their own.
    pub(crate) fn other(&mut self, op: PlainOp, args: &[u64], ty: LLType) -> Result<u64, Stop> {
        use PlainOp::*;
        let arg = |i: usize| args.get(i).copied().unwrap_or(0);
        match op {
            Free => self.heap.free(arg(0))?,
            RawFree => self.heap.free(arg(0))?,
            RawMalloc => return Ok(self.heap.raw_malloc(arg(0), arg(1) != 0)?),
            RawMallocUsage => return Ok(arg(0)),
            RawMemclear => self.heap.bytes_mut(arg(0), arg(1) as usize)?.fill(0),
            RawMemset => self
                .heap
                .bytes_mut(arg(0), arg(2) as usize)?
                .fill(arg(1) as u8),
            RawMemcopy | RawMemmove => self.heap.copy(arg(0), arg(1), arg(2) as usize)?,
            GcCopyArray => self.copy_items(args, ty)?,
            ShrinkArray => {
                self.heap.shrink(arg(0), arg(1))?;
                return Ok(1);
            }
            WeakrefCreate => return Ok(self.heap.weakref_create(arg(0))),
            WeakrefDeref => return Ok(self.heap.weakref_deref(arg(0))?),
            GcIdentityhash | GcId => return Ok(arg(0) >> 32),
            GcFqRegister => self.heap.register(arg(0), arg(1)),
            GcFqNextDead => return Ok(self.heap.next_dead(arg(0))),
            GcEnterRootsFrame => self.roots.resize(self.roots.len() + arg(0) as usize, 0),
            GcLeaveRootsFrame => {
                let n = self.roots.len().saturating_sub(arg(0) as usize);
                self.roots.truncate(n);
            }
            GcSaveRoot => *self.root(arg(0))? = arg(1),
            GcRestoreRoot => return Ok(*self.root(arg(0))?),
            StackCheck => return Ok(u64::from(self.frames.len() + 2 >= self.max_depth)),
            ExcType => return Ok(self.exc.0),
            ExcValue => return Ok(self.exc.1),
            ExcOccurred => return Ok(u64::from(self.exc.0 != 0)),
            ExcSet => self.exc = (arg(0), arg(1)),
            ExcClear => self.exc = (0, 0),
            ThreadlocalrefGet => return Ok(self.thread_locals.get(&arg(0)).copied().unwrap_or(0)),
            ThreadlocalrefStore => {
                self.thread_locals.insert(arg(0), arg(1));
            }
            LlGetTimestampUnit => return Ok(TIMESTAMP_UNIT as u64),
            LlReadTimestamp => {
                self.ticks += 1;
                return Ok(self.ticks);
            }
            DebugAssert if arg(0) != 0 => {}
            DebugAssert => return Err(Stop::Text("debug_assert failed".into())),
            DebugFatalerror => return Err(Stop::Text("fatal RPython error".into())),
            // Those that are left cannot be run here, or are instructions of their own.
            _ => {
                return Err(Stop::Text(format!(
                    "{op:?} is not supported by the LLInterpreter"
                )));
            }
        }
        Ok(0)
    }

    /// A place of the roots frame of the running function.
    fn root(&mut self, i: u64) -> Result<&mut Addr, Stop> {
        let start = self.frames.last().map_or(0, |f| f.roots);
        let bad = || Stop::Text("root outside the roots frame".into());
        self.roots.get_mut(start + i as usize).ok_or_else(bad)
    }

    /// `gc_copy_array(src, dst, src_start, dst_start, length)`.
    fn copy_items(&mut self, args: &[u64], ptr: LLType) -> Result<(), Stop> {
        let &[src, dst, src_start, dst_start, n] = args else {
            return Err(Stop::Text("gc_copy_array needs five operands".into()));
        };
        let ty = ptr.pointee().unwrap_or(ptr);
        let l = self.heap.layout(ty);
        let Some(var) = &l.var else {
            return Err(Stop::Text(format!("gc_copy_array of a {ty}")));
        };
        if n == 0 {
            return Ok(());
        }
        for (p, start) in [(src, src_start), (dst, dst_start)] {
            if let Some(at) = var.length {
                let len = self.heap.load(p + at, taipan_lltype::Access::W64)?;
                if start.checked_add(n).is_none_or(|end| end > len) {
                    return Err(HeapError::OutOfBounds(ty).into());
                }
            }
        }
        let at = |p: Addr, i: u64| p + var.items + i * var.item_size;
        Ok(self.heap.copy(
            at(src, src_start),
            at(dst, dst_start),
            (n * var.item_size) as usize,
        )?)
    }
}
