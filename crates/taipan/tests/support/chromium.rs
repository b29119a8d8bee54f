//! Chromium without a screen, and pages in it.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

use crate::explorer::http;

/// How long a page may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser that is there.
pub(crate) struct Browser(String);

impl Browser {
    /// The browser, or why there is none.
    pub(crate) fn find() -> Result<Browser, String> {
        let named = std::env::var("TAIPAN_BROWSER");
        let names = match &named {
            Ok(name) => vec![name.as_str()],
            Err(_) => vec!["chromium", "chromium-browser", "google-chrome"],
        };
        for name in &names {
            let found = Command::new(name).arg("--version").output();
            if found.is_ok_and(|o| o.status.success()) {
                return Ok(Browser((*name).to_owned()));
            }
        }
        Err(format!("no browser: there is no {}", names.join(", ")))
    }

    /// A page in a process of its own.
    pub(crate) fn open(&self, url: &str) -> Page {
        let profile = tempfile::tempdir().unwrap();
        let mut child = Command::new(&self.0)
            .args(["--headless=new", "--no-sandbox", "--disable-gpu"])
            .args(["--disable-dev-shm-usage", "--no-first-run"])
            .args(["--remote-debugging-port=0", "--window-size=1500,900"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap()).lines();
        let port = errors.by_ref().find_map(|line| {
            let line = line.ok()?;
            let rest = line.strip_prefix("DevTools listening on ws://127.0.0.1:")?;
            rest.split('/').next()?.parse::<u16>().ok()
        });
        let port = port.expect("the browser listens");
        // It goes on talking.
        std::thread::spawn(move || errors.for_each(drop));
        let (_, pages) = http(port, "GET", "/json/list", &[("Connection", "close")], "");
        let pages: Value = serde_json::from_str(&pages).unwrap();
        let mut pages = pages.as_array().unwrap().iter();
        let page = pages.find(|p| p["type"] == "page").expect("it has a page");
        let address = page["webSocketDebuggerUrl"].as_str().unwrap();
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (socket, _) = tungstenite::client(address, stream).unwrap();
        let mut page = Page {
            child,
            socket,
            last: 0,
            errors: Vec::new(),
            _profile: profile,
        };
        page.call("Runtime.enable", json!({}));
        page.call("Page.enable", json!({}));
        page.prefer("light");
        page.call("Page.navigate", json!({"url": url}));
        page
    }
}

/// A page.
pub(crate) struct Page {
    child: Child,
    socket: WebSocket<TcpStream>,
    last: u64,
    /// Exceptions that nobody caught.
    errors: Vec<String>,
    _profile: tempfile::TempDir,
}

impl Page {
    fn call(&mut self, method: &str, params: Value) -> Value {
        let result = self.try_call(method, params);
        result.unwrap_or_else(|e| panic!("{method}: {e}"))
    }

    /// Calls a method of the browser's. Fails with what the browser says, which between two
    /// pages is that there is nobody to ask.
    fn try_call(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.last += 1;
        let call = json!({"id": self.last, "method": method, "params": params});
        self.socket.send(Message::text(call.to_string())).unwrap();
        loop {
            let Message::Text(text) = self.socket.read().expect("the browser answers") else {
                continue;
            };
            let mut message: Value = serde_json::from_str(&text).unwrap();
            if message["method"] == "Runtime.exceptionThrown" {
                self.errors.push(message["params"].to_string());
            }
            if message["id"] == self.last {
                return match &message["error"] {
                    Value::Null => Ok(message["result"].take()),
                    error => Err(error.to_string()),
                };
            }
        }
    }

    fn evaluate(&mut self, expression: &str) -> Result<Value, String> {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut result = self.try_call("Runtime.evaluate", params)?;
        match &result["exceptionDetails"] {
            Value::Null => Ok(result["result"]["value"].take()),
            wrong => Err(wrong.to_string()),
        }
    }

    /// The value of an expression on the page.
    pub(crate) fn ask(&mut self, expression: &str) -> Value {
        let value = self.evaluate(expression);
        self.check();
        value.unwrap_or_else(|e| panic!("{expression}: {e}"))
    }

    fn check(&self) {
        assert!(self.errors.is_empty(), "{:#?}", self.errors);
    }

    /// Waits until something is true.
    pub(crate) fn wait(&mut self, condition: &str) {
        let start = Instant::now();
        // Between two pages nothing can be asked.
        while self.evaluate(&format!("!!({condition})")) != Ok(json!(true)) {
            self.check();
            if start.elapsed() > PATIENCE {
                let shown = self.evaluate("location.href + '\\n' + document.body.innerText");
                panic!("never: {condition}\n{}", shown.unwrap_or_default());
            }
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Loads the page again.
    pub(crate) fn reload(&mut self) {
        self.ask("window.left = true");
        self.call("Page.reload", json!({}));
        self.wait("!window.left");
    }

    /// The middle of an element, once it is there and in sight.
    fn place(&mut self, selector: &str) -> (f64, f64) {
        let found = format!("document.querySelector({})", json!(selector));
        self.wait(&found);
        let place = self.ask(&format!(
            "(() => {{ const e = {found}; e.scrollIntoView({{block: 'center', inline: 'center'}}); \
             const b = e.getBoundingClientRect(); \
             return [b.left + Math.min(b.width, 200) / 2, b.top + b.height / 2]; }})()"
        ));
        (place[0].as_f64().unwrap(), place[1].as_f64().unwrap())
    }

    fn mouse(&mut self, kind: &str, (x, y): (f64, f64)) {
        let button = if kind == "mouseMoved" { "none" } else { "left" };
        let params = json!({"type": kind, "x": x, "y": y, "button": button, "clickCount": 1});
        self.call("Input.dispatchMouseEvent", params);
    }

    /// Rests the pointer on an element.
    pub(crate) fn hover(&mut self, selector: &str) {
        let place = self.place(selector);
        self.mouse("mouseMoved", (1.0, 1.0));
        self.mouse("mouseMoved", place);
    }

    pub(crate) fn click(&mut self, selector: &str) {
        let place = self.place(selector);
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            self.mouse(kind, place);
        }
    }

    /// Writes into a field.
    pub(crate) fn input(&mut self, selector: &str, text: &str) {
        self.set(selector, text, "input");
    }

    /// Chooses from a list.
    pub(crate) fn choose(&mut self, selector: &str, value: &str) {
        self.set(selector, value, "change");
    }

    fn set(&mut self, selector: &str, value: &str, event: &str) {
        let found = format!("document.querySelector({})", json!(selector));
        self.wait(&found);
        self.ask(&format!(
            "(() => {{ const e = {found}; e.value = {}; \
             e.dispatchEvent(new Event('{event}', {{bubbles: true}})); }})()",
            json!(value)
        ));
    }

    /// Presses a key, by its name in the browser, such as `ArrowDown`.
    pub(crate) fn key(&mut self, name: &str) {
        let code = match name {
            "Tab" => 9,
            "End" => 35,
            "Home" => 36,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            other => panic!("no code of the key {other}"),
        };
        for kind in ["rawKeyDown", "keyUp"] {
            let params = json!({
                "type": kind, "key": name, "code": name, "windowsVirtualKeyCode": code,
            });
            self.call("Input.dispatchKeyEvent", params);
        }
    }

    /// Changes the size of the window.
    pub(crate) fn resize(&mut self, width: u32, height: u32) {
        let size = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
        });
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Has the reader prefer `light` or `dark`.
    pub(crate) fn prefer(&mut self, scheme: &str) {
        let feature = json!({"name": "prefers-color-scheme", "value": scheme});
        self.call("Emulation.setEmulatedMedia", json!({"features": [feature]}));
    }

    /// Keeps a picture of the page, if somebody wants to see it.
    pub(crate) fn picture(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("TAIPAN_SHOTS") else {
            return;
        };
        let path = std::path::Path::new(&folder).join(format!("{name}.png"));
        std::fs::write(path, self.png()).unwrap();
    }

    /// A picture of the page.
    pub(crate) fn png(&mut self) -> Vec<u8> {
        let shot = self.call("Page.captureScreenshot", json!({"format": "png"}));
        base64(shot["data"].as_str().unwrap())
    }
}

/// The bytes that a text in base 64 stands for.
fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text
        .bytes()
        .filter_map(|b| DIGITS.iter().position(|d| *d == b));
    let (mut out, mut bits, mut count) = (Vec::new(), 0, 0);
    for digit in digits {
        bits = bits << 6 | digit as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    out
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
