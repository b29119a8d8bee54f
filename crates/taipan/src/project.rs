//! Settings of the project that apply before a command starts: its target, and environment variables.

use std::ffi::OsStr;

use camino::{Utf8Path, Utf8PathBuf};
use taipan_driver::{Config, Database, Failure, find_config, find_targets};

use crate::args::{Command, WatchCommand};
use crate::output::tell;

/// Puts the project's target where the command line names a folder or none. Sets the variables of its configuration
/// that the process does not have, for commands that run the program. Returns the exit code if there is no target.
///
/// # Safety
/// The process has one thread.
pub(crate) unsafe fn prepare(command: &mut Command) -> Result<(), u8> {
    let runs = match command {
        Command::Run(_) | Command::Test(_) => true,
        Command::Watch(w) => matches!(w.command, WatchCommand::Run(_) | WatchCommand::Test(_)),
        _ => false,
    };
    let (about, target) = match command {
        Command::Run(a) => {
            a.target = a.given().into();
            (a.target.clone(), Some(&mut a.target))
        }
        Command::Watch(w) => match &mut w.command {
            WatchCommand::Run(a) => {
                a.run.target = a.run.given().into();
                (a.run.target.clone(), Some(&mut a.run.target))
            }
            WatchCommand::Build(a) => (a.target.clone(), Some(&mut a.target)),
            WatchCommand::Test(a) => (tests(&a.paths), None),
            WatchCommand::Check(a) => {
                configured(&mut a.paths);
                return Ok(());
            }
        },
        Command::Check(a) => {
            configured(&mut a.paths);
            return Ok(());
        }
        Command::Build(a) => (a.target.clone(), Some(&mut a.target)),
        Command::Explore(a) => (a.target.clone(), Some(&mut a.target)),
        Command::Test(a) => (tests(&a.paths), None),
        _ => return Ok(()),
    };
    let Ok(about) = camino::absolute_utf8(&about) else {
        return Ok(());
    };
    // The command itself reports errors in the configuration.
    let (db, config) = project(&about);
    // Import time reads them from the configuration. Only commands that run the program set them for the process, since
    // they also decide which executables names refer to.
    let variables = if runs { &config.env[..] } else { &[] };
    for (name, value) in variables {
        if std::env::var_os(OsStr::new(name)).is_none() {
            // SAFETY: as the caller promises.
            unsafe { std::env::set_var(name, value) };
        }
    }
    if let Some(target) = target
        && target.is_dir()
    {
        *target = only_target(&db, &config, target).map_err(|why| {
            tell(&format!("taipan: {why}\n"));
            2
        })?;
    }
    Ok(())
}

/// Puts the configured targets in the place of a folder that has a configuration of its own.
fn configured(paths: &mut Vec<Utf8PathBuf>) {
    let here = camino::absolute_utf8(".").unwrap_or_default();
    let mut all = Vec::new();
    for path in paths.drain(..) {
        let found = (path.join("pyproject.toml").is_file())
            .then(|| camino::absolute_utf8(&path).ok())
            .flatten()
            .map(|folder| project(&folder).1.targets);
        match found {
            Some(targets) if !targets.is_empty() => {
                all.extend(targets.iter().map(|t| shortened(t, &here)));
            }
            _ => all.push(path),
        }
    }
    *paths = all;
}

/// A path as one writes it in a folder.
fn shortened(path: &Utf8Path, here: &Utf8Path) -> Utf8PathBuf {
    let path = path.strip_prefix("./").unwrap_or(path);
    path.strip_prefix(here).unwrap_or(path).to_owned()
}

/// The file or folder by which the project of tests is found.
fn tests(paths: &[Utf8PathBuf]) -> Utf8PathBuf {
    let first = paths.first().map_or(".", |p| p.as_str());
    first.split("::").next().unwrap_or(first).into()
}

/// The configuration of the project that a file or folder belongs to. No database is made where there is none.
fn project(about: &Utf8Path) -> (Option<Database>, Config) {
    let is_there = |folder: &Utf8Path| folder.join("pyproject.toml").is_file();
    if !about.ancestors().any(is_there) {
        return (None, Config::default());
    }
    let db = Database::default();
    let found = find_config(&db, about).and_then(|(_, read)| read.config.clone());
    (Some(db), found.unwrap_or_default())
}

/// The one target of the project in a folder: the configured one, or the one file there that is a target.
fn only_target(
    db: &Option<Database>,
    config: &Config,
    folder: &Utf8Path,
) -> Result<Utf8PathBuf, String> {
    let owned;
    let reader = match db {
        Some(db) => db,
        None => {
            owned = Database::default();
            &owned
        }
    };
    let configured = match config.targets.is_empty() {
        true => &[folder.to_owned()][..],
        false => &config.targets,
    };
    let found = find_targets(reader, configured).map_err(|f| match f {
        Failure::Usage(why) => format!("{why}: name the target, as in `taipan run main.py`"),
        _ => format!("{folder}: no target"),
    })?;
    let here = camino::absolute_utf8(".").unwrap_or_default();
    let short = |path: &Utf8PathBuf| shortened(path, &here);
    match &found[..] {
        [one] => Ok(short(one)),
        several => {
            let names: Vec<String> = several.iter().map(|p| short(p).into_string()).collect();
            Err(format!(
                "{folder}: there are several targets, name one of them: {}",
                names.join(", ")
            ))
        }
    }
}
