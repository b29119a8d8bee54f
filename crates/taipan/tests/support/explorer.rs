//! `taipan explore` in a process of its own, and who asks it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

/// Loops over numbers, with a driver, classes, and a function in several specialisations.
pub(crate) const MAIN: &str = "\
from rpython.rlib.jit import JitDriver
from shapes import Square, Circle

driver = JitDriver(greens=['pc', 'code'], reds=['acc', 'n'], name='loops')


def double(x):
    return x + x
double._annspecialcase_ = 'specialize:argtype(0)'


def interpret(code, n):
    acc = 0
    pc = 0
    while True:
        driver.jit_merge_point(pc=pc, code=code, acc=acc, n=n)
        if pc >= len(code):
            return acc
        op = code[pc]
        pc += 1
        if op == '+':
            acc += n
        elif op == ']':
            n -= 1
            if n > 0:
                pc = 0
                driver.can_enter_jit(pc=pc, code=code, acc=acc, n=n)


def total(shapes):
    result = 0
    for s in shapes:
        result += s.area()
    return result


def entry_point(argv):
    print interpret('+]', 5000)
    print total([Square(len(argv)), Circle(3)])
    print double(len(argv)), double(argv[0])
    return 0


def target(driver, args):
    return entry_point, None
";

const SHAPES: &str = "\
class Shape(object):
    def area(self):
        return 0


class Square(Shape):
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side * self.side


class Circle(Shape):
    def __init__(self, radius):
        self.radius = radius

    def area(self):
        return 3 * self.radius
";

/// A server on a program in a folder of its own.
pub(crate) struct Explorer {
    child: Child,
    pub(crate) folder: tempfile::TempDir,
    pub(crate) port: u16,
    /// The secret in the address.
    pub(crate) token: String,
}

impl Explorer {
    pub(crate) fn start() -> Explorer {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("main.py"), MAIN).unwrap();
        std::fs::write(folder.path().join("shapes.py"), SHAPES).unwrap();
        Explorer::start_in(folder)
    }

    /// A server on `main.py` of a folder.
    pub(crate) fn start_in(folder: tempfile::TempDir) -> Explorer {
        let mut child = Command::new(env!("CARGO_BIN_EXE_taipan"))
            .args(["explore", "main.py", "--no-cache", "--threads=2"])
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut url).unwrap();
        let rest = url.trim().strip_prefix("http://127.0.0.1:");
        let parts = rest.and_then(|p| p.split_once("/?token="));
        let (port, token) = parts.unwrap_or_else(|| panic!("no address: {url}"));
        Explorer {
            child,
            folder,
            port: port.parse().unwrap(),
            token: token.to_owned(),
        }
    }

    /// The address that it printed, at a place of the page.
    pub(crate) fn url(&self, place: &str) -> String {
        format!(
            "http://127.0.0.1:{}/?token={}{place}",
            self.port, self.token
        )
    }

    /// The cookie of its page.
    pub(crate) fn cookie(&self) -> String {
        format!("taipan-explore-{}={}", self.port, self.token)
    }

    /// A request as its page sends it: status and body.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        http(self.port, method, path, &[("Cookie", &self.cookie())], body)
    }

    /// Changes a file: one text for another.
    pub(crate) fn edit(&self, name: &str, from: &str, to: &str) {
        let path = self.folder.path().join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{from}");
        std::fs::write(path, text.replacen(from, to, 1)).unwrap();
    }

    /// Waits until so many rounds are over, by what the server tells of them.
    pub(crate) fn wait_for(&self, version: u64) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(120)))
            .unwrap();
        let host = format!("127.0.0.1:{}", self.port);
        let cookie = self.cookie();
        write!(
            stream,
            "GET /events HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n"
        )
        .unwrap();
        for line in BufReader::new(stream).lines() {
            let line = line.expect("a round is over within two minutes");
            let Some(data) = line.strip_prefix("data: ") else {
                continue;
            };
            let state: Value = serde_json::from_str(data).unwrap();
            if state["version"].as_u64() >= Some(version) && state["busy"] == false {
                return state;
            }
        }
        panic!("the server has ended");
    }
}

impl Drop for Explorer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One request: status and body.
pub(crate) fn http(
    port: u16,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> (u16, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(120)))
        .unwrap();
    let mut text = format!("{method} {path} HTTP/1.1\r\n");
    let (host, length) = (format!("127.0.0.1:{port}"), body.len().to_string());
    for (name, value) in [("Host", &host), ("Content-Length", &length)] {
        if !headers.iter().any(|(n, _)| *n == name) {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text.push_str(body);
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(answer.read_line(&mut head).unwrap() > 0, "a response");
    }
    let lines = head.lines().map(str::to_ascii_lowercase);
    let mut lengths = lines.filter_map(|l| l.strip_prefix("content-length:")?.trim().parse().ok());
    // Browsers leave connections open.
    let mut body = vec![0; lengths.next().expect("a length")];
    answer.read_exact(&mut body).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, String::from_utf8(body).unwrap())
}
