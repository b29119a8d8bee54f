//! Images and executables of programs: the operation behind `build`.

use camino::Utf8Path;
use taipan_annotator::Roots;
use taipan_codegen::{Image, Lister, Listing};
use taipan_codegen_cranelift::object_file;
use taipan_language::Machine;
use taipan_lltype::FuncSym;

use crate::LoadOptions;
use crate::db::Database;
use crate::fault::{Failure, guarded};
use crate::link::link_with_cache;
use crate::program::load;
use crate::result_cache::{Question, remember};
use crate::stages::linked::compile_entries;
use crate::stages::lowlevel_errors::codegen_failure;
use crate::stages::native::{ImageUse, image, listing};
use crate::timing::Timings;
use crate::typed::typed_program;

/// Compiles a program for a process of its own.
pub fn compile_for_process(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    timings: &mut Timings,
) -> Result<Image, Failure> {
    guarded(|| program_image(db, options, target, ImageUse::Run, timings))?
}

/// The image of a program.
pub(crate) fn program_image(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    usage: ImageUse,
    timings: &mut Timings,
) -> Result<Image, Failure> {
    let program = load(db, target, options)?;
    let question = Question {
        what: match usage {
            ImageUse::Build => "image_to_build",
            _ => "image_to_run",
        },
        program,
        options: &[],
        extent: usage == ImageUse::Build,
    };
    // What C libraries do is known to them alone.
    let keeps = |image: &Image| image.foreign.is_empty();
    remember(db, &question, keeps, || {
        let (roots, root) = typed_program(db, program, timings)?;
        native_image(db, roots, &root, usage, timings)
    })
}

/// As [`compile_for_process`], in parts that can be replaced.
pub fn list_for_process(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    lister: &mut Lister,
    timings: &mut Timings,
) -> Result<Listing, Failure> {
    guarded(|| {
        let program = load(db, target, options)?;
        let (roots, root) = typed_program(db, program, timings)?;
        compile_entries(db, roots, &[], timings);
        timings.phase("link", || {
            listing(db, roots, &root, lister).map_err(|e| codegen_failure(&e))
        })
    })?
}

/// Makes an executable.
pub fn build(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    output: &Utf8Path,
    timings: &mut Timings,
) -> Result<(), Failure> {
    let image = guarded(|| build_image(db, options, target, timings))??;
    let object = image_object(&image, options.machine, timings)?;
    link(db, &image, options.machine, &object, output, timings)
}

/// Makes an executable of an image and its object file.
pub fn link(
    db: &Database,
    image: &Image,
    machine: Machine,
    object: &[u8],
    output: &Utf8Path,
    timings: &mut Timings,
) -> Result<(), Failure> {
    timings
        .phase("link", || {
            link_with_cache(&db.cache(), machine, &[object], &image.foreign, &[], output)
        })
        .map_err(|e| Failure::Usage(format!("{output}: {e}")))
}

/// The object file of a program.
pub fn compile_native(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    timings: &mut Timings,
) -> Result<Vec<u8>, Failure> {
    guarded(|| {
        let image = build_image(db, options, target, timings)?;
        image_object(&image, options.machine, timings)
    })?
}

/// The image of a program to be linked into an executable.
pub fn build_image(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    timings: &mut Timings,
) -> Result<Image, Failure> {
    program_image(db, options, target, ImageUse::Build, timings)
}

/// The object file of an image.
pub fn image_object(
    image: &Image,
    machine: Machine,
    timings: &mut Timings,
) -> Result<Vec<u8>, Failure> {
    timings.phase("object", || {
        object_file(image, machine).map_err(|e| codegen_failure(&e))
    })
}

pub(crate) fn native_image(
    db: &Database,
    roots: Roots,
    root: &FuncSym,
    usage: ImageUse,
    timings: &mut Timings,
) -> Result<Image, Failure> {
    let entries = std::slice::from_ref(root);
    compile_entries(db, roots, &[], timings);
    timings.phase("link", || {
        image(db, roots, entries, usage).map_err(|e| codegen_failure(&e))
    })
}
