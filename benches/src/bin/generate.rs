//! `generate --functions N --seed S OUTDIR`: writes a synthetic program.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it is a program")]

use std::path::Path;
use std::process::ExitCode;

use taipan_benches::Project;

fn main() -> ExitCode {
    let mut functions = 1000;
    let mut seed = 1;
    let mut out = None;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|n| n.parse::<u64>().ok());
        match (arg.as_str(), out.is_none()) {
            ("--functions", _) => functions = number().unwrap_or(0) as usize,
            ("--seed", _) => seed = number().unwrap_or(0),
            (path, true) if !path.starts_with('-') => out = Some(arg),
            _ => functions = 0,
        }
    }
    let (Some(out), 1..) = (out, functions) else {
        eprintln!("usage: generate [--functions N] [--seed S] OUTDIR");
        return ExitCode::from(2);
    };
    let project = Project::generate(seed, functions);
    for (path, text) in project.files() {
        let path = Path::new(&out).join(path);
        let folder = path.parent().expect("a file is in a folder");
        if let Err(e) = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, text)) {
            eprintln!("{}: {e}", path.display());
            return ExitCode::from(2);
        }
    }
    println!(
        "{} functions in {} files, {} lines: {out}/{}",
        project.function_count(),
        project.files().len(),
        project
            .files()
            .values()
            .map(|t| t.lines().count())
            .sum::<usize>(),
        Project::TARGET,
    );
    ExitCode::SUCCESS
}
