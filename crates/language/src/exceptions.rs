//! The builtin exception classes.

use serde::{Deserialize, Serialize};

/// Calls a macro with the table of exception classes: of each the name of a constant for it, its own
/// name, and its base (`object` at the top). Bases come before what derives from them.
#[macro_export]
macro_rules! for_each_exception {
    ($callback:ident) => {
        $callback! {
            BASE_EXCEPTION BaseException object;
            SYSTEM_EXIT SystemExit BaseException;
            KEYBOARD_INTERRUPT KeyboardInterrupt BaseException;
            GENERATOR_EXIT GeneratorExit BaseException;
            EXCEPTION Exception BaseException;
            STOP_ITERATION StopIteration Exception;
            STANDARD_ERROR StandardError Exception;
            ARITHMETIC_ERROR ArithmeticError StandardError;
            FLOATING_POINT_ERROR FloatingPointError ArithmeticError;
            OVERFLOW_ERROR OverflowError ArithmeticError;
            ZERO_DIVISION_ERROR ZeroDivisionError ArithmeticError;
            ASSERTION_ERROR AssertionError StandardError;
            ATTRIBUTE_ERROR AttributeError StandardError;
            BUFFER_ERROR BufferError StandardError;
            EOF_ERROR EOFError StandardError;
            IMPORT_ERROR ImportError StandardError;
            LOOKUP_ERROR LookupError StandardError;
            INDEX_ERROR IndexError LookupError;
            KEY_ERROR KeyError LookupError;
            MEMORY_ERROR MemoryError StandardError;
            NAME_ERROR NameError StandardError;
            UNBOUND_LOCAL_ERROR UnboundLocalError NameError;
            REFERENCE_ERROR ReferenceError StandardError;
            RUNTIME_ERROR RuntimeError StandardError;
            STACK_OVERFLOW StackOverflow RuntimeError;
            NOT_IMPLEMENTED_ERROR NotImplementedError RuntimeError;
            SYNTAX_ERROR SyntaxError StandardError;
            INDENTATION_ERROR IndentationError SyntaxError;
            TAB_ERROR TabError IndentationError;
            SYSTEM_ERROR SystemError StandardError;
            TYPE_ERROR TypeError StandardError;
            VALUE_ERROR ValueError StandardError;
            UNICODE_ERROR UnicodeError ValueError;
            UNICODE_DECODE_ERROR UnicodeDecodeError UnicodeError;
            UNICODE_ENCODE_ERROR UnicodeEncodeError UnicodeError;
            UNICODE_TRANSLATE_ERROR UnicodeTranslateError UnicodeError;
            ENVIRONMENT_ERROR EnvironmentError StandardError;
            IO_ERROR IOError EnvironmentError;
            OS_ERROR OSError EnvironmentError;
            WARNING Warning Exception;
            USER_WARNING UserWarning Warning;
            DEPRECATION_WARNING DeprecationWarning Warning;
            PENDING_DEPRECATION_WARNING PendingDeprecationWarning Warning;
            SYNTAX_WARNING SyntaxWarning Warning;
            RUNTIME_WARNING RuntimeWarning Warning;
            FUTURE_WARNING FutureWarning Warning;
            IMPORT_WARNING ImportWarning Warning;
            UNICODE_WARNING UnicodeWarning Warning;
            BYTES_WARNING BytesWarning Warning;
        }
    };
}

macro_rules! exceptions {
    ($($constant:ident $name:ident $base:ident;)*) => {
        /// A builtin exception class.
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize,
        )]
        pub enum Exc {
            $(#[doc = concat!("`", stringify!($name), "`")] $name,)*
        }

        impl Exc {
            /// All of them, bases before what derives from them.
            ///
            /// `StackOverflow` is not a Python class: programs import it from `rpython.rlib.rstackovf`.
            pub const ALL: &'static [Exc] = &[$(Exc::$name,)*];

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self { $(Exc::$name => stringify!($name),)* }
            }

            /// Its name with that of its module: `exceptions.ValueError`.
            pub const fn qualified(self) -> &'static str {
                match self { $(Exc::$name => concat!("exceptions.", stringify!($name)),)* }
            }

            /// The class that it derives from; none at the top.
            pub const fn base(self) -> Option<Exc> {
                match self { $(Exc::$name => exceptions!(@base $base),)* }
            }
        }
    };
    (@base object) => { None };
    (@base $base:ident) => { Some(Exc::$base) };
}

for_each_exception!(exceptions);

impl Exc {
    /// The exceptions that Python has.
    pub fn of_python() -> impl Iterator<Item = Exc> {
        (Exc::ALL.iter().copied()).filter(|e| *e != Exc::StackOverflow)
    }

    /// The class that it derives from in RPython, where `Exception` is at the top of all that can be
    /// raised.
    pub const fn rpython_base(self) -> Option<Exc> {
        match self {
            Exc::Exception | Exc::BaseException => None,
            _ => match self.base() {
                Some(Exc::BaseException) => Some(Exc::Exception),
                base => base,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_come_first() {
        for (i, e) in Exc::ALL.iter().enumerate() {
            let base = e.base().map(|b| Exc::ALL.iter().position(|x| *x == b));
            assert!(base.is_none_or(|b| b.is_some_and(|b| b < i)), "{e:?}");
            let mut top = *e;
            while let Some(base) = top.rpython_base() {
                top = base;
            }
            assert!(matches!(top, Exc::Exception | Exc::BaseException), "{e:?}");
        }
    }
}
