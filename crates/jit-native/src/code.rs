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
use taipan_codegen::{CodegenError, CompiledFunction, SymbolRef};
use taipan_codegen_cranelift::{CALL_REACH, LARGEST_PAGE, Patch, STUB, TRAP, flush, is_call, stub};

/// Address space that is reserved for code at a time.
const CHUNK: usize = CALL_REACH / 8;
/// Address space between code and the address that it should be near, for more chunks.
const GAP: usize = CALL_REACH / 32;
/// Where units start.
const ALIGN: usize = 16;

enum Writer {
    /// The file, opened by the process of that number.
    Memory(File, u32),
    /// Pages that nothing was executed in.
    Pages,
}

/// A part of the address space, for code only.
#[derive(Clone, Copy)]
struct Chunk {
    base: usize,
    size: usize,
    used: usize,
}

/// Memory that code is put into, and never taken out of. It grows by chunks: units find each
/// other by words, and everything else by stubs where it is too far away for a call.
pub(crate) struct CodeMemory {
    /// Where code is put now.
    chunk: Chunk,
    /// Those that are full.
    filled: Vec<Chunk>,
    /// How large they are.
    chunk_size: usize,
    /// Code should be near this address.
    near: usize,
    writer: Writer,
    /// Where code of this chunk goes on that is too far away for calls.
    stubs: FxHashMap<usize, usize>,
}

impl Chunk {
    /// A new one, near that address if there is room.
    fn map(near: usize, size: usize) -> io::Result<Chunk> {
        let hint = near.saturating_sub(size + GAP) & !(LARGEST_PAGE - 1);
        // SAFETY: a new mapping, which replaces none: the address is a hint.
        let base = unsafe {
            libc::mmap(
                hint as *mut _,
                size,
                libc::PROT_READ | libc::PROT_EXEC,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Chunk {
            base: base as usize,
            size,
            used: 0,
        })
    }
}

impl CodeMemory {
    /// Reserves it, near that address if there is room.
    pub(crate) fn new(near: usize) -> io::Result<CodeMemory> {
        CodeMemory::with_chunks(near, CHUNK)
    }

    fn with_chunks(near: usize, chunk_size: usize) -> io::Result<CodeMemory> {
        let mut chunk = Chunk::map(near, chunk_size)?;
        let mut writer = Writer::Pages;
        // What cannot be executed traps.
        let first = [TRAP; ALIGN];
        if let Ok(file) = own_memory()
            && file.write_all_at(&first, chunk.base as u64).is_ok()
            // An emulator may have another idea of addresses than the file.
            // SAFETY: the chunk is mapped, and is larger.
            && unsafe { *(chunk.base as *const [u8; ALIGN]) } == first
        {
            writer = Writer::Memory(file, std::process::id());
            chunk.used = ALIGN;
        }
        Ok(CodeMemory {
            chunk,
            filled: Vec::new(),
            chunk_size,
            near,
            writer,
            stubs: FxHashMap::default(),
        })
    }

    /// How many bytes are in use.
    pub(crate) fn used(&self) -> usize {
        let filled: usize = self.filled.iter().map(|c| c.used).sum();
        filled + self.chunk.used
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
        match self.put(code, &far) {
            Err(_) if matches!(self.writer, Writer::Memory(..)) => {
                // The file cannot be opened or written to any more.
                self.writer = Writer::Pages;
                self.chunk.used = self.chunk.used.next_multiple_of(LARGEST_PAGE);
                self.put(code, &far)
            }
            done => done,
        }
        .map_err(|e| CodegenError::new("code", e.to_string()))
    }

    fn put(&mut self, code: &CompiledFunction, targets: &[usize]) -> io::Result<usize> {
        self.make_room(code)?;
        let mut targets = targets.to_vec();
        // Stubs first: they are code of their own.
        for (r, to) in code.relocs.iter().zip(&mut targets) {
            let near = to.abs_diff(self.chunk.base) < CALL_REACH - self.chunk.size;
            if is_call(r.kind) && !near {
                *to = self.stub(*to)?;
            }
        }
        let at = self.reserve(code.code.len());
        let mut bytes = code.code.clone();
        for (r, to) in code.relocs.iter().zip(targets) {
            let to = (to as i64).wrapping_add(r.addend);
            let offset = r.offset as usize;
            let patch = Patch::new(&code.code[offset..], at + offset, r.kind, to);
            let patch = patch.map_err(|e| io::Error::other(e.to_string()))?;
            bytes[offset..][..patch.bytes().len()].copy_from_slice(patch.bytes());
        }
        self.write(at, &bytes)?;
        Ok(at)
    }

    /// Sees to it that the code and its stubs are in one chunk.
    fn make_room(&mut self, code: &CompiledFunction) -> io::Result<()> {
        let pieces = code.relocs.len() + 1;
        let most = code.code.len() + pieces * (STUB + self.align());
        if self.chunk.used + most <= self.chunk.size {
            return Ok(());
        }
        let size = self.chunk_size.max(most.next_multiple_of(LARGEST_PAGE));
        let new = Chunk::map(self.near, size)?;
        self.filled.push(std::mem::replace(&mut self.chunk, new));
        self.stubs.clear();
        Ok(())
    }

    fn stub(&mut self, to: usize) -> io::Result<usize> {
        if let Some(at) = self.stubs.get(&to) {
            return Ok(*at);
        }
        let at = self.reserve(STUB);
        self.write(at, &stub(to))?;
        self.stubs.insert(to, at);
        Ok(at)
    }

    fn align(&self) -> usize {
        match self.writer {
            Writer::Memory(..) => ALIGN,
            Writer::Pages => LARGEST_PAGE,
        }
    }

    /// Takes memory for which there is room.
    fn reserve(&mut self, size: usize) -> usize {
        let start = self.chunk.used.next_multiple_of(self.align());
        self.chunk.used = start + size;
        self.chunk.base + start
    }

    fn write(&mut self, at: usize, bytes: &[u8]) -> io::Result<()> {
        match &mut self.writer {
            Writer::Memory(file, process) => {
                if *process != std::process::id() {
                    // A child would write into the memory of the process that opened it.
                    *file = own_memory()?;
                    *process = std::process::id();
                }
                file.write_all_at(bytes, at as u64)?;
            }
            Writer::Pages => {
                let size = bytes.len().next_multiple_of(LARGEST_PAGE);
                let protect = |access| {
                    // SAFETY: pages of this mapping in which there is no code yet.
                    match unsafe { libc::mprotect(at as *mut _, size, access) } {
                        0 => Ok(()),
                        _ => Err(io::Error::last_os_error()),
                    }
                };
                protect(libc::PROT_READ | libc::PROT_WRITE)?;
                // SAFETY: the pages are mapped and writable now, and `at` has room for the bytes.
                unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut u8, bytes.len()) };
                protect(libc::PROT_READ | libc::PROT_EXEC)?;
            }
        }
        // SAFETY: the bytes were written there.
        unsafe { flush(at, bytes.len()) };
        Ok(())
    }
}

impl Drop for CodeMemory {
    fn drop(&mut self) {
        if taipan_runtime::threads::left_behind() {
            // They return to the code when the C functions that they wait in do.
            return;
        }
        for c in self.filled.iter().chain([&self.chunk]) {
            // SAFETY: the mappings are this value's own.
            unsafe { libc::munmap(c.base as *mut _, c.size) };
        }
    }
}

fn own_memory() -> io::Result<File> {
    File::options().write(true).open("/proc/self/mem")
}

#[cfg(test)]
mod tests {
    use super::{CodeMemory, LARGEST_PAGE, TRAP, Writer};
    use std::fs::File;
    use taipan_codegen::{CodegenError, CompiledFunction, Reloc, RelocKind, SymbolRef};

    const AARCH64: bool = cfg!(target_arch = "aarch64");

    /// Instructions of aarch64.
    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }

    fn call_of_seven(offset: u64, kind: RelocKind, addend: i64) -> Reloc {
        Reloc {
            offset,
            kind,
            target: SymbolRef::External("seven".into()),
            addend,
        }
    }

    /// A function that returns a number.
    fn returning(n: u8) -> CompiledFunction {
        CompiledFunction {
            code: match AARCH64 {
                // mov w0, n; ret
                true => words(&[0x5280_0000 | u32::from(n) << 5, 0xd65f_03c0]),
                // mov eax, n; ret
                false => vec![0xb8, n, 0, 0, 0, 0xc3],
            },
            relocs: Vec::new(),
            locations: Vec::new(),
            lines: Vec::new(),
            keeps_frames: false,
            debug: None,
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
        memory.chunk.used = memory.chunk.used.next_multiple_of(LARGEST_PAGE);
        check(memory);
    }

    #[test]
    fn memory_goes_on_where_it_can_be_written_to() {
        let mut memory = CodeMemory::new(access as *const () as usize).expect("memory");
        let mut nothing = |_: &_| Err(CodegenError::new("test", "no symbols"));
        memory.add(&returning(7), &mut nothing).expect("memory");
        let nowhere = File::open("/dev/null").expect("a file that is not written to");
        memory.writer = Writer::Memory(nowhere, std::process::id());
        check(memory);
    }

    /// Code calls the same function from each chunk, however far that is away.
    #[test]
    fn there_is_always_another_chunk() {
        extern "C" fn seven() -> i32 {
            7
        }
        let near = access as *const () as usize;
        for base in [near, near / 2] {
            let mut memory = CodeMemory::with_chunks(base, LARGEST_PAGE).expect("memory");
            let mut calling = CompiledFunction {
                code: match AARCH64 {
                    // stp x29, x30, [sp, #-16]!; bl seven; ldp x29, x30, [sp], #16; ret
                    true => words(&[0xa9bf_7bfd, 0x9400_0000, 0xa8c1_7bfd, 0xd65f_03c0]),
                    // sub rsp, 8; call seven; add rsp, 8; ret
                    false => vec![
                        0x48, 0x83, 0xec, 8, 0xe8, 0, 0, 0, 0, 0x48, 0x83, 0xc4, 8, 0xc3,
                    ],
                },
                relocs: vec![match AARCH64 {
                    true => call_of_seven(4, RelocKind::Aarch64Call, 0),
                    false => call_of_seven(5, RelocKind::PcRel32, -4),
                }],
                locations: Vec::new(),
                lines: Vec::new(),
                keeps_frames: false,
                debug: None,
            };
            calling.code.resize(1000, TRAP);
            let mut last = 0;
            for n in 0..20 {
                if n == 10 {
                    calling.code.resize(3 * LARGEST_PAGE, TRAP);
                }
                let mut resolve = |_: &_| Ok(seven as *const () as usize);
                let at = memory.add(&calling, &mut resolve).expect("memory");
                // SAFETY: code of a function of this type.
                let f: extern "C" fn() -> i32 = unsafe { std::mem::transmute(at) };
                assert_eq!(f(), 7);
                assert!(memory.used() >= last + calling.code.len());
                last = memory.used();
            }
            assert!(memory.filled.len() >= 12);
        }
    }
}
