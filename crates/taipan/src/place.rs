//! Where the cache of a command is.

use camino::{Utf8Path, Utf8PathBuf};
use taipan_driver::{Cache, CacheLimits, CacheSecret, Config, is_inside, project_root};

use crate::output::tell;

/// The place of a cache.
pub(crate) enum Place {
    /// A folder that was given.
    Folder(Utf8PathBuf),
    /// The default one of a project with this root, in the user's cache folder.
    Project(Utf8PathBuf),
}

impl Place {
    /// The place for a command on a target: by the command line, else by the project's configuration,
    /// which must not lead out of the project.
    pub(crate) fn new(given: Option<&Utf8PathBuf>, config: &Config, target: &Utf8Path) -> Place {
        if let Some(folder) = given {
            return Place::Folder(folder.clone());
        }
        match &config.cache_dir {
            Some(folder) if is_inside(folder, &config.root) => Place::Folder(folder.clone()),
            Some(folder) => {
                tell(&format!(
                    "taipan: `cache-dir` leads outside of the project by a symbolic link: {folder} is not \
                     used, but the default folder\n"
                ));
                Place::Project(project_root(target))
            }
            None => Place::Project(project_root(target)),
        }
    }

    /// Opens the cache; it is off where there is no key to authenticate entries by.
    pub(crate) fn open(&self) -> Cache {
        let Some(secret) = CacheSecret::of_process() else {
            return Cache::default();
        };
        match self {
            Place::Folder(folder) => Cache::open(folder, CacheLimits::default(), secret),
            Place::Project(root) => Cache::of_project(root, CacheLimits::default(), secret),
        }
    }
}
