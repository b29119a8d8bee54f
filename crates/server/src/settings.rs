//! What the editor's user set: the `taipan.*` settings.

use camino::Utf8PathBuf;
use serde::Deserialize;

/// The settings. They count before those of `pyproject.toml`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Settings {
    /// Target files or folders, relative to the workspace folder.
    pub(crate) targets: Vec<Utf8PathBuf>,
    /// Further folders to import from.
    pub(crate) path: Vec<Utf8PathBuf>,
    /// Bytecode instructions that import time may take.
    pub(crate) step_limit: Option<u64>,
    /// How much memory import time may take, such as `2G`.
    pub(crate) memory_limit: Option<String>,
    /// Which hints are shown.
    pub(crate) inlay_hints: InlayHints,
    /// What is shown above functions.
    pub(crate) code_lens: CodeLens,
    /// The editor's user trusts the workspace. No setting, which a workspace could make itself.
    #[serde(skip)]
    pub(crate) trusted: bool,
}

/// What is shown above functions.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct CodeLens {
    /// Running and building programs.
    pub(crate) run: bool,
    /// Running tests.
    pub(crate) test: bool,
    /// Showing graphs.
    pub(crate) graph: bool,
    /// Why a function was compiled again.
    pub(crate) reran: bool,
}

impl Default for CodeLens {
    fn default() -> Self {
        CodeLens {
            run: true,
            test: true,
            graph: true,
            reran: true,
        }
    }
}

/// Which inlay hints are shown.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct InlayHints {
    /// Of arguments.
    pub(crate) arguments: bool,
    /// Of results.
    pub(crate) results: bool,
    /// Of attributes, where they are first assigned.
    pub(crate) attributes: bool,
}

impl Default for InlayHints {
    fn default() -> Self {
        InlayHints {
            arguments: true,
            results: true,
            attributes: true,
        }
    }
}

impl Settings {
    /// What the client says when it starts the server: settings, and beside them whether the user
    /// trusts the workspace.
    pub(crate) fn initial(options: &serde_json::Value) -> Settings {
        let trusted = options.get("workspaceTrusted");
        Settings {
            trusted: trusted.and_then(serde_json::Value::as_bool) == Some(true),
            ..Settings::read(options)
        }
    }

    /// From JSON, either the settings themselves or an object that holds them under
    /// `taipan`. What is of a wrong kind counts as not set.
    pub(crate) fn read(value: &serde_json::Value) -> Settings {
        let value = value.get("taipan").unwrap_or(value);
        serde_json::from_value(value.clone()).unwrap_or_default()
    }
}
