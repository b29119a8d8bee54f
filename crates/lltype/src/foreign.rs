//! C libraries that a program brings (RPython: `ExternalCompilationInfo`), and the C
//! source of what connects it with them.

use std::fmt::Write as _;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};
use taipan_graph::IntKind;

use crate::{FuncKind, FuncSym, FuncType, LLType, TypeKind};

/// What the C compiler and the linker need to know of a library.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct CLibrary {
    /// Lines before all includes.
    pub pre_include_bits: Vec<String>,
    /// Header files.
    pub includes: Vec<String>,
    /// Where to look for them.
    pub include_dirs: Vec<String>,
    /// Lines after the includes.
    pub post_include_bits: Vec<String>,
    /// Libraries to link, without `lib`.
    pub libraries: Vec<String>,
    /// Where to look for them.
    pub library_dirs: Vec<String>,
    /// C sources to compile along.
    pub sources: Vec<String>,
    /// The same, as files.
    pub files: Vec<String>,
    /// Options for the compiler.
    pub compile_extra: Vec<String>,
    /// Options for the linker.
    pub link_extra: Vec<String>,
    /// Headers that the program has made while it was loaded: what sources include them
    /// by, and their text.
    pub headers: Vec<(String, String)>,
    /// The state of all files that sources include, as far as the program brings them along: another
    /// text if one has changed.
    pub state: String,
}

/// What every C source starts with: all features of the system's headers are on, as in the
/// original toolchain.
const PRELUDE: &str = "\
#ifndef TAIPAN_PRELUDE
#define TAIPAN_PRELUDE
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#if __SIZEOF_POINTER__ < 8
typedef long long Signed;
typedef unsigned long long Unsigned;
#else
typedef long Signed;
typedef unsigned long Unsigned;
#endif
#define RPY_EXTERN extern __attribute__((visibility(\"default\")))
#define RPY_EXPORTED RPY_EXTERN
#endif
";

/// Headers of the original toolchain that C sources of programs include, by path, and
/// their text: all that is asked of them is what every source starts with.
pub const SHIPPED_HEADERS: &[(&str, &str)] =
    &[("src/precommondefs.h", PRELUDE), ("src/mem.h", PRELUDE)];

impl CLibrary {
    /// Whether headers declare its functions.
    pub(crate) fn has_header(&self) -> bool {
        !(self.includes.is_empty()
            && self.pre_include_bits.is_empty()
            && self.post_include_bits.is_empty())
    }

    fn header(&self) -> String {
        let mut out = format!("{PRELUDE}#include <stddef.h>\n");
        for line in &self.pre_include_bits {
            out.push_str(line);
            out.push('\n');
        }
        for file in &self.includes {
            let _ = match file.starts_with('<') {
                true => writeln!(out, "#include {file}"),
                false => writeln!(out, "#include <{file}>"),
            };
        }
        for line in &self.post_include_bits {
            out.push_str(line);
            out.push('\n');
        }
        out
    }

    /// One of the library's own sources with its header.
    pub fn with_header(&self, source: &str) -> String {
        format!("{}{source}\n", self.header())
    }

    /// The functions by which a program calls these functions of the library.
    pub fn stubs(&self, functions: &[&FuncSym]) -> String {
        let mut stubs = self.header();
        for f in functions {
            stub(self, f, &mut stubs);
        }
        stubs
    }
}

/// The symbol by which a program calls a function of a library it brings.
pub fn foreign_symbol(f: &FuncSym) -> String {
    let mut h = rustc_hash::FxHasher::default();
    f.kind().hash(&mut h);
    f.ty().hash(&mut h);
    format!("taipan_c_{}_{:016x}", f.name(), h.finish())
}

/// The library that a function is from, if the program brings it.
pub fn library_of(f: &FuncSym) -> Option<&CLibrary> {
    match f.kind() {
        FuncKind::External { library, .. } => library.as_deref(),
        _ => None,
    }
}

fn stub(library: &CLibrary, f: &FuncSym, out: &mut String) {
    let FuncType { args, result } = f.ty();
    let args: Vec<LLType> = args.iter().copied().filter(|a| !a.is_void()).collect();
    let result_type = c_type(*result);
    let parameters = |names: bool| {
        if args.is_empty() {
            return "void".to_owned();
        }
        let one = |(i, t): (usize, &LLType)| match names {
            true => format!("{} a{i}", c_type(*t)),
            false => c_type(*t).to_owned(),
        };
        args.iter()
            .enumerate()
            .map(one)
            .collect::<Vec<_>>()
            .join(", ")
    };
    // Writing to a string does not fail.
    if !library.has_header() {
        let _ = writeln!(
            out,
            "extern {result_type} {}({});",
            f.name(),
            parameters(false)
        );
    }
    let passed: Vec<String> = (0..args.len()).map(|i| format!("a{i}")).collect();
    let give = match result.is_void() {
        true => String::new(),
        false => format!("return ({result_type})"),
    };
    let _ = writeln!(
        out,
        "{result_type} {}({}) {{ {give}{}({}); }}",
        foreign_symbol(f),
        parameters(true),
        f.name(),
        passed.join(", "),
    );
}

/// The type of C that values are passed as.
fn c_type(t: LLType) -> &'static str {
    match t.kind() {
        TypeKind::Void => "void",
        TypeKind::Bool => "unsigned char",
        TypeKind::Char => "char",
        TypeKind::UniChar => "unsigned int",
        TypeKind::Int(IntKind { signed, bits }) => match (signed, bits) {
            (true, 8) => "signed char",
            (false, 8) => "unsigned char",
            (true, 16) => "short",
            (false, 16) => "unsigned short",
            (true, 32) => "int",
            (false, 32) => "unsigned int",
            (true, 64) => "long long",
            (false, 64) => "unsigned long long",
            (true, _) => "__int128",
            (false, _) => "unsigned __int128",
        },
        TypeKind::Float => "double",
        TypeKind::SingleFloat => "float",
        _ => "void *",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{CHAR, SIGNED};

    #[test]
    fn functions_are_called_as_headers_declare_them() {
        let library = CLibrary {
            includes: vec!["string.h".into()],
            ..CLibrary::default()
        };
        let chars = LLType::raw_array(*CHAR).ptr();
        let f = FuncSym::new(
            FuncKind::External {
                name: "strlen".into(),
                can_collect: false,
                can_raise: false,
                releases_gil: false,
                library: Some(Arc::new(library.clone())),
            },
            FuncType {
                args: vec![chars],
                result: *SIGNED,
            },
        );
        let text = library.stubs(&[&f]);
        let stub = text.replace(&foreign_symbol(&f), "SYMBOL");
        assert!(stub.contains("#include <string.h>\n"), "{stub}");
        assert!(
            stub.ends_with("long long SYMBOL(void * a0) { return (long long)strlen(a0); }\n"),
            "{stub}"
        );
    }
}
