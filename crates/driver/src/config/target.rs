//! Targets of a project, with options that count for one of them.
//!
//! ```toml
//! [[tool.taipan.targets]]
//! name = "som-ast"
//! file = "src/main.py"
//! env = { SOM_INTERP = "AST" }
//! jit = true
//! output = "som-ast"
//! ```

use camino::{Utf8Path, Utf8PathBuf};
use taipan_language::{Collector, PassSwitches};
use toml::de::{DeTable, DeValue};

use super::{Reader, Value, unknown_option};
use crate::LoadOptions;

/// A target of a project. Options that are absent are those of the project, or the defaults; the command line counts
/// before both. Paths are absolute.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TargetConfig {
    /// Its name on the command line.
    pub name: Option<String>,
    /// The file, or a folder to look for targets in.
    pub file: Utf8PathBuf,
    /// Folders to import from, behind those of the project.
    pub path: Vec<Utf8PathBuf>,
    /// Variables of the environment, beside those of the project.
    pub env: Vec<(String, String)>,
    /// Second argument of `target()`.
    pub target_options: Option<Vec<String>>,
    /// Engine of `taipan run`.
    pub engine: Option<String>,
    /// Back end: `cranelift`, `c`, `llvm`, `python` or `wasmgc`.
    pub backend: Option<String>,
    /// Optimisation level.
    pub optimize: Option<u8>,
    /// Garbage collector.
    pub gc: Option<Collector>,
    /// Whether a just-in-time compiler is generated.
    pub jit: Option<bool>,
    /// Whether code is checked while it runs.
    pub lldebug: Option<bool>,
    /// Passes over graphs that are switched on and off.
    pub passes: Option<PassSwitches>,
    /// The executable that `taipan build` makes.
    pub output: Option<Utf8PathBuf>,
}

/// The keys of a target.
const KEYS: &[&str] = &[
    "name",
    "file",
    "path",
    "env",
    "target-options",
    "engine",
    "backend",
    "optimize",
    "gc",
    "jit",
    "lldebug",
    "passes",
    "output",
];

impl TargetConfig {
    /// A target without options.
    pub fn plain(file: Utf8PathBuf) -> TargetConfig {
        TargetConfig {
            file,
            ..TargetConfig::default()
        }
    }

    /// Whether a file, by its absolute path, is this target or lies in its folder.
    pub fn has(&self, file: &Utf8Path) -> bool {
        file.starts_with(&self.file)
    }

    /// Adds the options of this target to those of its project.
    pub fn apply(&self, load: &mut LoadOptions) {
        load.path.extend(self.path.iter().cloned());
        load.environment = self.environment(&load.environment);
        if let Some(options) = &self.target_options {
            load.target_options.clone_from(options);
        }
        load.translation.level = self.optimize.or(load.translation.level);
        load.translation.jit = self.jit.unwrap_or(load.translation.jit);
    }

    /// Variables of the project and of this target, sorted.
    pub fn environment(&self, project: &[(String, String)]) -> Vec<(String, String)> {
        let is_set = |name: &String| self.env.iter().any(|(n, _)| n == name);
        let others = project.iter().filter(|(name, _)| !is_set(name));
        let mut all: Vec<_> = others.chain(&self.env).cloned().collect();
        all.sort();
        all
    }
}

impl Reader {
    /// `targets`: paths, and tables with options.
    pub(super) fn targets(&mut self, value: &Value<'_>, root: &Utf8Path) -> Vec<TargetConfig> {
        let Some(items) = value.get_ref().as_array() else {
            self.wrong(
                value.span(),
                "`targets` must be an array of paths, and of tables with options".to_owned(),
            );
            return Vec::new();
        };
        let mut all: Vec<TargetConfig> = Vec::new();
        for item in items {
            let target = match item.get_ref() {
                DeValue::Table(table) => self.target(item, table, root),
                DeValue::String(path) => Some(TargetConfig::plain(root.join(&**path))),
                _ => {
                    self.wrong(
                        item.span(),
                        "a target is a path, or a table with `file`".to_owned(),
                    );
                    None
                }
            };
            let Some(target) = target else { continue };
            if target.name.is_some() && all.iter().any(|t| t.name == target.name) {
                let name = target.name.as_deref().unwrap_or_default();
                let message = format!("there are several targets named `{name}`");
                self.wrong(item.span(), message);
                continue;
            }
            all.push(target);
        }
        all
    }

    fn target(
        &mut self,
        item: &Value<'_>,
        table: &DeTable<'_>,
        root: &Utf8Path,
    ) -> Option<TargetConfig> {
        let mut target = TargetConfig::default();
        let mut file = None;
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(k, _)| k.span().start);
        for (key, value) in entries {
            let name = &**key.get_ref();
            match name {
                "name" => target.name = self.name(value),
                "file" => file = self.text(name, value).map(|f| root.join(f)),
                "path" => target.path = self.paths(name, value, root),
                "env" => target.env = self.variables(value),
                "target-options" => target.target_options = self.texts(name, value),
                "engine" => {
                    target.engine =
                        self.one_of(value, &["native", "llinterp", "ootype", "c", "python"]);
                }
                "backend" => {
                    target.backend =
                        self.one_of(value, &["cranelift", "c", "llvm", "python", "wasmgc"]);
                }
                "optimize" => target.optimize = self.level(value),
                "gc" => {
                    let names: Vec<&str> = Collector::ALL.iter().map(|c| c.name()).collect();
                    let chosen = self.one_of(value, &names);
                    target.gc = chosen.and_then(|name| Collector::named(&name));
                }
                "jit" => target.jit = self.truth(name, value),
                "lldebug" => target.lldebug = self.truth(name, value),
                "passes" => target.passes = self.switches(value),
                "output" => target.output = self.text(name, value).map(|f| root.join(f)),
                other => {
                    let span = self.span(key.span());
                    let message = format!("a target has no option `{other}`");
                    self.diagnostics.push(unknown_option(span, message, KEYS));
                }
            }
        }
        let Some(file) = file else {
            if !table.contains_key("file") {
                let message = "`file` is missing: the path of the target".to_owned();
                self.wrong(item.span(), message);
            }
            return None;
        };
        Some(TargetConfig { file, ..target })
    }

    /// A name that the command line can tell from a path.
    fn name(&mut self, value: &Value<'_>) -> Option<String> {
        let name = self.text("name", value)?;
        let is_word =
            |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+') && c != '/';
        if name.chars().all(is_word) && !name.starts_with(['-', '.']) && !name.ends_with(".py") {
            return (!name.is_empty()).then_some(name);
        }
        self.wrong(
            value.span(),
            "`name` must be one word, without `/` and not ending in `.py`".to_owned(),
        );
        None
    }

    fn level(&mut self, value: &Value<'_>) -> Option<u8> {
        let n = value.get_ref().as_integer();
        let n = n.and_then(|n| u8::from_str_radix(n.as_str(), n.radix()).ok());
        let n = n.filter(|n| *n <= 3);
        if n.is_none() {
            self.wrong(value.span(), "`optimize` must be 0, 1, 2 or 3".to_owned());
        }
        n
    }

    fn switches(&mut self, value: &Value<'_>) -> Option<PassSwitches> {
        match self.text("passes", value)?.parse() {
            Ok(switches) => Some(switches),
            Err(why) => {
                self.wrong(value.span(), why);
                None
            }
        }
    }

    pub(super) fn truth(&mut self, key: &str, value: &Value<'_>) -> Option<bool> {
        let truth = value.get_ref().as_bool();
        if truth.is_none() {
            self.wrong(value.span(), format!("`{key}` must be true or false"));
        }
        truth
    }
}
