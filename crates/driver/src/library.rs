//! Libraries for C: the operation behind `build --shared`.
//!
//! Exported functions are found at import time (`_taipan_library`), and each gets a wrapper that hands its result to the C
//! part. The C part is text, made from the declared types of arguments and the annotated types of results:
//!
//! ```text
//! int64_t add(int64_t a0, int64_t a1)
//!     take the lock
//!     call entries[1]
//!     end the process if it raised
//!     release the lock
//! ```

use std::fmt::Write as _;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use taipan_annotator::{Roots, SomeKind, Spec, annotation_text, signature};
use taipan_base::{Diagnostic, ErrorCode, Program};
use taipan_codegen::Image;
use taipan_codegen_cranelift::makes_shared_objects;
use taipan_interp::{LibraryFunction, function_name, library_diagnostics, offered_library};
use taipan_language::Machine;
use taipan_platform::{SharedPart, c_compiler, link_starter};

use crate::LoadOptions;
use crate::db::Database;
use crate::extension::{shared_image, write_shared};
use crate::fault::{Failure, guarded};
use crate::program::load;
use crate::result_cache::{Question, remember};
use crate::timing::Timings;

const SUPPORT: &str = include_str!("library.c");

/// Makes a library beside an executable that calls its entry point. The options have the keys of the
/// functions that it offers.
pub fn build_library(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    output: &Utf8Path,
    timings: &mut Timings,
) -> Result<(), Failure> {
    if !makes_shared_objects(Machine::HOST) {
        let text = "libraries are made on x86-64 and aarch64 only".to_owned();
        return Err(Failure::Usage(text));
    }
    let (image, functions) = guarded(|| made(db, options, target, timings))??;
    let library = library_of(output);
    let text = c_text(&functions);
    let names = functions.iter().map(|f| f.name.as_str());
    let exports: Vec<&str> = names.chain(["rpython_startup_code"]).collect();
    let part = SharedPart {
        exports: &exports,
        text: &text,
        name: library.file_name(),
    };
    write_shared(db, &image, &part, &library, timings)?;
    timings
        .phase("link", || {
            let compiler = c_compiler(Machine::HOST).map_err(std::io::Error::other)?;
            link_starter(&compiler, library.as_std_path(), output.as_std_path())
        })
        .map_err(|e| Failure::Usage(format!("{output}: {e}")))
}

/// The library beside an executable.
pub fn library_of(executable: &Utf8Path) -> Utf8PathBuf {
    let name = executable.file_name().unwrap_or("program");
    executable.with_file_name(format!("lib{name}.so"))
}

/// A function as C declares it.
#[derive(Serialize, Deserialize)]
struct CFunction {
    name: String,
    args: Vec<String>,
    result: CResult,
}

/// The type of a result.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
enum CResult {
    Void,
    Integer { bits: u32, signed: bool },
    Bool,
    Char,
    UniChar,
    Float,
    Pointer,
}

impl CResult {
    fn of(kind: &SomeKind) -> Option<CResult> {
        Some(match kind {
            SomeKind::Impossible | SomeKind::None => CResult::Void,
            SomeKind::Integer { kind, .. } if kind.bits <= 64 => CResult::Integer {
                bits: kind.bits.into(),
                signed: kind.signed,
            },
            SomeKind::Bool => CResult::Bool,
            SomeKind::Char { .. } => CResult::Char,
            SomeKind::UniChar => CResult::UniChar,
            SomeKind::Float => CResult::Float,
            SomeKind::Ptr(_) => CResult::Pointer,
            _ => return None,
        })
    }

    fn text(self) -> String {
        let text = match self {
            CResult::Void => "void",
            CResult::Integer { bits, signed } => {
                return format!("{}int{bits}_t", if signed { "" } else { "u" });
            }
            CResult::Bool => "_Bool",
            CResult::Char => "char",
            CResult::UniChar => "wchar_t",
            CResult::Float => "double",
            CResult::Pointer => "void *",
        };
        text.to_owned()
    }
}

/// The program and the functions that the library exports.
fn made(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    timings: &mut Timings,
) -> Result<(Image, Vec<CFunction>), Failure> {
    let program = load(db, target, options)?;
    let question = Question {
        what: "library",
        program,
        options: &[],
        extent: true,
    };
    let keeps = |(image, _): &(Image, Vec<CFunction>)| image.foreign.is_empty();
    remember(db, &question, keeps, || compiled(db, program, timings))
}

fn compiled(
    db: &Database,
    program: Program,
    timings: &mut Timings,
) -> Result<(Image, Vec<CFunction>), Failure> {
    let mismatches = |roots| {
        let offered = offered_library(db, program);
        let wrong = offered
            .functions
            .iter()
            .filter_map(|f| result(db, roots, f).err());
        wrong.map(|d| *d).collect()
    };
    let (image, roots) = shared_image(db, program, timings, &library_diagnostics, &mismatches)?;
    let offered = offered_library(db, program);
    let functions = offered.functions.iter().map(|f| CFunction {
        name: f.name.clone(),
        args: f.args.clone(),
        result: result(db, roots, f).unwrap_or(CResult::Void),
    });
    Ok((image, functions.collect()))
}

/// The type of a function's result, or why C cannot call it.
fn result(db: &Database, roots: Roots, f: &LibraryFunction) -> Result<CResult, Box<Diagnostic>> {
    let result = &signature(db, Spec::new(db, roots, f.func, "")).result;
    CResult::of(&result.kind).ok_or_else(|| {
        let span = function_name(db, roots.program(db), f.func).map(|(_, span)| span);
        let text = annotation_text(db, roots, result);
        let message = format!("C cannot call `{}`: it returns {text}", f.name);
        let help = "functions of a library return numbers, None or pointers to raw memory, such as \
                    `rffi.str2charp(s)`";
        Box::new(Diagnostic::error(ErrorCode::NotForPython, span, message).with_help(help))
    })
}

/// The text of the C part.
fn c_text(functions: &[CFunction]) -> String {
    let mut out = format!("#define COUNT {}\n{SUPPORT}", functions.len());
    for (i, f) in functions.iter().enumerate() {
        let arg = |(i, ty): (usize, &String)| format!("{ty} a{i}");
        let params: Vec<String> = f.args.iter().enumerate().map(arg).collect();
        let passed: Vec<String> = (0..f.args.len()).map(|i| format!("a{i}")).collect();
        let types = or_void(&f.args.join(", "));
        // The entry point starts the library.
        let start = if i == 0 {
            "    rpython_startup_code();\n"
        } else {
            ""
        };
        let returned = match f.result {
            // The exit code of an entry point without result.
            CResult::Void if i == 0 => "0",
            CResult::Void => "",
            CResult::Float => "float_result",
            CResult::Pointer => "(void *)result",
            _ => "result",
        };
        let result = match f.result {
            _ if i == 0 => "int".to_owned(),
            result => result.text(),
        };
        let kept = match returned {
            "" | "0" => format!("    leave(in);\n    return {returned};\n"),
            _ => format!("    {result} r = ({result}){returned};\n    leave(in);\n    return r;\n"),
        };
        let _ = write!(
            out,
            "\n__attribute__((visibility(\"default\"))) {result} {}({})\n{{\n{start}    int64_t in = \
             enter();\n    ((void (*)({types}))entries[{i}])({});\n    rpy_extension_uncaught();\n{kept}}}\n",
            f.name,
            or_void(&params.join(", ")),
            passed.join(", ")
        );
    }
    out
}

fn or_void(list: &str) -> String {
    if list.is_empty() { "void" } else { list }.to_owned()
}
