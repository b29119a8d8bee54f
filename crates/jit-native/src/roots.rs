//! What an image must contain so that its loops can be compiled while it runs.

use rustc_hash::FxHashSet;
use taipan_codegen::SymbolRef;
use taipan_jit::engine::References;
use taipan_language::Exc;
use taipan_lltype::{FuncKind, FuncSym, LLConst, Program};

/// The exception that residual code raises once the compiler has given up.
pub(crate) const GIVEN_UP: Exc = Exc::RuntimeError;

/// What an image must contain besides the program itself.
pub fn roots(references: &References, program: &dyn Program) -> Vec<SymbolRef> {
    let mut out = vec![
        SymbolRef::Static(program.exception_vtable(GIVEN_UP)),
        SymbolRef::Static(program.exception_instance(GIVEN_UP)),
        SymbolRef::Static(program.exception_vtable(Exc::StackOverflow)),
        SymbolRef::Static(program.exception_instance(Exc::StackOverflow)),
        SymbolRef::Static(program.exception_vtable(Exc::OverflowError)),
    ];
    let external = |f: &FuncSym| matches!(f.kind(), FuncKind::External { .. });
    for f in references.functions().filter(|f| !external(f)) {
        out.push(SymbolRef::Func(f.clone()));
    }
    for c in &references.consts {
        if let LLConst::Static(s, _) = c {
            out.push(SymbolRef::Static((**s).clone()));
        }
    }
    let gc = references.types.iter().filter(|t| t.is_gc_container());
    out.extend(gc.map(|t| SymbolRef::TypeInfo(*t)));
    let mut seen = FxHashSet::default();
    out.retain(|s| seen.insert(s.clone()));
    out
}
