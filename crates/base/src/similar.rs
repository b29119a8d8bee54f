//! "Did you mean": the known name that an unknown one is probably a slip of.

use crate::Help;

/// The candidate that is spelt most like a name, if any is so much like it that it may be
/// meant: differences in case and in word separators count least, then few letters that are
/// wrong, missing, or change places. Of several, the first in the order of the alphabet.
pub fn similar<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |s: &str| s.to_lowercase().replace(['_', '-', ' '], "");
    let wanted = plain(name);
    let letters = name.chars().count();
    // Short names are like too many others.
    let most = match letters {
        0 | 1 => 0,
        2..=4 => 1,
        n => n / 3,
    };
    let sorted = |s: &str| {
        let mut letters: Vec<char> = s.chars().collect();
        letters.sort_unstable();
        letters
    };
    let distance = |c: &str| {
        if plain(c) == wanted && !wanted.is_empty() {
            return 0;
        }
        strsim::damerau_levenshtein(name, c)
    };
    candidates
        .into_iter()
        .filter(|c| *c != name)
        .map(|c| (distance(c), c))
        // Nothing of a name is left where all letters differ.
        .filter(|(d, c)| *d <= most && *d < c.chars().count().max(letters))
        // Letters in another order are a slip rather than another letter is.
        .min_by_key(|(d, c)| (*d, sorted(c) != sorted(name), *c))
        .map(|(_, c)| c)
}

/// The question about the most similar candidate, as the help of a diagnostic.
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<Help> {
    similar(name, candidates).map(|c| Help::Similar(c.into()))
}

#[cfg(test)]
mod tests {
    use super::similar;

    #[test]
    fn slips_are_found_and_other_names_are_not() {
        let known = [
            "append", "extend", "insert", "pp1", "pop", "readLine", "x", "index",
        ];
        let pairs = [
            ("apend", Some("append")),
            ("appned", Some("append")),
            ("read_line", Some("readLine")),
            ("Extend", Some("extend")),
            ("indx", Some("index")),
            ("y", None),
            ("add", None),
            ("push", None),
            ("append", None),
            ("ppo", Some("pop")),
        ];
        for (name, expected) in pairs {
            assert_eq!(similar(name, known), expected, "{name}");
        }
    }
}
