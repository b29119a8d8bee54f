//! Expressions with how tightly they bind.

/// Precedences of operators.
pub(crate) const NOT: u8 = 0;
pub(crate) const COMPARE: u8 = 1;
pub(crate) const OR: u8 = 2;
pub(crate) const XOR: u8 = 3;
pub(crate) const AND: u8 = 4;
pub(crate) const SHIFT: u8 = 5;
pub(crate) const ADD: u8 = 6;
pub(crate) const MUL: u8 = 7;
pub(crate) const UNARY: u8 = 8;
pub(crate) const ATOM: u8 = 9;

/// An expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Expr {
    pub(crate) text: String,
    /// How tightly its outermost operator binds.
    pub(crate) level: u8,
    /// The opposite, of a truth value.
    negated: Option<String>,
    /// Whether it reads memory that may change.
    pub(crate) reads: bool,
}

impl Expr {
    pub(crate) fn new(text: impl Into<String>, level: u8) -> Expr {
        Expr {
            text: text.into(),
            level,
            negated: None,
            reads: false,
        }
    }

    /// A name, a call or the like.
    pub(crate) fn atom(text: impl Into<String>) -> Expr {
        Expr::new(text, ATOM)
    }

    pub(crate) fn reading(mut self, reads: bool) -> Expr {
        self.reads |= reads;
        self
    }

    /// As an operand of an operator of some level.
    pub(crate) fn under(&self, level: u8) -> String {
        if self.level >= level {
            self.text.clone()
        } else {
            format!("({})", self.text)
        }
    }

    /// `left op right`, for operators that group from the left.
    pub(crate) fn binary(left: &Expr, op: &str, right: &Expr, level: u8) -> Expr {
        let text = format!("{} {op} {}", left.under(level), right.under(level + 1));
        Expr::new(text, level).reading(left.reads || right.reads)
    }

    /// A comparison, with the operator of its opposite if there is one.
    pub(crate) fn compare(left: &Expr, op: &str, right: &Expr, opposite: Option<&str>) -> Expr {
        let with = |op| {
            format!(
                "{} {op} {}",
                left.under(COMPARE + 1),
                right.under(COMPARE + 1)
            )
        };
        Expr {
            text: with(op),
            level: COMPARE,
            negated: opposite.map(with),
            reads: left.reads || right.reads,
        }
    }

    /// The opposite of a truth value.
    pub(crate) fn not(&self) -> Expr {
        let (text, level) = match &self.negated {
            Some(text) if text.starts_with("not ") => (text.clone(), NOT),
            Some(text) => (text.clone(), COMPARE),
            None => (format!("not {}", self.under(COMPARE)), NOT),
        };
        Expr {
            text,
            level,
            negated: Some(self.text.clone()),
            reads: self.reads,
        }
    }

    /// `function(arguments)`
    pub(crate) fn call(function: &str, args: &[&Expr]) -> Expr {
        let texts: Vec<&str> = args.iter().map(|a| a.text.as_str()).collect();
        Expr::atom(format!("{function}({})", texts.join(", ")))
            .reading(args.iter().any(|a| a.reads))
    }

    /// `object.attribute`
    pub(crate) fn attribute(&self, name: &str) -> Expr {
        Expr::atom(format!("{}.{name}", self.under(ATOM))).reading(self.reads)
    }

    /// `object[index]`
    pub(crate) fn item(&self, index: &Expr) -> Expr {
        Expr::atom(format!("{}[{}]", self.under(ATOM), index.text))
            .reading(self.reads || index.reads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parentheses_where_needed() {
        let [a, b, c] = ["a", "b", "c"].map(Expr::atom);
        let sum = Expr::binary(&a, "+", &b, ADD);
        assert_eq!(Expr::binary(&sum, "*", &c, MUL).text, "(a + b) * c");
        assert_eq!(Expr::binary(&c, "-", &sum, ADD).text, "c - (a + b)");
        assert_eq!(Expr::binary(&sum, "-", &c, ADD).text, "a + b - c");
        let less = Expr::compare(&sum, "<", &c, Some(">="));
        assert_eq!(less.not().text, "a + b >= c");
        assert_eq!(less.not().not().text, "a + b < c");
        let less = Expr::compare(&a, "<", &b, None);
        assert_eq!(less.not().text, "not a < b");
        assert_eq!(less.not().not().text, "a < b");
        assert_eq!(
            Expr::call("f", &[&less, &c]).attribute("x").item(&a).text,
            "f(a < b, c).x[a]"
        );
    }
}
