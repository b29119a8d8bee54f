//! From the start of the program to its end: reasons of stops, and the events about them for the client.

use serde_json::{Value, json};

use crate::gdb::layout;
use crate::launch::Launch;
use crate::mi::Results;
use crate::output::{Pipe, Stream};
use crate::session::{Phase, Session};

impl Session {
    /// The build has ended: loads its executable, or fails the launch.
    pub(crate) fn built(&mut self) {
        let Some(build) = self.build.take() else {
            return;
        };
        match build.finish() {
            Some((executable, folder)) => {
                self.folder = Some(folder);
                self.load(&executable);
            }
            None => self.launch_failed("it does not compile: the debug console says why"),
        }
    }

    /// Loads an executable into gdb, and has the client set breakpoints.
    pub(crate) fn load(&mut self, executable: &camino::Utf8Path) {
        let loaded = match executable.is_file() {
            true => self
                .start_gdb(executable)
                .and_then(|()| self.prepare(executable)),
            false => Err(format!("{executable}: no such file")),
        };
        if let Err(why) = loaded {
            self.launch_failed(&why);
            return;
        }
        self.phase = Phase::Loaded;
        if let Some((request, _)) = &self.launch {
            self.client.respond(request, Ok(Value::Null));
        }
        self.client.event("initialized", Value::Null);
    }

    fn launch_failed(&mut self, why: &str) {
        self.end();
        if let Some((request, _)) = self.launch.take() {
            self.client.respond(&request, Err(why.to_owned()));
        }
        self.client.event("terminated", json!({}));
    }

    /// Makes gdb ready. The error is for the client.
    fn prepare(&mut self, executable: &camino::Utf8Path) -> Result<(), String> {
        if let Err(why) = self.call("begin", layout()) {
            let version = self.console("show version").unwrap_or_default();
            let version = version.lines().next().unwrap_or("this gdb").to_owned();
            return Err(match why.contains("Undefined MI command") {
                true => format!(
                    "{version} has no Python, or is older than 12, which the debugger needs"
                ),
                false => why,
            });
        }
        if self
            .command("-data-evaluate-expression &rpy_state")
            .is_err()
        {
            return Err(format!("{executable} is no program that Taipan has built"));
        }
        Ok(())
    }

    /// Runs the program. The error is for the client.
    pub(crate) fn start(&mut self) -> Result<(), String> {
        let Some((_, launch)) = self.launch.clone() else {
            return Err("there was no launch".to_owned());
        };
        self.set_surroundings(&launch)?;
        self.phase = Phase::Starting;
        self.command("-exec-run")?;
        Ok(())
    }

    fn set_surroundings(&mut self, launch: &Launch) -> Result<(), String> {
        let failed = |e: std::io::Error| format!("no pipe for the program: {e}");
        let stdout = Pipe::new(Stream::Stdout, &self.sender).map_err(failed)?;
        let stderr = Pipe::new(Stream::Stderr, &self.sender).map_err(failed)?;
        let line = launch.command_line(&stdout.path(), &stderr.path());
        self.pipes = vec![stdout, stderr];
        // By the console, whose commands are quoted: words may contain ends of lines.
        self.console(&format!("set args {line}"))?;
        self.console(&format!("set cwd {}", launch.folder()))?;
        // Variables whose values for gdb differ.
        let own = ["SHELL", "LC_ALL", "PYTHONDONTWRITEBYTECODE"];
        let own = own.map(|name| (name.to_owned(), std::env::var(name).ok()));
        let given = launch.environment(&self.toolchain);
        for (name, value) in own.into_iter().chain(given) {
            let command = match value {
                Some(value) => format!("set environment {name}={value}"),
                None => format!("unset environment {name}"),
            };
            self.console(&command)?;
        }
        Ok(())
    }

    /// The program has stopped, or ended.
    pub(crate) fn stopped(&mut self, results: &Results) {
        let reason = results.text("reason").unwrap_or_default();
        match reason {
            "exited-normally" => return self.program_ended(Some(0)),
            "exited" => {
                let code = results.text("exit-code").unwrap_or_default();
                return self.program_ended(i64::from_str_radix(code, 8).ok());
            }
            "exited-signalled" => return self.ended_by_signal(results),
            _ => {}
        }
        if self.phase == Phase::Ended {
            return;
        }
        if let Some(thread) = results.text("thread-id").and_then(|t| t.parse().ok()) {
            self.thread = thread;
        }
        if self.phase == Phase::Starting {
            return self.entered();
        }
        self.phase = Phase::Stopped;
        self.exception = None;
        let signal = results.text("signal-name").unwrap_or_default().to_owned();
        let why = self
            .call("why", json!({"signal": signal}))
            .unwrap_or_default();
        let found = &why["reasons"];
        let kind = found[0]["kind"].as_str();
        let mut event = match (kind, reason) {
            (Some("uncaught"), _) if !self.exceptions.uncaught => {
                return self.resume("-exec-continue");
            }
            (Some("raised" | "uncaught"), _) => {
                let part = |name: &str| found[0][name].as_str().unwrap_or_default().to_owned();
                self.exception_stop(kind == Some("raised"), part("name"), part("text"))
            }
            (Some("entry"), _) => json!({"reason": "entry"}),
            (Some(_), _) => {
                let ids = found.as_array().into_iter().flatten().map(|r| &r["id"]);
                json!({"reason": "breakpoint", "hitBreakpointIds": ids.collect::<Vec<_>>()})
            }
            (None, "signal-received") if self.pausing || signal == "0" => {
                json!({"reason": "pause"})
            }
            (None, "signal-received") => {
                let meaning = results.text("signal-meaning").unwrap_or_default();
                self.exception = Some((signal.clone(), meaning.to_owned()));
                json!({"reason": "exception", "description": meaning, "text": signal})
            }
            // Steps end in lines of RPython.
            (None, _) if why["place"] == "elsewhere" => return self.resume("-exec-finish"),
            (None, _) if why["place"] == "outside" => return self.resume("-exec-continue"),
            (None, _) => json!({"reason": "step"}),
        };
        self.pausing = false;
        event["threadId"] = json!(self.thread);
        event["allThreadsStopped"] = json!(true);
        self.client.event("stopped", event);
    }

    fn exception_stop(&mut self, raised: bool, name: String, text: String) -> Value {
        let description = match raised {
            true => format!("{name} is raised"),
            false => format!("{name} is not caught"),
        };
        self.exception = Some((name, text.clone()));
        json!({"reason": "exception", "description": description, "text": text})
    }

    /// The process is about to call the entry point.
    fn entered(&mut self) {
        let entry = self
            .launch
            .as_ref()
            .is_some_and(|(_, l)| l.stop_on_entry && !l.no_debug);
        if entry {
            self.report("entry_point", json!({}));
        }
        self.catch_exceptions();
        self.resume("-exec-continue");
    }

    /// Stops where exceptions are raised, or does not, as the client has it.
    pub(crate) fn catch_exceptions(&mut self) {
        // The place is known when the process has started.
        if !matches!(self.phase, Phase::Idle | Phase::Building | Phase::Loaded) {
            self.report("catch", json!({"all": self.exceptions.raised}));
        }
    }

    /// Calls a function of taipan_debugger.py whose failure the client has only to know of.
    fn report(&mut self, function: &str, arguments: Value) {
        if let Err(why) = self.call(function, arguments) {
            self.client.output("important", &format!("gdb: {why}\n"));
        }
    }

    /// Lets the program run, without a request that the failure could be the response to.
    fn resume(&mut self, command: &str) {
        self.frames.clear();
        self.phase = Phase::Running;
        if let Err(why) = self.command(command) {
            self.client.output("important", &format!("gdb: {why}\n"));
            self.program_ended(None);
        }
    }

    fn ended_by_signal(&mut self, results: &Results) {
        let name = results.text("signal-name").unwrap_or("a signal").to_owned();
        let number = self.command("-data-evaluate-expression $_exitsignal");
        let number = number
            .ok()
            .and_then(|r| r.text("value")?.parse::<i64>().ok());
        self.client
            .output("console", &format!("the program was ended by {name}\n"));
        // As shells have it.
        self.program_ended(number.map(|n| 128 + n));
    }
}
