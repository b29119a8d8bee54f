//! Messages of the Debug Adapter Protocol, as far as this adapter has to do with them.

use std::io::{self, BufRead, Write};

use serde::Deserialize;
use serde_json::{Value, json};

/// The longest message that is read, in bytes.
const LONGEST: usize = 64 << 20;

/// A request of the client.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Request {
    /// Its number.
    pub(crate) seq: i64,
    /// Its name.
    pub(crate) command: String,
    /// Its arguments; null without any.
    #[serde(default)]
    pub(crate) arguments: Value,
}

impl Request {
    /// The arguments as `T`. The error is for the client.
    pub(crate) fn arguments<T: for<'de> Deserialize<'de>>(&self) -> Result<T, String> {
        let arguments = match &self.arguments {
            Value::Null => json!({}),
            given => given.clone(),
        };
        serde_json::from_value(arguments).map_err(|e| format!("{}: {e}", self.command))
    }
}

/// Reads the next request; other messages are skipped. None at the end of the input.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Option<Request>> {
    loop {
        let Some(length) = read_header(input)? else {
            return Ok(None);
        };
        let mut content = vec![0; length];
        input.read_exact(&mut content)?;
        let message: Value = serde_json::from_slice(&content)?;
        if message["type"] == "request" {
            return Ok(Some(serde_json::from_value(message)?));
        }
    }
}

/// The length of the next message. None at the end of the input.
fn read_header(input: &mut impl BufRead) -> io::Result<Option<usize>> {
    let wrong = |text: &str| io::Error::new(io::ErrorKind::InvalidData, text);
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if let Some(number) = line.strip_prefix("Content-Length:") {
            length = number.trim().parse().ok();
        } else if line.is_empty() {
            let length = length.ok_or_else(|| wrong("a message without Content-Length"))?;
            return match length {
                0..=LONGEST => Ok(Some(length)),
                _ => Err(wrong("a message that is too long")),
            };
        }
    }
}

/// Where messages to the client go.
pub(crate) struct Client {
    output: Box<dyn Write>,
    seq: i64,
}

impl Client {
    /// A client that reads `output`.
    pub(crate) fn new(output: Box<dyn Write>) -> Client {
        Client { output, seq: 0 }
    }

    /// Responds to a request: with a body, or with why it failed.
    pub(crate) fn respond(&mut self, request: &Request, outcome: Result<Value, String>) {
        let mut message = json!({
            "type": "response",
            "request_seq": request.seq,
            "command": request.command,
            "success": outcome.is_ok(),
        });
        match outcome {
            Ok(body) => message["body"] = body,
            Err(why) => {
                message["message"] = json!(why);
                message["body"] = json!({"error": {"id": 1, "format": why, "showUser": true}});
            }
        }
        self.send(message);
    }

    /// Reports an event.
    pub(crate) fn event(&mut self, event: &str, body: Value) {
        self.send(json!({"type": "event", "event": event, "body": body}));
    }

    /// Reports output: of the program (`stdout`, `stderr`), or about it (`console`, `important`).
    pub(crate) fn output(&mut self, category: &str, text: &str) {
        if !text.is_empty() {
            self.event("output", json!({"category": category, "output": text}));
        }
    }

    /// A client that has gone reads nothing: the end of its requests ends the session.
    fn send(&mut self, mut message: Value) {
        self.seq += 1;
        message["seq"] = json!(self.seq);
        let content = message.to_string();
        let _ = write!(
            self.output,
            "Content-Length: {}\r\n\r\n{content}",
            content.len()
        );
        let _ = self.output.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(content: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{content}", content.len())
    }

    #[test]
    fn requests_are_read_one_by_one() {
        let text = [
            message(r#"{"seq": 1, "type": "request", "command": "threads"}"#),
            message(r#"{"seq": 2, "type": "response", "command": "runInTerminal"}"#),
            message(
                r#"{"seq": 3, "type": "request", "command": "next", "arguments": {"threadId": 1}}"#,
            ),
        ];
        let text = text.concat();
        let mut input = text.as_bytes();
        let mut names = Vec::new();
        while let Some(request) = read(&mut input).unwrap() {
            names.push((request.seq, request.command));
        }
        assert_eq!(names, [(1, "threads".to_owned()), (3, "next".to_owned())]);
    }

    #[test]
    fn messages_that_are_none_are_errors() {
        for text in [
            "Content-Length: x\r\n\r\n{}",
            "Content-Length: 99999999999\r\n\r\n",
            "\r\n",
            &message("{"),
        ] {
            assert!(read(&mut text.as_bytes()).is_err(), "{text}");
        }
    }
}
