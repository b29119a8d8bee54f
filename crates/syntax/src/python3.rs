//! What came with Python 3, or is the habit of another language: errors about it say so, and what
//! Python 2.7 has instead.

use taipan_base::TextRange;

/// What an error is about that the grammar only knows as a mistake.
pub(crate) fn reworded(source: &str, range: TextRange, message: &str) -> Option<&'static str> {
    let start = range.start as usize;
    let before = source.get(..start)?;
    let here = source.get(start..)?;
    if matches!(
        message,
        "cannot assign to this expression" | "an assignment is no expression"
    ) {
        let line = before.rfind('\n').map_or(0, |i| i + 1);
        let call = before[line..].trim_start().strip_prefix("print")?;
        return call
            .trim_start()
            .starts_with('(')
            .then_some("arguments of `print` by keyword are Python 3 syntax");
    }
    if matches!(message, "expected an expression" | "expected a name") {
        let operator = before.trim_end_matches([' ', '\t']);
        return match () {
            () if operator.ends_with("++") => Some("Python has no operator `++`"),
            () if operator.ends_with("--") => Some("Python has no operator `--`"),
            () => None,
        };
    }
    if message != "invalid syntax" {
        return None;
    }
    if here.starts_with(['"', '\'']) {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let prefix = &before[before.trim_end_matches(word).len()..];
        return matches!(prefix.to_ascii_lowercase().as_str(), "f" | "fr" | "rf")
            .then_some("f-strings are Python 3 syntax");
    }
    let mut words = here.split_whitespace();
    match words.next()? {
        "match" if here.lines().next()?.trim_end().ends_with(':') => {
            Some("`match` is Python 3 syntax")
        }
        "type" if words.nth(1) == Some("=") => Some("`type` statements are Python 3 syntax"),
        "else" if words.next() == Some("if") => Some("Python has no `else if`"),
        _ => None,
    }
}

/// The message about bytes that are no characters.
pub const NOT_UTF8: &str = "this is not valid UTF-8, and the file does not declare latin-1";

/// What to write instead of what an error is about.
pub fn remedy(message: &str) -> Option<&'static str> {
    Some(match message {
        "arguments of `print` by keyword are Python 3 syntax" => {
            "put `from __future__ import print_function` at the top of the file, for `end`; RPython \
             has none of the others: write to a file by `os.write(2, text)`"
        }
        "f-strings are Python 3 syntax" => "use `%`, as in `\"%d items\" % n`",
        "`async` is Python 3 syntax" | "`await` is Python 3 syntax" => {
            "write an ordinary function: there are generators and threads, but no coroutines"
        }
        NOT_UTF8 => {
            "save the file as UTF-8, or write `# -*- coding: latin-1 -*-` on its first line"
        }
        "Python has no operator `++`" => "write `x += 1`",
        "Python has no operator `--`" => "write `x -= 1`",
        "Python has no `else if`" => "write `elif`",
        "`match` is Python 3 syntax" => "use `if` and `elif`",
        "`type` statements are Python 3 syntax" => "leave it out: types are found by the compiler",
        "annotations are Python 3 syntax" => {
            "leave them out: types are found by the compiler, or declared with `@enforceargs`"
        }
        "`nonlocal` is Python 3 syntax" => {
            "keep what changes in an attribute of an object that is passed as an argument"
        }
        "the operator `@` is Python 3 syntax" => "call a function",
        "`raise .. from` is Python 3 syntax" => "leave `from ..` out: exceptions have no cause",
        "`except*` is Python 3 syntax" => "use `except`",
        "`yield from` is Python 3 syntax" => "write `for x in ..: yield x`",
        "`:=` is Python 3 syntax" => "assign in a statement of its own",
        "a bare `*` or `/` parameter is Python 3 syntax" => {
            "leave it out: each argument can be given by place or by name"
        }
        "underscores in numbers are Python 3 syntax" => "write the digits without them",
        "`**` in a dict is Python 3 syntax" => "assign the items in a loop",
        "a starred expression cannot stand here in Python 2" => {
            "use an index and a slice, as in `a, b = x[0], x[1:]`, or `+`"
        }
        "only base classes can stand here in Python 2" => {
            "say which metaclass it is in the body of the class: `__metaclass__ = ..`"
        }
        "no parameter may follow `*args` or `**kwargs`" => "put the parameter in front of it",
        _ => return None,
    })
}
