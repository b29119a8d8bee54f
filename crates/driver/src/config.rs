//! `[tool.taipan]` in `pyproject.toml`: what a project says once, for the command
//! line and for editors.
//!
//! ```toml
//! [tool.taipan]
//! targets = ["main.py"]     # what `taipan check` and editors look at; also tables, see `config/target.rs`
//! testpaths = ["tests"]     # what `taipan test` looks at
//! path = ["lib"]            # further folders to import from
//! step-limit = 1_000_000_000  # of import time
//! memory-limit = "2G"       # of import time
//! target-options = ["--full"] # what `target()` is given
//! threads = 4
//! engine = "native"         # of `taipan run`
//! env = { MODE = "full" }   # variables of the environment that are not set otherwise
//! cache = true
//! cache-dir = "build/cache" # inside of the project
//! ```

mod target;

pub use target::TargetConfig;

use std::sync::Arc;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use taipan_base::{Db, Diagnostic, ErrorCode, File, Level, Severity, Span, TextRange};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::memory::parse_size;

/// What a project's configuration says. What it leaves out is `None` or empty; paths
/// are absolute.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Config {
    /// The folder of the `pyproject.toml`.
    pub root: Utf8PathBuf,
    /// Target files, or folders to look for them in, with options.
    pub targets: Vec<TargetConfig>,
    /// Further folders to import from.
    pub path: Vec<Utf8PathBuf>,
    /// Bytecode instructions that import time may take.
    pub step_limit: Option<u64>,
    /// Bytes that the objects of import time may take.
    pub memory_limit: Option<u64>,
    /// What `target()` is given as its second argument.
    pub target_options: Vec<String>,
    /// Worker threads.
    pub threads: Option<usize>,
    /// Which engine runs programs: `native`, `llinterp`, `ootype` or `c`.
    pub engine: Option<String>,
    /// Variables of the environment, where the process has none of that name.
    pub env: Vec<(String, String)>,
    /// Levels of warnings.
    pub rules: Vec<(ErrorCode, Level)>,
    /// Whether the cache on disk is used.
    pub cache: Option<bool>,
    /// Where it lives: inside of the project, but for symbolic links.
    pub cache_dir: Option<Utf8PathBuf>,
}

/// A `pyproject.toml` as read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ConfigFile {
    /// Its `[tool.taipan]`; none if it has no such table.
    pub config: Option<Config>,
    /// Files and folders with tests: `testpaths` of that table, else of pytest's.
    pub test_paths: Vec<Utf8PathBuf>,
    /// What is wrong with that table, and with the file where it cannot be parsed.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a `pyproject.toml`. What is wrong in it is left out and told.
#[salsa::tracked(returns(clone))]
pub fn config_file(db: &dyn Db, file: File) -> Arc<ConfigFile> {
    Arc::new(read(db, file))
}

/// The configuration that counts in a folder: that of the nearest `pyproject.toml` at
/// or above it that has a `[tool.taipan]` table, or cannot be parsed.
pub fn find_config(db: &dyn Db, folder: &Utf8Path) -> Option<(File, Arc<ConfigFile>)> {
    folder.ancestors().find_map(|dir| {
        let file = db.files().get(db, &dir.join("pyproject.toml"));
        let read = file.exists(db).then(|| config_file(db, file))?;
        (read.config.is_some() || !read.diagnostics.is_empty()).then_some((file, read))
    })
}

impl Config {
    /// The target of that name.
    pub fn named(&self, name: &str) -> Option<&TargetConfig> {
        let is_named = |t: &&TargetConfig| t.name.as_deref() == Some(name);
        self.targets.iter().find(is_named)
    }

    /// The first target that a file belongs to, by its absolute path.
    pub fn target_of(&self, file: &Utf8Path) -> Option<&TargetConfig> {
        self.targets.iter().find(|t| t.has(file))
    }
}

/// Files and folders with tests that the `pyproject.toml` of a folder names.
pub fn test_paths(db: &dyn Db, folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let file = db.files().get(db, &folder.join("pyproject.toml"));
    if file.exists(db) {
        config_file(db, file).test_paths.clone()
    } else {
        Vec::new()
    }
}

fn read(db: &dyn Db, file: File) -> ConfigFile {
    let mut reader = Reader {
        file,
        diagnostics: Vec::new(),
    };
    let table = match DeTable::parse(file.text(db)) {
        Ok(t) => t.into_inner(),
        Err(e) => {
            let range = e.span().unwrap_or_default();
            reader.wrong(range, e.message().to_owned());
            return ConfigFile {
                diagnostics: reader.diagnostics,
                ..ConfigFile::default()
            };
        }
    };
    let tool = table.get("tool").and_then(|t| t.get_ref().as_table());
    let root = file.path(db).parent().unwrap_or(file.path(db)).to_owned();
    let taipan = tool.and_then(|t| t.get("taipan"));
    let test_paths = reader.test_paths(tool, &root);
    ConfigFile {
        config: taipan.map(|t| reader.config(t, root)),
        test_paths,
        diagnostics: reader.diagnostics,
    }
}

/// Collects what is wrong on the way.
struct Reader {
    file: File,
    diagnostics: Vec<Diagnostic>,
}

type Value<'i> = Spanned<DeValue<'i>>;

impl Reader {
    fn config(&mut self, value: &Value<'_>, root: Utf8PathBuf) -> Config {
        let mut config = Config {
            root,
            ..Config::default()
        };
        let Some(table) = value.get_ref().as_table() else {
            self.wrong(value.span(), "`tool.taipan` must be a table".to_owned());
            return config;
        };
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(k, _)| k.span().start);
        for (key, value) in entries {
            match &**key.get_ref() {
                "targets" => config.targets = self.targets(value, &config.root),
                // Read by `test_paths`.
                "testpaths" => {}
                "path" => config.path = self.paths(key.get_ref(), value, &config.root),
                "step-limit" => config.step_limit = self.number(key.get_ref(), value),
                "memory-limit" => config.memory_limit = self.size(key.get_ref(), value),
                "target-options" => {
                    config.target_options = self.texts(key.get_ref(), value).unwrap_or_default();
                }
                "threads" => {
                    let n: Option<u64> = self.number(key.get_ref(), value);
                    config.threads = n.and_then(|n| usize::try_from(n).ok());
                }
                "engine" => {
                    config.engine = self.one_of(value, &["native", "llinterp", "ootype", "c"])
                }
                "env" => config.env = self.variables(value),
                "rules" => config.rules = self.rules(value),
                "cache" => config.cache = self.truth("cache", value),
                "cache-dir" => {
                    config.cache_dir = self.inner_folder(value).map(|p| config.root.join(p));
                }
                other => {
                    let span = self.span(key.span());
                    let message = format!("`tool.taipan` has no option `{other}`");
                    self.diagnostics
                        .push(unknown_option(span, message, OPTIONS));
                }
            }
        }
        config
    }

    /// `testpaths` of `[tool.taipan]`, else that of pytest, where it is one text as well.
    fn test_paths(&mut self, tool: Option<&DeTable<'_>>, root: &Utf8Path) -> Vec<Utf8PathBuf> {
        if let Some(value) = table(tool, "taipan").and_then(|t| t.get("testpaths")) {
            return self.paths("testpaths", value, root);
        }
        let options = table(table(tool, "pytest"), "ini_options");
        match options.and_then(|t| t.get("testpaths")) {
            Some(value) => match value.get_ref() {
                DeValue::String(words) => words.split_whitespace().map(|w| root.join(w)).collect(),
                _ => self.paths("testpaths", value, root),
            },
            None => Vec::new(),
        }
    }

    fn span(&self, range: std::ops::Range<usize>) -> Span {
        Span {
            file: self.file,
            range: TextRange::new(range.start as u32, range.end as u32),
        }
    }

    fn wrong(&mut self, range: std::ops::Range<usize>, message: String) {
        let span = self.span(range);
        self.diagnostics.push(Diagnostic::error(
            ErrorCode::InvalidConfiguration,
            Some(span),
            message,
        ));
    }

    fn text(&mut self, key: &str, value: &Value<'_>) -> Option<String> {
        let text = value.get_ref().as_str().map(str::to_owned);
        if text.is_none() {
            self.wrong(value.span(), format!("`{key}` must be a string"));
        }
        text
    }

    /// A path that does not leave the project lexically.
    fn inner_folder(&mut self, value: &Value<'_>) -> Option<String> {
        let path = self.text("cache-dir", value)?;
        let inner = |c| matches!(c, Utf8Component::Normal(_) | Utf8Component::CurDir);
        if Utf8Path::new(&path).components().all(inner) {
            return Some(path);
        }
        let d = Diagnostic::error(
            ErrorCode::InvalidConfiguration,
            Some(self.span(value.span())),
            "`cache-dir` must be a path inside of the project: the default folder is used"
                .to_owned(),
        );
        self.diagnostics.push(Diagnostic {
            severity: Severity::Warning,
            ..d.with_help("a folder elsewhere can be given by `--cache-dir`".to_owned())
        });
        None
    }

    fn paths(&mut self, key: &str, value: &Value<'_>, root: &Utf8Path) -> Vec<Utf8PathBuf> {
        let texts = self.texts(key, value).unwrap_or_default();
        texts.into_iter().map(|p| root.join(p)).collect()
    }

    fn texts(&mut self, key: &str, value: &Value<'_>) -> Option<Vec<String>> {
        let text = |item: &Value<'_>| item.get_ref().as_str().map(str::to_owned);
        let items = value.get_ref().as_array();
        let texts = items.and_then(|items| items.iter().map(text).collect());
        if texts.is_none() {
            self.wrong(value.span(), format!("`{key}` must be an array of strings"));
        }
        texts
    }

    fn variables(&mut self, value: &Value<'_>) -> Vec<(String, String)> {
        let Some(table) = value.get_ref().as_table() else {
            self.wrong(
                value.span(),
                "`env` must be a table such as { MODE = \"full\" }".to_owned(),
            );
            return Vec::new();
        };
        let mut all = Vec::new();
        for (name, value) in table.iter() {
            let name = &**name.get_ref();
            if name.is_empty() || name.contains(['=', '\0']) || name.starts_with("TAIPAN") {
                let message = format!("`env` cannot set `{name}`");
                self.wrong(value.span(), message);
            } else if let Some(text) = self.text(name, value) {
                all.push((name.to_owned(), text));
            }
        }
        all.sort();
        all
    }

    /// Levels by codes, such as `TP0317 = "ignore"`.
    fn rules(&mut self, value: &Value<'_>) -> Vec<(ErrorCode, Level)> {
        let Some(table) = value.get_ref().as_table() else {
            let message = "`rules` must be a table such as { TP0317 = \"ignore\" }";
            self.wrong(value.span(), message.to_owned());
            return Vec::new();
        };
        let mut all = Vec::new();
        for (key, value) in table.iter() {
            let name = &**key.get_ref();
            let Some(code) = ErrorCode::named(name).filter(|c| c.level().is_some()) else {
                let what = match ErrorCode::named(name) {
                    Some(_) => format!("`{name}` is an error: it has no level"),
                    None => format!("there is no warning `{name}`"),
                };
                let warnings = ErrorCode::ALL.iter().filter(|c| c.level().is_some());
                let known: Vec<&str> = warnings.map(|c| c.as_str()).collect();
                let span = self.span(key.span());
                self.diagnostics.push(unknown_option(span, what, &known));
                continue;
            };
            let level = self.one_of(value, &Level::NAMES);
            all.extend(level.and_then(|l| Level::named(&l)).map(|l| (code, l)));
        }
        all.sort_by_key(|(code, _)| *code);
        all
    }

    fn number(&mut self, key: &str, value: &Value<'_>) -> Option<u64> {
        let n = value.get_ref().as_integer();
        let n = n.and_then(|n| u64::from_str_radix(n.as_str(), n.radix()).ok());
        let n = n.filter(|n| *n > 0);
        if n.is_none() {
            self.wrong(value.span(), format!("`{key}` must be a positive integer"));
        }
        n
    }

    fn size(&mut self, key: &str, value: &Value<'_>) -> Option<u64> {
        let size = match value.get_ref() {
            DeValue::String(text) => parse_size(text),
            DeValue::Integer(n) => u64::from_str_radix(n.as_str(), n.radix()).ok(),
            _ => None,
        };
        let size = size.filter(|n| *n > 0);
        if size.is_none() {
            let message = format!("`{key}` must be a size such as \"2G\" or \"512M\"");
            self.wrong(value.span(), message);
        }
        size
    }

    fn one_of(&mut self, value: &Value<'_>, allowed: &[&str]) -> Option<String> {
        let text = value.get_ref().as_str().filter(|t| allowed.contains(t));
        if text.is_none() {
            let message = format!("expected one of {}", allowed.join(", "));
            self.wrong(value.span(), message);
        }
        text.map(str::to_owned)
    }
}

/// A table of a table.
fn table<'t, 'd>(outer: Option<&'t DeTable<'d>>, name: &str) -> Option<&'t DeTable<'d>> {
    outer?.get(name)?.get_ref().as_table()
}

/// A key that no table has.
fn unknown_option(span: Span, message: String, known: &[&str]) -> Diagnostic {
    let d = Diagnostic::error(ErrorCode::UnknownOption, Some(span), message)
        .with_help(format!("the options are: {}", known.join(", ")));
    Diagnostic {
        severity: Severity::Warning,
        ..d
    }
}

/// The keys of `[tool.taipan]`.
const OPTIONS: &[&str] = &[
    "targets",
    "testpaths",
    "path",
    "step-limit",
    "memory-limit",
    "target-options",
    "threads",
    "engine",
    "env",
    "rules",
    "cache",
    "cache-dir",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Database, LoadOptions};
    use expect_test::expect;
    use taipan_base::{MemorySystem, render_text};

    fn database(files: &[(&str, &str)]) -> Database {
        let system = MemorySystem::new(&[]);
        for (path, text) in files {
            system.write(*path, text);
        }
        Database::new(Arc::new(system))
    }

    #[test]
    fn the_nearest_file_with_the_table_counts() {
        let db = database(&[
            (
                "/p/pyproject.toml",
                "[tool.taipan]\ntargets = ['main.py']\npath = ['lib', '/abs']\nstep-limit = 1_000\nmemory-limit = '2G'\n\
                 target-options = ['--a', 'b']\nthreads = 2\nengine = 'llinterp'\nenv = {B = 'b', A = ''}\ncache = false\ncache-dir = 'c'\n",
            ),
            ("/p/sub/pyproject.toml", "[project]\nname = 'x'\n"),
        ]);
        let (file, read) = find_config(&db, Utf8Path::new("/p/sub/deep")).unwrap();
        assert_eq!(file.path(&db), "/p/pyproject.toml");
        expect![[r#"
            ConfigFile {
                config: Some(
                    Config {
                        root: "/p",
                        targets: [
                            TargetConfig {
                                name: None,
                                file: "/p/main.py",
                                path: [],
                                env: [],
                                target_options: None,
                                engine: None,
                                backend: None,
                                optimize: None,
                                gc: None,
                                jit: None,
                                lldebug: None,
                                passes: None,
                                output: None,
                            },
                        ],
                        path: [
                            "/p/lib",
                            "/abs",
                        ],
                        step_limit: Some(
                            1000,
                        ),
                        memory_limit: Some(
                            2147483648,
                        ),
                        target_options: [
                            "--a",
                            "b",
                        ],
                        threads: Some(
                            2,
                        ),
                        engine: Some(
                            "llinterp",
                        ),
                        env: [
                            (
                                "A",
                                "",
                            ),
                            (
                                "B",
                                "b",
                            ),
                        ],
                        rules: [],
                        cache: Some(
                            false,
                        ),
                        cache_dir: Some(
                            "/p/c",
                        ),
                    },
                ),
                test_paths: [],
                diagnostics: [],
            }
        "#]]
        .assert_debug_eq(&read);
    }

    #[test]
    fn what_is_wrong_is_told_at_its_place() {
        let db = database(&[(
            "/pyproject.toml",
            "[tool.taipan]\ntargets = 'main.py'\nsteps = 3\nstep-limit = -1\nengine = 'jvm'\nmemory-limit = 'much'\nenv = {A = 1, TAIPAN_LOG = 'x'}\n",
        )]);
        let (_, read) = find_config(&db, Utf8Path::new("/")).unwrap();
        let text: Vec<String> = read
            .diagnostics
            .iter()
            .map(|d| render_text(&db, d, false))
            .collect();
        expect![[r#"
            error[TP0010]: `targets` must be an array of paths, and of tables with options
             --> /pyproject.toml:2:11
              |
            2 | targets = 'main.py'
              |           ^^^^^^^^^

            warning[TP0011]: `tool.taipan` has no option `steps`
             --> /pyproject.toml:3:1
              |
            3 | steps = 3
              | ^^^^^
              |
              = help: the options are: targets, testpaths, path, step-limit, memory-limit, target-options, threads, engine, env, rules, cache, cache-dir

            error[TP0010]: `step-limit` must be a positive integer
             --> /pyproject.toml:4:14
              |
            4 | step-limit = -1
              |              ^^

            error[TP0010]: expected one of native, llinterp, ootype, c
             --> /pyproject.toml:5:10
              |
            5 | engine = 'jvm'
              |          ^^^^^

            error[TP0010]: `memory-limit` must be a size such as "2G" or "512M"
             --> /pyproject.toml:6:16
              |
            6 | memory-limit = 'much'
              |                ^^^^^^

            error[TP0010]: `A` must be a string
             --> /pyproject.toml:7:12
              |
            7 | env = {A = 1, TAIPAN_LOG = 'x'}
              |            ^

            error[TP0010]: `env` cannot set `TAIPAN_LOG`
             --> /pyproject.toml:7:28
              |
            7 | env = {A = 1, TAIPAN_LOG = 'x'}
              |                            ^^^"#]]
        .assert_eq(&text.join("\n\n"));
    }

    #[test]
    fn targets_with_options() {
        let db = database(&[(
            "/p/pyproject.toml",
            "[tool.taipan]\nenv = {A = 'a', B = 'b'}\n\
             [[tool.taipan.targets]]\nname = 'ast'\nfile = 'main.py'\nenv = {B = 'c'}\noptimize = 2\n\
             gc = 'ref'\njit = true\npasses = '-inlining'\noutput = 'bin/ast'\ntarget-options = []\n\
             [[tool.taipan.targets]]\nname = 'bc'\nfile = 'main.py'\n",
        )]);
        let (_, read) = find_config(&db, Utf8Path::new("/p")).unwrap();
        assert_eq!(read.diagnostics, []);
        let config = read.config.as_ref().unwrap();
        let ast = config.named("ast").unwrap();
        assert_eq!(ast, config.target_of(Utf8Path::new("/p/main.py")).unwrap());
        assert_eq!(ast.output.as_deref(), Some(Utf8Path::new("/p/bin/ast")));
        assert_eq!((ast.optimize, ast.jit), (Some(2), Some(true)));
        assert_eq!(ast.gc, taipan_language::Collector::named("ref"));
        let mut load = LoadOptions {
            environment: config.env.clone(),
            target_options: vec!["--full".to_owned()],
            ..LoadOptions::default()
        };
        config.named("bc").unwrap().apply(&mut load);
        assert_eq!(load.target_options, ["--full"]);
        ast.apply(&mut load);
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(load.environment, [pair("A", "a"), pair("B", "c")]);
        assert!(load.target_options.is_empty());
    }

    #[test]
    fn mistakes_in_targets() {
        let db = database(&[(
            "/pyproject.toml",
            "[tool.taipan]\ntargets = [1, { name = 'a' }, { file = 'a.py', name = 'a/b', jit = 1 },\n\
             { file = 'b.py', name = 'b', optimise = 2, optimize = 4, gc = 'minimark', passes = 'inlining' },\n\
             { file = 'c.py', name = 'b' }]\n",
        )]);
        let (_, read) = find_config(&db, Utf8Path::new("/")).unwrap();
        let told: Vec<String> = (read.diagnostics.iter())
            .map(|d| {
                let text = render_text(&db, d, false);
                let place = text.lines().nth(1).unwrap().rsplit_once("toml:").unwrap().1;
                format!("{place} {}", d.message)
            })
            .collect();
        expect![[r#"
            2:12 a target is a path, or a table with `file`
            2:15 `file` is missing: the path of the target
            2:55 `name` must be one word, without `/` and not ending in `.py`
            2:68 `jit` must be true or false
            3:30 a target has no option `optimise`
            3:55 `optimize` must be 0, 1, 2 or 3
            3:63 expected one of generational, ref, boehm, none
            3:84 `inlining` begins neither with `+` nor with `-`
            4:1 there are several targets named `b`"#]]
        .assert_eq(&told.join("\n"));
        assert_eq!(read.config.as_ref().unwrap().targets.len(), 2);
    }

    #[test]
    fn paths_of_tests() {
        let db = database(&[
            (
                "/a/pyproject.toml",
                "[tool.taipan]\ntestpaths = ['t']\n[tool.pytest.ini_options]\ntestpaths = 'x'\n",
            ),
            (
                "/b/pyproject.toml",
                "[tool.pytest.ini_options]\ntestpaths = 'x y'\n",
            ),
            (
                "/c/pyproject.toml",
                "[tool.pytest.ini_options]\ntestpaths = ['z']\n",
            ),
            ("/d/pyproject.toml", "[tool.taipan]\n"),
        ]);
        let paths = |folder: &str| test_paths(&db, Utf8Path::new(folder));
        assert_eq!(paths("/a"), ["/a/t"]);
        assert_eq!(paths("/b"), ["/b/x", "/b/y"]);
        assert_eq!(paths("/c"), ["/c/z"]);
        assert!(paths("/d").is_empty() && paths("/a/b").is_empty());
    }

    #[test]
    fn mistakes_in_rules() {
        let db = database(&[(
            "/pyproject.toml",
            "[tool.taipan.rules]\nTP0317 = 'off'\nTP0301 = 'warn'\nTP9999 = 'warn'\nTP0430 = 'error'\n",
        )]);
        let (_, read) = find_config(&db, Utf8Path::new("/")).unwrap();
        let mut told: Vec<&str> = (read.diagnostics.iter()).map(|d| &*d.message).collect();
        told.sort_unstable();
        assert_eq!(
            told,
            [
                "`TP0301` is an error: it has no level",
                "expected one of ignore, warn, error",
                "there is no warning `TP9999`"
            ]
        );
        let rules = &read.config.as_ref().unwrap().rules;
        assert_eq!(rules[..], [(ErrorCode::IgnoredComparison, Level::Error)]);
    }

    #[test]
    fn the_cache_stays_in_the_project() {
        for outside in ["/tmp/cache", "../cache", "a/../../cache"] {
            let text = format!("[tool.taipan]\ncache-dir = '{outside}'\n");
            let db = database(&[("/p/pyproject.toml", &text)]);
            let (_, read) = find_config(&db, Utf8Path::new("/p")).unwrap();
            assert_eq!(read.config.as_ref().unwrap().cache_dir, None);
            let [d] = &read.diagnostics[..] else {
                panic!("{outside}");
            };
            assert_eq!(d.severity, Severity::Warning);
            let text = render_text(&db, d, false);
            assert!(text.contains("inside of the project"), "{text}");
            assert!(text.contains("/p/pyproject.toml:2:13"), "{text}");
        }
    }

    #[test]
    fn a_file_that_is_no_toml_is_told() {
        let db = database(&[("/pyproject.toml", "[tool.taipan\n")]);
        let (_, read) = find_config(&db, Utf8Path::new("/")).unwrap();
        assert_eq!(read.config, None);
        expect![[r#"
            error[TP0010]: unclosed table, expected `]`
             --> /pyproject.toml:1:13
              |
            1 | [tool.taipan
              |             ^"#]]
        .assert_eq(&render_text(&db, &read.diagnostics[0], false));
    }
}
