//! Messages on standard input and output.
//!
//! What is no message is answered with an error of the protocol, and what comes next is read:
//! an editor's slip costs one message, not the session.

use std::io::{self, BufRead, Read};
use std::thread::{self, JoinHandle};

use crossbeam_channel::unbounded;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use serde_json::{Map, Value, json};

/// No header is longer.
const LONGEST_LINE: u64 = 4 << 10;
/// No message is longer.
const LONGEST_MESSAGE: usize = 1 << 30;

const LENGTH: &str = "content-length:";

/// The threads that read and write.
pub(crate) struct Threads {
    reader: JoinHandle<io::Result<()>>,
    writer: JoinHandle<io::Result<()>>,
}

/// The method of the message that ends the writer. It is not written.
const END: &str = "$/taipan/end";

impl Threads {
    /// Waits until everything that was said is written. Workers may still work, and what they say
    /// is lost.
    pub(crate) fn finish(self, connection: &Connection) -> Result<(), crate::Error> {
        let end = Notification::new(END.to_owned(), Value::Null);
        connection.sender.send(end.into())?;
        for thread in [self.reader, self.writer] {
            match thread.join() {
                Ok(result) => result?,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(())
    }
}

/// A connection to whoever started this process.
pub(crate) fn stdio() -> io::Result<(Connection, Threads)> {
    let (to_client, outgoing) = unbounded::<Message>();
    let (incoming, from_client) = unbounded();
    let writer = thread::Builder::new().name("taipan writer".to_owned());
    let writer = writer.spawn(move || {
        let is_end = |m: &Message| matches!(m, Message::Notification(n) if n.method == END);
        (outgoing.into_iter().take_while(|m| !is_end(m)))
            .try_for_each(|m| m.write(&mut io::stdout().lock()))
    })?;
    let reader = thread::Builder::new().name("taipan reader".to_owned());
    let reader = reader.spawn(move || {
        let mut input = io::stdin().lock();
        while let Some(text) = next_text(&mut input)? {
            let message = text.and_then(|text| parse(&text));
            match message {
                Ok(message) => {
                    let is_exit =
                        matches!(&message, Message::Notification(n) if n.method == "exit");
                    if incoming.send(message).is_err() || is_exit {
                        break;
                    }
                }
                Err(refused) => refused.tell()?,
            }
        }
        Ok(())
    })?;
    let connection = Connection {
        sender: to_client,
        receiver: from_client,
    };
    Ok((connection, Threads { reader, writer }))
}

/// Something that is no message.
#[derive(Debug, PartialEq)]
struct Refused {
    /// Of what seems to be a request.
    id: Value,
    code: i32,
    why: String,
}

impl Refused {
    fn unreadable(why: impl ToString) -> Refused {
        Refused {
            id: Value::Null,
            code: ErrorCode::ParseError as i32,
            why: why.to_string(),
        }
    }

    fn invalid(id: Option<&Value>, why: &str) -> Refused {
        let is_id = |id: &&Value| id.is_string() || id.is_number();
        Refused {
            id: id.filter(is_id).cloned().unwrap_or_default(),
            code: ErrorCode::InvalidRequest as i32,
            why: why.to_owned(),
        }
    }

    /// Answers it. (A [`Response`] cannot say that it is about nothing in particular.)
    fn tell(self) -> io::Result<()> {
        let error = json!({"code": self.code, "message": self.why});
        let text = json!({"jsonrpc": "2.0", "id": self.id, "error": error}).to_string();
        let mut out = io::stdout().lock();
        io::Write::write_all(
            &mut out,
            format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes(),
        )?;
        io::Write::flush(&mut out)
    }
}

/// The text of the next message; none at the end of the input. What stands in front of the
/// headers of a message and is no header is refused as one.
fn next_text(input: &mut impl BufRead) -> io::Result<Option<Result<String, Refused>>> {
    let mut length = None;
    let mut garbage = false;
    loop {
        let mut line = Vec::new();
        if input.take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line).to_ascii_lowercase();
        let line = line.trim_end();
        if let Some(at) = line.find(LENGTH) {
            let number = line[at + LENGTH.len()..].trim().parse::<usize>();
            length = number.ok().filter(|n| *n <= LONGEST_MESSAGE);
            garbage |= at > 0 || length.is_none();
        } else if line.is_empty() {
            match length {
                Some(length) if !garbage => return body(input, length),
                // The body is there, whatever was in front of it.
                Some(length) => {
                    return Ok(body(input, length)?.map(|_| Err(no_headers())));
                }
                None if garbage => return Ok(Some(Err(no_headers()))),
                // Empty lines between messages do no harm.
                None => {}
            }
        } else {
            garbage |= !line.contains(": ");
        }
    }
}

fn no_headers() -> Refused {
    Refused::unreadable("the headers of a message are wanted: Content-Length, an empty line")
}

fn body(input: &mut impl BufRead, length: usize) -> io::Result<Option<Result<String, Refused>>> {
    let mut bytes = Vec::new();
    if input.take(length as u64).read_to_end(&mut bytes)? < length {
        return Ok(None);
    }
    Ok(Some(String::from_utf8(bytes).map_err(Refused::unreadable)))
}

fn parse(text: &str) -> Result<Message, Refused> {
    match serde_json::from_str(text).map_err(Refused::unreadable)? {
        Value::Object(members) => message(members),
        _ => Err(Refused::invalid(None, "a message is an object")),
    }
}

fn message(mut members: Map<String, Value>) -> Result<Message, Refused> {
    let id = members.get("id");
    let method = members.get("method").and_then(Value::as_str);
    let Some(method) = method.map(str::to_owned) else {
        let is_response = members.contains_key("result") || members.contains_key("error");
        let response = serde_json::from_value::<Response>(Value::Object(members.clone()));
        return match response {
            Ok(response) if is_response => Ok(response.into()),
            _ => Err(Refused::invalid(id, "neither a request nor an answer")),
        };
    };
    let known = match id {
        None => None,
        Some(Value::String(id)) => Some(RequestId::from(id.clone())),
        Some(id) => match id.as_i64().and_then(|n| i32::try_from(n).ok()) {
            Some(n) => Some(RequestId::from(n)),
            None => {
                let why = "the id of a request is a text or an integer of 32 bits";
                return Err(Refused::invalid(Some(id), why));
            }
        },
    };
    let params = members.remove("params").unwrap_or_default();
    Ok(match known {
        Some(id) => Request { id, method, params }.into(),
        None => Notification { method, params }.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read of an input: methods, ids of answers, codes of errors.
    fn read(input: &str) -> Vec<String> {
        let mut input = input.as_bytes();
        let mut out = Vec::new();
        while let Some(text) = next_text(&mut input).unwrap() {
            out.push(match text.and_then(|text| parse(&text)) {
                Ok(Message::Request(r)) => format!("{} {}", r.method, r.id),
                Ok(Message::Notification(n)) => n.method,
                Ok(Message::Response(r)) => format!("answer {}", r.id),
                Err(e) => format!("{} {}", e.code, e.id),
            });
        }
        out
    }

    fn framed(text: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{text}", text.len())
    }

    #[test]
    fn what_follows_a_broken_message_is_read() {
        let good = framed(r#"{"jsonrpc": "2.0", "method": "m"}"#);
        for (bad, told) in [
            (framed("{"), "-32700 null"),
            (framed("[]"), "-32600 null"),
            (framed("{}"), "-32600 null"),
            (framed(r#"{"id": 7}"#), "-32600 7"),
            (framed(r#"{"id": 1.5, "method": "m"}"#), "-32600 1.5"),
            (
                framed(r#"{"id": 4294967296, "method": "m"}"#),
                "-32600 4294967296",
            ),
            (framed(r#"{"id": null, "method": "m"}"#), "-32600 null"),
            (framed(r#"{"id": 7, "method": 8}"#), "-32600 7"),
            ("Content-Length: many\r\n\r\n".to_owned(), "-32700 null"),
            ("nonsense\r\n\r\n".to_owned(), "-32700 null"),
            (format!("nonsense\r\n{good}"), "-32700 null"),
            (format!("nonsense {good}"), "-32700 null"),
            (
                "Content-Length: 99999999999\r\n\r\n".to_owned(),
                "-32700 null",
            ),
        ] {
            assert_eq!(read(&format!("{bad}{good}")), [told, "m"], "{bad}");
        }
    }

    #[test]
    fn messages_are_told_apart() {
        let texts = [
            r#"{"id": 1, "method": "m", "params": {}}"#,
            r#"{"id": "a", "method": "m"}"#,
            r#"{"method": "m", "params": [1]}"#,
            r#"{"id": 3, "result": null}"#,
            r#"{"id": 4, "error": {"code": 1, "message": "no"}}"#,
        ];
        let input: String = texts.iter().map(|t| framed(t)).collect();
        assert_eq!(
            read(&input),
            ["m 1", "m \"a\"", "m", "answer 3", "answer 4"]
        );
        let other = format!(
            "content-length: 14\r\nContent-Type: utf-8\r\n\r\n{}{}",
            r#"{"method":"m"}"#, "Content-Length: 20\r\n\r\n{"
        );
        assert_eq!(read(&other), ["m"]);
    }
}
