//! A small language client: starts the real binary and talks to it over its pipes.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longer than anything takes, even on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Client {
    process: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    root: tempfile::TempDir,
    next: i64,
    versions: BTreeMap<String, i64>,
    texts: BTreeMap<String, String>,
    /// Answers that nobody has waited for yet.
    answers: BTreeMap<i64, Value>,
    /// The diagnostics that were published last, by file name.
    pub(crate) diagnostics: BTreeMap<String, Value>,
    /// Notifications other than diagnostics, and requests of the server, in order.
    pub(crate) heard: Vec<Value>,
    /// The answer to `workspace/configuration`.
    pub(crate) settings: Value,
    /// Errors that are about no request in particular.
    refusals: usize,
}

impl Client {
    /// Starts a server in a folder with these files.
    pub(crate) fn start(files: &[(&str, &str)]) -> Client {
        Client::start_with(files, json!({}))
    }

    /// Starts a server and says nothing to it yet.
    pub(crate) fn start_silent(files: &[(&str, &str)]) -> Client {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        // aarch64.rs names another executable.
        let taipan = std::env::var_os("TAIPAN_TESTED");
        let taipan = taipan.unwrap_or_else(|| env!("CARGO_BIN_EXE_taipan").into());
        let mut process = Command::new(taipan)
            .arg("lsp")
            .env("XDG_CACHE_HOME", root.path().join("cache"))
            .env("XDG_CONFIG_HOME", root.path().join("config"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = process.stdin.take();
        let mut stdout = BufReader::new(process.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            while let Some(message) = read(&mut stdout) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Client {
            process,
            stdin,
            messages,
            root,
            next: 0,
            versions: BTreeMap::new(),
            texts: BTreeMap::new(),
            answers: BTreeMap::new(),
            diagnostics: BTreeMap::new(),
            heard: Vec::new(),
            settings: Value::Null,
            refusals: 0,
        }
    }

    /// Starts a server with further members of the `initialize` parameters.
    pub(crate) fn start_with(files: &[(&str, &str)], params: Value) -> Client {
        let mut client = Client::start_silent(files);
        let mut all = json!({
            "processId": null,
            "capabilities": {
                "textDocument": {
                    "publishDiagnostics": {"relatedInformation": true},
                    "hover": {"contentFormat": ["markdown"]},
                },
            },
            "workspaceFolders": [{"uri": client.url(""), "name": "root"}],
        });
        for (key, value) in params.as_object().unwrap() {
            all[key] = value.clone();
        }
        let answer = client.request("initialize", all);
        client.heard.push(answer["capabilities"].clone());
        client.notify("initialized", json!({}));
        client
    }

    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn url(&self, name: &str) -> String {
        format!("file://{}", self.path(name).display())
    }

    /// The name of the file behind a URL.
    fn name(&self, url: &str) -> String {
        let prefix = self.url("");
        url.strip_prefix(&prefix).unwrap_or(url).to_owned()
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn send(&mut self, message: Value) {
        self.send_text(&message.to_string());
    }

    /// Sends a text as if it were a message.
    pub(crate) fn send_text(&mut self, text: &str) {
        self.send_bytes(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    /// Sends anything.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    /// How many errors came that are about no request in particular, since the last call.
    pub(crate) fn set_aside_refusals(&mut self) -> usize {
        std::mem::take(&mut self.refusals)
    }

    /// Sends a request and does not wait for the answer.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.next += 1;
        let id = self.next;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Waits for the answer to a request: the whole message.
    pub(crate) fn answer(&mut self, id: i64) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return answer;
            }
            self.next_message(end).expect("no answer");
        }
    }

    /// Asks and waits for the result; again where the program was still being analysed, as
    /// editors do.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let id = self.ask(method, params.clone());
            let answer = self.answer(id);
            if answer.get("error").is_none() {
                return answer["result"].clone();
            }
            let later = matches!(answer["error"]["code"].as_i64(), Some(-32801 | -32802));
            assert!(later && Instant::now() < end, "{method}: {answer}");
        }
    }

    /// A request about a place: `line:column` of the nth occurrence of a text.
    pub(crate) fn at(&mut self, method: &str, name: &str, wanted: &str, nth: usize) -> Value {
        let params = json!({
            "textDocument": {"uri": self.url(name)},
            "position": self.position(name, wanted, nth),
        });
        self.request(method, params)
    }

    /// The place of the nth occurrence of an ASCII text in an ASCII document.
    pub(crate) fn position(&self, name: &str, wanted: &str, nth: usize) -> Value {
        let text = &self.texts[name];
        let (offset, _) = text.match_indices(wanted).nth(nth).expect(wanted);
        let before = &text[..offset];
        let line = before.matches('\n').count();
        let column = offset - before.rfind('\n').map_or(0, |i| i + 1);
        json!({"line": line, "character": column})
    }

    /// Takes note of one message; none comes before `end`.
    fn next_message(&mut self, end: Instant) -> Option<()> {
        let left = end.saturating_duration_since(Instant::now());
        let message = match self.messages.recv_timeout(left) {
            Ok(m) => m,
            Err(RecvTimeoutError::Timeout) => return None,
            Err(RecvTimeoutError::Disconnected) => panic!("the server ended"),
        };
        match message["method"].as_str() {
            Some("textDocument/publishDiagnostics") => {
                let name = self.name(message["params"]["uri"].as_str().unwrap());
                let found = message["params"]["diagnostics"].clone();
                self.diagnostics.insert(name, found);
            }
            Some(method) => {
                if message.get("id").is_some() {
                    let result = match method {
                        "workspace/configuration" => json!([self.settings]),
                        _ => Value::Null,
                    };
                    self.send(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
                }
                self.heard.push(message.clone());
            }
            None => {
                if let Some(id) = message["id"].as_i64() {
                    let again = self.answers.insert(id, message);
                    assert!(again.is_none(), "answered twice: {again:?}");
                } else if message["id"].is_null() {
                    self.refusals += 1;
                }
            }
        }
        Some(())
    }

    /// Opens a file of the folder as it is on disk.
    pub(crate) fn open(&mut self, name: &str) {
        let text = std::fs::read_to_string(self.path(name)).unwrap();
        self.open_text(name, &text);
    }

    /// Opens a document with some text.
    pub(crate) fn open_text(&mut self, name: &str, text: &str) {
        self.versions.insert(name.to_owned(), 1);
        self.texts.insert(name.to_owned(), text.to_owned());
        let document = json!({
            "uri": self.url(name), "languageId": "python", "version": 1, "text": text,
        });
        self.notify("textDocument/didOpen", json!({"textDocument": document}));
    }

    /// Replaces the nth occurrence of a text in an open document.
    pub(crate) fn replace(&mut self, name: &str, old: &str, nth: usize, new: &str) {
        let (offset, _) = self.texts[name].match_indices(old).nth(nth).expect(old);
        let start = self.position(name, old, nth);
        let text = self.texts.get_mut(name).unwrap();
        text.replace_range(offset..offset + old.len(), new);
        let lines = old.matches('\n').count() as u64;
        let last = old.rsplit('\n').next().unwrap().len() as u64;
        let end = match lines {
            0 => json!({
                "line": start["line"],
                "character": start["character"].as_u64().unwrap() + last,
            }),
            n => json!({"line": start["line"].as_u64().unwrap() + n, "character": last}),
        };
        self.change(
            name,
            json!([{"range": {"start": start, "end": end}, "text": new}]),
        );
    }

    /// Sends changes of a document.
    pub(crate) fn change(&mut self, name: &str, changes: Value) {
        let version = self.versions.get_mut(name).unwrap();
        *version += 1;
        let version = *version;
        self.notify(
            "textDocument/didChange",
            json!({
                "textDocument": {"uri": self.url(name), "version": version},
                "contentChanges": changes,
            }),
        );
    }

    /// Replaces the whole text of an open document.
    pub(crate) fn set_text(&mut self, name: &str, text: &str) {
        self.texts.insert(name.to_owned(), text.to_owned());
        self.change(name, json!([{"text": text}]));
    }

    /// Waits until the diagnostics of a file are as wanted.
    pub(crate) fn wait(&mut self, name: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(d) = self.diagnostics.get(name)
                && wanted(d)
            {
                return d.clone();
            }
            if self.next_message(end).is_none() {
                panic!("{name}: {:?}", self.diagnostics.get(name));
            }
        }
    }

    /// Waits until something holds.
    pub(crate) fn wait_until(
        &mut self,
        wanted: impl Fn(&Client) -> bool,
        what: &dyn std::fmt::Debug,
    ) {
        let end = Instant::now() + PATIENCE;
        while !wanted(self) {
            if self.next_message(end).is_none() {
                panic!("wanted {what:#?}, there is {:#?}", self.diagnostics);
            }
        }
    }

    /// Waits until the diagnostics of a file have these codes.
    pub(crate) fn wait_codes(&mut self, name: &str, codes: &[&str]) -> Value {
        self.wait(name, |d| {
            let found = d.as_array().unwrap().iter();
            found
                .map(|d| d["code"].as_str().unwrap())
                .eq(codes.iter().copied())
        })
    }

    /// Waits until something is known of a variable: the folder has been searched for targets then,
    /// and the program annotated. Returns what is shown of it.
    pub(crate) fn wait_program(&mut self, name: &str, text: &str, skip: usize) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let shown = self.at("textDocument/hover", name, text, skip);
            if !shown.is_null() {
                return shown;
            }
            assert!(Instant::now() < end, "nothing is known of {text:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Opens a document with a text, and waits until something is known of a variable in it.
    pub(crate) fn wait_program_of(&mut self, name: &str, text: &str, variable: &str) {
        self.open_text(name, text);
        self.wait_program(name, variable, 0);
    }

    /// Waits for a message of the server.
    pub(crate) fn wait_heard(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(m) = self.heard.iter().find(|m| wanted(m)) {
                return m.clone();
            }
            self.next_message(end).expect("the server did not say it");
        }
    }

    /// Ends the server as the protocol has it, and sees that it ends well.
    pub(crate) fn stop(mut self) {
        self.request("shutdown", Value::Null);
        self.leave();
    }

    /// Says `exit`, and sees that the server ends well.
    pub(crate) fn leave(mut self) {
        self.notify("exit", Value::Null);
        self.stdin = None;
        let status = self.process.wait().unwrap();
        assert!(status.success(), "{status}");
    }

    /// A value as text, with the folder's name left out.
    pub(crate) fn show(&self, value: &Value) -> String {
        let text = serde_json::to_string_pretty(value).unwrap();
        let root = self.url("");
        text.replace(&root, "")
            .replace(self.path("").to_str().unwrap(), "")
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Only where a test failed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn read(input: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim().split_once(": ") {
            Some(("Content-Length", n)) => length = n.parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
