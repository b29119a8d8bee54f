//! The functions of the host, and their calls.

use taipan_lltype::{
    FuncKind, FuncSym, FuncType, LLType, SIGNED, STR, VOID, external as known, find_external,
};
use taipan_ootype::{Lack, OOType};
use wasm_encoder::{RefType, ValType};

use crate::code::Ins;
use crate::symbols::HostFunction;
use crate::types::{Numbers, OBJECT, val_type};

/// The functions of the host in JavaScript, a script that defines `runProgram(module, args, system)`.
pub const SUPPORT: &str = include_str!("../support/host.js");

/// The system below them that Node has, and the script that runs a program.
const NODE: &str = include_str!("../support/node.mjs");

/// The JavaScript module that runs a program, whose module is a file of this name beside it.
pub fn program_module(name: &str) -> String {
    format!("{SUPPORT}{}", NODE.replace("@PROGRAM@", &escaped(name)))
}

/// The name of a file in an address.
pub fn escaped(name: &str) -> String {
    let mut url = String::new();
    for b in name.bytes() {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => url.push(char::from(b)),
            _ => url.push_str(&format!("%{b:02x}")),
        }
    }
    url
}

/// The name of the module that the host's functions are imported from.
pub(crate) const HOST_MODULE: &str = "taipan";

/// The functions of the runtime and of the C library that the host has.
pub const HOST_FUNCTIONS: &[&str] = &[
    "rpy_read_timestamp",
    "rpy_assert_failed",
    "rpy_fatal",
    "rpy_uncaught",
    "rpy_os_write",
    "rpy_os_read",
    "rpy_os_open",
    "rpy_os_close",
    "rpy_os_lseek",
    "rpy_os_isatty",
    "rpy_os_unlink",
    "rpy_os_stat",
    "rpy_os_fstat",
    "rpy_os_access",
    "rpy_os_mkdir",
    "rpy_os_rmdir",
    "rpy_os_rename",
    "rpy_os_chdir",
    "rpy_os_getcwd",
    "rpy_os_getenv",
    "rpy_os_strerror",
    "rpy_os_getpid",
    "rpy_os_ftruncate",
    "rpy_os_fsync",
    "rpy_os_stat_fields",
    "rpy_os_fstat_fields",
    "rpy_os_listdir",
    "rpy_os_readlink",
    "rpy_os_symlink",
    "rpy_os_link",
    "rpy_os_utime",
    "rpy_os_environ",
    "rpy_os_putenv",
    "rpy_os_unsetenv",
    "rpy_os_urandom",
    "rpy_os_saved_errno",
    "rpy_os_set_saved_errno",
    "rpy_os_exit",
    "rpy_debug_start",
    "rpy_debug_stop",
    "rpy_debug_have_prints",
    "rpy_debug_have_prints_for",
    "rpy_debug_offset",
    "rpy_debug_flush",
    "rpy_file_open",
    "rpy_file_fdopen",
    "rpy_file_standard",
    "rpy_file_set_buffer",
    "rpy_file_close",
    "rpy_file_read",
    "rpy_file_line",
    "rpy_file_write",
    "rpy_file_flush",
    "rpy_file_seek",
    "rpy_file_tell",
    "rpy_file_fileno",
    "rpy_time_time",
    "rpy_time_clock",
    "rpy_time_sleep",
    "rpy_time_clock_ns",
    "rpy_signal_poll",
    "rpy_thread_ident",
    "rpy_gil_release",
    "rpy_gil_acquire",
    "rpy_gil_yield",
    "rpy_gil_holder",
    "rpy_lock_new",
    "rpy_lock_free",
    "rpy_lock_try",
    "rpy_lock_wait",
    "rpy_lock_release",
    "rpy_memory_room",
    "rpy_gc_set_enabled",
    "rpy_gc_is_enabled",
    "rpy_gc_add_pressure",
    "rpy_float_format",
    "rpy_float_parse",
    "rpy_float_parse_ok",
    "rpy_float_frexp_mantissa",
    "rpy_float_frexp_exponent",
    "rpy_float_ldexp",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cos",
    "cosh",
    "exp",
    "expm1",
    "fmod",
    "hypot",
    "log",
    "log10",
    "log1p",
    "pow",
    "round",
    "sin",
    "sinh",
    "tan",
    "tanh",
];

/// Which string a function writes to.
const WRITES: &[(&str, usize)] = &[
    ("rpy_os_read", 1),
    ("rpy_os_getcwd", 0),
    ("rpy_os_getenv", 1),
    ("rpy_os_strerror", 1),
    ("rpy_os_stat_fields", 2),
    ("rpy_os_fstat_fields", 1),
    ("rpy_os_listdir", 1),
    ("rpy_os_readlink", 1),
    ("rpy_os_environ", 0),
    ("rpy_os_urandom", 0),
    ("rpy_file_read", 1),
    ("rpy_file_line", 1),
    ("rpy_float_format", 4),
];

/// Functions of C that WebAssembly has an instruction for.
pub(crate) fn instruction(name: &str) -> Option<Ins> {
    Some(match name {
        "sqrt" => Ins::F64Sqrt,
        "fabs" => Ins::F64Abs,
        "floor" => Ins::F64Floor,
        "ceil" => Ins::F64Ceil,
        "trunc" => Ins::F64Trunc,
        "copysign" => Ins::F64Copysign,
        _ => return None,
    })
}

/// Whether the host has a function.
pub fn is_available(f: &FuncSym) -> bool {
    let FuncKind::External { name, library, .. } = f.kind() else {
        return true;
    };
    library.is_none() && HOST_FUNCTIONS.contains(&&**name) && signature_of(name).is_some()
}

/// Functions that only emitted code calls.
fn signature_of(name: &str) -> Option<FuncType> {
    let (args, result) = match name {
        "rpy_read_timestamp" => (vec![], *SIGNED),
        "rpy_assert_failed" => (vec![], *VOID),
        "rpy_uncaught" => (vec![STR.ptr()], *VOID),
        _ => return find_external(name).map(|e| e.symbol().ty().clone()),
    };
    Some(FuncType { args, result })
}

/// The symbol of a function of the host.
pub(crate) fn external(name: &str) -> FuncSym {
    known(name).unwrap_or_else(|| {
        let kind = FuncKind::External {
            name: name.into(),
            can_collect: false,
            can_raise: false,
            releases_gil: false,
            library: None,
        };
        let nothing = FuncType {
            args: Vec::new(),
            result: *VOID,
        };
        FuncSym::new(kind, signature_of(name).unwrap_or(nothing))
    })
}

/// Whether an argument is a string.
pub(crate) fn is_string(ty: LLType) -> bool {
    ty == STR.ptr()
}

/// Whether a function takes strings, so that code calls it through [`crate::symbols::Glue::External`].
pub(crate) fn takes_strings(f: &FuncSym) -> bool {
    f.ty().args.iter().any(|t| is_string(*t))
}

/// Whether a function writes to its string argument of that number.
pub(crate) fn writes(f: &FuncSym, argument: usize) -> bool {
    WRITES.contains(&(f.name(), argument))
}

/// The name of a function of the host, as it is imported.
pub(crate) fn import_name(f: &HostFunction) -> &str {
    match f {
        HostFunction::External(f) => f.name(),
        HostFunction::ArgumentCount => "argument_count",
        HostFunction::Argument => "argument",
        HostFunction::NewWeakref => "weakref_new",
        HostFunction::Deref => "weakref_get",
        HostFunction::Collect => "collect",
    }
}

/// Arguments and results of a function of the host.
pub(crate) fn import_type(
    f: &HostFunction,
    numbers: &mut dyn Numbers,
) -> Result<(Vec<ValType>, Vec<ValType>), Lack> {
    let external = ValType::Ref(RefType::EXTERNREF);
    let f = match f {
        HostFunction::External(f) => f,
        HostFunction::ArgumentCount => return Ok((vec![], vec![ValType::I32])),
        HostFunction::Argument => return Ok((vec![ValType::I32], vec![ValType::I32])),
        HostFunction::NewWeakref => return Ok((vec![OBJECT], vec![external])),
        HostFunction::Deref => return Ok((vec![external], vec![OBJECT])),
        HostFunction::Collect => return Ok((vec![], vec![])),
    };
    let mut params = Vec::new();
    for ty in &f.ty().args {
        match is_string(*ty) {
            true => params.extend([ValType::I32, ValType::I32]),
            false => params.extend(val_type(OOType::of(*ty), numbers)?),
        }
    }
    let result = val_type(OOType::of(f.ty().result), numbers)?;
    Ok((params, result.into_iter().collect()))
}
