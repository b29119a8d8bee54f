//! `taipan.h`, which all files include.

use taipan_codegen::abi::{self, state};
use taipan_codegen::runtime::{CType, RUNTIME_FUNCTIONS, RuntimeFunction};

/// The text of `taipan.h`: the words that programs share with the runtime, its functions that every
/// program calls, and the fast paths of what is done most.
pub fn prelude() -> String {
    let offsets: String = [
        ("nursery_free", state::NURSERY_FREE),
        ("nursery_top", state::NURSERY_TOP),
        ("root_stack_top", state::ROOT_STACK_TOP),
        ("exc_type", state::EXC_TYPE),
        ("exc_value", state::EXC_VALUE),
        ("stack_limit", state::STACK_LIMIT),
        ("slow_result", state::SLOW_RESULT),
        ("slow_arguments", state::SLOW_ARGUMENTS),
        ("signals", state::SIGNALS),
        ("traceback_count", state::TRACEBACK_COUNT),
        ("traceback", state::TRACEBACK),
    ]
    .iter()
    .map(|(field, at)| {
        format!("_Static_assert(__builtin_offsetof(RPyState, {field}) == {at}, \"state\");\n")
    })
    .collect();
    let offsets = format!("#if __SIZEOF_POINTER__ == 8\n{offsets}#endif\n");
    TEXT.replace("@TRACK@", &abi::TRACK.to_string())
        .replace(
            "@SMALL@",
            &(abi::TRACK | abi::MARKED_OR_OUTSIDE).to_string(),
        )
        .replace("@OUTSIDE@", &abi::OUTSIDE.to_string())
        .replace("@DEPTH@", &state::TRACEBACK_DEPTH.to_string())
        .replace("@OFFSETS@\n", &offsets)
        .replace("@FUNCTIONS@\n", &declarations())
}

/// The declarations of the runtime's functions.
fn declarations() -> String {
    let declaration = |f: &RuntimeFunction| {
        let args: Vec<String> = (f.args.iter())
            .map(|(name, ty)| format!("{}{name}", c_type(*ty)))
            .collect();
        let args = match args.is_empty() {
            true => "void".to_owned(),
            false => args.join(", "),
        };
        format!("extern {}{}({args});\n", c_type(f.result), f.name)
    };
    // C compilers that have no such integers have functions of `wide.h` in place of these.
    let (wide, others): (Vec<_>, Vec<_>) =
        (RUNTIME_FUNCTIONS.iter()).partition(|f| f.name.contains("128"));
    let all = |functions: &[&RuntimeFunction]| -> String {
        functions.iter().map(|f| declaration(f)).collect()
    };
    format!(
        "{}#ifdef __SIZEOF_INT128__\n{}#endif\n",
        all(&others),
        all(&wide)
    )
}

/// A type as it stands before a name.
fn c_type(ty: CType) -> &'static str {
    match ty {
        CType::Void => "void ",
        CType::Bool => "bool ",
        CType::Int32 => "Int32 ",
        CType::Signed => "Signed ",
        CType::Word => "Word ",
        CType::Int128 => "Int128 ",
        CType::UInt128 => "UInt128 ",
        CType::Float => "double ",
        CType::Pointer => "void *",
        CType::Constant => "const void *",
    }
}

/// The header as it is written, with marks for what is put in.
pub(crate) const TEXT: &str = include_str!("taipan.h");

/// What it includes where C compilers have no integers of 128 bits.
pub(crate) const WIDE: &str = include_str!("wide.h");
