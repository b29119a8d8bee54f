//! Kinds of values in words.

use std::borrow::Cow;
use std::fmt;

/// A kind of value in words: `an instance of A`, `None`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Description {
    /// `a` or `an`; none for the name of a single value.
    article: Option<&'static str>,
    /// `instance`
    noun: Cow<'static, str>,
    /// ` of A`
    rest: String,
}

impl Description {
    /// One of a kind whose noun begins with a consonant.
    pub fn a(noun: impl Into<Cow<'static, str>>) -> Description {
        Description {
            article: Some("a"),
            noun: noun.into(),
            rest: String::new(),
        }
    }

    /// One of a kind whose noun begins with a vowel.
    pub fn an(noun: impl Into<Cow<'static, str>>) -> Description {
        Description {
            article: Some("an"),
            ..Description::a(noun)
        }
    }

    /// A single value, by its name.
    pub fn named(name: impl Into<Cow<'static, str>>) -> Description {
        Description {
            article: None,
            ..Description::a(name)
        }
    }

    /// With words behind the noun.
    pub fn with(mut self, rest: impl fmt::Display) -> Description {
        self.rest = format!(" {rest}");
        self
    }

    /// Two of the kind: `two instances of A`.
    pub fn two(&self) -> String {
        match self.article {
            Some(_) => format!("two {}s{}", self.noun, self.rest),
            None => format!("{self} and {self}"),
        }
    }

    /// The kind without the article: `instance of A`. None for a single value.
    pub fn kind(&self) -> Option<String> {
        self.article?;
        Some(format!("{}{}", self.noun, self.rest))
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(article) = self.article {
            write!(f, "{article} ")?;
        }
        write!(f, "{}{}", self.noun, self.rest)
    }
}

#[cfg(test)]
mod tests {
    use super::Description;

    #[test]
    fn one_and_two_of_a_kind() {
        let shown = |d: Description| (d.to_string(), d.two(), d.kind());
        assert_eq!(
            shown(Description::a("weak reference")),
            (
                "a weak reference".into(),
                "two weak references".into(),
                Some("weak reference".into())
            )
        );
        assert_eq!(
            shown(Description::an("instance").with("of A")),
            (
                "an instance of A".into(),
                "two instances of A".into(),
                Some("instance of A".into())
            )
        );
        assert_eq!(
            shown(Description::named("None")),
            ("None".into(), "None and None".into(), None)
        );
    }
}
