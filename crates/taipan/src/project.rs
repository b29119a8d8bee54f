//! Settings of the project that apply before a command starts: its target with the options of that, its tests, and
//! environment variables.

use std::ffi::OsStr;

use camino::{Utf8Path, Utf8PathBuf};
use clap::ValueEnum as _;
use taipan_driver::{
    Config, Database, Failure, TargetConfig, configured_targets, find_config, find_targets,
    test_paths,
};

use crate::args::{Backend, CodeOptions, Command, Engine, PassOptions, WatchCommand};
use crate::output::tell;

/// Puts the project's target where the command line names a folder, a target of the project, or none. Takes over the
/// options of that target that the command line does not give. Sets the variables of the configuration that the process
/// does not have, for commands that run the program. Returns the exit code if there is no target.
///
/// # Safety
/// The process has one thread.
pub(crate) unsafe fn prepare(command: &mut Command) -> Result<(), u8> {
    let runs = match command {
        Command::Run(_) | Command::Test(_) => true,
        Command::Watch(w) => {
            matches!(
                w.command_mut(),
                WatchCommand::Run(_) | WatchCommand::Test(_)
            )
        }
        _ => false,
    };
    if let Some(paths) = checked(command) {
        others_configured(paths);
        return Ok(());
    }
    if let Some(paths) = tested(command) {
        let about = tests(paths);
        let Ok(about) = camino::absolute_utf8(&about) else {
            return Ok(());
        };
        let (db, config) = project(&about);
        if let Some(db) = &db
            && paths.is_empty()
        {
            let here = camino::absolute_utf8(".").unwrap_or_default();
            let found = test_paths(db, &here);
            paths.extend(found.iter().map(|p| shortened(p, &here)));
        }
        // SAFETY: the caller vouches that the process has one thread; reading a configuration
        // starts none.
        unsafe { set_variables(&config.env) };
        return Ok(());
    }
    let Some(mut parts) = parts(command) else {
        return Ok(());
    };
    let Ok(about) = camino::absolute_utf8(&*parts.target) else {
        return Ok(());
    };
    // The command itself reports errors in the configuration.
    let (db, config) = project(&about);
    let (file, options) = chosen(&db, &config, parts.target).map_err(|why| {
        tell(&format!("taipan: {why}\n"));
        2
    })?;
    *parts.target = file;
    // Import time reads them from the configuration. Only commands that run the program set them for the process, since
    // they also decide which executables names refer to.
    if runs {
        let all = options
            .as_ref()
            .map_or_else(|| config.env.clone(), |o| o.environment(&config.env));
        // SAFETY: the caller vouches that the process has one thread; reading a configuration and
        // looking for targets starts none.
        unsafe { set_variables(&all) };
    }
    if let Some(options) = options {
        parts.apply(&options);
        *parts.options = Some(options);
    }
    Ok(())
}

/// # Safety
/// The process has one thread.
unsafe fn set_variables(variables: &[(String, String)]) {
    for (name, value) in variables {
        if std::env::var_os(OsStr::new(name)).is_none() {
            // SAFETY: the process has one thread, so no other one reads the environment.
            unsafe { std::env::set_var(name, value) };
        }
    }
}

/// The paths that a command checks.
fn checked(command: &mut Command) -> Option<&mut Vec<Utf8PathBuf>> {
    match command {
        Command::Check(a) => Some(&mut a.paths),
        Command::Watch(w) => match w.command_mut() {
            WatchCommand::Check(a) => Some(&mut a.paths),
            _ => None,
        },
        _ => None,
    }
}

/// The paths that a command runs tests of.
fn tested(command: &mut Command) -> Option<&mut Vec<Utf8PathBuf>> {
    match command {
        Command::Test(a) => Some(&mut a.paths),
        Command::Watch(w) => match w.command_mut() {
            WatchCommand::Test(a) => Some(&mut a.paths),
            _ => None,
        },
        _ => None,
    }
}

/// The target of a command line, and the options that a target of the project may set.
struct Parts<'a> {
    target: &'a mut Utf8PathBuf,
    options: &'a mut Option<TargetConfig>,
    code: Option<&'a mut CodeOptions>,
    passes: Option<&'a mut PassOptions>,
    engine: Option<&'a mut Option<Engine>>,
    output: Option<&'a mut Option<Utf8PathBuf>>,
    /// Whether code is made by the back end that the command line names.
    any_backend: bool,
}

fn parts(command: &mut Command) -> Option<Parts<'_>> {
    let (run, watched) = match command {
        Command::Run(a) => (a, false),
        Command::Watch(w) => match w.command_mut() {
            WatchCommand::Run(a) => (&mut a.run, true),
            WatchCommand::Build(a) => return Some(parts_of_build(a)),
            WatchCommand::Check(_) | WatchCommand::Test(_) => return None,
        },
        Command::Build(a) => return Some(parts_of_build(a)),
        Command::Explore(a) => {
            return Some(Parts {
                target: &mut a.target,
                options: &mut a.options,
                code: None,
                passes: Some(&mut a.passes),
                engine: None,
                output: None,
                any_backend: false,
            });
        }
        _ => return None,
    };
    run.target = run.given().into();
    Some(Parts {
        target: &mut run.target,
        options: &mut run.common.options,
        code: Some(&mut run.code),
        passes: None,
        engine: Some(&mut run.engine),
        output: None,
        any_backend: !watched,
    })
}

fn parts_of_build(a: &mut crate::args::BuildArgs) -> Parts<'_> {
    // Other kinds of output have names of their own.
    let is_executable = !a.extension && a.for_machine.is_default();
    Parts {
        target: &mut a.target,
        options: &mut a.common.options,
        code: Some(&mut a.code),
        passes: None,
        engine: None,
        output: is_executable.then_some(&mut a.output),
        any_backend: !a.extension,
    }
}

impl Parts<'_> {
    /// Takes over options that the command line does not give.
    fn apply(&mut self, options: &TargetConfig) {
        if let Some(code) = &mut self.code {
            let engine = self.engine.as_deref().copied().flatten();
            if self.any_backend && engine.is_none() && code.backend.is_none() {
                let backend = options.backend.as_deref();
                code.backend = backend.and_then(|b| Backend::from_str(b, false).ok());
                if let (Some(engine), None) = (self.engine.as_deref_mut(), code.backend) {
                    let named = options.engine.as_deref();
                    *engine = named.and_then(|e| Engine::from_str(e, false).ok());
                }
            }
            code.optimize = code.optimize.or(options.optimize);
            code.collector.gc = code.collector.gc.or(options.gc);
            code.jit = code.jit.or(options.jit);
            code.checks.lldebug = code.checks.lldebug.or(options.lldebug);
            code.passes.take(options);
        }
        if let Some(passes) = &mut self.passes {
            passes.take(options);
        }
        if let Some(output) = &mut self.output
            && output.is_none()
        {
            let here = camino::absolute_utf8(".").unwrap_or_default();
            **output = options.output.as_ref().map(|o| shortened(o, &here));
        }
    }
}

/// Puts the configured targets in the place of folders that have a configuration of their own. That of the first path
/// is the command's.
fn others_configured(paths: &mut Vec<Utf8PathBuf>) {
    let here = camino::absolute_utf8(".").unwrap_or_default();
    let mut all = Vec::new();
    for (i, path) in paths.drain(..).enumerate() {
        let found = (i > 0 && path.join("pyproject.toml").is_file())
            .then(|| camino::absolute_utf8(&path).ok())
            .flatten()
            .map(|folder| project(&folder).1.targets);
        match found {
            Some(targets) if !targets.is_empty() => {
                all.extend(targets.iter().map(|t| shortened(&t.file, &here)));
            }
            _ => all.push(path),
        }
    }
    *paths = all;
}

/// A path as one writes it in a folder.
pub(crate) fn shortened(path: &Utf8Path, here: &Utf8Path) -> Utf8PathBuf {
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

/// The variables of the environment that the project of a target, its name, a folder or a test file sets for the program.
pub(crate) fn environment(here: &Utf8Path, given: &str) -> Vec<(String, String)> {
    let about = here.join(given);
    let (db, config) = project(&about);
    let target = match config.named(given) {
        Some(_) => Utf8Path::new(given),
        None => &about,
    };
    match chosen(&db, &config, target) {
        Ok((_, Some(options))) => options.environment(&config.env),
        _ => config.env.clone(),
    }
}

/// The target that a command line means, with its options in the configuration: a target by its name, a file, or the one
/// target of the project in a folder.
fn chosen(
    db: &Option<Database>,
    config: &Config,
    given: &Utf8Path,
) -> Result<(Utf8PathBuf, Option<TargetConfig>), String> {
    if let Some(target) = config.named(given.as_str()) {
        return only_target(db, std::slice::from_ref(target), &target.file);
    }
    if given.is_dir() {
        return match &config.targets[..] {
            [] => only_target(db, &[TargetConfig::plain(given.to_owned())], given),
            targets => only_target(db, targets, given),
        };
    }
    let names: Vec<&str> = (config.targets.iter())
        .filter_map(|t| t.name.as_deref())
        .collect();
    if !given.exists() && !names.is_empty() && !given.as_str().contains(['/', '.']) {
        return Err(format!(
            "there is no file and no target `{given}`; the targets are: {}",
            names.join(", ")
        ));
    }
    let absolute = camino::absolute_utf8(given).unwrap_or_default();
    Ok((given.to_owned(), config.target_of(&absolute).cloned()))
}

/// The one file that some targets stand for.
fn only_target(
    db: &Option<Database>,
    targets: &[TargetConfig],
    given: &Utf8Path,
) -> Result<(Utf8PathBuf, Option<TargetConfig>), String> {
    let owned;
    let reader = match db {
        Some(db) => db,
        None => {
            owned = Database::default();
            &owned
        }
    };
    let found = configured_targets(reader, targets).map_err(|f| match f {
        Failure::Usage(why) => format!("{why}: name the target, as in `taipan run main.py`"),
        _ => format!("{given}: no target"),
    })?;
    let here = camino::absolute_utf8(".").unwrap_or_default();
    match &found[..] {
        [(file, options)] => Ok((shortened(file, &here), Some(options.clone()))),
        several => {
            let name = |(file, options): &(Utf8PathBuf, TargetConfig)| match &options.name {
                Some(name) => name.clone(),
                None => shortened(file, &here).into_string(),
            };
            let names: Vec<String> = several.iter().map(name).collect();
            Err(format!(
                "{given}: there are several targets, name one of them: {}",
                names.join(", ")
            ))
        }
    }
}

/// Files to be checked, with their options in the configuration.
#[derive(Clone, PartialEq)]
pub(crate) struct Chosen {
    pub(crate) file: Utf8PathBuf,
    pub(crate) options: Option<TargetConfig>,
}

/// The target files that paths stand for, with names of targets among them; without paths the configured targets, else
/// this folder.
pub(crate) fn targets(
    paths: &[Utf8PathBuf],
    reader: &dyn taipan_driver::Reader,
    config: &Config,
) -> Result<Vec<Chosen>, Failure> {
    let here = camino::absolute_utf8(".").unwrap_or_default();
    let configured = |targets: &[TargetConfig]| -> Result<Vec<Chosen>, Failure> {
        let found = configured_targets(reader, targets)?;
        Ok((found.into_iter())
            .map(|(file, options)| Chosen {
                file: shortened(&file, &here),
                options: Some(options),
            })
            .collect())
    };
    if paths.is_empty() && !config.targets.is_empty() {
        return configured(&config.targets);
    }
    let default = [".".into()];
    let paths = if paths.is_empty() {
        &default[..]
    } else {
        paths
    };
    let mut all = Vec::new();
    for path in paths {
        let absolute = camino::absolute_utf8(path).unwrap_or_default();
        if let Some(target) = config.named(path.as_str()) {
            all.extend(configured(std::slice::from_ref(target))?);
        } else if absolute == config.root && !config.targets.is_empty() {
            all.extend(configured(&config.targets)?);
        } else {
            let found = find_targets(reader, std::slice::from_ref(path))?;
            all.extend(found.into_iter().map(|file| {
                let absolute = camino::absolute_utf8(&file).unwrap_or_default();
                let options = config.target_of(&absolute).cloned();
                Chosen { file, options }
            }));
        }
    }
    Ok(all)
}
