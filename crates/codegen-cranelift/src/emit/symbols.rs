//! Names in emitted code.

use cranelift_codegen::ir::{
    self, ExtFuncData, ExternalName, FuncRef, GlobalValue, GlobalValueData, SigRef,
    UserExternalName,
};
use rustc_hash::FxHashMap;
use taipan_codegen::{SymbolRef, mangle_function, mangle_static};

use crate::isa::Peculiarities;

/// Numbers by which Cranelift knows the symbols of one function, and the places that
/// its traceback entries name.
#[derive(Default)]
pub(crate) struct Symbols {
    table: Vec<SymbolRef>,
    numbers: FxHashMap<SymbolRef, u32>,
    locations: Vec<u32>,
    far_data: bool,
}

impl Symbols {
    pub(crate) fn new(machine: Peculiarities) -> Symbols {
        Symbols {
            far_data: machine.far_data,
            ..Symbols::default()
        }
    }

    pub(crate) fn get(&self, number: u32) -> Option<SymbolRef> {
        self.table.get(number as usize).cloned()
    }

    /// What a symbol is called in texts.
    pub(crate) fn text(&self, number: u32) -> Option<String> {
        self.table.get(number as usize).map(symbol_text)
    }

    pub(crate) fn into_locations(self) -> Vec<u32> {
        self.locations
    }

    /// The symbol of the record for a place in the source.
    pub(crate) fn location(&mut self, at: u32) -> SymbolRef {
        let i = match self.locations.iter().position(|l| *l == at) {
            Some(i) => i,
            None => {
                self.locations.push(at);
                self.locations.len() - 1
            }
        };
        SymbolRef::Location(i as u32)
    }

    pub(crate) fn function(
        &mut self,
        func: &mut ir::Function,
        symbol: &SymbolRef,
        signature: SigRef,
    ) -> FuncRef {
        let name = self.name(func, symbol);
        func.import_function(ExtFuncData {
            name,
            signature,
            // Within reach of a 32-bit distance: in the image, or by a stub there.
            colocated: true,
            patchable: false,
        })
    }

    pub(crate) fn global(&mut self, func: &mut ir::Function, symbol: &SymbolRef) -> GlobalValue {
        let name = self.name(func, symbol);
        let elsewhere = matches!(symbol, SymbolRef::External(_) | SymbolRef::Foreign(_));
        func.create_global_value(GlobalValueData::Symbol {
            name,
            offset: 0.into(),
            colocated: !(elsewhere && self.far_data),
            tls: false,
        })
    }

    fn name(&mut self, func: &mut ir::Function, symbol: &SymbolRef) -> ExternalName {
        let index = match self.numbers.get(symbol) {
            Some(n) => *n,
            None => {
                let n = self.table.len() as u32;
                self.table.push(symbol.clone());
                self.numbers.insert(symbol.clone(), n);
                n
            }
        };
        ExternalName::user(func.declare_imported_user_function(UserExternalName {
            namespace: 0,
            index,
        }))
    }

    /// Text of Cranelift's with the names of symbols in place of their numbers.
    pub(crate) fn with_names(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((start, digits)) = numbered(rest) {
            let count = rest[digits..]
                .bytes()
                .take_while(u8::is_ascii_digit)
                .count();
            let end = digits + count;
            let number = rest[digits..end].parse().ok();
            out.push_str(&rest[..start]);
            match number.and_then(|n| self.get(n)) {
                Some(symbol) => out.push_str(&symbol_text(&symbol)),
                None => out.push_str(&rest[start..end]),
            }
            rest = &rest[end..];
        }
        out.push_str(rest);
        out
    }
}

/// Where the next number of a symbol stands, with and without what precedes it.
fn numbered(text: &str) -> Option<(usize, usize)> {
    ["userextname", "u0:"]
        .iter()
        .filter_map(|prefix| text.find(prefix).map(|i| (i, i + prefix.len())))
        .min()
}

pub(crate) fn symbol_text(symbol: &SymbolRef) -> String {
    match symbol {
        SymbolRef::Func(f) => mangle_function(f),
        SymbolRef::External(name) => name.to_string(),
        SymbolRef::Foreign(f) => f.name().to_owned(),
        SymbolRef::Static(s) => mangle_static(s),
        SymbolRef::TypeInfo(ty) => format!("<type {ty}>"),
        SymbolRef::Location(i) => format!("<location {i}>"),
        SymbolRef::Places => "<places>".into(),
        SymbolRef::ProgramTable => "<program table>".into(),
        SymbolRef::Glue(glue) => format!("<{glue:?}>"),
    }
}
