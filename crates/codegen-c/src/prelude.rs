//! `taipan.h`, which all files include.

use taipan_codegen::abi::{self, state};

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
}

const TEXT: &str = include_str!("taipan.h");

/// The functions of the runtime that `taipan.h` declares.
pub(crate) fn runtime_functions() -> impl Iterator<Item = &'static str> {
    let declared = TEXT.lines().filter(|line| line.starts_with("extern "));
    declared.filter_map(|line| {
        let before = line.split_once('(')?.0;
        let name = before.rsplit([' ', '*']).next()?;
        name.starts_with("rpy_").then_some(name)
    })
}
