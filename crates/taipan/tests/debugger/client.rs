//! A client of `taipan debug` on the pipes of the real binary.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use libtest_mimic::Failed;
use serde_json::{Value, json};
use tempfile::TempDir;

/// How long a message may take.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Client {
    process: Child,
    messages: Receiver<Value>,
    /// Events that were passed while something else was waited for.
    events: VecDeque<Value>,
    seq: i64,
    folder: TempDir,
    /// Output so far, by category.
    pub(crate) output: Vec<(String, String)>,
}

impl Client {
    /// Starts a session in a folder with these files.
    pub(crate) fn start(files: &[(&str, &str)]) -> Result<Client, Failed> {
        Client::start_with(files, None)
    }

    /// The same with another search path for programs.
    pub(crate) fn start_with(
        files: &[(&str, &str)],
        path: Option<&OsStr>,
    ) -> Result<Client, Failed> {
        let folder = tempfile::tempdir()?;
        for (name, text) in files {
            fs::write(folder.path().join(name), text)?;
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
        if let Some(path) = path {
            command.env("PATH", path);
        }
        let mut process = command
            .arg("debug")
            .current_dir(folder.path())
            .env_remove("DEBUGGED")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = process.stdout.take().ok_or("no pipe")?;
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut client = Client {
            process,
            messages,
            events: VecDeque::new(),
            seq: 0,
            folder,
            output: Vec::new(),
        };
        client.ask("initialize", json!({"adapterID": "taipan"}))?;
        Ok(client)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        // The system's folder may be a link.
        let folder = self.folder.path().canonicalize();
        folder
            .unwrap_or_else(|_| self.folder.path().to_owned())
            .join(name)
    }

    /// Sends a request. Returns its number.
    pub(crate) fn send(&mut self, command: &str, arguments: Value) -> Result<i64, Failed> {
        self.seq += 1;
        let message = json!({
            "seq": self.seq, "type": "request", "command": command, "arguments": arguments,
        });
        let text = message.to_string();
        let input = self.process.stdin.as_mut().ok_or("no pipe")?;
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len())?;
        input.flush()?;
        Ok(self.seq)
    }

    fn next(&mut self, what: &str) -> Result<Value, Failed> {
        let message = self.messages.recv_timeout(PATIENCE);
        let message = message.map_err(|e| format!("{what}: {e}; events: {:?}", self.events))?;
        if message["event"] == "output" {
            let part = |name: &str| {
                message["body"][name]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
            };
            self.output.push((part("category"), part("output")));
        }
        Ok(message)
    }

    /// The response to a request that was sent.
    pub(crate) fn response(&mut self, seq: i64, what: &str) -> Result<Value, Failed> {
        loop {
            let message = self.next(what)?;
            if message["type"] == "response" && message["request_seq"] == seq {
                return Ok(message);
            }
            self.events.push_back(message);
        }
    }

    /// The body of the response to a request; its message if it failed.
    pub(crate) fn try_ask(
        &mut self,
        command: &str,
        arguments: Value,
    ) -> Result<Result<Value, String>, Failed> {
        let seq = self.send(command, arguments)?;
        let response = self.response(seq, command)?;
        Ok(match response["success"].as_bool() {
            Some(true) => Ok(response["body"].clone()),
            _ => Err(response["message"].as_str().unwrap_or_default().to_owned()),
        })
    }

    /// The body of the response to a request that has to succeed.
    pub(crate) fn ask(&mut self, command: &str, arguments: Value) -> Result<Value, Failed> {
        let shown = arguments.to_string();
        let outcome = self.try_ask(command, arguments)?;
        outcome.map_err(|why| format!("{command} {shown}: {why}").into())
    }

    /// The body of the next event of that name.
    pub(crate) fn event(&mut self, name: &str) -> Result<Value, Failed> {
        if let Some(i) = self.events.iter().position(|e| e["event"] == name) {
            return Ok(self
                .events
                .remove(i)
                .map_or(Value::Null, |e| e["body"].clone()));
        }
        loop {
            let message = self.next(name)?;
            if message["event"] == name {
                return Ok(message["body"].clone());
            }
            self.events.push_back(message);
        }
    }

    /// Launches a program, sets breakpoints in a file, and runs. Returns the breakpoints.
    pub(crate) fn launch(
        &mut self,
        arguments: Value,
        file: &str,
        breakpoints: Value,
    ) -> Result<Value, Failed> {
        let seq = self.send("launch", arguments)?;
        let response = self.response(seq, "launch")?;
        if response["success"] != true {
            return Err(format!("launch: {}, {:?}", response["message"], self.output).into());
        }
        self.event("initialized")?;
        let set = self.set(file, breakpoints)?;
        self.ask("configurationDone", json!({}))?;
        Ok(set)
    }

    /// Sets the breakpoints of a file.
    pub(crate) fn set(&mut self, file: &str, breakpoints: Value) -> Result<Value, Failed> {
        let path = self.path(file);
        let arguments = json!({"source": {"path": path}, "breakpoints": breakpoints});
        Ok(self.ask("setBreakpoints", arguments)?["breakpoints"].clone())
    }

    /// Waits for a stop. Returns why, and function and line of the innermost frames.
    pub(crate) fn stop(&mut self, frames: usize) -> Result<(Value, Vec<String>), Failed> {
        let why = self.event("stopped")?;
        Ok((why, self.stack(frames)?.into_iter().map(|f| f.1).collect()))
    }

    /// Numbers of the innermost frames, and their functions and lines.
    pub(crate) fn stack(&mut self, frames: usize) -> Result<Vec<(i64, String)>, Failed> {
        let arguments = json!({"threadId": 1, "startFrame": 0, "levels": frames});
        let trace = self.ask("stackTrace", arguments)?;
        let found = trace["stackFrames"].as_array().cloned().unwrap_or_default();
        Ok((found.iter())
            .map(|f| {
                let id = f["id"].as_i64().unwrap_or_default();
                let name = f["name"].as_str().unwrap_or_default();
                (id, format!("{name}:{}", f["line"]))
            })
            .collect())
    }

    /// The variables of a frame.
    pub(crate) fn variables(&mut self, frame: i64) -> Result<Vec<Value>, Failed> {
        let scopes = self.ask("scopes", json!({"frameId": frame}))?;
        let scope = scopes["scopes"][0]["variablesReference"].clone();
        self.children(&scope)
    }

    /// The parts of a value.
    pub(crate) fn children(&mut self, number: &Value) -> Result<Vec<Value>, Failed> {
        let found = self.ask("variables", json!({"variablesReference": number}))?;
        Ok(found["variables"].as_array().cloned().unwrap_or_default())
    }

    /// The value of an expression in the innermost frame, or the error message.
    pub(crate) fn value(&mut self, expression: &str) -> Result<String, Failed> {
        let frame = self.stack(1)?[0].0;
        let arguments = json!({"expression": expression, "frameId": frame, "context": "watch"});
        let found = self.try_ask("evaluate", arguments)?;
        Ok(found.map_or_else(
            |why| format!("error: {why}"),
            |body| body["result"].as_str().unwrap_or_default().to_owned(),
        ))
    }

    /// The output of a category.
    pub(crate) fn printed(&self, category: &str) -> String {
        let of = self.output.iter().filter(|(c, _)| c == category);
        of.map(|(_, text)| text.as_str()).collect()
    }

    /// Waits for the end of the program. Returns its exit code.
    pub(crate) fn ended(&mut self) -> Result<Value, Failed> {
        let code = self.event("exited")?["exitCode"].clone();
        self.event("terminated")?;
        Ok(code)
    }

    /// Disconnects. The adapter ends.
    pub(crate) fn disconnect(mut self) -> Result<(), Failed> {
        self.ask("disconnect", json!({}))?;
        match self.process.wait()?.code() {
            Some(0) => Ok(()),
            code => Err(format!("the adapter has ended with {code:?}").into()),
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The process may have ended before.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// `name = value` of variables.
pub(crate) fn shown(variables: &[Value]) -> Vec<String> {
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    let one = |v: &Value| format!("{} = {}", text(&v["name"]), text(&v["value"]));
    variables.iter().map(one).collect()
}

fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(": ") {
            Some((_, number)) => length = number.parse().ok()?,
            None => break,
        }
    }
    let mut content = vec![0; length];
    output.read_exact(&mut content).ok()?;
    serde_json::from_slice(&content).ok()
}

/// A folder that has links to some programs only.
pub(crate) fn only(programs: &[&str], folder: &Path) -> Result<(), Failed> {
    for program in programs {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found = std::env::split_paths(&path)
            .map(|f| f.join(program))
            .find(|p| p.is_file());
        if let Some(found) = found {
            std::os::unix::fs::symlink(found, folder.join(program))?;
        }
    }
    Ok(())
}
