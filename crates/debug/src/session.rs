//! A session: its state, and its pending requests.

use std::collections::{HashMap, VecDeque};
use std::io::Write;
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::Event;
use crate::gdb::{Gdb, call};
use crate::launch::{Build, Launch, Toolchain};
use crate::mi::{Record, Results};
use crate::output::{Pipe, Stream};
use crate::protocol::{Client, Request};

/// How long gdb may take for a command.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long output of a program that has ended may take to arrive: processes that it has started may still
/// have its streams.
const LAST_OUTPUT: Duration = Duration::from_millis(500);

/// How a line for the client begins on gdb's console (`NOTE` of taipan_debugger.py).
const NOTE: char = '\u{1}';

/// Where the program is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// There is none yet.
    Idle,
    /// The executable is made.
    Building,
    /// gdb has the executable; the client sets breakpoints.
    Loaded,
    /// On its way to the entry point.
    Starting,
    /// It runs.
    Running,
    /// It has stopped.
    Stopped,
    /// It has ended.
    Ended,
}

/// A frame that the client knows by number.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) thread: i64,
    /// Number of calls from the innermost one; negative for a frame that is gone.
    pub(crate) level: i64,
}

/// Which exceptions stop the program.
#[derive(Clone, Copy)]
pub(crate) struct Exceptions {
    pub(crate) raised: bool,
    pub(crate) uncaught: bool,
}

/// A session with one client.
pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) sender: Sender<Event>,
    events: Receiver<Event>,
    /// Events that arrived while something else was waited for.
    pending: VecDeque<Event>,
    pub(crate) toolchain: Toolchain,
    pub(crate) phase: Phase,
    gdb: Option<Gdb>,
    /// The request that started the program, and its arguments.
    pub(crate) launch: Option<(Request, Launch)>,
    pub(crate) build: Option<Build>,
    /// Holds the executable.
    pub(crate) folder: Option<TempDir>,
    /// Where the program writes.
    pub(crate) pipes: Vec<Pipe>,
    /// Number of lines that the client counts from.
    pub(crate) first_line: i64,
    /// Numbers of breakpoints, by file; of those on functions under an empty name.
    pub(crate) breakpoints: HashMap<String, Vec<i64>>,
    pub(crate) last_breakpoint: i64,
    pub(crate) exceptions: Exceptions,
    pub(crate) frames: Vec<Frame>,
    /// The thread that has stopped last.
    pub(crate) thread: i64,
    /// Whether the client wants the program to pause.
    pub(crate) pausing: bool,
    /// The exception that stopped the program: name and text.
    pub(crate) exception: Option<(String, String)>,
}

impl Session {
    pub(crate) fn new(
        output: Box<dyn Write>,
        sender: Sender<Event>,
        events: Receiver<Event>,
        toolchain: Toolchain,
    ) -> Session {
        Session {
            client: Client::new(output),
            sender,
            events,
            pending: VecDeque::new(),
            toolchain,
            phase: Phase::Idle,
            gdb: None,
            launch: None,
            build: None,
            folder: None,
            pipes: Vec::new(),
            first_line: 1,
            breakpoints: HashMap::new(),
            last_breakpoint: 0,
            exceptions: Exceptions {
                raised: false,
                uncaught: true,
            },
            frames: Vec::new(),
            thread: 1,
            pausing: false,
            exception: None,
        }
    }

    /// Serves the client until it has gone.
    pub(crate) fn run(mut self) {
        loop {
            let next = self.pending.pop_front();
            let event = match next.map_or_else(|| self.events.recv(), Ok) {
                Ok(event) => event,
                Err(_) => break,
            };
            match event {
                Event::Request(request) if request.command == "disconnect" => {
                    self.end();
                    self.client.respond(&request, Ok(Value::Null));
                    break;
                }
                Event::Request(request) => self.request(&request),
                Event::ClientEnded => break,
                Event::Gdb(record) => self.record(record),
                Event::GdbEnded => self.gdb_ended(),
                Event::Printed(stream, text) => self.client.output(stream.category(), &text),
                Event::Closed(Stream::Build) => self.built(),
                Event::Closed(_) => {}
            }
        }
        self.end();
    }

    /// Takes a line of gdb's that is no result of a command.
    fn record(&mut self, record: Record) {
        match record {
            Record::Async { class, results } if class == "stopped" => self.stopped(&results),
            Record::Console(text) => {
                let note = text.strip_prefix(NOTE);
                let note: Option<Value> = note.and_then(|n| serde_json::from_str(n).ok());
                if let Some(Value::String(text)) = note.map(|mut n| n["output"].take()) {
                    self.client.output("console", &text);
                }
            }
            Record::Async { .. } | Record::Result { .. } | Record::Other => {}
        }
    }

    /// Starts gdb on an executable.
    pub(crate) fn start_gdb(&mut self, executable: &camino::Utf8Path) -> Result<(), String> {
        self.gdb = Some(Gdb::start(executable, &self.sender)?);
        Ok(())
    }

    /// Ends the build, the program and gdb.
    pub(crate) fn end(&mut self) {
        if let Some(build) = self.build.take() {
            build.kill();
        }
        if let Some(gdb) = self.gdb.take() {
            gdb.end();
        }
        self.phase = Phase::Ended;
    }

    /// gdb has ended without having been made to.
    fn gdb_ended(&mut self) {
        if self.gdb.take().is_some() && self.phase != Phase::Ended {
            self.client.output("important", "gdb has ended\n");
            self.program_ended(None);
        }
    }

    /// The program has ended, by that exit code if it is known. Its last output comes first.
    pub(crate) fn program_ended(&mut self, code: Option<i64>) {
        self.end();
        let mut open = self.pipes.len();
        self.pipes.clear();
        let end = Instant::now() + LAST_OUTPUT;
        let mut later = VecDeque::new();
        while open > 0 {
            let patience = end.saturating_duration_since(Instant::now());
            let next = self.pending.pop_front();
            match next.map_or_else(|| self.events.recv_timeout(patience), Ok) {
                Ok(Event::Printed(stream, text)) => self.client.output(stream.category(), &text),
                Ok(Event::Closed(_)) => open -= 1,
                Ok(event) => later.push_back(event),
                Err(_) => break,
            }
        }
        later.append(&mut self.pending);
        self.pending = later;
        if let Some(code) = code {
            self.client
                .event("exited", serde_json::json!({"exitCode": code}));
        }
        self.client.event("terminated", serde_json::json!({}));
    }

    /// Gives gdb a command, and returns its results. The error is gdb's, for the client.
    pub(crate) fn command(&mut self, command: &str) -> Result<Results, String> {
        let gone = || "the program has ended".to_owned();
        let token = self.gdb.as_mut().ok_or_else(gone)?.send(command);
        let end = Instant::now() + PATIENCE;
        loop {
            let patience = end.saturating_duration_since(Instant::now());
            match self.events.recv_timeout(patience) {
                Ok(Event::Gdb(Record::Result {
                    token: of,
                    class,
                    results,
                })) if of == token => {
                    return match class.as_str() {
                        "error" => Err(results.text("msg").unwrap_or("gdb failed").to_owned()),
                        _ => Ok(results),
                    };
                }
                Ok(Event::GdbEnded) => {
                    self.pending.push_back(Event::GdbEnded);
                    return Err("gdb has ended".to_owned());
                }
                Ok(event) => self.pending.push_back(event),
                Err(_) => return Err(format!("gdb does nothing about {command}")),
            }
        }
    }

    /// Calls a function of taipan_debugger.py.
    pub(crate) fn call(&mut self, function: &str, arguments: Value) -> Result<Value, String> {
        let results = self.command(&call(function, arguments))?;
        let json = results.text("json").unwrap_or("null");
        serde_json::from_str(json).map_err(|e| e.to_string())
    }

    /// As [`Session::command`], for a command of gdb's own language. Returns its output.
    pub(crate) fn console(&mut self, command: &str) -> Result<String, String> {
        let before = self.pending.len();
        self.command(&format!(
            "-interpreter-exec console {}",
            crate::mi::quoted(command)
        ))?;
        let mut printed = String::new();
        let later = self.pending.split_off(before);
        for event in later {
            match event {
                Event::Gdb(Record::Console(text)) => printed.push_str(&text),
                event => self.pending.push_back(event),
            }
        }
        Ok(printed)
    }
}
