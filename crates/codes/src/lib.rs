//! The diagnostics that the compiler has: what each code means, with an example that has the mistake and
//! one that has not.
//!
//! Owns [`ErrorCode`], of which every diagnostic has one, and the texts: one Markdown file per code in
//! `text/`, of which `taipan explain`, editors and the tables in docs/diagnostics.md are made. A
//! code that is declared without its file does not compile; one that nothing uses, or whose
//! examples do not show it, fails a test.
//!
//! **Architecture invariants.** Knows nothing of the compiler.

mod explanation;

pub use explanation::{Example, Explanation, Piece};

use std::fmt;
use std::sync::LazyLock;

use explanation::parse;
use serde::{Deserialize, Serialize};

/// Level of a warning, which a project may set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Level {
    /// It is not reported.
    Ignore,
    /// It is reported.
    Warn,
    /// It is reported as an error.
    Error,
}

impl Level {
    /// Its names in configurations.
    pub const NAMES: [&'static str; 3] = ["ignore", "warn", "error"];

    /// The level of that name.
    pub fn named(name: &str) -> Option<Level> {
        let all = [Level::Ignore, Level::Warn, Level::Error];
        all.into_iter()
            .zip(Level::NAMES)
            .find(|(_, n)| *n == name)
            .map(|(l, _)| l)
    }
}

macro_rules! level {
    () => {
        None
    };
    ($level:ident) => {
        Some(Level::$level)
    };
}

macro_rules! codes {
    ($($number:ident $name:ident $(= $level:ident)?;)*) => {
        /// What is wrong, as `taipan explain` tells it.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum ErrorCode {
            $(#[doc = concat!("`", stringify!($number), "`")] $name,)*
        }

        impl ErrorCode {
            /// All of them, in the order of their numbers.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$name,)*];

            /// Its number, as it is printed: `TP0301`.
            pub const fn as_str(self) -> &'static str {
                match self { $(ErrorCode::$name => stringify!($number),)* }
            }

            /// Its name in this program.
            #[cfg(test)]
            const fn name(self) -> &'static str {
                match self { $(ErrorCode::$name => stringify!($name),)* }
            }

            /// The code of that number.
            pub fn named(number: &str) -> Option<ErrorCode> {
                match number { $(stringify!($number) => Some(ErrorCode::$name),)* _ => None }
            }

            /// The level of its warnings where a project sets none. None for errors that are never warnings.
            pub const fn level(self) -> Option<Level> {
                match self { $(ErrorCode::$name => level!($($level)?),)* }
            }

            const fn text(self) -> &'static str {
                match self {
                    $(ErrorCode::$name => {
                        include_str!(concat!("../text/", stringify!($number), ".md"))
                    })*
                }
            }
        }
    };
}

codes! {
    // Reading and parsing, and the configuration.
    TP0001 InvalidSyntax;
    TP0010 InvalidConfiguration;
    TP0011 UnknownOption;

    // Of correct files.
    TP0020 UnusedImport = Warn;
    TP0021 UnusedVariable = Warn;
    TP0022 UnreachedCode = Warn;

    // Import time.
    TP0201 ImportTimeException;
    TP0202 ImportTimeEndless;
    TP0203 ImportTimeMemory;
    TP0204 UnreadableFile;
    TP0205 UntrustedFolder;
    TP0210 NoEntryPoint;
    TP0211 EntryPointNoFunction;
    TP0212 UnknownAtImportTime;
    TP0213 NoSuchFunction;
    TP0214 NotForPython;
    TP0215 NothingForPython;

    // Flow graphs.
    TP0220 NotRPython;
    TP0221 GlobalChanged;
    TP0222 UndefinedName = Warn;
    TP0223 ConstantRaises = Warn;
    TP0224 MaybeUnassigned;
    TP0225 Closure;
    TP0226 InvalidExcept;
    TP0227 FailedImport;
    TP0228 Untranslatable;
    TP0229 FunctionTooBig;
    TP0230 InvalidOvfcheck;
    TP0232 BrokenFunction;

    // Annotation.
    TP0300 UnionError;
    TP0301 NoSuchAttribute;
    TP0302 NotCallable;
    TP0303 UnsupportedOperands;
    TP0304 InvalidArguments = Warn;
    TP0305 SpecializedByVariable;
    TP0306 InvalidArgument;
    TP0307 InvalidAttributeUse;
    TP0308 MixedSignedness;
    TP0309 MaybeNegative;
    TP0311 NeverComes;
    TP0312 InvalidClassLayout;
    TP0313 FixedListResized;
    TP0314 InvalidConstant;
    TP0315 UnknownInputClass;
    TP0316 EntryPointResult;
    TP0317 DeadOperation = Warn;
    TP0318 InvalidBuiltinArgument;
    TP0319 MixedStrings;
    TP0320 ConstantNeeded;
    TP0321 SliceWithStep;
    TP0322 InvalidLowLevelArgument;
    TP0323 ReplacedOperation;
    TP0324 EndlessNesting;
    TP0325 InvalidWeakref;
    TP0326 InvalidHint;
    TP0327 InvalidSpecialization;
    TP0328 FailedPolicy;
    TP0329 InitReturns;
    TP0330 SpecialisedClass;
    TP0331 EndlessSpecialisation;

    // RTyping.
    TP0401 NotSupportedByRTyper;
    TP0402 MissingRTypeOperation;
    TP0404 NoConversion;
    TP0405 SmallIntegerArithmetic;
    TP0408 InvalidOverflowCheck;
    TP0409 MixedComparison;
    TP0410 InfiniteType;
    TP0411 AttributeWithoutRepr;
    TP0412 MixedConstants;
    TP0413 IncompatibleFunctions;
    TP0414 InteriorAsValue;
    TP0415 BuiltinWithoutRepr;
    TP0420 IncompleteFormat;
    TP0422 FormatValueCount;
    TP0423 UnknownFormatCharacter;
    TP0424 FormatNeedsInteger;
    TP0425 FixedListOperation;
    TP0426 ListAsKey;
    TP0427 NegativeInsert;
    TP0428 VariableTupleIndex;
    TP0429 InvalidRDictFunctions;
    TP0430 IgnoredComparison = Warn;
    TP0431 IgnoredText = Warn;
    TP0432 IgnoredTruth = Warn;
    TP0433 IgnoredHash = Warn;
    TP0434 CompilersCommandLine = Warn;
    TP0435 LackingAttribute = Warn;

    // Faults of the compiler, and running a program.
    TP0499 StagesDisagree;
    TP0501 NoCode;
    TP0502 UnreadableResult;
    TP0503 UnsafeForMachineCode;
    TP0504 NotOnTheTarget;
    TP0599 TestNotRun;

    // The JIT generator.
    TP0601 UnknownHint;
    TP0602 SpecializerGaveUp;
    TP0603 MisplacedMergePoint = Warn;
    TP0604 ImmutableWritten = Warn;
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl ErrorCode {
    /// What it means.
    pub fn explanation(self) -> &'static Explanation {
        &all()[self as usize]
    }
}

/// All explanations, in the order of their codes.
pub fn all() -> &'static [Explanation] {
    static ALL: LazyLock<Vec<Explanation>> =
        LazyLock::new(|| ErrorCode::ALL.iter().map(|c| parse(*c, c.text())).collect());
    &ALL
}

#[cfg(test)]
mod tests;
