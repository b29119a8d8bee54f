//! Output of gdb's machine interface, one line at a time.
//!
//! ```text
//! 7^done,json="[1]"                        Record::Result  { token: 7, class: "done", .. }
//! *stopped,reason="exited",exit-code="01"  Record::Async   { class: "stopped", .. }
//! ~"text\n"                                Record::Console ("text\n")
//! ```

/// A line of output.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Record {
    /// The result of a command.
    Result {
        /// The number that the command was given.
        token: u64,
        /// `done`, `running`, `error`, `exit` or `connected`.
        class: String,
        /// Its results.
        results: Results,
    },
    /// A change of the program's state (`*`).
    Async {
        /// `stopped` or `running`.
        class: String,
        /// Details.
        results: Results,
    },
    /// Text for the console.
    Console(String),
    /// A notification, the log of gdb, or its prompt.
    Other,
}

/// Names and values.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Results(Vec<(String, Value)>);

impl Results {
    /// The text of that name. None if there is none.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(n, _)| n == name);
        match &found?.1 {
            Value::Text(text) => Some(text),
            Value::Results(_) | Value::List(_) => None,
        }
    }
}

/// A value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Value {
    /// `"..."`
    Text(String),
    /// `{...}`, or a list of results.
    Results(Results),
    /// `[...]`
    List(Vec<Value>),
}

/// Reads a line. None if it is not one of the machine interface: then the program itself has written it.
pub(crate) fn parse(line: &[u8]) -> Option<Record> {
    let mut p = Parser { rest: line };
    let token = p.number();
    let kind = p.next()?;
    match kind {
        b'^' => {
            let (class, results) = p.class_and_results()?;
            let token = token.unwrap_or_default();
            Some(Record::Result {
                token,
                class,
                results,
            })
        }
        b'*' => {
            let (class, results) = p.class_and_results()?;
            Some(Record::Async { class, results })
        }
        b'~' => Some(Record::Console(p.string()?)),
        b'=' | b'&' | b'+' | b'@' => Some(Record::Other),
        b'(' if p.rest.starts_with(b"gdb)") => Some(Record::Other),
        _ => None,
    }
}

/// The text as an argument of a command.
pub(crate) fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n"))
}

struct Parser<'a> {
    rest: &'a [u8],
}

impl Parser<'_> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.rest.first() == Some(&byte);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }

    fn word(&mut self, ends: impl Fn(u8) -> bool) -> String {
        let end = self.rest.iter().position(|b| ends(*b));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        String::from_utf8_lossy(word).into_owned()
    }

    fn number(&mut self) -> Option<u64> {
        self.word(|b| !b.is_ascii_digit()).parse().ok()
    }

    fn class_and_results(&mut self) -> Option<(String, Results)> {
        let class = self.word(|b| b == b',');
        let mut results = Results::default();
        while self.take(b',') {
            results.0.push(self.result()?);
        }
        self.rest.is_empty().then_some((class, results))
    }

    fn result(&mut self) -> Option<(String, Value)> {
        let name = self.word(|b| b == b'=');
        let value = self.take(b'=').then(|| self.value())??;
        Some((name, value))
    }

    fn value(&mut self) -> Option<Value> {
        match self.rest.first()? {
            b'"' => self.string().map(Value::Text),
            b'{' => self
                .sequence(b'}', Self::result)
                .map(|r| Value::Results(Results(r))),
            b'[' if matches!(self.rest.get(1), Some(b'"' | b'{' | b'[' | b']')) => {
                self.sequence(b']', Self::value).map(Value::List)
            }
            b'[' => self
                .sequence(b']', Self::result)
                .map(|r| Value::Results(Results(r))),
            _ => None,
        }
    }

    /// The results up to `end`, separated by commas.
    fn sequence<T>(&mut self, end: u8, part: fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        self.next()?;
        let mut out = Vec::new();
        while !self.take(end) {
            if !out.is_empty() && !self.take(b',') {
                return None;
            }
            out.push(part(self)?);
        }
        Some(out)
    }

    /// A string of C's. Bytes that are not ASCII are octal numbers, which together are UTF-8.
    fn string(&mut self) -> Option<String> {
        if !self.take(b'"') {
            return None;
        }
        let mut bytes = Vec::new();
        loop {
            match self.next()? {
                b'"' => return Some(String::from_utf8_lossy(&bytes).into_owned()),
                b'\\' => bytes.push(self.escape()?),
                byte => bytes.push(byte),
            }
        }
    }

    fn escape(&mut self) -> Option<u8> {
        Some(match self.next()? {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'e' => 0x1b,
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'v' => 11,
            digit @ b'0'..=b'7' => {
                let mut code = u32::from(digit - b'0');
                for _ in 0..2 {
                    if let Some(digit @ b'0'..=b'7') = self.rest.first().copied() {
                        code = code * 8 + u32::from(digit - b'0');
                        self.rest = &self.rest[1..];
                    }
                }
                code as u8
            }
            byte => byte,
        })
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn check(line: &str, expected: expect_test::Expect) {
        expected.assert_eq(&format!("{:?}", parse(line.as_bytes())));
    }

    #[test]
    fn results() {
        check(
            r#"12^done,json="{\"a\": \"\303\244\001\n\"}",n="1""#,
            expect![[
                r#"Some(Result { token: 12, class: "done", results: Results([("json", Text("{\"a\": \"ä\u{1}\n\"}")), ("n", Text("1"))]) })"#
            ]],
        );
        check(
            r#"^running"#,
            expect![[r#"Some(Result { token: 0, class: "running", results: Results([]) })"#]],
        );
    }

    #[test]
    fn nested_values() {
        check(
            r#"*stopped,frame={args=[],func="f",of=[a="1",b={}]},groups=["i1",["x"]]"#,
            expect![[
                r#"Some(Async { class: "stopped", results: Results([("frame", Results(Results([("args", List([])), ("func", Text("f")), ("of", Results(Results([("a", Text("1")), ("b", Results(Results([])))])))]))), ("groups", List([Text("i1"), List([Text("x")])]))]) })"#
            ]],
        );
    }

    #[test]
    fn other_lines() {
        check(r#"~"a\tb""#, expect![[r#"Some(Console("a\tb"))"#]]);
        check("(gdb) ", expect!["Some(Other)"]);
        check("=thread-created,id=\"1\"", expect!["Some(Other)"]);
        check("printed by the program", expect!["None"]);
        check("*stopped,reason=", expect!["None"]);
        check(r#"~"no end"#, expect!["None"]);
    }

    #[test]
    fn arguments() {
        expect![[r#""a \"b\" \\ \nc""#]].assert_eq(&quoted("a \"b\" \\ \nc"));
    }
}
