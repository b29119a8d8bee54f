//! The runnable heap: low-level objects as checked blocks of bytes
//! (RPython: `lltype._ptr` and `llheap`).
//!
//! Every object is a block of its own under a number; an [`Addr`] names the block and
//! an offset in it, so interior pointers, address arithmetic and casts to integers
//! work as on a machine. Each access is checked: null and freed objects, bounds, raw
//! memory that was never written, casts to a type that the object does not have.
//! Prebuilt data gets its address at once and its contents at the first access.

mod finalize;
mod rawrefcount;

use std::fmt;
use std::sync::Arc;

pub use finalize::{Collected, Finalizers, Trigger};
use rawrefcount::Links;
use rustc_hash::FxHashMap;

use crate::{
    Access, Addr, CHAR, FuncSym, LLConst, LLType, Layout, Memory, Program, StaticSym, StaticValue,
    TypeKind, const_word, layout,
};

/// What is wrong with an access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HeapError {
    /// Access through a null pointer.
    Null,
    /// Access to an object after `free`.
    UseAfterFree(LLType),
    /// Second `free`, or `free` of what is not raw memory.
    BadFree,
    /// Raw memory read before it was written.
    Uninitialized(LLType),
    /// Access outside an object or an array.
    OutOfBounds(LLType),
    /// Cast of an object to a type that it does not have.
    BadCast(LLType, LLType),
    /// Access to what is no object: an integer, a function.
    NotAnObject,
    /// Not enough memory.
    OutOfMemory,
    /// A value or a type that does not fit the operation.
    Type(&'static str),
}

impl fmt::Display for HeapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeapError::Null => f.write_str("null pointer dereference"),
            HeapError::UseAfterFree(t) => write!(f, "use of a {t} after it was freed"),
            HeapError::BadFree => f.write_str("free of what is not allocated raw memory"),
            HeapError::Uninitialized(t) => write!(f, "read of uninitialized memory of a {t}"),
            HeapError::OutOfBounds(t) => write!(f, "access out of the bounds of a {t}"),
            HeapError::BadCast(from, to) => write!(f, "bad cast: a {from} is no {to}"),
            HeapError::NotAnObject => f.write_str("access through a pointer to no object"),
            HeapError::OutOfMemory => f.write_str("out of memory"),
            HeapError::Type(s) => f.write_str(s),
        }
    }
}

#[derive(Clone)]
enum State {
    /// Managed by the collector.
    Gc,
    /// Raw memory; which bytes were written, unless all count as written.
    Raw(Option<Box<[bool]>>),
    /// A weak reference: the word at [`WEAK_TARGET`] does not keep its target alive.
    Weak,
    /// Prebuilt, contents not yet asked for.
    Lazy(StaticSym),
    /// Prebuilt.
    Static,
    /// Raw memory that was freed.
    Freed,
    /// Number without an object.
    Free,
}

const WEAK_TARGET: usize = 8;
const FUNCTION: Addr = 1 << 63;

struct Object {
    data: Vec<u8>,
    ty: LLType,
    state: State,
    marked: bool,
}

/// A heap and the prebuilt data of one program.
pub struct Heap<'p> {
    program: &'p dyn Program,
    objects: Vec<Object>,
    free: Vec<u32>,
    statics: FxHashMap<StaticSym, Addr>,
    functions: Vec<FuncSym>,
    function_ids: FxHashMap<FuncSym, Addr>,
    layouts: FxHashMap<LLType, Arc<Layout>>,
    casts: FxHashMap<(LLType, LLType), bool>,
    allocated: usize,
    collect_at: usize,
    finalizers: Finalizers,
    links: Links,
}

impl<'p> Heap<'p> {
    /// An empty heap.
    pub fn new(program: &'p dyn Program) -> Self {
        let null = Object {
            data: Vec::new(),
            ty: *crate::VOID,
            state: State::Free,
            marked: false,
        };
        Heap {
            program,
            objects: vec![null],
            free: Vec::new(),
            statics: FxHashMap::default(),
            functions: Vec::new(),
            function_ids: FxHashMap::default(),
            layouts: FxHashMap::default(),
            casts: FxHashMap::default(),
            allocated: 0,
            collect_at: 256 << 20,
            finalizers: Finalizers::default(),
            links: Links::default(),
        }
    }

    /// The program whose prebuilt data is here.
    pub fn program(&self) -> &'p dyn Program {
        self.program
    }

    /// Layout of a type.
    pub fn layout(&mut self, ty: LLType) -> Arc<Layout> {
        let program = self.program;
        self.layouts
            .entry(ty)
            .or_insert_with(|| Arc::new(layout(ty, program)))
            .clone()
    }

    // Allocation.

    fn add(&mut self, data: Vec<u8>, ty: LLType, state: State) -> Addr {
        self.allocated += data.len() + 64;
        let o = Object {
            data,
            ty,
            state,
            marked: false,
        };
        let i = match self.free.pop() {
            Some(i) => {
                self.objects[i as usize] = o;
                i as usize
            }
            None => {
                self.objects.push(o);
                self.objects.len() - 1
            }
        };
        (i as u64) << 32
    }

    /// Allocates a container: a GC object (zeroed), or raw memory, which has to be
    /// written before it is read unless `zero`.
    pub fn malloc(&mut self, ty: LLType, length: u64, zero: bool) -> Result<Addr, HeapError> {
        let l = self.layout(ty);
        let size = l
            .size_of_varsized(length)
            .filter(|s| *s < 1 << 31)
            .ok_or(HeapError::OutOfMemory)?;
        let mut data = vec![0; size as usize];
        if let Some(at) = l.var.as_ref().and_then(|v| v.length) {
            data[at as usize..at as usize + 8].copy_from_slice(&length.to_le_bytes());
        }
        if ty.is_gc_container() {
            return Ok(self.add(data, ty, State::Gc));
        }
        let mut init = (!zero).then(|| vec![false; size as usize].into_boxed_slice());
        if let (Some(init), Some(at)) = (&mut init, l.var.as_ref().and_then(|v| v.length)) {
            init[at as usize..at as usize + 8].fill(true);
        }
        Ok(self.add(data, ty, State::Raw(init)))
    }

    /// Allocates raw bytes.
    pub fn raw_malloc(&mut self, size: u64, zero: bool) -> Result<Addr, HeapError> {
        if size >= 1 << 31 {
            return Err(HeapError::OutOfMemory);
        }
        let init = (!zero).then(|| vec![false; size as usize].into_boxed_slice());
        Ok(self.add(
            vec![0; size as usize],
            LLType::raw_array(*CHAR),
            State::Raw(init),
        ))
    }

    /// Frees raw memory.
    pub fn free(&mut self, addr: Addr) -> Result<(), HeapError> {
        match self.objects.get_mut((addr >> 32) as usize) {
            Some(o) if matches!(o.state, State::Raw(_)) && addr as u32 == 0 => {
                o.data = Vec::new();
                o.state = State::Freed;
                Ok(())
            }
            _ => Err(HeapError::BadFree),
        }
    }

    /// Cuts an array or a variable-sized struct to fewer items, in place.
    pub fn shrink(&mut self, addr: Addr, length: u64) -> Result<(), HeapError> {
        let ty = self.type_of(addr)?;
        let l = self.layout(ty);
        let Some(var) = &l.var else {
            return Err(HeapError::Type("shrink_array of an object without items"));
        };
        let at = var
            .length
            .ok_or(HeapError::Type("shrink_array of an array without length"))?;
        self.store(addr + at, Access::W64, length)
    }

    /// A weak reference to an object.
    pub fn weakref_create(&mut self, target: Addr) -> Addr {
        let mut data = vec![0; 16];
        data[WEAK_TARGET..].copy_from_slice(&target.to_le_bytes());
        let ty = LLType::new(TypeKind::Opaque {
            name: "WEAKREF".into(),
            gc: true,
        });
        self.add(data, ty, State::Weak)
    }

    /// What a weak reference refers to, or null.
    pub fn weakref_deref(&mut self, weakref: Addr) -> Result<Addr, HeapError> {
        self.load(weakref + WEAK_TARGET as u64, Access::W64)
    }

    // Names.

    /// Address of prebuilt data.
    pub fn static_addr(&mut self, s: &StaticSym) -> Addr {
        if let Some(a) = self.statics.get(s) {
            return *a;
        }
        if let StaticSym::Within(..) = s {
            let Some((root, offset)) = s.place(self.program) else {
                return 0;
            };
            return self.static_addr(root).wrapping_add_signed(offset);
        }
        let a = self.add(Vec::new(), *crate::VOID, State::Lazy(s.clone()));
        self.statics.insert(s.clone(), a);
        a
    }

    /// Gives an object a name by which constants can refer to it. It lives for ever.
    pub fn name_object(&mut self, s: StaticSym, addr: Addr) {
        if let Some(o) = self.objects.get_mut((addr >> 32) as usize)
            && matches!(o.state, State::Gc)
        {
            o.state = State::Static;
        }
        self.statics.insert(s, addr);
    }

    /// Address of a function.
    pub fn func_addr(&mut self, f: &FuncSym) -> Addr {
        if let Some(a) = self.function_ids.get(f) {
            return *a;
        }
        let a = FUNCTION | (self.functions.len() as u64) << 32;
        self.functions.push(f.clone());
        self.function_ids.insert(f.clone(), a);
        a
    }

    /// The function at an address.
    pub fn func_at(&self, addr: Addr) -> Result<&FuncSym, HeapError> {
        if addr == 0 {
            return Err(HeapError::Null);
        }
        if addr & FUNCTION == 0 {
            return Err(HeapError::NotAnObject);
        }
        self.functions
            .get(((addr ^ FUNCTION) >> 32) as usize)
            .ok_or(HeapError::NotAnObject)
    }

    /// The word of a constant; 0 for Void ones.
    pub fn const_value(&mut self, c: &LLConst) -> i128 {
        match c {
            LLConst::Func(f) => i128::from(self.func_addr(f)),
            LLConst::Static(s, _) => i128::from(self.static_addr(s)),
            other => const_word(other).unwrap_or(0),
        }
    }

    /// Container type of the object at an address, as it was allocated.
    pub fn type_of(&mut self, addr: Addr) -> Result<LLType, HeapError> {
        let i = (addr >> 32) as usize;
        if matches!(
            self.objects.get(i),
            Some(Object {
                state: State::Lazy(_),
                ..
            })
        ) {
            self.materialize(i)?;
        }
        match self.objects.get(i) {
            Some(Object {
                state: State::Free, ..
            })
            | None => Err(self.access_error(addr)),
            Some(o) => Ok(o.ty),
        }
    }

    fn materialize(&mut self, i: usize) -> Result<(), HeapError> {
        let State::Lazy(sym) = &self.objects[i].state else {
            return Ok(());
        };
        let data = self.program.static_data(&sym.clone());
        let l = self.layout(data.ty);
        let length = varsize_length(&data.value);
        let size = l
            .size_of_varsized(length)
            .filter(|s| *s < 1 << 31)
            .ok_or(HeapError::OutOfMemory)?;
        let mut bytes = vec![0; size as usize];
        self.write_static(&mut bytes, 0, data.ty, &data.value)?;
        let o = &mut self.objects[i];
        (o.data, o.ty, o.state) = (bytes, data.ty, State::Static);
        Ok(())
    }

    fn write_static(
        &mut self,
        out: &mut [u8],
        at: u64,
        ty: LLType,
        value: &StaticValue,
    ) -> Result<(), HeapError> {
        let bad = HeapError::Type("prebuilt data does not fit its type");
        match value {
            StaticValue::Zero => {}
            StaticValue::Const(c) => {
                let size = Access::of(ty).ok_or(bad.clone())?.size();
                let word = self.const_value(c).to_le_bytes();
                let to = out.get_mut(at as usize..at as usize + size).ok_or(bad)?;
                to.copy_from_slice(&word[..size]);
            }
            StaticValue::Struct(values) => {
                let l = self.layout(ty);
                let body = self.program.body(ty.as_struct().ok_or(bad.clone())?);
                if body.fields.len() != values.len() {
                    return Err(bad);
                }
                for ((f, offset), v) in body.fields.iter().zip(&l.fields).zip(values) {
                    self.write_static(out, at + offset, f.ty, v)?;
                }
            }
            StaticValue::Array(items) => {
                let (of, start, step, length) = self.items_of(ty).ok_or(bad)?;
                write_length(out, length.map(|o| at + o), items.len());
                for (i, v) in items.iter().enumerate() {
                    self.write_static(out, at + start + i as u64 * step, of, v)?;
                }
            }
            StaticValue::Bytes(bytes) => {
                let (_, start, step, length) = self.items_of(ty).ok_or(bad.clone())?;
                write_length(out, length.map(|o| at + o), bytes.len());
                let start = (at + start) as usize;
                match out.get_mut(start..start + bytes.len()) {
                    Some(to) if step == 1 => to.copy_from_slice(bytes),
                    _ => return Err(bad),
                }
            }
        }
        Ok(())
    }

    // Access.

    #[cold]
    fn access_error(&self, addr: Addr) -> HeapError {
        // A field of a null pointer is a small offset.
        if addr < 1 << 20 {
            return HeapError::Null;
        }
        match self.objects.get((addr >> 32) as usize) {
            None => HeapError::NotAnObject,
            Some(o) => match o.state {
                State::Freed => HeapError::UseAfterFree(o.ty),
                State::Free => HeapError::NotAnObject,
                _ => HeapError::OutOfBounds(o.ty),
            },
        }
    }

    #[inline]
    fn place(&mut self, addr: Addr, size: usize) -> Result<(usize, usize), HeapError> {
        let (i, at) = ((addr >> 32) as usize, addr as u32 as usize);
        match self.objects.get(i) {
            Some(o) if at + size <= o.data.len() => Ok((i, at)),
            _ => self.place_slowly(addr, size),
        }
    }

    #[cold]
    fn place_slowly(&mut self, addr: Addr, size: usize) -> Result<(usize, usize), HeapError> {
        let (i, at) = ((addr >> 32) as usize, addr as u32 as usize);
        if matches!(
            self.objects.get(i),
            Some(Object {
                state: State::Lazy(_),
                ..
            })
        ) {
            self.materialize(i)?;
            if at + size <= self.objects[i].data.len() {
                return Ok((i, at));
            }
        }
        Err(self.access_error(addr))
    }

    /// The bytes at an address, which must have been written.
    #[inline]
    pub fn bytes(&mut self, addr: Addr, size: usize) -> Result<&[u8], HeapError> {
        let (i, at) = self.place(addr, size)?;
        let o = &self.objects[i];
        if let State::Raw(Some(init)) = &o.state
            && !init[at..at + size].iter().all(|b| *b)
        {
            return Err(HeapError::Uninitialized(o.ty));
        }
        Ok(&o.data[at..at + size])
    }

    /// The bytes at an address, to be written.
    #[inline]
    pub fn bytes_mut(&mut self, addr: Addr, size: usize) -> Result<&mut [u8], HeapError> {
        let (i, at) = self.place(addr, size)?;
        let o = &mut self.objects[i];
        if let State::Raw(Some(init)) = &mut o.state {
            init[at..at + size].fill(true);
        }
        Ok(&mut o.data[at..at + size])
    }

    /// Loads a value of up to 64 bits.
    #[inline]
    pub fn load(&mut self, addr: Addr, access: Access) -> Result<u64, HeapError> {
        let b = self.bytes(addr, access.size())?;
        Ok(access.decode(b))
    }

    /// Stores a value of up to 64 bits.
    #[inline]
    pub fn store(&mut self, addr: Addr, access: Access, v: u64) -> Result<(), HeapError> {
        let size = access.size();
        self.bytes_mut(addr, size)?
            .copy_from_slice(&v.to_le_bytes()[..size]);
        Ok(())
    }

    /// Copies memory; regions may overlap.
    pub fn copy(&mut self, from: Addr, to: Addr, size: usize) -> Result<(), HeapError> {
        let (i, at) = self.place(from, size)?;
        let (j, to_at) = self.place(to, size)?;
        let init: Option<Box<[bool]>> = match &self.objects[i].state {
            State::Raw(Some(init)) => Some(init[at..at + size].into()),
            _ => None,
        };
        if i == j {
            self.objects[i].data.copy_within(at..at + size, to_at);
        } else {
            let [a, b] = self
                .objects
                .get_disjoint_mut([i, j])
                .map_err(|_| HeapError::NotAnObject)?;
            b.data[to_at..to_at + size].copy_from_slice(&a.data[at..at + size]);
        }
        if let State::Raw(Some(to_init)) = &mut self.objects[j].state {
            match init {
                Some(init) => to_init[to_at..to_at + size].copy_from_slice(&init),
                None => to_init[to_at..to_at + size].fill(true),
            }
        }
        Ok(())
    }

    /// Checks that the object at an address can be seen as `to`, a container type: it
    /// is of that type, or starts with an inlined struct of it.
    pub fn check_cast(&mut self, addr: Addr, to: LLType) -> Result<(), HeapError> {
        if addr as u32 != 0 || addr & FUNCTION != 0 || addr >> 32 == 0 {
            return Ok(());
        }
        let ty = self.type_of(addr)?;
        if ty == to {
            return Ok(());
        }
        let program = self.program;
        let ok = *self.casts.entry((ty, to)).or_insert_with(|| {
            let mut t = ty;
            loop {
                if t == to || !matches!(t.kind(), TypeKind::Struct(_)) {
                    // Arrays and opaque types are left to the access checks.
                    break true;
                }
                match t
                    .as_struct()
                    .and_then(|s| program.body(s).fields.first().map(|f| f.ty))
                {
                    Some(first) if matches!(first.kind(), TypeKind::Struct(_)) => t = first,
                    _ => break !matches!(to.kind(), TypeKind::Struct(_)),
                }
            }
        });
        if ok {
            Ok(())
        } else {
            Err(HeapError::BadCast(ty, to))
        }
    }

    // Collection.

    /// Whether enough was allocated since the last collection to make one worthwhile.
    pub fn wants_collection(&self) -> bool {
        self.allocated > self.collect_at
    }

    /// Frees GC objects that are not reachable from prebuilt data, raw memory and the
    /// given words, which need not be pointers.
    ///
    /// # Errors
    /// A PyObject with a link was freed, or has lost references of its object.
    pub fn collect(&mut self, roots: impl Iterator<Item = u64>) -> Result<(), HeapError> {
        let mut todo: Vec<usize> = roots.map(|w| (w >> 32) as usize).collect();
        todo.extend(self.finalizers.waiting());
        for i in 0..self.objects.len() {
            if matches!(self.objects[i].state, State::Static | State::Raw(_)) {
                todo.extend(self.references(i));
            }
        }
        todo.extend(self.held_by_pyobjects()?);
        self.mark_from(todo);
        self.finalize_dead();
        self.cut_links()?;
        self.sweep();
        Ok(())
    }

    fn sweep(&mut self) {
        let mut live = 0;
        for (i, o) in self.objects.iter_mut().enumerate() {
            match o.state {
                State::Gc | State::Weak if !o.marked => {
                    o.data = Vec::new();
                    o.state = State::Free;
                    self.free.push(i as u32);
                }
                _ => {
                    o.marked = false;
                    live += o.data.len() + 64;
                }
            }
        }
        self.allocated = live;
        self.collect_at = (2 * live).max(256 << 20);
    }

    /// The words of an object that may be GC pointers.
    fn gc_words(&mut self, i: usize) -> Vec<u64> {
        let l = self.layout(self.objects[i].ty);
        let data = &self.objects[i].data;
        let word = |at: u64| {
            data.get(at as usize..at as usize + 8)
                .map(|b| Access::W64.decode(b))
        };
        let mut out: Vec<u64> = l.gc_pointers.iter().filter_map(|o| word(*o)).collect();
        if let Some(var) = &l.var
            && !var.item_gc_pointers.is_empty()
        {
            for at in (var.items..data.len() as u64).step_by(var.item_size as usize) {
                out.extend(var.item_gc_pointers.iter().filter_map(|o| word(at + o)));
            }
        }
        out
    }
}

fn write_length(out: &mut [u8], at: Option<u64>, length: usize) {
    if let Some(to) = at.and_then(|at| out.get_mut(at as usize..at as usize + 8)) {
        to.copy_from_slice(&(length as u64).to_le_bytes());
    }
}

/// Number of items of the variable-sized part of a prebuilt object.
fn varsize_length(v: &StaticValue) -> u64 {
    match v {
        StaticValue::Array(items) => items.len() as u64,
        StaticValue::Bytes(b) => b.len() as u64,
        StaticValue::Struct(values) => values.last().map_or(0, varsize_length),
        StaticValue::Const(_) | StaticValue::Zero => 0,
    }
}

impl Memory for Heap<'_> {
    fn program(&self) -> &dyn Program {
        self.program
    }

    fn layout(&mut self, ty: LLType) -> Arc<Layout> {
        Heap::layout(self, ty)
    }

    fn malloc(&mut self, ty: LLType, length: u64, zero: bool) -> Result<Addr, HeapError> {
        Heap::malloc(self, ty, length, zero)
    }

    fn bytes(&mut self, addr: Addr, size: usize) -> Result<&[u8], HeapError> {
        Heap::bytes(self, addr, size)
    }

    fn bytes_mut(&mut self, addr: Addr, size: usize) -> Result<&mut [u8], HeapError> {
        Heap::bytes_mut(self, addr, size)
    }
}
