//! Modules for Python: the operation behind `build --extension`.
//!
//! What a module offers is found at import time (`_taipan_extension`), which makes of each function one
//! that takes what C code passes. These are the program: its entry point tells the C part of them. The
//! C part is text, made of what is known of the functions.

mod c_text;
mod declared;
mod results;

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use taipan_annotator::Roots;
use taipan_base::{Db, Diagnostic, Program, line_index};
use taipan_codegen::Image;
use taipan_codegen_c::{CProgram, Extent};
use taipan_codegen_cranelift::{makes_shared_objects, shared_object_file};
use taipan_interp::{Extension, extension_diagnostics, function_name, offered_extension};
use taipan_language::Machine;
use taipan_lltype::FuncSym;
use taipan_platform::SharedPart;

use crate::LoadOptions;
use crate::build::native_image;
use crate::c::{COptions, compile_part};
use crate::db::Database;
use crate::fault::{Failure, guarded};
use crate::link::{SharedObjects, link_shared_with_cache};
use crate::prefetch;
use crate::program::{
    compile_diagnostics, entry_roots, has_errors, import_diagnostics, load, placed,
};
use crate::result_cache::{Question, remember};
use crate::stages::c::c_executable;
use crate::stages::linked::optimize_all;
use crate::stages::lowlevel_errors::codegen_failure;
use crate::stages::native::ImageUse;
use crate::timing::Timings;
use crate::typed::typed;

/// The only function of a module, with the types by which it is called.
#[derive(Clone, Debug)]
pub struct OfferedFunction {
    /// Its name at the top level of the module.
    pub name: String,
    /// Annotations of its arguments, where the program's call sites are not to give them.
    pub inputs: Option<String>,
    /// Programs that may call it, where its own file is none.
    pub targets: Vec<Utf8PathBuf>,
}

/// Makes a module that Python 3 imports. Its name is the file's, up to the first dot. It offers the functions whose
/// types are declared, or `only` one. Its code is made by Cranelift, or by way of C.
pub fn build_extension(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    only: Option<&OfferedFunction>,
    by_c: Option<&COptions>,
    output: &Utf8Path,
    timings: &mut Timings,
) -> Result<(), Failure> {
    let name = module_name(output)?;
    if by_c.is_none() && !makes_shared_objects(Machine::HOST) {
        let text = "modules for Python are made by way of C on this machine: give -O2".to_owned();
        return Err(Failure::Usage(text));
    }
    let declared = match only {
        Some(f) => {
            // The annotations are those of an ordinary program.
            let plain = LoadOptions {
                extension: false,
                ..options.clone()
            };
            let types = guarded(|| declared::declaration(db, &plain, target, f, timings))??;
            Some((f.name.as_str().into(), types.as_str().into()))
        }
        None => None,
    };
    let options = LoadOptions {
        extension: true,
        declared,
        ..options.clone()
    };
    let init = c_text::init_symbol(name);
    let exports = [init.as_str()];
    let part = |text| SharedPart {
        exports: &exports,
        text,
        name: None,
    };
    match by_c {
        None => {
            let (image, module) = guarded(|| made(db, &options, target, timings))??;
            let text = c_text::c_text(name, &module);
            write_shared(db, &image, &part(&text), output, timings)
        }
        Some(c) => {
            let (program, module) = guarded(|| made_of_c(db, &options, target, timings))??;
            let text = c_text::c_text(name, &module);
            let failed = |e: io::Error| Failure::Usage(format!("{output}: {e}"));
            let compiled = timings.phase("cc", || compile_part(db, &options, &program, c));
            let compiled = compiled.map_err(failed)?;
            let objects: Vec<&[u8]> = compiled.objects.iter().map(|o| &**o).collect();
            let parts = SharedObjects {
                objects: &objects,
                foreign: &program.foreign,
                options: &compiled.options,
            };
            timings
                .phase("link", || {
                    link_shared_with_cache(&db.cache(), &parts, &part(&text), output)
                })
                .map_err(failed)
        }
    }
}

/// Writes the shared object of a program and its C part.
pub(crate) fn write_shared(
    db: &Database,
    image: &Image,
    part: &SharedPart<'_>,
    output: &Utf8Path,
    timings: &mut Timings,
) -> Result<(), Failure> {
    let object = timings.phase("object", || {
        shared_object_file(image).map_err(|e| codegen_failure(&e))
    })?;
    let parts = SharedObjects {
        objects: &[&object],
        foreign: &image.foreign,
        options: &[],
    };
    timings
        .phase("link", || {
            link_shared_with_cache(&db.cache(), &parts, part, output)
        })
        .map_err(|e| Failure::Usage(format!("{output}: {e}")))
}

/// The name under which Python imports the file.
fn module_name(output: &Utf8Path) -> Result<&str, Failure> {
    let file = output.file_name().unwrap_or("");
    let name = file.split('.').next().unwrap_or("");
    let mut chars = name.chars();
    let begins = chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if begins && chars.all(|c| c.is_ascii_alphanumeric() || c == '_') && file.ends_with(".so") {
        return Ok(name);
    }
    let wanted = "a module for Python is imported by the name of its file, such as `mod.abi3.so`";
    Err(Failure::Usage(format!("{output}: {wanted}")))
}

/// What the C part is made of.
#[derive(Serialize, Deserialize)]
struct Module {
    offered: Extension,
    /// File and line of each function.
    places: Vec<(String, usize)>,
}

/// The program, and its offered functions.
fn made(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    timings: &mut Timings,
) -> Result<(Image, Module), Failure> {
    let program = load(db, target, options)?;
    let question = Question {
        what: "extension",
        program,
        options: &[],
        extent: true,
    };
    let keeps = |(image, _): &(Image, Module)| image.foreign.is_empty();
    remember(db, &question, keeps, || compiled(db, program, timings))
}

/// The same in C.
fn made_of_c(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    timings: &mut Timings,
) -> Result<(CProgram, Module), Failure> {
    let program = load(db, target, options)?;
    let question = Question {
        what: "extension in C",
        program,
        options: &[],
        extent: true,
    };
    let keeps = |(c, _): &(CProgram, Module)| c.foreign.is_empty();
    remember(db, &question, keeps, || {
        let (roots, root) = typed_part(db, program, timings)?;
        optimize_all(db, roots, timings);
        let made = timings.phase("codegen", || c_executable(db, roots, Extent::Part(&root)))?;
        Ok((made, described(db, program)))
    })
}

fn compiled(
    db: &Database,
    program: Program,
    timings: &mut Timings,
) -> Result<(Image, Module), Failure> {
    let (roots, root) = typed_part(db, program, timings)?;
    let image = native_image(db, roots, &root, ImageUse::Library, timings)?;
    Ok((image, described(db, program)))
}

/// The program, with types. Fails if a function that it offers cannot be called from Python.
fn typed_part(
    db: &Database,
    program: Program,
    timings: &mut Timings,
) -> Result<(Roots, FuncSym), Failure> {
    let mismatches = |roots| results::mismatches(db, roots, &offered_extension(db, program));
    typed_shared(db, program, timings, &extension_diagnostics, &mismatches)
}

/// The contents of the C part.
fn described(db: &Database, program: Program) -> Module {
    let offered = offered_extension(db, program);
    let places = offered.functions.iter().map(|f| {
        let place = function_name(db, program, f.func).map(|(_, span)| {
            let text = span.file.text(db);
            let line = line_index(db, span.file)
                .line_column(text, span.range.start)
                .0;
            (span.file.path(db).to_string(), line as usize)
        });
        place.unwrap_or_default()
    });
    Module {
        places: places.collect(),
        offered: (*offered).clone(),
    }
}

/// The code of a program that is called from outside.
pub(crate) fn shared_image(
    db: &Database,
    program: Program,
    timings: &mut Timings,
    problems: &dyn Fn(&dyn Db, Program) -> Vec<Diagnostic>,
    mismatches: &dyn Fn(Roots) -> Vec<Diagnostic>,
) -> Result<(Image, Roots), Failure> {
    let (roots, root) = typed_shared(db, program, timings, problems, mismatches)?;
    let image = native_image(db, roots, &root, ImageUse::Library, timings)?;
    Ok((image, roots))
}

/// The types of a program that is called from outside. Import time may offer functions that cannot be called
/// (`problems`), and functions may return values that cannot be passed (`mismatches`).
fn typed_shared(
    db: &Database,
    program: Program,
    timings: &mut Timings,
    problems: &dyn Fn(&dyn Db, Program) -> Vec<Diagnostic>,
    mismatches: &dyn Fn(Roots) -> Vec<Diagnostic>,
) -> Result<(Roots, FuncSym), Failure> {
    timings.phase("parse", || prefetch::compile_files(db, program));
    let roots = timings.phase("import", || {
        let mut found = import_diagnostics(db, program);
        if !has_errors(&found) {
            let entry = entry_roots(db, program).map_err(|d| placed(db, program, d))?;
            found.extend(problems(db, program));
            if !has_errors(&found) {
                return Ok(entry);
            }
        }
        Err(Failure::Diagnostics(found))
    })?;
    timings.phase("flow", || prefetch::flow_graphs(db, roots));
    timings.phase("annotate", || {
        // A result that is not passed is an error of the shipped module's functions, too.
        let others = mismatches(roots);
        if others.is_empty() {
            Ok(())
        } else {
            Err(Failure::Diagnostics(others))
        }
    })?;
    let found = compile_diagnostics(db, roots);
    if has_errors(&found) {
        return Err(Failure::Diagnostics(found));
    }
    let root = typed(db, roots, timings)?;
    Ok((roots, root))
}
