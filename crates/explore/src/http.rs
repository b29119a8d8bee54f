//! Requests and responses: as much of HTTP as a browser on the same machine needs. Each
//! connection is for one request.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use serde_json::json;

use crate::live::Live;
use crate::pages::page;
use crate::{requests, residual};

/// Why a request has no answer: the status and what there is to say.
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) text: String,
}

impl Refusal {
    pub(crate) fn new(status: u16, text: impl Into<String>) -> Refusal {
        Refusal {
            status,
            text: text.into(),
        }
    }
}

/// The longest request that is read.
const MOST_BYTES: usize = 1 << 20;
/// More headers than this no browser sends.
const MOST_HEADERS: usize = 100;
/// How long a browser may take to say what it wants, or to listen.
const PATIENCE: Duration = Duration::from_secs(30);

/// A request, as far as it matters here.
struct Request {
    method: String,
    url: String,
    host: Option<String>,
    origin: Option<String>,
    body: String,
}

impl Request {
    /// Reads a request. None if it ends too early.
    fn read(stream: &mut impl Read) -> Result<Option<Request>, Refusal> {
        let mut bytes = Vec::new();
        let mut piece = [0; 8192];
        loop {
            let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
            let mut parsed = httparse::Request::new(&mut headers);
            let status = parsed
                .parse(&bytes)
                .map_err(|e| Refusal::new(400, e.to_string()))?;
            if let httparse::Status::Complete(start) = status {
                let header = |name: &str| {
                    let found = parsed
                        .headers
                        .iter()
                        .find(|h| h.name.eq_ignore_ascii_case(name));
                    found.map(|h| String::from_utf8_lossy(h.value).into_owned())
                };
                let length = header("Content-Length").map_or(Ok(0), |l| l.parse::<usize>());
                let length = length.map_err(|e| Refusal::new(400, e.to_string()))?;
                if length > MOST_BYTES {
                    return Err(Refusal::new(413, "that is too much"));
                }
                if bytes.len() >= start + length {
                    return Ok(Some(Request {
                        method: parsed.method.unwrap_or_default().to_owned(),
                        url: parsed.path.unwrap_or_default().to_owned(),
                        host: header("Host"),
                        origin: header("Origin"),
                        body: String::from_utf8_lossy(&bytes[start..start + length]).into_owned(),
                    }));
                }
            } else if bytes.len() > MOST_BYTES {
                return Err(Refusal::new(431, "that is too much"));
            }
            match stream.read(&mut piece) {
                Ok(0) | Err(_) => return Ok(None),
                Ok(n) => bytes.extend_from_slice(&piece[..n]),
            }
        }
    }

    /// Pages of other servers, which a browser may show at the same time, get nothing:
    /// neither by a name of theirs that leads to this machine, nor by requests that they
    /// send.
    fn allowed(&self, port: u16) -> Result<(), Refusal> {
        let ours = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        if !ours.iter().any(|o| self.host.as_ref() == Some(o)) {
            return Err(Refusal::new(403, "this server is for 127.0.0.1 only"));
        }
        match &self.origin {
            Some(origin) if !ours.iter().any(|o| format!("http://{o}") == *origin) => {
                Err(Refusal::new(403, "this server is for its own page only"))
            }
            _ => Ok(()),
        }
    }
}

/// Answers one request. Who does not listen any more is not told.
pub(crate) fn answer(mut stream: TcpStream, live: &Live, port: u16) {
    let _ = stream.set_read_timeout(Some(PATIENCE));
    let _ = stream.set_write_timeout(Some(PATIENCE));
    let request = match Request::read(&mut stream) {
        Ok(Some(request)) => request,
        Ok(None) => return,
        Err(refusal) => {
            let _ = respond_refusal(&mut stream, &refusal);
            return;
        }
    };
    let (path, query) = request.url.split_once('?').unwrap_or((&request.url, ""));
    let answer = request
        .allowed(port)
        .and_then(|()| match (&*request.method, path) {
            ("GET", "/events") => Ok(None),
            ("POST", "/api/residual") => residual::run(live, &request.body).map(Some),
            ("GET", _) if page(path).is_some() => Ok(None),
            ("GET", _) => requests::answer(live, path, &Query::parse(query)).map(Some),
            _ => Err(Refusal::new(405, "this is no way to ask")),
        });
    let _ = match (answer, page(path)) {
        (Ok(Some(value)), _) => respond(&mut stream, 200, "application/json", &value.to_string()),
        (Ok(None), Some((kind, text))) => respond(&mut stream, 200, kind, text),
        (Ok(None), None) => events(&mut stream, live),
        (Err(refusal), _) => respond_refusal(&mut stream, &refusal),
    };
}

/// What every response says of itself: the page asks nobody else, and runs nothing that is
/// not part of it.
const HEAD: &str = "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
    Content-Security-Policy: default-src 'self'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' data:\r\nConnection: close\r\n";

fn respond(out: &mut impl Write, status: u16, kind: &str, text: &str) -> std::io::Result<()> {
    let reason = match status {
        200 => "OK",
        400..500 => "Refused",
        _ => "Failed",
    };
    let head = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{HEAD}\r\n",
        text.len()
    );
    out.write_all(head.as_bytes())?;
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn respond_refusal(out: &mut impl Write, refusal: &Refusal) -> std::io::Result<()> {
    let text = json!({"error": refusal.text}).to_string();
    respond(out, refusal.status, "application/json", &text)
}

/// How often a silent connection is used, so that its end is noticed.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Tells of every round, until nobody listens any more.
fn events(out: &mut impl Write, live: &Live) -> std::io::Result<()> {
    let news = live.listen();
    let mut text = format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{HEAD}\r\n");
    loop {
        out.write_all(text.as_bytes())?;
        out.flush()?;
        text = match news.recv_timeout(HEARTBEAT) {
            Ok(state) => format!("data: {state}\n\n"),
            Err(RecvTimeoutError::Timeout) => ": still here\n\n".to_owned(),
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        };
    }
}

/// What stands behind the question mark.
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    fn parse(text: &str) -> Query {
        let pair = |part: &str| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            (decoded(name), decoded(value))
        };
        Query(
            text.split('&')
                .filter(|p| !p.is_empty())
                .map(pair)
                .collect(),
        )
    }

    pub(crate) fn get(&self, name: &str) -> Result<&str, Refusal> {
        let mut all = self.0.iter();
        let found = all.find(|(n, _)| n == name).map(|(_, v)| &**v);
        found.ok_or_else(|| Refusal::new(400, format!("`{name}` is missing")))
    }

    pub(crate) fn number(&self, name: &str) -> Result<usize, Refusal> {
        let text = self.get(name)?;
        let wrong = |_| Refusal::new(400, format!("`{name}` is no number"));
        text.parse().map_err(wrong)
    }
}

/// Text with `%xx` and `+` resolved.
fn decoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(b) = bytes.next() {
        let hex = |b: Option<u8>| char::from(b?).to_digit(16);
        match b {
            b'+' => out.push(b' '),
            b'%' => match (hex(bytes.next()), hex(bytes.next())) {
                (Some(a), Some(b)) => out.push((a * 16 + b) as u8),
                _ => out.push(b'?'),
            },
            b => out.push(b),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
