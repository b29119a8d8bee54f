//! What was compiled, when and why, as lines of text (`TAIPAN_JITLOG`), and the names of
//! code for profilers (`TAIPAN_PERF_MAP`).

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::time::Instant;

use taipan_lltype::{LLGraph, LLOp, PlainOp};

/// Where lines go. Nobody is told about files that cannot be written.
pub(crate) struct Log {
    lines: Option<File>,
    perf: Option<File>,
    start: Instant,
}

impl Log {
    /// As the environment asks.
    pub(crate) fn from_environment() -> Log {
        let lines = std::env::var_os("TAIPAN_JITLOG").and_then(|f| File::create(f).ok());
        let perf = std::env::var_os("TAIPAN_PERF_MAP").and_then(|_| {
            let name = format!("/tmp/perf-{}.map", std::process::id());
            File::options().create(true).append(true).open(name).ok()
        });
        Log {
            lines,
            perf,
            start: Instant::now(),
        }
    }

    /// Whether somebody wants to know.
    pub(crate) fn is_on(&self) -> bool {
        self.lines.is_some()
    }

    /// A line, after the time since the start.
    pub(crate) fn line(&mut self, text: std::fmt::Arguments<'_>) {
        if let Some(file) = &mut self.lines {
            let at = self.start.elapsed();
            let line = format!("{:.6} {text}\n", at.as_secs_f64());
            let _ = file.write_all(line.as_bytes());
        }
    }

    /// A graph, indented.
    pub(crate) fn graph(&mut self, g: &LLGraph) {
        if let Some(file) = &mut self.lines {
            let mut text = String::new();
            for b in g.reachable() {
                let _ = writeln!(text, "    block{}:", b.0);
                for op in &g.block(b).operations {
                    let _ = writeln!(text, "        {}", op.op);
                }
            }
            let _ = file.write_all(text.as_bytes());
        }
    }

    /// Tells profilers what code is called.
    pub(crate) fn code(&mut self, at: usize, size: usize, name: &str) {
        if let Some(file) = &mut self.perf {
            let line = format!("{at:x} {size:x} {name}\n");
            let _ = file.write_all(line.as_bytes());
        }
    }
}

/// How many operations a graph has that do something.
pub(crate) fn operations(g: &LLGraph) -> usize {
    let silent = |op: LLOp| matches!(op, LLOp::Plain(PlainOp::SameAs | PlainOp::CastPointer));
    (g.blocks.iter().flat_map(|b| &b.operations))
        .filter(|op| !silent(op.op))
        .count()
}
