//! What editors ask of a program, as plain data: diagnostics, hover, definitions,
//! references, symbols, hints, tokens, actions, rename.
//!
//! ```text
//! (file, offset) ──file_index──► token ──Scope──► symbol, annotation, places ──► plain structs
//! ```
//!
//! Every function takes a database, the programs of the workspace and a place in a
//! file, and answers structs of names, texts and [`taipan_base::Span`]s.
//!
//! **Architecture invariants.** Knows no protocol: no LSP types, no line and column
//! numbers, no output; of folders only what can be imported from them is read. Names of a file are found by syntax ([`file_index`]);
//! what they mean comes from the image and the annotations, through their projections.
//! Nothing here changes what other crates compute.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

mod body;
mod completion;
mod diagnostics;
mod fixes;
mod hierarchy;
mod hints;
mod hover;
mod index;
mod lenses;
mod links;
mod modules;
mod navigation;
mod places;
mod program;
mod rename;
mod repr;
mod signature;
mod symbol;
mod symbols;
mod tokens;

pub use completion::{
    Completion, CompletionKind, completes_import, completions, documentation, module_documentation,
};
pub use diagnostics::{
    Checked, closed_file_diagnostics, file_diagnostics, unreached, workspace_diagnostics,
};
pub use fixes::{Fix, fixes};
pub use hierarchy::{Call, Item, call_items, callees, callers, subtypes, supertypes, type_items};
pub use hints::{Hint, HintKind, inlay_hints};
pub use hover::{Colored, Hover, hover};
pub use index::{FileIndex, Role, Token, file_index};
pub use lenses::{Lens, LensKind, lenses};
pub use links::links;
pub use navigation::{
    Reference, definitions, highlights, implementations, name_at, references, type_definitions,
};
pub use program::{FilePosition, Others, Workspace};
pub use rename::{Edits, prepare_rename, rename};
pub use signature::{Signature, signatures};
pub use symbols::{
    DocumentSymbol, Fold, SymbolKind, WorkspaceSymbol, document_symbols, folds, selections,
    workspace_symbols,
};
pub use tokens::{SemanticToken, TokenKind, semantic_tokens};

#[cfg(test)]
mod tests;
