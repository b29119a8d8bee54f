//! Requests and responses: as much of HTTP as a browser on the same machine needs. Each
//! connection is for one request.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use taipan_driver::Database;

use crate::live::Live;
use crate::pages::page;
use crate::pool::{Pool, Size};
use crate::token::Token;
use crate::{Options, requests, residual};

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
/// How long a connection may be silent before its request begins.
const SILENCE: Duration = Duration::from_secs(30);
/// How long one that is silent is looked at before others have their turn.
const GLANCE: Duration = Duration::from_millis(20);
/// How long a browser may take to say what it wants, once it has begun.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long it may take to listen.
const LISTENING: Duration = Duration::from_secs(30);

/// A request, as far as it matters here.
struct Request {
    method: String,
    url: String,
    host: Option<String>,
    origin: Option<String>,
    /// Whose page sends it, as browsers say.
    fetch_site: Option<String>,
    cookies: Option<String>,
    body: String,
}

impl Request {
    /// Reads a request. None if it ends too early.
    fn read(stream: &mut impl Read) -> Result<Option<Request>, Refusal> {
        let mut bytes = Vec::new();
        let mut piece = [0; 8192];
        let end = Instant::now() + PATIENCE;
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
                        fetch_site: header("Sec-Fetch-Site"),
                        cookies: header("Cookie"),
                        body: String::from_utf8_lossy(&bytes[start..start + length]).into_owned(),
                    }));
                }
            } else if bytes.len() > MOST_BYTES {
                return Err(Refusal::new(431, "that is too much"));
            }
            match stream.read(&mut piece) {
                Ok(0) | Err(_) => return Ok(None),
                Ok(_) if Instant::now() > end => return Ok(None),
                Ok(n) => bytes.extend_from_slice(&piece[..n]),
            }
        }
    }

    /// Pages of other servers, which a browser may show at the same time, get nothing:
    /// neither by a name of theirs that leads to this machine, nor by requests that they
    /// send.
    fn is_of_this_page(&self, port: u16) -> Result<(), Refusal> {
        let ours = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        if !ours.iter().any(|o| self.host.as_ref() == Some(o)) {
            return Err(Refusal::new(403, "this server is for 127.0.0.1 only"));
        }
        let foreign = match &self.origin {
            Some(origin) => !ours.iter().any(|o| format!("http://{o}") == *origin),
            None => false,
        };
        // Without this a page of another port of this machine could ask, with the cookie.
        let is_data = self.url.starts_with("/api/") || self.url.starts_with("/events");
        let site = self.fetch_site.as_deref();
        if foreign || is_data && !matches!(site, None | Some("same-origin" | "none")) {
            return Err(Refusal::new(403, "this server is for its own page only"));
        }
        Ok(())
    }
}

/// A connection with what a browser may ask.
pub(crate) struct Connection {
    stream: TcpStream,
    since: Instant,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> Connection {
        Connection {
            stream,
            since: Instant::now(),
        }
    }

    /// Refuses a request that was not even read.
    pub(crate) fn refuse_busy(mut self) {
        let _ = self.stream.set_write_timeout(Some(GLANCE));
        let _ = respond_refusal(&mut self.stream, &busy());
        // The request is read to its end: closing before that would discard the response.
        let _ = self.stream.set_nonblocking(true);
        let _ = self.stream.read(&mut [0; 8192]);
    }
}

fn busy() -> Refusal {
    Refusal::new(503, "too many requests at once: ask again")
}

/// A request that needs the program, and who waits for its answer.
struct Call {
    stream: TcpStream,
    request: Request,
    live: Arc<Live>,
}

/// Everything that answers requests.
pub(crate) struct Desk {
    live: Arc<Live>,
    token: Token,
    port: u16,
    /// For views of the program.
    views: Pool<Call>,
    /// For colors, which take long: views do not wait for them.
    colors: Pool<Call>,
    /// For runs of the program.
    runs: Pool<Call>,
}

const VIEWS: Size = Size {
    threads: 4,
    waiting: 64,
};
const COLORS: Size = Size {
    threads: 1,
    waiting: 16,
};
const RUNS: Size = Size {
    threads: 2,
    waiting: 4,
};

impl Desk {
    /// Starts the first round, and all threads.
    pub(crate) fn new(db: Database, options: Options, port: u16) -> std::io::Result<Desk> {
        Ok(Desk {
            token: Token::new()?,
            port,
            views: Pool::start("view", &VIEWS, carry_out)?,
            colors: Pool::start("colors", &COLORS, carry_out)?,
            runs: Pool::start("run", &RUNS, carry_out)?,
            live: Arc::new(Live::start(db, options)?),
        })
    }

    pub(crate) fn token(&self) -> &str {
        self.token.text()
    }

    /// Reads a request, and answers it or passes it on. Gives back a connection that is silent.
    pub(crate) fn attend(&self, connection: Connection) -> Option<Connection> {
        let mut stream = &connection.stream;
        let _ = stream.set_write_timeout(Some(LISTENING));
        let _ = stream.set_read_timeout(Some(GLANCE));
        match stream.peek(&mut [0]) {
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return (connection.since.elapsed() < SILENCE).then_some(connection);
            }
            Err(_) | Ok(0) => return None,
            Ok(_) => {}
        }
        let _ = stream.set_read_timeout(Some(PATIENCE));
        let refused = match Request::read(&mut stream) {
            Ok(Some(request)) => self.answer(connection.stream, request),
            Ok(None) => Ok(()),
            Err(refusal) => Err((connection.stream, refusal)),
        };
        if let Err((mut stream, refusal)) = refused {
            let _ = respond_refusal(&mut stream, &refusal);
            finish(&stream);
        }
        None
    }

    fn answer(&self, mut stream: TcpStream, request: Request) -> Result<(), (TcpStream, Refusal)> {
        let (path, query) = request.url.split_once('?').unwrap_or((&request.url, ""));
        let is_entry = request.method == "GET" && path == "/" && self.token.is_in_query(query);
        let cookies = request.cookies.as_deref().unwrap_or("");
        let is_known = is_entry || self.token.is_in_cookies(cookies, self.port);
        let refusal = match request.is_of_this_page(self.port) {
            Err(refusal) => refusal,
            Ok(()) if !is_known => Refusal::new(
                403,
                "this server is for the user who started it: open the address that \
                 `taipan explore` printed",
            ),
            Ok(()) => match (&*request.method, path) {
                ("GET", "/events") => {
                    self.live.listen(stream);
                    return Ok(());
                }
                ("GET", _) if page(path).is_some() => {
                    let (kind, text) = page(path).unwrap_or_default();
                    let cookie = is_entry.then(|| self.token.set_cookie(self.port));
                    let cookie = cookie.unwrap_or_default();
                    let _ = respond(&mut stream, 200, kind, &cookie, text);
                    return Ok(());
                }
                ("POST", "/api/residual") => return self.pass_on(&self.runs, stream, request),
                ("GET", "/api/colors") => return self.pass_on(&self.colors, stream, request),
                ("GET", _) => match requests::at_once(&self.live, path) {
                    Some(value) => {
                        let _ = respond_value(&mut stream, value);
                        return Ok(());
                    }
                    None => return self.pass_on(&self.views, stream, request),
                },
                _ => Refusal::new(405, "this is no way to ask"),
            },
        };
        Err((stream, refusal))
    }

    fn pass_on(
        &self,
        to: &Pool<Call>,
        stream: TcpStream,
        request: Request,
    ) -> Result<(), (TcpStream, Refusal)> {
        let call = Call {
            stream,
            request,
            live: self.live.clone(),
        };
        to.offer(call).map_err(|call| (call.stream, busy()))
    }
}

/// Answers a request that needs the program. A closed connection is ignored.
fn carry_out(call: Call) -> Option<Call> {
    let Call {
        mut stream,
        request,
        live,
    } = call;
    let (path, query) = request.url.split_once('?').unwrap_or((&request.url, ""));
    let value = match &*request.method {
        "POST" => residual::run(&live, &request.body),
        _ => requests::answer(&live, path, &Query::parse(query)),
    };
    let _ = respond_value(&mut stream, value);
    None
}

/// Says that nothing else comes, and waits for what the other side still sends: closing with unread
/// bytes would take the response back.
fn finish(stream: &TcpStream) {
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.set_read_timeout(Some(GLANCE));
    let mut rest = Read::take(stream, MOST_BYTES as u64);
    let _ = std::io::copy(&mut rest, &mut std::io::sink());
}

/// What every response says of itself: the page asks nobody else, and runs nothing that is
/// not part of it.
pub(crate) const HEAD: &str = "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
    Content-Security-Policy: default-src 'self'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' data:\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n";

/// Writes a response; `headers` are those beside the usual ones.
fn respond(
    out: &mut impl Write,
    status: u16,
    kind: &str,
    headers: &str,
    text: &str,
) -> std::io::Result<()> {
    let reason = match status {
        200 => "OK",
        400..500 => "Refused",
        _ => "Failed",
    };
    let head = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{headers}{HEAD}\r\n",
        text.len()
    );
    out.write_all(head.as_bytes())?;
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn respond_refusal(out: &mut impl Write, refusal: &Refusal) -> std::io::Result<()> {
    let text = json!({"error": refusal.text}).to_string();
    respond(out, refusal.status, "application/json", "", &text)
}

fn respond_value(out: &mut impl Write, value: Result<Value, Refusal>) -> std::io::Result<()> {
    match value {
        Ok(value) => respond(out, 200, "application/json", "", &value.to_string()),
        Err(refusal) => respond_refusal(out, &refusal),
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
