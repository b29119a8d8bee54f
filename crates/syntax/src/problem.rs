//! Syntax problems as data. Messages and remedies are made of them.

use std::fmt;

/// A problem at a place of a text.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum SyntaxProblem {
    /// The grammar does not say more.
    Invalid,
    /// An expression is missing.
    ExpectedExpression,
    /// A name is missing.
    ExpectedName,
    /// An assignment stands where an expression is expected.
    AssignmentInExpression,
    /// The left side of an assignment is no target.
    NoTarget,
    /// Bytes are no characters.
    NotUtf8,
    /// Syntax of Python 3 or of another language, or a mistake with a remedy.
    Habit(Habit),
    /// Any other problem, in words.
    Other(Box<str>),
}

impl From<Habit> for SyntaxProblem {
    fn from(habit: Habit) -> SyntaxProblem {
        SyntaxProblem::Habit(habit)
    }
}

impl From<&str> for SyntaxProblem {
    fn from(message: &str) -> SyntaxProblem {
        SyntaxProblem::Other(message.into())
    }
}

impl From<String> for SyntaxProblem {
    fn from(message: String) -> SyntaxProblem {
        SyntaxProblem::Other(message.into())
    }
}

impl fmt::Display for SyntaxProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl SyntaxProblem {
    /// The problem on one line.
    pub fn message(&self) -> &str {
        match self {
            SyntaxProblem::Invalid => "invalid syntax",
            SyntaxProblem::ExpectedExpression => "expected an expression",
            SyntaxProblem::ExpectedName => "expected a name",
            SyntaxProblem::AssignmentInExpression => "an assignment is no expression",
            SyntaxProblem::NoTarget => "cannot assign to this expression",
            SyntaxProblem::NotUtf8 => {
                "this is not valid UTF-8, and the file does not declare latin-1"
            }
            SyntaxProblem::Habit(habit) => habit.texts().0,
            SyntaxProblem::Other(message) => message,
        }
    }

    /// The usual remedy.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            SyntaxProblem::NotUtf8 => Some(
                "save the file as UTF-8, or write `# -*- coding: latin-1 -*-` on its first line",
            ),
            SyntaxProblem::Habit(habit) => habit.texts().1,
            _ => None,
        }
    }
}

/// Syntax that came with Python 3, or is a habit of another language.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Habit {
    /// `print(x, end="")`
    PrintKeyword,
    /// `f"{x}"`
    FString,
    /// `async def f(): ..`
    Async,
    /// `await x`
    Await,
    /// `x++`
    Increment,
    /// `x--`
    Decrement,
    /// `else if x:`
    ElseIf,
    /// `match x:`
    Match,
    /// `type X = int`
    TypeStatement,
    /// `match` and `type` statements that the grammar reads as such.
    Statement,
    /// `x: int = 1`
    Annotation,
    /// `nonlocal x`
    Nonlocal,
    /// `a @ b`
    MatrixProduct,
    /// `raise X from y`
    RaiseFrom,
    /// `except* X:`
    ExceptStar,
    /// `yield from x`
    YieldFrom,
    /// `x := y`
    Walrus,
    /// `def f(a, *, b): ..`
    BareStar,
    /// `1_000`
    Underscore,
    /// `{**a}`
    DictUnpacking,
    /// `a, *b = c`
    Starred,
    /// `class A(metaclass=M): ..`
    ClassArgument,
    /// `def f(*args, x): ..`
    ParameterBehindStar,
}

impl Habit {
    /// The message and the remedy. Each remedy is applied in a test (`tests/remedies.rs` of the crate
    /// taipan).
    fn texts(self) -> (&'static str, Option<&'static str>) {
        let coroutine =
            "write an ordinary function: there are generators and threads, but no coroutines";
        let (message, remedy) = match self {
            Habit::Statement => return ("this statement is Python 3 syntax", None),
            Habit::PrintKeyword => (
                "arguments of `print` by keyword are Python 3 syntax",
                "put `from __future__ import print_function` at the top of the file, for `end`; RPython \
                 has none of the others: write to a file by `os.write(2, text)`",
            ),
            Habit::FString => (
                "f-strings are Python 3 syntax",
                "use `%`, as in `\"%d items\" % n`",
            ),
            Habit::Async => ("`async` is Python 3 syntax", coroutine),
            Habit::Await => ("`await` is Python 3 syntax", coroutine),
            Habit::Increment => ("Python has no operator `++`", "write `x += 1`"),
            Habit::Decrement => ("Python has no operator `--`", "write `x -= 1`"),
            Habit::ElseIf => ("Python has no `else if`", "write `elif`"),
            Habit::Match => ("`match` is Python 3 syntax", "use `if` and `elif`"),
            Habit::TypeStatement => (
                "`type` statements are Python 3 syntax",
                "leave it out: types are found by the compiler",
            ),
            Habit::Annotation => (
                "annotations are Python 3 syntax",
                "leave them out: types are found by the compiler, or declared with `@enforceargs`",
            ),
            Habit::Nonlocal => (
                "`nonlocal` is Python 3 syntax",
                "keep what changes in an attribute of an object that is passed as an argument",
            ),
            Habit::MatrixProduct => ("the operator `@` is Python 3 syntax", "call a function"),
            Habit::RaiseFrom => (
                "`raise .. from` is Python 3 syntax",
                "leave `from ..` out: exceptions have no cause",
            ),
            Habit::ExceptStar => ("`except*` is Python 3 syntax", "use `except`"),
            Habit::YieldFrom => (
                "`yield from` is Python 3 syntax",
                "write `for x in ..: yield x`",
            ),
            Habit::Walrus => (
                "`:=` is Python 3 syntax",
                "assign in a statement of its own",
            ),
            Habit::BareStar => (
                "a bare `*` or `/` parameter is Python 3 syntax",
                "leave it out: each argument can be given by place or by name",
            ),
            Habit::Underscore => (
                "underscores in numbers are Python 3 syntax",
                "write the digits without them",
            ),
            Habit::DictUnpacking => (
                "`**` in a dict is Python 3 syntax",
                "assign the items in a loop",
            ),
            Habit::Starred => (
                "a starred expression cannot stand here in Python 2",
                "use an index and a slice, as in `a, b = x[0], x[1:]`, or `+`",
            ),
            Habit::ClassArgument => (
                "only base classes can stand here in Python 2",
                "say which metaclass it is in the body of the class: `__metaclass__ = ..`",
            ),
            Habit::ParameterBehindStar => (
                "no parameter may follow `*args` or `**kwargs`",
                "put the parameter in front of it",
            ),
        };
        (message, Some(remedy))
    }
}
