//! `taipan rpython`, and the executable `rpython`: the original's command line, for Makefiles and scripts.
//!
//! ```text
//! words ──command──► options of the table ──plan──► words of `taipan build` or `taipan check`
//!                                            ▲
//!            what target() sets in its configuration
//! ```

mod command;
mod plan;
mod table;

use std::ffi::OsStr;
use std::path::Path;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{FromArgMatches as _, Parser as _};

use self::plan::Plan;
use self::table::Goal;
use crate::args::{BuildArgs, Cli, Command};
use crate::output::{Context, tell};
use crate::{check, run};

pub(crate) use self::command::RpythonArgs;

/// The name under which the binary is the original's.
const NAME: &str = "rpython";

/// The command line of the process, if the binary has the original's name.
pub(crate) fn of_process() -> Option<Result<Cli, clap::Error>> {
    let mut words = std::env::args_os();
    let program = words.next()?;
    if Path::new(&program).file_name() != Some(OsStr::new(NAME)) {
        return None;
    }
    let mut all = crate::command();
    let command = all.find_subcommand_mut(NAME)?;
    let mut command = command.clone().bin_name(NAME).version(crate::VERSION);
    let parsed = command
        .try_get_matches_from_mut(std::iter::once(program).chain(words))
        .and_then(|matches| RpythonArgs::from_arg_matches(&matches));
    Some(parsed.map(|args| Cli {
        command: Command::Rpython(args),
    }))
}

/// Sets environment variables that later steps read.
///
/// # Safety
/// The process has one thread.
pub(crate) unsafe fn set_environment(args: &RpythonArgs) {
    if let Ok(Plan {
        compiler: Some(compiler),
        ..
    }) = Plan::new(args)
    {
        // SAFETY: the process has one thread, so no other one reads the environment.
        unsafe { std::env::set_var("CC", compiler) };
    }
}

pub(crate) fn rpython(args: &RpythonArgs) -> i32 {
    let target = with_ending(&args.target);
    let plan = match Plan::new(args) {
        Ok(plan) => plan,
        Err(why) => return refuse(&why),
    };
    tell_notes(&plan);
    match parsed(args, &plan, &target) {
        Command::Check(mut a) => {
            a.common.settings.clone_from(&plan.settings);
            check::check(&a)
        }
        Command::Build(mut a) => {
            let context = match Context::once(&a.common, Some(&a.target)) {
                Ok(context) => context,
                Err(code) => return code,
            };
            complete(context, &mut a, &plan);
            let set = settings_of_target(context, &a);
            if set.is_empty() {
                return run::build_in(context, &a);
            }
            let plan = match plan.with_settings(&target, &set) {
                Ok(plan) => plan,
                Err(why) => return refuse(&why),
            };
            tell_notes(&plan);
            match parsed(args, &plan, &target) {
                Command::Build(mut a) => {
                    complete(context, &mut a, &plan);
                    run::build_in(context, &a)
                }
                Command::Check(mut a) => {
                    a.common.settings.clone_from(&plan.settings);
                    check::check(&a)
                }
                _ => 2,
            }
        }
        _ => 2,
    }
}

fn tell_notes(plan: &Plan) {
    for note in &plan.notes {
        tell(&format!("taipan: {note}\n"));
    }
}

fn refuse(why: &str) -> i32 {
    tell(&format!("taipan: {why}\n"));
    2
}

/// The target, whose ending can be left out.
fn with_ending(target: &Utf8Path) -> Utf8PathBuf {
    match target.extension() {
        Some("py") => target.to_owned(),
        _ => Utf8PathBuf::from(format!("{target}.py")),
    }
}

/// The command that a plan means.
fn parsed(args: &RpythonArgs, plan: &Plan, target: &Utf8Path) -> Command {
    let path = std::env::var("PYTHONPATH").unwrap_or_default();
    let path: Vec<Utf8PathBuf> = path
        .split(':')
        .filter(|p| !p.is_empty())
        .map(Into::into)
        .collect();
    let words = plan.command_line(target, &args.options, &path);
    match Cli::try_parse_from(words) {
        Ok(cli) => cli.command,
        // A value of the command line that `taipan build` does not take.
        Err(e) => e.exit(),
    }
}

/// The parts of a plan that `taipan build` has no options for.
fn complete(context: &Context, build: &mut BuildArgs, plan: &Plan) {
    build.common.settings.clone_from(&plan.settings);
    if plan.goal() == Goal::Source {
        let name = run::output_of(&context.db, &run::load_options(context, build), build);
        build.c.keep_source = Some(format!("{name}-source").into());
        build.c.source_only = true;
    }
}

/// Settings that `target()` makes in `driver.config.translation`.
fn settings_of_target(context: &Context, build: &BuildArgs) -> Vec<(String, String)> {
    let load = run::load_options(context, build);
    taipan_driver::target_settings(&context.db, &load, &build.target)
}
