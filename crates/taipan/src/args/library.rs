//! Options about libraries for C.

use std::sync::Arc;

use clap::Args;

#[derive(Args)]
pub(crate) struct LibraryOptions {
    /// Make a library `libOUT.so` of the functions that `rpython.rlib.entrypoint` offers to C, and an executable that
    /// calls its entry point.
    #[arg(long, conflicts_with_all = ["jit", "extension"])]
    pub(crate) shared: bool,
    /// Keys of the functions that the library offers, separated by commas.
    #[arg(long, value_name = "KEYS", default_value = "main", requires = "shared")]
    entrypoints: String,
}

impl LibraryOptions {
    /// The keys, if a library is to be made.
    pub(crate) fn keys(&self) -> Option<Arc<str>> {
        self.shared.then(|| self.entrypoints.as_str().into())
    }
}
