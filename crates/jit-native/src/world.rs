//! The memory and the functions of this process, as the specialiser sees them.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_codegen::{CodegenError, Glue, SymbolRef};
use taipan_codegen_cranelift::{
    Addresses, FunctionCompiler, LoadedImage, external_address, in_register,
};
use taipan_jit::{Called, Word, World};
use taipan_lltype::{
    Access, Addr, FuncSym, HeapError, LLConst, LLType, Layout, Memory, Program, StaticSym,
    const_word, field_of, foreign_symbol, layout, word_const, word_of_u64,
};
use taipan_runtime::gc;
use taipan_runtime::gc::TypeInfo;
use taipan_runtime::state::rpy_state;

use crate::assumptions::Assumptions;
use crate::cells::Words;
use crate::code::CodeMemory;

/// What prebuilt data are called that are known by their address alone.
const AT: &str = "at ";

/// The address of data that are known by their address alone.
pub(crate) fn address_in_name(symbol: &SymbolRef) -> Option<usize> {
    match symbol {
        SymbolRef::Static(StaticSym::Named(name, _)) => {
            usize::from_str_radix(name.strip_prefix(AT)?, 16).ok()
        }
        _ => None,
    }
}

/// Where things are.
pub(crate) struct Names<'p> {
    pub(crate) image: &'p LoadedImage,
    /// Functions that were asked for, by address. The image knows its own.
    functions: FxHashMap<usize, FuncSym>,
    /// Stand in for functions that have no code of their own because nobody calls them.
    absent: FxHashMap<FuncSym, usize>,
}

impl<'p> Names<'p> {
    pub(crate) fn new(image: &'p LoadedImage) -> Names<'p> {
        Names {
            image,
            functions: FxHashMap::default(),
            absent: FxHashMap::default(),
        }
    }

    /// The address of something that code refers to.
    pub(crate) fn resolve(&self, symbol: &SymbolRef) -> Result<usize, CodegenError> {
        match symbol {
            SymbolRef::External(name) => external_address(name),
            SymbolRef::Foreign(f) => external_address(&foreign_symbol(f)),
            other => self.address(other).ok_or_else(|| {
                CodegenError::new(format!("{other:?}"), "not a part of the running program")
            }),
        }
    }

    /// The function whose code starts at an address.
    fn function_at(&self, at: usize) -> Option<FuncSym> {
        let own = || self.image.function_at(at);
        self.functions.get(&at).cloned().or_else(own)
    }

    fn function(&mut self, f: &FuncSym) -> usize {
        if let Ok(at) = self.resolve(&SymbolRef::function(f)) {
            self.functions.entry(at).or_insert_with(|| f.clone());
            return at;
        }
        if let Some(at) = self.absent.get(f) {
            return *at;
        }
        // Odd, as no function's is, and not null.
        let at = self.absent.len() * 2 + 1;
        self.absent.insert(f.clone(), at);
        self.functions.insert(at, f.clone());
        at
    }
}

impl Addresses for Names<'_> {
    fn address(&self, symbol: &SymbolRef) -> Option<usize> {
        match symbol {
            SymbolRef::External(name) => external_address(name).ok(),
            other => address_in_name(other).or_else(|| self.image.symbol(other)),
        }
    }
}

/// What is kept for [`InProcess`] from one use to the next.
#[derive(Default)]
pub(crate) struct Tables {
    layouts: FxHashMap<LLType, Arc<Layout>>,
    /// Offset and type of fields, by container and name.
    fields: FxHashMap<LLType, FxHashMap<Box<str>, (u64, LLType)>>,
    /// Objects that the collector keeps for residual code.
    kept: FxHashSet<usize>,
    trampolines: FxHashMap<FuncSym, usize>,
}

/// The running program in this process. The caller is the mutator, and its roots are saved.
pub(crate) struct InProcess<'e, 'p> {
    pub(crate) program: &'p dyn Program,
    pub(crate) names: &'e mut Names<'p>,
    pub(crate) tables: &'e mut Tables,
    pub(crate) code: &'e mut CodeMemory,
    pub(crate) compiler: &'e mut FunctionCompiler,
    pub(crate) words: &'e mut Words,
    /// What [`World::leave_counter`] starts with.
    pub(crate) leaves: u64,
    /// What code takes for granted.
    pub(crate) assumptions: &'e Assumptions,
    /// See [`World::wants_notes`].
    pub(crate) notes: bool,
}

impl InProcess<'_, '_> {
    /// The same value, which is not going to change while residual code has it: objects
    /// stay where they are, and alive.
    pub(crate) fn stable(&mut self, w: Word, ty: LLType) -> Word {
        if !ty.is_gc_ptr() || w == 0 {
            return w;
        }
        let at = w as usize;
        if self.tables.kept.contains(&at) {
            return w;
        }
        // SAFETY: words of pointer types are objects; the mutator's roots are saved.
        let at = unsafe { gc::api::keep(at) };
        self.tables.kept.insert(at);
        Word::from(at as u64)
    }

    fn trampoline(&mut self, f: &FuncSym) -> Result<usize, CodegenError> {
        if let Some(at) = self.tables.trampolines.get(f) {
            return Ok(*at);
        }
        let glue = self.compiler.compile_glue(&Glue::Trampoline(f.clone()))?;
        let names = &*self.names;
        let at = self.code.add(&glue, &mut |s| names.resolve(s))?;
        self.tables.trampolines.insert(f.clone(), at);
        Ok(at)
    }
}

impl World for InProcess<'_, '_> {
    fn wants_notes(&self) -> bool {
        self.notes
    }

    fn memory(&mut self) -> &mut dyn Memory {
        self
    }

    fn word(&mut self, c: &LLConst) -> Word {
        match c {
            LLConst::Null(_) => 0,
            LLConst::Func(f) => Word::from(self.names.function(f) as u64),
            LLConst::Static(s, _) => {
                let symbol = SymbolRef::Static((**s).clone());
                let at = self.names.address(&symbol).unwrap_or_default();
                Word::from(at as u64)
            }
            c => const_word(c).unwrap_or_default(),
        }
    }

    fn constant(&mut self, w: Word, ty: LLType) -> LLConst {
        if let Some(c) = word_const(w, ty) {
            return c;
        }
        let at = w as u64;
        if at == 0 {
            return LLConst::Null(ty);
        }
        if let Some(f) = self.names.function_at(at as usize) {
            return LLConst::Func(f);
        }
        let container = ty.pointee().unwrap_or(ty);
        let name = format!("{AT}{at:x}");
        LLConst::data(StaticSym::Named(name.into(), container), ty)
    }

    fn function(&mut self, w: Word) -> Option<FuncSym> {
        self.names.function_at(w as usize)
    }

    fn keep(&mut self, w: Word, ty: LLType) -> Word {
        self.stable(w, ty)
    }

    fn moves(&self) -> u64 {
        // SAFETY: the caller is the mutator.
        unsafe { gc::api::collections() }
    }

    fn assumptions(&mut self) -> Option<u64> {
        Some(self.assumptions.new_word())
    }

    fn holds(&mut self, assumptions: u64) -> bool {
        Assumptions::holds(assumptions)
    }

    fn may_assume(&mut self, field: u64) -> bool {
        self.assumptions.may_assume(field)
    }

    fn assume(&mut self, assumptions: u64, field: u64) -> bool {
        self.assumptions.assume(assumptions, field)
    }

    fn leave_counter(&mut self) -> Option<u64> {
        Some(self.words.new_word(self.leaves) as u64)
    }

    fn call(&mut self, f: Word, args: &[(Word, LLType)], result: LLType) -> Result<Called, String> {
        let f = self.function(f).ok_or("a call of what is no function")?;
        let trampoline = self.trampoline(&f).map_err(|e| e.to_string())?;
        let slots: Vec<i128> = args.iter().map(|(w, _)| *w).collect();
        let mut word = 0i128;
        // SAFETY: the trampoline of a function with these arguments; the caller is the
        // mutator.
        let (etype, evalue) = unsafe {
            let call: extern "C" fn(*const i128, *mut i128) = std::mem::transmute(trampoline);
            call(slots.as_ptr(), &raw mut word);
            let state = &raw mut rpy_state;
            let raised = ((*state).exc_type as u64, (*state).exc_value as u64);
            taipan_runtime::exc::clear_exception();
            raised
        };
        if etype != 0 {
            let evalue = self.stable(Word::from(evalue), taipan_lltype::OBJECT.ptr());
            return Ok(Err((Word::from(etype), evalue)));
        }
        let word = in_register(word, result);
        Ok(Ok(self.stable(word, result)))
    }
}

impl Memory for InProcess<'_, '_> {
    fn program(&self) -> &dyn Program {
        self.program
    }

    fn layout(&mut self, ty: LLType) -> Arc<Layout> {
        let program = self.program;
        (self.tables.layouts.entry(ty))
            .or_insert_with(|| Arc::new(layout(ty, program)))
            .clone()
    }

    fn field(&mut self, addr: Addr, ty: LLType, name: &str) -> Result<(Addr, LLType), HeapError> {
        let known = self.tables.fields.get(&ty).and_then(|of| of.get(name));
        if let Some((offset, field)) = known {
            return Ok((addr + offset, *field));
        }
        let (i, field) =
            field_of(ty, name, self.program).ok_or(HeapError::Type("no such field"))?;
        let offset = self.layout(ty).fields[i];
        let of = self.tables.fields.entry(ty).or_default();
        of.insert(name.into(), (offset, field));
        Ok((addr + offset, field))
    }

    fn malloc(&mut self, ty: LLType, length: u64, _zero: bool) -> Result<Addr, HeapError> {
        let info = (self.names.address(&SymbolRef::TypeInfo(ty)))
            .ok_or(HeapError::Type("not a type of the running program"))?;
        // SAFETY: there is type information at that address.
        let at = unsafe {
            let info = &*(info as *const TypeInfo);
            gc::api::keep(gc::api::malloc_nonmoving(info, length as usize))
        };
        self.tables.kept.insert(at);
        Ok(at as Addr)
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
        // SAFETY: addresses come from the program, whose objects are alive. Nothing of the program
        // runs while the slice is in use.
        Ok(unsafe { std::slice::from_raw_parts_mut(addr as usize as *mut u8, size) })
    }

    /// A pointer that is read becomes known: its object stays.
    fn load_word(&mut self, addr: Addr, ty: LLType) -> Result<i128, HeapError> {
        let access = Access::of(ty).ok_or(HeapError::Type("load of a container"))?;
        let bytes = self.bytes(addr, access.size())?;
        let word = match access {
            Access::W128 => {
                let mut w = [0; 16];
                w.copy_from_slice(bytes);
                i128::from_le_bytes(w)
            }
            _ => word_of_u64(access.decode(bytes), ty),
        };
        Ok(self.stable(word, ty))
    }
}
