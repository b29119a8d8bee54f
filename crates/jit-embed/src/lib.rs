//! A number for a file that the assembler puts into a crate.
//!
//! rustc does not track a file named by `.incbin`: an incremental build reuses the object code with the old
//! contents. A hash of the file in the assembler text changes the text whenever the file changes. The
//! crate does not depend on the contents of the file.

use std::hash::{DefaultHasher, Hasher};

use proc_macro::{Literal, TokenStream, TokenTree};

/// `stamp!("VARIABLE")`: a number made of the bytes of the file whose path an environment variable of the
/// compiler holds; 0 if there is no file, as where a crate is only checked.
#[proc_macro]
pub fn stamp(name: TokenStream) -> TokenStream {
    let name = name.to_string();
    let path = std::env::var_os(name.trim_matches('"'));
    let bytes = path.and_then(|path| std::fs::read(path).ok());
    let stamp = bytes.map_or(0, |bytes| {
        let mut hasher = DefaultHasher::new();
        hasher.write(&bytes);
        hasher.finish()
    });
    TokenTree::from(Literal::u64_unsuffixed(stamp)).into()
}
