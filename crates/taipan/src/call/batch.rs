//! `taipan call --batch`: many calls, none of which stops the others.
//!
//! ```text
//! lines ──► supervisor ──one line──► worker (this program again, its database warm)
//!               ▲                       │
//!               └──────one answer───────┘
//! ```
//!
//! Called functions run in the worker's own process and may end it: by a fatal error, a
//! null pointer in machine code, `os._exit`. The supervisor then answers for that call,
//! and goes on with a new worker.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};
use taipan_driver::{CallRequest, Database, Failure, call as call_function, parse_literal};

use super::{Answers, answer, engine, prepare, supported};
use crate::args::CallArgs;
use crate::output::{Context, color, exit_code, failure_text, sound_config, tell, written};

/// Set in the environment of a worker.
const WORKER: &str = "TAIPAN_BATCH_WORKER";

/// Answers the calls of a file, or of standard input if that is `-`. The exit code is
/// the worst of the answers'.
pub(super) fn batch(args: &CallArgs, file: &Utf8Path) -> i32 {
    if std::env::var_os(WORKER).is_some() {
        return work(args);
    }
    // Before each worker would say it.
    if let Err(code) = sound_config(&Database::default(), ".".into()) {
        return code;
    }
    if let Err(f) = supported(args) {
        tell(&failure_text(&Database::default(), &f, color()));
        return exit_code(&f);
    }
    let fail = |what: &dyn std::fmt::Display| {
        tell(&format!("taipan: {what}\n"));
        2
    };
    let input: Box<dyn Read> = if file == "-" {
        Box::new(std::io::stdin())
    } else {
        match File::open(file) {
            Ok(f) => Box::new(f),
            Err(e) => return fail(&format!("{file}: {e}")),
        }
    };
    let mut worker = None;
    let mut worst = 0;
    for line in BufReader::new(input).split(b'\n') {
        let line = match line {
            Ok(l) if l.trim_ascii().is_empty() => continue,
            Ok(l) => l,
            Err(e) => return fail(&format!("{file}: {e}")),
        };
        let mut at_work = match worker.take().map_or_else(Worker::start, Ok) {
            Ok(w) => w,
            Err(e) => return fail(&e),
        };
        let text = match at_work.ask(&line, Duration::from_secs(args.seconds)) {
            Ok(text) => {
                worker = Some(at_work);
                text
            }
            Err(why) => {
                let case = serde_json::from_slice::<Value>(&line).unwrap_or_default();
                json!({"error": why, "id": case.get("id")}).to_string()
            }
        };
        worst = worst.max(code_of(&text));
        let mut out = std::io::stdout().lock();
        // One string, so that a reader never sees half a line.
        let done = out.write_all(format!("{text}\n").as_bytes());
        if let Err(e) = done.and_then(|()| out.flush()) {
            return worst.max(written(Err(e)));
        }
    }
    worker.map_or(worst, |w| worst.max(w.finish()))
}

/// The exit code of an answer.
fn code_of(answer: &str) -> i32 {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    match (answer.get("ok"), answer.get("raises")) {
        (Some(_), _) => 0,
        (None, Some(_)) => 1,
        (None, None) => 2,
    }
}

/// A process that answers calls.
struct Worker {
    process: Child,
    calls: ChildStdin,
    answers: Receiver<String>,
}

impl Worker {
    /// This program, started with the same arguments.
    fn start() -> std::io::Result<Worker> {
        let mut process = Command::new(std::env::current_exe()?)
            .args(std::env::args_os().skip(1))
            .env(WORKER, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(calls), Some(out)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        };
        let (send, answers) = channel();
        // Ends when the worker does, or nobody wants its answers any more.
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Worker {
            process,
            calls,
            answers,
        })
    }

    /// The answer to a call, or why there is none; the worker has ended then.
    fn ask(&mut self, call: &[u8], limit: Duration) -> Result<String, String> {
        // If this fails it has died, which shows below.
        let _ = self.calls.write_all(&[call, b"\n"].concat());
        match self.answers.recv_timeout(limit) {
            Ok(line) => Ok(line),
            Err(RecvTimeoutError::Timeout) => {
                let _ = self.process.kill();
                let _ = self.process.wait();
                Err(format!("no answer after {} seconds", limit.as_secs()))
            }
            Err(RecvTimeoutError::Disconnected) => Err(match self.process.wait() {
                Ok(status) => format!("the call ended the process: {}", ending(status)),
                Err(e) => e.to_string(),
            }),
        }
    }

    /// Lets the worker end; its exit code.
    fn finish(mut self) -> i32 {
        drop(self.calls);
        self.process.wait().ok().and_then(|s| s.code()).unwrap_or(2)
    }
}

fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no exit code".to_owned(),
    }
}

/// The worker's side: answers one line of standard input after the other.
fn work(args: &CallArgs) -> i32 {
    let context = match Context::once(&args.common, None) {
        Ok(context) => context,
        Err(code) => return code,
    };
    context.consent();
    prepare(args, context);
    let streams = own_input().and_then(|input| Ok((input, Answers::new(true)?)));
    let (input, mut answers) = match streams {
        Ok(s) => s,
        Err(e) => return context.fail(&Failure::Usage(format!("standard streams: {e}"))),
    };
    let mut worst = 0;
    for line in BufReader::new(input).split(b'\n').map_while(Result::ok) {
        let (mut out, code) = match serde_json::from_slice::<Value>(&line) {
            Ok(case) => {
                let outcome = request(&case, args).and_then(|r| {
                    call_function(&context.db, &context.load, &r, &mut context.timings)
                });
                let (mut out, code) = answer(&outcome);
                if let Some(id) = case.get("id") {
                    out["id"] = id.clone();
                }
                (out, code)
            }
            Err(e) => (json!({"error": format!("not a line of JSON: {e}")}), 2),
        };
        if out.get("id").is_none() {
            out["id"] = Value::Null;
        }
        worst = worst.max(code);
        if let Err(e) = answers.line(&out) {
            return worst.max(written(Err(e)));
        }
    }
    context.finish(&args.common, worst)
}

/// Standard input, in whose place called functions find nothing to read.
fn own_input() -> std::io::Result<File> {
    let saved = std::io::stdin().as_fd().try_clone_to_owned()?;
    let nothing = File::open("/dev/null")?;
    // SAFETY: both descriptors are open, and nobody owns number 0.
    if unsafe {
        libc::dup2(
            std::os::fd::AsRawFd::as_raw_fd(&nothing),
            libc::STDIN_FILENO,
        )
    } < 0
    {
        return Err(std::io::Error::last_os_error());
    }
    Ok(saved.into())
}

fn request(case: &Value, args: &CallArgs) -> Result<CallRequest, Failure> {
    let text = |key: &str| {
        case.get(key)
            .and_then(Value::as_str)
            .ok_or_else(|| Failure::Usage(format!("`{key}` is missing or no string")))
    };
    let given = match case.get("args") {
        None => Vec::new(),
        Some(Value::Array(items)) => items.clone(),
        Some(_) => return Err(Failure::Usage("`args` is no array".to_owned())),
    };
    Ok(CallRequest {
        file: Utf8PathBuf::from(text("file")?),
        func: text("func")?.to_owned(),
        // Texts are literals as on the command line; other JSON stands for itself.
        args: given
            .iter()
            .map(|v| match v {
                Value::String(s) => parse_literal(s),
                other => parse_literal(&taipan_driver::python_text(other)),
            })
            .collect(),
        engine: engine(args.engine),
        jit: args.jit_args.options(args.jit),
    })
}
