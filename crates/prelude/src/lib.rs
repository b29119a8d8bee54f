//! RPython sources that ship inside the binary: the `rpython` package that programs
//! import, and `taipan_prelude`, the `ll_*` helpers that implement lists, dicts,
//! strings and the like at the low level.
//!
//! Owns the sources and the table of them, and the tables of characters that the shipped
//! `rpython.rlib.unicodedata` looks things up in. Knows nothing of the compiler: it is
//! data.
//!
//! # The dialect of `taipan_prelude`
//!
//! Helpers are RPython on low-level values. They use
//!
//! - names of `rpython.rtyper.lltypesystem.lltype`: primitive types, `malloc(T)`,
//!   `malloc(T, n)` (fields and GC pointers start as zeroes; other items only with
//!   `zero=True`), `nullptr(T)`, `typeOf(x)`,
//!   `.TO` of a pointer type, `.OF` of an array type, `cast_primitive(T, x)`,
//!   `cast_pointer(T, p)`;
//! - pointers: fields `p.f`, inlined arrays and structs (`s.chars[i]`,
//!   `entries[i].key`, `len(s.chars)`), items, `len()`, truth and `==` of pointers;
//! - `llop.NAME(RESULT, args...)` for low-level operations
//!   (`rpython.rtyper.lltypesystem.lloperation.llop`);
//! - the builtin module `taipan_lowlevel`: the functions of the runtime (the table
//!   `taipan_lltype::EXTERNALS`), the types `STR`, `UNICODE` and `INT` (a signed
//!   32-bit integer), `has_field`, `empty_array(T)` (a prebuilt one without items), `is_array`
//!   and `is_pointer`;
//! - integers, floats, chars, bools with their ordinary operators, which wrap and
//!   are unchecked; `//`, `%` and shifts of signed integers through `llop`;
//! - `raise` of builtin exception classes, calls of other helpers, loops.
//!
//! A parameter in capital letters is Void where callers outside the prelude pass it: a
//! type, or a constant. A parameter named
//! `eq_fn`, `hash_fn`, `..._fn` is Void too: either a low-level function, which is
//! called directly, or `None`, where the plain operator serves. Decided while
//! annotating, so that only one branch exists, are `x_fn is None`, truth and equality
//! of Void constants, `has_field(p, 'name')` (of what the pointer `p` points to), `is_array(x)` (`x`, a type or a pointer, is or points to an array
//! rather than a struct) and `is_pointer(x)` (`x`, a type or a value, is of a pointer
//! type). Callees are specialised per low-level types and Void values like the helper
//! itself.
//!
//! The files in `tests/` test the helpers in RPython, through what calls them: `taipan test` runs
//! them, on both engines in `crates/taipan/tests/prelude.rs`. What the language itself says holds
//! under CPython 2.7, too; files named `test_rpython_*` have the rest.

pub mod unicode;

include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

/// The text of a shipped file, by its path below `<taipan>/`.
pub fn shipped(path: &str) -> Option<&'static str> {
    let i = SHIPPED.binary_search_by_key(&path, |(p, _)| p).ok()?;
    Some(SHIPPED[i].1)
}

/// What the table of the language says of shipped sources holds.
#[cfg(test)]
mod tests {
    use super::*;
    use taipan_language::{HelperFunction, KnownFunction, ShippedFunction};

    /// The text of a shipped module.
    #[track_caller]
    fn source_of(module: &str) -> &'static str {
        let path = format!("{}.py", module.replace('.', "/"));
        shipped(&path).unwrap_or_else(|| panic!("no module {path}"))
    }

    #[test]
    fn known_functions_are_in_shipped_modules() {
        for f in KnownFunction::ALL {
            if !f.module().starts_with("rpython.") {
                continue;
            }
            let (source, name) = (source_of(f.module()), f.name());
            let is_there = source.lines().any(|line| {
                [
                    format!("def {name}("),
                    format!("class {name}("),
                    format!("{name} = "),
                ]
                .iter()
                .any(|start| line.starts_with(start.as_str()))
                    || line.contains("import") && line.contains(name)
            });
            // Written in Rust: those that come by `from _lltype import *`, and on several lines.
            let is_imported = source.contains("import *") || source.contains(&format!(" {name},"));
            assert!(is_there || is_imported, "{} has no {name}", f.module());
        }
    }

    #[test]
    fn helpers_take_what_is_declared() {
        for f in HelperFunction::all() {
            let (module, name) = f.helper.split_once('.').expect("module.function");
            let source = source_of(&format!("taipan_prelude.{module}"));
            let line = format!("\ndef {name}(");
            let rest = source.split_once(&line);
            let (_, rest) = rest.unwrap_or_else(|| panic!("no helper {}", f.helper));
            let (params, _) = rest.split_once(')').expect("closed");
            let count = params.split(',').filter(|p| !p.trim().is_empty()).count();
            assert_eq!(count, f.args.len(), "{}", f.name);
        }
    }

    #[test]
    fn functions_that_stand_for_builtin_ones_are_there() {
        for f in ShippedFunction::all() {
            // A function, or the outcome of one that makes functions.
            let lines = [
                format!("\ndef {}(", f.function),
                format!("\n{} = _of_", f.function),
            ];
            let source = source_of(f.module);
            let is_there = lines.iter().any(|line| source.contains(line));
            assert!(is_there, "{} has no {}", f.module, f.function);
        }
    }
}
