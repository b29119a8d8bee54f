//! What is wanted of code, as inputs.

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use taipan_base::Db;

/// What is wanted of code. Without one, the fastest.
#[salsa::input(singleton, debug)]
pub struct CodeMode {
    /// Functions may be replaced while frames of their callers are in progress. So they
    /// are not inlined, and callers are prepared for everything that another body may
    /// do: raise, and run the collector, which moves what they have not saved.
    #[returns(copy)]
    pub replaceable: bool,
}

pub(crate) fn code_is_replaceable(db: &dyn Db) -> bool {
    CodeMode::try_get(db).is_some_and(|m| m.replaceable(db))
}

/// Whether code is made that enters compiled code. Without one it is not.
#[salsa::input(singleton, debug)]
pub struct JitMode {
    /// Whether markers of drivers become questions for compiled code.
    #[returns(copy)]
    pub on: bool,
}

pub(crate) fn jit_is_on(db: &dyn Db) -> bool {
    JitMode::try_get(db).is_some_and(|m| m.on(db))
}

/// The modes of a database: all that code depends on beside a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Modes {
    /// As in [`CodeMode`].
    pub(crate) replaceable: bool,
    /// As [`JitMode`] says.
    pub(crate) jit: bool,
}

impl Modes {
    pub(crate) fn of(db: &dyn Db) -> Modes {
        Modes {
            replaceable: code_is_replaceable(db),
            jit: jit_is_on(db),
        }
    }
}
