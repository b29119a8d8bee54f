//! Names of variables as the program has them, where one variable alone is called so.
//!
//! ```text
//! Signed names_3;        Signed names;
//! names_3 = n_0 + 1ll;   names = n + 1ll;
//! ```
//!
//! A name that the program assigns to more than once is that of several variables here, which keep their numbers.
//! So does a name that a macro of the headers uses: there it has to mean what it means to the headers. Functions and
//! types of the headers may be hidden by a variable where the function at hand has no use for them.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::names::KEYWORDS;
use crate::prelude::{TEXT, WIDE};

/// Words of C, macros of the headers, and what those use besides their parameters.
static TAKEN: LazyLock<FxHashSet<&str>> = LazyLock::new(|| {
    let mut taken: FxHashSet<&str> = KEYWORDS.iter().copied().collect();
    taken.insert("roots");
    for text in [TEXT, WIDE] {
        for (start, define) in text.match_indices("#define ") {
            let macro_text = &text[start + define.len()..];
            let end = macro_text
                .match_indices('\n')
                .find(|(at, _)| !macro_text[..*at].ends_with('\\'));
            let macro_text = &macro_text[..end.map_or(macro_text.len(), |(at, _)| at)];
            let name = macro_text
                .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .unwrap_or(macro_text.len());
            let has_parameters = macro_text[name..].starts_with('(');
            let close = macro_text.find(')').filter(|_| has_parameters);
            let mut parameters = FxHashSet::default();
            each_word(&macro_text[name..close.unwrap_or(name)], |_, word, _| {
                parameters.insert(word);
            });
            each_word(macro_text, |_, word, _| {
                if !parameters.contains(word) {
                    taken.insert(word);
                }
            });
        }
    }
    taken
});

/// A variable that is declared.
pub(super) struct Declared {
    /// What the program calls it.
    pub(super) plain: String,
    /// What it is called in the function's text until now, and nothing else is.
    pub(super) name: String,
}

/// The text of a function with these variables.
pub(super) fn renamed(text: &str, declared: &[Declared]) -> String {
    let mut used: FxHashSet<&str> = FxHashSet::default();
    each_word(text, |_, word, is_field| {
        if !is_field {
            used.insert(word);
        }
    });
    let mut count: FxHashMap<&str, usize> = FxHashMap::default();
    for d in declared {
        *count.entry(&d.plain).or_default() += 1;
    }
    let free = |name: &str| !is_numbered(name) && !TAKEN.contains(name) && !used.contains(name);
    let new: FxHashMap<&str, &str> = (declared.iter())
        .filter(|d| count[&*d.plain] == 1 && free(&d.plain))
        .map(|d| (&*d.name, &*d.plain))
        .collect();
    let mut out = String::with_capacity(text.len());
    let rest = each_word(text, |before, word, is_field| {
        out.push_str(before);
        out.push_str(match new.get(word) {
            Some(plain) if !is_field => plain,
            _ => word,
        });
    });
    out.push_str(rest);
    out
}

/// Whether it is a name of variables that the program has no name for.
fn is_numbered(name: &str) -> bool {
    let number = name.strip_prefix(['t', 'v']);
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// Calls `f` with each word and number of a text: what comes before it, itself, and whether it is that of a field.
/// Returns what comes after the last one.
fn each_word<'a>(text: &'a str, mut f: impl FnMut(&'a str, &'a str, bool)) -> &'a str {
    let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = text;
    while let Some(start) = rest.find(in_word) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c| !in_word(c)).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        f(
            before,
            word,
            before.ends_with("->") || before.ends_with('.'),
        );
        rest = after;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, variables: &[(&str, &str)]) -> String {
        let declared: Vec<Declared> = (variables.iter())
            .map(|(plain, name)| Declared {
                plain: (*plain).to_owned(),
                name: (*name).to_owned(),
            })
            .collect();
        renamed(text, &declared)
    }

    #[test]
    fn one_variable_has_the_plain_name() {
        let text = "one_1 = two_2 + p->one_1 + q.one_1 + 0xone_1 + one_10;";
        assert_eq!(
            check(
                text,
                &[("one", "one_1"), ("two", "two_2"), ("two", "two_3")]
            ),
            "one = two_2 + p->one_1 + q.one_1 + 0xone_1 + one_10;"
        );
    }

    #[test]
    fn functions_of_headers_may_be_hidden() {
        let variables = [("free", "free_1"), ("pointer", "pointer_2"), ("n", "n_3")];
        assert_eq!(
            check("free_1 + pointer_2 + n_3", &variables),
            "free + pointer + n"
        );
    }

    #[test]
    fn names_that_mean_something_else_keep_their_numbers() {
        let variables = [
            ("free", "free_1"),
            ("malloc", "malloc_1"),
            ("machine_frame", "machine_frame_1"),
            ("int", "int_2"),
            ("v7", "v7_3"),
            ("roots", "roots_4"),
            ("one_5", "one_5_6"),
            ("one", "one_5"),
            ("i386", "i386_7"),
            ("handlers8", "handlers8_9"),
        ];
        let text = "free(p) free_1 malloc_1 machine_frame_1 int_2 v7_3 roots_4 one_5_6 one_5 i386_7 handlers8 handlers8_9";
        assert_eq!(
            check(text, &variables),
            "free(p) free_1 malloc_1 machine_frame_1 int_2 v7_3 roots_4 one_5_6 one i386_7 handlers8 handlers8_9"
        );
    }
}
