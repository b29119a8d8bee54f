//! Units that are made of templates, and run.

use std::mem::transmute;
use std::ptr;

use taipan_codegen::SymbolRef;
use taipan_lltype::{FLOAT, LLValue, SIGNED, TableProgram};

use super::{outcome, transformed};
use crate::patch::{TRAP, flush};
use crate::template::Templates;
use crate::{Addresses, FunctionCompiler, OptLevel, external_address};

struct Runtime;

impl Addresses for Runtime {
    fn address(&self, symbol: &SymbolRef) -> Option<usize> {
        match symbol {
            SymbolRef::External(name) => external_address(name).ok(),
            _ => None,
        }
    }
}

/// Compiles the last function of the program, of two signed numbers, an unsigned one and a float,
/// as a unit, and calls it. None if templates are not enough, or it calls something.
pub(super) fn run_unit(program: &TableProgram, args: &[LLValue]) -> Option<String> {
    let program = transformed(program);
    let f = program.functions.last().expect("a function");
    let mut graph = (*program.graphs[f.name()]).clone();
    let cell = graph.new_var("cell", *SIGNED);
    let start = graph.startblock;
    graph.block_mut(start).inputargs.insert(0, cell);
    let unit = Templates::default().compile(&program, &graph, &Runtime)?;
    if !unit.relocs.is_empty() {
        return None;
    }
    let mut word = Box::new(0_usize);
    let mut compiler = FunctionCompiler::for_units(OptLevel::None).expect("a compiler");
    let entry = compiler.compile_entry("entry", f.ty(), ptr::from_ref(&*word) as usize);
    let entry = entry.expect("compiles");
    assert!(entry.relocs.is_empty());
    let mut code = unit.code;
    code.resize(code.len().next_multiple_of(16), TRAP);
    let at = code.len();
    code.extend(entry.code);
    let memory = Code::new(&code);
    *word = memory.at;
    let [
        LLValue::Int(_, a),
        LLValue::Int(_, b),
        LLValue::Int(_, c),
        LLValue::Float(d),
    ] = args
    else {
        return None;
    };
    let (a, b, c) = (*a as i64, *b as i64, *c as u64);
    let entry = (memory.at + at) as *const ();
    // SAFETY: it is a function of this type.
    let result = unsafe {
        if f.ty().result == *FLOAT {
            let f: extern "C" fn(i64, i64, u64, f64) -> f64 = transmute(entry);
            LLValue::Float(f(a, b, c, *d))
        } else {
            let g: extern "C" fn(i64, i64, u64, f64) -> i64 = transmute(entry);
            let n = g(a, b, c, *d);
            match f.ty().result == *SIGNED {
                true => LLValue::signed(n),
                false => LLValue::Int(taipan_graph::IntKind::UNSIGNED, i128::from(n as u64)),
            }
        }
    };
    Some(outcome(Ok(result)))
}

/// Memory with code.
struct Code {
    at: usize,
    size: usize,
}

impl Code {
    fn new(code: &[u8]) -> Code {
        let size = code.len();
        // SAFETY: a new mapping, which is written before it is executable.
        unsafe {
            let at = libc::mmap(
                ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_ne!(at, libc::MAP_FAILED);
            ptr::copy_nonoverlapping(code.as_ptr(), at.cast(), size);
            let access = libc::PROT_READ | libc::PROT_EXEC;
            assert_eq!(libc::mprotect(at, size, access), 0);
            flush(at as usize, size);
            Code {
                at: at as usize,
                size,
            }
        }
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own.
        unsafe { libc::munmap(self.at as *mut _, self.size) };
    }
}
