//! Failures in words.

use taipan_base::Severity;

use crate::report::{Comparison, Explanation, TestFailure};
use taipan_driver::{Literal, parse_literal};

/// Longest value that stands in a line; what is longer is cut in the middle.
const LONGEST: usize = 240;

impl TestFailure {
    /// What went wrong, in a line.
    pub fn headline(&self) -> String {
        match self {
            TestFailure::Assertion(e) => match &e.message {
                Some(m) => format!("AssertionError: {}", first_line(m)),
                None => e.statement(),
            },
            TestFailure::Said(text) => format!("Failed: {}", first_line(text)),
            TestFailure::Exception { class, text } => match first_line(text) {
                "" => class.clone(),
                text => format!("{class}: {text}"),
            },
            TestFailure::Ended(how) => how.clone(),
            TestFailure::TimedOut(after) => {
                format!("Timeout: no end after {} s", after.as_secs_f64())
            }
            TestFailure::NotCompiled(problems) => {
                let first = problems
                    .iter()
                    .find(|d| d.severity == Severity::Error)
                    .or(problems.first());
                first.map_or_else(
                    || "it cannot be compiled".to_owned(),
                    |d| format!("[{}] {}", d.code, d.message),
                )
            }
            TestFailure::NotRun(why) => first_line(why).to_owned(),
        }
    }

    /// All that there is to say, line by line. Diagnostics of a test that cannot be
    /// compiled are left to who can show their places.
    pub fn lines(&self) -> Vec<String> {
        match self {
            TestFailure::Assertion(e) => e.lines(),
            TestFailure::Said(text) => prefixed("Failed: ", text),
            TestFailure::Exception { class, text } if !text.is_empty() => {
                prefixed(&format!("{class}: "), text)
            }
            TestFailure::NotRun(why) => why.lines().map(str::to_owned).collect(),
            other => vec![other.headline()],
        }
    }
}

impl Explanation {
    /// `assert 3 == 4`
    fn statement(&self) -> String {
        match (&self.comparison, &self.value) {
            (Some(c), _) => format!("assert {} {} {}", cut(&c.left), c.operator, cut(&c.right)),
            (None, Some(v)) if self.expression.starts_with("not ") => {
                format!("assert not {}", cut(v))
            }
            (None, Some(v)) => format!("assert {}", cut(v)),
            (None, None) => format!("assert {}", self.expression),
        }
    }

    fn lines(&self) -> Vec<String> {
        let mut out = match &self.message {
            Some(m) => prefixed("AssertionError: ", m),
            None => Vec::new(),
        };
        out.push(self.statement());
        let mut where_ = |value: &str, source: &str| {
            if value != source {
                out.push(format!(" +  where {} = {source}", cut(value)));
            }
        };
        if let Some(c) = &self.comparison {
            for (value, source) in [(&c.left, &c.left_source), (&c.right, &c.right_source)] {
                if let Some(source) = source {
                    where_(value, source);
                }
            }
        } else if let Some(v) = &self.value {
            let source = self.expression.strip_prefix("not ");
            where_(v, source.unwrap_or(&self.expression));
        }
        for (name, value) in &self.variables {
            where_(value, name);
        }
        if let Some(c) = &self.comparison {
            out.extend(c.differences().into_iter().map(|l| format!("  {l}")));
        }
        out
    }
}

impl Comparison {
    /// Where two strings, lists, tuples or dicts differ, for `==`.
    fn differences(&self) -> Vec<String> {
        if self.operator != "==" {
            return Vec::new();
        }
        if let (Some(left), Some(right)) = (string(&self.left), string(&self.right)) {
            return text_differences(&left, &right);
        }
        for brackets in [('[', ']'), ('(', ')')] {
            let (left, right) = (items(&self.left, brackets), items(&self.right, brackets));
            if let (Some(left), Some(right)) = (left, right) {
                return item_differences(&left, &right);
            }
        }
        match (entries(&self.left), entries(&self.right)) {
            (Some(left), Some(right)) => entry_differences(&left, &right),
            _ => Vec::new(),
        }
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("")
}

fn prefixed(prefix: &str, text: &str) -> Vec<String> {
    let mut lines = text.lines();
    let mut out = vec![format!("{prefix}{}", lines.next().unwrap_or(""))];
    out.extend(lines.map(str::to_owned));
    out
}

/// A value without the middle of what is too long.
fn cut(value: &str) -> String {
    let n = value.chars().count();
    if n <= LONGEST {
        return value.to_owned();
    }
    let head: String = value.chars().take(LONGEST / 2).collect();
    let tail: String = value.chars().skip(n - LONGEST / 2).collect();
    format!("{head}...{tail}")
}

/// The text that a shown value is, if it is a string.
fn string(shown: &str) -> Option<String> {
    if !shown.starts_with(['\'', '"']) {
        return None;
    }
    match parse_literal(shown) {
        Literal::Str(s) => Some(String::from_utf8_lossy(&s).into_owned()),
        _ => None,
    }
}

/// Lines of both, marked: `-` what was expected (on the right), `+` what there is.
fn text_differences(left: &str, right: &str) -> Vec<String> {
    let many = left.contains('\n') || right.contains('\n');
    if !many && left.len().max(right.len()) < 8 {
        // The values themselves say it all.
        return Vec::new();
    }
    let diff = similar::TextDiff::from_lines(right, left);
    let mut out = Vec::new();
    for group in diff.grouped_ops(2) {
        if !out.is_empty() {
            out.push("...".to_owned());
        }
        for op in group {
            for change in diff.iter_changes(&op) {
                let mark = match change.tag() {
                    similar::ChangeTag::Delete => '-',
                    similar::ChangeTag::Insert => '+',
                    similar::ChangeTag::Equal => ' ',
                };
                let line = change.value().trim_end_matches('\n');
                out.push(format!("{mark} {}", cut(line)).trim_end().to_owned());
            }
        }
    }
    out
}

/// The items of a shown list or tuple.
fn items(shown: &str, (open, close): (char, char)) -> Option<Vec<&str>> {
    let inner = shown.strip_prefix(open)?.strip_suffix(close)?;
    let mut all = parts(inner, ',');
    // The comma of a tuple with one item ends it; an empty one has no items.
    all.pop_if(|last| last.is_empty());
    Some(all)
}

/// The keys and values of a shown dict.
fn entries(shown: &str) -> Option<Vec<(&str, &str)>> {
    let inner = shown.strip_prefix('{')?.strip_suffix('}')?;
    let mut all = parts(inner, ',');
    all.pop_if(|last| last.is_empty());
    // Entries of a set have no value.
    all.into_iter().map(entry).collect()
}

/// The key and the value of an entry.
fn entry(shown: &str) -> Option<(&str, &str)> {
    let key = match parts(shown, ':')[..] {
        [key, _, ..] => key.len(),
        _ => return None,
    };
    let (key, rest) = shown.split_at(key);
    Some((key, rest.trim_start().strip_prefix(':')?.trim()))
}

/// The parts of a shown value between separators that stand in no brackets and no string.
fn parts(inner: &str, separator: char) -> Vec<&str> {
    let mut out = Vec::new();
    let (mut depth, mut quote, mut start) = (0, None, 0);
    let mut chars = inner.char_indices();
    while let Some((i, c)) = chars.next() {
        match (quote, c) {
            (Some(_), '\\') => {
                chars.next();
            }
            (Some(q), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '[' | '(' | '{' | '<') => depth += 1,
            (None, ']' | ')' | '}' | '>') => depth -= 1,
            (None, c) if depth == 0 && c == separator => {
                out.push(inner[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    out.push(inner[start..].trim());
    out
}

/// Differences of dicts, by keys.
fn entry_differences(left: &[(&str, &str)], right: &[(&str, &str)]) -> Vec<String> {
    let value = |of: &[(&str, &str)], key: &str| -> Option<String> {
        let found = of.iter().find(|(k, _)| *k == key);
        found.map(|(_, v)| (*v).to_owned())
    };
    let mut out = Vec::new();
    let (mut same, mut other) = (0, Vec::new());
    for (key, v) in left {
        match value(right, key) {
            Some(w) if w == *v => same += 1,
            Some(w) => other.push(format!("{{{key}: {}}} != {{{key}: {}}}", cut(v), cut(&w))),
            None => {}
        }
    }
    match same {
        0 => {}
        1 => out.push("1 item is the same on both sides".to_owned()),
        n => out.push(format!("{n} items are the same on both sides")),
    }
    if !other.is_empty() {
        out.push("Differing items:".to_owned());
        out.extend(other);
    }
    for (side, these, others) in [("Left", left, right), ("Right", right, left)] {
        let more: Vec<String> = (these.iter())
            .filter(|(key, _)| value(others, key).is_none())
            .map(|(key, v)| format!("{{{key}: {}}}", cut(v)))
            .collect();
        match more.len() {
            0 => continue,
            1 => out.push(format!("{side} contains 1 more item:")),
            n => out.push(format!("{side} contains {n} more items:")),
        }
        out.extend(more);
    }
    out
}

fn item_differences(left: &[&str], right: &[&str]) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(i) = left.iter().zip(right).position(|(a, b)| a != b) {
        out.push(format!(
            "At index {i} diff: {} != {}",
            cut(left[i]),
            cut(right[i])
        ));
    }
    let (side, longer, n) = if left.len() > right.len() {
        ("Left", left, right.len())
    } else {
        ("Right", right, left.len())
    };
    match longer.len() - n {
        0 => {}
        1 => out.push(format!("{side} contains one more item: {}", cut(longer[n]))),
        more => out.push(format!(
            "{side} contains {more} more items, first extra item: {}",
            cut(longer[n])
        )),
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(left: &str, operator: &str, right: &str, expected: Expect) {
        let explanation = Explanation {
            expression: "a == f(b)".to_owned(),
            comparison: Some(Comparison {
                operator: operator.to_owned(),
                left: left.to_owned(),
                right: right.to_owned(),
                left_source: Some("a".to_owned()),
                right_source: None,
            }),
            variables: vec![("b".to_owned(), "[]".to_owned())],
            ..Explanation::default()
        };
        expected.assert_eq(&explanation.lines().join("\n"));
    }

    #[test]
    fn comparisons_are_explained() {
        check(
            "3",
            "==",
            "4",
            expect![[r#"
                assert 3 == 4
                 +  where 3 = a
                 +  where [] = b"#]],
        );
        check(
            "'one\\ntwo\\nthree\\n'",
            "==",
            "'one\\nthree\\nfour\\n'",
            expect![[r#"
                assert 'one\ntwo\nthree\n' == 'one\nthree\nfour\n'
                 +  where 'one\ntwo\nthree\n' = a
                 +  where [] = b
                    one
                  + two
                    three
                  - four"#]],
        );
        check(
            "[1, 'a, b', (2, 3)]",
            "==",
            "[1, 'a, c', (2, 3), <X object>, 5]",
            expect![[r#"
                assert [1, 'a, b', (2, 3)] == [1, 'a, c', (2, 3), <X object>, 5]
                 +  where [1, 'a, b', (2, 3)] = a
                 +  where [] = b
                  At index 1 diff: 'a, b' != 'a, c'
                  Right contains 2 more items, first extra item: <X object>"#]],
        );
        check(
            "(1,)",
            "==",
            "(1, 2)",
            expect![[r#"
                assert (1,) == (1, 2)
                 +  where (1,) = a
                 +  where [] = b
                  Right contains one more item: 2"#]],
        );
        check(
            "{'a:b, c': [1, 2], 2: {'x': 1}, 3: 4, 'only': (1, 2)}",
            "==",
            "{2: {'x': 1}, 'a:b, c': [1, 3], 3: 4, 'b': ':', 'c': 0}",
            expect![[r#"
                assert {'a:b, c': [1, 2], 2: {'x': 1}, 3: 4, 'only': (1, 2)} == {2: {'x': 1}, 'a:b, c': [1, 3], 3: 4, 'b': ':', 'c': 0}
                 +  where {'a:b, c': [1, 2], 2: {'x': 1}, 3: 4, 'only': (1, 2)} = a
                 +  where [] = b
                  2 items are the same on both sides
                  Differing items:
                  {'a:b, c': [1, 2]} != {'a:b, c': [1, 3]}
                  Left contains 1 more item:
                  {'only': (1, 2)}
                  Right contains 2 more items:
                  {'b': ':'}
                  {'c': 0}"#]],
        );
        check(
            "{}",
            "==",
            "{1: 2}",
            expect![[r#"
                assert {} == {1: 2}
                 +  where {} = a
                 +  where [] = b
                  Right contains 1 more item:
                  {1: 2}"#]],
        );
        check(
            "'x'",
            "in",
            "'abc'",
            expect![[r#"
                assert 'x' in 'abc'
                 +  where 'x' = a
                 +  where [] = b"#]],
        );
    }

    #[test]
    fn other_asserts_are_explained() {
        let mut e = Explanation {
            expression: "not f(x)".to_owned(),
            value: Some("True".to_owned()),
            variables: vec![("x".to_owned(), "1".to_owned())],
            ..Explanation::default()
        };
        expect![[r#"
            assert not True
             +  where True = f(x)
             +  where 1 = x"#]]
        .assert_eq(&e.lines().join("\n"));
        e.message = Some("no luck\nat all".to_owned());
        e.value = None;
        expect![[r#"
            AssertionError: no luck
            at all
            assert not f(x)
             +  where 1 = x"#]]
        .assert_eq(&e.lines().join("\n"));
        assert_eq!(
            TestFailure::Assertion(e).headline(),
            "AssertionError: no luck"
        );
    }

    #[test]
    fn long_values_are_cut() {
        assert_eq!(cut(&"é".repeat(300)).chars().count(), LONGEST + 3);
    }
}
