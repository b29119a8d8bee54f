//! Requests of the client.

use camino::Utf8Path;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::launch::{Build, Debuggee, Launch};
use crate::protocol::Request;
use crate::session::{Frame, Phase, Session};

/// Numbers of variables from this one on are those of the scopes of frames; smaller ones are of values.
const SCOPES: i64 = 1 << 30;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Initialize {
    lines_start_at1: bool,
}

impl Default for Initialize {
    fn default() -> Self {
        Initialize {
            lines_start_at1: true,
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Source {
    path: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Breakpoint {
    line: i64,
    /// Of a breakpoint on a function.
    name: String,
    condition: Option<String>,
    hit_condition: Option<String>,
    log_message: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SetBreakpoints {
    source: Source,
    breakpoints: Vec<Breakpoint>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SetExceptions {
    filters: Vec<String>,
}

/// The arguments of requests about threads, frames and variables.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct About {
    thread_id: Option<i64>,
    frame_id: Option<i64>,
    start_frame: i64,
    levels: i64,
    variables_reference: i64,
    filter: String,
    start: i64,
    count: i64,
    expression: String,
    context: String,
}

/// The capabilities of the adapter.
fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsFunctionBreakpoints": true,
        "supportsConditionalBreakpoints": true,
        "supportsHitConditionalBreakpoints": true,
        "supportsLogPoints": true,
        "supportsEvaluateForHovers": true,
        "supportsExceptionInfoRequest": true,
        "supportsDelayedStackTraceLoading": true,
        "supportsTerminateRequest": true,
        "exceptionBreakpointFilters": [
            {"filter": "raised", "label": "Raised exceptions", "default": false,
             "description": "Stop where an exception is raised that leaves its function. StopIteration is left out."},
            {"filter": "uncaught", "label": "Uncaught exceptions", "default": true,
             "description": "Stop where an exception has left the entry point."},
        ],
    })
}

impl Session {
    /// Performs a request, and responds to it.
    pub(crate) fn request(&mut self, request: &Request) {
        match request.command.as_str() {
            // Its response comes when there is an executable.
            "launch" => {
                if let Err(why) = self.launch(request) {
                    self.client.respond(request, Err(why));
                    self.client.event("terminated", json!({}));
                }
            }
            "configurationDone" => {
                let started = self.start();
                self.client.respond(request, started.map(|()| Value::Null));
            }
            "terminate" => {
                self.client.respond(request, Ok(Value::Null));
                if self.phase != Phase::Ended {
                    self.program_ended(None);
                }
            }
            _ => {
                let outcome = self.outcome(request);
                self.client.respond(request, outcome);
            }
        }
    }

    /// The result of a request: the body of the response, or the error message.
    fn outcome(&mut self, request: &Request) -> Result<Value, String> {
        match request.command.as_str() {
            "initialize" => {
                let given: Initialize = request.arguments()?;
                self.first_line = i64::from(given.lines_start_at1);
                Ok(capabilities())
            }
            "setBreakpoints" => self.set_breakpoints(request.arguments()?),
            "setFunctionBreakpoints" => self.set_breakpoints(request.arguments()?),
            "setExceptionBreakpoints" => {
                let given: SetExceptions = request.arguments()?;
                let debugs = !self.runs_only();
                self.exceptions.raised = debugs && given.filters.iter().any(|f| f == "raised");
                self.exceptions.uncaught = debugs && given.filters.iter().any(|f| f == "uncaught");
                self.catch_exceptions();
                Ok(Value::Null)
            }
            "exceptionInfo" => {
                let (name, text) = self.exception.clone().ok_or("there is no exception")?;
                Ok(json!({"exceptionId": name, "description": text, "breakMode": "always"}))
            }
            "threads" => self.threads(),
            "stackTrace" => self.stack_trace(&request.arguments()?),
            "scopes" => {
                let about: About = request.arguments()?;
                let frame = about.frame_id.unwrap_or_default();
                self.frame(frame)?;
                let scope = json!({
                    "name": "Variables", "presentationHint": "locals", "expensive": false,
                    "variablesReference": SCOPES + frame,
                });
                Ok(json!({"scopes": [scope]}))
            }
            "variables" => self.variables(&request.arguments()?),
            "evaluate" => self.evaluate(&request.arguments()?),
            "continue" => {
                self.go(request, "-exec-continue")?;
                Ok(json!({"allThreadsContinued": true}))
            }
            "next" => self.go(request, "-exec-next"),
            "stepIn" => self.go(request, "-exec-step"),
            "stepOut" => self.go(request, "-exec-finish"),
            "pause" => {
                self.pausing = true;
                self.command("-exec-interrupt").map(|_| Value::Null)
            }
            other => Err(format!("{other}: there is no such request here")),
        }
    }

    fn launch(&mut self, request: &Request) -> Result<(), String> {
        if self.phase != Phase::Idle {
            return Err("one program is debugged at a time".to_owned());
        }
        let launch: Launch = request.arguments()?;
        let debuggee = launch.debuggee()?;
        self.launch = Some((request.clone(), launch.clone()));
        match debuggee {
            Debuggee::Built(what) => {
                let build = Build::start(&launch, &what, &self.toolchain, &self.sender);
                self.build =
                    Some(build.map_err(|e| format!("taipan build cannot be started: {e}"))?);
                self.phase = Phase::Building;
            }
            Debuggee::Executable(path) => self.load(Utf8Path::new(&path)),
        }
        Ok(())
    }

    /// Whether the client wants no stops.
    fn runs_only(&self) -> bool {
        self.launch.as_ref().is_some_and(|(_, l)| l.no_debug)
    }

    /// Replaces the breakpoints of a file, or those on functions.
    fn set_breakpoints(&mut self, given: SetBreakpoints) -> Result<Value, String> {
        let path = given.source.path;
        let old = self.breakpoints.remove(&path).unwrap_or_default();
        self.call("remove_breakpoints", json!({"ids": old}))?;
        let mut ids = Vec::new();
        let mut shown = Vec::new();
        for b in given.breakpoints {
            self.last_breakpoint += 1;
            let id = self.last_breakpoint;
            let made = match self.runs_only() {
                true => {
                    json!({"verified": false, "message": "the program runs without a debugger"})
                }
                false => self.set_breakpoint(id, &path, &b)?,
            };
            let mut one = json!({"id": id, "verified": made["verified"]});
            if let Some(line) = made["line"].as_i64().filter(|line| *line > 0) {
                one["line"] = json!(line - 1 + self.first_line);
            }
            if let Some(why) = made["message"].as_str().filter(|m| !m.is_empty()) {
                one["message"] = json!(why);
            }
            shown.push(one);
            ids.push(id);
        }
        self.breakpoints.insert(path, ids);
        Ok(json!({"breakpoints": shown}))
    }

    fn set_breakpoint(&mut self, id: i64, path: &str, b: &Breakpoint) -> Result<Value, String> {
        let mut arguments = json!({
            "id": id, "condition": b.condition, "times": b.hit_condition, "log": b.log_message,
        });
        if path.is_empty() {
            arguments["function"] = json!(b.name);
        } else {
            arguments["path"] = json!(path);
            arguments["line"] = json!(b.line + 1 - self.first_line);
        }
        self.call("set_breakpoint", arguments)
    }

    fn threads(&mut self) -> Result<Value, String> {
        // Clients show this one before the program has started, and as long as it runs.
        let main = json!([{"id": 1, "name": "main"}]);
        let threads = match self.phase {
            Phase::Running | Phase::Stopped => self.call("threads", json!({}))?,
            _ => main.clone(),
        };
        let none = threads.as_array().is_none_or(Vec::is_empty);
        Ok(json!({"threads": if none { main } else { threads }}))
    }

    fn stack_trace(&mut self, about: &About) -> Result<Value, String> {
        self.must_be_stopped()?;
        let thread = about.thread_id.unwrap_or(self.thread);
        let arguments =
            json!({"thread": thread, "start": about.start_frame, "levels": about.levels});
        let found = self.call("frames", arguments)?;
        let mut shown = Vec::new();
        for f in found["frames"].as_array().into_iter().flatten() {
            let level = f["level"].as_i64().unwrap_or_default();
            self.frames.push(Frame { thread, level });
            let line = f["line"].as_i64().unwrap_or_default();
            let mut frame = json!({
                "id": self.frames.len(), "name": f["name"],
                "line": (line - 1 + self.first_line).max(0), "column": self.first_line,
            });
            match f["path"].as_str().filter(|p| !p.is_empty()) {
                Some(path) => {
                    let name = Utf8Path::new(path).file_name();
                    frame["source"] = json!({"path": path, "name": name});
                }
                // Of the runtime and of helpers.
                None => frame["presentationHint"] = json!("subtle"),
            }
            shown.push(frame);
        }
        Ok(json!({"stackFrames": shown, "totalFrames": found["total"]}))
    }

    fn must_be_stopped(&self) -> Result<(), String> {
        match self.phase {
            Phase::Stopped => Ok(()),
            Phase::Ended => Err("the program has ended".to_owned()),
            _ => Err("the program is running".to_owned()),
        }
    }

    fn frame(&self, id: i64) -> Result<Frame, String> {
        let index = usize::try_from(id - 1).ok();
        let frame = index.and_then(|i| self.frames.get(i)).copied();
        frame.ok_or_else(|| "there is no such frame any more".to_owned())
    }

    fn variables(&mut self, about: &About) -> Result<Value, String> {
        self.must_be_stopped()?;
        let number = about.variables_reference;
        let found = if number >= SCOPES {
            let f = self.frame(number - SCOPES)?;
            self.call("scope", json!({"thread": f.thread, "level": f.level}))?
        } else if about.filter == "named" {
            // Items are all that composite values with items have.
            self.call("named_children", json!({"ref": number}))?
        } else {
            let arguments = json!({"ref": number, "start": about.start, "count": about.count});
            self.call("children", arguments)?
        };
        let variables = found.as_array().into_iter().flatten();
        let variables = variables.map(|v| {
            let mut shown = variable(v);
            shown["name"] = v["name"].clone();
            shown["value"] = v["value"].clone();
            if v["path"].is_string() {
                shown["evaluateName"] = v["path"].clone();
            }
            shown
        });
        Ok(json!({"variables": variables.collect::<Vec<_>>()}))
    }

    fn evaluate(&mut self, about: &About) -> Result<Value, String> {
        self.must_be_stopped()?;
        if about.context == "repl"
            && let Some(command) = about.expression.trim().strip_prefix("-exec ")
        {
            let printed = self.console(command)?;
            return Ok(json!({"result": printed, "variablesReference": 0}));
        }
        let f = match about.frame_id {
            Some(id) => self.frame(id)?,
            None => Frame {
                thread: self.thread,
                level: 0,
            },
        };
        let arguments =
            json!({"thread": f.thread, "level": f.level, "expression": about.expression});
        let found = self.call("evaluate", arguments)?;
        let mut shown = variable(&found);
        shown["result"] = found["value"].clone();
        Ok(shown)
    }

    /// Lets the program run, from the thread and frame that the request names.
    fn go(&mut self, request: &Request, command: &str) -> Result<Value, String> {
        self.must_be_stopped()?;
        let about: About = request.arguments()?;
        let thread = about.thread_id.unwrap_or(self.thread);
        let command = match command {
            "-exec-continue" => command.to_owned(),
            _ => format!("{command} --thread {thread}"),
        };
        self.command(&command)?;
        self.frames.clear();
        self.phase = Phase::Running;
        Ok(Value::Null)
    }
}

/// The parts that variables and results of expressions have in common.
fn variable(found: &Value) -> Value {
    let mut shown = json!({"type": found["type"], "variablesReference": found["ref"]});
    if let Some(items) = found["indexed"].as_i64().filter(|n| *n > 0) {
        shown["indexedVariables"] = json!(items);
    }
    shown
}
