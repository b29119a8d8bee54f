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
//! secret      the key that only the user's processes can read
//! question    what the C compiler knows: constants, sizes, whether something links
//! tools       what pkg-config and its like know
//! flags       options of compilers that can neither run nor write anything
//! sandbox     processes with bounds
//! start       starting processes without a copy of this one
//! state       whether a file has changed
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
mod flags;
mod folder;
mod libraries;
mod link;
mod llvm;
mod question;
mod sandbox;
mod secret;
mod start;
mod state;
mod tools;

pub use command::{file_identity, on_path, run, said, with_variables};
pub use compilers::c_compiler;
pub use emulators::runner;
pub use flags::refused_option;
pub use folder::{
    check_own_folder, make_private_folder, open_own_file, open_regular, user_cache_folder,
};
pub use libraries::{
    Blake3, Libraries, Source, library_folder, load, load_library, open, open_own, shared_library,
    shared_object,
};
pub use link::{LIBRARIES, Parts, SharedPart, link_executable, link_shared, link_starter};
pub use llvm::Llvm;
pub use question::{
    CAnswer, CAnswered, CObject, CQuestion, Wanted, ask_c_compiler, compile_shared,
};
pub use sandbox::{Confinement, Ended, IsWanted, Limits, run_bounded};
pub use secret::user_secret;
pub use state::{is_system, state_of};
pub use tools::{ToolQuestion, ask_tool, find_library};
