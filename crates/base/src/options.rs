//! The options of a program.

use std::sync::Arc;

use camino::Utf8PathBuf;
use taipan_language::{Collector, Machine, PassSet};

/// Everything that the results about a program depend on beside its target and the contents of files.
///
/// This is the only place where such an option stands. Results in the database depend on the input
/// [`crate::Program`], which holds all options. Results on disk have the hash of all of them in their keys,
/// or of those that matter to a stage: [`LoadOptions::stages`] and [`LoadOptions::import_time`] name every
/// field, so a new one does not compile until it is decided whether the stage depends on it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LoadOptions {
    /// Folders to import from, in order, after the target's own folder and its package root.
    pub path: Vec<Utf8PathBuf>,
    /// Import-time bytecode instructions that may run before it is called endless.
    pub step_limit: u64,
    /// Bytes that the objects of import time may take; any number without it.
    pub memory_limit: Option<u64>,
    /// The target is a test module: import time looks for its tests, not for an entry point.
    pub tests: bool,
    /// Code checks for undefined behaviour (RPython: `--lldebug`).
    pub checked: bool,
    /// Code comes with debug information.
    pub debug: bool,
    /// The target is a module for Python: import time looks for its functions and classes, not for an entry point.
    pub extension: bool,
    /// The only function that a module for Python offers, and its types as a comment declares them:
    /// `(int, str) -> float`. All functions with declared types without it.
    pub declared: Option<(Arc<str>, Arc<str>)>,
    /// The program is a library for C: keys of the functions that it offers (`rpython.rlib.entrypoint`).
    pub entrypoints: Option<Arc<str>>,
    /// The garbage collector that code is made for.
    pub collector: Collector,
    /// The machine that the program is compiled for.
    pub machine: Machine,
    /// The passes over graphs that run.
    pub passes: PassSet,
    /// Native code that the program brings along may run while it is imported, with the user's rights: the
    /// user trusts its folder, or has run a command that allows it.
    pub trusted: bool,
    /// The argument `args` of `target()`.
    pub target_options: Vec<String>,
    /// Options of the command line that a `conftest.py` of a test file has to declare.
    pub conftest_options: Vec<String>,
    /// Modules with fixtures and hooks for all test files, beside their `conftest.py` files.
    pub test_plugins: Vec<String>,
    /// Options of the translation, as `driver.config` shows them to the program.
    pub translation: Translation,
    /// Further options that are set in `driver.config.translation`: paths below it and values, as texts.
    pub settings: Vec<(String, String)>,
    /// Variables of the environment that import time sees where the process has none of that name.
    pub environment: Vec<(String, String)>,
}

impl Default for LoadOptions {
    fn default() -> Self {
        LoadOptions {
            memory_limit: Some(default_memory_limit()),
            ..LoadOptions::limited(Vec::new(), 1_000_000_000)
        }
    }
}

/// The options that graphs of functions and their code depend on. Beside these, each stage depends on the
/// passes up to it, and code on the collector.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StageOptions {
    /// As in [`LoadOptions`].
    pub checked: bool,
    /// As in [`LoadOptions`].
    pub extension: bool,
    /// As in [`LoadOptions`].
    pub machine: Machine,
}

impl LoadOptions {
    /// The defaults with these folders to import from and this limit, and any number of bytes at import time.
    pub fn limited(path: Vec<Utf8PathBuf>, step_limit: u64) -> LoadOptions {
        LoadOptions {
            path,
            step_limit,
            memory_limit: None,
            tests: false,
            checked: false,
            debug: false,
            extension: false,
            declared: None,
            entrypoints: None,
            collector: Collector::default(),
            machine: Machine::default(),
            passes: PassSet::default(),
            trusted: false,
            target_options: Vec::new(),
            conftest_options: Vec::new(),
            test_plugins: Vec::new(),
            translation: Translation::default(),
            settings: Vec::new(),
            environment: Vec::new(),
        }
    }

    /// The options that graphs of functions and their code depend on.
    pub fn stages(&self) -> StageOptions {
        let LoadOptions {
            checked,
            extension,
            machine,
            // Keys of stages add these where they matter.
            passes: _,
            collector: _,
            debug: _,
            // These change the objects of import time, which graphs depend on by themselves.
            path: _,
            step_limit: _,
            memory_limit: _,
            tests: _,
            declared: _,
            entrypoints: _,
            trusted: _,
            target_options: _,
            conftest_options: _,
            test_plugins: _,
            translation: _,
            settings: _,
            environment: _,
        } = self;
        StageOptions {
            checked: *checked,
            extension: *extension,
            machine: *machine,
        }
    }

    /// The same options, with those that import time does not read set to their defaults.
    #[must_use]
    pub fn import_time(&self) -> LoadOptions {
        let LoadOptions {
            path,
            step_limit,
            memory_limit,
            tests,
            checked: _,
            debug: _,
            extension,
            declared,
            entrypoints,
            collector,
            machine,
            passes: _,
            trusted,
            target_options,
            conftest_options,
            test_plugins,
            translation,
            settings,
            environment,
        } = self;
        LoadOptions {
            path: path.clone(),
            step_limit: *step_limit,
            memory_limit: *memory_limit,
            tests: *tests,
            checked: false,
            debug: false,
            extension: *extension,
            declared: declared.clone(),
            entrypoints: entrypoints.clone(),
            collector: *collector,
            machine: *machine,
            passes: PassSet::default(),
            trusted: *trusted,
            target_options: target_options.clone(),
            conftest_options: conftest_options.clone(),
            test_plugins: test_plugins.clone(),
            translation: *translation,
            settings: settings.clone(),
            environment: environment.clone(),
        }
    }
}

/// Options of the translation that a target can read from `driver.config`. The collector is kept separately.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Translation {
    /// Optimisation level; None if the command line has no `-O`.
    pub level: Option<u8>,
    /// A just-in-time compiler is generated.
    pub jit: bool,
}

impl Translation {
    /// The level by the original's name (`-O2`, `-Ojit`).
    pub fn level_name(self) -> String {
        match (self.level, self.jit) {
            (Some(level), _) => level.to_string(),
            (None, true) => "jit".to_owned(),
            (None, false) => "2".to_owned(),
        }
    }
}

/// Memory limit of import time where the size of the machine's memory is unknown.
const UNKNOWN: u64 = 2 << 30;
/// The default is a multiple of this: the kernel reserves another amount after each start.
const GRAIN: u64 = 256 << 20;

/// Bytes that import time may take by default: a quarter of the machine's memory.
fn default_memory_limit() -> u64 {
    // SAFETY: `sysconf` has no preconditions.
    let (pages, size) = unsafe {
        (
            libc::sysconf(libc::_SC_PHYS_PAGES),
            libc::sysconf(libc::_SC_PAGESIZE),
        )
    };
    let all = u64::try_from(pages).ok().zip(u64::try_from(size).ok());
    let quarter = all.map_or(UNKNOWN, |(pages, size)| pages.saturating_mul(size) / 4);
    quarter.next_multiple_of(GRAIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Options of the back end leave the objects of import time, and graphs, as they are.
    #[test]
    fn stages_depend_on_their_options() {
        let plain = LoadOptions::limited(Vec::new(), 1);
        let described = LoadOptions {
            debug: true,
            passes: PassSet::EMPTY,
            ..plain.clone()
        };
        assert_ne!(described, plain);
        assert_eq!(described.import_time(), plain.import_time());
        assert_eq!(described.stages(), plain.stages());
        let checked = LoadOptions {
            checked: true,
            ..plain.clone()
        };
        assert_eq!(checked.import_time(), plain.import_time());
        assert_ne!(checked.stages(), plain.stages());
        let module = LoadOptions {
            extension: true,
            ..plain.clone()
        };
        assert_ne!(module.import_time(), plain.import_time());
        assert_ne!(module.stages(), plain.stages());
    }

    #[test]
    fn the_default_is_a_quarter_of_the_memory() {
        assert!(default_memory_limit() >= GRAIN);
        assert_eq!(default_memory_limit() % GRAIN, 0);
    }
}
