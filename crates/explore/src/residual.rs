//! Residual code: the program runs, in a process of its own, and tells what was compiled.

use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::Refusal;
use crate::live::Live;

/// How long the program may run.
const LIMIT: Duration = Duration::from_secs(20);
/// How much of what it prints is kept.
const MOST_BYTES: u64 = 4 << 20;

/// How it is to run.
#[derive(Deserialize)]
struct Wanted {
    /// Its arguments.
    args: Vec<String>,
    /// After how many rounds a loop is compiled.
    threshold: Option<u32>,
}

/// Runs the program with its just-in-time compiler.
pub(crate) fn run(live: &Live, body: &str) -> Result<Value, Refusal> {
    let wanted: Wanted =
        serde_json::from_str(body).map_err(|e| Refusal::new(400, e.to_string()))?;
    let mut command = Command::new(&live.command);
    command.args(["run", "--jit", "--jit-residual", "--jit-summary"]);
    for folder in &live.load.path {
        command.args(["--path", folder.as_str()]);
    }
    if let Some(n) = wanted.threshold {
        command.arg(format!("--jit-threshold={n}"));
    }
    command.arg(&live.target).args(&wanted.args);
    // If no temporary file can be made, the run is shown without advice.
    let log = tempfile::NamedTempFile::new().ok();
    if let Some(log) = &log {
        command.env("TAIPAN_JITLOG", log.path());
    }
    command.stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child =
        (command.spawn()).map_err(|e| Refusal::new(500, format!("{}: {e}", live.command)))?;
    let (output, told) = match (reader(child.stdout.take()), reader(child.stderr.take())) {
        (Ok(output), Ok(told)) => (output, told),
        (Err(e), _) | (_, Err(e)) => {
            let _ = child.kill();
            let _ = child.wait();
            return Err(Refusal::new(
                503,
                format!("no thread for what it prints: {e}"),
            ));
        }
    };
    let ended = wait(&mut child);
    let text = |r: Receiver<Vec<u8>>| {
        // A process that it left behind may keep the pipe open.
        let bytes = r.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (output, told) = (text(output), text(told));
    let summary = told.lines().rev().find(|l| l.starts_with('{'));
    let summary: Value = summary
        .and_then(|l| serde_json::from_str(l).ok())
        .unwrap_or(Value::Null);
    let told: Vec<&str> = told.lines().filter(|l| !l.starts_with('{')).collect();
    Ok(json!({
        "exit": ended,
        "output": output,
        "residual": told.join("\n"),
        "summary": summary,
        "advice": log.and_then(|log| advice(live, log.path())),
    }))
}

/// The report of `taipan jitlog --advise`. None if the program was stopped or wrote no log.
fn advice(live: &Live, log: &Path) -> Option<Value> {
    let mut command = Command::new(&live.command);
    command
        .args(["jitlog", "--advise", "--format", "json"])
        .arg(log);
    let o = command.stdin(Stdio::null()).output().ok()?;
    let report: Value = serde_json::from_slice(&o.stdout).ok()?;
    (!report["seconds"].is_null()).then(|| report["advice"].clone())
}

fn reader(pipe: Option<impl std::io::Read + Send + 'static>) -> std::io::Result<Receiver<Vec<u8>>> {
    let (sender, read) = channel();
    let thread = std::thread::Builder::new().name("reader".to_owned());
    thread.spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // As far as it came.
            let _ = pipe.by_ref().take(MOST_BYTES).read_to_end(&mut bytes);
            let _ = std::io::copy(&mut pipe, &mut std::io::sink());
        }
        let _ = sender.send(bytes);
    })?;
    Ok(read)
}

/// Its exit code; none if it had to be killed.
fn wait(child: &mut Child) -> Option<i32> {
    let start = Instant::now();
    while start.elapsed() < LIMIT {
        match child.try_wait() {
            Ok(Some(status)) => return status.code(),
            Ok(None) => std::thread::sleep(Duration::from_millis(20)),
            Err(_) => break,
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}
