//! LLVM's types of low-level types.

use std::fmt;

use taipan_codegen::machine::{Bad, Ty, is_signed, machine_type};
use taipan_lltype::FuncType;

/// A parameter or argument: its type, and how it is widened where C's conventions say so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Param {
    pub(crate) ty: Ty,
    pub(crate) extend: &'static str,
}

impl Param {
    /// A parameter of a function of the runtime, unsigned if narrow.
    pub(crate) fn of_runtime(ty: Ty) -> Param {
        let narrow = ty.int_bits().is_some_and(|b| b < 32);
        Param {
            ty,
            extend: if narrow { " zeroext" } else { "" },
        }
    }
}

impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.ty, self.extend)
    }
}

/// The type of a function: what is passed, and what is returned, if something is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Signature {
    pub(crate) params: Vec<Param>,
    pub(crate) result: Option<Ty>,
}

impl Signature {
    /// Void arguments are not passed. C functions expect narrow arguments widened.
    pub(crate) fn of(ft: &FuncType, c_convention: bool) -> Result<Signature, Bad> {
        let mut params = Vec::with_capacity(ft.args.len());
        for ty in ft.args.iter().filter(|t| !t.is_void()) {
            let t = machine_type(*ty).ok_or_else(|| format!("a {ty} as argument"))?;
            let narrow = c_convention && t.int_bits().is_some_and(|b| b < 32);
            params.push(Param {
                ty: t,
                extend: match narrow {
                    true if is_signed(*ty) => " signext",
                    true => " zeroext",
                    false => "",
                },
            });
        }
        let result = match ft.result.is_void() {
            true => None,
            false => {
                Some(machine_type(ft.result).ok_or_else(|| format!("a {} as result", ft.result))?)
            }
        };
        Ok(Signature { params, result })
    }

    pub(crate) fn result_text(&self) -> String {
        self.result.map_or("void".to_owned(), |t| t.to_string())
    }

    /// The declaration of a function of this type.
    pub(crate) fn declare(&self, name: &str, attributes: &str) -> String {
        let params: Vec<String> = self.params.iter().map(Param::to_string).collect();
        let result = self.result_text();
        format!(
            "declare {result} {name}({}) nounwind{attributes}",
            params.join(", ")
        )
    }
}
