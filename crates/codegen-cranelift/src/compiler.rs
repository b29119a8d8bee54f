//! From one graph to one [`CompiledFunction`].

use std::sync::Arc;

use cranelift_codegen::binemit::Reloc as ClifReloc;
use cranelift_codegen::ir::{ExternalName, LibCall};
use cranelift_codegen::{CompiledCode, Context, FinalizedRelocTarget};
use cranelift_frontend::FunctionBuilderContext;
use rustc_hash::FxHashMap;
use taipan_codegen::{
    CodeSource, CodegenError, CompiledFunction, Glue, Image, Reloc, RelocKind, SymbolRef,
    build_image,
};
use taipan_language::Machine;
use taipan_lltype::{FuncSym, FuncType, LLGraph, Program};
use target_lexicon::Architecture;

use crate::debug::code_debug;
use crate::emit::{Form, Symbols, emit_entry, emit_glue, emit_graph};
use crate::isa::{OptLevel, SharedIsa, isa_for};
use crate::listing::{self, CodeLine};
use crate::template::Templates;

/// Where things are in this process, for code that is made while a program runs in it.
pub trait Addresses {
    /// The address of data that a program has, or the runtime.
    fn address(&self, symbol: &SymbolRef) -> Option<usize>;
}

/// Compiles functions one after the other, reusing its working memory. Each thread
/// has its own.
pub struct FunctionCompiler {
    isa: SharedIsa,
    context: Context,
    builder_context: FunctionBuilderContext,
    /// Functions check what would be undefined behaviour.
    checked: bool,
    /// What units are made of that are compiled quickly, where the machine has it.
    templates: Option<Templates>,
}

impl FunctionCompiler {
    /// A compiler for the host.
    pub fn new(level: OptLevel) -> Result<FunctionCompiler, CodegenError> {
        Self::for_machine(Machine::HOST, level)
    }

    /// A compiler for a machine.
    pub fn for_machine(
        machine: Machine,
        level: OptLevel,
    ) -> Result<FunctionCompiler, CodegenError> {
        Self::with(machine, level, false, false)
    }

    /// A compiler for a machine whose code is to be read.
    pub fn for_listings(
        machine: Machine,
        level: OptLevel,
    ) -> Result<FunctionCompiler, CodegenError> {
        Self::with(machine, level, false, true)
    }

    /// A compiler for a machine whose code checks what would be undefined behaviour, and says
    /// where it was.
    pub fn for_checked(
        machine: Machine,
        level: OptLevel,
    ) -> Result<FunctionCompiler, CodegenError> {
        let mut compiler = Self::with(machine, level, true, false)?;
        compiler.checked = true;
        Ok(compiler)
    }

    /// A compiler for the host that makes units.
    pub fn for_units(level: OptLevel) -> Result<FunctionCompiler, CodegenError> {
        let mut compiler = Self::with(Machine::HOST, level, true, false)?;
        if level == OptLevel::None && Templates::are_for(Machine::HOST) {
            compiler.templates = Some(Templates::default());
        }
        Ok(compiler)
    }

    fn with(
        machine: Machine,
        level: OptLevel,
        units: bool,
        blocks: bool,
    ) -> Result<FunctionCompiler, CodegenError> {
        Ok(FunctionCompiler {
            isa: isa_for(machine, level, units, blocks)?,
            context: Context::new(),
            builder_context: FunctionBuilderContext::new(),
            checked: false,
            templates: None,
        })
    }

    /// The machine code of a function.
    pub fn compile(
        &mut self,
        program: &dyn Program,
        f: &FuncSym,
        graph: &LLGraph,
    ) -> Result<CompiledFunction, CodegenError> {
        let symbols = self.emit(program, f, graph)?;
        self.finish(f.name(), symbols)
    }

    /// The machine code of a function, which is the same, with what debuggers are told of it.
    pub fn compile_described(
        &mut self,
        program: &dyn Program,
        f: &FuncSym,
        graph: &LLGraph,
    ) -> Result<CompiledFunction, CodegenError> {
        self.context.clear();
        self.context.func.dfg.collect_debug_info();
        let symbols = self.emit_into(program, f.name(), &self.form(f), graph)?;
        let mut made = self.finish(f.name(), symbols)?;
        if let Some(code) = self.context.compiled_code() {
            made.lines = lines(code);
            made.debug = Some(Box::new(code_debug(&*self.isa, code, graph)));
        }
        Ok(made)
    }

    /// The code of a piece of glue.
    pub fn compile_glue(&mut self, glue: &Glue) -> Result<CompiledFunction, CodegenError> {
        self.context.clear();
        let (func, builder) = (&mut self.context.func, &mut self.builder_context);
        let symbols = emit_glue(func, builder, &*self.isa, glue)
            .map_err(|message| CodegenError::new("glue", message))?;
        self.finish("glue", symbols)
    }

    /// The machine code of a unit: its first argument is the cell by which it was entered.
    pub fn compile_unit(
        &mut self,
        program: &dyn Program,
        name: &str,
        graph: &LLGraph,
        addresses: &dyn Addresses,
    ) -> Result<CompiledFunction, CodegenError> {
        let templates = self.templates.as_mut();
        if let Some(made) = templates.and_then(|t| t.compile(program, graph, addresses)) {
            return Ok(made);
        }
        let symbols = self.emit_form(program, name, &Form::Unit(name, addresses), graph)?;
        self.finish(name, symbols)
    }

    /// The code of a function of that type that enters the unit of a cell.
    pub fn compile_entry(
        &mut self,
        name: &str,
        ty: &FuncType,
        cell: usize,
    ) -> Result<CompiledFunction, CodegenError> {
        self.context.clear();
        let (func, builder) = (&mut self.context.func, &mut self.builder_context);
        let symbols = emit_entry(func, builder, &*self.isa, ty, cell)
            .map_err(|message| CodegenError::new(name, message))?;
        self.finish(name, symbols)
    }

    /// The function in Cranelift's intermediate representation, before its passes.
    pub fn clif(
        &mut self,
        program: &dyn Program,
        f: &FuncSym,
        graph: &LLGraph,
    ) -> Result<String, CodegenError> {
        let symbols = self.emit(program, f, graph)?;
        Ok(symbols.with_names(&self.context.func.display().to_string()))
    }

    /// The same, with the instructions of the bytecode that its lines come from.
    pub fn placed_clif(
        &mut self,
        program: &dyn Program,
        f: &FuncSym,
        graph: &LLGraph,
    ) -> Result<Vec<CodeLine>, CodegenError> {
        let symbols = self.emit_placed(program, f, graph)?;
        let text = symbols.with_names(&self.context.func.display().to_string());
        Ok(listing::clif_lines(&text))
    }

    /// The instructions of a function's machine code, with those of the bytecode that they
    /// come from. Only a compiler [for listings](Self::for_listings) knows what is code and
    /// what is a table.
    pub fn placed_asm(
        &mut self,
        program: &dyn Program,
        f: &FuncSym,
        graph: &LLGraph,
    ) -> Result<Vec<CodeLine>, CodegenError> {
        if !matches!(self.isa.triple().architecture, Architecture::X86_64) {
            let message = "the lines of machine code are known for x86-64 alone";
            return Err(CodegenError::new(f.name(), message));
        }
        let symbols = self.emit_placed(program, f, graph)?;
        self.run_cranelift(f.name())?;
        let names = self.context.func.params.user_named_funcs();
        let name = |target: &FinalizedRelocTarget| match target {
            FinalizedRelocTarget::ExternalName(ExternalName::User(n)) => {
                symbols.text(names[*n].index)
            }
            FinalizedRelocTarget::ExternalName(other) => Some(other.display(None).to_string()),
            FinalizedRelocTarget::Func(_) => None,
        };
        match self.context.compiled_code() {
            Some(code) => Ok(listing::asm_lines(code, name)),
            None => Err(CodegenError::new(f.name(), "no code")),
        }
    }

    /// The machine code as text.
    pub fn asm(
        &mut self,
        program: &dyn Program,
        f: &FuncSym,
        graph: &LLGraph,
    ) -> Result<String, CodegenError> {
        let symbols = self.emit(program, f, graph)?;
        self.disassemble(f.name(), &symbols)
    }

    /// The machine code of a unit as text.
    pub fn unit_asm(
        &mut self,
        program: &dyn Program,
        name: &str,
        graph: &LLGraph,
        addresses: &dyn Addresses,
    ) -> Result<String, CodegenError> {
        let templates = self.templates.as_mut();
        if let Some(made) = templates.and_then(|t| t.compile(program, graph, addresses)) {
            return Ok(listing::plain_asm(&made));
        }
        let symbols = self.emit_form(program, name, &Form::Unit(name, addresses), graph)?;
        self.disassemble(name, &symbols)
    }

    fn disassemble(&mut self, name: &str, symbols: &Symbols) -> Result<String, CodegenError> {
        self.context.set_disasm(true);
        self.run_cranelift(name)?;
        let code = self.context.compiled_code();
        let text = code.and_then(|c| c.vcode.as_deref()).unwrap_or_default();
        // Notes for debuggers are no instructions.
        let lines = text.split_inclusive('\n');
        let text: String = lines
            .filter(|line| !line.trim_start().starts_with("unwind "))
            .collect();
        Ok(symbols.with_names(&text))
    }

    fn emit(
        &mut self,
        program: &dyn Program,
        f: &FuncSym,
        graph: &LLGraph,
    ) -> Result<Symbols, CodegenError> {
        self.emit_form(program, f.name(), &self.form(f), graph)
    }

    fn form<'a>(&self, f: &'a FuncSym) -> Form<'a> {
        match self.checked {
            true => Form::Checked(f),
            false => Form::Function(f),
        }
    }

    /// The same, where every instruction knows where it comes from.
    fn emit_placed(
        &mut self,
        program: &dyn Program,
        f: &FuncSym,
        graph: &LLGraph,
    ) -> Result<Symbols, CodegenError> {
        self.emit_form(program, f.name(), &Form::Listed(f), graph)
    }

    fn emit_form(
        &mut self,
        program: &dyn Program,
        name: &str,
        form: &Form<'_>,
        graph: &LLGraph,
    ) -> Result<Symbols, CodegenError> {
        self.context.clear();
        self.emit_into(program, name, form, graph)
    }

    fn emit_into(
        &mut self,
        program: &dyn Program,
        name: &str,
        form: &Form<'_>,
        graph: &LLGraph,
    ) -> Result<Symbols, CodegenError> {
        emit_graph(
            &mut self.context.func,
            &mut self.builder_context,
            &*self.isa,
            program,
            form,
            graph,
        )
        .map_err(|message| CodegenError::new(name, message))
    }

    fn run_cranelift(&mut self, name: &str) -> Result<(), CodegenError> {
        match self.context.compile(&*self.isa, &mut Default::default()) {
            Ok(_) => Ok(()),
            Err(e) => {
                let mut message = e.inner.to_string();
                if cfg!(debug_assertions) {
                    message.push_str(&format!("\n{}", e.func.display()));
                }
                Err(CodegenError::new(name, message))
            }
        }
    }

    fn finish(&mut self, name: &str, symbols: Symbols) -> Result<CompiledFunction, CodegenError> {
        self.run_cranelift(name)?;
        let Some(code) = self.context.compiled_code() else {
            return Err(CodegenError::new(name, "no code"));
        };
        let names = self.context.func.params.user_named_funcs();
        let mut relocs = Vec::with_capacity(code.buffer.relocs().len());
        for r in code.buffer.relocs() {
            let kind = match r.kind {
                ClifReloc::X86CallPCRel4 | ClifReloc::X86PCRel4 | ClifReloc::X86CallPLTRel4 => {
                    RelocKind::PcRel32
                }
                ClifReloc::Abs8 => RelocKind::Abs64,
                ClifReloc::Arm64Call => RelocKind::Aarch64Call,
                ClifReloc::Aarch64AdrPrelPgHi21 => RelocKind::Aarch64Page,
                ClifReloc::Aarch64AddAbsLo12Nc => RelocKind::Aarch64PageOffset,
                ClifReloc::RiscvCallPlt => RelocKind::RiscvCall,
                ClifReloc::RiscvPCRelHi20 => RelocKind::RiscvHigh,
                ClifReloc::RiscvPCRelLo12I => RelocKind::RiscvLow,
                other => {
                    let message = format!("relocation {other:?} is not supported");
                    return Err(CodegenError::new(name, message));
                }
            };
            // The low bits of a distance refer to the instruction that has the high ones.
            let named = match &r.target {
                FinalizedRelocTarget::Func(at) => {
                    let mut all = code.buffer.relocs().iter();
                    all.find(|high| high.offset == *at && *at + 4 == r.offset)
                }
                FinalizedRelocTarget::ExternalName(_) => Some(r),
            };
            let target = match named.map(|r| &r.target) {
                Some(FinalizedRelocTarget::ExternalName(ExternalName::User(n))) => {
                    symbols.get(names[*n].index)
                }
                Some(FinalizedRelocTarget::ExternalName(ExternalName::LibCall(call))) => {
                    libcall(*call).map(|n| SymbolRef::External(n.into()))
                }
                _ => None,
            };
            let target = target
                .ok_or_else(|| CodegenError::new(name, format!("unknown name {:?}", r.target)))?;
            relocs.push(Reloc {
                offset: u64::from(r.offset),
                kind,
                target,
                addend: named.map_or(r.addend, |r| r.addend),
            });
        }
        relocs.sort_by_key(|r| r.offset);
        Ok(CompiledFunction {
            code: code.code_buffer().to_vec(),
            relocs,
            locations: symbols.into_locations(),
            lines: match self.checked {
                true => lines(code),
                false => Vec::new(),
            },
            keeps_frames: self.checked,
            debug: None,
        })
    }
}

/// From which offsets on code comes from which positions in the bytecode.
fn lines(code: &CompiledCode) -> Vec<(u32, u32)> {
    let mut lines: Vec<(u32, u32)> = Vec::new();
    for place in code.buffer.get_srclocs_sorted() {
        let at = place.loc.bits();
        if !place.loc.is_default() && lines.last().is_none_or(|(_, last)| *last != at) {
            lines.push((place.start, at));
        }
    }
    lines
}

/// The C function behind an operation that the machine does not have.
fn libcall(call: LibCall) -> Option<&'static str> {
    Some(match call {
        LibCall::CeilF64 => "ceil",
        LibCall::FloorF64 => "floor",
        LibCall::TruncF64 => "trunc",
        LibCall::NearestF64 => "nearbyint",
        LibCall::FmaF64 => "fma",
        LibCall::Memcpy => "memcpy",
        LibCall::Memset => "memset",
        LibCall::Memmove => "memmove",
        LibCall::Memcmp => "memcmp",
        _ => return None,
    })
}

/// Code compiled on demand, in one thread.
pub(crate) struct OnDemand<'a> {
    program: &'a dyn Program,
    compiler: FunctionCompiler,
    done: FxHashMap<FuncSym, Arc<CompiledFunction>>,
}

impl<'a> OnDemand<'a> {
    pub(crate) fn new(program: &'a dyn Program, compiler: FunctionCompiler) -> OnDemand<'a> {
        OnDemand {
            program,
            compiler,
            done: FxHashMap::default(),
        }
    }
}

impl CodeSource for OnDemand<'_> {
    fn compiled(&mut self, f: &FuncSym) -> Result<Arc<CompiledFunction>, CodegenError> {
        if let Some(code) = self.done.get(f) {
            return Ok(code.clone());
        }
        let graph = (self.program.graph(f))
            .ok_or_else(|| CodegenError::new(f.name(), "the function has no graph"))?;
        let code = Arc::new(self.compiler.compile(self.program, f, &graph)?);
        self.done.insert(f.clone(), code.clone());
        Ok(code)
    }

    fn glue(&mut self, glue: &Glue) -> Result<Arc<CompiledFunction>, CodegenError> {
        self.compiler.compile_glue(glue).map(Arc::new)
    }
}

/// Compiles everything that the roots need in this thread, without any cache.
pub fn compile_all(
    program: &dyn Program,
    roots: &[SymbolRef],
    entry: Option<&FuncSym>,
    level: OptLevel,
) -> Result<Image, CodegenError> {
    compile_all_for(Machine::HOST, program, roots, entry, level)
}

/// The same for a machine.
pub fn compile_all_for(
    machine: Machine,
    program: &dyn Program,
    roots: &[SymbolRef],
    entry: Option<&FuncSym>,
    level: OptLevel,
) -> Result<Image, CodegenError> {
    let compiler = FunctionCompiler::for_machine(machine, level)?;
    let mut source = OnDemand::new(program, compiler);
    build_image(program, &mut source, roots, entry)
}
