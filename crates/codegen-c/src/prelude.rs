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
    RUNTIME_FUNCTIONS.iter().map(declaration).collect()
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

const TEXT: &str = include_str!("taipan.h");
