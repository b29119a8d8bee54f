//! The `taipan` command: arguments in, driver operations, output and exit codes out.
//!
//! Owns the contract with scripts: what goes to stdout and to stderr, and the exit
//! codes 0 (it worked), 1 (the user's code failed) and 2 (wrong usage, unreadable
//! input or a fault of Taipan). Must not know any stage.

mod args;
mod call;
mod check;
mod clean;
mod closing;
mod completions;
mod debug;
mod emit;
mod explain;
mod explore;
mod init;
mod jitlog;
mod output;
mod place;
mod profile;
mod progress;
mod project;
mod rpython;
mod run;
mod test;
mod timeshift;
mod trust;
mod watch;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use crate::args::{Cli, Command};

/// The version. Builds of releases set one with the commit (`packaging/release.py`).
const VERSION: &str = match option_env!("TAIPAN_VERSION") {
    Some(version) => version,
    None => env!("CARGO_PKG_VERSION"),
};

/// The stages recurse with the program's nesting; address space is free.
const STACK: usize = 1 << 30;

/// The command line as clap has it: what man pages, completions and tests of the
/// documentation are made from.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Does what the process's arguments say and returns the exit code. Most commands end the
/// process themselves, without freeing what they hold.
///
/// # Safety
/// Nothing of the compiler has run in this process, and it has one thread.
pub unsafe fn main() -> ExitCode {
    // SAFETY: the process has one thread, and nothing of the compiler has run: the caller is `main`
    // of the binary.
    unsafe { taipan_driver::wake() };
    if let Ok(filter) = std::env::var("TAIPAN_LOG") {
        tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .init();
    }
    let parse = || {
        let mut command = command();
        command.build();
        Cli::try_parse_from(args::with_own_options(std::env::args_os(), &command))
    };
    let mut cli = match rpython::of_process().unwrap_or_else(parse) {
        Ok(cli) => cli,
        Err(e) => {
            // Help and version are no errors.
            let code = match e.use_stderr() {
                true if std::env::args_os().nth(1).is_some_and(|a| a == "test") => test::USAGE,
                true => 2,
                false => 0,
            };
            let _ = e.print();
            return ExitCode::from(code);
        }
    };
    if matches!(
        cli.command,
        Command::Build(_) | Command::Rpython(_) | Command::Check(_) | Command::Emit(_)
    ) {
        small_pages();
    }
    if let Command::Rpython(a) = &cli.command {
        // SAFETY: there is no other thread yet.
        unsafe { rpython::set_environment(a) };
    }
    // SAFETY: there is no other thread yet.
    if let Err(code) = unsafe { project::prepare(&mut cli.command) } {
        return ExitCode::from(code);
    }
    // Before there is any other thread.
    let launcher = match &cli.command {
        Command::Watch(a) => watch::launcher(a),
        _ => None,
    };
    if matches!(
        cli.command,
        Command::Watch(_) | Command::Lsp | Command::Explore(_)
    ) {
        // The launcher, and the program that it starts, have the pages that they like.
        small_pages();
    }
    let worker = std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || match cli.command {
            Command::Run(a) => run::run(&a),
            Command::Build(a) => run::build(&a),
            Command::Rpython(a) => rpython::rpython(&a),
            Command::Check(a) => check::check(&a),
            Command::Call(a) => call::call(&a),
            Command::Emit(a) => emit::emit(&a),
            Command::Explore(a) => explore::explore(&a),
            Command::Timeshift(a) => timeshift::timeshift(&a),
            Command::Watch(a) => watch::watch(&a, launcher),
            Command::Test(a) => test::test(&a),
            Command::Debug => debug::debug(),
            Command::Jitlog(a) => jitlog::jitlog(&a),
            Command::Explain(a) => explain::explain(&a),
            Command::Lsp => lsp(),
            Command::Init(a) => init::init(&a),
            Command::Clean(a) => clean::clean(&a),
            Command::Trust(a) => trust::trust(&a),
            Command::Completions(a) => completions::completions(&a),
            Command::Man(a) => completions::man(&a),
        });
    let code = match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        Ok(Err(_)) | Err(_) => {
            output::tell("taipan: internal error: the main thread failed\n");
            2
        }
    };
    progress::end();
    // Everything is written; freeing the database would only take time.
    std::process::exit(code)
}

/// Asks for pages of the usual size, where the kernel gives huge ones to all who do not. Most
/// of each would stay empty: a small program would take half as much memory again, and
/// clearing the pages a fifth of the time of a large one, or a tenth of an edit. Not for
/// commands that run the user's program in this process.
fn small_pages() {
    // SAFETY: changes how the kernel maps this process's memory, never what is in it.
    // Where the kernel knows no such setting, nothing happens.
    unsafe {
        libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0);
    }
}

fn lsp() -> i32 {
    match taipan_server::serve_stdio() {
        Ok(()) => 0,
        Err(e) => {
            output::tell(&format!("taipan: {e}\n"));
            2
        }
    }
}
