//! What stands around the compiler on a machine (RPython: `translator/platform`): C compilers and LLVM's
//! programs for each machine that programs are built for, with their options; linking; the C
//! libraries that programs bring; emulators.
//!
//! ```text
//! compilers   which C compiler makes code for a machine, or what to install
//! c           what that is told
//! llvm        clang, or opt and llc
//! libraries   the C libraries of a program: compiled with it, or as a shared object
//! link        object files to an executable or a shared object
//! emulators   what runs an executable
//! folder      folders and files that are the user's alone
//! secret      what the user's processes know, and nobody else
//! ```
//!
//! **Architecture invariants.** It knows files, processes and [`taipan_language::Machine`], and nothing of
//! graphs, types or RPython: what it compiles is text, what it links is bytes. No salsa and no cache:
//! who calls keeps what was made, under [`file_identity`] and the options. Every command that fails is in the
//! error, with its messages; what is missing is named with Debian's package.

pub mod c;
mod command;
mod compilers;
mod emulators;
mod folder;
mod libraries;
mod link;
mod llvm;
mod secret;

pub use command::{file_identity, on_path, run, said, with_variables};
pub use compilers::c_compiler;
pub use emulators::runner;
pub use folder::{
    check_own_folder, make_private_folder, open_own_file, open_regular, own_folder,
    user_cache_folder,
};
pub use libraries::{
    Libraries, Source, load, load_library, open, open_own, shared_library, shared_object,
};
pub use link::{Extension, LIBRARIES, Parts, link_executable, link_extension};
pub use llvm::Llvm;
pub use secret::user_secret;
