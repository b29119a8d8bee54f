//! Which programs the workspace's folders have.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use taipan_base::{File, OsSystem, Program};
use taipan_driver::{
    Config, ConfigFile, Database, LoadOptions, Past, TargetConfig, configured_targets, find_config,
    find_targets, load, parse_size,
};

use crate::settings::Settings;

/// A folder without configuration may hold a whole source tree; more programs than this
/// are not looked at unless one asks for them.
const MOST_FOUND: usize = 32;

/// A workspace folder with what is known of its programs.
#[derive(Clone, Debug)]
pub(crate) struct Project {
    /// The folder.
    pub(crate) folder: Utf8PathBuf,
    /// Targets found by searching it; none before a search ended.
    pub(crate) found: Option<Vec<Utf8PathBuf>>,
    /// Whether a search is due or under way.
    pub(crate) search: Search,
}

/// State of the search of a folder for targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Search {
    /// Files may have been created since the last search began.
    Due,
    /// A worker searches.
    Running,
    /// `found` is current.
    Over,
}

impl Project {
    /// A folder that was not searched yet.
    pub(crate) fn new(folder: Utf8PathBuf) -> Project {
        Project {
            folder,
            found: None,
            search: Search::Due,
        }
    }

    /// Whether the first search is running.
    pub(crate) fn is_unknown(&self) -> bool {
        self.found.is_none() && self.search == Search::Running
    }
}

/// The programs of all folders.
#[derive(Default)]
pub(crate) struct Loaded {
    /// In the order of folders and targets.
    pub(crate) programs: Vec<Program>,
    /// Folders that are known to hold RPython.
    pub(crate) folders: Vec<(Utf8PathBuf, LoadOptions)>,
    /// The configuration files that count.
    pub(crate) configs: Vec<(File, Arc<ConfigFile>)>,
    /// Folders whose search for targets is due.
    pub(crate) unsearched: Vec<Utf8PathBuf>,
    /// What could not be loaded, for the log.
    pub(crate) problems: Vec<String>,
}

/// Loads the programs of some folders.
pub(crate) fn load_all(db: &Database, projects: &[Project], settings: &Settings) -> Loaded {
    let mut loaded = Loaded::default();
    for project in projects {
        let folder = &project.folder;
        let config = match find_config(db, folder) {
            Some((file, read)) => {
                let config = read.config.clone().unwrap_or_default();
                loaded.configs.push((file, read));
                config
            }
            None => Config::default(),
        };
        let options = options(folder, &config, settings);
        let set = !settings.targets.is_empty() || !settings.path.is_empty();
        if set || config.root.as_str() != "" {
            loaded.folders.push((folder.clone(), options.clone()));
        }
        let targets = if !settings.targets.is_empty() {
            let paths = settings.targets.iter().map(|t| folder.join(t));
            search(paths.map(TargetConfig::plain), &mut loaded)
        } else if !config.targets.is_empty() {
            search(config.targets.iter().cloned(), &mut loaded)
        } else {
            if project.search == Search::Due {
                loaded.unsearched.push(folder.clone());
            }
            // Known programs stay until the next search has ended.
            let found = project.found.clone().unwrap_or_default();
            found.into_iter().map(|file| (file, None)).collect()
        };
        for (target, of_target) in targets {
            // A folder may hold projects of their own.
            let own = target.parent().and_then(|dir| find_config(db, dir));
            let own = own.and_then(|(_, read)| read.config.clone());
            let options = match own {
                Some(own) if own.root != config.root => self::options(folder, &own, settings),
                _ => {
                    let mut options = options.clone();
                    if let Some(of_target) = &of_target {
                        of_target.apply(&mut options);
                    }
                    options
                }
            };
            match load(db, &target, &options) {
                Ok(p) if !loaded.programs.contains(&p) => loaded.programs.push(p),
                Ok(_) => {}
                Err(e) => loaded.problems.push(format!("{e:?}")),
            }
        }
    }
    loaded
}

/// How the modules of a program are found.
fn options(folder: &Utf8Path, config: &Config, settings: &Settings) -> LoadOptions {
    let mut options = LoadOptions {
        path: settings.path.iter().map(|p| folder.join(p)).collect(),
        target_options: config.target_options.clone(),
        environment: config.env.clone(),
        trusted: settings.trusted,
        ..LoadOptions::default()
    };
    options.path.extend(config.path.iter().cloned());
    if let Some(limit) = settings.step_limit.or(config.step_limit) {
        options.step_limit = limit;
    }
    let limit = settings.memory_limit.as_deref().and_then(parse_size);
    if let Some(limit) = limit.or(config.memory_limit) {
        options.memory_limit = Some(limit);
    }
    options
}

/// What is looked through for targets is no input of the database: it may be large.
fn disk() -> OsSystem {
    OsSystem::new(&[])
}

/// Configured targets: files, and what folders hold.
fn search(
    targets: impl Iterator<Item = TargetConfig>,
    loaded: &mut Loaded,
) -> Vec<(Utf8PathBuf, Option<TargetConfig>)> {
    let mut out = Vec::new();
    for target in targets {
        match configured_targets(&Past(&disk()), &[target]) {
            Ok(found) => out.extend(
                found
                    .into_iter()
                    .map(|(file, options)| (file, Some(options))),
            ),
            Err(e) => loaded.problems.push(format!("{e:?}")),
        }
    }
    out
}

/// The targets in a folder. Takes its time in a big one.
pub(crate) fn search_folder(folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut found = find_targets(&Past(&disk()), &[folder.to_owned()]).unwrap_or_default();
    found.truncate(MOST_FOUND);
    found
}
