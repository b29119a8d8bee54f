//! Memory for code.
//!
//! Its pages can be executed and never be written to: what is written goes through
//! `/proc/self/mem`, as debuggers write, and if there is no such file into whole pages that
//! are executable only afterwards. Code in one page may be running while more is written
//! into it, also in a process that was forked: pages are private.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::ptr;

use rustc_hash::FxHashMap;
use taipan_codegen::{CodegenError, CompiledFunction, RelocKind, SymbolRef};
use taipan_codegen_cranelift::{STUB, stub};

/// Address space for code.
const SIZE: usize = 256 << 20;
const PAGE: usize = 4096;
/// Where units start.
const ALIGN: usize = 16;

enum Writer {
    /// The file, opened by the process of that number.
    Memory(File, u32),
    /// Pages that nothing was executed in.
    Pages,
}

/// Memory that code is put into, and never taken out of.
pub(crate) struct CodeMemory {
    base: usize,
    used: usize,
    writer: Writer,
    /// Where code goes on that is too far away for calls.
    stubs: FxHashMap<usize, usize>,
}

impl CodeMemory {
    /// Reserves it, near that address if there is room.
    pub(crate) fn new(near: usize) -> io::Result<CodeMemory> {
        let hint = near.saturating_sub(SIZE + (64 << 20)) & !(PAGE - 1);
        // SAFETY: a new mapping.
        let base = unsafe {
            libc::mmap(
                hint as *mut _,
                SIZE,
                libc::PROT_READ | libc::PROT_EXEC,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let mut memory = CodeMemory {
            base: base as usize,
            used: 0,
            writer: Writer::Pages,
            stubs: FxHashMap::default(),
        };
        // What cannot be executed traps.
        let first = [0xcc; ALIGN];
        match own_memory() {
            Ok(file) if file.write_all_at(&first, memory.base as u64).is_ok() => {
                memory.writer = Writer::Memory(file, std::process::id());
                memory.used = ALIGN;
            }
            _ => {}
        }
        Ok(memory)
    }

    /// How many bytes are in use.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// Puts code into memory, with its references resolved, and returns where.
    pub(crate) fn add(
        &mut self,
        code: &CompiledFunction,
        resolve: &mut dyn FnMut(&SymbolRef) -> Result<usize, CodegenError>,
    ) -> Result<usize, CodegenError> {
        let mut far = Vec::new();
        for r in &code.relocs {
            far.push(resolve(&r.target)?);
        }
        // Stubs first: they are code of their own.
        for (r, to) in code.relocs.iter().zip(&mut far) {
            let near = to.abs_diff(self.base) < (1 << 31) - SIZE;
            if r.kind == RelocKind::PcRel32 && !near {
                *to = self.stub(*to)?;
            }
        }
        let at = self.reserve(code.code.len())?;
        let mut bytes = code.code.clone();
        for (r, to) in code.relocs.iter().zip(far) {
            let value = (to as i64).wrapping_add(r.addend);
            let offset = r.offset as usize;
            match r.kind {
                RelocKind::Abs64 => bytes[offset..offset + 8].copy_from_slice(&value.to_le_bytes()),
                RelocKind::PcRel32 => {
                    let distance = (value - (at + offset) as i64) as i32;
                    bytes[offset..offset + 4].copy_from_slice(&distance.to_le_bytes());
                }
            }
        }
        self.write(at, &bytes)?;
        Ok(at)
    }

    fn stub(&mut self, to: usize) -> Result<usize, CodegenError> {
        if let Some(at) = self.stubs.get(&to) {
            return Ok(*at);
        }
        let at = self.reserve(STUB)?;
        self.write(at, &stub(to))?;
        self.stubs.insert(to, at);
        Ok(at)
    }

    fn reserve(&mut self, size: usize) -> Result<usize, CodegenError> {
        let align = match self.writer {
            Writer::Memory(..) => ALIGN,
            Writer::Pages => PAGE,
        };
        let start = self.used.next_multiple_of(align);
        if start + size > SIZE {
            return Err(CodegenError::new("code", "no more memory"));
        }
        self.used = start + size;
        Ok(self.base + start)
    }

    fn write(&mut self, at: usize, bytes: &[u8]) -> Result<(), CodegenError> {
        let error = |e: io::Error| CodegenError::new("code", e.to_string());
        match &mut self.writer {
            Writer::Memory(file, process) => {
                if *process != std::process::id() {
                    // A child would write into the memory of the process that opened it.
                    *file = own_memory().map_err(error)?;
                    *process = std::process::id();
                }
                file.write_all_at(bytes, at as u64).map_err(error)
            }
            Writer::Pages => {
                let size = bytes.len().next_multiple_of(PAGE);
                let protect = |access| {
                    // SAFETY: pages of this mapping in which there is no code yet.
                    match unsafe { libc::mprotect(at as *mut _, size, access) } {
                        0 => Ok(()),
                        _ => Err(error(io::Error::last_os_error())),
                    }
                };
                protect(libc::PROT_READ | libc::PROT_WRITE)?;
                // SAFETY: they can be written to now.
                unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut u8, bytes.len()) };
                protect(libc::PROT_READ | libc::PROT_EXEC)
            }
        }
    }
}

impl Drop for CodeMemory {
    fn drop(&mut self) {
        if taipan_runtime::threads::left_behind() {
            // They return to the code when the C functions that they wait in do.
            return;
        }
        // SAFETY: the mapping is this value's own.
        unsafe { libc::munmap(self.base as *mut _, SIZE) };
    }
}

fn own_memory() -> io::Result<File> {
    File::options().write(true).open("/proc/self/mem")
}

#[cfg(test)]
mod tests {
    use super::{CodeMemory, PAGE, Writer};
    use taipan_codegen::{CodegenError, CompiledFunction};

    /// A function that returns a number.
    fn returning(n: u8) -> CompiledFunction {
        CompiledFunction {
            // mov eax, n; ret
            code: vec![0xb8, n, 0, 0, 0, 0xc3],
            relocs: Vec::new(),
            locations: Vec::new(),
        }
    }

    fn check(mut memory: CodeMemory) {
        let mut nothing = |_: &_| Err(CodegenError::new("test", "no symbols"));
        for n in 0..3 {
            let at = memory.add(&returning(n), &mut nothing).expect("memory");
            // SAFETY: code of a function of this type.
            let f: extern "C" fn() -> i32 = unsafe { std::mem::transmute(at) };
            assert_eq!(f(), i32::from(n));
            assert_eq!(access(at), "r-xp");
        }
    }

    /// What may be done with the page at an address.
    fn access(at: usize) -> String {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("maps");
        for line in maps.lines() {
            let mut words = line.split_whitespace();
            let (range, access) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
            let (from, to) = range.split_once('-').expect("a range");
            let number = |s| usize::from_str_radix(s, 16).expect("a number");
            if (number(from)..number(to)).contains(&at) {
                return access.to_owned();
            }
        }
        String::new()
    }

    #[test]
    fn code_is_executable_and_never_writable() {
        check(CodeMemory::new(access as *const () as usize).expect("memory"));
    }

    #[test]
    fn pages_are_written_before_they_are_executable() {
        let mut memory = CodeMemory::new(access as *const () as usize).expect("memory");
        memory.writer = Writer::Pages;
        memory.used = memory.used.next_multiple_of(PAGE);
        check(memory);
    }
}
