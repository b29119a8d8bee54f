//! References to functions.

use cranelift_codegen::ir::{FuncRef, InstBuilder, Value};
use taipan_codegen::machine::Bad;
use taipan_codegen::{Glue, SymbolRef};
use taipan_lltype::{FuncKind, FuncSym};

use super::types::{c_signature, signature};
use super::{Emitter, PTR};

impl Emitter<'_, '_> {
    /// The address by which C code calls a function.
    pub(super) fn callback_address(&mut self, f: &FuncSym) -> Result<Value, Bad> {
        let sig = c_signature(f.ty(), self.machine)?;
        let sig = self.b.import_signature(sig);
        let symbol = SymbolRef::Glue(Glue::Callback(f.clone()));
        let r = match self.functions.get(&symbol) {
            Some(r) => *r,
            None => {
                let r = self.symbols.function(self.b.func, &symbol, sig);
                self.functions.insert(symbol, r);
                r
            }
        };
        Ok(self.b.ins().func_addr(PTR, r))
    }

    pub(super) fn function(&mut self, f: &FuncSym) -> Result<FuncRef, Bad> {
        let symbol = SymbolRef::function(f);
        if let Some(f) = self.functions.get(&symbol) {
            return Ok(*f);
        }
        let external = matches!(f.kind(), FuncKind::External { .. });
        let sig = match external {
            true => c_signature(f.ty(), self.machine)?,
            false => signature(f.ty())?,
        };
        let sig = self.b.import_signature(sig);
        let r = self.symbols.function(self.b.func, &symbol, sig);
        self.functions.insert(symbol, r);
        Ok(r)
    }
}
