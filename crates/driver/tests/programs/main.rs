//! What programs compute, on every engine, and what is said of them.
//!
//! Each binary of tests holds the whole compiler, so that there are few, with a module for each subject.

#[path = "../support/mod.rs"]
mod support;

/// A test for each table of calls.
macro_rules! tables {
    ($($(#[$meta:meta])* $name:ident: $source:literal => $calls:literal;)*) => {
        $(
            $(#[$meta])*
            #[test]
            fn $name() {
                crate::support::check($source, $calls);
            }
        )*
    };
}

mod c_types;
mod constants;
mod containers;
mod dead_operations;
mod finalizers;
mod idioms;
mod inlining;
mod lowlevel;
mod memo;
mod mixins;
mod narrowing;
mod python;
mod random_calls;
mod rawrefcount;
mod rtyping;
mod strictness;
mod system;
mod threads;
mod typed_graphs;
mod unreached;
mod unused;
