//! Operations that have no instruction of their own: a function each, on the words of their operands.

use taipan_lltype::{Addr, HeapError, LLType};

use crate::interp::{LLInterpreter, Stop};

type Done = Result<u64, Stop>;

/// A function that does an operation with so many operands, and returns the result or zero.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Run {
    None(fn(&mut LLInterpreter<'_>) -> Done),
    One(fn(&mut LLInterpreter<'_>, u64) -> Done),
    Two(fn(&mut LLInterpreter<'_>, u64, u64) -> Done),
    Three(fn(&mut LLInterpreter<'_>, u64, u64, u64) -> Done),
}

impl LLInterpreter<'_> {
    /// Does an operation.
    pub(crate) fn run_by_name(&mut self, run: Run, args: &[u64]) -> Done {
        match (run, args) {
            (Run::None(f), []) => f(self),
            (Run::One(f), [a]) => f(self, *a),
            (Run::Two(f), [a, b]) => f(self, *a, *b),
            (Run::Three(f), [a, b, c]) => f(self, *a, *b, *c),
            (Run::None(_) | Run::One(_) | Run::Two(_) | Run::Three(_), _) => {
                Err(Stop::Text(format!("{} operands of a function", args.len())))
            }
        }
    }

    /// A place of the roots frame of the running function.
    fn root(&mut self, i: u64) -> Result<&mut Addr, Stop> {
        let start = self.frames.last().map_or(0, |f| f.roots);
        let bad = || Stop::Text("root outside the roots frame".into());
        self.roots.get_mut(start + i as usize).ok_or_else(bad)
    }

    /// `gc_copy_array` between arrays of a type.
    pub(crate) fn copy_items(&mut self, args: &[u64], ty: LLType) -> Result<(), Stop> {
        let &[src, dst, src_start, dst_start, n] = args else {
            return Err(Stop::Text("gc_copy_array needs five operands".into()));
        };
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

pub(crate) fn free(on: &mut LLInterpreter<'_>, at: u64) -> Done {
    on.heap.free(at)?;
    Ok(0)
}

pub(crate) fn raw_malloc(on: &mut LLInterpreter<'_>, size: u64, zero: u64) -> Done {
    Ok(on.heap.raw_malloc(size, zero != 0)?)
}

pub(crate) fn clear(on: &mut LLInterpreter<'_>, at: u64, size: u64) -> Done {
    fill(on, at, 0, size)
}

pub(crate) fn fill(on: &mut LLInterpreter<'_>, at: u64, byte: u64, size: u64) -> Done {
    on.heap.bytes_mut(at, size as usize)?.fill(byte as u8);
    Ok(0)
}

pub(crate) fn copy_bytes(on: &mut LLInterpreter<'_>, source: u64, dest: u64, size: u64) -> Done {
    on.heap.copy(source, dest, size as usize)?;
    Ok(0)
}

pub(crate) fn shrink(on: &mut LLInterpreter<'_>, array: u64, length: u64) -> Done {
    on.heap.shrink(array, length)?;
    Ok(1)
}

pub(crate) fn weakref_create(on: &mut LLInterpreter<'_>, object: u64) -> Done {
    Ok(on.heap.weakref_create(object))
}

pub(crate) fn weakref_deref(on: &mut LLInterpreter<'_>, weakref: u64) -> Done {
    Ok(on.heap.weakref_deref(weakref)?)
}

/// The number of an object, and its hash.
pub(crate) fn id(_: &mut LLInterpreter<'_>, object: u64) -> Done {
    Ok(object >> 32)
}

pub(crate) fn fq_register(on: &mut LLInterpreter<'_>, queue: u64, object: u64) -> Done {
    on.heap.register(queue, object);
    Ok(0)
}

pub(crate) fn fq_next_dead(on: &mut LLInterpreter<'_>, queue: u64) -> Done {
    Ok(on.heap.next_dead(queue))
}

pub(crate) fn rawrefcount_init(on: &mut LLInterpreter<'_>, trigger: u64) -> Done {
    on.heap.init_links(trigger);
    Ok(0)
}

pub(crate) fn create_link_pypy(on: &mut LLInterpreter<'_>, object: u64, pyobject: u64) -> Done {
    on.heap.create_link_pypy(object, pyobject)?;
    Ok(0)
}

pub(crate) fn create_link_pyobj(on: &mut LLInterpreter<'_>, object: u64, pyobject: u64) -> Done {
    on.heap.create_link_pyobj(object, pyobject)?;
    Ok(0)
}

pub(crate) fn mark_deallocating(on: &mut LLInterpreter<'_>, marker: u64, pyobject: u64) -> Done {
    on.heap.set_link(pyobject, marker)?;
    Ok(0)
}

pub(crate) fn from_obj(on: &mut LLInterpreter<'_>, object: u64) -> Done {
    Ok(on.heap.pyobject_of(object))
}

pub(crate) fn to_obj(on: &mut LLInterpreter<'_>, pyobject: u64) -> Done {
    Ok(on.heap.link_of(pyobject)?)
}

pub(crate) fn next_dead_pyobject(on: &mut LLInterpreter<'_>) -> Done {
    Ok(on.heap.next_dead_pyobject())
}

pub(crate) fn enter_roots(on: &mut LLInterpreter<'_>, slots: u64) -> Done {
    on.roots.resize(on.roots.len() + slots as usize, 0);
    Ok(0)
}

pub(crate) fn leave_roots(on: &mut LLInterpreter<'_>, slots: u64) -> Done {
    let left = on.roots.len().saturating_sub(slots as usize);
    on.roots.truncate(left);
    Ok(0)
}

pub(crate) fn save_root(on: &mut LLInterpreter<'_>, slot: u64, root: u64) -> Done {
    *on.root(slot)? = root;
    Ok(0)
}

pub(crate) fn restore_root(on: &mut LLInterpreter<'_>, slot: u64) -> Done {
    Ok(*on.root(slot)?)
}

pub(crate) fn stack_check(on: &mut LLInterpreter<'_>) -> Done {
    Ok(u64::from(on.host.depth.is_too_big(on.frames.len() + 2)))
}

pub(crate) fn exc_type(on: &mut LLInterpreter<'_>) -> Done {
    Ok(on.exc.0)
}

pub(crate) fn exc_value(on: &mut LLInterpreter<'_>) -> Done {
    Ok(on.exc.1)
}

pub(crate) fn exc_occurred(on: &mut LLInterpreter<'_>) -> Done {
    Ok(u64::from(on.exc.0 != 0))
}

pub(crate) fn exc_set(on: &mut LLInterpreter<'_>, class: u64, value: u64) -> Done {
    on.exc = (class, value);
    Ok(0)
}

pub(crate) fn exc_clear(on: &mut LLInterpreter<'_>) -> Done {
    on.exc = (0, 0);
    Ok(0)
}

pub(crate) fn thread_local(on: &mut LLInterpreter<'_>, offset: u64) -> Done {
    Ok(on.thread_locals.get(&offset).copied().unwrap_or(0))
}

pub(crate) fn set_thread_local(on: &mut LLInterpreter<'_>, offset: u64, value: u64) -> Done {
    on.thread_locals.insert(offset, value);
    Ok(0)
}

pub(crate) fn timestamp(on: &mut LLInterpreter<'_>) -> Done {
    on.ticks += 1;
    Ok(on.ticks)
}

pub(crate) fn debug_assert(_: &mut LLInterpreter<'_>, condition: u64) -> Done {
    match condition {
        0 => Err(Stop::Text("debug_assert failed".into())),
        _ => Ok(0),
    }
}

pub(crate) fn debug_fatalerror(_: &mut LLInterpreter<'_>) -> Done {
    Err(Stop::Text("fatal RPython error".into()))
}
