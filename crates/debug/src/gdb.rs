//! gdb as a process that takes commands.

use std::io::{self, BufRead, BufReader, Write};
use std::mem::offset_of;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use serde_json::{Value, json};
use taipan_codegen::GDB_PRINTERS;
use taipan_runtime::state::{State, TRACEBACK_DEPTH};
use taipan_runtime::string::RpyString;
use tempfile::TempDir;

use crate::Event;
use crate::mi;

/// How long gdb may take to end before it is killed.
const PATIENCE: Duration = Duration::from_secs(2);

/// Modules of gdb's Python. The last one imports the others.
const MODULES: [(&str, &str); 4] = [
    ("taipan_printers", GDB_PRINTERS),
    ("taipan_values", include_str!("gdb/taipan_values.py")),
    (
        "taipan_expressions",
        include_str!("gdb/taipan_expressions.py"),
    ),
    ("taipan_debugger", include_str!("gdb/taipan_debugger.py")),
];

/// Settings of gdb that the session relies on, whatever the user's own are.
const SETTINGS: &[&str] = &[
    "set pagination off",
    "set confirm off",
    "set width 0",
    "set debuginfod enabled off",
    // The printers are loaded below.
    "set auto-load python-scripts off",
    // Commands are taken while the program runs.
    "set mi-async on",
    "set breakpoint pending on",
    "set print elements 100",
    // Only the program is debugged, not those that it starts.
    "set detach-on-fork on",
];

/// A gdb that runs.
pub(crate) struct Gdb {
    process: Child,
    /// None once it has been closed.
    input: Option<ChildStdin>,
    token: u64,
    /// Holds the modules.
    _scripts: TempDir,
}

impl Gdb {
    /// Starts gdb on an executable. The error is for the client.
    pub(crate) fn start(executable: &Utf8Path, events: &Sender<Event>) -> Result<Gdb, String> {
        let failed = |e: io::Error| format!("gdb cannot be started: {e}");
        let scripts = write_modules().map_err(failed)?;
        let mut command = Command::new("gdb");
        command.args(["-nx", "-quiet", "-interpreter=mi3"]);
        for setting in SETTINGS {
            command.args(["-iex", setting]);
        }
        let folder = scripts.path().to_string_lossy();
        let import =
            format!("python import sys; sys.path.insert(0, {folder:?}); import taipan_debugger");
        command.args(["-ex", &import]);
        // Arguments of the program pass a shell that is certain to know redirections.
        command.env("SHELL", "/bin/sh").env("LC_ALL", "C.UTF-8");
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        command.arg(executable);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut process = command.spawn().map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => {
                "there is no gdb, which the debugger needs: install the package gdb \
                                        (Debian and Ubuntu: apt-get install gdb)"
                    .to_owned()
            }
            _ => failed(e),
        })?;
        let (input, output) = (process.stdin.take(), process.stdout.take());
        if let Some(output) = output {
            let events = events.clone();
            std::thread::Builder::new()
                .name("gdb".to_owned())
                .spawn(move || read_records(BufReader::new(output), &events))
                .map_err(failed)?;
        }
        Ok(Gdb {
            process,
            input,
            token: 0,
            _scripts: scripts,
        })
    }

    /// Sends a command. Returns the number that its result will have. If gdb has ended, the channel says so.
    pub(crate) fn send(&mut self, command: &str) -> u64 {
        self.token += 1;
        if let Some(input) = &mut self.input {
            let _ = writeln!(input, "{}{command}", self.token);
        }
        self.token
    }

    /// Ends gdb, and with it the program.
    pub(crate) fn end(mut self) {
        self.send("-gdb-exit");
        self.input = None;
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        // The kernel ends what gdb traces with it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The command that calls a function of the modules.
pub(crate) fn call(function: &str, mut arguments: Value) -> String {
    arguments["do"] = json!(function);
    format!("-taipan {}", mi::quoted(&arguments.to_string()))
}

/// Numbers that the modules need of the runtime.
pub(crate) fn layout() -> Value {
    json!({
        "exc_type": offset_of!(State, exc_type),
        "exc_value": offset_of!(State, exc_value),
        "traceback_count": offset_of!(State, traceback_count),
        "traceback": offset_of!(State, traceback),
        "traceback_depth": TRACEBACK_DEPTH,
        "string_length": offset_of!(RpyString, length),
        "string_chars": size_of::<RpyString>(),
    })
}

fn write_modules() -> io::Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("taipan-gdb-").tempdir()?;
    for (name, text) in MODULES {
        std::fs::write(folder.path().join(format!("{name}.py")), text)?;
    }
    Ok(folder)
}

fn read_records(mut output: impl BufRead, events: &Sender<Event>) {
    let mut line = Vec::new();
    while let Ok(1..) = output.read_until(b'\n', &mut line) {
        if let Some(record) = mi::parse(line.trim_ascii_end())
            && events.send(Event::Gdb(record)).is_err()
        {
            return;
        }
        line.clear();
    }
    // The session may have ended first.
    let _ = events.send(Event::GdbEnded);
}
