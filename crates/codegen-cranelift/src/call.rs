//! Calling single functions of an image, with arguments and results that are built
//! and looked at by type.

use std::ffi::CStr;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_codegen::{CodegenError, Glue, Place, SymbolRef};
use taipan_lltype::{
    Addr, FuncSym, HeapError, LLType, LLValue, Layout, Memory, Program, STR, TypeKind, UNICODE,
    layout,
};
use taipan_runtime::gc::TypeInfo;
use taipan_runtime::{exc, gc};

use crate::LoadedImage;
use crate::run::with_heap;

/// An exception that came out of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RaisedException {
    /// Name of its class, without the module.
    pub class: String,
    /// The functions that it went through, as far as known, outermost first.
    pub traceback: Vec<TracebackPlace>,
}

/// A place in the source that an exception went through.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TracebackPlace {
    /// The file.
    pub file: String,
    /// The function.
    pub function: String,
    /// The line, from 1; 0 if unknown.
    pub line: u64,
}

/// The exception that is set now; none if there is none.
///
/// # Safety
/// The program's static data is still mapped.
unsafe fn current_exception() -> Option<RaisedException> {
    // SAFETY: the program is still loaded, so class names and locations, which are static, are
    // mapped. Texts of locations end in a zero byte.
    unsafe {
        let class = exc::current_exception_name()?;
        let text = |s: *const u8| CStr::from_ptr(s.cast()).to_string_lossy().into_owned();
        let mut traceback = Vec::new();
        exc::traceback_locations(&mut |at| {
            traceback.push(TracebackPlace {
                file: text(at.file),
                function: text(at.function),
                line: at.line,
            });
        });
        Some(RaisedException {
            class: String::from_utf8_lossy(class).into_owned(),
            traceback,
        })
    }
}

/// What an image must contain so that a function can be called in it.
pub fn call_roots(program: &dyn Program, f: &FuncSym) -> Vec<SymbolRef> {
    let mut roots = vec![
        SymbolRef::Glue(Glue::Trampoline(f.clone())),
        SymbolRef::TypeInfo(*STR),
        SymbolRef::TypeInfo(*UNICODE),
    ];
    let mut seen = FxHashSet::from_iter([*STR, *UNICODE]);
    let mut todo = f.ty().args.clone();
    while let Some(ty) = todo.pop() {
        match ty.kind() {
            TypeKind::Ptr(to) if to.is_gc_container() && seen.insert(*to) => {
                roots.push(SymbolRef::TypeInfo(*to));
                todo.push(*to);
            }
            TypeKind::Struct(s) => todo.extend(program.body(s).fields.iter().map(|f| f.ty)),
            TypeKind::Array(a) => todo.push(a.of),
            _ => {}
        }
    }
    roots
}

/// Calls a function of an image that has its [`call_roots`]. `arguments` makes one
/// value per argument, Void ones too; `result` looks at the outcome: the value, or
/// the exception.
pub fn call_function<T>(
    program: &dyn Program,
    image: &LoadedImage,
    f: &FuncSym,
    arguments: impl FnOnce(&mut NativeMemory<'_>) -> Result<Vec<LLValue>, String>,
    result: impl FnOnce(&mut NativeMemory<'_>, Result<LLValue, RaisedException>) -> T,
) -> Result<T, CodegenError> {
    let error = |message: String| CodegenError::new(f.name(), message);
    let trampoline = (image.symbol(&SymbolRef::Glue(Glue::Trampoline(f.clone()))))
        .ok_or_else(|| error("the image cannot call it".into()))?;
    with_heap(stack_left(), image.collector(), image.data(), || {
        image.expect_faults();
        let mut memory = NativeMemory {
            program,
            image,
            layouts: FxHashMap::default(),
        };
        let values = arguments(&mut memory).map_err(error)?;
        let given = f.ty().args.iter().zip(values).filter(|(t, _)| !t.is_void());
        let slots: Vec<i128> = given.map(|(_, v)| v.word()).collect();
        // SAFETY: it is the trampoline of a function that takes these arguments; the heap
        // is set up for this thread.
        let value = unsafe { enter(trampoline, &slots) }
            .map(|word| LLValue::from_word(in_register(word, f.ty().result), f.ty().result));
        Ok(result(&mut memory, value))
    })
}

/// Calls a function without arguments by its trampoline, which lies there in the image.
/// What it returns is not looked at.
pub fn call_trampoline(image: &LoadedImage, at: Place) -> Result<(), RaisedException> {
    with_heap(stack_left(), image.collector(), image.data(), || {
        image.expect_faults();
        // SAFETY: the caller passes the place of a trampoline of this image whose function takes no
        // arguments. `with_heap` has set the heap up for this thread.
        unsafe { enter(image.address(at), &[]) }.map(|_| ())
    })
}

/// The outcome of a trampoline: the slot that it writes, or the exception.
///
/// # Safety
/// The trampoline is one of a loaded image and reads that many slots. The heap is set
/// up for this thread.
unsafe fn enter(trampoline: usize, arguments: &[i128]) -> Result<i128, RaisedException> {
    let mut word = 0i128;
    // Residual code of a just-in-time compiler records no places: what is there is old.
    exc::clear_tracebacks();
    // SAFETY: the address is that of a trampoline of a loaded image, which reads as many slots as
    // there are and writes one. The heap is set up for this thread.
    let raised = unsafe {
        let trampoline: extern "C" fn(*const i128, *mut i128) = std::mem::transmute(trampoline);
        trampoline(arguments.as_ptr(), &raw mut word);
        current_exception()
    };
    exc::clear_exception();
    raised.map_or(Ok(word), Err)
}

/// How much of this thread's stack is left.
fn stack_left() -> usize {
    let here = 0u8;
    let mut lowest = std::ptr::null_mut();
    let mut size = 0;
    // SAFETY: the attributes are initialised by the first call and given back after use.
    unsafe {
        let mut attributes = std::mem::zeroed::<libc::pthread_attr_t>();
        if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) == 0 {
            libc::pthread_attr_getstack(&raw const attributes, &raw mut lowest, &raw mut size);
            libc::pthread_attr_destroy(&raw mut attributes);
        }
    }
    (&raw const here as usize)
        .saturating_sub(lowest as usize)
        .min(size)
}

/// The word of a value whose bytes are the lowest ones of `slot`, which is what a
/// trampoline writes.
pub fn in_register(slot: i128, ty: LLType) -> i128 {
    match ty.kind() {
        TypeKind::Int(k) => k.wrap(slot),
        TypeKind::Float | TypeKind::Address | TypeKind::Ptr(_) => i128::from(slot as u64),
        TypeKind::UniChar | TypeKind::SingleFloat => i128::from(slot as u32),
        _ => i128::from(slot as u8),
    }
}

/// The memory of this process as objects of a program. Only inside [`call_function`].
pub struct NativeMemory<'a> {
    program: &'a dyn Program,
    image: &'a LoadedImage,
    layouts: FxHashMap<LLType, Arc<Layout>>,
}

impl Memory for NativeMemory<'_> {
    fn program(&self) -> &dyn Program {
        self.program
    }

    fn layout(&mut self, ty: LLType) -> Arc<Layout> {
        let program = self.program;
        self.layouts
            .entry(ty)
            .or_insert_with(|| Arc::new(layout(ty, program)))
            .clone()
    }

    /// The object does not move before the next collection, and there is none until
    /// the function is called.
    fn malloc(&mut self, ty: LLType, length: u64, _zero: bool) -> Result<Addr, HeapError> {
        if !ty.is_gc_container() {
            return Err(HeapError::Type("not a GC object"));
        }
        let info = (self.image.symbol(&SymbolRef::TypeInfo(ty)))
            .ok_or(HeapError::Type("not a type of the arguments"))?;
        // SAFETY: the image has type information there; the heap is set up.
        unsafe {
            let info = &*(info as *const TypeInfo);
            Ok(gc::api::malloc_nonmoving(info, length as usize) as Addr)
        }
    }

    fn bytes(&mut self, addr: Addr, size: usize) -> Result<&[u8], HeapError> {
        if addr == 0 {
            return Err(HeapError::Null);
        }
        // SAFETY: addresses come from the program, whose objects are alive.
        Ok(unsafe { std::slice::from_raw_parts(addr as usize as *const u8, size) })
    }

    fn bytes_mut(&mut self, addr: Addr, size: usize) -> Result<&mut [u8], HeapError> {
        if addr == 0 {
            return Err(HeapError::Null);
        }
        // SAFETY: addresses come from the program, whose objects are alive. Nothing runs while the
        // slice is in use.
        Ok(unsafe { std::slice::from_raw_parts_mut(addr as usize as *mut u8, size) })
    }
}
