//! `-k` and `-m`: expressions over names, as pytest has them.
//!
//! ```text
//! expression: conjunction ("or" conjunction)*
//! conjunction: negation ("and" negation)*
//! negation: "not" negation | "(" expression ")" | NAME
//! ```
//!
//! A name holds for a test if it is a part of one of the test's names (file, class,
//! function with its parameters, marks), whatever the case of letters. Of `-m` it is the name of a mark.

/// A parsed expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Selection {
    /// A name.
    Name(String),
    /// `not`
    Not(Box<Selection>),
    /// `and`
    And(Vec<Selection>),
    /// `or`
    Or(Vec<Selection>),
}

impl Selection {
    /// Parses an expression; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Selection, String> {
        let tokens = tokens(text)?;
        let mut parser = Parser {
            tokens: &tokens,
            depth: 0,
        };
        let parsed = parser.expression()?;
        match parser.tokens.first() {
            None => Ok(parsed),
            Some(t) => Err(format!("unexpected `{t}`")),
        }
    }

    /// Whether it holds for something with these names.
    pub fn matches(&self, names: &[&str]) -> bool {
        self.is_true(&|n| {
            let n = n.to_lowercase();
            names.iter().any(|name| name.to_lowercase().contains(&n))
        })
    }

    /// Whether it holds for something with these marks.
    pub fn holds_for(&self, marks: &[String]) -> bool {
        self.is_true(&|n| marks.iter().any(|m| m == n))
    }

    fn is_true(&self, name: &dyn Fn(&str) -> bool) -> bool {
        match self {
            Selection::Name(n) => name(n),
            Selection::Not(s) => !s.is_true(name),
            Selection::And(all) => all.iter().all(|s| s.is_true(name)),
            Selection::Or(all) => all.iter().any(|s| s.is_true(name)),
        }
    }
}

fn tokens(text: &str) -> Result<Vec<&str>, String> {
    let is_name = |c: char| c.is_alphanumeric() || "_:+-.[]\\/".contains(c);
    let mut out = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let len = match first {
            '(' | ')' => 1,
            c if is_name(c) => rest.find(|c| !is_name(c)).unwrap_or(rest.len()),
            c => return Err(format!("unexpected character `{c}`")),
        };
        out.push(&rest[..len]);
        rest = rest[len..].trim_start();
    }
    Ok(out)
}

struct Parser<'a> {
    tokens: &'a [&'a str],
    depth: u32,
}

impl<'a> Parser<'a> {
    fn accept(&mut self, token: &str) -> bool {
        match self.tokens.split_first() {
            Some((first, rest)) if *first == token => {
                self.tokens = rest;
                true
            }
            _ => false,
        }
    }

    fn expression(&mut self) -> Result<Selection, String> {
        let mut all = vec![self.conjunction()?];
        while self.accept("or") {
            all.push(self.conjunction()?);
        }
        Ok(single(all, Selection::Or))
    }

    fn conjunction(&mut self) -> Result<Selection, String> {
        let mut all = vec![self.negation()?];
        while self.accept("and") {
            all.push(self.negation()?);
        }
        Ok(single(all, Selection::And))
    }

    fn negation(&mut self) -> Result<Selection, String> {
        self.depth += 1;
        if self.depth > 500 {
            return Err("nested too deeply".to_owned());
        }
        let result = if self.accept("not") {
            Ok(Selection::Not(Box::new(self.negation()?)))
        } else if self.accept("(") {
            let inner = self.expression()?;
            match self.accept(")") {
                true => Ok(inner),
                false => Err("`)` is missing".to_owned()),
            }
        } else {
            match self.tokens.split_first() {
                Some((name, rest)) if !matches!(*name, "and" | "or" | ")") => {
                    self.tokens = rest;
                    Ok(Selection::Name((*name).to_owned()))
                }
                Some((t, _)) => Err(format!("a name is missing before `{t}`")),
                None => Err("a name is missing at the end".to_owned()),
            }
        };
        self.depth -= 1;
        result
    }
}

fn single(mut all: Vec<Selection>, make: fn(Vec<Selection>) -> Selection) -> Selection {
    match (all.len(), all.pop()) {
        (1, Some(one)) => one,
        (_, last) => {
            all.extend(last);
            make(all)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_whole_names() {
        let marks = ["slow".to_owned(), "net".to_owned()];
        let holds = |text: &str| Selection::parse(text).unwrap().holds_for(&marks);
        assert!(holds("slow and not gpu"));
        assert!(!holds("slo"));
        assert!(!holds("Slow"));
        assert!(holds("gpu or (net and slow)"));
    }

    fn holds(expression: &str, names: &[&str]) -> bool {
        Selection::parse(expression).unwrap().matches(names)
    }

    #[test]
    fn names_are_parts_of_names() {
        let names = ["test_vm.py", "TestLoop", "test_add[1-2]", "slow"];
        for (expression, expected) in [
            ("add", true),
            ("ADD", true),
            ("loop", true),
            ("vm.py", true),
            ("[1-2]", true),
            ("sub", false),
            ("add and loop", true),
            ("add and sub", false),
            ("add or sub", true),
            ("not sub", true),
            ("not not add", true),
            ("add and not slow", false),
            ("sub or add and loop", true),
            ("(sub or add) and not loop", false),
            ("not (sub or div)", true),
            // A word that only begins like an operator is a name.
            ("order or nothing or android", false),
        ] {
            assert_eq!(holds(expression, &names), expected, "{expression}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (expression, message) in [
            ("", "a name is missing at the end"),
            ("a and", "a name is missing at the end"),
            ("and a", "a name is missing before `and`"),
            ("(a", "`)` is missing"),
            ("a)", "unexpected `)`"),
            ("a b", "unexpected `b`"),
            ("a == b", "unexpected character `=`"),
            (&"not ".repeat(600), "nested too deeply"),
        ] {
            assert_eq!(Selection::parse(expression), Err(message.to_owned()));
        }
    }
}
