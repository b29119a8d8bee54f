//! `taipan run --profile`: from the samples of a program to a flame graph.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use camino::Utf8Path;
use taipan_driver::{Engine, Failure, Machine};
use taipan_picture::flame_graph;

use crate::output::tell;

/// Refuses programs that cannot be sampled. Makes sure that the file can be written.
pub(crate) fn prepare(
    file: &Utf8Path,
    engine: Engine,
    jit: bool,
    machine: Machine,
) -> Result<(), Failure> {
    let text = match engine {
        _ if machine != Machine::HOST => "a profile is one of this machine: leave out --target",
        Engine::Native | Engine::C if !jit => return write(file, ""),
        Engine::Native | Engine::C => {
            "--profile samples functions that are compiled ahead: leave out --jit; `taipan jitlog` has figures \
             of code that is compiled just in time"
        }
        _ => "--profile samples machine code: leave out --engine and --backend",
    };
    Err(Failure::Usage(text.to_owned()))
}

/// Makes the profile of the samples in the file.
pub(crate) fn finish(file: &Utf8Path, quiet: bool) -> Result<(), Failure> {
    let samples =
        std::fs::read_to_string(file).map_err(|e| Failure::Usage(format!("{file}: {e}")))?;
    let stacks = folded(&samples);
    let text = match file.extension() {
        Some("svg") => flame_graph(stacks.iter().map(|(stack, n)| (*stack, *n))),
        _ => lines(&stacks),
    };
    write(file, &text)?;
    if !quiet {
        let count: u64 = stacks.values().sum();
        tell(&format!("taipan: {count} samples in {file}\n"));
    }
    Ok(())
}

fn write(file: &Utf8Path, text: &str) -> Result<(), Failure> {
    std::fs::write(file, text).map_err(|e| Failure::Usage(format!("{file}: {e}")))
}

/// Stacks, and how often each was sampled. A line that the end of the process has cut is left out.
fn folded(samples: &str) -> BTreeMap<&str, u64> {
    let mut stacks = BTreeMap::new();
    for stack in samples.lines().filter_map(|line| line.strip_suffix(" 1")) {
        *stacks.entry(stack).or_default() += 1;
    }
    stacks
}

/// The form that tools for flame graphs read.
fn lines(stacks: &BTreeMap<&str, u64>) -> String {
    let mut out = String::new();
    for (stack, samples) in stacks {
        let _ = writeln!(out, "{stack} {samples}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{folded, lines};

    #[test]
    fn samples_add_up() {
        let stacks = folded("m.a;m.b 1\nm.a 1\nm.a;m.b 1\nm.a;m");
        assert_eq!(lines(&stacks), "m.a 1\nm.a;m.b 2\n");
    }
}
